/* Fuzz target: a connection's bytes, fed whole and in parts, must give the same; what is whole is
 * written again and must read back equal. The first byte chooses the side, whether responses answer
 * HEAD, the limits, and how the bytes are cut. */
#include <stdint.h>
#include <stdlib.h>

#include "http/http.h"

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            btz_panic("broken: %s", #condition);                                                   \
        }                                                                                          \
    } while (0)

struct setup {
    enum btz_http_side side;
    bool heads;
    struct btz_http_limits limits;
};

static void note_str(struct btz_buf *log, struct btz_str s)
{
    (void)btz_buf_printf(log, "%zu:", s.len);
    btz_buf_add_str(log, s);
}

static void note_head(struct btz_buf *log, const struct btz_http_head *head)
{
    MUST(head);
    (void)btz_buf_printf(log, "H%d,%d,%d,%lld,%zu", head->status, head->chunked, head->close,
                         (long long)head->content_length, head->field_count);
    note_str(log, head->method);
    note_str(log, head->target);
    note_str(log, head->reason);
    for (size_t i = 0; i < head->field_count; i++) {
        size_t count;
        char name[64];

        note_str(log, head->fields[i].name);
        note_str(log, head->fields[i].value);
        if (head->fields[i].name.len < sizeof(name)) {
            memcpy(name, head->fields[i].name.ptr, head->fields[i].name.len);
            name[head->fields[i].name.len] = 0;
            MUST((btz_http_field_get(head, name, &count).ptr != NULL) == (count == 1));
            MUST(count >= 1);
        }
    }
}

/* The fields that a writer takes: all but those it makes itself. */
static size_t own_fields(const struct btz_http_head *head, struct btz_http_field *fields)
{
    size_t count = 0;

    for (size_t i = 0; i < head->field_count; i++) {
        struct btz_http_head one = {.fields = &head->fields[i], .field_count = 1};

        if (!btz_http_field_get(&one, "content-length", NULL).ptr &&
            !btz_http_field_get(&one, "transfer-encoding", NULL).ptr) {
            fields[count++] = head->fields[i];
        }
    }
    return count;
}

static void reads_back(const struct setup *setup, const struct btz_http_head *head,
                       const struct btz_http_field *fields, size_t count, struct btz_str body,
                       struct btz_str text)
{
    struct btz_http_limits limits = {
        .max_head = text.len, .max_line = text.len, .max_fields = count + 1};
    struct btz_http_parser *parser = btz_http_parser_new(setup->side, &limits);
    const struct btz_http_head *again;
    struct btz_http_field *kept = calloc(count + 2, sizeof(*kept));
    enum btz_http_event event;
    struct btz_str run;
    struct btz_buf got;

    btz_buf_init(&got, text.len + 1);
    MUST(kept && !btz_http_parser_next(parser, &text, &event, &run, NULL));
    MUST(event == BTZ_HTTP_HEAD);
    again = btz_http_parser_head(parser);
    MUST(btz_str_eq(head->method, again->method) && btz_str_eq(head->target, again->target));
    MUST(head->status == again->status);
    MUST(own_fields(again, kept) == count);
    for (size_t i = 0; i < count; i++) {
        MUST(btz_str_eq(fields[i].name, kept[i].name));
        MUST(btz_str_eq(fields[i].value, kept[i].value));
    }
    while (!btz_http_parser_next(parser, &text, &event, &run, NULL) && event == BTZ_HTTP_BODY) {
        btz_buf_add_str(&got, run);
    }
    MUST(event == BTZ_HTTP_END && !text.len);
    MUST(btz_str_eq(btz_buf_view(&got), body));
    btz_buf_fini(&got);
    free(kept);
    btz_http_parser_free(parser);
}

static void write_again(const struct setup *setup, const struct btz_http_head *head,
                        struct btz_str body)
{
    struct btz_http_field *fields = calloc(head->field_count + 1, sizeof(*fields));
    size_t count;
    struct btz_buf out;

    MUST(fields);
    count = own_fields(head, fields);
    btz_buf_init(&out, 1 << 20);
    if (setup->side == BTZ_HTTP_REQUESTS) {
        MUST(!btz_http_write_request(&out, head->method, head->target, fields, count, body));
        reads_back(setup, head, fields, count, body, btz_buf_view(&out));
    } else {
        MUST(!btz_http_write_response(&out, head->status, fields, count, body));
        reads_back(setup, head, fields, count, body, btz_buf_view(&out));
        btz_buf_reset(&out);
        if (!btz_http_write_stream(&out, head->status, fields, count)) {
            MUST(!btz_http_write_chunk(&out, btz_str_sub(body, 0, body.len / 2)));
            MUST(!btz_http_write_chunk(&out, btz_str_sub(body, body.len / 2, SIZE_MAX)));
            MUST(!btz_http_write_end(&out));
            reads_back(setup, head, fields, count, body, btz_buf_view(&out));
        }
    }
    btz_buf_fini(&out);
    free(fields);
}

/* Everything the parser says about the bytes, cut every `step`, in `log`. */
static void follow(const struct setup *setup, struct btz_str bytes, size_t step,
                   struct btz_buf *log)
{
    struct btz_http_parser *parser = btz_http_parser_new(setup->side, &setup->limits);
    struct btz_err err = {0};
    struct btz_buf body;
    bool ended = false;
    int rc = BTZ_OK;

    btz_buf_init(&body, 1 << 20);
    for (size_t at = 0; rc == BTZ_OK && at < bytes.len;) {
        struct btz_str input = btz_str_sub(bytes, at, step);
        enum btz_http_event event = BTZ_HTTP_HEAD;
        struct btz_str run;

        at += input.len;
        while (rc == BTZ_OK && event != BTZ_HTTP_MORE) {
            rc = btz_http_parser_next(parser, &input, &event, &run, &err);
            if (rc != BTZ_OK || event == BTZ_HTTP_MORE) {
                MUST(rc || !input.len);
            } else if (event == BTZ_HTTP_HEAD) {
                note_head(log, btz_http_parser_head(parser));
                btz_buf_reset(&body);
                if (setup->heads) {
                    btz_http_parser_expect_head(parser);
                }
            } else if (event == BTZ_HTTP_BODY) {
                MUST(run.len);
                btz_buf_add_str(log, run);
                btz_buf_add_str(&body, run);
            } else {
                btz_buf_add_text(log, "E");
                MUST(body.len <= setup->limits.max_body || !setup->limits.max_body);
                write_again(setup, btz_http_parser_head(parser), btz_buf_view(&body));
            }
        }
    }
    if (rc == BTZ_OK) {
        rc = btz_http_parser_eof(parser, &ended, &err);
    } else {
        MUST(btz_http_parser_eof(parser, &ended, &err) == rc);
    }
    MUST(rc == BTZ_OK || rc == BTZ_EINVAL || rc == BTZ_ELIMIT);
    MUST(rc == BTZ_OK || err.msg[0]);
    MUST((rc == BTZ_OK || setup->side == BTZ_HTTP_RESPONSES) == !btz_http_parser_status(parser));
    (void)btz_buf_printf(log, "=%d,%d,%d,%s", rc, ended, btz_http_parser_status(parser), err.msg);
    MUST(!btz_buf_status(log) && !btz_buf_status(&body));
    btz_buf_fini(&body);
    btz_http_parser_free(parser);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct setup setup = {0};
    struct btz_str bytes;
    struct btz_buf whole;
    struct btz_buf parts;

    if (size < 1 || size > 60000) {
        return 0;
    }
    /* In the first byte, so that a corpus can be written by hand: '0' and up. */
    setup.side = data[0] & 1 ? BTZ_HTTP_RESPONSES : BTZ_HTTP_REQUESTS;
    setup.heads = data[0] & 2;
    if (data[0] & 4) {
        setup.limits = (struct btz_http_limits){
            .max_line = 40, .max_head = 120, .max_fields = 5, .max_body = 20};
    }
    bytes = (struct btz_str){(const char *)data + 1, size - 1};
    btz_buf_init(&whole, 16 << 20);
    btz_buf_init(&parts, 16 << 20);
    follow(&setup, bytes, size, &whole);
    follow(&setup, bytes, data[0] & 8 ? data[size - 1] % 13u + 1 : 1, &parts);
    MUST(btz_str_eq(btz_buf_view(&whole), btz_buf_view(&parts)));
    btz_buf_fini(&whole);
    btz_buf_fini(&parts);
    return 0;
}
