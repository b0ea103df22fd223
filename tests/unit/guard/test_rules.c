/* Rule files: what is refused and where the message points; the rules of the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "guard/guard_int.h"

#define HEAD "rules:\n  - id: a-rule\n    title: A rule\n    signal: thing\n"
#define TARGETS "    targets: [result]\n"
#define WEIGHT "    severity: low\n    weight: 30\n"
#define MAPPING "    mapping: rug-pull\n"
#define PATTERN "    patterns: ['blue moon']\n"
#define SAMPLES "    positive: ['a Blue  Moon']\n    negative: ['a red moon']\n"

static int load(const char *text, struct btz_err *err)
{
    struct btz_embedded file = {"mine.yaml", text, strlen(text)};
    struct btz_guard_rules *rules = NULL;
    int rc;

    *err = (struct btz_err){0};
    rc = btz_guard_rules_parse(&file, 1, &rules, err);
    if (rc == BTZ_OK) {
        rc = btz_guard_rules_play(rules, NULL, err);
    } else {
        assert_null(rules);
    }
    btz_guard_rules_free(rules);
    return rc;
}

static void refused(const char *text, int code, unsigned line, const char *part)
{
    struct btz_err err;
    int rc = load(text, &err);

    if (rc != code || err.line != line || !strstr(err.msg, part) || strcmp(err.file, "mine.yaml")) {
        fail_msg("expected %d line %u \"%s\"; got %d %s:%u \"%s\"", code, line, part, rc, err.file,
                 err.line, err.msg);
    }
}

static void good_file(void **state)
{
    struct btz_err err;

    (void)state;
    if (load(HEAD TARGETS WEIGHT MAPPING PATTERN SAMPLES, &err)) {
        fail_msg("%u: %s", err.line, err.msg);
    }
}

static void bad_files(void **state)
{
    (void)state;
    refused(HEAD TARGETS WEIGHT MAPPING PATTERN, BTZ_EINVAL, 2, "positive");
    refused(HEAD TARGETS WEIGHT MAPPING PATTERN "    positive: ['blue moon']\n", BTZ_EINVAL, 2,
            "negative");
    refused(HEAD TARGETS WEIGHT MAPPING PATTERN "    positive: []\n    negative: [a]\n", BTZ_EINVAL,
            10, "positive");
    refused(HEAD "    targets: [wall]\n" WEIGHT MAPPING PATTERN SAMPLES, BTZ_EINVAL, 5, "targets");
    refused(HEAD TARGETS "    severity: low\n    weight: 101\n" MAPPING PATTERN SAMPLES, BTZ_EINVAL,
            7, "weight");
    refused(HEAD TARGETS WEIGHT "    mapping: nothing\n" PATTERN SAMPLES, BTZ_EINVAL, 8, "nothing");
    refused(HEAD TARGETS WEIGHT MAPPING "    patterns: ['blue (moon']\n" SAMPLES, BTZ_EINVAL, 9,
            "regular expression");
    refused(HEAD TARGETS WEIGHT MAPPING "    patterns: ['x*']\n" SAMPLES, BTZ_EINVAL, 9,
            "matches the empty text");
    refused(HEAD TARGETS WEIGHT MAPPING PATTERN SAMPLES "    wieght: 3\n", BTZ_EINVAL, 12,
            "wieght");
    refused(HEAD TARGETS WEIGHT MAPPING PATTERN SAMPLES
            "    counter: [{pattern: '(', subtract: 1}]\n",
            BTZ_EINVAL, 12, "regular expression");
    refused(HEAD TARGETS WEIGHT MAPPING PATTERN SAMPLES
            "  - id: a-rule\n    title: A rule\n    signal: thing\n" TARGETS WEIGHT MAPPING PATTERN
                SAMPLES,
            BTZ_EINVAL, 12, "already");
    refused("rules:\n  - id: zero-width\n    title: A rule\n    signal: thing\n" TARGETS WEIGHT
                MAPPING PATTERN SAMPLES,
            BTZ_EINVAL, 2, "coded detector");
    refused("rules: []\n", BTZ_EINVAL, 1, "rules");
    refused("rules: [\n", BTZ_EINVAL, 2, "");
}

static void samples_that_do_not_hold(void **state)
{
    (void)state;
    refused(HEAD TARGETS WEIGHT MAPPING PATTERN "    positive: ['red moon']\n    negative: ['x']\n",
            BTZ_EINVAL, 2, "positive sample 1: the rule does not find it");
    refused(HEAD TARGETS WEIGHT MAPPING PATTERN
            "    positive: ['blue moon']\n    negative: ['x', 'blue moon']\n",
            BTZ_EINVAL, 2, "negative sample 2: the rule finds it");
}

static void counter_evidence(void **state)
{
    struct btz_err err;

    (void)state;
    if (load(HEAD TARGETS WEIGHT MAPPING PATTERN
             "    counter: [{pattern: 'song', subtract: 30}]\n"
             "    positive: ['a blue moon']\n    negative: ['blue moon is a song']\n",
             &err)) {
        fail_msg("%s", err.msg);
    }
    refused(HEAD TARGETS WEIGHT MAPPING PATTERN
            "    counter: [{pattern: 'song', subtract: 29}]\n"
            "    positive: ['a blue moon']\n    negative: ['blue moon is a song']\n",
            BTZ_EINVAL, 2, "negative sample 1");
}

static void folders(void **state)
{
    struct btz_guard_rules *rules = NULL;
    struct btz_guard_rules *again = NULL;
    struct btz_err err = {0};
    struct btz_hash a;
    struct btz_hash b;

    (void)state;
    assert_int_equal(btz_guard_rules_new("/nowhere/rules", &rules, &err), BTZ_ENOTFOUND);
    assert_int_equal(btz_guard_rules_new(BTZ_SOURCE_DIR "/src/guard", &rules, &err), BTZ_ENOTFOUND);
    assert_non_null(strstr(err.file, "src/guard"));
    if (btz_guard_rules_new(BTZ_SOURCE_DIR "/rules", &rules, &err) ||
        btz_guard_rules_new(NULL, &again, &err)) {
        fail_msg("%s:%u: %s", err.file, err.line, err.msg);
    }
    /* The same rules from the folder and from the program; MANIFEST forgets none. */
    for (size_t i = 0; btz_guard_rule_at(rules, i) || btz_guard_rule_at(again, i); i++) {
        assert_non_null(btz_guard_rule_at(rules, i));
        assert_non_null(btz_guard_rule_at(again, i));
        assert_true(btz_str_eq(btz_guard_rule_at(rules, i)->id, btz_guard_rule_at(again, i)->id));
    }
    a = btz_guard_rules_hash(rules);
    b = btz_guard_rules_hash(again);
    assert_false(btz_hash_eq(&a, &b)); /* the names differ */
    btz_guard_rules_free(rules);
    btz_guard_rules_free(again);
}

/* Every sample beside every rule. */
static void our_samples(void **state)
{
    struct btz_guard_rules *rules = NULL;
    struct btz_err err = {0};
    size_t played = 0;
    size_t files = 0;
    size_t coded = 0;

    (void)state;
    if (btz_guard_rules_new(NULL, &rules, &err) || btz_guard_rules_play(rules, &played, &err)) {
        fail_msg("%s:%u: %s", err.file, err.line, err.msg);
    }
    for (size_t i = 0; btz_guard_rule_at(rules, i); i++) {
        const struct btz_guard_rule *rule = btz_guard_rule_at(rules, i);

        assert_non_null(rule->mapping);
        assert_true(rule->weight >= 1 && rule->weight <= 100 && rule->targets);
        coded += rule->coded;
        files += !rule->coded;
    }
    assert_true(files >= 25);
    assert_true(coded >= 8);
    assert_true(played > 500);
    btz_guard_rules_free(rules);
}

/* The prefilters that the build put into the program are those of its rules. */
static void prefilters_fit(void **state)
{
    static const enum view_kind views[] = {VIEW_FOLDED, VIEW_RAW};
    const size_t key = sizeof(struct btz_hash);

    (void)state;
    if (btz_guard_prefilters_count == 0) { /* a build with sanitizers */
        skip();
    }
    assert_int_equal(btz_guard_prefilters_count, VIEWS);
    for (size_t i = 0; i < VIEWS; i++) {
        struct btz_err err = {0};
        struct btz_buf now;

        btz_buf_init(&now, 64 * 1024 * 1024);
        if (btz_guard_prefilter_save(btz_guard_rule_files, btz_guard_rule_files_count, views[i],
                                     &now, &err)) {
            fail_msg("%s", err.msg);
        }
        assert_true(btz_guard_prefilters[i].len > key && now.len > key);
        assert_memory_equal(btz_guard_prefilters[i].bytes, now.ptr, key);
        btz_buf_fini(&now);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_file),
        cmocka_unit_test(bad_files),
        cmocka_unit_test(samples_that_do_not_hold),
        cmocka_unit_test(counter_evidence),
        cmocka_unit_test(folders),
        cmocka_unit_test(our_samples),
        cmocka_unit_test(prefilters_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
