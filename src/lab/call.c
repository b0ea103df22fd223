/* Calling tools and reading resources of a stage. */
#include "lab/lab_int.h"

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

int btz_stage_call(struct btz_stage *stage, size_t server_index, struct btz_str name,
                   const struct btz_json *arguments, uint64_t call_event,
                   const struct btz_json **result, struct btz_err *err)
{
    struct btz_lab *lab = stage->lab;
    struct stage_server *server;
    const struct tool *tool = NULL;
    const struct btz_json *refused;
    const struct btz_json *value = NULL;
    size_t index = 0;
    int code;

    if (server_index >= stage->server_count) {
        return btz_err_set(err, BTZ_ENOTFOUND, "the stage has no server number %zu", server_index);
    }
    server = &stage->servers[server_index];
    for (; index < server->server->tool_count && !tool; index += !tool) {
        tool = btz_str_eq(btz_stage_tool_name(server, index), name) ? &server->server->tools[index]
                                                                    : NULL;
    }
    if (!tool || server->tools[index].withheld) {
        return btz_err_set(err, BTZ_ENOTFOUND, "server %.*s has no tool \"%.*s\"",
                           BTZ_FMT(server->pub.label), BTZ_FMT(name));
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
    {
        const struct btz_fragment *changed = server->tools[index].handler;
        struct btz_lua_arg args[] = {
            {NULL, lab->world_ref},
            {arguments, 0},
            {NULL, lab->ctx_ref},
            {NULL, tool->handler},
            {changed ? btz_json_new_str(stage->arena, changed->text) : NULL, 0}};
        struct run run = {.stage = stage,
                          .mode = RUN_CALL,
                          .server = server,
                          .tool = tool->name,
                          .event = call_event};

        code = btz_stage_run(&run, changed ? stage->variant->script : server->server->script,
                             changed ? stage->variant->handler : tool->handler, args,
                             changed ? 5 : 3, &btz_lab_call_budget, &value, err);
        if (changed && code != BTZ_EINTERNAL) { /* it may have called the server's own */
            int group = btz_lua_check_group(lab->lua, server->server->script->group, err);

            code = group != BTZ_OK ? BTZ_EINTERNAL : code;
        }
        if (code == BTZ_EDENIED) {
            *result = btz_stage_error_result(stage->arena, btz_str_of(run.failed));
            return BTZ_OK;
        }
    }
    return code == BTZ_OK ? btz_stage_result(stage, server, tool, value, result, err) : code;
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
