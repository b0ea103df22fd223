/* Putting fragments into definitions. A server's shared definitions are copied only where they
 * change. */
#include "lab/address.h"

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

/* Notes that a parameter stands under another name, for the script that knows it by its own. */
static void note_rename(struct btz_stage *stage, struct stage_tool *tool, struct btz_str field,
                        struct btz_str text)
{
    struct btz_str prefix = BTZ_STR("inputSchema.properties.");
    struct btz_str name = btz_str_sub(field, prefix.len, field.len);

    if (!btz_str_starts(field, prefix) || memchr(name.ptr, '.', name.len)) {
        return; /* not a parameter of the tool itself */
    }
    if (!tool->renamed) {
        tool->renamed = btz_json_new_object(stage->arena);
    }
    btz_json_set(stage->arena, tool->renamed, text, btz_json_new_str(stage->arena, name));
}

/* A tool whose name is changed is still the one with this number: its handler stays with it. */
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
        for (size_t t = 0; t < server->server->tool_count; t++) {
            if (t != i && btz_str_eq(btz_stage_tool_name(server, t),
                                     btz_json_str(btz_json_getz(edited, "name")))) {
                return failed(stage, fragment, "the server has a tool of that name", err);
            }
        }
        tool->definition = edited;
        if (mode == BTZ_FRAGMENT_RENAME) {
            note_rename(stage, tool, field, fragment->text);
        }
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

/* The code of a tool changes; its definition stays. */
static int into_handler(struct btz_stage *stage, struct stage_server *server,
                        const struct btz_fragment *fragment, struct btz_err *err)
{
    struct btz_str name = btz_json_str(btz_json_getz(fragment->at, "handler"));

    for (size_t i = 0; i < server->server->tool_count; i++) {
        if (btz_str_eq(server->server->tools[i].name, name)) {
            server->tools[i].handler = fragment;
            return BTZ_OK;
        }
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

static const struct btz_json *card_of(const struct btz_stage *stage,
                                      const struct btz_fragment *fragment)
{
    const struct btz_json *payload = btz_json_getz(stage->variant->pub.card, "payload");
    const struct btz_json *card = NULL;

    for (size_t p = 0; !card; p++) {
        card = btz_json_at(payload, p);
        card = btz_str_eq(btz_json_str(btz_json_getz(card, "id")), fragment->id) ? card : NULL;
    }
    return card;
}

static bool reached(const struct btz_json *since, const char *what, unsigned now)
{
    int64_t wanted = 0;

    return !btz_json_int64(btz_json_getz(since, what), &wanted) || (int64_t)now >= wanted;
}

bool btz_stage_reached(const struct btz_stage *stage, const struct btz_json *since)
{
    return reached(since, "session", stage->progress.session) &&
           reached(since, "turn", stage->progress.turn) &&
           reached(since, "calls", stage->progress.calls);
}

/* Whether the fragment is still to come. */
static bool comes_later(const struct btz_stage *stage, const struct btz_json *card)
{
    const struct btz_json *since = btz_json_getz(card, "since");

    return since && !btz_stage_reached(stage, since);
}

/* Whether the fragment is there: not before `since`, and not any more once `until` is reached. */
static bool is_due(const struct btz_stage *stage, const struct btz_json *card)
{
    const struct btz_json *until = btz_json_getz(card, "until");

    return !comes_later(stage, card) && !(until && btz_stage_reached(stage, until));
}

bool btz_stage_is_early(const struct btz_stage *stage)
{
    for (size_t i = 0; i < stage->fragment_count + stage->unseen_count; i++) {
        if (comes_later(stage, card_of(stage, &stage->fragments[i]))) {
            return true;
        }
    }
    return false;
}

/* Back to the definitions that the servers' files give. */
static void reset(struct btz_stage *stage)
{
    for (size_t s = 0; s < stage->server_count; s++) {
        struct stage_server *server = &stage->servers[s];

        server->pub.label = server->label;
        server->pub.instructions = server->server->instructions;
        server->pub.tools = server->server->tools_json;
        server->pub.resources = btz_json_shallow(stage->arena, server->resources);
        server->pub.prompts = server->server->prompts_json;
        for (size_t t = 0; t < server->server->tool_count; t++) {
            server->tools[t].definition = server->server->tools[t].definition;
            btz_schema_free(server->tools[t].input);
            server->tools[t].input = NULL;
            server->tools[t].changed = false;
            server->tools[t].renamed = NULL;
            server->tools[t].handler = NULL;
        }
    }
}

int btz_stage_advance(struct btz_stage *stage, struct btz_stage_progress progress, bool *changed,
                      struct btz_err *err)
{
    const struct btz_json **before =
        btz_arena_array(stage->arena, stage->server_count, 3 * sizeof(*before));
    struct btz_str *instructions =
        btz_arena_array(stage->arena, stage->server_count, sizeof(*instructions));
    struct btz_str *labels = btz_arena_array(stage->arena, stage->server_count, sizeof(*labels));
    bool differs = false;
    bool later = btz_stage_grows(stage);
    int code;

    stage->progress = progress;
    for (size_t i = 0; i < stage->fragment_count + stage->unseen_count; i++) {
        const struct btz_json *card = card_of(stage, &stage->fragments[i]);

        later = later || btz_json_getz(card, "since") || btz_json_getz(card, "until");
    }
    *changed = false;
    if (!later) {
        return BTZ_OK;
    }
    for (size_t i = 0; i < stage->server_count; i++) {
        before[3 * i] = stage->servers[i].pub.tools;
        before[3 * i + 1] = stage->servers[i].pub.resources;
        before[3 * i + 2] = stage->servers[i].pub.prompts;
        instructions[i] = stage->servers[i].pub.instructions;
        labels[i] = stage->servers[i].pub.label;
    }
    reset(stage);
    code = btz_stage_overlay(stage, err);
    for (size_t i = 0; i < stage->server_count; i++) {
        const struct btz_stage_server *pub = &stage->servers[i].pub;

        differs = differs || !btz_json_equal(before[3 * i], pub->tools) ||
                  !btz_json_equal(before[3 * i + 1], pub->resources) ||
                  !btz_json_equal(before[3 * i + 2], pub->prompts) ||
                  !btz_str_eq(instructions[i], pub->instructions) ||
                  !btz_str_eq(labels[i], pub->label);
    }
    *changed = differs;
    return code;
}

int btz_stage_overlay(struct btz_stage *stage, struct btz_err *err)
{
    for (size_t i = 0; i < stage->fragment_count + stage->unseen_count; i++) {
        const struct btz_json *card = card_of(stage, &stage->fragments[i]);
        struct btz_fragment written = stage->fragments[i];
        const struct btz_fragment *fragment = &written; /* its address by the names as written */
        struct stage_server *server;
        enum btz_fragment_mode mode;
        int code = BTZ_OK;

        if (!is_due(stage, card)) {
            continue;
        }
        written.at = btz_json_getz(card, "at");
        mode = btz_fragment_mode(card);
        server = btz_stage_server_of(stage, btz_json_str(btz_json_getz(fragment->at, "server")));
        if (btz_json_getz(fragment->at, "label")) {
            server->pub.label = fragment->text;
        } else if (btz_json_getz(fragment->at, "instructions")) {
            server->pub.instructions =
                mode == BTZ_FRAGMENT_REPLACE
                    ? fragment->text
                    : btz_fragment_join(stage->arena, server->pub.instructions, fragment->text);
        } else if (btz_json_getz(fragment->at, "handler")) {
            code = into_handler(stage, server, &stage->fragments[i], err);
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
    btz_stage_withhold(stage);
    return BTZ_OK;
}
