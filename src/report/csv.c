/* A report as CSV: RFC 4180 quoting, lines end with a newline. Totals are left out, so that a
 * program may add up a column. */
#include <math.h>
#include <stddef.h>

#include "report/csv.h"
#include "report/report_int.h"

static const struct {
    enum rate_kind kind;
    const char *name;
} rates[] = {
    {RATE_ASR, "asr"},
    {RATE_VALID_ASR, "valid_asr"},
    {RATE_COMPLIANCE, "compliance"},
    {RATE_SUSCEPTIBILITY, "susceptibility"},
    {RATE_EXPOSURE, "exposure"},
    {RATE_COMPETENT, "asr_competent"},
    {RATE_UTILITY, "utility"},
    {RATE_CLEAN, "clean_utility"},
    {RATE_BENIGN, "benign_utility"},
    {RATE_LAST, "last_asr"},
};

/* What a defence did, summed over the arms but for the first ones; empty for the undefended. */
static const char *const guarding_names[] = {
    "defended_trials", "defence_detected", "defence_prevented", "clean_trials",
    "clean_alarms",    "benign_trials",    "benign_alarms",     "scans",
    "undecided",       "failed",           "defence_us",        "guard_prefill",
    "guard_decode",    "guard_unknown"};
enum { GUARDING = sizeof(guarding_names) / sizeof(guarding_names[0]) };

/* An undefined number is an empty field. */
static void add_number(struct btz_buf *out, double value)
{
    if (isnan(value)) {
        (void)btz_buf_add_byte(out, ',');
    } else {
        (void)btz_buf_printf(out, ",%.6f", number_near(value, 5e-7));
    }
}

static void add_head(struct btz_buf *out)
{
    (void)btz_buf_add_text(out,
                           "run,model,architecture,defence,revision,host_profile,surface,attack,"
                           "boundary,not_applicable,not_run");
    for (int i = BTZ_STORE_OUTCOME_NONE + 1; i < BTZ_STORE_OUTCOMES; i++) {
        (void)btz_buf_printf(out, ",%s", btz_store_outcome_name((enum btz_store_outcome)i));
    }
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        (void)btz_buf_printf(out, ",%s_k,%s_n,%s_missing,%s_value,%s_lo,%s_hi", rates[i].name,
                             rates[i].name, rates[i].name, rates[i].name, rates[i].name,
                             rates[i].name);
    }
    for (int i = 0; i < MEMORY_STAGES; i++) {
        (void)btz_buf_printf(out, ",memory_%s", memory_names[i]);
    }
    (void)btz_buf_add_text(out, ",memory_missing,oracle,prefill,decode,tokens_unknown");
    for (int i = 0; i < GUARDING; i++) {
        (void)btz_buf_printf(out, ",%s", guarding_names[i]);
    }
    (void)btz_buf_add_text(out, ",suite\n");
}

/* Empty fields where the row has no memory scenario. */
static void add_memory(struct btz_buf *out, const struct tally *t)
{
    bool any = t->memory[MEMORY_TRIALS] + t->memory_missing > 0;

    for (int i = 0; i <= MEMORY_STAGES; i++) {
        int64_t count = i < MEMORY_STAGES ? t->memory[i] : t->memory_missing;

        (void)btz_buf_add_byte(out, ',');
        if (any) {
            (void)btz_buf_printf(out, "%lld", (long long)count);
        }
    }
}

static int64_t sum_of(const struct figure *f, size_t field)
{
    int64_t sum = 0;

    for (int arm = 0; arm < ARMS; arm++) {
        sum += *(const int64_t *)((const char *)&f->sum[arm] + field);
    }
    return sum;
}

/* Whose word the attack's success goes by, and the tokens of all arms. */
static void add_usage(struct btz_buf *out, const struct figure *f)
{
    bool known = sum_of(f, offsetof(struct tally, usage.known)) > 0;

    (void)btz_buf_add_text(out, f->by_judge ? ",judge" : ",deterministic");
    if (known) {
        (void)btz_buf_printf(out, ",%lld,%lld",
                             (long long)sum_of(f, offsetof(struct tally, usage.prefill)),
                             (long long)sum_of(f, offsetof(struct tally, usage.decode)));
    } else {
        (void)btz_buf_add_text(out, ",,");
    }
    (void)btz_buf_printf(out, ",%lld", (long long)sum_of(f, offsetof(struct tally, usage.unknown)));
}

static void add_guarding(struct btz_buf *out, const struct subject *s, const struct figure *f)
{
    const struct guarding *attack = &f->sum[ARM_ATTACK].guarding;
    const struct guarding *clean = &f->sum[ARM_CLEAN].guarding;
    const struct guarding *benign = &f->sum[ARM_BENIGN].guarding;
    const int64_t values[GUARDING] = {attack->trials,
                                      attack->detected,
                                      attack->prevented,
                                      clean->trials,
                                      clean->alarmed,
                                      benign->trials,
                                      benign->alarmed,
                                      sum_of(f, offsetof(struct tally, guarding.scans)),
                                      sum_of(f, offsetof(struct tally, guarding.undecided)),
                                      sum_of(f, offsetof(struct tally, guarding.failed)),
                                      sum_of(f, offsetof(struct tally, guarding.took_us)),
                                      sum_of(f, offsetof(struct tally, guarding.prefill)),
                                      sum_of(f, offsetof(struct tally, guarding.decode)),
                                      sum_of(f, offsetof(struct tally, guarding.unmetered))};

    for (int i = 0; i < GUARDING; i++) {
        (void)btz_buf_add_byte(out, ',');
        if (!btz_str_is(s->defence, "none")) {
            (void)btz_buf_printf(out, "%lld", (long long)values[i]);
        }
    }
}

static void add_row(struct btz_buf *out, const struct btz_report *report, const struct subject *s,
                    const struct figure *f)
{
    const struct tally *t = &f->sum[ARM_ATTACK];
    const struct btz_str names[] = {s->model,        s->architecture, s->defence, s->revision,
                                    s->host_profile, f->surface,      f->attack};

    (void)btz_buf_add_text(out, report->run.id);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)btz_buf_add_byte(out, ',');
        btz_csv_add(out, names[i]);
    }
    (void)btz_buf_printf(out, ",%s,%lld,%lld", f->below ? "B" : "V", (long long)t->not_applicable,
                         (long long)t->not_run);
    for (int i = BTZ_STORE_OUTCOME_NONE + 1; i < BTZ_STORE_OUTCOMES; i++) {
        (void)btz_buf_printf(out, ",%lld", (long long)t->outcome[i]);
    }
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        const struct rate *r = &f->rate[rates[i].kind];
        bool good = r->interval.status == BTZ_INTERVAL_OK;

        (void)btz_buf_printf(out, ",%lld,%lld,%lld", (long long)r->k, (long long)r->n,
                             (long long)r->missing);
        add_number(out, r->value);
        add_number(out, good ? r->interval.lo : (double)NAN);
        add_number(out, good ? r->interval.hi : (double)NAN);
    }
    add_memory(out, t);
    add_usage(out, f);
    add_guarding(out, s, f);
    (void)btz_buf_add_byte(out, ',');
    btz_csv_add(out, s->suite);
    (void)btz_buf_add_byte(out, '\n');
}

void btz_report_csv(const struct btz_report *report, struct btz_buf *out)
{
    add_head(out);
    for (const struct subject *s = report->first; s; s = s->next) {
        for (size_t i = 0; i < s->figure_count; i++) {
            if (s->figures[i].attack.len) {
                add_row(out, report, s, &s->figures[i]);
            }
        }
    }
}
