/* `bartizan connect ADDRESS`: what a gateway starts as its stdio server. */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "wire/gateway_int.h"

enum { WAITING_MAX = 1024 * 1024 };

/* One direction. */
struct lane {
    int from, to;
    bool ended; /* `from` has no more */
    struct btz_buf waiting;
};

static bool writable_now(ssize_t put)
{
    return put < 0 && (errno == EAGAIN || errno == EINTR);
}

/* False once nobody reads `to` any more. */
static bool drain(struct lane *lane)
{
    ssize_t put = write(lane->to, lane->waiting.ptr, lane->waiting.len);

    if (put > 0) {
        btz_buf_consume(&lane->waiting, (size_t)put);
    }
    return put > 0 || writable_now(put);
}

static void fill(struct lane *lane)
{
    char *room = btz_buf_room(&lane->waiting, GATEWAY_CHUNK);
    ssize_t got = room ? read(lane->from, room, GATEWAY_CHUNK) : 0;

    if (got > 0) {
        btz_buf_grow_by(&lane->waiting, (size_t)got);
    } else if (got == 0 || !writable_now(got)) {
        lane->ended = true;
    }
}

/* Until the socket ends, or both the gateway's words are over and the socket has them all. */
static int join(struct lane lanes[2], struct btz_err *err)
{
    while (!lanes[1].ended || lanes[1].waiting.len) {
        struct pollfd items[4];

        for (int i = 0; i < 2; i++) {
            bool room = lanes[i].waiting.len < WAITING_MAX - GATEWAY_CHUNK;

            items[2 * i] = (struct pollfd){.fd = lanes[i].ended || !room ? -1 : lanes[i].from,
                                           .events = POLLIN};
            items[2 * i + 1] =
                (struct pollfd){.fd = lanes[i].waiting.len ? lanes[i].to : -1, .events = POLLOUT};
        }
        if (poll(items, 4, -1) < 0 && errno != EINTR) {
            return btz_err_set(err, BTZ_EIO, "waiting failed: %s", strerror(errno));
        }
        for (int i = 0; i < 2; i++) {
            if (items[2 * i].fd >= 0 && items[2 * i].revents) {
                fill(&lanes[i]);
            }
            if (items[2 * i + 1].fd >= 0 && items[2 * i + 1].revents && !drain(&lanes[i])) {
                return BTZ_OK;
            }
        }
        if (lanes[0].ended && !lanes[0].waiting.len) {
            (void)shutdown(lanes[0].to, SHUT_WR);
        }
    }
    return BTZ_OK;
}

int btz_gateway_connect(struct btz_str address, int in, int out, struct btz_err *err)
{
    socklen_t len;
    struct sockaddr_un name = gateway_address(address, &len);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct lane lanes[2] = {{.from = in, .to = fd}, {.from = fd, .to = out}};
    int rc;

    if (fd < 0 || connect(fd, (struct sockaddr *)&name, len) != 0) {
        rc = btz_err_set(err, BTZ_EIO, "no trial waits at \"%.*s\": %s", BTZ_FMT(address),
                         strerror(errno));
    } else {
        for (int i = 0; i < 2; i++) {
            btz_buf_init(&lanes[i].waiting, WAITING_MAX);
        }
        rc = join(lanes, err);
        for (int i = 0; i < 2; i++) {
            btz_buf_fini(&lanes[i].waiting);
        }
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return rc;
}
