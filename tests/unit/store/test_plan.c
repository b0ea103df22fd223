/* Plans: cells given all at once or one at a time, and plans that are refused. */
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

/* Cells that are made when they are asked for; the one at `broken` cannot be. */
struct given {
    const struct btz_store_cell *cells;
    size_t next;
    size_t broken;
};

static int give_cell(void *data, size_t at, struct btz_store_cell *out, struct btz_err *err)
{
    struct given *given = data;

    assert_int_equal(at, given->next++);
    if (at == given->broken) {
        return btz_err_set(err, BTZ_EDENIED, "cell %zu cannot be made", at);
    }
    *out = given->cells[at];
    return BTZ_OK;
}

static void test_plan_given(void **state)
{
    struct fix *fix = *state;
    struct btz_store_plan plan = make_plan(fix->arena, 40, true);
    struct given given = {.cells = plan.cells, .broken = 25};
    struct btz_store_plan lazy = plan;
    struct btz_store_run *runs = NULL;
    struct btz_store_check check;
    struct btz_store_rows *rows = NULL;
    struct btz_store_row row;
    char id[BTZ_STORE_ID_SIZE];
    size_t count = 9;
    int64_t no;

    lazy.cells = NULL;
    lazy.cell_at = give_cell;
    lazy.data = &given;
    assert_int_equal(btz_store_run_new(fix->store, &lazy, &no, id, &fix->err), BTZ_EDENIED);
    MAKE_OK(btz_store_runs(fix->store, fix->arena, &runs, &count, &fix->err), &fix->err);
    assert_int_equal(count, 0);

    given = (struct given){.cells = plan.cells, .broken = SIZE_MAX};
    MAKE_OK(btz_store_run_new(fix->store, &lazy, &no, id, &fix->err), &fix->err);
    assert_int_equal(given.next, plan.cell_count);
    MAKE_OK(btz_store_rows_open(fix->store, no, BTZ_STORE_BY_PLAN, &rows, &fix->err), &fix->err);
    for (size_t i = 0; i < plan.cell_count; i++) {
        assert_int_equal(btz_store_rows_next(rows, &row, &fix->err), 1);
        assert_int_equal(row.ordinal, i);
        assert_true(btz_str_eq(row.trial.cell_key, btz_store_cell_key(fix->arena, &plan.cells[i])));
        assert_int_equal(row.cell.applicable, plan.cells[i].applicable);
    }
    assert_int_equal(btz_store_rows_next(rows, &row, &fix->err), 0);
    btz_store_rows_free(rows);
    MAKE_OK(btz_store_verify(fix->store, no, &check, &fix->err), &fix->err);
    assert_true(check.ok);
}

static void test_plan_refusals(void **state)
{
    struct fix *fix = *state;
    struct btz_store_plan plan = make_plan(fix->arena, 4, false);
    struct btz_store_cell *cells = btz_arena_array(fix->arena, 4, sizeof(*cells));
    struct btz_store_run *runs = NULL;
    char id[BTZ_STORE_ID_SIZE];
    size_t count = 9;
    int64_t no;

    memcpy(cells, plan.cells, 4 * sizeof(*cells));
    plan.cells = cells;
    cells[3] = cells[1];
    assert_int_equal(btz_store_run_new(fix->store, &plan, &no, id, &fix->err), BTZ_EEXISTS);
    assert_non_null(strstr(fix->err.msg, "attack-0/v1|1|clean"));
    cells[3].arm = BTZ_STR_NONE;
    assert_int_equal(btz_store_run_new(fix->store, &plan, &no, id, &fix->err), BTZ_EINVAL);
    assert_non_null(strstr(fix->err.msg, "planned cell 3: arm"));
    MAKE_OK(btz_store_runs(fix->store, fix->arena, &runs, &count, &fix->err), &fix->err);
    assert_int_equal(count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_plan_given, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plan_refusals, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
