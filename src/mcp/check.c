#include <stdio.h>

#include "mcp/check.h"
#include "mcp/codec.h"

struct place btz_mcp_place(const struct place *base, const char *key, size_t index)
{
    struct place place;

    if (key) {
        snprintf(place.text, sizeof(place.text), "%.60s/%s", base ? base->text : "", key);
    } else {
        snprintf(place.text, sizeof(place.text), "%.60s/%zu", base ? base->text : "", index);
    }
    return place;
}

static int fail(struct btz_err *err, const struct place *place, const char *text)
{
    return btz_err_set(err, BTZ_EINVAL, "%s %s",
                       place && place->text[0] ? place->text : "the value", text);
}

int btz_mcp_check_object(const struct btz_json *value, const struct place *place,
                         const struct rule *rules, size_t count, struct btz_err *err)
{
    if (!btz_json_is(value, BTZ_JSON_OBJECT)) {
        return fail(err, place, "must be an object");
    }
    for (size_t i = 0; i < count; i++) {
        const struct btz_json *member = btz_json_getz(value, rules[i].key);
        struct place at;

        if (member ? btz_json_is(member, rules[i].kind) : !rules[i].required) {
            continue;
        }
        at = btz_mcp_place(place, rules[i].key, 0);
        if (!member) {
            return btz_err_set(err, BTZ_EINVAL, "%s is missing (type %s)", at.text,
                               btz_json_kind_name(rules[i].kind));
        }
        return btz_err_set(err, BTZ_EINVAL, "%s must have type %s, not %s", at.text,
                           btz_json_kind_name(rules[i].kind),
                           btz_json_kind_name(btz_json_kind(member)));
    }
    return BTZ_OK;
}

int btz_mcp_check_tool(const struct btz_json *tool, struct btz_err *err)
{
    static const struct rule rules[] = {
        {"name", BTZ_JSON_STRING, true},         {"inputSchema", BTZ_JSON_OBJECT, true},
        {"title", BTZ_JSON_STRING, false},       {"description", BTZ_JSON_STRING, false},
        {"annotations", BTZ_JSON_OBJECT, false}, {"icons", BTZ_JSON_ARRAY, false},
        {"execution", BTZ_JSON_OBJECT, false},   {"_meta", BTZ_JSON_OBJECT, false},
    };
    static const struct rule hints[] = {
        {"title", BTZ_JSON_STRING, false},         {"readOnlyHint", BTZ_JSON_BOOL, false},
        {"destructiveHint", BTZ_JSON_BOOL, false}, {"idempotentHint", BTZ_JSON_BOOL, false},
        {"openWorldHint", BTZ_JSON_BOOL, false},
    };
    const struct btz_json *input = btz_json_getz(tool, "inputSchema");
    const struct btz_json *output = btz_json_getz(tool, "outputSchema");
    const struct btz_json *annotations = btz_json_getz(tool, "annotations");
    struct place at = btz_mcp_place(NULL, "annotations", 0);
    int rc = BTZ_MCP_CHECK(tool, NULL, rules, err);

    if (rc) {
        return rc;
    }
    if (!btz_json_str(btz_json_getz(tool, "name")).len) {
        return btz_err_set(err, BTZ_EINVAL, "/name must not be empty");
    }
    if (!btz_str_is(btz_json_str(btz_json_getz(input, "type")), "object")) {
        return btz_err_set(err, BTZ_EINVAL, "/inputSchema/type must be \"object\"");
    }
    if (output && !btz_json_is(output, BTZ_JSON_OBJECT) && !btz_json_is(output, BTZ_JSON_BOOL)) {
        return btz_err_set(err, BTZ_EINVAL, "/outputSchema must be a JSON Schema");
    }
    return annotations ? BTZ_MCP_CHECK(annotations, &at, hints, err) : BTZ_OK;
}

static int check_described(const struct btz_json *item, const char *uri_key, struct btz_err *err)
{
    const struct rule rules[] = {
        {uri_key, BTZ_JSON_STRING, true},        {"name", BTZ_JSON_STRING, true},
        {"title", BTZ_JSON_STRING, false},       {"description", BTZ_JSON_STRING, false},
        {"mimeType", BTZ_JSON_STRING, false},    {"size", BTZ_JSON_NUMBER, false},
        {"annotations", BTZ_JSON_OBJECT, false}, {"icons", BTZ_JSON_ARRAY, false},
        {"_meta", BTZ_JSON_OBJECT, false},
    };
    int rc = BTZ_MCP_CHECK(item, NULL, rules, err);

    if (!rc && !btz_json_str(btz_json_getz(item, uri_key)).len) {
        rc = btz_err_set(err, BTZ_EINVAL, "/%s must not be empty", uri_key);
    }
    return rc;
}

int btz_mcp_check_resource(const struct btz_json *resource, struct btz_err *err)
{
    return check_described(resource, "uri", err);
}

int btz_mcp_check_template(const struct btz_json *item, struct btz_err *err)
{
    return check_described(item, "uriTemplate", err);
}

static int check_contents(const struct btz_json *contents, const struct place *place,
                          struct btz_err *err)
{
    static const struct rule rules[] = {
        {"uri", BTZ_JSON_STRING, true},    {"mimeType", BTZ_JSON_STRING, false},
        {"text", BTZ_JSON_STRING, false},  {"blob", BTZ_JSON_STRING, false},
        {"_meta", BTZ_JSON_OBJECT, false},
    };
    int rc = BTZ_MCP_CHECK(contents, place, rules, err);

    if (!rc && !btz_json_getz(contents, "text") == !btz_json_getz(contents, "blob")) {
        rc = fail(err, place, "must have either \"text\" or \"blob\"");
    }
    return rc;
}

static int check_block(const struct btz_json *block, const struct place *place, struct btz_err *err)
{
    static const struct rule common[] = {{"type", BTZ_JSON_STRING, true},
                                         {"annotations", BTZ_JSON_OBJECT, false},
                                         {"_meta", BTZ_JSON_OBJECT, false}};
    static const struct rule text[] = {{"text", BTZ_JSON_STRING, true}};
    static const struct rule media[] = {{"data", BTZ_JSON_STRING, true},
                                        {"mimeType", BTZ_JSON_STRING, true}};
    static const struct rule link[] = {{"uri", BTZ_JSON_STRING, true},
                                       {"name", BTZ_JSON_STRING, true}};
    int rc = BTZ_MCP_CHECK(block, place, common, err);
    struct btz_str type = btz_json_str(btz_json_getz(block, "type"));
    struct place at = btz_mcp_place(place, "resource", 0);

    if (rc) {
        return rc;
    }
    if (btz_str_is(type, "text")) {
        return BTZ_MCP_CHECK(block, place, text, err);
    }
    if (btz_str_is(type, "image") || btz_str_is(type, "audio")) {
        return BTZ_MCP_CHECK(block, place, media, err);
    }
    if (btz_str_is(type, "resource_link")) {
        return BTZ_MCP_CHECK(block, place, link, err);
    }
    if (btz_str_is(type, "resource")) {
        return check_contents(btz_json_getz(block, "resource"), &at, err);
    }
    return BTZ_OK;
}

int btz_mcp_check_call_result(const struct btz_json *result, enum btz_mcp_revision revision,
                              struct btz_err *err)
{
    static const struct rule rules[] = {{"content", BTZ_JSON_ARRAY, true},
                                        {"isError", BTZ_JSON_BOOL, false},
                                        {"_meta", BTZ_JSON_OBJECT, false}};
    const struct btz_json *content = btz_json_getz(result, "content");
    const struct btz_json *structured = btz_json_getz(result, "structuredContent");
    struct place base = btz_mcp_place(NULL, "content", 0);
    int rc = BTZ_MCP_CHECK(result, NULL, rules, err);

    for (size_t i = 0; !rc && i < btz_json_count(content); i++) {
        struct place at = btz_mcp_place(&base, NULL, i);

        rc = check_block(btz_json_at(content, i), &at, err);
    }
    if (!rc && structured && btz_mcp_era_of(revision) == BTZ_MCP_LEGACY &&
        !btz_json_is(structured, BTZ_JSON_OBJECT)) {
        rc = btz_err_set(err, BTZ_EINVAL, "/structuredContent must be an object before 2026-07-28");
    }
    return rc;
}

int btz_mcp_check_read_result(const struct btz_json *result, struct btz_err *err)
{
    static const struct rule rules[] = {{"contents", BTZ_JSON_ARRAY, true},
                                        {"_meta", BTZ_JSON_OBJECT, false}};
    const struct btz_json *contents = btz_json_getz(result, "contents");
    struct place base = btz_mcp_place(NULL, "contents", 0);
    int rc = BTZ_MCP_CHECK(result, NULL, rules, err);

    for (size_t i = 0; !rc && i < btz_json_count(contents); i++) {
        struct place at = btz_mcp_place(&base, NULL, i);

        rc = check_contents(btz_json_at(contents, i), &at, err);
    }
    return rc;
}

int btz_mcp_check_prompt(const struct btz_json *prompt, struct btz_err *err)
{
    static const struct rule rules[] = {
        {"name", BTZ_JSON_STRING, true},         {"title", BTZ_JSON_STRING, false},
        {"description", BTZ_JSON_STRING, false}, {"arguments", BTZ_JSON_ARRAY, false},
        {"icons", BTZ_JSON_ARRAY, false},        {"_meta", BTZ_JSON_OBJECT, false},
    };
    static const struct rule argument[] = {{"name", BTZ_JSON_STRING, true},
                                           {"title", BTZ_JSON_STRING, false},
                                           {"description", BTZ_JSON_STRING, false},
                                           {"required", BTZ_JSON_BOOL, false}};
    const struct btz_json *arguments = btz_json_getz(prompt, "arguments");
    struct place base = btz_mcp_place(NULL, "arguments", 0);
    int rc = BTZ_MCP_CHECK(prompt, NULL, rules, err);

    if (!rc && !btz_json_str(btz_json_getz(prompt, "name")).len) {
        rc = btz_err_set(err, BTZ_EINVAL, "/name must not be empty");
    }
    for (size_t i = 0; !rc && i < btz_json_count(arguments); i++) {
        struct place at = btz_mcp_place(&base, NULL, i);

        rc = BTZ_MCP_CHECK(btz_json_at(arguments, i), &at, argument, err);
    }
    return rc;
}

int btz_mcp_check_message(const struct btz_json *message, const struct place *place, bool many,
                          struct btz_err *err)
{
    static const struct rule rules[] = {{"role", BTZ_JSON_STRING, true}};
    const struct btz_json *content = btz_json_getz(message, "content");
    struct btz_str role = btz_json_str(btz_json_getz(message, "role"));
    struct place at = btz_mcp_place(place, "content", 0);
    int rc = BTZ_MCP_CHECK(message, place, rules, err);

    if (!rc && !btz_str_is(role, "user") && !btz_str_is(role, "assistant")) {
        rc = fail(err, place, "must have the role user or assistant");
    }
    if (!rc && !(many && btz_json_is(content, BTZ_JSON_ARRAY))) {
        return check_block(content, &at, err);
    }
    for (size_t i = 0; !rc && i < btz_json_count(content); i++) {
        struct place block = btz_mcp_place(&at, NULL, i);

        rc = check_block(btz_json_at(content, i), &block, err);
    }
    return rc;
}

int btz_mcp_check_messages(const struct btz_json *messages, bool many, struct btz_err *err)
{
    struct place base = btz_mcp_place(NULL, "messages", 0);
    int rc = BTZ_OK;

    for (size_t i = 0; !rc && i < btz_json_count(messages); i++) {
        struct place at = btz_mcp_place(&base, NULL, i);

        rc = btz_mcp_check_message(btz_json_at(messages, i), &at, many, err);
    }
    return rc;
}

int btz_mcp_check_prompt_result(const struct btz_json *result, struct btz_err *err)
{
    static const struct rule rules[] = {{"messages", BTZ_JSON_ARRAY, true},
                                        {"description", BTZ_JSON_STRING, false},
                                        {"_meta", BTZ_JSON_OBJECT, false}};
    int rc = BTZ_MCP_CHECK(result, NULL, rules, err);

    return rc ? rc : btz_mcp_check_messages(btz_json_getz(result, "messages"), false, err);
}

int btz_mcp_check_complete_result(const struct btz_json *result, struct btz_err *err)
{
    static const struct rule rules[] = {{"completion", BTZ_JSON_OBJECT, true},
                                        {"_meta", BTZ_JSON_OBJECT, false}};
    static const struct rule parts[] = {{"values", BTZ_JSON_ARRAY, true},
                                        {"total", BTZ_JSON_NUMBER, false},
                                        {"hasMore", BTZ_JSON_BOOL, false}};
    const struct btz_json *completion = btz_json_getz(result, "completion");
    const struct btz_json *values = btz_json_getz(completion, "values");
    struct place at = btz_mcp_place(NULL, "completion", 0);
    int rc = BTZ_MCP_CHECK(result, NULL, rules, err);

    if (!rc) {
        rc = BTZ_MCP_CHECK(completion, &at, parts, err);
    }
    if (!rc && btz_json_count(values) > BTZ_MCP_MAX_COMPLETIONS) {
        rc = btz_err_set(err, BTZ_EINVAL, "/completion/values has more than 100 values");
    }
    for (size_t i = 0; !rc && i < btz_json_count(values); i++) {
        if (!btz_json_is(btz_json_at(values, i), BTZ_JSON_STRING)) {
            rc = btz_err_set(err, BTZ_EINVAL, "/completion/values/%zu must be a string", i);
        }
    }
    return rc;
}
