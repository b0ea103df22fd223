#include "stats/family.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"

struct ranked {
    double p;
    size_t index;
};

static int compare_ranked(const void *left, const void *right)
{
    const struct ranked *a = left;
    const struct ranked *b = right;

    if (a->p != b->p) {
        return a->p < b->p ? -1 : 1;
    }
    return (a->index > b->index) - (a->index < b->index);
}

static bool is_p(double p)
{
    return isnan(p) || (p >= 0 && p <= 1);
}

int btz_family_holm(const double *p, size_t count, double *adjusted)
{
    struct btz_arena *arena;
    struct ranked *order;
    size_t made = 0;
    double least = 0; /* the largest adjusted value so far */

    if (count > BTZ_FAMILY_MAX) {
        return BTZ_ELIMIT;
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_p(p[i])) {
            return BTZ_EINVAL;
        }
    }
    arena = btz_arena_new();
    order = btz_arena_array(arena, count + 1, sizeof(*order));
    for (size_t i = 0; i < count; i++) {
        if (!isnan(p[i])) {
            order[made++] = (struct ranked){p[i], i};
        } else {
            adjusted[i] = NAN;
        }
    }
    qsort(order, made, sizeof(*order), compare_ranked);
    for (size_t i = 0; i < made; i++) {
        least = fmax(least, fmin(1, (double)(count - i) * order[i].p));
        adjusted[order[i].index] = least;
    }
    btz_arena_free(arena);
    return BTZ_OK;
}

int btz_family_gate(const struct btz_gate_step *steps, size_t count, enum btz_gate *out)
{
    bool open = true;

    for (size_t i = 0; i < count; i++) {
        if (!is_p(steps[i].p) || !(steps[i].alpha > 0 && steps[i].alpha < 1)) {
            return BTZ_EINVAL;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!open || isnan(steps[i].p)) {
            out[i] = BTZ_GATE_NOT_TESTED;
        } else if (steps[i].p <= steps[i].alpha && steps[i].favourable) {
            out[i] = BTZ_GATE_PASSED;
        } else {
            out[i] = BTZ_GATE_FAILED;
        }
        open = out[i] == BTZ_GATE_PASSED;
    }
    return BTZ_OK;
}

const char *btz_gate_name(enum btz_gate gate)
{
    switch (gate) {
    case BTZ_GATE_PASSED:
        return "passed";
    case BTZ_GATE_FAILED:
        return "failed";
    case BTZ_GATE_NOT_TESTED:
        return "not tested";
    }
    return "unknown";
}
