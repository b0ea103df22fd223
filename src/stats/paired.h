/* Two verdicts on the same trace, or on one item per pair (the messages of a sieve). Not for
 * repeated trials of a variant: those are not independent, see contrast.h. */
#ifndef BTZ_STATS_PAIRED_H
#define BTZ_STATS_PAIRED_H

#include "stats/interval.h"

/* Pairs by their two verdicts. All >= 0, their sum <= BTZ_STATS_COUNT_MAX. */
struct btz_paired_table {
    int64_t both;
    int64_t first_only;
    int64_t second_only;
    int64_t neither;
};

struct btz_paired {
    int64_t pairs;
    double first;      /* share of pairs with the first verdict; NaN without pairs */
    double second;     /* ... with the second */
    double difference; /* first - second */
    /* McNemar's test, conditional on the b + c discordant pairs (McNemar 1947): twice the smaller
     * binomial tail at 1/2, at most 1; NaN without pairs, 1 without discordant pairs. */
    double p_exact;
    /* The same with half the point probability taken off the tail before doubling; 1 minus half of
     * it for b = c (Fagerland, Lydersen and Laake 2013, BMC Med. Res. Methodol. 13:91). Not
     * guaranteed to hold its level, but hardly ever over it, and less conservative. */
    double p_mid;
    /* Newcombe's hybrid score interval of the difference, method 10 of Newcombe (1998), Statist.
     * Med. 17, 2635-2650: Wilson limits of both shares, squared and added with the correlation phi,
     * which is continuity corrected towards 0 when positive. */
    struct btz_interval interval;
    /* Conditional odds ratio b / c (INFINITY for c = 0; NaN without discordant pairs) and its exact
     * interval: Clopper-Pearson limits of b / (b + c), each x turned into x / (1 - x) (Breslow and
     * Day 1980, section 5.2). */
    double odds_ratio;
    struct btz_interval odds_interval;
};

/* BTZ_EINVAL: a count or `confidence` is out of range. Without pairs the intervals are NO_DATA. */
int btz_stats_paired(const struct btz_paired_table *table, double confidence,
                     struct btz_paired *out) BTZ_WARN_UNUSED;

#endif
