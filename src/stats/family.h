/* Several tests at once: adjusted p values of a declared family, and tests in a fixed order. */
#ifndef BTZ_STATS_FAMILY_H
#define BTZ_STATS_FAMILY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Most tests in one family. */
#define BTZ_FAMILY_MAX 4096

/* Holm's step-down adjusted p values (Holm 1979, Scand. J. Statist. 6, 65-70):
 * adjusted_(j) = max over i <= j of min(1, (m - i + 1) p_(i)), in the order of `p`. Tests with the
 * same p get the same adjusted value. NaN stands for a test that could not be made: it stays NaN
 * but counts in m (as if its p were 1), since the family was declared with it and dropping it
 * afterwards must not make the others significant.
 * BTZ_EINVAL: a p outside [0, 1]. BTZ_ELIMIT: more than BTZ_FAMILY_MAX. `adjusted` may be `p`. */
int btz_family_holm(const double *p, size_t count, double *adjusted) BTZ_WARN_UNUSED;

enum btz_gate {
    BTZ_GATE_PASSED,
    BTZ_GATE_FAILED,    /* tested, not shown */
    BTZ_GATE_NOT_TESTED /* an earlier step did not pass, or this one has no p value */
};

struct btz_gate_step {
    double p;        /* NaN: the test could not be made */
    double alpha;    /* in (0, 1) */
    bool favourable; /* the estimate lies on the claimed side; always true for a one-sided p */
};

/* Fixed-sequence gatekeeping (Maurer, Hothorn and Lehmacher 1995; Westfall and Krishen 2001): a
 * step is tested at its full alpha only when all before it passed, which keeps the chance of any
 * false claim in the sequence at the largest alpha. For superiority on attack success, then
 * non-inferiority of clean utility: step 1 with the two-sided p, adjusted within its family, at
 * 0.05 and `favourable` when the rate went down; step 2 with `p_margin` of the utility contrast at
 * 0.025. With several defences the sequence of each is controlled, not all second steps together;
 * for that, adjust the second p values as a family too.
 * BTZ_EINVAL: a p or alpha out of range. */
int btz_family_gate(const struct btz_gate_step *steps, size_t count,
                    enum btz_gate *out) BTZ_WARN_UNUSED;

/* "passed", "failed", "not tested". */
const char *btz_gate_name(enum btz_gate gate);

#endif
