/* The list of a run's trials. */
#include "report/show_int.h"

struct list {
    const struct btz_show_options *options;
    struct btz_arena *arena;
    struct btz_buf *out;
    struct btz_store_row *rows; /* texts in `arena` */
    size_t count, cap;
    int64_t superseded;
    bool dropped; /* columns were left out */
};

int show_load(struct btz_store *store, int64_t no, int64_t n, struct btz_arena *arena,
              struct btz_store_run *run, struct btz_store_row *row, struct btz_err *err)
{
    int rc = report_find_run(store, no, arena, run, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    if (n < 1 || n > run->trials) {
        return run->trials ? btz_err_set(err, BTZ_ENOTFOUND,
                                         "run %s has no trial %lld; its trials are 1 to %lld",
                                         run->id, (long long)n, (long long)run->trials)
                           : btz_err_set(err, BTZ_ENOTFOUND, "run %s has no trial yet", run->id);
    }
    return btz_store_trial_load(store, no, n, arena, row, err);
}

static void keep(struct list *l, const struct btz_store_row *row)
{
    struct btz_store_row *r;

    if (l->count == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 64;
        struct btz_store_row *grown = btz_arena_array(l->arena, cap, sizeof(*grown));

        if (l->count) {
            memcpy(grown, l->rows, l->count * sizeof(*grown));
        }
        l->rows = grown;
        l->cap = cap;
    }
    r = &l->rows[l->count++];
    *r = *row;
    r->cell.model = btz_arena_dup(l->arena, row->cell.model);
    r->cell.architecture = btz_arena_dup(l->arena, row->cell.architecture);
    r->cell.defence = btz_arena_dup(l->arena, row->cell.defence);
    r->cell.revision = btz_arena_dup(l->arena, row->cell.revision);
    r->cell.attack = btz_arena_dup(l->arena, row->cell.attack);
    r->cell.variant = btz_arena_dup(l->arena, row->cell.variant);
    r->cell.arm = btz_arena_dup(l->arena, row->cell.arm);
    r->trial.sub = btz_arena_dup(l->arena, row->trial.sub);
}

static int read_rows(struct list *l, struct btz_store *store, int64_t no, struct btz_err *err)
{
    struct btz_store_rows *rows = NULL;
    struct btz_store_row row;
    int rc = btz_store_rows_open(store, no, BTZ_STORE_BY_NUMBER, &rows, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    while ((rc = btz_store_rows_next(rows, &row, err)) == 1) {
        l->superseded += !row.current;
        if (row.current || l->options->verbose) {
            keep(l, &row);
        }
    }
    btz_store_rows_free(rows);
    return rc;
}

static enum btz_colour outcome_colour(enum btz_store_outcome outcome)
{
    switch (outcome) {
    case BTZ_STORE_SUSCEPTIBLE:
    case BTZ_STORE_BELOW:
    case BTZ_STORE_ANOMALY:
        return BTZ_COLOUR_RED;
    case BTZ_STORE_FAULT:
    case BTZ_STORE_UNFINISHED:
        return BTZ_COLOUR_YELLOW;
    default:
        return BTZ_COLOUR_NONE;
    }
}

/* A fault's reason can be long; the trial itself shows all of it. */
static struct btz_str sub_text(struct btz_str sub)
{
    enum { MOST = 28 };
    size_t len = sub.len < MOST ? sub.len : MOST;

    while (len < sub.len && len > 0 && ((unsigned char)sub.ptr[len] & 0xc0) == 0x80) {
        len--;
    }
    return btz_str_sub(sub, 0, len);
}

static struct btz_str number_text(struct btz_arena *arena, int64_t n)
{
    return n < 0 ? BTZ_STR("-") : btz_arena_printf(arena, "%lld", (long long)n);
}

enum {
    N,
    MODEL,
    SCENARIO,
    ARM,
    ARCHITECTURE,
    DEFENCE,
    REVISION,
    REPETITION,
    OUTCOME,
    SUB,
    UTILITY,
    TURNS,
    INPUT,
    OUTPUT,
    TIME,
    COLUMNS
};

static struct btz_str cell_text(struct list *l, const struct btz_store_row *row, int column)
{
    switch (column) {
    case N:
        return number_text(l->arena, row->n);
    case MODEL:
        return row->cell.model;
    case SCENARIO:
        return btz_arena_printf(l->arena, "%.*s/%.*s", BTZ_FMT(row->cell.attack),
                                BTZ_FMT(row->cell.variant));
    case ARM:
        return row->cell.arm;
    case ARCHITECTURE:
        return row->cell.architecture;
    case DEFENCE:
        return row->cell.defence;
    case REVISION:
        return row->cell.revision;
    case REPETITION:
        return number_text(l->arena, row->cell.repetition);
    case OUTCOME:
        return btz_arena_printf(l->arena, "%s%s", btz_store_outcome_name(row->trial.outcome),
                                row->current ? "" : ", superseded");
    case SUB:
        return sub_text(row->trial.sub);
    case UTILITY:
        return row->trial.utility == BTZ_STORE_UNKNOWN ? BTZ_STR("-")
               : row->trial.utility == BTZ_STORE_YES   ? BTZ_STR("yes")
                                                       : BTZ_STR("no");
    case TURNS:
        return number_text(l->arena, row->trial.turns);
    case INPUT:
        return number_text(l->arena, row->trial.tokens.input);
    case OUTPUT:
        return number_text(l->arena, row->trial.tokens.output);
    default:
        return text_seconds(l->arena, row->trial.took_us);
    }
}

static const struct btz_column columns[COLUMNS] = {
    [N] = {"n", BTZ_ALIGN_RIGHT},
    [MODEL] = {"model", BTZ_ALIGN_LEFT},
    [SCENARIO] = {"scenario", BTZ_ALIGN_LEFT},
    [ARM] = {"arm", BTZ_ALIGN_LEFT},
    [ARCHITECTURE] = {"architecture", BTZ_ALIGN_LEFT},
    [DEFENCE] = {"defence", BTZ_ALIGN_LEFT},
    [REVISION] = {"revision", BTZ_ALIGN_LEFT},
    [REPETITION] = {"rep", BTZ_ALIGN_RIGHT},
    [OUTCOME] = {"outcome", BTZ_ALIGN_LEFT},
    [SUB] = {"sub", BTZ_ALIGN_LEFT},
    [UTILITY] = {"utility", BTZ_ALIGN_LEFT},
    [TURNS] = {"turns", BTZ_ALIGN_RIGHT},
    [INPUT] = {"tokens in", BTZ_ALIGN_RIGHT},
    [OUTPUT] = {"out", BTZ_ALIGN_RIGHT},
    [TIME] = {"time", BTZ_ALIGN_RIGHT},
};

/* On a terminal a table that is too wide gives up, in this order, what the JSON form keeps. */
static const int gives_up[] = {MODEL, TIME, OUTPUT, INPUT, TURNS, SUB, REPETITION};

/* Architecture, defence and revision are columns only in a run that has several. */
static bool has_column(struct list *l, int column)
{
    if (column != ARCHITECTURE && column != DEFENCE && column != REVISION) {
        return true;
    }
    for (size_t i = 1; i < l->count; i++) {
        if (!btz_str_eq(cell_text(l, &l->rows[i], column), cell_text(l, &l->rows[0], column))) {
            return true;
        }
    }
    return false;
}

static size_t choose(struct list *l, struct btz_str model, bool *shown)
{
    size_t widths[COLUMNS];
    size_t used = 0;
    size_t dropped = 0;

    for (int c = 0; c < COLUMNS; c++) {
        widths[c] = btz_term_text_width(btz_str_of(columns[c].title));
        for (size_t i = 0; i < l->count; i++) {
            size_t own = btz_term_text_width(cell_text(l, &l->rows[i], c));

            widths[c] =
                own > widths[c] && btz_str_eq(l->rows[i].cell.model, model) ? own : widths[c];
        }
        shown[c] = has_column(l, c);
        used += shown[c] ? widths[c] + (c ? 2 : 0) : 0;
    }
    for (size_t i = 0; i < sizeof(gives_up) / sizeof(gives_up[0]) &&
                       l->options->term->is_terminal && used > l->options->term->width;
         i++) {
        used -= widths[gives_up[i]] + 2;
        shown[gives_up[i]] = false;
        dropped += gives_up[i] != MODEL;
    }
    return dropped;
}

static int print_model(struct list *l, struct btz_str model, struct btz_err *err)
{
    struct btz_column chosen[COLUMNS];
    bool shown[COLUMNS];
    size_t count = 0;
    size_t dropped = choose(l, model, shown);
    struct btz_table *table;
    int rc;

    for (int c = 0; c < COLUMNS; c++) {
        if (shown[c]) {
            chosen[count++] = columns[c];
        }
    }
    (void)btz_buf_add_byte(l->out, '\n');
    lines_text(l->out, l->options->term, 0, BTZ_COLOUR_BOLD, model);
    table = btz_table_new(chosen, count);
    for (size_t i = 0; i < l->count; i++) {
        const struct btz_store_row *row = &l->rows[i];

        for (int c = 0; c < COLUMNS && btz_str_eq(row->cell.model, model); c++) {
            if (shown[c]) {
                btz_table_cell(table, cell_text(l, row, c),
                               c == OUTCOME ? outcome_colour(row->trial.outcome) : BTZ_COLOUR_NONE);
            }
        }
    }
    rc = btz_table_print(table, l->options->term->colour, l->out);
    btz_table_free(table);
    if (rc != BTZ_OK) {
        return btz_err_set(err, rc, "the run has too many trials for a table; use --json");
    }
    l->dropped = l->dropped || dropped;
    return BTZ_OK;
}

static int print_list(struct list *l, const struct btz_store_run *run, struct btz_err *err)
{
    int rc = BTZ_OK;

    lines_text(l->out, l->options->term, 0, BTZ_COLOUR_BOLD,
               btz_arena_printf(l->arena, "Run %s: study %.*s, %s, %lld of %lld trials finished",
                                run->id, BTZ_FMT(run->study),
                                btz_store_run_status_name(run->status), (long long)run->finished,
                                (long long)run->planned));
    for (size_t i = 0; rc == BTZ_OK && i < l->count; i++) {
        bool new = true;

        for (size_t k = 0; new &&k < i; k++) {
            new = !btz_str_eq(l->rows[k].cell.model, l->rows[i].cell.model);
        }
        if (new) {
            rc = print_model(l, l->rows[i].cell.model, err);
        }
    }
    if (l->dropped) {
        lines_text(l->out, l->options->term, 0, BTZ_COLOUR_DIM,
                   BTZ_STR("\nA wider terminal shows more columns; --json has all."));
    }
    if (l->superseded && !l->options->verbose) {
        lines_text(l->out, l->options->term, 0, BTZ_COLOUR_NONE,
                   btz_arena_printf(l->arena,
                                    "%lld faults that a later attempt superseded are not listed "
                                    "(--verbose lists them).",
                                    (long long)l->superseded));
    }
    if (l->count) {
        lines_text(l->out, l->options->term, 0, BTZ_COLOUR_NONE,
                   btz_arena_printf(l->arena, "\n`bartizan show %s N` shows one trial.", run->id));
    }
    return rc;
}

int btz_show_run(struct btz_store *store, int64_t run, const struct btz_show_options *options,
                 struct btz_buf *out, struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    struct list l = {.options = options, .arena = arena, .out = out};
    struct btz_store_run found;
    struct btz_err ignored;
    bool snapshot = btz_store_snapshot_begin(store, &ignored) == BTZ_OK;
    int rc = report_find_run(store, run, arena, &found, err);

    if (rc == BTZ_OK) {
        rc = read_rows(&l, store, run, err);
    }
    if (rc == BTZ_OK) {
        rc = print_list(&l, &found, err);
    }
    if (rc == BTZ_OK && btz_buf_status(out) != BTZ_OK) {
        rc = btz_err_set(err, BTZ_ELIMIT, "the list is too large");
    }
    if (snapshot) {
        btz_store_snapshot_end(store);
    }
    btz_arena_free(arena);
    return rc;
}
