#include "lua/pool.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#if defined(__SANITIZE_ADDRESS__)
enum { SMALL = 0 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { SMALL = 0 };
#else
enum { SMALL = BTZ_LUA_POOL_SMALL };
#endif
#else
enum { SMALL = BTZ_LUA_POOL_SMALL };
#endif

static size_t class_of(size_t size)
{
    return (size + BTZ_LUA_POOL_STEP - 1) / BTZ_LUA_POOL_STEP;
}

static void *checked(void *block, size_t size)
{
    if (!block) {
        btz_panic("out of memory (%zu bytes for a script)", size);
    }
    return block;
}

static void *take(struct btz_lua_pool *pool, size_t size)
{
    void **list = &pool->free[class_of(size)];
    size_t bytes = class_of(size) * BTZ_LUA_POOL_STEP;
    void *block = *list;

    if (block) {
        memcpy(list, block, sizeof(*list));
        return block;
    }
    if (pool->left < bytes) { /* the rest, under half a kilobyte, stays unused */
        char *slab = checked(malloc(BTZ_LUA_POOL_SLAB), BTZ_LUA_POOL_SLAB);

        memcpy(slab, &pool->slabs, sizeof(pool->slabs));
        pool->slabs = slab;
        pool->next = slab + BTZ_LUA_POOL_STEP;
        pool->left = BTZ_LUA_POOL_SLAB - BTZ_LUA_POOL_STEP;
    }
    block = pool->next;
    pool->next += bytes;
    pool->left -= bytes;
    return block;
}

static void give(struct btz_lua_pool *pool, void *block, size_t size)
{
    void **list = &pool->free[class_of(size)];

    memcpy(block, list, sizeof(*list));
    *list = block;
}

void *btz_lua_pool_resize(struct btz_lua_pool *pool, void *ptr, size_t old, size_t size)
{
    bool was_small = ptr && old <= SMALL;
    void *out = NULL;

    if (ptr && size > 0 && !was_small && size > SMALL) {
        return checked(realloc(ptr, size), size);
    }
    if (was_small && size > 0 && class_of(old) == class_of(size)) {
        return ptr;
    }
    if (size > 0) {
        out = size <= SMALL ? take(pool, size) : checked(malloc(size), size);
    }
    if (out && ptr) {
        memcpy(out, ptr, old < size ? old : size);
    }
    if (was_small) {
        give(pool, ptr, old);
    } else {
        free(ptr);
    }
    return out;
}

void btz_lua_pool_free(struct btz_lua_pool *pool)
{
    void *before;

    for (void *slab = pool->slabs; slab; slab = before) {
        memcpy(&before, slab, sizeof(before));
        free(slab);
    }
    *pool = (struct btz_lua_pool){0};
}
