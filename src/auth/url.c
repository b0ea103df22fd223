#include "auth/url.h"

#include <strings.h>

static bool is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* unreserved, sub-delims and what `more` adds; RFC 3986 section 2. */
static bool is_plain(char c, const char *more)
{
    return c && (is_alpha(c) || is_digit(c) || strchr("-._~!$&'()*+,;=", c) || strchr(more, c));
}

static bool is_part(struct btz_str part, const char *more)
{
    for (size_t i = 0; i < part.len; i++) {
        if (part.ptr[i] == '%') {
            if (part.len - i < 3 || btz_hex_value((unsigned char)part.ptr[i + 1]) < 0 ||
                btz_hex_value((unsigned char)part.ptr[i + 2]) < 0) {
                return false;
            }
            i += 2;
        } else if (!is_plain(part.ptr[i], more)) {
            return false;
        }
    }
    return true;
}

static bool same_text(struct btz_str a, struct btz_str b)
{
    return a.len == b.len && (a.len == 0 || strncasecmp(a.ptr, b.ptr, a.len) == 0);
}

/* Labels of letters, digits, '-' and '_', with one dot behind the last allowed. */
static bool is_name(struct btz_str host)
{
    struct btz_str rest = host;
    struct btz_str label;

    if (host.len == 0 || host.len > 253 || btz_str_ends(host, BTZ_STR(".."))) {
        return false;
    }
    while (btz_str_cut(&rest, '.', &label)) {
        bool last = !rest.ptr || !rest.len;

        if (label.len > 63 || (label.len == 0 && !(last && label.ptr != host.ptr))) {
            return false;
        }
        for (size_t i = 0; i < label.len; i++) {
            if (!is_alpha(label.ptr[i]) && !is_digit(label.ptr[i]) && label.ptr[i] != '-' &&
                label.ptr[i] != '_') {
                return false;
            }
        }
    }
    return true;
}

/* A host whose last label begins with a digit is meant as an address by some resolver (WHATWG URL,
 * "ends in a number"): it must be one. */
static bool ends_in_number(struct btz_str host)
{
    size_t begin;

    if (host.len && host.ptr[host.len - 1] == '.') {
        host.len--;
    }
    for (begin = host.len; begin > 0 && host.ptr[begin - 1] != '.'; begin--) {
    }
    return begin < host.len && is_digit(host.ptr[begin]);
}

static bool take_host(struct btz_str host, struct btz_auth_url *url)
{
    struct btz_str bare = host;

    url->host = host;
    if (bare.len && bare.ptr[bare.len - 1] == '.') {
        bare.len--;
    }
    url->is_address = btz_auth_address_v4(bare, &url->address) == BTZ_OK;
    return url->is_address || (is_name(host) && !ends_in_number(host));
}

static bool take_port(struct btz_str text, struct btz_auth_url *url)
{
    int64_t port = 0;

    if (text.len == 0 || text.len > 5 || !is_digit(text.ptr[0]) ||
        btz_str_int64(text, &port) != BTZ_OK || port < 1 || port > 65535) {
        return false;
    }
    url->port = (unsigned)port;
    return true;
}

static bool take_authority(struct btz_str authority, struct btz_auth_url *url)
{
    struct btz_str rest = authority;
    struct btz_str host;
    const char *at = authority.len ? memrchr(authority.ptr, '@', authority.len) : NULL;

    if (at) {
        size_t user = (size_t)(at - authority.ptr);

        url->has_user = true;
        if (!is_part(btz_str_sub(authority, 0, user), ":")) {
            return false;
        }
        rest = btz_str_sub(authority, user + 1, authority.len);
    }
    url->authority = rest;
    if (rest.len && rest.ptr[0] == '[') {
        ptrdiff_t end = btz_str_find(rest, BTZ_STR("]"));

        if (end < 0) {
            return false;
        }
        url->host = btz_str_sub(rest, 1, (size_t)end - 1);
        url->is_address = true;
        rest = btz_str_sub(rest, (size_t)end + 1, rest.len);
        return btz_auth_address_v6(url->host, &url->address) == BTZ_OK &&
               (rest.len == 0 ||
                (rest.ptr[0] == ':' && take_port(btz_str_sub(rest, 1, rest.len), url)));
    }
    (void)btz_str_cut(&rest, ':', &host);
    return (!rest.ptr || take_port(rest, url)) && take_host(host, url);
}

/* Cuts the scheme off the front; false if there is none. */
static bool take_scheme(struct btz_str *rest, struct btz_auth_url *url)
{
    size_t len = 0;

    while (len < rest->len && (is_alpha(rest->ptr[len]) ||
                               (len && (is_digit(rest->ptr[len]) || rest->ptr[len] == '+' ||
                                        rest->ptr[len] == '-' || rest->ptr[len] == '.')))) {
        len++;
    }
    if (len == 0 || len == rest->len || rest->ptr[len] != ':') {
        return false;
    }
    url->scheme = btz_str_sub(*rest, 0, len);
    *rest = btz_str_sub(*rest, len + 1, rest->len);
    return true;
}

/* Cuts the part from `mark` on off the end. */
static bool cut_tail(struct btz_str *rest, char mark, struct btz_str *tail)
{
    const char *at = rest->len ? memchr(rest->ptr, mark, rest->len) : NULL;

    if (!at) {
        return false;
    }
    *tail = btz_str_sub(*rest, (size_t)(at - rest->ptr) + 1, rest->len);
    rest->len = (size_t)(at - rest->ptr);
    return true;
}

int btz_auth_url_parse(struct btz_str text, struct btz_auth_url *out)
{
    struct btz_auth_url url = {.port = 0};
    struct btz_str rest = text;
    struct btz_str fragment = BTZ_STR_NONE;

    if (text.len > BTZ_AUTH_URL_MAX) {
        return BTZ_ELIMIT;
    }
    url.has_fragment = cut_tail(&rest, '#', &fragment);
    if (!take_scheme(&rest, &url) || !is_part(fragment, ":@/?")) {
        return BTZ_EINVAL;
    }
    url.has_query = cut_tail(&rest, '?', &url.query);
    if (btz_str_starts(rest, BTZ_STR("//"))) {
        const char *slash;
        struct btz_str authority;

        rest = btz_str_sub(rest, 2, rest.len);
        slash = rest.len ? memchr(rest.ptr, '/', rest.len) : NULL;
        authority = btz_str_sub(rest, 0, slash ? (size_t)(slash - rest.ptr) : rest.len);
        rest = btz_str_sub(rest, authority.len, rest.len);
        url.has_authority = true;
        url.port = btz_auth_url_is_scheme(&url, "https")  ? 443
                   : btz_auth_url_is_scheme(&url, "http") ? 80
                                                          : 0;
        if (authority.len ? !take_authority(authority, &url) : url.port != 0) {
            return BTZ_EINVAL;
        }
    }
    url.path = rest;
    if (!is_part(url.path, ":@/") || !is_part(url.query, ":@/?")) {
        return BTZ_EINVAL;
    }
    *out = url;
    return BTZ_OK;
}

bool btz_auth_url_is_scheme(const struct btz_auth_url *url, const char *scheme)
{
    return same_text(url->scheme, btz_str_of(scheme));
}

bool btz_auth_url_same_origin(const struct btz_auth_url *a, const struct btz_auth_url *b)
{
    return a->has_authority && b->has_authority && same_text(a->scheme, b->scheme) &&
           same_text(a->host, b->host) && a->port == b->port;
}

bool btz_auth_url_covers(struct btz_str resource, struct btz_str target)
{
    struct btz_auth_url r;
    struct btz_auth_url t;
    struct btz_str path;

    if (btz_auth_url_parse(resource, &r) != BTZ_OK || btz_auth_url_parse(target, &t) != BTZ_OK ||
        !btz_auth_url_same_origin(&r, &t) || r.has_fragment || r.has_user) {
        return false;
    }
    if (r.has_query) { /* of a part of a resource nothing is said */
        return t.has_query && btz_str_eq(r.query, t.query) && btz_str_eq(r.path, t.path);
    }
    path = r.path;
    if (path.len && path.ptr[path.len - 1] == '/') {
        path.len--;
    }
    return btz_str_starts(t.path, path) && (t.path.len == path.len || t.path.ptr[path.len] == '/');
}

int btz_auth_url_resolve(struct btz_arena *arena, struct btz_str base, struct btz_str location,
                         struct btz_str *out)
{
    struct btz_auth_url from;
    struct btz_auth_url to;

    if (btz_auth_url_parse(location, &to) == BTZ_OK) {
        *out = btz_arena_dup(arena, location);
        return BTZ_OK;
    }
    if (!btz_str_starts(location, BTZ_STR("/")) || btz_str_starts(location, BTZ_STR("//")) ||
        location.len > BTZ_AUTH_URL_MAX || btz_auth_url_parse(base, &from) != BTZ_OK ||
        !from.has_authority) {
        return BTZ_EINVAL;
    }
    location = btz_arena_printf(arena, "%.*s://%.*s%.*s", BTZ_FMT(from.scheme),
                                BTZ_FMT(from.authority), BTZ_FMT(location));
    if (btz_auth_url_parse(location, &to) != BTZ_OK) {
        return BTZ_EINVAL;
    }
    *out = location;
    return BTZ_OK;
}

const char *btz_auth_verdict_text(enum btz_auth_verdict verdict)
{
    static const char *const texts[] = {
        "allowed",
        "not an absolute URL",
        "its scheme is not https",
        "http is for loopback hosts in development only",
        "it has a user part",
        "it has a fragment",
        "its host is no public address",
        "its host has no address",
    };

    return texts[verdict];
}

static bool is_loopback_name(struct btz_str host)
{
    struct btz_str bare = host;

    if (bare.len && bare.ptr[bare.len - 1] == '.') {
        bare.len--;
    }
    if (bare.len > 9) {
        if (bare.ptr[bare.len - 10] != '.') {
            return false;
        }
        bare = btz_str_sub(bare, bare.len - 9, 9);
    }
    return same_text(bare, BTZ_STR("localhost"));
}

static bool place_allowed(const struct btz_auth_guard *guard,
                          const struct btz_auth_address *address)
{
    enum btz_auth_place place = btz_auth_address_place(address);

    return guard->any_place || place == BTZ_AUTH_PUBLIC ||
           (guard->development && place == BTZ_AUTH_LOOPBACK);
}

static enum btz_auth_verdict judge(const struct btz_auth_guard *guard, struct btz_str text,
                                   struct btz_auth_url *url)
{
    bool loopback;

    if (btz_auth_url_parse(text, url) != BTZ_OK) {
        return BTZ_AUTH_NO_URL;
    }
    if (!btz_auth_url_is_scheme(url, "https") && !btz_auth_url_is_scheme(url, "http")) {
        return BTZ_AUTH_BAD_SCHEME;
    }
    if (!url->has_authority) {
        return BTZ_AUTH_NO_URL;
    }
    if (url->has_user) {
        return BTZ_AUTH_HAS_USER;
    }
    if (url->has_fragment) {
        return BTZ_AUTH_HAS_FRAGMENT;
    }
    loopback = url->is_address ? btz_auth_address_place(&url->address) == BTZ_AUTH_LOOPBACK
                               : is_loopback_name(url->host);
    if (loopback && !guard->development && !guard->any_place) {
        return BTZ_AUTH_BAD_PLACE;
    }
    if (url->is_address && !place_allowed(guard, &url->address)) {
        return BTZ_AUTH_BAD_PLACE;
    }
    return btz_auth_url_is_scheme(url, "https") || guard->any_place ||
                   (loopback && guard->development)
               ? BTZ_AUTH_ALLOWED
               : BTZ_AUTH_NOT_SECURE;
}

enum btz_auth_verdict btz_auth_guard_url(const struct btz_auth_guard *guard, struct btz_str text)
{
    struct btz_auth_url url;

    return judge(guard, text, &url);
}

enum btz_auth_verdict btz_auth_guard_resolved(const struct btz_auth_guard *guard,
                                              struct btz_str text,
                                              const struct btz_auth_address *addresses,
                                              size_t count)
{
    struct btz_auth_url url;
    enum btz_auth_verdict verdict = judge(guard, text, &url);
    bool plain;

    if (verdict != BTZ_AUTH_ALLOWED || url.is_address) {
        return verdict;
    }
    plain = !btz_auth_url_is_scheme(&url, "https") && !guard->any_place;
    for (size_t i = 0; i < count; i++) {
        enum btz_auth_place place = btz_auth_address_place(&addresses[i]);

        /* A name of this machine must stay on it; every other name must leave it. */
        if (!place_allowed(guard, &addresses[i]) || (plain && place != BTZ_AUTH_LOOPBACK) ||
            (place == BTZ_AUTH_LOOPBACK && !guard->any_place && !is_loopback_name(url.host))) {
            return BTZ_AUTH_BAD_PLACE;
        }
    }
    return count ? BTZ_AUTH_ALLOWED : BTZ_AUTH_NO_ADDRESS;
}

enum btz_auth_verdict btz_auth_guard_open(const struct btz_auth_guard *guard, struct btz_str text)
{
    struct btz_auth_url url;

    if (guard->any_scheme) {
        return text.len && text.len <= BTZ_AUTH_URL_MAX ? BTZ_AUTH_ALLOWED : BTZ_AUTH_NO_URL;
    }
    return judge(guard, text, &url);
}
