/* sieve run: definitions under an arm, and rows. */
#include <signal.h>
#include <stdio.h>

#include "base/clock.h"
#include "cmd/sieve_run.h"
#include "sieve/survive.h"

const char *const sieve_retrieval_names[SIEVE_RETRIEVALS] = {"none", "top1", "top5"};

int sieve_show_tools(struct sieve_run *r, const struct sieve_arm *arm, const struct btz_json *tools,
                     struct btz_arena *arena, struct btz_canon_result *results, struct btz_err *err)
{
    const struct btz_canon_options options = {.seed = arm->seed};
    int rc = BTZ_OK;

    if (!btz_canon_arm_asks(arm->arm)) {
        return btz_canon_list(arm->arm, tools, &options, arena, results, err);
    }
    for (size_t i = 0; rc == BTZ_OK && i < btz_json_count(tools); i++) {
        rc = sieve_rewrite_get(r, arm->arm, btz_json_at(tools, i), arena, &results[i], err);
        /* Two that got one name: the later one is withheld, as a host would. */
        for (size_t k = 0; rc == BTZ_OK && results[i].definition && k < i; k++) {
            if (results[k].definition && btz_str_eq(results[k].name, results[i].name)) {
                results[i].definition = NULL;
            }
        }
    }
    return rc;
}

int sieve_show_list(struct sieve_run *r, const struct sieve_arm *arm,
                    const struct btz_sieve_item *item, struct btz_arena *arena,
                    struct btz_canon_result **results, size_t *count, struct btz_err *err)
{
    struct btz_json *list = btz_json_new_array(arena);
    int rc;

    btz_json_push(arena, list, item->poisoned);
    for (size_t i = 0; i < btz_json_count(item->tools); i++) {
        btz_json_push(arena, list, btz_json_at(item->tools, i));
    }
    *count = btz_json_count(list);
    *results = btz_arena_array(arena, *count + 1, sizeof(**results));
    rc = sieve_show_tools(r, arm, list, arena, *results, err);
    if (rc != BTZ_OK) {
        btz_err_prefix(err, "item %.*s under %.*s: ", BTZ_FMT(item->id), BTZ_FMT(arm->label));
    }
    return rc;
}

void sieve_show_render(const struct sieve_run *r, const struct btz_canon_result *results,
                       size_t count, struct btz_buf *out)
{
    for (size_t i = 0; i < count; i++) {
        if (results[i].definition) {
            btz_sieve_render(out, results[i].name, results[i].definition, r->whole);
            (void)btz_buf_add_byte(out, '\n');
        }
    }
}

/* ---- rows ---- */

struct btz_json *sieve_row_of(struct btz_arena *arena, const char *row,
                              const struct btz_sieve_item *item)
{
    struct btz_json *out = btz_json_new_object(arena);

    btz_json_set_strz(arena, out, "row", row);
    btz_json_set_str(arena, out, "item", item->id);
    btz_json_set_strz(arena, out, "kind", btz_sieve_kind_name(item->kind));
    btz_json_setz(arena, out, "pair",
                  item->pair.len ? btz_json_new_str(arena, item->pair) : btz_json_null(arena));
    btz_json_setz(arena, out, "paradigm",
                  item->paradigm == BTZ_SIEVE_NO_PARADIGM
                      ? btz_json_null(arena)
                      : btz_json_new_strz(arena, btz_sieve_paradigm_name(item->paradigm)));
    btz_json_setz(arena, out, "risk",
                  item->risk == BTZ_SIEVE_NO_RISK
                      ? btz_json_null(arena)
                      : btz_json_new_strz(arena, btz_sieve_risk_name(item->risk)));
    btz_json_set_str(arena, out, "family", item->family);
    btz_json_set_str(arena, out, "cluster", item->cluster);
    btz_json_set_strz(arena, out, "split", btz_sieve_split_name(item->split));
    btz_json_set_bool(arena, out, "held_out", item->held_out);
    return out;
}

bool sieve_row_known(struct sieve_run *r, struct btz_str key)
{
    bool has = false;

    return r->resumed && btz_store_sieve_row_has(r->store, r->no, key, &has, NULL) == BTZ_OK && has;
}

/* The row as it is made now against the row as it was written. */
static int compare(struct sieve_run *r, struct btz_str key, struct btz_str json,
                   struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_str stored = BTZ_STR_NONE;
    int rc = btz_store_sieve_row_get(r->store, r->no, key, arena, &stored, err);

    if (rc == BTZ_OK && btz_str_eq(stored, json)) {
        r->same++;
    } else if (rc == BTZ_OK || (rc == BTZ_ENOTFOUND && !r->partial)) {
        r->first_unlike = r->unlike ? r->first_unlike : btz_arena_dup(r->arena, key);
        r->unlike++;
        rc = BTZ_OK;
    } else if (rc == BTZ_ENOTFOUND) {
        rc = BTZ_OK;
    }
    btz_arena_free(arena);
    return rc;
}

int sieve_row_put(struct sieve_run *r, struct btz_str key, const struct btz_json *row,
                  struct btz_err *err)
{
    struct btz_buf text;
    int rc = BTZ_OK;

    if (sieve_row_known(r, key)) {
        return BTZ_OK;
    }
    btz_buf_init(&text, BTZ_STORE_SIEVE_ROW_MAX);
    (void)btz_json_write(&text, row);
    rc = text.failed   ? btz_err_set(err, BTZ_ELIMIT, "the row %.*s is too large", BTZ_FMT(key))
         : r->checking ? compare(r, key, btz_buf_view(&text), err)
                       : btz_store_sieve_row_put(r->store, r->no, key, btz_buf_view(&text), err);
    btz_buf_fini(&text);
    if (rc == BTZ_OK && !r->checking && ++r->uncommitted >= SIEVE_ROWS_A_COMMIT) {
        rc = btz_store_sieve_commit(r->store, err);
        r->uncommitted = 0;
    }
    return rc;
}

int sieve_plan_put(struct sieve_run *r, const char *of, struct btz_str where,
                   const struct sieve_arm *arm, struct btz_json *plan, struct btz_arena *arena,
                   struct btz_err *err)
{
    struct btz_str key =
        btz_arena_printf(arena, "plan/%s/%.*s%.*s", of, BTZ_FMT(where), BTZ_FMT(arm->label));

    btz_json_set_strz(arena, plan, "row", "plan");
    btz_json_set_strz(arena, plan, "of", of);
    btz_json_set_strz(arena, plan, "arm", btz_canon_arm_name(arm->arm));
    btz_json_set_int(arena, plan, "seed", (int64_t)arm->seed);
    return sieve_row_put(r, key, plan, err);
}

bool sieve_tick(struct sieve_run *r, const char *what)
{
    struct btz_buf line;

    btz_buf_init(&line, 65536);
    btz_progress_update(&r->progress, r->done, r->planned, btz_str_of(what), btz_clock_mono_us(),
                        &line);
    if (line.len) {
        (void)fwrite(line.ptr, 1, line.len, stderr);
    }
    btz_buf_fini(&line);
    btz_net_loop_wait(r->loop, 0);
    return btz_net_loop_interrupted(r->loop) != 0;
}
