#include <stdlib.h>

#include "base/arena.h"
#include "stats/stats_int.h"

static int compare_numbers(const void *left, const void *right)
{
    const uint32_t *a = left;
    const uint32_t *b = right;

    return (*a > *b) - (*a < *b);
}

int btz_stats_check_adjacent(const uint32_t *attacks, size_t stride, size_t count)
{
    struct btz_arena *arena = btz_arena_new();
    uint32_t *heads = btz_arena_array(arena, count, sizeof(*heads)); /* one per run of an attack */
    size_t runs = 0;
    int rc = BTZ_OK;

    for (size_t i = 0; i < count; i++) {
        uint32_t attack = *(const uint32_t *)(const void *)((const char *)attacks + i * stride);

        if (runs == 0 || attack != heads[runs - 1]) {
            heads[runs++] = attack;
        }
    }
    qsort(heads, runs, sizeof(*heads), compare_numbers);
    for (size_t i = 1; i < runs; i++) {
        if (heads[i] == heads[i - 1]) {
            rc = BTZ_EINVAL;
        }
    }
    btz_arena_free(arena);
    return rc;
}

int btz_stats_add_count(const struct btz_count *count, struct btz_count *total)
{
    int rc = btz_count_check(count);

    if (rc != BTZ_OK) {
        return rc;
    }
    if (count->planned > BTZ_STATS_COUNT_MAX - total->planned) {
        return BTZ_ELIMIT;
    }
    total->k += count->k;
    total->planned += count->planned;
    total->missing += count->missing;
    return BTZ_OK;
}

int btz_stats_check_units(const struct btz_stats_unit *units, size_t unit_count,
                          struct btz_count *total)
{
    if (unit_count == 0) {
        return BTZ_OK;
    }
    if (unit_count > BTZ_STATS_UNITS_MAX) {
        return BTZ_ELIMIT;
    }
    for (size_t i = 0; i < unit_count; i++) {
        int rc = btz_stats_add_count(&units[i].count, total);

        if (rc != BTZ_OK) {
            return rc;
        }
    }
    return btz_stats_check_adjacent(&units[0].attack, sizeof(*units), unit_count);
}
