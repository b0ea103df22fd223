/* The state, its allocator, its hook and the way scripts are run.
 *
 * Units of the instruction budget come from four places: the count hook (HOOK_COUNT at a time),
 * charges of library functions, the allocator (32 bytes are one unit, so that a few instructions
 * cannot move megabytes unseen) and refused allocations (each makes Lua collect the whole heap).
 * The allocator cannot raise, so it re-arms the hook at count 1 when much was charged.
 *
 * A run is a coroutine whose first function is `entry`, which calls the body in protected mode.
 * That matters: an error that leaves the hook (and with it "hooks are off") is caught inside the
 * coroutine, where Lua puts hooks back on before anything else runs. */
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "lua/host_int.h"

enum {
    HOOK_COUNT = 100,
    CHARGE_FLUSH = 2048, /* units by the allocator after which the hook must run at once */
    CLOCK_EVERY = 4096,  /* charged units after which the clock is read */
    LOAD_BYTES = 16 * 1024 * 1024
};

const char btz_lua_key_array, btz_lua_key_object, btz_lua_key_sealed, btz_lua_key_groups,
    btz_lua_key_globals;

struct job {
    int (*body)(lua_State *L);
    void *data;
    int status;
};

struct btz_lua *btz_lua_of(lua_State *L)
{
    return *(struct btz_lua **)lua_getextraspace(L);
}

const char *btz_lua_stop_name(enum btz_lua_stop stop)
{
    static const char *const names[] = {"", "instructions", "bytes", "time"};

    return names[stop];
}

static void hook(lua_State *L, lua_Debug *ar);

static void arm(struct btz_lua *host, lua_State *L, int count)
{
    host->hook_count = count;
    lua_sethook(L, hook, LUA_MASKCOUNT, count);
}

static void *alloc(void *ud, void *ptr, size_t old_size, size_t size)
{
    struct btz_lua *host = ud;
    size_t old = ptr ? old_size : 0;
    void *out;

    if (size > 0 && host->running) {
        bool refused = size > old && size - old > host->limit - host->bytes;

        host->alloc_units += refused ? host->bytes / 16 : size / 32;
        if (host->alloc_units > CHARGE_FLUSH && host->hook_count != 1 && host->co) {
            arm(host, host->co, 1);
        }
        if (refused) {
            return NULL;
        }
    }
    out = btz_lua_pool_resize(&host->pool, ptr, old, size);
    host->bytes += size - old;
    return out;
}

/* Finds where the error arose, and takes "file:line: " from the front of the message if it names a
 * function on the stack. Uses no memory of the state. */
static void note_error(lua_State *L, int code, const char *msg)
{
    struct btz_lua *host = btz_lua_of(L);
    lua_Debug ar;
    char file[sizeof(host->err.file)] = "";
    int line = 0;

    for (int level = 0; level < 64 && lua_getstack(L, level, &ar); level++) {
        char prefix[LUA_IDSIZE + 16];
        size_t len;

        lua_getinfo(L, "Sl", &ar);
        if (ar.currentline <= 0 || ar.source[0] != '@') {
            continue;
        }
        len = (size_t)snprintf(prefix, sizeof(prefix), "%s:%d: ", ar.short_src, ar.currentline);
        if (line == 0 || strncmp(msg, prefix, len) == 0) {
            (void)snprintf(file, sizeof(file), "%s", ar.source + 1);
            line = ar.currentline;
        }
        if (strncmp(msg, prefix, len) == 0) {
            msg += len;
            break;
        }
    }
    (void)btz_err_set(&host->err, code, "%s", msg);
    btz_err_at(&host->err, file, (unsigned)line, 0);
    host->err_set = true;
}

_Noreturn void btz_lua_break(lua_State *L, enum btz_lua_stop stop)
{
    struct btz_lua *host = btz_lua_of(L);

    if (host->stop == BTZ_LUA_RAN) {
        char msg[128];

        host->stop = stop;
        (void)snprintf(msg, sizeof(msg), "the script used up its budget of %s",
                       btz_lua_stop_name(stop));
        note_error(L, BTZ_ELIMIT, msg);
    }
    arm(host, L, 1);
    /* A light userdata, since a string might not find memory. */
    lua_pushlightuserdata(L, host);
    lua_error(L);
    abort();
}

void btz_lua_rethrow(lua_State *L, int status)
{
    struct btz_lua *host = btz_lua_of(L);

    if (host->stop != BTZ_LUA_RAN) {
        btz_lua_break(L, host->stop);
    }
    if (status == LUA_ERRMEM) {
        btz_lua_break(L, BTZ_LUA_BYTES);
    }
}

static void check(lua_State *L, struct btz_lua *host)
{
    if (host->stop != BTZ_LUA_RAN) {
        btz_lua_break(L, host->stop);
    }
    if (host->used > host->budget) {
        btz_lua_break(L, BTZ_LUA_INSTRUCTIONS);
    }
    if (host->deadline_us && btz_clock_mono_us() > host->deadline_us) {
        btz_lua_break(L, BTZ_LUA_TIME);
    }
}

static void hook(lua_State *L, lua_Debug *ar)
{
    struct btz_lua *host = btz_lua_of(L);

    (void)ar;
    host->used += (uint64_t)host->hook_count + host->alloc_units;
    host->alloc_units = 0;
    host->since_clock = 0;
    if (host->hook_count != HOOK_COUNT && host->stop == BTZ_LUA_RAN) {
        arm(host, L, HOOK_COUNT);
    }
    check(L, host);
}

void btz_lua_charge(lua_State *L, uint64_t units)
{
    struct btz_lua *host = btz_lua_of(L);

    if (!host->running) {
        return;
    }
    if (units > UINT64_MAX / 4) {
        units = UINT64_MAX / 4;
    }
    host->used += units;
    host->since_clock += units;
    if (host->used > host->budget || host->since_clock > CLOCK_EVERY) {
        host->since_clock = 0;
        check(L, host);
    }
}

void btz_lua_charge_bytes(lua_State *L, size_t bytes)
{
    struct btz_lua *host = btz_lua_of(L);

    if (!host->running) {
        return;
    }
    if (bytes > host->outside_limit - host->outside) {
        btz_lua_break(L, BTZ_LUA_BYTES);
    }
    host->outside += bytes;
    btz_lua_charge(L, bytes / 32);
}

/* Message handler of `entry`: sees the stack of the error before it is unwound. */
static int on_error(lua_State *L)
{
    struct btz_lua *host = btz_lua_of(L);

    if (host->stop != BTZ_LUA_RAN) {
        return 1;
    }
    host->raised = lua_islightuserdata(L, 1) ? lua_touserdata(L, 1) : NULL;
    if (lua_type(L, 1) == LUA_TSTRING) {
        note_error(L, BTZ_EINVAL, lua_tostring(L, 1));
    } else {
        note_error(L, BTZ_EINVAL, "the script raised an error that is no text");
    }
    return 1;
}

static int entry_end(lua_State *L, int status, lua_KContext context)
{
    struct btz_lua *host = btz_lua_of(L);
    struct job *job = (struct job *)context;

    if (status == LUA_ERRMEM && host->stop == BTZ_LUA_RAN) {
        host->stop = BTZ_LUA_BYTES;
        (void)btz_err_set(&host->err, BTZ_ELIMIT, "the script used up its budget of bytes");
        host->err_set = true;
    }
    job->status = status == LUA_YIELD ? LUA_OK : status;
    lua_settop(L, 0);
    return 0;
}

static int entry(lua_State *L)
{
    struct job *job = lua_touserdata(L, 1);

    lua_settop(L, 0);
    lua_pushcfunction(L, on_error);
    lua_pushcfunction(L, job->body);
    lua_pushlightuserdata(L, job->data);
    return entry_end(L, lua_pcallk(L, 1, 0, 1, (lua_KContext)job, entry_end), (lua_KContext)job);
}

static void coroutine_drop(struct btz_lua *host)
{
    luaL_unref(host->L, LUA_REGISTRYINDEX, host->co_ref);
    host->co = NULL;
    host->co_ref = LUA_NOREF;
}

static void run_begin(struct btz_lua *host, const struct btz_lua_budget *budget)
{
    if (!host->co) {
        host->co = lua_newthread(host->L);
        host->co_ref = luaL_ref(host->L, LUA_REGISTRYINDEX);
    }
    host->stop = BTZ_LUA_RAN;
    host->raised = NULL;
    host->err_set = false;
    host->used = 0;
    host->alloc_units = 0;
    host->since_clock = 0;
    host->pcalls = 0;
    host->budget = budget->instructions;
    host->limit = host->bytes > SIZE_MAX - budget->bytes ? SIZE_MAX : host->bytes + budget->bytes;
    host->outside = 0;
    host->outside_limit = budget->bytes;
    host->deadline_us = budget->wall_us ? btz_clock_mono_us() + budget->wall_us : 0;
    host->running = true;
    arm(host, host->co, HOOK_COUNT);
}

int btz_lua_protect(struct btz_lua *host, int (*body)(lua_State *L), void *data,
                    const struct btz_lua_budget *budget, struct btz_err *err)
{
    struct job job = {body, data, LUA_ERRRUN};
    int results = 0;
    int status;

    if (host->running) {
        return btz_err_set(err, BTZ_ESTATE, "a script is running already in this state");
    }
    run_begin(host, budget);
    lua_pushcfunction(host->co, entry);
    lua_pushlightuserdata(host->co, &job);
    status = lua_resume(host->co, host->L, 1, &results);
    host->running = false;
    host->limit = SIZE_MAX;
    host->used += host->alloc_units;
    if (status != LUA_OK) { /* `entry` itself found no memory */
        job.status = status;
        coroutine_drop(host);
    } else {
        lua_settop(host->co, 0);
    }
    if (job.status == LUA_OK) {
        return BTZ_OK;
    }
    if (!host->err_set) {
        (void)btz_err_set(&host->err, BTZ_ELIMIT, "the script went too deep");
    }
    if (err) {
        *err = host->err;
    }
    return host->err.code;
}

struct call {
    int ref;
    const struct btz_lua_arg *args;
    size_t count;
    struct btz_arena *arena;
    const struct btz_json *result;
};

static int call_end(lua_State *L, int status, lua_KContext context)
{
    struct call *call = (struct call *)context;

    (void)status;
    if (call->arena && !lua_isnil(L, -1)) {
        call->result = btz_lua_to_json(L, -1, call->arena);
    }
    return 0;
}

static int call_body(lua_State *L)
{
    struct call *call = lua_touserdata(L, 1);

    luaL_checkstack(L, (int)call->count + 4, NULL);
    btz_lua_push_ref(L, call->ref);
    for (size_t i = 0; i < call->count; i++) {
        if (call->args[i].json) {
            btz_lua_push_json(L, call->args[i].json);
        } else {
            btz_lua_push_ref(L, call->args[i].ref);
        }
    }
    lua_callk(L, (int)call->count, 1, (lua_KContext)call, call_end);
    return call_end(L, LUA_OK, (lua_KContext)call);
}

int btz_lua_run(struct btz_lua *host, int ref, const struct btz_lua_arg *args, size_t count,
                const struct btz_lua_budget *budget, struct btz_arena *arena,
                const struct btz_json **result, struct btz_err *err)
{
    struct call call = {ref, args, count, result ? arena : NULL, NULL};
    int code = btz_lua_protect(host, call_body, &call, budget, err);

    if (code == BTZ_OK && result) {
        *result = call.result;
    }
    return code;
}

struct source {
    struct btz_str text;
    bool given;
};

static const char *read_source(lua_State *L, void *data, size_t *size)
{
    struct source *source = data;

    (void)L;
    if (source->given) {
        *size = 0;
        return NULL;
    }
    source->given = true;
    *size = source->text.len;
    return source->text.ptr;
}

/* Lua's message is "name:line: reason", the name shortened in its own way. */
static int syntax_error(lua_State *L, const char *name, struct btz_err *err)
{
    const char *msg = lua_tostring(L, -1);
    unsigned line = 0;
    int skip = 0;

    for (const char *p = msg ? strchr(msg, ':') : NULL; p; p = strchr(p + 1, ':')) {
        if (sscanf(p, ":%9u: %n", &line, &skip) == 1 && skip > 0) {
            msg = p + skip;
            break;
        }
    }
    (void)btz_err_set(err, BTZ_EINVAL, "%s", msg ? msg : "not enough memory to compile the file");
    btz_err_at(err, name, line, 0);
    return BTZ_EINVAL;
}

static int check_source(struct btz_str text, const char *name, struct btz_err *err)
{
    ptrdiff_t env = btz_str_find(text, BTZ_STR("_ENV"));
    unsigned line = 1;
    int code = BTZ_OK;

    if (text.len > BTZ_LUA_SOURCE_MAX) {
        code = btz_err_set(err, BTZ_ELIMIT, "the file is larger than %d bytes; split it",
                           BTZ_LUA_SOURCE_MAX);
    } else if (text.len > 0 && text.ptr[0] == '\x1b') {
        code = btz_err_set(err, BTZ_EINVAL,
                           "the file is compiled bytecode; only Lua source text is accepted");
    } else if (text.len > 0 && memchr(text.ptr, '\0', text.len)) {
        code = btz_err_set(err, BTZ_EINVAL, "the file holds a NUL byte; it must be plain text");
    } else if (env >= 0) {
        for (ptrdiff_t i = 0; i < env; i++) {
            line += text.ptr[i] == '\n';
        }
        code = btz_err_set(err, BTZ_EINVAL, "a script must not name _ENV");
    }
    if (code != BTZ_OK) {
        btz_err_at(err, name, line, 0);
    }
    return code;
}

/* Freezes the libraries and the table of globals; from here on only scripts run. */
static void freeze_globals(struct btz_lua *host)
{
    lua_State *L = host->L;

    if (host->frozen) {
        return;
    }
    host->frozen = true;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &btz_lua_key_globals);
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        if (lua_istable(L, -1)) {
            btz_lua_freeze(L, -1);
        }
    }
    lua_pop(L, 1);
}

int btz_lua_compile(lua_State *L, struct btz_str text, const char *name, struct btz_err *err)
{
    struct btz_lua *host = btz_lua_of(L);
    struct source source = {text, false};
    bool inside = host->running;
    char chunk[300];
    int code = check_source(text, name, err);
    int status;

    if (code != BTZ_OK) {
        return code;
    }
    (void)snprintf(chunk, sizeof(chunk), "@%s", name);
    if (!inside) { /* the allocator refuses only in a run, so compiling counts as one */
        host->limit = host->bytes + LOAD_BYTES;
        host->hook_count = 1;
        host->running = true;
    }
    status = lua_load(L, read_source, &source, chunk, "t");
    if (!inside) {
        host->running = false;
        host->limit = SIZE_MAX;
    }
    if (status != LUA_OK) {
        code = syntax_error(L, name, err);
        lua_pop(L, 1);
    }
    return code;
}

int btz_lua_load(struct btz_lua *host, struct btz_str text, const char *name, int *ref,
                 struct btz_err *err)
{
    int code;

    freeze_globals(host);
    code = btz_lua_compile(host->L, text, name, err);
    if (code == BTZ_OK) {
        *ref = btz_lua_ref(host->L);
    }
    return code;
}

int btz_lua_ref(lua_State *L)
{
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

void btz_lua_push_ref(lua_State *L, int ref)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, ref);
}

void btz_lua_add(struct btz_lua *host, const char *library,
                 const struct btz_lua_function *functions, size_t count)
{
    lua_State *L = host->L;

    lua_rawgetp(L, LUA_REGISTRYINDEX, &btz_lua_key_globals);
    if (library && (lua_pushstring(L, library), lua_rawget(L, -2)) != LUA_TTABLE) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_setfield(L, -3, library);
    }
    for (size_t i = 0; i < count; i++) {
        lua_pushcfunction(L, functions[i].call);
        lua_setfield(L, -2, functions[i].name);
    }
    lua_pop(L, library ? 2 : 1);
}

static int on_panic(lua_State *L)
{
    const char *msg = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "no message";

    btz_panic("an error outside a script run: %s", msg);
}

static int global_write(lua_State *L)
{
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";

    return luaL_error(L, "write to global '%s': scripts hold no globals; declare it local", name);
}

static int global_missing(lua_State *L)
{
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";

    return luaL_error(L, "there is no global '%s'; see docs/packs/script-api.md", name);
}

/* An empty table is what scripts have as their globals; its metatable looks names up in the table
 * `btz_lua_key_globals` and refuses writes. */
static void make_globals(lua_State *L)
{
    lua_newtable(L); /* the contents */
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &btz_lua_key_globals);
    btz_lua_open_base(L);
    btz_lua_open_string(L);
    lua_setfield(L, -2, "string");
    btz_lua_open_table(L);
    lua_setfield(L, -2, "table");
    btz_lua_open_math(L);
    lua_setfield(L, -2, "math");
    btz_lua_open_utf8(L);
    lua_setfield(L, -2, "utf8");
    btz_lua_open_re(L);
    lua_setfield(L, -2, "re");
    btz_lua_open_json(L);
    lua_setfield(L, -2, "json");

    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, global_missing);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);

    lua_newtable(L); /* what scripts have */
    lua_createtable(L, 0, 4);
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, global_write);
    lua_setfield(L, -2, "__newindex");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    lua_pop(L, 1);
}

struct btz_lua *btz_lua_new(void)
{
    struct btz_lua *host = calloc(1, sizeof(*host));

    if (!host) {
        btz_panic("out of memory");
    }
    host->limit = SIZE_MAX;
    host->co_ref = LUA_NOREF;
    host->scratch = btz_arena_new();
    host->L = lua_newstate(alloc, host);
    if (!host->L) {
        btz_panic("a Lua state could not be made");
    }
    *(struct btz_lua **)lua_getextraspace(host->L) = host;
    lua_atpanic(host->L, on_panic);
    btz_lua_convert_open(host->L);
    make_globals(host->L);
    return host;
}

void btz_lua_free(struct btz_lua *host)
{
    if (!host) {
        return;
    }
    lua_close(host->L);
    btz_lua_pool_free(&host->pool);
    btz_lua_re_free(host);
    btz_arena_free(host->scratch);
    free(host);
}

lua_State *btz_lua_state(struct btz_lua *host)
{
    return host->L;
}

void btz_lua_set_owner(struct btz_lua *host, void *owner)
{
    host->owner = owner;
}

void *btz_lua_owner(lua_State *L)
{
    return btz_lua_of(L)->owner;
}

enum btz_lua_stop btz_lua_stopped(const struct btz_lua *host)
{
    return host->stop;
}

const void *btz_lua_raised(const struct btz_lua *host)
{
    return host->raised;
}

uint64_t btz_lua_used(const struct btz_lua *host)
{
    return host->used;
}

size_t btz_lua_memory(const struct btz_lua *host)
{
    return host->bytes;
}

bool btz_lua_running(const struct btz_lua *host)
{
    return host->running;
}
