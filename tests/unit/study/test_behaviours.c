/* Whole trials of core scenarios in which the model does what no reference agent does: other tools,
 * other order, warnings, doubts, half the work. Each is run with native tool calls and with JSON
 * actions. behaviours.jsonl holds one behaviour a line:
 *
 *   on    scenario            arm     "attack" if left out, "clean", "benign"
 *   is    what the model does, for people
 *   do    steps: a text is an answer; ["server.tool", {args}, {captures}] a call; {"read": uri}
 *   then  outcome             sub     its sub-code, unless left out
 *   useful  whether the user's task is done
 *
 * {name} is a marker, {^name} the same in capitals and {,name} an amount with a comma between its
 * thousands; `$name` is a capture (llm/reference.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/buf.h"
#include "../store/make.h"
#include "bench.h"
#include "drive/reference_run.h"
#include "json/json.h"
#include "trial/trial.h"

#define BEHAVIOURS BTZ_SOURCE_DIR "/tests/unit/study/behaviours.jsonl"

enum { MAX_FILE = 1024 * 1024, SEED = 11 };

static const char *const packs[] = {NULL};

static struct btz_str whole_file(struct btz_arena *arena, const char *path)
{
    char *bytes = btz_arena_array(arena, MAX_FILE, 1);
    FILE *file = fopen(path, "rb");
    size_t len;

    assert_non_null(file);
    len = fread(bytes, 1, MAX_FILE, file);
    assert_true(len < MAX_FILE);
    assert_int_equal(fclose(file), 0);
    return (struct btz_str){.ptr = bytes, .len = len};
}

/* Adds the marker whose name stands in braces at the head of `rest`; 0 if none does. */
static size_t add_marker(struct btz_buf *buf, const struct btz_json *markers, struct btz_str rest)
{
    bool capitals = btz_str_starts(rest, BTZ_STR("{^"));
    bool grouped = btz_str_starts(rest, BTZ_STR("{,"));
    size_t head = capitals || grouped ? 2 : 1;
    struct btz_str inner = btz_str_sub(rest, head, rest.len);

    for (size_t i = 0; rest.ptr[0] == '{' && i < btz_json_count(markers); i++) {
        struct btz_str name = btz_json_key_at(markers, i);
        struct btz_str value = btz_json_str(btz_json_value_at(markers, i));

        if (!btz_str_starts(inner, name) || inner.len == name.len || inner.ptr[name.len] != '}') {
            continue;
        }
        for (size_t at = 0; at < value.len; at++) {
            char c = value.ptr[at];

            if (grouped && at == 1) {
                (void)btz_buf_add_byte(buf, ',');
            }
            (void)btz_buf_add_byte(buf, capitals && c >= 'a' && c <= 'z' ? (char)(c - 32) : c);
        }
        return head + name.len + 1;
    }
    return 0;
}

static struct btz_str with_markers(struct btz_arena *arena, struct btz_stage *stage,
                                   struct btz_str text)
{
    struct btz_buf buf;
    struct btz_str out;

    btz_buf_init(&buf, 256 * 1024);
    while (text.len) {
        size_t used = add_marker(&buf, btz_stage_markers(stage), text);

        if (!used) {
            (void)btz_buf_add_byte(&buf, text.ptr[0]);
            used = 1;
        }
        text = btz_str_sub(text, used, text.len);
    }
    out = btz_arena_dup(arena, btz_buf_view(&buf));
    btz_buf_fini(&buf);
    return out;
}

/* True if `text` still holds a name in braces, such as that of a marker that the scenario has not.
 */
static bool has_unknown_marker(struct btz_str text)
{
    for (size_t i = 0; i + 1 < text.len; i++) {
        size_t end = i + 1;

        if (text.ptr[i] != '{' || (i && text.ptr[i - 1] == '{')) {
            continue; /* a template's own braces are double */
        }
        end += text.ptr[end] == '^' || text.ptr[end] == ',' ? 1 : 0;
        while (end < text.len && text.ptr[end] >= 'a' && text.ptr[end] <= 'z') {
            end++;
        }
        if (end > i + 2 && end < text.len && text.ptr[end] == '}') {
            return true;
        }
    }
    return false;
}

/* ["server.tool", {...}, {...}] as the call of a plan, under the name that the model sees. */
static struct btz_json *call_of(struct btz_arena *arena, struct btz_stage *stage,
                                const struct btz_json *step)
{
    struct btz_json *call = btz_json_new_object(arena);
    struct btz_json *out = btz_json_new_object(arena);
    struct btz_str tool = btz_json_str(btz_json_at(step, 0));
    struct btz_str id;
    char name[65] = "";

    assert_true(btz_str_cut(&tool, '.', &id));
    for (size_t i = 0; i < btz_stage_server_count(stage); i++) {
        const struct btz_stage_server *server = btz_stage_server_at(stage, i);

        if (btz_str_eq(server->id, id)) {
            btz_trial_tool_name(server->label, tool, name);
        }
    }
    btz_json_set_strz(arena, call, "name", name);
    btz_json_setz(arena, call, "args", btz_json_at(step, 1));
    if (btz_json_at(step, 2)) {
        btz_json_setz(arena, call, "capture", btz_json_at(step, 2));
    }
    btz_json_setz(arena, out, "call", call);
    return out;
}

static struct btz_json *plan_of(struct btz_arena *arena, struct btz_stage *stage,
                                const struct btz_json *steps)
{
    struct btz_json *plan = btz_json_new_object(arena);
    struct btz_json *list = btz_json_new_array(arena);

    for (size_t i = 0; i < btz_json_count(steps); i++) {
        const struct btz_json *step = btz_json_at(steps, i);
        struct btz_json *made;

        if (btz_json_is(step, BTZ_JSON_ARRAY)) {
            btz_json_push(arena, list, call_of(arena, stage, step));
        } else if (btz_json_is(step, BTZ_JSON_STRING)) {
            made = btz_json_new_object(arena);
            btz_json_setz(arena, made, "answer", step);
            btz_json_push(arena, list, made);
        } else {
            btz_json_push(arena, list, step);
        }
    }
    btz_json_setz(arena, plan, "benign", list);
    btz_json_setz(arena, plan, "obey", btz_json_new_array(arena));
    return plan;
}

static enum btz_arm arm_of(const struct btz_json *row)
{
    struct btz_str arm = btz_json_str(btz_json_getz(row, "arm"));

    return btz_str_is(arm, "clean")    ? BTZ_ARM_CLEAN
           : btz_str_is(arm, "benign") ? BTZ_ARM_BENIGN
                                       : BTZ_ARM_ATTACK;
}

/* One line; false, with a word about it, if the trial was not as it says. */
static bool as_told(struct btz_lab *lab, struct btz_arena *arena, struct btz_str line,
                    bool json_actions)
{
    struct btz_trial_options options = {
        .lab = lab, .seed = SEED, .max_tokens = 1024, .json_actions = json_actions};
    const struct btz_trial_record *record;
    const struct btz_json *row = NULL;
    struct btz_trial *trial = NULL;
    struct btz_stage *stage;
    struct btz_str sub;
    struct btz_err err;
    bool same;

    MAKE_OK(btz_json_parse(arena, line, NULL, &row, &err), &err);
    options.scenario = btz_lab_scenario_find(lab, btz_json_str(btz_json_getz(row, "on")));
    assert_non_null(options.scenario);
    options.arm = arm_of(row);
    options.revision = options.scenario->modern ? BTZ_MCP_2026_07_28 : BTZ_MCP_2025_11_25;
    MAKE_OK(btz_host_profile_named(BTZ_STR("naive"), &options.profile), &err);
    MAKE_OK(btz_trial_new(&options, &trial, &err), &err);
    stage = btz_trial_stage(trial);
    MAKE_OK(btz_json_parse(arena, with_markers(arena, stage, line), NULL, &row, &err), &err);
    MAKE_OK(btz_drive_reference(
                trial, BTZ_LLM_REF_FLOOR,
                btz_json_text(arena, plan_of(arena, stage, btz_json_getz(row, "do"))), &err),
            &err);
    record = btz_trial_record(trial);
    sub = btz_json_str(btz_json_getz(row, "sub"));
    same =
        !has_unknown_marker(btz_json_text(arena, btz_json_getz(row, "do"))) &&
        btz_str_is(btz_json_str(btz_json_getz(row, "then")), btz_outcome_name(record->outcome)) &&
        (!sub.len || btz_str_is(sub, record->sub)) &&
        btz_json_bool(btz_json_getz(row, "useful"), false) == record->utility;
    if (!same) {
        print_error("%.*s %.*s, %s%.*s: %s %s, utility %s, stop %s %.*s%s\n",
                    BTZ_FMT(btz_json_str(btz_json_getz(row, "on"))),
                    BTZ_FMT(btz_json_str(btz_json_getz(row, "arm"))), json_actions ? "json, " : "",
                    BTZ_FMT(btz_json_str(btz_json_getz(row, "is"))),
                    btz_outcome_name(record->outcome), record->sub, record->utility ? "yes" : "no",
                    btz_stop_name(record->stop), BTZ_FMT(record->fault),
                    has_unknown_marker(btz_json_text(arena, btz_json_getz(row, "do")))
                        ? ", a marker that is not there"
                        : "");
        if (getenv("BTZ_SHOW")) {
            print_error("%.*s\n", BTZ_FMT(btz_json_text(arena, record->trajectory)));
            print_error("%.*s\n", BTZ_FMT(btz_json_text(arena, record->journal)));
        }
    }
    btz_trial_free(trial);
    return same;
}

static void behaviours(void **state)
{
    struct btz_lab *lab = bench_lab(packs, 0);
    struct btz_arena *arena = btz_arena_new();
    const char *other = getenv("BTZ_BEHAVIOURS");
    struct btz_str rest = whole_file(arena, other ? other : BEHAVIOURS);
    struct btz_str line;
    size_t wrong = 0;

    (void)state;
    while (btz_str_cut(&rest, '\n', &line)) {
        if (btz_str_starts(line, BTZ_STR("{"))) {
            wrong += as_told(lab, arena, line, false) ? 0 : 1;
            wrong += as_told(lab, arena, line, true) ? 0 : 1;
        }
    }
    btz_arena_free(arena);
    btz_lab_free(lab);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(behaviours)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
