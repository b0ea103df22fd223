/* Whether a sentence says that one other tool of the list has to be called first. What becomes of
 * it is an order that the form gives in its own words, so direction, negation and condition all
 * have to be read: a sentence that is not of one of the few shapes below says nothing. */
#include "guard/canon_int.h"

enum { TOKENS_MAX = 40, BETWEEN_MAX = 10 };

static bool is_word(const struct sentence *s, size_t i, const char *words)
{
    return i < s->count && s->tokens[i].kind != TOKEN_POINT &&
           canon_is_one_of(s->tokens[i].ptr, s->tokens[i].len, words);
}

static bool is_point(const struct sentence *s, size_t i, const char *signs)
{
    return i < s->count && s->tokens[i].kind == TOKEN_POINT && strchr(signs, s->tokens[i].ptr[0]);
}

/* A tool may be asked for first if it only reads or sets up; an order of the kind "first delete" is
 * nobody's precondition. */
static bool may_precede(struct btz_str name)
{
    struct btz_str rest = name;
    struct btz_str piece;
    enum effect effect = canon_name_effect(name);
    bool sets_up = false; /* by its own name: login */
    bool opens = false;   /* "open", "select" ... */
    bool state = false;   /* ... of a thing that a session is about */

    while (canon_piece(&rest, &piece)) {
        uint32_t flags = canon_word(piece.ptr, piece.len, canon_word_hash(piece.ptr, piece.len));

        if (canon_is_one_of(piece.ptr, piece.len, "url urls uri link links website webpage") ||
            (flags & (WORD_SENDS | WORD_DELETES | WORD_PAYS) && !(flags & WORD_NOUN)) ||
            canon_is_one_of(piece.ptr, piece.len,
                            "all every and then export upload deploy share") ||
            (flags & (WORD_SENSITIVE | WORD_SOFT) && !(flags & WORD_SETUP) && !sets_up && !opens &&
             !canon_is_one_of(piece.ptr, piece.len, "session sessions context mcp"))) {
            return false;
        }
        sets_up |= canon_is_one_of(piece.ptr, piece.len,
                                   "login logon auth authenticate connect session sessions");
        opens |= (flags & WORD_SETUP) != 0;
        state |= canon_is_one_of(piece.ptr, piece.len,
                                 "project workspace document file database scene browser page tab "
                                 "app device simulator instance server table index environment "
                                 "repository editor program debugger context mcp connection org "
                                 "account organization site team board notebook sheet workbook");
    }
    return effect == EFFECT_NONE || effect == EFFECT_READS ||
           ((sets_up || (opens && state)) && effect <= EFFECT_WRITES);
}

/* Words with which a sentence denies, weakens, limits or offers a choice. */
static bool weakens(const struct sentence *s, size_t i)
{
    const struct token *t = &s->tokens[i];

    if (t->kind == TOKEN_WORD && t->len > 2 && (t->ptr[t->len - 1] | 0x20) == 't' &&
        t->ptr[t->len - 2] == '\'') {
        return true; /* don't */
    }
    return is_word(s, i,
                   "not no never none nor neither cannot dont cant without unlike instead rather "
                   "avoid skip skips refrain unnecessary needless forbidden except unless if when "
                   "whenever while until whether or either otherwise else alternatively prefer "
                   "preferred preferably recommend recommended suggest suggested consider optional "
                   "optionally may might can could usually typically often sometimes normally "
                   "generally in-case");
}

static bool calls(const struct sentence *s, size_t i)
{
    return is_word(s, i, "call use run invoke execute calling using running invoking executing");
}

static bool is_called(const struct sentence *s, size_t i)
{
    return is_word(s, i, "called used run invoked executed");
}

/* Behind "before": this tool, or nothing. */
static bool is_this(const struct prior *p, size_t i)
{
    const struct sentence *s = p->s;

    if (i >= s->count || is_point(s, i, ",)")) {
        return true;
    }
    if (calls(s, i) || is_word(s, i, "use")) {
        i++;
    }
    return i >= s->count || is_word(s, i, "this it") ||
           (s->tokens[i].len == p->own.len &&
            memcmp(s->tokens[i].ptr, p->own.ptr, p->own.len) == 0);
}

/* What says "ahead of this tool" from `i` on: first, beforehand, before this. */
static bool ahead(const struct prior *p, size_t i)
{
    const struct sentence *s = p->s;

    if (is_word(s, i, "first beforehand")) {
        return i + 1 >= s->count || is_point(s, i + 1, ",)") ||
               is_word(s, i + 1, "to and so before because since");
    }
    return is_word(s, i, "before") && is_this(p, i + 1);
}

/* Whether what stands before the verb is only that it has to be done: not "some people call X
 * first", "it is wrong to call X first". */
static bool is_asked(const struct prior *p, size_t verb)
{
    size_t i = verb;

    while (i && is_word(p->s, i - 1,
                        "you must should need needs have has to please first then so also and note "
                        "important required requires require it this tool be sure make sure always "
                        "callers the caller clients client")) {
        i--;
    }
    if (i >= 2 && is_point(p->s, i - 1, ":")) {
        return is_word(p->s, i - 2,
                       "note important required critical mandatory warning caution prerequisite "
                       "prerequisites usage "
                       "workflow requirements requirement");
    }
    /* "To delete a row, call X first", not "formerly, call X first". */
    return i == 0 || is_point(p->s, i - 1, "(-") ||
           (is_point(p->s, i - 1, ",") && is_word(p->s, 0, "to before"));
}

/* "call X first", "first call X", "call X before this tool". */
static bool is_order(const struct prior *p, size_t verb, size_t tool)
{
    size_t next = tool + (is_word(p->s, tool + 1, "tool") ? 2 : 1);

    if (!is_asked(p, verb)) {
        return false;
    }
    return ahead(p, next) || (verb && is_word(p->s, verb - 1, "first"));
}

/* "Before using this tool, you must call X". */
static bool is_opened(const struct prior *p, size_t verb)
{
    const struct sentence *s = p->s;
    size_t i = 1;

    if (!is_word(s, 0, "before") || !is_this(p, 1) || is_point(s, 1, ",")) {
        return false;
    }
    while (i < verb && !is_point(s, i, ",")) {
        i++;
    }
    for (i++; i < verb; i++) {
        if (!is_word(s, i, "you must should need have to first")) {
            return false;
        }
    }
    return i == verb;
}

/* "Must be called after X", "call this only after X". */
static bool is_after(const struct sentence *s, size_t tool)
{
    size_t i = tool;
    size_t next = tool + (is_word(s, tool + 1, "tool call") ? 2 : 1);

    if (next < s->count && s->tokens[next].kind != TOKEN_POINT &&
        !is_word(s, next, "and so because since to has succeeded succeeds returns completes")) {
        return false; /* "after login expires" */
    }
    if (is_word(s, next, "has") && !is_word(s, next + 1, "been succeeded returned completed")) {
        return false;
    }

    while (i &&
           is_word(s, i - 1, "calling using running invoking a an the call of to successful")) {
        i--;
    }
    if (i < 2 || !is_word(s, i - 1, "after")) {
        return false;
    }
    for (i -= 2; i && is_word(s, i, "this it tool only"); i--) {
    }
    /* "Use after X to see more" is advice. */
    if (is_word(s, i, "use used using")) {
        return is_word(s, i + 1, "only") || is_word(s, i + 2, "only") ||
               (i && is_word(s, i - 1, "only")) || is_word(s, 0, "must");
    }
    return calls(s, i) || is_called(s, i);
}

/* "Requires a prior call of X", "requires a session from X", "requires X to be used before". */
static bool is_required(const struct prior *p, size_t tool)
{
    const struct sentence *s = p->s;
    size_t i = tool;
    size_t next = tool + 1;

    while (i && tool - i < BETWEEN_MAX &&
           (is_word(s, i - 1,
                    "a an the that prior previous earlier successful active valid open session "
                    "connection call calls of to from using running calling tool result results "
                    "output id ids returned obtained by first token") ||
            is_point(s, i - 1, ":("))) {
        i--;
    }
    if (!i || !is_word(s, i - 1, "requires require")) {
        return false;
    }
    next += is_word(s, next, "tool") ? 1 : 0;
    if (next >= s->count || is_point(s, next, ",)") || ahead(p, next)) {
        return true;
    }
    if (is_word(s, next, "to") && is_word(s, next + 1, "be")) {
        next += 2;
    } else if (is_word(s, next, "was")) {
        next += 1;
    } else if (is_word(s, next, "has have") && is_word(s, next + 1, "been")) {
        next += 2;
    } else {
        return false;
    }
    return is_called(s, next) && (next + 1 >= s->count || ahead(p, next + 1));
}

/* "X must be called first". */
static bool is_subject(const struct prior *p, size_t tool)
{
    const struct sentence *s = p->s;
    size_t i = tool + 1;

    if (is_word(s, i, "must should")) {
        i++;
    } else if (is_word(s, i, "has needs") && is_word(s, i + 1, "to")) {
        i += 2;
    } else {
        return false;
    }
    return is_word(s, i, "be") && is_called(s, i + 1) && ahead(p, i + 2) &&
           (tool == 0 || is_word(s, tool - 1, "the tool"));
}

/* The place of the one other tool that the sentence names; count if there is none or two. */
static size_t named(const struct prior *p, const struct btz_canon_result **out)
{
    const struct sentence *s = p->s;
    size_t place = s->count;

    for (size_t i = 0; i < s->count; i++) {
        const struct token *t = &s->tokens[i];
        struct btz_str name = {t->ptr, t->len};
        const struct btz_canon_result *tool =
            t->kind == TOKEN_POINT ? NULL : canon_sibling(p->siblings, name);

        if (tool && btz_str_eq(name, p->own)) {
            continue;
        }
        /* A plain word is a tool's name only where one is called. */
        if (tool && t->kind == TOKEN_WORD &&
            !(i && (calls(s, i - 1) || is_word(s, i - 1, "of to after"))) && !is_subject(p, i)) {
            tool = NULL;
        }
        if (!tool) {
            if (t->kind == TOKEN_STRANGE || t->kind == TOKEN_OPERAND ||
                (t->kind == TOKEN_WORD && (t->flags & (WORD_SECRECY | WORD_PRECEDENCE))) ||
                weakens(s, i)) {
                return s->count;
            }
            continue;
        }
        if (place < s->count && tool != *out) {
            return s->count;
        }
        place = place < s->count ? place : i;
        *out = tool;
    }
    return place;
}

const struct btz_canon_result *canon_prior(const struct prior *p)
{
    const struct sentence *s = p->s;
    const struct btz_canon_result *tool = NULL;
    size_t at;
    size_t verb;

    if (!p->siblings || s->count > TOKENS_MAX) {
        return NULL;
    }
    at = named(p, &tool);
    if (at >= s->count || !may_precede(tool->name)) {
        return NULL;
    }
    /* One of several, a purpose, or what comes later. */
    if (is_word(s, at + 1, "and") || (at && is_word(s, at - 1, "and")) || is_word(s, 0, "for to")) {
        return NULL;
    }
    for (size_t i = 0; i < s->count; i++) {
        if ((i < at && is_word(s, i, "then")) ||
            (i > at && is_word(s, i, "after afterwards later"))) {
            return NULL;
        }
    }
    if (is_required(p, at) || is_after(s, at) || is_subject(p, at)) {
        return tool;
    }
    verb = at;
    while (verb && is_word(s, verb - 1, "the tool")) {
        verb--;
    }
    if (!verb || !calls(s, verb - 1)) {
        return NULL;
    }
    verb--;
    if (is_opened(p, verb)) {
        return tool;
    }
    for (size_t i = 0; i < at; i++) {
        if (is_word(s, i, "before after")) {
            return NULL;
        }
    }
    return is_order(p, verb, at) ? tool : NULL;
}
