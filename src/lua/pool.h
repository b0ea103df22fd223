/* Memory for a Lua state: many small blocks that live shortly and whose sizes are known when they
 * are freed, so blocks of a size need no head and go to and from one list. Under AddressSanitizer
 * every block is malloc's own, so that its checks see them. */
#ifndef BTZ_LUA_POOL_H
#define BTZ_LUA_POOL_H

#include <stddef.h>

enum {
    BTZ_LUA_POOL_STEP = 16,    /* sizes are rounded up to multiples of this */
    BTZ_LUA_POOL_SMALL = 512,  /* larger blocks are malloc's */
    BTZ_LUA_POOL_SLAB = 65536, /* bytes that small blocks are cut from */
};

struct btz_lua_pool {
    void *free[BTZ_LUA_POOL_SMALL / BTZ_LUA_POOL_STEP + 1]; /* by size; each points to the next */
    void *slabs;                                            /* each points to the one before */
    char *next;                                             /* the part of the newest slab ... */
    size_t left;                                            /* ... that was never given out */
};

/* Makes `ptr` (NULL: a new block), which has `old` bytes, one of `size` bytes; size 0 frees it and
 * gives NULL. The process ends if there is no memory. */
void *btz_lua_pool_resize(struct btz_lua_pool *pool, void *ptr, size_t old, size_t size);

/* Gives small blocks back to the system; large ones must have been freed. */
void btz_lua_pool_free(struct btz_lua_pool *pool);

#endif
