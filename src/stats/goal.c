#include "stats/goal.h"

#include "stats/stats_int.h"

const char *btz_goal_state_name(enum btz_goal_state state)
{
    switch (state) {
    case BTZ_GOAL_MET:
        return "met";
    case BTZ_GOAL_POINT_ESTIMATE:
        return "point estimate only";
    case BTZ_GOAL_MISSED:
        return "missed";
    case BTZ_GOAL_NO_DATA:
        return "no data";
    }
    return "unknown";
}

int btz_goal_check(double value, const struct btz_interval *interval, enum btz_goal_side side,
                   double goal, enum btz_goal_state *out)
{
    double sign = side == BTZ_GOAL_AT_MOST ? 1 : -1;
    double limit;

    if (isnan(goal) || (side != BTZ_GOAL_AT_MOST && side != BTZ_GOAL_AT_LEAST)) {
        return BTZ_EINVAL;
    }
    limit = side == BTZ_GOAL_AT_MOST ? interval->hi : interval->lo;
    if (isnan(value)) {
        *out = BTZ_GOAL_NO_DATA;
    } else if (sign * value > sign * goal) {
        *out = BTZ_GOAL_MISSED;
    } else if (interval->status == BTZ_INTERVAL_OK && sign * limit <= sign * goal) {
        *out = BTZ_GOAL_MET;
    } else {
        *out = BTZ_GOAL_POINT_ESTIMATE;
    }
    return BTZ_OK;
}

int btz_goal_check_rate(const struct btz_count *count, double confidence, enum btz_goal_side side,
                        double goal, double *limit, enum btz_goal_state *out)
{
    struct btz_interval interval;
    double both = 2 * confidence - 1; /* two-sided interval with tails of 1 - confidence */
    int rc;

    if (!(both > 0 && both < 1)) {
        return BTZ_EINVAL;
    }
    rc = btz_stats_clopper_pearson(count, both, &interval);
    if (rc == BTZ_OK) {
        rc = btz_goal_check(btz_count_rate(count), &interval, side, goal, out);
    }
    if (rc == BTZ_OK && limit) {
        *limit = side == BTZ_GOAL_AT_MOST ? interval.hi : interval.lo;
    }
    return rc;
}
