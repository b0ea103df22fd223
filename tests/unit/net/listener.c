#include "listener.h"

struct btz_net_loop *loop;
struct btz_net_http_server *server;
bool was_reset; /* the last `hear` ended by a reset */

const struct btz_http_field field = {{"X-A", 3}, {"1", 1}};

void start(struct btz_net_http_server_options options)
{
    struct btz_err err;

    if (btz_net_loop_new(&loop, &err) || btz_net_http_server_new(loop, &options, &server, &err)) {
        fail_msg("%s", err.msg);
    }
    assert_true(btz_net_http_server_port(server) > 0);
}

int stop(void **state)
{
    (void)state;
    btz_net_http_server_free(server);
    btz_net_loop_free(loop);
    server = NULL;
    loop = NULL;
    return 0;
}

int dial(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons(btz_net_http_server_port(server)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    return fd;
}

void say(int fd, const char *text, size_t len)
{
    assert_int_equal(send(fd, text, len, MSG_NOSIGNAL), (ssize_t)len);
}

/* Lets the loop work for about `ms`. */
void work(int ms)
{
    int64_t until = btz_clock_mono_us() + ms * MS;

    do {
        btz_net_loop_wait(loop, 2 * MS);
    } while (btz_clock_mono_us() < until);
}

/* The next event, waited for at most a second. */
bool wait_event(struct btz_net_http_server_event *event)
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

struct btz_net_http_server_event request(const char *method, const char *target, const char *body)
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

void no_event(void)
{
    struct btz_net_http_server_event event;

    assert_false(btz_net_http_server_next(server, &event));
}

void ok(uint64_t exchange)
{
    assert_int_equal(btz_net_http_server_respond(server, exchange, 200, &field, 1, BTZ_STR("ok")),
                     BTZ_OK);
}

/* Everything the server says until it has said `len` bytes, closed (then *closed), or a second
 * passed. */
const char *hear(int fd, size_t len, bool *closed)
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

void expect(int fd, const char *want)
{
    const char *got = hear(fd, strlen(want), NULL);

    if (strcmp(got, want) != 0) {
        fail_msg("\n--- got\n%s\n--- want\n%s", got, want);
    }
}

/* A refusal with this status, after which the server closes. */
void expect_refusal(int fd, int status)
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

void expect_closed(int fd)
{
    bool closed;

    assert_string_equal(hear(fd, SIZE_MAX, &closed), "");
    assert_true(closed);
    (void)close(fd);
}
