/* re: PCRE2 patterns on texts, with the work of each search taken from the instruction budget.
 * Compiled patterns are kept in a small table of the state, so that nothing is lost when an error
 * jumps over a caller. */
#include <stdlib.h>

#include "lua/host_int.h"
#include "match/regex.h"

enum {
    KEPT = 1024,         /* compiled patterns; a new one takes the place of another by hash */
    COMPILE_UNITS = 2000 /* charged for compiling one */
};

struct pattern {
    struct btz_regex *regex;
    size_t len;
    char *text;
};

struct btz_lua_patterns {
    struct pattern slots[KEPT];
};

void btz_lua_re_free(struct btz_lua *host)
{
    for (size_t i = 0; host->patterns && i < KEPT; i++) {
        btz_regex_free(host->patterns->slots[i].regex);
        free(host->patterns->slots[i].text);
    }
    free(host->patterns);
}

static size_t slot_of(struct btz_str text)
{
    uint64_t hash = 14695981039346656037ULL; /* FNV-1a */

    for (size_t i = 0; i < text.len; i++) {
        hash = (hash ^ (unsigned char)text.ptr[i]) * 1099511628211ULL;
    }
    return (size_t)((hash >> 32) % KEPT);
}

static const struct btz_regex *compiled(lua_State *L, int index)
{
    struct btz_lua *host = btz_lua_of(L);
    struct btz_regex *regex;
    struct pattern *slot;
    struct btz_str text;
    struct btz_err err;
    char *copy;

    text.ptr = luaL_checklstring(L, index, &text.len);
    if (!host->patterns) {
        host->patterns = calloc(1, sizeof(*host->patterns));
    }
    slot = host->patterns ? &host->patterns->slots[slot_of(text)] : NULL;
    if (slot && slot->regex && slot->len == text.len &&
        memcmp(slot->text, text.ptr, text.len) == 0) {
        return slot->regex;
    }
    btz_lua_charge(L, COMPILE_UNITS + 8 * text.len);
    if (btz_regex_new(text, 0, &regex, &err) != BTZ_OK) {
        luaL_error(L, "bad pattern, at byte %d: %s", (int)err.column, err.msg);
    }
    copy = malloc(text.len + 1);
    if (!copy || !slot) {
        btz_panic("out of memory");
    }
    memcpy(copy, text.ptr, text.len);
    btz_regex_free(slot->regex);
    free(slot->text);
    *slot = (struct pattern){regex, text.len, copy};
    return regex;
}

/* One search; false if there is no match. */
static bool search(lua_State *L, const struct btz_regex *regex, struct btz_str text, size_t from,
                   struct btz_regex_match *match)
{
    struct btz_lua *host = btz_lua_of(L);
    uint64_t left = host->budget > host->used ? host->budget - host->used : 0;
    uint64_t work = left < BTZ_REGEX_WORK ? left : BTZ_REGEX_WORK;
    uint64_t given = work;
    int code = btz_regex_find(regex, text, from, &work, match);

    btz_lua_charge(L, 10 + given - work);
    if (code == BTZ_ELIMIT) {
        btz_lua_break(L, BTZ_LUA_INSTRUCTIONS);
    }
    if (code == BTZ_EINVAL) {
        luaL_error(L, "re: the text is not valid UTF-8, or the position is inside a character");
    }
    return code == BTZ_OK;
}

/* Where the search after `match` begins: an empty match moves one character on. */
static size_t after(struct btz_str text, const struct btz_regex_match *match)
{
    size_t at = match->spans[0].end;

    if (match->spans[0].begin == at) {
        at++;
        while (at < text.len && ((unsigned char)text.ptr[at] & 0xc0) == 0x80) {
            at++;
        }
    }
    return at;
}

static void push_group(lua_State *L, struct btz_str text, const struct btz_regex_match *match,
                       size_t group)
{
    struct btz_str part = btz_regex_text(match, text, group);

    if (part.ptr) {
        lua_pushlstring(L, part.ptr, part.len);
    } else {
        lua_pushboolean(L, 0); /* the group took no part */
    }
}

static struct btz_str check_text(lua_State *L, int index)
{
    struct btz_str text;

    text.ptr = luaL_checklstring(L, index, &text.len);
    return text;
}

static size_t check_from(lua_State *L, int index, struct btz_str text)
{
    lua_Integer from = luaL_optinteger(L, index, 1);

    luaL_argcheck(L, from >= 1 && (lua_Unsigned)from <= text.len + 1, index,
                  "position out of bounds");
    return (size_t)from - 1;
}

/*@ re.find(s, pattern, from?) -> first, last, captures... or nil
 * Patterns are PCRE2 with limits on work; it is charged to the budget. */
static int re_find(lua_State *L)
{
    struct btz_str text = check_text(L, 1);
    const struct btz_regex *regex = compiled(L, 2);
    struct btz_regex_match match;

    if (!search(L, regex, text, check_from(L, 3, text), &match)) {
        lua_pushnil(L);
        return 1;
    }
    luaL_checkstack(L, (int)match.count + 4, NULL);
    lua_pushinteger(L, (lua_Integer)match.spans[0].begin + 1);
    lua_pushinteger(L, (lua_Integer)match.spans[0].end);
    for (size_t i = 1; i < match.count; i++) {
        push_group(L, text, &match, i);
    }
    return 1 + (int)match.count;
}

/*@ re.match(s, pattern, from?) -> captures... or nil
 * The whole match if the pattern has no group; a group that took no part is `false`. */
static int re_match(lua_State *L)
{
    struct btz_str text = check_text(L, 1);
    const struct btz_regex *regex = compiled(L, 2);
    struct btz_regex_match match;

    if (!search(L, regex, text, check_from(L, 3, text), &match)) {
        lua_pushnil(L);
        return 1;
    }
    luaL_checkstack(L, (int)match.count + 4, NULL);
    if (match.count == 1) {
        push_group(L, text, &match, 0);
        return 1;
    }
    for (size_t i = 1; i < match.count; i++) {
        push_group(L, text, &match, i);
    }
    return (int)match.count - 1;
}

/*@ re.all(s, pattern) -> list
 * Whole matches, the one capture of each, or a list of captures for each. */
static int re_all(lua_State *L)
{
    struct btz_str text = check_text(L, 1);
    const struct btz_regex *regex = compiled(L, 2);
    struct btz_regex_match match;
    lua_Integer n = 0;
    size_t at = 0;

    lua_newtable(L);
    btz_lua_mark_array(L, -1);
    while (at <= text.len && search(L, regex, text, at, &match)) {
        if (match.count <= 2) {
            push_group(L, text, &match, match.count - 1);
        } else {
            lua_createtable(L, (int)match.count - 1, 0);
            for (size_t i = 1; i < match.count; i++) {
                push_group(L, text, &match, i);
                lua_rawseti(L, -2, (lua_Integer)i);
            }
        }
        lua_rawseti(L, -2, ++n);
        at = after(text, &match);
    }
    return 1;
}

/* "%1".."%9" and "%0" in a replacement are groups, "%%" is a percent sign. */
static void add_replacement(lua_State *L, luaL_Buffer *out, struct btz_str with,
                            struct btz_str text, const struct btz_regex_match *match)
{
    for (size_t i = 0; i < with.len; i++) {
        struct btz_str group;

        if (with.ptr[i] != '%') {
            luaL_addchar(out, with.ptr[i]);
            continue;
        }
        i++;
        if (i < with.len && with.ptr[i] == '%') {
            luaL_addchar(out, '%');
            continue;
        }
        if (i >= with.len || with.ptr[i] < '0' || with.ptr[i] > '9' ||
            (size_t)(with.ptr[i] - '0') >= match->count) {
            luaL_error(L, "re.sub: the replacement names a group that the pattern has not");
        }
        group = btz_regex_text(match, text, (size_t)(with.ptr[i] - '0'));
        luaL_addlstring(out, group.ptr ? group.ptr : "", group.len);
    }
}

/*@ re.sub(s, pattern, replacement, limit?) -> text, count
 * `%0` to `%9` in the replacement are groups, `%%` is a percent sign. */
static int re_sub(lua_State *L)
{
    struct btz_str text = check_text(L, 1);
    const struct btz_regex *regex = compiled(L, 2);
    struct btz_str with = check_text(L, 3);
    lua_Integer limit = luaL_optinteger(L, 4, LUA_MAXINTEGER);
    struct btz_regex_match match;
    lua_Integer n = 0;
    size_t done = 0; /* copied so far */
    size_t at = 0;
    size_t total = 0;
    luaL_Buffer out;

    luaL_buffinit(L, &out);
    while (n < limit && at <= text.len && search(L, regex, text, at, &match)) {
        luaL_addlstring(&out, text.ptr + done, match.spans[0].begin - done);
        add_replacement(L, &out, with, text, &match);
        done = match.spans[0].end;
        at = after(text, &match);
        n++;
        total += with.len;
        if (total > BTZ_LUA_STRING_MAX || luaL_bufflen(&out) > BTZ_LUA_STRING_MAX) {
            btz_lua_break(L, BTZ_LUA_BYTES);
        }
    }
    luaL_addlstring(&out, text.ptr + done, text.len - done);
    luaL_pushresult(&out);
    lua_pushinteger(L, n);
    return 2;
}

/*@ re.split(s, pattern) -> list
 * The pieces between matches. */
static int re_split(lua_State *L)
{
    struct btz_str text = check_text(L, 1);
    const struct btz_regex *regex = compiled(L, 2);
    struct btz_regex_match match;
    lua_Integer n = 0;
    size_t begin = 0;
    size_t at = 0;

    lua_newtable(L);
    btz_lua_mark_array(L, -1);
    while (at <= text.len && search(L, regex, text, at, &match)) {
        at = after(text, &match);
        if (match.spans[0].begin == match.spans[0].end) {
            continue; /* an empty match separates nothing */
        }
        lua_pushlstring(L, text.ptr + begin, match.spans[0].begin - begin);
        lua_rawseti(L, -2, ++n);
        begin = match.spans[0].end;
    }
    lua_pushlstring(L, text.ptr + begin, text.len - begin);
    lua_rawseti(L, -2, ++n);
    return 1;
}

void btz_lua_open_re(lua_State *L)
{
    static const luaL_Reg own[] = {{"find", re_find}, {"match", re_match}, {"all", re_all},
                                   {"sub", re_sub},   {"split", re_split}, {NULL, NULL}};

    lua_newtable(L);
    luaL_setfuncs(L, own, 0);
}
