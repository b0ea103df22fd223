/* Defence mode `canon:ARM`: definitions reach the model in canonical form, and its calls are mapped
 * back to the names of the server. The host's own rules go on with the definitions as they came.
 * Server instructions, resources and answers are none of this mode's business. */
#include "base/clock.h"
#include "trial/rewrite.h"
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

/* ---- arms that ask a model ---- */

/* One event a definition: what became of it. */
static void record_rewriting(struct btz_trial *trial, const struct rewriting *w,
                             const char *verdict, struct btz_str why)
{
    struct btz_json *payload = btz_json_new_object(trial->arena);
    bool shown = w->result.definition != NULL;

    btz_json_set_strz(trial->arena, payload, "target", "definition");
    btz_json_set_str(trial->arena, payload, "server", w->server);
    btz_json_set_str(trial->arena, payload, "name", w->name);
    btz_json_set_strz(trial->arena, payload, "verdict", verdict);
    btz_json_set_strz(trial->arena, payload, "action", shown ? "rewrite" : "block");
    btz_json_set_strz(trial->arena, payload, "arm", btz_canon_arm_name(trial->options.defence.arm));
    if (shown) {
        btz_json_set_int(trial->arena, payload, "removed_bytes", (int64_t)w->result.removed_bytes);
    } else {
        btz_json_set_str(trial->arena, payload, "reason", why);
    }
    trial_event_json(trial, BTZ_LAYER_GUARD, "scan", false, payload);
}

/* What has no canonical form does not reach the model, whatever the reason: a definition that came
 * through as its server wrote it would be measured as if it were defended. */
void canonical_fail(struct btz_trial *trial, struct rewriting *w, const char *verdict,
                    struct btz_str why)
{
    struct btz_guarding *counts = &trial->record.guarding;

    w->waits = false;
    counts->scans++;
    counts->failed++;
    counts->refused += strcmp(verdict, "refused") == 0 ? 1 : 0;
    counts->malformed += strcmp(verdict, "malformed") == 0 ? 1 : 0;
    record_rewriting(trial, w, verdict, why);
}

void canonical_reply(struct btz_trial *trial, struct rewriting *w, struct btz_str reply)
{
    const struct btz_canon_options options = {.seed = trial->options.seed};
    struct btz_guarding *counts = &trial->record.guarding;
    struct btz_canon_result result;
    struct btz_err err = {0};
    int rc = btz_canon_reply(trial->options.defence.arm, w->tool, reply, &options, trial->arena,
                             &result, &err);

    if (rc != BTZ_OK) {
        canonical_fail(trial, w, rc == BTZ_ENOTFOUND ? "refused" : "malformed",
                       btz_arena_dup(trial->arena, btz_str_of(err.msg)));
        return;
    }
    w->waits = false;
    w->result = result;
    counts->scans++;
    counts->changed += result.changed ? 1 : 0;
    counts->removed_bytes += (int64_t)result.removed_bytes;
    record_rewriting(trial, w, "changed", BTZ_STR_NONE);
}

/* The rewriting of a definition, which is asked for if it is new in this trial. */
static struct rewriting *rewriting_of(struct btz_trial *trial, const struct conn *conn,
                                      const struct btz_json *tool)
{
    struct btz_str text = btz_json_text(trial->arena, tool);
    struct btz_str *parts;
    struct btz_err err = {0};
    struct rewriting *w = trial->rewritings;

    while (w && !btz_str_eq(w->text, text)) {
        w = w->next;
    }
    if (w) {
        return w;
    }
    w = BTZ_NEW(trial->arena, struct rewriting);
    *w = (struct rewriting){.next = trial->rewritings,
                            .text = text,
                            .tool = tool,
                            .server = conn->server->id,
                            .name = btz_json_str(btz_json_getz(tool, "name")),
                            .waits = true};
    trial->rewritings = w;
    parts = btz_arena_array(trial->arena, BTZ_LLM_QUESTION_PARTS, sizeof(*parts));
    if (btz_trial_rewrite_question(trial->options.defence.arm, tool, trial->arena, parts, &err) ==
        BTZ_OK) {
        ask_to_rewrite(trial, w, parts);
    } else {
        canonical_fail(trial, w, "failed", btz_arena_dup(trial->arena, btz_str_of(err.msg)));
    }
    return w;
}

static void start_rewriting(struct btz_trial *trial, struct conn *conn)
{
    size_t count = btz_json_count(conn->tools);

    conn->rewritings = btz_arena_array(trial->arena, count + 1, sizeof(struct rewriting *));
    for (size_t i = 0; i < count; i++) {
        conn->rewritings[i] = rewriting_of(trial, conn, btz_json_at(conn->tools, i));
    }
}

/* The form as the model wrote it, under the name that the tool has in its list. */
static const struct btz_canon_result *rewritten_at(struct btz_trial *trial, struct conn *conn,
                                                   size_t index)
{
    const struct rewriting *w = conn->rewritings[index];
    struct btz_canon_result *result = &conn->canon[index];
    struct btz_str name = result->name;

    if (w->waits || !w->result.definition) {
        return NULL;
    }
    *result = w->result;
    btz_canon_rename(result, name, trial->arena);
    return result;
}

/* ---- any arm ---- */

static void make(struct btz_trial *trial, struct conn *conn)
{
    const struct btz_canon_options options = {.seed = trial->options.seed};
    enum btz_canon_arm arm = trial->options.defence.arm;
    struct btz_guarding *counts = &trial->record.guarding;
    size_t count = btz_json_count(conn->tools);
    struct btz_canon_result *results = btz_arena_array(trial->arena, count + 1, sizeof(*results));
    int64_t begun = btz_clock_mono_us();
    struct btz_err err = {0};
    int rc = btz_canon_list(btz_canon_arm_before(arm), conn->tools, &options, trial->arena, results,
                            &err);

    counts->took_us += btz_clock_mono_us() - begun;
    conn->canon_of = conn->tools;
    conn->canon = rc == BTZ_OK ? results : NULL;
    if (rc != BTZ_OK) {
        counts->scans += (int)count;
        record_failure(trial, conn, &err);
        return;
    }
    if (btz_canon_arm_asks(arm)) {
        start_rewriting(trial, conn);
        return;
    }
    counts->scans += (int)count;
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
    return !conn->canon                                     ? NULL
           : btz_canon_arm_asks(trial->options.defence.arm) ? rewritten_at(trial, conn, index)
                                                            : &conn->canon[index];
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
