#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/step.h"

static void arena_keeps_apart_and_reuses(void **state)
{
    struct btz_arena *arena = btz_arena_new();
    char *a;
    char *big;

    (void)state;
    a = btz_arena_alloc(arena, 10);
    memset(a, 'a', 10);
    big = btz_arena_alloc(arena, 3 * 1024 * 1024);
    memset(big, 'b', 3 * 1024 * 1024);
    for (int i = 0; i < 10000; i++) {
        memset(btz_arena_alloc(arena, 33), 'c', 33);
    }
    assert_memory_equal(a, "aaaaaaaaaa", 10);
    assert_int_equal(big[0], 'b');
    assert_true(btz_arena_used(arena) >= 10 + 3 * 1024 * 1024 + 330000);
    btz_arena_reset(arena);
    assert_int_equal(btz_arena_used(arena), 0);
    assert_ptr_equal(btz_arena_alloc(arena, 10), a);
    assert_string_equal(btz_arena_printf(arena, "%s-%d", "x", 7).ptr, "x-7");
    btz_arena_free(arena);
}

static void buffer_fails_at_its_maximum_and_recovers(void **state)
{
    struct btz_buf buf;

    (void)state;
    btz_buf_init(&buf, 10);
    assert_int_equal(btz_buf_add_text(&buf, "12345"), BTZ_OK);
    assert_int_equal(btz_buf_add_text(&buf, "67890"), BTZ_OK);
    assert_int_equal(btz_buf_add_byte(&buf, 'x'), BTZ_ELIMIT);
    assert_int_equal(btz_buf_status(&buf), BTZ_ELIMIT);
    assert_int_equal(btz_buf_add_text(&buf, "1"), BTZ_ELIMIT);
    btz_buf_reset(&buf);
    assert_int_equal(btz_buf_printf(&buf, "%d-%s", 42, "ab"), BTZ_OK);
    assert_true(btz_str_is(btz_buf_view(&buf), "42-ab"));
    btz_buf_consume(&buf, 3);
    assert_true(btz_str_is(btz_buf_view(&buf), "ab"));
    btz_buf_fini(&buf);
}

static void strings_cut_find_and_convert(void **state)
{
    struct btz_str rest = BTZ_STR("a,,b");
    struct btz_str part;
    int64_t n = 0;

    (void)state;
    assert_true(btz_str_cut(&rest, ',', &part) && btz_str_is(part, "a"));
    assert_true(btz_str_cut(&rest, ',', &part) && btz_str_is(part, ""));
    assert_true(btz_str_cut(&rest, ',', &part) && btz_str_is(part, "b"));
    assert_false(btz_str_cut(&rest, ',', &part));
    assert_int_equal(btz_str_find(BTZ_STR("hello"), BTZ_STR("lo")), 3);
    assert_int_equal(btz_str_find(BTZ_STR("hello"), BTZ_STR("xx")), -1);
    assert_int_equal(btz_str_int64(BTZ_STR("-9223372036854775808"), &n), BTZ_OK);
    assert_true(n == INT64_MIN);
    assert_int_equal(btz_str_int64(BTZ_STR("9223372036854775808"), &n), BTZ_ELIMIT);
    assert_int_equal(btz_str_int64(BTZ_STR("-"), &n), BTZ_EINVAL);
    assert_int_equal(btz_str_int64(BTZ_STR("1x"), &n), BTZ_EINVAL);
    assert_true(btz_str_cmp(BTZ_STR("ab"), BTZ_STR("abc")) < 0);
    assert_true(btz_str_is(btz_str_trim(BTZ_STR(" \tx y\n")), "x y"));
}

/* The two values are FIPS 180-2 appendix B's. */
static void sha256_gives_published_values(void **state)
{
    char hex[65];
    struct btz_hash hash = btz_hash_of(BTZ_STR("abc"));
    struct btz_hasher *hasher = btz_hasher_new();

    (void)state;
    assert_string_equal(btz_hash_hex(&hash, hex),
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    btz_hasher_add(hasher, BTZ_STR("a"));
    btz_hasher_add(hasher, BTZ_STR("bc"));
    struct btz_hash same = btz_hasher_end(hasher);
    assert_true(btz_hash_eq(&hash, &same));
    btz_hasher_free(hasher);
}

/* SplitMix64 with seed 1234567: the first outputs of the reference program. */
static void rng_is_splitmix64_and_unbiased_in_range(void **state)
{
    struct btz_rng rng = btz_rng_of(1234567);
    struct btz_str parts[] = {BTZ_STR("ab"), BTZ_STR("c")};
    struct btz_str other[] = {BTZ_STR("a"), BTZ_STR("bc")};
    unsigned seen[3] = {0};

    (void)state;
    assert_true(btz_rng_next(&rng) == 6457827717110365317U);
    assert_true(btz_rng_next(&rng) == 3203168211198807973U);
    for (int i = 0; i < 3000; i++) {
        seen[btz_rng_below(&rng, 3)]++;
    }
    for (int i = 0; i < 3; i++) {
        assert_true(seen[i] > 850 && seen[i] < 1150);
    }
    assert_true(btz_rng_key(parts, 2) != btz_rng_key(other, 2));
}

static void errors_name_their_place(void **state)
{
    struct btz_err err;
    char text[128];

    (void)state;
    assert_int_equal(btz_err_set(&err, BTZ_EINVAL, "expected %s", "a number"), BTZ_EINVAL);
    btz_err_at(&err, "f.lua", 3, 9);
    btz_err_prefix(&err, "attack x: ");
    assert_string_equal(btz_err_text(&err, text, sizeof(text)),
                        "f.lua:3:9: attack x: expected a number");
    assert_string_equal(btz_code_name(BTZ_ELIMIT), "ELIMIT");
    assert_string_equal(btz_code_name(BTZ_EINTERNAL), "EINTERNAL");
    assert_string_equal(btz_code_name(-99), "unknown");
}

static void hex_values(void **state)
{
    static const char digits[] = "0123456789abcdef";

    (void)state;
    for (int c = -1; c < 256; c++) {
        const char *at = c > 0 ? strchr(digits, c >= 'A' && c <= 'F' ? c + ('a' - 'A') : c) : NULL;

        assert_int_equal(btz_hex_value(c), at ? at - digits : -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hex_values),
        cmocka_unit_test(arena_keeps_apart_and_reuses),
        cmocka_unit_test(buffer_fails_at_its_maximum_and_recovers),
        cmocka_unit_test(strings_cut_find_and_convert),
        cmocka_unit_test(sha256_gives_published_values),
        cmocka_unit_test(rng_is_splitmix64_and_unbiased_in_range),
        cmocka_unit_test(errors_name_their_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
