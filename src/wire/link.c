#include "wire/link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "mcp/frame.h"

enum { QUEUE_MAX = 64 * 1024 * 1024, CHUNK = 64 * 1024 };

/* One direction. `queue` holds what the pump has not yet moved. */
struct lane {
    struct btz_buf queue;
    struct btz_mcp_frame frame;
    int fds[2]; /* read end, write end; -1 without pipes */
};

struct btz_link {
    enum btz_carrier carrier;
    struct lane lanes[2]; /* by the side that receives */
    char *chunk;
};

static const char *const carrier_names[] = {"memory", "stdio", "http"};

const char *btz_carrier_name(enum btz_carrier carrier)
{
    return carrier_names[carrier];
}

int btz_carrier_named(struct btz_str name, enum btz_carrier *out)
{
    for (unsigned i = 0; i < sizeof(carrier_names) / sizeof(carrier_names[0]); i++) {
        if (btz_str_is(name, carrier_names[i])) {
            *out = (enum btz_carrier)i;
            return BTZ_OK;
        }
    }
    return BTZ_ENOTFOUND;
}

int btz_link_new(enum btz_carrier carrier, struct btz_link **out, struct btz_err *err)
{
    struct btz_link *link = calloc(1, sizeof(*link));

    if (!link) {
        btz_panic("out of memory");
    }
    link->carrier = carrier;
    for (int i = 0; i < 2; i++) {
        btz_buf_init(&link->lanes[i].queue, QUEUE_MAX);
        btz_mcp_frame_init(&link->lanes[i].frame, 0);
        link->lanes[i].fds[0] = link->lanes[i].fds[1] = -1;
    }
    if (carrier == BTZ_CARRIER_STDIO) {
        link->chunk = malloc(CHUNK);
        if (!link->chunk) {
            btz_panic("out of memory");
        }
        for (int i = 0; i < 2; i++) {
            if (pipe2(link->lanes[i].fds, O_CLOEXEC | O_NONBLOCK) != 0) {
                int rc = btz_err_set(err, BTZ_EIO, "no pipe for a link: %s", strerror(errno));

                btz_link_free(link);
                return rc;
            }
        }
    }
    *out = link;
    return BTZ_OK;
}

void btz_link_free(struct btz_link *link)
{
    if (!link) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        btz_buf_fini(&link->lanes[i].queue);
        btz_mcp_frame_fini(&link->lanes[i].frame);
        for (int end = 0; end < 2; end++) {
            if (link->lanes[i].fds[end] >= 0) {
                (void)close(link->lanes[i].fds[end]);
            }
        }
    }
    free(link->chunk);
    free(link);
}

int btz_link_send(struct btz_link *link, enum btz_side side, struct btz_str message)
{
    struct lane *lane = &link->lanes[side == BTZ_SIDE_CLIENT ? BTZ_SIDE_SERVER : BTZ_SIDE_CLIENT];

    return btz_mcp_frame_write(&lane->queue, message);
}

static int pump_memory(struct lane *lane)
{
    struct btz_str bytes = btz_buf_view(&lane->queue);
    int rc;

    if (bytes.len == 0) {
        return BTZ_EAGAIN;
    }
    if (bytes.len > CHUNK) {
        bytes.len = CHUNK;
    }
    rc = btz_mcp_frame_feed(&lane->frame, bytes);
    if (rc == BTZ_OK) {
        btz_buf_consume(&lane->queue, bytes.len);
    }
    return rc;
}

/* Both ends are ours, so a full pipe is emptied by the read that follows: no polling is needed. */
static int pump_pipe(struct lane *lane, char *chunk)
{
    ssize_t got;

    if (lane->queue.len) {
        ssize_t put = write(lane->fds[1], lane->queue.ptr, lane->queue.len);

        if (put > 0) {
            btz_buf_consume(&lane->queue, (size_t)put);
        } else if (put < 0 && errno != EAGAIN && errno != EINTR) {
            return BTZ_EIO;
        }
    }
    got = read(lane->fds[0], chunk, CHUNK);
    if (got > 0) {
        return btz_mcp_frame_feed(&lane->frame, (struct btz_str){chunk, (size_t)got});
    }
    if (got < 0 && errno == EINTR) {
        return BTZ_OK;
    }
    if (got < 0 && errno == EAGAIN) {
        return lane->queue.len ? BTZ_OK : BTZ_EAGAIN;
    }
    return BTZ_EIO;
}

int btz_link_receive(struct btz_link *link, enum btz_side side, struct btz_str *message)
{
    struct lane *lane = &link->lanes[side];
    int rc;

    while ((rc = btz_mcp_frame_next(&lane->frame, message)) == BTZ_EAGAIN) {
        rc = link->carrier == BTZ_CARRIER_MEMORY ? pump_memory(lane) : pump_pipe(lane, link->chunk);
        if (rc != BTZ_OK) {
            return rc;
        }
    }
    return rc;
}
