/* The whole certification, by several processes.
 *
 * The work falls into items that do not depend on each other: the two shuffled orders, the rules of
 * each scenario, each row of the cross matrix. A lab is one Lua state and not for two threads, so
 * workers are processes forked from this one: each takes the next item from a counter in shared
 * memory and sends its outcome through a pipe, one line of JSON. Outcomes are put in the order of
 * the items, so how many workers there were does not show. */
#include "study/certify.h"
#include "study/distinct.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"

enum {
    ORDERS = 2,
    WORKERS_MAX = 64,
    OUTCOME_MAX = 16 * 1024 * 1024, /* bytes of one outcome */
    CHUNK = 65536
};

/* Shared by this process and its workers. */
struct shared {
    atomic_size_t next;              /* item that nobody has taken yet */
    atomic_size_t busy[WORKERS_MAX]; /* item of each worker, for messages */
};

struct worker {
    pid_t pid;
    int fd; /* -1 = it has closed its end */
    struct btz_buf in;
};

struct work {
    struct btz_lab *lab;
    const struct btz_scenario **chosen;
    size_t scenarios; /* that are chosen */
    bool whole;       /* all of the lab */
    size_t items;
    struct btz_arena *arena;         /* outcomes */
    const struct btz_json **outcome; /* by item; NULL = not there yet */
    size_t done;
    const struct btz_certify_options *options;
};

/* ---- items ---- */

static const struct btz_scenario *scenario_of(const struct work *work, size_t item)
{
    return work->chosen[(item - ORDERS) % work->scenarios];
}

static void describe(const struct work *work, size_t item, struct btz_buf *out)
{
    if (item < ORDERS) {
        (void)btz_buf_add_text(out, "the scenarios in shuffled order");
    } else {
        (void)btz_buf_printf(out, "%.*s", BTZ_FMT(scenario_of(work, item)->id));
    }
}

static struct btz_json *order_json(const struct work *work, size_t item, struct btz_arena *arena,
                                   bool *trouble)
{
    struct btz_json *out = btz_json_new_object(arena);
    struct btz_json *list = btz_json_new_array(arena);
    struct btz_hash *hashes = btz_arena_array(arena, work->scenarios, sizeof(*hashes));
    struct btz_str detail = BTZ_STR_NONE;
    char hex[65];

    if (work->whole && btz_certify_order(work->lab, item + 1, hashes, arena, &detail, trouble)) {
        for (size_t i = 0; i < work->scenarios; i++) {
            btz_json_push(arena, list, btz_json_new_strz(arena, btz_hash_hex(&hashes[i], hex)));
        }
    }
    btz_json_setz(arena, out, "hashes", list);
    btz_json_set_str(arena, out, "detail", detail);
    return out;
}

static struct btz_json *checks_json(const struct work *work, size_t item, struct btz_arena *arena,
                                    bool *trouble)
{
    struct btz_checks checks = {.arena = arena};
    struct btz_json *out = btz_json_new_object(arena);
    struct btz_json *list = btz_json_new_array(arena);

    if (item < ORDERS + work->scenarios) {
        btz_certify_scenario(work->lab, scenario_of(work, item), &checks);
    } else {
        btz_certify_cross(work->lab, scenario_of(work, item), &checks);
    }
    for (size_t i = 0; i < checks.count; i++) {
        const struct btz_check *c = &checks.items[i];
        struct btz_json *row = btz_json_new_object(arena);

        btz_json_set_str(arena, row, "scenario", c->scenario);
        btz_json_set_str(arena, row, "rule", c->rule);
        btz_json_set_bool(arena, row, "passed", c->passed);
        btz_json_set_bool(arena, row, "skipped", c->skipped);
        btz_json_set_str(arena, row, "detail", c->detail);
        btz_json_push(arena, list, row);
    }
    btz_json_setz(arena, out, "checks", list);
    *trouble = checks.host_trouble;
    return out;
}

/* Does an item and gives its outcome as one line. */
static struct btz_str do_item(const struct work *work, size_t item, struct btz_arena *arena)
{
    bool trouble = false;
    struct btz_json *out = item < ORDERS ? order_json(work, item, arena, &trouble)
                                         : checks_json(work, item, arena, &trouble);

    btz_json_set_int(arena, out, "item", (int64_t)item);
    btz_json_set_bool(arena, out, "host_trouble", trouble);
    return btz_json_text(arena, out);
}

static int take_outcome(struct work *work, struct btz_str line, struct btz_err *err)
{
    const struct btz_json_limits limits = {.max_bytes = OUTCOME_MAX};
    const struct btz_json *json = NULL;
    int64_t item = -1;
    int rc = btz_json_parse(work->arena, line, &limits, &json, err);

    if (rc == BTZ_OK && (!btz_json_int64(btz_json_getz(json, "item"), &item) || item < 0 ||
                         (size_t)item >= work->items || work->outcome[item])) {
        rc = btz_err_set(err, BTZ_EINTERNAL, "an outcome of the certification makes no sense");
    }
    if (rc == BTZ_OK) {
        work->outcome[item] = json;
        work->done++;
        if (work->options->progress) {
            work->options->progress(work->options->data, work->done, work->items);
        }
    }
    return rc;
}

/* ---- workers ---- */

/* Files of this process, such as its store, are not the worker's: it closes them unseen, and
 * whoever opened them here does not notice. */
static void close_others(int keep)
{
    if (keep > 3) {
        (void)close_range(3, (unsigned)keep - 1, 0);
    }
    (void)close_range((unsigned)keep + 1, ~0U, 0);
}

static bool send_all(int fd, struct btz_str bytes)
{
    while (bytes.len) {
        ssize_t sent = write(fd, bytes.ptr, bytes.len);

        if (sent < 0 && errno != EINTR) {
            return false;
        }
        bytes = btz_str_sub(bytes, sent > 0 ? (size_t)sent : 0, bytes.len);
    }
    return true;
}

static _Noreturn void worker_main(const struct work *work, struct shared *shared, size_t number,
                                  int fd, pid_t parent)
{
    struct btz_arena *arena = btz_arena_new();
    size_t item;

    /* It must not outlive this process, however that ends. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) {
        _exit(1);
    }
    close_others(fd);
    while ((item = atomic_fetch_add(&shared->next, 1)) < work->items) {
        struct btz_str line;

        atomic_store(&shared->busy[number], item);
        btz_arena_reset(arena);
        line = do_item(work, item, arena);
        if (!send_all(fd, line) || !send_all(fd, BTZ_STR("\n"))) {
            _exit(1);
        }
    }
    _exit(0);
}

static int worker_start(const struct work *work, struct shared *shared, size_t number,
                        struct worker *out, struct btz_err *err)
{
    pid_t parent = getpid();
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0) {
        return btz_err_set(err, BTZ_EIO, "no pipe for a worker of the certification: %s",
                           strerror(errno));
    }
    out->pid = fork();
    if (out->pid == 0) {
        worker_main(work, shared, number, ends[1], parent);
    }
    close(ends[1]);
    if (out->pid < 0) {
        int why = errno;

        close(ends[0]);
        return btz_err_set(err, BTZ_EIO, "no worker for the certification: %s", strerror(why));
    }
    out->fd = ends[0];
    btz_buf_init(&out->in, OUTCOME_MAX + CHUNK);
    return BTZ_OK;
}

/* Takes what a worker sent: whole lines. At its end `fd` becomes -1. */
static int worker_read(struct work *work, struct worker *worker, struct btz_err *err)
{
    char *room = btz_buf_room(&worker->in, CHUNK);
    const char *end;
    ssize_t got;

    if (!room) {
        return btz_err_set(err, BTZ_EINTERNAL, "an outcome of the certification is too large");
    }
    got = read(worker->fd, room, CHUNK);
    if (got < 0) {
        return errno == EINTR
                   ? BTZ_OK
                   : btz_err_set(err, BTZ_EIO, "a worker cannot be read: %s", strerror(errno));
    }
    if (got == 0) {
        close(worker->fd);
        worker->fd = -1;
        return BTZ_OK;
    }
    btz_buf_grow_by(&worker->in, (size_t)got);
    while ((end = memchr(worker->in.ptr, '\n', worker->in.len)) != NULL) {
        size_t len = (size_t)(end - worker->in.ptr);
        int rc = take_outcome(work, (struct btz_str){worker->in.ptr, len}, err);

        if (rc != BTZ_OK) {
            return rc;
        }
        btz_buf_consume(&worker->in, len + 1);
    }
    return BTZ_OK;
}

/* Waits for the end of a worker; one that did not end well is an error that says at what. */
static int worker_reap(const struct work *work, const struct shared *shared, struct worker *worker,
                       size_t number, struct btz_err *err)
{
    struct btz_buf what;
    int status = 0;
    int rc;

    while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR) {
    }
    worker->pid = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return BTZ_OK;
    }
    btz_buf_init(&what, CHUNK);
    describe(work, atomic_load(&shared->busy[number]), &what);
    rc = btz_err_set(err, BTZ_EINTERNAL, "a worker of the certification ended with %s %d at %.*s",
                     WIFSIGNALED(status) ? "signal" : "code",
                     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                     BTZ_FMT(btz_buf_view(&what)));
    btz_buf_fini(&what);
    return rc;
}

/* Reads all workers to their end. */
static int collect(struct work *work, const struct shared *shared, struct worker *workers,
                   size_t count, struct btz_err *err)
{
    struct pollfd polls[WORKERS_MAX];
    size_t open = count;
    int rc = BTZ_OK;

    while (rc == BTZ_OK && open > 0) {
        for (size_t i = 0; i < count; i++) {
            polls[i] = (struct pollfd){.fd = workers[i].fd, .events = POLLIN};
        }
        if (poll(polls, count, -1) < 0 && errno != EINTR) {
            rc = btz_err_set(err, BTZ_EIO, "workers cannot be waited for: %s", strerror(errno));
        }
        for (size_t i = 0; rc == BTZ_OK && i < count; i++) {
            if (workers[i].fd < 0 || !polls[i].revents) {
                continue;
            }
            rc = worker_read(work, &workers[i], err);
            if (rc == BTZ_OK && workers[i].fd < 0) {
                open--;
                rc = worker_reap(work, shared, &workers[i], i, err);
            }
        }
    }
    return rc;
}

static int by_workers(struct work *work, size_t count, struct btz_err *err)
{
    struct worker workers[WORKERS_MAX] = {{0}};
    struct shared *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    size_t started = 0;
    int rc = BTZ_OK;

    if (shared == MAP_FAILED) {
        return btz_err_set(err, BTZ_EIO, "no memory to share with workers: %s", strerror(errno));
    }
    while (rc == BTZ_OK && started < count) {
        rc = worker_start(work, shared, started, &workers[started], err);
        started += rc == BTZ_OK;
    }
    if (rc == BTZ_OK) {
        rc = collect(work, shared, workers, started, err);
    }
    for (size_t i = 0; i < started; i++) {
        if (workers[i].pid > 0) { /* only after an error */
            (void)kill(workers[i].pid, SIGKILL);
            while (waitpid(workers[i].pid, NULL, 0) < 0 && errno == EINTR) {
            }
        }
        if (workers[i].fd >= 0) {
            close(workers[i].fd);
        }
        btz_buf_fini(&workers[i].in);
    }
    (void)munmap(shared, sizeof(*shared));
    return rc;
}

static int by_this_process(struct work *work, struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    int rc = BTZ_OK;

    for (size_t item = 0; rc == BTZ_OK && item < work->items; item++) {
        btz_arena_reset(arena);
        rc = take_outcome(work, do_item(work, item, arena), err);
    }
    btz_arena_free(arena);
    return rc;
}

/* ---- the whole ---- */

static void add_orders(const struct work *work, struct btz_checks *out)
{
    const struct btz_json *first = btz_json_getz(work->outcome[0], "hashes");
    const struct btz_json *second = btz_json_getz(work->outcome[1], "hashes");
    struct btz_str detail = btz_json_str(btz_json_getz(work->outcome[0], "detail"));
    bool ran =
        btz_json_count(first) == work->scenarios && btz_json_count(second) == work->scenarios;

    if (!work->whole) {
        btz_check_skip(out, BTZ_STR("suite"),
                       BTZ_STR("6 two shuffled orders give equal trajectories"),
                       "only some attacks are certified");
        return;
    }
    detail = detail.len ? detail : btz_json_str(btz_json_getz(work->outcome[1], "detail"));
    for (size_t i = 0; ran && i < work->scenarios; i++) {
        if (!btz_json_equal(btz_json_at(first, i), btz_json_at(second, i))) {
            detail = btz_arena_printf(out->arena, "%.*s depends on what ran before it",
                                      BTZ_FMT(work->chosen[i]->id));
            ran = false;
        }
    }
    btz_check_add(out, BTZ_STR("suite"), BTZ_STR("6 two shuffled orders give equal trajectories"),
                  ran, detail);
}

static void add_outcomes(const struct work *work, struct btz_checks *out)
{
    for (size_t item = 0; item < work->items; item++) {
        const struct btz_json *list = btz_json_getz(work->outcome[item], "checks");

        out->host_trouble =
            out->host_trouble ||
            btz_json_bool(btz_json_getz(work->outcome[item], "host_trouble"), false);
        for (size_t i = 0; i < btz_json_count(list); i++) {
            const struct btz_json *row = btz_json_at(list, i);
            struct btz_check *c;

            btz_check_add(out, scenario_of(work, item)->id,
                          btz_json_str(btz_json_getz(row, "rule")),
                          btz_json_bool(btz_json_getz(row, "passed"), false), BTZ_STR_NONE);
            c = &out->items[out->count - 1];
            c->skipped = btz_json_bool(btz_json_getz(row, "skipped"), false);
            c->detail = btz_arena_dup(out->arena, btz_json_str(btz_json_getz(row, "detail")));
        }
    }
    add_orders(work, out);
    btz_certify_suite(work->lab, out);
}

/* Processors that this process may use. */
static unsigned processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0
               ? (unsigned)CPU_COUNT(&set)
               : 1;
}

static void choose(struct work *work)
{
    const struct btz_certify_options *o = work->options;
    size_t all = btz_lab_scenario_count(work->lab);

    work->chosen = btz_arena_array(work->arena, all, sizeof(*work->chosen));
    for (size_t i = 0; i < all; i++) {
        const struct btz_scenario *s = btz_lab_scenario_at(work->lab, i);
        bool wanted = o->attack_count == 0;

        for (size_t a = 0; a < o->attack_count; a++) {
            wanted = wanted || btz_str_eq(s->attack, o->attacks[a]);
        }
        if (wanted) {
            work->chosen[work->scenarios++] = s;
        }
    }
    work->whole = work->scenarios == all;
}

int btz_certify_all(struct btz_lab *lab, const struct btz_certify_options *options,
                    struct btz_checks *out, struct btz_err *err)
{
    size_t workers = options->workers ? options->workers : processors();
    struct work work = {.lab = lab, .arena = btz_arena_new(), .options = options};
    int rc;

    choose(&work);
    if (work.scenarios == 0) {
        btz_arena_free(work.arena);
        return btz_err_set(err, BTZ_EUSAGE, "there is no scenario to certify");
    }
    work.items = ORDERS + 2 * work.scenarios;
    work.outcome = btz_arena_array(work.arena, work.items, sizeof(const struct btz_json *));
    workers = workers < WORKERS_MAX ? workers : WORKERS_MAX;
    workers = workers < work.items ? workers : work.items;
    rc = workers > 1 ? by_workers(&work, workers, err) : by_this_process(&work, err);
    if (rc == BTZ_OK && work.done != work.items) {
        rc = btz_err_set(err, BTZ_EINTERNAL, "%zu outcomes of the certification are missing",
                         work.items - work.done);
    }
    if (rc == BTZ_OK) {
        add_outcomes(&work, out);
    }
    btz_arena_free(work.arena);
    return rc;
}
