/* What is counted from verdicts: a defence's counts and cost, and the last of several attempts. */
#include "report/report_int.h"

struct counting {
    struct btz_report *report;
    struct btz_arena *scratch; /* emptied after each verdict */
};

/* Where the seen trial of that cell was counted; NULL otherwise. */
static const struct place *seen_at(const struct btz_report *report, int64_t ordinal)
{
    const struct place *place =
        ordinal >= 0 && (uint64_t)ordinal < report->place_count ? &report->places[ordinal] : NULL;

    return place && place->variant && place->seen ? place : NULL;
}

/* Over a million trials such numbers still have a sum. */
#define COUNT_MAX INT64_C(1000000000000)

/* 0 or more; -1 for unknown, and for what is no such number. */
static int64_t count_of(const struct btz_json *json, const char *key)
{
    int64_t value = -1;

    return btz_json_int64(btz_json_getz(json, key), &value) && value >= 0 && value <= COUNT_MAX
               ? value
               : -1;
}

static int64_t known_of(const struct btz_json *json, const char *key)
{
    int64_t value = count_of(json, key);

    return value > 0 ? value : 0;
}

static void add_counts(struct guarding *g, const struct place *place, const struct btz_json *json)
{
    int64_t unsafe = known_of(json, "detected");
    int64_t blocked = known_of(json, "blocked");

    g->trials++;
    g->detected += unsafe > 0;
    g->prevented += blocked > 0 && !place->effect;
    g->alarmed += unsafe > 0 || blocked > 0;
    g->scans += known_of(json, "scans");
    g->unsafe += unsafe;
    g->blocked += blocked;
    g->undecided += known_of(json, "undecided");
    g->failed += known_of(json, "failed");
}

static void add_cost(struct guarding *g, const struct btz_json *json)
{
    int64_t took = count_of(json, "took_us");
    int64_t prefill = count_of(json, "input_tokens");
    int64_t decode = count_of(json, "output_tokens");

    if (took >= 0) {
        g->timed++;
        g->took_us += took;
    }
    g->requests += known_of(json, "requests");
    if (count_of(json, "requests") == 0) {
        g->metered++; /* no guard model was asked: no tokens */
    } else if (prefill >= 0 && decode >= 0) {
        g->metered++;
        g->prefill += prefill;
        g->decode += decode;
    } else {
        g->unmetered++;
    }
}

static int take_defence(void *context, int64_t ordinal, const struct btz_store_verdict *v,
                        struct btz_err *err)
{
    struct counting *c = context;
    const struct place *place = seen_at(c->report, ordinal);
    const struct btz_json *json = NULL;
    struct btz_err ignored;

    (void)err;
    if (!place || btz_json_parse(c->scratch, v->json, NULL, &json, &ignored) != BTZ_OK) {
        return BTZ_OK;
    }
    if (btz_str_is(v->name, "counts")) {
        add_counts(&place->variant->arm[place->arm].guarding, place, json);
    } else if (btz_str_is(v->name, "cost")) {
        add_cost(&place->variant->arm[place->arm].guarding, json);
    }
    btz_arena_reset(c->scratch);
    return BTZ_OK;
}

/* Where an effect was counted for all attempts, the last alone may have had none. */
static int take_attempt(void *context, int64_t ordinal, const struct btz_store_verdict *v,
                        struct btz_err *err)
{
    struct counting *c = context;
    const struct place *place = seen_at(c->report, ordinal);

    (void)err;
    if (place && btz_str_is(v->name, "last attempt") && v->success != BTZ_STORE_UNKNOWN) {
        struct tally *t = &place->variant->arm[place->arm];

        t->last_effect += (v->success == BTZ_STORE_YES) - place->effect;
    }
    return BTZ_OK;
}

int report_verdicts(struct btz_store *store, struct btz_report *report, struct btz_err *err)
{
    struct counting counting = {.report = report, .scratch = btz_arena_new()};
    bool defended = false;
    bool repeated = false;
    int rc = BTZ_OK;

    for (const struct subject *s = report->first; s; s = s->next) {
        defended = defended || !btz_str_is(s->defence, "none");
        repeated = repeated || !btz_str_is(s->architecture, "react");
    }
    if (defended) {
        rc = btz_store_verdicts_each(store, report->run.no, BTZ_STORE_OWN, BTZ_STR("defence"),
                                     take_defence, &counting, err);
    }
    if (rc == BTZ_OK && repeated) {
        rc = btz_store_verdicts_each(store, report->run.no, BTZ_STORE_OWN, BTZ_STR("oracle"),
                                     take_attempt, &counting, err);
    }
    btz_arena_free(counting.scratch);
    return rc;
}
