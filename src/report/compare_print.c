/* A comparison for people and as JSON. */
#include <math.h>

#include "report/compare_int.h"

static void rate_cell(struct grid *grid, const struct btz_count *count)
{
    grid_printf(grid, BTZ_COLOUR_NONE, "%lld/%lld", (long long)count->k,
                (long long)btz_count_n(count));
}

struct btz_str compare_note(const struct line *line)
{
    if (line->asr.many_missing || line->asr.unequal_missing) {
        return btz_str_of(btz_contrast_caution(&line->asr));
    }
    if (line->asr.descriptive) {
        return BTZ_STR("");
    }
    return line->asr.p_least > 0.05 ? BTZ_STR("too few variants for p < 0.05") : BTZ_STR("");
}

static void print_rates(const struct btz_compare *compare, const struct comparison *c,
                        const struct btz_term *term, struct btz_buf *out)
{
    static const struct grid_column columns[] = {
        {"attack success", BTZ_ALIGN_LEFT, false, NULL}, {"first", BTZ_ALIGN_RIGHT, false, NULL},
        {"second", BTZ_ALIGN_RIGHT, false, NULL},        {"points", BTZ_ALIGN_RIGHT, false, NULL},
        {"95% interval", BTZ_ALIGN_RIGHT, false, NULL},  {"p", BTZ_ALIGN_RIGHT, false, NULL},
        {"missing", BTZ_ALIGN_RIGHT, true, NULL},        {"note", BTZ_ALIGN_LEFT, true, NULL}};
    struct btz_arena *arena = compare->first->arena;
    struct grid *grid = grid_new(arena, columns, sizeof(columns) / sizeof(columns[0]));

    for (size_t i = 0; i < c->count; i++) {
        const struct line *line = &c->lines[i];
        const struct btz_contrast *asr = &line->asr;

        if (i > 0 && !line->attack.len && c->lines[i - 1].attack.len) {
            grid_rule(grid);
        }
        grid_cell(grid, BTZ_COLOUR_NONE,
                  line->attack.len    ? line->attack
                  : line->surface.len ? line->surface
                                      : BTZ_STR("all"));
        rate_cell(grid, &asr->first_total);
        rate_cell(grid, &asr->second_total);
        grid_cell(grid, BTZ_COLOUR_NONE, text_points(arena, asr->estimate));
        grid_cell(grid, BTZ_COLOUR_NONE, text_points_interval(arena, asr->interval));
        grid_cell(grid, BTZ_COLOUR_NONE,
                  asr->descriptive ? BTZ_STR("descr.") : text_p(arena, asr->p_two_sided));
        grid_printf(grid, BTZ_COLOUR_NONE, "%lld",
                    (long long)(asr->first_total.missing + asr->second_total.missing));
        grid_cell(grid, BTZ_COLOUR_NONE, compare_note(line));
    }
    grid_print(grid,
               btz_arena_printf(arena, "%.*s against %.*s (V)",
                                BTZ_FMT(subject_label(compare->first, c->first)),
                                BTZ_FMT(subject_label(compare->second, c->second))),
               term, out);
}

struct btz_str compare_power_text(struct btz_arena *arena, const struct comparison *c)
{
    const char *change = compare_against_none(c) ? "decrease" : "change";

    return isnan(c->detectable)
               ? btz_arena_printf(arena, "underpowered: no %s could be shown", change)
               : btz_arena_printf(arena,
                                  "80%% for a %s of %.0f points or more; a smaller one may go "
                                  "unseen",
                                  change, 100 * fabs(c->detectable));
}

uint64_t compare_drawn(const struct comparison *c, size_t first)
{
    uint64_t drawn = 0;

    for (size_t i = first; i < c->count; i++) {
        const struct btz_contrast *asr = &c->lines[i].asr;
        uint64_t own = asr->monte_carlo ? asr->patterns - 1 : 0; /* one is the observed */

        drawn = own > drawn ? own : drawn;
    }
    return drawn;
}

struct btz_str compare_test_text(struct btz_arena *arena, uint64_t drawn)
{
    return drawn ? btz_arena_printf(arena,
                                    "sign-flip test over variants, exact up to %d variants, over "
                                    "%llu random patterns beyond",
                                    BTZ_CONTRAST_EXACT_MAX, (unsigned long long)drawn)
                 : BTZ_STR("exact sign-flip test over variants");
}

static void print_verdict(const struct btz_compare *compare, const struct comparison *c,
                          const struct btz_term *term, struct btz_buf *out)
{
    static const char *const margins[] = {"not asked", "shown", "not shown",
                                          "not possible with so few variants"};
    struct btz_arena *arena = compare->first->arena;
    const struct line *total = &c->lines[c->count - 1];
    const struct btz_contrast *utility = &total->utility;
    const char *caution = btz_contrast_caution(utility);

    lines_field(out, term, "differ in", btz_str_of(c->what));
    lines_field(out, term, "adjusted p",
                isnan(c->adjusted)
                    ? BTZ_STR("not tested")
                    : btz_arena_printf(arena, "%.*s (Holm over the %zu comparisons of this table)",
                                       BTZ_FMT(text_p(arena, c->adjusted)), compare->count));
    if (total->asr.unpaired + total->asr.lost_variants > 0) {
        lines_field(out, term, "not paired",
                    btz_arena_printf(arena,
                                     "%zu variants that only one side has; %zu others without a "
                                     "trial that counts on one side",
                                     total->asr.unpaired, total->asr.lost_variants));
    }
    lines_field(out, term, "power", compare_power_text(arena, c));
    lines_field(out, term, "clean utility",
                btz_arena_printf(arena,
                                 "%lld/%lld against %lld/%lld, %.*s points; not worse by over 5 "
                                 "points: %s%s%s",
                                 (long long)utility->first_total.k,
                                 (long long)btz_count_n(&utility->first_total),
                                 (long long)utility->second_total.k,
                                 (long long)btz_count_n(&utility->second_total),
                                 BTZ_FMT(text_points(arena, utility->estimate)),
                                 margins[utility->non_inferior], *caution ? "; " : "", caution));
    print_scanner_warning(arena, c->first, term, out);
    print_scanner_warning(arena, c->second, term, out);
    (void)btz_buf_add_byte(out, '\n');
}

static void print_unfinished(const struct btz_report *report, const struct btz_term *term,
                             struct btz_buf *out)
{
    const struct btz_store_run *run = &report->run;

    if (run->finished < run->planned) {
        lines_text(out, term, 2, BTZ_COLOUR_YELLOW,
                   btz_arena_printf(report->arena,
                                    "Run %s is not finished: %lld of %lld trials. What it has not "
                                    "run yet is in no rate and in no pair.",
                                    run->id, (long long)run->finished, (long long)run->planned));
    }
}

void btz_compare_print(const struct btz_compare *compare, const struct btz_term *term,
                       struct btz_buf *out)
{
    struct btz_arena *arena = compare->first->arena;
    uint64_t drawn = 0;

    (void)btz_buf_printf(out, "Comparison of run %s", compare->first->run.id);
    if (compare->first != compare->second) {
        (void)btz_buf_printf(out, " and run %s", compare->second->run.id);
    }
    (void)btz_buf_add_text(out, "\n");
    if (compare->forced) {
        lines_text(out, term, 2, BTZ_COLOUR_NONE,
                   btz_arena_printf(compare->first->arena,
                                    "FORCED: the %s of the runs differ. The differences below are "
                                    "not those of one thing alone.",
                                    compare->forced));
    }
    if (compare->also.len) {
        lines_text(
            out, term, 2, BTZ_COLOUR_NONE,
            btz_arena_printf(arena, "The runs also differ in %.*s.", BTZ_FMT(compare->also)));
    }
    print_unfinished(compare->first, term, out);
    if (compare->first != compare->second) {
        print_unfinished(compare->second, term, out);
    }
    for (const struct comparison *c = compare->list; c; c = c->next) {
        print_rates(compare, c, term, out);
        print_verdict(compare, c, term, out);
        drawn = compare_drawn(c, 0) > drawn ? compare_drawn(c, 0) : drawn;
    }
    lines_text(
        out, term, 0, BTZ_COLOUR_NONE,
        btz_arena_printf(arena,
                         "Points are first minus second, the mean over attacks of the mean over "
                         "variants. p: %.*s, interval by inverting it; "
                         "one attack alone is descriptive. "
                         "Power is that of one test at 0.05, before Holm, and assumes a "
                         "correlation of 0.3 between repetitions of a variant and half of the "
                         "variants equally hard in both. Inference is conditional on "
                         "these attacks.",
                         BTZ_FMT(compare_test_text(arena, drawn))));
}

static void set_number(struct btz_arena *arena, struct btz_json *object, const char *key,
                       double value)
{
    if (isnan(value)) {
        btz_json_setz(arena, object, key, btz_json_null(arena));
    } else {
        btz_json_setz(
            arena, object, key,
            btz_json_new_number(
                arena, btz_arena_printf(arena, "%.10g", number_near(value, NUMBER_NOISE))));
    }
}

static struct btz_json *count_json(struct btz_arena *arena, const struct btz_count *count)
{
    struct btz_json *out = btz_json_new_object(arena);

    btz_json_set_int(arena, out, "k", count->k);
    btz_json_set_int(arena, out, "n", btz_count_n(count));
    btz_json_set_int(arena, out, "missing", count->missing);
    return out;
}

struct btz_json *contrast_json(struct btz_arena *arena, const struct btz_contrast *c)
{
    struct btz_json *out = btz_json_new_object(arena);
    bool interval = c->interval.status == BTZ_INTERVAL_OK;

    btz_json_setz(arena, out, "first", count_json(arena, &c->first_total));
    btz_json_setz(arena, out, "second", count_json(arena, &c->second_total));
    set_number(arena, out, "difference", c->estimate);
    set_number(arena, out, "lo", interval ? c->interval.lo : NAN);
    set_number(arena, out, "hi", interval ? c->interval.hi : NAN);
    set_number(arena, out, "p", c->p_two_sided);
    set_number(arena, out, "p_least", c->p_least);
    btz_json_set_int(arena, out, "variants", (int64_t)c->variants);
    btz_json_set_int(arena, out, "unpaired", (int64_t)c->unpaired);
    btz_json_set_int(arena, out, "lost_variants", (int64_t)c->lost_variants);
    btz_json_set_bool(arena, out, "exact", !c->monte_carlo);
    btz_json_set_bool(arena, out, "descriptive", c->descriptive);
    btz_json_set_strz(arena, out, "caution", btz_contrast_caution(c));
    if (c->non_inferior != BTZ_MARGIN_NOT_ASKED) {
        btz_json_set_bool(arena, out, "non_inferior", c->non_inferior == BTZ_MARGIN_SHOWN);
        set_number(arena, out, "p_margin", c->p_margin);
    }
    return out;
}

static struct btz_json *subject_json(struct btz_arena *arena, const struct subject *s)
{
    struct btz_json *out = btz_json_new_object(arena);

    btz_json_set_str(arena, out, "model", s->model);
    btz_json_set_str(arena, out, "architecture", s->architecture);
    btz_json_set_str(arena, out, "defence", s->defence);
    btz_json_set_str(arena, out, "revision", s->revision);
    btz_json_set_str(arena, out, "host_profile", s->host_profile);
    if (s->suite.len) {
        btz_json_set_str(arena, out, "suite", s->suite);
    }
    return out;
}

static struct btz_json *comparison_json(struct btz_arena *arena, const struct comparison *c)
{
    struct btz_json *out = btz_json_new_object(arena);
    struct btz_json *lines = btz_json_new_array(arena);

    btz_json_set_strz(arena, out, "differ_in", c->what);
    btz_json_setz(arena, out, "first", subject_json(arena, c->first));
    btz_json_setz(arena, out, "second", subject_json(arena, c->second));
    set_number(arena, out, "adjusted_p", c->adjusted);
    set_number(arena, out, "detectable", c->detectable);
    for (size_t i = 0; i < c->count; i++) {
        const struct line *line = &c->lines[i];
        struct btz_json *item = btz_json_new_object(arena);

        btz_json_setz(arena, item, "surface",
                      line->surface.len ? btz_json_new_str(arena, line->surface)
                                        : btz_json_null(arena));
        btz_json_setz(arena, item, "attack",
                      line->attack.len ? btz_json_new_str(arena, line->attack)
                                       : btz_json_null(arena));
        btz_json_setz(arena, item, "asr", contrast_json(arena, &line->asr));
        btz_json_setz(arena, item, "clean_utility", contrast_json(arena, &line->utility));
        btz_json_push(arena, lines, item);
    }
    btz_json_setz(arena, out, "lines", lines);
    return out;
}

struct btz_json *btz_compare_json(const struct btz_compare *compare, struct btz_arena *arena)
{
    struct btz_json *out = btz_json_new_object(arena);
    struct btz_json *list = btz_json_new_array(arena);

    btz_json_set_strz(arena, out, "first", compare->first->run.id);
    btz_json_set_strz(arena, out, "second", compare->second->run.id);
    btz_json_setz(arena, out, "forced",
                  compare->forced ? btz_json_new_strz(arena, compare->forced)
                                  : btz_json_null(arena));
    btz_json_set_str(arena, out, "also_differ", compare->also);
    btz_json_set_bool(arena, out, "finished",
                      compare->first->run.finished == compare->first->run.planned &&
                          compare->second->run.finished == compare->second->run.planned);
    for (const struct comparison *c = compare->list; c; c = c->next) {
        btz_json_push(arena, list, comparison_json(arena, c));
    }
    btz_json_setz(arena, out, "comparisons", list);
    return out;
}
