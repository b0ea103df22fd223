/* Judges beside the deterministic oracle, on the same trials. */
#include <math.h>

#include "report/agreement_int.h"
#include "report/report_int.h"

static const struct grid_column columns[] = {
    {"attack", BTZ_ALIGN_LEFT, false, NULL},
    {"n", BTZ_ALIGN_RIGHT, false, NULL},
    {"oracle", BTZ_ALIGN_RIGHT, false, NULL},
    {"judge", BTZ_ALIGN_RIGHT, false, NULL},
    {"points", BTZ_ALIGN_RIGHT, false, NULL},
    {"95% interval", BTZ_ALIGN_LEFT, false, NULL},
    {"p", BTZ_ALIGN_RIGHT, false, NULL},
    {"mid-p", BTZ_ALIGN_RIGHT, false, NULL},
    {"malformed", BTZ_ALIGN_RIGHT, true, "agreement"},
    {"missing", BTZ_ALIGN_RIGHT, true, NULL},
    {"agree", BTZ_ALIGN_RIGHT, false, NULL},
    {"kappa", BTZ_ALIGN_LEFT, false, NULL},
};

static struct btz_str share(struct btz_arena *arena, int64_t k, int64_t n)
{
    return n ? btz_arena_printf(arena, "%lld %6s", (long long)k,
                                text_percent(arena, (double)k / (double)n).ptr)
             : BTZ_STR("-");
}

static void add_line(const struct page *p, struct grid *grid, const struct oracle_line *line)
{
    const struct btz_paired_table *t = &line->agree->table;
    const struct btz_agreement *f = &line->agree->figures;
    int64_t n = f->items;

    grid_cell(grid, line->attack.len ? BTZ_COLOUR_NONE : BTZ_COLOUR_BOLD,
              line->attack.len ? line->attack : BTZ_STR("all"));
    page_count(grid, n);
    grid_cell(grid, BTZ_COLOUR_NONE, share(p->arena, t->both + t->second_only, n));
    grid_cell(grid, BTZ_COLOUR_NONE, share(p->arena, t->both + t->first_only, n));
    grid_cell(grid, BTZ_COLOUR_NONE,
              text_points(p->arena, n ? line->paired.difference : (double)NAN));
    grid_cell(grid, BTZ_COLOUR_NONE, text_points_interval(p->arena, line->paired.interval));
    grid_cell(grid, BTZ_COLOUR_NONE, text_p(p->arena, line->paired.p_exact));
    grid_cell(grid, BTZ_COLOUR_NONE, text_p(p->arena, line->paired.p_mid));
    page_count(grid, line->agree->malformed);
    page_count(grid, line->agree->missing);
    grid_cell(grid, BTZ_COLOUR_NONE, text_percent(p->arena, f->observed));
    grid_cell(grid, BTZ_COLOUR_NONE, text_with_interval(p->arena, f->kappa, f->kappa_interval));
}

void print_oracles(const struct page *p)
{
    for (const struct oracle_table *t = p->report->oracles; t; t = t->next) {
        struct grid *grid = grid_new(p->arena, columns, sizeof(columns) / sizeof(columns[0]));

        for (size_t i = 0; i < t->count; i++) {
            if (t->lines[i].attack.len == 0) {
                grid_rule(grid);
            }
            add_line(p, grid, &t->lines[i]);
        }
        grid_print(grid,
                   btz_arena_printf(p->arena,
                                    "%.*s: attack success (V) by the deterministic oracle and by "
                                    "%.*s",
                                    BTZ_FMT(subject_label(p->report, t->subject)),
                                    BTZ_FMT(rater_label(p->arena, t->judge))),
                   p->term, p->out);
    }
    if (p->report->oracles) {
        lines_text(p->out, p->term, 2, BTZ_COLOUR_DIM,
                   BTZ_STR("On the n trials with a usable verdict of both. Points: judge minus "
                           "oracle, trials weighing equally. p: McNemar's exact test on the trials "
                           "where they differ, with Newcombe's interval. It takes trials as "
                           "independent, which repetitions of one variant are not."));
    }
}
