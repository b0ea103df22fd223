#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "guard/model.h"

static void questions(void **state)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_guard_question q;
    struct btz_guard_question other;

    (void)state;
    btz_guard_question(BTZ_GUARD_RESULT, BTZ_STR("read\"file"), BTZ_STR("sum up a.txt"),
                       BTZ_STR("line one\nline two\xFF"), 0, arena, &q);
    assert_true(q.version >= 1);
    assert_false(q.cut);
    assert_true(btz_str_is(q.scanned, "line one\nline two\xEF\xBF\xBD"));
    assert_true(btz_str_find(q.user, q.scanned) > 0);
    assert_true(btz_str_find(q.user, BTZ_STR("Name: \"read\\\"file\"")) >= 0);
    assert_true(btz_str_find(q.user, BTZ_STR("\"sum up a.txt\"")) >= 0);
    assert_true(btz_str_find(q.system, BTZ_STR("Late hijack")) >= 0);
    assert_true(btz_str_find(q.system, BTZ_STR("Rug pull")) >= 0);
    assert_true(btz_str_find(q.system, BTZ_STR("Semantic drift")) >= 0);
    assert_true(btz_str_find(q.system, BTZ_STR("version")) < 0);
    btz_guard_question(BTZ_GUARD_TASK, BTZ_STR_NONE, BTZ_STR_NONE, BTZ_STR("x"), 0, arena, &other);
    assert_false(btz_str_eq(q.system, other.system));
    btz_guard_question(BTZ_GUARD_DEFINITION, BTZ_STR_NONE, BTZ_STR_NONE, BTZ_STR("x"), 0, arena,
                       &q);
    assert_false(btz_str_eq(q.system, other.system));
    btz_arena_free(arena);
}

/* What stands at the end of a long text stays; a character is never cut. */
static void bounded(void **state)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_guard_question q;
    char text[3001];

    (void)state;
    for (size_t i = 0; i < 3000; i += 3) {
        memcpy(text + i, "\xE2\x82\xAC", 3);
    }
    text[0] = 'A';
    text[1] = 'A';
    text[2] = 'A';
    text[3000] = 'Z';
    for (size_t max = 8; max < 40; max++) {
        btz_guard_question(BTZ_GUARD_RESULT, BTZ_STR_NONE, BTZ_STR_NONE,
                           (struct btz_str){text, 3001}, max, arena, &q);
        assert_true(q.cut);
        assert_true(q.scanned.len < max + 60);
        assert_int_equal(q.scanned.ptr[0], 'A');
        assert_int_equal(q.scanned.ptr[q.scanned.len - 1], 'Z');
        assert_true(btz_str_find(q.scanned, BTZ_STR("bytes left out]")) > 0);
        assert_true(btz_str_find(q.scanned, BTZ_STR("\xEF\xBF\xBD")) < 0);
    }
    btz_guard_question(BTZ_GUARD_RESULT, BTZ_STR_NONE, BTZ_STR_NONE, BTZ_STR("ab"), 1, arena, &q);
    assert_true(q.cut);
    btz_arena_free(arena);
}

static int opinion(const char *reply, const char *scanned, struct btz_guard_opinion *out)
{
    static struct btz_arena *arena;
    struct btz_err err = {0};
    int rc;

    btz_arena_free(arena);
    arena = btz_arena_new();
    rc = btz_guard_opinion(btz_str_of(reply), btz_str_of(scanned), arena, out, &err);
    if (rc && !strstr(err.msg, "malformed")) {
        fail_msg("%s", err.msg);
    }
    return rc;
}

static void verdicts(void **state)
{
    struct btz_guard_opinion o = {0};

    (void)state;
    assert_int_equal(
        opinion("{\"verdict\":\"unsafe\",\"reason\":\"an order\",\"evidence\":\"open \\\"it\\\"\"}",
                "now open \"it\" please", &o),
        BTZ_OK);
    assert_true(o.unsafe);
    assert_true(btz_str_is(o.evidence, "open \"it\""));
    assert_int_equal(
        opinion(" ```json\n{\"verdict\":\"safe\",\"reason\":\"\",\"evidence\":\"\"}\n```\n", "abc",
                &o),
        BTZ_OK);
    assert_false(o.unsafe);
}

static void malformed(void **state)
{
    static const char *const replies[] = {
        "",
        "safe",
        "null",
        "[]",
        "{\"verdict\":\"unsafe\",\"reason\":\"r\",\"evidence\":\"not there\"}",
        "{\"verdict\":\"unsafe\",\"reason\":\"r\",\"evidence\":\"\"}",
        "{\"verdict\":\"unsafe\",\"reason\":\"r\",\"evidence\":\" \"}",
        "{\"verdict\":\"unsafe\",\"reason\":\"r\",\"evidence\":\"Some text\"}",
        "{\"verdict\":\"safe\",\"reason\":\"r\",\"evidence\":\"some\"}",
        "{\"verdict\":\"Safe\",\"reason\":\"r\",\"evidence\":\"\"}",
        "{\"verdict\":\"safe\",\"reason\":\"r\"}",
        "{\"verdict\":\"safe\",\"reason\":1,\"evidence\":\"\"}",
        "{\"verdict\":\"safe\",\"reason\":\"r\",\"evidence\":\"\",\"more\":1}",
        "{\"verdict\":\"safe\",\"verdict\":\"safe\",\"reason\":\"r\",\"evidence\":\"\"}",
        "The verdict: {\"verdict\":\"safe\",\"reason\":\"r\",\"evidence\":\"\"}",
        "{\"verdict\":\"safe\",\"reason\":\"r\",\"evidence\":\"\"} so be it",
        "```\n{\"verdict\":\"safe\",\"reason\":\"r\",\"evidence\":\"\"}",
        "``````",
    };
    struct btz_guard_opinion o = {.unsafe = true};

    (void)state;
    for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++) {
        if (opinion(replies[i], "some text", &o) != BTZ_EINVAL) {
            fail_msg("accepted: %s", replies[i]);
        }
        assert_true(o.unsafe); /* untouched */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions),
        cmocka_unit_test(bounded),
        cmocka_unit_test(verdicts),
        cmocka_unit_test(malformed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
