#include "trial/trial.h"

#include <stdlib.h>

#include "trial/web.h"

int btz_trial_new(const struct btz_trial_options *options, struct btz_trial **out,
                  struct btz_err *err)
{
    struct btz_trial *trial = calloc(1, sizeof(*trial));
    int rc;

    if (!trial) {
        btz_panic("out of memory");
    }
    trial->options = *options;
    trial->arena = btz_arena_new();
    trial->trajectory = btz_json_new_array(trial->arena);
    trial->journal = btz_json_new_array(trial->arena);
    trial->session = trial->attempt = 1;
    trial->record.guarding.on = options->defence.input || options->defence.context ||
                                options->defence.canon || options->defence.proxy.target.len > 0;
    rc = btz_stage_new(options->lab, options->scenario, options->arm, options->seed, &trial->stage,
                       err);
    if (rc == BTZ_OK) {
        btz_stage_set_profile(trial->stage, &options->profile);
        trial->fragment_count = btz_stage_fragment_count(trial->stage);
        trial->budget = btz_stage_budget(trial->stage);
        if (trial->fragment_count > MAX_FRAGMENTS) {
            rc = btz_err_set(err, BTZ_ELIMIT,
                             "%.*s has %zu payload fragments, at most %d are allowed",
                             BTZ_FMT(options->scenario->id), trial->fragment_count, MAX_FRAGMENTS);
        }
    }
    if (rc == BTZ_OK) {
        rc = host_connect(trial, err);
    }
    if (rc != BTZ_OK) {
        btz_trial_free(trial);
        return rc;
    }
    *out = trial;
    return BTZ_OK;
}

void btz_trial_free(struct btz_trial *trial)
{
    if (!trial) {
        return;
    }
    host_disconnect(trial);
    btz_auth_store_free(trial->credentials);
    btz_gateway_free(trial->gateway);
    btz_stage_free(trial->stage);
    btz_arena_free(trial->arena);
    free(trial);
}

static void ask_model(struct btz_trial *trial, int64_t now_us, struct btz_needs *needs)
{
    const struct side *side = &trial->side;
    struct btz_need need;

    if (side->role) {
        query_render(trial); /* what a guard model withheld meanwhile is not in it */
    }
    need = (struct btz_need){.kind = BTZ_NEED_MODEL,
                             .parts = side->role ? side->parts : trial->parts,
                             .part_count = side->role ? side->part_count : trial->part_count};

    trial->turn += trial->critic || side->role ? 0 : 1;
    need.endpoint = BTZ_TRIAL_AGENT;
    need.id = ++trial->need_id;
    trial->asked_us = now_us;
    btz_needs_add(needs, &need);
}

static void end_by_limits(struct btz_trial *trial)
{
    if (trial->event_count >= MAX_EVENTS) {
        trial->attempt = MAX_ATTEMPTS; /* no further one would fit */
        trial_finish(trial, BTZ_STOP_BUDGET, BTZ_STR("the record is full"));
    } else if (!trial->critic && !trial->side.role &&
               trial->turn - trial->attempt_turn >= trial->budget) {
        trial_finish(trial, BTZ_STOP_BUDGET, BTZ_STR_NONE);
    }
}

/* Takes the answer to the need that is open. */
static void take_answer(struct btz_trial *trial, const struct btz_answer *answer)
{
    if (!trial->started) {
        trial->started = true;
        trial->started_us = answer->now_us;
        loop_start(trial);
    } else if (trial->questions) {
        ask_answered(trial, answer);
    } else {
        loop_reply(trial, answer);
    }
    end_by_limits(trial);
}

int btz_trial_step(struct btz_trial *trial, const struct btz_answer *answer,
                   struct btz_needs *needs)
{
    struct btz_err err;

    if (trial->done) {
        return BTZ_ESTATE;
    }
    if (trial->started && answer->id != trial->need_id) {
        return BTZ_EINVAL;
    }
    take_answer(trial, answer);
    if (ask_next(trial, answer->now_us, needs)) {
        return BTZ_STEP_WAIT;
    }
    if (trial->attempt_over && !trial->done) {
        if (attempt_next(trial, &err) != BTZ_OK) {
            char why[1200];

            trial_finish(trial, BTZ_STOP_FAULT, btz_str_of(btz_err_text(&err, why, sizeof(why))));
        }
        if (ask_next(trial, answer->now_us, needs)) {
            return BTZ_STEP_WAIT;
        }
    }
    if (trial->done) {
        if (trial->gateway) { /* programs and address are for the next one; a record stays longer */
            host_disconnect(trial);
            btz_gateway_free(trial->gateway);
            trial->gateway = NULL;
        }
        trial->record.took_us = answer->now_us - trial->started_us;
        return BTZ_STEP_DONE;
    }
    ask_model(trial, answer->now_us, needs);
    return BTZ_STEP_WAIT;
}

uint64_t btz_trial_open_need(const struct btz_trial *trial)
{
    return trial->done || !trial->started ? 0 : trial->need_id;
}

const struct btz_trial_record *btz_trial_record(const struct btz_trial *trial)
{
    return trial->done ? &trial->record : NULL;
}

struct btz_stage *btz_trial_stage(struct btz_trial *trial)
{
    return trial->stage;
}
