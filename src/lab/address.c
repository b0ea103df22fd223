/* Addresses of fragments inside definitions: dotted fields such as
 * "inputSchema.properties.path.description", positions in lists from 1 ("enum.2"). */
#include "lab/address.h"

enum { SEGMENTS_MAX = 16 };

struct edit {
    struct btz_arena *arena;
    struct btz_str segments[SEGMENTS_MAX];
    size_t count;
    enum btz_fragment_mode mode;
    struct btz_str text;
    const char *why;
};

enum btz_fragment_mode btz_fragment_mode(const struct btz_json *fragment)
{
    struct btz_str mode = btz_json_str(btz_json_getz(fragment, "mode"));

    return btz_str_is(mode, "replace")  ? BTZ_FRAGMENT_REPLACE
           : btz_str_is(mode, "add")    ? BTZ_FRAGMENT_ADD
           : btz_str_is(mode, "rename") ? BTZ_FRAGMENT_RENAME
                                        : BTZ_FRAGMENT_APPEND;
}

struct btz_str btz_fragment_join(struct btz_arena *arena, struct btz_str old, struct btz_str text)
{
    bool apart = old.len == 0 || text.len == 0 || strchr(" \n\t", text.ptr[0]) ||
                 strchr(" \n\t", old.ptr[old.len - 1]);

    return btz_arena_printf(arena, "%.*s%s%.*s", BTZ_FMT(old), apart ? "" : " ", BTZ_FMT(text));
}

static bool position(struct btz_str segment, const struct btz_json *array, size_t *out)
{
    int64_t number;

    if (btz_str_int64(segment, &number) != BTZ_OK || number < 1 ||
        (size_t)number > btz_json_count(array) + 1) {
        return false;
    }
    *out = (size_t)number - 1;
    return true;
}

/* The new value of the last member or item; NULL and `why` if the mode does not fit. */
static const struct btz_json *leaf(struct edit *e, const struct btz_json *old)
{
    if (e->mode == BTZ_FRAGMENT_ADD) {
        e->why = old ? "the field exists already; use mode \"replace\" or \"append\"" : NULL;
        return old ? NULL : btz_json_new_str(e->arena, e->text);
    }
    if (!old) {
        e->why = "there is no such field; mode \"add\" makes one";
        return NULL;
    }
    if (e->mode == BTZ_FRAGMENT_REPLACE) {
        bool yes = btz_str_is(e->text, "true"); /* a hint stays a boolean */

        return btz_json_is(old, BTZ_JSON_BOOL) && (yes || btz_str_is(e->text, "false"))
                   ? btz_json_new_bool(e->arena, yes)
                   : btz_json_new_str(e->arena, e->text);
    }
    if (!btz_json_is(old, BTZ_JSON_STRING)) {
        e->why = "text can only be appended to a text";
        return NULL;
    }
    return btz_json_new_str(e->arena, btz_fragment_join(e->arena, btz_json_str(old), e->text));
}

/* The object with member `key` under another name, in the same place. */
static const struct btz_json *renamed(struct edit *e, const struct btz_json *object,
                                      struct btz_str key)
{
    struct btz_json *out = btz_json_new_object(e->arena);

    if (!btz_json_get(object, key)) {
        e->why = "there is no such field to rename";
        return NULL;
    }
    if (btz_json_get(object, e->text)) {
        e->why = "the new name exists already";
        return NULL;
    }
    for (size_t i = 0; i < btz_json_count(object); i++) {
        struct btz_str name = btz_json_key_at(object, i);

        btz_json_set(e->arena, out, btz_str_eq(name, key) ? e->text : name,
                     btz_json_value_at(object, i));
    }
    return out;
}

/* A schema whose property was renamed requires it by its new name. */
static void rename_required(struct edit *e, struct btz_json *schema, struct btz_str key)
{
    const struct btz_json *required = btz_json_getz(schema, "required");
    struct btz_json *copy;

    for (size_t i = 0; i < btz_json_count(required); i++) {
        if (btz_str_eq(btz_json_str(btz_json_at(required, i)), key)) {
            copy = btz_json_shallow(e->arena, required);
            btz_json_replace_at(copy, i, btz_json_new_str(e->arena, e->text));
            btz_json_setz(e->arena, schema, "required", copy);
            return;
        }
    }
}

static const struct btz_json *change(struct edit *e, const struct btz_json *value, size_t depth)
{
    bool last = depth + 1 == e->count;
    struct btz_str segment = e->segments[depth];
    const struct btz_json *child;
    struct btz_json *copy;
    size_t at = 0;

    if (btz_json_is(value, BTZ_JSON_ARRAY)) {
        if (!position(segment, value, &at)) {
            e->why = "a position in a list goes from 1 to its length";
            return NULL;
        }
        child = btz_json_at(value, at);
    } else if (btz_json_is(value, BTZ_JSON_OBJECT)) {
        if (last && e->mode == BTZ_FRAGMENT_RENAME) {
            return renamed(e, value, segment);
        }
        child = btz_json_get(value, segment);
    } else {
        e->why = "the field goes through a value that is neither object nor list";
        return NULL;
    }
    if (!last && !child && e->mode == BTZ_FRAGMENT_ADD &&
        btz_str_is(e->segments[0], "icons")) { /* what MCP lets every definition have */
        child = depth == 0 ? btz_json_new_array(e->arena) : btz_json_new_object(e->arena);
    }
    if (!last && !child) {
        e->why = "there is no such field";
        return NULL;
    }
    child = last ? leaf(e, child) : change(e, child, depth + 1);
    if (!child) {
        return NULL;
    }
    copy = btz_json_shallow(e->arena, value);
    if (!btz_json_is(value, BTZ_JSON_ARRAY)) {
        btz_json_set(e->arena, copy, segment, child);
        if (e->mode == BTZ_FRAGMENT_RENAME && depth + 2 == e->count &&
            btz_str_is(segment, "properties")) {
            rename_required(e, copy, e->segments[depth + 1]);
        }
    } else if (at == btz_json_count(value)) {
        btz_json_push(e->arena, copy, child);
    } else {
        btz_json_replace_at(copy, at, child);
    }
    return copy;
}

const struct btz_json *btz_lab_field_edit(struct btz_arena *arena, const struct btz_json *value,
                                          struct btz_str field, enum btz_fragment_mode mode,
                                          struct btz_str text, const char **why)
{
    struct edit e = {.arena = arena, .mode = mode, .text = text, .why = "the field is empty"};
    const struct btz_json *out = NULL;
    struct btz_str part;

    while (btz_str_cut(&field, '.', &part)) {
        if (part.len == 0 || e.count == SEGMENTS_MAX) {
            *why = "a field is names and positions with single dots between";
            return NULL;
        }
        e.segments[e.count++] = part;
    }
    if (e.count > 0) {
        out = change(&e, value, 0);
    }
    if (!out) {
        *why = e.why;
    }
    return out;
}

static bool listed(const struct btz_json *list, struct btz_str text)
{
    for (size_t i = 0; i < btz_json_count(list); i++) {
        if (btz_str_eq(btz_json_str(btz_json_at(list, i)), text)) {
            return true;
        }
    }
    return false;
}

static const char *check_resource(const struct server *server, struct btz_arena *arena,
                                  const struct btz_json *fragment, const struct btz_json *setting)
{
    const struct btz_json *at = btz_json_getz(fragment, "at");
    struct btz_str field = btz_json_str(btz_json_getz(at, "field"));
    struct btz_str uri = btz_json_str(btz_json_getz(at, "resource"));
    enum btz_fragment_mode mode = btz_fragment_mode(fragment);
    const struct btz_json *definition = NULL;
    const struct btz_json *values = NULL;
    const char *why = NULL;

    for (size_t i = 0; i < server->template_count; i++) {
        if (btz_str_eq(server->templates[i].uri, uri) && field.len > 0) {
            (void)btz_lab_field_edit(arena, server->templates[i].definition, field, mode,
                                     BTZ_STR("x"), &why);
            return why;
        }
    }
    for (size_t i = 0; i < server->resource_count; i++) {
        if (btz_str_eq(server->resources[i].uri, uri)) {
            definition = server->resources[i].definition;
        }
    }
    if (!definition && !btz_lab_template_match(server, arena, uri, &values)) {
        return "the server has no such resource";
    }
    if (!listed(btz_json_getz(setting, "resources"), uri)) {
        return "the resource is not among setting.resources";
    }
    if (field.len > 0 && !definition) {
        return "what a template makes has no definition; name the template itself, or no field";
    }
    if (field.len > 0) {
        (void)btz_lab_field_edit(arena, definition, field, mode, BTZ_STR("x"), &why);
    }
    return why;
}

static const char *check_prompt(const struct server *server, struct btz_arena *arena,
                                const struct btz_json *fragment)
{
    const struct btz_json *at = btz_json_getz(fragment, "at");
    struct btz_str field = btz_json_str(btz_json_getz(at, "field"));
    const struct prompt *prompt =
        btz_lab_prompt_of(server, btz_json_str(btz_json_getz(at, "prompt")));
    const struct btz_json *edited;
    const char *why = NULL;

    if (!prompt) {
        return "the server has no such prompt";
    }
    if (field.len == 0) {
        return NULL;
    }
    edited = btz_lab_field_edit(arena, prompt->definition, field, btz_fragment_mode(fragment),
                                BTZ_STR("x_y_z"), &why);
    return edited ? btz_lab_prompt_wrong(edited) : why;
}

/* Checks the part of the address below its server; the kinds are in order of the schema. */
static const char *check_below(const struct server *server, struct btz_arena *arena,
                               const struct btz_json *fragment, const struct btz_json *setting)
{
    const struct btz_json *at = btz_json_getz(fragment, "at");
    struct btz_str field = btz_json_str(btz_json_getz(at, "field"));
    enum btz_fragment_mode mode = btz_fragment_mode(fragment);
    static const char *const of_calls[] = {"result", "sampling", "elicitation"};
    const char *why = NULL;

    if (btz_json_getz(at, "tool")) {
        struct tool *tool = btz_lab_tool_of(server, btz_json_str(btz_json_getz(at, "tool")));

        if (!tool) {
            return "the server has no such tool; `bartizan list tools` names them";
        }
        if (field.len == 0) {
            return "field is missing: name a field of the tool's definition, such as "
                   "\"description\"";
        }
        (void)btz_lab_field_edit(arena, tool->definition, field, mode, BTZ_STR("x_y_z"), &why);
        return why;
    }
    for (size_t i = 0; i < sizeof(of_calls) / sizeof(*of_calls); i++) {
        struct btz_str from = btz_json_str(btz_json_getz(at, of_calls[i]));

        if (from.len > 0) {
            return btz_str_is(from, "*") || btz_lab_tool_of(server, from) /* "*": any tool of it */
                       ? NULL
                       : "the server has no such tool to be called";
        }
    }
    if (btz_json_getz(at, "handler")) {
        return btz_lab_tool_of(server, btz_json_str(btz_json_getz(at, "handler")))
                   ? NULL
                   : "the server has no such tool whose handler could change";
    }
    if (btz_json_getz(at, "resource")) {
        return check_resource(server, arena, fragment, setting);
    }
    if (btz_json_getz(at, "prompt")) {
        return check_prompt(server, arena, fragment);
    }
    if (btz_json_getz(at, "label")) {
        return mode == BTZ_FRAGMENT_REPLACE ? NULL : "a label can only be replaced";
    }
    if (mode != BTZ_FRAGMENT_APPEND && mode != BTZ_FRAGMENT_REPLACE) {
        return "instructions can only be appended to or replaced";
    }
    return NULL;
}

int btz_lab_address_check(struct btz_lab *lab, const struct variant *variant, struct btz_str path,
                          const struct btz_json *fragment, struct btz_err *err)
{
    const struct script *script = variant->script;
    const struct btz_json *setting = btz_json_getz(variant->pub.card, "setting");
    const struct btz_json *at = btz_json_getz(fragment, "at");
    struct btz_str id = btz_json_str(btz_json_getz(at, "server"));
    static const char *const kinds[] = {"tool",     "result",       "resource", "prompt",
                                        "sampling", "instructions", "turn",     "wire",
                                        "label",    "elicitation",  "site",     "handler"};
    const char *why = NULL;
    int64_t turn = 0;
    size_t given = 0;

    path = btz_arena_printf(lab->arena, "%.*s/at", BTZ_FMT(path));
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        given += btz_json_getz(at, kinds[i]) != NULL;
    }
    if (given != 1) {
        return btz_lab_refuse(
            script, path, err,
            "an address has exactly one of tool, result, resource, prompt, "
            "instructions, label, handler, sampling, elicitation, wire, site (each with "
            "server) or turn");
    }
    if (btz_json_int64(btz_json_getz(at, "turn"), &turn)) {
        if (id.len > 0 || (size_t)turn > btz_json_count(btz_json_getz(setting, "turns"))) {
            return btz_lab_refuse(script, path, err,
                                  "a turn address has no server and names one "
                                  "of setting.turns");
        }
        return BTZ_OK;
    }
    if (!listed(btz_json_getz(setting, "servers"), id)) {
        return btz_lab_refuse(script, path, err, "server must name one of setting.servers");
    }
    if (btz_json_getz(at, "wire") || btz_json_getz(at, "site")) {
        return BTZ_OK; /* relay, site or setting.authorization put it there */
    }
    why = check_below(btz_lab_server_in(lab, variant, id), lab->arena, fragment, setting);
    return why ? btz_lab_refuse(script, path, err, "%s", why) : BTZ_OK;
}
