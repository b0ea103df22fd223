/* Paired contrasts by sign flips, and the bootstraps. */
#include "check.h"

#include "base/rng.h"
#include "stats/bootstrap.h"
#include "stats/contrast.h"
#include "stats/paired.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

static struct btz_contrast contrast_of(const struct btz_pair *pairs, size_t count,
                                       const struct btz_contrast_plan *plan)
{
    struct btz_contrast got;

    assert_int_equal(btz_stats_contrast(pairs, count, plan, &got), BTZ_OK);
    return got;
}

/* Darwin's maize: 15 pairs of plants, differences in eighths of an inch. Fisher (1935), The Design
 * of Experiments, section 21: of the 32768 sign patterns, 863 give a sum of 314 or more, so that
 * the two-sided p is 1726 / 32768 = 5.267%. Here the differences are hundredths of a rate. The
 * limits, -1/600 and 41/100, are order statistics of the subset means in exact fractions. */
static void sign_flips_match_fishers_count_for_darwins_maize(void **state)
{
    static const int differences[] = {49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48};
    struct btz_contrast_plan plan = btz_contrast_plan_default();
    struct btz_pair pairs[15] = {{0}};
    struct btz_contrast got;

    (void)state;
    for (size_t i = 0; i < 15; i++) {
        int d = differences[i];

        pairs[i].first = (struct btz_count){d > 0 ? d : 0, 100, 0};
        pairs[i].second = (struct btz_count){d < 0 ? -d : 0, 100, 0};
    }
    got = contrast_of(pairs, 15, &plan);
    close_to(got.estimate, 3.14 / 15, 1e-13);
    assert_true(got.patterns == 32768 && !got.monte_carlo);
    assert_true(got.p_greater == 863.0 / 32768);
    assert_true(got.p_less == 31933.0 / 32768);
    assert_true(got.p_two_sided == 1726.0 / 32768);
    within(got.interval.lo, -1.0 / 600, 1e-12);
    within(got.interval.hi, 0.41, 1e-12);
    assert_true(got.descriptive);
    assert_string_equal(btz_contrast_caution(&got), "descriptive: one attack");
}

/* Three attacks with 3, 2 and 3 variants; p values and limits by enumeration in exact fractions. */
static const struct btz_pair by_hand[] = {
    {7, {3, 4, 0}, {1, 4, 0}}, {7, {2, 4, 0}, {2, 4, 0}}, {7, {1, 4, 0}, {2, 4, 0}},
    {3, {4, 4, 0}, {0, 4, 0}}, {3, {2, 4, 1}, {1, 4, 0}}, {5, {1, 2, 0}, {0, 2, 0}},
    {5, {2, 2, 0}, {1, 2, 0}}, {5, {0, 2, 0}, {0, 1, 0}},
};

static void stratified_contrast_matches_the_hand_worked_example(void **state)
{
    struct btz_contrast_plan plan = btz_contrast_plan_default();
    struct btz_contrast got;

    (void)state;
    plan.margin = 0.1;
    got = contrast_of(by_hand, LENGTH(by_hand), &plan);
    close_to(got.estimate, 3.0 / 8, 1e-13);
    assert_true(got.p_greater == 1.0 / 32 && got.p_less == 63.0 / 64);
    assert_true(got.p_two_sided == 1.0 / 16 && got.p_least == 1.0 / 128);
    assert_int_equal(got.interval.status, BTZ_INTERVAL_OK);
    within(got.interval.lo, 0, 1e-12);
    within(got.interval.hi, 5.0 / 7, 1e-12);
    assert_true(got.attacks == 3 && got.variants == 8 && !got.descriptive);
    /* Shift -1/10: p = 1/64 <= 0.025. Shift -1/4 at an error rate of 1/128. */
    assert_true(got.p_margin == 1.0 / 64);
    assert_int_equal(got.non_inferior, BTZ_MARGIN_SHOWN);
    plan.margin_alpha = 1.0 / 64 - 1e-9;
    got = contrast_of(by_hand, LENGTH(by_hand), &plan);
    assert_int_equal(got.non_inferior, BTZ_MARGIN_NOT_SHOWN);
    plan.margin = 0.25;
    plan.margin_alpha = 1.0 / 128;
    got = contrast_of(by_hand, LENGTH(by_hand), &plan);
    assert_true(got.p_margin == 1.0 / 128);
    assert_int_equal(got.non_inferior, BTZ_MARGIN_SHOWN);
    plan.margin_alpha = 1.0 / 512;
    got = contrast_of(by_hand, LENGTH(by_hand), &plan);
    assert_int_equal(got.non_inferior, BTZ_MARGIN_NOT_POSSIBLE);
    plan.confidence = 0.90;
    got = contrast_of(by_hand, LENGTH(by_hand), &plan);
    within(got.interval.lo, 1.0 / 12, 1e-12);
    within(got.interval.hi, 21.0 / 32, 1e-12);
    /* Exchanging the arms mirrors everything. */
    struct btz_pair turned[LENGTH(by_hand)];
    struct btz_contrast mirror;

    for (size_t i = 0; i < LENGTH(by_hand); i++) {
        turned[i] = (struct btz_pair){by_hand[i].attack, by_hand[i].second, by_hand[i].first};
    }
    mirror = contrast_of(turned, LENGTH(turned), &plan);
    within(mirror.interval.lo, -got.interval.hi, 1e-12);
    within(mirror.interval.hi, -got.interval.lo, 1e-12);
    assert_true(mirror.p_less == got.p_greater && mirror.p_two_sided == got.p_two_sided);
}

/* Yes-or-no differences of equal weight: the sign-flip test is McNemar's exact test. */
static void sign_flips_equal_mcnemar_for_single_trials(void **state)
{
    struct btz_contrast_plan plan = btz_contrast_plan_default();
    struct btz_rng rng = btz_rng_of(7);
    struct btz_pair pairs[18] = {{0}};

    (void)state;
    for (int draw = 0; draw < 30; draw++) {
        struct btz_paired_table table = {0};
        struct btz_paired mcnemar;
        struct btz_contrast got;

        for (size_t i = 0; i < LENGTH(pairs); i++) {
            bool first = btz_rng_unit(&rng) < 0.7;
            bool second = btz_rng_unit(&rng) < 0.4;

            pairs[i] = (struct btz_pair){(uint32_t)i / 6, {first, 1, 0}, {second, 1, 0}};
            table.both += first && second;
            table.first_only += first && !second;
            table.second_only += !first && second;
            table.neither += !first && !second;
        }
        assert_int_equal(btz_stats_paired(&table, 0.95, &mcnemar), BTZ_OK);
        got = contrast_of(pairs, LENGTH(pairs), &plan);
        within(got.p_two_sided, mcnemar.p_exact, 1e-12);
        within(got.estimate, mcnemar.difference, 1e-12);
    }
}

static void five_variants_cannot_reach_five_percent(void **state)
{
    struct btz_contrast_plan plan = btz_contrast_plan_default();
    struct btz_pair pairs[6];
    struct btz_contrast got;

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        pairs[i] = (struct btz_pair){1, {(int64_t)i + 5, 10, 0}, {0, 10, 0}};
    }
    plan.margin = 0.05;
    got = contrast_of(pairs, 5, &plan);
    assert_true(got.p_two_sided == 0.0625 && got.p_least == 0.0625);
    no_interval(got.interval, BTZ_INTERVAL_FEW_VARIANTS);
    assert_int_equal(got.non_inferior, BTZ_MARGIN_NOT_POSSIBLE);
    assert_true(isnan(got.margin_limit));
    /* Six can: the limits are the extreme differences. */
    got = contrast_of(pairs, 6, &plan);
    assert_true(got.p_two_sided == 0.03125);
    within(got.interval.lo, 0.5, 1e-12);
    within(got.interval.hi, 1, 1e-12);
    assert_int_equal(got.non_inferior, BTZ_MARGIN_SHOWN);
    got = contrast_of(pairs, 1, &plan);
    assert_true(got.p_two_sided == 1 && got.p_least == 1 && got.p_greater == 0.5);
}

static void equal_differences_have_a_test_but_no_interval(void **state)
{
    struct btz_contrast_plan plan = btz_contrast_plan_default();
    struct btz_pair pairs[30] = {{0}};
    struct btz_contrast got;

    (void)state;
    for (size_t i = 0; i < 10; i++) {
        pairs[i] = (struct btz_pair){(uint32_t)i / 5, {3, 3, 0}, {3, 3, 0}};
    }
    plan.margin = 0.05;
    got = contrast_of(pairs, 10, &plan);
    assert_true(got.p_two_sided == 1 && got.p_greater == 1 && got.estimate == 0);
    no_interval(got.interval, BTZ_INTERVAL_NO_SPREAD);
    assert_int_equal(got.non_inferior, BTZ_MARGIN_SHOWN);
    assert_true(got.p_margin == 1.0 / 1024);
    /* The same beyond enumeration. */
    for (size_t i = 0; i < 30; i++) {
        pairs[i] = (struct btz_pair){(uint32_t)i / 5, {1, 3, 0}, {1, 3, 0}};
    }
    got = contrast_of(pairs, 30, &plan);
    assert_true(got.monte_carlo && got.p_two_sided == 1);
    no_interval(got.interval, BTZ_INTERVAL_NO_SPREAD);
}

static void contrast_counts_what_is_missing(void **state)
{
    struct btz_contrast_plan plan = btz_contrast_plan_default();
    struct btz_pair pairs[] = {
        {1, {10, 20, 0}, {5, 20, 0}}, {1, {0, 20, 20}, {5, 20, 0}}, /* lost */
        {1, {4, 20, 0}, {0, 0, 0}},                                 /* second not planned */
        {2, {8, 20, 0}, {5, 20, 0}},  {2, {0, 0, 0}, {0, 0, 0}},    /* nowhere planned */
        {3, {0, 20, 20}, {0, 20, 20}}};
    struct btz_contrast got = contrast_of(pairs, LENGTH(pairs), &plan);

    (void)state;
    assert_true(got.attacks == 2 && got.variants == 2);
    assert_true(got.lost_variants == 2 && got.unpaired == 1);
    close_to(got.estimate, (0.25 + 0.15) / 2, 1e-13);
    assert_true(got.first_total.planned == 80 && got.first_total.missing == 40);
    assert_true(got.second_total.planned == 80 && got.second_total.missing == 20);
    /* Attack 1: (0.25 + (0 or 1) - 0.25) / 2; attack 2: 0.15; attack 3: -1 or 1. */
    close_to(got.bounds.lo, ((0.25 - 0.25) / 2 + 0.15 - 1) / 3, 1e-12);
    close_to(got.bounds.hi, ((0.25 + 0.75) / 2 + 0.15 + 1) / 3, 1e-12);
    assert_true(got.many_missing && got.unequal_missing);
    assert_string_equal(btz_contrast_caution(&got), "unreliable: over 5% missing");
}

static void missing_limits_are_exact(void **state)
{
    struct btz_contrast_plan plan = btz_contrast_plan_default();
    struct btz_pair pairs[] = {{1, {1, 100, 5}, {1, 100, 5}}, {2, {2, 100, 5}, {1, 100, 5}}};
    struct btz_contrast got = contrast_of(pairs, 2, &plan);

    (void)state;
    assert_true(!got.many_missing && !got.unequal_missing); /* exactly 5% */
    assert_string_equal(btz_contrast_caution(&got), "");
    pairs[0].first.missing = 6;
    got = contrast_of(pairs, 2, &plan);
    assert_true(got.many_missing && !got.unequal_missing);
    pairs[0].first.missing = 5;
    pairs[1].second.missing = 6;
    got = contrast_of(pairs, 2, &plan);
    assert_true(got.many_missing && !got.unequal_missing);
    pairs[1].second.missing = 5;
    pairs[0].first.missing = 0;
    pairs[0].second.missing = 4;
    got = contrast_of(pairs, 2, &plan); /* 2.5% and 4.5%: exactly 2 points */
    assert_true(!got.many_missing && !got.unequal_missing);
    pairs[0].second.missing = 5;
    got = contrast_of(pairs, 2, &plan);
    assert_true(!got.many_missing && got.unequal_missing);
    assert_string_equal(btz_contrast_caution(&got),
                        "unreliable: missing differs by over 2 points between the arms");
}

static void superiority_opens_the_gate_to_non_inferiority(void **state)
{
    struct btz_contrast_plan plan = btz_contrast_plan_default();
    struct btz_pair attack[6];  /* defended: fewer hits */
    struct btz_pair utility[6]; /* about the same */
    struct btz_contrast rate;
    struct btz_contrast clean;
    struct btz_contrast few;
    enum btz_gate got[2];

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        attack[i] = (struct btz_pair){(uint32_t)i / 2, {(int64_t)i, 10, 0}, {9, 10, 0}};
        utility[i] = (struct btz_pair){(uint32_t)i / 2, {90 + (int64_t)i, 100, 0}, {92, 100, 0}};
    }
    rate = contrast_of(attack, 6, &plan);
    plan.margin = 0.05;
    clean = contrast_of(utility, 6, &plan);
    few = contrast_of(utility, 5, &plan);
    assert_int_equal(clean.non_inferior, BTZ_MARGIN_SHOWN);
    assert_int_equal(btz_contrast_gate(&rate, rate.p_two_sided, 0.05, &clean, 0.025, got), BTZ_OK);
    assert_true(got[0] == BTZ_GATE_PASSED && got[1] == BTZ_GATE_PASSED);
    /* Twice the p value, in a family of two: no claim on the second either. */
    assert_int_equal(btz_contrast_gate(&rate, 2 * rate.p_two_sided, 0.05, &clean, 0.025, got),
                     BTZ_OK);
    assert_true(got[0] == BTZ_GATE_FAILED && got[1] == BTZ_GATE_NOT_TESTED);
    assert_int_equal(btz_contrast_gate(&rate, rate.p_two_sided, 0.05, &few, 0.025, got), BTZ_OK);
    assert_true(got[0] == BTZ_GATE_PASSED && got[1] == BTZ_GATE_NOT_TESTED);
    /* A rate that went up is significant, but no success. */
    rate.estimate = -rate.estimate;
    assert_int_equal(btz_contrast_gate(&rate, rate.p_two_sided, 0.05, &clean, 0.025, got), BTZ_OK);
    assert_true(got[0] == BTZ_GATE_FAILED && got[1] == BTZ_GATE_NOT_TESTED);
    assert_int_equal(btz_contrast_gate(&rate, 1.5, 0.05, &clean, 0.025, got), BTZ_EINVAL);
}

static void contrast_without_data_or_with_nonsense(void **state)
{
    struct btz_contrast_plan plan = btz_contrast_plan_default();
    struct btz_pair lost[] = {{1, {0, 3, 3}, {1, 3, 0}}};
    struct btz_pair split[] = {
        {1, {0, 3, 0}, {1, 3, 0}}, {2, {0, 3, 0}, {1, 3, 0}}, {1, {0, 3, 0}, {1, 3, 0}}};
    struct btz_pair wrong[] = {{1, {4, 3, 0}, {1, 3, 0}}};
    struct btz_pair huge[] = {{1, {4, BTZ_STATS_COUNT_MAX, 0}, {1, 3, 0}},
                              {1, {4, 8, 0}, {1, 3, 0}}};
    struct btz_contrast got = contrast_of(NULL, 0, &plan);

    (void)state;
    no_interval(got.interval, BTZ_INTERVAL_NO_DATA);
    no_interval(got.bounds, BTZ_INTERVAL_NO_DATA);
    assert_true(isnan(got.estimate) && isnan(got.p_two_sided) && isnan(got.p_least));
    assert_int_equal(got.non_inferior, BTZ_MARGIN_NOT_ASKED);
    plan.margin = 0.05;
    got = contrast_of(lost, 1, &plan);
    no_interval(got.interval, BTZ_INTERVAL_NO_DATA);
    assert_int_equal(got.non_inferior, BTZ_MARGIN_NOT_POSSIBLE);
    got.estimate = 7;
    assert_int_equal(btz_stats_contrast(split, 3, &plan, &got), BTZ_EINVAL);
    assert_int_equal(btz_stats_contrast(wrong, 1, &plan, &got), BTZ_EINVAL);
    assert_int_equal(btz_stats_contrast(huge, 2, &plan, &got), BTZ_ELIMIT);
    for (int i = 0; i < 6; i++) {
        plan = btz_contrast_plan_default();
        plan.confidence = i == 0 ? NAN : plan.confidence;
        plan.margin = i == 1 ? -0.1 : i == 2 ? NAN : 0;
        plan.margin_alpha = i == 3 ? 0 : plan.margin_alpha;
        plan.draws = i == 4 ? BTZ_CONTRAST_DRAWS_MIN - 1 : i == 5 ? UINT32_MAX : plan.draws;
        assert_int_equal(btz_stats_contrast(lost, 1, &plan, &got), BTZ_EINVAL);
    }
    assert_true(got.estimate == 7);
}

static void contrast_refuses_too_much_work(void **state)
{
    struct btz_contrast_plan plan = btz_contrast_plan_default();
    size_t count = BTZ_STATS_UNITS_MAX;
    struct btz_pair *pairs = calloc(count + 1, sizeof(*pairs));
    struct btz_contrast got;

    (void)state;
    assert_non_null(pairs);
    for (size_t i = 0; i <= count; i++) {
        pairs[i] = (struct btz_pair){(uint32_t)i, {i % 2, 1, 0}, {i % 3 == 0, 1, 0}};
    }
    assert_int_equal(btz_stats_contrast(pairs, count + 1, &plan, &got), BTZ_ELIMIT);
    assert_int_equal(btz_stats_contrast(pairs, count, &plan, &got), BTZ_ELIMIT);
    plan.draws = BTZ_CONTRAST_DRAWS_MIN;
    assert_int_equal(btz_stats_contrast(pairs, count, &plan, &got), BTZ_OK);
    assert_true(got.p_greater == 0.001); /* 1 / (1 + 999): nothing smaller can be drawn */
    free(pairs);
}

/* Twenty variants are enumerated. With an attack more whose one variant shows no difference the
 * patterns are drawn, while the law of T stays as it is but for a factor of 4/5: so the p values
 * agree within the error of drawing. A seed fixes the draw. */
static void drawn_patterns_agree_with_all_patterns(void **state)
{
    struct btz_contrast_plan plan = btz_contrast_plan_default();
    struct btz_pair pairs[40];
    struct btz_rng rng = btz_rng_of(3);
    struct btz_contrast exact;
    struct btz_contrast drawn;
    struct btz_contrast again;
    double error;

    (void)state;
    for (size_t i = 0; i < 20; i++) {
        pairs[i] = (struct btz_pair){(uint32_t)i / 5,
                                     {2 + (int64_t)btz_rng_below(&rng, 8), 10, 0},
                                     {1 + (int64_t)btz_rng_below(&rng, 8), 10, 0}};
    }
    exact = contrast_of(pairs, 20, &plan);
    assert_true(!exact.monte_carlo && exact.patterns == 1 << 20);
    pairs[20] = (struct btz_pair){9, {5, 10, 0}, {5, 10, 0}};
    drawn = contrast_of(pairs, 21, &plan);
    assert_true(drawn.monte_carlo && drawn.patterns == 65536);
    close_to(drawn.estimate, 0.8 * exact.estimate, 1e-12);
    error = sqrt(exact.p_greater * (1 - exact.p_greater) / 65536);
    within(drawn.p_greater, exact.p_greater, 4 * error + 1.0 / 65536);
    again = contrast_of(pairs, 21, &plan);
    assert_true(again.p_two_sided == drawn.p_two_sided && again.interval.lo == drawn.interval.lo);
    plan.seed = 2;
    again = contrast_of(pairs, 21, &plan);
    assert_true(again.interval.lo != drawn.interval.lo || again.p_greater != drawn.p_greater);
    within(again.interval.lo, drawn.interval.lo, 0.01);
    within(again.interval.hi, drawn.interval.hi, 0.01);
}

/* The interval is the test turned round: just inside both one-sided p pass alpha / 2, just outside
 * one does not. The margin of non-inferiority asks for the p value at any shift. */
static void limits_are_where_the_test_turns(void **state)
{
    struct btz_rng rng = btz_rng_of(11);

    (void)state;
    for (int draw = 0; draw < 20; draw++) {
        struct btz_contrast_plan plan = btz_contrast_plan_default();
        struct btz_pair pairs[11];
        struct btz_contrast got;

        for (size_t i = 0; i < LENGTH(pairs); i++) {
            pairs[i] = (struct btz_pair){(uint32_t)i / 4,
                                         {(int64_t)btz_rng_below(&rng, 5), 7, 0},
                                         {2 + (int64_t)btz_rng_below(&rng, 6), 7, 0}};
        }
        plan.margin = 1;
        got = contrast_of(pairs, LENGTH(pairs), &plan);
        assert_int_equal(got.interval.status, BTZ_INTERVAL_OK);
        assert_true(got.interval.lo <= got.estimate && got.estimate <= got.interval.hi);
        within(got.margin_limit, got.interval.lo, 1e-13);
        if (got.interval.lo >= -1e-9) {
            continue;
        }
        plan.margin = -got.interval.lo - 1e-9; /* inside */
        assert_true(contrast_of(pairs, LENGTH(pairs), &plan).p_margin > 0.025);
        plan.margin = -got.interval.lo + 1e-9; /* outside */
        assert_true(contrast_of(pairs, LENGTH(pairs), &plan).p_margin <= 0.025);
    }
}

/* Three attacks with two variants each: a replicate is the mean of one variant of each, so its
 * eight values are equally likely. The two extremes have 1/8 each and are the 95% limits. */
static const struct btz_stats_unit two_each[] = {{1, {0, 4, 0}}, {1, {1, 4, 0}}, {2, {2, 4, 0}},
                                                 {2, {4, 4, 0}}, {4, {0, 1, 1}}, {3, {1, 4, 0}},
                                                 {3, {4, 4, 0}}};

static void rescaled_bootstrap_by_hand(void **state)
{
    struct btz_bootstrap_plan plan = {0.95, 5, 9999};
    struct btz_bootstrap got;
    struct btz_bootstrap again;

    (void)state;
    assert_int_equal(btz_bootstrap_surface(two_each, LENGTH(two_each), &plan, &got), BTZ_OK);
    close_to(got.value, (0.125 + 0.75 + 0.625) / 3, 1e-13);
    assert_int_equal(got.interval.status, BTZ_INTERVAL_OK);
    close_to(got.interval.lo, (0 + 0.5 + 0.25) / 3, 1e-13);
    close_to(got.interval.hi, (0.25 + 1 + 1) / 3, 1e-13);
    /* sum(s^2 / n) / 9 with s^2 / n = d^2 / 4: exactly the unbiased variance. */
    close_to(got.error, sqrt((0.25 * 0.25 + 0.5 * 0.5 + 0.75 * 0.75) / 4) / 3, 0.02);
    assert_true(got.attacks == 3 && got.variants == 6);
    assert_int_equal(btz_bootstrap_surface(two_each, LENGTH(two_each), &plan, &again), BTZ_OK);
    assert_true(again.error == got.error);
    plan.seed = 6;
    assert_int_equal(btz_bootstrap_surface(two_each, LENGTH(two_each), &plan, &again), BTZ_OK);
    assert_true(again.error != got.error);
    /* At 60% a fifth lies beyond each limit: the second smallest and second largest of eight. */
    plan.confidence = 0.6;
    assert_int_equal(btz_bootstrap_surface(two_each, LENGTH(two_each), &plan, &got), BTZ_OK);
    close_to(got.interval.lo, (0.25 + 0.5 + 0.25) / 3, 1e-13);
    close_to(got.interval.hi, (0 + 1 + 1.0) / 3, 1e-13);
}

static int compare_doubles(const void *left, const void *right)
{
    const double *a = left;
    const double *b = right;

    return (*a > *b) - (*a < *b);
}

/* 999 replicates at 90%: the 50th from either end (1 - 0.9 in binary is under 0.1, which must not
 * make it the 49th). The replicates are drawn again here, with the same random numbers. */
static void bootstrap_limits_are_order_statistics(void **state)
{
    struct btz_bootstrap_plan plan = {0.9, 77, 999};
    struct btz_rng rng = btz_rng_of(77);
    struct btz_stats_unit units[15];
    struct btz_bootstrap got;
    double replicates[999];

    (void)state;
    for (uint32_t i = 0; i < 15; i++) {
        units[i] =
            (struct btz_stats_unit){i / 5, {(7919 * i * i * i + 12347 * i) % 100003, 100003, 0}};
    }
    for (size_t r = 0; r < 999; r++) {
        replicates[r] = 0;
        for (size_t draw = 0; draw < 12; draw++) { /* four of each attack's five */
            size_t i = draw / 4 * 5 + btz_rng_below(&rng, 5);

            replicates[r] += btz_count_rate(&units[i].count) / 12;
        }
    }
    qsort(replicates, 999, sizeof(double), compare_doubles);
    assert_true(replicates[49] - replicates[48] > 1e-9 && replicates[50] - replicates[49] > 1e-9);
    assert_true(replicates[949] - replicates[948] > 1e-9);
    assert_true(replicates[950] - replicates[949] > 1e-9);
    assert_int_equal(btz_bootstrap_surface(units, 15, &plan, &got), BTZ_OK);
    within(got.interval.lo, replicates[49], 1e-12);
    within(got.interval.hi, replicates[949], 1e-12);
}

static void cluster_bootstrap_needs_twenty_clusters(void **state)
{
    struct btz_bootstrap_plan plan = {0.95, 5, 9999};
    struct btz_stats_unit units[41];
    struct btz_bootstrap got;
    size_t count = 0;
    double mean = 0;
    double squares = 0;

    (void)state;
    for (uint32_t c = 0; c < 20; c++) {
        double rate = c / 38.0;

        units[count++] = (struct btz_stats_unit){c, {c, 19, 0}};
        units[count++] = (struct btz_stats_unit){c, {0, 19, 0}};
        mean += rate / 20;
        squares += rate * rate;
    }
    assert_int_equal(btz_bootstrap_clusters(units, count - 2, &plan, &got), BTZ_OK);
    no_interval(got.interval, BTZ_INTERVAL_FEW_CLUSTERS);
    assert_string_equal(btz_interval_reason(got.interval.status), "needs at least 20 clusters");
    assert_true(got.attacks == 19 && isnan(got.error) && got.value > 0);
    assert_int_equal(btz_bootstrap_clusters(units, count, &plan, &got), BTZ_OK);
    assert_int_equal(got.interval.status, BTZ_INTERVAL_OK);
    close_to(got.value, mean, 1e-13);
    close_to(got.error, sqrt((squares - 20 * mean * mean) / 19 / 20), 0.03);
    /* Nearly normal: within a twentieth of value -+ 1.96 errors. */
    close_to(got.interval.lo, mean - 1.96 * got.error, 0.05);
    close_to(got.interval.hi, mean + 1.96 * got.error, 0.05);
    for (size_t i = 0; i < count; i++) {
        units[i].count = (struct btz_count){1 + i % 2, 3, 0};
    }
    assert_int_equal(btz_bootstrap_clusters(units, count, &plan, &got), BTZ_OK);
    no_interval(got.interval, BTZ_INTERVAL_NO_SPREAD);
    assert_int_equal(btz_bootstrap_clusters(NULL, 0, &plan, &got), BTZ_OK);
    no_interval(got.interval, BTZ_INTERVAL_NO_DATA);
    assert_true(isnan(got.value));
}

static void bootstrap_says_what_cannot_be_said(void **state)
{
    struct btz_bootstrap_plan plan = {0.95, 5, 999};
    struct btz_bootstrap_plan wrong[] = {
        {1, 5, 999}, {NAN, 5, 999}, {0.95, 5, 198}, {0.95, 5, UINT32_MAX}, {0.999, 5, 999}};
    struct btz_stats_unit single[] = {{1, {1, 2, 0}}, {2, {1, 2, 0}}, {3, {1, 2, 0}}};
    struct btz_stats_unit flat[] = {{1, {1, 2, 0}}, {1, {1, 2, 0}}, {2, {1, 2, 0}},
                                    {2, {1, 2, 0}}, {3, {1, 2, 0}}, {3, {1, 2, 0}}};
    struct btz_stats_unit lost[] = {{1, {0, 2, 2}}, {2, {0, 2, 2}}};
    struct btz_stats_unit bad[] = {{1, {3, 2, 0}}};
    struct btz_bootstrap got;

    (void)state;
    assert_int_equal(btz_bootstrap_surface(two_each, 4, &plan, &got), BTZ_OK);
    no_interval(got.interval, BTZ_INTERVAL_FEW_ATTACKS);
    assert_int_equal(btz_bootstrap_surface(single, 3, &plan, &got), BTZ_OK);
    no_interval(got.interval, BTZ_INTERVAL_ONE_VARIANT);
    assert_int_equal(btz_bootstrap_surface(flat, 6, &plan, &got), BTZ_OK);
    no_interval(got.interval, BTZ_INTERVAL_NO_SPREAD);
    assert_int_equal(btz_bootstrap_surface(lost, 2, &plan, &got), BTZ_OK);
    no_interval(got.interval, BTZ_INTERVAL_NO_DATA);
    assert_int_equal(btz_bootstrap_clusters(lost, 2, &plan, &got), BTZ_OK);
    no_interval(got.interval, BTZ_INTERVAL_NO_DATA);
    got.value = 7;
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        assert_int_equal(btz_bootstrap_surface(two_each, LENGTH(two_each), &wrong[i], &got),
                         BTZ_EINVAL);
    }
    assert_int_equal(btz_bootstrap_surface(bad, 1, &plan, &got), BTZ_EINVAL);
    assert_int_equal(btz_bootstrap_clusters(bad, 1, &plan, &got), BTZ_EINVAL);
    assert_int_equal(btz_bootstrap_clusters(bad, 1, &wrong[0], &got), BTZ_EINVAL);
    assert_true(got.value == 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sign_flips_match_fishers_count_for_darwins_maize),
        cmocka_unit_test(stratified_contrast_matches_the_hand_worked_example),
        cmocka_unit_test(sign_flips_equal_mcnemar_for_single_trials),
        cmocka_unit_test(five_variants_cannot_reach_five_percent),
        cmocka_unit_test(equal_differences_have_a_test_but_no_interval),
        cmocka_unit_test(contrast_counts_what_is_missing),
        cmocka_unit_test(missing_limits_are_exact),
        cmocka_unit_test(superiority_opens_the_gate_to_non_inferiority),
        cmocka_unit_test(contrast_without_data_or_with_nonsense),
        cmocka_unit_test(contrast_refuses_too_much_work),
        cmocka_unit_test(drawn_patterns_agree_with_all_patterns),
        cmocka_unit_test(limits_are_where_the_test_turns),
        cmocka_unit_test(rescaled_bootstrap_by_hand),
        cmocka_unit_test(bootstrap_limits_are_order_statistics),
        cmocka_unit_test(cluster_bootstrap_needs_twenty_clusters),
        cmocka_unit_test(bootstrap_says_what_cannot_be_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
