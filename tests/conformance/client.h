/* The client that the official conformance suite spawns: a session of src/mcp over real sockets of
 * src/net, and a script that uses whatever the server offers.
 *
 *   client.c          what is done, and the answers to a server's questions
 *   client_carrier.c  exchanges of the session <-> transfers of the HTTP client
 *   client_authorize.c  needs of an authorization <-> transfers, and a user who says yes */
#ifndef BTZ_CONFORMANCE_CLIENT_H
#define BTZ_CONFORMANCE_CLIENT_H

#include "auth/flow.h"
#include "json/json.h"
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

/* What a person configures about authorization. */
struct authorize_options {
    const struct btz_json *context; /* client_id, client_secret, issuer; may be NULL */
    enum btz_mcp_revision revision;
};

struct carrier {
    struct btz_net_loop *loop;
    struct btz_net_http *http;
    struct btz_mcp_http_session *session;
    char origin[300]; /* "http://host:port" */
    char target[1024];
    struct carrier_exchange exchanges[CARRIER_EXCHANGES];
    struct btz_auth_flow *flow;
    bool authorizing; /* a challenge of the session is with the flow */
    uint64_t fetch;   /* number of the flow's transfer under way, or 0 */
    uint64_t fetches;
    bool opening; /* it stands for the user's browser */
    struct btz_buf fetch_body;
};

/* BTZ_EINVAL with `err` if `url` is none of http with a path or nothing behind the host. `options`
 * is filled with host, target and time; the rest is the caller's. */
int carrier_open(struct carrier *carrier, const char *url,
                 struct btz_mcp_http_session_options *options, struct btz_err *err) BTZ_WARN_UNUSED;
void carrier_close(struct carrier *carrier);

/* client_authorize.c */
int authorize_open(struct carrier *carrier, const char *url,
                   const struct authorize_options *options, struct btz_err *err) BTZ_WARN_UNUSED;
void authorize_close(struct carrier *carrier);
/* Takes up a challenge of the session, performs needs, gives the session its answer. True if
 * something moved. */
bool authorize_pump(struct carrier *carrier);
/* True if the result was that of the flow's transfer. */
bool authorize_take(struct carrier *carrier, struct btz_net_http_done *done);

/* Moves everything that can move; true if something did. */
bool carrier_pump(struct carrier *carrier);
/* Waits for sockets and the session's own waits, at most until `until_us`. */
void carrier_wait(struct carrier *carrier, int64_t until_us);

#endif
