/* Inside the making of items. */
#ifndef BTZ_SIEVE_POISON_INT_H
#define BTZ_SIEVE_POISON_INT_H

#include "sieve/poison.h"
#include "sieve/shape.h"

struct tool {
    struct btz_str id;   /* of the definition */
    struct btz_str name; /* of the tool */
    const struct btz_json *json;
    struct btz_schema *schema; /* NULL: cannot be used for calls */
    struct btz_str source;
    size_t order; /* in which it came */
    size_t cluster;
};

/* A run of tools of one source. */
struct cluster {
    struct btz_str source;
    size_t begin, count;
};

struct btz_sieve_poison {
    struct btz_sieve_poison_options options;
    struct btz_arena *arena;
    struct tool *tools;
    size_t tool_count, tool_cap;
    struct cluster *clusters;
    size_t cluster_count;
    bool arranged;         /* clusters are made */
    size_t at;             /* tool that is worked on */
    int paradigm;          /* the next of its paradigms; PARADIGMS = negative */
    size_t round;          /* of per_definition */
    struct btz_json *used; /* cells ("family/risk") of this tool and paradigm */
    struct btz_sieve_poison_stats stats;
    int64_t *cells; /* pairs of family x risk */
};

/* One try: tool x family x risk. */
struct attempt {
    struct btz_sieve_poison *poison;
    struct btz_arena *arena;
    const struct tool *host; /* the definition under test */
    const struct btz_sieve_family *family;
    enum btz_sieve_risk risk;
    const struct tool *target;
    const struct btz_json *arguments; /* of the target */
    const struct tool *carrier;       /* of the malicious call; may be the target in P3 */
    const struct btz_sieve_operand *operand;
    struct btz_str parameter;
};

/* Chooses target, carrier, operand and parameter. False with `*skip`. */
bool poison_choose(struct attempt *a, enum btz_sieve_skip *skip);
/* Items from what was chosen. False with `*skip`. */
bool poison_pair(struct attempt *a, struct btz_sieve_item items[2], enum btz_sieve_skip *skip);
bool poison_negative(struct attempt *a, struct btz_sieve_item *item, enum btz_sieve_skip *skip);

/* A number that depends on seed, what it is for, and two names. */
uint64_t poison_draw(const struct btz_sieve_poison *poison, const char *what, struct btz_str a,
                     struct btz_str b);

#endif
