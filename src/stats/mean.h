/* The rate of a surface (or of all attacks): a mean over attacks of means over variants. */
#ifndef BTZ_STATS_MEAN_H
#define BTZ_STATS_MEAN_H

#include <stddef.h>

#include "stats/interval.h"

#define BTZ_STATS_MIN_ATTACKS 3

/* Most units (or pairs of them) in one call. */
#define BTZ_STATS_UNITS_MAX 100000

/* One variant with all its repetitions. */
struct btz_stats_unit {
    uint32_t attack; /* any number that is the same for all variants of an attack */
    struct btz_count count;
};

struct btz_stats_mean {
    /* Mean over attacks of the mean over variants of k / n: repetitions weigh equally within a
     * variant, variants within an attack, attacks within the surface. Variants and attacks without
     * data are left out (and counted below). NaN without any data. */
    double value;
    double df;                    /* Satterthwaite; NaN unless interval.status is OK */
    struct btz_interval interval; /* variants as the units ("scenarios like these") */
    /* The same mean over all planned items with missing set to 0 and to 1; here nothing is left
     * out, so that `value` can lie outside when a whole variant is missing. */
    struct btz_interval bounds;
    struct btz_count total; /* sums over all units; total.k / n is the trial-weighted rate */
    size_t attacks;         /* with data */
    size_t variants;        /* with data */
    size_t empty_attacks;   /* planned, but all missing */
    size_t empty_variants;  /* planned, but all missing; those of empty attacks too */
};

/* The stratified mean of `units` (one per variant, all units of an attack next to each other) with
 * a t interval: each attack is a stratum and its variants are the units. With A attacks, n_a
 * variants and s_a^2 their sample variance in attack a, v_a = s_a^2 / n_a:
 *   variance = sum(v_a) / A^2        df = sum(v_a)^2 / sum(v_a^2 / (n_a - 1))
 * (Satterthwaite 1946; the A^2 cancels in df). Limits are cut to [0, 1].
 * The interval is not available below BTZ_STATS_MIN_ATTACKS attacks, when an attack has one variant
 * only, or when no attack has any spread. Units with planned = 0 are passed over.
 * BTZ_EINVAL: a count or `confidence` is out of range, or an attack's units are not adjacent.
 * BTZ_ELIMIT: more than BTZ_STATS_UNITS_MAX units, or the sum of the planned items passes
 * BTZ_STATS_COUNT_MAX. */
int btz_stats_surface_mean(const struct btz_stats_unit *units, size_t unit_count, double confidence,
                           struct btz_stats_mean *out) BTZ_WARN_UNUSED;

#endif
