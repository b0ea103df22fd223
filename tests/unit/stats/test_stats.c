/* Values in these tests come from published tables, from formulas worked by hand, or (where the
 * comment says "40 digits") from an independent computation in 40-digit arithmetic that integrates
 * the density and inverts it by bisection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>

#include "stats/dist.h"
#include "stats/mean.h"

/* Relative closeness; prints both on failure. */
static void close_to(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance * fmax(fabs(want), DBL_MIN))) {
        fail_msg("got %.17g, want %.17g (relative tolerance %g)", got, want, tolerance);
    }
}

static void within(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance)) {
        fail_msg("got %.17g, want %.17g (tolerance %g)", got, want, tolerance);
    }
}

static void normal_quantile_matches_published_values(void **state)
{
    (void)state;
    /* Check values printed with algorithm AS 241, Wichura (1988), Applied Statistics 37, 477. */
    close_to(btz_stats_normal_quantile(0.25), -0.6744897501960817, 1e-15);
    close_to(btz_stats_normal_quantile(0.001), -3.090232306167814, 1e-15);
    close_to(btz_stats_normal_quantile(1e-20), -9.262340089798408, 1e-15);
    /* Last row of table 12, Biometrika Tables for Statisticians (1966): t with infinite df. */
    within(btz_stats_normal_quantile(0.9), 1.282, 0.0005);
    within(btz_stats_normal_quantile(0.95), 1.645, 0.0005);
    within(btz_stats_normal_quantile(0.975), 1.960, 0.0005);
    within(btz_stats_normal_quantile(0.99), 2.326, 0.0005);
    within(btz_stats_normal_quantile(0.995), 2.576, 0.0005);
    /* 40 digits. */
    close_to(btz_stats_normal_quantile(0.975), 1.9599639845400542, 1e-15);
    close_to(btz_stats_normal_quantile(1e-300), -37.047096299361199, 1e-13);
}

static void normal_quantile_is_odd_and_defined_on_the_unit_interval(void **state)
{
    (void)state;
    assert_true(btz_stats_normal_quantile(0.5) == 0);
    for (int i = 1; i < 64; i++) { /* 1 - i/128 is exact */
        double p = i / 128.0;

        assert_true(btz_stats_normal_quantile(p) == -btz_stats_normal_quantile(1 - p));
        within(0.5 * erfc(-btz_stats_normal_quantile(p) * M_SQRT1_2), p, 2e-16);
    }
    assert_true(btz_stats_normal_quantile(0) == -INFINITY);
    assert_true(btz_stats_normal_quantile(1) == INFINITY);
    assert_true(isnan(btz_stats_normal_quantile(-0.1)));
    assert_true(isnan(btz_stats_normal_quantile(1.1)));
    assert_true(isnan(btz_stats_normal_quantile(NAN)));
}

static void beta_cdf_matches_closed_forms(void **state)
{
    (void)state;
    for (int i = 1; i < 50; i++) {
        double x = i / 50.0;

        /* I_x(1, b) = 1 - (1 - x)^b, I_x(a, 1) = x^a. */
        close_to(btz_stats_beta_cdf(x, 1, 7.5), -expm1(7.5 * log1p(-x)), 1e-13);
        close_to(btz_stats_beta_cdf(x, 0.3, 1), pow(x, 0.3), 1e-13);
        /* I_x(2, 3) = 6x^2 - 8x^3 + 3x^4, by integrating 12 x (1 - x)^2. */
        close_to(btz_stats_beta_cdf(x, 2, 3), x * x * (6 - 8 * x + 3 * x * x), 1e-13);
        /* I_x(1/2, 1/2) = (2 / pi) asin(sqrt(x)), the arcsine law. */
        close_to(btz_stats_beta_cdf(x, 0.5, 0.5), M_2_PI * asin(sqrt(x)), 1e-13);
    }
    /* I_{1/2}(a, a) = 1/2 by symmetry. */
    close_to(btz_stats_beta_cdf(0.5, 0.01, 0.01), 0.5, 1e-12);
    close_to(btz_stats_beta_cdf(0.5, 1000, 1000), 0.5, 1e-12);
    close_to(btz_stats_beta_cdf(0.5, 1e7, 1e7), 0.5, 1e-9);
    /* Binomial tail: I_{0.3}(3, 8) = P(X >= 3), X ~ Bin(10, 0.3)
     * = 1 - 0.7^10 - 10 * 0.3 * 0.7^9 - 45 * 0.09 * 0.7^8. */
    close_to(btz_stats_beta_cdf(0.3, 3, 8), 1 - pow(0.7, 10) - 3 * pow(0.7, 9) - 4.05 * pow(0.7, 8),
             1e-13);
}

static void beta_cdf_holds_for_large_and_lopsided_shapes(void **state)
{
    (void)state;
    /* 40 digits. */
    close_to(btz_stats_beta_cdf(0.001, 50, 50000), 0.52159639741814344, 1e-10);
    close_to(btz_stats_beta_cdf(0.3, 0.5, 20), 0.99982620216033029, 1e-13);
    close_to(btz_stats_beta_cdf(0.999, 3000, 2), 0.19884957599214518, 1e-11);
    close_to(btz_stats_beta_cdf(0.02, 2000, 100000), 0.81719112802924967, 1e-10);
    close_to(btz_stats_beta_cdf(0.000001, 1, 1000000), 0.63212074276835491, 1e-10);
}

static void beta_functions_refuse_arguments_out_of_range(void **state)
{
    (void)state;
    assert_true(btz_stats_beta_cdf(0, 2, 3) == 0 && btz_stats_beta_cdf(1, 2, 3) == 1);
    assert_true(btz_stats_beta_quantile(0, 2, 3) == 0 && btz_stats_beta_quantile(1, 2, 3) == 1);
    assert_true(isnan(btz_stats_beta_cdf(-0.1, 2, 3)) && isnan(btz_stats_beta_cdf(NAN, 2, 3)));
    assert_true(isnan(btz_stats_beta_cdf(0.5, 0, 3)) && isnan(btz_stats_beta_cdf(0.5, 2, -1)));
    assert_true(isnan(btz_stats_beta_cdf(0.5, BTZ_STATS_SHAPE_MAX * 2, 3)));
    assert_true(isnan(btz_stats_beta_quantile(1.5, 2, 3)));
    assert_true(isnan(btz_stats_beta_quantile(0.5, NAN, 3)));
    assert_true(isnan(btz_stats_beta_quantile(0.5, 2, INFINITY)));
}

static void beta_quantile_matches_closed_forms_and_inverts(void **state)
{
    static const double shapes[] = {0.05, 0.5, 1, 2.5, 30, 1000, 1e6};
    static const double tails[] = {1e-10, 0.005, 0.3, 0.5, 0.9, 0.995};

    (void)state;
    /* I_x(1, b) = p gives x = 1 - (1 - p)^(1/b); the arcsine law gives x = sin(pi p / 2)^2. */
    close_to(btz_stats_beta_quantile(0.025, 1, 20), -expm1(log1p(-0.025) / 20), 1e-14);
    close_to(btz_stats_beta_quantile(0.1, 0.5, 0.5), pow(sin(M_PI_2 * 0.1), 2), 1e-13);
    close_to(btz_stats_beta_quantile(0.001, 0.01, 1), 1e-300, 1e-10); /* x = p^(1/a) */
    for (size_t a = 0; a < sizeof(shapes) / sizeof(*shapes); a++) {
        for (size_t b = 0; b < sizeof(shapes) / sizeof(*shapes); b++) {
            for (size_t i = 0; i < sizeof(tails) / sizeof(*tails); i++) {
                double x = btz_stats_beta_quantile(tails[i], shapes[a], shapes[b]);

                /* Near 1 doubles are too coarse to hit a steep distribution function. */
                if (x < 0.999) {
                    close_to(btz_stats_beta_cdf(x, shapes[a], shapes[b]), tails[i], 1e-9);
                } else {
                    assert_true(x <= 1);
                    assert_true(btz_stats_beta_cdf(x - 1e-15, shapes[a], shapes[b]) <=
                                tails[i] + 1e-9);
                }
            }
        }
    }
}

static void t_quantile_matches_published_table(void **state)
{
    /* Table 12, Biometrika Tables for Statisticians, vol. 1 (1966). */
    static const struct {
        double df, p, t;
    } table[] = {
        {1, 0.9, 3.078},    {1, 0.975, 12.706}, {1, 0.995, 63.657}, {2, 0.95, 2.920},
        {2, 0.975, 4.303},  {3, 0.99, 4.541},   {4, 0.995, 4.604},  {5, 0.975, 2.571},
        {7, 0.95, 1.895},   {10, 0.975, 2.228}, {12, 0.9, 1.356},   {20, 0.995, 2.845},
        {30, 0.975, 2.042}, {40, 0.99, 2.423},  {60, 0.975, 2.000},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        within(btz_stats_t_quantile(table[i].p, table[i].df), table[i].t, 0.0005);
    }
    /* 40 digits. */
    close_to(btz_stats_t_quantile(0.975, 6.37), 2.4128690297615732, 1e-13);
    close_to(btz_stats_t_quantile(0.6, 3), 0.27667066233268991, 1e-13);
    close_to(btz_stats_t_quantile(0.9995, 9), 4.7809125859311391, 1e-12);
}

static void t_quantile_matches_closed_forms_and_limits(void **state)
{
    (void)state;
    for (int i = 1; i < 64; i++) {
        double p = i / 128.0;

        /* df = 1 is the Cauchy distribution; df = 2 has t = (2p - 1) sqrt(2 / (4 p (1 - p))). */
        close_to(btz_stats_t_quantile(p, 1), -1 / tan(M_PI * p), 1e-13);
        close_to(btz_stats_t_quantile(p, 2), (2 * p - 1) / sqrt(2 * p * (1 - p)), 1e-13);
        assert_true(btz_stats_t_quantile(1 - p, 3.5) == -btz_stats_t_quantile(p, 3.5));
    }
    assert_true(btz_stats_t_quantile(0.5, 4) == 0);
    close_to(btz_stats_t_quantile(1e-12, 1), -1 / tan(M_PI * 1e-12), 1e-12);
    /* t - z is about (z^3 + z) / (4 df) (Abramowitz and Stegun 26.7.5): 2.4e-7 here. */
    within(btz_stats_t_quantile(0.975, 1e7), btz_stats_normal_quantile(0.975) + 2.37e-7, 1e-9);
    assert_true(isnan(btz_stats_t_quantile(0.975, 0.5)));
    assert_true(isnan(btz_stats_t_quantile(0.975, NAN)));
    assert_true(isnan(btz_stats_t_quantile(0, 4)) && isnan(btz_stats_t_quantile(1, 4)));
}

/* Table I of Newcombe (1998), Statistics in Medicine 17, 857-872, at 95%: method 3 (score) and
 * method 5 (Clopper-Pearson), four decimals. */
static void proportion_intervals_match_newcombe(void **state)
{
    static const struct {
        int64_t k, n;
        double score_lo, score_hi, exact_lo, exact_hi;
    } table[] = {
        {81, 263, 0.2553, 0.3662, 0.2527, 0.3676},
        {15, 148, 0.0624, 0.1605, 0.0578, 0.1617},
        {0, 20, 0.0000, 0.1611, 0.0000, 0.1684},
        {1, 29, 0.0061, 0.1718, 0.0009, 0.1776},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        /* The same with seven items missing: only n counts. */
        struct btz_count count = {table[i].k, table[i].n + 7, 7};
        struct btz_interval got;

        assert_int_equal(btz_stats_wilson(&count, 0.95, &got), BTZ_OK);
        assert_int_equal(got.status, BTZ_INTERVAL_OK);
        within(got.lo, table[i].score_lo, 0.00005);
        within(got.hi, table[i].score_hi, 0.00005);
        assert_int_equal(btz_stats_clopper_pearson(&count, 0.95, &got), BTZ_OK);
        assert_int_equal(got.status, BTZ_INTERVAL_OK);
        within(got.lo, table[i].exact_lo, 0.00005);
        within(got.hi, table[i].exact_hi, 0.00005);
    }
}

static void proportion_intervals_by_hand(void **state)
{
    struct btz_count all = {5, 5, 0};
    struct btz_count none = {0, 5, 0};
    struct btz_interval got;
    double z = btz_stats_normal_quantile(0.975);

    (void)state;
    /* k = n: the score interval is [n / (n + z^2), 1], the exact one [(alpha/2)^(1/n), 1]. */
    assert_int_equal(btz_stats_wilson(&all, 0.95, &got), BTZ_OK);
    close_to(got.lo, 5 / (5 + z * z), 1e-14);
    assert_true(got.hi == 1);
    assert_int_equal(btz_stats_clopper_pearson(&all, 0.95, &got), BTZ_OK);
    close_to(got.lo, pow(0.025, 0.2), 1e-13);
    assert_true(got.hi == 1);
    /* k = 0 mirrors it. */
    assert_int_equal(btz_stats_wilson(&none, 0.95, &got), BTZ_OK);
    assert_true(got.lo == 0);
    close_to(got.hi, z * z / (5 + z * z), 1e-13);
    assert_int_equal(btz_stats_clopper_pearson(&none, 0.90, &got), BTZ_OK);
    assert_true(got.lo == 0);
    close_to(got.hi, 1 - pow(0.05, 0.2), 1e-13);
    /* Mean 1/2 of n: 1/2 -+ z / (2 sqrt(n + z^2)); the mean need not be a whole number of n. */
    assert_int_equal(btz_stats_wilson_mean(0.5, 5, 0.95, &got), BTZ_OK);
    {
        struct btz_interval more;

        /* A part of a unit counts. */
        assert_int_equal(btz_stats_wilson_mean(0.5, 5.88, 0.95, &more), BTZ_OK);
        assert_true(more.lo > got.lo && more.hi < got.hi);
    }
    close_to(got.lo, 0.5 - z / (2 * sqrt(5 + z * z)), 1e-13);
    close_to(got.hi, 0.5 + z / (2 * sqrt(5 + z * z)), 1e-13);
}

static void proportion_intervals_say_no_data_and_refuse_nonsense(void **state)
{
    struct btz_count lost = {0, 4, 4};
    struct btz_count wrong[] = {{5, 4, 0},  {4, 5, 2},
                                {-1, 4, 0}, {0, -1, 0},
                                {0, 4, -1}, {0, BTZ_STATS_COUNT_MAX + 1, 0},
                                {0, 4, 5},  {0, INT64_MIN, INT64_MAX}};
    struct btz_count good = {2, 4, 1};
    struct btz_interval got = {BTZ_INTERVAL_OK, 7, 7};

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        assert_int_equal(btz_stats_wilson(&wrong[i], 0.95, &got), BTZ_EINVAL);
        assert_int_equal(btz_stats_clopper_pearson(&wrong[i], 0.95, &got), BTZ_EINVAL);
        assert_int_equal(btz_count_bounds(&wrong[i], &got), BTZ_EINVAL);
    }
    assert_int_equal(btz_stats_wilson(&good, 0, &got), BTZ_EINVAL);
    assert_int_equal(btz_stats_wilson(&good, 1, &got), BTZ_EINVAL);
    assert_int_equal(btz_stats_clopper_pearson(&good, NAN, &got), BTZ_EINVAL);
    assert_int_equal(btz_stats_wilson_mean(1.5, 4, 0.95, &got), BTZ_EINVAL);
    assert_int_equal(btz_stats_wilson_mean(NAN, 4, 0.95, &got), BTZ_EINVAL);
    assert_int_equal(btz_stats_wilson_mean(0.5, -4, 0.95, &got), BTZ_EINVAL);
    assert_true(got.lo == 7 && got.hi == 7); /* nothing was written */
    assert_int_equal(btz_stats_wilson(&lost, 0.95, &got), BTZ_OK);
    assert_int_equal(got.status, BTZ_INTERVAL_NO_DATA);
    assert_true(isnan(got.lo) && isnan(got.hi) && isnan(btz_count_rate(&lost)));
    assert_int_equal(btz_stats_clopper_pearson(&lost, 0.95, &got), BTZ_OK);
    assert_int_equal(got.status, BTZ_INTERVAL_NO_DATA);
    assert_string_equal(btz_interval_reason(got.status), "no data");
    assert_string_equal(btz_interval_reason(BTZ_INTERVAL_OK), "");
}

static void bounds_set_missing_to_zero_and_one(void **state)
{
    struct btz_count count = {3, 10, 2};
    struct btz_count lost = {0, 4, 4};
    struct btz_count nothing = {0, 0, 0};
    struct btz_interval got;

    (void)state;
    assert_int_equal(btz_count_n(&count), 8);
    close_to(btz_count_rate(&count), 0.375, 1e-15);
    assert_int_equal(btz_count_bounds(&count, &got), BTZ_OK);
    close_to(got.lo, 0.3, 1e-15);
    close_to(got.hi, 0.5, 1e-15);
    assert_int_equal(btz_count_bounds(&lost, &got), BTZ_OK);
    assert_true(got.lo == 0 && got.hi == 1);
    assert_int_equal(btz_count_bounds(&nothing, &got), BTZ_OK);
    assert_int_equal(got.status, BTZ_INTERVAL_NO_DATA);
}

/* Worked by hand. Attack 7: rates 0, 1/2, 1: mean 1/2, s^2 = 1/4, v = 1/12. Attack 3: 0, 0, 1:
 * mean 1/3, s^2 = 1/3, v = 1/9. Attack 5: 1/2, 1/2: mean 1/2, v = 0.
 * Mean 4/9; variance (1/12 + 1/9) / 9 = 7/324; df = (7/36)^2 / (1/288 + 1/162) = 98/25.
 * t(0.975; 3.92) = 2.798934... and t(0.95; 3.92) = 2.144408... (40 digits). */
static const struct btz_stats_unit by_hand[] = {
    {7, {0, 4, 0}}, {7, {2, 4, 0}}, {7, {4, 4, 0}}, {3, {0, 3, 1}},
    {3, {0, 2, 0}}, {3, {6, 6, 0}}, {5, {1, 2, 0}}, {5, {1, 3, 1}},
};

static void surface_mean_matches_the_hand_worked_example(void **state)
{
    struct btz_stats_mean got;

    (void)state;
    assert_int_equal(btz_stats_surface_mean(by_hand, 8, 0.95, &got), BTZ_OK);
    close_to(got.value, 4.0 / 9, 1e-14);
    assert_int_equal(got.interval.status, BTZ_INTERVAL_OK);
    close_to(got.df, 98.0 / 25, 1e-13);
    close_to(got.interval.lo, 0.033039679724088998, 1e-12);
    close_to(got.interval.hi, 0.85584920916479891, 1e-12);
    assert_int_equal(got.attacks, 3);
    assert_int_equal(got.variants, 8);
    assert_int_equal(got.empty_attacks + got.empty_variants, 0);
    /* Trial-weighted: (0+2+4+0+0+6+1+1) / (28 - 2). */
    assert_int_equal(got.total.k, 14);
    assert_int_equal(btz_count_n(&got.total), 26);
    assert_int_equal(got.total.missing, 2);
    /* Missing as 0: 1/2, 1/3, (1/2 + 1/3) / 2; as 1: 1/2, (1/3 + 0 + 1) / 3, (1/2 + 2/3) / 2. */
    close_to(got.bounds.lo, (1.0 / 2 + 1.0 / 3 + 5.0 / 12) / 3, 1e-14);
    close_to(got.bounds.hi, (1.0 / 2 + 4.0 / 9 + 7.0 / 12) / 3, 1e-14);
    assert_int_equal(btz_stats_surface_mean(by_hand, 8, 0.90, &got), BTZ_OK);
    close_to(got.interval.lo, 0.12924596088714405, 1e-12);
    close_to(got.interval.hi, 0.75964292800174484, 1e-12);
    /* At 99% t * sqrt(7) / 18 > 4/9: the limits are cut. */
    assert_int_equal(btz_stats_surface_mean(by_hand, 8, 0.99, &got), BTZ_OK);
    assert_true(got.interval.lo == 0 && got.interval.hi == 1);
}

static void surface_mean_weighs_attacks_and_variants_equally(void **state)
{
    /* Attack 1 has one busy variant and attack 2 many: neither may pull the mean. */
    static const struct btz_stats_unit units[] = {
        {1, {900, 1000, 0}}, {1, {0, 1, 0}}, {2, {1, 1, 0}}, {2, {1, 1, 0}},
        {2, {1, 1, 0}},      {2, {0, 1, 0}}, {3, {0, 5, 0}}, {3, {1, 5, 0}},
    };
    struct btz_stats_mean got;

    (void)state;
    assert_int_equal(btz_stats_surface_mean(units, 8, 0.95, &got), BTZ_OK);
    close_to(got.value, (0.45 + 0.75 + 0.1) / 3, 1e-14);
    close_to(btz_count_rate(&got.total), 904.0 / 1015, 1e-14);
}

static void surface_mean_says_why_there_is_no_interval(void **state)
{
    static const struct btz_stats_unit single[] = {
        {1, {1, 2, 0}}, {1, {0, 2, 0}}, {2, {1, 2, 0}}, {3, {1, 2, 0}}, {3, {2, 2, 0}}};
    static const struct btz_stats_unit flat[] = {{1, {0, 3, 0}}, {1, {0, 3, 0}}, {2, {1, 3, 0}},
                                                 {2, {2, 6, 0}}, {3, {3, 3, 0}}, {3, {3, 3, 0}}};
    struct btz_stats_mean got;

    (void)state;
    assert_int_equal(btz_stats_surface_mean(by_hand, 6, 0.95, &got), BTZ_OK);
    assert_int_equal(got.interval.status, BTZ_INTERVAL_FEW_ATTACKS);
    close_to(got.value, 5.0 / 12, 1e-14);
    assert_true(isnan(got.interval.lo) && isnan(got.interval.hi) && isnan(got.df));
    assert_int_equal(btz_stats_surface_mean(single, 5, 0.95, &got), BTZ_OK);
    assert_int_equal(got.interval.status, BTZ_INTERVAL_ONE_VARIANT);
    close_to(got.value, (0.25 + 0.5 + 0.75) / 3, 1e-14);
    assert_int_equal(btz_stats_surface_mean(flat, 6, 0.95, &got), BTZ_OK);
    assert_int_equal(got.interval.status, BTZ_INTERVAL_NO_SPREAD);
    close_to(got.value, 4.0 / 9, 1e-14);
    assert_int_equal(btz_stats_surface_mean(NULL, 0, 0.95, &got), BTZ_OK);
    assert_int_equal(got.interval.status, BTZ_INTERVAL_NO_DATA);
    assert_int_equal(got.bounds.status, BTZ_INTERVAL_NO_DATA);
    assert_true(isnan(got.value));
}

static void surface_mean_leaves_out_what_is_missing_and_counts_it(void **state)
{
    struct btz_stats_unit units[12];
    struct btz_stats_mean got;

    (void)state;
    for (size_t i = 0; i < 8; i++) {
        units[i] = by_hand[i];
    }
    units[8] = (struct btz_stats_unit){5, {0, 2, 2}}; /* a variant without data */
    units[9] = (struct btz_stats_unit){9, {0, 3, 3}}; /* an attack without data */
    units[10] = (struct btz_stats_unit){9, {0, 3, 3}};
    units[11] = (struct btz_stats_unit){11, {0, 0, 0}}; /* never planned */
    assert_int_equal(btz_stats_surface_mean(units, 12, 0.95, &got), BTZ_OK);
    close_to(got.value, 4.0 / 9, 1e-14);
    close_to(got.df, 98.0 / 25, 1e-13);
    assert_int_equal(got.attacks, 3);
    assert_int_equal(got.variants, 8);
    assert_int_equal(got.empty_attacks, 1);
    assert_int_equal(got.empty_variants, 3);
    /* Attack 5: (1/2 + 1/3 + 0) / 3 and (1/2 + 2/3 + 1) / 3; attack 9: 0 and 1. */
    close_to(got.bounds.lo, (1.0 / 2 + 1.0 / 3 + 5.0 / 18) / 4, 1e-14);
    close_to(got.bounds.hi, (1.0 / 2 + 4.0 / 9 + 13.0 / 18 + 1) / 4, 1e-14);
}

static void surface_mean_refuses_nonsense(void **state)
{
    static const struct btz_stats_unit split[] = {{1, {0, 1, 0}}, {2, {0, 1, 0}}, {1, {1, 1, 0}}};
    static const struct btz_stats_unit wrong[] = {{1, {2, 1, 0}}};
    static const struct btz_stats_unit huge[] = {{1, {2, BTZ_STATS_COUNT_MAX, 0}}, {2, {0, 1, 0}}};
    struct btz_stats_mean got = {.value = 7};

    (void)state;
    assert_int_equal(btz_stats_surface_mean(split, 3, 0.95, &got), BTZ_EINVAL);
    assert_int_equal(btz_stats_surface_mean(wrong, 1, 0.95, &got), BTZ_EINVAL);
    assert_int_equal(btz_stats_surface_mean(huge, 2, 0.95, &got), BTZ_ELIMIT);
    assert_int_equal(btz_stats_surface_mean(by_hand, 8, 1.0, &got), BTZ_EINVAL);
    assert_true(got.value == 7);
}

/* The examples of Newcombe (1998), Statist. Med. 17, 873-890, table II, method 10. */
static void differences_are_those_of_newcombe(void **state)
{
    static const struct {
        int64_t k1, n1, k2, n2;
        double lo, hi;
    } rows[] = {{56, 70, 48, 80, 0.0524, 0.3339}, {9, 10, 3, 10, 0.1705, 0.8090}};
    const struct btz_count none = {0};
    struct btz_interval got;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct btz_count first = {.k = rows[i].k1, .planned = rows[i].n1};
        const struct btz_count second = {.k = rows[i].k2, .planned = rows[i].n2};

        assert_int_equal(btz_stats_difference(&first, &second, 0.95, &got), BTZ_OK);
        assert_int_equal(got.status, BTZ_INTERVAL_OK);
        assert_true(fabs(got.lo - rows[i].lo) < 0.00005 && fabs(got.hi - rows[i].hi) < 0.00005);
        assert_int_equal(btz_stats_difference(&first, &none, 0.95, &got), BTZ_OK);
        assert_int_equal(got.status, BTZ_INTERVAL_NO_DATA);
        assert_int_equal(btz_stats_difference(&first, &second, 1, &got), BTZ_EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_are_those_of_newcombe),
        cmocka_unit_test(normal_quantile_matches_published_values),
        cmocka_unit_test(normal_quantile_is_odd_and_defined_on_the_unit_interval),
        cmocka_unit_test(beta_cdf_matches_closed_forms),
        cmocka_unit_test(beta_cdf_holds_for_large_and_lopsided_shapes),
        cmocka_unit_test(beta_functions_refuse_arguments_out_of_range),
        cmocka_unit_test(beta_quantile_matches_closed_forms_and_inverts),
        cmocka_unit_test(t_quantile_matches_published_table),
        cmocka_unit_test(t_quantile_matches_closed_forms_and_limits),
        cmocka_unit_test(proportion_intervals_match_newcombe),
        cmocka_unit_test(proportion_intervals_by_hand),
        cmocka_unit_test(proportion_intervals_say_no_data_and_refuse_nonsense),
        cmocka_unit_test(bounds_set_missing_to_zero_and_one),
        cmocka_unit_test(surface_mean_matches_the_hand_worked_example),
        cmocka_unit_test(surface_mean_weighs_attacks_and_variants_equally),
        cmocka_unit_test(surface_mean_says_why_there_is_no_interval),
        cmocka_unit_test(surface_mean_leaves_out_what_is_missing_and_counts_it),
        cmocka_unit_test(surface_mean_refuses_nonsense),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
