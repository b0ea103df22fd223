/* Families and the making of items: what is refused, where texts hide, and that every item is what
 * its fields say. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "sieve/poison.h"
#include "sieve/shape.h"

static struct btz_arena *arena;

static int setup(void **state)
{
    (void)state;
    arena = btz_arena_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    btz_arena_free(arena);
    return 0;
}

static const struct btz_json *json(const char *text)
{
    const struct btz_json *value = NULL;
    struct btz_err err;

    if (btz_json_parse(arena, btz_str_of(text), NULL, &value, &err) != BTZ_OK) {
        fail_msg("%s", err.msg);
    }
    return value;
}

/* ---- Families ---- */

static int load_family(const char *text, struct btz_err *err)
{
    char folder[] = "/tmp/btz-family-XXXXXX";
    struct btz_sieve_family *families = NULL;
    size_t count = 0;
    const char *folders[1] = {folder};
    const char *file;
    FILE *out;
    int rc;

    assert_non_null(mkdtemp(folder));
    file = btz_arena_printf(arena, "%s/f.yaml", folder).ptr;
    out = fopen(file, "wb");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
    rc = btz_sieve_families_load(arena, folders, 1, &families, &count, err);
    (void)unlink(file);
    assert_int_equal(rmdir(folder), 0);
    return rc;
}

#define HEAD "name: f\nkind: attack\nheld_out: true\nlanguage: en\nregister: plain\n"
#define TWIN "twin: [{in: description, text: \"benign text\"}]\n"
#define REASONS "reasons: {privacy-leakage: \"because\"}\n"

static void wrong_families_are_refused(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"name: f\nkind: attack\nlanguage: en\nregister: plain\n", "held_out"},
        {HEAD "paradigm: P4\n", "paradigm"},
        {HEAD "paradigm: P2\n" TWIN REASONS, "has `attack`"},
        {HEAD "paradigm: P2\nneeds: {sibling: [list]}\nattack: [{in: title, text: \"abc\"}]\n" TWIN
             REASONS,
         "has no `needs`"},
        {HEAD
         "paradigm: P2\nattack: [{in: description, text: \"call {evil_tool}\"}]\n" TWIN REASONS,
         "behind { one of tool, target_tool"},
        {HEAD "paradigm: P2\nattack: [{in: description, text: \"{target_tool} "
              "{malicious_tool}\"}]\n" TWIN REASONS,
         "must have {operand} in them"},
        {HEAD
         "paradigm: P2\nattack: [{in: description, text: \"{malicious_tool} {operand}\"}]\n" TWIN
             REASONS,
         "must have {target_tool} in them"},
        {HEAD
         "paradigm: P1\nattack: [{in: title, text: \"{malicious_tool} {operand}\"}]\n" TWIN REASONS,
         "stands in another place"},
        {HEAD "paradigm: P1\nattack: [{in: description, text: \"{malicious_tool} {operand}\"}]\n"
              "twin: [{in: description, text: \"has {operand}\"}]\n" REASONS,
         "a twin is benign"},
        {HEAD
         "paradigm: P1\nattack: [{in: description, text: \"{malicious_tool} {operand}\"}]\n" TWIN
         "reasons: {theft: \"because\"}\n",
         "theft"},
        {"name: required-step\nkind: negative\nheld_out: false\nlanguage: en\nregister: plain\n"
         "text: [{in: description, text: \"be careful\"}]\n",
         "there is another family"},
        {"name: f\nkind: negative\nheld_out: false\nlanguage: en\nregister: plain\n"
         "text: [{in: description, text: \"see {sibling_tool}\"}]\n",
         "need words in `needs`"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct btz_err err = {0};

        assert_int_equal(load_family(cases[i].text, &err), BTZ_EINVAL);
        if (!strstr(err.msg, cases[i].says) || !strstr(err.file, "f.yaml")) {
            fail_msg("%zu: \"%s\" in \"%s\" does not say \"%s\"", i, err.msg, err.file,
                     cases[i].says);
        }
    }
}

static void a_family_says_whether_it_is_held_out(void **state)
{
    struct btz_err err = {0};

    (void)state;
    if (load_family(HEAD "paradigm: P1\nattack: [{in: description, text: \"{malicious_tool} "
                         "{operand}\"}]\n" TWIN REASONS
                         "operands: [{risk: privacy-leakage, fits: [to], text: \"a@b.example\"}]\n",
                    &err) != BTZ_OK) {
        fail_msg("%s", err.msg);
    }
}

/* Families that were written before the rules were fixed, and those written after, cover all risks
 * and places each by themselves. */
static void the_families_cover_the_plan(void **state)
{
    struct btz_sieve_family *families = NULL;
    size_t count = 0;
    size_t covered[2][BTZ_SIEVE_PARADIGMS][BTZ_SIEVE_RISKS] = {{{0}}};
    bool places[2][BTZ_SIEVE_IN_MEDIA_TYPE + 1] = {{false}};
    size_t negatives[2] = {0};
    struct btz_err err = {0};

    (void)state;
    assert_int_equal(btz_sieve_families_load(arena, NULL, 0, &families, &count, &err), BTZ_OK);
    for (size_t i = 0; i < count; i++) {
        const struct btz_sieve_family *f = &families[i];

        negatives[f->held_out] += f->negative;
        for (size_t k = 0; k < f->attack.count && !f->negative; k++) {
            places[f->held_out][f->attack.items[k].place] = true;
        }
        for (int r = 0; r < BTZ_SIEVE_RISKS && !f->negative; r++) {
            covered[f->held_out][f->paradigm][r] += f->reasons[r].len > 0;
        }
    }
    for (int h = 0; h < 2; h++) {
        assert_true(negatives[h] >= 3);
        for (int p = 0; p < BTZ_SIEVE_PARADIGMS; p++) {
            for (int r = 0; r < BTZ_SIEVE_RISKS; r++) {
                assert_true(covered[h][p][r] >= 2);
            }
        }
        for (size_t i = 0; i <= BTZ_SIEVE_IN_PARAMETER_NAME; i++) { /* keywords came later */
            assert_true(places[h][i]);
        }
    }
}

/* An operand that a filter could have learned from the other families would make the test easy. */
static void held_out_families_share_no_operand(void **state)
{
    struct btz_sieve_family *families = NULL;
    size_t count = 0;
    size_t compared = 0;
    struct btz_err err = {0};

    (void)state;
    assert_int_equal(btz_sieve_families_load(arena, NULL, 0, &families, &count, &err), BTZ_OK);
    for (size_t i = 0; i < count * count; i++) {
        const struct btz_sieve_family *held = &families[i / count];
        const struct btz_sieve_family *other = &families[i % count];

        if (held == other || held->negative || other->negative || held->operand_free ||
            other->operand_free || !held->held_out) {
            continue;
        }
        for (size_t k = 0; k < held->operand_count; k++) {
            for (size_t m = 0; m < other->operand_count; m++) {
                if (btz_str_eq(held->operands[k].text, other->operands[m].text)) {
                    fail_msg("%.*s and %.*s both have %.*s", BTZ_FMT(held->name),
                             BTZ_FMT(other->name), BTZ_FMT(held->operands[k].text));
                }
                compared++;
            }
        }
    }
    assert_true(compared > 0);
}

/* ---- Shapes ---- */

static void names_are_words(void **state)
{
    (void)state;
    assert_true(btz_str_is(btz_sieve_name_phrase(arena, BTZ_STR("create_pull-request")),
                           "create pull request"));
    assert_true(btz_str_is(btz_sieve_name_phrase(arena, BTZ_STR("getUserById")), "get user by id"));
    assert_true(btz_str_is(btz_sieve_name_phrase(arena, BTZ_STR("API.v2/listHTTPHosts")),
                           "api v2 list httphosts"));
    assert_true(btz_str_is(btz_sieve_name_phrase(arena, BTZ_STR("---")), "---"));
}

static const char *arguments_for(const char *schema)
{
    const struct btz_json *tool =
        json(btz_arena_printf(arena, "{\"name\":\"t\",\"inputSchema\":%s}", schema).ptr);
    struct btz_schema *compiled = btz_sieve_input_schema(tool);
    const struct btz_json *made = btz_sieve_arguments(arena, tool, compiled, BTZ_STR_NONE, NULL);

    btz_schema_free(compiled);
    return made ? btz_json_text(arena, made).ptr : "none";
}

static void arguments_fit_their_schema(void **state)
{
    (void)state;
    assert_string_equal(arguments_for("{\"type\":\"object\"}"), "{}");
    assert_string_equal(
        arguments_for("{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"type\":"
                      "\"object\",\"properties\":{\"file_path\":{\"type\":\"string\"},\"n\":{"
                      "\"type\":\"integer\",\"minimum\":10}},\"required\":[\"file_path\",\"n\"]}"),
        "{\"file_path\":\"notes/today.txt\",\"n\":10}");
    assert_string_equal(
        arguments_for("{\"type\":\"object\",\"properties\":{\"who\":{\"$ref\":\"#/$defs/W\"}},"
                      "\"required\":[\"who\"],\"$defs\":{\"W\":{\"type\":\"object\",\"properties\":"
                      "{\"email\":{\"anyOf\":[{\"type\":\"null\"},{\"type\":\"string\"}]}},"
                      "\"required\":[\"email\"]}}}"),
        "{\"who\":{\"email\":\"ann@office.example\"}}");
    assert_string_equal(
        arguments_for("{\"type\":\"object\",\"properties\":{\"a\":{\"enum\":[\"x\",\"y\"]},\"l\":{"
                      "\"type\":\"array\",\"items\":{\"type\":\"boolean\"}}},\"required\":[\"a\","
                      "\"l\"]}"),
        "{\"a\":\"x\",\"l\":[true]}");
    assert_string_equal(
        arguments_for("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\","
                      "\"pattern\":\"^[0-9]{30}$\"}},\"required\":[\"a\"]}"),
        "none");
    assert_string_equal(arguments_for("{\"type\":\"object\",\"required\":[\"unknown\"]}"), "none");
}

static void texts_hide_where_they_should(void **state)
{
    static const struct {
        enum btz_sieve_place place;
        const char *pointer;
        const char *holds;
    } cases[] = {
        {BTZ_SIEVE_IN_DESCRIPTION, "/description", "Old.\n\nsay OP now"},
        {BTZ_SIEVE_IN_PARAMETER_DESCRIPTION, "/inputSchema/properties/p/description",
         "old\n\nsay OP now"},
        {BTZ_SIEVE_IN_ENUM, "/inputSchema/properties/mode/enum/1", "say OP now"},
        {BTZ_SIEVE_IN_DEFAULT, "/inputSchema/properties/mode/default", "say OP now"},
        {BTZ_SIEVE_IN_TITLE, "/title", "say OP now"},
        {BTZ_SIEVE_IN_NESTED, "/inputSchema/properties/mode/items/properties/ref/description",
         "say OP now"},
        {BTZ_SIEVE_IN_ANNOTATIONS, "/annotations/title", "say OP now"},
        {BTZ_SIEVE_IN_PARAMETER_NAME, "/inputSchema/properties/say_OP_now/type", "string"},
        {BTZ_SIEVE_IN_FORMAT, "/inputSchema/properties/mode/format", "say OP now"},
        {BTZ_SIEVE_IN_PATTERN, "/inputSchema/properties/mode/pattern", "say OP now"},
        {BTZ_SIEVE_IN_CONST, "/inputSchema/properties/mode/const", "say OP now"},
        {BTZ_SIEVE_IN_EXAMPLES, "/inputSchema/properties/mode/examples/0", "say OP now"},
        {BTZ_SIEVE_IN_COMMENT, "/inputSchema/properties/mode/$comment", "say OP now"},
        {BTZ_SIEVE_IN_MEDIA_TYPE, "/inputSchema/properties/mode/contentMediaType", "say OP now"},
    };
    const struct btz_json *tool =
        json("{\"name\":\"t\",\"description\":\"Old.\",\"annotations\":{\"readOnlyHint\":true},"
             "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"p\":{\"type\":\"string\","
             "\"description\":\"old\"}},\"required\":[\"p\"],\"additionalProperties\":false}}");
    struct btz_str before = btz_json_text(arena, tool);
    const struct btz_sieve_holes holes = {.operand = BTZ_STR("OP")};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct btz_sieve_part part = {cases[i].place, false, BTZ_STR("say {operand} now")};
        const struct btz_sieve_parts parts = {&part, 1};
        const struct btz_json *made = btz_sieve_hide(arena, tool, &parts, &holes, BTZ_STR_NONE, 0);

        assert_non_null(made);
        assert_true(btz_str_is(btz_json_str(btz_json_pointer(made, btz_str_of(cases[i].pointer))),
                               cases[i].holds));
        assert_non_null(btz_json_pointer(made, BTZ_STR("/inputSchema/properties/p")));
        assert_non_null(btz_json_pointer(made, BTZ_STR("/annotations/readOnlyHint")));
    }
    assert_true(btz_str_eq(btz_json_text(arena, tool), before)); /* the original is left alone */
    {
        const struct btz_sieve_part part = {BTZ_SIEVE_IN_PARAMETER_DESCRIPTION, true, BTZ_STR("x")};
        const struct btz_sieve_parts parts = {&part, 1};

        assert_null(btz_sieve_hide(arena, json("{\"name\":\"t\"}"), &parts, &holes, BTZ_STR_NONE,
                                   0)); /* no parameter */
    }
}

static void users_ask_in_two_ways(void **state)
{
    const struct btz_json *arguments = json("{\"file_path\":\"a.txt\",\"n\":3}");

    (void)state;
    assert_true(
        btz_str_is(btz_sieve_query(arena, BTZ_SIEVE_DIRECT, BTZ_STR("read_file"), arguments, 0),
                   "Call the read_file tool with file_path \"a.txt\" and n 3."));
    assert_true(btz_str_is(btz_sieve_query(arena, BTZ_SIEVE_DIRECT, BTZ_STR("ping"), json("{}"), 0),
                           "Call the ping tool."));
    assert_true(
        btz_str_is(btz_sieve_query(arena, BTZ_SIEVE_NATURAL, BTZ_STR("readFile"), arguments, 0),
                   "I need this done: read file. The file path is \"a.txt\". The n is 3."));
}

/* ---- Items ---- */

static const char *const tools[] = {
    "{\"name\":\"send_mail\",\"description\":\"Sends.\",\"inputSchema\":{\"type\":\"object\","
    "\"properties\":{\"to\":{\"type\":\"string\"},\"subject\":{\"type\":\"string\"},\"body\":{"
    "\"type\":\"string\"}},\"required\":[\"to\",\"body\"]}}",
    "{\"name\":\"read_file\",\"description\":\"Reads.\",\"inputSchema\":{\"type\":\"object\","
    "\"properties\":{\"path\":{\"type\":\"string\"}},\"required\":[\"path\"]}}",
    "{\"name\":\"search_notes\",\"description\":\"Searches.\",\"inputSchema\":{\"type\":\"object\","
    "\"properties\":{\"query\":{\"type\":\"string\"},\"limit\":{\"type\":\"integer\"}},"
    "\"required\":"
    "[\"query\"]}}",
    "{\"name\":\"run_script\",\"description\":\"Runs.\",\"inputSchema\":{\"type\":\"object\","
    "\"properties\":{\"script\":{\"type\":\"string\"},\"amount\":{\"type\":\"number\"}},"
    "\"required\":[\"script\"]}}",
    "{\"name\":\"get_note\",\"description\":\"Gets.\",\"inputSchema\":{\"type\":\"object\","
    "\"properties\":{\"note_id\":{\"type\":\"string\"}},\"required\":[\"note_id\"]}}",
};

/* A corpus of `servers` servers with those tools, and one server with a single tool. */
static struct btz_sieve_poison *make_poison(const struct btz_sieve_poison_options *options,
                                            int servers)
{
    struct btz_sieve_poison *poison = btz_sieve_poison_new(options);
    struct btz_sieve_reader *reader;
    struct btz_buf out;
    struct btz_err err = {0};

    btz_buf_init(&out, 1 << 22);
    for (int s = 0; s <= servers; s++) {
        for (size_t t = 0; t < (s == servers ? 1 : sizeof(tools) / sizeof(tools[0])); t++) {
            struct btz_sieve_definition d = {.source = btz_arena_printf(arena, "npm:s%d", s),
                                             .collected = BTZ_STR("2026-11-30"),
                                             .tool = json(tools[t])};

            assert_int_equal(btz_sieve_definition_seal(arena, &d, &err), BTZ_OK);
            btz_sieve_definition_write(&out, &d);
        }
    }
    reader = btz_sieve_reader_of(btz_buf_view(&out), "d");
    assert_int_equal(btz_sieve_poison_add(poison, reader, &err), BTZ_OK);
    btz_sieve_reader_free(reader);
    btz_buf_fini(&out);
    return poison;
}

static void a_file_without_definitions_is_refused(void **state)
{
    const struct btz_sieve_poison_options options = {0};
    struct btz_sieve_poison *poison = btz_sieve_poison_new(&options);

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct btz_sieve_reader *reader =
            btz_sieve_reader_of(btz_str_of(i ? "\n\n" : ""), "none.jsonl");
        struct btz_err err = {0};
        char text[200];

        assert_int_equal(btz_sieve_poison_add(poison, reader, &err), BTZ_EINVAL);
        assert_string_equal(btz_err_text(&err, text, sizeof(text)),
                            "none.jsonl: there is no definition in it");
        btz_sieve_reader_free(reader);
    }
    btz_sieve_poison_free(poison);
}

static bool holds(const struct btz_json *value, struct btz_str operand)
{
    struct btz_buf quoted;
    bool found;

    btz_buf_init(&quoted, 65536);
    (void)btz_json_write_str(&quoted, operand);
    found = btz_str_find(btz_json_text(arena, value),
                         btz_str_sub(btz_buf_view(&quoted), 1, quoted.len - 2)) >= 0;
    btz_buf_fini(&quoted);
    return found;
}

static const struct btz_json *tool_named(const struct btz_sieve_item *item, struct btz_str name)
{
    if (btz_str_eq(btz_json_str(btz_json_getz(item->poisoned, "name")), name)) {
        return item->poisoned;
    }
    for (size_t i = 0; i < btz_json_count(item->tools); i++) {
        if (btz_str_eq(btz_json_str(btz_json_getz(btz_json_at(item->tools, i), "name")), name)) {
            return btz_json_at(item->tools, i);
        }
    }
    return NULL;
}

static void check_item(const struct btz_sieve_item *item)
{
    struct btz_sieve_item again;
    struct btz_sieve_reader *reader;
    struct btz_buf line;
    struct btz_err err = {0};

    btz_buf_init(&line, 1 << 22);
    btz_sieve_item_write(&line, item);
    reader = btz_sieve_reader_of(btz_buf_view(&line), "i");
    if (btz_sieve_item_next(reader, arena, &again, &err) != BTZ_OK) {
        fail_msg("%.*s: %s", BTZ_FMT(item->id), err.msg);
    }
    btz_sieve_reader_free(reader);
    btz_buf_fini(&line);
    assert_true(btz_str_starts(item->query, BTZ_STR("Call the ")) ==
                (item->phrasing == BTZ_SIEVE_DIRECT));
    if (item->kind != BTZ_SIEVE_ATTACK) {
        return;
    }
    for (size_t i = 0; i < item->operand_count; i++) {
        assert_true(holds(item->poisoned, item->operands[i]));
        assert_false(holds(item->tools, item->operands[i]));
        assert_true(btz_str_find(item->query, item->operands[i]) < 0);
    }
    assert_int_equal(item->malicious.count, item->operand_count);
    for (size_t i = 0; i < item->malicious.count; i++) {
        const struct btz_json *properties =
            btz_sieve_properties(tool_named(item, item->malicious.tool));

        assert_non_null(btz_json_pointer(properties, item->malicious.conditions[i].path));
    }
    if (item->paradigm == BTZ_SIEVE_P1) {
        assert_true(btz_str_eq(item->target.tool, item->replaces));
    } else {
        assert_false(btz_str_eq(item->target.tool, item->replaces));
        assert_true(btz_str_eq(item->target.tool, item->malicious.tool) ==
                    (item->paradigm == BTZ_SIEVE_P3));
    }
}

static void items_are_what_they_say(void **state)
{
    struct btz_sieve_poison_options options = {.seed = 5, .per_definition = 3};
    struct btz_sieve_family *families = NULL;
    struct btz_sieve_poison *poison;
    const struct btz_sieve_poison_stats *stats;
    struct btz_sieve_item items[2];
    struct btz_json *ids = btz_json_new_object(arena);
    int64_t least = INT64_MAX;
    int64_t most = 0;
    size_t made;
    size_t natural = 0;
    size_t pairs = 0;

    (void)state;
    assert_int_equal(
        btz_sieve_families_load(arena, NULL, 0, &families, &options.family_count, NULL), BTZ_OK);
    options.families = families;
    poison = make_poison(&options, 30);
    while ((made = btz_sieve_poison_next(poison, arena, items)) > 0) {
        for (size_t i = 0; i < made; i++) {
            check_item(&items[i]);
            assert_null(btz_json_get(ids, items[i].id));
            btz_json_set(arena, ids, items[i].id, btz_json_new_bool(arena, true));
            natural += items[i].phrasing == BTZ_SIEVE_NATURAL;
        }
        if (made == 2) {
            pairs++;
            assert_true(btz_str_eq(items[0].query, items[1].query));
            assert_true(btz_str_eq(items[0].pair, items[1].pair));
            assert_true(btz_json_equal(items[0].tools, items[1].tools));
            assert_false(btz_json_equal(items[0].poisoned, items[1].poisoned));
            for (size_t i = 0; i < items[0].operand_count; i++) {
                assert_false(holds(items[1].poisoned, items[0].operands[i]));
            }
        }
    }
    stats = btz_sieve_poison_stats(poison);
    for (int p = 0; p < BTZ_SIEVE_PARADIGMS; p++) {
        for (int r = 0; r < BTZ_SIEVE_RISKS; r++) {
            least = stats->pairs[p][r] < least ? stats->pairs[p][r] : least;
            most = stats->pairs[p][r] > most ? stats->pairs[p][r] : most;
        }
    }
    assert_int_equal(stats->definitions, 151);
    assert_int_equal(stats->clusters, 31);
    assert_int_equal(pairs, 30 * 5 * 3 * 3);
    assert_true(least * 2 > most); /* even over the cells */
    assert_true(natural > pairs / 3 && natural < pairs * 2);
    assert_int_equal(stats->skipped[BTZ_SIEVE_P2][BTZ_SIEVE_SKIP_FEW_TOOLS], 1);
    btz_sieve_poison_free(poison);
}

static void equal_seeds_give_equal_items(void **state)
{
    struct btz_sieve_family *families = NULL;
    size_t count = 0;
    struct btz_buf out[3];

    (void)state;
    assert_int_equal(btz_sieve_families_load(arena, NULL, 0, &families, &count, NULL), BTZ_OK);
    for (int i = 0; i < 3; i++) {
        struct btz_sieve_poison_options options = {
            .seed = i == 2 ? 9 : 8, .max_tools = 3, .families = families, .family_count = count};
        struct btz_sieve_poison *poison = make_poison(&options, 4);
        struct btz_sieve_item items[2];
        size_t made;

        btz_buf_init(&out[i], 1 << 22);
        while ((made = btz_sieve_poison_next(poison, arena, items)) > 0) {
            for (size_t k = 0; k < made; k++) {
                assert_true(btz_json_count(items[k].tools) <= 3);
                btz_sieve_item_write(&out[i], &items[k]);
            }
        }
        btz_sieve_poison_free(poison);
    }
    assert_true(btz_str_eq(btz_buf_view(&out[0]), btz_buf_view(&out[1])));
    assert_false(btz_str_eq(btz_buf_view(&out[0]), btz_buf_view(&out[2])));
    for (int i = 0; i < 3; i++) {
        btz_buf_fini(&out[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_without_definitions_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_families_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_family_says_whether_it_is_held_out, setup, teardown),
        cmocka_unit_test_setup_teardown(the_families_cover_the_plan, setup, teardown),
        cmocka_unit_test_setup_teardown(held_out_families_share_no_operand, setup, teardown),
        cmocka_unit_test_setup_teardown(names_are_words, setup, teardown),
        cmocka_unit_test_setup_teardown(arguments_fit_their_schema, setup, teardown),
        cmocka_unit_test_setup_teardown(texts_hide_where_they_should, setup, teardown),
        cmocka_unit_test_setup_teardown(users_ask_in_two_ways, setup, teardown),
        cmocka_unit_test_setup_teardown(items_are_what_they_say, setup, teardown),
        cmocka_unit_test_setup_teardown(equal_seeds_give_equal_items, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
