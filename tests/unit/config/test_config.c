#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "config/config.h"

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

static struct btz_config *parse(const char *text, const char *file)
{
    struct btz_config *config = NULL;
    struct btz_err err = {0};

    if (btz_config_parse(arena, btz_str_of(text), file, NULL, &config, &err)) {
        char out[1200];

        fail_msg("%s: %s", text, btz_err_text(&err, out, sizeof(out)));
    }
    return config;
}

static const struct {
    const char *yaml;
    const char *json;
} trees[] = {
    {"a: 1\nb:\n  - x\n  - y: true\n    z:\n", "{\"a\":1,\"b\":[\"x\",{\"y\":true,\"z\":null}]}"},
    {"[]", "[]"},
    {"---\nx\n...\n", "\"x\""},
    {"{\"a\": [1, 2.50, \"\\u0041\", null]}", "{\"a\":[1,2.50,\"A\",null]}"},
    {"a: no\nb: yes\nc: on\nd: off\ne: y\nf: 2026-01-02\ng: 12:30\nh: 1_000",
     "{\"a\":\"no\",\"b\":\"yes\",\"c\":\"on\",\"d\":\"off\",\"e\":\"y\",\"f\":\"2026-01-02\","
     "\"g\":\"12:30\",\"h\":\"1_000\"}"},
    {"[True, FALSE, Null, ~, 'true', \"null\", tRUE]",
     "[true,false,null,null,\"true\",\"null\",\"tRUE\"]"},
    {"[0x1F, 0o17, 0x, 0o8, -0x1, 0x7fffffffffffffff]",
     "[31,15,\"0x\",\"0o8\",\"-0x1\",9223372036854775807]"},
    {"[+1, -01, 007, 0.10, .5, -.5, 1., 1e3, 1.5E-3, +0.0e+1, 1e, e1, ., -, +, 1.2.3, 1e5x, 0]",
     "[1,-1,7,0.10,0.5,-0.5,1,1e3,1.5E-3,0.0e+1,\"1e\",\"e1\",\".\",\"-\",\"+\",\"1.2.3\",\"1e5x\","
     "0]"},
    {"n: 123456789012345678901234567890.5", "{\"n\":123456789012345678901234567890.5}"},
    {"a: |\n  line 1\n  line 2\nb: >\n  folded\n  text\n",
     "{\"a\":\"line 1\\nline 2\\n\",\"b\":\"folded text\\n\"}"},
    {"a: '&x *y !z'\nb: x & y\nc: a*b\nd: wow!\n",
     "{\"a\":\"&x *y !z\",\"b\":\"x & y\",\"c\":\"a*b\",\"d\":\"wow!\"}"},
    {"1: a\ntrue: b\n\"\": c\n", "{\"1\":\"a\",\"true\":\"b\",\"\":\"c\"}"},
    {"\xc3\xa4: \xf0\x9f\x98\x80", "{\"\xc3\xa4\":\"\xf0\x9f\x98\x80\"}"},
    {"a: # comment\n  b: 1 # more\n", "{\"a\":{\"b\":1}}"},
};

static void yaml_becomes_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
        struct btz_config *config = parse(trees[i].yaml, "t.yaml");
        struct btz_str text = btz_json_text(arena, btz_config_root(config));

        if (!btz_str_is(text, trees[i].json)) {
            fail_msg("%s\n-> %s", trees[i].yaml, text.ptr);
        }
    }
}

static const struct {
    const char *yaml;
    int code;
    unsigned line;
    unsigned column;
    const char *says;
} refused[] = {
    {"a: 1\nb: 2\na: 3\n", BTZ_EINVAL, 3, 1, "key \"a\" stands here a second time"},
    {"x:\n  {a: 1, \"a\": 2}\n", BTZ_EINVAL, 2, 10, "second time"},
    {"a: &x 1\n", BTZ_EINVAL, 1, 4, "anchors"},
    {"a: &x [1]\nb: *x\n", BTZ_EINVAL, 1, 4, "anchors"},
    {"a: 1\nb: *x\n", BTZ_EINVAL, 2, 4, "aliases"},
    {"a: !!str 1\n", BTZ_EINVAL, 1, 4, "tags"},
    {"a: ! 1\n", BTZ_EINVAL, 1, 4, "tags"},
    {"a: !!map {}\n", BTZ_EINVAL, 1, 4, "tags"},
    {"a: !own [1]\n", BTZ_EINVAL, 1, 4, "tags"},
    {"a: 1\n---\nb: 2\n", BTZ_EINVAL, 2, 1, "second document"},
    {"%YAML 1.1\n---\na: 1\n", BTZ_EINVAL, 1, 1, "directives"},
    {"%TAG ! x\n---\na: 1\n", BTZ_EINVAL, 1, 1, "directives"},
    {"<<: {a: 1}\n", BTZ_EINVAL, 1, 1, "merge keys"},
    {"? [a]\n: 1\n", BTZ_EINVAL, 1, 3, "a key must be text"},
    {"?\n: 1\n", BTZ_EINVAL, 0, 0, "a key is missing"},
    {"a: .inf\n", BTZ_EINVAL, 1, 4, "not a finite number"},
    {"a: -.INF\n", BTZ_EINVAL, 1, 4, "not a finite number"},
    {"a: .nan\n", BTZ_EINVAL, 1, 4, "not a finite number"},
    {"a: 0xffffffffffffffff\n", BTZ_EINVAL, 1, 4, "larger than 2^63 - 1"},
    {"a: \"x\\0y\"\n", BTZ_EINVAL, 1, 4, "NUL"},
    {"a: [1, 2\nb: 3\n", BTZ_EINVAL, 2, 0, "YAML: "},
    {"a: \"open\n", BTZ_EINVAL, 2, 1, "YAML: "},
    {"a:\n\tb: 1\n", BTZ_EINVAL, 2, 1, "YAML: "},
    {"a: \xff\n", BTZ_EINVAL, 0, 0, "not valid UTF-8 text at byte 4"},
    {"", BTZ_EINVAL, 0, 0, "the file is empty"},
    {"# only a comment\n", BTZ_EINVAL, 0, 0, "the file is empty"},
    {"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]", BTZ_ELIMIT, 1, 33,
     "nested too deep"},
};

static void what_surprises_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct btz_config *config = NULL;
        struct btz_err err = {0};
        int rc = btz_config_parse(arena, btz_str_of(refused[i].yaml), "conf/a.yaml", NULL, &config,
                                  &err);

        if (rc != refused[i].code || err.code != rc || !strstr(err.msg, refused[i].says) ||
            (refused[i].line && err.line != refused[i].line) ||
            (refused[i].column && err.column != refused[i].column) ||
            strcmp(err.file, "conf/a.yaml") != 0) {
            fail_msg("%s: %s %s:%u:%u \"%s\"", refused[i].yaml, btz_code_name(rc), err.file,
                     err.line, err.column, err.msg);
        }
        assert_null(config);
    }
}

static void limits_hold(void **state)
{
    struct btz_config_limits limits = {.max_bytes = 100, .max_depth = 3, .max_values = 5};
    struct btz_config *config = NULL;
    struct btz_err err = {0};
    char text[102];

    (void)state;
    memset(text, '#', sizeof(text));
    assert_int_equal(
        btz_config_parse(arena, (struct btz_str){text, 101}, NULL, &limits, &config, &err),
        BTZ_ELIMIT);
    assert_non_null(strstr(err.msg, "101 bytes"));
    assert_int_equal(btz_config_parse(arena, BTZ_STR("[[[]]]"), NULL, &limits, &config, &err),
                     BTZ_OK);
    assert_int_equal(btz_config_parse(arena, BTZ_STR("[[[1]]]"), NULL, &limits, &config, &err),
                     BTZ_ELIMIT);
    assert_int_equal(btz_config_parse(arena, BTZ_STR("[1,2,3,4]"), NULL, &limits, &config, &err),
                     BTZ_OK);
    assert_int_equal(btz_config_parse(arena, BTZ_STR("[1,2,3,4,5]"), NULL, &limits, &config, &err),
                     BTZ_ELIMIT);
    assert_non_null(strstr(err.msg, "too many values"));
}

static void hostile_texts_end_soon(void **state)
{
    static const char *const pieces[] = {
        "[", "{", "? ", "- ", "{a: ", "a: [", "'a", "&a ", "x\n", "\"a\": {"};
    char *text = malloc(1024 * 1024);

    (void)state;
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        size_t len = strlen(pieces[i]);
        struct btz_config *config = NULL;
        int64_t begin = btz_clock_mono_us();
        size_t at = 0;

        while (at + len <= 1024 * 1024) {
            memcpy(text + at, pieces[i], len);
            at += len;
        }
        /* "x" over many lines is one long plain scalar. */
        assert_int_equal(btz_config_parse(arena, (struct btz_str){text, at}, NULL, NULL, &config,
                                          NULL) == BTZ_OK,
                         strcmp(pieces[i], "x\n") == 0);
        if (getenv("BTZ_TEST_TIMES")) {
            print_message("%-8s %8lld us\n", pieces[i], (long long)(btz_clock_mono_us() - begin));
        }
        assert_true(btz_clock_mono_us() - begin < 5000000);
    }
    free(text);
}

static unsigned line_at(const struct btz_config *config, const char *pointer)
{
    return btz_config_line(config, btz_json_pointer(btz_config_root(config), btz_str_of(pointer)));
}

static unsigned key_line_at(const struct btz_config *config, const char *pointer)
{
    return btz_config_key_line(config,
                               btz_json_pointer(btz_config_root(config), btz_str_of(pointer)));
}

static void values_know_their_lines(void **state)
{
    struct btz_config *yaml =
        parse("# head\na: 1\nb:\n  c: [x,\n    y]\n  d: |\n    text\n", "a.yaml");
    struct btz_config *json =
        parse("{\n \"a\": 1,\n \"b\": {\n  \"c\": [\"x\",\n   \"y\"]}}", "a.json");
    struct btz_json *other = btz_json_new_int(arena, 1);

    (void)state;
    assert_int_equal(line_at(yaml, ""), 2);
    assert_int_equal(line_at(yaml, "/a"), 2);
    assert_int_equal(line_at(yaml, "/b"), 4);
    assert_int_equal(line_at(yaml, "/b/c"), 4);
    assert_int_equal(line_at(yaml, "/b/c/1"), 5);
    assert_int_equal(line_at(yaml, "/b/d"), 6);
    assert_int_equal(key_line_at(yaml, ""), 2);
    assert_int_equal(key_line_at(yaml, "/b"), 3);
    assert_int_equal(key_line_at(yaml, "/b/c/1"), 5);
    assert_int_equal(key_line_at(yaml, "/b/d"), 6);
    assert_int_equal(btz_config_key_line(yaml, other), 0);
    assert_true(btz_str_starts(btz_config_text(yaml), BTZ_STR("# head\na: 1")));
    assert_string_equal(btz_config_file(yaml), "a.yaml");
    assert_int_equal(key_line_at(json, "/b"), 3);
    assert_int_equal(line_at(json, ""), 1);
    assert_int_equal(line_at(json, "/a"), 2);
    assert_int_equal(line_at(json, "/b/c"), 4);
    assert_int_equal(line_at(json, "/b/c/1"), 5);
    assert_int_equal(btz_config_line(yaml, other), 0);
    assert_int_equal(btz_config_line(yaml, NULL), 0);
}

static void json_is_strict_too(void **state)
{
    struct btz_config *config = NULL;
    struct btz_err err = {0};

    (void)state;
    assert_int_equal(
        btz_config_parse(arena, BTZ_STR("{\n\"a\":1,\n\"a\":2}"), "x.json", NULL, &config, &err),
        BTZ_EINVAL);
    assert_string_equal(err.file, "x.json");
    assert_int_equal(err.line, 3);
    assert_int_equal(btz_config_parse(arena, BTZ_STR("a: 1"), "x.json", NULL, &config, &err),
                     BTZ_EINVAL);
}

static struct btz_schema *schema_of(const char *text)
{
    struct btz_schema *schema = NULL;
    const struct btz_json *json = NULL;

    assert_int_equal(btz_json_parse(arena, btz_str_of(text), NULL, &json, NULL), BTZ_OK);
    assert_int_equal(btz_schema_compile(json, NULL, &schema, NULL), BTZ_OK);
    return schema;
}

static void violations_name_file_line_and_field(void **state)
{
    struct btz_schema *schema = schema_of(
        "{\"properties\":{\"model\":{\"type\":\"string\"},\"runs\":{\"items\":{\"properties\":"
        "{\"trials\":{\"type\":\"integer\",\"minimum\":1}},\"required\":[\"trials\"],"
        "\"additionalProperties\":false}}},\"propertyNames\":{\"maxLength\":5}}");
    struct btz_config *good = parse("model: m\nruns:\n- trials: 3\n", "s.yaml");
    struct btz_config *bad = parse(
        "model: m\nruns:\n- trials: 3\n- trials: 0\n- seed: 1\nlonger: 1\n", "studies/s.yaml");
    struct btz_err err = {0};
    char out[1200];

    (void)state;
    assert_int_equal(btz_config_check(good, schema, &err), BTZ_OK);
    assert_int_equal(btz_config_check(bad, schema, &err), BTZ_EINVAL);
    assert_int_equal(err.line, 4);
    assert_string_equal(btz_err_text(&err, out, sizeof(out)),
                        "studies/s.yaml:4: /runs/1/trials: expected a number of at least 1, got 0; "
                        "line 5: /runs/2: expected property \"trials\"; "
                        "line 5: /runs/2/seed: property \"seed\" is not allowed; remove it; "
                        "line 6: /longer: property name: expected a string of at most 5 "
                        "characters, got 6");
    btz_schema_free(schema);
    assert_int_equal(btz_config_refuse(bad, btz_json_getz(btz_config_root(bad), "longer"), &err,
                                       "%s is %d", "this", 7),
                     BTZ_EINVAL);
    assert_string_equal(btz_err_text(&err, out, sizeof(out)), "studies/s.yaml:6: this is 7");
}

static void a_check_has_limits(void **state)
{
    struct btz_schema *schema = schema_of("{\"$ref\":\"#\"}");
    struct btz_config *config = parse("a: 1", "s.yaml");
    struct btz_err err = {0};

    (void)state;
    assert_int_equal(btz_config_check(config, schema, &err), BTZ_ELIMIT);
    assert_string_equal(err.file, "s.yaml");
    btz_schema_free(schema);
}

static void files_are_read(void **state)
{
    char name[] = "/tmp/btz-config-XXXXXX";
    struct btz_config_limits small = {.max_bytes = 4};
    struct btz_config *config = NULL;
    struct btz_err err = {0};
    int fd = mkstemp(name);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "a: 1\n", 5), 5);
    close(fd);
    assert_int_equal(btz_config_load(arena, name, NULL, &config, &err), BTZ_OK);
    assert_true(btz_str_is(btz_json_text(arena, btz_config_root(config)), "{\"a\":1}"));
    assert_int_equal(btz_config_load(arena, name, &small, &config, &err), BTZ_ELIMIT);
    unlink(name);
    assert_int_equal(btz_config_load(arena, name, NULL, &config, &err), BTZ_ENOTFOUND);
    assert_string_equal(err.file, name);
    assert_int_equal(btz_config_load(arena, "/", NULL, &config, &err), BTZ_EINVAL);
    assert_non_null(strstr(err.msg, "regular file"));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(yaml_becomes_json),
        T(what_surprises_is_refused),
        T(limits_hold),
        T(hostile_texts_end_soon),
        T(values_know_their_lines),
        T(json_is_strict_too),
        T(violations_name_file_line_and_field),
        T(a_check_has_limits),
        T(files_are_read),
    };

    return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
