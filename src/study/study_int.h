#ifndef BTZ_STUDY_STUDY_INT_H
#define BTZ_STUDY_STUDY_INT_H

#include "base/arena.h"
#include "drive/guard_client.h"
#include "study/study.h"

enum { MAX_ATTEMPTS = 3 }; /* a fault is retried at most twice with the same seed */

/* One planned cell, made from its place in the plan whenever it is needed: a study of 100,000
 * trials keeps a byte of state and a place in the order for each, nothing else. */
struct cell {
    size_t at; /* place in the plan, from 0 */
    const struct btz_scenario *scenario;
    enum btz_arm arm;
    unsigned repetition;
    size_t model;
    enum btz_mcp_revision revision;
    enum btz_arch arch;
    size_t defence;
};

/* A cell's state: how often it was started, and whether it has a trial that is no fault, or one
 * that was made in this process. */
enum { CELL_ATTEMPTS = 0x7f, CELL_FINISHED = 0x80 };

/* writer.c: puts trials of a run into the store on a thread of its own, in the order they come. */
struct writer;
struct writer *writer_new(struct btz_store *store, int64_t run);
void writer_free(struct writer *writer); /* writes what waits first; NULL is allowed */
/* Memory for the parts of the next trial that is put. Waits while the queue is full. */
struct btz_arena *writer_room(struct writer *writer);
/* Takes a trial whose bytes lie in writer_room or in `trial`, which is the writer's from here (NULL
 * if there is none). Gives the error of an earlier one, after which nothing is written any more. */
int writer_put(struct writer *writer, const struct btz_store_trial *kept, struct btz_trial *trial,
               struct btz_err *err) BTZ_WARN_UNUSED;
/* Waits until all is written; the store may be used until the next put. */
int writer_drain(struct writer *writer, struct btz_err *err);
/* btz_store_tick, unless a trial is being written. */
int writer_tick(struct writer *writer, struct btz_err *err) BTZ_WARN_UNUSED;

/* A trial under way. */
struct running {
    struct running *next; /* in the list of free ones */
    size_t cell;          /* place in the plan */
    int64_t started_wall_us;
};

struct btz_study {
    struct btz_study_options options;
    struct btz_arena *arena;
    struct btz_arena *scratch; /* of one call */
    struct btz_host_profile profile;
    const struct btz_scenario **scenarios; /* that the filters leave */
    size_t scenario_count;
    enum btz_arm arms[BTZ_ARM_BENIGN + 1];
    size_t arm_count;
    size_t cell_count;
    size_t block;          /* cells of one repetition */
    unsigned char *states; /* by place in the plan */
    uint32_t *order;       /* places of applicable cells still to do, in the order they run */
    size_t order_count;
    size_t *next;                  /* per model: position in `order` */
    struct btz_defence *defences;  /* of options.defences */
    struct btz_guard_rules *rules; /* NULL if no defence needs them */
    struct btz_guard_scanner *scanner;
    struct btz_drive *drive;
    struct writer *writer;            /* there once the run is */
    struct btz_drive_guard *guard;    /* NULL if no defence asks a guard model */
    struct btz_drive_guard *rewriter; /* NULL if no defence has definitions rewritten */
    struct btz_runner **runners;      /* per model */
    struct running *idle;             /* room for a trial under way */
    uint32_t *retries;                /* places in the plan */
    size_t retry_count, retry_cap;
    struct btz_arena *fault; /* holds status.last_fault */
    int64_t run;
    char run_id[BTZ_STORE_ID_SIZE];
    struct btz_study_status status;
    int64_t end_us; /* of the work; 0 = none */
    bool ended;
};

/* plan.c: decides which cells there are. */
int plan_cells(struct btz_study *study, struct btz_err *err);
struct cell plan_cell(const struct btz_study *study, size_t at);
bool plan_applicable(const struct btz_study *study, size_t at);
/* Its key (btz_store_cell_key). */
struct btz_str plan_key(const struct btz_study *study, size_t at, struct btz_arena *arena);
/* For struct btz_store_plan; the data is the study. */
int plan_store_cell(void *study, size_t at, struct btz_store_cell *out, struct btz_err *err);

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
/* Gives the guard model's client what it answered in the finished trials of the study's run. */
int defences_remember(struct btz_study *study, struct btz_err *err);
int defences_check(const struct btz_study *study, const struct btz_json *card, struct btz_err *err);

/* card.c */
/* A hash in a card, as hexadecimal digits; whether it is this one. */
void card_set_hash(struct btz_arena *arena, struct btz_json *object, const char *key,
                   struct btz_hash hash);
bool card_same_hash(const struct btz_json *card, const char *key, struct btz_hash hash);
struct btz_json *card_of_model(struct btz_arena *arena, const struct btz_study_model *m);
struct btz_str card_write(struct btz_study *study);
int card_read(struct btz_study *study, struct btz_str text, const struct btz_json **out,
              struct btz_err *err);

#endif
