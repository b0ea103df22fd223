/* Opening what is there, what is not, and what should not be opened; the lock; versions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <sqlite3.h>

#include "make.h"
#include "store/store_int.h"

struct fix {
    char *folder;
    struct btz_arena *arena;
    const char *path;
    struct btz_err err;
};

static int setup(void **state)
{
    struct fix *fix = calloc(1, sizeof(*fix));

    fix->folder = make_folder();
    fix->arena = btz_arena_new();
    fix->path = make_path(fix->arena, fix->folder, "store.db");
    *state = fix;
    return 0;
}

static int teardown(void **state)
{
    struct fix *fix = *state;

    btz_arena_free(fix->arena);
    make_folder_remove(fix->folder);
    free(fix);
    return 0;
}

static void expect_open(struct fix *fix, const char *path, enum btz_store_mode mode, int code,
                        const char *message)
{
    struct btz_store *store = NULL;
    int rc = btz_store_open(path, mode, &store, &fix->err);

    if (rc != code) {
        fail_msg("%s: got %s (%s), expected %s", path, btz_code_name(rc), fix->err.msg,
                 btz_code_name(code));
    }
    if (rc == BTZ_OK) {
        btz_store_close(store);
        return;
    }
    assert_null(store);
    assert_int_equal(fix->err.code, code);
    if (!strstr(fix->err.msg, message)) {
        fail_msg("message \"%s\" lacks \"%s\"", fix->err.msg, message);
    }
}

static void write_file(const char *path, const void *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

/* A store with one run of `trials` trials, closed. */
static void make_store(struct fix *fix, size_t trials)
{
    struct btz_store_plan plan = make_plan(fix->arena, trials + 1, false);
    struct btz_store *store = NULL;
    char id[BTZ_STORE_ID_SIZE];
    int64_t run;

    MAKE_OK(btz_store_open(fix->path, BTZ_STORE_WRITE, &store, &fix->err), &fix->err);
    MAKE_OK(btz_store_run_new(store, &plan, &run, id, &fix->err), &fix->err);
    for (size_t i = 0; i < trials; i++) {
        struct btz_store_trial trial = make_trial(fix->arena, &plan, i, 8, 3, 0);

        MAKE_OK(btz_store_trial_put(store, run, &trial, 0, NULL, &fix->err), &fix->err);
    }
    btz_store_close(store);
}

static void test_absent(void **state)
{
    struct fix *fix = *state;

    expect_open(fix, fix->path, BTZ_STORE_READ, BTZ_ENOTFOUND, "there is no store at");
    assert_int_not_equal(access(fix->path, F_OK), 0);
    expect_open(fix, make_path(fix->arena, fix->folder, "x/y/store.db"), BTZ_STORE_READ,
                BTZ_ENOTFOUND, "x/y/store.db");
    assert_int_not_equal(access(make_path(fix->arena, fix->folder, "x"), F_OK), 0);
    expect_open(fix, fix->path, BTZ_STORE_WRITE, BTZ_OK, "");
    expect_open(fix, fix->path, BTZ_STORE_READ, BTZ_OK, "");
    expect_open(fix, fix->path, BTZ_STORE_WRITE, BTZ_OK, "");
}

static void test_empty_file_becomes_a_store(void **state)
{
    struct fix *fix = *state;

    write_file(fix->path, "", 0);
    expect_open(fix, fix->path, BTZ_STORE_READ, BTZ_ENOTFOUND, "there is no store at");
    expect_open(fix, fix->path, BTZ_STORE_WRITE, BTZ_OK, "");
    expect_open(fix, fix->path, BTZ_STORE_READ, BTZ_OK, "");
}

static void test_rest_of_a_killed_creation(void **state)
{
    struct fix *fix = *state;

    write_file(make_path(fix->arena, fix->folder, "store.db.new"), "SQLite form", 11);
    expect_open(fix, fix->path, BTZ_STORE_WRITE, BTZ_OK, "");
    assert_int_not_equal(access(make_path(fix->arena, fix->folder, "store.db.new"), F_OK), 0);
}

static void test_places_that_cannot_be(void **state)
{
    struct fix *fix = *state;

    assert_int_equal(mkdir(fix->path, 0700), 0);
    expect_open(fix, fix->path, BTZ_STORE_WRITE, BTZ_EIO, "is a folder, expected a file");
    expect_open(fix, fix->path, BTZ_STORE_READ, BTZ_EIO, "is a folder, expected a file");
    expect_open(fix, "/proc/btz/store.db", BTZ_STORE_WRITE, BTZ_EIO, "/proc/btz");
    expect_open(fix, "/proc/store.db", BTZ_STORE_WRITE, BTZ_EIO, "--store");
    expect_open(fix, "/dev/null", BTZ_STORE_WRITE, BTZ_EIO, "special file");
    expect_open(fix, "", BTZ_STORE_WRITE, BTZ_EIO, "not the path of a file");
    write_file(make_path(fix->arena, fix->folder, "file"), "x", 1);
    expect_open(fix, make_path(fix->arena, fix->folder, "file/store.db"), BTZ_STORE_WRITE, BTZ_EIO,
                "file");
}

static void test_foreign_files_stay_untouched(void **state)
{
    struct fix *fix = *state;
    struct btz_hash before;
    struct btz_hash after;
    static const char *const edits[] = {
        "CREATE TABLE run (id TEXT)",
        "PRAGMA application_id = 7",
    };

    write_file(fix->path, "this is a text file\n", 20);
    before = make_file_hash(fix->path);
    expect_open(fix, fix->path, BTZ_STORE_WRITE, BTZ_EINVAL, "is not a store");
    expect_open(fix, fix->path, BTZ_STORE_READ, BTZ_EINVAL, "is not a store");
    after = make_file_hash(fix->path);
    assert_true(btz_hash_eq(&before, &after));
    assert_int_equal(unlink(fix->path), 0);
    assert_int_not_equal(access(make_path(fix->arena, fix->folder, "store.db.lock"), F_OK), 0);

    for (size_t i = 0; i < 2; i++) {
        sqlite3 *db = NULL;

        assert_int_equal(sqlite3_open(fix->path, &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, edits[i], NULL, NULL, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
        before = make_file_hash(fix->path);
        expect_open(fix, fix->path, BTZ_STORE_WRITE, BTZ_EINVAL, "database of another program");
        after = make_file_hash(fix->path);
        assert_true(btz_hash_eq(&before, &after));
    }
}

static void test_cut_short(void **state)
{
    struct fix *fix = *state;
    struct stat st;
    struct btz_hash before;
    struct btz_hash after;

    make_store(fix, 10);
    assert_int_equal(stat(fix->path, &st), 0);
    assert_int_equal(truncate(fix->path, st.st_size - 4096), 0);
    before = make_file_hash(fix->path);
    expect_open(fix, fix->path, BTZ_STORE_WRITE, BTZ_ECORRUPT, "cut short");
    expect_open(fix, fix->path, BTZ_STORE_READ, BTZ_ECORRUPT, "cut short");
    after = make_file_hash(fix->path);
    assert_true(btz_hash_eq(&before, &after));
    assert_int_equal(truncate(fix->path, 50), 0);
    expect_open(fix, fix->path, BTZ_STORE_WRITE, BTZ_EINVAL, "is not a store");
}

static void copy_bytes(const char *from, const char *to, size_t most)
{
    FILE *in = fopen(from, "rb");
    FILE *out = fopen(to, "r+b");
    char page[4096];
    size_t len;

    out = out ? out : fopen(to, "wb");
    assert_non_null(in);
    assert_non_null(out);
    while (most && (len = fread(page, 1, most < sizeof(page) ? most : sizeof(page), in)) > 0) {
        assert_int_equal(fwrite(page, 1, len, out), len);
        most -= len;
    }
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

/* Killed in the middle of a checkpoint: the first page is in the file and counts pages that are
 * still in the log alone. Nothing is cut short then. */
static void test_half_a_checkpoint(void **state)
{
    struct fix *fix = *state;
    struct btz_store_plan plan = make_plan(fix->arena, 4, false);
    const char *path = make_path(fix->arena, fix->folder, "copy.db");
    struct btz_store *store = NULL;
    struct btz_store_check check;
    char id[BTZ_STORE_ID_SIZE];
    struct stat small;
    struct stat whole;
    int64_t run;

    MAKE_OK(btz_store_open(fix->path, BTZ_STORE_WRITE, &store, &fix->err), &fix->err);
    MAKE_OK(btz_store_run_new(store, &plan, &run, id, &fix->err), &fix->err);
    for (size_t i = 0; i < 4; i++) {
        struct btz_store_trial trial = make_trial(fix->arena, &plan, i, 8, 3, 0);

        MAKE_OK(btz_store_trial_put(store, run, &trial, 0, NULL, &fix->err), &fix->err);
    }
    MAKE_OK(btz_store_flush(store, &fix->err), &fix->err);
    copy_bytes(fix->path, path, SIZE_MAX);
    copy_bytes(make_path(fix->arena, fix->folder, "store.db-wal"),
               make_path(fix->arena, fix->folder, "copy.db-wal"), SIZE_MAX);
    btz_store_close(store);
    copy_bytes(fix->path, path, 4096);
    assert_int_equal(stat(path, &small), 0);
    assert_int_equal(stat(fix->path, &whole), 0);
    assert_true(small.st_size < whole.st_size);

    MAKE_OK(btz_store_open(path, BTZ_STORE_READ, &store, &fix->err), &fix->err);
    MAKE_OK(btz_store_verify(store, run, &check, &fix->err), &fix->err);
    assert_true(check.ok);
    assert_int_equal(check.trials, 4);
    btz_store_close(store);
    expect_open(fix, path, BTZ_STORE_WRITE, BTZ_OK, "");
}

static void test_lacking_table(void **state)
{
    struct fix *fix = *state;

    make_store(fix, 1);
    make_edit(fix->path, "DROP TABLE finding");
    expect_open(fix, fix->path, BTZ_STORE_READ, BTZ_ECORRUPT, "lacks tables (11 of 12 are there)");
    expect_open(fix, fix->path, BTZ_STORE_WRITE, BTZ_ECORRUPT, "lacks tables");
}

static void test_newer_is_refused(void **state)
{
    struct fix *fix = *state;
    struct btz_hash before;
    struct btz_hash after;

    make_store(fix, 1);
    make_edit(fix->path, "PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)");
    before = make_file_hash(fix->path);
    expect_open(fix, fix->path, BTZ_STORE_WRITE, BTZ_EUNSUPPORTED, "schema version 99");
    expect_open(fix, fix->path, BTZ_STORE_READ, BTZ_EUNSUPPORTED, "schema version 99");
    after = make_file_hash(fix->path);
    assert_true(btz_hash_eq(&before, &after));
    make_edit(fix->path, "PRAGMA user_version = 0");
    expect_open(fix, fix->path, BTZ_STORE_WRITE, BTZ_ECORRUPT, "no schema version");
}

static int64_t number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    int64_t value;

    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return value;
}

static void test_migration_steps(void **state)
{
    struct fix *fix = *state;
    static const char *const steps[] = {
        "CREATE TABLE a (x INTEGER) STRICT; INSERT INTO a VALUES (1)",
        "ALTER TABLE a ADD COLUMN y INTEGER; UPDATE a SET y = x + 1",
        "CREATE TABLE b (z INTEGER) STRICT; INSERT INTO nowhere VALUES (1)",
    };
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(fix->path, &db), SQLITE_OK);
    MAKE_OK(btz_store_migrate_steps(db, 0, steps, 1, &fix->err), &fix->err);
    assert_int_equal(number(db, "PRAGMA user_version"), 1);
    MAKE_OK(btz_store_migrate_steps(db, 1, steps, 2, &fix->err), &fix->err);
    assert_int_equal(number(db, "PRAGMA user_version"), 2);
    assert_int_equal(number(db, "SELECT y FROM a"), 2);
    assert_int_equal(btz_store_migrate_steps(db, 2, steps, 3, &fix->err), BTZ_EIO);
    assert_non_null(strstr(fix->err.msg, "from version 2 to 3"));
    assert_int_equal(number(db, "PRAGMA user_version"), 2);
    assert_int_equal(number(db, "SELECT count(*) FROM sqlite_schema WHERE name = 'b'"), 0);
    sqlite3_close(db);
}

static void test_second_writer_in_the_same_process(void **state)
{
    struct fix *fix = *state;
    struct btz_store *store = NULL;
    const char *link_path = make_path(fix->arena, fix->folder, "link.db");
    char pid[32];

    snprintf(pid, sizeof(pid), "process %d is writing", (int)getpid());
    MAKE_OK(btz_store_open(fix->path, BTZ_STORE_WRITE, &store, &fix->err), &fix->err);
    expect_open(fix, fix->path, BTZ_STORE_WRITE, BTZ_EDENIED, pid);
    expect_open(fix, fix->path, BTZ_STORE_READ, BTZ_OK, "");
    assert_int_equal(symlink(fix->path, link_path), 0);
    expect_open(fix, link_path, BTZ_STORE_WRITE, BTZ_EDENIED, pid);
    btz_store_close(store);
    expect_open(fix, link_path, BTZ_STORE_WRITE, BTZ_OK, "");
}

static void test_lock_dies_with_its_process(void **state)
{
    struct fix *fix = *state;
    int ready[2];
    char named[64];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        struct btz_store *store = NULL;

        if (btz_store_open(fix->path, BTZ_STORE_WRITE, &store, NULL) != BTZ_OK ||
            write(ready[1], "x", 1) != 1) {
            _exit(1);
        }
        for (;;) {
            pause();
        }
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    snprintf(named, sizeof(named), "process %d is writing", (int)pid);
    expect_open(fix, fix->path, BTZ_STORE_WRITE, BTZ_EDENIED, named);
    expect_open(fix, fix->path, BTZ_STORE_READ, BTZ_OK, "");
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    expect_open(fix, fix->path, BTZ_STORE_WRITE, BTZ_OK, "");
    close(ready[0]);
    close(ready[1]);
}

/* In a child: writes with a file size limit until something fails, then, limit lifted, goes on.
 * Exit status 0 if all was as it should be, else the line. */
#define NEED(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static void fill_up(const char *path, int report)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_store_plan plan = make_plan(arena, 400, false);
    struct rlimit limit;
    struct btz_store *store = NULL;
    char id[BTZ_STORE_ID_SIZE];
    struct btz_err err = {0};
    int64_t run = 0;
    int64_t committed;
    size_t i = 0;
    int rc = BTZ_OK;

    signal(SIGXFSZ, SIG_IGN);
    NEED(btz_store_open(path, BTZ_STORE_WRITE, &store, &err) == BTZ_OK);
    NEED(btz_store_run_new(store, &plan, &run, id, &err) == BTZ_OK);
    btz_store_group(store, 8, INT64_MAX);
    NEED(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = 1000 * 1024;
    NEED(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    for (; i < plan.cell_count && rc == BTZ_OK; i++) {
        struct btz_store_trial trial = make_trial(arena, &plan, i, 30, 6, 1);

        rc = btz_store_trial_put(store, run, &trial, 0, NULL, &err);
    }
    NEED(rc == BTZ_EIO);
    NEED(strstr(err.msg, path) && strstr(err.msg, "count as never run"));
    committed = btz_store_committed(store);
    NEED(committed > 0 && committed < (int64_t)i && committed % 8 == 0);
    NEED(btz_store_pending(store) == 0);

    limit.rlim_cur = limit.rlim_max;
    NEED(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    for (i = (size_t)committed; i < plan.cell_count; i++) {
        struct btz_store_trial trial = make_trial(arena, &plan, i, 30, 6, 1);
        int64_t n = 0;

        rc = btz_store_trial_put(store, run, &trial, 0, &n, &err);
        NEED(rc == BTZ_OK && n == (int64_t)i + 1);
    }
    NEED(write(report, &committed, sizeof(committed)) == sizeof(committed));
    btz_store_close(store);
    btz_arena_free(arena);
    _exit(0);
}

static void test_disk_full(void **state)
{
    struct fix *fix = *state;
    struct btz_store *store = NULL;
    struct btz_store_check check;
    struct btz_store_run run;
    int64_t committed = 0;
    int report[2];
    int status = -1;
    pid_t pid;

    assert_int_equal(pipe(report), 0);
    pid = fork();
    if (pid == 0) {
        fill_up(fix->path, report[1]);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(read(report[0], &committed, sizeof(committed)), sizeof(committed));
    MAKE_OK(btz_store_open(fix->path, BTZ_STORE_READ, &store, &fix->err), &fix->err);
    MAKE_OK(btz_store_run_find(store, BTZ_STR("last"), fix->arena, &run, &fix->err), &fix->err);
    assert_int_equal(run.finished, 400);
    MAKE_OK(btz_store_verify(store, run.no, &check, &fix->err), &fix->err);
    if (!check.ok) {
        fail_msg("verify: %s", check.what);
    }
    btz_store_close(store);
    close(report[0]);
    close(report[1]);
}

/* A child that makes stores and dies at some moment of it: the next open must always succeed. */
static void test_killed_while_creating(void **state)
{
    struct fix *fix = *state;

    for (unsigned i = 0; i < 20; i++) {
        const char *path = btz_arena_printf(fix->arena, "%s/k%u/deep/store.db", fix->folder, i).ptr;
        pid_t pid = fork();

        if (pid == 0) {
            struct btz_store *store = NULL;
            int rc = btz_store_open(path, BTZ_STORE_WRITE, &store, NULL);

            _exit(rc == BTZ_OK ? 0 : 1);
        }
        usleep(i * 400);
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        expect_open(fix, path, BTZ_STORE_WRITE, BTZ_OK, "");
    }
}

static void test_default_path(void **state)
{
    struct fix *fix = *state;
    char path[128];

    setenv("XDG_STATE_HOME", "/xdg", 1);
    setenv("HOME", "/home/u", 1);
    MAKE_OK(btz_store_default_path(path, sizeof(path), &fix->err), &fix->err);
    assert_string_equal(path, "/xdg/bartizan/store.db");
    setenv("XDG_STATE_HOME", "relative", 1);
    MAKE_OK(btz_store_default_path(path, sizeof(path), &fix->err), &fix->err);
    assert_string_equal(path, "/home/u/.local/state/bartizan/store.db");
    assert_int_equal(btz_store_default_path(path, 20, &fix->err), BTZ_ELIMIT);
    unsetenv("XDG_STATE_HOME");
    unsetenv("HOME");
    assert_int_equal(btz_store_default_path(path, sizeof(path), &fix->err), BTZ_EMISSING);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_absent),
        CASE(test_empty_file_becomes_a_store),
        CASE(test_rest_of_a_killed_creation),
        CASE(test_places_that_cannot_be),
        CASE(test_foreign_files_stay_untouched),
        CASE(test_cut_short),
        CASE(test_half_a_checkpoint),
        CASE(test_lacking_table),
        CASE(test_newer_is_refused),
        CASE(test_migration_steps),
        CASE(test_second_writer_in_the_same_process),
        CASE(test_lock_dies_with_its_process),
        CASE(test_disk_full),
        CASE(test_killed_while_creating),
        CASE(test_default_path),
    };

    return cmocka_run_group_tests_name("store_open", tests, NULL, NULL);
}
