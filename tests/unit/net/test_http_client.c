/* The client against a small server thread that reads one request at a time and replies with the
 * bytes that the path asks for, so that replies no decent server gives can be given. */
#include <arpa/inet.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "net/http_client.h"

#define SECOND INT64_C(1000000)

static const struct {
    const char *path;
    const char *reply; /* NULL: none, the connection stays open */
    bool close;
} replies[] = {
    {"/ok", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nRETRY-after:  7 \r\nX-A: 1\r\n\r\nok", false},
    {"/interim",
     "HTTP/1.1 103 Early Hints\r\nX-A: early\r\n\r\n"
     "HTTP/1.1 404 Not Found\r\nX-B: late\r\nContent-Length: 0\r\n\r\n",
     false},
    {"/redirect", "HTTP/1.1 307 X\r\nLocation: /ok\r\nContent-Length: 0\r\n\r\n", false},
    {"/half", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", true},
    {"/drop", "", true},
    {"/garbage", "SSH-2.0-none\r\n", true},
    {"/hang", NULL, false},
    {"/interim-stream",
     "HTTP/1.1 103 Early Hints\r\nX-A: early\r\n\r\n"
     "HTTP/1.1 200 OK\r\nX-B:  late \r\nx-b: twice\r\nTransfer-Encoding: chunked\r\n\r\n"
     "2\r\nab\r\n3\r\ncde\r\n0\r\nX-Trailer: t\r\n\r\n",
     false},
    {"/open-stream", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n",
     false},
    {"/half-stream", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", true},
    {"/folded", "HTTP/1.1 200 OK\r\nX-A: 1\r\n 2\r\nContent-Length: 0\r\n\r\n", true},
};

struct server {
    int fd;
    int port;
    pthread_t thread;
    atomic_int connections;
    atomic_int flooded; /* lines of /flood that were sent */
    atomic_bool stop;
    char last[4096]; /* the last request, whole */
};

static struct server server;
static struct btz_net_loop *loop;
static struct btz_net_http *client;

/* Reads one request with its body; false if the peer is gone. */
static bool read_request(int fd, char *buf, size_t size)
{
    size_t len = 0;

    for (;;) {
        const char *end;
        const char *length;
        ssize_t n = recv(fd, buf + len, size - 1 - len, 0);

        if (n <= 0) {
            return false;
        }
        len += (size_t)n;
        buf[len] = '\0';
        end = strstr(buf, "\r\n\r\n");
        if (!end) {
            continue;
        }
        length = strstr(buf, "Content-Length: ");
        if (!length || len >= (size_t)(end + 4 - buf) + strtoul(length + 16, NULL, 10)) {
            return true;
        }
    }
}

static void reply_headers_without_end(int fd)
{
    (void)send(fd, "HTTP/1.1 200 OK\r\n", 17, MSG_NOSIGNAL);
    while (send(fd, "X-Fill: 0123456789012345678901234567890123456789\r\n", 50, MSG_NOSIGNAL) > 0) {
    }
}

#define FLOOD_LINES 100000

/* More than sockets and the client keep: sending stops when the client does not read. */
static void reply_flood(int fd)
{
    char line[101];

    (void)send(fd, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", 38, MSG_NOSIGNAL);
    for (int i = 0; i < FLOOD_LINES; i++) {
        (void)snprintf(line, sizeof(line), "%099d\n", i);
        if (send(fd, line, 100, MSG_NOSIGNAL) != 100) {
            return;
        }
        atomic_store(&server.flooded, i + 1);
    }
}

static bool reply(int fd, const char *path)
{
    if (strncmp(path, "/headers ", 9) == 0) {
        reply_headers_without_end(fd);
        return false;
    }
    if (strncmp(path, "/flood ", 7) == 0) {
        reply_flood(fd);
        return false;
    }
    for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++) {
        size_t len = strlen(replies[i].path);

        if (strncmp(path, replies[i].path, len) == 0 && path[len] == ' ') {
            if (replies[i].reply) {
                (void)send(fd, replies[i].reply, strlen(replies[i].reply), MSG_NOSIGNAL);
            }
            return !replies[i].close;
        }
    }
    return false;
}

static void *serve_one(void *data)
{
    char request[sizeof(server.last)];
    int fd = (int)(intptr_t)data;

    while (read_request(fd, request, sizeof(request))) {
        memcpy(server.last, request, sizeof(request));
        if (!reply(fd, strchr(request, ' ') + 1)) {
            break;
        }
    }
    (void)close(fd);
    return NULL;
}

static void *serve(void *data)
{
    (void)data;
    for (;;) {
        int fd = accept(server.fd, NULL, NULL);
        pthread_t thread;

        if (atomic_load(&server.stop) || fd < 0) {
            return NULL;
        }
        atomic_fetch_add(&server.connections, 1);
        if (pthread_create(&thread, NULL, serve_one, (void *)(intptr_t)fd) == 0) {
            (void)pthread_detach(thread);
        }
    }
}

static int start_all(void **state)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);

    (void)state;
    server.fd = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(server.fd, (struct sockaddr *)&at, len) || listen(server.fd, 64) ||
        getsockname(server.fd, (struct sockaddr *)&at, &len)) {
        return -1;
    }
    server.port = ntohs(at.sin_port);
    return pthread_create(&server.thread, NULL, serve, NULL);
}

static int stop_all(void **state)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons((uint16_t)server.port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    (void)state;
    atomic_store(&server.stop, true);
    (void)connect(fd, (struct sockaddr *)&at, sizeof(at));
    (void)pthread_join(server.thread, NULL);
    (void)close(fd);
    return close(server.fd);
}

static int setup(void **state)
{
    const struct btz_net_http_options options = {.max_connections = 4};

    (void)state;
    atomic_store(&server.connections, 0);
    return btz_net_loop_new(&loop, NULL) || btz_net_http_new(loop, &options, &client, NULL);
}

static int teardown(void **state)
{
    (void)state;
    btz_net_http_free(client);
    btz_net_loop_free(loop);
    return 0;
}

static void start(uint64_t id, const char *path, struct btz_net_http_request request,
                  struct btz_net_http_transfer **out)
{
    char url[128];
    struct btz_err err = {0};

    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", server.port, path);
    request.id = id;
    request.url = btz_str_of(url);
    if (btz_net_http_start(client, &request, out, &err)) {
        fail_msg("%s", err.msg);
    }
}

static struct btz_net_http_done finish(void)
{
    const int64_t end = btz_clock_mono_us() + 20 * SECOND;
    struct btz_net_http_done done;

    while (!btz_net_http_next(client, &done)) {
        assert_true(btz_clock_mono_us() < end);
        btz_net_loop_wait(loop, SECOND);
    }
    return done;
}

static struct btz_net_http_done fetch(const char *path, struct btz_net_http_request request)
{
    start(1, path, request, NULL);
    return finish();
}

static void requests_and_replies_come_through(void **state)
{
    const struct btz_net_http_header headers[] = {{BTZ_STR("X-One"), BTZ_STR("a b")},
                                                  {BTZ_STR("X-None"), BTZ_STR("")}};
    struct btz_net_http_done done;

    (void)state;
    start(42, "/ok",
          (struct btz_net_http_request){
              .headers = headers, .header_count = 2, .body = BTZ_STR("hello")},
          NULL);
    assert_int_equal(btz_net_http_pending(client), 1);
    done = finish();
    assert_int_equal(done.id, 42);
    assert_int_equal(done.status, BTZ_OK);
    assert_true(done.connected);
    assert_true(done.new_connection);
    assert_int_equal(done.http_status, 200);
    assert_true(btz_str_is(btz_buf_view(&done.body), "ok"));
    assert_true(btz_str_is(btz_net_http_done_header(&done, "Retry-After"), "7"));
    assert_true(btz_str_is(btz_net_http_done_header(&done, "x-a"), "1"));
    assert_null(btz_net_http_done_header(&done, "Retry").ptr);
    assert_in_range(done.latency_us, 1, 20 * SECOND);
    assert_int_equal(btz_net_http_pending(client), 0);
    btz_net_http_done_fini(&done);
    assert_non_null(strstr(server.last, "POST /ok HTTP/1.1\r\n"));
    assert_non_null(strstr(server.last, "\r\nX-One: a b\r\n"));
    assert_non_null(strstr(server.last, "\r\nX-None:\r\n"));
    assert_non_null(strstr(server.last, "\r\n\r\nhello"));
    assert_null(strstr(server.last, "Expect:"));
    assert_null(strstr(server.last, "Upgrade:"));
    done = fetch("/interim", (struct btz_net_http_request){.method = BTZ_STR("GET")});
    assert_int_equal(done.http_status, 404);
    assert_false(done.new_connection); /* kept alive */
    assert_null(btz_net_http_done_header(&done, "X-A").ptr);
    assert_true(btz_str_is(btz_net_http_done_header(&done, "X-B"), "late"));
    btz_net_http_done_fini(&done);
    assert_non_null(strstr(server.last, "GET /interim HTTP/1.1\r\n"));
    done = fetch("/redirect", (struct btz_net_http_request){0});
    assert_int_equal(done.http_status, 307);
    btz_net_http_done_fini(&done);
    assert_int_equal(atomic_load(&server.connections), 1);
}

static void failures_are_told_apart(void **state)
{
    static const struct {
        const char *path;
        int status;
        bool connected;
    } cases[] = {
        {"/half", BTZ_EIO, true},
        {"/drop", BTZ_EIO, true},
        {"/garbage", BTZ_EINVAL, true},
        {"/headers", BTZ_ELIMIT, true},
    };
    struct btz_net_http_done done;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        done = fetch(cases[i].path, (struct btz_net_http_request){0});
        if (done.status != cases[i].status || done.connected != cases[i].connected) {
            fail_msg("%s: %d, %d, %s", cases[i].path, done.status, done.connected, done.text);
        }
        assert_true(strlen(done.text) > 0);
        btz_net_http_done_fini(&done);
    }
    done = fetch("/ok", (struct btz_net_http_request){.max_body = 1});
    assert_int_equal(done.status, BTZ_ELIMIT);
    assert_non_null(strstr(done.text, "1 bytes"));
    assert_int_equal(done.body.len, 0);
    btz_net_http_done_fini(&done);
    done = fetch("/hang", (struct btz_net_http_request){.timeout_us = SECOND / 20});
    assert_int_equal(done.status, BTZ_ETIMEOUT);
    assert_true(done.connected);
    assert_in_range(done.latency_us, SECOND / 20, 10 * SECOND);
    btz_net_http_done_fini(&done);
}

static void no_server_is_no_connection(void **state)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct btz_net_http_done done;
    char url[64];

    (void)state;
    /* A port that is bound but not listened on refuses connections. */
    assert_int_equal(bind(fd, (struct sockaddr *)&at, len), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d/", ntohs(at.sin_port));
    assert_int_equal(btz_net_http_start(client,
                                        &(struct btz_net_http_request){.url = btz_str_of(url)},
                                        NULL, NULL),
                     0);
    done = finish();
    assert_int_equal(done.status, BTZ_EIO);
    assert_false(done.connected);
    assert_int_equal(done.http_status, 0);
    btz_net_http_done_fini(&done);
    (void)close(fd);
}

static void cancelled_requests_come_back_once(void **state)
{
    struct btz_net_http_transfer *hanging;
    struct btz_net_http_transfer *finished;
    struct btz_net_http_done done;

    (void)state;
    start(1, "/hang", (struct btz_net_http_request){0}, &hanging);
    btz_net_loop_wait(loop, SECOND / 50);
    assert_false(btz_net_http_next(client, &done));
    btz_net_http_cancel(hanging);
    btz_net_http_cancel(hanging);
    assert_true(btz_net_http_next(client, &done));
    assert_int_equal(done.id, 1);
    assert_int_equal(done.status, BTZ_ECANCELLED);
    btz_net_http_done_fini(&done);
    assert_false(btz_net_http_next(client, &done));
    /* What is done stays done. */
    start(2, "/ok", (struct btz_net_http_request){0}, &finished);
    done = finish();
    assert_int_equal(done.status, BTZ_OK);
    btz_net_http_done_fini(&done);
    /* Freed while one is under way and one was never waited for: the sanitizer watches. */
    start(3, "/hang", (struct btz_net_http_request){.body = BTZ_STR("x")}, NULL);
    btz_net_loop_wait(loop, SECOND / 50);
    start(4, "/hang", (struct btz_net_http_request){0}, NULL);
    assert_int_equal(btz_net_http_pending(client), 2);
}

/* Waits for the next part of a streamed response. */
static struct btz_net_http_part next_part(void)
{
    int64_t until = btz_clock_mono_us() + 10 * SECOND;
    struct btz_net_http_part part;

    while (!btz_net_http_next_part(client, &part)) {
        assert_true(btz_clock_mono_us() < until);
        btz_net_loop_wait(loop, SECOND / 10);
    }
    return part;
}

static void assert_body(const char *text)
{
    char got[64] = "";
    size_t len = 0;

    while (len < strlen(text)) {
        struct btz_net_http_part part = next_part();

        assert_int_equal(part.kind, BTZ_NET_HTTP_PART_BODY);
        assert_true(len + part.bytes.len < sizeof(got));
        memcpy(got + len, part.bytes.ptr, part.bytes.len);
        len += part.bytes.len;
    }
    assert_string_equal(got, text);
}

static void streams_come_in_parts(void **state)
{
    struct btz_net_http_part part;
    struct btz_net_http_done done;
    size_t count;

    (void)state;
    start(1, "/interim-stream", (struct btz_net_http_request){.stream = true}, NULL);
    part = next_part();
    assert_int_equal(part.kind, BTZ_NET_HTTP_PART_HEAD);
    assert_int_equal(part.id, 1);
    assert_int_equal(part.head.status, 200);
    assert_false(btz_http_field_get(&part.head, "X-A", NULL).ptr);
    assert_false(btz_http_field_get(&part.head, "X-Trailer", NULL).ptr);
    assert_false(btz_http_field_get(&part.head, "X-B", &count).ptr); /* not the first of two */
    assert_int_equal(count, 2);
    assert_true(btz_str_is(part.head.fields[0].value, "late"));
    assert_body("abcde");
    done = finish();
    assert_int_equal(done.status, BTZ_OK);
    assert_int_equal(done.http_status, 200);
    assert_int_equal(done.body.len, 0);
    btz_net_http_done_fini(&done);
    start(2, "/half-stream", (struct btz_net_http_request){.stream = true}, NULL);
    assert_int_equal(next_part().head.status, 200);
    assert_body("abc");
    done = finish();
    assert_int_equal(done.status, BTZ_EIO);
    assert_true(done.connected);
    btz_net_http_done_fini(&done);
    start(3, "/folded", (struct btz_net_http_request){.stream = true}, NULL);
    done = finish();
    assert_int_equal(done.status, BTZ_EINVAL);
    btz_net_http_done_fini(&done);
    assert_false(btz_net_http_next_part(client, &part));
}

static void open_streams_give_what_came(void **state)
{
    struct btz_net_http_transfer *transfer;
    struct btz_net_http_part part;
    struct btz_net_http_done done;

    (void)state;
    start(1, "/open-stream", (struct btz_net_http_request){.stream = true}, &transfer);
    assert_int_equal(next_part().kind, BTZ_NET_HTTP_PART_HEAD);
    assert_body("data: 1\n\n");
    assert_false(btz_net_http_next(client, &done)); /* it is still open */
    btz_net_http_cancel(transfer);
    done = finish();
    assert_int_equal(done.status, BTZ_ECANCELLED);
    btz_net_http_done_fini(&done);
    /* Cancelling drops what was not pulled. */
    start(2, "/open-stream", (struct btz_net_http_request){.stream = true}, &transfer);
    assert_int_equal(next_part().kind, BTZ_NET_HTTP_PART_HEAD);
    btz_net_loop_wait(loop, SECOND / 10);
    btz_net_http_cancel(transfer);
    assert_false(btz_net_http_next_part(client, &part));
    done = finish();
    assert_int_equal(done.id, 2);
    btz_net_http_done_fini(&done);
}

static void servers_wait_for_a_slow_reader(void **state)
{
    int64_t until = btz_clock_mono_us() + SECOND;
    struct btz_net_http_part part;
    struct btz_net_http_done done;
    char line[101];
    size_t got = 0;
    int before;

    (void)state;
    start(1, "/flood", (struct btz_net_http_request){.stream = true, .max_body = 1}, NULL);
    while (btz_clock_mono_us() < until) {
        btz_net_loop_wait(loop, SECOND / 10);
    }
    before = atomic_load(&server.flooded);
    assert_in_range(before, 1, FLOOD_LINES - 1); /* 10 MB do not fit into 64 KiB and the sockets */
    while (got < (size_t)FLOOD_LINES * 100) {
        part = next_part();
        if (part.kind == BTZ_NET_HTTP_PART_HEAD) {
            continue;
        }
        assert_in_range(part.bytes.len, 1, 65536);
        for (size_t i = 0; i < part.bytes.len; i++, got++) {
            if (got % 100 == 0) {
                (void)snprintf(line, sizeof(line), "%099zu\n", got / 100);
            }
            assert_int_equal(part.bytes.ptr[i], line[got % 100]);
        }
    }
    done = finish();
    assert_int_equal(done.status, BTZ_OK);
    btz_net_http_done_fini(&done);
}

static void connections_are_bounded(void **state)
{
    struct btz_net_http_done done;

    (void)state;
    for (uint64_t i = 0; i < 200; i++) {
        start(i, "/ok", (struct btz_net_http_request){0}, NULL);
    }
    for (int i = 0; i < 200; i++) {
        done = finish();
        assert_int_equal(done.status, BTZ_OK);
        btz_net_http_done_fini(&done);
    }
    assert_in_range(atomic_load(&server.connections), 1, 4);
}

static void loopback_ignores_proxies(void **state)
{
    struct btz_net_http_done done;

    (void)state;
    assert_int_equal(setenv("http_proxy", "http://127.0.0.1:1", 1), 0);
    assert_int_equal(setenv("ALL_PROXY", "http://127.0.0.1:1", 1), 0);
    done = fetch("/ok", (struct btz_net_http_request){0});
    assert_int_equal(done.status, BTZ_OK);
    btz_net_http_done_fini(&done);
    assert_int_equal(unsetenv("http_proxy"), 0);
    assert_int_equal(unsetenv("ALL_PROXY"), 0);
}

static void wrong_requests_are_refused(void **state)
{
    static const struct btz_net_http_header wrong[] = {
        {{"X: y", 4}, {"v", 1}},
        {{"", 0}, {"v", 1}},
        {{"X", 1}, {"a\r\nY: b", 7}},
        {{"X", 1}, {"a\0b", 3}},
    };
    static const char *const urls[] = {
        "",
        "127.0.0.1/",
        "file:///etc/passwd",
        "ftp://127.0.0.1/",
        "gopher://127.0.0.1/",
        "http://user@127.0.0.1/",
        "http://127.0.0.1/\r\nX: y",
        "http:// /",
    };
    struct btz_err err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        const struct btz_net_http_request request = {.url = btz_str_of(urls[i])};

        assert_int_equal(btz_net_http_start(client, &request, NULL, &err), BTZ_EINVAL);
        assert_true(strlen(err.msg) > 0);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const struct btz_net_http_request request = {
            .url = BTZ_STR("http://127.0.0.1/"), .headers = &wrong[i], .header_count = 1};

        assert_int_equal(btz_net_http_start(client, &request, NULL, &err), BTZ_EINVAL);
    }
    assert_int_equal(
        btz_net_http_start(client,
                           &(struct btz_net_http_request){.url = BTZ_STR("http://127.0.0.1/"),
                                                          .method = BTZ_STR("GET /x HTTP/1.1\r\n")},
                           NULL, &err),
        BTZ_EINVAL);
    assert_int_equal(btz_net_http_pending(client), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(requests_and_replies_come_through, setup, teardown),
        cmocka_unit_test_setup_teardown(failures_are_told_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(no_server_is_no_connection, setup, teardown),
        cmocka_unit_test_setup_teardown(cancelled_requests_come_back_once, setup, teardown),
        cmocka_unit_test_setup_teardown(streams_come_in_parts, setup, teardown),
        cmocka_unit_test_setup_teardown(open_streams_give_what_came, setup, teardown),
        cmocka_unit_test_setup_teardown(servers_wait_for_a_slow_reader, setup, teardown),
        cmocka_unit_test_setup_teardown(connections_are_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(loopback_ignores_proxies, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_requests_are_refused, setup, teardown),
    };

    return cmocka_run_group_tests(tests, start_all, stop_all);
}
