#include "auth/form.h"

#include "base/hash.h"

static bool is_safe(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
}

static void escape(struct btz_buf *out, struct btz_str value)
{
    for (size_t i = 0; i < value.len; i++) {
        if (is_safe(value.ptr[i])) {
            btz_buf_add_byte(out, value.ptr[i]);
        } else {
            (void)btz_buf_printf(out, "%%%02X", (unsigned)(unsigned char)value.ptr[i]);
        }
    }
}

void btz_auth_form_add(struct btz_buf *out, const char *name, struct btz_str value)
{
    if (out->len) {
        btz_buf_add_byte(out, '&');
    }
    escape(out, btz_str_of(name));
    btz_buf_add_byte(out, '=');
    escape(out, value);
}

struct btz_str btz_auth_form_escape(struct btz_arena *arena, struct btz_str value)
{
    struct btz_buf text;
    struct btz_str out;

    btz_buf_init(&text, 3 * value.len + 1);
    escape(&text, value);
    out = btz_arena_dup(arena, btz_buf_view(&text));
    btz_buf_fini(&text);
    return out;
}

static int decode(struct btz_arena *arena, struct btz_str text, struct btz_str *out)
{
    char *bytes = btz_arena_alloc(arena, text.len + 1);
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (c == '%') {
            int high = i + 2 < text.len ? btz_hex_value((unsigned char)text.ptr[i + 1]) : -1;
            int low = i + 2 < text.len ? btz_hex_value((unsigned char)text.ptr[i + 2]) : -1;

            if (high < 0 || low < 0) {
                return BTZ_EINVAL;
            }
            c = (char)(high * 16 + low);
            i += 2;
        }
        bytes[len++] = c == '+' && text.ptr[i] == '+' ? ' ' : c;
    }
    *out = (struct btz_str){bytes, len};
    return BTZ_OK;
}

int btz_auth_form_get(struct btz_arena *arena, struct btz_str form, const char *name,
                      struct btz_str *out)
{
    struct btz_str rest = form;
    struct btz_str field;
    struct btz_str found = BTZ_STR_NONE;
    bool any = false;

    while (btz_str_cut(&rest, '&', &field)) {
        struct btz_str key;
        struct btz_str plain;

        (void)btz_str_cut(&field, '=', &key);
        if (decode(arena, key, &plain) != BTZ_OK || !btz_str_is(plain, name)) {
            continue;
        }
        if (any || decode(arena, field, &found) != BTZ_OK) {
            return BTZ_EINVAL;
        }
        any = true;
    }
    if (!any) {
        return BTZ_ENOTFOUND;
    }
    *out = found;
    return BTZ_OK;
}

static struct btz_str base64(struct btz_arena *arena, struct btz_str bytes, const char *last,
                             bool padded)
{
    static const char common[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    char *out = btz_arena_alloc(arena, (bytes.len + 2) / 3 * 4 + 1);
    size_t len = 0;

    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t left = bytes.len - i < 3 ? bytes.len - i : 3;
        uint32_t group = 0;

        for (size_t k = 0; k < 3; k++) {
            group = group << 8 | (k < left ? (unsigned char)bytes.ptr[i + k] : 0);
        }
        for (size_t k = 0; k < 4; k++) {
            uint32_t six = group >> (18 - 6 * k) & 63;

            if (k <= left) {
                out[len++] = six < 62 ? common[six] : last[six - 62];
            } else if (padded) {
                out[len++] = '=';
            }
        }
    }
    return (struct btz_str){out, len};
}

struct btz_str btz_auth_base64url(struct btz_arena *arena, struct btz_str bytes)
{
    return base64(arena, bytes, "-_", false);
}

struct btz_str btz_auth_base64(struct btz_arena *arena, struct btz_str bytes)
{
    return base64(arena, bytes, "+/", true);
}

struct btz_str btz_auth_code_challenge(struct btz_arena *arena, struct btz_str verifier)
{
    struct btz_hash hash = btz_hash_of(verifier);

    return btz_auth_base64url(arena,
                              (struct btz_str){(const char *)hash.bytes, sizeof(hash.bytes)});
}

bool btz_auth_scope_has(struct btz_str scopes, struct btz_str scope)
{
    struct btz_str rest = scopes;
    struct btz_str each;

    while (btz_str_cut(&rest, ' ', &each)) {
        if (each.len && btz_str_eq(each, scope)) {
            return true;
        }
    }
    return false;
}

/* Those of `scopes` that `out` lacks; with `only` those that stand there, too. */
static void add_scopes(struct btz_buf *out, struct btz_str scopes, const struct btz_str *only)
{
    struct btz_str rest = scopes;
    struct btz_str each;

    while (btz_str_cut(&rest, ' ', &each)) {
        if (each.len && (!only || btz_auth_scope_has(*only, each)) &&
            !btz_auth_scope_has(btz_buf_view(out), each)) {
            if (out->len) {
                btz_buf_add_byte(out, ' ');
            }
            btz_buf_add_str(out, each);
        }
    }
}

struct btz_str btz_auth_scope_union(struct btz_arena *arena, struct btz_str a, struct btz_str b)
{
    struct btz_buf text;
    struct btz_str out;

    btz_buf_init(&text, a.len + b.len + 2);
    add_scopes(&text, a, NULL);
    add_scopes(&text, b, NULL);
    out = btz_arena_dup(arena, btz_buf_view(&text));
    btz_buf_fini(&text);
    return out;
}

struct btz_str btz_auth_scope_beyond(struct btz_str scopes, struct btz_str allowed)
{
    struct btz_str rest = scopes;
    struct btz_str each;

    while (btz_str_cut(&rest, ' ', &each)) {
        if (each.len && !btz_auth_scope_has(allowed, each)) {
            return each;
        }
    }
    return BTZ_STR_NONE;
}

struct btz_str btz_auth_scope_common(struct btz_arena *arena, struct btz_str a, struct btz_str b)
{
    struct btz_buf text;
    struct btz_str out;

    btz_buf_init(&text, a.len + 2);
    add_scopes(&text, a, &b);
    out = btz_arena_dup(arena, btz_buf_view(&text));
    btz_buf_fini(&text);
    return out;
}

bool btz_auth_scope_is_valid(struct btz_str scopes)
{
    for (size_t i = 0; i < scopes.len; i++) {
        char c = scopes.ptr[i];

        if (c < 0x20 || c > 0x7E || c == '"' || c == '\\') {
            return false;
        }
    }
    return true;
}
