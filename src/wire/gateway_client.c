/* Our client as it reaches a gateway: over the stdio of its program, or over HTTP. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "wire/gateway_int.h"

enum {
    GRACE_US = 1000000, /* for a program to end by itself */
    TRY_US = 50000,     /* between looks whether it serves */
    EXIT_US = 500000,   /* from the end of its stdout to its own */
    LOOK_US = 10000,    /* between looks for that */
    PROBE_US = 5000000, /* a gateway that says nothing to server/discover is of the older era */
    READS_A_STEP = 16,
    MAX_HEADERS = 64,
    KEPT_LINE = 200
};

/* ---- The program ---- */

static int free_port(uint16_t *port, struct btz_err *err)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool fine;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fine = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
           getsockname(fd, (struct sockaddr *)&address, &len) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    if (!fine) {
        return btz_err_set(err, BTZ_EIO, "there is no free port for the gateway: %s",
                           strerror(errno));
    }
    *port = ntohs(address.sin_port);
    return BTZ_OK;
}

static bool port_is_promised(const struct btz_gateway_conn *conn)
{
    for (const struct btz_gateway_conn *c = conn->gateway->conns; c; c = c->next) {
        if (c != conn && c->port == conn->port) {
            return true;
        }
    }
    return false;
}

static bool accepts(int family, uint16_t port)
{
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 six = {
        .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = in6addr_loopback};
    struct sockaddr *address =
        family == AF_INET ? (struct sockaddr *)&four : (struct sockaddr *)&six;
    socklen_t size = family == AF_INET ? sizeof(four) : sizeof(six);
    struct sockaddr_storage own = {0};
    socklen_t len = sizeof(own);
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool fine;

    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    /* A port that nobody listens on may be given to this very socket, which then meets itself. */
    fine = fd >= 0 && connect(fd, address, size) == 0 &&
           getsockname(fd, (struct sockaddr *)&own, &len) == 0 && memcmp(&own, address, size) != 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return fine;
}

static int start(struct btz_gateway_conn *conn, const char **argv, bool http, struct btz_err *err)
{
    struct btz_proc_options options = {.argv = argv};
    int rc = btz_proc_start(&options, &conn->proc, err);

    for (int i = 0; rc == BTZ_OK && i < 3; i++) {
        rc = btz_net_watch_new(conn->gateway->loop, btz_proc_fd(conn->proc, (enum btz_proc_pipe)i),
                               &conn->watches[i], err);
    }
    if (rc == BTZ_OK) {
        btz_net_watch_set(conn->watches[BTZ_PROC_OUT], true, false);
        btz_net_watch_set(conn->watches[BTZ_PROC_ERR], true, false);
    }
    if (rc == BTZ_OK && http) {
        conn->try_us = btz_clock_mono_us();
    }
    return rc;
}

/* ---- HTTP ---- */

static struct exchange *find_exchange(struct btz_gateway_conn *conn, uint64_t id)
{
    for (size_t i = 0; i < GATEWAY_EXCHANGES; i++) {
        if (conn->exchanges[i].id == id) {
            return &conn->exchanges[i];
        }
    }
    return NULL;
}

/* Requests of all connections share one HTTP client: their numbers hold the connection's. */
static struct btz_gateway_conn *owner_of(struct btz_gateway *gateway, uint64_t id)
{
    for (struct btz_gateway_conn *conn = gateway->conns; conn; conn = conn->next) {
        if (conn->serial == id >> 32) {
            return conn;
        }
    }
    return NULL;
}

static uint64_t shared_id(const struct btz_gateway_conn *conn, uint64_t id)
{
    return conn->serial << 32 | (id & UINT32_MAX);
}

static void begin(struct btz_gateway_conn *conn, const struct btz_mcp_http_exchange *exchange)
{
    struct exchange *own = find_exchange(conn, 0);
    struct btz_net_http_header headers[MAX_HEADERS];
    struct btz_net_http_request request = {
        .id = shared_id(conn, exchange->id),
        .method = btz_str_of(btz_mcp_http_method_name(exchange->method)),
        .headers = headers,
        .header_count = exchange->field_count,
        .stream = true,
    };
    struct btz_buf url;
    bool begun = false;

    if (own && exchange->field_count <= MAX_HEADERS) {
        for (size_t i = 0; i < exchange->field_count; i++) {
            headers[i] =
                (struct btz_net_http_header){exchange->fields[i].name, exchange->fields[i].value};
        }
        *own = (struct exchange){.id = exchange->id};
        btz_buf_init(&own->body, GATEWAY_OUT_MAX);
        btz_buf_init(&url, GATEWAY_CHUNK);
        (void)btz_buf_printf(&url, "%.*s%.*s", BTZ_FMT(conn->origin), BTZ_FMT(exchange->target));
        request.url = btz_buf_view(&url);
        begun = btz_buf_add_str(&own->body, exchange->body) == BTZ_OK;
        request.body = btz_buf_view(&own->body);
        begun = begun &&
                btz_net_http_start(conn->gateway->http, &request, &own->transfer, NULL) == BTZ_OK;
        btz_buf_fini(&url);
        if (!begun) {
            btz_buf_fini(&own->body);
            own->id = 0;
        }
    }
    if (!begun) {
        (void)!btz_mcp_http_session_response_end(conn->session, exchange->id, BTZ_MCP_HTTP_REFUSED);
    }
}

static int session_open(struct btz_gateway_conn *conn, struct btz_err *err)
{
    struct btz_mcp_http_session_options options = conn->options.http;
    int rc;

    options.host = btz_str_sub(conn->origin, strlen("http://"), conn->origin.len);
    options.target = conn->target;
    options.now_us = btz_clock_mono_us();
    rc = btz_mcp_http_session_new(&options, &conn->session, err);
    if (rc != BTZ_OK) {
        return rc;
    }
    conn->client = btz_mcp_http_session_client(conn->session);
    if (!conn->try_us && btz_mcp_http_session_start(conn->session) != BTZ_OK) {
        rc = btz_err_set(err, BTZ_EINTERNAL, "the handshake could not start");
    }
    return rc;
}

bool client_side_results(struct btz_gateway *gateway)
{
    struct btz_net_http_part part;
    struct btz_net_http_done done;
    bool moved = false;

    while (btz_net_http_next_part(gateway->http, &part)) {
        struct btz_gateway_conn *conn = owner_of(gateway, part.id);
        uint64_t id = part.id & UINT32_MAX;
        struct exchange *own = conn ? find_exchange(conn, id) : NULL;

        moved = true;
        if (own && part.kind == BTZ_NET_HTTP_PART_HEAD) {
            own->begun = conn->greeted = true;
            (void)!btz_mcp_http_session_response_head(conn->session, id, &part.head);
        } else if (own) {
            (void)!btz_mcp_http_session_response_body(conn->session, id, part.bytes);
        }
    }
    while (btz_net_http_next(gateway->http, &done)) {
        struct btz_gateway_conn *conn = owner_of(gateway, done.id);
        uint64_t id = done.id & UINT32_MAX;
        struct exchange *own = conn ? find_exchange(conn, id) : NULL;

        moved = true;
        if (own && done.status != BTZ_OK && done.status != BTZ_ECANCELLED) {
            (void)snprintf(conn->trouble, sizeof(conn->trouble), "%s", done.text);
        }
        if (own && conn->port && !conn->greeted && done.status != BTZ_OK) {
            conn->again = true; /* it is not ready yet, whatever its port said */
        } else if (own) {
            (void)!btz_mcp_http_session_response_end(conn->session, id,
                                                     !done.connected ? BTZ_MCP_HTTP_REFUSED
                                                     : done.status == BTZ_OK && own->begun
                                                         ? BTZ_MCP_HTTP_WHOLE
                                                         : BTZ_MCP_HTTP_BROKEN);
        }
        if (own) {
            btz_buf_fini(&own->body);
            own->id = 0;
        }
        btz_net_http_done_fini(&done);
    }
    return moved;
}

static void session_drop(struct btz_gateway_conn *conn)
{
    for (size_t i = 0; i < GATEWAY_EXCHANGES; i++) {
        if (conn->exchanges[i].id) {
            btz_net_http_cancel(conn->exchanges[i].transfer);
        }
    }
    (void)client_side_results(conn->gateway); /* frees the bodies of what was cancelled */
    btz_mcp_http_session_free(conn->session);
    conn->session = NULL;
    conn->client = NULL;
}

/* The handshake anew, in a while: programs open their port, close it and open it again. */
static void session_again(struct btz_gateway_conn *conn)
{
    struct btz_err err;

    session_drop(conn);
    conn->again = false;
    conn->serial = ++conn->gateway->serials;
    conn->try_us = btz_clock_mono_us() + TRY_US;
    if (session_open(conn, &err) != BTZ_OK) { /* it could before */
        btz_panic("gateway: %s", err.msg);
    }
}

static bool session_step(struct btz_gateway_conn *conn)
{
    struct btz_mcp_http_exchange exchange;
    bool moved = false;
    uint64_t id;

    btz_mcp_http_session_tick(conn->session, btz_clock_mono_us());
    while (btz_mcp_http_session_next_close(conn->session, &id)) {
        struct exchange *own = find_exchange(conn, id);

        moved = true;
        if (own) {
            btz_net_http_cancel(own->transfer); /* its result frees it */
        }
    }
    while (btz_mcp_http_session_next_request(conn->session, &exchange)) {
        moved = true;
        begin(conn, &exchange);
    }
    return moved;
}

/* A program that is to serve HTTP: the handshake begins once its port takes connections. */
static bool look_for_port(struct btz_gateway_conn *conn)
{
    int64_t now = btz_clock_mono_us();
    bool four;

    if (now < conn->try_us) {
        return false;
    }
    four = accepts(AF_INET, conn->port);
    if (!four && !accepts(AF_INET6, conn->port)) {
        conn->try_us = now + TRY_US;
        return false;
    }
    if (!four) { /* "localhost" may be [::1] alone; for the Host field that is the same name */
        conn->origin = btz_arena_printf(conn->arena, "http://[::1]:%u", (unsigned)conn->port);
    }
    conn->try_us = 0;
    if (btz_mcp_http_session_start(conn->session) != BTZ_OK) {
        gateway_break(conn, "the handshake could not start");
    }
    return true;
}

/* ---- Lines ---- */

static void take_line(struct btz_gateway_conn *conn, struct btz_str line)
{
    uint64_t before = btz_mcp_client_stats(conn->client).unreadable;

    if (btz_mcp_client_feed(conn->client, line) == BTZ_ELIMIT) {
        gateway_break(conn, "the gateway asks for more than can be answered");
    }
    if (!conn->bad_line.len && btz_mcp_client_stats(conn->client).unreadable > before) {
        conn->bad_line = btz_arena_dup(conn->arena, btz_str_sub(line, 0, KEPT_LINE));
    }
}

static void take_bytes(struct btz_gateway_conn *conn, struct btz_str bytes)
{
    struct btz_str line;
    int rc;

    if (btz_mcp_frame_feed(&conn->frame, bytes) != BTZ_OK) {
        gateway_break(conn, "the gateway wrote a line that is too long");
        return;
    }
    while ((rc = btz_mcp_frame_next(&conn->frame, &line)) == BTZ_OK && !conn->broken[0]) {
        take_line(conn, line);
    }
    if (rc == BTZ_ELIMIT) {
        gateway_break(conn, "the gateway wrote a line that is too long");
    }
}

static void drop_watch(struct btz_gateway_conn *conn, enum btz_proc_pipe which)
{
    btz_net_watch_free(conn->watches[which]);
    conn->watches[which] = NULL;
}

/* stdout of the program: messages, or, where it serves HTTP, a log that nobody reads. */
static bool read_out(struct btz_gateway_conn *conn)
{
    char *chunk = conn->gateway->chunk;
    bool moved = false;

    for (int i = 0; i < READS_A_STEP && conn->watches[BTZ_PROC_OUT]; i++) {
        ptrdiff_t got = btz_proc_read(conn->proc, chunk, GATEWAY_CHUNK);

        if (got == BTZ_EAGAIN) {
            break;
        }
        moved = true;
        if (got == 0) {
            drop_watch(conn, BTZ_PROC_OUT);
            conn->eof_us = btz_clock_mono_us();
        } else if (!conn->session && !conn->broken[0]) {
            take_bytes(conn, (struct btz_str){chunk, (size_t)got});
        }
    }
    return moved;
}

static bool write_in(struct btz_gateway_conn *conn)
{
    struct btz_str message;
    bool moved = false;
    bool waits;

    while (!conn->session && btz_mcp_client_next_out(conn->client, &message)) {
        moved = true;
        if (btz_proc_send(conn->proc, message) != BTZ_OK ||
            btz_proc_send(conn->proc, BTZ_STR("\n")) != BTZ_OK) {
            gateway_break(conn, "the gateway does not read what it is sent");
        }
    }
    if (!conn->watches[BTZ_PROC_IN]) {
        return moved;
    }
    /* The pipe may be closed below: the watch has to go before. */
    btz_net_watch_set(conn->watches[BTZ_PROC_IN], false, false);
    waits = btz_proc_flush(conn->proc);
    if (btz_proc_fd(conn->proc, BTZ_PROC_IN) < 0) {
        drop_watch(conn, BTZ_PROC_IN);
    } else {
        btz_net_watch_set(conn->watches[BTZ_PROC_IN], false, waits);
    }
    return moved;
}

/* ---- Both ---- */

/* A program that is gone, or that says no more, ends the connection, after all it said was read. */
static bool notice_end(struct btz_gateway_conn *conn)
{
    struct btz_str how = BTZ_STR_NONE;

    if (conn->broken[0]) {
        return false;
    }
    if (btz_proc_ended(conn->proc, &how)) {
        gateway_break(conn, "the gateway %.*s", BTZ_FMT(how));
    } else if (!conn->session && conn->eof_us && btz_clock_mono_us() - conn->eof_us > EXIT_US) {
        gateway_break(conn, "the gateway closed its stdout");
    }
    return conn->broken[0] != '\0';
}

void client_side_drain(struct btz_gateway_conn *conn)
{
    (void)btz_proc_drain(conn->proc);
    if (conn->watches[BTZ_PROC_ERR] && btz_proc_fd(conn->proc, BTZ_PROC_ERR) < 0) {
        drop_watch(conn, BTZ_PROC_ERR);
    }
}

static bool proc_step(struct btz_gateway_conn *conn)
{
    bool moved = write_in(conn);

    moved = read_out(conn) || moved;
    client_side_drain(conn); /* moves nothing that matters: a flood does not end a wait */
    return notice_end(conn) || moved;
}

bool client_side_step(struct btz_gateway_conn *conn)
{
    bool was_broken = conn->broken[0] != '\0';
    bool moved = false;

    if (conn->proc) {
        moved = proc_step(conn);
    }
    if (conn->again && !conn->broken[0]) {
        session_again(conn);
    }
    if (conn->session && conn->try_us && !conn->broken[0]) {
        moved = look_for_port(conn) || moved;
    }
    if (conn->session && !conn->try_us) {
        moved = session_step(conn) || moved;
    }
    if (conn->probe_us && btz_clock_mono_us() >= conn->probe_us) {
        conn->probe_us = 0;
        moved = btz_mcp_client_probe_timeout(conn->client) == BTZ_OK || moved;
    }
    if (conn->broken[0] && !was_broken) { /* whoever waits for an answer hears of it */
        if (conn->session) {
            btz_mcp_http_session_close(conn->session);
        } else {
            btz_mcp_client_close(conn->client);
        }
    }
    return moved;
}

void client_side_due(struct btz_gateway_conn *conn)
{
    int64_t wake = conn->session && !conn->try_us
                       ? btz_mcp_http_session_wake_at_us(conn->session, NULL)
                   : conn->try_us ? conn->try_us
                                  : -1;

    if (wake >= 0) {
        btz_net_loop_wake_at(conn->gateway->loop, wake);
    }
    if (conn->eof_us && !conn->broken[0]) {
        btz_net_loop_wake_at(conn->gateway->loop, btz_clock_mono_us() + LOOK_US);
    }
    if (conn->probe_us) {
        btz_net_loop_wake_at(conn->gateway->loop, conn->probe_us);
    }
}

static int lines_open(struct btz_gateway_conn *conn, struct btz_err *err)
{
    int rc = btz_mcp_client_new(&conn->options.client, &conn->client, err);

    if (rc == BTZ_OK && btz_mcp_client_start(conn->client) != BTZ_OK) {
        rc = btz_err_set(err, BTZ_EINTERNAL, "the handshake could not start");
    }
    if (conn->options.client.mode == BTZ_MCP_CLIENT_PROBE) {
        conn->probe_us = btz_clock_mono_us() + PROBE_US;
    }
    return rc;
}

int client_side_open(struct btz_gateway_conn *conn, struct btz_err *err)
{
    struct btz_gateway *gateway = conn->gateway;
    struct target target = {0};
    int rc = BTZ_OK;

    if (target_has(gateway->options.target, "port")) {
        do { /* none that another program of this trial is about to take */
            rc = free_port(&conn->port, err);
        } while (rc == BTZ_OK && port_is_promised(conn));
    }
    rc = rc ? rc : target_make(conn->arena, &gateway->options, conn, conn->port, &target, err);
    if (rc == BTZ_OK && target.http && !gateway->http) {
        struct btz_net_http_options sockets = {0};

        rc = btz_net_http_new(gateway->loop, &sockets, &gateway->http, err);
    }
    if (rc == BTZ_OK && target.argv) {
        rc = start(conn, target.argv, target.http, err);
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    conn->serial = ++gateway->serials;
    conn->origin = btz_arena_dup(conn->arena, target.origin);
    conn->target = btz_arena_dup(conn->arena, target.path);
    return target.http ? session_open(conn, err) : lines_open(conn, err);
}

void client_side_end(struct btz_gateway_conn *conn)
{
    if (conn->proc) {
        drop_watch(conn, BTZ_PROC_IN); /* before its pipe is closed */
        btz_proc_end(conn->proc);
    }
}

void client_side_close(struct btz_gateway_conn *conn)
{
    if (conn->session) {
        session_drop(conn);
    } else {
        btz_mcp_client_free(conn->client);
    }
    for (int i = 0; i < 3; i++) {
        drop_watch(conn, (enum btz_proc_pipe)i);
    }
    btz_proc_free(conn->proc, GRACE_US);
}
