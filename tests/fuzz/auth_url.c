/* Fuzz target: a URL, a Location against it, and one address. What the strict guard allows is https
 * to a public place; numbers in the host mean what inet_aton says. Lines: URL, Location, address.
 */
#include <arpa/inet.h>
#include <stdint.h>

#include "auth/url.h"

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            btz_panic("broken: %s", #condition);                                                   \
        }                                                                                          \
    } while (0)

static const struct btz_auth_guard strict = {.development = false};
static const struct btz_auth_guard development = {.development = true};

/* No reader but ours takes part here: the C library's is asked about every host. */
static void compare_v4(const struct btz_auth_url *url)
{
    char host[256];
    struct in_addr theirs;
    struct in_addr mine;

    if (!url->has_authority || url->host.len == 0 || url->host.len >= sizeof(host) ||
        (url->is_address && url->address.v6)) {
        return;
    }
    memcpy(host, url->host.ptr, url->host.len);
    host[url->host.len] = '\0';
    if (host[url->host.len - 1] == '.') {
        host[url->host.len - 1] = '\0';
    }
    if (inet_aton(host, &theirs)) {
        MUST(url->is_address);
        memcpy(&mine, url->address.bytes, 4);
        MUST(mine.s_addr == theirs.s_addr);
    } else {
        MUST(!url->is_address);
    }
}

static void check(struct btz_str text, const struct btz_auth_address *address, bool has_address)
{
    enum btz_auth_verdict before = btz_auth_guard_url(&strict, text);
    enum btz_auth_verdict after =
        btz_auth_guard_resolved(&strict, text, address, has_address ? 1 : 0);
    struct btz_auth_url url;
    char out[46];

    if (btz_auth_url_parse(text, &url) != BTZ_OK) {
        MUST(before == BTZ_AUTH_NO_URL && after == BTZ_AUTH_NO_URL);
        return;
    }
    compare_v4(&url);
    MUST(before == BTZ_AUTH_ALLOWED || after == before);
    MUST(btz_auth_verdict_text(after)[0]);
    if (after == BTZ_AUTH_ALLOWED) {
        const struct btz_auth_address *used = url.is_address ? &url.address : address;

        MUST(btz_auth_url_is_scheme(&url, "https") && !url.has_user && !url.has_fragment);
        MUST(btz_auth_address_place(used) == BTZ_AUTH_PUBLIC);
        MUST(btz_auth_guard_resolved(&development, text, address, 1) == BTZ_AUTH_ALLOWED);
    }
    if (url.is_address) {
        struct btz_auth_address again;

        (void)btz_auth_address_text(&url.address, out);
        MUST(!(url.address.v6 ? btz_auth_address_v6(btz_str_of(out), &again)
                              : btz_auth_address_v4(btz_str_of(out), &again)));
        MUST(btz_auth_address_place(&again) == btz_auth_address_place(&url.address));
        MUST(btz_auth_place_name(btz_auth_address_place(&again))[0]);
    }
    MUST(!url.has_authority || btz_auth_url_same_origin(&url, &url));
    if (btz_auth_url_covers(text, text)) {
        MUST(url.has_authority && !url.has_fragment);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct btz_str rest = {(const char *)data, size};
    struct btz_str base = BTZ_STR_NONE;
    struct btz_str location = BTZ_STR_NONE;
    struct btz_str number = BTZ_STR_NONE;
    struct btz_auth_address address;
    struct btz_arena *arena = btz_arena_new();
    struct btz_str resolved;
    bool has_address;

    (void)btz_str_cut(&rest, '\n', &base);
    (void)btz_str_cut(&rest, '\n', &location);
    (void)btz_str_cut(&rest, '\n', &number);
    has_address = btz_auth_address_v4(number, &address) == BTZ_OK ||
                  btz_auth_address_v6(number, &address) == BTZ_OK;
    if (!has_address) {
        (void)!btz_auth_address_v4(BTZ_STR("10.0.0.1"), &address);
    }
    check(base, &address, has_address);
    check(location, &address, has_address);
    (void)btz_auth_url_covers(base, location);
    (void)btz_auth_guard_open(&(struct btz_auth_guard){.any_scheme = true}, base);
    (void)btz_auth_guard_open(&strict, base);
    if (btz_auth_url_resolve(arena, base, location, &resolved) == BTZ_OK) {
        struct btz_auth_url url;

        MUST(btz_auth_url_parse(resolved, &url) == BTZ_OK);
    }
    btz_arena_free(arena);
    return 0;
}
