#include "proc/cage.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INNER_ID = 1000 };

static int set_limit(int which, uint64_t value)
{
    struct rlimit now;

    if (getrlimit((__rlimit_resource_t)which, &now) != 0) {
        return -1;
    }
    if (now.rlim_max != RLIM_INFINITY && value > now.rlim_max) {
        value = now.rlim_max;
    }
    now.rlim_cur = now.rlim_max = value;
    return setrlimit((__rlimit_resource_t)which, &now);
}

static int limit(const struct btz_proc_cage *cage)
{
    static const uint64_t gib = (uint64_t)1024 * 1024 * 1024;

    /* Not RLIMIT_AS: JavaScript engines reserve far more addresses than they use. */
    return set_limit(RLIMIT_CORE, 0) || set_limit(RLIMIT_NOFILE, 1024) ||
                   set_limit(RLIMIT_DATA, cage->memory ? cage->memory : 4 * gib) ||
                   set_limit(RLIMIT_FSIZE, cage->file_size ? cage->file_size : gib / 4) ||
                   set_limit(RLIMIT_CPU, cage->cpu_seconds ? cage->cpu_seconds : 120) ||
                   set_limit(RLIMIT_NPROC, cage->processes ? cage->processes : 4096)
               ? -1
               : 0;
}

static int write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t put = fd < 0 ? -1 : write(fd, text, strlen(text));

    if (fd >= 0) {
        (void)close(fd);
    }
    return put == (ssize_t)strlen(text) ? 0 : -1;
}

static int map_ids(uid_t uid, gid_t gid)
{
    char map[64];

    if (write_file("/proc/self/setgroups", "deny") != 0) {
        return -1;
    }
    (void)snprintf(map, sizeof(map), "%d %u 1", INNER_ID, (unsigned)gid);
    if (write_file("/proc/self/gid_map", map) != 0) {
        return -1;
    }
    (void)snprintf(map, sizeof(map), "%d %u 1", INNER_ID, (unsigned)uid);
    return write_file("/proc/self/uid_map", map);
}

/* Where people keep secrets, below HOME; a file gets /dev/null over it, a folder an empty one. What
 * else this user can read the program can read too, and could put it into what it says. */
static const char *const secrets[] = {".ssh",          ".gnupg",
                                      ".aws",          ".azure",
                                      ".config",       ".docker",
                                      ".kube",         ".gcloud",
                                      ".mozilla",      ".local/share/keyrings",
                                      ".netrc",        ".npmrc",
                                      ".pypirc",       ".git-credentials",
                                      ".bash_history", ".zsh_history",
                                      ".pgpass",       ".python_history",
                                      ".my.cnf",       ".node_repl_history"};

static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                      "/dev/urandom"};

/* Not being there is fine, staying visible is not. */
static int hide(const char *path)
{
    struct stat about;

    if (stat(path, &about) != 0) {
        return 0;
    }
    return S_ISDIR(about.st_mode)
               ? mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=64k")
               : mount("/dev/null", path, NULL, MS_BIND, NULL);
}

static int hide_secrets(bool network)
{
    const char *home = getenv("HOME");
    char path[4096];

    for (size_t i = 0; home && i < sizeof(secrets) / sizeof(secrets[0]); i++) {
        int len = snprintf(path, sizeof(path), "%s/%s", home, secrets[i]);

        if (len > 0 && (size_t)len < sizeof(path) && hide(path) != 0) {
            return -1;
        }
    }
    /* Sockets of services, which a read-only mount does not close; name resolution may need them.
     */
    if (!network && hide("/run") != 0) {
        return -1;
    }
    return hide("/etc/shadow") || hide("/etc/gshadow") ? -1 : 0;
}

/* Everything read-only but the folder, which becomes a mount of its own, and no devices but a few:
 * a program that is this user's, and this user may be root, could write to disks otherwise. */
static int close_files(const struct btz_proc_cage *cage)
{
    struct mount_attr closed = {.attr_set =
                                    MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID};
    struct mount_attr writable = {.attr_clr = MOUNT_ATTR_RDONLY};
    struct mount_attr device = {.attr_clr = MOUNT_ATTR_NODEV};
    size_t count = sizeof(devices) / sizeof(devices[0]);

    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        hide_secrets(cage->network) != 0 ||
        mount(cage->folder, cage->folder, NULL, MS_BIND, NULL) != 0) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        if (mount(devices[i], devices[i], NULL, MS_BIND, NULL) != 0) {
            return -1;
        }
    }
    if (mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &closed, sizeof(closed)) != 0 ||
        mount_setattr(AT_FDCWD, cage->folder, 0, &writable, sizeof(writable)) != 0) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        if (mount_setattr(AT_FDCWD, devices[i], 0, &device, sizeof(device)) != 0) {
            return -1;
        }
    }
    return 0;
}

/* The loopback device of a new network is down; servers that open a port need it. */
static void raise_loopback(void)
{
    struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd >= 0) {
        (void)ioctl(fd, SIOCSIFFLAGS, &request);
        (void)close(fd);
    }
}

/* Waits for `child` and ends as it did; others that end meanwhile are collected. */
static void stand_by(pid_t child)
{
    int status = 0;
    pid_t got;

    (void)signal(SIGTERM, SIG_IGN); /* the program itself gets it, with the group */
    (void)close_range(0, ~0u, 0);   /* the ends of pipes must be the program's alone */
    do {
        got = waitpid(-1, &status, 0);
    } while (got != child && !(got < 0 && errno == ECHILD));
    _exit(got != child ? 127 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* Forks; only the child returns, tied to the life of its parent. */
static int fork_on(void)
{
    pid_t pid = fork();

    if (pid > 0) {
        stand_by(pid);
    }
    return pid < 0 ? -1 : prctl(PR_SET_PDEATHSIG, SIGKILL);
}

int btz_proc_cage_enter(const struct btz_proc_cage *cage)
{
    int flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC;
    uid_t uid = geteuid();
    gid_t gid = getegid();

    if (cage->namespaces) {
        if (unshare(cage->network ? flags : flags | CLONE_NEWNET) != 0 || map_ids(uid, gid) != 0 ||
            prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || close_files(cage) != 0) {
            return -1;
        }
        if (fork_on() != 0) { /* from here: process 1 of the namespace, its end is everybody's */
            return -1;
        }
        if (!cage->network) {
            raise_loopback();
        }
        /* A view of its own processes; where it is not allowed, it sees the names of others. */
        (void)mount("proc", "/proc", "proc", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
        if (fork_on() != 0) {
            return -1;
        }
    }
    if (chdir(cage->folder) != 0 || limit(cage) != 0) {
        return -1;
    }
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

bool btz_proc_cage_works(const char *folder)
{
    const struct btz_proc_cage cage = {.folder = folder, .namespaces = true};
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        _exit(btz_proc_cage_enter(&cage) == 0 ? 0 : 1);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
