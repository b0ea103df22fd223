/* report: the tables of a run. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "report/report.h"

static int cannot_write(const char *path, struct btz_err *err)
{
    return btz_err_set(err, BTZ_EUSAGE, "%s cannot be written: %s", path, strerror(errno));
}

static int write_stream(FILE *file, const char *path, const struct btz_buf *text,
                        struct btz_err *err)
{
    bool good = file && fwrite(text->ptr, 1, text->len, file) == text->len;

    good = file && fclose(file) == 0 && good;
    return good ? BTZ_OK : cannot_write(path, err);
}

/* True if `path` is the store or one of the files that SQLite and the lock keep beside it. */
static bool is_store(const struct stat *target, const char *store)
{
    static const char *const tails[] = {"", "-wal", "-shm", "-journal", ".lock"};
    char name[4096];
    struct stat own;

    for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
        if (snprintf(name, sizeof(name), "%s%s", store, tails[i]) < (int)sizeof(name) &&
            stat(name, &own) == 0 && own.st_dev == target->st_dev && own.st_ino == target->st_ino) {
            return true;
        }
    }
    return false;
}

/* A regular file is replaced as a whole: written beside the target under a name of its own and
 * renamed, so that no partial file is left behind. Anything else (a device, a pipe, a link) is
 * written into. */
static int write_file(const char *path, const char *store, const struct btz_buf *text,
                      struct btz_err *err)
{
    char part[4096];
    struct stat target;
    struct stat link;
    bool exists = stat(path, &target) == 0;
    int fd;
    int rc;

    if (exists && is_store(&target, store)) {
        return btz_err_set(err, BTZ_EUSAGE, "%s is the store itself: name another file", path);
    }
    if (lstat(path, &link) == 0 && !S_ISREG(link.st_mode)) {
        return write_stream(fopen(path, "wbe"), path, text, err);
    }
    if (snprintf(part, sizeof(part), "%s.XXXXXX", path) >= (int)sizeof(part)) {
        return btz_err_set(err, BTZ_EUSAGE, "the file name is too long");
    }
    fd = mkstemp(part);
    if (fd < 0) {
        return cannot_write(path, err);
    }
    (void)fchmod(fd, exists ? target.st_mode & 07777 : 0644);
    rc = write_stream(fdopen(fd, "wb"), path, text, err);
    if (rc == BTZ_OK && rename(part, path) != 0) {
        rc = cannot_write(path, err);
    }
    if (rc != BTZ_OK) {
        (void)unlink(part);
    }
    return rc;
}

static int render(struct btz_context *context, struct btz_report *report, const char *file,
                  struct btz_buf *out)
{
    struct btz_term plain = {.width = 100};

    if (context->json) {
        (void)btz_json_write_pretty(out, btz_report_json(report, context->arena));
        return btz_buf_add_byte(out, '\n');
    }
    if (context->csv) {
        btz_report_csv(report, out);
    } else {
        btz_report_print(report, file ? &plain : &context->out, out);
    }
    return btz_buf_status(out);
}

static int read_options(struct btz_context *context, struct btz_report_options *out,
                        struct btz_err *err)
{
    struct btz_str oracle = btz_str_of(btz_args_text(context->args, "oracle", "deterministic"));
    const char *judge = btz_args_text(context->args, "judge", NULL);

    if (!btz_str_is(oracle, "deterministic") && !btz_str_is(oracle, "paper")) {
        return btz_err_set(err, BTZ_EUSAGE, "--oracle is \"%.*s\"; it is deterministic or paper",
                           BTZ_FMT(btz_str_sub(oracle, 0, 64)));
    }
    if (judge && !btz_str_is(oracle, "paper")) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "--judge says who decides under --oracle paper; without it the report "
                           "shows every judge");
    }
    *out = (struct btz_report_options){.paper = btz_str_is(oracle, "paper"),
                                       .judge = judge ? btz_str_of(judge) : BTZ_STR_NONE};
    return BTZ_OK;
}

static int run(struct btz_context *context, struct btz_err *err)
{
    const char *file = btz_args_text(context->args, "output", NULL);
    struct btz_store *store = NULL;
    struct btz_store_run found;
    struct btz_report *report = NULL;
    struct btz_report_options options;
    struct btz_buf out;
    int rc = read_options(context, &options, err);

    if (rc == BTZ_OK) {
        rc = btz_cmd_store(context, BTZ_STORE_READ, &store, err);
    }
    if (file && strcmp(file, "-") == 0) {
        file = NULL;
    }
    btz_buf_init(&out, 256 * 1024 * 1024);
    if (rc == BTZ_OK) {
        rc = btz_store_run_find(store,
                                btz_str_of(btz_args_count(context->args)
                                               ? btz_args_positional(context->args, 0)
                                               : "last"),
                                context->arena, &found, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_report_build_as(store, found.no, &options, context->arena, &report, err);
    }
    if (rc == BTZ_OK && render(context, report, file, &out) != BTZ_OK) {
        rc = btz_err_set(err, BTZ_ELIMIT, "the report is too large");
    }
    if (rc == BTZ_OK) {
        rc = file ? write_file(file, btz_store_path(store), &out, err) : btz_cmd_print(&out, err);
    }
    btz_buf_fini(&out);
    btz_store_close(store);
    return rc;
}

static const struct btz_option options[] = {
    {"output", 'o', BTZ_OPTION_TEXT, "FILE", "write to a file instead of standard output (-)", 0,
     0},
    {"oracle", 0, BTZ_OPTION_TEXT, "WHICH",
     "deterministic (default), or paper: a judge decides semantic attacks", 0, 0},
    {"judge", 0, BTZ_OPTION_TEXT, "NAME", "of several judges, the one that decides", 0, 0},
    {NULL, 0, BTZ_OPTION_FLAG, NULL, NULL, 0, 0},
};
static const char *const usage[] = {"[RUN]", NULL};
static const char *const examples[] = {"bartizan report", "bartizan report last --json",
                                       "bartizan report RUN --csv -o run.csv",
                                       "bartizan report RUN --oracle paper", NULL};

const struct btz_command btz_command_report = {
    .args = {.name = "report",
             .summary = "print the tables of a run",
             .usage = usage,
             .options = options,
             .examples = examples,
             .max_positionals = 1},
    .csv = true,
    .run = run,
};
