/* A gateway of somebody else between our MCP client and our MCP server: a program that is started
 * for each connection, or one that runs already.
 *
 *   btz_mcp_client <- stdio of the program, or HTTP -> GATEWAY <- HTTP, or stdio -> btz_mcp_server
 *
 * Our server is offered under a loopback URL (Streamable HTTP) and, to a program, as a stdio
 * command as well: this binary with the words `connect ADDRESS`, where the address is an abstract
 * Unix socket that takes connections of the same user only. Nothing here blocks but
 * btz_gateway_wait, and that has a deadline. What a gateway sends is bounded everywhere; what it
 * does wrong breaks its connection and is told by btz_gateway_broken.
 *
 * How a command is written (btz_gateway_check says what is wrong with one): words, split by
 * proc/words.h; in each word these are replaced:
 *   {url}      URL of our server
 *   {command}  stdio command of our server: a word that is nothing else, without quotes, becomes
 *              several words; otherwise it is one quoted line
 *   {program} {address}  the parts of that command: PROGRAM connect ADDRESS
 *   {server}   id of the server
 *   {port}     a free port of 127.0.0.1: the gateway serves HTTP there, and does not speak on stdio
 *   @/PATH     as last word, not passed on: path of the gateway's own MCP endpoint; "/mcp" if
 * absent A URL, "http://" with a loopback host, may have {server} in its path. */
#ifndef BTZ_WIRE_GATEWAY_H
#define BTZ_WIRE_GATEWAY_H

#include "mcp/endpoint.h"
#include "mcp/http_session.h"

struct btz_gateway;      /* a gateway and what is behind it: of one trial */
struct btz_gateway_conn; /* one client, one server */

struct btz_gateway_options {
    struct btz_str target;  /* the command, or the URL */
    struct btz_str program; /* absolute path of this binary, for {command} and {program} */
    struct btz_str address; /* where our servers listen: "127.0.0.1" or "::1"; empty = 127.0.0.1 */
    uint16_t port;          /* 0 = one that is free */
    size_t max_message;     /* bytes of one message of the gateway; 0 = 10 MiB */
};

/* Whether a target can be used: BTZ_EUSAGE with the reason if not. */
int btz_gateway_check(struct btz_str target, struct btz_err *err) BTZ_WARN_UNUSED;
/* Whether it is a URL: a gateway that runs already and is shared by all connections. */
bool btz_gateway_is_url(struct btz_str target);

/* BTZ_EUSAGE as _check; BTZ_EIO if there are no sockets. Copies what it needs. SIGPIPE has to be
 * ignored. */
int btz_gateway_new(const struct btz_gateway_options *options, struct btz_gateway **out,
                    struct btz_err *err) BTZ_WARN_UNUSED;
/* Closes its connections, too: every program is killed. NULL is allowed. */
void btz_gateway_free(struct btz_gateway *gateway);

struct btz_gateway_conn_options {
    void *tag;                                /* comes back with events */
    struct btz_str id;                        /* of the server: in paths and for {server} */
    struct btz_mcp_client_options client;     /* over stdio */
    struct btz_mcp_http_session_options http; /* over HTTP; host, target and now_us are set here */
    struct btz_mcp_endpoint_options server;   /* id_secret is made here */
};

/* Offers the server and starts the program. The handshake of the client goes on in _wait. The
 * catalogue is borrowed until the next one is set or the connection closed. Errors: BTZ_EMISSING,
 * BTZ_EIO of proc/child.h; BTZ_EIO without sockets; BTZ_EINVAL of the machines. */
int btz_gateway_open(struct btz_gateway *gateway, const struct btz_gateway_conn_options *options,
                     const struct btz_mcp_catalogue *catalogue, struct btz_gateway_conn **out,
                     struct btz_err *err) BTZ_WARN_UNUSED;
void btz_gateway_close(struct btz_gateway_conn *conn); /* NULL is allowed */
/* Asks all programs to end, so that closing the connections one after the other waits only once. */
void btz_gateway_end(struct btz_gateway *gateway);

/* Moves what can be moved. BTZ_OK: something moved, events may wait at either end; take them and
 * wait again. BTZ_EAGAIN: `until_us` (monotonic; base/clock.h) passed and nothing moved.
 * BTZ_ECANCELLED: SIGINT or SIGTERM came. */
int btz_gateway_wait(struct btz_gateway *gateway, int64_t until_us) BTZ_WARN_UNUSED;

/* The next event of a server, over all connections: the machine is good for replies until the next
 * call of this gateway. */
bool btz_gateway_next_event(struct btz_gateway *gateway, void **tag,
                            struct btz_mcp_server **machine, struct btz_mcp_server_event *event);

/* The client: requests are made and events taken there. To be asked for after each wait until the
 * handshake is over: it may have begun anew. */
struct btz_mcp_client *btz_gateway_client(struct btz_gateway_conn *conn);

/* What the server offers from now on. `*told` (may be NULL) says whether somebody was told. */
int btz_gateway_set_catalogue(struct btz_gateway_conn *conn,
                              const struct btz_mcp_catalogue *catalogue, bool *told,
                              struct btz_err *err) BTZ_WARN_UNUSED;

/* Why the gateway is of no use any more, such as "the gateway exited with status 1"; empty as long
 * as it is. Good until the connection is closed. */
struct btz_str btz_gateway_broken(const struct btz_gateway_conn *conn);

/* For messages to people, in `arena`: what else is known about a gateway that does not work: first
 * line on stdout that is no message, the end of stderr. Empty if there is nothing. */
struct btz_str btz_gateway_remarks(struct btz_gateway_conn *conn, struct btz_arena *arena);

/* Facts about the gateway's program; 0 without one. */
int64_t btz_gateway_process(const struct btz_gateway_conn *conn);

/* `connect ADDRESS`: joins two files (stdin and stdout) with the socket that the address names
 * until either side ends. BTZ_EIO with the reason. */
int btz_gateway_connect(struct btz_str address, int in, int out,
                        struct btz_err *err) BTZ_WARN_UNUSED;

#endif
