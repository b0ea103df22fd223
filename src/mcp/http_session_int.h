/* Inside the room: bodies of the HTTP client session. */
#ifndef BTZ_MCP_HTTP_SESSION_INT_H
#define BTZ_MCP_HTTP_SESSION_INT_H

#include "base/buf.h"
#include "http/sse.h"
#include "mcp/client_int.h"
#include "mcp/http_session.h"

enum exchange_role {
    ROLE_REQUEST,     /* POST of a request, later GETs that resume its stream */
    ROLE_NOTE,        /* POST of a notification or of a response */
    ROLE_INITIALIZED, /* POST of notifications/initialized: others wait for it */
    ROLE_RENEW,       /* POST of initialize for a session the server forgot */
    ROLE_STREAM,      /* GET: the stream of the server's own messages */
    ROLE_DELETE
};

enum exchange_state {
    EXCHANGE_PAUSED,   /* until `not_before` */
    EXCHANGE_QUEUED,   /* to be pulled by the owner */
    EXCHANGE_SENT,     /* pulled, no head yet */
    EXCHANGE_JSON,     /* a JSON body is collected */
    EXCHANGE_EVENTS,   /* an event stream is read */
    EXCHANGE_IGNORED,  /* a body that does not matter */
    EXCHANGE_ACCEPTED, /* old transport: the answer comes on the GET stream */
    EXCHANGE_GONE      /* over; removed before the next call returns */
};

struct exchange {
    struct exchange *next;
    struct btz_arena *arena; /* holds the struct and what is said about its message */
    uint64_t id;             /* of the HTTP exchange; a retry or resumption gets a new one */
    enum exchange_role role;
    enum exchange_state state;
    struct btz_str message; /* body of the POST */
    enum btz_mcp_kind kind;
    uint64_t rpc; /* id of the request, 0 = none */
    struct btz_str method, name;
    const struct btz_mcp_param *params;
    size_t param_count;
    enum btz_mcp_revision revision;
    bool listen;            /* subscriptions/listen: stays open by its nature */
    bool resuming;          /* the next exchange is a GET with `last_id` */
    bool answered;          /* nothing is waited for any more */
    bool ended;             /* the owner told the end of this exchange */
    bool waits_for_list;    /* after -32020, until the tools were listed again */
    bool retried_list;      /* after -32020 */
    bool retried_session;   /* after 404 */
    struct btz_str refusal; /* the -32020 error, in case the list does not come */
    uint64_t generation;    /* of the session when it was pulled */
    int status;
    struct btz_str session_id; /* of this response */
    struct btz_buf body;
    struct btz_sse_parser *events;
    uint64_t received;
    struct btz_buf last_id;
    int64_t retry_ms; /* -1 = the server named none */
    int64_t not_before;
    uint64_t authorized; /* count of the session when it was pulled */
    int refused;         /* 401 or 403, while it waits for authorization; or 0 */
    unsigned resumes;    /* in a row without a message */
};

struct closing {
    struct closing *next;
    uint64_t id;
};

struct btz_mcp_http_session {
    struct btz_mcp_http_session_options options;
    struct btz_arena *arena; /* copies of options */
    struct btz_arena *out;   /* what the views of the pulled exchange point to */
    struct btz_mcp_client *client;
    struct exchange *exchanges;
    size_t exchange_count;
    struct closing *closings;
    uint64_t next_id;
    int64_t now_us;
    bool started, closed;
    bool ended; /* everything was given up */
    unsigned flags;
    struct btz_mcp_http_session_stats stats;
    struct btz_buf authorization;
    uint64_t authorized; /* grows with each new value */
    bool challenged;
    struct btz_mcp_http_challenge challenge;
    struct btz_arena *challenge_arena;
    /* legacy */
    struct btz_buf session_id;
    uint64_t generation; /* grows with each renewal */
    unsigned renewals;   /* in a row without an answer */
    bool renewing;
    uint64_t gate;             /* exchange of notifications/initialized that is under way, or 0 */
    struct btz_buf initialize; /* the message, for renewals */
    bool got_stream;           /* the GET stream was asked for in this generation */
    uint64_t held_for;         /* its exchange, while requests wait for its head; or 0 */
    int64_t held_until;
    /* old transport */
    bool old;
    struct btz_buf endpoint; /* target for POSTs, empty until it is known */
    /* modern */
    bool relisting;
    uint64_t relist; /* the client's number of that list */
};

/* http_session_authorize.c */
/* True if the exchange now waits for authorization. */
bool btz_mcp_http_hold(struct btz_mcp_http_session *session, struct exchange *exchange,
                       const struct btz_http_head *head);

/* http_session.c */
/* Tries the parts that every request has. */
int btz_mcp_http_check_request(struct btz_str host, struct btz_str target,
                               struct btz_str authorization);
struct exchange *btz_mcp_http_exchange_new(struct btz_mcp_http_session *session,
                                           enum exchange_role role);
/* Ends it here; `tell` also asks the owner to close it, if it was pulled and has not ended. */
void btz_mcp_http_exchange_drop(struct btz_mcp_http_session *session, struct exchange *exchange,
                                bool tell);
/* Puts it into the queue again under a new id; one under way is given up. */
void btz_mcp_http_exchange_again(struct btz_mcp_http_session *session, struct exchange *exchange);
struct exchange *btz_mcp_http_find_rpc(struct btz_mcp_http_session *session, uint64_t rpc);
/* The connection is of no use: the client fails and all exchanges are given up. */
void btz_mcp_http_fatal(struct btz_mcp_http_session *session, enum btz_mcp_fault fault,
                        const char *text);
bool btz_mcp_http_is_modern(const struct btz_mcp_http_session *session);
void btz_mcp_http_reap(struct btz_mcp_http_session *session);

/* http_session_send.c: makes exchanges of the client's messages; builds the one to begin. */
void btz_mcp_http_take_out(struct btz_mcp_http_session *session);
bool btz_mcp_http_may_send(const struct btz_mcp_http_session *session,
                           const struct exchange *exchange);
void btz_mcp_http_describe(struct btz_mcp_http_session *session, struct exchange *exchange,
                           struct btz_mcp_http_exchange *out);

/* http_session_message.c: one message (JSON body or event) that came for `exchange`. */
void btz_mcp_http_message(struct btz_mcp_http_session *session, struct exchange *exchange,
                          struct btz_str bytes);

/* http_session_recover.c */
/* False while probing, if the status of the response says nothing about the server's era. */
bool btz_mcp_http_tells_era(const struct btz_mcp_http_session *session,
                            const struct exchange *exchange);
/* The stream of a request is over without its answer: resumes, falls back or fails it. */
void btz_mcp_http_lost(struct btz_mcp_http_session *session, struct exchange *exchange,
                       enum btz_mcp_fault fault, const char *text);
/* The GET stream ended or could not be opened. */
void btz_mcp_http_stream_over(struct btz_mcp_http_session *session, struct exchange *exchange,
                              bool may_retry);
void btz_mcp_http_open_stream(struct btz_mcp_http_session *session);
/* 404 for a request of the session: begins a new one, or fails. */
void btz_mcp_http_forgotten(struct btz_mcp_http_session *session, struct exchange *exchange);
/* The answer to the initialize of a renewal. */
void btz_mcp_http_renewed(struct btz_mcp_http_session *session, struct exchange *exchange,
                          const struct btz_mcp_message *message);
void btz_mcp_http_keep_session_id(struct btz_mcp_http_session *session,
                                  const struct exchange *exchange);

/* http_session_endpoint.c; old transport: the event that names where to POST. */
void btz_mcp_http_endpoint(struct btz_mcp_http_session *session, struct btz_str uri);

/* http_session_recover.c; -32020: asks for the tools again; false if the error has to be taken as
 * it is. */
bool btz_mcp_http_relist(struct btz_mcp_http_session *session, struct exchange *exchange,
                         struct btz_str refusal);
/* A page of tools came while calls wait for it. */
void btz_mcp_http_learn_tools(struct btz_mcp_http_session *session, const struct btz_json *result);
/* The list is over: the calls go on. */
void btz_mcp_http_relisted(struct btz_mcp_http_session *session);

#endif
