/* sieve harvest: collects the definitions of real servers. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/sieve.h"
#include "drive/harvest.h"
#include "proc/cage.h"
#include "proc/words.h"
#include "sieve/targets.h"

struct work {
    struct btz_context *context;
    struct btz_sieve_target *targets; /* those that are to be asked */
    size_t count, skipped;
    const char *out;
    int fd;
    struct btz_progress progress;
    struct btz_json *rows; /* of the outcomes */
    struct btz_table *table;
    size_t done, listed, refused;
    int64_t definitions;
    struct btz_str today;
};

/* ---- What is asked for ---- */

/* Sources that the output has already. */
static int read_done(struct work *w, struct btz_json *done, struct btz_err *err)
{
    struct btz_arena *scratch = btz_arena_new();
    struct btz_sieve_reader *reader = NULL;
    struct btz_sieve_definition definition;
    int rc = btz_sieve_reader_open(w->out, &reader, err);

    if (rc == BTZ_ENOTFOUND) {
        btz_arena_free(scratch);
        return BTZ_OK;
    }
    while (rc == BTZ_OK &&
           (rc = btz_sieve_definition_next(reader, scratch, &definition, err)) == BTZ_OK) {
        btz_json_set(w->context->arena, done, definition.source,
                     btz_json_new_bool(w->context->arena, true));
        btz_arena_reset(scratch);
    }
    btz_sieve_reader_free(reader);
    btz_arena_free(scratch);
    return rc == BTZ_EAGAIN ? BTZ_OK : rc;
}

static int choose(struct work *w, struct btz_err *err)
{
    struct btz_arena *arena = w->context->arena;
    struct btz_json *done = btz_json_new_object(arena);
    size_t count = 0;
    int rc = btz_sieve_targets_load(arena, btz_args_positional(w->context->args, 0), &w->targets,
                                    &count, err);

    if (rc == BTZ_OK) {
        rc = read_done(w, done, err);
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    for (size_t i = 0; i < count; i++) {
        if (btz_json_get(done, w->targets[i].source)) {
            w->skipped++;
        } else {
            w->targets[w->count++] = w->targets[i];
        }
    }
    return BTZ_OK;
}

static int ask_consent(struct work *w, struct btz_err *err)
{
    struct btz_buf out;
    int rc;

    btz_buf_init(&out, 64 * (size_t)1024 * 1024);
    for (size_t i = 0; i < w->count; i++) {
        (void)btz_term_add_text(&out, w->targets[i].label, 60);
        (void)btz_buf_add_text(&out, ":");
        for (size_t k = 0; k < w->targets[i].word_count; k++) {
            struct btz_buf word;

            btz_buf_init(&word, 1024 * 1024);
            btz_proc_quote(&word, btz_str_of(w->targets[i].argv[k]));
            (void)btz_buf_add_byte(&out, ' ');
            (void)btz_term_add_text(&out, btz_buf_view(&word), SIZE_MAX);
            btz_buf_fini(&word);
        }
        if (w->targets[i].url.len) {
            (void)btz_buf_add_byte(&out, ' ');
            (void)btz_term_add_text(&out, w->targets[i].url, SIZE_MAX);
        }
        (void)btz_buf_add_byte(&out, '\n');
    }
    rc = btz_cmd_print(&out, err);
    btz_buf_fini(&out);
    return rc ? rc
              : btz_err_set(err, BTZ_EUSAGE,
                            "nothing was started: these are programs of other people; --yes starts "
                            "the %zu of the list",
                            w->count);
}

static int add_variables(struct work *w, struct btz_err *err)
{
    const char *const *more = NULL;
    size_t count = btz_args_list(w->context->args, "env", &more);

    for (size_t i = 0; i < count; i++) {
        int rc = btz_sieve_variable_check(btz_str_of(more[i]), err);

        if (rc != BTZ_OK) {
            btz_err_prefix(err, "--env %.40s: ", more[i]);
            err->code = BTZ_EUSAGE;
            return BTZ_EUSAGE;
        }
    }
    for (size_t t = 0; count && t < w->count; t++) {
        const char **env;
        size_t own = 0;

        while (w->targets[t].env[own]) {
            own++;
        }
        env = btz_arena_array(w->context->arena, own + count + 1, sizeof(*env));
        memcpy(env, w->targets[t].env, own * sizeof(*env));
        memcpy(env + own, more, count * sizeof(*env));
        w->targets[t].env = env;
    }
    return BTZ_OK;
}

/* ---- What came ---- */

static int append(struct work *w, const struct btz_buf *text, struct btz_err *err)
{
    size_t done = 0;

    while (done < text->len) {
        ssize_t put = write(w->fd, text->ptr + done, text->len - done);

        if (put < 0 && errno != EINTR) {
            return btz_err_set(err, BTZ_EIO, "%s cannot be written: %s", w->out, strerror(errno));
        }
        done += put > 0 ? (size_t)put : 0;
    }
    return BTZ_OK;
}

/* Definitions of one server into the file, in one piece. */
static int keep_tools(struct work *w, const struct btz_harvest_outcome *outcome, size_t *kept,
                      struct btz_err *err)
{
    const struct btz_sieve_target *target = &w->targets[outcome->target];
    struct btz_arena *scratch = btz_arena_new();
    struct btz_json *seen = btz_json_new_object(scratch);
    struct btz_buf text;
    int rc;

    *kept = 0;
    btz_buf_init(&text, 256 * (size_t)1024 * 1024);
    for (size_t i = 0; i < btz_json_count(outcome->tools); i++) {
        struct btz_sieve_definition definition = {
            .source = target->source,
            .registry = target->registry,
            .package = target->package,
            .package_version = target->package_version,
            .server_name = btz_str_sub(outcome->server_name, 0, 1000),
            .server_version = btz_str_sub(outcome->server_version, 0, 1000),
            .revision = outcome->revision,
            .collected = w->today,
            .tool = btz_json_at(outcome->tools, i)};
        struct btz_err ignored;
        size_t before = text.len;

        if (btz_sieve_definition_seal(scratch, &definition, &ignored) != BTZ_OK ||
            btz_json_get(seen, definition.id)) {
            w->refused++;
            continue;
        }
        btz_json_set(scratch, seen, definition.id, btz_json_new_bool(scratch, true));
        btz_sieve_definition_write(&text, &definition);
        if (btz_buf_status(&text) == BTZ_OK && text.len - before > BTZ_SIEVE_LINE_MAX) {
            text.len = before; /* it could not be read back */
            w->refused++;
            continue;
        }
        (*kept)++;
    }
    rc = btz_buf_status(&text)
             ? btz_err_set(err, BTZ_ELIMIT, "%.*s has too many definitions", BTZ_FMT(target->label))
             : append(w, &text, err);
    btz_buf_fini(&text);
    btz_arena_free(scratch);
    return rc;
}

static void add_row(struct work *w, const struct btz_harvest_outcome *outcome, size_t kept)
{
    struct btz_arena *arena = w->context->arena;
    const struct btz_sieve_target *target = &w->targets[outcome->target];
    struct btz_json *row = btz_json_new_object(arena);

    btz_json_set_str(arena, row, "label", target->label);
    btz_json_set_str(arena, row, "source", target->source);
    btz_json_set_bool(arena, row, "started", outcome->started);
    btz_json_set_bool(arena, row, "listed", outcome->listed);
    btz_json_set_int(arena, row, "tools", (int64_t)kept);
    btz_json_set_str(arena, row, "why", outcome->why);
    btz_json_set_str(arena, row, "stderr", outcome->words);
    btz_json_set_int(arena, row, "ms", outcome->took_us / 1000);
    btz_json_push(arena, w->rows, row);
    btz_table_cell(w->table, target->label, BTZ_COLOUR_NONE);
    btz_table_cell(w->table, btz_str_of(outcome->started ? "yes" : "no"), BTZ_COLOUR_NONE);
    btz_table_cell(w->table, btz_str_of(outcome->listed ? "yes" : "no"),
                   outcome->listed ? BTZ_COLOUR_NONE : BTZ_COLOUR_YELLOW);
    btz_table_printf(w->table, BTZ_COLOUR_NONE, "%zu", kept);
    btz_table_printf(w->table, BTZ_COLOUR_NONE, "%.1f", (double)outcome->took_us / 1e6);
    btz_table_cell(w->table, outcome->why, BTZ_COLOUR_NONE);
}

static void show_progress(struct work *w, struct btz_drive_harvest *harvest)
{
    struct btz_str oldest = BTZ_STR_NONE;
    struct btz_buf out;

    (void)btz_drive_harvest_running(harvest, &oldest);
    btz_buf_init(&out, 65536);
    btz_progress_update(&w->progress, w->done, w->count, oldest, btz_clock_mono_us(), &out);
    (void)fwrite(out.ptr, 1, out.len, stderr);
    btz_buf_fini(&out);
}

static int collect(struct work *w, struct btz_drive_harvest *harvest, struct btz_err *err)
{
    struct btz_harvest_outcome outcome;
    int rc = BTZ_OK;

    for (;;) {
        size_t kept = 0;
        int step = btz_drive_harvest_next(harvest, &outcome);

        if (step == BTZ_EAGAIN || step == BTZ_ECANCELLED) {
            rc = step == BTZ_ECANCELLED ? BTZ_EXIT_INTERRUPTED : rc;
            break;
        }
        if (step == BTZ_OK) {
            rc = outcome.listed ? keep_tools(w, &outcome, &kept, err) : BTZ_OK;
            if (rc != BTZ_OK) {
                break;
            }
            w->done++;
            w->listed += outcome.listed;
            w->definitions += (int64_t)kept;
            add_row(w, &outcome, kept);
        }
        show_progress(w, harvest);
    }
    return rc;
}

static int print(struct work *w, struct btz_err *err)
{
    struct btz_arena *arena = w->context->arena;
    struct btz_json *json;
    struct btz_buf out;
    int rc;

    if (w->context->json) {
        json = btz_json_new_object(arena);
        btz_json_set_strz(arena, json, "out", w->out);
        btz_json_set_int(arena, json, "skipped", (int64_t)w->skipped);
        btz_json_set_int(arena, json, "definitions", w->definitions);
        btz_json_set_int(arena, json, "refused", (int64_t)w->refused);
        btz_json_setz(arena, json, "servers", w->rows);
        return btz_cmd_print_json(w->context, json, err);
    }
    btz_buf_init(&out, 64 * (size_t)1024 * 1024);
    rc = w->done ? btz_table_print(w->table, w->context->out.colour, &out) : BTZ_OK;
    (void)btz_buf_printf(&out, "%s%zu of %zu servers listed %lld definitions", w->done ? "\n" : "",
                         w->listed, w->count, (long long)w->definitions);
    if (w->refused) {
        (void)btz_buf_printf(&out, " (%zu more twice, nameless or too large)", w->refused);
    }
    if (w->skipped) {
        (void)btz_buf_printf(&out, "; %zu were in %s already", w->skipped, w->out);
    }
    (void)btz_buf_add_byte(&out, '\n');
    rc = rc ? btz_err_set(err, rc, "the table is too large") : btz_cmd_print(&out, err);
    btz_buf_fini(&out);
    return rc;
}

/* ---- The run ---- */

/* A relative path is meant from here, not from the private folder. */
static void find_program(struct work *w, struct btz_sieve_target *target)
{
    char path[PATH_MAX];
    const char **argv;

    if (target->argv && target->argv[0][0] != '/' && strchr(target->argv[0], '/') &&
        realpath(target->argv[0], path)) {
        argv = btz_arena_array(w->context->arena, target->word_count + 1, sizeof(*argv));
        memcpy(argv, target->argv, target->word_count * sizeof(*argv));
        argv[0] = btz_arena_dup(w->context->arena, btz_str_of(path)).ptr;
        target->argv = argv;
    }
}

static int start(struct work *w, const char *folder, struct btz_drive_harvest **out,
                 struct btz_err *err)
{
    struct btz_context *context = w->context;
    struct btz_harvest_target *targets =
        btz_arena_array(context->arena, w->count, sizeof(*targets));
    struct btz_harvest_options options = {
        .targets = targets,
        .count = w->count,
        .jobs = (unsigned)btz_args_int(context->args, "jobs", 4),
        .timeout_us = btz_args_int(context->args, "timeout", 30) * 1000000,
        .folder = folder,
        .namespaces = btz_proc_cage_works(folder),
        .network = btz_args_flag(context->args, "network"),
        .memory = (uint64_t)btz_args_int(context->args, "memory", 4096) * 1024 * 1024};

    if (!options.namespaces) {
        btz_cmd_note(context, "no namespaces for this user here: servers run with limits and a "
                              "private folder, but can reach the network and this user's files");
    }
    for (size_t i = 0; i < w->count; i++) {
        find_program(w, &w->targets[i]);
        targets[i] = (struct btz_harvest_target){w->targets[i].label, w->targets[i].argv,
                                                 w->targets[i].url, w->targets[i].env};
    }
    return btz_drive_harvest_new(&options, out, err);
}

static int run_all(struct work *w, struct btz_err *err)
{
    const char *base = getenv("TMPDIR");
    char wanted[PATH_MAX];
    char folder[PATH_MAX];
    struct btz_drive_harvest *harvest = NULL;
    struct btz_buf out;
    int rc;

    (void)snprintf(wanted, sizeof(wanted), "%s/bartizan-harvest-XXXXXX",
                   base && *base ? base : "/tmp");
    if (!mkdtemp(wanted) || !realpath(wanted, folder)) {
        return btz_err_set(err, BTZ_EIO, "no temporary folder can be made: %s", strerror(errno));
    }
    btz_progress_init(&w->progress, &w->context->err, w->context->quiet, 0, btz_clock_mono_us());
    rc = start(w, folder, &harvest, err);
    if (rc == BTZ_OK) {
        rc = collect(w, harvest, err);
    }
    btz_drive_harvest_free(harvest);
    (void)rmdir(folder); /* empty by now */
    btz_buf_init(&out, 65536);
    btz_progress_finish(&w->progress, w->done, w->count, btz_clock_mono_us(), &out);
    (void)fwrite(out.ptr, 1, out.len, stderr);
    btz_buf_fini(&out);
    if (w->fd >= 0 && fsync(w->fd) != 0 && rc == BTZ_OK) {
        rc = btz_err_set(err, BTZ_EIO, "%s cannot be written: %s", w->out, strerror(errno));
    }
    return rc;
}

static int run(struct btz_context *context, struct btz_err *err)
{
    static const struct btz_column columns[] = {
        {"server", BTZ_ALIGN_LEFT}, {"started", BTZ_ALIGN_LEFT}, {"listed", BTZ_ALIGN_LEFT},
        {"tools", BTZ_ALIGN_RIGHT}, {"s", BTZ_ALIGN_RIGHT},      {"why not", BTZ_ALIGN_LEFT}};
    struct work w = {.context = context,
                     .out = btz_args_text(context->args, "out", NULL),
                     .fd = -1,
                     .rows = btz_json_new_array(context->arena),
                     .today = btz_cmd_sieve_today(context->arena)};
    int rc;
    int end;

    if (!w.out) {
        return btz_err_set(err, BTZ_EUSAGE, "--out FILE is needed: where the definitions go");
    }
    rc = btz_sieve_frozen_keep(w.out, err);
    rc = rc ? rc : choose(&w, err);
    if (rc == BTZ_OK) {
        rc = add_variables(&w, err);
    }
    if (rc == BTZ_OK && w.count && !btz_args_flag(context->args, "yes")) {
        rc = ask_consent(&w, err);
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    w.fd = open(w.out, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (w.fd < 0) {
        return btz_err_set(err, BTZ_EIO, "%s cannot be written: %s", w.out, strerror(errno));
    }
    w.table = btz_table_new(columns, 6);
    rc = w.count ? run_all(&w, err) : BTZ_OK;
    if (rc >= 0) {
        end = print(&w, err);
        rc = end ? end : rc ? rc : w.listed < w.count ? BTZ_EXIT_FAILED : BTZ_EXIT_DONE;
    }
    btz_table_free(w.table);
    (void)close(w.fd);
    return rc;
}

static const struct btz_option options[] = {
    {"yes", 'y', BTZ_OPTION_FLAG, NULL,
     "start the programs of the list; without it they are printed and nothing starts", 0, 0},
    {"out", 'o', BTZ_OPTION_TEXT, "FILE",
     "definitions are added to this JSONL file; servers that are in it are skipped", 0, 0},
    {"jobs", 'j', BTZ_OPTION_INT, "N", "servers at once (default 4)", 1, 64},
    {"timeout", 0, BTZ_OPTION_INT, "SECONDS", "for one server, start to list (default 30)", 1,
     3600},
    {"memory", 0, BTZ_OPTION_INT, "MIB", "private memory of one process (default 4096)", 64,
     100000000},
    {"env", 0, BTZ_OPTION_LIST, "NAME=VALUE",
     "a variable for all of them; nothing of this environment but PATH, LANG, LC_ALL, TZ and the "
     "places of certificates is passed on",
     0, 0},
    {"network", 0, BTZ_OPTION_FLAG, NULL,
     "let programs reach the network (URLs of the list are always asked)", 0, 0},
    {NULL, 0, BTZ_OPTION_FLAG, NULL, NULL, 0, 0},
};
static const char *const usage[] = {"LIST --out FILE --yes", NULL};
static const char *const examples[] = {
    "bartizan sieve harvest servers.yaml --out definitions.jsonl",
    "bartizan sieve harvest servers.yaml --out definitions.jsonl --yes --jobs 8",
    "bartizan sieve harvest servers.jsonl --out definitions.jsonl --yes --env GITHUB_TOKEN=dummy",
    NULL};

const struct btz_command btz_sieve_harvest_command = {
    .args = {.name = "sieve harvest",
             .summary = "collect tool definitions from servers: lists, never calls",
             .usage = usage,
             .options = options,
             .examples = examples,
             .min_positionals = 1,
             .max_positionals = 1},
    .run = run,
};
