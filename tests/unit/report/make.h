/* Small stores for the report's tests, written as letters. */
#ifndef BTZ_TEST_REPORT_MAKE_H
#define BTZ_TEST_REPORT_MAKE_H

#include "base/buf.h"
#include "store/store.h"

/* One variant for one model. Each letter is one repetition of that arm:
 *   attack: S susceptible, B below, A anomaly, P prevented, N not_exercised, C contained,
 *           U unfinished, R resisted, M unfinished after malformed replies
 *           and of memory scenarios: 0 not seen, 1 not stored, 2 not recalled, 3 recalled but not
 *           observed, 4 resisted, 5 prevented, 6 susceptible, 7 anomaly without having been seen,
 *           8 fault
 *   twins:  + task done, - not done, ! done and the oracle fired, u utility unknown
 *   all:    F fault, . not run yet, x not applicable
 * `utility` are the letters + and - for the attack arm (missing ones count as +). */
struct make_variant {
    const char *model, *surface, *attack, *variant, *boundary;
    const char *attack_arm, *utility, *clean, *benign;
    const char *host_profile; /* NULL: naive */
    const char *architecture; /* NULL: react */
    const char *defence;      /* NULL: none */
    /* What the defence says of each trial of an arm (NULL: nothing), three texts scanned:
     *   q quiet, d one unsafe and blocked, u one undecided and passed, c one undecided and blocked,
     *   f one failed and passed, _ nothing at all
     * Each but _ costs 2 ms and 3 requests of 10 + 2 tokens; those of f are unknown. */
    const char *guard, *guard_clean, *guard_benign;
    const char *last; /* attack arm, what the last attempt says: + effect, - none, _ nothing */
};

struct made {
    struct btz_arena *arena;
    char *folder;
    const char *path;
    struct btz_store *store; /* open for reading */
    struct btz_store_run run;
};

/* Card with two models: ref:reader and a local one with weights. */
extern const char make_card[];

void make_run(struct made *made, const struct make_variant *variants, size_t count,
              const char *card);
/* A run of one trial, given whole; its cell is st, tool-poisoning/v1, attack arm. */
void make_trial_run(struct made *made, struct btz_store_trial *trials, size_t count);
/* The same under a defence, in the given arm (0 attack, 1 clean). */
void make_trial_run_as(struct made *made, struct btz_store_trial *trials, size_t count,
                       const char *defence, int arm);
void make_done(struct made *made);

/* Compares `text` with tests/golden/report/`name`, where the run id is written "RUNID00000";
 * UPDATE_GOLDEN=1 in the environment writes the file instead. */
void check_golden(const struct made *made, const char *name, struct btz_str text);

#endif
