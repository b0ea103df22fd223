#include "report/compare.h"

#include <math.h>
#include <string.h>

#include "report/compare_int.h"
#include "stats/power.h"

enum { POWER_STUDIES = 400 };
/* Assumed by the power statement: correlation of a variant's repetitions, and the share of variants
 * that are as hard in both arms. Printed beside it. */
static const double power_spread = 0.3;
static const double power_pairing = 0.5;

/* Name of the only thing in which two subjects differ; NULL if there are several. */
static const char *difference(const struct subject *a, const struct subject *b)
{
    const struct {
        const char *name;
        struct btz_str a, b;
    } things[] = {{"model", a->model, b->model},
                  {"architecture", a->architecture, b->architecture},
                  {"defence", a->defence, b->defence},
                  {"revision", a->revision, b->revision},
                  {"host profile", a->host_profile, b->host_profile}};
    const char *found = "run";
    size_t count = 0;

    if (!btz_str_eq(a->suite, b->suite)) {
        return NULL; /* other attacks: there is nothing to pair */
    }
    for (size_t i = 0; i < sizeof(things) / sizeof(things[0]); i++) {
        if (!btz_str_eq(things[i].a, things[i].b)) {
            found = things[i].name;
            count++;
        }
    }
    return count <= 1 ? found : NULL;
}

static const struct row *same_row(const struct subject *s, const struct row *like)
{
    for (size_t i = 0; i < s->row_count; i++) {
        const struct row *row = s->rows[i];

        if (!row->below && btz_str_eq(row->surface, like->surface) &&
            btz_str_eq(row->attack, like->attack)) {
            return row;
        }
    }
    return NULL;
}

static const struct variant *same_variant(const struct row *row, struct btz_str name)
{
    const struct variant *v = row ? row->first : NULL;

    while (v && !btz_str_eq(v->name, name)) {
        v = v->next;
    }
    return v;
}

static bool is_of(const struct row *row, const struct line *line)
{
    return !row->below && (!line->surface.len || btz_str_eq(line->surface, row->surface)) &&
           (!line->attack.len || btz_str_eq(line->attack, row->attack));
}

/* Pairs of one rate over the visible rows that belong to the line; returns how many. */
static size_t pairs_of(const struct comparison *c, const struct line *line, enum rate_kind kind,
                       struct btz_pair *out)
{
    const struct btz_count none = {0};
    size_t n = 0;

    for (size_t i = 0; i < c->first->row_count; i++) {
        const struct row *row = c->first->rows[i];
        const struct row *other = same_row(c->second, row);

        if (!is_of(row, line)) {
            continue;
        }
        for (const struct variant *v = row->first; v; v = v->next) {
            const struct variant *w = same_variant(other, v->name);

            out[n].attack = row->order;
            out[n].first = rate_count(kind, v, false);
            out[n++].second = w ? rate_count(kind, w, false) : none;
        }
        for (const struct variant *w = other ? other->first : NULL; w; w = w->next) {
            if (!same_variant(row, w->name)) {
                out[n++] = (struct btz_pair){row->order, none, rate_count(kind, w, false)};
            }
        }
    }
    /* Attacks of the second alone; their numbers are of another plan. */
    for (size_t i = 0; i < c->second->row_count; i++) {
        const struct row *row = c->second->rows[i];

        for (const struct variant *w = row->first;
             w && is_of(row, line) && !same_row(c->first, row); w = w->next) {
            out[n++] = (struct btz_pair){UINT32_MAX - row->order, none, rate_count(kind, w, false)};
        }
    }
    return n;
}

static int fill_line(const struct comparison *c, struct line *line, struct btz_pair *pairs,
                     struct btz_err *err)
{
    struct btz_contrast_plan plan = btz_contrast_plan_default();
    size_t n = pairs_of(c, line, RATE_ASR, pairs);
    int rc = btz_stats_contrast(pairs, n, &plan, &line->asr);

    plan.margin = COMPARE_MARGIN;
    n = pairs_of(c, line, RATE_CLEAN, pairs);
    rc = rc == BTZ_OK ? btz_stats_contrast(pairs, n, &plan, &line->utility) : rc;
    return rc == BTZ_OK ? rc
                        : btz_err_set(err, rc, "the runs' counts contradict each other (%s)",
                                      btz_code_name(rc));
}

bool compare_against_none(const struct comparison *c)
{
    return strcmp(c->what, "defence") == 0 &&
           (btz_str_is(c->first->defence, "none") || btz_str_is(c->second->defence, "none"));
}

/* Least effect with the sign of `sign`; NaN if there is none. */
static double detect(struct btz_power_plan plan, double sign)
{
    double effect = NAN;

    plan.effect = sign;
    return btz_stats_power_detectable(&plan, 0.8, &effect, NULL) == BTZ_OK ? effect : NAN;
}

/* Of a defence against none: the least decrease from none's rate, below 0. Else the least size that
 * is found whichever way the change goes, from the mean of both arms' rates. Neither depends on
 * which arm is the first. */
static double detectable(const struct comparison *c)
{
    const struct btz_contrast *asr = &c->lines[c->count - 1].asr;
    int64_t first = btz_count_n(&asr->first_total);
    int64_t second = btz_count_n(&asr->second_total);
    int64_t seen = first < second ? first : second;
    struct btz_power_plan plan = {.attacks = (uint32_t)asr->attacks,
                                  .spread = power_spread,
                                  .pairing = power_pairing,
                                  .alpha = 0.05,
                                  .studies = POWER_STUDIES,
                                  .seed = 1};
    double down;
    double up;

    if (asr->attacks == 0 || seen <= 0) {
        return NAN;
    }
    plan.variants = (uint32_t)((asr->variants + asr->attacks / 2) / asr->attacks);
    plan.repetitions = (uint32_t)(((size_t)seen + asr->variants / 2) / asr->variants);
    plan.repetitions = plan.repetitions ? plan.repetitions : 1;
    if (compare_against_none(c)) {
        plan.rate = btz_count_rate(btz_str_is(c->first->defence, "none") ? &asr->first_total
                                                                         : &asr->second_total);
        return detect(plan, -1);
    }
    plan.rate = (btz_count_rate(&asr->first_total) + btz_count_rate(&asr->second_total)) / 2;
    down = detect(plan, -1);
    up = detect(plan, 1);
    if (isnan(down) && isnan(up)) {
        return NAN;
    }
    /* Where one way none is found, only a change larger than any possible that way surely is. */
    return fmax(isnan(down) ? plan.rate : -down, isnan(up) ? 1 - plan.rate : up);
}

static size_t variants_of(const struct subject *s)
{
    size_t variants = 0;

    for (size_t i = 0; i < s->row_count; i++) {
        for (const struct variant *v = s->rows[i]->first; v; v = v->next) {
            variants++;
        }
    }
    return variants;
}

/* A line for each visible attack of `s` that `but` (may be NULL) does not have, behind the others
 * of its surface. */
static void add_attacks(struct comparison *c, const struct subject *s, const struct subject *but)
{
    for (size_t i = 0; i < s->row_count; i++) {
        const struct row *row = s->rows[i];
        size_t at = c->count;

        if (row->below || (but && same_row(but, row))) {
            continue;
        }
        while (at > 0 && !btz_str_eq(c->lines[at - 1].surface, row->surface)) {
            at--;
        }
        at = at ? at : c->count; /* a surface that has no line yet */
        memmove(c->lines + at + 1, c->lines + at, (c->count - at) * sizeof(*c->lines));
        c->lines[at] = (struct line){.surface = row->surface, .attack = row->attack};
        c->count++;
    }
}

int compare_fill(struct btz_arena *arena, struct comparison *c, struct btz_err *err)
{
    struct btz_pair *pairs =
        btz_arena_array(arena, variants_of(c->first) + variants_of(c->second) + 1, sizeof(*pairs));
    int rc = BTZ_OK;

    c->lines = btz_arena_array(arena, 2 * (c->first->row_count + c->second->row_count) + 1,
                               sizeof(*c->lines));
    add_attacks(c, c->first, NULL);
    add_attacks(c, c->second, c->first);
    for (size_t i = 0, attacks = c->count; i < attacks; i++) {
        if (i == 0 || !btz_str_eq(c->lines[i].surface, c->lines[i - 1].surface)) {
            c->lines[c->count++] = (struct line){.surface = c->lines[i].surface};
        }
    }
    c->lines[c->count++] = (struct line){.surface = BTZ_STR_NONE};
    for (size_t i = 0; rc == BTZ_OK && i < c->count; i++) {
        rc = fill_line(c, &c->lines[i], pairs, err);
    }
    if (rc == BTZ_OK) {
        c->detectable = detectable(c);
    }
    return rc;
}

/* What must not differ and does, in words; NULL: nothing. */
static const char *forbidden(struct btz_arena *arena, const struct btz_report *a,
                             const struct btz_report *b)
{
    static const struct {
        const char *key, *what;
    } things[] = {{"pack_hash", "packs"},
                  {"prompt_hash", "prompts"},
                  {"host_profile", "host profiles"},
                  {"seed", "seeds"}};
    struct btz_str found = BTZ_STR_NONE;

    for (size_t i = 0; i < sizeof(things) / sizeof(things[0]); i++) {
        if (!btz_str_eq(btz_json_str(btz_json_getz(a->card, things[i].key)),
                        btz_json_str(btz_json_getz(b->card, things[i].key)))) {
            found = btz_arena_printf(arena, "%.*s%s%s", BTZ_FMT(found), found.len ? " and " : "",
                                     things[i].what);
        }
    }
    return found.len ? found.ptr : NULL;
}

/* "json" or "native" where all models of a run have one way of acting. */
static struct btz_str actions_of(struct btz_arena *arena, const struct btz_report *report)
{
    const struct btz_json *models = btz_json_getz(report->card, "models");
    struct btz_str out = BTZ_STR_NONE;

    for (size_t i = 0; i < btz_json_count(models); i++) {
        struct btz_str own = btz_json_str(btz_json_getz(btz_json_at(models, i), "actions"));

        if (btz_str_find(out, own) < 0) {
            out =
                out.len ? btz_arena_printf(arena, "%.*s or %.*s", BTZ_FMT(out), BTZ_FMT(own)) : own;
        }
    }
    return out;
}

static struct btz_str setting_of(struct btz_arena *arena, const struct btz_report *report,
                                 const char *pointer)
{
    const struct btz_json *value = btz_json_pointer(report->card, btz_str_of(pointer));

    return btz_json_is(value, BTZ_JSON_STRING) ? btz_json_str(value)
           : value                             ? btz_json_text(arena, value)
                                               : BTZ_STR("none");
}

static void add_difference(struct btz_arena *arena, struct btz_str *out, const char *what,
                           struct btz_str first, struct btz_str second)
{
    if (!btz_str_eq(first, second)) {
        *out = btz_arena_printf(arena, "%.*s%s%s (%.*s and %.*s)", BTZ_FMT(*out),
                                out->len ? ", " : "", what, BTZ_FMT(first), BTZ_FMT(second));
    }
}

/* Settings that may differ, and are said to: "carrier (memory and http)". */
static struct btz_str also_differ(struct btz_arena *arena, const struct btz_report *a,
                                  const struct btz_report *b)
{
    static const struct {
        const char *pointer, *what;
    } settings[] = {{"/carrier", "carrier"},
                    {"/max_tokens", "max_tokens"},
                    {"/guard/model/reference", "guard model"},
                    {"/guard/rewrite_model/reference", "rewriting model"}};
    struct btz_str out = BTZ_STR_NONE;

    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        add_difference(arena, &out, settings[i].what, setting_of(arena, a, settings[i].pointer),
                       setting_of(arena, b, settings[i].pointer));
    }
    add_difference(arena, &out, "actions", actions_of(arena, a), actions_of(arena, b));
    return out;
}

static int adjust(struct btz_arena *arena, struct btz_compare *compare, struct btz_err *err)
{
    double *p = btz_arena_array(arena, compare->count, sizeof(*p));
    size_t i = 0;
    int rc;

    for (struct comparison *c = compare->list; c; c = c->next) {
        const struct btz_contrast *total = &c->lines[c->count - 1].asr;

        p[i++] = total->descriptive ? NAN : total->p_two_sided;
    }
    rc = btz_family_holm(p, compare->count, p);
    if (rc != BTZ_OK) {
        return btz_err_set(err, rc, "too many comparisons for one family");
    }
    i = 0;
    for (struct comparison *c = compare->list; c; c = c->next) {
        c->adjusted = p[i++];
    }
    return BTZ_OK;
}

static int pair_up(struct btz_arena *arena, struct btz_compare *compare, struct btz_err *err)
{
    bool one_run = compare->first == compare->second;
    struct comparison **last = &compare->list;

    for (struct subject *a = compare->first->first; a; a = a->next) {
        for (struct subject *b = one_run ? a->next : compare->second->first; b; b = b->next) {
            const char *what = difference(a, b);
            struct comparison *c;
            int rc;

            if (!what) {
                continue;
            }
            c = BTZ_NEW(arena, struct comparison);
            c->first = a;
            c->second = b;
            c->what = what;
            *last = c;
            last = &c->next;
            compare->count++;
            if ((rc = compare_fill(arena, c, err)) != BTZ_OK) {
                return rc;
            }
        }
    }
    return compare->count ? BTZ_OK
                          : btz_err_set(err, BTZ_EUSAGE,
                                        one_run ? "the run has no two subjects that differ in one "
                                                  "thing only; name another run beside it"
                                                : "no subject of one run differs from one of the "
                                                  "other in one thing only");
}

int btz_compare_build(struct btz_store *store, int64_t first, int64_t second, bool force,
                      struct btz_arena *arena, struct btz_compare **out, struct btz_err *err)
{
    struct btz_compare *compare = BTZ_NEW(arena, struct btz_compare);
    int rc = btz_report_build(store, first, arena, &compare->first, err);

    compare->second = compare->first;
    if (rc == BTZ_OK && second != first) {
        rc = btz_report_build(store, second, arena, &compare->second, err);
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    compare->forced = forbidden(arena, compare->first, compare->second);
    if (compare->forced && !force) {
        return btz_err_set(err, BTZ_EDENIED,
                           "the %s of the two runs differ, so a difference would not be that of "
                           "what is compared; --force compares them all the same and says so",
                           compare->forced);
    }
    compare->also = also_differ(arena, compare->first, compare->second);
    rc = pair_up(arena, compare, err);
    if (rc == BTZ_OK) {
        rc = adjust(arena, compare, err);
    }
    if (rc == BTZ_OK) {
        *out = compare;
    }
    return rc;
}
