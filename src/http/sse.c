/* Reading: bytes are put into lines, lines into events. A CR ends its line at once; a LF right
 * behind it is skipped, so that no event waits for a byte that may not come. */
#include "http/sse.h"

#include <stdlib.h>

#include "http/sse_int.h"

#define MAX_EVENT ((size_t)16 * 1024 * 1024)
#define NOT_UTF8 "bytes that are not UTF-8"

struct btz_sse_parser {
    size_t max;
    struct btz_buf line;
    struct btz_buf event; /* values of the event under way */
    struct btz_buf data;  /* each line of it with a LF behind */
    struct btz_buf id;    /* last event id; outlives events */
    bool has_data;
    bool has_setting; /* the event under way set the id or `retry` */
    bool given;       /* the event was handed out: the next call begins anew */
    bool after_cr;
    bool past_first_line;
    int64_t retry_ms;
    struct btz_http_utf8 utf8;
    struct btz_err err; /* code BTZ_OK while nothing failed */
};

struct btz_sse_parser *btz_sse_parser_new(size_t max_event)
{
    struct btz_sse_parser *parser = calloc(1, sizeof(*parser));

    if (!parser) {
        btz_panic("out of memory");
    }
    parser->max = max_event ? max_event : MAX_EVENT;
    parser->retry_ms = -1;
    btz_buf_init(&parser->line, parser->max);
    btz_buf_init(&parser->event, parser->max);
    btz_buf_init(&parser->data, parser->max);
    btz_buf_init(&parser->id, parser->max);
    return parser;
}

void btz_sse_parser_free(struct btz_sse_parser *parser)
{
    if (parser) {
        btz_buf_fini(&parser->line);
        btz_buf_fini(&parser->event);
        btz_buf_fini(&parser->data);
        btz_buf_fini(&parser->id);
        free(parser);
    }
}

static void begin(struct btz_sse_parser *parser)
{
    btz_buf_reset(&parser->event);
    btz_buf_reset(&parser->data);
    parser->has_data = false;
    parser->has_setting = false;
    parser->given = false;
    parser->retry_ms = -1;
}

static int refuse(struct btz_sse_parser *parser, int code, const char *why)
{
    return btz_err_set(&parser->err, code, "event stream: %s", why);
}

/* Replaces the value of `buf` or, for data, adds a line to it. */
static int keep(struct btz_sse_parser *parser, struct btz_buf *buf, struct btz_str value)
{
    bool data = buf == &parser->data;
    size_t used = parser->event.len + parser->data.len + parser->id.len - (data ? 0 : buf->len);

    if (value.len + data > parser->max - used) {
        return refuse(parser, BTZ_ELIMIT, "an event is too large");
    }
    if (!data) {
        btz_buf_reset(buf);
    }
    btz_buf_add_str(buf, value);
    return data ? btz_buf_add_byte(buf, '\n') : BTZ_OK;
}

/* Digits only; a number that does not fit is ignored like any other value. */
static void read_retry(struct btz_sse_parser *parser, struct btz_str value)
{
    int64_t ms;

    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] < '0' || value.ptr[i] > '9') {
            return;
        }
    }
    if (value.len && btz_str_int64(value, &ms) == BTZ_OK) {
        parser->retry_ms = ms;
        parser->has_setting = true;
    }
}

static int read_field(struct btz_sse_parser *parser, struct btz_str name, struct btz_str value)
{
    if (btz_str_is(name, "data")) {
        parser->has_data = true;
        return keep(parser, &parser->data, value);
    }
    if (btz_str_is(name, "event")) {
        return keep(parser, &parser->event, value);
    }
    if (btz_str_is(name, "id") && !(value.len && memchr(value.ptr, 0, value.len))) {
        parser->has_setting = true;
        return keep(parser, &parser->id, value);
    }
    if (btz_str_is(name, "retry")) {
        read_retry(parser, value);
    }
    return BTZ_OK;
}

static int read_line(struct btz_sse_parser *parser, struct btz_str line)
{
    struct btz_str name;
    struct btz_str value = line;

    (void)btz_str_cut(&value, ':', &name);
    if (!name.len) {
        return BTZ_OK; /* a comment */
    }
    if (!value.ptr) {
        value = BTZ_STR("");
    } else if (value.len && value.ptr[0] == ' ') {
        value = btz_str_sub(value, 1, SIZE_MAX);
    }
    return read_field(parser, name, value);
}

/* The empty line: true if there is something to hand out. */
static bool end_event(struct btz_sse_parser *parser, struct btz_sse_event *event)
{
    if (!parser->has_data && !parser->has_setting) {
        begin(parser);
        return false;
    }
    *event = (struct btz_sse_event){
        .event = parser->event.len ? btz_buf_view(&parser->event) : BTZ_STR("message"),
        .data = parser->has_data ? btz_str_sub(btz_buf_view(&parser->data), 0, parser->data.len - 1)
                                 : BTZ_STR(""),
        .id = parser->id.len ? btz_buf_view(&parser->id) : BTZ_STR(""),
        .empty = parser->data.len <= 1,
        .retry_ms = parser->retry_ms,
    };
    parser->given = true;
    return true;
}

/* A line is whole: true if it ended an event that is handed out. */
static bool end_line(struct btz_sse_parser *parser, struct btz_sse_event *event)
{
    struct btz_str line = btz_buf_view(&parser->line);
    bool out = false;

    if (!parser->past_first_line && btz_str_starts(line, BTZ_STR("\xef\xbb\xbf"))) {
        line = btz_str_sub(line, 3, SIZE_MAX);
    }
    parser->past_first_line = true;
    if (line.len) {
        (void)read_line(parser, line);
    } else {
        out = end_event(parser, event);
    }
    btz_buf_reset(&parser->line);
    return out;
}

/* Takes what is before the next CR or LF. */
static int take_text(struct btz_sse_parser *parser, struct btz_str *input)
{
    size_t room = parser->max - parser->line.len;
    size_t len = 0;

    while (len < input->len && input->ptr[len] != '\n' && input->ptr[len] != '\r') {
        if (len == room) {
            return refuse(parser, BTZ_ELIMIT, "a line is too long");
        }
        if (!btz_http_utf8_step(&parser->utf8, (unsigned char)input->ptr[len])) {
            return refuse(parser, BTZ_EINVAL, NOT_UTF8);
        }
        len++;
    }
    if (len) {
        btz_buf_add(&parser->line, input->ptr, len);
    }
    input->ptr += len;
    input->len -= len;
    return BTZ_OK;
}

int btz_sse_parser_next(struct btz_sse_parser *parser, struct btz_str *input,
                        struct btz_sse_event *event, struct btz_err *err)
{
    bool out = false;

    if (parser->given) {
        begin(parser);
    }
    while (parser->err.code == BTZ_OK && !out && input->len) {
        char c = input->ptr[0];
        bool skip = c == '\n' && parser->after_cr;

        parser->after_cr = c == '\r';
        if (c != '\n' && c != '\r') {
            (void)take_text(parser, input);
        } else if (parser->utf8.more) {
            (void)refuse(parser, BTZ_EINVAL, NOT_UTF8);
        } else {
            input->ptr++;
            input->len--;
            out = !skip && end_line(parser, event);
        }
    }
    if (parser->err.code != BTZ_OK && err) {
        *err = parser->err;
    }
    return parser->err.code != BTZ_OK ? parser->err.code : out ? BTZ_OK : BTZ_EAGAIN;
}

/* -- writing ----------------------------------------------------------------------------------- */

/* UTF-8 without the bytes that end a line or cut a string. */
static bool is_one_line(struct btz_str s)
{
    return btz_http_utf8_is(s) &&
           !(s.len &&
             (memchr(s.ptr, '\n', s.len) || memchr(s.ptr, '\r', s.len) || memchr(s.ptr, 0, s.len)));
}

static void add_field(struct btz_buf *out, const char *name, struct btz_str value)
{
    btz_buf_add_text(out, name);
    btz_buf_add_text(out, value.len ? ": " : ":");
    if (value.len) {
        btz_buf_add_str(out, value);
    }
    btz_buf_add_byte(out, '\n');
}

static int add_data(struct btz_buf *out, struct btz_str data)
{
    struct btz_str line;

    if (!data.ptr) {
        data = BTZ_STR("");
    }
    while (btz_str_cut(&data, '\n', &line)) {
        if (data.ptr && line.len && line.ptr[line.len - 1] == '\r') {
            line.len--;
        }
        if (line.len && memchr(line.ptr, '\r', line.len)) {
            return BTZ_EINVAL;
        }
        add_field(out, "data", line);
    }
    return BTZ_OK;
}

/* `text` goes to `out` as a whole or not at all. */
static int put(struct btz_buf *out, const struct btz_buf *text)
{
    if (out->failed || btz_buf_status(text) != BTZ_OK) {
        return BTZ_ELIMIT;
    }
    return btz_buf_add_str(out, btz_buf_view(text));
}

int btz_sse_write(struct btz_buf *out, struct btz_str event, struct btz_str id, int64_t retry_ms,
                  struct btz_str data)
{
    struct btz_buf text;
    int rc;

    if (!is_one_line(event) || !is_one_line(id) || !btz_http_utf8_is(data)) {
        return BTZ_EINVAL;
    }
    btz_buf_init(&text, out->failed ? 0 : out->max - out->len);
    if (event.len) {
        add_field(&text, "event", event);
    }
    if (id.ptr) {
        add_field(&text, "id", id);
    }
    if (retry_ms >= 0) {
        (void)btz_buf_printf(&text, "retry: %lld\n", (long long)retry_ms);
    }
    rc = add_data(&text, data);
    btz_buf_add_byte(&text, '\n');
    if (rc == BTZ_OK) {
        rc = put(out, &text);
    }
    btz_buf_fini(&text);
    return rc;
}

int btz_sse_write_comment(struct btz_buf *out, struct btz_str text)
{
    struct btz_buf line;
    int rc;

    if (!is_one_line(text)) {
        return BTZ_EINVAL;
    }
    btz_buf_init(&line, out->failed ? 0 : out->max - out->len);
    add_field(&line, "", text);
    btz_buf_add_byte(&line, '\n');
    rc = put(out, &line);
    btz_buf_fini(&line);
    return rc;
}
