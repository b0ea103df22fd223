/* Statements, transactions and what SQLite says when something fails. All SQL that carries data is
 * in the table below, with bound parameters only. */
#include "store/store_int.h"

#define RUN_COLUMNS                                                                                \
    "r.no, r.id, r.study, r.created_us, r.genesis, r.head, r.trials, r.events, r.session,"         \
    " r.ended_us, r.end_reason,"                                                                   \
    " (SELECT count(*) FROM cell WHERE run = r.no AND applicable),"                                \
    " (SELECT count(*) FROM cell WHERE run = r.no AND NOT applicable),"                            \
    " (SELECT count(trial) FROM cell WHERE run = r.no AND applicable),"                            \
    " (SELECT count(*) FROM cell c JOIN trial t ON t.id = c.trial"                                 \
    "  WHERE c.run = r.no AND t.outcome = 'fault')"

#define SIEVE_COLUMNS                                                                              \
    "r.no, r.id, r.kind, r.created_us, r.done, NULL, r.card,"                                      \
    " (SELECT count(*) FROM sieve_row WHERE run = r.no),"                                          \
    " (SELECT count(*) FROM sieve_reply WHERE run = r.no)"

static const char *const texts[ST_COUNT] = {
    [ST_BLOB_FIND] = "SELECT id FROM blob WHERE hash = ?",
    [ST_BLOB_ADD] = "INSERT INTO blob (hash, size, zip, data) VALUES (?, ?, ?, ?)",
    [ST_BLOB_GET] = "SELECT hash, size, zip, data FROM blob WHERE id = ?",
    [ST_RUN_ADD] = "INSERT INTO run (id, study, created_us, provenance, genesis, head, trials,"
                   " events, late_head, late, session, ended_us, end_reason)"
                   " VALUES (?, ?, ?, ?, x'', x'', 0, 0, x'', 0, NULL, 0, '')",
    [ST_RUN_HAS] = "SELECT 1 FROM run WHERE id = ?",
    [ST_RUN_ALL] = "SELECT " RUN_COLUMNS " FROM run r ORDER BY r.no DESC",
    [ST_RUN_ONE] = "SELECT " RUN_COLUMNS " FROM run r WHERE r.no = ?",
    [ST_RUN_LAST] = "SELECT " RUN_COLUMNS " FROM run r ORDER BY r.no DESC LIMIT 1",
    [ST_RUN_PREFIX] = "SELECT " RUN_COLUMNS
                      " FROM run r WHERE substr(r.id, 1, length(?1)) = ?1 ORDER BY r.no DESC",
    [ST_RUN_GENESIS] = "UPDATE run SET genesis = ?2, head = ?2, late_head = ?2 WHERE no = ?1",
    [ST_RUN_STATE] = "SELECT trials, events, head FROM run WHERE no = ?",
    [ST_RUN_MOVE] = "UPDATE run SET trials = ?2, events = ?3, head = ?4 WHERE no = ?1",
    [ST_RUN_ATTACH] =
        "UPDATE run SET session = ?2, ended_us = 0, end_reason = '' WHERE no = ?1 RETURNING no",
    [ST_RUN_END] = "UPDATE run SET session = NULL, ended_us = ?2, end_reason = ?3 WHERE no = ?1"
                   " RETURNING no",
    [ST_RUN_CARD] = "SELECT NULL, provenance FROM run WHERE no = ?",
    [ST_RUN_LATE] = "UPDATE run SET late = ?2, late_head = ?3 WHERE no = ?1",
    [ST_RUN_LATE_STATE] = "SELECT late, late_head FROM run WHERE no = ?",
    [ST_CELL_ADD] = "INSERT INTO cell (run, ordinal, key, model, architecture, defence, revision,"
                    " host_profile, surface, attack, variant, boundary, arm, repetition,"
                    " applicable, why) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [ST_CELL_FIND] = "SELECT c.id, c.applicable, t.outcome, t.n FROM cell c"
                     " LEFT JOIN trial t ON t.id = c.trial WHERE c.run = ? AND c.key = ?",
    [ST_CELL_TRIAL] = "UPDATE cell SET trial = ?2 WHERE id = ?1",
    [ST_TRIAL_NEXT] = "SELECT coalesce(max(id), 0) + 1 FROM trial",
    [ST_TRIAL_ADD] =
        "INSERT INTO trial (id, run, n, cell, outcome, sub, triggered, delivered, observed,"
        " observed_turn, carrier, fragments_seen, fragments_all, acted, act_event, effect,"
        " effect_event, stopped_by, stage, leak_ppm, utility, tokens_input, tokens_output,"
        " tokens_cache_read, tokens_cache_write, tokens_reasoning, cost_nano, started_us, took_us,"
        " model_us, turns, attempts, seed, stop, trajectory, events, exchanges, verdicts, findings,"
        " link) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
        " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [ST_TRIAL_ID] = "SELECT id FROM trial WHERE run = ? AND n = ?",
    [ST_TRIAL_ROW] = "SELECT " BTZ_STORE_ROW_COLUMNS ", t.id FROM trial t"
                     " CROSS JOIN cell c ON c.id = t.cell WHERE t.run = ? AND t.n = ?",
    [ST_EVENT_ADD] = "INSERT INTO event (trial, ordinal, layer, kind, visible, turn, at_us, data,"
                     " blob, link) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [ST_EVENT_GET] = "SELECT ordinal, layer, kind, visible, turn, at_us, data, blob, link"
                     " FROM event WHERE trial = ? ORDER BY ordinal",
    [ST_EXCHANGE_ADD] =
        "INSERT INTO exchange (trial, ordinal, role, turn, kept, parts, data, blob, model, stop,"
        " status, at_us, took_us, tokens_input, tokens_output, tokens_cache_read,"
        " tokens_cache_write, tokens_reasoning)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [ST_EXCHANGE_GET] =
        "SELECT ordinal, role, turn, kept, parts, data, blob, model, stop, status, at_us, took_us,"
        " tokens_input, tokens_output, tokens_cache_read, tokens_cache_write, tokens_reasoning"
        " FROM exchange WHERE trial = ? ORDER BY ordinal",
    [ST_VERDICT_ADD] =
        "INSERT INTO verdict (trial, ordinal, source, name, version, success, act_event,"
        " effect_event, at_us, data, blob, late, run, link)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [ST_VERDICT_GET] = "SELECT ordinal, late, source, name, version, success, act_event,"
                       " effect_event, at_us, data, blob FROM verdict WHERE trial = ?"
                       " ORDER BY ordinal",
    [ST_VERDICT_SAME] = "SELECT max(ordinal) + 1,"
                        " coalesce(max(source = ? AND name = ? AND version = ?), 0)"
                        " FROM verdict WHERE trial = ?",
    [ST_VERDICT_LATE] =
        "SELECT v.ordinal, v.late, v.source, v.name, v.version, v.success, v.act_event,"
        " v.effect_event, v.at_us, v.data, v.blob, v.link, t.n, t.run FROM verdict v"
        " JOIN trial t ON t.id = v.trial WHERE v.run = ? AND v.late = ?",
    [ST_FINDING_ADD] = "INSERT INTO finding (trial, ordinal, stage, rule, severity, action, event,"
                       " data, blob) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [ST_FINDING_GET] = "SELECT ordinal, stage, rule, severity, action, event, data, blob"
                       " FROM finding WHERE trial = ? ORDER BY ordinal",
    [ST_CERT_ADD] =
        "INSERT INTO certification (binary, pack, scenario, rule, passed, at_us, detail)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
        " passed = excluded.passed, at_us = excluded.at_us, detail = excluded.detail",
    [ST_CERT_GET] = "SELECT scenario, rule, passed, at_us, detail FROM certification"
                    " WHERE binary = ? AND pack = ? ORDER BY scenario, rule",
    [ST_SIEVE_HAS] = "SELECT 1 FROM sieve_run WHERE id = ?",
    [ST_SIEVE_ADD] = "INSERT INTO sieve_run (id, kind, created_us, card, done)"
                     " VALUES (?, ?, ?, ?, 0)",
    [ST_SIEVE_RUN] = "SELECT " SIEVE_COLUMNS
                     " FROM sieve_run r WHERE substr(r.id, 1, length(?1)) = ?1 ORDER BY r.no DESC",
    [ST_SIEVE_LAST] = "SELECT " SIEVE_COLUMNS " FROM sieve_run r ORDER BY r.no DESC LIMIT 1",
    [ST_SIEVE_MARK] = "UPDATE sieve_run SET done = ?2 WHERE no = ?1 RETURNING no",
    [ST_SIEVE_ROW_HAS] = "SELECT 1 FROM sieve_row WHERE run = ? AND key = ?",
    [ST_SIEVE_ROW_GET] = "SELECT json FROM sieve_row WHERE run = ? AND key = ?",
    [ST_SIEVE_ROW_ADD] = "INSERT INTO sieve_row (run, key, json, n, link) VALUES (?, ?, ?, ?, ?)",
    [ST_SIEVE_ROWS] = "SELECT key, json FROM sieve_row WHERE run = ?1"
                      " AND substr(key, 1, length(?2)) = ?2 ORDER BY key",
    [ST_SIEVE_REPLY_ADD] =
        "INSERT INTO sieve_reply (run, model, request, rejected, took_us, attempts, data, blob, n,"
        " link) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [ST_SIEVE_REPLY_GET] = "SELECT rejected, took_us, attempts, data, blob FROM sieve_reply"
                           " WHERE run = ? AND model = ? AND request = ?",
    [ST_SIEVE_REPLY_SUM] = "SELECT count(*), coalesce(sum(took_us), 0) FROM sieve_reply"
                           " WHERE run = ? AND model = ?",
    [ST_SIEVE_PLACE] = "SELECT links, head, id, kind, created_us,"
                       " (SELECT hash FROM blob WHERE blob.id = card) FROM sieve_run WHERE no = ?",
    [ST_SIEVE_MOVE] = "UPDATE sieve_run SET links = ?2, head = ?3 WHERE no = ?1",
    [ST_SIEVE_CHAIN] =
        "SELECT n, link, 0, key, json, NULL, 0, 0, 0, NULL, NULL FROM sieve_row"
        " WHERE run = ?1 AND n IS NOT NULL UNION ALL"
        " SELECT n, link, 1, model, NULL, request, rejected, took_us, attempts, data, blob"
        " FROM sieve_reply WHERE run = ?1 AND n IS NOT NULL ORDER BY 1",
    [ST_SIEVE_LOOSE] = "SELECT (SELECT count(*) FROM sieve_row WHERE run = ?1 AND n IS NULL)"
                       " + (SELECT count(*) FROM sieve_reply WHERE run = ?1 AND n IS NULL)",
    [ST_BLOB_COUNT] = "SELECT count(*) FROM blob",
    [ST_SAVEPOINT] = "SAVEPOINT one_trial",
    [ST_RELEASE] = "RELEASE one_trial",
    [ST_ROLLBACK_TO] = "ROLLBACK TO one_trial",
    [ST_BEGIN] = "BEGIN IMMEDIATE",
    [ST_COMMIT] = "COMMIT",
};

int btz_store_sql_error(struct btz_store *store, const char *doing, struct btz_err *err)
{
    int what = sqlite3_extended_errcode(store->db);
    const char *text = sqlite3_errmsg(store->db);

    switch (what & 0xff) {
    case SQLITE_NOMEM:
        btz_panic("out of memory (SQLite)");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return btz_err_set(err, BTZ_ECORRUPT,
                           "%s: the store %s is damaged (%s); keep a copy before anything else "
                           "touches it",
                           doing, store->path, text);
    case SQLITE_FULL:
        return btz_err_set(err, BTZ_EIO,
                           "%s: no space left for the store %s; make room and resume, what was "
                           "finished is kept",
                           doing, store->path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return btz_err_set(
            err, BTZ_EIO,
            "%s: the store %s is locked by another program (%s); close what holds it "
            "and try again",
            doing, store->path, text);
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
        return btz_err_set(err, BTZ_EIO,
                           "%s: the store %s or its folder cannot be written (%s); reading a store "
                           "needs its -shm file too: copy the store to a folder of your own",
                           doing, store->path, text);
    case SQLITE_TOOBIG:
        return btz_err_set(err, BTZ_ELIMIT, "%s: a value is too large for the store", doing);
    case SQLITE_ERROR:
    case SQLITE_MISMATCH:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISUSE:
        return btz_err_set(err, BTZ_EINTERNAL, "%s: %s (store %s)", doing, text, store->path);
    default:
        return btz_err_set(err, BTZ_EIO, "%s: the store %s cannot be read or written: %s (code %d)",
                           doing, store->path, text, what);
    }
}

int btz_store_exec(struct btz_store *store, const char *sql, struct btz_err *err)
{
    if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        return btz_store_sql_error(store, "the store could not be set up", err);
    }
    return BTZ_OK;
}

int btz_store_stmt(struct btz_store *store, enum btz_store_stmt which, struct btz_store_bind *out,
                   struct btz_err *err)
{
    sqlite3_stmt **slot = &store->stmt[which];

    if (!*slot && sqlite3_prepare_v3(store->db, texts[which], -1, SQLITE_PREPARE_PERSISTENT, slot,
                                     NULL) != SQLITE_OK) {
        return btz_store_sql_error(store, "the store could not be read", err);
    }
    *out = (struct btz_store_bind){*slot, 1, SQLITE_OK};
    return BTZ_OK;
}

static void note(struct btz_store_bind *bind, int rc)
{
    bind->next++;
    if (bind->rc == SQLITE_OK) {
        bind->rc = rc;
    }
}

void btz_store_bind_int(struct btz_store_bind *bind, int64_t value)
{
    note(bind, sqlite3_bind_int64(bind->stmt, bind->next, value));
}

void btz_store_bind_null(struct btz_store_bind *bind)
{
    note(bind, sqlite3_bind_null(bind->stmt, bind->next));
}

void btz_store_bind_text(struct btz_store_bind *bind, struct btz_str text)
{
    note(bind, sqlite3_bind_text64(bind->stmt, bind->next, text.ptr ? text.ptr : "", text.len,
                                   SQLITE_STATIC, SQLITE_UTF8));
}

void btz_store_bind_bytes(struct btz_store_bind *bind, struct btz_str bytes)
{
    note(bind, sqlite3_bind_blob64(bind->stmt, bind->next, bytes.ptr ? bytes.ptr : "", bytes.len,
                                   SQLITE_STATIC));
}

void btz_store_bind_hash(struct btz_store_bind *bind, const struct btz_hash *hash)
{
    btz_store_bind_bytes(bind, (struct btz_str){(const char *)hash->bytes, sizeof(hash->bytes)});
}

void btz_store_reset(struct btz_store_bind *bind)
{
    if (bind->stmt) {
        /* The result repeats what step has already reported. Bindings go too: they borrow. */
        sqlite3_reset(bind->stmt);
        sqlite3_clear_bindings(bind->stmt);
    }
}

int btz_store_step(struct btz_store *store, struct btz_store_bind *bind, const char *doing,
                   struct btz_err *err)
{
    int rc;

    if (bind->rc != SQLITE_OK) {
        return btz_store_sql_error(store, doing, err);
    }
    rc = sqlite3_step(bind->stmt);
    if (rc == SQLITE_ROW) {
        return 1;
    }
    return rc == SQLITE_DONE ? 0 : btz_store_sql_error(store, doing, err);
}

int btz_store_run_stmt(struct btz_store *store, struct btz_store_bind *bind, const char *doing,
                       struct btz_err *err)
{
    int rc = btz_store_step(store, bind, doing, err);

    btz_store_reset(bind);
    if (rc == 1) {
        return btz_err_set(err, BTZ_EINTERNAL, "%s: a statement gave a row that nobody reads",
                           doing);
    }
    return rc;
}

struct btz_str btz_store_col_text(sqlite3_stmt *stmt, int column)
{
    const unsigned char *text = sqlite3_column_text(stmt, column);

    if (!text) {
        return BTZ_STR("");
    }
    return (struct btz_str){(const char *)text, (size_t)sqlite3_column_bytes(stmt, column)};
}

struct btz_str btz_store_col_bytes(sqlite3_stmt *stmt, int column)
{
    const char *bytes = sqlite3_column_blob(stmt, column);

    return (struct btz_str){bytes ? bytes : "", (size_t)sqlite3_column_bytes(stmt, column)};
}

bool btz_store_col_hash(sqlite3_stmt *stmt, int column, struct btz_hash *out)
{
    struct btz_str bytes = btz_store_col_bytes(stmt, column);

    if (bytes.len != sizeof(out->bytes)) {
        return false;
    }
    memcpy(out->bytes, bytes.ptr, sizeof(out->bytes));
    return true;
}

static int plain(struct btz_store *store, enum btz_store_stmt which, const char *doing,
                 struct btz_err *err)
{
    struct btz_store_bind bind;
    int rc = btz_store_stmt(store, which, &bind, err);

    return rc != BTZ_OK ? rc : btz_store_run_stmt(store, &bind, doing, err);
}

void btz_store_finalize(struct btz_store *store)
{
    for (unsigned i = 0; i < ST_COUNT; i++) {
        sqlite3_finalize(store->stmt[i]);
        store->stmt[i] = NULL;
    }
}

int btz_store_need_write(const struct btz_store *store, struct btz_err *err)
{
    if (store->mode != BTZ_STORE_WRITE) {
        return btz_err_set(err, BTZ_ESTATE, "the store %s is open for reading only", store->path);
    }
    return BTZ_OK;
}

int btz_store_begin(struct btz_store *store, struct btz_err *err)
{
    if (!sqlite3_get_autocommit(store->db)) {
        return BTZ_OK;
    }
    return plain(store, ST_BEGIN, "writing cannot begin", err);
}

void btz_store_rollback(struct btz_store *store)
{
    if (!sqlite3_get_autocommit(store->db)) {
        /* Can only fail by leaving nothing to roll back. */
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    }
    store->pending = 0;
    store->at.run = 0;
    store->next_trial_id = 0;
    btz_store_known_clear(store);
}

int btz_store_commit(struct btz_store *store, struct btz_err *err)
{
    unsigned lost = store->pending;
    int rc;

    if (sqlite3_get_autocommit(store->db)) {
        return BTZ_OK;
    }
    rc = plain(store, ST_COMMIT, "the commit failed", err);
    if (rc == BTZ_OK) {
        store->pending = 0;
        store->committed = store->at.run ? store->at.trials : store->committed;
        return BTZ_OK;
    }
    btz_store_rollback(store);
    if (lost) {
        btz_err_prefix(err,
                       "%u finished trials could not be stored and count as never run: ", lost);
    }
    return rc;
}
