/* Globals: pairs and next in key order, tostring without addresses, pcall that cannot swallow a
 * broken budget, setmetatable that takes a checked copy, and the marks of data tables. */
#include <lualib.h>
#include <stdio.h>

#include "lua/host_int.h"

void btz_lua_push_text(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    switch (lua_type(L, index)) {
    case LUA_TNIL:
        lua_pushstring(L, "nil");
        return;
    case LUA_TBOOLEAN:
        lua_pushstring(L, lua_toboolean(L, index) ? "true" : "false");
        return;
    case LUA_TNUMBER:
    case LUA_TSTRING:
        lua_pushvalue(L, index);
        (void)lua_tostring(L, -1);
        return;
    case LUA_TTABLE:
        if (luaL_getmetafield(L, index, "__tostring") != LUA_TNIL) {
            lua_pushvalue(L, index);
            lua_call(L, 1, 1);
            if (!lua_isstring(L, -1)) {
                luaL_error(L, "'__tostring' must return a string");
            }
            return;
        }
        break;
    default:
        break;
    }
    lua_pushstring(L, btz_lua_is_null(L, index) ? "null" : luaL_typename(L, index));
}

/*@ tostring(v) -> text
 * A table is `table`: no address is shown. */
static int base_tostring(lua_State *L)
{
    luaL_checkany(L, 1);
    btz_lua_push_text(L, 1);
    return 1;
}

/* Upvalues: list of keys, position. */
static int pairs_step(lua_State *L)
{
    lua_Integer i = lua_tointeger(L, lua_upvalueindex(2));

    btz_lua_push_contents(L, lua_upvalueindex(1));
    btz_lua_push_contents(L, 1);
    for (;;) {
        if (lua_rawgeti(L, -2, ++i) == LUA_TNIL) {
            return 1;
        }
        lua_pushvalue(L, -1);
        if (lua_rawget(L, -3) != LUA_TNIL) {
            lua_pushinteger(L, i);
            lua_replace(L, lua_upvalueindex(2));
            return 2;
        }
        lua_pop(L, 2); /* removed since pairs was called */
    }
}

/*@ pairs(t)
 * Goes in the order of keys: numbers, then strings by bytes, then booleans. */
static int base_pairs(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    btz_lua_push_keys(L, 1);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, pairs_step, 2);
    lua_pushvalue(L, 1);
    lua_pushnil(L);
    return 3;
}

/*@ next(t, key?) -> key, value or nil
 * In the order of `pairs`. */
static int base_next(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    btz_lua_push_next_key(L, 1, 2);
    if (lua_isnil(L, -1)) {
        return 1;
    }
    btz_lua_push_contents(L, 1);
    lua_pushvalue(L, -2);
    lua_rawget(L, -2);
    lua_remove(L, -2);
    return 2;
}

/* Calls in protected mode nest no deeper than PCALLS_MAX: each error walks over all calls in
 * progress (Lua shrinks the stack), so that unwinding many levels would take time squared. */
enum { PCALLS_MAX = 100 };

static int pcall_end(lua_State *L, int status, lua_KContext context)
{
    (void)context;
    btz_lua_of(L)->pcalls--;
    if (status != LUA_OK && status != LUA_YIELD) {
        btz_lua_rethrow(L, status);
        lua_pushboolean(L, 0);
        lua_pushvalue(L, -2);
        return 2;
    }
    return lua_gettop(L);
}

/*@ pcall(f, ...) -> boolean, ...
 * Nests at most 100 deep. It catches `fail` like any error, but not a budget that ran out. */
static int base_pcall(lua_State *L)
{
    luaL_checkany(L, 1);
    if (btz_lua_of(L)->pcalls >= PCALLS_MAX) {
        return luaL_error(L, "pcall inside pcall, more than %d deep", (int)PCALLS_MAX);
    }
    btz_lua_of(L)->pcalls++;
    lua_pushboolean(L, 1);
    lua_insert(L, 1);
    return pcall_end(L, lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 0, 0, pcall_end), 0);
}

/* Metamethods that scripts may define. Not in the list: __gc and __close (they run at times of
 * their own), __mode (shows the collector), __pairs and __metatable (the sandbox's own). */
static bool metamethod_allowed(const char *name)
{
    static const char *const allowed[] = {
        "__index", "__newindex", "__call", "__eq",   "__lt",  "__le",  "__len",      "__concat",
        "__add",   "__sub",      "__mul",  "__div",  "__mod", "__pow", "__unm",      "__idiv",
        "__band",  "__bor",      "__bxor", "__bnot", "__shl", "__shr", "__tostring", "__name",
    };

    for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed); i++) {
        if (strcmp(allowed[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* The metatable in force is a copy, so that what was checked cannot be changed afterwards;
 * getmetatable gives the original. */
/*@ setmetatable(t, meta) -> t
 * Once per table, with a checked copy of `meta`: `__gc`, `__close`, `__mode`, `__metatable` and
 * `__pairs` are refused. */
static int base_setmetatable(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_checktype(L, 2, LUA_TTABLE);
    if (lua_getmetatable(L, 1)) {
        return luaL_error(L, "the table has a metatable already, or is frozen or marked as data");
    }
    lua_settop(L, 2);
    btz_lua_push_contents(L, 2);
    lua_newtable(L);
    for (lua_pushnil(L); lua_next(L, 3); lua_pop(L, 1)) {
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";

        btz_lua_charge(L, 4);
        if (strncmp(name, "__", 2) == 0 && !metamethod_allowed(name)) {
            return luaL_error(L, "the metamethod '%s' is not available to scripts", name);
        }
        if (name[0] == '_') {
            lua_pushvalue(L, -2);
            lua_pushvalue(L, -2);
            lua_rawset(L, 4);
        }
    }
    lua_pushvalue(L, 2);
    lua_setfield(L, 4, "__metatable");
    lua_setmetatable(L, 1);
    lua_settop(L, 1);
    return 1;
}

/*@ rawlen(v) -> integer
 * Length of a table or text. */
static int base_rawlen(lua_State *L)
{
    luaL_argcheck(L, lua_istable(L, 1) || lua_type(L, 1) == LUA_TSTRING, 1,
                  "table or string expected");
    if (lua_istable(L, 1)) {
        btz_lua_push_contents(L, 1);
    }
    lua_pushinteger(L, (lua_Integer)lua_rawlen(L, -1));
    return 1;
}

static int mark(lua_State *L, bool array)
{
    lua_settop(L, 1);
    if (lua_isnil(L, 1)) {
        lua_newtable(L);
        lua_replace(L, 1);
    }
    luaL_checktype(L, 1, LUA_TTABLE);
    if (lua_getmetatable(L, 1)) {
        if (btz_lua_is_frozen(L, 1) || btz_lua_mark_of(L, 1) == BTZ_LUA_PLAIN) {
            return luaL_error(L, "a frozen table or one with a metatable cannot be marked");
        }
        lua_pop(L, 1);
    }
    if (array) {
        btz_lua_mark_array(L, 1);
    } else {
        btz_lua_mark_object(L, 1);
    }
    return 1;
}

/*@ list(t) -> t
 * Marks a table as a JSON array; needed only where it may be empty. */
static int base_list(lua_State *L)
{
    return mark(L, true);
}

/*@ object(t) -> t
 * Marks a table as a JSON object. */
static int base_object(lua_State *L)
{
    return mark(L, false);
}

/*@ ipairs(t); type(v); tonumber(v, base?); select(n, ...); rawequal(a, b); getmetatable(t)
 * As in Lua 5.4. */
/*@ error(v, level?); assert(v, message?)
 * As in Lua 5.4: a fault of the script, not an answer; `fail` is that. */
/*@ null
 * JSON's null. It is true in a condition: compare with `== null`. */
void btz_lua_open_base(lua_State *L)
{
    static const luaL_Reg own[] = {
        {"tostring", base_tostring},
        {"pairs", base_pairs},
        {"next", base_next},
        {"pcall", base_pcall},
        {"setmetatable", base_setmetatable},
        {"rawlen", base_rawlen},
        {"list", base_list},
        {"object", base_object},
        {NULL, NULL},
    };
    static const char *const taken[] = {"ipairs", "type",   "tonumber", "select",
                                        "error",  "assert", "rawequal", "getmetatable"};

    luaL_setfuncs(L, own, 0);
    btz_lua_push_null(L);
    lua_setfield(L, -2, "null");
    /* luaopen_base fills the state's first table of globals, which scripts never see. */
    luaL_requiref(L, "_G", luaopen_base, 0);
    for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++) {
        lua_getfield(L, -1, taken[i]);
        lua_setfield(L, -3, taken[i]);
    }
    lua_pop(L, 1);
}

static void take(lua_State *L, const char *name, lua_CFunction open, const char *const *names)
{
    lua_newtable(L);
    luaL_requiref(L, name, open, 0);
    for (; *names; names++) {
        lua_getfield(L, -1, *names);
        lua_setfield(L, -3, *names);
    }
    lua_pop(L, 1);
}

/*@ math.floor(x); math.ceil(x); math.min(x, ...); math.max(x, ...); math.abs(x)
 * As in Lua 5.4. */
/*@ math.tointeger(x); math.huge; math.pi
 * As in Lua 5.4. */
void btz_lua_open_math(lua_State *L)
{
    static const char *const names[] = {"floor",     "ceil", "min", "max", "abs",
                                        "tointeger", "huge", "pi",  NULL};

    take(L, LUA_MATHLIBNAME, luaopen_math, names);
}
