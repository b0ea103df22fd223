#include "stats/agreement.h"

#include "stats/dist.h"
#include "stats/stats_int.h"

/* Shares p[i][j] of items that the first rater put in i and the second in j; 0 is yes. */
struct shares {
    double p[2][2];
    double row[2];
    double column[2];
    double n;
};

static struct btz_interval normal_interval(double value, double error, double confidence)
{
    double z = -btz_stats_normal_quantile((1 - confidence) / 2);

    if (!(error > 0)) {
        return btz_stats_absent(BTZ_INTERVAL_NO_VARIANCE);
    }
    return (struct btz_interval){BTZ_INTERVAL_OK, fmax(-1, value - z * error),
                                 fmin(1, value + z * error)};
}

/* A variance that is 0 but for rounding is 0. */
static double error_of(double variance)
{
    return variance > 1e-15 ? sqrt(variance) : 0;
}

static void kappa(const struct shares *s, double confidence, struct btz_agreement *out)
{
    double chance = s->row[0] * s->column[0] + s->row[1] * s->column[1];
    double rest = 1 - chance;
    double sum = 0;
    double last;

    if (rest <= 0) { /* exactly: the margins are 0 and 1 */
        out->kappa_interval = btz_stats_absent(BTZ_INTERVAL_NO_SPREAD);
        return;
    }
    out->kappa = (out->observed - chance) / rest;
    for (int i = 0; i < 2; i++) {
        double own = 1 - (s->row[i] + s->column[i]) * (1 - out->kappa);
        double cross = (s->column[i] + s->row[1 - i]) * (1 - out->kappa);

        sum += s->p[i][i] * own * own + s->p[i][1 - i] * cross * cross;
    }
    last = out->kappa - chance * (1 - out->kappa);
    out->kappa_error = error_of((sum - last * last) / (rest * rest)) / sqrt(s->n);
    out->kappa_interval = normal_interval(out->kappa, out->kappa_error, confidence);
}

static void ac1(const struct shares *s, double confidence, struct btz_agreement *out)
{
    double share[2] = {(s->row[0] + s->column[0]) / 2, (s->row[1] + s->column[1]) / 2};
    double chance = 2 * share[0] * share[1];
    double rest = 1 - chance; /* at least 1/2 */
    double own = 0;
    double all = 0;
    double slack;

    out->ac1 = (out->observed - chance) / rest;
    slack = 1 - out->ac1;
    for (int i = 0; i < 2; i++) {
        own += s->p[i][i] * (1 - share[i]);
        for (int j = 0; j < 2; j++) {
            double factor = 1 - (share[i] + share[j]) / 2;

            all += s->p[i][j] * factor * factor;
        }
    }
    out->ac1_error =
        error_of((out->observed * (1 - out->observed) - 4 * slack * (own - out->observed * chance) +
                  4 * slack * slack * (all - chance * chance)) /
                 (rest * rest)) /
        sqrt(s->n);
    out->ac1_interval = normal_interval(out->ac1, out->ac1_error, confidence);
}

static double specific(int64_t same, int64_t different)
{
    return same + different > 0 ? 2 * (double)same / (double)(2 * same + different) : NAN;
}

int btz_stats_agreement(const struct btz_paired_table *table, double confidence,
                        struct btz_agreement *out)
{
    struct btz_agreement result = {
        .observed = NAN,
        .observed_interval = btz_stats_absent(BTZ_INTERVAL_NO_DATA),
        .kappa = NAN,
        .kappa_error = NAN,
        .kappa_interval = btz_stats_absent(BTZ_INTERVAL_NO_DATA),
        .ac1 = NAN,
        .ac1_error = NAN,
        .ac1_interval = btz_stats_absent(BTZ_INTERVAL_NO_DATA),
        .positive = NAN,
        .negative = NAN,
    };
    int rc = btz_stats_check_table(table, &result.items);

    if (rc != BTZ_OK || !btz_stats_is_confidence(confidence)) {
        return BTZ_EINVAL;
    }
    if (result.items > 0) {
        struct btz_count same = {table->both + table->neither, result.items, 0};
        struct shares s = {.n = (double)result.items};

        s.p[0][0] = (double)table->both / s.n;
        s.p[0][1] = (double)table->first_only / s.n;
        s.p[1][0] = (double)table->second_only / s.n;
        s.p[1][1] = (double)table->neither / s.n;
        for (int i = 0; i < 2; i++) {
            s.row[i] = s.p[i][0] + s.p[i][1];
            s.column[i] = s.p[0][i] + s.p[1][i];
        }
        result.observed = btz_count_rate(&same);
        rc = btz_stats_wilson(&same, confidence, &result.observed_interval);
        kappa(&s, confidence, &result);
        ac1(&s, confidence, &result);
        result.positive = specific(table->both, table->first_only + table->second_only);
        result.negative = specific(table->neither, table->first_only + table->second_only);
    }
    if (rc == BTZ_OK) {
        *out = result;
    }
    return rc;
}

int btz_stats_fleiss_kappa(const int64_t *counts, size_t items, size_t categories, double *out)
{
    double share[BTZ_FLEISS_CATEGORIES_MAX] = {0};
    int64_t raters = 0;
    double agreed = 0;
    double chance = 0;

    if (categories > BTZ_FLEISS_CATEGORIES_MAX || items > BTZ_STATS_COUNT_MAX) {
        return BTZ_ELIMIT;
    }
    for (size_t i = 0; i < items; i++) {
        int64_t sum = 0;

        for (size_t j = 0; j < categories; j++) {
            int64_t count = counts[i * categories + j];

            if (count < 0) {
                return BTZ_EINVAL;
            }
            if (count > BTZ_STATS_COUNT_MAX - sum) {
                return BTZ_ELIMIT;
            }
            sum += count;
            share[j] += (double)count;
            agreed += (double)count * (double)(count - 1);
        }
        raters = i == 0 ? sum : raters;
        if (sum != raters || sum < 2) {
            return BTZ_EINVAL;
        }
    }
    if (items && raters > BTZ_STATS_COUNT_MAX / (int64_t)items) {
        return BTZ_ELIMIT;
    }
    agreed /= (double)items * (double)raters * (double)(raters - 1);
    for (size_t j = 0; j < categories; j++) {
        double p = share[j] / ((double)items * (double)raters);

        chance += p * p;
    }
    *out = items && 1 - chance > 1e-12 ? (agreed - chance) / (1 - chance) : NAN;
    return BTZ_OK;
}
