/* Trials reach the store in the order in which they were put, however full the queue was; after a
 * write that failed nothing is written, and its error is what everybody is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../store/make.h"
#include "store/store.h"
#include "study/study_int.h"

enum { CELLS = 60 };

struct desk {
    struct btz_arena *arena;
    char *folder;
    struct btz_store *store;
    struct btz_store_plan plan;
    int64_t run;
    struct writer *writer;
    struct btz_err err;
};

static struct desk open_desk(void)
{
    struct desk d = {.arena = btz_arena_new(), .folder = make_folder()};
    char id[BTZ_STORE_ID_SIZE];

    d.plan = make_plan(d.arena, CELLS, false);
    MAKE_OK(
        btz_store_open(make_path(d.arena, d.folder, "store.db"), BTZ_STORE_WRITE, &d.store, &d.err),
        &d.err);
    MAKE_OK(btz_store_run_new(d.store, &d.plan, &d.run, id, &d.err), &d.err);
    d.writer = writer_new(d.store, d.run);
    return d;
}

static void close_desk(struct desk *d)
{
    writer_free(d->writer);
    btz_store_close(d->store);
    make_folder_remove(d->folder);
    btz_arena_free(d->arena);
}

static int put(struct desk *d, size_t cell)
{
    struct btz_arena *arena = writer_room(d->writer);
    struct btz_store_trial trial = make_trial(arena, &d->plan, cell, 6, 2, 0);

    return writer_put(d->writer, &trial, NULL, &d->err);
}

/* The cell of trial `n`, or an empty text if there is no such trial. */
static struct btz_str cell_of(struct desk *d, int64_t n)
{
    struct btz_store_row row;

    if (btz_store_trial_load(d->store, d->run, n, d->arena, &row, &d->err) != BTZ_OK) {
        return BTZ_STR_NONE;
    }
    return btz_store_cell_key(d->arena, &row.cell);
}

static struct btz_str planned(struct desk *d, size_t cell)
{
    return make_trial(d->arena, &d->plan, cell, 0, 0, 0).cell_key;
}

static void test_order(void **state)
{
    struct desk d = open_desk();

    (void)state;
    for (size_t i = 0; i < CELLS; i++) { /* many more than the queue has room for */
        MAKE_OK(put(&d, CELLS - 1 - i), &d.err);
    }
    MAKE_OK(writer_drain(d.writer, &d.err), &d.err);
    for (size_t i = 0; i < CELLS; i++) {
        struct btz_str key = cell_of(&d, (int64_t)i + 1);

        assert_true(btz_str_eq(key, planned(&d, CELLS - 1 - i)));
    }
    MAKE_OK(writer_tick(d.writer, &d.err), &d.err);
    close_desk(&d);
}

static void test_failure_is_told_and_ends_writing(void **state)
{
    struct desk d = open_desk();
    int told = BTZ_OK;

    (void)state;
    MAKE_OK(put(&d, 3), &d.err);
    MAKE_OK(writer_drain(d.writer, &d.err), &d.err);
    (void)put(&d, 3); /* the cell has a trial */
    for (size_t i = 10; i < 40; i++) {
        told = put(&d, i);
    }
    assert_int_equal(told, BTZ_EEXISTS);
    assert_int_equal(writer_drain(d.writer, &d.err), BTZ_EEXISTS);
    assert_true(strlen(d.err.msg) > 0);
    assert_int_equal(writer_tick(d.writer, &d.err), BTZ_EEXISTS);
    assert_true(btz_str_eq(cell_of(&d, 1), planned(&d, 3)));
    assert_int_equal(cell_of(&d, 2).len, 0);
    close_desk(&d);
}

/* What waits is written even if nobody asks for it. */
static void test_free_writes(void **state)
{
    struct desk d = open_desk();

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        MAKE_OK(put(&d, i), &d.err);
    }
    writer_free(d.writer);
    d.writer = NULL;
    assert_true(btz_str_eq(cell_of(&d, 5), planned(&d, 4)));
    close_desk(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_failure_is_told_and_ends_writing),
        cmocka_unit_test(test_free_writes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
