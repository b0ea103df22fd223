/* Agreement for people and as JSON. */
#include <math.h>

#include "report/agreement_int.h"

struct btz_str rater_label(struct btz_arena *arena, const struct rater *r)
{
    return btz_str_is(r->source, "companion") ? BTZ_STR("companion")
           : r->prompt.len
               ? btz_arena_printf(arena, "%.*s %.*s (prompt %.*s)", BTZ_FMT(r->source),
                                  BTZ_FMT(r->name), BTZ_FMT(btz_str_sub(r->prompt, 0, 8)))
               : btz_arena_printf(arena, "%.*s %.*s", BTZ_FMT(r->source), BTZ_FMT(r->name));
}

static struct btz_str number_text(struct btz_arena *arena, double value)
{
    return isnan(value) ? BTZ_STR("-") : btz_arena_printf(arena, "%.2f", number_near(value, 0.005));
}

struct btz_str text_with_interval(struct btz_arena *arena, double value, struct btz_interval i)
{
    return isnan(value) || i.status != BTZ_INTERVAL_OK
               ? number_text(arena, value)
               : btz_arena_printf(arena, "%.2f [%.2f, %.2f]", number_near(value, 0.005),
                                  number_near(i.lo, 0.005), number_near(i.hi, 0.005));
}

static void add_row(struct btz_arena *arena, struct grid *grid, struct btz_str name,
                    const struct agreement_line *line)
{
    const struct btz_agreement *f = &line->figures;

    grid_cell(grid, BTZ_COLOUR_NONE, name);
    grid_printf(grid, BTZ_COLOUR_NONE, "%lld", (long long)f->items);
    grid_printf(grid, BTZ_COLOUR_NONE, "%lld", (long long)line->table.both);
    grid_printf(grid, BTZ_COLOUR_NONE, "%lld", (long long)line->table.first_only);
    grid_printf(grid, BTZ_COLOUR_NONE, "%lld", (long long)line->table.second_only);
    grid_printf(grid, BTZ_COLOUR_NONE, "%lld", (long long)line->table.neither);
    grid_printf(grid, BTZ_COLOUR_NONE, "%lld", (long long)line->malformed);
    grid_printf(grid, BTZ_COLOUR_NONE, "%lld", (long long)line->truncated);
    grid_printf(grid, BTZ_COLOUR_NONE, "%lld", (long long)line->missing);
    grid_cell(grid, BTZ_COLOUR_NONE, text_with_interval(arena, f->observed, f->observed_interval));
    grid_cell(grid, BTZ_COLOUR_NONE, text_with_interval(arena, f->kappa, f->kappa_interval));
    grid_cell(grid, BTZ_COLOUR_NONE, text_with_interval(arena, f->ac1, f->ac1_interval));
    grid_cell(grid, BTZ_COLOUR_NONE, number_text(arena, f->positive));
    grid_cell(grid, BTZ_COLOUR_NONE, number_text(arena, f->negative));
}

static const struct grid_column columns[] = {
    {"success says", BTZ_ALIGN_LEFT, false, NULL},
    {"n", BTZ_ALIGN_RIGHT, false, NULL},
    {"both", BTZ_ALIGN_RIGHT, false, NULL},
    {"first only", BTZ_ALIGN_RIGHT, false, NULL},
    {"second only", BTZ_ALIGN_RIGHT, false, NULL},
    {"neither", BTZ_ALIGN_RIGHT, false, NULL},
    {"malformed", BTZ_ALIGN_RIGHT, true, NULL},
    {"truncated", BTZ_ALIGN_RIGHT, true, NULL},
    {"missing", BTZ_ALIGN_RIGHT, true, NULL},
    {"agree", BTZ_ALIGN_RIGHT, false, "agreement, 95% interval"},
    {"kappa", BTZ_ALIGN_RIGHT, false, NULL},
    {"AC1", BTZ_ALIGN_RIGHT, false, NULL},
    {"positive", BTZ_ALIGN_RIGHT, false, NULL},
    {"negative", BTZ_ALIGN_RIGHT, false, NULL},
};

static struct grid *new_grid(const struct btz_agreements *a)
{
    return grid_new(a->arena, columns, sizeof(columns) / sizeof(columns[0]));
}

/* A rater against the companion, attack by attack. */
static void print_pair(const struct btz_agreements *a, const struct agreement_pair *pair,
                       const struct btz_term *term, struct btz_buf *out)
{
    struct grid *grid = new_grid(a);

    for (size_t i = 0; i < pair->count; i++) {
        const struct agreement_line *line = &pair->lines[i];

        if (i > 0 && !line->attack.len) {
            grid_rule(grid);
        }
        add_row(a->arena, grid, line->attack.len ? line->attack : BTZ_STR("all"), line);
    }
    grid_print(grid,
               btz_arena_printf(a->arena, "%.*s (first), companion (second)",
                                BTZ_FMT(rater_label(a->arena, pair->first))),
               term, out);
}

/* Judges and people among themselves, all attacks together. */
static void print_others(const struct btz_agreements *a, const struct btz_term *term,
                         struct btz_buf *out)
{
    struct grid *grid = new_grid(a);

    for (size_t i = 0; i < a->pair_count; i++) {
        const struct agreement_pair *pair = &a->pairs[i];

        if (pair->second != &a->raters[0]) {
            add_row(a->arena, grid,
                    btz_arena_printf(a->arena, "%zu, %zu", (size_t)(pair->first - a->raters),
                                     (size_t)(pair->second - a->raters)),
                    &pair->lines[pair->count - 1]);
        }
    }
    grid_print(grid, BTZ_STR("Judges and people among themselves (first, second)"), term, out);
    for (size_t i = 1; a->rater_count > 2 && i < a->rater_count; i++) {
        lines_field(out, term, btz_arena_printf(a->arena, "%zu", i).ptr,
                    rater_label(a->arena, &a->raters[i]));
    }
}

static void print_corrected(const struct btz_agreements *a, const struct rater *r,
                            const struct btz_term *term, struct btz_buf *out)
{
    const struct btz_double_sample *c = &r->corrected;
    struct btz_str value;

    if (c->trials.status == BTZ_INTERVAL_OK) {
        value = btz_arena_printf(a->arena, "%.*s %.*s of %lld judged trials, by %lld labels",
                                 BTZ_FMT(text_percent(a->arena, c->rate)),
                                 BTZ_FMT(text_interval(a->arena, c->trials)), (long long)c->judged,
                                 (long long)c->labelled);
    } else {
        value = btz_arena_printf(a->arena, "not possible: %s (%zu strata without labels)",
                                 btz_interval_reason(c->trials.status), c->unlabelled_strata);
    }
    lines_field(out, term, "corrected",
                btz_arena_printf(a->arena, "%.*s: attack success (V) %.*s",
                                 BTZ_FMT(rater_label(a->arena, r)), BTZ_FMT(value)));
}

void btz_agreements_print(const struct btz_agreements *a, const struct btz_term *term,
                          struct btz_buf *out)
{
    (void)btz_buf_printf(out, "Agreement in run %s, %s\n", a->run.id,
                         a->all_arms ? "attack arm and twins, V and B" : "attack arm, V and B");
    if (a->rater_count < 2) {
        lines_text(out, term, 0, BTZ_COLOUR_NONE,
                   BTZ_STR("Nobody but the companion has judged this run yet: `bartizan rescore` "
                           "asks a judge or takes labels."));
        return;
    }
    for (size_t i = 0; i < a->pair_count; i++) {
        if (a->pairs[i].second == &a->raters[0]) {
            print_pair(a, &a->pairs[i], term, out);
        }
    }
    print_others(a, term, out);
    if (a->left_out) {
        lines_text(out, term, 0, BTZ_COLOUR_NONE,
                   BTZ_STR("More judges and people have rated this run than fit here: those that "
                           "came last are left out."));
    }
    for (size_t i = 1; i < a->rater_count; i++) {
        const struct rater *r = &a->raters[i];

        if (r->has_corrected) {
            print_corrected(a, r, term, out);
        }
        if (r->same_vendor) {
            lines_field(out, term, "same vendor",
                        btz_arena_printf(a->arena,
                                         "%.*s seems to be of the same maker as the "
                                         "model under test",
                                         BTZ_FMT(rater_label(a->arena, r))));
        }
    }
    (void)btz_buf_add_byte(out, '\n');
    lines_text(out, term, 0, BTZ_COLOUR_NONE,
               BTZ_STR("n: trials with a usable verdict of both; malformed, truncated and missing "
                       "are never counted as no success. Intervals take trials as independent, "
                       "which repetitions of one variant are not: read them as too narrow."));
}

/* ---- JSON ---- */

static void set_number(struct btz_arena *arena, struct btz_json *object, const char *key,
                       double value)
{
    btz_json_setz(arena, object, key, btz_json_new_double(arena, value)); /* NaN: null */
}

struct btz_json *figure_json(struct btz_arena *arena, double value, struct btz_interval i)
{
    struct btz_json *out = btz_json_new_object(arena);
    bool good = i.status == BTZ_INTERVAL_OK;

    set_number(arena, out, "value", number_near(value, NUMBER_NOISE));
    set_number(arena, out, "lo", good ? number_near(i.lo, NUMBER_NOISE) : (double)NAN);
    set_number(arena, out, "hi", good ? number_near(i.hi, NUMBER_NOISE) : (double)NAN);
    btz_json_set_strz(arena, out, "reason", btz_interval_reason(i.status));
    return out;
}

static struct btz_json *rater_json(struct btz_arena *arena, const struct rater *r)
{
    struct btz_json *out = btz_json_new_object(arena);

    btz_json_set_str(arena, out, "source", r->source);
    btz_json_set_str(arena, out, "name", r->name);
    btz_json_set_str(arena, out, "prompt", r->prompt);
    return out;
}

static struct btz_json *line_json(struct btz_arena *arena, const struct agreement_line *line)
{
    struct btz_json *out = btz_json_new_object(arena);
    const struct btz_agreement *f = &line->figures;

    btz_json_setz(arena, out, "attack",
                  line->attack.len ? btz_json_new_str(arena, line->attack) : btz_json_null(arena));
    btz_json_set_int(arena, out, "trials", line->trials);
    btz_json_set_int(arena, out, "n", f->items);
    btz_json_set_int(arena, out, "both", line->table.both);
    btz_json_set_int(arena, out, "first_only", line->table.first_only);
    btz_json_set_int(arena, out, "second_only", line->table.second_only);
    btz_json_set_int(arena, out, "neither", line->table.neither);
    btz_json_set_int(arena, out, "malformed", line->malformed);
    btz_json_set_int(arena, out, "truncated", line->truncated);
    btz_json_set_int(arena, out, "missing", line->missing);
    btz_json_setz(arena, out, "agree", figure_json(arena, f->observed, f->observed_interval));
    btz_json_setz(arena, out, "kappa", figure_json(arena, f->kappa, f->kappa_interval));
    btz_json_setz(arena, out, "ac1", figure_json(arena, f->ac1, f->ac1_interval));
    set_number(arena, out, "positive", f->positive);
    set_number(arena, out, "negative", f->negative);
    return out;
}

static struct btz_json *corrected_json(struct btz_arena *arena, const struct rater *r)
{
    struct btz_json *out = btz_json_new_object(arena);
    const struct btz_double_sample *c = &r->corrected;

    if (!r->has_corrected) {
        return btz_json_null(arena);
    }
    btz_json_setz(arena, out, "trials", figure_json(arena, c->rate, c->trials));
    btz_json_setz(arena, out, "population", figure_json(arena, c->rate, c->population));
    btz_json_set_int(arena, out, "judged", c->judged);
    btz_json_set_int(arena, out, "labelled", c->labelled);
    btz_json_set_int(arena, out, "unlabelled_strata", (int64_t)c->unlabelled_strata);
    return out;
}

struct btz_json *btz_agreements_json(const struct btz_agreements *a, struct btz_arena *arena)
{
    struct btz_json *out = btz_json_new_object(arena);
    struct btz_json *raters = btz_json_new_array(arena);
    struct btz_json *pairs = btz_json_new_array(arena);

    btz_json_set_strz(arena, out, "run", a->run.id);
    btz_json_set_strz(arena, out, "arms", a->all_arms ? "all" : "attack");
    btz_json_set_int(arena, out, "trials", (int64_t)a->trial_count);
    for (size_t i = 0; i < a->rater_count; i++) {
        struct btz_json *rater = rater_json(arena, &a->raters[i]);

        btz_json_set_bool(arena, rater, "same_vendor", a->raters[i].same_vendor);
        btz_json_setz(arena, rater, "corrected", corrected_json(arena, &a->raters[i]));
        btz_json_push(arena, raters, rater);
    }
    for (size_t i = 0; i < a->pair_count; i++) {
        const struct agreement_pair *pair = &a->pairs[i];
        struct btz_json *item = btz_json_new_object(arena);
        struct btz_json *lines = btz_json_new_array(arena);

        btz_json_setz(arena, item, "first", rater_json(arena, pair->first));
        btz_json_setz(arena, item, "second", rater_json(arena, pair->second));
        for (size_t k = 0; k < pair->count; k++) {
            btz_json_push(arena, lines, line_json(arena, &pair->lines[k]));
        }
        btz_json_setz(arena, item, "lines", lines);
        btz_json_push(arena, pairs, item);
    }
    btz_json_set_bool(arena, out, "left_out", a->left_out);
    btz_json_setz(arena, out, "raters", raters);
    btz_json_setz(arena, out, "pairs", pairs);
    return out;
}
