/* text: plain operations on texts for handlers and oracles. */
#include <lauxlib.h>
#include <lua.h>

#include "base/hash.h"
#include "lab/lab_int.h"
#include "text/contains.h"
#include "text/fold.h"

static struct btz_str argument(lua_State *L, int index)
{
    struct btz_str out;

    out.ptr = luaL_checklstring(L, index, &out.len);
    btz_lua_charge(L, out.len / 16);
    return out;
}

static struct btz_arena *scratch(lua_State *L)
{
    struct btz_arena *arena = ((struct btz_lab *)btz_lua_owner(L))->scratch;

    btz_arena_reset(arena);
    return arena;
}

/*@ text.find(s, needle, from?) -> first, last or nil
 * Plain search from a position; no pattern. */
static int text_find(lua_State *L)
{
    struct btz_str text = argument(L, 1);
    struct btz_str needle = argument(L, 2);
    lua_Integer from = luaL_optinteger(L, 3, 1);
    ptrdiff_t at;

    luaL_argcheck(L, from >= 1 && (lua_Unsigned)from <= text.len + 1, 3, "position out of bounds");
    at = btz_str_find(btz_str_sub(text, (size_t)from - 1, SIZE_MAX), needle);
    if (at < 0) {
        lua_pushnil(L);
        return 1;
    }
    lua_pushinteger(L, (lua_Integer)at + from);
    lua_pushinteger(L, (lua_Integer)at + from + (lua_Integer)needle.len - 1);
    return 2;
}

/*@ text.split(s, sep) -> list
 * The pieces between separators; an empty text gives one empty piece. */
static int text_split(lua_State *L)
{
    struct btz_str text = argument(L, 1);
    struct btz_str sep = argument(L, 2);
    lua_Integer n = 0;
    ptrdiff_t at;

    luaL_argcheck(L, sep.len > 0, 2, "the separator is empty");
    lua_newtable(L);
    btz_lua_mark_array(L, -1);
    while ((at = btz_str_find(text, sep)) >= 0) {
        lua_pushlstring(L, text.ptr, (size_t)at);
        lua_rawseti(L, -2, ++n);
        btz_lua_charge(L, 2);
        text = btz_str_sub(text, (size_t)at + sep.len, SIZE_MAX);
    }
    lua_pushlstring(L, text.len ? text.ptr : "", text.len);
    lua_rawseti(L, -2, ++n);
    return 1;
}

/*@ text.trim(s) -> text
 * Without white space at both ends. */
static int text_trim(lua_State *L)
{
    struct btz_str text = btz_str_trim(argument(L, 1));

    lua_pushlstring(L, text.len ? text.ptr : "", text.len);
    return 1;
}

/*@ text.fold(s) -> text
 * For comparing: compatible forms made one (NFKC), case folded, without white space and invisible
 * characters. */
static int text_fold(lua_State *L)
{
    struct btz_str text = argument(L, 1);
    struct btz_buf buf;

    btz_lua_charge(L, text.len / 2);
    btz_buf_init(&buf, BTZ_LUA_STRING_MAX);
    if (btz_text_fold(&buf, text) != BTZ_OK) {
        btz_buf_fini(&buf);
        return luaL_error(L, "text.fold: the text is too long");
    }
    /* Pushing may raise for want of memory, so the bytes move into the state's own first. */
    text = btz_arena_dup(scratch(L), btz_buf_view(&buf));
    btz_buf_fini(&buf);
    lua_pushlstring(L, text.ptr, text.len);
    return 1;
}

/* The work is bounded by the limits; it is charged by what there is to search. */
/*@ text.contains(s, needle) -> boolean
 * Whether the fold of `needle` is in that of `s`, as it is, reversed, or inside escapes, entities,
 * percent, hexadecimal, base64 or tag encodings. A needle of fewer than 4 characters must be a
 * word. */
static int text_contains(lua_State *L)
{
    struct btz_str text = argument(L, 1);
    struct btz_str needle = argument(L, 2);
    struct btz_text_limits limits = {BTZ_LUA_STRING_MAX, 2 * text.len + 65536};

    btz_lua_charge(L, 100 + text.len * 2);
    lua_pushboolean(L, btz_text_contains(text, needle, &limits, NULL));
    return 1;
}

/*@ text.sha256(s) -> text
 * The SHA-256 of the bytes of `s`, as 64 lower-case hexadecimal digits. */
static int text_sha256(lua_State *L)
{
    struct btz_str text = argument(L, 1);
    struct btz_hash hash;
    char hex[65];

    btz_lua_charge(L, 50 + text.len / 8);
    hash = btz_hash_of(text);
    lua_pushstring(L, btz_hash_hex(&hash, hex));
    return 1;
}

void btz_lab_bind_text_open(struct btz_lab *lab)
{
    static const struct btz_lua_function functions[] = {
        {"find", text_find}, {"split", text_split},       {"trim", text_trim},
        {"fold", text_fold}, {"contains", text_contains}, {"sha256", text_sha256},
    };

    btz_lua_add(lab->lua, "text", functions, sizeof(functions) / sizeof(*functions));
}
