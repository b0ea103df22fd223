#include "net/watch.h"

#include <stdlib.h>

#include <uv.h>

struct btz_net_watch {
    uv_poll_t uv;
    struct btz_net_loop *loop;
    int events;
};

static void on_event(uv_poll_t *handle, int status, int events)
{
    const struct btz_net_watch *watch = handle->data;

    (void)status;
    (void)events;
    btz_net_loop_ready(watch->loop);
}

int btz_net_watch_new(struct btz_net_loop *loop, int fd, struct btz_net_watch **out,
                      struct btz_err *err)
{
    struct btz_net_watch *watch = calloc(1, sizeof(*watch));
    int rc;

    if (!watch) {
        btz_panic("out of memory");
    }
    rc = uv_poll_init(btz_net_loop_uv(loop), &watch->uv, fd);
    if (rc) {
        free(watch);
        return btz_err_set(err, BTZ_EIO, "a file descriptor cannot be watched: %s",
                           uv_strerror(rc));
    }
    watch->loop = loop;
    watch->uv.data = watch;
    *out = watch;
    return BTZ_OK;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void btz_net_watch_free(struct btz_net_watch *watch)
{
    if (watch) {
        (void)uv_poll_stop(&watch->uv);
        uv_close((uv_handle_t *)&watch->uv, on_closed);
    }
}

void btz_net_watch_set(struct btz_net_watch *watch, bool readable, bool writable)
{
    int events = (readable ? UV_READABLE : 0) | (writable ? UV_WRITABLE : 0);

    if (events == watch->events) {
        return;
    }
    watch->events = events;
    if (events) {
        (void)uv_poll_start(&watch->uv, events, on_event);
    } else {
        (void)uv_poll_stop(&watch->uv);
    }
}
