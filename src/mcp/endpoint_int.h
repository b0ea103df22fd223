/* Inside the room: bodies of the endpoint.
 *
 * A peer is one server machine and whom it talks to: a legacy session, or a single modern request.
 * A route is where the messages of one request (or of one GET) go. An exchange is an HTTP request
 * whose response is not complete; it serves one route, and a legacy route may outlive it. */
#ifndef BTZ_MCP_ENDPOINT_INT_H
#define BTZ_MCP_ENDPOINT_INT_H

#include "mcp/endpoint.h"
#include "mcp/server_http.h"

#define SESSION_ID_LEN 40
#define MAX_FIELDS 4

/* endpoint_table.c: a hash table of nodes that live in their owners. */
struct node {
    struct node *next;
    uint64_t key;
};
struct table {
    struct node **slots;
    size_t size, count;
};
void btz_mcp_table_put(struct table *table, struct node *node);
void btz_mcp_table_drop(struct table *table, struct node *node);
struct node *btz_mcp_table_get(const struct table *table, uint64_t key); /* first of that key */
/* Calls for each node: `*at` begins at 0, NULL at the end. No changes in between. */
struct node *btz_mcp_table_next(const struct table *table, size_t *at, const struct node *last);
void btz_mcp_table_fini(struct table *table);

/* A ring of links; one that points to itself is in no list. */
struct link {
    struct link *prev, *next;
};
static inline void link_init(struct link *link)
{
    link->prev = link->next = link;
}
static inline bool link_used(const struct link *link)
{
    return link->next != link;
}
static inline void link_drop(struct link *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    link_init(link);
}
static inline void link_append(struct link *list, struct link *link)
{
    link->prev = list->prev;
    link->next = list;
    list->prev->next = link;
    list->prev = link;
}
#define OWNER(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

/* One event of a stream as it was written, or one message that waits for a stream. */
struct kept {
    struct kept *next;
    struct route *route; /* NULL = waits */
    uint64_t sequence;
    size_t len;
    char bytes[];
};
struct kept_list {
    struct kept *head, *tail;
    size_t bytes; /* records included */
};

struct route {
    struct route *next;
    uint64_t number;      /* in its session; first half of event ids */
    struct btz_mcp_id id; /* request; NONE = a GET stream */
    bool started;         /* a stream head was sent */
    bool finished;        /* its answer was given */
    uint64_t sequence;    /* of the last event */
    uint64_t evicted;     /* of the last event that is not kept any more */
    size_t kept;
    struct exchange *exchange; /* NULL = nobody reads */
    char text[];               /* of `id` */
};

struct peer {
    struct node node; /* key = handle */
    struct node by_id;
    struct link touched, eventful;
    struct btz_mcp_server *server;
    uint64_t generation; /* of the catalogue it began with */
    bool modern;
    bool old_sse; /* HTTP+SSE: everything goes to its one GET stream */
    bool session; /* listed as a session */
    bool greeted; /* a request came after initialize */
    bool over;    /* its machine is only kept until the owner has pulled its events */
    char id[SESSION_ID_LEN + 1];
    char *subject; /* `subject_len` bytes */
    size_t subject_len;
    int64_t active_us;
    struct route *routes;
    uint64_t routes_made;
    size_t open; /* exchanges */
    size_t gets; /* of them, GET streams */
    struct kept_list replay, waiting;
};

struct exchange {
    struct node node; /* key = the caller's number */
    struct peer *peer;
    struct route *route;
    bool get;
    bool streaming;
    int64_t written_us;
};

/* One outgoing item. */
struct part {
    struct part *next;
    struct btz_mcp_endpoint_out out;
    struct btz_http_field fields[MAX_FIELDS];
    size_t charge;
    char text[];
};

#define MAX_IDLE 16

struct btz_mcp_endpoint {
    struct btz_mcp_endpoint_options options;
    struct btz_arena *arena;               /* options */
    struct btz_mcp_server *model;          /* never used itself: the others share its catalogue */
    uint64_t generation;                   /* of the catalogue */
    struct btz_mcp_server *idle[MAX_IDLE]; /* modern machines without a request */
    size_t idle_count;
    struct table peers, sessions, exchanges;
    struct link touched, eventful;
    uint64_t handles_made, ids_made;
    struct part *head, *tail, *pulled;
    size_t out_bytes;
    struct btz_buf scratch;
    int64_t now_us, due_us;
    struct btz_mcp_endpoint_stats stats;
};

/* What an answer without a stream looks like. */
struct answer {
    int status;
    const char *allow;      /* 405 */
    struct btz_str session; /* MCP-Session-Id, or NONE */
    struct btz_str body;    /* JSON; empty = none */
};

/* endpoint_out.c */
void btz_mcp_endpoint_answer(struct btz_mcp_endpoint *endpoint, uint64_t exchange,
                             const struct answer *answer);
/* An answer with a JSON-RPC error. */
void btz_mcp_endpoint_refuse(struct btz_mcp_endpoint *endpoint, uint64_t exchange, int status,
                             int code, struct btz_mcp_id id, const char *text);
void btz_mcp_endpoint_refuse_method(struct btz_mcp_endpoint *endpoint, uint64_t exchange,
                                    const char *allow);
/* Head of the stream, and the event that lets a client come back if there is one. */
void btz_mcp_endpoint_start_stream(struct btz_mcp_endpoint *endpoint, struct exchange *x,
                                   bool prime);
bool btz_mcp_endpoint_primes(const struct btz_mcp_endpoint *endpoint, const struct peer *peer);
/* Sends every kept event of `route` behind `after`. */
void btz_mcp_endpoint_replay(struct btz_mcp_endpoint *endpoint, struct peer *peer,
                             struct route *route, uint64_t after);
void btz_mcp_endpoint_send_waiting(struct btz_mcp_endpoint *endpoint, struct peer *peer);
/* Bytes of a stream as they are; gives the exchange up if they do not fit. */
void btz_mcp_endpoint_stream_bytes(struct btz_mcp_endpoint *endpoint, struct exchange *x,
                                   struct btz_str bytes);
void btz_mcp_endpoint_end_stream(struct btz_mcp_endpoint *endpoint, struct exchange *x);
/* Drops what waits for the carrier of this exchange. */
void btz_mcp_endpoint_purge(struct btz_mcp_endpoint *endpoint, uint64_t exchange);
/* Nobody reads this exchange any more: the carrier said so, or is told so. */
void btz_mcp_endpoint_lose(struct btz_mcp_endpoint *endpoint, struct exchange *x);
void btz_mcp_endpoint_abort(struct btz_mcp_endpoint *endpoint, struct exchange *x);
/* Takes what the machine of `peer` has to say. May end `peer`. */
void btz_mcp_endpoint_drain(struct btz_mcp_endpoint *endpoint, struct peer *peer);
void btz_mcp_endpoint_out_fini(struct btz_mcp_endpoint *endpoint);
/* Names the old transport's POST address on a new GET stream. */
void btz_mcp_endpoint_send_address(struct btz_mcp_endpoint *endpoint, struct exchange *x,
                                   struct btz_str target);

/* endpoint.c */
void btz_mcp_endpoint_at(struct btz_mcp_endpoint *endpoint, int64_t now_us);
/* _tick has something to do at `at_us`. */
void btz_mcp_endpoint_due_by(struct btz_mcp_endpoint *endpoint, int64_t at_us);

/* endpoint_peer.c */
struct peer *btz_mcp_endpoint_peer_new(struct btz_mcp_endpoint *endpoint, bool modern,
                                       struct btz_str subject);
void btz_mcp_endpoint_peer_open_session(struct btz_mcp_endpoint *endpoint, struct peer *peer);
struct peer *btz_mcp_endpoint_session(const struct btz_mcp_endpoint *endpoint, struct btz_str id,
                                      bool old_sse);
/* Ends a peer: exchanges are answered, calls are cancelled, the session is unknown from now on. */
void btz_mcp_endpoint_peer_end(struct btz_mcp_endpoint *endpoint, struct peer *peer);
/* Both eras: something was fed to its machine. */
void btz_mcp_endpoint_peer_touch(struct btz_mcp_endpoint *endpoint, struct peer *peer);
bool btz_mcp_endpoint_peer_busy(const struct peer *peer);
void btz_mcp_endpoint_peer_free(struct btz_mcp_endpoint *endpoint, struct peer *peer);
/* A modern request was answered. */
void btz_mcp_endpoint_peer_release(struct btz_mcp_endpoint *endpoint, struct peer *peer);
struct route *btz_mcp_endpoint_route_new(struct peer *peer, struct btz_mcp_id id);
struct route *btz_mcp_endpoint_route_find(const struct peer *peer, struct btz_mcp_id id);
/* Forgets a request that gets no answer, and its kept events. */
void btz_mcp_endpoint_route_drop(struct peer *peer, struct route *route);
/* Frees a route that nothing can reach any more. */
void btz_mcp_endpoint_route_settle(struct peer *peer, struct route *route);
struct exchange *btz_mcp_endpoint_exchange_new(struct btz_mcp_endpoint *endpoint, uint64_t number,
                                               struct peer *peer, struct route *route, bool get);
struct exchange *btz_mcp_endpoint_exchange_find(const struct btz_mcp_endpoint *endpoint,
                                                uint64_t number);
void btz_mcp_endpoint_exchange_free(struct btz_mcp_endpoint *endpoint, struct exchange *x);
struct kept *btz_mcp_kept_new(struct route *route, uint64_t sequence, struct btz_str bytes);
void btz_mcp_kept_push(struct kept_list *list, struct kept *kept);
struct kept *btz_mcp_kept_pop(struct kept_list *list);
void btz_mcp_kept_fini(struct kept_list *list);

/* endpoint_check.c: rules about single requests; they know no session. */
bool btz_mcp_endpoint_host_ok(const struct btz_mcp_endpoint *endpoint,
                              const struct btz_http_head *head);
/* Fetch Metadata (W3C): browsers say in Sec-Fetch-Site from where a request comes, also where they
 * leave Origin out. */
bool btz_mcp_endpoint_site_ok(const struct btz_mcp_endpoint *endpoint,
                              const struct btz_http_head *head);
bool btz_mcp_endpoint_origin_ok(const struct btz_mcp_endpoint *endpoint,
                                const struct btz_http_head *head);
/* Accept allows this media type, such as "application/json". */
bool btz_mcp_accepts(const struct btz_http_head *head, const char *type);
/* The body is plain JSON in UTF-8. */
bool btz_mcp_is_json(const struct btz_http_head *head);
bool btz_mcp_is_encoded(const struct btz_http_head *head);
bool btz_mcp_same_word(struct btz_str a, struct btz_str b); /* ASCII case ignored */
/* Value of parameter `name` in the query of `target`, or BTZ_STR_NONE. Not decoded. */
struct btz_str btz_mcp_query(struct btz_str target, const char *name);

#endif
