#include "stats/correct.h"

#include "stats/dist.h"
#include "stats/stats_int.h"

static double cut(double share)
{
    return fmin(1, fmax(0, share));
}

/* Interval (16) of Lang and Reiczigel with their equations 6, 7 and 17. */
static struct btz_interval lang_reiczigel(const struct btz_count *judged,
                                          const struct btz_count *hits,
                                          const struct btz_count *rejections, double confidence)
{
    double z = -btz_stats_normal_quantile((1 - confidence) / 2);
    double n = (double)btz_count_n(judged) + z * z;
    double q = ((double)judged->k + z * z / 2) / n;
    double n_se = (double)btz_count_n(hits) + 2;
    double se = ((double)hits->k + 1) / n_se;
    double n_sp = (double)btz_count_n(rejections) + 2;
    double sp = ((double)rejections->k + 1) / n_sp;
    double gain = se + sp - 1;
    double p = (q + sp - 1) / gain;
    double v_se = se * (1 - se) / n_se;
    double v_sp = sp * (1 - sp) / n_sp;
    double shift = 2 * z * z * (p * v_se - (1 - p) * v_sp);
    double error = sqrt(q * (1 - q) / n + p * p * v_se + (1 - p) * (1 - p) * v_sp) / gain;

    if (!(gain > 0)) {
        return btz_stats_absent(BTZ_INTERVAL_UNINFORMATIVE);
    }
    return (struct btz_interval){BTZ_INTERVAL_OK, cut(p + shift - z * error),
                                 cut(p + shift + z * error)};
}

int btz_correct_rogan_gladen(const struct btz_count *judged, const struct btz_count *hits,
                             const struct btz_count *rejections, double confidence,
                             struct btz_corrected *out)
{
    struct btz_corrected result = {NAN, NAN, btz_stats_absent(BTZ_INTERVAL_NO_DATA)};

    if (btz_count_check(judged) != BTZ_OK || btz_count_check(hits) != BTZ_OK ||
        btz_count_check(rejections) != BTZ_OK || !btz_stats_is_confidence(confidence)) {
        return BTZ_EINVAL;
    }
    if (btz_count_n(judged) > 0 && btz_count_n(hits) > 0 && btz_count_n(rejections) > 0) {
        double sp = btz_count_rate(rejections);
        double gain = btz_count_rate(hits) + sp - 1;

        result.interval = gain > 0 ? lang_reiczigel(judged, hits, rejections, confidence)
                                   : btz_stats_absent(BTZ_INTERVAL_UNINFORMATIVE);
        if (result.interval.status == BTZ_INTERVAL_OK) {
            result.raw = (btz_count_rate(judged) + sp - 1) / gain;
            result.rate = cut(result.raw);
        }
    }
    *out = result;
    return BTZ_OK;
}

static int check_strata(const struct btz_label_stratum *strata, size_t count,
                        struct btz_double_sample *out)
{
    if (count > BTZ_STATS_UNITS_MAX) {
        return BTZ_ELIMIT;
    }
    for (size_t i = 0; i < count; i++) {
        const struct btz_label_stratum *s = &strata[i];

        if (s->positive < 0 || s->labelled < s->positive || s->judged < s->labelled) {
            return BTZ_EINVAL;
        }
        if (s->judged > BTZ_STATS_COUNT_MAX - out->judged) {
            return BTZ_ELIMIT;
        }
        out->judged += s->judged;
        out->labelled += s->labelled;
        out->unlabelled_strata += s->judged > 0 && s->labelled == 0;
    }
    return BTZ_OK;
}

/* Sums over strata of the squared distances to the limits below (0) and above (1). */
struct spread {
    double trials[2];
    double population[2];
    double between; /* of W_h (p_h - p)^2 */
};

static int measure(const struct btz_label_stratum *strata, size_t count, double confidence,
                   const struct btz_double_sample *sample, struct spread *spread)
{
    for (size_t i = 0; i < count; i++) {
        struct btz_count labels = {strata[i].positive, strata[i].labelled, 0};
        double weight = (double)strata[i].judged / (double)sample->judged;
        double open = 1 - (double)strata[i].labelled / (double)strata[i].judged;
        double p = btz_count_rate(&labels);
        struct btz_interval wilson;
        int rc;

        if (strata[i].judged == 0) {
            continue;
        }
        rc = btz_stats_wilson(&labels, confidence, &wilson);
        if (rc != BTZ_OK) {
            return rc;
        }
        for (int side = 0; side < 2; side++) {
            double distance = weight * (side ? wilson.hi - p : p - wilson.lo);

            spread->trials[side] += open * distance * distance;
            spread->population[side] += distance * distance;
        }
        spread->between += weight * (p - sample->rate) * (p - sample->rate);
    }
    return BTZ_OK;
}

int btz_correct_double_sample(const struct btz_label_stratum *strata, size_t count,
                              double confidence, struct btz_double_sample *out)
{
    struct btz_double_sample result = {.rate = NAN};
    struct spread spread = {{0}};
    enum btz_interval_status status = BTZ_INTERVAL_OK;
    double z = -btz_stats_normal_quantile((1 - confidence) / 2);
    double between;
    int rc =
        btz_stats_is_confidence(confidence) ? check_strata(strata, count, &result) : BTZ_EINVAL;

    if (rc != BTZ_OK) {
        return rc;
    }
    if (result.judged == 0 || result.unlabelled_strata) {
        status = result.judged == 0 ? BTZ_INTERVAL_NO_DATA : BTZ_INTERVAL_NO_LABELS;
        result.trials = btz_stats_absent(status);
        result.population = btz_stats_absent(status);
        *out = result;
        return BTZ_OK;
    }
    result.rate = 0;
    for (size_t i = 0; i < count; i++) {
        if (strata[i].judged > 0) {
            result.rate += (double)strata[i].judged / (double)result.judged *
                           (double)strata[i].positive / (double)strata[i].labelled;
        }
    }
    rc = measure(strata, count, confidence, &result, &spread);
    if (rc != BTZ_OK) {
        return rc;
    }
    between = z * z * spread.between / (double)result.judged;
    result.trials = (struct btz_interval){status, cut(result.rate - sqrt(spread.trials[0])),
                                          cut(result.rate + sqrt(spread.trials[1]))};
    result.population =
        (struct btz_interval){status, cut(result.rate - sqrt(spread.population[0] + between)),
                              cut(result.rate + sqrt(spread.population[1] + between))};
    *out = result;
    return BTZ_OK;
}
