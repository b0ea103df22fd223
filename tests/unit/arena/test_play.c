/* A play: what peers do on a stage, what is recorded, and what the verdict says and leaves open. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "arena/lines.h"
#include "arena/play.h"
#include "lab/serve.h"

#define PACKS BTZ_SOURCE_DIR "/tests/packs"
#define assert_str(s, text) assert_true(btz_str_is((s), (text)))

enum { MAX_SERVERS = 4 };

struct fixture {
    struct btz_lab *lab;
    struct btz_arena *arena;
    struct btz_play *play;
    struct btz_mcp_server *machines[MAX_SERVERS];
    struct btz_err err;
    unsigned last_id;
};

static void take_events(struct fixture *f, size_t server)
{
    struct btz_mcp_server_event event;

    while (btz_mcp_server_next_event(f->machines[server], &event)) {
        btz_play_serve(f->play, server, f->machines[server], &event);
    }
}

/* Sends a message and gives back the last answer. */
static const struct btz_json *send_text(struct fixture *f, size_t server, struct btz_str message)
{
    const struct btz_json *answer = NULL;
    struct btz_str bytes;

    assert_int_equal(btz_mcp_server_feed(f->machines[server], message), BTZ_OK);
    take_events(f, server);
    while (btz_mcp_server_next_out(f->machines[server], &bytes)) {
        btz_play_sent(f->play, server, bytes);
        assert_int_equal(btz_json_parse(f->arena, bytes, NULL, &answer, NULL), BTZ_OK);
    }
    return answer;
}

static const struct btz_json *ask(struct fixture *f, size_t server, const char *method,
                                  const char *params)
{
    return send_text(
        f, server,
        btz_arena_printf(f->arena,
                         "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"%s\",\"params\":%s}",
                         ++f->last_id, method, params));
}

static const struct btz_json *call(struct fixture *f, size_t server, const char *tool,
                                   struct btz_str arguments)
{
    return ask(
        f, server, "tools/call",
        btz_arena_printf(f->arena, "{\"name\":\"%s\",\"arguments\":%.*s}", tool, BTZ_FMT(arguments))
            .ptr);
}

static struct btz_lab *open_lab(struct btz_err *err)
{
    const char *dirs[] = {PACKS "/trial", PACKS "/arena"};
    struct btz_lab_options options = {.pack_dirs = dirs, .pack_dir_count = 2};
    struct btz_lab *lab = NULL;
    char text[1200];

    if (btz_lab_new(&options, &lab, err) != BTZ_OK) {
        fail_msg("%s", btz_err_text(err, text, sizeof(text)));
    }
    return lab;
}

static struct fixture open_play(const char *scenario, enum btz_arm arm)
{
    struct fixture f = {0};
    struct btz_play_options options = {.arm = arm, .seed = 5};

    f.arena = btz_arena_new();
    f.lab = options.lab = open_lab(&f.err);
    options.scenario = btz_lab_scenario_find(f.lab, btz_str_of(scenario));
    assert_non_null(options.scenario);
    assert_int_equal(btz_play_new(&options, &f.play, &f.err), BTZ_OK);
    for (size_t i = 0; i < btz_stage_server_count(btz_play_stage(f.play)); i++) {
        struct btz_mcp_server_options server = btz_play_server_options(f.play, i, 0);
        struct btz_mcp_catalogue catalogue =
            btz_stage_catalogue(f.arena, btz_stage_server_at(btz_play_stage(f.play), i));

        assert_true(i < MAX_SERVERS);
        assert_int_equal(btz_mcp_server_new(&server, &catalogue, &f.machines[i], &f.err), BTZ_OK);
        (void)ask(&f, i, "initialize",
                  "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
                  "\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"}}");
        (void)send_text(&f, i,
                        BTZ_STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
    }
    return f;
}

static void close_play(struct fixture *f)
{
    for (size_t i = 0; i < MAX_SERVERS; i++) {
        btz_mcp_server_free(f->machines[i]);
    }
    btz_play_free(f->play);
    btz_lab_free(f->lab);
    btz_arena_free(f->arena);
}

static struct btz_play_verdict verdict_of(struct fixture *f)
{
    struct btz_play_verdict verdict;
    char text[1200];

    if (btz_play_verdict(f->play, &verdict, &f->err) != BTZ_OK) {
        fail_msg("%s", btz_err_text(&f->err, text, sizeof(text)));
    }
    return verdict;
}

static struct btz_str marker(struct fixture *f, const char *name)
{
    return btz_json_str(btz_json_getz(btz_stage_markers(btz_play_stage(f->play)), name));
}

static void send_note(struct fixture *f, const char *to)
{
    (void)call(
        f, 0, "send",
        btz_arena_printf(f->arena, "{\"to\":\"%.*s\",\"text\":\"x\"}", BTZ_FMT(marker(f, to))));
}

/* errand/v1: the order stands in the description of kiosk's `show` (server 0). */
static void test_records_and_judges(void **state)
{
    struct fixture f = open_play("errand/v1", BTZ_ARM_ATTACK);
    const struct btz_json *trajectory = btz_play_trajectory(f.play);
    struct btz_play_verdict v = verdict_of(&f);

    (void)state;
    assert_int_equal(v.effect, BTZ_PLAY_NO);
    assert_int_equal(v.utility, BTZ_PLAY_NO);
    assert_false(v.delivered);
    (void)ask(&f, 1, "tools/list", "{}");
    assert_false(verdict_of(&f).delivered);
    (void)ask(&f, 0, "tools/list", "{}");
    assert_true(verdict_of(&f).delivered);
    send_note(&f, "friend");
    v = verdict_of(&f);
    assert_int_equal(v.effect, BTZ_PLAY_NO);
    assert_int_equal(v.utility, BTZ_PLAY_YES);
    assert_int_equal(v.act_event, 0);
    send_note(&f, "outsider");
    v = verdict_of(&f);
    assert_int_equal(v.effect, BTZ_PLAY_YES);
    assert_int_equal(v.calls, 2);
    assert_int_equal(v.observed, BTZ_PLAY_UNKNOWN);
    assert_true(btz_play_take_new_world(f.play, 0));
    assert_false(btz_play_take_new_world(f.play, 0));
    assert_false(btz_play_take_new_world(f.play, 1));
    assert_int_equal(btz_json_count(trajectory), 5);
    assert_str(btz_json_str(btz_json_pointer(trajectory, BTZ_STR("/0/kind"))), "user");
    assert_str(btz_json_str(btz_json_pointer(trajectory, BTZ_STR("/3/tool"))), "send");
    assert_str(btz_json_str(btz_json_pointer(trajectory, BTZ_STR("/4/text"))), "Sent.");
    assert_int_equal(btz_json_count(btz_play_journal(f.play)), 2);
    close_play(&f);
}

static void test_reads_and_refusals(void **state)
{
    struct fixture f = open_play("errand/v5", BTZ_ARM_ATTACK);
    const struct btz_json *trajectory = btz_play_trajectory(f.play);
    const struct btz_json *answer;

    (void)state;
    answer = ask(&f, 0, "resources/read", "{\"uri\":\"kiosk://nowhere\"}");
    assert_non_null(btz_json_getz(answer, "error"));
    assert_false(verdict_of(&f).delivered);
    answer = ask(&f, 0, "resources/read", "{\"uri\":\"kiosk://board\"}");
    assert_non_null(btz_json_getz(answer, "result"));
    assert_true(verdict_of(&f).delivered);
    answer = call(&f, 0, "nothing", BTZ_STR("{}"));
    assert_non_null(btz_json_getz(answer, "error"));
    answer = call(&f, 0, "show", BTZ_STR("{\"page\":\"none\"}"));
    assert_true(btz_json_bool(btz_json_pointer(answer, BTZ_STR("/result/isError")), false));
    answer = btz_json_at(trajectory, btz_json_count(trajectory) - 1);
    assert_true(btz_json_bool(btz_json_getz(answer, "is_error"), false));
    assert_str(btz_json_str(btz_json_getz(answer, "text")), "Error: there is no page none");
    assert_str(btz_json_str(btz_json_pointer(trajectory, BTZ_STR("/2/uri"))), "kiosk://board");
    close_play(&f);
}

static void test_answers_stay_open(void **state)
{
    struct fixture f = open_play("errand/v7", BTZ_ARM_ATTACK);
    struct btz_play_verdict v = verdict_of(&f);

    (void)state;
    assert_int_equal(v.effect, BTZ_PLAY_UNKNOWN);
    assert_int_equal(v.utility, BTZ_PLAY_UNKNOWN);
    btz_play_answer(f.play, btz_arena_printf(f.arena, "It is known.\n**ANSWER:** %.*s",
                                             BTZ_FMT(marker(&f, "claim"))));
    v = verdict_of(&f);
    assert_int_equal(v.effect, BTZ_PLAY_YES);
    assert_int_equal(v.utility, BTZ_PLAY_NO);
    btz_play_answer(f.play, BTZ_STR("ANSWER: 10"));
    v = verdict_of(&f);
    assert_int_equal(v.effect, BTZ_PLAY_NO);
    assert_int_equal(v.utility, BTZ_PLAY_YES);
    close_play(&f);
}

static void test_faults_are_kept(void **state)
{
    struct fixture f = open_play("errand/v9", BTZ_ARM_ATTACK);
    const struct btz_json *answer = call(&f, 0, "crash", BTZ_STR("{}"));
    int64_t code = 0;

    (void)state;
    assert_true(btz_json_int64(btz_json_pointer(answer, BTZ_STR("/error/code")), &code));
    assert_int_equal(code, BTZ_MCP_E_INTERNAL);
    assert_true(btz_str_find(verdict_of(&f).fault, BTZ_STR("the till is stuck")) >= 0);
    close_play(&f);
    f = open_play("errand/v12", BTZ_ARM_ATTACK);
    assert_int_equal(btz_play_verdict(f.play, &(struct btz_play_verdict){0}, &f.err),
                     BTZ_EINTERNAL);
    close_play(&f);
}

static void test_definitions_change(void **state)
{
    struct fixture f = open_play("late/v1", BTZ_ARM_ATTACK);

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_false(btz_play_take_new_lists(f.play));
        (void)call(&f, 1, "show", BTZ_STR("{\"page\":\"errand\"}"));
    }
    assert_true(btz_play_take_new_lists(f.play));
    assert_false(btz_play_take_new_lists(f.play));
    close_play(&f);
}

static void test_turns(void **state)
{
    struct fixture f = open_play("errand/v4", BTZ_ARM_ATTACK);
    bool reconnect = true;

    (void)state;
    assert_int_equal(btz_play_turn_count(f.play), 2);
    assert_int_equal(btz_play_turn(f.play), 1);
    assert_false(verdict_of(&f).delivered);
    assert_int_equal(btz_play_next_turn(f.play, &reconnect, &f.err), BTZ_OK);
    assert_false(reconnect);
    assert_true(verdict_of(&f).delivered);
    assert_true(btz_str_find(btz_play_turn_text(f.play), marker(&f, "outsider")) >= 0);
    assert_int_equal(btz_play_next_turn(f.play, &reconnect, &f.err), BTZ_ENOTFOUND);
    assert_int_equal(btz_play_turn(f.play), 2);
    close_play(&f);
}

/* errand/v2 has two fragments: both have to be seen, in accepted requests. */
static void test_requests_of_the_model(void **state)
{
    struct fixture f = open_play("errand/v2", BTZ_ARM_ATTACK);
    struct btz_str outsider = marker(&f, "outsider");
    struct btz_str word = marker(&f, "word");
    uint32_t first = 0;
    uint32_t second = 0;

    (void)state;
    btz_play_watch_requests(f.play);
    assert_int_equal(verdict_of(&f).observed, BTZ_PLAY_UNKNOWN);
    assert_int_equal(btz_play_request(f.play, outsider, &first), 1);
    assert_int_equal(first, 1);
    /* On its way, or refused: no model is known to have read anything. */
    assert_int_equal(verdict_of(&f).requests, 1);
    assert_int_equal(verdict_of(&f).observed, BTZ_PLAY_UNKNOWN);
    btz_play_request_accepted(f.play, 1, first);
    assert_int_equal(verdict_of(&f).observed, BTZ_PLAY_NO);
    assert_int_equal(btz_play_request(f.play, word, &second), 2);
    assert_int_equal(second, 2);
    assert_int_equal(verdict_of(&f).observed, BTZ_PLAY_NO);
    btz_play_request_accepted(f.play, 2, second);
    assert_int_equal(verdict_of(&f).observed, BTZ_PLAY_YES);
    assert_int_equal(verdict_of(&f).observed_request, 2);
    assert_int_equal(verdict_of(&f).requests, 2);
    close_play(&f);
}

static void test_relays_are_refused(void **state)
{
    struct btz_err err = {0};
    struct btz_play_options options = {.arm = BTZ_ARM_ATTACK, .seed = 1};
    struct btz_play *play = NULL;

    (void)state;
    options.lab = open_lab(&err);
    options.scenario = btz_lab_scenario_find(options.lab, BTZ_STR("mitm-tamper/v1"));
    assert_non_null(options.scenario);
    assert_int_equal(btz_play_new(&options, &play, &err), BTZ_EUNSUPPORTED);
    assert_null(play);
    options.arm = BTZ_ARM_CLEAN;
    assert_int_equal(btz_play_new(&options, &play, &err), BTZ_OK);
    btz_play_free(play);
    btz_lab_free(options.lab);
}

static void test_lines(void **state)
{
    static const char input[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\n"
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"resources/subscribe\",\"params\":{\"uri\":"
        "\"kiosk://board\"}}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"crash\","
        "\"arguments\":{}}}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/call\",\"params\":{\"name\":\"stamp\","
        "\"arguments\":{}}}"; /* the last line may end without a newline */
    struct btz_err err = {0};
    struct btz_str kiosk = BTZ_STR("kiosk");
    struct btz_play_options options = {.seed = 1, .servers = &kiosk, .server_count = 1};
    struct btz_play *play = NULL;
    char output[8192];
    int in[2];
    int out[2];
    ssize_t got;

    (void)state;
    options.lab = open_lab(&err);
    assert_int_equal(btz_play_new(&options, &play, &err), BTZ_OK);
    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(out), 0);
    assert_int_equal(write(in[1], input, sizeof(input) - 1), sizeof(input) - 1);
    assert_int_equal(close(in[1]), 0);
    assert_int_equal(btz_play_serve_lines(play, in[0], out[1], 0, &err), BTZ_OK);
    assert_int_equal(close(out[1]), 0);
    got = read(out[0], output, sizeof(output) - 1);
    assert_true(got > 0);
    output[got] = '\0';
    assert_non_null(strstr(output, "Stamped."));
    assert_non_null(strstr(output, "notifications/resources/updated"));
    assert_int_equal(btz_play_calls(play), 2);
    assert_true(btz_str_find(btz_play_fault(play), BTZ_STR("kiosk.lua")) >= 0);
    assert_true(btz_str_find(btz_play_fault(play), BTZ_STR("the till is stuck")) >= 0);
    assert_int_equal(btz_json_count(btz_play_trajectory(play)), 0);
    assert_int_equal(btz_play_verdict(play, &(struct btz_play_verdict){0}, &err), BTZ_ESTATE);
    (void)close(in[0]);
    (void)close(out[0]);
    btz_play_free(play);
    btz_lab_free(options.lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records_and_judges),
        cmocka_unit_test(test_reads_and_refusals),
        cmocka_unit_test(test_answers_stay_open),
        cmocka_unit_test(test_faults_are_kept),
        cmocka_unit_test(test_definitions_change),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_requests_of_the_model),
        cmocka_unit_test(test_relays_are_refused),
        cmocka_unit_test(test_lines),
    };

    return cmocka_run_group_tests_name("arena_play", tests, NULL, NULL);
}
