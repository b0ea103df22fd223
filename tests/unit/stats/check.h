/* Comparisons that the tests of this room share. */
#ifndef BTZ_TEST_STATS_CHECK_H
#define BTZ_TEST_STATS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "stats/interval.h"

#define close_to(got, want, relative) check_close(got, want, relative, __FILE__, __LINE__)
#define within(got, want, tolerance) check_within(got, want, tolerance, __FILE__, __LINE__)
#define between(got, lo, hi) check_between(got, lo, hi, __FILE__, __LINE__)
#define no_interval(interval, reason) check_absent(interval, reason, __FILE__, __LINE__)

static inline void check_close(double got, double want, double relative, const char *file, int line)
{
    if (!(fabs(got - want) <= relative * fmax(fabs(want), DBL_MIN))) {
        print_error("%s:%d: got %.17g, want %.17g (relative %g)\n", file, line, got, want,
                    relative);
        fail();
    }
}

static inline void check_within(double got, double want, double tolerance, const char *file,
                                int line)
{
    if (!(fabs(got - want) <= tolerance)) {
        print_error("%s:%d: got %.17g, want %.17g (-+ %g)\n", file, line, got, want, tolerance);
        fail();
    }
}

static inline void check_between(double got, double lo, double hi, const char *file, int line)
{
    if (!(got >= lo && got <= hi)) {
        print_error("%s:%d: %.6f is outside [%.6f, %.6f]\n", file, line, got, lo, hi);
        fail();
    }
}

static inline void check_absent(struct btz_interval interval, enum btz_interval_status reason,
                                const char *file, int line)
{
    if (interval.status != reason || !isnan(interval.lo) || !isnan(interval.hi)) {
        print_error("%s:%d: [%g, %g] \"%s\", want none: \"%s\"\n", file, line, interval.lo,
                    interval.hi, btz_interval_reason(interval.status), btz_interval_reason(reason));
        fail();
    }
}

#endif
