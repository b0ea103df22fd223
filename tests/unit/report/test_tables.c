/* The tables that compare inside a run - defences, architectures, oracles, tokens - against
 * arithmetic done by hand, and their printed forms against golden files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "make.h"
#include "report/csv.h"
#include "report/report.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static struct btz_report *report_as(struct made *made, const struct btz_report_options *options)
{
    struct btz_report *report = NULL;
    struct btz_err err;

    if (btz_report_build_as(made->store, made->run.no, options, made->arena, &report, &err) !=
        BTZ_OK) {
        fail_msg("%s", err.msg);
    }
    return report;
}

static struct btz_report *report_of(struct made *made)
{
    const struct btz_report_options options = {.paper = false};

    return report_as(made, &options);
}

static const struct btz_json *json_of(struct made *made)
{
    return btz_report_json(report_of(made), made->arena);
}

static struct btz_str printed(struct made *made, const struct btz_report *report, unsigned width)
{
    struct btz_term term = {.width = width};
    struct btz_buf out;
    struct btz_str text;
    struct btz_str rest;
    struct btz_str line;

    btz_buf_init(&out, 16 * 1024 * 1024);
    btz_report_print(report, &term, &out);
    assert_int_equal(btz_buf_status(&out), BTZ_OK);
    text = btz_arena_dup(made->arena, btz_buf_view(&out));
    btz_buf_fini(&out);
    for (rest = text; btz_str_cut(&rest, '\n', &line);) {
        if (btz_term_text_width(line) > width) {
            fail_msg("wider than %u: %.*s", width, BTZ_FMT(line));
        }
    }
    return text;
}

static void has(struct btz_str text, const char *part)
{
    if (btz_str_find(text, btz_str_of(part)) < 0) {
        fail_msg("\"%s\" is not in:\n%.*s", part, BTZ_FMT(text));
    }
}

static void has_not(struct btz_str text, const char *part)
{
    if (btz_str_find(text, btz_str_of(part)) >= 0) {
        fail_msg("\"%s\" is in:\n%.*s", part, BTZ_FMT(text));
    }
}

/* The item of the list whose members have these texts; "" in `value` stands for null. */
static const struct btz_json *item(const struct btz_json *root, const char *list,
                                   const char *const (*want)[2], size_t count)
{
    const struct btz_json *items = btz_json_getz(root, list);

    for (size_t i = 0; i < btz_json_count(items); i++) {
        bool fits = true;

        for (size_t k = 0; k < count; k++) {
            const struct btz_json *value = btz_json_getz(btz_json_at(items, i), want[k][0]);

            fits = fits && (*want[k][1] ? btz_str_is(btz_json_str(value), want[k][1])
                                        : btz_json_is(value, BTZ_JSON_NULL));
        }
        if (fits) {
            return btz_json_at(items, i);
        }
    }
    fail_msg("no such item in %s", list);
    return NULL;
}

#define ITEM(root, list, ...)                                                                      \
    item(root, list, (const char *const[][2]){__VA_ARGS__},                                        \
         COUNT(((const char *const[][2]){__VA_ARGS__})))

static void is(const struct btz_json *root, const char *pointer, double want)
{
    double got = -77;

    if (!btz_json_double(btz_json_pointer(root, btz_str_of(pointer)), &got) ||
        !(got > want - 5e-6 && got < want + 5e-6)) {
        fail_msg("%s is %.8f, not %.8f", pointer, got, want);
    }
}

static void is_null(const struct btz_json *root, const char *pointer)
{
    assert_true(btz_json_is(btz_json_pointer(root, btz_str_of(pointer)), BTZ_JSON_NULL));
}

static void is_text(const struct btz_json *root, const char *pointer, const char *want)
{
    struct btz_str got = btz_json_str(btz_json_pointer(root, btz_str_of(pointer)));

    if (!btz_str_is(got, want)) {
        fail_msg("%s is \"%.*s\", not \"%s\"", pointer, BTZ_FMT(got), want);
    }
}

static void is_share(const struct btz_json *root, const char *pointer, double k, double n)
{
    char member[64];

    (void)snprintf(member, sizeof(member), "%s/k", pointer);
    is(root, member, k);
    (void)snprintf(member, sizeof(member), "%s/n", pointer);
    is(root, member, n);
}

static void check_json(struct made *made, const char *name, const struct btz_report *report)
{
    struct btz_buf out;

    btz_buf_init(&out, 16 * 1024 * 1024);
    assert_int_equal(btz_json_write_pretty(&out, btz_report_json(report, made->arena)), BTZ_OK);
    check_golden(made, name, btz_buf_view(&out));
    btz_buf_fini(&out);
}

/* ---- defences ---- */

#define UNDEFENDED(attack, variant, arm)                                                           \
    {                                                                                              \
        "ref:reader", "st", attack, variant, "V", arm, NULL, "++++", "++++"                        \
    }
#define DEFENDED(attack, variant, arm, clean, benign, guard, guard_clean, guard_benign)            \
    {                                                                                              \
        "ref:reader", "st", attack, variant, "V", arm, NULL, clean, benign, NULL, NULL, "context", \
            guard, guard_clean, guard_benign                                                       \
    }

static const struct make_variant defended[] = {
    UNDEFENDED("a1", "v1", "SSSS"),
    UNDEFENDED("a1", "v2", "SSSS"),
    UNDEFENDED("a1", "v3", "SSSR"),
    UNDEFENDED("a2", "v1", "SSSS"),
    UNDEFENDED("a2", "v2", "SSRR"),
    UNDEFENDED("a2", "v3", "SSSS"),
    {"ref:reader", "st", "a3", "v1", "B", "BBB", NULL, "+", "+"},
    DEFENDED("a1", "v1", "RRRR", "++++", "--++", "dddd", "qqqq", "ddqq"),
    DEFENDED("a1", "v2", "SRRR", "+++-", "++++", "qddd", "qqqd", "qqqq"),
    DEFENDED("a1", "v3", "RRRR", "++++", "++++", "ddqq", "qqqq", "qqqq"),
    DEFENDED("a2", "v1", "SSRR", "++++", "++++", "uudd", "qqqq", "qqqq"),
    DEFENDED("a2", "v2", "RRRR", "++++", "++++", "ccqf", "qqqq", "qqqq"),
    DEFENDED("a2", "v3", "SRRP", "++++", "++++", "dddd", "qqqq", "qqqq"),
    /* The fault says nothing, whatever the defence said before it. */
    {"ref:reader", "st", "a3", "v1", "B", "BCF", NULL, "+", "+", NULL, NULL, "context", "qdd", "q",
     "q"},
};

static void defence_by_attack(void **state)
{
    struct made made;
    const struct btz_json *json;
    const struct btz_json *d;

    (void)state;
    make_run(&made, defended, COUNT(defended), make_card);
    json = json_of(&made);
    /* a1, a2, their surface and all; a3 (B), its surface and all. */
    assert_int_equal(btz_json_count(btz_json_getz(json, "defences")), 7);

    d = ITEM(json, "defences", {"attack", "a1"}, {"defence", "context"});
    is_share(d, "/asr", 1, 12);
    is(d, "/asr/value", 1.0 / 12);
    is_share(d, "/attack_arm/detected", 9, 12);
    is_share(d, "/attack_arm/prevented", 9, 12);
    is_share(d, "/clean_arm/alarms", 1, 12);
    is_share(d, "/benign_arm/alarms", 2, 12);
    is_share(d, "/clean_utility", 11, 12);
    is_share(d, "/benign_utility", 10, 12);

    /* Detected and prevented go apart: c blocks undecided texts, and one S came after a block. */
    d = ITEM(json, "defences", {"attack", "a2"});
    is_share(d, "/asr", 3, 12);
    is(d, "/asr/value", 0.25);
    is_share(d, "/attack_arm/detected", 6, 12);
    is_share(d, "/attack_arm/prevented", 7, 12);
    is(d, "/attack_arm/scans", 36);
    is(d, "/attack_arm/undecided", 4);
    is(d, "/attack_arm/blocked", 8);
    is(d, "/attack_arm/unsafe", 6);
    is(d, "/attack_arm/failed", 1);
    is(d, "/attack_arm/added_us", 2000);
    is(d, "/attack_arm/requests", 36);
    is(d, "/attack_arm/prefill", 11 * 30);
    is(d, "/attack_arm/decode", 11 * 6);
    is(d, "/attack_arm/tokens_unknown", 1);
    is_share(d, "/clean_arm/alarms", 0, 12);

    d = ITEM(json, "defences", {"attack", ""}, {"surface", ""}, {"boundary", "V"});
    is_share(d, "/asr", 4, 24);
    is_share(d, "/attack_arm/detected", 15, 24);
    is_share(d, "/attack_arm/prevented", 16, 24);

    d = ITEM(json, "defences", {"attack", "a3"}, {"boundary", "B"});
    is_share(d, "/asr", 1, 2);
    is_share(d, "/attack_arm/detected", 1, 2);
    is_share(d, "/attack_arm/prevented", 1, 2);
    make_done(&made);
}

static void defence_against_none(void **state)
{
    struct made made;
    const struct btz_json *c;
    struct btz_str text;

    (void)state;
    make_run(&made, defended, COUNT(defended), make_card);
    c = ITEM(json_of(&made), "defence_contrasts", {"defence", "context"});
    is_share(c, "/asr/first", 4, 24);
    is_share(c, "/asr/second", 21, 24);
    /* Differences -1, -.75, -.75 and -.5, -.5, -.75: all six of one sign, so p = 2 / 2^6. */
    is(c, "/asr/difference", -(2.5 / 3 + 1.75 / 3) / 2);
    is(c, "/asr/p", 2.0 / 64);
    is(c, "/asr/variants", 6);
    is(c, "/adjusted_p", 2.0 / 64); /* a family of one */
    is(c, "/clean_utility/difference", -0.25 / 6);
    is_text(c, "/lower_asr", "passed");
    is_text(c, "/utility_not_worse", "failed");
    text = printed(&made, report_of(&made), 100);
    has(text, "ref:reader: defences beside each other (V)");
    has(text, "lower attack success: shown; then clean utility not");
    has(text, "Power: ");
    check_golden(&made, "tables-defence.txt", text);
    check_json(&made, "tables-defence.json", report_of(&made));
    make_done(&made);
}

/* A second defence makes the family larger, and the gate of the first closes. */
static void defences_are_a_family(void **state)
{
    struct make_variant variants[COUNT(defended) + 6];
    struct made made;
    const struct btz_json *json;

    (void)state;
    memcpy(variants, defended, sizeof(defended));
    for (size_t i = 0; i < 6; i++) {
        variants[COUNT(defended) + i] = defended[i];
        variants[COUNT(defended) + i].defence = "input";
    }
    make_run(&made, variants, COUNT(variants), make_card);
    json = json_of(&made);
    assert_int_equal(btz_json_count(btz_json_getz(json, "defence_contrasts")), 2);
    is(ITEM(json, "defence_contrasts", {"defence", "context"}), "/adjusted_p", 4.0 / 64);
    is_text(ITEM(json, "defence_contrasts", {"defence", "context"}), "/lower_asr", "failed");
    is_text(ITEM(json, "defence_contrasts", {"defence", "context"}), "/utility_not_worse",
            "not tested");
    is(ITEM(json, "defence_contrasts", {"defence", "input"}), "/asr/difference", 0);
    is(ITEM(json, "defence_contrasts", {"defence", "input"}), "/adjusted_p", 1);
    /* Trials without counts are said to have none. */
    is_share(ITEM(json, "defences", {"defence", "input"}, {"attack", "a1"}), "/attack_arm/detected",
             0, 0);
    has(printed(&made, report_of(&made), 100), "72 trials say nothing of the defence");
    make_done(&made);
}

/* A run of one defence has its table, and no contrast to make. */
static void defence_alone(void **state)
{
    struct made made;
    struct btz_str text;

    (void)state;
    make_run(&made, &defended[7], 7, make_card);
    assert_int_equal(btz_json_count(btz_json_getz(json_of(&made), "defence_contrasts")), 0);
    text = printed(&made, report_of(&made), 80);
    has(text, "ref:reader, defence context: defence, attack by attack");
    has_not(text, "beside each other");
    make_done(&made);
}

static void undefended(void **state)
{
    struct made made;
    struct btz_str text;

    (void)state;
    make_run(&made, defended, 7, make_card);
    text = printed(&made, report_of(&made), 80);
    has_not(text, "attack by attack");
    has_not(text, "beside each other");
    has_not(text, "guard");
    assert_int_equal(btz_json_count(btz_json_getz(json_of(&made), "defences")), 0);
    assert_int_equal(btz_json_count(btz_json_getz(json_of(&made), "architectures")), 0);
    assert_int_equal(btz_json_count(btz_json_getz(json_of(&made), "oracles")), 0);
    make_done(&made);
}

/* ---- architectures ---- */

static const struct make_variant attempts[] = {
    {"ref:reader", "st", "a1", "v1", "V", "SR", NULL, "++", "++", NULL, "react"},
    {"ref:reader", "st", "a1", "v2", "V", "RR", NULL, "++", "++", NULL, "react"},
    {"ref:reader", "st", "a1", "v1", "V", "SS", NULL, "++", "++", NULL, "reflexion", NULL, NULL,
     NULL, NULL, "+-"},
    {"ref:reader", "st", "a1", "v2", "V", "RS", NULL, "++", "++", NULL, "reflexion", NULL, NULL,
     NULL, NULL, "-+"},
    {"ref:reader", "st", "a1", "v1", "V", "SSRF", NULL, "++", "++", NULL, "retry", NULL, NULL, NULL,
     NULL, "+-_-"},
    {"ref:reader", "st", "a1", "v2", "V", "RRRR", NULL, "++", "++", NULL, "retry"},
};

static void architectures(void **state)
{
    struct made made;
    const struct btz_json *json;
    const struct btz_json *a;

    (void)state;
    make_run(&made, attempts, COUNT(attempts), make_card);
    json = json_of(&made);
    a = ITEM(json, "architectures", {"architecture", "react"}, {"attack", "a1"});
    is_share(a, "/any", 1, 4);
    is_share(a, "/last", 1, 4);
    /* v1: any 2/2, last 1/2; v2: any 1/2, last 1/2. */
    a = ITEM(json, "architectures", {"architecture", "reflexion"}, {"attack", "a1"});
    is_share(a, "/any", 3, 4);
    is(a, "/any/value", 0.75);
    is_share(a, "/last", 2, 4);
    is(a, "/last/value", 0.5);
    /* v1: any 2/3, last 1/3, one missing; v2: none of 4. */
    a = ITEM(json, "architectures", {"architecture", "retry"}, {"attack", "a1"});
    is_share(a, "/any", 2, 7);
    is(a, "/any/value", 1.0 / 3);
    is_share(a, "/last", 1, 7);
    is(a, "/last/value", 1.0 / 6);
    is(a, "/last/missing", 1);
    check_golden(&made, "tables-architectures.txt", printed(&made, report_of(&made), 80));
    check_json(&made, "tables-architectures.json", report_of(&made));
    make_done(&made);
}

/* ---- oracles ---- */

static const struct make_variant judged[] = {
    {"ref:reader", "st", "a1", "v1", "V", "SSSRRRRRF", NULL, "+-", NULL}, /* trials 1 to 11 */
    {"ref:reader", "st", "a2", "v1", "V", "SR", NULL, "+", NULL},         /* 12 to 14 */
    {"ref:reader", "st", "a1", "v9", "B", "BB", NULL, NULL, NULL},        /* 15, 16 */
};
static const char prompt[] = "00112233445566aa+1111111111111111";
static const char other_prompt[] = "ffffffffffffffff+1111111111111111";

static void add(struct btz_store *store, int64_t run, int64_t n, const char *name,
                const char *version, enum btz_store_tri success)
{
    struct btz_store_verdict verdict = {.source = BTZ_STR("judge"),
                                        .name = btz_str_of(name),
                                        .version = btz_str_of(version),
                                        .success = success,
                                        .act_event = -1,
                                        .effect_event = -1,
                                        .at_us = 1,
                                        .json = BTZ_STR("{}")};
    struct btz_err err;

    if (btz_store_verdict_add(store, run, n, &verdict, &err) != BTZ_OK) {
        fail_msg("%s", err.msg);
    }
}

/* The judge finds three more than the oracle, and one of its replies is malformed. */
static void judge_all(struct made *made, bool second)
{
    struct btz_store *store = NULL;
    struct btz_err err;

    assert_int_equal(btz_store_open(made->path, BTZ_STORE_WRITE, &store, &err), BTZ_OK);
    for (int64_t n = 1; n <= 8; n++) {
        add(store, made->run.no, n, "j", prompt,
            n <= 6   ? BTZ_STORE_YES
            : n == 7 ? BTZ_STORE_NO
                     : BTZ_STORE_UNKNOWN);
    }
    add(store, made->run.no, 15, "j", prompt, BTZ_STORE_NO); /* below the model: not in the table */
    if (second) {
        add(store, made->run.no, 1, "j", other_prompt, BTZ_STORE_NO);
        add(store, made->run.no, 12, "k", prompt, BTZ_STORE_NO);
    }
    btz_store_close(store);
}

static void oracles(void **state)
{
    struct made made;
    const struct btz_json *o;
    struct btz_str text;

    (void)state;
    make_run(&made, judged, COUNT(judged), make_card);
    judge_all(&made, false);
    assert_int_equal(btz_json_count(btz_json_getz(json_of(&made), "oracles")), 2);
    o = ITEM(json_of(&made), "oracles", {"attack", "a1"});
    is_text(o, "/judge/name", "j");
    is_text(o, "/judge/prompt", "00112233445566aa");
    /* Both 3, only the judge 3, only the oracle 0, neither 1; trial 8 malformed, 9 a fault. */
    is(o, "/n", 7);
    is(o, "/oracle_k", 3);
    is(o, "/judge_k", 6);
    is(o, "/both", 3);
    is(o, "/malformed", 1);
    is(o, "/missing", 0);
    is(o, "/difference/value", 3.0 / 7);
    is(o, "/p_exact", 2.0 / 8); /* three of three on one side: 2 * (1/2)^3 */
    is(o, "/p_mid", 2.0 / 16);  /* half the point probability off the tail */
    is(o, "/agree/value", 4.0 / 7);
    is(o, "/kappa/value", (28.0 - 22) / (49 - 22)); /* p_o 4/7, p_e (6*3 + 1*4) / 49 */
    /* The judge was never asked about a2, so the total is that of a1. */
    is(ITEM(json_of(&made), "oracles", {"attack", ""}), "/n", 7);
    is(ITEM(json_of(&made), "oracles", {"attack", ""}), "/missing", 0);
    /* The headline stays the oracle's. */
    is_share(ITEM(json_of(&made), "rows", {"attack", "a1"}, {"boundary", "V"}), "/rates/asr", 3, 8);
    is_text(json_of(&made), "/oracle", "deterministic");
    text = printed(&made, report_of(&made), 100);
    has(text, "attack success (V) by the deterministic oracle and by judge j");
    has_not(text, "as in the paper");
    check_golden(&made, "tables-oracles.txt", text);
    check_json(&made, "tables-oracles.json", report_of(&made));
    make_done(&made);
}

static void paper(void **state)
{
    const struct btz_report_options options = {.paper = true};
    struct made made;
    const struct btz_json *json;
    const struct btz_json *r;
    struct btz_str text;

    (void)state;
    make_run(&made, judged, COUNT(judged), make_card);
    judge_all(&made, false);
    json = btz_report_json(report_as(&made, &options), made.arena);
    is_text(json, "/oracle", "paper");
    is_text(json, "/judge/name", "j");
    r = ITEM(json, "rows", {"attack", "a1"}, {"boundary", "V"});
    is_text(r, "/oracle", "judge");
    is_share(r, "/rates/asr", 6, 7);
    is(r, "/rates/asr/missing", 2); /* the fault and the malformed reply */
    is_share(r, "/rates/asr_competent", 1, 1);
    is_share(r, "/rates/compliance", 0, 0); /* conditional on the other oracle's chain */
    is(r, "/outcomes/susceptible", 3);
    r = ITEM(json, "rows", {"attack", "a2"});
    is_text(r, "/oracle", "deterministic");
    is_share(r, "/rates/asr", 1, 2);
    r = ITEM(json, "rows", {"attack", "a1"}, {"boundary", "B"});
    is_text(r, "/oracle", "deterministic");
    is_share(r, "/rates/exposure", 2, 2);
    r = ITEM(json, "rows", {"attack", ""}, {"surface", ""}, {"boundary", "V"});
    is_text(r, "/oracle", "mixed");
    is(r, "/rates/asr/value", (6.0 / 7 + 0.5) / 2);
    text = printed(&made, report_as(&made, &options), 100);
    has(text, "as in the paper: judge j (prompt 00112233) for a1");
    has(text, "the deterministic oracle for (B) a1, a2, and for twins and outcomes");
    has(text, "without a usable verdict of the judge, and so missing: 1 trial");
    has(text, "attack success (V), oracle as in the paper");
    has(text, "outcomes (V) by the deterministic oracle");
    check_golden(&made, "tables-paper.txt", text);
    check_json(&made, "tables-paper.json", report_as(&made, &options));
    make_done(&made);
}

static void refused(struct made *made, const char *judge, const char *says)
{
    struct btz_report_options options = {.paper = true,
                                         .judge = judge ? btz_str_of(judge) : BTZ_STR_NONE};
    struct btz_report *report = NULL;
    struct btz_err err = {0};

    assert_int_equal(
        btz_report_build_as(made->store, made->run.no, &options, made->arena, &report, &err),
        BTZ_EUSAGE);
    assert_null(report);
    has(btz_str_of(err.msg), says);
}

static void paper_needs_one_judge(void **state)
{
    struct btz_report_options options = {.paper = true, .judge = BTZ_STR("j+ffff")};
    struct made made;

    (void)state;
    make_run(&made, judged, COUNT(judged), make_card);
    refused(&made, NULL, "no judge has judged run");
    judge_all(&made, true);
    refused(&made, NULL,
            "only one can decide; name one with --judge: j+00112233, j+ffffffff, "
            "k+00112233");
    refused(&made, "j", "several judges have judged");
    refused(&made, "x", "no judge of that name");
    refused(&made, "j+", "no judge of that name");
    refused(&made, "j+01", "no judge of that name");
    is_share(ITEM(btz_report_json(report_as(&made, &options), made.arena), "rows", {"attack", "a1"},
                  {"boundary", "V"}),
             "/rates/asr", 0, 1);
    options.judge = BTZ_STR("k");
    is_share(ITEM(btz_report_json(report_as(&made, &options), made.arena), "rows", {"attack", "a1"},
                  {"boundary", "V"}),
             "/rates/asr", 0, 0);
    make_done(&made);

    make_run(&made, judged, COUNT(judged), "{}");
    judge_all(&made, false);
    refused(&made, NULL, "does not say whether a1 is semantic");
    make_done(&made);
}

/* ---- tokens ---- */

static void tokens(void **state)
{
    struct made made;
    const struct btz_json *t;

    (void)state;
    make_run(&made, defended, COUNT(defended), make_card);
    /* 24 attack, 48 twins, 3 B with a fault and 2 twins of it: each 1000 in, 50 out. */
    t = ITEM(json_of(&made), "tokens", {"defence", "context"});
    is(t, "/trials", 77);
    is(t, "/unknown", 0);
    is(t, "/prefill", 77000);
    is(t, "/decode", 77 * 50);
    is(t, "/prefill_mean", 1000);
    is(t, "/decode_mean", 50);
    is(t, "/ratio", 20);
    /* All but the fault have a cost; one is unknown. */
    is(t, "/guard_prefill", 75 * 30);
    is(t, "/guard_decode", 75 * 6);
    is(t, "/guard_unknown", 1);
    t = ITEM(json_of(&made), "tokens", {"defence", "none"});
    is(t, "/guard_unknown", 0);
    is_null(t, "/guard_prefill");
    make_done(&made);
}

/* Cached input is read too; a trial of which a side is unknown is counted apart. */
static void tokens_from_caches(void **state)
{
    static const struct btz_store_tokens given[] = {
        {100, 10, 900, -1, -1}, {50, 30, -1, 250, 5}, {-1, 10, -1, -1, -1}};
    struct btz_store_trial trials[COUNT(given)];
    struct made made;
    const struct btz_json *t;

    (void)state;
    for (size_t i = 0; i < COUNT(given); i++) {
        trials[i] = (struct btz_store_trial){
            /* Only a fault may be followed by another trial of its cell. */
            .outcome = i + 1 < COUNT(given) ? BTZ_STORE_FAULT : BTZ_STORE_RESISTED,
            .chain = {.act_event = -1, .effect_event = -1, .leak_ppm = -1},
            .utility = BTZ_STORE_YES,
            .tokens = given[i],
            .cost_nano = -1,
            .attempts = 1};
    }
    make_trial_run(&made, trials, 1);
    t = ITEM(json_of(&made), "tokens", {"defence", "none"});
    is(t, "/prefill", 1000);
    is(t, "/decode", 10);
    is(t, "/unknown", 0);
    make_done(&made);
    make_trial_run(&made, trials, 2); /* the current one counts */
    t = ITEM(json_of(&made), "tokens", {"defence", "none"});
    is(t, "/prefill", 300);
    is(t, "/ratio", 10);
    make_done(&made);
    make_trial_run(&made, trials, 3);
    t = ITEM(json_of(&made), "tokens", {"defence", "none"});
    is(t, "/trials", 1);
    is(t, "/unknown", 1);
    is_null(t, "/prefill");
    is_null(t, "/ratio");
    has_not(printed(&made, report_of(&made), 80), "Tokens");
    make_done(&made);
}

/* Numbers of an edited store that no trial has do not run over. */
static void tokens_beyond_all_bounds(void **state)
{
    struct btz_store_verdict verdicts[] = {
        {.source = BTZ_STR("defence"),
         .name = BTZ_STR("counts"),
         .version = BTZ_STR("1"),
         .act_event = -1,
         .effect_event = -1,
         .json = BTZ_STR("{\"scans\":9223372036854775807,\"detected\":-3,\"blocked\":\"x\"}")},
        {.source = BTZ_STR("defence"),
         .name = BTZ_STR("cost"),
         .version = BTZ_STR("1"),
         .success = BTZ_STORE_UNKNOWN,
         .act_event = -1,
         .effect_event = -1,
         .json = BTZ_STR("[\"took_us\"]")}};
    struct btz_store_trial trial = {.outcome = BTZ_STORE_RESISTED,
                                    .chain = {.act_event = -1, .effect_event = -1, .leak_ppm = -1},
                                    .utility = BTZ_STORE_YES,
                                    .tokens = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, -1},
                                    .cost_nano = -1,
                                    .attempts = 1,
                                    .verdicts = verdicts,
                                    .verdict_count = 2};
    struct made made;
    const struct btz_json *d;

    (void)state;
    make_trial_run_as(&made, &trial, 1, "context", 0);
    is(ITEM(json_of(&made), "tokens", {"defence", "context"}), "/unknown", 1);
    d = ITEM(json_of(&made), "defences", {"attack", "tool-poisoning"});
    is_share(d, "/attack_arm/detected", 0, 1);
    is_share(d, "/attack_arm/prevented", 0, 1);
    is(d, "/attack_arm/scans", 0);
    is(d, "/attack_arm/tokens_unknown", 1);
    is_null(d, "/attack_arm/added_us");
    is_null(d, "/attack_arm/prefill");
    make_done(&made);
}

/* ---- CSV ---- */

static void foreign_names_in_csv(void **state)
{
    static const struct make_variant v[] = {{"m\x1b[31m\r", "st", "a\x07\nb\xc2\x9b", "v1", "V",
                                             "S", "+", "+", "+", .host_profile = "p\xe2\x80\xae"}};
    struct made made;
    struct btz_buf out;

    (void)state;
    make_run(&made, v, 1, make_card);
    btz_buf_init(&out, 65536);
    btz_report_csv(report_of(&made), &out);
    assert_true(btz_str_find(btz_buf_view(&out), BTZ_STR(",m\xef\xbf\xbd[31m\xef\xbf\xbd,react,")) >
                0);
    assert_true(btz_str_find(btz_buf_view(&out), BTZ_STR(",p\xef\xbf\xbd,st,\"a\xef\xbf\xbd\n"
                                                         "b\xef\xbf\xbd\",V,")) > 0);
    btz_buf_fini(&out);
    make_done(&made);
}

static void in_csv(void **state)
{
    struct made made;
    struct btz_buf out;

    (void)state;
    make_run(&made, defended, COUNT(defended), make_card);
    btz_buf_init(&out, 1024 * 1024);
    btz_report_csv(report_of(&made), &out);
    check_golden(&made, "tables-defence.csv", btz_buf_view(&out));
    /* a2 under context: trials, detected, prevented, clean 12 and 0, benign 12 and 0, scans,
     * undecided, failed, microseconds, tokens, unknown. */
    has(btz_buf_view(&out), ",12,6,7,12,0,12,0,108,4,1,72000,1050,210,1,\n");
    btz_buf_fini(&out);
    make_done(&made);
}

/* Attacks whose card names a suite stand in no figure of the others, nor these in theirs. */
static void suites(void **state)
{
    static const struct make_variant v[] = {
        UNDEFENDED("a1", "v1", "SSSS"),
        UNDEFENDED("a2", "v1", "RRRR"),
        UNDEFENDED("b1", "v1", "SSSR"),
        DEFENDED("a1", "v1", "RRRR", "++++", "++++", "dddd", "qqqq", "qqqq"),
        DEFENDED("a2", "v1", "RRRR", "++++", "++++", "dddd", "qqqq", "qqqq"),
        DEFENDED("b1", "v1", "RRRR", "++++", "++++", "dddd", "qqqq", "qqqq"),
    };
    static const char card[] = "{\"attacks\":[{\"id\":\"a1\"},{\"id\":\"a2\"},"
                               "{\"id\":\"b1\",\"suite\":\"own\"}]}";
    struct made made;
    struct btz_report *report;
    const struct btz_json *json;
    const struct btz_json *rows;
    struct btz_str text;
    size_t totals = 0;

    (void)state;
    make_run(&made, v, COUNT(v), card);
    report = report_of(&made);
    json = btz_report_json(report, made.arena);
    rows = btz_json_getz(json, "rows");
    for (size_t i = 0; i < btz_json_count(rows); i++) {
        const struct btz_json *row = btz_json_at(rows, i);
        bool own = btz_json_getz(row, "suite") != NULL;

        if (btz_json_getz(row, "suite")) {
            assert_true(btz_str_is(btz_json_str(btz_json_getz(row, "suite")), "own"));
        }
        assert_int_equal(own,
                         btz_str_is(btz_json_str(btz_json_getz(row, "attack")), "b1") ||
                             (own && btz_json_is(btz_json_getz(row, "attack"), BTZ_JSON_NULL)));
        if (btz_json_is(btz_json_getz(row, "surface"), BTZ_JSON_NULL) &&
            btz_str_is(btz_json_str(btz_json_getz(row, "defence")), "none")) {
            is_share(row, "/rates/asr", own ? 3 : 4, own ? 4 : 8);
            totals++;
        }
    }
    assert_int_equal(totals, 2);
    /* Each defence against none of its own suite alone. */
    assert_int_equal(btz_json_count(btz_json_getz(json, "defence_contrasts")), 2);
    text = printed(&made, report, 100);
    has(text, "ref:reader: attack success (V)");
    has(text, "ref:reader, suite own: attack success (V)");
    has(text, "Inference is conditional on these 2 attacks.");
    has(text, "no other figure counts its 1 attack.");
    make_done(&made);
}

static void csv_fields(void **state)
{
    static const struct {
        const char *text;
        const char *field;
    } cases[] = {
        {"plain", "plain"},
        {"", ""},
        {"a,b", "\"a,b\""},
        {"say \"hi\"", "\"say \"\"hi\"\"\""},
        {"two\nlines", "\"two\nlines\""},
        {"=1+1", "\"'=1+1\""},
        {"@cmd", "\"'@cmd\""},
        {"-", "-"},
    };
    struct btz_buf out;

    (void)state;
    btz_buf_init(&out, 4096);
    for (size_t i = 0; i < COUNT(cases); i++) {
        btz_buf_reset(&out);
        btz_csv_add(&out, btz_str_of(cases[i].text));
        assert_int_equal(out.len, strlen(cases[i].field));
        assert_memory_equal(btz_buf_view(&out).ptr, cases[i].field, out.len);
    }
    btz_buf_reset(&out);
    btz_csv_add(&out, btz_str_of("\x1b[2Jred"));
    assert_null(memchr(btz_buf_view(&out).ptr, 0x1b, out.len));
    btz_buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defence_by_attack),
        cmocka_unit_test(defence_against_none),
        cmocka_unit_test(defences_are_a_family),
        cmocka_unit_test(defence_alone),
        cmocka_unit_test(undefended),
        cmocka_unit_test(architectures),
        cmocka_unit_test(oracles),
        cmocka_unit_test(paper),
        cmocka_unit_test(paper_needs_one_judge),
        cmocka_unit_test(tokens),
        cmocka_unit_test(tokens_from_caches),
        cmocka_unit_test(foreign_names_in_csv),
        cmocka_unit_test(in_csv),
        cmocka_unit_test(csv_fields),
        cmocka_unit_test(suites),
        cmocka_unit_test(tokens_beyond_all_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
