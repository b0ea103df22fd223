/* From ECMA-262 patterns to PCRE2 patterns: one pass, element by element. Names of classes and
 * properties follow ECMA-262 (15th edition) 22.2; the table of general categories is its table
 * "Value Aliases and Canonical Values for the Unicode Property General_Category". */
#include "base/str.h"
#include "match/regex_int.h"

#include <stdbool.h>

/* White space and line terminators of ECMA-262 12.2 and 12.3, and the complement. */
#define SPACES                                                                                     \
    "\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000"       \
    "\\ufeff"
#define NOT_SPACES                                                                                 \
    "\\u0000-\\u0008\\u000e-\\u001f\\u0021-\\u009f\\u00a1-\\u167f\\u1681-\\u1fff\\u200b-\\u2027"   \
    "\\u202a-\\u202e\\u2030-\\u205e\\u2060-\\u2fff\\u3001-\\ufefe\\uff00-\\u{10ffff}"
#define NOT_LINE_END "[^\\u000a\\u000d\\u2028\\u2029]"

struct reader {
    struct btz_str text;
    size_t at;
    struct btz_buf *out;
    struct btz_err *err;
};

static const struct {
    const char *longer;
    const char *shorter;
} categories[] = {
    {"Cased_Letter", "Lc"},
    {"Close_Punctuation", "Pe"},
    {"Combining_Mark", "M"},
    {"Connector_Punctuation", "Pc"},
    {"Control", "Cc"},
    {"cntrl", "Cc"},
    {"Currency_Symbol", "Sc"},
    {"Dash_Punctuation", "Pd"},
    {"Decimal_Number", "Nd"},
    {"digit", "Nd"},
    {"Enclosing_Mark", "Me"},
    {"Final_Punctuation", "Pf"},
    {"Format", "Cf"},
    {"Initial_Punctuation", "Pi"},
    {"LC", "Lc"},
    {"Letter", "L"},
    {"Letter_Number", "Nl"},
    {"Line_Separator", "Zl"},
    {"Lowercase_Letter", "Ll"},
    {"Mark", "M"},
    {"Math_Symbol", "Sm"},
    {"Modifier_Letter", "Lm"},
    {"Modifier_Symbol", "Sk"},
    {"Nonspacing_Mark", "Mn"},
    {"Number", "N"},
    {"Open_Punctuation", "Ps"},
    {"Other", "C"},
    {"Other_Letter", "Lo"},
    {"Other_Number", "No"},
    {"Other_Punctuation", "Po"},
    {"Other_Symbol", "So"},
    {"Paragraph_Separator", "Zp"},
    {"Private_Use", "Co"},
    {"Punctuation", "P"},
    {"punct", "P"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Spacing_Mark", "Mc"},
    {"Surrogate", "Cs"},
    {"Symbol", "S"},
    {"Titlecase_Letter", "Lt"},
    {"Unassigned", "Cn"},
    {"Uppercase_Letter", "Lu"},
};

static int broken(const struct reader *r, int code, const char *what)
{
    btz_err_set(r->err, code, "regular expression: %s at byte %zu", what, r->at + 1);
    btz_err_at(r->err, NULL, 0, (unsigned)r->at + 1);
    return code;
}

static int peek(const struct reader *r, size_t ahead)
{
    return r->at + ahead < r->text.len ? (unsigned char)r->text.ptr[r->at + ahead] : -1;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Exactly `count` hexadecimal digits `ahead` of the reader; -1 if they are not there. */
static long hex_at(const struct reader *r, size_t ahead, size_t count)
{
    long value = 0;

    for (size_t i = 0; i < count; i++) {
        int digit = peek(r, ahead + i) < 0 ? -1 : btz_hex_value(peek(r, ahead + i));

        if (digit < 0) {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value;
}

static void put_code(struct reader *r, long code)
{
    (void)btz_buf_printf(r->out, "\\u{%lx}", code);
}

/* The reader is behind "\u". */
static int unicode_escape(struct reader *r)
{
    long code = 0;
    size_t used = 0;

    if (peek(r, 0) == '{') {
        for (used = 1;
             peek(r, used) >= 0 && btz_hex_value(peek(r, used)) >= 0 && code <= 0x10FFFF;) {
            code = code * 16 + btz_hex_value(peek(r, used++));
        }
        if (used == 1 || peek(r, used) != '}' || code > 0x10FFFF) {
            return broken(r, BTZ_EINVAL, "\\u{...} needs a code point of up to 10ffff");
        }
        used++;
    } else {
        code = hex_at(r, 0, 4);
        used = 4;
        if (code < 0) {
            return broken(r, BTZ_EINVAL, "\\u needs four hexadecimal digits");
        }
        if (code >= 0xD800 && code < 0xDC00 && peek(r, 4) == '\\' && peek(r, 5) == 'u') {
            long low = hex_at(r, 6, 4);

            if (low >= 0xDC00 && low < 0xE000) {
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                used = 10;
            }
        }
    }
    if (code >= 0xD800 && code < 0xE000) {
        return broken(r, BTZ_EUNSUPPORTED, "a lone surrogate matches nothing in UTF-8");
    }
    r->at += used;
    put_code(r, code);
    return BTZ_OK;
}

static struct btz_str short_category(struct btz_str name)
{
    for (size_t i = 0; i < sizeof(categories) / sizeof(categories[0]); i++) {
        if (btz_str_is(name, categories[i].longer)) {
            return btz_str_of(categories[i].shorter);
        }
    }
    return name;
}

/* The reader is behind "\p" or "\P". */
static int property_escape(struct reader *r, char letter)
{
    size_t begin = r->at + 1;
    size_t end = begin;
    struct btz_str name;
    struct btz_str key = BTZ_STR_NONE;
    const char *prefix = "";

    while (end < r->text.len && (is_letter(r->text.ptr[end]) || is_digit(r->text.ptr[end]) ||
                                 r->text.ptr[end] == '_' || r->text.ptr[end] == '=')) {
        end++;
    }
    if (peek(r, 0) != '{' || end == begin || end >= r->text.len || r->text.ptr[end] != '}') {
        return broken(r, BTZ_EINVAL, "\\p needs {a property name}");
    }
    name = btz_str_sub(r->text, begin, end - begin);
    if (btz_str_find(name, BTZ_STR("=")) >= 0) {
        (void)btz_str_cut(&name, '=', &key);
        if (btz_str_is(key, "Script") || btz_str_is(key, "sc")) {
            prefix = "sc:";
        } else if (btz_str_is(key, "Script_Extensions") || btz_str_is(key, "scx")) {
            prefix = "scx:";
        } else if (!btz_str_is(key, "General_Category") && !btz_str_is(key, "gc")) {
            return broken(r, BTZ_EINVAL, "unknown property");
        }
    }
    if (btz_str_is(name, "Assigned")) {
        letter = letter == 'p' ? 'P' : 'p';
        name = BTZ_STR("Cn");
    }
    name = short_category(name);
    (void)btz_buf_printf(r->out, "\\%c{%s%.*s}", letter, prefix, BTZ_FMT(name));
    r->at = end + 1;
    return BTZ_OK;
}

/* Escapes that mean one character, in a class or outside. The reader is behind the letter. */
static int character_escape(struct reader *r, int c)
{
    static const char names[] = "tnvfr";
    const char *name = is_letter(c) ? strchr(names, c) : NULL;
    long code;

    if (name) {
        put_code(r, 9 + (name - names));
        return BTZ_OK;
    }
    switch (c) {
    case '0':
        if (is_digit(peek(r, 0))) {
            return broken(r, BTZ_EINVAL, "octal escapes are not allowed");
        }
        put_code(r, 0);
        return BTZ_OK;
    case 'c':
        if (!is_letter(peek(r, 0))) {
            return broken(r, BTZ_EINVAL, "\\c needs a letter");
        }
        put_code(r, r->text.ptr[r->at++] & 0x1F);
        return BTZ_OK;
    case 'x':
        code = hex_at(r, 0, 2);
        if (code < 0) {
            return broken(r, BTZ_EINVAL, "\\x needs two hexadecimal digits");
        }
        r->at += 2;
        put_code(r, code);
        return BTZ_OK;
    case 'u':
        return unicode_escape(r);
    default:
        break;
    }
    if (is_letter(c) || is_digit(c) || c < 0) {
        r->at--;
        return broken(r, BTZ_EINVAL, "unknown escape");
    }
    /* ECMA-262 allows this only for syntax characters; schemas in the wild also escape others. */
    if (c < 0x80) {
        (void)btz_buf_add_byte(r->out, '\\');
    }
    return btz_buf_add_byte(r->out, (char)c);
}

/* The reader is on the backslash. */
static int escape(struct reader *r, bool in_class)
{
    int c = peek(r, 1);
    size_t begin;

    r->at += 2;
    if (c < 0) {
        r->at = r->text.len;
        return broken(r, BTZ_EINVAL, "a backslash at the end");
    }
    switch (c) {
    case 'd':
    case 'D':
    case 'w':
    case 'W':
        return btz_buf_printf(r->out, "\\%c", c);
    case 's':
        return btz_buf_add_text(r->out, in_class ? SPACES : "[" SPACES "]");
    case 'S':
        return btz_buf_add_text(r->out, in_class ? NOT_SPACES : "[" NOT_SPACES "]");
    case 'p':
    case 'P':
        return property_escape(r, (char)c);
    case 'b':
        return btz_buf_add_text(r->out, in_class ? "\\u0008" : "\\b");
    default:
        break;
    }
    if (in_class) {
        return character_escape(r, c);
    }
    if (c == 'B') {
        return btz_buf_add_text(r->out, "\\B");
    }
    if (c == 'k') {
        return btz_buf_add_text(r->out, "\\k"); /* PCRE2 checks that <name> follows */
    }
    if (c >= '1' && c <= '9') {
        begin = r->at - 1;
        while (is_digit(peek(r, 0))) {
            r->at++;
        }
        return btz_buf_printf(r->out, "\\g{%.*s}",
                              BTZ_FMT(btz_str_sub(r->text, begin, r->at - begin)));
    }
    return character_escape(r, c);
}

/* The reader is on '['. */
static int class(struct reader *r)
{
    int rc;

    r->at++;
    (void)btz_buf_add_byte(r->out, '[');
    if (peek(r, 0) == '^') {
        r->at++;
        (void)btz_buf_add_byte(r->out, '^');
    }
    while (peek(r, 0) >= 0 && peek(r, 0) != ']') {
        if (peek(r, 0) == '\\') {
            rc = escape(r, true);
            if (rc) {
                return rc;
            }
            continue;
        }
        if (peek(r, 0) == '[') {
            (void)btz_buf_add_byte(r->out, '\\');
        }
        (void)btz_buf_add_byte(r->out, r->text.ptr[r->at++]);
    }
    if (peek(r, 0) < 0) {
        return broken(r, BTZ_EINVAL, "missing ]");
    }
    r->at++;
    return btz_buf_add_byte(r->out, ']');
}

/* Length of the quantifier under the reader, without a lazy '?'; 0 if there is none. */
static size_t quantifier(const struct reader *r)
{
    size_t n = 1;

    if (peek(r, 0) == '*' || peek(r, 0) == '+' || peek(r, 0) == '?') {
        return 1;
    }
    if (peek(r, 0) != '{' || !is_digit(peek(r, 1))) {
        return 0;
    }
    while (is_digit(peek(r, n))) {
        n++;
    }
    if (peek(r, n) == ',') {
        n++;
        while (is_digit(peek(r, n))) {
            n++;
        }
    }
    return peek(r, n) == '}' ? n + 1 : 0;
}

static int repeat(struct reader *r, size_t len)
{
    (void)btz_buf_add_str(r->out, btz_str_sub(r->text, r->at, len));
    r->at += len;
    if (peek(r, 0) == '?') {
        r->at++;
        (void)btz_buf_add_byte(r->out, '?');
    }
    if (quantifier(r)) {
        return broken(r, BTZ_EINVAL, "a repeat of a repeat");
    }
    return BTZ_OK;
}

/* The reader is on '('. */
static int group(struct reader *r)
{
    int c = peek(r, 2);
    int after = peek(r, 3);

    if (peek(r, 1) == '*') {
        return broken(r, BTZ_EINVAL, "nothing to repeat");
    }
    if (peek(r, 1) == '?' && c != ':' && c != '=' && c != '!' &&
        !(c == '<' && (after == '=' || after == '!' || after == '_' || is_letter(after)))) {
        return broken(r, BTZ_EINVAL,
                      "unknown kind of group; use (?:  (?=  (?!  (?<=  (?<!  (?<name>");
    }
    if (peek(r, 1) == '?') {
        (void)btz_buf_add_text(r->out, "(?");
        r->at += 2;
        return BTZ_OK;
    }
    r->at++;
    return btz_buf_add_byte(r->out, '(');
}

static int element(struct reader *r)
{
    int c = peek(r, 0);
    size_t len = quantifier(r);

    if (len) {
        return repeat(r, len);
    }
    switch (c) {
    case '\\':
        return escape(r, false);
    case '[':
        return class(r);
    case '(':
        return group(r);
    case '.':
        r->at++;
        return btz_buf_add_text(r->out, NOT_LINE_END);
    case '{':
    case '}':
    case ']':
        (void)btz_buf_add_byte(r->out, '\\');
        break;
    default:
        break;
    }
    r->at++;
    return btz_buf_add_byte(r->out, (char)c);
}

int btz_regex_from_ecma(struct btz_str pattern, struct btz_buf *out, struct btz_err *err)
{
    struct reader r = {.text = pattern, .out = out, .err = err};

    while (r.at < pattern.len) {
        int rc = element(&r);

        if (rc == BTZ_ELIMIT) {
            return btz_err_set(err, BTZ_ELIMIT, "regular expression: too long when rewritten");
        }
        if (rc) {
            return rc;
        }
    }
    return btz_buf_status(out);
}
