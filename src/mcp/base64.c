#include "mcp/base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

struct btz_str btz_mcp_base64(struct btz_arena *arena, struct btz_str bytes)
{
    const unsigned char *in = (const unsigned char *)bytes.ptr;
    size_t len = (bytes.len + 2) / 3 * 4;
    char *out = btz_arena_alloc(arena, len + 1);
    char *to = out;

    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t left = bytes.len - i;
        unsigned group = (unsigned)in[i] << 16 | (left > 1 ? (unsigned)in[i + 1] << 8 : 0) |
                         (left > 2 ? (unsigned)in[i + 2] : 0);

        *to++ = alphabet[group >> 18];
        *to++ = alphabet[group >> 12 & 63];
        *to++ = left > 1 ? alphabet[group >> 6 & 63] : '=';
        *to++ = left > 2 ? alphabet[group & 63] : '=';
    }
    out[len] = '\0';
    return (struct btz_str){out, len};
}

static int digit(char c)
{
    const char *at = c ? strchr(alphabet, c) : NULL;

    return at ? (int)(at - alphabet) : -1;
}

int btz_mcp_unbase64(struct btz_arena *arena, struct btz_str text, struct btz_str *bytes)
{
    size_t pad = btz_str_ends(text, BTZ_STR("==")) ? 2 : btz_str_ends(text, BTZ_STR("=")) ? 1 : 0;
    size_t len = text.len / 4 * 3 - (text.len ? pad : 0);
    char *out = btz_arena_alloc(arena, text.len + 1);
    char *to = out;
    unsigned bits = 0;

    if (text.len % 4) {
        return BTZ_EINVAL;
    }
    for (size_t i = 0; i < text.len; i++) {
        int value = i >= text.len - pad ? 0 : digit(text.ptr[i]);

        if (value < 0) {
            return BTZ_EINVAL;
        }
        bits = bits << 6 | (unsigned)value;
        if (i % 4 == 3) {
            *to++ = (char)(bits >> 16 & 255);
            *to++ = (char)(bits >> 8 & 255);
            *to++ = (char)(bits & 255);
        }
    }
    for (size_t i = len; i < text.len / 4 * 3; i++) {
        if (out[i]) {
            return BTZ_EINVAL; /* bits behind the end */
        }
    }
    out[len] = '\0';
    *bytes = (struct btz_str){out, len};
    return BTZ_OK;
}
