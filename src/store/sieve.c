#include "store/sieve.h"

#include <stdio.h>

#include "base/rng.h"
#include "store/store_int.h"

enum { COLUMN_DATA = 5, COLUMN_ROWS = 7 };

static int free_id(struct btz_store *store, int64_t created_us, char *id, struct btz_err *err)
{
    struct btz_rng rng = btz_rng_of((uint64_t)store->session ^ (uint64_t)created_us);

    for (unsigned tries = 0; tries < 1000; tries++) {
        struct btz_store_bind bind;
        int rc = btz_store_stmt(store, ST_SIEVE_HAS, &bind, err);

        if (rc != BTZ_OK) {
            return rc;
        }
        btz_store_id_make(created_us, btz_rng_next(&rng), id);
        btz_store_bind_text(&bind, btz_str_of(id));
        rc = btz_store_step(store, &bind, "runs cannot be read", err);
        btz_store_reset(&bind);
        if (rc <= 0) {
            return rc;
        }
    }
    return btz_err_set(err, BTZ_EEXISTS, "no free run id for this second");
}

static int insert(struct btz_store *store, const char *id, struct btz_str kind, struct btz_str card,
                  int64_t created_us, struct btz_err *err)
{
    struct btz_store_bind bind;
    struct btz_hash hash;
    int64_t blob = 0;
    int rc = btz_store_blob_put(store, card, &hash, &blob, err);

    if (rc != BTZ_OK || (rc = btz_store_stmt(store, ST_SIEVE_ADD, &bind, err)) != BTZ_OK) {
        return rc;
    }
    btz_store_bind_text(&bind, btz_str_of(id));
    btz_store_bind_text(&bind, kind);
    btz_store_bind_int(&bind, created_us);
    btz_store_bind_int(&bind, blob);
    return btz_store_run_stmt(store, &bind, "the run cannot be written", err);
}

int btz_store_sieve_new(struct btz_store *store, struct btz_str kind, struct btz_str card,
                        int64_t created_us, int64_t *no, char *id, struct btz_err *err)
{
    char made[BTZ_STORE_ID_SIZE];
    int64_t made_no;
    int rc = btz_store_need_write(store, err);

    if (rc == BTZ_OK) {
        rc = btz_store_check_text("kind", kind, true, err);
    }
    if (rc == BTZ_OK && card.len > BTZ_STORE_MAX_CONTENT) {
        rc = btz_err_set(err, BTZ_ELIMIT, "a card of %zu bytes is too large", card.len);
    }
    if (rc != BTZ_OK || (rc = btz_store_flush(store, err)) != BTZ_OK ||
        (rc = btz_store_begin(store, err)) != BTZ_OK) {
        return rc;
    }
    rc = free_id(store, created_us, made, err);
    if (rc == BTZ_OK) {
        rc = insert(store, made, kind, card, created_us, err);
    }
    made_no = sqlite3_last_insert_rowid(store->db);
    if (rc == BTZ_OK) {
        rc = btz_store_commit(store, err);
    }
    if (rc != BTZ_OK) {
        btz_store_rollback(store);
        return rc;
    }
    *no = made_no;
    memcpy(id, made, sizeof(made));
    return BTZ_OK;
}

static int read_run(struct btz_store *store, sqlite3_stmt *stmt, struct btz_arena *arena,
                    struct btz_store_sieve_run *out, struct btz_err *err)
{
    struct btz_str id = btz_store_col_text(stmt, 1);
    struct btz_store_reader reader;
    struct btz_hash hash;
    int rc;

    if (id.len >= sizeof(out->id)) {
        return btz_err_set(err, BTZ_ECORRUPT, "a sieve run in %s is damaged", store->path);
    }
    *out = (struct btz_store_sieve_run){.no = sqlite3_column_int64(stmt, 0),
                                        .created_us = sqlite3_column_int64(stmt, 3),
                                        .done = sqlite3_column_int64(stmt, 4) != 0,
                                        .rows = sqlite3_column_int64(stmt, COLUMN_ROWS),
                                        .replies = sqlite3_column_int64(stmt, COLUMN_ROWS + 1)};
    memcpy(out->id, id.ptr, id.len);
    out->kind = btz_arena_dup(arena, btz_store_col_text(stmt, 2));
    btz_store_reader_init(&reader, store, arena);
    rc = btz_store_reader_content(&reader, stmt, COLUMN_DATA, &out->card, &hash, err);
    btz_store_reader_fini(&reader);
    return rc;
}

int btz_store_sieve_find(struct btz_store *store, struct btz_str ref, struct btz_arena *arena,
                         struct btz_store_sieve_run *out, struct btz_err *err)
{
    bool last = btz_str_is(ref, "last");
    char low[BTZ_STORE_ID_SIZE] = {0};
    struct btz_store_sieve_run found = {0};
    struct btz_store_bind bind;
    size_t count = 0;
    int rc;

    if (!last && (ref.len == 0 || ref.len >= sizeof(low))) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "\"%.*s\" is no sieve run: expected \"last\", an id or the beginning "
                           "of one",
                           BTZ_FMT(btz_str_sub(ref, 0, 40)));
    }
    rc = btz_store_stmt(store, last ? ST_SIEVE_LAST : ST_SIEVE_RUN, &bind, err);
    if (rc != BTZ_OK) {
        return rc;
    }
    if (!last) {
        for (size_t i = 0; i < ref.len; i++) {
            low[i] = ref.ptr[i] >= 'A' && ref.ptr[i] <= 'Z' ? (char)(ref.ptr[i] + 32) : ref.ptr[i];
        }
        btz_store_bind_text(&bind, (struct btz_str){low, ref.len});
    }
    while ((rc = btz_store_step(store, &bind, "sieve runs cannot be read", err)) == 1 &&
           count++ == 0) {
        rc = read_run(store, bind.stmt, arena, &found, err);
        if (rc != BTZ_OK) {
            break;
        }
    }
    btz_store_reset(&bind);
    if (rc < 0) {
        return rc;
    }
    if (count != 1) {
        return count ? btz_err_set(err, BTZ_EUSAGE,
                                   "\"%.*s\" begins several sieve run ids; give more letters",
                                   BTZ_FMT(ref))
                     : btz_err_set(err, BTZ_ENOTFOUND,
                                   "no sieve run in %s fits \"%.*s\": `bartizan sieve run` makes "
                                   "one",
                                   store->path, BTZ_FMT(ref));
    }
    *out = found;
    return BTZ_OK;
}

int btz_store_sieve_mark(struct btz_store *store, int64_t no, bool done, struct btz_err *err)
{
    struct btz_store_bind bind;
    int rc = btz_store_need_write(store, err);

    if (rc != BTZ_OK || (rc = btz_store_begin(store, err)) != BTZ_OK ||
        (rc = btz_store_stmt(store, ST_SIEVE_MARK, &bind, err)) != BTZ_OK) {
        return rc;
    }
    btz_store_bind_int(&bind, no);
    btz_store_bind_int(&bind, done);
    rc = btz_store_step(store, &bind, "the sieve run cannot be written", err);
    btz_store_reset(&bind);
    if (rc == 0) {
        return btz_err_set(err, BTZ_ENOTFOUND, "there is no sieve run number %lld", (long long)no);
    }
    return rc < 0 ? rc : btz_store_commit(store, err);
}

int btz_store_sieve_row_has(struct btz_store *store, int64_t no, struct btz_str key, bool *out,
                            struct btz_err *err)
{
    struct btz_store_bind bind;
    int rc = btz_store_stmt(store, ST_SIEVE_ROW_HAS, &bind, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    btz_store_bind_int(&bind, no);
    btz_store_bind_text(&bind, key);
    rc = btz_store_step(store, &bind, "rows cannot be read", err);
    btz_store_reset(&bind);
    if (rc < 0) {
        return rc;
    }
    *out = rc == 1;
    return BTZ_OK;
}

int btz_store_sieve_row_get(struct btz_store *store, int64_t no, struct btz_str key,
                            struct btz_arena *arena, struct btz_str *out, struct btz_err *err)
{
    struct btz_store_bind bind;
    int rc = btz_store_stmt(store, ST_SIEVE_ROW_GET, &bind, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    btz_store_bind_int(&bind, no);
    btz_store_bind_text(&bind, key);
    rc = btz_store_step(store, &bind, "rows cannot be read", err);
    if (rc == 1) {
        *out = btz_arena_dup(arena, btz_store_col_text(bind.stmt, 0));
    }
    btz_store_reset(&bind);
    return rc == 1 ? BTZ_OK : rc == 0 ? BTZ_ENOTFOUND : rc;
}

int btz_store_sieve_row_put(struct btz_store *store, int64_t no, struct btz_str key,
                            struct btz_str json, struct btz_err *err)
{
    struct btz_store_sieve_place place;
    struct btz_store_bind bind;
    struct btz_hash link;
    bool has = false;
    int rc = btz_store_need_write(store, err);

    if (rc == BTZ_OK &&
        (key.len == 0 || key.len > BTZ_STORE_SIEVE_KEY_MAX || json.len > BTZ_STORE_SIEVE_ROW_MAX ||
         memchr(key.ptr, 0, key.len) || (json.len && memchr(json.ptr, 0, json.len)))) {
        rc = btz_err_set(err, BTZ_ELIMIT,
                         "a row with a key of %zu bytes (at most %d) and %zu bytes (at most %d)",
                         key.len, BTZ_STORE_SIEVE_KEY_MAX, json.len, BTZ_STORE_SIEVE_ROW_MAX);
    }
    if (rc == BTZ_OK) {
        rc = btz_store_sieve_row_has(store, no, key, &has, err);
    }
    if (rc == BTZ_OK && has) {
        rc = btz_err_set(err, BTZ_EEXISTS, "the run has the row %.*s", BTZ_FMT(key));
    }
    if (rc != BTZ_OK || (rc = btz_store_begin(store, err)) != BTZ_OK ||
        (rc = btz_store_sieve_place(store, no, &place, err)) != BTZ_OK ||
        (rc = btz_store_stmt(store, ST_SIEVE_ROW_ADD, &bind, err)) != BTZ_OK) {
        return rc;
    }
    link = btz_store_link_sieve_row(&place.head, ++place.n, key, json);
    btz_store_bind_int(&bind, no);
    btz_store_bind_text(&bind, key);
    btz_store_bind_text(&bind, json);
    btz_store_bind_int(&bind, place.n);
    btz_store_bind_hash(&bind, &link);
    rc = btz_store_run_stmt(store, &bind, "a row cannot be written", err);
    return rc ? rc : btz_store_sieve_move(store, no, place.n, &link, err);
}

int btz_store_sieve_rows_each(struct btz_store *store, int64_t no, struct btz_str prefix,
                              int (*take)(void *context, struct btz_str key, struct btz_str json,
                                          struct btz_err *err),
                              void *context, struct btz_err *err)
{
    struct btz_store_bind bind;
    int rc = btz_store_stmt(store, ST_SIEVE_ROWS, &bind, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    btz_store_bind_int(&bind, no);
    btz_store_bind_text(&bind, prefix);
    while ((rc = btz_store_step(store, &bind, "rows cannot be read", err)) == 1) {
        rc = take(context, btz_store_col_text(bind.stmt, 0), btz_store_col_text(bind.stmt, 1), err);
        if (rc != BTZ_OK) {
            break;
        }
    }
    btz_store_reset(&bind);
    return rc;
}

static int reply_has(struct btz_store *store, int64_t no, const struct btz_store_sieve_reply *reply,
                     bool *out, struct btz_err *err)
{
    struct btz_store_bind bind;
    int rc = btz_store_stmt(store, ST_SIEVE_REPLY_GET, &bind, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    btz_store_bind_int(&bind, no);
    btz_store_bind_text(&bind, reply->model);
    btz_store_bind_hash(&bind, &reply->request);
    rc = btz_store_step(store, &bind, "replies cannot be read", err);
    btz_store_reset(&bind);
    *out = rc == 1;
    return rc < 0 ? rc : BTZ_OK;
}

int btz_store_sieve_reply_put(struct btz_store *store, int64_t no,
                              const struct btz_store_sieve_reply *reply, struct btz_err *err)
{
    struct btz_store_sieve_place place;
    struct btz_store_content content;
    struct btz_store_bind bind;
    struct btz_hash hash;
    struct btz_hash link;
    bool has = false;
    int rc = btz_store_need_write(store, err);

    if (rc == BTZ_OK) {
        rc = btz_store_check_text("model", reply->model, true, err);
    }
    if (rc == BTZ_OK && reply->bytes.len > BTZ_STORE_MAX_CONTENT) {
        rc = btz_err_set(err, BTZ_ELIMIT, "a reply of %zu bytes is too large", reply->bytes.len);
    }
    if (rc == BTZ_OK) {
        rc = reply_has(store, no, reply, &has, err);
    }
    if (rc != BTZ_OK || has || (rc = btz_store_begin(store, err)) != BTZ_OK ||
        (rc = btz_store_sieve_place(store, no, &place, err)) != BTZ_OK ||
        (rc = btz_store_content_put(store, reply->bytes, &content, err)) != BTZ_OK ||
        (rc = btz_store_stmt(store, ST_SIEVE_REPLY_ADD, &bind, err)) != BTZ_OK) {
        return rc;
    }
    hash = btz_hash_of(reply->bytes);
    link = btz_store_link_sieve_reply(&place.head, ++place.n, reply, &hash);
    btz_store_bind_int(&bind, no);
    btz_store_bind_text(&bind, reply->model);
    btz_store_bind_hash(&bind, &reply->request);
    btz_store_bind_int(&bind, reply->rejected);
    btz_store_bind_int(&bind, reply->took_us);
    btz_store_bind_int(&bind, reply->attempts);
    btz_store_bind_content(&bind, &content);
    btz_store_bind_int(&bind, place.n);
    btz_store_bind_hash(&bind, &link);
    rc = btz_store_run_stmt(store, &bind, "a reply cannot be written", err);
    return rc ? rc : btz_store_sieve_move(store, no, place.n, &link, err);
}

int btz_store_sieve_reply_get(struct btz_store *store, int64_t no, struct btz_str model,
                              const struct btz_hash *request, struct btz_arena *arena,
                              struct btz_store_sieve_reply *out, struct btz_err *err)
{
    struct btz_store_sieve_reply got = {.model = model, .request = *request};
    struct btz_store_reader reader;
    struct btz_store_bind bind;
    struct btz_hash hash;
    int rc = btz_store_stmt(store, ST_SIEVE_REPLY_GET, &bind, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    btz_store_bind_int(&bind, no);
    btz_store_bind_text(&bind, model);
    btz_store_bind_hash(&bind, request);
    rc = btz_store_step(store, &bind, "replies cannot be read", err);
    if (rc == 1) {
        got.rejected = sqlite3_column_int64(bind.stmt, 0) != 0;
        got.took_us = sqlite3_column_int64(bind.stmt, 1);
        got.attempts = sqlite3_column_int64(bind.stmt, 2);
        btz_store_reader_init(&reader, store, arena);
        rc = btz_store_reader_content(&reader, bind.stmt, 3, &got.bytes, &hash, err);
        btz_store_reader_fini(&reader);
    } else if (rc == 0) {
        rc = BTZ_ENOTFOUND;
    }
    btz_store_reset(&bind);
    if (rc == BTZ_OK) {
        *out = got;
    }
    return rc;
}

int btz_store_sieve_reply_sum(struct btz_store *store, int64_t no, struct btz_str model,
                              int64_t *replies, int64_t *took_us, struct btz_err *err)
{
    struct btz_store_bind bind;
    int rc = btz_store_stmt(store, ST_SIEVE_REPLY_SUM, &bind, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    btz_store_bind_int(&bind, no);
    btz_store_bind_text(&bind, model);
    rc = btz_store_step(store, &bind, "replies cannot be read", err);
    if (rc == 1) {
        *replies = sqlite3_column_int64(bind.stmt, 0);
        *took_us = sqlite3_column_int64(bind.stmt, 1);
        rc = BTZ_OK;
    }
    btz_store_reset(&bind);
    return rc;
}

int btz_store_sieve_commit(struct btz_store *store, struct btz_err *err)
{
    int rc = btz_store_need_write(store, err);

    return rc != BTZ_OK ? rc : btz_store_flush(store, err);
}
