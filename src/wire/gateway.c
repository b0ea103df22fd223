/* A gateway as a whole: its loop, its connections, and the wait. */
#include "wire/gateway.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "wire/gateway_int.h"

enum { MAX_REMARK = 256 };

int btz_gateway_new(const struct btz_gateway_options *options, struct btz_gateway **out,
                    struct btz_err *err)
{
    struct btz_arena *arena;
    struct btz_gateway *gateway;
    int rc = btz_gateway_check(options->target, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    arena = btz_arena_new();
    gateway = BTZ_NEW(arena, struct btz_gateway);
    gateway->arena = arena;
    gateway->options = *options;
    gateway->options.target = btz_arena_dup(arena, options->target);
    gateway->options.program = btz_arena_dup(arena, options->program);
    gateway->options.address =
        options->address.len ? btz_arena_dup(arena, options->address) : BTZ_STR("127.0.0.1");
    rc = btz_net_loop_new(&gateway->loop, err);
    rc = rc ? rc : btz_net_loop_catch_signals(gateway->loop, err);
    rc = rc ? rc : server_side_listen(gateway, err);
    if (rc != BTZ_OK) {
        btz_gateway_free(gateway);
        return rc;
    }
    *out = gateway;
    return BTZ_OK;
}

void btz_gateway_free(struct btz_gateway *gateway)
{
    if (!gateway) {
        return;
    }
    while (gateway->conns) {
        btz_gateway_close(gateway->conns);
    }
    btz_net_http_free(gateway->http);
    btz_net_http_server_free(gateway->site);
    btz_net_loop_free(gateway->loop);
    btz_arena_free(gateway->arena);
}

void gateway_break(struct btz_gateway_conn *conn, const char *fmt, ...)
{
    va_list args;

    if (conn->broken[0]) {
        return; /* the first reason is the one */
    }
    va_start(args, fmt);
    (void)vsnprintf(conn->broken, sizeof(conn->broken), fmt, args);
    va_end(args);
}

int btz_gateway_open(struct btz_gateway *gateway, const struct btz_gateway_conn_options *options,
                     const struct btz_mcp_catalogue *catalogue, struct btz_gateway_conn **out,
                     struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_gateway_conn *conn = BTZ_NEW(arena, struct btz_gateway_conn);
    struct btz_gateway_conn **at = &gateway->conns;
    int rc;

    conn->arena = arena;
    conn->gateway = gateway;
    conn->options = *options;
    conn->options.id = btz_arena_dup(arena, options->id);
    conn->catalogue = *catalogue;
    conn->listener = -1;
    btz_mcp_frame_init(&conn->frame, gateway->options.max_message);
    for (int i = 0; i < GATEWAY_STREAMS; i++) {
        conn->streams[i].fd = -1;
    }
    while (*at) {
        at = &(*at)->next;
    }
    *at = conn; /* events come in the order in which connections were opened */
    rc = server_side_open(conn, catalogue, err);
    rc = rc ? rc : client_side_open(conn, err);
    if (rc != BTZ_OK) {
        btz_gateway_close(conn);
        return rc;
    }
    *out = conn;
    return BTZ_OK;
}

void btz_gateway_close(struct btz_gateway_conn *conn)
{
    struct btz_gateway_conn **at;

    if (!conn) {
        return;
    }
    client_side_close(conn);
    server_side_close(conn);
    at = &conn->gateway->conns;
    while (*at != conn) {
        at = &(*at)->next;
    }
    *at = conn->next;
    btz_mcp_frame_fini(&conn->frame);
    btz_arena_free(conn->arena);
}

void btz_gateway_end(struct btz_gateway *gateway)
{
    for (struct btz_gateway_conn *conn = gateway->conns; conn; conn = conn->next) {
        client_side_end(conn);
    }
}

static bool step(struct btz_gateway *gateway)
{
    bool moved = server_side_step(gateway);

    if (gateway->http && client_side_results(gateway)) {
        moved = true;
    }
    for (struct btz_gateway_conn *conn = gateway->conns; conn; conn = conn->next) {
        moved = streams_step(conn) || moved;
        moved = client_side_step(conn) || moved;
    }
    return moved;
}

/* Asks the loop to come back in time for what the machines wait for. */
static void ask_to_wake(struct btz_gateway *gateway)
{
    for (struct btz_gateway_conn *conn = gateway->conns; conn; conn = conn->next) {
        int64_t due = btz_mcp_endpoint_due(conn->endpoint);

        if (due >= 0) {
            btz_net_loop_wake_at(gateway->loop, due);
        }
        client_side_due(conn);
    }
}

int btz_gateway_wait(struct btz_gateway *gateway, int64_t until_us)
{
    while (true) {
        if (step(gateway)) {
            return BTZ_OK;
        }
        if (btz_net_loop_interrupted(gateway->loop)) {
            return BTZ_ECANCELLED;
        }
        if (btz_clock_mono_us() >= until_us) {
            return BTZ_EAGAIN;
        }
        ask_to_wake(gateway);
        btz_net_loop_wake_at(gateway->loop, until_us);
        btz_net_loop_wait(gateway->loop, -1);
    }
}

bool btz_gateway_next_event(struct btz_gateway *gateway, void **tag,
                            struct btz_mcp_server **machine, struct btz_mcp_server_event *event)
{
    for (struct btz_gateway_conn *conn = gateway->conns; conn; conn = conn->next) {
        uint64_t handle;

        while (btz_mcp_endpoint_next_event(conn->endpoint, &handle, event)) {
            *machine = btz_mcp_endpoint_server(conn->endpoint, handle);
            if (*machine) {
                *tag = conn->options.tag;
                return true;
            }
        }
        for (int i = 0; i < GATEWAY_STREAMS; i++) {
            struct stream *stream = &conn->streams[i];

            if (stream->fd >= 0 && btz_mcp_server_next_event(stream->machine, event)) {
                *machine = stream->machine;
                *tag = conn->options.tag;
                return true;
            }
        }
    }
    return false;
}

struct btz_mcp_client *btz_gateway_client(struct btz_gateway_conn *conn)
{
    return conn->client;
}

int btz_gateway_set_catalogue(struct btz_gateway_conn *conn,
                              const struct btz_mcp_catalogue *catalogue, bool *told,
                              struct btz_err *err)
{
    int rc = btz_mcp_endpoint_set_catalogue(conn->endpoint, catalogue, err);
    bool any;

    for (int i = 0; rc == BTZ_OK && i < GATEWAY_STREAMS; i++) {
        if (conn->streams[i].fd >= 0) {
            rc = btz_mcp_server_set_catalogue(conn->streams[i].machine, catalogue, err);
        }
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    conn->catalogue = *catalogue;
    any = server_side_step(conn->gateway);
    any = streams_step(conn) || any;
    if (told) {
        *told = any;
    }
    return BTZ_OK;
}

struct btz_str btz_gateway_broken(const struct btz_gateway_conn *conn)
{
    return btz_str_of(conn->broken);
}

int64_t btz_gateway_process(const struct btz_gateway_conn *conn)
{
    return conn->proc ? btz_proc_id(conn->proc) : 0;
}

/* The end of a text that a program wrote, fit for a message: one line, no control characters. */
static struct btz_str tidy(struct btz_arena *arena, struct btz_str text)
{
    struct btz_str end = btz_str_trim(
        btz_str_sub(text, text.len > MAX_REMARK ? text.len - MAX_REMARK : 0, text.len));
    char *out = btz_arena_alloc(arena, end.len + 1);

    for (size_t i = 0; i < end.len; i++) {
        unsigned char byte = (unsigned char)end.ptr[i];

        out[i] = byte == '\n' ? '|' : byte < 32 || byte > 126 ? '?' : (char)byte;
    }
    out[end.len] = '\0';
    return (struct btz_str){out, end.len};
}

struct btz_str btz_gateway_remarks(struct btz_gateway_conn *conn, struct btz_arena *arena)
{
    struct btz_buf text;
    struct btz_str made;

    btz_buf_init(&text, 4096);
    if (conn->bad_line.len) {
        (void)btz_buf_printf(&text, "; a line on its stdout is no message: \"%s\"",
                             tidy(arena, btz_str_sub(conn->bad_line, 0, MAX_REMARK / 2)).ptr);
    }
    if (conn->trouble[0]) {
        (void)btz_buf_printf(&text, "; HTTP: %s", conn->trouble);
    }
    if (conn->proc) {
        client_side_drain(conn);
        if (btz_proc_last_words(conn->proc).len) {
            if (btz_proc_drained(conn->proc) > MAX_REMARK) {
                (void)btz_buf_printf(&text, "; its stderr begins with \"%s\"",
                                     tidy(arena, btz_proc_first_words(conn->proc)).ptr);
            }
            (void)btz_buf_printf(&text, "; its stderr ends with \"%s\"",
                                 tidy(arena, btz_proc_last_words(conn->proc)).ptr);
        }
    }
    made = btz_arena_dup(arena, btz_buf_view(&text));
    btz_buf_fini(&text);
    return made;
}
