/* The sieve's report for people. */
#include <math.h>

#include "report/sieve_int.h"

enum { COLUMNS_MAX = 24 };

struct sieve_spent sieve_spent_of(const struct btz_sieve_report *report, struct btz_str model)
{
    struct sieve_spent spent = {0};

    for (size_t i = 0; i < report->answers.count; i++) {
        const struct sieve_row *row = &report->answers.rows[i];

        if (btz_str_eq(report->subjects[row->subject].model, model)) {
            bool known = row->tokens_in >= 0 && row->tokens_out >= 0;

            spent.answers++;
            spent.known += known;
            spent.in += known ? row->tokens_in : 0;
            spent.out += known ? row->tokens_out : 0;
        }
    }
    return spent;
}

struct paper {
    const struct btz_sieve_report *report;
    const struct btz_term *term;
    struct btz_buf *out;
    struct btz_arena *arena;
};

/* ---- figures of a table: arms down, measures across ---- */

static bool is_of(const struct sieve_figure *f, const char *table,
                  const struct sieve_subject *subject, struct btz_str index)
{
    return strcmp(f->table, table) == 0 && !f->not_looked_for &&
           (subject ? btz_str_eq(f->model, subject->model) &&
                          btz_str_eq(f->retrieval, subject->retrieval) &&
                          btz_str_eq(f->index, subject->index)
                    : f->model.len == 0 && (index.ptr == NULL || btz_str_eq(f->index, index)));
}

/* What stands across: the measures of one denominator, or the denominators of one measure. */
enum across { MEASURES, DENOMINATORS };

static struct btz_str across_of(const struct sieve_figure *f, enum across across)
{
    return across == MEASURES ? f->measure : btz_str_of(f->over);
}

static struct btz_str group_of(const struct sieve_figure *f, enum across across)
{
    return across == MEASURES ? btz_str_of(f->over) : f->measure;
}

/* "n=94", and of random-delete "n=94x20": items and seeds; "n=1878 (94x20)" if some are missing. */
static struct btz_str count_of(const struct paper *p, const struct sieve_figure *f)
{
    if (f->seeds == 0) {
        return btz_arena_printf(p->arena, "n=%lld", (long long)f->n);
    }
    if (f->n == f->items * f->seeds) {
        return btz_arena_printf(p->arena, "n=%lldx%lld", (long long)f->items, (long long)f->seeds);
    }
    return btz_arena_printf(p->arena, "n=%lld (%lldx%lld)", (long long)f->n, (long long)f->items,
                            (long long)f->seeds);
}

static struct btz_str cell(const struct paper *p, const struct sieve_figure *f)
{
    if (!f->is_share) {
        return btz_arena_printf(p->arena, "%.*f", f->value < 10 ? 2 : 0, f->value);
    }
    if (f->n == 0) {
        return BTZ_STR("-");
    }
    if (f->seeds > 1) {
        return btz_arena_printf(p->arena, "%.*s (%.1f-%.1f)",
                                BTZ_FMT(text_percent(p->arena, f->value)), 100 * f->least,
                                100 * f->most);
    }
    if (f->seeds || f->interval.status == BTZ_INTERVAL_NO_DATA) { /* one seed has no range */
        return text_percent(p->arena, f->value);
    }
    return btz_arena_printf(p->arena, "%.*s %.*s", BTZ_FMT(text_percent(p->arena, f->value)),
                            BTZ_FMT(text_interval(p->arena, f->interval)));
}

/* The same with its count, where that is not the same for all arms or answers are missing. */
static struct btz_str counted_cell(const struct paper *p, const struct sieve_figure *f)
{
    struct btz_str drawn =
        f->seeds ? btz_arena_printf(p->arena, " %.*s", BTZ_FMT(count_of(p, f))) : BTZ_STR("");

    if (f->missing && f->n) {
        return btz_arena_printf(p->arena, "%.*s%.*s %.0f of %lld, %lld missing",
                                BTZ_FMT(cell(p, f)), BTZ_FMT(drawn), f->k, (long long)f->n,
                                (long long)f->missing);
    }
    if (f->missing) {
        return btz_arena_printf(p->arena, "- %lld missing", (long long)f->missing);
    }
    return btz_arena_printf(p->arena, "%.*s %.*s", BTZ_FMT(cell(p, f)), BTZ_FMT(count_of(p, f)));
}

/* The figures of one printed table. */
struct selection {
    const char *table;
    const struct sieve_subject *subject;
    struct btz_str index; /* NULL: any */
    enum across across;
    struct btz_str group;
};

static bool selects(const struct selection *s, const struct sieve_figure *f)
{
    return is_of(f, s->table, s->subject, s->index) && btz_str_eq(group_of(f, s->across), s->group);
}

/* Titles of the columns: what stands across, and n where it is the same for all arms. */
static size_t columns_of(const struct paper *p, const struct selection *s, struct btz_str *names,
                         struct grid_column *columns)
{
    size_t count = 0;

    for (size_t i = 0; i < p->report->figure_count; i++) {
        const struct sieve_figure *f = &p->report->figures[i];
        bool known = false;

        for (size_t c = 0; selects(s, f) && c < count; c++) {
            known |= btz_str_eq(names[c], across_of(f, s->across));
        }
        if (selects(s, f) && !known && count < COLUMNS_MAX) {
            names[count] = across_of(f, s->across);
            columns[count + 1] = (struct grid_column){btz_arena_printf(p->arena, "%.*s (%.*s)",
                                                                       BTZ_FMT(names[count]),
                                                                       BTZ_FMT(count_of(p, f)))
                                                          .ptr,
                                                      BTZ_ALIGN_RIGHT, false, NULL};
            count++;
        }
    }
    return count;
}

static bool column_is_even(const struct paper *p, const struct selection *s, struct btz_str name)
{
    int64_t n = -1;

    for (size_t i = 0; i < p->report->figure_count; i++) {
        const struct sieve_figure *f = &p->report->figures[i];

        if (selects(s, f) && btz_str_eq(across_of(f, s->across), name) && !f->seeds) {
            if ((n >= 0 && f->n != n) || f->missing) {
                return false;
            }
            n = f->n;
        }
    }
    return true;
}

static void add_line(struct grid *grid, struct btz_str arm, const struct btz_str *cells,
                     size_t count)
{
    grid_cell(grid, BTZ_COLOUR_NONE, arm);
    for (size_t c = 0; c < count; c++) {
        grid_cell(grid, BTZ_COLOUR_NONE, cells[c]);
    }
}

static void print_selection(const struct paper *p, const struct selection *s,
                            struct btz_str heading)
{
    struct grid_column columns[COLUMNS_MAX + 1] = {{"arm", BTZ_ALIGN_LEFT, false, NULL}};
    struct btz_str names[COLUMNS_MAX];
    struct btz_str cells[COLUMNS_MAX];
    bool even[COLUMNS_MAX];
    struct btz_str arm = BTZ_STR_NONE;
    size_t count = columns_of(p, s, names, columns);
    struct grid *grid;

    for (size_t c = 0; c < count; c++) {
        even[c] = column_is_even(p, s, names[c]);
        if (!even[c]) {
            columns[c + 1].title = btz_arena_cstr(p->arena, names[c]);
        }
    }
    grid = grid_new(p->arena, columns, count + 1);
    for (size_t i = 0; i < p->report->figure_count; i++) {
        const struct sieve_figure *f = &p->report->figures[i];

        if (!selects(s, f)) {
            continue;
        }
        if (!btz_str_eq(f->arm, arm)) {
            if (arm.len) {
                add_line(grid, arm, cells, count);
            }
            arm = f->arm;
            memset(cells, 0, sizeof(cells));
        }
        for (size_t c = 0; c < count; c++) {
            if (btz_str_eq(names[c], across_of(f, s->across))) {
                cells[c] = even[c] && !f->seeds ? cell(p, f) : counted_cell(p, f);
            }
        }
    }
    add_line(grid, arm, cells, count);
    grid_print(grid, heading, p->term, p->out);
}

/* One table for each group of figures, in their order. */
static void print_table(const struct paper *p, const char *table,
                        const struct sieve_subject *subject, struct btz_str index,
                        enum across across, const char *heading)
{
    struct btz_str done[COLUMNS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < p->report->figure_count; i++) {
        const struct sieve_figure *f = &p->report->figures[i];
        struct selection s = {table, subject, index, across, group_of(f, across)};
        bool known = !is_of(f, table, subject, index);

        for (size_t k = 0; k < count; k++) {
            known |= btz_str_eq(done[k], s.group);
        }
        if (!known && count < COLUMNS_MAX) {
            done[count++] = s.group;
            print_selection(
                p, &s,
                btz_arena_printf(p->arena, across == MEASURES ? "%s (over %.*s)" : "%s: %.*s, over",
                                 heading, BTZ_FMT(s.group)));
        }
    }
}

/* ---- attacks that are in no rate of survival ---- */

static void print_not_looked_for(const struct paper *p)
{
    static const struct grid_column columns[] = {{"attacks", BTZ_ALIGN_LEFT, false, NULL},
                                                 {"n", BTZ_ALIGN_RIGHT, false, NULL},
                                                 {"survived", BTZ_ALIGN_RIGHT, false, NULL},
                                                 {"why", BTZ_ALIGN_LEFT, false, NULL}};
    static const char *const measures[][2] = {
        {"operand-free", "they have no operand, and no label tells"},
        {"in-the-twin-too", "their operands stand in the benign twin as well"}};
    struct grid *grid = grid_new(p->arena, columns, 4);
    bool any = false;

    for (size_t m = 0; m < sizeof(measures) / sizeof(measures[0]); m++) {
        const struct sieve_figure *found = NULL;

        for (size_t i = 0; !found && i < p->report->figure_count; i++) {
            const struct sieve_figure *f = &p->report->figures[i];

            found = f->not_looked_for && btz_str_is(f->measure, measures[m][0]) ? f : NULL;
        }
        if (found) { /* the same attacks under every arm */
            any = true;
            grid_cell(grid, BTZ_COLOUR_NONE, found->measure);
            grid_printf(grid, BTZ_COLOUR_NONE, "%lld",
                        (long long)(found->seeds ? found->items : found->n));
            grid_cell(grid, BTZ_COLOUR_NONE, BTZ_STR("-"));
            grid_cell(grid, BTZ_COLOUR_NONE, btz_str_of(measures[m][1]));
        }
    }
    if (any) {
        grid_print(grid, BTZ_STR("Attacks whose survival was not looked for: in no rate, no goal"),
                   p->term, p->out);
    }
}

/* ---- what would be if all that is missing had gone one way ---- */

static void print_bounds(const struct paper *p, const char *const *tables,
                         const struct sieve_subject *subject)
{
    static const struct grid_column columns[] = {
        {"arm", BTZ_ALIGN_LEFT, false, NULL},    {"measure", BTZ_ALIGN_LEFT, false, NULL},
        {"over", BTZ_ALIGN_LEFT, false, NULL},   {"k", BTZ_ALIGN_RIGHT, false, NULL},
        {"n", BTZ_ALIGN_RIGHT, false, NULL},     {"missing", BTZ_ALIGN_RIGHT, false, NULL},
        {"share", BTZ_ALIGN_RIGHT, false, NULL}, {"missing as 0, 1", BTZ_ALIGN_RIGHT, false, NULL}};
    struct grid *grid = grid_new(p->arena, columns, 8);
    bool any = false;

    for (size_t i = 0; i < p->report->figure_count; i++) {
        const struct sieve_figure *f = &p->report->figures[i];
        bool wanted = false;

        for (size_t t = 0; tables[t]; t++) {
            wanted |= is_of(f, tables[t], subject, BTZ_STR_NONE);
        }
        if (!wanted || f->missing == 0) {
            continue;
        }
        any = true;
        grid_cell(grid, BTZ_COLOUR_NONE, f->arm);
        grid_cell(grid, BTZ_COLOUR_NONE, f->measure);
        grid_cell(grid, BTZ_COLOUR_NONE, btz_str_of(f->over));
        grid_printf(grid, BTZ_COLOUR_NONE, "%.0f", f->k);
        grid_printf(grid, BTZ_COLOUR_NONE, "%lld", (long long)f->n);
        grid_printf(grid, BTZ_COLOUR_YELLOW, "%lld", (long long)f->missing);
        grid_cell(grid, BTZ_COLOUR_NONE, text_percent(p->arena, f->value));
        grid_cell(grid, BTZ_COLOUR_NONE, text_interval(p->arena, f->bounds));
    }
    if (any) {
        grid_print(grid,
                   BTZ_STR("Missing answers: in no rate above; the rate with all of them "
                           "counted as 0 and as 1"),
                   p->term, p->out);
    }
}

/* ---- attacks carried over to a second model ---- */

static void print_pair(const struct paper *p, const struct sieve_subject *pair)
{
    static const struct grid_column columns[] = {{"arm", BTZ_ALIGN_LEFT, false, NULL},
                                                 {"transfer", BTZ_ALIGN_RIGHT, false, NULL},
                                                 {"share", BTZ_ALIGN_RIGHT, false, NULL},
                                                 {"95% interval", BTZ_ALIGN_RIGHT, false, NULL},
                                                 {"missing", BTZ_ALIGN_RIGHT, false, NULL},
                                                 {"missing as 0, 1", BTZ_ALIGN_RIGHT, false, NULL},
                                                 {"first drawing", BTZ_ALIGN_RIGHT, false, NULL}};
    struct grid *grid = grid_new(p->arena, columns, 7);

    for (size_t i = 0; i < p->report->figure_count; i++) {
        const struct sieve_figure *f = &p->report->figures[i];

        if (strcmp(f->table, "transfer") != 0 || !btz_str_eq(f->model, pair->model) ||
            !btz_str_eq(f->second, pair->retrieval)) {
            continue;
        }
        if (btz_str_is(f->measure, "acts")) { /* it follows its acts-on-both */
            grid_printf(grid, BTZ_COLOUR_NONE, "%.0f/%lld", f->k, (long long)f->n);
            continue;
        }
        grid_cell(grid, BTZ_COLOUR_NONE, f->arm);
        grid_printf(grid, BTZ_COLOUR_NONE, "%.0f/%lld", f->k, (long long)f->n);
        grid_cell(grid, BTZ_COLOUR_NONE, text_percent(p->arena, f->value));
        grid_cell(grid, BTZ_COLOUR_NONE, text_interval(p->arena, f->interval));
        grid_printf(grid, BTZ_COLOUR_NONE, "%lld", (long long)f->missing);
        grid_cell(grid, BTZ_COLOUR_NONE,
                  f->missing ? text_interval(p->arena, f->bounds) : BTZ_STR(""));
    }
    grid_print(grid,
               btz_arena_printf(p->arena,
                                "Transfer: of the attacks that broke %.*s, those on which %.*s "
                                "acts too, on the variant and on its fresh drawing",
                                BTZ_FMT(pair->model), BTZ_FMT(pair->retrieval)),
               p->term, p->out);
}

/* ---- operators down, arms across ---- */

static void print_operators(const struct paper *p)
{
    const struct btz_sieve_report *r = p->report;
    struct grid_column columns[COLUMNS_MAX + 1] = {{"operator", BTZ_ALIGN_LEFT, false, NULL}};
    size_t arms = r->arms.count < COLUMNS_MAX ? r->arms.count : COLUMNS_MAX;
    struct grid *grid;

    if (r->operators.count == 0) {
        return;
    }
    for (size_t a = 0; a < arms; a++) {
        columns[a + 1] = (struct grid_column){r->arms.texts[a].ptr, BTZ_ALIGN_RIGHT, false, NULL};
    }
    grid = grid_new(p->arena, columns, arms + 1);
    for (size_t o = 0; o < r->operators.count; o++) {
        grid_cell(grid, BTZ_COLOUR_NONE, r->operators.texts[o]);
        for (size_t a = 0; a < arms; a++) {
            const struct sieve_figure *f = sieve_figure_find(
                r, "operators", NULL, r->arms.texts[a].ptr, r->operators.texts[o].ptr, "attacks");

            grid_cell(grid, BTZ_COLOUR_NONE, f ? text_percent(p->arena, f->value) : BTZ_STR(""));
        }
    }
    grid_print(grid, BTZ_STR("Adaptive attacks: the payload survives, by operator"), p->term,
               p->out);
}

/* ---- a list of measures: rules of the guard ---- */

static void print_guard(const struct paper *p)
{
    static const struct grid_column columns[] = {
        {"rule", BTZ_ALIGN_LEFT, false, NULL},
        {"real definitions in which it finds something", BTZ_ALIGN_RIGHT, false, NULL},
        {"one-sided 95% limit", BTZ_ALIGN_RIGHT, false, NULL}};
    struct grid *grid = grid_new(p->arena, columns, 3);

    for (size_t i = 0; i < p->report->figure_count; i++) {
        const struct sieve_figure *f = &p->report->figures[i];

        if (strcmp(f->table, "guard") == 0) {
            grid_cell(grid, BTZ_COLOUR_NONE,
                      btz_str_is(f->measure, "blocked") ? BTZ_STR("all rules: blocked")
                                                        : f->measure);
            grid_cell(grid, BTZ_COLOUR_NONE, cell(p, f));
            grid_cell(grid, BTZ_COLOUR_NONE, text_percent(p->arena, sieve_upper_limit(f)));
        }
    }
    grid_print(grid, BTZ_STR("Rules of the guard on real definitions (false positives)"), p->term,
               p->out);
}

/* ---- tests ---- */

static void print_contrasts(const struct paper *p, const struct sieve_subject *subject)
{
    static const struct grid_column columns[] = {
        {"arm", BTZ_ALIGN_LEFT, false, NULL},           {"pairs", BTZ_ALIGN_RIGHT, false, NULL},
        {"missing", BTZ_ALIGN_RIGHT, false, NULL},      {"none only", BTZ_ALIGN_RIGHT, false, NULL},
        {"arm only", BTZ_ALIGN_RIGHT, false, NULL},     {"points", BTZ_ALIGN_RIGHT, false, NULL},
        {"95% interval", BTZ_ALIGN_RIGHT, false, NULL}, {"p", BTZ_ALIGN_RIGHT, false, NULL},
        {"adjusted p", BTZ_ALIGN_RIGHT, false, NULL}};
    struct grid *grid = grid_new(p->arena, columns, 9);

    for (size_t i = 0; i < p->report->contrast_count; i++) {
        const struct sieve_contrast *c = &p->report->contrasts[i];
        struct btz_interval interval = {c->paired.interval.status, -c->paired.interval.hi,
                                        -c->paired.interval.lo};

        if (!btz_str_eq(c->model, subject->model) ||
            !btz_str_eq(c->retrieval, subject->retrieval) ||
            !btz_str_eq(c->index, subject->index)) {
            continue;
        }
        grid_cell(grid, BTZ_COLOUR_NONE, c->arm);
        grid_printf(grid, BTZ_COLOUR_NONE, "%lld", (long long)c->paired.pairs);
        grid_printf(grid, BTZ_COLOUR_NONE, "%lld", (long long)c->missing);
        grid_printf(grid, BTZ_COLOUR_NONE, "%lld", (long long)c->table.first_only);
        grid_printf(grid, BTZ_COLOUR_NONE, "%lld", (long long)c->table.second_only);
        grid_cell(grid, BTZ_COLOUR_NONE, text_points(p->arena, -c->paired.difference));
        grid_cell(grid, BTZ_COLOUR_NONE, text_points_interval(p->arena, interval));
        grid_cell(grid, BTZ_COLOUR_NONE, text_p(p->arena, c->paired.p_exact));
        grid_cell(grid, BTZ_COLOUR_NONE, text_p(p->arena, c->adjusted));
    }
    grid_print(grid,
               BTZ_STR("Success against none (exact McNemar test over items, Holm over arms)"),
               p->term, p->out);
}

static void print_goals(const struct paper *p)
{
    static const struct grid_column columns[] = {
        {"goal", BTZ_ALIGN_LEFT, false, NULL},   {"target", BTZ_ALIGN_RIGHT, false, NULL},
        {"value", BTZ_ALIGN_RIGHT, false, NULL}, {"95% limit", BTZ_ALIGN_RIGHT, false, NULL},
        {"n", BTZ_ALIGN_RIGHT, false, NULL},     {"missing", BTZ_ALIGN_RIGHT, false, NULL},
        {"state", BTZ_ALIGN_LEFT, false, NULL},  {"about", BTZ_ALIGN_LEFT, false, NULL}};
    static const char *const states[] = {"met", "not shown", "not met", "no data"};
    struct grid *grid = grid_new(p->arena, columns, 8);

    for (size_t i = 0; i < p->report->goal_count; i++) {
        const struct sieve_goal *g = &p->report->goals[i];
        bool difference = g->target < 0;

        grid_cell(grid, BTZ_COLOUR_NONE, btz_str_of(g->name));
        grid_printf(grid, BTZ_COLOUR_NONE, "%s %.1f%s", difference ? ">=" : "<=", 100 * g->target,
                    difference ? " points" : "%");
        grid_cell(grid, BTZ_COLOUR_NONE,
                  difference ? text_points(p->arena, g->value) : text_percent(p->arena, g->value));
        grid_cell(grid, BTZ_COLOUR_NONE,
                  difference ? text_points(p->arena, g->limit) : text_percent(p->arena, g->limit));
        grid_printf(grid, BTZ_COLOUR_NONE, "%lld", (long long)g->n);
        grid_printf(grid, BTZ_COLOUR_NONE, "%lld", (long long)g->missing);
        grid_cell(grid, g->state == BTZ_GOAL_MET ? BTZ_COLOUR_GREEN : BTZ_COLOUR_YELLOW,
                  btz_str_of(states[g->state]));
        grid_cell(grid, BTZ_COLOUR_NONE,
                  g->model.len ? btz_arena_printf(p->arena, "%.*s: %.*s", BTZ_FMT(g->model),
                                                  BTZ_FMT(g->about))
                               : g->about);
    }
    grid_print(grid, BTZ_STR("Goals (met only if the one-sided 95% limit meets them)"), p->term,
               p->out);
}

/* ---- subjects ---- */

static void print_subject(const struct paper *p, const struct sieve_subject *s)
{
    static const char *const tables[] = {"harm", "utility", NULL};
    const struct sieve_figure *f =
        sieve_figure_find(p->report, "utility", s, "none", "completion", "twins");
    bool competent = f && f->value >= SIEVE_COMPETENT;
    struct btz_str missing =
        f && f->missing ? btz_arena_printf(p->arena, " (%lld missing)", (long long)f->missing)
                        : BTZ_STR("");
    struct btz_str name =
        btz_arena_printf(p->arena, "%.*s, retrieval %.*s%s%.*s", BTZ_FMT(s->model),
                         BTZ_FMT(s->retrieval), btz_str_is(s->index, "-") ? "" : ", index ",
                         BTZ_FMT(btz_str_is(s->index, "-") ? BTZ_STR("") : s->index));

    (void)btz_buf_add_byte(p->out, '\n');
    lines_text(p->out, p->term, 0, BTZ_COLOUR_BOLD, name);
    lines_field(
        p->out, p->term, "competence",
        f && f->n
            ? btz_arena_printf(p->arena, "%.*s of %lld clean twins completed without any arm%s%s",
                               BTZ_FMT(cell(p, f)), (long long)f->n, missing.ptr,
                               competent ? "" : " - NOT COMPETENT: rates not interpretable")
        : f ? btz_arena_printf(p->arena, "unknown: no clean twin was answered without any arm%s",
                               missing.ptr)
            : BTZ_STR("unknown: no clean twin was asked without any arm"));
    print_table(p, "composition", s, BTZ_STR_NONE, MEASURES, "Outcomes");
    print_table(p, "harm", s, BTZ_STR_NONE, DENOMINATORS, "Harm");
    print_table(p, "utility", s, BTZ_STR_NONE, DENOMINATORS, "Usefulness");
    print_bounds(p, tables, s);
    print_contrasts(p, s);
}

static void print_cost(const struct paper *p)
{
    for (size_t i = 0; i < p->report->cost_count; i++) {
        struct sieve_spent spent = sieve_spent_of(p->report, p->report->cost[i].model);

        lines_field(p->out, p->term, "cost",
                    btz_arena_printf(p->arena,
                                     "%.*s: %lld answers from %lld requests, %lld tokens in and "
                                     "%lld out (of %lld answers that told), %.*s",
                                     BTZ_FMT(p->report->cost[i].model), (long long)spent.answers,
                                     (long long)p->report->cost[i].replies, (long long)spent.in,
                                     (long long)spent.out, (long long)spent.known,
                                     BTZ_FMT(text_seconds(p->arena, p->report->cost[i].took_us))));
    }
}

/* Which vectors stood behind the dense half of retrieval. */
static void print_embedding(const struct paper *p)
{
    const struct btz_json *row = p->report->embedding;
    const struct btz_json *models = btz_json_getz(row, "returned_models");
    int64_t dimension = 0;
    int64_t texts = 0;
    struct btz_buf names;

    if (!row) {
        return;
    }
    btz_buf_init(&names, 4096);
    for (size_t i = 0; i < btz_json_count(models); i++) {
        struct btz_str name = btz_json_str(btz_json_at(models, i));

        (void)btz_buf_printf(&names, "%s%.*s", i ? ", " : "",
                             BTZ_FMT(name.len ? name : BTZ_STR("(no name)")));
    }
    (void)btz_json_int64(btz_json_getz(row, "dimension"), &dimension);
    (void)btz_json_int64(btz_json_getz(row, "texts"), &texts);
    lines_field(p->out, p->term, "embeddings",
                btz_arena_printf(p->arena, "%.*s, returned as %.*s: %lld texts in %lld dimensions",
                                 BTZ_FMT(btz_json_str(btz_json_getz(row, "model"))),
                                 BTZ_FMT(btz_buf_view(&names)), (long long)texts,
                                 (long long)dimension));
    btz_buf_fini(&names);
}

static void print_run(const struct paper *p)
{
    const struct btz_json *items = btz_json_getz(p->report->card, "items");
    int64_t counts[3] = {0, 0, 0};

    (void)btz_json_int64(btz_json_getz(items, "attack"), &counts[0]);
    (void)btz_json_int64(btz_json_getz(items, "twin"), &counts[1]);
    (void)btz_json_int64(btz_json_getz(items, "negative"), &counts[2]);
    lines_text(p->out, p->term, 0, BTZ_COLOUR_BOLD,
               btz_arena_printf(p->arena, "Sieve %.*s %s%s", BTZ_FMT(p->report->run.kind),
                                p->report->run.id,
                                p->report->run.done ? "" : " (not finished: resume it)"));
    lines_field(p->out, p->term, "items",
                btz_arena_printf(
                    p->arena, "%lld attacks, %lld twins, %lld negatives from %zu servers of %.*s",
                    (long long)counts[0], (long long)counts[1], (long long)counts[2],
                    p->report->clusters.count,
                    BTZ_FMT(btz_json_str(btz_json_getz(items, "path")))));
    lines_field(
        p->out, p->term, "intervals",
        BTZ_STR("Wilson, 95%, with the number of items divided by the design effect of "
                "their servers; random-delete: mean and range over its seeds, with n=ITEMSxSEEDS"));
    print_embedding(p);
    print_cost(p);
}

void btz_sieve_report_print(const struct btz_sieve_report *report, const struct btz_term *term,
                            struct btz_buf *out)
{
    static const char *const adaptive[] = {"adaptive-model", NULL};
    static const char *const rewriting[] = {"rewriting", NULL};
    const struct paper p = {report, term, out, report->arena};

    print_run(&p);
    for (size_t s = 0; s < report->subject_count; s++) {
        print_subject(&p, &report->subjects[s]);
    }
    print_table(&p, "survival", NULL, BTZ_STR_NONE, MEASURES,
                "Payloads whose operands are all still shown");
    print_not_looked_for(&p);
    print_table(&p, "adaptive", NULL, BTZ_STR_NONE, MEASURES,
                "Adaptive attacks: the payload survives, by attempts");
    for (uint32_t m = 0; m < report->attack_models.count; m++) {
        const struct sieve_subject model = {report->attack_models.texts[m], BTZ_STR_NONE,
                                            BTZ_STR_NONE};

        if (model.model.len) {
            print_table(&p, "adaptive-model", &model, BTZ_STR_NONE, MEASURES,
                        btz_arena_printf(p.arena,
                                         "%.*s: it survives and the model acts, by answers",
                                         BTZ_FMT(model.model))
                            .ptr);
            print_bounds(&p, adaptive, &model);
        }
    }
    for (size_t t = 0; t < report->transfer_count; t++) {
        print_pair(&p, &report->transfers[t]);
    }
    print_operators(&p);
    print_table(&p, "retrieval", NULL, BTZ_STR("raw"), MEASURES, "Retrieval, raw index");
    print_table(&p, "retrieval", NULL, BTZ_STR("arm"), MEASURES, "Retrieval, the arm's own index");
    print_table(&p, "room", NULL, BTZ_STR_NONE, MEASURES, "Room left to an author, a definition");
    print_table(&p, "definitions", NULL, BTZ_STR_NONE, MEASURES, "Cost in real definitions");
    print_table(&p, "facts", NULL, BTZ_STR_NONE, MEASURES, "Labelled facts that are kept");
    print_table(&p, "rewriting", NULL, BTZ_STR_NONE, MEASURES, "Rewriting by a model");
    print_bounds(&p, rewriting, NULL);
    print_guard(&p);
    print_goals(&p);
}
