/* One statement over the tables of a world: copies them into SQLite, runs it, and reads back what
 * it changed. */
#include "lab/sql.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"

enum { NAME_MAX_BYTES = 63, READ_BACK_BYTES_MAX = 4 * 1024 * 1024 };

struct statement {
    struct sql_guard guard;
    const struct sql_request *request;
    struct btz_arena *arena;
    struct sql_answer answer;
    size_t bytes; /* of the answer */
    uint64_t cells;
};

/* Names are put into SQL between double quotes, and a column must not hide the rowid. */
static bool is_name(struct btz_str name)
{
    if (name.len == 0 || name.len > NAME_MAX_BYTES || (name.ptr[0] >= '0' && name.ptr[0] <= '9') ||
        sqlite3_strnicmp(name.ptr, "sqlite_", 7) == 0) {
        return false;
    }
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_')) {
            return false;
        }
    }
    return sqlite3_stricmp(name.ptr, "rowid") != 0 && sqlite3_stricmp(name.ptr, "_rowid_") != 0 &&
           sqlite3_stricmp(name.ptr, "oid") != 0;
}

static int refuse_table(struct btz_str table, struct btz_err *err, const char *why)
{
    return btz_err_set(err, BTZ_ECORRUPT, "w:sql: table %.*s: %s", BTZ_FMT(table), why);
}

/* The CREATE TABLE statement: STRICT, so that a column holds what its type says. */
static int table_text(struct btz_arena *arena, struct btz_str table, const struct btz_json *columns,
                      struct btz_buf *out, struct btz_err *err)
{
    size_t count = btz_json_count(columns);
    const char *mark = "";

    if (!is_name(table) || count == 0 || count > SQL_COLUMNS_MAX) {
        return refuse_table(table, err, "its name or the number of its columns is not allowed");
    }
    (void)btz_buf_printf(out, "CREATE TABLE \"%.*s\" (", BTZ_FMT(table));
    for (size_t i = 0; i < count; i++) {
        const struct btz_json *column = btz_json_at(columns, i);
        struct btz_str name = btz_arena_dup(arena, btz_json_str(btz_json_getz(column, "name")));
        struct btz_str type = btz_json_str(btz_json_getz(column, "type"));

        if (!name.ptr || !is_name(name) ||
            (!btz_str_is(type, "TEXT") && !btz_str_is(type, "INTEGER") &&
             !btz_str_is(type, "REAL"))) {
            return refuse_table(table, err, "a column needs a name and TEXT, INTEGER or REAL");
        }
        (void)btz_buf_printf(out, "%s\"%.*s\" %.*s%s", i ? ", " : "", BTZ_FMT(name), BTZ_FMT(type),
                             btz_json_bool(btz_json_getz(column, "not_null"), false) ? " NOT NULL"
                                                                                     : "");
    }
    for (size_t i = 0; i < count; i++) {
        const struct btz_json *column = btz_json_at(columns, i);

        if (btz_json_bool(btz_json_getz(column, "key"), false)) {
            (void)btz_buf_printf(out, "%s\"%.*s\"", *mark ? mark : ", PRIMARY KEY (",
                                 BTZ_FMT(btz_json_str(btz_json_getz(column, "name"))));
            mark = ", ";
        }
    }
    (void)btz_buf_printf(out, "%s) STRICT", *mark ? ")" : "");
    return btz_buf_status(out);
}

static int bind(sqlite3_stmt *stmt, int at, const struct btz_json *value)
{
    struct btz_str text;
    int64_t whole;
    double number;

    switch (value ? btz_json_kind(value) : BTZ_JSON_NULL) {
    case BTZ_JSON_NULL:
        return sqlite3_bind_null(stmt, at);
    case BTZ_JSON_BOOL:
        return sqlite3_bind_int(stmt, at, btz_json_bool(value, false));
    case BTZ_JSON_NUMBER:
        if (btz_json_int64(value, &whole)) {
            return sqlite3_bind_int64(stmt, at, whole);
        }
        return btz_json_double(value, &number) ? sqlite3_bind_double(stmt, at, number)
                                               : SQLITE_RANGE;
    case BTZ_JSON_STRING:
        text = btz_json_str(value);
        return sqlite3_bind_text64(stmt, at, text.ptr ? text.ptr : "", text.len, SQLITE_STATIC,
                                   SQLITE_UTF8);
    default:
        return SQLITE_MISMATCH;
    }
}

static int load_rows(struct statement *st, struct btz_str table, size_t columns,
                     const struct btz_json *rows, sqlite3_stmt *insert, struct btz_err *err)
{
    size_t count = btz_json_count(rows);

    if (count > SQL_TABLE_ROWS_MAX) {
        return refuse_table(table, err, "it has too many rows");
    }
    st->cells += count * columns;
    for (size_t r = 0; r < count; r++) {
        const struct btz_json *row = btz_json_at(rows, r);
        int rc = btz_json_is(row, BTZ_JSON_ARRAY) && btz_json_count(row) == columns ? SQLITE_OK
                                                                                    : SQLITE_ERROR;

        if (rc != SQLITE_OK) {
            return refuse_table(table, err, "a row has not one value for each column");
        }
        for (size_t c = 0; rc == SQLITE_OK && c < columns; c++) {
            rc = bind(insert, (int)c + 1, btz_json_at(row, c));
        }
        if (rc == SQLITE_OK) {
            (void)sqlite3_step(insert);
            rc = sqlite3_reset(insert);
        }
        if (rc != SQLITE_OK) {
            return btz_err_set(err, BTZ_ECORRUPT, "w:sql: table %.*s, row %zu: %s", BTZ_FMT(table),
                               r + 1,
                               rc == sqlite3_errcode(st->guard.db) ? sqlite3_errmsg(st->guard.db)
                                                                   : sqlite3_errstr(rc));
        }
    }
    return BTZ_OK;
}

static int load_table(struct statement *st, struct btz_str name, const struct btz_json *table,
                      struct btz_err *err)
{
    const struct btz_json *columns = btz_json_getz(table, "columns");
    size_t count = btz_json_count(columns);
    sqlite3_stmt *insert = NULL;
    struct btz_buf buf;
    int code;

    name = btz_arena_dup(st->arena, name);
    btz_buf_init(&buf, 2 * SQL_STATEMENT_MAX);
    code = table_text(st->arena, name, columns, &buf, err);
    if (code == BTZ_OK && sqlite3_exec(st->guard.db, btz_arena_cstr(st->arena, btz_buf_view(&buf)),
                                       NULL, NULL, NULL) != SQLITE_OK) {
        code = refuse_table(name, err, sqlite3_errmsg(st->guard.db));
    }
    if (code == BTZ_OK) {
        btz_buf_reset(&buf);
        (void)btz_buf_printf(&buf, "INSERT INTO \"%s\" VALUES (?", name.ptr);
        for (size_t i = 1; i < count; i++) {
            (void)btz_buf_add_text(&buf, ",?");
        }
        (void)btz_buf_add_byte(&buf, ')');
        if (sqlite3_prepare_v2(st->guard.db, buf.ptr, (int)buf.len, &insert, NULL) != SQLITE_OK) {
            code = refuse_table(name, err, sqlite3_errmsg(st->guard.db));
        }
    }
    btz_buf_fini(&buf);
    if (code == BTZ_OK) {
        code = load_rows(st, name, count, btz_json_getz(table, "rows"), insert, err);
    }
    (void)sqlite3_finalize(insert);
    return code;
}

static int load(struct statement *st, struct btz_err *err)
{
    const struct btz_json *tables = st->request->tables;
    int code = BTZ_OK;

    if (!btz_json_is(tables, BTZ_JSON_OBJECT) || btz_json_count(tables) > SQL_TABLES_MAX) {
        return btz_err_set(err, BTZ_ECORRUPT,
                           "w:sql: there are no tables at this path, or more "
                           "than %d",
                           SQL_TABLES_MAX);
    }
    if (sqlite3_exec(st->guard.db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK) {
        return btz_sql_guard_error(&st->guard, err);
    }
    for (size_t i = 0; code == BTZ_OK && i < btz_json_count(tables); i++) {
        code = load_table(st, btz_json_key_at(tables, i), btz_json_value_at(tables, i), err);
    }
    if (code == BTZ_OK && sqlite3_exec(st->guard.db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) {
        return btz_sql_guard_error(&st->guard, err);
    }
    return code;
}

/* A cell as JSON; bytes that are no text as SQL writes them, x'00ff'. */
static const struct btz_json *cell(struct btz_arena *arena, sqlite3_stmt *stmt, int column,
                                   size_t *bytes)
{
    const unsigned char *blob;
    struct btz_str text;
    struct btz_buf buf;
    const struct btz_json *out;

    *bytes += 8;
    switch (sqlite3_column_type(stmt, column)) {
    case SQLITE_INTEGER:
        return btz_json_new_int(arena, sqlite3_column_int64(stmt, column));
    case SQLITE_FLOAT:
        return btz_json_new_double(arena, sqlite3_column_double(stmt, column));
    case SQLITE_TEXT:
        text.ptr = (const char *)sqlite3_column_text(stmt, column);
        text.len = (size_t)sqlite3_column_bytes(stmt, column);
        *bytes += text.len;
        return btz_json_new_str(arena, text);
    case SQLITE_BLOB:
        blob = sqlite3_column_blob(stmt, column);
        btz_buf_init(&buf, 2 * SQL_VALUE_MAX + 16);
        (void)btz_buf_add_text(&buf, "x'");
        for (int i = 0; i < sqlite3_column_bytes(stmt, column); i++) {
            (void)btz_buf_printf(&buf, "%02x", blob[i]);
        }
        (void)btz_buf_add_byte(&buf, '\'');
        *bytes += buf.len;
        out = btz_json_new_str(arena, btz_buf_view(&buf));
        btz_buf_fini(&buf);
        return out;
    default:
        return btz_json_null(arena);
    }
}

static const struct btz_json *row_of(struct btz_arena *arena, sqlite3_stmt *stmt, size_t *bytes)
{
    struct btz_json *row = btz_json_new_array(arena);

    for (int c = 0; c < sqlite3_column_count(stmt); c++) {
        btz_json_push(arena, row, cell(arena, stmt, c, bytes));
    }
    return row;
}

static int bind_params(struct statement *st, sqlite3_stmt *stmt, const struct btz_json *params,
                       struct btz_err *err)
{
    size_t wanted = (size_t)sqlite3_bind_parameter_count(stmt);
    size_t given = btz_json_count(params);

    if (wanted != given) {
        return btz_err_set(err, BTZ_EINVAL,
                           "the statement has %zu parameters, but %zu values are "
                           "given",
                           wanted, given);
    }
    for (size_t i = 1; i <= wanted; i++) {
        const char *name = sqlite3_bind_parameter_name(stmt, (int)i);
        const struct btz_json *value = btz_json_at(params, i - 1);
        int rc;

        if (btz_json_is(params, BTZ_JSON_OBJECT)) {
            value = name ? btz_json_getz(params, name + 1) : NULL;
        }
        if (!value) {
            return btz_err_set(err, BTZ_EINVAL, "parameter %s has no value", name ? name : "?");
        }
        rc = bind(stmt, (int)i, value);
        if (rc == SQLITE_MISMATCH || rc == SQLITE_RANGE) {
            return btz_err_set(err, BTZ_EINVAL, "parameter %zu is no text, number or null", i);
        }
        if (rc != SQLITE_OK) {
            return btz_sql_guard_error(&st->guard, err);
        }
    }
    return BTZ_OK;
}

/* Takes the rows of a statement. Those beyond the limits are left, but a writing one is brought to
 * its end. */
static int take_rows(struct statement *st, sqlite3_stmt *stmt, struct btz_err *err)
{
    struct btz_arena *arena = st->arena;
    struct btz_json *rows = btz_json_new_array(arena);
    struct btz_json *columns = btz_json_new_array(arena);
    bool readonly = sqlite3_stmt_readonly(stmt);
    bool truncated = false;
    int rc;

    for (int c = 0; c < sqlite3_column_count(stmt); c++) {
        btz_json_push(arena, columns, btz_json_new_strz(arena, sqlite3_column_name(stmt, c)));
    }
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        const struct btz_json *row;
        size_t bytes = st->bytes;

        if (truncated || btz_json_count(rows) >= st->request->max_rows) {
            truncated = true;
        } else {
            row = row_of(arena, stmt, &bytes);
            truncated = bytes > SQL_RESULT_BYTES_MAX;
            if (!truncated) {
                st->bytes = bytes;
                btz_json_push(arena, rows, row);
            }
        }
        if (truncated && readonly) {
            rc = SQLITE_DONE;
            break;
        }
    }
    if (rc != SQLITE_DONE) {
        return btz_sql_guard_error(&st->guard, err);
    }
    if (btz_json_count(columns) > 0 || !st->answer.rows) {
        st->answer.columns = columns;
        st->answer.rows = rows;
        st->answer.truncated = truncated;
    }
    return BTZ_OK;
}

static int run_one(struct statement *st, sqlite3_stmt *stmt, const struct btz_json *params,
                   struct btz_err *err)
{
    int64_t before = sqlite3_total_changes64(st->guard.db);
    int code;

    if (sqlite3_stmt_isexplain(stmt)) {
        return btz_err_set(err, BTZ_EDENIED, "not authorized: EXPLAIN");
    }
    if (!st->request->write && !sqlite3_stmt_readonly(stmt)) {
        return btz_err_set(err, BTZ_EDENIED, "not authorized: only SELECT");
    }
    code = bind_params(st, stmt, params, err);
    if (code == BTZ_OK) {
        code = take_rows(st, stmt, err);
    }
    st->answer.changes += sqlite3_total_changes64(st->guard.db) - before;
    return code;
}

/* All statements of the text; parameters belong to the first. Without `many` what follows the
 * first is refused before that has run. */
static int run_all(struct statement *st, struct btz_err *err)
{
    const char *at = btz_arena_cstr(st->arena, st->request->statement);
    const struct btz_json *params = st->request->params;
    sqlite3_stmt *stmt = NULL;
    sqlite3_stmt *next = NULL;
    size_t done = 0;
    int code = BTZ_OK;

    while (code == BTZ_OK && *at != '\0') {
        const char *rest = at;

        if (sqlite3_prepare_v2(st->guard.db, at, -1, &stmt, &rest) != SQLITE_OK) {
            return btz_sql_guard_error(&st->guard, err);
        }
        at = rest;
        while (stmt && !st->request->many && *at != '\0') {
            int rc = sqlite3_prepare_v2(st->guard.db, at, -1, &next, &rest);

            if (rc != SQLITE_OK || next) {
                (void)sqlite3_finalize(next);
                (void)sqlite3_finalize(stmt);
                return btz_err_set(err, BTZ_EDENIED, "only one statement is allowed");
            }
            at = rest;
        }
        if (stmt) {
            code = run_one(st, stmt, done == 0 ? params : NULL, err);
            done++;
        }
        (void)sqlite3_finalize(stmt);
        stmt = NULL;
    }
    if (code == BTZ_OK && done == 0) {
        code = btz_err_set(err, BTZ_EINVAL, "there is no statement");
    }
    return code;
}

static bool exists(sqlite3 *db, const char *table)
{
    return sqlite3_table_column_metadata(db, "main", table, NULL, NULL, NULL, NULL, NULL, NULL) ==
           SQLITE_OK;
}

/* The rows of a table as they are now. */
static int read_back(struct statement *st, const char *table, const struct btz_json **out,
                     struct btz_err *err)
{
    struct btz_json *rows = btz_json_new_array(st->arena);
    sqlite3_stmt *stmt = NULL;
    size_t bytes = 0;
    int code = BTZ_OK;
    int rc = sqlite3_prepare_v2(
        st->guard.db, btz_arena_printf(st->arena, "SELECT * FROM \"%s\" ORDER BY rowid", table).ptr,
        -1, &stmt, NULL);

    while (code == BTZ_OK && rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        rc = SQLITE_OK;
        st->cells += (uint64_t)sqlite3_column_count(stmt);
        for (int c = 0; c < sqlite3_column_count(stmt); c++) {
            if (sqlite3_column_type(stmt, c) == SQLITE_FLOAT &&
                !isfinite(sqlite3_column_double(stmt, c))) {
                code = btz_err_set(err, BTZ_EINVAL, "a number is out of range");
            }
        }
        btz_json_push(st->arena, rows, row_of(st->arena, stmt, &bytes));
        if (btz_json_count(rows) > SQL_TABLE_ROWS_MAX || bytes > READ_BACK_BYTES_MAX) {
            code = btz_err_set(err, BTZ_ELIMIT, "the tables would become too large");
        }
    }
    if (code == BTZ_OK && rc != SQLITE_DONE) {
        code = btz_sql_guard_error(&st->guard, err);
    }
    (void)sqlite3_finalize(stmt);
    if (code == BTZ_OK) {
        *out = rows;
    }
    return code;
}

static int note_changes(struct statement *st, struct btz_err *err)
{
    const struct btz_json *tables = st->request->tables;

    for (size_t i = 0; i < btz_json_count(tables); i++) {
        struct btz_str name = btz_arena_dup(st->arena, btz_json_key_at(tables, i));
        struct sql_change change = {name, NULL};
        int code = BTZ_OK;

        if (!st->guard.touched[i]) {
            continue;
        }
        if (exists(st->guard.db, name.ptr)) {
            code = read_back(st, name.ptr, &change.rows, err);
        }
        if (code != BTZ_OK) {
            return code;
        }
        if (!change.rows ||
            !btz_json_equal(change.rows, btz_json_getz(btz_json_value_at(tables, i), "rows"))) {
            st->answer.changed[st->answer.changed_count++] = change;
        }
    }
    return BTZ_OK;
}

int btz_sql_run(struct btz_arena *arena, const struct sql_request *request,
                struct sql_answer *answer, uint64_t *work, struct btz_err *err)
{
    struct statement st = {.request = request, .arena = arena};
    int code = btz_sql_shape_check(request->statement, err);

    *work = SQL_CALL_WORK + request->statement.len / 4;
    if (code != BTZ_OK) {
        return code;
    }
    code = btz_sql_guard_open(&st.guard, request, err);
    if (code == BTZ_OK) {
        code = load(&st, err);
    }
    if (code == BTZ_OK) {
        btz_sql_guard_begin(&st.guard);
        code = run_all(&st, err);
        btz_sql_guard_end(&st.guard);
    }
    if (code == BTZ_OK) {
        code = note_changes(&st, err);
    }
    *work += st.guard.steps + st.cells;
    (void)sqlite3_close(st.guard.db);
    if (code == BTZ_OK) {
        *answer = st.answer;
    }
    return code;
}
