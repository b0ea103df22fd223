/* Differential test: the GNU Scientific Library as a peer. Only this program links it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_statistics.h>
#include <math.h>

#include "base/rng.h"
#include "stats/bootstrap.h"
#include "stats/dist.h"
#include "stats/paired.h"

#define DRAWS 4000

static void close_to(double got, double want, double relative, const char *what, double p, double a,
                     double b)
{
    if (!(fabs(got - want) <= relative * fabs(want) + 1e-290)) {
        fail_msg("%s(%.17g, %.17g, %.17g): got %.17g, GSL says %.17g", what, p, a, b, got, want);
    }
}

/* Log-uniform in [lo, hi]. */
static double spread(struct btz_rng *rng, double lo, double hi)
{
    return lo * exp(btz_rng_unit(rng) * log(hi / lo));
}

static void normal_quantile(void **state)
{
    struct btz_rng rng = btz_rng_of(1);

    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        double p = i % 2 ? spread(&rng, 1e-280, 0.5) : 1 - spread(&rng, 1e-9, 0.5);

        close_to(btz_stats_normal_quantile(p), gsl_cdf_ugaussian_Pinv(p), 1e-12, "normal", p, 0, 0);
    }
}

static void normal_cdf(void **state)
{
    struct btz_rng rng = btz_rng_of(5);

    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        double z = btz_rng_unit(&rng) * 45 - 37;

        close_to(btz_stats_normal_cdf(z), gsl_cdf_ugaussian_P(z), 1e-12, "normal cdf", z, 0, 0);
    }
}

static void binomial(void **state)
{
    struct btz_rng rng = btz_rng_of(6);

    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        unsigned n = (unsigned)spread(&rng, 1, 3000);
        double p = i % 2 ? 0.5 : btz_rng_unit(&rng);
        double centre = floor(n * p);
        unsigned k = (unsigned)fmin(
            n, fmax(0, centre + floor(8 * (btz_rng_unit(&rng) - 0.5) * sqrt(n * p * (1 - p) + 1))));

        /* GSL's own gamma functions lose some digits at n = 3000. */
        close_to(btz_stats_binomial_cdf(k, n, p), gsl_cdf_binomial_P(k, p, n), 1e-9, "binomial cdf",
                 k, n, p);
        close_to(btz_stats_binomial_point(k, n, p), gsl_ran_binomial_pdf(k, p, n), 1e-9,
                 "binomial point", k, n, p);
    }
}

static void mcnemar_and_odds_ratio(void **state)
{
    struct btz_rng rng = btz_rng_of(7);

    (void)state;
    for (int i = 0; i < DRAWS / 4; i++) {
        unsigned b = (unsigned)btz_rng_below(&rng, 40);
        unsigned c = b + 1 + (unsigned)btz_rng_below(&rng, 20);
        struct btz_paired_table table = {5, b, c, 9};
        struct btz_paired got;
        double tail = gsl_cdf_binomial_P(b, 0.5, b + c);
        double hi = gsl_cdf_beta_Qinv(0.025, b + 1, c);

        assert_int_equal(btz_stats_paired(&table, 0.95, &got), BTZ_OK);
        close_to(got.p_exact, fmin(1, 2 * tail), 1e-10, "McNemar", b, c, 0);
        close_to(got.p_mid, 2 * tail - gsl_ran_binomial_pdf(b, 0.5, b + c), 1e-9, "mid-p", b, c, 0);
        if (!isnan(hi)) {
            close_to(got.odds_interval.hi, hi / (1 - hi), 1e-6, "odds ratio", b, c, 0);
        }
    }
}

/* The spread of the rescaled bootstrap against the unbiased variance of a stratified mean. */
static void bootstrap_error(void **state)
{
    struct btz_rng rng = btz_rng_of(8);

    (void)state;
    for (int i = 0; i < 10; i++) {
        struct btz_bootstrap_plan plan = {0.95, (uint64_t)i, 19999};
        struct btz_stats_unit units[24];
        struct btz_bootstrap got;
        double variance = 0;

        for (uint32_t a = 0; a < 4; a++) {
            double rates[6];

            for (uint32_t v = 0; v < 6; v++) {
                int64_t k = (int64_t)btz_rng_below(&rng, 8);

                units[6 * a + v] = (struct btz_stats_unit){a, {k, 7, 0}};
                rates[v] = (double)k / 7;
            }
            variance += gsl_stats_variance(rates, 1, 6) / 6 / 16;
        }
        assert_int_equal(btz_bootstrap_surface(units, 24, &plan, &got), BTZ_OK);
        /* The standard error of a standard deviation of 19999 values is 0.5%. */
        close_to(got.error, sqrt(variance), 0.02, "bootstrap error", i, 0, 0);
    }
}

static void beta_cdf(void **state)
{
    struct btz_rng rng = btz_rng_of(2);
    int compared = 0;

    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        double a = spread(&rng, 0.05, 1e5);
        double b = spread(&rng, 0.05, 1e5);
        double mean = a / (a + b);
        double sd = sqrt(mean * (1 - mean) / (a + b + 1));
        double x = mean + (btz_rng_unit(&rng) * 12 - 6) * sd;
        double want;

        if (!(x > 0 && x < 1)) {
            continue;
        }
        want = gsl_cdf_beta_P(x, a, b);
        close_to(btz_stats_beta_cdf(x, a, b), want, 2e-9, "beta", x, a, b);
        compared++;
    }
    assert_true(compared > DRAWS / 3);
}

static void beta_quantile(void **state)
{
    struct btz_rng rng = btz_rng_of(3);
    int given_up = 0;

    (void)state;
    for (int i = 0; i < DRAWS / 4; i++) {
        /* The shapes of a Clopper-Pearson limit: whole numbers from 1 on. */
        double a = floor(spread(&rng, 1, 3000));
        double b = floor(spread(&rng, 1, 3000));
        double p = i % 2 ? 0.025 : btz_rng_unit(&rng) * 0.98 + 0.01;
        double x = btz_stats_beta_quantile(p, a, b);
        double want = gsl_cdf_beta_Pinv(p, a, b);

        close_to(gsl_cdf_beta_P(x, a, b), p, 1e-9, "beta of its inverse", p, a, b);
        if (isnan(want)) { /* GSL's own inverse does not converge everywhere */
            given_up++;
            continue;
        }
        close_to(x, want, 1e-7, "beta inverse", p, a, b);
    }
    assert_true(given_up < DRAWS / 40);
}

static void t_quantile(void **state)
{
    struct btz_rng rng = btz_rng_of(4);

    (void)state;
    for (int i = 0; i < DRAWS / 4; i++) {
        double df = spread(&rng, 1, 1000);
        double p = i % 2 ? 0.975 : btz_rng_unit(&rng) * 0.998 + 0.001;

        close_to(btz_stats_t_quantile(p, df), gsl_cdf_tdist_Pinv(p, df), 1e-7, "t", p, df, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal_quantile), cmocka_unit_test(normal_cdf),
        cmocka_unit_test(binomial),        cmocka_unit_test(mcnemar_and_odds_ratio),
        cmocka_unit_test(bootstrap_error), cmocka_unit_test(beta_cdf),
        cmocka_unit_test(beta_quantile),   cmocka_unit_test(t_quantile),
    };

    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
