/* Retrieval in front of the agent: which definitions a host shows for a query. Hybrid: BM25 (SQLite
 * FTS5, in memory) and a dense ranking by cosine similarity, joined by reciprocal-rank fusion
 * (Cormack, Clarke and Buettcher 2009, SIGIR, with their k = 60). The dense vectors are made
 * offline, of character n-grams (3 to 5) hashed into a fixed number of dimensions, or the caller
 * brings those of an embedding model. Equal input gives equal ranks. */
#ifndef BTZ_SIEVE_RETRIEVE_H
#define BTZ_SIEVE_RETRIEVE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"

enum {
    BTZ_SIEVE_DIMENSIONS = 1024,
    BTZ_SIEVE_RANK_MAX = 100, /* a definition behind this rank of both lists is not retrieved */
    BTZ_SIEVE_FUSION_K = 60,
    BTZ_SIEVE_INDEX_MAX = 200000 /* definitions in one index */
};

struct btz_sieve_index;

int btz_sieve_index_new(struct btz_sieve_index **out, struct btz_err *err) BTZ_WARN_UNUSED;
/* Vectors of the caller's, each of length 1, alive as long as the index. */
struct btz_sieve_embedding {
    size_t dimension;
    /* The vector of a text, or NULL: the text has none, and no place in the dense ranking. */
    const float *(*vector)(void *data, struct btz_str text);
    void *data;
};

/* Takes these vectors in the place of n-grams; before the first definition is added. */
void btz_sieve_index_embed(struct btz_sieve_index *index,
                           const struct btz_sieve_embedding *embedding);
void btz_sieve_index_free(struct btz_sieve_index *index); /* NULL is allowed */

/* Adds a definition of server `cluster` as document number 0, 1, ... Name, title, description and
 * the texts and property names of inputSchema are indexed. BTZ_ELIMIT past BTZ_SIEVE_INDEX_MAX. */
int btz_sieve_index_add(struct btz_sieve_index *index, struct btz_str cluster,
                        const struct btz_json *definition, struct btz_err *err) BTZ_WARN_UNUSED;
size_t btz_sieve_index_count(const struct btz_sieve_index *index);

/* What stands in the place of a server's documents for one question. */
struct btz_sieve_pool {
    struct btz_str cluster;            /* its documents in the index do not count */
    const struct btz_json *const *own; /* these do instead; NULL entries are withheld */
    size_t count;
};

struct btz_sieve_hit {
    bool own;
    size_t number; /* place in `own`, or document number */
    double score;
};

struct btz_sieve_ranking {
    struct btz_sieve_hit *hits; /* best first, at most the number asked for */
    size_t count;
    size_t *own_rank; /* of each of `own`, from 1; 0 = not retrieved */
};

/* Ranks for `query`. `max`: hits wanted. Results in `arena`. */
int btz_sieve_index_rank(struct btz_sieve_index *index, struct btz_str query,
                         const struct btz_sieve_pool *pool, size_t max, struct btz_arena *arena,
                         struct btz_sieve_ranking *out, struct btz_err *err) BTZ_WARN_UNUSED;

/* The dense vector of a text: BTZ_SIEVE_DIMENSIONS floats of length 1 (all 0 for a text without
 * letters or digits). */
void btz_sieve_vector(struct btz_str text, float *out);

/* The text of a definition that is indexed: words of names apart, texts as they are. */
void btz_sieve_document(struct btz_buf *out, const struct btz_json *definition);

#endif
