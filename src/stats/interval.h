/* Counts, rates and the intervals of one proportion.
 *
 * An interval that cannot be given is not an error: `status` says why, and lo and hi are NaN.
 * Errors (BTZ_EINVAL) are arguments that contradict each other; then nothing is written. */
#ifndef BTZ_STATS_INTERVAL_H
#define BTZ_STATS_INTERVAL_H

#include <stdint.h>

#include "base/err.h"

/* Most planned items in one count. */
#define BTZ_STATS_COUNT_MAX 10000000

/* `k` events among the planned - missing items that were seen. */
struct btz_count {
    int64_t k;
    int64_t planned;
    int64_t missing;
};

enum btz_interval_status {
    BTZ_INTERVAL_OK,
    BTZ_INTERVAL_NO_DATA,       /* nothing was seen (n = 0) */
    BTZ_INTERVAL_FEW_ATTACKS,   /* fewer than BTZ_STATS_MIN_ATTACKS attacks have data */
    BTZ_INTERVAL_ONE_VARIANT,   /* an attack has fewer than two variants with data */
    BTZ_INTERVAL_NO_SPREAD,     /* the variants do not differ within any attack: variance 0 */
    BTZ_INTERVAL_FEW_CLUSTERS,  /* fewer than BTZ_BOOTSTRAP_MIN_CLUSTERS clusters */
    BTZ_INTERVAL_FEW_VARIANTS,  /* even the smallest attainable p value does not exclude anything */
    BTZ_INTERVAL_NO_DISCORDANT, /* no pair differs */
    BTZ_INTERVAL_NO_VARIANCE,   /* the estimated variance is 0, the true one hardly */
    BTZ_INTERVAL_UNINFORMATIVE, /* sensitivity + specificity <= 1 */
    BTZ_INTERVAL_NO_LABELS      /* a stratum has no human label */
};

struct btz_interval {
    enum btz_interval_status status;
    double lo;
    double hi;
};

/* Short reason for people ("needs at least 3 attacks"); "" for BTZ_INTERVAL_OK, never NULL. */
const char *btz_interval_reason(enum btz_interval_status status);

/* BTZ_EINVAL unless 0 <= k <= planned - missing, missing >= 0 and
 * planned <= BTZ_STATS_COUNT_MAX. */
int btz_count_check(const struct btz_count *count) BTZ_WARN_UNUSED;

/* planned - missing: the n of every printed rate. */
int64_t btz_count_n(const struct btz_count *count);

/* k / n; NaN when n = 0. */
double btz_count_rate(const struct btz_count *count);

/* The rate over `planned` with every missing item counted as no event (lo) and as an event (hi):
 * k / planned and (k + missing) / planned. NO_DATA when planned = 0. Not a confidence interval. */
int btz_count_bounds(const struct btz_count *count, struct btz_interval *out) BTZ_WARN_UNUSED;

/* Score interval of a proportion, Wilson (1927), as in Newcombe (1998), method 3:
 * (2nq + z^2 -+ z sqrt(z^2 + 4nq(1 - q))) / (2 (n + z^2)), q = k / n. `confidence` in (0, 1). */
int btz_stats_wilson(const struct btz_count *count, double confidence,
                     struct btz_interval *out) BTZ_WARN_UNUSED;

/* The same with a mean in [0, 1] of `n` units, which need not be whole (an effective number), in
 * the place of k / n: one attack's rate as the mean of its n variant means. Conservative, since a
 * mean of shares varies less than one of verdicts. */
int btz_stats_wilson_mean(double mean, double n, double confidence,
                          struct btz_interval *out) BTZ_WARN_UNUSED;

/* The difference of two independent shares, first minus second, by method 10 of Newcombe (1998),
 * Statist. Med. 17, 873-890: Wilson limits l and u of both give d - sqrt((p1 - l1)^2 + (u2 - p2)^2)
 * and d + sqrt((u1 - p1)^2 + (p2 - l2)^2). NO_DATA if either has none. */
int btz_stats_difference(const struct btz_count *first, const struct btz_count *second,
                         double confidence, struct btz_interval *out) BTZ_WARN_UNUSED;

/* Exact interval, Clopper and Pearson (1934): beta quantiles B(alpha/2; k, n-k+1) and
 * B(1-alpha/2; k+1, n-k); 0 at k = 0 and 1 at k = n. */
int btz_stats_clopper_pearson(const struct btz_count *count, double confidence,
                              struct btz_interval *out) BTZ_WARN_UNUSED;

#endif
