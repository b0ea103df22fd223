/* string and utf8: the standard functions where they are linear in memory that is charged anyway,
 * bounded ones otherwise. */
#include <lualib.h>

#include "lua/host_int.h"

enum { MANY = 4096 }; /* numbers that byte or codepoint may return at once */

static lua_Integer position(lua_Integer pos, size_t len)
{
    if (pos >= 0) {
        return pos;
    }
    return -(lua_Unsigned)pos > len ? 0 : (lua_Integer)len + pos + 1;
}

/*@ string.byte(s, i?, j?) -> integers
 * At most 4096 at once. */
static int string_byte(lua_State *L)
{
    size_t len;
    const char *s = luaL_checklstring(L, 1, &len);
    lua_Integer from = position(luaL_optinteger(L, 2, 1), len);
    lua_Integer to = position(luaL_optinteger(L, 3, from), len);

    from = from < 1 ? 1 : from;
    to = to > (lua_Integer)len ? (lua_Integer)len : to;
    if (from > to) {
        return 0;
    }
    if (to - from >= MANY) {
        return luaL_error(L, "string.byte gives at most %d values at once", (int)MANY);
    }
    luaL_checkstack(L, (int)(to - from) + 1, NULL);
    for (lua_Integer i = from; i <= to; i++) {
        lua_pushinteger(L, (unsigned char)s[i - 1]);
    }
    btz_lua_charge(L, (uint64_t)(to - from));
    return (int)(to - from) + 1;
}

/*@ string.rep(s, n, sep?) -> text
 * The result counts against the budget of bytes. */
static int string_rep(lua_State *L)
{
    size_t len;
    size_t sep_len;
    const char *s = luaL_checklstring(L, 1, &len);
    lua_Integer n = luaL_checkinteger(L, 2);
    const char *sep = luaL_optlstring(L, 3, "", &sep_len);
    luaL_Buffer buffer;
    size_t total;
    char *p;

    if (n <= 0) {
        lua_pushliteral(L, "");
        return 1;
    }
    /* A repetition counts as a byte at least, so that none is free. */
    if ((len + sep_len ? len + sep_len : 1) > BTZ_LUA_STRING_MAX / (uint64_t)n) {
        btz_lua_break(L, BTZ_LUA_BYTES);
    }
    btz_lua_charge(L, (uint64_t)n);
    total = (size_t)n * len + (size_t)(n - 1) * sep_len;
    p = luaL_buffinitsize(L, &buffer, total);
    for (lua_Integer i = 0; i < n; i++) {
        memcpy(p, s, len);
        p += len;
        if (i + 1 < n) {
            memcpy(p, sep, sep_len);
            p += sep_len;
        }
    }
    luaL_pushresultsize(&buffer, total);
    return 1;
}

/* The upvalue is the standard function. %p would show addresses; values other than numbers and
 * strings are turned into our own text first. */
/*@ string.format(format, ...) -> text
 * Without `%p`. */
static int string_format(lua_State *L)
{
    size_t len;
    const char *fmt = luaL_checklstring(L, 1, &len);
    int top = lua_gettop(L);

    for (size_t i = 0; i < len; i++) {
        if (fmt[i] != '%') {
            continue;
        }
        i++;
        i += strspn(fmt + i, "-+ #0123456789.");
        if (i < len && fmt[i] == 'p') {
            return luaL_error(L, "string.format has no '%%p' here");
        }
    }
    for (int i = 2; i <= top; i++) {
        if (lua_type(L, i) != LUA_TNUMBER && lua_type(L, i) != LUA_TSTRING) {
            btz_lua_push_text(L, i);
            lua_replace(L, i);
        }
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, top, 1);
    return 1;
}

/*@ string.len(s); string.sub(s, i, j?); string.lower(s); string.upper(s)
 * As in Lua 5.4, also as methods (`s:lower()`). Lua patterns are not there: use `re` and `text`. */
/*@ string.char(...); string.reverse(s)
 * As in Lua 5.4. */
void btz_lua_open_string(lua_State *L)
{
    static const luaL_Reg own[] = {{"byte", string_byte}, {"rep", string_rep}, {NULL, NULL}};
    static const char *const names[] = {"len", "sub", "lower", "upper", "char", "reverse", NULL};
    int functions;

    lua_newtable(L);
    functions = lua_gettop(L);
    luaL_setfuncs(L, own, 0);
    luaL_requiref(L, LUA_STRLIBNAME, luaopen_string, 0);
    for (const char *const *name = names; *name; name++) {
        lua_getfield(L, -1, *name);
        lua_setfield(L, functions, *name);
    }
    lua_getfield(L, -1, "format");
    lua_pushcclosure(L, string_format, 1);
    lua_setfield(L, functions, "format");
    lua_pop(L, 1);
    /* The metatable of strings, out of reach of scripts. */
    lua_pushliteral(L, "");
    lua_createtable(L, 0, 2);
    lua_pushvalue(L, functions);
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}

/* Wraps a standard function (upvalue 1) that walks over its first argument. */
static int charged(lua_State *L)
{
    size_t len;
    int top = lua_gettop(L);

    luaL_checklstring(L, 1, &len);
    btz_lua_charge(L, len / 4);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, top, LUA_MULTRET);
    return lua_gettop(L);
}

/* As `charged`, and with a bound on the number of results. */
static int utf8_codepoint(lua_State *L)
{
    size_t len;
    lua_Integer from;
    lua_Integer to;

    luaL_checklstring(L, 1, &len);
    from = position(luaL_optinteger(L, 2, 1), len);
    to = position(luaL_optinteger(L, 3, from), len);
    if (to - from >= MANY) {
        return luaL_error(L, "utf8.codepoint takes at most %d bytes at once", (int)MANY);
    }
    return charged(L);
}

/*@ utf8.char(...); utf8.codepoint(s, i?, j?); utf8.len(s, i?, j?); utf8.offset(s, n, i?)
 * As in Lua 5.4; `codepoint` takes at most 4096 bytes at once. */
void btz_lua_open_utf8(lua_State *L)
{
    static const struct {
        const char *name;
        lua_CFunction wrapper;
    } wrapped[] = {{"codepoint", utf8_codepoint}, {"len", charged}, {"offset", charged}};

    lua_newtable(L);
    luaL_requiref(L, LUA_UTF8LIBNAME, luaopen_utf8, 0);
    lua_getfield(L, -1, "char");
    lua_setfield(L, -3, "char");
    for (size_t i = 0; i < sizeof(wrapped) / sizeof(*wrapped); i++) {
        lua_getfield(L, -1, wrapped[i].name);
        lua_pushcclosure(L, wrapped[i].wrapper, 1);
        lua_setfield(L, -3, wrapped[i].name);
    }
    lua_pop(L, 1);
}
