/* Fuzz target: first byte chooses what the rest is.
 *   0 a received header value: what decodes is encoded and decoded back to itself
 *   1 an inputSchema with arguments: {"schema":...,"arguments":...}; what is sent is accepted
 *   2 a sealed request state: it opens only if it was sealed here */
#include <stdint.h>
#include <stdlib.h>

#include "mcp/param_header.h"
#include "mcp/state.h"

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            btz_panic("broken: %s", #condition);                                                   \
        }                                                                                          \
    } while (0)

static void value(struct btz_arena *arena, struct btz_str raw)
{
    struct btz_str plain;
    struct btz_str again;
    struct btz_str wire;

    if (btz_mcp_header_decode(arena, raw, &plain) ||
        btz_mcp_header_encode(arena, plain, &wire) == BTZ_ELIMIT) {
        return;
    }
    for (size_t i = 0; i < wire.len; i++) {
        MUST(wire.ptr[i] >= 0x20 && wire.ptr[i] <= 0x7E);
    }
    MUST(!btz_mcp_header_decode(arena, wire, &again) && btz_str_eq(plain, again));
}

static void schema(struct btz_arena *arena, struct btz_str text)
{
    const struct btz_json *root;
    const struct btz_json *arguments;
    const struct btz_mcp_param *fields;
    size_t count;

    if (btz_json_parse(arena, text, NULL, &root, NULL)) {
        return;
    }
    arguments = btz_json_getz(root, "arguments");
    if (!btz_mcp_param_fields(arena, btz_json_getz(root, "schema"), arguments, &fields, &count,
                              NULL)) {
        MUST(count <= BTZ_MCP_MAX_PARAM_HEADERS);
        MUST(!btz_mcp_param_check(arena, btz_json_getz(root, "schema"), arguments, fields, count,
                                  NULL));
    }
}

static void state(struct btz_arena *arena, struct btz_str text)
{
    static const struct btz_mcp_state_binding binding = {
        .method = {"tools/call", 10}, .name = {"t", 1}, .principal = {"p", 1}};
    const struct btz_str key = BTZ_STR("0123456789abcdef");
    struct btz_str sealed;
    struct btz_str payload;

    MUST(btz_mcp_state_open(arena, key, &binding, text, 5, &payload) == BTZ_EINVAL);
    MUST(!btz_mcp_state_seal(arena, key, &binding, text, 1, 9, &sealed));
    MUST(!btz_mcp_state_open(arena, key, &binding, sealed, 5, &payload));
    MUST(btz_str_eq(payload, text));
    MUST(btz_mcp_state_open(arena, key, &binding, sealed, 10, &payload) == BTZ_ETIMEOUT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct btz_arena *arena;
    struct btz_str rest;

    if (size < 2 || size > 20000) {
        return 0;
    }
    arena = btz_arena_new();
    rest = (struct btz_str){(const char *)data + 1, size - 1};
    switch (data[0] % 3) {
    case 0:
        value(arena, rest);
        break;
    case 1:
        schema(arena, rest);
        break;
    default:
        state(arena, rest);
        break;
    }
    btz_arena_free(arena);
    return 0;
}
