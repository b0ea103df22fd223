/* Replay: the trials of a stored run once more, with the recorded replies in the place of the
 * models.
 *
 * A trial is a function of seed, packs, prompts and replies, so everything else is recomputed:
 * requests, definitions, results, journal, verdicts. What comes out must be what is stored, byte
 * by byte; only times may differ. Nothing is written and nobody is asked. */
#ifndef BTZ_STUDY_REPLAY_H
#define BTZ_STUDY_REPLAY_H

#include "lab/lab.h"
#include "store/store.h"

struct btz_replay;

/* Opens a replay of `run`; lab and store outlive it. BTZ_EDENIED if packs or prompts are not those
 * of the run, BTZ_ECORRUPT if its card cannot be read. Another program file is allowed: whether it
 * decides the same is what a replay tells. */
int btz_replay_new(struct btz_lab *lab, struct btz_store *store, const struct btz_store_run *run,
                   struct btz_replay **out, struct btz_err *err) BTZ_WARN_UNUSED;
void btz_replay_free(struct btz_replay *replay); /* NULL is allowed */

enum btz_replay_status {
    BTZ_REPLAY_EQUAL,
    BTZ_REPLAY_DIFFERS,
    BTZ_REPLAY_SKIPPED /* it ended in a fault: what was missing then is missing still */
};

/* Views are valid until the next call. */
struct btz_replay_trial {
    int64_t n;
    struct btz_str key; /* of its cell */
    enum btz_replay_status status;
    struct btz_str what; /* the first thing that differs, or why it was skipped */
};

/* Replays the next trial: 1 and the result, 0 at the end, or an error. */
int btz_replay_next(struct btz_replay *replay, struct btz_replay_trial *out,
                    struct btz_err *err) BTZ_WARN_UNUSED;

#endif
