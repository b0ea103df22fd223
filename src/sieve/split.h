/* Which units of a corpus are held out. A unit is what must stay together: an attack with its twin,
 * or one definition.
 *
 * PAPER: of all units the rounded share is held out, divided over the strata by largest remainder
 * (Hamilton's method), so that the counts are exact; within a stratum the units are drawn by seed.
 * GROUPED: whole clusters are held out, drawn by seed, as long as they fit into the share; then one
 * more if that comes nearer to it. No cluster is on both sides.
 * The draw depends on seed and names alone, not on the order of the units. */
#ifndef BTZ_SIEVE_SPLIT_H
#define BTZ_SIEVE_SPLIT_H

#include "sieve/item.h"

struct btz_sieve_unit {
    struct btz_str key; /* distinct */
    struct btz_str stratum;
    struct btz_str cluster;
    int64_t lines;
    bool test; /* set by the split */
};

/* Sorts `units` by key and sets `test`. BTZ_EINVAL with the reason if one side would be empty. */
int btz_sieve_split(struct btz_sieve_unit *units, size_t count, enum btz_sieve_method method,
                    double share, uint64_t seed, struct btz_err *err) BTZ_WARN_UNUSED;

struct btz_sieve_freeze_options {
    const char *input;  /* definitions or items */
    const char *folder; /* made if it is not there */
    enum btz_sieve_method method;
    double share;
    uint64_t seed;
    struct btz_str created;                    /* YYYY-MM-DD */
    struct btz_str rules_commit, rules_sha256; /* may be empty */
};

/* Writes dev.jsonl, test.jsonl (read-only) and at last manifest.json (read-only) into the folder.
 * Items get their `split`, and `held_out` where a whole cluster is held out; definitions are
 * copied. BTZ_EEXISTS if one of the three files is there. What a failed call has written is taken
 * away. */
int btz_sieve_freeze(struct btz_arena *arena, const struct btz_sieve_freeze_options *options,
                     struct btz_sieve_manifest *out, struct btz_err *err) BTZ_WARN_UNUSED;

#endif
