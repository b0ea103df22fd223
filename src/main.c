/* bartizan: the command word chooses one of the commands in src/cmd. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <curl/curl.h>
#include <lua.h>
#include <openssl/crypto.h>
#include <sqlite3.h>
#include <uv.h>
#include <zstd.h>

#include "cmd/cmd.h"

static const struct btz_option globals[] = {
    {"store", 0, BTZ_OPTION_TEXT, "PATH", "the store (default: $XDG_STATE_HOME/bartizan/store.db)",
     0, 0},
    {"json", 0, BTZ_OPTION_FLAG, NULL, "print JSON", 0, 0},
    {"csv", 0, BTZ_OPTION_FLAG, NULL, "print CSV where there are tables", 0, 0},
    {"quiet", 'q', BTZ_OPTION_FLAG, NULL, "no progress and no notes on stderr", 0, 0},
    {"verbose", 'v', BTZ_OPTION_FLAG, NULL, "say more", 0, 0},
    {"no-color", 0, BTZ_OPTION_FLAG, NULL, "no colours (so does NO_COLOR)", 0, 0},
    {"seed", 0, BTZ_OPTION_INT, "N", "seed of worlds, markers and orders (default 1)", 0,
     INT64_MAX},
    {"pack", 0, BTZ_OPTION_LIST, "DIR", "load this pack too: a folder, or extended", 0, 0},
    {"help", 'h', BTZ_OPTION_FLAG, NULL, "show help", 0, 0},
    {"version", 0, BTZ_OPTION_FLAG, NULL, "show versions of the program and its libraries", 0, 0},
    {NULL, 0, BTZ_OPTION_FLAG, NULL, NULL, 0, 0},
};

static const char *const examples[] = {
    "bartizan run quick -m ref:reader",
    "bartizan run quick -m openai:NAME@http://127.0.0.1:8080/v1",
    "bartizan report last",
    "bartizan show last 1",
    NULL,
};

/* A standard file that the caller closed would be the number of the next file that is opened, and
 * what is printed would go there. */
static void hold_standard_files(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
            /* Writing to number 1 goes on to fail: a result that nobody gets is an error. */
            (void)open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY);
        }
    }
}

/* A study's trials are made on one thread and written on another: with a heap each, what one frees
 * the other never uses again, and a long run keeps more than a short one. */
static void keep_one_heap(void)
{
#ifdef M_ARENA_MAX
    (void)mallopt(M_ARENA_MAX, 1);
#endif
}

static int exit_code(int code)
{
    if (code >= 0) {
        return code;
    }
    switch (code) {
    case BTZ_EMISSING:
        return BTZ_EXIT_MISSING;
    case BTZ_EINTERNAL:
    case BTZ_ECORRUPT:
    case BTZ_ESTATE:
        return BTZ_EXIT_FAULT;
    default:
        return BTZ_EXIT_USAGE;
    }
}

static int complain(const struct btz_err *err)
{
    char text[1200] = "bartizan: ";
    size_t len = strlen(text);

    (void)btz_err_text(err, text + len, sizeof(text) - len);
    btz_cmd_tell(btz_str_of(text), "  ");
    return exit_code(err->code);
}

static int print_program_help(const struct btz_term *term)
{
    static const char *const usage[] = {"COMMAND [OPTIONS]", NULL};
    const struct btz_args_command program = {
        .summary = "How robust is a model when hostile context reaches it "
                   "through the Model Context Protocol?",
        .usage = usage,
        .examples = examples};
    struct btz_buf out;
    struct btz_err err;
    int rc;

    btz_buf_init(&out, 1024 * 1024);
    (void)btz_args_help("bartizan", &program, globals, term->width, &out);
    (void)btz_buf_add_text(&out, "\nCommands:\n");
    for (size_t i = 0; btz_command_at(i); i++) {
        if (!btz_command_at(i)->hidden) {
            (void)btz_buf_printf(&out, "  %-10s %s\n", btz_command_at(i)->args.name,
                                 btz_command_at(i)->args.summary);
        }
    }
    (void)btz_buf_add_text(&out,
                           "\n`bartizan COMMAND --help` shows a command's options and examples.\n");
    rc = btz_cmd_print(&out, &err);
    btz_buf_fini(&out);
    return rc ? complain(&err) : 0;
}

static int print_version(void)
{
    printf("bartizan %s\nlibuv %s\nlibcurl %s\n%s\nSQLite %s\nzstd %s\n%s\n", BTZ_VERSION,
           uv_version_string(), curl_version_info(CURLVERSION_NOW)->version,
           OpenSSL_version(OPENSSL_VERSION), sqlite3_libversion(), ZSTD_versionString(),
           LUA_RELEASE);
    if (fflush(stdout) != 0) {
        fputs("bartizan: standard output cannot be written\n", stderr);
        return BTZ_EXIT_USAGE;
    }
    return 0;
}

static const struct btz_command *find_command(const char *word, struct btz_err *err)
{
    const char *names[16];
    size_t count = 0;
    const char *near;

    for (size_t i = 0; btz_command_at(i); i++) {
        if (strcmp(btz_command_at(i)->args.name, word) == 0) {
            return btz_command_at(i);
        }
        if (!btz_command_at(i)->hidden && count < sizeof(names) / sizeof(names[0])) {
            names[count++] = btz_command_at(i)->args.name;
        }
    }
    near = btz_args_nearest(word, names, count);
    btz_err_set(err, BTZ_EUSAGE, "there is no command \"%s\"%s%s%s; `bartizan --help` lists them",
                word, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    return NULL;
}

/* The part of a command that the next word names. NULL and `*rc` set: the help was printed, or the
 * word is wrong. */
static const struct btz_command *find_part(const struct btz_command *command,
                                           struct btz_context *context, int *rc)
{
    const char *word = btz_args_part(context->args);
    size_t skip = strlen(command->args.name) + 1;
    const char *names[16];
    size_t count = 0;
    const char *near;
    struct btz_buf out;
    struct btz_err err = {0};

    for (const struct btz_command *const *part = command->parts; *part; part++) {
        if (word && strcmp((*part)->args.name + skip, word) == 0) {
            return *part;
        }
        if (count < sizeof(names) / sizeof(names[0])) {
            names[count++] = (*part)->args.name + skip;
        }
    }
    if (word) {
        near = btz_args_nearest(word, names, count);
        (void)btz_err_set(&err, BTZ_EUSAGE,
                          "%s has no \"%s\"%s%s%s; `bartizan %s --help` lists what it has",
                          command->args.name, word, near ? "; did you mean \"" : "",
                          near ? near : "", near ? "\"?" : "", command->args.name);
        *rc = complain(&err);
        return NULL;
    }
    *rc = btz_args_finish(context->args, &command->args, &err);
    if (*rc != BTZ_OK) {
        *rc = complain(&err);
        return NULL;
    }
    btz_buf_init(&out, 1024 * 1024);
    (void)btz_args_help("bartizan", &command->args, globals, context->out.width, &out);
    (void)btz_buf_printf(&out, "\nParts:\n");
    for (const struct btz_command *const *part = command->parts; *part; part++) {
        (void)btz_buf_printf(&out, "  %-10s %s\n", (*part)->args.name + skip,
                             (*part)->args.summary);
    }
    (void)btz_buf_printf(&out, "\n`bartizan %s PART --help` shows a part's options and examples.\n",
                         command->args.name);
    *rc = btz_cmd_print(&out, &err);
    btz_buf_fini(&out);
    *rc = *rc ? complain(&err) : btz_args_flag(context->args, "help") ? 0 : BTZ_EXIT_USAGE;
    return NULL;
}

static int run_command(const struct btz_command *command, struct btz_context *context)
{
    struct btz_err err = {0};
    int rc = btz_args_finish(context->args, &command->args, &err);

    if (rc != BTZ_OK) {
        rc = complain(&err);
        fprintf(stderr, "`bartizan %s --help` shows its use\n", command->args.name);
        return rc;
    }
    context->json = btz_args_flag(context->args, "json");
    context->csv = btz_args_flag(context->args, "csv");
    context->quiet = btz_args_flag(context->args, "quiet");
    context->verbose = btz_args_flag(context->args, "verbose");
    btz_term_probe(&context->out, STDOUT_FILENO, btz_args_flag(context->args, "no-color"));
    btz_term_probe(&context->err, STDERR_FILENO, btz_args_flag(context->args, "no-color"));
    if (context->csv && !command->csv) {
        fprintf(stderr, "bartizan: %s has no CSV; use --json\n", command->args.name);
        return BTZ_EXIT_USAGE;
    }
    if (context->json && context->csv) {
        fputs("bartizan: --json and --csv cannot go together\n", stderr);
        return BTZ_EXIT_USAGE;
    }
    if (btz_args_flag(context->args, "help")) {
        struct btz_buf out;

        btz_buf_init(&out, 1024 * 1024);
        (void)btz_args_help("bartizan", &command->args, globals, context->out.width, &out);
        rc = btz_cmd_print(&out, &err);
        btz_buf_fini(&out);
    } else {
        rc = command->run(context, &err);
    }
    return rc < 0 ? complain(&err) : rc;
}

int main(int argc, char **argv)
{
    struct btz_context context = {
        .args = btz_args_new(), .arena = btz_arena_new(), .argc = argc, .argv = argv};
    const struct btz_command *command = NULL;
    struct btz_err err = {0};
    int rc = btz_args_start(context.args, globals, argc, argv, &err);

    keep_one_heap();
    hold_standard_files();
    /* A reader that goes away, or a file at its limit, is an error of a write, not the end of a
     * run. */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    btz_term_probe(&context.out, STDOUT_FILENO, true);
    if (rc != BTZ_OK) {
        rc = complain(&err);
    } else if (!btz_args_word(context.args)) {
        if (btz_args_flag(context.args, "version")) {
            rc = print_version();
        } else if (btz_args_flag(context.args, "help")) {
            rc = print_program_help(&context.out);
        } else {
            (void)print_program_help(&context.out);
            rc = BTZ_EXIT_USAGE;
        }
    } else if (!(command = find_command(btz_args_word(context.args), &err))) {
        rc = complain(&err);
    } else if (!command->parts || (command = find_part(command, &context, &rc))) {
        rc = run_command(command, &context);
    }
    btz_args_free(context.args);
    btz_arena_free(context.arena);
    return rc;
}
