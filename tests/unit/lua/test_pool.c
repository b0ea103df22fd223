/* Blocks keep their contents through every change of size, small ones are used again, and what one
 * block holds no other one overwrites. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "lua/pool.h"

enum { BLOCKS = 400, STEPS = 40000, SIZE_MAX_TRIED = 1500 };

static void holds(const unsigned char *block, size_t size, unsigned char mark)
{
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(block[i], mark);
    }
}

static void test_random_sizes(void **state)
{
    struct btz_lua_pool pool = {0};
    struct btz_rng rng = btz_rng_of(7);
    unsigned char *blocks[BLOCKS] = {NULL};
    size_t sizes[BLOCKS] = {0};

    (void)state;
    for (size_t n = 0; n < STEPS; n++) {
        size_t at = (size_t)btz_rng_below(&rng, BLOCKS);
        size_t size = (size_t)btz_rng_below(&rng, n % 3 ? 200 : SIZE_MAX_TRIED);
        unsigned char mark = (unsigned char)at;

        blocks[at] = btz_lua_pool_resize(&pool, blocks[at], sizes[at], size);
        assert_int_equal(blocks[at] == NULL, size == 0);
        if (size > 0) {
            holds(blocks[at], size < sizes[at] ? size : sizes[at], mark);
            memset(blocks[at], mark, size);
            assert_int_equal((uintptr_t)blocks[at] % 16, 0);
        }
        sizes[at] = size;
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        if (blocks[i]) {
            holds(blocks[i], sizes[i], (unsigned char)i);
        }
        assert_null(btz_lua_pool_resize(&pool, blocks[i], sizes[i], 0));
    }
    btz_lua_pool_free(&pool);
}

/* However often blocks come and go, no more slabs are taken than live ones need. */
static void test_slabs_do_not_grow(void **state)
{
    struct btz_lua_pool pool = {0};
    void *first_slab = NULL;

    (void)state;
    for (int n = 0; n < 100000; n++) {
        void *a = btz_lua_pool_resize(&pool, NULL, 0, 40);
        void *b = btz_lua_pool_resize(&pool, NULL, 0, 300);

        first_slab = first_slab ? first_slab : pool.slabs;
        (void)btz_lua_pool_resize(&pool, b, 300, 0);
        (void)btz_lua_pool_resize(&pool, a, 40, 0);
    }
    assert_ptr_equal(pool.slabs, first_slab);
    btz_lua_pool_free(&pool);
    assert_null(pool.slabs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_sizes),
        cmocka_unit_test(test_slabs_do_not_grow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
