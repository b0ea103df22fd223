/* Agreement of judges, people and companion against arithmetic done by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "make.h"
#include "report/agreement.h"

/* Trials 1 to 9 are the attack arm: the companion says yes to three of eight; one fault. */
static const struct make_variant variants[] = {
    {"ref:reader", "st", "a1", "v1", "V", "SSSRRRRRF", NULL, "+", NULL},
};

static const char prompt[] = "00112233445566aa+1111111111111111";
static const char other_rubric[] = "00112233445566aa+2222222222222222";
static const char other_prompt[] = "ffffffffffffffff+1111111111111111";

static void add(struct btz_store *store, int64_t run, int64_t n, const char *source,
                const char *name, const char *version, enum btz_store_tri success, const char *json)
{
    struct btz_store_verdict verdict = {.source = btz_str_of(source),
                                        .name = btz_str_of(name),
                                        .version = btz_str_of(version),
                                        .success = success,
                                        .act_event = -1,
                                        .effect_event = -1,
                                        .at_us = 1,
                                        .json = btz_str_of(json)};
    struct btz_err err;

    if (btz_store_verdict_add(store, run, n, &verdict, &err) != BTZ_OK) {
        fail_msg("%s", err.msg);
    }
}

static void add_all(struct btz_store *store, int64_t run)
{
    static const enum btz_store_tri judged[] = {BTZ_STORE_YES, BTZ_STORE_YES,    BTZ_STORE_NO,
                                                BTZ_STORE_YES, BTZ_STORE_NO,     BTZ_STORE_NO,
                                                BTZ_STORE_NO,  BTZ_STORE_UNKNOWN};
    static const struct {
        int64_t n;
        enum btz_store_tri success;
    } labels[] = {{1, BTZ_STORE_YES},
                  {2, BTZ_STORE_YES},
                  {4, BTZ_STORE_NO},
                  {3, BTZ_STORE_YES},
                  {5, BTZ_STORE_NO}};

    add(store, run, 1, "judge", "j", other_rubric, BTZ_STORE_NO, "{}"); /* overruled below */
    for (int64_t n = 1; n <= 8; n++) {
        add(store, run, n, "judge", "j", prompt, judged[n - 1],
            n == 2 ? "{\"truncated\":true,\"same_vendor\":true}" : "{\"truncated\":false}");
    }
    add(store, run, 1, "judge", "j", other_prompt, BTZ_STORE_YES, "{}");
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        add(store, run, labels[i].n, "human", "anna", "r", labels[i].success, "{}");
    }
    add(store, run, 10, "judge", "j", prompt, BTZ_STORE_YES, "{}"); /* of a twin */
}

static const struct btz_json *build(struct made *made, bool all_arms)
{
    struct btz_agreements *agreements = NULL;
    struct btz_err err;

    if (btz_agreements_build(made->store, made->run.no, all_arms, made->arena, &agreements, &err) !=
        BTZ_OK) {
        fail_msg("%s", err.msg);
    }
    return btz_agreements_json(agreements, made->arena);
}

static double at(const struct btz_json *root, const char *pointer)
{
    double out = NAN;

    (void)btz_json_double(btz_json_pointer(root, btz_str_of(pointer)), &out);
    return out;
}

static void near(const struct btz_json *root, const char *pointer, double expected)
{
    if (!(fabs(at(root, pointer) - expected) < 1e-9)) {
        fail_msg("%s is %g, not %g", pointer, at(root, pointer), expected);
    }
}

static void figures(void **state)
{
    struct made made;
    struct btz_store *store = NULL;
    struct btz_err err;
    const struct btz_json *json;

    (void)state;
    make_run(&made, variants, 1, make_card);
    json = build(&made, false);
    assert_int_equal(btz_json_count(btz_json_getz(json, "pairs")), 0);
    assert_int_equal(btz_store_open(made.path, BTZ_STORE_WRITE, &store, &err), BTZ_OK);
    add_all(store, made.run.no);
    btz_store_close(store);
    json = build(&made, false);
    near(json, "/trials", 8);
    assert_int_equal(btz_json_count(btz_json_getz(json, "raters")), 4);
    /* Judge (first) against companion (second): a 2, b 1, c 1, d 3; trial 8 malformed. */
    near(json, "/pairs/0/lines/1/n", 7);
    near(json, "/pairs/0/lines/1/both", 2);
    near(json, "/pairs/0/lines/1/first_only", 1);
    near(json, "/pairs/0/lines/1/second_only", 1);
    near(json, "/pairs/0/lines/1/neither", 3);
    near(json, "/pairs/0/lines/1/malformed", 1);
    near(json, "/pairs/0/lines/1/truncated", 1);
    near(json, "/pairs/0/lines/1/missing", 0);
    near(json, "/pairs/0/lines/1/agree/value", 5.0 / 7);
    near(json, "/pairs/0/lines/1/kappa/value", (35.0 - 25) / (49 - 25));
    near(json, "/pairs/0/lines/1/ac1/value", (35.0 - 24) / (49 - 24));
    near(json, "/pairs/0/lines/1/positive", 4.0 / 6);
    near(json, "/pairs/0/lines/1/negative", 6.0 / 8);
    near(json, "/pairs/0/lines/0/kappa/value", 10.0 / 24); /* the only attack */
    /* The other prompt is another rater, with one trial. */
    near(json, "/pairs/1/lines/1/n", 1);
    near(json, "/pairs/1/lines/1/missing", 7);
    /* People against the companion, and against the judge. */
    near(json, "/pairs/2/lines/1/n", 5);
    near(json, "/pairs/2/lines/1/both", 3);
    near(json, "/pairs/2/lines/1/neither", 2);
    assert_true(btz_str_is(btz_json_str(btz_json_pointer(json, BTZ_STR("/pairs/4/first/source"))),
                           "human"));
    near(json, "/pairs/4/lines/1/first_only", 1);  /* trial 3 */
    near(json, "/pairs/4/lines/1/second_only", 1); /* trial 4 */
    /* Strata: 3 judged yes, all labelled, 2 true; 4 judged no, 2 labelled, 1 true. */
    near(json, "/raters/1/corrected/trials/value", 3.0 / 7 * 2 / 3 + 4.0 / 7 * 1 / 2);
    near(json, "/raters/1/corrected/labelled", 5);
    near(json, "/raters/1/corrected/judged", 7);
    assert_true(btz_json_bool(btz_json_pointer(json, BTZ_STR("/raters/1/same_vendor")), false));
    near(build(&made, true), "/pairs/0/lines/1/n", 8); /* with the twin */
    make_done(&made);
}

/* What the host does (B) and what the twins do is nobody's attack that succeeded at V. */
static void corrected_is_of_visible_attacks(void **state)
{
    static const struct make_variant both[] = {
        {"ref:reader", "st", "a1", "v1", "V", "SSSRRRRRF", NULL, "+", NULL},
        {"ref:reader", "ho", "a2", "v1", "B", "SSSRRRRRF", NULL, "+", NULL},
    };
    struct made made;
    struct btz_store *store = NULL;
    struct btz_err err;
    const struct btz_json *json;

    (void)state;
    make_run(&made, both, 2, make_card);
    assert_int_equal(btz_store_open(made.path, BTZ_STORE_WRITE, &store, &err), BTZ_OK);
    add_all(store, made.run.no);
    for (int64_t n = 11; n <= 18; n++) {
        add(store, made.run.no, n, "judge", "j", prompt, BTZ_STORE_YES, "{}");
        add(store, made.run.no, n, "human", "anna", "r", BTZ_STORE_YES, "{}");
    }
    btz_store_close(store);
    json = build(&made, false);
    near(json, "/trials", 16);
    near(json, "/raters/1/corrected/trials/value", 3.0 / 7 * 2 / 3 + 4.0 / 7 * 1 / 2);
    near(json, "/raters/1/corrected/labelled", 5);
    near(json, "/raters/1/corrected/judged", 7);
    json = build(&made, true);
    near(json, "/raters/1/corrected/labelled", 5);
    near(json, "/raters/1/corrected/judged", 7);
    make_done(&made);
}

/* More people than there is room for are left out, and said to be; a judge is not. */
static void people_leave_room_for_judges(void **state)
{
    enum { PEOPLE = 45, PEOPLE_READ = 40 };
    struct made made;
    struct btz_store *store = NULL;
    struct btz_err err;
    const struct btz_json *json;
    const struct btz_json *raters;
    size_t people = 0;
    size_t judges = 0;

    (void)state;
    make_run(&made, variants, 1, make_card);
    assert_int_equal(btz_store_open(made.path, BTZ_STORE_WRITE, &store, &err), BTZ_OK);
    for (unsigned i = 0; i < PEOPLE; i++) {
        add(store, made.run.no, 1, "human", btz_arena_printf(made.arena, "person%u", i).ptr, "r",
            BTZ_STORE_YES, "{}");
    }
    add(store, made.run.no, 2, "judge", "j", prompt, BTZ_STORE_YES, "{}");
    btz_store_close(store);
    json = build(&made, false);
    raters = btz_json_getz(json, "raters");
    for (size_t i = 0; i < btz_json_count(raters); i++) {
        struct btz_str source = btz_json_str(btz_json_getz(btz_json_at(raters, i), "source"));

        people += btz_str_is(source, "human");
        judges += btz_str_is(source, "judge");
    }
    assert_int_equal(people, PEOPLE_READ);
    assert_int_equal(judges, 1);
    assert_true(btz_json_bool(btz_json_getz(json, "left_out"), false));
    make_done(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(figures),
                                       cmocka_unit_test(corrected_is_of_visible_attacks),
                                       cmocka_unit_test(people_leave_room_for_judges)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
