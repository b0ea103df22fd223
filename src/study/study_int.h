#ifndef BTZ_STUDY_STUDY_INT_H
#define BTZ_STUDY_STUDY_INT_H

#include "base/arena.h"
#include "study/study.h"

enum { MAX_ATTEMPTS = 3 }; /* a fault is retried at most twice with the same seed */

struct cell {
    const struct btz_scenario *scenario;
    enum btz_arm arm;
    unsigned repetition;
    size_t model;
    enum btz_mcp_revision revision;
    enum btz_arch arch;
    bool applicable;
    bool finished; /* has a trial that is no fault, or one that was made in this process */
    int attempts;
    struct btz_str key;
    int64_t started_wall_us;
};

struct btz_study {
    struct btz_study_options options;
    struct btz_arena *arena;
    struct btz_host_profile profile;
    struct cell *cells;
    size_t cell_count;
    struct cell **order; /* applicable cells still to do, in the order they run */
    size_t order_count;
    size_t *next; /* per model: position in `order` */
    struct btz_drive *drive;
    struct btz_runner **runners; /* per model */
    struct cell **retries;
    size_t retry_count;
    int64_t run;
    char run_id[BTZ_STORE_ID_SIZE];
    struct btz_study_status status;
    bool ended;
};

/* plan.c: cells of the study in planned order. `cells` are the study's, `planned` the store's. */
int plan_cells(struct btz_study *study, struct btz_store_cell **planned, struct btz_err *err);

/* study.c: a limit of a model, its own or the study's. */
unsigned model_in_flight(const struct btz_study *study, size_t model); /* at least 1 */
int64_t model_max_tokens(const struct btz_study *study, size_t model);
int64_t model_timeout_us(const struct btz_study *study, size_t model);

/* card.c */
struct btz_str card_write(struct btz_study *study);
int card_read(struct btz_study *study, struct btz_str card, struct btz_err *err);

#endif
