#include "report/agreement.h"

#include "report/agreement_int.h"

/* However many people have labelled a run, there is room for judges. */
enum { RATERS_MAX = 64, PEOPLE_MAX = 40 };

struct reading {
    struct btz_agreements *a;
    struct btz_arena *scratch; /* emptied after each verdict */
    size_t trial_cap, attack_cap, model_cap;
};

struct rated rated_by(const struct rated_trial *trial, size_t rater)
{
    if (rater == 0) {
        return (struct rated){.rating = trial->effect ? RATING_YES : RATING_NO};
    }
    return trial->by ? trial->by[rater] : (struct rated){.rating = RATING_MISSING};
}

static struct rated_trial *trial_at(const struct btz_agreements *a, int64_t ordinal)
{
    size_t lo = 0;
    size_t hi = a->trial_count;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (a->trials[mid].ordinal == ordinal) {
            return &a->trials[mid];
        }
        if (a->trials[mid].ordinal < ordinal) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return NULL;
}

const struct rated_trial *rated_at(const struct btz_agreements *a, int64_t ordinal)
{
    const struct rated_trial *trial = trial_at(a, ordinal);

    return trial && trial->by ? trial : NULL;
}

static size_t name_at(struct btz_arena *arena, struct btz_str **names, size_t *count, size_t *cap,
                      struct btz_str name)
{
    for (size_t i = 0; i < *count; i++) {
        if (btz_str_eq((*names)[i], name)) {
            return i;
        }
    }
    *names = btz_arena_grow(arena, *names, *count, cap, sizeof(**names));
    (*names)[*count] = btz_arena_dup(arena, name);
    return (*count)++;
}

/* The part of a judge's version that names its prompt. */
static struct btz_str prompt_of(const struct btz_store_verdict *v)
{
    struct btz_str rest = v->version;
    struct btz_str prompt = BTZ_STR("");

    if (btz_str_is(v->source, "judge")) {
        (void)btz_str_cut(&rest, '+', &prompt);
    }
    return prompt;
}

/* NULL for a verdict that is nobody's opinion on success, or beyond the most raters. */
static struct rater *rater_of(struct btz_agreements *a, const struct btz_store_verdict *v)
{
    struct btz_str prompt = prompt_of(v);
    size_t people = 0;

    if (!btz_str_is(v->source, "judge") && !btz_str_is(v->source, "human")) {
        return NULL;
    }
    for (size_t i = 1; i < a->rater_count; i++) {
        struct rater *r = &a->raters[i];

        if (btz_str_eq(r->source, v->source) && btz_str_eq(r->name, v->name) &&
            btz_str_eq(r->prompt, prompt)) {
            return r;
        }
    }
    for (size_t i = 1; i < a->rater_count; i++) {
        people += btz_str_is(a->raters[i].source, "human") ? 1 : 0;
    }
    if (a->rater_count == RATERS_MAX || (people == PEOPLE_MAX && btz_str_is(v->source, "human"))) {
        a->left_out = true;
        return NULL;
    }
    a->raters[a->rater_count] = (struct rater){.source = btz_arena_dup(a->arena, v->source),
                                               .name = btz_arena_dup(a->arena, v->name),
                                               .prompt = btz_arena_dup(a->arena, prompt)};
    return &a->raters[a->rater_count++];
}

static int take_verdict(void *context, int64_t ordinal, const struct btz_store_verdict *v,
                        struct btz_err *err)
{
    struct reading *r = context;
    struct btz_agreements *a = r->a;
    struct rated_trial *trial = trial_at(a, ordinal);
    struct rater *rater = trial ? rater_of(a, v) : NULL;
    const struct btz_json *json = NULL;
    struct rated *rated;

    (void)err;
    if (!rater) {
        return BTZ_OK;
    }
    if (!trial->by) {
        trial->by = btz_arena_array(a->arena, RATERS_MAX, sizeof(*trial->by));
    }
    rated = &trial->by[rater - a->raters];
    *rated = (struct rated){.rating = v->success == BTZ_STORE_YES  ? RATING_YES
                                      : v->success == BTZ_STORE_NO ? RATING_NO
                                                                   : RATING_MALFORMED};
    if (btz_str_is(v->source, "judge") &&
        btz_json_parse(r->scratch, v->json, NULL, &json, NULL) == BTZ_OK) {
        rated->truncated = btz_json_bool(btz_json_getz(json, "truncated"), false);
        rater->same_vendor |= btz_json_bool(btz_json_getz(json, "same_vendor"), false);
    }
    btz_arena_reset(r->scratch);
    return BTZ_OK;
}

static void take_trial(struct reading *r, const struct btz_store_row *row)
{
    struct btz_agreements *a = r->a;
    struct rated_trial *trial;

    a->trials =
        btz_arena_grow(a->arena, a->trials, a->trial_count, &r->trial_cap, sizeof(*a->trials));
    trial = &a->trials[a->trial_count++];
    *trial = (struct rated_trial){
        .ordinal = row->ordinal,
        .attack =
            name_at(a->arena, &a->attacks, &a->attack_count, &r->attack_cap, row->cell.attack),
        .model = name_at(a->arena, &a->models, &a->model_count, &r->model_cap, row->cell.model),
        .below = btz_str_is(row->cell.boundary, "B"),
        .attacked = btz_str_is(row->cell.arm, "attack"),
        .effect = row->trial.chain.effect};
}

/* The trials, then all that was said of them afterwards: judges and people speak late. */
static int read_trials(struct btz_store *store, struct btz_agreements *a, struct btz_err *err)
{
    struct reading reading = {.a = a, .scratch = btz_arena_new()};
    struct btz_store_rows *rows = NULL;
    struct btz_store_row row;
    int rc = btz_store_rows_open(store, a->run.no, BTZ_STORE_BY_PLAN, &rows, err);

    while (rc == BTZ_OK && (rc = btz_store_rows_next(rows, &row, err)) == 1) {
        rc = BTZ_OK;
        if (row.n > 0 && row.current && row.trial.outcome != BTZ_STORE_FAULT &&
            (a->all_arms || btz_str_is(row.cell.arm, "attack"))) {
            take_trial(&reading, &row);
        }
    }
    btz_store_rows_free(rows);
    if (rc == BTZ_OK) {
        rc = btz_store_verdicts_each(store, a->run.no, BTZ_STORE_LATE, BTZ_STR_NONE, take_verdict,
                                     &reading, err);
    }
    btz_arena_free(reading.scratch);
    return rc;
}

/* ---- figures ---- */

void agreement_count(const struct rated_trial *trial, size_t first, size_t second,
                     struct agreement_line *line)
{
    struct rated x = rated_by(trial, first);
    struct rated y = rated_by(trial, second);

    line->trials++;
    if (x.rating == RATING_MISSING || y.rating == RATING_MISSING) {
        line->missing++;
    } else if (x.rating == RATING_MALFORMED || y.rating == RATING_MALFORMED) {
        line->malformed++;
    } else {
        line->truncated += x.truncated || y.truncated;
        line->table.both += x.rating == RATING_YES && y.rating == RATING_YES;
        line->table.first_only += x.rating == RATING_YES && y.rating == RATING_NO;
        line->table.second_only += x.rating == RATING_NO && y.rating == RATING_YES;
        line->table.neither += x.rating == RATING_NO && y.rating == RATING_NO;
    }
}

static void count_line(const struct btz_agreements *a, size_t first, size_t second,
                       struct agreement_line *line)
{
    for (size_t i = 0; i < a->trial_count; i++) {
        const struct rated_trial *t = &a->trials[i];

        if (!line->attack.len || btz_str_eq(line->attack, a->attacks[t->attack])) {
            agreement_count(t, first, second, line);
        }
    }
}

static int fill_pair(const struct btz_agreements *a, size_t first, size_t second,
                     struct agreement_pair *pair, struct btz_err *err)
{
    *pair = (struct agreement_pair){
        .first = &a->raters[first],
        .second = &a->raters[second],
        .lines = btz_arena_array(a->arena, a->attack_count + 1, sizeof(*pair->lines)),
        .count = a->attack_count + 1};
    for (size_t i = 0; i < pair->count; i++) {
        struct agreement_line *line = &pair->lines[i];

        line->attack = i < a->attack_count ? a->attacks[i] : BTZ_STR_NONE;
        count_line(a, first, second, line);
        if (btz_stats_agreement(&line->table, REPORT_CONFIDENCE, &line->figures) != BTZ_OK) {
            return btz_err_set(err, BTZ_EINTERNAL, "the counts of verdicts contradict each other");
        }
    }
    return BTZ_OK;
}

/* What people say of a trial: the majority; MISSING without labels and for a tie. */
static enum rating human_of(const struct btz_agreements *a, const struct rated_trial *t)
{
    int64_t balance = 0;

    for (size_t i = 1; i < a->rater_count; i++) {
        if (btz_str_is(a->raters[i].source, "human")) {
            balance += (rated_by(t, i).rating == RATING_YES) - (rated_by(t, i).rating == RATING_NO);
        }
    }
    return balance > 0 ? RATING_YES : balance < 0 ? RATING_NO : RATING_MISSING;
}

/* The judge's rate of attack success, visible attacks only, corrected by people's labels; strata:
 * verdict x attack x model. */
static void correct(struct btz_agreements *a, size_t judge)
{
    size_t strata_count = a->attack_count * a->model_count * 2;
    struct btz_label_stratum *strata = btz_arena_array(a->arena, strata_count + 1, sizeof(*strata));
    int64_t labelled = 0;

    for (size_t i = 0; i < a->trial_count; i++) {
        const struct rated_trial *t = &a->trials[i];
        enum rating rating = rated_by(t, judge).rating;
        enum rating human = human_of(a, t);
        struct btz_label_stratum *s =
            &strata[(t->attack * a->model_count + t->model) * 2 + (rating == RATING_YES)];

        if (t->attacked && !t->below && (rating == RATING_YES || rating == RATING_NO)) {
            s->judged++;
            s->labelled += human != RATING_MISSING;
            s->positive += human == RATING_YES;
            labelled += human != RATING_MISSING;
        }
    }
    a->raters[judge].has_corrected =
        labelled > 0 && btz_correct_double_sample(strata, strata_count, REPORT_CONFIDENCE,
                                                  &a->raters[judge].corrected) == BTZ_OK;
}

static int fill(struct btz_agreements *a, struct btz_err *err)
{
    int rc = BTZ_OK;

    a->pairs = btz_arena_array(a->arena, a->rater_count * a->rater_count + 1, sizeof(*a->pairs));
    /* Each judge and person against the companion first, then among themselves. */
    for (size_t second = 0; second < a->rater_count; second++) {
        for (size_t first = second + 1; rc == BTZ_OK && first < a->rater_count; first++) {
            rc = fill_pair(a, first, second, &a->pairs[a->pair_count++], err);
        }
    }
    for (size_t i = 1; i < a->rater_count; i++) {
        if (btz_str_is(a->raters[i].source, "judge")) {
            correct(a, i);
        }
    }
    return rc;
}

int btz_agreements_build(struct btz_store *store, int64_t no, bool all_arms,
                         struct btz_arena *arena, struct btz_agreements **out, struct btz_err *err)
{
    struct btz_agreements *a = BTZ_NEW(arena, struct btz_agreements);
    int rc = report_find_run(store, no, arena, &a->run, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    a->arena = arena;
    a->all_arms = all_arms;
    a->raters = btz_arena_array(arena, RATERS_MAX, sizeof(*a->raters));
    a->raters[0] = (struct rater){
        .source = BTZ_STR("companion"), .name = BTZ_STR("oracle"), .prompt = BTZ_STR("")};
    a->rater_count = 1;
    rc = read_trials(store, a, err);
    if (rc == BTZ_OK) {
        rc = fill(a, err);
    }
    if (rc == BTZ_OK) {
        *out = a;
    }
    return rc;
}
