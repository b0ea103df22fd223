/* The report of a run of the sieve experiment, from its rows in the store alone: every number here
 * can be made again from the rows (docs/internals/sieve-run.md says how). */
#ifndef BTZ_REPORT_SIEVE_H
#define BTZ_REPORT_SIEVE_H

#include "base/term.h"
#include "json/json.h"
#include "store/sieve.h"

struct btz_sieve_report;

/* Reads the rows of `run` and computes the figures; all lives in `arena`. */
int btz_sieve_report_build(struct btz_store *store, const struct btz_store_sieve_run *run,
                           struct btz_arena *arena, struct btz_sieve_report **out,
                           struct btz_err *err) BTZ_WARN_UNUSED;

/* Tables for people. */
void btz_sieve_report_print(const struct btz_sieve_report *report, const struct btz_term *term,
                            struct btz_buf *out);
/* As schemas/sieve-report.json says. */
struct btz_json *btz_sieve_report_json(const struct btz_sieve_report *report,
                                       struct btz_arena *arena);
/* One line a figure. */
void btz_sieve_report_csv(const struct btz_sieve_report *report, struct btz_buf *out);

#endif
