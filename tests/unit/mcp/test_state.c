#include "helper.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>

#include "mcp/base64.h"
#include "mcp/state.h"

#define KEY BTZ_STR("0123456789abcdef")

static struct btz_mcp_state_binding bind(struct btz_arena *arena, const char *arguments)
{
    return (struct btz_mcp_state_binding){.method = BTZ_STR("tools/call"),
                                          .name = BTZ_STR("pay"),
                                          .arguments = json(arena, arguments),
                                          .principal = BTZ_STR("ann")};
}

static void round_trip(void **state)
{
    static const char *const payloads[] = {
        "", "a", "ab", "abc", "{\"step\":2}", "\x01\xff.\"\n bytes of any kind"};
    struct btz_arena *arena = btz_arena_new();
    struct btz_mcp_state_binding binding = bind(arena, "{\"a\":1,\"b\":[2]}");
    struct btz_mcp_state_binding other = bind(arena, "{\"b\":[2.0],\"a\":1}");

    (void)state;
    for (size_t i = 0; i < sizeof(payloads) / sizeof(payloads[0]); i++) {
        struct btz_str sealed;
        struct btz_str payload;

        assert_int_equal(
            btz_mcp_state_seal(arena, KEY, &binding, btz_str_of(payloads[i]), 1000, 60, &sealed),
            BTZ_OK);
        for (size_t j = 0; j < sealed.len; j++) {
            assert_true(sealed.ptr[j] > 0x20 && sealed.ptr[j] < 0x7F);
        }
        /* The order of members and the spelling of numbers do not matter. */
        assert_int_equal(btz_mcp_state_open(arena, KEY, &other, sealed, 1059, &payload), BTZ_OK);
        assert_text(payload, payloads[i]);
        assert_int_equal(btz_mcp_state_open(arena, KEY, &other, sealed, 1060, &payload),
                         BTZ_ETIMEOUT);
    }
    btz_arena_free(arena);
}

/* The tag is HMAC-SHA256 of what the source says, computed here by OpenSSL's own function. */
static void tag(void **state)
{
    static const char text[] = "22:bartizan request state10:tools/call3:pay"
                               "64:015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"
                               "3:ann14:btz1.1060.aGk=";
    static const char long_key[] =
        "a key that is longer than one block of SHA-256 has to be hashed before it is used, by RFC "
        "2104";
    static const char *const keys[] = {
        "0123456789abcdef", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        long_key};
    struct btz_arena *arena = btz_arena_new();
    struct btz_mcp_state_binding binding = bind(arena, "{\"a\":1}");

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        unsigned char digest[32];
        unsigned len = 0;
        char want[128];
        struct btz_str sealed;
        int at;

        assert_non_null(HMAC(EVP_sha256(), keys[i], (int)strlen(keys[i]),
                             (const unsigned char *)text, sizeof(text) - 1, digest, &len));
        at = snprintf(want, sizeof(want), "btz1.1060.aGk=.");
        for (unsigned j = 0; j < len; j++) {
            at += snprintf(want + at, sizeof(want) - (size_t)at, "%02x", digest[j]);
        }
        assert_int_equal(btz_mcp_state_seal(arena, btz_str_of(keys[i]), &binding, BTZ_STR("hi"),
                                            1000, 60, &sealed),
                         BTZ_OK);
        assert_text(sealed, want);
    }
    btz_arena_free(arena);
}

/* Every changed bit, every cut, and every other binding is refused. */
static void refused(void **state)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_mcp_state_binding binding = bind(arena, "{\"a\":1}");
    struct btz_mcp_state_binding others[5];
    struct btz_str sealed;
    struct btz_str payload;

    (void)state;
    assert_int_equal(
        btz_mcp_state_seal(arena, KEY, &binding, BTZ_STR("payload"), 1000, 60, &sealed), BTZ_OK);
    for (size_t i = 0; i < sealed.len; i++) {
        char *copy = btz_arena_cstr(arena, sealed);

        assert_int_equal(
            btz_mcp_state_open(arena, KEY, &binding, btz_str_sub(sealed, 0, i), 1000, &payload),
            BTZ_EINVAL);
        for (unsigned bit = 0; bit < 8; bit++) {
            copy[i] = (char)(sealed.ptr[i] ^ (1 << bit));
            assert_int_equal(btz_mcp_state_open(arena, KEY, &binding,
                                                (struct btz_str){copy, sealed.len}, 1000, &payload),
                             BTZ_EINVAL);
        }
    }
    for (size_t i = 0; i < 5; i++) {
        others[i] = binding;
    }
    others[0].method = BTZ_STR("prompts/get");
    others[1].name = BTZ_STR("pay2");
    others[2].arguments = json(arena, "{\"a\":2}");
    others[3].principal = BTZ_STR("bob");
    others[4].arguments = NULL;
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(btz_mcp_state_open(arena, KEY, &others[i], sealed, 1000, &payload),
                         BTZ_EINVAL);
    }
    assert_int_equal(
        btz_mcp_state_open(arena, BTZ_STR("0123456789abcdeF"), &binding, sealed, 1000, &payload),
        BTZ_EINVAL);
    assert_int_equal(btz_mcp_state_open(arena, KEY, &binding, BTZ_STR("v1.Zx"), 1000, &payload),
                     BTZ_EINVAL);
    btz_arena_free(arena);
}

/* No arguments and empty arguments are one request. */
static void empty_arguments(void **state)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_mcp_state_binding none = bind(arena, NULL);
    struct btz_mcp_state_binding empty = bind(arena, "{}");
    struct btz_str sealed;
    struct btz_str payload;

    (void)state;
    assert_int_equal(btz_mcp_state_seal(arena, KEY, &none, BTZ_STR("p"), 0, 1, &sealed), BTZ_OK);
    assert_int_equal(btz_mcp_state_open(arena, KEY, &empty, sealed, 0, &payload), BTZ_OK);
    btz_arena_free(arena);
}

static void bounds(void **state)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_mcp_state_binding binding = bind(arena, "{}");
    char *big = btz_arena_zalloc(arena, BTZ_MCP_STATE_MAX + 1);
    struct btz_str sealed;
    struct btz_str payload;

    (void)state;
    assert_int_equal(
        btz_mcp_state_seal(arena, BTZ_STR("short"), &binding, BTZ_STR("p"), 0, 1, &sealed),
        BTZ_EINVAL);
    assert_int_equal(btz_mcp_state_seal(arena, KEY, &binding, BTZ_STR("p"), 0, 0, &sealed),
                     BTZ_EINVAL);
    assert_int_equal(btz_mcp_state_seal(arena, KEY, &binding, BTZ_STR("p"), 1, INT64_MAX, &sealed),
                     BTZ_EINVAL);
    assert_int_equal(btz_mcp_state_seal(arena, KEY, &binding,
                                        (struct btz_str){big, BTZ_MCP_STATE_MAX + 1}, 0, 1,
                                        &sealed),
                     BTZ_ELIMIT);
    assert_int_equal(btz_mcp_state_seal(arena, KEY, &binding,
                                        (struct btz_str){big, BTZ_MCP_STATE_MAX}, 0, 1, &sealed),
                     BTZ_OK);
    assert_int_equal(btz_mcp_state_open(arena, KEY, &binding, sealed, 0, &payload), BTZ_OK);
    assert_int_equal(payload.len, BTZ_MCP_STATE_MAX);
    btz_arena_free(arena);
}

/* RFC 4648 section 10, and texts that a strict decoder refuses. */
static void base64(void **state)
{
    static const char *const pairs[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};
    static const char *const bad[] = {
        "Z",        "Zg",   "Zg=",  "Zh==", "Zm9=", "Zm9v=", "=m9v",
        "Zg==Zg==", "Zm 8", "Zm9-", "Zm9_", "====", "===",   "Zm9v\n"};
    struct btz_arena *arena = btz_arena_new();
    struct btz_str bytes;

    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        assert_text(btz_mcp_base64(arena, btz_str_of(pairs[i][0])), pairs[i][1]);
        assert_int_equal(btz_mcp_unbase64(arena, btz_str_of(pairs[i][1]), &bytes), BTZ_OK);
        assert_text(bytes, pairs[i][0]);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (btz_mcp_unbase64(arena, btz_str_of(bad[i]), &bytes) != BTZ_EINVAL) {
            fail_msg("\"%s\" was accepted", bad[i]);
        }
    }
    btz_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),      cmocka_unit_test(tag),    cmocka_unit_test(refused),
        cmocka_unit_test(empty_arguments), cmocka_unit_test(bounds), cmocka_unit_test(base64),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
