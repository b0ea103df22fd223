/* Planning: how likely a paired contrast of a surface finds an effect of a given size. */
#ifndef BTZ_STATS_POWER_H
#define BTZ_STATS_POWER_H

#include "stats/interval.h"

#define BTZ_POWER_UNITS_MAX 1000       /* attacks * variants */
#define BTZ_POWER_REPETITIONS_MAX 1000 /* of a variant in each arm */
#define BTZ_POWER_STUDIES_MIN 100
#define BTZ_POWER_STUDIES_MAX 100000
#define BTZ_POWER_SPREAD_MAX 0.95
/* Most steps of one simulation: studies * units * (units + 4) * repetitions; some seconds. */
#define BTZ_POWER_WORK_MAX ((uint64_t)1 << 31)

struct btz_power_plan {
    uint32_t attacks;
    uint32_t variants; /* of every attack */
    uint32_t repetitions;
    double rate;   /* mean rate of the second arm (none) */
    double effect; /* first minus second arm; rate + effect in [0, 1] */
    /* Correlation of two repetitions of a variant: a variant's propensity follows a beta law with
     * the arm's mean m and variance spread * m * (1 - m). 0: all variants alike; at most
     * BTZ_POWER_SPREAD_MAX. */
    double spread;
    /* Share of variants whose propensity has the same rank in both arms, the others' being
     * independent: 1 when what is hard in one arm is hard in the other. */
    double pairing;
    double alpha;     /* two-sided */
    uint32_t studies; /* simulated */
    uint64_t seed;
};

struct btz_power {
    double power;              /* share of studies significant in the direction of the effect;
                                  with no effect, in either */
    double wrong;              /* ... in the other direction; 0 with no effect */
    struct btz_interval error; /* 95% Wilson interval of `power` for the simulation's own noise */
    double p_least; /* smallest two-sided p that so many variants can give; over alpha the power is
                       0 whatever the effect */
};

/* Simulates `studies` studies and makes the sign-flip test of contrast.h in each. Its null
 * distribution is exact for any number of variants here: without missing items all weights are
 * equal, so the statistic lives on whole numbers and its law is built by convolution (Pagano and
 * Tritchler 1983, J. Amer. Statist. Assoc. 78, 435-440). The beta law is drawn from 1024 equally
 * likely quantiles. A seed fixes the result.
 * BTZ_EINVAL: a value out of range. BTZ_ELIMIT: work over BTZ_POWER_WORK_MAX. */
int btz_stats_power(const struct btz_power_plan *plan, struct btz_power *out) BTZ_WARN_UNUSED;

/* Smallest effect with the sign of `plan->effect` (0 counts as positive; its size is not used) that
 * reaches `target` power, to within 1/1024 of the possible range, by bisection with the same random
 * numbers at every step; NaN when even the largest possible effect does not reach it. `at`, if not
 * NULL, gets the power there (at the largest possible effect when NaN). */
int btz_stats_power_detectable(const struct btz_power_plan *plan, double target, double *effect,
                               struct btz_power *at) BTZ_WARN_UNUSED;

#endif
