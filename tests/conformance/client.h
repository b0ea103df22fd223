/* The client that the official conformance suite spawns: a session of src/mcp over real sockets of
 * src/net, and a script that uses whatever the server offers.
 *
 *   client.c          what is done, and the answers to a server's questions
 *   client_carrier.c  exchanges of the session <-> transfers of the HTTP client */
#ifndef BTZ_CONFORMANCE_CLIENT_H
#define BTZ_CONFORMANCE_CLIENT_H

#include "mcp/http_session.h"
#include "net/http_client.h"
#include "net/loop.h"

enum { CARRIER_EXCHANGES = 256 };

struct carrier_exchange {
    uint64_t id; /* of the session; 0 = free */
    struct btz_net_http_transfer *transfer;
    struct btz_buf body; /* of the request, kept until its result is there */
    bool begun;          /* the session was given a head */
};

struct carrier {
    struct btz_net_loop *loop;
    struct btz_net_http *http;
    struct btz_mcp_http_session *session;
    char origin[300]; /* "http://host:port" */
    char target[1024];
    struct carrier_exchange exchanges[CARRIER_EXCHANGES];
};

/* BTZ_EINVAL with `err` if `url` is none of http with a path or nothing behind the host. `options`
 * is filled with host, target and time; the rest is the caller's. */
int carrier_open(struct carrier *carrier, const char *url,
                 struct btz_mcp_http_session_options *options, struct btz_err *err) BTZ_WARN_UNUSED;
void carrier_close(struct carrier *carrier);

/* Moves everything that can move; true if something did. */
bool carrier_pump(struct carrier *carrier);
/* Waits for sockets and the session's own waits, at most until `until_us`. */
void carrier_wait(struct carrier *carrier, int64_t until_us);

#endif
