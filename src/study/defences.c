/* What the defences of a study need, and how a card says which they were. */
#include "guard/guard.h"
#include "guard/model.h"
#include "study/study_int.h"
#include "wire/gateway.h"

static const struct btz_str undefended[] = {BTZ_STR("none")};

static bool needs_rules(const struct btz_defence *d)
{
    return (d->input || d->context) && !d->model;
}

static bool asks_to_rewrite(const struct btz_defence *d)
{
    return d->canon && btz_canon_arm_asks(d->arm);
}

/* The reason why a gateway's target is none says more than that there is no such defence. */
static int unknown(struct btz_arena *arena, struct btz_str name, struct btz_err *err)
{
    if (btz_str_starts(name, BTZ_STR("proxy:"))) {
        int rc = btz_gateway_check(btz_str_sub(name, strlen("proxy:"), name.len), err);

        btz_err_prefix(err, "--defence proxy: ");
        return rc;
    }
    if (btz_str_starts(name, BTZ_STR("canon:"))) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "--defence canon: there is no arm \"%.*s\"; use %.*s; behind it + and "
                           "input, context or combined with what may follow them",
                           BTZ_FMT(btz_str_sub(name, strlen("canon:"), name.len)),
                           BTZ_FMT(btz_canon_arm_list(arena)));
    }
    return btz_err_set(err, BTZ_EUSAGE,
                       "there is no defence \"%.*s\"; use none, input, context or combined, "
                       "behind it :model (a guard model instead of rules), +rescan, +closed; "
                       "canon:ARM, behind it + and any of these; or proxy:COMMAND, proxy:URL",
                       BTZ_FMT(name));
}

/* A gateway that runs already knows our servers under one address: one trial at a time. */
static int check_proxies(struct btz_study *study, struct btz_err *err)
{
    const struct btz_study_options *o = &study->options;
    bool url = false;
    bool any = false;

    for (size_t i = 0; i < o->defence_count; i++) {
        struct btz_proxy *proxy = &study->defences[i].proxy;
        struct btz_str target = proxy->target;

        if (target.len) {
            *proxy = o->proxy;
            proxy->target = target;
            any = true;
            url |= btz_gateway_is_url(target);
        }
    }
    if (url && (o->model_count > 1 || model_in_flight(study, 0) > 1)) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "--defence proxy:URL is for one trial at a time: use one model and "
                           "--in-flight 1");
    }
    if (url && !o->proxy.port) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "--defence proxy:URL needs --defence-listen HOST:PORT, where the "
                           "gateway finds the servers as http://HOST:PORT/SERVER/mcp");
    }
    if (o->proxy.port && !url) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "--defence-listen is of use with --defence proxy:URL "
                           "only");
    }
    if (any && !o->proxy.program.len) {
        return btz_err_set(err, BTZ_EINTERNAL, "the path of this program is not known");
    }
    return BTZ_OK;
}

bool defences_allow(const struct btz_study *study, size_t defence,
                    const struct btz_scenario *scenario, struct btz_str *why)
{
    if (!study->defences[defence].proxy.target.len) {
        return true;
    }
    if (btz_scenario_has_relay(scenario)) {
        *why = BTZ_STR("its adversary is on the wire that the gateway replaces");
        return false;
    }
    if (btz_json_pointer(scenario->card, BTZ_STR("/setting/authorization"))) {
        *why = BTZ_STR("its server asks for authorization, which ends at the gateway");
        return false;
    }
    return true;
}

int defences_parse(struct btz_study *study, struct btz_err *err)
{
    struct btz_study_options *o = &study->options;
    bool asks = false;
    bool rewrites = false;

    if (o->defence_count == 0) {
        o->defences = undefended;
        o->defence_count = 1;
    }
    study->defences = btz_arena_array(study->arena, o->defence_count, sizeof(*study->defences));
    for (size_t i = 0; i < o->defence_count; i++) {
        if (btz_defence_named(o->defences[i], &study->defences[i]) != BTZ_OK) {
            return unknown(study->arena, o->defences[i], err);
        }
        for (size_t k = 0; k < i; k++) {
            if (btz_str_eq(o->defences[k], o->defences[i])) {
                return btz_err_set(err, BTZ_EUSAGE, "defence %.*s is given twice",
                                   BTZ_FMT(o->defences[i]));
            }
        }
        asks |= study->defences[i].model;
        rewrites |= asks_to_rewrite(&study->defences[i]);
    }
    if (asks && !o->guard) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "a defence with :model needs a guard model: use --guard-model, for "
                           "example --guard-model openai:NAME@http://127.0.0.1:8080/v1");
    }
    if (!asks && o->guard) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "a guard model is given and no defence asks it: use --defence with "
                           ":model, for example --defence combined:model");
    }
    if (rewrites && !o->rewriter) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "%.*s need a rewriting model: use --rewrite-model, for example "
                           "--rewrite-model openai:NAME@http://127.0.0.1:8080/v1",
                           BTZ_FMT(btz_canon_asking_list(study->arena, "canon:")));
    }
    if (!rewrites && o->rewriter) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "a rewriting model is given and no defence asks it; those that do are "
                           "%.*s",
                           BTZ_FMT(btz_canon_asking_list(study->arena, "canon:")));
    }
    return check_proxies(study, err);
}

static int open_rules(struct btz_study *study, struct btz_err *err)
{
    int rc = btz_guard_rules_new(NULL, &study->rules, err);

    if (rc == BTZ_OK) {
        study->scanner = btz_guard_scanner_new(study->rules);
    }
    return rc;
}

static int open_client(struct btz_study *study, const struct btz_study_model *m,
                       struct btz_drive_guard **out, struct btz_err *err)
{
    struct btz_runner_options options = {
        .model = &m->model,
        .key = &m->key,
        .in_flight = m->in_flight ? m->in_flight : 1,
        .seed = study->options.seed,
        .attempt_timeout_us = m->request_timeout_us,
    };

    return btz_drive_guard_new(study->drive, &options, out, err);
}

static bool is_tested(const struct btz_study *study, const struct btz_study_model *m)
{
    for (size_t i = 0; i < study->options.model_count; i++) {
        const struct btz_llm_model *tested = &study->options.models[i].model;

        if (tested->kind != BTZ_LLM_MODEL_REF && btz_llm_same_name(tested->id, m->model.id)) {
            return true;
        }
    }
    return false;
}

static int open_guard(struct btz_study *study, struct btz_err *err)
{
    const struct btz_study_model *m = study->options.guard;

    if (m->model.kind == BTZ_LLM_MODEL_REF) {
        return btz_err_set(err, BTZ_EUSAGE, "a reference agent cannot be a guard model");
    }
    if (is_tested(study, m)) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "model %.*s cannot guard itself, wherever it is served: its errors "
                           "would be counted twice",
                           BTZ_FMT(m->model.reference));
    }
    return open_client(study, m, &study->guard, err);
}

static int open_rewriter(struct btz_study *study, struct btz_err *err)
{
    const struct btz_study_model *m = study->options.rewriter;

    if (m->model.kind == BTZ_LLM_MODEL_REF) {
        return btz_err_set(err, BTZ_EUSAGE, "a reference agent cannot rewrite: name a model");
    }
    return open_client(study, m, &study->rewriter, err);
}

int defences_open(struct btz_study *study, struct btz_err *err)
{
    int rc = BTZ_OK;

    for (size_t i = 0; rc == BTZ_OK && i < study->options.defence_count; i++) {
        if (needs_rules(&study->defences[i]) && !study->rules) {
            rc = open_rules(study, err);
        }
        study->defences[i].scanner = study->scanner;
    }
    if (rc == BTZ_OK && study->options.guard) {
        rc = open_guard(study, err);
    }
    if (rc == BTZ_OK && study->options.rewriter) {
        rc = open_rewriter(study, err);
    }
    return rc;
}

/* An answer that came: a failure is asked again, what could not be read as a verdict is not. */
static bool was_answered(const struct btz_store_exchange *e)
{
    return e->model.len ||
           !(btz_str_is(e->stop, BTZ_FINISH_FAILED) || btz_str_is(e->stop, BTZ_FINISH_REJECTED));
}

static int remember_trial(struct btz_study *study, int64_t n, struct btz_arena *arena,
                          struct btz_err *err)
{
    struct btz_store_row row;
    int rc = btz_store_trial_load(study->options.store, study->run, n, arena, &row, err);

    for (size_t i = 0; rc == BTZ_OK && i < row.trial.exchange_count; i++) {
        const struct btz_store_exchange *e = &row.trial.exchanges[i];
        struct btz_drive_guard *asked = btz_str_is(e->role, BTZ_ROLE_GUARD)     ? study->guard
                                        : btz_str_is(e->role, BTZ_ROLE_REWRITE) ? study->rewriter
                                                                                : NULL;

        if (asked && was_answered(e)) {
            btz_drive_guard_remember(asked, e->parts, e->part_count, e->reply, e->took_us);
        }
    }
    return rc;
}

int defences_remember(struct btz_study *study, struct btz_err *err)
{
    struct btz_store_rows *rows = NULL;
    struct btz_store_row row;
    struct btz_arena *arena;
    int rc;

    if (!study->guard && !study->rewriter) {
        return BTZ_OK;
    }
    arena = btz_arena_new();
    rc = btz_store_rows_open(study->options.store, study->run, BTZ_STORE_BY_PLAN, &rows, err);
    while (rc == BTZ_OK && (rc = btz_store_rows_next(rows, &row, err)) == 1) {
        rc = BTZ_OK;
        if (row.n > 0 && row.trial.outcome != BTZ_STORE_FAULT) {
            btz_arena_reset(arena);
            rc = remember_trial(study, row.n, arena, err);
        }
    }
    btz_store_rows_free(rows);
    btz_arena_free(arena);
    return rc;
}

void defences_close(struct btz_study *study)
{
    btz_drive_guard_free(study->guard);
    btz_drive_guard_free(study->rewriter);
    btz_guard_scanner_free(study->scanner);
    btz_guard_rules_free(study->rules);
}

static bool canonicalises(const struct btz_study *study)
{
    for (size_t i = 0; i < study->options.defence_count; i++) {
        if (study->defences[i].canon) {
            return true;
        }
    }
    return false;
}

struct btz_json *defences_card(struct btz_study *study)
{
    struct btz_arena *arena = study->arena;
    struct btz_json *card = btz_json_new_object(arena);

    if (study->rules) {
        card_set_hash(arena, card, "rules_hash", btz_guard_rules_hash(study->rules));
    }
    if (canonicalises(study)) {
        card_set_hash(arena, card, "canon_hash", btz_canon_hash());
    }
    if (study->guard || study->rewriter) {
        card_set_hash(arena, card, "prompt_hash", btz_guard_prompts_hash());
    }
    if (study->guard) {
        btz_json_setz(arena, card, "model", card_of_model(arena, study->options.guard));
    }
    if (study->rewriter) {
        btz_json_setz(arena, card, "rewrite_model", card_of_model(arena, study->options.rewriter));
        btz_json_set_bool(arena, card, "rewriter_is_agent",
                          is_tested(study, study->options.rewriter));
    }
    return btz_json_count(card) ? card : NULL;
}

int defences_check(const struct btz_study *study, const struct btz_json *card, struct btz_err *err)
{
    const struct btz_json *guard = btz_json_getz(card, "guard");

    if ((study->rules &&
         !card_same_hash(guard, "rules_hash", btz_guard_rules_hash(study->rules))) ||
        ((study->guard || study->rewriter) &&
         !card_same_hash(guard, "prompt_hash", btz_guard_prompts_hash())) ||
        (canonicalises(study) && !card_same_hash(guard, "canon_hash", btz_canon_hash()))) {
        return btz_err_set(err, BTZ_EDENIED,
                           "the guard's rules or prompts of this program are not those of the run: "
                           "its cells would not be comparable; start a new run");
    }
    return BTZ_OK;
}
