#include "llm/embeddings.h"

#include <float.h>
#include <math.h>

#include "json/json.h"

enum { MAX_BYTES = 8 * 1024 * 1024, MAX_DEPTH = 16, MAX_VALUES = 4000000, MESSAGE_MAX = 300 };

int btz_llm_embeddings_body(const struct btz_str *parts, size_t count, struct btz_str model_id,
                            struct btz_buf *out, struct btz_err *err)
{
    struct btz_arena *arena;
    struct btz_json *body;
    struct btz_json *input;

    if (count < 2 || count - 1 > BTZ_LLM_EMBEDDINGS_INPUTS_MAX ||
        !btz_str_is(parts[0], BTZ_LLM_EMBEDDINGS_SETTINGS)) {
        return btz_err_set(err, BTZ_EINVAL,
                           "a request for embeddings has its settings and 1 to %d texts",
                           BTZ_LLM_EMBEDDINGS_INPUTS_MAX);
    }
    arena = btz_arena_new();
    body = btz_json_new_object(arena);
    input = btz_json_new_array(arena);
    for (size_t i = 1; i < count; i++) {
        btz_json_push(arena, input, btz_json_new_str(arena, parts[i]));
    }
    btz_json_set_str(arena, body, "model", model_id);
    btz_json_setz(arena, body, "input", input);
    btz_json_set_strz(arena, body, "encoding_format", "float");
    (void)btz_json_write(out, body);
    btz_arena_free(arena);
    return out->failed ? btz_err_set(err, BTZ_ELIMIT, "the request is too large") : BTZ_OK;
}

static int bad(struct btz_err *err, size_t at, const char *what)
{
    return btz_err_set(err, BTZ_EINVAL, "not embeddings: data[%zu] %s", at, what);
}

/* Reads one vector and brings it to length 1. */
static int read_vector(const struct btz_json *list, size_t at, size_t dimension, float *out,
                       struct btz_err *err)
{
    double sum = 0;
    double norm;

    for (size_t i = 0; i < dimension; i++) {
        double value;

        if (!btz_json_double(btz_json_at(list, i), &value)) {
            return bad(err, at, "holds something that is no number");
        }
        if (!isfinite(value) || fabs(value) > (double)FLT_MAX) {
            return bad(err, at, "holds a number that no float can hold");
        }
        sum += value * value;
        out[i] = (float)value;
    }
    norm = sqrt(sum);
    if (norm < (double)FLT_MIN) {
        return bad(err, at, "is a vector without a direction (all zeros)");
    }
    for (size_t i = 0; i < dimension; i++) {
        out[i] = (float)((double)out[i] / norm);
    }
    return BTZ_OK;
}

static int read_entry(const struct btz_json *entry, size_t at, bool *seen,
                      struct btz_llm_embeddings *out, struct btz_err *err)
{
    const struct btz_json *list = btz_json_getz(entry, "embedding");
    int64_t index = (int64_t)at; /* as some servers do without it */

    if (btz_json_getz(entry, "index") && !btz_json_int64(btz_json_getz(entry, "index"), &index)) {
        return bad(err, at, "has an index that is no integer");
    }
    if (index < 0 || (size_t)index >= out->count || seen[index]) {
        return bad(err, at, "has an index that is out of range or used twice");
    }
    if (btz_json_is(list, BTZ_JSON_STRING)) {
        return bad(err, at, "is text (base64): numbers were asked for");
    }
    if (!btz_json_is(list, BTZ_JSON_ARRAY) || btz_json_count(list) == 0) {
        return bad(err, at, "has no list of numbers as its embedding");
    }
    if (btz_json_count(list) != out->dimension) {
        return btz_err_set(err, BTZ_EINVAL,
                           "not embeddings: data[%zu] has %zu numbers, data[0] has %zu", at,
                           btz_json_count(list), out->dimension);
    }
    seen[index] = true;
    return read_vector(list, at, out->dimension, out->vectors + (size_t)index * out->dimension,
                       err);
}

static int read_data(struct btz_arena *arena, const struct btz_json *data,
                     struct btz_llm_embeddings *out, struct btz_err *err)
{
    bool *seen = btz_arena_array(arena, out->count + 1, sizeof(*seen));
    int rc = BTZ_OK;

    out->dimension = btz_json_count(btz_json_getz(btz_json_at(data, 0), "embedding"));
    if (out->dimension > BTZ_LLM_EMBEDDINGS_DIMENSION_MAX) {
        return btz_err_set(err, BTZ_ELIMIT, "vectors of %zu numbers; at most %d are read",
                           out->dimension, BTZ_LLM_EMBEDDINGS_DIMENSION_MAX);
    }
    out->vectors = btz_arena_array(arena, out->count * out->dimension + 1, sizeof(*out->vectors));
    for (size_t i = 0; rc == BTZ_OK && i < out->count; i++) {
        rc = read_entry(btz_json_at(data, i), i, seen, out, err);
    }
    return rc;
}

int btz_llm_embeddings_parse(struct btz_arena *arena, struct btz_str body, size_t inputs,
                             const struct btz_llm_limits *given, struct btz_llm_embeddings *out,
                             struct btz_err *err)
{
    const struct btz_json_limits limits = {.max_bytes = given && given->max_bytes ? given->max_bytes
                                                                                  : MAX_BYTES,
                                           .max_depth = MAX_DEPTH,
                                           .max_values = MAX_VALUES};
    struct btz_llm_embeddings got = {.count = inputs, .tokens = -1};
    struct btz_llm_provider_error error = {0};
    const struct btz_json *root;
    const struct btz_json *data;
    int rc = btz_json_parse(arena, body, &limits, &root, err);

    if (rc != BTZ_OK) {
        btz_err_prefix(err, "not embeddings: ");
        return rc;
    }
    if (btz_json_getz(root, "error") && btz_llm_provider_error_parse(arena, body, &error)) {
        error.message = btz_str_sub(error.message, 0, MESSAGE_MAX);
        return btz_err_set(err, BTZ_EINVAL, "the provider reports an error: %.*s",
                           BTZ_FMT(error.message));
    }
    data = btz_json_getz(root, "data");
    if (!btz_json_is(data, BTZ_JSON_ARRAY)) {
        return btz_err_set(err, BTZ_EINVAL, "not embeddings: there is no list \"data\"");
    }
    if (btz_json_count(data) != inputs || inputs == 0) {
        return btz_err_set(err, BTZ_EINVAL, "not embeddings: %zu vectors for %zu texts",
                           btz_json_count(data), inputs);
    }
    rc = read_data(arena, data, &got, err);
    if (rc != BTZ_OK) {
        return rc;
    }
    got.model = btz_json_str(btz_json_getz(root, "model"));
    if (!btz_json_int64(btz_json_getz(btz_json_getz(root, "usage"), "prompt_tokens"),
                        &got.tokens) ||
        got.tokens < 0) {
        got.tokens = -1;
    }
    *out = got;
    return BTZ_OK;
}
