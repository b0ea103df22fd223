/* The HTTP listener against clients that are slow, gone, too many or do not read. */
#include "listener.h"

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
