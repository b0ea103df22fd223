/* What the lines of a head say: start line, fields, and how long the body is. */
#include "http/http_int.h"

#include <stdlib.h>

/* Fields of which a message may have one at most. */
struct singletons {
    const struct btz_http_field *host, *length, *coding;
};

static int bad(struct btz_http_parser *parser, const char *why)
{
    return btz_http_refuse(parser, BTZ_EINVAL, 400, "%s", why);
}

static bool is_digits(struct btz_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9') {
            return false;
        }
    }
    return s.len > 0;
}

/* "HTTP/" DIGIT "." DIGIT (RFC 9112 section 2.3); the letters' case counts. */
static bool is_version(struct btz_str s)
{
    return s.len == 8 && btz_str_starts(s, BTZ_STR("HTTP/")) && is_digits(btz_str_sub(s, 5, 1)) &&
           s.ptr[6] == '.' && is_digits(btz_str_sub(s, 7, 1));
}

static int read_request_line(struct btz_http_parser *parser, struct btz_str line)
{
    struct btz_str method;
    struct btz_str target;
    struct btz_str version = line;

    if (!btz_str_cut(&version, ' ', &method) || !btz_str_cut(&version, ' ', &target) ||
        !version.ptr) {
        return bad(parser, "a request line without method, target and version");
    }
    if (!btz_http_is_token(method)) {
        return bad(parser, "a method that is no token");
    }
    if (!is_version(version)) {
        return bad(parser, "a request line that does not end with an HTTP version");
    }
    if (!btz_str_is(version, "HTTP/1.1")) {
        return btz_http_refuse(parser, BTZ_EINVAL, 505, "requests of version 1.1 only");
    }
    if (!btz_http_is_method(method)) {
        return btz_http_refuse(parser, BTZ_EINVAL, 501, "a method that is not known");
    }
    if (!btz_http_is_target(target)) {
        return bad(parser, "a target that is not in origin-form");
    }
    return BTZ_OK;
}

static int read_status_line(struct btz_http_parser *parser, struct btz_str line)
{
    struct btz_str version;
    struct btz_str status;

    if (!btz_str_cut(&line, ' ', &version) || !btz_str_cut(&line, ' ', &status) || !line.ptr) {
        return bad(parser, "a status line without version, status and reason");
    }
    if (!btz_str_is(version, "HTTP/1.1") && !btz_str_is(version, "HTTP/1.0")) {
        return bad(parser, "a response of another version than 1.1 and 1.0");
    }
    if (status.len != 3 || !is_digits(status) || status.ptr[0] < '1' || status.ptr[0] > '5') {
        return bad(parser, "a status that is not between 100 and 599");
    }
    if (btz_str_is(status, "101")) {
        return bad(parser, "a change of protocol that nobody asked for");
    }
    parser->old_version = btz_str_is(version, "HTTP/1.0");
    return BTZ_OK;
}

static void add_span(struct btz_http_parser *parser, struct field_span span)
{
    if (parser->span_count == parser->span_cap) {
        size_t cap = parser->span_cap ? parser->span_cap * 2 : 16;

        parser->spans = reallocarray(parser->spans, cap, sizeof(*parser->spans));
        parser->fields = reallocarray(parser->fields, cap, sizeof(*parser->fields));
        if (!parser->spans || !parser->fields) {
            btz_panic("out of memory");
        }
        parser->span_cap = cap;
    }
    parser->spans[parser->span_count++] = span;
}

static int read_field_line(struct btz_http_parser *parser, struct btz_str line)
{
    struct btz_str name;
    struct btz_str value = line;

    if (line.ptr[0] == ' ' || line.ptr[0] == '\t') {
        return bad(parser, "a field line that begins with white space");
    }
    (void)btz_str_cut(&value, ':', &name);
    if (!value.ptr) {
        return bad(parser, "a field line without colon");
    }
    if (!btz_http_is_token(name)) {
        return bad(parser, "a field name that is no token");
    }
    if (parser->span_count == parser->limits.max_fields) {
        return btz_http_refuse(parser, BTZ_ELIMIT, 431, "over %zu fields",
                               parser->limits.max_fields);
    }
    value = btz_http_trim(value);
    add_span(parser, (struct field_span){
                         .name = parser->line,
                         .name_len = name.len,
                         .value = parser->line + (size_t)(value.ptr - line.ptr),
                         .value_len = value.len,
                     });
    return BTZ_OK;
}

int btz_http_read_line(struct btz_http_parser *parser, struct btz_str line)
{
    if (parser->state == STATE_FIELDS) {
        return read_field_line(parser, line);
    }
    if (!line.len) {
        return bad(parser, "an empty line where a message should begin");
    }
    parser->state = STATE_FIELDS;
    parser->head.content_length = -1;
    return parser->side == BTZ_HTTP_REQUESTS ? read_request_line(parser, line)
                                             : read_status_line(parser, line);
}

static int note_single(struct btz_http_parser *parser, const struct btz_http_field *field,
                       const struct btz_http_field **slot)
{
    if (*slot) {
        return btz_http_refuse(parser, BTZ_EINVAL, 400, "a second %.*s", BTZ_FMT(field->name));
    }
    *slot = field;
    return BTZ_OK;
}

/* One field that bears on the connection or on where the message ends. */
static int note_field(struct btz_http_parser *parser, const struct btz_http_field *field,
                      struct singletons *one)
{
    bool requests = parser->side == BTZ_HTTP_REQUESTS;
    bool upgrade = false;

    if (btz_http_same_name(field->name, "content-length")) {
        return note_single(parser, field, &one->length);
    }
    if (btz_http_same_name(field->name, "transfer-encoding")) {
        return note_single(parser, field, &one->coding);
    }
    if (requests && btz_http_same_name(field->name, "host")) {
        return note_single(parser, field, &one->host);
    }
    if (btz_http_same_name(field->name, "connection")) {
        if (!btz_http_read_connection(field->value, &parser->head.close, &upgrade)) {
            return bad(parser, "a Connection field that is no list of tokens");
        }
    }
    if (requests && (upgrade || btz_http_same_name(field->name, "upgrade"))) {
        return btz_http_refuse(parser, BTZ_EINVAL, 501, "a change of protocol is not offered");
    }
    return BTZ_OK;
}

/* Only a sole "chunked" is taken. A list that ends with it names a coding that is not offered;
 * anything else leaves the length unknown (RFC 9112 sections 6.1 and 6.3). */
static int read_coding(struct btz_http_parser *parser, struct btz_str value)
{
    struct btz_str part = BTZ_STR_NONE;
    unsigned chunked = 0;
    bool last = false;

    if (btz_http_same_name(value, "chunked")) {
        parser->head.chunked = true;
        return BTZ_OK;
    }
    while (btz_str_cut(&value, ',', &part)) {
        part = btz_http_trim(part);
        last = btz_http_same_name(part, "chunked");
        chunked += last;
        if (!btz_http_is_token(part)) {
            return bad(parser, "a Transfer-Encoding that is no list of names");
        }
    }
    if (!last || chunked != 1) {
        return bad(parser, "a Transfer-Encoding without one \"chunked\" at its end");
    }
    return btz_http_refuse(parser, BTZ_EINVAL, 501, "a transfer coding other than chunked");
}

static int read_length(struct btz_http_parser *parser, struct btz_str value)
{
    if (!is_digits(value) || (value.len > 1 && value.ptr[0] == '0')) {
        return bad(parser, "a Content-Length that is no plain number");
    }
    if (btz_str_int64(value, &parser->head.content_length) != BTZ_OK) {
        return btz_http_refuse(parser, BTZ_ELIMIT, 413, "a Content-Length of over 63 bits");
    }
    return BTZ_OK;
}

/* How the body ends; RFC 9112 section 6.3. */
static int set_framing(struct btz_http_parser *parser)
{
    struct btz_http_head *head = &parser->head;
    bool response = parser->side == BTZ_HTTP_RESPONSES;
    bool interim = response && head->status < 200;
    bool bodiless = response && (btz_http_is_bodiless(head->status) || parser->expect_head);

    if (head->chunked && (parser->old_version || interim || (response && head->status == 204))) {
        return bad(parser, "Transfer-Encoding in a response that cannot have one");
    }
    if (head->content_length > 0 && (interim || (response && head->status == 204))) {
        return bad(parser, "Content-Length in a response that has no body");
    }
    parser->expect_head = parser->expect_head && interim;
    parser->body = 0;
    parser->left = 0;
    parser->digits = 0;
    parser->state = STATE_END;
    if (bodiless) {
        return BTZ_OK;
    }
    if (head->chunked) {
        parser->state = STATE_CHUNK_SIZE;
    } else if (head->content_length > 0) {
        if ((uint64_t)head->content_length > parser->limits.max_body) {
            return btz_http_refuse(parser, BTZ_ELIMIT, 413, "a body of over %llu bytes",
                                   (unsigned long long)parser->limits.max_body);
        }
        parser->left = (uint64_t)head->content_length;
        parser->state = STATE_LENGTH;
    } else if (response && head->content_length < 0) {
        head->close = true;
        parser->state = STATE_UNTIL_EOF;
    }
    return BTZ_OK;
}

/* The parts of the start line, which was judged when it was whole. */
static void view_start_line(struct btz_http_parser *parser)
{
    size_t len = parser->span_count ? parser->spans[0].name : parser->text.len;
    struct btz_str rest = btz_str_sub(btz_buf_view(&parser->text), 0, len);
    struct btz_str first;
    struct btz_str second;

    (void)btz_str_cut(&rest, ' ', &first);
    (void)btz_str_cut(&rest, ' ', &second);
    if (parser->side == BTZ_HTTP_REQUESTS) {
        parser->head.method = first;
        parser->head.target = second;
    } else {
        parser->head.status =
            (second.ptr[0] - '0') * 100 + (second.ptr[1] - '0') * 10 + (second.ptr[2] - '0');
        parser->head.reason = rest;
    }
}

int btz_http_finish_head(struct btz_http_parser *parser)
{
    struct btz_str text = btz_buf_view(&parser->text);
    struct singletons one = {0};
    int rc = BTZ_OK;

    view_start_line(parser);
    parser->head.close = parser->old_version;
    for (size_t i = 0; i < parser->span_count; i++) {
        const struct field_span *span = &parser->spans[i];

        parser->fields[i] = (struct btz_http_field){
            .name = btz_str_sub(text, span->name, span->name_len),
            .value = btz_str_sub(text, span->value, span->value_len),
        };
        rc = note_field(parser, &parser->fields[i], &one);
        if (rc != BTZ_OK) {
            return rc;
        }
    }
    parser->head.fields = parser->fields;
    parser->head.field_count = parser->span_count;
    if (one.coding && one.length) {
        return bad(parser, "Transfer-Encoding together with Content-Length");
    }
    if (parser->side == BTZ_HTTP_REQUESTS && (!one.host || !btz_http_is_host(one.host->value))) {
        return bad(parser, one.host ? "a Host that names no host" : "no Host");
    }
    if (one.coding) {
        rc = read_coding(parser, one.coding->value);
    } else if (one.length) {
        rc = read_length(parser, one.length->value);
    }
    if (rc == BTZ_OK) {
        rc = set_framing(parser);
    }
    parser->has_head = rc == BTZ_OK;
    return rc;
}
