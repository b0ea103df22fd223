/* An HTTP/1.1 listener on a loop: connections in, whole requests out, responses back.
 *
 * Nothing here calls back. The owner waits on the loop, pulls events, and pushes responses by
 * exchange, now or later; a connection works on one request at a time, so pipelined requests are
 * answered in order. Bytes are judged by room http; what it refuses is answered here (400, 413,
 * 414, 431, 501, 505), as are slow requests (408) and other expectations than 100-continue (417).
 *
 * A client that closes its side is gone: half-closed connections are not kept, because closing is
 * how MCP clients cancel. Every wait has a limit, and so has every buffer. The program has to
 * ignore SIGPIPE. */
#ifndef BTZ_NET_HTTP_SERVER_H
#define BTZ_NET_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/http.h"
#include "net/loop.h"

struct btz_net_http_server;

struct btz_net_http_server_options { /* 0 = default */
    const char *address;             /* NULL = 127.0.0.1 */
    uint16_t port;                   /* 0 = one that is free, see _port */
    size_t max_connections;          /* 256; more are closed at once */
    struct btz_http_limits limits;
    uint64_t max_body_bytes;  /* of all requests that are not pulled yet; 256 MiB, then 503 */
    size_t max_out_bytes;     /* waiting on one connection; 16 MiB */
    int64_t head_timeout_us;  /* for a whole head, also the first; 10 s */
    int64_t body_timeout_us;  /* for a whole body; 30 s */
    int64_t idle_timeout_us;  /* between requests; 60 s */
    int64_t write_timeout_us; /* without any byte taken by the client; 30 s */
};

enum btz_net_http_server_event_kind {
    BTZ_NET_HTTP_REQUEST, /* a whole request: answer it */
    BTZ_NET_HTTP_CLOSED   /* the client of a request that is not answered is gone: do not */
};

/* Views are valid until the next pull. */
struct btz_net_http_server_event {
    enum btz_net_http_server_event_kind kind;
    uint64_t exchange; /* never reused */
    const struct btz_http_head *head;
    struct btz_str body;
};

struct btz_net_http_server_stats {
    uint64_t connections; /* accepted */
    uint64_t turned_away; /* over max_connections */
    uint64_t requests;
    uint64_t refused; /* answered here */
    uint64_t slow;    /* ended by a timeout */
    uint64_t choked;  /* ended because too much waited for the client */
};

/* BTZ_EIO with `err` if the address cannot be had, BTZ_EINVAL if it is none. */
int btz_net_http_server_new(struct btz_net_loop *loop,
                            const struct btz_net_http_server_options *options,
                            struct btz_net_http_server **out, struct btz_err *err) BTZ_WARN_UNUSED;

/* Closes everything at once. To be called before the loop is freed. NULL is allowed. */
void btz_net_http_server_free(struct btz_net_http_server *server);

uint16_t btz_net_http_server_port(const struct btz_net_http_server *server);

/* Next event, or false. */
bool btz_net_http_server_next(struct btz_net_http_server *server,
                              struct btz_net_http_server_event *event);

/* Answers: either _respond, or _stream, any number of _chunk, _end. `fields` without framing and
 * Connection. To HEAD only the head is sent. BTZ_ENOTFOUND if the exchange is over or its client
 * gone, BTZ_ESTATE if it is not its turn, BTZ_EINVAL if a status or field breaks the grammar
 * (nothing was sent), BTZ_ELIMIT if it does not fit: the connection is closed then, and no CLOSED
 * follows. */
int btz_net_http_server_respond(struct btz_net_http_server *server, uint64_t exchange, int status,
                                const struct btz_http_field *fields, size_t count,
                                struct btz_str body) BTZ_WARN_UNUSED;
int btz_net_http_server_stream(struct btz_net_http_server *server, uint64_t exchange, int status,
                               const struct btz_http_field *fields, size_t count) BTZ_WARN_UNUSED;
int btz_net_http_server_chunk(struct btz_net_http_server *server, uint64_t exchange,
                              struct btz_str bytes) BTZ_WARN_UNUSED;
int btz_net_http_server_end(struct btz_net_http_server *server, uint64_t exchange) BTZ_WARN_UNUSED;

/* Closes the connection of an exchange without an end; unknown ones are ignored. */
void btz_net_http_server_abort(struct btz_net_http_server *server, uint64_t exchange);

size_t btz_net_http_server_connections(const struct btz_net_http_server *server);
struct btz_net_http_server_stats
btz_net_http_server_stats(const struct btz_net_http_server *server);

#endif
