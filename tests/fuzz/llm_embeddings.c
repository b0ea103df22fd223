/* What an embeddings endpoint replies. The first byte of the input is the number of texts that were
 * sent; 0: the rest are the texts themselves, each ended by a NUL, for the request. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "json/json.h"
#include "llm/embeddings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok, const char *what)
{
    if (!ok) {
        (void)fprintf(stderr, "broken: %s\n", what);
        abort();
    }
}

static void fuzz_reply(struct btz_arena *arena, size_t inputs, struct btz_str text)
{
    struct btz_llm_embeddings got;

    if (btz_llm_embeddings_parse(arena, text, inputs, NULL, &got, NULL) != BTZ_OK) {
        return;
    }
    check(got.count == inputs && got.dimension > 0, "as many as were asked for");
    for (size_t i = 0; i < got.count; i++) {
        double sum = 0;

        for (size_t k = 0; k < got.dimension; k++) {
            double value = (double)got.vectors[i * got.dimension + k];

            sum += value * value;
        }
        check(fabs(sum - 1) < 1e-3, "length 1");
    }
}

static void fuzz_body(struct btz_arena *arena, struct btz_str text)
{
    struct btz_str parts[8] = {BTZ_STR(BTZ_LLM_EMBEDDINGS_SETTINGS)};
    const struct btz_json *body;
    struct btz_buf out;
    size_t count = 1;

    while (count < 8 && btz_str_cut(&text, '\0', &parts[count])) {
        count++;
    }
    btz_buf_init(&out, 65536);
    if (btz_llm_embeddings_body(parts, count, BTZ_STR("m"), &out, NULL) == BTZ_OK &&
        btz_json_parse(arena, btz_buf_view(&out), NULL, &body, NULL) == BTZ_OK) {
        check(btz_json_count(btz_json_getz(body, "input")) == count - 1, "every text is sent");
    }
    btz_buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct btz_arena *arena;
    struct btz_str text;

    if (size == 0) {
        return 0;
    }
    text = (struct btz_str){(const char *)data + 1, size - 1};
    arena = btz_arena_new();
    if (data[0] == 0) {
        fuzz_body(arena, text);
    } else {
        fuzz_reply(arena, data[0], text);
    }
    btz_arena_free(arena);
    return 0;
}
