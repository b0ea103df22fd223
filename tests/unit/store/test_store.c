/* Runs, trials, reading, late verdicts, certification, export, import and gc. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include <sqlite3.h>

#include "make.h"
#include "store/store_int.h"

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

static void put(struct fix *fix, int64_t run, const struct btz_store_plan *plan, size_t index,
                unsigned salt, int64_t expect)
{
    struct btz_store_trial trial = make_trial(fix->arena, plan, index, 12, 5, salt);
    int64_t n = 0;

    MAKE_OK(btz_store_trial_put(fix->store, run, &trial, 0, &n, &fix->err), &fix->err);
    assert_int_equal(n, expect);
}

static void put_fault(struct fix *fix, int64_t run, const struct btz_store_plan *plan, size_t index)
{
    struct btz_store_trial trial = make_trial(fix->arena, plan, index, 2, 1, 0);

    trial.outcome = BTZ_STORE_FAULT;
    MAKE_OK(btz_store_trial_put(fix->store, run, &trial, 0, NULL, &fix->err), &fix->err);
}

static void check_ok(struct fix *fix, struct btz_store *store, int64_t run, int64_t trials)
{
    struct btz_store_check check;

    MAKE_OK(btz_store_verify(store, run, &check, &fix->err), &fix->err);
    if (!check.ok) {
        fail_msg("verify: %s", check.what);
    }
    assert_int_equal(check.trials, trials);
    assert_string_equal(check.what, "");
}

static void test_files(void **state)
{
    struct fix *fix = *state;
    struct stat st;

    assert_int_equal(stat(fix->path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(stat(make_path(fix->arena, fix->folder, "a"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(stat(make_path(fix->arena, fix->folder, "a/b/store.db.lock"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_not_equal(stat(make_path(fix->arena, fix->folder, "a/b/store.db.new"), &st), 0);
}

static void test_key(void **state)
{
    struct fix *fix = *state;
    struct btz_store_plan plan = make_plan(fix->arena, 1, false);
    struct btz_store_cell cell = plan.cells[0];
    struct btz_str key;

    cell.variant = BTZ_STR("v1/x%\n");
    key = btz_store_cell_key(fix->arena, &cell);
    assert_true(btz_str_is(key, "openai:some%7cmodel@http://127.0.0.1:1/v1|react|none|modern|naive|"
                                "attack-0/v1%2fx%25%0a|1|attack"));
}

static void test_trial_comes_back_whole(void **state)
{
    struct fix *fix = *state;
    struct btz_store_plan plan = make_plan(fix->arena, 20, true);
    struct btz_store *reader = NULL;
    struct btz_store_row row;
    int64_t run = new_run(fix, &plan, NULL);

    for (size_t i = 0; i < 5; i++) {
        put(fix, run, &plan, 4 - i, 3, (int64_t)i + 1);
    }
    assert_int_equal(btz_store_committed(fix->store), 0);
    assert_int_equal(btz_store_pending(fix->store), 5);
    MAKE_OK(btz_store_flush(fix->store, &fix->err), &fix->err);
    assert_int_equal(btz_store_committed(fix->store), 5);
    assert_int_equal(btz_store_pending(fix->store), 0);

    MAKE_OK(btz_store_open(fix->path, BTZ_STORE_READ, &reader, &fix->err), &fix->err);
    for (size_t i = 0; i < 5; i++) {
        struct btz_store_trial want = make_trial(fix->arena, &plan, 4 - i, 12, 5, 3);

        MAKE_OK(btz_store_trial_load(reader, run, (int64_t)i + 1, fix->arena, &row, &fix->err),
                &fix->err);
        make_assert_same(&row.trial, &want);
        assert_int_equal(row.n, i + 1);
        assert_int_equal(row.ordinal, 4 - i);
        assert_true(row.current);
        assert_true(btz_str_eq(row.cell.attack, plan.cells[4 - i].attack));
    }
    assert_int_equal(btz_store_trial_load(reader, run, 6, fix->arena, &row, &fix->err),
                     BTZ_ENOTFOUND);
    check_ok(fix, reader, run, 5);
    btz_store_close(reader);
}

static void test_big_and_empty_contents(void **state)
{
    struct fix *fix = *state;
    struct btz_store_plan plan = make_plan(fix->arena, 3, false);
    int64_t run = new_run(fix, &plan, NULL);
    struct btz_store_trial trial = make_trial(fix->arena, &plan, 0, 4, 0, 0);
    struct btz_store_row row;
    size_t big = 3 * 1024 * 1024;
    char *noise = btz_arena_alloc(fix->arena, big);
    uint64_t x = 88172645463325252u;

    for (size_t i = 0; i < big; i++) { /* xorshift: does not compress */
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        noise[i] = (char)(x >> 24);
    }
    trial.events[0].payload = (struct btz_str){noise, big};
    trial.events[1].payload = BTZ_STR_NONE;
    trial.events[2].payload = (struct btz_str){noise, 200}; /* last size that is kept in the row */
    trial.events[3].payload = (struct btz_str){noise, 201};
    trial.verdict_count = 0;
    trial.finding_count = 0;
    MAKE_OK(btz_store_trial_put(fix->store, run, &trial, 0, NULL, &fix->err), &fix->err);
    MAKE_OK(btz_store_trial_load(fix->store, run, 1, fix->arena, &row, &fix->err), &fix->err);
    make_assert_same(&row.trial, &trial);
    check_ok(fix, fix->store, run, 1);
}

/* More than a load could ever give back is not taken: five contents that are one piece of memory.
 */
static void test_too_much_content(void **state)
{
    struct fix *fix = *state;
    struct btz_store_plan plan = make_plan(fix->arena, 3, false);
    int64_t run = new_run(fix, &plan, NULL);
    struct btz_store_trial trial = make_trial(fix->arena, &plan, 0, 5, 0, 0);
    char *zeros = calloc(1, BTZ_STORE_MAX_CONTENT + 1);

    assert_non_null(zeros);
    for (size_t i = 0; i < 5; i++) {
        trial.events[i].payload = (struct btz_str){zeros, BTZ_STORE_MAX_CONTENT};
    }
    assert_int_equal(btz_store_trial_put(fix->store, run, &trial, 0, NULL, &fix->err), BTZ_ELIMIT);
    assert_non_null(strstr(fix->err.msg, "256 MiB"));
    trial.events[0].payload.len = BTZ_STORE_MAX_CONTENT + 1;
    assert_int_equal(btz_store_trial_put(fix->store, run, &trial, 0, NULL, &fix->err), BTZ_ELIMIT);
    assert_non_null(strstr(fix->err.msg, "event.payload"));
    free(zeros);
}

static void test_grouping(void **state)
{
    struct fix *fix = *state;
    struct btz_store_plan plan = make_plan(fix->arena, 20, false);
    int64_t run = new_run(fix, &plan, NULL);
    struct btz_store_trial trial;
    int64_t due = -1;

    btz_store_group(fix->store, 3, 1000);
    put(fix, run, &plan, 0, 0, 1);
    put(fix, run, &plan, 1, 0, 2);
    assert_int_equal(btz_store_committed(fix->store), 0);
    put(fix, run, &plan, 2, 0, 3);
    assert_int_equal(btz_store_committed(fix->store), 3);

    put(fix, run, &plan, 3, 0, 4);
    MAKE_OK(btz_store_tick(fix->store, 999, &due, &fix->err), &fix->err);
    assert_int_equal(btz_store_committed(fix->store), 3);
    assert_int_equal(due, 1000);
    MAKE_OK(btz_store_tick(fix->store, 1000, &due, &fix->err), &fix->err);
    assert_int_equal(btz_store_committed(fix->store), 4);
    assert_int_equal(due, 0);

    put(fix, run, &plan, 4, 0, 5);
    trial = make_trial(fix->arena, &plan, 5, 2, 1, 0);
    MAKE_OK(btz_store_trial_put(fix->store, run, &trial, 1000, NULL, &fix->err), &fix->err);
    assert_int_equal(btz_store_committed(fix->store), 6);
}

static void test_refusals_leave_nothing(void **state)
{
    struct fix *fix = *state;
    struct btz_store_plan plan = make_plan(fix->arena, 20, true);
    int64_t run = new_run(fix, &plan, NULL);
    struct btz_store_trial trial = make_trial(fix->arena, &plan, 1, 3, 2, 0);
    struct btz_store_trial bad;
    char *wide = btz_arena_zalloc(fix->arena, BTZ_STORE_MAX_TEXT + 1);

    put(fix, run, &plan, 0, 0, 1);
    bad = make_trial(fix->arena, &plan, 0, 3, 2, 1);
    assert_int_equal(btz_store_trial_put(fix->store, run, &bad, 0, NULL, &fix->err), BTZ_EEXISTS);
    bad = make_trial(fix->arena, &plan, 7, 3, 2, 1);
    assert_int_equal(btz_store_trial_put(fix->store, run, &bad, 0, NULL, &fix->err), BTZ_EDENIED);
    bad = trial;
    bad.cell_key = BTZ_STR("no such key");
    assert_int_equal(btz_store_trial_put(fix->store, run, &bad, 0, NULL, &fix->err), BTZ_ENOTFOUND);
    assert_int_equal(btz_store_trial_put(fix->store, run + 1, &trial, 0, NULL, &fix->err),
                     BTZ_ENOTFOUND);
    bad = trial;
    bad.outcome = BTZ_STORE_OUTCOME_NONE;
    assert_int_equal(btz_store_trial_put(fix->store, run, &bad, 0, NULL, &fix->err), BTZ_EINVAL);
    bad = trial;
    bad.stop = BTZ_STR("a\0b");
    assert_int_equal(btz_store_trial_put(fix->store, run, &bad, 0, NULL, &fix->err), BTZ_EINVAL);
    bad = trial;
    bad.stop = BTZ_STR("\xed\xa0\x80");
    assert_int_equal(btz_store_trial_put(fix->store, run, &bad, 0, NULL, &fix->err), BTZ_EINVAL);
    memset(wide, 'x', BTZ_STORE_MAX_TEXT + 1);
    bad.stop = (struct btz_str){wide, BTZ_STORE_MAX_TEXT + 1};
    assert_int_equal(btz_store_trial_put(fix->store, run, &bad, 0, NULL, &fix->err), BTZ_ELIMIT);
    bad.stop = btz_store_clip(bad.stop);
    assert_int_equal(bad.stop.len, BTZ_STORE_MAX_TEXT);
    bad.chain.act_event = 3;
    assert_int_equal(btz_store_trial_put(fix->store, run, &bad, 0, NULL, &fix->err), BTZ_EINVAL);
    bad.chain.act_event = 2;
    MAKE_OK(btz_store_trial_put(fix->store, run, &bad, 0, NULL, &fix->err), &fix->err);
    MAKE_OK(btz_store_flush(fix->store, &fix->err), &fix->err);
    check_ok(fix, fix->store, run, 2);
}

/* A trial that fails half-way takes back its own rows and contents, and no other trial's. */
static void test_failure_in_the_middle(void **state)
{
    struct fix *fix = *state;
    struct btz_store_plan plan = make_plan(fix->arena, 20, false);
    int64_t run = new_run(fix, &plan, NULL);
    struct btz_store_trial trial = make_trial(fix->arena, &plan, 1, 12, 5, 0);
    struct btz_store_row row;
    int64_t n = 0;
    int was;

    for (int with_other = 0; with_other < 2; with_other++) {
        if (with_other) {
            put(fix, run, &plan, 0, 0, 1);
        }
        was = sqlite3_limit(fix->store->db, SQLITE_LIMIT_LENGTH, 1000);
        assert_int_equal(btz_store_trial_put(fix->store, run, &trial, 0, NULL, &fix->err),
                         BTZ_ELIMIT);
        sqlite3_limit(fix->store->db, SQLITE_LIMIT_LENGTH, was);
        assert_int_equal(btz_store_pending(fix->store), with_other);
    }
    MAKE_OK(btz_store_trial_put(fix->store, run, &trial, 0, &n, &fix->err), &fix->err);
    assert_int_equal(n, 2);
    MAKE_OK(btz_store_flush(fix->store, &fix->err), &fix->err);
    MAKE_OK(btz_store_trial_load(fix->store, run, 2, fix->arena, &row, &fix->err), &fix->err);
    make_assert_same(&row.trial, &trial);
    check_ok(fix, fix->store, run, 2);
}

static void test_fault_is_superseded(void **state)
{
    struct fix *fix = *state;
    struct btz_store_plan plan = make_plan(fix->arena, 20, true);
    int64_t run = new_run(fix, &plan, NULL);
    struct btz_store_rows *rows = NULL;
    struct btz_store_counts counts;
    struct btz_store_row row;
    int64_t seen = 0;

    put_fault(fix, run, &plan, 2);
    put(fix, run, &plan, 3, 0, 2);
    put_fault(fix, run, &plan, 2);
    put(fix, run, &plan, 2, 0, 4);
    put_fault(fix, run, &plan, 4);
    MAKE_OK(btz_store_flush(fix->store, &fix->err), &fix->err);
    MAKE_OK(btz_store_count(fix->store, run, &counts, &fix->err), &fix->err);
    assert_int_equal(counts.planned, 19);
    assert_int_equal(counts.not_applicable, 1);
    assert_int_equal(counts.superseded, 2);
    assert_int_equal(counts.outcome[BTZ_STORE_FAULT], 1);
    assert_int_equal(counts.outcome[BTZ_STORE_OUTCOME_NONE], 16);

    MAKE_OK(btz_store_rows_open(fix->store, run, BTZ_STORE_BY_NUMBER, &rows, &fix->err), &fix->err);
    while (btz_store_rows_next(rows, &row, &fix->err) == 1) {
        seen++;
        assert_int_equal(row.n, seen);
        assert_int_equal(row.current, seen == 2 || seen > 3);
    }
    btz_store_rows_free(rows);
    assert_int_equal(seen, 5);
    check_ok(fix, fix->store, run, 5);
}

static void test_rows_by_plan(void **state)
{
    struct fix *fix = *state;
    struct btz_store_plan plan = make_plan(fix->arena, 20, true);
    int64_t run = new_run(fix, &plan, NULL);
    struct btz_store_rows *rows = NULL;
    struct btz_store_row row;
    size_t seen = 0;

    put(fix, run, &plan, 5, 0, 1);
    put(fix, run, &plan, 3, 0, 2);
    MAKE_OK(btz_store_rows_open(fix->store, run, BTZ_STORE_BY_PLAN, &rows, &fix->err), &fix->err);
    while (btz_store_rows_next(rows, &row, &fix->err) == 1) {
        const struct btz_store_cell *want = &plan.cells[seen];

        assert_int_equal(row.ordinal, seen);
        assert_int_equal(row.n, seen == 5 ? 1 : seen == 3 ? 2 : 0);
        assert_int_equal(row.trial.outcome == BTZ_STORE_OUTCOME_NONE, row.n == 0);
        assert_int_equal(row.trial.event_count, row.n ? 12 : 0);
        assert_true(btz_str_eq(row.trial.cell_key, btz_store_cell_key(fix->arena, want)));
        assert_true(btz_str_eq(row.cell.surface, want->surface));
        assert_true(btz_str_eq(row.cell.boundary, want->boundary));
        assert_true(btz_str_eq(row.cell.arm, want->arm));
        assert_int_equal(row.cell.repetition, want->repetition);
        assert_int_equal(row.cell.applicable, want->applicable);
        assert_true(btz_str_eq(row.cell.why, want->why));
        seen++;
    }
    assert_int_equal(seen, 20);
    btz_store_rows_free(rows);
}

static void test_runs_found(void **state)
{
    struct fix *fix = *state;
    struct btz_store_plan plan = make_plan(fix->arena, 2, false);
    struct btz_store_run *runs = NULL;
    struct btz_store_run run;
    char first[BTZ_STORE_ID_SIZE];
    char second[BTZ_STORE_ID_SIZE];
    char third[BTZ_STORE_ID_SIZE];
    struct btz_str card;
    size_t count = 0;

    assert_int_equal(btz_store_run_find(fix->store, BTZ_STR("last"), fix->arena, &run, &fix->err),
                     BTZ_ENOTFOUND);
    new_run(fix, &plan, first);
    new_run(fix, &plan, second); /* the same second */
    plan.created_us += 40000000;
    new_run(fix, &plan, third);
    assert_int_equal(strlen(first), 10);
    assert_memory_equal(first, second, 6);
    assert_string_not_equal(first, second);
    assert_true(strcmp(second, third) < 0);

    MAKE_OK(btz_store_run_find(fix->store, BTZ_STR("last"), fix->arena, &run, &fix->err),
            &fix->err);
    assert_string_equal(run.id, third);
    assert_int_equal(run.status, BTZ_STORE_RUN_RUNNING);
    assert_int_equal(run.planned, 2);
    first[0] = (char)(first[0] >= 'a' ? first[0] - 32 : first[0]);
    MAKE_OK(btz_store_run_find(fix->store, btz_str_of(first), fix->arena, &run, &fix->err),
            &fix->err);
    MAKE_OK(btz_store_run_find(fix->store, (struct btz_str){third, 6}, fix->arena, &run, &fix->err),
            &fix->err);
    assert_string_equal(run.id, third);
    assert_int_equal(
        btz_store_run_find(fix->store, (struct btz_str){second, 6}, fix->arena, &run, &fix->err),
        BTZ_EUSAGE);
    assert_non_null(strstr(fix->err.msg, second));
    assert_int_equal(btz_store_run_find(fix->store, BTZ_STR("zzzz"), fix->arena, &run, &fix->err),
                     BTZ_ENOTFOUND);
    assert_int_equal(btz_store_run_find(fix->store, BTZ_STR(""), fix->arena, &run, &fix->err),
                     BTZ_EUSAGE);
    assert_int_equal(btz_store_run_find(fix->store, BTZ_STR("%"), fix->arena, &run, &fix->err),
                     BTZ_ENOTFOUND);

    MAKE_OK(btz_store_runs(fix->store, fix->arena, &runs, &count, &fix->err), &fix->err);
    assert_int_equal(count, 3);
    assert_string_equal(runs[0].id, third);
    MAKE_OK(btz_store_provenance(fix->store, runs[0].no, fix->arena, &card, &fix->err), &fix->err);
    assert_true(btz_str_eq(card, plan.provenance));
}

static void test_ref_split(void **state)
{
    struct fix *fix = *state;
    static const char *const bad[] = {"", "/3", "x/", "x/0", "x/-1", "x/1/2", "x/1a"};
    struct btz_str run;
    int64_t n = -1;

    MAKE_OK(btz_store_ref_split(BTZ_STR("last/12"), &run, &n, &fix->err), &fix->err);
    assert_true(btz_str_is(run, "last"));
    assert_int_equal(n, 12);
    MAKE_OK(btz_store_ref_split(BTZ_STR("abc"), &run, &n, &fix->err), &fix->err);
    assert_true(btz_str_is(run, "abc"));
    assert_int_equal(n, 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(btz_store_ref_split(btz_str_of(bad[i]), &run, &n, &fix->err), BTZ_EUSAGE);
    }
}

static void test_status(void **state)
{
    struct fix *fix = *state;
    struct btz_store_plan plan = make_plan(fix->arena, 9, true);
    struct btz_store *reader = NULL;
    struct btz_store_run run;
    int64_t no = new_run(fix, &plan, NULL);

    put(fix, no, &plan, 0, 0, 1);
    MAKE_OK(btz_store_flush(fix->store, &fix->err), &fix->err);
    MAKE_OK(btz_store_open(fix->path, BTZ_STORE_READ, &reader, &fix->err), &fix->err);
    MAKE_OK(btz_store_run_find(reader, BTZ_STR("last"), fix->arena, &run, &fix->err), &fix->err);
    assert_int_equal(run.status, BTZ_STORE_RUN_RUNNING);
    assert_int_equal(run.finished, 1);
    assert_int_equal(run.planned, 8);
    assert_int_equal(run.not_applicable, 1);

    btz_store_close(fix->store); /* the writer goes: nobody works on it */
    fix->store = NULL;
    MAKE_OK(btz_store_run_find(reader, BTZ_STR("last"), fix->arena, &run, &fix->err), &fix->err);
    assert_int_equal(run.status, BTZ_STORE_RUN_INTERRUPTED);

    MAKE_OK(btz_store_open(fix->path, BTZ_STORE_WRITE, &fix->store, &fix->err), &fix->err);
    MAKE_OK(btz_store_run_find(reader, BTZ_STR("last"), fix->arena, &run, &fix->err), &fix->err);
    assert_int_equal(run.status, BTZ_STORE_RUN_INTERRUPTED); /* a writer, but of other things */
    MAKE_OK(btz_store_run_attach(fix->store, no, &fix->err), &fix->err);
    MAKE_OK(btz_store_run_find(reader, BTZ_STR("last"), fix->arena, &run, &fix->err), &fix->err);
    assert_int_equal(run.status, BTZ_STORE_RUN_RUNNING);

    MAKE_OK(btz_store_run_end(fix->store, no, BTZ_STR("money limit"), 77, &fix->err), &fix->err);
    MAKE_OK(btz_store_run_find(reader, BTZ_STR("last"), fix->arena, &run, &fix->err), &fix->err);
    assert_int_equal(run.status, BTZ_STORE_RUN_INTERRUPTED);
    assert_int_equal(run.ended_us, 77);
    assert_true(btz_str_is(run.end_reason, "money limit"));

    MAKE_OK(btz_store_run_attach(fix->store, no, &fix->err), &fix->err);
    for (size_t i = 1; i < 9; i++) {
        if (i != 7) {
            put(fix, no, &plan, i, 0, i < 7 ? (int64_t)i + 1 : (int64_t)i);
        }
    }
    MAKE_OK(btz_store_run_end(fix->store, no, BTZ_STR("done"), 99, &fix->err), &fix->err);
    MAKE_OK(btz_store_run_find(reader, BTZ_STR("last"), fix->arena, &run, &fix->err), &fix->err);
    assert_int_equal(run.status, BTZ_STORE_RUN_DONE);
    assert_int_equal(run.finished, 8);
    assert_int_equal(btz_store_run_attach(fix->store, no + 5, &fix->err), BTZ_ENOTFOUND);
    btz_store_close(reader);
}

static void test_reader_sees_whole_groups(void **state)
{
    struct fix *fix = *state;
    struct btz_store_plan plan = make_plan(fix->arena, 20, false);
    int64_t run = new_run(fix, &plan, NULL);
    struct btz_store *reader = NULL;
    struct btz_store_counts counts;

    MAKE_OK(btz_store_open(fix->path, BTZ_STORE_READ, &reader, &fix->err), &fix->err);
    put(fix, run, &plan, 0, 0, 1);
    MAKE_OK(btz_store_count(reader, run, &counts, &fix->err), &fix->err);
    assert_int_equal(counts.outcome[BTZ_STORE_OUTCOME_NONE], 20);
    MAKE_OK(btz_store_flush(fix->store, &fix->err), &fix->err);
    MAKE_OK(btz_store_snapshot_begin(reader, &fix->err), &fix->err);
    MAKE_OK(btz_store_count(reader, run, &counts, &fix->err), &fix->err);
    assert_int_equal(counts.outcome[BTZ_STORE_OUTCOME_NONE], 19);
    put(fix, run, &plan, 1, 0, 2);
    MAKE_OK(btz_store_flush(fix->store, &fix->err), &fix->err);
    MAKE_OK(btz_store_count(reader, run, &counts, &fix->err), &fix->err);
    assert_int_equal(counts.outcome[BTZ_STORE_OUTCOME_NONE], 19);
    check_ok(fix, reader, run, 1);
    btz_store_snapshot_end(reader);
    MAKE_OK(btz_store_count(reader, run, &counts, &fix->err), &fix->err);
    assert_int_equal(counts.outcome[BTZ_STORE_OUTCOME_NONE], 18);

    assert_int_equal(btz_store_run_attach(reader, run, &fix->err), BTZ_ESTATE);
    btz_store_close(reader);
}

static void test_late_verdicts(void **state)
{
    struct fix *fix = *state;
    struct btz_store_plan plan = make_plan(fix->arena, 20, false);
    int64_t run = new_run(fix, &plan, NULL);
    struct btz_store_verdict verdict = {
        .source = BTZ_STR("judge"),
        .name = BTZ_STR("some-judge"),
        .version = BTZ_STR("rubric-3"),
        .success = BTZ_STORE_YES,
        .act_event = 2,
        .effect_event = -1,
        .at_us = 5,
        .json = BTZ_STR("{\"confidence\":0.5}"),
    };
    struct btz_store_check check;
    struct btz_store_row row;

    put(fix, run, &plan, 0, 0, 1);
    put(fix, run, &plan, 1, 0, 2);
    MAKE_OK(btz_store_verdict_add(fix->store, run, 2, &verdict, &fix->err), &fix->err);
    MAKE_OK(btz_store_verdict_add(fix->store, run, 1, &verdict, &fix->err), &fix->err);
    assert_int_equal(btz_store_verdict_add(fix->store, run, 1, &verdict, &fix->err), BTZ_EEXISTS);
    assert_int_equal(btz_store_verdict_add(fix->store, run, 3, &verdict, &fix->err), BTZ_ENOTFOUND);
    verdict.version = BTZ_STR("rubric-4");
    MAKE_OK(btz_store_verdict_add(fix->store, run, 1, &verdict, &fix->err), &fix->err);
    put(fix, run, &plan, 2, 0, 3);
    MAKE_OK(btz_store_trial_load(fix->store, run, 1, fix->arena, &row, &fix->err), &fix->err);
    assert_int_equal(row.trial.verdict_count, 4);
    assert_false(row.trial.verdicts[1].late);
    assert_true(row.trial.verdicts[3].late);
    assert_true(btz_str_is(row.trial.verdicts[3].version, "rubric-4"));
    assert_true(btz_str_eq(row.trial.verdicts[3].json, verdict.json));
    MAKE_OK(btz_store_verify(fix->store, run, &check, &fix->err), &fix->err);
    assert_true(check.ok);
    assert_int_equal(check.late_verdicts, 3);
}

static void test_certification(void **state)
{
    struct fix *fix = *state;
    struct btz_store_cert certs[3] = {
        {.binary = btz_hash_of(BTZ_STR("binary")),
         .pack = btz_hash_of(BTZ_STR("pack")),
         .scenario = BTZ_STR("b/v1"),
         .rule = BTZ_STR("1"),
         .passed = true,
         .at_us = 10,
         .detail = BTZ_STR("fine")},
    };
    struct btz_store_cert *got = NULL;
    size_t count = 9;

    certs[1] = certs[0];
    certs[1].scenario = BTZ_STR("a/v1");
    certs[1].passed = false;
    certs[2] = certs[0];
    certs[2].pack = btz_hash_of(BTZ_STR("another pack"));
    MAKE_OK(btz_store_cert_put(fix->store, certs, 3, &fix->err), &fix->err);
    certs[0].passed = false;
    certs[0].detail = BTZ_STR("now not");
    MAKE_OK(btz_store_cert_put(fix->store, certs, 1, &fix->err), &fix->err);
    MAKE_OK(btz_store_cert_get(fix->store, &certs[0].binary, &certs[0].pack, fix->arena, &got,
                               &count, &fix->err),
            &fix->err);
    assert_int_equal(count, 2);
    assert_true(btz_str_is(got[0].scenario, "a/v1"));
    assert_false(got[1].passed);
    assert_true(btz_str_is(got[1].detail, "now not"));
    MAKE_OK(btz_store_cert_get(fix->store, &certs[0].pack, &certs[0].pack, fix->arena, &got, &count,
                               &fix->err),
            &fix->err);
    assert_int_equal(count, 0);
}

static int byte_at(const char *path, long offset)
{
    FILE *file = fopen(path, "rb");
    int byte;

    assert_non_null(file);
    assert_int_equal(fseek(file, offset, SEEK_SET), 0);
    byte = fgetc(file);
    fclose(file);
    return byte;
}

static void test_export_import(void **state)
{
    struct fix *fix = *state;
    struct btz_store_plan plan = make_plan(fix->arena, 20, true);
    const char *file = make_path(fix->arena, fix->folder, "one-run.db");
    const char *other_path = make_path(fix->arena, fix->folder, "other.db");
    struct btz_store_verdict verdict = {
        .source = BTZ_STR("judge"), .name = BTZ_STR("j"), .act_event = -1, .effect_event = -1};
    struct btz_store *other = NULL;
    struct btz_store_run mine;
    struct btz_store_run theirs;
    struct btz_store_row row;
    size_t count = 0;
    int64_t run;

    run = new_run(fix, &plan, NULL);
    new_run(fix, &plan, NULL);
    put_fault(fix, run, &plan, 2);
    put(fix, run, &plan, 2, 0, 2);
    put(fix, run, &plan, 9, 0, 3);
    MAKE_OK(btz_store_verdict_add(fix->store, run, 3, &verdict, &fix->err), &fix->err);
    MAKE_OK(btz_store_run_end(fix->store, run, BTZ_STR("money"), 5, &fix->err), &fix->err);
    MAKE_OK(btz_store_export(fix->store, run, file, &fix->err), &fix->err);
    assert_int_equal(btz_store_export(fix->store, run, file, &fix->err), BTZ_EEXISTS);
    assert_int_not_equal(access(make_path(fix->arena, fix->folder, "one-run.db.part"), F_OK), 0);
    assert_int_not_equal(access(make_path(fix->arena, fix->folder, "one-run.db.part.lock"), F_OK),
                         0);
    assert_int_not_equal(access(make_path(fix->arena, fix->folder, "one-run.db-wal"), F_OK), 0);
    /* No log format in the header, so that it is readable where nothing can be written. */
    assert_int_equal(byte_at(file, 18), 1);
    assert_int_equal(byte_at(file, 19), 1);
    assert_int_equal(byte_at(fix->path, 18), 2);

    MAKE_OK(btz_store_open(other_path, BTZ_STORE_WRITE, &other, &fix->err), &fix->err);
    MAKE_OK(btz_store_import(other, file, &count, &fix->err), &fix->err);
    assert_int_equal(count, 1);
    assert_int_equal(btz_store_import(other, file, &count, &fix->err), BTZ_EEXISTS);
    MAKE_OK(btz_store_run_find(other, BTZ_STR("last"), fix->arena, &theirs, &fix->err), &fix->err);
    MAKE_OK(btz_store_run_find(fix->store, btz_str_of(theirs.id), fix->arena, &mine, &fix->err),
            &fix->err);
    assert_int_equal(mine.no, run);
    assert_true(btz_hash_eq(&mine.head, &theirs.head));
    assert_int_equal(theirs.ended_us, 5);
    assert_true(btz_str_is(theirs.end_reason, "money"));
    assert_int_equal(theirs.finished, 2);
    check_ok(fix, other, theirs.no, 3);
    MAKE_OK(btz_store_trial_load(other, theirs.no, 3, fix->arena, &row, &fix->err), &fix->err);
    assert_int_equal(row.trial.verdict_count, 3);
    assert_true(row.trial.verdicts[2].late);
    btz_store_close(other);

    /* A file with one changed outcome is not taken in, and nothing of it stays. */
    assert_int_equal(make_edit(file, "UPDATE trial SET outcome = 'prevented' WHERE n = 3"), 1);
    MAKE_OK(btz_store_open(make_path(fix->arena, fix->folder, "third.db"), BTZ_STORE_WRITE, &other,
                           &fix->err),
            &fix->err);
    assert_int_equal(btz_store_import(other, file, &count, &fix->err), BTZ_ECORRUPT);
    assert_int_equal(btz_store_run_find(other, BTZ_STR("last"), fix->arena, &theirs, &fix->err),
                     BTZ_ENOTFOUND);
    btz_store_close(other);
}

/* Of a file with two runs either both are taken in or none. */
static void test_import_is_all_or_nothing(void **state)
{
    struct fix *fix = *state;
    struct btz_store_plan plan = make_plan(fix->arena, 20, false);
    const char *other_path = make_path(fix->arena, fix->folder, "other.db");
    struct btz_store *other = NULL;
    struct btz_store_run *runs = NULL;
    size_t count = 9;

    for (int i = 0; i < 2; i++) {
        int64_t run = new_run(fix, &plan, NULL);

        for (size_t k = 0; k < 20; k++) {
            put(fix, run, &plan, k, 0, (int64_t)k + 1);
        }
    }
    MAKE_OK(btz_store_flush(fix->store, &fix->err), &fix->err);
    MAKE_OK(btz_store_open(other_path, BTZ_STORE_WRITE, &other, &fix->err), &fix->err);
    assert_int_equal(make_edit(fix->path, "UPDATE trial SET turns = 9 WHERE run = 2 AND n = 20"),
                     1);
    assert_int_equal(btz_store_import(other, fix->path, &count, &fix->err), BTZ_ECORRUPT);
    MAKE_OK(btz_store_runs(other, fix->arena, &runs, &count, &fix->err), &fix->err);
    assert_int_equal(count, 0);
    assert_int_equal(make_edit(fix->path, "UPDATE trial SET turns = 5 WHERE run = 2 AND n = 20"),
                     1);
    MAKE_OK(btz_store_import(other, fix->path, &count, &fix->err), &fix->err);
    assert_int_equal(count, 2);
    MAKE_OK(btz_store_runs(other, fix->arena, &runs, &count, &fix->err), &fix->err);
    assert_int_equal(count, 2);
    check_ok(fix, other, runs[0].no, 20);
    check_ok(fix, other, runs[1].no, 20);
    btz_store_close(other);
}

static void test_drop_and_gc(void **state)
{
    struct fix *fix = *state;
    struct btz_store_plan plan = make_plan(fix->arena, 100, false);
    struct btz_store_gc gc;
    struct btz_store_row row;
    int64_t keep;
    int64_t drop;

    plan.provenance = BTZ_STR("{\"first\":true}");
    keep = new_run(fix, &plan, NULL);
    plan.provenance = BTZ_STR("{\"second\":true}");
    drop = new_run(fix, &plan, NULL);
    put(fix, keep, &plan, 3, 0, 1);
    for (size_t i = 0; i < 90; i++) {
        put(fix, drop, &plan, i, 0, (int64_t)i + 1);
    }
    MAKE_OK(btz_store_gc(fix->store, &gc, &fix->err), &fix->err);
    assert_int_equal(gc.blobs, 0);
    check_ok(fix, fix->store, drop, 90);
    MAKE_OK(btz_store_run_drop(fix->store, drop, &fix->err), &fix->err);
    assert_int_equal(btz_store_run_drop(fix->store, drop, &fix->err), BTZ_ENOTFOUND);
    MAKE_OK(btz_store_gc(fix->store, &gc, &fix->err), &fix->err);
    assert_true(gc.blobs > 100);
    assert_true(gc.bytes > 100000);
    check_ok(fix, fix->store, keep, 1);

    /* Writing goes on, also with contents that were removed. */
    put(fix, keep, &plan, 4, 0, 2);
    MAKE_OK(btz_store_trial_load(fix->store, keep, 2, fix->arena, &row, &fix->err), &fix->err);
    check_ok(fix, fix->store, keep, 2);
}

static void test_names(void **state)
{
    (void)state;
    for (int i = 1; i < BTZ_STORE_OUTCOMES; i++) {
        const char *name = btz_store_outcome_name((enum btz_store_outcome)i);

        assert_int_not_equal(name[0], '\0');
        assert_int_equal(btz_store_outcome_of(btz_str_of(name)), i);
    }
    assert_string_equal(btz_store_outcome_name(BTZ_STORE_OUTCOME_NONE), "");
    assert_int_equal(btz_store_outcome_of(BTZ_STR("")), BTZ_STORE_OUTCOME_NONE);
    assert_int_equal(btz_store_outcome_of(BTZ_STR("Fault")), BTZ_STORE_OUTCOME_NONE);
    for (int i = 0; i < BTZ_STORE_LAYERS; i++) {
        assert_int_not_equal(btz_store_layer_name((enum btz_store_layer)i)[0], '\0');
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_files),
        CASE(test_key),
        CASE(test_trial_comes_back_whole),
        CASE(test_big_and_empty_contents),
        CASE(test_too_much_content),
        CASE(test_grouping),
        CASE(test_refusals_leave_nothing),
        CASE(test_failure_in_the_middle),
        CASE(test_fault_is_superseded),
        CASE(test_rows_by_plan),
        CASE(test_runs_found),
        CASE(test_ref_split),
        CASE(test_status),
        CASE(test_reader_sees_whole_groups),
        CASE(test_late_verdicts),
        CASE(test_certification),
        CASE(test_export_import),
        CASE(test_import_is_all_or_nothing),
        CASE(test_drop_and_gc),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
