/* Rank intervals: which places a model can hold, given what pairwise contrasts have shown. */
#ifndef BTZ_STATS_RANK_H
#define BTZ_STATS_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define BTZ_RANK_MODELS_MAX 90 /* all their pairs still fit one family (family.h) */

struct btz_rank_pair {
    uint32_t first; /* numbers of models, from 0 */
    uint32_t second;
    double estimate; /* first - second */
    double p;        /* two-sided, adjusted within the family of all pairs; NaN: not tested */
};

struct btz_rank {
    uint32_t best; /* 1 = first place */
    uint32_t worst;
};

/* Place of each model: best = 1 + models shown to be better, worst = models - those shown to be
 * worse. A pair is shown when p <= alpha; without a pair, or with NaN, nothing is. If p is adjusted
 * for the family of all pairs (Holm), all intervals hold together with confidence 1 - alpha (Al
 * Mohamad, Goeman and van Zwet 2022, Biometrics 78, 238-247), apart from the chance of a
 * significant result in the wrong direction. `out` has room for `models`.
 * BTZ_EINVAL: a model number or p out of range, an estimate NaN beside a p, a model paired with
 * itself, or a pair twice. BTZ_ELIMIT: more than BTZ_RANK_MODELS_MAX models. */
int btz_rank_intervals(const struct btz_rank_pair *pairs, size_t pair_count, uint32_t models,
                       double alpha, bool high_is_better, struct btz_rank *out) BTZ_WARN_UNUSED;

#endif
