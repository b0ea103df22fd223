/* One pass over a text that says which of many patterns may match it (Hyperscan, block mode).
 *
 * The answer errs only to one side: a pattern that is no candidate does not match; a candidate is
 * confirmed with match/regex.h. Patterns that Hyperscan cannot take are always candidates, and so
 * are all patterns where the processor is too old for it (no SSSE3).
 *
 * A prefilter is immutable and may be shared by threads; each thread needs a scratch of its own. */
#ifndef BTZ_MATCH_PREFILTER_H
#define BTZ_MATCH_PREFILTER_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct btz_prefilter;
struct btz_prefilter_scratch;

struct btz_prefilter_pattern {
    struct btz_str pattern; /* UTF-8, as for btz_regex_new */
    unsigned flags;         /* BTZ_REGEX_CASELESS, _MULTILINE, _DOTALL; no other */
};

enum { BTZ_PREFILTER_PATTERNS_MAX = 4096 };

/* Compiles. Patterns are copied and have their index as id. BTZ_ELIMIT: too many patterns;
 * BTZ_EINVAL: a flag that is not allowed. What Hyperscan refuses is no error. */
int btz_prefilter_new(const struct btz_prefilter_pattern *patterns, size_t count,
                      struct btz_prefilter **out, struct btz_err *err) BTZ_WARN_UNUSED;
void btz_prefilter_free(struct btz_prefilter *prefilter); /* NULL is allowed */

/* Compiling some hundred patterns takes a second. A program that always has the same ones can do it
 * when it is built: save compiles for every processor that Hyperscan knows and adds the result to
 * `out`; load makes a prefilter of it in no time. BTZ_EUNSUPPORTED where there is nothing to save
 * or no processor for it; also if `saved` was made of other patterns, or with another Hyperscan:
 * then compile. `saved` is trusted: it must be bytes that save made. */
int btz_prefilter_save(const struct btz_prefilter_pattern *patterns, size_t count,
                       struct btz_buf *out, struct btz_err *err) BTZ_WARN_UNUSED;
int btz_prefilter_load(const struct btz_prefilter_pattern *patterns, size_t count,
                       struct btz_str saved, struct btz_prefilter **out,
                       struct btz_err *err) BTZ_WARN_UNUSED;

size_t btz_prefilter_count(const struct btz_prefilter *prefilter);

/* How many patterns are candidates for every text. */
size_t btz_prefilter_always(const struct btz_prefilter *prefilter);

/* Borrows the prefilter. */
struct btz_prefilter_scratch *btz_prefilter_scratch_new(const struct btz_prefilter *prefilter);
void btz_prefilter_scratch_free(struct btz_prefilter_scratch *scratch); /* NULL is allowed */

/* The candidates for `text`, ascending; borrowed from the scratch until its next use. Returns how
 * many. Text that is not valid UTF-8, or over 2 GiB, has all patterns as candidates. */
size_t btz_prefilter_scan(struct btz_prefilter_scratch *scratch, struct btz_str text,
                          const uint32_t **candidates);

#endif
