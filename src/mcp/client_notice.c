/* Notifications of the server. */
#include "mcp/client_int.h"

static bool is_modern(const struct btz_mcp_client *client)
{
    return btz_mcp_era_of(client->revision) == BTZ_MCP_MODERN;
}

int btz_mcp_client_ignore(struct btz_mcp_client *client, const char *text)
{
    client->stats.ignored++;
    btz_mcp_client_alarm(client, 0, text);
    return BTZ_OK;
}

void btz_mcp_client_push_minor(struct received *in, const struct btz_mcp_client_event *event)
{
    if (in->client->event_count >= in->client->options.max_events) {
        in->client->stats.dropped_events++;
        return;
    }
    btz_mcp_client_push(in->client, event, in->arena);
    in->arena = NULL;
}

static struct request *stream_of(const struct received *in)
{
    const struct btz_json *meta = btz_json_getz(in->message.params, "_meta");
    struct request *request;
    struct btz_mcp_id id;

    if (!btz_mcp_id_read(btz_json_getz(meta, BTZ_MCP_META "subscriptionId"), &id)) {
        return NULL;
    }
    request = btz_mcp_client_by_id(in->client, id);
    return request && btz_mcp_method_id(request->method) == BTZ_MCP_M_LISTEN ? request : NULL;
}

static bool names_uri(const struct btz_json *uris, struct btz_str uri)
{
    for (size_t i = 0; i < btz_json_count(uris); i++) {
        if (btz_str_eq(btz_json_str(btz_json_at(uris, i)), uri)) {
            return true;
        }
    }
    return false;
}

/* What was asked for and accepted: a server cannot add to it. */
static const struct btz_json *common(struct request *stream, const struct btz_json *accepted)
{
    struct btz_json *both = btz_json_new_array(stream->arena);

    for (size_t i = 0; i < btz_json_count(stream->uris); i++) {
        const struct btz_json *uri = btz_json_at(stream->uris, i);

        if (names_uri(accepted, btz_json_str(uri))) {
            btz_json_push(stream->arena, both, uri);
        }
    }
    return both;
}

static int acknowledged(struct received *in)
{
    const struct btz_json *filter = btz_json_getz(in->message.params, "notifications");
    struct request *stream = stream_of(in);
    struct btz_mcp_client_event event = {.kind = BTZ_MCP_CLIENT_LISTENING};

    if (!stream || stream->acknowledged || !btz_json_is(filter, BTZ_JSON_OBJECT)) {
        return btz_mcp_client_ignore(
            in->client, "an acknowledgement names no listen stream that waits for one");
    }
    if (btz_json_bool(btz_json_getz(filter, "toolsListChanged"), false)) {
        event.changed |= BTZ_MCP_LIST_TOOLS;
    }
    if (btz_json_bool(btz_json_getz(filter, "resourcesListChanged"), false)) {
        event.changed |= BTZ_MCP_LIST_RESOURCES;
    }
    if (btz_json_bool(btz_json_getz(filter, "promptsListChanged"), false)) {
        event.changed |= BTZ_MCP_LIST_PROMPTS;
    }
    stream->acknowledged = true;
    stream->uris = common(stream, btz_json_getz(filter, "resourceSubscriptions"));
    stream->lists &= event.changed; /* never more than was asked for */
    event.changed = stream->lists;
    event.request = stream->handle;
    event.value = filter;
    btz_mcp_client_push(in->client, &event, in->arena);
    in->arena = NULL;
    return BTZ_OK;
}

static bool waits_already(const struct btz_mcp_client *client,
                          const struct btz_mcp_client_event *event)
{
    for (const struct event_item *item = client->event_head; item; item = item->next) {
        if (item->event.kind == event->kind && item->event.request == event->request &&
            item->event.changed == event->changed &&
            btz_str_eq(item->event.message, event->message)) {
            return true;
        }
    }
    return false;
}

/* Never dropped: a missed change would leave an old list trusted. Equal ones that wait are one. */
static int list_changed(struct received *in, unsigned list)
{
    struct btz_mcp_client *client = in->client;
    struct btz_mcp_client_event event = {.kind = BTZ_MCP_CLIENT_LIST_CHANGED, .changed = list};

    if (is_modern(client)) {
        struct request *stream = stream_of(in);

        if (!stream || !stream->acknowledged || !(stream->lists & list)) {
            return btz_mcp_client_ignore(client,
                                         "a change was announced that no listen stream asked for");
        }
        event.request = stream->handle;
    }
    if (!waits_already(client, &event)) {
        btz_mcp_client_push(client, &event, NULL);
    }
    return BTZ_OK;
}

/* True if `uri` is one of `uris` or lies below one (specification: sub-resources may be named). */
static bool covers(const struct btz_json *uris, struct btz_str uri)
{
    for (size_t i = 0; i < btz_json_count(uris); i++) {
        if (btz_str_starts(uri, btz_json_str(btz_json_at(uris, i)))) {
            return true;
        }
    }
    return false;
}

static int resource_updated(struct received *in)
{
    struct btz_mcp_client *client = in->client;
    struct btz_mcp_client_event event = {
        .kind = BTZ_MCP_CLIENT_RESOURCE_UPDATED,
        .message = btz_json_str(btz_json_getz(in->message.params, "uri"))};
    struct request *stream = NULL;
    bool wanted = client->subscribed;

    if (is_modern(client)) {
        stream = stream_of(in);
        wanted = stream && stream->acknowledged && covers(stream->uris, event.message);
    }
    if (!wanted && !is_modern(client)) {
        client->stats.ignored++; /* normal after the end of a subscription */
        return BTZ_OK;
    }
    if (!event.message.len || !wanted) {
        return btz_mcp_client_ignore(client, "a resource was reported as changed that no listen "
                                             "stream asked for");
    }
    event.request = stream ? stream->handle : 0;
    if (!waits_already(client, &event)) {
        btz_mcp_client_push_minor(in, &event);
    }
    return BTZ_OK;
}

static int progress(struct received *in)
{
    const struct btz_json *params = in->message.params;
    struct btz_mcp_client *client = in->client;
    struct btz_mcp_client_event event = {.kind = BTZ_MCP_CLIENT_PROGRESS, .total = -1};
    struct request *request = NULL;
    struct btz_mcp_id id;

    if (btz_mcp_id_read(btz_json_getz(params, "progressToken"), &id)) {
        request = btz_mcp_client_by_id(client, id);
    }
    if (!request || !client->options.progress || !btz_mcp_client_is_work(request->method)) {
        client->stats.ignored++; /* normal after a cancellation */
        return BTZ_OK;
    }
    if (!btz_json_double(btz_json_getz(params, "progress"), &event.progress) ||
        (request->progressed && event.progress <= request->last_progress)) {
        return btz_mcp_client_ignore(client,
                                     "progress must be a number that grows with each message");
    }
    request->progressed = true;
    request->last_progress = event.progress;
    event.request = request->handle;
    if (!btz_json_double(btz_json_getz(params, "total"), &event.total) || event.total < 0) {
        event.total = -1;
    }
    event.message = btz_json_str(btz_json_getz(params, "message"));
    btz_mcp_client_push_minor(in, &event);
    return BTZ_OK;
}

static bool has_work(const struct btz_mcp_client *client)
{
    for (const struct request *r = client->requests; r; r = r->next) {
        if (btz_mcp_client_is_work(r->method)) {
            return true;
        }
    }
    return false;
}

static int log_message(struct received *in)
{
    struct btz_mcp_client *client = in->client;
    const struct btz_json *params = in->message.params;
    struct btz_str asked = client->options.log_level;
    struct btz_mcp_client_event event = {
        .kind = BTZ_MCP_CLIENT_LOG,
        .level = btz_mcp_log_level(btz_json_str(btz_json_getz(params, "level"))),
        .message = btz_json_str(btz_json_getz(params, "logger")),
        .value = btz_json_getz(params, "data")};

    if (event.level < 0 || !event.value) {
        return btz_mcp_client_ignore(client, "a log message needs a level of RFC 5424 and data");
    }
    if (is_modern(client) &&
        (!asked.len || event.level < btz_mcp_log_level(asked) || !has_work(client))) {
        return btz_mcp_client_ignore(client, "a log message arrived that no request asked for");
    }
    btz_mcp_client_push_minor(in, &event);
    return BTZ_OK;
}

/* Modern servers end listen streams that way, and nothing else. */
static int cancelled(struct received *in)
{
    struct btz_mcp_client *client = in->client;
    struct request *request = NULL;
    struct btz_mcp_id id;

    if (!is_modern(client)) {
        if (!btz_mcp_id_read(btz_json_getz(in->message.params, "requestId"), &id) ||
            !btz_mcp_client_ask_cancelled(in, id)) {
            client->stats.ignored++; /* normal: it was answered already */
        }
        return BTZ_OK;
    }
    if (btz_mcp_id_read(btz_json_getz(in->message.params, "requestId"), &id)) {
        request = btz_mcp_client_by_id(client, id);
    }
    if (!request || btz_mcp_method_id(request->method) != BTZ_MCP_M_LISTEN) {
        return btz_mcp_client_ignore(client,
                                     "the server cancelled something that is no listen stream");
    }
    btz_mcp_client_push(client,
                        &(struct btz_mcp_client_event){.kind = BTZ_MCP_CLIENT_LISTEN_ENDED,
                                                       .request = request->handle},
                        NULL);
    btz_mcp_client_drop(client, request);
    return BTZ_OK;
}

int btz_mcp_client_take_notification(struct received *in)
{
    struct btz_mcp_client *client = in->client;
    const struct btz_mcp_method *method = btz_mcp_method_find(in->message.method);
    bool settled = client->state == CLIENT_READY || client->state == CLIENT_INITIALIZING;

    if (!method || !method->notification || !settled ||
        !btz_mcp_method_allowed(method, BTZ_MCP_FROM_SERVER, client->revision)) {
        return btz_mcp_client_ignore(client, "a notification arrived that the server may not send");
    }
    switch (btz_mcp_method_id(method)) {
    case BTZ_MCP_N_CANCELLED:
        return cancelled(in);
    case BTZ_MCP_N_PROGRESS:
        return progress(in);
    case BTZ_MCP_N_MESSAGE:
        return log_message(in);
    case BTZ_MCP_N_TOOLS_CHANGED:
        return list_changed(in, BTZ_MCP_LIST_TOOLS);
    case BTZ_MCP_N_RESOURCES_CHANGED:
        return list_changed(in, BTZ_MCP_LIST_RESOURCES);
    case BTZ_MCP_N_PROMPTS_CHANGED:
        return list_changed(in, BTZ_MCP_LIST_PROMPTS);
    case BTZ_MCP_N_RESOURCE_UPDATED:
        return resource_updated(in);
    case BTZ_MCP_N_ACKNOWLEDGED:
        return acknowledged(in);
    default:
        client->stats.ignored++; /* known, but nothing here depends on it */
        return BTZ_OK;
    }
}
