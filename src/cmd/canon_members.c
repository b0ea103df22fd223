/* canon: what the members of its input should have been. */
#include "cmd/canon.h"

enum {
    DEPTH_MAX = 64,        /* of JSON, as the parser has it */
    DEPTH_LOOKED_AT = 4096 /* of a text that is refused, to say where */
};

static const char whole[] =
    "expected a tool definition (an object with a \"name\"), an array of them, a "
    "tools/list result, a JSON-RPC response with one, or a row with a \"tool\"";

int canon_no_definition(const struct btz_json *value, struct btz_err *err)
{
    static const struct {
        const char *name;
        enum btz_json_kind kind;
    } members[] = {{"tools", BTZ_JSON_ARRAY}, {"tool", BTZ_JSON_OBJECT}, {"name", BTZ_JSON_STRING}};
    const struct btz_json *result = btz_json_getz(value, "result");
    const struct btz_json *holder = btz_json_getz(result, "tools") ? result : value;

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        const struct btz_json *member = btz_json_getz(holder, members[i].name);

        if (member && btz_json_kind(member) != members[i].kind) {
            return btz_err_set(err, BTZ_EINVAL, "\"%s\" is %s, expected %s; %s", members[i].name,
                               btz_json_kind_name(btz_json_kind(member)),
                               btz_json_kind_name(members[i].kind), whole);
        }
    }
    return btz_err_set(err, BTZ_EINVAL, "%s", whole);
}

void canon_note_members(const struct btz_context *context, const struct btz_json *tool)
{
    static const struct {
        const char *pointer;
        enum btz_json_kind kind;
    } members[] = {
        {"/title", BTZ_JSON_STRING},
        {"/description", BTZ_JSON_STRING},
        {"/annotations", BTZ_JSON_OBJECT},
        {"/inputSchema", BTZ_JSON_OBJECT},
        {"/inputSchema/properties", BTZ_JSON_OBJECT},
        {"/inputSchema/required", BTZ_JSON_ARRAY},
        {"/outputSchema", BTZ_JSON_OBJECT},
        {"/outputSchema/properties", BTZ_JSON_OBJECT},
        {"/outputSchema/required", BTZ_JSON_ARRAY},
    };

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        const struct btz_json *member = btz_json_pointer(tool, btz_str_of(members[i].pointer));

        if (member && btz_json_kind(member) != members[i].kind) {
            btz_cmd_note(context, "%.*s: %s is %s, expected %s",
                         BTZ_FMT(btz_json_str(btz_json_getz(tool, "name"))), members[i].pointer,
                         btz_json_kind_name(btz_json_kind(member)),
                         btz_json_kind_name(members[i].kind));
        }
    }
}

/* Whether something of `value` stands in more than `left` containers, itself counting as one. */
static bool is_deeper(const struct btz_json *value, unsigned left)
{
    bool object = btz_json_is(value, BTZ_JSON_OBJECT);

    if (left == 0) {
        return true;
    }
    for (size_t i = 0; i < btz_json_count(value); i++) {
        if (is_deeper(object ? btz_json_value_at(value, i) : btz_json_at(value, i), left - 1)) {
            return true;
        }
    }
    return false;
}

static bool name_if_deep(const struct btz_json *tool, unsigned around, struct btz_err *err)
{
    struct btz_str name = btz_json_str(btz_json_getz(tool, "name"));

    if (!name.len || !is_deeper(tool, DEPTH_MAX - around)) {
        return false;
    }
    btz_err_prefix(err, "tool %.*s: ", BTZ_FMT(btz_str_sub(name, 0, 64)));
    return true;
}

void canon_name_deep(struct btz_str text, struct btz_arena *arena, struct btz_err *err)
{
    const struct btz_json_limits limits = {.max_bytes = text.len + 1, .max_depth = DEPTH_LOOKED_AT};
    const struct btz_json *value = NULL;
    const struct btz_json *list;
    unsigned around = 1; /* containers that a definition stands in */

    if (btz_json_parse(arena, text, &limits, &value, NULL) != BTZ_OK) {
        return;
    }
    list = value;
    if (btz_json_is(btz_json_getz(value, "tools"), BTZ_JSON_ARRAY)) {
        list = btz_json_getz(value, "tools");
        around = 2;
    } else if (btz_json_is(btz_json_getz(btz_json_getz(value, "result"), "tools"),
                           BTZ_JSON_ARRAY)) {
        list = btz_json_getz(btz_json_getz(value, "result"), "tools");
        around = 3;
    }
    if (!btz_json_is(list, BTZ_JSON_ARRAY)) {
        if (!name_if_deep(btz_json_getz(value, "tool"), 1, err)) {
            (void)name_if_deep(value, 0, err);
        }
        return;
    }
    for (size_t i = 0; i < btz_json_count(list); i++) {
        if (name_if_deep(btz_json_at(list, i), around, err)) {
            return;
        }
    }
}
