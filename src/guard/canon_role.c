/* Whether what would be written has the shape of its role: a purpose, a statement about the tool, a
 * phrase. */
#include "guard/canon_choice.h"

enum { STATEMENT_WITHIN = 10 };

static bool states_something(const struct choice *c)
{
    for (size_t i = 0; i < c->count && i < STATEMENT_WITHIN; i++) {
        if (at(c, i)->kind == TOKEN_WORD && ((at(c, i)->flags & (WORD_STATES | WORD_THIRD)) ||
                                             is_one_of(at(c, i), "must should will do"))) {
            return true;
        }
    }
    return false;
}

/* "If the file exists, the operation fails": what follows the comma is no order. */
static bool has_plain_consequence(const struct choice *c)
{
    for (size_t i = 1; i + 2 < c->count; i++) {
        if (is_point(at(c, i), ',')) {
            const struct token *t = at(c, i + 1);

            return t->kind == TOKEN_WORD && !(t->flags & WORD_EFFECTS) &&
                   (t->flags & (WORD_FUNCTION | WORD_NOUN));
        }
    }
    return false;
}

/* A statement about what whoever calls the tool does is an order in other words. */
static bool has_acting_subject(const struct choice *c)
{
    size_t i = is_one_of(at(c, 0), "the a an each every any all") ? 1 : 0;

    return i < c->count &&
           is_one_of(at(c, i), "user users client clients caller callers host hosts application "
                               "applications agent agents model models server-operator operator");
}

/* An order to whoever reads: "Provide ...", "List the ...". */
static bool is_advice(const struct choice *c)
{
    const struct token *first = at(c, 0);
    const struct token *next = c->count > 1 ? at(c, 1) : NULL;

    if (first->kind != TOKEN_WORD || (first->flags & WORD_FUNCTION) ||
        (next && is_one_of(next, "is are of has have can may will must"))) {
        return false;
    }
    if (is_one_of(first, CANON_ADVICE)) {
        return true;
    }
    return next && (first->flags & (WORD_EFFECTS | WORD_OPTION)) &&
           !(first->flags & (WORD_THIRD | WORD_INFLECTED)) &&
           is_one_of(next, "the a an all any each every both this that these those it them your "
                           "its directly only first also");
}

static bool is_name(const struct choice *c, const struct token *t)
{
    return !c->judge->renamed && t->len == c->judge->name.len &&
           canon_word_hash(t->ptr, t->len) ==
               canon_word_hash(c->judge->name.ptr, c->judge->name.len);
}

bool canon_fits_role(const struct choice *c)
{
    const struct token *first = at(c, 0);
    uint32_t flags = first->kind == TOKEN_WORD ? first->flags : 0;

    bool limit = c->role == ROLE_MEANING && c->count > 1 && first->kind == TOKEN_POINT &&
                 strchr("<>", first->ptr[0]) && at(c, 1)->kind == TOKEN_NUMBER;

    /* The head of what was lost: "Default." */
    if (c->count == 1 && is_one_of(first, "format default defaults limit requires options values "
                                          "supported allowed")) {
        return false;
    }
    /* "1." would be the mark of a list, "#fff" that of a heading. */
    if ((c->count == 1 && first->kind == TOKEN_NUMBER && first->len <= 2) || first->ptr[0] == '#') {
        return false;
    }
    if ((first->kind == TOKEN_POINT && !limit) || (flags & WORD_EXAMPLE) ||
        is_one_of(first, "then and or but")) {
        return false;
    }
    switch (c->role) {
    case ROLE_PURPOSE:
        /* One word, if it is the tool's own verb: "Move." */
        return (c->count >= 2 || ((flags & WORD_EFFECTS) && is_name(c, first))) &&
               first->kind == TOKEN_WORD &&
               !is_one_of(first, "if when while unless because use used requires needs") &&
               ((flags & WORD_EFFECTS) ? !(flags & WORD_INFLECTED) : true);
    case ROLE_NOTE:
        if (c->count < 2 || is_one_of(first, "when while unless because use set") ||
            (is_one_of(first, "if") && !has_plain_consequence(c))) {
            return false;
        }
        if (has_acting_subject(c) || is_advice(c)) {
            return false;
        }
        if ((flags & WORD_EFFECTS) && !(flags & (WORD_THIRD | WORD_INFLECTED | WORD_NOUN))) {
            return false;
        }
        return states_something(c) || (flags & WORD_NUMBERED) ||
               ((flags & WORD_THIRD) && (flags & WORD_EFFECTS));
    default:
        return c->count >= 4 || !is_one_of(first, "if when while unless because");
    }
}
