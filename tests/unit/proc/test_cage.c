/* Cages: what a program in one can and cannot do, and that nothing of it stays. Where this user
 * gets no namespaces, the limits alone are tested. */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/clock.h"
#include "proc/child.h"

enum { PATIENCE_US = 20000000 };

static char folder[] = "/tmp/btz-cage-XXXXXX";
static bool namespaces;

static int setup(void **state)
{
    (void)state;
    (void)signal(SIGPIPE, SIG_IGN);
    namespaces = mkdtemp(folder) && btz_proc_cage_works(folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return rmdir(folder);
}

static struct btz_proc *start(const char *script, struct btz_proc_cage cage)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    struct btz_proc *proc = NULL;
    struct btz_err err;

    cage.folder = folder;
    if (btz_proc_start(&(struct btz_proc_options){.argv = argv, .cage = &cage}, &proc, &err)) {
        fail_msg("%s", err.msg);
    }
    return proc;
}

/* Runs a script to its end: its output, and how it ended. */
static void play(const char *script, struct btz_proc_cage cage, char *out, size_t size,
                 char *how_out)
{
    int64_t until = btz_clock_mono_us() + PATIENCE_US;
    struct btz_proc *proc = start(script, cage);
    struct btz_str how = BTZ_STR_NONE;
    size_t len = 0;
    ptrdiff_t got;

    while ((got = btz_proc_read(proc, out + len, size - 1 - len)) != 0 && len < size - 1) {
        assert_true(btz_clock_mono_us() < until);
        len += got > 0 ? (size_t)got : 0;
        (void)btz_proc_drain(proc);
        (void)poll(NULL, 0, 2);
    }
    out[len] = '\0';
    while (!btz_proc_ended(proc, &how)) {
        assert_true(btz_clock_mono_us() < until);
        (void)poll(NULL, 0, 2);
    }
    (void)snprintf(how_out, 64, "%.*s", BTZ_FMT(how));
    btz_proc_free(proc, 0);
}

static void a_caged_program_has_its_folder_and_nothing_else(void **state)
{
    char out[1000];
    char how[64];
    char outside[100];

    (void)state;
    if (!namespaces) {
        skip();
    }
    (void)snprintf(outside, sizeof(outside), "%s-outside", folder);
    play("id -u; pwd; echo a > own && cat own && rm own; "
         "touch \"$PWD-outside\" 2>/dev/null || echo read-only; "
         "cat /proc/net/dev | grep -c :; exit 7",
         (struct btz_proc_cage){.namespaces = true}, out, sizeof(out), how);
    {
        char expected[200];

        /* user, folder, own file, other file, devices of the network: loopback alone */
        (void)snprintf(expected, sizeof(expected), "1000\n%s\na\nread-only\n", folder);
        assert_int_equal(strncmp(out, expected, strlen(expected)), 0);
    }
    assert_int_not_equal(access(outside, F_OK), 0);
    assert_string_equal(how, "exited with status 7");
}

static void devices_secrets_and_the_system_are_out_of_reach(void **state)
{
    char home[100];
    char path[200];
    char out[1000];
    char how[64];
    FILE *file;

    (void)state;
    if (!namespaces) {
        skip();
    }
    (void)snprintf(home, sizeof(home), "%s-home", folder);
    assert_int_equal(mkdir(home, 0700), 0);
    (void)snprintf(path, sizeof(path), "%s/.netrc", home);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("password", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(setenv("HOME", home, 1), 0);
    play(
        "cat \"$HOME/.netrc\"; echo x > /dev/null && head -c 1 /dev/zero | wc -c; ls /run | wc -l; "
        "for d in /dev/vda /dev/sda /dev/nvme0n1 /dev/mem /dev/kmsg; do "
        "(: < $d) 2>/dev/null && echo opened $d; done; "
        "(echo 1 > /proc/sys/kernel/panic) 2>/dev/null && echo written; "
        "(: < /dev/tty) 2>/dev/null && echo terminal; echo end",
        (struct btz_proc_cage){.namespaces = true}, out, sizeof(out), how);
    assert_string_equal(out, "1\n0\nend\n");
    (void)unlink(path);
    (void)rmdir(home);
}

static void nothing_outlives_a_cage(void **state)
{
    char script[200];
    char pidfile[100];
    int64_t until = btz_clock_mono_us() + PATIENCE_US;
    struct btz_proc *proc;
    char seen[32] = "";

    (void)state;
    if (!namespaces) {
        skip();
    }
    /* It leaves session and process group, and holds a file so that its life can be seen. */
    (void)snprintf(pidfile, sizeof(pidfile), "%s/alive", folder);
    (void)snprintf(script, sizeof(script),
                   "setsid sh -c 'while :; do date +%%N > alive; sleep 0.02; done' & "
                   "while [ ! -s alive ]; do sleep 0.02; done; echo up; sleep 100");
    proc = start(script, (struct btz_proc_cage){.namespaces = true});
    while (btz_proc_read(proc, seen, sizeof(seen)) <= 0) {
        assert_true(btz_clock_mono_us() < until);
        (void)poll(NULL, 0, 5);
    }
    btz_proc_free(proc, 100000);
    (void)poll(NULL, 0, 100);
    assert_int_equal(unlink(pidfile), 0);
    (void)poll(NULL, 0, 200);
    assert_int_not_equal(access(pidfile, F_OK), 0); /* nobody writes it any more */
}

static void limits_hold(void **state)
{
    char out[1000];
    char how[64];

    (void)state;
    play("ulimit -c; head -c 3000000 /dev/zero > big; rm -f big; echo after",
         (struct btz_proc_cage){.namespaces = namespaces, .file_size = 1000000}, out, sizeof(out),
         how);
    assert_string_equal(out, "0\nafter\n");
    play("head -c 3000000 /dev/zero > big || echo cut; ls -l big | awk '{print $5}'; rm -f big",
         (struct btz_proc_cage){.namespaces = namespaces, .file_size = 1024 * 1024}, out,
         sizeof(out), how);
    assert_string_equal(out, "cut\n1048576\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_caged_program_has_its_folder_and_nothing_else),
        cmocka_unit_test(devices_secrets_and_the_system_are_out_of_reach),
        cmocka_unit_test(nothing_outlives_a_cage),
        cmocka_unit_test(limits_hold),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
