/* sieve run: arms in which a model rewrites definitions. Each definition is asked about once; a
 * refusal or a malformed reply withholds it. */
#include "cmd/sieve_run.h"
#include "llm/reply.h"
#include "trial/rewrite.h"

enum { DEFINITION_MAX = 4 * 1024 * 1024 };

struct task {
    enum btz_canon_arm arm;
    const struct btz_json *tool;
    struct btz_str key; /* arm and hash */
};

struct sieve_rewriter {
    struct sieve_model *model;
    struct btz_arena *arena;
    struct btz_json *replies; /* key -> text of the reply, or null: rejected */
    struct task *tasks;
    size_t count, cap;
};

static struct btz_str key_of(enum btz_canon_arm arm, const struct btz_json *tool,
                             struct btz_arena *arena)
{
    struct btz_buf text;
    struct btz_hash hash;
    char hex[65];

    btz_buf_init(&text, DEFINITION_MAX);
    (void)btz_json_write_canonical(&text, tool);
    hash = btz_hash_of(btz_buf_view(&text));
    btz_buf_fini(&text);
    return btz_arena_printf(arena, "%s/%s", btz_canon_arm_name(arm), btz_hash_hex(&hash, hex));
}

static void add_task(struct sieve_rewriter *w, struct btz_json *seen, enum btz_canon_arm arm,
                     const struct btz_json *tool)
{
    struct btz_str key = key_of(arm, tool, w->arena);

    if (btz_json_get(seen, key)) {
        return;
    }
    btz_json_set(w->arena, seen, key, btz_json_null(w->arena));
    w->tasks = btz_arena_grow(w->arena, w->tasks, w->count, &w->cap, sizeof(*w->tasks));
    w->tasks[w->count++] = (struct task){arm, tool, key};
}

static int make(struct sieve_run *r, void *data, size_t id, struct btz_arena *arena,
                struct btz_str *parts, size_t *part_count, struct btz_err *err)
{
    const struct task *task = &((struct sieve_rewriter *)data)->tasks[id];
    int rc = btz_trial_rewrite_question(task->arm, task->tool, arena, parts, err);

    (void)r;
    if (rc == BTZ_OK) {
        *part_count = BTZ_LLM_QUESTION_PARTS;
    }
    return rc;
}

static const char *outcome_of(const struct task *task, const struct btz_json *text,
                              struct btz_arena *arena)
{
    const struct btz_canon_options options = {0};
    struct btz_canon_result result;
    int rc;

    if (btz_json_is(text, BTZ_JSON_NULL)) {
        return "rejected";
    }
    rc = btz_canon_reply(task->arm, task->tool, btz_json_str(text), &options, arena, &result, NULL);
    return rc == BTZ_OK ? "rewritten" : rc == BTZ_ENOTFOUND ? "refused" : "malformed";
}

static int take(struct sieve_run *r, void *data, size_t id, const struct btz_hash *request,
                struct btz_str bytes, bool rejected, struct btz_err *err)
{
    struct sieve_rewriter *w = data;
    const struct task *task = &w->tasks[id];
    struct btz_arena *arena = btz_arena_new();
    struct btz_llm_reply reply = {.usage = {-1, -1, -1, -1}};
    struct btz_json *row = btz_json_new_object(arena);
    const struct btz_json *text = btz_json_null(w->arena);
    char hex[65];
    int rc;

    if (!rejected && btz_llm_reply_parse(arena, bytes, NULL, &reply, NULL) == BTZ_OK &&
        !reply.filtered) {
        text = btz_json_new_str(w->arena, reply.content);
    }
    btz_json_set(w->arena, w->replies, task->key, text);
    btz_json_set_strz(arena, row, "row", "rewrite");
    btz_json_set_strz(arena, row, "arm", btz_canon_arm_name(task->arm));
    btz_json_set_str(arena, row, "model", w->model->name);
    btz_json_set_str(arena, row, "definition",
                     btz_str_sub(task->key, strlen(btz_canon_arm_name(task->arm)) + 1, 64));
    btz_json_set_strz(arena, row, "outcome", outcome_of(task, text, arena));
    btz_json_set_int(arena, row, "tokens_in", reply.usage.prompt);
    btz_json_set_int(arena, row, "tokens_out", reply.usage.completion);
    btz_json_set_strz(arena, row, "request", btz_hash_hex(request, hex));
    rc = sieve_row_put(r, btz_arena_printf(arena, "rewrite/%.*s", BTZ_FMT(task->key)), row, err);
    btz_arena_free(arena);
    return rc;
}

static int plan(struct sieve_run *r, const struct sieve_rewriter *w, struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    int rc = BTZ_OK;

    for (size_t a = 0; rc == BTZ_OK && a < r->arm_count; a++) {
        struct btz_json *plan = btz_json_new_object(arena);
        int64_t count = 0;

        for (size_t i = 0; i < w->count; i++) {
            count += w->tasks[i].arm == r->arms[a].arm;
        }
        btz_json_set_int(arena, plan, "definitions", count);
        if (btz_canon_arm_asks(r->arms[a].arm)) {
            rc = sieve_plan_put(r, "rewrite", BTZ_STR_NONE, &r->arms[a], plan, arena, err);
        }
    }
    btz_arena_free(arena);
    return rc;
}

int sieve_rewrite_all(struct sieve_run *r, struct sieve_model *model, struct btz_err *err)
{
    struct sieve_rewriter *w = BTZ_NEW(r->arena, struct sieve_rewriter);
    struct sieve_source source = {.data = w, .what = "rewriting", .make = make, .take = take};
    struct btz_json *seen;
    int rc;

    *w = (struct sieve_rewriter){.model = model, .arena = btz_arena_new()};
    w->replies = btz_json_new_object(w->arena);
    seen = btz_json_new_object(w->arena);
    r->rewriter = w;
    for (size_t a = 0; a < r->arm_count; a++) {
        if (!btz_canon_arm_asks(r->arms[a].arm)) {
            continue;
        }
        for (size_t i = 0; i < r->document_count; i++) {
            add_task(w, seen, r->arms[a].arm, r->documents[i].tool);
        }
        for (size_t i = 0; i < r->item_count; i++) {
            add_task(w, seen, r->arms[a].arm, r->items[i].poisoned);
            for (size_t t = 0; t < btz_json_count(r->items[i].tools); t++) {
                add_task(w, seen, r->arms[a].arm, btz_json_at(r->items[i].tools, t));
            }
        }
    }
    source.count = w->count;
    r->planned += w->count;
    rc = plan(r, w, err);
    return rc == BTZ_OK && w->count ? sieve_ask(r, model, &source, err) : rc;
}

int sieve_rewrite_get(struct sieve_run *r, enum btz_canon_arm arm, const struct btz_json *tool,
                      struct btz_arena *arena, struct btz_canon_result *out, struct btz_err *err)
{
    const struct btz_canon_options options = {0};
    struct btz_str name = btz_json_str(btz_json_getz(tool, "name"));
    const struct btz_json *text;
    int rc;

    if (!r->rewriter) {
        return btz_err_set(err, BTZ_EUSAGE, "%s needs --rewrite-model", btz_canon_arm_name(arm));
    }
    text = btz_json_get(r->rewriter->replies, key_of(arm, tool, arena));
    rc = btz_json_is(text, BTZ_JSON_STRING)
             ? btz_canon_reply(arm, tool, btz_json_str(text), &options, arena, out, NULL)
             : BTZ_EINVAL;
    if (rc == BTZ_EINVAL || rc == BTZ_ENOTFOUND) {
        *out = (struct btz_canon_result){.given_name = name, .name = name};
        return BTZ_OK;
    }
    return rc ? btz_err_set(err, rc, "a rewritten definition of %.*s cannot be read", BTZ_FMT(name))
              : BTZ_OK;
}

void sieve_rewrite_free(struct sieve_run *r)
{
    if (r->rewriter) {
        btz_arena_free(r->rewriter->arena);
    }
}
