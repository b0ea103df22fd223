/* How the judges of a run, the people who labelled it and the deterministic companion agree,
 * computed from the verdicts in the store (statistics: stats/agreement.h, stats/correct.h). */
#ifndef BTZ_REPORT_AGREEMENT_H
#define BTZ_REPORT_AGREEMENT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/term.h"
#include "json/json.h"
#include "store/store.h"

struct btz_agreements;

/* Reads run `no`: the current trials of the attack arm (`all_arms`: of the twins too) that did not
 * end in a fault. Raters are the companion (the effect of the trial's chain), each judge
 * with each of its prompts, and each labeller; of several verdicts of one rater on a trial (another
 * rubric) the last added counts. All in `arena`. */
int btz_agreements_build(struct btz_store *store, int64_t no, bool all_arms,
                         struct btz_arena *arena, struct btz_agreements **out,
                         struct btz_err *err) BTZ_WARN_UNUSED;

/* A table for each pair of raters, one line per attack and one for all. */
void btz_agreements_print(const struct btz_agreements *a, const struct btz_term *term,
                          struct btz_buf *out);

/* The object that schemas/agreement.json describes, in `arena`. */
struct btz_json *btz_agreements_json(const struct btz_agreements *a, struct btz_arena *arena);

#endif
