/* Runs a pack file, splits what it returns into data and functions, and checks the data. */
#include <ctype.h>
#include <lauxlib.h>
#include <lua.h>
#include <stdarg.h>
#include <stdio.h>

#include "lab/lab_int.h"

enum { PATH_MAX_BYTES = 300, PLACES_MAX = 4096, FUNCTIONS_MAX = 1024 };

/* The file being loaded. */
struct load {
    struct btz_lab *lab;
    struct pack *pack;
    struct script *script;
    const char *kind;
    int main;
    struct btz_err err;
    char path[PATH_MAX_BYTES];
    size_t path_len;
    size_t place_cap, function_cap;
};

static const char refused; /* raised when load.err holds the message */

const struct btz_lua_budget btz_lab_load_budget = {20000000, 64u << 20, 20000000};

/* Where functions may stand; # is a position, * any name. */
static const char *const function_paths[] = {
    "server:/base",
    "server:/seed",
    "server:/tools/#/handler",
    "server:/resources/#/read",
    "server:/prompts/#/get",
    "server:/prompts/#/arguments/#/complete",
    "server:/templates/#/read",
    "server:/templates/#/complete/*",
    "attack:/variants/#/seed",
    "attack:/variants/#/utility",
    "attack:/variants/#/oracle",
    "attack:/variants/#/relay",
    "attack:/variants/#/handler",
    "attack:/variants/#/ask",
    "attack:/variants/#/twins/benign/relay",
    "attack:/variants/#/site",
    "attack:/variants/#/twins/clean/utility",
    "attack:/variants/#/twins/benign/utility",
};

/* Where an empty table is a list. */
static const char *const list_paths[] = {
    "server:/tools",
    "server:/resources",
    "server:/prompts",
    "server:/prompts/#/arguments",
    "server:/templates",
    "attack:/variants",
    "attack:/variants/#/revisions",
    "attack:/variants/#/carriers",
    "attack:/variants/#/switches",
    "attack:/variants/#/cross_fires",
    "attack:/variants/#/payload",
    "attack:/variants/#/payload/#/operands",
    "attack:/variants/#/routes",
    "attack:/variants/#/setting/authorization",
    "attack:/variants/#/setting/servers",
    "attack:/variants/#/setting/resources",
    "attack:/variants/#/setting/turns",
    "attack:/variants/#/setting/replies",
    "attack:/variants/#/twins/clean/turns",
    "attack:/variants/#/twins/benign/turns",
};

static bool path_matches(const char *pattern, const char *kind, const char *path)
{
    size_t len = strlen(kind);

    if (strncmp(pattern, kind, len) != 0 || pattern[len] != ':') {
        return false;
    }
    for (pattern += len + 1; *pattern; pattern++) {
        if (*pattern == '#' && isdigit((unsigned char)*path)) {
            path += strspn(path, "0123456789");
        } else if (*pattern == '*' && *path && *path != '/') {
            path += strcspn(path, "/");
        } else if (*pattern != *path++) {
            return false;
        }
    }
    return *path == '\0';
}

static bool path_in(const char *const *patterns, size_t count, const struct load *load)
{
    for (size_t i = 0; i < count; i++) {
        if (path_matches(patterns[i], load->kind, load->path)) {
            return true;
        }
    }
    return false;
}

/* Lists of JSON Schema keywords inside tool schemas are told by their names. */
static bool empty_is_list(const struct load *load)
{
    struct btz_str path = {load->path, load->path_len};

    if (path_in(list_paths, sizeof(list_paths) / sizeof(*list_paths), load)) {
        return true;
    }
    return strcmp(load->kind, "server") == 0 && btz_str_starts(path, BTZ_STR("/tools/")) &&
           (btz_str_ends(path, BTZ_STR("/required")) || btz_str_ends(path, BTZ_STR("/enum"))) &&
           !btz_str_ends(path, BTZ_STR("properties/required")) &&
           !btz_str_ends(path, BTZ_STR("properties/enum"));
}

const char *btz_lab_field(char *out, size_t size, struct btz_str pointer)
{
    struct btz_buf buf;
    struct btz_str part;

    btz_buf_init(&buf, size - 1);
    (void)btz_str_cut(&pointer, '/', &part); /* what is before the first slash: nothing */
    while (btz_str_cut(&pointer, '/', &part)) {
        int64_t index;

        if (btz_str_int64(part, &index) == BTZ_OK && index >= 0) {
            (void)btz_buf_printf(&buf, "[%lld]", (long long)index + 1);
            continue;
        }
        if (buf.len > 0) {
            (void)btz_buf_add_byte(&buf, '.');
        }
        for (size_t i = 0; i < part.len; i++) {
            bool escape = part.ptr[i] == '~' && i + 1 < part.len;

            i += escape;
            (void)btz_buf_add_byte(&buf, !escape ? part.ptr[i] : part.ptr[i] == '1' ? '/' : '~');
        }
    }
    (void)snprintf(out, size, "%.*s", BTZ_FMT(btz_buf_view(&buf)));
    btz_buf_fini(&buf);
    return out;
}

int btz_lab_refuse(const struct script *script, struct btz_str pointer, struct btz_err *err,
                   const char *fmt, ...)
{
    const struct place *best = NULL;
    char field[200];
    char reason[500];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(reason, sizeof(reason), fmt, args);
    va_end(args);
    for (size_t i = 0; i < script->place_count; i++) {
        const struct place *p = &script->places[i];

        if (btz_str_starts(pointer, p->path) &&
            (pointer.len == p->path.len || pointer.ptr[p->path.len] == '/') &&
            (!best || p->path.len >= best->path.len)) {
            best = p;
        }
    }
    btz_lab_field(field, sizeof(field), pointer);
    (void)btz_err_set(err, BTZ_EINVAL, "%s%s%s", field, *field ? ": " : "", reason);
    btz_err_at(err, script->name.ptr, best ? best->line : 1, 0);
    return BTZ_EINVAL;
}

int btz_lab_function(const struct script *script, struct btz_str pointer)
{
    for (size_t i = 0; i < script->function_count; i++) {
        if (btz_str_eq(script->functions[i].path, pointer)) {
            return script->functions[i].ref;
        }
    }
    return BTZ_LUA_NONE;
}

/* Raises; the message has place and field. */
static _Noreturn void refuse(lua_State *L, struct load *load, const char *reason)
{
    (void)btz_lab_refuse(load->script, (struct btz_str){load->path, load->path_len}, &load->err,
                         "%s", reason);
    lua_pushlightuserdata(L, (void *)(uintptr_t)&refused);
    lua_error(L);
    __builtin_unreachable();
}

static void path_push(lua_State *L, struct load *load, const char *key, size_t len)
{
    load->path[load->path_len++] = '/';
    for (size_t i = 0; i < len; i++) {
        if (load->path_len + 4 > sizeof(load->path)) {
            load->path[load->path_len] = '\0';
            refuse(L, load, "the field is nested too deep");
        }
        if (key[i] == '~' || key[i] == '/') {
            load->path[load->path_len++] = '~';
            load->path[load->path_len++] = key[i] == '~' ? '0' : '1';
        } else {
            load->path[load->path_len++] = key[i];
        }
    }
    load->path[load->path_len] = '\0';
}

static void path_pop(struct load *load, size_t len)
{
    load->path_len = len;
    load->path[len] = '\0';
}

static struct btz_str path_dup(struct load *load)
{
    return btz_arena_dup(load->lab->arena, (struct btz_str){load->path, load->path_len});
}

static void add_place(lua_State *L, struct load *load, int index)
{
    struct script *script = load->script;
    const char *kind;
    unsigned line = btz_lab_mark_line(L, index, &kind);

    if (line == 0 || script->place_count >= PLACES_MAX) {
        return;
    }
    script->places = btz_arena_grow(load->lab->arena, script->places, script->place_count,
                                    &load->place_cap, sizeof(*script->places));
    script->places[script->place_count++] = (struct place){path_dup(load), line};
}

static void add_function(lua_State *L, struct load *load, int index)
{
    struct script *script = load->script;

    if (!path_in(function_paths, sizeof(function_paths) / sizeof(*function_paths), load)) {
        refuse(L, load, "a function stands where data is expected, or the field is unknown");
    }
    if (script->function_count >= FUNCTIONS_MAX) {
        refuse(L, load, "the file has too many functions");
    }
    script->functions = btz_arena_grow(load->lab->arena, script->functions, script->function_count,
                                       &load->function_cap, sizeof(*script->functions));
    lua_pushvalue(L, index);
    script->functions[script->function_count++] =
        (struct script_function){path_dup(load), btz_lua_ref(L)};
}

static const struct btz_json *read_value(lua_State *L, struct load *load, int index);

/* The keys come as a list in order, from pairs' own sorting. */
static const struct btz_json *read_object(lua_State *L, struct load *load, int table, int keys)
{
    struct btz_arena *arena = load->lab->arena;
    struct btz_json *out = btz_json_new_object(arena);
    size_t count = lua_rawlen(L, keys);
    size_t len = load->path_len;

    for (size_t i = 1; i <= count; i++) {
        const struct btz_json *value;
        struct btz_str key;

        lua_rawgeti(L, keys, (lua_Integer)i);
        if (lua_type(L, -1) != LUA_TSTRING) {
            refuse(L, load, "positions and names are mixed in one table, or a list has holes");
        }
        key.ptr = lua_tolstring(L, -1, &key.len);
        path_push(L, load, key.ptr, key.len);
        lua_pushvalue(L, -1);
        lua_rawget(L, table);
        value = read_value(L, load, lua_gettop(L));
        if (value) {
            btz_json_set(arena, out, key, value);
        }
        path_pop(load, len);
        lua_pop(L, 2);
    }
    return out;
}

static const struct btz_json *read_list(lua_State *L, struct load *load, int table)
{
    struct btz_arena *arena = load->lab->arena;
    struct btz_json *out = btz_json_new_array(arena);
    size_t count = lua_rawlen(L, table);
    size_t len = load->path_len;

    for (size_t i = 1; i <= count; i++) {
        const struct btz_json *value;
        char number[24];

        (void)snprintf(number, sizeof(number), "%zu", i - 1);
        path_push(L, load, number, strlen(number));
        lua_rawgeti(L, table, (lua_Integer)i);
        value = read_value(L, load, lua_gettop(L));
        if (value) {
            btz_json_push(arena, out, value);
        }
        path_pop(load, len);
        lua_pop(L, 1);
    }
    return out;
}

static const struct btz_json *read_table(lua_State *L, struct load *load, int index)
{
    int top = lua_gettop(L);
    enum btz_lua_mark mark = btz_lua_mark_of(L, index);
    const struct btz_json *out;
    size_t length;
    size_t count = 0;

    if (top > 200) {
        refuse(L, load, "the data is nested too deep");
    }
    luaL_checkstack(L, 12, NULL);
    add_place(L, load, index);
    btz_lua_push_contents(L, index);
    btz_lua_push_keys(L, top + 1);
    count = lua_rawlen(L, top + 2);
    length = lua_rawlen(L, top + 1);
    if (length == count && count > 0) { /* keys are in order: without holes the last is the count */
        lua_rawgeti(L, top + 2, (lua_Integer)count);
        length =
            lua_isinteger(L, -1) && lua_tointeger(L, -1) == (lua_Integer)count ? length : SIZE_MAX;
        lua_pop(L, 1);
    }
    btz_lua_charge_bytes(L, 64 + 64 * count);
    if (mark == BTZ_LUA_ARRAY && length != count) {
        refuse(L, load, "a list has holes or named fields");
    }
    if (mark == BTZ_LUA_ARRAY ||
        (mark == BTZ_LUA_PLAIN && (count > 0 ? length == count : empty_is_list(load)))) {
        out = read_list(L, load, top + 1);
    } else {
        out = read_object(L, load, top + 1, top + 2);
    }
    lua_settop(L, top);
    return out;
}

/* NULL for a function: it is kept aside. */
static const struct btz_json *read_value(lua_State *L, struct load *load, int index)
{
    if (lua_istable(L, index)) {
        return read_table(L, load, index);
    }
    if (lua_isfunction(L, index)) {
        add_function(L, load, index);
        return NULL;
    }
    if (lua_type(L, index) == LUA_TNUMBER && !lua_isinteger(L, index) &&
        lua_tonumber(L, index) - lua_tonumber(L, index) != 0) {
        refuse(L, load, "the number is not finite");
    }
    return btz_lua_to_json(L, index, load->lab->arena);
}

static int load_body(lua_State *L)
{
    struct load *load = lua_touserdata(L, 1);
    struct script *script = load->script;
    const char *kind = NULL;

    lua_settop(L, 0);
    btz_lab_marks_begin(L);
    btz_lua_push_ref(L, load->main);
    lua_call(L, 0, 1);
    if (!lua_istable(L, 1) || !btz_lab_mark_line(L, 1, &kind) || strcmp(kind, load->kind) != 0) {
        char reason[100];

        (void)snprintf(reason, sizeof(reason), "the file must return one %s { ... }", load->kind);
        refuse(L, load, reason);
    }
    script->data = read_value(L, load, 1);
    lua_createtable(L, (int)script->function_count, 0);
    for (size_t i = 0; i < script->function_count; i++) {
        btz_lua_push_ref(L, script->functions[i].ref);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    script->group = btz_lua_seal(L, -1);
    btz_lab_marks_end(L);
    lua_settop(L, 0);
    return 0;
}

/* The allowed values of an `enum`, which the schema room only counts. */
static void list_values(char *out, size_t size, const struct btz_json *values)
{
    size_t len = (size_t)snprintf(out, size, "expected one of");

    for (size_t i = 0; i < btz_json_count(values) && len < size; i++) {
        struct btz_str value = btz_json_str(btz_json_at(values, i));

        len += (size_t)snprintf(out + len, size - len, "%s \"%.*s\"", i ? "," : "", BTZ_FMT(value));
    }
}

/* A member that the same place must not have: what is missing may stand there misspelt. */
static struct btz_str stranger(const struct btz_schema_report *report)
{
    const struct btz_schema_violation *first = &report->items[0];
    struct btz_str parent;

    for (size_t i = 1; i < report->count; i++) {
        const struct btz_schema_violation *v = &report->items[i];

        parent = btz_str_sub(v->path, 0, first->path.len);
        if (btz_str_is(first->keyword, "required") && v->path.len > parent.len + 1 &&
            btz_str_eq(parent, first->path) && v->path.ptr[parent.len] == '/' &&
            btz_str_find(v->message, BTZ_STR("is not allowed; remove it")) >= 0 &&
            btz_str_find(btz_str_sub(v->path, parent.len + 1, v->path.len), BTZ_STR("/")) < 0) {
            return btz_str_sub(v->path, parent.len + 1, v->path.len);
        }
    }
    return BTZ_STR_NONE;
}

/* The first violation, in words that fit pack files. */
static int violation(struct load *load, const struct btz_schema_report *report,
                     const struct btz_json *schema, struct btz_err *err)
{
    const struct btz_schema_violation *v = &report->items[0];
    struct btz_str unknown = stranger(report);
    const struct btz_json *values = btz_json_pointer(schema, v->schema_path);
    char reason[400];

    (void)snprintf(reason, sizeof(reason), "%.*s", BTZ_FMT(v->message));
    load->path_len = 0;
    load->path[0] = '\0';
    if (v->path.len < sizeof(load->path)) {
        memcpy(load->path, v->path.ptr, v->path.len);
        path_pop(load, v->path.len);
    }
    if (path_in(function_paths, sizeof(function_paths) / sizeof(*function_paths), load)) {
        (void)snprintf(reason, sizeof(reason), "expected a function, got %s",
                       v->value ? btz_json_kind_name(btz_json_kind(v->value)) : "data");
    } else if (btz_str_is(v->keyword, "enum") && btz_json_is(values, BTZ_JSON_ARRAY)) {
        list_values(reason, sizeof(reason), values);
    } else if (btz_str_is(v->keyword, "oneOf") &&
               path_matches("attack:/variants/#", load->kind, load->path)) {
        (void)snprintf(reason, sizeof(reason),
                       "expected either routes = { call {...}, ... } or single_route = \"reason\"");
    } else if (unknown.len) {
        (void)snprintf(reason, sizeof(reason), "%.*s; \"%.*s\" is no property there",
                       BTZ_FMT(v->message), BTZ_FMT(btz_str_sub(unknown, 0, 100)));
    }
    return btz_lab_refuse(load->script, v->path, err, "%s", reason);
}

static int check_data(struct load *load, struct btz_err *err)
{
    struct btz_lab *lab = load->lab;
    bool server = strcmp(load->kind, "server") == 0;
    struct btz_arena *arena = btz_arena_new();
    struct btz_schema_report report = {0};
    int code = btz_schema_check(server ? lab->server_schema : lab->attack_schema,
                                load->script->data, arena, &report);

    if (code == BTZ_EINVAL && report.count > 0) {
        code = violation(load, &report, server ? lab->server_schema_json : lab->attack_schema_json,
                         err);
    } else if (code != BTZ_OK) {
        code =
            btz_lab_refuse(load->script, BTZ_STR(""), err, "the file is too large to be checked");
    }
    btz_arena_free(arena);
    return code;
}

int btz_lab_script_load(struct btz_lab *lab, struct pack *pack, struct pack_file *file,
                        const char *kind, struct script **out, struct btz_err *err)
{
    struct load load = {.lab = lab, .pack = pack, .kind = kind};
    int code;

    load.script = BTZ_NEW(lab->arena, struct script);
    load.script->name = file->shown;
    load.script->digest = btz_hash_of(file->bytes);
    code = btz_lua_load(lab->lua, file->bytes, file->shown.ptr, &load.main, err);
    if (code != BTZ_OK) {
        return code;
    }
    lab->load = &load;
    code = btz_lua_protect(lab->lua, load_body, &load, &btz_lab_load_budget, err);
    lab->load = NULL;
    if (code != BTZ_OK) {
        if (btz_lua_raised(lab->lua) == &refused && err) {
            *err = load.err;
        } else if (err && err->file[0] == '\0') {
            btz_err_at(err, file->shown.ptr, 0, 0);
        }
        return code;
    }
    code = check_data(&load, err);
    if (code == BTZ_OK) {
        *out = load.script;
    }
    return code;
}

static struct pack_file *find_file(struct pack *pack, const char *name)
{
    for (size_t i = 0; i < pack->count; i++) {
        if (btz_str_is(pack->files[i].name, name)) {
            return &pack->files[i];
        }
    }
    return NULL;
}

/*@ require("lib.name") -> table
 * What `lib/name.lua` of the same pack returned, frozen; else that of the core pack. Stands at
 * the top of a file. */
static int require(lua_State *L)
{
    struct btz_lab *lab = btz_lua_owner(L);
    struct btz_str name = btz_str_of(luaL_checkstring(L, 1));
    struct pack_file *found = NULL;
    struct pack *pack;
    struct btz_err err;
    char want[128];

    if (!lab->load) {
        return luaL_error(L, "require belongs to the top of a file, not into its functions");
    }
    if (!btz_str_starts(name, BTZ_STR("lib."))) {
        return luaL_error(L, "require finds \"lib.name\" only: the file lib/name.lua of the pack");
    }
    (void)snprintf(want, sizeof(want), "lib/%s.lua", name.ptr + 4);
    pack = lab->load->pack;
    found = find_file(pack, want);
    if (!found && lab->pack_count) {
        found = find_file(&lab->packs[0], want);
    }
    if (!found) {
        return luaL_error(L, "the pack has no file %s", want);
    }
    if (found->loading) {
        return luaL_error(L, "the file %s requires itself, directly or through others", want);
    }
    if (found->module == BTZ_LUA_NONE) {
        if (btz_lua_compile(L, found->bytes, found->shown.ptr, &err) != BTZ_OK) {
            lab->load->err = err;
            lua_pushlightuserdata(L, (void *)(uintptr_t)&refused);
            return lua_error(L);
        }
        found->loading = true;
        lua_call(L, 0, 1);
        found->loading = false;
        if (!lua_istable(L, -1)) {
            return luaL_error(L, "the file %s must return a table", want);
        }
        (void)btz_lua_seal(L, -1);
        found->module = btz_lua_ref(L);
    }
    btz_lua_push_ref(L, found->module);
    return 1;
}

void btz_lab_script_open(struct btz_lab *lab)
{
    static const struct btz_lua_function functions[] = {{"require", require}};

    btz_lua_add(lab->lua, NULL, functions, 1);
}
