/* The server side of ONE connection, either era or both, without I/O.
 *
 *   carrier -> _feed (one whole message)  queues messages: _next_out  -> carrier
 *                                         queues events:   _next_event -> owner
 *   owner: _reply_result, _reply_error, _reply_input, _ask, _progress, _log, _set_catalogue
 *
 * The machine answers the protocol by itself (handshake, discovery, ping, lists, subscriptions, log
 * levels, listen streams, errors, cancellation) from a catalogue; the owner only runs tools, reads
 * resources, fills prompts and completes arguments. The era
 * is decided per request: a request with a protocolVersion in its _meta is modern, all others
 * belong to the legacy session that `initialize` opened. */
#ifndef BTZ_MCP_SERVER_H
#define BTZ_MCP_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "mcp/codec.h"

struct btz_mcp_server;

enum btz_mcp_carrier { BTZ_MCP_CARRIER_STDIO, BTZ_MCP_CARRIER_HTTP };

struct btz_mcp_server_options {
    unsigned revisions;           /* served; 0 = BTZ_MCP_SET_ALL. Both eras in it = dual-era */
    enum btz_mcp_carrier carrier; /* HTTP: ends listen streams without notifications/cancelled */
    size_t page_size;             /* items of a list page; 0 = 100 */
    int64_t ttl_ms;               /* of cacheable modern results; negative counts as 0 */
    bool cache_public;            /* cacheScope "public" instead of "private" */
    bool logging;                 /* declare the logging capability (_log works then) */
    bool completions;             /* declare completions: COMPLETE events come */
    bool subscribe;               /* declare resources.subscribe: _resource_updated works then */
    uint64_t cursor_key;          /* mixed into cursors, so that a guessed one is refused */
    size_t max_in_flight;         /* calls and reads; 0 = 64 */
    size_t max_streams;           /* listen streams; 0 = 8 */
    size_t max_asks;              /* requests to the client in flight; 0 = 64 */
    size_t max_subscriptions;     /* resources of a session or of one stream; 0 = 256 */
    size_t max_out_bytes;         /* waiting outgoing bytes; 0 = 64 MiB */
    struct btz_mcp_limits limits; /* for incoming messages */
};

/* What is offered. A NULL list = that capability is not offered (resources: both lists NULL). */
struct btz_mcp_catalogue {
    const struct btz_json *server_info; /* Implementation object: name and version at least */
    struct btz_str instructions;        /* BTZ_STR_NONE = none */
    const struct btz_json *tools;       /* array of Tool */
    const struct btz_json *resources;   /* array of Resource */
    const struct btz_json *templates;   /* array of ResourceTemplate */
    const struct btz_json *prompts;     /* array of Prompt */
    bool quiet; /* _set_catalogue: replace without telling clients (lab: a silent rug pull) */
};

enum btz_mcp_server_event_kind {
    BTZ_MCP_SERVER_CALL,      /* run tool `name` with `arguments`, then reply with `token` */
    BTZ_MCP_SERVER_READ,      /* read resource `name` (a URI), then reply with `token` */
    BTZ_MCP_SERVER_CANCELLED, /* the client gave `token` up: a reply would be dropped */
    BTZ_MCP_SERVER_PROMPT,    /* fill prompt `name` with `arguments` (strings), then reply */
    BTZ_MCP_SERVER_COMPLETE,  /* complete `argument` from `value`, then reply; `arguments` are those
                               * already chosen, `name` the prompt or the URI (template) */
    BTZ_MCP_SERVER_ANSWER,    /* answer to _ask `ask`: `result`, or NULL and `code`, `message`,
                               * `data`; `token` is that of the ask. A result that breaks its shape
                               * comes as code BTZ_MCP_E_PARAMS with the result as `data` */
    BTZ_MCP_SERVER_ROOTS_CHANGED /* legacy; only after the owner has asked for roots/list */
};

/* Views of CALL, READ, PROMPT and COMPLETE are valid until the token was replied to, or the event
 * after its CANCELLED was pulled; those of ANSWER until the next event is pulled. */
struct btz_mcp_server_event {
    enum btz_mcp_server_event_kind kind;
    uint64_t token; /* never reused; 0 only for ANSWERs of unrelated asks and ROOTS_CHANGED */
    enum btz_mcp_revision revision;
    struct btz_str name;
    const struct btz_json *arguments;           /* object; {} if the client sent none */
    const struct btz_json *meta;                /* params._meta or NULL */
    const struct btz_json *params;              /* whole params */
    struct btz_mcp_id request_id;               /* of the client; for records */
    struct btz_mcp_id progress_token;           /* NONE = no progress wanted */
    const struct btz_json *client_info;         /* object or NULL; self-asserted */
    const struct btz_json *client_capabilities; /* object */
    struct btz_str reason;                      /* CANCELLED: the client's reason, maybe empty */
    /* CALL, READ and PROMPT of the modern era, retried after _reply_input. All of it comes from
     * the client: check it like arguments, and the state with mcp/state.h. */
    const struct btz_json *inputs; /* inputResponses, an object; NULL = none */
    struct btz_str request_state;  /* NONE = none */
    /* COMPLETE */
    enum btz_mcp_ref ref;
    struct btz_str argument, value;
    /* ANSWER */
    uint64_t ask;
    const struct btz_json *result;
    int64_t code;
    struct btz_str message;
    const struct btz_json *data; /* or NULL */
};

/* HTTP headers that the modern rules compare with the body; `ptr` NULL = absent. Values after
 * trimming; `name` decoded from the =?base64?...?= form. */
struct btz_mcp_headers {
    struct btz_str protocol_version; /* MCP-Protocol-Version */
    struct btz_str method;           /* Mcp-Method */
    struct btz_str name;             /* Mcp-Name */
    /* The Mcp-Param-* headers, names without that prefix, values as received (trimmed, not decoded:
     * the machine decodes them). */
    const struct btz_mcp_param *params;
    size_t param_count;
};

struct btz_mcp_server_stats {
    uint64_t refused;   /* messages answered with a protocol error */
    uint64_t ignored;   /* notifications that are unknown or name nothing known */
    uint64_t responses; /* responses of the client that answer no open _ask: dropped */
    uint64_t late;      /* replies of the owner to cancelled tokens */
};

/* BTZ_EINVAL with `err` if options or catalogue are unusable. Copies what it needs. */
int btz_mcp_server_new(const struct btz_mcp_server_options *options,
                       const struct btz_mcp_catalogue *catalogue, struct btz_mcp_server **out,
                       struct btz_err *err) BTZ_WARN_UNUSED;
void btz_mcp_server_free(struct btz_mcp_server *server); /* NULL is allowed */

/* Replaces the catalogue; for each list that differs clients are told as their era has it, unless
 * `quiet`. Cursors of the old one end. Capabilities stay as they were offered first: BTZ_EINVAL if
 * a list appears or goes away. Calls in flight go on. */
int btz_mcp_server_set_catalogue(struct btz_mcp_server *server,
                                 const struct btz_mcp_catalogue *catalogue,
                                 struct btz_err *err) BTZ_WARN_UNUSED;

/* One whole message from the client. 0 also for messages that were refused with an error answer;
 * BTZ_ELIMIT when the answers do not fit into the queue: the machine is dead then (BTZ_ESTATE). */
int btz_mcp_server_feed(struct btz_mcp_server *server, struct btz_str message) BTZ_WARN_UNUSED;
/* The same with the headers of an HTTP POST, which are checked against the body. */
int btz_mcp_server_feed_http(struct btz_mcp_server *server, struct btz_str message,
                             const struct btz_mcp_headers *headers) BTZ_WARN_UNUSED;

/* Next event / next outgoing message, false if there is none. */
bool btz_mcp_server_next_event(struct btz_mcp_server *server, struct btz_mcp_server_event *event);
bool btz_mcp_server_next_out(struct btz_mcp_server *server, struct btz_str *bytes);
bool btz_mcp_server_next_out_full(struct btz_mcp_server *server, struct btz_mcp_out *out);

/* Answers a CALL (CallToolResult), READ (ReadResourceResult: an object with `contents`), PROMPT
 * (GetPromptResult) or COMPLETE ({"completion":{"values":[...]}}, at most 100 of them). The
 * machine adds resultType, ttlMs, cacheScope and serverInfo where the era has them, and leaves
 * them out (also a structuredContent that is no object) where it has not. BTZ_EINVAL with `err`
 * if the result breaks the shape: nothing is sent, reply again. BTZ_ECANCELLED if the client gave
 * the call up, BTZ_ENOTFOUND for tokens that are unknown, answered, or whose CANCELLED is two
 * events ago, BTZ_ELIMIT if it does not fit into the queue. */
int btz_mcp_server_reply_result(struct btz_mcp_server *server, uint64_t token,
                                const struct btz_json *result, struct btz_err *err) BTZ_WARN_UNUSED;
/* `data` may be NULL. A resource that does not exist: BTZ_MCP_E_PARAMS (legacy: -32002 is sent). */
int btz_mcp_server_reply_error(struct btz_mcp_server *server, uint64_t token, int64_t code,
                               struct btz_str message, const struct btz_json *data) BTZ_WARN_UNUSED;

/* Progress of a call: `total` negative = unknown, `message` may be empty. Sent only if the client
 * gave a token; BTZ_EUNSUPPORTED if it did not, BTZ_EINVAL if `progress` did not grow. */
int btz_mcp_server_progress(struct btz_mcp_server *server, uint64_t token, double progress,
                            double total, struct btz_str message) BTZ_WARN_UNUSED;
/* Modern: answers a CALL, READ or PROMPT with input_required. `requests` is the inputRequests
 * object (key -> {method, params}) or NULL, `state` the requestState or BTZ_STR_NONE; one of them
 * at least. The client sends the request again under a new id: that is a new event with a new
 * token, with `inputs` and `request_state`. BTZ_EINVAL with `err` if they break the shape,
 * BTZ_ESTATE for legacy requests (use _ask) and COMPLETE: nothing is sent, reply again.
 * BTZ_EUNSUPPORTED if the client did not declare what a request needs: it was answered with -32021
 * and requiredCapabilities, the token is over. Others as _reply_result. */
int btz_mcp_server_reply_input(struct btz_mcp_server *server, uint64_t token,
                               const struct btz_json *requests, struct btz_str state,
                               struct btz_err *err) BTZ_WARN_UNUSED;

/* Legacy: sends a request of the server to the client: sampling/createMessage, elicitation/create,
 * roots/list or ping. `token` is the open call on whose stream it goes, 0 = related to none.
 * `params` may be NULL for the last two. `ask` (required) gets the number that the ANSWER event
 * will have; there is exactly one ANSWER unless the ask is cancelled. When the call is replied to
 * or given up, its open asks are cancelled. BTZ_EUNSUPPORTED if the client did not declare the
 * capability or the revision has no such method, BTZ_EINVAL with `err` for bad params or methods,
 * BTZ_ESTATE without an initialized session or if the call is modern (use _reply_input),
 * BTZ_ENOTFOUND / BTZ_ECANCELLED for the token, BTZ_ELIMIT when too many are open or the queue is
 * full. */
int btz_mcp_server_ask(struct btz_mcp_server *server, uint64_t token, struct btz_str method,
                       const struct btz_json *params, uint64_t *ask,
                       struct btz_err *err) BTZ_WARN_UNUSED;
/* Gives an ask up with notifications/cancelled; no ANSWER follows. BTZ_ENOTFOUND if it is not open.
 * `reason` may be empty. */
int btz_mcp_server_cancel_ask(struct btz_mcp_server *server, uint64_t ask,
                              struct btz_str reason) BTZ_WARN_UNUSED;

/* The resource `uri` has changed: tells the legacy session if it is subscribed, and the listen
 * streams that named it in resourceSubscriptions (exact comparison). BTZ_OK also if nobody did. */
int btz_mcp_server_resource_updated(struct btz_mcp_server *server,
                                    struct btz_str uri) BTZ_WARN_UNUSED;

/* Log message on the stream of a call; `token` 0 (legacy only) = related to none. Sent in the
 * modern era if the request named a logLevel not above `level`, in a legacy session if `level` is
 * not below that of logging/setLevel (before it: always). BTZ_EUNSUPPORTED otherwise (nothing
 * sent). */
int btz_mcp_server_log(struct btz_mcp_server *server, uint64_t token, struct btz_str level,
                       struct btz_str logger, const struct btz_json *data) BTZ_WARN_UNUSED;

/* The HTTP stream of request `id` was closed by the client: modern carriers cancel that way. */
void btz_mcp_server_stream_closed(struct btz_mcp_server *server, struct btz_mcp_id id);
/* Ends every listen stream (specification, "Subscriptions", teardown by the server). */
int btz_mcp_server_end_streams(struct btz_mcp_server *server) BTZ_WARN_UNUSED;

/* Legacy session: revision agreed by initialize, NONE before. */
enum btz_mcp_revision btz_mcp_server_session(const struct btz_mcp_server *server);
size_t btz_mcp_server_in_flight(const struct btz_mcp_server *server);
struct btz_mcp_server_stats btz_mcp_server_stats(const struct btz_mcp_server *server);

#endif
