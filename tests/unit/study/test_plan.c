/* Which cells a study has, their seeds, the order in which they run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bench.h"

static const char *const packs[] = {"trial", NULL};
static const char *const one[] = {"ref:null", NULL};
static const char *const two[] = {"ref:null", "ref:floor", NULL};

enum {
    TWO_ATTACKS = 10, /* tool-poisoning and indirect-prompt-injection */
    ERRANDS = 16,     /* of tests/packs/trial */
    ARMS = 3
};

static const struct btz_store_row *rows_of(struct bench *b, size_t *count)
{
    btz_study_free(bench_study(b));
    return bench_rows(b, BTZ_STORE_BY_PLAN, count);
}

/* Attacks, each of which has a v1. */
static size_t attack_count(const struct btz_lab *lab)
{
    size_t n = 0;

    for (size_t i = 0; i < btz_lab_scenario_count(lab); i++) {
        n += btz_str_is(btz_lab_scenario_at(lab, i)->variant, "v1");
    }
    return n;
}

static void only_v1(struct bench *b)
{
    static const struct btz_str v1[] = {{"v1", 2}};

    b->options.variants = v1;
    b->options.variant_count = 1;
}

static void variants_are_filtered(void **state)
{
    struct bench *b = bench_new(packs, one);
    const struct btz_store_row *rows;
    size_t count;

    (void)state;
    only_v1(b);
    rows = rows_of(b, &count);
    assert_int_equal(count, attack_count(b->lab) * ARMS);
    for (size_t i = 0; i < count; i++) {
        static const char *const arms[] = {"attack", "clean", "benign"};
        char id[80];

        (void)snprintf(id, sizeof(id), "%.*s/v1", BTZ_FMT(rows[i].cell.attack));
        assert_text(rows[i].cell.variant, "v1");
        assert_text(rows[i].cell.arm, arms[i % ARMS]);
        assert_int_equal(rows[i].cell.repetition, 1);
        /* The bench speaks the modern era. */
        assert_int_equal(rows[i].cell.applicable,
                         btz_lab_scenario_find(b->lab, btz_str_of(id))->modern);
        assert_int_equal(rows[i].n, 0);
    }
    assert_false(btz_str_eq(rows[0].cell.attack, rows[ARMS].cell.attack));
    bench_free(b);
}

static void all_is_all(void **state)
{
    struct bench *b = bench_new(packs, one);
    size_t count;

    (void)state;
    (void)rows_of(b, &count);
    assert_int_equal(count, btz_lab_scenario_count(b->lab) * ARMS);
    assert_true(btz_lab_scenario_count(b->lab) > ERRANDS);
    bench_free(b);
}

static void cell_fields(void **state)
{
    struct bench *b = bench_new(packs, one);
    struct btz_str attack = BTZ_STR("errand");
    struct btz_str variant = BTZ_STR("v3");
    const struct btz_store_row *rows;
    size_t count;

    (void)state;
    b->options.attacks = &attack;
    b->options.attack_count = 1;
    b->options.variants = &variant;
    b->options.variant_count = 1;
    b->options.host_profile = BTZ_STR("hardened");
    b->revision = BTZ_MCP_2025_06_18;
    rows = rows_of(b, &count);
    assert_int_equal(count, ARMS);
    assert_text(rows[0].cell.model, "ref:null");
    assert_text(rows[0].cell.architecture, "react");
    assert_text(rows[0].cell.defence, "none");
    assert_text(rows[0].cell.revision, "2025-06-18");
    assert_text(rows[0].cell.host_profile, "hardened");
    assert_text(rows[0].cell.surface, "cl");
    assert_text(rows[0].cell.attack, "errand");
    assert_text(rows[0].cell.boundary, "B");
    bench_free(b);
}

static void filters(void **state)
{
    static const struct btz_str attacks[] = {{"errand", 6}, {"tool-poisoning", 14}};
    static const struct btz_str variants[] = {{"v2", 2}, {"v7", 2}};
    static const struct btz_str st[] = {{"st", 2}}, tr[] = {{"tr", 2}};
    struct bench *b = bench_new(packs, one);
    size_t count;
    struct btz_study *study = NULL;

    (void)state;
    b->options.attacks = attacks;
    b->options.attack_count = 2;
    (void)rows_of(b, &count);
    assert_int_equal(count, (5 + ERRANDS) * ARMS);
    b->options.variants = variants;
    b->options.variant_count = 2;
    (void)rows_of(b, &count);
    assert_int_equal(count, 3 * ARMS); /* tool-poisoning/v2, errand/v2, errand/v7 */
    b->options.surfaces = st;
    b->options.surface_count = 1;
    (void)rows_of(b, &count);
    assert_int_equal(count, ARMS); /* tool-poisoning/v2: errand is of surface cl */
    b->options.surfaces = tr;
    assert_int_equal(btz_study_new(&b->options, &study, &b->err), BTZ_EUSAGE);
    assert_null(study);
    bench_free(b);
}

static void repetitions_and_models(void **state)
{
    struct bench *b = bench_new(packs, two);
    const struct btz_store_row *rows;
    size_t count;

    (void)state;
    only_v1(b);
    b->options.repetitions = 2;
    rows = rows_of(b, &count);
    assert_int_equal(count, attack_count(b->lab) * ARMS * 2 * 2);
    /* Planned order: repetition, scenario, arm, model. */
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(rows[i].ordinal, i);
        assert_text(rows[i].cell.model, i % 2 ? "ref:floor" : "ref:null");
        assert_int_equal(rows[i].cell.repetition, i < count / 2 ? 1 : 2);
    }
    bench_free(b);
}

/* Arms, revisions and architectures multiply; the world is that of scenario and repetition alone.
 */
static void axes(void **state)
{
    static const struct btz_str attack[] = {{"errand", 6}};
    static const enum btz_mcp_revision revisions[] = {BTZ_MCP_2026_07_28, BTZ_MCP_2025_11_25};
    static const enum btz_arch archs[] = {BTZ_ARCH_RETRY, BTZ_ARCH_REACT, BTZ_ARCH_REFLEXION};
    static const char *const arms[] = {"attack", "benign"};
    enum { CELLS = 2 * 2 * 3 * 2 };
    struct bench *b = bench_new(packs, two);
    const struct btz_store_row *rows;
    size_t count;

    (void)state;
    only_v1(b);
    b->options.attacks = attack;
    b->options.attack_count = 1;
    b->options.revisions = revisions;
    b->options.revision_count = 2;
    b->options.archs = archs;
    b->options.arch_count = 3;
    b->options.arms = 1U << BTZ_ARM_ATTACK | 1U << BTZ_ARM_BENIGN;
    bench_finish(b, bench_study(b));
    rows = bench_rows(b, BTZ_STORE_BY_PLAN, &count);
    assert_int_equal(count, CELLS);
    for (size_t i = 0; i < count; i++) {
        assert_text(rows[i].cell.model, i % 2 ? "ref:floor" : "ref:null");
        assert_text(rows[i].cell.architecture, btz_arch_name(archs[i / 2 % 3]));
        assert_text(rows[i].cell.revision, btz_mcp_revision_text(revisions[i / 6 % 2]));
        assert_text(rows[i].cell.arm, arms[i / 12]);
        assert_true(rows[i].trial.seed == rows[0].trial.seed);
        assert_true(rows[i].trial.outcome != BTZ_STORE_FAULT);
    }
    bench_free(b);
}

/* A revision without elicitation has no elicitation phishing. */
static void older_revisions(void **state)
{
    static const struct btz_str attack[] = {{"elicitation-phishing", 20},
                                            {"protocol-downgrade", 18}};
    struct bench *b = bench_new(packs, one);
    struct btz_study_status status;
    struct btz_study *study;
    const struct btz_store_row *rows;
    size_t phishing = 0;
    size_t count;

    (void)state;
    b->revision = BTZ_MCP_2024_11_05;
    b->options.attacks = attack;
    b->options.attack_count = 2;
    study = bench_study(b);
    btz_study_status(study, &status);
    btz_study_free(study);
    rows = bench_rows(b, BTZ_STORE_BY_PLAN, &count);
    for (size_t i = 0; i < count; i++) {
        if (btz_str_is(rows[i].cell.attack, "elicitation-phishing")) {
            phishing++;
            assert_false(rows[i].cell.applicable);
            assert_text(rows[i].cell.why, "needs what revision 2025-06-18 brought");
        } else if (btz_str_is(rows[i].cell.variant, "v2")) {
            assert_text(rows[i].cell.why, "needs what revision 2025-03-26 brought");
        }
    }
    assert_int_equal(phishing, 5 * ARMS);
    assert_true(status.planned > 0);
    bench_free(b);
}

static void not_applicable(void **state)
{
    static const struct btz_str attack[] = {{"errand", 6}};
    struct bench *b = bench_new(packs, one);
    struct btz_study_status status;
    struct btz_study *study;
    const struct btz_store_row *rows;
    size_t count;
    size_t holes = 0;

    (void)state;
    b->options.attacks = attack;
    b->options.attack_count = 1;
    b->options.carrier = BTZ_CARRIER_STDIO;
    study = bench_study(b);
    btz_study_status(study, &status);
    assert_int_equal(status.planned, (ERRANDS - 2) * ARMS);
    btz_study_free(study);
    rows = bench_rows(b, BTZ_STORE_BY_PLAN, &count);
    assert_int_equal(count, ERRANDS * ARMS);
    for (size_t i = 0; i < count; i++) {
        bool era = btz_str_is(rows[i].cell.variant, "v10");
        bool carrier = btz_str_is(rows[i].cell.variant, "v11");

        assert_int_equal(rows[i].cell.applicable, !era && !carrier);
        assert_text(rows[i].cell.why, era       ? "not defined for the modern era"
                                      : carrier ? "not defined for this carrier"
                                                : "");
        holes += !rows[i].cell.applicable;
    }
    assert_int_equal(holes, 2 * ARMS);
    b->revision = BTZ_MCP_2025_03_26;
    b->options.carrier = BTZ_CARRIER_MEMORY;
    study = bench_study(b);
    btz_study_status(study, &status);
    assert_int_equal(status.planned, ERRANDS * ARMS);
    btz_study_free(study);
    bench_free(b);
}

static void refused(void **state)
{
    struct bench *b = bench_new(packs, one);
    struct btz_study *study = NULL;
    struct btz_store_run *runs;
    size_t count;

    (void)state;
    b->options.repetitions = 0;
    assert_int_equal(btz_study_new(&b->options, &study, &b->err), BTZ_EUSAGE);
    b->options.repetitions = 1000000;
    assert_int_equal(btz_study_new(&b->options, &study, &b->err), BTZ_EUSAGE);
    b->options.repetitions = 1;
    b->options.host_profile = BTZ_STR("brave");
    assert_int_equal(btz_study_new(&b->options, &study, &b->err), BTZ_EUSAGE);
    assert_holds(btz_str_of(b->err.msg), "brave");
    b->options.host_profile = BTZ_STR("naive");
    b->options.model_count = 0;
    assert_int_equal(btz_study_new(&b->options, &study, &b->err), BTZ_EUSAGE);
    b->options.model_count = 2;
    b->models[1] = b->models[0];
    assert_int_equal(btz_study_new(&b->options, &study, &b->err), BTZ_EUSAGE);
    assert_holds(btz_str_of(b->err.msg), "given twice");
    assert_null(study);
    assert_int_equal(btz_store_runs(b->store, b->arena, &runs, &count, &b->err), BTZ_OK);
    assert_int_equal(count, 0); /* nothing of it is in the store */
    bench_free(b);
}

static void cell_seeds(void **state)
{
    uint64_t seed = btz_study_cell_seed(5, BTZ_STR("errand/v1"), 1);

    (void)state;
    assert_true(seed == btz_study_cell_seed(5, BTZ_STR("errand/v1"), 1));
    assert_true(seed != btz_study_cell_seed(6, BTZ_STR("errand/v1"), 1));
    assert_true(seed != btz_study_cell_seed(5, BTZ_STR("errand/v2"), 1));
    assert_true(seed != btz_study_cell_seed(5, BTZ_STR("errand/v1"), 2));
    /* Whose tools stand first goes round, whatever the number of servers. */
    for (unsigned servers = 2; servers <= 6; servers++) {
        for (unsigned repetition = 1; repetition < 130; repetition++) {
            uint64_t now = btz_study_cell_seed(5, BTZ_STR("errand/v1"), repetition);
            uint64_t next = btz_study_cell_seed(5, BTZ_STR("errand/v1"), repetition + 1);

            assert_int_equal(next % servers, (now % servers + 1) % servers);
        }
    }
    /* Study 5, repetition 11 is not study 51, repetition 1. */
    assert_true(btz_study_cell_seed(5, BTZ_STR("x"), 11) !=
                btz_study_cell_seed(51, BTZ_STR("x"), 1));
}

/* Keys of the trials in the order in which they were run. */
static struct btz_str *run_order(struct bench *b, size_t *count)
{
    const struct btz_store_row *rows;
    struct btz_str *out;

    bench_finish(b, bench_study(b));
    rows = bench_rows(b, BTZ_STORE_BY_NUMBER, count);
    out = btz_arena_array(b->arena, *count, sizeof(*out));
    for (size_t i = 0; i < *count; i++) {
        out[i] = rows[i].trial.cell_key;
        assert_true(rows[i].trial.seed ==
                    btz_study_cell_seed(b->options.seed,
                                        btz_arena_printf(b->arena, "%.*s/%.*s",
                                                         BTZ_FMT(rows[i].cell.attack),
                                                         BTZ_FMT(rows[i].cell.variant)),
                                        rows[i].cell.repetition));
    }
    return out;
}

static bool same_order(const struct btz_str *a, const struct btz_str *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!btz_str_eq(a[i], b[i])) {
            return false;
        }
    }
    return true;
}

static void order(void **state)
{
    static const struct btz_str attacks[] = {{"tool-poisoning", 14},
                                             {"indirect-prompt-injection", 25}};
    struct bench *b = bench_new(packs, one);
    struct btz_str *first, *second, *other;
    const struct btz_store_row *planned, *ran;
    size_t count, again;

    (void)state;
    b->options.repetitions = 2;
    b->options.attacks = attacks;
    b->options.attack_count = 2;
    first = run_order(b, &count);
    assert_int_equal(count, TWO_ATTACKS * ARMS * 2);
    second = run_order(b, &again);
    assert_int_equal(again, count);
    assert_true(same_order(first, second, count));

    /* Every cell once, one repetition after the other, and not in planned order. */
    planned = bench_rows(b, BTZ_STORE_BY_PLAN, &again);
    ran = bench_rows(b, BTZ_STORE_BY_NUMBER, &again);
    for (size_t i = 0; i < count; i++) {
        size_t times = 0;

        for (size_t k = 0; k < count; k++) {
            times += btz_str_eq(planned[i].trial.cell_key, first[k]);
        }
        assert_int_equal(times, 1);
        assert_int_equal(ran[i].cell.repetition, i < count / 2 ? 1 : 2);
    }
    assert_false(btz_str_eq(planned[0].trial.cell_key, first[0]) &&
                 btz_str_eq(planned[1].trial.cell_key, first[1]) &&
                 btz_str_eq(planned[2].trial.cell_key, first[2]));

    b->options.seed = 6;
    other = run_order(b, &again);
    assert_false(same_order(first, other, count));
    bench_free(b);
}

/* Arms and models of one scenario and repetition meet the same world. */
static void shared_worlds(void **state)
{
    struct bench *b = bench_new(packs, two);
    const struct btz_store_row *rows;
    size_t count;

    (void)state;
    only_v1(b);
    bench_finish(b, bench_study(b));
    rows = bench_rows(b, BTZ_STORE_BY_PLAN, &count);
    assert_int_equal(count, attack_count(b->lab) * ARMS * 2);
    for (size_t i = 0; i < count; i++) {
        assert_true(rows[i].trial.seed == rows[i / 6 * 6].trial.seed);
    }
    assert_true(rows[0].trial.seed != rows[6].trial.seed);
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variants_are_filtered),
        cmocka_unit_test(all_is_all),
        cmocka_unit_test(cell_fields),
        cmocka_unit_test(filters),
        cmocka_unit_test(axes),
        cmocka_unit_test(older_revisions),
        cmocka_unit_test(not_applicable),
        cmocka_unit_test(repetitions_and_models),
        cmocka_unit_test(refused),
        cmocka_unit_test(cell_seeds),
        cmocka_unit_test(order),
        cmocka_unit_test(shared_worlds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
