/* What a scan of clean text costs: guard_bench [FOLDER OF RULES]. Prints one JSON object. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "guard/guard.h"

static const char passage[] =
    "The quarterly review took place on Tuesday in the small meeting room. Ms Weber presented the "
    "figures for the three regions, and the team agreed to send the final report to the customers "
    "before the end of the month. The delivery of the new printers is late by two weeks; the "
    "supplier, Hansen & Co., offers a rebate of 4.5 per cent. Please check the invoice numbers "
    "2024-117 to 2024-131 again, since two of them were entered twice.\n\n"
    "Open points: the password policy will be reviewed in May, the tool for travel expenses needs "
    "an update, and the contract with the cleaning firm ends in June. Details are on the project "
    "page at https://intranet.firm.example/projects/review?year=2024&quarter=3 and in the notes of "
    "the last call. The next meeting is on the 14th, from 9:30 to 11:00.\n\n";

static struct btz_str text_of(size_t bytes)
{
    char *text = malloc(bytes);

    if (!text) {
        btz_panic("out of memory");
    }
    /* Each passage gets a number, so that it does not count as one part repeated. */
    for (size_t at = 0, n = 0; at < bytes; n++) {
        char part[1200];
        int len = snprintf(part, sizeof(part), "%zu. %s", n, passage);
        size_t take = bytes - at < (size_t)len ? bytes - at : (size_t)len;

        memcpy(text + at, part, take);
        at += take;
    }
    return (struct btz_str){text, bytes};
}

/* Milliseconds a scan: the best of many, since the machine may be busy with other things. Short
 * texts are scanned several times for one reading of the clock. */
static double scan_ms(struct btz_guard_scanner *scanner, struct btz_str text,
                      enum btz_guard_target target, struct btz_guard_report *report)
{
    enum { ROUNDS = 300 };
    unsigned batch = text.len < 5000 ? 20 : 1;
    struct btz_arena *arena = btz_arena_new();
    double best = 1e9;

    for (unsigned round = 0; round < ROUNDS; round++) {
        int64_t begin = btz_clock_mono_us();
        double ms;

        for (unsigned i = 0; i < batch; i++) {
            btz_arena_reset(arena);
            btz_guard_scan(scanner, text, target, BTZ_STR("text"), NULL, arena, report);
        }
        ms = (double)(btz_clock_mono_us() - begin) / 1000 / batch;
        best = ms < best ? ms : best;
    }
    btz_arena_free(arena);
    return best;
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {500, 10000, 65536};
    struct btz_guard_rules *rules = NULL;
    struct btz_guard_scanner *scanner;
    struct btz_err err = {0};
    int64_t begin = btz_clock_mono_us();
    char text[1200];

    if (btz_guard_rules_new(argc > 1 ? argv[1] : NULL, &rules, &err)) {
        fprintf(stderr, "guard_bench: %s\n", btz_err_text(&err, text, sizeof(text)));
        return 5;
    }
    printf("{\"load_ms\": %.1f", (double)(btz_clock_mono_us() - begin) / 1000);
    scanner = btz_guard_scanner_new(rules);
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct btz_str clean = text_of(sizes[i]);
        struct btz_guard_report report = {0};
        double ms = scan_ms(scanner, clean, BTZ_GUARD_RESULT, &report);

        printf(", \"clean_%zu_ms\": %.4f, \"score_%zu\": %u", sizes[i], ms, sizes[i], report.score);
        free((void *)(uintptr_t)clean.ptr);
    }
    puts("}");
    btz_guard_scanner_free(scanner);
    btz_guard_rules_free(rules);
    return 0;
}
