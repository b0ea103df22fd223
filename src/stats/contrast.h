/* A paired contrast: two arms (models, defence and none) over the same scenarios. Variants are the
 * units; each is represented by the difference of its two means over repetitions. */
#ifndef BTZ_STATS_CONTRAST_H
#define BTZ_STATS_CONTRAST_H

#include <stdbool.h>

#include "stats/family.h"
#include "stats/mean.h"

/* All sign patterns are enumerated up to this many variants; beyond it they are drawn. */
#define BTZ_CONTRAST_EXACT_MAX 20
/* Most drawn patterns, and most of drawn patterns times variants. */
#define BTZ_CONTRAST_DRAWS_MAX ((1U << 20) - 1)
#define BTZ_CONTRAST_DRAWS_MIN 999
#define BTZ_CONTRAST_WORK_MAX ((uint64_t)1 << 28)

/* One variant in both arms. Missing items are counted in both; a variant that was not planned in an
 * arm ("not applicable") has planned = 0 there. */
struct btz_pair {
    uint32_t attack; /* any number that is the same for all variants of an attack */
    struct btz_count first;
    struct btz_count second;
};

struct btz_contrast_plan {
    double confidence;   /* of the two-sided interval */
    double margin;       /* non-inferiority margin, > 0; 0: not asked */
    double margin_alpha; /* one-sided error rate of the non-inferiority test */
    uint64_t seed;       /* of drawn patterns */
    uint32_t draws;      /* how many are drawn; base/rng is counter-based, so a seed fixes all */
};

/* 0.95, no margin, 0.025, seed 1, 65535 draws (with the observed pattern 2^16). */
struct btz_contrast_plan btz_contrast_plan_default(void);

enum btz_margin {
    BTZ_MARGIN_NOT_ASKED,
    BTZ_MARGIN_SHOWN,
    BTZ_MARGIN_NOT_SHOWN,
    BTZ_MARGIN_NOT_POSSIBLE /* no data, or too few variants for margin_alpha */
};

struct btz_contrast {
    /* Mean over attacks of the mean over variants of (first - second); only variants with data in
     * both arms. NaN without any. */
    double estimate;
    /* Sign-flip test of "no difference"; NaN without data. p_greater is small when the first arm's
     * rate is the higher. */
    double p_two_sided;
    double p_less;
    double p_greater;
    double p_least;    /* smallest two-sided p that this many variants can give: 2^(1 - variants) */
    bool monte_carlo;  /* the patterns were drawn, so p and limits carry their error */
    uint64_t patterns; /* enumerated, or drawn plus the observed one */
    struct btz_interval interval;
    /* Worst cases: missing as 0 in the first and 1 in the second arm (lo), and the other way round
     * (hi), over planned items, nothing left out. Not a confidence interval. */
    struct btz_interval bounds;
    enum btz_margin non_inferior;
    double margin_limit;          /* one-sided lower limit at margin_alpha; NaN unless it exists */
    double p_margin;              /* one-sided p of "first - second <= -margin"; NaN if not asked */
    struct btz_count first_total; /* over the pairs planned in both arms */
    struct btz_count second_total;
    size_t attacks;       /* with data in both arms */
    size_t variants;      /* with data in both arms */
    size_t lost_variants; /* planned in both, without data in one */
    size_t unpaired;      /* planned in one arm only */
    bool descriptive;     /* one attack only: no claim is to be made from it */
    bool many_missing;    /* over 5% of an arm is missing */
    bool unequal_missing; /* the arms' missing shares differ by over 2 points */
};

/* The contrast of `pairs` (one per variant, those of an attack next to each other).
 *
 * Test: under the null of exchangeable arms each difference d_i is symmetric about 0, so all sign
 * patterns are equally likely (Fisher 1935, The Design of Experiments, section 21). With weights
 * w_i = 1 / (A n_a) and T = sum(w_i d_i), p_greater is the share of patterns whose T is at least
 * the observed one. Two-sided: twice the smaller one-sided p, at most 1, which here equals the
 * share of |T| at least as large. Up to BTZ_CONTRAST_EXACT_MAX variants all patterns are used;
 * beyond, `draws` random ones plus the observed: (1 + hits) / (1 + draws), a valid p value by
 * itself (Phipson and Smyth 2010, Stat. Appl. Genet. Mol. Biol. 9:39).
 *
 * Interval: the shifts delta that the test of "d_i - delta symmetric about 0" keeps on both sides.
 * Flipping the set S of variants keeps T at least as large exactly if the weighted mean of S is at
 * most delta, so p_greater(delta) is a step function of the 2^n - 1 subset means (Hartigan 1969, J.
 * Amer. Statist. Assoc. 64, 1303-1317), and a limit is one of them; bisection over delta finds it,
 * to 1e-14 of the largest difference. Covers exactly when the differences share one centre of
 * symmetry; attacks with unequal effects widen it. FEW_VARIANTS below 6 variants at 95%; NO_SPREAD
 * when all differences are equal (the p values hold then too).
 *
 * Non-inferiority: shown if the test of shift -margin gives p_margin <= margin_alpha, which is to
 * say that the one-sided lower limit lies above -margin. A higher rate counts as better; for a rate
 * where lower is better exchange the arms.
 *
 * BTZ_EINVAL: a count or part of the plan is out of range, or an attack's pairs are not adjacent.
 * BTZ_ELIMIT: more than BTZ_STATS_UNITS_MAX pairs, over BTZ_STATS_COUNT_MAX planned items in an
 * arm, or (when patterns are drawn) draws * variants over BTZ_CONTRAST_WORK_MAX. */
int btz_stats_contrast(const struct btz_pair *pairs, size_t pair_count,
                       const struct btz_contrast_plan *plan,
                       struct btz_contrast *out) BTZ_WARN_UNUSED;

/* Superiority on attack success, then non-inferiority of clean utility, as a fixed sequence
 * (family.h). `rate` is the contrast of attack success, defence first: passed when `adjusted_p`
 * (its two-sided p, adjusted within the family) is at most `alpha` and the rate went down.
 * `utility` is the contrast of clean utility, defence first, made with a margin: passed when
 * p_margin is at most `margin_alpha`, not tested when that was not possible. Missing items only
 * label a contrast, they do not close a gate. BTZ_EINVAL: a p or alpha out of range. */
int btz_contrast_gate(const struct btz_contrast *rate, double adjusted_p, double alpha,
                      const struct btz_contrast *utility, double margin_alpha,
                      enum btz_gate out[2]) BTZ_WARN_UNUSED;

/* "", or what a table must print beside the contrast ("unreliable: over 5% missing"). */
const char *btz_contrast_caution(const struct btz_contrast *contrast);

#endif
