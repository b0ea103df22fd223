#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/rng.h"
#include "match/prefilter.h"
#include "match/regex.h"

#define S(text)                                                                                    \
    {                                                                                              \
        (text), sizeof(text) - 1                                                                   \
    }

static const struct btz_prefilter_pattern patterns[] = {
    {S("ignore (?:all )?previous"), 0},
    {S("send"), BTZ_REGEX_CASELESS},
    {S("^system:"), BTZ_REGEX_MULTILINE},
    {S("(ab+)c\\1"), 0},        /* back-reference: prefilter form */
    {S("(?<!not )allowed"), 0}, /* look-behind: prefilter form */
    {S("(?(?=a)ab|cd)"), 0},    /* conditional */
    {S("x.y"), BTZ_REGEX_DOTALL},
    {S("\\bcaf\xC3\xA9\\b"), 0},
    {S(""), 0},
    {S("ignore[^]]{0,40}send"), 0}, /* long repeats are widened, not dropped */
    {S("(?:all |not ){2,9}previous"), 0},
    {S("don.?t"), 0},
    {S("a.c|d[^x]e|x\\Wy|[\\W_]send"), 0},
    {S("not.{1,2}all[[:^alpha:]]c"), 0},
    {S("^.ab"), BTZ_REGEX_MULTILINE},
    {S("kelvin"), BTZ_REGEX_CASELESS},
    {S("[x{0,9}]y{1}\\x{20AC}"), 0},
};

enum { COUNT = sizeof(patterns) / sizeof(patterns[0]) };

static bool saved = true; /* as the state of a test: its prefilter is saved and loaded */

static struct btz_prefilter *make(void **state)
{
    struct btz_prefilter *p = NULL;
    struct btz_err err = {0};
    struct btz_buf bytes;

    btz_buf_init(&bytes, 16 * 1024 * 1024);
    if (*state != &saved && btz_prefilter_new(patterns, COUNT, &p, &err)) {
        fail_msg("%s", err.msg);
    }
    if (*state == &saved && (btz_prefilter_save(patterns, COUNT, &bytes, &err) ||
                             btz_prefilter_load(patterns, COUNT, btz_buf_view(&bytes), &p, &err))) {
        fail_msg("%s", err.msg);
    }
    btz_buf_fini(&bytes);
    return p;
}

static bool has(struct btz_prefilter_scratch *scratch, const char *text, uint32_t id)
{
    const uint32_t *ids;
    size_t n = btz_prefilter_scan(scratch, btz_str_of(text), &ids);

    for (size_t i = 0; i < n; i++) {
        if (ids[i] == id) {
            return true;
        }
    }
    return false;
}

static void narrows(void **state)
{
    struct btz_prefilter *p = make(state);
    struct btz_prefilter_scratch *scratch = btz_prefilter_scratch_new(p);

    assert_int_equal(btz_prefilter_count(p), COUNT);
    assert_true(btz_prefilter_always(p) < COUNT / 2);
    assert_true(has(scratch, "please ignore previous", 0));
    assert_true(has(scratch, "please ignore all previous", 0));
    assert_false(has(scratch, "please ignore", 0));
    assert_true(has(scratch, "SEND", 1));
    assert_false(has(scratch, "end", 1));
    assert_true(has(scratch, "a\nsystem: b", 2));
    assert_false(has(scratch, "a system: b", 2));
    assert_true(has(scratch, "abbcabb", 3));
    assert_true(has(scratch, "it is allowed", 4));
    assert_true(has(scratch, "x\ny", 6));
    assert_true(has(scratch, "", 8));
    btz_prefilter_scratch_free(scratch);
    btz_prefilter_free(p);
}

/* No pattern that PCRE2 finds may be missing among the candidates. */
static void never_loses(void **state)
{
    static const char *const words[] = {"ignore ",
                                        "all ",
                                        "previous",
                                        "send",
                                        "SEND",
                                        "\nsystem:",
                                        "ab",
                                        "abb",
                                        "c",
                                        "not ",
                                        "allowed",
                                        "cd",
                                        "x",
                                        "\n",
                                        "y",
                                        " ",
                                        "caf\xC3\xA9",
                                        "don",
                                        "t",
                                        "a",
                                        "d",
                                        "e",
                                        "\xE2\x84\xAA",
                                        "elvin",
                                        "\xF0\x9F\x98\x80",
                                        "\xE2\x82\xAC"};
    struct btz_prefilter *p = make(state);
    struct btz_prefilter_scratch *scratch = btz_prefilter_scratch_new(p);
    struct btz_regex *regexes[COUNT];
    struct btz_rng rng;
    unsigned found = 0;

    (void)state;
    rng = btz_rng_of(7);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(btz_regex_new(patterns[i].pattern, patterns[i].flags, &regexes[i], NULL),
                         BTZ_OK);
    }
    for (unsigned round = 0; round < 3000; round++) {
        char text[128] = "";
        size_t len = 0;

        for (unsigned w = 0; w < 7; w++) {
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%s",
                                    words[btz_rng_below(&rng, sizeof(words) / sizeof(words[0]))]);
        }
        for (uint32_t i = 0; i < COUNT; i++) {
            if (btz_regex_find(regexes[i], btz_str_of(text), 0, NULL, NULL) == BTZ_OK) {
                found++;
                if (!has(scratch, text, i)) {
                    fail_msg("pattern %u matches \"%s\" and is no candidate", i, text);
                }
            }
        }
    }
    assert_true(found > 4000);
    for (size_t i = 0; i < COUNT; i++) {
        btz_regex_free(regexes[i]);
    }
    btz_prefilter_scratch_free(scratch);
    btz_prefilter_free(p);
}

static void bytes_that_are_no_text(void **state)
{
    static const char *const bad[] = {
        "\xFF",         "a\xC3",   "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
        "12345678\x80", "\xC0\xAF"};
    struct btz_prefilter *p = make(state);
    struct btz_prefilter_scratch *scratch = btz_prefilter_scratch_new(p);
    const uint32_t *ids;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(btz_prefilter_scan(scratch, btz_str_of(bad[i]), &ids), COUNT);
    }
    assert_true(btz_prefilter_scan(scratch, BTZ_STR("\xF4\x8F\xBF\xBF\xED\x9F\xBF"), &ids) < COUNT);
    btz_prefilter_scratch_free(scratch);
    btz_prefilter_free(p);
}

static void wrong_use(void **state)
{
    struct btz_prefilter_pattern one = {BTZ_STR("a"), BTZ_REGEX_ECMA};
    struct btz_prefilter *p = NULL;
    struct btz_prefilter_scratch *scratch;
    struct btz_err err = {0};
    const uint32_t *ids;

    (void)state;
    assert_int_equal(btz_prefilter_new(&one, 1, &p, &err), BTZ_EINVAL);
    assert_int_equal(btz_prefilter_new(&one, BTZ_PREFILTER_PATTERNS_MAX + 1, &p, &err), BTZ_ELIMIT);
    assert_null(p);
    assert_int_equal(btz_prefilter_new(NULL, 0, &p, &err), BTZ_OK);
    scratch = btz_prefilter_scratch_new(p);
    assert_int_equal(btz_prefilter_scan(scratch, BTZ_STR("abc"), &ids), 0);
    btz_prefilter_scratch_free(scratch);
    btz_prefilter_free(p);
    one = (struct btz_prefilter_pattern){S("a\0b"), 0};
    assert_int_equal(btz_prefilter_new(&one, 1, &p, &err), BTZ_OK);
    assert_int_equal(btz_prefilter_always(p), 1);
    btz_prefilter_free(p);
}

/* What was saved is taken only for the patterns that it was made of. */
static void loads_its_own_only(void **state)
{
    struct btz_prefilter_pattern others[COUNT];
    struct btz_prefilter *p = NULL;
    struct btz_err err = {0};
    struct btz_buf bytes;
    struct btz_str all;

    (void)state;
    btz_buf_init(&bytes, 16 * 1024 * 1024);
    assert_int_equal(btz_prefilter_save(patterns, COUNT, &bytes, &err), BTZ_OK);
    all = btz_buf_view(&bytes);
    memcpy(others, patterns, sizeof(others));
    others[3].flags = BTZ_REGEX_CASELESS;
    assert_int_equal(btz_prefilter_load(others, COUNT, all, &p, &err), BTZ_EUNSUPPORTED);
    assert_int_equal(btz_prefilter_load(patterns, COUNT - 1, all, &p, &err), BTZ_EUNSUPPORTED);
    assert_int_equal(btz_prefilter_load(patterns, COUNT, BTZ_STR(""), &p, &err), BTZ_EUNSUPPORTED);
    assert_int_equal(btz_prefilter_load(patterns, COUNT, btz_str_sub(all, 0, 60), &p, &err),
                     BTZ_EUNSUPPORTED);
    assert_int_equal(
        btz_prefilter_load(patterns, COUNT, btz_str_sub(all, 0, all.len - 9), &p, &err),
        BTZ_EUNSUPPORTED);
    assert_null(p);
    btz_buf_reset(&bytes);
    assert_int_equal(btz_prefilter_save(NULL, 0, &bytes, &err), BTZ_EUNSUPPORTED);
    others[0].flags = BTZ_REGEX_ECMA;
    assert_int_equal(btz_prefilter_save(others, COUNT, &bytes, &err), BTZ_EINVAL);
    btz_buf_fini(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(narrows),
        cmocka_unit_test_prestate(narrows, &saved),
        cmocka_unit_test(never_loses),
        cmocka_unit_test_prestate(never_loses, &saved),
        cmocka_unit_test(loads_its_own_only),
        cmocka_unit_test(bytes_that_are_no_text),
        cmocka_unit_test(wrong_use),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
