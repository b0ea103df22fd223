/* The request to a model that rewrites. */
#include "trial/rewrite.h"

int btz_trial_rewrite_question(enum btz_canon_arm arm, const struct btz_json *tool,
                               struct btz_arena *arena,
                               struct btz_str parts[BTZ_LLM_QUESTION_PARTS], struct btz_err *err)
{
    struct btz_canon_question words;
    int rc = btz_canon_question(arm, tool, arena, &words, err);

    if (rc == BTZ_OK) {
        btz_llm_question(arena, 0, BTZ_CANON_REWRITE_TOKENS, -1, words.system, words.user, parts);
    }
    return rc;
}
