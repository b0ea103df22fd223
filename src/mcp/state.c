#include "mcp/state.h"

#include "base/buf.h"
#include "base/hash.h"
#include "mcp/base64.h"

#define BLOCK 64 /* bytes of a SHA-256 block */
#define LABEL "btz1"

/* A key of any length as one block (RFC 2104 section 2), mixed with `pad`. */
static void key_block(struct btz_str key, unsigned char pad, unsigned char *block)
{
    memset(block, 0, BLOCK);
    if (key.len > BLOCK) {
        struct btz_hash hash = btz_hash_of(key);

        memcpy(block, hash.bytes, sizeof(hash.bytes));
    } else {
        memcpy(block, key.ptr, key.len);
    }
    for (size_t i = 0; i < BLOCK; i++) {
        block[i] = (unsigned char)(block[i] ^ pad);
    }
}

static struct btz_hash hmac(struct btz_str key, struct btz_str text)
{
    unsigned char block[BLOCK];
    struct btz_hasher *hasher = btz_hasher_new();
    struct btz_hash hash;

    key_block(key, 0x36, block);
    btz_hasher_add(hasher, (struct btz_str){(const char *)block, BLOCK});
    btz_hasher_add(hasher, text);
    hash = btz_hasher_end(hasher);
    btz_hasher_reset(hasher);
    key_block(key, 0x5c, block);
    btz_hasher_add(hasher, (struct btz_str){(const char *)block, BLOCK});
    btz_hasher_add(hasher, (struct btz_str){(const char *)hash.bytes, sizeof(hash.bytes)});
    hash = btz_hasher_end(hasher);
    btz_hasher_free(hasher);
    return hash;
}

/* Length in front of each part: no two different bindings give the same text. */
static void add_part(struct btz_buf *out, struct btz_str part)
{
    btz_buf_printf(out, "%zu:", part.len);
    btz_buf_add_str(out, part);
}

/* Hex HMAC of everything a state is bound to. `head` is the visible part before the tag. */
static struct btz_str tag_of(struct btz_arena *arena, struct btz_str key,
                             const struct btz_mcp_state_binding *binding, struct btz_str head)
{
    struct btz_buf canonical;
    struct btz_buf text;
    struct btz_hash hash;
    char hex[65];

    btz_buf_init(&canonical, SIZE_MAX / 2);
    btz_buf_init(&text, SIZE_MAX / 2);
    if (btz_json_count(binding->arguments)) {
        (void)!btz_json_write_canonical(&canonical, binding->arguments);
    }
    hash = btz_hash_of(btz_buf_view(&canonical));
    add_part(&text, BTZ_STR("bartizan request state"));
    add_part(&text, binding->method);
    add_part(&text, binding->name);
    add_part(&text, btz_str_of(btz_hash_hex(&hash, hex)));
    add_part(&text, binding->principal);
    add_part(&text, head);
    hash = hmac(key, btz_buf_view(&text));
    btz_buf_fini(&canonical);
    btz_buf_fini(&text);
    return btz_arena_dup(arena, btz_str_of(btz_hash_hex(&hash, hex)));
}

int btz_mcp_state_seal(struct btz_arena *arena, struct btz_str key,
                       const struct btz_mcp_state_binding *binding, struct btz_str payload,
                       int64_t now, int64_t seconds, struct btz_str *out)
{
    struct btz_str head;

    if (key.len < BTZ_MCP_STATE_MIN_KEY || now < 0 || seconds <= 0 || seconds > INT64_MAX - now) {
        return BTZ_EINVAL;
    }
    if (payload.len > BTZ_MCP_STATE_MAX) {
        return BTZ_ELIMIT;
    }
    head = btz_arena_printf(arena, LABEL ".%lld.%.*s", (long long)(now + seconds),
                            BTZ_FMT(btz_mcp_base64(arena, payload)));
    *out = btz_arena_printf(arena, "%.*s.%.*s", BTZ_FMT(head),
                            BTZ_FMT(tag_of(arena, key, binding, head)));
    return BTZ_OK;
}

/* Without an early end: how long it takes says nothing about how much was right. */
static bool same_tag(struct btz_str a, struct btz_str b)
{
    unsigned char difference = a.len != b.len;

    for (size_t i = 0; i < a.len && i < b.len; i++) {
        difference = (unsigned char)(difference | (a.ptr[i] ^ b.ptr[i]));
    }
    return !difference;
}

int btz_mcp_state_open(struct btz_arena *arena, struct btz_str key,
                       const struct btz_mcp_state_binding *binding, struct btz_str sealed,
                       int64_t now, struct btz_str *payload)
{
    struct btz_str rest = sealed;
    struct btz_str label;
    struct btz_str expiry;
    struct btz_str body;
    int64_t until;

    if (key.len < BTZ_MCP_STATE_MIN_KEY || sealed.len > 2 * BTZ_MCP_STATE_MAX ||
        !btz_str_cut(&rest, '.', &label) || !btz_str_cut(&rest, '.', &expiry) ||
        !btz_str_cut(&rest, '.', &body) || !rest.ptr || !btz_str_is(label, LABEL)) {
        return BTZ_EINVAL;
    }
    if (!same_tag(rest,
                  tag_of(arena, key, binding, btz_str_sub(sealed, 0, sealed.len - rest.len - 1)))) {
        return BTZ_EINVAL;
    }
    if (btz_str_int64(expiry, &until) || btz_mcp_unbase64(arena, body, &body)) {
        return BTZ_EINVAL;
    }
    if (now >= until) {
        return BTZ_ETIMEOUT;
    }
    *payload = body;
    return BTZ_OK;
}
