/* The listener against raw sockets: whole and split requests, slow and rude clients, limits. */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "net/http_server.h"

#define MS INT64_C(1000)
#define GET "GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n"
#define POST "POST /b HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello"
#define CHUNKED                                                                                    \
    "POST /c HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"                    \
    "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
#define OK_RESPONSE "HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nok"

static struct btz_net_loop *loop;
static struct btz_net_http_server *server;
static bool was_reset; /* the last `hear` ended by a reset */

static const struct btz_http_field field = {{"X-A", 3}, {"1", 1}};

static void start(struct btz_net_http_server_options options)
{
    struct btz_err err;

    if (btz_net_loop_new(&loop, &err) || btz_net_http_server_new(loop, &options, &server, &err)) {
        fail_msg("%s", err.msg);
    }
    assert_true(btz_net_http_server_port(server) > 0);
}

static int stop(void **state)
{
    (void)state;
    btz_net_http_server_free(server);
    btz_net_loop_free(loop);
    server = NULL;
    loop = NULL;
    return 0;
}

static int dial(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons(btz_net_http_server_port(server)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    return fd;
}

static void say(int fd, const char *text, size_t len)
{
    assert_int_equal(send(fd, text, len, MSG_NOSIGNAL), (ssize_t)len);
}

#define SAY(fd, text) say(fd, text, strlen(text))

/* Lets the loop work for about `ms`. */
static void work(int ms)
{
    int64_t until = btz_clock_mono_us() + ms * MS;

    do {
        btz_net_loop_wait(loop, 2 * MS);
    } while (btz_clock_mono_us() < until);
}

/* The next event, waited for at most a second. */
static bool wait_event(struct btz_net_http_server_event *event)
{
    int64_t until = btz_clock_mono_us() + 1000 * MS;

    while (!btz_net_http_server_next(server, event)) {
        if (btz_clock_mono_us() >= until) {
            return false;
        }
        btz_net_loop_wait(loop, 10 * MS);
    }
    return true;
}

static struct btz_net_http_server_event request(const char *method, const char *target,
                                                const char *body)
{
    struct btz_net_http_server_event event;

    if (!wait_event(&event)) {
        fail_msg("no event; %s %s was expected", method, target);
    }
    assert_int_equal(event.kind, BTZ_NET_HTTP_REQUEST);
    assert_true(btz_str_is(event.head->method, method));
    assert_true(btz_str_is(event.head->target, target));
    assert_true(btz_str_is(event.body, body));
    return event;
}

static void no_event(void)
{
    struct btz_net_http_server_event event;

    assert_false(btz_net_http_server_next(server, &event));
}

static void ok(uint64_t exchange)
{
    assert_int_equal(btz_net_http_server_respond(server, exchange, 200, &field, 1, BTZ_STR("ok")),
                     BTZ_OK);
}

/* Everything the server says until it has said `len` bytes, closed (then *closed), or a second
 * passed. */
static const char *hear(int fd, size_t len, bool *closed)
{
    static char text[65536];
    size_t have = 0;
    int64_t until = btz_clock_mono_us() + 1000 * MS;

    was_reset = false;
    if (closed) {
        *closed = false;
    }
    while (have < len && btz_clock_mono_us() < until) {
        ssize_t n = recv(fd, text + have, len < sizeof(text) ? len - have : sizeof(text) - 1 - have,
                         MSG_DONTWAIT);

        if (n > 0) {
            have += (size_t)n;
        } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            was_reset = n < 0;
            if (closed) {
                *closed = true;
            }
            break;
        } else {
            btz_net_loop_wait(loop, 2 * MS);
        }
    }
    text[have] = 0;
    return text;
}

static void expect(int fd, const char *want)
{
    const char *got = hear(fd, strlen(want), NULL);

    if (strcmp(got, want) != 0) {
        fail_msg("\n--- got\n%s\n--- want\n%s", got, want);
    }
}

/* A refusal with this status, after which the server closes. */
static void expect_refusal(int fd, int status)
{
    char want[32];
    bool closed;
    const char *got = hear(fd, SIZE_MAX, &closed);

    snprintf(want, sizeof(want), "HTTP/1.1 %d ", status);
    if (strncmp(got, want, strlen(want)) != 0 || !closed) {
        fail_msg("got %s (closed: %d), want %s", got, closed, want);
    }
    assert_non_null(strstr(got, "Connection: close\r\n"));
    assert_null(strstr(got + 1, "HTTP/1.1"));
    assert_false(was_reset); /* which could have eaten the answer */
    (void)close(fd);
}

static void expect_closed(int fd)
{
    bool closed;

    assert_string_equal(hear(fd, SIZE_MAX, &closed), "");
    assert_true(closed);
    (void)close(fd);
}

static void whole_requests(void **state)
{
    struct btz_net_http_server_event event;
    uint64_t first;
    int fd;

    (void)state;
    start((struct btz_net_http_server_options){0});
    fd = dial();
    SAY(fd, GET);
    event = request("GET", "/a", "");
    assert_true(btz_str_is(btz_http_field_get(event.head, "host", NULL), "localhost"));
    ok(event.exchange);
    expect(fd, OK_RESPONSE);
    SAY(fd, POST); /* the connection stays */
    first = event.exchange;
    event = request("POST", "/b", "hello");
    assert_int_equal(btz_net_http_server_respond(server, first, 200, NULL, 0, BTZ_STR_NONE),
                     BTZ_ENOTFOUND);
    ok(event.exchange);
    expect(fd, OK_RESPONSE);
    SAY(fd, CHUNKED);
    ok(request("POST", "/c", "abcde").exchange);
    expect(fd, OK_RESPONSE);
    assert_int_equal(btz_net_http_server_stats(server).connections, 1);
    assert_int_equal(btz_net_http_server_stats(server).requests, 3);
    (void)close(fd);
    work(20);
    assert_int_equal(btz_net_http_server_connections(server), 0);
    no_event(); /* nothing was open */
}

static void split_everywhere(void **state)
{
    const char *text = POST CHUNKED;
    size_t len = strlen(text);
    int fd;

    (void)state;
    start((struct btz_net_http_server_options){0});
    fd = dial();
    for (size_t at = 1; at < len; at++) {
        say(fd, text, at);
        work(0);
        say(fd, text + at, len - at);
        ok(request("POST", "/b", "hello").exchange);
        ok(request("POST", "/c", "abcde").exchange);
        expect(fd, OK_RESPONSE OK_RESPONSE);
    }
    for (size_t at = 0; at < len; at++) { /* byte by byte */
        say(fd, text + at, 1);
        work(0);
        if (at + 1 == strlen(POST)) {
            ok(request("POST", "/b", "hello").exchange);
        }
    }
    ok(request("POST", "/c", "abcde").exchange);
    expect(fd, OK_RESPONSE OK_RESPONSE);
    (void)close(fd);
}

/* Requests sent ahead are given out one at a time, so that answers cannot overtake. */
static void pipelined(void **state)
{
    struct btz_net_http_server_event event;
    int fd;

    (void)state;
    start((struct btz_net_http_server_options){0});
    fd = dial();
    for (int i = 0; i < 50; i++) {
        SAY(fd, i % 2 ? GET : POST);
    }
    for (int i = 0; i < 50; i++) {
        event = i % 2 ? request("GET", "/a", "") : request("POST", "/b", "hello");
        work(1);
        no_event();
        ok(event.exchange);
        assert_int_equal(
            btz_net_http_server_respond(server, event.exchange, 200, NULL, 0, BTZ_STR_NONE),
            BTZ_ENOTFOUND);
    }
    for (int i = 0; i < 50; i++) {
        expect(fd, OK_RESPONSE);
    }
    (void)close(fd);
}

/* Far more ahead than the server is willing to keep: it stops reading, and loses nothing. */
static void pipelined_flood(void **state)
{
    enum { COUNT = 20000 };
    size_t said = 0;
    size_t len = strlen(GET);
    int fd;

    (void)state;
    start((struct btz_net_http_server_options){0});
    fd = dial();
    for (int i = 0; i < COUNT; i++) {
        while (said < COUNT * len) {
            size_t at = said % len;
            ssize_t n = send(fd, &GET[at], len - at, MSG_DONTWAIT | MSG_NOSIGNAL);

            if (n <= 0) {
                break;
            }
            said += (size_t)n;
        }
        ok(request("GET", "/a", "").exchange);
        expect(fd, OK_RESPONSE);
    }
    assert_int_equal(said, COUNT * len);
    (void)close(fd);
}

static void streams(void **state)
{
    struct btz_net_http_server_event event;
    int fd;

    (void)state;
    start((struct btz_net_http_server_options){0});
    fd = dial();
    SAY(fd, GET);
    event = request("GET", "/a", "");
    assert_int_equal(btz_net_http_server_chunk(server, event.exchange, BTZ_STR("x")), BTZ_ESTATE);
    assert_int_equal(btz_net_http_server_end(server, event.exchange), BTZ_ESTATE);
    assert_int_equal(btz_net_http_server_stream(server, event.exchange, 200, &field, 1), BTZ_OK);
    assert_int_equal(btz_net_http_server_stream(server, event.exchange, 200, &field, 1),
                     BTZ_ESTATE);
    assert_int_equal(
        btz_net_http_server_respond(server, event.exchange, 200, NULL, 0, BTZ_STR_NONE),
        BTZ_ESTATE);
    expect(fd, "HTTP/1.1 200 OK\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\n\r\n");
    assert_int_equal(btz_net_http_server_chunk(server, event.exchange, BTZ_STR("data: 1\n\n")),
                     BTZ_OK);
    expect(fd, "9\r\ndata: 1\n\n\r\n");
    SAY(fd, GET); /* waits for its turn */
    work(5);
    no_event();
    assert_int_equal(btz_net_http_server_end(server, event.exchange), BTZ_OK);
    expect(fd, "0\r\n\r\n");
    event = request("GET", "/a", "");
    assert_int_equal(btz_net_http_server_stream(server, event.exchange, 200, &field, 1), BTZ_OK);
    (void)close(fd); /* the client leaves in the middle */
    assert_true(wait_event(&event));
    assert_int_equal(event.kind, BTZ_NET_HTTP_CLOSED);
    assert_int_equal(btz_net_http_server_chunk(server, event.exchange, BTZ_STR("x")),
                     BTZ_ENOTFOUND);
    no_event();
}

/* Nothing the owner says can break out of its field. */
static void bad_answers(void **state)
{
    static const struct btz_http_field bad[] = {
        {{"X", 1}, {"a\r\nY: b", 7}}, {{"Content-Length", 14}, {"7", 1}}, {{"X Y", 3}, {"a", 1}}};
    struct btz_net_http_server_event event;
    int fd;

    (void)state;
    start((struct btz_net_http_server_options){0});
    fd = dial();
    SAY(fd, GET);
    event = request("GET", "/a", "");
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(
            btz_net_http_server_respond(server, event.exchange, 200, &bad[i], 1, BTZ_STR_NONE),
            BTZ_EINVAL);
        assert_int_equal(btz_net_http_server_stream(server, event.exchange, 200, &bad[i], 1),
                         BTZ_EINVAL);
    }
    assert_int_equal(
        btz_net_http_server_respond(server, event.exchange, 100, NULL, 0, BTZ_STR_NONE),
        BTZ_EINVAL);
    assert_int_equal(
        btz_net_http_server_respond(server, event.exchange + 1, 200, NULL, 0, BTZ_STR_NONE),
        BTZ_ENOTFOUND);
    ok(event.exchange);
    expect(fd, OK_RESPONSE);
    (void)close(fd);
}

static void refusals(void **state)
{
    static const struct {
        const char *text;
        int status;
    } rows[] = {
        {"nonsense\r\n\r\n", 400},
        {"GET /a HTTP/1.1\r\n\r\n", 400},
        {"GET /a HTTP/1.1\nHost: x\n\n", 400},
        {"GET /a HTTP/2.0\r\nHost: x\r\n\r\n", 505},
        {"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
         400},
        {"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n", 413},
        {"POST /a HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nContent-Length: 1\r\n\r\n", 417},
    };

    (void)state;
    start((struct btz_net_http_server_options){.limits = {.max_body = 100, .max_head = 4000}});
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int fd = dial();

        SAY(fd, rows[i].text);
        expect_refusal(fd, rows[i].status);
        fd = dial();
        SAY(fd, GET); /* behind a good one */
        ok(request("GET", "/a", "").exchange);
        SAY(fd, rows[i].text);
        expect(fd, OK_RESPONSE);
        expect_refusal(fd, rows[i].status);
    }
    assert_int_equal(btz_net_http_server_stats(server).refused, 2 * sizeof(rows) / sizeof(rows[0]));
    no_event();
}

/* Clients that send more than is allowed get the answer even so: no reset eats it. */
static void oversize(void **state)
{
    static char big[200000];
    int fd;

    (void)state;
    start((struct btz_net_http_server_options){.limits = {.max_body = 1000, .max_head = 4000}});
    memset(big, 'a', sizeof(big));
    fd = dial();
    SAY(fd, "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n");
    say(fd, big, sizeof(big));
    expect_refusal(fd, 413);
    fd = dial();
    SAY(fd, "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n30d40\r\n");
    say(fd, big, sizeof(big));
    expect_refusal(fd, 413);
    fd = dial();
    SAY(fd, "GET /a HTTP/1.1\r\nHost: x\r\nX: ");
    say(fd, big, sizeof(big));
    expect_refusal(fd, 431);
    fd = dial();
    SAY(fd, "GET /");
    say(fd, big, sizeof(big));
    expect_refusal(fd, 414);
}

static void all_bodies_together(void **state)
{
    struct btz_net_http_server_event event;
    int one;
    int two;

    (void)state;
    start((struct btz_net_http_server_options){.max_body_bytes = 8});
    one = dial();
    two = dial();
    SAY(one, POST);
    event = request("POST", "/b", "hello"); /* 5 of 8 until the next pull */
    SAY(two, POST);
    expect_refusal(two, 503);
    no_event();
    ok(event.exchange);
    SAY(one, POST);
    ok(request("POST", "/b", "hello").exchange);
    expect(one, OK_RESPONSE OK_RESPONSE);
    (void)close(one);
}

static void closing_on_request(void **state)
{
    int fd;

    (void)state;
    start((struct btz_net_http_server_options){0});
    fd = dial();
    SAY(fd, "GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" GET);
    ok(request("GET", "/a", "").exchange);
    expect(fd, "HTTP/1.1 200 OK\r\nX-A: 1\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
    expect_closed(fd);
    no_event(); /* what came behind it is not read */
}

static void head_and_expect(void **state)
{
    struct btz_net_http_server_event event;
    int fd;

    (void)state;
    start((struct btz_net_http_server_options){0});
    fd = dial();
    SAY(fd, "HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n");
    ok(request("HEAD", "/a", "").exchange);
    expect(fd, "HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 0\r\n\r\n");
    SAY(fd, "HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n");
    event = request("HEAD", "/a", "");
    assert_int_equal(btz_net_http_server_stream(server, event.exchange, 200, NULL, 0), BTZ_OK);
    assert_int_equal(btz_net_http_server_chunk(server, event.exchange, BTZ_STR("x")), BTZ_OK);
    assert_int_equal(btz_net_http_server_end(server, event.exchange), BTZ_OK);
    expect(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    SAY(fd, "POST /a HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n");
    expect(fd, "HTTP/1.1 100 Continue\r\n\r\n");
    SAY(fd, "ab");
    ok(request("POST", "/a", "ab").exchange);
    expect(fd, OK_RESPONSE);
    (void)close(fd);
}

static void slow_clients(void **state)
{
    int fds[4];

    (void)state;
    start((struct btz_net_http_server_options){
        .head_timeout_us = 60 * MS, .body_timeout_us = 60 * MS, .idle_timeout_us = 60 * MS});
    for (int i = 0; i < 4; i++) {
        fds[i] = dial();
    }
    SAY(fds[3], GET);
    ok(request("GET", "/a", "").exchange);
    expect(fds[3], OK_RESPONSE);
    SAY(fds[1], "GET /a HTTP/1.1\r\n");
    SAY(fds[2], "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n");
    for (int i = 0; i < 30; i++) { /* a byte now and then does not help */
        work(4);
        (void)send(fds[1], "X", 1, MSG_NOSIGNAL);
        (void)send(fds[2], "x", 1, MSG_NOSIGNAL);
    }
    assert_int_equal(btz_net_http_server_stats(server).slow, 3); /* by now, not some time later */
    expect_closed(fds[0]);                                       /* never said anything */
    expect_refusal(fds[1], 408);
    expect_refusal(fds[2], 408);
    expect_closed(fds[3]);
    assert_int_equal(btz_net_http_server_stats(server).slow, 3);
    no_event();
    work(20);
    assert_int_equal(btz_net_http_server_connections(server), 0);
}

/* Each part of a request has a time of its own. */
static void slow_body_in_time(void **state)
{
    int fd;

    (void)state;
    start((struct btz_net_http_server_options){.head_timeout_us = 40 * MS,
                                               .body_timeout_us = 5000 * MS});
    fd = dial();
    SAY(fd, "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n");
    work(120);
    SAY(fd, "hello");
    ok(request("POST", "/b", "hello").exchange);
    expect(fd, OK_RESPONSE);
    (void)close(fd);
}

/* A request that is worked on has no time limit of the listener's. */
static void long_work(void **state)
{
    struct btz_net_http_server_event event;
    int fd;

    (void)state;
    start((struct btz_net_http_server_options){.head_timeout_us = 30 * MS,
                                               .body_timeout_us = 30 * MS,
                                               .idle_timeout_us = 30 * MS,
                                               .write_timeout_us = 30 * MS});
    fd = dial();
    SAY(fd, GET);
    event = request("GET", "/a", "");
    work(120);
    no_event();
    ok(event.exchange);
    expect(fd, OK_RESPONSE);
    (void)close(fd);
}

/* A client that does not read: within the bound it is waited for, then it is given up. */
static void clients_that_do_not_read(void **state)
{
    static char big[400000];
    struct btz_net_http_server_event event;
    const int small = 4096;
    int rc = BTZ_OK;
    int fd;

    (void)state;
    memset(big, 'b', sizeof(big));
    start((struct btz_net_http_server_options){.write_timeout_us = 80 * MS,
                                               .max_out_bytes = 1000000});
    fd = dial();
    SAY(fd, GET);
    event = request("GET", "/a", "");
    assert_int_equal(btz_net_http_server_stream(server, event.exchange, 200, NULL, 0), BTZ_OK);
    for (int i = 0; i < 100 && !rc; i++) {
        rc = btz_net_http_server_chunk(server, event.exchange, (struct btz_str){big, sizeof(big)});
    }
    assert_int_equal(rc, BTZ_ELIMIT);
    assert_int_equal(btz_net_http_server_stats(server).choked, 1);
    assert_int_equal(btz_net_http_server_chunk(server, event.exchange, BTZ_STR("x")),
                     BTZ_ENOTFOUND);
    work(10);
    no_event(); /* the owner knows already */
    assert_int_equal(btz_net_http_server_connections(server), 0);
    (void)close(fd);

    fd = dial();
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
    SAY(fd, GET);
    event = request("GET", "/a", "");
    assert_int_equal(btz_net_http_server_stream(server, event.exchange, 200, NULL, 0), BTZ_OK);
    rc = BTZ_OK;
    while (!rc && btz_net_http_server_connections(server)) { /* more and more, never too much */
        work(10);
        rc = btz_net_http_server_chunk(server, event.exchange, (struct btz_str){big, 20000});
        if (btz_net_http_server_stats(server).slow) {
            break;
        }
    }
    assert_true(wait_event(&event)); /* bytes that only queue up were no sign of life */
    assert_int_equal(event.kind, BTZ_NET_HTTP_CLOSED);
    assert_int_equal(btz_net_http_server_stats(server).slow, 1);
    (void)close(fd);
}

/* A slow reader that does read gets all of a large response. */
static void slow_reader(void **state)
{
    static char big[3000000];
    struct btz_net_http_server_event event;
    size_t have = 0;
    int64_t until;
    int fd;

    (void)state;
    memset(big, 'c', sizeof(big));
    start((struct btz_net_http_server_options){.write_timeout_us = 200 * MS});
    fd = dial();
    SAY(fd, "GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    event = request("GET", "/a", "");
    assert_int_equal(btz_net_http_server_respond(server, event.exchange, 200, NULL, 0,
                                                 (struct btz_str){big, sizeof(big)}),
                     BTZ_OK);
    until = btz_clock_mono_us() + 8000 * MS;
    while (btz_clock_mono_us() < until) {
        char part[30000];
        ssize_t n = recv(fd, part, sizeof(part), MSG_DONTWAIT);

        if (n == 0) {
            break;
        }
        have += n > 0 ? (size_t)n : 0;
        work(1);
    }
    assert_true(have > sizeof(big));
    assert_int_equal(btz_net_http_server_stats(server).slow, 0);
    (void)close(fd);
}

/* Half-closed and vanished clients: the owner hears of it once, and only if it had the request. */
static void clients_that_leave(void **state)
{
    struct btz_net_http_server_event event;
    uint64_t exchange;
    int fd;

    (void)state;
    start((struct btz_net_http_server_options){0});
    for (int how = 0; how < 3; how++) {
        const struct linger reset = {.l_onoff = 1, .l_linger = 0};

        fd = dial();
        SAY(fd, GET);
        exchange = request("GET", "/a", "").exchange;
        if (how == 0) {
            (void)shutdown(fd, SHUT_WR);
        } else if (how == 1) {
            assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)), 0);
        }
        if (how) {
            (void)close(fd);
        }
        assert_true(wait_event(&event));
        assert_int_equal(event.kind, BTZ_NET_HTTP_CLOSED);
        assert_int_equal(event.exchange, exchange);
        no_event();
        if (!how) {
            expect_closed(fd);
        }
    }
    fd = dial();
    SAY(fd, GET); /* the owner writes before the loop has seen that the client is gone */
    exchange = request("GET", "/a", "").exchange;
    assert_int_equal(btz_net_http_server_stream(server, exchange, 200, NULL, 0), BTZ_OK);
    (void)close(fd); /* with bytes unread, so that it is a reset */
    for (int i = 0; i < 3; i++) {
        assert_int_equal(btz_net_http_server_chunk(server, exchange, BTZ_STR("late")), BTZ_OK);
    }
    assert_true(wait_event(&event));
    assert_int_equal(event.kind, BTZ_NET_HTTP_CLOSED);
    assert_int_equal(btz_net_http_server_chunk(server, exchange, BTZ_STR("late")), BTZ_ENOTFOUND);
    no_event();
    fd = dial();
    SAY(fd, GET); /* gone before the owner pulled it */
    work(10);
    (void)close(fd);
    work(10);
    no_event();
    fd = dial();
    SAY(fd, "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nhalf");
    work(10);
    (void)close(fd);
    work(10);
    no_event();
    fd = dial();
    SAY(fd, GET);
    exchange = request("GET", "/a", "").exchange;
    btz_net_http_server_abort(server, exchange);
    btz_net_http_server_abort(server, exchange);
    expect_closed(fd);
    no_event();
    assert_int_equal(btz_net_http_server_connections(server), 0);
}

static void too_many_connections(void **state)
{
    int fds[5];

    (void)state;
    start((struct btz_net_http_server_options){.max_connections = 3});
    for (int i = 0; i < 5; i++) {
        fds[i] = dial();
        work(2);
    }
    assert_int_equal(btz_net_http_server_connections(server), 3);
    assert_int_equal(btz_net_http_server_stats(server).turned_away, 2);
    expect_closed(fds[3]);
    expect_closed(fds[4]);
    (void)close(fds[1]);
    work(5);
    fds[1] = dial();
    for (int i = 0; i < 3; i++) {
        SAY(fds[i], GET);
        ok(request("GET", "/a", "").exchange);
        expect(fds[i], OK_RESPONSE);
        (void)close(fds[i]);
    }
}

static void addresses(void **state)
{
    struct btz_net_http_server_options options = {.address = "localhost"};
    struct btz_net_http_server *other = NULL;
    struct btz_err err;

    (void)state;
    start((struct btz_net_http_server_options){0});
    assert_int_equal(btz_net_http_server_new(loop, &options, &other, &err), BTZ_EINVAL);
    options.address = "127.0.0.1";
    options.port = btz_net_http_server_port(server);
    assert_int_equal(btz_net_http_server_new(loop, &options, &other, &err), BTZ_EIO);
    assert_non_null(strstr(err.msg, "127.0.0.1"));
    assert_null(other);
}

/* Freed with requests open in every phase, nothing leaks and nothing is called later. */
static void freed_in_the_middle(void **state)
{
    int fds[4];

    (void)state;
    start((struct btz_net_http_server_options){0});
    for (int i = 0; i < 4; i++) {
        fds[i] = dial();
    }
    SAY(fds[0], GET);
    (void)request("GET", "/a", "");
    SAY(fds[1], GET);
    SAY(fds[2], "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nhalf");
    SAY(fds[3], "nonsense\r\n\r\n");
    work(10);
    stop(NULL);
    for (int i = 0; i < 4; i++) {
        (void)close(fds[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(whole_requests, stop),
        cmocka_unit_test_teardown(split_everywhere, stop),
        cmocka_unit_test_teardown(pipelined, stop),
        cmocka_unit_test_teardown(pipelined_flood, stop),
        cmocka_unit_test_teardown(streams, stop),
        cmocka_unit_test_teardown(bad_answers, stop),
        cmocka_unit_test_teardown(refusals, stop),
        cmocka_unit_test_teardown(oversize, stop),
        cmocka_unit_test_teardown(all_bodies_together, stop),
        cmocka_unit_test_teardown(closing_on_request, stop),
        cmocka_unit_test_teardown(head_and_expect, stop),
        cmocka_unit_test_teardown(slow_clients, stop),
        cmocka_unit_test_teardown(slow_body_in_time, stop),
        cmocka_unit_test_teardown(long_work, stop),
        cmocka_unit_test_teardown(clients_that_do_not_read, stop),
        cmocka_unit_test_teardown(slow_reader, stop),
        cmocka_unit_test_teardown(clients_that_leave, stop),
        cmocka_unit_test_teardown(too_many_connections, stop),
        cmocka_unit_test_teardown(addresses, stop),
        cmocka_unit_test(freed_in_the_middle),
    };

    (void)signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
