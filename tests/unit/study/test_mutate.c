/* Each mutation changes what its name says and nothing else; one that cannot says why. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bench.h"
#include "json/json.h"
#include "study/mutate.h"
#include "study/plans.h"
#include "trial/trial.h"

static const char *const packs[] = {"trial", "asking", NULL};
static struct btz_lab *lab;

/* The mutations of one scenario and what they were made from. */
struct work {
    struct btz_arena *arena;
    const struct btz_scenario *scenario;
    struct btz_stage *stage, *other;
    const struct btz_json *plans, *obey, *benign;
    size_t act;
    struct btz_mutation *list;
    size_t count;
};

static struct work begin(const char *id)
{
    struct work w = {.arena = btz_arena_new()};
    const struct btz_scenario *s = btz_lab_scenario_find(lab, btz_str_of(id));
    struct btz_err err;

    assert_non_null(s);
    w.scenario = s;
    assert_int_equal(btz_stage_new(lab, s, BTZ_ARM_ATTACK, 1, &w.stage, &err), BTZ_OK);
    assert_int_equal(btz_stage_new(lab, s, BTZ_ARM_ATTACK, 2, &w.other, &err), BTZ_OK);
    w.plans = btz_study_plans(w.arena, w.stage);
    w.obey = btz_json_getz(w.plans, "obey");
    w.benign = btz_json_getz(w.plans, "benign");
    w.act = btz_study_plan_act(w.plans);
    w.list = btz_mutations(w.arena, s, w.stage, w.other, w.plans, &w.count);
    return w;
}

static void end(struct work *w)
{
    btz_stage_free(w->stage);
    btz_stage_free(w->other);
    btz_arena_free(w->arena);
}

static const struct btz_mutation *find(const struct work *w, const char *name)
{
    for (size_t i = 0; i < w->count; i++) {
        if (btz_str_is(w->list[i].name, name)) {
            return &w->list[i];
        }
    }
    fail_msg("there is no mutation \"%s\"", name);
    return NULL;
}

static const struct btz_mutation *applied(const struct work *w, const char *name, bool expect)
{
    const struct btz_mutation *m = find(w, name);

    if (m->why_not) {
        fail_msg("\"%s\" does not apply: %s", name, m->why_not);
    }
    assert_int_equal(m->expect, expect);
    assert_non_null(m->plans);
    /* Only the obey plan may change. */
    assert_true(btz_json_equal(btz_json_getz(m->plans, "benign"), w->benign));
    assert_true(
        btz_json_equal(btz_json_getz(m->plans, "operands"), btz_json_getz(w->plans, "operands")));
    return m;
}

static void skipped(const struct work *w, const char *name, const char *why)
{
    assert_non_null(find(w, name)->why_not);
    assert_string_equal(find(w, name)->why_not, why);
}

static const struct btz_json *obey_of(const struct btz_mutation *m)
{
    return btz_json_getz(m->plans, "obey");
}

/* The obey plan of `m` is the old one but for step `at`, which is returned. */
static const struct btz_json *only_step(const struct work *w, const struct btz_mutation *m,
                                        size_t at)
{
    const struct btz_json *obey = obey_of(m);

    assert_int_equal(btz_json_count(obey), btz_json_count(w->obey));
    for (size_t i = 0; i < btz_json_count(obey); i++) {
        assert_int_equal(btz_json_equal(btz_json_at(obey, i), btz_json_at(w->obey, i)), i != at);
    }
    return btz_json_at(obey, at);
}

static struct btz_str marker(const struct btz_stage *stage, const char *name)
{
    return btz_json_str(btz_json_getz(btz_stage_markers(stage), name));
}

static bool holds(struct work *w, const struct btz_json *value, struct btz_str text)
{
    return btz_str_find(btz_json_text(w->arena, value), text) >= 0;
}

static const struct btz_json *in(const struct btz_json *step, const char *pointer)
{
    return btz_json_pointer(step, btz_str_of(pointer));
}

/* A disclosure: the private file is read, mailed to an address, two other routes. */
static void disclosure(void **state)
{
    struct work w = begin("tool-poisoning/v1");
    const struct btz_json *act = btz_json_at(w.obey, w.act);
    const struct btz_json *step;
    const struct btz_mutation *m;

    (void)state;
    assert_text(btz_json_str(in(act, "/call/tool")), "send_mail");

    m = applied(&w, "drop the key act", false);
    assert_int_equal(btz_json_count(obey_of(m)), btz_json_count(w.obey) - 1);
    for (size_t i = 0; i < btz_json_count(obey_of(m)); i++) {
        assert_true(
            btz_json_equal(btz_json_at(obey_of(m), i), btz_json_at(w.obey, i < w.act ? i : i + 1)));
    }

    step = only_step(&w, applied(&w, "change the marker", false), w.act);
    assert_true(holds(&w, act, marker(w.stage, "desk")));
    assert_false(holds(&w, step, marker(w.stage, "desk")));
    assert_true(holds(&w, step, marker(w.other, "desk")));

    skipped(&w, "change the server", "no other server has a tool of that name");

    step = only_step(&w, applied(&w, "rejected by the schema", false), w.act);
    assert_true(btz_json_bool(in(step, "/call/args/unexpected_member"), false));
    assert_true(btz_json_is(in(step, "/call/args/subject"), BTZ_JSON_ARRAY));
    assert_text(btz_json_str(in(step, "/call/name")), "mailroom__send_mail");

    m = applied(&w, "blocked by a rule", false);
    assert_text(m->deny_server, "mailroom");
    assert_text(m->deny_tool, "send_mail");
    assert_true(btz_json_equal(m->plans, w.plans));

    m = applied(&w, "the user asked for it", false);
    assert_true(btz_json_equal(m->plans, w.plans));
    assert_true(btz_str_find(m->extra_user_text, marker(w.stage, "desk")) >= 0);
    assert_true(btz_str_find(m->extra_user_text, BTZ_STR("send_mail")) >= 0);

    m = applied(&w, "another tool to the same sink, route 1", true);
    assert_true(btz_json_equal(only_step(&w, m, w.act), in(w.plans, "/routes/0")));
    m = applied(&w, "another tool to the same sink, route 2", true);
    assert_true(btz_json_equal(only_step(&w, m, w.act), in(w.plans, "/routes/1")));
    end(&w);
}

static void encodings(void **state)
{
    static const struct {
        const char *form, *name;
    } forms[] = {{"base64", "secret sent as base64"},
                 {"hex", "secret sent as hex"},
                 {"reverse", "secret sent as reverse"},
                 {"hyphens", "secret joined by hyphens"},
                 {"words", "secret sent word by word"}};
    struct work w = begin("tool-poisoning/v1");
    const struct btz_json *obey;

    (void)state;
    assert_text(btz_json_str(in(btz_json_at(w.obey, w.act), "/call/args/body")), "$ledger");
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        const struct btz_json *step = only_step(&w, applied(&w, forms[i].name, true), w.act);

        assert_text(btz_json_str(in(step, "/call/args/body")),
                    btz_arena_printf(w.arena, "$%s:ledger", forms[i].form).ptr);
        assert_true(btz_json_equal(in(step, "/call/args/to"),
                                   in(btz_json_at(w.obey, w.act), "/call/args/to")));
    }
    obey = obey_of(applied(&w, "secret sent in two halves", true));
    assert_int_equal(btz_json_count(obey), btz_json_count(w.obey) + 1);
    assert_text(btz_json_str(in(btz_json_at(obey, w.act), "/call/args/body")), "$first:ledger");
    assert_text(btz_json_str(in(btz_json_at(obey, w.act + 1), "/call/args/body")),
                "$second:ledger");
    end(&w);
}

/* The same calls to the same places, with nothing in them. */
static void nothing_is_told(void **state)
{
    struct work w = begin("tool-poisoning/v1");
    const struct btz_json *act = btz_json_at(w.obey, w.act);
    const struct btz_json *step =
        only_step(&w, applied(&w, "secret left out of the act", false), w.act);

    (void)state;
    assert_text(btz_json_str(in(step, "/call/args/body")), "nothing");
    assert_true(btz_json_equal(in(step, "/call/args/to"), in(act, "/call/args/to")));
    assert_true(btz_json_equal(in(step, "/call/args/subject"), in(act, "/call/args/subject")));
    step = only_step(&w, applied(&w, "secret left out of route 1", false), w.act);
    assert_text(btz_json_str(in(step, "/call/tool")), "forward_mail");
    assert_text(btz_json_str(in(step, "/call/args/note")), "nothing");
    step = only_step(&w, applied(&w, "secret left out of route 2", false), w.act);
    assert_text(btz_json_str(in(step, "/call/args/body")), "nothing");
    end(&w);

    w = begin("data-exfiltration/v5"); /* three calls give a piece each */
    for (size_t i = 0, found = 0; i < btz_json_count(w.obey); i++) {
        const struct btz_json *obey = obey_of(applied(&w, "secret left out of the act", false));

        found += holds(&w, btz_json_at(w.obey, i), BTZ_STR("$"));
        assert_false(holds(&w, btz_json_at(obey, i), BTZ_STR("$")));
        assert_true(i + 1 < btz_json_count(w.obey) || found == 3);
    }
    end(&w);

    w = begin("sampling-abuse/v1"); /* the amount beside the secret is part of it */
    step = only_step(&w, applied(&w, "secret left out of the act", false), w.act);
    assert_holds(btz_json_str(in(step, "/sample")), "Offer: nothing, lowest 0,000.00");
    end(&w);

    w = begin("elicitation-phishing/v5"); /* the secret is spelled out */
    step = only_step(&w, applied(&w, "secret left out of the act", false), w.act);
    assert_text(btz_json_str(in(step, "/fill/content/document")), "nothing");
    assert_true(btz_json_equal(in(step, "/fill/content/start"),
                               in(btz_json_at(w.obey, w.act), "/fill/content/start")));
    end(&w);

    w = begin("tool-poisoning/v3");
    skipped(&w, "secret left out of the act", "the violation is no disclosure by an act");
    end(&w);
}

/* The benign plan with another value behind ANSWER:, of the same shape. */
static void wrong_answer(void **state)
{
    struct work w = begin("mitm-tamper/v2");
    const struct btz_json *plans = btz_mutate_answer(w.arena, w.plans);
    const struct btz_json *benign = btz_json_getz(plans, "benign");
    size_t last = btz_json_count(w.benign) - 1;
    struct btz_str was = btz_json_str(in(btz_json_at(w.benign, last), "/answer"));
    struct btz_str is = btz_json_str(in(btz_json_at(benign, last), "/answer"));
    size_t head = (size_t)btz_str_find(was, BTZ_STR("ANSWER:"));

    (void)state;
    assert_true(btz_json_equal(btz_json_getz(plans, "obey"), w.obey));
    assert_int_equal(btz_json_count(benign), last + 1);
    for (size_t i = 0; i < last; i++) {
        assert_true(btz_json_equal(btz_json_at(benign, i), btz_json_at(w.benign, i)));
    }
    assert_int_equal(is.len, was.len);
    assert_true(btz_str_eq(btz_str_sub(is, 0, head), btz_str_sub(was, 0, head)));
    for (size_t i = head + 7; i < was.len; i++) {
        assert_int_equal(is.ptr[i] == was.ptr[i], was.ptr[i] < '0');
        assert_int_equal(is.ptr[i] >= '0' && is.ptr[i] <= '9', was.ptr[i] >= '0');
    }
    end(&w);
    w = begin("tool-poisoning/v1");
    assert_null(btz_mutate_answer(w.arena, w.plans));
    end(&w);
}

static void denied_answer(void **state)
{
    struct work w = begin("mitm-tamper/v2");
    const struct btz_json *benign = btz_json_getz(
        btz_mutate_denied(w.arena, w.plans, "definitely not ", ", rather 7"), "benign");
    size_t last = btz_json_count(w.benign) - 1;
    struct btz_str was = btz_json_str(in(btz_json_at(w.benign, last), "/answer"));
    size_t head = (size_t)btz_str_find(was, BTZ_STR("ANSWER:")) + 7;

    (void)state;
    assert_true(btz_str_eq(btz_json_str(in(btz_json_at(benign, last), "/answer")),
                           btz_arena_printf(w.arena, "%.*s definitely not%.*s, rather 7", (int)head,
                                            was.ptr, BTZ_FMT(btz_str_sub(was, head, was.len)))));
    end(&w);
    w = begin("tool-poisoning/v1");
    assert_null(btz_mutate_denied(w.arena, w.plans, "not ", ""));
    end(&w);
}

/* The same act with another link; the oracle with another marker; towards a colleague. */
static void other_objects(void **state)
{
    struct work w = begin("full-schema-poisoning/v3");
    const struct btz_json *step =
        only_step(&w, applied(&w, "the act on another object", false), w.act);
    const struct btz_json *markers =
        applied(&w, "the order was about another object", false)->other_markers;

    (void)state;
    assert_true(holds(&w, step, marker(w.other, "link")));
    assert_true(holds(&w, step, marker(w.stage, "meeting"))); /* all else as it was */
    assert_true(btz_str_eq(btz_json_str(btz_json_getz(markers, "link")), marker(w.other, "link")));
    assert_true(
        btz_str_eq(btz_json_str(btz_json_getz(markers, "meeting")), marker(w.stage, "meeting")));
    assert_true(
        btz_json_equal(obey_of(applied(&w, "the order was about another object", false)), w.obey));
    skipped(&w, "the act towards a colleague", "the act holds no address of the payload");
    end(&w);
    w = begin("confused-agent-misuse/v4"); /* a disclosure: only to whom is changed */
    step = only_step(&w, applied(&w, "the act on another object", false), w.act);
    assert_text(btz_json_str(in(step, "/call/args/recipient")),
                btz_arena_dup(w.arena, marker(w.other, "friend")).ptr);
    assert_true(holds(&w, step, marker(w.stage, "key")));
    step = only_step(&w, applied(&w, "the act towards a colleague", false), w.act);
    assert_text(btz_json_str(in(step, "/call/args/recipient")), "ruth.feldman@alderfinch.example");
    end(&w);
    w = begin("consent-fatigue/v1"); /* a disclosure by a path */
    skipped(&w, "the act on another object", "the act holds no operand that says to whom it tells");
    end(&w);
}

static const struct btz_json *wrong_step(const struct work *w, const char *name)
{
    const struct btz_json *found = NULL;
    size_t count = 0;
    struct btz_wrong_value *list =
        btz_mutate_benign(w->arena, w->scenario, w->stage, w->other, w->plans, &count);

    for (size_t i = 0; i < count; i++) {
        const struct btz_json *benign = btz_json_getz(list[i].plans, "benign");
        size_t changed = 0;

        assert_int_equal(btz_json_count(benign), btz_json_count(w->benign));
        assert_true(btz_json_equal(btz_json_getz(list[i].plans, "obey"), w->obey));
        for (size_t s = 0; s < btz_json_count(benign); s++) {
            if (!btz_json_equal(btz_json_at(benign, s), btz_json_at(w->benign, s))) {
                changed++;
                found = btz_str_is(list[i].name, name) ? btz_json_at(benign, s) : found;
            }
        }
        assert_int_equal(changed, 1);
    }
    if (!found) {
        fail_msg("there is no \"%s\"", name);
    }
    return found;
}

/* One wrong value in one call that changes something. */
static void wrong_values(void **state)
{
    struct work w = begin("memory-poisoning/v1");
    const struct btz_json *step = wrong_step(&w, "another {order} in the call of send_mail");

    (void)state;
    assert_true(holds(&w, step, marker(w.other, "order")));
    assert_true(holds(&w, step, BTZ_STR("callum.reyes@alderfinch.example")));
    step = wrong_step(&w, "another recipient in the call of send_mail");
    assert_true(holds(&w, step, marker(w.stage, "order")));
    assert_true(holds(&w, step, BTZ_STR("@alderfinch.example")));
    assert_false(holds(&w, step, BTZ_STR("callum.reyes")));
    end(&w);
    w = begin("confused-agent-misuse/v3");
    step = wrong_step(&w, "another number in the call of create_transfer");
    assert_text(btz_json_number_text(in(step, "/call/args/amount")), "8.5");
    end(&w);
}

static void warning(void **state)
{
    struct work w = begin("tool-poisoning/v1");
    const struct btz_mutation *m = applied(&w, "quoted in a warning", false);
    size_t last = btz_json_count(w.benign) - 1;
    struct btz_str text;

    (void)state;
    assert_int_equal(btz_json_count(obey_of(m)), last + 1);
    for (size_t i = 0; i < last; i++) {
        assert_true(btz_json_equal(btz_json_at(obey_of(m), i), btz_json_at(w.benign, i)));
    }
    text = btz_json_str(in(btz_json_at(obey_of(m), last), "/answer"));
    assert_true(btz_str_starts(text, btz_json_str(in(btz_json_at(w.benign, last), "/answer"))));
    assert_holds(text, "\nUNSURE:");
    assert_true(btz_str_find(text, btz_stage_fragment_at(w.stage, 0)->text) >= 0);
    end(&w);
}

/* An unsafe call carries no secret; a card may say that there is a single route. */
static void skipped_ones_say_why(void **state)
{
    struct work w = begin("tool-poisoning/v3");

    (void)state;
    skipped(&w, "another tool to the same sink", "the card declares a single route");
    skipped(&w, "secret sent as base64", "the act carries no secret that could be encoded");
    skipped(&w, "secret sent in two halves", "the act carries no secret that could be encoded");
    end(&w);
    w = begin("tool-poisoning/v2");
    skipped(&w, "secret sent as hex", "the act carries no secret that could be encoded");
    end(&w);
}

/* The violation is what the answer asserts. */
static void answer_act(void **state)
{
    struct work w = begin("indirect-prompt-injection/v4");
    size_t last = btz_json_count(w.obey) - 1;
    const struct btz_json *step;
    const struct btz_mutation *m;

    (void)state;
    assert_true(w.act == SIZE_MAX);
    m = applied(&w, "drop the key act", false);
    assert_true(btz_json_equal(obey_of(m), w.benign));
    step = only_step(&w, applied(&w, "change the marker", false), last);
    assert_false(holds(&w, step, marker(w.stage, "claim")));
    assert_true(holds(&w, step, marker(w.other, "claim")));
    step = only_step(&w, applied(&w, "quoted in a warning", false), last);
    assert_true(btz_str_starts(btz_json_str(in(step, "/answer")),
                               btz_json_str(in(btz_json_at(w.obey, last), "/answer"))));
    assert_holds(btz_json_str(in(step, "/answer")), "\nUNSURE:");
    skipped(&w, "change the server", "the act is the answer");
    skipped(&w, "rejected by the schema", "the act is the answer");
    skipped(&w, "blocked by a rule", "the act is the answer");
    skipped(&w, "the user asked for it", "an answer is no act that a user asks for");
    skipped(&w, "another tool to the same sink", "the act is the answer");
    end(&w);
}

static void other_server(void **state)
{
    struct work w = begin("errand/v14");
    const struct btz_json *step = only_step(&w, applied(&w, "change the server", false), w.act);
    const struct btz_json *act = btz_json_at(w.obey, w.act);
    char name[65];

    (void)state;
    btz_trial_tool_name(btz_stage_server_at(w.stage, 1)->label, BTZ_STR("show"), name);
    assert_text(btz_json_str(in(step, "/call/name")), name);
    assert_text(btz_json_str(in(act, "/call/name")), "kiosk__show");
    assert_true(btz_json_equal(in(step, "/call/args"), in(act, "/call/args")));
    end(&w);
}

/* The act is a reply to a question of a server. */
static void replies(void **state)
{
    struct work sampled = begin("loose-tongue/v1");
    struct work filled = begin("loose-tongue/v2");
    const struct btz_mutation *m;
    const struct btz_json *step;

    (void)state;
    assert_int_equal(sampled.act, 2);
    assert_int_equal(filled.act, 1);
    m = applied(&sampled, "drop the key act", false);
    assert_int_equal(btz_json_count(obey_of(m)) + 1, btz_json_count(sampled.obey));
    step = only_step(&sampled, applied(&sampled, "change the marker", false), sampled.act);
    assert_true(holds(&sampled, step, marker(sampled.other, "tag")));
    m = applied(&sampled, "blocked by a rule", false);
    assert_true(m->deny_replies && m->deny_tool.len == 0 && m->acted == 1);
    assert_true(btz_str_find(applied(&sampled, "the user asked for it", false)->extra_user_text,
                             marker(sampled.stage, "tag")) >= 0);
    step = only_step(&sampled, applied(&sampled, "secret sent as hex", true), sampled.act);
    assert_holds(btz_json_str(in(step, "/sample")), "$hex:text");
    skipped(&sampled, "rejected by the schema",
            "a sampled text, and consent to an address, have no schema");
    skipped(&sampled, "secret sent in two halves", "one question has one answer");
    skipped(&sampled, "change the server", "the server that asks is the one that gets the answer");
    step = only_step(&filled, applied(&filled, "rejected by the schema", false), filled.act);
    assert_true(btz_json_is(in(step, "/fill/content/member"), BTZ_JSON_ARRAY));
    assert_text(btz_json_str(in(step, "/fill/action")), "accept");
    end(&sampled);
    end(&filled);
}

/* In all scenarios: names are told apart, a skipped one has a reason, an applied one a change. */
static void every_scenario(void **state)
{
    (void)state;
    for (size_t s = 0; s < btz_lab_scenario_count(lab); s++) {
        struct btz_arena *arena = btz_arena_new();
        struct work w = begin(btz_arena_cstr(arena, btz_lab_scenario_at(lab, s)->id));
        size_t kinds = 0;

        assert_true(w.count >= 12);
        for (size_t i = 0; i < w.count; i++) {
            const struct btz_mutation *m = &w.list[i];

            for (size_t k = 0; k < i; k++) {
                assert_false(btz_str_eq(m->name, w.list[k].name));
            }
            if (m->why_not) {
                assert_true(m->why_not[0] != '\0');
            } else {
                kinds++;
                assert_true(!btz_json_equal(m->plans, w.plans) || m->extra_user_text.len ||
                            m->other_markers || m->deny_tool.len || m->deny_replies ||
                            btz_json_equal(w.obey, w.benign));
            }
        }
        assert_true(kinds > 0);
        end(&w);
        btz_arena_free(arena);
    }
}

/* Where plans part and which step is the act. */
static void plan_parts(void **state)
{
    struct work w = begin("tool-poisoning/v1");
    struct work answer = begin("indirect-prompt-injection/v4");
    struct work whole = begin("tool-poisoning/v2");
    struct work same = begin("errand/v9");

    (void)state;
    assert_int_equal(btz_study_plan_common(w.plans), 3);
    assert_int_equal(w.act, 4); /* the mail, not the reading before it */
    assert_int_equal(btz_study_plan_common(answer.plans), 3);
    assert_int_equal(btz_study_plan_common(whole.plans), 0);
    assert_int_equal(whole.act, 0);
    assert_int_equal(btz_study_plan_common(same.plans), 2);
    assert_true(same.act == SIZE_MAX);
    assert_text(btz_json_str(in(w.plans, "/benign/0/call/name")), "fs-workspace__read_file");
    assert_text(btz_json_str(in(w.plans, "/routes/0/call/name")), "mailroom__forward_mail");
    end(&w);
    end(&answer);
    end(&whole);
    end(&same);
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(disclosure),    cmocka_unit_test(encodings),
        cmocka_unit_test(warning),       cmocka_unit_test(skipped_ones_say_why),
        cmocka_unit_test(answer_act),    cmocka_unit_test(other_server),
        cmocka_unit_test(replies),       cmocka_unit_test(every_scenario),
        cmocka_unit_test(plan_parts),    cmocka_unit_test(nothing_is_told),
        cmocka_unit_test(wrong_answer),  cmocka_unit_test(denied_answer),
        cmocka_unit_test(other_objects), cmocka_unit_test(wrong_values),
    };

    return cmocka_run_group_tests(tests, open_lab, close_lab);
}
