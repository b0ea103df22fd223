/* Do the tests hold their level and the intervals their coverage? Seeds are fixed, so the counts
 * never change; tolerances are at least four standard errors of a simulated share. Where the law is
 * small enough it is summed instead of simulated. */
#include "check.h"

#include "base/rng.h"
#include "stats/agreement.h"
#include "stats/bootstrap.h"
#include "stats/contrast.h"
#include "stats/correct.h"
#include "stats/dist.h"
#include "stats/family.h"
#include "stats/goal.h"
#include "stats/power.h"
#include "stats/rank.h"

static int64_t draw_binomial(struct btz_rng *rng, int64_t n, double p)
{
    int64_t k = 0;

    for (int64_t i = 0; i < n; i++) {
        k += btz_rng_unit(rng) < p;
    }
    return k;
}

static bool holds(const struct btz_interval *interval, double truth)
{
    return interval->status == BTZ_INTERVAL_OK && interval->lo <= truth + 1e-12 &&
           truth - 1e-12 <= interval->hi;
}

#define PAIRS 24

/* Sums over all tables of PAIRS pairs with the given cell shares. */
static void mcnemar_levels(double discordant, double *exact, double *middle)
{
    *exact = 0;
    *middle = 0;
    for (int n = 0; n <= PAIRS; n++) {
        for (int b = 0; b <= n; b++) {
            struct btz_paired_table table = {PAIRS - n, b, n - b, 0};
            struct btz_paired got;
            double share = btz_stats_binomial_point(n, PAIRS, discordant) *
                           btz_stats_binomial_point(b, n, 0.5);

            assert_int_equal(btz_stats_paired(&table, 0.95, &got), BTZ_OK);
            *exact += got.p_exact <= 0.05 ? share : 0;
            *middle += got.p_mid <= 0.05 ? share : 0;
        }
    }
}

static void mcnemar_holds_its_level(void **state)
{
    double highest = 0;

    (void)state;
    for (int i = 1; i < 20; i++) {
        double exact;
        double middle;

        mcnemar_levels(i / 20.0, &exact, &middle);
        between(exact, 0, 0.05);
        /* Fagerland, Lydersen and Laake (2013): mid-p never violates it in their 9595 settings. */
        between(middle, exact, 0.05);
        highest = fmax(highest, middle);
    }
    between(highest, 0.04, 0.05); /* ... and comes near it, where the exact test does not */
}

/* Exact coverage of the hybrid score interval for four cell shares. */
static double newcombe_coverage(double a, double b, double c)
{
    double sum = 0;

    for (int i = 0; i <= PAIRS; i++) {
        for (int j = 0; i + j <= PAIRS; j++) {
            for (int k = 0; i + j + k <= PAIRS; k++) {
                struct btz_paired_table table = {i, j, k, PAIRS - i - j - k};
                struct btz_paired got;

                assert_int_equal(btz_stats_paired(&table, 0.95, &got), BTZ_OK);
                if (holds(&got.interval, b - c)) {
                    sum += btz_stats_binomial_point(i, PAIRS, a) *
                           btz_stats_binomial_point(j, PAIRS - i, b / (1 - a)) *
                           btz_stats_binomial_point(k, PAIRS - i - j, c / (1 - a - b));
                }
            }
        }
    }
    return sum;
}

static void newcombe_covers_near_nominal(void **state)
{
    static const double shares[][3] = {
        {0.4, 0.1, 0.1}, {0.5, 0.3, 0.05}, {0.25, 0.25, 0.25}, {0.1, 0.05, 0.4}, {0.05, 0.6, 0.3}};
    double sum = 0;

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        double coverage = newcombe_coverage(shares[i][0], shares[i][1], shares[i][2]);

        between(coverage, 0.925, 0.985);
        sum += coverage / 5;
    }
    /* Newcombe (1998) finds a mean of 0.949 for method 10. */
    between(sum, 0.94, 0.965);
}

static void odds_ratio_covers_at_least_nominally(void **state)
{
    (void)state;
    for (int i = 1; i < 20; i++) {
        double share = i / 20.0;
        double coverage = 0;

        for (int b = 0; b <= PAIRS; b++) {
            struct btz_paired_table table = {0, b, PAIRS - b, 3};
            struct btz_paired got;

            assert_int_equal(btz_stats_paired(&table, 0.95, &got), BTZ_OK);
            if (holds(&got.odds_interval, share / (1 - share))) {
                coverage += btz_stats_binomial_point(b, PAIRS, share);
            }
        }
        between(coverage, 0.95, 1);
    }
}

/* A study of two arms. A variant's propensity is uniform in 0.5 -+ 0.3 in the second arm, and
 * higher by its attack's effect in the first. */
static size_t draw_study(struct btz_rng *rng, size_t attacks, size_t variants, int64_t repetitions,
                         const double *effects, struct btz_pair *pairs)
{
    for (size_t i = 0; i < attacks * variants; i++) {
        double p = 0.2 + 0.6 * btz_rng_unit(rng);
        double q = p + effects[i / variants];

        pairs[i] = (struct btz_pair){(uint32_t)(i / variants),
                                     {draw_binomial(rng, repetitions, q), repetitions, 0},
                                     {draw_binomial(rng, repetitions, p), repetitions, 0}};
    }
    return attacks * variants;
}

struct shares {
    double rejected;
    double covered;
    double greater; /* p_greater <= 0.025 */
    double margin;  /* shown non-inferior by 0.15 */
};

static struct shares simulate(size_t attacks, size_t variants, const double *effects, int draws,
                              uint32_t patterns, uint64_t seed)
{
    struct btz_contrast_plan plan = btz_contrast_plan_default();
    struct btz_rng rng = btz_rng_of(seed);
    struct shares sum = {0};
    struct btz_pair pairs[64];
    double truth = 0;

    plan.draws = patterns;
    plan.margin = 0.15;
    for (size_t i = 0; i < attacks; i++) {
        truth += effects[i] / (double)attacks;
    }
    for (int draw = 0; draw < draws; draw++) {
        struct btz_contrast got;
        size_t count = draw_study(&rng, attacks, variants, 3, effects, pairs);

        plan.seed = (uint64_t)draw + 1;
        assert_int_equal(btz_stats_contrast(pairs, count, &plan, &got), BTZ_OK);
        sum.rejected += got.p_two_sided <= 0.05;
        sum.greater += got.p_greater <= 0.025;
        sum.covered += holds(&got.interval, truth);
        sum.margin += got.non_inferior == BTZ_MARGIN_SHOWN;
    }
    sum.rejected /= draws;
    sum.greater /= draws;
    sum.covered /= draws;
    sum.margin /= draws;
    return sum;
}

static void sign_flips_hold_level_and_coverage(void **state)
{
    static const double none[3] = {0};
    static const double worse[3] = {-0.15, -0.15, -0.15};
    struct shares got = simulate(3, 4, none, 2000, BTZ_CONTRAST_DRAWS_MIN, 21);

    (void)state;
    /* Exactly at most 5% and 2.5%; ties make it less. */
    between(got.rejected, 0.02, 0.07);
    between(got.greater, 0.008, 0.039);
    between(got.covered, 0.93, 0.99);
    /* At the margin itself non-inferiority is claimed in at most 2.5%. */
    got = simulate(3, 4, worse, 2000, BTZ_CONTRAST_DRAWS_MIN, 22);
    between(got.margin, 0.005, 0.039);
    between(got.covered, 0.93, 0.99);
    between(got.rejected, 0.1, 1);
}

static void drawn_sign_flips_hold_level_and_coverage(void **state)
{
    static const double none[11] = {0};
    static const double unequal[11] = {0.15, -0.1, 0.1, 0, 0.2, -0.2, 0.05, 0.1, 0.0, 0.15, -0.05};
    struct shares got = simulate(11, 5, none, 1000, 999, 23);

    (void)state;
    between(got.rejected, 0.022, 0.078);
    between(got.covered, 0.922, 0.98);
    /* Attacks with effects of their own: wider, so it covers more. */
    got = simulate(11, 5, unequal, 1000, 999, 24);
    between(got.covered, 0.94, 1);
}

/* The simulated studies of power.h against the test itself: same rates, same test. */
static void power_agrees_with_simulated_contrasts(void **state)
{
    struct btz_power_plan plan = {.attacks = 3,
                                  .variants = 4,
                                  .repetitions = 2,
                                  .rate = 0.3,
                                  .effect = 0.35,
                                  .alpha = 0.05,
                                  .studies = 20000,
                                  .seed = 5};
    struct btz_contrast_plan contrast = btz_contrast_plan_default();
    struct btz_rng rng = btz_rng_of(25);
    struct btz_power power;
    int found = 0;

    (void)state;
    contrast.confidence = 0.5; /* the interval is not wanted */
    for (int draw = 0; draw < 2000; draw++) {
        struct btz_pair pairs[12];
        struct btz_contrast got;

        for (size_t i = 0; i < 12; i++) {
            pairs[i] = (struct btz_pair){(uint32_t)i / 4,
                                         {draw_binomial(&rng, 2, 0.65), 2, 0},
                                         {draw_binomial(&rng, 2, 0.3), 2, 0}};
        }
        assert_int_equal(btz_stats_contrast(pairs, 12, &contrast, &got), BTZ_OK);
        found += got.p_two_sided <= 0.05 && got.estimate > 0;
    }
    assert_int_equal(btz_stats_power(&plan, &power), BTZ_OK);
    between(power.power, 0.4, 0.95);
    within(found / 2000.0, power.power, 4 * sqrt(0.25 / 2000 + 0.25 / 20000));
}

static void bootstraps_cover(void **state)
{
    static const double centres[] = {0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.5, 0.5, 0.35, 0.65};
    struct btz_bootstrap_plan plan = {0.95, 1, 999};
    struct btz_rng rng = btz_rng_of(26);
    int stratified = 0;
    int clustered = 0;
    double truth = 0;

    (void)state;
    for (size_t i = 0; i < 11; i++) {
        truth += centres[i] / 11;
    }
    for (int draw = 0; draw < 800; draw++) {
        struct btz_stats_unit units[72];
        struct btz_bootstrap got;

        plan.seed = (uint64_t)draw;
        for (uint32_t i = 0; i < 55; i++) {
            double p = centres[i / 5] + 0.4 * btz_rng_unit(&rng) - 0.2;

            units[i] = (struct btz_stats_unit){i / 5, {draw_binomial(&rng, 3, p), 3, 0}};
        }
        assert_int_equal(btz_bootstrap_surface(units, 55, &plan, &got), BTZ_OK);
        stratified += holds(&got.interval, truth);
        /* 24 clusters whose own rates spread over [0.1, 0.9]. */
        for (uint32_t i = 0; i < 72; i += 3) {
            double p = 0.1 + 0.8 * btz_rng_unit(&rng);

            for (uint32_t j = i; j < i + 3; j++) {
                units[j] = (struct btz_stats_unit){i, {draw_binomial(&rng, 2, p), 2, 0}};
            }
        }
        assert_int_equal(btz_bootstrap_clusters(units, 72, &plan, &got), BTZ_OK);
        clustered += holds(&got.interval, 0.5);
    }
    between(stratified / 800.0, 0.92, 0.975);
    between(clustered / 800.0, 0.91, 0.97);
}

/* Draws a table of `n` items from its cell shares. */
static struct btz_paired_table draw_table(struct btz_rng *rng, int64_t n, const double *shares)
{
    struct btz_paired_table table = {0};

    for (int64_t i = 0; i < n; i++) {
        double u = btz_rng_unit(rng);

        if (u < shares[0]) {
            table.both++;
        } else if (u < shares[0] + shares[1]) {
            table.first_only++;
        } else if (u < shares[0] + shares[1] + shares[2]) {
            table.second_only++;
        } else {
            table.neither++;
        }
    }
    return table;
}

static void agreement_intervals_cover(void **state)
{
    static const double shares[][4] = {{0.3, 0.1, 0.05, 0.55}, {0.45, 0.12, 0.08, 0.35}};
    struct btz_rng rng = btz_rng_of(27);

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const double *s = shares[i];
        double row = s[0] + s[1];
        double column = s[0] + s[2];
        double chance = row * column + (1 - row) * (1 - column);
        double q = (row + column) / 2;
        double kappa = (s[0] + s[3] - chance) / (1 - chance);
        double ac1 = (s[0] + s[3] - 2 * q * (1 - q)) / (1 - 2 * q * (1 - q));
        int hits[2] = {0};

        for (int draw = 0; draw < 4000; draw++) {
            struct btz_paired_table table = draw_table(&rng, 150, s);
            struct btz_agreement got;

            assert_int_equal(btz_stats_agreement(&table, 0.95, &got), BTZ_OK);
            hits[0] += holds(&got.kappa_interval, kappa);
            hits[1] += holds(&got.ac1_interval, ac1);
        }
        between(hits[0] / 4000.0, 0.93, 0.965);
        between(hits[1] / 4000.0, 0.93, 0.965);
    }
}

static void corrected_rates_cover(void **state)
{
    static const double rates[] = {0.05, 0.2, 0.5, 0.9};
    struct btz_rng rng = btz_rng_of(28);

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        double judged = rates[i] * 0.9 + (1 - rates[i]) * 0.15;
        int hits = 0;

        for (int draw = 0; draw < 4000; draw++) {
            struct btz_count yes = {draw_binomial(&rng, 150, judged), 150, 0};
            struct btz_count sensitivity = {draw_binomial(&rng, 40, 0.9), 40, 0};
            struct btz_count specificity = {draw_binomial(&rng, 60, 0.85), 60, 0};
            struct btz_corrected got;

            assert_int_equal(btz_correct_rogan_gladen(&yes, &sensitivity, &specificity, 0.95, &got),
                             BTZ_OK);
            hits += holds(&got.interval, rates[i]);
        }
        between(hits / 4000.0, 0.935, 0.985);
    }
}

/* 300 trials, judged yes or no with mistakes; 30 of each verdict are labelled. */
static void double_sampling_covers(void **state)
{
    struct btz_rng rng = btz_rng_of(29);
    int trials = 0;
    int population = 0;

    (void)state;
    for (int draw = 0; draw < 4000; draw++) {
        struct btz_label_stratum strata[2] = {{0, 0, 0}, {0, 0, 0}};
        int64_t positive[2] = {0, 0};
        struct btz_double_sample got;

        for (int i = 0; i < 300; i++) {
            bool truth = btz_rng_unit(&rng) < 0.3;
            int verdict = btz_rng_unit(&rng) < (truth ? 0.85 : 0.1) ? 0 : 1;

            strata[verdict].judged++;
            positive[verdict] += truth;
        }
        for (int s = 0; s < 2; s++) { /* labels without replacement */
            int64_t left = positive[s];

            for (int64_t open = strata[s].judged; open > 0 && strata[s].labelled < 30; open--) {
                bool hit = (int64_t)btz_rng_below(&rng, (uint64_t)open) < left;

                strata[s].labelled++;
                strata[s].positive += hit;
                left -= hit;
            }
        }
        assert_int_equal(btz_correct_double_sample(strata, 2, 0.95, &got), BTZ_OK);
        trials += holds(&got.trials, (double)(positive[0] + positive[1]) / 300);
        population += holds(&got.population, 0.3);
    }
    between(trials / 4000.0, 0.935, 0.985);
    between(population / 4000.0, 0.935, 0.975);
}

/* Ten true nulls, half of them sharing one cause: any rejection at all in at most 5%. */
static void holm_holds_the_familywise_level(void **state)
{
    struct btz_rng rng = btz_rng_of(30);
    int any = 0;
    int naive = 0;

    (void)state;
    for (int draw = 0; draw < 10000; draw++) {
        double shared = btz_rng_unit(&rng);
        double p[10];
        double adjusted[10];
        bool found = false;
        bool unadjusted = false;

        for (int i = 0; i < 10; i++) {
            p[i] = i < 5 ? shared : btz_rng_unit(&rng);
        }
        assert_int_equal(btz_family_holm(p, 10, adjusted), BTZ_OK);
        for (int i = 0; i < 10; i++) {
            found = found || adjusted[i] <= 0.05;
            unadjusted = unadjusted || p[i] <= 0.05;
        }
        any += found;
        naive += unadjusted;
    }
    /* Six independent causes at 0.005: 1 - 0.995^6 = 0.0296. */
    between(any / 10000.0, 0.0228, 0.0366);
    between(naive / 10000.0, 0.24, 0.29); /* 1 - 0.95^6 */
}

/* The first null is true, the second is true: a claim of either in at most 5%. When the first is
 * false and always found, the second is tested at its full 2.5%. */
static void gates_hold_the_level(void **state)
{
    struct btz_rng rng = btz_rng_of(31);
    int any = 0;
    int second = 0;

    (void)state;
    for (int draw = 0; draw < 10000; draw++) {
        struct btz_gate_step steps[2] = {{btz_rng_unit(&rng), 0.05, true},
                                         {btz_rng_unit(&rng), 0.025, true}};
        enum btz_gate got[2];

        assert_int_equal(btz_family_gate(steps, 2, got), BTZ_OK);
        any += got[0] == BTZ_GATE_PASSED || got[1] == BTZ_GATE_PASSED;
        steps[0].p = 1e-6;
        assert_int_equal(btz_family_gate(steps, 2, got), BTZ_OK);
        second += got[1] == BTZ_GATE_PASSED;
    }
    between(any / 10000.0, 0.041, 0.059);
    between(second / 10000.0, 0.018, 0.032);
}

/* A rate just over the goal is called "met" in at most 5%. */
static void goals_are_seldom_met_by_luck(void **state)
{
    (void)state;
    for (int64_t n = 20; n <= 200; n += 45) {
        double met = 0;
        double lucky = 0; /* the estimate alone meets it */

        for (int64_t k = 0; k <= n; k++) {
            struct btz_count count = {k, n, 0};
            enum btz_goal_state got;
            double share = btz_stats_binomial_point((double)k, (double)n, 0.1);

            assert_int_equal(btz_goal_check_rate(&count, 0.95, BTZ_GOAL_AT_MOST, 0.1, NULL, &got),
                             BTZ_OK);
            met += got == BTZ_GOAL_MET ? share : 0;
            lucky += got == BTZ_GOAL_MET || got == BTZ_GOAL_POINT_ESTIMATE ? share : 0;
        }
        between(met, 0, 0.05);
        between(lucky, 0.45, 0.75);
    }
}

/* Four models over the same 10 variants, the first two equal and best: all rank intervals hold
 * their model's true places at once in at least 95%. */
static void rank_intervals_cover_together(void **state)
{
    static const double rates[4] = {0.2, 0.2, 0.5, 0.9};
    static const struct btz_rank truth[4] = {{1, 2}, {1, 2}, {3, 3}, {4, 4}};
    struct btz_contrast_plan plan = btz_contrast_plan_default();
    struct btz_rng rng = btz_rng_of(32);
    int held = 0;
    int told = 0;

    (void)state;
    for (int draw = 0; draw < 500; draw++) {
        struct btz_count counts[4][10];
        struct btz_rank_pair pairs[6];
        struct btz_rank ranks[4];
        double p[6];
        size_t count = 0;
        bool all = true;

        for (size_t i = 0; i < 40; i++) {
            counts[i / 10][i % 10] =
                (struct btz_count){draw_binomial(&rng, 4, rates[i / 10]), 4, 0};
        }
        for (uint32_t a = 0; a < 4; a++) {
            for (uint32_t b = 0; b < a; b++) {
                struct btz_pair arms[10];
                struct btz_contrast got;

                for (size_t i = 0; i < 10; i++) {
                    arms[i] = (struct btz_pair){(uint32_t)i / 5, counts[a][i], counts[b][i]};
                }
                assert_int_equal(btz_stats_contrast(arms, 10, &plan, &got), BTZ_OK);
                p[count] = got.p_two_sided;
                pairs[count++] = (struct btz_rank_pair){a, b, got.estimate, 0};
            }
        }
        assert_int_equal(btz_family_holm(p, 6, p), BTZ_OK);
        for (size_t i = 0; i < 6; i++) {
            pairs[i].p = p[i];
        }
        assert_int_equal(btz_rank_intervals(pairs, 6, 4, 0.05, false, ranks), BTZ_OK);
        for (size_t i = 0; i < 4; i++) {
            all = all && ranks[i].best <= truth[i].best && truth[i].worst <= ranks[i].worst;
        }
        held += all;
        told += ranks[3].best == 4 && ranks[0].worst <= 2;
    }
    between(held / 500.0, 0.95, 1);
    between(told / 500.0, 0.2, 1); /* ... and they say something */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mcnemar_holds_its_level),
        cmocka_unit_test(newcombe_covers_near_nominal),
        cmocka_unit_test(odds_ratio_covers_at_least_nominally),
        cmocka_unit_test(sign_flips_hold_level_and_coverage),
        cmocka_unit_test(drawn_sign_flips_hold_level_and_coverage),
        cmocka_unit_test(power_agrees_with_simulated_contrasts),
        cmocka_unit_test(bootstraps_cover),
        cmocka_unit_test(agreement_intervals_cover),
        cmocka_unit_test(corrected_rates_cover),
        cmocka_unit_test(double_sampling_covers),
        cmocka_unit_test(holm_holds_the_familywise_level),
        cmocka_unit_test(gates_hold_the_level),
        cmocka_unit_test(goals_are_seldom_met_by_luck),
        cmocka_unit_test(rank_intervals_cover_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
