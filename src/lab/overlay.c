/* Putting fragments into definitions. A server's shared definitions are copied only where they
 * change. */
#include "lab/address.h"

static struct stage_server *server_of(struct btz_stage *stage, struct btz_str id)
{
    for (size_t i = 0; i < stage->server_count; i++) {
        if (btz_str_eq(stage->servers[i].pub.id, id)) {
            return &stage->servers[i];
        }
    }
    return NULL;
}

static int failed(struct btz_stage *stage, const struct btz_fragment *fragment, const char *why,
                  struct btz_err *err)
{
    return btz_lab_refuse(stage->variant->script, stage->variant->path, err, "fragment %.*s: %s",
                          BTZ_FMT(fragment->id), why);
}

static void own_list(struct btz_stage *stage, const struct btz_json **list,
                     const struct btz_json *shared)
{
    if (*list == shared) {
        *list = btz_json_shallow(stage->arena, shared);
    }
}

static int into_tool(struct btz_stage *stage, struct stage_server *server,
                     const struct btz_fragment *fragment, enum btz_fragment_mode mode,
                     struct btz_err *err)
{
    struct btz_str name = btz_json_str(btz_json_getz(fragment->at, "tool"));
    struct btz_str field = btz_json_str(btz_json_getz(fragment->at, "field"));
    const char *why = NULL;

    for (size_t i = 0; i < server->server->tool_count; i++) {
        struct stage_tool *tool = &server->tools[i];
        const struct btz_json *edited;

        if (!btz_str_eq(server->server->tools[i].name, name)) {
            continue;
        }
        edited =
            btz_lab_field_edit(stage->arena, tool->definition, field, mode, fragment->text, &why);
        if (!edited) {
            return failed(stage, fragment, why, err);
        }
        tool->definition = edited;
        /* Other words in the same place leave the schema as strict as it was. */
        tool->changed = tool->changed || (btz_str_starts(field, BTZ_STR("inputSchema.")) &&
                                          !btz_str_ends(field, BTZ_STR(".description")) &&
                                          !btz_str_ends(field, BTZ_STR(".title")));
        own_list(stage, &server->pub.tools, server->server->tools_json);
        btz_json_replace_at((struct btz_json *)(uintptr_t)server->pub.tools, i, edited);
        return BTZ_OK;
    }
    return failed(stage, fragment, "the server has no such tool", err);
}

/* A prompt whose name is changed is still the one with this number: its script stays with it. */
static int into_prompt(struct btz_stage *stage, struct stage_server *server,
                       const struct btz_fragment *fragment, enum btz_fragment_mode mode,
                       struct btz_err *err)
{
    struct btz_str name = btz_json_str(btz_json_getz(fragment->at, "prompt"));
    struct btz_str field = btz_json_str(btz_json_getz(fragment->at, "field"));
    const char *why = "the server has no such prompt";

    for (size_t i = 0; i < server->server->prompt_count; i++) {
        const struct btz_json *edited;

        if (!btz_str_eq(server->server->prompts[i].name, name)) {
            continue;
        }
        edited = btz_lab_field_edit(stage->arena, btz_json_at(server->pub.prompts, i), field, mode,
                                    fragment->text, &why);
        why = edited ? btz_lab_prompt_wrong(edited) : why;
        if (why) {
            break;
        }
        own_list(stage, &server->pub.prompts, server->server->prompts_json);
        btz_json_replace_at((struct btz_json *)(uintptr_t)server->pub.prompts, i, edited);
        return BTZ_OK;
    }
    return failed(stage, fragment, why, err);
}

static int into_template(struct btz_stage *stage, struct stage_server *server, size_t index,
                         const struct btz_fragment *fragment, enum btz_fragment_mode mode,
                         struct btz_err *err)
{
    struct btz_str field = btz_json_str(btz_json_getz(fragment->at, "field"));
    const char *why = NULL;
    const struct btz_json *edited = btz_lab_field_edit(
        stage->arena, btz_json_at(server->pub.templates, index), field, mode, fragment->text, &why);

    if (!edited) {
        return failed(stage, fragment, why, err);
    }
    own_list(stage, &server->pub.templates, server->server->templates_json);
    btz_json_replace_at((struct btz_json *)(uintptr_t)server->pub.templates, index, edited);
    return BTZ_OK;
}

static int into_resource(struct btz_stage *stage, struct stage_server *server,
                         const struct btz_fragment *fragment, enum btz_fragment_mode mode,
                         struct btz_err *err)
{
    struct btz_str uri = btz_json_str(btz_json_getz(fragment->at, "resource"));
    struct btz_str field = btz_json_str(btz_json_getz(fragment->at, "field"));
    const char *why = NULL;

    for (size_t i = 0; i < btz_json_count(server->pub.resources); i++) {
        const struct btz_json *resource = btz_json_at(server->pub.resources, i);
        const struct btz_json *edited;

        if (!btz_str_eq(btz_json_str(btz_json_getz(resource, "uri")), uri)) {
            continue;
        }
        edited = btz_lab_field_edit(stage->arena, resource, field, mode, fragment->text, &why);
        if (!edited) {
            return failed(stage, fragment, why, err);
        }
        /* The list was made for this stage (stage.c). */
        btz_json_replace_at((struct btz_json *)(uintptr_t)server->pub.resources, i, edited);
        return BTZ_OK;
    }
    for (size_t i = 0; i < server->server->template_count; i++) {
        if (btz_str_eq(server->server->templates[i].uri, uri)) {
            return into_template(stage, server, i, fragment, mode, err);
        }
    }
    return failed(stage, fragment, "the stage has no such resource", err);
}

int btz_stage_overlay(struct btz_stage *stage, struct btz_err *err)
{
    const struct btz_json *payload = btz_json_getz(stage->variant->pub.card, "payload");

    for (size_t i = 0; i < stage->fragment_count; i++) {
        const struct btz_fragment *fragment = &stage->fragments[i];
        const struct btz_json *card = NULL;
        struct stage_server *server;
        enum btz_fragment_mode mode;
        int code = BTZ_OK;

        for (size_t p = 0; !card; p++) {
            card = btz_json_at(payload, p);
            card = btz_str_eq(btz_json_str(btz_json_getz(card, "id")), fragment->id) ? card : NULL;
        }
        mode = btz_fragment_mode(card);
        server = server_of(stage, btz_json_str(btz_json_getz(fragment->at, "server")));
        if (btz_json_getz(fragment->at, "instructions")) {
            server->pub.instructions =
                mode == BTZ_FRAGMENT_REPLACE
                    ? fragment->text
                    : btz_fragment_join(stage->arena, server->pub.instructions, fragment->text);
        } else if (btz_json_getz(fragment->at, "tool")) {
            code = into_tool(stage, server, fragment, mode, err);
        } else if (btz_json_getz(fragment->at, "resource") &&
                   btz_json_getz(fragment->at, "field")) {
            code = into_resource(stage, server, fragment, mode, err);
        } else if (btz_json_getz(fragment->at, "prompt") && btz_json_getz(fragment->at, "field")) {
            code = into_prompt(stage, server, fragment, mode, err);
        }
        if (code != BTZ_OK) {
            return code;
        }
    }
    return BTZ_OK;
}
