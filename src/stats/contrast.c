#include "stats/contrast.h"

#include <float.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/rng.h"
#include "stats/stats_int.h"

#define HALF (BTZ_CONTRAST_EXACT_MAX / 2)
#define BISECTIONS 200

/* The variants with data in both arms. */
struct units {
    double *difference;
    double *weight;
    size_t count;
    double largest; /* absolute difference */
    bool equal;     /* all differences are the same, apart from rounding */
};

/* Sign patterns, each by the weighted mean of the variants it flips. */
struct flips {
    double *mean;
    double *scratch; /* as long */
    size_t count;
    double none;  /* patterns that flip nothing; the observed one is among them */
    double total; /* count + none */
    double slack; /* rounding error of a mean */
};

struct btz_contrast_plan btz_contrast_plan_default(void)
{
    return (struct btz_contrast_plan){
        .confidence = 0.95, .margin = 0, .margin_alpha = 0.025, .seed = 1, .draws = 65535};
}

const char *btz_contrast_caution(const struct btz_contrast *contrast)
{
    if (contrast->many_missing) {
        return "unreliable: over 5% missing";
    }
    if (contrast->unequal_missing) {
        return "unreliable: missing differs by over 2 points between the arms";
    }
    return contrast->descriptive ? "descriptive: one attack" : "";
}

int btz_contrast_gate(const struct btz_contrast *rate, double adjusted_p, double alpha,
                      const struct btz_contrast *utility, double margin_alpha, enum btz_gate out[2])
{
    bool possible =
        utility->non_inferior == BTZ_MARGIN_SHOWN || utility->non_inferior == BTZ_MARGIN_NOT_SHOWN;
    struct btz_gate_step steps[2] = {
        {adjusted_p, alpha, rate->estimate < 0},
        {possible ? utility->p_margin : NAN, margin_alpha, true},
    };

    return btz_family_gate(steps, 2, out);
}

static bool is_plan(const struct btz_contrast_plan *plan)
{
    return btz_stats_is_confidence(plan->confidence) && plan->margin >= 0 && plan->margin <= 1 &&
           btz_stats_is_confidence(plan->margin_alpha) && plan->draws >= BTZ_CONTRAST_DRAWS_MIN &&
           plan->draws <= BTZ_CONTRAST_DRAWS_MAX;
}

static int check_pairs(const struct btz_pair *pairs, size_t count, struct btz_contrast *out)
{
    if (count == 0) {
        return BTZ_OK;
    }
    if (count > BTZ_STATS_UNITS_MAX) {
        return BTZ_ELIMIT;
    }
    for (size_t i = 0; i < count; i++) {
        /* Pairs that one arm did not plan are checked, but not summed. */
        bool both = pairs[i].first.planned > 0 && pairs[i].second.planned > 0;
        struct btz_count aside[2] = {{0}};
        int rc = btz_stats_add_count(&pairs[i].first, both ? &out->first_total : &aside[0]);

        if (rc == BTZ_OK) {
            rc = btz_stats_add_count(&pairs[i].second, both ? &out->second_total : &aside[1]);
        }
        if (rc != BTZ_OK) {
            return rc;
        }
    }
    return btz_stats_check_adjacent(&pairs[0].attack, sizeof(*pairs), count);
}

/* One attack: the pairs [0, count). Weights are left as 1 / n_a. Adds to the worst cases; returns
 * whether anything was planned in both arms. */
static bool add_attack(const struct btz_pair *pairs, size_t count, struct units *units,
                       struct btz_contrast *out)
{
    size_t first = units->count;
    size_t planned = 0;
    double lo = 0;
    double hi = 0;

    for (size_t i = 0; i < count; i++) {
        const struct btz_count *a = &pairs[i].first;
        const struct btz_count *b = &pairs[i].second;
        double a_planned = (double)a->planned;
        double b_planned = (double)b->planned;

        if (a->planned == 0 || b->planned == 0) {
            out->unpaired += a->planned != b->planned;
            continue;
        }
        planned++;
        lo += (double)a->k / a_planned - (double)(b->k + b->missing) / b_planned;
        hi += (double)(a->k + a->missing) / a_planned - (double)b->k / b_planned;
        if (btz_count_n(a) == 0 || btz_count_n(b) == 0) {
            out->lost_variants++;
            continue;
        }
        units->difference[units->count++] = btz_count_rate(a) - btz_count_rate(b);
    }
    for (size_t i = first; i < units->count; i++) {
        units->weight[i] = 1 / (double)(units->count - first);
    }
    out->attacks += units->count > first;
    if (planned) {
        out->bounds.lo += lo / (double)planned;
        out->bounds.hi += hi / (double)planned;
    }
    return planned > 0;
}

static void collect(const struct btz_pair *pairs, size_t pair_count, struct units *units,
                    struct btz_contrast *out)
{
    size_t first = 0;
    size_t planned_attacks = 0;
    double least = INFINITY;
    double most = -INFINITY;

    out->bounds = (struct btz_interval){BTZ_INTERVAL_OK, 0, 0};
    for (size_t i = 1; i <= pair_count; i++) {
        if (i == pair_count || pairs[i].attack != pairs[first].attack) {
            planned_attacks += add_attack(pairs + first, i - first, units, out);
            first = i;
        }
    }
    if (planned_attacks) {
        out->bounds.lo /= (double)planned_attacks;
        out->bounds.hi /= (double)planned_attacks;
    } else {
        out->bounds = btz_stats_absent(BTZ_INTERVAL_NO_DATA);
    }
    out->variants = units->count;
    out->estimate = units->count ? 0 : NAN;
    for (size_t i = 0; i < units->count; i++) {
        double d = units->difference[i];

        units->weight[i] /= (double)out->attacks;
        out->estimate += units->weight[i] * d;
        units->largest = fmax(units->largest, fabs(d));
        least = fmin(least, d);
        most = fmax(most, d);
    }
    units->equal = units->count > 0 && most - least <= 8 * DBL_EPSILON * units->largest;
}

/* Weighted sums and weights of all subsets of at most HALF variants. */
static void sum_subsets(const struct units *units, size_t first, size_t count, double *sums,
                        double *weights)
{
    sums[0] = 0;
    weights[0] = 0;
    for (size_t set = 1; set < (size_t)1 << count; set++) {
        size_t rest = set & (set - 1);
        size_t i = first + (size_t)__builtin_ctzll(set);

        sums[set] = sums[rest] + units->weight[i] * units->difference[i];
        weights[set] = weights[rest] + units->weight[i];
    }
}

/* Every pattern: subsets of the first half times subsets of the second. */
static void enumerate(struct btz_arena *arena, const struct units *units, struct flips *flips)
{
    double sums[2][1 << HALF];
    double weights[2][1 << HALF];
    size_t low = units->count / 2;
    size_t high = units->count - low;

    sum_subsets(units, 0, low, sums[0], weights[0]);
    sum_subsets(units, low, high, sums[1], weights[1]);
    flips->mean = btz_arena_array(arena, (size_t)1 << units->count, sizeof(double));
    for (size_t i = 0; i < (size_t)1 << high; i++) {
        for (size_t j = i == 0; j < (size_t)1 << low; j++) {
            flips->mean[flips->count++] =
                (sums[1][i] + sums[0][j]) / (weights[1][i] + weights[0][j]);
        }
    }
    flips->none = 1;
}

static void draw(struct btz_arena *arena, const struct units *units,
                 const struct btz_contrast_plan *plan, struct flips *flips)
{
    struct btz_rng rng = btz_rng_of(plan->seed);

    flips->mean = btz_arena_array(arena, plan->draws, sizeof(double));
    flips->none = 1;
    for (uint32_t n = 0; n < plan->draws; n++) {
        double sum = 0;
        double weight = 0;
        uint64_t bits = 0;

        for (size_t i = 0; i < units->count; i++) {
            bits = i % 64 == 0 ? btz_rng_next(&rng) : bits >> 1;
            if (bits & 1) {
                sum += units->weight[i] * units->difference[i];
                weight += units->weight[i];
            }
        }
        if (weight > 0) {
            flips->mean[flips->count++] = sum / weight;
        } else {
            flips->none++;
        }
    }
}

/* Subset means with sign * mean <= sign * x. */
static double count_to(const struct flips *flips, double x, double sign)
{
    size_t found = 0;

    for (size_t i = 0; i < flips->count; i++) {
        found += sign * flips->mean[i] <= sign * x;
    }
    return (double)found;
}

/* One-sided p of the shift x; sign 1: against a larger shift, -1: against a smaller. A tie counts
 * as reached whatever its rounding. */
static double p_of_shift(const struct flips *flips, double x, double sign)
{
    return (flips->none + count_to(flips, x + sign * flips->slack, sign)) / flips->total;
}

/* The least (sign 1) or largest (sign -1) shift whose one-sided p passes alpha; NaN when every
 * shift's does. Bisection; each step drops the means that lie on the side it leaves, so that all
 * steps together cost about two passes over them. */
static double limit(const struct units *units, struct flips *flips, double alpha, double sign)
{
    double enough = alpha * flips->total * (1 + 1e-12) - flips->none;
    double lo = -2 * units->largest - 1; /* times sign: no mean lies that far out */
    double hi = units->largest;
    double *open = flips->scratch; /* the means, times sign, above lo and up to hi */
    size_t count = flips->count;
    double below = 0; /* how many lie up to lo */

    if (enough < 0) {
        return NAN;
    }
    for (size_t i = 0; i < count; i++) {
        open[i] = sign * flips->mean[i];
    }
    for (int i = 0; i < BISECTIONS && hi - lo > 1e-14 * units->largest; i++) {
        double middle = lo + (hi - lo) / 2;
        size_t low = 0;
        size_t high = count;

        while (low < high) {
            if (open[low] <= middle + flips->slack) {
                low++;
            } else {
                double moved = open[low];

                open[low] = open[--high];
                open[high] = moved;
            }
        }
        if (below + (double)low > enough) {
            hi = middle;
            count = low;
        } else {
            lo = middle;
            below += (double)low;
            open += low;
            count -= low;
        }
    }
    return sign * hi;
}

static void test(const struct units *units, struct flips *flips,
                 const struct btz_contrast_plan *plan, struct btz_contrast *out)
{
    out->p_greater = p_of_shift(flips, 0, 1);
    out->p_less = p_of_shift(flips, 0, -1);
    out->p_two_sided = fmin(1, 2 * fmin(out->p_greater, out->p_less));
    out->p_least = fmin(1, 2 / flips->total);
    out->patterns = (uint64_t)flips->total;
    out->interval = btz_stats_absent(BTZ_INTERVAL_NO_SPREAD);
    if (!units->equal) {
        double alpha = (1 - plan->confidence) / 2;
        double lo = limit(units, flips, alpha, 1);
        double hi = limit(units, flips, alpha, -1);

        out->interval = isnan(lo) ? btz_stats_absent(BTZ_INTERVAL_FEW_VARIANTS)
                                  : (struct btz_interval){BTZ_INTERVAL_OK, lo, hi};
    }
    if (plan->margin > 0) {
        out->margin_limit = limit(units, flips, plan->margin_alpha, 1);
        out->p_margin = p_of_shift(flips, -plan->margin, 1);
        out->non_inferior = isnan(out->margin_limit)              ? BTZ_MARGIN_NOT_POSSIBLE
                            : out->p_margin <= plan->margin_alpha ? BTZ_MARGIN_SHOWN
                                                                  : BTZ_MARGIN_NOT_SHOWN;
    }
}

static void judge_missing(struct btz_contrast *out)
{
    const struct btz_count *a = &out->first_total;
    const struct btz_count *b = &out->second_total;

    if (a->planned == 0 || b->planned == 0) {
        return;
    }
    /* Shares as whole products, so that exactly 5% and exactly 2 points pass. */
    out->many_missing = 20 * a->missing > a->planned || 20 * b->missing > b->planned;
    out->unequal_missing =
        50 * llabs(a->missing * b->planned - b->missing * a->planned) > a->planned * b->planned;
}

int btz_stats_contrast(const struct btz_pair *pairs, size_t pair_count,
                       const struct btz_contrast_plan *plan, struct btz_contrast *out)
{
    struct btz_contrast result = {
        .p_two_sided = NAN,
        .p_less = NAN,
        .p_greater = NAN,
        .p_least = NAN,
        .interval = btz_stats_absent(BTZ_INTERVAL_NO_DATA),
        .non_inferior = plan->margin > 0 ? BTZ_MARGIN_NOT_POSSIBLE : BTZ_MARGIN_NOT_ASKED,
        .margin_limit = NAN,
        .p_margin = NAN,
    };
    struct btz_arena *arena;
    struct units units = {0};
    struct flips flips = {0};
    int rc = is_plan(plan) ? check_pairs(pairs, pair_count, &result) : BTZ_EINVAL;

    if (rc != BTZ_OK) {
        return rc;
    }
    arena = btz_arena_new();
    units.difference = btz_arena_array(arena, pair_count + 1, sizeof(double));
    units.weight = btz_arena_array(arena, pair_count + 1, sizeof(double));
    collect(pairs, pair_count, &units, &result);
    judge_missing(&result);
    result.descriptive = result.attacks == 1;
    result.monte_carlo = units.count > BTZ_CONTRAST_EXACT_MAX;
    flips.slack = 4 * DBL_EPSILON * (double)(units.count + 8) * units.largest;
    if (result.monte_carlo && plan->draws > BTZ_CONTRAST_WORK_MAX / units.count) {
        rc = BTZ_ELIMIT;
    } else if (units.count > 0) {
        if (result.monte_carlo) {
            draw(arena, &units, plan, &flips);
        } else {
            enumerate(arena, &units, &flips);
        }
        flips.scratch = btz_arena_array(arena, flips.count + 1, sizeof(double));
        flips.total = flips.none + (double)flips.count;
        test(&units, &flips, plan, &result);
    }
    btz_arena_free(arena);
    if (rc == BTZ_OK) {
        *out = result;
    }
    return rc;
}
