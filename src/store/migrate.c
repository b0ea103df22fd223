/* The schema and its way forward. PRAGMA user_version holds the version; step i leads from version
 * i to i + 1 and, once released, is never changed: a new version is a new step. */
#include "store/store_int.h"

#include <stdio.h>

/* Version 1. Content columns come in pairs: `data` (small, in the row) or `blob`. Foreign keys are
 * written down for the reader and are not enforced: put checks what it refers to and verify
 * recomputes all of it. event, exchange, verdict and finding are kept in the order of their trial,
 * so that reading a trial is one range of each table. */
static const char version_1[] =
    "CREATE TABLE blob ("
    " id INTEGER PRIMARY KEY,"
    " hash BLOB NOT NULL UNIQUE," /* SHA-256 of the content */
    " size INTEGER NOT NULL,"     /* of the content */
    " zip INTEGER NOT NULL,"      /* 1: data is a zstd frame, 0: data is the content */
    " data BLOB NOT NULL) STRICT;"

    "CREATE TABLE run ("
    " no INTEGER PRIMARY KEY,"
    " id TEXT NOT NULL UNIQUE,"
    " study TEXT NOT NULL,"
    " created_us INTEGER NOT NULL,"
    " provenance INTEGER NOT NULL REFERENCES blob,"
    " genesis BLOB NOT NULL,"
    " head BLOB NOT NULL,"
    " trials INTEGER NOT NULL,"
    " events INTEGER NOT NULL,"
    " late_head BLOB NOT NULL," /* chain of verdicts added later */
    " late INTEGER NOT NULL,"
    " session INTEGER," /* writer that has the run open */
    " ended_us INTEGER NOT NULL,"
    " end_reason TEXT NOT NULL) STRICT;"

    "CREATE TABLE cell ("
    " id INTEGER PRIMARY KEY,"
    " run INTEGER NOT NULL REFERENCES run,"
    " ordinal INTEGER NOT NULL,"
    " key TEXT NOT NULL,"
    " model TEXT NOT NULL,"
    " architecture TEXT NOT NULL,"
    " defence TEXT NOT NULL,"
    " revision TEXT NOT NULL,"
    " host_profile TEXT NOT NULL,"
    " surface TEXT NOT NULL,"
    " attack TEXT NOT NULL,"
    " variant TEXT NOT NULL,"
    " boundary TEXT NOT NULL,"
    " arm TEXT NOT NULL,"
    " repetition INTEGER NOT NULL,"
    " applicable INTEGER NOT NULL,"
    " why TEXT NOT NULL,"
    " trial INTEGER REFERENCES trial," /* the current one */
    " UNIQUE (run, key),"
    " UNIQUE (run, ordinal)) STRICT;"

    "CREATE TABLE trial ("
    " id INTEGER PRIMARY KEY,"
    " run INTEGER NOT NULL REFERENCES run,"
    " n INTEGER NOT NULL,"
    " cell INTEGER NOT NULL REFERENCES cell,"
    " outcome TEXT NOT NULL,"
    " sub TEXT NOT NULL,"
    " triggered INTEGER NOT NULL,"
    " delivered INTEGER NOT NULL,"
    " observed INTEGER NOT NULL,"
    " observed_turn INTEGER NOT NULL,"
    " carrier TEXT NOT NULL,"
    " fragments_seen INTEGER NOT NULL,"
    " fragments_all INTEGER NOT NULL,"
    " acted INTEGER NOT NULL,"
    " act_event INTEGER NOT NULL,"
    " effect INTEGER NOT NULL,"
    " effect_event INTEGER NOT NULL,"
    " stopped_by TEXT NOT NULL,"
    " stage TEXT NOT NULL,"
    " leak_ppm INTEGER NOT NULL,"
    " utility INTEGER NOT NULL,"
    " tokens_input INTEGER NOT NULL,"
    " tokens_output INTEGER NOT NULL,"
    " tokens_cache_read INTEGER NOT NULL,"
    " tokens_cache_write INTEGER NOT NULL,"
    " tokens_reasoning INTEGER NOT NULL,"
    " cost_nano INTEGER NOT NULL,"
    " started_us INTEGER NOT NULL,"
    " took_us INTEGER NOT NULL,"
    " model_us INTEGER NOT NULL,"
    " turns INTEGER NOT NULL,"
    " attempts INTEGER NOT NULL,"
    " seed INTEGER NOT NULL," /* the 64 bits, as two's complement */
    " stop TEXT NOT NULL,"
    " trajectory BLOB NOT NULL,"
    " events INTEGER NOT NULL,"
    " exchanges INTEGER NOT NULL,"
    " verdicts INTEGER NOT NULL,"
    " findings INTEGER NOT NULL,"
    " link BLOB NOT NULL,"
    " UNIQUE (run, n)) STRICT;"

    "CREATE TABLE event ("
    " trial INTEGER NOT NULL REFERENCES trial,"
    " ordinal INTEGER NOT NULL,"
    " layer TEXT NOT NULL,"
    " kind TEXT NOT NULL,"
    " visible INTEGER NOT NULL,"
    " turn INTEGER NOT NULL,"
    " at_us INTEGER NOT NULL,"
    " data BLOB,"
    " blob INTEGER REFERENCES blob,"
    " link BLOB NOT NULL,"
    " PRIMARY KEY (trial, ordinal)) STRICT, WITHOUT ROWID;"

    "CREATE TABLE exchange ("
    " trial INTEGER NOT NULL REFERENCES trial,"
    " ordinal INTEGER NOT NULL,"
    " role TEXT NOT NULL,"
    " turn INTEGER NOT NULL,"
    " kept INTEGER NOT NULL," /* leading parts taken over from the exchange before of that role */
    " parts TEXT NOT NULL,"   /* JSON array of blob ids: the parts after those */
    " data BLOB,"             /* reply */
    " blob INTEGER REFERENCES blob,"
    " model TEXT NOT NULL,"
    " stop TEXT NOT NULL,"
    " status INTEGER NOT NULL,"
    " at_us INTEGER NOT NULL,"
    " took_us INTEGER NOT NULL,"
    " tokens_input INTEGER NOT NULL,"
    " tokens_output INTEGER NOT NULL,"
    " tokens_cache_read INTEGER NOT NULL,"
    " tokens_cache_write INTEGER NOT NULL,"
    " tokens_reasoning INTEGER NOT NULL,"
    " PRIMARY KEY (trial, ordinal)) STRICT, WITHOUT ROWID;"

    "CREATE TABLE verdict ("
    " trial INTEGER NOT NULL REFERENCES trial,"
    " ordinal INTEGER NOT NULL,"
    " source TEXT NOT NULL,"
    " name TEXT NOT NULL,"
    " version TEXT NOT NULL,"
    " success INTEGER NOT NULL,"
    " act_event INTEGER NOT NULL,"
    " effect_event INTEGER NOT NULL,"
    " at_us INTEGER NOT NULL,"
    " data BLOB,"
    " blob INTEGER REFERENCES blob,"
    " late INTEGER NOT NULL," /* 0, or place in the run's chain of late verdicts, from 1 */
    " run INTEGER,"           /* of a late verdict, for its index */
    " link BLOB,"             /* of a late verdict */
    " PRIMARY KEY (trial, ordinal)) STRICT, WITHOUT ROWID;"
    "CREATE UNIQUE INDEX verdict_late ON verdict (run, late) WHERE run IS NOT NULL;"

    "CREATE TABLE finding ("
    " trial INTEGER NOT NULL REFERENCES trial,"
    " ordinal INTEGER NOT NULL,"
    " stage TEXT NOT NULL,"
    " rule TEXT NOT NULL,"
    " severity TEXT NOT NULL,"
    " action TEXT NOT NULL,"
    " event INTEGER NOT NULL,"
    " data BLOB,"
    " blob INTEGER REFERENCES blob,"
    " PRIMARY KEY (trial, ordinal)) STRICT, WITHOUT ROWID;"

    "CREATE TABLE certification ("
    " binary BLOB NOT NULL,"
    " pack BLOB NOT NULL,"
    " scenario TEXT NOT NULL,"
    " rule TEXT NOT NULL,"
    " passed INTEGER NOT NULL,"
    " at_us INTEGER NOT NULL,"
    " detail TEXT NOT NULL,"
    " PRIMARY KEY (binary, pack, scenario, rule)) STRICT, WITHOUT ROWID;";

/* Version 2: runs of the sieve experiment (store/sieve.h). */
static const char version_2[] =
    "CREATE TABLE sieve_run ("
    " no INTEGER PRIMARY KEY,"
    " id TEXT NOT NULL UNIQUE,"
    " kind TEXT NOT NULL,"
    " created_us INTEGER NOT NULL,"
    " card INTEGER NOT NULL REFERENCES blob,"
    " done INTEGER NOT NULL) STRICT;"

    "CREATE TABLE sieve_row ("
    " run INTEGER NOT NULL REFERENCES sieve_run,"
    " key TEXT NOT NULL,"
    " json TEXT NOT NULL,"
    " PRIMARY KEY (run, key)) STRICT, WITHOUT ROWID;"

    "CREATE TABLE sieve_reply ("
    " run INTEGER NOT NULL REFERENCES sieve_run,"
    " model TEXT NOT NULL,"
    " request BLOB NOT NULL," /* SHA-256 over the parts of the request */
    " rejected INTEGER NOT NULL,"
    " took_us INTEGER NOT NULL,"
    " attempts INTEGER NOT NULL,"
    " data BLOB," /* reply */
    " blob INTEGER REFERENCES blob,"
    " PRIMARY KEY (run, model, request)) STRICT, WITHOUT ROWID;";

/* Version 3: a hash chain over rows and replies of a sieve run, in the order in which they came.
 * What is older has NULL there. */
static const char version_3[] = "ALTER TABLE sieve_run ADD COLUMN links INTEGER NOT NULL DEFAULT 0;"
                                "ALTER TABLE sieve_run ADD COLUMN head BLOB;"
                                "ALTER TABLE sieve_row ADD COLUMN n INTEGER;"
                                "ALTER TABLE sieve_row ADD COLUMN link BLOB;"
                                "ALTER TABLE sieve_reply ADD COLUMN n INTEGER;"
                                "ALTER TABLE sieve_reply ADD COLUMN link BLOB;";

/* What version 3 added, for a store of version 2 that is only read: views of this connection, which
 * stand before the tables of the same names. */
static const char version_2_as_3[] =
    "CREATE TEMP VIEW sieve_run AS"
    " SELECT no, id, kind, created_us, card, done, 0 AS links, NULL AS head FROM main.sieve_run;"
    "CREATE TEMP VIEW sieve_row AS"
    " SELECT run, key, json, NULL AS n, NULL AS link FROM main.sieve_row;"
    "CREATE TEMP VIEW sieve_reply AS"
    " SELECT run, model, request, rejected, took_us, attempts, data, blob,"
    " NULL AS n, NULL AS link FROM main.sieve_reply;";

static const char *const steps_of_store[] = {version_1, version_2, version_3};

int btz_store_schema_version(void)
{
    return (int)(sizeof(steps_of_store) / sizeof(steps_of_store[0]));
}

int btz_store_migrate_steps(sqlite3 *db, int from, const char *const *steps, int count,
                            struct btz_err *err)
{
    for (int version = from; version < count; version++) {
        char mark[64];

        /* A pragma takes no bound parameter; the number is ours. */
        snprintf(mark, sizeof(mark), "PRAGMA user_version = %d", version + 1);
        if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK ||
            sqlite3_exec(db, steps[version], NULL, NULL, NULL) != SQLITE_OK ||
            sqlite3_exec(db, mark, NULL, NULL, NULL) != SQLITE_OK ||
            sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) {
            int rc = btz_err_set(err, BTZ_EIO,
                                 "the store could not be brought from version %d to %d: %s; "
                                 "it stays at version %d",
                                 version, version + 1, sqlite3_errmsg(db), version);

            if (!sqlite3_get_autocommit(db)) {
                sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
            }
            return rc;
        }
    }
    return BTZ_OK;
}

int btz_store_read_older(sqlite3 *db, struct btz_err *err)
{
    return sqlite3_exec(db, version_2_as_3, NULL, NULL, NULL) == SQLITE_OK
               ? BTZ_OK
               : btz_err_set(err, BTZ_ECORRUPT, "a store of version 2 cannot be read: %s",
                             sqlite3_errmsg(db));
}

int btz_store_migrate(sqlite3 *db, int from, struct btz_err *err)
{
    return btz_store_migrate_steps(db, from, steps_of_store, btz_store_schema_version(), err);
}
