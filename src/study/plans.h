/* Plans of reference agents as bytes (llm/reference.h), and the mutations that certification
 * makes of them. */
#ifndef BTZ_STUDY_PLANS_H
#define BTZ_STUDY_PLANS_H

#include "base/arena.h"
#include "trial/trial.h"

/* The stage's plans and routes with the names under which the tools reach the model. */
struct btz_json *btz_study_plans(struct btz_arena *arena, struct btz_stage *stage);

/* Gives a call with `label` and `tool` its `name`, and `short` where a host may cut it. */
void btz_study_name_call(struct btz_arena *arena, struct btz_json *call);

/* Number of leading steps that both plans share; the act lies in the obey plan behind them. */
size_t btz_study_plan_common(const struct btz_json *plans);

/* Whether a plan has a step like this. */
bool btz_study_plan_has(const struct btz_json *steps, const struct btz_json *step);

/* Whether a step is a reply to a question of a server. */
bool btz_study_plan_is_reply(const struct btz_json *step);

/* The last step behind the common ones that is a call, or a reply to a server's question, and not
 * in the benign plan: the act that certification mutates. SIZE_MAX if the act is the answer. */
size_t btz_study_plan_act(const struct btz_json *plans);

#endif
