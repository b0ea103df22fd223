/* URLs that came from somebody else: a strict reader and the guard that says whether a client may
 * fetch or open one. No I/O: whoever resolves names hands the addresses in, and connects to these
 * and no others.
 *
 * Grammar: RFC 3986, absolute, ASCII, at most 2,048 bytes; in an authority no user part, no
 * percent-encoding, no IPv6 zone. Rules: design brief 2.6 and 4 (3, 7); RFC 9728 section 7.7. */
#ifndef BTZ_AUTH_URL_H
#define BTZ_AUTH_URL_H

#include "auth/address.h"
#include "base/arena.h"

enum { BTZ_AUTH_URL_MAX = 2048 };

/* Views into the text. */
struct btz_auth_url {
    struct btz_str scheme; /* as written; compare without case */
    bool has_authority;    /* "//" follows the scheme */
    bool has_user;         /* there is an '@' in the authority */
    struct btz_str host;   /* without brackets; empty without authority */
    bool is_address;       /* `host` is an IP address in some notation: `address` */
    struct btz_auth_address address;
    unsigned port;            /* as given, else 443 for https, 80 for http, else 0 */
    struct btz_str authority; /* host and port as written */
    struct btz_str path;      /* may be empty */
    struct btz_str query;     /* without '?'; `has_query` */
    bool has_query, has_fragment;
};

/* BTZ_EINVAL if `text` breaks the grammar, BTZ_ELIMIT if it is too long. */
int btz_auth_url_parse(struct btz_str text, struct btz_auth_url *out) BTZ_WARN_UNUSED;
bool btz_auth_url_is_scheme(const struct btz_auth_url *url, const char *scheme); /* lower case */
/* Same scheme, host (case ignored) and port. */
bool btz_auth_url_same_origin(const struct btz_auth_url *a, const struct btz_auth_url *b);

/* Whether `resource`, which metadata claims to be about, covers the address `target` that was
 * asked: the same origin, and its path equal to that of the target or whole leading segments of it
 * (RFC 9728 section 3.3; design brief 2.6). With a query, path and query are equal. No fragment. */
bool btz_auth_url_covers(struct btz_str resource, struct btz_str target);

/* The address that a Location value means against the address that was asked: absolute, or with
 * the origin of `base` if it begins with one '/'; other references are BTZ_EINVAL. */
int btz_auth_url_resolve(struct btz_arena *arena, struct btz_str base, struct btz_str location,
                         struct btz_str *out) BTZ_WARN_UNUSED;

/* Why an address may not be used. */
enum btz_auth_verdict {
    BTZ_AUTH_ALLOWED,
    BTZ_AUTH_NO_URL,     /* grammar or length */
    BTZ_AUTH_BAD_SCHEME, /* neither https nor http: javascript, data, file, ... */
    BTZ_AUTH_NOT_SECURE, /* http, and not to loopback in development */
    BTZ_AUTH_HAS_USER,   /* a user part, which hides the host from people */
    BTZ_AUTH_HAS_FRAGMENT,
    BTZ_AUTH_BAD_PLACE, /* the host, or what it resolves to, is no public address */
    BTZ_AUTH_NO_ADDRESS /* the name resolves to nothing */
};
const char *btz_auth_verdict_text(enum btz_auth_verdict verdict); /* for people; never NULL */

/* All false is the safe way. */
struct btz_auth_guard {
    bool development; /* loopback hosts are allowed, and http to them */
    /* Leniencies, for lab host profiles. */
    bool any_scheme; /* in what is opened */
    bool any_place;  /* in what is fetched first, plain http too; for redirects see auth/flow.h */
};

/* What can be said before the name is resolved: grammar, scheme, and the place of a host that is an
 * address or a loopback name ("localhost" and below, RFC 6761). */
enum btz_auth_verdict btz_auth_guard_url(const struct btz_auth_guard *guard, struct btz_str url);
/* The same and the addresses of its host, of which every one has to be allowed. A host that is an
 * address itself needs none. */
enum btz_auth_verdict btz_auth_guard_resolved(const struct btz_auth_guard *guard,
                                              struct btz_str url,
                                              const struct btz_auth_address *addresses,
                                              size_t count);
/* What may be opened in a browser: as _guard_url, by scheme, grammar and literal address. */
enum btz_auth_verdict btz_auth_guard_open(const struct btz_auth_guard *guard, struct btz_str url);

#endif
