#include <stdlib.h>

#include "base/hash.h"
#include "mcp/server_int.h"

static int compare_str(const void *a, const void *b)
{
    return btz_str_cmp(*(const struct btz_str *)a, *(const struct btz_str *)b);
}

/* Items by their check, and no two with the same `key`. */
static int check_list(struct btz_arena *arena, const struct btz_json *list, const char *label,
                      const char *key, int (*check)(const struct btz_json *, struct btz_err *),
                      struct btz_err *err)
{
    size_t count = btz_json_count(list);
    struct btz_str *keys;

    if (!list) {
        return BTZ_OK;
    }
    if (!btz_json_is(list, BTZ_JSON_ARRAY)) {
        return btz_err_set(err, BTZ_EINVAL, "catalogue: %s must be an array", label);
    }
    keys = btz_arena_array(arena, count + 1, sizeof(*keys));
    for (size_t i = 0; i < count; i++) {
        const struct btz_json *item = btz_json_at(list, i);
        int rc = check(item, err);

        if (rc) {
            btz_err_prefix(err, "catalogue: %s[%zu]: ", label, i);
            return rc;
        }
        keys[i] = btz_json_str(btz_json_getz(item, key));
    }
    qsort(keys, count, sizeof(*keys), compare_str);
    for (size_t i = 1; i < count; i++) {
        if (btz_str_eq(keys[i - 1], keys[i])) {
            return btz_err_set(err, BTZ_EINVAL, "catalogue: %s: two items have the %s \"%.*s\"",
                               label, key, BTZ_FMT(keys[i]));
        }
    }
    return BTZ_OK;
}

int btz_mcp_offer_make(const struct btz_mcp_catalogue *catalogue, uint64_t version,
                       struct offer *out, struct btz_err *err)
{
    const struct btz_json *info = catalogue->server_info;
    struct offer offer = {.version = version, .arena = btz_arena_new()};
    int rc = BTZ_OK;

    if (!btz_json_is(btz_json_getz(info, "name"), BTZ_JSON_STRING) ||
        !btz_json_is(btz_json_getz(info, "version"), BTZ_JSON_STRING)) {
        rc = btz_err_set(err, BTZ_EINVAL,
                         "catalogue: server_info must be an object with the strings name and "
                         "version");
    }
    if (!rc) {
        rc = check_list(offer.arena, catalogue->tools, "tools", "name", btz_mcp_check_tool, err);
    }
    if (!rc) {
        rc = check_list(offer.arena, catalogue->resources, "resources", "uri",
                        btz_mcp_check_resource, err);
    }
    if (!rc) {
        rc = check_list(offer.arena, catalogue->templates, "templates", "uriTemplate",
                        btz_mcp_check_template, err);
    }
    if (!rc) {
        rc = check_list(offer.arena, catalogue->prompts, "prompts", "name", btz_mcp_check_prompt,
                        err);
    }
    if (rc) {
        btz_arena_free(offer.arena);
        return rc;
    }
    offer.users = BTZ_NEW(offer.arena, size_t);
    *offer.users = 1;
    offer.server_info = btz_json_dup(offer.arena, info);
    if (catalogue->instructions.ptr) {
        offer.instructions = btz_arena_dup(offer.arena, catalogue->instructions);
    }
    if (catalogue->tools) {
        offer.tools = btz_json_dup(offer.arena, catalogue->tools);
    }
    if (catalogue->resources) {
        offer.resources = btz_json_dup(offer.arena, catalogue->resources);
    }
    if (catalogue->templates) {
        offer.templates = btz_json_dup(offer.arena, catalogue->templates);
    }
    if (catalogue->prompts) {
        offer.prompts = btz_json_dup(offer.arena, catalogue->prompts);
    }
    *out = offer;
    return BTZ_OK;
}

struct offer btz_mcp_offer_share(const struct offer *offer, uint64_t version)
{
    struct offer copy = *offer;

    ++*copy.users;
    copy.version = version;
    return copy;
}

void btz_mcp_offer_drop(struct offer *offer)
{
    if (offer->arena && !--*offer->users) {
        btz_arena_free(offer->arena);
    }
    *offer = (struct offer){0};
}

bool btz_mcp_server_has(const struct btz_mcp_server *server, const char *capability)
{
    const struct offer *offer = &server->offer;
    const struct {
        const char *name;
        bool there;
    } all[] = {{"tools", offer->tools != NULL},
               {"resources", offer->resources || offer->templates},
               {"prompts", offer->prompts != NULL},
               {"logging", server->options.logging},
               {"completions", server->options.completions}};

    for (size_t i = 0; capability && i < sizeof(all) / sizeof(all[0]); i++) {
        if (btz_str_is(btz_str_of(capability), all[i].name)) {
            return all[i].there;
        }
    }
    return !capability;
}

struct btz_json *btz_mcp_offer_capabilities(const struct btz_mcp_server *server,
                                            struct btz_arena *arena)
{
    static const struct {
        const char *name;
        bool list;
    } all[] = {{"tools", true},
               {"resources", true},
               {"prompts", true},
               {"logging", false},
               {"completions", false}};
    struct btz_json *capabilities = btz_json_new_object(arena);

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct btz_json *one;

        if (!btz_mcp_server_has(server, all[i].name)) {
            continue;
        }
        one = btz_json_new_object(arena);
        if (all[i].list) {
            btz_json_set_bool(arena, one, "listChanged", true);
        }
        if (btz_str_is(BTZ_STR("resources"), all[i].name) && server->options.subscribe) {
            btz_json_set_bool(arena, one, "subscribe", true);
        }
        btz_json_setz(arena, capabilities, all[i].name, one);
    }
    return capabilities;
}

/* A cursor is "version.offset.tag"; the tag ties both to the list and to the owner's key. */
static struct btz_str make_cursor(const struct btz_mcp_server *server, struct btz_arena *arena,
                                  const struct btz_mcp_method *method, uint64_t offset)
{
    struct btz_str head = btz_arena_printf(
        arena, "%llu.%llu", (unsigned long long)server->offer.version, (unsigned long long)offset);
    struct btz_hasher *hasher = btz_hasher_new();
    struct btz_hash hash;
    char hex[65];

    btz_hasher_add_part(hasher, (struct btz_str){(const char *)&server->options.cursor_key,
                                                 sizeof(server->options.cursor_key)});
    btz_hasher_add_part(hasher, btz_str_of(method->name));
    btz_hasher_add_part(hasher, head);
    hash = btz_hasher_end(hasher);
    btz_hasher_free(hasher);
    btz_hash_hex(&hash, hex);
    return btz_arena_printf(arena, "%.*s.%.16s", BTZ_FMT(head), hex);
}

/* Offset that `cursor` stands for; false if this catalogue never gave it. */
static bool read_cursor(const struct btz_mcp_server *server, struct btz_arena *arena,
                        const struct btz_mcp_method *method, struct btz_str cursor, size_t count,
                        size_t *offset)
{
    struct btz_str rest = cursor;
    struct btz_str part;
    int64_t number;

    if (cursor.len > 64 || !btz_str_cut(&rest, '.', &part) || !btz_str_cut(&rest, '.', &part) ||
        btz_str_int64(part, &number) || number <= 0 || (uint64_t)number >= count ||
        !btz_str_eq(cursor, make_cursor(server, arena, method, (uint64_t)number))) {
        return false;
    }
    *offset = (size_t)number;
    return true;
}

static const struct btz_json *list_of(const struct offer *offer,
                                      const struct btz_mcp_method *method)
{
    switch (btz_mcp_method_id(method)) {
    case BTZ_MCP_M_TOOLS_LIST:
        return offer->tools;
    case BTZ_MCP_M_RESOURCES_LIST:
        return offer->resources;
    case BTZ_MCP_M_PROMPTS_LIST:
        return offer->prompts;
    default:
        return offer->templates;
    }
}

bool btz_mcp_offer_page(const struct btz_mcp_server *server, struct btz_arena *arena,
                        const struct btz_mcp_method *method, const struct btz_json *cursor,
                        struct btz_json *result)
{
    const struct btz_json *list = list_of(&server->offer, method);
    struct btz_json *page = btz_json_new_array(arena);
    size_t count = btz_json_count(list);
    size_t offset = 0;
    size_t end;

    if (cursor && (!btz_json_is(cursor, BTZ_JSON_STRING) ||
                   !read_cursor(server, arena, method, btz_json_str(cursor), count, &offset))) {
        return false;
    }
    end = count - offset > server->options.page_size ? offset + server->options.page_size : count;
    for (size_t i = offset; i < end; i++) {
        btz_json_push(arena, page, btz_json_at(list, i));
    }
    btz_json_setz(arena, result, method->list_key, page);
    if (end < count) {
        btz_json_set_str(arena, result, "nextCursor", make_cursor(server, arena, method, end));
    }
    return true;
}

const struct btz_json *btz_mcp_offer_find(const struct btz_json *list, const char *key,
                                          struct btz_str value)
{
    for (size_t i = 0; i < btz_json_count(list); i++) {
        const struct btz_json *item = btz_json_at(list, i);

        if (btz_str_eq(btz_json_str(btz_json_getz(item, key)), value)) {
            return item;
        }
    }
    return NULL;
}

bool btz_mcp_offer_may_have(const struct offer *offer, struct btz_str uri)
{
    return btz_json_count(offer->templates) ||
           btz_mcp_offer_find(offer->resources, "uri", uri) != NULL;
}
