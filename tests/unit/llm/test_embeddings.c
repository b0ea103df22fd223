#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "llm/embeddings.h"
#include "llm/endpoint.h"

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

static void vectors_are_read_by_index_and_normalised(void **state)
{
    struct btz_llm_embeddings got;

    (void)state;
    assert_int_equal(
        btz_llm_embeddings_parse(
            arena,
            BTZ_STR("{\"object\":\"list\",\"data\":[{\"index\":1,\"embedding\":[0,-2e0]},"
                    "{\"index\":0,\"embedding\":[3,4.0]}],\"model\":\"e-1\",\"usage\":"
                    "{\"prompt_tokens\":7,\"total_tokens\":7}}"),
            2, NULL, &got, NULL),
        BTZ_OK);
    assert_int_equal(got.count, 2);
    assert_int_equal(got.dimension, 2);
    assert_int_equal(got.tokens, 7);
    assert_true(btz_str_is(got.model, "e-1"));
    assert_true(fabs((double)got.vectors[0] - 0.6) < 1e-6);
    assert_true(fabs((double)got.vectors[1] - 0.8) < 1e-6);
    assert_true(fabs((double)got.vectors[2]) < 1e-6);
    assert_true(fabs((double)got.vectors[3] + 1) < 1e-6);
    /* Huge and tiny numbers keep their direction. */
    assert_int_equal(btz_llm_embeddings_parse(arena,
                                              BTZ_STR("{\"data\":[{\"embedding\":[3e38,3e38]}]}"),
                                              1, NULL, &got, NULL),
                     BTZ_OK);
    assert_true(fabs((double)got.vectors[0] - sqrt(0.5)) < 1e-6);
    assert_int_equal(got.tokens, -1);
    assert_int_equal(got.model.len, 0);
}

static void what_is_wrong_is_said(void **state)
{
    static const struct {
        const char *body;
        size_t inputs;
        const char *why;
    } cases[] = {
        {"{\"data\":[{\"index\":0,\"embedding\":[1]}]}", 2, "1 vectors for 2 texts"},
        {"{\"data\":[{\"index\":0,\"embedding\":[1]},{\"index\":1,\"embedding\":[1]}]}", 1,
         "2 vectors for 1 texts"},
        {"{\"data\":[]}", 0, "0 vectors for 0 texts"},
        {"{\"data\":[{\"index\":0,\"embedding\":[1,2]},{\"index\":1,\"embedding\":[1]}]}", 2,
         "data[1] has 1 numbers, data[0] has 2"},
        {"{\"data\":[{\"index\":0,\"embedding\":[1]},{\"index\":0,\"embedding\":[1]}]}", 2,
         "out of range or used twice"},
        {"{\"data\":[{\"index\":1,\"embedding\":[1]}]}", 1, "out of range"},
        {"{\"data\":[{\"index\":-1,\"embedding\":[1]}]}", 1, "out of range"},
        {"{\"data\":[{\"index\":\"0\",\"embedding\":[1]}]}", 1, "no integer"},
        {"{\"data\":[{\"index\":0,\"embedding\":[NaN]}]}", 1, "not embeddings"},
        {"{\"data\":[{\"index\":0,\"embedding\":[null]}]}", 1, "no number"},
        {"{\"data\":[{\"index\":0,\"embedding\":[\"1\"]}]}", 1, "no number"},
        {"{\"data\":[{\"index\":0,\"embedding\":[1e39]}]}", 1, "no float can hold"},
        {"{\"data\":[{\"index\":0,\"embedding\":[0,0]}]}", 1, "without a direction"},
        {"{\"data\":[{\"index\":0,\"embedding\":[]}]}", 1, "no list of numbers"},
        {"{\"data\":[{\"index\":0,\"embedding\":\"AACAPw==\"}]}", 1, "base64"},
        {"{\"data\":[{\"index\":0}]}", 1, "no list of numbers"},
        {"{\"data\":[7]}", 1, "no list of numbers"},
        {"{\"data\":{}}", 1, "no list \"data\""},
        {"[]", 1, "no list \"data\""},
        {"{\"error\":{\"message\":\"overloaded\"}}", 1, "overloaded"},
        {"", 1, "not embeddings"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct btz_llm_embeddings got = {.count = 77};
        struct btz_err err = {0};

        assert_int_not_equal(btz_llm_embeddings_parse(arena, btz_str_of(cases[i].body),
                                                      cases[i].inputs, NULL, &got, &err),
                             BTZ_OK);
        assert_int_equal(got.count, 77);
        if (!strstr(err.msg, cases[i].why)) {
            fail_msg("%s: \"%s\" does not say \"%s\"", cases[i].body, err.msg, cases[i].why);
        }
    }
}

static void limits_hold(void **state)
{
    const struct btz_llm_limits limits = {.max_bytes = 20};
    struct btz_llm_embeddings got;
    struct btz_buf body;

    (void)state;
    assert_int_equal(btz_llm_embeddings_parse(arena, BTZ_STR("{\"data\":[{\"embedding\":[1]}]}"), 1,
                                              &limits, &got, NULL),
                     BTZ_ELIMIT);
    btz_buf_init(&body, 1024 * 1024);
    (void)btz_buf_add_text(&body, "{\"data\":[{\"embedding\":[1");
    for (int i = 0; i < BTZ_LLM_EMBEDDINGS_DIMENSION_MAX; i++) {
        (void)btz_buf_add_text(&body, ",1");
    }
    (void)btz_buf_add_text(&body, "]}]}");
    assert_int_equal(btz_llm_embeddings_parse(arena, btz_buf_view(&body), 1, NULL, &got, NULL),
                     BTZ_ELIMIT);
    btz_buf_fini(&body);
}

static void the_request_is_made(void **state)
{
    const struct btz_str parts[] = {BTZ_STR(BTZ_LLM_EMBEDDINGS_SETTINGS), BTZ_STR("a \"b\""),
                                    BTZ_STR("c\n")};
    struct btz_buf out;

    (void)state;
    btz_buf_init(&out, 4096);
    assert_int_equal(btz_llm_embeddings_body(parts, 3, BTZ_STR("m"), &out, NULL), BTZ_OK);
    assert_true(btz_str_is(btz_buf_view(&out),
                           "{\"model\":\"m\",\"input\":[\"a \\\"b\\\"\",\"c\\n\"],"
                           "\"encoding_format\":\"float\"}"));
    assert_int_equal(btz_llm_embeddings_body(parts, 1, BTZ_STR("m"), &out, NULL), BTZ_EINVAL);
    assert_int_equal(btz_llm_embeddings_body(parts + 1, 2, BTZ_STR("m"), &out, NULL), BTZ_EINVAL);
    btz_buf_fini(&out);
    btz_buf_init(&out, 16);
    assert_int_equal(btz_llm_embeddings_body(parts, 3, BTZ_STR("m"), &out, NULL), BTZ_ELIMIT);
    btz_buf_fini(&out);
}

/* The policy asks again when what came are no embeddings for the texts that were sent. */
static void a_wrong_count_is_tried_again(void **state)
{
    const struct btz_llm_endpoint_options options = {.max_attempts = 2, .api = BTZ_LLM_EMBEDDINGS};
    struct btz_llm_endpoint *endpoint = btz_llm_endpoint_new(&options);
    struct btz_llm_ask *ask = btz_llm_endpoint_add(endpoint, NULL, 0);
    struct btz_llm_attempt attempt = {.wire = BTZ_LLM_WIRE_DONE,
                                      .http_status = 200,
                                      .inputs = 2,
                                      .body = BTZ_STR("{\"data\":[{\"embedding\":[1]}]}")};
    struct btz_llm_verdict verdict;
    struct btz_llm_order order;
    int64_t wake = 0;

    (void)state;
    assert_true(btz_llm_endpoint_next(endpoint, 1, &order, &wake));
    btz_llm_endpoint_report(endpoint, ask, &attempt, 1, 1, &verdict);
    assert_false(verdict.ended);
    assert_true(btz_llm_endpoint_next(endpoint, verdict.retry_at_us, &order, &wake));
    btz_llm_endpoint_report(endpoint, ask, &attempt, verdict.retry_at_us, 1, &verdict);
    assert_true(verdict.ended);
    assert_int_equal(verdict.status, BTZ_LLM_FAILED);
    assert_non_null(strstr(verdict.text, "1 vectors for 2 texts"));
    ask = btz_llm_endpoint_add(endpoint, NULL, 0);
    attempt.inputs = 1;
    assert_true(btz_llm_endpoint_next(endpoint, 9000000, &order, &wake));
    btz_llm_endpoint_report(endpoint, ask, &attempt, 9000000, 1, &verdict);
    assert_true(verdict.ended);
    assert_int_equal(verdict.status, BTZ_LLM_OK);
    btz_llm_endpoint_free(endpoint);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(vectors_are_read_by_index_and_normalised, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_said, setup, teardown),
        cmocka_unit_test_setup_teardown(limits_hold, setup, teardown),
        cmocka_unit_test_setup_teardown(the_request_is_made, setup, teardown),
        cmocka_unit_test_setup_teardown(a_wrong_count_is_tried_again, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
