/* Asks MCP servers for their tools: starts each (or reaches it by URL), shakes hands, lists all
 * pages, ends it. Many at once on one loop. Never calls a tool.
 *
 * Each command runs in a cage (proc/cage.h) with a fresh private folder, which is its working
 * directory, HOME and TMPDIR and is removed with it. The older handshake is tried first, since
 * servers of that era may take an unknown first message amiss; one that refuses it is started once
 * more and asked in the newer way. */
#ifndef BTZ_DRIVE_HARVEST_H
#define BTZ_DRIVE_HARVEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"

struct btz_drive_harvest;

struct btz_harvest_target {
    struct btz_str label;
    const char *const *argv; /* ends with NULL; NULL: `url` */
    struct btz_str url;      /* "http://" or "https://" */
    const char *const *env;  /* "NAME=value", ends with NULL: besides the few of the cage */
};

struct btz_harvest_options {
    const struct btz_harvest_target *targets; /* borrowed */
    size_t count;
    unsigned jobs;      /* at once; 0 = 4 */
    int64_t timeout_us; /* of one server, from start to list; 0 = 30 s */
    const char *folder; /* absolute: private folders are made below it */
    bool namespaces;    /* see proc/cage.h */
    bool network;
    uint64_t memory; /* bytes of one process; 0 = the cage's */
};

/* What became of one target. Texts and values live until the next outcome. */
struct btz_harvest_outcome {
    size_t target;
    bool started; /* the program ran, or the server answered */
    bool listed;
    const struct btz_json *tools; /* array; NULL unless listed */
    struct btz_str revision;
    struct btz_str server_name, server_version;
    struct btz_str why;   /* unless listed */
    struct btz_str words; /* the end of its stderr, unless listed */
    int64_t took_us;
};

/* BTZ_EIO without a loop. SIGPIPE has to be ignored. Catches SIGINT and SIGTERM. */
int btz_drive_harvest_new(const struct btz_harvest_options *options, struct btz_drive_harvest **out,
                          struct btz_err *err) BTZ_WARN_UNUSED;

/* Kills what still runs and removes the private folders. NULL is allowed. */
void btz_drive_harvest_free(struct btz_drive_harvest *harvest);

/* Works until a target is done: BTZ_OK and its outcome, in order of completion; BTZ_EAGAIN once all
 * are; BTZ_ECANCELLED after a signal. Returns early with BTZ_ETIMEOUT about twice a second so that
 * the caller can show progress. */
int btz_drive_harvest_next(struct btz_drive_harvest *harvest,
                           struct btz_harvest_outcome *outcome) BTZ_WARN_UNUSED;

/* Targets under way, and the label of the one that has been so longest (empty: none). */
size_t btz_drive_harvest_running(const struct btz_drive_harvest *harvest, struct btz_str *oldest);

/* The few variables of every cage with the folder as HOME, then `more` (ends with NULL), which wins
 * over a name before it. In the arena. */
const char *const *btz_drive_harvest_environment(struct btz_arena *arena, const char *folder,
                                                 const char *const *more);

#endif
