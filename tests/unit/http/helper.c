#include "helper.h"

#include <stdio.h>
#include <stdlib.h>

void assert_text(struct btz_str got, const char *want)
{
    if (!btz_str_is(got, want)) {
        fail_msg("got:\n%.*s\nwant:\n%s", BTZ_FMT(got), want);
    }
}

/* -- messages ---------------------------------------------------------------------------------- */

struct run {
    struct btz_http_parser *parser;
    struct btz_buf out;
    bool in_body;
    bool heads;
    int code;
    struct btz_err err;
};

static void show_head(struct run *run)
{
    const struct btz_http_head *head = btz_http_parser_head(run->parser);
    struct btz_buf *out = &run->out;

    assert_non_null(head);
    if (head->method.len) {
        (void)btz_buf_printf(out, "%.*s %.*s [", BTZ_FMT(head->method), BTZ_FMT(head->target));
    } else {
        (void)btz_buf_printf(out, "%d %.*s [", head->status, BTZ_FMT(head->reason));
    }
    for (size_t i = 0; i < head->field_count; i++) {
        (void)btz_buf_printf(out, "%s%.*s=", i ? ";" : "", BTZ_FMT(head->fields[i].name));
        btz_buf_add_str(out, head->fields[i].value);
    }
    btz_buf_add_text(out, "]");
    if (head->content_length >= 0) {
        (void)btz_buf_printf(out, " len=%lld", (long long)head->content_length);
    }
    btz_buf_add_text(out, head->chunked ? " chunked" : "");
    btz_buf_add_text(out, head->close ? " close\n" : "\n");
}

static void quote(struct run *run, bool in_body)
{
    if (run->in_body != in_body) {
        btz_buf_add_text(&run->out, in_body ? "\"" : "\"\n");
    }
    run->in_body = in_body;
}

/* Takes all events that these bytes give. */
static void feed(struct run *run, const char *bytes, size_t len)
{
    struct btz_str input = {bytes, len};
    enum btz_http_event event = BTZ_HTTP_HEAD;
    struct btz_str body;

    while (run->code == BTZ_OK && event != BTZ_HTTP_MORE) {
        size_t before = input.len;

        run->code = btz_http_parser_next(run->parser, &input, &event, &body, &run->err);
        if (run->code != BTZ_OK) {
            quote(run, false);
        } else if (event == BTZ_HTTP_BODY) {
            assert_true(body.len > 0);
            assert_true(body.ptr >= bytes && body.ptr + body.len <= bytes + len);
            quote(run, true);
            btz_buf_add_str(&run->out, body);
        } else if (event == BTZ_HTTP_HEAD) {
            show_head(run);
            if (run->heads) {
                btz_http_parser_expect_head(run->parser);
            }
        } else if (event == BTZ_HTTP_END) {
            quote(run, false);
            btz_buf_add_text(&run->out, "end\n");
            assert_non_null(btz_http_parser_head(run->parser));
        } else {
            assert_int_equal(input.len, 0);
        }
        assert_true(input.len <= before);
    }
}

static void finish(struct run *run)
{
    bool ended = false;
    int rc = btz_http_parser_eof(run->parser, &ended, &run->err);

    quote(run, false);
    if (run->code != BTZ_OK) {
        struct btz_str rest = BTZ_STR("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        enum btz_http_event event;
        struct btz_str body;
        struct btz_err err = {0};

        assert_true(run->err.msg[0]);
        assert_int_equal(rc, run->code); /* a refusal stays */
        assert_int_equal(btz_http_parser_next(run->parser, &rest, &event, &body, &err), run->code);
        assert_int_equal(err.code, run->code);
        (void)btz_buf_printf(&run->out, "%s %d\n", btz_code_name(run->code),
                             btz_http_parser_status(run->parser));
        return;
    }
    (void)btz_buf_printf(&run->out, "more\neof %s\n",
                         rc      ? btz_code_name(rc)
                         : ended ? "whole"
                                 : "idle");
}

/* Transcript of the bytes cut at `cut` (0 = not) or every `step` bytes; the caller frees it. */
static char *transcript(enum btz_http_side side, const struct btz_http_limits *limits, bool heads,
                        const char *bytes, size_t len, size_t cut, size_t step)
{
    struct run run = {.heads = heads};
    char *copy = malloc(len + 1);
    char *text;

    assert_non_null(copy);
    btz_buf_init(&run.out, 4 * 1024 * 1024);
    run.parser = btz_http_parser_new(side, limits);
    assert_null(btz_http_parser_head(run.parser));
    if (heads) {
        btz_http_parser_expect_head(run.parser);
    }
    /* Each part in memory of its own that is wiped behind it: no view may last longer. */
    for (size_t at = 0; at < len;) {
        size_t part = step ? step : at < cut ? cut - at : len - at;

        part = part < len - at ? part : len - at;
        memcpy(copy, bytes + at, part);
        feed(&run, copy, part);
        memset(copy, '#', part);
        at += part;
    }
    finish(&run);
    assert_int_equal(btz_buf_status(&run.out), BTZ_OK);
    text = strndup(run.out.ptr, run.out.len);
    btz_http_parser_free(run.parser);
    btz_buf_fini(&run.out);
    free(copy);
    return text;
}

static void same_in_parts(enum btz_http_side side, const struct btz_http_limits *limits, bool heads,
                          const char *bytes, size_t len, const char *want)
{
    size_t stride = len / 400 + 1;
    char *got;

    for (size_t step = 1; step <= 3; step += 2) {
        got = transcript(side, limits, heads, bytes, len, 0, step);
        assert_string_equal(got, want);
        free(got);
    }
    for (size_t cut = 1; cut < len; cut += cut + 40 < len ? stride : 1) {
        got = transcript(side, limits, heads, bytes, len, cut, 0);
        if (strcmp(got, want) != 0) {
            fail_msg("cut at %zu of %.*s\ngot:\n%s\nwant:\n%s", cut, (int)len, bytes, got, want);
        }
        free(got);
    }
}

void http_gives(enum btz_http_side side, const struct btz_http_limits *limits, bool heads,
                const char *bytes, size_t len, const char *want)
{
    char *got = transcript(side, limits, heads, bytes, len, 0, 0);

    if (strcmp(got, want) != 0) {
        fail_msg("%.*s\ngot:\n%s\nwant:\n%s", (int)len, bytes, got, want);
    }
    free(got);
    same_in_parts(side, limits, heads, bytes, len, want);
}

void request_refused(const char *bytes, size_t len, int code, int status)
{
    char want[64];

    (void)snprintf(want, sizeof(want), "%s %d\n", btz_code_name(code), status);
    http_gives(BTZ_HTTP_REQUESTS, NULL, false, bytes, len, want);
}

void response_refused(const char *bytes, size_t len, int code)
{
    char want[64];

    (void)snprintf(want, sizeof(want), "%s 0\n", btz_code_name(code));
    http_gives(BTZ_HTTP_RESPONSES, NULL, false, bytes, len, want);
}

/* -- event streams ----------------------------------------------------------------------------- */

static void show_event(struct btz_buf *out, const struct btz_sse_event *event)
{
    btz_buf_add_str(out, event->event);
    btz_buf_add_text(out, " id=");
    btz_buf_add_str(out, event->id);
    if (event->retry_ms >= 0) {
        (void)btz_buf_printf(out, " retry=%lld", (long long)event->retry_ms);
    }
    btz_buf_add_text(out, event->empty ? " empty \"" : " \"");
    btz_buf_add_str(out, event->data);
    btz_buf_add_text(out, "\"\n");
}

static char *sse_transcript(size_t max_event, const char *bytes, size_t len, size_t cut,
                            size_t step)
{
    struct btz_sse_parser *parser = btz_sse_parser_new(max_event);
    struct btz_sse_event event;
    struct btz_buf out;
    struct btz_err err = {0};
    char *copy = malloc(len + 1);
    char *text;
    int rc = BTZ_EAGAIN;

    assert_non_null(copy);
    btz_buf_init(&out, 4 * 1024 * 1024);
    for (size_t at = 0; at < len && rc == BTZ_EAGAIN;) {
        size_t part = step ? step : at < cut ? cut - at : len - at;
        struct btz_str input;

        part = part < len - at ? part : len - at;
        memcpy(copy, bytes + at, part);
        input = (struct btz_str){copy, part};
        while ((rc = btz_sse_parser_next(parser, &input, &event, &err)) == BTZ_OK) {
            show_event(&out, &event);
        }
        assert_true(rc != BTZ_EAGAIN || input.len == 0);
        memset(copy, '#', part);
        at += part;
    }
    if (rc != BTZ_EAGAIN) {
        struct btz_str input = BTZ_STR("data: x\n\n");

        assert_true(err.msg[0]);
        assert_int_equal(btz_sse_parser_next(parser, &input, &event, &err), rc);
    }
    (void)btz_buf_printf(&out, "%s\n", rc == BTZ_EAGAIN ? "more" : btz_code_name(rc));
    text = malloc(out.len + 1);
    assert_non_null(text);
    memcpy(text, out.ptr, out.len);
    text[out.len] = 0;
    btz_sse_parser_free(parser);
    btz_buf_fini(&out);
    free(copy);
    return text;
}

void sse_gives(size_t max_event, const char *bytes, size_t len, const char *want)
{
    size_t stride = len / 400 + 1;

    for (size_t cut = 0; cut < len; cut += cut ? stride : 1) {
        char *got = sse_transcript(max_event, bytes, len, cut, 0);

        if (strcmp(got, want) != 0) {
            fail_msg("cut at %zu of %.*s\ngot:\n%s\nwant:\n%s", cut, (int)len, bytes, got, want);
        }
        free(got);
    }
    for (size_t step = 1; step <= 3; step += 2) {
        char *got = sse_transcript(max_event, bytes, len, 0, step);

        assert_string_equal(got, want);
        free(got);
    }
}
