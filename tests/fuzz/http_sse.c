/* Fuzz target: an event stream, fed whole and in parts, must give the same events; each event is
 * written again and must read back equal. The first byte chooses the limit and how it is cut. */
#include <stdint.h>
#include <stdlib.h>

#include "http/sse.h"

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            btz_panic("broken: %s", #condition);                                                   \
        }                                                                                          \
    } while (0)

static void write_again(const struct btz_sse_event *event)
{
    struct btz_sse_parser *parser = btz_sse_parser_new(0);
    struct btz_sse_event again;
    struct btz_str text;
    struct btz_buf out;
    int rc;

    btz_buf_init(&out, 1 << 20);
    MUST(!btz_sse_write_comment(&out, BTZ_STR("again")));
    rc = btz_sse_write(&out, event->event, event->id, event->retry_ms, event->data);
    if (rc != BTZ_OK) {
        MUST(rc == BTZ_EINVAL && memchr(event->event.ptr, 0, event->event.len));
    } else {
        text = btz_buf_view(&out);
        MUST(!btz_sse_parser_next(parser, &text, &again, NULL));
        MUST(btz_str_eq(event->event, again.event) && btz_str_eq(event->data, again.data));
        MUST(btz_str_eq(event->id, again.id) && event->retry_ms == again.retry_ms);
        MUST(event->empty == again.empty);
        MUST(btz_sse_parser_next(parser, &text, &again, NULL) == BTZ_EAGAIN);
    }
    btz_buf_fini(&out);
    btz_sse_parser_free(parser);
}

static void note_str(struct btz_buf *log, struct btz_str s)
{
    (void)btz_buf_printf(log, "%zu:", s.len);
    btz_buf_add_str(log, s);
}

static void follow(size_t max_event, struct btz_str bytes, size_t step, struct btz_buf *log)
{
    struct btz_sse_parser *parser = btz_sse_parser_new(max_event);
    struct btz_sse_event event;
    struct btz_err err = {0};
    int rc = BTZ_EAGAIN;

    for (size_t at = 0; rc == BTZ_EAGAIN && at < bytes.len;) {
        struct btz_str input = btz_str_sub(bytes, at, step);

        at += input.len;
        while ((rc = btz_sse_parser_next(parser, &input, &event, &err)) == BTZ_OK) {
            MUST(event.empty == !event.data.len && event.retry_ms >= -1 && event.event.len);
            MUST(!max_event || event.data.len + event.id.len <= max_event);
            note_str(log, event.event);
            note_str(log, event.data);
            note_str(log, event.id);
            (void)btz_buf_printf(log, "%lld;", (long long)event.retry_ms);
            write_again(&event);
        }
        MUST(rc != BTZ_EAGAIN || !input.len);
    }
    MUST(rc == BTZ_EAGAIN || ((rc == BTZ_EINVAL || rc == BTZ_ELIMIT) && err.msg[0]));
    (void)btz_buf_printf(log, "=%d", rc);
    MUST(!btz_buf_status(log));
    btz_sse_parser_free(parser);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct btz_str bytes;
    struct btz_buf whole;
    struct btz_buf parts;
    size_t max_event;

    if (size < 1 || size > 60000) {
        return 0;
    }
    max_event = data[0] & 1 ? 20 : 0;
    bytes = (struct btz_str){(const char *)data + 1, size - 1};
    btz_buf_init(&whole, 64 << 20);
    btz_buf_init(&parts, 64 << 20);
    follow(max_event, bytes, size, &whole);
    follow(max_event, bytes, data[0] & 2 ? data[size - 1] % 13u + 1 : 1, &parts);
    MUST(btz_str_eq(btz_buf_view(&whole), btz_buf_view(&parts)));
    btz_buf_fini(&whole);
    btz_buf_fini(&parts);
    return 0;
}
