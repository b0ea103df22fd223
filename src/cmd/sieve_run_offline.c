/* sieve run, without any model: what survives of each payload, and what retrieval finds. */
#include "cmd/sieve_run.h"
#include "sieve/survive.h"

enum { SHOWN_MAX = 64 * 1024 * 1024, TICK_EVERY = 32 };

/* ---- survival ---- */

static void set_freedom(struct btz_arena *arena, struct btz_json *row,
                        const struct btz_json *definition, bool whole)
{
    struct btz_sieve_freedom freedom = {0};

    if (definition) {
        btz_sieve_count_freedom(definition, whole, &freedom);
    }
    btz_json_set_int(arena, row, "characters", (int64_t)freedom.characters);
    btz_json_set_int(arena, row, "names", (int64_t)freedom.names);
    btz_json_set_int(arena, row, "free_names", (int64_t)freedom.free_names);
    btz_json_set_int(arena, row, "values", (int64_t)freedom.values);
    btz_json_set_int(arena, row, "free_values", (int64_t)freedom.free_values);
}

/* Whether the operands stand in what the twin shows without any arm: then finding them says
 * nothing. */
static bool is_coincident(struct sieve_run *r, size_t item, struct btz_arena *arena)
{
    static const struct sieve_arm none = {.arm = BTZ_CANON_NONE, .label = {"none", 4}};
    const struct btz_sieve_item *attack = &r->items[item];
    struct btz_sieve_survival survival = {0};
    struct btz_canon_result *results;
    struct btz_buf shown;
    size_t count = 0;

    if (r->twin[item] == SIZE_MAX || attack->operand_count == 0 ||
        sieve_show_list(r, &none, &r->items[r->twin[item]], arena, &results, &count, NULL)) {
        return false;
    }
    btz_buf_init(&shown, SHOWN_MAX);
    sieve_show_render(r, results, count, &shown);
    btz_sieve_survive(btz_buf_view(&shown), attack->operands, attack->operand_count, &survival);
    btz_buf_fini(&shown);
    return survival.survived_loose;
}

static int survive_one(struct sieve_run *r, const struct sieve_arm *arm, size_t at,
                       struct btz_str key, bool coincident, struct btz_arena *arena,
                       struct btz_err *err)
{
    const struct btz_sieve_item *item = &r->items[at];
    struct btz_json *row = sieve_row_of(arena, "survival", item);
    struct btz_sieve_survival survival;
    struct btz_canon_result *results;
    struct btz_buf shown;
    size_t count = 0;
    int rc = sieve_show_list(r, arm, item, arena, &results, &count, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    btz_buf_init(&shown, SHOWN_MAX);
    sieve_show_render(r, results, count, &shown);
    btz_sieve_survive(btz_buf_view(&shown), item->operands, item->operand_count, &survival);
    btz_json_set_strz(arena, row, "arm", btz_canon_arm_name(arm->arm));
    btz_json_set_int(arena, row, "seed", (int64_t)arm->seed);
    btz_json_set_int(arena, row, "operands", (int64_t)survival.operands);
    btz_json_set_int(arena, row, "left", (int64_t)survival.left);
    btz_json_set_int(arena, row, "left_loose", (int64_t)survival.left_loose);
    btz_json_set_bool(arena, row, "survived", survival.survived);
    btz_json_set_bool(arena, row, "survived_loose", survival.survived_loose);
    btz_json_set_bool(arena, row, "coincident", coincident);
    btz_json_set_bool(arena, row, "withheld", !results[0].definition);
    btz_json_set_int(arena, row, "shown_bytes", (int64_t)shown.len);
    set_freedom(arena, row, results[0].definition, r->whole);
    rc = shown.failed ? btz_err_set(err, BTZ_ELIMIT, "the definitions of %.*s are too large",
                                    BTZ_FMT(item->id))
                      : sieve_row_put(r, key, row, err);
    btz_buf_fini(&shown);
    return rc;
}

static int survive_all(struct sieve_run *r, struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    bool *coincident = btz_arena_array(r->arena, r->item_count + 1, sizeof(*coincident));
    int rc = BTZ_OK;

    for (size_t i = 0; i < r->item_count; i++) {
        btz_arena_reset(arena);
        coincident[i] = r->items[i].kind == BTZ_SIEVE_ATTACK && is_coincident(r, i, arena);
    }
    for (size_t a = 0; rc == BTZ_OK && a < r->arm_count; a++) {
        for (size_t i = 0; rc == BTZ_OK && i < r->item_count; i++) {
            struct btz_str key;

            btz_arena_reset(arena);
            key = btz_arena_printf(arena, "survival/%.*s/%.*s", BTZ_FMT(r->arms[a].label),
                                   BTZ_FMT(r->items[i].id));
            if (r->items[i].kind == BTZ_SIEVE_ATTACK && !sieve_row_known(r, key)) {
                rc = survive_one(r, &r->arms[a], i, key, coincident[i], arena, err);
            }
            r->done++;
            if (rc == BTZ_OK && i % TICK_EVERY == 0 && sieve_tick(r, "survival")) {
                rc = BTZ_EXIT_INTERRUPTED;
            }
        }
    }
    btz_arena_free(arena);
    return rc;
}

/* ---- retrieval ---- */

int sieve_documents_each(struct sieve_run *r, const struct sieve_arm *arm,
                         int (*take)(void *data, const struct sieve_document *document,
                                     const struct btz_json *tool, struct btz_err *err),
                         void *data, struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_canon_result *results = NULL;
    size_t place = 0;
    int rc = BTZ_OK;

    for (size_t i = 0; rc == BTZ_OK && i < r->document_count; i++) {
        const struct sieve_document *d = &r->documents[i];
        const struct btz_json *tool = d->tool;
        struct btz_json *withheld;

        if (arm && (i == 0 || d->list != r->documents[i - 1].list)) {
            btz_arena_reset(arena);
            results = btz_arena_array(arena, btz_json_count(d->list) + 1, sizeof(*results));
            rc = sieve_show_tools(r, arm, d->list, arena, results, err);
            place = 0;
        }
        if (arm && rc == BTZ_OK) {
            tool = results[place++].definition;
            if (!tool) { /* keeps its number, and is found by nothing */
                withheld = btz_json_new_object(arena);
                btz_json_set_strz(arena, withheld, "name", "");
                tool = withheld;
            }
        }
        rc = rc ? rc : take(data, d, tool, err);
    }
    btz_arena_free(arena);
    return rc;
}

static int add_document(void *data, const struct sieve_document *document,
                        const struct btz_json *tool, struct btz_err *err)
{
    return btz_sieve_index_add(data, document->cluster, tool, err);
}

/* The index over all documents: as they are (`arm` NULL), or as the arm leaves them. */
static int make_index(struct sieve_run *r, const struct sieve_arm *arm,
                      struct btz_sieve_index **out, struct btz_err *err)
{
    struct btz_sieve_index *index = NULL;
    int rc = btz_sieve_index_new(&index, err);

    if (rc == BTZ_OK && r->embedder) {
        const struct btz_sieve_embedding embedding = sieve_embedding(r);

        btz_sieve_index_embed(index, &embedding);
    }
    rc = rc ? rc : sieve_documents_each(r, arm, add_document, index, err);
    if (rc != BTZ_OK) {
        btz_sieve_index_free(index);
        return rc;
    }
    *out = index;
    return BTZ_OK;
}

/* Rank of the own definition with that name on the server; 0 = not retrieved. */
static size_t rank_of(const struct btz_sieve_item *item, const struct btz_sieve_ranking *ranking,
                      struct btz_str name)
{
    if (btz_str_eq(btz_json_str(btz_json_getz(item->poisoned, "name")), name)) {
        return ranking->own_rank[0];
    }
    for (size_t i = 0; i < btz_json_count(item->tools); i++) {
        if (btz_str_eq(btz_json_str(btz_json_getz(btz_json_at(item->tools, i), "name")), name)) {
            return ranking->own_rank[i + 1];
        }
    }
    return 0;
}

static int retrieve_one(struct sieve_run *r, struct btz_sieve_index *index, size_t arm, size_t at,
                        struct btz_arena *arena, struct btz_err *err)
{
    static const struct sieve_arm none = {.arm = BTZ_CANON_NONE, .label = {"none", 4}};
    const struct btz_sieve_item *item = &r->items[at];
    const struct sieve_arm *by = arm < r->arm_count ? &r->arms[arm] : &none;
    struct sieve_found *found = &r->found[arm * r->item_count + at];
    const struct btz_json **own;
    struct btz_canon_result *results;
    struct btz_sieve_ranking ranking;
    struct btz_json *row = sieve_row_of(arena, "retrieval", item);
    size_t count = 0;
    int rc = sieve_show_list(r, by, item, arena, &results, &count, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    own = btz_arena_array(arena, count + 1, sizeof(const struct btz_json *));
    for (size_t i = 0; i < count; i++) {
        own[i] = results[i].definition;
    }
    rc = btz_sieve_index_rank(index, item->query,
                              &(struct btz_sieve_pool){item->cluster, own, count}, SIEVE_TOP, arena,
                              &ranking, err);
    if (rc != BTZ_OK) {
        return rc;
    }
    *found = (struct sieve_found){.count = (uint8_t)ranking.count};
    for (size_t i = 0; i < ranking.count; i++) {
        found->hits[i].own = ranking.hits[i].own;
        found->hits[i].number = (uint32_t)ranking.hits[i].number;
    }
    btz_json_set_strz(arena, row, "index", arm < r->arm_count ? "arm" : "raw");
    btz_json_set_strz(arena, row, "arm", btz_canon_arm_name(by->arm));
    btz_json_set_int(arena, row, "target_rank",
                     (int64_t)rank_of(item, &ranking, item->target.tool));
    btz_json_set_int(arena, row, "poisoned_rank", (int64_t)ranking.own_rank[0]);
    btz_json_set_int(arena, row, "pool", (int64_t)r->document_count);
    return sieve_row_put(r,
                         btz_arena_printf(arena, "retrieval/%s/%.*s/%.*s",
                                          arm < r->arm_count ? "arm" : "raw", BTZ_FMT(by->label),
                                          BTZ_FMT(item->id)),
                         row, err);
}

static int retrieve_by(struct sieve_run *r, size_t arm, struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_sieve_index *index = NULL;
    int rc = make_index(r, arm < r->arm_count ? &r->arms[arm] : NULL, &index, err);

    for (size_t i = 0; rc == BTZ_OK && i < r->item_count; i++) {
        btz_arena_reset(arena);
        rc = retrieve_one(r, index, arm, i, arena, err);
        r->done++;
        if (rc == BTZ_OK && i % TICK_EVERY == 0 && sieve_tick(r, "retrieval")) {
            rc = BTZ_EXIT_INTERRUPTED;
        }
    }
    r->has_found[arm] = rc == BTZ_OK;
    btz_sieve_index_free(index);
    btz_arena_free(arena);
    return rc;
}

int sieve_retrieve(struct sieve_run *r, struct btz_err *err)
{
    int rc = BTZ_OK;

    r->found = btz_arena_array(r->arena, (r->arm_count + 1) * r->item_count + 1, sizeof(*r->found));
    r->has_found = btz_arena_array(r->arena, r->arm_count + 1, sizeof(*r->has_found));
    if (r->index_raw) {
        rc = retrieve_by(r, r->arm_count, err);
    }
    for (size_t a = 0; rc == BTZ_OK && r->index_arm && a < r->arm_count; a++) {
        /* Another seed of random-delete makes another index; one says enough. */
        if (r->arms[a].first) {
            rc = retrieve_by(r, a, err);
        }
    }
    return rc;
}

int sieve_offline(struct sieve_run *r, struct btz_err *err)
{
    int rc = survive_all(r, err);

    rc = rc || !r->embeddings ? rc : sieve_embed_all(r, err);
    rc = rc ? rc : sieve_retrieve(r, err);
    return rc ? rc : sieve_definitions(r, err);
}
