/* Canonicalisation of schemas: formats, numbers, patterns, references, renaming, calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "make.h"

/* The result for this input schema. */
static struct btz_canon_result canon_of(const char *schema)
{
    return canon(
        parse(btz_arena_printf(arena, "{\"name\":\"get_item\",\"inputSchema\":%s}", schema).ptr));
}

/* The schema without the type of its top, which canon adds. */
static const char *shown(const struct btz_canon_result *r)
{
    struct btz_json *schema = btz_json_shallow(arena, btz_json_getz(r->definition, "inputSchema"));

    assert_true(btz_str_is(btz_json_str(btz_json_getz(schema, "type")), "object"));
    btz_json_remove(schema, BTZ_STR("type"));
    return btz_json_text(arena, schema).ptr;
}

static bool has_rule(const struct btz_canon_result *r, const char *rule)
{
    for (size_t i = 0; i < r->span_count; i++) {
        if (strcmp(r->spans[i].rule, rule) == 0 && r->spans[i].action == BTZ_CANON_REMOVED) {
            return true;
        }
    }
    return false;
}

/* Members of one property: all stay, or all go and the rule says so. */
static void check_members(const char *members, const char *rule)
{
    const char *given = btz_arena_printf(arena, "{\"properties\":{\"x\":{%s}}}", members).ptr;
    const char *empty = "{\"properties\":{\"x\":{}}}";
    struct btz_canon_result r = canon_of(given);

    assert_string_equal(shown(&r), rule ? empty : given);
    if (rule && !has_rule(&r, rule)) {
        fail_msg("%s is not removed by %s", members, rule);
    }
    assert_int_equal(r.changed, rule != NULL);
}

static void formats_are_the_known_ones(void **state)
{
    static const char *const good[] = {
        "\"format\":\"date-time\"",
        "\"format\":\"int64\"",
        "\"format\":\"uuid\"",
        "\"contentEncoding\":\"base64\"",
        "\"contentMediaType\":\"image/png\"",
        "\"contentMediaType\":\"application/json\"",
    };
    static const char *const bad[] = {
        "\"format\":\"locker/north-gate.key\"", "\"format\":\"depot.host.example/in\"",
        "\"format\":\"send.it.to.victor\"",     "\"contentMediaType\":\"text/victor\"",
        "\"contentEncoding\":\"victor\"",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        check_members(good[i], NULL);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        check_members(bad[i], "format-unknown");
    }
}

static void numbers_hold_no_operands(void **state)
{
    static const char *const good[] = {
        "\"const\":1200",       "\"maximum\":65535",
        "\"maximum\":10485760", "\"minimum\":1900,\"maximum\":2100",
        "\"multipleOf\":0.001", "\"enum\":[16,64,1000000000]",
        "\"default\":0.25",     "\"minimum\":-9007199254740991,\"maximum\":2147483647",
    };
    static const char *const bad_numbers[] = {
        "\"const\":5550123412341234",
        "\"const\":48291",
        "\"minimum\":48291337,\"maximum\":48291337",
        "\"minLength\":48291337,\"maxLength\":48291337",
        "\"multipleOf\":48291.337",
        "\"default\":1e48291",
        "\"enum\":[1,5550123412341234]",
        "\"const\":{\"a\":5550123412341234}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        check_members(good[i], NULL);
    }
    for (size_t i = 0; i < sizeof(bad_numbers) / sizeof(bad_numbers[0]); i++) {
        struct btz_canon_result r =
            canon_of(btz_arena_printf(arena, "{\"properties\":{\"x\":{%s}}}", bad_numbers[i]).ptr);

        assert_string_equal(shown(&r), "{\"properties\":{\"x\":{}}}");
    }
}

static void patterns_hold_no_operands(void **state)
{
    static const char *const good[] = {
        "\"pattern\":\"^[A-Z]{2}[0-9]{2,30}$\"",
        "\"pattern\":\"^https?://\"",
        "\"pattern\":\"^\\\\d{4}-\\\\d{2}-\\\\d{2}$\"",
        "\"pattern\":\"^[0123456789]+$\"",
        "\"pattern\":\"^[13579]$\"",
        "\"pattern\":\"^[A-Za-z0-9._:-]{1,128}$\"",
        "\"pattern\":\"^[\\\\w.-]+@[\\\\w.-]+\\\\.\\\\w{2,}$\"",
        "\"pattern\":\"^\\\\p{L}+\\\\p{Nd}$\"",
        "\"pattern\":\"^[aeiou]+$\"",
        "\"pattern\":\"^[Yy]es$\"",
        "\"pattern\":\"^(0[13578]|1[02])$\"",
        "\"pattern\":\"^[\\\\x20-\\\\x7E]+$\"",
        "\"pattern\":\"^[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+$\"",
        "\"pattern\":\"^(asc|desc)$\"",
        "\"pattern\":\"^P(?:\\\\d+Y)?(?:\\\\d+M)?(?:T(?:\\\\d+H)?)?$\"",
        "\"pattern\":\"^([0-9a-f]{8}-[0-9a-f]{4}|00000000-0000|ffffffff-ffff)$\"",
        "\"pattern\":\"^[1-8][0-9a-f]{3}-[89abAB]$\"",
    };
    static const char *const bad[] = {
        "\"pattern\":\"^https://desk.example/submit$\"",
        "\"pattern\":\"^FR7612345678$\"",
        "\"pattern\":\"^/etc/ssh$\"",
        "\"pattern\":\"^10\\\\.1\\\\.7\\\\.8$\"",
        "\"pattern\":\"^[5][5][5][0][1][2][3][4]55501234$\"",
        "\"pattern\":\"^desk\\\\.example$\"",
        "\"pattern\":\"^[e][v][i][l][.]com$\"",
        "\"pattern\":\"^(e)(v)(i)(l)$\"",
        "\"pattern\":\"^e{1}v{1}i{1}l{1}$\"",
        "\"pattern\":\"^\\\\x65\\\\x76\\\\x69\\\\x6c$\"",
        "\"pattern\":\"^(4)(8)(2)(9)(1)$\"",
        "\"pattern\":\"^[48291]$\"",
        "\"pattern\":\"^[/etc/ssh/key]$\"",
        "\"pattern\":\"[~/.ssh/id_rsa]\"",
        "\"pattern\":\"^[4929-1234-5678-9012]$\"",
        "\"pattern\":\"[10.0.0.99:8080]\"",
        "\"pattern\":\"[a@b.io]\"",
        "\"pattern\":\"^{m@evil.com}$\"",
        "\"pattern\":\"{/etc/}{passwd}\"",
        "\"pattern\":\"a{1234567890}\"",
        "\"pattern\":\"a{4829}\"",
        "\"pattern\":\"\\\\p{mallory}\"",
        "\"pattern\":\"\\\\m\\\\a\\\\l\\\\l\\\\o\\\\r\\\\y\"",
        "\"pattern\":\"[\\\\m\\\\a\\\\l\\\\l\\\\o\\\\r\\\\y]\"",
        "\"pattern\":\"[\\\\x41]\"",
        "\"pattern\":\"mal\\\\Blor\\\\By\"",
        "\"pattern\":\"(?:send)(?:mail)(?:to)(?:all)\"",
        "\"pattern\":\"send_mail\"",
        "\"pattern\":\"[m-m][a-a][l-l][l-l][o-o][r-r][y-y]\"",
        "\"pattern\":\"m\\\\s*a\\\\s*l\\\\s*l\\\\s*o\\\\s*r\\\\s*y\"",
        "\"pattern\":\"m\\\\wa\\\\wl\\\\wl\\\\wo\"",
        "\"pattern\":\"m|a|l|l|o|r|y\"",
        "\"pattern\":\"492|912|345\"",
        "\"pattern\":\"mal|lor|yev|ilc|oma\"",
        "\"pattern\":\"\\\\4\\\\8\\\\2\\\\9\"",
        "\"pattern\":\"[Ss][Ee][Nn][Dd]\"",
        "\"pattern\":\"mal|lor|yev|eve|bob|abc|xyz|kkj|uui|oop|qqa|wws\"",
        "\"pattern\":\"^48290$\"",
        "\"pattern\":\"^7200000$\"",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        check_members(good[i], NULL);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        check_members(bad[i], "pattern-not-plain");
    }
}

static void honest_values_and_names_stay(void **state)
{
    static const char *const names[] = {"filter[name]", "$filter", "meta.id", "field_15999"};
    static const char *const values[] = {("\xC2\xB0"
                                          "C"),
                                         "\xC2\xB5s",
                                         "C++",
                                         "n/a",
                                         "A4",
                                         "en-US",
                                         "es-US",
                                         "image/png",
                                         "-created_at",
                                         "+1",
                                         "1h",
                                         "v1.2",
                                         "to do",
                                         "DoS"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct btz_canon_result r =
            canon_of(btz_arena_printf(arena, "{\"properties\":{\"%s\":{}}}", names[i]).ptr);

        if (r.names) {
            fail_msg("the name %s is changed", names[i]);
        }
    }
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct btz_canon_result r = canon_of(
            btz_arena_printf(arena, "{\"properties\":{\"x\":{\"enum\":[\"%s\"]}}}", values[i]).ptr);

        if (r.values) {
            fail_msg("the value %s is changed", values[i]);
        }
    }
}

/* Operands in plain words: a recipient, a host, a path, an order, an amount, no real day. */
static void spelled_out_operands_go(void **state)
{
    static const char *const names[] = {"mail_mallory_evil", "call_send_mail", "evil_com",
                                        "account_48291"};
    static const char *const values[] = {"mallory at evil dot com", "etc passwd",   "48291337",
                                         "all_mail_to_mallory",     "send mallory", "2948-13-37"};
    static const char *const defaults[] = {"send_mail", "48291", "4829", "2948-13-37"};
    static const char *const honest[] = {"2024-01-15", "09:30", "16:9", "v4.19.0"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct btz_canon_result r =
            canon_of(btz_arena_printf(arena, "{\"properties\":{\"%s\":{}}}", names[i]).ptr);

        if (!r.names) {
            fail_msg("the name %s stays", names[i]);
        }
    }
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct btz_canon_result r = canon_of(
            btz_arena_printf(arena, "{\"properties\":{\"x\":{\"enum\":[\"%s\"]}}}", values[i]).ptr);

        if (!r.values) {
            fail_msg("the value %s stays", values[i]);
        }
    }
    for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
        check_members(btz_arena_printf(arena, "\"default\":\"%s\"", defaults[i]).ptr,
                      "default-free-text");
    }
    for (size_t i = 0; i < sizeof(honest) / sizeof(honest[0]); i++) {
        check_members(btz_arena_printf(arena, "\"default\":\"%s\"", honest[i]).ptr, NULL);
    }
}

/* What holds nothing says nothing. */
static void empty_maps_go(void **state)
{
    static const char *const members[] = {"\"patternProperties\":{}", "\"dependentRequired\":{}",
                                          "\"dependentSchemas\":{}"};

    (void)state;
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        struct btz_canon_result r =
            canon_of(btz_arena_printf(arena, "{\"properties\":{\"x\":{%s}}}", members[i]).ptr);

        assert_string_equal(shown(&r), "{\"properties\":{\"x\":{}}}");
    }
}

static void lists_of_values_never_refuse_everything(void **state)
{
    struct btz_canon_result r;

    (void)state;
    check_members("\"enum\":[{\"w\":640},{\"w\":1920}]", NULL);
    check_members("\"enum\":[[\"a\",\"b\"]]", NULL);
    check_members("\"const\":{\"mode\":\"fast\"}", NULL);
    check_members("\"enum\":[{\"w\":\"a@b.example\"},\"x\"]", "value-not-plain");
    r = canon_of("{\"properties\":{\"x\":{\"enum\":[\"db.desk.example\"],\"pattern\":\"^[a-z]+$\","
                 "\"minLength\":12,\"maxLength\":20,\"format\":\"hostname\"}}}");
    assert_string_equal(shown(&r), "{\"properties\":{\"x\":{\"enum\":[\"value_1\"]}}}");
    assert_true(has_rule(&r, "form-of-renamed"));
    r = canon_of(
        "{\"properties\":{\"a@b\":{}},\"propertyNames\":{\"pattern\":\"@\",\"enum\":[\"a@b\","
        "\"c\"]},\"required\":[\"a@b\"]}");
    assert_string_equal(shown(&r), "{\"properties\":{\"param_1\":{}},\"propertyNames\":{\"enum\":["
                                   "\"param_1\",\"c\"]},\"required\":[\"param_1\"]}");
}

static void references_follow_names(void **state)
{
    struct btz_canon_result r = canon_of(
        "{\"properties\":{\"a/b\":{\"type\":\"string\"},\"c\":{\"$ref\":\"#/properties/a~1b\"},"
        "\"d\":{\"$ref\":\"#/$defs/My%20Type\"},\"e\":{\"$ref\":\"#/$defs/List~1Item\"}},"
        "\"$defs\":{\"My Type\":{\"type\":\"integer\"},\"List/Item\":{\"type\":\"number\"},"
        "\"unused\":{\"type\":\"null\"}}}");

    (void)state;
    assert_string_equal(
        shown(&r),
        "{\"properties\":{\"param_1\":{\"type\":\"string\"},\"c\":{\"$ref\":\"#/properties/"
        "param_1\"},\"d\":{\"$ref\":\"#/$defs/definition_1\"},\"e\":{\"$ref\":\"#/$defs/"
        "definition_2\"}},\"$defs\":{\"definition_1\":{\"type\":\"integer\"},\"definition_2\":{"
        "\"type\":\"number\"}}}");
    assert_true(has_rule(&r, "definition-unused"));
    r = canon_of(
        "{\"properties\":{\"c\":{\"$ref\":\"#thing\"},\"d\":{\"$dynamicRef\":\"#node\"},\"e\":"
        "{\"$ref\":\"one.json\"},\"f\":{\"$ref\":\"#/$defs/none\"}},\"$defs\":{\"A\":{"
        "\"$anchor\":\"thing\",\"type\":\"integer\"},\"B\":{\"$dynamicAnchor\":\"node\"},"
        "\"C\":{\"$id\":\"one.json\",\"type\":\"null\"}}}");
    assert_string_equal(
        shown(&r), "{\"properties\":{\"c\":{\"$ref\":\"#/$defs/A\"},\"d\":{\"$ref\":\"#/$defs/B\"},"
                   "\"e\":{\"$ref\":\"#/$defs/C\"},\"f\":{}},\"$defs\":{\"A\":{\"type\":"
                   "\"integer\"},\"B\":{},\"C\":{\"type\":\"null\"}}}");
}

/* A reference that ends in what goes, or is no schema, goes too; and so does what depends on a
 * property that only such a schema has. */
static void references_end_in_schemas(void **state)
{
    struct btz_canon_result r = canon_of(
        "{\"properties\":{\"a\":{\"$ref\":\"#/$defs\"},\"b\":{\"$ref\":\"#/properties\"},\"c\":{"
        "\"$ref\":\"#/properties/d/enum/0\"},\"d\":{\"enum\":[{\"x\":1}]},\"e\":{\"$ref\":"
        "\"#/properties/f/prefixItems\"},\"f\":{\"prefixItems\":{\"x\":1}},\"g\":{\"$ref\":"
        "\"#/properties/h/prefixItems/0\"},\"h\":{\"prefixItems\":[{}]}},\"dependentSchemas\":{"
        "\"victor\":{\"properties\":{\"walter\":{}}},\"walter\":{}},\"$defs\":{\"A\":{}}}");

    (void)state;
    assert_string_equal(shown(&r),
                        "{\"properties\":{\"a\":{},\"b\":{},\"c\":{},\"d\":{\"enum\":[{\"x\":1}]},"
                        "\"e\":{},\"f\":{},\"g\":{\"$ref\":\"#/properties/h/prefixItems/0\"},"
                        "\"h\":{\"prefixItems\":[{}]}}}");
    r = canon_of(
        "{\"properties\":{\"a\":{}},\"dependentSchemas\":{\"c\":{\"properties\":{\"d\":{}}},"
        "\"b\":{\"properties\":{\"c\":{}}},\"a\":{\"properties\":{\"b\":{}}}}}");
    assert_string_equal(shown(&r), "{\"properties\":{\"a\":{}},\"dependentSchemas\":{\"c\":{"
                                   "\"properties\":{\"d\":{}}},\"b\":{\"properties\":{\"c\":{}}},"
                                   "\"a\":{\"properties\":{\"b\":{}}}}}");
}

/* A chain of references is followed; one that only an unused definition makes is not. */
static void names_of_nothing_go(void **state)
{
    struct btz_canon_result r = canon_of(
        "{\"properties\":{\"a\":{\"$ref\":\"#/$defs/A\"}},\"required\":[\"a\",\"victor\"],"
        "\"dependentRequired\":{\"a\":[\"deep\",\"victor\"],\"victor\":[\"a\"]},\"$defs\":{"
        "\"A\":{\"$ref\":\"#/$defs/B\"},\"B\":{\"properties\":{\"deep\":{}}},\"C\":{\"$ref\":"
        "\"#/$defs/D\"},\"D\":{\"properties\":{\"victor\":{}}}}}");

    (void)state;
    assert_string_equal(shown(&r), "{\"properties\":{\"a\":{\"$ref\":\"#/$defs/A\"}},\"required\":["
                                   "\"a\"],\"dependentRequired\":{\"a\":[\"deep\"]},\"$defs\":{"
                                   "\"A\":{\"$ref\":\"#/$defs/B\"},\"B\":{\"properties\":{"
                                   "\"deep\":{}}}}}");
    assert_true(has_rule(&r, "name-of-nothing"));
}

static void calls_are_mapped_along_the_schema(void **state)
{
    struct btz_canon_result r = canon_of(
        "{\"properties\":{\"text\":{\"type\":\"string\"},\"voice\":{\"enum\":[\"/v/one\"]},"
        "\"doc\":{\"type\":\"object\"},\"x@y\":{\"type\":\"array\",\"items\":{\"$ref\":"
        "\"#/$defs/v\"}},\"one\":{\"anyOf\":[{\"type\":\"null\"},{\"const\":\"/v/two\"}]}},"
        "\"$defs\":{\"v\":{\"properties\":{\"p@q\":{}}}}}");
    const struct btz_json *back = btz_canon_arguments(
        &r,
        parse("{\"text\":\"value_1\",\"voice\":\"value_1\",\"doc\":{\"param_1\":"
              "\"value_2\"},\"param_1\":[{\"param_2\":\"value_1\"},\"value_1\"],\"one\":"
              "\"value_2\"}"),
        arena);

    (void)state;
    assert_string_equal(btz_json_text(arena, back).ptr,
                        "{\"text\":\"value_1\",\"voice\":\"/v/one\",\"doc\":{\"param_1\":"
                        "\"value_2\"},\"x@y\":[{\"p@q\":\"value_1\"},\"value_1\"],\"one\":"
                        "\"/v/two\"}");
}

enum shape { MANY_VALUES, MANY_NAMES, MANY_DEFINITIONS, MANY_REQUIRED, SHAPES };

/* Steps in the tables for `count` texts that all get new names. */
static size_t lookups_for(enum shape shape, unsigned count)
{
    static const char *const heads[SHAPES] = {"{\"properties\":{\"a\":{\"enum\":[",
                                              "{\"properties\":{", "{\"$defs\":{",
                                              "{\"properties\":{},\"required\":["};
    static const char *const items[SHAPES] = {"%s\"/p/%u/x\"", "%s\"a@%u\":{}", "%s\"A<%u>\":{}",
                                              "%s\"a@%u\""};
    static const char *const tails[SHAPES] = {"]}}}", "}}", "}}", "]}"};
    struct btz_buf text;
    struct btz_canon_result r;

    btz_buf_init(&text, 1U << 22);
    (void)btz_buf_printf(&text, "%s", heads[shape]);
    for (unsigned i = 0; i < count; i++) {
        char item[64];

        (void)snprintf(item, sizeof(item), items[shape], i ? "," : "", i);
        (void)btz_buf_printf(&text, "%s", item);
    }
    (void)btz_buf_printf(&text, "%s", tails[shape]);
    r = canon_of(btz_arena_dup(arena, btz_buf_view(&text)).ptr);
    btz_buf_fini(&text);
    return r.lookups;
}

static void renaming_is_linear(void **state)
{
    (void)state;
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        size_t few = lookups_for((enum shape)shape, 1000);
        size_t many = lookups_for((enum shape)shape, 8000);

        /* A table that is half full at most takes few steps a text; eight times the texts would
         * take 64 times the steps if it were square. */
        assert_true(many <= 16 * few + 1000);
        assert_true(many <= 8000 * 40);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_are_the_known_ones),
        cmocka_unit_test(numbers_hold_no_operands),
        cmocka_unit_test(patterns_hold_no_operands),
        cmocka_unit_test(honest_values_and_names_stay),
        cmocka_unit_test(spelled_out_operands_go),
        cmocka_unit_test(empty_maps_go),
        cmocka_unit_test(lists_of_values_never_refuse_everything),
        cmocka_unit_test(references_follow_names),
        cmocka_unit_test(references_end_in_schemas),
        cmocka_unit_test(names_of_nothing_go),
        cmocka_unit_test(calls_are_mapped_along_the_schema),
        cmocka_unit_test(renaming_is_linear),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
