/* All verdicts of a run, read in one pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "make.h"
#include "store/store.h"

struct fix {
    char *folder;
    struct btz_arena *arena;
    const char *path;
    struct btz_store *store;
    struct btz_err err;
};

static int setup(void **state)
{
    struct fix *fix = calloc(1, sizeof(*fix));

    fix->folder = make_folder();
    fix->arena = btz_arena_new();
    fix->path = make_path(fix->arena, fix->folder, "a/b/store.db");
    MAKE_OK(btz_store_open(fix->path, BTZ_STORE_WRITE, &fix->store, &fix->err), &fix->err);
    *state = fix;
    return 0;
}

static int teardown(void **state)
{
    struct fix *fix = *state;

    btz_store_close(fix->store);
    btz_arena_free(fix->arena);
    make_folder_remove(fix->folder);
    free(fix);
    return 0;
}

static int64_t new_run(struct fix *fix, const struct btz_store_plan *plan, char *id)
{
    char other[BTZ_STORE_ID_SIZE];
    int64_t no = 0;

    MAKE_OK(btz_store_run_new(fix->store, plan, &no, id ? id : other, &fix->err), &fix->err);
    return no;
}

struct noted {
    struct fix *fix;
    char text[512]; /* "ORDINAL:SOURCE/NAME=SUCCESS;" for each */
    size_t stop_after;
    size_t count;
};

static int note(void *context, int64_t ordinal, const struct btz_store_verdict *v,
                struct btz_err *err)
{
    struct noted *noted = context;
    size_t len = strlen(noted->text);

    snprintf(noted->text + len, sizeof(noted->text) - len, "%lld:%.*s/%.*s=%d %.*s%s;",
             (long long)ordinal, BTZ_FMT(v->source), BTZ_FMT(v->name), (int)v->success,
             BTZ_FMT(btz_str_sub(v->json, 0, 12)), v->late ? " late" : "");
    return ++noted->count == noted->stop_after ? btz_err_set(err, BTZ_ELIMIT, "enough") : BTZ_OK;
}

static void noted_is(struct fix *fix, struct btz_store *store, int64_t run,
                     enum btz_store_given given, const char *source, const char *want)
{
    struct noted noted = {.fix = fix};

    MAKE_OK(btz_store_verdicts_each(store, run, given, source ? btz_str_of(source) : BTZ_STR_NONE,
                                    note, &noted, &fix->err),
            &fix->err);
    assert_string_equal(noted.text, want);
}

static void put_noted(struct fix *fix, int64_t run, const struct btz_store_plan *plan, size_t cell,
                      bool fault, struct btz_store_verdict *verdicts, size_t count)
{
    struct btz_store_trial trial = make_trial(fix->arena, plan, cell, 1, 0, (unsigned)fault);

    trial.outcome = fault ? BTZ_STORE_FAULT : BTZ_STORE_RESISTED;
    trial.verdicts = verdicts;
    trial.verdict_count = count;
    MAKE_OK(btz_store_trial_put(fix->store, run, &trial, 0, NULL, &fix->err), &fix->err);
}

static struct btz_store_verdict verdict_of(const char *source, const char *name,
                                           enum btz_store_tri success, const char *json)
{
    return (struct btz_store_verdict){.source = btz_str_of(source),
                                      .name = btz_str_of(name),
                                      .version = BTZ_STR("1"),
                                      .success = success,
                                      .act_event = -1,
                                      .effect_event = -1,
                                      .json = btz_str_of(json)};
}

/* Trials are put in another order than their cells are planned, and one is superseded. */
static void test_all_verdicts(void **state)
{
    struct fix *fix = *state;
    struct btz_store_plan plan = make_plan(fix->arena, 4, false);
    int64_t run = new_run(fix, &plan, NULL);
    int64_t other;
    char *big = btz_arena_zalloc(fix->arena, 301); /* kept outside its row */
    struct btz_store_verdict verdicts[] = {
        verdict_of("oracle", "pack", BTZ_STORE_YES, "{}"),
        verdict_of("defence", "counts", BTZ_STORE_NO, memset(big, 'x', 300)),
        verdict_of("defence", "cost", BTZ_STORE_UNKNOWN, "{\"a\":1}")};
    struct btz_store_verdict judged = verdict_of("judge", "j", BTZ_STORE_YES, "{}");
    struct btz_store_verdict human = verdict_of("human", "h", BTZ_STORE_NO, "{}");
    struct noted noted = {.fix = fix, .stop_after = 2};

    put_noted(fix, run, &plan, 2, false, verdicts, 3);
    put_noted(fix, run, &plan, 0, true, verdicts, 2);
    put_noted(fix, run, &plan, 0, false, &verdicts[2], 1);
    MAKE_OK(btz_store_flush(fix->store, &fix->err), &fix->err);
    noted_is(fix, fix->store, run, BTZ_STORE_OWN, "defence",
             "0:defence/cost=-1 {\"a\":1};2:defence/counts=0 xxxxxxxxxxxx;"
             "2:defence/cost=-1 {\"a\":1};");
    noted_is(fix, fix->store, run, BTZ_STORE_OWN, "oracle", "2:oracle/pack=1 {};");
    noted_is(fix, fix->store, run, BTZ_STORE_OWN, "nobody", "");
    noted_is(fix, fix->store, run, BTZ_STORE_LATE, NULL, "");
    MAKE_OK(btz_store_verdict_add(fix->store, run, 3, &judged, &fix->err), &fix->err);
    MAKE_OK(btz_store_verdict_add(fix->store, run, 1, &human, &fix->err), &fix->err);
    MAKE_OK(btz_store_verdict_add(fix->store, run, 2, &judged, &fix->err), &fix->err); /* old */
    MAKE_OK(btz_store_verdict_add(fix->store, run, 1, &judged, &fix->err), &fix->err);
    noted_is(fix, fix->store, run, BTZ_STORE_LATE, NULL,
             "0:judge/j=1 {} late;2:human/h=0 {} late;2:judge/j=1 {} late;");
    noted_is(fix, fix->store, run, BTZ_STORE_LATE, "human", "2:human/h=0 {} late;");
    noted_is(fix, fix->store, run, BTZ_STORE_OWN, "judge", "");
    other = new_run(fix, &plan, NULL);
    noted_is(fix, fix->store, other, BTZ_STORE_OWN, NULL, "");
    noted_is(fix, fix->store, other, BTZ_STORE_LATE, NULL, "");
    assert_int_equal(btz_store_verdicts_each(fix->store, run, BTZ_STORE_OWN, BTZ_STR_NONE, note,
                                             &noted, &fix->err),
                     BTZ_ELIMIT);
    assert_string_equal(fix->err.msg, "enough");
    assert_int_equal(noted.count, 2);
    make_edit(fix->path, "UPDATE verdict SET success = 7 WHERE source = 'oracle' AND ordinal = 0");
    noted.count = 5;
    assert_int_equal(btz_store_verdicts_each(fix->store, run, BTZ_STORE_OWN, BTZ_STR_NONE, note,
                                             &noted, &fix->err),
                     BTZ_ECORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_verdicts, setup, teardown)};

    return cmocka_run_group_tests_name("store verdicts", tests, NULL, NULL);
}
