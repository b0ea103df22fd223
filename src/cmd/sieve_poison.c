/* sieve poison: makes attacks, twins and hard negatives from definitions. */
#include <errno.h>
#include <stdio.h>

#include "base/file.h"
#include "cmd/sieve.h"
#include "sieve/poison.h"

struct work {
    struct btz_context *context;
    struct btz_sieve_family *families;
    size_t family_count;
    struct btz_sieve_poison *poison;
    const char *out;
    int64_t items;
};

static int choose_families(struct work *w, struct btz_err *err)
{
    struct btz_context *context = w->context;
    const char *const *folders = NULL;
    const char *const *wanted = NULL;
    size_t folder_count = btz_args_list(context->args, "families", &folders);
    size_t wanted_count = btz_args_list(context->args, "family", &wanted);
    size_t kept = 0;
    int rc;

    if (btz_args_flag(context->args, "held-out") && btz_args_flag(context->args, "no-held-out")) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "--held-out and --no-held-out leave no family together: give one");
    }
    rc = btz_sieve_families_load(context->arena, folders, folder_count, &w->families,
                                 &w->family_count, err);
    if (rc != BTZ_OK) {
        return rc;
    }
    for (size_t k = 0; k < wanted_count; k++) {
        size_t i = 0;

        while (i < w->family_count && !btz_str_is(w->families[i].name, wanted[k])) {
            i++;
        }
        if (i == w->family_count) {
            return btz_err_set(err, BTZ_EUSAGE,
                               "there is no family \"%.60s\"; `bartizan sieve poison --list` names "
                               "them",
                               wanted[k]);
        }
    }
    for (size_t i = 0; i < w->family_count; i++) {
        bool take = wanted_count == 0;

        for (size_t k = 0; k < wanted_count; k++) {
            take |= btz_str_is(w->families[i].name, wanted[k]);
        }
        take &= !btz_args_flag(context->args, "held-out") || w->families[i].held_out;
        take &= !btz_args_flag(context->args, "no-held-out") || !w->families[i].held_out;
        if (take) {
            w->families[kept++] = w->families[i];
        }
    }
    w->family_count = kept;
    return kept ? BTZ_OK : btz_err_set(err, BTZ_EUSAGE, "no family is left to work with");
}

static int list_families(struct work *w, struct btz_err *err)
{
    static const struct btz_column columns[] = {
        {"family", BTZ_ALIGN_LEFT},   {"kind", BTZ_ALIGN_LEFT},     {"paradigm", BTZ_ALIGN_LEFT},
        {"held out", BTZ_ALIGN_LEFT}, {"language", BTZ_ALIGN_LEFT}, {"risks", BTZ_ALIGN_RIGHT},
        {"register", BTZ_ALIGN_LEFT}};
    struct btz_table *table = btz_table_new(columns, 7);
    struct btz_buf out;
    int rc;

    for (size_t i = 0; i < w->family_count; i++) {
        const struct btz_sieve_family *family = &w->families[i];
        const char *paradigm = btz_sieve_paradigm_name(family->paradigm);
        size_t risks = 0;

        for (int r = 0; r < BTZ_SIEVE_RISKS; r++) {
            risks += family->reasons[r].len > 0;
        }
        btz_table_cell(table, family->name, BTZ_COLOUR_NONE);
        btz_table_cell(table, btz_str_of(family->negative ? "negative" : "attack"),
                       BTZ_COLOUR_NONE);
        btz_table_cell(table, btz_str_of(paradigm ? paradigm : "-"), BTZ_COLOUR_NONE);
        btz_table_cell(table, btz_str_of(family->held_out ? "yes" : "no"), BTZ_COLOUR_NONE);
        btz_table_cell(table, family->language, BTZ_COLOUR_NONE);
        btz_table_printf(table, BTZ_COLOUR_NONE, "%zu", risks);
        btz_table_cell(table, family->manner, BTZ_COLOUR_NONE);
    }
    btz_buf_init(&out, 1024 * 1024);
    rc = btz_table_print(table, w->context->out.colour, &out);
    rc = rc ? btz_err_set(err, rc, "the table is too large") : btz_cmd_print(&out, err);
    btz_buf_fini(&out);
    btz_table_free(table);
    return rc;
}

static int read_definitions(struct work *w, struct btz_err *err)
{
    int rc = BTZ_OK;

    for (size_t i = 0; rc == BTZ_OK && i < btz_args_count(w->context->args); i++) {
        struct btz_sieve_reader *reader = NULL;

        rc = btz_sieve_reader_open(btz_args_positional(w->context->args, i), &reader, err);
        if (rc == BTZ_OK) {
            rc = btz_sieve_poison_add(w->poison, reader, err);
        }
        btz_sieve_reader_free(reader);
    }
    return rc;
}

static int write_items(struct work *w, FILE *file, struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    int64_t limit = btz_args_int(w->context->args, "limit", INT64_MAX);
    struct btz_sieve_item items[2];
    struct btz_buf line;
    size_t made;
    int rc = BTZ_OK;

    btz_buf_init(&line, 4 * (size_t)BTZ_SIEVE_LINE_MAX);
    while (rc == BTZ_OK && w->items < limit &&
           (made = btz_sieve_poison_next(w->poison, arena, items)) > 0) {
        btz_buf_reset(&line);
        for (size_t i = 0; i < made; i++) {
            btz_sieve_item_write(&line, &items[i]);
        }
        w->items += (int64_t)made;
        if (btz_buf_status(&line) || fwrite(line.ptr, 1, line.len, file) != line.len) {
            rc = btz_err_set(err, BTZ_EIO, "%s cannot be written: %s", w->out, strerror(errno));
        }
        btz_arena_reset(arena);
    }
    btz_buf_fini(&line);
    btz_arena_free(arena);
    return rc;
}

/* Nothing could be made: why not, for how many definitions. */
static int no_items(struct work *w, struct btz_err *err)
{
    const struct btz_sieve_poison_stats *stats = btz_sieve_poison_stats(w->poison);
    struct btz_str why = BTZ_STR("");

    for (int s = 0; s < BTZ_SIEVE_SKIPS; s++) {
        int64_t count = 0;

        for (int p = 0; p <= BTZ_SIEVE_PARADIGMS; p++) {
            count = stats->skipped[p][s] > count ? stats->skipped[p][s] : count;
        }
        if (count) {
            why = btz_arena_printf(w->context->arena, "%.*s%s%s (%lld)", BTZ_FMT(why),
                                   why.len ? ", " : "", btz_sieve_skip_name((enum btz_sieve_skip)s),
                                   (long long)count);
        }
    }
    return btz_err_set(err, BTZ_EINVAL,
                       "no item can be made of %lld definition%s of %lld "
                       "server%s: %.*s",
                       (long long)stats->definitions, stats->definitions == 1 ? "" : "s",
                       (long long)stats->clusters, stats->clusters == 1 ? "" : "s", BTZ_FMT(why));
}

static int write_file(struct work *w, struct btz_err *err)
{
    FILE *file = NULL;
    int rc = btz_file_new(w->out, &file, err);
    int closed;

    if (rc != BTZ_OK) {
        return rc == BTZ_EEXISTS ? BTZ_EUSAGE : rc;
    }
    rc = write_items(w, file, err);
    rc = rc || w->items ? rc : no_items(w, err);
    closed = btz_file_publish(file, w->out, rc == BTZ_OK, rc == BTZ_OK ? err : NULL);
    return rc ? rc : closed;
}

/* ---- The summary ---- */

static struct btz_json *summary(struct work *w)
{
    struct btz_arena *arena = w->context->arena;
    const struct btz_sieve_poison_stats *stats = btz_sieve_poison_stats(w->poison);
    struct btz_json *out = btz_json_new_object(arena);
    struct btz_json *pairs = btz_json_new_object(arena);
    struct btz_json *families = btz_json_new_object(arena);
    struct btz_json *skipped = btz_json_new_object(arena);

    btz_json_set_strz(arena, out, "out", w->out);
    btz_json_set_int(arena, out, "definitions", stats->definitions);
    btz_json_set_int(arena, out, "clusters", stats->clusters);
    btz_json_set_int(arena, out, "items", w->items);
    btz_json_set_int(arena, out, "negatives", stats->negatives);
    for (int p = 0; p < BTZ_SIEVE_PARADIGMS; p++) {
        struct btz_json *row = btz_json_new_object(arena);

        for (int r = 0; r < BTZ_SIEVE_RISKS; r++) {
            btz_json_set_int(arena, row, btz_sieve_risk_name((enum btz_sieve_risk)r),
                             stats->pairs[p][r]);
        }
        btz_json_setz(arena, pairs, btz_sieve_paradigm_name((enum btz_sieve_paradigm)p), row);
    }
    for (size_t i = 0; i < w->family_count; i++) {
        btz_json_set(arena, families, w->families[i].name,
                     btz_json_new_int(arena, stats->families[i]));
    }
    for (int p = 0; p <= BTZ_SIEVE_PARADIGMS; p++) {
        struct btz_json *row = btz_json_new_object(arena);
        const char *name = btz_sieve_paradigm_name((enum btz_sieve_paradigm)p);

        for (int s = 0; s < BTZ_SIEVE_SKIPS; s++) {
            btz_json_set_int(arena, row, btz_sieve_skip_name((enum btz_sieve_skip)s),
                             stats->skipped[p][s]);
        }
        btz_json_setz(arena, skipped, name ? name : "negative", row);
    }
    btz_json_setz(arena, out, "pairs", pairs);
    btz_json_setz(arena, out, "families", families);
    btz_json_setz(arena, out, "skipped", skipped);
    return out;
}

static void add_pairs(struct work *w, struct btz_buf *out)
{
    static const struct btz_column columns[] = {{"pairs", BTZ_ALIGN_LEFT},
                                                {"P1", BTZ_ALIGN_RIGHT},
                                                {"P2", BTZ_ALIGN_RIGHT},
                                                {"P3", BTZ_ALIGN_RIGHT}};
    const struct btz_sieve_poison_stats *stats = btz_sieve_poison_stats(w->poison);
    struct btz_table *table = btz_table_new(columns, 4);

    for (int r = 0; r < BTZ_SIEVE_RISKS; r++) {
        btz_table_cell(table, btz_str_of(btz_sieve_risk_name((enum btz_sieve_risk)r)),
                       BTZ_COLOUR_NONE);
        for (int p = 0; p < BTZ_SIEVE_PARADIGMS; p++) {
            btz_table_printf(table, BTZ_COLOUR_NONE, "%lld", (long long)stats->pairs[p][r]);
        }
    }
    (void)!btz_table_print(table, w->context->out.colour, out);
    btz_table_free(table);
}

static int print(struct work *w, struct btz_err *err)
{
    const struct btz_sieve_poison_stats *stats = btz_sieve_poison_stats(w->poison);
    struct btz_buf out;
    int rc;

    if (w->context->json) {
        return btz_cmd_print_json(w->context, summary(w), err);
    }
    btz_buf_init(&out, 1024 * 1024);
    add_pairs(w, &out);
    (void)btz_buf_add_text(&out, "\n");
    for (size_t i = 0; i < w->family_count; i++) {
        (void)btz_buf_printf(&out, "%-24.*s %lld\n", BTZ_FMT(w->families[i].name),
                             (long long)stats->families[i]);
    }
    (void)btz_buf_add_text(&out, "\n");
    for (int p = 0; p <= BTZ_SIEVE_PARADIGMS; p++) {
        const char *name = btz_sieve_paradigm_name((enum btz_sieve_paradigm)p);

        for (int s = 0; s < BTZ_SIEVE_SKIPS; s++) {
            if (stats->skipped[p][s]) {
                (void)btz_buf_printf(&out, "no %s for %lld definitions: %s\n",
                                     name ? name : "negative", (long long)stats->skipped[p][s],
                                     btz_sieve_skip_name((enum btz_sieve_skip)s));
            }
        }
    }
    (void)btz_buf_printf(&out, "%lld items in %s, from %lld definitions of %lld servers\n",
                         (long long)w->items, w->out, (long long)stats->definitions,
                         (long long)stats->clusters);
    rc = btz_cmd_print(&out, err);
    btz_buf_fini(&out);
    return rc;
}

static int fill(struct work *w, struct btz_sieve_poison_options *options, struct btz_err *err)
{
    struct btz_context *context = w->context;
    const char *phrasing = btz_args_text(context->args, "phrasing", "mixed");

    w->out = btz_args_text(context->args, "out", NULL);
    if (!w->out || btz_args_count(context->args) == 0) {
        return btz_err_set(
            err, BTZ_EUSAGE,
            "definitions and --out FILE are needed: sieve poison FILE... --out FILE");
    }
    if (strcmp(phrasing, "mixed") == 0) {
        options->phrasing = BTZ_SIEVE_PHRASE_MIXED;
    } else if (strcmp(phrasing, "direct") == 0) {
        options->phrasing = BTZ_SIEVE_PHRASE_DIRECT;
    } else if (strcmp(phrasing, "natural") == 0) {
        options->phrasing = BTZ_SIEVE_PHRASE_NATURAL;
    } else {
        return btz_err_set(err, BTZ_EUSAGE, "--phrasing is mixed, direct or natural");
    }
    options->seed = (uint64_t)btz_args_int(context->args, "seed", 1);
    options->per_definition = (size_t)btz_args_int(context->args, "per-definition", 1);
    options->max_tools = (size_t)btz_args_int(context->args, "tools", 20);
    options->families = w->families;
    options->family_count = w->family_count;
    return BTZ_OK;
}

static int run(struct btz_context *context, struct btz_err *err)
{
    struct work w = {.context = context};
    struct btz_sieve_poison_options options = {0};
    int rc = choose_families(&w, err);

    if (rc == BTZ_OK && btz_args_flag(context->args, "list")) {
        return list_families(&w, err);
    }
    if (rc == BTZ_OK) {
        rc = fill(&w, &options, err);
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    w.poison = btz_sieve_poison_new(&options);
    rc = read_definitions(&w, err);
    if (rc == BTZ_OK) {
        rc = write_file(&w, err);
    }
    if (rc == BTZ_OK) {
        rc = print(&w, err);
    }
    btz_sieve_poison_free(w.poison);
    return rc;
}

static const struct btz_option options[] = {
    {"out", 'o', BTZ_OPTION_TEXT, "FILE", "items go into this new JSONL file", 0, 0},
    {"families", 0, BTZ_OPTION_LIST, "DIR", "more wording families: every *.yaml in it", 0, 0},
    {"family", 0, BTZ_OPTION_LIST, "NAME", "only this family", 0, 0},
    {"held-out", 0, BTZ_OPTION_FLAG, NULL, "only families that are held out", 0, 0},
    {"no-held-out", 0, BTZ_OPTION_FLAG, NULL, "only families that are not: for development", 0, 0},
    {"per-definition", 0, BTZ_OPTION_INT, "N",
     "attacks of each paradigm, each with its twin, and negatives, for one definition (default 1)",
     1, 100},
    {"tools", 0, BTZ_OPTION_INT, "N",
     "other definitions of the server in an item, a choice by seed; 0: all (default 20)", 0, 2000},
    {"phrasing", 0, BTZ_OPTION_TEXT, "HOW", "of the query: mixed (default), direct or natural", 0,
     0},
    {"limit", 0, BTZ_OPTION_INT, "N", "stop after so many items; the last pair stays whole", 1,
     INT64_MAX},
    {"list", 0, BTZ_OPTION_FLAG, NULL, "print the families", 0, 0},
    {NULL, 0, BTZ_OPTION_FLAG, NULL, NULL, 0, 0},
};
static const char *const usage[] = {"DEFINITIONS... --out FILE", "--list", NULL};
static const char *const examples[] = {
    "bartizan sieve poison definitions.jsonl --out items.jsonl",
    "bartizan sieve poison definitions.jsonl --out held.jsonl --families later/ --held-out",
    "bartizan sieve poison definitions.jsonl --out develop.jsonl --no-held-out",
    "bartizan sieve poison --list", NULL};

const struct btz_command btz_sieve_poison_command = {
    .args = {.name = "sieve poison",
             .summary = "make attacks, their benign twins and hard negatives from definitions",
             .usage = usage,
             .options = options,
             .examples = examples,
             .max_positionals = 1000},
    .run = run,
};
