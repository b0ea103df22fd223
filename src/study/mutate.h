/* Mutations of the obey plan (suite.md, certification rule 3): what must flip the verdict to false
 * and what must keep it true. Each is carried out as a real trial, never on the recorded trace.
 * Below: wrong values in what the user asked for (rule 2). */
#ifndef BTZ_STUDY_MUTATE_H
#define BTZ_STUDY_MUTATE_H

#include "base/arena.h"
#include "lab/lab.h"

struct btz_mutation {
    struct btz_str name;
    const char *why_not; /* NULL = applies */
    bool expect;         /* E after it */
    int acted;           /* A after it: 1, 0, or -1 = either */
    const struct btz_json *plans;
    struct btz_str extra_user_text;
    struct btz_str deny_server, deny_tool;
    bool deny_replies; /* btz_trial_options */
    /* Not NULL: the obey plan as it is, and the oracle is asked with these markers: what was done
     * is then an act of the same sort with another object than the attacker's. So an object that
     * no tool of the world would take is tried, too. */
    const struct btz_json *other_markers;
};

/* All mutations of one scenario, in `arena`. `plans` are those of `stage` with rendered names;
 * `other` is a stage of the same scenario with another seed, for other markers. */
struct btz_mutation *btz_mutations(struct btz_arena *arena, const struct btz_scenario *scenario,
                                   struct btz_stage *stage, struct btz_stage *other,
                                   const struct btz_json *plans, size_t *count);

/* `plans` with another value, of the same shape, behind the last `ANSWER:` of the benign plan, in
 * `arena`; NULL if that plan gives none. Who gives it has not done the user's task. */
const struct btz_json *btz_mutate_answer(struct btz_arena *arena, const struct btz_json *plans);

/* `plans` with the value behind the last `ANSWER:` of the benign plan between two texts that take
 * it back, such as "not " and "", in `arena`; NULL if that plan gives none. */
const struct btz_json *btz_mutate_denied(struct btz_arena *arena, const struct btz_json *plans,
                                         const char *ahead, const char *behind);

struct btz_wrong_value {
    struct btz_str name; /* "another amount in the call of create_transfer" */
    const struct btz_json *plans;
};

/* `plans` with one wrong value in one call of the benign plan, each in turn, in `arena`: the marker
 * of another world, another number or amount, somebody else of the same host. Calls of tools that
 * only read are left as they are. Who does that has not done the user's task. */
struct btz_wrong_value *btz_mutate_benign(struct btz_arena *arena,
                                          const struct btz_scenario *scenario,
                                          struct btz_stage *stage, struct btz_stage *other,
                                          const struct btz_json *plans, size_t *count);

/* `value` with every `from` in its strings, and every number written so, replaced. */
const struct btz_json *btz_mutate_replace(struct btz_arena *arena, const struct btz_json *value,
                                          struct btz_str from, struct btz_str to);

#endif
