/* What the server tells without being asked: progress, log messages, changed lists, changed
 * resources; and the requests of a legacy client that choose among them. */
#include <math.h>
#include <stdlib.h>

#include "mcp/server_int.h"

#define MAX_URI 8192           /* bytes of a URI that is kept for a subscription */
#define OLD_NOT_FOUND (-32002) /* "resource not found" before 2026-07-28 */

int btz_mcp_server_progress(struct btz_mcp_server *server, uint64_t token, double progress,
                            double total, struct btz_str message)
{
    struct btz_arena *arena;
    struct btz_json *params;
    struct call *call;
    int rc = btz_mcp_server_open(server, token, &call);

    if (rc) {
        return rc;
    }
    if (call->event.progress_token.kind == BTZ_MCP_ID_NONE) {
        return BTZ_EUNSUPPORTED;
    }
    if (!isfinite(progress) || (call->progressed && progress <= call->last_progress)) {
        return BTZ_EINVAL;
    }
    arena = btz_mcp_pool_take(&server->pool);
    params = btz_json_new_object(arena);
    btz_json_setz(arena, params, "progressToken",
                  btz_mcp_id_json(arena, call->event.progress_token));
    btz_json_setz(arena, params, "progress", btz_json_new_double(arena, progress));
    if (isfinite(total) && total >= 0) {
        btz_json_setz(arena, params, "total", btz_json_new_double(arena, total));
    }
    /* `message` came with 2025-03-26. */
    if (message.len && call->event.revision >= BTZ_MCP_2025_03_26) {
        btz_json_set_str(arena, params, "message", message);
    }
    rc = btz_mcp_server_send_notification(server, call->id, BTZ_MCP_N_PROGRESS, params,
                                          call->event.revision);
    btz_mcp_pool_give(&server->pool, arena);
    if (!rc) {
        call->progressed = true;
        call->last_progress = progress;
    }
    return rc;
}

/* True if the client wants messages of `level` on the stream of `call` (NULL = related to none). */
static bool wants_log(const struct btz_mcp_server *server, const struct call *call, int level)
{
    bool modern = call && btz_mcp_era_of(call->event.revision) == BTZ_MCP_MODERN;

    if (!server->options.logging) {
        return false;
    }
    if (modern) {
        return call->log_level >= 0 && level >= call->log_level;
    }
    return server->session.revision && level >= server->session.log_level;
}

int btz_mcp_server_log(struct btz_mcp_server *server, uint64_t token, struct btz_str level,
                       struct btz_str logger, const struct btz_json *data)
{
    struct call *call = NULL;
    struct btz_arena *arena;
    struct btz_json *params;
    int number = btz_mcp_log_level(level);
    int rc = server->dead ? BTZ_ESTATE : BTZ_OK;

    if (token) {
        rc = btz_mcp_server_open(server, token, &call);
    }
    if (rc) {
        return rc;
    }
    if (number < 0 || !data) {
        return BTZ_EINVAL;
    }
    if (!wants_log(server, call, number)) {
        return BTZ_EUNSUPPORTED;
    }
    arena = btz_mcp_pool_take(&server->pool);
    params = btz_json_new_object(arena);
    btz_json_set_str(arena, params, "level", level);
    if (logger.len) {
        btz_json_set_str(arena, params, "logger", logger);
    }
    btz_json_setz(arena, params, "data", data);
    rc = btz_mcp_server_send_notification(server, call ? call->id : (struct btz_mcp_id){0},
                                          BTZ_MCP_N_MESSAGE, params,
                                          call ? call->event.revision : server->session.revision);
    btz_mcp_pool_give(&server->pool, arena);
    return rc;
}

int btz_mcp_server_set_level(struct incoming *in)
{
    int level = btz_mcp_log_level(btz_json_str(btz_json_getz(in->message.params, "level")));

    if (level < 0) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_PARAMS, 200,
                                     "\"level\" must be a log level of RFC 5424", NULL);
    }
    in->server->session.log_level = level;
    return btz_mcp_server_answer(in, NULL);
}

static const struct {
    unsigned list;
    enum btz_mcp_method_id method;
} changes[] = {{BTZ_MCP_LIST_TOOLS, BTZ_MCP_N_TOOLS_CHANGED},
               {BTZ_MCP_LIST_RESOURCES, BTZ_MCP_N_RESOURCES_CHANGED},
               {BTZ_MCP_LIST_PROMPTS, BTZ_MCP_N_PROMPTS_CHANGED}};

#define CHANGES (sizeof(changes) / sizeof(changes[0]))

int btz_mcp_server_announce_session(struct btz_mcp_server *server, unsigned lists)
{
    struct session *session = &server->session;
    int rc = BTZ_OK;

    if (!session->revision) {
        return BTZ_OK;
    }
    if (!session->initialized) {
        session->held |= lists;
        return BTZ_OK;
    }
    for (size_t i = 0; i < CHANGES && !rc; i++) {
        if (lists & changes[i].list) {
            rc = btz_mcp_server_send_notification(server, (struct btz_mcp_id){0}, changes[i].method,
                                                  NULL, session->revision);
        }
    }
    return rc;
}

int btz_mcp_server_announce(struct btz_mcp_server *server, unsigned lists)
{
    struct btz_arena *arena = btz_mcp_pool_take(&server->pool);
    int rc = btz_mcp_server_announce_session(server, lists);

    for (const struct stream *s = server->streams; s; s = s->next) {
        for (size_t i = 0; i < CHANGES && !rc; i++) {
            if (s->lists & lists & changes[i].list) {
                rc = btz_mcp_server_send_notification(server, s->id, changes[i].method,
                                                      btz_mcp_stream_params(arena, s),
                                                      BTZ_MCP_REVISION_LAST);
            }
        }
    }
    btz_mcp_pool_give(&server->pool, arena);
    return rc;
}

static struct subscription **find_subscription(struct session *session, struct btz_str uri)
{
    struct subscription **link = &session->subscriptions;

    while (*link && !btz_str_eq((struct btz_str){(*link)->uri, (*link)->len}, uri)) {
        link = &(*link)->next;
    }
    return link;
}

int btz_mcp_server_subscribe(struct incoming *in)
{
    struct session *session = &in->server->session;
    struct btz_str uri = btz_json_str(btz_json_getz(in->message.params, "uri"));
    struct subscription **link = find_subscription(session, uri);

    if (!uri.len || uri.len > MAX_URI) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_PARAMS, 200,
                                     "\"uri\" must be a string of 1 to 8192 bytes", NULL);
    }
    if (!btz_mcp_offer_may_have(&in->server->offer, uri)) {
        return btz_mcp_server_refuse(in, OLD_NOT_FOUND, 200, "there is no such resource", NULL);
    }
    if (!*link && session->subscription_count >= in->server->options.max_subscriptions) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_INTERNAL, 200,
                                     "too many subscriptions; end one first", NULL);
    }
    if (!*link) {
        *link = calloc(1, sizeof(**link) + uri.len);
        if (!*link) {
            btz_panic("out of memory (subscription)");
        }
        (*link)->len = uri.len;
        memcpy((*link)->uri, uri.ptr, uri.len);
        session->subscription_count++;
    }
    return btz_mcp_server_answer(in, NULL);
}

static void drop_subscription(struct session *session, struct subscription **link)
{
    struct subscription *gone = *link;

    *link = gone->next;
    session->subscription_count--;
    free(gone);
}

/* Ending a subscription that is not there is no error: the client gets what it wants. */
int btz_mcp_server_unsubscribe(struct incoming *in)
{
    struct session *session = &in->server->session;
    struct btz_str uri = btz_json_str(btz_json_getz(in->message.params, "uri"));
    struct subscription **link = find_subscription(session, uri);

    if (!uri.len) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_PARAMS, 200,
                                     "\"uri\" must be a string that is not empty", NULL);
    }
    if (*link) {
        drop_subscription(session, link);
    }
    return btz_mcp_server_answer(in, NULL);
}

void btz_mcp_server_drop_subscriptions(struct btz_mcp_server *server)
{
    while (server->session.subscriptions) {
        drop_subscription(&server->session, &server->session.subscriptions);
    }
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

int btz_mcp_server_resource_updated(struct btz_mcp_server *server, struct btz_str uri)
{
    struct btz_arena *arena = btz_mcp_pool_take(&server->pool);
    struct btz_json *params = btz_json_new_object(arena);
    int rc = server->dead ? BTZ_ESTATE : BTZ_OK;

    btz_json_set_str(arena, params, "uri", uri);
    if (!rc && *find_subscription(&server->session, uri)) {
        rc = btz_mcp_server_send_notification(server, (struct btz_mcp_id){0},
                                              BTZ_MCP_N_RESOURCE_UPDATED, params,
                                              server->session.revision);
    }
    for (const struct stream *s = server->streams; s && !rc; s = s->next) {
        if (names_uri(s->uris, uri)) {
            params = btz_mcp_stream_params(arena, s);
            btz_json_set_str(arena, params, "uri", uri);
            rc = btz_mcp_server_send_notification(server, s->id, BTZ_MCP_N_RESOURCE_UPDATED, params,
                                                  BTZ_MCP_REVISION_LAST);
        }
    }
    btz_mcp_pool_give(&server->pool, arena);
    return rc;
}
