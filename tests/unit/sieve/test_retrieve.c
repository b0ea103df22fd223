/* Retrieval: what is asked for comes first, a server's own definitions take the place of those of
 * the index, and equal input gives equal ranks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "sieve/retrieve.h"

static const char *const catalogue[][2] = {
    {"npm:mail", "{\"name\":\"send_email\",\"description\":\"Sends an email message to a "
                 "recipient.\"}"},
    {"npm:files", "{\"name\":\"readFile\",\"description\":\"Reads the content of a file from the "
                  "disk.\",\"inputSchema\":{\"properties\":{\"path\":{\"type\":\"string\","
                  "\"description\":\"where the file is\"}}}}"},
    {"npm:files", "{\"name\":\"delete_file\",\"description\":\"Deletes a file.\"}"},
    {"npm:weather", "{\"name\":\"forecast\",\"description\":\"Weather forecast for a city.\"}"},
};

static const struct btz_json *parse(struct btz_arena *arena, const char *text)
{
    const struct btz_json *value = NULL;
    struct btz_err err;

    assert_int_equal(btz_json_parse(arena, btz_str_of(text), NULL, &value, &err), 0);
    return value;
}

static struct btz_sieve_index *make(struct btz_arena *arena)
{
    struct btz_sieve_index *index = NULL;
    struct btz_err err;

    assert_int_equal(btz_sieve_index_new(&index, &err), 0);
    for (size_t i = 0; i < sizeof(catalogue) / sizeof(catalogue[0]); i++) {
        assert_int_equal(btz_sieve_index_add(index, btz_str_of(catalogue[i][0]),
                                             parse(arena, catalogue[i][1]), &err),
                         0);
    }
    return index;
}

static void test_rank(void **state)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_sieve_index *index = make(arena);
    const struct btz_sieve_pool nobody = {.cluster = BTZ_STR("npm:other")};
    struct btz_sieve_ranking got;
    struct btz_sieve_ranking again;
    struct btz_err err;

    (void)state;
    assert_int_equal(btz_sieve_index_count(index), 4);
    assert_int_equal(btz_sieve_index_rank(index, BTZ_STR("call the read_file tool"), &nobody, 3,
                                          arena, &got, &err),
                     0);
    assert_true(got.count >= 1 && got.count <= 3);
    assert_false(got.hits[0].own);
    assert_int_equal(got.hits[0].number, 1);
    /* First of both lists. */
    assert_true(fabs(got.hits[0].score - 2.0 / 61) < 1e-12);
    assert_int_equal(btz_sieve_index_rank(index, BTZ_STR("will it rain in this city?"), &nobody, 1,
                                          arena, &got, &err),
                     0);
    assert_int_equal(got.hits[0].number, 3);
    assert_int_equal(btz_sieve_index_rank(index, BTZ_STR("will it rain in this city?"), &nobody, 1,
                                          arena, &again, &err),
                     0);
    assert_true(got.hits[0].score == again.hits[0].score);
    /* Quotes and operators of the query language are words like others. */
    assert_int_equal(btz_sieve_index_rank(index, BTZ_STR("\"email\" AND NOT (file* OR NEAR"),
                                          &nobody, 2, arena, &got, &err),
                     0);
    assert_true(got.count > 0);
    assert_int_equal(btz_sieve_index_rank(index, BTZ_STR("!!! ???"), &nobody, 2, arena, &got, &err),
                     0);
    assert_int_equal(got.count, 0);
    btz_sieve_index_free(index);
    btz_arena_free(arena);
}

static void test_pool(void **state)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_sieve_index *index = make(arena);
    const struct btz_json *own[] = {
        parse(arena, "{\"name\":\"weather\",\"description\":\"Reads no file.\"}"), NULL,
        parse(arena, "{\"name\":\"read_file\",\"description\":\"Reads a file from the disk.\"}")};
    struct btz_sieve_pool pool = {BTZ_STR("npm:files"), own, 3};
    const struct btz_sieve_pool nobody = {.cluster = BTZ_STR("npm:other")};
    struct btz_sieve_ranking got;
    struct btz_err err;

    (void)state;
    assert_int_equal(
        btz_sieve_index_rank(index, BTZ_STR("delete or read a file"), &pool, 9, arena, &got, &err),
        0);
    assert_true(got.hits[0].own);
    assert_int_equal(got.hits[0].number, 2);
    assert_int_equal(got.own_rank[2], 1);
    assert_int_equal(got.own_rank[1], 0);
    assert_true(got.own_rank[0] > 1);
    for (size_t i = 0; i < got.count; i++) {
        assert_true(got.hits[i].own || (got.hits[i].number != 1 && got.hits[i].number != 2));
    }
    /* Nothing of the pool stays behind. */
    assert_int_equal(btz_sieve_index_rank(index, BTZ_STR("delete or read a file"), &nobody, 9,
                                          arena, &got, &err),
                     0);
    for (size_t i = 0; i < got.count; i++) {
        assert_false(got.hits[i].own);
    }
    assert_int_equal(got.hits[0].number, 2);
    btz_sieve_index_free(index);
    btz_arena_free(arena);
}

static void test_vector(void **state)
{
    float a[BTZ_SIEVE_DIMENSIONS];
    float b[BTZ_SIEVE_DIMENSIONS];
    double norm = 0;
    double same = 0;
    double other = 0;

    (void)state;
    btz_sieve_vector(BTZ_STR("Reads a file"), a);
    btz_sieve_vector(BTZ_STR("reads   a FILE!"), b);
    for (size_t i = 0; i < BTZ_SIEVE_DIMENSIONS; i++) {
        norm += (double)a[i] * (double)a[i];
        same += (double)a[i] * (double)b[i];
    }
    assert_true(fabs(norm - 1) < 1e-5);
    assert_true(fabs(same - 1) < 1e-5);
    btz_sieve_vector(BTZ_STR("weather in Paris"), b);
    for (size_t i = 0; i < BTZ_SIEVE_DIMENSIONS; i++) {
        other += (double)a[i] * (double)b[i];
    }
    assert_true(fabs(other) < 0.3);
    btz_sieve_vector(BTZ_STR("--"), b);
    for (size_t i = 0; i < BTZ_SIEVE_DIMENSIONS; i++) {
        assert_true(b[i] == 0);
    }
}

/* A made-up model: its own vector for each text that it knows. */
static const float *known_vector(void *data, struct btz_str text)
{
    static const float east[3] = {1, 0, 0};
    static const float north[3] = {0, 1, 0};
    static const float south[3] = {0, -1, 0};

    (void)data;
    return btz_str_starts(text, BTZ_STR("alpha"))   ? east
           : btz_str_starts(text, BTZ_STR("beta"))  ? north
           : btz_str_starts(text, BTZ_STR("gamma")) ? south
           : btz_str_starts(text, BTZ_STR("zzz"))   ? north
                                                    : NULL;
}

static void test_embedding(void **state)
{
    const struct btz_sieve_embedding embedding = {.dimension = 3, .vector = known_vector};
    const struct btz_sieve_pool nobody = {BTZ_STR("npm:other"), NULL, 0};
    static const char *const names[] = {"alpha", "gamma", "beta", "delta"};
    struct btz_arena *arena = btz_arena_new();
    struct btz_sieve_index *index = NULL;
    struct btz_sieve_ranking got;
    struct btz_err err;

    (void)state;
    assert_int_equal(btz_sieve_index_new(&index, &err), 0);
    btz_sieve_index_embed(index, &embedding);
    for (size_t i = 0; i < 4; i++) {
        struct btz_json *tool = btz_json_new_object(arena);

        btz_json_set_strz(arena, tool, "name", names[i]);
        assert_int_equal(btz_sieve_index_add(index, BTZ_STR("npm:s"), tool, &err), 0);
    }
    /* No word in common: the vectors alone decide, opposite ones come last, none is no rank. */
    assert_int_equal(btz_sieve_index_rank(index, BTZ_STR("zzz"), &nobody, 9, arena, &got, &err), 0);
    assert_int_equal(got.count, 3);
    assert_int_equal(got.hits[0].number, 2);
    assert_int_equal(got.hits[1].number, 0);
    assert_int_equal(got.hits[2].number, 1);
    assert_true(fabs(got.hits[0].score - 1.0 / 61) < 1e-12);
    /* A query without a vector is ranked by its words. */
    assert_int_equal(
        btz_sieve_index_rank(index, BTZ_STR("the delta"), &nobody, 9, arena, &got, &err), 0);
    assert_int_equal(got.count, 1);
    assert_int_equal(got.hits[0].number, 3);
    btz_sieve_index_free(index);
    btz_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rank),
        cmocka_unit_test(test_pool),
        cmocka_unit_test(test_vector),
        cmocka_unit_test(test_embedding),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
