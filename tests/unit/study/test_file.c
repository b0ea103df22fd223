/* Study files: what they say, and what is said about mistakes in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../store/make.h"
#include "bench.h"
#include "study/file.h"

static struct btz_lab *lab;
static struct btz_arena *arena;

static const char *const extended[] = {"extended", NULL}; /* a study needs it */

static int setup(void **state)
{
    (void)state;
    lab = bench_lab(extended, 0);
    arena = btz_arena_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    btz_arena_free(arena);
    btz_lab_free(lab);
    return 0;
}

static struct btz_study_file parse(const char *text)
{
    struct btz_study_file file;
    struct btz_err err;

    MAKE_OK(btz_study_parse(arena, lab, btz_str_of(text), "a.yaml", &file, &err), &err);
    return file;
}

static void a_byte_order_mark_is_skipped(void **state)
{
    struct btz_study_file file = parse("\xef\xbb\xbfname: least\r\nseed: 7\r\n");
    struct btz_err err;

    (void)state;
    assert_text(file.name, "least");
    assert_true(file.seed == 7);
    assert_text(file.text, "name: least\r\nseed: 7\r\n");
    MAKE_OK(btz_study_parse(arena, lab, BTZ_STR("\xef\xbb\xbf{\"name\":\"least\"}"), "a.json",
                            &file, &err),
            &err);
    assert_text(file.name, "least");
}

static void absent_keys_have_defaults(void **state)
{
    struct btz_study_file file = parse("name: least\n");

    (void)state;
    assert_text(file.name, "least");
    assert_int_equal(file.about.len, 0);
    assert_text(file.text, "name: least\n");
    assert_int_equal(file.attack_count + file.variant_count + file.surface_count, 0);
    assert_int_equal(file.arms, 0);
    assert_int_equal(file.repetitions, 1);
    assert_true(file.seed == 1);
    assert_int_equal(file.arch_count, 1);
    assert_int_equal(file.archs[0], BTZ_ARCH_REACT);
    assert_int_equal(file.revision_count, 1);
    assert_int_equal(file.revisions[0], BTZ_MCP_2026_07_28);
    assert_text(file.host_profile, "naive");
    assert_int_equal(file.carrier, BTZ_CARRIER_MEMORY);
    assert_int_equal(file.model_count, 0);
    assert_int_equal(file.limits.in_flight, 0);
    assert_int_equal(file.limits.actions, BTZ_STUDY_ACTIONS_NONE);
}

static void every_key_is_read(void **state)
{
    struct btz_study_file file = parse("name: every-key-2\n"
                                       "about: all of them\n"
                                       "attacks: [memory-poisoning, tool-poisoning]\n"
                                       "variants: [v2]\n"
                                       "surfaces:\n"
                                       "  - st\n"
                                       "arms: [benign, attack]\n"
                                       "repetitions: 7\n"
                                       "seed: 9223372036854775807\n"
                                       "architectures: [retry, react]\n"
                                       "revisions: [legacy, 2024-11-05, modern]\n"
                                       "host_profile: spec\n"
                                       "carrier: http\n"
                                       "defences: [none, input, context+rescan+closed]\n"
                                       "in_flight: 3\n"
                                       "max_tokens: 400\n"
                                       "request_timeout: 60\n"
                                       "actions: native\n"
                                       "models:\n"
                                       "  - model: ref:reader\n"
                                       "  - model: openai:one@http://127.0.0.1:1/v1\n"
                                       "    in_flight: 2\n"
                                       "    max_tokens: 300\n"
                                       "    request_timeout: 30\n"
                                       "    actions: json\n"
                                       "  - model: local\n");

    (void)state;
    assert_text(file.about, "all of them");
    assert_int_equal(file.attack_count, 2);
    assert_text(file.attacks[1], "tool-poisoning");
    assert_text(file.variants[0], "v2");
    assert_text(file.surfaces[0], "st");
    assert_int_equal(file.arms, 1 << BTZ_ARM_ATTACK | 1 << BTZ_ARM_BENIGN);
    assert_int_equal(file.repetitions, 7);
    assert_true(file.seed == INT64_MAX);
    assert_int_equal(file.arch_count, 2);
    assert_int_equal(file.archs[0], BTZ_ARCH_RETRY);
    assert_int_equal(file.archs[1], BTZ_ARCH_REACT);
    assert_int_equal(file.revision_count, 3);
    assert_int_equal(file.revisions[0], BTZ_MCP_2025_11_25);
    assert_int_equal(file.revisions[1], BTZ_MCP_2024_11_05);
    assert_text(file.host_profile, "spec");
    assert_int_equal(file.carrier, BTZ_CARRIER_HTTP);
    assert_int_equal(file.defence_count, 3);
    assert_text(file.defences[0], "none");
    assert_text(file.defences[2], "context+rescan+closed");
    assert_int_equal(file.limits.in_flight, 3);
    assert_int_equal(file.limits.max_tokens, 400);
    assert_int_equal(file.limits.request_timeout, 60);
    assert_int_equal(file.limits.actions, BTZ_STUDY_ACTIONS_NATIVE);
    assert_int_equal(file.model_count, 3);
    assert_text(file.models[0].reference, "ref:reader");
    assert_int_equal(file.models[0].limits.in_flight, 0);
    assert_int_equal(file.models[0].line, 20);
    assert_int_equal(file.models[1].limits.in_flight, 2);
    assert_int_equal(file.models[1].limits.max_tokens, 300);
    assert_int_equal(file.models[1].limits.request_timeout, 30);
    assert_int_equal(file.models[1].limits.actions, BTZ_STUDY_ACTIONS_JSON);
    assert_text(file.models[2].reference, "local");
}

static void defences_are_named(void **state)
{
    static const char *const good[] = {
        "none",
        "input",
        "context",
        "combined",
        "context+rescan",
        "combined+rescan",
        "input+closed",
        "context+closed",
        "combined+rescan+closed",
        "input:model",
        "combined:model+rescan+closed",
    };
    static const char *const bad[] = {
        "gate",
        "none+closed",
        "none+rescan",
        "input+rescan",
        "context+closed+rescan",
        "proxy:x",
        "none:model",
        "Context",
        "context+",
        "+closed",
        "context+closed+closed",
    };
    struct btz_study_file file = parse("name: a\n");

    (void)state;
    assert_int_equal(file.defence_count, 1);
    assert_text(file.defences[0], "none");
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        file = parse(btz_arena_printf(arena, "name: a\ndefence: \"%s\"\n", good[i]).ptr);
        assert_int_equal(file.defence_count, 1);
        assert_text(file.defences[0], good[i]);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct btz_err err = {0};
        struct btz_str text = btz_arena_printf(arena, "name: a\ndefences:\n  - \"%s\"\n", bad[i]);

        assert_int_equal(btz_study_parse(arena, lab, text, "a.yaml", &file, &err), BTZ_EINVAL);
        assert_int_equal(err.line, 3);
        assert_holds(btz_str_of(err.msg), "defences: expected none, input, context or combined");
        assert_holds(btz_str_of(err.msg), btz_arena_printf(arena, "got \"%s\"", bad[i]).ptr);
    }
}

/* The lists of the studies are fixed by their design; what the packs have of them is run. */
static void studies_have_the_attacks_that_exist(void **state)
{
    static const struct {
        const char *study, *attacks[9];
    } lists[] = {
        {"oracles",
         {"direct-prompt-injection", "indirect-prompt-injection", "rug-pull", "tool-name-squatting",
          "configuration-drift", "data-exfiltration"}},
        {"defences",
         {"direct-prompt-injection", "memory-poisoning", "sampling-abuse", "elicitation-phishing",
          "tool-poisoning", "indirect-prompt-injection", "mitm-tamper", "mcp-rebinding"}},
        {"layers",
         {"direct-prompt-injection", "tool-poisoning", "full-schema-poisoning", "tool-shadowing",
          "rug-pull", "indirect-prompt-injection", "memory-poisoning", "mitm-tamper"}},
    };

    (void)state;
    for (size_t s = 0; s < sizeof(lists) / sizeof(lists[0]); s++) {
        struct btz_study_file file;
        struct btz_err err;
        size_t there = 0;

        MAKE_OK(btz_study_load(arena, lab, lists[s].study, &file, &err), &err);
        for (size_t i = 0; lists[s].attacks[i]; i++) {
            const char *near;
            bool listed = false;

            for (size_t k = 0; k < file.attack_count; k++) {
                listed = listed || btz_str_is(file.attacks[k], lists[s].attacks[i]);
            }
            if (btz_study_knows(arena, lab, BTZ_STUDY_ATTACK, btz_str_of(lists[s].attacks[i]),
                                &near)) {
                there++;
                if (!listed) {
                    fail_msg("studies/%s.yaml lacks %s, which the packs have", lists[s].study,
                             lists[s].attacks[i]);
                }
            }
        }
        assert_int_equal(file.attack_count, there); /* and nothing else */
    }
    {
        struct btz_study_file file;
        struct btz_err err;

        MAKE_OK(btz_study_load(arena, lab, "defences", &file, &err), &err);
        assert_int_equal(file.defence_count, 4);
        assert_text(file.defences[3], "combined");
    }
}

static void json_is_taken_too(void **state)
{
    struct btz_study_file file;
    struct btz_err err;

    (void)state;
    MAKE_OK(btz_study_parse(arena, lab, BTZ_STR("{\"name\": \"j\", \"variants\": [\"v3\"]}"),
                            "a.json", &file, &err),
            &err);
    assert_text(file.variants[0], "v3");
}

static void built_in_studies_load(void **state)
{
    static const char *const expected[] = {"quick",    "all",           "calibrate",
                                           "main",     "architectures", "oracles",
                                           "defences", "layers",        "extended"};
    size_t count = 0;

    (void)state;
    for (; btz_study_name(count).len; count++) {
        struct btz_study_file file;
        struct btz_err err;

        assert_true(count < sizeof(expected) / sizeof(expected[0]));
        assert_text(btz_study_name(count), expected[count]);
        MAKE_OK(btz_study_load(arena, lab, expected[count], &file, &err), &err);
        assert_text(file.name, expected[count]); /* the file's name is the study's */
        assert_true(file.about.len > 0);
    }
    assert_int_equal(count, sizeof(expected) / sizeof(expected[0]));
    assert_int_equal(btz_study_name(count + 1).len, 0);
}

struct mistake {
    const char *text;
    unsigned line;
    const char *says;
};

static void mistakes_are_named(void **state)
{
    static const struct mistake mistakes[] = {
        {"name: x\nrepetition: 3\n", 2,
         "there is no key \"repetition\"; did you mean \"repetitions\"?"},
        {"name: x\nattack:\n  - a\n  - b\n", 2, "did you mean \"attacks\"?"},
        {"name: x\njudge: local\n", 2, "keys: name, about, attacks, "},
        {"name: x\nmodels:\n  - model: ref:null\n    inflight: 3\n", 4,
         "did you mean \"in_flight\"?"},
        {"name: x\nmodels:\n  - model: ref:null\n    seed: 3\n", 4,
         "keys: model, in_flight, max_tokens, request_timeout, actions"},
        {"about: y\n", 1, "expected property \"name\""},
        {"name: Two words\n", 1, "name: expected words of lower-case letters"},
        {"name: x\nrepetitions: 0\n", 2, "repetitions: expected a number of at least 1, got 0"},
        {"name: x\nrepetitions: three\n", 2, "repetitions: expected integer, got \"three\""},
        {"name: x\nrepetitions: 1.5\n", 2, "repetitions: expected integer, got 1.5"},
        {"name: x\nseed: -1\n", 2, "seed: "},
        {"name: x\nvariants: v1\n", 2, "variants: expected array, got \"v1\""},
        {"name: x\nvariants: []\n", 2, "variants: expected at least 1 items, got 0"},
        {"name: x\nvariants:\n  - v1\n  - v99\n", 4, "variants: there is no variant \"v99\""},
        {"name: x\nattacks:\n  - tool-poisonin\n", 3,
         "attacks: there is no attack \"tool-poisonin\"; did you mean \"tool-poisoning\"?"},
        {"name: x\nattacks: [sunshine]\n", 2,
         "there is no attack \"sunshine\"; `bartizan list attacks`"},
        {"name: x\nsurfaces: [sx]\n", 2, "surfaces: there is no surface \"sx\""},
        {"name: x\narms: [attack, clear]\n", 2, "did you mean \"clean\"?"},
        {"name: x\n\narchitectures:\n  - react\n  - reflexon\n", 5,
         "architectures: expected one of react, reflexion, retry, got \"reflexon\"; did you mean "
         "\"reflexion\"?"},
        {"name: x\narchitectures: [react, react]\n", 2, "architectures: "},
        {"name: x\nrevisions: [modern, 2026-07-28]\n", 2,
         "\"modern\" and \"2026-07-28\" are the same; remove one"},
        {"name: x\nrevisions: [2026]\n", 2, "expected one of modern, legacy, "},
        {"name: x\nhost_profile: navie\n", 2, "did you mean \"naive\"?"},
        {"name: x\ncarrier: pigeon\n", 2,
         "carrier: expected one of memory, stdio, http, got \"pigeon\""},
        {"name: x\ndefence: gate\n", 2, "defences: expected none, input, context or combined"},
        {"name: x\ndefences: [input, input]\n", 2, "defences: "},
        {"name: x\ndefences: input\n", 2, "defences: expected array, got \"input\""},
        {"name: x\ndefences: [none]\ndefence: input\n", 3,
         "defence: defences names them already; remove one"},
        {"name: x\nmodels: []\n", 2, "models: expected at least 1 items"},
        {"name: x\nmodels:\n  - in_flight: 2\n", 3, "models: expected property \"model\""},
        {"name: x\nmodels:\n  - model: ref:reder\n", 3, "ref:"},
        {"name: x\nmodels:\n  - model: anthropic:a\n", 3, "anthropic"},
        {"name: x\nmodels:\n  - model: ref:null\n  - model: ref:null\n", 4,
         "\"ref:null\" stands in line 3 already"},
        {"name: x\nname: y\n", 2, "a second time"},
        {"name: x\nabout: [\n", 3, "YAML"},
        {"- x\n", 1, "expected object"},
        {"", 0, "empty"},
        {"name: x\nrepetitions: 0\ncarrier: pigeon\n", 2,
         "got 0; line 3: carrier: expected one of"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        struct btz_study_file file = {.repetitions = 77};
        struct btz_err err = {0};
        int rc = btz_study_parse(arena, lab, btz_str_of(mistakes[i].text), "a.yaml", &file, &err);

        if (rc == BTZ_OK || err.line != mistakes[i].line || !strstr(err.msg, mistakes[i].says)) {
            fail_msg("%s\nexpected line %u: %s\ngot %s line %u: %s", mistakes[i].text,
                     mistakes[i].line, mistakes[i].says, btz_code_name(rc), err.line, err.msg);
        }
        assert_string_equal(err.file, "a.yaml");
        assert_int_equal(file.repetitions, 77);
    }
}

static void unknown_studies_and_files(void **state)
{
    struct btz_study_file file;
    struct btz_err err;

    (void)state;
    assert_int_equal(btz_study_load(arena, lab, "qick", &file, &err), BTZ_EUSAGE);
    assert_holds(btz_str_of(err.msg), "there is no study \"qick\"; did you mean \"quick\"?");
    assert_int_equal(btz_study_load(arena, lab, "elephant", &file, &err), BTZ_EUSAGE);
    assert_holds(btz_str_of(err.msg), "studies: quick, all, calibrate, main, architectures, "
                                      "oracles, defences, layers, extended, or a file");
    assert_int_equal(btz_study_load(arena, lab, "elephant.yaml", &file, &err), BTZ_ENOTFOUND);
    assert_string_equal(err.file, "elephant.yaml");
    assert_int_equal(btz_study_load(arena, lab, "./quick", &file, &err), BTZ_ENOTFOUND);
}

static void files_are_bounded(void **state)
{
    struct btz_str line = BTZ_STR("# a comment of many\n");
    struct btz_study_file file;
    struct btz_buf text;
    struct btz_err err;

    (void)state;
    btz_buf_init(&text, 1024 * 1024);
    while (text.len <= 64 * 1024) {
        (void)btz_buf_add(&text, line.ptr, line.len);
    }
    assert_int_equal(btz_study_parse(arena, lab, btz_buf_view(&text), "a.yaml", &file, &err),
                     BTZ_ELIMIT);
    btz_buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_byte_order_mark_is_skipped),
        cmocka_unit_test(absent_keys_have_defaults),
        cmocka_unit_test(every_key_is_read),
        cmocka_unit_test(json_is_taken_too),
        cmocka_unit_test(built_in_studies_load),
        cmocka_unit_test(defences_are_named),
        cmocka_unit_test(studies_have_the_attacks_that_exist),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(unknown_studies_and_files),
        cmocka_unit_test(files_are_bounded),
    };

    return cmocka_run_group_tests_name("study files", tests, setup, teardown);
}
