#include "stats/mean.h"

#include <math.h>
#include <stdbool.h>

#include "stats/dist.h"
#include "stats/stats_int.h"

/* Running sums over the attacks seen so far. */
struct strata {
    double value;      /* of the attacks' means */
    double bound_lo;   /* of their means with missing as 0 */
    double bound_hi;   /* ... as 1 */
    double variance;   /* of v_a */
    double df_divisor; /* of v_a^2 / (n_a - 1) */
    size_t planned_attacks;
    bool single; /* an attack has one variant with data */
};

/* One attack: the units [0, count), all of the same attack. */
static void add_attack(const struct btz_stats_unit *units, size_t count, struct strata *sums,
                       struct btz_stats_mean *out)
{
    double mean = 0;
    double squares = 0; /* of the deviations from the mean, Welford (1962) */
    double lo = 0;
    double hi = 0;
    size_t n = 0;
    size_t planned = 0;

    for (size_t i = 0; i < count; i++) {
        const struct btz_count *unit = &units[i].count;
        double rate = btz_count_rate(unit);
        double delta;

        if (unit->planned == 0) {
            continue;
        }
        planned++;
        lo += (double)unit->k / (double)unit->planned;
        hi += (double)(unit->k + unit->missing) / (double)unit->planned;
        if (btz_count_n(unit) == 0) {
            out->empty_variants++;
            continue;
        }
        n++;
        delta = rate - mean;
        mean += delta / (double)n;
        squares += delta * (rate - mean);
    }
    if (planned == 0) {
        return;
    }
    sums->planned_attacks++;
    sums->bound_lo += lo / (double)planned;
    sums->bound_hi += hi / (double)planned;
    if (n == 0) {
        out->empty_attacks++;
        return;
    }
    out->attacks++;
    out->variants += n;
    sums->value += mean;
    if (n == 1) {
        sums->single = true;
    } else {
        double v = squares / (double)(n - 1) / (double)n;

        sums->variance += v;
        sums->df_divisor += v * v / (double)(n - 1);
    }
}

static enum btz_interval_status interval_status(const struct strata *sums, size_t attacks)
{
    if (attacks == 0) {
        return BTZ_INTERVAL_NO_DATA;
    }
    if (attacks < BTZ_STATS_MIN_ATTACKS) {
        return BTZ_INTERVAL_FEW_ATTACKS;
    }
    if (sums->single) {
        return BTZ_INTERVAL_ONE_VARIANT;
    }
    return sums->variance > 0 ? BTZ_INTERVAL_OK : BTZ_INTERVAL_NO_SPREAD;
}

int btz_stats_surface_mean(const struct btz_stats_unit *units, size_t unit_count, double confidence,
                           struct btz_stats_mean *out)
{
    struct btz_stats_mean mean = {.value = NAN, .df = NAN};
    struct strata sums = {0};
    size_t first = 0;
    int rc;

    if (!btz_stats_is_confidence(confidence)) {
        return BTZ_EINVAL;
    }
    rc = btz_stats_check_units(units, unit_count, &mean.total);
    if (rc != BTZ_OK) {
        return rc;
    }
    for (size_t i = 1; i <= unit_count; i++) {
        if (i == unit_count || units[i].attack != units[first].attack) {
            add_attack(units + first, i - first, &sums, &mean);
            first = i;
        }
    }
    mean.bounds = (struct btz_interval){BTZ_INTERVAL_NO_DATA, NAN, NAN};
    if (sums.planned_attacks) {
        mean.bounds =
            (struct btz_interval){BTZ_INTERVAL_OK, sums.bound_lo / (double)sums.planned_attacks,
                                  sums.bound_hi / (double)sums.planned_attacks};
    }
    mean.interval = (struct btz_interval){interval_status(&sums, mean.attacks), NAN, NAN};
    if (mean.attacks) {
        mean.value = sums.value / (double)mean.attacks;
    }
    if (mean.interval.status == BTZ_INTERVAL_OK) {
        double error = sqrt(sums.variance) / (double)mean.attacks;
        double half;

        /* Never below 1 (the smallest n_a - 1), except by rounding. */
        mean.df = fmax(1, sums.variance * sums.variance / sums.df_divisor);
        half = -btz_stats_t_quantile((1 - confidence) / 2, mean.df) * error;
        mean.interval.lo = fmax(0, mean.value - half);
        mean.interval.hi = fmin(1, mean.value + half);
    }
    *out = mean;
    return BTZ_OK;
}
