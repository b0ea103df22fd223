#include "study/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "study/keep.h"
#include "study/plans.h"
#include "study/study_int.h"

/* A multiple of 2 to 6, the numbers of servers in a setting. */
enum { ORDERS = 60 };

/* A trial that takes so long to be set up waited for a gateway. */
#define HUNG_US INT64_C(5000000)

uint64_t btz_study_cell_seed(uint64_t seed, struct btz_str scenario, unsigned repetition)
{
    char numbers[64];
    int len = snprintf(numbers, sizeof(numbers), "%llu/%u", (unsigned long long)seed, repetition);
    struct btz_str parts[] = {BTZ_STR("world"), scenario, {numbers, (size_t)len}};
    struct btz_str begin[] = {BTZ_STR("order"), scenario, {numbers, strcspn(numbers, "/")}};
    uint64_t world = btz_rng_key(parts, 3) / ORDERS * ORDERS;

    /* Which server's tools stand first follows from the rest of a division of the seed
     * (render_tools): it goes on by one with each repetition. */
    world -= world > UINT64_MAX - ORDERS ? ORDERS : 0;
    return world + (btz_rng_key(begin, 3) % ORDERS + repetition) % ORDERS;
}

static struct btz_study *new_study(const struct btz_study_options *options)
{
    struct btz_study *study = calloc(1, sizeof(*study));

    if (!study) {
        btz_panic("out of memory");
    }
    study->options = *options;
    study->arena = btz_arena_new();
    study->scratch = btz_arena_new();
    study->fault = btz_arena_new();
    return study;
}

/* Cells run in randomised blocks: a block is one repetition of all scenarios, so that models and
 * arms interleave in time. */
static void shuffle(struct btz_study *study)
{
    struct btz_str parts[] = {BTZ_STR("order"), study->options.name};
    size_t begin = 0;

    study->order = btz_arena_array(study->arena, study->cell_count, sizeof(*study->order));
    for (size_t i = 0; i < study->cell_count; i++) {
        if (plan_applicable(study, i)) {
            study->status.planned++;
            if (!(study->states[i] & CELL_FINISHED)) {
                study->order[study->order_count++] = (uint32_t)i;
            }
        }
    }
    while (begin < study->order_count) {
        size_t block = study->order[begin] / study->block;
        struct btz_rng rng =
            btz_rng_of(study->options.seed ^ btz_rng_key(parts, 2) ^ (uint64_t)(block + 1));
        size_t end = begin;

        while (end < study->order_count && study->order[end] / study->block == block) {
            end++;
        }
        for (size_t i = end; i-- > begin + 1;) {
            size_t j = begin + (size_t)btz_rng_below(&rng, i - begin + 1);
            uint32_t swap = study->order[i];

            study->order[i] = study->order[j];
            study->order[j] = swap;
        }
        begin = end;
    }
}

unsigned model_in_flight(const struct btz_study *study, size_t model)
{
    unsigned own = study->options.models[model].in_flight;

    own = own ? own : study->options.in_flight;
    return own ? own : 1;
}

int64_t model_max_tokens(const struct btz_study *study, size_t model)
{
    int64_t own = study->options.models[model].max_tokens;

    return own ? own : study->options.max_tokens;
}

int64_t model_timeout_us(const struct btz_study *study, size_t model)
{
    int64_t own = study->options.models[model].request_timeout_us;

    return own ? own : study->options.request_timeout_us;
}

static int make_runners(struct btz_study *study, struct btz_err *err)
{
    const struct btz_study_options *o = &study->options;
    int rc;

    study->next = btz_arena_array(study->arena, o->model_count, sizeof(*study->next));
    study->runners = btz_arena_array(study->arena, o->model_count, sizeof(*study->runners));
    if ((rc = btz_drive_new(&study->drive, err)) != BTZ_OK ||
        (rc = defences_open(study, err)) != BTZ_OK) {
        return rc;
    }
    for (size_t i = 0; i < o->model_count; i++) {
        struct btz_runner_options runner = {.model = &o->models[i].model,
                                            .key = &o->models[i].key,
                                            .in_flight = model_in_flight(study, i),
                                            .seed = o->seed,
                                            .attempt_timeout_us = model_timeout_us(study, i),
                                            .guard = study->guard,
                                            .rewriter = study->rewriter};

        if ((rc = btz_runner_new(study->drive, &runner, &study->runners[i], err)) != BTZ_OK) {
            return rc;
        }
    }
    return BTZ_OK;
}

static int check_options(struct btz_study *study, struct btz_err *err)
{
    const struct btz_study_options *o = &study->options;

    if (o->model_count == 0) {
        return btz_err_set(err, BTZ_EUSAGE, "no model is given: use -m, for example -m ref:reader");
    }
    for (size_t i = 0; i < o->model_count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (btz_str_eq(o->models[i].model.reference, o->models[j].model.reference)) {
                return btz_err_set(err, BTZ_EUSAGE, "model %.*s is given twice",
                                   BTZ_FMT(o->models[i].model.reference));
            }
        }
    }
    if (o->repetitions < 1 || o->arch_count < 1 || o->revision_count < 1) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "at least one repetition, architecture and revision are needed");
    }
    return defences_parse(study, err);
}

int btz_study_new(const struct btz_study_options *options, struct btz_study **out,
                  struct btz_err *err)
{
    struct btz_study *study = new_study(options);
    struct btz_store_plan plan = {.study = options->name,
                                  .created_us = btz_clock_wall_us(),
                                  .cell_at = plan_store_cell,
                                  .data = study};
    int rc = check_options(study, err);

    if (rc == BTZ_OK && btz_host_profile_named(options->host_profile, &study->profile) != BTZ_OK) {
        rc = btz_err_set(err, BTZ_EUSAGE,
                         "there is no host profile \"%.*s\"; profiles: naive, spec, hardened, "
                         "each also with an approver, such as naive+ask-each",
                         BTZ_FMT(options->host_profile));
    }
    if (rc == BTZ_OK) {
        rc = plan_cells(study, err);
    }
    if (rc == BTZ_OK) {
        rc = make_runners(study, err);
    }
    if (rc == BTZ_OK) {
        plan.provenance = card_write(study);
        plan.cell_count = study->cell_count;
        rc = btz_store_run_new(options->store, &plan, &study->run, study->run_id, err);
    }
    if (rc != BTZ_OK) {
        study->ended = true;
        btz_study_free(study);
        return rc;
    }
    study->writer = writer_new(options->store, study->run);
    shuffle(study);
    study->status.run_id = study->run_id;
    *out = study;
    return BTZ_OK;
}

/* Marks the cells that have a trial; a fault is tried again. */
static int mark_finished(struct btz_study *study, struct btz_err *err)
{
    struct btz_store_rows *rows = NULL;
    struct btz_store_row row;
    size_t at = 0;
    int rc = btz_store_rows_open(study->options.store, study->run, BTZ_STORE_BY_PLAN, &rows, err);

    while (rc == BTZ_OK && (rc = btz_store_rows_next(rows, &row, err)) == 1) {
        struct btz_str key;

        btz_arena_reset(study->scratch);
        key = btz_store_cell_key(study->scratch, &row.cell);
        rc = BTZ_OK;
        if (at >= study->cell_count || !btz_str_eq(plan_key(study, at, study->scratch), key)) {
            rc = btz_err_set(err, BTZ_EDENIED,
                             "cell %.*s of the run is not in today's plan: start a new run",
                             BTZ_FMT(key));
            break;
        }
        if (row.n > 0 && row.trial.outcome != BTZ_STORE_FAULT) {
            study->states[at] |= CELL_FINISHED;
            study->status.before++;
            study->status.finished++;
        }
        at++;
    }
    btz_store_rows_free(rows);
    return rc;
}

int btz_study_resume(const struct btz_study_options *options, const struct btz_store_run *run,
                     struct btz_study **out, struct btz_err *err)
{
    struct btz_study *study = new_study(options);
    struct btz_str text;
    const struct btz_json *card = NULL;
    int rc = btz_store_provenance(options->store, run->no, study->arena, &text, err);

    if (rc == BTZ_OK) {
        rc = card_read(study, text, &card, err);
    }
    if (rc == BTZ_OK) {
        rc = check_options(study, err);
    }
    if (rc == BTZ_OK &&
        btz_host_profile_named(study->options.host_profile, &study->profile) != BTZ_OK) {
        rc = btz_err_set(err, BTZ_ECORRUPT, "the run names a host profile that does not exist");
    }
    if (rc == BTZ_OK) {
        rc = plan_cells(study, err);
    }
    study->run = run->no;
    memcpy(study->run_id, run->id, sizeof(study->run_id));
    if (rc == BTZ_OK) {
        rc = mark_finished(study, err);
    }
    if (rc == BTZ_OK) {
        rc = make_runners(study, err);
    }
    if (rc == BTZ_OK) {
        rc = defences_check(study, card, err);
    }
    if (rc == BTZ_OK) {
        rc = defences_remember(study, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_store_run_attach(options->store, run->no, err);
    }
    if (rc != BTZ_OK) {
        study->ended = true;
        btz_study_free(study);
        return rc;
    }
    study->writer = writer_new(options->store, study->run);
    shuffle(study);
    study->status.run_id = study->run_id;
    *out = study;
    return BTZ_OK;
}

void btz_study_free(struct btz_study *study)
{
    if (!study) {
        return;
    }
    writer_free(study->writer);
    for (size_t i = 0; study->runners && i < study->options.model_count; i++) {
        btz_runner_free(study->runners[i]);
    }
    defences_close(study);
    btz_drive_free(study->drive);
    btz_arena_free(study->fault);
    btz_arena_free(study->scratch);
    btz_arena_free(study->arena);
    free(study);
}

static void note_fault(struct btz_study *study, struct btz_str text)
{
    btz_arena_reset(study->fault);
    study->status.last_fault = btz_arena_dup(study->fault, text);
}

static struct running *running_new(struct btz_study *study, size_t cell)
{
    struct running *running = study->idle;

    if (running) {
        study->idle = running->next;
    } else {
        running = BTZ_NEW(study->arena, struct running);
    }
    *running = (struct running){.cell = cell, .started_wall_us = btz_clock_wall_us()};
    return running;
}

static void running_free(struct btz_study *study, struct running *running)
{
    running->next = study->idle;
    study->idle = running;
}

static void retry_later(struct btz_study *study, size_t cell)
{
    study->retries = btz_arena_grow(study->arena, study->retries, study->retry_count,
                                    &study->retry_cap, sizeof(*study->retries));
    study->retries[study->retry_count++] = (uint32_t)cell;
}

static int attempts_of(const struct btz_study *study, size_t cell)
{
    return study->states[cell] & CELL_ATTEMPTS;
}

static uint64_t seed_of(const struct btz_study *study, const struct cell *cell)
{
    return btz_study_cell_seed(study->options.seed, cell->scenario->id, cell->repetition);
}

/* Puts a cell's trial into the store and counts it; `fault` is its text if it ended in one. */
static int put_trial(struct btz_study *study, size_t cell, const struct btz_store_trial *kept,
                     struct btz_trial *trial, struct btz_str fault, struct btz_err *err)
{
    study->states[cell] |= CELL_FINISHED;
    study->status.finished++;
    if (kept->outcome == BTZ_STORE_FAULT) {
        study->status.faults++;
        note_fault(study, fault);
    }
    return writer_put(study->writer, kept, trial, err);
}

/* A trial that cannot even be set up (a seed script that fails) is a fault of that cell alone. */
static int keep_unstartable(struct btz_study *study, const struct cell *cell,
                            const struct running *running, struct btz_err *err)
{
    char text[1200];
    struct btz_arena *arena = writer_room(study->writer);
    struct btz_str why = btz_arena_dup(arena, btz_str_of(btz_err_text(err, text, sizeof(text))));
    struct btz_store_trial kept = {
        .cell_key = plan_key(study, cell->at, arena),
        .outcome = BTZ_STORE_FAULT,
        .sub = btz_store_clip(why),
        .chain = {.act_event = -1,
                  .effect_event = -1,
                  .leak_ppm = -1,
                  .stopped_by = BTZ_STR("harness")},
        .utility = BTZ_STORE_UNKNOWN,
        .tokens = BTZ_STORE_TOKENS_UNKNOWN,
        .cost_nano = -1,
        .started_us = running->started_wall_us,
        .attempts = attempts_of(study, cell->at),
        .seed = seed_of(study, cell),
        .stop = BTZ_STR("fault"),
    };

    return put_trial(study, cell->at, &kept, NULL, why, err);
}

static int start_cell(struct btz_study *study, size_t at, struct btz_err *err)
{
    const struct btz_study_options *o = &study->options;
    struct cell cell = plan_cell(study, at);
    struct running *running = running_new(study, at);
    struct btz_trial_options options = {
        .lab = o->lab,
        .scenario = cell.scenario,
        .arm = cell.arm,
        .seed = seed_of(study, &cell),
        .revision = cell.revision,
        .carrier = o->carrier,
        .profile = study->profile,
        .arch = cell.arch,
        .defence = study->defences[cell.defence],
        .json_actions = o->models[cell.model].json_actions,
        .temperature = 0,
        .max_tokens = model_max_tokens(study, cell.model),
        .model_seed = (int64_t)cell.repetition,
    };
    struct btz_trial *trial = NULL;
    struct btz_str plan = BTZ_STR_NONE;
    int64_t began;
    int rc;

    btz_arena_reset(study->scratch);
    study->states[at]++; /* one attempt more */
    began = btz_clock_mono_us();
    rc = btz_trial_new(&options, &trial, err);
    if (rc ==
        BTZ_ECANCELLED) { /* out of time, or by a signal, of which the loop here has to hear */
        study->states[at]--;
        running_free(study, running);
        retry_later(study, at);
        btz_drive_wait(study->drive, 0);
        return BTZ_OK;
    }
    /* Without a gateway it would fail the same way again; one that hangs is waited for once. */
    if (rc != BTZ_OK && options.defence.proxy.target.len && attempts_of(study, at) < MAX_ATTEMPTS &&
        btz_clock_mono_us() - began < HUNG_US) {
        running_free(study, running);
        retry_later(study, at);
        return BTZ_OK;
    }
    if (rc != BTZ_OK) {
        rc = keep_unstartable(study, &cell, running, err);
        running_free(study, running);
        return rc;
    }
    if (o->models[cell.model].model.kind == BTZ_LLM_MODEL_REF) {
        plan =
            btz_json_text(study->scratch, btz_study_plans(study->scratch, btz_trial_stage(trial)));
    }
    rc = btz_runner_add(study->runners[cell.model], trial, plan, running, err);
    study->status.active++;
    return rc;
}

/* The next cell of a model: a fault to be retried first. False if there is none now. */
static bool next_cell(struct btz_study *study, size_t model, size_t *cell)
{
    for (size_t i = 0; i < study->retry_count; i++) {
        if (plan_cell(study, study->retries[i]).model == model) {
            *cell = study->retries[i];
            study->retries[i] = study->retries[--study->retry_count];
            return true;
        }
    }
    while (study->next[model] < study->order_count) {
        size_t at = study->order[study->next[model]++];

        if (plan_cell(study, at).model == model && !(study->states[at] & CELL_FINISHED)) {
            *cell = at;
            return true;
        }
    }
    return false;
}

/* Takes the trial. */
static int keep_trial(struct btz_study *study, struct btz_trial *trial, struct running *running,
                      struct btz_err *err)
{
    const struct btz_trial_record *record = btz_trial_record(trial);
    struct cell cell = plan_cell(study, running->cell);
    int attempts = attempts_of(study, running->cell);
    int64_t started = running->started_wall_us;
    struct btz_store_trial kept;
    struct btz_arena *arena;

    study->status.active--;
    running_free(study, running);
    if (record->outcome == BTZ_OUTCOME_FAULT && attempts < MAX_ATTEMPTS) {
        note_fault(study, record->fault);
        retry_later(study, cell.at);
        btz_trial_free(trial);
        return BTZ_OK;
    }
    arena = writer_room(study->writer);
    btz_study_keep(arena, record, plan_key(study, cell.at, arena), seed_of(study, &cell), started,
                   attempts, &kept);
    return put_trial(study, cell.at, &kept, trial, record->fault, err);
}

static bool is_over(const struct btz_study *study)
{
    return btz_drive_interrupted(study->drive) ||
           (study->end_us && btz_clock_mono_us() >= study->end_us);
}

/* Starts what may run and takes in what finished; `*moved` tells whether anything happened. */
static int turn_model(struct btz_study *study, size_t model, bool *moved, struct btz_err *err)
{
    struct btz_runner *runner = study->runners[model];
    struct btz_trial *trial = NULL;
    void *tag = NULL;
    size_t cell = 0;
    int rc = BTZ_OK;

    while (btz_runner_active(runner) < model_in_flight(study, model) && !is_over(study) &&
           next_cell(study, model, &cell)) {
        *moved = true;
        if ((rc = start_cell(study, cell, err)) != BTZ_OK) {
            return rc;
        }
    }
    while (rc == BTZ_OK && btz_runner_next(runner, &trial, &tag)) {
        *moved = true;
        rc = keep_trial(study, trial, tag, err);
    }
    return rc;
}

static bool all_done(const struct btz_study *study)
{
    return study->status.active == 0 && study->retry_count == 0 &&
           study->status.finished == study->status.planned;
}

/* A defence whose model is gone would fail on everything that is left: stops the run instead. */
static int check_asked(struct btz_study *study, const struct btz_drive_guard *asked,
                       const char *what, struct btz_err *err)
{
    struct btz_str down = asked ? btz_drive_guard_down(asked) : BTZ_STR_NONE;
    char reason[64];
    int rc;

    if (down.len == 0) {
        return BTZ_OK;
    }
    (void)snprintf(reason, sizeof(reason), "%s model down", what);
    rc = btz_study_stop(study, btz_str_of(reason), err);
    return rc != BTZ_OK
               ? rc
               : btz_err_set(err, BTZ_EMISSING,
                             "the %s model gives no answers: %.*s; %zu of %zu trials are kept; "
                             "once it answers go on with `bartizan run --resume %s`",
                             what, BTZ_FMT(down), study->status.finished, study->status.planned,
                             study->run_id);
}

static int poll_study(struct btz_study *study, int64_t timeout_us, struct btz_err *err)
{
    int64_t until = btz_clock_mono_us() + timeout_us;
    int64_t now;

    do {
        bool moved = false;
        int rc = BTZ_OK;

        for (size_t m = 0; rc == BTZ_OK && m < study->options.model_count; m++) {
            rc = turn_model(study, m, &moved, err);
        }
        if (rc == BTZ_OK) {
            rc = writer_tick(study->writer, err);
        }
        if (rc == BTZ_OK && !all_done(study)) {
            rc = check_asked(study, study->guard, "guard", err);
        }
        if (rc == BTZ_OK) {
            rc = check_asked(study, study->rewriter, "rewriting", err);
        }
        if (rc != BTZ_OK) {
            return rc;
        }
        if (all_done(study)) {
            rc = btz_study_stop(study, BTZ_STR("done"), err);
            return rc ? rc : BTZ_STEP_DONE;
        }
        now = btz_clock_mono_us();
        btz_drive_wait(study->drive, moved || now >= until ? 0 : until - now);
    } while (now < until && !btz_drive_interrupted(study->drive));
    return BTZ_STEP_WAIT;
}

int btz_study_poll(struct btz_study *study, int64_t timeout_us, struct btz_err *err)
{
    int rc = poll_study(study, timeout_us, err);
    int written = writer_drain(study->writer, rc < 0 ? NULL : err);

    return rc < 0 || written == BTZ_OK ? rc : written;
}

void btz_study_end_at(struct btz_study *study, int64_t end_us)
{
    study->end_us = end_us;
    for (size_t i = 0; i < study->options.defence_count; i++) {
        study->defences[i].proxy.until_us = end_us;
    }
}

int btz_study_interrupted(const struct btz_study *study)
{
    return btz_drive_interrupted(study->drive);
}

int btz_study_stop(struct btz_study *study, struct btz_str reason, struct btz_err *err)
{
    int rc;

    if (study->ended) {
        return BTZ_OK;
    }
    study->ended = true;
    rc = writer_drain(study->writer, err);
    return rc != BTZ_OK ? rc
                        : btz_store_run_end(study->options.store, study->run, reason,
                                            btz_clock_wall_us(), err);
}

void btz_study_status(const struct btz_study *study, struct btz_study_status *out)
{
    *out = study->status;
}
