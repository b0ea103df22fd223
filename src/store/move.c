/* A run as a file of its own: export and import are the same copying between two stores. What is
 * copied goes through the ordinary put, so every link is made anew and must come out the same. */
#include "store/store_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* For struct btz_store_plan: the next planned cell of the run that is copied. */
static int next_cell(void *data, size_t at, struct btz_store_cell *out, struct btz_err *err)
{
    struct btz_store_row row;
    int rc = btz_store_rows_next(data, &row, err);

    if (rc == 0) {
        rc = btz_err_set(err, BTZ_ECORRUPT, "planned cell %zu is missing", at);
    } else if (rc == 1) {
        *out = row.cell;
        rc = BTZ_OK;
    }
    return rc;
}

/* Writes the run with its card and cells. */
static int copy_plan(struct btz_store *from, const struct btz_store_run *run, struct btz_store *to,
                     struct btz_arena *arena, int64_t *no, struct btz_err *err)
{
    struct btz_store_rows *rows = NULL;
    struct btz_store_plan plan = {
        .study = run->study,
        .created_us = run->created_us,
        .cell_count = (size_t)(run->planned + run->not_applicable),
        .cell_at = next_cell,
    };
    int rc;

    if (plan.cell_count > BTZ_STORE_MAX_CELLS) {
        return btz_err_set(err, BTZ_ELIMIT, "run %s has more than %d cells", run->id,
                           BTZ_STORE_MAX_CELLS);
    }
    rc = btz_store_provenance(from, run->no, arena, &plan.provenance, err);
    if (rc == BTZ_OK) {
        rc = btz_store_cells_open(from, run->no, &rows, err);
    }
    if (rc == BTZ_OK) {
        plan.data = rows;
        rc = btz_store_run_insert(to, run->id, &plan, no, err);
    }
    btz_store_rows_free(rows);
    return rc;
}

static int copy_trials(struct btz_store *from, const struct btz_store_run *run,
                       struct btz_store *to, int64_t no, struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_store_row row;
    int rc = BTZ_OK;

    for (int64_t n = 1; rc == BTZ_OK && n <= run->trials; n++) {
        btz_arena_reset(arena);
        rc = btz_store_trial_load(from, run->no, n, arena, &row, err);
        if (rc == BTZ_OK) {
            size_t own = 0; /* late verdicts come last and are copied on their own */

            while (own < row.trial.verdict_count && !row.trial.verdicts[own].late) {
                own++;
            }
            row.trial.verdict_count = own;
            rc = btz_store_trial_put(to, no, &row.trial, 0, NULL, err);
        }
        if (rc != BTZ_OK) {
            btz_err_prefix(err, "trial %lld of run %s: ", (long long)n, run->id);
        }
    }
    btz_arena_free(arena);
    return rc;
}

static int copy_late(struct btz_store *from, const struct btz_store_run *run, struct btz_store *to,
                     int64_t no, struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_store_late late;
    struct btz_hash head;
    int64_t count = 0;
    int rc = btz_store_late_place(from, run->no, &count, &head, err);

    for (int64_t i = 1; rc == BTZ_OK && i <= count; i++) {
        btz_arena_reset(arena);
        rc = btz_store_late_load(from, run->no, i, arena, &late, err);
        if (rc == BTZ_OK) {
            rc = btz_store_late_insert(to, no, late.n, &late.verdict, err);
        }
    }
    if (rc == BTZ_OK) {
        struct btz_hash made;

        rc = btz_store_late_place(to, no, &count, &made, err);
        if (rc == BTZ_OK && !btz_hash_eq(&made, &head)) {
            rc = btz_err_set(err, BTZ_ECORRUPT,
                             "the late verdicts of run %s do not fit their chain", run->id);
        }
    }
    btz_arena_free(arena);
    return rc;
}

/* Copies one run inside one transaction of `to`, which is left open for the caller to commit. */
static int copy_run(struct btz_store *from, const struct btz_store_run *run, struct btz_store *to,
                    struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_store_run made;
    int64_t no = 0;
    int rc = copy_plan(from, run, to, arena, &no, err);

    if (rc == BTZ_OK) {
        rc = copy_trials(from, run, to, no, err);
    }
    if (rc == BTZ_OK) {
        rc = copy_late(from, run, to, no, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_store_run_ended(to, no, run->end_reason, run->ended_us, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_store_run_get(to, no, arena, &made, err);
    }
    if (rc == BTZ_OK && (!btz_hash_eq(&made.genesis, &run->genesis) ||
                         !btz_hash_eq(&made.head, &run->head) || made.events != run->events)) {
        rc = btz_err_set(err, BTZ_ECORRUPT,
                         "run %s does not fit its hash chain; `bartizan verify` says where",
                         run->id);
    }
    btz_arena_free(arena);
    return rc;
}

/* Copies all `count` runs, or none. */
static int copy_runs(struct btz_store *from, const struct btz_store_run *runs, size_t count,
                     struct btz_store *to, struct btz_err *err)
{
    int rc = btz_store_flush(to, err);

    to->hold = true;
    if (rc == BTZ_OK) {
        rc = btz_store_begin(to, err);
    }
    for (size_t i = count; rc == BTZ_OK && i > 0; i--) { /* runs are listed newest first */
        rc = copy_run(from, &runs[i - 1], to, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_store_commit(to, err);
    }
    if (rc != BTZ_OK) {
        btz_store_rollback(to);
    }
    to->hold = false;
    to->at.run = 0;
    to->committed = 0;
    return rc;
}

/* Renames, but never over a file that somebody else has made: the name is taken first. */
static int give_name(const char *temporary, const char *file, struct btz_err *err)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0) {
        return btz_err_set(err, errno == EEXIST ? BTZ_EEXISTS : BTZ_EIO, "%s cannot be made: %s",
                           file, strerror(errno));
    }
    close(fd);
    if (rename(temporary, file) != 0) {
        int rc = btz_err_set(err, BTZ_EIO, "%s cannot be made: %s", file, strerror(errno));

        unlink(file);
        return rc;
    }
    return BTZ_OK;
}

int btz_store_export(struct btz_store *store, int64_t no, const char *file, struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_store *to = NULL;
    struct btz_store_run run;
    char *temporary = NULL;
    char *lock = NULL;
    int rc = btz_store_flush(store, err);

    if (asprintf(&temporary, "%s.part", file) < 0 || asprintf(&lock, "%s.lock", temporary) < 0) {
        btz_panic("out of memory");
    }
    if (rc == BTZ_OK && access(file, F_OK) == 0) {
        rc = btz_err_set(err, BTZ_EEXISTS, "%s exists already; give the name of a new file", file);
    }
    if (rc == BTZ_OK) {
        rc = btz_store_run_get(store, no, arena, &run, err);
    }
    if (rc != BTZ_OK) {
        goto out;
    }
    unlink(temporary); /* of an export that was killed */
    rc = btz_store_open(temporary, BTZ_STORE_WRITE, &to, err);
    if (rc != BTZ_OK) {
        goto out;
    }
    rc = copy_runs(store, &run, 1, to, err);
    if (rc == BTZ_OK) {
        /* One file, readable from a folder that cannot be written: no write-ahead log. */
        btz_store_finalize(to);
        rc = btz_store_exec(to, "PRAGMA journal_mode = DELETE", err);
    }
    btz_store_close(to);
    unlink(lock);
    if (rc == BTZ_OK) {
        rc = give_name(temporary, file, err);
    }
    unlink(temporary);
out:
    free(lock);
    free(temporary);
    btz_arena_free(arena);
    return rc;
}

int btz_store_import(struct btz_store *store, const char *file, size_t *count_out,
                     struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_store *from = NULL;
    struct btz_store_run *runs = NULL;
    size_t count = 0;
    int rc = btz_store_need_write(store, err);

    if (rc == BTZ_OK) {
        rc = btz_store_open(file, BTZ_STORE_READ, &from, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_store_snapshot_begin(from, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_store_runs(from, arena, &runs, &count, err);
    }
    for (size_t i = 0; rc == BTZ_OK && i < count; i++) {
        struct btz_store_run mine;

        if (btz_store_run_find(store, btz_str_of(runs[i].id), arena, &mine, NULL) == BTZ_OK) {
            rc = btz_err_set(err, BTZ_EEXISTS, "run %s of %s is in the store already", runs[i].id,
                             file);
        }
    }
    if (rc == BTZ_OK) {
        rc = copy_runs(from, runs, count, store, err);
    }
    if (from) {
        btz_store_snapshot_end(from);
    }
    btz_store_close(from);
    btz_arena_free(arena);
    if (rc == BTZ_OK && count_out) {
        *count_out = count;
    }
    return rc;
}
