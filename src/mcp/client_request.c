/* What a client sends: requests, their metadata, cancellation. */
#include "mcp/client_int.h"
#include "mcp/param_header.h"

struct request *btz_mcp_client_request(struct btz_mcp_client *client, enum btz_mcp_method_id method)
{
    struct btz_arena *arena = btz_mcp_pool_take(&client->pool);
    struct request *request = BTZ_NEW(arena, struct request);
    struct request **link = &client->requests;

    request->arena = arena;
    request->method = btz_mcp_method_at(method);
    while (*link) {
        link = &(*link)->next;
    }
    *link = request;
    client->request_count++;
    return request;
}

void btz_mcp_client_drop(struct btz_mcp_client *client, struct request *request)
{
    struct request **link = &client->requests;

    while (*link && *link != request) {
        link = &(*link)->next;
    }
    if (*link) {
        *link = request->next;
        client->request_count--;
    }
    btz_mcp_pool_give(&client->pool, request->arena);
}

bool btz_mcp_client_is_work(const struct btz_mcp_method *method)
{
    return method == btz_mcp_method_at(BTZ_MCP_M_TOOLS_CALL) ||
           method == btz_mcp_method_at(BTZ_MCP_M_RESOURCES_READ) ||
           method == btz_mcp_method_at(BTZ_MCP_M_PROMPTS_GET);
}

struct request *btz_mcp_client_by_id(const struct btz_mcp_client *client, struct btz_mcp_id id)
{
    return id.kind == BTZ_MCP_ID_INTEGER && id.number > 0
               ? btz_mcp_client_find(client, (uint64_t)id.number)
               : NULL;
}

struct request *btz_mcp_client_find(const struct btz_mcp_client *client, uint64_t wire_id)
{
    for (struct request *request = client->requests; request; request = request->next) {
        if (request->wire_id == wire_id) {
            return request;
        }
    }
    return NULL;
}

/* The modern envelope (specification, per-request metadata) and the progress token. */
static struct btz_json *make_meta(const struct btz_mcp_client *client, struct btz_arena *arena,
                                  const struct request *request)
{
    const struct btz_mcp_client_options *options = &client->options;
    bool modern = btz_mcp_era_of(client->revision) == BTZ_MCP_MODERN;
    bool work = btz_mcp_client_is_work(request->method);
    struct btz_json *meta = btz_json_new_object(arena);

    if (modern) {
        btz_json_set_strz(arena, meta, BTZ_MCP_META "protocolVersion",
                          btz_mcp_revision_text(client->revision));
        btz_json_setz(arena, meta, BTZ_MCP_META "clientCapabilities", client->capabilities);
        btz_json_setz(arena, meta, BTZ_MCP_META "clientInfo", client->info);
        if (work && options->log_level.len) {
            btz_json_set_str(arena, meta, BTZ_MCP_META "logLevel", options->log_level);
        }
    }
    if (work && options->progress) {
        btz_json_set_int(arena, meta, "progressToken", (int64_t)request->wire_id);
    }
    return btz_json_count(meta) ? meta : NULL;
}

/* Mcp-Param-* headers of a modern call over HTTP, from the last schema seen (specification,
 * "Streamable HTTP"). */
static int mirror(const struct btz_mcp_client *client, struct btz_arena *arena,
                  const struct request *request, const struct btz_json *params,
                  struct btz_mcp_out *out)
{
    struct btz_str name = btz_json_str(btz_json_getz(params, "name"));

    if (!client->options.http || btz_mcp_era_of(client->revision) == BTZ_MCP_LEGACY ||
        request->method != btz_mcp_method_at(BTZ_MCP_M_TOOLS_CALL)) {
        return BTZ_OK;
    }
    for (size_t i = 0; i < btz_json_count(client->tools); i++) {
        const struct btz_json *tool = btz_json_at(client->tools, i);

        if (btz_str_eq(btz_json_str(btz_json_getz(tool, "name")), name)) {
            return btz_mcp_param_fields(arena, btz_json_getz(tool, "inputSchema"),
                                        btz_json_getz(params, "arguments"), &out->params,
                                        &out->param_count, NULL);
        }
    }
    return BTZ_OK;
}

int btz_mcp_client_send(struct btz_mcp_client *client, struct request *request,
                        struct btz_json *params)
{
    struct btz_arena *arena = btz_mcp_pool_take(&client->pool);
    struct btz_mcp_out out = {.kind = BTZ_MCP_REQUEST,
                              .id = btz_mcp_id_int((int64_t)client->next_id),
                              .method = btz_str_of(request->method->name),
                              .revision = client->revision,
                              .http_status = 0};
    struct btz_json *meta;
    struct out_item *item;
    int rc;
    int pushed;

    request->wire_id = client->next_id++;
    request->waiting = false;
    request->progressed = false;
    if (!request->handle) {
        request->handle = request->wire_id;
    }
    meta = make_meta(client, arena, request);
    if (meta) {
        struct btz_json *full = btz_json_new_object(arena);

        btz_json_setz(arena, full, "_meta", meta);
        for (size_t i = 0; i < btz_json_count(params); i++) {
            btz_json_set(arena, full, btz_json_key_at(params, i), btz_json_value_at(params, i));
        }
        params = full;
    }
    if (request->method->header_name) {
        out.name = btz_json_str(btz_json_getz(params, request->method->header_name));
    }
    rc = mirror(client, arena, request, params, &out);
    if (rc) {
        btz_mcp_pool_give(&client->pool, arena);
        return rc;
    }
    item = btz_mcp_queue_item(&client->queue, &out);
    rc = btz_mcp_write_request(&item->bytes, out.id, out.method, params);
    pushed = btz_mcp_queue_push(&client->queue, item);
    btz_mcp_pool_give(&client->pool, arena);
    return rc ? rc : pushed;
}

int btz_mcp_client_notify(struct btz_mcp_client *client, enum btz_mcp_method_id method,
                          const struct btz_json *params)
{
    struct btz_mcp_out out = {.kind = BTZ_MCP_NOTIFICATION,
                              .method = btz_str_of(btz_mcp_method_at(method)->name),
                              .revision = client->revision};
    struct out_item *item = btz_mcp_queue_item(&client->queue, &out);
    int rc = btz_mcp_write_notification(&item->bytes, out.method, params);
    int pushed = btz_mcp_queue_push(&client->queue, item);

    return rc ? rc : pushed;
}

/* A new request of `method` if the connection can take one. */
static int begin(struct btz_mcp_client *client, enum btz_mcp_method_id method, struct request **out)
{
    if (client->state != CLIENT_READY ||
        !btz_mcp_method_allowed(btz_mcp_method_at(method), BTZ_MCP_FROM_CLIENT, client->revision)) {
        return BTZ_ESTATE;
    }
    if (client->request_count >= client->options.max_in_flight) {
        return BTZ_ELIMIT;
    }
    *out = btz_mcp_client_request(client, method);
    return BTZ_OK;
}

static int finish(struct btz_mcp_client *client, struct request *request, struct btz_json *params,
                  uint64_t *handle)
{
    int rc = btz_mcp_client_send(client, request, params);

    if (btz_mcp_era_of(client->revision) == BTZ_MCP_MODERN &&
        btz_mcp_client_is_work(request->method)) {
        /* The server may want it again with inputs; the owner's arguments are only borrowed. */
        request->params = btz_json_dup(request->arena, params);
    }
    if (rc) {
        btz_mcp_client_drop(client, request);
        return rc;
    }
    if (handle) {
        *handle = request->handle;
    }
    return BTZ_OK;
}

static int begin_list(struct btz_mcp_client *client, enum btz_mcp_method_id method,
                      uint64_t *handle)
{
    struct request *request;
    int rc = begin(client, method, &request);

    if (rc) {
        return rc;
    }
    request->items = btz_json_new_array(request->arena);
    request->cursors = btz_json_new_array(request->arena);
    request->ttl_ms = INT64_MAX;
    request->cache_public = true;
    return finish(client, request, NULL, handle);
}

int btz_mcp_client_list_tools(struct btz_mcp_client *client, uint64_t *request)
{
    return begin_list(client, BTZ_MCP_M_TOOLS_LIST, request);
}

int btz_mcp_client_list_resources(struct btz_mcp_client *client, uint64_t *request)
{
    return begin_list(client, BTZ_MCP_M_RESOURCES_LIST, request);
}

int btz_mcp_client_list_templates(struct btz_mcp_client *client, uint64_t *request)
{
    return begin_list(client, BTZ_MCP_M_TEMPLATES_LIST, request);
}

int btz_mcp_client_call_tool(struct btz_mcp_client *client, struct btz_str name,
                             const struct btz_json *arguments, uint64_t *request)
{
    struct request *r;
    struct btz_json *params;
    int rc;

    if (!name.len || (arguments && !btz_json_is(arguments, BTZ_JSON_OBJECT))) {
        return BTZ_EINVAL;
    }
    rc = begin(client, BTZ_MCP_M_TOOLS_CALL, &r);
    if (rc) {
        return rc;
    }
    params = btz_json_new_object(r->arena);
    btz_json_set_str(r->arena, params, "name", name);
    btz_json_setz(r->arena, params, "arguments",
                  arguments ? arguments : btz_json_new_object(r->arena));
    return finish(client, r, params, request);
}

int btz_mcp_client_ping(struct btz_mcp_client *client, uint64_t *request)
{
    struct request *r;
    int rc = begin(client, BTZ_MCP_M_PING, &r);

    return rc ? rc : finish(client, r, NULL, request);
}

int btz_mcp_client_list_prompts(struct btz_mcp_client *client, uint64_t *request)
{
    return begin_list(client, BTZ_MCP_M_PROMPTS_LIST, request);
}

/* An object whose values are all strings, or NULL. */
static bool is_strings(const struct btz_json *value)
{
    if (value && !btz_json_is(value, BTZ_JSON_OBJECT)) {
        return false;
    }
    for (size_t i = 0; i < btz_json_count(value); i++) {
        if (!btz_json_is(btz_json_value_at(value, i), BTZ_JSON_STRING)) {
            return false;
        }
    }
    return true;
}

int btz_mcp_client_get_prompt(struct btz_mcp_client *client, struct btz_str name,
                              const struct btz_json *arguments, uint64_t *request)
{
    struct request *r;
    struct btz_json *params;
    int rc;

    if (!name.len || !is_strings(arguments)) {
        return BTZ_EINVAL;
    }
    rc = begin(client, BTZ_MCP_M_PROMPTS_GET, &r);
    if (rc) {
        return rc;
    }
    params = btz_json_new_object(r->arena);
    btz_json_set_str(r->arena, params, "name", name);
    if (arguments) {
        btz_json_setz(r->arena, params, "arguments", arguments);
    }
    return finish(client, r, params, request);
}

int btz_mcp_client_complete(struct btz_mcp_client *client, enum btz_mcp_ref ref,
                            struct btz_str name, struct btz_str argument, struct btz_str value,
                            const struct btz_json *chosen, uint64_t *request)
{
    bool prompt = ref == BTZ_MCP_REF_PROMPT;
    struct request *r;
    struct btz_json *params;
    struct btz_json *part;
    int rc;

    if (!name.len || !argument.len || !is_strings(chosen)) {
        return BTZ_EINVAL;
    }
    rc = begin(client, BTZ_MCP_M_COMPLETE, &r);
    if (rc) {
        return rc;
    }
    params = btz_json_new_object(r->arena);
    part = btz_json_new_object(r->arena);
    btz_json_set_strz(r->arena, part, "type", prompt ? "ref/prompt" : "ref/resource");
    btz_json_set_str(r->arena, part, prompt ? "name" : "uri", name);
    btz_json_setz(r->arena, params, "ref", part);
    part = btz_json_new_object(r->arena);
    btz_json_set_str(r->arena, part, "name", argument);
    btz_json_set_str(r->arena, part, "value", value);
    btz_json_setz(r->arena, params, "argument", part);
    /* `context` came with 2025-06-18. */
    if (chosen && client->revision >= BTZ_MCP_2025_06_18) {
        part = btz_json_new_object(r->arena);
        btz_json_setz(r->arena, part, "arguments", chosen);
        btz_json_setz(r->arena, params, "context", part);
    }
    return finish(client, r, params, request);
}

/* A request whose params are one string. */
static int begin_simple(struct btz_mcp_client *client, enum btz_mcp_method_id method,
                        const char *key, struct btz_str value, uint64_t *request)
{
    struct request *r;
    struct btz_json *params;
    int rc = begin(client, method, &r);

    if (rc) {
        return rc;
    }
    params = btz_json_new_object(r->arena);
    btz_json_set_str(r->arena, params, key, value);
    return finish(client, r, params, request);
}

int btz_mcp_client_read_resource(struct btz_mcp_client *client, struct btz_str uri,
                                 uint64_t *request)
{
    return uri.len ? begin_simple(client, BTZ_MCP_M_RESOURCES_READ, "uri", uri, request)
                   : BTZ_EINVAL;
}

int btz_mcp_client_set_log_level(struct btz_mcp_client *client, struct btz_str level,
                                 uint64_t *request)
{
    return btz_mcp_log_level(level) >= 0
               ? begin_simple(client, BTZ_MCP_M_SET_LEVEL, "level", level, request)
               : BTZ_EINVAL;
}

int btz_mcp_client_subscribe(struct btz_mcp_client *client, struct btz_str uri, uint64_t *request)
{
    int rc = uri.len ? begin_simple(client, BTZ_MCP_M_RESOURCES_SUBSCRIBE, "uri", uri, request)
                     : BTZ_EINVAL;

    client->subscribed |= rc == BTZ_OK;
    return rc;
}

int btz_mcp_client_unsubscribe(struct btz_mcp_client *client, struct btz_str uri, uint64_t *request)
{
    return uri.len ? begin_simple(client, BTZ_MCP_M_RESOURCES_UNSUBSCRIBE, "uri", uri, request)
                   : BTZ_EINVAL;
}

int btz_mcp_client_roots_changed(struct btz_mcp_client *client)
{
    const struct btz_json *roots = btz_json_getz(client->capabilities, "roots");

    if (client->state != CLIENT_READY || btz_mcp_era_of(client->revision) == BTZ_MCP_MODERN) {
        return BTZ_ESTATE;
    }
    if (!btz_json_bool(btz_json_getz(roots, "listChanged"), false)) {
        return BTZ_EUNSUPPORTED;
    }
    return btz_mcp_client_notify(client, BTZ_MCP_N_ROOTS_CHANGED, NULL);
}

int btz_mcp_client_listen(struct btz_mcp_client *client, unsigned lists, uint64_t *request)
{
    return btz_mcp_client_listen_to(client, lists, NULL, 0, request);
}

int btz_mcp_client_listen_to(struct btz_mcp_client *client, unsigned lists,
                             const struct btz_str *uris, size_t count, uint64_t *request)
{
    struct request *r;
    struct btz_json *params;
    struct btz_json *filter;
    struct btz_json *named;
    int rc;

    if ((!lists && !count) ||
        (lists & ~(BTZ_MCP_LIST_TOOLS | BTZ_MCP_LIST_RESOURCES | BTZ_MCP_LIST_PROMPTS))) {
        return BTZ_EINVAL;
    }
    rc = begin(client, BTZ_MCP_M_LISTEN, &r);
    if (rc) {
        return rc;
    }
    r->lists = lists;
    params = btz_json_new_object(r->arena);
    filter = btz_json_new_object(r->arena);
    named = btz_json_new_array(r->arena);
    if (lists & BTZ_MCP_LIST_TOOLS) {
        btz_json_set_bool(r->arena, filter, "toolsListChanged", true);
    }
    if (lists & BTZ_MCP_LIST_RESOURCES) {
        btz_json_set_bool(r->arena, filter, "resourcesListChanged", true);
    }
    if (lists & BTZ_MCP_LIST_PROMPTS) {
        btz_json_set_bool(r->arena, filter, "promptsListChanged", true);
    }
    for (size_t i = 0; i < count; i++) {
        btz_json_push(r->arena, named, btz_json_new_str(r->arena, uris[i]));
    }
    if (count) {
        btz_json_setz(r->arena, filter, "resourceSubscriptions", named);
    }
    r->uris = named;
    btz_json_setz(r->arena, params, "notifications", filter);
    return finish(client, r, params, request);
}

int btz_mcp_client_cancel(struct btz_mcp_client *client, uint64_t request, struct btz_str reason)
{
    struct request *r = client->requests;
    struct btz_json *params;
    int rc;

    if (client->state != CLIENT_READY) {
        return BTZ_ESTATE;
    }
    while (r && r->handle != request) {
        r = r->next;
    }
    if (!r) {
        return BTZ_ENOTFOUND;
    }
    if (r->waiting) { /* nothing is out */
        btz_mcp_client_drop(client, r);
        return BTZ_OK;
    }
    params = btz_json_new_object(r->arena);
    btz_json_set_int(r->arena, params, "requestId", (int64_t)r->wire_id);
    if (reason.len) {
        btz_json_set_str(r->arena, params, "reason", reason);
    }
    rc = btz_mcp_client_notify(client, BTZ_MCP_N_CANCELLED, params);
    if (!rc) {
        btz_mcp_client_drop(client, r);
    }
    return rc;
}
