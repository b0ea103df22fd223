/* Agreement of two and more raters; judged rates corrected. */
#include "check.h"

#include "stats/agreement.h"
#include "stats/correct.h"
#include "stats/dist.h"

static struct btz_agreement agreement_of(int64_t both, int64_t first, int64_t second,
                                         int64_t neither)
{
    struct btz_paired_table table = {both, first, second, neither};
    struct btz_agreement got;

    assert_int_equal(btz_stats_agreement(&table, 0.95, &got), BTZ_OK);
    return got;
}

static void kappa_by_hand(void **state)
{
    struct btz_agreement got = agreement_of(20, 5, 10, 15);

    (void)state;
    /* p_o = 35/50, p_e = (25 * 30 + 25 * 20) / 2500 = 1/2, so kappa = 0.4. */
    close_to(got.observed, 0.7, 1e-14);
    close_to(got.kappa, 0.4, 1e-13);
    /* q = 55/100, p_e = 2 * 0.55 * 0.45 = 0.495. */
    close_to(got.ac1, 0.205 / 0.505, 1e-13);
    close_to(got.positive, 40.0 / 55, 1e-14);
    close_to(got.negative, 30.0 / 45, 1e-14);
    close_to(got.kappa_interval.lo, 0.4 - btz_stats_normal_quantile(0.975) * got.kappa_error,
             1e-12);
    close_to(got.ac1_interval.hi, got.ac1 + btz_stats_normal_quantile(0.975) * got.ac1_error,
             1e-12);
}

/* Errors of kappa as the Python package statsmodels 0.15 gives them (std_kappa), of AC1 by the
 * delta method with numerical derivatives. The second table has nearly all yes: kappa falls below
 * 0 there and AC1 does not, which is what Gwet (2008) proposes it for. */
static void agreement_matches_an_independent_computation(void **state)
{
    static const struct {
        int64_t a, b, c, d;
        double kappa, kappa_error, ac1, ac1_error;
    } table[] = {
        {20, 5, 10, 15, 0.4, 0.12699606293110033, 0.40594059405940586, 0.13015171764531241},
        {118, 5, 2, 0, -0.02339181286549608, 0.012286756672845256, 0.9407763376087177,
         0.02296455125028383},
        {80, 10, 20, 40, 0.5714285714285715, 0.06878489610756211, 0.6265560165975105,
         0.06429510572125824},
        {22, 9, 2, 67, 0.7258225324027917, 0.07639792422925316, 0.817047817047817,
         0.05533999071281873},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        struct btz_agreement got = agreement_of(table[i].a, table[i].b, table[i].c, table[i].d);
        struct btz_agreement other = agreement_of(table[i].d, table[i].c, table[i].b, table[i].a);

        close_to(got.kappa, table[i].kappa, 1e-11);
        close_to(got.kappa_error, table[i].kappa_error, 1e-10);
        close_to(got.ac1, table[i].ac1, 1e-12);
        close_to(got.ac1_error, table[i].ac1_error, 1e-7);
        /* Neither coefficient knows which verdict is yes, or who is first. */
        close_to(other.kappa, got.kappa, 1e-11);
        close_to(other.kappa_error, got.kappa_error, 1e-11);
        close_to(other.ac1_error, got.ac1_error, 1e-11);
        if (!isnan(got.positive)) {
            close_to(other.negative, got.positive, 1e-14);
        }
    }
}

static void agreement_says_what_cannot_be_said(void **state)
{
    struct btz_agreement got = agreement_of(0, 0, 0, 0);
    struct btz_paired_table wrong = {1, -1, 0, 0};
    struct btz_paired_table fine = {1, 1, 0, 0};

    (void)state;
    no_interval(got.kappa_interval, BTZ_INTERVAL_NO_DATA);
    no_interval(got.observed_interval, BTZ_INTERVAL_NO_DATA);
    assert_true(isnan(got.kappa) && isnan(got.ac1) && isnan(got.observed));
    /* One verdict everywhere: kappa is 0/0, AC1 is 1. */
    got = agreement_of(30, 0, 0, 0);
    assert_true(isnan(got.kappa) && got.ac1 == 1 && got.positive == 1 && isnan(got.negative));
    no_interval(got.kappa_interval, BTZ_INTERVAL_NO_SPREAD);
    no_interval(got.ac1_interval, BTZ_INTERVAL_NO_VARIANCE);
    assert_int_equal(got.observed_interval.status, BTZ_INTERVAL_OK);
    /* Perfect agreement on both verdicts. */
    got = agreement_of(13, 0, 0, 17);
    close_to(got.kappa, 1, 1e-14);
    no_interval(got.kappa_interval, BTZ_INTERVAL_NO_VARIANCE);
    no_interval(got.ac1_interval, BTZ_INTERVAL_NO_VARIANCE);
    /* Never the same verdict. */
    got = agreement_of(0, 15, 15, 0);
    close_to(got.kappa, -1, 1e-14);
    assert_true(got.positive == 0 && got.negative == 0);
    /* One verdict apart, huge counts: kappa is defined, near 0. */
    got = agreement_of(BTZ_STATS_COUNT_MAX - 1, 1, 0, 0);
    within(got.kappa, 0, 1e-9);
    got.items = 7;
    assert_int_equal(btz_stats_agreement(&wrong, 0.95, &got), BTZ_EINVAL);
    assert_int_equal(btz_stats_agreement(&fine, 0, &got), BTZ_EINVAL);
    assert_int_equal(got.items, 7);
}

/* The worked example of the article on Fleiss's kappa in Wikipedia: 14 raters, 10 items, 0.210. */
static void fleiss_kappa_matches_a_published_example(void **state)
{
    static const int64_t counts[] = {0, 0, 0, 0, 14, 0, 2, 6, 4, 2, 0, 0, 3, 5, 6, 0, 3,
                                     9, 2, 0, 2, 2,  8, 1, 1, 7, 7, 0, 0, 0, 3, 2, 6, 3,
                                     0, 2, 5, 3, 2,  2, 6, 5, 2, 1, 0, 0, 2, 2, 3, 7};
    static const int64_t two[] = {2, 0, 0, 2, 1, 1};
    static const int64_t same[] = {3, 0, 3, 0};
    static const int64_t ragged[] = {3, 0, 2, 0};
    static const int64_t negative[] = {3, -1, 2, 0};
    static const int64_t alone[] = {1, 0};
    double got;

    (void)state;
    assert_int_equal(btz_stats_fleiss_kappa(counts, 10, 5, &got), BTZ_OK);
    within(got, 0.210, 0.0005);
    close_to(got, 0.20993070442195522, 1e-12); /* statsmodels 0.15 */
    /* By hand: agreement (1 + 1 + 0) / 3, chance 1/2: kappa 1/3. */
    assert_int_equal(btz_stats_fleiss_kappa(two, 3, 2, &got), BTZ_OK);
    close_to(got, 1.0 / 3, 1e-13);
    assert_int_equal(btz_stats_fleiss_kappa(same, 2, 2, &got), BTZ_OK);
    assert_true(isnan(got));
    assert_int_equal(btz_stats_fleiss_kappa(NULL, 0, 2, &got), BTZ_OK);
    assert_true(isnan(got));
    assert_int_equal(btz_stats_fleiss_kappa(ragged, 2, 2, &got), BTZ_EINVAL);
    assert_int_equal(btz_stats_fleiss_kappa(negative, 2, 2, &got), BTZ_EINVAL);
    assert_int_equal(btz_stats_fleiss_kappa(alone, 1, 2, &got), BTZ_EINVAL);
    assert_int_equal(btz_stats_fleiss_kappa(alone, 1, 0, &got), BTZ_EINVAL);
    assert_int_equal(btz_stats_fleiss_kappa(alone, 1, 65, &got), BTZ_ELIMIT);
    assert_int_equal(btz_stats_fleiss_kappa((const int64_t[]){INT64_MAX, INT64_MAX}, 1, 2, &got),
                     BTZ_ELIMIT);
}

static struct btz_corrected corrected(int64_t k, int64_t n, int64_t hits, int64_t yes,
                                      int64_t rejections, int64_t no)
{
    struct btz_count judged = {k, n, 0};
    struct btz_count sensitivity = {hits, yes, 0};
    struct btz_count specificity = {rejections, no, 0};
    struct btz_corrected got;

    assert_int_equal(btz_correct_rogan_gladen(&judged, &sensitivity, &specificity, 0.95, &got),
                     BTZ_OK);
    return got;
}

/* Limits from a separate program for the equations of Lang and Reiczigel (2014), as the R package
 * asht (prevSeSp) writes them. */
static void rogan_gladen_and_its_interval(void **state)
{
    struct btz_corrected got = corrected(60, 200, 45, 50, 95, 100);

    (void)state;
    /* (0.3 + 0.95 - 1) / (0.9 + 0.95 - 1) = 5/17. */
    close_to(got.rate, 5.0 / 17, 1e-13);
    close_to(got.interval.lo, 0.2068888893557777, 1e-11);
    close_to(got.interval.hi, 0.38942922538657637, 1e-11);
    got = corrected(40, 200, 18, 20, 29, 30);
    close_to(got.interval.lo, 0.05953827475125911, 1e-11);
    close_to(got.interval.hi, 0.2894279318736387, 1e-11);
    /* Fewer judged yes than mistakes explain: cut to 0, raw shown. */
    got = corrected(2, 100, 45, 50, 95, 100);
    assert_true(got.rate == 0 && got.interval.lo == 0);
    close_to(got.raw, -0.03 / 0.85, 1e-12);
    close_to(got.interval.hi, 0.04189501478380326, 1e-11);
    /* A perfect judge changes nothing. */
    close_to(corrected(3, 10, 50, 50, 40, 40).rate, 0.3, 1e-14);
}

static void rogan_gladen_is_undefined_for_a_judge_who_knows_nothing(void **state)
{
    struct btz_corrected got = corrected(60, 200, 7, 10, 3, 10);
    struct btz_count fine = {1, 2, 0};
    struct btz_count wrong = {3, 2, 0};

    (void)state;
    no_interval(got.interval, BTZ_INTERVAL_UNINFORMATIVE);
    assert_true(isnan(got.rate) && isnan(got.raw));
    no_interval(corrected(60, 200, 1, 10, 1, 10).interval, BTZ_INTERVAL_UNINFORMATIVE);
    /* 1 + 1/100 is over 1, but 2/3 + 2/102 is not. */
    got = corrected(60, 200, 1, 1, 1, 100);
    no_interval(got.interval, BTZ_INTERVAL_UNINFORMATIVE);
    assert_true(isnan(got.rate) && isnan(got.raw));
    no_interval(corrected(60, 200, 0, 0, 1, 10).interval, BTZ_INTERVAL_NO_DATA);
    no_interval(corrected(0, 0, 1, 1, 1, 10).interval, BTZ_INTERVAL_NO_DATA);
    got.rate = 7;
    assert_int_equal(btz_correct_rogan_gladen(&fine, &wrong, &fine, 0.95, &got), BTZ_EINVAL);
    assert_int_equal(btz_correct_rogan_gladen(&fine, &fine, &fine, 2, &got), BTZ_EINVAL);
    assert_true(got.rate == 7);
}

static void double_sampling_by_hand(void **state)
{
    /* Judged yes 60, of 20 labelled 18 right; judged no 140, of 30 labelled 3 wrong:
     * 0.3 * 0.9 + 0.7 * 0.1 = 0.34. Limits by a separate program. */
    static const struct btz_label_stratum strata[] = {{60, 20, 18}, {0, 0, 0}, {140, 30, 3}};
    /* The first stratum fully labelled; no positive among the labels of the second. */
    static const struct btz_label_stratum partly[] = {{50, 50, 45}, {150, 30, 0}};
    static const struct btz_label_stratum all[] = {{50, 50, 45}, {150, 150, 15}};
    struct btz_double_sample got;

    (void)state;
    assert_int_equal(btz_correct_double_sample(strata, 3, 0.95, &got), BTZ_OK);
    close_to(got.rate, 0.34, 1e-13);
    close_to(got.trials.lo, 0.27619103673230766, 1e-12);
    close_to(got.trials.hi, 0.4385235818388573, 1e-12);
    close_to(got.population.lo, 0.24881566338364258, 1e-12);
    close_to(got.population.hi, 0.46250161289456027, 1e-12);
    assert_true(got.judged == 200 && got.labelled == 50 && got.unlabelled_strata == 0);
    assert_int_equal(btz_correct_double_sample(partly, 2, 0.95, &got), BTZ_OK);
    close_to(got.rate, 0.225, 1e-13);
    close_to(got.trials.lo, 0.225, 1e-12);
    close_to(got.trials.hi, 0.30114709904809644, 1e-12);
    /* Everything labelled: these trials are known, trials like these are not. */
    assert_int_equal(btz_correct_double_sample(all, 2, 0.95, &got), BTZ_OK);
    assert_true(got.trials.lo == got.rate && got.trials.hi == got.rate);
    close_to(got.rate, 0.3, 1e-13);
    assert_true(got.population.lo < 0.26 && got.population.hi > 0.34);
}

static void double_sampling_says_what_cannot_be_said(void **state)
{
    static const struct btz_label_stratum open[] = {{60, 20, 18}, {5, 0, 0}};
    static const struct btz_label_stratum wrong[] = {
        {5, 6, 0}, {5, 4, 5}, {5, 4, -1}, {-5, -6, -7}};
    static const struct btz_label_stratum huge[] = {{BTZ_STATS_COUNT_MAX, 1, 0}, {1, 1, 0}};
    struct btz_double_sample got;

    (void)state;
    assert_int_equal(btz_correct_double_sample(open, 2, 0.95, &got), BTZ_OK);
    no_interval(got.trials, BTZ_INTERVAL_NO_LABELS);
    no_interval(got.population, BTZ_INTERVAL_NO_LABELS);
    assert_true(isnan(got.rate) && got.unlabelled_strata == 1);
    assert_int_equal(btz_correct_double_sample(NULL, 0, 0.95, &got), BTZ_OK);
    no_interval(got.trials, BTZ_INTERVAL_NO_DATA);
    got.rate = 7;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        assert_int_equal(btz_correct_double_sample(&wrong[i], 1, 0.95, &got), BTZ_EINVAL);
    }
    assert_int_equal(btz_correct_double_sample(huge, 2, 0.95, &got), BTZ_ELIMIT);
    assert_int_equal(btz_correct_double_sample(open, 2, NAN, &got), BTZ_EINVAL);
    assert_true(got.rate == 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kappa_by_hand),
        cmocka_unit_test(agreement_matches_an_independent_computation),
        cmocka_unit_test(agreement_says_what_cannot_be_said),
        cmocka_unit_test(fleiss_kappa_matches_a_published_example),
        cmocka_unit_test(rogan_gladen_and_its_interval),
        cmocka_unit_test(rogan_gladen_is_undefined_for_a_judge_who_knows_nothing),
        cmocka_unit_test(double_sampling_by_hand),
        cmocka_unit_test(double_sampling_says_what_cannot_be_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
