/* The listener against raw sockets: whole and split requests, slow and rude clients, limits. */
#include "listener.h"

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
    };

    (void)signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
