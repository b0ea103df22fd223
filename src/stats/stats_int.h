/* What the files of this room share. */
#ifndef BTZ_STATS_INT_H
#define BTZ_STATS_INT_H

#include <math.h>
#include <stdbool.h>

#include "stats/mean.h"
#include "stats/paired.h"

/* An interval that is not given, and why. */
static inline struct btz_interval btz_stats_absent(enum btz_interval_status status)
{
    return (struct btz_interval){status, NAN, NAN};
}

/* A confidence, or an error rate, strictly between 0 and 1; false for NaN. */
static inline bool btz_stats_is_confidence(double value)
{
    return value > 0 && value < 1;
}

/* BTZ_EINVAL unless things of the same attack lie next to each other. `attacks` points at the first
 * thing's attack number, `stride` bytes apart; 1 <= count <= BTZ_STATS_UNITS_MAX. */
int btz_stats_check_adjacent(const uint32_t *attacks, size_t stride, size_t count) BTZ_WARN_UNUSED;

/* Adds `count` to `total`: BTZ_EINVAL when it contradicts itself, BTZ_ELIMIT when the sum passes
 * BTZ_STATS_COUNT_MAX. */
int btz_stats_add_count(const struct btz_count *count, struct btz_count *total) BTZ_WARN_UNUSED;

/* Both checks for units; their sum goes to `total`. */
int btz_stats_check_units(const struct btz_stats_unit *units, size_t unit_count,
                          struct btz_count *total) BTZ_WARN_UNUSED;

/* The sum of the table's cells; BTZ_EINVAL when one is negative or the sum passes
 * BTZ_STATS_COUNT_MAX. */
int btz_stats_check_table(const struct btz_paired_table *table, int64_t *pairs) BTZ_WARN_UNUSED;

#endif
