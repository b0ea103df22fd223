#ifndef BTZ_STUDY_STUDY_INT_H
#define BTZ_STUDY_STUDY_INT_H

#include "base/arena.h"
#include "drive/guard_client.h"
#include "study/study.h"

enum { MAX_ATTEMPTS = 3 }; /* a fault is retried at most twice with the same seed */

struct cell {
    const struct btz_scenario *scenario;
    enum btz_arm arm;
    unsigned repetition;
    size_t model;
    enum btz_mcp_revision revision;
    enum btz_arch arch;
    size_t defence;
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
    size_t *next;                  /* per model: position in `order` */
    struct btz_defence *defences;  /* of options.defences */
    struct btz_guard_rules *rules; /* NULL if no defence needs them */
    struct btz_guard_scanner *scanner;
    struct btz_drive *drive;
    struct btz_drive_guard *guard; /* NULL if no defence asks a guard model */
    struct btz_runner **runners;   /* per model */
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

/* defences.c: parses the names and loads what the defences need: rules, a client of the guard
 * model. Opening comes after the drive is there. */
int defences_parse(struct btz_study *study, struct btz_err *err);
int defences_open(struct btz_study *study, struct btz_err *err);
void defences_close(struct btz_study *study);
/* Whether a scenario can be played behind a defence; `*why` is set if not. */
bool defences_allow(const struct btz_study *study, size_t defence,
                    const struct btz_scenario *scenario, struct btz_str *why);
/* The member "guard" of a card; NULL if no defence needs one. */
struct btz_json *defences_card(struct btz_study *study);
/* Whether rules and prompts are those that made the card. */
int defences_check(const struct btz_study *study, const struct btz_json *card, struct btz_err *err);

/* card.c */
struct btz_json *card_of_model(struct btz_arena *arena, const struct btz_study_model *m);
struct btz_str card_write(struct btz_study *study);
int card_read(struct btz_study *study, struct btz_str text, const struct btz_json **out,
              struct btz_err *err);

#endif
