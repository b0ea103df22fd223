/* What happens when an exchange gives no answer: resumption, a new session, another transport,
 * another list of tools, or the end of the request. */
#include "mcp/http_session_int.h"

#include "mcp/param_header.h"

/* While probing: a status that a legacy server may give to a modern request. Others (no
 * authorization, overload, faults of the server) say nothing about the era, and taking them for an
 * answer would let one bad moment choose the weaker protocol. */
bool btz_mcp_http_tells_era(const struct btz_mcp_http_session *session,
                            const struct exchange *exchange)
{
    int status = exchange->status;

    if (session->client->state != CLIENT_PROBING || status == 200) {
        return true;
    }
    return status >= 400 && status < 500 && status != 401 && status != 403 && status != 407 &&
           status != 408 && status != 429;
}

/* Waits before the next try of a stream; false if it must not be tried again. */
static bool pause(struct btz_mcp_http_session *session, struct exchange *exchange)
{
    int64_t wait_ms = exchange->retry_ms >= 0 ? exchange->retry_ms : session->options.retry_ms;

    if (exchange->resumes >= session->options.max_resumes ||
        wait_ms > session->options.max_retry_ms) {
        return false;
    }
    btz_mcp_http_exchange_again(session, exchange);
    exchange->resumes++;
    exchange->not_before = session->now_us + wait_ms * 1000;
    if (exchange->not_before > session->now_us) {
        exchange->state = EXCHANGE_PAUSED;
    }
    return true;
}

/* Legacy: the rest of a broken or closed stream can be had by its last event id. */
static bool resume(struct btz_mcp_http_session *session, struct exchange *exchange)
{
    bool cut = exchange->state == EXCHANGE_EVENTS || (exchange->resuming && !exchange->status);

    if (btz_mcp_http_is_modern(session) || session->old || !cut || !exchange->last_id.len ||
        exchange->generation != session->generation || !pause(session, exchange)) {
        return false;
    }
    exchange->resuming = true;
    return true;
}

static bool tries_old_transport(struct btz_mcp_http_session *session, struct exchange *exchange)
{
    int status = exchange->status;

    if (session->options.transport != BTZ_MCP_HTTP_STREAMABLE_THEN_SSE || session->old ||
        session->client->state != CLIENT_INITIALIZING ||
        (status != 400 && status != 404 && status != 405)) {
        return false;
    }
    session->old = true;
    session->flags |= BTZ_MCP_HTTP_OLD_TRANSPORT;
    btz_mcp_http_exchange_again(session, exchange);
    btz_mcp_http_open_stream(session);
    return true;
}

static void lost_handshake(struct btz_mcp_http_session *session, struct exchange *exchange,
                           enum btz_mcp_fault fault, const char *text)
{
    bool answered = exchange->status >= 400 || fault == BTZ_MCP_FAULT_INVALID;

    if (session->client->state == CLIENT_PROBING && answered &&
        !(exchange->status >= 300 && exchange->status < 400) &&
        btz_mcp_http_tells_era(session, exchange)) {
        btz_mcp_http_exchange_drop(session, exchange, true);
        (void)!btz_mcp_client_probe_timeout(session->client); /* falls back, or FAILED */
        return;
    }
    if (!tries_old_transport(session, exchange)) {
        btz_mcp_http_fatal(session, fault, text);
    }
}

void btz_mcp_http_lost(struct btz_mcp_http_session *session, struct exchange *exchange,
                       enum btz_mcp_fault fault, const char *text)
{
    struct btz_mcp_client *client = session->client;
    struct request *request;

    if (exchange->answered) {
        btz_mcp_http_exchange_drop(session, exchange, true);
        return;
    }
    if (exchange->role == ROLE_RENEW) {
        btz_mcp_http_fatal(session, fault,
                           "the server forgot the session and did not open another");
        return;
    }
    request = btz_mcp_client_find(client, exchange->rpc);
    if (request && client->state != CLIENT_READY) {
        lost_handshake(session, exchange, fault, text);
        return;
    }
    if (request && fault == BTZ_MCP_FAULT_CLOSED && resume(session, exchange)) {
        return;
    }
    if (request) {
        session->stats.lost++;
        if (fault == BTZ_MCP_FAULT_INVALID) {
            btz_mcp_client_invalid(client, request, text);
        } else {
            btz_mcp_client_fail(client, request, fault, text);
        }
    }
    btz_mcp_http_exchange_drop(session, exchange, true);
}

void btz_mcp_http_open_stream(struct btz_mcp_http_session *session)
{
    if (!session->got_stream && (session->old || !session->options.no_get_stream)) {
        struct exchange *stream = btz_mcp_http_exchange_new(session, ROLE_STREAM);

        session->got_stream = true;
        if (!session->old && session->options.stream_wait_ms > 0) {
            session->held_for = stream->id;
            session->held_until = session->now_us + session->options.stream_wait_ms * 1000;
        }
    }
}

void btz_mcp_http_stream_over(struct btz_mcp_http_session *session, struct exchange *exchange,
                              bool may_retry)
{
    session->held_for = 0;
    if (session->old) {
        btz_mcp_http_fatal(session, BTZ_MCP_FAULT_CLOSED,
                           "the event stream of the HTTP+SSE transport is over");
        return;
    }
    if (may_retry && exchange->generation == session->generation && pause(session, exchange)) {
        return;
    }
    if (exchange->status != 405) {
        session->flags |= BTZ_MCP_HTTP_GET_LOST;
    }
    btz_mcp_http_exchange_drop(session, exchange, true);
}

static void begin_renewal(struct btz_mcp_http_session *session)
{
    struct exchange *renewal = btz_mcp_http_exchange_new(session, ROLE_RENEW);
    struct btz_arena *arena = btz_arena_new();
    struct btz_mcp_message message;
    struct btz_mcp_refusal why;

    session->renewals++;
    session->generation++;
    session->renewing = true;
    session->got_stream = false;
    btz_buf_reset(&session->session_id);
    for (struct exchange *e = session->exchanges; e; e = e->next) {
        if ((e->role == ROLE_STREAM || e->role == ROLE_INITIALIZED) && e->state != EXCHANGE_GONE) {
            btz_mcp_http_exchange_drop(session, e, true);
        }
    }
    renewal->message = btz_arena_dup(renewal->arena, btz_buf_view(&session->initialize));
    renewal->kind = BTZ_MCP_REQUEST;
    renewal->method = btz_str_of(btz_mcp_method_at(BTZ_MCP_M_INITIALIZE)->name);
    if (btz_mcp_read(arena, renewal->message, NULL, &message, &why) != BTZ_OK) {
        btz_panic("broken: the client's own initialize cannot be read");
    }
    renewal->rpc = (uint64_t)message.id.number; /* a new session: its ids begin anew */
    btz_arena_free(arena);
}

void btz_mcp_http_forgotten(struct btz_mcp_http_session *session, struct exchange *exchange)
{
    if (exchange->generation == session->generation && !exchange->retried_session) {
        if (session->renewals >= 1) {
            btz_mcp_http_fatal(session, BTZ_MCP_FAULT_CLOSED,
                               "the server forgot the session again right after a new one");
            return;
        }
        begin_renewal(session);
    }
    if (exchange->state == EXCHANGE_GONE) {
        return; /* a stream of the old session */
    }
    if (exchange->role == ROLE_REQUEST && !exchange->resuming && !exchange->retried_session) {
        exchange->retried_session = true; /* it was refused unread, so that it may be sent again */
        btz_mcp_http_exchange_again(session, exchange);
    } else if (exchange->role == ROLE_REQUEST) {
        btz_mcp_http_lost(session, exchange, BTZ_MCP_FAULT_CLOSED,
                          "the server forgot the session before the answer");
    } else {
        session->stats.refused_posts += exchange->role == ROLE_NOTE;
        btz_mcp_http_exchange_drop(session, exchange, true);
    }
}

void btz_mcp_http_keep_session_id(struct btz_mcp_http_session *session,
                                  const struct exchange *exchange)
{
    btz_buf_reset(&session->session_id);
    btz_buf_add_str(&session->session_id, exchange->session_id);
}

void btz_mcp_http_renewed(struct btz_mcp_http_session *session, struct exchange *exchange,
                          const struct btz_mcp_message *message)
{
    struct btz_str version = btz_json_str(btz_json_getz(message->result, "protocolVersion"));
    struct exchange *note;
    struct btz_buf bytes;

    if (message->kind != BTZ_MCP_RESULT ||
        btz_mcp_revision_parse(version) != session->client->revision) {
        btz_mcp_http_fatal(
            session, BTZ_MCP_FAULT_VERSION,
            "the server forgot the session and did not open one of the same version");
        return;
    }
    exchange->answered = true;
    btz_mcp_http_keep_session_id(session, exchange);
    session->renewing = false;
    session->stats.renewed++;
    session->flags |= BTZ_MCP_HTTP_RENEWED;
    note = btz_mcp_http_exchange_new(session, ROLE_INITIALIZED);
    note->kind = BTZ_MCP_NOTIFICATION;
    note->method = btz_str_of(btz_mcp_method_at(BTZ_MCP_N_INITIALIZED)->name);
    btz_buf_init(&bytes, 1024);
    if (btz_mcp_write_notification(&bytes, note->method, NULL) != BTZ_OK) {
        btz_panic("broken: a notification without parameters is larger than 1 KiB");
    }
    note->message = btz_arena_dup(note->arena, btz_buf_view(&bytes));
    btz_buf_fini(&bytes);
    session->gate = note->id;
}

/* Modern: -32020 on a call means that its headers were built from an old list. */
bool btz_mcp_http_relist(struct btz_mcp_http_session *session, struct exchange *exchange,
                         struct btz_str refusal)
{
    if (!btz_mcp_http_is_modern(session) || exchange->retried_list ||
        !btz_str_is(exchange->method, btz_mcp_method_at(BTZ_MCP_M_TOOLS_CALL)->name) ||
        !btz_mcp_client_find(session->client, exchange->rpc)) {
        return false;
    }
    if (!session->relisting) {
        if (btz_mcp_client_list_tools(session->client, &session->relist) != BTZ_OK) {
            return false;
        }
        session->relisting = true;
        session->flags |= BTZ_MCP_HTTP_RELISTED;
    }
    exchange->retried_list = true;
    exchange->waits_for_list = true;
    exchange->refusal = btz_arena_dup(exchange->arena, refusal);
    btz_mcp_http_exchange_again(session, exchange);
    return true;
}

/* New headers of one call from the definition of its tool. */
static void learn(struct exchange *exchange, const struct btz_json *tool)
{
    struct btz_mcp_message message;
    struct btz_mcp_refusal why;
    const struct btz_mcp_param *params;
    size_t count;

    if (btz_mcp_read(exchange->arena, exchange->message, NULL, &message, &why) == BTZ_OK &&
        btz_mcp_param_fields(
            exchange->arena, btz_json_dup(exchange->arena, btz_json_getz(tool, "inputSchema")),
            btz_json_getz(message.params, "arguments"), &params, &count, NULL) == BTZ_OK) {
        exchange->params = params;
        exchange->param_count = count;
        exchange->refusal = BTZ_STR_NONE;
    }
}

void btz_mcp_http_learn_tools(struct btz_mcp_http_session *session, const struct btz_json *result)
{
    const struct btz_json *tools = btz_json_getz(result, "tools");

    for (struct exchange *e = session->exchanges; e; e = e->next) {
        for (size_t i = 0; e->waits_for_list && i < btz_json_count(tools); i++) {
            const struct btz_json *tool = btz_json_at(tools, i);

            if (btz_str_eq(btz_json_str(btz_json_getz(tool, "name")), e->name)) {
                learn(e, tool);
            }
        }
    }
}

void btz_mcp_http_relisted(struct btz_mcp_http_session *session)
{
    for (struct request *r = session->client->requests; r; r = r->next) {
        if (r->handle == session->relist) {
            return; /* pages are missing */
        }
    }
    session->relisting = false;
    for (struct exchange *e = session->exchanges; e; e = e->next) {
        if (!e->waits_for_list) {
            continue;
        }
        e->waits_for_list = false;
        if (e->refusal.len && e->state != EXCHANGE_GONE) {
            /* The tool is not listed any more: the error stands. */
            (void)!btz_mcp_client_feed(session->client, e->refusal);
            btz_mcp_http_exchange_drop(session, e, false);
        } else {
            session->stats.retried_calls++;
        }
    }
}
