/* The client side of MCP over HTTP, both eras, without I/O: one client machine (mcp/client.h) whose
 * messages become HTTP exchanges, and whose answers come out of HTTP responses.
 *
 *   owner                                       session
 *   requests and events on _client()
 *   _next_request  <-  one exchange to begin: send it on any connection to `host`
 *   _next_close    <-  one exchange to give up: close its response stream
 *   _response_head, _response_body, _response_end   ->   what came back for an exchange
 *   _tick, _wake_at_us                          time, for waits the server asked for (`retry`)
 *
 * Transports: Streamable HTTP as of 2025-03-26 to 2025-11-25 (session id, GET stream, resumption),
 * Streamable HTTP as of 2026-07-28 (one POST per request, mirrored headers), and the HTTP+SSE
 * transport of 2024-11-05 (GET first, POST to the address its `endpoint` event names).
 * Sources: the specification's "Transports" page of each revision, design brief 1.2, 2.4, 2.5.
 *
 * A response is accepted only on the stream of its own request or a resumption of that stream; what
 * a server says elsewhere is dropped and counted. Redirects are not followed. What is kept of a
 * server's bytes is bounded. Time-outs are the owner's, as for the client machine. */
#ifndef BTZ_MCP_HTTP_SESSION_H
#define BTZ_MCP_HTTP_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/http.h"
#include "mcp/client.h"

struct btz_mcp_http_session;

enum btz_mcp_http_transport {
    BTZ_MCP_HTTP_STREAMABLE, /* nothing else is tried */
    /* The old transport if initialize is answered by 400, 404 or 405: a downgrade, see the flags.
     */
    BTZ_MCP_HTTP_STREAMABLE_THEN_SSE,
    BTZ_MCP_HTTP_SSE /* the old transport only; client mode must be LEGACY */
};

struct btz_mcp_http_session_options {
    struct btz_str host;   /* value of Host: "name" or "name:port"; required */
    struct btz_str target; /* of the MCP endpoint, origin-form; empty = "/mcp" */
    bool https;            /* scheme of the origin; the session itself sees no TLS */
    enum btz_mcp_http_transport transport;
    struct btz_mcp_client_options client; /* mode PROBE: server/discover first; forbid_fallback */
    struct btz_str authorization;         /* value of Authorization; empty = none */
    /* A request that is answered by 401 or 403 waits, and everything after it, until the owner has
     * called _authorize; false: it fails at once. */
    bool hold_unauthorized;
    bool no_get_stream; /* legacy: do not open the stream for server messages */
    /* Legacy: how long requests wait for the head of that stream. A server that asks a question
     * while it works on a call may have no other way for it, and a call that overtakes the stream
     * then waits for ever (official TypeScript SDK 1.32). 0 = they do not wait. */
    int64_t stream_wait_ms;
    /* For lab host profiles; false is the safe way. Responses and modern notifications are taken
     * from whatever stream they come on. */
    bool accept_any_stream;
    int64_t now_us;       /* begin of time; any origin, see _tick */
    size_t max_body;      /* of one JSON answer or SSE event; 0 = 16 MiB */
    uint64_t max_stream;  /* bytes of one response stream of a call; 0 = 64 MiB */
    size_t max_exchanges; /* open or waiting; 0 = 512 */
    unsigned max_resumes; /* of one stream in a row without a new message; 0 = 5 */
    int64_t retry_ms;     /* wait before a resumption if the server named none; 0 = 1,000 */
    int64_t max_retry_ms; /* a server that wants a longer wait is given up; 0 = 60,000 */
};

enum btz_mcp_http_method { BTZ_MCP_HTTP_POST, BTZ_MCP_HTTP_GET, BTZ_MCP_HTTP_DELETE };
const char *btz_mcp_http_method_name(enum btz_mcp_http_method method); /* "POST", ... */

/* One exchange to begin. Views are valid until the next call of _next_request or _free. `fields`
 * are complete but for Content-Length (http/http.h adds it). */
struct btz_mcp_http_exchange {
    uint64_t id; /* never reused */
    enum btz_mcp_http_method method;
    struct btz_str target;
    const struct btz_http_field *fields;
    size_t field_count;
    struct btz_str body; /* empty for GET and DELETE */
    bool long_lived;     /* GET stream, resumption or listen stream: wants its own connection */
    /* What it carries; for logs and carriers. */
    enum btz_mcp_kind kind;    /* of the message in a POST */
    struct btz_mcp_id rpc_id;  /* of the request in a POST; NONE otherwise */
    struct btz_str rpc_method; /* of a request or notification; empty otherwise */
};

enum btz_mcp_http_end {
    BTZ_MCP_HTTP_WHOLE,  /* the response is complete */
    BTZ_MCP_HTTP_BROKEN, /* the connection ended, or its bytes were no HTTP, after the request went
                            out */
    BTZ_MCP_HTTP_REFUSED /* the request did not reach the server (no connection) */
};

/* Things the owner should know, as bits; see _take_flags. */
#define BTZ_MCP_HTTP_RENEWED                                                                       \
    1u /* legacy: the server had forgotten the session (404); it was                               \
          initialised again: lists may have changed */
#define BTZ_MCP_HTTP_OLD_TRANSPORT 2u /* fell back to HTTP+SSE: a downgrade */
#define BTZ_MCP_HTTP_UNAUTHORIZED 4u  /* 401 or 403 was answered */
#define BTZ_MCP_HTTP_RELISTED                                                                      \
    8u                            /* modern: -32020 made the session ask for the tools again;      \
                                     the client gives that TOOLS event, too */
#define BTZ_MCP_HTTP_GET_LOST 16u /* legacy: the GET stream is over and is not tried again */

struct btz_mcp_http_session_stats {
    uint64_t exchanges;      /* begun */
    uint64_t foreign;        /* messages on a stream that is not theirs (dropped; or taken, with
                                accept_any_stream) */
    uint64_t wrong_type;     /* answers with a Content-Type or coding that is not allowed */
    uint64_t redirects;      /* refused */
    uint64_t oversize;       /* bodies, events or streams over a limit */
    uint64_t lost;           /* requests whose stream ended without the answer */
    uint64_t resumed;        /* GETs with Last-Event-ID */
    uint64_t renewed;        /* sessions initialised again */
    uint64_t retried_calls;  /* after -32020 */
    uint64_t closed_streams; /* by _next_close */
    uint64_t refused_posts;  /* notifications and responses that the server did not accept */
    uint64_t after_answer;   /* messages behind the response that ended a stream */
    uint64_t bad_endpoint;   /* old transport: endpoint events with a bad or foreign address */
    uint64_t bad_session_id; /* legacy: session ids with bytes that are not allowed */
    int last_error_status;   /* newest HTTP status of 300 and over, or 0 */
};

/* BTZ_EINVAL with `err` when an option is unusable. Copies what it needs. */
int btz_mcp_http_session_new(const struct btz_mcp_http_session_options *options,
                             struct btz_mcp_http_session **out,
                             struct btz_err *err) BTZ_WARN_UNUSED;
void btz_mcp_http_session_free(struct btz_mcp_http_session *session); /* NULL is allowed */

/* The client machine: for _list_tools, _call_tool, _cancel, _next_event and so on. The owner must
 * not call its _start, _feed, _next_out or _close. */
struct btz_mcp_client *btz_mcp_http_session_client(struct btz_mcp_http_session *session);

/* Begins the handshake; READY or FAILED follows on the client. BTZ_ESTATE when started. */
int btz_mcp_http_session_start(struct btz_mcp_http_session *session) BTZ_WARN_UNUSED;

/* Next exchange to begin / next exchange to give up; false if there is none. An exchange that was
 * given up is over: nothing more about it is needed, and what still comes is ignored. Ask for
 * closes first: a close may make a request unnecessary. */
bool btz_mcp_http_session_next_request(struct btz_mcp_http_session *session,
                                       struct btz_mcp_http_exchange *exchange);
bool btz_mcp_http_session_next_close(struct btz_mcp_http_session *session, uint64_t *exchange);

/* What came back. Each exchange gets at most one head, then any number of bodies, then one end; an
 * end without head is BROKEN or REFUSED. BTZ_ENOTFOUND for an exchange that is over (normal after a
 * close), BTZ_ESTATE for calls out of order. Faults of the server are no failures here: they show
 * as events of the client and in the stats. */
int btz_mcp_http_session_response_head(struct btz_mcp_http_session *session, uint64_t exchange,
                                       const struct btz_http_head *head) BTZ_WARN_UNUSED;
int btz_mcp_http_session_response_body(struct btz_mcp_http_session *session, uint64_t exchange,
                                       struct btz_str bytes) BTZ_WARN_UNUSED;
int btz_mcp_http_session_response_end(struct btz_mcp_http_session *session, uint64_t exchange,
                                      enum btz_mcp_http_end how) BTZ_WARN_UNUSED;

/* Time in microseconds; never goes back. Begins what waited for it. */
void btz_mcp_http_session_tick(struct btz_mcp_http_session *session, int64_t now_us);
/* When the next wait is over, or -1 if nothing waits. `for_answer` (may be NULL): true if a request
 * of the client waits for it, false if only the GET stream does. */
int64_t btz_mcp_http_session_wake_at_us(const struct btz_mcp_http_session *session,
                                        bool *for_answer);

/* With hold_unauthorized: the answer that requests wait over. `fields` are its WWW-Authenticate
 * fields; good until _authorize or _free. */
struct btz_mcp_http_challenge {
    int status; /* 401 or 403 */
    const struct btz_http_field *fields;
    size_t field_count;
};
bool btz_mcp_http_session_challenged(const struct btz_mcp_http_session *session,
                                     struct btz_mcp_http_challenge *challenge);
/* What waits is sent again, and everything from now on, with this value of Authorization; an empty
 * one gives up what waits: it ends as if it had not been held. The bound on tries is the owner's.
 * BTZ_EINVAL if the value cannot stand in a field: nothing changes. */
int btz_mcp_http_session_authorize(struct btz_mcp_http_session *session,
                                   struct btz_str value) BTZ_WARN_UNUSED;

/* Ends the session: gives up all exchanges, closes the client (open requests end with
 * BTZ_MCP_FAULT_CLOSED) and, in the legacy era with a session id, asks for one last DELETE. */
void btz_mcp_http_session_close(struct btz_mcp_http_session *session);

/* True if nothing is under way but streams that stay open by their nature (GET, listen) and their
 * waits: no request waits for its answer and nothing waits to be pulled. */
bool btz_mcp_http_session_settled(struct btz_mcp_http_session *session);

unsigned
btz_mcp_http_session_take_flags(struct btz_mcp_http_session *session); /* and clears them */
struct btz_mcp_http_session_stats
btz_mcp_http_session_stats(const struct btz_mcp_http_session *session);
/* Legacy session id in use; BTZ_STR_NONE if there is none. Valid until the next call. */
struct btz_str btz_mcp_http_session_id(const struct btz_mcp_http_session *session);

#endif
