/* Defence mode `canon:ARM`: definitions reach the model in canonical form, and its calls are mapped
 * back to the names of the server. The host's own rules go on with the definitions as they came.
 * Server instructions, resources and answers are none of this mode's business. */
#include "base/clock.h"
#include "trial/trial_int.h"

static struct btz_json *event_of(struct btz_trial *trial, const struct conn *conn,
                                 const char *verdict, const char *action)
{
    struct btz_json *payload = btz_json_new_object(trial->arena);

    btz_json_set_strz(trial->arena, payload, "target", "definition");
    btz_json_set_str(trial->arena, payload, "server", conn->server->id);
    btz_json_set_strz(trial->arena, payload, "name", "tools");
    btz_json_set_strz(trial->arena, payload, "verdict", verdict);
    btz_json_set_strz(trial->arena, payload, "action", action);
    btz_json_set_strz(trial->arena, payload, "arm", btz_canon_arm_name(trial->options.defence.arm));
    return payload;
}

/* One event a list: what was done to which definition. */
static void record_list(struct btz_trial *trial, const struct conn *conn)
{
    struct btz_json *payload = event_of(trial, conn, "changed", "rewrite");
    struct btz_json *items = btz_json_new_array(trial->arena);

    for (size_t i = 0; i < btz_json_count(conn->tools); i++) {
        const struct btz_canon_result *r = &conn->canon[i];
        struct btz_json *item;

        if (!r->changed) {
            continue;
        }
        item = btz_json_new_object(trial->arena);
        btz_json_set_str(trial->arena, item, "name", r->given_name);
        btz_json_set_str(trial->arena, item, "shown", r->name);
        btz_json_set_int(trial->arena, item, "removed_bytes", (int64_t)r->removed_bytes);
        btz_json_push(trial->arena, items, item);
    }
    if (btz_json_count(items)) {
        btz_json_setz(trial->arena, payload, "definitions", items);
        trial_event_json(trial, BTZ_LAYER_GUARD, "scan", false, payload);
    }
}

/* A list that cannot be canonicalised is not shown: what could not be judged does not pass. */
static void record_failure(struct btz_trial *trial, const struct conn *conn,
                           const struct btz_err *err)
{
    struct btz_json *payload = event_of(trial, conn, "failed", "block");

    trial->record.guarding.failed++;
    btz_json_set_strz(trial->arena, payload, "reason", err->msg);
    trial_event_json(trial, BTZ_LAYER_GUARD, "scan", false, payload);
}

static void make(struct btz_trial *trial, struct conn *conn)
{
    const struct btz_canon_options options = {.seed = trial->options.seed};
    struct btz_guarding *counts = &trial->record.guarding;
    size_t count = btz_json_count(conn->tools);
    struct btz_canon_result *results = btz_arena_array(trial->arena, count + 1, sizeof(*results));
    int64_t begun = btz_clock_mono_us();
    struct btz_err err = {0};
    int rc = btz_canon_list(trial->options.defence.arm, conn->tools, &options, trial->arena,
                            results, &err);

    counts->took_us += btz_clock_mono_us() - begun;
    counts->scans += (int)count;
    conn->canon_of = conn->tools;
    conn->canon = rc == BTZ_OK ? results : NULL;
    if (rc != BTZ_OK) {
        record_failure(trial, conn, &err);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        counts->changed += results[i].changed ? 1 : 0;
        counts->removed_bytes += (int64_t)results[i].removed_bytes;
    }
    record_list(trial, conn);
}

const struct btz_canon_result *canonical_at(struct btz_trial *trial, struct conn *conn,
                                            size_t index)
{
    if (conn->canon_of != conn->tools) {
        make(trial, conn);
    }
    return conn->canon ? &conn->canon[index] : NULL;
}

const struct btz_canon_result *canonical_named(struct btz_trial *trial, struct conn *conn,
                                               struct btz_str tool)
{
    for (size_t i = 0; i < btz_json_count(conn->tools); i++) {
        if (btz_str_eq(btz_json_str(btz_json_getz(btz_json_at(conn->tools, i), "name")), tool)) {
            return canonical_at(trial, conn, i);
        }
    }
    return NULL;
}

struct btz_str canonical_text(struct btz_trial *trial, const struct btz_canon_result *canon)
{
    const struct btz_json *definition = canon->definition;

    return btz_arena_printf(
        trial->arena, "%.*s %.*s %.*s", BTZ_FMT(canon->name),
        BTZ_FMT(btz_json_str(btz_json_getz(definition, "description"))),
        BTZ_FMT(btz_json_text(trial->arena, btz_json_getz(definition, "inputSchema"))));
}
