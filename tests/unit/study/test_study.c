/* Running a study: to its end, stopped and resumed, with faults; the provenance card. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../store/make.h"
#include "bench.h"
#include "study/study_int.h"
#include "json/json.h"
#include "trial/trial.h"

static const char *const packs[] = {"trial", NULL};
static const char *const one[] = {"ref:reader", NULL};
static const char *const two[] = {"ref:reader", "ref:floor", NULL};
static const struct btz_str core[] = {{"tool-poisoning", 14}, {"indirect-prompt-injection", 25}};

static struct bench *core_bench(const char *const *models)
{
    struct bench *b = bench_new(packs, models);

    b->options.attacks = core;
    b->options.attack_count = 2;
    return b;
}

static void assert_verifies(struct bench *b)
{
    struct btz_store_check check;

    MAKE_OK(btz_store_verify(b->store, bench_run(b, "last").no, &check, &b->err), &b->err);
    if (!check.ok) {
        fail_msg("%s", check.what);
    }
}

static void to_the_end(void **state)
{
    struct bench *b = core_bench(two);
    struct btz_study *study = bench_study(b);
    struct btz_study_status status;
    struct btz_store_counts counts;
    const struct btz_store_row *rows;
    size_t count;

    (void)state;
    b->options.in_flight = 3;
    btz_study_status(study, &status);
    assert_int_equal(status.planned, 60);
    assert_int_equal(status.finished, 0);
    assert_int_equal(bench_run(b, status.run_id).status, BTZ_STORE_RUN_RUNNING);
    bench_finish(b, study);
    assert_int_equal(bench_run(b, "last").status, BTZ_STORE_RUN_DONE);
    assert_text(bench_run(b, "last").end_reason, "done");
    MAKE_OK(btz_store_count(b->store, bench_run(b, "last").no, &counts, &b->err), &b->err);
    assert_int_equal(counts.outcome[BTZ_STORE_OUTCOME_NONE], 0);
    assert_int_equal(counts.outcome[BTZ_STORE_FAULT], 0);
    assert_int_equal(counts.outcome[BTZ_STORE_SUSCEPTIBLE], 10);
    rows = bench_rows(b, BTZ_STORE_BY_PLAN, &count);
    for (size_t i = 0; i < count; i++) {
        bool reader = btz_str_is(rows[i].cell.model, "ref:reader");
        bool attack = btz_str_is(rows[i].cell.arm, "attack");

        assert_int_equal(rows[i].trial.outcome == BTZ_STORE_SUSCEPTIBLE, reader && attack);
        assert_int_equal(rows[i].trial.attempts, 1);
        assert_text(rows[i].trial.stop, "final_answer");
    }
    assert_verifies(b);
    bench_free(b);
}

static void status_counts(void **state)
{
    struct bench *b = core_bench(one);
    struct btz_study *study = bench_study(b);
    struct btz_study_status status;
    size_t polls = 0;
    int rc = BTZ_STEP_WAIT;

    (void)state;
    while (polls < 100 && (rc = btz_study_poll(study, 0, &b->err)) == BTZ_STEP_WAIT) {
        size_t before = ++polls;

        btz_study_status(study, &status);
        assert_int_equal(status.finished, before); /* one in flight: one trial a poll */
        assert_int_equal(status.active, 0);
    }
    assert_int_equal(rc, BTZ_STEP_DONE);
    btz_study_status(study, &status);
    assert_int_equal(status.finished, 30);
    assert_int_equal(status.planned, 30);
    assert_int_equal(status.before, 0);
    assert_int_equal(status.faults, 0);
    assert_int_equal(status.last_fault.len, 0);
    assert_int_equal(btz_study_interrupted(study), 0);
    MAKE_OK(btz_study_stop(study, BTZ_STR("too late"), &b->err), &b->err);
    assert_text(bench_run(b, "last").end_reason, "done");
    btz_study_free(study);
    bench_free(b);
}

/* What a resume gets: lab, store, models; everything else comes from the card. */
static struct btz_study_options resume_options(struct bench *b)
{
    return (struct btz_study_options){.lab = b->lab,
                                      .store = b->store,
                                      .models = b->models,
                                      .model_count = b->options.model_count,
                                      .name = BTZ_STR("quick"),
                                      .seed = 99,
                                      .in_flight = 2,
                                      .command = BTZ_STR("bartizan resume last")};
}

/* Said before anything is certified: another program's run is not gone on with. */
static void another_programs_run(void **state)
{
    struct bench *b = core_bench(two);
    struct btz_study *study = bench_study(b);
    struct btz_store_run run;
    struct btz_str card;
    struct btz_hash other = b->options.binary;
    struct btz_lab *wider = bench_lab((const char *const[]){"below", NULL}, 0);

    (void)state;
    MAKE_OK(btz_study_stop(study, BTZ_STR("enough"), &b->err), &b->err);
    btz_study_free(study);
    run = bench_run(b, "last");
    MAKE_OK(btz_store_provenance(b->store, run.no, b->arena, &card, &b->err), &b->err);
    MAKE_OK(btz_study_may_go_on(b->arena, card, b->lab, &other, &b->err), &b->err);
    other.bytes[0] ^= 1;
    assert_int_equal(btz_study_may_go_on(b->arena, card, b->lab, &other, &b->err), BTZ_EDENIED);
    assert_holds(btz_str_of(b->err.msg), "this program is not the one that began the run");
    assert_int_equal(btz_study_may_go_on(b->arena, card, wider, &b->options.binary, &b->err),
                     BTZ_EDENIED);
    assert_holds(btz_str_of(b->err.msg), "the packs or prompts");
    btz_lab_free(wider);
    bench_free(b);
}

static void stop_and_resume(void **state)
{
    struct bench *b = core_bench(two);
    struct btz_study *study = bench_study(b);
    struct btz_study_options options;
    struct btz_study_status status;
    struct btz_store_run run;
    const struct btz_store_row *before, *after;
    size_t count, all;

    (void)state;
    for (int i = 0; i < 9; i++) {
        assert_int_equal(btz_study_poll(study, 0, &b->err), BTZ_STEP_WAIT);
    }
    MAKE_OK(btz_study_stop(study, BTZ_STR("enough"), &b->err), &b->err);
    btz_study_free(study);
    run = bench_run(b, "last");
    assert_int_equal(run.status, BTZ_STORE_RUN_INTERRUPTED);
    assert_text(run.end_reason, "enough");
    before = bench_rows(b, BTZ_STORE_BY_NUMBER, &count);
    assert_int_equal(count, 18);

    options = resume_options(b);
    study = NULL;
    MAKE_OK(btz_study_resume(&options, &run, &study, &b->err), &b->err);
    btz_study_status(study, &status);
    assert_string_equal(status.run_id, run.id);
    assert_int_equal(status.planned, 60);
    assert_int_equal(status.before, 18);
    assert_int_equal(status.finished, 18);
    assert_int_equal(bench_run(b, "last").status, BTZ_STORE_RUN_RUNNING);
    bench_finish(b, study);
    assert_int_equal(bench_run(b, "last").status, BTZ_STORE_RUN_DONE);

    /* The trials of before stand, and the rest has exactly one each. */
    after = bench_rows(b, BTZ_STORE_BY_NUMBER, &all);
    assert_int_equal(all, 60);
    for (size_t i = 0; i < count; i++) {
        assert_true(btz_str_eq(before[i].trial.cell_key, after[i].trial.cell_key));
        assert_true(btz_hash_eq(&before[i].link, &after[i].link));
    }
    for (size_t i = 0; i < all; i++) {
        for (size_t k = 0; k < i; k++) {
            assert_false(btz_str_eq(after[i].trial.cell_key, after[k].trial.cell_key));
        }
        assert_true(after[i].current);
    }
    assert_verifies(b);
    bench_free(b);
}

/* Limits of a model: its own count before the study's, a resume takes them from the card. */
static void limits_of_models(void **state)
{
    struct bench *b = core_bench(two);
    const struct btz_json *card = NULL;
    struct btz_study_options options;
    struct btz_store_run run;
    struct btz_study *study;
    struct btz_str before, after;
    int64_t number = 0;

    (void)state;
    b->options.in_flight = 3;
    b->models[1].in_flight = 5;
    b->models[1].max_tokens = 90;
    b->models[1].request_timeout_us = 7000000;
    study = bench_study(b);
    assert_int_equal(model_in_flight(study, 0), 3);
    assert_int_equal(model_in_flight(study, 1), 5);
    assert_true(model_max_tokens(study, 0) == 700 && model_max_tokens(study, 1) == 90);
    assert_true(model_timeout_us(study, 0) == 0 && model_timeout_us(study, 1) == 7000000);
    MAKE_OK(btz_study_stop(study, BTZ_STR("enough"), &b->err), &b->err);
    btz_study_free(study);
    run = bench_run(b, "last");
    MAKE_OK(btz_store_provenance(b->store, run.no, b->arena, &before, &b->err), &b->err);
    MAKE_OK(btz_json_parse(b->arena, before, NULL, &card, &b->err), &b->err);
    assert_null(btz_json_getz(card, "max_tokens")); /* there is not one number for both */
    assert_true(btz_json_int64(btz_json_pointer(card, BTZ_STR("/models/1/in_flight")), &number) &&
                number == 5);

    b->models[1].in_flight = 0;
    b->models[1].max_tokens = 11; /* the card's counts */
    b->models[1].request_timeout_us = 0;
    options = resume_options(b);
    options.in_flight = 0;
    study = NULL;
    MAKE_OK(btz_study_resume(&options, &run, &study, &b->err), &b->err);
    assert_int_equal(model_in_flight(study, 0), 3);
    assert_int_equal(model_in_flight(study, 1), 5);
    assert_true(model_max_tokens(study, 0) == 700 && model_max_tokens(study, 1) == 90);
    assert_true(model_timeout_us(study, 1) == 7000000);
    btz_study_free(study);
    options.in_flight = 2; /* the caller's counts */
    study = NULL;
    run = bench_run(b, "last");
    MAKE_OK(btz_study_resume(&options, &run, &study, &b->err), &b->err);
    assert_int_equal(model_in_flight(study, 0), 2);
    assert_int_equal(model_in_flight(study, 1), 2);
    bench_finish(b, study);
    MAKE_OK(btz_store_provenance(b->store, run.no, b->arena, &after, &b->err), &b->err);
    assert_true(btz_str_eq(before, after));
    bench_free(b);
}

/* A resumed study gives what an unbroken one gives. */
static void resumed_equals_unbroken(void **state)
{
    struct bench *b = core_bench(one);
    struct btz_study_options options;
    struct btz_store_run run;
    struct btz_study *study;
    const struct btz_store_row *whole, *broken;
    size_t count, again;

    (void)state;
    bench_finish(b, bench_study(b));
    whole = bench_rows(b, BTZ_STORE_BY_PLAN, &count);
    study = bench_study(b);
    for (int i = 0; i < 7; i++) {
        assert_int_equal(btz_study_poll(study, 0, &b->err), BTZ_STEP_WAIT);
    }
    btz_study_free(study); /* without a stop, as after a crash */
    run = bench_run(b, "last");
    options = resume_options(b);
    study = NULL;
    MAKE_OK(btz_study_resume(&options, &run, &study, &b->err), &b->err);
    bench_finish(b, study);
    broken = bench_rows(b, BTZ_STORE_BY_PLAN, &again);
    assert_int_equal(count, again);
    for (size_t i = 0; i < count; i++) {
        assert_true(btz_str_eq(whole[i].trial.cell_key, broken[i].trial.cell_key));
        assert_int_equal(whole[i].trial.outcome, broken[i].trial.outcome);
        assert_true(whole[i].trial.seed == broken[i].trial.seed);
        assert_true(btz_hash_eq(&whole[i].trial.trajectory, &broken[i].trial.trajectory));
    }
    bench_free(b);
}

static void resume_of_other_packs_is_refused(void **state)
{
    static const char *const more[] = {"trial", "below", NULL};
    struct bench *b = core_bench(one);
    struct btz_study *study = bench_study(b);
    struct btz_study_options options;
    struct btz_store_run run;
    struct btz_lab *other = bench_lab(more, 0);

    (void)state;
    assert_int_equal(btz_study_poll(study, 0, &b->err), BTZ_STEP_WAIT);
    MAKE_OK(btz_study_stop(study, BTZ_STR("enough"), &b->err), &b->err);
    btz_study_free(study);
    study = NULL;
    run = bench_run(b, "last");
    options = resume_options(b);
    options.lab = other;
    assert_int_equal(btz_study_resume(&options, &run, &study, &b->err), BTZ_EDENIED);
    assert_null(study);
    assert_holds(btz_str_of(b->err.msg), "start a new run");
    assert_int_equal(bench_run(b, "last").status, BTZ_STORE_RUN_INTERRUPTED);

    /* Other models than those of the card do not fit the planned cells. */
    options = resume_options(b);
    MAKE_OK(btz_llm_model_parse(b->arena, BTZ_STR("ref:null"), NULL, &b->models[0].model, &b->err),
            &b->err);
    assert_int_equal(btz_study_resume(&options, &run, &study, &b->err), BTZ_EDENIED);
    assert_null(study);
    btz_lab_free(other);
    bench_free(b);
}

static struct bench *faulty_bench(void)
{
    static const struct btz_str attack[] = {{"errand", 6}};
    static const struct btz_str variants[] = {{"v1", 2}, {"v9", 2}};
    struct bench *b = bench_new(packs, one);

    b->options.attacks = attack;
    b->options.attack_count = 1;
    b->options.variants = variants;
    b->options.variant_count = 2;
    return b;
}

static void faults(void **state)
{
    struct bench *b = faulty_bench();
    struct btz_study *study = bench_study(b);
    struct btz_study_status status;
    const struct btz_store_row *rows;
    size_t count;
    int rc = BTZ_STEP_WAIT;

    (void)state;
    for (int i = 0; i < 100 && rc == BTZ_STEP_WAIT; i++) {
        rc = btz_study_poll(study, 0, &b->err);
    }
    assert_int_equal(rc, BTZ_STEP_DONE);
    btz_study_status(study, &status);
    assert_int_equal(status.finished, 6);
    assert_int_equal(status.faults, 3);
    assert_holds(status.last_fault, "the till is stuck");
    btz_study_free(study);
    rows = bench_rows(b, BTZ_STORE_BY_PLAN, &count);
    assert_int_equal(count, 6);
    for (size_t i = 0; i < count; i++) {
        bool bad = btz_str_is(rows[i].cell.variant, "v9");

        assert_int_equal(rows[i].trial.outcome == BTZ_STORE_FAULT, bad);
        assert_int_equal(rows[i].trial.attempts, bad ? 3 : 1); /* tried again twice */
        if (bad) {
            assert_holds(rows[i].trial.sub, "the till is stuck");
            assert_int_equal(rows[i].trial.utility, BTZ_STORE_UNKNOWN);
        }
    }
    (void)bench_rows(b, BTZ_STORE_BY_NUMBER, &count);
    assert_int_equal(count, 6); /* the first two attempts left nothing */
    bench_free(b);
}

/* A trial that cannot be set up is a fault of its cell, and the others go on. */
static void unstartable_cells_are_faults(void **state)
{
    static const char *const pack[] = {"unstartable", NULL};
    static const struct btz_str attacks[] = {{"unstartable", 11}, {"tool-poisoning", 14}};
    struct bench *b = bench_new(pack, one);
    const struct btz_store_row *rows;
    size_t count;

    (void)state;
    b->options.attacks = attacks;
    b->options.attack_count = 2;
    bench_finish(b, bench_study(b));
    rows = bench_rows(b, BTZ_STORE_BY_PLAN, &count);
    assert_int_equal(count, 3 + 15);
    for (size_t i = 0; i < count; i++) {
        bool bad = btz_str_is(rows[i].cell.attack, "unstartable");

        assert_int_equal(rows[i].trial.outcome == BTZ_STORE_FAULT, bad);
        if (bad) {
            assert_holds(rows[i].trial.sub, "the shelf fell down");
        }
    }
    assert_verifies(b);
    bench_free(b);
}

/* A resume tries faults again; the new trial takes the place of the old one. */
static void resume_of_faults(void **state)
{
    struct bench *b = faulty_bench();
    struct btz_study_options options;
    struct btz_study_status status;
    struct btz_study *study = NULL;
    struct btz_store_run run;
    const struct btz_store_row *rows;
    size_t count;
    size_t superseded = 0;

    (void)state;
    bench_finish(b, bench_study(b));
    run = bench_run(b, "last");
    options = resume_options(b);
    MAKE_OK(btz_study_resume(&options, &run, &study, &b->err), &b->err);
    btz_study_status(study, &status);
    assert_int_equal(status.before, 3);
    bench_finish(b, study);
    rows = bench_rows(b, BTZ_STORE_BY_NUMBER, &count);
    assert_int_equal(count, 9);
    for (size_t i = 0; i < count; i++) {
        superseded += !rows[i].current;
    }
    assert_int_equal(superseded, 3);
    assert_verifies(b);
    bench_free(b);
}

static void card_hash(const struct btz_json *card, const char *key, struct btz_hash hash)
{
    char hex[65];

    assert_text(btz_json_str(btz_json_getz(card, key)), btz_hash_hex(&hash, hex));
}

static void card(void **state)
{
    static const struct btz_str variants[] = {{"v1", 2}};
    static const struct btz_str surfaces[] = {{"st", 2}};
    struct bench *b = core_bench(two);
    const struct btz_json *json = NULL;
    const struct btz_json *attacks;
    struct btz_str text, *references;
    size_t count;
    int64_t number = 0;

    (void)state;
    b->options.seed = UINT64_MAX;
    b->options.repetitions = 3;
    b->options.variants = variants;
    b->options.variant_count = 1;
    b->options.surfaces = surfaces;
    b->options.surface_count = 1;
    b->options.carrier = BTZ_CARRIER_STDIO;
    b->revision = BTZ_MCP_2024_11_05;
    b->options.host_profile = BTZ_STR("spec");
    b->options.binary = btz_lab_pack_hash(b->lab);
    b->models[1].json_actions = true;
    btz_study_free(bench_study(b));
    MAKE_OK(btz_store_provenance(b->store, bench_run(b, "last").no, b->arena, &text, &b->err),
            &b->err);
    MAKE_OK(btz_json_parse(b->arena, text, NULL, &json, &b->err), &b->err);
    assert_text(btz_json_str(btz_json_getz(json, "version")), BTZ_VERSION);
    assert_text(btz_json_str(btz_json_getz(json, "study")), "all");
    assert_text(btz_json_str(btz_json_getz(json, "command")), "bartizan run all");
    card_hash(json, "pack_hash", btz_lab_pack_hash(b->lab));
    card_hash(json, "prompt_hash", btz_trial_prompt_hash());
    card_hash(json, "binary_hash", b->options.binary);
    assert_text(btz_json_str(btz_json_getz(json, "host_profile")), "spec");
    assert_text(btz_json_str(btz_json_pointer(json, BTZ_STR("/revisions/0"))), "2024-11-05");
    assert_text(btz_json_str(btz_json_getz(json, "carrier")), "stdio");
    assert_text(btz_json_str(btz_json_getz(json, "seed")), "18446744073709551615");
    assert_true(btz_json_int64(btz_json_getz(json, "repetitions"), &number) && number == 3);
    assert_true(btz_json_int64(btz_json_getz(json, "max_tokens"), &number) && number == 700);
    assert_true(btz_json_int64(btz_json_getz(json, "temperature"), &number) && number == 0);
    assert_text(btz_json_str(btz_json_pointer(json, BTZ_STR("/models/0/reference"))), "ref:reader");
    assert_text(btz_json_str(btz_json_pointer(json, BTZ_STR("/models/0/actions"))), "native");
    assert_text(btz_json_str(btz_json_pointer(json, BTZ_STR("/models/1/actions"))), "json");
    assert_text(btz_json_str(btz_json_pointer(json, BTZ_STR("/only_attacks/1"))),
                "indirect-prompt-injection");
    assert_text(btz_json_str(btz_json_pointer(json, BTZ_STR("/only_variants/0"))), "v1");
    assert_text(btz_json_str(btz_json_pointer(json, BTZ_STR("/only_surfaces/0"))), "st");
    attacks = btz_json_getz(json, "attacks");
    assert_true(btz_json_count(attacks) >= 3);
    for (size_t i = 0; i < btz_json_count(attacks); i++) {
        const struct btz_json *a = btz_json_at(attacks, i);
        struct btz_str v1 =
            btz_arena_printf(b->arena, "%.*s/v1", BTZ_FMT(btz_json_str(btz_json_getz(a, "id"))));
        const struct btz_scenario *s = btz_lab_scenario_find(b->lab, v1);

        assert_non_null(s);
        assert_true(btz_str_eq(btz_json_str(btz_json_getz(a, "surface")), s->surface));
        assert_text(btz_json_str(btz_json_getz(a, "oracle")),
                    s->semantic ? "semantic" : "deterministic");
        assert_true(btz_json_str(btz_json_getz(a, "mapping")).len > 0);
    }
    MAKE_OK(btz_study_models_of(b->arena, text, &references, &count, &b->err), &b->err);
    assert_int_equal(count, 2);
    assert_text(references[0], "ref:reader");
    assert_text(references[1], "ref:floor");
    assert_int_equal(btz_study_models_of(b->arena, BTZ_STR("{"), &references, &count, &b->err),
                     BTZ_EINVAL);
    bench_free(b);
}

/* All that a card says comes back: the cells of a resumed run are the planned ones. */
static void card_is_read_back(void **state)
{
    static const struct btz_str variants[] = {{"v1", 2}, {"v4", 2}};
    static const struct btz_str surfaces[] = {{"st", 2}};
    struct bench *b = core_bench(one);
    struct btz_study_options options;
    struct btz_study *study;
    struct btz_store_run run;
    const struct btz_store_row *rows;
    size_t count;

    (void)state;
    b->options.seed = UINT64_MAX - 1;
    b->options.repetitions = 2;
    b->options.variants = variants;
    b->options.variant_count = 2;
    b->options.surfaces = surfaces;
    b->options.surface_count = 1;
    b->options.carrier = BTZ_CARRIER_STDIO;
    b->revision = BTZ_MCP_2025_03_26;
    b->options.host_profile = BTZ_STR("hardened");
    study = bench_study(b);
    assert_int_equal(btz_study_poll(study, 0, &b->err), BTZ_STEP_WAIT);
    MAKE_OK(btz_study_stop(study, BTZ_STR("enough"), &b->err), &b->err);
    btz_study_free(study);
    study = NULL;
    run = bench_run(b, "last");
    options = resume_options(b);
    MAKE_OK(btz_study_resume(&options, &run, &study, &b->err), &b->err);
    bench_finish(b, study);
    rows = bench_rows(b, BTZ_STORE_BY_NUMBER, &count);
    assert_int_equal(count, 2 * 2 * 3 * 2);
    for (size_t i = 0; i < count; i++) {
        assert_text(rows[i].cell.revision, "2025-03-26");
        assert_text(rows[i].cell.host_profile, "hardened");
        assert_true(rows[i].trial.seed ==
                    btz_study_cell_seed(UINT64_MAX - 1,
                                        btz_arena_printf(b->arena, "%.*s/%.*s",
                                                         BTZ_FMT(rows[i].cell.attack),
                                                         BTZ_FMT(rows[i].cell.variant)),
                                        rows[i].cell.repetition));
    }
    bench_free(b);
}

/* JSON actions give the verdicts of native calls. */
static void json_actions(void **state)
{
    struct bench *b = core_bench(one);
    const struct btz_store_row *native, *actions;
    size_t count, again;

    (void)state;
    bench_finish(b, bench_study(b));
    native = bench_rows(b, BTZ_STORE_BY_PLAN, &count);
    b->models[0].json_actions = true;
    bench_finish(b, bench_study(b));
    actions = bench_rows(b, BTZ_STORE_BY_PLAN, &again);
    assert_int_equal(count, again);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(native[i].trial.outcome, actions[i].trial.outcome);
        assert_int_equal(native[i].trial.utility, actions[i].trial.utility);
    }
    bench_free(b);
}

static void resume_keeps_the_action_mode(void **state)
{
    struct bench *b = core_bench(two);
    struct btz_study_options options;
    struct btz_study *study;
    struct btz_store_run run;

    (void)state;
    b->models[0].json_actions = true;
    study = bench_study(b);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(btz_study_poll(study, 0, &b->err), BTZ_STEP_WAIT);
    }
    btz_study_free(study);
    study = NULL;
    b->models[0].json_actions = false;
    b->models[1].json_actions = true;
    run = bench_run(b, "last");
    options = resume_options(b);
    MAKE_OK(btz_study_resume(&options, &run, &study, &b->err), &b->err);
    bench_finish(b, study);
    for (int64_t n = 1; n <= 60; n++) {
        struct btz_store_row row;
        bool json;

        MAKE_OK(btz_store_trial_load(b->store, run.no, n, b->arena, &row, &b->err), &b->err);
        assert_true(row.trial.exchange_count > 0 && row.trial.exchanges[0].part_count > 2);
        json = btz_str_find(row.trial.exchanges[0].parts[0], BTZ_STR("\"actions\":\"json\"")) >= 0;
        assert_int_equal(json, btz_str_is(row.cell.model, "ref:reader"));
    }
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(to_the_end),
        cmocka_unit_test(status_counts),
        cmocka_unit_test(limits_of_models),
        cmocka_unit_test(another_programs_run),
        cmocka_unit_test(stop_and_resume),
        cmocka_unit_test(resumed_equals_unbroken),
        cmocka_unit_test(resume_of_other_packs_is_refused),
        cmocka_unit_test(faults),
        cmocka_unit_test(unstartable_cells_are_faults),
        cmocka_unit_test(resume_of_faults),
        cmocka_unit_test(card),
        cmocka_unit_test(card_is_read_back),
        cmocka_unit_test(json_actions),
        cmocka_unit_test(resume_keeps_the_action_mode),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
