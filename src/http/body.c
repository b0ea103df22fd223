/* Bodies: of a known length, in chunks (RFC 9112 section 7.1), or up to the end of the connection.
 * Chunks are digits, CR LF, data, CR LF; extensions and trailers are refused. */
#include "http/http_int.h"

#define MAX_SIZE_DIGITS 16

static int bad(struct btz_http_parser *parser, const char *why)
{
    return btz_http_refuse(parser, BTZ_EINVAL, 400, "%s", why);
}

static int too_large(struct btz_http_parser *parser)
{
    return btz_http_refuse(parser, BTZ_ELIMIT, 413, "a body of over %llu bytes",
                           (unsigned long long)parser->limits.max_body);
}

static int read_size(struct btz_http_parser *parser, char c)
{
    int digit = btz_hex_value(c);

    if (c == '\r' && parser->digits) {
        parser->state = STATE_CHUNK_SIZE_LF;
        return BTZ_OK;
    }
    if (digit < 0) {
        return bad(parser, parser->digits ? "a chunk size followed by something else than CR LF"
                                          : "a chunk without size");
    }
    if (parser->digits == MAX_SIZE_DIGITS) {
        return bad(parser, "a chunk size of over 16 digits");
    }
    parser->digits++;
    parser->left = parser->left << 4 | (unsigned)digit;
    return parser->left > parser->limits.max_body - parser->body ? too_large(parser) : BTZ_OK;
}

/* One byte that stands between the data of chunks. */
static int read_frame_byte(struct btz_http_parser *parser, char c)
{
    static const struct {
        char want;
        enum parser_state next;
        const char *why;
    } marks[] = {
        [STATE_CHUNK_CR] = {'\r', STATE_CHUNK_LF, "data of a chunk not followed by CR LF"},
        [STATE_CHUNK_LF] = {'\n', STATE_CHUNK_SIZE, "data of a chunk not followed by CR LF"},
        [STATE_LAST_CR] = {'\r', STATE_LAST_LF, "trailers are not taken"},
        [STATE_LAST_LF] = {'\n', STATE_END, "the last chunk not followed by CR LF"},
    };

    if (parser->state == STATE_CHUNK_SIZE) {
        return read_size(parser, c);
    }
    if (parser->state == STATE_CHUNK_SIZE_LF) {
        if (c != '\n') {
            return bad(parser, "a chunk size not followed by CR LF");
        }
        parser->body += parser->left;
        parser->state = parser->left ? STATE_CHUNK_DATA : STATE_LAST_CR;
        return BTZ_OK;
    }
    if (c != marks[parser->state].want) {
        return bad(parser, marks[parser->state].why);
    }
    parser->state = marks[parser->state].next;
    parser->digits = 0;
    return BTZ_OK;
}

/* Up to `max` bytes as a run of the body. */
static void give(struct btz_str *input, uint64_t max, enum btz_http_event *event,
                 struct btz_str *body)
{
    size_t len = input->len < max ? input->len : (size_t)max;

    *event = BTZ_HTTP_BODY;
    *body = btz_str_sub(*input, 0, len);
    input->ptr += len;
    input->len -= len;
}

int btz_http_read_body(struct btz_http_parser *parser, struct btz_str *input,
                       enum btz_http_event *event, struct btz_str *body)
{
    int rc = BTZ_OK;

    if (parser->state == STATE_UNTIL_EOF) {
        uint64_t room = parser->limits.max_body - parser->body;

        if (!room) {
            return too_large(parser);
        }
        give(input, room, event, body);
        parser->body += body->len;
        return BTZ_OK;
    }
    while (rc == BTZ_OK && input->len && parser->state != STATE_END) {
        if (parser->state == STATE_LENGTH || parser->state == STATE_CHUNK_DATA) {
            give(input, parser->left, event, body);
            parser->left -= body->len;
            if (!parser->left) {
                parser->state = parser->state == STATE_LENGTH ? STATE_END : STATE_CHUNK_CR;
            }
            return BTZ_OK;
        }
        rc = read_frame_byte(parser, input->ptr[0]);
        input->ptr++;
        input->len--;
    }
    *event = parser->state == STATE_END ? BTZ_HTTP_END : BTZ_HTTP_MORE;
    return rc;
}
