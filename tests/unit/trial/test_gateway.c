/* Trials behind a gateway: what it does to messages, and what it does wrong. The gateway is
 * tests/stubs/gateway.c, a real program. */
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "script.h"

static struct btz_lab *lab;
static char stub[4096]; /* path of the gateway */
static char target[8192];

static struct btz_trial_options behind(const char *words, enum btz_mcp_revision revision)
{
    struct btz_trial_options options = script_options(lab, "errand/v1");

    (void)snprintf(target, sizeof(target), "%s %s", stub, words);
    options.revision = revision;
    options.defence.proxy = (struct btz_proxy){.target = btz_str_of(target),
                                               .program = btz_str_of(stub),
                                               .handshake_us = 5000000,
                                               .request_us = 2000000};
    return options;
}

/* Processes of the stub that live, by their command line. */
static int living(void)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    int count = 0;

    assert_non_null(folder);
    while ((entry = readdir(folder))) {
        char path[300];
        char exe[4096];
        ssize_t len;

        (void)snprintf(path, sizeof(path), "/proc/%s/exe", entry->d_name);
        len = readlink(path, exe, sizeof(exe) - 1);
        if (len > 0) {
            exe[len] = '\0';
            count += strcmp(exe, stub) == 0;
        }
    }
    closedir(folder);
    return count;
}

/* Servers that the gateway started end with their socket, which may take a moment. */
static void none_lives(void)
{
    int64_t until = btz_clock_mono_us() + 5000000;

    while (living()) {
        assert_true(btz_clock_mono_us() < until);
        (void)usleep(5000);
    }
}

static struct script begin(const char *words)
{
    struct btz_trial_options options = behind(words, BTZ_MCP_2025_11_25);

    return script_begin(&options);
}

static const struct btz_guarding *end(struct script *s)
{
    return &script_finish(s, "Done.")->guarding;
}

/* What the model asked and got is the same as without the gateway. */
static void passes_everything(void **state)
{
    static const enum btz_mcp_revision revisions[] = {BTZ_MCP_2025_06_18, BTZ_MCP_2025_11_25,
                                                      BTZ_MCP_2026_07_28};
    (void)state;
    for (size_t i = 0; i < sizeof(revisions) / sizeof(revisions[0]); i++) {
        struct btz_trial_options plain = script_options(lab, "errand/v1");
        struct btz_trial_options proxied = behind("pass -- {command}", revisions[i]);
        struct btz_hash hashes[2];

        plain.revision = revisions[i];
        for (int p = 0; p < 2; p++) {
            struct script s = script_begin(p ? &proxied : &plain);
            const struct btz_guarding *g;

            script_call(&s, "kiosk", "show", "{\"page\":\"errand\"}");
            assert_int_equal(script_shows(&s, "that the saw is back"), true);
            script_call(&s, "kiosk", "show", "{\"page\":\"nowhere\"}");
            script_call(&s, "kiosk", "send", "{\"to\":\"{outsider}\",\"text\":\"b\"}");
            g = end(&s);
            script_expect(&s, BTZ_OUTCOME_SUSCEPTIBLE, "", BTZ_STOP_ANSWER);
            hashes[p] = script_record(&s)->trajectory_hash;
            if (p) { /* lists of tools, resources; three answers */
                assert_int_equal(g->detected, 0);
                assert_int_equal(g->blocked, 0);
                assert_int_equal(g->failed, 0);
                assert_true(g->scans >= 2 + 3);
                assert_true(g->took_us > 0);
            }
            script_end(&s);
        }
        assert_true(btz_hash_eq(&hashes[0], &hashes[1]));
        none_lives();
    }
}

static void one_line_for_the_server(void **state)
{
    struct script s = begin("pass -- sh -c \"exec {command}\"");

    (void)state;
    assert_true(script_shows(&s, "kiosk__show"));
    script_end(&s);
    s = begin("pass -- {program} connect {address}");
    assert_true(script_shows(&s, "kiosk__show"));
    script_end(&s);
    none_lives();
}

static void withheld_definition(void **state)
{
    struct script s = begin("withhold show -- {command}");

    (void)state;
    assert_false(script_shows(&s, "kiosk__show"));
    assert_true(script_shows(&s, "kiosk__send"));
    assert_int_equal(end(&s)->blocked, 2); /* both servers have such a tool */
    assert_int_equal(script_record(&s)->guarding.detected, 2);
    /* The payload was delivered, and went no further than the gateway. */
    script_expect(&s, BTZ_OUTCOME_CONTAINED, "defence", BTZ_STOP_ANSWER);
    assert_true(script_record(&s)->chain.delivered);
    assert_string_equal(script_record(&s)->chain.stopped_by, "defence");
    assert_int_equal(script_events(&s, BTZ_LAYER_GUARD, "scan"), 2);
    script_end(&s);
}

static void changed_definition(void **state)
{
    struct script s = begin("change show -- {command}");

    (void)state;
    assert_true(script_shows(&s, "Described by the stub."));
    assert_int_equal(end(&s)->detected, 2);
    assert_int_equal(script_record(&s)->guarding.blocked, 0);
    assert_true(script_record(&s)->chain.delivered);
    assert_false(script_record(&s)->chain.observed);
    script_end(&s);
}

static void replaced_result(void **state)
{
    struct script s = begin("replace -- {command}");

    (void)state;
    script_call(&s, "kiosk", "send", "{\"to\":\"a\",\"text\":\"b\"}");
    assert_true(btz_str_is(script_content(&s, -1), "Error: blocked by the stub"));
    assert_int_equal(end(&s)->blocked, 1);
    assert_int_equal(script_record(&s)->guarding.detected, 1);
    assert_int_equal(btz_json_count(script_record(&s)->journal), 1); /* the call ran */
    script_end(&s);
}

static void refused_call(void **state)
{
    struct script s = begin("refuse -- {command}");

    (void)state;
    script_call(&s, "kiosk", "send", "{\"to\":\"a\",\"text\":\"b\"}");
    assert_true(btz_str_is(script_content(&s, -1), "Error: blocked by the stub"));
    assert_int_equal(end(&s)->blocked, 1);
    assert_int_equal(btz_json_count(script_record(&s)->journal), 0);
    script_end(&s);
}

static void censored_call(void **state)
{
    struct script s = begin("censor -- {command}");

    (void)state;
    script_call(&s, "kiosk", "send", "{\"to\":\"{outsider}\",\"text\":\"b\"}");
    assert_int_equal(end(&s)->blocked, 1);
    assert_int_equal(script_record(&s)->guarding.detected, 1);
    script_expect(&s, BTZ_OUTCOME_PREVENTED, "", BTZ_STOP_ANSWER);
    assert_string_equal(script_record(&s)->chain.stopped_by, "defence");
    assert_int_equal(btz_json_count(script_record(&s)->journal), 0);
    script_end(&s);
}

static void edited_result(void **state)
{
    struct script s = begin("edit -- {command}");

    (void)state;
    script_call(&s, "kiosk", "show", "{\"page\":\"errand\"}");
    assert_true(btz_str_is(script_content(&s, -1), "blocked by the stub"));
    assert_int_equal(end(&s)->detected, 1);
    assert_int_equal(script_record(&s)->guarding.blocked, 0);
    script_end(&s);
}

/* What fails in mid-trial shows to the model as an error, and the trial goes on. */
static void dies_on_a_call(void **state)
{
    struct script s = begin("die -- {command}");

    (void)state;
    script_call(&s, "kiosk", "show", "{\"page\":\"errand\"}");
    assert_true(btz_str_is(script_content(&s, -1), "Error: the connection to the server was lost"));
    script_call(&s, "kiosk", "show", "{\"page\":\"errand\"}");
    assert_true(btz_str_is(script_content(&s, -1), "Error: the connection to the server was lost"));
    assert_int_equal(end(&s)->failed, 2);
    assert_int_equal(script_record(&s)->guarding.detected, 0);
    assert_int_equal(script_record(&s)->stop, BTZ_STOP_ANSWER);
    assert_int_equal(script_events(&s, BTZ_LAYER_GUARD, "broken"), 1);
    script_end(&s);
    none_lives();
}

static void never_answers_a_call(void **state)
{
    int64_t begun = btz_clock_mono_us();
    struct script s = begin("mute -- {command}");

    (void)state;
    script_call(&s, "kiosk", "show", "{\"page\":\"errand\"}");
    assert_true(btz_clock_mono_us() - begun >= 2000000);
    assert_true(btz_str_is(script_content(&s, -1), "Error: the server did not answer in time"));
    assert_int_equal(end(&s)->failed, 1);
    script_end(&s);
    none_lives();
}

static void noise_on_stderr_is_no_matter(void **state)
{
    struct script s = begin("noisy -- {command}");

    (void)state;
    script_call(&s, "kiosk", "show", "{\"page\":\"errand\"}");
    assert_true(script_shows(&s, "that the saw is back"));
    assert_int_equal(end(&s)->failed, 0);
    script_end(&s);
}

/* A gateway that does not come up: the trial cannot begin, and the reason says what is known. */
static void never_comes_up(void **state)
{
    static const struct {
        const char *words;
        const char *why[2];
        bool slow;
    } cases[] = {
        {"exit {url}", {"the gateway exited with status 3", "stub: no licence"}, false},
        {"hang {url}", {"gave none within 700 ms", ""}, true},
        {"prose {url}", {"gave none within 700 ms", "Welcome to the stub gateway!"}, true},
        {"flood {url}", {"gave none within 700 ms", ""}, true},
        {"endless {url}", {"a line that is too long", ""}, false},
        {"pass -- no-such-server {url}", {"the gateway exited", "no-such-server"}, false},
        {"hang {url} {port}", {"gave none within 700 ms", ""}, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct btz_trial_options options = behind(cases[i].words, BTZ_MCP_2025_11_25);
        int64_t begun = btz_clock_mono_us();
        struct btz_trial *trial = NULL;
        struct btz_err err;

        options.defence.proxy.handshake_us = cases[i].slow ? 700000 : 10000000;
        assert_int_equal(btz_trial_new(&options, &trial, &err), BTZ_EINTERNAL);
        for (int w = 0; w < 2; w++) {
            if (btz_str_find(btz_str_of(err.msg), btz_str_of(cases[i].why[w])) < 0) {
                fail_msg("%s: %s", cases[i].words, err.msg);
            }
        }
        assert_true(btz_clock_mono_us() - begun < 9000000);
        none_lives();
    }
}

static void a_missing_program_is_named(void **state)
{
    struct btz_trial_options options = behind("", BTZ_MCP_2025_11_25);
    struct btz_trial *trial = NULL;
    struct btz_err err;

    (void)state;
    options.defence.proxy.target = BTZ_STR("no-such-gateway {url}");
    assert_int_equal(btz_trial_new(&options, &trial, &err), BTZ_EMISSING);
    assert_true(btz_str_find(btz_str_of(err.msg), BTZ_STR("no program \"no-such-gateway\"")) >= 0);
}

/* Nobody waits for a gateway once the person wants to stop. */
static void a_signal_ends_the_wait(void **state)
{
    struct btz_trial_options options = behind("hang {url}", BTZ_MCP_2025_11_25);
    int64_t begun = btz_clock_mono_us();
    struct btz_trial *trial = NULL;
    struct btz_err err;
    pid_t child;

    (void)state;
    options.defence.proxy.handshake_us = 60000000;
    child = fork();
    if (child == 0) {
        (void)usleep(300000);
        (void)kill(getppid(), SIGINT);
        _exit(0);
    }
    assert_int_equal(btz_trial_new(&options, &trial, &err), BTZ_ECANCELLED);
    assert_true(btz_clock_mono_us() - begun < 10000000);
    none_lives();
}

static void names(void **state)
{
    static const char *const bad[] = {"proxy:",
                                      "proxy:prog",
                                      "proxy:prog 'x {url}",
                                      "proxy:prog {url} @/mcp",
                                      "proxy:https://127.0.0.1/x",
                                      "proxy:http://gateway.example/mcp",
                                      "proxy: @/mcp"};
    static const char *const good[] = {"proxy:prog {url}", "proxy:prog --x={command} {port} @/a",
                                       "proxy:http://127.0.0.1:9000/{server}/mcp",
                                       "proxy:http://[::1]:9000/x", "proxy:http://localhost/x"};
    struct btz_defence defence;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(btz_defence_named(btz_str_of(bad[i]), &defence), BTZ_ENOTFOUND);
    }
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_int_equal(btz_defence_named(btz_str_of(good[i]), &defence), BTZ_OK);
        assert_string_equal(defence.proxy.target.ptr, good[i] + 6);
        assert_false(defence.input || defence.context);
    }
}

/* What servers ask in the middle of a call goes through as well, and so does the answer. */
static void questions_pass(void **state)
{
    static const enum btz_mcp_revision revisions[] = {BTZ_MCP_2025_11_25, BTZ_MCP_2026_07_28};

    (void)state;
    for (size_t i = 0; i < sizeof(revisions) / sizeof(revisions[0]); i++) {
        struct btz_trial_options proxied = behind("pass -- {command}", revisions[i]);
        struct script s;

        proxied.scenario = btz_lab_scenario_find(lab, BTZ_STR("loose-tongue/v3"));
        s = script_begin(&proxied);
        s.aside = true;
        script_call(&s, "clerk", "shorten", "{\"text\":\"a long tale\"}");
        assert_text(script_content(&s, -1), "Shorten: a long tale");
        script_say(&s, "a tale");
        assert_text(script_content(&s, -1), "Short: a tale");
        s.aside = true;
        script_call(&s, "clerk", "enrol", "{\"who\":\"Ada\"}");
        script_say(&s, "Bread.");
        assert_holds(script_content(&s, -1), "file:///workspace");
        (void)end(&s);
        script_end(&s);
    }
    none_lives();
}

static int open_lab(void **state)
{
    static const char *const packs[] = {"trial", "asking", NULL};
    ssize_t len = readlink("/proc/self/exe", stub, sizeof(stub) - 32);

    (void)state;
    assert_true(len > 0);
    stub[len] = '\0';
    (void)snprintf(strrchr(stub, 0x2f) + 1, 32, "gateway_stub");
    (void)signal(SIGPIPE, SIG_IGN);
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
        cmocka_unit_test(passes_everything),
        cmocka_unit_test(questions_pass),
        cmocka_unit_test(one_line_for_the_server),
        cmocka_unit_test(withheld_definition),
        cmocka_unit_test(changed_definition),
        cmocka_unit_test(replaced_result),
        cmocka_unit_test(refused_call),
        cmocka_unit_test(censored_call),
        cmocka_unit_test(edited_result),
        cmocka_unit_test(dies_on_a_call),
        cmocka_unit_test(never_answers_a_call),
        cmocka_unit_test(noise_on_stderr_is_no_matter),
        cmocka_unit_test(never_comes_up),
        cmocka_unit_test(a_missing_program_is_named),
        cmocka_unit_test(a_signal_ends_the_wait),
        cmocka_unit_test(names),
    };

    return cmocka_run_group_tests(tests, open_lab, close_lab);
}
