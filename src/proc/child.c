#include "proc/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"

enum {
    MAX_WAITING = 64 * 1024 * 1024,
    KEEP = 4096,
    CHUNK = 16 * 1024,
    MAX_DRAIN = 1024 * 1024,
    NAP_US = 2000
};

struct btz_proc {
    pid_t pid;
    int fds[3]; /* our ends; -1 = closed */
    struct btz_buf waiting;
    struct btz_buf words;
    char first[256];
    size_t keep;
    uint64_t drained;
    bool asked; /* to end */
    bool ended; /* but not collected: its id must stay taken until the group is killed */
    char how[64];
};

static const char *const passed_on[] = {
    "PATH",          "HOME",        "USER", "LOGNAME", "SHELL", "LANG",
    "LC_ALL",        "LC_CTYPE",    "TZ",   "TMPDIR",  "TERM",  "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE", "SSL_CERT_DIR"};

const char *const *btz_proc_environment(struct btz_arena *arena)
{
    size_t names = sizeof(passed_on) / sizeof(passed_on[0]);
    const char **env = btz_arena_array(arena, names + 1, sizeof(*env));
    size_t count = 0;

    for (size_t i = 0; i < names; i++) {
        const char *value = getenv(passed_on[i]);

        if (value) {
            env[count++] = btz_arena_printf(arena, "%s=%s", passed_on[i], value).ptr;
        }
    }
    env[count] = NULL;
    return env;
}

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
    }
    *fd = -1;
}

/* Between fork and exec: only calls that are safe there. Returns on failure, with errno. */
static void become(const struct btz_proc_options *options, const char *const *env, pid_t parent,
                   const int theirs[3])
{
    sigset_t none;

    if (options->cage) {
        (void)setsid(); /* no way to this process's terminal */
    } else {
        (void)setpgid(0, 0);
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(127); /* it died before the kernel was asked */
    }
    for (int i = 0; i < 3; i++) {
        if (dup2(theirs[i], i) < 0) {
            return;
        }
    }
    (void)close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
    (void)signal(SIGPIPE, SIG_DFL); /* ignored ones would stay ignored */
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (options->cage && btz_proc_cage_enter(options->cage) != 0) {
        return;
    }
    /* exec's own types: it changes neither. */
    (void)execvpe(options->argv[0], (char *const *)options->argv, (char *const *)env);
}

/* Pipes that lie above the standard numbers, so that one cannot be in the way of another. */
static int open_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return -1;
    }
    for (int i = 0; i < 2; i++) {
        if (ends[i] < 3) {
            int high = fcntl(ends[i], F_DUPFD_CLOEXEC, 3);

            if (high < 0) {
                return -1;
            }
            (void)close(ends[i]);
            ends[i] = high;
        }
    }
    return 0;
}

/* What exec said: 0 once the program runs. */
static int exec_errno(int fd)
{
    int number = 0;
    ssize_t got;

    do {
        got = read(fd, &number, sizeof(number));
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof(number) ? number : 0;
}

static int start_failed(const struct btz_proc_options *options, int number, struct btz_err *err)
{
    if (number == ENOENT) {
        return btz_err_set(err, BTZ_EMISSING, "there is no program \"%s\" in PATH",
                           options->argv[0]);
    }
    return btz_err_set(err, BTZ_EIO, "\"%s\" cannot be started: %s", options->argv[0],
                       strerror(number));
}

/* Forks; `pipes` are those of stdin, stdout, stderr, `report` that of exec's errno. */
static pid_t spawn(const struct btz_proc_options *options, int pipes[3][2], const int report[2])
{
    struct btz_arena *arena = btz_arena_new();
    const char *const *env = options->env ? options->env : btz_proc_environment(arena);
    const int theirs[3] = {pipes[0][0], pipes[1][1], pipes[2][1]};
    pid_t parent = getpid();
    pid_t pid = fork();

    if (pid == 0) {
        int number;

        become(options, env, parent, theirs);
        number = errno;
        (void)!write(report[1], &number, sizeof(number));
        _exit(127);
    }
    btz_arena_free(arena);
    return pid;
}

static struct btz_proc *new_proc(const struct btz_proc_options *options)
{
    struct btz_proc *proc = calloc(1, sizeof(*proc));

    if (!proc) {
        btz_panic("out of memory");
    }
    proc->keep = options->keep ? options->keep : KEEP;
    btz_buf_init(&proc->waiting, options->max_waiting ? options->max_waiting : MAX_WAITING);
    btz_buf_init(&proc->words, proc->keep + CHUNK);
    return proc;
}

int btz_proc_start(const struct btz_proc_options *options, struct btz_proc **out,
                   struct btz_err *err)
{
    int pipes[4][2] = {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}}; /* the last for exec's errno */
    struct btz_proc *proc = NULL;
    pid_t pid = -1;
    int number = 0;

    for (int i = 0; i < 4 && !number; i++) {
        number = open_pipe(pipes[i]) ? errno : 0;
    }
    if (!number) {
        pid = spawn(options, pipes, pipes[3]);
        number = pid < 0 ? errno : 0;
    }
    for (int i = 0; i < 4; i++) { /* their ends */
        close_fd(&pipes[i][i == 0 ? 0 : 1]);
    }
    if (pid > 0) {
        number = exec_errno(pipes[3][0]);
    }
    close_fd(&pipes[3][0]);
    if (number) {
        for (int i = 0; i < 3; i++) {
            close_fd(&pipes[i][i == 0 ? 1 : 0]);
        }
        if (pid > 0) {
            (void)waitpid(pid, NULL, 0);
        }
        return start_failed(options, number, err);
    }
    proc = new_proc(options);
    proc->pid = pid;
    for (int i = 0; i < 3; i++) {
        proc->fds[i] = pipes[i][i == 0 ? 1 : 0];
        (void)fcntl(proc->fds[i], F_SETFL, O_NONBLOCK);
    }
    *out = proc;
    return BTZ_OK;
}

bool btz_proc_ended(struct btz_proc *proc, struct btz_str *how)
{
    siginfo_t info = {0};

    if (!proc->ended && waitid(P_PID, (id_t)proc->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == proc->pid) {
        proc->ended = true;
        (void)snprintf(proc->how, sizeof(proc->how),
                       info.si_code == CLD_EXITED ? "exited with status %d"
                                                  : "was ended by signal %d",
                       info.si_status);
    }
    if (proc->ended && how) {
        *how = btz_str_of(proc->how);
    }
    return proc->ended;
}

void btz_proc_end(struct btz_proc *proc)
{
    close_fd(&proc->fds[BTZ_PROC_IN]);
    if (!proc->asked && !btz_proc_ended(proc, NULL)) {
        (void)kill(-proc->pid, SIGTERM);
    }
    proc->asked = true;
}

void btz_proc_free(struct btz_proc *proc, int64_t grace_us)
{
    int64_t until;

    if (!proc) {
        return;
    }
    btz_proc_end(proc);
    until = btz_clock_mono_us() + grace_us;
    while (!btz_proc_ended(proc, NULL) && btz_clock_mono_us() < until) {
        struct timespec nap = {.tv_nsec = NAP_US * 1000L};

        (void)btz_proc_drain(proc); /* one that waits for a full pipe would not end */
        (void)nanosleep(&nap, NULL);
    }
    (void)kill(-proc->pid, SIGKILL);
    while (waitpid(proc->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    for (int i = 0; i < 3; i++) {
        close_fd(&proc->fds[i]);
    }
    btz_buf_fini(&proc->waiting);
    btz_buf_fini(&proc->words);
    free(proc);
}

int btz_proc_fd(const struct btz_proc *proc, enum btz_proc_pipe which)
{
    return proc->fds[which];
}

int btz_proc_send(struct btz_proc *proc, struct btz_str bytes)
{
    if (proc->fds[BTZ_PROC_IN] < 0) {
        return BTZ_EIO;
    }
    if (bytes.len > proc->waiting.max - proc->waiting.len) {
        return BTZ_ELIMIT;
    }
    return btz_buf_add_str(&proc->waiting, bytes);
}

bool btz_proc_flush(struct btz_proc *proc)
{
    while (proc->fds[BTZ_PROC_IN] >= 0 && proc->waiting.len) {
        ssize_t put = write(proc->fds[BTZ_PROC_IN], proc->waiting.ptr, proc->waiting.len);

        if (put > 0) {
            btz_buf_consume(&proc->waiting, (size_t)put);
        } else if (put < 0 && errno == EAGAIN) {
            return true;
        } else if (put == 0 || errno != EINTR) {
            close_fd(&proc->fds[BTZ_PROC_IN]);
            btz_buf_reset(&proc->waiting);
        }
    }
    return false;
}

ptrdiff_t btz_proc_read(struct btz_proc *proc, char *into, size_t size)
{
    ssize_t got;

    if (proc->fds[BTZ_PROC_OUT] < 0) {
        return 0;
    }
    do {
        got = read(proc->fds[BTZ_PROC_OUT], into, size);
    } while (got < 0 && errno == EINTR);
    if (got < 0 && errno == EAGAIN) {
        return BTZ_EAGAIN;
    }
    if (got <= 0) {
        close_fd(&proc->fds[BTZ_PROC_OUT]);
        return 0;
    }
    return got;
}

static void keep_words(struct btz_proc *proc, struct btz_str bytes)
{
    if (proc->drained < sizeof(proc->first)) {
        size_t room = sizeof(proc->first) - (size_t)proc->drained;

        memcpy(proc->first + proc->drained, bytes.ptr, bytes.len < room ? bytes.len : room);
    }
    proc->drained += bytes.len;
    (void)btz_buf_add_str(&proc->words, bytes); /* always fits: a chunk is left free */
    if (proc->words.len > proc->keep) {
        btz_buf_consume(&proc->words, proc->words.len - proc->keep);
    }
}

bool btz_proc_drain(struct btz_proc *proc)
{
    char chunk[CHUNK];
    size_t taken = 0;

    while (proc->fds[BTZ_PROC_ERR] >= 0 && taken < MAX_DRAIN) {
        ssize_t got = read(proc->fds[BTZ_PROC_ERR], chunk, sizeof(chunk));

        if (got > 0) {
            keep_words(proc, (struct btz_str){chunk, (size_t)got});
            taken += (size_t)got;
        } else if (got < 0 && errno == EAGAIN) {
            break;
        } else if (got == 0 || errno != EINTR) {
            close_fd(&proc->fds[BTZ_PROC_ERR]);
        }
    }
    return taken > 0;
}

struct btz_str btz_proc_first_words(const struct btz_proc *proc)
{
    size_t size = sizeof(proc->first);

    return (struct btz_str){proc->first, proc->drained < size ? (size_t)proc->drained : size};
}

struct btz_str btz_proc_last_words(const struct btz_proc *proc)
{
    return btz_buf_view(&proc->words);
}

uint64_t btz_proc_drained(const struct btz_proc *proc)
{
    return proc->drained;
}

int64_t btz_proc_id(const struct btz_proc *proc)
{
    return proc->pid;
}
