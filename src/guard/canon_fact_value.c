/* Fixed lines about values: their form, their bounds, what is allowed, what is the default. */
#include "guard/canon_fact.h"

/* ---- formats ---- */

static bool begins(const struct token *t, const char *head)
{
    size_t len = strlen(head);

    return t->len >= len && memcmp(t->ptr, head, len) == 0;
}

/* A shape that is a form itself, and no example of one. */
static bool is_form(const struct token *t)
{
    static const char *const heads[] = {"ISO",  "RFC",  "BCP",  "E.164", "UUIDv", "base64",
                                        "#RGB", "#RRG", "#rrg", "#HEX",  "#rgb",  "IPv"};

    if (t->kind != TOKEN_DATE) {
        return false;
    }
    if (t->ptr[0] == '{' || t->ptr[0] == '<') {
        return false; /* by what stands around it */
    }
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        if (begins(t, heads[i])) {
            return true;
        }
    }
    return canon_is_date(t->ptr, t->len) &&
           (memchr(t->ptr, 'Y', t->len) || memchr(t->ptr, 'y', t->len) ||
            memchr(t->ptr, 'H', t->len) || memchr(t->ptr, 'h', t->len));
}

/* Places between which one sign stands, and no part of a longer path: {owner}/{repo}. */
static bool is_free_mask(const struct scan *x, size_t i)
{
    const struct token *t = tok(x, i);
    size_t places = 0;

    if (t->kind != TOKEN_DATE || (t->ptr[0] != '{' && t->ptr[0] != '<')) {
        return false;
    }
    for (size_t k = 0; k < t->len; k++) {
        places += t->ptr[k] == '{' || t->ptr[k] == '<' ? 1 : 0;
    }
    return places >= 2 && (i == 0 || tok(x, i - 1)->end < t->begin) &&
           (i + 1 >= x->s->count || t->end < tok(x, i + 1)->begin || is_sign(x, i + 1, ',') ||
            is_sign(x, i + 1, ')'));
}

static bool ends_with(const struct token *t, const char *tail)
{
    size_t len = strlen(tail);

    return t->kind == TOKEN_WORD && (t->flags & WORD_KNOWN) && t->len > len &&
           canon_is_one_of(t->ptr + t->len - len, len, tail);
}

/* The number of tokens of the form at `i`; 0 = none. */
static size_t form_at(const struct scan *x, size_t i)
{
    const struct token *t = tok(x, i);
    const struct token *next = tok(x, i + 1);

    if (is_form(t) || is_free_mask(x, i)) {
        return 1;
    }
    if (t->kind == TOKEN_WORD && memchr(t->ptr, '-', t->len) &&
        (ends_with(t, "-separated") || ends_with(t, "-delimited") || ends_with(t, "-encoded"))) {
        return 1;
    }
    if (t->kind == TOKEN_WORD && !has(x, i, MARK_FORM | MARK_ALONE)) {
        return 0;
    }
    if (is(x, i, "iso rfc bcp") &&
        canon_is_one_of(next->ptr, next->len,
                        "8601 3339 2822 5322 5545 3986 4217 639 639-1 639-2 639-3 3166 3166-1 "
                        "3166-2 4122 6902 7396 47")) {
        return is(x, i + 2, "alpha-2 alpha-3") ? 3 : 2;
    }
    if (is(x, i, "comma space newline line tab semicolon pipe colon whitespace dot") &&
        is(x, i + 1, "separated delimited")) {
        return 2;
    }
    if (t->kind == TOKEN_NUMBER && canon_is_counted(t->ptr, t->len)) {
        return is(x, i + 1, "country language currency state region hex time") &&
                       is(x, i + 2, "code codes format color colour notation")
                   ? 3
               : is(x, i + 1, "code codes index indices hex format time") ? 2
                                                                          : 1;
    }
    if (x->role != ROLE_MEANING || !(x->all & MARK_CUE)) {
        return 0;
    }
    if (t->kind == TOKEN_DATE && t->len == 2 && is(x, i + 1, "notation")) {
        return 2; /* A1 notation */
    }
    if (is(x, i, "json") && is(x, i + 1, "string array object schema path")) {
        return 2;
    }
    if ((is(x, i, "unix") && is(x, i + 1, "timestamp timestamps time epoch")) ||
        (is(x, i, "css") && is(x, i + 1, "selector selectors")) ||
        (is(x, i, "plain") && is(x, i + 1, "text")) ||
        (is(x, i, "data") && is(x, i + 1, "uri url")) ||
        (is(x, i, "regular") && is(x, i + 1, "expression expressions")) ||
        (is(x, i, "wiki") && is(x, i + 1, "markup"))) {
        return 2;
    }
    return has(x, i, MARK_ALONE) ? 1 : 0;
}

/* An item of a list, and no form: behind it comes a comma, a choice or the end. */
static bool is_other_item(const struct scan *x, size_t i)
{
    const struct token *t = tok(x, i);

    return i < x->s->count && t->kind != TOKEN_POINT && !form_at(x, i) &&
           !(t->kind == TOKEN_WORD && (t->flags & (WORD_FUNCTION | WORD_EXAMPLE))) &&
           (i + 1 >= x->s->count || is_sign(x, i + 1, ',') || is_sign(x, i + 1, ')') ||
            is_sign(x, i + 1, '(') || is(x, i + 1, "or and"));
}

/* "toon or json", "csv, chartreuse": forms of which one would be left out. */
static bool is_half(const struct scan *x, size_t i, size_t n)
{
    size_t after = i + n;
    size_t before = i;

    after += is_sign(x, after, ',') ? 1 : 0;
    if (is(x, after, "or")) {
        return !form_at(x, after + 1);
    }
    if (after > i + n && is_other_item(x, after)) {
        return true;
    }
    before -= before && is(x, before - 1, "or") ? 1 : 0;
    before -= before && is_sign(x, before - 1, ',') ? 1 : 0;
    return before && before < i && is_other_item(x, before - 1);
}

/* "email, name, or a JSON object": a choice of which one side is no form. */
static bool is_choice_of_more(const struct scan *x)
{
    for (size_t i = 1; i + 1 < x->s->count; i++) {
        size_t before = i - 1;

        if (!is(x, i, "or")) {
            continue;
        }
        before -= before && (is_sign(x, before, ',') || is_sign(x, before, ')')) ? 1 : 0;
        if (!form_at(x, i + 1) ||
            !(form_at(x, before) || (before && form_at(x, before - 1) == 2))) {
            return true;
        }
    }
    return false;
}

/* How letters or numbers are taken: said of the whole value only in a short sentence. */
static bool is_manner(const struct scan *x, size_t i)
{
    const struct token *t = tok(x, i);

    return (t->kind == TOKEN_NUMBER && canon_is_counted(t->ptr, t->len)) ||
           is(x, i, "lowercase uppercase case-insensitive case-sensitive alphanumeric decimal");
}

/* Whether a form is said to be the value's: "in JSON", "JSON string", "valid YAML", "csv or tsv";
 * not "complete workflow JSON", "the GraphQL query". */
static bool is_of_value(const struct scan *x, size_t i, size_t n)
{
    if (!has(x, i, MARK_ALONE) || n > 1 || i == 0 || has(x, i + n, MARK_CUE) ||
        is(x, i + n, "content text document markup source code")) {
        return true;
    }
    if (is(x, i - 1, "the a an")) {
        return i + n >= x->s->count || tok(x, i + n)->kind == TOKEN_POINT;
    }
    return tok(x, i - 1)->kind == TOKEN_POINT || has(x, i - 1, MARK_CUE | MARK_ALONE | MARK_LIST) ||
           is(x, i - 1, "in as or and to into be is are use uses using");
}

void fact_formats(struct scan *x)
{
    enum { SHORT = 10 };
    struct canon_fact f;

    if (x->role != ROLE_MEANING || is_choice_of_more(x) ||
        says(x, "for only such result results returns returned response output converts tokens "
                "refused rejected fail fails forbidden disallowed invalid wrong illegal breaks")) {
        return;
    }

    for (size_t i = 0; i < x->s->count; i++) {
        if (has(x, i, MARK_ALONE) && is_half(x, i, 1)) {
            x->half = true;
        }
    }
    fact_begin(&f, "Format:");
    for (size_t i = 0; i < x->s->count && f.atoms < FACT_ATOMS; i++) {
        size_t n = is_kept(x, i) || (x->half && has(x, i, MARK_ALONE)) ? 0 : form_at(x, i);

        while (n && tok(x, i)->kind == TOKEN_DATE && tok(x, i + n)->kind == TOKEN_DATE) {
            n++; /* YYYY-MM-DD HH:mm:ss is one form */
        }
        if (n && is_manner(x, i) && x->s->count > SHORT) {
            continue;
        }
        if (n && !is_of_value(x, i, n)) {
            continue;
        }
        if (n && !is_denied(x, i) && (is(x, i + n, "or") || !fact_is_weakened(x, i + n))) {
            (void)fact_add(x, &f, i, i + n);
            i += n - 1;
        }
    }
    fact_end(x, &f);
}

/* ---- numbers ---- */

/* A bound that is no amount and no long identifier. */
static bool is_bound(const struct scan *x, size_t i)
{
    const struct token *t = tok(x, i);

    if (t->kind != TOKEN_NUMBER || (i && (tok(x, i - 1)->flags & WORD_CURRENCY)) ||
        (tok(x, i + 1)->kind == TOKEN_WORD && (tok(x, i + 1)->flags & WORD_CURRENCY)) ||
        !canon_amounts_are_plain(t->ptr, t->len)) {
        return false;
    }
    for (size_t k = 0; k < t->len; k++) {
        if ((t->ptr[k] | 0x20) >= 'a' && (t->ptr[k] | 0x20) <= 'z') {
            return canon_is_one_of(t->ptr + k, t->len - k,
                                   "kb mb gb tb kib mib gib k m s ms h d px pt em km cm mm kg g");
        }
    }
    return true;
}

static bool is_unit(const struct scan *x, size_t i)
{
    return has(x, i, MARK_UNIT);
}

/* Whether the comparison at `k` is what the value has to meet; also the line itself. */
static bool is_said_of_value(const struct scan *x, size_t k)
{
    return k == 0 || is(x, k - 1, "be is must value values size") ||
           (is_sign(x, k - 1, ':') && k >= 2 && is(x, k - 2, "limit"));
}

/* Where the words begin that make the number at `i` a limit; `i` if there are none. */
static size_t limit_from(const struct scan *x, size_t i)
{
    size_t k = i;

    if (k == 0 || (tok(x, k - 1)->kind == TOKEN_WORD && !has(x, k - 1, MARK_BOUND))) {
        return i;
    }
    if (tok(x, k - 1)->kind == TOKEN_POINT && strchr("<>", tok(x, k - 1)->ptr[0])) {
        /* No arrow, no query, no "small files (<5MB)". */
        return x->role == ROLE_MEANING && is_said_of_value(x, k - 1) ? k - 1 : i;
    }
    if (k >= 2 && ((is(x, k - 2, "up") && is(x, k - 1, "to")) ||
                   (is(x, k - 2, "at") && is(x, k - 1, "most least")) ||
                   (is(x, k - 2, "limited") && is(x, k - 1, "to")) ||
                   (is(x, k - 2, "capped") && is(x, k - 1, "at")) ||
                   (is(x, k - 2, "not cannot") && is(x, k - 1, "exceed")))) {
        return k - 2;
    }
    if (k >= 3 && is(x, k - 3, "no not") && is(x, k - 2, "more less fewer") &&
        is(x, k - 1, "than")) {
        return k - 3;
    }
    if (k >= 2 && is(x, k - 2, "more less greater fewer") && is(x, k - 1, "than")) {
        return is_said_of_value(x, k - 2) ? k - 2 : i; /* not "accounts with more than 10 orders" */
    }
    if (k >= 1 && is(x, k - 1, "max maximum min minimum")) {
        return k - 1;
    }
    return i;
}

/* "between 1 and 100" from the word on. */
static size_t span_of_numbers(const struct scan *x, size_t i)
{
    return ((is(x, i, "between") && is(x, i + 2, "and")) ||
            (is(x, i, "from") && is(x, i + 2, "to"))) &&
                   is_bound(x, i + 1) && is_bound(x, i + 3)
               ? 4
               : 0;
}

/* The words behind a number that say what it counts, at most two and nouns: 50 points, 2 coordinate
 * pairs. */
static size_t unit_at(const struct scan *x, size_t i)
{
    const uint32_t never = WORD_BANNED | WORD_SENSITIVE | WORD_SOFT | WORD_CURRENCY | WORD_PAYS;
    size_t n = 0;

    if (is_unit(x, i) && !(tok(x, i + 1)->flags & WORD_NOUN)) {
        return 1;
    }
    while (n < 2 && tok(x, i + n)->kind == TOKEN_WORD && (tok(x, i + n)->flags & WORD_NOUN) &&
           !(tok(x, i + n)->flags & (never | WORD_FUNCTION))) {
        n++;
    }
    return n;
}

bool fact_is_weakened(const struct scan *x, size_t i)
{
    i += is_sign(x, i, ',') || is_sign(x, i, '(') ? 1 : 0;
    return is(x, i,
              "or but except excluding unless only not if when until otherwise without while "
              "although though");
}

/* "driving: by traffic (limited to 10 points)": a limit of one of the values. */
static bool is_of_one_value(const struct scan *x, size_t i)
{
    size_t k = i;

    while (k && !is_sign(x, k - 1, '(')) {
        k--;
    }
    while (k && !is_sign(x, k - 1, ':')) {
        k--;
    }
    return k > 0;
}

/* A number that is said to be the default. */
static bool is_default(const struct scan *x, size_t i)
{
    while (i && (is_sign(x, i - 1, ':') || is_sign(x, i - 1, '=') || is(x, i - 1, "is to"))) {
        i--;
    }
    return i && has(x, i - 1, MARK_DEFAULT);
}

void fact_limits(struct scan *x)
{
    struct canon_fact f;
    size_t numbers = 0;
    size_t used = 0;

    if (is_unclear(x) || says(x, "for only such above below exceeds over under slow small medium "
                                 "large take takes warning might could or")) {
        return;
    }

    /* Of what is sent or paid no amount stays. */
    for (size_t i = 0; i < x->s->count; i++) {
        uint32_t flags = tok(x, i)->kind == TOKEN_WORD ? tok(x, i)->flags : 0;

        if ((flags & WORD_CURRENCY) ||
            ((flags & (WORD_SENDS | WORD_PAYS)) && !(flags & WORD_NOUN))) {
            return;
        }
    }
    fact_begin(&f, "Limit:");
    for (size_t i = 0; i < x->s->count && f.atoms < FACT_ATOMS; i++) {
        const struct token *t = tok(x, i);
        size_t n = t->kind == TOKEN_WORD && tok(x, i + 1)->kind == TOKEN_NUMBER
                       ? span_of_numbers(x, i)
                       : 0;
        size_t from = n ? i : limit_from(x, i);
        size_t to = i + (n ? n : 1);
        bool range = t->kind == TOKEN_NUMBER && (t->flags & WORD_NUMBERED);

        if ((t->kind != TOKEN_NUMBER && !n) || is_kept(x, i) || is_denied(x, from) ||
            (!n && !is_bound(x, i)) || (from == i && !n && !(range && is_unit(x, i + 1)))) {
            continue;
        }
        to += unit_at(x, to);
        if (tok(x, to)->kind == TOKEN_WORD && !(tok(x, to)->flags & WORD_FUNCTION) &&
            to == i + (n ? n : 1) && to < x->s->count && !is(x, to, "per")) {
            continue; /* of what, is lost */
        }
        if (fact_is_weakened(x, to) || is(x, to, "to") || is_of_one_value(x, from) ||
            (to > i + (n ? n : 1) && tok(x, to)->kind == TOKEN_WORD &&
             !(tok(x, to)->flags & WORD_FUNCTION) && !is(x, to, "long"))) {
            continue; /* the last: 50 user mobile numbers */
        }
        used += fact_add(x, &f, from, to) ? (n ? 2 : 1) : 0;
        i = to - 1;
    }
    for (size_t i = 0; i < x->s->count; i++) {
        numbers += tok(x, i)->kind == TOKEN_NUMBER && !is_default(x, i) ? 1 : 0;
    }
    if (numbers == used) { /* else there is another limit, or a case */
        fact_end(x, &f);
    }
}

/* ---- values ---- */

/* One token that may stand in a list of values or as a default: words of the table, bounds, closed
 * shapes. What sends or pays is none. */
static bool is_value(const struct scan *x, size_t i)
{
    const struct token *t = tok(x, i);
    const uint32_t never = WORD_BANNED | WORD_SENSITIVE | WORD_SOFT | WORD_CURRENCY;
    struct btz_str rest = {t->ptr, t->len};
    struct btz_str piece;

    switch ((enum token_kind)t->kind) {
    case TOKEN_DATE:
        return true;
    case TOKEN_NUMBER:
        return is_bound(x, i);
    case TOKEN_WORD:
        return (t->flags & WORD_KNOWN) && !(t->flags & never) &&
               (!(t->flags & (WORD_SENDS | WORD_PAYS)) || (t->flags & WORD_NOUN));
    case TOKEN_NAME:
        if (t->len > CANON_VALUE_MAX || canon_sibling(x->judge->siblings, rest)) {
            return false;
        }
        while (canon_piece(&rest, &piece)) {
            uint32_t flags =
                canon_word(piece.ptr, piece.len, canon_word_hash(piece.ptr, piece.len));

            if (!flags || (flags & never) ||
                ((flags & (WORD_SENDS | WORD_PAYS)) && !(flags & WORD_NOUN))) {
                return false;
            }
        }
        return true;
    default:
        return false;
    }
}

/* Behind the parenthesis at `i`, if one opens there. */
static size_t skip_aside(const struct scan *x, size_t i)
{
    size_t k = i;

    if (!is_sign(x, i, '(')) {
        return i;
    }
    while (k < x->s->count && !is_sign(x, k, ')')) {
        k++;
    }
    return k < x->s->count ? k + 1 : i;
}

/* Where the first value is, if a list of all values is announced at `i`; 0 = none is. */
static size_t list_from(const struct scan *x, size_t i)
{
    if (!has(x, i, MARK_LIST)) {
        return 0;
    }
    if (is(x, i, "one") && is(x, i + 1, "of")) {
        return i + 2 + (is_sign(x, i + 2, ':') ? 1 : 0);
    }
    if (is(x, i, "options values formats types modes keys choices levels operators") &&
        is_sign(x, i + 1, ':') &&
        (i == 0 || is(x, i - 1, "supported valid allowed accepted possible available"))) {
        return i + 2;
    }
    if (is(x, i, "supported valid allowed accepted possible available supports accepts options") &&
        is_sign(x, i + 1, ':')) {
        return i + 2;
    }
    return 0;
}

void fact_values(struct scan *x)
{
    struct canon_fact f;
    size_t i = 0;
    size_t at = 0;

    while (i < x->s->count && !(at = list_from(x, i))) {
        i++;
    }
    if (!at || x->role != ROLE_MEANING || is_kept(x, at) || is_denied(x, i) ||
        says(x, "etc than other")) {
        return;
    }
    fact_begin(&f, "One of:");
    while (f.atoms < FACT_VALUES && is_value(x, at) && !is(x, at, "or and the a an") &&
           fact_add(x, &f, at, at + 1)) {
        size_t next = skip_aside(x, at + 1);
        size_t join = next;

        join += is_sign(x, join, ',') ? 1 : 0;
        join += is(x, join, "or and") ? 1 : 0;
        at = join;
        if (join == next || at >= x->s->count) {
            break;
        }
    }
    /* All of them, or none: part of a list would say that the rest is not allowed. */
    if (f.atoms >= FACT_VALUE_MIN && at >= x->s->count && !x->s->overlong) {
        fact_end(x, &f);
    }
}

/* "below the default": the number is none that holds by itself. */
static bool is_measure(const struct scan *x, size_t i)
{
    i -= i && is(x, i - 1, "the a an") ? 1 : 0;
    return i && is(x, i - 1, "below above half than over under non");
}

void fact_default(struct scan *x)
{
    struct canon_fact f;

    for (size_t i = 0; i < x->s->count; i++) {
        size_t at = i + 1;

        if (!has(x, i, MARK_DEFAULT) || is_kept(x, i) || is_measure(x, i)) {
            continue;
        }
        while (is_sign(x, at, ':') || is_sign(x, at, '=') || is(x, at, "is to")) {
            at++;
        }
        /* One value, and nothing behind it that would make it less. */
        if (at == i + 1 && tok(x, at)->kind != TOKEN_NUMBER) {
            continue;
        }
        if (is_value(x, at) && !is(x, at, "the a an this that it of") && !is_denied(x, i) &&
            !fact_is_weakened(x, at + 1) &&
            (at + 1 >= x->s->count || is_sign(x, at + 1, ')') ||
             (is_sign(x, at + 1, ',') && !is_value(x, at + 2)) ||
             (tok(x, at)->kind == TOKEN_NUMBER && is_unit(x, at + 1)))) {
            fact_begin(&f, "Default:");
            (void)fact_add(x, &f, at,
                           at + (tok(x, at)->kind == TOKEN_NUMBER && is_unit(x, at + 1) ? 2 : 1));
            fact_end(x, &f);
            return;
        }
    }
}
