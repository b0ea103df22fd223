/* Texts into sentences, and sentences into tokens. One pass over the bytes, no allocation where the
 * text is ASCII. Rules of other files never see a letter of another script, a control character or
 * a character that shows nothing: they are gone, or a STRANGE token. */
#include <stdatomic.h>

#include "guard/canon_int.h"
#include "text/fold.h"

enum { STRANGE_BYTE = 1 };

/* ---- plain text ---- */

static const struct {
    uint32_t code;
    const char *ascii;
} signs[] = {
    {0x00A0, " "},  {0x00B1, "+-"}, {0x00B7, "*"},  {0x00D7, "x"},   {0x2009, " "},  {0x2010, "-"},
    {0x2011, "-"},  {0x2012, "-"},  {0x2013, "-"},  {0x2014, " - "}, {0x2015, "-"},  {0x2018, "'"},
    {0x2019, "'"},  {0x201A, "'"},  {0x201C, "\""}, {0x201D, "\""},  {0x201E, "\""}, {0x2022, "*"},
    {0x2026, ". "}, {0x202F, " "},  {0x2190, "-"},  {0x2192, " - "}, {0x2212, "-"},  {0x2264, "<="},
    {0x2265, ">="}, {0x00AB, "\""}, {0x00BB, "\""}, {0x3000, " "},
};

/* Pictures that authors put before a heading; they say nothing. */
static bool is_picture(uint32_t code)
{
    return (code >= 0x2190 && code <= 0x2BFF) || (code >= 0x1F000 && code <= 0x1FAFF);
}

static const char *ascii_of(struct btz_str source, size_t *at, uint32_t code)
{
    char next = *at < source.len ? source.ptr[*at] : ' ';

    if (code == 0x00B0) {
        if (next == 'C' || next == 'F') {
            ++*at;
            return next == 'C' ? " Celsius" : " Fahrenheit";
        }
        return " degrees";
    }
    if (code == 0x00B5 || code == 0x03BC) { /* micro sign, Greek mu */
        char behind = *at + 1 < source.len ? source.ptr[*at + 1] : ' ';

        if ((next == 's' || next == 'm') && (behind < 'a' || behind > 'z')) {
            ++*at;
            return next == 's' ? " microseconds" : " micrometers";
        }
        return "u";
    }
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        if (signs[i].code == code) {
            return signs[i].ascii;
        }
    }
    return btz_text_is_invisible(code) ? "" : is_picture(code) ? " " : "\x01";
}

static bool is_ascii(struct btz_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];

        if (c >= 0x80 || (c < 0x20 && c != '\n' && c != '\t' && c != '\r')) {
            return false;
        }
    }
    return true;
}

void canon_plain(struct btz_str source, struct btz_arena *arena, struct plain *out)
{
    size_t most = source.len * 4 + 16; /* "°" of two bytes becomes " degrees" */
    uint32_t *from;
    char *text;
    size_t len = 0;
    size_t at = 0;

    if (is_ascii(source)) {
        *out = (struct plain){source, NULL};
        return;
    }
    text = btz_arena_alloc(arena, most);
    from = btz_arena_alloc(arena, most * sizeof(*from));
    while (at < source.len) {
        size_t begin = at;
        uint32_t code = 0;
        char own[2] = {0, 0};
        const char *ascii = own;

        at += btz_text_next(source, at, &code);
        if (code >= 0x80) {
            ascii = ascii_of(source, &at, code);
        } else {
            own[0] = code >= 0x20 || code == '\n' || code == '\t' || code == '\r'
                         ? (char)code
                         : (char)STRANGE_BYTE;
        }
        for (; *ascii; ascii++) {
            text[len] = *ascii;
            from[len++] = (uint32_t)begin;
        }
    }
    from[len] = (uint32_t)source.len;
    from[0] = len ? 0 : from[0]; /* what shows nothing belongs to the first sentence */
    *out = (struct plain){{text, len}, from};
}

/* ---- kinds of bytes ---- */

enum { LETTER = 1, DIGIT = 2, SPACE = 4, MARK = 8, RUN = 16, UPPER = 32, DRESS = 64, TAIL = 128 };

static const uint8_t kinds[256] = {
    ['\t'] = SPACE,
    ['\n'] = SPACE,
    ['\r'] = SPACE,
    [' '] = SPACE,
    ['0' ... '9'] = DIGIT | RUN,
    ['A' ... 'Z'] = LETTER | RUN | UPPER,
    ['a' ... 'z'] = LETTER | RUN,
    ['_'] = RUN,
    ['-'] = RUN | TAIL,
    ['\''] = RUN | TAIL,
    ['.'] = RUN | TAIL,
    ['/'] = RUN,
    ['@'] = RUN,
    ['\\'] = RUN,
    ['~'] = RUN,
    ['+'] = RUN,
    ['&'] = RUN,
    ['$'] = RUN,
    ['#'] = RUN,
    ['%'] = RUN,
    ['?'] = RUN | TAIL,
    ['!'] = RUN | TAIL,
    [':'] = RUN | TAIL,
    [','] = MARK,
    ['('] = MARK,
    [')'] = MARK,
    ['='] = MARK,
    ['<'] = MARK,
    ['>'] = MARK,
    ['"'] = DRESS,
    ['`'] = DRESS,
    ['*'] = DRESS,
    ['['] = DRESS,
    [']'] = DRESS,
    ['|'] = DRESS,
};

static uint8_t kind_at(struct btz_str s, size_t at)
{
    return at < s.len ? kinds[(unsigned char)s.ptr[at]] : SPACE;
}

/* Which first letters and lengths the words of a list have, a bit each pair, kept by the list's
 * address: nearly every word that is asked about is told by that to be in none. A slot is filled
 * once and holds for good. */
enum { LIST_SLOTS = 4096, LIST_PROBES = 4 };

static struct list_slot {
    _Atomic(const char *) words;
    uint64_t shapes;
} list_slots[LIST_SLOTS];

static const char filling[] = "";

static uint64_t shape_of(char first, size_t len)
{
    return 1ULL << (((unsigned)first * 5U + (unsigned)len) & 63U);
}

static uint64_t shapes_of(const char *words)
{
    uint64_t shapes = 0;

    while (*words) {
        size_t len = 0;

        while ((unsigned char)words[len] > ' ') {
            len++;
        }
        shapes |= shape_of(words[0], len);
        words += len + (words[len] == ' ' ? 1 : 0);
    }
    return shapes;
}

/* All bits where there is no slot left. */
static uint64_t known_shapes(const char *words)
{
    size_t at = ((uintptr_t)words * 0x9E3779B97F4A7C15ULL) >> 52;

    for (size_t i = 0; i < LIST_PROBES; i++, at = (at + 1) % LIST_SLOTS) {
        struct list_slot *slot = &list_slots[at];
        const char *there = atomic_load_explicit(&slot->words, memory_order_acquire);

        if (there == words) {
            return slot->shapes;
        }
        if (!there && atomic_compare_exchange_strong(&slot->words, &there, filling)) {
            slot->shapes = shapes_of(words);
            atomic_store_explicit(&slot->words, words, memory_order_release);
            return slot->shapes;
        }
    }
    return UINT64_MAX;
}

bool canon_is_one_of(const char *p, size_t len, const char *words)
{
    char first = (char)((unsigned char)p[0] | 0x20);

    if (!(known_shapes(words) & shape_of(first, len))) {
        return false;
    }
    while (*words) {
        size_t i = 0;

        while (i < len && words[i] == (char)((unsigned char)p[i] | 0x20)) {
            i++;
        }
        if (i == len && (unsigned char)words[i] <= ' ') {
            return true;
        }
        while ((unsigned char)words[i] > ' ') {
            i++;
        }
        words += i + (words[i] == ' ' ? 1 : 0);
    }
    return false;
}

/* ---- tokens ---- */

static bool is_case_change(const char *p, size_t i)
{
    return i > 0 && (kinds[(unsigned char)p[i]] & UPPER) &&
           (kinds[(unsigned char)p[i - 1]] & LETTER) && !(kinds[(unsigned char)p[i - 1]] & UPPER);
}

/* owner/repo, and/or, YYYY/MM: words with a slash. */
static bool is_pair(const char *p, size_t len)
{
    size_t slashes = 0;

    for (size_t i = 0; i < len; i++) {
        bool edge = i == 0 || i + 1 == len || p[i - 1] == '/';

        if (p[i] == '/') {
            if (edge) {
                return false;
            }
            slashes++;
        } else if (!(kinds[(unsigned char)p[i]] & LETTER) && !(p[i] == '-' && !edge)) {
            return false;
        }
    }
    return slashes >= 1 && slashes <= 2;
}

static bool is_abbreviation(const char *p, size_t len)
{
    return (len == 3 && (memcmp(p, "e.g", 3) == 0 || memcmp(p, "i.e", 3) == 0)) ||
           (len == 3 && memcmp(p, "etc", 3) == 0) || (len == 2 && memcmp(p, "vs", 2) == 0);
}

static uint32_t hyphened_flags(const char *p, size_t len)
{
    const uint32_t carried = WORD_SENSITIVE | WORD_SOFT | WORD_BANNED | WORD_MODEL | WORD_TALK |
                             WORD_OTHER | WORD_SECRECY | WORD_PRECEDENCE;
    uint32_t flags = WORD_KNOWN;
    size_t begin = 0;

    for (size_t i = 0; i <= len; i++) {
        if (i == len || p[i] == '-' || p[i] == '\'' || p[i] == '/') {
            uint32_t part = canon_word(p + begin, i - begin, canon_word_hash(p + begin, i - begin));

            if (i - begin > 1 || !part) { /* the s of "user's" */
                flags |= part & carried;
                flags &= part || (i - begin == 1 && i == len) ? ~0U : ~(uint32_t)WORD_KNOWN;
            }
            begin = i + 1;
        }
    }
    return flags;
}

/* Sets kind, flags and hash from the token's letters. */
static void classify(struct token *t)
{
    bool letters = false;
    bool digits = false;
    bool joints = false; /* hyphen, apostrophe */
    bool other = false;
    bool name = false;

    for (size_t i = 0; i < t->len; i++) {
        uint8_t k = kinds[(unsigned char)t->ptr[i]];

        letters |= (k & LETTER) != 0;
        digits |= (k & DIGIT) != 0;
        name |= t->ptr[i] == '_' || is_case_change(t->ptr, i);
        joints |= t->ptr[i] == '-' || t->ptr[i] == '\'';
        other |=
            !(k & (LETTER | DIGIT)) && t->ptr[i] != '_' && t->ptr[i] != '-' && t->ptr[i] != '\'';
    }
    t->kind = TOKEN_OPERAND;
    if (letters && !digits && !joints && !other && !name) {
        t->kind = TOKEN_WORD;
        t->hash = canon_word_hash(t->ptr, t->len);
        t->flags = canon_word(t->ptr, t->len, t->hash);
    } else if (is_abbreviation(t->ptr, t->len)) {
        t->kind = TOKEN_WORD;
        t->flags = WORD_KNOWN | (t->ptr[0] == 'e' ? WORD_EXAMPLE : WORD_FUNCTION);
    } else if (canon_is_date(t->ptr, t->len) ||
               ((digits || other || joints) && canon_is_standard(t->ptr, t->len))) {
        t->kind = TOKEN_DATE;
    } else if (t->len == 1 && t->ptr[0] == '%') {
        t->kind = TOKEN_WORD;
        t->flags = WORD_KNOWN | WORD_UNIT;
    } else if (canon_is_range(t->ptr, t->len)) {
        t->kind = TOKEN_NUMBER;
        t->flags = WORD_NUMBERED;
    } else if (digits && (canon_is_number(t->ptr, t->len) || canon_is_counted(t->ptr, t->len))) {
        t->kind = TOKEN_NUMBER;
    } else if (is_pair(t->ptr, t->len)) {
        t->kind = TOKEN_PAIR;
        t->flags = hyphened_flags(t->ptr, t->len);
    } else if (letters && joints && !other && !name &&
               (!digits || (hyphened_flags(t->ptr, t->len) & WORD_KNOWN))) {
        t->kind = TOKEN_WORD;
        t->hash = canon_word_hash(t->ptr, t->len);
        t->flags = canon_word(t->ptr, t->len, t->hash);
        t->flags = t->flags ? t->flags : hyphened_flags(t->ptr, t->len);
    } else if (letters && !digits && !other && !joints &&
               (t->flags = canon_word(t->ptr, t->len, canon_word_hash(t->ptr, t->len)))) {
        t->kind = TOKEN_WORD; /* GitHub */
        t->hash = canon_word_hash(t->ptr, t->len);
    } else if (letters && !other && !joints) {
        t->kind = TOKEN_NAME;
        t->hash = canon_word_hash(t->ptr, t->len);
        t->flags = canon_word(t->ptr, t->len, t->hash); /* base64, s3 */
        t->kind = t->flags && !name ? TOKEN_WORD : TOKEN_NAME;
    }
}

/* "A1:D10": cells of a table. */
static bool joins_cells(struct btz_str s, size_t colon)
{
    size_t next = colon + 1;

    next += next < s.len && s.ptr[next] == '$' ? 1 : 0;
    return (kind_at(s, colon - 1) & DIGIT) && (kind_at(s, next) & UPPER) &&
           ((kind_at(s, next + 1) & DIGIT) || (next + 1 < s.len && s.ptr[next + 1] == '$'));
}

/* "1,000": a comma, three digits and no fourth. */
static bool joins_thousands(struct btz_str s, size_t comma)
{
    return (kind_at(s, comma - 1) & DIGIT) && (kind_at(s, comma + 1) & DIGIT) &&
           (kind_at(s, comma + 2) & DIGIT) && (kind_at(s, comma + 3) & DIGIT) &&
           !(kind_at(s, comma + 4) & (DIGIT | LETTER));
}

/* A run ends before a colon that is none of a time or address, and before signs at its end. */
static size_t run_end(struct btz_str s, size_t at)
{
    size_t end = at;

    while ((kind_at(s, end) & RUN) ||
           (end > at && end < s.len && s.ptr[end] == ',' && joins_thousands(s, end))) {
        if (s.ptr[end] == ':' && !(end > at && joins_cells(s, end)) &&
            !(btz_str_starts(btz_str_sub(s, end, 3), BTZ_STR("://")) ||
              (end > at && (kind_at(s, end - 1) & DIGIT) && (kind_at(s, end + 1) & DIGIT)) ||
              (end > at && strchr("HhMm", s.ptr[end - 1]) &&
               strchr("MmSs", s.ptr[end + 1 < s.len ? end + 1 : end])))) {
            break;
        }
        end++;
    }
    while (end > at + 1 && (kinds[(unsigned char)s.ptr[end - 1]] & TAIL)) {
        end--;
    }
    return end;
}

struct lexer {
    struct btz_str s;
    size_t at;
    struct sentence *out;
};

static void add(struct lexer *x, size_t begin, size_t end, enum token_kind kind)
{
    struct token *t;

    if (x->out->count == SENTENCE_TOKENS) {
        x->out->overlong = true;
        return;
    }
    t = &x->out->tokens[x->out->count++];
    *t = (struct token){.ptr = x->s.ptr + begin,
                        .len = (uint16_t)(end - begin < 4096 ? end - begin : 4096),
                        .kind = (uint8_t)kind,
                        .begin = (uint32_t)begin,
                        .end = (uint32_t)end};
    if (kind == TOKEN_NUMBER) {
        t->flags = WORD_NUMBERED; /* an interval */
    }
    if (kind == TOKEN_WORD) {
        if (end - begin > 64) {
            t->kind = TOKEN_OPERAND;
        } else {
            classify(t);
        }
    }
}

/* "limit (int): ...", a line about a parameter. */
static bool begins_entry(struct btz_str s, size_t at)
{
    size_t most = at + 80 < s.len ? at + 80 : s.len;

    while (at < most && ((kind_at(s, at) & (LETTER | DIGIT)) || s.ptr[at] == '_')) {
        at++;
    }
    if (at < most && s.ptr[at] == ' ') {
        at++;
    }
    if (at < most && s.ptr[at] == '(') {
        while (at < most && s.ptr[at] != ')' && s.ptr[at] != '\n') {
            at++;
        }
        at += at < most && s.ptr[at] == ')' ? 1 : 0;
    }
    return at < most && s.ptr[at] == ':';
}

/* "1. " or "2) ", the mark of an entry. */
static bool is_numbered(struct btz_str s, size_t at)
{
    size_t end = at;

    while (kind_at(s, end) & DIGIT) {
        end++;
    }
    return end > at && end - at <= 2 && end < s.len && strchr(".)", s.ptr[end]) &&
           (kind_at(s, end + 1) & SPACE);
}

/* "> 0", "-1": a sign of a number, no mark of a list or a quotation. */
static bool is_limit(struct btz_str s, size_t at)
{
    char sign = at < s.len ? s.ptr[at] : ' ';

    at++;
    if (sign == '-') {
        return (kind_at(s, at) & DIGIT) != 0;
    }
    if (sign != '>') {
        return false;
    }
    at += at < s.len && s.ptr[at] == '=' ? 1 : 0;
    while (at < s.len && s.ptr[at] == ' ') {
        at++;
    }
    at += at < s.len && s.ptr[at] == '-' ? 1 : 0;
    return (kind_at(s, at) & DIGIT) != 0;
}

/* White space from x->at on; true if it ends the sentence. */
static bool take_space(struct lexer *x)
{
    size_t begin = x->at;
    unsigned lines = 0;
    char before = begin ? x->s.ptr[begin - 1] : ' ';
    char next;

    while (x->at < x->s.len && (kind_at(x->s, x->at) & SPACE)) {
        lines += x->s.ptr[x->at++] == '\n' ? 1 : 0;
    }
    if (!lines) {
        return false;
    }
    x->out->line_ends = true;
    x->out->blank = lines > 1;
    next = x->at < x->s.len ? x->s.ptr[x->at] : ' ';
    if (x->out->count == 0) {
        return false;
    }
    /* A line that goes on with a capital or a number may well be a wrapped one. */
    return lines > 1 || x->at == x->s.len || strchr(".:!?;", before) ||
           (strchr("-*#>|", next) && !is_limit(x->s, x->at)) || is_numbered(x->s, x->at) ||
           begins_entry(x->s, x->at);
}

/* Marks of a list, a heading or a quotation before a sentence. */
static void skip_markers(struct lexer *x)
{
    size_t mark;

    while (x->at < x->s.len && (kind_at(x->s, x->at) & SPACE ||
                                (strchr("*#>|", x->s.ptr[x->at]) && !is_limit(x->s, x->at)) ||
                                (x->s.ptr[x->at] == '-' && (kind_at(x->s, x->at + 1) & SPACE)))) {
        x->at++;
    }
    mark = x->at;
    while (kind_at(x->s, mark) & DIGIT) {
        mark++;
    }
    if (is_numbered(x->s, x->at) && mark + 1 < x->s.len) {
        x->at = mark + 1;
        while (x->at < x->s.len && (kind_at(x->s, x->at) & SPACE)) {
            x->at++;
        }
    }
}

/* The bytes of "[0, 1]" or "[0, 1)" from `at` on; 0 = there is no such thing. */
static size_t interval(struct btz_str s, size_t at)
{
    size_t i = at + 1;

    if (s.ptr[at] != '[') {
        return 0;
    }
    for (unsigned ends = 0; ends < 2; ends++) {
        size_t digits = 0;

        i += i < s.len && s.ptr[i] == '-' ? 1 : 0;
        while (i < s.len && ((kind_at(s, i) & DIGIT) || (s.ptr[i] == '.' && digits))) {
            digits += s.ptr[i++] == '.' ? 0 : 1;
        }
        if (digits == 0 || digits > 4 || i >= s.len || !strchr(ends ? "])" : ",", s.ptr[i])) {
            return 0;
        }
        i++;
        i += !ends && i < s.len && s.ptr[i] == ' ' ? 1 : 0;
    }
    return i - at;
}

/* One token or sign; true if it ends the sentence. */
static bool take(struct lexer *x)
{
    size_t begin = x->at;
    char c = x->s.ptr[begin];
    uint8_t k = kinds[(unsigned char)c];
    size_t end;

    end = k & DRESS ? interval(x->s, begin) : 0;
    if (end) {
        x->at += end;
        add(x, begin, x->at, TOKEN_NUMBER);
        return false;
    }
    if (k & DRESS) {
        x->at++;
        return false;
    }
    end = c == '{' || c == '<' ? canon_mask(x->s.ptr + begin, x->s.len - begin) : 0;
    if (end) {
        x->at += end;
        add(x, begin, x->at, TOKEN_DATE);
        return false;
    }
    if (c == ';' ||
        ((c == '.' || c == '!' || c == '?') && (kind_at(x->s, begin + 1) & (SPACE | MARK)))) {
        x->at++;
        return true;
    }
    if (k & MARK) {
        x->at +=
            (c == '<' || c == '>') && begin + 1 < x->s.len && x->s.ptr[begin + 1] == '=' ? 2 : 1;
        if ((c != '<' && c != '>') || (kind_at(x->s, x->at) & (DIGIT | SPACE))) {
            add(x, begin, x->at, TOKEN_POINT);
        }
        return false;
    }
    if (c == ':' || (c == '-' && (kind_at(x->s, begin + 1) & SPACE))) {
        x->at++;
        add(x, begin, x->at, TOKEN_POINT);
        return false;
    }
    if (c == '&' && (kind_at(x->s, begin + 1) & SPACE)) {
        x->at++;
        add(x, begin, x->at, TOKEN_POINT);
        return false;
    }
    if (c == '\'' || (c == '.' && (kind_at(x->s, begin + 1) & LETTER))) {
        x->at++; /* an opening quote; the dot of ".csv" */
        return false;
    }
    if (!(k & RUN)) {
        x->at++;
        add(x, begin, x->at, TOKEN_STRANGE);
        return false;
    }
    end = run_end(x->s, begin);
    x->at = end;
    add(x, begin, end, TOKEN_WORD);
    if (end < x->s.len && x->s.ptr[end] == '.' && is_abbreviation(x->s.ptr + begin, end - begin)) {
        x->at++;
    }
    return false;
}

bool canon_sentence(const struct plain *text, size_t at, struct sentence *out)
{
    struct lexer x = {text->text, at, out};
    bool ended = false;

    out->begin = (uint32_t)at;
    out->count = 0;
    out->overlong = false;
    out->line_ends = false;
    out->blank = false;
    if (at >= x.s.len) {
        return false;
    }
    skip_markers(&x);
    while (!ended && x.at < x.s.len) {
        if (kind_at(x.s, x.at) & SPACE) {
            if (take_space(&x)) {
                break;
            }
        } else {
            ended = take(&x);
        }
    }
    if (ended) {
        while (x.at < x.s.len && strchr("\"'`)*.!?", x.s.ptr[x.at])) {
            x.at++;
        }
        (void)take_space(&x);
    }
    out->end = (uint32_t)x.at;
    return true;
}
