/* Server-sent events (WHATWG HTML, "Server-sent events"), without I/O: text/event-stream bytes to
 * events and back. Lines end in LF, CR or CRLF, also split between feeds; comments are skipped;
 * unknown fields are ignored; an event without data is dropped as the standard says, but its id
 * counts. Input must be UTF-8. */
#ifndef BTZ_HTTP_SSE_H
#define BTZ_HTTP_SSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct btz_sse_event {
    struct btz_str event; /* "message" if the stream named none */
    struct btz_str data;  /* lines joined by LF */
    struct btz_str id;    /* last event id so far; may be empty */
    bool empty;           /* no data: only there to set the id or `retry` (a priming event) */
    int64_t retry_ms;     /* -1 = this event set none */
};

struct btz_sse_parser;

/* `max_event` bytes of one event (and of one line); 0 = 16 MiB. */
struct btz_sse_parser *btz_sse_parser_new(size_t max_event);
void btz_sse_parser_free(struct btz_sse_parser *parser); /* NULL is allowed */

/* Takes bytes off the front of `*input` up to the end of the next event; BTZ_OK with `*event`
 * (views valid until the next call), BTZ_EAGAIN when all was taken and no event is whole,
 * BTZ_ELIMIT for one that is too large, BTZ_EINVAL for bytes that are no UTF-8. Failures stay. */
int btz_sse_parser_next(struct btz_sse_parser *parser, struct btz_str *input,
                        struct btz_sse_event *event, struct btz_err *err) BTZ_WARN_UNUSED;

/* Writers: `event` and `id` may be BTZ_STR_NONE; LF, CR or NUL in them is BTZ_EINVAL. `data` may
 * hold LF and CRLF; a lone CR in it is BTZ_EINVAL. `retry_ms` negative = none. */
int btz_sse_write(struct btz_buf *out, struct btz_str event, struct btz_str id, int64_t retry_ms,
                  struct btz_str data) BTZ_WARN_UNUSED;
int btz_sse_write_comment(struct btz_buf *out, struct btz_str text) BTZ_WARN_UNUSED;

#endif
