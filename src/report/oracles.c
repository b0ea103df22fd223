/* Judges and the deterministic oracle: whose word decides, and how far they are apart. */
#include "report/agreement_int.h"
#include "report/report_int.h"

static int found(void *context, int64_t ordinal, const struct btz_store_verdict *v,
                 struct btz_err *err)
{
    (void)context;
    (void)ordinal;
    (void)v;
    (void)err;
    return 1;
}

static bool is_judge(const struct rater *rater)
{
    return btz_str_is(rater->source, "judge");
}

/* "NAME", or "NAME+PROMPT" with the beginning of the prompt's hash. */
static bool is_named(const struct rater *rater, struct btz_str name)
{
    if (btz_str_eq(rater->name, name)) {
        return true;
    }
    return name.len > rater->name.len + 1 && name.ptr[rater->name.len] == '+' &&
           btz_str_starts(name, rater->name) &&
           btz_str_starts(rater->prompt, btz_str_sub(name, rater->name.len + 1, name.len));
}

static struct btz_str judge_names(const struct btz_agreements *a, struct btz_arena *arena)
{
    struct btz_str out = BTZ_STR("");

    for (size_t i = 0; i < a->rater_count; i++) {
        if (is_judge(&a->raters[i])) {
            out = btz_arena_printf(arena, "%.*s%s%.*s+%.*s", BTZ_FMT(out), out.len ? ", " : "",
                                   BTZ_FMT(a->raters[i].name),
                                   BTZ_FMT(btz_str_sub(a->raters[i].prompt, 0, 8)));
        }
    }
    return out;
}

static int choose(struct btz_report *report, struct btz_str name, struct btz_err *err)
{
    const struct btz_agreements *a = report->agreements;
    size_t judges = 0;
    size_t fitting = 0;

    for (size_t i = 0; a && i < a->rater_count; i++) {
        if (is_judge(&a->raters[i])) {
            judges++;
            if (name.len == 0 || is_named(&a->raters[i], name)) {
                fitting++;
                report->judge = &a->raters[i];
            }
        }
    }
    if (judges == 0) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "no judge has judged run %s; `bartizan rescore %s --judge MODEL` asks "
                           "one",
                           report->run.id, report->run.id);
    }
    if (fitting != 1) {
        return btz_err_set(err, BTZ_EUSAGE, "%s; name one with --judge: %.*s",
                           fitting ? "several judges have judged this run, and only one can decide"
                           : name.len ? "no judge of that name has judged this run"
                                      : "no judge has judged this run",
                           BTZ_FMT(judge_names(a, report->arena)));
    }
    return BTZ_OK;
}

int report_judges(struct btz_store *store, struct btz_report *report,
                  const struct btz_report_options *options, struct btz_err *err)
{
    int rc = btz_store_verdicts_each(store, report->run.no, BTZ_STORE_LATE, BTZ_STR("judge"), found,
                                     NULL, err);

    if (rc < 0) {
        return rc;
    }
    if (rc == 1) {
        rc = btz_agreements_build(store, report->run.no, false, report->arena, &report->agreements,
                                  err);
    }
    report->paper = options->paper;
    return rc == BTZ_OK && options->paper ? choose(report, options->judge, err) : rc;
}

int report_judged(const struct btz_report *report, int64_t ordinal)
{
    const struct rated_trial *trial = rated_at(report->agreements, ordinal);
    enum rating rating =
        trial ? rated_by(trial, (size_t)(report->judge - report->agreements->raters)).rating
              : RATING_MISSING;

    return rating == RATING_YES ? 1 : rating == RATING_NO ? 0 : -1;
}

/* "semantic", "deterministic"; "" if the card does not say. */
static struct btz_str kind_of(const struct btz_report *report, struct btz_str attack)
{
    const struct btz_json *attacks = btz_json_getz(report->card, "attacks");

    for (size_t i = 0; i < btz_json_count(attacks); i++) {
        const struct btz_json *card = btz_json_at(attacks, i);

        if (btz_str_eq(btz_json_str(btz_json_getz(card, "id")), attack)) {
            return btz_json_str(btz_json_getz(card, "oracle"));
        }
    }
    return BTZ_STR("");
}

bool report_by_judge(const struct btz_report *report, struct btz_str attack, bool below)
{
    return report->paper && !below && btz_str_is(kind_of(report, attack), "semantic");
}

/* ---- the table ---- */

struct builder {
    struct btz_report *report;
    size_t judge;
    const struct subject *subject;
    struct agreement_line *by_attack; /* index of agreements->attacks; the last is the total */
};

static void count_trials(struct builder *b)
{
    const struct btz_agreements *a = b->report->agreements;

    for (size_t i = 0; i < a->trial_count; i++) {
        const struct rated_trial *t = &a->trials[i];
        const struct place *place =
            (uint64_t)t->ordinal < b->report->place_count ? &b->report->places[t->ordinal] : NULL;

        if (place && place->variant && place->variant->row->subject == b->subject && !t->below) {
            agreement_count(t, b->judge, 0, &b->by_attack[t->attack]);
        }
    }
}

static int add_line(struct oracle_table *table, struct btz_str attack, struct agreement_line *agree,
                    struct btz_err *err)
{
    struct oracle_line *line = &table->lines[table->count++];

    line->attack = attack;
    line->agree = agree;
    if (btz_stats_agreement(&agree->table, REPORT_CONFIDENCE, &agree->figures) != BTZ_OK ||
        btz_stats_paired(&agree->table, REPORT_CONFIDENCE, &line->paired) != BTZ_OK) {
        return btz_err_set(err, BTZ_EINTERNAL, "the counts of verdicts contradict each other");
    }
    return BTZ_OK;
}

static void add_counts(struct agreement_line *sum, const struct agreement_line *line)
{
    sum->trials += line->trials;
    sum->missing += line->missing;
    sum->malformed += line->malformed;
    sum->truncated += line->truncated;
    sum->table.both += line->table.both;
    sum->table.first_only += line->table.first_only;
    sum->table.second_only += line->table.second_only;
    sum->table.neither += line->table.neither;
}

/* Attacks in the order of the other tables; those that the judge was never asked about are left
 * out, and do not count as missing in the total. */
static int fill_table(struct builder *b, struct oracle_table *table, struct btz_err *err)
{
    const struct btz_agreements *a = b->report->agreements;
    struct agreement_line *total = &b->by_attack[a->attack_count];
    int rc = BTZ_OK;

    table->lines = btz_arena_array(b->report->arena, a->attack_count + 1, sizeof(*table->lines));
    for (size_t r = 0; rc == BTZ_OK && r < b->subject->row_count; r++) {
        const struct row *row = b->subject->rows[r];

        for (size_t i = 0; rc == BTZ_OK && !row->below && i < a->attack_count; i++) {
            struct agreement_line *line = &b->by_attack[i];

            if (btz_str_eq(a->attacks[i], row->attack) && line->trials > line->missing) {
                add_counts(total, line);
                rc = add_line(table, row->attack, line, err);
            }
        }
    }
    return rc == BTZ_OK && table->count ? add_line(table, BTZ_STR_NONE, total, err) : rc;
}

static int check_kinds(const struct btz_report *report, struct btz_err *err)
{
    for (const struct subject *s = report->first; s; s = s->next) {
        for (size_t i = 0; i < s->row_count; i++) {
            if (kind_of(report, s->rows[i]->attack).len == 0) {
                return btz_err_set(err, BTZ_EUSAGE,
                                   "the run's card does not say whether %.*s is semantic, so a "
                                   "judge cannot decide it: leave --oracle paper out",
                                   BTZ_FMT(btz_str_sub(s->rows[i]->attack, 0, 100)));
            }
        }
    }
    return BTZ_OK;
}

int report_oracles(struct btz_report *report, struct btz_err *err)
{
    const struct btz_agreements *a = report->agreements;
    struct oracle_table **last = &report->oracles;
    int rc = report->paper ? check_kinds(report, err) : BTZ_OK;

    for (const struct subject *s = report->first; a && s; s = s->next) {
        for (size_t i = 0; rc == BTZ_OK && i < a->rater_count; i++) {
            struct builder b = {.report = report, .judge = i, .subject = s};
            struct oracle_table *table;

            if (!is_judge(&a->raters[i])) {
                continue;
            }
            b.by_attack = btz_arena_array(report->arena, a->attack_count + 1, sizeof(*b.by_attack));
            table = BTZ_NEW(report->arena, struct oracle_table);
            table->subject = s;
            table->judge = &a->raters[i];
            count_trials(&b);
            rc = fill_table(&b, table, err);
            if (table->count) {
                *last = table;
                last = &table->next;
            }
        }
    }
    return rc;
}
