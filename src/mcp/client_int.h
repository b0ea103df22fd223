/* Inside the room: bodies of the client machine. */
#ifndef BTZ_MCP_CLIENT_INT_H
#define BTZ_MCP_CLIENT_INT_H

#include "mcp/client.h"
#include "mcp/queue.h"

enum client_state {
    CLIENT_NEW,
    CLIENT_PROBING,      /* server/discover is out, its failure leads to initialize */
    CLIENT_DISCOVERING,  /* server/discover is out, the era is settled */
    CLIENT_INITIALIZING, /* initialize is out */
    CLIENT_READY,
    CLIENT_DEAD /* failed or closed */
};

/* A request in flight. What it points to lives in `arena`, which also holds the request itself. */
struct request {
    struct request *next;
    struct btz_arena *arena;
    const struct btz_mcp_method *method;
    uint64_t handle;  /* the owner's number: the id of its first message */
    uint64_t wire_id; /* of the message that waits for an answer; lists need several */
    double last_progress;
    bool progressed;
    /* lists */
    struct btz_json *items;
    struct btz_json *cursors;
    size_t pages, bytes;
    int64_t ttl_ms;
    bool cache_public;
    /* listen streams */
    unsigned lists;
    const struct btz_json *uris; /* asked for; accepted once acknowledged */
    bool acknowledged;
    /* modern calls, reads and prompts */
    const struct btz_json *params;  /* as first sent, without _meta */
    const struct btz_json *methods; /* of the inputs that are waited for: key -> method */
    struct btz_str state;           /* requestState; NONE = none */
    size_t rounds;
    bool waiting; /* for the owner's inputs: nothing is out */
};

/* A request of the legacy server that the owner has to answer. */
struct asked {
    struct asked *next;
    uint64_t number; /* the owner's */
    struct btz_mcp_id id;
    const struct btz_mcp_method *method;
    char text[]; /* of a string id */
};

struct event_item {
    struct event_item *next;
    struct btz_arena *arena; /* holds the item and what its views point to */
    struct btz_mcp_client_event event;
};

struct btz_mcp_client {
    struct btz_mcp_client_options options;
    struct btz_arena *arena; /* copies of options */
    struct btz_json *info;   /* clientInfo */
    const struct btz_json *capabilities;
    enum client_state state;
    enum btz_mcp_revision revision; /* that requests are made in; settled when READY */
    bool fell_back;
    bool asked_again; /* server/discover, after the server refused the version of the first one */
    struct request *requests;
    size_t request_count;
    uint64_t next_id;
    struct asked *asked;
    size_t asked_count;
    uint64_t next_asked;
    bool subscribed;               /* legacy: the owner has subscribed to some resource */
    struct btz_arena *tools_arena; /* holds `tools`; NULL before the first list */
    const struct btz_json *tools;  /* last list, for the headers of calls (HTTP) */
    struct event_item *event_head, *event_tail, *event_pulled;
    size_t event_count;
    struct out_queue queue;
    struct arena_pool pool;
    struct btz_mcp_client_stats stats;
};

/* One incoming message on its way. */
struct received {
    struct btz_mcp_client *client;
    struct btz_arena *arena; /* NULL once an event took it over */
    struct btz_mcp_message message;
    size_t bytes;
};

/* client_request.c */
struct request *btz_mcp_client_request(struct btz_mcp_client *client,
                                       enum btz_mcp_method_id method);
/* Sends the first or next message of `request`; `params` may be NULL and is completed with the
 * era's _meta. On failure the request is still in flight. */
int btz_mcp_client_send(struct btz_mcp_client *client, struct request *request,
                        struct btz_json *params) BTZ_WARN_UNUSED;
int btz_mcp_client_notify(struct btz_mcp_client *client, enum btz_mcp_method_id method,
                          const struct btz_json *params) BTZ_WARN_UNUSED;
void btz_mcp_client_drop(struct btz_mcp_client *client, struct request *request);
struct request *btz_mcp_client_find(const struct btz_mcp_client *client, uint64_t wire_id);
struct request *btz_mcp_client_by_id(const struct btz_mcp_client *client, struct btz_mcp_id id);
/* True for tools/call, resources/read and prompts/get: they take long, log and may need input. */
bool btz_mcp_client_is_work(const struct btz_mcp_method *method);

/* client_input.c */
/* A result of type input_required. */
int btz_mcp_client_take_input(struct received *in, struct request *request) BTZ_WARN_UNUSED;

/* client_ask.c */
int btz_mcp_client_take_request(struct received *in) BTZ_WARN_UNUSED;
/* notifications/cancelled for an open ask; false if `id` names none. */
bool btz_mcp_client_ask_cancelled(struct received *in, struct btz_mcp_id id);
void btz_mcp_client_drop_asked(struct btz_mcp_client *client);

/* client_notice.c */
int btz_mcp_client_take_notification(struct received *in) BTZ_WARN_UNUSED;
/* Counts a message that is not followed, with an alarm. */
int btz_mcp_client_ignore(struct btz_mcp_client *client, const char *text) BTZ_WARN_UNUSED;
/* Queues an event that may be dropped when too many wait. */
void btz_mcp_client_push_minor(struct received *in, const struct btz_mcp_client_event *event);

/* client.c */
/* Queues an event; its views must live in `arena` (NULL: in nothing), which it takes over. */
void btz_mcp_client_push(struct btz_mcp_client *client, const struct btz_mcp_client_event *event,
                         struct btz_arena *arena);
/* A rule was broken; `request` may be 0. Dropped and counted when too many events wait. */
void btz_mcp_client_alarm(struct btz_mcp_client *client, uint64_t request, const char *text);
/* Ends `request` with an event of its kind and a fault; `text` is copied. */
void btz_mcp_client_fail(struct btz_mcp_client *client, struct request *request,
                         enum btz_mcp_fault fault, const char *text);
/* The same for an answer that breaks the protocol, with an alarm. */
void btz_mcp_client_invalid(struct btz_mcp_client *client, struct request *request,
                            const char *text);
/* Kind of the event that ends a request of `method`. */
enum btz_mcp_client_event_kind btz_mcp_client_kind(const struct btz_mcp_method *method);
/* FAILED event, with an arena to take over or NULL. */
void btz_mcp_client_dead(struct btz_mcp_client *client, struct btz_mcp_client_event event,
                         struct btz_arena *arena);

/* client_handshake.c */
int btz_mcp_client_discover(struct btz_mcp_client *client) BTZ_WARN_UNUSED;
int btz_mcp_client_initialize(struct btz_mcp_client *client) BTZ_WARN_UNUSED;
/* Result or error of server/discover or initialize. */
int btz_mcp_client_handshake(struct received *in, struct request *request) BTZ_WARN_UNUSED;

/* An answer to either that is no message. */
int btz_mcp_client_handshake_unreadable(struct btz_mcp_client *client) BTZ_WARN_UNUSED;

/* client_list.c */
int btz_mcp_client_page(struct received *in, struct request *request) BTZ_WARN_UNUSED;

#endif
