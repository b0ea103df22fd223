/* Requests that were refused for want of authorization wait here until the owner has another value
 * for the field, or none. */
#include "mcp/http_session_int.h"

#include <stdio.h>
#include <strings.h>

/* Keeps what the owner needs to know of the first refusal. */
static void keep_challenge(struct btz_mcp_http_session *session, const struct btz_http_head *head)
{
    struct btz_arena *arena = session->challenge_arena;
    struct btz_http_field *fields;
    size_t count = 0;

    btz_arena_reset(arena);
    fields = btz_arena_array(arena, head->field_count + 1, sizeof(*fields));
    for (size_t i = 0; i < head->field_count; i++) {
        struct btz_str name = head->fields[i].name;

        if (name.len == strlen("www-authenticate") &&
            strncasecmp(name.ptr, "www-authenticate", name.len) == 0) {
            fields[count++] = (struct btz_http_field){BTZ_STR("WWW-Authenticate"),
                                                      btz_arena_dup(arena, head->fields[i].value)};
        }
    }
    session->challenge = (struct btz_mcp_http_challenge){
        .status = head->status, .fields = fields, .field_count = count};
    session->challenged = true;
}

bool btz_mcp_http_hold(struct btz_mcp_http_session *session, struct exchange *exchange,
                       const struct btz_http_head *head)
{
    bool stale = exchange->authorized != session->authorized;
    bool gate = session->gate == exchange->id;
    bool held = session->held_for == exchange->id;

    if (!session->options.hold_unauthorized || exchange->role == ROLE_DELETE || session->ended ||
        (head->status != 401 && head->status != 403)) {
        return false;
    }
    if (!session->challenged && !stale) {
        keep_challenge(session, head);
    }
    btz_mcp_http_exchange_again(session, exchange);
    exchange->refused = stale ? 0 : head->status;
    session->gate = gate ? exchange->id : session->gate;
    session->held_for = held ? exchange->id : session->held_for;
    return true;
}

bool btz_mcp_http_session_challenged(const struct btz_mcp_http_session *session,
                                     struct btz_mcp_http_challenge *challenge)
{
    if (!session->challenged || session->ended) {
        return false;
    }
    *challenge = session->challenge;
    return true;
}

/* What a refusal means where nothing can be done about it. */
static void give_up(struct btz_mcp_http_session *session, struct exchange *exchange)
{
    char text[160];

    exchange->status = exchange->refused;
    exchange->refused = 0;
    (void)snprintf(text, sizeof(text), "the server answered HTTP status %d (%s)", exchange->status,
                   btz_http_reason(exchange->status));
    if (exchange->role == ROLE_REQUEST || exchange->role == ROLE_RENEW) {
        btz_mcp_http_lost(session, exchange, BTZ_MCP_FAULT_CLOSED, text);
    } else if (exchange->role == ROLE_STREAM) {
        btz_mcp_http_stream_over(session, exchange, false);
    } else {
        bool initialized = exchange->role == ROLE_INITIALIZED;

        session->stats.refused_posts++;
        btz_mcp_client_alarm(session->client, 0,
                             "the server did not accept a notification or response");
        btz_mcp_http_exchange_drop(session, exchange, false);
        if (initialized) {
            btz_mcp_http_open_stream(session);
        }
    }
}

int btz_mcp_http_session_authorize(struct btz_mcp_http_session *session, struct btz_str value)
{
    int rc = btz_mcp_http_check_request(session->options.host, BTZ_STR("/"), value);

    if (rc != BTZ_OK) {
        return rc;
    }
    session->challenged = false;
    if (value.len) {
        btz_buf_reset(&session->authorization);
        btz_buf_add_str(&session->authorization, value);
        session->authorized++;
    }
    for (struct exchange *e = session->exchanges; e; e = e->next) {
        if (e->refused && e->state != EXCHANGE_GONE) {
            if (value.len) {
                e->refused = 0;
            } else {
                give_up(session, e);
            }
        }
    }
    btz_mcp_http_reap(session);
    return BTZ_OK;
}
