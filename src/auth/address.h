/* IP addresses in every notation that some resolver takes, and what kind of place they name.
 *
 * IPv4: one to four parts, each decimal, octal (0...) or hexadecimal (0x...), the last one filling
 * what is left ("127.1", "0x7f000001", "2130706433"): the rules of inet_aton, POSIX 2008. IPv6: RFC
 * 4291 section 2.2, without zone. Addresses that carry another one (mapped, compatible, NAT64,
 * 6to4) are judged by what they carry. Ranges: IANA special-purpose address registries. */
#ifndef BTZ_AUTH_ADDRESS_H
#define BTZ_AUTH_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct btz_auth_address {
    bool v6;
    uint8_t bytes[16]; /* IPv4: the first four */
};

enum btz_auth_place {
    BTZ_AUTH_PUBLIC,
    BTZ_AUTH_LOOPBACK,
    BTZ_AUTH_LINK_LOCAL,
    BTZ_AUTH_PRIVATE,  /* also unique local, shared and site-local */
    BTZ_AUTH_METADATA, /* instance metadata of a cloud, wherever it lies */
    BTZ_AUTH_RESERVED  /* unspecified, multicast, documentation, benchmarks, not assigned */
};

/* BTZ_EINVAL if `text` is no IPv4 address in any notation / no IPv6 address (without brackets). */
int btz_auth_address_v4(struct btz_str text, struct btz_auth_address *out) BTZ_WARN_UNUSED;
int btz_auth_address_v6(struct btz_str text, struct btz_auth_address *out) BTZ_WARN_UNUSED;

enum btz_auth_place btz_auth_address_place(const struct btz_auth_address *address);
const char *btz_auth_place_name(enum btz_auth_place place); /* "public", ...; never NULL */

/* Usual text (dotted decimal; RFC 5952) into `out` of 46 bytes; returns `out`. */
const char *btz_auth_address_text(const struct btz_auth_address *address, char *out);

#endif
