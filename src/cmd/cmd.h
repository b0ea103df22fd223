/* What the sub-commands share. One file per sub-command; each exports one `struct btz_command`. */
#ifndef BTZ_CMD_CMD_H
#define BTZ_CMD_CMD_H

#include "base/arena.h"
#include "base/args.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/term.h"
#include "json/json.h"
#include "lab/lab.h"
#include "llm/model.h"
#include "store/store.h"

/* Exit codes (docs/user/exit-codes.md). */
enum {
    BTZ_EXIT_DONE = 0,
    BTZ_EXIT_FAILED = 1,       /* done, but a check or threshold failed */
    BTZ_EXIT_USAGE = 2,        /* wrong use or configuration */
    BTZ_EXIT_MISSING = 3,      /* something must be installed */
    BTZ_EXIT_LIMIT = 4,        /* stopped by a limit, everything finished is kept */
    BTZ_EXIT_FAULT = 5,        /* a fault of this program */
    BTZ_EXIT_INTERRUPTED = 130 /* can be resumed */
};

struct btz_context {
    struct btz_args *args;
    struct btz_arena *arena;  /* for the whole command */
    struct btz_term out, err; /* facts about stdout and stderr */
    bool json, csv, quiet, verbose;
    int argc;
    char *const *argv;
};

struct btz_command {
    struct btz_args_command args;
    bool hidden;
    bool csv; /* has tables that --csv prints */
    /* A command of parts (`sieve harvest`): ends with NULL; `run` is then not used. The name of a
     * part begins with that of its command and a blank. */
    const struct btz_command *const *parts;
    /* Returns 0 or a BTZ_EXIT_ code, or a negative BTZ_E code with `err` filled. */
    int (*run)(struct btz_context *context, struct btz_err *err);
};

extern const struct btz_command btz_command_run, btz_command_list, btz_command_selftest,
    btz_command_show, btz_command_report, btz_command_doctor, btz_command_verify,
    btz_command_replay, btz_command_compare, btz_command_arena, btz_command_rescore,
    btz_command_agreement, btz_command_connect, btz_command_sieve, btz_command_canon;

/* Commands in the order of the help; NULL past the end. */
const struct btz_command *btz_command_at(size_t index);

/* ---- for the files of this room ---- */

/* Writes to stdout; BTZ_EIO if that fails (a closed pipe, a full disk). */
int btz_cmd_print(const struct btz_buf *text, struct btz_err *err) BTZ_WARN_UNUSED;
/* The same for a JSON value, on one line with a newline, or indented on a terminal. */
int btz_cmd_print_json(struct btz_context *context, const struct btz_json *value,
                       struct btz_err *err) BTZ_WARN_UNUSED;
/* Writes lines to stderr. Texts from outside (a study file, a store, an argument) may stand in
 * them: each line passes through btz_term_add_text. Lines behind the first begin with `indent`. */
void btz_cmd_tell(struct btz_str text, const char *indent);
/* A line on stderr by btz_cmd_tell, unless --quiet. */
void btz_cmd_note(const struct btz_context *context, const char *fmt, ...) BTZ_PRINTF(2, 3);

/* The core pack and those of --pack. */
int btz_cmd_lab(struct btz_context *context, struct btz_lab **out,
                struct btz_err *err) BTZ_WARN_UNUSED;
/* The same and built-in packs besides. */
int btz_cmd_lab_with(struct btz_context *context, const char *const *builtins, size_t count,
                     struct btz_lab **out, struct btz_err *err) BTZ_WARN_UNUSED;
/* The same and the built-in packs that a run was made with. */
int btz_cmd_lab_of(struct btz_context *context, struct btz_store *store, int64_t run,
                   struct btz_lab **out, struct btz_err *err) BTZ_WARN_UNUSED;
/* The store of --store, or the default one. */
int btz_cmd_store(struct btz_context *context, enum btz_store_mode mode, struct btz_store **out,
                  struct btz_err *err) BTZ_WARN_UNUSED;
/* Absolute path of this program's file. */
int btz_cmd_program(struct btz_context *context, struct btz_str *out,
                    struct btz_err *err) BTZ_WARN_UNUSED;
/* SHA-256 of this program's file. */
int btz_cmd_binary_hash(struct btz_hash *out, struct btz_err *err) BTZ_WARN_UNUSED;
/* Path of the local model's state file, or where it would be; false if there is none. */
bool btz_cmd_local_state(char *out, size_t size);
/* False if no process has this id (0 = unknown counts as running). */
bool btz_cmd_local_runs(int64_t pid);
/* The model of a reference as with -m, and its key by --key-file and --key-for (both options of the
 * command) or the environment. BTZ_EMISSING: the local model does not run. */
int btz_cmd_model(struct btz_context *context, struct btz_str reference,
                  struct btz_llm_model *model, struct btz_llm_key *key,
                  struct btz_err *err) BTZ_WARN_UNUSED;
/* Values of a LIST option as views. */
struct btz_str *btz_cmd_values(struct btz_context *context, const char *name, size_t *count);

/* --arms: true for "all". */
int btz_cmd_arms(struct btz_context *context, bool *all, struct btz_err *err) BTZ_WARN_UNUSED;
/* Prints the agreement of judges, people and companion on a run. */
int btz_cmd_agreement(struct btz_context *context, struct btz_store *store, int64_t run,
                      bool all_arms, struct btz_err *err) BTZ_WARN_UNUSED;

/* Certifies every scenario of the lab, with progress on stderr, and keeps the rows in the store; or
 * those of `attacks` alone, which keeps nothing.
 * `*failed` counts the checks that failed; `*report` (may be NULL) gets {"checks":[...]}. */
int btz_cmd_certify(struct btz_context *context, struct btz_lab *lab, struct btz_store *store,
                    const struct btz_str *attacks, size_t attack_count, size_t *failed,
                    struct btz_json **report, struct btz_err *err) BTZ_WARN_UNUSED;

#endif
