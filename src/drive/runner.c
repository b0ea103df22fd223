#include "drive/runner.h"

#include <stdlib.h>

#include "base/clock.h"
#include "drive/drive_int.h"
#include "drive/guard_client.h"
#include "drive/model_client.h"
#include "llm/reference.h"

/* A trial under way, or finished and waiting to be taken. */
struct flight {
    struct flight *next;
    struct btz_trial *trial;
    void *tag;
    uint64_t ask; /* id of the open model request; 0 = one of the guard model or the
                   * rewriting model */
    struct btz_reference *reference; /* the agent, if it is one */
};

struct btz_runner {
    struct btz_drive *drive;
    enum btz_llm_model_kind kind;
    enum btz_llm_ref ref;
    struct btz_drive_model_client *client; /* NULL for a reference agent */
    struct btz_drive_guard *guard, *rewriter;
    struct flight *flying;
    struct flight *done, **done_end;
    size_t active;
    uint64_t next_ask;
    struct btz_needs needs;
};

int btz_drive_new(struct btz_drive **out, struct btz_err *err)
{
    struct btz_drive *drive = calloc(1, sizeof(*drive));
    int rc;

    if (!drive) {
        btz_panic("out of memory");
    }
    rc = btz_net_loop_new(&drive->loop, err);
    if (rc == BTZ_OK) {
        rc = btz_net_loop_catch_signals(drive->loop, err);
    }
    if (rc != BTZ_OK) {
        btz_drive_free(drive);
        return rc;
    }
    *out = drive;
    return BTZ_OK;
}

void btz_drive_free(struct btz_drive *drive)
{
    if (drive) {
        btz_net_loop_free(drive->loop);
        free(drive);
    }
}

void btz_drive_wait(struct btz_drive *drive, int64_t timeout_us)
{
    btz_net_loop_wait(drive->loop, timeout_us);
}

int btz_drive_interrupted(const struct btz_drive *drive)
{
    return btz_net_loop_interrupted(drive->loop);
}

int btz_runner_new(struct btz_drive *drive, const struct btz_runner_options *options,
                   struct btz_runner **out, struct btz_err *err)
{
    struct btz_runner *runner = calloc(1, sizeof(*runner));
    int rc = BTZ_OK;

    if (!runner) {
        btz_panic("out of memory");
    }
    runner->drive = drive;
    runner->kind = options->model->kind;
    runner->ref = options->model->ref;
    runner->guard = options->guard;
    runner->rewriter = options->rewriter;
    runner->done_end = &runner->done;
    btz_needs_init(&runner->needs);
    if (runner->kind != BTZ_LLM_MODEL_REF) {
        struct btz_drive_model_options client = {
            .policy = {.in_flight = options->in_flight,
                       .seed = options->seed,
                       .attempt_timeout_us = options->attempt_timeout_us},
            .key = options->key};

        rc = btz_drive_model_client_new(drive->loop, options->model, &client, &runner->client, err);
    }
    if (rc != BTZ_OK) {
        btz_runner_free(runner);
        return rc;
    }
    *out = runner;
    return BTZ_OK;
}

static void free_flights(struct flight *list)
{
    while (list) {
        struct flight *next = list->next;

        btz_trial_free(list->trial);
        btz_reference_free(list->reference);
        free(list);
        list = next;
    }
}

void btz_runner_free(struct btz_runner *runner)
{
    if (!runner) {
        return;
    }
    btz_drive_model_client_free(runner->client);
    if (runner->guard) {
        btz_drive_guard_forget(runner->guard, runner);
    }
    if (runner->rewriter) {
        btz_drive_guard_forget(runner->rewriter, runner);
    }
    free_flights(runner->flying);
    free_flights(runner->done);
    btz_needs_fini(&runner->needs);
    free(runner);
}

static void finish(struct btz_runner *runner, struct flight *flight)
{
    btz_reference_free(flight->reference);
    flight->reference = NULL;
    flight->next = NULL;
    *runner->done_end = flight;
    runner->done_end = &flight->next;
}

/* Asks for what a trial needs. BTZ_OK: the answer will come; 1: a reference agent has given it. */
static int perform(struct btz_runner *runner, struct flight *flight, const struct btz_need *need,
                   struct btz_answer *answer)
{
    if (need->endpoint != BTZ_TRIAL_AGENT) {
        struct btz_drive_guard *asked =
            need->endpoint == BTZ_TRIAL_GUARD ? runner->guard : runner->rewriter;

        flight->ask = 0;
        return asked ? btz_drive_guard_ask(asked, runner, flight, need) : BTZ_EMISSING;
    }
    if (flight->reference) {
        *answer = (struct btz_answer){
            .status = BTZ_ANSWER_OK,
            .attempts = 1,
            .bytes = btz_reference_reply(flight->reference, need->parts, need->part_count)};
        return 1;
    }
    flight->ask = ++runner->next_ask;
    return btz_drive_model_client_ask(runner->client, flight->ask, need->parts, need->part_count,
                                      need->deadline_us);
}

/* Steps a trial until it waits for a model; a request that cannot be asked becomes a fault. */
static void step(struct btz_runner *runner, struct flight *flight, struct btz_answer *answer)
{
    while (true) {
        const struct btz_need *need;
        int rc;

        runner->needs.count = 0;
        if (btz_trial_step(flight->trial, answer, &runner->needs) != BTZ_STEP_WAIT) {
            finish(runner, flight);
            return;
        }
        need = &runner->needs.items[0];
        rc = perform(runner, flight, need, answer);
        if (rc == BTZ_OK) {
            flight->next = runner->flying;
            runner->flying = flight;
            return;
        }
        if (rc < 0) {
            *answer = (struct btz_answer){.status = BTZ_ANSWER_FAILED,
                                          .bytes = BTZ_STR("the request could not be made")};
        }
        answer->id = need->id;
        answer->now_us = btz_clock_mono_us();
    }
}

int btz_runner_add(struct btz_runner *runner, struct btz_trial *trial, struct btz_str plan,
                   void *tag, struct btz_err *err)
{
    struct flight *flight = calloc(1, sizeof(*flight));
    struct btz_answer start = {.status = BTZ_ANSWER_START, .now_us = btz_clock_mono_us()};

    if (!flight) {
        btz_panic("out of memory");
    }
    flight->trial = trial;
    flight->tag = tag;
    if (runner->kind == BTZ_LLM_MODEL_REF) {
        int rc = btz_reference_new(runner->ref, plan, &flight->reference, err);

        if (rc != BTZ_OK) {
            btz_trial_free(trial);
            free(flight);
            return rc;
        }
    }
    runner->active++;
    step(runner, flight, &start);
    return BTZ_OK;
}

size_t btz_runner_active(const struct btz_runner *runner)
{
    return runner->active;
}

/* The flight that waits for request `ask`, or for one of the defence's models with this `tag`. */
static struct flight *take_flying(struct btz_runner *runner, uint64_t ask, const void *tag)
{
    for (struct flight **link = &runner->flying; *link; link = &(*link)->next) {
        if (tag ? *link == tag : (*link)->ask == ask) {
            struct flight *found = *link;

            *link = found->next;
            return found;
        }
    }
    return NULL;
}

enum btz_answer_status drive_status(enum btz_llm_status status)
{
    switch (status) {
    case BTZ_LLM_OK:
        return BTZ_ANSWER_OK;
    case BTZ_LLM_REJECTED:
        return BTZ_ANSWER_REJECTED;
    case BTZ_LLM_TIMEOUT:
        return BTZ_ANSWER_TIMEOUT;
    case BTZ_LLM_CANCELLED:
        return BTZ_ANSWER_CANCELLED;
    default:
        return BTZ_ANSWER_FAILED;
    }
}

/* Takes one answer of a model of the defence or the model under test, and moves its trial along. */
static bool move_one(struct btz_runner *runner)
{
    struct btz_drive_model_answer got;
    struct btz_answer answer;
    struct flight *flight;
    void *tag = NULL;

    if ((runner->guard && btz_drive_guard_next(runner->guard, runner, &tag, &answer)) ||
        (runner->rewriter && btz_drive_guard_next(runner->rewriter, runner, &tag, &answer))) {
        flight = take_flying(runner, 0, tag);
    } else if (runner->client && btz_drive_model_client_next(runner->client, &got)) {
        answer = (struct btz_answer){.status = drive_status(got.status),
                                     .took_us = got.total_us,
                                     .attempts = (int)got.attempts,
                                     .bytes = got.status == BTZ_LLM_OK ? got.bytes : got.text};
        flight = take_flying(runner, got.id, NULL);
    } else {
        return false;
    }
    if (flight) {
        answer.now_us = btz_clock_mono_us();
        answer.id = btz_trial_open_need(flight->trial);
        step(runner, flight, &answer);
    }
    return true;
}

bool btz_runner_next(struct btz_runner *runner, struct btz_trial **trial, void **tag)
{
    struct flight *flight;

    while (!runner->done && move_one(runner)) {
    }
    flight = runner->done;
    if (!flight) {
        return false;
    }
    runner->done = flight->next;
    if (!runner->done) {
        runner->done_end = &runner->done;
    }
    runner->active--;
    *trial = flight->trial;
    *tag = flight->tag;
    free(flight);
    return true;
}
