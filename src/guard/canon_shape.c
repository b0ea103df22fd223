/* What a run of letters and digits is by its shape alone: a date, a mask of dates, a number, a
 * format that everybody knows. Every shape is closed: what one can write in it is a few words of
 * the table, or a few digits whose places are given. */
#include "guard/canon_int.h"

static size_t digits_at(const char *p, size_t len, size_t at)
{
    size_t n = 0;

    while (at + n < len && is_digit(p[at + n])) {
        n++;
    }
    return n;
}

/* ---- dates ---- */

/* YYYY, MM, hh: the same letter two or four times. */
static bool is_mask_part(const char *p, size_t len)
{
    size_t same = 0;

    while (same < len && p[same] == p[0]) {
        same++;
    }
    return same == len && (len == 2 || len == 4) && memchr("YMDHShmsyd", p[0], 10) != NULL;
}

/* A part of a day or time: digits, their value; a mask, 0 and `*mask`. Negative: neither. */
static int part_value(const char *p, size_t len, bool *mask)
{
    int value = 0;

    if (len && len <= 4 && digits_at(p, len, 0) == len) {
        for (size_t i = 0; i < len; i++) {
            value = value * 10 + (p[i] - '0');
        }
        return value;
    }
    *mask = is_mask_part(p, len);
    return *mask ? 0 : -1;
}

struct parts {
    size_t count;
    int value[3];
    size_t len[3];
    bool mask; /* some part is one */
};

/* Cuts at '-', ':' or '/', the same one throughout; false: no two to three parts. */
static bool cut_parts(const char *p, size_t len, struct parts *out, char *sign)
{
    size_t begin = 0;

    *out = (struct parts){0};
    *sign = '\0';
    for (size_t i = 0; i <= len; i++) {
        bool mask = false;

        if (i < len && p[i] != '-' && p[i] != ':' && p[i] != '/') {
            continue;
        }
        if (out->count == 3 || (i < len && *sign && *sign != p[i])) {
            return false;
        }
        *sign = i < len ? p[i] : *sign;
        out->len[out->count] = i - begin;
        out->value[out->count] = part_value(p + begin, i - begin, &mask);
        if (out->value[out->count++] < 0) {
            return false;
        }
        out->mask |= mask;
        begin = i + 1;
    }
    return out->count >= 2 && len <= 10;
}

static bool is_month_and_day(int month, int day)
{
    return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

static bool is_year(int year, size_t len)
{
    return len == 4 && year >= 1900 && year <= 2199;
}

/* 123:456, 1:2: no digit but the next one, as examples of two numbers have them. */
static bool is_counting(const char *p, size_t len)
{
    for (size_t i = 1; i < len; i++) {
        if (is_digit(p[i]) && is_digit(p[i - 1]) && p[i] != p[i - 1] + 1) {
            return false;
        }
    }
    return true;
}

/* 09:30, 23:59:59, and proportions of pictures; no 48:29. */
static bool is_time(const struct parts *t)
{
    static const uint8_t ratios[][2] = {{1, 1}, {3, 2}, {2, 3},  {4, 3},  {3, 4},
                                        {5, 4}, {4, 5}, {16, 9}, {9, 16}, {21, 9}};

    for (size_t i = 0; t->count == 2 && i < sizeof(ratios) / sizeof(ratios[0]); i++) {
        if (t->value[0] == ratios[i][0] && t->value[1] == ratios[i][1]) {
            return true;
        }
    }
    return t->value[0] <= 24 && t->value[1] <= 59 && t->len[0] <= 2 && t->len[1] == 2 &&
           (t->count == 2 || (t->value[2] <= 59 && t->len[2] == 2));
}

/* 2024-01-15, 01/15/2024, 15-01-2024, 2024-01; no 2948-13-37. */
static bool is_day(const struct parts *d)
{
    const int *v = d->value;

    if (d->count == 2) {
        return (is_year(v[0], d->len[0]) && is_month_and_day(v[1], 1)) ||
               (is_year(v[1], d->len[1]) && is_month_and_day(v[0], 1)) ||
               (is_year(v[0], d->len[0]) && is_year(v[1], d->len[1])) ||
               is_month_and_day(v[0], v[1]) || is_month_and_day(v[1], v[0]);
    }
    return (is_year(v[0], d->len[0]) && is_month_and_day(v[1], v[2])) ||
           ((is_year(v[2], d->len[2]) || d->len[2] == 2) &&
            (is_month_and_day(v[0], v[1]) || is_month_and_day(v[1], v[0])));
}

/* Two to three parts of one kind. */
static bool is_day_or_time(const char *p, size_t len)
{
    struct parts parts;
    char sign;

    if (!cut_parts(p, len, &parts, &sign)) {
        return false;
    }
    for (size_t i = 0; parts.mask && i < parts.count; i++) {
        if (parts.value[i] > 59 && !is_year(parts.value[i], parts.len[i])) {
            return false;
        }
    }
    return parts.mask || (sign == ':' ? is_time(&parts) || is_counting(p, len) : is_day(&parts));
}

/* Behind a time of day: nothing, a fraction of up to three digits, of zeros or of s, and a zone. */
static bool is_rest_of_time(const char *p, size_t len)
{
    size_t i = 0;

    if (i < len && p[i] == '.') {
        size_t n = 0;
        size_t weight = 0;

        i++;
        while (i < len && (is_digit(p[i]) || p[i] == 's' || p[i] == 'S') && n < 9) {
            weight += p[i] >= '1' && p[i] <= '9' ? 1 : 0;
            i++;
            n++;
        }
        if (n == 0 || weight > 3) {
            return false;
        }
    }
    if (i == len || (i + 1 == len && p[i] == 'Z')) {
        return true;
    }
    return len - i == 6 && (p[i] == '+' || p[i] == '-') && p[i + 3] == ':' &&
           is_day_or_time(p + i + 1, 5);
}

/* 2024-01-15T09:30:00Z, YYYY-MM-DDTHH:MM:SSZ: a whole day, T, a time. */
static bool is_moment(const char *p, size_t len)
{
    size_t end = 11;

    if (len < 16 || len > 34 || p[10] != 'T' || p[4] != '-' || !is_day_or_time(p, 10)) {
        return false;
    }
    while (end < len && p[end] != '.' && p[end] != 'Z' && p[end] != '+' && p[end] != '-') {
        end++;
    }
    return (end - 11 == 5 || end - 11 == 8) && p[13] == ':' && is_day_or_time(p + 11, end - 11) &&
           is_rest_of_time(p + end, len - end);
}

bool canon_is_date(const char *p, size_t len)
{
    return is_day_or_time(p, len) || is_moment(p, len);
}

/* ---- formats that everybody knows ---- */

struct name {
    const char *text;
    size_t len;
};

#define N(text)                                                                                    \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }

/* Standards, files, media types and products whose names hold digits, dots or slashes, and a few
 * zones, so that an example of one shows its form. */
static const struct name names[] = {
    N("E.164"),
    N("H.264"),
    N("H.265"),
    N("X.509"),
    N("G.711"),
    N("IPv4"),
    N("IPv6"),
    N("IPv4/IPv6"),
    N("OAuth2"),
    N("ISO8601"),
    N("ISO-8601"),
    N("ISO4217"),
    N("ISO-4217"),
    N("ISO3166"),
    N("ISO-3166"),
    N("ISO639"),
    N("ISO-639"),
    N("ISO-639-1"),
    N("ISO-3166-1"),
    N("ISO-3166-2"),
    N("RFC3339"),
    N("RFC-3339"),
    N("RFC2822"),
    N("RFC-2822"),
    N("RFC5322"),
    N("RFC-5322"),
    N("RFC5545"),
    N("RFC-5545"),
    N("RFC3986"),
    N("RFC-3986"),
    N("RFC4122"),
    N("RFC6902"),
    N("RFC7396"),
    N("BCP-47"),
    N("BCP47"),
    N("3166-1"),
    N("3166-2"),
    N("639-1"),
    N("639-2"),
    N("639-3"),
    N("A1"),
    N("R1C1"),
    N("tar.gz"),
    N("tar.bz2"),
    N("tar.xz"),
    N("Node.js"),
    N("node.js"),
    N("Next.js"),
    N("Vue.js"),

    N("I/O"),
    N("SHA-1"),
    N("SHA-256"),
    N("SHA-512"),
    N("SHA256"),
    N("MD5"),
    N("ISO/IEC"),
    N("base64url"),
    N("Base64URL"),
    N("UUIDv4"),
    N("UUIDv7"),
    N("WGS-84"),
    N("WGS84"),
    N("x-www-form-urlencoded"),
    N("text/plain"),
    N("text/html"),
    N("text/markdown"),
    N("text/csv"),
    N("image/png"),
    N("image/jpeg"),
    N("application/json"),
    N("application/pdf"),
    N("application/xml"),
    N("multipart/form-data"),
    N("application/octet-stream"),
    N("America/New_York"),
    N("America/Los_Angeles"),
    N("America/Chicago"),
    N("America/Denver"),
    N("America/Sao_Paulo"),
    N("Europe/London"),
    N("Europe/Paris"),
    N("Europe/Berlin"),
    N("Europe/Madrid"),
    N("Asia/Tokyo"),
    N("Asia/Shanghai"),
    N("Asia/Kolkata"),
    N("Asia/Singapore"),
    N("Australia/Sydney"),
    N("Africa/Cairo"),
    N("Etc/UTC"),
    N("America/San_Francisco"),
};

#undef N

static bool is_named(const char *p, size_t len)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].len == len && names[i].text[0] == p[0] && memcmp(names[i].text, p, len) == 0) {
            return true;
        }
    }
    return false;
}

void canon_shapes_hash(struct btz_hasher *hasher)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        btz_hasher_add_part(hasher, (struct btz_str){names[i].text, names[i].len});
    }
}

/* en-US, pt-BR: a language and a country that the lists have. */
static bool is_locale(const char *p, size_t len)
{
    return len == 5 && (p[2] == '-' || p[2] == '_') && is_upper(p[3]) && is_upper(p[4]) &&
           !is_upper(p[0]) && !is_upper(p[1]) &&
           canon_is_one_of(p, 2,
                           "en de fr es it pt nl sv da nb fi pl cs ru uk tr el he ar hi ja ko "
                           "zh th vi id ms hu ro bg") &&
           canon_is_one_of(p + 3, 2,
                           "us gb de fr es it pt br nl se dk no fi pl cz ru ua tr gr il sa "
                           "in jp kr cn tw hk th vn id my hu ro bg mx ca au nz ch at be");
}

/* #RRGGBB and the like, and colours of nothing but plain pairs (#FF0000, #000, #333333). */
static bool is_colour(const char *p, size_t len)
{
    if (len < 4 || len > 9 || p[0] != '#') {
        return false;
    }
    if (canon_is_one_of(p + 1, len - 1, "rgb rgba rrggbb rrggbbaa hex hexhex") && is_letter(p[1])) {
        return true;
    }
    if (len != 4 && len != 7) {
        return false;
    }
    for (size_t i = 1; i < len; i++) {
        if (!memchr("03Ff", p[i], 4) || (len == 7 && i % 2 == 0 && p[i] != p[i - 1])) {
            return false;
        }
    }
    return true;
}

/* A1:D10, B:B, Sheet1!A1: cells with one letter and at most two digits. */
static size_t cell(const char *p, size_t len, size_t at)
{
    size_t i = at;
    size_t digits;

    i += i < len && p[i] == '$' ? 1 : 0;
    if (i >= len || p[i] < 'A' || p[i] > 'H') {
        return 0;
    }
    i++;
    i += i < len && p[i] == '$' ? 1 : 0;
    digits = digits_at(p, len, i);
    return digits <= 2 ? i + digits : 0;
}

static bool is_range_of_cells(const char *p, size_t len)
{
    size_t at = len > 7 && memcmp(p, "Sheet1!", 7) == 0 ? 7 : 0;
    size_t end = cell(p, len, at);

    if (!end || (end == len && !at)) {
        return false; /* one cell alone says nothing */
    }
    return end == len || (p[end] == ':' && cell(p, len, end + 1) == len);
}

/* {owner}/{repo}, <owner>/<name>: places for words of the table, and nothing but a slash, a hyphen,
 * a colon or an underscore between two. */
static bool is_mask(const char *p, size_t len)
{
    size_t i = 0;
    size_t places = 0;

    if (len > 60 || len < 4) {
        return false;
    }
    while (i < len) {
        char close = p[i] == '{' ? '}' : p[i] == '<' ? '>' : '\0';
        size_t begin = ++i;

        if (!close) {
            return false;
        }
        while (i < len && p[i] != close) {
            size_t word = i;
            uint32_t flags;

            while (i < len && is_letter(p[i])) {
                i++;
            }
            flags = canon_word(p + word, i - word, canon_word_hash(p + word, i - word));
            if (!flags || (flags & (WORD_BANNED | WORD_SENSITIVE | WORD_SOFT)) ||
                (flags & (WORD_SENDS | WORD_DELETES | WORD_PAYS) && !(flags & WORD_NOUN)) ||
                canon_is_one_of(p + word, i - word, "everyone everybody anyone all")) {
                return false;
            }
            i += i < len && (p[i] == '_' || p[i] == '-') ? 1 : 0;
        }
        if (i == begin || i >= len) {
            return false;
        }
        places++;
        i++;
        if (i < len && (!strchr("/-:_", p[i++]) || i == len)) {
            return false;
        }
    }
    return places >= 1 && places <= 4;
}

bool canon_is_standard(const char *p, size_t len)
{
    return is_locale(p, len) || is_colour(p, len) || is_range_of_cells(p, len) || is_named(p, len);
}

size_t canon_mask(const char *p, size_t len)
{
    size_t end = 0;
    size_t most = len < 61 ? len : 61;

    while (end < most && (is_letter(p[end]) || strchr("{}<>/-:_", p[end]))) {
        end++;
    }
    while (end && p[end - 1] != '}' && p[end - 1] != '>') {
        end--;
    }
    return is_mask(p, end) ? end : 0;
}

/* ---- numbers ---- */

/* 0.0-1.0, 1..10, -90..90: a short range says itself what it is. */
bool canon_is_range(const char *p, size_t len)
{
    size_t ends = 0;
    size_t i = 0;

    for (; ends < 2; ends++) {
        size_t digits = 0;
        bool point = false;

        i += i < len && (p[i] == '-' || p[i] == '+') ? 1 : 0;
        while (i < len && (is_digit(p[i]) || (p[i] == '.' && digits && !point && i + 1 < len &&
                                              is_digit(p[i + 1])))) {
            point |= p[i] == '.';
            digits += p[i++] == '.' ? 0 : 1;
        }
        if (digits == 0 || digits > 4) {
            return false;
        }
        if (ends == 0) {
            size_t joint = i + 1 < len && p[i] == '.' && p[i + 1] == '.' ? 2
                           : i < len && p[i] == '-'                      ? 1
                                                                         : 0;

            if (!joint) {
                return false;
            }
            i += joint;
        }
    }
    return i == len && canon_amounts_are_plain(p, len);
}

/* 1-based, 2-letter, 24-hour: at most three digits and one of these words. */
bool canon_is_counted(const char *p, size_t len)
{
    size_t digits = digits_at(p, len, 0);

    return digits && digits <= 3 && digits + 1 < len && p[digits] == '-' &&
           canon_is_one_of(
               p + digits + 1, len - digits - 1,
               "based indexed letter letters digit digits character characters char hour "
               "day minute second month year week bit byte word step column row "
               "dimensional point fold way level");
}

/* One number with thousands and a fraction from `at` on: 12, 1.5, 1,000. 0 = there is none. */
static size_t number_at(const char *p, size_t len, size_t at, size_t *digits)
{
    size_t i = at + digits_at(p, len, at);

    while (i > at && i < len && p[i] == ',' && digits_at(p, len, i + 1) == 3) {
        i += 4;
    }
    if (i > at && i + 1 < len && p[i] == '.' && is_digit(p[i + 1])) {
        i += 1 + digits_at(p, len, i + 1);
    }
    *digits += i - at;
    return i - at;
}

/* 12 -3 1.5 1,000 50% 10MB 1-100 ~5s 30+: one number, or two of which the second is no smaller, and
 * a unit of at most four letters. No more, for 10.0.0.1 and 555-123-456 are something else. */
bool canon_is_number(const char *p, size_t len)
{
    size_t i = len > 1 && (p[0] == '-' || p[0] == '+' || p[0] == '~') ? 1 : 0;
    size_t begin = i;
    size_t digits = 0;
    size_t first;
    size_t unit = 0;

    len -= len > 2 && p[len - 1] == '+' ? 1 : 0;
    first = number_at(p, len, i, &digits);
    i += first;
    if (first && i + 1 < len && p[i] == '-' && is_digit(p[i + 1])) {
        size_t from = i + 1;
        size_t second = number_at(p, len, from, &digits);

        if (second < first || (second == first && memcmp(p + from, p + begin, first) < 0)) {
            return false;
        }
        i = from + second;
    }
    while (i < len && (is_letter(p[i]) || p[i] == '%') && unit < 4) {
        unit++;
        i++;
    }
    return first && i == len && digits <= 13;
}
