/* The samples beside each rule. */
#include <stdio.h>

#include "guard/guard_int.h"

static bool has_rule(const struct btz_guard_report *report, const struct rule *rule)
{
    for (size_t i = 0; i < report->count; i++) {
        if (report->findings[i].rule == &rule->face) {
            return true;
        }
    }
    return false;
}

static int complain(const struct rule *rule, enum btz_guard_target target, const char *kind,
                    size_t sample, const char *what, struct btz_err *err)
{
    char file[256];

    (void)btz_err_set(err, BTZ_EINVAL, "rule %.*s as %s, %s sample %zu: %s", BTZ_FMT(rule->face.id),
                      btz_guard_target_name(target), kind, sample + 1, what);
    (void)snprintf(file, sizeof(file), "%.*s", BTZ_FMT(rule->file));
    btz_err_at(err, file, rule->line, 0);
    return BTZ_EINVAL;
}

static int play(struct btz_guard_scanner *scanner, const struct rule *rule,
                enum btz_guard_target target, struct btz_arena *arena, struct btz_err *err)
{
    struct btz_guard_report report;

    for (size_t i = 0; i < rule->positive_count; i++) {
        btz_guard_scan(scanner, rule->positive[i], target, BTZ_STR(""), NULL, arena, &report);
        if (!has_rule(&report, rule)) {
            return complain(rule, target, "positive", i, "the rule does not find it", err);
        }
    }
    for (size_t i = 0; i < rule->negative_count; i++) {
        btz_guard_scan(scanner, rule->negative[i], target, BTZ_STR(""), NULL, arena, &report);
        if (has_rule(&report, rule)) {
            return complain(rule, target, "negative", i, "the rule finds it", err);
        }
        if (report.verdict != BTZ_GUARD_PASS) {
            return complain(rule, target, "negative", i, "all rules together do not let it pass",
                            err);
        }
    }
    return BTZ_OK;
}

int btz_guard_rules_play(const struct btz_guard_rules *rules, size_t *played, struct btz_err *err)
{
    struct btz_guard_scanner *scanner = btz_guard_scanner_new(rules);
    struct btz_arena *arena = btz_arena_new();
    size_t count = 0;
    int rc = BTZ_OK;

    for (size_t r = 0; rc == BTZ_OK && r < rules->first_detector; r++) {
        const struct rule *rule = &rules->rules[r];

        for (unsigned t = 0; rc == BTZ_OK && t < BTZ_GUARD_TARGETS; t++) {
            if (rule->face.targets & 1U << t) {
                btz_arena_reset(arena);
                rc = play(scanner, rule, (enum btz_guard_target)t, arena, err);
                count += rule->positive_count + rule->negative_count;
            }
        }
    }
    if (rc == BTZ_OK && played) {
        *played = count;
    }
    btz_arena_free(arena);
    btz_guard_scanner_free(scanner);
    return rc;
}
