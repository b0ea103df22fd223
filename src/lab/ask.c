/* Asking the client in the middle of a tool call: sampling, elicitation, roots.
 *
 * A script holds no state, so a call that asks is not kept waiting: it ends, what it wrote is taken
 * back, and once the answer is there it runs again from its start with all answers so far. What it
 * writes therefore happens once, and both eras of the protocol work alike: requests of the server
 * (2025-11-25 and before) and the rounds of input_required (2026-07-28). */
#include "lab/ask.h"

#include <lauxlib.h>
#include <lua.h>

#include "mcp/ask.h"

enum { QUESTIONS_MAX = 16, TOKENS_DEFAULT = 400, TOKENS_MOST = 100000 };

#define SAMPLING "sampling/createMessage"
#define ELICITATION "elicitation/create"
#define ROOTS "roots/list"

const char btz_lab_ask_raised;

void btz_lab_snapshot(struct btz_stage *stage, struct snapshot *out)
{
    *out = (struct snapshot){.world = stage->world,
                             .random = stage->random,
                             .time = stage->time,
                             .ids = stage->ids,
                             .id_count = stage->id_count,
                             .id_cap = stage->id_cap,
                             .journal_count = stage->journal_count};
    /* From here on nothing of the old tree is changed in place. */
    btz_world_init(&stage->world, stage->arena, &out->world);
}

void btz_lab_restore(struct btz_stage *stage, const struct snapshot *from)
{
    stage->world = from->world;
    stage->random = from->random;
    stage->time = from->time;
    stage->ids = from->ids;
    stage->id_count = from->id_count;
    stage->id_cap = from->id_cap;
    stage->journal_count = from->journal_count;
}

/* What the client said is in the server's hands whatever its script does with it. */
void btz_lab_note_answer(struct run *run, const struct btz_json *answer)
{
    struct btz_arena *arena = run->stage->arena;
    struct btz_str method = btz_json_str(btz_json_getz(answer, "method"));
    const struct btz_json *result = btz_json_getz(answer, "result");
    bool sampling = btz_str_is(method, SAMPLING);
    struct btz_str sink = sampling ? BTZ_STR("asks.sampling") : BTZ_STR("asks.elicitation");
    struct world_key keys[2] = {{false, 0, BTZ_STR("sinks")}, {false, 0, sink}};
    struct btz_json *value = btz_json_new_object(arena);

    if (!result || (!sampling && !btz_str_is(method, ELICITATION))) {
        return;
    }
    btz_json_set_str(arena, value, "tool", run->tool);
    if (sampling) {
        btz_json_set_str(arena, value, "text",
                         btz_json_str(btz_json_pointer(result, BTZ_STR("/content/text"))));
    } else {
        btz_json_setz(arena, value, "action", btz_json_getz(result, "action"));
        if (btz_json_getz(result, "content")) {
            btz_json_setz(arena, value, "content", btz_json_getz(result, "content"));
        }
    }
    btz_stage_journal_add(run->stage, run, "sink", keys, 2, value, sink);
}

/* The run of a handler that may ask. */
static struct run *asking(lua_State *L)
{
    struct btz_lab *lab = btz_lua_owner(L);
    struct run *run = lab->run;

    if (!run || run->mode != RUN_CALL || !run->dialogue) {
        luaL_error(L, "only a tool's handler, and a variant's ask, can ask the client");
    }
    if (!run->may_ask) {
        luaL_error(L, "a tool whose handler asks the client says so: asks = true");
    }
    return run;
}

static int nothing(lua_State *L, const char *why)
{
    lua_pushnil(L);
    lua_pushstring(L, why);
    return 2;
}

static const char *reason(struct btz_str error)
{
    return btz_str_is(error, "unsupported") ? "unsupported"
           : btz_str_is(error, "limit")     ? "limit"
                                            : "declined";
}

/* The answer to the question that the script asks now; NULL if there is none to be had, with the
 * reason. Does not come back if the client has to be asked first. */
static const struct btz_json *put(lua_State *L, struct run *run, const char *method,
                                  const struct btz_json *params, const char **why)
{
    struct btz_stage_dialogue *dialogue = run->dialogue;
    struct btz_arena *arena = run->stage->arena;
    const struct btz_json *answer = btz_json_at(dialogue->answers, run->asked);
    struct btz_json *question;
    struct btz_err err;

    if (dialogue->question) { /* a script that caught what ended it */
        lua_pushlightuserdata(L, (void *)(uintptr_t)&btz_lab_ask_raised);
        (void)lua_error(L);
    }
    if (btz_mcp_check_ask(btz_str_of(method), params, &err) != BTZ_OK) {
        luaL_error(L, "the question is not what the protocol wants: %s", err.msg);
    }
    *why = "unsupported";
    if (!dialogue->capabilities ||
        btz_mcp_ask_missing(arena, dialogue->capabilities, btz_str_of(method), params)) {
        return NULL;
    }
    *why = "limit";
    if (run->asked >= QUESTIONS_MAX) {
        return NULL;
    }
    if (answer) {
        if (!btz_str_is(btz_json_str(btz_json_getz(answer, "method")), method)) {
            luaL_error(L, "the script asks another question than when it ran before");
        }
        run->asked++;
        *why = reason(btz_json_str(btz_json_getz(answer, "error")));
        return btz_json_getz(answer, "result");
    }
    question = btz_json_new_object(arena);
    btz_json_set_strz(arena, question, "method", method);
    if (params) {
        btz_json_setz(arena, question, "params", params);
    }
    dialogue->question = question;
    lua_pushlightuserdata(L, (void *)(uintptr_t)&btz_lab_ask_raised);
    (void)lua_error(L);
    return NULL;
}

/* The one argument of a call, a table, as JSON. */
static const struct btz_json *argument(lua_State *L, struct run *run, const char *usage,
                                       const char *const *known, size_t count)
{
    const struct btz_json *value;

    if (lua_gettop(L) != 1 || !lua_istable(L, 1)) {
        luaL_error(L, "write %s", usage);
    }
    value = btz_lua_to_json(L, 1, run->stage->arena);
    for (size_t i = 0; i < btz_json_count(value); i++) {
        bool found = false;

        for (size_t k = 0; k < count; k++) {
            found = found || btz_str_is(btz_json_key_at(value, i), known[k]);
        }
        if (!found) {
            luaL_error(L, "unknown field; write %s", usage);
        }
    }
    return value;
}

static void move(struct btz_arena *arena, struct btz_json *to, const char *as,
                 const struct btz_json *from, const char *name)
{
    if (btz_json_getz(from, name)) {
        btz_json_setz(arena, to, as, btz_json_getz(from, name));
    }
}

/*@ ctx.sample { text = "...", system?, context?, max_tokens? } -> text or nil, reason
 * Asks the client to let its model complete a text, in the middle of a tool call. `context` asks
 * for the conversation, too: `none`, `thisServer` or `allServers`. Without an answer the reason
 * is `unsupported` (the client does not offer it), `declined` or `limit` (16 questions in a
 * call). */
static int ask_sample(lua_State *L)
{
    static const char *const known[] = {"text", "system", "context", "max_tokens"};
    struct run *run = asking(L);
    struct btz_arena *arena = run->stage->arena;
    const struct btz_json *given = argument(
        L, run, "ctx.sample { text = \"...\" }, with system, context and max_tokens if wanted",
        known, 4);
    struct btz_json *params = btz_json_new_object(arena);
    struct btz_json *messages = btz_json_new_array(arena);
    struct btz_json *message = btz_json_new_object(arena);
    struct btz_json *content = btz_json_new_object(arena);
    const struct btz_json *result;
    const struct btz_json *tokens = btz_json_getz(given, "max_tokens");
    struct btz_str context = btz_json_str(btz_json_getz(given, "context"));
    struct btz_str text = btz_json_str(btz_json_getz(given, "text"));
    int64_t most = 0;
    const char *why;

    luaL_argcheck(L, text.len > 0, 1, "text is missing");
    luaL_argcheck(L,
                  !btz_json_getz(given, "context") || btz_str_is(context, "none") ||
                      btz_str_is(context, "thisServer") || btz_str_is(context, "allServers"),
                  1, "context is none, thisServer or allServers");
    luaL_argcheck(L, !tokens || (btz_json_int64(tokens, &most) && most >= 1 && most <= TOKENS_MOST),
                  1, "max_tokens is a whole number from 1 to 100000");
    btz_json_set_strz(arena, content, "type", "text");
    btz_json_set_str(arena, content, "text", text);
    btz_json_set_strz(arena, message, "role", "user");
    btz_json_setz(arena, message, "content", content);
    btz_json_push(arena, messages, message);
    btz_json_setz(arena, params, "messages", messages);
    move(arena, params, "systemPrompt", given, "system");
    move(arena, params, "includeContext", given, "context");
    btz_json_set_int(arena, params, "maxTokens", TOKENS_DEFAULT);
    move(arena, params, "maxTokens", given, "max_tokens");
    result = put(L, run, SAMPLING, params, &why);
    if (!result) {
        return nothing(L, why);
    }
    text = btz_json_str(btz_json_pointer(result, BTZ_STR("/content/text")));
    lua_pushlstring(L, text.len ? text.ptr : "", text.len);
    return 1;
}

static int elicited(lua_State *L, const struct btz_json *result, const char *why)
{
    struct btz_str action = btz_json_str(btz_json_getz(result, "action"));

    if (!result) {
        return nothing(L, why);
    }
    lua_pushlstring(L, action.ptr, action.len);
    if (btz_json_getz(result, "content")) {
        btz_lua_push_json(L, btz_json_getz(result, "content"));
    } else {
        lua_pushnil(L);
    }
    return 2;
}

/*@ ctx.elicit { message = "...", schema = {...} } -> action, content or nil, reason
 * Asks the user to fill in a form: `action` is `accept`, `decline` or `cancel`, `content` what was
 * filled in. */
static int ask_elicit(lua_State *L)
{
    static const char *const known[] = {"message", "schema"};
    struct run *run = asking(L);
    struct btz_arena *arena = run->stage->arena;
    const struct btz_json *given = argument(
        L, run, "ctx.elicit { message = \"...\", schema = { type = \"object\", ... } }", known, 2);
    struct btz_json *params = btz_json_new_object(arena);
    const char *why = "";
    const struct btz_json *result;

    move(arena, params, "message", given, "message");
    move(arena, params, "requestedSchema", given, "schema");
    result = put(L, run, ELICITATION, params, &why);
    return elicited(L, result, why);
}

/*@ ctx.elicit_url { message = "...", url = "https://..." } -> action or nil, reason
 * Asks the user to open an address; `accept` means consent, nothing more. */
static int ask_url(lua_State *L)
{
    static const char *const known[] = {"message", "url"};
    struct run *run = asking(L);
    struct btz_arena *arena = run->stage->arena;
    const struct btz_json *given =
        argument(L, run, "ctx.elicit_url { message = \"...\", url = \"https://...\" }", known, 2);
    struct btz_json *params = btz_json_new_object(arena);
    const char *why = "";
    const struct btz_json *result;

    btz_json_set_strz(arena, params, "mode", "url");
    move(arena, params, "message", given, "message");
    move(arena, params, "url", given, "url");
    result = put(L, run, ELICITATION, params, &why);
    return elicited(L, result, why);
}

/*@ ctx.roots() -> list or nil, reason
 * The folders that the client shows: `{ { uri = "file:///...", name = "..." }, ... }`. */
static int ask_roots(lua_State *L)
{
    struct run *run = asking(L);
    const char *why = "";
    const struct btz_json *result = put(L, run, ROOTS, NULL, &why);

    if (!result) {
        return nothing(L, why);
    }
    btz_lua_push_json(L, btz_json_getz(result, "roots"));
    return 1;
}

bool btz_lab_ask_push(lua_State *L, struct btz_str name)
{
    static const struct btz_lua_function ways[] = {{"sample", ask_sample},
                                                   {"elicit", ask_elicit},
                                                   {"elicit_url", ask_url},
                                                   {"roots", ask_roots}};

    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        if (btz_str_is(name, ways[i].name)) {
            lua_pushcfunction(L, ways[i].call);
            return true;
        }
    }
    return false;
}
