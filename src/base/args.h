/* Command-line parsing from tables.
 *
 * One parse has two halves, so that global options stand before and after the command word:
 *     btz_args_start(args, globals, argc, argv, &err)     up to the command word
 *     word = btz_args_word(args)                          NULL when there is none
 *     btz_args_finish(args, command, &err)                the rest, with both tables
 * Forms: --name VALUE, --name=VALUE, -n VALUE; options before, between and behind positional
 * arguments; "--" ends the options; a lone "-" is a positional argument. A value that starts with
 * '-' must be joined with '=' (a negative number and a lone "-" need not). Short options are not
 * bundled. argv must outlive the parse: all texts given out are borrowed from it. */
#ifndef BTZ_BASE_ARGS_H
#define BTZ_BASE_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Most values of one LIST option. */
#define BTZ_ARGS_LIST_MAX 1000

enum btz_option_kind {
    BTZ_OPTION_FLAG, /* no value; may be repeated without effect */
    BTZ_OPTION_TEXT, /* one non-empty value */
    BTZ_OPTION_INT,  /* one decimal integer in [min, max] */
    BTZ_OPTION_LIST  /* like TEXT, and may be repeated */
};

/* One row of a table; a table ends with a row whose name is NULL. */
struct btz_option {
    const char *name; /* long name without dashes */
    char short_name;  /* 0 = none */
    enum btz_option_kind kind;
    const char *value_name; /* shown in the help, such as "N"; NULL for a FLAG */
    const char *help;       /* one sentence; wrapped by btz_args_help */
    int64_t min;            /* of an INT; min = max = 0: any */
    int64_t max;
};

/* What a command takes. All texts and tables are static. */
struct btz_args_command {
    const char *name;                 /* "run"; NULL for the program itself */
    const char *summary;              /* a line or paragraph */
    const char *const *usage;         /* what follows "PROGRAM NAME", such as "[STUDY] -m MODEL...";
                                       * one entry per form, ends with NULL; may be NULL */
    const struct btz_option *options; /* may be NULL */
    const char *const *examples;      /* whole command lines, ends with NULL; may be NULL */
    size_t min_positionals;           /* not checked when a flag called "help" was given */
    size_t max_positionals;
};

struct btz_args;

struct btz_args *btz_args_new(void);
void btz_args_free(struct btz_args *args); /* NULL is allowed */

/* Reads global options up to the first positional argument, the command word. argv[0] is the
 * program. BTZ_EUSAGE: an option is unknown, has no value, a bad one, or is given twice; the
 * message names the nearest known option. */
int btz_args_start(struct btz_args *args, const struct btz_option *globals, int argc,
                   char *const *argv, struct btz_err *err) BTZ_WARN_UNUSED;

/* The command word, or NULL when there was none. */
const char *btz_args_word(const struct btz_args *args);

/* For a command that has parts (`sieve harvest`): takes the argument right behind the command word
 * if it is no option. NULL if there is none. To be called before _finish. */
const char *btz_args_part(struct btz_args *args);

/* Reads what stands behind the command word. A name must not be in both tables (panics).
 * BTZ_EUSAGE as above, and when there are too few or too many positional arguments. */
int btz_args_finish(struct btz_args *args, const struct btz_args_command *command,
                    struct btz_err *err) BTZ_WARN_UNUSED;

/* Values by long name, of global and command options alike. A name that is in no table given so
 * far, or has another kind, is a fault of the program and panics. */
bool btz_args_has(const struct btz_args *args, const char *name); /* any kind */
bool btz_args_flag(const struct btz_args *args, const char *name);
const char *btz_args_text(const struct btz_args *args, const char *name, const char *absent);
int64_t btz_args_int(const struct btz_args *args, const char *name, int64_t absent);

/* Number of values of a LIST; `*values` (if not NULL) gets the array, owned by `args`. */
size_t btz_args_list(const struct btz_args *args, const char *name, const char *const **values);

size_t btz_args_count(const struct btz_args *args);                     /* positional arguments */
const char *btz_args_positional(const struct btz_args *args, size_t i); /* NULL behind the last */

/* The name among `names` (`count` of them) nearest to `word` by edit distance (insert, delete,
 * replace one byte; Wagner and Fischer 1974): at most 2 and less than the length of `word`; the
 * first of equals; NULL if there is none. For "did you mean" on commands and ids. */
const char *btz_args_nearest(const char *word, const char *const *names, size_t count);

/* Help text: usage, summary, aligned options, global options, examples. `width` in columns (at
 * least 40). `command` or `globals` may be NULL. Status as of btz_buf. */
int btz_args_help(const char *program, const struct btz_args_command *command,
                  const struct btz_option *globals, unsigned width, struct btz_buf *out);

#endif
