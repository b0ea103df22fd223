/* sieve: the card of a run, that is everything its rows are a function of; models and arms. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/sieve_run.h"
#include "guard/guard.h"

/* ---- models and arms ---- */

int sieve_model_parse(struct sieve_run *r, struct btz_str reference, struct sieve_model *out,
                      struct btz_err *err)
{
    struct btz_context *context = r->context;
    size_t key_for_count = 0;
    struct btz_str *key_for = NULL;
    char state[PATH_MAX];
    int rc;

    (void)btz_cmd_local_state(state, sizeof(state));
    *out = (struct sieve_model){0};
    rc = btz_llm_model_parse(context->arena, reference, state, &out->model, err);
    if (rc == BTZ_OK && out->model.kind != BTZ_LLM_MODEL_REF && !r->replay) {
        key_for = btz_cmd_values(context, "key-for", &key_for_count);
        rc = btz_llm_key_for(context->arena, &out->model, getenv("OPENAI_API_KEY"),
                             btz_args_text(context->args, "key-file", NULL), key_for, key_for_count,
                             &out->key, err);
    }
    if (rc == BTZ_OK && out->model.kind == BTZ_LLM_MODEL_LOCAL && !r->replay &&
        !btz_cmd_local_runs(out->model.local.pid)) {
        rc = btz_err_set(err, BTZ_EMISSING,
                         "the local model is not running: `make local-model` starts it");
    }
    if (rc == BTZ_OK) {
        out->name = out->model.kind == BTZ_LLM_MODEL_LOCAL /* "local" is whatever runs today */
                        ? btz_arena_printf(context->arena, "local:%.*s", BTZ_FMT(out->model.id))
                        : out->model.reference;
    }
    return rc;
}

static void add_arm(struct sieve_run *r, size_t *cap, enum btz_canon_arm arm, int64_t seeds)
{
    const char *name = btz_canon_arm_name(arm);
    bool random = arm == BTZ_CANON_RANDOM_DELETE || arm == BTZ_CANON_RANDOM_DELETE_BYTES;

    for (int64_t seed = 1; seed <= (random ? seeds : 1); seed++) {
        r->arms = btz_arena_grow(r->arena, r->arms, r->arm_count, cap, sizeof(*r->arms));
        r->arms[r->arm_count++] = (struct sieve_arm){
            .arm = arm,
            .seed = random ? (uint64_t)seed : 0,
            .label = random ? btz_arena_printf(r->arena, "%s#%02lld", name, (long long)seed)
                            : btz_str_of(name),
            .first = seed == 1};
    }
}

int sieve_arms_parse(struct sieve_run *r, const struct btz_str *names, size_t count, int64_t seeds,
                     struct btz_err *err)
{
    size_t cap = 0;

    for (size_t i = 0; i < count; i++) {
        enum btz_canon_arm arm;

        if (btz_canon_arm_named(names[i], &arm) != BTZ_OK) {
            return btz_err_set(err, BTZ_EUSAGE, "--arm %.*s is no arm: use %.*s", BTZ_FMT(names[i]),
                               BTZ_FMT(btz_canon_arm_list(r->arena)));
        }
        for (size_t k = 0; k < i; k++) {
            if (btz_str_eq(names[k], names[i])) {
                return btz_err_set(err, BTZ_EUSAGE, "--arm %.*s is given twice", BTZ_FMT(names[i]));
            }
        }
        add_arm(r, &cap, arm, seeds);
    }
    return BTZ_OK;
}

/* ---- the card: everything that a run is a function of ---- */

int sieve_card_file(struct btz_context *context, struct btz_json *card, const char *key,
                    const char *path, struct btz_err *err)
{
    struct btz_arena *arena = context->arena;
    struct btz_json *file = btz_json_new_object(arena);
    char whole[PATH_MAX];
    struct btz_hash hash;
    char hex[65];
    int rc;

    if (!path) {
        btz_json_setz(arena, card, key, btz_json_null(arena));
        return BTZ_OK;
    }
    rc = btz_sieve_file_hash(path, &hash, err);
    if (rc == BTZ_OK) {
        btz_json_set_strz(arena, file, "path", realpath(path, whole) ? whole : path);
        btz_json_set_strz(arena, file, "sha256", btz_hash_hex(&hash, hex));
        btz_json_setz(arena, card, key, file);
    }
    return rc;
}

void sieve_card_list(struct btz_context *context, struct btz_json *card, const char *key,
                     const char *option, const char *const *absent)
{
    struct btz_arena *arena = context->arena;
    struct btz_json *list = btz_json_new_array(arena);
    size_t count = 0;
    struct btz_str *values = btz_cmd_values(context, option, &count);

    for (size_t i = 0; i < count; i++) {
        btz_json_push(arena, list, btz_json_new_str(arena, values[i]));
    }
    for (size_t i = 0; count == 0 && absent && absent[i]; i++) {
        btz_json_push(arena, list, btz_json_new_strz(arena, absent[i]));
    }
    btz_json_setz(arena, card, key, list);
}

void sieve_card_arms(struct btz_context *context, struct btz_json *card)
{
    const char *absent[BTZ_CANON_ARMS + 1] = {NULL};
    size_t count = 0;

    for (int arm = 0; arm < BTZ_CANON_ARMS; arm++) {
        if (!btz_canon_arm_asks((enum btz_canon_arm)arm)) {
            absent[count++] = btz_canon_arm_name((enum btz_canon_arm)arm);
        }
    }
    sieve_card_list(context, card, "arms", "arm", absent);
}

void sieve_card_program(struct btz_arena *arena, struct btz_json *card)
{
    struct btz_hash hash = btz_sieve_prompt_hash();
    struct btz_json *prompt = btz_json_new_object(arena);
    struct btz_guard_rules *rules = NULL;
    char hex[65];

    btz_json_set_int(arena, prompt, "version", btz_sieve_prompt_version());
    btz_json_set_strz(arena, prompt, "sha256", btz_hash_hex(&hash, hex));
    btz_json_setz(arena, card, "prompt", prompt);
    btz_json_set_strz(arena, card, "version", BTZ_VERSION);
    if (btz_cmd_binary_hash(&hash, NULL) == BTZ_OK) {
        btz_json_set_strz(arena, card, "binary", btz_hash_hex(&hash, hex));
    }
    if (btz_guard_rules_new(NULL, &rules, NULL) == BTZ_OK) {
        hash = btz_guard_rules_hash(rules);
        btz_json_set_strz(arena, card, "rules", btz_hash_hex(&hash, hex));
    }
    btz_guard_rules_free(rules);
}

/* ---- from the card to the run ---- */

static int check_file(const struct btz_json *card, const char *key, struct btz_str *path,
                      struct btz_arena *arena, struct btz_err *err)
{
    const struct btz_json *file = btz_json_getz(card, key);
    struct btz_hash hash;
    char hex[65];
    int rc;

    *path = btz_json_str(btz_json_getz(file, "path"));
    if (path->len == 0) {
        return BTZ_OK;
    }
    rc = btz_sieve_file_hash(btz_arena_cstr(arena, *path), &hash, err);
    if (rc != BTZ_OK) {
        btz_err_prefix(err, "%.*s: ", BTZ_FMT(*path));
    }
    if (rc == BTZ_OK &&
        !btz_str_is(btz_json_str(btz_json_getz(file, "sha256")), btz_hash_hex(&hash, hex))) {
        rc = btz_err_set(err, BTZ_ECORRUPT,
                         "%.*s was changed since the run was begun: its rows would not belong "
                         "together",
                         BTZ_FMT(*path));
    }
    return rc;
}

static int64_t number_of(const struct btz_json *card, const char *key)
{
    int64_t value = 0;

    (void)btz_json_int64(btz_json_getz(card, key), &value);
    return value;
}

static struct btz_str *list_of(struct btz_arena *arena, const struct btz_json *card,
                               const char *key, size_t *count)
{
    const struct btz_json *list = btz_json_getz(card, key);
    struct btz_str *out = btz_arena_array(arena, btz_json_count(list) + 1, sizeof(*out));

    *count = btz_json_count(list);
    for (size_t i = 0; i < *count; i++) {
        out[i] = btz_json_str(btz_json_at(list, i));
    }
    return out;
}

int sieve_card_models(struct sieve_run *r, const char *key, const char *option,
                      struct sieve_model **out, size_t *count, struct btz_err *err)
{
    struct btz_str *names = list_of(r->arena, r->card, key, count);
    struct sieve_model *models = btz_arena_array(r->arena, *count + 1, sizeof(*models));
    int rc = BTZ_OK;

    for (size_t i = 0; rc == BTZ_OK && i < *count; i++) {
        rc = sieve_model_parse(r, names[i], &models[i], err);
        for (size_t k = 0; rc == BTZ_OK && k < i; k++) {
            if (btz_str_eq(models[k].name, models[i].name)) {
                rc = btz_err_set(err, BTZ_EUSAGE, "%s %.*s is given twice", option,
                                 BTZ_FMT(names[i]));
            }
        }
    }
    *out = models;
    return rc;
}

int sieve_card_is_old(struct btz_context *context, const char *const *settings, size_t count,
                      bool *old, struct btz_err *err)
{
    bool resume = btz_args_has(context->args, "resume");
    bool replay = btz_args_has(context->args, "replay");

    *old = resume || replay;
    if (resume && replay) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "--resume goes on with a run, --replay makes a new one");
    }
    if (*old && btz_args_count(context->args)) {
        return btz_err_set(err, BTZ_EUSAGE, "the file of items is that of the run");
    }
    for (size_t i = 0; *old && i < count; i++) {
        if (btz_args_has(context->args, settings[i])) {
            return btz_err_set(err, BTZ_EUSAGE, "--%s is that of the run", settings[i]);
        }
    }
    return BTZ_OK;
}

int sieve_card_load(struct sieve_run *r, struct btz_err *err)
{
    const char *resumed = btz_args_text(r->context->args, "resume", NULL);
    const char *replayed = btz_args_text(r->context->args, "replay", NULL);
    struct btz_store_sieve_run found;
    int rc = btz_store_sieve_find(r->store, btz_str_of(resumed ? resumed : replayed), r->arena,
                                  &found, err);

    if (rc == BTZ_OK && !btz_str_is(found.kind, r->kind)) {
        rc = btz_err_set(err, BTZ_EUSAGE, "%s is a run of `sieve %.*s`", found.id,
                         BTZ_FMT(found.kind));
    }
    rc = rc ? rc : btz_json_parse(r->arena, found.card, NULL, &r->card, err);
    if (rc == BTZ_OK && resumed) {
        r->resumed = true;
        r->no = found.no;
        memcpy(r->id, found.id, sizeof(found.id));
    } else if (rc == BTZ_OK) {
        r->replay = found.no;
    }
    return rc;
}

/* How many items a run drew when it was begun; 0: it is new. */
static int64_t drawn_by(const struct btz_json *card)
{
    const struct btz_json *items = btz_json_getz(card, "items");
    int64_t count = 0;

    for (int kind = 0; kind < BTZ_SIEVE_KINDS; kind++) {
        count += number_of(items, btz_sieve_kind_name((enum btz_sieve_kind)kind));
    }
    return count;
}

int sieve_card_read(struct sieve_run *r, struct btz_err *err)
{
    const struct btz_json *card = r->card;
    struct btz_str index = btz_json_str(btz_json_getz(card, "index"));
    struct btz_str split = btz_json_str(btz_json_getz(card, "split"));
    struct btz_str *names;
    size_t count = 0;
    int rc = check_file(card, "items", &r->items_path, r->arena, err);

    rc = rc ? rc : check_file(card, "definitions", &r->definitions_path, r->arena, err);
    rc = rc ? rc : check_file(card, "facts", &r->facts_path, r->arena, err);
    r->seed = (uint64_t)number_of(card, "seed");
    r->max_tokens = number_of(card, "max_tokens");
    r->whole = btz_str_is(btz_json_str(btz_json_getz(card, "render")), "whole");
    r->index_raw = !btz_str_is(index, "arm");
    r->index_arm = !btz_str_is(index, "raw");
    names = list_of(r->arena, card, "retrieval", &count);
    for (size_t i = 0; i < count; i++) {
        for (int way = 0; way < SIEVE_RETRIEVALS; way++) {
            r->retrieval[way] |= btz_str_is(names[i], sieve_retrieval_names[way]);
        }
    }
    names = list_of(r->arena, card, "arms", &count);
    rc = rc ? rc : sieve_arms_parse(r, names, count, number_of(card, "random_seeds"), err);
    rc = rc ? rc : sieve_card_models(r, "models", "-m", &r->models, &r->model_count, err);
    if (rc == BTZ_OK && btz_json_is(btz_json_getz(card, "embeddings"), BTZ_JSON_STRING)) {
        r->embeddings = BTZ_NEW(r->arena, struct sieve_model);
        rc = sieve_model_parse(r, btz_json_str(btz_json_getz(card, "embeddings")), r->embeddings,
                               err);
    }
    if (rc == BTZ_OK && r->embeddings && r->embeddings->model.kind == BTZ_LLM_MODEL_REF) {
        rc = btz_err_set(err, BTZ_EUSAGE,
                         "--embeddings: a reference agent makes no embeddings; name a model");
    }
    return rc ? rc
              : sieve_load_items(r, split.len ? btz_arena_cstr(r->arena, split) : NULL,
                                 number_of(card, "limit"), drawn_by(card), err);
}

struct btz_json *sieve_card_counted(const struct sieve_run *r)
{
    struct btz_json *card = btz_json_shallow(r->arena, r->card);
    struct btz_json *items = btz_json_shallow(r->arena, btz_json_getz(card, "items"));

    for (int kind = 0; kind < BTZ_SIEVE_KINDS; kind++) {
        btz_json_set_int(r->arena, items, btz_sieve_kind_name((enum btz_sieve_kind)kind),
                         (int64_t)r->kinds[kind]);
    }
    btz_json_setz(r->arena, card, "items", items);
    return card;
}
