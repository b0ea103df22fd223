/* Do the intervals cover as often as they say? Seeds are fixed, so the counts never change; each
 * tolerance is at least four standard errors of the simulated share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>

#include "base/rng.h"
#include "stats/dist.h"
#include "stats/mean.h"

#define N 40

static void between(double got, double lo, double hi, const char *what)
{
    if (!(got >= lo && got <= hi)) {
        fail_msg("%s: coverage %.4f is outside [%.4f, %.4f]", what, got, lo, hi);
    }
}

static double binomial(int n, int k, double p)
{
    return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) +
               (n - k) * log1p(-p));
}

/* Exact coverage at p: the probability of the counts whose interval holds p. */
static double exact_coverage(const struct btz_interval *of_k, double p)
{
    double sum = 0;

    for (int k = 0; k <= N; k++) {
        if (of_k[k].lo <= p && p <= of_k[k].hi) {
            sum += binomial(N, k, p);
        }
    }
    return sum;
}

static int draw_binomial(struct btz_rng *rng, int n, double p)
{
    int k = 0;

    for (int i = 0; i < n; i++) {
        k += btz_rng_unit(rng) < p;
    }
    return k;
}

static void wilson_covers_near_nominal(void **state)
{
    static const double ps[] = {0.1, 0.3, 0.5, 0.85};
    struct btz_interval of_k[N + 1];
    struct btz_rng rng = btz_rng_of(20260101);
    double sum = 0;
    double least = 1;

    (void)state;
    for (int k = 0; k <= N; k++) {
        struct btz_count count = {k, N, 0};

        assert_int_equal(btz_stats_wilson(&count, 0.95, &of_k[k]), BTZ_OK);
    }
    for (size_t i = 0; i < sizeof(ps) / sizeof(*ps); i++) {
        double want = exact_coverage(of_k, ps[i]);
        int hits = 0;

        for (int draw = 0; draw < 10000; draw++) {
            int k = draw_binomial(&rng, N, ps[i]);

            hits += of_k[k].lo <= ps[i] && ps[i] <= of_k[k].hi;
        }
        between(hits / 10000.0, want - 0.01, want + 0.01, "Wilson, simulated against exact");
        between(hits / 10000.0, 0.92, 0.98, "Wilson, simulated");
    }
    for (int i = 10; i <= 190; i++) {
        double coverage = exact_coverage(of_k, i / 200.0);

        sum += coverage;
        least = fmin(least, coverage);
    }
    /* Newcombe (1998) finds a mean of 0.952 for this method over his parameter space. */
    between(sum / 181, 0.945, 0.960, "Wilson, mean over p in [0.05, 0.95]");
    between(least, 0.90, 0.95, "Wilson, least over p in [0.05, 0.95]");
}

static void clopper_pearson_never_covers_less_than_nominal(void **state)
{
    struct btz_interval of_k[N + 1];
    double sum = 0;

    (void)state;
    for (int k = 0; k <= N; k++) {
        struct btz_count count = {k, N, 0};

        assert_int_equal(btz_stats_clopper_pearson(&count, 0.95, &of_k[k]), BTZ_OK);
    }
    for (int i = 1; i < 1000; i++) {
        double coverage = exact_coverage(of_k, i / 1000.0);

        between(coverage, 0.95, 1, "Clopper-Pearson");
        sum += coverage;
    }
    /* ... yet it is not the whole line. */
    between(sum / 999, 0.955, 0.985, "Clopper-Pearson, mean");
}

struct design {
    size_t attacks;
    size_t variants;
    int reps;
    double centre[12]; /* mean propensity of each attack's variants */
    double spread[12]; /* they are uniform in centre -+ spread */
    double rare;       /* above 0: this share of variants has a rate above 0, the others none */
};

/* Draws `draws` studies; returns the share of those t intervals that are given that hold the mean
 * of the centres, and the share that intervals with the normal deviate in the place of t would
 * reach. */
static double simulate(const struct design *design, int draws, uint64_t seed, double *with_z)
{
    struct btz_rng rng = btz_rng_of(seed);
    struct btz_stats_unit units[60];
    double z = btz_stats_normal_quantile(0.975);
    double truth = 0;
    int hits = 0;
    int z_hits = 0;
    int made = 0;

    for (size_t a = 0; a < design->attacks; a++) {
        truth += design->centre[a] / (double)design->attacks;
    }
    for (int draw = 0; draw < draws; draw++) {
        struct btz_stats_mean mean;
        size_t count = 0;
        double error;

        for (size_t a = 0; a < design->attacks; a++) {
            for (size_t v = 0; v < design->variants; v++) {
                double p = design->centre[a] + design->spread[a] * (2 * btz_rng_unit(&rng) - 1);

                if (design->rare > 0) {
                    p = btz_rng_unit(&rng) < design->rare ? p / design->rare : 0;
                }
                units[count++] = (struct btz_stats_unit){
                    (uint32_t)a, {draw_binomial(&rng, design->reps, p), design->reps, 0}};
            }
        }
        assert_int_equal(btz_stats_surface_mean(units, count, 0.95, &mean), BTZ_OK);
        if (mean.interval.status == BTZ_INTERVAL_NO_SPREAD) {
            continue; /* no interval is printed either */
        }
        assert_int_equal(mean.interval.status, BTZ_INTERVAL_OK);
        made++;
        hits += mean.interval.lo <= truth && truth <= mean.interval.hi;
        /* Limits may be cut at 0 or 1, hardly ever both. */
        error = fmax(mean.interval.hi - mean.value, mean.value - mean.interval.lo) /
                btz_stats_t_quantile(0.975, mean.df);
        z_hits += fabs(mean.value - truth) <= z * error;
    }
    assert_true(made > draws * 9 / 10);
    *with_z = z_hits / (double)made;
    return hits / (double)made;
}

/* The largest surface of the suite: 11 attacks, 5 variants, 3 repetitions. */
static void stratified_t_covers_on_a_surface_like_the_suites(void **state)
{
    static const struct design design = {
        .attacks = 11,
        .variants = 5,
        .reps = 3,
        .centre = {0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.5, 0.5, 0.35, 0.65},
        .spread = {0.2, 0.3, 0.3, 0.5, 0.1, 0.3, 0.2, 0.4, 0.0, 0.2, 0.25},
    };
    double with_z;

    (void)state;
    between(simulate(&design, 6000, 11, &with_z), 0.938, 0.962, "t, 11 x 5 x 3");
}

/* Few and unequal strata, many repetitions: here the degrees of freedom matter, and the normal
 * deviate in their place falls well short. */
static void stratified_t_covers_where_degrees_of_freedom_are_few(void **state)
{
    static const struct design design = {
        .attacks = 3,
        .variants = 3,
        .reps = 60,
        .centre = {0.4, 0.5, 0.55},
        .spread = {0.1, 0.25, 0.35},
    };
    double with_z;

    (void)state;
    between(simulate(&design, 6000, 12, &with_z), 0.935, 0.970, "t, 3 x 3 x 60");
    between(with_z, 0.80, 0.915, "normal deviate, 3 x 3 x 60");
}

/* Where a few variants succeed often and the others never, most studies miss those few, and what
 * they do not see makes their intervals short. Printed for docs/user/statistics.md. */
static void stratified_t_is_short_where_few_variants_succeed(void **state)
{
    struct design design = {.attacks = 11, .variants = 5, .reps = 3, .rare = 0.06};
    double with_z;
    double got;

    (void)state;
    for (size_t a = 0; a < design.attacks; a++) {
        design.centre[a] = design.spread[a] = 0.03;
    }
    got = simulate(&design, 6000, 13, &with_z);
    print_message("t, 11 x 5 x 3, 6%% of the variants at rates of 0 to 1: coverage %.3f\n", got);
    between(got, 0.80, 0.93, "t, 11 x 5 x 3, few variants");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wilson_covers_near_nominal),
        cmocka_unit_test(clopper_pearson_never_covers_less_than_nominal),
        cmocka_unit_test(stratified_t_covers_on_a_surface_like_the_suites),
        cmocka_unit_test(stratified_t_covers_where_degrees_of_freedom_are_few),
        cmocka_unit_test(stratified_t_is_short_where_few_variants_succeed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
