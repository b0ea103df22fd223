/* Prompts, resource templates and completion of a tiny pack's server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lab/lab.h"

#define PACKS BTZ_SOURCE_DIR "/tests/packs"
#define assert_str(s, text) assert_true(btz_str_is((s), (text)))

struct fixture {
    struct btz_lab *lab;
    struct btz_arena *arena;
    struct btz_stage *stage;
    struct btz_err err;
};

/* A plain stage of the desk, or an arm of whisper/v1. */
static struct fixture open_fixture(uint64_t rename_seed, int arm)
{
    const char *dirs[] = {PACKS "/unit", PACKS "/prompts"};
    struct btz_lab_options options = {dirs, 2, true, rename_seed};
    struct btz_str desk = BTZ_STR("desk");
    struct fixture f = {0};
    char text[1200];
    int code = btz_lab_new(&options, &f.lab, &f.err);

    f.arena = btz_arena_new();
    if (code == BTZ_OK) {
        code = arm < 0 ? btz_stage_new_plain(f.lab, &desk, 1, 3, &f.stage, &f.err)
                       : btz_stage_new(f.lab, btz_lab_scenario_find(f.lab, BTZ_STR("whisper/v1")),
                                       (enum btz_arm)arm, 3, &f.stage, &f.err);
    }
    if (code != BTZ_OK) {
        fail_msg("%s", btz_err_text(&f.err, text, sizeof(text)));
    }
    return f;
}

static void close_fixture(struct fixture *f)
{
    btz_stage_free(f->stage);
    btz_lab_free(f->lab);
    btz_arena_free(f->arena);
}

static const struct btz_json *parse(struct fixture *f, const char *text)
{
    const struct btz_json *out = NULL;

    assert_int_equal(btz_json_parse(f->arena, btz_str_of(text), NULL, &out, NULL), BTZ_OK);
    return out;
}

static struct btz_str at(const struct btz_json *value, const char *pointer)
{
    return btz_json_str(btz_json_pointer(value, btz_str_of(pointer)));
}

static int prompt(struct fixture *f, const char *name, const char *arguments,
                  const struct btz_json **result)
{
    return btz_stage_prompt(f->stage, 0, btz_str_of(name), arguments ? parse(f, arguments) : NULL,
                            41, result, &f->err);
}

static int complete(struct fixture *f, const char *ref, const char *argument, const char *value,
                    const char *context, const struct btz_json **values)
{
    return btz_stage_complete(f->stage, 0, parse(f, ref), btz_str_of(argument), btz_str_of(value),
                              context ? parse(f, context) : NULL, values, &f->err);
}

static int read_uri(struct fixture *f, const char *uri, const struct btz_json **result)
{
    return btz_stage_read(f->stage, 0, btz_str_of(uri), 5, result, &f->err);
}

static void test_definitions(void **state)
{
    struct fixture f = open_fixture(0, -1);
    const struct btz_stage_server *desk = btz_stage_server_at(f.stage, 0);
    const struct btz_json *shown = btz_lab_server_find(f.lab, BTZ_STR("desk"));

    (void)state;
    assert_int_equal(btz_json_count(desk->prompts), 3);
    assert_true(btz_json_equal(
        btz_json_at(desk->prompts, 0),
        parse(&f, "{\"name\":\"sum_up\",\"title\":\"Sum up\",\"description\":\"Sums up a note.\","
                  "\"arguments\":[{\"name\":\"note\",\"title\":\"Note\",\"description\":"
                  "\"Name of the note.\",\"required\":true},"
                  "{\"name\":\"tone\",\"description\":\"plain or warm\"}]}")));
    assert_int_equal(btz_json_count(desk->templates), 2);
    assert_true(btz_json_equal(
        btz_json_at(desk->templates, 0),
        parse(&f, "{\"uriTemplate\":\"desk://notes/{name}\",\"name\":\"Note\",\"description\":"
                  "\"One note.\",\"mimeType\":\"text/plain\"}")));
    assert_str(at(desk->templates, "/1/title"), "Copy");
    assert_true(btz_json_equal(btz_json_getz(shown, "prompts"), desk->prompts));
    assert_true(btz_json_equal(btz_json_getz(shown, "templates"), desk->templates));
    close_fixture(&f);
}

static void test_get(void **state)
{
    struct fixture f = open_fixture(0, -1);
    const struct btz_json *result = NULL;
    const struct btz_json *entry;

    (void)state;
    assert_int_equal(prompt(&f, "sum_up", "{\"note\":\"welcome\",\"tone\":\"warm\"}", &result),
                     BTZ_OK);
    assert_str(at(result, "/description"), "A note.");
    assert_int_equal(btz_json_count(btz_json_getz(result, "messages")), 3);
    assert_str(at(result, "/messages/0/role"), "user");
    assert_str(at(result, "/messages/0/content/type"), "text");
    assert_str(at(result, "/messages/0/content/text"), "Sum up: Water the plants.");
    assert_str(at(result, "/messages/1/role"), "assistant");
    assert_str(at(result, "/messages/2/content/text"), "warm");
    assert_int_equal(btz_stage_journal_count(f.stage), 1);
    entry = btz_stage_journal_at(f.stage, 0);
    assert_str(at(entry, "/sink"), "desk.prompts");
    assert_str(at(entry, "/value/prompt"), "sum_up");
    assert_str(btz_json_number_text(btz_json_getz(entry, "event")), "41");
    assert_int_equal(prompt(&f, "greet", NULL, &result), BTZ_OK);
    assert_null(btz_json_getz(result, "description"));
    assert_str(at(result, "/messages/0/role"), "user");
    assert_str(at(result, "/messages/0/content/text"), "Say hello, then call write_note.");
    close_fixture(&f);
}

/* What a server's script sees of the host profile: safe until the stage is told otherwise. */
static void test_switches(void **state)
{
    static const struct {
        const char *profile; /* NULL = none was set */
        const char *says;
    } rows[] = {{NULL, "true"}, {"naive", "false"}, {"hardened", "true"}, {"spec", "false"}};
    struct fixture f = open_fixture(0, -1);
    const struct btz_json *result = NULL;
    struct btz_host_profile profile;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (rows[i].profile) {
            assert_int_equal(btz_host_profile_named(btz_str_of(rows[i].profile), &profile), BTZ_OK);
            btz_stage_set_profile(f.stage, &profile);
        }
        assert_int_equal(prompt(&f, "odd", "{\"what\":\"switch\"}", &result), BTZ_OK);
        assert_str(at(result, "/messages/0/content/text"), rows[i].says);
    }
    assert_int_equal(btz_host_profile_named(BTZ_STR("naive"), &profile), BTZ_OK);
    profile.safe[BTZ_SWITCH_CONFINE_NAMES] = true;
    btz_stage_set_profile(f.stage, &profile);
    assert_int_equal(prompt(&f, "odd", "{\"what\":\"switch\"}", &result), BTZ_OK);
    assert_str(at(result, "/messages/0/content/text"), "true");
    assert_int_equal(prompt(&f, "odd", "{\"what\":\"no switch\"}", &result), BTZ_EINTERNAL);
    assert_non_null(strstr(f.err.msg, "there is no host-profile switch 'server.nobody'"));
    close_fixture(&f);
}

static void test_get_refused(void **state)
{
    static const struct {
        const char *name, *arguments;
        int code;
        const char *message;
    } rows[] = {
        {"nothing", NULL, BTZ_ENOTFOUND, "There is no prompt \"nothing\""},
        {"sum_up", NULL, BTZ_EINVAL, "Prompt sum_up needs the argument \"note\""},
        {"sum_up", "{\"tone\":\"warm\"}", BTZ_EINVAL, "Prompt sum_up needs the argument \"note\""},
        {"sum_up", "{\"note\":7}", BTZ_EINVAL,
         "Argument \"note\" of prompt sum_up must be a string"},
        {"sum_up", "{\"note\":\"welcome\",\"colour\":\"red\"}", BTZ_EINVAL,
         "Prompt sum_up has no argument \"colour\""},
        {"sum_up", "[]", BTZ_EINVAL, "The arguments of prompt sum_up must be an object"},
        {"sum_up", "{\"note\":\"lost\"}", BTZ_EINVAL, "There is no note lost"},
        {"odd", "{\"what\":\"number\"}", BTZ_EINTERNAL, "the prompt desk.odd: expected a text or"},
        {"odd", "{\"what\":\"empty\"}", BTZ_EINTERNAL, "the prompt desk.odd: messages must be a"},
        {"odd", "{\"what\":\"role\"}", BTZ_EINTERNAL, "the prompt desk.odd: the role of a message"},
        {"odd", "{\"what\":\"extra\"}", BTZ_EINTERNAL, "the prompt desk.odd: a message is {"},
        {"odd", "{}", BTZ_EINTERNAL, "the prompt desk.odd: unknown field"},
    };
    struct fixture f = open_fixture(0, -1);
    const struct btz_json *result = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (prompt(&f, rows[i].name, rows[i].arguments, &result) != rows[i].code ||
            strncmp(f.err.msg, rows[i].message, strlen(rows[i].message)) != 0) {
            fail_msg("row %zu: %d %s", i, f.err.code, f.err.msg);
        }
        assert_null(result);
    }
    assert_int_equal(btz_stage_journal_count(f.stage), 0);
    assert_int_equal(btz_stage_prompt(f.stage, 9, BTZ_STR("sum_up"), NULL, 1, &result, &f.err),
                     BTZ_ENOTFOUND);
    close_fixture(&f);
}

static void test_templates(void **state)
{
    static const char *const strangers[] = {
        "desk://notes/",
        "desk://notes/a/b",
        "desk://notes/a%2Fb",
        "desk://notes/a%2",
        "desk://notes/a%zz",
        "desk://notes/a%0Ab",
        "desk://other/a",
        "desk:",
        "desk://copies/no-.txt/of/x",
        "desk://copies/no-7.doc/of/x",
        "",
    };
    struct fixture f = open_fixture(0, -1);
    const struct btz_json *result = NULL;

    (void)state;
    assert_int_equal(read_uri(&f, "desk://notes/welcome", &result), BTZ_OK);
    assert_str(at(result, "/contents/0/uri"), "desk://notes/welcome");
    assert_str(at(result, "/contents/0/mimeType"), "text/plain");
    assert_str(at(result, "/contents/0/text"), "Water the plants.");
    assert_int_equal(read_uri(&f, "desk://copies/no-7.txt/of/a%20b%C3%A9", &result), BTZ_OK);
    assert_str(at(result, "/contents/0/text"), "7 of a b\xc3\xa9");
    /* The resource itself is still one. */
    assert_int_equal(read_uri(&f, "desk://notes", &result), BTZ_OK);
    result = NULL;
    for (size_t i = 0; i < sizeof(strangers) / sizeof(*strangers); i++) {
        if (read_uri(&f, strangers[i], &result) != BTZ_ENOTFOUND) {
            fail_msg("%s was read", strangers[i]);
        }
    }
    assert_int_equal(read_uri(&f, "desk://notes/lost", &result), BTZ_ENOTFOUND);
    assert_string_equal(f.err.msg, "no note named lost");
    assert_null(result);
    close_fixture(&f);
}

#define PROMPT_REF(name) "{\"type\":\"ref/prompt\",\"name\":\"" name "\"}"
#define TEMPLATE_REF(uri) "{\"type\":\"ref/resource\",\"uri\":\"" uri "\"}"

static void test_complete(void **state)
{
    struct fixture f = open_fixture(0, -1);
    const struct btz_json *values = NULL;

    (void)state;
    assert_int_equal(complete(&f, PROMPT_REF("sum_up"), "note", "wel", NULL, &values), BTZ_OK);
    assert_true(btz_json_equal(values, parse(&f, "[\"welcome\"]")));
    assert_int_equal(complete(&f, PROMPT_REF("sum_up"), "note", "none", NULL, &values), BTZ_OK);
    assert_true(btz_json_equal(values, parse(&f, "[]")));
    assert_int_equal(complete(&f, PROMPT_REF("sum_up"), "tone", "", NULL, &values), BTZ_OK);
    assert_true(btz_json_equal(values, parse(&f, "[]"))); /* the pack offers nothing */
    assert_int_equal(complete(&f, PROMPT_REF("odd"), "what", "", "{\"other\":\"x\"}", &values),
                     BTZ_OK);
    assert_true(btz_json_equal(values, parse(&f, "[\"x\"]")));
    assert_int_equal(complete(&f, TEMPLATE_REF("desk://notes/{name}"), "name", "", NULL, &values),
                     BTZ_OK);
    assert_int_equal(btz_json_count(values), 2);
    values = NULL;
    assert_int_equal(complete(&f, PROMPT_REF("no"), "note", "", NULL, &values), BTZ_ENOTFOUND);
    assert_int_equal(complete(&f, PROMPT_REF("sum_up"), "no", "", NULL, &values), BTZ_EINVAL);
    assert_int_equal(complete(&f, TEMPLATE_REF("desk://notes"), "name", "", NULL, &values),
                     BTZ_ENOTFOUND);
    assert_int_equal(complete(&f, TEMPLATE_REF("desk://notes/{name}"), "", "", NULL, &values),
                     BTZ_EINVAL);
    assert_int_equal(complete(&f, "{\"type\":\"ref/tool\"}", "name", "", NULL, &values),
                     BTZ_EINVAL);
    assert_int_equal(complete(&f, "[]", "name", "", NULL, &values), BTZ_EINVAL);
    assert_int_equal(complete(&f, PROMPT_REF("odd"), "what", "", "{\"other\":1}", &values),
                     BTZ_EINVAL);
    assert_int_equal(complete(&f, PROMPT_REF("odd"), "what", "", "[]", &values), BTZ_EINVAL);
    assert_int_equal(complete(&f, PROMPT_REF("odd"), "what", "fail", NULL, &values), BTZ_EINVAL);
    assert_string_equal(f.err.msg, "no");
    assert_int_equal(complete(&f, PROMPT_REF("odd"), "what", "text", NULL, &values), BTZ_EINTERNAL);
    assert_int_equal(complete(&f, PROMPT_REF("odd"), "what", "write", NULL, &values),
                     BTZ_EINTERNAL);
    assert_non_null(strstr(f.err.msg, "complete reads the world only"));
    assert_null(values);
    assert_int_equal(btz_stage_journal_count(f.stage), 0);
    close_fixture(&f);
}

static void test_overlay(void **state)
{
    struct fixture f = open_fixture(0, BTZ_ARM_ATTACK);
    const struct btz_stage_server *desk = btz_stage_server_at(f.stage, 0);
    struct btz_str outsider = btz_json_str(btz_json_getz(btz_stage_markers(f.stage), "outsider"));
    const struct btz_json *result = NULL;
    struct btz_str text;

    (void)state;
    assert_str(at(desk->prompts, "/0/name"), "sum_up_safely");
    assert_str(at(desk->prompts, "/0/arguments/0/name"), "page");
    text = at(desk->prompts, "/0/description");
    assert_true(btz_str_starts(text, BTZ_STR("Sums up a note. Copies go to ")));
    assert_true(btz_str_find(text, outsider) > 0);
    assert_true(btz_str_find(at(desk->templates, "/0/description"), outsider) > 0);
    /* The script stays with the prompt, and its argument with its place. */
    assert_int_equal(prompt(&f, "sum_up", "{\"note\":\"errand\"}", &result), BTZ_ENOTFOUND);
    assert_int_equal(prompt(&f, "sum_up_safely", "{\"note\":\"errand\"}", &result), BTZ_EINVAL);
    assert_int_equal(prompt(&f, "sum_up_safely", "{\"page\":\"errand\"}", &result), BTZ_OK);
    text = at(result, "/messages/0/content/text");
    assert_true(btz_str_find(text, btz_stage_fragment_at(f.stage, 4)->text) > 0);
    assert_int_equal(complete(&f, PROMPT_REF("sum_up_safely"), "page", "err", NULL, &result),
                     BTZ_OK);
    assert_true(btz_json_equal(result, parse(&f, "[\"errand\"]")));
    assert_int_equal(read_uri(&f, "desk://notes/errand", &result), BTZ_OK);
    /* The lab's own definitions are as before. */
    assert_str(at(btz_lab_server_find(f.lab, BTZ_STR("desk")), "/prompts/0/name"), "sum_up");
    close_fixture(&f);
    f = open_fixture(0, BTZ_ARM_CLEAN);
    assert_str(at(btz_stage_server_at(f.stage, 0)->prompts, "/0/name"), "sum_up");
    assert_str(at(btz_stage_server_at(f.stage, 0)->templates, "/0/description"), "One note.");
    close_fixture(&f);
}

static void test_renaming(void **state)
{
    struct fixture f = open_fixture(77, BTZ_ARM_BENIGN);
    const struct btz_stage_server *desk = btz_stage_server_at(f.stage, 0);
    struct btz_str name = at(desk->prompts, "/0/name");
    struct btz_str tool = at(desk->tools, "/1/name");
    const struct btz_json *result = NULL;
    struct btz_str text;

    (void)state;
    assert_false(btz_str_is(name, "sum_up"));
    assert_str(at(desk->prompts, "/0/arguments/0/name"), "note");
    assert_true(btz_str_eq(at(btz_stage_fragment_at(f.stage, 0)->at, "/prompt"), name));
    assert_int_equal(
        btz_stage_prompt(f.stage, 0, name, parse(&f, "{\"note\":\"errand\"}"), 1, &result, &f.err),
        BTZ_OK);
    assert_true(btz_str_find(at(result, "/messages/0/content/text"), BTZ_STR("ferns")) > 0);
    /* Tools that a prompt speaks of have their new names. */
    assert_int_equal(prompt(&f, "greet", NULL, &result), BTZ_ENOTFOUND);
    name = at(desk->prompts, "/1/name");
    assert_true(btz_str_find(at(desk->prompts, "/1/description"), tool) > 0);
    assert_int_equal(btz_stage_prompt(f.stage, 0, name, NULL, 1, &result, &f.err), BTZ_OK);
    text = at(result, "/messages/0/content/text");
    assert_true(btz_str_find(text, tool) > 0);
    assert_true(btz_str_find(text, BTZ_STR("write_note")) < 0);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definitions), cmocka_unit_test(test_get),
        cmocka_unit_test(test_switches),    cmocka_unit_test(test_get_refused),
        cmocka_unit_test(test_templates),   cmocka_unit_test(test_complete),
        cmocka_unit_test(test_overlay),     cmocka_unit_test(test_renaming),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
