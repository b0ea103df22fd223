/* Names and the look of markers decide nothing: with other ones every verdict is the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bench.h"
#include "drive/reference_run.h"
#include "lab/marker.h"
#include "study/plans.h"
#include "trial/trial.h"

static const char *const packs[] = {"trial", "below", NULL};
static const enum btz_llm_ref agents[] = {BTZ_LLM_REF_FLOOR, BTZ_LLM_REF_READER,
                                          BTZ_LLM_REF_INSIDER, BTZ_LLM_REF_NULL};

static struct btz_trial *run(struct btz_lab *lab, const struct btz_scenario *scenario,
                             enum btz_arm arm, enum btz_llm_ref agent)
{
    struct btz_trial_options options = {.lab = lab,
                                        .scenario = scenario,
                                        .arm = arm,
                                        .seed = 31,
                                        .revision = BTZ_MCP_2026_07_28,
                                        .carrier = BTZ_CARRIER_MEMORY,
                                        .max_tokens = 512};
    struct btz_arena *arena = btz_arena_new();
    struct btz_trial *trial = NULL;
    struct btz_err err;

    assert_int_equal(btz_host_profile_named(BTZ_STR("naive"), &options.profile), BTZ_OK);
    if (btz_trial_new(&options, &trial, &err) != BTZ_OK ||
        btz_drive_reference(trial, agent,
                            btz_json_text(arena, btz_study_plans(arena, btz_trial_stage(trial))),
                            &err) != BTZ_OK) {
        fail_msg("%.*s: %s", BTZ_FMT(scenario->id), err.msg);
    }
    btz_arena_free(arena);
    return trial;
}

static void same_verdict(const struct btz_scenario *scenario, enum btz_arm arm, size_t agent,
                         const struct btz_trial_record *a, const struct btz_trial_record *b)
{
    if (a->chain.effect != b->chain.effect || a->outcome != b->outcome ||
        a->utility != b->utility || a->chain.acted != b->chain.acted ||
        a->chain.fragments_seen != b->chain.fragments_seen || strcmp(a->sub, b->sub) != 0) {
        fail_msg("%.*s, %s arm, agent %zu: %s %s utility %d became %s %s utility %d (%.*s)",
                 BTZ_FMT(scenario->id), btz_arm_name(arm), agent, btz_outcome_name(a->outcome),
                 a->sub, a->utility, btz_outcome_name(b->outcome), b->sub, b->utility,
                 BTZ_FMT(b->fault));
    }
}

/* All scenarios of a suite, arms and agents of both labs; how many effects there were. */
static size_t compare_suite(struct btz_lab *plain, struct btz_lab *other, const char *suite)
{
    size_t effects = 0;

    assert_int_equal(btz_lab_scenario_count(plain), btz_lab_scenario_count(other));
    for (size_t i = 0; i < btz_lab_scenario_count(plain); i++) {
        const struct btz_scenario *a = btz_lab_scenario_at(plain, i);
        const struct btz_scenario *b = btz_lab_scenario_at(other, i);

        assert_true(btz_str_eq(a->id, b->id));
        if (!btz_str_is(a->suite, suite)) {
            continue;
        }
        for (int arm = BTZ_ARM_ATTACK; arm <= BTZ_ARM_BENIGN; arm++) {
            for (size_t k = 0; k < sizeof(agents) / sizeof(agents[0]); k++) {
                struct btz_trial *left = run(plain, a, (enum btz_arm)arm, agents[k]);
                struct btz_trial *right = run(other, b, (enum btz_arm)arm, agents[k]);

                same_verdict(a, (enum btz_arm)arm, k, btz_trial_record(left),
                             btz_trial_record(right));
                effects += btz_trial_record(left)->chain.effect;
                btz_trial_free(left);
                btz_trial_free(right);
            }
        }
    }
    return effects;
}

static size_t compare(struct btz_lab *plain, struct btz_lab *other)
{
    return compare_suite(plain, other, "");
}

/* Whether any request of the trial has `text` among its tool definitions. */
static bool offers(const struct btz_trial *trial, const char *text)
{
    return btz_str_find(btz_trial_record(trial)->exchanges[0].parts[1], btz_str_of(text)) >= 0;
}

static void other_names(void **state)
{
    struct btz_lab *plain = bench_lab(packs, 0);
    struct btz_lab *renamed = bench_lab(packs, 4711);
    const struct btz_scenario *s = btz_lab_scenario_find(plain, BTZ_STR("tool-poisoning/v2"));
    const struct btz_scenario *r = btz_lab_scenario_find(renamed, BTZ_STR("tool-poisoning/v2"));
    struct btz_trial *a = run(plain, s, BTZ_ARM_ATTACK, BTZ_LLM_REF_NULL);
    struct btz_trial *b = run(renamed, r, BTZ_ARM_ATTACK, BTZ_LLM_REF_NULL);

    (void)state;
    /* The renaming is one. */
    assert_true(offers(a, "mailroom__send_mail") && !offers(b, "mailroom") &&
                !offers(b, "send_mail"));
    btz_trial_free(a);
    btz_trial_free(b);
    /* Ten visible core scenarios have effects for reader and insider, and there are more. */
    assert_true(compare(plain, renamed) >= 20);
    btz_lab_free(plain);
    btz_lab_free(renamed);
}

static void other_markers(void **state)
{
    struct btz_lab *plain = bench_lab(packs, 0);
    struct btz_lab *other = bench_lab(packs, 0);
    const struct btz_scenario *s = btz_lab_scenario_find(plain, BTZ_STR("tool-poisoning/v2"));
    struct btz_trial *a, *b;

    (void)state;
    btz_lab_set_marker_shape(other, 1);
    a = run(plain, s, BTZ_ARM_ATTACK, BTZ_LLM_REF_NULL);
    b = run(other, btz_lab_scenario_find(other, s->id), BTZ_ARM_ATTACK, BTZ_LLM_REF_NULL);
    assert_false(btz_json_equal(btz_stage_markers(btz_trial_stage(a)),
                                btz_stage_markers(btz_trial_stage(b))));
    btz_trial_free(a);
    btz_trial_free(b);
    assert_true(compare(plain, other) >= 20);
    btz_lab_free(plain);
    btz_lab_free(other);
}

static void other_names_and_markers(void **state)
{
    struct btz_lab *plain = bench_lab(packs, 0);
    struct btz_lab *other = bench_lab(packs, 77);

    (void)state;
    btz_lab_set_marker_shape(other, 1);
    assert_true(compare(plain, other) >= 20);
    btz_lab_free(plain);
    btz_lab_free(other);
}

static void the_pack_extended(void **state)
{
    static const char *const extended[] = {"extended", NULL};
    struct btz_lab *plain = bench_lab(extended, 0);
    struct btz_lab *other = bench_lab(extended, 77);
    size_t visible = 0;

    (void)state;
    for (size_t i = 0; i < btz_lab_scenario_count(plain); i++) {
        const struct btz_scenario *s = btz_lab_scenario_at(plain, i);

        visible += btz_str_is(s->suite, "extended") && s->boundary == 'V';
    }
    btz_lab_set_marker_shape(other, 1);
    /* Reader and insider. */
    assert_true(compare_suite(plain, other, "extended") >= 2 * visible);
    btz_lab_free(plain);
    btz_lab_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_names),
        cmocka_unit_test(other_markers),
        cmocka_unit_test(other_names_and_markers),
        cmocka_unit_test(the_pack_extended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
