/* rescore: asking one judge. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cmd/rescore.h"
#include "drive/model_client.h"

/* So many requests without an answer one after another: the judge is not there, or refuses the key.
 * Each has been tried several times by then. */
enum { GIVE_UP_AFTER = 10, DEFAULT_IN_FLIGHT = 8, LOCAL_IN_FLIGHT = 1 };

/* One request under way. */
struct flight {
    struct btz_arena *arena; /* holds the parts until the answer is pulled */
    struct btz_judge_request request;
    size_t item; /* for which it is asked */
};

struct asking {
    struct rescore *r;
    struct rescore_judge *judge;
    size_t index; /* of the judge */
    struct btz_drive_model_client *client;
    struct flight *flights; /* by group */
    size_t *first;          /* by group: the item to ask for; SIZE_MAX = nothing to ask */
    size_t next_group;
    size_t groups_wanted, groups_done;
    int64_t left_to_ask; /* of --limit */
    int failures;        /* one after another */
    struct btz_progress progress;
};

static int add(struct asking *a, size_t item, const struct btz_store_verdict *verdict,
               struct btz_err *err)
{
    struct rescore *r = a->r;
    int rc = btz_store_verdict_add(r->store, r->run.no, r->items[item].n, verdict, err);

    if (rc == BTZ_OK) {
        r->items[item].done[a->index] = true;
        a->judge->malformed += verdict->success == BTZ_STORE_UNKNOWN;
    }
    return rc;
}

/* Gives the trials of a group that have none the verdict on their request. */
static int share(struct asking *a, size_t group, struct btz_err *err)
{
    struct rescore *r = a->r;
    const struct rescore_answer *answer = &r->answers[a->index * r->group_count + group];
    int rc = BTZ_OK;

    for (size_t i = 0; rc == BTZ_OK && i < r->item_count; i++) {
        struct rescore_item *item = &r->items[i];
        struct btz_store_verdict verdict = {.source = BTZ_STR("judge"),
                                            .name = a->judge->name,
                                            .version = r->attacks[item->attack].version,
                                            .success = answer->success,
                                            .act_event = -1,
                                            .effect_event = -1,
                                            .at_us = btz_clock_wall_us(),
                                            .json = answer->json};

        if (item->group == group && !item->done[a->index]) {
            rc = add(a, i, &verdict, err);
            a->judge->shared += rc == BTZ_OK;
        }
    }
    return rc;
}

/* What is known goes to the trials that lack it; what is not known is to be asked. */
static int start(struct asking *a, struct btz_err *err)
{
    struct rescore *r = a->r;
    int rc = BTZ_OK;

    for (size_t g = 0; g < r->group_count; g++) {
        a->first[g] = SIZE_MAX;
    }
    for (size_t i = 0; rc == BTZ_OK && i < r->item_count; i++) {
        size_t g = r->items[i].group;

        if (r->items[i].done[a->index]) {
            continue;
        }
        if (r->answers[a->index * r->group_count + g].known) {
            rc = share(a, g, err);
        } else if (a->first[g] == SIZE_MAX) {
            a->first[g] = i;
            a->groups_wanted++;
        }
    }
    return rc;
}

static int ask(struct asking *a, size_t group, struct btz_err *err)
{
    struct rescore *r = a->r;
    struct flight *f = &a->flights[group];
    struct rescore_item *item = &r->items[a->first[group]];
    struct btz_store_row row;
    int rc;

    f->arena = btz_arena_new();
    f->item = a->first[group];
    rc = btz_store_trial_load(r->store, r->run.no, item->n, f->arena, &row, err);
    if (rc != BTZ_OK) {
        return rc;
    }
    btz_judge_request_make(r->judge, f->arena, r->attacks[item->attack].rubric, row.trial.events,
                           row.trial.event_count, &f->request);
    rc = btz_drive_model_client_ask(a->client, group, f->request.parts, f->request.count, 0);
    return rc == BTZ_OK ? rc : btz_err_set(err, BTZ_EINTERNAL, "the request could not be made");
}

static int take(struct asking *a, const struct btz_drive_model_answer *got, struct btz_err *err)
{
    struct rescore *r = a->r;
    size_t group = (size_t)got->id;
    struct flight *f = &a->flights[group];
    const struct rescore_item *item = &r->items[f->item];
    struct rescore_answer *answer = &r->answers[a->index * r->group_count + group];
    const struct btz_judge_context context = {.judge = a->judge->name,
                                              .rubric = r->attacks[item->attack].rubric,
                                              .same_vendor = a->judge->same_vendor,
                                              .asked_for = item->n};
    struct btz_judge_opinion opinion;
    struct btz_store_verdict verdict;
    int rc = BTZ_OK;

    a->judge->asked++;
    a->groups_done++;
    if (got->status == BTZ_LLM_OK) {
        a->failures = 0;
        btz_judge_read_body(r->judge, f->arena, got->bytes, f->request.shown, &opinion);
        btz_judge_verdict(r->judge, f->arena, &context, &f->request, &opinion, btz_clock_wall_us(),
                          &verdict);
        rc = add(a, f->item, &verdict, err);
        a->judge->judged += rc == BTZ_OK;
        *answer = (struct rescore_answer){true, verdict.success,
                                          btz_arena_dup(r->context->arena, verdict.json)};
        rc = rc == BTZ_OK ? share(a, group, err) : rc;
    } else {
        a->failures++;
        a->judge->failed++;
        (void)snprintf(a->judge->last_failure, sizeof(a->judge->last_failure), "%.*s",
                       BTZ_FMT(got->text));
    }
    btz_arena_free(f->arena);
    f->arena = NULL;
    return rc;
}

static void draw(struct asking *a, bool last)
{
    struct btz_buf line;

    btz_buf_init(&line, 65536);
    if (last) {
        btz_progress_finish(&a->progress, a->groups_done, a->groups_wanted, btz_clock_mono_us(),
                            &line);
    } else {
        btz_progress_update(&a->progress, a->groups_done, a->groups_wanted, a->judge->name,
                            btz_clock_mono_us(), &line);
    }
    if (line.len) {
        (void)fwrite(line.ptr, 1, line.len, stderr);
    }
    btz_buf_fini(&line);
}

/* Keeps `room` requests under way: their texts are made when they are asked, not before. */
static int fill(struct asking *a, size_t room, struct btz_err *err)
{
    int rc = BTZ_OK;

    while (rc == BTZ_OK && a->next_group < a->r->group_count && a->left_to_ask > 0 &&
           btz_drive_model_client_pending(a->client) < room) {
        if (a->first[a->next_group] != SIZE_MAX) {
            a->left_to_ask--;
            rc = ask(a, a->next_group, err);
        }
        a->next_group++;
    }
    return rc;
}

static int work(struct asking *a, struct btz_net_loop *loop, size_t in_flight, struct btz_err *err)
{
    struct btz_drive_model_answer got;
    int rc = fill(a, in_flight, err);

    while (rc == BTZ_OK && btz_drive_model_client_pending(a->client) &&
           !btz_net_loop_interrupted(loop) && a->failures < GIVE_UP_AFTER) {
        while (rc == BTZ_OK && btz_drive_model_client_next(a->client, &got)) {
            rc = take(a, &got, err);
        }
        if (rc == BTZ_OK && a->failures < GIVE_UP_AFTER) {
            rc = fill(a, in_flight, err);
        }
        draw(a, false);
        /* The answers that an ask gives at once come with the next call, not with the wait. */
        while (rc == BTZ_OK && btz_drive_model_client_next(a->client, &got)) {
            rc = take(a, &got, err);
        }
        if (rc == BTZ_OK && btz_drive_model_client_pending(a->client)) {
            btz_net_loop_wait(loop, 100000);
        } else if (rc == BTZ_OK) {
            rc = fill(a, in_flight, err);
        }
    }
    draw(a, true);
    return rc;
}

int rescore_ask(struct rescore *r, size_t judge, struct btz_net_loop *loop, struct btz_err *err)
{
    struct btz_context *context = r->context;
    struct asking a = {.r = r,
                       .judge = &r->judges[judge],
                       .index = judge,
                       .flights = calloc(r->group_count + 1, sizeof(*a.flights)),
                       .first = calloc(r->group_count + 1, sizeof(*a.first)),
                       .left_to_ask = btz_args_int(context->args, "limit", INT64_MAX)};
    bool local = a.judge->model.kind == BTZ_LLM_MODEL_LOCAL;
    size_t in_flight = (size_t)btz_args_int(context->args, "in-flight",
                                            local ? LOCAL_IN_FLIGHT : DEFAULT_IN_FLIGHT);
    struct btz_drive_model_options options = {
        .policy = {.in_flight = (uint32_t)in_flight,
                   .attempt_timeout_us =
                       btz_args_int(context->args, "request-timeout", 0) * 1000000,
                   .seed = 1},
        .key = &a.judge->key};
    int rc;

    if (!a.flights || !a.first) {
        btz_panic("out of memory");
    }
    btz_progress_init(&a.progress, &context->err, context->quiet, 0, btz_clock_mono_us());
    rc = btz_drive_model_client_new(loop, &a.judge->model, &options, &a.client, err);
    if (rc == BTZ_OK) {
        rc = start(&a, err);
    }
    if (rc == BTZ_OK) {
        rc = work(&a, loop, in_flight, err);
    }
    btz_drive_model_client_free(a.client);
    for (size_t g = 0; g < r->group_count; g++) {
        btz_arena_free(a.flights[g].arena);
    }
    free(a.flights);
    free(a.first);
    for (size_t i = 0; i < r->item_count; i++) {
        a.judge->left += !r->items[i].done[judge];
    }
    return rc ? rc : btz_net_loop_interrupted(loop) ? BTZ_EXIT_INTERRUPTED : BTZ_OK;
}
