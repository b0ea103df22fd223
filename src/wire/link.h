/* A link: one connection between an MCP client and a server that live in the same trial.
 *
 * Both carriers move the same bytes (newline-delimited messages, mcp/frame.h); they differ only in
 * the pump. MEMORY hands the buffer over; STDIO writes to and reads from two real pipes, as between
 * a host and a server process. A link is used by one thread. */
#ifndef BTZ_WIRE_LINK_H
#define BTZ_WIRE_LINK_H

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

struct btz_link;

/* HTTP: HTTP/1.1 through TCP sockets, see http_link.h; the other two are what a link moves. */
enum btz_carrier { BTZ_CARRIER_MEMORY, BTZ_CARRIER_STDIO, BTZ_CARRIER_HTTP };
const char *btz_carrier_name(enum btz_carrier carrier);
/* "memory", "stdio" or "http"; BTZ_ENOTFOUND otherwise. */
int btz_carrier_named(struct btz_str name, enum btz_carrier *out) BTZ_WARN_UNUSED;

enum btz_side { BTZ_SIDE_CLIENT, BTZ_SIDE_SERVER };

/* BTZ_EIO if the pipes cannot be made. */
int btz_link_new(enum btz_carrier carrier, struct btz_link **out,
                 struct btz_err *err) BTZ_WARN_UNUSED;
void btz_link_free(struct btz_link *link); /* NULL is allowed */

/* Queues one message (no newline in it) from `side` to the other. BTZ_EINVAL if it has a newline,
 * BTZ_ELIMIT if over 64 MiB would wait. */
int btz_link_send(struct btz_link *link, enum btz_side side,
                  struct btz_str message) BTZ_WARN_UNUSED;

/* Next whole message that arrived at `side`; the view is valid until the next call for that side.
 * BTZ_EAGAIN: nothing more is under way. BTZ_ELIMIT: an over-long line. BTZ_EIO: a pipe failed. */
int btz_link_receive(struct btz_link *link, enum btz_side side,
                     struct btz_str *message) BTZ_WARN_UNUSED;

#endif
