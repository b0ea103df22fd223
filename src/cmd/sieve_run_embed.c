/* sieve run: the vectors of an embedding model, for the dense half of retrieval. Each text that
 * retrieval will look at is asked about once, in batches that are the same whenever the run is
 * resumed or replayed, so that recorded replies fit. */
#include <stdlib.h>

#include "cmd/sieve_run.h"
#include "llm/embeddings.h"

enum {
    BATCH_TEXTS = 32,
    BATCH_BYTES = 256 * 1024, /* of texts; one that is longer goes alone */
    TEXT_MAX = 1024 * 1024,
    SLOTS_MIN = 1024
};

#define VECTORS_MAX ((size_t)4 * 1024 * 1024 * 1024) /* bytes */

struct slot {
    struct btz_hash hash;
    size_t number; /* from 1; 0 = free */
};

struct batch {
    size_t first, count; /* of texts */
};

struct sieve_embedder {
    struct btz_arena *arena;
    struct btz_str *texts;
    size_t count, cap;
    struct slot *slots; /* a table by the text's hash */
    size_t slot_count;  /* power of two, at most half full */
    struct batch *batches;
    size_t batch_count, batch_cap;
    float *vectors;          /* count x dimension */
    size_t dimension;        /* 0: no reply yet */
    struct btz_json *models; /* names as returned, each once */
    int64_t tokens;          /* -1: a reply did not tell */
};

/* ---- texts ---- */

static struct slot *find(const struct sieve_embedder *w, const struct btz_hash *hash)
{
    uint64_t place;

    memcpy(&place, hash->bytes, sizeof(place));
    for (size_t at = (size_t)place & (w->slot_count - 1);; at = (at + 1) & (w->slot_count - 1)) {
        if (w->slots[at].number == 0 || btz_hash_eq(&w->slots[at].hash, hash)) {
            return &w->slots[at];
        }
    }
}

static void grow(struct sieve_embedder *w)
{
    struct slot *old = w->slots;
    size_t old_count = w->slot_count;

    w->slot_count = old_count ? 2 * old_count : SLOTS_MIN;
    w->slots = calloc(w->slot_count, sizeof(*w->slots));
    if (!w->slots) {
        btz_panic("out of memory");
    }
    for (size_t i = 0; i < old_count; i++) {
        if (old[i].number) {
            *find(w, &old[i].hash) = old[i];
        }
    }
    free(old);
}

/* A text of white space alone has no vector: that of a definition which is withheld. */
static bool is_blank(struct btz_str text)
{
    return btz_str_trim(text).len == 0;
}

static void add_text(struct sieve_embedder *w, struct btz_str text)
{
    struct btz_hash hash = btz_hash_of(text);
    struct slot *slot;

    if (is_blank(text)) {
        return;
    }
    if (2 * (w->count + 1) > w->slot_count) {
        grow(w);
    }
    slot = find(w, &hash);
    if (slot->number == 0) {
        w->texts = btz_arena_grow(w->arena, w->texts, w->count, &w->cap, sizeof(*w->texts));
        w->texts[w->count++] = btz_arena_dup(w->arena, text);
        *slot = (struct slot){hash, w->count};
    }
}

static int add_definition(struct sieve_embedder *w, const struct btz_json *definition,
                          struct btz_err *err)
{
    struct btz_buf text;
    int rc = BTZ_OK;

    btz_buf_init(&text, TEXT_MAX);
    btz_sieve_document(&text, definition);
    if (text.failed) {
        rc = btz_err_set(err, BTZ_ELIMIT, "a definition is too large for retrieval");
    } else {
        add_text(w, btz_buf_view(&text));
    }
    btz_buf_fini(&text);
    return rc;
}

static int add_document(void *data, const struct sieve_document *document,
                        const struct btz_json *tool, struct btz_err *err)
{
    (void)document;
    return add_definition(data, tool, err);
}

/* What the index of one arm (NULL: the raw one) and the questions to it are made of. */
static int collect(struct sieve_run *r, struct sieve_embedder *w, const struct sieve_arm *arm,
                   struct btz_err *err)
{
    static const struct sieve_arm none = {.arm = BTZ_CANON_NONE, .label = {"none", 4}};
    struct btz_arena *arena = btz_arena_new();
    int rc = sieve_documents_each(r, arm, add_document, w, err);

    for (size_t i = 0; rc == BTZ_OK && i < r->item_count; i++) {
        struct btz_canon_result *results;
        size_t count = 0;

        btz_arena_reset(arena);
        rc = sieve_show_list(r, arm ? arm : &none, &r->items[i], arena, &results, &count, err);
        for (size_t k = 0; rc == BTZ_OK && k < count; k++) {
            rc = results[k].definition ? add_definition(w, results[k].definition, err) : BTZ_OK;
        }
        add_text(w, r->items[i].query);
        if (rc == BTZ_OK && i % 32 == 0 && sieve_tick(r, "texts for embeddings")) {
            rc = BTZ_EXIT_INTERRUPTED;
        }
    }
    btz_arena_free(arena);
    return rc;
}

static void divide(struct sieve_embedder *w)
{
    size_t bytes = 0;

    for (size_t i = 0; i < w->count; i++) {
        struct batch *last = w->batch_count ? &w->batches[w->batch_count - 1] : NULL;

        if (last && last->count < BATCH_TEXTS && bytes + w->texts[i].len <= BATCH_BYTES) {
            last->count++;
            bytes += w->texts[i].len;
            continue;
        }
        w->batches = btz_arena_grow(w->arena, w->batches, w->batch_count, &w->batch_cap,
                                    sizeof(*w->batches));
        w->batches[w->batch_count++] = (struct batch){i, 1};
        bytes = w->texts[i].len;
    }
}

/* ---- asking ---- */

static int make(struct sieve_run *r, void *data, size_t id, struct btz_arena *arena,
                struct btz_str *parts, size_t *part_count, struct btz_err *err)
{
    const struct sieve_embedder *w = data;
    const struct batch *batch = &w->batches[id];

    (void)r;
    (void)arena;
    (void)err;
    parts[0] = BTZ_STR(BTZ_LLM_EMBEDDINGS_SETTINGS);
    for (size_t i = 0; i < batch->count; i++) {
        parts[i + 1] = w->texts[batch->first + i];
    }
    *part_count = batch->count + 1;
    return BTZ_OK;
}

static int read_reply(struct sieve_run *r, const struct sieve_embedder *w, size_t id,
                      struct btz_str bytes, bool rejected, struct btz_arena *arena,
                      struct btz_llm_embeddings *out, struct btz_err *err)
{
    struct btz_str name = r->embeddings->name;
    int rc;

    if (rejected) {
        struct btz_llm_provider_error error = {0};

        (void)btz_llm_provider_error_parse(arena, bytes, &error);
        error.message = btz_str_sub(error.message, 0, 300);
        return btz_err_set(err, BTZ_EIO, "%.*s refuses to embed: %.*s", BTZ_FMT(name),
                           BTZ_FMT(error.message));
    }
    rc = btz_llm_embeddings_parse(arena, bytes, w->batches[id].count, NULL, out, err);
    if (rc != BTZ_OK) {
        btz_err_prefix(err, "a reply of the embedding model: ");
        return rc;
    }
    if (w->dimension && out->dimension != w->dimension) {
        return btz_err_set(err, BTZ_EIO,
                           "%.*s returned vectors of %zu numbers, and before that of %zu: they "
                           "cannot be compared",
                           BTZ_FMT(name), out->dimension, w->dimension);
    }
    if (w->count * out->dimension * sizeof(float) > VECTORS_MAX) {
        return btz_err_set(err, BTZ_ELIMIT, "%zu vectors of %zu numbers are too much", w->count,
                           out->dimension);
    }
    return BTZ_OK;
}

static int check(struct sieve_run *r, void *data, size_t id, struct btz_str bytes, bool rejected,
                 struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_llm_embeddings got;
    int rc = read_reply(r, data, id, bytes, rejected, arena, &got, err);

    btz_arena_free(arena);
    return rc;
}

static void note_model(struct sieve_embedder *w, struct btz_str model)
{
    for (size_t i = 0; i < btz_json_count(w->models); i++) {
        if (btz_str_eq(btz_json_str(btz_json_at(w->models, i)), model)) {
            return;
        }
    }
    btz_json_push(w->arena, w->models, btz_json_new_str(w->arena, btz_arena_dup(w->arena, model)));
}

static int take(struct sieve_run *r, void *data, size_t id, const struct btz_hash *request,
                struct btz_str bytes, bool rejected, struct btz_err *err)
{
    struct sieve_embedder *w = data;
    struct btz_arena *arena = btz_arena_new();
    struct btz_llm_embeddings got;
    int rc = read_reply(r, w, id, bytes, rejected, arena, &got, err);

    (void)request;
    if (rc == BTZ_OK && w->dimension == 0) {
        w->dimension = got.dimension;
        w->vectors = calloc(w->count * w->dimension, sizeof(*w->vectors));
        if (!w->vectors) {
            btz_panic("out of memory");
        }
    }
    if (rc == BTZ_OK) {
        memcpy(w->vectors + w->batches[id].first * w->dimension, got.vectors,
               got.count * got.dimension * sizeof(*got.vectors));
        note_model(w, got.model);
        w->tokens = got.tokens < 0 || w->tokens < 0 ? -1 : w->tokens + got.tokens;
    }
    btz_arena_free(arena);
    return rc;
}

static int by_text(const void *a, const void *b)
{
    return btz_str_cmp(*(const struct btz_str *)a, *(const struct btz_str *)b);
}

/* What came, for the report: the card is older than the first reply. */
static int put_row(struct sieve_run *r, const struct sieve_embedder *w, struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_json *row = btz_json_new_object(arena);
    struct btz_json *models = btz_json_new_array(arena);
    size_t count = btz_json_count(w->models);
    struct btz_str *names = btz_arena_array(arena, count + 1, sizeof(*names));
    int rc;

    for (size_t i = 0; i < count; i++) {
        names[i] = btz_json_str(btz_json_at(w->models, i));
    }
    qsort(names, count, sizeof(*names), by_text); /* replies come in any order */
    for (size_t i = 0; i < count; i++) {
        btz_json_push(arena, models, btz_json_new_str(arena, names[i]));
    }
    btz_json_set_strz(arena, row, "row", "embedding");
    btz_json_set_str(arena, row, "model", r->embeddings->name);
    btz_json_setz(arena, row, "returned_models", models);
    btz_json_set_int(arena, row, "dimension", (int64_t)w->dimension);
    btz_json_set_int(arena, row, "texts", (int64_t)w->count);
    btz_json_set_int(arena, row, "requests", (int64_t)w->batch_count);
    btz_json_set_int(arena, row, "tokens_in", w->tokens);
    rc = sieve_row_put(r, btz_arena_printf(arena, "embedding/%.*s", BTZ_FMT(r->embeddings->name)),
                       row, err);
    btz_arena_free(arena);
    return rc;
}

int sieve_embed_all(struct sieve_run *r, struct btz_err *err)
{
    struct sieve_embedder *w = BTZ_NEW(r->arena, struct sieve_embedder);
    struct sieve_source source = {.data = w,
                                  .what = "embeddings",
                                  .make = make,
                                  .take = take,
                                  .api = BTZ_LLM_EMBEDDINGS,
                                  .check = check};
    int64_t missing = r->missing;
    int rc = BTZ_OK;

    w->arena = btz_arena_new();
    w->models = btz_json_new_array(w->arena);
    grow(w);
    r->embedder = w;
    if (r->index_raw) {
        rc = collect(r, w, NULL, err);
    }
    for (size_t a = 0; rc == BTZ_OK && r->index_arm && a < r->arm_count; a++) {
        if (r->arms[a].first) {
            rc = collect(r, w, &r->arms[a], err);
        }
    }
    divide(w);
    source.count = w->batch_count;
    r->planned += w->batch_count;
    rc = rc ? rc : sieve_ask(r, r->embeddings, &source, err);
    if (rc == BTZ_OK && r->missing > missing) {
        rc = btz_err_set(err, BTZ_EIO,
                         "%lld of %zu requests for embeddings have no answer (%s); `bartizan sieve "
                         "run --resume %s` asks for them again",
                         (long long)(r->missing - missing), w->batch_count,
                         r->last_failure[0] ? r->last_failure : "none is recorded", r->id);
    }
    return rc ? rc : put_row(r, w, err);
}

static const float *vector_of(void *data, struct btz_str text)
{
    const struct sieve_embedder *w = data;
    struct btz_hash hash = btz_hash_of(text);
    const struct slot *slot = find(w, &hash);

    return slot->number ? w->vectors + (slot->number - 1) * w->dimension : NULL;
}

struct btz_sieve_embedding sieve_embedding(const struct sieve_run *r)
{
    return (struct btz_sieve_embedding){r->embedder->dimension, vector_of, r->embedder};
}

void sieve_embed_free(struct sieve_run *r)
{
    if (r->embedder) {
        btz_arena_free(r->embedder->arena);
        free(r->embedder->slots);
        free(r->embedder->vectors);
    }
}
