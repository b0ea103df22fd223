/* Certification: does each scenario measure what its card says? (suite.md, rules 1 to 6.)
 *
 * Every check runs whole trials with reference agents. A scenario that fails a check has no
 * business in a table. */
#ifndef BTZ_STUDY_CERTIFY_H
#define BTZ_STUDY_CERTIFY_H

#include "base/arena.h"
#include "lab/lab.h"

struct btz_check {
    struct btz_str scenario; /* id, or "suite" */
    struct btz_str rule;     /* "1 floor modern memory", "3 drop the key call", ... */
    bool passed;
    bool skipped;          /* does not apply here: detail says why; passed is true */
    struct btz_str detail; /* why it failed or was skipped */
};

struct btz_checks {
    struct btz_arena *arena;
    struct btz_check *items;
    size_t count, cap;
    bool host_trouble; /* some trial failed for want of files, not because of a pack */
};

/* Adds the checks of one scenario (rules 1, 2, 3 and 5) to `out`. */
void btz_certify_scenario(struct btz_lab *lab, const struct btz_scenario *scenario,
                          struct btz_checks *out);

/* Adds the scenario's row of the cross matrix (4): its obey trace fires the oracle of no other
 * attack, but for pairs that a card names. */
void btz_certify_cross(struct btz_lab *lab, const struct btz_scenario *scenario,
                       struct btz_checks *out);

/* Runs all scenarios in an order drawn from `seed`; `hashes` gets the trajectory hash of each, by
 * scenario. False if a trial failed: `detail`, in `arena`, says how. Two orders must give the same
 * hashes (6). */
bool btz_certify_order(struct btz_lab *lab, uint64_t seed, struct btz_hash *hashes,
                       struct btz_arena *arena, struct btz_str *detail, bool *host_trouble);

struct btz_certify_options {
    unsigned workers; /* processes; 0 = one for each processor, 1 = this one alone */
    /* Only these attacks; none = all. The orders (6) are then left out. */
    const struct btz_str *attacks;
    size_t attack_count;
    /* Called here, after each of `total` parts of the work. May be NULL. */
    void (*progress)(void *data, size_t done, size_t total);
    void *data;
};

/* Adds all checks of all scenarios, in the same order whatever the number of workers. Workers are
 * forked from this process, which must not have other threads; they close all its files but the
 * standard ones, and die with it. BTZ_EINTERNAL if a worker crashes (the message says at which
 * scenario), BTZ_EIO if none can be made. */
int btz_certify_all(struct btz_lab *lab, const struct btz_certify_options *options,
                    struct btz_checks *out, struct btz_err *err) BTZ_WARN_UNUSED;

/* For the files of this room. */
void btz_check_add(struct btz_checks *out, struct btz_str scenario, struct btz_str rule,
                   bool passed, struct btz_str detail);
void btz_check_skip(struct btz_checks *out, struct btz_str scenario, struct btz_str rule,
                    const char *why);

#endif
