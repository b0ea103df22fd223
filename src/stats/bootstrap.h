/* Percentile bootstrap intervals of a surface's rate. */
#ifndef BTZ_STATS_BOOTSTRAP_H
#define BTZ_STATS_BOOTSTRAP_H

#include "stats/mean.h"

/* Resampling whole clusters is refused below this many: with five, intervals cover 78-89%. */
#define BTZ_BOOTSTRAP_MIN_CLUSTERS 20
#define BTZ_BOOTSTRAP_REPLICATES_MIN 199
#define BTZ_BOOTSTRAP_REPLICATES_MAX 100000
/* Most of replicates times units. */
#define BTZ_BOOTSTRAP_WORK_MAX ((uint64_t)1 << 28)

struct btz_bootstrap_plan {
    double confidence;
    uint64_t seed;
    uint32_t replicates; /* 9999 serves 95% well: (replicates + 1) * 0.025 is whole */
};

struct btz_bootstrap {
    double value; /* as in struct btz_stats_mean; NaN without data */
    double error; /* standard deviation of the replicates; NaN unless interval.status is OK */
    struct btz_interval interval;
    size_t attacks;  /* with data */
    size_t variants; /* with data */
};

/* Rescaled bootstrap of the stratified mean (Rao and Wu 1988, J. Amer. Statist. Assoc. 83,
 * 231-241; Rao, Wu and Yue 1992, Survey Methodology 18, 209-217): attacks are strata, variants the
 * units. With m_a = n_a - 1 units drawn with replacement from stratum a the rescaling factor is 1,
 * so that a replicate is the mean over attacks of the means of those draws, and its variance is the
 * unbiased sum(s_a^2 / n_a) / A^2. Interval: the order statistics (B + 1) alpha / 2 (rounded down)
 * from either end (Davison and Hinkley 1997, section 5.3).
 * Statuses as for btz_stats_surface_mean: NO_DATA, FEW_ATTACKS, ONE_VARIANT, NO_SPREAD.
 * BTZ_EINVAL: a unit or the plan is out of range, or too few replicates for the confidence.
 * BTZ_ELIMIT: too many units, or replicates * units over BTZ_BOOTSTRAP_WORK_MAX. */
int btz_bootstrap_surface(const struct btz_stats_unit *units, size_t unit_count,
                          const struct btz_bootstrap_plan *plan,
                          struct btz_bootstrap *out) BTZ_WARN_UNUSED;

/* The same mean when the clusters themselves are a sample: `attack` names the cluster, whole
 * clusters are drawn, n - 1 of n, so that the variance is the unbiased s^2 / n of their means.
 * FEW_CLUSTERS below BTZ_BOOTSTRAP_MIN_CLUSTERS with data (Cameron, Gelbach and Miller 2008, Rev.
 * Econ. Statist. 90, 414-427, on few clusters); NO_SPREAD when all cluster means are equal. */
int btz_bootstrap_clusters(const struct btz_stats_unit *units, size_t unit_count,
                           const struct btz_bootstrap_plan *plan,
                           struct btz_bootstrap *out) BTZ_WARN_UNUSED;

#endif
