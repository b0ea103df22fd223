/* The tables that compare inside a run, as JSON (schemas/report.json). */
#include <math.h>

#include "report/agreement_int.h"
#include "report/compare_int.h"
#include "report/report_int.h"

static struct btz_json *share_json(struct btz_arena *arena, int64_t k, int64_t n)
{
    struct btz_json *out = btz_json_new_object(arena);

    btz_json_set_int(arena, out, "k", k);
    btz_json_set_int(arena, out, "n", n);
    return out;
}

static struct btz_json *number_or_null(struct btz_arena *arena, int64_t value, bool known)
{
    return known ? btz_json_new_int(arena, value) : btz_json_null(arena);
}

static void set_number(struct btz_arena *arena, struct btz_json *out, const char *key, double value)
{
    btz_json_setz(arena, out, key, btz_json_new_double(arena, value)); /* NaN: null */
}

static void set_text_or_null(struct btz_arena *arena, struct btz_json *out, const char *key,
                             struct btz_str text)
{
    btz_json_setz(arena, out, key, text.len ? btz_json_new_str(arena, text) : btz_json_null(arena));
}

/* ---- defences ---- */

/* What the defence did in one arm. */
static struct btz_json *arm_json(struct btz_arena *arena, const struct figure *f, int arm)
{
    const struct guarding *g = &f->sum[arm].guarding;
    struct btz_json *out = btz_json_new_object(arena);

    btz_json_set_int(arena, out, "trials", g->trials);
    btz_json_setz(arena, out, "detected", share_json(arena, g->detected, g->trials));
    btz_json_setz(arena, out, "prevented", share_json(arena, g->prevented, g->trials));
    btz_json_setz(arena, out, "alarms", share_json(arena, g->alarmed, g->trials));
    btz_json_set_int(arena, out, "scans", g->scans);
    btz_json_set_int(arena, out, "unsafe", g->unsafe);
    btz_json_set_int(arena, out, "blocked", g->blocked);
    btz_json_set_int(arena, out, "undecided", g->undecided);
    btz_json_set_int(arena, out, "failed", g->failed);
    set_number(arena, out, "added_us",
               g->timed ? (double)g->took_us / (double)g->timed : (double)NAN);
    btz_json_set_int(arena, out, "requests", g->requests);
    btz_json_setz(arena, out, "prefill", number_or_null(arena, g->prefill, g->metered > 0));
    btz_json_setz(arena, out, "decode", number_or_null(arena, g->decode, g->metered > 0));
    btz_json_set_int(arena, out, "tokens_unknown", g->unmetered);
    return out;
}

static struct btz_json *defence_json(struct btz_arena *arena, const struct subject *s,
                                     const struct figure *f)
{
    struct btz_json *out = btz_json_new_object(arena);

    subject_json_set(arena, out, s);
    set_text_or_null(arena, out, "surface", f->surface);
    set_text_or_null(arena, out, "attack", f->attack);
    btz_json_set_strz(arena, out, "boundary", f->below ? "B" : "V");
    btz_json_setz(arena, out, "asr",
                  rate_json(arena, &f->rate[f->below ? RATE_EXPOSURE : RATE_ASR], false));
    btz_json_setz(arena, out, "clean_utility", rate_json(arena, &f->rate[RATE_CLEAN], false));
    btz_json_setz(arena, out, "benign_utility", rate_json(arena, &f->rate[RATE_BENIGN], false));
    btz_json_setz(arena, out, "attack_arm", arm_json(arena, f, ARM_ATTACK));
    btz_json_setz(arena, out, "clean_arm", arm_json(arena, f, ARM_CLEAN));
    btz_json_setz(arena, out, "benign_arm", arm_json(arena, f, ARM_BENIGN));
    return out;
}

static struct btz_json *defences_json(const struct btz_report *report, struct btz_arena *arena)
{
    struct btz_json *out = btz_json_new_array(arena);

    for (const struct subject *s = report->first; s; s = s->next) {
        for (size_t i = 0; !btz_str_is(s->defence, "none") && i < s->figure_count; i++) {
            btz_json_push(arena, out, defence_json(arena, s, &s->figures[i]));
        }
    }
    return out;
}

static struct btz_json *contrasts_json(const struct btz_report *report, struct btz_arena *arena)
{
    struct btz_json *out = btz_json_new_array(arena);

    for (size_t i = 0; i < report->contrast_count; i++) {
        const struct defence_contrast *d = &report->contrasts[i];
        const struct line *total = &d->comparison->lines[d->comparison->count - 1];
        struct btz_json *item = btz_json_new_object(arena);

        subject_json_set(arena, item, d->comparison->first);
        btz_json_setz(arena, item, "asr", contrast_json(arena, &total->asr));
        btz_json_setz(arena, item, "clean_utility", contrast_json(arena, &total->utility));
        set_number(arena, item, "adjusted_p", d->adjusted);
        set_number(arena, item, "detectable", d->comparison->detectable);
        btz_json_set_strz(arena, item, "lower_asr", btz_gate_name(d->gate[0]));
        btz_json_set_strz(arena, item, "utility_not_worse", btz_gate_name(d->gate[1]));
        btz_json_push(arena, out, item);
    }
    return out;
}

/* ---- architectures ---- */

static bool has_others(const struct btz_report *report, const struct subject *s)
{
    for (const struct subject *t = report->first; t; t = t->next) {
        if (t != s && subject_like(t, s, PART_ARCHITECTURE)) {
            return true;
        }
    }
    return false;
}

static struct btz_json *architectures_json(const struct btz_report *report, struct btz_arena *arena)
{
    struct btz_json *out = btz_json_new_array(arena);

    for (const struct subject *s = report->first; s; s = s->next) {
        for (size_t i = 0; has_others(report, s) && i < s->figure_count; i++) {
            const struct figure *f = &s->figures[i];
            struct btz_json *item;

            if (f->below) {
                continue;
            }
            item = btz_json_new_object(arena);
            subject_json_set(arena, item, s);
            set_text_or_null(arena, item, "surface", f->surface);
            set_text_or_null(arena, item, "attack", f->attack);
            btz_json_setz(arena, item, "any", rate_json(arena, &f->rate[RATE_ASR], false));
            btz_json_setz(arena, item, "last", rate_json(arena, &f->rate[RATE_LAST], false));
            btz_json_push(arena, out, item);
        }
    }
    return out;
}

/* ---- oracles ---- */

static struct btz_json *rater_json(struct btz_arena *arena, const struct rater *judge)
{
    struct btz_json *out = btz_json_new_object(arena);

    btz_json_set_str(arena, out, "name", judge->name);
    btz_json_set_str(arena, out, "prompt", judge->prompt);
    return out;
}

static struct btz_json *oracle_json(struct btz_arena *arena, const struct oracle_table *t,
                                    const struct oracle_line *line)
{
    const struct btz_paired_table *table = &line->agree->table;
    const struct btz_agreement *f = &line->agree->figures;
    struct btz_json *out = btz_json_new_object(arena);

    subject_json_set(arena, out, t->subject);
    btz_json_setz(arena, out, "judge", rater_json(arena, t->judge));
    set_text_or_null(arena, out, "attack", line->attack);
    btz_json_set_int(arena, out, "n", f->items);
    btz_json_set_int(arena, out, "oracle_k", table->both + table->second_only);
    btz_json_set_int(arena, out, "judge_k", table->both + table->first_only);
    btz_json_set_int(arena, out, "both", table->both);
    btz_json_set_int(arena, out, "malformed", line->agree->malformed);
    btz_json_set_int(arena, out, "missing", line->agree->missing);
    btz_json_setz(arena, out, "difference",
                  figure_json(arena, line->paired.difference, line->paired.interval));
    set_number(arena, out, "p_exact", line->paired.p_exact);
    set_number(arena, out, "p_mid", line->paired.p_mid);
    btz_json_setz(arena, out, "agree", figure_json(arena, f->observed, f->observed_interval));
    btz_json_setz(arena, out, "kappa", figure_json(arena, f->kappa, f->kappa_interval));
    return out;
}

static struct btz_json *oracles_json(const struct btz_report *report, struct btz_arena *arena)
{
    struct btz_json *out = btz_json_new_array(arena);

    for (const struct oracle_table *t = report->oracles; t; t = t->next) {
        for (size_t i = 0; i < t->count; i++) {
            btz_json_push(arena, out, oracle_json(arena, t, &t->lines[i]));
        }
    }
    return out;
}

/* ---- tokens ---- */

static struct btz_json *tokens_json(const struct btz_report *report, struct btz_arena *arena)
{
    struct btz_json *out = btz_json_new_array(arena);

    for (const struct subject *s = report->first; s; s = s->next) {
        struct spent t = tokens_of(s);
        struct btz_json *item = btz_json_new_object(arena);

        subject_json_set(arena, item, s);
        btz_json_set_int(arena, item, "trials", t.known + t.unknown);
        btz_json_set_int(arena, item, "unknown", t.unknown);
        btz_json_setz(arena, item, "prefill", number_or_null(arena, t.prefill, t.known > 0));
        btz_json_setz(arena, item, "decode", number_or_null(arena, t.decode, t.known > 0));
        set_number(arena, item, "prefill_mean",
                   t.known ? (double)t.prefill / (double)t.known : (double)NAN);
        set_number(arena, item, "decode_mean",
                   t.known ? (double)t.decode / (double)t.known : (double)NAN);
        set_number(arena, item, "ratio",
                   t.decode ? (double)t.prefill / (double)t.decode : (double)NAN);
        btz_json_setz(arena, item, "guard_prefill",
                      number_or_null(arena, t.guard_prefill, t.guard_known > 0));
        btz_json_setz(arena, item, "guard_decode",
                      number_or_null(arena, t.guard_decode, t.guard_known > 0));
        btz_json_set_int(arena, item, "guard_unknown", t.guard_unknown);
        btz_json_push(arena, out, item);
    }
    return out;
}

void tables_json_set(const struct btz_report *report, struct btz_arena *arena, struct btz_json *out)
{
    btz_json_set_strz(arena, out, "oracle", report->paper ? "paper" : "deterministic");
    btz_json_setz(arena, out, "judge",
                  report->judge ? rater_json(arena, report->judge) : btz_json_null(arena));
    btz_json_setz(arena, out, "defences", defences_json(report, arena));
    btz_json_setz(arena, out, "defence_contrasts", contrasts_json(report, arena));
    btz_json_setz(arena, out, "architectures", architectures_json(report, arena));
    btz_json_setz(arena, out, "oracles", oracles_json(report, arena));
    btz_json_setz(arena, out, "tokens", tokens_json(report, arena));
}
