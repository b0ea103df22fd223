#include "stats/bootstrap.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/rng.h"
#include "stats/stats_int.h"

/* Values to draw from, stratum after stratum. */
struct sample {
    double *value;
    size_t *size; /* of each stratum */
    size_t strata;
    size_t count;
};

static int compare_values(const void *left, const void *right)
{
    const double *a = left;
    const double *b = right;

    return (*a > *b) - (*a < *b);
}

/* The mean over strata of the means of n - 1 values drawn from each. */
static double replicate(const struct sample *sample, struct btz_rng *rng)
{
    const double *value = sample->value;
    double sum = 0;

    for (size_t s = 0; s < sample->strata; s++) {
        size_t n = sample->size[s];
        double part = 0;

        for (size_t i = 0; i + 1 < n; i++) {
            part += value[btz_rng_below(rng, n)];
        }
        sum += part / (double)(n - 1);
        value += n;
    }
    return sum / (double)sample->strata;
}

/* Welford's (1962) running variance. */
static double deviation(const double *values, size_t count)
{
    double mean = 0;
    double squares = 0;

    for (size_t i = 0; i < count; i++) {
        double delta = values[i] - mean;

        mean += delta / (double)(i + 1);
        squares += delta * (values[i] - mean);
    }
    return sqrt(squares / (double)(count - 1));
}

static int run(struct btz_arena *arena, const struct sample *sample,
               const struct btz_bootstrap_plan *plan, struct btz_bootstrap *out)
{
    struct btz_rng rng = btz_rng_of(plan->seed);
    size_t count = plan->replicates;
    /* The relative slack keeps 10000 * 0.025 from becoming 249. */
    double rank = floor((double)(count + 1) * (1 - plan->confidence) / 2 * (1 + 1e-12));
    double *values;

    if (rank < 1) {
        return BTZ_EINVAL;
    }
    if (count > BTZ_BOOTSTRAP_WORK_MAX / sample->count) {
        return BTZ_ELIMIT;
    }
    values = btz_arena_array(arena, count, sizeof(*values));
    for (size_t i = 0; i < count; i++) {
        values[i] = replicate(sample, &rng);
    }
    qsort(values, count, sizeof(*values), compare_values);
    out->error = deviation(values, count);
    out->interval = (struct btz_interval){
        BTZ_INTERVAL_OK,
        fmax(0, values[(size_t)rank - 1]),
        fmin(1, values[count - (size_t)rank]),
    };
    return BTZ_OK;
}

static int check_plan(const struct btz_bootstrap_plan *plan)
{
    if (!btz_stats_is_confidence(plan->confidence) ||
        plan->replicates < BTZ_BOOTSTRAP_REPLICATES_MIN ||
        plan->replicates > BTZ_BOOTSTRAP_REPLICATES_MAX) {
        return BTZ_EINVAL;
    }
    return BTZ_OK;
}

/* Value, counts and reason from the stratified mean; the sample of variant rates by attack. */
static int collect(struct btz_arena *arena, const struct btz_stats_unit *units, size_t count,
                   double confidence, struct sample *sample, struct btz_bootstrap *out,
                   enum btz_interval_status *status)
{
    struct btz_stats_mean mean;
    int rc = btz_stats_surface_mean(units, count, confidence, &mean);
    bool open = false;

    if (rc != BTZ_OK) {
        return rc;
    }
    *out = (struct btz_bootstrap){.value = mean.value,
                                  .error = NAN,
                                  .interval = btz_stats_absent(mean.interval.status),
                                  .attacks = mean.attacks,
                                  .variants = mean.variants};
    *status = mean.interval.status;
    sample->value = btz_arena_array(arena, count + 1, sizeof(double));
    sample->size = btz_arena_array(arena, count + 1, sizeof(size_t));
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && units[i].attack != units[i - 1].attack) {
            open = false;
        }
        if (btz_count_n(&units[i].count) == 0) {
            continue;
        }
        sample->strata += !open;
        open = true;
        sample->size[sample->strata - 1]++;
        sample->value[sample->count++] = btz_count_rate(&units[i].count);
    }
    return BTZ_OK;
}

int btz_bootstrap_surface(const struct btz_stats_unit *units, size_t unit_count,
                          const struct btz_bootstrap_plan *plan, struct btz_bootstrap *out)
{
    struct btz_arena *arena;
    struct sample sample = {0};
    struct btz_bootstrap result;
    enum btz_interval_status status;
    int rc = check_plan(plan);

    if (rc != BTZ_OK) {
        return rc;
    }
    arena = btz_arena_new();
    rc = collect(arena, units, unit_count, plan->confidence, &sample, &result, &status);
    if (rc == BTZ_OK && status == BTZ_INTERVAL_OK) {
        rc = run(arena, &sample, plan, &result);
    }
    btz_arena_free(arena);
    if (rc == BTZ_OK) {
        *out = result;
    }
    return rc;
}

/* Turns the strata into one stratum of their means. */
static void fold(struct sample *sample)
{
    const double *value = sample->value;

    for (size_t s = 0; s < sample->strata; s++) {
        size_t n = sample->size[s];
        double sum = 0;

        for (size_t i = 0; i < n; i++) {
            sum += value[i];
        }
        value += n; /* never behind the mean that is written */
        sample->value[s] = sum / (double)n;
    }
    sample->count = sample->strata;
    sample->size[0] = sample->strata;
    sample->strata = 1;
}

static enum btz_interval_status cluster_status(const struct sample *means)
{
    if (means->count == 0) {
        return BTZ_INTERVAL_NO_DATA;
    }
    if (means->count < BTZ_BOOTSTRAP_MIN_CLUSTERS) {
        return BTZ_INTERVAL_FEW_CLUSTERS;
    }
    for (size_t i = 1; i < means->count; i++) {
        if (fabs(means->value[i] - means->value[0]) > 1e-12) {
            return BTZ_INTERVAL_OK;
        }
    }
    return BTZ_INTERVAL_NO_SPREAD;
}

int btz_bootstrap_clusters(const struct btz_stats_unit *units, size_t unit_count,
                           const struct btz_bootstrap_plan *plan, struct btz_bootstrap *out)
{
    struct btz_arena *arena;
    struct sample sample = {0};
    struct btz_bootstrap result;
    enum btz_interval_status status;
    int rc = check_plan(plan);

    if (rc != BTZ_OK) {
        return rc;
    }
    arena = btz_arena_new();
    rc = collect(arena, units, unit_count, plan->confidence, &sample, &result, &status);
    if (rc == BTZ_OK) {
        fold(&sample);
        status = cluster_status(&sample);
        result.interval = btz_stats_absent(status);
        if (status == BTZ_INTERVAL_OK) {
            rc = run(arena, &sample, plan, &result);
        }
    }
    btz_arena_free(arena);
    if (rc == BTZ_OK) {
        *out = result;
    }
    return rc;
}
