/* Event streams, read and written. */
#include "helper.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void gives(const char *text, const char *want)
{
    sse_gives(0, text, strlen(text), want);
}

static void events(void **state)
{
    (void)state;
    gives("data: x\n\n", "message id= \"x\"\nmore\n");
    gives("event: e\nid: 7\nretry: 10\ndata: x\n\n", "e id=7 retry=10 \"x\"\nmore\n");
    gives("data:x\ndata\ndata:  y\ndata: z: \n\n", "message id= \"x\n\n y\nz: \"\nmore\n");
    gives("data: a\n\ndata: b\n\n", "message id= \"a\"\nmessage id= \"b\"\nmore\n");
    gives("event: e\nevent: f\ndata: a\n\ndata: b\n\n", "f id= \"a\"\nmessage id= \"b\"\nmore\n");
    gives("event: e\nevent\ndata: a\n\n", "message id= \"a\"\nmore\n");
    gives("data: {\"a\":\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"}\n\n",
          "message id= \"{\"a\":\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"}\"\nmore\n");
    gives("data: not whole\n", "more\n");
    gives("data: not whole", "more\n");
}

static void line_ends(void **state)
{
    (void)state;
    gives("data: a\r\rdata: b\r\r", "message id= \"a\"\nmessage id= \"b\"\nmore\n");
    gives("data: a\r\n\r\ndata: b\r\n\r\n", "message id= \"a\"\nmessage id= \"b\"\nmore\n");
    gives("data: a\rdata: b\ndata: c\r\ndata: d\n\r", "message id= \"a\nb\nc\nd\"\nmore\n");
    gives("data: a\r\n\rdata: b\n\r\n", "message id= \"a\"\nmessage id= \"b\"\nmore\n");
    gives("data: a\n\r\ndata: b\r\n\n", "message id= \"a\"\nmessage id= \"b\"\nmore\n");
    gives("\n\r\r\n\n\ndata: a\r\n\r\n\r\n\n\r", "message id= \"a\"\nmore\n");
}

/* The CR is enough: no event waits for a LF that may not come. */
static void a_cr_ends_an_event_at_once(void **state)
{
    struct btz_sse_parser *parser = btz_sse_parser_new(0);
    struct btz_str input = BTZ_STR("data: a\r\n\r");
    struct btz_sse_event event;

    (void)state;
    assert_int_equal(btz_sse_parser_next(parser, &input, &event, NULL), BTZ_OK);
    assert_text(event.data, "a");
    input = BTZ_STR("\ndata: b\n\nrest");
    assert_int_equal(btz_sse_parser_next(parser, &input, &event, NULL), BTZ_OK);
    assert_text(event.data, "b");
    assert_text(input, "rest");
    btz_sse_parser_free(parser);
    btz_sse_parser_free(NULL);
}

static void byte_order_marks(void **state)
{
    (void)state;
    gives("\xef\xbb\xbf"
          "data: a\n\n",
          "message id= \"a\"\nmore\n");
    gives("\xef\xbb\xbf\ndata: a\n\n", "message id= \"a\"\nmore\n");
    /* Only the first one is a mark; then it is part of a name that nobody knows. */
    gives("\xef\xbb\xbf\xef\xbb\xbf"
          "data: a\n\n",
          "more\n");
    gives("\n\xef\xbb\xbf"
          "data: a\ndata: b\n\n",
          "message id= \"b\"\nmore\n");
    gives("data: \xef\xbb\xbf\n\n", "message id= \"\xef\xbb\xbf\"\nmore\n");
    gives("\xef\xbb\xbe"
          "data: a\ndata: b\n\n",
          "message id= \"b\"\nmore\n");
}

static void lines_that_say_nothing(void **state)
{
    (void)state;
    gives(": comment\n:\n:data: x\n\n", "more\n");
    gives(": a\ndata: x\n:b\ndata: y\n\n", "message id= \"x\ny\"\nmore\n");
    gives("foo: bar\nDATA: x\nData: x\n data: x\ndata : x\nfoo\ndatax\n\n", "more\n");
    gives("foo\ndata: y\n\n", "message id= \"y\"\nmore\n");
    gives("event: e\n\ndata: x\n\n", "message id= \"x\"\nmore\n");
}

static void identifiers(void **state)
{
    (void)state;
    gives("id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n",
          "message id=1 \"a\"\nmessage id=1 \"b\"\nmessage id= \"c\"\nmore\n");
    gives("id: 1\nid: two words\ndata: a\n\n", "message id=two words \"a\"\nmore\n");
    sse_gives(0, S("id: 1\ndata: a\n\nid: 2\x00\ndata: b\n\nid: \x00\n\n"),
              "message id=1 \"a\"\nmessage id=1 \"b\"\nmore\n");
}

static void events_without_data(void **state)
{
    (void)state;
    gives("id: 1\ndata:\n\n", "message id=1 empty \"\"\nmore\n");
    gives("id: 1\ndata\n\n", "message id=1 empty \"\"\nmore\n");
    gives("id: 1\n\ndata: x\n\n", "message id=1 empty \"\"\nmessage id=1 \"x\"\nmore\n");
    gives("retry: 3000\n\n", "message id= retry=3000 empty \"\"\nmore\n");
    gives("data:\n\n", "message id= empty \"\"\nmore\n");
    gives("data:\ndata:\n\n", "message id= \"\n\"\nmore\n");
    gives("event: e\nid: 4\n\ndata: y\n\n", "e id=4 empty \"\"\nmessage id=4 \"y\"\nmore\n");
}

static void retries(void **state)
{
    static const char *const ignored[] = {"retry: -1",
                                          "retry: +1",
                                          "retry: 1s",
                                          "retry: 1.5",
                                          "retry: ",
                                          "retry",
                                          "retry:  1",
                                          "retry: 1 ",
                                          "retry: 0x1",
                                          "retry: \xd9\xa1",
                                          "retry: 9223372036854775808",
                                          "retry: 99999999999999999999999999"};

    (void)state;
    for (size_t i = 0; i < COUNT(ignored); i++) {
        struct btz_buf text;

        btz_buf_init(&text, 1000);
        (void)btz_buf_printf(&text, "%s\n\n%s\ndata: x\n\n", ignored[i], ignored[i]);
        sse_gives(0, text.ptr, text.len, "message id= \"x\"\nmore\n");
        btz_buf_fini(&text);
    }
    gives("retry:0\nretry: 007\ndata: x\n\ndata: y\n\n",
          "message id= retry=7 \"x\"\nmessage id= \"y\"\nmore\n");
    gives("retry: 9223372036854775807\n\n",
          "message id= retry=9223372036854775807 empty \"\"\nmore\n");
}

static void limits(void **state)
{
    (void)state;
    sse_gives(10, S("data: 7890\n\n"), "message id= \"7890\"\nmore\n");
    sse_gives(10, S("data: 78901\n\n"), "ELIMIT\n");
    sse_gives(10, S("data: 78901"), "ELIMIT\n");
    sse_gives(10, S(": comment \n\n"), "more\n");
    sse_gives(10, S(": comment  \n\n"), "ELIMIT\n");
    /* Of one event: each line of data counts with its LF, and so do its name and the last id. */
    sse_gives(10, S("data: 1234\ndata: 678\ndata\ndata: x"), "more\n");
    sse_gives(10, S("data: 1234\ndata: 678\ndata\n\ndata: x\n\n"),
              "message id= \"1234\n678\n\"\nmessage id= \"x\"\nmore\n");
    sse_gives(10, S("data: 1234\ndata: 6789\ndata\n"), "ELIMIT\n");
    sse_gives(10, S("event: abc\nid: abc\ndata: 123\n\n"), "abc id=abc \"123\"\nmore\n");
    sse_gives(10, S("event: abc\nid: abc\ndata: 1234\n\n"), "ELIMIT\n");
    sse_gives(10, S("id: abc\nid: abcdef\nid: a\n\ndata: 1234\ndata: 56\n\n"),
              "message id=a empty \"\"\nmessage id=a \"1234\n56\"\nmore\n");
    sse_gives(10, S("id: abcde\nid: abcdef\ndata: 123\n\n"), "message id=abcdef \"123\"\nmore\n");
    sse_gives(10, S("data: ab\n\ndata: 78901\n\n"), "message id= \"ab\"\nELIMIT\n");
    /* Comments do not add up. */
    sse_gives(10, S(":\n:1\n:12\n:123\n:1234\n:12345\n:123456\ndata: x\n\n"),
              "message id= \"x\"\nmore\n");
}

static void invalid_utf8(void **state)
{
    static const struct btz_str bad[] = {
        {S("\x80")},
        {S("\xbf")},
        {S("\xc0\x80")},
        {S("\xc1\xbf")},
        {S("\xe0\x80\x80")},
        {S("\xe0\x9f\xbf")},
        {S("\xed\xa0\x80")},
        {S("\xed\xbf\xbf")},
        {S("\xf0\x80\x80\x80")},
        {S("\xf0\x8f\xbf\xbf")},
        {S("\xf4\x90\x80\x80")},
        {S("\xf5\x80\x80\x80")},
        {S("\xff")},
        {S("\xfe")},
        {S("\xc3x")},
        {S("\xc3")},
        {S("\xe2\x82")},
        {S("\xe2\x82x")},
        {S("\xf0\x9f\x98")},
        {S("\xe2\xc3\xa4")},
    };
    static const char *const before[] = {"data: ", ":", "foo: ", "id: ", "event: ", ""};
    static const char *const behind[] = {"\n\n", "\r\r", "\r\n\r\n"};
    struct btz_buf text;

    (void)state;
    btz_buf_init(&text, 1000);
    for (size_t i = 0; i < COUNT(bad) * COUNT(before) * COUNT(behind); i++) {
        btz_buf_reset(&text);
        btz_buf_add_text(&text, "data: ok\n\n");
        btz_buf_add_text(&text, before[i / COUNT(bad) % COUNT(before)]);
        btz_buf_add_str(&text, bad[i % COUNT(bad)]);
        btz_buf_add_text(&text, behind[i / COUNT(bad) / COUNT(before)]);
        sse_gives(0, text.ptr, text.len, "message id= \"ok\"\nEINVAL\n");
    }
    btz_buf_fini(&text);
    gives(
        "data: "
        "\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\n\n",
        "message id= "
        "\"\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"\n"
        "more\n");
}

static void written(struct btz_buf *out, const char *bytes, const char *reads_as)
{
    assert_text(btz_buf_view(out), bytes);
    sse_gives(0, out->ptr, out->len, reads_as);
    btz_buf_reset(out);
}

static void writing(void **state)
{
    struct btz_buf out;

    (void)state;
    btz_buf_init(&out, 4096);
    assert_int_equal(btz_sse_write(&out, BTZ_STR_NONE, BTZ_STR_NONE, -1, BTZ_STR("{}")), BTZ_OK);
    written(&out, "data: {}\n\n", "message id= \"{}\"\nmore\n");
    assert_int_equal(btz_sse_write(&out, BTZ_STR("e"), BTZ_STR("7"), 1500, BTZ_STR(" a\nb\r\n\nc")),
                     BTZ_OK);
    written(&out, "event: e\nid: 7\nretry: 1500\ndata:  a\ndata: b\ndata:\ndata: c\n\n",
            "e id=7 retry=1500 \" a\nb\n\nc\"\nmore\n");
    assert_int_equal(btz_sse_write(&out, BTZ_STR_NONE, BTZ_STR("x"), -1, BTZ_STR("")), BTZ_OK);
    written(&out, "id: x\ndata:\n\n", "message id=x empty \"\"\nmore\n");
    assert_int_equal(btz_sse_write(&out, BTZ_STR_NONE, BTZ_STR(""), 0, BTZ_STR_NONE), BTZ_OK);
    written(&out, "id:\nretry: 0\ndata:\n\n", "message id= retry=0 empty \"\"\nmore\n");
    assert_int_equal(btz_sse_write(&out, BTZ_STR_NONE, BTZ_STR_NONE, -1, BTZ_STR("a\n")), BTZ_OK);
    written(&out, "data: a\ndata:\n\n", "message id= \"a\n\"\nmore\n");
    assert_int_equal(btz_sse_write_comment(&out, BTZ_STR("keep: \xc3\xa4")), BTZ_OK);
    assert_int_equal(btz_sse_write_comment(&out, BTZ_STR("")), BTZ_OK);
    written(&out, ": keep: \xc3\xa4\n\n:\n\n", "more\n");
    btz_buf_fini(&out);
}

static void writing_refused(void **state)
{
    static const struct btz_str lines[] = {{S("a\nb")}, {S("\r")},           {S("a\x00")},
                                           {S("\n")},   {S("a\r\ndata: x")}, {S("\xff")},
                                           {S("\xc3")}};
    static const struct btz_str data[] = {{S("a\rb")},     {S("\r")},   {S("a\r")},
                                          {S("a\r\r\nb")}, {S("\xff")}, {S("a\xc3")}};
    struct btz_buf out;

    (void)state;
    btz_buf_init(&out, 4096);
    btz_buf_add_text(&out, "xx");
    for (size_t i = 0; i < COUNT(lines); i++) {
        assert_int_equal(btz_sse_write(&out, lines[i], BTZ_STR_NONE, -1, BTZ_STR("x")), BTZ_EINVAL);
        assert_int_equal(btz_sse_write(&out, BTZ_STR_NONE, lines[i], -1, BTZ_STR("x")), BTZ_EINVAL);
        assert_int_equal(btz_sse_write_comment(&out, lines[i]), BTZ_EINVAL);
    }
    for (size_t i = 0; i < COUNT(data); i++) {
        assert_int_equal(btz_sse_write(&out, BTZ_STR_NONE, BTZ_STR_NONE, -1, data[i]), BTZ_EINVAL);
    }
    assert_text(btz_buf_view(&out), "xx");
    btz_buf_fini(&out);
    for (size_t max = 0; max < 40; max++) {
        int rc;

        btz_buf_init(&out, max + 2);
        btz_buf_add_text(&out, "xx");
        rc = btz_sse_write(&out, BTZ_STR("e"), BTZ_STR("7"), 1, BTZ_STR("a"));
        assert_int_equal(rc, max >= 33 ? BTZ_OK : BTZ_ELIMIT);
        assert_int_equal(btz_buf_status(&out), BTZ_OK);
        assert_int_equal(out.len, rc ? 2 : 35);
        rc = rc ? btz_sse_write_comment(&out, BTZ_STR("a")) : BTZ_OK;
        assert_int_equal(rc, max >= 5 ? BTZ_OK : BTZ_ELIMIT);
        btz_buf_fini(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events),
        cmocka_unit_test(line_ends),
        cmocka_unit_test(a_cr_ends_an_event_at_once),
        cmocka_unit_test(byte_order_marks),
        cmocka_unit_test(lines_that_say_nothing),
        cmocka_unit_test(identifiers),
        cmocka_unit_test(events_without_data),
        cmocka_unit_test(retries),
        cmocka_unit_test(limits),
        cmocka_unit_test(invalid_utf8),
        cmocka_unit_test(writing),
        cmocka_unit_test(writing_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
