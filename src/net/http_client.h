/* HTTP requests over libcurl's multi interface on a loop.
 *
 * HTTP/1.1 only, http and https only, no redirects, no cookies, no netrc, no decompression;
 * certificates are verified. Proxy variables of the environment count, except for loopback hosts.
 * Connections are kept and reused; when a kept one turns out to be closed before any byte of the
 * response came, libcurl sends the request once more on a fresh one by itself, so a server may see
 * a request twice (like any client that keeps connections). Results are pulled: start a request,
 * wait on the loop, take what is done. Every request that was started comes back exactly once. */
#ifndef BTZ_NET_HTTP_CLIENT_H
#define BTZ_NET_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "http/http.h"
#include "net/loop.h"

struct btz_net_http;          /* a client: its connections and transfers */
struct btz_net_http_transfer; /* one request under way */

struct btz_net_http_options {
    size_t max_connections;     /* open at once, others wait for one; 0 = no bound */
    int64_t connect_timeout_us; /* 0 = 10 s */
};

struct btz_net_http_header {
    struct btz_str name, value; /* no control characters */
};

struct btz_net_http_request {
    uint64_t id;           /* comes back with the result; not looked at */
    struct btz_str method; /* "GET", "POST", ...; empty = POST */
    struct btz_str url;
    const struct btz_net_http_header *headers;
    size_t header_count;
    struct btz_str body; /* borrowed until the result is pulled; empty = none */
    int64_t timeout_us;  /* for the whole exchange; 0 = no bound */
    size_t max_body;     /* of the response; 0 = 16 MiB */
    /* The response comes in parts as it arrives (btz_net_http_next_part): for streams that may stay
     * open for long. `max_body` then bounds what waits to be pulled, at least 64 KiB: when it is
     * full the server has to wait. */
    bool stream;
};

/* `status` says how the exchange ended; the rest is what had come until then. */
struct btz_net_http_done {
    uint64_t id;
    int status;             /* OK; EIO: no connection, or broken off; ETIMEOUT; ELIMIT: the response
                             * passed max_body or 64 KiB of headers; ECANCELLED; EINVAL: not HTTP */
    bool connected;         /* false: the connection failed, so the server never saw the request */
    int http_status;        /* 0 if none came */
    bool new_connection;    /* false: a kept connection was reused */
    int64_t latency_us;     /* from start to end */
    struct btz_buf body;    /* owned */
    struct btz_buf headers; /* owned; see btz_net_http_done_header */
    char text[256];         /* for people, if status is not OK */
};

enum btz_net_http_part_kind { BTZ_NET_HTTP_PART_HEAD, BTZ_NET_HTTP_PART_BODY };

/* A piece of the response to a request with `stream`: the head, then the body in any number of
 * pieces. Views are valid until the next call of this client. */
struct btz_net_http_part {
    uint64_t id;
    enum btz_net_http_part_kind kind;
    /* HEAD: status and fields of the final response. Framing is libcurl's affair: `chunked`,
     * `content_length` and `close` are not set, `reason` is empty. */
    struct btz_http_head head;
    struct btz_str bytes; /* BODY */
};

int btz_net_http_new(struct btz_net_loop *loop, const struct btz_net_http_options *options,
                     struct btz_net_http **out, struct btz_err *err) BTZ_WARN_UNUSED;

/* Breaks off what is under way; results not pulled are lost. To be called before the loop is
 * freed. NULL is allowed. */
void btz_net_http_free(struct btz_net_http *client);

/* Starts a request. EINVAL for a URL, method or header that is not allowed: then there is no
 * result. Otherwise `*out` (NULL = not wanted) is good until the result is pulled. */
int btz_net_http_start(struct btz_net_http *client, const struct btz_net_http_request *request,
                       struct btz_net_http_transfer **out, struct btz_err *err) BTZ_WARN_UNUSED;

/* Breaks a request off; its result follows, ECANCELLED unless it was done already. */
void btz_net_http_cancel(struct btz_net_http_transfer *transfer);

/* The next part of a streamed response, or false. */
bool btz_net_http_next_part(struct btz_net_http *client, struct btz_net_http_part *part);

/* The next result in order of completion; that of a streamed request comes after its last part and
 * has no body (cancelling drops the parts that were not pulled). True, and `*done` is owned by the
 * caller (free it with btz_net_http_done_fini), or false. */
bool btz_net_http_next(struct btz_net_http *client, struct btz_net_http_done *done);
void btz_net_http_done_fini(struct btz_net_http_done *done);

/* Value of a response header (the first of that name, case does not matter), or BTZ_STR_NONE;
 * borrowed from `done`. */
struct btz_str btz_net_http_done_header(const struct btz_net_http_done *done, const char *name);

/* Requests started whose results have not been pulled. */
size_t btz_net_http_pending(const struct btz_net_http *client);

#endif
