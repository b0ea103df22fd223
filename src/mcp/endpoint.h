/* The server side of MCP over HTTP (Streamable HTTP in both eras, and the older HTTP+SSE), without
 * I/O. One endpoint is one URL: it takes whole HTTP requests and gives responses and streams.
 *
 *   carrier -> _request (one whole HTTP request), _closed, _tick
 *           <- _next_out (responses, stream heads, stream bytes, stream ends)
 *   owner   <- _next_event (a handle and an event of server.h)
 *           -> _server(handle), then the reply functions of server.h; _set_catalogue
 *
 * The era is decided per request. A legacy client has a session (MCP-Session-Id) with a server
 * machine of its own; a modern request has a machine for itself, so that equal ids of two clients
 * never meet. docs/internals/mcp-http.md has the order in which requests are judged.
 *
 * An answer starts as a plain JSON body and turns into a stream (text/event-stream) when something
 * related to the request has to be said before it. Legacy streams carry event ids and can be taken
 * up again; modern ones cannot, and closing one cancels its request. */
#ifndef BTZ_MCP_ENDPOINT_H
#define BTZ_MCP_ENDPOINT_H

#include "http/http.h"
#include "mcp/server.h"

struct btz_mcp_endpoint;

/* All zero is safe. Each switch is a weakness a lab host profile may ask for. */
struct btz_mcp_endpoint_switches {
    bool any_host;    /* names in Host are not checked */
    bool any_address; /* nor are addresses */
    bool any_origin;  /* Origin is not checked */
    bool any_site;    /* a browser on its way from another site that names no Origin is served */
    bool any_headers; /* modern: headers are not compared with the body */
    bool any_subject; /* a session may be used by others than the subject that opened it */
    bool counted_ids; /* session ids are 1, 2, 3 ..., with zeros before */
    bool any_resume;  /* Last-Event-ID brings back the stream of any session */
    bool one_queue;   /* what waits for a client to come back goes to all that listen */
};

struct btz_mcp_endpoint_options {
    struct btz_mcp_server_options server; /* for every machine; carrier, cursor_key are ours */
    struct btz_mcp_endpoint_switches switches;
    /* Session ids are SHA-256 of this and a counter, 160 bits as hex. Needed (16 bytes or more) if
     * legacy revisions are served: from a random source on sockets, from the seed in a lab. */
    struct btz_str id_secret;
    /* Hosts served: "name" (any port) or "name:port", ASCII case ignored. NULL = localhost,
     * 127.0.0.1 and [::1]. */
    const struct btz_str *hosts;
    size_t host_count;
    /* Origins accepted, exactly; NULL = http and https with a host of the list above. A request
     * without Origin is accepted. */
    const struct btz_str *origins;
    size_t origin_count;
    size_t max_body;             /* bytes; 0 = 10 MiB */
    size_t max_exchanges;        /* open at once, streams included; 0 = 1024 */
    size_t max_sessions;         /* 0 = 1000; more are answered 503 */
    size_t max_session_streams;  /* open GET streams of one session; 0 = 4 */
    size_t max_out_bytes;        /* waiting for the carrier; 0 = 64 MiB */
    size_t replay_bytes;         /* events kept for resuming, per session; 0 = 256 KiB */
    int64_t session_idle_us;     /* a session without requests ends; 0 = 30 min */
    int64_t session_greeting_us; /* the same while only initialize was seen; 0 = 1 min */
    int64_t keepalive_us;        /* comment on a silent stream; 0 = 15 s, negative = none */
    int64_t retry_ms;            /* told to clients from 2025-11-25 on; 0 = 1000, negative = not */
    bool no_resume;              /* no event ids: broken streams are lost */
    bool no_get;                 /* legacy GET answers 405 */
    bool no_delete;              /* legacy DELETE answers 405 */
    bool allow_legacy_sse;       /* HTTP+SSE of 2024-11-05: GET without a session opens one */
};

enum btz_mcp_endpoint_out_kind {
    BTZ_MCP_OUT_RESPONSE,    /* whole response: status, fields, bytes; ends the exchange */
    BTZ_MCP_OUT_STREAM,      /* head of a stream: status, fields */
    BTZ_MCP_OUT_STREAM_DATA, /* bytes of its body */
    BTZ_MCP_OUT_STREAM_END,  /* ends the body rightly, and the exchange */
    BTZ_MCP_OUT_ABORT        /* ends the exchange: close the connection (the client did not read) */
};

/* Views are valid until the next pull. */
struct btz_mcp_endpoint_out {
    uint64_t exchange;
    enum btz_mcp_endpoint_out_kind kind;
    int status;
    const struct btz_http_field *fields; /* without framing; see btz_http_write_response */
    size_t field_count;
    struct btz_str bytes;
};

struct btz_mcp_endpoint_stats {
    uint64_t requests; /* taken */
    uint64_t refused;  /* answered 4xx or 5xx */
    uint64_t sessions; /* opened */
    uint64_t expired;  /* sessions that ended by time */
    uint64_t lost;     /* messages that no stream could take any more */
    uint64_t aborted;  /* streams given up because nobody read them */
};

/* BTZ_EINVAL with `err` for unusable options or catalogue. Copies what it needs. */
int btz_mcp_endpoint_new(const struct btz_mcp_endpoint_options *options,
                         const struct btz_mcp_catalogue *catalogue, struct btz_mcp_endpoint **out,
                         struct btz_err *err) BTZ_WARN_UNUSED;
void btz_mcp_endpoint_free(struct btz_mcp_endpoint *endpoint); /* NULL is allowed */

/* One whole HTTP request. `exchange` names it from now until the outgoing item that ends it was
 * pulled, or _closed. `subject` is who the carrier authenticated, or empty. `now_us` is monotonic,
 * and never goes back. Every request is answered through _next_out, also refused ones. BTZ_EEXISTS
 * if `exchange` is in use; BTZ_ELIMIT if too much waits to be pulled (nothing was done). */
int btz_mcp_endpoint_request(struct btz_mcp_endpoint *endpoint, uint64_t exchange,
                             const struct btz_http_head *head, struct btz_str body,
                             struct btz_str subject, int64_t now_us) BTZ_WARN_UNUSED;

/* The client closed the connection of `exchange`: nothing more comes for it. A modern request is
 * cancelled; a legacy one goes on (specification, "Transports", disconnection). Unknown exchanges
 * are ignored. */
void btz_mcp_endpoint_closed(struct btz_mcp_endpoint *endpoint, uint64_t exchange, int64_t now_us);

/* Keep-alive comments and the end of idle sessions. To be called at _due or later; early calls do
 * nothing. `_due` is -1 if there is nothing to wait for. */
void btz_mcp_endpoint_tick(struct btz_mcp_endpoint *endpoint, int64_t now_us);
int64_t btz_mcp_endpoint_due(const struct btz_mcp_endpoint *endpoint);

/* Next thing for the carrier / for the owner; false if there is none. `handle` names the server
 * machine the event is from and is never reused; tokens are only unique together with it. */
bool btz_mcp_endpoint_next_out(struct btz_mcp_endpoint *endpoint, struct btz_mcp_endpoint_out *out);
bool btz_mcp_endpoint_next_event(struct btz_mcp_endpoint *endpoint, uint64_t *handle,
                                 struct btz_mcp_server_event *event);

/* The machine of `handle`, for the reply functions of server.h only; NULL once its session or
 * request is over. Good until the next call of this endpoint: ask again for each reply. */
struct btz_mcp_server *btz_mcp_endpoint_server(struct btz_mcp_endpoint *endpoint, uint64_t handle);

/* btz_mcp_server_set_catalogue for all machines, present and future. */
int btz_mcp_endpoint_set_catalogue(struct btz_mcp_endpoint *endpoint,
                                   const struct btz_mcp_catalogue *catalogue,
                                   struct btz_err *err) BTZ_WARN_UNUSED;

/* btz_mcp_server_resource_updated for all machines. */
void btz_mcp_endpoint_resource_updated(struct btz_mcp_endpoint *endpoint, struct btz_str uri);

/* Ends the stream of legacy request `id` before its answer: the client comes back for the rest
 * after `retry_ms` (specification 2025-11-25, polling). BTZ_ENOTFOUND if no such request has an
 * open exchange; BTZ_EUNSUPPORTED if the client could not come back (older revision, no_resume). */
int btz_mcp_endpoint_park(struct btz_mcp_endpoint *endpoint, uint64_t handle,
                          struct btz_mcp_id id) BTZ_WARN_UNUSED;

/* Ends every held-open stream (GET and subscriptions/listen); sessions stay. For shutting down. */
void btz_mcp_endpoint_end_streams(struct btz_mcp_endpoint *endpoint);

/* Ends a legacy session as DELETE does (lab: session theft and loss); BTZ_ENOTFOUND if `handle` is
 * none. */
int btz_mcp_endpoint_end_session(struct btz_mcp_endpoint *endpoint,
                                 uint64_t handle) BTZ_WARN_UNUSED;
/* MCP-Session-Id of `handle`, or BTZ_STR_NONE; for records. */
struct btz_str btz_mcp_endpoint_session_id(const struct btz_mcp_endpoint *endpoint,
                                           uint64_t handle);

/* Subject that opened the session or sent the modern request of `handle`; BTZ_STR_NONE if it is
 * over. */
struct btz_str btz_mcp_endpoint_subject(const struct btz_mcp_endpoint *endpoint, uint64_t handle);

size_t btz_mcp_endpoint_sessions(const struct btz_mcp_endpoint *endpoint);
size_t btz_mcp_endpoint_exchanges(const struct btz_mcp_endpoint *endpoint);
struct btz_mcp_endpoint_stats btz_mcp_endpoint_stats(const struct btz_mcp_endpoint *endpoint);

#endif
