/* Whether a sentence, or its beginning, is one of the kinds that stay: what a tool does, a
 * statement about it, what it returns, what a parameter means. A sentence stays because of what it
 * is; that it holds nothing suspicious is not enough. What is judged is exactly what would be
 * written, so that judging what was written gives it back. */
#include "guard/canon_choice.h"

enum { UNKNOWN_MAX = 2, OWN_MAX = 5, SALVAGES = 12 };

static const char not_a_statement[] = "not-a-description";

/* ---- choosing ---- */

static bool glues(const struct token *t)
{
    return t->kind == TOKEN_POINT && strchr(",:)", t->ptr[0]) != NULL;
}

static const char *letters_of(const struct token *t, size_t *len)
{
    *len = t->flags & WORD_OWNER && t->kind == TOKEN_WORD ? 3 : t->len;
    return *len == 3 && t->kind == TOKEN_WORD && (t->flags & WORD_OWNER) ? "the" : t->ptr;
}

/* Bytes of the first `count` tokens as they would be written, without the full stop. */
static size_t written(const struct choice *c, size_t count, char *out)
{
    size_t len = 0;

    for (size_t i = 0; i < count; i++) {
        const struct token *t = at(c, i);
        bool space = i > 0 && !glues(t) && !is_point(at(c, i - 1), '(');
        size_t n;
        const char *letters = letters_of(t, &n);

        if (out && space) {
            out[len] = ' ';
        }
        len += space ? 1 : 0;
        if (out) {
            memcpy(out + len, letters, n);
        }
        len += n;
    }
    if (out && count && at(c, 0)->kind == TOKEN_WORD && out[0] >= 'a' && out[0] <= 'z') {
        out[0] = (char)(out[0] - 0x20);
    }
    return len;
}

/* A sign, or an abbreviation whose full stop would be taken for its own. */
static bool may_not_end(const struct token *t)
{
    return (t->kind == TOKEN_POINT && t->ptr[0] != ')') ||
           (t->kind == TOKEN_WORD && (memchr(t->ptr, '.', t->len) || is_one_of(t, "vs etc")));
}

/* Nothing that points at what was cut off stays at the end. */
static void strip_end(struct choice *c)
{
    while (c->count) {
        const struct token *t = at(c, c->count - 1);

        if (!(t->kind == TOKEN_POINT && t->ptr[0] != ')') &&
            !(t->kind == TOKEN_WORD && (t->flags & (WORD_FUNCTION | WORD_EXAMPLE)) &&
              !is_one_of(t,
                         "all same other more one two three four five ten not no yes any both")) &&
            !(is_word(t, "for") || is_word(t, "such"))) {
            return;
        }
        c->count--;
    }
}

/* Whether what starts here bounds what stands before it: a choice, a condition, an exception. */
static bool qualifies(const struct token *t)
{
    return is_one_of(t, "or but except excluding unless only not never if when until otherwise "
                        "without nor whenever while although though");
}

static bool restricts(const struct token *t)
{
    return is_one_of(t, "but except excluding unless otherwise");
}

/* "to, cc, and bcc": of a list its end would be lost. */
static bool ends_list(const struct choice *c, size_t count, size_t all)
{
    if (!is_point(at(c, count), ',') || count + 1 >= all ||
        !is_one_of(at(c, count + 1), "and plus also")) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (is_point(at(c, i), ',')) {
            return true;
        }
    }
    return false;
}

/* Whether the rest behind `count` tokens may go without making what stays say something else. */
static bool may_lose(const struct choice *c, size_t count, size_t all)
{
    bool example =
        count < all && at(c, count)->kind == TOKEN_WORD && (at(c, count)->flags & WORD_EXAMPLE);
    bool head = true;
    bool condition = is_one_of(at(c, 0), "if when while unless because for where");
    bool colon = is_point(at(c, count), ':');
    bool list = false;
    bool number = false;
    bool examples = false;

    for (size_t i = 0; i < count; i++) {
        const struct token *t = at(c, i);

        number |= t->kind == TOKEN_NUMBER;

        colon |= is_point(t, ':') || is_one_of(t, "are is be include includes of");
        examples |= t->kind == TOKEN_WORD && (t->flags & WORD_EXAMPLE);
        list |= is_one_of(t, "valid allowed permitted possible accepted accepts either") ||
                (is_word(t, "one") && i + 1 < count && is_word(at(c, i + 1), "of")) ||
                (is_one_of(t, "values options supported available") && i + 1 <= all);
        if (restricts(t)) {
            return false;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!examples && is_point(at(c, i), ':') && is_point(at(c, count), ',')) {
            return false; /* a list of which some would be left */
        }
    }
    for (size_t i = 0; condition && i < count; i++) {
        condition = !is_point(at(c, i), ',');
    }
    if (condition && is_point(at(c, count), ',')) {
        return false; /* and not what follows from it */
    }
    if ((list && colon && !example) ||
        (count >= 2 && is_one_of(at(c, count - 2), "from between"))) {
        return false;
    }
    for (size_t i = count; i < all; i++) {
        const struct token *t = at(c, i);

        if (restricts(t) || (head && !example && qualifies(t)) ||
            (head && number && t->kind == TOKEN_NUMBER)) { /* up to 25, 10 of the other kind */
            return false;
        }
        if ((c->role == ROLE_NOTE || c->role == ROLE_MEANING) && i == count &&
            ends_list(c, count, all)) {
            return false;
        }
        head = t->kind == TOKEN_POINT || (head && is_one_of(t, "and also even"));
    }
    return true;
}

/* The colon before token `end` where what stands before it says something by itself: not "common
 * fields". 0 = there is none. */
static size_t heading(const struct choice *c, size_t end)
{
    size_t words = c->role == ROLE_MEANING ? 2 : 4;

    for (size_t i = 0; i < end; i++) {
        const struct token *t = at(c, i);

        if (is_point(t, ':')) {
            return i >= words ? i : 0;
        }
        if (is_one_of(t, "common supported valid allowed possible accepted options values fields "
                         "types formats following can will")) {
            return 0;
        }
    }
    return 0;
}

/* Cuts before the last boundary at or before `limit`. */
static void cut_before(struct choice *c, size_t limit)
{
    size_t all = c->count;
    size_t i = limit < c->count ? limit : c->count - 1;
    int depth = 0;

    /* Inside a parenthesis the cut is before it. */
    for (size_t k = 0; k <= i; k++) {
        depth += is_point(at(c, k), '(') ? 1 : is_point(at(c, k), ')') ? -1 : 0;
    }
    for (; i > 0; i--) {
        const struct token *t = at(c, i);

        if (is_point(t, ')')) {
            depth++;
        }
        if (is_point(t, '(')) {
            depth--;
        }
        if (depth <= 0 && ((t->kind == TOKEN_POINT && strchr(",-:(", t->ptr[0])) ||
                           (t->kind == TOKEN_WORD && (t->flags & WORD_EXAMPLE)))) {
            break;
        }
    }
    if (i && !may_lose(c, i, all)) {
        size_t colon = heading(c, i);

        i = colon && may_lose(c, colon, all) ? colon : 0;
        c->rule = i ? c->rule : "would-say-more";
    }
    c->count = i;
    strip_end(c);
}

/* The first token that may not stay, or count. */
static size_t first_bad(struct choice *c)
{
    struct strangers found = {0};
    size_t words = 0;

    for (size_t i = 0; i < c->count; i++) {
        const char *rule = canon_check_token(c, i, &found);

        words += at(c, i)->kind != TOKEN_POINT ? 1 : 0;
        if (rule || found.unknown > UNKNOWN_MAX || found.own > OWN_MAX) {
            c->rule = rule ? rule : "unknown-words";
            return i;
        }
    }
    /* Mostly strange words are another language, whoever else uses them. */
    if (found.unknown * 3 > words ||
        (found.unknown + found.own > UNKNOWN_MAX && (found.unknown + found.own) * 2 > words)) {
        c->rule = "unknown-words";
        return c->count - 1;
    }
    return c->count;
}

/* Takes tokens [from, count) of the sentence, without the parentheses that may not stay. */
static void take_tokens(struct choice *c, size_t from)
{
    size_t depth = 0;
    size_t open = 0;
    bool nested = false;
    bool whole = true; /* a parenthesis that goes may say "unless ..." */

    for (size_t i = from; i < c->s->count; i++) {
        const struct token *t = &c->s->tokens[i];

        if (is_point(t, '(')) {
            nested = depth > 0;
            open = depth++ ? open : c->count;
        } else if (is_point(t, ')') && depth == 0) {
            continue;
        }
        c->index[c->count++] = (uint8_t)i;
        if (is_point(t, ')') && --depth == 0) {
            struct choice inner = *c;

            inner.count = c->count - open - 2;
            memmove(inner.index, c->index + open + 1, inner.count);
            if (nested || inner.count == 0 || first_bad(&inner) < inner.count) {
                c->count = open;
                whole &= inner.count == 0 || !qualifies(at(&inner, 0));
            }
            nested = false;
        }
    }
    if (depth) {
        c->count = open;
    }
    if (!whole) {
        c->rule = "would-say-more";
        c->count = 0;
    }
}

static bool too_long(struct choice *c, size_t max)
{
    size_t fits = c->count;

    if (written(c, c->count, NULL) + 1 <= max) {
        return false;
    }
    while (fits && written(c, fits, NULL) + 1 > max) {
        fits--;
    }
    c->rule = "over-length";
    if (fits == 0) {
        c->count = 0;
    } else {
        cut_before(c, fits);
    }
    return true;
}

/* Chooses and writes; no more than once judged. */
static size_t choose(struct choice *c, size_t from, size_t max, char *out)
{
    bool good = false;
    const char *veiled;
    size_t len;

    c->count = 0;
    c->rule = not_a_statement;
    take_tokens(c, from);
    while (c->count && may_not_end(at(c, c->count - 1))) {
        c->count--;
    }
    for (int i = 0; i < SALVAGES && c->count; i++) {
        size_t bad = first_bad(c);

        if (bad < c->count) {
            cut_before(c, bad);
        } else if (!too_long(c, max)) {
            good = true;
            break;
        }
    }
    if (!good) {
        return 0;
    }
    if (!canon_fits_role(c)) {
        c->rule = not_a_statement;
        return 0;
    }
    veiled = canon_veiled(c);
    if (veiled) {
        c->rule = veiled;
        return 0;
    }
    len = written(c, c->count, out);
    out[len++] = '.';
    return len;
}

static size_t label_of(const struct sentence *s, size_t from);

/* Judged again, what was written comes out as it is. */
static bool is_stable(const struct choice *c, size_t max, struct btz_str written_text)
{
    struct sentence s;
    struct choice again = {.judge = c->judge, .s = &s, .role = c->role};
    struct plain text = {written_text, NULL};
    char out[CANON_MEANINGS_MAX + 1];

    return max <= sizeof(out) && canon_sentence(&text, 0, &s) && s.end == written_text.len &&
           !s.overlong && (c->role == ROLE_PURPOSE || label_of(&s, 0) == 0) &&
           choose(&again, 0, max, out) == written_text.len &&
           memcmp(out, written_text.ptr, written_text.len) == 0;
}

/* Words that only say how much a sentence matters, or that a parameter may be left out. */
static size_t label_of(const struct sentence *s, size_t from)
{
    static const char labels[] = "note notes important critical warning caution tip hint attention "
                                 "limitation info usage";
    const struct token *t = s->tokens + from;

    if (s->count < from + 4) {
        return 0;
    }
    if (is_point(&t[1], ':')) {
        return is_one_of(&t[0], labels) ? 2 : 0;
    }
    return is_point(&t[0], '(') && is_one_of(&t[1], "optional required") && is_point(&t[2], ')')
               ? 3
               : 0;
}

/* Behind all labels of a statement or meaning. */
static size_t behind_labels(const struct sentence *s, enum role role)
{
    size_t from = 0;
    size_t more;

    while ((role == ROLE_NOTE || role == ROLE_MEANING) && (more = label_of(s, from))) {
        from += more;
    }
    return from;
}

size_t canon_judge(const struct judge *judge, const struct sentence *s, size_t from, enum role role,
                   size_t max, char *out, struct judged *how)
{
    struct choice c;
    size_t len;

    from = from == 0 ? behind_labels(s, role) : from;
    c.judge = judge;
    c.s = s;
    c.role = role;
    len = choose(&c, from, max, out);
    how->rule = c.rule;
    how->whole = how->complete = false;
    memset(how->kept, 0, sizeof(how->kept));
    if (len == 0) {
        return 0;
    }
    /* A whole sentence that is written byte for byte as it stood needs no second look. */
    how->whole = from == 0 && (size_t)c.index[c.count - 1] + 1 == s->count &&
                 len - 1 == s->tokens[s->count - 1].end - s->tokens[0].begin &&
                 memcmp(out, s->tokens[0].ptr, len - 1) == 0;
    how->complete = from + c.count == s->count && !s->overlong;
    if (!how->whole && !is_stable(&c, max, (struct btz_str){out, len})) {
        how->rule = not_a_statement;
        return 0;
    }
    for (size_t i = 0; i < c.count; i++) {
        how->kept[c.index[i] / 64] |= 1ULL << (c.index[i] % 64);
    }
    return len;
}

size_t canon_judge_beginning(const struct judge *judge, const struct sentence *s, size_t from,
                             size_t max, char *out)
{
    struct choice c;
    size_t all;
    size_t bad;
    size_t len;

    c.judge = judge;
    c.s = s;
    c.role = ROLE_PURPOSE;
    c.count = 0;
    take_tokens(&c, from);
    all = c.count;
    bad = all ? first_bad(&c) : 0;
    c.count = bad;
    while (c.count && written(&c, c.count, NULL) + 1 > max) {
        c.count--;
    }
    /* No parenthesis is left open, and the last word is a thing. */
    for (size_t i = 0; i < c.count; i++) {
        if (is_point(at(&c, i), '(')) {
            c.count = i;
        }
    }
    while (c.count &&
           !(at(&c, c.count - 1)->kind == TOKEN_WORD && (at(&c, c.count - 1)->flags & WORD_NOUN) &&
             !may_not_end(at(&c, c.count - 1)))) {
        c.count--;
    }
    if (c.count < 2 || (c.count < all && !may_lose(&c, c.count, all)) || !canon_fits_role(&c) ||
        canon_veiled(&c)) {
        return 0;
    }
    len = written(&c, c.count, out);
    out[len++] = '.';
    return is_stable(&c, max, (struct btz_str){out, len}) ? len : 0;
}
