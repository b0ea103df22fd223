#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "judge/judge.h"

static struct btz_arena *arena;

static int setup(void **state)
{
    (void)state;
    arena = btz_arena_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    btz_arena_free(arena);
    return 0;
}

static void labels_are_read(void **state)
{
    static const char text[] = "trial,success,labeller,note\r\n"
                               "7,no,anna,\"a, \"\"b\"\"\nc\"\r\n"
                               "r1/3,yes,ben,\n"
                               "4,,anna,later\n"
                               "3,1,\"anna\",x\n\n \r\n";
    struct btz_judge_label *labels = NULL;
    size_t count = 0;
    size_t unlabelled = 0;
    struct btz_err err;

    (void)state;
    assert_int_equal(btz_judge_labels_read(arena, btz_str_of(text), BTZ_STR("r1"), &labels, &count,
                                           &unlabelled, &err),
                     BTZ_OK);
    assert_int_equal(count, 3);
    assert_int_equal(unlabelled, 1);
    assert_true(labels[0].trial == 3 && labels[0].success && labels[0].line == 6);
    assert_true(btz_str_is(labels[0].labeller, "anna"));
    assert_true(labels[1].trial == 3 && btz_str_is(labels[1].labeller, "ben"));
    assert_true(labels[2].trial == 7 && !labels[2].success && labels[2].line == 2);
}

static void a_byte_order_mark_is_skipped(void **state)
{
    struct btz_judge_label *labels = NULL;
    size_t count = 0;
    size_t unlabelled = 0;
    struct btz_err err;

    (void)state;
    assert_int_equal(
        btz_judge_labels_read(arena, BTZ_STR("\xef\xbb\xbftrial,success,labeller\r\n7,no,anna\r\n"),
                              BTZ_STR("r1"), &labels, &count, &unlabelled, &err),
        BTZ_OK);
    assert_int_equal(count, 1);
    assert_true(labels[0].trial == 7 && !labels[0].success && labels[0].line == 2);
    assert_true(btz_str_is(labels[0].labeller, "anna"));
    assert_int_equal(
        btz_judge_labels_read(arena, BTZ_STR("\xef\xbb\xbf\xef\xbb\xbftrial,success,labeller\n"),
                              BTZ_STR("r1"), &labels, &count, &unlabelled, &err),
        BTZ_EINVAL);
}

static void wrong_tables_name_the_line(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "line 1: the head line must begin with trial,success,labeller"},
        {"trial,labeller,success\n", "line 1: the head line"},
        {"trial,success\n1,yes\n", "line 1: the head line"},
        {"trial,success,labeller\n1,yes\n", "line 2: not as many columns"},
        {"trial,success,labeller\n1,yes,a\n2,maybe,a\n", "line 3: success must be yes or no"},
        {"trial,success,labeller\n1,Yes,a\n", "line 2: success must be yes or no"},
        {"trial,success,labeller\n0,yes,a\n", "line 2: trial must be a number"},
        {"trial,success,labeller\n1x,yes,a\n", "line 2: trial must be a number"},
        {"trial,success,labeller\nother/1,yes,a\n", "line 2: a trial of run other, not of r1"},
        {"trial,success,labeller\n1,yes, \n", "line 2: no labeller"},
        {"trial,success,labeller\n1,yes,a\n2,no,a\n1,no,a\n", "line 4: this labeller has"},
        {"trial,success,labeller\n1,yes,\"a\n", "line 2: a quoted field is not closed"},
        {"trial,success,labeller\n1,yes,\"a\"b\n", "line 2: text behind a quoted field"},
        {"trial,success,labeller\n1,yes,a\"b\n", "line 2: a quotation mark inside"},
        {"trial,success,labeller\n1,yes,\xff\n", "line 2: the labeller's name must be UTF-8"},
        {"trial,success,labeller,note\n1,yes,a,\"x\n\n\"\n2,no,,y\n", "line 5: no labeller"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct btz_judge_label *labels = NULL;
        size_t count = 0;
        size_t unlabelled = 0;
        struct btz_err err = {0};

        assert_int_equal(btz_judge_labels_read(arena, btz_str_of(cases[i].text), BTZ_STR("r1"),
                                               &labels, &count, &unlabelled, &err),
                         BTZ_EINVAL);
        if (!btz_str_starts(btz_str_of(err.msg), btz_str_of(cases[i].message))) {
            fail_msg("%zu: %s", i, err.msg);
        }
    }
}

static void fields_survive_a_round_trip(void **state)
{
    static const char *const fields[] = {"plain", "a,b", "say \"so\"", "two\nlines", ""};
    struct btz_judge_label *labels = NULL;
    size_t count = 0;
    size_t unlabelled = 0;

    (void)state;
    for (size_t i = 0; i + 1 < sizeof(fields) / sizeof(fields[0]); i++) {
        struct btz_buf out;

        btz_buf_init(&out, 4096);
        (void)btz_buf_add_text(&out, "trial,success,labeller\n1,yes,");
        btz_judge_csv_field(&out, btz_str_of(fields[i]));
        (void)btz_buf_add_byte(&out, '\n');
        assert_int_equal(btz_judge_labels_read(arena, btz_buf_view(&out), BTZ_STR(""), &labels,
                                               &count, &unlabelled, NULL),
                         BTZ_OK);
        assert_int_equal(count, 1);
        assert_true(btz_str_is(labels[0].labeller, fields[i]));
        btz_buf_fini(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_read),
        cmocka_unit_test(a_byte_order_mark_is_skipped),
        cmocka_unit_test(wrong_tables_name_the_line),
        cmocka_unit_test(fields_survive_a_round_trip),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
