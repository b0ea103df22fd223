#include "drive/reference_run.h"

#include "base/clock.h"
#include "llm/reference.h"

int btz_drive_reference(struct btz_trial *trial, enum btz_llm_ref agent, struct btz_str plan,
                        struct btz_err *err)
{
    struct btz_reference *reference = NULL;
    struct btz_needs needs;
    struct btz_answer answer = {.status = BTZ_ANSWER_START, .now_us = btz_clock_mono_us()};
    int rc = btz_reference_new(agent, plan, &reference, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    btz_needs_init(&needs);
    while ((rc = btz_trial_step(trial, &answer, &needs)) == BTZ_STEP_WAIT) {
        const struct btz_need *need = &needs.items[0];

        if (needs.count != 1 || need->endpoint != BTZ_TRIAL_AGENT) {
            rc = btz_err_set(err, BTZ_EINTERNAL,
                             "a trial asked for something a reference agent cannot give");
            break;
        }
        answer = (struct btz_answer){
            .id = need->id,
            .status = BTZ_ANSWER_OK,
            .now_us = btz_clock_mono_us(),
            .attempts = 1,
            .bytes = btz_reference_reply(reference, need->parts, need->part_count)};
        needs.count = 0;
    }
    btz_needs_fini(&needs);
    btz_reference_free(reference);
    return rc == BTZ_STEP_DONE ? BTZ_OK : rc;
}
