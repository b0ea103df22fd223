/* The request to a model that rewrites a tool definition, one for all who ask it: the defence of a
 * trial, the command `canon` and the sieve. */
#ifndef BTZ_TRIAL_REWRITE_H
#define BTZ_TRIAL_REWRITE_H

#include "guard/canon.h"
#include "llm/request.h"

/* The parts of the request about `tool` under an arm that asks, in `arena`: temperature 0, no seed,
 * at most BTZ_CANON_REWRITE_TOKENS, the question of btz_canon_question. They depend on nothing
 * else, so equal definitions make equal requests, and a recorded reply is found again by them.
 * Errors as btz_canon_question; `parts` are set on success only. */
int btz_trial_rewrite_question(enum btz_canon_arm arm, const struct btz_json *tool,
                               struct btz_arena *arena,
                               struct btz_str parts[BTZ_LLM_QUESTION_PARTS],
                               struct btz_err *err) BTZ_WARN_UNUSED;

#endif
