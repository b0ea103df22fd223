/* Removing runs, and contents that nothing refers to any more. */
#include "store/store_int.h"

#include <sys/stat.h>

/* Runs one statement of constant text with the run's number bound, if it takes one. */
static int sweep(struct btz_store *store, const char *sql, int64_t run, struct btz_err *err)
{
    struct btz_store_bind bind = {NULL, 1, SQLITE_OK};
    int rc;

    if (sqlite3_prepare_v2(store->db, sql, -1, &bind.stmt, NULL) != SQLITE_OK) {
        return btz_store_sql_error(store, "removing failed", err);
    }
    if (sqlite3_bind_parameter_count(bind.stmt)) {
        btz_store_bind_int(&bind, run);
    }
    rc = btz_store_run_stmt(store, &bind, "removing failed", err);
    sqlite3_finalize(bind.stmt);
    return rc;
}

static int sweep_all(struct btz_store *store, const char *const *sql, size_t count, int64_t run,
                     struct btz_err *err)
{
    int rc = btz_store_need_write(store, err);

    if (rc != BTZ_OK || (rc = btz_store_flush(store, err)) != BTZ_OK ||
        (rc = btz_store_begin(store, err)) != BTZ_OK) {
        return rc;
    }
    for (size_t i = 0; rc == BTZ_OK && i < count; i++) {
        rc = sweep(store, sql[i], run, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_store_commit(store, err);
    }
    if (rc != BTZ_OK) {
        btz_store_rollback(store);
        return rc;
    }
    /* Rows that are remembered may be gone. */
    store->at.run = 0;
    store->next_trial_id = 0;
    btz_store_known_clear(store);
    return BTZ_OK;
}

int btz_store_run_drop(struct btz_store *store, int64_t run, struct btz_err *err)
{
    static const char *const sql[] = {
        "DELETE FROM event WHERE trial IN (SELECT id FROM trial WHERE run = ?)",
        "DELETE FROM exchange WHERE trial IN (SELECT id FROM trial WHERE run = ?)",
        "DELETE FROM verdict WHERE trial IN (SELECT id FROM trial WHERE run = ?)",
        "DELETE FROM finding WHERE trial IN (SELECT id FROM trial WHERE run = ?)",
        "DELETE FROM trial WHERE run = ?",
        "DELETE FROM cell WHERE run = ?",
        "DELETE FROM run WHERE no = ?",
    };
    struct btz_store_cursor at;
    int rc = btz_store_place(store, run, &at, err);

    return rc != BTZ_OK ? rc : sweep_all(store, sql, sizeof(sql) / sizeof(sql[0]), run, err);
}

static int64_t file_size(const struct btz_store *store)
{
    struct stat st;

    return stat(store->path, &st) == 0 ? st.st_size : 0;
}

int btz_store_gc(struct btz_store *store, struct btz_store_gc *out, struct btz_err *err)
{
    static const char *const sql[] = {
        "CREATE TEMP TABLE live (id INTEGER PRIMARY KEY)",
        "INSERT OR IGNORE INTO live SELECT provenance FROM run",
        "INSERT OR IGNORE INTO live SELECT card FROM sieve_run",
        "INSERT OR IGNORE INTO live SELECT blob FROM sieve_reply WHERE blob IS NOT NULL",
        "INSERT OR IGNORE INTO live SELECT blob FROM event WHERE blob IS NOT NULL",
        "INSERT OR IGNORE INTO live SELECT blob FROM exchange WHERE blob IS NOT NULL",
        "INSERT OR IGNORE INTO live SELECT value FROM exchange, json_each(exchange.parts)",
        "INSERT OR IGNORE INTO live SELECT blob FROM verdict WHERE blob IS NOT NULL",
        "INSERT OR IGNORE INTO live SELECT blob FROM finding WHERE blob IS NOT NULL",
        "DELETE FROM blob WHERE id NOT IN (SELECT id FROM live)",
        "DROP TABLE live",
    };
    int64_t before = 0;
    int64_t changes = 0;
    int attached;
    int rc = btz_store_flush(store, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    before = file_size(store);
    rc = btz_store_blob_count(store, &changes, err);
    if (rc == BTZ_OK) {
        rc = sweep_all(store, sql, sizeof(sql) / sizeof(sql[0]), 0, err);
    }
    if (rc == BTZ_OK) {
        int64_t left = 0;

        rc = btz_store_blob_count(store, &left, err);
        changes -= left;
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    /* VACUUM works through an attached temporary file, which is forbidden otherwise. A reader that
     * is busy now only keeps the space from being given back. */
    attached = sqlite3_limit(store->db, SQLITE_LIMIT_ATTACHED, 1);
    if (sqlite3_exec(store->db, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL) !=
        SQLITE_OK) {
        rc = btz_store_sql_error(store, "the space could not be given back", err);
    }
    sqlite3_limit(store->db, SQLITE_LIMIT_ATTACHED, attached);
    if (rc == BTZ_OK) {
        *out = (struct btz_store_gc){.blobs = changes, .bytes = before - file_size(store)};
    }
    return rc;
}
