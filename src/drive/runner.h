/* Runs trials against models: performs the needs of their step machines.
 *
 * A drive is one event loop; a runner on it serves one model. A reference agent answers at once; a
 * model behind HTTP is asked over the loop, many trials at a time. Trials come back in the order
 * in which they finish. One thread. */
#ifndef BTZ_DRIVE_RUNNER_H
#define BTZ_DRIVE_RUNNER_H

#include "base/err.h"
#include "llm/model.h"
#include "trial/trial.h"

struct btz_drive;
struct btz_drive_guard; /* guard_client.h */
struct btz_runner;

/* The loop of this process; catches SIGINT and SIGTERM (a second one ends the process). */
int btz_drive_new(struct btz_drive **out, struct btz_err *err) BTZ_WARN_UNUSED;
void btz_drive_free(struct btz_drive *drive); /* after its runners; NULL is allowed */

/* Waits until something happened, at most `timeout_us`. */
void btz_drive_wait(struct btz_drive *drive, int64_t timeout_us);
/* SIGINT or SIGTERM if one came, else 0. */
int btz_drive_interrupted(const struct btz_drive *drive);

struct btz_runner_options {
    const struct btz_llm_model *model; /* may go away */
    const struct btz_llm_key *key;     /* likewise; NULL = none */
    unsigned in_flight;                /* model requests at a time; at least 1 */
    uint64_t seed;                     /* of the back-off's jitter */
    int64_t attempt_timeout_us;        /* of one model request; 0 = the endpoint's default */
    struct btz_drive_guard *guard;     /* for trials that ask a guard model; may be NULL */
    struct btz_drive_guard *rewriter;  /* ... that ask a rewriting model; another client */
};

int btz_runner_new(struct btz_drive *drive, const struct btz_runner_options *options,
                   struct btz_runner **out, struct btz_err *err) BTZ_WARN_UNUSED;
/* Gives up and frees the trials that are under way. NULL is allowed. */
void btz_runner_free(struct btz_runner *runner);

/* Takes a trial (also on failure) and starts it. `plan` is for reference agents (llm/reference.h);
 * `tag` comes back with the trial. BTZ_EINVAL if the plan is unusable. */
int btz_runner_add(struct btz_runner *runner, struct btz_trial *trial, struct btz_str plan,
                   void *tag, struct btz_err *err) BTZ_WARN_UNUSED;

/* Trials under way, finished ones that were not taken included. */
size_t btz_runner_active(const struct btz_runner *runner);

/* Moves trials along; true and the next finished one, which the caller frees, or false when there
 * is none now (then wait on the drive). */
bool btz_runner_next(struct btz_runner *runner, struct btz_trial **trial, void **tag);

#endif
