/* table: insert, remove, concat, sort and unpack on raw lengths, each charging for its work. */
#include "lua/host_int.h"

enum { UNPACK_MAX = 250 };

/* Argument 1 for reading: pushes its contents, gives the raw length. */
static lua_Integer for_reading(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    btz_lua_push_contents(L, 1);
    return (lua_Integer)lua_rawlen(L, -1);
}

static lua_Integer for_writing(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    if (btz_lua_is_frozen(L, 1)) {
        luaL_error(L, "write to a frozen table: what a file defines cannot change; copy it first");
    }
    return (lua_Integer)lua_rawlen(L, 1);
}

/*@ table.insert(t, position?, v)
 * As in Lua 5.4. */
static int table_insert(lua_State *L)
{
    lua_Integer len = for_writing(L);
    lua_Integer pos = len + 1;

    if (lua_gettop(L) == 3) {
        pos = luaL_checkinteger(L, 2);
        luaL_argcheck(L, pos >= 1 && pos <= len + 1, 2, "position out of bounds");
    } else if (lua_gettop(L) != 2) {
        return luaL_error(L, "table.insert takes (list, value) or (list, position, value)");
    }
    btz_lua_charge(L, (uint64_t)(len + 1 - pos));
    for (lua_Integer i = len; i >= pos; i--) {
        lua_rawgeti(L, 1, i);
        lua_rawseti(L, 1, i + 1);
    }
    lua_pushvalue(L, lua_gettop(L));
    lua_rawseti(L, 1, pos);
    return 0;
}

/*@ table.remove(t, position?) -> value
 * As in Lua 5.4. */
static int table_remove(lua_State *L)
{
    lua_Integer len = for_writing(L);
    lua_Integer pos = luaL_optinteger(L, 2, len);

    luaL_argcheck(L, len == 0 || (pos >= 1 && pos <= len + 1), 2, "position out of bounds");
    if (len == 0 && pos != 0 && pos != 1) {
        return luaL_error(L, "position out of bounds");
    }
    lua_rawgeti(L, 1, pos);
    if (pos < 1 || pos > len) {
        return 1;
    }
    btz_lua_charge(L, (uint64_t)(len - pos));
    for (lua_Integer i = pos; i < len; i++) {
        lua_rawgeti(L, 1, i + 1);
        lua_rawseti(L, 1, i);
    }
    lua_pushnil(L);
    lua_rawseti(L, 1, len);
    return 1;
}

/*@ table.concat(t, sep?, i?, j?) -> text
 * As in Lua 5.4. */
static int table_concat(lua_State *L)
{
    size_t sep_len;
    const char *sep;
    lua_Integer from;
    lua_Integer to;
    size_t total = 0;
    luaL_Buffer buffer;
    int contents;

    lua_settop(L, 4);
    to = for_reading(L);
    contents = lua_gettop(L);
    sep = luaL_optlstring(L, 2, "", &sep_len);
    from = luaL_optinteger(L, 3, 1);
    to = luaL_optinteger(L, 4, to);
    luaL_buffinit(L, &buffer);
    for (lua_Integer i = from; i <= to; i++) {
        size_t len;

        lua_rawgeti(L, contents, i);
        if (!lua_isstring(L, -1)) {
            return luaL_error(L, "table.concat: item %I is a %s, not a text or number",
                              (LUAI_UACINT)i, luaL_typename(L, -1));
        }
        (void)lua_tolstring(L, -1, &len);
        btz_lua_charge(L, 1 + len / 32);
        total += len + sep_len;
        if (total > BTZ_LUA_STRING_MAX) {
            btz_lua_break(L, BTZ_LUA_BYTES);
        }
        luaL_addvalue(&buffer);
        if (i < to) {
            luaL_addlstring(&buffer, sep, sep_len);
        } else {
            break; /* i + 1 could overflow */
        }
    }
    luaL_pushresult(&buffer);
    return 1;
}

/*@ table.unpack(t, i?, j?) -> values
 * At most 250 values. */
static int table_unpack(lua_State *L)
{
    lua_Integer from;
    lua_Integer to;
    int contents;

    lua_settop(L, 3);
    to = for_reading(L);
    contents = lua_gettop(L);
    from = luaL_optinteger(L, 2, 1);
    to = luaL_optinteger(L, 3, to);
    if (from > to) {
        return 0;
    }
    if ((uint64_t)to - (uint64_t)from >= UNPACK_MAX) {
        return luaL_error(L, "table.unpack gives at most %d values", (int)UNPACK_MAX);
    }
    luaL_checkstack(L, UNPACK_MAX, NULL);
    for (lua_Integer i = from; i < to; i++) {
        lua_rawgeti(L, contents, i);
    }
    lua_rawgeti(L, contents, to);
    return (int)(to - from) + 1;
}

/* Whether item `b` sorts before item `a` (so that they must change places to be in order). Both
 * are on the stack; the comparing function is argument 2, or nil. */
static bool before(lua_State *L, int b, int a)
{
    bool result;

    btz_lua_charge(L, 2);
    if (lua_isnil(L, 2)) {
        return lua_compare(L, b, a, LUA_OPLT);
    }
    lua_pushvalue(L, 2);
    lua_pushvalue(L, b);
    lua_pushvalue(L, a);
    lua_call(L, 2, 1);
    result = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return result;
}

/* Merges the sorted runs [low, mid) and [mid, high) of table `from` into `to`. */
static void merge(lua_State *L, int from, int to, lua_Integer low, lua_Integer mid,
                  lua_Integer high)
{
    lua_Integer left = low;
    lua_Integer right = mid;

    for (lua_Integer out = low; out < high; out++) {
        bool take_right;

        if (left < mid && right < high) {
            lua_rawgeti(L, from, left);
            lua_rawgeti(L, from, right);
            take_right = before(L, lua_gettop(L), lua_gettop(L) - 1);
            lua_pop(L, 2);
        } else {
            take_right = left >= mid;
        }
        lua_rawgeti(L, from, take_right ? right++ : left++);
        lua_rawseti(L, to, out);
    }
    btz_lua_charge(L, (uint64_t)(high - low));
}

/* A stable merge sort on copies: an inconsistent comparing function gives some order, and can
 * neither make it run longer nor reach outside the list. */
/*@ table.sort(t, less?)
 * Stable; an inconsistent comparison gives some order. */
static int table_sort(lua_State *L)
{
    lua_Integer len = for_writing(L);
    int from;
    int to;

    lua_settop(L, 2);
    if (!lua_isnil(L, 2)) {
        luaL_checktype(L, 2, LUA_TFUNCTION);
    }
    btz_lua_charge(L, (uint64_t)len);
    lua_createtable(L, (int)len, 0);
    lua_createtable(L, (int)len, 0);
    from = 3;
    to = 4;
    for (lua_Integer i = 1; i <= len; i++) {
        lua_rawgeti(L, 1, i);
        lua_rawseti(L, from, i);
    }
    for (lua_Integer width = 1; width < len; width *= 2) {
        int swap = from;

        for (lua_Integer low = 1; low <= len; low += 2 * width) {
            lua_Integer mid = low + width > len + 1 ? len + 1 : low + width;
            lua_Integer high = mid + width > len + 1 ? len + 1 : mid + width;

            merge(L, from, to, low, mid, high);
        }
        from = to;
        to = swap;
    }
    for (lua_Integer i = 1; i <= len; i++) {
        lua_rawgeti(L, from, i);
        lua_rawseti(L, 1, i);
    }
    return 0;
}

void btz_lua_open_table(lua_State *L)
{
    static const luaL_Reg own[] = {{"insert", table_insert}, {"remove", table_remove},
                                   {"concat", table_concat}, {"unpack", table_unpack},
                                   {"sort", table_sort},     {NULL, NULL}};

    lua_newtable(L);
    luaL_setfuncs(L, own, 0);
}
