/* Paired comparison of what two models, architectures, defences or revisions did in the same
 * scenarios and worlds (statistics.md, "Paired contrasts"). */
#ifndef BTZ_REPORT_COMPARE_H
#define BTZ_REPORT_COMPARE_H

#include "report/report.h"

struct btz_compare;

/* Pairs the subjects of two runs (`second` may be `first`: subjects of one run) that differ in one
 * thing at most. BTZ_EDENIED if packs, prompts, host profiles or seeds of the runs differ, unless
 * `force` (then the table says so); BTZ_EUSAGE if no two subjects can be paired. Lives in `arena`.
 */
int btz_compare_build(struct btz_store *store, int64_t first, int64_t second, bool force,
                      struct btz_arena *arena, struct btz_compare **out,
                      struct btz_err *err) BTZ_WARN_UNUSED;

void btz_compare_print(const struct btz_compare *compare, const struct btz_term *term,
                       struct btz_buf *out);
/* The object that schemas/compare.json describes, in `arena`. */
struct btz_json *btz_compare_json(const struct btz_compare *compare, struct btz_arena *arena);

#endif
