/* Our servers as a gateway reaches them: an HTTP listener for all, and a socket for each. */
#include <errno.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "wire/gateway_int.h"

enum { SECRET_BYTES = 32, NAME_BYTES = 16, READS_A_STEP = 16 };

/* ---- HTTP ---- */

int server_side_listen(struct btz_gateway *gateway, struct btz_err *err)
{
    const struct btz_gateway_options *options = &gateway->options;
    struct btz_net_http_server_options http = {
        .address = btz_arena_cstr(gateway->arena, options->address), .port = options->port};

    if (!btz_str_is(options->address, "127.0.0.1") && !btz_str_is(options->address, "::1")) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "servers are offered to a gateway on 127.0.0.1 or [::1] only: they have "
                           "no authentication");
    }
    return btz_net_http_server_new(gateway->loop, &http, &gateway->site, err);
}

static struct btz_gateway_conn *conn_at(struct btz_gateway *gateway, struct btz_str target)
{
    struct btz_str path = target;

    (void)btz_str_cut(&target, '?', &path);
    for (struct btz_gateway_conn *conn = gateway->conns; conn; conn = conn->next) {
        if (btz_str_eq(conn->path, path)) {
            return conn;
        }
    }
    return NULL;
}

static struct open *find_open(struct btz_gateway *gateway, uint64_t exchange)
{
    for (size_t i = 0; i < GATEWAY_OPEN; i++) {
        if (gateway->open[i].exchange == exchange) {
            return &gateway->open[i];
        }
    }
    return NULL;
}

static void take_request(struct btz_gateway *gateway, const struct btz_net_http_server_event *event)
{
    struct btz_gateway_conn *conn = conn_at(gateway, event->head->target);
    struct open *open = find_open(gateway, 0);

    if (!conn || !open) {
        (void)!btz_net_http_server_respond(gateway->site, event->exchange, conn ? 503 : 404, NULL,
                                           0, BTZ_STR_NONE);
    } else if (btz_mcp_endpoint_request(conn->endpoint, event->exchange, event->head, event->body,
                                        BTZ_STR(""), btz_clock_mono_us()) != BTZ_OK) {
        (void)!btz_net_http_server_respond(gateway->site, event->exchange, 503, NULL, 0,
                                           BTZ_STR_NONE);
    } else {
        *open = (struct open){event->exchange, conn};
    }
}

static void closed(struct btz_gateway *gateway, uint64_t exchange)
{
    struct open *open = find_open(gateway, exchange);

    if (open) {
        btz_mcp_endpoint_closed(open->conn->endpoint, exchange, btz_clock_mono_us());
        open->exchange = 0;
    }
}

/* Gives one thing of an endpoint to the connection; what it does not take is over. */
static void put_out(struct btz_gateway *gateway, const struct btz_mcp_endpoint_out *out)
{
    uint64_t exchange = out->exchange;
    struct open *open = find_open(gateway, exchange);
    bool over = out->kind != BTZ_MCP_OUT_STREAM && out->kind != BTZ_MCP_OUT_STREAM_DATA;
    int rc = BTZ_OK;

    if (!open) {
        return;
    }
    switch (out->kind) {
    case BTZ_MCP_OUT_RESPONSE:
        rc = btz_net_http_server_respond(gateway->site, exchange, out->status, out->fields,
                                         out->field_count, out->bytes);
        break;
    case BTZ_MCP_OUT_STREAM:
        rc = btz_net_http_server_stream(gateway->site, exchange, out->status, out->fields,
                                        out->field_count);
        break;
    case BTZ_MCP_OUT_STREAM_DATA:
        rc = btz_net_http_server_chunk(gateway->site, exchange, out->bytes);
        break;
    case BTZ_MCP_OUT_STREAM_END:
        rc = btz_net_http_server_end(gateway->site, exchange);
        break;
    default:
        btz_net_http_server_abort(gateway->site, exchange);
        break;
    }
    if (over) {
        open->exchange = 0;
    } else if (rc != BTZ_OK) {
        closed(gateway, exchange);
    }
}

bool server_side_step(struct btz_gateway *gateway)
{
    struct btz_net_http_server_event event;
    bool moved = false;

    while (btz_net_http_server_next(gateway->site, &event)) {
        moved = true;
        if (event.kind == BTZ_NET_HTTP_REQUEST) {
            take_request(gateway, &event);
        } else {
            closed(gateway, event.exchange);
        }
    }
    for (struct btz_gateway_conn *conn = gateway->conns; conn; conn = conn->next) {
        struct btz_mcp_endpoint_out out;

        btz_mcp_endpoint_tick(conn->endpoint, btz_clock_mono_us());
        while (btz_mcp_endpoint_next_out(conn->endpoint, &out)) {
            moved = true;
            put_out(gateway, &out);
        }
    }
    return moved;
}

/* ---- stdio by way of `connect` ---- */

static void stream_free(struct stream *stream)
{
    if (stream->fd < 0) {
        return;
    }
    btz_net_watch_free(stream->watch);
    (void)close(stream->fd);
    btz_mcp_server_free(stream->machine);
    btz_mcp_frame_fini(&stream->frame);
    btz_buf_fini(&stream->out);
    *stream = (struct stream){.fd = -1};
}

/* Only processes of the same user may connect; the kernel says who they are. */
static bool is_own_user(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.uid == geteuid();
}

static bool accept_one(struct btz_gateway_conn *conn)
{
    struct stream *stream = conn->streams;
    struct btz_mcp_server_options options = conn->options.server.server;
    int fd = accept4(conn->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0) {
        return false;
    }
    while (stream < conn->streams + GATEWAY_STREAMS && stream->fd >= 0) {
        stream++;
    }
    if (stream == conn->streams + GATEWAY_STREAMS || !is_own_user(fd)) {
        (void)close(fd);
        return true;
    }
    options.carrier = BTZ_MCP_CARRIER_STDIO;
    if (btz_mcp_server_new(&options, &conn->catalogue, &stream->machine, NULL) != BTZ_OK) {
        (void)close(fd);
        return true;
    }
    if (btz_net_watch_new(conn->gateway->loop, fd, &stream->watch, NULL) != BTZ_OK) {
        btz_mcp_server_free(stream->machine);
        (void)close(fd);
        return true;
    }
    stream->fd = fd;
    btz_mcp_frame_init(&stream->frame, 0);
    btz_buf_init(&stream->out, GATEWAY_OUT_MAX);
    btz_net_watch_set(stream->watch, true, false);
    return true;
}

static bool stream_read(struct stream *stream, char *chunk)
{
    bool moved = false;

    for (int i = 0; i < READS_A_STEP && !stream->closing; i++) {
        ssize_t got = recv(stream->fd, chunk, GATEWAY_CHUNK, 0);
        struct btz_str line;
        int rc;

        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            break;
        }
        moved = true;
        if (got <= 0 ||
            btz_mcp_frame_feed(&stream->frame, (struct btz_str){chunk, (size_t)got}) != BTZ_OK) {
            stream->closing = true;
            break;
        }
        while ((rc = btz_mcp_frame_next(&stream->frame, &line)) == BTZ_OK) {
            stream->closing |= btz_mcp_server_feed(stream->machine, line) != BTZ_OK;
        }
        stream->closing |= rc != BTZ_EAGAIN;
    }
    return moved;
}

static bool stream_write(struct stream *stream)
{
    struct btz_str message;
    bool moved = false;

    while (btz_mcp_server_next_out(stream->machine, &message)) {
        moved = true;
        stream->closing |= btz_mcp_frame_write(&stream->out, message) != BTZ_OK;
    }
    while (stream->out.len) {
        ssize_t put = send(stream->fd, stream->out.ptr, stream->out.len, MSG_NOSIGNAL);

        if (put > 0) {
            btz_buf_consume(&stream->out, (size_t)put);
            moved = true;
        } else if (put < 0 && errno == EAGAIN) {
            break;
        } else if (put == 0 || errno != EINTR) {
            stream->closing = true;
            break;
        }
    }
    btz_net_watch_set(stream->watch, !stream->closing, stream->out.len > 0);
    return moved;
}

bool streams_step(struct btz_gateway_conn *conn)
{
    bool moved = false;

    while (conn->listener >= 0 && accept_one(conn)) {
        moved = true;
    }
    for (int i = 0; i < GATEWAY_STREAMS; i++) {
        struct stream *stream = &conn->streams[i];

        if (stream->fd < 0) {
            continue;
        }
        moved = stream_read(stream, conn->gateway->chunk) || moved;
        moved = stream_write(stream) || moved;
        if (stream->closing) {
            stream_free(stream);
            moved = true;
        }
    }
    return moved;
}

struct sockaddr_un gateway_address(struct btz_str name, socklen_t *len)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t room = sizeof(address.sun_path) - 1;
    size_t used = name.len < room ? name.len : room;

    memcpy(address.sun_path + 1, name.ptr, used);
    *len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + used);
    return address;
}

static int listen_for_streams(struct btz_gateway_conn *conn, struct btz_err *err)
{
    unsigned char random[NAME_BYTES];
    char name[2 * NAME_BYTES + 1];
    struct sockaddr_un address;
    socklen_t len;
    int rc;

    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
        return btz_err_set(err, BTZ_EIO, "there are no random bytes for the name of a socket");
    }
    for (int i = 0; i < NAME_BYTES; i++) {
        (void)snprintf(name + 2 * i, 3, "%02x", random[i]);
    }
    conn->address = btz_arena_printf(conn->arena, "bartizan-%s", name);
    address = gateway_address(conn->address, &len);
    conn->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (conn->listener < 0 || bind(conn->listener, (struct sockaddr *)&address, len) != 0 ||
        listen(conn->listener, GATEWAY_STREAMS) != 0) {
        return btz_err_set(err, BTZ_EIO, "no socket for the gateway's server: %s", strerror(errno));
    }
    rc = btz_net_watch_new(conn->gateway->loop, conn->listener, &conn->listener_watch, err);
    if (rc == BTZ_OK) {
        btz_net_watch_set(conn->listener_watch, true, false);
    }
    return rc;
}

/* ---- Both ---- */

int server_side_open(struct btz_gateway_conn *conn, const struct btz_mcp_catalogue *catalogue,
                     struct btz_err *err)
{
    struct btz_gateway *gateway = conn->gateway;
    struct btz_mcp_endpoint_options options = conn->options.server;
    bool six = btz_str_is(gateway->options.address, "::1");
    char secret[SECRET_BYTES];
    int rc;

    if (getrandom(secret, sizeof(secret), 0) != (ssize_t)sizeof(secret)) {
        return btz_err_set(err, BTZ_EIO, "there are no random bytes for session ids");
    }
    options.id_secret = (struct btz_str){secret, sizeof(secret)};
    conn->path = btz_arena_printf(conn->arena, "/%.*s/mcp", BTZ_FMT(conn->options.id));
    conn->url =
        btz_arena_printf(conn->arena, "http://%s:%u%.*s", six ? "[::1]" : "127.0.0.1",
                         (unsigned)btz_net_http_server_port(gateway->site), BTZ_FMT(conn->path));
    rc = btz_mcp_endpoint_new(&options, catalogue, &conn->endpoint, err);
    if (rc == BTZ_OK && !btz_gateway_is_url(gateway->options.target)) {
        rc = listen_for_streams(conn, err);
    }
    return rc;
}

void server_side_close(struct btz_gateway_conn *conn)
{
    struct btz_gateway *gateway = conn->gateway;

    for (size_t i = 0; i < GATEWAY_OPEN; i++) {
        if (gateway->open[i].exchange && gateway->open[i].conn == conn) {
            btz_net_http_server_abort(gateway->site, gateway->open[i].exchange);
            gateway->open[i].exchange = 0;
        }
    }
    for (int i = 0; i < GATEWAY_STREAMS; i++) {
        stream_free(&conn->streams[i]);
    }
    btz_net_watch_free(conn->listener_watch);
    if (conn->listener >= 0) {
        (void)close(conn->listener);
    }
    btz_mcp_endpoint_free(conn->endpoint);
}
