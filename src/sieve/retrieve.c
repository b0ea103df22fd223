#include "sieve/retrieve.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "base/buf.h"

enum {
    GRAM_MIN = 3,
    GRAM_MAX = 5,
    DOCUMENT_MAX = 1024 * 1024,
    DEPTH_MAX = 32,
    QUERY_WORDS_MAX = 64,
    POOL_MAX = 4096
};

struct document {
    uint64_t cluster;    /* hash */
    const float *vector; /* NULL: none */
};

struct btz_sieve_index {
    sqlite3 *db;
    sqlite3_stmt *add, *drop, *find;
    struct document *documents;
    size_t count, cap;
    struct btz_sieve_embedding embedding; /* vector NULL: n-grams */
};

static uint64_t hash_of(struct btz_str s, uint64_t seed)
{
    uint64_t h = 0xcbf29ce484222325ULL ^ seed; /* FNV-1a */

    for (size_t i = 0; i < s.len; i++) {
        h = (h ^ (unsigned char)s.ptr[i]) * 0x100000001b3ULL;
    }
    h ^= h >> 32; /* FNV's low bits alone are weak */
    h *= 0xd6e8feb86659fd93ULL;
    return h ^ (h >> 32);
}

static int failed(struct btz_sieve_index *index, struct btz_err *err)
{
    return btz_err_set(err, BTZ_EINTERNAL, "the retrieval index failed: %s",
                       sqlite3_errmsg(index->db));
}

int btz_sieve_index_new(struct btz_sieve_index **out, struct btz_err *err)
{
    struct btz_sieve_index *index = calloc(1, sizeof(*index));
    int rc = BTZ_OK;

    if (!index) {
        btz_panic("out of memory");
    }
    if (sqlite3_open(":memory:", &index->db) != SQLITE_OK ||
        sqlite3_exec(index->db,
                     "CREATE VIRTUAL TABLE doc USING fts5(text, tokenize = 'porter unicode61')",
                     NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(index->db, "INSERT INTO doc (rowid, text) VALUES (?, ?)", -1,
                           &index->add, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(index->db, "DELETE FROM doc WHERE rowid = ?", -1, &index->drop, NULL) !=
            SQLITE_OK ||
        sqlite3_prepare_v2(index->db,
                           "SELECT rowid FROM doc WHERE doc MATCH ? ORDER BY bm25(doc), rowid"
                           " LIMIT ?",
                           -1, &index->find, NULL) != SQLITE_OK) {
        rc = failed(index, err);
        btz_sieve_index_free(index);
        return rc;
    }
    *out = index;
    return BTZ_OK;
}

void btz_sieve_index_free(struct btz_sieve_index *index)
{
    if (!index) {
        return;
    }
    sqlite3_finalize(index->add);
    sqlite3_finalize(index->drop);
    sqlite3_finalize(index->find);
    sqlite3_close(index->db);
    for (size_t i = 0; i < index->count; i++) {
        if (!index->embedding.vector) {
            free((void *)(uintptr_t)index->documents[i].vector);
        }
    }
    free(index->documents);
    free(index);
}

void btz_sieve_index_embed(struct btz_sieve_index *index,
                           const struct btz_sieve_embedding *embedding)
{
    index->embedding = *embedding;
}

size_t btz_sieve_index_count(const struct btz_sieve_index *index)
{
    return index->count;
}

/* ---- texts ---- */

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_word(char c)
{
    return is_upper(c) || is_lower(c) || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

/* A name, and its words: "getUserName" and "get_user_name" as "get User Name". */
static void add_name(struct btz_buf *out, struct btz_str name)
{
    (void)btz_buf_add_str(out, name);
    (void)btz_buf_add_byte(out, ' ');
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (i > 0 && is_upper(c) && is_lower(name.ptr[i - 1])) {
            (void)btz_buf_add_byte(out, ' ');
        }
        (void)btz_buf_add_byte(out, is_word(c) ? c : ' ');
    }
    (void)btz_buf_add_byte(out, '\n');
}

static void add_schema(struct btz_buf *out, const struct btz_json *schema, unsigned depth)
{
    const struct btz_json *properties = btz_json_getz(schema, "properties");

    if (depth > DEPTH_MAX) {
        return;
    }
    for (size_t i = 0; i < btz_json_count(properties); i++) {
        const struct btz_json *property = btz_json_value_at(properties, i);

        add_name(out, btz_json_key_at(properties, i));
        (void)btz_buf_add_str(out, btz_json_str(btz_json_getz(property, "description")));
        (void)btz_buf_add_byte(out, '\n');
        add_schema(out, property, depth + 1);
        add_schema(out, btz_json_getz(property, "items"), depth + 1);
    }
}

void btz_sieve_document(struct btz_buf *out, const struct btz_json *definition)
{
    add_name(out, btz_json_str(btz_json_getz(definition, "name")));
    (void)btz_buf_add_str(out, btz_json_str(btz_json_getz(definition, "title")));
    (void)btz_buf_add_byte(out, '\n');
    (void)btz_buf_add_str(out, btz_json_str(btz_json_getz(definition, "description")));
    (void)btz_buf_add_byte(out, '\n');
    add_schema(out, btz_json_getz(definition, "inputSchema"), 0);
}

/* ---- dense ---- */

/* Lower case, everything that is no letter or digit one blank, a blank at both ends. */
static void normalise(struct btz_buf *out, struct btz_str text)
{
    (void)btz_buf_add_byte(out, ' ');
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (is_word(c)) {
            (void)btz_buf_add_byte(out, is_upper(c) ? (char)(c + 32) : c);
        } else if (out->len && out->ptr[out->len - 1] != ' ') {
            (void)btz_buf_add_byte(out, ' ');
        }
    }
    if (out->len && out->ptr[out->len - 1] != ' ') {
        (void)btz_buf_add_byte(out, ' ');
    }
}

void btz_sieve_vector(struct btz_str text, float *out)
{
    struct btz_buf clean;
    double norm = 0;

    memset(out, 0, BTZ_SIEVE_DIMENSIONS * sizeof(*out));
    btz_buf_init(&clean, text.len + 2);
    normalise(&clean, text);
    for (size_t at = 0; clean.len > 1 && at < clean.len; at++) {
        for (size_t len = GRAM_MIN; len <= GRAM_MAX && at + len <= clean.len; len++) {
            uint64_t h = hash_of((struct btz_str){clean.ptr + at, len}, len);

            /* The sign keeps collisions from adding up (Weinberger et al. 2009, ICML). */
            out[h % BTZ_SIEVE_DIMENSIONS] += h >> 63 ? 1.0F : -1.0F;
        }
    }
    btz_buf_fini(&clean);
    for (size_t i = 0; i < BTZ_SIEVE_DIMENSIONS; i++) {
        /* Damped, so that a text that repeats one word is not that word alone. */
        out[i] = (float)(out[i] < 0 ? -log1p(-(double)out[i]) : log1p((double)out[i]));
        norm += (double)out[i] * (double)out[i];
    }
    norm = sqrt(norm);
    for (size_t i = 0; norm > 0 && i < BTZ_SIEVE_DIMENSIONS; i++) {
        out[i] = (float)((double)out[i] / norm);
    }
}

static float similarity(const float *a, const float *b, size_t dimension)
{
    float sum[8] = {0};

    for (size_t i = 0; i < dimension; i += 8) {
        for (size_t k = 0; k < 8 && i + k < dimension; k++) {
            sum[k] += a[i + k] * b[i + k];
        }
    }
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

/* ---- the index ---- */

static int insert(struct btz_sieve_index *index, int64_t row, struct btz_str text,
                  struct btz_err *err)
{
    int rc;

    sqlite3_bind_int64(index->add, 1, row);
    sqlite3_bind_text64(index->add, 2, text.ptr ? text.ptr : "", text.len, SQLITE_STATIC,
                        SQLITE_UTF8);
    rc = sqlite3_step(index->add);
    sqlite3_reset(index->add);
    sqlite3_clear_bindings(index->add);
    return rc == SQLITE_DONE ? BTZ_OK : failed(index, err);
}

static const float *vector_of(const struct btz_sieve_index *index, struct btz_str text)
{
    float *vector;

    if (index->embedding.vector) {
        return index->embedding.vector(index->embedding.data, text);
    }
    vector = malloc(BTZ_SIEVE_DIMENSIONS * sizeof(*vector));
    if (!vector) {
        btz_panic("out of memory");
    }
    btz_sieve_vector(text, vector);
    return vector;
}

int btz_sieve_index_add(struct btz_sieve_index *index, struct btz_str cluster,
                        const struct btz_json *definition, struct btz_err *err)
{
    struct btz_buf text;
    int rc;

    if (index->count == BTZ_SIEVE_INDEX_MAX) {
        return btz_err_set(err, BTZ_ELIMIT, "an index takes at most %d definitions",
                           BTZ_SIEVE_INDEX_MAX);
    }
    if (index->count == index->cap) {
        index->cap = index->cap ? 2 * index->cap : 256;
        index->documents = realloc(index->documents, index->cap * sizeof(*index->documents));
        if (!index->documents) {
            btz_panic("out of memory");
        }
    }
    btz_buf_init(&text, DOCUMENT_MAX);
    btz_sieve_document(&text, definition);
    rc = insert(index, (int64_t)index->count + 1, btz_buf_view(&text), err);
    if (rc == BTZ_OK) {
        index->documents[index->count++] =
            (struct document){hash_of(cluster, 0), vector_of(index, btz_buf_view(&text))};
    }
    btz_buf_fini(&text);
    return rc;
}

/* ---- ranking ---- */

struct entry {
    size_t row; /* documents first, then those of the pool */
    double score;
};

/* Best first; equal scores by row. */
static int by_score(const void *a, const void *b)
{
    const struct entry *x = a;
    const struct entry *y = b;

    return x->score != y->score ? (x->score < y->score ? 1 : -1) : x->row < y->row ? -1 : 1;
}

/* The words of the query, each quoted, any of them. False if there is none. */
static bool match_text(struct btz_str query, struct btz_buf *out)
{
    size_t words = 0;
    size_t at = 0;

    while (at < query.len && words < QUERY_WORDS_MAX) {
        size_t begin;

        while (at < query.len && !is_word(query.ptr[at])) {
            at++;
        }
        begin = at;
        while (at < query.len && is_word(query.ptr[at])) {
            at++;
        }
        if (at > begin) {
            (void)btz_buf_add_text(out, words++ ? " OR \"" : "\"");
            (void)btz_buf_add(out, query.ptr + begin, at - begin);
            (void)btz_buf_add_byte(out, '"');
        }
    }
    return words > 0;
}

/* Puts the pool in the place of its server's documents. To be undone by a rollback. */
static int swap(struct btz_sieve_index *index, const struct btz_sieve_pool *pool,
                const struct btz_str *texts, struct btz_err *err)
{
    uint64_t cluster = hash_of(pool->cluster, 0);
    int rc = BTZ_OK;

    for (size_t i = 0; i < index->count; i++) {
        if (index->documents[i].cluster == cluster) {
            sqlite3_bind_int64(index->drop, 1, (int64_t)i + 1);
            if (sqlite3_step(index->drop) != SQLITE_DONE) {
                rc = failed(index, err);
            }
            sqlite3_reset(index->drop);
        }
    }
    for (size_t i = 0; rc == BTZ_OK && i < pool->count; i++) {
        if (pool->own[i]) {
            rc = insert(index, (int64_t)(index->count + i) + 1, texts[i], err);
        }
    }
    return rc;
}

/* Ranks by BM25 into `rank` (by row, from 1). */
static int rank_words(struct btz_sieve_index *index, struct btz_str query, size_t *rank,
                      struct btz_err *err)
{
    struct btz_buf match;
    size_t place = 0;
    int step;

    btz_buf_init(&match, 4 * query.len + 1024);
    if (!match_text(query, &match)) {
        btz_buf_fini(&match);
        return BTZ_OK;
    }
    sqlite3_bind_text64(index->find, 1, match.ptr, match.len, SQLITE_STATIC, SQLITE_UTF8);
    sqlite3_bind_int64(index->find, 2, BTZ_SIEVE_RANK_MAX);
    while ((step = sqlite3_step(index->find)) == SQLITE_ROW) {
        rank[sqlite3_column_int64(index->find, 0) - 1] = ++place;
    }
    sqlite3_reset(index->find);
    sqlite3_clear_bindings(index->find);
    btz_buf_fini(&match);
    return step == SQLITE_DONE ? BTZ_OK : failed(index, err);
}

/* The vector of a text of one question, in `room` if it is made here. */
static const float *passing_vector(const struct btz_sieve_index *index, struct btz_str text,
                                   float *room)
{
    if (index->embedding.vector) {
        return index->embedding.vector(index->embedding.data, text);
    }
    btz_sieve_vector(text, room);
    return room;
}

/* Ranks by cosine similarity: with n-grams those that have any, with embeddings all. */
static void rank_vectors(const struct btz_sieve_index *index, struct btz_str query,
                         const struct btz_sieve_pool *pool, const struct btz_str *texts,
                         struct entry *entries, size_t *rank)
{
    uint64_t cluster = hash_of(pool->cluster, 0);
    size_t dimension = index->embedding.vector ? index->embedding.dimension : BTZ_SIEVE_DIMENSIONS;
    double least = index->embedding.vector ? -2 : 0;
    float query_room[BTZ_SIEVE_DIMENSIONS];
    float own_room[BTZ_SIEVE_DIMENSIONS];
    const float *wanted = passing_vector(index, query, query_room);
    size_t count = 0;

    if (!wanted) {
        return;
    }
    for (size_t i = 0; i < index->count; i++) {
        if (index->documents[i].cluster != cluster && index->documents[i].vector) {
            entries[count++] = (struct entry){
                i, (double)similarity(wanted, index->documents[i].vector, dimension)};
        }
    }
    for (size_t i = 0; i < pool->count; i++) {
        const float *own = pool->own[i] ? passing_vector(index, texts[i], own_room) : NULL;

        if (own) {
            entries[count++] =
                (struct entry){index->count + i, (double)similarity(wanted, own, dimension)};
        }
    }
    qsort(entries, count, sizeof(*entries), by_score);
    for (size_t i = 0; i < count && i < BTZ_SIEVE_RANK_MAX && entries[i].score > least; i++) {
        rank[entries[i].row] = i + 1;
    }
}

static void fuse(const size_t *words, const size_t *vectors, size_t rows, struct entry *entries,
                 size_t *count)
{
    *count = 0;
    for (size_t row = 0; row < rows; row++) {
        double score = (words[row] ? 1.0 / (double)(BTZ_SIEVE_FUSION_K + words[row]) : 0) +
                       (vectors[row] ? 1.0 / (double)(BTZ_SIEVE_FUSION_K + vectors[row]) : 0);

        if (score > 0) {
            entries[(*count)++] = (struct entry){row, score};
        }
    }
    qsort(entries, *count, sizeof(*entries), by_score);
}

static void hand_out(const struct btz_sieve_index *index, const struct entry *entries, size_t count,
                     size_t max, struct btz_sieve_ranking *out)
{
    for (size_t i = 0; i < count; i++) {
        bool own = entries[i].row >= index->count;
        size_t number = own ? entries[i].row - index->count : entries[i].row;

        if (own) {
            out->own_rank[number] = i + 1;
        }
        if (i < max) {
            out->hits[out->count++] = (struct btz_sieve_hit){own, number, entries[i].score};
        }
    }
}

int btz_sieve_index_rank(struct btz_sieve_index *index, struct btz_str query,
                         const struct btz_sieve_pool *pool, size_t max, struct btz_arena *arena,
                         struct btz_sieve_ranking *out, struct btz_err *err)
{
    size_t rows = index->count + pool->count;
    struct entry *entries;
    struct btz_str *texts;
    size_t *words;
    size_t *vectors;
    size_t count = 0;
    int rc;

    if (pool->count > POOL_MAX) {
        return btz_err_set(err, BTZ_ELIMIT, "a server has over %d definitions", POOL_MAX);
    }
    entries = calloc(rows + 1, sizeof(*entries));
    words = calloc(rows + 1, sizeof(*words));
    vectors = calloc(rows + 1, sizeof(*vectors));
    if (!entries || !words || !vectors) {
        btz_panic("out of memory");
    }
    texts = btz_arena_array(arena, pool->count + 1, sizeof(*texts));
    for (size_t i = 0; i < pool->count; i++) {
        struct btz_buf text;

        btz_buf_init(&text, DOCUMENT_MAX);
        if (pool->own[i]) {
            btz_sieve_document(&text, pool->own[i]);
        }
        texts[i] = btz_arena_dup(arena, btz_buf_view(&text));
        btz_buf_fini(&text);
    }
    rc = sqlite3_exec(index->db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK ? BTZ_OK
                                                                         : failed(index, err);
    if (rc == BTZ_OK) {
        rc = swap(index, pool, texts, err);
        rc = rc ? rc : rank_words(index, query, words, err);
        sqlite3_exec(index->db, "ROLLBACK", NULL, NULL, NULL);
    }
    if (rc == BTZ_OK) {
        rank_vectors(index, query, pool, texts, entries, vectors);
        fuse(words, vectors, rows, entries, &count);
        *out = (struct btz_sieve_ranking){
            .hits = btz_arena_array(arena, max + 1, sizeof(*out->hits)),
            .own_rank = btz_arena_array(arena, pool->count + 1, sizeof(*out->own_rank))};
        hand_out(index, entries, count, max, out);
    }
    free(entries);
    free(words);
    free(vectors);
    return rc;
}
