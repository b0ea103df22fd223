/* Every limit, met exactly and passed by one. */
#include "helper.h"

#include <stdio.h>
#include <stdlib.h>

static void requests_give(const struct btz_http_limits *limits, const char *text, const char *want)
{
    http_gives(BTZ_HTTP_REQUESTS, limits, false, text, strlen(text), want);
}

static void lines(void **state)
{
    struct btz_http_limits limits = {.max_line = 16};

    (void)state;
    requests_give(&limits, "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n",
                  "GET /2 [Host=a]\nend\nmore\neof idle\n");
    requests_give(&limits, "GET /23 HTTP/1.1\r\nHost: 3456789012\r\n\r\n",
                  "GET /23 [Host=3456789012]\nend\nmore\neof idle\n");
    requests_give(&limits, "GET /234 HTTP/1.1\r\nHost: a\r\n\r\n", "ELIMIT 414\n");
    requests_give(&limits, "GET /23 HTTP/1.1\r\nHost: 34567890123\r\n\r\n", "ELIMIT 431\n");
    requests_give(&limits, "GET /23 HTTP/1.1\r\nHost: 34567890123", "ELIMIT 431\n");
    /* At the limit a control byte and a lone CR are still told from a byte too many. */
    requests_give(&limits, "GET /23 HTTP/1.1\x01", "EINVAL 400\n");
    requests_give(&limits, "GET /23 HTTP/1.1\rx", "EINVAL 400\n");
    requests_give(&limits, "GET /23 HTTP/1.1\n", "EINVAL 400\n");
}

static void heads(void **state)
{
    struct btz_http_limits limits = {.max_head = 16};

    (void)state;
    requests_give(&limits, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "ELIMIT 431\n");
    requests_give(&limits, "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n", "ELIMIT 414\n");
    limits.max_head = 27;
    requests_give(&limits, "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
                  "GET / [Host=a]\nend\nGET / [Host=a]\nend\nmore\neof idle\n");
    limits.max_head = 26;
    requests_give(&limits, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "ELIMIT 431\n");
    limits.max_head = 25;
    requests_give(&limits, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "ELIMIT 431\n");
}

static void fields(void **state)
{
    struct btz_http_limits limits = {.max_fields = 2};

    (void)state;
    requests_give(&limits, "GET / HTTP/1.1\r\nHost: a\r\nB: c\r\n\r\n",
                  "GET / [Host=a;B=c]\nend\nmore\neof idle\n");
    requests_give(&limits, "GET / HTTP/1.1\r\nHost: a\r\nB: c\r\nB: d\r\n\r\n", "ELIMIT 431\n");
}

static void bodies(void **state)
{
    struct btz_http_limits limits = {.max_body = 4};

    (void)state;
    requests_give(&limits, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nabcd",
                  "POST / [Host=a;Content-Length=4] len=4\n\"abcd\"\nend\nmore\neof idle\n");
    requests_give(&limits, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabcde",
                  "ELIMIT 413\n");
    requests_give(&limits,
                  "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n",
                  "POST / [Host=a;Transfer-Encoding=chunked] chunked\n\"abcd\"\nend\n"
                  "more\neof idle\n");
    requests_give(&limits,
                  "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
                  "POST / [Host=a;Transfer-Encoding=chunked] chunked\n\"abc\"\nELIMIT 413\n");
    /* A limit is of one message. */
    requests_give(
        &limits,
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nabcd"
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        "4\r\nabcd\r\n0\r\n\r\n"
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n",
        "POST / [Host=a;Content-Length=4] len=4\n\"abcd\"\nend\n"
        "POST / [Host=a;Transfer-Encoding=chunked] chunked\n\"abcd\"\nend\n"
        "POST / [Host=a;Transfer-Encoding=chunked] chunked\n\"abcd\"\nmore\neof EINVAL\n");
    http_gives(BTZ_HTTP_RESPONSES, &limits, false, S("HTTP/1.1 200 \r\n\r\nabcd"),
               "200  [] close\n\"abcd\"\nmore\neof whole\n");
    http_gives(BTZ_HTTP_RESPONSES, &limits, false, S("HTTP/1.1 200 \r\n\r\nabcde"),
               "200  [] close\n\"abcd\"\nELIMIT 0\n");
    limits.max_body = UINT64_MAX;
    http_gives(
        BTZ_HTTP_RESPONSES, &limits, false,
        S("HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\nffffffffffffffff\r\n"),
        "200  [Transfer-Encoding=chunked] chunked\n\"a\"\nELIMIT 0\n");
    http_gives(BTZ_HTTP_RESPONSES, &limits, false,
               S("HTTP/1.1 200 \r\nContent-Length: 9223372036854775807\r\n\r\na"),
               "200  [Content-Length=9223372036854775807] len=9223372036854775807\n\"a\"\n"
               "more\neof EINVAL\n");
}

/* `head`, then `count` bytes of `fill`, then `tail`. */
static char *filled(const char *head, char fill, size_t count, const char *tail)
{
    size_t len = strlen(head);
    char *text = malloc(len + count + strlen(tail) + 1);

    assert_non_null(text);
    memcpy(text, head, len);
    memset(text + len, fill, count);
    memcpy(text + len + count, tail, strlen(tail) + 1);
    return text;
}

static int outcome(const char *text, int *status)
{
    struct btz_http_parser *parser = btz_http_parser_new(BTZ_HTTP_REQUESTS, NULL);
    struct btz_str input = btz_str_of(text);
    enum btz_http_event event;
    struct btz_str body;
    int rc = btz_http_parser_next(parser, &input, &event, &body, NULL);

    assert_true(rc != BTZ_OK || event == BTZ_HTTP_HEAD);
    *status = btz_http_parser_status(parser);
    btz_http_parser_free(parser);
    return rc;
}

static void the_defaults(void **state)
{
    static const char start[] = "GET / HTTP/1.1\r\nHost: a\r\n";
    size_t max = 8192;
    char *text;
    int status;

    (void)state;
    for (size_t over = 0; over <= 1; over++) {
        text = filled("GET /", 'a', max - 14 + over, " HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_int_equal(outcome(text, &status), over ? BTZ_ELIMIT : BTZ_OK);
        assert_int_equal(status, over ? 414 : 0);
        free(text);
        text = filled("GET / HTTP/1.1\r\nHost: a\r\nX:", 'a', max - 2 + over, "\r\n\r\n");
        assert_int_equal(outcome(text, &status), over ? BTZ_ELIMIT : BTZ_OK);
        assert_int_equal(status, over ? 431 : 0);
        free(text);
    }
    for (size_t count = 99; count <= 100; count++) {
        text = filled(start, 0, count * 6, "\r\n");
        for (size_t i = 0; i < count; i++) {
            memcpy(text + sizeof(start) - 1 + i * 6, "X: y\r\n", 6);
        }
        assert_int_equal(outcome(text, &status), count == 100 ? BTZ_ELIMIT : BTZ_OK);
        assert_int_equal(status, count == 100 ? 431 : 0);
        free(text);
    }
    for (size_t over = 0; over <= 1; over++) {
        size_t line = 512; /* 64 lines of it are 32 KiB */
        size_t count = 64;

        text = filled("", 'a', line * count + over, "");
        for (size_t i = 0; i < count; i++) {
            memcpy(text + i * line, "X:", 2);
            memcpy(text + (i + 1) * line - 2, "\r\n", 2);
        }
        memcpy(text, start, sizeof(start) - 1);
        memcpy(text + sizeof(start) - 1, "X:", 2);
        memcpy(text + count * line - 4 + over, "\r\n\r\n", 4);
        assert_int_equal(outcome(text, &status), over ? BTZ_ELIMIT : BTZ_OK);
        assert_int_equal(status, over ? 431 : 0);
        free(text);
    }
    assert_int_equal(
        outcome("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 16777216\r\n\r\n", &status), BTZ_OK);
    assert_int_equal(
        outcome("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 16777217\r\n\r\n", &status),
        BTZ_ELIMIT);
    assert_int_equal(status, 413);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines),  cmocka_unit_test(heads),        cmocka_unit_test(fields),
        cmocka_unit_test(bodies), cmocka_unit_test(the_defaults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
