#include <stdlib.h>

#include "mcp/client_int.h"
#include "mcp/param_header.h"

struct list_kind {
    const char *key; /* that must be unique over all pages */
    int (*check)(const struct btz_json *, struct btz_err *);
};

static struct list_kind kind_of(const struct request *request)
{
    switch (btz_mcp_method_id(request->method)) {
    case BTZ_MCP_M_TOOLS_LIST:
        return (struct list_kind){"name", btz_mcp_check_tool};
    case BTZ_MCP_M_RESOURCES_LIST:
        return (struct list_kind){"uri", btz_mcp_check_resource};
    case BTZ_MCP_M_PROMPTS_LIST:
        return (struct list_kind){"name", btz_mcp_check_prompt};
    default:
        return (struct list_kind){"uriTemplate", btz_mcp_check_template};
    }
}

static bool seen(const struct request *request, struct btz_str cursor)
{
    for (size_t i = 0; i < btz_json_count(request->cursors); i++) {
        if (btz_str_eq(btz_json_str(btz_json_at(request->cursors, i)), cursor)) {
            return true;
        }
    }
    return false;
}

/* True if `item` must not be used over HTTP (specification, x-mcp-header): a tool whose annotations
 * break a rule is left out, the others are kept. */
static bool drops_tool(struct btz_mcp_client *client, const struct request *request,
                       const struct btz_json *item)
{
    const struct btz_mcp_param_header *headers;
    struct btz_arena *arena;
    struct btz_err err;
    size_t count;
    int rc;

    if (!client->options.http || btz_mcp_era_of(client->revision) == BTZ_MCP_LEGACY ||
        request->method != btz_mcp_method_at(BTZ_MCP_M_TOOLS_LIST)) {
        return false;
    }
    arena = btz_mcp_pool_take(&client->pool);
    rc = btz_mcp_param_headers(arena, btz_json_getz(item, "inputSchema"), &headers, &count, &err);
    btz_mcp_pool_give(&client->pool, arena);
    if (rc) {
        btz_err_prefix(&err, "the tool \"%.*s\" was dropped: ",
                       BTZ_FMT(btz_json_str(btz_json_getz(item, "name"))));
        btz_mcp_client_alarm(client, request->handle, err.msg);
    }
    return rc != BTZ_OK;
}

/* Copies the items of one page; false after the request was ended. */
static bool take_items(struct received *in, struct request *request)
{
    struct btz_mcp_client *client = in->client;
    const struct btz_json *items = btz_json_getz(in->message.result, request->method->list_key);
    struct list_kind kind = kind_of(request);
    struct btz_err err;

    if (!btz_json_is(items, BTZ_JSON_ARRAY)) {
        btz_err_set(&err, BTZ_EINVAL, "the result of %s must have the array \"%s\"",
                    request->method->name, request->method->list_key);
        btz_mcp_client_invalid(client, request, err.msg);
        return false;
    }
    if (btz_json_count(items) > client->options.max_items - btz_json_count(request->items)) {
        btz_mcp_client_fail(client, request, BTZ_MCP_FAULT_LIMIT,
                            "the list has more items than allowed");
        return false;
    }
    for (size_t i = 0; i < btz_json_count(items); i++) {
        if (kind.check(btz_json_at(items, i), &err)) {
            btz_err_prefix(&err, "%s: item %zu of page %zu: ", request->method->name, i,
                           request->pages);
            btz_mcp_client_invalid(client, request, err.msg);
            return false;
        }
        if (drops_tool(client, request, btz_json_at(items, i))) {
            continue;
        }
        btz_json_push(request->arena, request->items,
                      btz_json_dup(request->arena, btz_json_at(items, i)));
    }
    return true;
}

/* Cache members of a modern page; absent and negative times count as 0, absent scope as private. */
static void take_cache(struct received *in, struct request *request)
{
    const struct btz_json *result = in->message.result;
    int64_t ttl;

    if (!btz_json_int64(btz_json_getz(result, "ttlMs"), &ttl) || ttl < 0) {
        ttl = 0;
    }
    if (ttl < request->ttl_ms) {
        request->ttl_ms = ttl;
    }
    request->cache_public &=
        btz_str_is(btz_json_str(btz_json_getz(result, "cacheScope")), "public");
}

static int compare_str(const void *a, const void *b)
{
    return btz_str_cmp(*(const struct btz_str *)a, *(const struct btz_str *)b);
}

/* A name that is listed twice can mean two different things to two readers of the list. */
static bool has_twins(const struct request *request)
{
    size_t count = btz_json_count(request->items);
    struct btz_str *keys = btz_arena_array(request->arena, count + 1, sizeof(*keys));
    struct list_kind kind = kind_of(request);

    for (size_t i = 0; i < count; i++) {
        keys[i] = btz_json_str(btz_json_getz(btz_json_at(request->items, i), kind.key));
    }
    qsort(keys, count, sizeof(*keys), compare_str);
    for (size_t i = 1; i < count; i++) {
        if (btz_str_eq(keys[i - 1], keys[i])) {
            return true;
        }
    }
    return false;
}

/* The schemas that the headers of later calls are made from. */
static void keep_tools(struct btz_mcp_client *client, const struct request *request)
{
    if (!client->options.http || request->method != btz_mcp_method_at(BTZ_MCP_M_TOOLS_LIST)) {
        return;
    }
    btz_arena_free(client->tools_arena);
    client->tools_arena = btz_arena_new();
    client->tools = btz_json_dup(client->tools_arena, request->items);
}

static void complete(struct btz_mcp_client *client, struct request *request)
{
    bool modern = btz_mcp_era_of(client->revision) == BTZ_MCP_MODERN;
    struct btz_arena *arena;
    struct btz_mcp_client_event event = {.kind = btz_mcp_client_kind(request->method),
                                         .request = request->handle,
                                         .value = request->items,
                                         .pages = request->pages,
                                         .ttl_ms = modern ? request->ttl_ms : 0,
                                         .cache_public = modern && request->cache_public};

    if (has_twins(request)) {
        btz_mcp_client_invalid(client, request,
                               "the list names one thing twice; names must be unique");
        return;
    }
    keep_tools(client, request);
    arena = request->arena;
    request->arena = NULL;
    /* `request` lives in the arena that the event takes over: unlink it first. */
    btz_mcp_client_drop(client, request);
    btz_mcp_client_push(client, &event, arena);
}

int btz_mcp_client_page(struct received *in, struct request *request)
{
    struct btz_mcp_client *client = in->client;
    const struct btz_json *next = btz_json_getz(in->message.result, "nextCursor");
    struct btz_str cursor = btz_json_str(next);
    struct btz_json *params;

    request->pages++;
    request->bytes += in->bytes;
    take_cache(in, request);
    if (request->bytes > client->options.max_list_bytes) {
        btz_mcp_client_fail(client, request, BTZ_MCP_FAULT_LIMIT,
                            "the list has more bytes than allowed");
        return BTZ_OK;
    }
    if (!take_items(in, request)) {
        return BTZ_OK;
    }
    if (!next) {
        complete(client, request);
        return BTZ_OK;
    }
    if (!btz_json_is(next, BTZ_JSON_STRING) || cursor.len > BTZ_MCP_MAX_CURSOR) {
        btz_mcp_client_invalid(client, request,
                               "\"nextCursor\" must be a string of at most 4096 bytes");
        return BTZ_OK;
    }
    if (seen(request, cursor)) {
        btz_mcp_client_fail(client, request, BTZ_MCP_FAULT_CYCLE,
                            "the list gave the same cursor twice; it would never end");
        return BTZ_OK;
    }
    if (request->pages >= client->options.max_pages) {
        btz_mcp_client_fail(client, request, BTZ_MCP_FAULT_LIMIT,
                            "the list has more pages than allowed");
        return BTZ_OK;
    }
    btz_json_push(request->arena, request->cursors, btz_json_new_str(request->arena, cursor));
    params = btz_json_new_object(request->arena);
    btz_json_set_str(request->arena, params, "cursor", cursor); /* "" is a cursor like any other */
    return btz_mcp_client_send(client, request, params);
}
