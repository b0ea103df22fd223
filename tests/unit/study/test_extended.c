/* The pack extended: it is certified, it keeps the suite's rules, and the core pack does not notice
 * that it is there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../store/make.h"
#include "bench.h"
#include "study/certify.h"
#include "study/distinct.h"
#include "study/file.h"

enum { MOST = 64 };

static const char *const extended[] = {"extended", NULL};
static struct btz_lab *core, *both;
static struct btz_arena *arena;

static int setup(void **state)
{
    (void)state;
    core = bench_lab(NULL, 0);
    both = bench_lab(extended, 0);
    arena = btz_arena_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    btz_arena_free(arena);
    btz_lab_free(both);
    btz_lab_free(core);
    return 0;
}

static bool is_extended(const struct btz_scenario *s)
{
    return btz_str_is(s->suite, "extended");
}

/* Attacks of the suite, in the order of the pack. */
static size_t attacks_of_suite(struct btz_str *out)
{
    size_t count = 0;

    for (size_t i = 0; i < btz_lab_scenario_count(both); i++) {
        const struct btz_scenario *s = btz_lab_scenario_at(both, i);

        if (is_extended(s) && (count == 0 || !btz_str_eq(out[count - 1], s->attack))) {
            assert_true(count < MOST);
            out[count++] = s->attack;
        }
    }
    return count;
}

static void every_scenario_is_certified(void **state)
{
    struct btz_str attacks[MOST];
    struct btz_certify_options options = {.attacks = attacks,
                                          .attack_count = attacks_of_suite(attacks)};
    struct btz_checks checks = {.arena = arena};
    size_t scenarios = 0;
    size_t susceptible = 0;
    size_t below = 0;
    size_t skipped_orders = 0;
    struct btz_err err;

    (void)state;
    MAKE_OK(btz_certify_all(both, &options, &checks, &err), &err);
    for (size_t i = 0; i < checks.count; i++) {
        const struct btz_check *c = &checks.items[i];

        if (!c->passed) {
            fail_msg("%.*s: %.*s: %.*s", BTZ_FMT(c->scenario), BTZ_FMT(c->rule),
                     BTZ_FMT(c->detail));
        }
        scenarios += btz_str_is(c->rule, "2 twins hold no operand of the payload");
        susceptible += btz_str_starts(c->rule, BTZ_STR("1 reader is susceptible, modern, memory"));
        below += btz_str_starts(c->rule, BTZ_STR("1 floor, naive host, modern, memory"));
        skipped_orders += c->skipped && btz_str_starts(c->rule, BTZ_STR("6 "));
    }
    assert_int_equal(scenarios, btz_lab_scenario_count(both) - btz_lab_scenario_count(core));
    assert_int_equal(susceptible + below, scenarios);
    assert_true(susceptible > 0 && below > 0);
    /* Only some attacks: the orders are not tried, and that is said. */
    assert_int_equal(skipped_orders, 1);
}

static void the_suite_keeps_the_rules(void **state)
{
    const struct btz_json *facts = btz_suite_facts(arena, both);
    struct btz_str attacks[MOST];
    size_t count = attacks_of_suite(attacks);
    double share = 1;
    int64_t hits = 0;
    int64_t fragments = 0;
    struct btz_str languages[MOST];
    size_t language_count = 0;

    (void)state;
    assert_true(count >= 8);
    for (size_t a = 0; a < count; a++) {
        size_t variants = 0;

        for (size_t i = 0; i < btz_lab_scenario_count(both); i++) {
            const struct btz_scenario *s = btz_lab_scenario_at(both, i);
            const struct btz_json *payload = btz_json_getz(s->card, "payload");

            variants += btz_str_eq(s->attack, attacks[a]);
            for (size_t f = 0; is_extended(s) && f < btz_json_count(payload); f++) {
                struct btz_str language =
                    btz_json_str(btz_json_getz(btz_json_at(payload, f), "language"));
                bool known = false;

                for (size_t l = 0; l < language_count; l++) {
                    known = known || btz_str_eq(languages[l], language);
                }
                if (!known) {
                    languages[language_count++] = language;
                }
            }
        }
        assert_true(variants >= 3 && variants <= 5);
    }
    assert_true(language_count >= 4);
    assert_true(btz_json_double(btz_json_pointer(facts, BTZ_STR("/closest/share")), &share));
    assert_true(btz_json_int64(btz_json_getz(facts, "eight_phrase_hits"), &hits));
    assert_true(btz_json_int64(btz_json_getz(facts, "fragments"), &fragments));
    assert_true(share <= 0.5);
    assert_true(fragments > 0 && 2 * hits < fragments);
}

/* Scenarios, their order and the markers that a seed draws. */
static void the_core_pack_is_as_without_it(void **state)
{
    size_t at = 0;

    (void)state;
    for (size_t i = 0; i < btz_lab_scenario_count(both); i++) {
        const struct btz_scenario *b = btz_lab_scenario_at(both, i);
        const struct btz_scenario *a;

        if (is_extended(b)) {
            continue;
        }
        a = btz_lab_scenario_at(core, at++);
        assert_non_null(a);
        assert_true(btz_str_eq(a->id, b->id));
        assert_int_equal(a->suite.len + b->suite.len, 0);
        for (uint64_t seed = 1; seed <= 20; seed++) {
            struct btz_stage *left = NULL;
            struct btz_stage *right = NULL;
            struct btz_err err;

            MAKE_OK(btz_stage_new(core, a, BTZ_ARM_ATTACK, seed, &left, &err), &err);
            MAKE_OK(btz_stage_new(both, b, BTZ_ARM_ATTACK, seed, &right, &err), &err);
            assert_true(btz_json_equal(btz_stage_markers(left), btz_stage_markers(right)));
            btz_stage_free(left);
            btz_stage_free(right);
        }
    }
    assert_int_equal(at, btz_lab_scenario_count(core));
    assert_int_equal(at, 125);
}

static void a_pack_is_known_by_name(void **state)
{
    (void)state;
    assert_true(btz_lab_pack_is_builtin("extended"));
    assert_false(btz_lab_pack_is_builtin("./extended") || btz_lab_pack_is_builtin("core"));
    assert_string_equal(btz_lab_pack_builtin(0), "extended");
    assert_null(btz_lab_pack_builtin(1));
    assert_true(btz_lab_has_pack(both, BTZ_STR("extended")));
    assert_false(btz_lab_has_pack(core, BTZ_STR("extended")));
}

/* The study names every attack of the pack and no other, and says what it needs. */
static void the_study_is_the_pack(void **state)
{
    struct btz_str attacks[MOST];
    size_t count = attacks_of_suite(attacks);
    struct btz_study_file file;
    const char *const *packs;
    struct btz_err err;

    (void)state;
    MAKE_OK(btz_study_load(arena, both, "extended", &file, &err), &err);
    assert_int_equal(file.attack_count, count);
    for (size_t i = 0; i < count; i++) {
        bool found = false;

        for (size_t k = 0; k < count; k++) {
            found = found || btz_str_eq(file.attacks[k], attacks[i]);
        }
        assert_true(found);
    }
    packs = btz_study_packs(arena, "extended", &count);
    assert_int_equal(count, 1);
    assert_string_equal(packs[0], "extended");
    (void)btz_study_packs(arena, "quick", &count);
    assert_int_equal(count, 0);
    (void)btz_study_packs(arena, "no-such-study", &count);
    assert_int_equal(count, 0);

    assert_int_equal(btz_study_load(arena, core, "extended", &file, &err), BTZ_EINVAL);
    assert_non_null(strstr(err.msg, "the pack \"extended\" is not loaded; give --pack extended"));
    assert_int_equal(
        btz_study_parse(arena, both, BTZ_STR("name: a\npacks: [../mine]\n"), "a.yaml", &file, &err),
        BTZ_EINVAL);
    assert_int_equal(err.line, 2);
    assert_non_null(strstr(err.msg, "there is no pack \"../mine\" in the program"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scenario_is_certified),
        cmocka_unit_test(the_suite_keeps_the_rules),
        cmocka_unit_test(the_core_pack_is_as_without_it),
        cmocka_unit_test(a_pack_is_known_by_name),
        cmocka_unit_test(the_study_is_the_pack),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
