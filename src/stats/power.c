#include "stats/power.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/rng.h"
#include "stats/dist.h"
#include "stats/stats_int.h"

#define GRID_BITS 10
#define GRID (1 << GRID_BITS)
#define SEARCH_STEPS 10

/* Propensities of one arm, equally likely, rising. */
struct arm {
    double propensity[GRID];
};

static int check_plan(const struct btz_power_plan *plan)
{
    uint64_t units = (uint64_t)plan->attacks * plan->variants;
    double first = plan->rate + plan->effect;

    if (units == 0 || units > BTZ_POWER_UNITS_MAX || plan->repetitions == 0 ||
        plan->repetitions > BTZ_POWER_REPETITIONS_MAX || plan->studies < BTZ_POWER_STUDIES_MIN ||
        plan->studies > BTZ_POWER_STUDIES_MAX || !btz_stats_is_confidence(plan->alpha) ||
        !(plan->rate >= 0 && plan->rate <= 1) || !(first >= -1e-12 && first <= 1 + 1e-12) ||
        !(plan->spread >= 0 && plan->spread <= BTZ_POWER_SPREAD_MAX) ||
        !(plan->pairing >= 0 && plan->pairing <= 1)) {
        return BTZ_EINVAL;
    }
    if (units * (units + 4) * plan->repetitions > BTZ_POWER_WORK_MAX / plan->studies) {
        return BTZ_ELIMIT;
    }
    return BTZ_OK;
}

static void fill_arm(double mean, double spread, struct arm *arm)
{
    double m = fmin(1, fmax(0, mean));
    double sum = spread > 0 ? (1 - spread) / spread : 0; /* of the beta law's two shapes */
    bool fixed = sum == 0 || m * sum < 1e-9 || (1 - m) * sum < 1e-9 || sum > BTZ_STATS_SHAPE_MAX;

    for (int i = 0; i < GRID; i++) {
        arm->propensity[i] =
            fixed ? m : btz_stats_beta_quantile((i + 0.5) / GRID, m * sum, (1 - m) * sum);
    }
}

static int32_t draw_hits(struct btz_rng *rng, uint32_t repetitions, double propensity)
{
    int32_t hits = 0;

    for (uint32_t i = 0; i < repetitions; i++) {
        hits += btz_rng_unit(rng) < propensity;
    }
    return hits;
}

/* Every study takes the same count of random numbers, whatever the effect. */
static void draw_study(const struct btz_power_plan *plan, const struct arm arms[2],
                       struct btz_rng *rng, int32_t *difference, size_t units)
{
    for (size_t i = 0; i < units; i++) {
        size_t one = btz_rng_next(rng) >> (64 - GRID_BITS);
        size_t two = btz_rng_next(rng) >> (64 - GRID_BITS);
        bool paired = btz_rng_unit(rng) < plan->pairing;

        difference[i] = draw_hits(rng, plan->repetitions, arms[0].propensity[one]);
        difference[i] -= draw_hits(rng, plan->repetitions, arms[1].propensity[paired ? one : two]);
    }
}

/* Two-sided p of the sign-flip test for whole differences. With X the sum of their sizes, flipping
 * the set S from all-positive gives T = X - 2 size(S): T reaches |T_observed| when
 * size(S) <= (X - |T_observed|) / 2. `law` has room for half the largest X, plus one. */
static double sign_flip(const int32_t *difference, size_t units, double *law)
{
    int64_t sum = 0;
    int64_t sizes = 0;
    size_t top; /* largest size of S that matters */
    double tail = 0;

    for (size_t i = 0; i < units; i++) {
        sum += difference[i];
        sizes += abs(difference[i]);
    }
    if (sum == 0) {
        return 1;
    }
    top = (size_t)(sizes - llabs(sum)) / 2;
    law[0] = 1;
    for (size_t s = 1; s <= top; s++) {
        law[s] = 0;
    }
    for (size_t i = 0; i < units; i++) {
        size_t size = (size_t)abs(difference[i]);

        if (size == 0) {
            continue;
        }
        for (size_t s = top + 1; s-- > 0;) {
            law[s] = 0.5 * (law[s] + (s >= size ? law[s - size] : 0));
        }
    }
    for (size_t s = 0; s <= top; s++) {
        tail += law[s];
    }
    return fmin(1, 2 * tail);
}

int btz_stats_power(const struct btz_power_plan *plan, struct btz_power *out)
{
    struct btz_rng rng = btz_rng_of(plan->seed);
    struct btz_power result = {0};
    size_t units = (size_t)plan->attacks * plan->variants;
    struct btz_arena *arena;
    struct arm *arms;
    int32_t *difference;
    double *law;
    struct btz_count right = {0, plan->studies, 0};
    int64_t wrong = 0;
    int rc = check_plan(plan);

    if (rc != BTZ_OK) {
        return rc;
    }
    arena = btz_arena_new();
    arms = btz_arena_array(arena, 2, sizeof(*arms));
    difference = btz_arena_array(arena, units, sizeof(*difference));
    law = btz_arena_array(arena, units * plan->repetitions / 2 + 1, sizeof(*law));
    fill_arm(plan->rate + plan->effect, plan->spread, &arms[0]);
    fill_arm(plan->rate, plan->spread, &arms[1]);
    for (uint32_t study = 0; study < plan->studies; study++) {
        int64_t sum = 0;

        draw_study(plan, arms, &rng, difference, units);
        for (size_t i = 0; i < units; i++) {
            sum += difference[i];
        }
        if (sign_flip(difference, units, law) <= plan->alpha) {
            bool along = plan->effect == 0 || (sum > 0) == (plan->effect > 0);

            right.k += along;
            wrong += !along;
        }
    }
    btz_arena_free(arena);
    result.power = btz_count_rate(&right);
    result.wrong = (double)wrong / plan->studies;
    result.p_least = fmin(1, ldexp(1, 1 - (int)units));
    rc = btz_stats_wilson(&right, 0.95, &result.error);
    if (rc == BTZ_OK) {
        *out = result;
    }
    return rc;
}

int btz_stats_power_detectable(const struct btz_power_plan *plan, double target, double *effect,
                               struct btz_power *at)
{
    struct btz_power_plan trial = *plan;
    double lo = 0;
    double hi;
    struct btz_power power;
    int rc;

    if (!btz_stats_is_confidence(target) || !(plan->rate >= 0 && plan->rate <= 1)) {
        return BTZ_EINVAL;
    }
    hi = plan->effect < 0 ? -plan->rate : 1 - plan->rate;
    trial.effect = hi;
    rc = btz_stats_power(&trial, &power);
    if (rc != BTZ_OK) {
        return rc;
    }
    if (hi == 0 || power.power < target) {
        hi = NAN;
    }
    for (int i = 0; i < SEARCH_STEPS && !isnan(hi); i++) {
        struct btz_power middle;

        trial.effect = lo + (hi - lo) / 2;
        rc = btz_stats_power(&trial, &middle);
        if (rc != BTZ_OK) {
            return rc;
        }
        if (middle.power >= target) {
            hi = trial.effect;
            power = middle;
        } else {
            lo = trial.effect;
        }
    }
    *effect = hi;
    if (at) {
        *at = power;
    }
    return BTZ_OK;
}
