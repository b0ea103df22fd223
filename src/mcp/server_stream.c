/* Modern listen streams (specification, "Subscriptions"). */
#include "mcp/server_int.h"

struct btz_json *btz_mcp_stream_params(struct btz_arena *arena, const struct stream *stream)
{
    struct btz_json *params = btz_json_new_object(arena);
    struct btz_json *meta = btz_json_new_object(arena);

    btz_json_setz(arena, meta, BTZ_MCP_META "subscriptionId", btz_mcp_id_json(arena, stream->id));
    btz_json_setz(arena, params, "_meta", meta);
    return params;
}

/* What the client asks for, as bits; false if the filter is malformed. */
static bool read_filter(const struct btz_json *filter, unsigned *lists)
{
    static const struct {
        const char *key;
        unsigned bit;
    } keys[] = {{"toolsListChanged", BTZ_MCP_LIST_TOOLS},
                {"resourcesListChanged", BTZ_MCP_LIST_RESOURCES},
                {"promptsListChanged", BTZ_MCP_LIST_PROMPTS}};
    const struct btz_json *uris = btz_json_getz(filter, "resourceSubscriptions");

    *lists = 0;
    if (!btz_json_is(filter, BTZ_JSON_OBJECT)) {
        return false;
    }
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct btz_json *flag = btz_json_getz(filter, keys[i].key);

        if (flag && !btz_json_is(flag, BTZ_JSON_BOOL)) {
            return false;
        }
        if (btz_json_bool(flag, false)) {
            *lists |= keys[i].bit;
        }
    }
    for (size_t i = 0; i < btz_json_count(uris); i++) {
        if (!btz_json_is(btz_json_at(uris, i), BTZ_JSON_STRING)) {
            return false;
        }
    }
    return !uris || btz_json_is(uris, BTZ_JSON_ARRAY);
}

static int acknowledge(struct btz_mcp_server *server, const struct stream *stream)
{
    struct btz_arena *arena = btz_mcp_pool_take(&server->pool);
    struct btz_json *params = btz_mcp_stream_params(arena, stream);
    struct btz_json *accepted = btz_json_new_object(arena);
    int rc;

    if (stream->lists & BTZ_MCP_LIST_TOOLS) {
        btz_json_set_bool(arena, accepted, "toolsListChanged", true);
    }
    if (stream->lists & BTZ_MCP_LIST_RESOURCES) {
        btz_json_set_bool(arena, accepted, "resourcesListChanged", true);
    }
    if (stream->lists & BTZ_MCP_LIST_PROMPTS) {
        btz_json_set_bool(arena, accepted, "promptsListChanged", true);
    }
    if (btz_json_count(stream->uris)) {
        btz_json_setz(arena, accepted, "resourceSubscriptions", stream->uris);
    }
    btz_json_setz(arena, params, "notifications", accepted);
    rc = btz_mcp_server_send_notification(server, stream->id, BTZ_MCP_N_ACKNOWLEDGED, params,
                                          BTZ_MCP_REVISION_LAST);
    btz_mcp_pool_give(&server->pool, arena);
    return rc;
}

/* The lists and resources that are offered. */
static unsigned offered_lists(const struct btz_mcp_server *server)
{
    return (btz_mcp_server_has(server, "tools") ? BTZ_MCP_LIST_TOOLS : 0) |
           (btz_mcp_server_has(server, "resources") ? BTZ_MCP_LIST_RESOURCES : 0) |
           (btz_mcp_server_has(server, "prompts") ? BTZ_MCP_LIST_PROMPTS : 0);
}

static const struct btz_json *offered_uris(struct incoming *in, const struct btz_json *uris)
{
    struct btz_json *accepted = btz_json_new_array(in->arena);

    for (size_t i = 0; i < btz_json_count(uris) && in->server->options.subscribe; i++) {
        if (btz_mcp_offer_may_have(&in->server->offer, btz_json_str(btz_json_at(uris, i)))) {
            btz_json_push(in->arena, accepted, btz_json_at(uris, i));
        }
    }
    return accepted;
}

int btz_mcp_server_listen(struct incoming *in)
{
    struct btz_mcp_server *server = in->server;
    const struct btz_json *filter = btz_json_getz(in->message.params, "notifications");
    const struct btz_json *uris = btz_json_getz(filter, "resourceSubscriptions");
    struct stream **link = &server->streams;
    struct stream *stream;
    unsigned lists;

    if (!read_filter(filter, &lists)) {
        return btz_mcp_server_refuse(
            in, BTZ_MCP_E_PARAMS, 200,
            "\"notifications\" must be an object of booleans (toolsListChanged, "
            "resourcesListChanged, promptsListChanged) and resourceSubscriptions",
            NULL);
    }
    if (btz_json_count(uris) > server->options.max_subscriptions) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_PARAMS, 200,
                                     "\"resourceSubscriptions\" names too many resources", NULL);
    }
    if (server->stream_count >= server->options.max_streams) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_INTERNAL, 200,
                                     "too many listen streams are open; end one first", NULL);
    }
    stream = BTZ_NEW(in->arena, struct stream);
    stream->arena = in->arena;
    stream->id = in->message.id;
    stream->lists = lists & offered_lists(server);
    stream->uris = offered_uris(in, uris);
    while (*link) {
        link = &(*link)->next;
    }
    *link = stream;
    server->stream_count++;
    in->arena = NULL;
    return acknowledge(server, stream);
}

static int end_stream(struct btz_mcp_server *server, const struct stream *stream)
{
    struct btz_arena *arena = btz_mcp_pool_take(&server->pool);
    struct btz_json *params = btz_mcp_stream_params(arena, stream);
    struct btz_json *result;
    int rc = BTZ_OK;

    result = btz_mcp_server_finish(server, arena, params, BTZ_MCP_REVISION_LAST, false);
    /* The specification's pages differ: one wants the notification, one the result. Both are sent
     * on byte streams, the notification first; on HTTP the end of the stream says it. */
    if (server->options.carrier == BTZ_MCP_CARRIER_STDIO) {
        btz_json_setz(arena, params, "requestId", btz_mcp_id_json(arena, stream->id));
        rc = btz_mcp_server_send_notification(server, stream->id, BTZ_MCP_N_CANCELLED, params,
                                              BTZ_MCP_REVISION_LAST);
    }
    if (!rc) {
        rc = btz_mcp_server_send_result(server, stream->id, result, BTZ_MCP_REVISION_LAST);
    }
    btz_mcp_pool_give(&server->pool, arena);
    return rc;
}

int btz_mcp_server_end_streams(struct btz_mcp_server *server)
{
    int rc = server->dead ? BTZ_ESTATE : BTZ_OK;

    while (server->streams && !rc) {
        rc = end_stream(server, server->streams);
        btz_mcp_server_drop_stream(server, server->streams);
    }
    return rc;
}
