/* A server of a pack: its definitions in MCP's shape, its schemas compiled, its base world made. */
#include "lab/lab_int.h"

struct server *btz_lab_server_of(const struct btz_lab *lab, struct btz_str id)
{
    for (size_t i = 0; i < lab->server_count; i++) {
        if (btz_str_eq(lab->servers[i]->id, id)) {
            return lab->servers[i];
        }
    }
    return NULL;
}

struct server *btz_lab_server_in(const struct btz_lab *lab, const struct variant *variant,
                                 struct btz_str id)
{
    for (size_t i = 0; variant && i < variant->clone_count; i++) {
        if (btz_str_eq(variant->clones[i].server->id, id)) {
            return variant->clones[i].server;
        }
    }
    return btz_lab_server_of(lab, id);
}

struct tool *btz_lab_tool_of(const struct server *server, struct btz_str name)
{
    for (size_t i = 0; i < server->tool_count; i++) {
        if (btz_str_eq(server->tools[i].name, name)) {
            return &server->tools[i];
        }
    }
    return NULL;
}

static int compile(struct btz_lab *lab, const struct script *script, struct btz_str path,
                   const struct btz_json *schema, struct btz_schema **out, struct btz_err *err)
{
    struct btz_err reason;

    if (btz_schema_compile(schema, NULL, out, &reason) != BTZ_OK) {
        return btz_lab_refuse(script, btz_arena_dup(lab->arena, path), err,
                              "not a JSON Schema that can be used: %s", reason.msg);
    }
    return BTZ_OK;
}

static int add_tool(struct btz_lab *lab, struct server *server, size_t index,
                    const struct btz_json *data, struct btz_err *err)
{
    struct btz_arena *arena = lab->arena;
    struct script *script = server->script;
    struct tool *tool = &server->tools[index];
    struct btz_str path = btz_arena_printf(arena, "/tools/%zu", index);
    const struct btz_json *output = btz_json_getz(data, "output");
    struct btz_json *definition = btz_json_new_object(arena);
    int code;

    tool->name = btz_json_str(btz_json_getz(data, "name"));
    if (btz_lab_tool_of(server, tool->name) != tool) {
        return btz_lab_refuse(script, path, err, "the server has two tools named %.*s",
                              BTZ_FMT(tool->name));
    }
    tool->shown = tool->name;
    tool->handler = btz_lab_function(script, btz_arena_printf(arena, "%s/handler", path.ptr));
    if (tool->handler == BTZ_LUA_NONE) {
        return btz_lab_refuse(script, btz_arena_printf(arena, "%s/handler", path.ptr), err,
                              "expected function(w, args, ctx)");
    }
    btz_json_setz(arena, definition, "name", btz_json_getz(data, "name"));
    btz_json_setz(arena, definition, "title", btz_json_getz(data, "title"));
    btz_json_setz(arena, definition, "description", btz_json_getz(data, "description"));
    btz_json_setz(arena, definition, "inputSchema", btz_json_getz(data, "input"));
    if (output) {
        btz_json_setz(arena, definition, "outputSchema", output);
    }
    btz_json_setz(arena, definition, "annotations", btz_json_getz(data, "annotations"));
    tool->definition = definition;
    tool->unchecked = !btz_json_bool(btz_json_getz(data, "checks_arguments"), true);
    tool->asks = btz_json_bool(btz_json_getz(data, "asks"), false);
    code = compile(lab, script, btz_arena_printf(arena, "%s/input", path.ptr),
                   btz_json_getz(data, "input"), &tool->input, err);
    if (code == BTZ_OK && output) {
        code = compile(lab, script, btz_arena_printf(arena, "%s/output", path.ptr), output,
                       &tool->output, err);
    }
    return code;
}

static int add_resource(struct btz_lab *lab, struct server *server, size_t index,
                        const struct btz_json *data, struct btz_err *err)
{
    struct resource *resource = &server->resources[index];
    struct btz_str path = btz_arena_printf(lab->arena, "/resources/%zu", index);
    struct btz_str read = btz_arena_printf(lab->arena, "%s/read", path.ptr);

    resource->uri = btz_json_str(btz_json_getz(data, "uri"));
    resource->definition = data;
    resource->read = btz_lab_function(server->script, read);
    if (resource->read == BTZ_LUA_NONE) {
        return btz_lab_refuse(server->script, read, err, "expected function(w, ctx)");
    }
    for (size_t i = 0; i < index; i++) {
        if (btz_str_eq(server->resources[i].uri, resource->uri)) {
            return btz_lab_refuse(server->script, path, err, "the server has two resources %.*s",
                                  BTZ_FMT(resource->uri));
        }
    }
    return BTZ_OK;
}

/* {id, title, instructions, tools, resources, prompts, templates} in MCP's shapes, each tool with
 * its sink. */
static void make_shown(struct btz_lab *lab, struct server *server)
{
    struct btz_arena *arena = lab->arena;
    const struct btz_json *data = server->script->data;
    struct btz_json *tools = btz_json_new_array(arena);
    struct btz_json *with_sinks = btz_json_new_array(arena);
    struct btz_json *shown = btz_json_new_object(arena);

    for (size_t i = 0; i < server->tool_count; i++) {
        const struct btz_json *tool = btz_json_at(btz_json_getz(data, "tools"), i);
        struct btz_json *with_sink = btz_json_shallow(arena, server->tools[i].definition);

        btz_json_push(arena, tools, server->tools[i].definition);
        if (btz_json_getz(tool, "sink")) {
            btz_json_setz(arena, with_sink, "sink", btz_json_getz(tool, "sink"));
        }
        btz_json_push(arena, with_sinks, with_sink);
    }
    btz_json_setz(arena, shown, "id", btz_json_getz(data, "id"));
    btz_json_setz(arena, shown, "title", btz_json_getz(data, "title"));
    btz_json_setz(arena, shown, "instructions", btz_json_getz(data, "instructions"));
    btz_json_setz(arena, shown, "tools", with_sinks);
    btz_json_setz(arena, shown, "resources", btz_json_getz(data, "resources"));
    btz_json_setz(arena, shown, "prompts", server->prompts_json);
    btz_json_setz(arena, shown, "templates", server->templates_json);
    server->tools_json = tools;
    server->shown = shown;
}

static int make_base(struct btz_lab *lab, struct server *server, struct btz_err *err)
{
    int base = btz_lab_function(server->script, BTZ_STR("/base"));
    const struct btz_json *value = NULL;
    int code;

    server->base = btz_json_new_object(lab->arena);
    if (base == BTZ_LUA_NONE) {
        return BTZ_OK;
    }
    code = btz_lua_run(lab->lua, base, NULL, 0, &btz_lab_load_budget, lab->arena, &value, err);
    if (code == BTZ_OK) {
        code = btz_lua_check_group(lab->lua, server->script->group, err);
        if (code != BTZ_OK) {
            btz_err_at(err, server->script->name.ptr, 1, 0);
        }
    } else {
        btz_err_prefix(err, "base: ");
    }
    if (code == BTZ_OK && !btz_json_is(value, BTZ_JSON_OBJECT)) {
        code = btz_lab_refuse(server->script, BTZ_STR("/base"), err,
                              "must return a table of named parts, got %s",
                              value ? btz_json_kind_name(btz_json_kind(value)) : "nil");
    }
    if (code == BTZ_OK) {
        server->base = value;
    }
    return code;
}

static void schemas_free(struct server *server)
{
    for (size_t t = 0; t < server->tool_count; t++) {
        btz_schema_free(server->tools[t].input);
        btz_schema_free(server->tools[t].output);
    }
    server->tool_count = 0;
}

/* Puts the server into its place; an id that exists is only given up when the file says so. */
static int place(struct btz_lab *lab, struct server *server, struct btz_err *err)
{
    bool replaces = btz_json_bool(btz_json_getz(server->script->data, "replaces"), false);

    for (size_t i = 0; i < lab->server_count; i++) {
        if (!btz_str_eq(lab->servers[i]->id, server->id)) {
            continue;
        }
        if (!replaces) {
            return btz_lab_refuse(server->script, BTZ_STR("/id"), err,
                                  "there is a server %.*s already (%s); another id, or "
                                  "replaces = true",
                                  BTZ_FMT(server->id), lab->servers[i]->script->name.ptr);
        }
        schemas_free(lab->servers[i]);
        lab->servers[i] = server;
        return BTZ_OK;
    }
    if (replaces) {
        return btz_lab_refuse(server->script, BTZ_STR("/replaces"), err,
                              "there is no server %.*s to replace", BTZ_FMT(server->id));
    }
    lab->servers = btz_arena_grow(lab->arena, lab->servers, lab->server_count, &lab->server_cap,
                                  sizeof(*lab->servers));
    lab->servers[lab->server_count++] = server;
    return BTZ_OK;
}

int btz_lab_server_add(struct btz_lab *lab, struct script *script, struct btz_err *err)
{
    struct server *server = BTZ_NEW(lab->arena, struct server);
    const struct btz_json *tools = btz_json_getz(script->data, "tools");
    const struct btz_json *resources = btz_json_getz(script->data, "resources");
    int code;

    server->script = script;
    server->id = btz_json_str(btz_json_getz(script->data, "id"));
    server->label = server->id;
    server->instructions = btz_json_str(btz_json_getz(script->data, "instructions"));
    server->seed = btz_lab_function(script, BTZ_STR("/seed"));
    if (btz_str_is(server->id, "sinks") || btz_str_is(server->id, "user") ||
        btz_str_is(server->id, "content") || btz_str_is(server->id, "wire")) {
        return btz_lab_refuse(script, BTZ_STR("/id"), err,
                              "sinks, user, content and wire are taken; choose another id");
    }
    server->tools = btz_arena_array(lab->arena, btz_json_count(tools) + 1, sizeof(*server->tools));
    server->resources =
        btz_arena_array(lab->arena, btz_json_count(resources) + 1, sizeof(*server->resources));
    /* From here on the lab frees the schemas, whatever happens. */
    code = place(lab, server, err);
    for (size_t i = 0; code == BTZ_OK && i < btz_json_count(tools); i++) {
        server->tool_count++;
        code = add_tool(lab, server, i, btz_json_at(tools, i), err);
    }
    for (size_t i = 0; code == BTZ_OK && i < btz_json_count(resources); i++) {
        server->resource_count++;
        code = add_resource(lab, server, i, btz_json_at(resources, i), err);
    }
    code = code == BTZ_OK ? btz_lab_prompts_add(lab, server, err) : code;
    code = code == BTZ_OK ? btz_lab_templates_add(lab, server, err) : code;
    if (code == BTZ_OK) {
        make_shown(lab, server);
        code = make_base(lab, server, err);
    }
    return code;
}
