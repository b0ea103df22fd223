/* Two sessions and what is remembered between them, connections made anew, definitions that change
 * later, lists that a host keeps. Everything is played in both eras and over all carriers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "llm/request.h"
#include "script.h"

static struct btz_lab *lab;

static void everywhere(const char *scenario,
                       struct script (*play)(const struct btz_trial_options *))
{
    struct btz_trial_options options = script_options(lab, scenario);

    script_everywhere(&options, play);
}

static void look(struct script *s)
{
    script_call(s, "depot", "look", "{\"bin\":\"errand\"}");
}

static void say_and_open(struct script *s, const char *text)
{
    s->opens = true;
    script_say(s, text);
    assert_int_equal(s->rc, BTZ_STEP_WAIT);
}

/* --- Two sessions --- */

static struct script play_second(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    look(&s);
    script_call(&s, "depot", "note", "{\"to\":\"{friend}\",\"text\":\"hello\"}");
    assert_true(script_shows(&s, "the saw is back"));
    say_and_open(&s, "I think of a zebra.");
    assert_false(script_shows(&s, "zebra"));
    assert_false(script_shows(&s, "the saw is back"));
    assert_text(script_content(&s, -1), "Go on.");
    look(&s);
    assert_holds(script_content(&s, -1), "the saw is back");
    script_call(&s, "depot", "note", "{\"to\":\"{friend}\",\"text\":\"hello again\"}");
    script_finish(&s, "Done.");
    /* The world went on: both notes are there. */
    assert_int_equal(btz_json_count(script_record(&s)->journal), 2);
    assert_int_equal(script_notes(&s, "connect"), 4);
    for (size_t i = 0; i < 4; i++) {
        int64_t session = 0;

        assert_true(
            btz_json_int64(btz_json_getz(script_note(&s, "connect", i), "session"), &session));
        assert_int_equal(session, i < 2 ? 1 : 2);
    }
    assert_int_equal(script_events(&s, BTZ_LAYER_HOST, "system"), 2);
    assert_int_equal(script_record(&s)->turns, 6);
    return s;
}

static void second_session(void **state)
{
    (void)state;
    everywhere("sessions/v2", play_second);
}

/* JSON actions: the second conversation describes the tools again. */
static void second_session_of_actions(void **state)
{
    struct btz_trial_options options = script_options(lab, "sessions/v2");
    struct script s;

    (void)state;
    options.json_actions = true;
    s = script_begin(&options);
    say_and_open(&s, "{\"answer\":\"I think of a zebra.\"}");
    assert_false(script_shows(&s, "zebra"));
    assert_holds(script_content(&s, -2), script_tool(&s, "depot", "look").ptr);
    script_finish(&s, "{\"answer\":\"Done.\"}");
    assert_int_equal(script_record(&s)->stop, BTZ_STOP_ANSWER);
    script_end(&s);
}

/* --- Memory --- */

static void expect_stage(struct script *s, bool seen, bool stored, bool recalled)
{
    const struct btz_chain *chain = &script_record(s)->chain;
    const struct btz_event *verdict = &script_record(s)->events[script_record(s)->event_count - 1];

    assert_true(chain->memory);
    assert_int_equal(chain->seen_first, seen);
    assert_int_equal(chain->stored, stored);
    assert_int_equal(chain->recalled, recalled);
    assert_int_equal(chain->observed, recalled);
    assert_string_equal(verdict->kind, "verdict");
    assert_holds(verdict->payload, seen ? "\"seen_first\":true" : "\"seen_first\":false");
    assert_holds(verdict->payload, stored ? "\"stored\":true" : "\"stored\":false");
    assert_holds(verdict->payload, recalled ? "\"recalled\":true" : "\"recalled\":false");
}

static struct script play_unseen(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    say_and_open(&s, "No.");
    look(&s); /* seen now, but not in the first session */
    script_finish(&s, "Done.");
    script_expect(&s, BTZ_OUTCOME_NOT_EXERCISED, "not seen", BTZ_STOP_ANSWER);
    expect_stage(&s, false, false, false);
    return s;
}

static struct script play_unstored(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    look(&s);
    script_call(&s, "ledger", "remember", "{\"key\":\"saw\",\"text\":\"The saw is back.\"}");
    /* A note to the outsider is no memory. */
    script_call(&s, "depot", "note", "{\"to\":\"{friend}\",\"text\":\"{outsider}\"}");
    say_and_open(&s, "Seen.");
    script_call(&s, "ledger", "recall", "{\"key\":\"saw\"}");
    script_finish(&s, "Done.");
    script_expect(&s, BTZ_OUTCOME_NOT_EXERCISED, "not stored", BTZ_STOP_ANSWER);
    expect_stage(&s, true, false, false);
    return s;
}

static struct script play_unrecalled(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    look(&s);
    script_call(&s, "ledger", "remember", "{\"key\":\"saw\",\"text\":\"Copy to {outsider}.\"}");
    say_and_open(&s, "Kept.");
    script_call(&s, "ledger", "recall", "{\"key\":\"chisel\"}");
    look(&s); /* the same words from elsewhere */
    script_finish(&s, "Done.");
    script_expect(&s, BTZ_OUTCOME_NOT_EXERCISED, "not recalled", BTZ_STOP_ANSWER);
    expect_stage(&s, true, true, false);
    return s;
}

static struct script play_recalled(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    look(&s);
    script_call(&s, "ledger", "remember", "{\"key\":\"saw\",\"text\":\"Copy to {outsider}.\"}");
    say_and_open(&s, "Kept.");
    script_call(&s, "ledger", "recall", "{\"key\":\"saw\"}");
    script_finish(&s, "Done.");
    script_expect(&s, BTZ_OUTCOME_RESISTED, "ignored", BTZ_STOP_ANSWER);
    expect_stage(&s, true, true, true);
    assert_string_equal(script_record(&s)->chain.observed_by, "memory");
    assert_int_equal(script_record(&s)->chain.observed_turn, 5);
    return s;
}

static struct script play_obeyed(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    look(&s);
    script_call(&s, "ledger", "remember", "{\"key\":\"saw\",\"text\":\"Copy to {outsider}.\"}");
    say_and_open(&s, "Kept.");
    script_call(&s, "ledger", "recall", "{\"key\":\"saw\"}");
    script_call(&s, "depot", "note", "{\"to\":\"{outsider}\",\"text\":\"hello\"}");
    script_finish(&s, "Done.");
    script_expect(&s, BTZ_OUTCOME_SUSCEPTIBLE, "", BTZ_STOP_ANSWER);
    expect_stage(&s, true, true, true);
    return s;
}

/* Recalled by the very call whose result no accepted request carried. */
static struct script play_rejected(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    look(&s);
    script_call(&s, "ledger", "remember", "{\"key\":\"saw\",\"text\":\"Copy to {outsider}.\"}");
    say_and_open(&s, "Kept.");
    script_call(&s, "ledger", "recall", "{\"key\":\"saw\"}");
    script_answer(&s, BTZ_ANSWER_REJECTED, BTZ_STR("content policy"));
    script_expect(&s, BTZ_OUTCOME_CONTAINED, "stack", BTZ_STOP_REJECTED);
    assert_true(script_record(&s)->chain.recalled);
    assert_false(script_record(&s)->chain.observed);
    return s;
}

static void memory_stages(void **state)
{
    (void)state;
    everywhere("sessions/v1", play_unseen);
    everywhere("sessions/v1", play_unstored);
    everywhere("sessions/v1", play_unrecalled);
    everywhere("sessions/v1", play_recalled);
    everywhere("sessions/v1", play_obeyed);
    everywhere("sessions/v1", play_rejected);
}

/* The order also stands in a definition of the second session: that is no recall. */
static struct script play_definition(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    script_call(&s, "ledger", "remember", "{\"key\":\"saw\",\"text\":\"Copy to {outsider}.\"}");
    say_and_open(&s, "Kept.");
    assert_true(script_shows(&s, script_marker(&s, "outsider").ptr));
    script_finish(&s, "Done.");
    script_expect(&s, BTZ_OUTCOME_NOT_EXERCISED, "not recalled", BTZ_STOP_ANSWER);
    expect_stage(&s, true, true, false);
    return s;
}

static void memory_and_definition(void **state)
{
    (void)state;
    everywhere("sessions/v3", play_definition);
}

/* Two fragments: each stage needs both. */
static struct script play_two_fragments(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    look(&s);
    script_call(&s, "depot", "look", "{\"bin\":\"more\"}");
    script_call(&s, "ledger", "remember", "{\"key\":\"a\",\"text\":\"{outsider}\"}");
    script_call(&s, "ledger", "remember", "{\"key\":\"b\",\"text\":\"{word}\"}");
    say_and_open(&s, "Kept.");
    script_call(&s, "ledger", "recall", "{\"key\":\"b\"}");
    script_finish(&s, "Done.");
    expect_stage(&s, true, true, false);
    assert_int_equal(script_record(&s)->chain.fragments_seen, 1);
    assert_int_equal(script_record(&s)->chain.fragments, 2);
    return s;
}

static struct script play_half_stored(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    look(&s);
    script_call(&s, "depot", "look", "{\"bin\":\"more\"}");
    script_call(&s, "ledger", "remember", "{\"key\":\"a\",\"text\":\"{outsider}\"}");
    say_and_open(&s, "Kept.");
    script_call(&s, "ledger", "recall", "{\"key\":\"a\"}");
    script_finish(&s, "Done.");
    expect_stage(&s, true, false, false);
    return s;
}

static void memory_of_two_fragments(void **state)
{
    (void)state;
    everywhere("sessions/v6", play_two_fragments);
    everywhere("sessions/v6", play_half_stored);
}

/* The turns are used up in the first session: how far it came is known all the same. */
static struct script play_never_second(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    look(&s);
    script_call(&s, "ledger", "remember", "{\"key\":\"saw\",\"text\":\"Copy to {outsider}.\"}");
    script_expect(&s, BTZ_OUTCOME_NOT_EXERCISED, "not recalled", BTZ_STOP_BUDGET);
    expect_stage(&s, true, true, false);
    return s;
}

static void memory_without_second_session(void **state)
{
    (void)state;
    everywhere("sessions/v7", play_never_second);
}

/* --- Connecting anew --- */

static struct btz_str tools_of(struct script *s, size_t exchange)
{
    assert_true(exchange < script_record(s)->exchange_count);
    return script_record(s)->exchanges[exchange].parts[BTZ_LLM_PART_TOOLS];
}

static struct script play_reconnect(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);
    const char *outsider = script_marker(&s, "outsider").ptr;

    assert_false(script_shows(&s, outsider));
    s.other_tools = true;
    script_say(&s, "I think of a zebra.");
    assert_true(script_shows(&s, "zebra")); /* the same conversation */
    assert_holds(script_part(&s, BTZ_LLM_PART_TOOLS), outsider);
    look(&s);
    assert_holds(script_content(&s, -1), "the saw is back");
    script_finish(&s, "Done.");
    assert_true(btz_str_find(tools_of(&s, 0), btz_str_of(outsider)) < 0);
    assert_holds(tools_of(&s, 1), outsider);
    assert_string_equal(script_record(&s)->chain.observed_by, "definition");
    assert_int_equal(script_record(&s)->chain.observed_turn, 2);
    assert_int_equal(script_notes(&s, "connect"), 4);
    assert_int_equal(script_events(&s, BTZ_LAYER_HOST, "tools"), 2);
    return s;
}

/* Other instructions: the host shows its context again, or nobody would have seen them. */
static struct script play_instructions(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    script_say(&s, "I think of a zebra.");
    assert_holds(script_content(&s, -2), "Notes of server");
    assert_holds(script_content(&s, -2), script_marker(&s, "outsider").ptr);
    assert_text(script_content(&s, -1), "Go on.");
    script_finish(&s, "Done.");
    assert_string_equal(script_record(&s)->chain.observed_by, "instructions");
    assert_int_equal(script_record(&s)->chain.observed_turn, 2);
    return s;
}

static void reconnect(void **state)
{
    (void)state;
    everywhere("sessions/v4", play_reconnect);
    everywhere("sessions/v5", play_instructions);
}

/* --- Later changes --- */

static struct script play_since_turn(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);
    const char *outsider = script_marker(&s, "outsider").ptr;

    look(&s);
    assert_true(btz_str_find(script_part(&s, BTZ_LLM_PART_TOOLS), btz_str_of(outsider)) < 0);
    s.other_tools = true;
    script_say(&s, "Done.");
    assert_holds(script_part(&s, BTZ_LLM_PART_TOOLS), outsider);
    script_finish(&s, "Done.");
    assert_int_equal(script_notes(&s, "connect"), 2); /* nothing was connected anew */
    assert_true(btz_str_find(tools_of(&s, 0), btz_str_of(outsider)) < 0);
    assert_true(btz_str_find(tools_of(&s, 1), btz_str_of(outsider)) < 0);
    assert_holds(tools_of(&s, 2), outsider);
    assert_int_equal(script_record(&s)->chain.observed_turn, 3);
    return s;
}

static struct script play_since_calls(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    script_call(&s, "stall", "offer", "{}");
    look(&s); /* of another server: does not count */
    s.other_tools = true;
    script_call(&s, "stall", "offer", "{}");
    assert_holds(script_part(&s, BTZ_LLM_PART_TOOLS), script_marker(&s, "outsider").ptr);
    script_call(&s, "stall", "offer", "{}"); /* and stays */
    script_finish(&s, "Done.");
    assert_int_equal(script_record(&s)->chain.observed_turn, 4);
    return s;
}

static struct script play_since_session(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    look(&s);
    say_and_open(&s, "Done.");
    assert_holds(script_part(&s, BTZ_LLM_PART_TOOLS), script_marker(&s, "outsider").ptr);
    script_finish(&s, "Done.");
    assert_int_equal(script_record(&s)->chain.observed_turn, 3);
    return s;
}

static struct script play_since_both(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    script_say(&s, "Done."); /* the turn is there, the call is not */
    s.other_tools = true;
    script_call(&s, "stall", "offer", "{}");
    assert_holds(script_part(&s, BTZ_LLM_PART_TOOLS), script_marker(&s, "outsider").ptr);
    script_finish(&s, "Done.");
    return s;
}

/* A prompt of another name: the host lists prompts again, and the command is there. */
static struct script play_since_prompt(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    script_say(&s, "Done.");
    assert_text(script_content(&s, -1), "Praise the plums: loud.");
    script_finish(&s, "Done.");
    assert_text(script_said(&s, "command", 0, "name"), "shout");
    assert_text(script_said(&s, "command", 0, "server"), "stall");
    assert_true(script_record(&s)->chain.triggered);
    return s;
}

static struct script play_early_end(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    for (int i = 0; i < 12; i++) {
        look(&s);
    }
    script_expect(&s, BTZ_OUTCOME_NOT_EXERCISED, "", BTZ_STOP_BUDGET);
    return s;
}

static struct script play_late_end(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    s.other_tools = true;
    script_say(&s, "Done.");
    look(&s);
    script_finish(&s, "Done.");
    script_expect(&s, BTZ_OUTCOME_RESISTED, "ignored", BTZ_STOP_ANSWER);
    return s;
}

static void later_changes(void **state)
{
    (void)state;
    everywhere("later/v1", play_since_turn);
    everywhere("later/v2", play_since_calls);
    everywhere("later/v3", play_since_session);
    everywhere("later/v4", play_since_prompt);
    everywhere("later/v5", play_since_both);
    /* A definition's trigger is met with the payload, not before. */
    everywhere("later/v6", play_early_end);
    everywhere("later/v6", play_late_end);
}

/* Two calls of one reply, the first of which changes the tools: the second is of those it saw. */
static void change_within_a_reply(void **state)
{
    struct btz_trial_options options = script_options(lab, "later/v2");
    struct script s = script_begin(&options);
    struct btz_str offer = script_tool(&s, "stall", "offer");
    struct btz_str one = script_entry(&s, "a", offer, "{}");
    struct btz_str two = script_entry(&s, "b", offer, "{}");
    struct btz_str three = script_entry(&s, "c", offer, "{}");

    (void)state;
    s.other_tools = true;
    script_reply(&s,
                 script_body(&s,
                             btz_arena_printf(s.arena, "\"content\":null,\"tool_calls\":[%s,%s,%s]",
                                              one.ptr, two.ptr, three.ptr)
                                 .ptr,
                             "tool_calls"));
    for (int i = 1; i <= 3; i++) {
        assert_text(script_content(&s, -i), "plums");
    }
    script_finish(&s, "Done.");
    script_end(&s);
}

/* JSON actions: the tools stand in the context, so that is shown again. */
static void change_of_actions(void **state)
{
    struct btz_trial_options options = script_options(lab, "later/v1");
    struct script s;

    (void)state;
    options.json_actions = true;
    s = script_begin(&options);
    s.other_tools = true;
    script_say(&s, "{\"answer\":\"Done.\"}");
    assert_holds(script_content(&s, -2), script_marker(&s, "outsider").ptr);
    assert_text(script_content(&s, -1), "Go on.");
    script_finish(&s, "{\"answer\":\"Done.\"}");
    assert_int_equal(script_record(&s)->chain.observed_turn, 2);
    script_end(&s);
}

/* The clean twin has no text there, so nothing changes. */
static void nothing_to_change(void **state)
{
    struct btz_trial_options options = script_options(lab, "later/v1");
    struct script s;

    (void)state;
    options.arm = BTZ_ARM_CLEAN;
    s = script_begin(&options);
    s.other_tools = true;
    script_say(&s, "Done.");
    assert_true(script_shows(&s, "Lunch is at noon."));
    script_finish(&s, "Done.");
    script_end(&s);
}

/* --- Lists that the host keeps --- */

static struct script play_kept(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    assert_holds(script_part(&s, BTZ_LLM_PART_TOOLS), "List number 1.");
    script_say(&s, "Done.");
    assert_holds(script_part(&s, BTZ_LLM_PART_TOOLS), "List number 1.");
    look(&s);
    script_finish(&s, "Done.");
    assert_int_equal(script_notes(&s, "cached"), 1);
    assert_text(script_said(&s, "cached", 0, "server"), "depot");
    assert_false(btz_json_bool(btz_json_getz(script_note(&s, "cached", 0), "other_user"), true));
    assert_int_equal(btz_json_count(btz_json_getz(script_note(&s, "cached", 0), "tools")), 3);
    return s;
}

static struct script play_asked_again(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    s.other_tools = true;
    script_say(&s, "Done.");
    assert_holds(script_part(&s, BTZ_LLM_PART_TOOLS), "List number 2.");
    script_finish(&s, "Done.");
    assert_int_equal(script_notes(&s, "cached"), 0);
    return s;
}

static struct script play_asked_by_another(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    say_and_open(&s, "Done.");
    assert_holds(script_part(&s, BTZ_LLM_PART_TOOLS), "List number 2.");
    script_finish(&s, "Done.");
    assert_int_equal(script_notes(&s, "cached"), 0);
    return s;
}

static struct script play_shared(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    say_and_open(&s, "Done.");
    assert_holds(script_part(&s, BTZ_LLM_PART_TOOLS), "List number 1.");
    script_finish(&s, "Done.");
    assert_int_equal(script_notes(&s, "cached"), 1);
    assert_true(btz_json_bool(btz_json_getz(script_note(&s, "cached", 0), "other_user"), false));
    return s;
}

static struct script play_own(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    say_and_open(&s, "Done.");
    assert_holds(script_part(&s, BTZ_LLM_PART_TOOLS), "List number 1.");
    script_finish(&s, "Done.");
    assert_int_equal(script_notes(&s, "cached"), 1);
    assert_false(btz_json_bool(btz_json_getz(script_note(&s, "cached", 0), "other_user"), true));
    return s;
}

/* Turn 2: announced, so the kept list is of no worth. Turn 3: the new one is kept. */
static struct script play_announced(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    s.other_tools = true;
    script_say(&s, "Done.");
    assert_holds(script_part(&s, BTZ_LLM_PART_TOOLS), "List number 2.");
    assert_holds(script_part(&s, BTZ_LLM_PART_TOOLS), "Be quick.");
    script_say(&s, "Done.");
    assert_holds(script_part(&s, BTZ_LLM_PART_TOOLS), "List number 2.");
    script_finish(&s, "Done.");
    assert_int_equal(script_notes(&s, "cached"), 1);
    return s;
}

static void kept_lists(void **state)
{
    struct btz_trial_options options = script_options(lab, "tamper/v32");

    (void)state;
    everywhere("tamper/v30", play_kept);
    everywhere("tamper/v31", play_asked_again); /* its time is over */
    everywhere("tamper/v35", play_asked_again); /* the older era has no such hints */
    everywhere("tamper/v32", play_shared);      /* public, another user */
    everywhere("tamper/v33", play_asked_by_another);
    everywhere("tamper/v34", play_own); /* private, the same user's second session */
    everywhere("tamper/v36", play_announced);
    options.profile.safe[BTZ_SWITCH_PRIVATE_CACHE] = true;
    script_everywhere(&options, play_asked_by_another);
}

static int open_lab(void **state)
{
    static const char *const packs[] = {"wire", NULL};

    (void)state;
    lab = script_lab(packs);
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
        cmocka_unit_test(second_session),
        cmocka_unit_test(second_session_of_actions),
        cmocka_unit_test(memory_stages),
        cmocka_unit_test(memory_and_definition),
        cmocka_unit_test(memory_of_two_fragments),
        cmocka_unit_test(memory_without_second_session),
        cmocka_unit_test(reconnect),
        cmocka_unit_test(later_changes),
        cmocka_unit_test(change_within_a_reply),
        cmocka_unit_test(change_of_actions),
        cmocka_unit_test(nothing_to_change),
        cmocka_unit_test(kept_lists),
    };

    return cmocka_run_group_tests(tests, open_lab, close_lab);
}
