#include "study/replay.h"

#include <stdlib.h>

#include "guard/guard.h"
#include "study/keep.h"
#include "study/study_int.h"
#include "trial/trial.h"

struct btz_replay {
    struct btz_lab *lab;
    struct btz_store *store;
    int64_t run;
    struct btz_arena *arena;   /* the card */
    struct btz_arena *scratch; /* one trial */
    const struct btz_json *card;
    struct btz_store_rows *rows;
    uint64_t seed;
    enum btz_carrier carrier;
    struct btz_guard_rules *rules; /* NULL until a trial needs them */
    struct btz_guard_scanner *scanner;
};

static int read_card(struct btz_replay *replay, struct btz_err *err)
{
    struct btz_str text;
    struct btz_str seed;
    int rc = btz_store_provenance(replay->store, replay->run, replay->arena, &text, err);

    if (rc == BTZ_OK) {
        rc = btz_json_parse(replay->arena, text, NULL, &replay->card, err);
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    if (!card_same_hash(replay->card, "pack_hash", btz_lab_pack_hash(replay->lab)) ||
        !card_same_hash(replay->card, "prompt_hash", btz_trial_prompt_hash())) {
        return btz_err_set(err, BTZ_EDENIED,
                           "the packs or prompts of this program are not those of the run; replay "
                           "it with the program and the --pack folders that made it");
    }
    for (size_t i = 0; i < btz_json_count(btz_json_getz(replay->card, "defences")); i++) {
        struct btz_str name = btz_json_str(btz_json_at(btz_json_getz(replay->card, "defences"), i));

        if (btz_str_starts(name, BTZ_STR("proxy:"))) {
            return btz_err_set(err, BTZ_EUSAGE,
                               "the run went through a gateway of somebody else (--defence "
                               "proxy:), which a replay does not have: it cannot be replayed");
        }
    }
    seed = btz_json_str(btz_json_getz(replay->card, "seed"));
    for (size_t i = 0; i < seed.len && seed.ptr[i] >= '0' && seed.ptr[i] <= '9'; i++) {
        replay->seed = replay->seed * 10 + (uint64_t)(seed.ptr[i] - '0');
    }
    if (seed.len == 0 || btz_carrier_named(btz_json_str(btz_json_getz(replay->card, "carrier")),
                                           &replay->carrier) != BTZ_OK) {
        return btz_err_set(err, BTZ_ECORRUPT, "the run's provenance card cannot be read");
    }
    return BTZ_OK;
}

int btz_replay_new(struct btz_lab *lab, struct btz_store *store, const struct btz_store_run *run,
                   struct btz_replay **out, struct btz_err *err)
{
    struct btz_replay *replay = calloc(1, sizeof(*replay));
    int rc;

    if (!replay) {
        btz_panic("out of memory");
    }
    replay->lab = lab;
    replay->store = store;
    replay->run = run->no;
    replay->arena = btz_arena_new();
    replay->scratch = btz_arena_new();
    rc = read_card(replay, err);
    if (rc == BTZ_OK) {
        rc = btz_store_rows_open(store, run->no, BTZ_STORE_BY_NUMBER, &replay->rows, err);
    }
    if (rc != BTZ_OK) {
        btz_replay_free(replay);
        return rc;
    }
    *out = replay;
    return BTZ_OK;
}

void btz_replay_free(struct btz_replay *replay)
{
    if (replay) {
        btz_store_rows_free(replay->rows);
        btz_guard_scanner_free(replay->scanner);
        btz_guard_rules_free(replay->rules);
        btz_arena_free(replay->scratch);
        btz_arena_free(replay->arena);
        free(replay);
    }
}

static const struct btz_json *card_of(const struct btz_replay *replay, struct btz_str model)
{
    const struct btz_json *models = btz_json_getz(replay->card, "models");

    for (size_t i = 0; i < btz_json_count(models); i++) {
        const struct btz_json *m = btz_json_at(models, i);

        if (btz_str_eq(btz_json_str(btz_json_getz(m, "reference")), model)) {
            return m;
        }
    }
    return NULL;
}

/* The defence of a cell, with the rules of this program if they are those of the run. */
static int defence_of(struct btz_replay *replay, struct btz_str name, struct btz_defence *out,
                      struct btz_err *err)
{
    int rc = BTZ_OK;

    if (btz_defence_named(name, out) != BTZ_OK) {
        return btz_err_set(err, BTZ_EDENIED,
                           "defence \"%.*s\" of the run cannot be replayed by this program",
                           BTZ_FMT(name));
    }
    if (out->canon &&
        !card_same_hash(btz_json_getz(replay->card, "guard"), "canon_hash", btz_canon_hash())) {
        return btz_err_set(err, BTZ_EDENIED,
                           "the rules of canonicalisation of this program are not those of the "
                           "run; replay it with the program that made it");
    }
    if (out->model || !(out->input || out->context)) {
        return BTZ_OK;
    }
    if (!replay->rules) {
        rc = btz_guard_rules_new(NULL, &replay->rules, err);
        if (rc != BTZ_OK) {
            return rc;
        }
        replay->scanner = btz_guard_scanner_new(replay->rules);
    }
    if (!card_same_hash(btz_json_getz(replay->card, "guard"), "rules_hash",
                        btz_guard_rules_hash(replay->rules))) {
        return btz_err_set(err, BTZ_EDENIED,
                           "the guard's rules of this program are not those of the run; replay it "
                           "with the program that made it");
    }
    out->scanner = replay->scanner;
    return BTZ_OK;
}

static int options_of(struct btz_replay *replay, const struct btz_store_cell *cell,
                      struct btz_trial_options *out, struct btz_err *err)
{
    struct btz_str id = btz_arena_printf(replay->scratch, "%.*s/%.*s", BTZ_FMT(cell->attack),
                                         BTZ_FMT(cell->variant));
    const struct btz_json *model = card_of(replay, cell->model);
    int64_t max_tokens = 0;
    int arm = BTZ_ARM_ATTACK;

    while (arm <= BTZ_ARM_BENIGN && !btz_str_is(cell->arm, btz_arm_name((enum btz_arm)arm))) {
        arm++;
    }
    if (!btz_json_int64(btz_json_getz(model, "max_tokens"), &max_tokens)) {
        return btz_err_set(err, BTZ_ECORRUPT, "the run's provenance card does not know model %.*s",
                           BTZ_FMT(cell->model));
    }
    *out = (struct btz_trial_options){
        .lab = replay->lab,
        .scenario = btz_lab_scenario_find(replay->lab, id),
        .arm = (enum btz_arm)arm,
        .seed = btz_study_cell_seed(replay->seed, id, cell->repetition),
        .revision = btz_mcp_revision_parse(cell->revision),
        .carrier = replay->carrier,
        .json_actions = btz_str_is(btz_json_str(btz_json_getz(model, "actions")), "json"),
        .max_tokens = max_tokens,
        .model_seed = (int64_t)cell->repetition,
    };
    if (!out->scenario || arm > BTZ_ARM_BENIGN || out->revision == BTZ_MCP_REVISION_NONE ||
        btz_arch_named(cell->architecture, &out->arch) != BTZ_OK ||
        btz_host_profile_named(cell->host_profile, &out->profile) != BTZ_OK) {
        return btz_err_set(err, BTZ_ECORRUPT, "cell %.*s cannot be made of today's packs",
                           BTZ_FMT(btz_store_cell_key(replay->scratch, cell)));
    }
    return defence_of(replay, cell->defence, &out->defence, err);
}

static bool same_request(const struct btz_need *need, const struct btz_store_exchange *e)
{
    bool same = need->part_count == e->part_count;

    for (size_t i = 0; same && i < e->part_count; i++) {
        same = btz_str_eq(need->parts[i], e->parts[i]);
    }
    return same;
}

/* Runs from before the mark have it of their last request only, as the reason why they stopped. */
static bool was_rejected(const struct btz_store_trial *stored, const struct btz_store_exchange *e,
                         bool last)
{
    return (btz_str_is(e->stop, BTZ_FINISH_REJECTED) && e->model.len == 0) ||
           (last && btz_str_is(stored->stop, btz_stop_name(BTZ_STOP_REJECTED)));
}

/* A guard or rewriting model that gave no answer; the trial went on. */
static bool had_failed(const struct btz_store_exchange *e)
{
    return btz_str_is(e->stop, BTZ_FINISH_FAILED) && e->model.len == 0 &&
           (btz_str_is(e->role, BTZ_ROLE_GUARD) || btz_str_is(e->role, BTZ_ROLE_REWRITE));
}

/* Feeds the recorded replies. An empty text if each request was the recorded one. */
static struct btz_str feed(struct btz_replay *replay, struct btz_trial *trial,
                           const struct btz_store_trial *stored)
{
    struct btz_answer answer = {.status = BTZ_ANSWER_START};
    struct btz_str what = BTZ_STR_NONE;
    struct btz_needs needs;
    size_t used = 0;
    int rc;

    btz_needs_init(&needs);
    while ((rc = btz_trial_step(trial, &answer, &needs)) == BTZ_STEP_WAIT) {
        const struct btz_need *need = &needs.items[0];
        const struct btz_store_exchange *e = &stored->exchanges[used];
        bool last = used + 1 == stored->exchange_count;

        if (used == stored->exchange_count) {
            what = BTZ_STR("it asks the model once more than it did");
            break;
        }
        if (!same_request(need, e)) {
            what = btz_arena_printf(replay->scratch, "request %zu is another one", used + 1);
            break;
        }
        answer = (struct btz_answer){
            .id = need->id,
            .status = was_rejected(stored, e, last) ? BTZ_ANSWER_REJECTED
                      : had_failed(e)               ? BTZ_ANSWER_FAILED
                                                    : BTZ_ANSWER_OK,
            .bytes = e->reply,
            .took_us = e->took_us,
            .attempts = 1,
        };
        needs.count = 0;
        used++;
    }
    btz_needs_fini(&needs);
    if (what.len == 0 && rc != BTZ_STEP_DONE) {
        what = BTZ_STR("it does not come to its end");
    }
    if (what.len == 0 && used < stored->exchange_count) {
        what = BTZ_STR("it ends before all recorded replies were used");
    }
    return what;
}

static struct btz_str compare_events(struct btz_replay *replay, const struct btz_store_trial *a,
                                     const struct btz_store_trial *b)
{
    for (size_t i = 0; i < a->event_count && i < b->event_count; i++) {
        const struct btz_store_event *x = &a->events[i];
        const struct btz_store_event *y = &b->events[i];

        if (x->layer != y->layer || x->visible != y->visible || x->turn != y->turn ||
            !btz_str_eq(x->kind, y->kind) || !btz_str_eq(x->payload, y->payload)) {
            return btz_arena_printf(replay->scratch, "event %zu (%s %.*s) is another one", i + 1,
                                    btz_store_layer_name(x->layer), BTZ_FMT(x->kind));
        }
    }
    if (a->event_count != b->event_count) {
        return btz_arena_printf(replay->scratch, "%zu events instead of %zu", b->event_count,
                                a->event_count);
    }
    return BTZ_STR_NONE;
}

static struct btz_str compare_verdicts(struct btz_replay *replay, const struct btz_store_trial *a,
                                       const struct btz_store_trial *b)
{
    for (size_t i = 0; i < b->verdict_count; i++) {
        const struct btz_store_verdict *y = &b->verdicts[i];
        const struct btz_store_verdict *x = NULL;

        for (size_t j = 0; j < a->verdict_count && !x; j++) {
            x = !a->verdicts[j].late && btz_str_eq(a->verdicts[j].source, y->source) &&
                        btz_str_eq(a->verdicts[j].name, y->name)
                    ? &a->verdicts[j]
                    : NULL;
        }
        if (!x || x->success != y->success || x->act_event != y->act_event ||
            x->effect_event != y->effect_event ||
            (!btz_str_is(y->name, "cost") && !btz_str_eq(x->json, y->json))) {
            return btz_arena_printf(replay->scratch, "the verdict of %.*s is another one",
                                    BTZ_FMT(y->source));
        }
    }
    return BTZ_STR_NONE;
}

/* The first thing in which the recomputed trial `b` differs from the stored `a`. */
static struct btz_str compare(struct btz_replay *replay, const struct btz_store_trial *a,
                              const struct btz_store_trial *b)
{
    struct btz_str what = compare_events(replay, a, b);

    what = what.len ? what : compare_verdicts(replay, a, b);
    if (what.len) {
        return what;
    }
    if (a->outcome != b->outcome || !btz_str_eq(a->sub, b->sub)) {
        return btz_arena_printf(replay->scratch, "outcome %s instead of %s",
                                btz_store_outcome_name(b->outcome),
                                btz_store_outcome_name(a->outcome));
    }
    if (!btz_hash_eq(&a->trajectory, &b->trajectory)) {
        return BTZ_STR("the trajectory hash is another one");
    }
    return a->utility == b->utility && a->turns == b->turns && btz_str_eq(a->stop, b->stop)
               ? BTZ_STR_NONE
               : BTZ_STR("utility, turns or the reason it stopped are others");
}

static int replay_one(struct btz_replay *replay, const struct btz_store_row *row,
                      struct btz_str *what, struct btz_err *err)
{
    struct btz_trial_options options;
    struct btz_trial *trial = NULL;
    struct btz_store_row loaded;
    struct btz_store_trial made;
    int rc =
        btz_store_trial_load(replay->store, replay->run, row->n, replay->scratch, &loaded, err);

    if (rc == BTZ_OK) {
        rc = options_of(replay, &loaded.cell, &options, err);
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    if (options.seed != loaded.trial.seed) {
        *what = BTZ_STR("its seed does not follow from the card");
        return BTZ_OK;
    }
    rc = btz_trial_new(&options, &trial, err);
    if (rc != BTZ_OK) {
        return rc;
    }
    *what = feed(replay, trial, &loaded.trial);
    if (what->len == 0) {
        btz_study_keep(replay->scratch, btz_trial_record(trial), loaded.trial.cell_key,
                       options.seed, 0, 1, &made);
        *what = compare(replay, &loaded.trial, &made);
    }
    btz_trial_free(trial);
    return BTZ_OK;
}

int btz_replay_next(struct btz_replay *replay, struct btz_replay_trial *out, struct btz_err *err)
{
    struct btz_store_row row;
    struct btz_str what = BTZ_STR_NONE;
    int rc = btz_store_rows_next(replay->rows, &row, err);

    if (rc != 1) {
        return rc;
    }
    btz_arena_reset(replay->scratch);
    *out = (struct btz_replay_trial){.n = row.n,
                                     .key = btz_store_cell_key(replay->scratch, &row.cell)};
    if (row.trial.outcome == BTZ_STORE_FAULT) {
        out->status = BTZ_REPLAY_SKIPPED;
        out->what = BTZ_STR("it ended in a fault");
        return 1;
    }
    rc = replay_one(replay, &row, &what, err);
    if (rc != BTZ_OK) {
        return rc;
    }
    out->status = what.len ? BTZ_REPLAY_DIFFERS : BTZ_REPLAY_EQUAL;
    out->what = what;
    return 1;
}
