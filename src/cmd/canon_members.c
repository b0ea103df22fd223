/* canon: what the members of its input should have been. */
#include "cmd/canon.h"

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
        {"/inputSchema/properties", BTZ_JSON_OBJECT},
        {"/inputSchema/required", BTZ_JSON_ARRAY},
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
