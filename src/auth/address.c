#include "auth/address.h"

#include <arpa/inet.h>
#include <stdio.h>

/* One part of inet_aton: decimal, 0 octal, 0x hexadecimal. An empty part or digit is none. */
static bool number(struct btz_str part, uint64_t *out)
{
    unsigned base = 10;
    uint64_t value = 0;

    if (part.len > 1 && part.ptr[0] == '0') {
        bool hex = part.ptr[1] == 'x' || part.ptr[1] == 'X';

        base = hex ? 16 : 8;
        part = btz_str_sub(part, hex ? 2 : 1, part.len);
    }
    if (part.len == 0) {
        return false;
    }
    for (size_t i = 0; i < part.len; i++) {
        int digit = btz_hex_value((unsigned char)part.ptr[i]);

        if (digit < 0 || (unsigned)digit >= base) {
            return false;
        }
        value = value * base + (unsigned)digit;
        if (value > UINT32_MAX) {
            return false;
        }
    }
    *out = value;
    return true;
}

int btz_auth_address_v4(struct btz_str text, struct btz_auth_address *out)
{
    struct btz_str rest = text;
    struct btz_str part;
    uint64_t parts[4];
    uint64_t value = 0;
    size_t count = 0;

    while (btz_str_cut(&rest, '.', &part)) {
        if (count == 4 || !number(part, &parts[count++])) {
            return BTZ_EINVAL;
        }
    }
    for (size_t i = 0; i + 1 < count; i++) {
        if (parts[i] > 255) {
            return BTZ_EINVAL;
        }
        value |= parts[i] << (24 - 8 * i);
    }
    if (count == 0 || parts[count - 1] >> (8 * (5 - count))) {
        return BTZ_EINVAL;
    }
    value |= parts[count - 1];
    *out = (struct btz_auth_address){.bytes = {(uint8_t)(value >> 24), (uint8_t)(value >> 16),
                                               (uint8_t)(value >> 8), (uint8_t)value}};
    return BTZ_OK;
}

int btz_auth_address_v6(struct btz_str text, struct btz_auth_address *out)
{
    struct btz_auth_address address = {.v6 = true};
    char copy[INET6_ADDRSTRLEN];

    if (text.len == 0 || text.len >= sizeof(copy) || memchr(text.ptr, 0, text.len)) {
        return BTZ_EINVAL;
    }
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    if (inet_pton(AF_INET6, copy, address.bytes) != 1) {
        return BTZ_EINVAL;
    }
    *out = address;
    return BTZ_OK;
}

/* `bits` leading bits of `bytes` are those of `prefix`. */
struct range {
    uint8_t prefix[8];
    unsigned bits;
    enum btz_auth_place place;
};

static bool within(const uint8_t *bytes, const struct range *range)
{
    unsigned whole = range->bits / 8;
    unsigned rest = range->bits % 8;

    return memcmp(bytes, range->prefix, whole) == 0 &&
           (rest == 0 || (bytes[whole] ^ range->prefix[whole]) >> (8 - rest) == 0);
}

/* First match counts. */
static const struct range v4_ranges[] = {
    {{169, 254, 169, 254}, 32, BTZ_AUTH_METADATA},
    {{169, 254, 170, 2}, 32, BTZ_AUTH_METADATA},
    {{100, 100, 100, 200}, 32, BTZ_AUTH_METADATA},
    {{168, 63, 129, 16}, 32, BTZ_AUTH_METADATA},
    {{127}, 8, BTZ_AUTH_LOOPBACK},
    {{169, 254}, 16, BTZ_AUTH_LINK_LOCAL},
    {{10}, 8, BTZ_AUTH_PRIVATE},
    {{172, 16}, 12, BTZ_AUTH_PRIVATE},
    {{192, 168}, 16, BTZ_AUTH_PRIVATE},
    {{100, 64}, 10, BTZ_AUTH_PRIVATE},
    {{0}, 8, BTZ_AUTH_RESERVED},
    {{192, 0, 0}, 24, BTZ_AUTH_RESERVED},
    {{192, 0, 2}, 24, BTZ_AUTH_RESERVED},
    {{192, 88, 99}, 24, BTZ_AUTH_RESERVED},
    {{198, 18}, 15, BTZ_AUTH_RESERVED},
    {{198, 51, 100}, 24, BTZ_AUTH_RESERVED},
    {{203, 0, 113}, 24, BTZ_AUTH_RESERVED},
    {{224}, 3, BTZ_AUTH_RESERVED},
};

static const struct range v6_ranges[] = {
    {{0xFE, 0x80}, 10, BTZ_AUTH_LINK_LOCAL},
    {{0xFC}, 7, BTZ_AUTH_PRIVATE},
    {{0xFE, 0xC0}, 10, BTZ_AUTH_PRIVATE},
    {{0, 0x64, 0xFF, 0x9B, 0, 1}, 48, BTZ_AUTH_PRIVATE},
    {{0x20, 1, 0x0D, 0xB8}, 32, BTZ_AUTH_RESERVED},
    {{0x3F, 0xFF}, 20, BTZ_AUTH_RESERVED},
    {{0x20, 1}, 23, BTZ_AUTH_RESERVED}, /* protocol assignments, Teredo too */
    {{0x20}, 3, BTZ_AUTH_PUBLIC},
};

static const uint8_t metadata_v6[16] = {0xFD, 0, 0x0E, 0xC2, [14] = 2, [15] = 0x54};

static enum btz_auth_place place_v4(const uint8_t *bytes)
{
    for (size_t i = 0; i < sizeof(v4_ranges) / sizeof(v4_ranges[0]); i++) {
        if (within(bytes, &v4_ranges[i])) {
            return v4_ranges[i].place;
        }
    }
    return BTZ_AUTH_PUBLIC;
}

static bool zeros(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i]) {
            return false;
        }
    }
    return true;
}

/* The IPv4 address that an IPv6 address carries, or NULL. */
static const uint8_t *carried(const uint8_t *bytes)
{
    static const uint8_t nat64[12] = {0, 0x64, 0xFF, 0x9B};

    if (zeros(bytes, 10) && ((bytes[10] == 0xFF && bytes[11] == 0xFF) || zeros(bytes + 10, 2))) {
        return bytes + 12; /* mapped, compatible */
    }
    if (zeros(bytes, 8) && bytes[8] == 0xFF && bytes[9] == 0xFF && zeros(bytes + 10, 2)) {
        return bytes + 12; /* translated (SIIT) */
    }
    if (memcmp(bytes, nat64, sizeof(nat64)) == 0) {
        return bytes + 12;
    }
    return bytes[0] == 0x20 && bytes[1] == 2 ? bytes + 2 : NULL; /* 6to4 */
}

enum btz_auth_place btz_auth_address_place(const struct btz_auth_address *address)
{
    const uint8_t *bytes = address->bytes;
    const uint8_t *inner;

    if (!address->v6) {
        return place_v4(bytes);
    }
    if (zeros(bytes, 15) && bytes[15] <= 1) {
        return bytes[15] ? BTZ_AUTH_LOOPBACK : BTZ_AUTH_RESERVED;
    }
    if (memcmp(bytes, metadata_v6, sizeof(metadata_v6)) == 0) {
        return BTZ_AUTH_METADATA;
    }
    inner = carried(bytes);
    if (inner) {
        return place_v4(inner);
    }
    for (size_t i = 0; i < sizeof(v6_ranges) / sizeof(v6_ranges[0]); i++) {
        if (within(bytes, &v6_ranges[i])) {
            return v6_ranges[i].place;
        }
    }
    return BTZ_AUTH_RESERVED;
}

const char *btz_auth_place_name(enum btz_auth_place place)
{
    static const char *const names[] = {"public",  "loopback", "link-local",
                                        "private", "metadata", "reserved"};

    return names[place];
}

const char *btz_auth_address_text(const struct btz_auth_address *address, char *out)
{
    if (!inet_ntop(address->v6 ? AF_INET6 : AF_INET, address->bytes, out, INET6_ADDRSTRLEN)) {
        out[0] = '\0';
    }
    return out;
}
