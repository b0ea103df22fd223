/* Our HTTP client session as a program, for tests with other people's servers on 127.0.0.1. Every
 * event is a line of JSON on stdout. It runs one fixed sequence: handshake, tools/list, a call of
 * add, a call of a tool that does not exist, a call of slow (progress, then the result, perhaps
 * over a resumed stream), then a listen stream (modern) or a ping (legacy), and closes.
 *
 *   mcp_http_driver legacy|modern|probe PORT PATH streamable|then-sse|sse */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "mcp/http_session.h"

enum { CONNECTIONS = 16, PATIENCE_MS = 15000 };

struct connection {
    int fd; /* -1 = free */
    uint64_t exchange;
    struct btz_http_parser *parser;
};

struct driver {
    struct btz_mcp_http_session *session;
    struct btz_mcp_client *client;
    struct btz_arena *arena;
    struct connection connections[CONNECTIONS];
    uint16_t port;
    unsigned step;
    bool done, failed;
};

static const char *const kinds[] = {
    [BTZ_MCP_CLIENT_READY] = "ready",
    [BTZ_MCP_CLIENT_FAILED] = "failed",
    [BTZ_MCP_CLIENT_TOOLS] = "tools",
    [BTZ_MCP_CLIENT_RESULT] = "result",
    [BTZ_MCP_CLIENT_LISTENING] = "listening",
    [BTZ_MCP_CLIENT_LISTEN_ENDED] = "listen ended",
    [BTZ_MCP_CLIENT_LIST_CHANGED] = "list changed",
    [BTZ_MCP_CLIENT_PROGRESS] = "progress",
    [BTZ_MCP_CLIENT_PROTOCOL_ERROR] = "protocol error",
};

static void report(struct driver *d, const struct btz_mcp_client_event *event)
{
    struct btz_json *line = btz_json_new_object(d->arena);
    const char *kind =
        (size_t)event->kind < sizeof(kinds) / sizeof(kinds[0]) ? kinds[event->kind] : NULL;

    btz_json_set_strz(d->arena, line, "event", kind ? kind : "other");
    if (event->value) {
        btz_json_setz(d->arena, line, "value", event->value);
    }
    if (event->kind == BTZ_MCP_CLIENT_READY) {
        btz_json_set_strz(d->arena, line, "revision", btz_mcp_revision_text(event->revision));
        btz_json_set_bool(d->arena, line, "fellBack", event->fell_back);
        btz_json_set_str(d->arena, line, "session", btz_mcp_http_session_id(d->session));
    }
    if (event->fault) {
        btz_json_set_int(d->arena, line, "fault", event->fault);
        btz_json_set_int(d->arena, line, "code", event->code);
    }
    if (event->message.len) {
        btz_json_set_str(d->arena, line, "message", event->message);
    }
    printf("%s\n", btz_json_text(d->arena, line).ptr);
    fflush(stdout);
}

static int next_step(struct driver *d)
{
    bool modern = btz_mcp_era_of(btz_mcp_client_revision(d->client)) == BTZ_MCP_MODERN;
    struct btz_json *arguments = btz_json_new_object(d->arena);

    switch (d->step++) {
    case 0:
        return btz_mcp_client_list_tools(d->client, NULL);
    case 1:
        btz_json_set_int(d->arena, arguments, "a", 40);
        btz_json_set_int(d->arena, arguments, "b", 2);
        return btz_mcp_client_call_tool(d->client, BTZ_STR("add"), arguments, NULL);
    case 2:
        return btz_mcp_client_call_tool(d->client, BTZ_STR("none"), arguments, NULL);
    case 3:
        return btz_mcp_client_call_tool(d->client, BTZ_STR("slow"), arguments, NULL);
    case 4:
        return modern ? btz_mcp_client_listen(d->client, BTZ_MCP_LIST_TOOLS, NULL)
                      : btz_mcp_client_ping(d->client, NULL);
    default:
        d->done = true;
        return BTZ_OK;
    }
}

static void take_events(struct driver *d)
{
    struct btz_mcp_client_event event;

    while (btz_mcp_client_next_event(d->client, &event)) {
        btz_arena_reset(d->arena);
        report(d, &event);
        switch (event.kind) {
        case BTZ_MCP_CLIENT_FAILED:
            d->failed = true;
            break;
        case BTZ_MCP_CLIENT_READY:
        case BTZ_MCP_CLIENT_TOOLS:
        case BTZ_MCP_CLIENT_RESULT:
        case BTZ_MCP_CLIENT_LISTENING:
            d->failed |= !d->done && next_step(d) != BTZ_OK;
            break;
        default:
            break;
        }
    }
}

static void drop(struct connection *c)
{
    (void)close(c->fd);
    c->fd = -1;
    btz_http_parser_free(c->parser);
    c->parser = NULL;
}

static void end(struct driver *d, struct connection *c, enum btz_mcp_http_end how)
{
    uint64_t id = c->exchange;

    drop(c);
    (void)!btz_mcp_http_session_response_end(d->session, id, how);
}

/* Blocking: the requests are small and the server is on this machine. */
static bool send_all(int fd, struct btz_str bytes)
{
    while (bytes.len) {
        ssize_t n = send(fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);

        if (n < 0 && errno != EINTR) {
            return false;
        }
        bytes = btz_str_sub(bytes, n > 0 ? (size_t)n : 0, bytes.len);
    }
    return true;
}

static bool begin(struct driver *d, const struct btz_mcp_http_exchange *x)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(d->port)};
    struct connection *c = d->connections;
    struct btz_buf bytes;
    bool sent;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    while (c < d->connections + CONNECTIONS && c->fd >= 0) {
        c++;
    }
    if (c == d->connections + CONNECTIONS) {
        return false;
    }
    btz_buf_init(&bytes, 1 << 20);
    if (btz_http_write_request(&bytes, btz_str_of(btz_mcp_http_method_name(x->method)), x->target,
                               x->fields, x->field_count, x->body)) {
        btz_panic("mcp_http_driver: a request cannot be written");
    }
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    c->exchange = x->id;
    c->parser = btz_http_parser_new(BTZ_HTTP_RESPONSES, NULL);
    sent = connect(c->fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
           send_all(c->fd, btz_buf_view(&bytes));
    btz_buf_fini(&bytes);
    if (!sent) {
        end(d, c, BTZ_MCP_HTTP_REFUSED);
    }
    return true;
}

static void take_outputs(struct driver *d)
{
    struct btz_mcp_http_exchange x;
    uint64_t id;

    while (btz_mcp_http_session_next_close(d->session, &id)) {
        for (int i = 0; i < CONNECTIONS; i++) {
            if (d->connections[i].fd >= 0 && d->connections[i].exchange == id) {
                drop(&d->connections[i]);
            }
        }
    }
    while (btz_mcp_http_session_next_request(d->session, &x)) {
        if (!begin(d, &x)) {
            d->failed = true;
        }
    }
}

static void take_bytes(struct driver *d, struct connection *c, struct btz_str bytes)
{
    enum btz_http_event event = BTZ_HTTP_MORE;
    struct btz_str body;

    do {
        const struct btz_http_head *head;

        if (btz_http_parser_next(c->parser, &bytes, &event, &body, NULL)) {
            end(d, c, BTZ_MCP_HTTP_BROKEN);
            return;
        }
        head = btz_http_parser_head(c->parser);
        if (event == BTZ_HTTP_HEAD) {
            (void)!btz_mcp_http_session_response_head(d->session, c->exchange, head);
        } else if (event == BTZ_HTTP_BODY) {
            (void)!btz_mcp_http_session_response_body(d->session, c->exchange, body);
        } else if (event == BTZ_HTTP_END && head->status >= 200) {
            end(d, c, BTZ_MCP_HTTP_WHOLE);
            return;
        }
    } while (event != BTZ_HTTP_MORE);
}

static void read_connection(struct driver *d, struct connection *c)
{
    char chunk[4096];
    ssize_t n = recv(c->fd, chunk, sizeof(chunk), 0);
    bool whole = false;

    if (n > 0) {
        take_bytes(d, c, (struct btz_str){chunk, (size_t)n});
    } else if (n == 0 || errno != EINTR) {
        int rc = btz_http_parser_eof(c->parser, &whole, NULL);

        end(d, c, rc == BTZ_OK && whole ? BTZ_MCP_HTTP_WHOLE : BTZ_MCP_HTTP_BROKEN);
    }
}

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static bool wait_and_read(struct driver *d)
{
    struct pollfd items[CONNECTIONS];
    int64_t wake = btz_mcp_http_session_wake_at_us(d->session, NULL);
    int64_t wait_ms = wake < 0 ? PATIENCE_MS : (wake - now_us()) / 1000 + 1;
    int ready;

    for (int i = 0; i < CONNECTIONS; i++) {
        items[i] = (struct pollfd){.fd = d->connections[i].fd, .events = POLLIN};
    }
    ready = poll(items, CONNECTIONS, wait_ms < 0 ? 0 : (int)wait_ms);
    btz_mcp_http_session_tick(d->session, now_us());
    for (int i = 0; i < CONNECTIONS && ready > 0; i++) {
        if (items[i].revents && d->connections[i].fd == items[i].fd) {
            read_connection(d, &d->connections[i]);
        }
    }
    return ready > 0 || wake >= 0;
}

static int run(struct driver *d)
{
    bool fine = btz_mcp_http_session_start(d->session) == BTZ_OK;

    while (fine && !d->done && !d->failed) {
        take_outputs(d);
        fine = wait_and_read(d);
        take_events(d);
    }
    btz_mcp_http_session_close(d->session);
    take_outputs(d);
    while (fine && !btz_mcp_http_session_settled(d->session)) {
        fine = wait_and_read(d);
        take_outputs(d);
    }
    printf("{\"event\":\"closed\",\"resumed\":%llu,\"status\":%d,\"flags\":%u}\n",
           (unsigned long long)btz_mcp_http_session_stats(d->session).resumed,
           btz_mcp_http_session_stats(d->session).last_error_status,
           btz_mcp_http_session_take_flags(d->session));
    return d->done && fine ? 0 : 1;
}

static int named(const char *name, const char *const *names, int count)
{
    int i = 0;

    while (i < count && strcmp(name, names[i]) != 0) {
        i++;
    }
    return i < count ? i : -1;
}

int main(int argc, char **argv)
{
    static const char *const modes[] = {"legacy", "modern", "probe"};
    static const char *const transports[] = {"streamable", "then-sse", "sse"};
    struct btz_mcp_http_session_options options = {.client = {.name = BTZ_STR("mcp_http_driver"),
                                                              .version = BTZ_STR("1.0.0"),
                                                              .progress = true}};
    struct driver d = {.arena = btz_arena_new()};
    char host[64];
    struct btz_err err;
    int mode = argc == 5 ? named(argv[1], modes, 3) : -1;
    int transport = argc == 5 ? named(argv[4], transports, 3) : -1;
    int64_t port = 0;
    int status;

    if (mode < 0 || transport < 0 || btz_str_int64(btz_str_of(argv[2]), &port) || port < 1 ||
        port > 65535) {
        fprintf(stderr, "usage: mcp_http_driver legacy|modern|probe PORT PATH "
                        "streamable|then-sse|sse\n");
        return 2;
    }
    d.port = (uint16_t)port;
    for (int i = 0; i < CONNECTIONS; i++) {
        d.connections[i].fd = -1;
    }
    snprintf(host, sizeof(host), "127.0.0.1:%d", (int)port);
    options.host = btz_str_of(host);
    options.target = btz_str_of(argv[3]);
    options.now_us = now_us();
    options.transport = (enum btz_mcp_http_transport)transport;
    options.client.mode = (enum btz_mcp_client_mode)mode;
    if (btz_mcp_http_session_new(&options, &d.session, &err)) {
        btz_panic("mcp_http_driver: %s", err.msg);
    }
    d.client = btz_mcp_http_session_client(d.session);
    status = run(&d);
    for (int i = 0; i < CONNECTIONS; i++) {
        if (d.connections[i].fd >= 0) {
            drop(&d.connections[i]);
        }
    }
    btz_mcp_http_session_free(d.session);
    btz_arena_free(d.arena);
    return status;
}
