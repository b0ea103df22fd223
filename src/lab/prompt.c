/* Prompts of a server: their definitions in MCP's shape, and getting one from a stage. */
#include "lab/lab_int.h"

enum { CALL_SECONDS = 60, MESSAGES_MAX = 100 };

struct prompt *btz_lab_prompt_of(const struct server *server, struct btz_str name)
{
    for (size_t i = 0; i < server->prompt_count; i++) {
        if (btz_str_eq(server->prompts[i].name, name)) {
            return &server->prompts[i];
        }
    }
    return NULL;
}

static bool has_text(const struct btz_json *object, const char *key)
{
    return btz_json_str(btz_json_getz(object, key)).len > 0;
}

const char *btz_lab_prompt_wrong(const struct btz_json *definition)
{
    const struct btz_json *arguments = btz_json_getz(definition, "arguments");

    if (!has_text(definition, "name") || !has_text(definition, "description")) {
        return "the prompt would be left without a name or description";
    }
    if (!btz_json_is(arguments, BTZ_JSON_ARRAY)) {
        return "the prompt would be left without its list of arguments";
    }
    for (size_t i = 0; i < btz_json_count(arguments); i++) {
        const struct btz_json *argument = btz_json_at(arguments, i);
        const struct btz_json *required = btz_json_getz(argument, "required");

        if (!has_text(argument, "name") || !has_text(argument, "description") ||
            (required && !btz_json_is(required, BTZ_JSON_BOOL))) {
            return "an argument of the prompt would be left without name, description or a "
                   "required that is true or false";
        }
    }
    return NULL;
}

static int add_arguments(struct btz_lab *lab, struct server *server, struct prompt *prompt,
                         struct btz_str path, const struct btz_json *list, struct btz_err *err)
{
    prompt->arguments =
        btz_arena_array(lab->arena, btz_json_count(list) + 1, sizeof(*prompt->arguments));
    for (size_t i = 0; i < btz_json_count(list); i++) {
        struct btz_str at = btz_arena_printf(lab->arena, "%s/arguments/%zu", path.ptr, i);
        struct prompt_argument *argument = &prompt->arguments[i];

        argument->name = btz_json_str(btz_json_getz(btz_json_at(list, i), "name"));
        argument->complete =
            btz_lab_function(server->script, btz_arena_printf(lab->arena, "%s/complete", at.ptr));
        for (size_t k = 0; k < i; k++) {
            if (btz_str_eq(prompt->arguments[k].name, argument->name)) {
                return btz_lab_refuse(server->script, at, err,
                                      "the prompt has two arguments named %.*s",
                                      BTZ_FMT(argument->name));
            }
        }
        prompt->argument_count++;
    }
    return BTZ_OK;
}

int btz_lab_prompts_add(struct btz_lab *lab, struct server *server, struct btz_err *err)
{
    const struct btz_json *list = btz_json_getz(server->script->data, "prompts");
    struct btz_json *definitions = btz_json_new_array(lab->arena);

    server->prompts_json = definitions;
    server->prompts =
        btz_arena_array(lab->arena, btz_json_count(list) + 1, sizeof(*server->prompts));
    for (size_t i = 0; i < btz_json_count(list); i++) {
        const struct btz_json *data = btz_json_at(list, i);
        struct prompt *prompt = &server->prompts[i];
        struct btz_str path = btz_arena_printf(lab->arena, "/prompts/%zu", i);
        struct btz_str get = btz_arena_printf(lab->arena, "%s/get", path.ptr);
        int code;

        prompt->name = prompt->shown = btz_json_str(btz_json_getz(data, "name"));
        if (btz_lab_prompt_of(server, prompt->name)) {
            return btz_lab_refuse(server->script, path, err,
                                  "the server has two prompts named %.*s", BTZ_FMT(prompt->name));
        }
        prompt->get = btz_lab_function(server->script, get);
        if (prompt->get == BTZ_LUA_NONE) {
            return btz_lab_refuse(server->script, get, err, "expected function(w, args, ctx)");
        }
        prompt->definition = data; /* has MCP's shape once the functions are taken out */
        code = add_arguments(lab, server, prompt, path, btz_json_getz(data, "arguments"), err);
        if (code != BTZ_OK) {
            return code;
        }
        server->prompt_count++;
        btz_json_push(lab->arena, definitions, data);
    }
    return BTZ_OK;
}

/* Position of the argument called `name` in a definition; its count if there is none. */
static size_t argument_of(const struct btz_json *arguments, struct btz_str name)
{
    size_t i = 0;

    while (i < btz_json_count(arguments) &&
           !btz_str_eq(btz_json_str(btz_json_getz(btz_json_at(arguments, i), "name")), name)) {
        i++;
    }
    return i;
}

/* The arguments under the names that the script knows. A payload may have changed the names that
 * the peer saw: those are checked, and an argument keeps its place in the list. */
static int take_arguments(struct btz_stage *stage, const struct prompt *prompt,
                          const struct btz_json *definition, const struct btz_json *given,
                          const struct btz_json **out, struct btz_err *err)
{
    const struct btz_json *arguments = btz_json_getz(definition, "arguments");
    struct btz_str shown = btz_json_str(btz_json_getz(definition, "name"));
    struct btz_json *taken = btz_json_new_object(stage->arena);

    if (given && !btz_json_is(given, BTZ_JSON_OBJECT)) {
        return btz_err_set(err, BTZ_EINVAL, "The arguments of prompt %.*s must be an object",
                           BTZ_FMT(shown));
    }
    for (size_t i = 0; i < btz_json_count(given); i++) {
        struct btz_str name = btz_json_key_at(given, i);
        const struct btz_json *value = btz_json_value_at(given, i);
        size_t at = argument_of(arguments, name);

        if (at >= prompt->argument_count) {
            return btz_err_set(err, BTZ_EINVAL, "Prompt %.*s has no argument \"%.*s\"",
                               BTZ_FMT(shown), BTZ_FMT(name));
        }
        if (!btz_json_is(value, BTZ_JSON_STRING)) {
            return btz_err_set(err, BTZ_EINVAL, "Argument \"%.*s\" of prompt %.*s must be a string",
                               BTZ_FMT(name), BTZ_FMT(shown));
        }
        btz_json_set(stage->arena, taken, prompt->arguments[at].name, value);
    }
    for (size_t i = 0; i < btz_json_count(arguments) && i < prompt->argument_count; i++) {
        const struct btz_json *argument = btz_json_at(arguments, i);

        if (btz_json_bool(btz_json_getz(argument, "required"), false) &&
            !btz_json_get(taken, prompt->arguments[i].name)) {
            return btz_err_set(err, BTZ_EINVAL, "Prompt %.*s needs the argument \"%.*s\"",
                               BTZ_FMT(shown),
                               BTZ_FMT(btz_json_str(btz_json_getz(argument, "name"))));
        }
    }
    *out = taken;
    return BTZ_OK;
}

static int fault(const struct stage_server *server, const struct prompt *prompt,
                 struct btz_err *err, const char *reason)
{
    (void)btz_err_set(err, BTZ_EINTERNAL, "the prompt %.*s.%.*s: %s", BTZ_FMT(server->pub.id),
                      BTZ_FMT(prompt->name), reason);
    btz_err_at(err, server->server->script->name.ptr, 0, 0);
    return BTZ_EINTERNAL;
}

static void add_message(struct btz_stage *stage, struct btz_json *messages, struct btz_str role,
                        struct btz_str text)
{
    struct btz_arena *arena = stage->arena;
    struct btz_json *content = btz_json_new_object(arena);
    struct btz_json *message = btz_json_new_object(arena);

    btz_json_set_strz(arena, content, "type", "text");
    btz_json_set_str(arena, content, "text", btz_lab_renamed(stage->lab, arena, text));
    btz_json_set_str(arena, message, "role", role);
    btz_json_setz(arena, message, "content", content);
    btz_json_push(arena, messages, message);
}

/* NULL if `value` has no other members than the given two. */
static const char *other_member(const struct btz_json *value, const char *a, const char *b,
                                const char *reason)
{
    for (size_t i = 0; i < btz_json_count(value); i++) {
        struct btz_str key = btz_json_key_at(value, i);

        if (!btz_str_is(key, a) && !btz_str_is(key, b)) {
            return reason;
        }
    }
    return NULL;
}

/* Adds the messages of a table that a script returned; NULL or the reason why not. */
static const char *add_messages(struct btz_stage *stage, struct btz_json *messages,
                                const struct btz_json *value)
{
    const struct btz_json *list = btz_json_getz(value, "messages");
    const char *why = other_member(value, "description", "messages",
                                   "unknown field; it returns description and messages");

    if (why) {
        return why;
    }
    if (!btz_json_is(list, BTZ_JSON_ARRAY) || btz_json_count(list) == 0 ||
        btz_json_count(list) > MESSAGES_MAX) {
        return "messages must be a list of 1 to 100 items";
    }
    for (size_t i = 0; i < btz_json_count(list); i++) {
        const struct btz_json *message = btz_json_at(list, i);
        const struct btz_json *text = btz_json_getz(message, "text");
        struct btz_str role = btz_json_str(btz_json_getz(message, "role"));

        if (!btz_str_is(role, "user") && !btz_str_is(role, "assistant")) {
            return "the role of a message is \"user\" or \"assistant\"";
        }
        if (!btz_json_is(text, BTZ_JSON_STRING) || other_member(message, "role", "text", "other")) {
            return "a message is { role = ..., text = \"...\" }";
        }
        add_message(stage, messages, role, btz_json_str(text));
    }
    return NULL;
}

static int make_result(struct btz_stage *stage, const struct stage_server *server,
                       const struct prompt *prompt, const struct btz_json *value,
                       const struct btz_json **result, struct btz_err *err)
{
    const struct btz_json *description = btz_json_getz(value, "description");
    struct btz_json *out = btz_json_new_object(stage->arena);
    struct btz_json *messages = btz_json_new_array(stage->arena);
    const char *why = NULL;

    if (btz_json_is(value, BTZ_JSON_STRING)) {
        add_message(stage, messages, BTZ_STR("user"), btz_json_str(value));
    } else if (!btz_json_is(value, BTZ_JSON_OBJECT)) {
        why = "expected a text or a table with description and messages";
    } else if (description && !btz_json_is(description, BTZ_JSON_STRING)) {
        why = "description must be a text";
    } else {
        why = add_messages(stage, messages, value);
    }
    if (why) {
        return fault(server, prompt, err, why);
    }
    if (description) {
        btz_json_set_str(stage->arena, out, "description",
                         btz_lab_renamed(stage->lab, stage->arena, btz_json_str(description)));
    }
    btz_json_setz(stage->arena, out, "messages", messages);
    *result = out;
    return BTZ_OK;
}

int btz_stage_prompt(struct btz_stage *stage, size_t server_index, struct btz_str name,
                     const struct btz_json *arguments, uint64_t event,
                     const struct btz_json **result, struct btz_err *err)
{
    struct btz_lua_arg args[] = {
        {NULL, stage->lab->world_ref}, {NULL, 0}, {NULL, stage->lab->ctx_ref}};
    const struct stage_server *server =
        server_index < stage->server_count ? &stage->servers[server_index] : NULL;
    struct run run = {.stage = stage, .mode = RUN_CALL, .server = server, .event = event};
    const struct btz_json *definition = NULL;
    const struct btz_json *value = NULL;
    const struct prompt *prompt = NULL;
    int code;

    for (size_t i = 0; server && !prompt && i < server->server->prompt_count; i++) {
        definition = btz_json_at(server->pub.prompts, i);
        if (btz_str_eq(btz_json_str(btz_json_getz(definition, "name")), name)) {
            prompt = &server->server->prompts[i];
        }
    }
    if (!prompt) {
        return btz_err_set(err, BTZ_ENOTFOUND, "There is no prompt \"%.*s\"", BTZ_FMT(name));
    }
    code = take_arguments(stage, prompt, definition, arguments, &args[1].json, err);
    if (code != BTZ_OK) {
        return code;
    }
    stage->time += CALL_SECONDS;
    run.prompt = prompt->name;
    code = btz_stage_run(&run, server->server->script, prompt->get, args, 3, &btz_lab_call_budget,
                         &value, err);
    if (code == BTZ_EDENIED) {
        return btz_err_set(err, BTZ_EINVAL, "%s", run.failed);
    }
    return code == BTZ_OK ? make_result(stage, server, prompt, value, result, err) : code;
}
