#include "wire/http_link_int.h"

#include <stdlib.h>
#include <unistd.h>

enum { LANE_MAX = 64 * 1024 * 1024, MAX_REPLAYS = 64, ROUNDS = 100000 };

int btz_http_link_new(const struct btz_http_link_options *options,
                      const struct btz_mcp_catalogue *catalogue, struct btz_http_link **out,
                      struct btz_err *err)
{
    struct btz_http_link *link = calloc(1, sizeof(*link));
    struct btz_mcp_http_session_options client = options->client;
    int rc;

    if (!link) {
        btz_panic("out of memory (HTTP link)");
    }
    client.now_us = options->now_us;
    link->options = *options;
    link->options.max_moves = options->max_moves ? options->max_moves : ROUNDS;
    link->arena = btz_arena_new();
    link->options.subject = btz_arena_dup(link->arena, options->subject);
    link->now_us = options->now_us;
    link->next_connection = link->next_exchange = 1;
    link->listener = -1;
    btz_buf_init(&link->arrived, LANE_MAX + 65536);
    btz_buf_init(&link->transcript, LANE_MAX);
    if ((rc = btz_mcp_http_session_new(&client, &link->session, err)) != BTZ_OK ||
        (rc = btz_mcp_endpoint_new(&options->server, catalogue, &link->endpoint, err)) != BTZ_OK ||
        (options->pump == BTZ_HTTP_SOCKET && (rc = btz_http_pump_open(link, err)) != BTZ_OK)) {
        btz_http_link_free(link);
        return rc;
    }
    *out = link;
    return BTZ_OK;
}

static void free_connection(struct btz_http_link *link, struct connection *connection)
{
    if (connection->serving) {
        btz_http_link_served_free(link, connection->serving);
    }
    link->replays -= connection->own;
    btz_http_pump_fini(connection);
    btz_buf_fini(&connection->lanes[END_CLIENT]);
    btz_buf_fini(&connection->lanes[END_SERVER]);
    btz_http_parser_free(connection->requests);
    btz_http_parser_free(connection->responses);
    btz_arena_free(connection->arena);
}

void btz_http_link_free(struct btz_http_link *link)
{
    if (!link) {
        return;
    }
    while (link->connections) {
        struct connection *connection = link->connections;

        link->connections = connection->next;
        free_connection(link, connection);
    }
    if (link->listener >= 0) {
        (void)close(link->listener);
    }
    btz_buf_fini(&link->arrived);
    btz_buf_fini(&link->transcript);
    btz_mcp_http_session_free(link->session);
    btz_mcp_endpoint_free(link->endpoint);
    btz_arena_free(link->arena);
    free(link);
}

struct btz_mcp_http_session *btz_http_link_session(struct btz_http_link *link)
{
    return link->session;
}

struct btz_mcp_client *btz_http_link_client(struct btz_http_link *link)
{
    return btz_mcp_http_session_client(link->session);
}

struct btz_mcp_endpoint *btz_http_link_endpoint(struct btz_http_link *link)
{
    return link->endpoint;
}

int64_t btz_http_link_now_us(const struct btz_http_link *link)
{
    return link->now_us;
}

struct btz_str btz_http_link_transcript(const struct btz_http_link *link)
{
    return link->options.keep_transcript && !link->transcript.failed
               ? btz_buf_view(&link->transcript)
               : BTZ_STR_NONE;
}

void btz_http_link_set_relay(struct btz_http_link *link,
                             enum btz_http_relay_verdict (*relay)(void *context,
                                                                  struct btz_http_link *link,
                                                                  struct btz_http_relay_item *item),
                             void *context)
{
    link->relay = relay;
    link->relay_context = context;
}

/* The peers judge sizes by their own, smaller limits; a stream has none. */
static struct connection *new_connection(struct btz_http_link *link)
{
    const struct btz_http_limits limits = {.max_body = (uint64_t)1 << 40};
    struct btz_arena *arena = btz_arena_new();
    struct connection *connection = BTZ_NEW(arena, struct connection);
    struct connection **at = &link->connections;

    connection->arena = arena;
    connection->fds[0] = connection->fds[1] = -1;
    connection->subject = link->options.subject;
    btz_buf_init(&connection->lanes[END_CLIENT], LANE_MAX);
    btz_buf_init(&connection->lanes[END_SERVER], LANE_MAX);
    connection->requests = btz_http_parser_new(BTZ_HTTP_REQUESTS, &limits);
    connection->responses = btz_http_parser_new(BTZ_HTTP_RESPONSES, &limits);
    while (*at) {
        at = &(*at)->next;
    }
    *at = connection;
    return connection;
}

/* An idle connection, oldest first, or a new one. */
static int connection_for(struct btz_http_link *link, struct connection **out, struct btz_err *err)
{
    for (struct connection *c = link->connections; c; c = c->next) {
        if (!c->exchange && !c->serving && !c->own && !c->gone && !c->closing[END_CLIENT] &&
            !c->closing[END_SERVER]) {
            *out = c;
            return BTZ_OK;
        }
    }
    *out = new_connection(link);
    (*out)->number = link->next_connection++;
    return btz_http_pump_connect(link, *out, err);
}

static int take_requests(struct btz_http_link *link, struct btz_err *err)
{
    struct btz_mcp_http_exchange x;
    struct connection *connection;
    int rc;

    while (btz_mcp_http_session_next_request(link->session, &x)) {
        link->moved = true;
        rc = connection_for(link, &connection, err);
        if (rc != BTZ_OK) {
            return rc;
        }
        rc = btz_http_write_request(&connection->lanes[END_SERVER],
                                    btz_str_of(btz_mcp_http_method_name(x.method)), x.target,
                                    x.fields, x.field_count, x.body);
        if (rc == BTZ_OK) {
            connection->exchange = x.id;
        } else if (btz_mcp_http_session_response_end(link->session, x.id, BTZ_MCP_HTTP_REFUSED) !=
                   BTZ_OK) {
            return btz_err_set(err, BTZ_EINTERNAL, "a refused request is not known");
        }
    }
    return BTZ_OK;
}

static void take_closes(struct btz_http_link *link)
{
    uint64_t id;

    while (btz_mcp_http_session_next_close(link->session, &id)) {
        link->moved = true;
        for (struct connection *c = link->connections; c; c = c->next) {
            if (c->exchange == id) {
                c->closing[END_CLIENT] = true;
                c->exchange = 0;
            }
        }
    }
}

/* The session has given an exchange up when it does not know it any more: the close that it asks
 * for ends the connection, too. */
static int told(int rc, struct btz_err *err)
{
    return rc == BTZ_OK || rc == BTZ_ENOTFOUND
               ? BTZ_OK
               : btz_err_set(err, BTZ_EINTERNAL, "the client session refused a part of a response");
}

static int end_exchange(struct btz_http_link *link, struct connection *connection,
                        enum btz_mcp_http_end how, struct btz_err *err)
{
    uint64_t id = connection->exchange;

    connection->exchange = 0;
    return told(btz_mcp_http_session_response_end(link->session, id, how), err);
}

/* Bytes that arrived at the client. */
static int read_response(struct btz_http_link *link, struct connection *connection,
                         struct btz_str bytes, struct btz_err *err)
{
    enum btz_http_event event = BTZ_HTTP_MORE;
    struct btz_str body;
    int rc = BTZ_OK;

    do {
        const struct btz_http_head *head;

        if (!connection->exchange) {
            connection->closing[END_CLIENT] |= bytes.len > 0; /* that nobody asked for */
            return BTZ_OK;
        }
        if (btz_http_parser_next(connection->responses, &bytes, &event, &body, NULL) != BTZ_OK) {
            connection->closing[END_CLIENT] = true;
            return end_exchange(link, connection, BTZ_MCP_HTTP_BROKEN, err);
        }
        head = btz_http_parser_head(connection->responses);
        if (event == BTZ_HTTP_HEAD) {
            rc = told(btz_mcp_http_session_response_head(link->session, connection->exchange, head),
                      err);
        } else if (event == BTZ_HTTP_BODY) {
            rc = told(btz_mcp_http_session_response_body(link->session, connection->exchange, body),
                      err);
        } else if (event == BTZ_HTTP_END && head->status >= 200) {
            connection->closing[END_CLIENT] |= head->close;
            rc = end_exchange(link, connection, BTZ_MCP_HTTP_WHOLE, err);
        }
    } while (rc == BTZ_OK && event != BTZ_HTTP_MORE);
    return rc;
}

/* The server's end closed. */
static int read_end(struct btz_http_link *link, struct connection *connection, struct btz_err *err)
{
    bool ended = false;
    int rc = btz_http_parser_eof(connection->responses, &ended, NULL);

    connection->gone = true;
    if (!connection->exchange) {
        return BTZ_OK;
    }
    return end_exchange(link, connection,
                        rc == BTZ_OK && ended ? BTZ_MCP_HTTP_WHOLE : BTZ_MCP_HTTP_BROKEN, err);
}

static int move(struct btz_http_link *link, struct connection *connection, enum end end,
                struct btz_err *err)
{
    struct btz_str bytes;
    int rc;

    if (connection->gone || !connection->lanes[end].len ||
        (end == END_CLIENT && connection->closing[END_CLIENT])) {
        return BTZ_OK;
    }
    link->moved = true;
    rc = btz_http_pump_move(link, connection, end, &bytes, err);
    if (rc != BTZ_OK) {
        return rc;
    }
    return end == END_SERVER ? btz_http_link_serve(link, connection, bytes, err)
                             : read_response(link, connection, bytes, err);
}

static int close_ends(struct btz_http_link *link, struct connection *connection,
                      struct btz_err *err)
{
    bool by_client = connection->closing[END_CLIENT];
    int rc;

    if (connection->gone || !(by_client || connection->closing[END_SERVER])) {
        return BTZ_OK;
    }
    link->moved = true;
    if (connection->own) {
        btz_http_link_hang_up(link, connection);
        return BTZ_OK;
    }
    rc = btz_http_pump_close(link, connection, by_client ? END_CLIENT : END_SERVER, err);
    if (rc == BTZ_OK && by_client) {
        btz_http_link_hang_up(link, connection);
    } else if (rc == BTZ_OK) {
        rc = read_end(link, connection, err);
    }
    return rc;
}

static void sweep(struct btz_http_link *link)
{
    struct connection **at = &link->connections;

    while (*at) {
        struct connection *connection = *at;

        if (connection->gone) {
            *at = connection->next;
            free_connection(link, connection);
        } else {
            at = &connection->next;
        }
    }
}

/* One round: each direction once, in a fixed order. */
static int round_trip(struct btz_http_link *link, struct btz_err *err)
{
    int rc;

    take_closes(link);
    rc = take_requests(link, err);
    for (struct connection *c = link->connections; c && rc == BTZ_OK; c = c->next) {
        rc = move(link, c, END_SERVER, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_http_link_take_out(link, err);
    }
    for (struct connection *c = link->connections; c && rc == BTZ_OK; c = c->next) {
        rc = move(link, c, END_CLIENT, err);
    }
    for (struct connection *c = link->connections; c && rc == BTZ_OK; c = c->next) {
        rc = close_ends(link, c, err);
    }
    sweep(link);
    return rc;
}

static void set_time(struct btz_http_link *link, int64_t now_us)
{
    if (now_us > link->now_us) {
        link->now_us = now_us;
    }
    btz_mcp_http_session_tick(link->session, link->now_us);
    btz_mcp_endpoint_tick(link->endpoint, link->now_us);
}

static int run(struct btz_http_link *link, bool *moved, struct btz_err *err)
{
    *moved = false;
    for (size_t i = 0; i < link->options.max_moves; i++) {
        int rc;

        link->moved = false;
        rc = round_trip(link, err);
        if (rc != BTZ_OK) {
            return rc;
        }
        if (!link->moved) {
            return BTZ_OK;
        }
        *moved = true;
    }
    return btz_err_set(err, BTZ_ELIMIT, "client and server of an HTTP link do not come to rest");
}

int btz_http_link_step(struct btz_http_link *link, int64_t now_us, struct btz_err *err)
{
    bool for_answer = false;
    bool moved;
    int64_t wake;
    int rc;

    set_time(link, now_us);
    rc = run(link, &moved, err);
    if (rc != BTZ_OK) {
        return rc;
    }
    if (!moved) {
        wake = btz_mcp_http_session_wake_at_us(link->session, &for_answer);
        if (wake >= 0 && for_answer) {
            set_time(link, wake);
            rc = run(link, &moved, err);
        }
    }
    return rc ? rc : moved ? BTZ_OK : BTZ_EAGAIN;
}

static int send_apart(struct btz_http_link *link, struct btz_str method, struct btz_str target,
                      const struct btz_http_field *fields, size_t count, struct btz_str body,
                      struct btz_str subject, bool fetch, uint64_t *exchange)
{
    struct connection *connection;
    struct btz_buf bytes;
    int rc;

    if (link->replays >= MAX_REPLAYS) {
        return BTZ_ELIMIT;
    }
    btz_buf_init(&bytes, LANE_MAX);
    rc = btz_http_write_request(&bytes, method, target, fields, count, body);
    if (rc == BTZ_OK) {
        connection = new_connection(link);
        connection->own = true;
        connection->fetch = fetch;
        connection->reserved = link->next_exchange++;
        connection->subject = btz_arena_dup(connection->arena, subject);
        btz_buf_add_str(&connection->lanes[END_SERVER], btz_buf_view(&bytes));
        link->replays++;
        if (exchange) {
            *exchange = connection->reserved;
        }
    }
    btz_buf_fini(&bytes);
    return rc;
}

int btz_http_link_replay(struct btz_http_link *link, struct btz_str method, struct btz_str target,
                         const struct btz_http_field *fields, size_t count, struct btz_str body,
                         struct btz_str subject, uint64_t *exchange)
{
    return send_apart(link, method, target, fields, count, body, subject, false, exchange);
}

int btz_http_link_fetch(struct btz_http_link *link, struct btz_str method, struct btz_str target,
                        const struct btz_http_field *fields, size_t count, struct btz_str body,
                        uint64_t *exchange)
{
    return send_apart(link, method, target, fields, count, body, BTZ_STR_NONE, true, exchange);
}
