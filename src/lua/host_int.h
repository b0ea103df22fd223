/* Inside the lua room: the state's bookkeeping, for its sources. */
#ifndef BTZ_LUA_HOST_INT_H
#define BTZ_LUA_HOST_INT_H

#include <lauxlib.h>
#include <lua.h>

#include "lua/host.h"
#include "lua/pool.h"

struct btz_lua {
    lua_State *L;
    lua_State *co; /* of the run, or kept from the last one for reuse */
    int co_ref;
    void *owner;
    int groups;

    struct btz_lua_pool pool;
    size_t bytes;                  /* of the whole state */
    size_t limit;                  /* refuse to grow past this; SIZE_MAX outside a run */
    size_t outside, outside_limit; /* bytes charged for memory of C */

    bool running;
    bool frozen; /* the globals are, since the first load */
    enum btz_lua_stop stop;
    uint64_t used, budget;
    uint64_t since_clock; /* charged units since the clock was read */
    uint64_t alloc_units; /* charged by the allocator since the hook last ran */
    int64_t deadline_us;
    int pcalls;     /* nested ones in progress */
    int hook_count; /* instructions between two runs of the hook, as set now */

    struct btz_err err; /* of the run, filled where the error arose */
    bool err_set;
    const void *raised;

    struct btz_arena *scratch; /* for json.encode and json.decode */
    struct btz_lua_patterns *patterns;
};

/* Keys of the registry (addresses only). */
extern const char btz_lua_key_array, btz_lua_key_object, btz_lua_key_sealed, btz_lua_key_groups,
    btz_lua_key_globals;

/* host.c: breaks the budget: marks the run as stopped, makes every further instruction raise, and
 * raises. */
_Noreturn void btz_lua_break(lua_State *L, enum btz_lua_stop stop);
/* Raises again if the run was stopped; `status` is what a protected call gave. */
void btz_lua_rethrow(lua_State *L, int status);

/* order.c */
/* Pushes the key that follows the key at `key` (nil = the first) in the table at `index`, or nil.
 */
void btz_lua_push_next_key(lua_State *L, int index, int key);

/* lib_*.c: each pushes a fresh table of functions (lib_base: sets globals in the table on top). */
void btz_lua_open_base(lua_State *L);
void btz_lua_open_string(lua_State *L);
void btz_lua_open_table(lua_State *L);
void btz_lua_open_math(lua_State *L);
void btz_lua_open_utf8(lua_State *L);
void btz_lua_open_re(lua_State *L);
void btz_lua_open_json(lua_State *L);

void btz_lua_convert_open(lua_State *L);    /* convert.c: makes the marks */
void btz_lua_re_free(struct btz_lua *host); /* lib_re.c: frees compiled patterns */

/* lib_base.c: pushes the text of the value at `index`, without addresses. */
void btz_lua_push_text(lua_State *L, int index);

/* seal.c: moves the contents of the table at `index` into a hidden table and makes it read-only. */
void btz_lua_freeze(lua_State *L, int index);
bool btz_lua_is_frozen(lua_State *L, int index);

#endif
