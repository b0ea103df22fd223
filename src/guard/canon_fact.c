/* What a sentence that does not stay still says: a format, a limit, a default, allowed values, a
 * state that has to be there, the tool that knows the ids. Each is parsed and written anew as one
 * fixed line from closed lists, so nothing of the sentence's own wording comes with it. A line is
 * written only if it is read as the same line again. */
#include <pthread.h>
#include <stdio.h>

#include "guard/canon_choice.h"

enum { ATOMS = 4, VALUES = 20, VALUE_MIN = 2, PHRASE = 6, UNITS_DIGITS = 6 };

/* ---- words by what they mean here ---- */

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
};

static const struct {
    uint32_t mark;
    const char *words;
} marks[] = {
    {MARK_DENY, "not no never none nor without unlike instead rather avoid cannot dont cant unless "
                "except if when whenever otherwise unsupported deprecated ignore ignored neither "
                "don't doesn't isn't can't won't aren't shouldn't mustn't"},
    {MARK_CUE, "format formats formatted string strings encoded notation syntax expression "
               "expressions as in valid array object list timestamp pattern selector"},
    {MARK_FORM, "iso rfc bcp comma space newline line tab semicolon pipe colon whitespace dot json "
                "unix css plain data regular wiki"},
    {MARK_ALONE,
     "base64 uuid uuids guid ulid hex hexadecimal json yaml xml csv tsv html xhtml markdown regex "
     "regexp glob cron jql cql kql jmespath jsonpath xpath geojson wkt latex rrule alphanumeric "
     "camelcase kebab-case lowercase uppercase semver iana epoch geohash odata graphql sql promql "
     "openapi ascii utf-8 case-sensitive case-insensitive stringified decimal"},
    {MARK_UNIT,
     "item items result results record records entry entries character characters chars byte bytes "
     "kb mb gb tb kib mib gib pixel pixels px second seconds sec ms minute minutes min hour hours "
     "day days week weeks month months year years page pages line lines row rows column columns "
     "file files image images request requests percent point points degree degrees meter meters "
     "metre metres km m cm mm mile miles attempt attempts level levels word words sentence "
     "sentences coordinate coordinates value values element elements step steps iteration "
     "iterations node nodes letter letters digit digits object objects id ids field fields keyword "
     "keywords url urls"},
    {MARK_BOUND, "to most least at exceed than max maximum min minimum"},
    {MARK_STATE,
     "session connection login authentication authorization permission permissions access role "
     "scope scopes plan subscription plugin extension bridge server instance workspace project "
     "file folder directory document database table page tab browser app device simulator cluster "
     "index environment network internet certificate license repository branch record approval "
     "confirmation adapter debugger program editor scene connector administrator admin edition "
     "issue"},
    {MARK_QUALITY,
     "open active running connected existing valid enabled installed authenticated write read edit "
     "enterprise pro premium paid business desktop cloud api same prior local remote full "
     "compatible web read-only read-write team user global current working integrated"},
    {MARK_ID,
     "id ids identifier identifiers uuid uid uids key keys slug slugs name names code codes "
     "alias aliases"},
    {MARK_SOURCE, "from by get find discover see use obtain obtained returned using via come"},
    {MARK_LIST,
     "one options values formats types modes keys choices levels operators supported valid "
     "allowed accepted possible available supports accepts"},
    {MARK_DEFAULT, "default defaults"},
    {MARK_NEEDS, "requires require needs"},
};

enum { SLOTS = 1U << 10 };

static struct {
    const char *word;
    uint32_t len, marks;
} slots[SLOTS];

static void put(struct btz_str word, uint32_t mark)
{
    uint32_t i = canon_word_hash(word.ptr, word.len) & (SLOTS - 1);

    while (slots[i].word &&
           !(slots[i].len == word.len && !memcmp(slots[i].word, word.ptr, word.len))) {
        i = (i + 1) & (SLOTS - 1);
    }
    slots[i].word = word.ptr;
    slots[i].len = (uint32_t)word.len;
    slots[i].marks |= mark;
}

static void fill(void)
{
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        struct btz_str rest = btz_str_of(marks[i].words);
        struct btz_str word;

        while (btz_str_cut(&rest, ' ', &word)) {
            if (word.len) {
                put(word, marks[i].mark);
            }
        }
    }
}

static uint32_t marks_of(const struct token *t)
{
    uint32_t hash;

    if (t->kind != TOKEN_WORD || t->len > CANON_WORD_MAX) {
        return 0;
    }
    hash = t->hash ? t->hash : canon_word_hash(t->ptr, t->len);
    for (uint32_t i = hash & (SLOTS - 1); slots[i].word; i = (i + 1) & (SLOTS - 1)) {
        if (slots[i].len == t->len) {
            size_t k = 0;

            while (k < t->len && slots[i].word[k] == (char)((unsigned char)t->ptr[k] | 0x20)) {
                k++;
            }
            if (k == t->len) {
                return slots[i].marks;
            }
        }
    }
    return 0;
}

void canon_facts_hash(struct btz_hasher *hasher)
{
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        btz_hasher_add_part(hasher, btz_str_of(marks[i].words));
    }
}

static void ready(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, fill);
}

/* ---- a sentence ---- */

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

static const struct token *tok(const struct scan *x, size_t i)
{
    static const struct token none = {.ptr = "", .kind = TOKEN_STRANGE};

    return i < x->s->count ? &x->s->tokens[i] : &none;
}

static bool is(const struct scan *x, size_t i, const char *words)
{
    return is_one_of(tok(x, i), words);
}

static bool is_sign(const struct scan *x, size_t i, char sign)
{
    return is_point(tok(x, i), sign);
}

static bool is_kept(const struct scan *x, size_t i)
{
    return x->kept && (x->kept[i / 64] >> (i % 64) & 1);
}

static bool has(const struct scan *x, size_t i, uint32_t mark)
{
    return i < x->s->count && (x->marks[i] & mark);
}

static bool is_denied(const struct scan *x, size_t i)
{
    return x->denied < i;
}

/* ---- a line under way ---- */

static void begin(struct canon_fact *f, const char *head)
{
    f->len = strlen(head);
    memcpy(f->text, head, f->len);
    f->atoms = 0;
}

/* Adds tokens [from, to) as one more atom; false if the line has no room or has it already. */
static bool add_atom(const struct scan *x, struct canon_fact *f, size_t from, size_t to)
{
    char atom[CANON_FACT_MAX];
    size_t len = 0;
    size_t head = f->len;

    for (size_t i = from; i < to; i++) {
        const struct token *t = tok(x, i);

        if (len + t->len + 1 >= sizeof(atom)) {
            return false;
        }
        if (i > from) {
            atom[len++] = ' ';
        }
        memcpy(atom + len, t->ptr, t->len);
        len += t->len;
    }
    if (len == 0 || head + len + 3 > sizeof(f->text)) {
        return false;
    }
    for (size_t i = 0; f->atoms && i + len <= head; i++) {
        if (memcmp(f->text + i, atom, len) == 0 && (i + len == head || f->text[i + len] == ',') &&
            i && f->text[i - 1] == ' ') {
            return false;
        }
    }
    if (f->atoms) {
        f->text[f->len++] = ',';
    }
    f->text[f->len++] = ' ';
    memcpy(f->text + f->len, atom, len);
    f->len += len;
    f->atoms++;
    return true;
}

static void end(struct scan *x, struct canon_fact *f)
{
    if (f->atoms && x->count < x->max) {
        f->text[f->len++] = '.';
        x->out[x->count++] = *f;
    }
}

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

static void find_formats(struct scan *x)
{
    struct canon_fact f;

    for (size_t i = 0; i < x->s->count; i++) {
        if (has(x, i, MARK_ALONE) && is_half(x, i, 1)) {
            x->half = true;
        }
    }
    begin(&f, "Format:");
    for (size_t i = 0; i < x->s->count && f.atoms < ATOMS; i++) {
        size_t n = is_kept(x, i) || (x->half && has(x, i, MARK_ALONE)) ? 0 : form_at(x, i);

        if (n && !is_denied(x, i)) {
            (void)add_atom(x, &f, i, i + n);
            i += n - 1;
        }
    }
    end(x, &f);
}

/* ---- numbers ---- */

/* A bound that is no amount and no long identifier. */
static bool is_bound(const struct scan *x, size_t i)
{
    const struct token *t = tok(x, i);
    size_t digits = 0;
    size_t weight = 0;

    if (t->kind != TOKEN_NUMBER || (i && (tok(x, i - 1)->flags & WORD_CURRENCY)) ||
        (tok(x, i + 1)->kind == TOKEN_WORD && (tok(x, i + 1)->flags & WORD_CURRENCY))) {
        return false;
    }
    for (size_t k = 0; k < t->len; k++) {
        if (t->ptr[k] >= '0' && t->ptr[k] <= '9') {
            digits++;
            weight += t->ptr[k] != '0' ? 1 : 0;
        } else if ((t->ptr[k] | 0x20) >= 'a' && (t->ptr[k] | 0x20) <= 'z') {
            return canon_is_one_of(t->ptr + k, t->len - k,
                                   "kb mb gb tb kib mib gib k m s ms h d px x pt em km cm mm kg g");
        }
    }
    return digits <= UNITS_DIGITS || (digits <= 10 && weight <= 2);
}

static bool is_unit(const struct scan *x, size_t i)
{
    return has(x, i, MARK_UNIT);
}

/* Where the words begin that make the number at `i` a limit; `i` if there are none. */
static size_t limit_from(const struct scan *x, size_t i)
{
    size_t k = i;

    if (k == 0 || (tok(x, k - 1)->kind == TOKEN_WORD && !has(x, k - 1, MARK_BOUND))) {
        return i;
    }
    if (tok(x, k - 1)->kind == TOKEN_POINT && strchr("<>", tok(x, k - 1)->ptr[0])) {
        /* No arrow, no query. */
        return x->role == ROLE_MEANING &&
                       (k == 1 || is_sign(x, k - 2, '(') || is_sign(x, k - 2, ',') ||
                        is_sign(x, k - 2, ':') || is(x, k - 2, "be is must value values size"))
                   ? k - 1
                   : i;
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
        return k - 2;
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

/* Whether what comes behind token `i` makes less of what stands before it: an alternative, a
 * condition, an exception. */
static bool is_weakened(const struct scan *x, size_t i)
{
    i += is_sign(x, i, ',') || is_sign(x, i, '(') ? 1 : 0;
    return is(x, i,
              "or but except excluding unless only not if when until otherwise without while "
              "although though");
}

static void find_limits(struct scan *x)
{
    struct canon_fact f;

    begin(&f, "Limit:");
    for (size_t i = 0; i < x->s->count && f.atoms < ATOMS; i++) {
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
            tok(x, to)->flags != WORD_KNOWN && to == i + (n ? n : 1) && to < x->s->count &&
            !is(x, to, "per")) {
            continue; /* of what, is lost */
        }
        if (is_weakened(x, to)) {
            continue;
        }
        (void)add_atom(x, &f, from, to);
        i = to - 1;
    }
    end(x, &f);
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

static void find_values(struct scan *x)
{
    struct canon_fact f;
    size_t i = 0;
    size_t at = 0;

    while (i < x->s->count && !(at = list_from(x, i))) {
        i++;
    }
    if (!at || x->role != ROLE_MEANING || is_denied(x, i)) {
        return;
    }
    begin(&f, "One of:");
    while (f.atoms < VALUES && is_value(x, at) && !is(x, at, "or and the a an") &&
           add_atom(x, &f, at, at + 1)) {
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
    if (f.atoms >= VALUE_MIN && at >= x->s->count && !x->s->overlong) {
        end(x, &f);
    }
}

static void find_default(struct scan *x)
{
    struct canon_fact f;

    for (size_t i = 0; i < x->s->count; i++) {
        size_t at = i + 1;

        if (!has(x, i, MARK_DEFAULT) || is_kept(x, i)) {
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
            !is_weakened(x, at + 1) &&
            (at + 1 >= x->s->count || is_sign(x, at + 1, ')') || is_sign(x, at + 1, ',') ||
             is_sign(x, at + 1, '(') || (tok(x, at)->kind == TOKEN_NUMBER && is_unit(x, at + 1)))) {
            begin(&f, "Default:");
            (void)add_atom(x, &f, at,
                           at + (tok(x, at)->kind == TOKEN_NUMBER && is_unit(x, at + 1) ? 2 : 1));
            end(x, &f);
            return;
        }
    }
}

/* ---- states ---- */

static void find_states(struct scan *x)
{
    struct canon_fact f;

    begin(&f, "Requires:");
    for (size_t i = 0; i < x->s->count; i++) {
        size_t at = i + 1;
        size_t from;

        if (!has(x, i, MARK_NEEDS) || is_kept(x, i) || is_denied(x, i)) {
            continue;
        }
        at += is_sign(x, at, ':') ? 1 : 0;
        from = at;
        at += is(x, at, "a an the") ? 1 : 0;
        while (at < from + PHRASE && has(x, at, MARK_STATE | MARK_QUALITY)) {
            at++;
        }
        if (at > from && has(x, at - 1, MARK_STATE) &&
            (at >= x->s->count || is_sign(x, at, ',') || is_sign(x, at, '(') ||
             is_sign(x, at, ')') || is(x, at, "to for in on of")) &&
            !is_weakened(x, at)) {
            (void)add_atom(x, &f, from, at);
            break;
        }
    }
    end(x, &f);
}

/* ---- where ids come from ---- */

/* A name that only looks up: list_projects, search_users. */
static bool looks_up(struct btz_str name)
{
    struct btz_str rest = name;
    struct btz_str piece;
    bool verb = false;

    while (canon_piece(&rest, &piece)) {
        uint32_t flags = canon_word(piece.ptr, piece.len, canon_word_hash(piece.ptr, piece.len));

        if (flags & (WORD_SENSITIVE | WORD_SOFT | WORD_BANNED)) {
            return false;
        }
        verb |= canon_is_one_of(piece.ptr, piece.len,
                                "list search find lookup query describe get browse show discover");
    }
    return verb && canon_name_effect(name) == EFFECT_READS;
}

/* Whether the tool named at `i` is what the ids are from: "ids from X", "use X to find the id". */
static bool is_source(const struct scan *x, size_t i)
{
    size_t before = i;
    size_t next = i + 1;
    bool id = false;

    while (before && (is(x, before - 1, "the tool output results result response") ||
                      is_sign(x, before - 1, '('))) {
        before--;
    }
    for (size_t k = 0; k < before; k++) {
        id |= has(x, k, MARK_ID);
    }
    if (before && is(x, before - 1, "from via")) {
        return id || x->role == ROLE_MEANING;
    }
    if (before && is(x, before - 1, "by")) {
        return id && before >= 2 && is(x, before - 2, "returned obtained listed provided given");
    }
    if (before >= 2 && is(x, before - 1, "with using") && has(x, before - 2, MARK_ID)) {
        return is(x, 0, "find get obtain look");
    }
    if (!before || !is(x, before - 1, "use run call see using")) {
        return false;
    }
    next += is(x, next, "tool") ? 1 : 0;
    next += is(x, next, "first") ? 1 : 0;
    if (!is(x, next, "to") || !is(x, next + 1, "find get discover obtain see list identify look")) {
        return false;
    }
    for (size_t k = next + 2; k < x->s->count && k < next + 8; k++) {
        id |= has(x, k, MARK_ID);
    }
    return id;
}

static void find_source(struct scan *x)
{
    const struct btz_canon_result *found = NULL;
    struct canon_fact f;

    if (!x->judge->siblings || !(x->all & MARK_ID) || !(x->all & MARK_SOURCE)) {
        return;
    }
    for (size_t i = 0; i < x->s->count; i++) {
        const struct token *t = tok(x, i);
        struct btz_str word = {t->ptr, t->len};
        const struct btz_canon_result *tool =
            t->kind == TOKEN_POINT ? NULL : canon_sibling(x->judge->siblings, word);

        if (!tool || btz_str_eq(word, x->judge->name) || !looks_up(tool->name)) {
            continue;
        }
        if ((found && found != tool) || is_denied(x, i)) {
            return;
        }
        if (is_source(x, i)) {
            found = tool;
        }
    }
    if (found && found->name.len < CANON_FACT_MAX / 2) {
        f.atoms = 1;
        f.len =
            (size_t)snprintf(f.text, sizeof(f.text), "Ids come from %.*s", BTZ_FMT(found->name));
        end(x, &f);
    }
}

/* ---- the whole ---- */

static size_t find(const struct judge *judge, const struct sentence *s, const uint64_t *kept,
                   enum role role, struct canon_fact *out, size_t max)
{
    struct scan x;
    bool number = false;
    bool form = false;

    ready();
    x.judge = judge;
    x.s = s;
    x.kept = kept;
    x.role = role;
    x.out = out;
    x.count = 0;
    x.max = max;
    x.all = 0;
    x.half = false;
    x.denied = s->count;
    for (size_t i = 0; i < s->count; i++) {
        const struct token *t = &s->tokens[i];

        if (t->kind == TOKEN_WORD && (t->flags & (WORD_SECRECY | WORD_PRECEDENCE))) {
            return 0;
        }
        x.marks[i] = marks_of(t);
        x.all |= x.marks[i];
        number |= t->kind == TOKEN_NUMBER;
        form |= t->kind == TOKEN_DATE || t->kind == TOKEN_NUMBER ||
                (t->kind == TOKEN_WORD && t->len > 8 && memchr(t->ptr, '-', t->len));
        if ((x.marks[i] & MARK_DENY) && x.denied == s->count) {
            x.denied = i;
        }
    }
    if (form || (x.all & (MARK_FORM | MARK_ALONE))) {
        find_formats(&x);
    }
    if (number) {
        find_limits(&x);
    }
    if ((x.all & MARK_LIST) && role == ROLE_MEANING) {
        find_values(&x);
    }
    if ((x.all & MARK_DEFAULT) && role == ROLE_MEANING) {
        find_default(&x);
    }
    if (x.all & MARK_NEEDS) {
        find_states(&x);
    }
    find_source(&x);
    return x.count;
}

static bool has_head(const struct sentence *s)
{
    return s->count >= 3 && s->tokens[0].kind == TOKEN_WORD &&
           ((is_point(&s->tokens[1], ':') &&
             is_one_of(&s->tokens[0], "format limit default requires")) ||
            (is_word(&s->tokens[0], "one") && is_word(&s->tokens[1], "of")) ||
            (is_word(&s->tokens[0], "ids") && is_word(&s->tokens[1], "come")));
}

bool canon_is_fact(const struct judge *judge, const struct sentence *s, enum role role,
                   struct canon_fact *out)
{
    struct canon_fact found[CANON_FACTS_A_SENTENCE];
    size_t left;

    if (!has_head(s)) {
        return false;
    }
    left = s->end - s->tokens[0].begin;
    for (size_t i = 0, n = find(judge, s, NULL, role, found, CANON_FACTS_A_SENTENCE); i < n; i++) {
        if (found[i].len <= left && memcmp(found[i].text, s->tokens[0].ptr, found[i].len) == 0) {
            *out = found[i];
            return true;
        }
    }
    return false;
}

size_t canon_facts(const struct judge *judge, const struct sentence *s, const uint64_t *kept,
                   enum role role, struct canon_fact *out)
{
    struct canon_fact found[CANON_FACTS_A_SENTENCE];
    size_t n = find(judge, s, kept, role, found, CANON_FACTS_A_SENTENCE);
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        struct plain text = {{found[i].text, found[i].len}, NULL};
        struct canon_fact again;
        struct sentence line;

        if (canon_sentence(&text, 0, &line) && line.end == found[i].len &&
            canon_is_fact(judge, &line, role, &again) && again.len == found[i].len) {
            out[count++] = found[i];
        }
    }
    return count;
}
