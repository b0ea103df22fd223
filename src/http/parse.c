/* The parser's outside: the lines of a head, the order of events, failure. What a byte does depends
 * on the bytes before it only, never on how they were cut: every limit is met at one certain byte.
 */
#include "http/http_int.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_LINE ((size_t)8 * 1024)
#define MAX_HEAD ((size_t)32 * 1024)
#define MAX_FIELDS ((size_t)100)
#define MAX_BODY ((uint64_t)16 * 1024 * 1024)

struct btz_http_parser *btz_http_parser_new(enum btz_http_side side,
                                            const struct btz_http_limits *limits)
{
    struct btz_http_parser *parser = calloc(1, sizeof(*parser));

    if (!parser) {
        btz_panic("out of memory");
    }
    parser->side = side;
    if (limits) {
        parser->limits = *limits;
    }
    if (!parser->limits.max_line) {
        parser->limits.max_line = MAX_LINE;
    }
    if (!parser->limits.max_head) {
        parser->limits.max_head = MAX_HEAD;
    }
    if (!parser->limits.max_fields) {
        parser->limits.max_fields = MAX_FIELDS;
    }
    if (!parser->limits.max_body) {
        parser->limits.max_body = MAX_BODY;
    }
    btz_buf_init(&parser->text, parser->limits.max_head);
    return parser;
}

void btz_http_parser_free(struct btz_http_parser *parser)
{
    if (parser) {
        btz_buf_fini(&parser->text);
        free(parser->fields);
        free(parser->spans);
        free(parser);
    }
}

int btz_http_refuse(struct btz_http_parser *parser, int code, int status, const char *fmt, ...)
{
    char text[sizeof(parser->err.msg)];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    parser->state = STATE_FAILED;
    parser->status = parser->side == BTZ_HTTP_REQUESTS ? status : 0;
    return btz_err_set(&parser->err, code, "HTTP: %s", text);
}

/* The failure that stays. */
static int report(const struct btz_http_parser *parser, struct btz_err *err)
{
    if (err) {
        *err = parser->err;
    }
    return parser->err.code;
}

static void begin(struct btz_http_parser *parser)
{
    btz_buf_reset(&parser->text);
    parser->state = parser->head.close ? STATE_CLOSED : STATE_START;
    parser->head = (struct btz_http_head){0};
    parser->has_head = false;
    parser->ended = false;
    parser->line = 0;
    parser->head_bytes = 0;
    parser->span_count = 0;
}

static void take(struct btz_str *input, size_t len)
{
    input->ptr += len;
    input->len -= len;
}

/* Takes the bytes of the current line up to its end, to something odd, or to a limit. */
static void take_text(struct btz_http_parser *parser, struct btz_str *input)
{
    size_t line = parser->limits.max_line - (parser->text.len - parser->line);
    size_t head = parser->limits.max_head - parser->head_bytes;
    size_t max = line < head ? line : head;
    size_t len = 0;

    while (len < input->len && len < max && btz_http_is_text_byte((unsigned char)input->ptr[len])) {
        len++;
    }
    if (len && btz_buf_add(&parser->text, input->ptr, len) != BTZ_OK) {
        btz_panic("the text of a head is longer than the head");
    }
    parser->head_bytes += len;
    take(input, len);
}

/* A whole line. True in `*done` if it was the empty one behind the head. */
static int end_line(struct btz_http_parser *parser, bool *done)
{
    struct btz_str line = btz_str_sub(btz_buf_view(&parser->text), parser->line, SIZE_MAX);
    int rc;

    if (!line.len && parser->state == STATE_FIELDS) {
        *done = true;
        return btz_http_finish_head(parser);
    }
    rc = btz_http_read_line(parser, line);
    parser->line = parser->text.len;
    return rc;
}

static int read_head(struct btz_http_parser *parser, struct btz_str *input, bool *done)
{
    int too_long = parser->state == STATE_START ? 414 : 431;
    unsigned char c;

    if (!parser->after_cr) {
        take_text(parser, input);
    }
    if (!input->len) {
        return BTZ_OK;
    }
    if (parser->head_bytes == parser->limits.max_head) {
        return btz_http_refuse(parser, BTZ_ELIMIT, too_long, "a head of over %zu bytes",
                               parser->limits.max_head);
    }
    c = (unsigned char)input->ptr[0];
    take(input, 1);
    parser->head_bytes++;
    if (c == '\n' && parser->after_cr) {
        parser->after_cr = false;
        return end_line(parser, done);
    }
    if (c == '\n' || parser->after_cr) {
        return btz_http_refuse(parser, BTZ_EINVAL, 400, "a lone %s; lines end with CR and LF",
                               c == '\n' ? "LF" : "CR");
    }
    if (c == '\r') {
        parser->after_cr = true;
        return BTZ_OK;
    }
    if (!btz_http_is_text_byte(c)) {
        return btz_http_refuse(parser, BTZ_EINVAL, 400, "control byte %02x in the head", c);
    }
    return btz_http_refuse(parser, BTZ_ELIMIT, too_long, "a line of over %zu bytes",
                           parser->limits.max_line);
}

int btz_http_parser_next(struct btz_http_parser *parser, struct btz_str *input,
                         enum btz_http_event *event, struct btz_str *body, struct btz_err *err)
{
    bool done = false;
    int rc = BTZ_OK;

    if (parser->ended) {
        begin(parser);
    }
    if (parser->state == STATE_FAILED) {
        return report(parser, err);
    }
    if (parser->state == STATE_END) {
        parser->ended = true;
        *event = BTZ_HTTP_END;
        return BTZ_OK;
    }
    if (parser->state == STATE_CLOSED && input->len) {
        (void)btz_http_refuse(parser, BTZ_EINVAL, 400,
                              "bytes behind the last message of the connection");
        return report(parser, err);
    }
    if (parser->state == STATE_START || parser->state == STATE_FIELDS) {
        while (rc == BTZ_OK && input->len && !done) {
            rc = read_head(parser, input, &done);
        }
        if (rc != BTZ_OK) {
            return report(parser, err);
        }
        *event = done ? BTZ_HTTP_HEAD : BTZ_HTTP_MORE;
        return BTZ_OK;
    }
    if (!input->len) {
        *event = BTZ_HTTP_MORE;
        return BTZ_OK;
    }
    rc = btz_http_read_body(parser, input, event, body);
    if (rc == BTZ_OK && *event == BTZ_HTTP_END) {
        parser->ended = true;
    }
    return rc == BTZ_OK ? BTZ_OK : report(parser, err);
}

const struct btz_http_head *btz_http_parser_head(const struct btz_http_parser *parser)
{
    return parser->has_head ? &parser->head : NULL;
}

int btz_http_parser_eof(struct btz_http_parser *parser, bool *ended, struct btz_err *err)
{
    bool whole = parser->state == STATE_UNTIL_EOF || (parser->state == STATE_END && !parser->ended);

    if (parser->state == STATE_FAILED) {
        return report(parser, err);
    }
    if (parser->ended) {
        begin(parser);
    }
    if (!whole && parser->state != STATE_CLOSED &&
        (parser->state != STATE_START || parser->head_bytes)) {
        (void)btz_http_refuse(parser, BTZ_EINVAL, 400, "the connection ended inside a message");
        return report(parser, err);
    }
    parser->state = STATE_CLOSED;
    *ended = whole;
    return BTZ_OK;
}

void btz_http_parser_expect_head(struct btz_http_parser *parser)
{
    parser->expect_head = parser->side == BTZ_HTTP_RESPONSES;
}

int btz_http_parser_status(const struct btz_http_parser *parser)
{
    return parser->status;
}

struct btz_str btz_http_field_get(const struct btz_http_head *head, const char *name, size_t *count)
{
    struct btz_str value = BTZ_STR_NONE;
    size_t found = 0;

    for (size_t i = 0; i < head->field_count; i++) {
        if (btz_http_same_name(head->fields[i].name, name)) {
            value = head->fields[i].value;
            found++;
        }
    }
    if (count) {
        *count = found;
    }
    return found == 1 ? value : BTZ_STR_NONE;
}
