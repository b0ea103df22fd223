/* Calling tools and reading resources of a stage. */
#include "lab/ask.h"

enum { CALL_SECONDS = 60, ARGUMENTS_BYTES_MAX = 1024 * 1024 };

/* The schema that arguments are checked against: the tool's own, or that of its changed
 * definition. A payload may have broken the latter; then the tool's own stands. */
static const struct btz_schema *input_schema(const struct tool *tool, struct stage_tool *mine)
{
    if (!mine->changed) {
        return tool->input;
    }
    if (!mine->input && btz_schema_compile(btz_json_getz(mine->definition, "inputSchema"), NULL,
                                           &mine->input, NULL) != BTZ_OK) {
        mine->changed = false;
        return tool->input;
    }
    return mine->input;
}

/* The arguments under the names that the script knows: a payload may have renamed parameters. */
static const struct btz_json *as_written(struct btz_arena *arena, const struct stage_tool *mine,
                                         const struct btz_json *arguments)
{
    struct btz_json *out = btz_json_new_object(arena);

    if (!mine->renamed || !btz_json_is(arguments, BTZ_JSON_OBJECT)) {
        return arguments;
    }
    for (size_t i = 0; i < btz_json_count(arguments); i++) {
        struct btz_str name = btz_json_key_at(arguments, i);
        const struct btz_json *written = btz_json_get(mine->renamed, name);

        btz_json_set(arena, out, written ? btz_json_str(written) : name,
                     btz_json_value_at(arguments, i));
    }
    return out;
}

/* NULL if the arguments are as the schema wants them, else the error result. */
static const struct btz_json *check_arguments(struct btz_stage *stage, struct btz_str tool,
                                              const struct btz_schema *schema,
                                              const struct btz_json *arguments)
{
    struct btz_schema_report report = {0};
    struct btz_str text;
    int code;

    code = btz_schema_check(schema, arguments, stage->arena, &report);
    if (code == BTZ_OK) {
        return NULL;
    }
    text = code == BTZ_EINVAL ? btz_schema_report_text(stage->arena, &report)
                              : BTZ_STR("they are too large to be checked");
    return btz_stage_error_result(stage->arena,
                                  btz_arena_printf(stage->arena, "Invalid arguments for %.*s: %.*s",
                                                   BTZ_FMT(tool), BTZ_FMT(text)));
}

static const struct tool *tool_named(const struct stage_server *server, struct btz_str name,
                                     size_t *index)
{
    for (size_t i = 0; i < server->server->tool_count; i++) {
        if (btz_str_eq(btz_stage_tool_name(server, i), name)) {
            *index = i;
            return &server->server->tools[i];
        }
    }
    return NULL;
}

/* What the variant lets the server ask before the tool does its work. Its text goes before the
 * handler's, or stands instead of it. */
static int run_ask(struct run *run, const struct tool *tool, const struct btz_json *arguments,
                   const struct btz_json **value, struct btz_err *err)
{
    struct btz_stage *stage = run->stage;
    const struct variant *variant = stage->variant;
    struct btz_json *call = btz_json_new_object(stage->arena);
    struct btz_lua_arg args[] = {{NULL, stage->lab->world_ref},
                                 {stage->markers, 0},
                                 {stage->payload, 0},
                                 {call, 0},
                                 {NULL, stage->lab->ctx_ref}};
    int code;

    btz_json_set_str(stage->arena, call, "server", run->server->pub.id);
    btz_json_set_str(stage->arena, call, "tool", tool->name);
    btz_json_setz(stage->arena, call, "args", arguments);
    code = btz_stage_run(run, variant->script, variant->ask, args, 5, &btz_lab_call_budget, value,
                         err);
    if (code == BTZ_OK && *value && !btz_json_is(*value, BTZ_JSON_STRING) &&
        !btz_json_is(btz_json_getz(*value, "instead"), BTZ_JSON_STRING)) {
        code = btz_lab_refuse(variant->script,
                              btz_arena_printf(stage->arena, "%s/ask", variant->path.ptr), err,
                              "must return nil, a text that goes before the tool's, or "
                              "{ instead = text }");
        err->code = code = BTZ_EINTERNAL;
    }
    return code;
}

/* The result of the handler with a text before its own. */
static const struct btz_json *with_text(struct btz_arena *arena, const struct btz_json *result,
                                        struct btz_str text)
{
    struct btz_json *out = btz_json_shallow(arena, result);
    struct btz_json *content = btz_json_new_array(arena);
    struct btz_json *block = btz_json_new_object(arena);

    btz_json_set_strz(arena, block, "type", "text");
    btz_json_set_str(arena, block, "text", text);
    btz_json_push(arena, content, block);
    for (size_t i = 0; i < btz_json_count(btz_json_getz(result, "content")); i++) {
        btz_json_push(arena, content, btz_json_at(btz_json_getz(result, "content"), i));
    }
    btz_json_setz(arena, out, "content", content);
    return out;
}

/* The tool's own code, or what a payload has put in its place. */
static int run_code(struct run *run, const struct tool *tool, const struct btz_json *arguments,
                    const struct btz_json **value, struct btz_err *err)
{
    struct btz_stage *stage = run->stage;
    const struct script *own = run->server->server->script;
    const struct btz_fragment *changed =
        run->server->tools[tool - run->server->server->tools].handler;
    struct btz_lua_arg args[] = {
        {NULL, stage->lab->world_ref},
        {arguments, 0},
        {NULL, stage->lab->ctx_ref},
        {NULL, tool->handler},
        {changed ? btz_json_new_str(stage->arena, changed->text) : NULL, 0}};
    int group;
    int code;

    if (!changed) {
        return btz_stage_run(run, own, tool->handler, args, 3, &btz_lab_call_budget, value, err);
    }
    code = btz_stage_run(run, stage->variant->script, stage->variant->handler, args, 5,
                         &btz_lab_call_budget, value, err);
    if (code == BTZ_EINTERNAL) {
        return code;
    }
    group = btz_lua_check_group(stage->lab->lua, own->group, err); /* it may have run that, too */
    return group != BTZ_OK ? BTZ_EINTERNAL : code;
}

static int run_handler(struct run *run, const struct tool *tool, const struct btz_json *arguments,
                       const struct btz_json **result, struct btz_err *err)
{
    struct btz_stage *stage = run->stage;
    const struct btz_json *before = NULL;
    const struct btz_json *value = NULL;
    int code = BTZ_OK;

    if (stage->variant && stage->variant->ask != BTZ_LUA_NONE) {
        run->may_ask = true;
        code = run_ask(run, tool, arguments, &before, err);
    }
    if (code == BTZ_OK && btz_json_getz(before, "instead")) {
        return btz_stage_result(stage, run->server, tool, btz_json_getz(before, "instead"), result,
                                err);
    }
    if (code == BTZ_OK) {
        run->may_ask = tool->asks;
        code = run_code(run, tool, arguments, &value, err);
    }
    if (code == BTZ_EDENIED) {
        *result = btz_stage_error_result(stage->arena, btz_str_of(run->failed));
    } else if (code == BTZ_OK) {
        code = btz_stage_result(stage, run->server, tool, value, result, err);
    }
    if ((code == BTZ_OK || code == BTZ_EDENIED) && btz_json_is(before, BTZ_JSON_STRING)) {
        *result = with_text(stage->arena, *result, btz_json_str(before));
    }
    return code == BTZ_EDENIED ? BTZ_OK : code;
}

int btz_stage_call_asking(struct btz_stage *stage, size_t server_index, struct btz_str name,
                          const struct btz_json *arguments, uint64_t call_event,
                          struct btz_stage_dialogue *dialogue, const struct btz_json **result,
                          struct btz_err *err)
{
    struct stage_server *server =
        server_index < stage->server_count ? &stage->servers[server_index] : NULL;
    size_t index = 0;
    const struct tool *tool = server ? tool_named(server, name, &index) : NULL;
    struct run run = {.stage = stage,
                      .mode = RUN_CALL,
                      .server = server,
                      .tool = tool ? tool->name : BTZ_STR_NONE,
                      .event = call_event,
                      .dialogue = dialogue};
    const struct btz_json *refused;
    struct snapshot before;
    bool asks;
    int code;

    dialogue->question = NULL;
    if (!server) {
        return btz_err_set(err, BTZ_ENOTFOUND, "the stage has no server number %zu", server_index);
    }
    if (!tool || server->tools[index].withheld) {
        return btz_err_set(err, BTZ_ENOTFOUND, "server %.*s has no tool \"%.*s\"",
                           BTZ_FMT(server->pub.label), BTZ_FMT(name));
    }
    asks = tool->asks || (stage->variant && stage->variant->ask != BTZ_LUA_NONE);
    if (btz_json_count(dialogue->answers)) {
        btz_lab_note_answer(&run,
                            btz_json_at(dialogue->answers, btz_json_count(dialogue->answers) - 1));
    }
    if (asks) {
        btz_lab_snapshot(stage, &before);
    }
    stage->time += CALL_SECONDS;
    arguments = arguments ? arguments : btz_json_new_object(stage->arena);
    refused =
        tool->unchecked
            ? NULL
            : check_arguments(stage, name, input_schema(tool, &server->tools[index]), arguments);
    if (refused) {
        *result = refused;
        return BTZ_OK;
    }
    arguments = as_written(stage->arena, &server->tools[index], arguments);
    code = run_handler(&run, tool, arguments, result, err);
    if (code == BTZ_EAGAIN) {
        btz_lab_restore(stage, &before);
        *result = NULL;
        return BTZ_OK;
    }
    return code;
}

int btz_stage_call(struct btz_stage *stage, size_t server, struct btz_str name,
                   const struct btz_json *arguments, uint64_t call_event,
                   const struct btz_json **result, struct btz_err *err)
{
    struct btz_stage_dialogue nobody = {0};

    return btz_stage_call_asking(stage, server, name, arguments, call_event, &nobody, result, err);
}

static const struct resource *resource_of(const struct stage_server *server, struct btz_str uri,
                                          const struct btz_json **shown)
{
    for (size_t i = 0; i < btz_json_count(server->pub.resources); i++) {
        const struct btz_json *resource = btz_json_at(server->pub.resources, i);

        if (!btz_str_eq(btz_json_str(btz_json_getz(resource, "uri")), uri)) {
            continue;
        }
        *shown = resource;
        for (size_t r = 0; r < server->server->resource_count; r++) {
            if (btz_str_eq(server->server->resources[r].uri, uri)) {
                return &server->server->resources[r];
            }
        }
    }
    return NULL;
}

int btz_stage_read(struct btz_stage *stage, size_t server_index, struct btz_str uri, uint64_t event,
                   const struct btz_json **result, struct btz_err *err)
{
    struct btz_arena *arena = stage->arena;
    struct btz_lua_arg args[3] = {{NULL, stage->lab->world_ref}};
    struct stage_server *server =
        server_index < stage->server_count ? &stage->servers[server_index] : NULL;
    const struct btz_json *shown = NULL;
    const struct btz_json *values = NULL;
    const struct resource *resource = server ? resource_of(server, uri, &shown) : NULL;
    const struct template *template =
        server && !resource ? btz_lab_template_match(server->server, arena, uri, &values) : NULL;
    size_t count = 1;
    struct run run = {.stage = stage, .mode = RUN_CALL, .server = server, .event = event};
    const struct btz_json *text = NULL;
    struct btz_json *out;
    struct btz_json *content;
    struct btz_json *list;
    int code;

    if (!resource && !template) {
        return btz_err_set(err, BTZ_ENOTFOUND, "there is no resource \"%.*s\"", BTZ_FMT(uri));
    }
    if (template) {
        shown = btz_json_at(server->pub.templates, (size_t)(template - server->server->templates));
        args[count++].json = values;
    }
    args[count++].ref = stage->lab->ctx_ref;
    stage->time += CALL_SECONDS;
    code = btz_stage_run(&run, server->server->script, resource ? resource->read : template->read,
                         args, count, &btz_lab_call_budget, &text, err);
    if (code == BTZ_EDENIED) {
        return btz_err_set(err, BTZ_ENOTFOUND, "%s", run.failed);
    }
    if (code == BTZ_OK && !btz_json_is(text, BTZ_JSON_STRING)) {
        code = btz_err_set(err, BTZ_EINTERNAL, "read of %.*s must return a text", BTZ_FMT(uri));
        btz_err_at(err, server->server->script->name.ptr, 0, 0);
    }
    if (code != BTZ_OK) {
        return code;
    }
    out = btz_json_new_object(arena);
    content = btz_json_new_object(arena);
    list = btz_json_new_array(arena);
    btz_json_set_str(arena, content, "uri", uri);
    btz_json_setz(arena, content, "mimeType", btz_json_getz(shown, "mimeType"));
    btz_json_setz(arena, content, "text", text);
    btz_json_push(arena, list, content);
    btz_json_setz(arena, out, "contents", list);
    *result = out;
    return BTZ_OK;
}
