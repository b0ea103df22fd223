/* Messages that are taken, and what they give. */
#include "helper.h"

static void requests_give(const char *text, const char *want)
{
    http_gives(BTZ_HTTP_REQUESTS, NULL, false, text, strlen(text), want);
}

static void responses_give(const char *text, const char *want)
{
    http_gives(BTZ_HTTP_RESPONSES, NULL, false, text, strlen(text), want);
}

static void requests_without_body(void **state)
{
    (void)state;
    requests_give("", "more\neof idle\n");
    requests_give("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / [Host=a]\nend\nmore\neof idle\n");
    requests_give("DELETE /mcp?x=%2F%3a&y=(1);@ HTTP/1.1\r\nhost:a.example:8080\r\n\r\n",
                  "DELETE /mcp?x=%2F%3a&y=(1);@ [host=a.example:8080]\nend\nmore\neof idle\n");
    requests_give("OPTIONS /a/b/../c HTTP/1.1\r\nHost: [::1]:80\r\nEmpty:\r\nBlank: \t \r\n\r\n",
                  "OPTIONS /a/b/../c [Host=[::1]:80;Empty=;Blank=]\nend\nmore\neof idle\n");
    requests_give("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n",
                  "POST / [Host=127.0.0.1;Content-Length=0] len=0\nend\nmore\neof idle\n");
    requests_give("PUT /x HTTP/1.1\r\nHost: a_b-c\r\nX: \t a \t b\xc3\xa4 \t\r\nx:~:\r\n\r\n",
                  "PUT /x [Host=a_b-c;X=a \t b\xc3\xa4;x=~:]\nend\nmore\neof idle\n");
}

static void requests_with_body(void **state)
{
    (void)state;
    requests_give("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
                  "POST / [Host=a;Content-Length=5] len=5\n\"hello\"\nend\nmore\neof idle\n");
    requests_give("POST / HTTP/1.1\r\nHost: a\r\ntransfer-encoding: Chunked\r\n\r\n"
                  "5\r\nhello\r\n001\r\n,\r\nA\r\n0123456789\r\n0000\r\n\r\n",
                  "POST / [Host=a;transfer-encoding=Chunked] chunked\n\"hello,0123456789\"\nend\n"
                  "more\neof idle\n");
    requests_give("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: x\r\n\r\n"
                  "00000000000000fF\r\n"
                  "................................................................"
                  "................................................................"
                  "................................................................"
                  "...............................................................\r\n0\r\n\r\n",
                  "POST / [Host=a;Transfer-Encoding=chunked;Trailer=x] chunked\n\""
                  "................................................................"
                  "................................................................"
                  "................................................................"
                  "...............................................................\"\nend\n"
                  "more\neof idle\n");
    requests_give(
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n{}",
        "GET / [Host=a;Content-Length=2;Expect=100-continue] len=2\n\"{}\"\nend\n"
        "more\neof idle\n");
}

static void messages_in_a_row(void **state)
{
    (void)state;
    requests_give("POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 27\r\n\r\n"
                  "GET /x HTTP/1.1\r\nHost: a\r\n\r"
                  "GET /2 HTTP/1.1\r\nHost: b\r\nConnection: keep-alive\r\n\r\n"
                  "POST /3 HTTP/1.1\r\nHost: c\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "1\r\n0\r\n0\r\n\r\n"
                  "GET /4 HTTP/1.1\r\nHost: d\r\nConnection: x, ,Close\r\n\r\n",
                  "POST /1 [Host=a;Content-Length=27] len=27\n"
                  "\"GET /x HTTP/1.1\r\nHost: a\r\n\r\"\nend\n"
                  "GET /2 [Host=b;Connection=keep-alive]\nend\n"
                  "POST /3 [Host=c;Transfer-Encoding=chunked] chunked\n\"0\"\nend\n"
                  "GET /4 [Host=d;Connection=x, ,Close] close\nend\nmore\neof idle\n");
    responses_give("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 404 \r\n"
                   "Content-Length: 2\r\n\r\nbb",
                   "200 OK [Content-Length=1] len=1\n\"a\"\nend\n"
                   "404  [Content-Length=2] len=2\n\"bb\"\nend\nmore\neof idle\n");
}

static void nothing_follows_a_close(void **state)
{
    (void)state;
    requests_give("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nG",
                  "GET / [Host=a;Connection=close] close\nend\nEINVAL 400\n");
    responses_give("HTTP/1.0 200 OK\r\nContent-Length: 1\r\nConnection: keep-alive\r\n\r\nab",
                   "200 OK [Content-Length=1;Connection=keep-alive] len=1 close\n\"a\"\nend\n"
                   "EINVAL 0\n");
}

static void responses(void **state)
{
    (void)state;
    responses_give("HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n",
                   "200  [Content-Length=0] len=0\nend\nmore\neof idle\n");
    responses_give("HTTP/1.1 599  so\tso \xc3\xa4 \r\nContent-Length: 0\r\n\r\n",
                   "599  so\tso \xc3\xa4  [Content-Length=0] len=0\nend\nmore\neof idle\n");
    responses_give(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        "3\r\nabc\r\n0\r\n\r\n",
        "200 OK [Transfer-Encoding=chunked;Connection=close] chunked close\n\"abc\"\nend\n"
        "more\neof idle\n");
    responses_give("HTTP/1.1 426 No\r\nUpgrade: h2c\r\nConnection: upgrade\r\n"
                   "Content-Length: 0\r\nHost: a\r\nHost: b\r\n\r\n",
                   "426 No [Upgrade=h2c;Connection=upgrade;Content-Length=0;Host=a;Host=b] len=0\n"
                   "end\nmore\neof idle\n");
}

static void responses_that_end_with_the_connection(void **state)
{
    (void)state;
    responses_give("HTTP/1.1 200 OK\r\n\r\n", "200 OK [] close\nmore\neof whole\n");
    responses_give("HTTP/1.1 200 OK\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
                   "200 OK [A=b] close\n\"HTTP/1.1 200 OK\r\n\r\n\"\nmore\neof whole\n");
    responses_give("HTTP/1.0 200 OK\r\n\r\nx", "200 OK [] close\n\"x\"\nmore\neof whole\n");
}

static void statuses_without_body(void **state)
{
    (void)state;
    responses_give("HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 100 \r\n\r\n"
                   "HTTP/1.1 304 Not\r\nContent-Length: 99999999999\r\n\r\n"
                   "HTTP/1.1 304 Not\r\nTransfer-Encoding: chunked\r\n\r\n"
                   "HTTP/1.1 204 No\r\nContent-Length: 0\r\n\r\nHTTP/1.1 204 No\r\n\r\n",
                   "103 Early [Link=x]\nend\n100  []\nend\n"
                   "304 Not [Content-Length=99999999999] len=99999999999\nend\n"
                   "304 Not [Transfer-Encoding=chunked] chunked\nend\n"
                   "204 No [Content-Length=0] len=0\nend\n204 No []\nend\nmore\neof idle\n");
    /* What stands behind such a head is no body but the next message. */
    responses_give("HTTP/1.1 204 No\r\n\r\nbody", "204 No []\nend\nmore\neof EINVAL\n");
    responses_give("HTTP/1.1 304 No\r\nContent-Length: 6\r\n\r\nbody\r\n",
                   "304 No [Content-Length=6] len=6\nend\nEINVAL 0\n");
}

static void responses_to_head(void **state)
{
    static const char text[] = "HTTP/1.1 103 Early\r\n\r\n"
                               "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"
                               "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                               "HTTP/1.1 200 OK\r\n\r\n";

    (void)state;
    http_gives(BTZ_HTTP_RESPONSES, NULL, true, S(text),
               "103 Early []\nend\n200 OK [Content-Length=99999999999] len=99999999999\nend\n"
               "200 OK [Transfer-Encoding=chunked] chunked\nend\n200 OK []\nend\n"
               "more\neof idle\n");
}

static void one_expectation_is_for_one_response(void **state)
{
    struct btz_http_parser *parser = btz_http_parser_new(BTZ_HTTP_RESPONSES, NULL);
    struct btz_str input = BTZ_STR("HTTP/1.1 100 \r\n\r\nHTTP/1.1 200 \r\nContent-Length: 2\r\n\r\n"
                                   "HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok");
    static const enum btz_http_event want[] = {BTZ_HTTP_HEAD, BTZ_HTTP_END,  BTZ_HTTP_HEAD,
                                               BTZ_HTTP_END,  BTZ_HTTP_HEAD, BTZ_HTTP_BODY,
                                               BTZ_HTTP_END,  BTZ_HTTP_MORE};

    (void)state;
    btz_http_parser_expect_head(parser);
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        enum btz_http_event event;
        struct btz_str body;

        assert_int_equal(btz_http_parser_next(parser, &input, &event, &body, NULL), BTZ_OK);
        assert_int_equal(event, want[i]);
    }
    btz_http_parser_free(parser);
}

static void a_connection_may_not_end_inside_a_message(void **state)
{
    static const char *const texts[] = {
        "G",
        "GET / HTTP/1.1\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n\r",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        requests_give(texts[i], "more\neof EINVAL\n");
    }
    requests_give("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx",
                  "POST / [Host=a;Content-Length=2] len=2\n\"x\"\nmore\neof EINVAL\n");
    requests_give("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n",
                  "POST / [Host=a;Transfer-Encoding=chunked] chunked\n\"x\"\nmore\neof EINVAL\n");
    responses_give("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n",
                   "200 OK [Transfer-Encoding=chunked] chunked\nmore\neof EINVAL\n");
}

static void the_end_may_be_asked_before_the_event(void **state)
{
    struct btz_http_parser *parser = btz_http_parser_new(BTZ_HTTP_RESPONSES, NULL);
    struct btz_str input = BTZ_STR("HTTP/1.1 202 \r\nContent-Length: 0\r\n\r\n");
    enum btz_http_event event;
    struct btz_str body;
    bool ended = false;

    (void)state;
    assert_int_equal(btz_http_parser_next(parser, &input, &event, &body, NULL), BTZ_OK);
    assert_int_equal(event, BTZ_HTTP_HEAD);
    assert_int_equal(btz_http_parser_eof(parser, &ended, NULL), BTZ_OK);
    assert_true(ended);
    assert_int_equal(btz_http_parser_eof(parser, &ended, NULL), BTZ_OK);
    assert_false(ended);
    input = BTZ_STR("H");
    assert_int_equal(btz_http_parser_next(parser, &input, &event, &body, NULL), BTZ_EINVAL);
    btz_http_parser_free(parser);
}

static void fields_are_found_if_they_are_alone(void **state)
{
    struct btz_http_parser *parser = btz_http_parser_new(BTZ_HTTP_REQUESTS, NULL);
    struct btz_str input =
        BTZ_STR("GET / HTTP/1.1\r\nHost: a\r\nAccept: b\r\nACCEPT: c\r\nE:\r\n\r\n");
    const struct btz_http_head *head;
    enum btz_http_event event;
    struct btz_str body;
    size_t count = 9;

    (void)state;
    assert_int_equal(btz_http_parser_next(parser, &input, &event, &body, NULL), BTZ_OK);
    assert_int_equal(event, BTZ_HTTP_HEAD);
    head = btz_http_parser_head(parser);
    assert_text(btz_http_field_get(head, "hOST", NULL), "a");
    assert_text(btz_http_field_get(head, "Host", &count), "a");
    assert_int_equal(count, 1);
    assert_null(btz_http_field_get(head, "accept", &count).ptr);
    assert_int_equal(count, 2);
    assert_null(btz_http_field_get(head, "hos", &count).ptr);
    assert_int_equal(count, 0);
    assert_non_null(btz_http_field_get(head, "e", &count).ptr);
    assert_int_equal(count, 1);
    assert_int_equal(btz_http_parser_status(parser), 0);
    btz_http_parser_free(parser);
    btz_http_parser_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_without_body),
        cmocka_unit_test(requests_with_body),
        cmocka_unit_test(messages_in_a_row),
        cmocka_unit_test(nothing_follows_a_close),
        cmocka_unit_test(responses),
        cmocka_unit_test(responses_that_end_with_the_connection),
        cmocka_unit_test(statuses_without_body),
        cmocka_unit_test(responses_to_head),
        cmocka_unit_test(one_expectation_is_for_one_response),
        cmocka_unit_test(a_connection_may_not_end_inside_a_message),
        cmocka_unit_test(the_end_may_be_asked_before_the_event),
        cmocka_unit_test(fields_are_found_if_they_are_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
