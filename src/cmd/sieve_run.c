/* sieve run: measures what canonicalisation stops and what it costs. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cmd/sieve.h"
#include "cmd/sieve_run.h"
#include "report/sieve.h"

enum {
    SEEDS_DEFAULT = 20,
    SEEDS_WITH_MODEL = 3, /* each is a whole pass of requests */
    MAX_TOKENS_DEFAULT = 512,
    REPORT_MAX = 64 * 1024 * 1024
};

/* A word of a closed list. */
static int check_word(const char *option, const char *word, const char *const *known,
                      struct btz_err *err)
{
    for (size_t i = 0; word && known[i]; i++) {
        if (strcmp(known[i], word) == 0) {
            return BTZ_OK;
        }
    }
    return word ? btz_err_set(err, BTZ_EUSAGE, "--%s %s is not known; `bartizan sieve run --help`",
                              option, word)
                : BTZ_OK;
}

static int check_words(struct btz_context *context, struct btz_err *err)
{
    static const char *const indexes[] = {"raw", "arm", "both", NULL};
    static const char *const splits[] = {"dev", "test", NULL};
    static const char *const renders[] = {"function", "whole", NULL};
    static const char *const retrievals[] = {"none", "top1", "top5", NULL};
    struct btz_args *args = context->args;
    const char *const *given = NULL;
    size_t count = btz_args_list(args, "retrieval", &given);
    int rc = check_word("index", btz_args_text(args, "index", NULL), indexes, err);

    rc = rc ? rc : check_word("split", btz_args_text(args, "split", NULL), splits, err);
    rc = rc ? rc : check_word("render", btz_args_text(args, "render", NULL), renders, err);
    for (size_t i = 0; rc == BTZ_OK && i < count; i++) {
        rc = check_word("retrieval", given[i], retrievals, err);
    }
    if (rc == BTZ_OK && btz_args_flag(args, "no-model") &&
        (btz_args_has(args, "model") || btz_args_has(args, "rewrite-model"))) {
        rc = btz_err_set(err, BTZ_EUSAGE, "--no-model cannot go with a model");
    }
    return rc;
}

static int make_card(struct btz_context *context, struct btz_json **out, struct btz_err *err)
{
    static const char *const everything[] = {"none", NULL};
    struct btz_args *args = context->args;
    struct btz_arena *arena = context->arena;
    struct btz_json *card = btz_json_new_object(arena);
    bool models = btz_args_has(args, "model");
    const char *rewriter = btz_args_text(args, "rewrite-model", NULL);
    int rc = check_words(context, err);

    if (rc == BTZ_OK && btz_args_count(args) == 0) {
        rc = btz_err_set(err, BTZ_EUSAGE, "give a file of items, or --resume RUN");
    }
    btz_json_set_int(arena, card, "format", 1);
    rc = rc ? rc : sieve_card_file(context, card, "items", btz_args_positional(args, 0), err);
    rc = rc ? rc
            : sieve_card_file(context, card, "definitions",
                              btz_args_text(args, "definitions", NULL), err);
    rc = rc ? rc : sieve_card_file(context, card, "facts", btz_args_text(args, "facts", NULL), err);
    if (rc != BTZ_OK) {
        return rc;
    }
    sieve_card_arms(context, card);
    sieve_card_list(context, card, "models", "model", NULL);
    sieve_card_list(context, card, "retrieval", "retrieval", everything);
    btz_json_set_strz(arena, card, "index", btz_args_text(args, "index", models ? "raw" : "both"));
    btz_json_set_int(arena, card, "random_seeds",
                     btz_args_int(args, "random-seeds", models ? SEEDS_WITH_MODEL : SEEDS_DEFAULT));
    btz_json_setz(arena, card, "rewrite_model",
                  rewriter ? btz_json_new_strz(arena, rewriter) : btz_json_null(arena));
    btz_json_setz(arena, card, "embeddings",
                  btz_args_has(args, "embeddings")
                      ? btz_json_new_strz(arena, btz_args_text(args, "embeddings", NULL))
                      : btz_json_null(arena));
    btz_json_setz(arena, card, "split",
                  btz_args_has(args, "split")
                      ? btz_json_new_strz(arena, btz_args_text(args, "split", NULL))
                      : btz_json_null(arena));
    btz_json_set_int(arena, card, "limit", btz_args_int(args, "limit", INT64_MAX));
    btz_json_set_int(arena, card, "seed", btz_args_int(args, "seed", 1));
    btz_json_set_strz(arena, card, "render", btz_args_text(args, "render", "function"));
    btz_json_set_int(arena, card, "max_tokens",
                     btz_args_int(args, "max-tokens", MAX_TOKENS_DEFAULT));
    sieve_card_program(arena, card);
    *out = card;
    return BTZ_OK;
}

/* ---- the run ---- */

/* Whether the model that rewrites is one of the agents, for the card. */
static int set_rewriter(struct sieve_run *r, struct btz_json *card, struct btz_err *err)
{
    struct btz_str reference = btz_json_str(btz_json_getz(r->card, "rewrite_model"));
    struct sieve_model model;
    bool same = false;
    int rc;

    if (reference.len == 0) {
        btz_json_setz(r->arena, card, "rewriter_is_agent", btz_json_null(r->arena));
        return BTZ_OK;
    }
    rc = sieve_model_parse(r, reference, &model, err);
    for (size_t m = 0; rc == BTZ_OK && m < r->model_count; m++) {
        same |= btz_llm_same_name(r->models[m].model.id, model.model.id);
    }
    btz_json_set_bool(r->arena, card, "rewriter_is_agent", same);
    return rc;
}

static int begin(struct sieve_run *r, struct btz_err *err)
{
    const char *replayed = btz_args_text(r->context->args, "replay", NULL);
    struct btz_json *card = sieve_card_counted(r);
    int rc = set_rewriter(r, card, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    if (replayed) {
        btz_json_set_strz(r->arena, card, "replay_of", replayed);
    }
    r->card = card;
    return btz_store_sieve_new(r->store, BTZ_STR("run"), btz_json_text(r->arena, card),
                               btz_clock_wall_us(), &r->no, r->id, err);
}

static bool rewrites(const struct sieve_run *r)
{
    for (size_t a = 0; a < r->arm_count; a++) {
        if (btz_canon_arm_asks(r->arms[a].arm)) {
            return true;
        }
    }
    return false;
}

/* Before the run is in the store: what cannot be run leaves none behind. */
static int check_rewriter(const struct sieve_run *r, struct btz_err *err)
{
    bool named = btz_json_str(btz_json_getz(r->card, "rewrite_model")).len > 0;

    if (rewrites(r) && !named) {
        return btz_err_set(err, BTZ_EUSAGE, "an arm asks a model: name it with --rewrite-model");
    }
    if (named && !rewrites(r)) {
        return btz_err_set(err, BTZ_EUSAGE, "no arm needs --rewrite-model");
    }
    return BTZ_OK;
}

static int set_up(struct sieve_run *r, struct btz_err *err)
{
    static const char *const settings[] = {
        "definitions",   "facts",        "arm",        "model",    "retrieval",
        "index",         "split",        "limit",      "render",   "seed",
        "rewrite-model", "random-seeds", "max-tokens", "no-model", "embeddings"};
    struct btz_json *card = NULL;
    bool old = false;
    int rc =
        sieve_card_is_old(r->context, settings, sizeof(settings) / sizeof(settings[0]), &old, err);

    rc = rc ? rc : btz_cmd_store(r->context, BTZ_STORE_WRITE, &r->store, err);
    if (rc != BTZ_OK) {
        return rc;
    }
    if (old) {
        rc = sieve_card_load(r, err);
    } else {
        rc = make_card(r->context, &card, err);
        r->card = card;
    }
    rc = rc ? rc : sieve_card_read(r, err);
    rc = rc ? rc : sieve_facts(r, err);
    rc = rc ? rc : check_rewriter(r, err);
    rc = rc || r->resumed ? rc : begin(r, err);
    rc = rc ? rc : btz_net_loop_new(&r->loop, err);
    return rc ? rc : btz_net_loop_catch_signals(r->loop, err);
}

/* A rewriting that is missing would be measured as a refused one. */
static int rewrite(struct sieve_run *r, struct btz_err *err)
{
    struct btz_str reference = btz_json_str(btz_json_getz(r->card, "rewrite_model"));
    struct sieve_model *model = BTZ_NEW(r->arena, struct sieve_model);
    int rc;

    if (!rewrites(r)) {
        return BTZ_OK;
    }
    rc = sieve_model_parse(r, reference, model, err);
    if (rc == BTZ_OK && model->model.kind == BTZ_LLM_MODEL_REF) {
        rc = btz_err_set(err, BTZ_EUSAGE, "a reference agent cannot rewrite: name a model");
    }
    for (size_t m = 0; rc == BTZ_OK && m < r->model_count; m++) {
        if (btz_llm_same_name(r->models[m].model.id, model->model.id)) {
            btz_cmd_note(r->context,
                         "the rewriting model is also the agent %.*s: its rates are not those of "
                         "an independent rewriter",
                         BTZ_FMT(r->models[m].name));
        }
    }
    rc = rc ? rc : sieve_rewrite_all(r, model, err);
    if (rc == BTZ_OK && r->missing) {
        rc = btz_err_set(err, BTZ_EIO,
                         "%lld definitions were not rewritten; `bartizan sieve run --resume %s` "
                         "asks for them again",
                         (long long)r->missing, r->id);
    }
    return rc;
}

static uint64_t planned(const struct sieve_run *r)
{
    uint64_t views = 0;
    uint64_t first = 0;

    for (int way = 0; way < SIEVE_RETRIEVALS; way++) {
        views += !r->retrieval[way] ? 0
                 : way == SIEVE_ALL ? 1
                                    : (uint64_t)r->index_raw + (uint64_t)r->index_arm;
    }
    for (size_t a = 0; a < r->arm_count; a++) {
        first += r->arms[a].first;
    }
    return r->item_count * r->arm_count +
           r->item_count * ((uint64_t)r->index_raw + (r->index_arm ? first : 0)) +
           r->document_count * first + r->item_count * r->arm_count * views * r->model_count;
}

int sieve_run_rows(struct sieve_run *r, struct btz_err *err)
{
    int rc = sieve_plan_answers(r, err);

    rc = rc ? rc : rewrite(r, err);
    rc = rc ? rc : sieve_offline(r, err);
    return rc ? rc : sieve_ask_models(r, err);
}

void sieve_progress_finish(struct sieve_run *r)
{
    struct btz_buf line;

    btz_buf_init(&line, 65536);
    btz_progress_finish(&r->progress, r->done, r->planned, btz_clock_mono_us(), &line);
    if (line.len) {
        (void)fwrite(line.ptr, 1, line.len, stderr);
    }
    btz_buf_fini(&line);
}

static int measure(struct sieve_run *r, struct btz_err *err)
{
    int rc;
    int flushed;

    btz_cmd_note(r->context, "run %s: %zu items, %zu definitions around them, %zu arms (%s)", r->id,
                 r->item_count, r->document_count, r->arm_count, r->resumed ? "resumed" : "new");
    btz_progress_init(&r->progress, &r->context->err, r->context->quiet, 0, btz_clock_mono_us());
    r->planned = planned(r);
    rc = sieve_run_rows(r, err);
    sieve_progress_finish(r);
    flushed = btz_store_sieve_commit(r->store, rc ? NULL : err);
    if (rc == BTZ_OK && flushed == BTZ_OK && !r->missing) {
        rc = btz_store_sieve_mark(r->store, r->no, true, err);
    }
    return rc ? rc : flushed;
}

int btz_cmd_sieve_print(struct btz_context *context, struct btz_store *store,
                        const struct btz_store_sieve_run *run, struct btz_err *err)
{
    struct btz_sieve_report *report = NULL;
    struct btz_buf out;
    int rc = btz_sieve_report_build(store, run, context->arena, &report, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    if (context->json) {
        return btz_cmd_print_json(context, btz_sieve_report_json(report, context->arena), err);
    }
    btz_buf_init(&out, REPORT_MAX);
    if (context->csv) {
        btz_sieve_report_csv(report, &out);
    } else {
        btz_sieve_report_print(report, &context->out, &out);
    }
    rc = btz_cmd_print(&out, err);
    btz_buf_fini(&out);
    return rc;
}

static int finish(struct sieve_run *r, struct btz_err *err)
{
    struct btz_store_sieve_run run;
    int rc = btz_store_sieve_find(r->store, btz_str_of(r->id), r->arena, &run, err);

    rc = rc ? rc : btz_cmd_sieve_print(r->context, r->store, &run, err);
    if (rc == BTZ_OK && r->missing) {
        btz_cmd_note(r->context,
                     "%lld answers are missing: `bartizan sieve run --resume %s` asks again",
                     (long long)r->missing, r->id);
        rc = BTZ_EXIT_FAILED;
    } else if (rc == BTZ_OK) {
        btz_cmd_note(r->context, "`bartizan sieve report %s --items FILE.jsonl` writes every row",
                     r->id);
    }
    return rc;
}

static int run(struct btz_context *context, struct btz_err *err)
{
    struct sieve_run r = {.context = context, .kind = "run", .arena = context->arena};
    int rc = set_up(&r, err);

    rc = rc ? rc : measure(&r, err);
    if (rc == BTZ_EXIT_INTERRUPTED) {
        btz_cmd_note(context,
                     "interrupted: every row so far is kept, `bartizan sieve run --resume "
                     "%s` goes on",
                     r.id);
    } else if (rc == BTZ_OK) {
        rc = finish(&r, err);
    }
    sieve_rewrite_free(&r);
    sieve_embed_free(&r);
    btz_net_loop_free(r.loop);
    btz_store_close(r.store);
    return rc;
}

static const struct btz_option options[] = {
    {"model", 'm', BTZ_OPTION_LIST, "MODEL",
     "ask this model: openai:NAME@http://HOST:PORT/v1, openai:NAME, local, or a reference agent "
     "(ref:floor, ref:reader, ref:insider, ref:null)",
     0, 0},
    {"no-model", 0, BTZ_OPTION_FLAG, NULL, "measure what needs no model (so it is without -m)", 0,
     0},
    {"arm", 0, BTZ_OPTION_LIST, "ARM", "only this arm (default: all that ask no model)", 0, 0},
    {"rewrite-model", 0, BTZ_OPTION_TEXT, "MODEL",
     "the model that rewrites, for the arms model-rewrite and canon+rewrite", 0, 0},
    {"retrieval", 0, BTZ_OPTION_LIST, "HOW",
     "what a model is shown: none (the whole server, default), top1 or top5", 0, 0},
    {"embeddings", 0, BTZ_OPTION_TEXT, "MODEL",
     "vectors of this model (as -m) for the dense half of retrieval (default: n-grams, offline)", 0,
     0},
    {"index", 0, BTZ_OPTION_TEXT, "WHICH",
     "retrieval by the raw index, the arm's own, or both (default: raw with a model, else both)", 0,
     0},
    {"split", 0, BTZ_OPTION_TEXT, "SPLIT", "only items of this split: dev or test", 0, 0},
    {"limit", 0, BTZ_OPTION_INT, "N",
     "at most N items, drawn by --seed; a pair is drawn whole or not at all", 1, INT64_MAX},
    {"definitions", 0, BTZ_OPTION_TEXT, "FILE",
     "real definitions, for the cost of arms and the rules (default: the items' own)", 0, 0},
    {"facts", 0, BTZ_OPTION_TEXT, "FILE.csv", "labelled facts: id, fact kind, text", 0, 0},
    {"render", 0, BTZ_OPTION_TEXT, "WHAT",
     "function: name, description, inputSchema (default); whole: every member", 0, 0},
    {"random-seeds", 0, BTZ_OPTION_INT, "N",
     "seeds of random-delete (default 20; 3 with a model, since each is a whole pass)", 1, 99},
    {"max-tokens", 0, BTZ_OPTION_INT, "N", "of one answer (default 512)", 1, 1000000},
    {"in-flight", 0, BTZ_OPTION_INT, "N", "requests at a time (default 8; 1 with local)", 1, 4096},
    {"request-timeout", 0, BTZ_OPTION_INT, "S",
     "seconds for one attempt of a model request (default 120)", 1, 86400},
    {"resume", 0, BTZ_OPTION_TEXT, "RUN", "go on with an interrupted run", 0, 0},
    {"replay", 0, BTZ_OPTION_TEXT, "RUN",
     "make a run's rows anew from its recorded replies, without a network", 0, 0},
    {"key-file", 0, BTZ_OPTION_TEXT, "FILE",
     "file with the key (mode 0600); default: OPENAI_API_KEY", 0, 0},
    {"key-for", 0, BTZ_OPTION_LIST, "HOST:PORT", "send the key to this host too", 0, 0},
    {NULL, 0, BTZ_OPTION_FLAG, NULL, NULL, 0, 0},
};
static const char *const usage[] = {"ITEMS.jsonl [-m MODEL...] [--arm ARM...]", "--resume RUN",
                                    "--replay RUN", NULL};
static const char *const examples[] = {
    "bartizan sieve run items.jsonl --no-model",
    "bartizan sieve run test.jsonl -m openai:NAME@http://127.0.0.1:8080/v1 --retrieval top5",
    "bartizan sieve run test.jsonl -m local --arm none --arm canon --limit 100",
    "bartizan sieve run items.jsonl --embeddings openai:NAME@http://127.0.0.1:8080/v1",
    "bartizan sieve run --resume last",
    NULL};

const struct btz_command btz_sieve_run_command = {
    .args = {.name = "sieve run",
             .summary = "measure what canonicalisation stops and what it costs",
             .usage = usage,
             .options = options,
             .examples = examples,
             .max_positionals = 1},
    .csv = true,
    .run = run,
};
