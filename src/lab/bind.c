/* What scripts know as w, ctx, r and fail: userdata without contents, which act on the run that is
 * in progress. Between runs they refuse. */
#include <lauxlib.h>
#include <lua.h>

#include "lab/ask.h"

enum { SINK_NAME_MAX = 64 };

const char btz_lab_fail_raised;

static struct run *current(lua_State *L, int ref)
{
    struct btz_lab *lab = btz_lua_owner(L);
    bool same;

    btz_lua_push_ref(L, ref);
    same = lua_rawequal(L, 1, -1);
    lua_pop(L, 1);
    if (!same) {
        luaL_error(L, "call the method with a colon, as in w:get(...)");
    }
    if (!lab->run) {
        luaL_error(L, "there is no world while a file is loaded");
    }
    return lab->run;
}

struct run *btz_lab_world_run(lua_State *L)
{
    struct btz_lab *lab = btz_lua_owner(L);
    struct run *run = current(L, lab->world_ref);

    if (run->mode == RUN_JUDGE) {
        luaL_error(L, "oracle and utility read trajectory and journal only");
    }
    return run;
}

/* Completing a text that somebody types is no act: it leaves no trace and moves no draw on. */
static struct run *with_changes(lua_State *L)
{
    struct run *run = btz_lab_world_run(L);

    if (run->mode == RUN_COMPLETE) {
        luaL_error(L, "complete reads the world only: get, has, keys, count and now");
    }
    return run;
}

/* Arguments 2..last as a path. Server functions see their own part of the world only. */
static size_t read_keys(lua_State *L, const struct run *run, int last, struct world_key *keys)
{
    size_t count = 0;

    if (run->server) {
        keys[count++] = (struct world_key){false, 0, run->server->pub.id};
    }
    for (int i = 2; i <= last; i++) {
        struct world_key *key = &keys[count];

        if (count + 1 >= WORLD_DEPTH) {
            luaL_error(L, "the path is too long");
        }
        *key = (struct world_key){0};
        if (lua_isinteger(L, i)) {
            key->is_index = true;
            key->index = lua_tointeger(L, i);
        } else if (lua_type(L, i) == LUA_TSTRING) {
            key->name.ptr = lua_tolstring(L, i, &key->name.len);
        } else if (lua_type(L, i) == LUA_TNUMBER) {
            key->is_index = true;
            key->index = luaL_checkinteger(L, i);
        } else {
            luaL_error(L, "argument %d of the path is a %s: keys are names and positions", i - 1,
                       luaL_typename(L, i));
        }
        count++;
    }
    if (!run->server && last >= 2) {
        const struct btz_stage *stage = run->stage;
        bool found = false;

        for (size_t i = 0; i < stage->server_count; i++) {
            found =
                found || (!keys[0].is_index && btz_str_eq(stage->servers[i].pub.id, keys[0].name));
        }
        if (!found && (keys[0].is_index || !btz_str_is(keys[0].name, BTZ_LAB_WIRE))) {
            luaL_error(L, "the first key of a variant's path is a server of its setting, or "
                          "\"" BTZ_LAB_WIRE "\"");
        }
    }
    return count;
}

/*@ w:get(k1, k2, ...) -> value or nil
 * What is there, as a copy. */
static int world_get(lua_State *L)
{
    struct world_key keys[WORLD_DEPTH];
    struct run *run = btz_lab_world_run(L);
    size_t count = read_keys(L, run, lua_gettop(L), keys);
    const struct btz_json *value = btz_world_get(&run->stage->world, keys, count);

    if (value) {
        btz_lua_push_json(L, value);
    } else {
        lua_pushnil(L);
    }
    return 1;
}

/*@ w:has(k1, ...) -> boolean
 * Whether something is there. */
static int world_has(lua_State *L)
{
    struct world_key keys[WORLD_DEPTH];
    struct run *run = btz_lab_world_run(L);
    size_t count = read_keys(L, run, lua_gettop(L), keys);

    lua_pushboolean(L, btz_world_get(&run->stage->world, keys, count) != NULL);
    return 1;
}

/*@ w:count(k1, ...) -> integer
 * Number of items or members there; 0 where nothing is. */
static int world_count(lua_State *L)
{
    struct world_key keys[WORLD_DEPTH];
    struct run *run = btz_lab_world_run(L);
    size_t count = read_keys(L, run, lua_gettop(L), keys);
    const struct btz_json *value = btz_world_get(&run->stage->world, keys, count);

    lua_pushinteger(L, (lua_Integer)btz_json_count(value));
    return 1;
}

/*@ w:keys(k1, ...) -> list
 * The keys of the object there: those of one written table in key order, later ones behind. An
 * empty list where nothing is. */
static int world_keys(lua_State *L)
{
    struct world_key keys[WORLD_DEPTH];
    struct run *run = btz_lab_world_run(L);
    size_t count = read_keys(L, run, lua_gettop(L), keys);
    const struct btz_json *value = btz_world_get(&run->stage->world, keys, count);
    size_t n = btz_json_is(value, BTZ_JSON_OBJECT) ? btz_json_count(value) : 0;

    btz_lua_charge(L, n);
    lua_createtable(L, (int)n, 0);
    btz_lua_mark_array(L, -1);
    for (size_t i = 0; i < n; i++) {
        struct btz_str key = btz_json_key_at(value, i);

        lua_pushlstring(L, key.ptr, key.len);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* Whoever sits on the wire changes nothing but what it keeps for itself. */
static void may_write(lua_State *L, const struct run *run, const struct world_key *keys)
{
    if (run->mode == RUN_RELAY && (keys[0].is_index || !btz_str_is(keys[0].name, BTZ_LAB_WIRE))) {
        luaL_error(L, "a relay writes below \"" BTZ_LAB_WIRE "\" only");
    }
}

/* The last argument as JSON in the stage's arena. */
static const struct btz_json *read_value(lua_State *L, struct run *run)
{
    const struct btz_json *value;

    if (lua_isnil(L, -1)) {
        luaL_error(L, "nil cannot be written; w:delete removes, null is JSON's null");
    }
    if (btz_arena_used(run->stage->arena) > BTZ_LAB_WORLD_BYTES_MAX) {
        luaL_error(L, "the world is too large");
    }
    value = btz_lua_to_json(L, -1, run->stage->arena);
    if (run->mode == RUN_SEED_SERVER) { /* markers are compared with what was written */
        btz_stage_note(run->stage, value);
    }
    return value;
}

/* `why` is set by the call that gives `code`, so it is read here and not where that is called. */
static void check(lua_State *L, int code, const char *const *why)
{
    if (code != BTZ_OK) {
        luaL_error(L, "%s", *why);
    }
}

static void journal(struct run *run, const char *op, const struct world_key *keys, size_t count,
                    const struct btz_json *value, struct btz_str sink)
{
    if (run->mode == RUN_CALL || run->mode == RUN_RELAY) {
        btz_stage_journal_add(run->stage, run, op, keys, count, value, sink);
    }
}

/*@ w:put(k1, ..., value)
 * Writes; objects missing on the way are made. A list grows by writing at its length plus one.
 * `nil` is refused: `w:delete` removes. */
static int world_put(lua_State *L)
{
    struct world_key keys[WORLD_DEPTH];
    struct run *run = with_changes(L);
    const struct btz_json *value;
    const char *why = NULL;
    size_t count;

    luaL_argcheck(L, lua_gettop(L) >= 3, 2, "w:put takes a path and a value");
    count = read_keys(L, run, lua_gettop(L) - 1, keys);
    may_write(L, run, keys);
    value = read_value(L, run);
    check(L, btz_world_put(&run->stage->world, keys, count, value, &why), &why);
    journal(run, "put", keys + 1, count - 1, value, BTZ_STR_NONE);
    return 0;
}

/*@ w:append(k1, ..., value) -> position
 * Adds to the end of a list, which is made if it is missing. */
static int world_append(lua_State *L)
{
    struct world_key keys[WORLD_DEPTH];
    struct run *run = with_changes(L);
    const struct btz_json *value;
    const char *why = NULL;
    size_t position = 0;
    size_t count;

    luaL_argcheck(L, lua_gettop(L) >= 3, 2, "w:append takes a path and a value");
    count = read_keys(L, run, lua_gettop(L) - 1, keys);
    may_write(L, run, keys);
    value = read_value(L, run);
    check(L, btz_world_append(&run->stage->world, keys, count, value, &position, &why), &why);
    journal(run, "append", keys + 1, count - 1, value, BTZ_STR_NONE);
    lua_pushinteger(L, (lua_Integer)position);
    return 1;
}

/*@ w:delete(k1, ...) -> boolean
 * Removes; tells whether something was there. */
static int world_delete(lua_State *L)
{
    struct world_key keys[WORLD_DEPTH];
    struct run *run = with_changes(L);
    const char *why = NULL;
    size_t count;
    int code;

    luaL_argcheck(L, lua_gettop(L) >= 2, 2, "w:delete takes a path");
    count = read_keys(L, run, lua_gettop(L), keys);
    may_write(L, run, keys);
    code = btz_world_delete(&run->stage->world, keys, count, &why);
    if (code == BTZ_OK) {
        journal(run, "delete", keys + 1, count - 1, NULL, BTZ_STR_NONE);
    } else if (code != BTZ_ENOTFOUND) {
        check(L, code, &why);
    }
    lua_pushboolean(L, code == BTZ_OK);
    return 1;
}

/*@ w:sink(name, record)
 * Appends a record to a sink (`mail.outbox`, `files`, ...). Sinks are what oracles read: write
 * after all checks. */
static int world_sink(lua_State *L)
{
    struct run *run = with_changes(L);
    struct world_key keys[2] = {{false, 0, BTZ_STR("sinks")}, {false, 0, BTZ_STR_NONE}};
    const struct btz_json *value;
    const char *why = NULL;
    size_t position = 0;

    keys[1].name.ptr = luaL_checklstring(L, 2, &keys[1].name.len);
    luaL_argcheck(L,
                  lua_gettop(L) == 3 && keys[1].name.len > 0 && keys[1].name.len <= SINK_NAME_MAX,
                  2, "w:sink takes the name of a sink and a record");
    value = read_value(L, run);
    check(L, btz_world_append(&run->stage->world, keys, 2, value, &position, &why), &why);
    journal(run, "sink", keys, 2, value, keys[1].name);
    return 0;
}

/*@ w:now() -> integer
 * Simulated time in seconds. It stands still within a call. */
static int world_now(lua_State *L)
{
    lua_pushinteger(L, btz_lab_world_run(L)->stage->time);
    return 1;
}

/*@ w:random(n) -> integer
 * One of 1..n, by the seed. */
static int world_random(lua_State *L)
{
    struct run *run = with_changes(L);
    lua_Integer n = luaL_checkinteger(L, 2);

    luaL_argcheck(L, n >= 1, 2, "w:random(n) gives 1..n");
    lua_pushinteger(L, 1 + (lua_Integer)btz_rng_below(&run->stage->random, (uint64_t)n));
    return 1;
}

static bool id_used(const struct btz_stage *stage, struct btz_str id)
{
    for (size_t i = 0; i < stage->id_count; i++) {
        if (btz_str_eq(stage->ids[i], id)) {
            return true;
        }
    }
    return false;
}

/* Four digits as long as there is room, then more. */
/*@ w:id(prefix) -> text
 * A fresh id such as `prefix-4821`, which stands nowhere else in this world; in a seed, nowhere
 * else in what this server's seed gives out. */
static int world_id(lua_State *L)
{
    struct run *run = with_changes(L);
    struct btz_stage *stage = run->stage;
    const char *prefix = luaL_checkstring(L, 2);
    char text[80];
    unsigned tries = 0;

    luaL_argcheck(L, strlen(prefix) <= 40, 2, "the prefix is too long");
    btz_lua_charge(L, stage->id_count);
    do {
        uint64_t span = tries++ < 20 ? 9000 : 9000000;

        (void)snprintf(text, sizeof(text), "%s-%llu", prefix,
                       (unsigned long long)(1000 + btz_rng_below(&stage->random, span)));
    } while (id_used(stage, btz_str_of(text)) || btz_lab_text_known(stage->lab, btz_str_of(text)));
    stage->ids = btz_arena_grow(stage->arena, stage->ids, stage->id_count, &stage->id_cap,
                                sizeof(*stage->ids));
    stage->ids[stage->id_count++] = btz_arena_dup(stage->arena, btz_str_of(text));
    btz_lua_charge_bytes(L, sizeof(text));
    lua_pushstring(L, text);
    return 1;
}

/*@ r:below(n) -> integer
 * One of 0..n-1. */
static int random_below(lua_State *L)
{
    struct run *run = current(L, ((struct btz_lab *)btz_lua_owner(L))->random_ref);
    lua_Integer n = luaL_checkinteger(L, 2);

    luaL_argcheck(L, n >= 1, 2, "r:below(n) gives 0..n-1");
    lua_pushinteger(L, (lua_Integer)btz_rng_below(&run->random, (uint64_t)n));
    return 1;
}

/*@ r:range(from, to) -> integer
 * One of from..to, both included. */
static int random_range(lua_State *L)
{
    struct run *run = current(L, ((struct btz_lab *)btz_lua_owner(L))->random_ref);
    lua_Integer from = luaL_checkinteger(L, 2);
    lua_Integer to = luaL_checkinteger(L, 3);

    luaL_argcheck(L, from <= to, 3, "r:range(from, to) needs from <= to");
    lua_pushinteger(L,
                    (lua_Integer)((uint64_t)from +
                                  btz_rng_below(&run->random, (uint64_t)to - (uint64_t)from + 1)));
    return 1;
}

/*@ r:pick(list) -> value
 * One item of a list that is not empty. */
static int random_pick(lua_State *L)
{
    struct run *run = current(L, ((struct btz_lab *)btz_lua_owner(L))->random_ref);
    size_t count;

    luaL_checktype(L, 2, LUA_TTABLE);
    btz_lua_push_contents(L, 2);
    count = lua_rawlen(L, -1);
    luaL_argcheck(L, count > 0, 2, "r:pick needs a list that is not empty");
    lua_rawgeti(L, -1, 1 + (lua_Integer)btz_rng_below(&run->random, count));
    return 1;
}

/*@ ctx.safe(switch) -> boolean
 * Whether the host profile of the trial makes this switch safe, for a server's own code path: a
 * server is lenient only where this is false. A name that is no switch is an error. */
static int context_safe(lua_State *L)
{
    struct btz_lab *lab = btz_lua_owner(L);
    struct btz_str name;

    name.ptr = luaL_checklstring(L, 1, &name.len);
    if (!lab->run || !lab->run->server) {
        return luaL_error(L, "ctx belongs to a call in progress");
    }
    for (int which = 0; which < BTZ_SWITCH_COUNT; which++) {
        if (btz_str_is(name, btz_switch_name((enum btz_switch)which))) {
            lua_pushboolean(L, lab->run->stage->profile.safe[which]);
            return 1;
        }
    }
    return luaL_error(L, "there is no host-profile switch '%s'", name.ptr);
}

/*@ ctx.server -> text
 * The configured name of the server, which the model may see. */
/*@ ctx.tool -> text
 * The tool that is called; empty in `read`, `get` and `complete`. */
/*@ ctx.prompt -> text
 * The prompt that is asked for or completed; else empty. */
static int context_get(lua_State *L)
{
    struct btz_lab *lab = btz_lua_owner(L);
    const struct run *run = lab->run;
    struct btz_str key = btz_str_of(luaL_checkstring(L, 2));
    struct btz_str value = BTZ_STR_NONE;

    if (!run || !run->server) {
        return luaL_error(L, "ctx belongs to a call in progress");
    }
    if (btz_lab_ask_push(L, key)) {
        return 1;
    }
    if (btz_str_is(key, "server")) {
        value = run->server->pub.label;
    } else if (btz_str_is(key, "tool")) {
        value = run->tool;
    } else if (btz_str_is(key, "prompt")) {
        value = run->prompt;
    } else if (btz_str_is(key, "safe")) {
        lua_pushcfunction(L, context_safe);
        return 1;
    } else {
        return luaL_error(
            L, "ctx has server, tool, prompt, safe and ways to ask the client, not '%s'", key.ptr);
    }
    lua_pushlstring(L, value.ptr ? value.ptr : "", value.len);
    return 1;
}

/*@ fail(message)
 * Ends a handler with an error result, `get` and `complete` of a prompt with an error for the
 * peer, and `read` with "not found". What was written before stays. */
static int fail(lua_State *L)
{
    struct btz_lab *lab = btz_lua_owner(L);
    struct btz_str text;

    text.ptr = luaL_checklstring(L, 1, &text.len);
    if (!lab->run) {
        return luaL_error(L, "fail belongs into a handler");
    }
    btz_lua_charge_bytes(L, text.len + 1);
    lab->run->failed = btz_arena_dup(lab->run->stage->arena, text).ptr;
    lua_pushlightuserdata(L, (void *)(uintptr_t)&btz_lab_fail_raised);
    return lua_error(L);
}

static int frozen(lua_State *L)
{
    return luaL_error(L, "w, ctx and r have no fields that can be set");
}

static int object(lua_State *L, const luaL_Reg *methods, lua_CFunction index)
{
    (void)lua_newuserdatauv(L, 0, 0);
    lua_createtable(L, 0, 3);
    if (index) {
        lua_pushcfunction(L, index);
    } else {
        lua_newtable(L);
        luaL_setfuncs(L, methods, 0);
    }
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, frozen);
    lua_setfield(L, -2, "__newindex");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    return btz_lua_ref(L);
}

/*@ w:sql { tables = "...", statement = "...", params = {...} } -> table
 * In a handler, runs SQL over tables that stand in the world: see "SQL" above. Raises SQLite's
 * message as a text. */

void btz_lab_bind_open(struct btz_lab *lab)
{
    static const luaL_Reg world[] = {
        {"get", world_get},
        {"has", world_has},
        {"keys", world_keys},
        {"count", world_count},
        {"put", world_put},
        {"append", world_append},
        {"delete", world_delete},
        {"sink", world_sink},
        {"now", world_now},
        {"random", world_random},
        {"id", world_id},
        {"sql", btz_lab_world_sql},
        {NULL, NULL},
    };
    static const luaL_Reg random[] = {
        {"below", random_below}, {"range", random_range}, {"pick", random_pick}, {NULL, NULL}};
    static const struct btz_lua_function globals[] = {{"fail", fail}};
    lua_State *L = btz_lua_state(lab->lua);

    lab->world_ref = object(L, world, NULL);
    lab->random_ref = object(L, random, NULL);
    lab->ctx_ref = object(L, NULL, context_get);
    btz_lua_add(lab->lua, NULL, globals, 1);
}
