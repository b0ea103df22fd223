/* The client side of ONE connection, both eras, without I/O.
 *
 *   owner                                machine
 *   _start, _list_tools, ...     ->      queues messages:  _next_out  -> carrier
 *   carrier -> _feed (one whole message) queues events:    _next_event -> owner
 *
 * Time-outs are the owner's: it calls _cancel (requests) or _probe_timeout (probe). Request ids are
 * integers, never reused; `request` numbers given to the owner are those ids (of a list: the id of
 * its first page). Nothing is ever sent
 * before the peer's era is settled except the handshake; a call is never used as a probe.
 * Everything a server can make the machine keep is bounded; what it drops is counted in the stats.
 */
#ifndef BTZ_MCP_CLIENT_H
#define BTZ_MCP_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "mcp/codec.h"

struct btz_mcp_client;

enum btz_mcp_client_mode {
    BTZ_MCP_CLIENT_LEGACY, /* initialize */
    BTZ_MCP_CLIENT_MODERN, /* server/discover, metadata on every request */
    BTZ_MCP_CLIENT_PROBE   /* stdio peers of unknown era: server/discover, then initialize if needed
                            */
};

struct btz_mcp_client_options {
    enum btz_mcp_client_mode mode;
    enum btz_mcp_revision revision; /* offered by initialize; NONE = newest legacy in `accept` */
    unsigned accept;                /* revisions this owner can use; 0 = BTZ_MCP_SET_ALL */
    bool forbid_fallback;           /* PROBE: fail instead of going to legacy */
    struct btz_str name, version;   /* clientInfo; required */
    const struct btz_json *capabilities; /* object or NULL = {}; copied */
    bool progress;                       /* ask for progress on calls and reads */
    struct btz_str log_level;            /* modern: ask for log messages of calls; empty = none */
    size_t max_pages;                    /* of one list; 0 = 64 */
    size_t max_items;                    /* of one list; 0 = 10,000 */
    size_t max_list_bytes;               /* message bytes of all pages of one list; 0 = 32 MiB */
    bool http; /* the carrier is HTTP. Modern: tools whose x-mcp-header annotations break a rule
                * are dropped from lists with a PROTOCOL_ERROR, calls carry Mcp-Param-* headers made
                * from the last list. After -32020 the owner lists anew and may retry once */
    size_t max_rounds;            /* input_required answers to one request; 0 = 8 */
    size_t max_asks;              /* open requests of the server; 0 = 64 */
    size_t max_in_flight;         /* requests; 0 = 256 */
    size_t max_events;            /* waiting events; 0 = 1,024 */
    size_t max_out_bytes;         /* waiting outgoing bytes; 0 = 32 MiB */
    struct btz_mcp_limits limits; /* for incoming messages */
};

/* Why a request did not give a result. */
enum btz_mcp_fault {
    BTZ_MCP_FAULT_NONE = 0,
    BTZ_MCP_FAULT_REMOTE,  /* the server answered with an error: `code`, `message`, `data` */
    BTZ_MCP_FAULT_INVALID, /* the server's answer breaks the protocol: `message` says where */
    BTZ_MCP_FAULT_INPUT,   /* the server wants input that `capabilities` does not declare */
    BTZ_MCP_FAULT_CYCLE,   /* a list gave the same cursor twice */
    BTZ_MCP_FAULT_LIMIT,   /* a list has more pages, items or bytes than allowed, or the server asks
                            * for input more often */
    BTZ_MCP_FAULT_VERSION, /* no common revision (FAILED event) */
    BTZ_MCP_FAULT_CLOSED   /* the connection ended first */
};

enum btz_mcp_client_event_kind {
    BTZ_MCP_CLIENT_READY,     /* requests may be sent now */
    BTZ_MCP_CLIENT_FAILED,    /* handshake failed: the connection is of no use */
    BTZ_MCP_CLIENT_TOOLS,     /* answer to _list_tools: `value` = array over all pages */
    BTZ_MCP_CLIENT_RESOURCES, /* ... _list_resources */
    BTZ_MCP_CLIENT_TEMPLATES, /* ... _list_templates */
    BTZ_MCP_CLIENT_RESULT,    /* answer to any other request: `value` = result */
    BTZ_MCP_CLIENT_LISTENING, /* the listen stream `request` was acknowledged: `changed` = accepted
                               */
    BTZ_MCP_CLIENT_LISTEN_ENDED, /* the stream is over; `fault` if it ended with an error */
    BTZ_MCP_CLIENT_LIST_CHANGED, /* `changed` = one BTZ_MCP_LIST_ bit; `request` = stream or 0 */
    BTZ_MCP_CLIENT_PROGRESS, /* `request`, `progress`, `total` (negative = unknown), `message` */
    BTZ_MCP_CLIENT_LOG,      /* `level`, `message` = logger, `value` = data */
    BTZ_MCP_CLIENT_PROTOCOL_ERROR,   /* the server broke a rule; `message` says which; not fatal */
    BTZ_MCP_CLIENT_PROMPTS,          /* answer to _list_prompts */
    BTZ_MCP_CLIENT_RESOURCE_UPDATED, /* `message` = URI; `request` = stream or 0 */
    BTZ_MCP_CLIENT_ASKED, /* legacy: the server's request `ask`: `method`, `params`; answer it with
                           * _answer or _answer_error. Comes only for declared capabilities */
    BTZ_MCP_CLIENT_ASK_CANCELLED, /* the server gave `ask` up: do not answer; `message` = reason */
    BTZ_MCP_CLIENT_INPUT /* modern: `request` needs input first: `value` = inputRequests (key ->
                          * {method, params}), `round` from 1; answer with _answer_inputs or
                          * _cancel. Comes only for declared capabilities */
};

/* Views are valid until the next _next_event or _free. Fields not named for a kind are 0. */
struct btz_mcp_client_event {
    enum btz_mcp_client_event_kind kind;
    uint64_t request;
    const struct btz_json *value; /* NULL if `fault`; READY: the whole handshake result */
    enum btz_mcp_fault fault;     /* FAILED, TOOLS, RESOURCES, TEMPLATES, RESULT, LISTEN_ENDED */
    int64_t code;                 /* JSON-RPC code of a REMOTE fault */
    struct btz_str message;
    const struct btz_json *data; /* of a REMOTE fault */
    /* READY */
    enum btz_mcp_revision revision;
    bool fell_back;                      /* the probe went from modern to legacy: a downgrade */
    const struct btz_json *server_info;  /* object or NULL; self-asserted */
    const struct btz_json *capabilities; /* object */
    struct btz_str instructions;         /* BTZ_STR_NONE if absent */
    /* lists */
    size_t pages;
    int64_t ttl_ms;    /* smallest of all pages; 0 in the legacy era */
    bool cache_public; /* every page said "public" */
    unsigned changed;
    double progress, total;
    int level; /* btz_mcp_log_level */
    /* ASKED, ASK_CANCELLED, INPUT */
    uint64_t ask;
    struct btz_str method;
    const struct btz_json *params; /* object or NULL */
    size_t round;
};

struct btz_mcp_client_stats {
    uint64_t unreadable;     /* messages that are no MCP message */
    uint64_t unknown_id;     /* responses to ids that were never used */
    uint64_t late;           /* responses to cancelled or finished requests */
    uint64_t ignored;        /* notifications unknown, unasked for, or with foreign tokens */
    uint64_t refused;        /* server requests that were answered with an error or dropped */
    uint64_t dropped_events; /* the event queue was full */
    uint64_t untyped;        /* modern results without resultType, taken as complete */
};

/* BTZ_EINVAL with `err` when an option is unusable. Copies what it needs. */
int btz_mcp_client_new(const struct btz_mcp_client_options *options, struct btz_mcp_client **out,
                       struct btz_err *err) BTZ_WARN_UNUSED;
void btz_mcp_client_free(struct btz_mcp_client *client); /* NULL is allowed */

/* Begins the handshake of the chosen mode; READY or FAILED follows. BTZ_ESTATE when started. */
int btz_mcp_client_start(struct btz_mcp_client *client) BTZ_WARN_UNUSED;

/* The owner waited long enough for the probe's answer: goes on with initialize (or FAILED if
 * fallback is forbidden). BTZ_ESTATE if no probe is waiting. A late answer is dropped. */
int btz_mcp_client_probe_timeout(struct btz_mcp_client *client) BTZ_WARN_UNUSED;

/* Requests. Each gives exactly one event of its kind unless it is cancelled. BTZ_ESTATE before
 * READY or in the wrong era, BTZ_ELIMIT when the table or the queue is full, BTZ_EINVAL for bad
 * parameters. `arguments` is an object or NULL (= {}). `request` may be NULL. */
int btz_mcp_client_list_tools(struct btz_mcp_client *client, uint64_t *request) BTZ_WARN_UNUSED;
int btz_mcp_client_list_resources(struct btz_mcp_client *client, uint64_t *request) BTZ_WARN_UNUSED;
int btz_mcp_client_list_templates(struct btz_mcp_client *client, uint64_t *request) BTZ_WARN_UNUSED;
int btz_mcp_client_call_tool(struct btz_mcp_client *client, struct btz_str name,
                             const struct btz_json *arguments, uint64_t *request) BTZ_WARN_UNUSED;
int btz_mcp_client_read_resource(struct btz_mcp_client *client, struct btz_str uri,
                                 uint64_t *request) BTZ_WARN_UNUSED;
int btz_mcp_client_ping(struct btz_mcp_client *client,
                        uint64_t *request) BTZ_WARN_UNUSED; /* legacy */
/* Modern: opens a change stream for the BTZ_MCP_LIST_ bits in `lists`. */
int btz_mcp_client_listen(struct btz_mcp_client *client, unsigned lists,
                          uint64_t *request) BTZ_WARN_UNUSED;

int btz_mcp_client_list_prompts(struct btz_mcp_client *client, uint64_t *request) BTZ_WARN_UNUSED;
/* `arguments`: object of strings or NULL (then left out). */
int btz_mcp_client_get_prompt(struct btz_mcp_client *client, struct btz_str name,
                              const struct btz_json *arguments, uint64_t *request) BTZ_WARN_UNUSED;
/* Completes `argument` from `value`; `name` is that of the prompt or the URI (template) of the
 * resource; `chosen` = arguments that have values already, object of strings or NULL. */
int btz_mcp_client_complete(struct btz_mcp_client *client, enum btz_mcp_ref ref,
                            struct btz_str name, struct btz_str argument, struct btz_str value,
                            const struct btz_json *chosen, uint64_t *request) BTZ_WARN_UNUSED;
/* Legacy; `level` is a log level of RFC 5424. */
int btz_mcp_client_set_log_level(struct btz_mcp_client *client, struct btz_str level,
                                 uint64_t *request) BTZ_WARN_UNUSED;
/* Legacy. RESOURCE_UPDATED comes only after the first of these; a server may name a sub-resource.
 */
int btz_mcp_client_subscribe(struct btz_mcp_client *client, struct btz_str uri,
                             uint64_t *request) BTZ_WARN_UNUSED;
int btz_mcp_client_unsubscribe(struct btz_mcp_client *client, struct btz_str uri,
                               uint64_t *request) BTZ_WARN_UNUSED;
/* As _listen, with `uris` of resources whose changes are wanted; LISTENING has the accepted filter
 * as `value`. `lists` may be 0 if there are URIs. */
int btz_mcp_client_listen_to(struct btz_mcp_client *client, unsigned lists,
                             const struct btz_str *uris, size_t count,
                             uint64_t *request) BTZ_WARN_UNUSED;

/* Answers of the owner to ASKED. The result must have the shape of the method (CreateMessageResult,
 * ElicitResult, ListRootsResult): BTZ_EINVAL with `err` otherwise, nothing is sent. BTZ_ENOTFOUND
 * if it is not open (answered, cancelled, never asked), BTZ_ESTATE once closed, BTZ_ELIMIT if it
 * does not fit into the queue (it stays open). */
int btz_mcp_client_answer(struct btz_mcp_client *client, uint64_t ask,
                          const struct btz_json *result, struct btz_err *err) BTZ_WARN_UNUSED;
/* `data` may be NULL. A user who refused: code -1 is what the specification's example has. */
int btz_mcp_client_answer_error(struct btz_mcp_client *client, uint64_t ask, int64_t code,
                                struct btz_str message,
                                const struct btz_json *data) BTZ_WARN_UNUSED;
/* Answer to INPUT: sends the request again under a new id (`request` stays its number) with
 * `responses` (key -> result; keys may be missing, each present one must have the shape of its
 * method: BTZ_EINVAL with `err`) and the server's requestState. BTZ_ENOTFOUND if `request` is not
 * waiting for inputs. Others as _answer. */
int btz_mcp_client_answer_inputs(struct btz_mcp_client *client, uint64_t request,
                                 const struct btz_json *responses,
                                 struct btz_err *err) BTZ_WARN_UNUSED;
/* Legacy: the roots have changed. BTZ_EUNSUPPORTED unless roots.listChanged was declared. */
int btz_mcp_client_roots_changed(struct btz_mcp_client *client) BTZ_WARN_UNUSED;

/* Gives up a request or ends a listen stream: sends notifications/cancelled, no event follows, a
 * late response is dropped. BTZ_ENOTFOUND if it is not in flight (finished: normal in a race);
 * BTZ_ESTATE for the handshake, BTZ_ELIMIT if the queue is full (it stays in flight). `reason` may
 * be empty. */
int btz_mcp_client_cancel(struct btz_mcp_client *client, uint64_t request,
                          struct btz_str reason) BTZ_WARN_UNUSED;

/* One whole message from the server. 0 also for messages that break rules (see events and stats);
 * BTZ_ESTATE once the connection failed or was closed, BTZ_ELIMIT when an answer that has to be
 * sent does not fit into the queue (the connection failed). */
int btz_mcp_client_feed(struct btz_mcp_client *client, struct btz_str message) BTZ_WARN_UNUSED;

/* The connection ended: every open request gets an event with BTZ_MCP_FAULT_CLOSED. */
void btz_mcp_client_close(struct btz_mcp_client *client);

/* Next outgoing message / next event, false if there is none. */
bool btz_mcp_client_next_out(struct btz_mcp_client *client, struct btz_str *bytes);
bool btz_mcp_client_next_out_full(struct btz_mcp_client *client, struct btz_mcp_out *out);
bool btz_mcp_client_next_event(struct btz_mcp_client *client, struct btz_mcp_client_event *event);

enum btz_mcp_revision
btz_mcp_client_revision(const struct btz_mcp_client *client); /* NONE before READY */
size_t btz_mcp_client_in_flight(const struct btz_mcp_client *client);
struct btz_mcp_client_stats btz_mcp_client_stats(const struct btz_mcp_client *client);

#endif
