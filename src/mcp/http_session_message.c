/* What a message may do depends on the stream it came on. */
#include "mcp/http_session_int.h"

static void feed(struct btz_mcp_http_session *session, struct btz_str bytes)
{
    /* A failure means that the client is dead, which its events tell; _reap sees it. */
    (void)!btz_mcp_client_feed(session->client, bytes);
}

static void foreign(struct btz_mcp_http_session *session, const char *text)
{
    session->stats.foreign++;
    if (!session->options.accept_any_stream) {
        btz_mcp_client_alarm(session->client, 0, text);
    }
}

static bool is_id(struct btz_mcp_id id, uint64_t rpc)
{
    return rpc && id.kind == BTZ_MCP_ID_INTEGER && id.number > 0 && (uint64_t)id.number == rpc;
}

static bool is_method(const struct exchange *exchange, enum btz_mcp_method_id method)
{
    return btz_str_is(exchange->method, btz_mcp_method_at(method)->name);
}

/* True for the statuses that say "not this way" about initialize (specification, "Transports",
 * backwards compatibility). */
static bool wants_old_transport(const struct btz_mcp_http_session *session,
                                const struct exchange *exchange)
{
    return session->options.transport == BTZ_MCP_HTTP_STREAMABLE_THEN_SSE && !session->old &&
           is_method(exchange, BTZ_MCP_M_INITIALIZE) && exchange->role == ROLE_REQUEST &&
           (exchange->status == 400 || exchange->status == 404 || exchange->status == 405);
}

/* The response to the request of `target`, which came on the stream of `exchange`. */
static void take_answer(struct btz_mcp_http_session *session, struct exchange *exchange,
                        struct exchange *target, const struct btz_mcp_message *message,
                        struct btz_str bytes)
{
    bool result = message->kind == BTZ_MCP_RESULT;

    if (target->role == ROLE_RENEW) {
        btz_mcp_http_renewed(session, target, message);
        return;
    }
    if (!result && message->error_code == BTZ_MCP_E_HEADER &&
        btz_mcp_http_relist(session, target, bytes)) {
        return;
    }
    if (!result && wants_old_transport(session, target)) {
        return; /* the end of the exchange tries the other transport */
    }
    if (result && is_method(target, BTZ_MCP_M_INITIALIZE)) {
        btz_mcp_http_keep_session_id(session, target);
    }
    if (result && session->relisting && is_method(target, BTZ_MCP_M_TOOLS_LIST)) {
        btz_mcp_http_learn_tools(session, message->result);
    }
    target->answered = true;
    feed(session, bytes);
    if (target != exchange || target->state == EXCHANGE_ACCEPTED) {
        btz_mcp_http_exchange_drop(session, target, true);
    }
}

/* An error that names no request is about the one whose stream it came on. */
static void take_nameless(struct btz_mcp_http_session *session, struct exchange *exchange,
                          struct btz_mcp_message *message)
{
    struct btz_buf named;

    btz_buf_init(&named, session->options.max_body + 64);
    message->id = btz_mcp_id_int((int64_t)exchange->rpc);
    if (btz_mcp_write_error(&named, message->id, message->error_code, message->error_message,
                            message->error_data) == BTZ_OK) {
        take_answer(session, exchange, exchange, message, btz_buf_view(&named));
    }
    btz_buf_fini(&named);
}

static void take_response(struct btz_mcp_http_session *session, struct exchange *exchange,
                          struct btz_mcp_message *message, struct btz_str bytes)
{
    bool old_stream = session->old && exchange->role == ROLE_STREAM;
    struct exchange *target = NULL;

    if (is_id(message->id, exchange->rpc)) {
        take_answer(session, exchange, exchange, message, bytes);
        return;
    }
    if (message->id.kind == BTZ_MCP_ID_NONE) {
        if (exchange->rpc) {
            take_nameless(session, exchange, message);
        } else {
            feed(session, bytes);
        }
        return;
    }
    btz_mcp_http_take_out(session);
    if (message->id.kind == BTZ_MCP_ID_INTEGER && message->id.number > 0) {
        target = btz_mcp_http_find_rpc(session, (uint64_t)message->id.number);
    }
    if (!old_stream) {
        foreign(session, "a response came on a stream that is not its request's; it was dropped");
        if (!session->options.accept_any_stream) {
            return;
        }
    }
    if (target &&
        ((target->state == EXCHANGE_QUEUED && !target->resuming) || target->role == ROLE_RENEW)) {
        session->stats.foreign += old_stream; /* nobody can answer what was not sent */
        return;
    }
    if (!target) {
        feed(session, bytes); /* late or unknown: the client counts it */
    } else if (target->answered) {
        session->stats.after_answer++;
    } else {
        take_answer(session, exchange, target, message, bytes);
    }
}

/* Modern: a stream carries what belongs to its request only. */
static bool belongs(const struct exchange *exchange, const struct btz_mcp_message *message)
{
    const struct btz_json *params = message->params;
    const struct btz_json *subscription =
        btz_json_getz(btz_json_getz(params, "_meta"), BTZ_MCP_META "subscriptionId");
    const struct btz_json *token = NULL;
    struct btz_mcp_id id;

    if (subscription && !(btz_mcp_id_read(subscription, &id) && is_id(id, exchange->rpc))) {
        return false;
    }
    if (btz_str_is(message->method, btz_mcp_method_at(BTZ_MCP_N_PROGRESS)->name)) {
        token = btz_json_getz(params, "progressToken");
    } else if (btz_str_is(message->method, btz_mcp_method_at(BTZ_MCP_N_CANCELLED)->name)) {
        token = btz_json_getz(params, "requestId");
    }
    return !token || (btz_mcp_id_read(token, &id) && is_id(id, exchange->rpc));
}

static void take_other(struct btz_mcp_http_session *session, struct exchange *exchange,
                       const struct btz_mcp_message *message, struct btz_str bytes)
{
    if (btz_mcp_http_is_modern(session) && message->kind == BTZ_MCP_NOTIFICATION &&
        !belongs(exchange, message)) {
        foreign(session, "a notification came on the stream of another request; it was dropped");
        if (!session->options.accept_any_stream) {
            return;
        }
    }
    feed(session, bytes);
}

/* The client says what is wrong with it; it may end its own request that way, but no other. */
static void take_unreadable(struct btz_mcp_http_session *session, struct exchange *exchange,
                            const struct btz_mcp_refusal *why, struct btz_str bytes)
{
    bool own = !why->answer && is_id(why->id, exchange->rpc);

    if (!own && !why->answer && why->id.kind != BTZ_MCP_ID_NONE) {
        foreign(session, "an unreadable response came on a stream that is not its request's");
        if (!session->options.accept_any_stream) {
            return;
        }
    }
    if (exchange->role == ROLE_RENEW) {
        return; /* its stream ends without an answer */
    }
    exchange->answered |= own;
    feed(session, bytes);
}

void btz_mcp_http_message(struct btz_mcp_http_session *session, struct exchange *exchange,
                          struct btz_str bytes)
{
    bool json = exchange->state == EXCHANGE_JSON;
    struct btz_arena *arena;
    struct btz_mcp_message message;
    struct btz_mcp_refusal why;
    bool response;

    if (exchange->answered && exchange->role == ROLE_REQUEST &&
        !session->options.accept_any_stream) {
        session->stats.after_answer++;
        btz_mcp_http_exchange_drop(session, exchange, true);
        return;
    }
    arena = btz_arena_new();
    if (btz_mcp_read(arena, bytes, &session->client->options.limits, &message, &why) != BTZ_OK) {
        if (exchange->status == 200) {
            take_unreadable(session, exchange, &why, bytes);
        }
        btz_arena_free(arena);
        return;
    }
    response = message.kind == BTZ_MCP_RESULT || message.kind == BTZ_MCP_ERROR;
    if (exchange->status != 200) {
        /* What is no error, or proves nothing, is left to the status. */
        if (message.kind == BTZ_MCP_ERROR && btz_mcp_http_tells_era(session, exchange)) {
            take_response(session, exchange, &message, bytes);
        }
    } else if (response) {
        take_response(session, exchange, &message, bytes);
    } else if (!json) {
        take_other(session, exchange, &message, bytes);
    } /* else: a JSON body is a response; the end of the exchange says that it was none */
    btz_arena_free(arena);
}
