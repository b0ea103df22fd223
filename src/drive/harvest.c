#include "drive/harvest.h"

#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "drive/harvest_int.h"

enum {
    JOBS = 4,
    JOBS_MAX = 256,
    TIMEOUT_US = 30000000,
    GRACE_US = 300000, /* for a program to end by itself */
    TELL_US = 500000,
    LOOK_US = 50000, /* between looks whether a program has ended */
    READS_A_STEP = 16
};

void harvest_fail(struct visit *visit, const char *fmt, ...)
{
    va_list args;

    if (visit->ended) {
        return;
    }
    va_start(args, fmt);
    (void)vsnprintf(visit->why, sizeof(visit->why), fmt, args);
    va_end(args);
    visit->ended = true;
}

/* ---- Folders and environment ---- */

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)place;
    if (kind == FTW_DNR || kind == FTW_DP) {
        (void)chmod(path, 0700);
    }
    (void)remove(path);
    return 0;
}

static void remove_folder(const char *path)
{
    /* Twice: a folder without the right to read is opened by the first pass. */
    for (int i = 0; i < 2; i++) {
        (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    }
}

static struct btz_str name_of(const char *variable)
{
    const char *sign = strchr(variable, '=');

    return (struct btz_str){variable, sign ? (size_t)(sign - variable) : strlen(variable)};
}

static void put_variable(const char **env, size_t *count, const char *variable)
{
    for (size_t i = 0; i < *count; i++) {
        if (btz_str_eq(name_of(env[i]), name_of(variable))) {
            env[i] = variable;
            return;
        }
    }
    env[(*count)++] = variable;
}

const char *const *btz_drive_harvest_environment(struct btz_arena *arena, const char *folder,
                                                 const char *const *more)
{
    static const char *const passed_on[] = {"PATH",          "LANG",         "LC_ALL", "TZ",
                                            "SSL_CERT_FILE", "SSL_CERT_DIR", NULL};
    static const char *const homes[] = {"HOME",
                                        "TMPDIR",
                                        "XDG_CONFIG_HOME",
                                        "XDG_DATA_HOME",
                                        "XDG_CACHE_HOME",
                                        "XDG_STATE_HOME",
                                        "XDG_RUNTIME_DIR",
                                        "npm_config_cache",
                                        NULL};
    size_t extra = 0;
    size_t count = 0;
    const char **env;

    while (more && more[extra]) {
        extra++;
    }
    env = btz_arena_array(arena, extra + 32, sizeof(*env));
    for (const char *const *name = passed_on; *name; name++) {
        const char *value = getenv(*name);

        if (value) {
            put_variable(env, &count, btz_arena_printf(arena, "%s=%s", *name, value).ptr);
        }
    }
    put_variable(env, &count, "USER=nobody");
    put_variable(env, &count, "LOGNAME=nobody");
    for (size_t i = 0; i < extra; i++) {
        put_variable(env, &count, more[i]);
    }
    for (const char *const *name = homes; *name; name++) { /* last: nobody may name another */
        put_variable(env, &count, btz_arena_printf(arena, "%s=%s", *name, folder).ptr);
    }
    env[count] = NULL;
    return env;
}

static int make_folder(struct btz_drive_harvest *harvest, struct visit *visit, struct btz_err *err)
{
    struct btz_str path = btz_arena_printf(visit->arena, "%s/XXXXXX", harvest->options.folder);
    char *name = btz_arena_cstr(visit->arena, path);

    if (!mkdtemp(name)) {
        return btz_err_set(err, BTZ_EIO, "no folder can be made below %s: %s",
                           harvest->options.folder, strerror(errno));
    }
    visit->folder = name;
    return BTZ_OK;
}

/* ---- A program ---- */

void harvest_client_options(const struct visit *visit, struct btz_mcp_client_options *options)
{
    *options = (struct btz_mcp_client_options){.mode = visit->modern ? BTZ_MCP_CLIENT_MODERN
                                                                     : BTZ_MCP_CLIENT_LEGACY,
                                               .name = BTZ_STR("bartizan-harvest"),
                                               .version = BTZ_STR(BTZ_VERSION),
                                               .max_list_bytes = HARVEST_LIST_MAX};
}

static int start_program(struct btz_drive_harvest *harvest, struct visit *visit,
                         struct btz_err *err)
{
    const struct btz_harvest_target *target = &harvest->options.targets[visit->target];
    struct btz_proc_cage cage = {.namespaces = harvest->options.namespaces,
                                 .network = harvest->options.network,
                                 .memory = harvest->options.memory};
    struct btz_mcp_client_options options;
    int rc = make_folder(harvest, visit, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    cage.folder = visit->folder;
    rc = btz_proc_start(&(struct btz_proc_options){.argv = target->argv,
                                                   .env = btz_drive_harvest_environment(
                                                       visit->arena, visit->folder, target->env),
                                                   .cage = &cage},
                        &visit->proc, err);
    for (int i = 0; rc == BTZ_OK && i < 3; i++) {
        rc = btz_net_watch_new(harvest->loop, btz_proc_fd(visit->proc, (enum btz_proc_pipe)i),
                               &visit->watches[i], err);
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    btz_net_watch_set(visit->watches[BTZ_PROC_OUT], true, false);
    btz_net_watch_set(visit->watches[BTZ_PROC_ERR], true, false);
    btz_mcp_frame_init(&visit->frame, 0);
    visit->framed = true;
    visit->started = true;
    harvest_client_options(visit, &options);
    rc = btz_mcp_client_new(&options, &visit->client, err);
    if (rc == BTZ_OK && btz_mcp_client_start(visit->client) != BTZ_OK) {
        rc = btz_err_set(err, BTZ_EINTERNAL, "the handshake could not start");
    }
    return rc;
}

static void drop_watch(struct visit *visit, enum btz_proc_pipe which)
{
    btz_net_watch_free(visit->watches[which]);
    visit->watches[which] = NULL;
}

static void write_in(struct visit *visit)
{
    struct btz_str message;
    bool waits;

    while (btz_mcp_client_next_out(visit->client, &message)) {
        if (btz_proc_send(visit->proc, message) != BTZ_OK ||
            btz_proc_send(visit->proc, BTZ_STR("\n")) != BTZ_OK) {
            break; /* it closed its stdin: what it has said may still be read */
        }
    }
    if (!visit->watches[BTZ_PROC_IN]) {
        return;
    }
    /* The pipe may be closed below: the watch has to go before. */
    btz_net_watch_set(visit->watches[BTZ_PROC_IN], false, false);
    waits = btz_proc_flush(visit->proc);
    if (btz_proc_fd(visit->proc, BTZ_PROC_IN) < 0) {
        drop_watch(visit, BTZ_PROC_IN);
    } else {
        btz_net_watch_set(visit->watches[BTZ_PROC_IN], false, waits);
    }
}

static void take_bytes(struct visit *visit, struct btz_str bytes)
{
    struct btz_str line;
    int rc = btz_mcp_frame_feed(&visit->frame, bytes);

    while (rc == BTZ_OK) {
        rc = btz_mcp_frame_next(&visit->frame, &line);
        if (rc == BTZ_OK && btz_mcp_client_feed(visit->client, line) == BTZ_ELIMIT) {
            harvest_fail(visit, "it asks for more than can be answered");
        }
    }
    if (rc == BTZ_ELIMIT) {
        harvest_fail(visit, "it wrote a line that is too long");
    }
}

/* Whether anything came. */
static bool read_out(struct btz_drive_harvest *harvest, struct visit *visit)
{
    bool moved = false;

    for (int i = 0; i < READS_A_STEP && visit->watches[BTZ_PROC_OUT] && !visit->ended; i++) {
        ptrdiff_t got = btz_proc_read(visit->proc, harvest->chunk, HARVEST_CHUNK);

        if (got == BTZ_EAGAIN) {
            break;
        }
        moved = true;
        if (got == 0) {
            drop_watch(visit, BTZ_PROC_OUT);
        } else {
            take_bytes(visit, (struct btz_str){harvest->chunk, (size_t)got});
        }
    }
    (void)btz_proc_drain(visit->proc);
    if (visit->watches[BTZ_PROC_ERR] && btz_proc_fd(visit->proc, BTZ_PROC_ERR) < 0) {
        drop_watch(visit, BTZ_PROC_ERR);
    }
    return moved;
}

/* ---- What the client says ---- */

static void keep_server(struct visit *visit, const struct btz_mcp_client_event *event)
{
    visit->revision =
        btz_arena_dup(visit->arena, btz_str_of(btz_mcp_revision_text(event->revision)));
    visit->server_name =
        btz_arena_dup(visit->arena, btz_json_str(btz_json_getz(event->server_info, "name")));
    visit->server_version =
        btz_arena_dup(visit->arena, btz_json_str(btz_json_getz(event->server_info, "version")));
}

static void take_list(struct visit *visit, const struct btz_mcp_client_event *event)
{
    if (event->fault) {
        harvest_fail(visit, "tools/list: %.*s", BTZ_FMT(btz_str_sub(event->message, 0, 300)));
        return;
    }
    visit->tools = btz_json_dup(visit->arena, event->value);
    visit->listed = visit->ended = true;
}

static void take_events(struct visit *visit)
{
    struct btz_mcp_client_event event;

    while (!visit->ended && btz_mcp_client_next_event(visit->client, &event)) {
        if (event.kind == BTZ_MCP_CLIENT_READY) {
            keep_server(visit, &event);
            if (btz_mcp_client_list_tools(visit->client, NULL) != BTZ_OK) {
                harvest_fail(visit, "tools/list cannot be asked for");
            }
        } else if (event.kind == BTZ_MCP_CLIENT_FAILED) {
            harvest_fail(visit, "handshake: %.*s", BTZ_FMT(btz_str_sub(event.message, 0, 300)));
        } else if (event.kind == BTZ_MCP_CLIENT_TOOLS) {
            take_list(visit, &event);
        }
    }
}

static void step_program(struct btz_drive_harvest *harvest, struct visit *visit)
{
    struct btz_str how = BTZ_STR_NONE;
    bool gone = btz_proc_ended(visit->proc, &how);
    bool moved;

    write_in(visit);
    moved = read_out(harvest, visit);
    take_events(visit);
    write_in(visit);
    /* A descendant may hold its stdout open: what is there is read, nothing more waited for. */
    if (gone && !moved) {
        harvest_fail(visit, "it %.*s", BTZ_FMT(how));
    }
}

/* ---- Visits ---- */

static void close_connection(struct btz_drive_harvest *harvest, struct visit *visit)
{
    for (int i = 0; i < 3; i++) {
        drop_watch(visit, (enum btz_proc_pipe)i);
    }
    btz_proc_free(visit->proc, GRACE_US);
    visit->proc = NULL;
    if (visit->session) {
        harvest_http_drop(harvest, visit);
    } else {
        btz_mcp_client_free(visit->client);
    }
    visit->client = NULL;
    if (visit->framed) {
        btz_mcp_frame_fini(&visit->frame);
        visit->framed = false;
    }
    if (visit->folder) {
        remove_folder(visit->folder);
        visit->folder = NULL;
    }
}

static void open_connection(struct btz_drive_harvest *harvest, struct visit *visit)
{
    const struct btz_harvest_target *target = &harvest->options.targets[visit->target];
    struct btz_err err = {0};
    int rc = target->argv ? start_program(harvest, visit, &err)
                          : harvest_http_open(harvest, visit, target->url, &err);

    if (rc != BTZ_OK) {
        harvest_fail(visit, "%s", err.msg);
    }
}

static void begin(struct btz_drive_harvest *harvest, struct visit *visit)
{
    *visit = (struct visit){.used = true,
                            .target = harvest->next++,
                            .serial = ++harvest->serials,
                            .begin_us = btz_clock_mono_us(),
                            .arena = btz_arena_new()};
    open_connection(harvest, visit);
}

/* A server that refuses the older handshake is asked once more in the newer way. */
static bool try_modern(struct btz_drive_harvest *harvest, struct visit *visit)
{
    if (visit->modern || visit->listed || strncmp(visit->why, "handshake: ", 11) != 0) {
        return false;
    }
    close_connection(harvest, visit);
    visit->modern = true;
    visit->ended = false;
    visit->serial = ++harvest->serials;
    open_connection(harvest, visit);
    return !visit->ended;
}

static void step(struct btz_drive_harvest *harvest, struct visit *visit)
{
    int64_t limit = harvest->options.timeout_us ? harvest->options.timeout_us : TIMEOUT_US;

    if (visit->ended) {
        return;
    }
    if (visit->session) {
        harvest_http_step(harvest, visit);
        take_events(visit);
    } else {
        step_program(harvest, visit);
    }
    if (btz_clock_mono_us() - visit->begin_us > limit) {
        harvest_fail(visit, "no list within %lld s", (long long)(limit / 1000000));
    }
    if (visit->ended) {
        (void)try_modern(harvest, visit);
    }
}

static void release(struct btz_drive_harvest *harvest, struct visit *visit)
{
    close_connection(harvest, visit);
    btz_arena_free(visit->arena);
    *visit = (struct visit){0};
}

static void fill_outcome(struct visit *visit, struct btz_harvest_outcome *outcome)
{
    *outcome = (struct btz_harvest_outcome){.target = visit->target,
                                            .started = visit->started,
                                            .listed = visit->listed,
                                            .tools = visit->listed ? visit->tools : NULL,
                                            .revision = visit->revision,
                                            .server_name = visit->server_name,
                                            .server_version = visit->server_version,
                                            .took_us = btz_clock_mono_us() - visit->begin_us};
    if (!visit->listed) {
        outcome->why = btz_str_of(visit->why);
        if (visit->proc) {
            (void)btz_proc_drain(visit->proc);
            outcome->words = btz_arena_dup(visit->arena, btz_proc_last_words(visit->proc));
        }
    }
}

int btz_drive_harvest_new(const struct btz_harvest_options *options, struct btz_drive_harvest **out,
                          struct btz_err *err)
{
    struct btz_drive_harvest *harvest = calloc(1, sizeof(*harvest));
    int rc;

    if (!harvest) {
        btz_panic("out of memory");
    }
    harvest->options = *options;
    harvest->jobs = options->jobs ? options->jobs : JOBS;
    harvest->jobs = harvest->jobs > JOBS_MAX ? JOBS_MAX : harvest->jobs;
    harvest->handed = harvest->jobs;
    harvest->visits = calloc(harvest->jobs, sizeof(*harvest->visits));
    harvest->chunk = malloc(HARVEST_CHUNK);
    if (!harvest->visits || !harvest->chunk) {
        btz_panic("out of memory");
    }
    rc = btz_net_loop_new(&harvest->loop, err);
    if (rc == BTZ_OK) {
        rc =
            btz_net_http_new(harvest->loop, &(struct btz_net_http_options){0}, &harvest->http, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_net_loop_catch_signals(harvest->loop, err);
    }
    if (rc != BTZ_OK) {
        btz_drive_harvest_free(harvest);
        return rc;
    }
    *out = harvest;
    return BTZ_OK;
}

void btz_drive_harvest_free(struct btz_drive_harvest *harvest)
{
    if (!harvest) {
        return;
    }
    for (unsigned i = 0; i < harvest->jobs; i++) { /* all at once, so that the wait is one */
        if (harvest->visits[i].proc) {
            btz_proc_end(harvest->visits[i].proc);
        }
    }
    for (unsigned i = 0; i < harvest->jobs; i++) {
        if (harvest->visits[i].used) {
            release(harvest, &harvest->visits[i]);
        }
    }
    btz_net_http_free(harvest->http);
    btz_net_loop_free(harvest->loop);
    free(harvest->visits);
    free(harvest->chunk);
    free(harvest);
}

size_t btz_drive_harvest_running(const struct btz_drive_harvest *harvest, struct btz_str *oldest)
{
    const struct visit *first = NULL;
    size_t count = 0;

    for (unsigned i = 0; i < harvest->jobs; i++) {
        const struct visit *visit = &harvest->visits[i];

        if (visit->used && !visit->ended) {
            count++;
            first = !first || visit->begin_us < first->begin_us ? visit : first;
        }
    }
    *oldest = first ? harvest->options.targets[first->target].label : BTZ_STR_NONE;
    return count;
}

/* Steps all; the slot of one that is over, or `jobs`. */
static unsigned step_all(struct btz_drive_harvest *harvest, bool *busy)
{
    unsigned over = harvest->jobs;

    *busy = false;
    harvest_http_results(harvest);
    for (unsigned i = 0; i < harvest->jobs; i++) {
        struct visit *visit = &harvest->visits[i];

        if (!visit->used && harvest->next < harvest->options.count) {
            begin(harvest, visit);
        }
        if (visit->used) {
            step(harvest, visit);
            *busy = true;
            over = visit->ended ? i : over;
        }
    }
    return over;
}

int btz_drive_harvest_next(struct btz_drive_harvest *harvest, struct btz_harvest_outcome *outcome)
{
    int64_t begun = btz_clock_mono_us();

    if (harvest->handed < harvest->jobs) {
        release(harvest, &harvest->visits[harvest->handed]);
        harvest->handed = harvest->jobs;
    }
    for (;;) {
        bool busy;
        unsigned over = harvest->jobs;

        if (btz_net_loop_interrupted(harvest->loop)) {
            return BTZ_ECANCELLED;
        }
        over = step_all(harvest, &busy);
        if (over < harvest->jobs) {
            fill_outcome(&harvest->visits[over], outcome);
            harvest->handed = over;
            return BTZ_OK;
        }
        if (!busy) {
            return BTZ_EAGAIN;
        }
        if (btz_clock_mono_us() - begun > TELL_US) {
            return BTZ_ETIMEOUT;
        }
        btz_net_loop_wait(harvest->loop, LOOK_US);
    }
}
