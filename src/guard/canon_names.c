/* Names, values of enumerations and defaults: what of them may be shown as it is. They
 * are needed for calling, so they cannot simply go; what is no plain name gets a number instead,
 * and the map back is kept. */
#include "guard/canon_int.h"

enum {
    PIECES_MAX = 7,
    VALUE_PIECES_MAX = 5,
    VALUE_DIGITS_MAX = 6,
    DEFAULT_MAX = 40,
    SHORT_MAX = 5,
    RUN_OF_DIGITS_MAX = 4
};

bool canon_piece(struct btz_str *rest, struct btz_str *piece)
{
    size_t begin = 0;
    size_t end;

    while (begin < rest->len && !is_letter(rest->ptr[begin]) && !is_digit(rest->ptr[begin])) {
        begin++;
    }
    for (end = begin; end < rest->len; end++) {
        char c = rest->ptr[end];

        if (!is_letter(c) && !is_digit(c)) {
            break;
        }
        if (end > begin && is_upper(c) &&
            (!is_upper(rest->ptr[end - 1]) ||
             (end + 1 < rest->len && is_letter(rest->ptr[end + 1]) &&
              !is_upper(rest->ptr[end + 1])))) {
            break;
        }
    }
    *piece = btz_str_sub(*rest, begin, end - begin);
    *rest = btz_str_sub(*rest, end, rest->len);
    return piece->len > 0;
}

/* param_3, value_12, tool_1a2b3c4d: what this program gives. */
static bool is_given(struct btz_str name)
{
    static const char *const heads[] = {"param_", "value_", "tool_", "definition_"};

    if (name.len < 6 || !strchr("pvtd", name.ptr[0])) {
        return false;
    }
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        struct btz_str head = btz_str_of(heads[i]);

        if (btz_str_starts(name, head) && name.len > head.len && name.len <= head.len + 8) {
            for (size_t k = head.len; k < name.len; k++) {
                if (btz_hex_value(name.ptr[k]) < 0 || is_upper(name.ptr[k])) {
                    return false;
                }
            }
            return true;
        }
    }
    return false;
}

/* ---- words of the definition's own names ---- */

static void add_word(struct own_words *own, struct btz_str word)
{
    uint32_t hash = canon_word_hash(word.ptr, word.len);

    if (own->count == CANON_PIECES || canon_own_has(own, word.ptr, word.len, hash)) {
        return;
    }
    own->bloom[hash >> 6 & 3] |= 1ULL << (hash & 63);
    own->words[own->count].ptr = word.ptr;
    own->words[own->count].len = (uint32_t)word.len;
    own->words[own->count++].hash = hash;
}

void canon_own_add(struct own_words *own, struct btz_str name)
{
    struct btz_str rest = name;
    struct btz_str piece;

    if (is_given(name)) {
        return; /* nobody's word, and the same place in the table before and after renaming */
    }
    add_word(own, name);
    while (canon_piece(&rest, &piece)) {
        if (piece.len > 1 && piece.len < name.len) {
            add_word(own, piece);
        }
    }
}

bool canon_own_has(const struct own_words *own, const char *word, size_t len, uint32_t hash)
{
    if (!(own->bloom[hash >> 6 & 3] >> (hash & 63) & 1)) {
        return false;
    }
    for (size_t i = 0; i < own->count; i++) {
        if (own->words[i].hash == hash && own->words[i].len == len &&
            strncasecmp(own->words[i].ptr, word, len) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- shapes ---- */

struct pieces {
    unsigned count;
    unsigned unknown;        /* letters that no table has; longer than three */
    unsigned digits;         /* digits in all */
    unsigned banned;         /* words that end a sentence */
    unsigned private;        /* sensitive words, and words of the conversation */
    unsigned towards;        /* to, into, at: a recipient may follow */
    unsigned unknown_behind; /* unknown ones behind such a word */
    unsigned sends;          /* verbs of sending, paying and deleting */
    unsigned spelled;        /* signs of addresses and paths that are written as words */
    unsigned orders;         /* verbs of those behind "call" and the like */
    unsigned longest;
    unsigned longest_run; /* of digits */
};

/* "evil dot com", "evil_com", "etc passwd". `before` and `flags` are of the piece before. */
static bool is_spelled(struct btz_str before, uint32_t flags, struct btz_str piece, bool last)
{
    bool unknown = before.len > 3 && !flags;

    if (before.len == 3 && canon_is_one_of(before.ptr, before.len, "etc")) {
        return true;
    }
    if (before.len && piece.len >= 6 && piece.len <= 8 &&
        canon_is_one_of(piece.ptr, piece.len, "passwd sudoers htpasswd")) {
        return true;
    }
    return last && before.len &&
           (unknown || (before.len == 3 && canon_is_one_of(before.ptr, before.len, "dot"))) &&
           canon_is_one_of(piece.ptr, piece.len, "com org net example");
}

/* "call_send_mail" */
static bool is_order(struct btz_str before, uint32_t flags)
{
    return (flags & (WORD_SENDS | WORD_PAYS | WORD_DELETES)) && before.len &&
           canon_is_one_of(before.ptr, before.len, "call calls invoke always must never please");
}

static struct pieces pieces_of(struct btz_str name)
{
    const uint32_t outward = WORD_SENDS | WORD_PAYS | WORD_DELETES;
    struct pieces p = {0};
    struct btz_str rest = name;
    struct btz_str before = BTZ_STR_NONE;
    struct btz_str piece;
    uint32_t flags_before = 0;

    while (canon_piece(&rest, &piece)) {
        uint32_t flags = canon_word(piece.ptr, piece.len, canon_word_hash(piece.ptr, piece.len));
        unsigned digits = 0;
        unsigned zeros = 0;

        for (size_t i = 0; i < piece.len; i++) {
            digits += is_digit(piece.ptr[i]) ? 1 : 0;
            zeros += piece.ptr[i] == '0' ? 1 : 0;
        }
        p.count++;
        p.digits += digits;
        p.unknown_behind += p.towards && !flags && digits == 0 && piece.len > 3 ? 1 : 0;
        p.unknown += !flags && digits == 0 && piece.len > 3 ? 1 : 0;
        p.banned += flags & WORD_BANNED ? 1 : 0;
        p.private += flags & (WORD_SENSITIVE | WORD_SOFT) ? 1 : 0;
        p.towards += flags & WORD_TOWARDS ? 1 : 0;
        p.sends += flags & outward ? 1 : 0;
        p.spelled += is_spelled(before, flags_before, piece, rest.len == 0) ? 1 : 0;
        p.orders += is_order(before, flags) ? 1 : 0;
        p.longest = piece.len > p.longest ? (unsigned)piece.len : p.longest;
        p.longest_run = digits > p.longest_run && zeros < digits ? digits : p.longest_run;
        before = piece;
        flags_before = flags;
    }
    return p;
}

static bool has_only(struct btz_str s, const char *signs)
{
    for (size_t i = 0; i < s.len; i++) {
        if (!is_letter(s.ptr[i]) && !is_digit(s.ptr[i]) && !strchr(signs, s.ptr[i])) {
            return false;
        }
    }
    return true;
}

/* A name with dots whose last part is one that hosts end in. */
static bool is_host(struct btz_str s)
{
    static const char *const tops[] = {
        "com",  "org", "net", "io", "dev",  "example", "test",   "invalid",   "app", "ai",
        "co",   "uk",  "de",  "eu", "info", "biz",     "local",  "localhost", "me",  "cloud",
        "site", "xyz", "ru",  "cn", "us",   "tech",    "online", "internal",  "lan"};
    size_t dot = s.len;

    for (size_t i = 1; i + 1 < s.len; i++) {
        dot = s.ptr[i] == '.' && is_letter(s.ptr[i + 1]) ? i : dot;
    }
    for (size_t i = 0; dot < s.len && i < sizeof(tops) / sizeof(tops[0]); i++) {
        size_t len = strlen(tops[i]);

        if (s.len >= dot + 1 + len && strncasecmp(s.ptr + dot + 1, tops[i], len) == 0 &&
            (s.len == dot + 1 + len || !is_letter(s.ptr[dot + 1 + len]))) {
            return true;
        }
    }
    return false;
}

/* Hosts and files have a dot between letters. */
static bool is_dotted(struct btz_str s)
{
    for (size_t i = 1; i + 1 < s.len; i++) {
        if (s.ptr[i] == '.' && is_letter(s.ptr[i - 1]) && is_letter(s.ptr[i + 1])) {
            return true;
        }
    }
    return false;
}

/* customfield_10020, as trackers name what their users add. */
static bool is_numbered_field(struct btz_str name)
{
    struct btz_str rest = name;
    struct btz_str piece;

    return canon_piece(&rest, &piece) &&
           canon_is_one_of(piece.ptr, piece.len, "field customfield") && rest.len <= 6 &&
           canon_piece(&rest, &piece) && rest.len == 0;
}

bool canon_name_is_plain(struct btz_str name, size_t max)
{
    struct pieces p;

    if (name.len == 0 || name.len > max ||
        !has_only(name, max == CANON_NAME_MAX ? "_-.$[]" : "_-.$") || name.ptr[0] == '.' ||
        is_host(name)) {
        return false;
    }
    if (is_given(name)) {
        return true;
    }
    p = pieces_of(name);
    return p.count >= 1 && p.count <= PIECES_MAX && p.longest <= 24 && p.digits <= 5 &&
           (p.longest_run <= RUN_OF_DIGITS_MAX || is_numbered_field(name)) &&
           p.unknown_behind == 0 && p.spelled == 0 && p.orders == 0 &&
           (p.sends == 0 || p.unknown <= 1) && p.banned <= 1 && (p.banned == 0 || p.count <= 3) &&
           p.unknown <= (p.count >= 6   ? 0U
                         : p.count >= 4 ? 1U
                                        : 3U) &&
           (p.private <= 1 || p.count <= 3) && p.private <= 2;
}

/* Digits and signs alone, and no number that programs have. */
static bool is_amount(struct btz_str value)
{
    for (size_t i = 0; i < value.len; i++) {
        if (is_letter(value.ptr[i])) {
            return false;
        }
    }
    return !canon_amounts_are_plain(value.ptr, value.len);
}

/* Units, signs and codes so short that nothing can be asked with them. */
static bool is_short(struct btz_str value)
{
    static const char *const units[] = {"\xC2\xB0"
                                        "C",
                                        "\xC2\xB0"
                                        "F",
                                        "\xC2\xB0",
                                        "\xC2\xB5s",
                                        "\xCE\xBCs",
                                        "\xC2\xB5m",
                                        "\xCE\xBCm",
                                        "\xC2\xB5g",
                                        "\xCE\xA9",
                                        "k\xCE\xA9",
                                        "m\xC2\xB2",
                                        "km\xC2\xB2",
                                        "m\xC2\xB3",
                                        "m/s\xC2\xB2",
                                        "\xE2\x82\xAC",
                                        "\xC2\xA3",
                                        "\xC2\xA5",
                                        "C++",
                                        "C#",
                                        "F#",
                                        NULL};
    static const char *const zones[] = {"America/New_York",  "America/Chicago",
                                        "America/Denver",    "America/Los_Angeles",
                                        "America/Sao_Paulo", "Europe/London",
                                        "Europe/Paris",      "Europe/Berlin",
                                        "Asia/Tokyo",        "Asia/Shanghai",
                                        "Asia/Kolkata",      "Asia/Singapore",
                                        "Australia/Sydney",  NULL};
    bool letter = false;

    for (size_t i = 0; units[i]; i++) {
        if (btz_str_is(value, units[i])) {
            return true;
        }
    }
    for (size_t i = 0; zones[i]; i++) {
        if (btz_str_is(value, zones[i])) {
            return true;
        }
    }
    if (value.len > SHORT_MAX || is_host(value) || value.ptr[0] == ' ' ||
        value.ptr[value.len - 1] == ' ' ||
        !has_only(value, value.len > 3 ? "-_+ " : "<>=!*&|^~+-%?$.,:;()[]{}\"'_")) {
        return false;
    }
    for (size_t i = 0; i < value.len; i++) {
        letter |= is_letter(value.ptr[i]);
    }
    return letter || value.len <= 3;
}

bool canon_value_is_plain(struct btz_str value)
{
    struct pieces p;
    size_t slashes = 0;

    if (value.len == 0 || (is_short(value) && !is_amount(value))) {
        return true;
    }
    if (value.len > CANON_VALUE_MAX || !has_only(value, "_-./+ :%#")) {
        /* An operator, such as ">=", says nothing else. */
        return value.len <= 3 && has_only(value, "<>=!*&|^~+-/%?@$.,:;()[]{}\"'");
    }
    if (is_given(value)) {
        return true;
    }
    if (canon_is_date(value.ptr, value.len)) {
        return true;
    }
    for (size_t i = 0; i < value.len; i++) {
        slashes += value.ptr[i] == '/' ? 1 : 0;
    }
    p = pieces_of(value);
    if (is_amount(value) || is_host(value) || (is_dotted(value) && p.unknown)) {
        return false;
    }
    return p.count <= VALUE_PIECES_MAX && p.longest <= 20 && p.digits <= VALUE_DIGITS_MAX &&
           p.longest_run <= RUN_OF_DIGITS_MAX && p.unknown_behind == 0 && p.spelled == 0 &&
           (p.sends == 0 || p.unknown == 0) && (p.banned == 0 || p.count == 1) && p.unknown <= 2 &&
           (p.private <= 1 && (p.private == 0 || p.count <= 2)) && slashes <= 1 &&
           value.ptr[0] != '/' && value.ptr[0] != ' ' && value.ptr[value.len - 1] != ' ';
}

bool canon_default_is_plain(struct btz_str value)
{
    struct pieces p;

    if (value.len == 0 || (is_short(value) && !is_amount(value))) {
        return true;
    }
    if (value.len > DEFAULT_MAX || !has_only(value, "_-./+ :%#,*")) {
        return value.len <= 3 && has_only(value, "<>=!*&|^~+-/%?@$.,:;()[]{}\"' ");
    }
    if (is_given(value)) {
        return true;
    }
    p = pieces_of(value);
    if (canon_is_date(value.ptr, value.len)) {
        return true;
    }
    return p.count <= VALUE_PIECES_MAX && p.digits <= VALUE_DIGITS_MAX && p.unknown == 0 &&
           p.banned == 0 && p.private == 0 && p.spelled == 0 &&
           p.longest_run <= RUN_OF_DIGITS_MAX && (p.sends == 0 || p.count == 1) &&
           !is_amount(value) && !is_host(value) && value.ptr[0] != '/' && value.ptr[0] != '.';
}

/* ---- formats ---- */

static bool is_one(struct btz_str value, const char *const *list)
{
    for (; *list; list++) {
        if (value.len == strlen(*list) && strncasecmp(value.ptr, *list, value.len) == 0) {
            return true;
        }
    }
    return false;
}

/* JSON Schema 2020-12, OpenAPI's registry, and what generators of schemas write. */
static const char *const formats[] = {"date-time",
                                      "date",
                                      "time",
                                      "duration",
                                      "email",
                                      "idn-email",
                                      "hostname",
                                      "idn-hostname",
                                      "ipv4",
                                      "ipv6",
                                      "ip",
                                      "uri",
                                      "uri-reference",
                                      "iri",
                                      "iri-reference",
                                      "uuid",
                                      "url",
                                      "uri-template",
                                      "json-pointer",
                                      "relative-json-pointer",
                                      "regex",
                                      "int8",
                                      "int16",
                                      "int32",
                                      "int64",
                                      "uint8",
                                      "uint16",
                                      "uint32",
                                      "uint64",
                                      "uint",
                                      "int",
                                      "integer",
                                      "number",
                                      "float",
                                      "double",
                                      "decimal",
                                      "byte",
                                      "binary",
                                      "password",
                                      "char",
                                      "string",
                                      "base64",
                                      "base64url",
                                      "color",
                                      "markdown",
                                      "html",
                                      "json",
                                      "yaml",
                                      "xml",
                                      "csv",
                                      "path",
                                      "file",
                                      "file-path",
                                      "directory-path",
                                      "directory",
                                      "cron",
                                      "phone",
                                      "currency",
                                      "percent",
                                      "slug",
                                      "hex",
                                      "ulid",
                                      "cuid",
                                      "cuid2",
                                      "nanoid",
                                      "emoji",
                                      "jwt",
                                      "cidrv4",
                                      "cidrv6",
                                      "ipv4network",
                                      "ipv6network",
                                      "timezone",
                                      "month",
                                      "year",
                                      "textarea",
                                      "text",
                                      "timestamp",
                                      "unix-time",
                                      "e164",
                                      "multi-line",
                                      NULL};
static const char *const encodings[] = {
    "base64", "base64url", "base32", "base32hex", "base16",           "7bit",
    "8bit",   "binary",    "gzip",   "identity",  "quoted-printable", NULL};
static const char *const media[] = {"application/json",
                                    "application/xml",
                                    "application/pdf",
                                    "application/zip",
                                    "application/gzip",
                                    "application/octet-stream",
                                    "application/yaml",
                                    "application/x-yaml",
                                    "application/jsonl",
                                    "application/ld+json",
                                    "application/schema+json",
                                    "application/javascript",
                                    "application/jwt",
                                    "application/sql",
                                    "application/x-www-form-urlencoded",
                                    "multipart/form-data",
                                    "text/plain",
                                    "text/html",
                                    "text/css",
                                    "text/csv",
                                    "text/markdown",
                                    "text/xml",
                                    "text/yaml",
                                    "text/javascript",
                                    "text/calendar",
                                    "image/png",
                                    "image/jpeg",
                                    "image/gif",
                                    "image/webp",
                                    "image/svg+xml",
                                    "image/bmp",
                                    "image/tiff",
                                    "image/avif",
                                    "audio/mpeg",
                                    "audio/wav",
                                    "audio/ogg",
                                    "audio/webm",
                                    "audio/flac",
                                    "video/mp4",
                                    "video/webm",
                                    "video/ogg",
                                    "video/quicktime",
                                    "image/*",
                                    "audio/*",
                                    "video/*",
                                    "text/*",
                                    "application/*",
                                    "*/*",
                                    NULL};

bool canon_format_is_known(struct btz_str keyword, struct btz_str value)
{
    return is_one(value, btz_str_is(keyword, "format")            ? formats
                         : btz_str_is(keyword, "contentEncoding") ? encodings
                                                                  : media);
}
