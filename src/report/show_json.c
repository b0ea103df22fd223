/* `show` as JSON (schemas/show.json). */
#include "report/show_int.h"

static struct btz_json *number_or_null(struct btz_arena *arena, int64_t n)
{
    return n < 0 ? btz_json_null(arena) : btz_json_new_int(arena, n);
}

static struct btz_json *tri_json(struct btz_arena *arena, enum btz_store_tri value)
{
    return value == BTZ_STORE_UNKNOWN ? btz_json_null(arena)
                                      : btz_json_new_bool(arena, value == BTZ_STORE_YES);
}

static void set_hash(struct btz_arena *arena, struct btz_json *out, const char *key,
                     const struct btz_hash *hash)
{
    char hex[65];

    btz_json_set_strz(arena, out, key, btz_hash_hex(hash, hex));
}

static struct btz_json *tokens_json(struct btz_arena *arena, const struct btz_store_tokens *t,
                                    bool all)
{
    struct btz_json *out = btz_json_new_object(arena);

    btz_json_setz(arena, out, "input", number_or_null(arena, t->input));
    btz_json_setz(arena, out, "output", number_or_null(arena, t->output));
    if (all) {
        btz_json_setz(arena, out, "cache_read", number_or_null(arena, t->cache_read));
        btz_json_setz(arena, out, "cache_write", number_or_null(arena, t->cache_write));
        btz_json_setz(arena, out, "reasoning", number_or_null(arena, t->reasoning));
    }
    return out;
}

/* What the list and the single trial have in common. */
static struct btz_json *trial_json(struct btz_arena *arena, const struct btz_store_row *row)
{
    const struct btz_store_cell *c = &row->cell;
    const struct btz_store_trial *t = &row->trial;
    const struct btz_store_chain *chain = &t->chain;
    struct btz_json *out = btz_json_new_object(arena);

    btz_json_set_int(arena, out, "n", row->n);
    btz_json_set_str(arena, out, "model", c->model);
    btz_json_set_str(arena, out, "scenario",
                     btz_arena_printf(arena, "%.*s/%.*s", BTZ_FMT(c->attack), BTZ_FMT(c->variant)));
    btz_json_set_str(arena, out, "attack", c->attack);
    btz_json_set_str(arena, out, "variant", c->variant);
    btz_json_set_str(arena, out, "surface", c->surface);
    btz_json_set_str(arena, out, "boundary", c->boundary);
    btz_json_set_str(arena, out, "arm", c->arm);
    btz_json_set_str(arena, out, "architecture", c->architecture);
    btz_json_set_str(arena, out, "defence", c->defence);
    btz_json_set_str(arena, out, "revision", c->revision);
    btz_json_set_int(arena, out, "repetition", c->repetition);
    btz_json_set_strz(arena, out, "outcome", btz_store_outcome_name(t->outcome));
    btz_json_set_str(arena, out, "sub", t->sub);
    btz_json_set_str(arena, out, "stop", t->stop);
    btz_json_setz(arena, out, "utility", tri_json(arena, t->utility));
    btz_json_set_bool(arena, out, "observed", chain->observed);
    btz_json_setz(arena, out, "observed_turn",
                  chain->observed ? btz_json_new_int(arena, chain->observed_turn)
                                  : btz_json_null(arena));
    btz_json_setz(arena, out, "observed_by",
                  chain->observed ? btz_json_new_str(arena, chain->carrier) : btz_json_null(arena));
    btz_json_set_bool(arena, out, "acted", chain->acted);
    btz_json_set_bool(arena, out, "effect", chain->effect);
    btz_json_set_int(arena, out, "turns", t->turns);
    btz_json_set_int(arena, out, "attempts", t->attempts);
    btz_json_setz(arena, out, "tokens", tokens_json(arena, &t->tokens, false));
    btz_json_set_int(arena, out, "took_us", t->took_us);
    set_hash(arena, out, "trajectory", &t->trajectory);
    btz_json_set_bool(arena, out, "current", row->current);
    return out;
}

static int add_trials(struct btz_store *store, int64_t run, struct btz_arena *arena,
                      struct btz_json *trials, struct btz_err *err)
{
    struct btz_store_rows *rows = NULL;
    struct btz_store_row row;
    int rc = btz_store_rows_open(store, run, BTZ_STORE_BY_NUMBER, &rows, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    while ((rc = btz_store_rows_next(rows, &row, err)) == 1) {
        btz_json_push(arena, trials, trial_json(arena, &row));
    }
    btz_store_rows_free(rows);
    return rc;
}

int btz_show_run_json(struct btz_store *store, int64_t run, struct btz_arena *arena,
                      struct btz_json **out, struct btz_err *err)
{
    struct btz_json *shown = btz_json_new_object(arena);
    struct btz_json *trials = btz_json_new_array(arena);
    struct btz_store_run found;
    struct btz_err ignored;
    bool snapshot = btz_store_snapshot_begin(store, &ignored) == BTZ_OK;
    int rc = report_find_run(store, run, arena, &found, err);

    if (rc == BTZ_OK) {
        rc = add_trials(store, run, arena, trials, err);
    }
    if (snapshot) {
        btz_store_snapshot_end(store);
    }
    if (rc == BTZ_OK) {
        btz_json_setz(arena, shown, "run", run_json(arena, &found));
        btz_json_setz(arena, shown, "trials", trials);
        *out = shown;
    }
    return rc;
}

/* ---- one trial ---- */

/* Content as JSON if it is JSON, else as text. */
static const struct btz_json *content_json(struct btz_arena *arena, struct btz_str content)
{
    const struct btz_json *value;
    struct btz_err ignored;

    return btz_json_parse(arena, content, NULL, &value, &ignored) == BTZ_OK
               ? value
               : btz_json_new_str(arena, content);
}

static struct btz_json *chain_json(struct btz_arena *arena, const struct btz_store_chain *c)
{
    struct btz_json *out = btz_json_new_object(arena);

    btz_json_set_bool(arena, out, "triggered", c->triggered);
    btz_json_set_bool(arena, out, "delivered", c->delivered);
    btz_json_set_int(arena, out, "fragments_seen", c->fragments_seen);
    btz_json_set_int(arena, out, "fragments_all", c->fragments_all);
    btz_json_setz(arena, out, "act_event", number_or_null(arena, c->act_event));
    btz_json_setz(arena, out, "effect_event", number_or_null(arena, c->effect_event));
    btz_json_set_str(arena, out, "stopped_by", c->stopped_by);
    btz_json_set_str(arena, out, "stage", c->stage);
    btz_json_setz(arena, out, "leak_ppm", number_or_null(arena, c->leak_ppm));
    return out;
}

static struct btz_json *events_json(struct btz_arena *arena, const struct btz_store_trial *t)
{
    struct btz_json *list = btz_json_new_array(arena);

    for (size_t i = 0; i < t->event_count; i++) {
        const struct btz_store_event *e = &t->events[i];
        struct btz_json *item = btz_json_new_object(arena);

        btz_json_set_int(arena, item, "ordinal", (int64_t)i);
        btz_json_set_strz(arena, item, "layer", btz_store_layer_name(e->layer));
        btz_json_set_str(arena, item, "kind", e->kind);
        btz_json_set_int(arena, item, "turn", e->turn);
        btz_json_set_bool(arena, item, "visible", e->visible);
        btz_json_setz(arena, item, "payload", content_json(arena, e->payload));
        btz_json_push(arena, list, item);
    }
    return list;
}

static struct btz_json *exchanges_json(struct btz_arena *arena, const struct btz_store_trial *t)
{
    struct btz_json *list = btz_json_new_array(arena);

    for (size_t i = 0; i < t->exchange_count; i++) {
        const struct btz_store_exchange *e = &t->exchanges[i];
        struct btz_json *item = btz_json_new_object(arena);
        struct btz_json *parts = btz_json_new_array(arena);

        for (size_t p = 0; p < e->part_count; p++) {
            btz_json_push(arena, parts, btz_json_new_str(arena, e->parts[p]));
        }
        btz_json_set_int(arena, item, "turn", e->turn);
        btz_json_set_str(arena, item, "role", e->role);
        btz_json_setz(arena, item, "parts", parts);
        btz_json_set_str(arena, item, "reply", e->reply);
        btz_json_set_str(arena, item, "model", e->model);
        btz_json_set_str(arena, item, "stop", e->stop);
        btz_json_set_int(arena, item, "took_us", e->took_us);
        btz_json_setz(arena, item, "tokens", tokens_json(arena, &e->tokens, true));
        btz_json_push(arena, list, item);
    }
    return list;
}

static struct btz_json *verdicts_json(struct btz_arena *arena, const struct btz_store_trial *t)
{
    struct btz_json *list = btz_json_new_array(arena);

    for (size_t i = 0; i < t->verdict_count; i++) {
        const struct btz_store_verdict *v = &t->verdicts[i];
        struct btz_json *item = btz_json_new_object(arena);

        btz_json_set_str(arena, item, "source", v->source);
        btz_json_set_str(arena, item, "name", v->name);
        btz_json_set_str(arena, item, "version", v->version);
        btz_json_setz(arena, item, "success", tri_json(arena, v->success));
        btz_json_setz(arena, item, "act_event", number_or_null(arena, v->act_event));
        btz_json_setz(arena, item, "effect_event", number_or_null(arena, v->effect_event));
        btz_json_set_bool(arena, item, "late", v->late);
        btz_json_setz(arena, item, "detail", content_json(arena, v->json));
        btz_json_push(arena, list, item);
    }
    return list;
}

static struct btz_json *findings_json(struct btz_arena *arena, const struct btz_store_trial *t)
{
    struct btz_json *list = btz_json_new_array(arena);

    for (size_t i = 0; i < t->finding_count; i++) {
        const struct btz_store_finding *f = &t->findings[i];
        struct btz_json *item = btz_json_new_object(arena);

        btz_json_set_str(arena, item, "stage", f->stage);
        btz_json_set_str(arena, item, "rule", f->rule);
        btz_json_set_str(arena, item, "severity", f->severity);
        btz_json_set_str(arena, item, "action", f->action);
        btz_json_setz(arena, item, "event", number_or_null(arena, f->event));
        btz_json_setz(arena, item, "detail", content_json(arena, f->json));
        btz_json_push(arena, list, item);
    }
    return list;
}

int btz_show_trial_json(struct btz_store *store, int64_t run, int64_t n, struct btz_arena *arena,
                        struct btz_json **out, struct btz_err *err)
{
    struct btz_store_run found;
    struct btz_store_row row;
    struct btz_json *shown;
    const struct btz_store_trial *t = &row.trial;
    int rc = show_load(store, run, n, arena, &found, &row, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    shown = trial_json(arena, &row);
    btz_json_setz(arena, shown, "run", run_json(arena, &found));
    btz_json_set_str(arena, shown, "host_profile", row.cell.host_profile);
    btz_json_set_str(arena, shown, "seed",
                     btz_arena_printf(arena, "%llu", (unsigned long long)t->seed));
    btz_json_set_int(arena, shown, "started_us", t->started_us);
    btz_json_set_int(arena, shown, "model_us", t->model_us);
    btz_json_setz(arena, shown, "cost_nano", number_or_null(arena, t->cost_nano));
    btz_json_setz(arena, shown, "tokens", tokens_json(arena, &t->tokens, true));
    set_hash(arena, shown, "link", &row.link);
    btz_json_setz(arena, shown, "chain", chain_json(arena, &t->chain));
    btz_json_setz(arena, shown, "events", events_json(arena, t));
    btz_json_setz(arena, shown, "exchanges", exchanges_json(arena, t));
    btz_json_setz(arena, shown, "verdicts", verdicts_json(arena, t));
    btz_json_setz(arena, shown, "findings", findings_json(arena, t));
    *out = shown;
    return BTZ_OK;
}
