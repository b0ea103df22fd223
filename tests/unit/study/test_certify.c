/* Certification passes what is right and fails what is wrong, for the reason it should. */
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../store/make.h"
#include "bench.h"
#include "study/certify.h"
#include "study/distinct.h"

/* The checks of one attack's scenarios; with `all` the cross matrix of all, too, which takes long.
 */
static struct btz_checks certify(struct btz_lab *lab, const char *attack, bool all)
{
    struct btz_checks checks = {.arena = btz_arena_new()};

    for (size_t i = 0; i < btz_lab_scenario_count(lab); i++) {
        const struct btz_scenario *s = btz_lab_scenario_at(lab, i);

        if (btz_str_is(s->attack, attack)) {
            btz_certify_scenario(lab, s, &checks);
        }
        if (all || btz_str_is(s->attack, attack)) {
            btz_certify_cross(lab, s, &checks);
        }
    }
    return checks;
}

static size_t count(const struct btz_checks *checks, const char *rule, bool passed)
{
    size_t n = 0;

    for (size_t i = 0; i < checks->count; i++) {
        n += checks->items[i].passed == passed && !checks->items[i].skipped &&
             btz_str_starts(checks->items[i].rule, btz_str_of(rule));
    }
    return n;
}

static void assert_all_pass(const struct btz_checks *checks)
{
    for (size_t i = 0; i < checks->count; i++) {
        const struct btz_check *c = &checks->items[i];

        if (!c->passed) {
            fail_msg("%.*s: %.*s: %.*s", BTZ_FMT(c->scenario), BTZ_FMT(c->rule),
                     BTZ_FMT(c->detail));
        }
        assert_true(!c->skipped || c->detail.len > 0);
    }
}

/* How often each rule has to have been tried: once in each era and carrier of a card. */
struct tried {
    size_t visible, below, accepted, choosing;
    size_t settings, visible_settings, below_settings;
};

static void add_wanted(struct tried *w, const struct btz_scenario *s)
{
    size_t settings = ((size_t)s->legacy + s->modern) * ((size_t)s->memory + s->stdio + s->http);
    bool visible = s->boundary == 'V';

    w->visible += visible;
    w->below += !visible;
    w->accepted += visible && btz_str_is(btz_json_str(btz_json_getz(s->card, "violation")),
                                         "accepted-manipulation");
    w->choosing += btz_json_pointer(s->card, BTZ_STR("/setting/choices")) != NULL;
    w->settings += settings;
    w->visible_settings += visible ? settings : 0;
    w->below_settings += visible ? 0 : settings;
}

static void core_pack_passes(void **state)
{
    struct tried wanted = {0};
    struct btz_lab *lab = bench_lab(NULL, 0);
    struct btz_certify_options options = {0};
    struct btz_checks checks = {.arena = btz_arena_new()};
    struct btz_err err;

    (void)state;
    MAKE_OK(btz_certify_all(lab, &options, &checks, &err), &err);
    assert_all_pass(&checks);
    for (size_t i = 0; i < btz_lab_scenario_count(lab); i++) {
        add_wanted(&wanted, btz_lab_scenario_at(lab, i));
    }
    assert_true(wanted.visible >= 10 && wanted.below > 0);
    assert_int_equal(count(&checks, "1 floor, naive", true), wanted.below_settings);
    assert_int_equal(count(&checks, "1 floor, hardened", true), wanted.below_settings);
    assert_int_equal(count(&checks, "1 reader,", true), wanted.visible_settings);
    assert_int_equal(count(&checks, "1 insider,", true), wanted.visible_settings);
    assert_int_equal(count(&checks, "1 reader is susceptible,", true), wanted.visible_settings);
    assert_int_equal(count(&checks, "2 null,", true), wanted.settings);
    assert_int_equal(count(&checks, "2 benign plan,", true), wanted.settings);
    assert_int_equal(count(&checks, "2 clean twin,", true), 2 * wanted.settings);
    assert_int_equal(count(&checks, "2 clean twin, reader,", true), wanted.settings);
    assert_int_equal(count(&checks, "2 benign twin,", true), 2 * wanted.settings);
    assert_int_equal(count(&checks, "2 benign twin, reader,", true), wanted.settings);
    assert_int_equal(count(&checks, "2 twins hold no operand", true), btz_lab_scenario_count(lab));
    assert_int_equal(count(&checks, "2 the benign twin's instruction is needed", true),
                     wanted.visible);
    assert_true(count(&checks, "2 wrong value in ANSWER", true) > 90);
    assert_int_equal(count(&checks, "2 the attacker's answer", true), wanted.accepted);
    assert_true(count(&checks, "3 secret left out of the act", true) > 15);
    assert_int_equal(count(&checks, "1 and 2 for eight seeds", true), wanted.visible);
    assert_int_equal(count(&checks, "3 some mutation applies", true), wanted.visible);
    assert_int_equal(count(&checks, "6 two shuffled orders", true), 1);
    assert_int_equal(count(&checks, "7 ", true), 2);
    assert_int_equal(count(&checks, "1 with the tools of server 1 first", true), wanted.choosing);
    assert_true(count(&checks, "1 with the tools of server 2 first", true) > 3);
    btz_arena_free(checks.arena);
    btz_lab_free(lab);
}

/* Boundary B: the switches decide, and each is tried alone. */
static void below_passes(void **state)
{
    static const char *const packs[] = {"below", NULL};
    struct btz_lab *lab = bench_lab(packs, 0);
    struct btz_checks checks = certify(lab, "default-outside-enum", false);

    (void)state;
    assert_all_pass(&checks);
    assert_int_equal(count(&checks, "1 floor, naive host,", true), 4);
    assert_int_equal(count(&checks, "1 floor, hardened host,", true), 4);
    assert_int_equal(count(&checks, "1 floor, only client.validate_arguments repaired,", true), 4);
    assert_int_equal(count(&checks, "3 ", true), 0);  /* no act, so nothing to mutate */
    assert_int_equal(count(&checks, "2 ", true), 27); /* six in four settings, texts and guesses */
    btz_arena_free(checks.arena);
    btz_lab_free(lab);
}

/* A B card whose model does the work, and which names no switch. */
static void below_without_a_switch(void **state)
{
    static const char *const packs[] = {"trial", NULL};
    struct btz_lab *lab = bench_lab(packs, 0);
    struct btz_checks checks = {.arena = btz_arena_new()};

    (void)state;
    btz_certify_scenario(lab, btz_lab_scenario_find(lab, BTZ_STR("errand/v3")), &checks);
    assert_true(count(&checks, "1 floor, naive host,", false) > 0);
    assert_true(count(&checks, "1 names its switches", false) > 0);
    btz_arena_free(checks.arena);
    btz_lab_free(lab);
}

/* Era and carrier that a card does not name are not tried. */
static void only_what_the_card_names(void **state)
{
    static const char *const packs[] = {"trial", NULL};
    struct btz_lab *lab = bench_lab(packs, 0);
    struct btz_checks checks = {.arena = btz_arena_new()};

    (void)state;
    btz_certify_scenario(lab, btz_lab_scenario_find(lab, BTZ_STR("errand/v10")), &checks);
    assert_int_equal(count(&checks, "1 floor, legacy,", true), 2);
    assert_int_equal(count(&checks, "1 floor, modern,", true), 0);
    checks.count = 0;
    btz_certify_scenario(lab, btz_lab_scenario_find(lab, BTZ_STR("errand/v11")), &checks);
    assert_int_equal(count(&checks, "1 floor, modern, memory", true), 1);
    assert_int_equal(count(&checks, "1 floor, modern, stdio", true), 0);
    assert_int_equal(count(&checks, "carriers", true), 0);
    btz_arena_free(checks.arena);
    btz_lab_free(lab);
}

/* A script that fails is a failed check with its reason, not the end of certification. */
static void faults_are_told(void **state)
{
    static const char *const packs[] = {"trial", NULL};
    struct btz_lab *lab = bench_lab(packs, 0);
    struct btz_checks checks = {.arena = btz_arena_new()};

    (void)state;
    btz_certify_scenario(lab, btz_lab_scenario_find(lab, BTZ_STR("errand/v9")), &checks);
    assert_true(count(&checks, "1 floor,", false) > 0);
    assert_holds(checks.items[0].detail, "the till is stuck");
    btz_arena_free(checks.arena);
    btz_lab_free(lab);
}

/* Ends the worker that was forked first. */
static void end_a_worker(void *data, size_t done, size_t total)
{
    char name[64];
    FILE *file;
    long pid = 0;

    (void)done;
    (void)total;
    (void)snprintf(name, sizeof(name), "/proc/self/task/%d/children", (int)getpid());
    file = fopen(name, "re");
    assert_non_null(file);
    if (!*(bool *)data && fscanf(file, "%ld", &pid) == 1 && pid > 0) {
        *(bool *)data = true;
        assert_int_equal(kill((pid_t)pid, SIGKILL), 0);
    }
    (void)fclose(file);
}

static void a_worker_that_crashes_is_told(void **state)
{
    struct btz_lab *lab = bench_lab(NULL, 0);
    bool ended = false;
    struct btz_certify_options options = {.workers = 2, .progress = end_a_worker, .data = &ended};
    struct btz_checks checks = {.arena = btz_arena_new()};
    struct btz_err err;

    (void)state;
    assert_int_equal(btz_certify_all(lab, &options, &checks, &err), BTZ_EINTERNAL);
    assert_true(ended);
    assert_non_null(strstr(err.msg, "ended with signal 9 at "));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no process is left */
    btz_arena_free(checks.arena);
    btz_lab_free(lab);
}

/* Per broken pack: its attack, the check that has to fail. */
static const struct {
    const char *pack, *attack, *rule;
} broken[] = {
    {"rule1-floor-fires", "broken-floor-fires", "1 floor,"},
    {"rule1-insider-harmless", "broken-insider-harmless", "1 insider,"},
    {"rule1-reader-blind", "broken-reader-blind", "1 reader,"},
    {"rule2-any-answer", "broken-any-answer", "2 wrong value in ANSWER, attack arm"},
    {"rule2-any-answer", "broken-any-answer", "2 the attacker's answer"},
    {"rule2-benign-fails", "broken-benign-fails", "2 benign plan,"},
    {"rule2-null-passes", "broken-null-passes", "2 null,"},
    {"rule2-twin-fires", "broken-twin-fires", "2 benign twin,"},
    {"rule2-act-everywhere", "broken-act-everywhere", "1 floor,"},
    {"rule2-twin-needs-nothing", "broken-twin-needs-nothing", "2 the benign twin's instruction"},
    {"rule2-twin-is-payload", "broken-twin-is-payload", "2 twins hold no operand"},
    {"rule2-some-seeds", "broken-some-seeds", "1 and 2 for eight seeds"},
    {"rule2-any-amount", "broken-any-amount",
     "2 another number in the call of create_transfer, clean arm"},
    {"rule2-any-matter", "broken-any-matter", "2 another {order} in the call of send_mail, clean"},
    {"rule2-any-note", "broken-any-note", "2 another {sum} in the call of write_file, clean arm"},
    {"rule3-any-link", "broken-any-link", "3 the act on another object"},
    {"rule3-any-package", "broken-any-package", "3 the order was about another object"},
    {"rule3-any-recipient", "broken-any-recipient", "3 the act towards a colleague"},
    {"rule3-no-secret", "broken-no-secret", "3 secret left out of the act"},
    {"rule3-no-secret", "broken-no-secret", "3 secret left out of route 2"},
    {"rule3-one-tool", "broken-one-tool", "3 another tool to the same sink"},
    {"rule3-reads-arguments", "broken-reads-arguments", "3 blocked by a rule"},
    {"rule3-user-asked", "broken-user-asked", "3 the user asked for it"},
    {"rule4-fires-elsewhere", "broken-fires-elsewhere", "4 cross matrix"},
    {"rule7-copied-payload", "broken-copied-payload", "7 payloads share at most half"},
    {"rule7-eight-phrases", "broken-eight-phrases", "7 a filter of eight phrases"},
};

static void broken_packs_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        struct btz_arena *arena = btz_arena_new();
        const char *packs[] = {btz_arena_printf(arena, "broken/%s", broken[i].pack).ptr, NULL};
        struct btz_lab *lab = bench_lab(packs, 0);
        struct btz_checks checks = certify(
            lab, broken[i].attack, btz_str_starts(btz_str_of(broken[i].rule), BTZ_STR("4")));
        bool told = false;

        if (btz_str_starts(btz_str_of(broken[i].rule), BTZ_STR("7"))) {
            btz_certify_suite(lab, &checks);
        }
        for (size_t c = 0; c < checks.count; c++) {
            if (!checks.items[c].passed &&
                btz_str_starts(checks.items[c].rule, btz_str_of(broken[i].rule))) {
                told |= checks.items[c].detail.len > 0;
            }
        }
        if (!told) {
            fail_msg("%s does not fail \"%s\"", broken[i].pack, broken[i].rule);
        }
        btz_arena_free(checks.arena);
        btz_lab_free(lab);
        btz_arena_free(arena);
    }
}

/* The table above is all there is. */
static void every_broken_pack_is_tried(void **state)
{
    DIR *dir = opendir(BTZ_SOURCE_DIR "/tests/packs/broken");
    struct dirent *entry;
    size_t packs = 0;
    size_t tried = 0;

    (void)state;
    assert_non_null(dir);
    while ((entry = readdir(dir))) {
        /* The others are refused when they are loaded (tests/unit/lab/test_broken.c). */
        bool known = strncmp(entry->d_name, "rule", 4) != 0;

        packs += !known;
        for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
            known |= strcmp(entry->d_name, broken[i].pack) == 0;
        }
        if (!known) {
            fail_msg("%s has no row", entry->d_name);
        }
    }
    (void)closedir(dir);
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        tried += i == 0 || strcmp(broken[i].pack, broken[i - 1].pack) != 0;
    }
    assert_int_equal(packs, tried);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(core_pack_passes),       cmocka_unit_test(below_passes),
        cmocka_unit_test(below_without_a_switch), cmocka_unit_test(only_what_the_card_names),
        cmocka_unit_test(faults_are_told),        cmocka_unit_test(a_worker_that_crashes_is_told),
        cmocka_unit_test(broken_packs_fail),      cmocka_unit_test(every_broken_pack_is_tried),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
