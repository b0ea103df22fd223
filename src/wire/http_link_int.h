/* Inside the room: bodies of the HTTP link. */
#ifndef BTZ_WIRE_HTTP_LINK_INT_H
#define BTZ_WIRE_HTTP_LINK_INT_H

#include "base/arena.h"
#include "base/buf.h"
#include "http/sse.h"
#include "wire/http_link.h"

enum end { END_CLIENT, END_SERVER };

/* One exchange at the server's end. */
struct served {
    struct served *next;
    struct btz_arena *arena; /* holds it and the request */
    struct connection *connection;
    uint64_t id;
    bool asked; /* the endpoint has the request */
    struct btz_str method, target;
    const struct btz_http_field *fields;
    size_t field_count;
    struct btz_buf body;
    bool streaming;
    struct btz_sse_parser *events; /* only with a relay */
    struct btz_buf raw;            /* bytes of the stream since the last whole event */
};

struct connection {
    struct connection *next;
    uint64_t number;
    int fds[2];              /* by end; -1 in memory */
    struct btz_buf lanes[2]; /* bytes under way, by the end that will get them */
    bool closing[2];         /* by the end that closes */
    bool gone;
    bool own;               /* the relay's or a fetch: no session is at the client's end */
    bool fetch;             /* of btz_http_link_fetch: the relay sees it as the client's */
    uint64_t reserved;      /* number of the exchange that a replay will be */
    struct btz_str subject; /* in the arena of the link or, of a replay, in `arena` */
    struct btz_arena *arena;
    uint64_t exchange; /* of the client's session, 0 = idle */
    struct btz_http_parser *requests, *responses;
    struct served *serving; /* 0 or 1 at a time */
};

struct btz_http_link {
    struct btz_http_link_options options;
    struct btz_arena *arena;
    struct btz_mcp_http_session *session;
    struct btz_mcp_endpoint *endpoint;
    struct connection *connections;
    struct served *served;
    uint64_t next_connection, next_exchange;
    size_t replays;
    int listener; /* -1 in memory */
    uint16_t port;
    struct btz_buf arrived; /* bytes that went through a socket */
    struct btz_buf transcript;
    int64_t now_us;
    bool moved;
    enum btz_http_relay_verdict (*relay)(void *context, struct btz_http_link *link,
                                         struct btz_http_relay_item *item);
    void *relay_context;
    bool (*front)(void *context, struct btz_http_link *link, struct btz_http_relay_item *item);
    void *front_context;
    struct btz_http_fetched *fetched; /* the answer of the last fetch; in `arena` */
};

/* http_pump.c */
int btz_http_pump_open(struct btz_http_link *link, struct btz_err *err) BTZ_WARN_UNUSED;
int btz_http_pump_connect(struct btz_http_link *link, struct connection *connection,
                          struct btz_err *err) BTZ_WARN_UNUSED;
/* Moves all bytes that wait for `end`; `*arrived` is a view until the next call. */
int btz_http_pump_move(struct btz_http_link *link, struct connection *connection, enum end end,
                       struct btz_str *arrived, struct btz_err *err) BTZ_WARN_UNUSED;
/* `end` closes; returns when the other end has seen it. */
int btz_http_pump_close(struct btz_http_link *link, struct connection *connection, enum end end,
                        struct btz_err *err) BTZ_WARN_UNUSED;
void btz_http_pump_fini(struct connection *connection);

/* http_link_fetch.c: keeps the answer to a fetch. */
void btz_http_link_keep_fetched(struct btz_http_link *link, uint64_t exchange,
                                const struct btz_http_relay_item *item);

/* http_link_server.c: the server's end */
int btz_http_link_serve(struct btz_http_link *link, struct connection *connection,
                        struct btz_str bytes, struct btz_err *err) BTZ_WARN_UNUSED;
int btz_http_link_take_out(struct btz_http_link *link, struct btz_err *err) BTZ_WARN_UNUSED;
/* The client's end is closed. */
void btz_http_link_hang_up(struct btz_http_link *link, struct connection *connection);
void btz_http_link_served_free(struct btz_http_link *link, struct served *served);

#endif
