#include "helper.h"

#include "mcp/param_header.h"

#define HEADER(name, type) "{'type':'" type "','x-mcp-header':'" name "'}"
#define SCHEMA(properties) "{'type':'object','properties':{" properties "}}"

/* In order, at any depth of `properties`, with their pointers. */
static void found(void **state)
{
    struct btz_arena *arena = btz_arena_new();
    const struct btz_json *schema =
        json(arena,
             q(SCHEMA("'a':" HEADER(
                 "Region", "string") ",'plain':{'type':'string'},'b/c~':{'type':"
                                     "'object','properties':{'n':" HEADER(
                                         "Count", "integer") ",'o':{'type':['null',"
                                                             "'boolean'],'x-mcp-header':'Flag'}}},'"
                                                             "data':{'default':{'x-mcp-header':1},"
                                                             "'const':{'x-mcp-header':''},'enum':[{"
                                                             "'x-mcp-header':'a b'}],'examples':[{"
                                                             "'x-mcp-header':'Region'}]},'x-mcp-"
                                                             "header':{'type':'string'}")));
    const struct btz_mcp_param_header *headers;
    struct btz_err err;
    size_t count;

    (void)state;
    assert_int_equal(btz_mcp_param_headers(arena, schema, &headers, &count, &err), BTZ_OK);
    assert_int_equal(count, 3);
    assert_text(headers[0].pointer, "/a");
    assert_text(headers[0].name, "Region");
    assert_int_equal(headers[0].type, BTZ_MCP_PARAM_STRING);
    assert_text(headers[1].pointer, "/b~1c~0/n");
    assert_text(headers[1].name, "Count");
    assert_int_equal(headers[1].type, BTZ_MCP_PARAM_INTEGER);
    assert_text(headers[2].pointer, "/b~1c~0/o");
    assert_int_equal(headers[2].type, BTZ_MCP_PARAM_BOOLEAN);
    assert_int_equal(
        btz_mcp_param_headers(arena, json(arena, "{\"type\":\"object\"}"), &headers, &count, &err),
        BTZ_OK);
    assert_int_equal(count, 0);
    assert_int_equal(btz_mcp_param_headers(arena, NULL, &headers, &count, NULL), BTZ_OK);
    assert_int_equal(count, 0);
    btz_arena_free(arena);
}

/* Each rule of the annotation, broken. */
static void broken(void **state)
{
    static const char *const rows[] = {
        SCHEMA("'a':" HEADER("", "string")),
        SCHEMA("'a':" HEADER("a b", "string")),
        SCHEMA("'a':" HEADER("a:b", "string")),
        SCHEMA("'a':" HEADER("a\\r\\nb", "string")),
        SCHEMA("'a':" HEADER("a\\u00e9", "string")),
        SCHEMA("'a':{'type':'string','x-mcp-header':7}"),
        SCHEMA("'a':{'type':'string','x-mcp-header':null}"),
        SCHEMA("'a':" HEADER("A", "number")),
        SCHEMA("'a':" HEADER("A", "object")),
        SCHEMA("'a':" HEADER("A", "array")),
        SCHEMA("'a':" HEADER("A", "null")),
        SCHEMA("'a':{'x-mcp-header':'A'}"),
        SCHEMA("'a':{'type':['string','integer'],'x-mcp-header':'A'}"),
        SCHEMA("'a':{'type':['string','null','null'],'x-mcp-header':'A'}"),
        SCHEMA("'a':" HEADER("Same", "string") ",'b':" HEADER("sAME", "string")),
        SCHEMA("'a':" HEADER("Same", "string") ",'b':" SCHEMA("'c':" HEADER("Same", "string"))),
        "{'type':'object','x-mcp-header':'Root'}",
        SCHEMA("'a':{'type':'array','items':" HEADER("A", "string") "}"),
        SCHEMA("'a':{'type':'array','prefixItems':[" HEADER("A", "string") "]}"),
        SCHEMA("'a':{'type':'array','items':" SCHEMA("'b':" HEADER("A", "string")) "}"),
        "{'$defs':{'d':" HEADER("A", "string") "}}",
        "{'definitions':{'d':" SCHEMA("'b':" HEADER("A", "string")) "}}",
        "{'allOf':[" SCHEMA("'b':" HEADER("A", "string")) "]}",
        "{'anyOf':[{},{'properties':{'b':" HEADER("A", "string") "}}]}",
        "{'oneOf':[" SCHEMA("'b':" HEADER("A", "string")) "]}",
        "{'not':" SCHEMA("'b':" HEADER("A", "string")) "}",
        "{'if':" SCHEMA("'b':" HEADER("A", "string")) "}",
        "{'then':" SCHEMA("'b':" HEADER("A", "string")) "}",
        "{'else':" SCHEMA("'b':" HEADER("A", "string")) "}",
        "{'patternProperties':{'.':" HEADER("A", "string") "}}",
        "{'additionalProperties':" HEADER("A", "string") "}",
        "{'dependentSchemas':{'k':" SCHEMA("'b':" HEADER("A", "string")) "}}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct btz_arena *arena = btz_arena_new();
        const struct btz_mcp_param_header *headers;
        struct btz_err err = {0};
        size_t count;

        if (btz_mcp_param_headers(arena, json(arena, q(rows[i])), &headers, &count, &err) !=
                BTZ_EINVAL ||
            !err.msg[0]) {
            fail_msg("row %zu was accepted: %s", i, rows[i]);
        }
        btz_arena_free(arena);
    }
}

static void limits(void **state)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_json *properties = btz_json_new_object(arena);
    struct btz_json *schema = btz_json_new_object(arena);
    struct btz_json *deep = btz_json_new_object(arena);
    const struct btz_mcp_param_header *headers;
    struct btz_err err;
    size_t count;

    (void)state;
    btz_json_setz(arena, schema, "properties", properties);
    for (int i = 0; i <= BTZ_MCP_MAX_PARAM_HEADERS; i++) {
        struct btz_json *one = btz_json_new_object(arena);
        struct btz_str name = btz_arena_printf(arena, "H%d", i);

        assert_int_equal(btz_mcp_param_headers(arena, schema, &headers, &count, &err), BTZ_OK);
        assert_int_equal(count, i);
        btz_json_set_strz(arena, one, "type", "string");
        btz_json_set_str(arena, one, "x-mcp-header", name);
        btz_json_set(arena, properties, name, one);
    }
    assert_int_equal(btz_mcp_param_headers(arena, schema, &headers, &count, &err), BTZ_ELIMIT);
    for (int i = 0; i < 70; i++) {
        struct btz_json *outer = btz_json_new_object(arena);

        btz_json_setz(arena, outer, "not", deep);
        deep = outer;
    }
    assert_int_equal(btz_mcp_param_headers(arena, deep, &headers, &count, &err), BTZ_ELIMIT);
    btz_arena_free(arena);
}

static void values(void **state)
{
    static const struct {
        enum btz_mcp_param_type type;
        const char *argument; /* NULL = absent */
        int rc;
        const char *value;
    } rows[] = {
        {BTZ_MCP_PARAM_STRING, "'eu-1'", BTZ_OK, "eu-1"},
        {BTZ_MCP_PARAM_STRING, "''", BTZ_OK, ""},
        {BTZ_MCP_PARAM_STRING, "' x'", BTZ_OK, "=?base64?IHg=?="},
        {BTZ_MCP_PARAM_STRING, "'a\\r\\nX: y'", BTZ_OK, "=?base64?YQ0KWDogeQ==?="},
        {BTZ_MCP_PARAM_STRING, "null", BTZ_ENOTFOUND, NULL},
        {BTZ_MCP_PARAM_STRING, NULL, BTZ_ENOTFOUND, NULL},
        {BTZ_MCP_PARAM_STRING, "7", BTZ_EINVAL, NULL},
        {BTZ_MCP_PARAM_STRING, "['eu']", BTZ_EINVAL, NULL},
        {BTZ_MCP_PARAM_INTEGER, "-42", BTZ_OK, "-42"},
        {BTZ_MCP_PARAM_INTEGER, "4.2e1", BTZ_OK, "42"},
        {BTZ_MCP_PARAM_INTEGER, "9007199254740991", BTZ_OK, "9007199254740991"},
        {BTZ_MCP_PARAM_INTEGER, "9007199254740992", BTZ_EINVAL, NULL},
        {BTZ_MCP_PARAM_INTEGER, "-9007199254740992", BTZ_EINVAL, NULL},
        {BTZ_MCP_PARAM_INTEGER, "1.5", BTZ_EINVAL, NULL},
        {BTZ_MCP_PARAM_INTEGER, "'1'", BTZ_EINVAL, NULL},
        {BTZ_MCP_PARAM_BOOLEAN, "true", BTZ_OK, "true"},
        {BTZ_MCP_PARAM_BOOLEAN, "false", BTZ_OK, "false"},
        {BTZ_MCP_PARAM_BOOLEAN, "'true'", BTZ_EINVAL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct btz_arena *arena = btz_arena_new();
        struct btz_mcp_param_header header = {
            .pointer = BTZ_STR("/k"), .name = BTZ_STR("K"), .type = rows[i].type};
        struct btz_json *arguments = btz_json_new_object(arena);
        struct btz_str value = BTZ_STR_NONE;

        if (rows[i].argument) {
            btz_json_setz(arena, arguments, "k", json(arena, q(rows[i].argument)));
        }
        assert_int_equal(btz_mcp_param_value(arena, &header, arguments, &value), rows[i].rc);
        if (rows[i].value) {
            assert_text(value, rows[i].value);
        }
        assert_true(btz_mcp_param_matches(arena, &header, arguments, value));
        assert_false(btz_mcp_param_matches(arena, &header, arguments, BTZ_STR("other")));
        assert_int_equal(btz_mcp_param_matches(arena, &header, arguments, BTZ_STR_NONE),
                         rows[i].rc != BTZ_OK);
        btz_arena_free(arena);
    }
}

static void check(void **state)
{
    struct btz_arena *arena = btz_arena_new();
    const struct btz_json *schema =
        json(arena, q(SCHEMA("'r':" HEADER("Region", "string") ",'n':" HEADER("N", "integer"))));
    const struct btz_json *arguments = json(arena, q("{'r':'eu','n':42}"));
    const struct {
        struct btz_mcp_param fields[3];
        int rc;
    } rows[] = {
        {{{BTZ_STR("region"), BTZ_STR("eu")}, {BTZ_STR("n"), BTZ_STR("42")}}, BTZ_OK},
        {{{BTZ_STR("REGION"), BTZ_STR("=?base64?ZXU=?=")}, {BTZ_STR("N"), BTZ_STR("42.0")}},
         BTZ_OK},
        {{{BTZ_STR("Region"), BTZ_STR("eu")},
          {BTZ_STR("N"), BTZ_STR("42")},
          {BTZ_STR("Else"), BTZ_STR("x")}},
         BTZ_OK},
        {{{BTZ_STR("Region"), BTZ_STR("EU")}, {BTZ_STR("N"), BTZ_STR("42")}}, BTZ_EINVAL},
        {{{BTZ_STR("Region"), BTZ_STR("eu")}, {BTZ_STR("N"), BTZ_STR("43")}}, BTZ_EINVAL},
        {{{BTZ_STR("Region"), BTZ_STR("eu")}, {BTZ_STR("N"), BTZ_STR("42x")}}, BTZ_EINVAL},
        {{{BTZ_STR("Region"), BTZ_STR("eu")}}, BTZ_EINVAL},
        {{{BTZ_STR("Region"), BTZ_STR("eu")},
          {BTZ_STR("region"), BTZ_STR("eu")},
          {BTZ_STR("N"), BTZ_STR("42")}},
         BTZ_EINVAL},
        {{{BTZ_STR("Region"), BTZ_STR("=?base64?!!?=")}, {BTZ_STR("N"), BTZ_STR("42")}},
         BTZ_EINVAL},
        {{{BTZ_STR("Region"), {NULL, 0}}, {BTZ_STR("N"), BTZ_STR("42")}}, BTZ_EINVAL},
    };
    const struct btz_mcp_param *fields;
    struct btz_err err;
    size_t count;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t used = 0;

        while (used < 3 && rows[i].fields[used].name.ptr) {
            used++;
        }
        if (btz_mcp_param_check(arena, schema, arguments, rows[i].fields, used, &err) !=
            rows[i].rc) {
            fail_msg("row %zu", i);
        }
    }
    assert_int_equal(btz_mcp_param_check(arena, schema, json(arena, "{}"), NULL, 0, &err), BTZ_OK);
    assert_int_equal(btz_mcp_param_check(arena, schema, json(arena, "{}"), rows[0].fields, 1, &err),
                     BTZ_EINVAL); /* a header for an argument that is not there */
    assert_int_equal(btz_mcp_param_fields(arena, schema, arguments, &fields, &count, &err), BTZ_OK);
    assert_int_equal(count, 2);
    assert_text(fields[0].name, "Region");
    assert_text(fields[0].value, "eu");
    assert_text(fields[1].value, "42");
    assert_int_equal(btz_mcp_param_fields(arena, schema, json(arena, q("{'r':1,'n':null}")),
                                          &fields, &count, &err),
                     BTZ_OK);
    assert_int_equal(count, 0);
    btz_arena_free(arena);
}

static void encoding(void **state)
{
    static const char *const rows[][2] = {
        {"", ""},
        {"plain text", "plain text"},
        {"~!\"#", "~!\"#"},
        {" edge", "=?base64?IGVkZ2U=?="},
        {"edge ", "=?base64?ZWRnZSA=?="},
        {"tab\there", "=?base64?dGFiCWhlcmU=?="},
        {"\xC3\xA9", "=?base64?w6k=?="},
        {"=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="},
        {"=?base64?", "=?base64?"},
        {"=?base64?=", "=?base64?="},
        {"=?BASE64?eA==?=", "=?BASE64?eA==?="},
    };
    static const char *const bad[] = {
        "a\tb",         "\xC3\xA9",        "a\x01",           "\x7F",
        "=?base64?x?=", "=?base64?AA==?=", "=?base64?/w==?=", "=?base64?eA?="};
    struct btz_arena *arena = btz_arena_new();
    char *big = btz_arena_zalloc(arena, BTZ_MCP_MAX_HEADER_VALUE + 1);
    struct btz_str text;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(btz_mcp_header_encode(arena, btz_str_of(rows[i][0]), &text), BTZ_OK);
        assert_text(text, rows[i][1]);
        assert_int_equal(btz_mcp_header_decode(arena, text, &text), BTZ_OK);
        assert_text(text, rows[i][0]);
    }
    assert_int_equal(btz_mcp_header_decode(arena, BTZ_STR(" \t x y \t"), &text), BTZ_OK);
    assert_text(text, "x y");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (btz_mcp_header_decode(arena, btz_str_of(bad[i]), &text) != BTZ_EINVAL) {
            fail_msg("\"%s\" was accepted", bad[i]);
        }
    }
    memset(big, 'x', BTZ_MCP_MAX_HEADER_VALUE + 1);
    assert_int_equal(
        btz_mcp_header_encode(arena, (struct btz_str){big, BTZ_MCP_MAX_HEADER_VALUE + 1}, &text),
        BTZ_ELIMIT);
    big[0] = ' ';
    assert_int_equal(
        btz_mcp_header_encode(arena, (struct btz_str){big, BTZ_MCP_MAX_HEADER_VALUE}, &text),
        BTZ_ELIMIT);
    btz_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found),  cmocka_unit_test(broken), cmocka_unit_test(limits),
        cmocka_unit_test(values), cmocka_unit_test(check),  cmocka_unit_test(encoding),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
