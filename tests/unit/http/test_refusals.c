/* Messages that are refused, each however it is cut. */
#include "helper.h"

#include <stdio.h>

struct text {
    const char *bytes;
    size_t len;
};

#define T(literal)                                                                                 \
    {                                                                                              \
        S(literal)                                                                                 \
    }
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void all_refused(const struct text *texts, size_t count, int status)
{
    for (size_t i = 0; i < count; i++) {
        request_refused(texts[i].bytes, texts[i].len, BTZ_EINVAL, status);
    }
}

/* Requests whose head is POST / with Host and these field lines. */
static void fields_refused(const struct text *texts, size_t count, int code, int status)
{
    static const char start[] = "POST / HTTP/1.1\r\nHost: a\r\n";
    char text[1024];

    for (size_t i = 0; i < count; i++) {
        size_t len = sizeof(start) - 1;

        assert_true(len + texts[i].len + 4 < sizeof(text));
        memcpy(text, start, len);
        memcpy(text + len, texts[i].bytes, texts[i].len);
        len += texts[i].len;
        memcpy(text + len, "\r\n\r\n", 4);
        request_refused(text, len + 4, code, status);
    }
}

static void two_ways_to_say_the_length(void **state)
{
    static const struct text texts[] = {
        T("Content-Length: 5\r\nTransfer-Encoding: chunked"),
        T("Transfer-Encoding: chunked\r\nContent-Length: 5"),
        T("Transfer-Encoding: chunked\r\nX: y\r\ncontent-length: 0"),
        T("Transfer-Encoding: identity\r\nContent-Length: 5"),
        T("Content-Length: 5\r\nContent-Length: 5"),
        T("Content-Length: 5\r\nContent-Length: 6"),
        T("Content-Length: 5\r\nX: y\r\nCONTENT-LENGTH: 5"),
        T("Content-Length: 0\r\nContent-Length:"),
    };

    (void)state;
    fields_refused(texts, COUNT(texts), BTZ_EINVAL, 400);
}

static void lengths_that_are_no_plain_number(void **state)
{
    static const struct text texts[] = {
        T("Content-Length: 5, 5"),      T("Content-Length: 5,"),
        T("Content-Length: ,5"),        T("Content-Length: +5"),
        T("Content-Length: -5"),        T("Content-Length: -0"),
        T("Content-Length: 0x5"),       T("Content-Length: 5 5"),
        T("Content-Length: 5\t5"),      T("Content-Length: 5a"),
        T("Content-Length: a"),         T("Content-Length: 5.0"),
        T("Content-Length: 1e1"),       T("Content-Length: 05"),
        T("Content-Length: 00"),        T("Content-Length:"),
        T("Content-Length: \t "),       T("Content-Length: \"5\""),
        T("Content-Length: 5;x"),       T("Content-Length: 1_0"),
        T("Content-Length: \xd9\xa5"),  T("Content-Length: '5'"),
        T("Content-Length: 5\xc2\xa0"), T("Content-Length: 0000000000000000000000000000005"),
    };
    static const struct text huge[] = {
        T("Content-Length: 16777217"),
        T("Content-Length: 4294967296"),
        T("Content-Length: 9223372036854775807"),
        T("Content-Length: 9223372036854775808"),
        T("Content-Length: 18446744073709551616"),
        T("Content-Length: 18446744073709551621"),
        T("Content-Length: 99999999999999999999999999999999999999999999"),
    };

    (void)state;
    fields_refused(texts, COUNT(texts), BTZ_EINVAL, 400);
    fields_refused(huge, COUNT(huge), BTZ_ELIMIT, 413);
    response_refused(S("HTTP/1.1 304 \r\nContent-Length: 9223372036854775808\r\n\r\n"), BTZ_ELIMIT);
}

static void codings_other_than_one_chunked(void **state)
{
    static const struct text texts[] = {
        T("Transfer-Encoding: x"),
        T("Transfer-Encoding: identity"),
        T("Transfer-Encoding: gzip"),
        T("Transfer-Encoding:"),
        T("Transfer-Encoding: ,"),
        T("Transfer-Encoding: chunked,"),
        T("Transfer-Encoding: ,chunked"),
        T("Transfer-Encoding: chunked, chunked"),
        T("Transfer-Encoding: chunked, gzip, chunked"),
        T("Transfer-Encoding: chunked, identity"),
        T("Transfer-Encoding: chunked, gzip"),
        T("Transfer-Encoding: chunked;q=1"),
        T("Transfer-Encoding: gzip chunked"),
        T("Transfer-Encoding: \"chunked\""),
        T("Transfer-Encoding: xchunked"),
        T("Transfer-Encoding: chunkedx"),
        T("Transfer-Encoding: chunke"),
        T("Transfer-Encoding: chunked\x0b"),
        T("Transfer-Encoding: \x0b"
          "chunked"),
        T("Transfer-Encoding: \x0c"
          "chunked"),
        T("Transfer-Encoding: chunked\x00"),
        T("Transfer-Encoding: chunked\xa0"),
        T("Transfer-Encoding: chu\tnked"),
        T("Transfer-Encoding: chunked\tx"),
        T("Transfer-Encoding\t: chunked"),
        T("Transfer-Encoding : chunked"),
        T(" Transfer-Encoding: chunked"),
        T("\tTransfer-Encoding: chunked"),
        T("Transfer-Encoding:\r\n chunked"),
        T("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
        T("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity"),
        T("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked"),
        T("X: y\rTransfer-Encoding: chunked"),
        T("X: y\nTransfer-Encoding: chunked"),
    };
    static const struct text offered_elsewhere[] = {
        T("Transfer-Encoding: gzip, chunked"),
        T("Transfer-Encoding: identity,chunked"),
        T("Transfer-Encoding: deflate \t,\tgzip , Chunked"),
    };

    (void)state;
    fields_refused(texts, COUNT(texts), BTZ_EINVAL, 400);
    fields_refused(offered_elsewhere, COUNT(offered_elsewhere), BTZ_EINVAL, 501);
}

static void odd_line_ends(void **state)
{
    static const struct text texts[] = {
        T("GET / HTTP/1.1\nHost: a\r\n\r\n"),
        T("GET / HTTP/1.1\r\nHost: a\n\r\n"),
        T("GET / HTTP/1.1\r\nHost: a\r\n\n"),
        T("GET / HTTP/1.1\n\n"),
        T("GET / HTTP/1.1\rHost: a\r\n\r\n"),
        T("GET / HTTP/1.1\r\nHost: a\r\r\n"),
        T("GET / HTTP/1.1\r\r\nHost: a\r\n\r\n"),
        T("GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n"),
        T("GET / HTTP/1.1\r\nHost: a\r\n\rX"),
        T("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("\r\n\r\n"),
        T("\rG"),
    };

    (void)state;
    all_refused(texts, COUNT(texts), 400);
    http_gives(BTZ_HTTP_REQUESTS, NULL, false,
               S("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx\r\n"),
               "POST / [Host=a;Content-Length=1] len=1\n\"x\"\nend\nEINVAL 400\n");
}

static void field_lines_out_of_shape(void **state)
{
    static const struct text texts[] = {
        T("X: y\r\n folded"),
        T("X: y\r\n\tfolded"),
        T("X: y\r\n "),
        T("X : y"),
        T("X\t: y"),
        T(": y"),
        T(":"),
        T("X"),
        T("X y: z"),
        T("X(: y"),
        T("X\x00: y"),
        T("X\x7f: y"),
        T("X\x80: y"),
        T("\xc3\xa4: y"),
        T("X: \x00"),
        T("X: a\x00z"),
        T("X: \x01"),
        T("X: \x08"),
        T("X: \x1b[0m"),
        T("X: \x7f"),
        T("X: y\x0b"),
        T("X: \x0c"),
        T("\"X\": y"),
        T("X@: y"),
        T("X/: y"),
        T("{}: y"),
        T("X,: y"),
        T(" : y"),
        T("Connection: a b"),
        T("Connection: close;q"),
        T("Connection: \"close\""),
    };

    (void)state;
    fields_refused(texts, COUNT(texts), BTZ_EINVAL, 400);
    request_refused(S("GET / HTTP/1.1\r\n Host: a\r\n\r\n"), BTZ_EINVAL, 400);
    request_refused(S("GET / HTTP/1.1\r\n \r\nHost: a\r\n\r\n"), BTZ_EINVAL, 400);
}

static void hosts(void **state)
{
    static const struct text values[] = {
        T(""),
        T(" "),
        T("a b"),
        T("a,b"),
        T("a/b"),
        T("a?b"),
        T("a#b"),
        T("a@b"),
        T("user:pw@a"),
        T("http://a"),
        T("a:"),
        T("a:b"),
        T("a:1b"),
        T("a:-1"),
        T("a:+1"),
        T("a:65536"),
        T("a:100000"),
        T("a:1:2"),
        T(":80"),
        T("::1"),
        T("[::1"),
        T("::1]"),
        T("[]"),
        T("[a]"),
        T("[::1]x"),
        T("[::1]:"),
        T("[::1%eth0]"),
        T("[::1]:80:80"),
        T("[1.2.3.4]"),
        T("[::1]]"),
        T("a%41"),
        T("a\\b"),
        T("<a>"),
        T("\xc3\xa4"),
        T("a;b"),
        T("a\tb"),
        T("*"),
        T("a\"b"),
        T("a'b"),
        T("a&b"),
        T("[:::::::::::::::::::::::::::::::::::::::::::::::1]"),
    };
    char text[256];

    (void)state;
    for (size_t i = 0; i < COUNT(values); i++) {
        int len =
            snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", values[i].bytes);

        request_refused(text, (size_t)len, BTZ_EINVAL, 400);
    }
    request_refused(S("GET / HTTP/1.1\r\n\r\n"), BTZ_EINVAL, 400);
    request_refused(S("GET / HTTP/1.1\r\nX-Host: a\r\n\r\n"), BTZ_EINVAL, 400);
    request_refused(S("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"), BTZ_EINVAL, 400);
    request_refused(S("GET / HTTP/1.1\r\nHost: a\r\nX: y\r\nhOST: b\r\n\r\n"), BTZ_EINVAL, 400);
    request_refused(S("GET / HTTP/1.1\r\nHost: a\r\nHost:\r\n\r\n"), BTZ_EINVAL, 400);
    request_refused(S("GET / HTTP/1.1\r\nHost: a\x00\r\n\r\n"), BTZ_EINVAL, 400);
    request_refused(S("GET / HTTP/1.1\r\nHost: [::1\x00]\r\n\r\n"), BTZ_EINVAL, 400);
}

static void request_lines(void **state)
{
    static const struct text texts[] = {
        T("GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("GET https://a HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("GET a:80 HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("GET a HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("GET ?x HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("GET  HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("GET /#x HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("GET /a\tb HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("GET /\x00 HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("GET /\x7f HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("GET /% HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("GET /%4 HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("GET /\\ HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("GET /<x> HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("GET /\"x\" HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("GET /{x} HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("GET /[x] HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("GET  / HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("GET /  HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("GET /\tHTTP/1.1\r\nHost: a\r\n\r\n"),
        T(" GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("GET / HTTP/1.1 \r\nHost: a\r\n\r\n"),
        T("GET / HTTP/1.1\t\r\nHost: a\r\n\r\n"),
        T("GET / http/1.1\r\nHost: a\r\n\r\n"),
        T("GET / Http/1.1\r\nHost: a\r\n\r\n"),
        T("GET / HTTP/1\r\nHost: a\r\n\r\n"),
        T("GET / HTTP/11\r\nHost: a\r\n\r\n"),
        T("GET / HTTP/1.10\r\nHost: a\r\n\r\n"),
        T("GET / HTTP/01.1\r\nHost: a\r\n\r\n"),
        T("GET / HTTP/1,1\r\nHost: a\r\n\r\n"),
        T("GET / HTTP/+.1\r\nHost: a\r\n\r\n"),
        T("GET / HTTP /1.1\r\nHost: a\r\n\r\n"),
        T("GET / ICE/1.1\r\nHost: a\r\n\r\n"),
        T("GET / \r\nHost: a\r\n\r\n"),
        T("GET /\r\nHost: a\r\n\r\n"),
        T("GET\r\nHost: a\r\n\r\n"),
        T("/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("G@T / HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("\x16\x03\x01\x02"),
        T("\xef\xbb\xbfGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
    };
    static const struct text versions[] = {
        T("GET / HTTP/1.0\r\nHost: a\r\n\r\n"), T("GET / HTTP/2.0\r\nHost: a\r\n\r\n"),
        T("GET / HTTP/0.9\r\nHost: a\r\n\r\n"), T("GET / HTTP/1.2\r\nHost: a\r\n\r\n"),
        T("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    };
    static const struct text methods[] = {
        T("get / HTTP/1.1\r\nHost: a\r\n\r\n"),     T("FOO / HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("GETX / HTTP/1.1\r\nHost: a\r\n\r\n"),    T("CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("CONNECT / HTTP/1.1\r\nHost: a\r\n\r\n"),
    };

    (void)state;
    all_refused(texts, COUNT(texts), 400);
    all_refused(versions, COUNT(versions), 505);
    all_refused(methods, COUNT(methods), 501);
}

static void changes_of_protocol(void **state)
{
    static const struct text texts[] = {
        T("Upgrade: websocket\r\nConnection: Upgrade"),
        T("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: x"),
        T("Upgrade: h2c"),
        T("Connection: keep-alive, upgrade"),
    };

    (void)state;
    fields_refused(texts, COUNT(texts), BTZ_EINVAL, 501);
    response_refused(S("HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
                     BTZ_EINVAL);
}

static void chunks(void **state)
{
    static const char start[] = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    static const char head[] = "POST / [Host=a;Transfer-Encoding=chunked] chunked\n";
    static const struct {
        struct text text;
        const char *want;
    } cases[] = {
        {T("+5\r\nhello\r\n0\r\n\r\n"), "EINVAL 400\n"},
        {T("-5\r\nhello\r\n0\r\n\r\n"), "EINVAL 400\n"},
        {T("0x5\r\nhello\r\n0\r\n\r\n"), "EINVAL 400\n"},
        {T("5h\r\nhello\r\n0\r\n\r\n"), "EINVAL 400\n"},
        {T(" 5\r\nhello\r\n0\r\n\r\n"), "EINVAL 400\n"},
        {T("\t5\r\nhello\r\n0\r\n\r\n"), "EINVAL 400\n"},
        {T("5 \r\nhello\r\n0\r\n\r\n"), "EINVAL 400\n"},
        {T("5\t\r\nhello\r\n0\r\n\r\n"), "EINVAL 400\n"},
        {T("\r\nhello\r\n0\r\n\r\n"), "EINVAL 400\n"},
        {T("\r\n\r\n"), "EINVAL 400\n"},
        {T("g\r\n"), "EINVAL 400\n"},
        {T("G\r\n"), "EINVAL 400\n"},
        {T("@\r\n"), "EINVAL 400\n"},
        {T("`\r\n"), "EINVAL 400\n"},
        {T("\x10\r\n"), "EINVAL 400\n"},
        {T("5;x\r\nhello\r\n0\r\n\r\n"), "EINVAL 400\n"},
        {T("5;x=y\r\nhello\r\n0\r\n\r\n"), "EINVAL 400\n"},
        {T("5;\r\nhello\r\n0\r\n\r\n"), "EINVAL 400\n"},
        {T("5\nhello\r\n0\r\n\r\n"), "EINVAL 400\n"},
        {T("5\rhello\r\n0\r\n\r\n"), "EINVAL 400\n"},
        {T("5\r\r\nhello\r\n0\r\n\r\n"), "EINVAL 400\n"},
        {T("5\x00\r\n"), "EINVAL 400\n"},
        {T("00000000000000005\r\nhello\r\n0\r\n\r\n"), "EINVAL 400\n"},
        {T("00000000000000000\r\n\r\n"), "EINVAL 400\n"},
        {T("fffffffffffffffff\r\n"), "ELIMIT 413\n"},
        {T("10000000000000005\r\nhello\r\n0\r\n\r\n"), "ELIMIT 413\n"},
        {T("ffffffffffffffff\r\n"), "ELIMIT 413\n"},
        {T("1000001\r\n"), "ELIMIT 413\n"},
        {T("5\r\nhello0\r\n\r\n"), "\"hello\"\nEINVAL 400\n"},
        {T("5\r\nhello\n0\r\n\r\n"), "\"hello\"\nEINVAL 400\n"},
        {T("5\r\nhello\r0\r\n\r\n"), "\"hello\"\nEINVAL 400\n"},
        {T("5\r\nhello\r\n\r\n0\r\n\r\n"), "\"hello\"\nEINVAL 400\n"},
        {T("4\r\nhello\r\n0\r\n\r\n"), "\"hell\"\nEINVAL 400\n"},
        {T("6\r\nhello\r\n0\r\n\r\n"), "\"hello\r\"\nEINVAL 400\n"},
        {T("0\r\nX: y\r\n\r\n"), "EINVAL 400\n"},
        {T("0\r\nContent-Length: 5\r\n\r\n"), "EINVAL 400\n"},
        {T("0\r\n\n"), "EINVAL 400\n"},
        {T("0\r\n\rX"), "EINVAL 400\n"},
        {T("0\n\n"), "EINVAL 400\n"},
        {T("0;x\r\n\r\n"), "EINVAL 400\n"},
        {T("0\r\n\r\n\r\n"), "end\nEINVAL 400\n"},
        {T("0\r\n\r\n0\r\n\r\n"), "end\nEINVAL 400\n"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t len = sizeof(start) - 1;
        char text[256];
        char want[256];

        memcpy(text, start, len);
        memcpy(text + len, cases[i].text.bytes, cases[i].text.len);
        (void)snprintf(want, sizeof(want), "%s%s", head, cases[i].want);
        http_gives(BTZ_HTTP_REQUESTS, NULL, false, text, len + cases[i].text.len, want);
    }
}

static void responses(void **state)
{
    static const struct text texts[] = {
        T("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n"),
        T("HTTP/1.1\r\n\r\n"),
        T("HTTP/1.1  200 OK\r\n\r\n"),
        T("HTTP/1.1\t200 OK\r\n\r\n"),
        T("HTTP/1.1 20 OK\r\n\r\n"),
        T("HTTP/1.1 2000 OK\r\n\r\n"),
        T("HTTP/1.1 099 OK\r\n\r\n"),
        T("HTTP/1.1 600 OK\r\n\r\n"),
        T("HTTP/1.1 999 OK\r\n\r\n"),
        T("HTTP/1.1 2a0 OK\r\n\r\n"),
        T("HTTP/1.1 +20 OK\r\n\r\n"),
        T("HTTP/1.1 200\tOK\r\n\r\n"),
        T("HTTP/1.1 200OK\r\n\r\n"),
        T("HTTP/1.1 200 O\x00K\r\n\r\n"),
        T("HTTP/1.1 200 O\x07K\r\n\r\n"),
        T("HTTP/1.1 200 O\rK\r\n\r\n"),
        T("HTTP/1.1 200 OK\n\r\n"),
        T("http/1.1 200 OK\r\n\r\n"),
        T("HTTP/2 200 OK\r\n\r\n"),
        T("HTTP/2.0 200 OK\r\n\r\n"),
        T("HTTP/0.9 200 OK\r\n\r\n"),
        T("HTTP/1.2 200 OK\r\n\r\n"),
        T(" HTTP/1.1 200 OK\r\n\r\n"),
        T("\r\nHTTP/1.1 200 OK\r\n\r\n"),
        T("ICY 200 OK\r\n\r\n"),
        T("GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        T("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"),
        T("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n"),
        T("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n"),
        T("HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\n"),
        T("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n"),
        T("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
        T("HTTP/1.1 200 OK\r\nX: y\r\n z\r\n\r\n"),
        T("HTTP/1.1 200 OK\r\nX : y\r\n\r\n"),
        T("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
        T("HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\n"),
        T("HTTP/1.1 100 Continue\r\nTransfer-Encoding: chunked\r\n\r\n"),
        T("HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\nhello"),
        T("HTTP/1.1 204 No\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    };

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        response_refused(texts[i].bytes, texts[i].len, BTZ_EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_ways_to_say_the_length),
        cmocka_unit_test(lengths_that_are_no_plain_number),
        cmocka_unit_test(codings_other_than_one_chunked),
        cmocka_unit_test(odd_line_ends),
        cmocka_unit_test(field_lines_out_of_shape),
        cmocka_unit_test(hosts),
        cmocka_unit_test(request_lines),
        cmocka_unit_test(changes_of_protocol),
        cmocka_unit_test(chunks),
        cmocka_unit_test(responses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
