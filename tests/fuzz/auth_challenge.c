/* Fuzz target: a WWW-Authenticate value; what is read of it, written again, must read back equal.
 */
#include <stdint.h>

#include "auth/challenge.h"

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            btz_panic("broken: %s", #condition);                                                   \
        }                                                                                          \
    } while (0)

static void write_param(struct btz_buf *out, const char *name, struct btz_str value)
{
    (void)btz_buf_printf(out, ", %s=\"", name);
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] == '"' || value.ptr[i] == '\\') {
            btz_buf_add_byte(out, '\\');
        }
        btz_buf_add_byte(out, value.ptr[i]);
    }
    btz_buf_add_byte(out, '"');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct btz_http_field field = {BTZ_STR("WWW-Authenticate"), {(const char *)data, size}};
    struct btz_arena *arena = btz_arena_new();
    struct btz_auth_challenge one;
    struct btz_auth_challenge two;
    struct btz_err err = {0};
    struct btz_buf text;
    int rc = btz_auth_challenge_parse(arena, field.value, &one, &err);

    MUST(rc == BTZ_OK || ((rc == BTZ_EINVAL || rc == BTZ_ELIMIT) && err.msg[0]));
    two = btz_auth_challenge_of(arena, &field, 1);
    MUST(two.bearer == (rc == BTZ_OK && one.bearer));
    if (rc == BTZ_OK && one.bearer) {
        btz_buf_init(&text, 1 << 20);
        btz_buf_add_text(&text, "Bearer x=y");
        write_param(&text, "realm", one.realm);
        write_param(&text, "resource_metadata", one.resource_metadata);
        write_param(&text, "scope", one.scope);
        write_param(&text, "error", one.error);
        write_param(&text, "error_description", one.error_description);
        if (text.len <= BTZ_AUTH_CHALLENGE_MAX) {
            MUST(!btz_auth_challenge_parse(arena, btz_buf_view(&text), &two, NULL) && two.bearer);
            MUST(btz_str_eq(one.realm, two.realm) && btz_str_eq(one.scope, two.scope));
            MUST(btz_str_eq(one.resource_metadata, two.resource_metadata));
            MUST(btz_str_eq(one.error, two.error));
            MUST(btz_str_eq(one.error_description, two.error_description));
        }
        btz_buf_fini(&text);
    }
    btz_arena_free(arena);
    return 0;
}
