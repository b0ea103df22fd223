/* One connection of the listener: reading, judging, time, writing. */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/clock.h"
#include "net/http_server_int.h"

#define LINGER_US INT64_C(2000000)
#define MAX_WAITING (2 * READ_SIZE)
#define MAX_THROWN_AWAY ((size_t)1024 * 1024)

struct write {
    uv_write_t request;
    struct connection *connection;
    size_t len;
    char bytes[];
};

static void set_phase(struct connection *c, enum phase phase, int64_t timeout_us)
{
    c->phase = phase;
    c->deadline_us = timeout_us ? btz_clock_mono_us() + timeout_us : 0;
}

static void on_closed(uv_handle_t *handle)
{
    struct connection *c = handle->data;
    struct btz_net_http_server *server = c->server;

    btz_http_parser_free(c->parser);
    btz_buf_fini(&c->input);
    free(c);
    btz_net_server_handle_closed(server);
}

void btz_net_connection_close(struct connection *c)
{
    if (c->phase == PHASE_GONE) {
        return;
    }
    if (c->item && c->exchange) {
        c->item->dropped = true; /* still in the list of events */
    } else if (c->item) {
        btz_net_item_free(c->server, c->item);
    }
    c->item = NULL;
    c->exchange = 0;
    c->server->slots[c->slot] = NULL;
    c->server->count--;
    set_phase(c, PHASE_GONE, 0);
    uv_close((uv_handle_t *)&c->tcp, on_closed);
}

void btz_net_connection_lose(struct connection *c)
{
    bool known = c->exchange && !c->item; /* the owner has pulled it */
    uint64_t exchange = c->exchange;
    struct btz_net_http_server *server = c->server;

    btz_net_connection_close(c);
    if (known) {
        btz_net_server_push(server, btz_net_item_new(BTZ_NET_HTTP_CLOSED, exchange));
    }
}

static void on_written(uv_write_t *request, int status)
{
    struct write *write = request->data;
    struct connection *c = write->connection;

    c->out_bytes -= write->len;
    free(write);
    if (status && c->phase != PHASE_GONE) {
        btz_net_connection_lose(c);
    }
}

int btz_net_connection_send(struct connection *c, struct btz_str bytes)
{
    struct write *write;
    uv_buf_t buf;

    if (!bytes.len) {
        return BTZ_OK;
    }
    c->sent += bytes.len;
    if (!c->out_bytes) {
        int taken;

        buf = uv_buf_init((char *)(uintptr_t)bytes.ptr, (unsigned)bytes.len);
        taken = uv_try_write((uv_stream_t *)&c->tcp, &buf, 1);
        c->moved_us = btz_clock_mono_us();
        if (taken > 0) {
            bytes = btz_str_sub(bytes, (size_t)taken, bytes.len);
        }
    }
    if (!bytes.len) {
        return BTZ_OK;
    }
    if (bytes.len > c->server->options.max_out_bytes - c->out_bytes) {
        c->server->stats.choked++;
        btz_net_connection_close(c);
        return BTZ_ELIMIT;
    }
    write = malloc(sizeof(*write) + bytes.len);
    if (!write) {
        btz_panic("out of memory");
    }
    write->connection = c;
    write->len = bytes.len;
    memcpy(write->bytes, bytes.ptr, bytes.len);
    write->request.data = write;
    buf = uv_buf_init(write->bytes, (unsigned)bytes.len);
    c->out_bytes += bytes.len;
    if (uv_write(&write->request, (uv_stream_t *)&c->tcp, &buf, 1, on_written)) {
        c->out_bytes -= bytes.len;
        free(write);
        btz_net_connection_close(c);
        return BTZ_ENOTFOUND;
    }
    return BTZ_OK;
}

static void on_shut_down(uv_shutdown_t *request, int status)
{
    struct connection *c = request->data;

    if (c->phase == PHASE_GONE) {
        return;
    }
    if (status) {
        btz_net_connection_close(c);
    } else {
        set_phase(c, PHASE_LINGER, LINGER_US);
    }
}

/* Ends our side when all is written, then reads on for a while: closing with bytes unread would
 * reset the connection, and the client might never see the response. */
static void linger(struct connection *c)
{
    set_phase(c, PHASE_LINGER, 0);
    btz_buf_reset(&c->input);
    c->shutdown.data = c;
    if (uv_shutdown(&c->shutdown, (uv_stream_t *)&c->tcp, on_shut_down)) {
        btz_net_connection_close(c);
    }
}

/* Answers without the owner; the connection ends. */
static void refuse(struct connection *c, int status, const char *text)
{
    const struct btz_http_field fields[] = {{BTZ_STR("Connection"), BTZ_STR("close")},
                                            {BTZ_STR("Content-Type"), BTZ_STR("text/plain")}};
    struct btz_buf out;
    int rc;

    c->server->stats.refused++;
    if (c->item) {
        btz_net_item_free(c->server, c->item);
        c->item = NULL;
    }
    btz_buf_init(&out, (size_t)64 * 1024);
    rc = btz_http_write_response(&out, status, fields, 2, btz_str_of(text));
    if (!rc) {
        rc = btz_net_connection_send(c, btz_buf_view(&out));
    } else {
        btz_net_connection_close(c);
    }
    btz_buf_fini(&out);
    if (!rc) {
        linger(c);
    }
}

/* The parser's head is only good until the next message. */
static void keep_head(struct item *item, const struct btz_http_head *head)
{
    struct btz_http_field *fields =
        btz_arena_array(item->arena, head->field_count + 1, sizeof(*fields));

    item->head = *head;
    item->head.method = btz_arena_dup(item->arena, head->method);
    item->head.target = btz_arena_dup(item->arena, head->target);
    for (size_t i = 0; i < head->field_count; i++) {
        fields[i].name = btz_arena_dup(item->arena, head->fields[i].name);
        fields[i].value = btz_arena_dup(item->arena, head->fields[i].value);
    }
    item->head.fields = fields;
    item->event.head = &item->head;
}

static void take_head(struct connection *c)
{
    const struct btz_http_head *head = btz_http_parser_head(c->parser);
    size_t expects = 0;
    struct btz_str expect = btz_http_field_get(head, "Expect", &expects);

    c->item = btz_net_item_new(BTZ_NET_HTTP_REQUEST, 0);
    keep_head(c->item, head);
    c->last = head->close;
    c->head_only = btz_str_is(head->method, "HEAD");
    set_phase(c, PHASE_BODY, c->server->options.body_timeout_us);
    if (!expects) {
        return;
    }
    if (expect.len != 12 || strncasecmp(expect.ptr, "100-continue", 12) != 0) {
        refuse(c, 417, "only the expectation 100-continue is met\n");
        return;
    }
    if (head->content_length > 0 || head->chunked) {
        (void)!btz_net_connection_send(c, BTZ_STR("HTTP/1.1 100 Continue\r\n\r\n"));
    }
}

static void take_body(struct connection *c, struct btz_str bytes)
{
    struct btz_net_http_server *server = c->server;

    if (server->body_bytes + bytes.len > server->options.max_body_bytes) {
        refuse(c, 503, "too much is being sent to this server; try again later\n");
        return;
    }
    server->body_bytes += bytes.len;
    btz_buf_add_str(&c->item->body, bytes); /* the parser keeps its limit */
}

static void take_end(struct connection *c)
{
    struct btz_net_http_server *server = c->server;

    c->exchange = (++server->serial << SLOT_BITS) | c->slot;
    c->item->event.exchange = c->exchange;
    c->item->event.body = btz_buf_view(&c->item->body);
    c->streaming = false;
    server->stats.requests++;
    set_phase(c, PHASE_BUSY, 0);
    btz_net_server_push(server, c->item);
}

/* Judges bytes until a request is whole; the rest stays in `*input`. */
static void judge(struct connection *c, struct btz_str *input)
{
    while (c->phase < PHASE_BUSY) {
        enum btz_http_event event;
        struct btz_str body = BTZ_STR_NONE;
        struct btz_err err;

        if (c->phase < PHASE_HEAD && input->len) {
            set_phase(c, PHASE_HEAD, c->server->options.head_timeout_us);
        }
        if (btz_http_parser_next(c->parser, input, &event, &body, &err)) {
            int status = btz_http_parser_status(c->parser);
            char text[sizeof(err.msg) + 2];

            (void)snprintf(text, sizeof(text), "%s\n", err.msg);
            refuse(c, status ? status : 400, text);
            return;
        }
        switch (event) {
        case BTZ_HTTP_MORE:
            return;
        case BTZ_HTTP_HEAD:
            take_head(c);
            break;
        case BTZ_HTTP_BODY:
            take_body(c, body);
            break;
        case BTZ_HTTP_END:
            take_end(c);
            break;
        }
    }
}

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
    struct connection *c = handle->data;

    (void)size;
    *buf = uv_buf_init(c->server->read_buffer, (unsigned)READ_SIZE);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buf)
{
    struct connection *c = stream->data;
    struct btz_str bytes;

    if (count == 0 || c->phase == PHASE_GONE) {
        return;
    }
    if (count < 0) {
        btz_net_connection_lose(c);
        return;
    }
    bytes = (struct btz_str){buf->base, (size_t)count};
    if (c->phase < PHASE_BUSY) {
        judge(c, &bytes); /* nothing waits in `input` in these phases */
    }
    if (c->phase == PHASE_LINGER || (c->phase == PHASE_BUSY && c->last)) {
        c->thrown_away += bytes.len;
        if (c->thrown_away > MAX_THROWN_AWAY) {
            btz_net_connection_lose(c);
        }
    } else if (c->phase == PHASE_BUSY && bytes.len) {
        btz_buf_add_str(&c->input, bytes);
        if (c->input.len > MAX_WAITING - READ_SIZE) {
            c->paused = true;
            (void)uv_read_stop(stream);
        }
    }
}

void btz_net_connection_answered(struct connection *c)
{
    struct btz_str input = btz_buf_view(&c->input);
    size_t before = input.len;

    c->exchange = 0;
    if (c->last) {
        linger(c);
    } else {
        set_phase(c, PHASE_IDLE, c->server->options.idle_timeout_us);
        judge(c, &input);
        if (c->phase < PHASE_LINGER) {
            btz_buf_consume(&c->input, before - input.len);
        }
    }
    if (c->paused && c->phase != PHASE_GONE && c->input.len <= MAX_WAITING - READ_SIZE) {
        c->paused = false;
        (void)uv_read_start((uv_stream_t *)&c->tcp, on_alloc, on_read);
    }
}

void btz_net_connection_check(struct connection *c, int64_t now_us)
{
    if (c->out_bytes) {
        uint64_t taken = c->sent - uv_stream_get_write_queue_size((uv_stream_t *)&c->tcp);

        if (taken != c->taken) { /* new bytes that only queue up are no sign of life */
            c->taken = taken;
            c->moved_us = now_us;
        } else if (now_us - c->moved_us >= c->server->options.write_timeout_us) {
            c->server->stats.slow++;
            btz_net_connection_lose(c);
            return;
        }
    }
    if (!c->deadline_us || now_us < c->deadline_us) {
        return;
    }
    if (c->phase == PHASE_HEAD || c->phase == PHASE_BODY) {
        c->server->stats.slow++;
        refuse(c, 408, "the request took too long\n");
        return;
    }
    c->server->stats.slow += c->phase == PHASE_NEW;
    btz_net_connection_close(c);
}

void btz_net_connection_open(struct btz_net_http_server *server)
{
    struct connection *c = calloc(1, sizeof(*c));
    size_t slot = 0;

    if (!c) {
        btz_panic("out of memory");
    }
    c->server = server;
    c->tcp.data = c;
    (void)uv_tcp_init(btz_net_loop_uv(server->loop), &c->tcp);
    server->handles++;
    c->parser = btz_http_parser_new(BTZ_HTTP_REQUESTS, &server->options.limits);
    btz_buf_init(&c->input, MAX_WAITING);
    if (uv_accept((uv_stream_t *)&server->listener, (uv_stream_t *)&c->tcp) ||
        server->count >= server->options.max_connections) {
        server->stats.turned_away++;
        c->phase = PHASE_GONE;
        uv_close((uv_handle_t *)&c->tcp, on_closed);
        return;
    }
    while (server->slots[slot]) {
        slot++;
    }
    c->slot = slot;
    server->slots[slot] = c;
    server->count++;
    server->stats.connections++;
    (void)uv_tcp_nodelay(&c->tcp, 1);
    set_phase(c, PHASE_NEW, server->options.head_timeout_us);
    if (uv_read_start((uv_stream_t *)&c->tcp, on_alloc, on_read)) {
        btz_net_connection_close(c);
    }
}
