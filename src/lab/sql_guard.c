/* What keeps SQL of a lab server inside its own tables: authorizer, limits, budget and VFS. */
#include "lab/sql.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

enum {
    STEP = 50,          /* operations between two looks at the budget */
    TIME_US = 4000000,  /* a last resort: SQL_STEPS_MAX comes first but for costly functions */
    CHANGE_SCHEMA = -1, /* what CREATE begins with: a row of the schema's table */
    PAGES_MAX = 4096    /* of 4096 bytes: what the tables may grow to */
};

static const char *const allowed_functions[] = {
    "abs",
    "avg",
    "ceil",
    "ceiling",
    "char",
    "coalesce",
    "concat",
    "concat_ws",
    "count",
    "cume_dist",
    "current_date",
    "current_time",
    "current_timestamp",
    "date",
    "datetime",
    "dense_rank",
    "first_value",
    "floor",
    "format",
    "glob",
    "group_concat",
    "hex",
    "ifnull",
    "iif",
    "instr",
    "julianday",
    "lag",
    "last_value",
    "lead",
    "length",
    "like",
    "lower",
    "ltrim",
    "max",
    "min",
    "mod",
    "nth_value",
    "ntile",
    "nullif",
    "percent_rank",
    "printf",
    "quote",
    "rank",
    "replace",
    "round",
    "row_number",
    "rtrim",
    "sign",
    "strftime",
    "substr",
    "substring",
    "sum",
    "time",
    "total",
    "trim",
    "trunc",
    "typeof",
    "unicode",
    "unixepoch",
    "upper",
    "zeroblob",
};

/* Names for what is denied, for messages. */
static const struct {
    int action;
    const char *name;
} actions[] = {
    {SQLITE_ALTER_TABLE, "ALTER TABLE"},
    {SQLITE_ANALYZE, "ANALYZE"},
    {SQLITE_ATTACH, "ATTACH"},
    {SQLITE_CREATE_INDEX, "CREATE INDEX"},
    {SQLITE_CREATE_TABLE, "CREATE TABLE"},
    {SQLITE_CREATE_TEMP_INDEX, "CREATE INDEX"},
    {SQLITE_CREATE_TEMP_TABLE, "CREATE TEMP TABLE"},
    {SQLITE_CREATE_TEMP_TRIGGER, "CREATE TRIGGER"},
    {SQLITE_CREATE_TEMP_VIEW, "CREATE VIEW"},
    {SQLITE_CREATE_TRIGGER, "CREATE TRIGGER"},
    {SQLITE_CREATE_VIEW, "CREATE VIEW"},
    {SQLITE_CREATE_VTABLE, "CREATE VIRTUAL TABLE"},
    {CHANGE_SCHEMA, "changing the schema"},
    {SQLITE_DELETE, "DELETE"},
    {SQLITE_DETACH, "DETACH"},
    {SQLITE_DROP_INDEX, "DROP INDEX"},
    {SQLITE_DROP_TABLE, "DROP TABLE"},
    {SQLITE_DROP_TRIGGER, "DROP TRIGGER"},
    {SQLITE_DROP_VIEW, "DROP VIEW"},
    {SQLITE_INSERT, "INSERT"},
    {SQLITE_PRAGMA, "PRAGMA"},
    {SQLITE_REINDEX, "REINDEX"},
    {SQLITE_SAVEPOINT, "SAVEPOINT"},
    {SQLITE_TRANSACTION, "a transaction"},
    {SQLITE_UPDATE, "UPDATE"},
};

size_t btz_sql_guard_table(const struct sql_guard *guard, const char *name)
{
    const struct btz_json *tables = guard->request->tables;

    for (size_t i = 0; name && i < btz_json_count(tables); i++) {
        struct btz_str key = btz_json_key_at(tables, i);

        if (key.len == strlen(name) && sqlite3_strnicmp(key.ptr, name, (int)key.len) == 0) {
            return i;
        }
    }
    return SQL_TABLES_MAX;
}

static int deny(struct sql_guard *guard, int action)
{
    const char *name = "this";

    for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++) {
        name = actions[i].action == action ? actions[i].name : name;
    }
    if (guard->denied[0] == '\0') {
        (void)snprintf(guard->denied, sizeof(guard->denied), "not authorized: %s", name);
    }
    return SQLITE_DENY;
}

static bool function_allowed(const char *name)
{
    for (size_t i = 0; i < sizeof(allowed_functions) / sizeof(*allowed_functions); i++) {
        if (sqlite3_stricmp(name, allowed_functions[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_schema(const char *table)
{
    return table && (strcmp(table, "sqlite_master") == 0 || strcmp(table, "sqlite_schema") == 0 ||
                     strcmp(table, "sqlite_temp_master") == 0);
}

/* Dropping a table deletes its entry in the schema; SQLite itself refuses to do that by name. */
static bool may_write(struct sql_guard *guard, int action, const char *table)
{
    const struct sql_request *request = guard->request;
    size_t at = btz_sql_guard_table(guard, table);

    if (!request->write) {
        return false;
    }
    if (action == SQLITE_DROP_TABLE && !request->many) {
        return false;
    }
    if (at < SQL_TABLES_MAX) {
        guard->touched[at] = true;
        return true;
    }
    return request->many && is_schema(table) && action != SQLITE_INSERT;
}

static int authorize(void *data, int action, const char *first, const char *second,
                     const char *database, const char *within)
{
    struct sql_guard *guard = data;

    (void)within;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_READ:
        /* A source of which no column is read may be an expression of the statement itself. */
        if (!database || !second || *second == '\0' ||
            (is_schema(first) && strcmp(database, "main") == 0) ||
            btz_sql_guard_table(guard, first) < SQL_TABLES_MAX) {
            return SQLITE_OK;
        }
        return SQLITE_DENY;
    case SQLITE_FUNCTION:
        return second && function_allowed(second) ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
    case SQLITE_DROP_TABLE:
        if (may_write(guard, action, first)) {
            return SQLITE_OK;
        }
        return deny(guard, is_schema(first) ? CHANGE_SCHEMA : action);
    default:
        return deny(guard, action);
    }
}

static int progress(void *data)
{
    struct sql_guard *guard = data;

    guard->steps += STEP;
    guard->ended = guard->steps > SQL_STEPS_MAX || btz_clock_mono_us() > guard->deadline_us;
    return guard->ended;
}

/* The VFS: there are no files, and the time is that of the world. */
static _Thread_local int64_t world_time;

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                    int *out_flags)
{
    (void)vfs, (void)name, (void)flags, (void)out_flags;
    file->pMethods = NULL;
    return SQLITE_CANTOPEN;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs, (void)name, (void)sync;
    return SQLITE_IOERR_DELETE;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
    (void)vfs, (void)name, (void)flags;
    *out = 0;
    return SQLITE_OK;
}

static int vfs_full_pathname(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
    (void)vfs, (void)name, (void)size, (void)out;
    return SQLITE_CANTOPEN;
}

static int vfs_randomness(sqlite3_vfs *vfs, int size, char *out)
{
    (void)vfs;
    memset(out, 0, (size_t)size);
    return size;
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds)
{
    (void)vfs;
    return microseconds;
}

static int vfs_time_ms(sqlite3_vfs *vfs, sqlite3_int64 *out)
{
    (void)vfs;
    *out = world_time * 1000 + 210866760000000; /* from noon of 24 November 4714 BC */
    return SQLITE_OK;
}

static int vfs_time(sqlite3_vfs *vfs, double *out)
{
    sqlite3_int64 ms = 0;

    (void)vfs_time_ms(vfs, &ms);
    *out = (double)ms / 86400000.0;
    return SQLITE_OK;
}

static int vfs_last_error(sqlite3_vfs *vfs, int size, char *out)
{
    (void)vfs, (void)size, (void)out;
    return 0;
}

static sqlite3_vfs vfs = {
    .iVersion = 2,
    .szOsFile = sizeof(sqlite3_file),
    .mxPathname = 64,
    .zName = "bartizan-lab",
    .xOpen = vfs_open,
    .xDelete = vfs_delete,
    .xAccess = vfs_access,
    .xFullPathname = vfs_full_pathname,
    .xRandomness = vfs_randomness,
    .xSleep = vfs_sleep,
    .xCurrentTime = vfs_time,
    .xGetLastError = vfs_last_error,
    .xCurrentTimeInt64 = vfs_time_ms,
};

static void set_up(void)
{
    if (sqlite3_vfs_register(&vfs, 0) != SQLITE_OK) {
        btz_panic("SQLite takes no further VFS");
    }
    /* 'localtime' and 'utc' would ask the host for its time zone; nothing in this program does. */
    (void)sqlite3_test_control(SQLITE_TESTCTRL_LOCALTIME_FAULT, 1);
}

static void set_limits(sqlite3 *db)
{
    static const int limits[][2] = {
        {SQLITE_LIMIT_LENGTH, SQL_VALUE_MAX},
        {SQLITE_LIMIT_SQL_LENGTH, 2 * SQL_STATEMENT_MAX}, /* also for making the tables */
        {SQLITE_LIMIT_COLUMN, SQL_COLUMNS_MAX},
        {SQLITE_LIMIT_EXPR_DEPTH, 64},
        {SQLITE_LIMIT_COMPOUND_SELECT, 16},
        {SQLITE_LIMIT_VDBE_OP, 20000},
        {SQLITE_LIMIT_FUNCTION_ARG, 32},
        {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200},
        {SQLITE_LIMIT_VARIABLE_NUMBER, SQL_COLUMNS_MAX},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
        {SQLITE_LIMIT_WORKER_THREADS, 0},
    };
    static const int switches[][2] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
        {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
        {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0},
        {SQLITE_DBCONFIG_DQS_DML, 0},
        {SQLITE_DBCONFIG_DQS_DDL, 0},
    };

    for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
        (void)sqlite3_limit(db, limits[i][0], limits[i][1]);
    }
    for (size_t i = 0; i < sizeof(switches) / sizeof(*switches); i++) {
        if (sqlite3_db_config(db, switches[i][0], switches[i][1], NULL) != SQLITE_OK) {
            btz_panic("SQLite lacks a switch that lab SQL relies on");
        }
    }
}

int btz_sql_guard_open(struct sql_guard *guard, const struct sql_request *request,
                       struct btz_err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char pragma[64];

    *guard = (struct sql_guard){.request = request};
    (void)pthread_once(&once, set_up);
    if (sqlite3_open_v2(":memory:", &guard->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX,
                        vfs.zName) != SQLITE_OK) {
        btz_panic("SQLite opens no database in memory");
    }
    set_limits(guard->db);
    (void)snprintf(pragma, sizeof(pragma), "PRAGMA max_page_count = %d", PAGES_MAX);
    if (sqlite3_exec(guard->db, pragma, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_drop_modules(guard->db, NULL) != SQLITE_OK ||
        btz_sql_format_add(guard->db) != SQLITE_OK) {
        return btz_err_set(err, BTZ_EINTERNAL, "w:sql: the database could not be limited");
    }
    return BTZ_OK;
}

void btz_sql_guard_begin(struct sql_guard *guard)
{
    world_time = guard->request->now;
    guard->deadline_us = btz_clock_mono_us() + TIME_US;
    sqlite3_progress_handler(guard->db, STEP, progress, guard);
    (void)sqlite3_set_authorizer(guard->db, authorize, guard);
}

void btz_sql_guard_end(struct sql_guard *guard)
{
    (void)sqlite3_set_authorizer(guard->db, NULL, NULL);
    sqlite3_progress_handler(guard->db, 0, NULL, NULL);
}

int btz_sql_guard_error(const struct sql_guard *guard, struct btz_err *err)
{
    switch (sqlite3_errcode(guard->db)) {
    case SQLITE_NOMEM: /* also when the program for the statement grows over its limit */
        return btz_err_set(err, BTZ_ELIMIT, "the statement is too complex");
    case SQLITE_INTERRUPT:
        return btz_err_set(err, BTZ_ELIMIT, "the statement takes too long");
    case SQLITE_CANTOPEN: /* a sorter or table in between that would go on in a file */
        return btz_err_set(err, BTZ_ELIMIT, "the statement needs too much memory");
    case SQLITE_FULL:
        return btz_err_set(err, BTZ_ELIMIT, "the tables would become too large");
    case SQLITE_AUTH:
        if (guard->denied[0] != '\0') {
            return btz_err_set(err, BTZ_EDENIED, "%s", guard->denied);
        }
        return btz_err_set(err, BTZ_EDENIED, "%s", sqlite3_errmsg(guard->db));
    default:
        return btz_err_set(err, BTZ_EINVAL, "%s", sqlite3_errmsg(guard->db));
    }
}
