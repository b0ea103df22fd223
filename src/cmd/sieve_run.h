/* What the files of `sieve run` and `sieve attack` share: what is measured, under which arms, by
 * which models, and where the rows go. */
#ifndef BTZ_CMD_SIEVE_RUN_H
#define BTZ_CMD_SIEVE_RUN_H

#include "base/rng.h"
#include "cmd/cmd.h"
#include "guard/canon.h"
#include "llm/endpoint.h"
#include "llm/model.h"
#include "net/loop.h"
#include "sieve/item.h"
#include "sieve/measure.h"
#include "sieve/outcome.h"
#include "sieve/retrieve.h"
#include "store/sieve.h"

enum {
    SIEVE_TOP = 5, /* definitions that retrieval shows at most */
    SIEVE_ROWS_A_COMMIT = 512
};

/* An arm; of random-delete there is one a seed. */
struct sieve_arm {
    enum btz_canon_arm arm;
    uint64_t seed;
    struct btz_str label; /* "canon", "random-delete#1" */
    bool first;           /* the only one of its arm, or the first seed */
};

/* A definition that stands in the index for all items. */
struct sieve_document {
    struct btz_str cluster;
    struct btz_str id;           /* as in the files: of source and definition */
    const struct btz_json *list; /* the list of its server it was found in */
    const struct btz_json *tool;
};

enum sieve_retrieval { SIEVE_ALL, SIEVE_TOP1, SIEVE_TOP5, SIEVE_RETRIEVALS };
extern const char *const sieve_retrieval_names[SIEVE_RETRIEVALS]; /* "none", "top1", "top5" */

/* What retrieval found for an item. */
struct sieve_found {
    uint8_t count;
    struct {
        bool own;
        uint32_t number; /* 0 = the definition under test, then `tools`; or a document */
    } hits[SIEVE_TOP];
};

struct sieve_model {
    struct btz_llm_model model;
    struct btz_llm_key key;
    struct btz_str name; /* in rows */
};

struct sieve_rewriter;
struct sieve_embedder;

struct sieve_run {
    struct btz_context *context;
    struct btz_arena *arena; /* of the command */
    const char *kind;        /* "run" or "attack": of the run in the store, and of the command */
    struct btz_store *store;
    struct btz_net_loop *loop;
    int64_t no; /* of the run in the store */
    char id[BTZ_STORE_ID_SIZE];
    bool resumed;
    int64_t replay; /* run whose replies are taken; 0 = none */
    const struct btz_json *card;

    struct btz_str items_path, definitions_path, facts_path; /* empty: not given */
    struct btz_sieve_fact *facts;                            /* of the file, if one is given */
    size_t fact_count;
    uint64_t seed;
    bool whole; /* --render whole */
    struct sieve_arm *arms;
    size_t arm_count;
    bool retrieval[SIEVE_RETRIEVALS]; /* in front of models */
    bool index_raw, index_arm;
    struct sieve_model *models;
    size_t model_count;
    struct sieve_rewriter *rewriter; /* NULL: no arm asks */
    struct sieve_model *embeddings;  /* NULL: n-grams */
    struct sieve_embedder *embedder; /* NULL until its vectors are there */
    int64_t max_tokens;
    double temperature;

    struct btz_sieve_item *items;
    size_t item_count;
    size_t kinds[BTZ_SIEVE_KINDS];
    size_t *twin; /* of an item: the place of its twin, or SIZE_MAX */
    struct sieve_document *documents;
    size_t document_count;

    /* [arm * item_count + item]; the raw index has the place arm_count. NULL until retrieved. */
    struct sieve_found *found;
    bool *has_found; /* by arm; [arm_count] for the raw index */

    /* `verify`: rows are compared with those of the run, and nothing is written. */
    bool checking;
    bool partial; /* the run is not finished: what it does not have is no difference */
    int64_t same, unlike;
    struct btz_str first_unlike; /* key */

    size_t uncommitted;
    struct btz_progress progress;
    uint64_t done, planned;
    int64_t missing; /* model rows that could not be made */
    char last_failure[512];
};

/* ---- sieve_run_load.c ---- */

/* Reads the items (filtered by --split and --limit) and makes the documents from their lists. A
 * pair is drawn whole or not at all; BTZ_EUSAGE if not even the first fits `limit`. `drawn`: how
 * many items the run has already by its card, which may be older than this rule; 0 for a new run.
 */
int sieve_load_items(struct sieve_run *r, const char *split, int64_t limit, int64_t drawn,
                     struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- sieve_run.c, sieve_attack.c ---- */

/* All rows of a run of that kind that was set up by sieve_card_read. */
int sieve_run_rows(struct sieve_run *r, struct btz_err *err) BTZ_WARN_UNUSED;
int sieve_attack_rows(struct sieve_run *r, struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- sieve_run_show.c ---- */

/* The definitions of an item's server as the arm leaves them: the one under test, then `tools`.
 * `results[i].definition` is NULL where a model's rewriting failed: such a one is withheld. */
int sieve_show_list(struct sieve_run *r, const struct sieve_arm *arm,
                    const struct btz_sieve_item *item, struct btz_arena *arena,
                    struct btz_canon_result **results, size_t *count,
                    struct btz_err *err) BTZ_WARN_UNUSED;
/* The same for any list of definitions. */
int sieve_show_tools(struct sieve_run *r, const struct sieve_arm *arm, const struct btz_json *tools,
                     struct btz_arena *arena, struct btz_canon_result *results,
                     struct btz_err *err) BTZ_WARN_UNUSED;
/* Appends all of them as a model would see them, a line each. */
void sieve_show_render(const struct sieve_run *r, const struct btz_canon_result *results,
                       size_t count, struct btz_buf *out);

/* ---- rows ---- */

/* A row with what every row says of its item. */
struct btz_json *sieve_row_of(struct btz_arena *arena, const char *row,
                              const struct btz_sieve_item *item);
/* Whether the run has the row already. */
bool sieve_row_known(struct sieve_run *r, struct btz_str key);
/* Puts the row (unless the run has it) and commits now and then. */
int sieve_row_put(struct sieve_run *r, struct btz_str key, const struct btz_json *row,
                  struct btz_err *err) BTZ_WARN_UNUSED;
/* Says how many rows of a kind there will be when all is answered, so that a missing one is seen.
 * `of` is the kind of row ("answer", ...), `where` what its keys have before the arm ("MODEL/",
 * may be empty); `plan` says the rest and is completed. */
int sieve_plan_put(struct sieve_run *r, const char *of, struct btz_str where,
                   const struct sieve_arm *arm, struct btz_json *plan, struct btz_arena *arena,
                   struct btz_err *err) BTZ_WARN_UNUSED;
/* Draws the progress line; true if the user wants to stop. */
bool sieve_tick(struct sieve_run *r, const char *what);
/* Leaves the progress line as it stands at the end. Once, after btz_progress_init(). */
void sieve_progress_finish(struct sieve_run *r);

/* ---- sieve_run_offline.c ---- */

/* Everything that needs no model: survival, retrieval, cost in definitions, rules of the guard. */
int sieve_offline(struct sieve_run *r, struct btz_err *err) BTZ_WARN_UNUSED;
/* Retrieval alone, into r->found (and rows). */
int sieve_retrieve(struct sieve_run *r, struct btz_err *err) BTZ_WARN_UNUSED;

/* Calls `take` for each document, in order, as the arm leaves it (`arm` NULL: as it is); one that
 * is withheld is a definition without a name. */
int sieve_documents_each(struct sieve_run *r, const struct sieve_arm *arm,
                         int (*take)(void *data, const struct sieve_document *document,
                                     const struct btz_json *tool, struct btz_err *err),
                         void *data, struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- sieve_run_embed.c ---- */

/* Asks r->embeddings for the vector of everything that retrieval will look at, each text once. */
int sieve_embed_all(struct sieve_run *r, struct btz_err *err) BTZ_WARN_UNUSED;
/* What the index takes, once sieve_embed_all has returned BTZ_OK. */
struct btz_sieve_embedding sieve_embedding(const struct sieve_run *r);
void sieve_embed_free(struct sieve_run *r);

/* ---- sieve_run_definitions.c ---- */

int sieve_definitions(struct sieve_run *r, struct btz_err *err) BTZ_WARN_UNUSED;
/* Reads the labelled facts, if there is a file of them. */
int sieve_facts(struct sieve_run *r, struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- sieve_run_ask.c ---- */

/* Asks every model about every item under every arm. BTZ_EXIT_INTERRUPTED if the user stopped it.
 */
int sieve_ask_models(struct sieve_run *r, struct btz_err *err) BTZ_WARN_UNUSED;
/* The plan of all that sieve_ask_models will ask. */
int sieve_plan_answers(struct sieve_run *r, struct btz_err *err) BTZ_WARN_UNUSED;
/* Request and shown definitions of one question, in `arena`. `retrieval` other than SIEVE_ALL needs
 * r->found; `arm_index`: by the arm's own index. */
struct sieve_question {
    struct btz_sieve_shown *shown;
    size_t count;
    bool target_shown, poisoned_shown;
    struct btz_str parts[BTZ_SIEVE_PARTS];
};
int sieve_question_make(struct sieve_run *r, size_t arm, size_t item,
                        enum sieve_retrieval retrieval, bool arm_index, struct btz_arena *arena,
                        struct sieve_question *out, struct btz_err *err) BTZ_WARN_UNUSED;

/* Asks about `count` things in order and hands the replies on. Recorded replies are taken first;
 * what came is recorded. Calls, with ids from 0: */
struct sieve_source {
    void *data;
    size_t count;
    const char *what; /* for the progress line */
    /* The parts of the request, in `arena`; SIEVE_NOTHING_TO_ASK: nothing to ask. */
    int (*make)(struct sieve_run *r, void *data, size_t id, struct btz_arena *arena,
                struct btz_str *parts, size_t *part_count, struct btz_err *err);
    /* The reply: a body, or the provider's words of refusal. */
    int (*take)(struct sieve_run *r, void *data, size_t id, const struct btz_hash *request,
                struct btz_str bytes, bool rejected, struct btz_err *err);
    enum btz_llm_api api;
    /* NULL, or looks at a reply before it is recorded; what it returns other than BTZ_OK ends the
     * asking, and --resume will ask again. */
    int (*check)(struct sieve_run *r, void *data, size_t id, struct btz_str bytes, bool rejected,
                 struct btz_err *err);
    /* Makes and takes the answer of a reference agent, with sieve_refer; SIEVE_NOTHING_TO_ASK:
     * nothing to ask. NULL where no such agent can be asked. */
    int (*refer)(struct sieve_run *r, void *data, size_t id, const struct sieve_model *model,
                 struct btz_arena *arena, struct btz_err *err);
};
enum { SIEVE_NOTHING_TO_ASK = 1, SIEVE_PARTS_MAX = 40 };
/* BTZ_EXIT_INTERRUPTED if the user stopped it. What could not be had counts in r->missing. */
int sieve_ask(struct sieve_run *r, const struct sieve_model *model,
              const struct sieve_source *source, struct btz_err *err) BTZ_WARN_UNUSED;
/* What the reference agent `model` replies to the question about `item`. */
struct btz_str sieve_refer(const struct sieve_model *model, const struct btz_sieve_item *item,
                           const struct sieve_question *q, struct btz_arena *arena);

/* ---- sieve_run_rewrite.c ---- */

/* Asks the rewriting model for every definition that an arm needs, before anything is measured. */
int sieve_rewrite_all(struct sieve_run *r, struct sieve_model *model,
                      struct btz_err *err) BTZ_WARN_UNUSED;
/* The rewritten definition; `out->definition` is NULL if rewriting failed. */
int sieve_rewrite_get(struct sieve_run *r, enum btz_canon_arm arm, const struct btz_json *tool,
                      struct btz_arena *arena, struct btz_canon_result *out,
                      struct btz_err *err) BTZ_WARN_UNUSED;
void sieve_rewrite_free(struct sieve_run *r);

/* ---- sieve_run_card.c ---- */

/* Parses a model reference, with its key unless the run is replayed: then nothing is asked. */
int sieve_model_parse(struct sieve_run *r, struct btz_str reference, struct sieve_model *out,
                      struct btz_err *err) BTZ_WARN_UNUSED;
/* Arms by name; `seeds` of random-delete. */
int sieve_arms_parse(struct sieve_run *r, const struct btz_str *names, size_t count, int64_t seeds,
                     struct btz_err *err) BTZ_WARN_UNUSED;
/* Sets {path, sha256} of a file, or null. */
int sieve_card_file(struct btz_context *context, struct btz_json *card, const char *key,
                    const char *path, struct btz_err *err) BTZ_WARN_UNUSED;
/* Sets the values of a LIST option, or those of `absent` (NULL: none; ends with NULL). */
void sieve_card_list(struct btz_context *context, struct btz_json *card, const char *key,
                     const char *option, const char *const *absent);
/* Sets the arms of --arm, or all that ask no model. */
void sieve_card_arms(struct btz_context *context, struct btz_json *card);
/* Sets what the program brings: prompt, rules, version. */
void sieve_card_program(struct btz_arena *arena, struct btz_json *card);
/* Whether --resume or --replay is given; then neither a file nor one of `settings` may be. */
int sieve_card_is_old(struct btz_context *context, const char *const *settings, size_t count,
                      bool *old, struct btz_err *err) BTZ_WARN_UNUSED;
/* The card of the run that --resume (which goes on with it) or --replay names. */
int sieve_card_load(struct sieve_run *r, struct btz_err *err) BTZ_WARN_UNUSED;
/* The models of a list of the card, each once. */
int sieve_card_models(struct sieve_run *r, const char *key, const char *option,
                      struct sieve_model **out, size_t *count, struct btz_err *err) BTZ_WARN_UNUSED;
/* Sets up the run by r->card: files (which must not have changed), arms, models, items. */
int sieve_card_read(struct sieve_run *r, struct btz_err *err) BTZ_WARN_UNUSED;
/* How many items of each kind the card's file gave: a copy of the card that says so too. */
struct btz_json *sieve_card_counted(const struct sieve_run *r);

#endif
