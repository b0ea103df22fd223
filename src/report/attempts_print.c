/* Architectures beside each other: success in any attempt, and in the last. */
#include "report/report_int.h"

enum { MOST = 5 }; /* architectures in one table; the program has three */

struct beside {
    const struct subject *subjects[MOST];
    size_t count;
};

static bool is_first(const struct btz_report *report, const struct subject *s)
{
    for (const struct subject *t = report->first; t != s; t = t->next) {
        if (subject_like(t, s, PART_ARCHITECTURE)) {
            return false;
        }
    }
    return true;
}

static struct beside beside_of(const struct subject *first)
{
    struct beside out = {.count = 0};

    for (const struct subject *s = first; s; s = s->next) {
        if (subject_like(s, first, PART_ARCHITECTURE) && out.count < MOST) {
            out.subjects[out.count++] = s;
        }
    }
    return out;
}

static const struct figure *same_figure(const struct subject *s, const struct figure *like)
{
    for (size_t i = 0; i < s->figure_count; i++) {
        const struct figure *f = &s->figures[i];

        if (f->below == like->below && btz_str_eq(f->surface, like->surface) &&
            btz_str_eq(f->attack, like->attack)) {
            return f;
        }
    }
    return NULL;
}

static bool has_attempts(const struct subject *s)
{
    return !btz_str_is(s->architecture, "react");
}

/* Rates first, a second column where there are several attempts; then the intervals. */
static size_t add_columns(const struct page *p, const struct beside *b, struct grid_column *columns)
{
    size_t n = 0;

    columns[n++] = (struct grid_column){"attack", BTZ_ALIGN_LEFT, false, NULL};
    for (size_t i = 0; i < b->count; i++) {
        const char *name = btz_arena_cstr(p->arena, b->subjects[i]->architecture);

        columns[n++] = (struct grid_column){
            has_attempts(b->subjects[i]) ? btz_arena_printf(p->arena, "%s: any", name).ptr : name,
            BTZ_ALIGN_RIGHT, false, NULL};
        if (has_attempts(b->subjects[i])) {
            columns[n++] = (struct grid_column){"last", BTZ_ALIGN_RIGHT, false, NULL};
        }
    }
    for (size_t i = 0; i < b->count; i++) {
        columns[n++] = (struct grid_column){btz_arena_cstr(p->arena, b->subjects[i]->architecture),
                                            BTZ_ALIGN_LEFT, false, i == 0 ? "95% intervals" : NULL};
    }
    return n;
}

static void add_figure(const struct page *p, struct grid *grid, const struct beside *b,
                       const struct figure *first)
{
    static const struct figure nothing;
    const struct figure *figures[MOST];

    grid_cell(grid, first->attack.len ? BTZ_COLOUR_NONE : BTZ_COLOUR_BOLD,
              page_figure_name(p, first));
    for (size_t i = 0; i < b->count; i++) {
        const struct figure *f = same_figure(b->subjects[i], first);

        figures[i] = f ? f : &nothing;
        page_rate(p, grid, &figures[i]->rate[RATE_ASR]);
        if (!has_attempts(b->subjects[i])) {
            continue;
        }
        if (figures[i]->by_judge) {
            grid_cell(grid, BTZ_COLOUR_NONE, BTZ_STR("-"));
        } else {
            page_rate(p, grid, &figures[i]->rate[RATE_LAST]);
        }
    }
    for (size_t i = 0; i < b->count; i++) {
        grid_cell(grid, BTZ_COLOUR_NONE,
                  text_interval(p->arena, figures[i]->rate[RATE_ASR].interval));
    }
}

static void print_beside(const struct page *p, const struct beside *b)
{
    struct grid_column columns[1 + 3 * MOST];
    const struct subject *first = b->subjects[0];
    struct grid *grid = grid_new(p->arena, columns, add_columns(p, b, columns));
    struct btz_str title = first->model;

    for (size_t i = 0; i < first->figure_count; i++) {
        if (page_shows(first, i, false)) {
            add_figure(p, grid, b, &first->figures[i]);
            page_end_line(grid, first, i);
        }
    }
    title = btz_arena_printf(p->arena,
                             "%.*s, defence %.*s, revision %.*s, host profile %.*s: architectures "
                             "beside each other (V)%s",
                             BTZ_FMT(first->model), BTZ_FMT(first->defence),
                             BTZ_FMT(first->revision), BTZ_FMT(first->host_profile),
                             p->report->paper ? ", oracle as in the paper" : "");
    grid_print(grid, title, p->term, p->out);
}

void print_architectures(const struct page *p)
{
    bool any = false;

    for (const struct subject *s = p->report->first; s; s = s->next) {
        struct beside b = beside_of(s);

        if (b.count > 1 && is_first(p->report, s)) {
            print_beside(p, &b);
            any = true;
        }
    }
    if (any) {
        lines_text(p->out, p->term, 2, BTZ_COLOUR_DIM,
                   btz_arena_printf(p->arena,
                                    "Any: success in some attempt, the primary verdict. Last: in "
                                    "the last attempt alone. `bartizan compare %s` tests the "
                                    "differences.%s",
                                    p->report->run.id,
                                    p->report->paper
                                        ? " A judge reads the whole trial, so there is no last "
                                          "attempt where it decides."
                                        : ""));
    }
}
