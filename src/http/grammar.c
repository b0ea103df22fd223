#include <arpa/inet.h>

#include "http/http_int.h"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
    return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z');
}

static bool is_hex(char c)
{
    return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f');
}

static bool is_one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

bool btz_http_same_name(struct btz_str a, const char *text)
{
    if (a.len != strlen(text)) {
        return false;
    }
    for (size_t i = 0; i < a.len; i++) {
        if (lower(a.ptr[i]) != lower(text[i])) {
            return false;
        }
    }
    return true;
}

bool btz_http_is_token(struct btz_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (!is_alnum(s.ptr[i]) && !is_one_of(s.ptr[i], "!#$%&'*+-.^_`|~")) {
            return false;
        }
    }
    return s.len > 0;
}

bool btz_http_is_text_byte(unsigned char c)
{
    return c == '\t' || (c >= ' ' && c != 0x7f);
}

struct btz_str btz_http_trim(struct btz_str s)
{
    while (s.len && is_one_of(s.ptr[0], " \t")) {
        s.ptr++;
        s.len--;
    }
    while (s.len && is_one_of(s.ptr[s.len - 1], " \t")) {
        s.len--;
    }
    return s;
}

bool btz_http_is_value(struct btz_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (!btz_http_is_text_byte((unsigned char)s.ptr[i])) {
            return false;
        }
    }
    return btz_http_trim(s).len == s.len;
}

bool btz_http_is_method(struct btz_str s)
{
    static const char *const methods[] = {"GET",    "HEAD",    "POST",  "PUT",
                                          "DELETE", "OPTIONS", "TRACE", "PATCH"};

    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (btz_str_is(s, methods[i])) {
            return true;
        }
    }
    return false;
}

bool btz_http_is_target(struct btz_str s)
{
    if (!s.len || s.ptr[0] != '/') {
        return false;
    }
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '%') {
            if (s.len - i < 3 || !is_hex(s.ptr[i + 1]) || !is_hex(s.ptr[i + 2])) {
                return false;
            }
        } else if (!is_alnum(s.ptr[i]) && !is_one_of(s.ptr[i], "-._~!$&'()*+,;=:@/?")) {
            return false;
        }
    }
    return true;
}

static bool is_port(struct btz_str s)
{
    int64_t port;

    for (size_t i = 0; i < s.len; i++) {
        if (!is_digit(s.ptr[i])) {
            return false;
        }
    }
    return s.len >= 1 && s.len <= 5 && btz_str_int64(s, &port) == BTZ_OK && port <= 65535;
}

static bool is_ipv6(struct btz_str s)
{
    char text[INET6_ADDRSTRLEN];
    struct in6_addr address;

    if (!s.len || s.len >= sizeof(text) || memchr(s.ptr, 0, s.len)) {
        return false;
    }
    memcpy(text, s.ptr, s.len);
    text[s.len] = 0;
    return inet_pton(AF_INET6, text, &address) == 1;
}

bool btz_http_is_host(struct btz_str s)
{
    bool brackets = s.len && s.ptr[0] == '[';
    const char *end = brackets ? memchr(s.ptr, ']', s.len) : NULL;
    size_t len = 0;

    if (brackets) {
        if (!end || !is_ipv6(btz_str_sub(s, 1, (size_t)(end - s.ptr) - 1))) {
            return false;
        }
        len = (size_t)(end - s.ptr) + 1;
    } else {
        /* RFC 3986 would let sub-delims and percent codes into a name; no host name has them. */
        while (len < s.len && (is_alnum(s.ptr[len]) || is_one_of(s.ptr[len], "-._"))) {
            len++;
        }
    }
    if (!len || len == s.len) {
        return len > 0;
    }
    return s.ptr[len] == ':' && is_port(btz_str_sub(s, len + 1, s.len));
}

bool btz_http_read_connection(struct btz_str value, bool *close, bool *upgrade)
{
    struct btz_str part;

    while (btz_str_cut(&value, ',', &part)) {
        part = btz_http_trim(part);
        if (part.len && !btz_http_is_token(part)) {
            return false;
        }
        *close = *close || btz_http_same_name(part, "close");
        *upgrade = *upgrade || btz_http_same_name(part, "upgrade");
    }
    return true;
}

bool btz_http_is_bodiless(int status)
{
    return status < 200 || status == 204 || status == 304;
}
