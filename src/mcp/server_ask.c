/* Requests of the server to a legacy client, and what comes back. */
#include <stdlib.h>

#include "mcp/ask.h"
#include "mcp/server_int.h"

static struct ask **find_ask(struct btz_mcp_server *server, uint64_t id)
{
    struct ask **link = &server->asks;

    while (*link && (*link)->id != id) {
        link = &(*link)->next;
    }
    return link;
}

static void drop_ask(struct btz_mcp_server *server, struct ask **link)
{
    struct ask *gone = *link;

    *link = gone->next;
    server->ask_count--;
    free(gone);
}

void btz_mcp_server_drop_asks(struct btz_mcp_server *server)
{
    while (server->asks) {
        drop_ask(server, &server->asks);
    }
}

/* Row of a method that a server may send in the revision of the session, or NULL. */
static const struct btz_mcp_method *ask_method(const struct btz_mcp_server *server,
                                               struct btz_str name)
{
    const struct btz_mcp_method *method = btz_mcp_method_find(name);

    return method && !method->notification &&
                   btz_mcp_method_allowed(method, BTZ_MCP_FROM_SERVER, server->session.revision)
               ? method
               : NULL;
}

/* 0 if the client takes this request now. */
static int check_ask(struct btz_mcp_server *server, struct btz_str name,
                     const struct btz_json *params, struct btz_err *err)
{
    const struct session *session = &server->session;
    bool ping = btz_str_is(name, btz_mcp_method_at(BTZ_MCP_M_PING)->name);
    struct btz_arena *arena;
    bool missing;
    int rc;

    if (params && !btz_json_is(params, BTZ_JSON_OBJECT)) {
        return btz_err_set(err, BTZ_EINVAL, "params must be an object");
    }
    if (!ping && (rc = btz_mcp_check_ask(name, params, err)) != BTZ_OK) {
        return rc;
    }
    if (server->dead || !session->revision || !(session->initialized || ping)) {
        return btz_err_set(err, BTZ_ESTATE, "there is no initialized legacy session");
    }
    if (!ask_method(server, name)) {
        return btz_err_set(err, BTZ_EUNSUPPORTED, "the session's revision has no such request");
    }
    arena = btz_mcp_pool_take(&server->pool);
    missing = btz_mcp_ask_missing(arena, session->client_capabilities, name, params) != NULL;
    btz_mcp_pool_give(&server->pool, arena);
    if (missing) {
        return btz_err_set(err, BTZ_EUNSUPPORTED,
                           "the client did not declare the capability that is asked for");
    }
    if (server->ask_count >= server->options.max_asks) {
        return btz_err_set(err, BTZ_ELIMIT, "too many requests wait for the client");
    }
    return BTZ_OK;
}

static int send_ask(struct btz_mcp_server *server, struct btz_mcp_id id, struct btz_mcp_id related,
                    struct btz_str name, const struct btz_json *params)
{
    struct btz_mcp_out out = {.kind = BTZ_MCP_REQUEST,
                              .id = id,
                              .related = related,
                              .method = name,
                              .revision = server->session.revision,
                              .http_status = 200};
    struct out_item *item = btz_mcp_queue_item(&server->queue, &out);
    int rc = btz_mcp_write_request(&item->bytes, id, name, params);
    int pushed = btz_mcp_queue_push(&server->queue, item);

    return rc ? rc : pushed;
}

int btz_mcp_server_ask(struct btz_mcp_server *server, uint64_t token, struct btz_str method,
                       const struct btz_json *params, uint64_t *ask, struct btz_err *err)
{
    struct call *call = NULL;
    struct ask *made;
    int rc = token ? btz_mcp_server_open(server, token, &call) : BTZ_OK;

    if (rc) {
        return btz_err_set(err, rc, "the call is over (%s)", btz_code_name(rc));
    }
    if (call && btz_mcp_era_of(call->event.revision) == BTZ_MCP_MODERN) {
        return btz_err_set(err, BTZ_ESTATE,
                           "modern clients are not sent requests; reply with input_required");
    }
    rc = check_ask(server, method, params, err);
    if (rc) {
        return rc;
    }
    rc = send_ask(server, btz_mcp_id_int((int64_t)server->next_ask),
                  call ? call->id : (struct btz_mcp_id){0}, method, params);
    if (rc) {
        return btz_err_set(err, rc, "the request does not fit into the queue of outgoing messages");
    }
    made = calloc(1, sizeof(*made));
    if (!made) {
        btz_panic("out of memory (ask)");
    }
    made->id = server->next_ask++;
    made->token = token;
    made->method = ask_method(server, method);
    made->next = server->asks;
    server->asks = made;
    server->ask_count++;
    server->session.roots_asked |= made->method == btz_mcp_method_at(BTZ_MCP_M_ROOTS_LIST);
    *ask = made->id;
    return BTZ_OK;
}

static int send_cancelled(struct btz_mcp_server *server, const struct ask *ask,
                          struct btz_mcp_id related, struct btz_str reason)
{
    struct btz_arena *arena = btz_mcp_pool_take(&server->pool);
    struct btz_json *params = btz_json_new_object(arena);
    int rc;

    btz_json_set_int(arena, params, "requestId", (int64_t)ask->id);
    if (reason.len) {
        btz_json_set_str(arena, params, "reason", reason);
    }
    rc = btz_mcp_server_send_notification(server, related, BTZ_MCP_N_CANCELLED, params,
                                          server->session.revision);
    btz_mcp_pool_give(&server->pool, arena);
    return rc;
}

int btz_mcp_server_cancel_ask(struct btz_mcp_server *server, uint64_t ask, struct btz_str reason)
{
    struct ask **link = find_ask(server, ask);
    struct call *call = NULL;
    int rc;

    if (server->dead) {
        return BTZ_ESTATE;
    }
    if (!*link) {
        return BTZ_ENOTFOUND;
    }
    if ((*link)->token && btz_mcp_server_open(server, (*link)->token, &call)) {
        call = NULL;
    }
    rc = send_cancelled(server, *link, call ? call->id : (struct btz_mcp_id){0}, reason);
    if (!rc) {
        drop_ask(server, link);
    }
    return rc;
}

int btz_mcp_server_cancel_asks(struct btz_mcp_server *server, const struct call *call)
{
    struct ask **link = &server->asks;

    while (*link) {
        int rc;

        if ((*link)->token != call->event.token) {
            link = &(*link)->next;
            continue;
        }
        rc = send_cancelled(server, *link, call->id, BTZ_STR("the request it belongs to is over"));
        if (rc) {
            return rc;
        }
        drop_ask(server, link);
    }
    return BTZ_OK;
}

bool btz_mcp_server_was_asked(const struct btz_mcp_server *server, struct btz_mcp_id id)
{
    return id.kind == BTZ_MCP_ID_INTEGER && id.number > 0 && (uint64_t)id.number < server->next_ask;
}

bool btz_mcp_server_take_answer(struct incoming *in)
{
    struct btz_mcp_server *server = in->server;
    const struct btz_mcp_message *m = &in->message;
    struct btz_mcp_server_event event = {.kind = BTZ_MCP_SERVER_ANSWER,
                                         .revision = server->session.revision,
                                         .client_info = server->session.client_info,
                                         .client_capabilities =
                                             server->session.client_capabilities};
    struct btz_err err;
    struct ask **link;

    if (!btz_mcp_server_was_asked(server, m->id)) {
        return false;
    }
    link = find_ask(server, (uint64_t)m->id.number);
    if (!*link) {
        return false;
    }
    event.ask = (*link)->id;
    event.token = (*link)->token;
    event.name = btz_str_of((*link)->method->name);
    event.arguments = btz_json_new_object(in->arena);
    if (m->kind == BTZ_MCP_ERROR) {
        event.code = m->error_code;
        event.message = m->error_message;
        event.data = m->error_data;
    } else if ((*link)->method != btz_mcp_method_at(BTZ_MCP_M_PING) &&
               btz_mcp_check_answer(event.name, m->result, &err)) {
        server->stats.refused++;
        event.code = BTZ_MCP_E_PARAMS; /* not the client's own: its result cannot be used */
        event.message =
            btz_arena_printf(in->arena, "the client's result breaks its shape: %s", err.msg);
        event.data = m->result;
    } else {
        event.result = m->result;
    }
    drop_ask(server, link);
    btz_mcp_server_note(server, &event, in->arena);
    in->arena = NULL;
    return true;
}

void btz_mcp_server_roots_changed(struct incoming *in)
{
    struct btz_mcp_server *server = in->server;
    struct btz_mcp_server_event event = {.kind = BTZ_MCP_SERVER_ROOTS_CHANGED,
                                         .revision = server->session.revision,
                                         .name = BTZ_STR("notifications/roots/list_changed")};

    if (!server->session.roots_asked) {
        server->stats.ignored++;
        return;
    }
    for (const struct call *c = server->event_head; c; c = c->next_event) {
        if (c->event.kind == event.kind) {
            return; /* one that waits says it already */
        }
    }
    event.arguments = btz_json_new_object(in->arena);
    btz_mcp_server_note(server, &event, in->arena);
    in->arena = NULL;
}
