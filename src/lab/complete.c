/* Completing arguments of prompts and variables of templates. */
#include "lab/lab_int.h"

enum { VALUES_MAX = 1000 };

/* The function that completes `argument`, or BTZ_LUA_NONE; and the name that the script knows. */
static int find_prompt(struct run *run, struct btz_str name, struct btz_str argument, int *function,
                       struct btz_err *err)
{
    const struct stage_server *server = run->server;

    for (size_t i = 0; i < server->server->prompt_count; i++) {
        const struct prompt *prompt = &server->server->prompts[i];
        const struct btz_json *definition = btz_json_at(server->pub.prompts, i);
        const struct btz_json *arguments = btz_json_getz(definition, "arguments");

        if (!btz_str_eq(btz_json_str(btz_json_getz(definition, "name")), name)) {
            continue;
        }
        run->prompt = prompt->name;
        for (size_t a = 0; a < prompt->argument_count; a++) {
            struct btz_str shown = btz_json_str(btz_json_getz(btz_json_at(arguments, a), "name"));

            if (btz_str_eq(shown, argument)) {
                *function = prompt->arguments[a].complete;
                return BTZ_OK;
            }
        }
        return btz_err_set(err, BTZ_EINVAL, "Prompt %.*s has no argument \"%.*s\"", BTZ_FMT(name),
                           BTZ_FMT(argument));
    }
    return btz_err_set(err, BTZ_ENOTFOUND, "There is no prompt \"%.*s\"", BTZ_FMT(name));
}

static int find_template(const struct run *run, struct btz_str uri, struct btz_str argument,
                         int *function, struct btz_err *err)
{
    const struct server *server = run->server->server;

    for (size_t i = 0; i < server->template_count; i++) {
        const struct template *template = &server->templates[i];

        if (!btz_str_eq(template->uri, uri)) {
            continue;
        }
        for (size_t s = 0; s < template->segment_count; s++) {
            if (argument.len > 0 && btz_str_eq(template->segments[s].variable, argument)) {
                *function = template->segments[s].complete;
                return BTZ_OK;
            }
        }
        return btz_err_set(err, BTZ_EINVAL, "Template %.*s has no variable \"%.*s\"", BTZ_FMT(uri),
                           BTZ_FMT(argument));
    }
    return btz_err_set(err, BTZ_ENOTFOUND, "There is no resource template \"%.*s\"", BTZ_FMT(uri));
}

/* Values that are settled, under the names that the script knows. */
static int take_context(const struct run *run, const struct btz_json *context,
                        const struct btz_json **out, struct btz_err *err)
{
    struct btz_arena *arena = run->stage->arena;
    const struct server *server = run->server->server;
    struct btz_json *taken = btz_json_new_object(arena);

    if (context && !btz_json_is(context, BTZ_JSON_OBJECT)) {
        return btz_err_set(err, BTZ_EINVAL, "The context's arguments must be an object");
    }
    for (size_t i = 0; i < btz_json_count(context); i++) {
        struct btz_str name = btz_json_key_at(context, i);
        struct btz_str known = name;

        if (!btz_json_is(btz_json_value_at(context, i), BTZ_JSON_STRING)) {
            return btz_err_set(err, BTZ_EINVAL, "Context argument \"%.*s\" must be a string",
                               BTZ_FMT(name));
        }
        for (size_t p = 0; run->prompt.len > 0 && p < server->prompt_count; p++) {
            const struct btz_json *arguments =
                btz_json_getz(btz_json_at(run->server->pub.prompts, p), "arguments");

            for (size_t a = 0; btz_str_eq(server->prompts[p].name, run->prompt) &&
                               a < server->prompts[p].argument_count;
                 a++) {
                if (btz_str_eq(btz_json_str(btz_json_getz(btz_json_at(arguments, a), "name")),
                               name)) {
                    known = server->prompts[p].arguments[a].name;
                }
            }
        }
        btz_json_set(arena, taken, known, btz_json_value_at(context, i));
    }
    *out = taken;
    return BTZ_OK;
}

static int check_values(const struct run *run, const struct btz_json *values, struct btz_err *err)
{
    bool good = btz_json_is(values, BTZ_JSON_ARRAY) && btz_json_count(values) <= VALUES_MAX;

    for (size_t i = 0; good && i < btz_json_count(values); i++) {
        good = btz_json_is(btz_json_at(values, i), BTZ_JSON_STRING);
    }
    if (!good) {
        (void)btz_err_set(err, BTZ_EINTERNAL,
                          "complete of %.*s must return a list of at most %d texts",
                          BTZ_FMT(run->server->pub.id), VALUES_MAX);
        btz_err_at(err, run->server->server->script->name.ptr, 0, 0);
        return BTZ_EINTERNAL;
    }
    return BTZ_OK;
}

int btz_stage_complete(struct btz_stage *stage, size_t server, const struct btz_json *ref,
                       struct btz_str argument, struct btz_str value,
                       const struct btz_json *context, const struct btz_json **values,
                       struct btz_err *err)
{
    struct btz_arena *arena = stage->arena;
    struct run run = {.stage = stage, .mode = RUN_COMPLETE};
    struct btz_lua_arg args[] = {{NULL, stage->lab->world_ref},
                                 {btz_json_new_str(arena, value), 0},
                                 {NULL, 0},
                                 {NULL, stage->lab->ctx_ref}};
    struct btz_str type = btz_json_str(btz_json_getz(ref, "type"));
    const struct btz_json *out = NULL;
    int function = BTZ_LUA_NONE;
    int code;

    if (server >= stage->server_count) {
        return btz_err_set(err, BTZ_ENOTFOUND, "the stage has no server number %zu", server);
    }
    run.server = &stage->servers[server];
    if (btz_str_is(type, "ref/prompt")) {
        code =
            find_prompt(&run, btz_json_str(btz_json_getz(ref, "name")), argument, &function, err);
    } else if (btz_str_is(type, "ref/resource")) {
        code =
            find_template(&run, btz_json_str(btz_json_getz(ref, "uri")), argument, &function, err);
    } else {
        code = btz_err_set(err, BTZ_EINVAL, "A reference is ref/prompt or ref/resource");
    }
    code = code == BTZ_OK ? take_context(&run, context, &args[2].json, err) : code;
    if (code != BTZ_OK) {
        return code;
    }
    if (function == BTZ_LUA_NONE) {
        *values = btz_json_new_array(arena);
        return BTZ_OK;
    }
    code = btz_stage_run(&run, run.server->server->script, function, args, 4, &btz_lab_call_budget,
                         &out, err);
    if (code == BTZ_EDENIED) {
        return btz_err_set(err, BTZ_EINVAL, "%s", run.failed);
    }
    if (code == BTZ_OK && btz_json_is(out, BTZ_JSON_OBJECT) && btz_json_count(out) == 0) {
        out = btz_json_new_array(arena); /* an empty table: no proposal */
    }
    code = code == BTZ_OK ? check_values(&run, out, err) : code;
    if (code == BTZ_OK) {
        *values = out;
    }
    return code;
}
