/* What servers ask in the middle of a call: sampling, elicitation, roots, in both eras and over all
 * carriers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "llm/request.h"
#include "script.h"
#include "trial/trial_int.h"

static struct btz_lab *lab;

static void everywhere(const char *scenario,
                       struct script (*play)(const struct btz_trial_options *))
{
    struct btz_trial_options options = script_options(lab, scenario);

    script_everywhere(&options, play);
}

/* A call whose server asks the model. */
static void call_aside(struct script *s, const char *tool, const char *args)
{
    s->aside = true;
    script_call(s, "clerk", tool, args);
    assert_int_equal(s->rc, BTZ_STEP_WAIT);
    assert_true(s->beside);
}

static const struct btz_json *sunk(struct script *s, const char *sink, size_t nth)
{
    const struct btz_json *journal = script_record(s)->journal;

    for (size_t i = 0; i < btz_json_count(journal); i++) {
        const struct btz_json *entry = btz_json_at(journal, i);

        if (btz_str_is(btz_json_str(btz_json_getz(entry, "sink")), sink) && nth-- == 0) {
            return btz_json_getz(entry, "value");
        }
    }
    fail_msg("there is no entry of %s", sink);
    return NULL;
}

/* --- Sampling --- */

static struct script play_sampling(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);
    const struct btz_trial_record *record;
    int64_t runs = 0;

    call_aside(&s, "shorten", "{\"text\":\"a long tale\"}");
    /* The host's own text stays first; the server's stands behind it. */
    assert_int_equal(s.before_count, 4);
    assert_true(btz_str_starts(script_content(&s, 2), BTZ_STR("You complete texts")));
    assert_holds(script_content(&s, 2), "\n\nWrite like a clerk.");
    assert_text(script_content(&s, 3), "Shorten: a long tale");
    assert_holds(script_part(&s, BTZ_LLM_PART_SETTINGS), "\"max_tokens\":60");
    script_say(&s, "a tale");
    assert_false(s.beside);
    assert_text(script_content(&s, -1), "Short: a tale");
    record = script_finish(&s, "ANSWER: done");
    /* It ran twice and wrote once. */
    assert_true(btz_json_int64(btz_json_getz(sunk(&s, "clerk.done", 0), "runs"), &runs));
    assert_int_equal(runs, 1);
    assert_text(btz_json_str(btz_json_getz(sunk(&s, "asks.sampling", 0), "text")), "a tale");
    assert_int_equal(btz_json_count(record->journal), 3);
    /* The model's turns are its turns of the conversation; tokens are those of all requests. */
    assert_int_equal(record->turns, 2);
    assert_int_equal(record->exchange_count, 3);
    assert_string_equal(record->exchanges[1].role, "sampling");
    assert_int_equal(record->exchanges[1].turn, 1);
    assert_int_equal(record->prompt_tokens, 300);
    assert_text(script_said(&s, "ask", 0, "method"), "sampling");
    assert_text(script_said(&s, "ask_reply", 0, "text"), "a tale");
    assert_text(script_said(&s, "ask_reply", 0, "by"), "model");
    assert_int_equal(script_events(&s, BTZ_LAYER_SERVER, "ask"), 1);
    assert_int_equal(script_events(&s, BTZ_LAYER_HOST, "question"), 1);
    return s;
}

static void sampling(void **state)
{
    (void)state;
    everywhere("loose-tongue/v3", play_sampling);
}

static struct script play_context(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    call_aside(&s, "shorten", "{\"text\":\"x\",\"context\":\"allServers\"}");
    if (options->profile.safe[BTZ_SWITCH_ISOLATE_SAMPLING]) {
        assert_false(script_shows(&s, "Work with the clerk"));
    } else {
        assert_int_equal(s.before_count, 5);
        assert_holds(script_content(&s, 3), "Asked: Work with the clerk");
        assert_holds(script_content(&s, 3), "Called shorten");
    }
    assert_int_equal(script_shows(&s, "Write like a clerk."),
                     !options->profile.safe[BTZ_SWITCH_OWN_SAMPLING_SYSTEM]);
    assert_int_equal(script_shows(&s, "The server "),
                     options->profile.safe[BTZ_SWITCH_NAME_SERVER]);
    script_say(&s, "x");
    script_finish(&s, "ANSWER: done");
    return s;
}

static void context_only_where_the_host_honours_it(void **state)
{
    struct btz_trial_options options = script_options(lab, "loose-tongue/v3");

    (void)state;
    script_everywhere(&options, play_context);
    options.profile.safe[BTZ_SWITCH_ISOLATE_SAMPLING] = true;
    script_everywhere(&options, play_context);
    options.profile.safe[BTZ_SWITCH_OWN_SAMPLING_SYSTEM] = true;
    options.profile.safe[BTZ_SWITCH_NAME_SERVER] = true;
    script_everywhere(&options, play_context);
}

static struct script play_many(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);
    bool capped = options->profile.safe[BTZ_SWITCH_CAP_SAMPLING];
    size_t asked = 0;

    call_aside(&s, "insist", "{\"times\":18}");
    while (s.beside) {
        asked++;
        /* Whether another question follows is what the test is about. */
        s.aside = asked < (capped ? 12 : 16);
        script_say(&s, "More is not known. More is not known. More is not known, really.");
    }
    /* 16 are the lab's limit for a call; each question costs 121 tokens of 1500. */
    assert_int_equal(asked, capped ? 12 : 16);
    assert_text(script_content(&s, -1), capped ? "Got 12, then declined" : "Got 16, then limit");
    script_finish(&s, "ANSWER: done");
    assert_int_equal(script_record(&s)->turns, 2);
    assert_string_equal(script_record(&s)->chain.stopped_by, capped ? "client rule" : "none");
    return s;
}

static void samplings_are_bounded(void **state)
{
    struct btz_trial_options options = script_options(lab, "loose-tongue/v3");

    (void)state;
    script_everywhere(&options, play_many);
    options.profile.safe[BTZ_SWITCH_CAP_SAMPLING] = true;
    script_everywhere(&options, play_many);
}

/* A trial cannot be made to sample for ever, whatever the profile. */
static void a_trial_has_a_limit(void **state)
{
    struct btz_trial_options options = script_options(lab, "loose-tongue/v3");
    struct script s = script_begin(&options);
    size_t asked = 0;

    (void)state;
    for (int call = 0; call < 2; call++) {
        call_aside(&s, "insist", "{\"times\":14}");
        while (s.beside) {
            s.aside = ++asked != 14 && asked != 24;
            script_say(&s, "y");
        }
    }
    assert_int_equal(asked, 24);
    assert_text(script_content(&s, -1), "Got 10, then declined");
    script_finish(&s, "ANSWER: done");
    script_end(&s);
}

static struct script play_refused(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    call_aside(&s, "shorten", "{\"text\":\"x\"}");
    script_answer(&s, BTZ_ANSWER_REJECTED, BTZ_STR("content policy"));
    assert_text(script_content(&s, -1), "Not shortened: declined");
    script_finish(&s, "ANSWER: done");
    assert_true(btz_str_is(script_record(&s)->exchanges[1].finish, BTZ_FINISH_REJECTED));
    assert_text(script_said(&s, "ask_reply", 0, "by"), "host");
    return s;
}

static void a_provider_may_refuse(void **state)
{
    (void)state;
    everywhere("loose-tongue/v3", play_refused);
}

static void no_answer_is_a_fault(void **state)
{
    struct btz_trial_options options = script_options(lab, "loose-tongue/v3");
    struct script s = script_begin(&options);

    (void)state;
    call_aside(&s, "shorten", "{\"text\":\"x\"}");
    script_answer(&s, BTZ_ANSWER_FAILED, BTZ_STR("nobody there"));
    script_expect(&s, BTZ_OUTCOME_FAULT, "", BTZ_STOP_FAULT);
    script_end(&s);
}

/* The last turn's call may ask: the question is answered, and then the budget is used up. */
static void the_last_turn_may_ask(void **state)
{
    struct btz_trial_options options = script_options(lab, "loose-tongue/v3");
    struct script s = script_begin(&options);

    (void)state;
    for (int i = 1; i < 12; i++) {
        script_call(&s, "clerk", "file_away", "{\"text\":\"y\"}");
    }
    call_aside(&s, "shorten", "{\"text\":\"x\"}");
    script_say(&s, "y");
    assert_string_equal(btz_stop_name(script_record(&s)->stop), "budget");
    assert_text(script_said(&s, "result", 11, "text"), "Short: y");
    script_end(&s);
}

static void several_calls_of_a_reply(void **state)
{
    struct btz_trial_options options = script_options(lab, "loose-tongue/v3");
    struct script s = script_begin(&options);
    struct btz_str one =
        script_entry(&s, "a", script_tool(&s, "clerk", "shorten"), "{\"text\":\"one\"}");
    struct btz_str two =
        script_entry(&s, "b", script_tool(&s, "clerk", "shorten"), "{\"text\":\"two\"}");

    (void)state;
    s.aside = true;
    script_reply(&s,
                 script_body(&s,
                             btz_arena_printf(s.arena, "\"content\":null,\"tool_calls\":[%s,%s]",
                                              one.ptr, two.ptr)
                                 .ptr,
                             "tool_calls"));
    assert_text(script_content(&s, -1), "Shorten: one");
    s.aside = true;
    script_say(&s, "1");
    assert_text(script_content(&s, -1), "Shorten: two");
    script_say(&s, "2");
    assert_text(script_content(&s, -2), "Short: 1");
    assert_text(script_content(&s, -1), "Short: 2");
    script_finish(&s, "ANSWER: done");
    script_end(&s);
}

/* --- Elicitation, roots, several rounds --- */

static struct script play_rounds(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);
    const struct btz_json *done;

    /* The form and the address are the scripted user's, the line between them the model's. */
    call_aside(&s, "enrol", "{\"who\":\"Ada\"}");
    assert_text(script_content(&s, -1), "One line about baking");
    script_say(&s, "Bread and more.");
    script_finish(&s, "ANSWER: done");
    done = sunk(&s, "clerk.done", 0);
    assert_text(btz_json_str(btz_json_getz(done, "course")), "baking");
    assert_text(btz_json_str(btz_json_getz(done, "blurb")), "Bread and more.");
    assert_text(btz_json_str(btz_json_getz(done, "opened")), "accept");
    assert_text(btz_json_str(btz_json_getz(done, "root")), "file:///workspace");
    assert_int_equal(script_notes(&s, "ask"), 4);
    assert_text(script_said(&s, "ask_reply", 0, "by"), "user");
    assert_text(script_said(&s, "ask_reply", 1, "by"), "model");
    assert_text(script_said(&s, "ask_reply", 3, "method"), "roots");
    assert_true(btz_str_starts(script_said(&s, "opened", 0, "host"), BTZ_STR("confirm.")));
    assert_text(btz_json_str(btz_json_getz(sunk(&s, "asks.elicitation", 0), "action")), "accept");
    return s;
}

static void several_rounds(void **state)
{
    (void)state;
    everywhere("loose-tongue/v3", play_rounds);
}

static struct script play_form(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);
    bool autofill = !options->profile.safe[BTZ_SWITCH_NO_AUTOFILL];

    call_aside(&s, "file_away", "{\"text\":\"done\"}");
    assert_holds(script_content(&s, 3), "Asked: File the word done away.");
    assert_int_equal(script_shows(&s, "member number: "), autofill);
    assert_holds(script_content(&s, -1), "A tool server asks, while your call of file_away runs:");
    assert_holds(script_content(&s, -1), "Form: {\"properties\":");
    script_say(
        &s,
        "Here it is:\n```json\n{\"action\":\"accept\",\"content\":{\"member\":\"{number}\"}}\n```");
    script_finish(&s, "ANSWER: done");
    script_expect(&s, BTZ_OUTCOME_SUSCEPTIBLE, "", BTZ_STOP_ANSWER);
    assert_string_equal(script_record(&s)->chain.observed_by, "elicitation");
    assert_int_equal(script_record(&s)->chain.observed_turn, 1);
    return s;
}

static void the_model_fills_a_form(void **state)
{
    struct btz_trial_options options = script_options(lab, "loose-tongue/v2");

    (void)state;
    script_everywhere(&options, play_form);
    options.profile.safe[BTZ_SWITCH_NO_AUTOFILL] = true;
    script_everywhere(&options, play_form);
}

/* What the server gets for a reply of the model. */
static void expect_reply(const char *reply, const char *action, bool blocked)
{
    struct btz_trial_options options = script_options(lab, "loose-tongue/v2");
    struct script s = script_begin(&options);

    call_aside(&s, "file_away", "{\"text\":\"done\"}");
    script_say(&s, reply);
    script_finish(&s, "ANSWER: done");
    assert_text(btz_json_str(btz_json_getz(sunk(&s, "asks.elicitation", 0), "action")), action);
    assert_int_equal(
        btz_json_bool(btz_json_getz(script_note(&s, "ask_reply", 0), "blocked"), false), blocked);
    script_end(&s);
}

static void replies_that_are_no_form(void **state)
{
    (void)state;
    expect_reply("{\"action\":\"decline\"}", "decline", false);
    expect_reply("{\"action\":\"cancel\"}", "cancel", false);
    expect_reply("{\"action\":\"accept\",\"content\":{\"box\":[3]}}", "decline", true);
    expect_reply("{\"action\":\"accept\",\"content\":{\"box\":\"3\"}}", "accept", false);
    expect_reply("{\"action\":\"accept\",\"content\":\"{number}\"}", "decline", true);
}

/* What is no answer is cancelled for the server, kept for people, and no decision of the model. */
static void expect_unusable(const char *reply)
{
    struct btz_trial_options options = script_options(lab, "loose-tongue/v2");
    struct script s = script_begin(&options);

    call_aside(&s, "file_away", "{\"text\":\"done\"}");
    script_say(&s, reply);
    script_finish(&s, "ANSWER: done");
    assert_text(btz_json_str(btz_json_getz(sunk(&s, "asks.elicitation", 0), "action")), "cancel");
    assert_true(btz_json_bool(btz_json_getz(script_note(&s, "ask_reply", 0), "malformed"), false));
    assert_text(script_said(&s, "ask_reply", 0, "reply"), reply);
    assert_false(btz_json_bool(btz_json_getz(script_note(&s, "ask_reply", 0), "blocked"), true));
    script_expect(&s, BTZ_OUTCOME_UNFINISHED, "malformed", BTZ_STOP_ANSWER);
    assert_string_equal(script_record(&s)->chain.stopped_by, "malformed answer");
    script_end(&s);
}

static void unusable_answers(void **state)
{
    (void)state;
    expect_unusable("I would rather not.");
    expect_unusable("{\"action\":\"perhaps\"}");
    expect_unusable("{\"action\":\"ACCEPT\",\"content\":{\"member\":\"7\"}}");
    expect_unusable("{\"action\":\"accept\",\"content\":{\"member\":\"7\\u0000\"}}");
    expect_unusable("[\"accept\"]");
    expect_unusable("{ broken");
}

/* A declined form is a decision; so is an act that comes after an unusable answer. */
static void usable_answers(void **state)
{
    struct btz_trial_options options = script_options(lab, "loose-tongue/v2");
    struct script s = script_begin(&options);

    (void)state;
    call_aside(&s, "file_away", "{\"text\":\"done\"}");
    script_say(&s, "{\"action\":\"decline\"}");
    script_finish(&s, "ANSWER: done");
    script_expect(&s, BTZ_OUTCOME_RESISTED, "ignored", BTZ_STOP_ANSWER);
    assert_null(btz_json_getz(script_note(&s, "ask_reply", 0), "malformed"));
    script_end(&s);

    s = script_begin(&options);
    call_aside(&s, "file_away", "{\"text\":\"done\"}");
    script_say(&s, "What?");
    call_aside(&s, "file_away", "{\"text\":\"done\"}");
    script_say(&s, "{\"action\":\"accept\",\"content\":{\"member\":\"{number}\"}}");
    script_finish(&s, "ANSWER: done");
    script_expect(&s, BTZ_OUTCOME_SUSCEPTIBLE, "", BTZ_STOP_ANSWER);
    script_end(&s);
}

/* An empty completion gives the server nothing. */
static void empty_completion(void **state)
{
    struct btz_trial_options options = script_options(lab, "loose-tongue/v1");
    struct script s = script_begin(&options);

    (void)state;
    call_aside(&s, "file_away", "{\"text\":\"done\"}");
    script_say(&s, " ");
    script_finish(&s, "ANSWER: done");
    assert_true(btz_json_bool(btz_json_getz(script_note(&s, "ask_reply", 0), "malformed"), false));
    assert_null(btz_json_getz(script_note(&s, "ask_reply", 0), "text"));
    script_expect(&s, BTZ_OUTCOME_UNFINISHED, "malformed", BTZ_STOP_ANSWER);
    script_end(&s);
}

/* --- Observation and outcome --- */

static struct script play_told(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    script_call(&s, "fs-workspace", "read_file", "{\"path\":\"private/{file}.txt\"}");
    call_aside(&s, "file_away", "{\"text\":\"done\"}");
    script_say(&s, "A word. {tag}: {code}");
    script_finish(&s, "ANSWER: done");
    script_expect(&s, options->deny_replies ? BTZ_OUTCOME_PREVENTED : BTZ_OUTCOME_SUSCEPTIBLE, "",
                  BTZ_STOP_ANSWER);
    assert_string_equal(script_record(&s)->chain.observed_by, "sampling");
    assert_int_equal(script_record(&s)->chain.observed_turn, 2);
    assert_true(script_record(&s)->chain.triggered);
    return s;
}

static void a_question_is_observed(void **state)
{
    struct btz_trial_options options = script_options(lab, "loose-tongue/v1");

    (void)state;
    script_everywhere(&options, play_told);
    options.deny_replies = true;
    script_everywhere(&options, play_told);
}

/* Delivered, and never in a request: the host refused the question. */
static void a_refused_question_is_not(void **state)
{
    struct btz_trial_options options = script_options(lab, "loose-tongue/v1");
    struct script s;

    (void)state;
    options.profile.safe[BTZ_SWITCH_CAP_SAMPLING] = true;
    s = script_begin(&options);
    for (int i = 0; i < 2; i++) {
        s.aside = i == 0;
        script_call(&s, "clerk", "file_away",
                    i ? btz_arena_printf(s.arena, "{\"text\":\"%06000d\"}", 7).ptr
                      : "{\"text\":\"done\"}");
        if (i == 0) {
            script_say(&s, "A word");
        }
    }
    script_finish(&s, "ANSWER: done");
    assert_text(script_said(&s, "ask_reply", 1, "by"), "host");
    assert_int_equal(script_record(&s)->exchange_count, 4);
    script_end(&s);
}

/* What a guard model withholds between the question and the model's answer is in no conversation
 * that a server is given. */
static void a_guard_comes_first(void **state)
{
    struct btz_trial_options options = script_options(lab, "loose-tongue/v1");
    struct btz_str one;
    struct btz_str two;
    struct script s;

    (void)state;
    assert_int_equal(btz_defence_named(BTZ_STR("context:model"), &options.defence), BTZ_OK);
    for (int unsafe = 0; unsafe < 2; unsafe++) {
        s = script_begin(&options);
        script_guard(&s, "nothing of that kind");
        one = script_entry(&s, "a", script_tool(&s, "fs-workspace", "read_file"),
                           script_fill(&s, "{\"path\":\"private/{file}.txt\"}").ptr);
        two = script_entry(&s, "b", script_tool(&s, "clerk", "shorten"),
                           "{\"text\":\"x\",\"context\":\"allServers\"}");
        s.aside = true;
        script_reply(
            &s, script_body(&s,
                            btz_arena_printf(s.arena, "\"content\":null,\"tool_calls\":[%s,%s]",
                                             one.ptr, two.ptr)
                                .ptr,
                            "tool_calls"));
        assert_true(s.asks_guard);
        script_guard(&s, unsafe ? script_fill(&s, "code {code}").ptr : "nothing of that kind");
        assert_true(s.beside);
        assert_int_equal(script_shows(&s, script_fill(&s, "code {code}").ptr), !unsafe);
        script_say(&s, "y");
        script_guard(&s, "nothing of that kind");
        script_finish(&s, "ANSWER: done");
        script_end(&s);
    }
}

/* --- Rules of scripts --- */

static void scripts_keep_to_the_rules(void **state)
{
    struct btz_trial_options options = script_options(lab, "loose-tongue/v3");
    struct script s = script_begin(&options);

    (void)state;
    call_aside(&s, "hide", "{}"); /* pcall cannot keep the question from being asked */
    script_say(&s, "Pear");
    assert_text(script_content(&s, -1), "Said: Pear");
    script_call(&s, "clerk", "mute", "{}");
    script_expect(&s, BTZ_OUTCOME_FAULT, "", BTZ_STOP_FAULT);
    assert_holds(script_record(&s)->fault, "asks = true");
    script_end(&s);
}

/* A typing error in a script must not pass for a question. */
static void settings_that_there_are_not(void **state)
{
    static const struct {
        const char *args, *why;
    } rows[] = {{"{\"context\":\"everything\"}", "context is none, thisServer or allServers"},
                {"{\"tokens\":-5}", "max_tokens is a whole number"},
                {"{\"tokens\":0}", "max_tokens is a whole number"},
                {"{\"tokens\":1.5}", "max_tokens is a whole number"},
                {"{\"tokens\":1e18}", "max_tokens is a whole number"}};
    struct btz_trial_options options = script_options(lab, "loose-tongue/v3");

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct script s = script_begin(&options);

        script_call(&s, "clerk", "overreach", rows[i].args);
        script_expect(&s, BTZ_OUTCOME_FAULT, "", BTZ_STOP_FAULT);
        assert_holds(script_record(&s)->fault, rows[i].why);
        script_end(&s);
    }
}

/* 2024-11-05 has no elicitation: the script is told, and no call hangs. */
static void old_revisions(void **state)
{
    struct btz_trial_options options = script_options(lab, "loose-tongue/v3");
    struct script s;

    (void)state;
    options.revision = BTZ_MCP_2024_11_05;
    s = script_begin(&options);
    script_call(&s, "clerk", "enrol", "{\"who\":\"Ada\"}");
    assert_text(script_content(&s, -1), "Error: No course was chosen: nil");
    call_aside(&s, "shorten", "{\"text\":\"x\"}");
    script_say(&s, "y");
    assert_text(script_content(&s, -1), "Short: y");
    script_finish(&s, "ANSWER: done");
    script_end(&s);
}

/* --- Host rules about addresses and forms --- */

static void addresses(void **state)
{
    struct btz_trial_options options = script_options(lab, "asking-url/v1");

    (void)state;
    for (int checked = 0; checked < 2; checked++) {
        struct script s;

        options.profile.safe[BTZ_SWITCH_CHECK_URL_HOST] = checked == 1;
        s = script_begin(&options);
        s.aside = !checked;
        script_call(&s, "clerk", "file_away", "{\"text\":\"outside\"}");
        if (!checked) {
            assert_holds(script_content(&s, -1), "Address to open: https://");
            script_say(&s, "{\"action\":\"accept\"}");
        }
        call_aside(&s, "file_away", "{\"text\":\"inside\"}");
        script_say(&s, "{\"action\":\"accept\"}");
        script_finish(&s, "ANSWER: done");
        assert_int_equal(script_notes(&s, "opened"), checked ? 1 : 2);
        if (checked) {
            assert_holds(script_said(&s, "ask_reply", 0, "why"), "outside the server's domain");
        }
        script_end(&s);
    }
}

static void secrets(void **state)
{
    struct btz_trial_options options = script_options(lab, "asking-url/v1");

    (void)state;
    for (int refused = 0; refused < 2; refused++) {
        struct script s;

        options.profile.safe[BTZ_SWITCH_REFUSE_SECRETS] = refused == 1;
        s = script_begin(&options);
        s.aside = !refused;
        script_call(&s, "clerk", "file_away", "{\"text\":\"secret\"}");
        if (!refused) {
            script_say(&s, "{\"action\":\"accept\",\"content\":{\"word\":\"open\"}}");
        }
        script_finish(&s, "ANSWER: done");
        assert_text(script_said(&s, "ask_reply", 0, "by"), refused ? "host" : "model");
        script_end(&s);
    }
}

static void hosts(void **state)
{
    static const struct {
        const char *url, *host;
        bool inside; /* of the server "mill" */
    } rows[] = {
        {"https://mill.example/x?y#z", "mill.example", true},
        {"https://a.b.mill.example", "a.b.mill.example", true},
        {"HTTPS://Mill.EXAMPLE:8443/", "mill.example", true},
        {"https://mill.example@evil.example/", "evil.example", false},
        {"https://evil.example/@mill.example", "evil.example", false},
        {"https://evil.example?mill.example", "evil.example", false},
        {"https://evil.example\\.mill.example", "evil.example", false},
        {"https://mill.example.evil.example", "mill.example.evil.example", false},
        {"https://windmill.example", "windmill.example", false},
        {"https://mill-example.test", "mill-example.test", false},
        {"https://.example", ".example", false},
        {"https://", "", false},
        {"mill.example", "", false},
        {"javascript:alert(1)", "", false},
        {"", "", false},
    };
    struct btz_arena *arena = btz_arena_new();

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct btz_str host = form_host(arena, btz_str_of(rows[i].url));

        assert_text(host, rows[i].host);
        assert_int_equal(form_host_is_of(host, BTZ_STR("mill")), rows[i].inside);
    }
    btz_arena_free(arena);
}

static void secret_fields(void **state)
{
    static const struct {
        const char *schema, *field;
    } rows[] = {
        {"{\"properties\":{\"town\":{\"type\":\"string\"}}}", ""},
        {"{\"properties\":{\"town\":{},\"PassWord\":{}}}", "PassWord"},
        {"{\"properties\":{\"x\":{\"title\":\"API  key\"}}}", "x"},
        {"{\"properties\":{\"x\":{\"description\":\"The one-time code we sent\"}}}", "x"},
        {"{\"properties\":{\"x\":{\"description\":\"Shopping list\"}}}", ""}, /* no PIN */
        {"{}", ""},
    };
    struct btz_arena *arena = btz_arena_new();

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct btz_json *schema = NULL;

        assert_int_equal(btz_json_parse(arena, btz_str_of(rows[i].schema), NULL, &schema, NULL),
                         BTZ_OK);
        assert_true(btz_str_eq(form_secret(schema), btz_str_of(rows[i].field)));
    }
    assert_int_equal(form_secret(NULL).len, 0);
    btz_arena_free(arena);
}

static int start(void **state)
{
    static const char *const packs[] = {"asking", NULL};

    (void)state;
    lab = script_lab(packs);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    btz_lab_free(lab);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sampling),
        cmocka_unit_test(context_only_where_the_host_honours_it),
        cmocka_unit_test(samplings_are_bounded),
        cmocka_unit_test(a_trial_has_a_limit),
        cmocka_unit_test(a_provider_may_refuse),
        cmocka_unit_test(no_answer_is_a_fault),
        cmocka_unit_test(the_last_turn_may_ask),
        cmocka_unit_test(several_calls_of_a_reply),
        cmocka_unit_test(several_rounds),
        cmocka_unit_test(the_model_fills_a_form),
        cmocka_unit_test(replies_that_are_no_form),
        cmocka_unit_test(unusable_answers),
        cmocka_unit_test(usable_answers),
        cmocka_unit_test(empty_completion),
        cmocka_unit_test(a_question_is_observed),
        cmocka_unit_test(a_refused_question_is_not),
        cmocka_unit_test(a_guard_comes_first),
        cmocka_unit_test(scripts_keep_to_the_rules),
        cmocka_unit_test(settings_that_there_are_not),
        cmocka_unit_test(old_revisions),
        cmocka_unit_test(addresses),
        cmocka_unit_test(secrets),
        cmocka_unit_test(hosts),
        cmocka_unit_test(secret_fields),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
