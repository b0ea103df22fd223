/* Tables of a run, computed from the store alone (statistics.md, suite.md section 1). */
#ifndef BTZ_REPORT_REPORT_H
#define BTZ_REPORT_REPORT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/term.h"
#include "json/json.h"
#include "store/store.h"

struct btz_report;

/* Aggregates the run `no`; the report lives in `arena`. */
int btz_report_build(struct btz_store *store, int64_t no, struct btz_arena *arena,
                     struct btz_report **out, struct btz_err *err) BTZ_WARN_UNUSED;

/* Whose word attack success goes by. */
struct btz_report_options {
    /* false: the deterministic oracle for all attacks. true: a judge for the semantic ones, as
     * COPEX does; trials without a usable verdict of it are missing there. */
    bool paper;
    /* Of several judges, this one: its name, or "NAME+PROMPT" with the beginning of its prompt's
     * hash. Empty: the only one. */
    struct btz_str judge;
};

/* The same with options. BTZ_EUSAGE, naming the remedy, if `paper` and there is no judge, not one
 * alone and none named, none of that name, or the run's card does not say which attacks are
 * semantic. */
int btz_report_build_as(struct btz_store *store, int64_t no,
                        const struct btz_report_options *options, struct btz_arena *arena,
                        struct btz_report **out, struct btz_err *err) BTZ_WARN_UNUSED;

/* Tables for people: competence first, then rates per surface and attack, exposure, notes; then
 * those that compare inside the run: defences, architectures, oracles, tokens. */
void btz_report_print(const struct btz_report *report, const struct btz_term *term,
                      struct btz_buf *out);

/* The object that schemas/report.json describes, in `arena`. */
struct btz_json *btz_report_json(const struct btz_report *report, struct btz_arena *arena);

/* One line per attack and boundary of the attack arm, with a head line. */
void btz_report_csv(const struct btz_report *report, struct btz_buf *out);

#endif
