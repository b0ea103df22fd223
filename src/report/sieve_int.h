/* Inside of the sieve's report: rows as they were read, and figures. */
#ifndef BTZ_REPORT_SIEVE_INT_H
#define BTZ_REPORT_SIEVE_INT_H

#include "report/report_int.h"
#include "report/sieve.h"
#include "stats/goal.h"
#include "stats/paired.h"

enum sieve_kind { SIEVE_ATTACK, SIEVE_TWIN, SIEVE_NEGATIVE, SIEVE_KINDS };

enum sieve_outcome {
    OUT_REFUSED,
    OUT_INVALID,
    OUT_SUCCESS,
    OUT_DIRECT,
    OUT_IGNORED,
    SIEVE_OUTCOMES
};

extern const char *const sieve_outcome_names[SIEVE_OUTCOMES];

/* Texts that stand for a number. */
struct names {
    struct index index;
    struct btz_str *texts;
    size_t count, cap;
};

/* One way in which one model was asked. */
struct sieve_subject {
    struct btz_str model, retrieval, index;
};

/* The fields that rows have; those that a kind of row has not are 0. */
struct sieve_row {
    uint32_t arm, item, cluster, subject;
    int64_t seed;
    uint8_t kind; /* enum sieve_kind */
    bool held_out;
    /* answers */
    uint8_t outcome;
    bool operable, task, poisoned_called;
    int64_t tokens_in, tokens_out;
    /* survival */
    bool has_operands, survived, survived_loose, coincident;
    /* retrieval */
    bool arm_index;
    int64_t target_rank, poisoned_rank;
    /* survival and definitions */
    int64_t characters, free_names, free_values;
    /* definitions */
    bool withheld, calls_tested, collides;
    int64_t calls, differing;
    int64_t facts, facts_kept;
    unsigned damage; /* bit i: of that enum sieve_damage there is some */
    /* attacks */
    int64_t attempts, budget; /* attempts: 0 = not broken */
    bool acted, acted_again;  /* the second model, on the variant and on its fresh drawing */
};

struct sieve_rows {
    struct sieve_row *rows;
    size_t count, cap;
};

struct sieve_fact_row {
    uint32_t arm, kind, cluster;
    bool kept;
};

/* Members of "damage" in a definition's row. The tool's name is no damage by itself. */
enum sieve_damage {
    SIEVE_DAMAGE_PARAMETERS,
    SIEVE_DAMAGE_VALUES,
    SIEVE_DAMAGE_DEFAULTS,
    SIEVE_DAMAGE_FORMS,
    SIEVE_DAMAGE_REQUIRED,
    SIEVE_DAMAGE_PURPOSE,
    SIEVE_DAMAGE_NAME,
    SIEVE_DAMAGES
};
extern const char *const sieve_damage_names[SIEVE_DAMAGES];

/* How many rows a run is to have of a kind, for one arm (and one seed of it). */
struct sieve_plan {
    const char *of; /* "answer", "rewrite", "adaptive", "transfer" */
    uint32_t arm, subject;
    int64_t kinds[SIEVE_KINDS];
    int64_t definitions, budget;
};

struct sieve_guard_row {
    uint32_t cluster;
    bool blocked;
    struct btz_str *rules;
    size_t rule_count;
};

/* One number with what belongs to it. A share: k of n; a mean of shares: k is their sum. */
struct sieve_figure {
    const char *table;
    struct btz_str model, retrieval, index; /* empty: not of a model */
    struct btz_str second; /* the model to which attacks were carried over; empty: none */
    struct btz_str arm;
    struct btz_str measure;
    const char *over; /* what n counts */
    double k;
    int64_t n;
    int64_t missing; /* planned and not answered: in no n. Also where `over` is a part of the items
                      * only: what is missing hides on which side it would have fallen */
    int64_t clusters;
    double value; /* NaN: no data */
    bool is_share;
    bool not_looked_for; /* k, value and interval are NaN although there are n */
    double n_effective;  /* n by the design effect of clusters; n where that cannot be told */
    struct btz_interval interval; /* Wilson at 95% with n_effective */
    struct btz_interval bounds;   /* the share with everything missing as 0 and as 1 */
    int64_t items, seeds; /* of random-delete: k and n are over all seeds of the items; else 0 */
    double least, most;   /* among the seeds; NaN: not told */
};

struct sieve_contrast {
    struct btz_str model, retrieval, index, arm;
    struct btz_paired_table table; /* first: none */
    struct btz_paired paired;
    double adjusted;
    int64_t missing; /* pairs that were planned and of which an answer is missing */
};

struct sieve_goal {
    const char *name;
    struct btz_str model; /* empty: no model in it */
    struct btz_str about; /* what was counted */
    double target;        /* of the value: at most, or a difference at least */
    double value, limit;  /* limit: one-sided 95% */
    int64_t n, clusters, missing;
    enum btz_goal_state state;
};

struct btz_sieve_report {
    struct btz_arena *arena;
    struct btz_store_sieve_run run;
    const struct btz_json *card;
    struct names arms, items, clusters, fact_kinds, operators, attack_models;
    struct sieve_subject *subjects;
    size_t subject_count, subject_cap;
    struct sieve_rows answers, survival, retrieval, definitions, rewrites;
    struct sieve_rows attacks;       /* `subject` is one of attack_models; "": bytes alone */
    struct sieve_rows operator_rows; /* `subject` is one of operators */
    struct sieve_subject *transfers; /* model, and in the place of retrieval the second one */
    size_t transfer_count, transfer_cap;
    struct sieve_rows transfer_rows;  /* `subject` is one of transfers */
    const struct btz_json *embedding; /* the row; NULL: retrieval used n-grams, or was not done */
    struct sieve_plan *plans;
    size_t plan_count, plan_cap;
    struct sieve_fact_row *facts;
    size_t fact_count, fact_cap;
    struct sieve_guard_row *guards;
    size_t guard_count, guard_cap;
    struct btz_str *rewrite_outcomes; /* beside `rewrites` */
    size_t rewrite_cap;
    struct sieve_figure *figures;
    size_t figure_count, figure_cap;
    struct sieve_contrast *contrasts;
    size_t contrast_count, contrast_cap;
    struct sieve_goal *goals;
    size_t goal_count, goal_cap;
    struct {
        struct btz_str model;
        int64_t replies, took_us;
    } * cost;
    size_t cost_count;
};

/* Seeds of random-delete; sieve run takes no more. */
enum { SIEVE_SEEDS_MAX = 99 };

/* ---- sieve_rows.c ---- */
int sieve_rows_read(struct btz_store *store, struct btz_sieve_report *report,
                    struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- sieve_count.c: shares whose items come in clusters ---- */

struct sieve_counter {
    struct btz_arena *arena;
    double *k;
    int64_t *n; /* by cluster */
    size_t clusters;
};

struct sieve_counter sieve_counter_new(struct btz_arena *arena, size_t clusters);
void sieve_counter_add(struct sieve_counter *counter, uint32_t cluster, double value);
/* Sets k, n, clusters, value, n_effective and interval. */
void sieve_counter_end(const struct sieve_counter *counter, struct sieve_figure *figure);
/* Sets `missing` and the bounds, after sieve_counter_end. */
void sieve_figure_miss(struct sieve_figure *figure, int64_t missing);
/* Sets items and seeds. The seeds of one item are not independent of each other, so n_effective
 * becomes at most `items`, and the interval with it. After sieve_counter_end. */
void sieve_figure_draw(struct sieve_figure *figure, int64_t items, int64_t seeds);
/* Planned rows of a kind: of items (SIEVE_KINDS: of definitions), -1: no plan, as in runs of older
 * versions. */
int64_t sieve_planned(const struct btz_sieve_report *report, const char *of, uint32_t arm,
                      uint32_t subject, int kind);
/* Upper one-sided 95% limit of a share: the larger one of the exact limit for independent items
 * and of Wilson's with n_effective. NaN without data. */
double sieve_upper_limit(const struct sieve_figure *figure);
/* The figure with these names, or NULL. */
const struct sieve_figure *sieve_figure_find(const struct btz_sieve_report *report,
                                             const char *table, const struct sieve_subject *subject,
                                             const char *arm, const char *measure,
                                             const char *over);

/* ---- sieve_figures.c, sieve_tests.c ---- */
void sieve_figures(struct btz_sieve_report *report);
struct sieve_figure *sieve_figure_add(struct btz_sieve_report *report);
bool sieve_is(const struct names *names, uint32_t number, const char *text);
int sieve_contrasts(struct btz_sieve_report *report, struct btz_err *err) BTZ_WARN_UNUSED;
int sieve_goals(struct btz_sieve_report *report, struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- sieve_print.c ---- */

/* A model that completes fewer clean twins without any arm is not competent. */
#define SIEVE_COMPETENT 0.5

struct sieve_spent {
    int64_t answers, known; /* known: whose tokens the provider told */
    int64_t in, out;
};
struct sieve_spent sieve_spent_of(const struct btz_sieve_report *report, struct btz_str model);

#endif
