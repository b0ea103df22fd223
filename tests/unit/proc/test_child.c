#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/clock.h"
#include "proc/child.h"

enum { PATIENCE_US = 10000000 };

static struct btz_proc *start(const char *script)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    struct btz_proc *proc = NULL;
    struct btz_err err;

    if (btz_proc_start(&(struct btz_proc_options){.argv = argv}, &proc, &err) != BTZ_OK) {
        fail_msg("%s", err.msg);
    }
    return proc;
}

/* Everything on stdout until its end. */
static void read_all(struct btz_proc *proc, struct btz_buf *out)
{
    int64_t until = btz_clock_mono_us() + PATIENCE_US;
    char chunk[4096];
    ptrdiff_t got;

    btz_buf_init(out, 1 << 20);
    while ((got = btz_proc_read(proc, chunk, sizeof(chunk))) != 0) {
        assert_true(btz_clock_mono_us() < until);
        (void)btz_proc_flush(proc);
        (void)btz_proc_drain(proc);
        if (got == BTZ_EAGAIN) {
            (void)poll(NULL, 0, 2);
        } else {
            assert_true(got > 0);
            assert_int_equal(btz_buf_add(out, chunk, (size_t)got), BTZ_OK);
        }
    }
}

static struct btz_str wait_end(struct btz_proc *proc)
{
    int64_t until = btz_clock_mono_us() + PATIENCE_US;
    struct btz_str how = BTZ_STR_NONE;

    while (!btz_proc_ended(proc, &how)) {
        assert_true(btz_clock_mono_us() < until);
        (void)poll(NULL, 0, 2);
    }
    return how;
}

static bool runs(int64_t pid)
{
    return kill((pid_t)pid, 0) == 0;
}

static void wait_gone(int64_t pid)
{
    int64_t until = btz_clock_mono_us() + PATIENCE_US;

    while (runs(pid)) {
        assert_true(btz_clock_mono_us() < until);
        (void)poll(NULL, 0, 2);
    }
}

static void bytes_go_both_ways(void **state)
{
    struct btz_proc *proc = start("read line; echo got $line; echo trouble >&2; exit 3");
    struct btz_buf out;

    (void)state;
    assert_int_equal(btz_proc_send(proc, BTZ_STR("this\n")), BTZ_OK);
    assert_false(btz_proc_flush(proc));
    read_all(proc, &out);
    assert_true(btz_str_is(btz_buf_view(&out), "got this\n"));
    assert_true(btz_str_is(wait_end(proc), "exited with status 3"));
    (void)btz_proc_drain(proc);
    assert_true(btz_str_is(btz_proc_last_words(proc), "trouble\n"));
    btz_buf_fini(&out);
    btz_proc_free(proc, 0);
}

static void a_missing_program_is_named(void **state)
{
    const char *argv[] = {"no-such-program-here", NULL};
    struct btz_proc *proc = NULL;
    struct btz_err err;

    (void)state;
    assert_int_equal(btz_proc_start(&(struct btz_proc_options){.argv = argv}, &proc, &err),
                     BTZ_EMISSING);
    assert_string_equal(err.msg, "there is no program \"no-such-program-here\" in PATH");
    argv[0] = "/dev/null";
    assert_int_equal(btz_proc_start(&(struct btz_proc_options){.argv = argv}, &proc, &err),
                     BTZ_EIO);
    assert_null(proc);
}

static void the_environment_is_an_allow_list(void **state)
{
    struct btz_proc *proc;
    struct btz_buf out;

    (void)state;
    setenv("OPENAI_API_KEY", "secret", 1);
    setenv("TZ", "UTC", 1);
    proc = start("env");
    read_all(proc, &out);
    assert_true(btz_str_find(btz_buf_view(&out), BTZ_STR("PATH=")) >= 0);
    assert_true(btz_str_find(btz_buf_view(&out), BTZ_STR("TZ=UTC\n")) >= 0);
    assert_true(btz_str_find(btz_buf_view(&out), BTZ_STR("secret")) < 0);
    btz_buf_fini(&out);
    btz_proc_free(proc, 0);
}

static void no_file_is_inherited(void **state)
{
    int open_here = dup(2);
    struct btz_proc *proc = start("ls /proc/$$/fd");
    struct btz_buf out;

    (void)state;
    read_all(proc, &out);
    assert_true(btz_str_is(btz_buf_view(&out), "0\n1\n2\n"));
    btz_buf_fini(&out);
    btz_proc_free(proc, 0);
    close(open_here);
}

static void a_flood_on_stderr_keeps_its_end(void **state)
{
    struct btz_proc *proc = start("head -c 3000000 /dev/zero | tr '\\0' x >&2; echo the end >&2");

    (void)state;
    while (!btz_proc_ended(proc, NULL)) {
        (void)btz_proc_drain(proc);
    }
    while (btz_proc_drain(proc)) {
    }
    assert_int_equal(btz_proc_drained(proc), 3000008);
    assert_true(btz_proc_last_words(proc).len <= 4096);
    assert_int_equal(btz_proc_first_words(proc).len, 256);
    assert_true(btz_str_starts(btz_proc_first_words(proc), BTZ_STR("xxx")));
    assert_true(btz_str_ends(btz_proc_last_words(proc), BTZ_STR("xthe end\n")));
    btz_proc_free(proc, 0);
}

static void what_nobody_reads_is_bounded(void **state)
{
    const char *argv[] = {"sleep", "100", NULL};
    struct btz_proc *proc = NULL;
    static char much[300000];
    int64_t pid;

    (void)state;
    assert_int_equal(btz_proc_start(&(struct btz_proc_options){.argv = argv, .max_waiting = 400000},
                                    &proc, NULL),
                     BTZ_OK);
    assert_int_equal(btz_proc_send(proc, (struct btz_str){much, sizeof(much)}), BTZ_OK);
    assert_true(btz_proc_flush(proc)); /* a pipe holds 64 KiB */
    assert_int_equal(btz_proc_send(proc, (struct btz_str){much, sizeof(much)}), BTZ_ELIMIT);
    pid = btz_proc_id(proc);
    btz_proc_free(proc, PATIENCE_US);
    assert_false(runs(pid));
}

static void a_reader_that_is_gone_closes_the_pipe(void **state)
{
    struct btz_proc *proc = start("exec <&-; echo closed; sleep 100");
    char chunk[64];

    (void)state;
    while (btz_proc_read(proc, chunk, sizeof(chunk)) == BTZ_EAGAIN) {
        (void)poll(NULL, 0, 2);
    }
    assert_int_equal(btz_proc_send(proc, BTZ_STR("x")), BTZ_OK);
    assert_false(btz_proc_flush(proc));
    assert_int_equal(btz_proc_fd(proc, BTZ_PROC_IN), -1);
    assert_int_equal(btz_proc_send(proc, BTZ_STR("x")), BTZ_EIO);
    btz_proc_free(proc, 0);
}

/* Its own children go with it, also those that do not listen to SIGTERM. */
static void the_whole_group_is_killed(void **state)
{
    struct btz_proc *proc = start("trap '' TERM; (trap '' TERM; sleep 100) & echo $!; sleep 100");
    int64_t group = btz_proc_id(proc);
    int64_t grandchild = 0;
    char line[64];
    ptrdiff_t got;

    (void)state;
    while ((got = btz_proc_read(proc, line, sizeof(line) - 1)) == BTZ_EAGAIN) {
        (void)poll(NULL, 0, 2);
    }
    assert_true(got > 1);
    assert_int_equal(btz_str_int64((struct btz_str){line, (size_t)got - 1}, &grandchild), BTZ_OK);
    assert_true(runs(grandchild));
    btz_proc_free(proc, 50000);
    assert_false(runs(group));
    wait_gone(grandchild);
}

/* A parent that is killed takes the child along. */
static void none_survives_the_parent(void **state)
{
    int report[2];
    int64_t child = 0;
    pid_t parent;

    (void)state;
    assert_int_equal(pipe(report), 0);
    parent = fork();
    if (parent == 0) {
        struct btz_proc *proc = start("exec sleep 100");

        child = btz_proc_id(proc);
        (void)!write(report[1], &child, sizeof(child));
        (void)kill(getpid(), SIGKILL);
    }
    assert_int_equal(read(report[0], &child, sizeof(child)), sizeof(child));
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    wait_gone(child);
    close(report[0]);
    close(report[1]);
}

static void a_signal_is_named(void **state)
{
    struct btz_proc *proc = start("kill -9 $$");

    (void)state;
    assert_true(btz_str_is(wait_end(proc), "was ended by signal 9"));
    btz_proc_free(proc, 0);
    btz_proc_free(NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_go_both_ways),
        cmocka_unit_test(a_missing_program_is_named),
        cmocka_unit_test(the_environment_is_an_allow_list),
        cmocka_unit_test(no_file_is_inherited),
        cmocka_unit_test(a_flood_on_stderr_keeps_its_end),
        cmocka_unit_test(what_nobody_reads_is_bounded),
        cmocka_unit_test(a_reader_that_is_gone_closes_the_pipe),
        cmocka_unit_test(the_whole_group_is_killed),
        cmocka_unit_test(none_survives_the_parent),
        cmocka_unit_test(a_signal_is_named),
    };

    (void)signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
