/* Constructors of pack files. Each gives a table in the shape that the data part has, and notes
 * the line it was called on, by which errors name a place. */
#include <lauxlib.h>
#include <lua.h>

#include "lab/lab_int.h"

static const char marks_key;

static const char *const kinds[] = {"?",      "server", "attack", "variant", "fragment",
                                    "plan",   "call",   "answer", "read",    "insert_before_answer",
                                    "sample", "fill"};
enum kind { SERVER = 1, ATTACK, VARIANT, FRAGMENT, PLAN, CALL, ANSWER, READ, INSERT, SAMPLE, FILL };

void btz_lab_marks_begin(lua_State *L)
{
    lua_newtable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &marks_key);
}

void btz_lab_marks_end(lua_State *L)
{
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &marks_key);
}

unsigned btz_lab_mark_line(lua_State *L, int index, const char **kind)
{
    lua_Integer mark = 0;

    index = lua_absindex(L, index);
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &marks_key) == LUA_TTABLE) {
        lua_pushvalue(L, index);
        if (lua_rawget(L, -2) == LUA_TNUMBER) {
            mark = lua_tointeger(L, -1);
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    *kind = mark ? kinds[mark % 16] : NULL;
    return (unsigned)(mark / 16);
}

/* Notes the line of the caller for the table on top of the stack. */
static void note(lua_State *L, enum kind kind)
{
    lua_Debug ar;
    lua_Integer line = 0;

    if (lua_getstack(L, 1, &ar) && lua_getinfo(L, "l", &ar) && ar.currentline > 0) {
        line = ar.currentline;
    }
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &marks_key) != LUA_TTABLE) {
        luaL_error(L, "%s{...} belongs to the file, not into its functions", kinds[kind]);
    }
    lua_pushvalue(L, -2);
    lua_pushinteger(L, line * 16 + (lua_Integer)kind);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

static int same_table(lua_State *L, enum kind kind)
{
    if (lua_gettop(L) != 1 || !lua_istable(L, 1)) {
        return luaL_error(L, "%s takes one table: %s { ... }", kinds[kind], kinds[kind]);
    }
    note(L, kind);
    return 1;
}

/*@ server { ... }
 * What a file in servers/ returns. */
static int make_server(lua_State *L)
{
    return same_table(L, SERVER);
}

/*@ attack { ... }
 * What a file in attacks/<surface>/ returns: a whole attack, or `extends` and more variants of
 * one. */
static int make_attack(lua_State *L)
{
    return same_table(L, ATTACK);
}

/*@ variant { ... }
 * One scenario of an attack. */
static int make_variant(lua_State *L)
{
    return same_table(L, VARIANT);
}

/*@ fragment { ... }
 * A piece of the payload and where it stands. */
static int make_fragment(lua_State *L)
{
    return same_table(L, FRAGMENT);
}

/*@ plan { step, ... }
 * A list of steps. */
static int make_plan(lua_State *L)
{
    (void)same_table(L, PLAN);
    if (lua_getmetatable(L, 1)) {
        return luaL_error(L, "plan takes a plain list of steps");
    }
    btz_lua_mark_array(L, 1);
    return 1;
}

/* insert_before_answer { step, ... } becomes { insert_before_answer = list }. */
/*@ insert_before_answer { step, ... }
 * The benign plan with these steps before its last answer, so in the last user turn. */
static int make_insert(lua_State *L)
{
    (void)same_table(L, INSERT);
    if (lua_getmetatable(L, 1)) {
        return luaL_error(L, "insert_before_answer takes a plain list of steps");
    }
    btz_lua_mark_array(L, 1);
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, 1);
    lua_setfield(L, -2, "insert_before_answer");
    note(L, INSERT);
    return 1;
}

/* NAME(text) becomes { NAME = text }. */
static int text_step(lua_State *L, enum kind kind)
{
    if (lua_gettop(L) != 1 || lua_type(L, 1) != LUA_TSTRING) {
        return luaL_error(L, "%s takes one text: %s(\"...\")", kinds[kind], kinds[kind]);
    }
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, 1);
    lua_setfield(L, -2, kinds[kind]);
    note(L, kind);
    return 1;
}

/*@ answer(text)
 * The step of answering, which ends a user turn. A whole plan has one for each. */
static int make_answer(lua_State *L)
{
    return text_step(L, ANSWER);
}

/*@ sample(text)
 * The step of completing a text that a server asks for while the call before it runs (sampling).
 * Steps of questions that never come are passed over. */
static int make_sample(lua_State *L)
{
    return text_step(L, SAMPLE);
}

/* fill { action = ..., content = ... } becomes { fill = { action =, content = } }. */
/*@ fill { action = "accept", content = {...} }
 * The step of filling in a form, or of consenting to an address, that a server asks for while the
 * call before it runs (elicitation); `action` may be `decline` or `cancel`, too. */
static int make_fill(lua_State *L)
{
    if (lua_gettop(L) != 1 || !lua_istable(L, 1)) {
        return luaL_error(L, "fill takes one table: fill { action = \"accept\", content = {...} }");
    }
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, 1);
    lua_setfield(L, -2, "fill");
    note(L, FILL);
    return 1;
}

/* read { uri = "..." } or read("...") becomes { read = { uri = "..." } }. */
/*@ read { uri = "..." }; read("...")
 * The step of reading a resource. */
static int make_read(lua_State *L)
{
    if (lua_type(L, 1) == LUA_TTABLE) {
        lua_getfield(L, 1, "uri");
        lua_replace(L, 1);
    }
    if (lua_gettop(L) != 1 || lua_type(L, 1) != LUA_TSTRING) {
        return luaL_error(L, "read takes the uri of a resource: read { uri = \"...\" }");
    }
    lua_createtable(L, 0, 1);
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, 1);
    lua_setfield(L, -2, "uri");
    lua_setfield(L, -2, "read");
    note(L, READ);
    return 1;
}

/* call { "server.tool", { args }, capture = {...} } becomes
 * { call = { server =, tool =, args =, capture = } }. */
/*@ call { "server.tool", { args }, capture = { name = { pointer = "/x/0" } } }
 * The step of calling a tool. What a capture keeps stands as `$name` in the texts of later
 * steps: `pointer` goes into the structured result, `after` and `before` cut from the text.
 * `$base64:name`, `$hex:name`, `$reverse:name`, `$first:name`, `$second:name`, `$hyphens:name` and
 * `$words:name` are it encoded, reversed, its halves, its words joined by hyphens and its words
 * numbered one by one. */
static int make_call(lua_State *L)
{
    const char *target;
    const char *dot;

    luaL_argcheck(L, lua_gettop(L) == 1 && lua_istable(L, 1), 1,
                  "call takes one table: call { \"server.tool\", { ... } }");
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        bool known = lua_isinteger(L, -2) ? lua_tointeger(L, -2) == 1 || lua_tointeger(L, -2) == 2
                                          : lua_type(L, -2) == LUA_TSTRING &&
                                                strcmp(lua_tostring(L, -2), "capture") == 0;

        if (!known) {
            return luaL_error(L, "call has an unknown field; it takes \"server.tool\", the "
                                 "arguments, and capture = {...}");
        }
    }
    lua_rawgeti(L, 1, 1);
    target = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    dot = target ? strchr(target, '.') : NULL;
    if (!dot) {
        return luaL_error(L, "call needs \"server.tool\" as its first item");
    }
    lua_createtable(L, 0, 1);
    lua_createtable(L, 0, 4);
    lua_pushlstring(L, target, (size_t)(dot - target));
    lua_setfield(L, -2, "server");
    lua_pushstring(L, dot + 1);
    lua_setfield(L, -2, "tool");
    if (lua_rawgeti(L, 1, 2) == LUA_TNIL) {
        lua_pop(L, 1);
        lua_newtable(L);
    }
    lua_setfield(L, -2, "args");
    lua_getfield(L, 1, "capture");
    lua_setfield(L, -2, "capture");
    lua_setfield(L, -2, "call");
    note(L, CALL);
    return 1;
}

void btz_lab_constructors_open(struct btz_lab *lab)
{
    static const struct btz_lua_function functions[] = {
        {"server", make_server},     {"attack", make_attack}, {"variant", make_variant},
        {"fragment", make_fragment}, {"plan", make_plan},     {"insert_before_answer", make_insert},
        {"answer", make_answer},     {"read", make_read},     {"call", make_call},
        {"sample", make_sample},     {"fill", make_fill},
    };

    btz_lua_add(lab->lua, NULL, functions, sizeof(functions) / sizeof(*functions));
}
