#include "net/http_server.h"

#include <stdlib.h>

#include "base/clock.h"
#include "net/http_server_int.h"

#define SECOND INT64_C(1000000)
#define BACKLOG 128
#define MAX_FIELDS 64

struct item *btz_net_item_new(enum btz_net_http_server_event_kind kind, uint64_t exchange)
{
    struct item *item = calloc(1, sizeof(*item));

    if (!item) {
        btz_panic("out of memory");
    }
    item->event.kind = kind;
    item->event.exchange = exchange;
    if (kind == BTZ_NET_HTTP_REQUEST) {
        item->arena = btz_arena_new();
    }
    btz_buf_init(&item->body, SIZE_MAX);
    return item;
}

void btz_net_item_free(struct btz_net_http_server *server, struct item *item)
{
    if (item) {
        server->body_bytes -= item->body.len;
        btz_buf_fini(&item->body);
        btz_arena_free(item->arena);
        free(item);
    }
}

void btz_net_server_push(struct btz_net_http_server *server, struct item *item)
{
    if (server->tail) {
        server->tail->next = item;
    } else {
        server->head = item;
    }
    server->tail = item;
    btz_net_loop_ready(server->loop);
}

static void free_items(struct btz_net_http_server *server)
{
    while (server->head) {
        struct item *item = server->head;

        server->head = item->next;
        btz_net_item_free(server, item);
    }
    server->tail = NULL;
    btz_net_item_free(server, server->pulled);
    server->pulled = NULL;
}

void btz_net_server_handle_closed(struct btz_net_http_server *server)
{
    if (--server->handles == 0 && server->closing) {
        free(server->slots);
        free(server);
    }
}

static void on_own_closed(uv_handle_t *handle)
{
    btz_net_server_handle_closed(handle->data);
}

void btz_net_http_server_free(struct btz_net_http_server *server)
{
    if (!server) {
        return;
    }
    server->closing = true;
    for (size_t i = 0; i < server->options.max_connections; i++) {
        if (server->slots[i]) {
            btz_net_connection_close(server->slots[i]);
        }
    }
    free_items(server);
    uv_close((uv_handle_t *)&server->listener, on_own_closed);
    uv_close((uv_handle_t *)&server->timer, on_own_closed);
}

static void on_connection(uv_stream_t *listener, int status)
{
    if (!status) {
        btz_net_connection_open(listener->data);
    }
}

static void on_timer(uv_timer_t *timer)
{
    struct btz_net_http_server *server = timer->data;
    int64_t now_us = btz_clock_mono_us();
    size_t left = server->count;

    for (size_t i = 0; left && i < server->options.max_connections; i++) {
        if (server->slots[i]) {
            left--;
            btz_net_connection_check(server->slots[i], now_us);
        }
    }
}

static void set_time(int64_t *time, int64_t fallback, int64_t *least)
{
    if (!*time) {
        *time = fallback;
    }
    if (*time < *least) {
        *least = *time;
    }
}

/* Defaults; returns how often connections have to be looked at, in milliseconds. */
static uint64_t fill_options(struct btz_net_http_server_options *options)
{
    int64_t least = 2 * SECOND;

    if (!options->address) {
        options->address = "127.0.0.1";
    }
    if (!options->max_connections) {
        options->max_connections = 256;
    }
    if (options->max_connections > (size_t)1 << SLOT_BITS) {
        options->max_connections = (size_t)1 << SLOT_BITS;
    }
    if (!options->max_body_bytes) {
        options->max_body_bytes = UINT64_C(256) * 1024 * 1024;
    }
    if (!options->max_out_bytes) {
        options->max_out_bytes = (size_t)16 * 1024 * 1024;
    }
    set_time(&options->head_timeout_us, 10 * SECOND, &least);
    set_time(&options->body_timeout_us, 30 * SECOND, &least);
    set_time(&options->idle_timeout_us, 60 * SECOND, &least);
    set_time(&options->write_timeout_us, 30 * SECOND, &least);
    return least < 20000 ? 5 : (uint64_t)least / 4000;
}

static int listen_on(struct btz_net_http_server *server, const struct sockaddr *address,
                     struct btz_err *err)
{
    struct sockaddr_storage bound;
    int len = sizeof(bound);
    int rc = uv_tcp_bind(&server->listener, address, 0);

    if (!rc) {
        rc = uv_listen((uv_stream_t *)&server->listener, BACKLOG, on_connection);
    }
    if (!rc) {
        rc = uv_tcp_getsockname(&server->listener, (struct sockaddr *)&bound, &len);
    }
    if (rc) {
        return btz_err_set(err, BTZ_EIO, "cannot listen on %s port %u: %s", server->options.address,
                           (unsigned)server->options.port, uv_strerror(rc));
    }
    server->port = ntohs(bound.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&bound)->sin6_port
                                                     : ((struct sockaddr_in *)&bound)->sin_port);
    return BTZ_OK;
}

int btz_net_http_server_new(struct btz_net_loop *loop,
                            const struct btz_net_http_server_options *options,
                            struct btz_net_http_server **out, struct btz_err *err)
{
    struct btz_net_http_server *server = calloc(1, sizeof(*server));
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address;
    uint64_t period;
    int rc;

    if (!server) {
        btz_panic("out of memory");
    }
    server->loop = loop;
    server->options = *options;
    period = fill_options(&server->options);
    if (uv_ip4_addr(server->options.address, options->port, &address.v4) &&
        uv_ip6_addr(server->options.address, options->port, &address.v6)) {
        rc = btz_err_set(err, BTZ_EINVAL, "\"%s\" is no IP address", server->options.address);
        free(server);
        return rc;
    }
    server->slots = calloc(server->options.max_connections, sizeof(struct connection *));
    if (!server->slots) {
        btz_panic("out of memory");
    }
    (void)uv_tcp_init(btz_net_loop_uv(loop), &server->listener);
    (void)uv_timer_init(btz_net_loop_uv(loop), &server->timer);
    server->handles = 2;
    server->listener.data = server->timer.data = server;
    rc = listen_on(server, &address.any, err);
    if (rc) {
        btz_net_http_server_free(server);
        return rc;
    }
    (void)uv_timer_start(&server->timer, on_timer, period, period);
    *out = server;
    return BTZ_OK;
}

uint16_t btz_net_http_server_port(const struct btz_net_http_server *server)
{
    return server->port;
}

bool btz_net_http_server_next(struct btz_net_http_server *server,
                              struct btz_net_http_server_event *event)
{
    struct item *item;

    btz_net_item_free(server, server->pulled);
    server->pulled = NULL;
    while ((item = server->head)) {
        server->head = item->next;
        if (!server->head) {
            server->tail = NULL;
        }
        if (!item->dropped) {
            break;
        }
        btz_net_item_free(server, item);
    }
    if (!item) {
        return false;
    }
    server->pulled = item;
    *event = item->event;
    if (event->kind == BTZ_NET_HTTP_REQUEST) {
        server->slots[event->exchange & (((uint64_t)1 << SLOT_BITS) - 1)]->item = NULL;
    }
    return true;
}

/* The connection that waits for an answer to `exchange`, which the owner knows of. */
static struct connection *find(const struct btz_net_http_server *server, uint64_t exchange)
{
    size_t slot = (size_t)(exchange & (((uint64_t)1 << SLOT_BITS) - 1));
    struct connection *c = slot < server->options.max_connections ? server->slots[slot] : NULL;

    return c && exchange && c->exchange == exchange && !c->item ? c : NULL;
}

/* Head, or head and body, as bytes to the client. */
static int send_head(struct connection *c, int status, const struct btz_http_field *fields,
                     size_t count, const struct btz_str *body)
{
    struct btz_http_field all[MAX_FIELDS + 1];
    struct btz_buf out;
    int rc;

    if (count > MAX_FIELDS || status < 200) {
        return BTZ_EINVAL;
    }
    for (size_t i = 0; i < count; i++) {
        all[i] = fields[i];
    }
    if (c->last) {
        all[count++] = (struct btz_http_field){BTZ_STR("Connection"), BTZ_STR("close")};
    }
    btz_buf_init(&out, SIZE_MAX);
    rc = body ? btz_http_write_response(&out, status, all, count, *body)
              : btz_http_write_stream(&out, status, all, count);
    if (!rc) {
        rc = btz_net_connection_send(c, btz_buf_view(&out));
    }
    btz_buf_fini(&out);
    return rc;
}

int btz_net_http_server_respond(struct btz_net_http_server *server, uint64_t exchange, int status,
                                const struct btz_http_field *fields, size_t count,
                                struct btz_str body)
{
    struct connection *c = find(server, exchange);
    int rc;

    if (!c) {
        return BTZ_ENOTFOUND;
    }
    if (c->streaming) {
        return BTZ_ESTATE;
    }
    if (c->head_only) {
        body = BTZ_STR_NONE;
    }
    rc = send_head(c, status, fields, count, &body);
    if (!rc) {
        btz_net_connection_answered(c);
    }
    return rc;
}

int btz_net_http_server_stream(struct btz_net_http_server *server, uint64_t exchange, int status,
                               const struct btz_http_field *fields, size_t count)
{
    struct connection *c = find(server, exchange);
    int rc;

    if (!c) {
        return BTZ_ENOTFOUND;
    }
    if (c->streaming) {
        return BTZ_ESTATE;
    }
    rc = send_head(c, status, fields, count, NULL);
    if (!rc) {
        c->streaming = true;
    }
    return rc;
}

/* A chunk, or with `bytes` NULL the end of the chunks. */
static int send_part(struct btz_net_http_server *server, uint64_t exchange,
                     const struct btz_str *bytes)
{
    struct connection *c = find(server, exchange);
    struct btz_buf out;
    int rc;

    if (!c) {
        return BTZ_ENOTFOUND;
    }
    if (!c->streaming) {
        return BTZ_ESTATE;
    }
    btz_buf_init(&out, SIZE_MAX);
    rc = bytes ? btz_http_write_chunk(&out, *bytes) : btz_http_write_end(&out);
    if (!rc && !c->head_only) {
        rc = btz_net_connection_send(c, btz_buf_view(&out));
    }
    btz_buf_fini(&out);
    if (!rc && !bytes) {
        btz_net_connection_answered(c);
    }
    return rc;
}

int btz_net_http_server_chunk(struct btz_net_http_server *server, uint64_t exchange,
                              struct btz_str bytes)
{
    return send_part(server, exchange, &bytes);
}

int btz_net_http_server_end(struct btz_net_http_server *server, uint64_t exchange)
{
    return send_part(server, exchange, NULL);
}

void btz_net_http_server_abort(struct btz_net_http_server *server, uint64_t exchange)
{
    struct connection *c = find(server, exchange);

    if (c) {
        btz_net_connection_close(c);
    }
}

size_t btz_net_http_server_connections(const struct btz_net_http_server *server)
{
    return server->count;
}

struct btz_net_http_server_stats btz_net_http_server_stats(const struct btz_net_http_server *server)
{
    return server->stats;
}
