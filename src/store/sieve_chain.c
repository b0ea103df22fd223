/* The hash chain of a sieve run: SHA-256 over tagged lists of parts, each with its length before it
 * (base/hash.h). What is hashed here is part of the file format: a change is a new tag. */
#include <stdio.h>

#include "store/sieve.h"
#include "store/store_int.h"

enum { COLUMN_CONTENT = 9 };

static void add_int(struct btz_hasher *hasher, int64_t value)
{
    char text[32];

    snprintf(text, sizeof(text), "%lld", (long long)value);
    btz_hasher_add_part(hasher, btz_str_of(text));
}

static void add_hash(struct btz_hasher *hasher, const struct btz_hash *hash)
{
    btz_hasher_add_part(hasher, (struct btz_str){(const char *)hash->bytes, sizeof(hash->bytes)});
}

static struct btz_hash end(struct btz_hasher *hasher)
{
    struct btz_hash hash = btz_hasher_end(hasher);

    btz_hasher_free(hasher);
    return hash;
}

static struct btz_hasher *begin(const char *tag, const struct btz_hash *prev, int64_t n)
{
    struct btz_hasher *hasher = btz_hasher_new();

    btz_hasher_add_part(hasher, btz_str_of(tag));
    add_hash(hasher, prev);
    add_int(hasher, n);
    return hasher;
}

static struct btz_hash genesis_of(struct btz_str id, struct btz_str kind, int64_t created_us,
                                  struct btz_str card)
{
    struct btz_hasher *hasher = btz_hasher_new();

    btz_hasher_add_part(hasher, BTZ_STR("bartizan sieve run 1"));
    btz_hasher_add_part(hasher, id);
    btz_hasher_add_part(hasher, kind);
    add_int(hasher, created_us);
    btz_hasher_add_part(hasher, card); /* its hash */
    return end(hasher);
}

struct btz_hash btz_store_link_sieve_row(const struct btz_hash *prev, int64_t n, struct btz_str key,
                                         struct btz_str json)
{
    struct btz_hasher *hasher = begin("row 1", prev, n);

    btz_hasher_add_part(hasher, key);
    btz_hasher_add_part(hasher, json);
    return end(hasher);
}

struct btz_hash btz_store_link_sieve_reply(const struct btz_hash *prev, int64_t n,
                                           const struct btz_store_sieve_reply *reply,
                                           const struct btz_hash *bytes)
{
    struct btz_hasher *hasher = begin("reply 1", prev, n);

    btz_hasher_add_part(hasher, reply->model);
    add_hash(hasher, &reply->request);
    add_int(hasher, reply->rejected);
    add_int(hasher, reply->took_us);
    add_int(hasher, reply->attempts);
    add_hash(hasher, bytes);
    return end(hasher);
}

static int hash_at(sqlite3_stmt *stmt, int column, struct btz_hash *out, struct btz_err *err)
{
    const void *bytes = sqlite3_column_blob(stmt, column);

    if (!bytes || sqlite3_column_bytes(stmt, column) != (int)sizeof(out->bytes)) {
        return btz_err_set(err, BTZ_ECORRUPT, "a hash of a sieve run is damaged");
    }
    memcpy(out->bytes, bytes, sizeof(out->bytes));
    return BTZ_OK;
}

/* The place, and what the chain begins with. */
static int read_place(struct btz_store *store, int64_t no, struct btz_store_sieve_place *out,
                      struct btz_hash *genesis, struct btz_err *err)
{
    struct btz_store_bind bind;
    struct btz_hash card;
    int rc = btz_store_stmt(store, ST_SIEVE_PLACE, &bind, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    btz_store_bind_int(&bind, no);
    rc = btz_store_step(store, &bind, "sieve runs cannot be read", err);
    if (rc == 1) {
        rc = hash_at(bind.stmt, 5, &card, err);
        if (rc == BTZ_OK) {
            *genesis =
                genesis_of(btz_store_col_text(bind.stmt, 2), btz_store_col_text(bind.stmt, 3),
                           sqlite3_column_int64(bind.stmt, 4),
                           (struct btz_str){(const char *)card.bytes, sizeof(card.bytes)});
            out->n = sqlite3_column_int64(bind.stmt, 0);
            out->head = *genesis;
        }
        if (rc == BTZ_OK && out->n > 0) {
            rc = hash_at(bind.stmt, 1, &out->head, err);
        }
    } else if (rc == 0) {
        rc = btz_err_set(err, BTZ_ENOTFOUND, "there is no sieve run number %lld", (long long)no);
    }
    btz_store_reset(&bind);
    return rc;
}

int btz_store_sieve_place(struct btz_store *store, int64_t no, struct btz_store_sieve_place *out,
                          struct btz_err *err)
{
    struct btz_hash genesis;

    return read_place(store, no, out, &genesis, err);
}

int btz_store_sieve_move(struct btz_store *store, int64_t no, int64_t n,
                         const struct btz_hash *head, struct btz_err *err)
{
    struct btz_store_bind bind;
    int rc = btz_store_stmt(store, ST_SIEVE_MOVE, &bind, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    btz_store_bind_int(&bind, no);
    btz_store_bind_int(&bind, n);
    btz_store_bind_hash(&bind, head);
    return btz_store_run_stmt(store, &bind, "the sieve run cannot be written", err);
}

/* ---- checking ---- */

struct walk {
    struct btz_store_reader reader;
    struct btz_store_sieve_check *check;
    int64_t n;
};

/* One link; damage goes into `why`. */
static int check_link(struct walk *w, sqlite3_stmt *stmt, struct btz_err *why)
{
    bool is_reply = sqlite3_column_int64(stmt, 2) != 0;
    struct btz_str name = btz_store_col_text(stmt, 3);
    struct btz_store_sieve_reply reply = {.model = name};
    struct btz_hash stored;
    struct btz_hash bytes;
    struct btz_hash link;
    int rc = hash_at(stmt, 1, &stored, why);

    if (rc == BTZ_OK && sqlite3_column_int64(stmt, 0) != w->n) {
        rc = btz_err_set(why, BTZ_ECORRUPT, "link %lld of the chain is not there", (long long)w->n);
    }
    if (rc == BTZ_OK && is_reply) {
        rc = hash_at(stmt, 5, &reply.request, why);
        rc = rc ? rc
                : btz_store_reader_content(&w->reader, stmt, COLUMN_CONTENT, &reply.bytes, &bytes,
                                           why);
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    if (is_reply) {
        bytes = btz_hash_of(reply.bytes);
        reply.rejected = sqlite3_column_int64(stmt, 6) != 0;
        reply.took_us = sqlite3_column_int64(stmt, 7);
        reply.attempts = sqlite3_column_int64(stmt, 8);
        link = btz_store_link_sieve_reply(&w->check->head, w->n, &reply, &bytes);
    } else {
        link = btz_store_link_sieve_row(&w->check->head, w->n, name, btz_store_col_text(stmt, 4));
    }
    if (!btz_hash_eq(&link, &stored)) {
        return btz_err_set(why, BTZ_ECORRUPT, "%s %.*s does not fit the chain",
                           is_reply ? "a reply of" : "the row", BTZ_FMT(btz_str_sub(name, 0, 300)));
    }
    w->check->head = link;
    w->check->rows += !is_reply;
    w->check->replies += is_reply;
    return BTZ_OK;
}

static int count_loose(struct btz_store *store, int64_t no, int64_t *out, struct btz_err *err)
{
    struct btz_store_bind bind;
    int rc = btz_store_stmt(store, ST_SIEVE_LOOSE, &bind, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    btz_store_bind_int(&bind, no);
    rc = btz_store_step(store, &bind, "rows cannot be read", err);
    if (rc == 1) {
        *out = sqlite3_column_int64(bind.stmt, 0);
    }
    btz_store_reset(&bind);
    return rc < 0 ? rc : BTZ_OK;
}

static int walk_links(struct btz_store *store, int64_t no, struct walk *w, struct btz_arena *arena,
                      struct btz_err *err, struct btz_err *why)
{
    struct btz_store_bind bind;
    int rc = btz_store_stmt(store, ST_SIEVE_CHAIN, &bind, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    btz_store_bind_int(&bind, no);
    while ((rc = btz_store_step(store, &bind, "rows cannot be read", err)) == 1) {
        btz_arena_reset(arena);
        btz_store_reader_init(&w->reader, store, arena);
        w->n++;
        rc = check_link(w, bind.stmt, why);
        btz_store_reader_fini(&w->reader);
        if (rc != BTZ_OK) {
            break;
        }
    }
    btz_store_reset(&bind);
    return rc;
}

int btz_store_sieve_verify(struct btz_store *store, int64_t no, struct btz_store_sieve_check *out,
                           struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    struct walk w = {.check = out};
    struct btz_store_sieve_place place = {0};
    struct btz_err why = {0};
    int rc;

    *out = (struct btz_store_sieve_check){.ok = false};
    rc = read_place(store, no, &place, &out->head, &why);
    if (rc == BTZ_OK) {
        rc = count_loose(store, no, &out->unchained, err);
        rc = rc ? rc : walk_links(store, no, &w, arena, err, &why);
    } else if (rc != BTZ_ECORRUPT && err) {
        *err = why;
    }
    if (rc == BTZ_OK && (w.n != place.n || !btz_hash_eq(&out->head, &place.head))) {
        rc = btz_err_set(&why, BTZ_ECORRUPT,
                         "the chain of %lld rows and replies does not end at the head that the run "
                         "has (%lld)",
                         (long long)w.n, (long long)place.n);
    }
    out->ok = rc == BTZ_OK;
    if (rc == BTZ_ECORRUPT || rc == BTZ_ELIMIT) {
        snprintf(out->what, sizeof(out->what), "%s", why.msg);
        rc = BTZ_OK;
    }
    btz_arena_free(arena);
    return rc;
}
