/* json.encode and json.decode. */
#include "lua/host_int.h"

/*@ json.encode(v) -> text
 * Compact JSON; members in the order of keys. */
static int json_encode(lua_State *L)
{
    struct btz_arena *arena = btz_lua_of(L)->scratch;
    size_t outside = btz_lua_of(L)->outside;
    struct btz_str text;

    luaL_checkany(L, 1);
    btz_arena_reset(arena);
    text = btz_json_text(arena, btz_lua_to_json(L, 1, arena));
    btz_lua_of(L)->outside = outside; /* the arena is only borrowed */
    btz_lua_charge(L, text.len / 8);
    lua_pushlstring(L, text.ptr, text.len);
    return 1;
}

/*@ json.decode(s) -> value
 * A text that is not JSON is an error. */
static int json_decode(lua_State *L)
{
    struct btz_arena *arena = btz_lua_of(L)->scratch;
    struct btz_json_limits limits = {BTZ_LUA_STRING_MAX, BTZ_LUA_DEPTH_MAX, BTZ_LUA_VALUES_MAX,
                                     BTZ_JSON_DUP_REJECT};
    const struct btz_json *value = NULL;
    struct btz_err err;
    struct btz_str text;

    text.ptr = luaL_checklstring(L, 1, &text.len);
    btz_lua_charge(L, text.len / 4);
    btz_arena_reset(arena);
    if (btz_json_parse(arena, text, &limits, &value, &err) != BTZ_OK) {
        return luaL_error(L, "not JSON: line %d, column %d: %s", (int)err.line, (int)err.column,
                          err.msg);
    }
    btz_lua_push_json(L, value);
    return 1;
}

void btz_lua_open_json(lua_State *L)
{
    static const luaL_Reg own[] = {{"encode", json_encode}, {"decode", json_decode}, {NULL, NULL}};

    lua_newtable(L);
    luaL_setfuncs(L, own, 0);
}
