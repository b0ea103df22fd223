/* Inside the room: bodies of the server machine. */
#ifndef BTZ_MCP_SERVER_INT_H
#define BTZ_MCP_SERVER_INT_H

#include "mcp/queue.h"
#include "mcp/server.h"

enum call_state {
    CALL_NEW,       /* its event waits */
    CALL_OPEN,      /* the owner works on it */
    CALL_CANCELLED, /* its CANCELLED event waits or was just pulled */
    CALL_NOTE       /* no call: an event that needs no reply (ANSWER, ROOTS_CHANGED) */
};

/* A request that the owner has to answer. Everything it points to lives in `arena`. */
struct call {
    struct call *next;
    struct call *next_event;
    struct btz_arena *arena;
    enum call_state state;
    const struct btz_mcp_method *method;
    struct btz_mcp_id id;
    int log_level; /* -1 = no log messages wanted */
    double last_progress;
    bool progressed;
    struct btz_mcp_server_event event;
};

/* A modern subscriptions/listen stream. */
struct stream {
    struct stream *next;
    struct btz_arena *arena;
    struct btz_mcp_id id;
    unsigned lists;
    const struct btz_json *uris; /* accepted resourceSubscriptions, an array */
};

/* A request to the legacy client that waits for its answer. */
struct ask {
    struct ask *next;
    uint64_t id;    /* JSON-RPC id, and the owner's number */
    uint64_t token; /* call it belongs to, or 0 */
    const struct btz_mcp_method *method;
};

/* A resource the legacy session is subscribed to. */
struct subscription {
    struct subscription *next;
    size_t len;
    char uri[];
};

/* One version of what is offered. Machines of one endpoint share the arena. */
struct offer {
    struct btz_arena *arena;
    size_t *users; /* of the arena, and in it */
    uint64_t version;
    const struct btz_json *server_info;
    struct btz_str instructions;
    const struct btz_json *tools, *resources, *templates, *prompts;
};

struct session {
    struct btz_arena *arena;
    enum btz_mcp_revision revision; /* NONE before initialize */
    bool initialized;               /* notifications/initialized has arrived */
    unsigned held;                  /* lists that changed before that */
    int log_level;                  /* of logging/setLevel; 0 = everything */
    bool roots_asked;               /* the owner wants to hear of roots that change */
    struct subscription *subscriptions;
    size_t subscription_count;
    const struct btz_json *client_info, *client_capabilities;
};

struct btz_mcp_server {
    struct btz_mcp_server_options options;
    struct offer offer;
    struct session session;
    struct call *calls;
    size_t call_count;
    struct call *event_head, *event_tail;
    struct call *released; /* over, and its event was pulled: freed by the next pull */
    struct ask *asks;
    size_t ask_count;
    uint64_t next_ask;
    struct stream *streams;
    size_t stream_count;
    struct out_queue queue;
    struct arena_pool pool;
    uint64_t next_token;
    struct btz_mcp_server_stats stats;
    bool dead;
};

/* One incoming message on its way. */
struct incoming {
    struct btz_mcp_server *server;
    struct btz_arena *arena;               /* NULL once a call or stream took it over */
    const struct btz_mcp_headers *headers; /* NULL on byte streams */
    struct btz_mcp_message message;
    const struct btz_json *meta;
    enum btz_mcp_revision revision; /* that it is judged by */
    const struct btz_mcp_method *method;
};

/* server_catalogue.c */
int btz_mcp_offer_make(const struct btz_mcp_catalogue *catalogue, uint64_t version,
                       struct offer *out, struct btz_err *err) BTZ_WARN_UNUSED;
struct offer btz_mcp_offer_share(const struct offer *offer, uint64_t version);
void btz_mcp_offer_drop(struct offer *offer);
/* True if `capability` (NULL = none needed) is declared to clients. */
bool btz_mcp_server_has(const struct btz_mcp_server *server, const char *capability);
struct btz_json *btz_mcp_offer_capabilities(const struct btz_mcp_server *server,
                                            struct btz_arena *arena);
/* One page of a list into `result`; false if the cursor is none of this catalogue. */
bool btz_mcp_offer_page(const struct btz_mcp_server *server, struct btz_arena *arena,
                        const struct btz_mcp_method *method, const struct btz_json *cursor,
                        struct btz_json *result);
/* Item of `list` whose member `key` is `value`, or NULL. */
const struct btz_json *btz_mcp_offer_find(const struct btz_json *list, const char *key,
                                          struct btz_str value);
/* True if a client may name `uri` in a subscription: it is listed or may come from a template. */
bool btz_mcp_offer_may_have(const struct offer *offer, struct btz_str uri);

/* server_feed.c */
int btz_mcp_server_take(struct btz_mcp_server *server, struct btz_str bytes,
                        const struct btz_mcp_headers *headers) BTZ_WARN_UNUSED;
/* Answers with an error; `http_status` counts on HTTP only. */
int btz_mcp_server_refuse(struct incoming *in, int code, int http_status, const char *text,
                          const struct btz_json *data) BTZ_WARN_UNUSED;
/* Answers with `body` (NULL = {}), completed for the era. */
int btz_mcp_server_answer(struct incoming *in, const struct btz_json *body) BTZ_WARN_UNUSED;

/* server_work.c: requests that the owner answers */
int btz_mcp_server_work(struct incoming *in) BTZ_WARN_UNUSED;

/* server_reply.c: each returns 0 or BTZ_ELIMIT */
int btz_mcp_server_send_error(struct btz_mcp_server *server, struct btz_mcp_id id, int64_t code,
                              struct btz_str message, const struct btz_json *data, int http_status,
                              enum btz_mcp_revision revision) BTZ_WARN_UNUSED;
int btz_mcp_server_send_result(struct btz_mcp_server *server, struct btz_mcp_id id,
                               const struct btz_json *result,
                               enum btz_mcp_revision revision) BTZ_WARN_UNUSED;
int btz_mcp_server_send_notification(struct btz_mcp_server *server, struct btz_mcp_id related,
                                     enum btz_mcp_method_id method, const struct btz_json *params,
                                     enum btz_mcp_revision revision) BTZ_WARN_UNUSED;
/* Members every result of `revision` has, around those of `body`. */
struct btz_json *btz_mcp_server_finish(const struct btz_mcp_server *server, struct btz_arena *arena,
                                       const struct btz_json *body, enum btz_mcp_revision revision,
                                       bool cacheable);
/* The call of `token` if it can still be answered. */
int btz_mcp_server_open(struct btz_mcp_server *server, uint64_t token,
                        struct call **out) BTZ_WARN_UNUSED;

/* server_notice.c */
/* Tells clients that lists changed: the session only, or listen streams as well. */
int btz_mcp_server_announce_session(struct btz_mcp_server *server, unsigned lists) BTZ_WARN_UNUSED;
int btz_mcp_server_announce(struct btz_mcp_server *server, unsigned lists) BTZ_WARN_UNUSED;
int btz_mcp_server_set_level(struct incoming *in) BTZ_WARN_UNUSED;
int btz_mcp_server_subscribe(struct incoming *in) BTZ_WARN_UNUSED;
int btz_mcp_server_unsubscribe(struct incoming *in) BTZ_WARN_UNUSED;
void btz_mcp_server_drop_subscriptions(struct btz_mcp_server *server);

/* server_stream.c */
int btz_mcp_server_listen(struct incoming *in) BTZ_WARN_UNUSED;
/* {"_meta":{"io.modelcontextprotocol/subscriptionId":ID}} for messages of a listen stream. */
struct btz_json *btz_mcp_stream_params(struct btz_arena *arena, const struct stream *stream);

/* server_ask.c */
/* A response of the client; false if it answers no open ask (then `in` is untouched). */
bool btz_mcp_server_take_answer(struct incoming *in);
/* True if `id` is one that an ask had, open or not. */
bool btz_mcp_server_was_asked(const struct btz_mcp_server *server, struct btz_mcp_id id);
/* Cancels the open asks of a call that is over. */
int btz_mcp_server_cancel_asks(struct btz_mcp_server *server,
                               const struct call *call) BTZ_WARN_UNUSED;
void btz_mcp_server_drop_asks(struct btz_mcp_server *server);
void btz_mcp_server_roots_changed(struct incoming *in);

/* server.c */
void btz_mcp_server_add_call(struct btz_mcp_server *server, struct call *call);
/* An event that needs no reply; its views live in `arena`, which it takes over. */
void btz_mcp_server_note(struct btz_mcp_server *server, const struct btz_mcp_server_event *event,
                         struct btz_arena *arena);
void btz_mcp_server_drop_call(struct btz_mcp_server *server, struct call *call);
void btz_mcp_server_drop_stream(struct btz_mcp_server *server, struct stream *stream);
struct call *btz_mcp_server_call_by_id(const struct btz_mcp_server *server, struct btz_mcp_id id);
struct stream *btz_mcp_server_stream_by_id(const struct btz_mcp_server *server,
                                           struct btz_mcp_id id);
/* True if `id` named a call or stream. */
bool btz_mcp_server_cancel_id(struct btz_mcp_server *server, struct btz_mcp_id id,
                              struct btz_str reason);

#endif
