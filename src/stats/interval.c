#include "stats/interval.h"

#include <math.h>

#include "stats/dist.h"
#include "stats/stats_int.h"

const char *btz_interval_reason(enum btz_interval_status status)
{
    switch (status) {
    case BTZ_INTERVAL_OK:
        return "";
    case BTZ_INTERVAL_NO_DATA:
        return "no data";
    case BTZ_INTERVAL_FEW_ATTACKS:
        return "needs at least 3 attacks";
    case BTZ_INTERVAL_ONE_VARIANT:
        return "needs at least 2 variants of every attack";
    case BTZ_INTERVAL_NO_SPREAD:
        return "no spread between variants";
    case BTZ_INTERVAL_FEW_CLUSTERS:
        return "needs at least 20 clusters";
    case BTZ_INTERVAL_FEW_VARIANTS:
        return "too few variants for this confidence";
    case BTZ_INTERVAL_NO_DISCORDANT:
        return "no pair differs";
    case BTZ_INTERVAL_NO_VARIANCE:
        return "estimated variance 0";
    case BTZ_INTERVAL_UNINFORMATIVE:
        return "sensitivity + specificity is not above 1";
    case BTZ_INTERVAL_NO_LABELS:
        return "a stratum has no human labels";
    }
    return "unknown reason";
}

int btz_count_check(const struct btz_count *count)
{
    if (count->planned < 0 || count->planned > BTZ_STATS_COUNT_MAX || count->missing < 0 ||
        count->missing > count->planned || count->k < 0 ||
        count->k > count->planned - count->missing) {
        return BTZ_EINVAL;
    }
    return BTZ_OK;
}

int64_t btz_count_n(const struct btz_count *count)
{
    return count->planned - count->missing;
}

double btz_count_rate(const struct btz_count *count)
{
    int64_t n = btz_count_n(count);

    return n > 0 ? (double)count->k / (double)n : NAN;
}

int btz_count_bounds(const struct btz_count *count, struct btz_interval *out)
{
    if (btz_count_check(count) != BTZ_OK) {
        return BTZ_EINVAL;
    }
    if (count->planned == 0) {
        *out = btz_stats_absent(BTZ_INTERVAL_NO_DATA);
        return BTZ_OK;
    }
    *out = (struct btz_interval){
        BTZ_INTERVAL_OK,
        (double)count->k / (double)count->planned,
        (double)(count->k + count->missing) / (double)count->planned,
    };
    return BTZ_OK;
}

int btz_stats_wilson(const struct btz_count *count, double confidence, struct btz_interval *out)
{
    int64_t n;

    if (btz_count_check(count) != BTZ_OK) {
        return BTZ_EINVAL;
    }
    n = btz_count_n(count);
    return btz_stats_wilson_mean(n ? btz_count_rate(count) : 0, (double)n, confidence, out);
}

int btz_stats_difference(const struct btz_count *first, const struct btz_count *second,
                         double confidence, struct btz_interval *out)
{
    struct btz_interval a;
    struct btz_interval b;
    double p1 = btz_count_rate(first);
    double p2 = btz_count_rate(second);
    int rc = btz_stats_wilson(first, confidence, &a);

    rc = rc ? rc : btz_stats_wilson(second, confidence, &b);
    if (rc != BTZ_OK) {
        return rc;
    }
    if (a.status != BTZ_INTERVAL_OK || b.status != BTZ_INTERVAL_OK) {
        *out = btz_stats_absent(BTZ_INTERVAL_NO_DATA);
        return BTZ_OK;
    }
    *out = (struct btz_interval){BTZ_INTERVAL_OK, p1 - p2 - hypot(p1 - a.lo, b.hi - p2),
                                 p1 - p2 + hypot(a.hi - p1, p2 - b.lo)};
    return BTZ_OK;
}

int btz_stats_wilson_mean(double mean, double n, double confidence, struct btz_interval *out)
{
    double size = n;
    double z;
    double middle;
    double half;

    if (!(mean >= 0 && mean <= 1) || !(n >= 0 && n <= (double)BTZ_STATS_COUNT_MAX) ||
        !btz_stats_is_confidence(confidence)) {
        return BTZ_EINVAL;
    }
    if (n == 0) {
        *out = btz_stats_absent(BTZ_INTERVAL_NO_DATA);
        return BTZ_OK;
    }
    z = -btz_stats_normal_quantile((1 - confidence) / 2);
    middle = 2 * size * mean + z * z;
    half = z * sqrt(z * z + 4 * size * mean * (1 - mean));
    /* At a mean of 0 or 1 one limit is the mean itself; elsewhere rounding must not pass it. */
    *out = (struct btz_interval){
        BTZ_INTERVAL_OK,
        mean > 0 ? fmax(0, (middle - half) / (2 * (size + z * z))) : 0,
        mean < 1 ? fmin(1, (middle + half) / (2 * (size + z * z))) : 1,
    };
    return BTZ_OK;
}

int btz_stats_clopper_pearson(const struct btz_count *count, double confidence,
                              struct btz_interval *out)
{
    double tail = (1 - confidence) / 2;
    double k;
    double n;

    if (btz_count_check(count) != BTZ_OK || !btz_stats_is_confidence(confidence)) {
        return BTZ_EINVAL;
    }
    k = (double)count->k;
    n = (double)btz_count_n(count);
    if (n == 0) {
        *out = btz_stats_absent(BTZ_INTERVAL_NO_DATA);
        return BTZ_OK;
    }
    *out = (struct btz_interval){
        BTZ_INTERVAL_OK,
        k > 0 ? btz_stats_beta_quantile(tail, k, n - k + 1) : 0,
        k < n ? 1 - btz_stats_beta_quantile(tail, n - k, k + 1) : 1,
    };
    return BTZ_OK;
}
