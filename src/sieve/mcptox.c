/* A copy of MCPTox (arXiv 2508.14925) that the user brings. It has no licence, so nothing of it is
 * here but names of members, counts and sums of its files with LF line ends. */
#include <stdlib.h>

#include "sieve/import_int.h"

#define RESPONSE_ALL "79a90049be931c59e71446d6180b1d7f0d196d123d08a59bc155d142b5041c03"
#define PURE_TOOL "54b1eb0e9d7b2f18465266aa9d9dfda828cd558b1269b74731ec2c5d8579e617"

/* The layout is known by `servers` beside two members that nothing else has; that of pure_tool.json
 * by groups of rows with `tool_content`. */
static bool is_pure_tool(const struct btz_json *value)
{
    const struct btz_json *group = btz_json_at(value, 0);

    return btz_json_is(group, BTZ_JSON_OBJECT) &&
           btz_json_getz(btz_json_value_at(group, 0), "tool_content");
}

bool import_is_mcptox(const struct btz_json *value)
{
    return (btz_json_getz(value, "servers") && btz_json_getz(value, "attack_scopes") &&
            btz_json_getz(value, "data_length")) ||
           is_pure_tool(value);
}

/* SHA-256 of the text with LF line ends. */
static void sum_of(struct btz_str text, char *hex)
{
    struct btz_hasher *hasher = btz_hasher_new();
    size_t begin = 0;
    struct btz_hash hash;

    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\r' && i + 1 < text.len && text.ptr[i + 1] == '\n') {
            btz_hasher_add(hasher, btz_str_sub(text, begin, i - begin));
            begin = i + 1;
        }
    }
    btz_hasher_add(hasher, btz_str_sub(text, begin, SIZE_MAX));
    hash = btz_hasher_end(hasher);
    (void)btz_hash_hex(&hash, hex);
    btz_hasher_free(hasher);
}

/* ---- Tools as text ---- */

/* Position of `word` at the beginning of a line, or -1. */
static ptrdiff_t at_line(struct btz_str text, struct btz_str word)
{
    size_t from = 0;

    while (from < text.len) {
        ptrdiff_t found = btz_str_find(btz_str_sub(text, from, SIZE_MAX), word);
        size_t at = from + (size_t)found;

        if (found < 0) {
            return -1;
        }
        if (at == 0 || text.ptr[at - 1] == '\n') {
            return (ptrdiff_t)at;
        }
        from = at + 1;
    }
    return -1;
}

/* "- name: meaning (required)" */
static void add_argument(struct btz_arena *arena, struct btz_json *properties,
                         struct btz_json *required, struct btz_str line)
{
    struct btz_str rest = btz_str_sub(line, 2, SIZE_MAX);
    ptrdiff_t colon = btz_str_find(rest, BTZ_STR(":"));
    struct btz_json *schema = btz_json_new_object(arena);
    struct btz_str name = btz_str_trim(btz_str_sub(rest, 0, colon < 0 ? rest.len : (size_t)colon));
    struct btz_str meaning =
        colon < 0 ? BTZ_STR_NONE : btz_str_trim(btz_str_sub(rest, (size_t)colon + 1, SIZE_MAX));

    if (!name.len) {
        return;
    }
    if (btz_str_ends(meaning, BTZ_STR("(required)"))) {
        meaning = btz_str_trim(btz_str_sub(meaning, 0, meaning.len - strlen("(required)")));
        btz_json_push(arena, required, btz_json_new_str(arena, name));
    }
    if (meaning.len && !btz_str_is(meaning, "No description")) {
        btz_json_set_str(arena, schema, "description", meaning);
    }
    btz_json_set(arena, properties, name, schema);
}

/* Lines of arguments; one that does not begin with "- " goes on with the one before, a blank line
 * ends them. */
static struct btz_json *read_arguments(struct btz_arena *arena, struct btz_str text)
{
    struct btz_json *schema = btz_json_new_object(arena);
    struct btz_json *properties = btz_json_new_object(arena);
    struct btz_json *required = btz_json_new_array(arena);
    struct btz_str pending = BTZ_STR_NONE;
    struct btz_str line;

    while (btz_str_cut(&text, '\n', &line)) {
        if (btz_str_starts(line, BTZ_STR("- "))) {
            if (pending.len) {
                add_argument(arena, properties, required, pending);
            }
            pending = line;
        } else if (btz_str_trim(line).len == 0) {
            if (pending.len) {
                break;
            }
        } else if (pending.len) {
            pending.len = (size_t)(line.ptr + line.len - pending.ptr);
        }
    }
    if (pending.len) {
        add_argument(arena, properties, required, pending);
    }
    btz_json_set_strz(arena, schema, "type", "object");
    btz_json_setz(arena, schema, "properties", properties);
    if (btz_json_count(required)) {
        btz_json_setz(arena, schema, "required", required);
    }
    return schema;
}

const struct btz_json *btz_sieve_tool_block(struct btz_arena *arena, struct btz_str *text)
{
    ptrdiff_t begin = at_line(*text, BTZ_STR("Tool: "));
    struct btz_str block;
    struct btz_str name;
    struct btz_str description;
    struct btz_str arguments = BTZ_STR_NONE;
    struct btz_json *tool;
    ptrdiff_t at;

    if (begin < 0) {
        return NULL;
    }
    block = btz_str_sub(*text, (size_t)begin + 6, SIZE_MAX);
    at = at_line(block, BTZ_STR("Tool: "));
    *text = at < 0 ? BTZ_STR_NONE : btz_str_sub(block, (size_t)at, SIZE_MAX);
    block = at < 0 ? block : btz_str_sub(block, 0, (size_t)at);
    if (!btz_str_cut(&block, '\n', &name)) {
        return NULL;
    }
    description = block;
    at = at_line(block, BTZ_STR("Arguments:"));
    if (at >= 0) {
        description = btz_str_sub(block, 0, (size_t)at);
        arguments = btz_str_sub(block, (size_t)at + strlen("Arguments:"), SIZE_MAX);
    }
    if (btz_str_starts(description, BTZ_STR("Description:"))) {
        description = btz_str_sub(description, strlen("Description:"), SIZE_MAX);
    }
    tool = btz_json_new_object(arena);
    btz_json_set_str(arena, tool, "name", btz_str_trim(name));
    btz_json_set_str(arena, tool, "description", btz_str_trim(description));
    btz_json_setz(arena, tool, "inputSchema", read_arguments(arena, arguments));
    return tool;
}

/* ---- The file ---- */

static int layout(struct import *im, const char *what)
{
    int rc = btz_err_set(im->err, BTZ_EINVAL, "this is not MCPTox's layout: %s", what);

    btz_err_at(im->err, im->path, 0, 0);
    return rc;
}

static int import_server(struct import *im, const struct btz_json *server, const char *prefix)
{
    struct btz_str name = btz_json_str(btz_json_getz(server, "server_name"));
    struct btz_str clean = btz_json_str(btz_json_getz(server, "clean_system_promot"));
    const struct btz_json *instances = btz_json_getz(server, "malicious_instance");
    const struct btz_json *tool;
    struct btz_str source;

    if (!name.len || !clean.ptr || !btz_json_is(instances, BTZ_JSON_ARRAY)) {
        return layout(im, "a server needs server_name, clean_system_promot and "
                          "malicious_instance");
    }
    source = btz_arena_printf(im->arena, "%smcptox:%.*s", prefix, BTZ_FMT(name));
    while ((tool = btz_sieve_tool_block(im->arena, &clean))) {
        import_tool(im, source, tool);
    }
    source = btz_arena_printf(im->arena, "%smcptox-poisoned:%.*s", prefix, BTZ_FMT(name));
    for (size_t i = 0; i < btz_json_count(instances); i++) {
        const struct btz_json *one = btz_json_at(instances, i);
        struct btz_str text = btz_json_str(btz_json_getz(one, "poisoned_tool"));
        int64_t wrong = 0;

        if (!btz_json_int64(btz_json_getz(one, "wrong_data"), &wrong) || !text.len) {
            return layout(im, "an instance needs wrong_data and poisoned_tool");
        }
        tool = wrong ? NULL : btz_sieve_tool_block(im->arena, &text);
        if (tool) {
            import_tool(im, source, tool);
        } else {
            im->counts->wrong += wrong != 0;
            im->counts->nameless += wrong == 0;
        }
    }
    return BTZ_OK;
}

int import_mcptox(struct import *im, const struct btz_json *value, struct btz_str text)
{
    const struct btz_json *servers = btz_json_getz(value, "servers");
    bool by_name = btz_json_is(servers, BTZ_JSON_OBJECT);
    char hex[65];
    int rc = BTZ_OK;

    sum_of(text, hex);
    if (is_pure_tool(value) || strcmp(hex, PURE_TOOL) == 0) {
        return layout(im,
                      "it looks like pure_tool.json; import response_all.json, which has all of "
                      "it and the honest tools");
    }
    if (strcmp(hex, RESPONSE_ALL) != 0 && !im->options->mcptox_unchecked) {
        rc = btz_err_set(im->err, BTZ_EINVAL,
                         "this has the layout of MCPTox's response_all.json but not its sum: "
                         "SHA-256 (LF line ends) %.16s..., expected %.16s... (20,666,873 bytes). "
                         "Results on another copy could not be compared",
                         hex, RESPONSE_ALL);
        btz_err_at(im->err, im->path, 0, 0);
        return rc;
    }
    if (!by_name && !btz_json_is(servers, BTZ_JSON_ARRAY)) {
        return layout(im, "servers is neither an object nor a list");
    }
    for (size_t i = 0; rc == BTZ_OK && i < btz_json_count(servers); i++) {
        rc = import_server(im, by_name ? btz_json_value_at(servers, i) : btz_json_at(servers, i),
                           strcmp(hex, RESPONSE_ALL) == 0 ? "" : "unchecked-");
    }
    return rc;
}
