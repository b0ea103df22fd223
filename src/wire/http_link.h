/* An HTTP link: one MCP client and one MCP server of the same trial, and the HTTP/1.1 bytes between
 * them.
 *
 *   btz_mcp_http_session -> request bytes  -> pump -> parser -> [relay] -> btz_mcp_endpoint
 *   btz_mcp_http_session <- parser <- pump <- response bytes <- [relay] <- btz_mcp_endpoint
 *
 * Both pumps move the same bytes: MEMORY hands the buffer over, SOCKET sends it through a TCP
 * connection on 127.0.0.1 of which both ends are ours (non-blocking, one thread). Each exchange has
 * a connection for itself while it lasts; idle ones are used again, oldest first.
 *
 * Time is the owner's and may be simulated: what the client has to wait for (the server's `retry`)
 * is skipped when nothing else is left to do and a request depends on it.
 *
 * The relay is where an adversary on the way stands: it sees whole requests, whole responses and
 * single events, and what it says is what the other side gets, as bytes. */
#ifndef BTZ_WIRE_HTTP_LINK_H
#define BTZ_WIRE_HTTP_LINK_H

#include "mcp/endpoint.h"
#include "mcp/http_session.h"

struct btz_http_link;
struct btz_http_relay_item;

enum btz_http_pump { BTZ_HTTP_MEMORY, BTZ_HTTP_SOCKET };

struct btz_http_link_options {
    enum btz_http_pump pump;
    struct btz_mcp_http_session_options client; /* now_us is taken from below */
    struct btz_mcp_endpoint_options server;
    struct btz_str subject; /* whom the server takes the client for; empty = nobody */
    int64_t now_us;         /* begin of time */
    bool keep_transcript;   /* all bytes, see _transcript */
    size_t max_moves;       /* of one _step, against peers that never come to rest; 0 = 100,000 */
};

/* BTZ_EINVAL for unusable options, BTZ_EIO if the sockets cannot be made. Copies what it needs. */
int btz_http_link_new(const struct btz_http_link_options *options,
                      const struct btz_mcp_catalogue *catalogue, struct btz_http_link **out,
                      struct btz_err *err) BTZ_WARN_UNUSED;
void btz_http_link_free(struct btz_http_link *link); /* NULL is allowed */

/* The two ends. The owner makes requests and takes events at both; exchanges are the link's. */
struct btz_mcp_http_session *btz_http_link_session(struct btz_http_link *link);
struct btz_mcp_client *btz_http_link_client(struct btz_http_link *link);
struct btz_mcp_endpoint *btz_http_link_endpoint(struct btz_http_link *link);

/* Moves everything until nothing more moves without the owner. BTZ_OK: something moved, so that
 * events may wait at either end: take them, answer, and step again. BTZ_EAGAIN: nothing was under
 * way, and there is nothing to wait for. BTZ_ELIMIT: the peers do not come to rest. BTZ_EIO: the
 * sockets failed. `now_us` never goes back; a value in the past is taken as the present. */
int btz_http_link_step(struct btz_http_link *link, int64_t now_us,
                       struct btz_err *err) BTZ_WARN_UNUSED;
int64_t btz_http_link_now_us(const struct btz_http_link *link); /* with what was skipped */

/* What one side put on the connections, in order: "> 3 120\n" (client, connection 3, 120 bytes) or
 * "< 3 120\n" (server) and the bytes, "> 3 close\n" and "< 3 close\n". Taken where they arrive.
 * BTZ_STR_NONE without keep_transcript or over 64 MiB. */
struct btz_str btz_http_link_transcript(const struct btz_http_link *link);

/* --- Beside the protocol --- */

/* Something of the server's site that is not its MCP endpoint: documents at other targets, and what
 * has to be so before a request may go on to the endpoint. Called with each whole request, behind
 * the relay; true: `item` now holds status, fields and body of the answer, which goes back past the
 * relay. Same rules as for the relay. */
void btz_http_link_set_front(struct btz_http_link *link,
                             bool (*front)(void *context, struct btz_http_link *link,
                                           struct btz_http_relay_item *item),
                             void *context);

/* A request of the client's host that belongs to no MCP session, such as for metadata: sent at the
 * next step, on a connection of its own, seen by the relay as any other. BTZ_EINVAL, BTZ_ELIMIT as
 * for _replay. */
int btz_http_link_fetch(struct btz_http_link *link, struct btz_str method, struct btz_str target,
                        const struct btz_http_field *fields, size_t count, struct btz_str body,
                        uint64_t *exchange) BTZ_WARN_UNUSED;

/* The answer to the last fetch, once a step brought it; NULL before, and for good if the connection
 * was cut. Views are good until the link is freed. */
struct btz_http_fetched {
    uint64_t exchange;
    int status;
    const struct btz_http_field *fields;
    size_t field_count;
    struct btz_str body;
};
const struct btz_http_fetched *btz_http_link_fetched(const struct btz_http_link *link,
                                                     uint64_t exchange);

/* --- The relay --- */

enum btz_http_relay_point {
    BTZ_RELAY_REQUEST,  /* whole request, before the server gets it */
    BTZ_RELAY_RESPONSE, /* whole response with a plain body (JSON or nothing) */
    BTZ_RELAY_STREAM,   /* head of an event stream */
    BTZ_RELAY_EVENT     /* one event of it; comments pass unseen */
};

/* Views are good during the call. Members the relay puts in must stay valid until its next call or
 * until the link is freed. */
struct btz_http_relay_item {
    enum btz_http_relay_point point;
    uint64_t exchange; /* the same for a request and all that answers it; never reused */
    bool own;          /* it was sent by _replay: the client knows nothing of it */
    struct btz_str method, target; /* of the request, at all points */
    int status;                    /* RESPONSE, STREAM */
    /* Of the request or the response, none for an EVENT; never Content-Length and
     * Transfer-Encoding, which the link makes itself. */
    const struct btz_http_field *fields;
    size_t field_count;
    struct btz_str body;      /* REQUEST, RESPONSE: body; EVENT: data */
    struct btz_str event, id; /* EVENT: name ("message") and id so far */
    int64_t retry_ms;         /* EVENT; -1 = none */
};

enum btz_http_relay_verdict {
    BTZ_RELAY_PASS,    /* as it came, byte by byte */
    BTZ_RELAY_REPLACE, /* as the item is now */
    BTZ_RELAY_DROP,    /* EVENT: left out. Others: the connection is closed without it */
    BTZ_RELAY_ANSWER   /* REQUEST only: the server never sees it; status, fields and body of the
                          item are the whole response (an event stream too, as one body) */
};

/* Called from _step. It must not call _step, _free or the two ends, but may call the functions
 * below. NULL: no relay. */
void btz_http_link_set_relay(struct btz_http_link *link,
                             enum btz_http_relay_verdict (*relay)(void *context,
                                                                  struct btz_http_link *link,
                                                                  struct btz_http_relay_item *item),
                             void *context);

/* Puts one more event into the open stream of `exchange`, behind what is there already (from the
 * relay at EVENT: before the event that is being judged). It is not shown to the relay. `event` and
 * `id` may be BTZ_STR_NONE, `retry_ms` negative. BTZ_ENOTFOUND if it has no open stream; others as
 * btz_sse_write. */
int btz_http_link_inject_event(struct btz_http_link *link, uint64_t exchange, struct btz_str event,
                               struct btz_str id, int64_t retry_ms,
                               struct btz_str data) BTZ_WARN_UNUSED;

/* Sends a request of the relay's own to the server at the next step, as `subject` (an old one
 * again, or a forged one). What comes back is shown to the relay with `own` set and goes nowhere
 * else. Copies everything. `*exchange` (may be NULL) names it. BTZ_EINVAL for what cannot stand in
 * a request, BTZ_ELIMIT if over 64 wait. */
int btz_http_link_replay(struct btz_http_link *link, struct btz_str method, struct btz_str target,
                         const struct btz_http_field *fields, size_t count, struct btz_str body,
                         struct btz_str subject, uint64_t *exchange) BTZ_WARN_UNUSED;
/* Ends an exchange of _replay; BTZ_ENOTFOUND if it is over. */
int btz_http_link_end_replay(struct btz_http_link *link, uint64_t exchange) BTZ_WARN_UNUSED;

#endif
