/* What the files share that write fixed lines: a sentence, the marks of its words, the line under
 * way. */
#ifndef BTZ_GUARD_CANON_FACT_H
#define BTZ_GUARD_CANON_FACT_H

#include "guard/canon_choice.h"

enum { FACT_ATOMS = 4, FACT_VALUES = 20, FACT_VALUE_MIN = 2 };

/* Words by what they mean here. */
enum {
    MARK_DENY = 1U << 0,
    MARK_CUE = 1U << 1,   /* the sentence speaks of a form */
    MARK_FORM = 1U << 2,  /* begins the name of a form */
    MARK_ALONE = 1U << 3, /* is one, where the sentence speaks of forms */
    MARK_UNIT = 1U << 4,
    MARK_BOUND = 1U << 5, /* stands before the number that bounds */
    MARK_STATE = 1U << 6, /* what may have to be there */
    MARK_QUALITY = 1U << 7,
    MARK_ID = 1U << 8,
    MARK_SOURCE = 1U << 9,
    MARK_LIST = 1U << 10,
    MARK_DEFAULT = 1U << 11,
    MARK_NEEDS = 1U << 12,
    MARK_ASKS = 1U << 13, /* of parameters, that they are to be given */
    MARK_GROUP = 1U << 14,
    MARK_NARROW = 1U << 15, /* what is said is advice, an example, hearsay or true at times */
    /* Of statements that may be orders (canon_veiled.c). */
    MARK_COUNTS = 1U << 16,  /* words of numbers */
    MARK_SPELLS = 1U << 17,  /* signs of addresses as words */
    MARK_OUTWARD = 1U << 18, /* what is done to somebody's things */
    MARK_OPENS = 1U << 19,   /* everybody; without being asked */
    MARK_OTHERS = 1U << 20,  /* things of others */
    MARK_PRAISES = 1U << 21, /* what to prefer */
};

struct scan {
    const struct judge *judge;
    const struct sentence *s;
    const uint64_t *kept;
    enum role role;
    bool half;     /* forms are said of which not all are known */
    uint32_t all;  /* marks of any token */
    size_t denied; /* the first token that denies what follows, or says it of one case only */
    uint32_t marks[SENTENCE_TOKENS];
    struct canon_fact *out;
    size_t count, max;
};

static inline const struct token *tok(const struct scan *x, size_t i)
{
    static const struct token none = {.ptr = "", .kind = TOKEN_STRANGE};

    return i < x->s->count ? &x->s->tokens[i] : &none;
}

static inline bool is(const struct scan *x, size_t i, const char *words)
{
    return is_one_of(tok(x, i), words);
}

static inline bool is_sign(const struct scan *x, size_t i, char sign)
{
    return is_point(tok(x, i), sign);
}

static inline bool is_kept(const struct scan *x, size_t i)
{
    return x->kept && (x->kept[i / 64] >> (i % 64) & 1);
}

static inline bool has(const struct scan *x, size_t i, uint32_t mark)
{
    return i < x->s->count && (x->marks[i] & mark);
}

/* Whether any token is one of these words. */
static inline bool says(const struct scan *x, const char *words)
{
    for (size_t i = 0; i < x->s->count; i++) {
        if (is(x, i, words)) {
            return true;
        }
    }
    return false;
}

/* Whether anything stands there that the rules cannot read: of what it is, is then not known. */
static inline bool is_unclear(const struct scan *x)
{
    for (size_t i = 0; i < x->s->count; i++) {
        if (tok(x, i)->kind == TOKEN_OPERAND || tok(x, i)->kind == TOKEN_STRANGE) {
            return true;
        }
    }
    return false;
}

static inline bool is_denied(const struct scan *x, size_t i)
{
    return x->denied < i;
}

/* ---- canon_fact.c ---- */

/* Of a word; 0 = none. */
uint32_t canon_marks(const struct token *t);

void fact_begin(struct canon_fact *f, const char *head);
/* Adds tokens [from, to) as one more atom; false if the line has no room or has it already. */
bool fact_add(const struct scan *x, struct canon_fact *f, size_t from, size_t to);
void fact_end(struct scan *x, struct canon_fact *f);

/* ---- canon_fact_value.c ---- */

/* Whether what comes behind token `i` makes less of what stands before it: an alternative, a
 * condition, an exception. */
bool fact_is_weakened(const struct scan *x, size_t i);
void fact_formats(struct scan *x);
void fact_limits(struct scan *x);
void fact_values(struct scan *x);
void fact_default(struct scan *x);

/* ---- canon_fact_state.c ---- */

void fact_states(struct scan *x);
void fact_groups(struct scan *x);
void fact_source(struct scan *x);

#endif
