/* The sieve's report as JSON and CSV. */
#include <math.h>

#include "report/csv.h"
#include "report/sieve_int.h"

static const struct btz_json *text_or_null(struct btz_arena *arena, struct btz_str text)
{
    return text.len ? btz_json_new_str(arena, text) : btz_json_null(arena);
}

static void set_number(struct btz_arena *arena, struct btz_json *out, const char *key, double value)
{
    btz_json_setz(arena, out, key, btz_json_new_double(arena, value));
}

static struct btz_json *figure_json(struct btz_arena *arena, const struct sieve_figure *f)
{
    struct btz_json *out = btz_json_new_object(arena);

    btz_json_set_strz(arena, out, "table", f->table);
    btz_json_setz(arena, out, "model", text_or_null(arena, f->model));
    btz_json_setz(arena, out, "retrieval", text_or_null(arena, f->retrieval));
    btz_json_setz(arena, out, "index", text_or_null(arena, f->index));
    if (f->second.len) {
        btz_json_set_str(arena, out, "second", f->second);
    }
    btz_json_set_str(arena, out, "arm", f->arm);
    btz_json_set_str(arena, out, "measure", f->measure);
    btz_json_set_strz(arena, out, "over", f->over);
    btz_json_set_int(arena, out, "n", f->n);
    set_number(arena, out, "value", f->value);
    if (f->is_share) {
        set_number(arena, out, "k", f->k);
        btz_json_set_int(arena, out, "clusters", f->clusters);
        set_number(arena, out, "n_effective", f->n_effective);
        set_number(arena, out, "lo", f->interval.lo);
        set_number(arena, out, "hi", f->interval.hi);
        btz_json_set_int(arena, out, "missing", f->missing);
    }
    if (f->missing) {
        struct btz_json *bounds = btz_json_new_object(arena);

        set_number(arena, bounds, "lo", f->bounds.lo);
        set_number(arena, bounds, "hi", f->bounds.hi);
        btz_json_setz(arena, out, "bounds", bounds);
    }
    if (f->seeds) {
        btz_json_set_int(arena, out, "items", f->items);
        btz_json_set_int(arena, out, "seeds", f->seeds);
        set_number(arena, out, "least", f->least);
        set_number(arena, out, "most", f->most);
    }
    return out;
}

static struct btz_json *contrast_json(struct btz_arena *arena, const struct sieve_contrast *c)
{
    struct btz_json *out = btz_json_new_object(arena);

    btz_json_set_str(arena, out, "model", c->model);
    btz_json_set_str(arena, out, "retrieval", c->retrieval);
    btz_json_set_str(arena, out, "index", c->index);
    btz_json_set_str(arena, out, "arm", c->arm);
    btz_json_set_int(arena, out, "pairs", c->paired.pairs);
    btz_json_set_int(arena, out, "missing", c->missing);
    btz_json_set_int(arena, out, "both", c->table.both);
    btz_json_set_int(arena, out, "none_only", c->table.first_only);
    btz_json_set_int(arena, out, "arm_only", c->table.second_only);
    btz_json_set_int(arena, out, "neither", c->table.neither);
    /* Of the arm, minus none: a decrease is negative. */
    set_number(arena, out, "difference", -c->paired.difference);
    set_number(arena, out, "lo", -c->paired.interval.hi);
    set_number(arena, out, "hi", -c->paired.interval.lo);
    set_number(arena, out, "p", c->paired.p_exact);
    set_number(arena, out, "adjusted", c->adjusted);
    return out;
}

static struct btz_json *goal_json(struct btz_arena *arena, const struct sieve_goal *g)
{
    static const char *const states[] = {"met", "not shown", "not met", "no data"};
    struct btz_json *out = btz_json_new_object(arena);

    btz_json_set_strz(arena, out, "goal", g->name);
    btz_json_setz(arena, out, "model", text_or_null(arena, g->model));
    btz_json_set_str(arena, out, "about", g->about);
    set_number(arena, out, "target", g->target);
    set_number(arena, out, "value", g->value);
    set_number(arena, out, "limit", g->limit);
    btz_json_set_int(arena, out, "n", g->n);
    btz_json_set_int(arena, out, "missing", g->missing);
    btz_json_set_strz(arena, out, "state", states[g->state]);
    return out;
}

static struct btz_json *competence_json(const struct btz_sieve_report *report,
                                        struct btz_arena *arena)
{
    struct btz_json *out = btz_json_new_array(arena);

    for (size_t s = 0; s < report->subject_count; s++) {
        const struct sieve_subject *of = &report->subjects[s];
        const struct sieve_figure *f =
            sieve_figure_find(report, "utility", of, "none", "completion", "twins");
        struct btz_json *one = btz_json_new_object(arena);

        btz_json_set_str(arena, one, "model", of->model);
        btz_json_set_str(arena, one, "retrieval", of->retrieval);
        btz_json_set_str(arena, one, "index", of->index);
        set_number(arena, one, "value", f ? f->value : NAN);
        btz_json_setz(arena, one, "competent",
                      f && f->n ? btz_json_new_bool(arena, f->value >= SIEVE_COMPETENT)
                                : btz_json_null(arena));
        btz_json_push(arena, out, one);
    }
    return out;
}

struct btz_json *btz_sieve_report_json(const struct btz_sieve_report *report,
                                       struct btz_arena *arena)
{
    struct btz_json *out = btz_json_new_object(arena);
    struct btz_json *run = btz_json_new_object(arena);
    struct btz_json *figures = btz_json_new_array(arena);
    struct btz_json *contrasts = btz_json_new_array(arena);
    struct btz_json *goals = btz_json_new_array(arena);
    struct btz_json *cost = btz_json_new_array(arena);

    btz_json_set_strz(arena, run, "id", report->run.id);
    btz_json_set_str(arena, run, "kind", report->run.kind);
    btz_json_set_bool(arena, run, "done", report->run.done);
    btz_json_set_int(arena, run, "rows", report->run.rows);
    btz_json_set_int(arena, run, "replies", report->run.replies);
    for (size_t i = 0; i < report->figure_count; i++) {
        btz_json_push(arena, figures, figure_json(arena, &report->figures[i]));
    }
    for (size_t i = 0; i < report->contrast_count; i++) {
        btz_json_push(arena, contrasts, contrast_json(arena, &report->contrasts[i]));
    }
    for (size_t i = 0; i < report->goal_count; i++) {
        btz_json_push(arena, goals, goal_json(arena, &report->goals[i]));
    }
    for (size_t i = 0; i < report->cost_count; i++) {
        struct sieve_spent spent = sieve_spent_of(report, report->cost[i].model);
        struct btz_json *one = btz_json_new_object(arena);

        btz_json_set_str(arena, one, "model", report->cost[i].model);
        btz_json_set_int(arena, one, "answers", spent.answers);
        btz_json_set_int(arena, one, "replies", report->cost[i].replies);
        btz_json_set_int(arena, one, "took_ms", report->cost[i].took_us / 1000);
        btz_json_set_int(arena, one, "answers_with_tokens", spent.known);
        btz_json_set_int(arena, one, "tokens_in", spent.in);
        btz_json_set_int(arena, one, "tokens_out", spent.out);
        btz_json_push(arena, cost, one);
    }
    btz_json_setz(arena, out, "run", run);
    btz_json_setz(arena, out, "card", report->card);
    btz_json_setz(arena, out, "embedding",
                  report->embedding ? report->embedding : btz_json_null(arena));
    btz_json_setz(arena, out, "competence", competence_json(report, arena));
    btz_json_setz(arena, out, "figures", figures);
    btz_json_setz(arena, out, "contrasts", contrasts);
    btz_json_setz(arena, out, "goals", goals);
    btz_json_setz(arena, out, "cost", cost);
    return out;
}

/* ---- CSV (RFC 4180) ---- */

static void field(struct btz_buf *out, struct btz_str text)
{
    btz_csv_add(out, text);
    (void)btz_buf_add_byte(out, ',');
}

static void number(struct btz_buf *out, double value, char end)
{
    if (!isnan(value)) {
        (void)btz_buf_printf(out, "%.10g", value);
    }
    (void)btz_buf_add_byte(out, end);
}

void btz_sieve_report_csv(const struct btz_sieve_report *report, struct btz_buf *out)
{
    (void)btz_buf_add_text(out, "table,model,retrieval,index,arm,measure,over,k,n,clusters,"
                                "n_effective,value,lo,hi,seeds,least,most,missing,bound_lo,"
                                "bound_hi,second,items\n");
    for (size_t i = 0; i < report->figure_count; i++) {
        const struct sieve_figure *f = &report->figures[i];

        field(out, btz_str_of(f->table));
        field(out, f->model);
        field(out, f->retrieval);
        field(out, f->index);
        field(out, f->arm);
        field(out, f->measure);
        field(out, btz_str_of(f->over));
        number(out, f->is_share ? f->k : NAN, ',');
        (void)btz_buf_printf(out, "%lld,", (long long)f->n);
        number(out, f->is_share ? (double)f->clusters : NAN, ',');
        number(out, f->is_share ? f->n_effective : NAN, ',');
        number(out, f->value, ',');
        number(out, f->interval.lo, ',');
        number(out, f->interval.hi, ',');
        number(out, f->seeds ? (double)f->seeds : NAN, ',');
        number(out, f->seeds ? f->least : NAN, ',');
        number(out, f->seeds ? f->most : NAN, ',');
        number(out, f->is_share ? (double)f->missing : NAN, ',');
        number(out, f->missing ? f->bounds.lo : NAN, ',');
        number(out, f->missing ? f->bounds.hi : NAN, ',');
        field(out, f->second);
        number(out, f->seeds ? (double)f->items : NAN, '\n');
    }
}
