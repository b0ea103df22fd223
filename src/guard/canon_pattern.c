/* Patterns and numbers of schemas: which may be shown as they are. A pattern stays as long as it
 * is a form, and spells out no words, paths, hosts, accounts or amounts; a number if it is short
 * or one that programs have. */
#include "guard/canon_int.h"

enum {
    PATTERN_MAX = 480,
    RUN_MAX = 24,
    WORDS_MAX = 12,
    SPELLED_LETTERS_MAX = 3,
    SPELLED_DIGITS_MAX = 4,
    DIGITS_MAX = 8,
    DAY_MAX = 31,
    LISTED_LETTERS_MAX = 8,
    LISTED_ROW_MAX = 6,
    REFERENCES_MAX = 2,
    UNKNOWN_LETTERS_MAX = 12,
    SINGLE_LETTERS_MAX = 4,
    NARROW = 3, /* a range of fewer is a list */
    SIGNIFICANT_MAX = 3
};

/* ---- patterns ---- */

struct reading {
    struct btz_str pattern;
    size_t i;
    /* What the pattern asks for to the letter, between classes, groups and repetitions. */
    char literal[PATTERN_MAX];
    size_t len;
    size_t digits; /* of all that is literal, without zeros that lead */
    size_t words;
    size_t unknown_letters; /* of all runs that are no words */
    size_t single_letters;  /* ... of one letter, but for those of durations */
    size_t listed_letters;  /* of all classes */
    size_t references;      /* to groups: \1 */
    /* Since the last choice or class: letters and digits one by one, (e)(v)[i]l{1}; words, and
     * whether one is an act, (send)(mail). */
    size_t spelled_letters;
    size_t spelled_digits;
    size_t spelled_words;
    bool acts;
};

/* One letter again and again is no word: ffffffff. */
static bool is_one_letter(struct btz_str run)
{
    for (size_t i = 1; i < run.len; i++) {
        if (run.ptr[i] != run.ptr[0]) {
            return false;
        }
    }
    return true;
}

/* A run of letters is a word of the table, or at most three long. */
static bool is_word(struct btz_str run)
{
    uint32_t flags;

    if (run.len <= 3 || is_one_letter(run)) {
        return true;
    }
    flags = canon_word(run.ptr, run.len, canon_word_hash(run.ptr, run.len));
    return run.len <= RUN_MAX && flags && !(flags & (WORD_BANNED | WORD_SENSITIVE | WORD_SOFT));
}

/* abAB, as classes of hexadecimal digits have them. */
static bool is_hex(struct btz_str run)
{
    for (size_t i = 0; i < run.len; i++) {
        if (btz_hex_value(run.ptr[i]) < 0) {
            return false;
        }
    }
    return run.len <= 4;
}

/* Ends what is literal: nothing in it that could be an address, a path, a host or an account. */
static bool end_literal(struct reading *r)
{
    size_t letters = 0;
    size_t digits = 0;
    size_t run = 0;
    size_t value = 0;

    for (size_t i = 0; i < r->len; i++) {
        char c = r->literal[i];

        bool before = i && (is_letter(r->literal[i - 1]) || is_digit(r->literal[i - 1]));
        bool behind =
            i + 1 < r->len && (is_letter(r->literal[i + 1]) || is_digit(r->literal[i + 1]));

        run += is_digit(c) ? 1 : 0;
        value = is_digit(c) ? value * 10 + (size_t)(c - '0') : value;
        letters += is_letter(c) && (i == 0 || r->literal[i - 1] != c) ? 1 : 0;
        digits += is_digit(c) && (c != '0' || digits) ? 1 : 0; /* 0000 is no number */
        if (!is_digit(c) || i + 1 == r->len) {
            r->digits += (run > 2 && value) || value > DAY_MAX ? run : 0; /* no part of a date */
            run = value = 0;
        }
        if ((c == '/' && behind) || (strchr(".@:;~\\", c) && before && behind)) {
            return false;
        }
    }
    r->len = 0;
    return letters <= 16 && digits <= 4 && r->digits <= DIGITS_MAX && (digits < 3 || letters < 2);
}

static void forget_spelled(struct reading *r)
{
    r->spelled_letters = r->spelled_digits = r->spelled_words = 0;
    r->acts = false;
}

/* A letter that stands alone: m\s*a\s*l. PnYnMnWnDTnHnMnS and Z are what durations and times have.
 */
static bool put_single(struct reading *r, char c)
{
    r->single_letters += strchr("PYMWDTHSZ", c) ? 0 : 1;
    return r->single_letters <= SINGLE_LETTERS_MAX;
}

static bool put(struct reading *r, char c)
{
    r->literal[r->len++] = c;
    r->spelled_digits += is_digit(c) && (c != '0' || r->spelled_digits) ? 1 : 0;
    return r->spelled_digits <= SPELLED_DIGITS_MAX;
}

/* A run of letters outside of classes. */
static bool read_letters(struct reading *r)
{
    size_t begin = r->i;
    struct btz_str run;
    uint32_t flags;

    while (r->i < r->pattern.len && is_letter(r->pattern.ptr[r->i])) {
        r->i++;
    }
    run = btz_str_sub(r->pattern, begin, r->i - begin);
    flags = run.len < 3 ? 0 : canon_word(run.ptr, run.len, canon_word_hash(run.ptr, run.len));
    if (flags) {
        r->acts |= (flags & (WORD_SENDS | WORD_DELETES | WORD_PAYS)) && !(flags & WORD_NOUN);
        r->spelled_words++;
    } else if (run.len < 4 || !is_one_letter(run)) {
        r->spelled_letters += run.len;
        r->unknown_letters += run.len;
    }
    memcpy(r->literal + r->len, run.ptr, run.len);
    r->len += run.len;
    return (run.len > 1 || put_single(r, run.ptr[0])) && is_word(run) &&
           (run.len <= 3 || ++r->words <= WORDS_MAX) && r->spelled_letters <= SPELLED_LETTERS_MAX &&
           r->unknown_letters <= UNKNOWN_LETTERS_MAX && r->spelled_words <= (r->acts ? 1U : 2U);
}

/* [e], [\.] and [Ee] ask for one sign like that sign itself. 0 = the class has more. */
static char only_sign(struct btz_str rest, size_t *len)
{
    *len = 3;
    if (rest.len >= 3 && rest.ptr[2] == ']' && rest.ptr[1] != '\\' && rest.ptr[1] != '^') {
        return rest.ptr[1];
    }
    *len = 4;
    if (rest.len >= 5 && rest.ptr[2] == '-' && rest.ptr[4] == ']' && rest.ptr[1] == rest.ptr[3]) {
        *len = 5; /* [m-m] */
        return rest.ptr[1];
    }
    if (rest.len < 4 || rest.ptr[3] != ']') {
        return '\0';
    }
    if (rest.ptr[1] == '\\' && !is_letter(rest.ptr[2])) {
        return rest.ptr[2];
    }
    return is_letter(rest.ptr[1]) && (rest.ptr[1] ^ rest.ptr[2]) == 0x20 ? rest.ptr[1] : '\0';
}

/* ---- classes ---- */

/* What a class lists one by one: ranges and \d are no part of it. */
struct members {
    char listed[PATTERN_MAX]; /* ' ' where a range or an escape stands */
    size_t len;
    size_t letters, digits;
};

/* Digits or letters in rising order are a set that somebody wrote down: 13578, aeiou. */
static bool rises(const char *p, size_t len)
{
    for (size_t i = 1; i < len; i++) {
        if (p[i] <= p[i - 1]) {
            return false;
        }
    }
    return true;
}

/* The run of letters or digits of `m` that begins at `at`. */
static size_t run_at(const struct members *m, size_t at, bool (*is)(char))
{
    size_t n = 0;

    while (at + n < m->len && is(m->listed[at + n])) {
        n++;
    }
    return n;
}

/* Whether no word, number, path, host or account stands in the class: [/etc/key], [a@b.io]. */
static bool members_are_plain(const struct members *m)
{
    for (size_t i = 0; i < m->len; i++) {
        char c = m->listed[i];
        bool before = i && (is_letter(m->listed[i - 1]) || is_digit(m->listed[i - 1]));
        bool behind = i + 1 < m->len && (is_letter(m->listed[i + 1]) || is_digit(m->listed[i + 1]));
        size_t letters = before ? 0 : run_at(m, i, is_letter);
        size_t digits = before ? 0 : run_at(m, i, is_digit);
        struct btz_str run = {m->listed + i, letters};

        if ((letters && !is_word(run) && !is_hex(run) &&
             !(letters <= LISTED_ROW_MAX && rises(run.ptr, letters))) ||
            (digits > SPELLED_DIGITS_MAX && !rises(m->listed + i, digits)) ||
            (strchr("/.@:~\\-", c) && before && behind) || (c == '/' && behind)) {
            return false;
        }
    }
    return m->letters <= LISTED_LETTERS_MAX &&
           (m->digits <= SPELLED_DIGITS_MAX || (m->digits == m->len && rises(m->listed, m->len)));
}

/* An escape that is a class of signs or a place between two, so that it says nothing: \d, \b. */
static bool is_known_escape(char c)
{
    return c && strchr("dDwWsSbBtnrfvAzZ", c) != NULL;
}

/* \x20-\x7E, the printable signs; \x41 alone would spell. */
static bool is_printable_range(const char *p, size_t left)
{
    return left >= 9 && memcmp(p, "\\x20-\\x7", 8) == 0 && (p[8] | 0x20) >= 'e' &&
           (p[8] | 0x20) <= 'f';
}

/* One member of a class from r->i on: a sign, an escape, a range. */
static bool read_member(struct reading *r, struct members *m)
{
    const char *p = r->pattern.ptr + r->i;
    size_t left = r->pattern.len - r->i;
    char out = p[0];

    if (is_printable_range(p, left)) {
        out = ' ';
        r->i += 9;
    } else if (p[0] == '\\') {
        if (left < 2 || ((is_letter(p[1]) || is_digit(p[1])) && !is_known_escape(p[1]))) {
            return false;
        }
        out = is_letter(p[1]) ? ' ' : p[1];
        r->i += 2;
    } else if (left > 2 && p[1] == '-' && p[2] != ']' && p[2] != '\\') {
        bool same = (is_digit(p[0]) && is_digit(p[2])) || (is_letter(p[0]) && is_letter(p[2])) ||
                    !(is_digit(p[0]) || is_letter(p[0]) || is_digit(p[2]) || is_letter(p[2]));

        if (!same || p[2] < p[0]) {
            return false;
        }
        out = p[2] - p[0] + 1 < NARROW ? p[0] : ' ';
        r->i += 3;
    } else {
        r->i++;
    }
    m->listed[m->len++] = out;
    m->letters += is_letter(out) ? 1 : 0;
    m->digits += is_digit(out) ? 1 : 0;
    return true;
}

/* [A-Za-z0-9_] */
static bool read_class(struct reading *r)
{
    size_t len;
    char one = only_sign(btz_str_sub(r->pattern, r->i, r->pattern.len), &len);
    struct members m;

    if (one) {
        r->i += len;
        r->spelled_letters += is_letter(one) ? 1 : 0;
        r->unknown_letters += is_letter(one) ? 1 : 0;
        return r->spelled_letters <= SPELLED_LETTERS_MAX &&
               r->unknown_letters <= UNKNOWN_LETTERS_MAX &&
               (!is_letter(one) || put_single(r, one)) && put(r, one);
    }
    if (!end_literal(r)) {
        return false;
    }
    forget_spelled(r);
    m.len = m.letters = m.digits = 0;
    for (r->i++; r->i < r->pattern.len && r->pattern.ptr[r->i] != ']';) {
        if (!read_member(r, &m)) {
            return false;
        }
    }
    r->i++;
    r->listed_letters += m.letters;
    return members_are_plain(&m) && r->listed_letters <= 4 * LISTED_LETTERS_MAX;
}

/* ---- the whole ---- */

/* {2,}: plain numbers of at most four digits. */
static bool read_repeat(struct reading *r)
{
    size_t begin = ++r->i;
    size_t commas = 0;

    for (;; r->i++) {
        char c = r->i < r->pattern.len ? r->pattern.ptr[r->i] : '\0';

        if (is_digit(c)) {
            continue;
        }
        if ((c != ',' && c != '}') || r->i - begin > SPELLED_DIGITS_MAX ||
            !canon_number_is_plain(btz_str_sub(r->pattern, begin, r->i - begin))) {
            return false;
        }
        begin = r->i + 1;
        if (c == '}') {
            break;
        }
        if (++commas > 1) {
            return false;
        }
    }
    r->i++;
    return end_literal(r);
}

/* \p{L} and \p{Lu}: a class of letters by its short name. */
static bool read_category(struct reading *r)
{
    struct btz_str rest = btz_str_sub(r->pattern, r->i, 5);
    size_t len = rest.len > 2 && rest.ptr[2] == '}' ? 3 : 4;

    if (rest.len < len || rest.ptr[0] != '{' || !is_upper(rest.ptr[1]) ||
        rest.ptr[len - 1] != '}' ||
        (len == 4 && (!is_letter(rest.ptr[2]) || is_upper(rest.ptr[2])))) {
        return false;
    }
    r->i += len;
    forget_spelled(r);
    return end_literal(r);
}

/* \d and its kin are classes, \. is a sign; \x41 spells in another alphabet. */
static bool read_escape(struct reading *r)
{
    char c = r->i + 1 < r->pattern.len ? r->pattern.ptr[r->i + 1] : '\0';

    r->i += 2;
    if (c == 'p' || c == 'P') {
        return read_category(r);
    }
    if (c && !is_letter(c) && !is_digit(c)) {
        return put(r, c);
    }
    if (!is_known_escape(c) && !(c >= '1' && c <= '9' && ++r->references <= REFERENCES_MAX)) {
        return false;
    }
    if (c != 'b' && c != 'B' && c != 'A' && c != 'z' && c != 'Z') { /* places have no width */
        forget_spelled(r);
    }
    return end_literal(r);
}

bool canon_pattern_is_plain(struct btz_str pattern)
{
    struct reading r = {.pattern = pattern};

    if (pattern.len > PATTERN_MAX) {
        return false;
    }
    for (size_t i = 0; i < pattern.len; i++) {
        if ((unsigned char)pattern.ptr[i] <= ' ' || (unsigned char)pattern.ptr[i] >= 0x7F) {
            return false;
        }
    }
    while (r.i < pattern.len) {
        char c = pattern.ptr[r.i];
        bool good = true;

        if (c == '\\') {
            good = read_escape(&r);
        } else if (is_letter(c)) {
            good = read_letters(&r);
        } else if (c == '[') {
            good = read_class(&r);
        } else if (c == '{') {
            good = read_repeat(&r);
        } else {
            r.i++;
            if (strchr("]()|*+?^$", c)) {
                good = end_literal(&r);
            } else {
                good = put(&r, c);
            }
            if (c == '|') {
                forget_spelled(&r);
            }
        }
        if (!good) {
            return false;
        }
    }
    return end_literal(&r);
}

/* ---- numbers ---- */

/* Ends of the usual types, of maps, of minutes in a week. */
static bool is_known_number(struct btz_str digits)
{
    static const char *const known[] = {"9007199254740991",
                                        "9007199254740992",
                                        "9223372036854775807",
                                        "9223372036854775808",
                                        "18446744073709551615",
                                        "1.7976931348623157e308",
                                        "1.7976931348623157e+308",
                                        "3.4028234663852886e38",
                                        "3.4028234663852886e+38",
                                        "2.2250738585072014e-308",
                                        "85.0511",
                                        "85.051129",
                                        "85.05112878",
                                        "10080",
                                        NULL};

    for (size_t i = 0; known[i]; i++) {
        if (btz_str_is(digits, known[i])) {
            return true;
        }
    }
    return false;
}

/* A year, 9999, or a small multiple of a power of two or one below. */
static bool is_round(uint64_t n)
{
    uint64_t nines = n + 1;

    while (nines && nines % 10 == 0) {
        nines /= 10;
    }
    if ((n >= 1900 && n <= 2100) || nines == 1) {
        return true;
    }
    for (uint64_t m = n; m <= n + 1; m++) {
        uint64_t odd = m;

        while (odd && odd % 2 == 0) {
            odd /= 2;
        }
        if (odd < 10) {
            return true;
        }
    }
    return false;
}

bool canon_number_is_plain(struct btz_str digits)
{
    size_t count = 0;
    size_t significant = 0;
    size_t i = 0;
    uint64_t whole = 0;
    bool point = false;

    if (digits.len && digits.ptr[0] == '-') {
        digits = btz_str_sub(digits, 1, digits.len);
    }
    if (is_known_number(digits)) {
        return true;
    }
    for (; i < digits.len && (digits.ptr[i] | 0x20) != 'e'; i++) {
        if (is_digit(digits.ptr[i])) {
            count += count || digits.ptr[i] != '0' ? 1 : 0;
            significant = digits.ptr[i] != '0' ? count : significant;
            whole = count <= 18 ? whole * 10 + (uint64_t)(digits.ptr[i] - '0') : whole;
        } else {
            point = true;
        }
    }
    /* 1e-6: the exponent has at most two digits. */
    return digits.len <= RUN_MAX && digits.len - i <= 4 &&
           (significant <= SIGNIFICANT_MAX || (!point && count <= 18 && is_round(whole)));
}

bool canon_amounts_are_plain(const char *p, size_t len)
{
    size_t i = 0;

    while (i < len) {
        char number[24];
        size_t n = 0;

        for (; i < len && (is_digit(p[i]) || p[i] == ',' || (p[i] == '.' && n)); i++) {
            if (p[i] == '.' && i + 1 < len && p[i + 1] == '.') {
                break; /* 1..10 */
            }
            if (p[i] != ',' && n == sizeof(number)) {
                return false;
            }
            if (p[i] != ',') {
                number[n++] = p[i];
            }
        }
        if (n && !canon_number_is_plain((struct btz_str){number, n})) {
            return false;
        }
        i++;
    }
    return true;
}
