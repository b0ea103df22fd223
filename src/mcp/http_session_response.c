/* From HTTP responses to messages. */
#include "mcp/http_session_int.h"

#include <stdio.h>

enum media { MEDIA_NONE, MEDIA_JSON, MEDIA_EVENTS, MEDIA_OTHER };

static bool same_text(struct btz_str a, const char *b)
{
    size_t len = strlen(b);

    if (a.len != len) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        char c = a.ptr[i];

        if ((c >= 'A' && c <= 'Z' ? (char)(c + 32) : c) != b[i]) {
            return false;
        }
    }
    return true;
}

/* What the body is. Codings are never asked for, so that one is as bad as a foreign type. */
static enum media media_of(const struct btz_http_head *head)
{
    size_t types;
    size_t codings;
    struct btz_str rest = btz_http_field_get(head, "content-type", &types);
    struct btz_str coding = btz_http_field_get(head, "content-encoding", &codings);
    struct btz_str type;

    if (codings && !(codings == 1 && same_text(coding, "identity"))) {
        return MEDIA_OTHER;
    }
    if (types != 1) {
        return types ? MEDIA_OTHER : MEDIA_NONE;
    }
    if (!btz_str_cut(&rest, ';', &type)) {
        return MEDIA_OTHER;
    }
    type = btz_str_trim(type);
    return same_text(type, "application/json")    ? MEDIA_JSON
           : same_text(type, "text/event-stream") ? MEDIA_EVENTS
                                                  : MEDIA_OTHER;
}

static struct exchange *find(struct btz_mcp_http_session *session, uint64_t id)
{
    for (struct exchange *e = session->exchanges; e; e = e->next) {
        if (e->id == id && e->state != EXCHANGE_GONE) {
            return e;
        }
    }
    return NULL;
}

static void begin_events(struct btz_mcp_http_session *session, struct exchange *exchange)
{
    exchange->events = btz_sse_parser_new(session->options.max_body);
    exchange->state = EXCHANGE_EVENTS;
}

/* The text a person reads about a status that is no answer. */
static const char *status_text(const struct exchange *exchange, char *text, size_t size)
{
    snprintf(text, size, "the server answered HTTP status %d (%s)", exchange->status,
             btz_http_reason(exchange->status));
    return text;
}

static void wrong_type(struct btz_mcp_http_session *session, struct exchange *exchange)
{
    session->stats.wrong_type++;
    btz_mcp_http_lost(session, exchange, BTZ_MCP_FAULT_INVALID,
                      "the answer is neither application/json nor text/event-stream");
}

/* Legacy: a session id of this response (specification: visible ASCII). False if it is bad. */
static bool take_session_id(struct btz_mcp_http_session *session, struct exchange *exchange,
                            const struct btz_http_head *head)
{
    size_t count;
    struct btz_str id = btz_http_field_get(head, "mcp-session-id", &count);
    bool bad = count > 1 || (count == 1 && (!id.len || id.len > 1024));

    for (size_t i = 0; i < id.len && !bad; i++) {
        bad = id.ptr[i] < 0x21 || id.ptr[i] > 0x7E;
    }
    if (bad) {
        session->stats.bad_session_id++;
        return false;
    }
    exchange->session_id = btz_arena_dup(exchange->arena, id);
    return true;
}

static bool opens_session(const struct btz_mcp_http_session *session,
                          const struct exchange *exchange)
{
    return !session->old &&
           (exchange->role == ROLE_RENEW ||
            btz_str_is(exchange->method, btz_mcp_method_at(BTZ_MCP_M_INITIALIZE)->name));
}

/* 200 for a request. */
static void head_of_answer(struct btz_mcp_http_session *session, struct exchange *exchange,
                           const struct btz_http_head *head)
{
    enum media media = media_of(head);

    if (opens_session(session, exchange) && !take_session_id(session, exchange, head)) {
        btz_mcp_http_fatal(session, BTZ_MCP_FAULT_INVALID,
                           "the server gave a session id that is not visible ASCII");
        return;
    }
    if (exchange->generation == session->generation && exchange->role == ROLE_REQUEST) {
        session->renewals = 0;
    }
    if (media == MEDIA_EVENTS) {
        begin_events(session, exchange);
    } else if (media == MEDIA_JSON && !exchange->resuming) {
        exchange->state = EXCHANGE_JSON;
    } else {
        wrong_type(session, exchange);
    }
}

static bool is_forgotten(const struct btz_mcp_http_session *session,
                         const struct exchange *exchange)
{
    return exchange->status == 404 && !session->old && session->session_id.len &&
           exchange->role != ROLE_RENEW && exchange->role != ROLE_DELETE;
}

static void head_of_request(struct btz_mcp_http_session *session, struct exchange *exchange,
                            const struct btz_http_head *head)
{
    char text[160];
    int status = exchange->status;

    if (session->old && exchange->role == ROLE_REQUEST && status >= 200 && status < 300) {
        exchange->state = EXCHANGE_IGNORED; /* the answer comes on the GET stream */
    } else if (status == 200) {
        head_of_answer(session, exchange, head);
    } else if (status < 300) {
        btz_mcp_http_lost(session, exchange, BTZ_MCP_FAULT_INVALID,
                          "the server accepted a request without answering it");
    } else if (status < 400) {
        session->stats.redirects++;
        btz_mcp_http_lost(session, exchange, BTZ_MCP_FAULT_INVALID,
                          "the server redirects; redirects are not followed");
    } else if (exchange->role == ROLE_REQUEST && !exchange->resuming && status != 401 &&
               status != 403 && media_of(head) == MEDIA_JSON) {
        exchange->state = EXCHANGE_JSON; /* perhaps an error that says why */
    } else {
        btz_mcp_http_lost(session, exchange, BTZ_MCP_FAULT_CLOSED,
                          status_text(exchange, text, sizeof(text)));
    }
}

/* Notifications and responses. */
static void head_of_note(struct btz_mcp_http_session *session, struct exchange *exchange)
{
    bool accepted = exchange->status >= 200 && exchange->status < 300;
    bool initialized = exchange->role == ROLE_INITIALIZED;

    exchange->state = EXCHANGE_IGNORED;
    if (!accepted) {
        session->stats.refused_posts++;
        btz_mcp_client_alarm(session->client, 0,
                             "the server did not accept a notification or response");
    }
    if (initialized) {
        session->gate = 0;
        btz_mcp_http_open_stream(session);
    }
}

static void head_of_stream(struct btz_mcp_http_session *session, struct exchange *exchange,
                           const struct btz_http_head *head)
{
    session->held_for = 0;
    if (exchange->status == 200 && media_of(head) == MEDIA_EVENTS) {
        begin_events(session, exchange);
        return;
    }
    if (exchange->status == 200) {
        session->stats.wrong_type++;
    } else if (exchange->status >= 300 && exchange->status < 400) {
        session->stats.redirects++;
    }
    btz_mcp_http_stream_over(session, exchange, false);
}

int btz_mcp_http_session_response_head(struct btz_mcp_http_session *session, uint64_t id,
                                       const struct btz_http_head *head)
{
    struct exchange *exchange = find(session, id);

    if (!exchange) {
        return BTZ_ENOTFOUND;
    }
    if (exchange->state != EXCHANGE_SENT) {
        return BTZ_ESTATE;
    }
    if (head->status < 200) {
        return BTZ_OK; /* interim: the real one follows */
    }
    exchange->status = head->status;
    if (head->status >= 300) {
        session->stats.last_error_status = head->status;
    }
    if (head->status == 401 || head->status == 403) {
        session->flags |= BTZ_MCP_HTTP_UNAUTHORIZED;
    }
    if (btz_mcp_http_hold(session, exchange, head)) {
        btz_mcp_http_reap(session);
        return BTZ_OK;
    }
    if (is_forgotten(session, exchange)) {
        btz_mcp_http_forgotten(session, exchange);
    } else if (exchange->role == ROLE_REQUEST || exchange->role == ROLE_RENEW) {
        head_of_request(session, exchange, head);
    } else if (exchange->role == ROLE_STREAM) {
        head_of_stream(session, exchange, head);
    } else if (exchange->role == ROLE_DELETE) {
        exchange->state = EXCHANGE_IGNORED; /* 405: the server does not offer it */
    } else {
        head_of_note(session, exchange);
    }
    btz_mcp_http_reap(session);
    return BTZ_OK;
}

/* An event id goes back in a header, so that only what is safe there can be used. */
static void keep_event_id(struct exchange *exchange, struct btz_str id)
{
    btz_buf_reset(&exchange->last_id);
    for (size_t i = 0; i < id.len; i++) {
        if (id.ptr[i] < 0x20 || id.ptr[i] > 0x7E) {
            return;
        }
    }
    if (id.len && id.ptr[0] != ' ' && id.ptr[id.len - 1] != ' ' &&
        btz_buf_add_str(&exchange->last_id, id) != BTZ_OK) {
        btz_buf_reset(&exchange->last_id);
    }
}

static void take_event(struct btz_mcp_http_session *session, struct exchange *exchange,
                       const struct btz_sse_event *event)
{
    if (!btz_mcp_http_is_modern(session)) {
        keep_event_id(exchange, event->id);
        if (event->retry_ms >= 0) {
            exchange->retry_ms = event->retry_ms;
        }
    }
    if (event->empty) {
        return;
    }
    exchange->resumes = 0;
    if (session->old && exchange->role == ROLE_STREAM && btz_str_is(event->event, "endpoint")) {
        btz_mcp_http_endpoint(session, event->data);
    } else if (btz_str_is(event->event, "message")) {
        btz_mcp_http_message(session, exchange, event->data);
    } /* other events belong to no protocol known here */
}

static void broken_stream(struct btz_mcp_http_session *session, struct exchange *exchange,
                          enum btz_mcp_fault fault, const char *text)
{
    if (exchange->role == ROLE_STREAM) {
        btz_mcp_client_alarm(session->client, 0, text);
        btz_mcp_http_stream_over(session, exchange, false);
    } else {
        btz_mcp_http_lost(session, exchange, fault, text);
    }
}

static void take_events(struct btz_mcp_http_session *session, struct exchange *exchange,
                        struct btz_str bytes)
{
    uint64_t id = exchange->id;
    struct btz_sse_event event;
    struct btz_err err;
    int rc = BTZ_OK;

    exchange->received += bytes.len;
    if (exchange->role != ROLE_STREAM && !exchange->listen &&
        exchange->received > session->options.max_stream) {
        session->stats.oversize++;
        broken_stream(session, exchange, BTZ_MCP_FAULT_LIMIT,
                      "the response stream is larger than allowed");
        return;
    }
    while (exchange->state == EXCHANGE_EVENTS && exchange->id == id &&
           (rc = btz_sse_parser_next(exchange->events, &bytes, &event, &err)) == BTZ_OK) {
        take_event(session, exchange, &event);
    }
    if (exchange->state != EXCHANGE_EVENTS || exchange->id != id || rc == BTZ_EAGAIN) {
        return;
    }
    session->stats.oversize += rc == BTZ_ELIMIT;
    broken_stream(session, exchange, rc == BTZ_ELIMIT ? BTZ_MCP_FAULT_LIMIT : BTZ_MCP_FAULT_INVALID,
                  rc == BTZ_ELIMIT ? "an event of the response stream is larger than allowed"
                                   : "the response stream is no text/event-stream in UTF-8");
}

int btz_mcp_http_session_response_body(struct btz_mcp_http_session *session, uint64_t id,
                                       struct btz_str bytes)
{
    struct exchange *exchange = find(session, id);

    if (!exchange) {
        return BTZ_ENOTFOUND;
    }
    if (exchange->state == EXCHANGE_JSON) {
        if (btz_buf_add_str(&exchange->body, bytes) != BTZ_OK) {
            session->stats.oversize++;
            btz_mcp_http_lost(session, exchange, BTZ_MCP_FAULT_LIMIT,
                              "the answer is larger than allowed");
        }
    } else if (exchange->state == EXCHANGE_EVENTS) {
        take_events(session, exchange, bytes);
    } else if (exchange->state != EXCHANGE_IGNORED) {
        return BTZ_ESTATE;
    }
    btz_mcp_http_reap(session);
    return BTZ_OK;
}

/* The body is whole. The exchange may begin anew while its message is judged. */
static void end_of_json(struct btz_mcp_http_session *session, struct exchange *exchange)
{
    uint64_t id = exchange->id;
    struct btz_buf body = exchange->body;
    char text[160];

    btz_buf_init(&exchange->body, session->options.max_body);
    btz_mcp_http_message(session, exchange, btz_buf_view(&body));
    btz_buf_fini(&body);
    if (exchange->id == id && exchange->state != EXCHANGE_GONE) {
        bool ok = exchange->status == 200;

        btz_mcp_http_lost(session, exchange, ok ? BTZ_MCP_FAULT_INVALID : BTZ_MCP_FAULT_CLOSED,
                          ok ? "the server answered something else than the request's response"
                             : status_text(exchange, text, sizeof(text)));
    }
}

static void end_of_request(struct btz_mcp_http_session *session, struct exchange *exchange,
                           enum btz_mcp_http_end how)
{
    if (how == BTZ_MCP_HTTP_WHOLE && exchange->state == EXCHANGE_JSON) {
        end_of_json(session, exchange);
    } else if (how == BTZ_MCP_HTTP_WHOLE && exchange->state == EXCHANGE_IGNORED &&
               !exchange->answered) {
        exchange->state = EXCHANGE_ACCEPTED;
    } else {
        btz_mcp_http_lost(session, exchange, BTZ_MCP_FAULT_CLOSED,
                          how == BTZ_MCP_HTTP_REFUSED ? "the server could not be reached"
                          : how == BTZ_MCP_HTTP_WHOLE
                              ? "the server ended the response without an answer"
                              : "the connection broke before the answer");
    }
}

static void end_of_note(struct btz_mcp_http_session *session, struct exchange *exchange)
{
    bool unanswered = exchange->state == EXCHANGE_SENT && exchange->role != ROLE_DELETE;

    session->stats.refused_posts += unanswered;
    if (unanswered && exchange->role == ROLE_INITIALIZED) {
        btz_mcp_http_fatal(session, BTZ_MCP_FAULT_CLOSED,
                           "the connection broke during the handshake");
    } else {
        btz_mcp_http_exchange_drop(session, exchange, false);
    }
}

int btz_mcp_http_session_response_end(struct btz_mcp_http_session *session, uint64_t id,
                                      enum btz_mcp_http_end how)
{
    struct exchange *exchange = find(session, id);

    if (!exchange) {
        return BTZ_ENOTFOUND;
    }
    if (exchange->state == EXCHANGE_PAUSED || exchange->state == EXCHANGE_QUEUED ||
        exchange->state == EXCHANGE_ACCEPTED ||
        (exchange->state == EXCHANGE_SENT && how == BTZ_MCP_HTTP_WHOLE)) {
        return BTZ_ESTATE;
    }
    exchange->ended = true;
    if (exchange->role == ROLE_REQUEST || exchange->role == ROLE_RENEW) {
        end_of_request(session, exchange, how);
    } else if (exchange->role == ROLE_STREAM) {
        btz_mcp_http_stream_over(session, exchange, true);
    } else {
        end_of_note(session, exchange);
    }
    btz_mcp_http_reap(session);
    return BTZ_OK;
}
