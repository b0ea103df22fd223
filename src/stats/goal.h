/* Goals stated as limits ("at most 10%"): met only when the data show it. */
#ifndef BTZ_STATS_GOAL_H
#define BTZ_STATS_GOAL_H

#include "stats/interval.h"

enum btz_goal_side { BTZ_GOAL_AT_MOST, BTZ_GOAL_AT_LEAST };

enum btz_goal_state {
    BTZ_GOAL_MET,            /* the one-sided limit meets the goal */
    BTZ_GOAL_POINT_ESTIMATE, /* the estimate meets it, its one-sided limit does not or is missing */
    BTZ_GOAL_MISSED,         /* not even the estimate meets it */
    BTZ_GOAL_NO_DATA         /* no estimate */
};

/* "met", "point estimate only", "missed", "no data". */
const char *btz_goal_state_name(enum btz_goal_state state);

/* Judges `value` by the limit of `interval` on the goal's far side: its upper limit for AT_MOST,
 * its lower for AT_LEAST. For a one-sided 95% limit pass the two-sided 90% interval. An interval
 * that is not available never makes a goal met. BTZ_EINVAL: `goal` is NaN or `side` unknown. */
int btz_goal_check(double value, const struct btz_interval *interval, enum btz_goal_side side,
                   double goal, enum btz_goal_state *out) BTZ_WARN_UNUSED;

/* The same for k / n of independent items, with the exact one-sided limit (Clopper and Pearson
 * 1934) at `confidence` (0.95). `limit`, if not NULL, gets that limit, NaN without data. */
int btz_goal_check_rate(const struct btz_count *count, double confidence, enum btz_goal_side side,
                        double goal, double *limit, enum btz_goal_state *out) BTZ_WARN_UNUSED;

#endif
