/* The first byte chooses the target, the rest is the text. Checks that nothing crashes, that spans
 * lie in the text, that the verdict follows from the score, and that a second scan says the same.
 */
#include <stdlib.h>

#include "guard/guard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct btz_guard_report *r, size_t len)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct btz_guard_finding *f = &r->findings[i];

        if (f->begin > f->end || f->end > len || f->weight < 1 || f->weight > 100 || !f->encoding) {
            abort();
        }
    }
    if ((r->verdict == BTZ_GUARD_BLOCK) != (r->score >= r->threshold) ||
        (r->verdict == BTZ_GUARD_UNDECIDED && r->complete) || (r->score > 0) != (r->count > 0)) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct btz_guard_rules *rules;
    static struct btz_guard_scanner *scanner;
    struct btz_arena *arena = btz_arena_new();
    struct btz_guard_report report[2];

    if (!rules) {
        if (btz_guard_rules_new(NULL, &rules, NULL)) {
            abort();
        }
        scanner = btz_guard_scanner_new(rules);
    }
    if (size) {
        struct btz_str text = {(const char *)data + 1, size - 1};
        struct btz_guard_options options = {.max_work = data[0] & 0x80 ? 2000 : 0,
                                            .max_bytes = data[0] & 0x40 ? 64 : 0};

        for (unsigned i = 0; i < 2; i++) {
            btz_guard_scan(scanner, text, (enum btz_guard_target)(data[0] % BTZ_GUARD_TARGETS),
                           BTZ_STR("field"), &options, arena, &report[i]);
            check(&report[i], text.len);
        }
        if (report[0].score != report[1].score || report[0].count != report[1].count ||
            report[0].verdict != report[1].verdict) {
            abort();
        }
    }
    btz_arena_free(arena);
    return 0;
}
