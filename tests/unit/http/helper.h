/* Shared by the tests of room http: what a parser makes of bytes, as text, however they are cut. */
#ifndef TEST_HTTP_HELPER_H
#define TEST_HTTP_HELPER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "http/http.h"
#include "http/sse.h"

/* A literal with its length, for texts with NUL inside. */
#define S(literal) (literal), sizeof(literal) - 1

/* Expects the parser to make `want` of the bytes: fed whole, byte by byte, in threes, and in two
 * parts cut at every place. A line each:
 *   POST /x [Host=a] len=5 chunked close      a head; "len" and the flags only if set
 *   200 OK []                                 a response's head
 *   "hello"                                   a body
 *   end
 * and in the end "more" (and "eof whole", "eof idle" or "eof EINVAL"), or "EINVAL 400" when the
 * bytes are refused. `heads`: responses answer HEAD requests. */
void http_gives(enum btz_http_side side, const struct btz_http_limits *limits, bool heads,
                const char *bytes, size_t len, const char *want);

/* The same for requests that are refused before a head is given: "EINVAL" or "ELIMIT", status. */
void request_refused(const char *bytes, size_t len, int code, int status);
void response_refused(const char *bytes, size_t len, int code);

/* The same for event streams. A line each:
 *   message id=7 retry=10 empty "data"        "retry" and "empty" only if set
 * and in the end "more", or "EINVAL". */
void sse_gives(size_t max_event, const char *bytes, size_t len, const char *want);

void assert_text(struct btz_str got, const char *want);

#endif
