/* What the files that judge a sentence share: the tokens that would be written. */
#ifndef BTZ_GUARD_CANON_CHOICE_H
#define BTZ_GUARD_CANON_CHOICE_H

#include "guard/canon_int.h"

/* The tokens that would be written. */
struct choice {
    const struct judge *judge;
    const struct sentence *s;
    enum role role;
    size_t count;
    uint8_t index[SENTENCE_TOKENS];
    const char *rule;
};

static inline const struct token *at(const struct choice *c, size_t i)
{
    return &c->s->tokens[c->index[i]];
}

static inline bool is_point(const struct token *t, char sign)
{
    return t->kind == TOKEN_POINT && t->ptr[0] == sign;
}

static inline bool is_one_of(const struct token *t, const char *words)
{
    return t->kind == TOKEN_WORD && canon_is_one_of(t->ptr, t->len, words);
}

static inline bool is_word(const struct token *t, const char *word)
{
    return is_one_of(t, word);
}

/* Neighbours do not reach over a parenthesis: one may go without the other. */
static inline const struct token *neighbour(const struct choice *c, size_t i, int step)
{
    size_t j = i + (size_t)step;
    const struct token *t;

    if (j >= c->count) {
        return NULL;
    }
    t = at(c, j);
    return is_point(t, '(') || is_point(t, ')') ? NULL : t;
}

/* Words that no table has. */
struct strangers {
    size_t unknown;
    size_t own; /* names of the definition itself have them, and so they are seen anyhow */
};

/* canon_check.c: NULL: the token may stay; else the rule that takes it. Counts what is in no table.
 */
const char *canon_check_token(const struct choice *c, size_t i, struct strangers *found);

/* canon_veiled.c: statements that are orders, and what somebody's things are named in. NULL: it is
 * none. Of a sentence that would stay. */
const char *canon_veiled(const struct choice *c);

/* canon_role.c: whether the whole has the shape of its role. */
bool canon_fits_role(const struct choice *c);

#endif
