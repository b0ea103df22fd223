/* The simulated user who approves calls and questions: each policy, what a dialog shows, and when
 * nobody reads any more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "script.h"

static struct btz_lab *lab;

static struct script begin(enum btz_approver approver, enum btz_switch safe)
{
    struct btz_trial_options options = script_options(lab, "loose-tongue/v3");

    options.profile.approver = approver;
    if (safe < BTZ_SWITCH_COUNT) {
        options.profile.safe[safe] = true;
    }
    return script_begin(&options);
}

/* Calls a tool and tells whether it was made. */
static bool goes(struct script *s, const char *tool, const char *args)
{
    script_call(s, "clerk", tool, args);
    return !btz_str_starts(script_content(s, -1), BTZ_STR("Error: call not made"));
}

static bool filed(struct script *s)
{
    return goes(s, "file_away", "{\"text\":\"zebra\"}");
}

static bool looked(struct script *s)
{
    return goes(s, "insist", "{\"times\":0}");
}

static void end(struct script *s, size_t approvals)
{
    script_finish(s, "ANSWER: done");
    assert_int_equal(script_notes(s, "approval"), approvals);
    assert_int_equal(script_events(s, BTZ_LAYER_HOST, "approval"), approvals);
    script_end(s);
}

static void the_tired_user_approves_all(void **state)
{
    struct script s = begin(BTZ_APPROVER_SETTING, BTZ_SWITCH_COUNT);

    (void)state;
    assert_true(filed(&s));
    end(&s, 0);
}

/* Three dialogs are read, then none. */
static void ask_each(void **state)
{
    struct script s = begin(BTZ_APPROVE_ASK_EACH, BTZ_SWITCH_COUNT);

    (void)state;
    assert_false(filed(&s));
    assert_true(looked(&s));
    assert_false(filed(&s));
    assert_true(filed(&s));
    script_finish(&s, "ANSWER: done");
    assert_true(btz_json_bool(btz_json_getz(script_note(&s, "approval", 2), "read"), false));
    assert_false(btz_json_bool(btz_json_getz(script_note(&s, "approval", 3), "read"), true));
    assert_text(script_said(&s, "approval", 0, "policy"), "ask-each");
    assert_text(script_said(&s, "approval", 0, "tool"), "file_away");
    assert_string_equal(script_record(&s)->chain.stopped_by, "client rule");
    script_end(&s);
}

static void read_only_auto(void **state)
{
    struct script s = begin(BTZ_APPROVE_READ_ONLY_AUTO, BTZ_SWITCH_COUNT);

    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_true(looked(&s)); /* no dialog, so nobody gets tired */
    }
    assert_false(filed(&s));
    end(&s, 5);
    /* A host that does not trust the hint shows a dialog, and its title says nothing known. */
    s = begin(BTZ_APPROVE_READ_ONLY_AUTO, BTZ_SWITCH_DISTRUST_HINTS);
    assert_false(looked(&s));
    end(&s, 1);
}

static void two_calls(struct script *s, const char *first, const char *first_args,
                      const char *second, const char *second_args)
{
    struct btz_str one = script_entry(s, "a", script_tool(s, "clerk", first), first_args);
    struct btz_str two = script_entry(s, "b", script_tool(s, "clerk", second), second_args);

    script_reply(s,
                 script_body(s,
                             btz_arena_printf(s->arena, "\"content\":null,\"tool_calls\":[%s,%s]",
                                              one.ptr, two.ptr)
                                 .ptr,
                             "tool_calls"));
}

/* One dialog for the calls of a user's turn: what its first line says decides. */
static void batch(void **state)
{
    struct script s = begin(BTZ_APPROVE_BATCH, BTZ_SWITCH_COUNT);

    (void)state;
    two_calls(&s, "insist", "{\"times\":0}", "file_away", "{\"text\":\"zebra\"}");
    assert_text(script_content(&s, -1), "Filed.");
    assert_true(filed(&s));
    end(&s, 3);
    s = begin(BTZ_APPROVE_BATCH, BTZ_SWITCH_COUNT);
    two_calls(&s, "file_away", "{\"text\":\"zebra\"}", "insist", "{\"times\":0}");
    assert_holds(script_content(&s, -1), "call not made");
    assert_false(looked(&s));
    end(&s, 3);
}

static void always_allow(void **state)
{
    struct script s = begin(BTZ_APPROVE_ALWAYS_ALLOW_WIDENS, BTZ_SWITCH_COUNT);

    (void)state;
    assert_false(filed(&s));
    assert_true(looked(&s)); /* "always allow" */
    assert_true(filed(&s));
    end(&s, 3);
    s = begin(BTZ_APPROVE_ALWAYS_ALLOW_WIDENS, BTZ_SWITCH_EXACT_GRANTS);
    assert_true(looked(&s));
    assert_false(filed(&s));
    assert_true(looked(&s));
    end(&s, 3);
}

/* With the arguments in sight the user's own words are known again, and strange ones are not. */
static void arguments_in_sight(void **state)
{
    struct script s = begin(BTZ_APPROVE_ASK_EACH, BTZ_SWITCH_SHOW_ARGUMENTS);

    (void)state;
    assert_false(filed(&s));
    assert_true(goes(&s, "file_away", "{\"text\":\"course list\"}"));
    end(&s, 2);
}

/* A question that takes the conversation along, read and unread. */
static void questions(void **state)
{
    struct script s = begin(BTZ_APPROVE_ASK_EACH, BTZ_SWITCH_COUNT);
    static const char args[] = "{\"text\":\"x\",\"context\":\"allServers\"}";

    (void)state;
    script_call(&s, "clerk", "shorten", args);
    assert_text(script_content(&s, -1), "Not shortened: declined");
    s.aside = true; /* call 2 is dialog 3, its question dialog 4 */
    script_call(&s, "clerk", "shorten", args);
    script_say(&s, "y");
    assert_text(script_content(&s, -1), "Short: y");
    end(&s, 4);
    s = begin(BTZ_APPROVE_ASK_EACH, BTZ_SWITCH_COUNT);
    s.aside = true;
    script_call(&s, "clerk", "shorten", "{\"text\":\"x\"}");
    script_say(&s, "y");
    end(&s, 2);
}

static void names(void **state)
{
    struct btz_host_profile profile;

    (void)state;
    assert_int_equal(btz_host_profile_named(BTZ_STR("hardened+ask-each"), &profile), BTZ_OK);
    assert_int_equal(profile.approver, BTZ_APPROVE_ASK_EACH);
    assert_true(profile.safe[BTZ_SWITCH_EXACT_GRANTS]);
    assert_int_equal(btz_host_profile_named(BTZ_STR("naive"), &profile), BTZ_OK);
    assert_int_equal(profile.approver, BTZ_APPROVER_SETTING);
    assert_int_equal(btz_host_profile_named(BTZ_STR("naive+setting"), &profile), BTZ_ENOTFOUND);
    assert_int_equal(btz_host_profile_named(BTZ_STR("naive+"), &profile), BTZ_ENOTFOUND);
    assert_int_equal(btz_host_profile_named(BTZ_STR("+batch"), &profile), BTZ_ENOTFOUND);
    assert_string_equal(btz_approver_name(BTZ_APPROVE_BATCH), "batch");
    assert_null(btz_approver_name(BTZ_APPROVER_COUNT));
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
        cmocka_unit_test(the_tired_user_approves_all),
        cmocka_unit_test(ask_each),
        cmocka_unit_test(read_only_auto),
        cmocka_unit_test(batch),
        cmocka_unit_test(always_allow),
        cmocka_unit_test(arguments_in_sight),
        cmocka_unit_test(questions),
        cmocka_unit_test(names),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
