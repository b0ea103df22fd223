/* Imports: every shape of file, what is left out, and MCPTox's layout and sum. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "sieve/import.h"
#include "sieve/targets.h"

static struct btz_arena *arena;
static char path[64];

static int setup(void **state)
{
    (void)state;
    arena = btz_arena_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(path);
    btz_arena_free(arena);
    return 0;
}

static const char *file_with(const char *ending, const char *text)
{
    FILE *file;

    (void)unlink(path);
    (void)snprintf(path, sizeof(path), "/tmp/btz-import-%d%s", (int)getpid(), ending);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return path;
}

/* Imports `text` and gives the sources and names of what came, joined. */
static int import(const char *ending, const char *text, bool unchecked, char *came,
                  struct btz_sieve_import_counts *counts, struct btz_err *err)
{
    struct btz_sieve_import_options options = {.source = BTZ_STR("file:x"),
                                               .collected = BTZ_STR("2026-11-30"),
                                               .mcptox_unchecked = unchecked};
    struct btz_sieve_definition d;
    struct btz_sieve_reader *reader;
    struct btz_buf out;
    int rc;

    btz_buf_init(&out, 1 << 20);
    rc = btz_sieve_import(arena, file_with(ending, text), &options, btz_json_new_object(arena),
                          &out, counts, err);
    came[0] = '\0';
    reader = btz_sieve_reader_of(btz_buf_view(&out), "out");
    while (rc == BTZ_OK && btz_sieve_definition_next(reader, arena, &d, err) == BTZ_OK) {
        size_t len = strlen(came);

        (void)snprintf(came + len, 400 - len, "%.*s/%.*s ", BTZ_FMT(d.source),
                       BTZ_FMT(btz_json_str(btz_json_getz(d.tool, "name"))));
    }
    btz_sieve_reader_free(reader);
    btz_buf_fini(&out);
    return rc;
}

static void every_shape_is_taken(void **state)
{
    static const struct {
        const char *ending, *text, *kind, *came;
    } cases[] = {
        {".json", "{\"tools\":[{\"name\":\"a\"},{\"name\":\"b\"}]}", "tools/list result",
         "file:x/a file:x/b "},
        {".json", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[{\"name\":\"a\"}]}}",
         "JSON-RPC response", "file:x/a "},
        {".json", "[{\"name\":\"a\"}]", "array of tools", "file:x/a "},
        {".json", "{\"name\":\"a\"}\n{\"name\":\"b\"}\n", "JSONL of tools", "file:x/a file:x/b "},
        {".jsonl", "{\"name\":\"a\"}", "JSONL of tools", "file:x/a "},
        {".jsonl",
         "{\"id\":\"c400aab8da172e7e\",\"source\":\"npm:a\",\"package\":null,\"server\":null,"
         "\"revision\":null,\"collected\":\"2026-11-30\",\"hash\":"
         "\"6a7296be2d50ccb2ca26b9ea6ec1692b395c27c07fdfe9a1a705c0e1c04a3b99\",\"tool\":{"
         "\"name\":\"read\"}}",
         "harvest", "npm:a/read "},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct btz_sieve_import_counts counts;
        struct btz_err err = {0};
        char came[400];

        if (import(cases[i].ending, cases[i].text, false, came, &counts, &err) != BTZ_OK) {
            fail_msg("%zu: %s", i, err.msg);
        }
        assert_string_equal(came, cases[i].came);
        assert_string_equal(counts.kind, cases[i].kind);
    }
}

static void what_is_no_tool_is_counted(void **state)
{
    struct btz_sieve_import_counts counts;
    struct btz_err err = {0};
    char came[400];

    (void)state;
    assert_int_equal(import(".json", "[{\"name\":\"a\"},{\"name\":\"a\"},{\"title\":\"b\"},7]",
                            false, came, &counts, &err),
                     BTZ_OK);
    assert_string_equal(came, "file:x/a ");
    assert_int_equal(counts.definitions, 1);
    assert_int_equal(counts.twice, 1);
    assert_int_equal(counts.nameless, 2);
    assert_int_equal(import(".json", "{\"things\":[]}", false, came, &counts, &err), BTZ_EINVAL);
    assert_non_null(strstr(err.msg, "this is none of: a tools/list result"));
    assert_int_equal(import(".json", "{\"tools\":[\n}", false, came, &counts, &err), BTZ_EINVAL);
    assert_int_equal(err.line, 2);
}

static const char *const mcptox =
    "{\"data_length\":1,\"attack_scopes\":[],\"label_scopes\":[],\"call_behaviors\":[],"
    "\"save_dir\":\"\",\"servers\":{\"S\":{\"server_name\":\"S\",\"server_url\":\"\","
    "\"tool_names\":[],\"clean_system_promot\":\"Hello.\\n\\nTool: one\\nDescription: First.\\n"
    "Arguments:\\n- a: No description (required)\\n\\n\\nTool: two\\nDescription: Second\\nline.\\n"
    "Arguments:\\n\\nEnd.\",\"clean_querys\":[],\"malicious_instance\":[{\"wrong_data\":0,"
    "\"poisoned_tool\":\"Tool: bad\\nDescription: x\"},{\"wrong_data\":2,\"poisoned_tool\":\"Tool: "
    "w\\nDescription: x\"}]}}}";

static void mcptox_is_taken_by_its_sum_alone(void **state)
{
    struct btz_sieve_import_counts counts;
    struct btz_err err = {0};
    char came[400];

    (void)state;
    assert_int_equal(import(".json", mcptox, false, came, &counts, &err), BTZ_EINVAL);
    assert_non_null(strstr(err.msg, "not its sum"));
    assert_int_equal(import(".json", mcptox, true, came, &counts, &err), BTZ_OK);
    assert_string_equal(came, "unchecked-mcptox:S/one unchecked-mcptox:S/two "
                              "unchecked-mcptox-poisoned:S/bad ");
    assert_int_equal(counts.wrong, 1);
    assert_int_equal(import(".json",
                            "[{\"S_1\":{\"server_name\":\"S\",\"tool_name\":\"t\","
                            "\"tool_content\":\"c\"}}]",
                            true, came, &counts, &err),
                     BTZ_EINVAL);
    assert_non_null(strstr(err.msg, "import response_all.json"));
}

static void blocks_are_read_as_they_stand(void **state)
{
    struct btz_str text = BTZ_STR("Preface.\nTool: t\nDescription: Says Tool: x\nand more.\n"
                                  "Arguments:\n- a: first\n  and on (required)\n- b: No "
                                  "description\n\n- c: prose behind\n");
    const struct btz_json *tool = btz_sieve_tool_block(arena, &text);
    const struct btz_json *schema = btz_json_getz(tool, "inputSchema");

    (void)state;
    assert_non_null(tool);
    assert_true(
        btz_str_is(btz_json_str(btz_json_getz(tool, "description")), "Says Tool: x\nand more."));
    assert_true(
        btz_str_is(btz_json_str(btz_json_pointer(schema, BTZ_STR("/properties/a/description"))),
                   "first\n  and on"));
    assert_int_equal(btz_json_count(btz_json_getz(schema, "properties")), 2);
    assert_int_equal(btz_json_count(btz_json_getz(schema, "required")), 1);
    assert_null(btz_sieve_tool_block(arena, &text));
}

static void lists_of_servers_are_checked(void **state)
{
    static const struct {
        const char *ending, *text, *says;
        unsigned line;
    } cases[] = {
        {".yaml", "servers:\n  - {label: a}\n", "/url: string is expected", 2},
        {".yaml", "servers:\n  - {label: a, command: [x], url: \"http://h/\"}\n", "not both", 2},
        {".yaml", "servers:\n  - {label: a, command: []}\n", "the first word", 2},
        {".yaml", "servers:\n  - {label: a, command: [x], env: {A: 1}}\n", "must be a text", 2},
        {".yaml", "servers:\n  - {label: a, command: [x], env: {\"A-B\": x}}\n", "is no name", 2},
        {".yaml", "servers:\n  - {label: a, command: [x]}\n  - {label: a, command: [y]}\n",
         "two servers of this label", 3},
        {".yaml", "servers:\n  - {label: a, command: [x], shell: true}\n", "/shell: there is no",
         2},
        {".yaml", "servers: []\n", "names no server", 0},
        {".jsonl", "{\"env\":{\"A\":\"1\"}}\n{\"label\":\"a\",\"url\":\"ftp://x\"}\n",
         "http:// or https://", 2},
    };
    struct btz_sieve_target *targets = NULL;
    size_t count = 0;
    struct btz_err err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(btz_sieve_targets_load(arena, file_with(cases[i].ending, cases[i].text),
                                                &targets, &count, &err),
                         BTZ_EINVAL);
        if (!strstr(err.msg, cases[i].says)) {
            fail_msg("\"%s\" does not say \"%s\"", err.msg, cases[i].says);
        }
        assert_int_equal(err.line, cases[i].line);
    }
    assert_int_equal(
        btz_sieve_targets_load(
            arena,
            file_with(".jsonl", "{\"env\":{\"A\":\"1\"}}\n{\"label\":\"a\",\"command\":[\"x\","
                                "\"y z\"],\"env\":{\"B\":\"2\"},\"package\":{\"registry\":\"npm\","
                                "\"name\":\"@s/p\",\"version\":\"1\"}}\n{\"label\":\"u\",\"url\":"
                                "\"https://h.example/mcp\"}\n"),
            &targets, &count, &err),
        BTZ_OK);
    assert_int_equal(count, 2);
    assert_string_equal(targets[0].argv[1], "y z");
    assert_null(targets[0].argv[2]);
    assert_string_equal(targets[0].env[0], "A=1");
    assert_string_equal(targets[0].env[1], "B=2");
    assert_true(btz_str_is(targets[0].source, "npm:@s/p"));
    assert_null(targets[1].argv);
    assert_string_equal(targets[1].env[0], "A=1");
    assert_true(btz_str_is(targets[1].source, "url:https://h.example/mcp"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_shape_is_taken, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_tool_is_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(mcptox_is_taken_by_its_sum_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(blocks_are_read_as_they_stand, setup, teardown),
        cmocka_unit_test_setup_teardown(lists_of_servers_are_checked, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
