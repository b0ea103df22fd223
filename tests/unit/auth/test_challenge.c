#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "auth/challenge.h"

static void test_reads(void **state)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_auth_challenge c;
    struct btz_err err;

    (void)state;
    assert_int_equal(
        btz_auth_challenge_parse(
            arena,
            BTZ_STR(
                "Negotiate YWJj==, Basic realm=\"x, y\" , bearer Realm=one ,scope=\"a \\\"b\\\"\","
                " resource_metadata = \"https://mcp.example/m\",error=invalid_token , Digest"),
            &c, &err),
        BTZ_OK);
    assert_true(c.bearer);
    assert_true(btz_str_is(c.realm, "one") && btz_str_is(c.scope, "a \"b\""));
    assert_true(btz_str_is(c.resource_metadata, "https://mcp.example/m"));
    assert_true(btz_str_is(c.error, "invalid_token") && !c.error_description.len);
    /* A second Bearer challenge does not add to the first. */
    assert_int_equal(
        btz_auth_challenge_parse(arena, BTZ_STR("Bearer, Bearer scope=late"), &c, &err), BTZ_OK);
    assert_true(c.bearer && !c.scope.len);
    assert_int_equal(btz_auth_challenge_parse(arena, BTZ_STR("Bearer"), &c, &err), BTZ_OK);
    assert_true(c.bearer);
    assert_int_equal(btz_auth_challenge_parse(arena, BTZ_STR("Bearer abc/d="), &c, &err), BTZ_OK);
    assert_int_equal(btz_auth_challenge_parse(arena, BTZ_STR(""), &c, &err), BTZ_OK);
    assert_false(c.bearer);
    assert_int_equal(
        btz_auth_challenge_parse(arena, BTZ_STR("Basic realm=\"Bearer scope=x\""), &c, &err),
        BTZ_OK);
    assert_false(c.bearer);
    btz_arena_free(arena);
}

static void test_refuses(void **state)
{
    static const char *const bad[] = {
        "Bearer scope=a, scope=b",
        "Bearer scope=a, SCOPE=b",
        "Bearer scope=",
        "Bearer scope=\"a",
        "Bearer scope=\"a\\",
        "Bearer scope=\"a\x01\"",
        "Bearer scope=\"\xC3\xA4\"",
        "Bearer =a",
        "Bearer scope",
        "Bearer scope=a b=c",
        "Bearer scope=\"a\"b=c",
        "(Bearer)",
        "Bearer scope=a; x=y",
        "Bearer a=b=c",
    };
    struct btz_arena *arena = btz_arena_new();
    struct btz_auth_challenge c;
    struct btz_err err;
    struct btz_buf many;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int rc = btz_auth_challenge_parse(arena, btz_str_of(bad[i]), &c, &err);

        /* "Bearer scope" alone may be meant as token68. */
        if (rc != BTZ_EINVAL && strcmp(bad[i], "Bearer scope") != 0 &&
            strcmp(bad[i], "Bearer scope=") != 0) {
            fail_msg("taken: %s", bad[i]);
        }
        assert_false(rc == BTZ_OK && c.scope.len);
    }
    btz_buf_init(&many, 1 << 16);
    btz_buf_add_text(&many, "Bearer p0=1");
    for (int i = 1; i < 33; i++) {
        (void)btz_buf_printf(&many, ", p%d=1", i);
    }
    assert_int_equal(btz_auth_challenge_parse(arena, btz_buf_view(&many), &c, &err), BTZ_EINVAL);
    while (many.len <= BTZ_AUTH_CHALLENGE_MAX) {
        btz_buf_add_text(&many, " ");
    }
    assert_int_equal(btz_auth_challenge_parse(arena, btz_buf_view(&many), &c, &err), BTZ_ELIMIT);
    btz_buf_fini(&many);
    btz_arena_free(arena);
}

static void test_fields(void **state)
{
    const struct btz_http_field fields[] = {
        {BTZ_STR("X"), BTZ_STR("Bearer scope=no")},
        {BTZ_STR("WWW-Authenticate"), BTZ_STR("Bearer scope=\"open")},
        {BTZ_STR("www-authenticate"), BTZ_STR("Basic realm=x")},
        {BTZ_STR("Www-Authenticate"), BTZ_STR("Bearer scope=yes")}};
    struct btz_arena *arena = btz_arena_new();
    struct btz_auth_challenge c = btz_auth_challenge_of(arena, fields, 4);

    (void)state;
    assert_true(c.bearer && btz_str_is(c.scope, "yes"));
    assert_false(btz_auth_challenge_of(arena, fields, 3).bearer);
    btz_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reads), cmocka_unit_test(test_refuses),
                                       cmocka_unit_test(test_fields)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
