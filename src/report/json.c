/* A report as JSON (schemas/report.json). */
#include <math.h>

#include "report/report_int.h"

static const char *const rate_names[RATES] = {
    [RATE_ASR] = "asr",
    [RATE_VALID_ASR] = "valid_asr",
    [RATE_COMPLIANCE] = "compliance",
    [RATE_SUSCEPTIBILITY] = "susceptibility",
    [RATE_EXPOSURE] = "exposure",
    [RATE_UTILITY] = "utility",
    [RATE_COMPETENT] = "asr_competent",
    [RATE_CLEAN] = "clean",
    [RATE_BENIGN] = "benign",
};

const char *const memory_names[MEMORY_STAGES] = {
    [MEMORY_TRIALS] = "trials",     [MEMORY_SEEN] = "seen_first",      [MEMORY_STORED] = "stored",
    [MEMORY_RECALLED] = "recalled", [MEMORY_OBSERVED] = "seen_second", [MEMORY_ACTED] = "acted",
    [MEMORY_EFFECT] = "effect",
};

struct btz_json *run_json(struct btz_arena *arena, const struct btz_store_run *run)
{
    struct btz_json *out = btz_json_new_object(arena);

    btz_json_set_strz(arena, out, "id", run->id);
    btz_json_set_str(arena, out, "study", run->study);
    btz_json_set_strz(arena, out, "status", btz_store_run_status_name(run->status));
    btz_json_set_int(arena, out, "trials", run->trials);
    btz_json_set_int(arena, out, "planned", run->planned);
    btz_json_set_int(arena, out, "finished", run->finished);
    btz_json_set_int(arena, out, "faults", run->faults);
    return out;
}

/* "lo" and "hi" are null where the interval is not available. */
static void set_limits(struct btz_arena *arena, struct btz_json *out, struct btz_interval i)
{
    bool good = i.status == BTZ_INTERVAL_OK;

    btz_json_setz(arena, out, "lo",
                  btz_json_new_double(arena, good ? number_near(i.lo, NUMBER_NOISE) : (double)NAN));
    btz_json_setz(arena, out, "hi",
                  btz_json_new_double(arena, good ? number_near(i.hi, NUMBER_NOISE) : (double)NAN));
}

struct btz_json *rate_json(struct btz_arena *arena, const struct rate *r, bool bounds)
{
    struct btz_json *out = btz_json_new_object(arena);

    btz_json_set_int(arena, out, "k", r->k);
    btz_json_set_int(arena, out, "n", r->n);
    btz_json_set_int(arena, out, "missing", r->missing);
    set_limits(arena, out, r->interval);
    if (r->n > 0) {
        btz_json_setz(arena, out, "value", btz_json_new_double(arena, r->value));
        if (r->interval.status != BTZ_INTERVAL_OK) {
            btz_json_set_strz(arena, out, "reason", btz_interval_reason(r->interval.status));
        }
    }
    if (bounds && r->bounds.status == BTZ_INTERVAL_OK) {
        struct btz_json *both = btz_json_new_object(arena);

        set_limits(arena, both, r->bounds);
        btz_json_setz(arena, out, "bounds", both);
    }
    return out;
}

void subject_json_set(struct btz_arena *arena, struct btz_json *out, const struct subject *s)
{
    btz_json_set_str(arena, out, "model", s->model);
    btz_json_set_str(arena, out, "architecture", s->architecture);
    btz_json_set_str(arena, out, "defence", s->defence);
    btz_json_set_str(arena, out, "revision", s->revision);
    btz_json_set_str(arena, out, "host_profile", s->host_profile);
    if (s->suite.len) {
        btz_json_set_str(arena, out, "suite", s->suite);
    }
}

static void set_names(struct btz_arena *arena, struct btz_json *out, const struct subject *s,
                      const struct figure *f)
{
    subject_json_set(arena, out, s);
    btz_json_setz(arena, out, "surface",
                  f->surface.len ? btz_json_new_str(arena, f->surface) : btz_json_null(arena));
    btz_json_setz(arena, out, "attack",
                  f->attack.len ? btz_json_new_str(arena, f->attack) : btz_json_null(arena));
    btz_json_set_strz(arena, out, "boundary", f->below ? "B" : "V");
    btz_json_set_strz(arena, out, "oracle",
                      !f->by_judge    ? "deterministic"
                      : !f->by_oracle ? "judge"
                                      : "mixed");
}

static struct btz_json *chain_json(struct btz_arena *arena, const struct tally *t)
{
    struct btz_json *out = btz_json_new_object(arena);

    btz_json_set_int(arena, out, "triggered", t->triggered);
    btz_json_set_int(arena, out, "observed", t->observed);
    btz_json_set_int(arena, out, "acted", t->acted);
    btz_json_set_int(arena, out, "effect", t->effect);
    return out;
}

/* null where the row has no memory scenario. */
static struct btz_json *memory_json(struct btz_arena *arena, const struct tally *t)
{
    struct btz_json *out = btz_json_new_object(arena);

    if (t->memory[MEMORY_TRIALS] + t->memory_missing == 0) {
        return btz_json_null(arena);
    }
    for (int i = 0; i < MEMORY_STAGES; i++) {
        btz_json_set_int(arena, out, memory_names[i], t->memory[i]);
    }
    btz_json_set_int(arena, out, "missing", t->memory_missing);
    return out;
}

static struct btz_json *row_json(struct btz_arena *arena, const struct subject *s,
                                 const struct figure *f)
{
    struct btz_json *out = btz_json_new_object(arena);
    struct btz_json *outcomes = btz_json_new_object(arena);
    struct btz_json *rates = btz_json_new_object(arena);
    struct btz_json *twins = btz_json_new_object(arena);
    const struct tally *t = &f->sum[ARM_ATTACK];

    set_names(arena, out, s, f);
    for (int i = BTZ_STORE_OUTCOME_NONE + 1; i < BTZ_STORE_OUTCOMES; i++) {
        btz_json_set_int(arena, outcomes, btz_store_outcome_name((enum btz_store_outcome)i),
                         t->outcome[i]);
    }
    for (int i = 0; i < RATES; i++) {
        if (!rate_names[i]) {
            continue; /* stands in another table */
        }
        btz_json_setz(arena, i == RATE_CLEAN || i == RATE_BENIGN ? twins : rates, rate_names[i],
                      rate_json(arena, &f->rate[i], i == RATE_ASR));
    }
    btz_json_setz(arena, out, "outcomes", outcomes);
    btz_json_setz(arena, out, "rates", rates);
    btz_json_setz(arena, out, "twins", twins);
    btz_json_setz(arena, out, "chain", chain_json(arena, t));
    btz_json_setz(arena, out, "memory", memory_json(arena, t));
    btz_json_set_int(arena, out, "not_applicable", t->not_applicable);
    btz_json_set_int(arena, out, "not_run", t->not_run);
    return out;
}

struct btz_json *btz_report_json(const struct btz_report *report, struct btz_arena *arena)
{
    struct btz_json *out = btz_json_new_object(arena);
    struct btz_json *rows = btz_json_new_array(arena);

    for (const struct subject *s = report->first; s; s = s->next) {
        for (size_t i = 0; i < s->figure_count; i++) {
            btz_json_push(arena, rows, row_json(arena, s, &s->figures[i]));
        }
    }
    btz_json_setz(arena, out, "run", run_json(arena, &report->run));
    btz_json_setz(arena, out, "provenance",
                  report->card ? btz_json_dup(arena, report->card) : btz_json_null(arena));
    btz_json_setz(arena, out, "rows", rows);
    tables_json_set(report, arena, out);
    return out;
}
