#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "json/json.h"
#include "llm/reply.h"
#include "llm/request.h"

static const char tools_text[] = "[{\"type\":\"function\",\"function\":{\"name\":\"send\"}}]";

static int body_of(const char *settings, const char *tools, const char *message,
                   struct btz_buf *out, struct btz_err *err)
{
    struct btz_str parts[3] = {btz_str_of(settings), btz_str_of(tools), btz_str_of(message)};

    btz_buf_reset(out);
    return btz_llm_request_body(parts, 3, BTZ_STR("m\"1"), out, err);
}

static void assert_body(struct btz_buf *buf, const char *want)
{
    assert_int_equal(buf->len, strlen(want));
    assert_memory_equal(buf->ptr, want, buf->len);
}

static void body_has_all_parts_in_order(void **state)
{
    const struct btz_str parts[] = {
        BTZ_STR("{\"seed\":7,\"max_tokens\":100,\"actions\":\"native\",\"temperature\":0.50}"),
        btz_str_of(tools_text), BTZ_STR("{\"role\":\"user\", \"content\":\"a\"}"),
        BTZ_STR("{\"role\":\"assistant\",\"content\":null}")};
    struct btz_buf buf;
    struct btz_err err;

    (void)state;
    btz_buf_init(&buf, 4096);
    assert_int_equal(btz_llm_request_body(parts, 4, BTZ_STR("m"), &buf, &err), 0);
    assert_body(&buf, "{\"model\":\"m\",\"messages\":[{\"role\":\"user\", \"content\":\"a\"},"
                      "{\"role\":\"assistant\",\"content\":null}],"
                      "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"send\"}}],"
                      "\"temperature\":0.50,\"max_tokens\":100,\"seed\":7}");
    btz_buf_fini(&buf);
}

static void tools_are_left_out(void **state)
{
    const char *const none[] = {"", "[]", "[ ]"};
    struct btz_buf buf;
    struct btz_err err;

    (void)state;
    btz_buf_init(&buf, 4096);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(body_of("{}", none[i], "{\"role\":\"user\"}", &buf, &err), 0);
        assert_body(&buf, "{\"model\":\"m\\\"1\",\"messages\":[{\"role\":\"user\"}]}");
    }
    assert_int_equal(body_of("{\"actions\":\"json\"}", tools_text, "{}", &buf, &err), 0);
    assert_body(&buf, "{\"model\":\"m\\\"1\",\"messages\":[{}]}");
    assert_int_equal(body_of("{\"top_p\":1,\"max_completion_tokens\":9}", "", "{}", &buf, &err), 0);
    assert_body(&buf, "{\"model\":\"m\\\"1\",\"messages\":[{}],\"top_p\":1,"
                      "\"max_completion_tokens\":9}");
    btz_buf_fini(&buf);
}

static void wrong_parts_are_refused_by_name(void **state)
{
    static const struct {
        const char *settings, *tools, *message, *want;
    } cases[] = {
        {"", "", "{}", "settings"},
        {"[]", "", "{}", "settings must be a JSON object"},
        {"{\"temperature\":\"0\"}", "", "{}", "\"temperature\" must be a number"},
        {"{\"max_tokens\":1.5}", "", "{}", "\"max_tokens\" must be an integer"},
        {"{\"seed\":null}", "", "{}", "\"seed\" must be an integer"},
        {"{\"actions\":\"both\"}", "", "{}", "\"actions\" must be"},
        {"{\"stream\":true}", "", "{}", "unknown member \"stream\""},
        {"{}", "{}", "{}", "part 1"},
        {"{}", "", "\"x\"", "part 2"},
        {"{}", "", "", "part 2"},
    };
    struct btz_buf buf;
    struct btz_err err;

    (void)state;
    btz_buf_init(&buf, 4096);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(body_of(cases[i].settings, cases[i].tools, cases[i].message, &buf, &err),
                         BTZ_EINVAL);
        assert_non_null(strstr(err.msg, cases[i].want));
    }
    btz_buf_fini(&buf);
}

static void limits_hold(void **state)
{
    const struct btz_str two[] = {BTZ_STR("{}"), BTZ_STR("")};
    struct btz_buf buf;
    struct btz_err err;

    (void)state;
    btz_buf_init(&buf, 40);
    assert_int_equal(btz_llm_request_body(two, 2, BTZ_STR("m"), &buf, &err), BTZ_EINVAL);
    assert_non_null(strstr(err.msg, "at least one message"));
    assert_int_equal(
        body_of("{}", "", "{\"role\":\"user\",\"content\":\"long enough\"}", &buf, &err),
        BTZ_ELIMIT);
    assert_non_null(strstr(err.msg, "40 bytes"));
    btz_buf_fini(&buf);
}

/* Recorded exchanges are found by the hash of these bytes. */
static void a_question_has_four_parts(void **state)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_str parts[BTZ_LLM_QUESTION_PARTS];

    (void)state;
    btz_llm_question(arena, 0, 2048, -1, BTZ_STR("Be strict."), BTZ_STR("[begin 1]\n"), parts);
    assert_string_equal(parts[0].ptr, "{\"temperature\":0,\"max_tokens\":2048,\"actions\":"
                                      "\"native\"}");
    assert_string_equal(parts[1].ptr, "[]");
    assert_string_equal(parts[2].ptr, "{\"role\":\"system\",\"content\":\"Be strict.\"}");
    assert_string_equal(parts[3].ptr, "{\"role\":\"user\",\"content\":\"[begin 1]\\n\"}");
    btz_arena_free(arena);
}

static void makers_write_wire_form(void **state)
{
    struct btz_arena *arena = btz_arena_new();

    (void)state;
    assert_string_equal(btz_llm_part_settings(arena, 0, 64, 3, false).ptr,
                        "{\"temperature\":0,\"max_tokens\":64,\"seed\":3,\"actions\":\"native\"}");
    assert_string_equal(btz_llm_part_settings(arena, NAN, -1, -1, true).ptr,
                        "{\"actions\":\"json\"}");
    assert_string_equal(btz_llm_part_message(arena, "system", BTZ_STR("a\"\n\xff")).ptr,
                        "{\"role\":\"system\",\"content\":\"a\\\"\\n\xef\xbf\xbd\"}");
    assert_string_equal(btz_llm_part_tool_result(arena, BTZ_STR("c1"), BTZ_STR("ok")).ptr,
                        "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"ok\"}");
    btz_arena_free(arena);
}

static struct btz_str round_trip(struct btz_arena *arena, const char *message)
{
    struct btz_llm_reply reply;
    struct btz_err err;
    struct btz_str body = btz_arena_printf(arena, "{\"choices\":[{\"message\":%s}]}", message);

    assert_int_equal(btz_llm_reply_parse(arena, body, NULL, &reply, &err), 0);
    return btz_llm_part_assistant(arena, &reply);
}

static void assistant_message_follows_the_reply(void **state)
{
    struct btz_arena *arena = btz_arena_new();

    (void)state;
    assert_string_equal(round_trip(arena, "{\"content\":\"hi\"}").ptr,
                        "{\"role\":\"assistant\",\"content\":\"hi\"}");
    assert_string_equal(round_trip(arena, "{\"content\":null}").ptr,
                        "{\"role\":\"assistant\",\"content\":\"\"}");
    /* Arguments byte for byte; malformed ones as {}; nameless and repeated calls left out. */
    assert_string_equal(
        round_trip(arena, "{\"content\":null,\"tool_calls\":["
                          "{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{ }\"}},"
                          "{\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":\"{\"}},"
                          "{\"id\":\"c\",\"function\":{\"name\":\"h\",\"arguments\":\"\"}},"
                          "{\"id\":\"d\",\"function\":{\"arguments\":\"{}\"}},"
                          "{\"id\":\"a\",\"function\":{\"name\":\"i\",\"arguments\":\"{}\"}}]}")
            .ptr,
        "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":["
        "{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{ }\"}},"
        "{\"id\":\"b\",\"type\":\"function\",\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}},"
        "{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"h\",\"arguments\":\"{}\"}}"
        "]}");
    btz_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(body_has_all_parts_in_order),
        cmocka_unit_test(tools_are_left_out),
        cmocka_unit_test(wrong_parts_are_refused_by_name),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(a_question_has_four_parts),
        cmocka_unit_test(makers_write_wire_form),
        cmocka_unit_test(assistant_message_follows_the_reply),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
