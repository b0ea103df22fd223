#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "auth/form.h"

static void test_form_both_ways(void **state)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_buf form;
    struct btz_str out;

    (void)state;
    btz_buf_init(&form, 1000);
    btz_auth_form_add(&form, "a", BTZ_STR("x y&z=\xC3\xA4+%"));
    btz_auth_form_add(&form, "b c", BTZ_STR(""));
    assert_true(btz_str_is(btz_buf_view(&form), "a=x%20y%26z%3D%C3%A4%2B%25&b%20c="));
    assert_int_equal(btz_auth_form_get(arena, btz_buf_view(&form), "a", &out), BTZ_OK);
    assert_true(btz_str_is(out, "x y&z=\xC3\xA4+%"));
    assert_int_equal(btz_auth_form_get(arena, btz_buf_view(&form), "b c", &out), BTZ_OK);
    assert_int_equal(out.len, 0);
    assert_int_equal(btz_auth_form_get(arena, BTZ_STR("a=1+2&%61=3"), "a", &out), BTZ_EINVAL);
    assert_int_equal(btz_auth_form_get(arena, BTZ_STR("a=1+2&b"), "a", &out), BTZ_OK);
    assert_true(btz_str_is(out, "1 2"));
    assert_int_equal(btz_auth_form_get(arena, BTZ_STR("a=%4"), "a", &out), BTZ_EINVAL);
    assert_int_equal(btz_auth_form_get(arena, BTZ_STR("a=%zz"), "a", &out), BTZ_EINVAL);
    assert_int_equal(btz_auth_form_get(arena, BTZ_STR("aa=1"), "a", &out), BTZ_ENOTFOUND);
    assert_true(btz_str_is(btz_auth_form_escape(arena, BTZ_STR("a:b")), "a%3Ab"));
    btz_buf_fini(&form);
    btz_arena_free(arena);
}

/* RFC 4648 section 10 and RFC 7636 appendix B. */
static void test_encodings(void **state)
{
    struct btz_arena *arena = btz_arena_new();

    (void)state;
    assert_true(btz_str_is(btz_auth_base64(arena, BTZ_STR("")), ""));
    assert_true(btz_str_is(btz_auth_base64(arena, BTZ_STR("f")), "Zg=="));
    assert_true(btz_str_is(btz_auth_base64(arena, BTZ_STR("fo")), "Zm8="));
    assert_true(btz_str_is(btz_auth_base64(arena, BTZ_STR("foobar")), "Zm9vYmFy"));
    assert_true(btz_str_is(btz_auth_base64(arena, BTZ_STR("\xFB\xFF")), "+/8="));
    assert_true(btz_str_is(btz_auth_base64url(arena, BTZ_STR("\xFB\xFF")), "-_8"));
    assert_true(btz_str_is(
        btz_auth_code_challenge(arena, BTZ_STR("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")),
        "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"));
    btz_arena_free(arena);
}

static void test_scopes(void **state)
{
    struct btz_arena *arena = btz_arena_new();

    (void)state;
    assert_true(
        btz_str_is(btz_auth_scope_union(arena, BTZ_STR("a  b"), BTZ_STR("c b c")), "a b c"));
    assert_true(btz_str_is(btz_auth_scope_common(arena, BTZ_STR("a b c"), BTZ_STR("c a")), "a c"));
    assert_true(btz_auth_scope_has(BTZ_STR("ab c"), BTZ_STR("c")));
    assert_false(btz_auth_scope_has(BTZ_STR("ab c"), BTZ_STR("a")));
    assert_false(btz_auth_scope_has(BTZ_STR("a"), BTZ_STR("")));
    assert_true(btz_str_is(btz_auth_scope_beyond(BTZ_STR("a b"), BTZ_STR("a")), "b"));
    assert_null(btz_auth_scope_beyond(BTZ_STR("a"), BTZ_STR("b a")).ptr);
    assert_true(btz_auth_scope_is_valid(BTZ_STR("mcp:read files.write")));
    assert_false(btz_auth_scope_is_valid(BTZ_STR("a\"b")));
    assert_false(btz_auth_scope_is_valid(BTZ_STR("a\nb")));
    btz_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_form_both_ways),
                                       cmocka_unit_test(test_encodings),
                                       cmocka_unit_test(test_scopes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
