/* Other people's file descriptors on a loop: pipes and sockets that their owner reads and writes by
 * itself. A watch makes the wait return when something can be done; nothing is called back. */
#ifndef BTZ_NET_WATCH_H
#define BTZ_NET_WATCH_H

#include <stdbool.h>

#include "net/loop.h"

struct btz_net_watch;

/* Makes `fd` non-blocking; it waits for nothing yet. At most one watch a descriptor. EIO if it
 * cannot be polled (a plain file). */
int btz_net_watch_new(struct btz_net_loop *loop, int fd, struct btz_net_watch **out,
                      struct btz_err *err) BTZ_WARN_UNUSED;

/* Before the descriptor is closed and the loop is freed. NULL is allowed. */
void btz_net_watch_free(struct btz_net_watch *watch);

/* What waits shall return for: bytes, an end or an error to read; room to write. As long as it is
 * so, waits return at once: ask only for what is taken then. */
void btz_net_watch_set(struct btz_net_watch *watch, bool readable, bool writable);

#endif
