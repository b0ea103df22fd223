/* Inside the room: bodies of a gateway and its connections. */
#ifndef BTZ_WIRE_GATEWAY_INT_H
#define BTZ_WIRE_GATEWAY_INT_H

#include <sys/socket.h>
#include <sys/un.h>

#include "base/arena.h"
#include "base/buf.h"
#include "mcp/frame.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/watch.h"
#include "proc/child.h"
#include "wire/gateway.h"

enum {
    GATEWAY_STREAMS = 8,    /* stdio connections of one server at a time */
    GATEWAY_EXCHANGES = 64, /* of one HTTP client */
    GATEWAY_OPEN = 512,     /* HTTP requests to our servers that are not over */
    GATEWAY_CHUNK = 64 * 1024,
    GATEWAY_OUT_MAX = 64 * 1024 * 1024
};

/* A connection to our server by `connect`. */
struct stream {
    int fd; /* -1 = free */
    struct btz_net_watch *watch;
    struct btz_mcp_server *machine;
    struct btz_mcp_frame frame;
    struct btz_buf out;
    bool closing;
};

/* A request of our HTTP client. */
struct exchange {
    uint64_t id; /* 0 = free */
    struct btz_net_http_transfer *transfer;
    struct btz_buf body;
    bool begun; /* its head came */
};

struct btz_gateway_conn {
    struct btz_gateway_conn *next;
    struct btz_gateway *gateway;
    struct btz_arena *arena;
    uint64_t serial; /* which of all that this gateway had, from 1 */
    struct btz_gateway_conn_options options;
    struct btz_str path, url;           /* of our server */
    struct btz_str address;             /* of its socket */
    struct btz_mcp_catalogue catalogue; /* as last set; for streams that come later */

    /* Server side. */
    struct btz_mcp_endpoint *endpoint;
    int listener; /* -1 = none */
    struct btz_net_watch *listener_watch;
    struct stream streams[GATEWAY_STREAMS];

    /* Client side: the program's stdio, or HTTP. */
    struct btz_proc *proc;
    struct btz_net_watch *watches[3];
    struct btz_mcp_client *client;
    struct btz_mcp_frame frame;
    struct btz_str bad_line; /* first line of the gateway that is no message */
    struct btz_mcp_http_session *session;
    struct exchange exchanges[GATEWAY_EXCHANGES];
    struct btz_str origin, target; /* of the gateway */
    uint16_t port;                 /* that it is to serve; 0 = it speaks on stdio, or has a URL */
    bool greeted;                  /* it answered an HTTP request, with whatever */
    bool again;                    /* it did not, though it took the connection: try anew */
    int64_t try_us;                /* when to look again whether it serves; 0 = it does */
    int64_t eof_us;                /* when its stdout ended; 0 = it did not */
    int64_t probe_us;              /* when the client's probe is over; 0 = it is */
    char trouble[256];             /* of the newest HTTP exchange that failed; for people */
    char broken[200];
};

/* An HTTP request to one of our servers that is not over. */
struct open {
    uint64_t exchange; /* 0 = free */
    struct btz_gateway_conn *conn;
};

struct btz_gateway {
    struct btz_arena *arena;
    struct btz_gateway_options options;
    struct btz_net_loop *loop;
    struct btz_net_http_server *site;
    struct btz_net_http *http; /* NULL until a client needs it */
    struct btz_gateway_conn *conns;
    struct open open[GATEWAY_OPEN];
    uint64_t serials;
    char chunk[GATEWAY_CHUNK]; /* for reading */
};

/* gateway_target.c: a command or a URL, made concrete for one connection. */
struct target {
    const char **argv; /* NULL for a URL */
    bool http;         /* the client speaks HTTP with it */
    struct btz_str origin, path;
};
/* `conn` NULL: only checks. `port` = what {port} stands for. */
int target_make(struct btz_arena *arena, const struct btz_gateway_options *options,
                const struct btz_gateway_conn *conn, uint16_t port, struct target *out,
                struct btz_err *err) BTZ_WARN_UNUSED;
bool target_has(struct btz_str text, const char *name);

/* gateway_server.c */
int server_side_open(struct btz_gateway_conn *conn, const struct btz_mcp_catalogue *catalogue,
                     struct btz_err *err) BTZ_WARN_UNUSED;
void server_side_close(struct btz_gateway_conn *conn);
bool server_side_step(struct btz_gateway *gateway); /* HTTP, of all connections */
bool streams_step(struct btz_gateway_conn *conn);
int server_side_listen(struct btz_gateway *gateway, struct btz_err *err) BTZ_WARN_UNUSED;

/* The socket of `connect`: an abstract name, so that no file is left behind. */
struct sockaddr_un gateway_address(struct btz_str name, socklen_t *len);

/* gateway_client.c */
int client_side_open(struct btz_gateway_conn *conn, struct btz_err *err) BTZ_WARN_UNUSED;
/* Takes in what the program says on stderr. */
void client_side_drain(struct btz_gateway_conn *conn);
/* Asks the program to end, if there is one. */
void client_side_end(struct btz_gateway_conn *conn);
void client_side_close(struct btz_gateway_conn *conn);
bool client_side_step(struct btz_gateway_conn *conn);
/* Results of the HTTP client, of all connections. */
bool client_side_results(struct btz_gateway *gateway);
void client_side_due(struct btz_gateway_conn *conn);

void gateway_break(struct btz_gateway_conn *conn, const char *fmt, ...) BTZ_PRINTF(2, 3);

#endif
