/* Inside: what a comparison is made of. */
#ifndef BTZ_REPORT_COMPARE_INT_H
#define BTZ_REPORT_COMPARE_INT_H

#include "report/compare.h"
#include "report/report_int.h"

#define COMPARE_MARGIN 0.05 /* of clean utility: five points */

/* One line: an attack, a surface, or all. */
struct line {
    struct btz_str surface, attack; /* none: over all */
    struct btz_contrast asr;
    struct btz_contrast utility; /* of the clean twins */
};

struct comparison {
    struct subject *first, *second;
    const char *what;   /* the one thing that differs; "run" if nothing does */
    struct line *lines; /* attacks, surfaces, and last the total */
    size_t count;
    double adjusted; /* p of the total's ASR, Holm over all comparisons */
    /* Least change of the total's ASR with 80% power; NaN: none is. Of a defence against none a
     * decrease, below 0; else the size of a change either way. */
    double detectable;
    struct comparison *next;
};

struct btz_compare {
    struct btz_report *first, *second; /* equal for one run */
    const char *forced;                /* what differs although it should not; NULL = nothing */
    struct btz_str also;               /* what else differs, in words; "" = nothing */
    struct comparison *list;
    size_t count;
};

/* Fills the lines of a comparison whose subjects are set, and the power of its total. */
int compare_fill(struct btz_arena *arena, struct comparison *c,
                 struct btz_err *err) BTZ_WARN_UNUSED;
/* Whether a defence is compared with none, in either order. */
bool compare_against_none(const struct comparison *c);
/* The least change that would be found, in words. */
struct btz_str compare_power_text(struct btz_arena *arena, const struct comparison *c);
/* Names the test behind the p values; `drawn` is the most patterns that any of them drew, 0 if all
 * patterns were used everywhere. */
struct btz_str compare_test_text(struct btz_arena *arena, uint64_t drawn);
/* The most patterns drawn for attack success in the lines from `first` on. */
uint64_t compare_drawn(const struct comparison *c, size_t first);
/* "", or why the total of the comparison is to be read with care. */
struct btz_str compare_note(const struct line *line);
/* {first, second, difference, lo, hi, p, p_least, variants, exact, descriptive, caution, ...}.
 */
struct btz_json *contrast_json(struct btz_arena *arena, const struct btz_contrast *c);

#endif
