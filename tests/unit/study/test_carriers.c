/* Every scenario, reference agent and revision: memory, pipes and sockets give the same trial. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bench.h"
#include "drive/reference_run.h"
#include "study/plans.h"
#include "trial/trial.h"

static const char *const packs[] = {"trial", "below", NULL};
static struct btz_lab *lab;

static struct btz_trial *run(const struct btz_scenario *scenario, enum btz_mcp_revision revision,
                             enum btz_carrier carrier, enum btz_llm_ref agent)
{
    struct btz_trial_options options = {.lab = lab,
                                        .scenario = scenario,
                                        .arm = BTZ_ARM_ATTACK,
                                        .seed = 8,
                                        .revision = revision,
                                        .carrier = carrier,
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

static bool applies(const struct btz_scenario *s, enum btz_mcp_revision revision,
                    enum btz_carrier carrier)
{
    return (btz_mcp_era_of(revision) == BTZ_MCP_MODERN ? s->modern : s->legacy) &&
           (carrier == BTZ_CARRIER_STDIO ? s->stdio : s->http);
}

/* The trial over `carrier` and over memory; counts one more susceptible reader. */
static void compare(const struct btz_scenario *s, enum btz_mcp_revision revision,
                    enum btz_carrier carrier, int agent, size_t *susceptible)
{
    struct btz_trial *memory = run(s, revision, BTZ_CARRIER_MEMORY, (enum btz_llm_ref)agent);
    struct btz_trial *other = run(s, revision, carrier, (enum btz_llm_ref)agent);
    const struct btz_trial_record *a = btz_trial_record(memory);
    const struct btz_trial_record *b = btz_trial_record(other);

    if (a->outcome != b->outcome || a->utility != b->utility ||
        !btz_hash_eq(&a->trajectory_hash, &b->trajectory_hash)) {
        fail_msg("%.*s, revision %s, agent %d: memory and %s differ (%.*s)", BTZ_FMT(s->id),
                 btz_mcp_revision_text(revision), agent, btz_carrier_name(carrier),
                 BTZ_FMT(a->fault.len ? a->fault : b->fault));
    }
    *susceptible += a->outcome == BTZ_OUTCOME_SUSCEPTIBLE;
    btz_trial_free(memory);
    btz_trial_free(other);
}

static void equal_over_carriers(void **state)
{
    static const enum btz_mcp_revision revisions[] = {BTZ_MCP_2024_11_05, BTZ_MCP_2025_03_26,
                                                      BTZ_MCP_2025_06_18, BTZ_MCP_2025_11_25,
                                                      BTZ_MCP_2026_07_28};
    size_t susceptible = 0;

    (void)state;
    for (size_t i = 0; i < btz_lab_scenario_count(lab); i++) {
        const struct btz_scenario *s = btz_lab_scenario_at(lab, i);

        for (size_t r = 0; r < sizeof(revisions) / sizeof(revisions[0]); r++) {
            for (int c = BTZ_CARRIER_STDIO; s->memory && c <= BTZ_CARRIER_HTTP; c++) {
                for (int agent = BTZ_LLM_REF_FLOOR;
                     applies(s, revisions[r], (enum btz_carrier)c) && agent <= BTZ_LLM_REF_NULL;
                     agent++) {
                    compare(s, revisions[r], (enum btz_carrier)c, agent, &susceptible);
                }
            }
        }
    }
    assert_true(susceptible >= 10 * 5); /* at least the reader on each core scenario */
}

static int open_lab(void **state)
{
    (void)state;
    lab = bench_lab(packs, 0);
    return 0;
}

static int close_lab(void **state)
{
    (void)state;
    btz_lab_free(lab);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equal_over_carriers)};

    return cmocka_run_group_tests(tests, open_lab, close_lab);
}
