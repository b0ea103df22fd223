#include "report/sieve.h"

#include "report/sieve_int.h"

/* What each model took, by its recorded replies. */
static int add_costs(struct btz_store *store, struct btz_sieve_report *report, struct btz_err *err)
{
    int rc = BTZ_OK;

    report->cost = btz_arena_array(report->arena, report->subject_count + 2, sizeof(*report->cost));
    for (size_t s = 0; rc == BTZ_OK && s < report->subject_count; s++) {
        bool known = false;

        for (size_t i = 0; i < report->cost_count; i++) {
            known |= btz_str_eq(report->cost[i].model, report->subjects[s].model);
        }
        if (!known) {
            size_t at = report->cost_count++;

            report->cost[at].model = report->subjects[s].model;
            rc = btz_store_sieve_reply_sum(store, report->run.no, report->cost[at].model,
                                           &report->cost[at].replies, &report->cost[at].took_us,
                                           err);
        }
    }
    return rc;
}

int btz_sieve_report_build(struct btz_store *store, const struct btz_store_sieve_run *run,
                           struct btz_arena *arena, struct btz_sieve_report **out,
                           struct btz_err *err)
{
    struct btz_sieve_report *report = BTZ_NEW(arena, struct btz_sieve_report);
    int rc;

    report->arena = arena;
    report->run = *run;
    rc = btz_json_parse(arena, run->card, NULL, &report->card, err);
    if (rc == BTZ_OK) {
        rc = sieve_rows_read(store, report, err);
    }
    if (rc == BTZ_OK) {
        sieve_figures(report);
        rc = sieve_contrasts(report, err);
    }
    rc = rc ? rc : sieve_goals(report, err);
    rc = rc ? rc : add_costs(store, report, err);
    if (rc == BTZ_OK) {
        *out = report;
    }
    return rc;
}
