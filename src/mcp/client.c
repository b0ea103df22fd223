#include <stdlib.h>

#include "mcp/client_int.h"

static int check_options(const struct btz_mcp_client_options *o, struct btz_err *err)
{
    unsigned accept = o->accept ? o->accept : BTZ_MCP_SET_ALL;

    if (!o->name.len || !o->version.len) {
        return btz_err_set(err, BTZ_EINVAL, "a client needs a name and a version");
    }
    if (o->capabilities && !btz_json_is(o->capabilities, BTZ_JSON_OBJECT)) {
        return btz_err_set(err, BTZ_EINVAL, "client capabilities must be an object");
    }
    if (o->log_level.len && btz_mcp_log_level(o->log_level) < 0) {
        return btz_err_set(err, BTZ_EINVAL, "\"%.*s\" is no log level", BTZ_FMT(o->log_level));
    }
    if (accept & ~BTZ_MCP_SET_ALL) {
        return btz_err_set(err, BTZ_EINVAL,
                           "the set of accepted revisions names one that does not exist");
    }
    if ((o->mode == BTZ_MCP_CLIENT_LEGACY || o->revision) && !(accept & BTZ_MCP_SET_LEGACY)) {
        return btz_err_set(err, BTZ_EINVAL, "a legacy client must accept a legacy revision");
    }
    if (o->mode != BTZ_MCP_CLIENT_LEGACY && !(accept & BTZ_MCP_SET_MODERN)) {
        return btz_err_set(err, BTZ_EINVAL, "a modern client must accept a modern revision");
    }
    if (o->revision &&
        (btz_mcp_era_of(o->revision) != BTZ_MCP_LEGACY || !(accept & BTZ_MCP_SET(o->revision)))) {
        return btz_err_set(err, BTZ_EINVAL,
                           "the revision to offer must be an accepted legacy revision");
    }
    return BTZ_OK;
}

static void set_defaults(struct btz_mcp_client_options *o)
{
    if (!o->accept) {
        o->accept = BTZ_MCP_SET_ALL;
    }
    if (!o->revision) {
        o->revision = btz_mcp_revision_newest(o->accept & BTZ_MCP_SET_LEGACY);
    }
    if (!o->max_pages) {
        o->max_pages = 64;
    }
    if (!o->max_items) {
        o->max_items = 10000;
    }
    if (!o->max_list_bytes) {
        o->max_list_bytes = (size_t)32 * 1024 * 1024;
    }
    if (!o->max_rounds) {
        o->max_rounds = 8;
    }
    if (!o->max_asks) {
        o->max_asks = 64;
    }
    if (!o->max_in_flight) {
        o->max_in_flight = 256;
    }
    if (!o->max_events) {
        o->max_events = 1024;
    }
    if (!o->max_out_bytes) {
        o->max_out_bytes = (size_t)32 * 1024 * 1024;
    }
}

int btz_mcp_client_new(const struct btz_mcp_client_options *options, struct btz_mcp_client **out,
                       struct btz_err *err)
{
    struct btz_mcp_client *client;
    struct btz_arena *arena;
    int rc = check_options(options, err);

    if (rc) {
        return rc;
    }
    client = calloc(1, sizeof(*client));
    if (!client) {
        btz_panic("out of memory (client)");
    }
    arena = btz_arena_new();
    client->arena = arena;
    client->options = *options;
    set_defaults(&client->options);
    client->options.log_level = btz_arena_dup(arena, options->log_level);
    client->info = btz_json_new_object(arena);
    btz_json_set_str(arena, client->info, "name", options->name);
    btz_json_set_str(arena, client->info, "version", options->version);
    client->capabilities = options->capabilities ? btz_json_dup(arena, options->capabilities)
                                                 : btz_json_new_object(arena);
    client->next_id = 1;
    client->next_asked = 1;
    btz_mcp_queue_init(&client->queue, client->options.max_out_bytes);
    *out = client;
    return BTZ_OK;
}

void btz_mcp_client_free(struct btz_mcp_client *client)
{
    if (!client) {
        return;
    }
    while (client->requests) {
        btz_mcp_client_drop(client, client->requests);
    }
    while (client->event_head) {
        struct event_item *item = client->event_head;

        client->event_head = item->next;
        btz_arena_free(item->arena);
    }
    if (client->event_pulled) {
        btz_arena_free(client->event_pulled->arena);
    }
    btz_mcp_client_drop_asked(client);
    btz_arena_free(client->tools_arena);
    btz_mcp_queue_fini(&client->queue);
    btz_mcp_pool_fini(&client->pool);
    btz_arena_free(client->arena);
    free(client);
}

int btz_mcp_client_start(struct btz_mcp_client *client)
{
    if (client->state != CLIENT_NEW) {
        return BTZ_ESTATE;
    }
    if (client->options.mode == BTZ_MCP_CLIENT_LEGACY) {
        return btz_mcp_client_initialize(client);
    }
    client->state =
        client->options.mode == BTZ_MCP_CLIENT_PROBE ? CLIENT_PROBING : CLIENT_DISCOVERING;
    return btz_mcp_client_discover(client);
}

enum btz_mcp_client_event_kind btz_mcp_client_kind(const struct btz_mcp_method *method)
{
    switch (btz_mcp_method_id(method)) {
    case BTZ_MCP_M_TOOLS_LIST:
        return BTZ_MCP_CLIENT_TOOLS;
    case BTZ_MCP_M_RESOURCES_LIST:
        return BTZ_MCP_CLIENT_RESOURCES;
    case BTZ_MCP_M_TEMPLATES_LIST:
        return BTZ_MCP_CLIENT_TEMPLATES;
    case BTZ_MCP_M_PROMPTS_LIST:
        return BTZ_MCP_CLIENT_PROMPTS;
    case BTZ_MCP_M_LISTEN:
        return BTZ_MCP_CLIENT_LISTEN_ENDED;
    default:
        return BTZ_MCP_CLIENT_RESULT;
    }
}

void btz_mcp_client_push(struct btz_mcp_client *client, const struct btz_mcp_client_event *event,
                         struct btz_arena *arena)
{
    struct event_item *item;

    if (!arena) {
        arena = btz_mcp_pool_take(&client->pool);
    }
    item = BTZ_NEW(arena, struct event_item);
    item->arena = arena;
    item->event = *event;
    if (client->event_tail) {
        client->event_tail->next = item;
    } else {
        client->event_head = item;
    }
    client->event_tail = item;
    client->event_count++;
}

void btz_mcp_client_alarm(struct btz_mcp_client *client, uint64_t request, const char *text)
{
    struct btz_mcp_client_event event = {.kind = BTZ_MCP_CLIENT_PROTOCOL_ERROR, .request = request};
    struct btz_arena *arena;

    if (client->event_count >= client->options.max_events) {
        client->stats.dropped_events++;
        return;
    }
    arena = btz_mcp_pool_take(&client->pool);
    event.message = btz_arena_dup(arena, btz_str_of(text));
    btz_mcp_client_push(client, &event, arena);
}

void btz_mcp_client_fail(struct btz_mcp_client *client, struct request *request,
                         enum btz_mcp_fault fault, const char *text)
{
    struct btz_arena *arena = btz_mcp_pool_take(&client->pool);
    struct btz_mcp_client_event event = {.kind = btz_mcp_client_kind(request->method),
                                         .request = request->handle,
                                         .fault = fault,
                                         .message = btz_arena_dup(arena, btz_str_of(text)),
                                         .pages = request->pages};

    btz_mcp_client_push(client, &event, arena);
    btz_mcp_client_drop(client, request);
}

void btz_mcp_client_invalid(struct btz_mcp_client *client, struct request *request,
                            const char *text)
{
    btz_mcp_client_alarm(client, request->handle, text);
    btz_mcp_client_fail(client, request, BTZ_MCP_FAULT_INVALID, text);
}

void btz_mcp_client_dead(struct btz_mcp_client *client, struct btz_mcp_client_event event,
                         struct btz_arena *arena)
{
    event.kind = BTZ_MCP_CLIENT_FAILED;
    client->state = CLIENT_DEAD;
    btz_mcp_client_drop_asked(client);
    while (client->requests) {
        btz_mcp_client_drop(client, client->requests);
    }
    btz_mcp_client_push(client, &event, arena);
}

void btz_mcp_client_close(struct btz_mcp_client *client)
{
    if (client->state == CLIENT_DEAD) {
        return;
    }
    if (client->state != CLIENT_READY) {
        btz_mcp_client_dead(client,
                            (struct btz_mcp_client_event){
                                .fault = BTZ_MCP_FAULT_CLOSED,
                                .message = BTZ_STR("the connection ended during the handshake")},
                            NULL);
        return;
    }
    client->state = CLIENT_DEAD;
    btz_mcp_client_drop_asked(client);
    while (client->requests) {
        btz_mcp_client_fail(client, client->requests, BTZ_MCP_FAULT_CLOSED,
                            "the connection ended before the answer");
    }
}

bool btz_mcp_client_next_out(struct btz_mcp_client *client, struct btz_str *bytes)
{
    struct btz_mcp_out out;

    if (!btz_mcp_queue_pull(&client->queue, &out)) {
        return false;
    }
    *bytes = out.bytes;
    return true;
}

bool btz_mcp_client_next_out_full(struct btz_mcp_client *client, struct btz_mcp_out *out)
{
    return btz_mcp_queue_pull(&client->queue, out);
}

bool btz_mcp_client_next_event(struct btz_mcp_client *client, struct btz_mcp_client_event *event)
{
    struct event_item *item = client->event_head;

    if (client->event_pulled) {
        btz_mcp_pool_give(&client->pool, client->event_pulled->arena);
        client->event_pulled = NULL;
    }
    if (!item) {
        return false;
    }
    client->event_head = item->next;
    if (!client->event_head) {
        client->event_tail = NULL;
    }
    client->event_count--;
    client->event_pulled = item;
    *event = item->event;
    return true;
}

enum btz_mcp_revision btz_mcp_client_revision(const struct btz_mcp_client *client)
{
    return client->state == CLIENT_READY ? client->revision : BTZ_MCP_REVISION_NONE;
}

size_t btz_mcp_client_in_flight(const struct btz_mcp_client *client)
{
    return client->request_count;
}

struct btz_mcp_client_stats btz_mcp_client_stats(const struct btz_mcp_client *client)
{
    return client->stats;
}
