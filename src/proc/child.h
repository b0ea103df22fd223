/* A child process with three pipes, never waited for: its owner polls the pipes and moves bytes.
 *
 * The program is started without a shell, in a process group of its own, with an environment of
 * few names (btz_proc_environment). It is killed with its whole group when it is freed, and by the
 * kernel when the thread that started it dies (PR_SET_PDEATHSIG), so that a crash leaves none
 * behind. Of what it writes to stderr the end is kept, for messages to people. The owner has to
 * ignore SIGPIPE. */
#ifndef BTZ_PROC_CHILD_H
#define BTZ_PROC_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "proc/cage.h"

struct btz_proc;

enum btz_proc_pipe { BTZ_PROC_IN, BTZ_PROC_OUT, BTZ_PROC_ERR };

struct btz_proc_options {
    const char *const *argv; /* argv[0] is looked up in PATH; ends with NULL */
    const char *const *env;  /* "NAME=value", ends with NULL; NULL = btz_proc_environment */
    size_t max_waiting;      /* bytes for its stdin that wait; 0 = 64 MiB */
    size_t keep;             /* bytes of the end of stderr that are kept; 0 = 4 KiB */
    const struct btz_proc_cage *cage; /* NULL = none: this process's folder, rights and limits */
};

/* Names of this process's environment that a child gets, if they are set: PATH, HOME, USER,
 * LOGNAME, SHELL, LANG, LC_ALL, LC_CTYPE, TZ, TMPDIR, TERM, NODE_EXTRA_CA_CERTS, SSL_CERT_FILE,
 * SSL_CERT_DIR. Nothing else: keys and tokens of this process are none of its business. */
const char *const *btz_proc_environment(struct btz_arena *arena);

/* BTZ_EMISSING if there is no such program, BTZ_EIO if it cannot be started. */
int btz_proc_start(const struct btz_proc_options *options, struct btz_proc **out,
                   struct btz_err *err) BTZ_WARN_UNUSED;

/* Closes its stdin and asks the group to end (SIGTERM); once. */
void btz_proc_end(struct btz_proc *proc);

/* The same, unless it was done; then waits up to `grace_us`, kills the group (SIGKILL) and collects
 * the child. NULL is allowed. */
void btz_proc_free(struct btz_proc *proc, int64_t grace_us);

/* Our end of a pipe, non-blocking, for polling alone; -1 once it is closed. */
int btz_proc_fd(const struct btz_proc *proc, enum btz_proc_pipe which);

/* Queues bytes for its stdin. BTZ_ELIMIT if too much would wait (nothing was taken), BTZ_EIO once
 * that pipe is closed. */
int btz_proc_send(struct btz_proc *proc, struct btz_str bytes) BTZ_WARN_UNUSED;
/* Writes what the pipe takes now; true if bytes still wait. A pipe that nobody reads any more is
 * closed. */
bool btz_proc_flush(struct btz_proc *proc);

/* Reads from its stdout: the number of bytes put into `into`; 0 at the end of the stream, which
 * closes our end; BTZ_EAGAIN if there is nothing now. */
ptrdiff_t btz_proc_read(struct btz_proc *proc, char *into, size_t size) BTZ_WARN_UNUSED;

/* Takes in what is on stderr now (at most 1 MiB a call); true if there was any. */
bool btz_proc_drain(struct btz_proc *proc);
/* The beginning (at most 256 bytes) and the end of what it wrote to stderr so far. Good until the
 * next drain. */
struct btz_str btz_proc_first_words(const struct btz_proc *proc);
struct btz_str btz_proc_last_words(const struct btz_proc *proc);
uint64_t btz_proc_drained(const struct btz_proc *proc); /* bytes of stderr in all */

/* Whether it has ended; `*how` (may be NULL) is then a text such as "exited with status 1" in the
 * child's memory. */
bool btz_proc_ended(struct btz_proc *proc, struct btz_str *how);

int64_t btz_proc_id(const struct btz_proc *proc); /* process and group id */

#endif
