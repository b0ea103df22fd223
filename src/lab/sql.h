/* SQL for lab servers: one statement over tables that stand in the world.
 *
 * The tables are copied into a fresh in-memory SQLite database, which is gone when the call ends.
 * What runs in it is hostile: it is written by a model, or by an attack. So it meets, in this
 * order, limits on its own size (sql_shape.c), an authorizer that allows what is named and denies
 * the rest, SQLite's limits and defensive mode, a budget of steps, and a VFS that opens no file and
 * tells the world's time (sql_guard.c). Nothing depends on the host: same tables, statement and
 * time give the same answer. */
#ifndef BTZ_LAB_SQL_H
#define BTZ_LAB_SQL_H

#include <sqlite3.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"

enum {
    SQL_STATEMENT_MAX = 8000,  /* bytes of a statement */
    SQL_VALUE_MAX = 32 * 1024, /* bytes of one text, also in between */
    SQL_TABLES_MAX = 32,
    SQL_COLUMNS_MAX = 64,
    SQL_TABLE_ROWS_MAX = 10000,
    SQL_RESULT_ROWS_MAX = 1000,
    SQL_RESULT_BYTES_MAX = 256 * 1024,
    SQL_CALL_WORK = 2000,   /* what opening a database counts, in steps */
    SQL_STEPS_MAX = 1000000 /* operations of SQLite's machine for one call */
};

struct sql_request {
    const struct btz_json *tables; /* {name: {columns: [{name, type, key?, not_null?}], rows}} */
    struct btz_str statement;
    const struct btz_json *params; /* array or object of scalars, or NULL */
    bool write;                    /* INSERT, UPDATE and DELETE too */
    bool many;                     /* several statements; with `write` also DROP TABLE */
    size_t max_rows;
    int64_t now; /* seconds since 1970: what date('now') is */
};

/* A table that a statement changed. */
struct sql_change {
    struct btz_str table;
    const struct btz_json *rows; /* all of them, afterwards; NULL if the table was dropped */
};

struct sql_answer {
    const struct btz_json *columns; /* names */
    const struct btz_json *rows;    /* of arrays */
    int64_t changes;
    bool truncated; /* there was more than `max_rows` or the byte limit */
    struct sql_change changed[SQL_TABLES_MAX];
    size_t changed_count;
};

/* Runs the statement; values of the answer live in `arena`. `*work` is set in any case: the steps
 * that SQLite made and the cells that were copied. BTZ_ECORRUPT: the tables are not as they should
 * be; BTZ_EDENIED, BTZ_ELIMIT, BTZ_EINVAL: the statement is refused, with a message for whoever
 * wrote it, mostly SQLite's own. */
int btz_sql_run(struct btz_arena *arena, const struct sql_request *request,
                struct sql_answer *answer, uint64_t *work, struct btz_err *err) BTZ_WARN_UNUSED;

/* sql_shape.c: refuses statements that are too long, or whose common table expressions are named
 * so often that expanding them takes SQLite's compiler exponential time. */
int btz_sql_shape_check(struct btz_str statement, struct btz_err *err) BTZ_WARN_UNUSED;

/* sql_format.c: puts format() and printf() with bounded widths into a database; a result code of
 * SQLite. */
int btz_sql_format_add(sqlite3 *db);

/* sql_guard.c */
struct sql_guard {
    sqlite3 *db;
    const struct sql_request *request;
    bool touched[SQL_TABLES_MAX]; /* tables that a statement may write, by position */
    char denied[120];             /* what the authorizer refused, "" = nothing yet */
    uint64_t steps;
    int64_t deadline_us;
    bool ended; /* by the budget of steps or time */
};
/* A new database with its limits set. */
int btz_sql_guard_open(struct sql_guard *guard, const struct sql_request *request,
                       struct btz_err *err) BTZ_WARN_UNUSED;
/* From here on statements are hostile. */
void btz_sql_guard_begin(struct sql_guard *guard);
void btz_sql_guard_end(struct sql_guard *guard);
/* Position of a table by name, without regard to case; SQL_TABLES_MAX if there is none. */
size_t btz_sql_guard_table(const struct sql_guard *guard, const char *name);
/* The error that `db` has now, in words for a model. */
int btz_sql_guard_error(const struct sql_guard *guard, struct btz_err *err);

#endif
