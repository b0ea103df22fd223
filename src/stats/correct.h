/* A judged rate corrected for the judge's mistakes. */
#ifndef BTZ_STATS_CORRECT_H
#define BTZ_STATS_CORRECT_H

#include "stats/mean.h"

struct btz_corrected {
    double rate; /* cut to [0, 1]; NaN unless interval.status is OK */
    double raw;  /* not cut: outside [0, 1] judge and rates contradict each other */
    struct btz_interval interval;
};

/* Rogan and Gladen (1978, Am. J. Epidemiol. 107, 71-76): (q + Sp - 1) / (Se + Sp - 1) for the
 * judged rate q, with sensitivity and specificity estimated from independent labelled items: `hits`
 * judged yes among true yes, `rejections` judged no among true no. Interval: Lang and Reiczigel
 * (2014, Prev. Vet. Med. 113, 13-22), which adds z^2 items to the first sample and two to each of
 * the others, moves the middle and takes the normal deviate.
 * NO_DATA: one of the three has no items. UNINFORMATIVE: Se + Sp <= 1, where the estimate has no
 * meaning, or not over 1 once the interval's two items are added (too few labels to tell).
 * BTZ_EINVAL: a count or `confidence` is out of range. */
int btz_correct_rogan_gladen(const struct btz_count *judged, const struct btz_count *hits,
                             const struct btz_count *rejections, double confidence,
                             struct btz_corrected *out) BTZ_WARN_UNUSED;

/* One stratum (verdict x attack x model): `judged` trials, a simple random sample of which a human
 * has labelled. */
struct btz_label_stratum {
    int64_t judged;
    int64_t labelled; /* <= judged */
    int64_t positive; /* of them; <= labelled */
};

struct btz_double_sample {
    double rate;                    /* sum(W_h k_h / n_h), W_h = N_h / N */
    struct btz_interval trials;     /* of the rate among exactly these trials */
    struct btz_interval population; /* ... among trials like these, taken as independent */
    int64_t judged;
    int64_t labelled;
    size_t unlabelled_strata; /* with trials, without labels */
};

/* Double sampling for stratification (Neyman 1938; Tenenbein 1970, J. Amer. Statist. Assoc. 65,
 * 1350-1361, for one error-prone classifier; Cochran 1977, Sampling Techniques, section 12.2). No
 * assumption on the judge, who only forms the strata. Intervals: each stratum's Wilson limits, at
 * their distances d_h from its share, squared and added (MOVER; Zou and Donner 2008, Statist. Med.
 * 27, 1693-1702), which keeps a stratum without a positive label from counting as certain:
 *   trials:     sqrt(sum(W_h^2 (1 - n_h / N_h) d_h^2)), a fully labelled stratum adds nothing;
 *   population: sqrt(sum(W_h^2 d_h^2) + z^2 sum(W_h (p_h - p)^2) / N).
 * NO_DATA: no trials; NO_LABELS: a stratum with trials has no label (then rate is NaN).
 * BTZ_EINVAL: a stratum contradicts itself. BTZ_ELIMIT: more than BTZ_STATS_UNITS_MAX strata or
 * BTZ_STATS_COUNT_MAX trials. */
int btz_correct_double_sample(const struct btz_label_stratum *strata, size_t count,
                              double confidence, struct btz_double_sample *out) BTZ_WARN_UNUSED;

#endif
