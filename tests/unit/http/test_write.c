/* Writers: exact bytes, refused injection, and that everything reads back. */
#include "helper.h"

#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct btz_http_field host = {{S("Host")}, {S("a.example:80")}};

static void expect(struct btz_buf *out, enum btz_http_side side, const char *bytes,
                   const char *reads_as)
{
    assert_text(btz_buf_view(out), bytes);
    http_gives(side, NULL, false, out->ptr, out->len, reads_as);
    btz_buf_reset(out);
}

static void requests(void **state)
{
    struct btz_http_field fields[] = {host,
                                      {{S("X-A")}, {S("")}},
                                      {{S("Connection")}, {S("close")}},
                                      {{S("b")}, {S("c\t\xc3\xa4")}}};
    struct btz_buf out;

    (void)state;
    btz_buf_init(&out, 4096);
    assert_int_equal(
        btz_http_write_request(&out, BTZ_STR("GET"), BTZ_STR("/x?y=z"), fields, 4, BTZ_STR_NONE),
        BTZ_OK);
    expect(&out, BTZ_HTTP_REQUESTS,
           "GET /x?y=z HTTP/1.1\r\nHost: a.example:80\r\nX-A: \r\nConnection: close\r\n"
           "b: c\t\xc3\xa4\r\n\r\n",
           "GET /x?y=z [Host=a.example:80;X-A=;Connection=close;b=c\t\xc3\xa4] close\nend\n"
           "more\neof idle\n");
    assert_int_equal(
        btz_http_write_request(&out, BTZ_STR("POST"), BTZ_STR("/"), &host, 1, BTZ_STR("{}")),
        BTZ_OK);
    expect(&out, BTZ_HTTP_REQUESTS,
           "POST / HTTP/1.1\r\nHost: a.example:80\r\nContent-Length: 2\r\n\r\n{}",
           "POST / [Host=a.example:80;Content-Length=2] len=2\n\"{}\"\nend\nmore\neof idle\n");
    assert_int_equal(
        btz_http_write_request(&out, BTZ_STR("PUT"), BTZ_STR("/"), &host, 1, BTZ_STR_NONE), BTZ_OK);
    expect(&out, BTZ_HTTP_REQUESTS,
           "PUT / HTTP/1.1\r\nHost: a.example:80\r\nContent-Length: 0\r\n\r\n",
           "PUT / [Host=a.example:80;Content-Length=0] len=0\nend\nmore\neof idle\n");
    assert_int_equal(
        btz_http_write_request(&out, BTZ_STR("DELETE"), BTZ_STR("/"), &host, 1, BTZ_STR("x")),
        BTZ_OK);
    expect(&out, BTZ_HTTP_REQUESTS,
           "DELETE / HTTP/1.1\r\nHost: a.example:80\r\nContent-Length: 1\r\n\r\nx",
           "DELETE / [Host=a.example:80;Content-Length=1] len=1\n\"x\"\nend\nmore\neof idle\n");
    btz_buf_fini(&out);
}

static void responses(void **state)
{
    struct btz_http_field type = {{S("Content-Type")}, {S("text/plain")}};
    struct btz_buf out;

    (void)state;
    btz_buf_init(&out, 4096);
    assert_int_equal(btz_http_write_response(&out, 200, &type, 1, BTZ_STR("ok")), BTZ_OK);
    expect(
        &out, BTZ_HTTP_RESPONSES,
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok",
        "200 OK [Content-Type=text/plain;Content-Length=2] len=2\n\"ok\"\nend\nmore\neof idle\n");
    assert_int_equal(btz_http_write_response(&out, 299, NULL, 0, BTZ_STR_NONE), BTZ_OK);
    expect(&out, BTZ_HTTP_RESPONSES, "HTTP/1.1 299 \r\nContent-Length: 0\r\n\r\n",
           "299  [Content-Length=0] len=0\nend\nmore\neof idle\n");
    assert_int_equal(btz_http_write_response(&out, 100, NULL, 0, BTZ_STR_NONE), BTZ_OK);
    assert_int_equal(btz_http_write_response(&out, 204, NULL, 0, BTZ_STR_NONE), BTZ_OK);
    assert_int_equal(btz_http_write_response(&out, 304, NULL, 0, BTZ_STR("")), BTZ_OK);
    expect(
        &out, BTZ_HTTP_RESPONSES,
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"
        "HTTP/1.1 304 Not Modified\r\n\r\n",
        "100 Continue []\nend\n204 No Content []\nend\n304 Not Modified []\nend\nmore\neof idle\n");
    assert_int_equal(btz_http_write_stream(&out, 200, &type, 1), BTZ_OK);
    assert_int_equal(btz_http_write_chunk(&out, BTZ_STR("data: 0123456789\n\n")), BTZ_OK);
    assert_int_equal(btz_http_write_chunk(&out, BTZ_STR("")), BTZ_OK);
    assert_int_equal(btz_http_write_chunk(&out, BTZ_STR("\r\n")), BTZ_OK);
    assert_int_equal(btz_http_write_end(&out), BTZ_OK);
    expect(&out, BTZ_HTTP_RESPONSES,
           "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
           "12\r\ndata: 0123456789\n\n\r\n2\r\n\r\n\r\n0\r\n\r\n",
           "200 OK [Content-Type=text/plain;Transfer-Encoding=chunked] chunked\n"
           "\"data: 0123456789\n\n\r\n\"\nend\nmore\neof idle\n");
    btz_buf_fini(&out);
}

static void nothing_breaks_out_of_its_field(void **state)
{
    static const struct btz_http_field fields[] = {
        {{S("X")}, {S("a\r\nY: b")}},
        {{S("X")}, {S("a\n")}},
        {{S("X")}, {S("a\rb")}},
        {{S("X")}, {S("\r\n\r\nGET / HTTP/1.1")}},
        {{S("X")}, {S("a\x00z")}},
        {{S("X")}, {S("\x7f")}},
        {{S("X")}, {S("\x1b")}},
        {{S("X")}, {S(" a")}},
        {{S("X")}, {S("a\t")}},
        {{S("")}, {S("a")}},
        {{S("X:")}, {S("a")}},
        {{S("X ")}, {S("a")}},
        {{S("X\r\nY")}, {S("a")}},
        {{S("X\x00")}, {S("a")}},
        {{S("\xc3\xa4")}, {S("a")}},
        {{S("Content-Length")}, {S("0")}},
        {{S("CONTENT-length")}, {S("2")}},
        {{S("Transfer-Encoding")}, {S("chunked")}},
        {{S("transfer-encoding")}, {S("")}},
        {{S("Connection")}, {S("a b")}},
    };
    struct btz_buf out;

    (void)state;
    btz_buf_init(&out, 4096);
    btz_buf_add_text(&out, "before");
    for (size_t i = 0; i < COUNT(fields); i++) {
        struct btz_http_field both[] = {host, fields[i]};

        assert_int_equal(
            btz_http_write_request(&out, BTZ_STR("GET"), BTZ_STR("/"), both, 2, BTZ_STR_NONE),
            BTZ_EINVAL);
        assert_int_equal(btz_http_write_response(&out, 200, both, 2, BTZ_STR_NONE), BTZ_EINVAL);
        assert_int_equal(btz_http_write_stream(&out, 200, both, 2), BTZ_EINVAL);
    }
    assert_text(btz_buf_view(&out), "before");
    btz_buf_fini(&out);
}

static void start_lines_out_of_shape(void **state)
{
    static const struct btz_str targets[] = {
        {S("")},          {S("x")},     {S("*")},    {S("http://a/")}, {S("/ HTTP/1.1\r\nX: y")},
        {S("/a b")},      {S("/#")},    {S("/%")},   {"/%41", 3},      {S("/\x00")},
        {S("/\xc3\xa4")}, {S("/\r\n")}, {S("a:80")}, {S("?x")},
    };
    static const struct btz_str methods[] = {
        {S("")}, {S("get")}, {S("FOO")}, {S("CONNECT")}, {S("GET /x HTTP/1.1\r\n")}, {S("G\x00T")}};
    static const struct btz_http_field hosts[] = {
        {{S("Host")}, {S("")}}, {{S("Host")}, {S("a b")}},    {{S("host")}, {S("a/b")}},
        {{S("X")}, {S("a")}},   {{S("Upgrade")}, {S("h2c")}}, {{S("Connection")}, {S("upgrade")}}};
    static const int statuses[] = {-1, 0, 99, 101, 600, 1000};
    struct btz_http_field two[] = {host, host};
    struct btz_buf out;

    (void)state;
    btz_buf_init(&out, 4096);
    for (size_t i = 0; i < COUNT(targets); i++) {
        assert_int_equal(
            btz_http_write_request(&out, BTZ_STR("GET"), targets[i], &host, 1, BTZ_STR_NONE),
            BTZ_EINVAL);
    }
    for (size_t i = 0; i < COUNT(methods); i++) {
        assert_int_equal(
            btz_http_write_request(&out, methods[i], BTZ_STR("/"), &host, 1, BTZ_STR_NONE),
            BTZ_EINVAL);
    }
    for (size_t i = 0; i < COUNT(hosts); i++) {
        two[1] = hosts[i];
        assert_int_equal(
            btz_http_write_request(&out, BTZ_STR("GET"), BTZ_STR("/"), two + 1, 1, BTZ_STR_NONE),
            BTZ_EINVAL);
        assert_int_equal(
            btz_http_write_request(&out, BTZ_STR("GET"), BTZ_STR("/"), two, 2, BTZ_STR_NONE),
            btz_str_is(hosts[i].name, "X") ? BTZ_OK : BTZ_EINVAL);
        btz_buf_reset(&out);
    }
    two[1] = host;
    assert_int_equal(
        btz_http_write_request(&out, BTZ_STR("GET"), BTZ_STR("/"), two, 2, BTZ_STR_NONE),
        BTZ_EINVAL);
    for (size_t i = 0; i < COUNT(statuses); i++) {
        assert_int_equal(btz_http_write_response(&out, statuses[i], NULL, 0, BTZ_STR_NONE),
                         BTZ_EINVAL);
        assert_int_equal(btz_http_write_stream(&out, statuses[i], NULL, 0), BTZ_EINVAL);
    }
    for (size_t i = 0; i < 3; i++) {
        int status = i == 0 ? 103 : i == 1 ? 204 : 304;

        assert_int_equal(btz_http_write_response(&out, status, NULL, 0, BTZ_STR("x")), BTZ_EINVAL);
        assert_int_equal(btz_http_write_stream(&out, status, NULL, 0), BTZ_EINVAL);
    }
    assert_int_equal(out.len, 0);
    btz_buf_fini(&out);
}

static int write_kind(struct btz_buf *out, size_t kind)
{
    switch (kind) {
    case 0:
        return btz_http_write_request(out, BTZ_STR("POST"), BTZ_STR("/"), &host, 1, BTZ_STR("ok!"));
    case 1:
        return btz_http_write_response(out, 200, NULL, 0, BTZ_STR("ok"));
    case 2:
        return btz_http_write_stream(out, 200, NULL, 0);
    case 3:
        return btz_http_write_chunk(out, BTZ_STR("ok"));
    default:
        return btz_http_write_end(out);
    }
}

/* With less room than it needs a writer writes nothing, and the buffer stays good. */
static void all_or_nothing(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < 5; kind++) {
        struct btz_buf out;
        size_t need;

        btz_buf_init(&out, 4096);
        assert_int_equal(write_kind(&out, kind), BTZ_OK);
        need = out.len;
        assert_true(need >= 5);
        btz_buf_fini(&out);
        for (size_t room = 0; room < need + 2; room++) {
            int rc;

            btz_buf_init(&out, room + 2);
            btz_buf_add_text(&out, "xx");
            rc = write_kind(&out, kind);
            assert_int_equal(rc, room >= need ? BTZ_OK : BTZ_ELIMIT);
            assert_int_equal(btz_buf_status(&out), BTZ_OK);
            assert_int_equal(out.len, rc ? 2 : 2 + need);
            btz_buf_fini(&out);
        }
    }
}

static void reasons(void **state)
{
    (void)state;
    assert_string_equal(btz_http_reason(200), "OK");
    assert_string_equal(btz_http_reason(505), "HTTP Version Not Supported");
    assert_string_equal(btz_http_reason(299), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests),
        cmocka_unit_test(responses),
        cmocka_unit_test(nothing_breaks_out_of_its_field),
        cmocka_unit_test(start_lines_out_of_shape),
        cmocka_unit_test(all_or_nothing),
        cmocka_unit_test(reasons),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
