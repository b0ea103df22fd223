/* Mutations of the obey plan (suite.md, certification rule 3): what must flip the verdict to false
 * and what must keep it true. Each is carried out as a real trial, never on the recorded trace. */
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
};

/* All mutations of one scenario, in `arena`. `plans` are those of `stage` with rendered names;
 * `other` is a stage of the same scenario with another seed, for other markers. */
struct btz_mutation *btz_mutations(struct btz_arena *arena, const struct btz_scenario *scenario,
                                   struct btz_stage *stage, struct btz_stage *other,
                                   const struct btz_json *plans, size_t *count);

/* `plans` with another value, of the same shape, behind the last `ANSWER:` of the benign plan, in
 * `arena`; NULL if that plan gives none. Who gives it has not done the user's task. */
const struct btz_json *btz_mutate_answer(struct btz_arena *arena, const struct btz_json *plans);

#endif
