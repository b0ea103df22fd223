/* Two subjects beside each other, in `compare` and in `report`: power, drawn patterns, zeros. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include <math.h>

#include "make.h"
#include "report/compare.h"
#include "report/report.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static struct btz_report *report_of(struct made *made)
{
    struct btz_report *report = NULL;
    struct btz_err err;

    if (btz_report_build(made->store, made->run.no, made->arena, &report, &err) != BTZ_OK) {
        fail_msg("%s", err.msg);
    }
    return report;
}

static const struct btz_json *json_of(struct made *made)
{
    return btz_report_json(report_of(made), made->arena);
}

static struct btz_str printed(struct made *made, const struct btz_report *report, unsigned width)
{
    struct btz_term term = {.width = width};
    struct btz_buf out;
    struct btz_str text;
    struct btz_str rest;
    struct btz_str line;

    btz_buf_init(&out, 16 * 1024 * 1024);
    btz_report_print(report, &term, &out);
    assert_int_equal(btz_buf_status(&out), BTZ_OK);
    text = btz_arena_dup(made->arena, btz_buf_view(&out));
    btz_buf_fini(&out);
    for (rest = text; btz_str_cut(&rest, '\n', &line);) {
        if (btz_term_text_width(line) > width) {
            fail_msg("wider than %u: %.*s", width, BTZ_FMT(line));
        }
    }
    return text;
}

static void has(struct btz_str text, const char *part)
{
    if (btz_str_find(text, btz_str_of(part)) < 0) {
        fail_msg("\"%s\" is not in:\n%.*s", part, BTZ_FMT(text));
    }
}

static void has_not(struct btz_str text, const char *part)
{
    if (btz_str_find(text, btz_str_of(part)) >= 0) {
        fail_msg("\"%s\" is in:\n%.*s", part, BTZ_FMT(text));
    }
}

/* The item of the list whose members have these texts; "" in `value` stands for null. */
static const struct btz_json *item(const struct btz_json *root, const char *list,
                                   const char *const (*want)[2], size_t count)
{
    const struct btz_json *items = btz_json_getz(root, list);

    for (size_t i = 0; i < btz_json_count(items); i++) {
        bool fits = true;

        for (size_t k = 0; k < count; k++) {
            const struct btz_json *value = btz_json_getz(btz_json_at(items, i), want[k][0]);

            fits = fits && (*want[k][1] ? btz_str_is(btz_json_str(value), want[k][1])
                                        : btz_json_is(value, BTZ_JSON_NULL));
        }
        if (fits) {
            return btz_json_at(items, i);
        }
    }
    fail_msg("no such item in %s", list);
    return NULL;
}

#define ITEM(root, list, ...)                                                                      \
    item(root, list, (const char *const[][2]){__VA_ARGS__},                                        \
         COUNT(((const char *const[][2]){__VA_ARGS__})))

static void is(const struct btz_json *root, const char *pointer, double want)
{
    double got = -77;

    if (!btz_json_double(btz_json_pointer(root, btz_str_of(pointer)), &got) ||
        !(got > want - 5e-6 && got < want + 5e-6)) {
        fail_msg("%s is %.8f, not %.8f", pointer, got, want);
    }
}

static void is_null(const struct btz_json *root, const char *pointer)
{
    assert_true(btz_json_is(btz_json_pointer(root, btz_str_of(pointer)), BTZ_JSON_NULL));
}

/* Two subjects, six variants of two attacks each: none and a defence, or two architectures. */
static void make_two(struct made *made, const char *const arms[2], bool defence, bool turned)
{
    static const char *const names[] = {"v1", "v2", "v3", "v4", "v5", "v6"};
    struct make_variant variants[24];

    for (size_t i = 0; i < COUNT(variants); i++) {
        bool second = (i >= 12) != turned;

        variants[i] = (struct make_variant){.model = "ref:reader",
                                            .surface = "to",
                                            .attack = i % 12 < 6 ? "a1" : "a2",
                                            .variant = names[i % 6],
                                            .boundary = "V",
                                            .attack_arm = arms[second],
                                            .clean = "++++",
                                            .benign = "++++",
                                            .architecture = second && !defence ? "retry" : NULL,
                                            .defence = second && defence ? "context" : NULL};
    }
    make_run(made, variants, COUNT(variants), make_card);
}

/* The only comparison of the run. */
static const struct btz_json *compared(struct made *made, struct btz_str *text)
{
    struct btz_term term = {.width = 200};
    struct btz_compare *compare = NULL;
    struct btz_err err = {0};
    struct btz_buf out;

    if (btz_compare_build(made->store, made->run.no, made->run.no, false, made->arena, &compare,
                          &err) != BTZ_OK) {
        fail_msg("%s", err.msg);
    }
    btz_buf_init(&out, 1024 * 1024);
    btz_compare_print(compare, &term, &out);
    *text = btz_arena_dup(made->arena, btz_buf_view(&out));
    btz_buf_fini(&out);
    return btz_json_at(btz_json_getz(btz_compare_json(compare, made->arena), "comparisons"), 0);
}

/* The power of a defence is that of a decrease from none's rate, in `report` and in `compare`,
 * whichever of the two comes first. */
static void power_of_a_defence(void **state)
{
    static const struct {
        const char *arms[2]; /* none, defended */
        bool some;
    } runs[] = {{{"RRRR", "RRRR"}, false},
                {{"RRRR", "SSSS"}, false},
                {{"SSSS", "RRRR"}, true},
                {{"SSSS", "SSSS"}, true}};
    double last = NAN;

    (void)state;
    for (size_t i = 0; i < 2 * COUNT(runs); i++) {
        const struct btz_json *other;
        const struct btz_json *own;
        struct btz_str text;
        struct made made;
        double found = NAN;

        make_two(&made, runs[i / 2].arms, true, i % 2);
        other = compared(&made, &text);
        own = ITEM(json_of(&made), "defence_contrasts", {"defence", "context"});
        if (runs[i / 2].some) {
            assert_true(btz_json_double(btz_json_getz(own, "detectable"), &found));
            assert_true(found < 0 && found >= -1);
            assert_true(isnan(last) || found == last); /* none's rate alone decides */
            last = found;
            is(other, "/detectable", found);
            has(text, "80% for a decrease of");
            has(printed(&made, report_of(&made), 200), "80% for a decrease of");
        } else {
            is_null(own, "/detectable");
            is_null(other, "/detectable");
            has(text, "underpowered: no decrease could be shown");
            has(printed(&made, report_of(&made), 200), "underpowered: no decrease could be shown");
        }
        make_done(&made);
    }
}

/* Of other contrasts it is the larger of both ways, and the same when the subjects change places.
 */
static void power_either_way(void **state)
{
    static const char *const arms[][2] = {{"RRRR", "SSSS"}, {"RRRR", "SRRR"}, {"RRRR", "RRRR"}};

    (void)state;
    for (size_t i = 0; i < COUNT(arms); i++) {
        const char *const exchanged[2] = {arms[i][1], arms[i][0]};
        double found[2] = {NAN, NAN};

        for (int turn = 0; turn < 2; turn++) {
            struct btz_str text;
            struct made made;

            make_two(&made, turn ? exchanged : arms[i], false, false);
            assert_true(
                btz_json_double(btz_json_getz(compared(&made, &text), "detectable"), &found[turn]));
            has(text, "80% for a change of");
            /* 12 variants: all patterns. */
            has(text, "exact sign-flip test over variants");
            make_done(&made);
        }
        assert_true(found[0] > 0 && found[0] <= 1 && found[0] == found[1]);
    }
}

/* Limits that are 0 apart from rounding are printed and written as 0. */
static void no_negative_zero(void **state)
{
    static const char *const firsts[] = {"S", "S", "S", "R", "R", "R",
                                         "S", "R", "S", "S", "R", "R"};
    static const char *const seconds[] = {"R", "S", "S", "R", "R", "R",
                                          "S", "R", "R", "R", "R", "R"};
    struct make_variant variants[24];
    static const char *const names[] = {"v1", "v2", "v3", "v4", "v5", "v6"};
    const struct btz_json *lines;
    struct btz_str text;
    struct made made;

    (void)state;
    for (size_t i = 0; i < COUNT(variants); i++) {
        size_t at = i % 12;

        variants[i] = (struct make_variant){.model = "ref:reader",
                                            .surface = "to",
                                            .attack = at < 6 ? "a1" : "a2",
                                            .variant = names[at % 6],
                                            .boundary = "V",
                                            .attack_arm = i < 12 ? firsts[at] : seconds[at],
                                            .clean = "+",
                                            .benign = "+",
                                            .defence = i < 12 ? NULL : "context"};
    }
    make_run(&made, variants, COUNT(variants), make_card);
    lines = btz_json_getz(compared(&made, &text), "lines");
    has(text, "[+0.0, ");
    has_not(text, "-0.0");
    has_not(printed(&made, report_of(&made), 400), "-0.0");
    for (size_t i = 0; i < btz_json_count(lines); i++) {
        const struct btz_json *asr = btz_json_getz(btz_json_at(lines, i), "asr");
        double lo = 1;

        if (btz_json_double(btz_json_getz(asr, "lo"), &lo)) {
            assert_true(lo == 0 || fabs(lo) > 1e-9);
            assert_false(signbit(lo) && lo == 0);
        }
    }
    make_done(&made);
}

/* Over 20 variants the patterns are drawn, and the page does not call the test exact. */
static void drawn_patterns(void **state)
{
    static char names[44][8];
    struct make_variant variants[44];
    const struct btz_json *c;
    struct btz_str text;
    struct made made;

    (void)state;
    for (size_t i = 0; i < COUNT(variants); i++) {
        (void)snprintf(names[i], sizeof(names[i]), "v%zu", i % 11);
        variants[i] = (struct make_variant){.model = "ref:reader",
                                            .surface = "to",
                                            .attack = i % 22 < 11 ? "a1" : "a2",
                                            .variant = names[i],
                                            .boundary = "V",
                                            .attack_arm = i % 4 ? "S" : "R",
                                            .clean = "+",
                                            .benign = "+",
                                            .defence = i < 22 ? NULL : "context"};
    }
    make_run(&made, variants, COUNT(variants), make_card);
    c = compared(&made, &text);
    for (size_t i = 0; i < btz_json_count(btz_json_getz(c, "lines")); i++) {
        const struct btz_json *line = btz_json_at(btz_json_getz(c, "lines"), i);
        bool one = btz_json_is(btz_json_getz(line, "attack"), BTZ_JSON_STRING);

        assert_true(btz_json_bool(btz_json_pointer(line, BTZ_STR("/asr/exact")), !one) == one);
    }
    has(text, "exact up to 20 variants, over 65535 random patterns beyond");
    c = ITEM(json_of(&made), "defence_contrasts", {"defence", "context"});
    assert_false(btz_json_bool(btz_json_pointer(c, BTZ_STR("/asr/exact")), true));
    has(printed(&made, report_of(&made), 400), "over 65535 random patterns beyond");
    make_done(&made);
}

/* Clean twins that are missing make the statement about utility unreliable, too. */
static void missing_utility_is_a_caution(void **state)
{
    static const char *const clean[2] = {"++++", "+FFF"};
    static const char *const names[] = {"v1", "v2", "v3"};
    struct make_variant variants[12];
    struct made made;
    struct btz_str text;
    const struct btz_json *c;

    (void)state;
    for (size_t i = 0; i < COUNT(variants); i++) {
        variants[i] = (struct make_variant){.model = "ref:reader",
                                            .surface = "to",
                                            .attack = i % 6 < 3 ? "a1" : "a2",
                                            .variant = names[i % 3],
                                            .boundary = "V",
                                            .attack_arm = "SSSS",
                                            .clean = clean[i >= 6],
                                            .benign = "++++",
                                            .defence = i >= 6 ? "context" : NULL};
    }
    make_run(&made, variants, COUNT(variants), make_card);
    c = compared(&made, &text);
    has(text, "shown; unreliable: over 5% missing");
    assert_true(
        btz_str_is(btz_json_str(btz_json_pointer(c, BTZ_STR("/lines/3/clean_utility/caution"))),
                   "unreliable: over 5% missing"));
    has(printed(&made, report_of(&made), 200), "points; unreliable: over 5% missing). Power");
    make_done(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(power_of_a_defence),
        cmocka_unit_test(power_either_way),
        cmocka_unit_test(drawn_patterns),
        cmocka_unit_test(no_negative_zero),
        cmocka_unit_test(missing_utility_is_a_caution),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
