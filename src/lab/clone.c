/* Clones: servers of one setting that run the script of a server of the packs under an id, a label
 * and a world part of their own. A look-alike is most easily made from the code of what it looks
 * like; so is an honest mirror. A clone has the tools that its setting names and nothing else. */
#include "lab/lab_int.h"

static int refused(struct btz_lab *lab, const struct variant *variant, struct btz_str id,
                   struct btz_err *err, const char *why)
{
    return btz_lab_refuse(
        variant->script,
        btz_arena_printf(lab->arena, "%s/setting/clones/%.*s", variant->path.ptr, BTZ_FMT(id)), err,
        "%s", why);
}

/* What a clone shares with its server, in its present state. */
static void copy_tools(struct btz_lab *lab, struct clone *clone)
{
    struct btz_json *list = btz_json_new_array(lab->arena);

    for (size_t i = 0; i < clone->server->tool_count; i++) {
        struct tool *tool = &clone->server->tools[i];

        *tool = *btz_lab_tool_of(clone->of, tool->name);
        btz_json_push(lab->arena, list, tool->definition);
    }
    clone->server->tools_json = list;
}

static int make_clone(struct btz_lab *lab, struct variant *variant, struct btz_str id,
                      const struct btz_json *card, struct btz_err *err)
{
    const struct btz_json *tools = btz_json_getz(card, "tools");
    struct clone *clone = &variant->clones[variant->clone_count];
    struct server *server = BTZ_NEW(lab->arena, struct server);

    clone->of = btz_lab_server_of(lab, btz_json_str(btz_json_getz(card, "of")));
    clone->server = server;
    if (btz_lab_server_of(lab, id) || btz_str_is(id, "sinks") || btz_str_is(id, "user") ||
        btz_str_is(id, "content") || btz_str_is(id, BTZ_LAB_WIRE)) {
        return refused(lab, variant, id, err, "the id is taken; a clone needs one of its own");
    }
    if (!clone->of) {
        return refused(lab, variant, id, err, "`of` must be a server of the packs");
    }
    server->id = server->label = id;
    server->script = clone->of->script;
    server->base = clone->of->base;
    server->seed = clone->of->seed;
    server->instructions = BTZ_STR("");
    server->prompts_json = server->templates_json = btz_json_new_array(lab->arena);
    server->tools = btz_arena_array(lab->arena, btz_json_count(tools), sizeof(*server->tools));
    for (size_t i = 0; i < btz_json_count(tools); i++) {
        struct btz_str name = btz_json_str(btz_json_at(tools, i));

        if (!btz_lab_tool_of(clone->of, name)) {
            return refused(lab, variant, id, err, "`tools` must name tools of the server");
        }
        server->tools[server->tool_count++].name = name;
    }
    copy_tools(lab, clone);
    variant->clone_count++;
    return BTZ_OK;
}

int btz_lab_clones_make(struct btz_lab *lab, struct variant *variant, struct btz_err *err)
{
    const struct btz_json *clones = btz_json_pointer(variant->pub.card, BTZ_STR("/setting/clones"));
    int code = BTZ_OK;

    variant->clones = btz_arena_array(lab->arena, btz_json_count(clones), sizeof(*variant->clones));
    for (size_t i = 0; code == BTZ_OK && i < btz_json_count(clones); i++) {
        code =
            make_clone(lab, variant, btz_json_key_at(clones, i), btz_json_value_at(clones, i), err);
    }
    return code;
}

void btz_lab_clones_refresh(struct btz_lab *lab)
{
    for (size_t v = 0; v < lab->variant_count; v++) {
        for (size_t c = 0; c < lab->variants[v]->clone_count; c++) {
            copy_tools(lab, &lab->variants[v]->clones[c]);
        }
    }
}
