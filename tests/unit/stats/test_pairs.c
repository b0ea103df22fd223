/* McNemar and its kin, families of tests, goals and ranks. */
#include "check.h"

#include <string.h>

#include "stats/dist.h"
#include "stats/family.h"
#include "stats/goal.h"
#include "stats/paired.h"
#include "stats/rank.h"

static void normal_cdf_matches_published_values(void **state)
{
    (void)state;
    /* Abramowitz and Stegun (1964), table 26.1. */
    within(btz_stats_normal_cdf(1), 0.841344746068543, 1e-15);
    within(btz_stats_normal_cdf(2), 0.977249868051821, 1e-15);
    within(btz_stats_normal_cdf(-3), 1 - 0.998650101968370, 1e-15);
    assert_true(btz_stats_normal_cdf(0) == 0.5);
    assert_true(btz_stats_normal_cdf(-INFINITY) == 0 && btz_stats_normal_cdf(INFINITY) == 1);
    assert_true(isnan(btz_stats_normal_cdf(NAN)));
    for (int i = 1; i < 100; i++) {
        close_to(btz_stats_normal_cdf(btz_stats_normal_quantile(i / 100.0)), i / 100.0, 1e-13);
    }
}

static void binomial_law_matches_sums(void **state)
{
    (void)state;
    /* C(6, k) / 64. */
    static const double half[] = {1, 6, 15, 20, 15, 6, 1};
    double sum = 0;

    for (int k = 0; k <= 6; k++) {
        sum += half[k] / 64;
        close_to(btz_stats_binomial_point(k, 6, 0.5), half[k] / 64, 1e-13);
        close_to(btz_stats_binomial_cdf(k, 6, 0.5), sum, 1e-13);
    }
    close_to(btz_stats_binomial_point(2, 3, 0.2), 3 * 0.04 * 0.8, 1e-13);
    close_to(btz_stats_binomial_cdf(1.7, 3, 0.2), 0.512 + 0.384, 1e-13);
    assert_true(btz_stats_binomial_point(0, 0, 0.3) == 1);
    assert_true(btz_stats_binomial_point(4, 3, 0.3) == 0 &&
                btz_stats_binomial_cdf(-1, 3, 0.3) == 0);
    assert_true(btz_stats_binomial_point(3, 3, 1) == 1 && btz_stats_binomial_point(2, 3, 1) == 0);
    assert_true(btz_stats_binomial_point(0, 3, 0) == 1 && btz_stats_binomial_cdf(3, 3, 0.3) == 1);
    close_to(btz_stats_binomial_point(1000, 1000, 0.5), ldexp(1, -1000), 1e-12);
    assert_true(isnan(btz_stats_binomial_cdf(1, -1, 0.5)) &&
                isnan(btz_stats_binomial_cdf(1, 3, 2)));
    assert_true(isnan(btz_stats_binomial_point(NAN, 3, 0.5)));
    assert_true(isnan(btz_stats_binomial_point(1, 2.5, 0.5)));
}

static struct btz_paired paired_of(int64_t both, int64_t first, int64_t second, int64_t neither)
{
    struct btz_paired_table table = {both, first, second, neither};
    struct btz_paired got;

    assert_int_equal(btz_stats_paired(&table, 0.95, &got), BTZ_OK);
    return got;
}

/* Fagerland, Lydersen and Laake (2013), BMC Med. Res. Methodol. 13:91: their two examples, the
 * tables of Bentur et al. (2009) and Cavo et al. (2012). */
static void mcnemar_matches_published_examples(void **state)
{
    struct btz_paired airway = paired_of(1, 1, 7, 12);
    struct btz_paired response = paired_of(59, 6, 16, 80);

    (void)state;
    within(airway.p_exact, 0.0703, 0.00005);
    within(airway.p_mid, 0.0391, 0.00005);
    within(response.p_exact, 0.0525, 0.00005);
    within(response.p_mid, 0.0347, 0.00005);
    /* By hand: 2 * (1 + 8) / 256, and 8 / 256 less. */
    close_to(airway.p_exact, 18.0 / 256, 1e-13);
    close_to(airway.p_mid, 10.0 / 256, 1e-13);
    /* Equal discordant cells: 1 and 1 - C(4, 2) / 2^5. */
    airway = paired_of(3, 2, 2, 5);
    assert_true(airway.p_exact == 1);
    close_to(airway.p_mid, 1 - 6.0 / 32, 1e-13);
}

/* Newcombe (1998), Statist. Med. 17, 2635-2650, method 10. The second table with its limits stands
 * in the tests of the R package contingencytables; the others were computed apart from this code
 * (the last digits shown agree). */
static void newcombe_method_ten(void **state)
{
    static const struct {
        int64_t a, b, c, d;
        double lo, hi;
    } table[] = {
        {36, 12, 2, 0, 0.05692958400323883, 0.3404276029749406},
        {59, 6, 16, 80, -0.11862119563870996, -0.00462511393305004},
        {1, 1, 7, 12, -0.506920226686141, -0.02555912416485978},
        {30, 12, 2, 10, 0.051405446434525603, 0.3108261237127843},
        {36, 14, 0, 0, 0.15283951785585734, 0.41665123695956563},
        {53, 0, 0, 1, -0.07293814547857698, 0.07293814547857698},
        {97, 2, 1, 0, -0.03698653982171087, 0.06080135071204675},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        struct btz_paired got = paired_of(table[i].a, table[i].b, table[i].c, table[i].d);
        struct btz_paired turned = paired_of(table[i].a, table[i].c, table[i].b, table[i].d);

        assert_int_equal(got.interval.status, BTZ_INTERVAL_OK);
        within(got.interval.lo, table[i].lo, 1e-12);
        within(got.interval.hi, table[i].hi, 1e-12);
        /* Exchanging the verdicts mirrors it. */
        within(turned.interval.lo, -table[i].hi, 1e-12);
        within(turned.interval.hi, -table[i].lo, 1e-12);
        within(turned.difference, -got.difference, 1e-15);
    }
    within(paired_of(59, 6, 16, 80).interval.lo, -0.1186, 0.00005);
    within(paired_of(59, 6, 16, 80).interval.hi, -0.0046, 0.00005);
}

static void conditional_odds_ratio(void **state)
{
    struct btz_paired got = paired_of(7, 25, 2, 68);

    (void)state;
    close_to(got.odds_ratio, 12.5, 1e-15);
    /* Beta quantiles of another library, turned by x / (1 - x). */
    close_to(got.odds_interval.lo, 3.1169485629951406, 1e-10);
    close_to(got.odds_interval.hi, 108.88922905782358, 1e-10);
    got = paired_of(0, 5, 0, 0);
    assert_true(isinf(got.odds_ratio) && isinf(got.odds_interval.hi));
    /* The lower limit of 5 of 5 is (alpha / 2)^(1/5). */
    close_to(got.odds_interval.lo, pow(0.025, 0.2) / (1 - pow(0.025, 0.2)), 1e-12);
    got = paired_of(0, 0, 5, 0);
    assert_true(got.odds_ratio == 0 && got.odds_interval.lo == 0);
}

static void paired_says_what_cannot_be_said(void **state)
{
    struct btz_paired got = paired_of(0, 0, 0, 0);
    struct btz_paired_table wrong[] = {
        {-1, 0, 0, 0}, {0, 0, 0, -1}, {BTZ_STATS_COUNT_MAX, 1, 0, 0}, {INT64_MAX, INT64_MAX, 0, 0}};
    struct btz_paired_table fine = {1, 1, 1, 1};

    (void)state;
    no_interval(got.interval, BTZ_INTERVAL_NO_DATA);
    no_interval(got.odds_interval, BTZ_INTERVAL_NO_DATA);
    assert_true(isnan(got.p_exact) && isnan(got.p_mid) && isnan(got.difference));
    got = paired_of(4, 0, 0, 3);
    no_interval(got.odds_interval, BTZ_INTERVAL_NO_DISCORDANT);
    assert_true(got.p_exact == 1 && got.p_mid == 1 && got.difference == 0 && isnan(got.odds_ratio));
    got.pairs = 7;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        assert_int_equal(btz_stats_paired(&wrong[i], 0.95, &got), BTZ_EINVAL);
    }
    assert_int_equal(btz_stats_paired(&fine, 1, &got), BTZ_EINVAL);
    assert_int_equal(btz_stats_paired(&fine, NAN, &got), BTZ_EINVAL);
    assert_int_equal(got.pairs, 7);
    got = paired_of(BTZ_STATS_COUNT_MAX / 2, BTZ_STATS_COUNT_MAX / 4, BTZ_STATS_COUNT_MAX / 4, 0);
    assert_true(got.p_exact == 1 && got.interval.lo < 0 && got.interval.hi > 0);
}

static void holm_matches_hand_worked_families(void **state)
{
    double p[] = {0.01, 0.04, 0.03, 0.005};
    double ties[] = {0.02, 0.5, 0.02, 0.02};
    double gaps[] = {NAN, 0.01, NAN, 0.6};
    double adjusted[4];

    (void)state;
    /* Sorted 0.005 * 4, 0.01 * 3, 0.03 * 2, then max(0.06, 0.04 * 1). */
    assert_int_equal(btz_family_holm(p, 4, adjusted), BTZ_OK);
    close_to(adjusted[3], 0.02, 1e-14);
    close_to(adjusted[0], 0.03, 1e-14);
    close_to(adjusted[2], 0.06, 1e-14);
    close_to(adjusted[1], 0.06, 1e-14);
    assert_int_equal(btz_family_holm(ties, 4, adjusted), BTZ_OK);
    close_to(adjusted[0], 0.08, 1e-14);
    assert_true(adjusted[2] == adjusted[0] && adjusted[3] == adjusted[0]);
    close_to(adjusted[1], 0.5, 1e-14);
    /* Two of four tests could not be made: still a family of four. */
    assert_int_equal(btz_family_holm(gaps, 4, gaps), BTZ_OK);
    assert_true(isnan(gaps[0]) && isnan(gaps[2]));
    close_to(gaps[1], 0.04, 1e-14);
    assert_true(gaps[3] == 1);
    assert_int_equal(btz_family_holm(NULL, 0, NULL), BTZ_OK);
}

static void holm_refuses_nonsense(void **state)
{
    static double many[BTZ_FAMILY_MAX + 1];
    double p[] = {0.5, 1.5};
    double adjusted[] = {7, 7};

    (void)state;
    assert_int_equal(btz_family_holm(p, 2, adjusted), BTZ_EINVAL);
    p[1] = -0.1;
    assert_int_equal(btz_family_holm(p, 2, adjusted), BTZ_EINVAL);
    assert_true(adjusted[0] == 7 && adjusted[1] == 7);
    assert_int_equal(btz_family_holm(many, BTZ_FAMILY_MAX + 1, many), BTZ_ELIMIT);
    assert_int_equal(btz_family_holm(many, BTZ_FAMILY_MAX, many), BTZ_OK);
}

static void gates_open_in_order(void **state)
{
    static const struct {
        double p[3];
        bool favourable;
        const char *want[3];
    } table[] = {
        {{0.05, 0.025, 0.01}, true, {"passed", "passed", "passed"}},
        {{0.051, 0.001, 0.001}, true, {"failed", "not tested", "not tested"}},
        {{0.001, 0.026, 0.001}, true, {"passed", "failed", "not tested"}},
        {{0.001, 0.001, 0.001}, false, {"failed", "not tested", "not tested"}},
        {{NAN, 0.001, 0.001}, true, {"not tested", "not tested", "not tested"}},
        {{0.001, NAN, 0.001}, true, {"passed", "not tested", "not tested"}},
    };
    enum btz_gate got[3];

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        struct btz_gate_step steps[] = {{table[i].p[0], 0.05, table[i].favourable},
                                        {table[i].p[1], 0.025, true},
                                        {table[i].p[2], 0.025, true}};

        assert_int_equal(btz_family_gate(steps, 3, got), BTZ_OK);
        for (int j = 0; j < 3; j++) {
            assert_string_equal(btz_gate_name(got[j]), table[i].want[j]);
        }
    }
    assert_int_equal(btz_family_gate(&(struct btz_gate_step){2, 0.05, true}, 1, got), BTZ_EINVAL);
    assert_int_equal(btz_family_gate(&(struct btz_gate_step){0, 0, true}, 1, got), BTZ_EINVAL);
}

static const char *goal_of(int64_t k, int64_t n, enum btz_goal_side side, double goal,
                           double *limit)
{
    struct btz_count count = {k, n, 0};
    enum btz_goal_state state;

    assert_int_equal(btz_goal_check_rate(&count, 0.95, side, goal, limit, &state), BTZ_OK);
    return btz_goal_state_name(state);
}

/* No event in n: the one-sided 95% limit is 1 - 0.05^(1/n), about 3 / n ("rule of three", Hanley
 * and Lippman-Hand 1983, JAMA 249, 1743-1745): 0.0295 for n = 100, over 0.1 for n = 28. */
static void goals_are_met_by_the_one_sided_limit_only(void **state)
{
    struct btz_interval none = {BTZ_INTERVAL_NO_SPREAD, NAN, NAN};
    struct btz_interval wide = {BTZ_INTERVAL_OK, 0.2, 0.6};
    enum btz_goal_state got;
    double limit;

    (void)state;
    assert_string_equal(goal_of(0, 100, BTZ_GOAL_AT_MOST, 0.03, &limit), "met");
    close_to(limit, 1 - pow(0.05, 0.01), 1e-12);
    assert_string_equal(goal_of(0, 28, BTZ_GOAL_AT_MOST, 0.1, &limit), "point estimate only");
    assert_string_equal(goal_of(0, 29, BTZ_GOAL_AT_MOST, 0.1, &limit), "met");
    assert_string_equal(goal_of(4, 28, BTZ_GOAL_AT_MOST, 0.1, &limit), "missed");
    assert_string_equal(goal_of(29, 29, BTZ_GOAL_AT_LEAST, 0.9, &limit), "met");
    close_to(limit, pow(0.05, 1.0 / 29), 1e-12);
    assert_string_equal(goal_of(28, 28, BTZ_GOAL_AT_LEAST, 0.9, NULL), "point estimate only");
    assert_string_equal(goal_of(20, 28, BTZ_GOAL_AT_LEAST, 0.9, &limit), "missed");
    assert_string_equal(goal_of(0, 0, BTZ_GOAL_AT_LEAST, 0.9, &limit), "no data");
    assert_true(isnan(limit));
    assert_int_equal(btz_goal_check(0.4, &wide, BTZ_GOAL_AT_MOST, 0.6, &got), BTZ_OK);
    assert_int_equal(got, BTZ_GOAL_MET);
    assert_int_equal(btz_goal_check(0.4, &wide, BTZ_GOAL_AT_LEAST, 0.21, &got), BTZ_OK);
    assert_int_equal(got, BTZ_GOAL_POINT_ESTIMATE);
    assert_int_equal(btz_goal_check(0, &none, BTZ_GOAL_AT_MOST, 0.6, &got), BTZ_OK);
    assert_int_equal(got, BTZ_GOAL_POINT_ESTIMATE);
    none.lo = none.hi = 0; /* whatever stands there, a limit that is not given does not count */
    assert_int_equal(btz_goal_check(0, &none, BTZ_GOAL_AT_MOST, 0.6, &got), BTZ_OK);
    assert_int_equal(got, BTZ_GOAL_POINT_ESTIMATE);
    assert_int_equal(btz_goal_check(NAN, &none, BTZ_GOAL_AT_MOST, 0.6, &got), BTZ_OK);
    assert_int_equal(got, BTZ_GOAL_NO_DATA);
    assert_int_equal(btz_goal_check(0, &none, BTZ_GOAL_AT_MOST, NAN, &got), BTZ_EINVAL);
    assert_int_equal(btz_goal_check(0, &none, (enum btz_goal_side)9, 0, &got), BTZ_EINVAL);
    assert_int_equal(
        btz_goal_check_rate(&(struct btz_count){1, 0, 0}, 0.95, BTZ_GOAL_AT_MOST, 0, NULL, &got),
        BTZ_EINVAL);
    assert_int_equal(
        btz_goal_check_rate(&(struct btz_count){0, 1, 0}, 0.5, BTZ_GOAL_AT_MOST, 0, NULL, &got),
        BTZ_EINVAL);
}

static void ranks_follow_what_was_shown(void **state)
{
    /* Rates fall from 0 to 2; 0 against 1 is not significant, 3 was never compared with 2. */
    struct btz_rank_pair pairs[] = {{0, 1, 0.1, 0.3},
                                    {0, 2, 0.4, 0.001},
                                    {2, 1, -0.3, 0.05},
                                    {3, 0, 0.0, 0.01},
                                    {3, 1, 0.2, NAN}};
    struct btz_rank got[4];

    (void)state;
    assert_int_equal(btz_rank_intervals(pairs, 5, 4, 0.05, false, got), BTZ_OK);
    assert_true(got[2].best == 1 && got[2].worst == 2);
    assert_true(got[0].best == 2 && got[0].worst == 4);
    assert_true(got[1].best == 2 && got[1].worst == 4);
    assert_true(got[3].best == 1 && got[3].worst == 4);
    assert_int_equal(btz_rank_intervals(pairs, 5, 4, 0.05, true, got), BTZ_OK);
    assert_true(got[2].best == 3 && got[2].worst == 4);
    assert_true(got[0].best == 1 && got[0].worst == 3);
    assert_int_equal(btz_rank_intervals(NULL, 0, 1, 0.05, true, got), BTZ_OK);
    assert_true(got[0].best == 1 && got[0].worst == 1);
    assert_int_equal(btz_rank_intervals(NULL, 0, 0, 0.05, true, NULL), BTZ_OK);
}

static void ranks_refuse_nonsense(void **state)
{
    struct btz_rank_pair twice[] = {{0, 1, 0.1, 0.3}, {1, 0, 0.1, 0.3}};
    struct btz_rank_pair wrong[] = {
        {0, 0, 0.1, 0.3}, {0, 2, 0.1, 0.3}, {0, 1, 0.1, 1.3}, {0, 1, NAN, 0.3}, {9, 1, 0.1, 0.3}};
    struct btz_rank got[2] = {{7, 7}, {7, 7}};

    (void)state;
    assert_int_equal(btz_rank_intervals(twice, 2, 2, 0.05, true, got), BTZ_EINVAL);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        assert_int_equal(btz_rank_intervals(&wrong[i], 1, 2, 0.05, true, got), BTZ_EINVAL);
    }
    assert_int_equal(btz_rank_intervals(twice, 1, 2, NAN, true, got), BTZ_EINVAL);
    assert_int_equal(btz_rank_intervals(NULL, 0, BTZ_RANK_MODELS_MAX + 1, 0.05, true, got),
                     BTZ_ELIMIT);
    assert_true(got[0].best == 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal_cdf_matches_published_values),
        cmocka_unit_test(binomial_law_matches_sums),
        cmocka_unit_test(mcnemar_matches_published_examples),
        cmocka_unit_test(newcombe_method_ten),
        cmocka_unit_test(conditional_odds_ratio),
        cmocka_unit_test(paired_says_what_cannot_be_said),
        cmocka_unit_test(holm_matches_hand_worked_families),
        cmocka_unit_test(holm_refuses_nonsense),
        cmocka_unit_test(gates_open_in_order),
        cmocka_unit_test(goals_are_met_by_the_one_sided_limit_only),
        cmocka_unit_test(ranks_follow_what_was_shown),
        cmocka_unit_test(ranks_refuse_nonsense),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
