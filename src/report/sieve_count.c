/* Shares of items that come in clusters (servers). */
#include <math.h>

#include "report/sieve_int.h"

struct sieve_counter sieve_counter_new(struct btz_arena *arena, size_t clusters)
{
    return (struct sieve_counter){
        .arena = arena,
        .k = btz_arena_array(arena, clusters + 1, sizeof(double)),
        .n = btz_arena_array(arena, clusters + 1, sizeof(int64_t)),
        .clusters = clusters,
    };
}

void sieve_counter_add(struct sieve_counter *counter, uint32_t cluster, double value)
{
    counter->k[cluster] += value;
    counter->n[cluster]++;
}

/* The design effect: variance of the share as the ratio of cluster totals (Cochran 1977, Sampling
 * Techniques, section 9A.1: m / (m - 1) * sum (k_c - p n_c)^2 / n^2) over that of n independent
 * items, p (1 - p) / n; never below 1 (Korn and Graubard 1998, Survey Methodology 24, 193-201,
 * truncate so). At p = 0 or 1, and with one cluster, it cannot be told: n stays. */
static double effective(const struct sieve_counter *counter, const struct sieve_figure *figure)
{
    double p = figure->value;
    double n = (double)figure->n;
    double m = (double)figure->clusters;
    double sum = 0;
    double effect;

    if (figure->clusters < 2 || p <= 0 || p >= 1) {
        return n;
    }
    for (size_t c = 0; c < counter->clusters; c++) {
        double off = counter->k[c] - p * (double)counter->n[c];

        sum += off * off;
    }
    effect = m / (m - 1) * sum / (n * n) / (p * (1 - p) / n);
    return effect > 1 ? n / effect : n;
}

static void set_interval(struct sieve_figure *figure)
{
    double units = figure->n_effective;

    figure->interval = (struct btz_interval){BTZ_INTERVAL_NO_DATA, NAN, NAN};
    if (figure->n && btz_stats_wilson_mean(figure->value, units > 0 ? units : 1, 0.95,
                                           &figure->interval) != BTZ_OK) {
        figure->interval.status = BTZ_INTERVAL_NO_DATA;
    }
}

void sieve_counter_end(const struct sieve_counter *counter, struct sieve_figure *figure)
{
    figure->k = 0;
    figure->n = figure->clusters = 0;
    for (size_t c = 0; c < counter->clusters; c++) {
        figure->k += counter->k[c];
        figure->n += counter->n[c];
        figure->clusters += counter->n[c] > 0;
    }
    figure->is_share = true;
    figure->value = figure->n ? figure->k / (double)figure->n : NAN;
    figure->n_effective = figure->n ? effective(counter, figure) : 0;
    set_interval(figure);
}

void sieve_figure_draw(struct sieve_figure *figure, int64_t items, int64_t seeds)
{
    figure->items = items;
    figure->seeds = seeds;
    if (figure->n_effective > (double)items) {
        figure->n_effective = (double)items;
        set_interval(figure);
    }
}

void sieve_figure_miss(struct sieve_figure *figure, int64_t missing)
{
    double all = (double)(figure->n + missing);

    figure->missing = missing;
    figure->bounds = (struct btz_interval){BTZ_INTERVAL_NO_DATA, NAN, NAN};
    if (all > 0) {
        figure->bounds = (struct btz_interval){BTZ_INTERVAL_OK, figure->k / all,
                                               (figure->k + (double)missing) / all};
    }
}

int64_t sieve_planned(const struct btz_sieve_report *report, const char *of, uint32_t arm,
                      uint32_t subject, int kind)
{
    int64_t sum = -1;

    for (size_t i = 0; i < report->plan_count; i++) {
        const struct sieve_plan *plan = &report->plans[i];

        if (strcmp(plan->of, of) == 0 && plan->arm == arm && plan->subject == subject) {
            sum += sum < 0; /* random-delete: one plan a seed */
            sum += kind == SIEVE_KINDS ? plan->definitions : plan->kinds[kind];
        }
    }
    return sum;
}

double sieve_upper_limit(const struct sieve_figure *figure)
{
    const struct btz_count count = {(int64_t)figure->k, figure->n, 0};
    struct btz_interval exact;
    struct btz_interval wilson;
    double units = figure->n_effective;

    if (figure->n == 0 || btz_stats_clopper_pearson(&count, 0.90, &exact) != BTZ_OK ||
        btz_stats_wilson_mean(figure->value, units > 0 ? units : 1, 0.90, &wilson) != BTZ_OK) {
        return NAN;
    }
    return exact.hi > wilson.hi ? exact.hi : wilson.hi;
}

struct sieve_figure *sieve_figure_add(struct btz_sieve_report *report)
{
    report->figures = btz_arena_grow(report->arena, report->figures, report->figure_count,
                                     &report->figure_cap, sizeof(*report->figures));
    return &report->figures[report->figure_count++];
}

const struct sieve_figure *sieve_figure_find(const struct btz_sieve_report *report,
                                             const char *table, const struct sieve_subject *subject,
                                             const char *arm, const char *measure, const char *over)
{
    for (size_t i = 0; i < report->figure_count; i++) {
        const struct sieve_figure *f = &report->figures[i];

        if (strcmp(f->table, table) == 0 && btz_str_is(f->arm, arm) &&
            btz_str_is(f->measure, measure) && strcmp(f->over, over) == 0 &&
            (subject ? btz_str_eq(f->model, subject->model) &&
                           btz_str_eq(f->retrieval, subject->retrieval) &&
                           btz_str_eq(f->index, subject->index)
                     : f->model.len == 0)) {
            return f;
        }
    }
    return NULL;
}
