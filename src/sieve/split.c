#include "sieve/split.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"

/* A stratum or a cluster: a run of units of equal name, in an order by name. */
struct group {
    struct btz_str name;
    size_t begin, count;
    uint64_t draw;    /* of a cluster */
    double remainder; /* of a stratum */
    size_t quota;
};

struct drawn {
    struct btz_sieve_unit *unit;
    struct btz_str name;
    uint64_t draw;
};

static uint64_t draw_of(uint64_t seed, const char *what, struct btz_str name)
{
    char number[24];
    struct btz_str parts[3] = {{number, 0}, btz_str_of(what), name};

    parts[0].len = (size_t)snprintf(number, sizeof(number), "%llu", (unsigned long long)seed);
    return btz_rng_key(parts, 3);
}

static int by_key(const void *a, const void *b)
{
    return btz_str_cmp(((const struct btz_sieve_unit *)a)->key,
                       ((const struct btz_sieve_unit *)b)->key);
}

static int by_name_and_draw(const void *a, const void *b)
{
    const struct drawn *x = a;
    const struct drawn *y = b;
    int order = btz_str_cmp(x->name, y->name);

    if (order == 0 && x->draw != y->draw) {
        order = x->draw < y->draw ? -1 : 1;
    }
    return order ? order : btz_str_cmp(x->unit->key, y->unit->key);
}

static int by_draw(const void *a, const void *b)
{
    const struct group *x = a;
    const struct group *y = b;

    return x->draw != y->draw ? (x->draw < y->draw ? -1 : 1) : btz_str_cmp(x->name, y->name);
}

static int by_remainder(const void *a, const void *b)
{
    const struct group *x = *(const struct group *const *)a;
    const struct group *y = *(const struct group *const *)b;

    if (x->remainder != y->remainder) {
        return x->remainder > y->remainder ? -1 : 1;
    }
    return x->draw != y->draw ? (x->draw < y->draw ? -1 : 1) : btz_str_cmp(x->name, y->name);
}

static size_t make_groups(const struct drawn *drawn, size_t count, uint64_t seed,
                          struct group *groups)
{
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        if (i == 0 || !btz_str_eq(drawn[i].name, drawn[i - 1].name)) {
            groups[used++] = (struct group){
                .name = drawn[i].name, .begin = i, .draw = draw_of(seed, "group", drawn[i].name)};
        }
        groups[used - 1].count++;
    }
    return used;
}

/* Seats by largest remainder: exact counts that add up to `goal`. */
static void split_strata(struct btz_arena *arena, struct drawn *drawn, size_t count, size_t goal,
                         struct group *groups, size_t group_count)
{
    struct group **order = btz_arena_array(arena, group_count, sizeof(struct group *));
    size_t given = 0;

    for (size_t i = 0; i < group_count; i++) {
        /* Exact as long as count * goal is below 2^53. */
        double seats = (double)groups[i].count * (double)goal / (double)count;

        groups[i].quota = (size_t)floor(seats);
        groups[i].remainder = seats - floor(seats);
        given += groups[i].quota;
        order[i] = &groups[i];
    }
    qsort(order, group_count, sizeof(struct group *), by_remainder);
    for (size_t i = 0; i < group_count && given < goal; i++, given++) {
        order[i]->quota++;
    }
    for (size_t i = 0; i < group_count; i++) {
        for (size_t k = 0; k < groups[i].quota; k++) {
            drawn[groups[i].begin + k].unit->test = true;
        }
    }
}

static void take_cluster(struct drawn *drawn, const struct group *group)
{
    for (size_t k = 0; k < group->count; k++) {
        drawn[group->begin + k].unit->test = true;
    }
}

static void split_clusters(struct drawn *drawn, size_t goal, struct group *groups,
                           size_t group_count)
{
    const struct group *smallest = NULL;
    size_t given = 0;
    size_t taken = 0;

    qsort(groups, group_count, sizeof(*groups), by_draw);
    for (size_t i = 0; i < group_count; i++) {
        if (given + groups[i].count <= goal) {
            take_cluster(drawn, &groups[i]);
            given += groups[i].count;
            taken++;
        } else if (!smallest || groups[i].count < smallest->count) {
            smallest = &groups[i];
        }
    }
    if (smallest && taken + 1 < group_count &&
        (given == 0 || given + smallest->count - goal < goal - given)) {
        take_cluster(drawn, smallest);
    }
}

int btz_sieve_split(struct btz_sieve_unit *units, size_t count, enum btz_sieve_method method,
                    double share, uint64_t seed, struct btz_err *err)
{
    size_t goal = (size_t)llround(share * (double)count);
    struct btz_arena *arena;
    struct drawn *drawn;
    struct group *groups;
    size_t group_count;
    size_t held = 0;

    if (goal == 0 || goal >= count) {
        return btz_err_set(err, BTZ_EINVAL,
                           "of %zu units a share of %g leaves one side empty; take another share "
                           "or more units",
                           count, share);
    }
    arena = btz_arena_new();
    drawn = btz_arena_array(arena, count, sizeof(*drawn));
    groups = btz_arena_array(arena, count, sizeof(*groups));
    qsort(units, count, sizeof(*units), by_key);
    for (size_t i = 0; i < count; i++) {
        units[i].test = false;
        drawn[i] = (struct drawn){&units[i],
                                  method == BTZ_SIEVE_PAPER ? units[i].stratum : units[i].cluster,
                                  draw_of(seed, "unit", units[i].key)};
    }
    qsort(drawn, count, sizeof(*drawn), by_name_and_draw);
    group_count = make_groups(drawn, count, seed, groups);
    if (method == BTZ_SIEVE_PAPER) {
        split_strata(arena, drawn, count, goal, groups, group_count);
    } else {
        split_clusters(drawn, goal, groups, group_count);
    }
    btz_arena_free(arena);
    for (size_t i = 0; i < count; i++) {
        held += units[i].test;
    }
    if (held == 0 || held == count) {
        return btz_err_set(err, BTZ_EINVAL,
                           "%zu cluster%s cannot be divided: whole clusters are held out, so there "
                           "must be at least two",
                           group_count, group_count == 1 ? "" : "s");
    }
    return BTZ_OK;
}
