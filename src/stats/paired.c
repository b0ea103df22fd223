#include "stats/paired.h"

#include "stats/dist.h"
#include "stats/stats_int.h"

int btz_stats_check_table(const struct btz_paired_table *table, int64_t *pairs)
{
    const int64_t cells[] = {table->both, table->first_only, table->second_only, table->neither};

    *pairs = 0;
    for (size_t i = 0; i < 4; i++) {
        if (cells[i] < 0 || cells[i] > BTZ_STATS_COUNT_MAX - *pairs) {
            return BTZ_EINVAL;
        }
        *pairs += cells[i];
    }
    return BTZ_OK;
}

static void mcnemar(const struct btz_paired_table *table, struct btz_paired *out)
{
    double b = (double)table->first_only;
    double c = (double)table->second_only;
    double point = btz_stats_binomial_point(fmin(b, c), b + c, 0.5);

    if (b == c) {
        out->p_exact = 1;
        /* Without discordant pairs there is nothing to halve. */
        out->p_mid = b + c > 0 ? 1 - 0.5 * point : 1;
        return;
    }
    out->p_exact = fmin(1, 2 * btz_stats_binomial_cdf(fmin(b, c), b + c, 0.5));
    out->p_mid = out->p_exact - point;
}

/* Correlation of the two verdicts with the correction of method 10. */
static double phi_of(const struct btz_paired_table *table, double pairs)
{
    double a = (double)table->both;
    double b = (double)table->first_only;
    double c = (double)table->second_only;
    double d = (double)table->neither;
    double product = a * d - b * c;
    double scale = sqrt((a + b) * (c + d)) * sqrt((a + c) * (b + d));

    if (scale == 0) {
        return 0;
    }
    return (product > 0 ? fmax(0, product - pairs / 2) : product) / scale;
}

/* sqrt(a^2 - 2 phi a b + b^2), not below 0 by rounding. */
static double square_and_add(double a, double b, double phi)
{
    return sqrt(fmax(0, a * a - 2 * phi * a * b + b * b));
}

static int newcombe(const struct btz_paired_table *table, double confidence, struct btz_paired *out)
{
    struct btz_count first = {table->both + table->first_only, out->pairs, 0};
    struct btz_count second = {table->both + table->second_only, out->pairs, 0};
    struct btz_interval one;
    struct btz_interval two;
    double phi = phi_of(table, (double)out->pairs);
    int rc = btz_stats_wilson(&first, confidence, &one);

    if (rc == BTZ_OK) {
        rc = btz_stats_wilson(&second, confidence, &two);
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    out->interval = (struct btz_interval){
        BTZ_INTERVAL_OK,
        fmax(-1, out->difference - square_and_add(out->first - one.lo, two.hi - out->second, phi)),
        fmin(1, out->difference + square_and_add(one.hi - out->first, out->second - two.lo, phi)),
    };
    return BTZ_OK;
}

static int odds(const struct btz_paired_table *table, double confidence, struct btz_paired *out)
{
    struct btz_count share = {table->first_only, table->first_only + table->second_only, 0};
    struct btz_interval got;
    int rc;

    if (share.planned == 0) {
        out->odds_interval = btz_stats_absent(BTZ_INTERVAL_NO_DISCORDANT);
        return BTZ_OK;
    }
    rc = btz_stats_clopper_pearson(&share, confidence, &got);
    if (rc != BTZ_OK) {
        return rc;
    }
    out->odds_ratio =
        table->second_only > 0 ? (double)table->first_only / (double)table->second_only : INFINITY;
    out->odds_interval = (struct btz_interval){
        BTZ_INTERVAL_OK,
        got.lo / (1 - got.lo),
        got.hi < 1 ? got.hi / (1 - got.hi) : INFINITY,
    };
    return BTZ_OK;
}

int btz_stats_paired(const struct btz_paired_table *table, double confidence,
                     struct btz_paired *out)
{
    struct btz_paired result = {
        .first = NAN,
        .second = NAN,
        .difference = NAN,
        .p_exact = NAN,
        .p_mid = NAN,
        .interval = btz_stats_absent(BTZ_INTERVAL_NO_DATA),
        .odds_ratio = NAN,
        .odds_interval = btz_stats_absent(BTZ_INTERVAL_NO_DATA),
    };
    int rc = btz_stats_check_table(table, &result.pairs);

    if (rc != BTZ_OK || !btz_stats_is_confidence(confidence)) {
        return BTZ_EINVAL;
    }
    if (result.pairs > 0) {
        double n = (double)result.pairs;

        result.first = (double)(table->both + table->first_only) / n;
        result.second = (double)(table->both + table->second_only) / n;
        result.difference = (double)(table->first_only - table->second_only) / n;
        mcnemar(table, &result);
        rc = newcombe(table, confidence, &result);
        if (rc == BTZ_OK) {
            rc = odds(table, confidence, &result);
        }
    }
    if (rc == BTZ_OK) {
        *out = result;
    }
    return rc;
}
