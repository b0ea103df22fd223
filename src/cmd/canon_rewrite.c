/* canon: asks the model of --rewrite-model, all definitions of a list at a time. */
#include <stdlib.h>

#include "cmd/canon.h"
#include "drive/model_client.h"
#include "llm/reply.h"
#include "trial/rewrite.h"

enum { IN_FLIGHT = 8, LOCAL_IN_FLIGHT = 1, ATTEMPTS_MAX = 3 };

struct canon_rewriter {
    enum btz_canon_arm arm;
    struct btz_net_loop *loop;
    struct btz_drive_model_client *client;
    struct btz_arena *arena;  /* of `replies` */
    struct btz_json *replies; /* hash of the request -> text, or null: the provider refused it */
};

int canon_rewriter_new(struct btz_context *context, enum btz_canon_arm arm,
                       struct canon_rewriter **out, struct btz_err *err)
{
    struct btz_str reference = btz_str_of(btz_args_text(context->args, "rewrite-model", ""));
    struct canon_rewriter *w;
    struct btz_llm_model model;
    struct btz_llm_key key;
    struct btz_drive_model_options options = {.policy = {.max_attempts = ATTEMPTS_MAX, .seed = 1},
                                              .key = &key};
    int rc = btz_cmd_model(context, reference, &model, &key, err);

    if (rc == BTZ_OK && model.kind == BTZ_LLM_MODEL_REF) {
        rc = btz_err_set(err, BTZ_EUSAGE, "a reference agent cannot rewrite: name a model");
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    options.policy.in_flight = model.kind == BTZ_LLM_MODEL_LOCAL ? LOCAL_IN_FLIGHT : IN_FLIGHT;
    options.policy.attempt_timeout_us = 1000000 * btz_args_int(context->args, "request-timeout", 0);
    w = calloc(1, sizeof(*w));
    if (!w) {
        btz_panic("out of memory");
    }
    w->arm = arm;
    w->arena = btz_arena_new();
    w->replies = btz_json_new_object(w->arena);
    rc = btz_net_loop_new(&w->loop, err);
    if (rc == BTZ_OK) {
        rc = btz_drive_model_client_new(w->loop, &model, &options, &w->client, err);
    }
    if (rc != BTZ_OK) {
        canon_rewriter_free(w);
        return rc;
    }
    *out = w;
    return BTZ_OK;
}

void canon_rewriter_free(struct canon_rewriter *w)
{
    if (w) {
        btz_drive_model_client_free(w->client);
        if (w->loop) {
            btz_net_loop_free(w->loop);
        }
        btz_arena_free(w->arena);
        free(w);
    }
}

static struct btz_str key_of(const struct btz_str *parts, size_t count, struct btz_arena *arena)
{
    struct btz_hasher *hasher = btz_hasher_new();
    struct btz_hash hash;
    char hex[65];

    for (size_t i = 0; i < count; i++) {
        btz_hasher_add_part(hasher, parts[i]);
    }
    hash = btz_hasher_end(hasher);
    btz_hasher_free(hasher);
    return btz_arena_dup(arena, btz_str_of(btz_hash_hex(&hash, hex)));
}

/* Asks about one definition, unless it is known or under way. `*key` is empty, and `*why` set, if
 * it cannot be asked about. */
static int ask(struct canon_rewriter *w, const struct btz_json *tool, struct btz_arena *arena,
               struct btz_json *asked, struct btz_str *key, struct btz_str *why,
               struct btz_err *err)
{
    struct btz_str *parts = btz_arena_array(arena, BTZ_LLM_QUESTION_PARTS, sizeof(*parts));
    struct btz_err own = {0};

    *key = BTZ_STR_NONE;
    if (btz_trial_rewrite_question(w->arm, tool, arena, parts, &own) != BTZ_OK) {
        *why = btz_arena_dup(arena, btz_str_of(own.msg));
        return BTZ_OK;
    }
    *key = key_of(parts, BTZ_LLM_QUESTION_PARTS, arena);
    if (btz_json_get(w->replies, *key) || btz_json_get(asked, *key)) {
        return BTZ_OK;
    }
    btz_json_set(arena, asked, *key, btz_json_null(arena));
    return btz_drive_model_client_ask(w->client, btz_json_count(asked), parts,
                                      BTZ_LLM_QUESTION_PARTS, 0) == BTZ_OK
               ? BTZ_OK
               : btz_err_set(err, BTZ_EINTERNAL, "the request could not be made");
}

static int take(struct canon_rewriter *w, const struct btz_drive_model_answer *got,
                const struct btz_json *asked, struct btz_err *err)
{
    struct btz_str key = btz_arena_dup(w->arena, btz_json_key_at(asked, (size_t)got->id - 1));
    struct btz_llm_reply reply;

    if (got->status == BTZ_LLM_REJECTED) {
        btz_json_set(w->arena, w->replies, key, btz_json_null(w->arena));
        return BTZ_OK;
    }
    if (got->status != BTZ_LLM_OK) {
        return btz_err_set(err, BTZ_EMISSING, "the rewriting model gives no answers: %.*s",
                           BTZ_FMT(got->text));
    }
    if (btz_llm_reply_parse(w->arena, got->bytes, NULL, &reply, err) != BTZ_OK) {
        btz_err_prefix(err, "the rewriting model's answer cannot be read: ");
        return BTZ_EMISSING;
    }
    if (reply.filtered) {
        btz_json_set(w->arena, w->replies, key, btz_json_null(w->arena));
    } else {
        btz_json_set(w->arena, w->replies, key, btz_json_new_str(w->arena, reply.content));
    }
    return BTZ_OK;
}

static int wait_for_all(struct canon_rewriter *w, const struct btz_json *asked, struct btz_err *err)
{
    struct btz_drive_model_answer got;

    while (btz_drive_model_client_pending(w->client)) {
        while (btz_drive_model_client_next(w->client, &got)) {
            int rc = take(w, &got, asked, err);

            if (rc != BTZ_OK) {
                return rc;
            }
        }
        if (btz_drive_model_client_pending(w->client)) {
            btz_net_loop_wait(w->loop, -1);
        }
    }
    return BTZ_OK;
}

static void apply(const struct canon_rewriter *w, const struct btz_json *tool, struct btz_str key,
                  const struct btz_canon_options *options, struct btz_arena *arena,
                  struct btz_canon_result *result, struct btz_str *why)
{
    const struct btz_json *text = key.len ? btz_json_get(w->replies, key) : NULL;
    struct btz_str name = result->name;
    struct btz_canon_result written;
    struct btz_err err = {0};

    if (btz_json_is(text, BTZ_JSON_STRING) &&
        btz_canon_reply(w->arm, tool, btz_json_str(text), options, arena, &written, &err) ==
            BTZ_OK) {
        *result = written;
        btz_canon_rename(result, name, arena);
        return;
    }
    if (why->len == 0) {
        *why = btz_json_is(text, BTZ_JSON_STRING)
                   ? btz_arena_dup(arena, btz_str_of(err.msg))
                   : BTZ_STR("the model's provider refused the request");
    }
    *result = (struct btz_canon_result){.given_name = result->given_name, .name = name};
}

int canon_rewrite(struct canon_rewriter *w, const struct btz_json *tools,
                  const struct btz_canon_options *options, struct btz_arena *arena,
                  struct btz_canon_result *results, struct btz_str *why, struct btz_err *err)
{
    size_t count = btz_json_count(tools);
    struct btz_str *keys = btz_arena_array(arena, count + 1, sizeof(*keys));
    struct btz_json *asked = btz_json_new_object(arena);
    int rc = BTZ_OK;

    for (size_t i = 0; rc == BTZ_OK && i < count; i++) {
        why[i] = BTZ_STR_NONE;
        rc = ask(w, btz_json_at(tools, i), arena, asked, &keys[i], &why[i], err);
    }
    rc = rc ? rc : wait_for_all(w, asked, err);
    for (size_t i = 0; rc == BTZ_OK && i < count; i++) {
        apply(w, btz_json_at(tools, i), keys[i], options, arena, &results[i], &why[i]);
    }
    return rc;
}
