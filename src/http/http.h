/* Strict HTTP/1.1 messages (RFC 9110, RFC 9112), without I/O.
 *
 * The parser accepts one way to say a thing and refuses every form that two parsers have been seen
 * to read differently (request smuggling): bare LF or CR, obsolete line folding, white space
 * before the colon or before the first field, Transfer-Encoding together with Content-Length,
 * a second Content-Length or Host even if equal, lists and signs in Content-Length, any transfer
 * coding but a single final "chunked", chunk extensions, a missing or empty Host, absolute-form,
 * authority-form and asterisk-form targets, bytes outside the field grammar, HTTP versions other
 * than 1.1 (a response may be 1.0), trailers, upgrade. Everything has a limit.
 *
 * Bytes come in any split. A message gives HEAD, then BODY any number of times, then END; the bytes
 * behind it begin the next message. A refusal is final: the connection has to be closed. */
#ifndef BTZ_HTTP_HTTP_H
#define BTZ_HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum btz_http_side { BTZ_HTTP_REQUESTS, BTZ_HTTP_RESPONSES };

struct btz_http_field {
    struct btz_str name;  /* as received; compare without case */
    struct btz_str value; /* without white space at the ends */
};

struct btz_http_head {
    struct btz_str method; /* requests */
    struct btz_str target; /* requests: origin-form, begins with '/' */
    int status;            /* responses: 100..599 */
    struct btz_str reason; /* responses; may be empty */
    const struct btz_http_field *fields;
    size_t field_count;
    bool chunked;
    int64_t content_length; /* -1 = none given */
    bool close;             /* the connection ends after this message */
};

/* Value of the only field `name` (ASCII case ignored); BTZ_STR_NONE if it is absent or there are
 * several. `count` (may be NULL) gets how many there are. */
struct btz_str btz_http_field_get(const struct btz_http_head *head, const char *name,
                                  size_t *count);

struct btz_http_limits { /* 0 = default */
    size_t max_line;     /* start line and each field line; 8 KiB */
    size_t max_head;     /* whole head; 32 KiB */
    size_t max_fields;   /* 100 */
    uint64_t max_body;   /* of one message, after decoding; 16 MiB */
};

enum btz_http_event { BTZ_HTTP_MORE, BTZ_HTTP_HEAD, BTZ_HTTP_BODY, BTZ_HTTP_END };

struct btz_http_parser;

struct btz_http_parser *btz_http_parser_new(enum btz_http_side side,
                                            const struct btz_http_limits *limits);
void btz_http_parser_free(struct btz_http_parser *parser); /* NULL is allowed */

/* Takes bytes off the front of `*input` up to the next event. MORE: all input was taken and more is
 * needed. HEAD: see btz_http_parser_head. BODY: `*body` is a run of decoded bytes, a view into the
 * input. END: the message is whole. Failure is BTZ_EINVAL or BTZ_ELIMIT with `err` and stays; see
 * btz_http_parser_status. */
int btz_http_parser_next(struct btz_http_parser *parser, struct btz_str *input,
                         enum btz_http_event *event, struct btz_str *body,
                         struct btz_err *err) BTZ_WARN_UNUSED;

/* The head of the message under way: valid from HEAD until the call after END. */
const struct btz_http_head *btz_http_parser_head(const struct btz_http_parser *parser);

/* The peer closed its side. BTZ_OK with `*ended` true when that rightly ends a message (a response
 * without length), false when nothing was under way; BTZ_EINVAL in the middle of a message. */
int btz_http_parser_eof(struct btz_http_parser *parser, bool *ended,
                        struct btz_err *err) BTZ_WARN_UNUSED;

/* Responses: the next one answers a HEAD request, so it has no body. */
void btz_http_parser_expect_head(struct btz_http_parser *parser);

/* Status that tells the peer why its request was refused: 400, 413, 414, 431, 501 or 505;
 * 0 while nothing was refused. */
int btz_http_parser_status(const struct btz_http_parser *parser);

/* Writers. BTZ_EINVAL if a method, target, field or status breaks the grammar (so that nothing
 * from outside can break out of its field), BTZ_ELIMIT if `out` is full; nothing is written then.
 * `fields` must not hold Content-Length or Transfer-Encoding: the writer adds the framing. */
int btz_http_write_request(struct btz_buf *out, struct btz_str method, struct btz_str target,
                           const struct btz_http_field *fields, size_t count,
                           struct btz_str body) BTZ_WARN_UNUSED;
/* A whole response. 1xx, 204 and 304 take no body. */
int btz_http_write_response(struct btz_buf *out, int status, const struct btz_http_field *fields,
                            size_t count, struct btz_str body) BTZ_WARN_UNUSED;
/* Head of a chunked response; then chunks (empty ones are skipped) and the end. */
int btz_http_write_stream(struct btz_buf *out, int status, const struct btz_http_field *fields,
                          size_t count) BTZ_WARN_UNUSED;
int btz_http_write_chunk(struct btz_buf *out, struct btz_str bytes) BTZ_WARN_UNUSED;
int btz_http_write_end(struct btz_buf *out) BTZ_WARN_UNUSED;
const char *btz_http_reason(int status); /* "OK"; "" if unknown */

#endif
