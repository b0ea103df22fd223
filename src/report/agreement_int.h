/* Inside the report room: the agreement of raters. */
#ifndef BTZ_REPORT_AGREEMENT_INT_H
#define BTZ_REPORT_AGREEMENT_INT_H

#include "report/agreement.h"
#include "report/report_int.h"
#include "stats/agreement.h"
#include "stats/correct.h"

enum rating { RATING_MISSING, RATING_MALFORMED, RATING_NO, RATING_YES };

struct rater {
    struct btz_str source; /* companion, judge, human */
    struct btz_str name;
    struct btz_str prompt;              /* of a judge: its prompt hash, 16 digits; else "" */
    bool same_vendor;                   /* as the model under test, by its own verdicts */
    struct btz_double_sample corrected; /* of a judge, where people have labelled */
    bool has_corrected;
};

struct rated {
    enum rating rating;
    bool truncated; /* judged on a trajectory whose middle was left out */
};

struct rated_trial {
    int64_t ordinal; /* of its cell in the plan; trials stand in this order */
    size_t attack;   /* index of attacks */
    size_t model;
    bool below;       /* boundary B */
    bool attacked;    /* of the attack arm */
    bool effect;      /* what the companion says */
    struct rated *by; /* one a rater; NULL where nobody but the companion has rated it */
};

/* One attack, or all of them (attack none), of a pair of raters. */
struct agreement_line {
    struct btz_str attack;
    int64_t trials;
    struct btz_paired_table table;
    int64_t malformed; /* one of the two has no usable verdict */
    int64_t missing;   /* one of the two has none at all */
    int64_t truncated; /* of the rest, judged on a cut trajectory */
    struct btz_agreement figures;
};

struct agreement_pair {
    const struct rater *first, *second;
    struct agreement_line *lines;
    size_t count;
};

struct btz_agreements {
    struct btz_store_run run;
    struct btz_arena *arena;
    bool all_arms;
    struct rater *raters; /* [0] is the companion */
    size_t rater_count;
    bool left_out; /* there were more raters than fit */
    struct btz_str *attacks, *models;
    size_t attack_count, model_count;
    struct rated_trial *trials;
    size_t trial_count;
    struct agreement_pair *pairs;
    size_t pair_count;
};

/* ---- agreement.c ---- */

/* What the rater says of the trial. */
struct rated rated_by(const struct rated_trial *trial, size_t rater);
/* The trial of that cell; NULL if none was rated or it is not among the trials. */
const struct rated_trial *rated_at(const struct btz_agreements *a, int64_t ordinal);
/* Adds the trial's two verdicts to the line's counts. */
void agreement_count(const struct rated_trial *trial, size_t first, size_t second,
                     struct agreement_line *line);

/* ---- agreement_print.c ---- */

struct btz_str rater_label(struct btz_arena *arena, const struct rater *rater);
struct btz_str text_with_interval(struct btz_arena *arena, double value, struct btz_interval i);
/* {value, lo, hi, reason}; lo and hi are null where there is no interval. */
struct btz_json *figure_json(struct btz_arena *arena, double value, struct btz_interval i);

#endif
