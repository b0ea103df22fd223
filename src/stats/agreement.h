/* How well two raters (judge and companion, or judge and human) agree on yes or no. */
#ifndef BTZ_STATS_AGREEMENT_H
#define BTZ_STATS_AGREEMENT_H

#include "stats/paired.h"

/* Most categories in Fleiss's kappa. */
#define BTZ_FLEISS_CATEGORIES_MAX 64

struct btz_agreement {
    int64_t items;
    double observed; /* share of items with the same verdict; NaN without items */
    struct btz_interval observed_interval; /* Wilson */
    /* Cohen's kappa = (p_o - p_e) / (1 - p_e), p_e from both raters' margins (Cohen 1960). NaN when
     * p_e = 1: both raters gave every item the same one verdict. */
    double kappa;
    double kappa_error; /* asymptotic standard error, Fleiss, Cohen and Everitt (1969) */
    struct btz_interval kappa_interval; /* kappa -+ z * error, cut to [-1, 1] */
    /* Gwet's AC1 with p_e = 2 q (1 - q), q the mean share of yes (Gwet 2008, Br. J. Math. Stat.
     * Psychol. 61, 29-48): does not collapse when nearly all verdicts are the same. */
    double ac1;
    double ac1_error; /* ibid., for items as the sample (no finite population) */
    struct btz_interval ac1_interval;
    /* Agreement on yes, 2a / (2a + b + c), and on no, 2d / (2d + b + c) (Cicchetti and Feinstein
     * 1990, J. Clin. Epidemiol. 43, 551-558); NaN when neither rater ever said so. */
    double positive;
    double negative;
};

/* The table's cells: both said yes, only the first, only the second, neither. Where the estimated
 * variance is 0 (no disagreement, for instance) kappa and AC1 stand without an interval
 * (NO_VARIANCE): the observed agreement's interval still tells how little was seen. Normal
 * intervals: rough below some 50 items.
 * BTZ_EINVAL: a cell or `confidence` is out of range. */
int btz_stats_agreement(const struct btz_paired_table *table, double confidence,
                        struct btz_agreement *out) BTZ_WARN_UNUSED;

/* Kappa of several raters (Fleiss 1971, Psychol. Bull. 76, 378-382): `counts` holds `items` rows of
 * `categories` numbers, how many raters put the item there; every row has the same sum of at least
 * 2. The raters need not be the same ones for every item. NaN without items or when all ratings
 * fall in one category.
 * BTZ_EINVAL: rows differ in their sum, a number is negative. BTZ_ELIMIT: more than
 * BTZ_FLEISS_CATEGORIES_MAX categories or BTZ_STATS_COUNT_MAX ratings. */
int btz_stats_fleiss_kappa(const int64_t *counts, size_t items, size_t categories,
                           double *out) BTZ_WARN_UNUSED;

#endif
