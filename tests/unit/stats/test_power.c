/* Power by simulation, against exact sums and the normal approximation. */
#include "check.h"

#include "stats/dist.h"
#include "stats/paired.h"
#include "stats/power.h"

static struct btz_power_plan plan_of(uint32_t attacks, uint32_t variants, uint32_t repetitions,
                                     double rate, double effect)
{
    return (struct btz_power_plan){.attacks = attacks,
                                   .variants = variants,
                                   .repetitions = repetitions,
                                   .rate = rate,
                                   .effect = effect,
                                   .alpha = 0.05,
                                   .studies = 4000,
                                   .seed = 17};
}

static struct btz_power power_of(const struct btz_power_plan *plan)
{
    struct btz_power got;

    assert_int_equal(btz_stats_power(plan, &got), BTZ_OK);
    return got;
}

/* Exact power of McNemar's exact test for `n` pairs with independent verdicts: the sum over the
 * trinomial law of the discordant pairs. `side` 1: significant with more first_only. */
static double mcnemar_power(int n, double first, double second, int side)
{
    double b_share = first * (1 - second);
    double c_share = second * (1 - first);
    double sum = 0;

    for (int b = 0; b <= n; b++) {
        for (int c = 0; b + c <= n; c++) {
            struct btz_paired_table table = {0, b, c, n - b - c};
            struct btz_paired got;

            assert_int_equal(btz_stats_paired(&table, 0.95, &got), BTZ_OK);
            if (got.p_exact <= 0.05 && (b > c) == (side > 0)) {
                sum += btz_stats_binomial_point(b, n, b_share) *
                       btz_stats_binomial_point(c, n - b, c_share / (1 - b_share));
            }
        }
    }
    return sum;
}

/* One repetition, all variants alike: the sign-flip test is McNemar's. */
static void power_matches_the_exact_sum_for_single_trials(void **state)
{
    struct btz_power_plan plan = plan_of(4, 5, 1, 0.2, 0.4);
    struct btz_power got = power_of(&plan);
    double want = mcnemar_power(20, 0.6, 0.2, 1);

    (void)state;
    between(want, 0.3, 0.9);
    within(got.power, want, 4 * sqrt(want * (1 - want) / 4000));
    within(got.wrong, mcnemar_power(20, 0.6, 0.2, -1), 0.002);
    assert_true(got.error.lo <= got.power && got.power <= got.error.hi);
    /* The other way round. */
    plan.rate = 0.6;
    plan.effect = -0.4;
    within(power_of(&plan).power, want, 4 * sqrt(want * (1 - want) / 4000));
    /* No effect: both sides together, under 5%. */
    plan.effect = 0;
    got = power_of(&plan);
    want = 2 * mcnemar_power(20, 0.6, 0.6, 1);
    between(want, 0.01, 0.05);
    within(got.power, want, 4 * sqrt(want * (1 - want) / 4000));
    assert_true(got.wrong == 0);
}

/* Normal approximation. T has the standard error e; sign flips see the mean square of the
 * differences, so that they give T the variance e^2 + effect^2 / units; and T moves in steps of
 * 2 / (units * repetitions), of which between nothing and a whole one is lost. */
static void check_normal(const struct btz_power_plan *plan, double error)
{
    double units = plan->attacks * plan->variants;
    double critical = 1.96 * sqrt(error * error + plan->effect * plan->effect / units);
    double step = 2 / (units * plan->repetitions);
    double got = power_of(plan).power;

    between(got, btz_stats_normal_cdf((plan->effect - critical - step) / error) - 0.02,
            btz_stats_normal_cdf((plan->effect - critical) / error) + 0.02);
}

/* A variant's mean has the variance m (1 - m) (s + (1 - s) / r); with all ranks shared and next to
 * no effect the part of s falls out of the difference. 55 variants are near normal. */
static void power_follows_the_normal_approximation(void **state)
{
    struct btz_power_plan plan = plan_of(11, 5, 3, 0.5, 0.15);
    double share = 0.65 * 0.35 + 0.25; /* sum of both arms' m (1 - m) */

    (void)state;
    plan.spread = 0.4;
    check_normal(&plan, sqrt(share * (0.4 + 0.6 / 3) / 55));
    plan.repetitions = 1;
    check_normal(&plan, sqrt(share / 55));
    plan.repetitions = 10;
    check_normal(&plan, sqrt(share * (0.4 + 0.6 / 10) / 55));
    plan.repetitions = 3;
    plan.pairing = 1;
    plan.effect = 0.1;
    check_normal(&plan, sqrt((0.6 * 0.4 + 0.25) * 0.6 / 3 / 55));
    /* The level; ten repetitions, so that the steps of T cost little of it. */
    plan.effect = 0;
    plan.repetitions = 10;
    between(power_of(&plan).power, 0.036, 0.064); /* -+ 4 standard errors */
}

static void five_variants_have_no_power(void **state)
{
    struct btz_power_plan plan = plan_of(1, 5, 3, 0, 1);
    struct btz_power got = power_of(&plan);

    (void)state;
    assert_true(got.power == 0 && got.wrong == 0 && got.p_least == 0.0625);
    plan.attacks = 2;
    got = power_of(&plan);
    assert_true(got.power == 1 && got.p_least == 1.0 / 512);
    /* Arms that never hit, or always do, never differ. */
    plan.effect = 0;
    assert_true(power_of(&plan).power == 0);
    plan.rate = 1;
    plan.spread = 0.5;
    assert_true(power_of(&plan).power == 0);
}

static void a_seed_fixes_the_result(void **state)
{
    struct btz_power_plan plan = plan_of(3, 4, 2, 0.3, 0.3);
    double first;
    bool moved = false;

    (void)state;
    plan.spread = 0.2;
    plan.pairing = 0.5;
    first = power_of(&plan).power;
    assert_true(power_of(&plan).power == first);
    for (uint64_t seed = 1; seed < 4; seed++) {
        plan.seed = seed;
        moved = moved || power_of(&plan).power != first;
        within(power_of(&plan).power, first, 0.05);
    }
    assert_true(moved);
}

static void the_detectable_effect_is_where_power_turns(void **state)
{
    struct btz_power_plan plan = plan_of(4, 5, 3, 0.3, 0);
    struct btz_power at;
    double effect;

    (void)state;
    plan.spread = 0.2;
    plan.studies = 1000;
    assert_int_equal(btz_stats_power_detectable(&plan, 0.8, &effect, &at), BTZ_OK);
    assert_true(at.power >= 0.8 && at.power < 0.9);
    plan.effect = effect;
    assert_true(power_of(&plan).power == at.power);
    plan.effect = effect - 0.7 / 512; /* two steps of the search below */
    assert_true(power_of(&plan).power < 0.8);
    plan.effect = -0.001;
    assert_int_equal(btz_stats_power_detectable(&plan, 0.8, &effect, NULL), BTZ_OK);
    between(effect, -0.3, -0.1);
    /* A rate of 0.05 cannot fall far enough, and five variants never suffice. */
    plan.rate = 0.05;
    assert_int_equal(btz_stats_power_detectable(&plan, 0.8, &effect, &at), BTZ_OK);
    assert_true(isnan(effect) && at.power < 0.8);
    plan.rate = 0.5;
    plan.attacks = 1;
    assert_int_equal(btz_stats_power_detectable(&plan, 0.8, &effect, &at), BTZ_OK);
    assert_true(isnan(effect) && at.power == 0);
    plan.rate = 1;
    plan.effect = 0;
    assert_int_equal(btz_stats_power_detectable(&plan, 0.8, &effect, &at), BTZ_OK);
    assert_true(isnan(effect));
    assert_int_equal(btz_stats_power_detectable(&plan, 1, &effect, &at), BTZ_EINVAL);
    plan.rate = NAN;
    assert_int_equal(btz_stats_power_detectable(&plan, 0.8, &effect, &at), BTZ_EINVAL);
}

static void power_refuses_nonsense_and_too_much_work(void **state)
{
    struct btz_power got = {.power = 7};
    struct btz_power_plan big = plan_of(200, 5, 1000, 0.5, 0.1);

    (void)state;
    for (int i = 0; i < 16; i++) {
        struct btz_power_plan plan = plan_of(3, 5, 3, 0.3, 0.2);

        plan.attacks = i == 0 ? 0 : i == 1 ? UINT32_MAX : plan.attacks;
        plan.variants = i == 2 ? 0 : i == 1 ? UINT32_MAX : plan.variants;
        plan.repetitions = i == 3 ? 0 : i == 4 ? 1001 : plan.repetitions;
        plan.rate = i == 5 ? NAN : i == 6 ? -0.1 : plan.rate;
        plan.effect = i == 7 ? 0.8 : i == 8 ? -0.4 : i == 9 ? NAN : plan.effect;
        plan.spread = i == 10 ? -0.1 : i == 11 ? 0.96 : plan.spread;
        plan.pairing = i == 12 ? 1.1 : plan.pairing;
        plan.alpha = i == 13 ? 0 : plan.alpha;
        plan.studies = i == 14 ? 99 : i == 15 ? 100001 : plan.studies;
        assert_int_equal(btz_stats_power(&plan, &got), BTZ_EINVAL);
    }
    assert_int_equal(btz_stats_power(&big, &got), BTZ_ELIMIT);
    assert_true(got.power == 7);
    /* The most units there may be, and the widest spread. */
    big.repetitions = 1;
    big.studies = 100;
    big.spread = BTZ_POWER_SPREAD_MAX;
    assert_int_equal(btz_stats_power(&big, &got), BTZ_OK);
    between(got.power, 0.5, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(power_matches_the_exact_sum_for_single_trials),
        cmocka_unit_test(power_follows_the_normal_approximation),
        cmocka_unit_test(five_variants_have_no_power),
        cmocka_unit_test(a_seed_fixes_the_result),
        cmocka_unit_test(the_detectable_effect_is_where_power_turns),
        cmocka_unit_test(power_refuses_nonsense_and_too_much_work),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
