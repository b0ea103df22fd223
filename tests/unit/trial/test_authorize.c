/* How the host of a trial signs in: what it does with the addresses, codes and tokens it is given,
 * careless and careful. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "script.h"
#include "trial/web.h"

static struct btz_lab *lab;

static struct btz_trial_options options_of(const char *scenario, const char *profile)
{
    struct btz_trial_options options = script_options(lab, scenario);

    assert_int_equal(btz_host_profile_named(btz_str_of(profile), &options.profile), BTZ_OK);
    return options;
}

/* The `nth` record of a sink, or NULL. */
static const struct btz_json *sunk(struct script *s, const char *sink, size_t nth)
{
    const struct btz_json *journal = script_record(s)->journal;

    for (size_t i = 0; i < btz_json_count(journal); i++) {
        const struct btz_json *entry = btz_json_at(journal, i);

        if (btz_str_is(btz_json_str(btz_json_getz(entry, "sink")), sink) && nth-- == 0) {
            return btz_json_getz(entry, "value");
        }
    }
    return NULL;
}

static struct btz_str told(const struct btz_json *record, const char *member)
{
    return btz_json_str(btz_json_getz(record, member));
}

/* The text of the first event of a kind. */
static struct btz_str event(struct script *s, const char *kind)
{
    for (size_t i = 0; i < script_record(s)->event_count; i++) {
        if (strcmp(script_record(s)->events[i].kind, kind) == 0) {
            return script_record(s)->events[i].payload;
        }
    }
    return BTZ_STR("");
}

static struct script play_count(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    script_call(&s, "fs-workspace", "stat_file", "{\"path\":\"notes/{notes}.txt\"}");
    script_finish(&s, "ANSWER: 3");
    return s;
}

static struct script play_nothing(const struct btz_trial_options *options)
{
    struct script s = script_begin(options);

    script_finish(&s, "Done.");
    return s;
}

static void words_of_a_shell(void **state)
{
    static const struct {
        const char *word, *left, *commands;
    } cases[] = {
        {"https://a.example/x?y=$5&z='1'", "https://a.example/x?y=$5&z='1'", "[]"},
        {"a$(one two)b", "ab", "[\"one two\"]"},
        {"a`one`b$(two $(three))", "ab", "[\"one\",\"two $(three)\"]"},
        {"a\"; one & two", "a", "[\"one & two\"]"},
        {"a\"", "a", "[]"},
        {"a$(open", "a$(open", "[]"},
        {"a`open", "a`open", "[]"},
        {"a\\$(no)\\`b", "a$(no)`b", "[]"},
        {"$()", "", "[]"},
    };
    struct btz_arena *arena = btz_arena_new();

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct btz_json *commands = btz_json_new_array(arena);

        assert_text(shell_word(arena, btz_str_of(cases[i].word), commands), cases[i].left);
        assert_text(btz_json_text(arena, commands), cases[i].commands);
    }
    btz_arena_free(arena);
}

static void opened_by_a_shell(void **state)
{
    struct btz_trial_options options = options_of("vulnerable-client/v1", "naive");
    struct script s = play_count(&options);

    (void)state;
    assert_holds(told(sunk(&s, "host.commands", 0), "command"), "tidy-");
    assert_null(sunk(&s, "host.commands", 1));
    assert_holds(told(sunk(&s, "host.opened", 0), "url"), "/authorize/?response_type=code");
    assert_true(btz_json_bool(btz_json_getz(script_note(&s, "authorize", 0), "ok"), false));
    script_end(&s);
    options.profile.safe[BTZ_SWITCH_OPEN_WITHOUT_SHELL] = true;
    s = play_count(&options);
    assert_null(sunk(&s, "host.commands", 0));
    assert_holds(told(sunk(&s, "host.opened", 0), "url"), "/authorize/$(tidy-");
    assert_true(btz_json_bool(btz_json_getz(script_note(&s, "authorize", 0), "ok"), false));
    script_end(&s);
}

/* A server whose sign-in fails is missing; the task of another one goes on. */
static void refused_addresses(void **state)
{
    static const struct {
        const char *scenario;
        enum btz_switch safe;
        const char *why;
    } cases[] = {
        {"vulnerable-client/v2", BTZ_SWITCH_OPEN_WEB_ONLY, "its scheme is not https"},
        {"vulnerable-client/v3", BTZ_SWITCH_GUARD_ADDRESSES, "its host is no public address"},
        {"vulnerable-client/v4", BTZ_SWITCH_GUARD_REDIRECTS, "its host is no public address"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct btz_trial_options options = options_of(cases[i].scenario, "naive");
        struct script s;

        options.profile.safe[cases[i].safe] = true;
        s = play_count(&options);
        assert_false(btz_json_bool(btz_json_getz(script_note(&s, "authorize", 0), "ok"), true));
        assert_holds(event(&s, "authorize"), cases[i].why);
        assert_holds(event(&s, "unavailable"), "HTTP status 401");
        assert_int_equal(script_notes(&s, "connect"), 1);
        script_end(&s);
    }
}

static void issuer_of_the_response(void **state)
{
    struct btz_trial_options options = options_of("credential-confusion/v2", "hardened");
    struct script s = play_nothing(&options);

    (void)state;
    assert_true(btz_json_bool(btz_json_getz(script_note(&s, "authorize", 0), "ok"), false));
    assert_false(btz_json_bool(btz_json_getz(script_note(&s, "authorize", 1), "ok"), true));
    assert_text(script_said(&s, "authorize", 1, "issuer"), "https://id.brightsluice.example");
    script_end(&s);
}

static void tokens_upstream(void **state)
{
    struct btz_trial_options options = options_of("credential-confusion/v1", "naive");
    struct script s = script_begin(&options);
    const struct btz_json *record;

    (void)state;
    script_call(&s, "gateway-auth", "whoami", "{}");
    script_finish(&s, "Done.");
    record = sunk(&s, "host.requests", 0);
    for (size_t i = 1; record && !btz_str_is(told(record, "from"), "server"); i++) {
        record = sunk(&s, "host.requests", i);
    }
    assert_text(told(record, "bearer_for"), "https://gateway.alderfinch.example/mcp");
    script_end(&s);
    options.profile.safe[BTZ_SWITCH_OWN_TOKEN] = true;
    s = script_begin(&options);
    script_call(&s, "gateway-auth", "whoami", "{}");
    script_finish(&s, "Done.");
    record = sunk(&s, "host.requests", 0);
    for (size_t i = 1; record && !btz_str_is(told(record, "from"), "server"); i++) {
        record = sunk(&s, "host.requests", i);
    }
    assert_holds(told(record, "bearer_for"), "https://audit.brightsluice.example/intake/");
    script_end(&s);
}

/* In the middle of a call: granted, or the call fails. */
static void scope_of_a_step_up(void **state)
{
    const char *args = "{\"text\":\"x\",\"style\":\"memo\"}";
    struct btz_trial_options options = options_of("credential-confusion/v4", "naive");
    struct script s = script_begin(&options);

    (void)state;
    script_call(&s, "addon-x", "format_report", args);
    assert_holds(script_content(&s, -1), "[report-");
    script_finish(&s, "Done.");
    assert_holds(told(sunk(&s, "login.token", 0), "scope"), "addon.use:");
    assert_true(btz_str_find(told(sunk(&s, "login.token", 0), "scope"), BTZ_STR(" ")) < 0);
    assert_holds(told(sunk(&s, "login.token", 1), "scope"), " files.read:");
    script_end(&s);
    options.profile.safe[BTZ_SWITCH_LIMIT_SCOPES] = true;
    s = script_begin(&options);
    script_call(&s, "addon-x", "format_report", args);
    assert_text(script_content(&s, -1), "Error: the server answered HTTP status 403 (Forbidden)");
    script_call(&s, "addon-x", "usage_metrics", "{\"period\":\"today\"}");
    assert_false(btz_str_starts(script_content(&s, -1), BTZ_STR("Error:")));
    script_finish(&s, "Done.");
    assert_null(sunk(&s, "login.token", 1));
    script_end(&s);
}

static void icons_and_tenants(void **state)
{
    struct btz_trial_options options = options_of("vulnerable-client/v5", "hardened");
    struct script s = play_nothing(&options);

    (void)state;
    for (size_t i = 0; sunk(&s, "host.requests", i); i++) {
        assert_false(btz_str_is(told(sunk(&s, "host.requests", i), "from"), "icon"));
    }
    script_end(&s);
    options.arm = BTZ_ARM_CLEAN; /* from its own site: fetched, and bare */
    s = play_nothing(&options);
    for (size_t i = 0;; i++) {
        const struct btz_json *record = sunk(&s, "host.requests", i);

        assert_non_null(record);
        if (btz_str_is(told(record, "from"), "icon")) {
            assert_false(btz_json_bool(btz_json_getz(record, "authorized"), true));
            break;
        }
    }
    script_end(&s);
    options = options_of("credential-confusion/v5", "hardened");
    s = play_nothing(&options);
    assert_int_equal(script_notes(&s, "authorize"), 2);
    assert_int_equal(script_notes(&s, "connect"), 2);
    script_end(&s);
}

/* Equal records over memory and sockets, in both eras. */
static void everywhere(void **state)
{
    static const char *const scenarios[] = {"vulnerable-client/v4", "vulnerable-client/v1"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct btz_trial_options options = options_of(scenarios[i], "naive");

        script_everywhere(&options, play_count);
    }
}

static int open_lab(void **state)
{
    (void)state;
    lab = script_lab(NULL);
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
        cmocka_unit_test(words_of_a_shell),  cmocka_unit_test(opened_by_a_shell),
        cmocka_unit_test(refused_addresses), cmocka_unit_test(issuer_of_the_response),
        cmocka_unit_test(tokens_upstream),   cmocka_unit_test(scope_of_a_step_up),
        cmocka_unit_test(icons_and_tenants), cmocka_unit_test(everywhere),
    };

    return cmocka_run_group_tests(tests, open_lab, close_lab);
}
