/* sieve report: the tables of a run, and its rows. */
#include <errno.h>
#include <stdio.h>

#include "base/file.h"
#include "cmd/sieve.h"
#include "store/sieve.h"

static int write_row(void *context, struct btz_str key, struct btz_str json, struct btz_err *err)
{
    FILE *file = context;

    (void)key;
    if (fwrite(json.ptr, 1, json.len, file) != json.len || fputc('\n', file) == EOF) {
        return btz_err_set(err, BTZ_EIO, "the rows cannot be written: %s", strerror(errno));
    }
    return BTZ_OK;
}

static int export_rows(struct btz_store *store, const struct btz_store_sieve_run *run,
                       const char *path, struct btz_err *err)
{
    FILE *file = NULL;
    int rc = btz_file_new(path, &file, err);
    int closed;

    if (rc != BTZ_OK) {
        return rc;
    }
    rc = btz_store_sieve_rows_each(store, run->no, BTZ_STR_NONE, write_row, file, err);
    closed = btz_file_publish(file, path, rc == BTZ_OK, rc == BTZ_OK ? err : NULL);
    return rc ? rc : closed;
}

static int run(struct btz_context *context, struct btz_err *err)
{
    const char *reference =
        btz_args_count(context->args) ? btz_args_positional(context->args, 0) : "last";
    const char *path = btz_args_text(context->args, "items", NULL);
    struct btz_store_sieve_run found;
    struct btz_store *store = NULL;
    int rc = btz_cmd_store(context, BTZ_STORE_READ, &store, err);

    if (rc == BTZ_OK) {
        rc = btz_store_snapshot_begin(store, err);
    }
    rc = rc ? rc : btz_store_sieve_find(store, btz_str_of(reference), context->arena, &found, err);
    if (rc == BTZ_OK && path) {
        rc = export_rows(store, &found, path, err);
    }
    rc = rc ? rc : btz_cmd_sieve_print(context, store, &found, err);
    if (store) {
        btz_store_snapshot_end(store);
    }
    btz_store_close(store);
    return rc;
}

static const struct btz_option options[] = {
    {"items", 0, BTZ_OPTION_TEXT, "FILE.jsonl",
     "also write every row of the run into this new file", 0, 0},
    {NULL, 0, BTZ_OPTION_FLAG, NULL, NULL, 0, 0},
};
static const char *const usage[] = {"[RUN] [--items FILE.jsonl]", NULL};
static const char *const examples[] = {"bartizan sieve report last",
                                       "bartizan sieve report last --csv",
                                       "bartizan sieve report RUN --items rows.jsonl --json", NULL};

const struct btz_command btz_sieve_report_command = {
    .args = {.name = "sieve report",
             .summary = "tables of a run of `sieve run` or `sieve attack`",
             .usage = usage,
             .options = options,
             .examples = examples,
             .max_positionals = 1},
    .csv = true,
    .run = run,
};
