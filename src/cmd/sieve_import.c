/* sieve import: definitions out of files that the user has. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/sieve.h"
#include "sieve/import.h"

enum { OUT_MAX = 1024 * 1024 * 1024 };

struct work {
    struct btz_context *context;
    const char *out;
    struct btz_json *seen;
    struct btz_json *rows;
    struct btz_buf text; /* for people */
};

/* Ids that the output has already. */
static int read_seen(struct work *w, struct btz_err *err)
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
        btz_json_set(w->context->arena, w->seen, definition.id,
                     btz_json_new_bool(w->context->arena, true));
        btz_arena_reset(scratch);
    }
    btz_sieve_reader_free(reader);
    btz_arena_free(scratch);
    return rc == BTZ_EAGAIN ? BTZ_OK : rc;
}

static void add_row(struct work *w, const char *path, const struct btz_sieve_import_counts *counts)
{
    struct btz_arena *arena = w->context->arena;
    struct btz_json *row = btz_json_new_object(arena);

    btz_json_set_strz(arena, row, "file", path);
    btz_json_set_strz(arena, row, "kind", counts->kind);
    btz_json_set_int(arena, row, "definitions", counts->definitions);
    btz_json_set_int(arena, row, "twice", counts->twice);
    btz_json_set_int(arena, row, "nameless", counts->nameless);
    btz_json_set_int(arena, row, "wrong", counts->wrong);
    btz_json_push(arena, w->rows, row);
    (void)btz_term_add_text(&w->text, btz_str_of(path), SIZE_MAX);
    (void)btz_buf_printf(&w->text, ": %lld definitions (%s", (long long)counts->definitions,
                         counts->kind);
    if (counts->twice) {
        (void)btz_buf_printf(&w->text, "; %lld were there", (long long)counts->twice);
    }
    if (counts->nameless) {
        (void)btz_buf_printf(&w->text, "; %lld nameless or too large", (long long)counts->nameless);
    }
    if (counts->wrong) {
        (void)btz_buf_printf(&w->text, "; %lld flagged as wrong", (long long)counts->wrong);
    }
    (void)btz_buf_add_text(&w->text, ")\n");
}

static int append(const char *path, const struct btz_buf *text, struct btz_err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    size_t done = 0;
    bool fine = fd >= 0;

    while (fine && done < text->len) {
        ssize_t put = write(fd, text->ptr + done, text->len - done);

        fine = put >= 0 || errno == EINTR;
        done += put > 0 ? (size_t)put : 0;
    }
    fine = fine && fsync(fd) == 0;
    if (fd >= 0) {
        fine &= close(fd) == 0;
    }
    return fine ? BTZ_OK
                : btz_err_set(err, BTZ_EIO, "%s cannot be written: %s", path, strerror(errno));
}

static int import_all(struct work *w, struct btz_err *err)
{
    struct btz_args *args = w->context->args;
    const struct btz_sieve_import_options options = {
        .source = btz_str_of(btz_args_text(args, "source", NULL)),
        .collected = btz_cmd_sieve_today(w->context->arena),
        .mcptox_unchecked = btz_args_flag(args, "mcptox-unchecked")};
    struct btz_buf lines;
    int rc = BTZ_OK;

    btz_buf_init(&lines, OUT_MAX);
    for (size_t i = 0; rc == BTZ_OK && i < btz_args_count(args); i++) {
        struct btz_sieve_import_counts counts;

        rc = btz_sieve_import(w->context->arena, btz_args_positional(args, i), &options, w->seen,
                              &lines, &counts, err);
        if (rc == BTZ_OK && counts.definitions + counts.twice == 0) {
            rc = btz_err_set(err, BTZ_EINVAL,
                             "there is no definition in it; %lld were left out because they have "
                             "no \"name\" or are too large",
                             (long long)counts.nameless);
            btz_err_at(err, btz_args_positional(args, i), 0, 0);
        }
        if (rc == BTZ_OK) {
            add_row(w, btz_args_positional(args, i), &counts);
        }
    }
    if (rc == BTZ_OK) { /* all or nothing */
        rc = append(w->out, &lines, err);
    }
    btz_buf_fini(&lines);
    return rc;
}

static int run(struct btz_context *context, struct btz_err *err)
{
    struct work w = {.context = context,
                     .out = btz_args_text(context->args, "out", NULL),
                     .seen = btz_json_new_object(context->arena),
                     .rows = btz_json_new_array(context->arena)};
    int rc;

    if (!w.out) {
        return btz_err_set(err, BTZ_EUSAGE, "--out FILE is needed: where the definitions go");
    }
    btz_buf_init(&w.text, 1024 * 1024);
    rc = btz_sieve_frozen_keep(w.out, err);
    rc = rc ? rc : read_seen(&w, err);
    if (rc == BTZ_OK) {
        rc = import_all(&w, err);
    }
    if (rc == BTZ_OK && context->json) {
        struct btz_json *out = btz_json_new_object(context->arena);

        btz_json_set_strz(context->arena, out, "out", w.out);
        btz_json_setz(context->arena, out, "files", w.rows);
        rc = btz_cmd_print_json(context, out, err);
    } else if (rc == BTZ_OK) {
        rc = btz_cmd_print(&w.text, err);
    }
    btz_buf_fini(&w.text);
    return rc;
}

static const struct btz_option options[] = {
    {"out", 'o', BTZ_OPTION_TEXT, "FILE", "definitions are added to this JSONL file", 0, 0},
    {"source", 0, BTZ_OPTION_TEXT, "NAME",
     "source of tools that tell none, the cluster of the statistics (default: file:NAME)", 0, 0},
    {"mcptox-unchecked", 0, BTZ_OPTION_FLAG, NULL,
     "for tests: take a file of MCPTox's layout that is not the known copy; its sources begin with "
     "unchecked-",
     0, 0},
    {NULL, 0, BTZ_OPTION_FLAG, NULL, NULL, 0, 0},
};
static const char *const usage[] = {"FILE... --out FILE", NULL};
static const char *const examples[] = {
    "bartizan sieve import tools-list.json --out definitions.jsonl --source npm:my-server",
    "bartizan sieve import harvest-a.jsonl harvest-b.jsonl --out all.jsonl",
    "bartizan sieve import response_all.json --out mcptox.jsonl", NULL};

const struct btz_command btz_sieve_import_command = {
    .args = {.name = "sieve import",
             .summary = "take definitions from a tools/list result, JSONL, a harvest or MCPTox",
             .usage = usage,
             .options = options,
             .examples = examples,
             .min_positionals = 1,
             .max_positionals = 1000},
    .run = run,
};
