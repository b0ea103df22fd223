/* Reading one trial whole, and on the way checking it against the chain. */
#include "store/store_int.h"

struct loader {
    struct btz_store *store;
    struct btz_arena *arena;
    struct btz_store_reader reader;
    struct btz_store_walk *walk; /* NULL: links are not looked at */
    struct btz_hash *digests;    /* of exchanges, verdicts, findings; next free one */
    int64_t id;
    int64_t n;
};

static int damaged(const struct loader *l, const char *what, int64_t ordinal, struct btz_err *err)
{
    return btz_err_set(err, BTZ_ECORRUPT, "%s %lld of trial %lld is damaged", what,
                       (long long)ordinal, (long long)l->n);
}

/* Starts reading the rows of one list of the trial. */
static int open_list(struct loader *l, enum btz_store_stmt which, struct btz_store_bind *bind,
                     struct btz_err *err)
{
    int rc = btz_store_stmt(l->store, which, bind, err);

    if (rc == BTZ_OK) {
        btz_store_bind_int(bind, l->id);
    }
    return rc;
}

/* Steps to row `expected` of a list: BTZ_OK, or ECORRUPT if it is missing or out of order. */
static int next_row(struct loader *l, struct btz_store_bind *bind, const char *what,
                    size_t expected, struct btz_err *err)
{
    int rc = btz_store_step(l->store, bind, "a trial cannot be read", err);

    if (rc < 0) {
        return rc;
    }
    if (rc == 0 || sqlite3_column_int64(bind->stmt, 0) != (int64_t)expected) {
        return btz_err_set(err, BTZ_ECORRUPT, "%s %zu of trial %lld is missing", what, expected,
                           (long long)l->n);
    }
    return BTZ_OK;
}

static int no_more(struct loader *l, struct btz_store_bind *bind, const char *what, size_t count,
                   struct btz_err *err)
{
    int rc = btz_store_step(l->store, bind, "a trial cannot be read", err);

    return rc == 1 ? btz_err_set(err, BTZ_ECORRUPT, "trial %lld has more than its %zu %ss",
                                 (long long)l->n, count, what)
                   : rc;
}

/* ---- events ---- */

static int load_event(struct loader *l, sqlite3_stmt *stmt, size_t ordinal,
                      struct btz_store_event *out, struct btz_err *err)
{
    struct btz_store_columns c = {.stmt = stmt, .next = 1};
    bool known = btz_store_layer_of(btz_store_next_text(&c), &out->layer);
    struct btz_hash payload;
    struct btz_hash stored;
    int rc;

    out->kind = btz_arena_dup(l->arena, btz_store_next_text(&c));
    out->visible = btz_store_next_bool(&c);
    out->turn = btz_store_next_int32(&c);
    out->at_us = btz_store_next_int(&c);
    rc = btz_store_reader_content(&l->reader, stmt, c.next, &out->payload, &payload, err);
    c.next += 2;
    stored = btz_store_next_hash(&c);
    if (rc != BTZ_OK) {
        return rc;
    }
    if (c.damaged || !known) {
        return damaged(l, "event", (int64_t)ordinal, err);
    }
    if (l->walk) {
        l->walk->head = btz_store_link_event(&l->walk->head, l->n, ordinal, out, &payload);
        if (!btz_hash_eq(&l->walk->head, &stored)) {
            return btz_err_set(err, BTZ_ECORRUPT, "event %zu of trial %lld does not fit the chain",
                               ordinal, (long long)l->n);
        }
        l->walk->events++;
    }
    return BTZ_OK;
}

static int load_events(struct loader *l, struct btz_store_trial *t, struct btz_err *err)
{
    struct btz_store_bind bind;
    size_t i = 0;
    int rc = open_list(l, ST_EVENT_GET, &bind, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    t->events = btz_arena_array(l->arena, t->event_count, sizeof(*t->events));
    for (; rc == BTZ_OK && i < t->event_count; i++) {
        rc = next_row(l, &bind, "event", i, err);
        if (rc == BTZ_OK) {
            rc = load_event(l, bind.stmt, i, &t->events[i], err);
        }
        if (rc != BTZ_OK && l->walk) {
            l->walk->bad_event = (int64_t)i;
        }
    }
    if (rc == BTZ_OK) {
        rc = no_more(l, &bind, "event", t->event_count, err);
        if (rc != BTZ_OK && l->walk) {
            l->walk->bad_event = (int64_t)t->event_count;
        }
    }
    btz_store_reset(&bind);
    return rc;
}

/* ---- exchanges ---- */

/* The blob ids of "[1,2,3]", exactly as put writes them. False if the text is anything else. */
static bool read_ids(struct btz_str text, int64_t *ids, size_t max, size_t *count)
{
    struct btz_str rest;
    struct btz_str part;
    size_t len = 0;

    if (text.len < 2 || text.ptr[0] != '[' || text.ptr[text.len - 1] != ']') {
        return false;
    }
    rest = btz_str_sub(text, 1, text.len - 2);
    while (rest.len && btz_str_cut(&rest, ',', &part)) {
        if (len == max || btz_str_int64(part, &ids[len++]) != BTZ_OK) {
            return false;
        }
    }
    *count = len;
    return true;
}

static int load_parts(struct loader *l, const struct btz_store_exchange *all, size_t index,
                      int64_t kept, struct btz_str ids_text, struct btz_hash **hashes,
                      struct btz_err *err)
{
    struct btz_store_exchange *this = (struct btz_store_exchange *)&all[index];
    const struct btz_store_exchange *before = btz_store_exchange_before(all, index);
    struct btz_hash *hash;
    int64_t *ids;
    size_t count = 0;
    size_t from;

    if (ids_text.len > BTZ_STORE_PARTS_TEXT_MAX || kept < 0 || kept > BTZ_STORE_MAX_PARTS ||
        (kept > 0 && (!before || (size_t)kept > before->part_count))) {
        return damaged(l, "exchange", (int64_t)index, err);
    }
    ids = btz_arena_array(l->arena, ids_text.len / 2 + 1, sizeof(*ids));
    if (!read_ids(ids_text, ids, BTZ_STORE_MAX_PARTS - (size_t)kept, &count)) {
        return damaged(l, "exchange", (int64_t)index, err);
    }
    from = (size_t)kept;
    this->part_count = from + count;
    this->parts = btz_arena_array(l->arena, this->part_count, sizeof(*this->parts));
    hash = btz_arena_array(l->arena, this->part_count, sizeof(*hash));
    for (size_t i = 0; i < from; i++) {
        this->parts[i] = before->parts[i];
        hash[i] = hashes[before - all][i];
    }
    for (size_t i = 0; i < count; i++) {
        int rc =
            btz_store_reader_blob(&l->reader, ids[i], &this->parts[from + i], &hash[from + i], err);

        if (rc != BTZ_OK) {
            return rc;
        }
    }
    hashes[index] = hash;
    return BTZ_OK;
}

static int load_exchange(struct loader *l, sqlite3_stmt *stmt, struct btz_store_exchange *all,
                         size_t index, struct btz_hash **hashes, struct btz_err *err)
{
    struct btz_store_columns c = {.stmt = stmt, .next = 1};
    struct btz_store_exchange *out = &all[index];
    struct btz_hash reply;
    struct btz_str ids;
    int64_t kept;
    int rc;

    out->role = btz_arena_dup(l->arena, btz_store_next_text(&c));
    out->turn = btz_store_next_int32(&c);
    kept = btz_store_next_int(&c);
    ids = btz_store_col_text(stmt, c.next++);
    rc = load_parts(l, all, index, kept, ids, hashes, err);
    if (rc == BTZ_OK) {
        rc = btz_store_reader_content(&l->reader, stmt, c.next, &out->reply, &reply, err);
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    c.next += 2;
    out->model = btz_arena_dup(l->arena, btz_store_next_text(&c));
    out->stop = btz_arena_dup(l->arena, btz_store_next_text(&c));
    out->status = btz_store_next_int32(&c);
    out->at_us = btz_store_next_int(&c);
    out->took_us = btz_store_next_int(&c);
    out->tokens = btz_store_next_tokens(&c);
    *l->digests++ = btz_store_link_exchange(out, hashes[index], &reply);
    return c.damaged ? damaged(l, "exchange", (int64_t)index, err) : BTZ_OK;
}

static int load_exchanges(struct loader *l, struct btz_store_trial *t, struct btz_err *err)
{
    struct btz_hash **hashes = btz_arena_array(l->arena, t->exchange_count, sizeof(*hashes));
    struct btz_store_bind bind;
    size_t parts = 0;
    int rc = open_list(l, ST_EXCHANGE_GET, &bind, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    t->exchanges = btz_arena_array(l->arena, t->exchange_count, sizeof(*t->exchanges));
    for (size_t i = 0; rc == BTZ_OK && i < t->exchange_count; i++) {
        rc = next_row(l, &bind, "exchange", i, err);
        if (rc == BTZ_OK) {
            rc = load_exchange(l, bind.stmt, t->exchanges, i, hashes, err);
        }
        parts += t->exchanges[i].part_count;
        if (rc == BTZ_OK && parts > BTZ_STORE_TRIAL_PARTS) {
            rc = damaged(l, "exchange", (int64_t)i, err);
        }
    }
    if (rc == BTZ_OK) {
        rc = no_more(l, &bind, "exchange", t->exchange_count, err);
    }
    btz_store_reset(&bind);
    return rc;
}

/* ---- verdicts and findings ---- */

int btz_store_verdict_read(struct btz_store_reader *reader, sqlite3_stmt *stmt,
                           struct btz_store_verdict *out, struct btz_hash *json,
                           struct btz_err *err)
{
    struct btz_store_columns c = {.stmt = stmt, .next = 2};
    int rc;

    out->source = btz_arena_dup(reader->arena, btz_store_next_text(&c));
    out->name = btz_arena_dup(reader->arena, btz_store_next_text(&c));
    out->version = btz_arena_dup(reader->arena, btz_store_next_text(&c));
    out->success = btz_store_next_tri(&c);
    out->act_event = btz_store_next_int32(&c);
    out->effect_event = btz_store_next_int32(&c);
    out->at_us = btz_store_next_int(&c);
    rc = btz_store_reader_content(reader, stmt, c.next, &out->json, json, err);
    if (rc == BTZ_OK && c.damaged) {
        rc = btz_err_set(err, BTZ_ECORRUPT, "a verdict of %.*s is damaged",
                         (int)(out->name.len < 80 ? out->name.len : 80), out->name.ptr);
    }
    return rc;
}

/* The trial's own verdicts and, behind them, the late ones: t->verdict_count becomes their sum. */
static int load_verdicts(struct loader *l, struct btz_store_trial *t, struct btz_err *err)
{
    size_t cap = t->verdict_count + 4;
    size_t count = 0;
    struct btz_store_bind bind;
    int rc = open_list(l, ST_VERDICT_GET, &bind, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    t->verdicts = btz_arena_array(l->arena, cap, sizeof(*t->verdicts));
    while ((rc = btz_store_step(l->store, &bind, "a trial cannot be read", err)) == 1) {
        bool late = sqlite3_column_int64(bind.stmt, 1) != 0;
        struct btz_hash json;

        if (sqlite3_column_int64(bind.stmt, 0) != (int64_t)count ||
            late != (count >= t->verdict_count) || count >= BTZ_STORE_MAX_NOTES * 2) {
            rc = damaged(l, "verdict", (int64_t)count, err);
            break;
        }
        if (count == cap) {
            struct btz_store_verdict *more = btz_arena_array(l->arena, cap * 2, sizeof(*more));

            memcpy(more, t->verdicts, count * sizeof(*more));
            t->verdicts = more;
            cap *= 2;
        }
        rc = btz_store_verdict_read(&l->reader, bind.stmt, &t->verdicts[count], &json, err);
        if (rc != BTZ_OK) {
            break;
        }
        t->verdicts[count].late = late;
        if (!late) {
            *l->digests++ = btz_store_link_verdict(&t->verdicts[count], &json);
        }
        count++;
    }
    if (rc == BTZ_OK && count < t->verdict_count) {
        rc = btz_err_set(err, BTZ_ECORRUPT, "verdict %zu of trial %lld is missing", count,
                         (long long)l->n);
    }
    t->verdict_count = count;
    btz_store_reset(&bind);
    return rc;
}

static int load_findings(struct loader *l, struct btz_store_trial *t, struct btz_err *err)
{
    struct btz_store_bind bind;
    int rc = open_list(l, ST_FINDING_GET, &bind, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    t->findings = btz_arena_array(l->arena, t->finding_count, sizeof(*t->findings));
    for (size_t i = 0; rc == BTZ_OK && i < t->finding_count; i++) {
        struct btz_store_columns c = {.stmt = bind.stmt, .next = 1};
        struct btz_store_finding *out = &t->findings[i];
        struct btz_hash json;

        rc = next_row(l, &bind, "finding", i, err);
        if (rc != BTZ_OK) {
            break;
        }
        out->stage = btz_arena_dup(l->arena, btz_store_next_text(&c));
        out->rule = btz_arena_dup(l->arena, btz_store_next_text(&c));
        out->severity = btz_arena_dup(l->arena, btz_store_next_text(&c));
        out->action = btz_arena_dup(l->arena, btz_store_next_text(&c));
        out->event = btz_store_next_int32(&c);
        rc = btz_store_reader_content(&l->reader, bind.stmt, c.next, &out->json, &json, err);
        if (rc == BTZ_OK && c.damaged) {
            rc = damaged(l, "finding", (int64_t)i, err);
        }
        if (rc == BTZ_OK) {
            *l->digests++ = btz_store_link_finding(out, &json);
        }
    }
    if (rc == BTZ_OK) {
        rc = no_more(l, &bind, "finding", t->finding_count, err);
    }
    btz_store_reset(&bind);
    return rc;
}

/* ---- the whole ---- */

static int load_lists(struct loader *l, struct btz_store_row *row, struct btz_err *err)
{
    struct btz_store_trial head = row->trial; /* with the counts that the chain has */
    struct btz_hash *digests =
        btz_arena_array(l->arena, head.exchange_count + head.verdict_count + head.finding_count + 1,
                        sizeof(*digests));
    int rc;

    l->digests = digests;
    rc = load_events(l, &row->trial, err);
    if (rc == BTZ_OK) {
        rc = load_exchanges(l, &row->trial, err);
    }
    if (rc == BTZ_OK) {
        rc = load_verdicts(l, &row->trial, err);
    }
    if (rc == BTZ_OK) {
        rc = load_findings(l, &row->trial, err);
    }
    if (rc != BTZ_OK || !l->walk) {
        return rc;
    }
    l->walk->head = btz_store_link_trial(&l->walk->head, l->n, &head, digests);
    if (!btz_hash_eq(&l->walk->head, &row->link)) {
        return btz_err_set(
            err, BTZ_ECORRUPT,
            "the record of trial %lld (outcome, verdicts, exchanges or findings) does "
            "not fit the chain",
            (long long)l->n);
    }
    return BTZ_OK;
}

int btz_store_trial_walk(struct btz_store *store, int64_t run, int64_t n, struct btz_arena *arena,
                         struct btz_store_row *out, struct btz_store_walk *walk,
                         struct btz_err *err)
{
    struct loader l = {.store = store, .arena = arena, .walk = walk, .n = n};
    struct btz_store_row row;
    int rc;

    if (walk) {
        walk->bad_event = -1;
    }
    rc = btz_store_row_find(store, run, n, arena, &row, &l.id, err);
    if (rc != BTZ_OK) {
        return rc;
    }
    btz_store_reader_init(&l.reader, store, arena);
    rc = load_lists(&l, &row, err);
    btz_store_reader_fini(&l.reader);
    if (rc == BTZ_OK) {
        *out = row;
    }
    return rc;
}

int btz_store_trial_load(struct btz_store *store, int64_t run, int64_t n, struct btz_arena *arena,
                         struct btz_store_row *out, struct btz_err *err)
{
    return btz_store_trial_walk(store, run, n, arena, out, NULL, err);
}

int btz_store_late_load(struct btz_store *store, int64_t run, int64_t sequence,
                        struct btz_arena *arena, struct btz_store_late *out, struct btz_err *err)
{
    struct btz_store_late late = {.sequence = sequence};
    struct btz_store_reader reader;
    struct btz_store_bind bind;
    int rc = btz_store_stmt(store, ST_VERDICT_LATE, &bind, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    btz_store_reader_init(&reader, store, arena);
    btz_store_bind_int(&bind, run);
    btz_store_bind_int(&bind, sequence);
    rc = btz_store_step(store, &bind, "a verdict cannot be read", err);
    if (rc == 0) {
        rc = btz_err_set(err, BTZ_ENOTFOUND, "late verdict %lld is missing", (long long)sequence);
    } else if (rc == 1) {
        late.n = sqlite3_column_int64(bind.stmt, 12);
        rc = btz_store_verdict_read(&reader, bind.stmt, &late.verdict, &late.json, err);
        if (rc == BTZ_OK && (!btz_store_col_hash(bind.stmt, 11, &late.link) ||
                             sqlite3_column_int64(bind.stmt, 13) != run)) {
            rc =
                btz_err_set(err, BTZ_ECORRUPT, "late verdict %lld is damaged", (long long)sequence);
        }
    }
    btz_store_reset(&bind);
    btz_store_reader_fini(&reader);
    late.verdict.late = true;
    if (rc == BTZ_OK) {
        *out = late;
    }
    return rc;
}
