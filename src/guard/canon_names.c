/* Names, values of enumerations, defaults and patterns: what of them may be shown as it is. They
 * are needed for calling, so they cannot simply go; what is no plain name gets a number instead,
 * and the map back is kept. */
#include "guard/canon_int.h"

enum {
    PIECES_MAX = 7,
    VALUE_PIECES_MAX = 5,
    DEFAULT_MAX = 40,
    PATTERN_MAX = 160,
    PATTERN_RUN_MAX = 24
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

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
    *piece = (struct btz_str){rest->ptr + begin, end - begin};
    *rest = (struct btz_str){rest->ptr + end, rest->len - end};
    return piece->len > 0;
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
    unsigned longest;
};

static struct pieces pieces_of(struct btz_str name)
{
    struct pieces p = {0};
    struct btz_str rest = name;
    struct btz_str piece;

    while (canon_piece(&rest, &piece)) {
        uint32_t flags = canon_word(piece.ptr, piece.len, canon_word_hash(piece.ptr, piece.len));
        unsigned digits = 0;

        for (size_t i = 0; i < piece.len; i++) {
            digits += is_digit(piece.ptr[i]) ? 1 : 0;
        }
        p.count++;
        p.digits += digits;
        p.unknown_behind += p.towards && !flags && digits == 0 && piece.len > 3 ? 1 : 0;
        p.unknown += !flags && digits == 0 && piece.len > 3 ? 1 : 0;
        p.banned += flags & WORD_BANNED ? 1 : 0;
        p.private += flags & (WORD_SENSITIVE | WORD_SOFT) ? 1 : 0;
        p.towards += flags & WORD_TOWARDS ? 1 : 0;
        p.longest = piece.len > p.longest ? (unsigned)piece.len : p.longest;
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

/* param_3, value_12, tool_1a2b3c4d: what this program gives. */
static bool is_given(struct btz_str name)
{
    static const char *const heads[] = {"param_", "value_", "tool_", "definition_"};

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

bool canon_name_is_plain(struct btz_str name, size_t max)
{
    struct pieces p;

    if (name.len == 0 || name.len > max || !has_only(name, "_-.$") || name.ptr[0] == '.' ||
        is_host(name)) {
        return false;
    }
    if (is_given(name)) {
        return true;
    }
    p = pieces_of(name);
    return p.count >= 1 && p.count <= PIECES_MAX && p.longest <= 24 && p.digits <= 4 &&
           p.unknown_behind == 0 && p.banned <= 1 && (p.banned == 0 || p.count <= 3) &&
           p.unknown <= (p.count >= 6   ? 0U
                         : p.count >= 4 ? 1U
                                        : 3U) &&
           (p.private <= 1 || p.count <= 3) && p.private <= 2;
}

bool canon_value_is_plain(struct btz_str value)
{
    struct pieces p;
    size_t slashes = 0;

    if (value.len == 0) {
        return true;
    }
    if (value.len > CANON_VALUE_MAX || !has_only(value, "_-./+ :%#")) {
        /* An operator, such as ">=", says nothing else. */
        return value.len <= 3 && has_only(value, "<>=!*&|^~+-/%?@$.,:;()[]{}");
    }
    if (is_given(value)) {
        return true;
    }
    for (size_t i = 0; i < value.len; i++) {
        slashes += value.ptr[i] == '/' ? 1 : 0;
    }
    p = pieces_of(value);
    if (is_host(value) || (is_dotted(value) && p.unknown)) {
        return false;
    }
    return p.count <= VALUE_PIECES_MAX && p.longest <= 20 && p.digits <= 10 &&
           (p.banned == 0 || p.count == 1) && p.unknown <= 2 &&
           (p.private <= 1 && (p.private == 0 || p.count <= 2)) && slashes <= 1 &&
           value.ptr[0] != '/' && value.ptr[0] != ' ' && value.ptr[value.len - 1] != ' ';
}

bool canon_default_is_plain(struct btz_str value)
{
    struct pieces p;

    if (value.len == 0) {
        return true;
    }
    if (value.len > DEFAULT_MAX || !has_only(value, "_-./+ :%#,*")) {
        return value.len <= 3 && has_only(value, "<>=!*&|^~+-/%?@$.,:;()[]{}\"' ");
    }
    if (is_given(value)) {
        return true;
    }
    p = pieces_of(value);
    return p.count <= VALUE_PIECES_MAX && p.digits <= 8 && p.unknown == 0 && p.banned == 0 &&
           p.private == 0 && !is_host(value) && value.ptr[0] != '/' && value.ptr[0] != '.';
}

/* A pattern is a form as long as it spells out no words: a run of letters outside of an escape is a
 * word of the table, or has three letters. */
bool canon_pattern_is_plain(struct btz_str pattern)
{
    size_t words = 0;

    if (pattern.len > PATTERN_MAX) {
        return false;
    }
    for (size_t i = 0; i < pattern.len; i++) {
        size_t begin;

        if ((unsigned char)pattern.ptr[i] <= ' ' || (unsigned char)pattern.ptr[i] >= 0x7F) {
            return false;
        }
        if (pattern.ptr[i] == '\\') {
            i++;
            continue;
        }
        for (begin = i; i < pattern.len && is_letter(pattern.ptr[i]); i++) {
        }
        if (i - begin > 3) {
            uint32_t flags = canon_word(pattern.ptr + begin, i - begin,
                                        canon_word_hash(pattern.ptr + begin, i - begin));

            if (i - begin > PATTERN_RUN_MAX || !flags ||
                (flags & (WORD_BANNED | WORD_SENSITIVE | WORD_SOFT)) || ++words > 12) {
                return false;
            }
        }
        i -= i > begin ? 1 : 0;
    }
    return true;
}
