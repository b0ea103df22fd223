/* Runs: made, found, listed, ended. */
#include "store/store_int.h"

#include <stdio.h>

#include "base/rng.h"

/* Crockford's base 32 without i, l, o, u; lower case, in order of value. */
static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";

/* Seconds in an id count from 2025-01-01T00:00:00Z, so that six digits last for 34 years. */
enum { ID_EPOCH = 1735689600, ID_LEN = BTZ_STORE_ID_SIZE - 1, ID_TIME = 6 };

void btz_store_id_make(int64_t created_us, uint64_t salt, char *id)
{
    int64_t seconds = created_us / 1000000 - ID_EPOCH;
    uint64_t value = seconds > 0 ? (uint64_t)seconds : 0;

    for (int i = ID_TIME - 1; i >= 0; i--) {
        id[i] = digits[value & 31];
        value >>= 5;
    }
    for (int i = ID_TIME; i < ID_LEN; i++) {
        id[i] = digits[salt & 31];
        salt >>= 5;
    }
    id[ID_LEN] = '\0';
}

/* An id that no run has yet. */
static int free_id(struct btz_store *store, int64_t created_us, char *id, struct btz_err *err)
{
    struct btz_rng rng = btz_rng_of((uint64_t)store->session ^ (uint64_t)created_us);

    for (unsigned tries = 0; tries < 1000; tries++) {
        struct btz_store_bind bind;
        int rc = btz_store_stmt(store, ST_RUN_HAS, &bind, err);

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

static int add_cell(struct btz_store *store, int64_t no, size_t ordinal,
                    const struct btz_store_cell *cell, struct btz_str key, struct btz_err *err)
{
    struct btz_store_bind bind;
    int rc = btz_store_stmt(store, ST_CELL_ADD, &bind, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    btz_store_bind_int(&bind, no);
    btz_store_bind_int(&bind, (int64_t)ordinal);
    btz_store_bind_text(&bind, key);
    btz_store_bind_text(&bind, cell->model);
    btz_store_bind_text(&bind, cell->architecture);
    btz_store_bind_text(&bind, cell->defence);
    btz_store_bind_text(&bind, cell->revision);
    btz_store_bind_text(&bind, cell->host_profile);
    btz_store_bind_text(&bind, cell->surface);
    btz_store_bind_text(&bind, cell->attack);
    btz_store_bind_text(&bind, cell->variant);
    btz_store_bind_text(&bind, cell->boundary);
    btz_store_bind_text(&bind, cell->arm);
    btz_store_bind_int(&bind, cell->repetition);
    btz_store_bind_int(&bind, cell->applicable);
    btz_store_bind_text(&bind, cell->why);
    rc = btz_store_run_stmt(store, &bind, "a cell cannot be written", err);
    if (rc == BTZ_EINTERNAL && sqlite3_extended_errcode(store->db) == SQLITE_CONSTRAINT_UNIQUE) {
        rc = btz_err_set(err, BTZ_EEXISTS, "the plan has the cell %.*s twice",
                         (int)(key.len < 500 ? key.len : 500), key.ptr);
    }
    return rc;
}

static int add_cells(struct btz_store *store, int64_t no, const struct btz_store_plan *plan,
                     struct btz_hash *hash, struct btz_err *err)
{
    struct btz_hasher *hasher = btz_hasher_new();
    struct btz_store_cell given;
    int rc = BTZ_OK;

    for (size_t i = 0; i < plan->cell_count; i++) {
        const struct btz_store_cell *cell = plan->cells ? &plan->cells[i] : &given;
        struct btz_str key;

        if (!plan->cells && (rc = plan->cell_at(plan->data, i, &given, err)) != BTZ_OK) {
            goto out;
        }
        rc = btz_store_check_cell(cell, err);
        if (rc != BTZ_OK) {
            btz_err_prefix(err, "planned cell %zu: ", i);
            goto out;
        }
        btz_arena_reset(store->arena);
        key = btz_store_cell_key(store->arena, cell);
        btz_store_link_cell(hasher, key, cell);
        rc = add_cell(store, no, i, cell, key, err);
        if (rc != BTZ_OK) {
            goto out;
        }
    }
    *hash = btz_hasher_end(hasher);
out:
    btz_hasher_free(hasher);
    return rc;
}

int btz_store_run_insert(struct btz_store *store, const char *id, const struct btz_store_plan *plan,
                         int64_t *out, struct btz_err *err)
{
    struct btz_hash provenance;
    struct btz_hash cells;
    struct btz_hash genesis;
    struct btz_store_bind bind;
    int64_t blob;
    int64_t no;
    int rc = btz_store_check_text("study", plan->study, true, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    if (plan->cell_count > BTZ_STORE_MAX_CELLS || plan->provenance.len > BTZ_STORE_MAX_CONTENT) {
        return btz_err_set(err, BTZ_ELIMIT,
                           "a run has %zu cells (at most %d) and a card of %zu bytes (at most %d)",
                           plan->cell_count, BTZ_STORE_MAX_CELLS, plan->provenance.len,
                           BTZ_STORE_MAX_CONTENT);
    }
    rc = btz_store_blob_put(store, plan->provenance, &provenance, &blob, err);
    if (rc != BTZ_OK || (rc = btz_store_stmt(store, ST_RUN_ADD, &bind, err)) != BTZ_OK) {
        return rc;
    }
    btz_store_bind_text(&bind, btz_str_of(id));
    btz_store_bind_text(&bind, plan->study);
    btz_store_bind_int(&bind, plan->created_us);
    btz_store_bind_int(&bind, blob);
    rc = btz_store_run_stmt(store, &bind, "the run cannot be written", err);
    if (rc != BTZ_OK) {
        return rc;
    }
    no = sqlite3_last_insert_rowid(store->db);
    rc = add_cells(store, no, plan, &cells, err);
    if (rc != BTZ_OK || (rc = btz_store_stmt(store, ST_RUN_GENESIS, &bind, err)) != BTZ_OK) {
        return rc;
    }
    genesis = btz_store_link_genesis(id, plan->created_us, plan->study, &provenance,
                                     plan->cell_count, &cells);
    btz_store_bind_int(&bind, no);
    btz_store_bind_hash(&bind, &genesis);
    rc = btz_store_run_stmt(store, &bind, "the run cannot be written", err);
    if (rc == BTZ_OK) {
        *out = no;
    }
    return rc;
}

/* The run gets this writer's session, in the open transaction. */
static int attach(struct btz_store *store, int64_t no, struct btz_err *err)
{
    struct btz_store_bind bind;
    int rc = btz_store_stmt(store, ST_RUN_ATTACH, &bind, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    btz_store_bind_int(&bind, no);
    btz_store_bind_int(&bind, store->session);
    rc = btz_store_step(store, &bind, "the run cannot be written", err);
    btz_store_reset(&bind);
    if (rc == 0) {
        return btz_err_set(err, BTZ_ENOTFOUND, "there is no run number %lld", (long long)no);
    }
    return rc < 0 ? rc : BTZ_OK;
}

int btz_store_run_new(struct btz_store *store, const struct btz_store_plan *plan, int64_t *no,
                      char *id, struct btz_err *err)
{
    char made[BTZ_STORE_ID_SIZE];
    int64_t made_no;
    int rc = btz_store_need_write(store, err);

    if (rc != BTZ_OK || (rc = btz_store_flush(store, err)) != BTZ_OK ||
        (rc = btz_store_begin(store, err)) != BTZ_OK) {
        return rc;
    }
    rc = free_id(store, plan->created_us, made, err);
    if (rc == BTZ_OK) {
        rc = btz_store_run_insert(store, made, plan, &made_no, err);
    }
    if (rc == BTZ_OK) {
        rc = attach(store, made_no, err);
    }
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

int btz_store_run_attach(struct btz_store *store, int64_t no, struct btz_err *err)
{
    int rc = btz_store_need_write(store, err);

    if (rc != BTZ_OK || (rc = btz_store_flush(store, err)) != BTZ_OK ||
        (rc = btz_store_begin(store, err)) != BTZ_OK) {
        return rc;
    }
    rc = attach(store, no, err);
    if (rc == BTZ_OK) {
        rc = btz_store_commit(store, err);
    }
    if (rc != BTZ_OK) {
        btz_store_rollback(store);
    }
    return rc;
}

int btz_store_run_ended(struct btz_store *store, int64_t no, struct btz_str reason, int64_t at_us,
                        struct btz_err *err)
{
    struct btz_store_bind bind;
    int rc = btz_store_stmt(store, ST_RUN_END, &bind, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    btz_store_bind_int(&bind, no);
    btz_store_bind_int(&bind, at_us);
    btz_store_bind_text(&bind, reason);
    rc = btz_store_step(store, &bind, "the run cannot be written", err);
    btz_store_reset(&bind);
    if (rc == 0) {
        return btz_err_set(err, BTZ_ENOTFOUND, "there is no run number %lld", (long long)no);
    }
    return rc < 0 ? rc : BTZ_OK;
}

int btz_store_run_end(struct btz_store *store, int64_t no, struct btz_str reason, int64_t now_us,
                      struct btz_err *err)
{
    int rc = btz_store_need_write(store, err);

    if (rc != BTZ_OK || (rc = btz_store_check_text("reason", reason, false, err)) != BTZ_OK ||
        (rc = btz_store_flush(store, err)) != BTZ_OK ||
        (rc = btz_store_begin(store, err)) != BTZ_OK) {
        return rc;
    }
    rc = btz_store_run_ended(store, no, reason, now_us, err);
    if (rc == BTZ_OK) {
        rc = btz_store_commit(store, err);
    }
    if (rc != BTZ_OK) {
        btz_store_rollback(store);
    }
    return rc;
}

/* One run from a row of RUN_COLUMNS (sql.c). `holder`: session of the living writer, 0 = none. */
static int read_run(struct btz_store *store, sqlite3_stmt *stmt, int64_t holder,
                    struct btz_arena *arena, struct btz_store_run *out, struct btz_err *err)
{
    struct btz_str id = btz_store_col_text(stmt, 1);
    struct btz_str study = btz_store_col_text(stmt, 2);
    struct btz_str reason = btz_store_col_text(stmt, 10);
    int64_t session = sqlite3_column_int64(stmt, 8);

    *out = (struct btz_store_run){
        .no = sqlite3_column_int64(stmt, 0),
        .study = btz_arena_dup(arena, btz_store_clip(study)),
        .created_us = sqlite3_column_int64(stmt, 3),
        .ended_us = sqlite3_column_int64(stmt, 9),
        .end_reason = btz_arena_dup(arena, btz_store_clip(reason)),
        .trials = sqlite3_column_int64(stmt, 6),
        .events = sqlite3_column_int64(stmt, 7),
        .planned = sqlite3_column_int64(stmt, 11),
        .not_applicable = sqlite3_column_int64(stmt, 12),
        .finished = sqlite3_column_int64(stmt, 13),
        .faults = sqlite3_column_int64(stmt, 14),
    };
    if (id.len >= sizeof(out->id) || !btz_store_col_hash(stmt, 4, &out->genesis) ||
        !btz_store_col_hash(stmt, 5, &out->head)) {
        return btz_err_set(err, BTZ_ECORRUPT, "row %lld of the table run in %s is damaged",
                           (long long)out->no, store->path);
    }
    memcpy(out->id, id.ptr, id.len);
    if (out->finished >= out->planned) {
        out->status = BTZ_STORE_RUN_DONE;
    } else {
        out->status =
            session && session == holder ? BTZ_STORE_RUN_RUNNING : BTZ_STORE_RUN_INTERRUPTED;
    }
    return BTZ_OK;
}

static int64_t holder_of(const struct btz_store *store)
{
    return store->mode == BTZ_STORE_WRITE ? store->session : btz_store_lock_holder(store->path);
}

/* Runs the statement to its end; the rows are read_run's, doubling in the arena. */
static int collect(struct btz_store *store, struct btz_store_bind *bind, struct btz_arena *arena,
                   struct btz_store_run **out, size_t *count, struct btz_err *err)
{
    int64_t holder = holder_of(store);
    struct btz_store_run *runs = NULL;
    size_t len = 0;
    size_t cap = 0;
    int rc;

    while ((rc = btz_store_step(store, bind, "runs cannot be read", err)) == 1) {
        if (len == BTZ_STORE_MAX_RUNS) {
            rc = btz_err_set(err, BTZ_ELIMIT, "the store %s has more than %d runs", store->path,
                             BTZ_STORE_MAX_RUNS);
            break;
        }
        if (len == cap) {
            struct btz_store_run *more;

            cap = cap ? cap * 2 : 8;
            more = btz_arena_array(arena, cap, sizeof(*more));
            if (len) {
                memcpy(more, runs, len * sizeof(*more));
            }
            runs = more;
        }
        rc = read_run(store, bind->stmt, holder, arena, &runs[len], err);
        if (rc != BTZ_OK) {
            break;
        }
        len++;
    }
    btz_store_reset(bind);
    if (rc == BTZ_OK) {
        *out = runs;
        *count = len;
    }
    return rc;
}

int btz_store_runs(struct btz_store *store, struct btz_arena *arena, struct btz_store_run **out,
                   size_t *count, struct btz_err *err)
{
    struct btz_store_bind bind;
    int rc = btz_store_stmt(store, ST_RUN_ALL, &bind, err);

    return rc != BTZ_OK ? rc : collect(store, &bind, arena, out, count, err);
}

int btz_store_run_get(struct btz_store *store, int64_t no, struct btz_arena *arena,
                      struct btz_store_run *out, struct btz_err *err)
{
    struct btz_store_bind bind;
    struct btz_store_run *runs;
    size_t count;
    int rc = btz_store_stmt(store, ST_RUN_ONE, &bind, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    btz_store_bind_int(&bind, no);
    rc = collect(store, &bind, arena, &runs, &count, err);
    if (rc != BTZ_OK) {
        return rc;
    }
    if (count == 0) {
        return btz_err_set(err, BTZ_ENOTFOUND, "there is no run number %lld", (long long)no);
    }
    *out = runs[0];
    return BTZ_OK;
}

static int ambiguous(struct btz_str ref, const struct btz_store_run *runs, size_t count,
                     struct btz_err *err)
{
    char list[8 * (BTZ_STORE_ID_SIZE + 2) + 8];
    size_t len = 0;

    for (size_t i = 0; i < count && i < 8; i++) {
        len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "", runs[i].id);
    }
    return btz_err_set(err, BTZ_EUSAGE, "\"%.*s\" begins several run ids: %s%s; give more letters",
                       BTZ_FMT(ref), list, count > 8 ? ", ..." : "");
}

int btz_store_run_find(struct btz_store *store, struct btz_str ref, struct btz_arena *arena,
                       struct btz_store_run *out, struct btz_err *err)
{
    bool last = btz_str_is(ref, "last");
    char low[BTZ_STORE_ID_SIZE];
    struct btz_store_bind bind;
    struct btz_store_run *runs;
    size_t count;
    int rc;

    if (!last && (ref.len == 0 || ref.len > ID_LEN)) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "\"%.40s\" is no run: expected \"last\", an id of %d characters or the "
                           "beginning of one; `bartizan list runs` lists them",
                           ref.len ? btz_arena_cstr(arena, ref) : "", ID_LEN);
    }
    rc = btz_store_stmt(store, last ? ST_RUN_LAST : ST_RUN_PREFIX, &bind, err);
    if (rc != BTZ_OK) {
        return rc;
    }
    if (!last) {
        for (size_t i = 0; i < ref.len; i++) {
            low[i] = ref.ptr[i] >= 'A' && ref.ptr[i] <= 'Z' ? (char)(ref.ptr[i] + 32) : ref.ptr[i];
        }
        btz_store_bind_text(&bind, (struct btz_str){low, ref.len});
    }
    rc = collect(store, &bind, arena, &runs, &count, err);
    if (rc != BTZ_OK) {
        return rc;
    }
    if (count == 0 && last) {
        return btz_err_set(err, BTZ_ENOTFOUND, "the store %s has no runs yet", store->path);
    }
    if (count == 0) {
        return btz_err_set(err, BTZ_ENOTFOUND,
                           "no run in %s has an id that begins with \"%.*s\"; `bartizan list runs` "
                           "lists them",
                           store->path, BTZ_FMT(ref));
    }
    if (count > 1) {
        return ambiguous(ref, runs, count, err);
    }
    *out = runs[0];
    return BTZ_OK;
}

int btz_store_ref_split(struct btz_str text, struct btz_str *run, int64_t *n, struct btz_err *err)
{
    struct btz_str rest = text;
    struct btz_str head;
    int64_t number = 0;

    if (!btz_str_cut(&rest, '/', &head) || head.len == 0 ||
        (rest.ptr && (btz_str_int64(rest, &number) != BTZ_OK || number < 1))) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "\"%.*s\" is no run or trial: expected RUN or RUN/N with N from 1",
                           (int)(text.len < 80 ? text.len : 80), text.ptr ? text.ptr : "");
    }
    *run = head;
    *n = number;
    return BTZ_OK;
}

int btz_store_provenance(struct btz_store *store, int64_t no, struct btz_arena *arena,
                         struct btz_str *out, struct btz_err *err)
{
    struct btz_store_reader reader;
    struct btz_store_bind bind;
    struct btz_hash hash;
    int rc = btz_store_stmt(store, ST_RUN_CARD, &bind, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    btz_store_reader_init(&reader, store, arena);
    btz_store_bind_int(&bind, no);
    rc = btz_store_step(store, &bind, "the run cannot be read", err);
    if (rc == 1) {
        rc = btz_store_reader_content(&reader, bind.stmt, 0, out, &hash, err);
    } else if (rc == 0) {
        rc = btz_err_set(err, BTZ_ENOTFOUND, "there is no run number %lld", (long long)no);
    }
    btz_store_reset(&bind);
    btz_store_reader_fini(&reader);
    return rc;
}
