#include "stats/rank.h"

#include <math.h>

static int check_pairs(const struct btz_rank_pair *pairs, size_t count, uint32_t models)
{
    bool seen[BTZ_RANK_MODELS_MAX][BTZ_RANK_MODELS_MAX] = {{false}};

    for (size_t i = 0; i < count; i++) {
        const struct btz_rank_pair *pair = &pairs[i];

        if (pair->first >= models || pair->second >= models || pair->first == pair->second ||
            seen[pair->first][pair->second]) {
            return BTZ_EINVAL;
        }
        if (!isnan(pair->p) && (!(pair->p >= 0 && pair->p <= 1) || isnan(pair->estimate))) {
            return BTZ_EINVAL;
        }
        seen[pair->first][pair->second] = true;
        seen[pair->second][pair->first] = true;
    }
    return BTZ_OK;
}

int btz_rank_intervals(const struct btz_rank_pair *pairs, size_t pair_count, uint32_t models,
                       double alpha, bool high_is_better, struct btz_rank *out)
{
    int rc;

    if (models > BTZ_RANK_MODELS_MAX) {
        return BTZ_ELIMIT;
    }
    if (!(alpha > 0 && alpha < 1)) {
        return BTZ_EINVAL;
    }
    rc = check_pairs(pairs, pair_count, models);
    if (rc != BTZ_OK) {
        return rc;
    }
    for (uint32_t i = 0; i < models; i++) {
        out[i] = (struct btz_rank){1, models};
    }
    for (size_t i = 0; i < pair_count; i++) {
        const struct btz_rank_pair *pair = &pairs[i];

        if (pair->p <= alpha && pair->estimate != 0) {
            bool first_wins = (pair->estimate > 0) == high_is_better;

            out[first_wins ? pair->first : pair->second].worst--;
            out[first_wins ? pair->second : pair->first].best++;
        }
    }
    return BTZ_OK;
}
