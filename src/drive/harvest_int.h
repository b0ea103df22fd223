/* Inside the harvest: one server under way. */
#ifndef BTZ_DRIVE_HARVEST_INT_H
#define BTZ_DRIVE_HARVEST_INT_H

#include "drive/harvest.h"
#include "mcp/client.h"
#include "mcp/frame.h"
#include "mcp/http_session.h"
#include "net/http_client.h"
#include "net/loop.h"
#include "net/watch.h"
#include "proc/child.h"

enum {
    HARVEST_CHUNK = 64 * 1024,
    HARVEST_EXCHANGES = 16,
    HARVEST_WHY = 400,
    HARVEST_LIST_MAX = 32 * 1024 * 1024
};

struct exchange {
    uint64_t id; /* 0 = free */
    struct btz_buf body;
    struct btz_net_http_transfer *transfer;
    bool begun;
};

/* One server. Slots are used again. */
struct visit {
    bool used;
    size_t target;
    uint64_t serial; /* tells its HTTP requests from those of other visits */
    bool modern;     /* the second try */
    bool ended;      /* an outcome is known */
    bool listed;
    bool started;
    int64_t begin_us;
    struct btz_arena *arena;
    char *folder;
    char why[HARVEST_WHY];
    const struct btz_json *tools;
    struct btz_str revision, server_name, server_version;
    struct btz_mcp_client *client; /* of the session below if there is one */
    /* stdio */
    struct btz_proc *proc;
    struct btz_net_watch *watches[3];
    struct btz_mcp_frame frame;
    bool framed; /* `frame` is to be finished */
    /* HTTP */
    struct btz_mcp_http_session *session;
    struct btz_str origin;
    struct exchange exchanges[HARVEST_EXCHANGES];
};

struct btz_drive_harvest {
    struct btz_harvest_options options;
    struct btz_net_loop *loop;
    struct btz_net_http *http;
    struct visit *visits;
    unsigned jobs;
    size_t next; /* target not begun */
    uint64_t serials;
    size_t handed; /* slot whose outcome was given out; jobs = none */
    char *chunk;
    int64_t told_us;
};

/* The visit is over with this reason, unless it was over. */
void harvest_fail(struct visit *visit, const char *fmt, ...) BTZ_PRINTF(2, 3);
void harvest_client_options(const struct visit *visit, struct btz_mcp_client_options *options);

/* Over HTTP (harvest_http.c). */
int harvest_http_open(struct btz_drive_harvest *harvest, struct visit *visit, struct btz_str url,
                      struct btz_err *err) BTZ_WARN_UNUSED;
void harvest_http_step(struct btz_drive_harvest *harvest, struct visit *visit);
void harvest_http_drop(struct btz_drive_harvest *harvest, struct visit *visit);
/* Takes what came for all visits. */
void harvest_http_results(struct btz_drive_harvest *harvest);

#endif
