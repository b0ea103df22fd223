/* Studies: which cells there are, in which order they run, what is kept of them.
 *
 * A study runs in one thread: the caller polls it. Every finished trial is in the store before the
 * study counts it; a study that was stopped goes on with btz_study_resume. */
#ifndef BTZ_STUDY_STUDY_H
#define BTZ_STUDY_STUDY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "drive/runner.h"
#include "lab/lab.h"
#include "llm/model.h"
#include "mcp/codec.h"
#include "store/store.h"
#include "wire/link.h"

struct btz_study;

struct btz_study_model {
    struct btz_llm_model model;
    struct btz_llm_key key;
    bool json_actions;
    /* Of this model alone; 0 = those of the study. */
    unsigned in_flight;
    int64_t max_tokens;
    int64_t request_timeout_us;
};

struct btz_study_options {
    struct btz_lab *lab;     /* outlives the study */
    struct btz_store *store; /* open for writing; outlives the study */
    struct btz_str name;     /* what the run is called */
    struct btz_str text;     /* of the study's file, for the provenance card; may be empty */
    const struct btz_study_model *models;
    size_t model_count;
    unsigned repetitions; /* at least 1 */
    uint64_t seed;
    const enum btz_mcp_revision *revisions; /* at least one, none twice */
    size_t revision_count;
    enum btz_carrier carrier;
    struct btz_str host_profile; /* name */
    const enum btz_arch *archs;  /* at least one, none twice */
    size_t arch_count;
    /* Names (btz_defence_named), none twice; none at all = "none". */
    const struct btz_str *defences;
    size_t defence_count;
    const struct btz_study_model *guard;    /* of defences that ask a guard model; else NULL */
    const struct btz_study_model *rewriter; /* of arms of canon: that ask a model; else NULL */
    struct btz_proxy proxy; /* of "proxy:" defences: program; address and port, or none */
    unsigned arms;          /* a bit 1 << enum btz_arm each; 0 = all */
    /* Filters; empty = all. */
    const struct btz_str *attacks, *variants, *surfaces;
    size_t attack_count, variant_count, surface_count;
    unsigned in_flight;         /* trials per model at a time; 0 = 1 */
    int64_t max_tokens;         /* of a reply */
    int64_t request_timeout_us; /* of one attempt of a request; 0 = the endpoint\'s default */
    struct btz_str command;     /* as typed, for the provenance card */
    struct btz_hash binary;
};

/* Plans the cells and writes the run. BTZ_EUSAGE for filters that leave nothing, no model, one that
 * is given twice, too many cells. */
int btz_study_new(const struct btz_study_options *options, struct btz_study **out,
                  struct btz_err *err) BTZ_WARN_UNUSED;

/* Goes on with a run: everything but lab, store, models (in the order of the card; how they act and
 * their max_tokens are the card's), guard and command comes from the provenance card; in_flight and
 * request_timeout_us only where the caller has 0. BTZ_EDENIED if packs, prompts or the guard's
 * rules are not those of the run. */
int btz_study_resume(const struct btz_study_options *options, const struct btz_store_run *run,
                     struct btz_study **out, struct btz_err *err) BTZ_WARN_UNUSED;

void btz_study_free(struct btz_study *study); /* NULL is allowed; what runs is given up */

/* Works for up to about `timeout_us`. BTZ_STEP_WAIT: call again. BTZ_STEP_DONE: every cell has a
 * trial, the run is ended. Errors of the store end the study, and so does a guard model that is
 * gone (BTZ_EMISSING; the run can go on later). */
int btz_study_poll(struct btz_study *study, int64_t timeout_us,
                   struct btz_err *err) BTZ_WARN_UNUSED;

/* The caller will stop the study at `end_us` (base/clock.h): no trial begins and no gateway is
 * waited for after that. */
void btz_study_end_at(struct btz_study *study, int64_t end_us);

/* The signal that asks to stop (SIGINT, SIGTERM), or 0: poll returns early then. */
int btz_study_interrupted(const struct btz_study *study);

/* Gives up what is under way (those cells stay open), commits and ends the run with `reason`. */
int btz_study_stop(struct btz_study *study, struct btz_str reason,
                   struct btz_err *err) BTZ_WARN_UNUSED;

struct btz_study_status {
    const char *run_id;
    size_t planned;  /* applicable cells */
    size_t before;   /* of them finished before this process began */
    size_t finished; /* in all */
    size_t faults;
    size_t active;
    struct btz_str last_fault; /* text of the newest fault, until the next poll; empty */
};
void btz_study_status(const struct btz_study *study, struct btz_study_status *out);

/* Whether a run with this card can be resumed by this program with these packs. BTZ_EDENIED: it is
 * another's, and why. */
int btz_study_may_go_on(struct btz_arena *arena, struct btz_str provenance,
                        const struct btz_lab *lab, const struct btz_hash *binary,
                        struct btz_err *err) BTZ_WARN_UNUSED;

/* References of the models of a provenance card, in order, in `arena`. */
int btz_study_models_of(struct btz_arena *arena, struct btz_str provenance, struct btz_str **out,
                        size_t *count, struct btz_err *err) BTZ_WARN_UNUSED;

/* Built-in packs besides the core pack of a provenance card, in `arena`; none if it cannot be read.
 */
const char *const *btz_study_packs_of(struct btz_arena *arena, struct btz_str provenance,
                                      size_t *count);

/* Reference of the guard model of a provenance card, in `arena`; empty if it has none. The same of
 * the rewriting model. */
int btz_study_rewriter_of(struct btz_arena *arena, struct btz_str provenance, struct btz_str *out,
                          struct btz_err *err) BTZ_WARN_UNUSED;
int btz_study_guard_of(struct btz_arena *arena, struct btz_str provenance, struct btz_str *out,
                       struct btz_err *err) BTZ_WARN_UNUSED;

/* Seed of a cell's world: study seed, scenario and repetition, nothing else, so that models,
 * defences and oracles meet the same worlds. From one repetition to the next the seed grows by 1
 * modulo 2, 3, 4, 5 and 6: which server's tools a model sees first goes round. */
uint64_t btz_study_cell_seed(uint64_t seed, struct btz_str scenario, unsigned repetition);

#endif
