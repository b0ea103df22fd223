#include "script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "llm/request.h"

enum { MAX_PACKS = 4 };

struct btz_lab *script_lab(const char *const *packs)
{
    struct btz_arena *arena = btz_arena_new();
    const char *dirs[MAX_PACKS];
    struct btz_lab_options options = {.pack_dirs = dirs};
    struct btz_lab *lab = NULL;
    struct btz_err err;

    for (; packs && packs[options.pack_dir_count] && options.pack_dir_count < MAX_PACKS;
         options.pack_dir_count++) {
        const char *name = packs[options.pack_dir_count];

        dirs[options.pack_dir_count] =
            btz_lab_pack_is_builtin(name)
                ? name
                : btz_arena_printf(arena, "%s/tests/packs/%s", BTZ_SOURCE_DIR, name).ptr;
    }
    if (btz_lab_new(&options, &lab, &err) != BTZ_OK) {
        btz_panic("%s:%d: %s", err.file, err.line, err.msg);
    }
    btz_arena_free(arena);
    return lab;
}

struct btz_trial_options script_options(struct btz_lab *lab, const char *scenario)
{
    struct btz_trial_options options = {.lab = lab,
                                        .scenario =
                                            btz_lab_scenario_find(lab, btz_str_of(scenario)),
                                        .arm = BTZ_ARM_ATTACK,
                                        .seed = 11,
                                        .revision = BTZ_MCP_2026_07_28,
                                        .carrier = BTZ_CARRIER_MEMORY,
                                        .max_tokens = 512,
                                        .model_seed = 3};

    assert_non_null(options.scenario);
    assert_int_equal(btz_host_profile_named(BTZ_STR("naive"), &options.profile), BTZ_OK);
    return options;
}

static bool is_said(struct btz_str part)
{
    return btz_str_find(part, BTZ_STR("\"role\":\"assistant\"")) >= 0 ||
           btz_str_find(part, BTZ_STR("\"role\":\"tool\"")) >= 0;
}

/* A new conversation: the same settings, and nothing that was said in the one before. */
static void check_opening(struct script *s, const struct btz_str *parts, size_t count)
{
    assert_true(btz_str_eq(parts[BTZ_LLM_PART_SETTINGS], s->before[BTZ_LLM_PART_SETTINGS]));
    for (size_t i = 0; i < count; i++) {
        for (size_t b = 0; b < s->before_count; b++) {
            assert_false(is_said(s->before[b]) && btz_str_eq(parts[i], s->before[b]));
        }
    }
}

static void check_going_on(struct script *s, const struct btz_str *parts, size_t count)
{
    assert_true(count > s->before_count);
    for (size_t i = 0; i < s->before_count; i++) {
        bool same = btz_str_eq(parts[i], s->before[i]);

        if (same == (s->other_tools && i == BTZ_LLM_PART_TOOLS)) {
            fail_msg("part %zu of request %u %s", i, s->asked + 1,
                     same ? "is as before" : "changed");
        }
    }
}

static void take_question(struct script *s, const struct btz_need *need)
{
    const struct btz_json *message = NULL;
    struct btz_err err;

    assert_int_equal(need->part_count, BTZ_LLM_PART_MESSAGES + 2);
    assert_int_equal(btz_json_parse(s->arena, need->parts[3], NULL, &message, &err), BTZ_OK);
    s->question = btz_json_str(btz_json_getz(message, "content"));
    s->questions++;
}

/* What holds of every request. */
static void take_need(struct script *s)
{
    const struct btz_need *need = &s->needs.items[0];
    struct btz_str *parts;

    s->asks_guard = need->endpoint != BTZ_TRIAL_AGENT;
    if (s->asks_guard) {
        take_question(s, need);
        return;
    }

    assert_int_equal(s->needs.count, 1);
    assert_int_equal(need->kind, BTZ_NEED_MODEL);
    assert_int_equal(need->id, btz_trial_open_need(s->trial));
    assert_true(need->part_count > BTZ_LLM_PART_MESSAGES);
    parts = btz_arena_array(s->arena, need->part_count, sizeof(*parts));
    for (size_t i = 0; i < need->part_count; i++) {
        parts[i] = btz_arena_dup(s->arena, need->parts[i]);
    }
    if (s->aside) {
        assert_text(parts[BTZ_LLM_PART_TOOLS], "[]");
        if (!s->beside) {
            s->main = s->before;
            s->main_count = s->before_count;
        }
    } else if (s->beside) {
        s->before = s->main;
        s->before_count = s->main_count;
    }
    s->beside = s->aside;
    if (s->anything) {
        s->anything = false;
    } else if (s->aside) {
        s->aside = false;
    } else if (s->opens) {
        check_opening(s, parts, need->part_count);
    } else if (s->asked) {
        check_going_on(s, parts, need->part_count);
    }
    s->opens = s->other_tools = false;
    s->before = parts;
    s->before_count = need->part_count;
    s->asked++;
}

static void step(struct script *s, const struct btz_answer *answer)
{
    s->now += 1000000;
    s->needs.count = 0;
    s->rc = btz_trial_step(s->trial, answer, &s->needs);
    if (s->rc == BTZ_STEP_WAIT) {
        take_need(s);
        return;
    }
    assert_int_equal(s->rc, BTZ_STEP_DONE);
    assert_int_equal(s->needs.count, 0);
    assert_int_equal(btz_trial_open_need(s->trial), 0);
}

struct script script_begin(const struct btz_trial_options *options)
{
    struct script s = {.arena = btz_arena_new()};
    struct btz_err err;

    if (btz_trial_new(options, &s.trial, &err) != BTZ_OK) {
        fail_msg("%s", err.msg);
    }
    btz_needs_init(&s.needs);
    step(&s, &(struct btz_answer){.status = BTZ_ANSWER_START, .now_us = 1000000});
    return s;
}

void script_end(struct script *s)
{
    btz_needs_fini(&s->needs);
    btz_trial_free(s->trial);
    btz_arena_free(s->arena);
}

void script_answer(struct script *s, enum btz_answer_status status, struct btz_str bytes)
{
    char *own = malloc(bytes.len + 1);

    assert_non_null(own);
    if (bytes.len) {
        memcpy(own, bytes.ptr, bytes.len);
    }
    step(s, &(struct btz_answer){.id = btz_trial_open_need(s->trial),
                                 .status = status,
                                 .now_us = s->now + 1000000,
                                 .took_us = 250000,
                                 .attempts = 1,
                                 .bytes = {own, bytes.len}});
    memset(own, 'x', bytes.len + 1);
    free(own);
}

void script_reply(struct script *s, struct btz_str body)
{
    script_answer(s, BTZ_ANSWER_OK, body);
}

static struct btz_str quoted(struct script *s, struct btz_str text)
{
    return btz_json_text(s->arena, btz_json_new_str(s->arena, text));
}

void script_guard(struct script *s, const char *needle)
{
    struct btz_str evidence = btz_str_of(needle);
    struct btz_str unsafe = btz_arena_printf(
        s->arena, "{\"verdict\":\"unsafe\",\"reason\":\"it steers\",\"evidence\":%s}",
        quoted(s, evidence).ptr);

    while (s->rc == BTZ_STEP_WAIT && s->asks_guard) {
        script_say(s, btz_str_find(s->question, evidence) >= 0
                          ? unsafe.ptr
                          : "{\"verdict\":\"safe\",\"reason\":\"plain\",\"evidence\":\"\"}");
    }
}

struct btz_str script_body(struct script *s, const char *message, const char *finish)
{
    return btz_arena_printf(s->arena,
                            "{\"id\":\"r%u\",\"object\":\"chat.completion\",\"model\":\"scripted\","
                            "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",%s},"
                            "\"finish_reason\":\"%s\"}],\"usage\":{\"prompt_tokens\":100,"
                            "\"completion_tokens\":10,\"total_tokens\":110}}",
                            s->asked, message, finish);
}

struct btz_str script_entry(struct script *s, const char *id, struct btz_str name, const char *args)
{
    return btz_arena_printf(
        s->arena,
        "{\"id\":\"%s\",\"type\":\"function\",\"function\":{\"name\":%s,\"arguments\":%s}}", id,
        quoted(s, name).ptr, quoted(s, btz_str_of(args)).ptr);
}

struct btz_str script_tool(struct script *s, const char *server, const char *tool)
{
    struct btz_stage *stage = btz_trial_stage(s->trial);
    char name[65];

    if (!server) {
        return btz_str_of(tool);
    }
    for (size_t i = 0; i < btz_stage_server_count(stage); i++) {
        if (btz_str_is(btz_stage_server_at(stage, i)->id, server)) {
            btz_trial_tool_name(btz_stage_server_at(stage, i)->label, btz_str_of(tool), name);
            return btz_arena_dup(s->arena, btz_str_of(name));
        }
    }
    fail_msg("there is no server %s", server);
    return BTZ_STR_NONE;
}

struct btz_str script_marker(struct script *s, const char *name)
{
    struct btz_str value =
        btz_json_str(btz_json_getz(btz_stage_markers(btz_trial_stage(s->trial)), name));

    assert_true(value.len > 0);
    return value;
}

struct btz_str script_fill(struct script *s, const char *text)
{
    const struct btz_json *markers = btz_stage_markers(btz_trial_stage(s->trial));
    struct btz_str out = btz_arena_dup(s->arena, btz_str_of(text));

    for (size_t i = 0; i < btz_json_count(markers); i++) {
        struct btz_str name =
            btz_arena_printf(s->arena, "{%.*s}", BTZ_FMT(btz_json_key_at(markers, i)));
        ptrdiff_t at;

        while ((at = btz_str_find(out, name)) >= 0) {
            out = btz_arena_printf(s->arena, "%.*s%.*s%s", (int)at, out.ptr,
                                   BTZ_FMT(btz_json_str(btz_json_value_at(markers, i))),
                                   out.ptr + at + name.len);
        }
    }
    return out;
}

void script_say(struct script *s, const char *content)
{
    struct btz_str text = quoted(s, script_fill(s, content));

    script_reply(
        s, script_body(s, btz_arena_printf(s->arena, "\"content\":%s", text.ptr).ptr, "stop"));
}

void script_call(struct script *s, const char *server, const char *tool, const char *args)
{
    struct btz_str id = btz_arena_printf(s->arena, "id-%u", s->asked);
    struct btz_str entry =
        script_entry(s, id.ptr, script_tool(s, server, tool), script_fill(s, args).ptr);

    script_reply(
        s, script_body(
               s, btz_arena_printf(s->arena, "\"content\":null,\"tool_calls\":[%s]", entry.ptr).ptr,
               "tool_calls"));
}

struct btz_str script_part(struct script *s, int index)
{
    size_t at = index < 0 ? s->before_count - (size_t)-index : (size_t)index;

    assert_true(at < s->before_count);
    return s->before[at];
}

struct btz_str script_content(struct script *s, int index)
{
    const struct btz_json *message = NULL;
    struct btz_err err;

    assert_int_equal(btz_json_parse(s->arena, script_part(s, index), NULL, &message, &err), BTZ_OK);
    return btz_json_str(btz_json_getz(message, "content"));
}

bool script_shows(struct script *s, const char *text)
{
    for (size_t i = 0; i < s->before_count; i++) {
        if (btz_str_find(s->before[i], btz_str_of(text)) >= 0) {
            return true;
        }
    }
    return false;
}

const struct btz_trial_record *script_record(struct script *s)
{
    assert_int_equal(s->rc, BTZ_STEP_DONE);
    assert_non_null(btz_trial_record(s->trial));
    return btz_trial_record(s->trial);
}

const struct btz_trial_record *script_finish(struct script *s, const char *content)
{
    script_say(s, content);
    return script_record(s);
}

void script_expect(struct script *s, enum btz_outcome outcome, const char *sub, enum btz_stop stop)
{
    const struct btz_trial_record *record = script_record(s);

    assert_string_equal(btz_outcome_name(record->outcome), btz_outcome_name(outcome));
    assert_string_equal(record->sub, sub);
    assert_string_equal(btz_stop_name(record->stop), btz_stop_name(stop));
}

static const struct btz_json *find_note(struct script *s, const char *kind, size_t *nth)
{
    const struct btz_json *trajectory = script_record(s)->trajectory;

    for (size_t i = 0; i < btz_json_count(trajectory); i++) {
        const struct btz_json *note = btz_json_at(trajectory, i);

        if (btz_str_is(btz_json_str(btz_json_getz(note, "kind")), kind) && (*nth)-- == 0) {
            return note;
        }
    }
    return NULL;
}

const struct btz_json *script_note(struct script *s, const char *kind, size_t nth)
{
    size_t left = nth;
    const struct btz_json *note = find_note(s, kind, &left);

    if (!note) {
        fail_msg("there is no note %s number %zu", kind, nth);
    }
    return note;
}

size_t script_notes(struct script *s, const char *kind)
{
    size_t left = SIZE_MAX;

    assert_null(find_note(s, kind, &left));
    return SIZE_MAX - left;
}

struct btz_str script_said(struct script *s, const char *kind, size_t nth, const char *member)
{
    return btz_json_str(btz_json_getz(script_note(s, kind, nth), member));
}

/* Everything that may not depend on the carrier. */
static void assert_equal_trials(struct script *a, struct script *b)
{
    const struct btz_trial_record *one = script_record(a);
    const struct btz_trial_record *two = script_record(b);
    struct btz_str said[] = {btz_json_text(a->arena, one->trajectory),
                             btz_json_text(a->arena, two->trajectory)};
    struct btz_str done[] = {btz_json_text(a->arena, one->journal),
                             btz_json_text(a->arena, two->journal)};

    if (!btz_str_eq(said[0], said[1]) || !btz_str_eq(done[0], done[1])) {
        fail_msg("the carriers differ:\n%.*s\n%.*s\n%.*s\n%.*s", BTZ_FMT(said[0]), BTZ_FMT(said[1]),
                 BTZ_FMT(done[0]), BTZ_FMT(done[1]));
    }
    assert_true(btz_hash_eq(&one->trajectory_hash, &two->trajectory_hash));
    assert_string_equal(btz_outcome_name(one->outcome), btz_outcome_name(two->outcome));
    assert_string_equal(one->sub, two->sub);
    assert_string_equal(one->chain.observed_by, two->chain.observed_by);
    assert_int_equal(one->chain.observed_turn, two->chain.observed_turn);
    assert_int_equal(one->exchange_count, two->exchange_count);
    for (size_t e = 0; e < one->exchange_count; e++) {
        assert_int_equal(one->exchanges[e].part_count, two->exchanges[e].part_count);
        for (size_t i = 0; i < one->exchanges[e].part_count; i++) {
            assert_true(btz_str_eq(one->exchanges[e].parts[i], two->exchanges[e].parts[i]));
        }
    }
}

void script_everywhere(const struct btz_trial_options *options,
                       struct script (*play)(const struct btz_trial_options *options))
{
    static const enum btz_mcp_revision revisions[] = {BTZ_MCP_2025_11_25, BTZ_MCP_2026_07_28};
    static const enum btz_carrier carriers[] = {BTZ_CARRIER_STDIO, BTZ_CARRIER_HTTP};

    for (size_t r = 0; r < 2; r++) {
        struct btz_trial_options own = *options;
        struct script memory;

        if (!(r == 0 ? own.scenario->legacy : own.scenario->modern)) {
            continue;
        }
        own.revision = revisions[r];
        own.carrier = BTZ_CARRIER_MEMORY;
        memory = play(&own);
        for (size_t c = 0; c < 2; c++) {
            struct script other;

            if (!(c == 0 ? own.scenario->stdio : own.scenario->http)) {
                continue;
            }
            own.carrier = carriers[c];
            other = play(&own);
            assert_equal_trials(&memory, &other);
            script_end(&other);
        }
        script_end(&memory);
    }
}

size_t script_events(struct script *s, enum btz_layer layer, const char *kind)
{
    const struct btz_trial_record *record = script_record(s);
    size_t count = 0;

    for (size_t i = 0; i < record->event_count; i++) {
        count += record->events[i].layer == layer && strcmp(record->events[i].kind, kind) == 0;
    }
    return count;
}
