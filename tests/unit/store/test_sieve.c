/* Runs of the sieve experiment: rows by key, replies by request, what a kill leaves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/buf.h"
#include "store/sieve.h"

struct fix {
    char path[128];
    struct btz_store *store;
    struct btz_arena *arena;
    struct btz_err err;
};

static int setup(void **state)
{
    struct fix *fix = calloc(1, sizeof(*fix));

    assert_non_null(fix);
    (void)snprintf(fix->path, sizeof(fix->path), "/tmp/btz-sieve-store-XXXXXX");
    assert_non_null(mkdtemp(fix->path));
    (void)snprintf(fix->path + strlen(fix->path), 32, "/store.db");
    fix->arena = btz_arena_new();
    assert_int_equal(btz_store_open(fix->path, BTZ_STORE_WRITE, &fix->store, &fix->err), 0);
    *state = fix;
    return 0;
}

static int teardown(void **state)
{
    struct fix *fix = *state;
    char name[160];

    btz_store_close(fix->store);
    btz_arena_free(fix->arena);
    for (size_t i = 0; i < 4; i++) {
        static const char *const ends[] = {"", "-wal", "-shm", ".lock"};

        (void)snprintf(name, sizeof(name), "%s%s", fix->path, ends[i]);
        (void)unlink(name);
    }
    *strrchr(fix->path, '/') = '\0';
    (void)rmdir(fix->path);
    free(fix);
    return 0;
}

static int join(void *context, struct btz_str key, struct btz_str json, struct btz_err *err)
{
    (void)err;
    (void)btz_buf_printf(context, "%.*s=%.*s;", BTZ_FMT(key), BTZ_FMT(json));
    return BTZ_OK;
}

static void expect_rows(struct fix *fix, int64_t no, const char *prefix, const char *text)
{
    struct btz_buf buf;

    btz_buf_init(&buf, 4096);
    assert_int_equal(
        btz_store_sieve_rows_each(fix->store, no, btz_str_of(prefix), join, &buf, &fix->err), 0);
    assert_int_equal(buf.len, strlen(text));
    assert_memory_equal(buf.len ? buf.ptr : "", text, buf.len);
    btz_buf_fini(&buf);
}

static void test_rows(void **state)
{
    struct fix *fix = *state;
    struct btz_store_sieve_run run;
    char id[BTZ_STORE_ID_SIZE];
    char other[BTZ_STORE_ID_SIZE];
    int64_t no = 0;
    int64_t second = 0;
    bool has = true;

    assert_int_equal(btz_store_sieve_find(fix->store, BTZ_STR("last"), fix->arena, &run, &fix->err),
                     BTZ_ENOTFOUND);
    assert_int_equal(btz_store_sieve_new(fix->store, BTZ_STR("run"), BTZ_STR("{\"a\":1}"),
                                         1800000000000000, &no, id, &fix->err),
                     0);
    assert_int_equal(btz_store_sieve_new(fix->store, BTZ_STR("attack"), BTZ_STR("{}"),
                                         1800000000000000, &second, other, &fix->err),
                     0);
    assert_string_not_equal(id, other);
    assert_int_equal(btz_store_sieve_row_has(fix->store, no, BTZ_STR("b/1"), &has, &fix->err), 0);
    assert_false(has);
    for (size_t i = 0; i < 3; i++) {
        static const char *const keys[] = {"b/2", "a/1", "b/1"};

        assert_int_equal(
            btz_store_sieve_row_put(fix->store, no, btz_str_of(keys[i]), BTZ_STR("{}"), &fix->err),
            0);
    }
    assert_int_equal(
        btz_store_sieve_row_put(fix->store, no, BTZ_STR("b/1"), BTZ_STR("[]"), &fix->err),
        BTZ_EEXISTS);
    assert_int_equal(btz_store_sieve_row_put(fix->store, no, BTZ_STR(""), BTZ_STR("[]"), &fix->err),
                     BTZ_ELIMIT);
    assert_int_equal(btz_store_sieve_commit(fix->store, &fix->err), 0);
    expect_rows(fix, no, "", "a/1={};b/1={};b/2={};");
    expect_rows(fix, no, "b/", "b/1={};b/2={};");
    expect_rows(fix, second, "", "");

    assert_int_equal(btz_store_sieve_find(fix->store, btz_str_of(id), fix->arena, &run, &fix->err),
                     0);
    assert_int_equal(run.no, no);
    assert_true(btz_str_is(run.kind, "run"));
    assert_true(btz_str_is(run.card, "{\"a\":1}"));
    assert_int_equal(run.rows, 3);
    assert_false(run.done);
    assert_int_equal(btz_store_sieve_mark(fix->store, no, true, &fix->err), 0);
    assert_int_equal(btz_store_sieve_find(fix->store, btz_str_of(id), fix->arena, &run, &fix->err),
                     0);
    assert_true(run.done);
    id[3] = '\0';
    assert_int_equal(btz_store_sieve_find(fix->store, btz_str_of(id), fix->arena, &run, &fix->err),
                     BTZ_EUSAGE);
    assert_int_equal(btz_store_sieve_mark(fix->store, 99, true, &fix->err), BTZ_ENOTFOUND);
}

static void test_replies(void **state)
{
    struct fix *fix = *state;
    char id[BTZ_STORE_ID_SIZE];
    char *large = malloc(100000);
    struct btz_store_sieve_reply got;
    struct btz_store_sieve_reply reply = {
        .model = BTZ_STR("m"), .request = btz_hash_of(BTZ_STR("q")), .took_us = 7, .attempts = 2};
    struct btz_store_gc gc;
    int64_t no = 0;
    int64_t replies = 0;
    int64_t took = 0;

    assert_non_null(large);
    memset(large, 'x', 100000);
    reply.bytes = (struct btz_str){large, 100000};
    assert_int_equal(btz_store_sieve_new(fix->store, BTZ_STR("run"), BTZ_STR("{}"),
                                         1800000000000000, &no, id, &fix->err),
                     0);
    assert_int_equal(btz_store_sieve_reply_get(fix->store, no, reply.model, &reply.request,
                                               fix->arena, &got, &fix->err),
                     BTZ_ENOTFOUND);
    assert_int_equal(btz_store_sieve_reply_put(fix->store, no, &reply, &fix->err), 0);
    reply.bytes = BTZ_STR("another");
    assert_int_equal(btz_store_sieve_reply_put(fix->store, no, &reply, &fix->err), 0);
    reply.request = btz_hash_of(BTZ_STR("r"));
    reply.rejected = true;
    assert_int_equal(btz_store_sieve_reply_put(fix->store, no, &reply, &fix->err), 0);
    assert_int_equal(btz_store_sieve_commit(fix->store, &fix->err), 0);
    /* What the runs refer to outlives the removal of what nothing refers to. */
    assert_int_equal(btz_store_gc(fix->store, &gc, &fix->err), 0);
    assert_int_equal(gc.blobs, 0);
    btz_store_close(fix->store);
    fix->store = NULL;
    assert_int_equal(btz_store_open(fix->path, BTZ_STORE_READ, &fix->store, &fix->err), 0);
    assert_int_equal(btz_store_sieve_reply_get(fix->store, no, reply.model, &reply.request,
                                               fix->arena, &got, &fix->err),
                     0);
    assert_true(got.rejected);
    assert_true(btz_str_is(got.bytes, "another"));
    reply.request = btz_hash_of(BTZ_STR("q"));
    assert_int_equal(btz_store_sieve_reply_get(fix->store, no, reply.model, &reply.request,
                                               fix->arena, &got, &fix->err),
                     0);
    assert_int_equal(got.bytes.len, 100000);
    assert_int_equal(got.attempts, 2);
    assert_int_equal(
        btz_store_sieve_reply_sum(fix->store, no, BTZ_STR("m"), &replies, &took, &fix->err), 0);
    assert_int_equal(replies, 2);
    assert_int_equal(took, 14);
    assert_int_equal(
        btz_store_sieve_row_put(fix->store, no, BTZ_STR("k"), BTZ_STR("{}"), &fix->err),
        BTZ_ESTATE);
    free(large);
}

static void edit(struct fix *fix, const char *sql)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(fix->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void expect_verdict(struct fix *fix, int64_t no, bool ok, const char *what)
{
    struct btz_store_sieve_check check;

    assert_int_equal(btz_store_sieve_verify(fix->store, no, &check, &fix->err), 0);
    if (check.ok != ok || !strstr(check.what, what)) {
        fail_msg("%d \"%s\", expected %d \"%s\"", check.ok, check.what, ok, what);
    }
}

static void test_chain(void **state)
{
    struct fix *fix = *state;
    struct btz_store_sieve_reply reply = {.model = BTZ_STR("m"), .bytes = BTZ_STR("{}")};
    struct btz_store_sieve_check check;
    char id[BTZ_STORE_ID_SIZE];
    struct btz_str json = BTZ_STR_NONE;
    int64_t no = 0;

    assert_int_equal(btz_store_sieve_new(fix->store, BTZ_STR("run"), BTZ_STR("{}"),
                                         1800000000000000, &no, id, &fix->err),
                     0);
    expect_verdict(fix, no, true, "");
    assert_int_equal(
        btz_store_sieve_row_put(fix->store, no, BTZ_STR("b"), BTZ_STR("[1]"), &fix->err), 0);
    for (int i = 0; i < 2; i++) { /* the same reply once more is no link */
        assert_int_equal(btz_store_sieve_reply_put(fix->store, no, &reply, &fix->err), 0);
    }
    assert_int_equal(
        btz_store_sieve_row_put(fix->store, no, BTZ_STR("a"), BTZ_STR("[2]"), &fix->err), 0);
    assert_int_equal(btz_store_sieve_commit(fix->store, &fix->err), 0);
    assert_int_equal(btz_store_sieve_verify(fix->store, no, &check, &fix->err), 0);
    assert_true(check.ok);
    assert_int_equal(check.rows, 2);
    assert_int_equal(check.replies, 1);
    assert_int_equal(check.unchained, 0);
    assert_int_equal(
        btz_store_sieve_row_get(fix->store, no, BTZ_STR("a"), fix->arena, &json, &fix->err), 0);
    assert_true(btz_str_is(json, "[2]"));
    assert_int_equal(
        btz_store_sieve_row_get(fix->store, no, BTZ_STR("c"), fix->arena, &json, &fix->err),
        BTZ_ENOTFOUND);

    edit(fix, "UPDATE sieve_row SET json = '[3]' WHERE key = 'a'");
    expect_verdict(fix, no, false, "the row a does not fit");
    edit(fix, "UPDATE sieve_row SET json = '[2]' WHERE key = 'a'");
    edit(fix, "UPDATE sieve_reply SET rejected = 1");
    expect_verdict(fix, no, false, "a reply of m does not fit");
    edit(fix, "UPDATE sieve_reply SET rejected = 0; UPDATE sieve_run SET kind = 'attack'");
    expect_verdict(fix, no, false, "the row b does not fit");
    edit(fix, "UPDATE sieve_run SET kind = 'run', links = 2");
    expect_verdict(fix, no, false, "does not end at the head");
    edit(fix, "UPDATE sieve_run SET links = 3");
    expect_verdict(fix, no, true, "");
    /* What an older store has is counted apart. */
    edit(fix, "INSERT INTO sieve_row (run, key, json) VALUES (1, 'old', '{}')");
    assert_int_equal(btz_store_sieve_verify(fix->store, no, &check, &fix->err), 0);
    assert_true(check.ok);
    assert_int_equal(check.unchained, 1);
    edit(fix, "DELETE FROM sieve_row WHERE key = 'b'");
    expect_verdict(fix, no, false, "link 1 of the chain is not there");
    assert_int_equal(btz_store_sieve_verify(fix->store, 99, &check, &fix->err), BTZ_ENOTFOUND);
}

/* What version 3 added, taken away again. */
#define BACK_TO_2                                                                                  \
    "ALTER TABLE sieve_run DROP COLUMN links; ALTER TABLE sieve_run DROP COLUMN head;"             \
    "ALTER TABLE sieve_row DROP COLUMN n; ALTER TABLE sieve_row DROP COLUMN link;"                 \
    "ALTER TABLE sieve_reply DROP COLUMN n; ALTER TABLE sieve_reply DROP COLUMN link;"             \
    "PRAGMA user_version = 2; PRAGMA wal_checkpoint(TRUNCATE)"

static int64_t version_of(struct fix *fix)
{
    sqlite3_stmt *stmt = NULL;
    sqlite3 *db = NULL;
    int64_t version;

    assert_int_equal(sqlite3_open(fix->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    version = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return version;
}

/* A reader takes it as it is, and leaves it so; a writer brings it forward. */
static void test_version_2(void **state)
{
    struct fix *fix = *state;
    struct btz_store_sieve_reply reply = {
        .model = BTZ_STR("m"), .request = btz_hash_of(BTZ_STR("q")), .bytes = BTZ_STR("{}")};
    static const enum btz_store_mode modes[] = {BTZ_STORE_READ, BTZ_STORE_WRITE, BTZ_STORE_READ};
    char id[BTZ_STORE_ID_SIZE];
    int64_t no = 0;

    assert_int_equal(btz_store_sieve_new(fix->store, BTZ_STR("run"), BTZ_STR("{\"a\":1}"),
                                         1800000000000000, &no, id, &fix->err),
                     0);
    assert_int_equal(
        btz_store_sieve_row_put(fix->store, no, BTZ_STR("b"), BTZ_STR("[1]"), &fix->err), 0);
    assert_int_equal(btz_store_sieve_reply_put(fix->store, no, &reply, &fix->err), 0);
    assert_int_equal(btz_store_sieve_commit(fix->store, &fix->err), 0);
    btz_store_close(fix->store);
    fix->store = NULL;
    edit(fix, BACK_TO_2);
    for (size_t i = 0; i < 3; i++) {
        struct btz_store_sieve_check check;
        struct btz_store_sieve_reply got;
        struct btz_store_sieve_run run;

        if (btz_store_open(fix->path, modes[i], &fix->store, &fix->err) != BTZ_OK) {
            fail_msg("%s", fix->err.msg);
        }
        assert_int_equal(
            btz_store_sieve_find(fix->store, BTZ_STR("last"), fix->arena, &run, &fix->err), 0);
        assert_int_equal(run.rows, 1);
        assert_int_equal(run.replies, 1);
        assert_true(btz_str_is(run.card, "{\"a\":1}"));
        expect_rows(fix, no, "", "b=[1];");
        assert_int_equal(btz_store_sieve_reply_get(fix->store, no, reply.model, &reply.request,
                                                   fix->arena, &got, &fix->err),
                         0);
        assert_true(btz_str_is(got.bytes, "{}"));
        assert_int_equal(btz_store_sieve_verify(fix->store, no, &check, &fix->err), 0);
        assert_true(check.ok);
        assert_int_equal(check.unchained, 2);
        btz_store_close(fix->store);
        fix->store = NULL;
        assert_int_equal(version_of(fix), i == 0 ? 2 : 3);
    }
    edit(fix, "PRAGMA user_version = 1");
    assert_int_equal(btz_store_open(fix->path, BTZ_STORE_READ, &fix->store, &fix->err),
                     BTZ_EUNSUPPORTED);
    assert_non_null(strstr(fix->err.msg, "bartizan selftest"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_chain, setup, teardown),
        cmocka_unit_test_setup_teardown(test_version_2, setup, teardown),
        cmocka_unit_test_setup_teardown(test_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_replies, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
