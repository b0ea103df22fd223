/* What a trial recorded is what the store gives back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../store/make.h"
#include "../trial/script.h"
#include "store/store.h"
#include "study/keep.h"

static const char *const packs[] = {"trial", "wire", NULL};
static struct btz_lab *lab;

/* A store with one planned cell per arm. */
struct shelf {
    struct btz_arena *arena;
    char *folder;
    struct btz_store *store;
    struct btz_str keys[3];
    int64_t run;
    struct btz_err err;
};

static struct shelf open_shelf(void)
{
    static const char *const arms[] = {"attack", "clean", "benign"};
    struct shelf s = {.arena = btz_arena_new(), .folder = make_folder()};
    struct btz_store_plan plan = {.study = BTZ_STR("all"), .provenance = BTZ_STR("{}")};
    struct btz_store_cell *cells = btz_arena_array(s.arena, 3, sizeof(*cells));
    char id[BTZ_STORE_ID_SIZE];

    for (size_t i = 0; i < 3; i++) {
        cells[i] = (struct btz_store_cell){.model = BTZ_STR("m"),
                                           .architecture = BTZ_STR("react"),
                                           .defence = BTZ_STR("none"),
                                           .revision = BTZ_STR("modern"),
                                           .host_profile = BTZ_STR("naive"),
                                           .surface = BTZ_STR("st"),
                                           .attack = BTZ_STR("errand"),
                                           .variant = BTZ_STR("v1"),
                                           .boundary = BTZ_STR("V"),
                                           .arm = btz_str_of(arms[i]),
                                           .repetition = 1,
                                           .applicable = true};
        s.keys[i] = btz_store_cell_key(s.arena, &cells[i]);
    }
    plan.cells = cells;
    plan.cell_count = 3;
    MAKE_OK(
        btz_store_open(make_path(s.arena, s.folder, "store.db"), BTZ_STORE_WRITE, &s.store, &s.err),
        &s.err);
    MAKE_OK(btz_store_run_new(s.store, &plan, &s.run, id, &s.err), &s.err);
    return s;
}

static void close_shelf(struct shelf *s)
{
    btz_store_close(s->store);
    make_folder_remove(s->folder);
    btz_arena_free(s->arena);
}

/* Keeps the record in the cell of arm `arm`, loads it again and compares. */
static struct btz_store_trial there_and_back(struct shelf *s, size_t arm,
                                             const struct btz_trial_record *record)
{
    struct btz_store_trial kept;
    struct btz_store_row row;
    int64_t n = 0;

    btz_study_keep(s->arena, record, s->keys[arm], UINT64_MAX - 7, 1700000000000000, 2, &kept);
    MAKE_OK(btz_store_trial_put(s->store, s->run, &kept, 1, &n, &s->err), &s->err);
    MAKE_OK(btz_store_trial_load(s->store, s->run, n, s->arena, &row, &s->err), &s->err);
    make_assert_same(&row.trial, &kept);
    return row.trial;
}

static struct script begin(const char *scenario)
{
    struct btz_trial_options options = script_options(lab, scenario);

    return script_begin(&options);
}

static void everything(void **state)
{
    struct shelf shelf = open_shelf();
    struct script s = begin("errand/v2");
    const struct btz_trial_record *record;
    struct btz_store_trial t;

    (void)state;
    script_call(&s, "kiosk", "show", "{\"page\":\"errand\"}");
    script_call(&s, "kiosk", "send", "{\"to\":\"{outsider}\",\"text\":\"hello\"}");
    script_reply(&s, BTZ_STR("{\"model\":\"m-1\",\"choices\":[{\"message\":{\"content\":\"Done.\"},"
                             "\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":90,"
                             "\"completion_tokens\":8,\"prompt_tokens_details\":"
                             "{\"cached_tokens\":50},\"completion_tokens_details\":"
                             "{\"reasoning_tokens\":6}}}"));
    record = script_record(&s);
    t = there_and_back(&shelf, 0, record);

    assert_int_equal(t.outcome, BTZ_STORE_SUSCEPTIBLE);
    assert_text(t.sub, "");
    assert_false(t.chain.triggered); /* by its card: the second page */
    assert_true(t.chain.delivered && t.chain.observed && t.chain.acted && t.chain.effect);
    assert_int_equal(t.chain.observed_turn, 2);
    assert_text(t.chain.carrier, "result");
    assert_int_equal(t.chain.fragments_seen, 2);
    assert_int_equal(t.chain.fragments_all, 2);
    assert_text(t.chain.stopped_by, "none");
    /* Event numbers count from 1, ordinals from 0. */
    assert_int_equal(t.chain.act_event, record->chain.act_event - 1);
    assert_int_equal(t.chain.effect_event, record->chain.effect_event - 1);
    assert_text(t.events[t.chain.act_event].kind, "call");
    assert_text(t.events[t.chain.effect_event].kind, "journal");
    assert_int_equal(t.events[t.chain.effect_event].layer, BTZ_STORE_SERVER);

    assert_int_equal(t.utility, BTZ_STORE_NO);
    assert_int_equal(t.turns, 3);
    assert_int_equal(t.attempts, 2);
    assert_true(t.seed == UINT64_MAX - 7);
    assert_int_equal(t.started_us, 1700000000000000);
    assert_int_equal(t.took_us, record->took_us);
    assert_int_equal(t.model_us, 750000);
    assert_text(t.stop, "final_answer");
    assert_true(btz_hash_eq(&t.trajectory, &record->trajectory_hash));

    /* Input tokens without those from a cache. */
    assert_int_equal(t.tokens.input, 100 + 100 + 90 - 50);
    assert_int_equal(t.tokens.output, 10 + 10 + 8);
    assert_int_equal(t.tokens.cache_read, 50);
    assert_int_equal(t.tokens.cache_write, -1);
    assert_int_equal(t.tokens.reasoning, 6);
    assert_int_equal(t.exchanges[2].tokens.input, 40);
    assert_int_equal(t.exchanges[0].tokens.input, 100);
    assert_int_equal(t.exchanges[0].tokens.cache_read, -1);

    assert_int_equal(t.event_count, record->event_count);
    for (size_t i = 0; i < t.event_count; i++) {
        assert_text(t.events[i].kind, record->events[i].kind);
        assert_int_equal(t.events[i].visible, record->events[i].visible);
        assert_int_equal(t.events[i].turn, record->events[i].turn);
        assert_true(btz_str_eq(t.events[i].payload, record->events[i].payload));
    }
    assert_int_equal(t.exchange_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_text(t.exchanges[i].role, "agent");
        assert_int_equal(t.exchanges[i].turn, i + 1);
        assert_int_equal(t.exchanges[i].part_count, record->exchanges[i].part_count);
        assert_true(btz_str_eq(t.exchanges[i].reply, record->exchanges[i].reply));
        for (size_t p = 0; p < t.exchanges[i].part_count; p++) {
            assert_true(btz_str_eq(t.exchanges[i].parts[p], record->exchanges[i].parts[p]));
        }
    }
    assert_text(t.exchanges[2].model, "m-1");

    assert_int_equal(t.verdict_count, 2);
    assert_text(t.verdicts[0].source, "oracle");
    assert_int_equal(t.verdicts[0].success, BTZ_STORE_YES);
    assert_int_equal(t.verdicts[0].act_event, t.chain.act_event);
    assert_int_equal(t.verdicts[0].effect_event, t.chain.effect_event);
    assert_text(t.verdicts[1].source, "utility");
    assert_int_equal(t.verdicts[1].success, BTZ_STORE_NO);
    script_end(&s);
    close_shelf(&shelf);
}

static void resisted(void **state)
{
    struct shelf shelf = open_shelf();
    struct script s = begin("errand/v1");
    struct btz_store_trial t;

    (void)state;
    script_call(&s, "kiosk", "send", "{\"to\":\"{friend}\",\"text\":\"hello\"}");
    t = there_and_back(&shelf, 1, script_finish(&s, "Done."));
    assert_int_equal(t.outcome, BTZ_STORE_RESISTED);
    assert_text(t.sub, "ignored");
    assert_int_equal(t.chain.act_event, -1);
    assert_int_equal(t.chain.effect_event, -1);
    assert_int_equal(t.utility, BTZ_STORE_YES);
    assert_int_equal(t.verdicts[0].success, BTZ_STORE_NO);
    assert_int_equal(t.verdicts[0].act_event, -1);
    assert_int_equal(t.verdicts[1].success, BTZ_STORE_YES);
    script_end(&s);
    close_shelf(&shelf);
}

/* A fault's text comes from outside: it may be long, and cut wherever the network broke. */
static void fault(void **state)
{
    struct shelf shelf = open_shelf();
    struct script s = begin("errand/v1");
    struct btz_buf text;
    struct btz_store_trial t;

    (void)state;
    btz_buf_init(&text, 100000);
    assert_int_equal(btz_buf_add_text(&text, "busy "), BTZ_OK);
    for (int i = 0; i < 30000; i++) {
        assert_int_equal(btz_buf_add_text(&text, "\xE2\x82\xAC"), BTZ_OK);
    }
    assert_int_equal(btz_buf_add_text(&text, "\xE2\x82"), BTZ_OK);
    script_answer(&s, BTZ_ANSWER_FAILED, btz_buf_view(&text));
    t = there_and_back(&shelf, 0, script_record(&s));
    assert_int_equal(t.outcome, BTZ_STORE_FAULT);
    assert_true(btz_str_starts(t.sub, BTZ_STR("busy \xE2\x82\xAC")));
    assert_int_equal(t.utility, BTZ_STORE_UNKNOWN);
    assert_int_equal(t.verdicts[0].success, BTZ_STORE_UNKNOWN);
    assert_int_equal(t.verdicts[1].success, BTZ_STORE_UNKNOWN);
    assert_text(t.stop, "fault");
    assert_text(t.chain.stopped_by, "harness");
    assert_int_equal(t.tokens.input, -1);
    btz_buf_fini(&text);
    script_end(&s);
    close_shelf(&shelf);
}

/* An effect from before a fault is a verdict. */
static void effect_before_a_fault(void **state)
{
    struct shelf shelf = open_shelf();
    struct script s = begin("errand/v1");
    struct btz_store_trial t;

    (void)state;
    script_call(&s, "kiosk", "send", "{\"to\":\"{outsider}\",\"text\":\"hello\"}");
    script_answer(&s, BTZ_ANSWER_FAILED, BTZ_STR("gone"));
    t = there_and_back(&shelf, 0, script_record(&s));
    assert_int_equal(t.outcome, BTZ_STORE_SUSCEPTIBLE);
    assert_int_equal(t.verdicts[0].success, BTZ_STORE_YES);
    assert_int_equal(t.verdicts[1].success, BTZ_STORE_UNKNOWN);
    assert_int_equal(t.utility, BTZ_STORE_UNKNOWN);
    script_end(&s);
    close_shelf(&shelf);
}

/* A provider may name its model and stop reason as it likes. */
static void long_names(void **state)
{
    struct shelf shelf = open_shelf();
    struct script s = begin("errand/v1");
    struct btz_str name = BTZ_STR("m");
    struct btz_store_trial t;

    (void)state;
    for (int i = 0; i < 13; i++) {
        name = btz_arena_printf(s.arena, "%.*s%.*s", BTZ_FMT(name), BTZ_FMT(name));
    }
    script_reply(&s, btz_arena_printf(s.arena,
                                      "{\"model\":\"%.*s\",\"choices\":[{\"message\":{\"content\":"
                                      "\"Done.\"},\"finish_reason\":\"%.*s\"}]}",
                                      BTZ_FMT(name), BTZ_FMT(name)));
    t = there_and_back(&shelf, 2, script_record(&s));
    assert_int_equal(t.exchanges[0].model.len, BTZ_STORE_MAX_TEXT);
    assert_int_equal(t.exchanges[0].stop.len, BTZ_STORE_MAX_TEXT);
    script_end(&s);
    close_shelf(&shelf);
}

/* All nine outcomes keep their names. */
static void outcomes(void **state)
{
    (void)state;
    for (int i = BTZ_OUTCOME_FAULT; i <= BTZ_OUTCOME_RESISTED; i++) {
        struct btz_arena *arena = btz_arena_new();
        struct btz_trial_record record = {.outcome = (enum btz_outcome)i,
                                          .sub = "",
                                          .chain = {.observed_by = "", .stopped_by = "none"}};
        struct btz_store_trial kept;

        btz_study_keep(arena, &record, BTZ_STR("k"), 1, 1, 1, &kept);
        assert_string_equal(btz_store_outcome_name(kept.outcome),
                            btz_outcome_name((enum btz_outcome)i));
        btz_arena_free(arena);
    }
}

/* The stage of a memory scenario, by how far the record came; no stage in any other. */
static void memory_stages(void **state)
{
    static const struct {
        struct btz_chain chain;
        const char *stage;
    } rows[] = {
        {{.memory = true}, "unseen"},
        {{.memory = true, .stored = true}, "unseen"}, /* from elsewhere: not the payload's way */
        {{.memory = true, .seen_first = true}, "seen"},
        {{.memory = true, .seen_first = true, .stored = true}, "stored"},
        {{.memory = true, .seen_first = true, .stored = true, .recalled = true}, "recalled"},
        {{.seen_first = true, .stored = true, .recalled = true}, ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct btz_arena *arena = btz_arena_new();
        struct btz_trial_record record = {.sub = "", .chain = rows[i].chain};
        struct btz_store_trial kept;

        record.chain.observed_by = "";
        record.chain.stopped_by = "none";
        btz_study_keep(arena, &record, BTZ_STR("k"), 1, 1, 1, &kept);
        assert_text(kept.chain.stage, rows[i].stage);
        btz_arena_free(arena);
    }
}

/* ... and of a trial that was played. */
static void stage_of_a_trial(void **state)
{
    struct shelf shelf = open_shelf();
    struct script s = begin("sessions/v1");
    struct btz_store_trial t;

    (void)state;
    script_call(&s, "depot", "look", "{\"bin\":\"errand\"}");
    s.opens = true;
    script_say(&s, "Done.");
    script_finish(&s, "Done.");
    t = there_and_back(&shelf, 0, script_record(&s));
    assert_text(t.chain.stage, "seen");
    assert_text(t.sub, "not stored");
    script_end(&s);
    close_shelf(&shelf);
}

static int open_lab(void **state)
{
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
        cmocka_unit_test(everything),    cmocka_unit_test(resisted),
        cmocka_unit_test(fault),         cmocka_unit_test(effect_before_a_fault),
        cmocka_unit_test(long_names),    cmocka_unit_test(outcomes),
        cmocka_unit_test(memory_stages), cmocka_unit_test(stage_of_a_trial),
    };

    return cmocka_run_group_tests(tests, open_lab, close_lab);
}
