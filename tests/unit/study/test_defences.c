/* Defences as an axis of a study: which cells there are, what is kept, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bench.h"
#include "study/replay.h"

static const char *const packs[] = {"trial", NULL};
static const char *const reader[] = {"ref:reader", NULL};
static const struct btz_str errand[] = {BTZ_STR("errand")};
static const struct btz_str v15[] = {BTZ_STR("v15")};

/* Attack arm and twins of one scenario under these defences. */
static struct bench *bench_of(const struct btz_str *defences, size_t count)
{
    struct bench *b = bench_new(packs, reader);

    b->options.attacks = errand;
    b->options.attack_count = 1;
    b->options.variants = v15;
    b->options.variant_count = 1;
    b->options.defences = defences;
    b->options.defence_count = count;
    return b;
}

static void refused(struct bench *b, const char *words)
{
    struct btz_study *study = NULL;

    assert_int_equal(btz_study_new(&b->options, &study, &b->err), BTZ_EUSAGE);
    assert_null(study);
    assert_holds(btz_str_of(b->err.msg), words);
    bench_free(b);
}

static void every_defence_has_its_cells(void **state)
{
    static const struct btz_str three[] = {BTZ_STR("none"), BTZ_STR("context"),
                                           BTZ_STR("combined+rescan+closed")};
    struct bench *b = bench_of(three, 3);
    const struct btz_store_row *rows;
    size_t count;

    (void)state;
    bench_finish(b, bench_study(b));
    rows = bench_rows(b, BTZ_STORE_BY_PLAN, &count);
    assert_int_equal(count, 9);
    for (size_t i = 0; i < count; i++) {
        assert_true(btz_str_eq(rows[i].cell.defence, three[i % 3]));
        assert_true(rows[i].n > 0);
        assert_int_equal(rows[i].trial.seed, rows[0].trial.seed); /* the same world */
        /* Oracle and utility; under a defence its counts and costs. */
        assert_int_equal(rows[i].trial.verdict_count, i % 3 ? 4 : 2);
    }
    bench_free(b);
}

static void what_a_defence_did_is_kept(void **state)
{
    static const struct btz_str one[] = {BTZ_STR("context")};
    struct bench *b = bench_of(one, 1);
    struct btz_store_run run;
    struct btz_store_row row;
    const struct btz_json *json = NULL;
    const struct btz_store_verdict *v;

    (void)state;
    bench_finish(b, bench_study(b));
    run = bench_run(b, "last");
    assert_int_equal(btz_store_trial_load(b->store, run.no, 1, b->arena, &row, &b->err), BTZ_OK);
    v = &row.trial.verdicts[2];
    assert_text(v->source, "defence");
    assert_text(v->name, "counts");
    assert_int_equal(btz_json_parse(b->arena, v->json, NULL, &json, &b->err), BTZ_OK);
    for (size_t i = 0; i < 5; i++) {
        static const char *const keys[] = {"scans", "detected", "blocked", "undecided", "failed"};
        int64_t n = -1;

        assert_true(btz_json_int64(btz_json_getz(json, keys[i]), &n));
        assert_true(i == 0 ? n > 5 : n >= 0);
    }
    assert_text(row.trial.verdicts[3].name, "cost");
    assert_holds(row.trial.verdicts[3].json, "took_us");
    bench_free(b);
}

static void a_run_with_rules_is_replayed(void **state)
{
    static const struct btz_str two[] = {BTZ_STR("none"), BTZ_STR("combined")};
    struct bench *b = bench_of(two, 2);
    struct btz_replay *replay = NULL;
    struct btz_replay_trial trial;
    struct btz_store_run run;
    int equal = 0;
    int rc;

    (void)state;
    bench_finish(b, bench_study(b));
    run = bench_run(b, "last");
    assert_int_equal(btz_replay_new(b->lab, b->store, &run, &replay, &b->err), BTZ_OK);
    while ((rc = btz_replay_next(replay, &trial, &b->err)) == 1) {
        assert_int_equal(trial.status, BTZ_REPLAY_EQUAL);
        equal++;
    }
    assert_int_equal(rc, BTZ_OK);
    assert_int_equal(equal, 6);
    btz_replay_free(replay);
    bench_free(b);
}

static void resumed_with_its_defences(void **state)
{
    static const struct btz_str two[] = {BTZ_STR("input"), BTZ_STR("context+closed")};
    struct bench *b = bench_of(two, 2);
    struct btz_study *study = bench_study(b);
    struct btz_store_run run;
    const struct btz_store_row *rows;
    size_t count;

    (void)state;
    assert_int_equal(btz_study_stop(study, BTZ_STR("interrupted"), &b->err), BTZ_OK);
    btz_study_free(study);
    run = bench_run(b, "last");
    b->options.defences = NULL; /* they are the card's */
    b->options.defence_count = 0;
    assert_int_equal(btz_study_resume(&b->options, &run, &study, &b->err), BTZ_OK);
    bench_finish(b, study);
    rows = bench_rows(b, BTZ_STORE_BY_PLAN, &count);
    assert_int_equal(count, 6);
    for (size_t i = 0; i < count; i++) {
        assert_true(btz_str_eq(rows[i].cell.defence, two[i % 2]));
        assert_true(rows[i].n > 0);
    }
    bench_free(b);
}

static void mistakes(void **state)
{
    static const struct btz_str twice[] = {BTZ_STR("input"), BTZ_STR("none"), BTZ_STR("input")};
    static const struct btz_str unknown[] = {BTZ_STR("gate")};
    static const struct btz_str no_arm[] = {BTZ_STR("canon:gate")};
    static const struct btz_str asks[] = {BTZ_STR("input:model")};
    static const struct btz_str rules[] = {BTZ_STR("input")};
    static const struct btz_str rewrites[] = {BTZ_STR("canon:canon+rewrite+combined")};
    struct bench *b;

    (void)state;
    refused(bench_of(twice, 3), "given twice");
    refused(bench_of(unknown, 1), "there is no defence \"gate\"");
    for (int arm = 0; arm < BTZ_CANON_ARMS; arm++) { /* each is offered */
        refused(bench_of(no_arm, 1), btz_canon_arm_name((enum btz_canon_arm)arm));
    }
    refused(bench_of(asks, 1), "--guard-model");
    b = bench_of(rules, 1);
    b->options.guard = &b->models[0];
    refused(b, "no defence asks it");
    b = bench_of(asks, 1);
    b->options.guard = &b->models[0];
    refused(b, "reference agent");
    refused(bench_of(rewrites, 1), "--rewrite-model");
    for (int arm = 0; arm < BTZ_CANON_ARMS; arm++) { /* so is each that asks */
        char name[64];

        if (btz_canon_arm_asks((enum btz_canon_arm)arm)) {
            (void)snprintf(name, sizeof(name), "canon:%s",
                           btz_canon_arm_name((enum btz_canon_arm)arm));
            refused(bench_of(rewrites, 1), name);
            b = bench_of(rules, 1);
            b->options.rewriter = &b->models[0];
            refused(b, name);
        }
    }
    b = bench_of(rewrites, 1);
    b->options.rewriter = &b->models[0];
    refused(b, "reference agent cannot rewrite");
    b = bench_of(rules, 1);
    b->options.rewriter = &b->models[0];
    refused(b, "no defence asks it");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_defence_has_its_cells),
        cmocka_unit_test(what_a_defence_did_is_kept),
        cmocka_unit_test(a_run_with_rules_is_replayed),
        cmocka_unit_test(resumed_with_its_defences),
        cmocka_unit_test(mistakes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
