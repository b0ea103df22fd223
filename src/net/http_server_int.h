/* Inside the room: bodies of the listener. */
#ifndef BTZ_NET_HTTP_SERVER_INT_H
#define BTZ_NET_HTTP_SERVER_INT_H

#include <uv.h>

#include "base/arena.h"
#include "net/http_server.h"

#define READ_SIZE ((size_t)64 * 1024)
#define SLOT_BITS 20 /* low bits of an exchange number: which connection */

enum phase {
    PHASE_NEW,  /* no byte came yet */
    PHASE_IDLE, /* between requests */
    PHASE_HEAD,
    PHASE_BODY,
    PHASE_BUSY,   /* the owner has the request */
    PHASE_LINGER, /* answered for the last time; what still comes is thrown away */
    PHASE_GONE    /* being closed */
};

/* An event that waits for the owner. */
struct item {
    struct item *next;
    struct btz_net_http_server_event event;
    struct btz_arena *arena; /* of the head */
    struct btz_http_head head;
    struct btz_buf body;
    bool dropped; /* its client went away before the owner heard of it */
};

struct connection {
    uv_tcp_t tcp;
    uv_shutdown_t shutdown;
    struct btz_net_http_server *server;
    size_t slot;
    enum phase phase;
    int64_t deadline_us; /* of the phase; 0 = none */
    struct btz_http_parser *parser;
    struct btz_buf input; /* came while a request was worked on */
    struct item *item;    /* request that is being read, or waits for the owner */
    uint64_t exchange;    /* 0 = none */
    bool paused;          /* not reading: `input` is full */
    bool last;            /* the connection ends after this response */
    bool head_only;       /* the request is HEAD */
    bool streaming;
    size_t out_bytes;     /* waiting, as libuv has not reported them written */
    uint64_t sent, taken; /* all bytes so far: given to libuv; taken by the client when looked at */
    int64_t moved_us;     /* when a byte was last taken */
    size_t thrown_away;
};

struct btz_net_http_server {
    struct btz_net_loop *loop;
    struct btz_net_http_server_options options;
    uv_tcp_t listener;
    uv_timer_t timer;
    size_t handles; /* not closed yet; the server goes with the last */
    bool closing;
    uint16_t port;
    struct connection **slots;
    size_t count;
    uint64_t serial;
    struct item *head, *tail, *pulled;
    uint64_t body_bytes;
    struct btz_net_http_server_stats stats;
    char read_buffer[READ_SIZE];
};

void btz_net_connection_open(struct btz_net_http_server *server);
/* Closes without a word; the owner is told if it has the request. */
void btz_net_connection_lose(struct connection *c);
void btz_net_connection_close(struct connection *c);
void btz_net_connection_check(struct connection *c, int64_t now_us);
/* Takes all of `bytes` (may be empty). BTZ_ELIMIT: too much waits, the connection is closed. */
int btz_net_connection_send(struct connection *c, struct btz_str bytes) BTZ_WARN_UNUSED;
/* The response is complete. */
void btz_net_connection_answered(struct connection *c);
void btz_net_server_push(struct btz_net_http_server *server, struct item *item);
struct item *btz_net_item_new(enum btz_net_http_server_event_kind kind, uint64_t exchange);
void btz_net_item_free(struct btz_net_http_server *server, struct item *item);
void btz_net_server_handle_closed(struct btz_net_http_server *server);

#endif
