/* sieve run: asking models. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cmd/sieve_run.h"
#include "drive/sieve_client.h"

enum {
    GIVE_UP_AFTER = 10, /* requests without an answer one after another */
    DEFAULT_IN_FLIGHT = 8,
    LOCAL_IN_FLIGHT = 1,
    USER_PART = BTZ_SIEVE_PARTS - 1 /* of a question: what a model is shown */
};

/* ---- replies, recorded or asked for ---- */

struct asking {
    struct sieve_run *r;
    const struct sieve_model *model;
    const struct sieve_source *source;
    struct btz_drive_sieve *client; /* NULL: recorded replies only */
    struct btz_arena *arena;        /* of one question or answer */
    size_t next;
    char last_failure[512];
};

static int recorded(struct asking *a, const struct btz_hash *request,
                    struct btz_store_sieve_reply *out, struct btz_err *err)
{
    int rc = btz_store_sieve_reply_get(a->r->store, a->r->no, a->model->name, request, a->arena,
                                       out, err);

    if (rc == BTZ_ENOTFOUND && a->r->replay) {
        rc = btz_store_sieve_reply_get(a->r->store, a->r->replay, a->model->name, request, a->arena,
                                       out, err);
        if (rc == BTZ_OK) {
            rc = btz_store_sieve_reply_put(a->r->store, a->r->no, out, err);
        }
    }
    return rc;
}

/* Asks about the next thing; what is known needs no request. */
static int ask_next(struct asking *a, struct btz_err *err)
{
    struct btz_str parts[SIEVE_PARTS_MAX];
    struct btz_store_sieve_reply reply;
    struct btz_hash request;
    size_t id = a->next++;
    size_t count = 0;
    int rc;

    btz_arena_reset(a->arena);
    rc = a->source->make(a->r, a->source->data, id, a->arena, parts, &count, err);
    if (rc != BTZ_OK) {
        a->r->done += rc == SIEVE_NOTHING_TO_ASK;
        return rc == SIEVE_NOTHING_TO_ASK ? BTZ_OK : rc;
    }
    request = btz_drive_sieve_request(parts, count);
    rc = recorded(a, &request, &reply, err);
    if (rc == BTZ_OK) {
        a->r->done++;
        return a->source->take(a->r, a->source->data, id, &request, reply.bytes, reply.rejected,
                               err);
    }
    if (rc == BTZ_ENOTFOUND && !a->client) {
        a->r->done++;
        a->r->missing++;
        return BTZ_OK;
    }
    return rc == BTZ_ENOTFOUND && btz_drive_sieve_ask(a->client, id, parts, count) != BTZ_OK
               ? btz_err_set(err, BTZ_EINTERNAL, "the request could not be made")
           : rc == BTZ_ENOTFOUND ? BTZ_OK
                                 : rc;
}

static int take(struct asking *a, const struct btz_drive_sieve_answer *got, struct btz_err *err)
{
    const struct btz_store_sieve_reply reply = {.model = a->model->name,
                                                .request = got->request,
                                                .rejected = got->status == BTZ_LLM_REJECTED,
                                                .bytes = got->bytes,
                                                .took_us = got->took_us,
                                                .attempts = got->attempts};
    int rc = BTZ_OK;

    a->r->done++;
    if (got->status != BTZ_LLM_OK && got->status != BTZ_LLM_REJECTED) {
        a->r->missing++;
        (void)snprintf(a->last_failure, sizeof(a->last_failure), "%.*s", BTZ_FMT(got->text));
        return BTZ_OK;
    }
    if (a->source->check) {
        rc = a->source->check(a->r, a->source->data, (size_t)got->id, got->bytes, reply.rejected,
                              err);
    }
    if (rc == BTZ_OK && got->attempts) {
        rc = btz_store_sieve_reply_put(a->r->store, a->r->no, &reply, err);
    }
    return rc ? rc
              : a->source->take(a->r, a->source->data, (size_t)got->id, &got->request, got->bytes,
                                reply.rejected, err);
}

static bool is_down(const struct asking *a)
{
    return a->client && btz_drive_sieve_failures(a->client) >= GIVE_UP_AFTER;
}

static int work(struct asking *a, size_t in_flight, struct btz_err *err)
{
    struct btz_drive_sieve_answer got;
    int rc = BTZ_OK;

    while (rc == BTZ_OK && !is_down(a)) {
        size_t taken = 0;

        while (rc == BTZ_OK && a->next < a->source->count &&
               (!a->client || btz_drive_sieve_requests(a->client) < in_flight)) {
            rc = ask_next(a, err);
            if (rc == BTZ_OK && a->next % 64 == 0 && sieve_tick(a->r, a->source->what)) {
                return BTZ_EXIT_INTERRUPTED;
            }
        }
        while (rc == BTZ_OK && a->client && btz_drive_sieve_next(a->client, &got)) {
            btz_arena_reset(a->arena);
            rc = take(a, &got, err);
            taken++;
        }
        if (rc == BTZ_OK && taken) {
            rc = btz_store_sieve_commit(a->r->store, err);
            a->r->uncommitted = 0;
        }
        if (rc == BTZ_OK && sieve_tick(a->r, a->source->what)) {
            return BTZ_EXIT_INTERRUPTED;
        }
        if (rc == BTZ_OK && a->next == a->source->count &&
            (!a->client || btz_drive_sieve_pending(a->client) == 0)) {
            return BTZ_OK;
        }
        if (rc == BTZ_OK && a->client && !taken) {
            btz_net_loop_wait(a->r->loop, 100000);
        }
    }
    return rc;
}

/* A reference agent answers at once. */
static int refer_all(struct sieve_run *r, const struct sieve_model *model,
                     const struct sieve_source *source, struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    int rc = BTZ_OK;

    for (size_t id = 0; rc == BTZ_OK && id < source->count; id++) {
        btz_arena_reset(arena);
        rc = source->refer(r, source->data, id, model, arena, err);
        rc = rc == SIEVE_NOTHING_TO_ASK ? BTZ_OK : rc;
        r->done++;
        if (rc == BTZ_OK && id % 64 == 0 && sieve_tick(r, source->what)) {
            rc = BTZ_EXIT_INTERRUPTED;
        }
    }
    btz_arena_free(arena);
    return rc;
}

struct btz_str sieve_refer(const struct sieve_model *model, const struct btz_sieve_item *item,
                           const struct sieve_question *q, struct btz_arena *arena)
{
    return btz_sieve_agent(model->model.ref, item, q->shown, q->count, q->parts[USER_PART], arena);
}

static int ask_model(struct sieve_run *r, const struct sieve_model *model,
                     const struct sieve_source *source, struct btz_err *err)
{
    struct btz_context *context = r->context;
    struct asking a = {.r = r, .model = model, .source = source, .arena = btz_arena_new()};
    int64_t missing = r->missing;
    bool local = model->model.kind == BTZ_LLM_MODEL_LOCAL;
    size_t in_flight = r->replay
                           ? 1
                           : (size_t)btz_args_int(context->args, "in-flight",
                                                  local ? LOCAL_IN_FLIGHT : DEFAULT_IN_FLIGHT);
    const struct btz_drive_model_options options = {
        .policy = {.in_flight = (uint32_t)in_flight,
                   .attempt_timeout_us =
                       r->replay ? 0 : btz_args_int(context->args, "request-timeout", 0) * 1000000,
                   .seed = r->seed,
                   .api = source->api},
        .key = &model->key};
    int rc =
        r->replay ? BTZ_OK : btz_drive_sieve_new(r->loop, &model->model, &options, &a.client, err);

    if (rc == BTZ_OK) {
        rc = work(&a, in_flight, err);
    }
    if (rc == BTZ_OK && is_down(&a)) {
        rc = btz_err_set(err, BTZ_EIO,
                         "%.*s gives no answers: %s; every row so far is kept, `bartizan sieve %s "
                         "--resume %s` goes on",
                         BTZ_FMT(model->name), a.last_failure, r->kind, r->id);
    } else if (rc == BTZ_OK && r->missing > missing && !r->checking) {
        btz_cmd_note(context, "%.*s: %lld answers are missing%s%s", BTZ_FMT(model->name),
                     (long long)(r->missing - missing), a.last_failure[0] ? ", the last: " : "",
                     a.last_failure);
    }
    memcpy(r->last_failure, a.last_failure, sizeof(r->last_failure));
    btz_drive_sieve_free(a.client);
    btz_arena_free(a.arena);
    return rc;
}

int sieve_ask(struct sieve_run *r, const struct sieve_model *model,
              const struct sieve_source *source, struct btz_err *err)
{
    return model->model.kind == BTZ_LLM_MODEL_REF ? refer_all(r, model, source, err)
                                                  : ask_model(r, model, source, err);
}

/* ---- the question ---- */

static void add_shown(struct sieve_question *q, const struct btz_sieve_item *item,
                      const struct btz_canon_result *result, bool own, bool poisoned,
                      struct btz_arena *arena)
{
    struct btz_str name = result->name;
    unsigned number = 1;

    if (!result->definition) {
        return;
    }
    for (size_t i = 0; i < q->count; i++) { /* of another server, with the same name */
        if (btz_str_eq(q->shown[i].name, name)) {
            name = btz_arena_printf(arena, "%.*s_%u", BTZ_FMT(result->name), ++number);
            i = (size_t)-1;
        }
    }
    q->shown[q->count++] = (struct btz_sieve_shown){name, result, own, poisoned};
    q->poisoned_shown |= poisoned;
    q->target_shown |= own && btz_str_eq(result->given_name, item->target.tool);
}

/* All definitions of the server, in an order that is the same for a pair and for all arms: what
 * stands first may be favoured. */
static void show_all(struct sieve_run *r, struct sieve_question *q,
                     const struct btz_sieve_item *item, const struct btz_canon_result *results,
                     size_t count, struct btz_arena *arena)
{
    const struct btz_str parts[2] = {BTZ_STR("order"), item->pair.len ? item->pair : item->id};
    struct btz_rng rng = btz_rng_of(btz_rng_key(parts, 2) ^ r->seed);
    size_t *order = btz_arena_array(arena, count + 1, sizeof(*order));

    for (size_t i = 0; i < count; i++) {
        size_t k = (size_t)btz_rng_below(&rng, i + 1);

        order[i] = order[k];
        order[k] = i;
    }
    for (size_t i = 0; i < count; i++) {
        add_shown(q, item, &results[order[i]], true, order[i] == 0, arena);
    }
}

static int show_found(struct sieve_run *r, struct sieve_question *q, size_t arm,
                      const struct btz_sieve_item *item, const struct sieve_found *found,
                      size_t top, const struct btz_canon_result *results, struct btz_arena *arena,
                      struct btz_err *err)
{
    for (size_t i = 0; i < found->count && i < top; i++) {
        size_t number = found->hits[i].number;
        struct btz_canon_result *other;
        struct btz_json *list;
        int rc;

        if (found->hits[i].own) {
            add_shown(q, item, &results[number], true, number == 0, arena);
            continue;
        }
        other = BTZ_NEW(arena, struct btz_canon_result);
        list = btz_json_new_array(arena);
        btz_json_push(arena, list, r->documents[number].tool);
        rc = sieve_show_tools(r, &r->arms[arm], list, arena, other, err);
        if (rc != BTZ_OK) {
            return rc;
        }
        add_shown(q, item, other, false, false, arena);
    }
    return BTZ_OK;
}

/* The place in `found` of the index that is used for this arm. */
static size_t index_of(const struct sieve_run *r, size_t arm, bool arm_index)
{
    if (!arm_index) {
        return r->arm_count;
    }
    while (!r->arms[arm].first) {
        arm--;
    }
    return arm;
}

int sieve_question_make(struct sieve_run *r, size_t arm, size_t item_at,
                        enum sieve_retrieval retrieval, bool arm_index, struct btz_arena *arena,
                        struct sieve_question *out, struct btz_err *err)
{
    const struct btz_sieve_item *item = &r->items[item_at];
    struct btz_canon_result *results;
    size_t count = 0;
    int rc = sieve_show_list(r, &r->arms[arm], item, arena, &results, &count, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    *out = (struct sieve_question){
        .shown = btz_arena_array(arena, count + SIEVE_TOP + 1, sizeof(*out->shown))};
    if (retrieval == SIEVE_ALL) {
        show_all(r, out, item, results, count, arena);
    } else {
        rc = show_found(r, out, arm, item,
                        &r->found[index_of(r, arm, arm_index) * r->item_count + item_at],
                        retrieval == SIEVE_TOP1 ? 1 : SIEVE_TOP, results, arena, err);
    }
    if (rc == BTZ_OK) {
        btz_sieve_question(out->shown, out->count, item->query, r->whole, r->temperature,
                           r->max_tokens, arena, out->parts);
    }
    return rc;
}

/* ---- rows of answers ---- */

/* One way in which all items are asked about. */
struct view {
    enum sieve_retrieval retrieval;
    bool arm_index;
};

struct answers {
    const struct sieve_model *model;
    struct view views[2 * SIEVE_RETRIEVALS];
    size_t view_count;
    size_t *order; /* of the items */
};

static struct btz_str key_of(const struct sieve_run *r, const struct answers *a,
                             const struct view *view, size_t arm, size_t item,
                             struct btz_arena *arena)
{
    return btz_arena_printf(arena, "answer/%.*s/%s/%s/%.*s/%.*s", BTZ_FMT(a->model->name),
                            sieve_retrieval_names[view->retrieval],
                            view->retrieval == SIEVE_ALL ? "-"
                            : view->arm_index            ? "arm"
                                                         : "raw",
                            BTZ_FMT(r->arms[arm].label), BTZ_FMT(r->items[item].id));
}

/* Items outermost, so that arms take turns in time. */
static void place_of(const struct sieve_run *r, const struct answers *a, size_t id, size_t *item,
                     size_t *arm, const struct view **view)
{
    *view = &a->views[id % a->view_count];
    id /= a->view_count;
    *arm = id % r->arm_count;
    *item = a->order[id / r->arm_count];
}

struct said {
    struct btz_sieve_judged judged;
    size_t more;
    int64_t tokens_in, tokens_out;
    struct btz_str model; /* as returned */
};

static void judge_text(struct sieve_run *r, size_t item, const struct sieve_question *q,
                       struct btz_str text, struct btz_arena *arena, struct said *out)
{
    struct btz_sieve_reply reply;

    btz_sieve_reply_read(text, arena, &reply);
    btz_sieve_judge(&r->items[item], q->shown, q->count, &reply, arena, &out->judged);
    out->more = reply.more;
}

static void judge_body(struct sieve_run *r, size_t item, const struct sieve_question *q,
                       struct btz_str bytes, bool rejected, struct btz_arena *arena,
                       struct said *out)
{
    struct btz_llm_reply reply;

    *out = (struct said){.judged = {.outcome = BTZ_SIEVE_INVALID, .sub = "rejected"},
                         .tokens_in = -1,
                         .tokens_out = -1};
    if (rejected) {
        return;
    }
    if (btz_llm_reply_parse(arena, bytes, NULL, &reply, NULL) != BTZ_OK) {
        out->judged.sub = "malformed";
        return;
    }
    out->model = reply.model;
    out->tokens_in = reply.usage.prompt;
    out->tokens_out = reply.usage.completion;
    if (reply.filtered) {
        out->judged.sub = "filtered";
    } else if (reply.refusal.len && !reply.content.len) {
        out->judged = (struct btz_sieve_judged){.outcome = BTZ_SIEVE_REFUSED, .sub = ""};
    } else {
        judge_text(r, item, q, reply.content, arena, out);
    }
}

static int put_answer(struct sieve_run *r, const struct answers *a, size_t id,
                      const struct sieve_question *q, const struct said *said,
                      const struct btz_hash *request, struct btz_arena *arena, struct btz_err *err)
{
    const struct view *view;
    struct btz_json *row;
    size_t item;
    size_t arm;
    char hex[65];

    place_of(r, a, id, &item, &arm, &view);
    row = sieve_row_of(arena, "answer", &r->items[item]);
    btz_json_set_str(arena, row, "model", a->model->name);
    btz_json_set_strz(arena, row, "retrieval", sieve_retrieval_names[view->retrieval]);
    btz_json_set_strz(arena, row, "index",
                      view->retrieval == SIEVE_ALL ? "-"
                      : view->arm_index            ? "arm"
                                                   : "raw");
    btz_json_set_strz(arena, row, "arm", btz_canon_arm_name(r->arms[arm].arm));
    btz_json_set_int(arena, row, "seed", (int64_t)r->arms[arm].seed);
    btz_json_set_bool(arena, row, "retrieved", q->poisoned_shown);
    btz_json_set_bool(arena, row, "operable", q->poisoned_shown && q->target_shown);
    btz_json_set_strz(arena, row, "outcome", btz_sieve_outcome_name(said->judged.outcome));
    btz_json_set_strz(arena, row, "sub", said->judged.sub);
    btz_json_set_bool(arena, row, "task", said->judged.task);
    btz_json_set_bool(arena, row, "poisoned_called", said->judged.poisoned_called);
    btz_json_set_str(arena, row, "called", said->judged.called);
    btz_json_set_int(arena, row, "more_calls", (int64_t)said->more);
    btz_json_set_int(arena, row, "tokens_in", said->tokens_in);
    btz_json_set_int(arena, row, "tokens_out", said->tokens_out);
    btz_json_set_int(arena, row, "prompt_bytes", (int64_t)(q->parts[2].len + q->parts[3].len));
    btz_json_set_str(arena, row, "returned_model", said->model);
    btz_json_set_strz(arena, row, "request", btz_hash_hex(request, hex));
    return sieve_row_put(r, key_of(r, a, view, arm, item, arena), row, err);
}

static int question_at(struct sieve_run *r, const struct answers *a, size_t id,
                       struct btz_arena *arena, struct sieve_question *q, struct btz_err *err)
{
    const struct view *view;
    size_t item;
    size_t arm;

    place_of(r, a, id, &item, &arm, &view);
    return sieve_question_make(r, arm, item, view->retrieval, view->arm_index, arena, q, err);
}

static int make_question(struct sieve_run *r, void *data, size_t id, struct btz_arena *arena,
                         struct btz_str *parts, size_t *part_count, struct btz_err *err)
{
    const struct answers *a = data;
    struct sieve_question q;
    const struct view *view;
    size_t item;
    size_t arm;
    int rc;

    place_of(r, a, id, &item, &arm, &view);
    if (sieve_row_known(r, key_of(r, a, view, arm, item, arena))) {
        return SIEVE_NOTHING_TO_ASK;
    }
    rc = question_at(r, a, id, arena, &q, err);
    if (rc == BTZ_OK) {
        memcpy(parts, q.parts, sizeof(q.parts));
        *part_count = BTZ_SIEVE_PARTS;
    }
    return rc;
}

static int take_reply(struct sieve_run *r, void *data, size_t id, const struct btz_hash *request,
                      struct btz_str bytes, bool rejected, struct btz_err *err)
{
    const struct answers *a = data;
    struct btz_arena *arena = btz_arena_new();
    struct sieve_question q;
    const struct view *view;
    struct said said;
    size_t item;
    size_t arm;
    int rc = question_at(r, a, id, arena, &q, err);

    place_of(r, a, id, &item, &arm, &view);
    if (rc == BTZ_OK) {
        judge_body(r, item, &q, bytes, rejected, arena, &said);
        rc = put_answer(r, a, id, &q, &said, request, arena, err);
    }
    btz_arena_free(arena);
    return rc;
}

static int refer(struct sieve_run *r, void *data, size_t id, const struct sieve_model *model,
                 struct btz_arena *arena, struct btz_err *err)
{
    const struct answers *a = data;
    struct said said = {.tokens_in = -1, .tokens_out = -1};
    struct sieve_question q;
    struct btz_hash request;
    const struct view *view;
    size_t item;
    size_t arm;
    int rc;

    place_of(r, a, id, &item, &arm, &view);
    if (sieve_row_known(r, key_of(r, a, view, arm, item, arena))) {
        return SIEVE_NOTHING_TO_ASK;
    }
    rc = question_at(r, a, id, arena, &q, err);
    if (rc != BTZ_OK) {
        return rc;
    }
    request = btz_drive_sieve_request(q.parts, BTZ_SIEVE_PARTS);
    judge_text(r, item, &q, sieve_refer(model, &r->items[item], &q, arena), arena, &said);
    return put_answer(r, a, id, &q, &said, &request, arena, err);
}

static void set_views(const struct sieve_run *r, struct answers *a)
{
    for (int way = 0; way < SIEVE_RETRIEVALS; way++) {
        if (r->retrieval[way] && way == SIEVE_ALL) {
            a->views[a->view_count++] = (struct view){SIEVE_ALL, false};
        } else if (r->retrieval[way]) {
            if (r->index_raw) {
                a->views[a->view_count++] = (struct view){(enum sieve_retrieval)way, false};
            }
            if (r->index_arm) {
                a->views[a->view_count++] = (struct view){(enum sieve_retrieval)way, true};
            }
        }
    }
}

static int plan_view(struct sieve_run *r, const struct answers *a, const struct view *view,
                     struct btz_arena *arena, struct btz_err *err)
{
    const char *index = view->retrieval == SIEVE_ALL ? "-" : view->arm_index ? "arm" : "raw";
    int rc = BTZ_OK;

    for (size_t arm = 0; rc == BTZ_OK && arm < r->arm_count; arm++) {
        struct btz_json *plan = btz_json_new_object(arena);

        btz_json_set_str(arena, plan, "model", a->model->name);
        btz_json_set_strz(arena, plan, "retrieval", sieve_retrieval_names[view->retrieval]);
        btz_json_set_strz(arena, plan, "index", index);
        for (int kind = 0; kind < BTZ_SIEVE_KINDS; kind++) {
            btz_json_set_int(arena, plan, btz_sieve_kind_name((enum btz_sieve_kind)kind),
                             (int64_t)r->kinds[kind]);
        }
        rc = sieve_plan_put(r, "answer",
                            btz_arena_printf(arena, "%.*s/%s/%s/", BTZ_FMT(a->model->name),
                                             sieve_retrieval_names[view->retrieval], index),
                            &r->arms[arm], plan, arena, err);
    }
    return rc;
}

int sieve_plan_answers(struct sieve_run *r, struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    struct answers a = {0};
    int rc = BTZ_OK;

    set_views(r, &a);
    for (size_t m = 0; m < r->model_count; m++) {
        a.model = &r->models[m];
        for (size_t v = 0; rc == BTZ_OK && v < a.view_count; v++) {
            rc = plan_view(r, &a, &a.views[v], arena, err);
        }
    }
    btz_arena_free(arena);
    return rc;
}

int sieve_ask_models(struct sieve_run *r, struct btz_err *err)
{
    struct btz_rng rng = btz_rng_of(r->seed);
    struct answers a = {.order = btz_arena_array(r->arena, r->item_count + 1, sizeof(*a.order))};
    int rc = BTZ_OK;

    set_views(r, &a);
    for (size_t i = 0; i < r->item_count; i++) {
        size_t k = (size_t)btz_rng_below(&rng, i + 1);

        a.order[i] = a.order[k];
        a.order[k] = i;
    }
    for (size_t m = 0; rc == BTZ_OK && m < r->model_count; m++) {
        struct sieve_source source = {.data = &a,
                                      .count = r->item_count * r->arm_count * a.view_count,
                                      .what = "answers",
                                      .make = make_question,
                                      .take = take_reply,
                                      .refer = refer};

        a.model = &r->models[m];
        rc = sieve_ask(r, a.model, &source, err);
    }
    return rc;
}
