/* w:sql: what it gives, what it writes, and what must not get past it (tests/packs/sql). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "lab/lab.h"

static struct btz_lab *lab;
static struct btz_arena *arena;
static struct btz_stage *stage;

static int setup(void **state)
{
    const char *dirs[] = {BTZ_SOURCE_DIR "/tests/packs/sql"};
    struct btz_lab_options options = {dirs, 1, true, 0};
    struct btz_err err = {0};
    char text[1200];

    (void)state;
    arena = btz_arena_new();
    if (btz_lab_new(&options, &lab, &err) != BTZ_OK) {
        print_error("%s\n", btz_err_text(&err, text, sizeof(text)));
        return -1;
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    btz_lab_free(lab);
    btz_arena_free(arena);
    return 0;
}

static int begin(void **state)
{
    struct btz_str servers[] = {BTZ_STR("bench")};
    struct btz_err err = {0};

    (void)state;
    return btz_stage_new_plain(lab, servers, 1, 11, &stage, &err) == BTZ_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    btz_stage_free(stage);
    stage = NULL;
    return 0;
}

/* Arguments {tables, statement} and the members of `more`, JSON text with its braces or NULL. */
static const struct btz_json *arguments(struct btz_str statement, const char *more)
{
    const struct btz_json *parsed = NULL;
    struct btz_json *args = btz_json_new_object(arena);
    struct btz_err err;

    btz_json_set_strz(arena, args, "tables", "tables");
    btz_json_set_str(arena, args, "statement", statement);
    if (more && btz_json_parse(arena, btz_str_of(more), NULL, &parsed, &err) != BTZ_OK) {
        fail_msg("%s: %s", more, err.msg);
    }
    for (size_t i = 0; i < btz_json_count(parsed); i++) {
        btz_json_set(arena, args, btz_json_key_at(parsed, i), btz_json_value_at(parsed, i));
    }
    return args;
}

static const struct btz_json *call(struct btz_str statement, const char *more)
{
    const struct btz_json *result = NULL;
    struct btz_err err = {0};

    if (btz_stage_call(stage, 0, BTZ_STR("sql"), arguments(statement, more), 1, &result, &err) !=
        BTZ_OK) {
        fail_msg("%.*s: %s", BTZ_FMT(statement), err.msg);
    }
    return result;
}

static const char *text_of(const struct btz_json *result)
{
    return btz_arena_cstr(arena,
                          btz_json_str(btz_json_pointer(result, BTZ_STR("/content/0/text"))));
}

/* The statement gives exactly these rows, as JSON text. */
static void gives_with(const char *statement, const char *more, const char *rows)
{
    const struct btz_json *result = call(btz_str_of(statement), more);
    const struct btz_json *got = btz_json_pointer(result, BTZ_STR("/structuredContent/rows"));

    if (!got) {
        fail_msg("%s: %s", statement, text_of(result));
    }
    if (!btz_str_is(btz_json_text(arena, got), rows)) {
        fail_msg("%s: expected %s, got %s", statement, rows, btz_json_text(arena, got).ptr);
    }
}

static void gives(const char *statement, const char *rows)
{
    gives_with(statement, NULL, rows);
}

static void refused_with(const char *statement, const char *more, const char *why)
{
    const struct btz_json *result = call(btz_str_of(statement), more);

    if (!btz_json_bool(btz_json_getz(result, "isError"), false)) {
        fail_msg("%s was not refused: %s", statement, text_of(result));
    }
    if (!strstr(text_of(result), why)) {
        fail_msg("%s: expected \"%s\", got \"%s\"", statement, why, text_of(result));
    }
    assert_null(strstr(text_of(result), "/"));
}

static void refused(const char *statement, const char *why)
{
    refused_with(statement, NULL, why);
}

static void test_reads(void **state)
{
    (void)state;
    gives("SELECT * FROM customers", "[[1,\"Edith\",\"Hull\"],[2,\"Marco\",null],"
                                     "[3,\"O'Neil \\\"x\\\"\",\"Ely\"]]");
    gives("select name from Customers where city is null;", "[[\"Marco\"]]");
    gives("SELECT count(*) FROM customers -- all of them", "[[3]]");
    gives("WITH c AS (SELECT id FROM customers) SELECT count(*) FROM c", "[[3]]");
    gives("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<5) "
          "SELECT sum(i) FROM n",
          "[[15]]");
    gives("SELECT id, rank() OVER (ORDER BY id DESC) FROM customers ORDER BY 1",
          "[[1,3],[2,2],[3,1]]");
    gives("VALUES (1, 'a'), (2, NULL)", "[[1,\"a\"],[2,null]]");
    gives("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1",
          "[[\"customers\"],[\"numbers\"],[\"pairs\"]]");
    gives("SELECT group_concat(name, '; ') FROM customers WHERE id < 3", "[[\"Edith; Marco\"]]");
    gives("SELECT * FROM numbers", "[]");
    gives("SELECT printf('%05d|%-4s|%.2f|%,d|%%|%s', 42, 'ab', 1.234, 1234567)",
          "[[\"00042|ab  |1.23|1,234,567|%|\"]]");
    gives("SELECT format(NULL), printf('%s', NULL), format('x')", "[[null,\"\",\"x\"]]");
    refused("SELECT printf('%q', 'x')", "format: only");
    refused("SELECT printf('%', 'x')", "format: only");
    gives("SELECT a.id FROM customers a JOIN pairs b ON a.id = b.b", "[[1],[2]]");
}

static void test_types(void **state)
{
    (void)state;
    gives("SELECT 9223372036854775807, -9223372036854775807 - 1",
          "[[9223372036854775807,-9223372036854775808]]");
    gives_with("SELECT ?, ?, ?, ?, ?",
               "{\"params\": [9223372036854775807, 0.5, null, true, \"it's \\\"q\\\"\"]}",
               "[[9223372036854775807,0.5,null,1,\"it's \\\"q\\\"\"]]");
    gives_with("SELECT :a || @b, length(:a)", "{\"params\": {\"a\": \"x;y\", \"b\": \"--\"}}",
               "[[\"x;y--\",3]]");
    gives("SELECT 'a' || char(0) || 'b', x'00ff', 1e999", "[[\"a\xef\xbf\xbd"
                                                          "b\",\"x'00ff'\",null]]");
    gives_with("INSERT INTO numbers VALUES (-9223372036854775808, 2.5), (NULL, 3) RETURNING n",
               "{\"write\": true}", "[[-9223372036854775808],[null]]");
    gives("SELECT n, x, typeof(x) FROM numbers", "[[-9223372036854775808,2.5,\"real\"],"
                                                 "[null,3,\"real\"]]");
    gives("SELECT typeof(id), typeof(name), typeof(city) FROM customers WHERE id = 2",
          "[[\"integer\",\"text\",\"null\"]]");
    refused_with("INSERT INTO numbers VALUES ('many', 1)", "{\"write\": true}",
                 "cannot store TEXT value in INTEGER column numbers.n");
    refused_with("INSERT INTO customers (id, name) VALUES (4, NULL)", "{\"write\": true}",
                 "NOT NULL constraint failed: customers.name");
    refused_with("INSERT INTO customers (id, name) VALUES (1, 'x')", "{\"write\": true}",
                 "UNIQUE constraint failed: customers.id");
    refused_with("INSERT INTO pairs VALUES ('k', 2)", "{\"write\": true}",
                 "UNIQUE constraint failed: pairs.a, pairs.b");
    refused_with("INSERT INTO numbers VALUES (1, 9e999)", "{\"write\": true}", "out of range");
    refused_with("SELECT ?", "{\"params\": [1, 2]}", "1 parameters, but 2 values");
    refused_with("SELECT ?1", NULL, "1 parameters, but 0 values");
    refused_with("SELECT :a", "{\"params\": {\"b\": 1}}", "parameter :a has no value");
    refused_with("SELECT ?", "{\"params\": [[1]]}", "no text, number or null");
}

static void test_limits_of_rows(void **state)
{
    const struct btz_json *result;
    const char *all = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<2000) "
                      "SELECT i FROM n";

    (void)state;
    result = call(btz_str_of(all), NULL);
    assert_int_equal(btz_json_count(btz_json_pointer(result, BTZ_STR("/structuredContent/rows"))),
                     200);
    assert_true(
        btz_json_bool(btz_json_pointer(result, BTZ_STR("/structuredContent/truncated")), false));
    result = call(BTZ_STR("SELECT * FROM customers"), "{\"max_rows\": 3}");
    assert_false(
        btz_json_bool(btz_json_pointer(result, BTZ_STR("/structuredContent/truncated")), true));
    result = call(BTZ_STR("SELECT (id || hex(zeroblob(14995))) FROM customers, pairs, "
                          "(VALUES (1),(2),(3))"),
                  NULL);
    assert_int_equal(btz_json_count(btz_json_pointer(result, BTZ_STR("/structuredContent/rows"))),
                     8);
    refused_with(all, "{\"max_rows\": 1001}", "w:sql takes");
    refused_with(all, "{\"max_rows\": 0}", "w:sql takes");
    refused_with(all, "{\"limit\": 5}", "w:sql takes");
    refused_with(all, "{\"write\": 1}", "w:sql takes");
    refused_with("SELECT 1", "{\"tables\": \"nothing\"}", "there are no tables");
}

static const char *const forbidden[][2] = {
    {"ATTACH DATABASE 'x.db' AS x", "not authorized: ATTACH"},
    {"ATTACH DATABASE ':memory:' AS x", "not authorized: ATTACH"},
    {"DETACH DATABASE main", "not authorized: DETACH"},
    {"PRAGMA table_info(customers)", "not authorized: PRAGMA"},
    {"PRAGMA database_list", "not authorized: PRAGMA"},
    {"PRAGMA writable_schema = 1", "not authorized: PRAGMA"},
    {"PRAGMA temp_store_directory", "not authorized: PRAGMA"},
    {"SELECT * FROM pragma_database_list", "not authorized"},
    {"SELECT count(*) FROM pragma_table_info('customers')", "not authorized"},
    {"SELECT count(*) FROM pragma_function_list", "not authorized"},
    {"VACUUM", "not authorized"},
    {"VACUUM INTO 'copy.db'", "not authorized"},
    {"CREATE TABLE t (a)", "not authorized: "},
    {"CREATE TABLE t AS SELECT 1", "not authorized: "},
    {"CREATE TEMP TABLE t (a)", "not authorized: "},
    {"CREATE INDEX i ON customers (city)", "not authorized: "},
    {"CREATE VIEW v AS SELECT 1", "not authorized: "},
    {"CREATE TEMP VIEW v AS SELECT 1", "not authorized: "},
    {"CREATE TRIGGER t AFTER INSERT ON pairs BEGIN DELETE FROM customers; END", "not authorized: "},
    {"CREATE TEMP TRIGGER t AFTER INSERT ON pairs BEGIN DELETE FROM customers; END",
     "not authorized: "},
    {"CREATE VIRTUAL TABLE f USING fts5(a)", "not authorized: "},
    {"CREATE VIRTUAL TABLE f USING fts3(a)", "not authorized: "},
    {"CREATE VIRTUAL TABLE f USING rtree(a, b, c)", "not authorized: "},
    {"ALTER TABLE customers RENAME TO c", "not authorized"},
    {"ALTER TABLE customers ADD COLUMN z", "not authorized"},
    {"DROP TABLE customers", "not authorized: "},
    {"ANALYZE", "not authorized"},
    {"REINDEX", "not authorized"},
    {"BEGIN", "not authorized"},
    {"COMMIT", "not authorized"},
    {"SAVEPOINT s", "not authorized: SAVEPOINT"},
    {"SELECT load_extension('x')", "not authorized"},
    {"SELECT readfile('x')", "no such function: readfile"},
    {"SELECT writefile('x', 'y')", "no such function: writefile"},
    {"SELECT edit('x')", "no such function: edit"},
    {"SELECT fts3_tokenizer('simple')", "not authorized"},
    {"SELECT random()", "not authorized to use function: random"},
    {"SELECT randomblob(10)", "not authorized to use function: randomblob"},
    {"SELECT id FROM customers ORDER BY random()", "not authorized to use function: random"},
    {"SELECT sqlite_version()", "not authorized to use function: sqlite_version"},
    {"SELECT sqlite_source_id()", "not authorized to use function: sqlite_source_id"},
    {"SELECT sqlite_compileoption_get(1)", "not authorized"},
    {"SELECT sqlite_log(1, 'x')", "not authorized"},
    {"SELECT last_insert_rowid()", "not authorized"},
    {"SELECT total_changes()", "not authorized"},
    {"SELECT sin(1)", "not authorized to use function: sin"},
    {"SELECT json('{}')", "not authorized to use function: json"},
    {"SELECT * FROM json_each('[1]')", "no such table: json_each"},
    {"SELECT * FROM dbstat", "no such table: dbstat"},
    {"SELECT * FROM sqlite_dbpage", "no such table: sqlite_dbpage"},
    {"SELECT * FROM sqlite_stmt", "no such table: sqlite_stmt"},
    {"SELECT * FROM generate_series(1, 9)", "no such table: generate_series"},
    {"SELECT 'a' REGEXP 'a'", "no such function: REGEXP"},
    {"DELETE FROM sqlite_master", "may not be modified"},
    {"UPDATE sqlite_master SET sql = 'x'", "may not be modified"},
    {"INSERT INTO sqlite_schema VALUES (1,2,3,4,5)", "not authorized: "},
    {"SELECT \"paid\"", "no such column: paid"},
    {"EXPLAIN SELECT 1", "not authorized: EXPLAIN"},
    {"EXPLAIN QUERY PLAN SELECT 1", "not authorized: EXPLAIN"},
    {"SELECT date('now', 'localtime')", "local time unavailable"},
    {"SELECT datetime('2026-01-01', 'utc')", "local time unavailable"},
    {"SELECT 1; SELECT 2", "only one statement"},
    {"SELECT 1;;SELECT", "only one statement"},
    {"SELECT 1; -- x\n DROP TABLE customers", "only one statement"},
    {"", "there is no statement"},
    {" ; -- nothing", "there is no statement"},
    {"SELEKT 1", "syntax error"},
    {"SELECT * FROM nobody", "no such table: nobody"},
    {"SELECT * FROM temp.sqlite_temp_master", "prohibited"},
};

static void test_forbidden(void **state)
{

    (void)state;
    for (size_t i = 0; i < sizeof(forbidden) / sizeof(*forbidden); i++) {
        refused_with(forbidden[i][0], "{\"write\": true}", forbidden[i][1]);
        if (!strstr(forbidden[i][1], "may not be modified")) {
            refused(forbidden[i][0], forbidden[i][1]);
        }
    }
    assert_int_equal(btz_stage_journal_count(stage), 0);
    refused("INSERT INTO pairs VALUES ('x', 9)", "not authorized: INSERT");
    refused("UPDATE pairs SET b = 9", "not authorized: UPDATE");
    refused("DELETE FROM pairs", "not authorized: DELETE");
    refused("WITH x AS (SELECT 1) DELETE FROM pairs", "not authorized: DELETE");
    refused("REPLACE INTO pairs VALUES ('k', 1)", "not authorized: INSERT");
    refused_with("SELECT 1; INSERT INTO pairs VALUES ('x', 9)", "{\"many\": true}",
                 "not authorized: INSERT");
    assert_int_equal(btz_stage_journal_count(stage), 0);
    gives("SELECT count(*) FROM pairs", "[[2]]");
}

/* Time is the world's, and so is the same in each run. */
static void test_time(void **state)
{
    const char *first;
    const char *again;

    (void)state;
    first = text_of(call(BTZ_STR("SELECT date('now'), CURRENT_TIMESTAMP, julianday('now'), "
                                 "strftime('%s', 'now')"),
                         NULL));
    assert_non_null(strstr(first, "2026-"));
    assert_non_null(strstr(first, "08:0"));
    assert_int_equal(end(NULL), 0);
    assert_int_equal(begin(NULL), 0);
    (void)usleep(1100000);
    again = text_of(call(BTZ_STR("SELECT date('now'), CURRENT_TIMESTAMP, julianday('now'), "
                                 "strftime('%s', 'now')"),
                         NULL));
    assert_string_equal(first, again);
    gives("SELECT strftime('%Y-%m', '2026-03-09'), date('2026-01-31', '+1 month')",
          "[[\"2026-03\",\"2026-03-03\"]]");
}

#define BOMB "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) "

static void test_bombs(void **state)
{
    static const char *const cases[][2] = {
        {BOMB "SELECT count(*) FROM n", "takes too long"},
        {BOMB "SELECT i FROM n WHERE i < 0", "takes too long"},
        {BOMB "SELECT group_concat(i) FROM n", ""},
        {BOMB "SELECT max(length((i || hex(zeroblob(14995))))) FROM n", "takes too long"},
        {BOMB "SELECT (i || hex(zeroblob(14995))) AS t FROM n ORDER BY t", "too much memory"},
        {BOMB "SELECT DISTINCT (i || hex(zeroblob(14995))) FROM n WHERE i > 3000000",
         "takes too long"},
        {"WITH RECURSIVE n(t) AS (SELECT (1 || hex(zeroblob(13995))) UNION SELECT t || 'x' FROM n) "
         "SELECT count(*) FROM n",
         ""},
        {"SELECT count(*) FROM customers a, customers b, customers c, customers d, customers e, "
         "customers f, customers g, customers h, customers i, customers j, customers k, "
         "customers l, customers m, customers n",
         "takes too long"},
        {"SELECT zeroblob(1000000000)", "too big"},
        {"SELECT hex(zeroblob(30000))", "too big"},
        {"SELECT printf('%1000000000d', 1)", "width below 1000"},
        {"SELECT printf('%.1000000000f', 1.5)", "width below 1000"},
        {"SELECT printf('%.*c', 1000000000, 'x')", "width below 1000"},
        {"SELECT replace(hex(zeroblob(500)), '0', hex(zeroblob(500)))", "too big"},
        {"SELECT (1 || hex(zeroblob(14995))) || (1 || hex(zeroblob(14995)))", "too big"},
        {"SELECT 'a' LIKE hex(zeroblob(150))", "too complex"},
        {"SELECT 1 WHERE instr((1 || hex(zeroblob(14995))), (2 || hex(zeroblob(14995)))) AND 0",
         NULL},
        {BOMB "SELECT sum(instr((0 || hex(zeroblob(14995))), (1 || hex(zeroblob(7495))))) FROM n",
         "takes too long"},
        {"WITH a AS (SELECT 1 x), b AS (SELECT 1 FROM a,a,a,a,a,a,a), "
         "c AS (SELECT 1 FROM b,b,b,b,b,b,b), d AS (SELECT 1 FROM c,c,c,c,c,c,c), "
         "e AS (SELECT 1 FROM d,d,d,d,d,d,d) SELECT 1 FROM e,e,e,e,e,e,e",
         "named too often"},
        {"WITH \"a\"\"b\" AS (SELECT 1) SELECT 1 FROM [a\"b]", "has a quote in it"},
        {"WITH 'a''b' AS (SELECT 1) SELECT 1 FROM [a'b]", "has a quote in it"},
        {"WITH a(b) /* x */ \xef\xbb\xbf"
         "AS -- y\n (SELECT 1) SELECT 1 FROM a,a,a,a,a,a,a,a,a,a,a,a,a,"
         "a,a,a,a,a,a,a,a,a,a,a,a,a,a",
         "named too often"},
        {"WITH a AS NOT MATERIALIZED (SELECT 1) SELECT 1 FROM "
         "`a`,\"A\",[a],'a',a,a,a,a,a,a,a,a,a,a,a,"
         "a,a,a,a,a,a,a,a,a,a,a,a,a,a",
         "named too often"},
        {"WITH \"\" AS (SELECT 1 x), b(\"\") AS (SELECT 1 FROM '','','','','','','','','','','','',"
         "'','','','','','','','','','','','','','','','') SELECT 1",
         "named too often"},
        {"SELECT ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1))))))))))))))"
         "))))))))))))))))))))))))))))))))))))))))))))))))))))",
         ""},
        {"SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 "
         "UNION SELECT 7 UNION SELECT 8 UNION SELECT 9 UNION SELECT 10 UNION SELECT 11 UNION "
         "SELECT 12 UNION SELECT 13 UNION SELECT 14 UNION SELECT 15 UNION SELECT 16 UNION SELECT "
         "17",
         "too many terms in compound SELECT"},
    };
    int64_t slowest = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        int64_t before = btz_clock_mono_us();

        if (cases[i][1] && cases[i][1][0] != '\0') {
            refused(cases[i][0], cases[i][1]);
        } else {
            (void)call(btz_str_of(cases[i][0]), NULL); /* whatever, but soon and small */
        }
        before = btz_clock_mono_us() - before;
        slowest = before > slowest ? before : slowest;
    }
    print_message("the slowest bomb took %lld ms\n", (long long)slowest / 1000);
    assert_true(slowest < 20000000);
}

static struct btz_str repeated(const char *head, const char *unit, size_t times, const char *tail)
{
    struct btz_buf buf;
    struct btz_str out;

    btz_buf_init(&buf, 1 << 20);
    (void)btz_buf_add_text(&buf, head);
    for (size_t i = 0; i < times; i++) {
        (void)btz_buf_add_text(&buf, unit);
    }
    (void)btz_buf_add_text(&buf, tail);
    out = btz_arena_dup(arena, btz_buf_view(&buf));
    btz_buf_fini(&buf);
    return out;
}

/* Statements that are large or deep where no budget of steps applies: in SQLite's compiler. */
static void test_large_statements(void **state)
{
    const struct {
        const char *head, *unit;
        size_t times;
        const char *tail;
    } cases[] = {
        {"SELECT 1", " + 1", 1500, ""},
        {"SELECT ", "(", 3900, "1"},
        {"SELECT 1", ", 1", 2000, ""},
        {"SELECT 1 FROM customers", ", customers", 60, ""},
        {"SELECT 1 FROM customers", " NATURAL JOIN customers", 60, ""},
        {"SELECT 1 FROM pairs WHERE a = 'x'", " OR a = 'x' AND b = 1", 300, ""},
        {"SELECT 1 FROM customers WHERE id IN (0", ", 1", 2000, ")"},
        {"SELECT ", "(SELECT ", 900, "1"},
        {"SELECT ", "x(", 3000, "1"},
        {"SELECT ", "-", 7900, "1"},
        {"SELECT ", "NOT ", 1900, "1"},
        {"SELECT max(1", ", 1", 200, ")"},
        {"SELECT 1", ";", 7000, ""},
        {"SELECT '", "''", 3900, "'"},
        {"", "/*", 3000, ""},
        {"SELECT 1 ", "/* x */ ", 900, ""},
        {"SELECT CASE 1", " WHEN 1 THEN 1", 500, " END"},
        {"WITH a AS (SELECT 1)", ", a AS (SELECT 1)", 15, "SELECT 1"},
        {"WITH a AS (SELECT 1)", ", a AS (SELECT 1)", 100, "SELECT 1"},
    };
    int64_t slowest = 0;

    (void)state;
    refused(repeated("SELECT 1 ", " ", 9000, "").ptr, "too long");
    refused(repeated("SELECT 1", " + 1", 1500, "").ptr, "too large");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct btz_str statement =
            repeated(cases[i].head, cases[i].unit, cases[i].times, cases[i].tail);
        int64_t before = btz_clock_mono_us();

        assert_true(statement.len <= 8000 || i == 1);
        (void)call(statement, NULL);
        before = btz_clock_mono_us() - before;
        slowest = before > slowest ? before : slowest;
    }
    print_message("the slowest large statement took %lld ms\n", (long long)slowest / 1000);
    assert_true(slowest < 20000000);
}

/* SQLite copies a query for each term of a compound below it, with what it holds: each level
 * multiplies the program, until that is over its limit. */
static void test_multiplied(void **state)
{
    struct btz_str compound =
        repeated("SELECT id FROM customers", " UNION ALL SELECT id FROM customers", 15, "");
    struct btz_str nested = BTZ_STR("1");
    int64_t before = btz_clock_mono_us();

    (void)state;
    for (int depth = 1; depth <= 12; depth++) {
        struct btz_str statement;

        nested = btz_arena_printf(arena, "(SELECT %.*s FROM (%.*s) WHERE id > 0)", BTZ_FMT(nested),
                                  BTZ_FMT(compound));
        statement = btz_arena_printf(arena, "SELECT a FROM (SELECT %.*s AS a)", BTZ_FMT(nested));
        if (depth < 3) {
            gives(statement.ptr, "[[1]]");
        } else {
            refused(statement.ptr, depth < 6 ? "too complex" : "too "); /* or large, or long */
        }
    }
    assert_true(btz_clock_mono_us() - before < 20000000);
}

/* Bytes that are no SQL at all are answered as well. */
static void test_odd_bytes(void **state)
{
    static const char bytes[] =
        "'\"`[]();,.-/*+%&|<>=!?:@$#~\\\n\t 019aXx_SELECTWITHAS\xc3\xa9\xff";
    uint64_t random = 7;
    char text[200];

    (void)state;
    for (int round = 0; round < 3000; round++) {
        size_t len = 1 + (size_t)round % (sizeof(text) - 1);

        for (size_t i = 0; i < len; i++) {
            random = random * 6364136223846793005ULL + 1442695040888963407ULL;
            text[i] = bytes[(random >> 33) % (sizeof(bytes) - 1)];
        }
        (void)call((struct btz_str){text, len},
                   round % 2 ? "{\"many\": true, \"write\": true}" : NULL);
    }
}

static const struct btz_json *entry(size_t index)
{
    return btz_stage_journal_at(stage, index);
}

static void entry_is(size_t index, const char *op, const char *path, const char *value)
{
    const struct btz_json *e = entry(index);

    assert_non_null(e);
    assert_true(btz_str_is(btz_json_str(btz_json_getz(e, "op")), op));
    assert_true(btz_str_is(btz_json_text(arena, btz_json_getz(e, "path")), path));
    if (value) {
        assert_true(btz_str_is(btz_json_text(arena, btz_json_getz(e, "value")), value));
    } else {
        assert_null(btz_json_getz(e, "value"));
    }
}

static void test_writes(void **state)
{
    const struct btz_json *result;
    int64_t changes = 0;

    (void)state;
    result = call(BTZ_STR("INSERT INTO customers (name, city) VALUES (?, ?), ('Zoe', NULL)"),
                  "{\"write\": true, \"params\": [\"'); DROP TABLE customers; --\", \"Ely\"]}");
    assert_true(
        btz_json_int64(btz_json_pointer(result, BTZ_STR("/structuredContent/changes")), &changes));
    assert_int_equal(changes, 2);
    assert_int_equal(btz_stage_journal_count(stage), 2);
    entry_is(0, "append", "[\"tables\",\"customers\",\"rows\"]",
             "[4,\"'); DROP TABLE customers; --\",\"Ely\"]");
    entry_is(1, "append", "[\"tables\",\"customers\",\"rows\"]", "[5,\"Zoe\",null]");
    gives("SELECT count(*), max(id) FROM customers", "[[5,5]]");

    gives_with("UPDATE pairs SET b = 7 WHERE b = 2", "{\"write\": true}", "[]");
    assert_int_equal(btz_stage_journal_count(stage), 3);
    entry_is(2, "put", "[\"tables\",\"pairs\",\"rows\"]", "[[\"k\",1],[\"k\",7]]");
    gives_with("DELETE FROM pairs", "{\"write\": true}", "[]");
    entry_is(3, "put", "[\"tables\",\"pairs\",\"rows\"]", "[]");
    gives_with("INSERT INTO pairs VALUES ('new', 1)", "{\"write\": true}", "[]");
    entry_is(4, "append", "[\"tables\",\"pairs\",\"rows\"]", "[\"new\",1]");
    gives("SELECT * FROM pairs", "[[\"new\",1]]");

    /* Nothing changed, so nothing is written. */
    gives_with("UPDATE pairs SET b = 1", "{\"write\": true}", "[]");
    gives_with("DELETE FROM pairs WHERE b > 5", "{\"write\": true}", "[]");
    gives_with("SELECT 1", "{\"write\": true}", "[[1]]");
    assert_int_equal(btz_stage_journal_count(stage), 5);

    /* A statement that fails halfway changes nothing. */
    refused_with("INSERT INTO pairs VALUES ('a', 1), ('new', 1)", "{\"write\": true}", "UNIQUE");
    refused_with("INSERT INTO pairs VALUES ('a', 1); SELECT * FROM nobody",
                 "{\"write\": true, \"many\": true}", "no such table");
    assert_int_equal(btz_stage_journal_count(stage), 5);
    refused_with(BOMB "INSERT INTO numbers SELECT i, i FROM n", "{\"write\": true}",
                 "takes too long");
    refused_with("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 12000) "
                 "INSERT INTO numbers SELECT i, i FROM n",
                 "{\"write\": true}", "too large");
    refused_with(BOMB "INSERT INTO customers (name) SELECT (i || hex(zeroblob(14995))) FROM n",
                 "{\"write\": true}", "too large");
    assert_int_equal(btz_stage_journal_count(stage), 5);
}

static void test_many(void **state)
{
    (void)state;
    gives_with("INSERT INTO pairs VALUES ('m', 1); SELECT count(*) FROM pairs; "
               "DELETE FROM pairs WHERE a = 'k';",
               "{\"write\": true, \"many\": true}", "[[3]]");
    gives("SELECT * FROM pairs", "[[\"m\",1]]");
    gives_with("SELECT 1; SELECT 2", "{\"many\": true}", "[[2]]");
    gives_with("SELECT 1; DROP TABLE customers", "{\"write\": true, \"many\": true}", "[[1]]");
    entry_is(btz_stage_journal_count(stage) - 1, "delete", "[\"tables\",\"customers\"]", NULL);
    refused("SELECT * FROM customers", "no such table: customers");
    refused_with("DROP TABLE sqlite_master; SELECT 1", "{\"write\": true, \"many\": true}",
                 "may not be dropped");
    refused_with("DELETE FROM sqlite_master; SELECT 1", "{\"write\": true, \"many\": true}",
                 "may not be modified");
    refused_with("CREATE TABLE t (a); SELECT 1", "{\"write\": true, \"many\": true}",
                 "not authorized: ");
    refused_with("ATTACH 'x' AS y; SELECT 1", "{\"write\": true, \"many\": true}",
                 "not authorized: ATTACH");
    gives_with("DROP TABLE pairs; DROP TABLE numbers; SELECT 1",
               "{\"write\": true, \"many\": true}", "[[1]]");
    gives("SELECT count(*) FROM sqlite_master", "[[0]]");
}

/* Work is charged to the script, and an error that nobody catches is a fault of the script. */
static void test_budget(void **state)
{
    const struct btz_json *result = NULL;
    struct btz_err err = {0};

    (void)state;
    assert_int_equal(btz_stage_call(stage, 0, BTZ_STR("again"),
                                    arguments(BTZ_STR(BOMB "SELECT count(*) FROM n"), NULL), 1,
                                    &result, &err),
                     BTZ_EINTERNAL);
    assert_non_null(strstr(err.msg, "instructions"));
    assert_int_equal(btz_stage_call(stage, 0, BTZ_STR("again"),
                                    arguments(BTZ_STR("SELECT * FROM nobody"), NULL), 1, &result,
                                    &err),
                     BTZ_EINTERNAL);
    assert_int_equal(btz_stage_call(stage, 0, BTZ_STR("raw"),
                                    arguments(BTZ_STR("SELECT * FROM nobody"), NULL), 1, &result,
                                    &err),
                     BTZ_EINTERNAL);
    assert_non_null(strstr(err.msg, "no such table: nobody"));
    assert_non_null(strstr(err.file, "bench.lua"));
}

/* Tables that an attack's seed broke. */
static void test_bad_tables(void **state)
{
    static const char *const cases[][2] = {
        {"{\"table\": \"t\", \"value\": {\"columns\": [], \"rows\": []}}", "number of its columns"},
        {"{\"table\": \"a b\", \"value\": {\"columns\": [{\"name\": \"x\", \"type\": \"TEXT\"}]}}",
         "its name"},
        {"{\"table\": \"sqlite_x\", \"value\": {\"columns\": [{\"name\": \"x\", \"type\": "
         "\"TEXT\"}]}}",
         "its name"},
        {"{\"table\": \"t\", \"value\": {\"columns\": [{\"name\": \"x\\\"\", \"type\": "
         "\"TEXT\"}]}}",
         "a column needs"},
        {"{\"table\": \"t\", \"value\": {\"columns\": [{\"name\": \"rowid\", \"type\": "
         "\"TEXT\"}]}}",
         "a column needs"},
        {"{\"table\": \"t\", \"value\": {\"columns\": [{\"name\": \"x\", \"type\": \"BLOB\"}]}}",
         "a column needs"},
        {"{\"table\": \"t\", \"value\": {\"columns\": [{\"name\": \"x\", \"type\": \"TEXT\"}], "
         "\"rows\": [[1, 2]]}}",
         "one value for each column"},
        {"{\"table\": \"t\", \"value\": {\"columns\": [{\"name\": \"x\", \"type\": \"INTEGER\"}], "
         "\"rows\": [[\"a\"]]}}",
         "row 1: cannot store TEXT"},
        {"{\"table\": \"t\", \"value\": {\"columns\": [{\"name\": \"x\", \"type\": \"TEXT\"}], "
         "\"rows\": [[[1]]]}}",
         "row 1"},
        {"{\"table\": \"Customers\", \"value\": {\"columns\": [{\"name\": \"x\", \"type\": "
         "\"TEXT\"}]}}",
         "already exists"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct btz_json *args = NULL;
        const struct btz_json *result = NULL;
        struct btz_err err = {0};

        assert_int_equal(btz_json_parse(arena, btz_str_of(cases[i][0]), NULL, &args, &err), BTZ_OK);
        assert_int_equal(btz_stage_call(stage, 0, BTZ_STR("put"), args, 1, &result, &err), BTZ_OK);
        refused("SELECT 1", cases[i][1]);
        refused("SELECT 1", "w:sql: table");
        assert_int_equal(end(NULL), 0);
        assert_int_equal(begin(NULL), 0);
    }
}

/* Same world, same statements: same answers, to the byte. */
static void test_determinism(void **state)
{
    static const char *const statements[] = {
        "SELECT * FROM customers ORDER BY city",
        "SELECT * FROM sqlite_master",
        "SELECT * FROM customers, pairs",
        BOMB "SELECT count(*) FROM n",
        "SELECT avg(id), sum(id) / 7.0, round(2.675, 2), printf('%.17g', 0.1) FROM customers",
    };
    struct btz_str first[5];

    (void)state;
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < 5; i++) {
            struct btz_str text = btz_str_of(text_of(call(btz_str_of(statements[i]), NULL)));

            if (round == 0) {
                first[i] = text;
            }
            assert_true(btz_str_eq(text, first[i]));
        }
        assert_int_equal(end(NULL), 0);
        assert_int_equal(begin(NULL), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_reads, begin, end),
        cmocka_unit_test_setup_teardown(test_types, begin, end),
        cmocka_unit_test_setup_teardown(test_limits_of_rows, begin, end),
        cmocka_unit_test_setup_teardown(test_forbidden, begin, end),
        cmocka_unit_test_setup_teardown(test_time, begin, end),
        cmocka_unit_test_setup_teardown(test_bombs, begin, end),
        cmocka_unit_test_setup_teardown(test_large_statements, begin, end),
        cmocka_unit_test_setup_teardown(test_multiplied, begin, end),
        cmocka_unit_test_setup_teardown(test_odd_bytes, begin, end),
        cmocka_unit_test_setup_teardown(test_writes, begin, end),
        cmocka_unit_test_setup_teardown(test_many, begin, end),
        cmocka_unit_test_setup_teardown(test_budget, begin, end),
        cmocka_unit_test_setup_teardown(test_bad_tables, begin, end),
        cmocka_unit_test_setup_teardown(test_determinism, begin, end),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
