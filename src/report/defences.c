/* Each defence against none, in the same scenarios and worlds. */
#include "report/compare_int.h"
#include "report/report_int.h"

#define SUPERIORITY_ALPHA 0.05 /* of the adjusted two-sided p */
#define MARGIN_ALPHA 0.025     /* of clean utility, one-sided */

bool subject_like(const struct subject *a, const struct subject *b, enum subject_part part)
{
    return btz_str_eq(a->model, b->model) && btz_str_eq(a->revision, b->revision) &&
           btz_str_eq(a->host_profile, b->host_profile) && btz_str_eq(a->suite, b->suite) &&
           (part == PART_ARCHITECTURE || btz_str_eq(a->architecture, b->architecture)) &&
           (part == PART_DEFENCE || btz_str_eq(a->defence, b->defence));
}

static struct subject *undefended(struct btz_report *report, const struct subject *like)
{
    for (struct subject *s = report->first; s; s = s->next) {
        if (btz_str_is(s->defence, "none") && subject_like(s, like, PART_DEFENCE)) {
            return s;
        }
    }
    return NULL;
}

/* The family: the defences of one model (and architecture, revision, profile) against none. */
static int adjust(struct btz_report *report, const struct subject *none, struct btz_err *err)
{
    double *p = btz_arena_array(report->arena, report->contrast_count, sizeof(*p));
    size_t n = 0;
    int rc;

    for (size_t i = 0; i < report->contrast_count; i++) {
        const struct comparison *c = report->contrasts[i].comparison;

        if (c->second == none) {
            p[n++] = c->lines[c->count - 1].asr.p_two_sided;
        }
    }
    rc = btz_family_holm(p, n, p);
    n = 0;
    for (size_t i = 0; rc == BTZ_OK && i < report->contrast_count; i++) {
        struct defence_contrast *d = &report->contrasts[i];
        const struct line *total = &d->comparison->lines[d->comparison->count - 1];

        if (d->comparison->second == none) {
            d->adjusted = p[n++];
            rc = btz_contrast_gate(&total->asr, d->adjusted, SUPERIORITY_ALPHA, &total->utility,
                                   MARGIN_ALPHA, d->gate);
        }
    }
    return rc ? btz_err_set(err, rc, "the defences of the run cannot be compared (%s)",
                            btz_code_name(rc))
              : BTZ_OK;
}

int report_defences(struct btz_report *report, struct btz_err *err)
{
    size_t most = 0;
    int rc = BTZ_OK;

    for (const struct subject *s = report->first; s; s = s->next) {
        most += !btz_str_is(s->defence, "none");
    }
    report->contrasts = btz_arena_array(report->arena, most, sizeof(*report->contrasts));
    for (struct subject *s = report->first; rc == BTZ_OK && s; s = s->next) {
        struct subject *none = btz_str_is(s->defence, "none") ? NULL : undefended(report, s);
        struct comparison *c;

        if (!none) {
            continue;
        }
        c = BTZ_NEW(report->arena, struct comparison);
        c->first = s;
        c->second = none;
        c->what = "defence";
        rc = compare_fill(report->arena, c, err);
        report->contrasts[report->contrast_count++] = (struct defence_contrast){.comparison = c};
    }
    for (struct subject *s = report->first; rc == BTZ_OK && s; s = s->next) {
        if (btz_str_is(s->defence, "none")) {
            rc = adjust(report, s, err);
        }
    }
    return rc;
}
