/* sieve attack: the budgeted adaptive attacker. For every attack and every arm it says the payload
 * in other ways, in a fixed order, until what survives the arm does so on a fresh seed too (and,
 * with a model, until the model acts on both), or until its budget is used up. */
#include <stdio.h>

#include "base/clock.h"
#include "cmd/sieve.h"
#include "cmd/sieve_run.h"
#include "drive/sieve_client.h"
#include "sieve/attack.h"
#include "sieve/survive.h"

enum {
    ARM_BUDGET = 60,   /* canonicalisations an attacker may look at */
    MODEL_BUDGET = 10, /* answers */
    SHOWN_MAX = 64 * 1024 * 1024,
    FRESH = 1000003, /* added to a seed: the second drawing of a variant */
    MAX_TOKENS_DEFAULT = 512
};

/* One attack under one arm. */
struct duel {
    uint32_t item, arm;
    uint32_t tries; /* variants made, the item as it is counting as the first */
    int64_t arm_queries, model_queries;
    bool over, broken;
    bool acted[2];        /* on the variant and on its fresh drawing */
    bool answered[2];     /* the same */
    bool waits;           /* for both answers */
    bool stuck;           /* an answer is missing: neither broken nor not */
    const char *operator; /* of the last variant */
};

struct attacker {
    struct sieve_run *r;
    const struct sieve_model *model; /* NULL: bytes alone */
    int64_t arm_budget, model_budget;
    struct duel *duels;
    size_t count;
};

/* Variant number `tries` of the duel: the item as it is, then the operators in order, with another
 * seed in each round. */
static int variant_of(const struct attacker *a, const struct duel *d, uint64_t fresh,
                      struct btz_arena *arena, struct btz_sieve_item *out, const char **name)
{
    const struct sieve_run *r = a->r;
    const struct btz_sieve_item *attack = &r->items[d->item];
    size_t index;

    if (d->tries == 0) {
        *out = *attack;
        *name = "as it is";
        return BTZ_OK;
    }
    index = (d->tries - 1) % btz_sieve_operator_count();
    *name = btz_sieve_operator_at(index)->name;
    return btz_sieve_operator_apply(index, attack, &r->items[r->twin[d->item]],
                                    r->seed + (d->tries - 1) / btz_sieve_operator_count() + fresh,
                                    arena, out);
}

/* One arm query: does the variant come through? */
static int look(const struct attacker *a, const struct duel *d, const struct btz_sieve_item *item,
                bool *survives, struct btz_arena *arena, struct btz_err *err)
{
    struct btz_sieve_survival survival;
    struct btz_canon_result *results;
    struct btz_buf shown;
    size_t count = 0;
    int rc = sieve_show_list(a->r, &a->r->arms[d->arm], item, arena, &results, &count, err);

    if (rc == BTZ_OK) {
        btz_buf_init(&shown, SHOWN_MAX);
        sieve_show_render(a->r, results, count, &shown);
        btz_sieve_survive(btz_buf_view(&shown), item->operands, item->operand_count, &survival);
        *survives = survival.survived_loose;
        btz_buf_fini(&shown);
    }
    return rc;
}

/* Goes on by bytes until a variant and its fresh drawing both survive (then with a model the duel
 * waits for its answers), or the budget is used up. */
static int advance(const struct attacker *a, struct duel *d, struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    size_t skipped = 0;
    int rc = BTZ_OK;

    while (rc == BTZ_OK && !d->over && !d->waits) {
        struct btz_sieve_item variant;
        struct btz_sieve_item fresh;
        bool survives = false;

        btz_arena_reset(arena);
        if (d->arm_queries >= a->arm_budget || skipped > btz_sieve_operator_count()) {
            d->over = true;
            break;
        }
        if (variant_of(a, d, 0, arena, &variant, &d->operator) != BTZ_OK ||
            variant_of(a, d, FRESH, arena, &fresh, &d->operator) != BTZ_OK) {
            skipped++; /* the operator cannot say this one */
            d->tries++;
            continue;
        }
        skipped = 0;
        rc = look(a, d, &variant, &survives, arena, err);
        d->arm_queries++;
        /* An item as it is has no other drawing. */
        if (rc == BTZ_OK && survives && d->tries > 0 && d->arm_queries < a->arm_budget) {
            rc = look(a, d, &fresh, &survives, arena, err);
            d->arm_queries++;
        } else if (d->tries > 0 && d->arm_queries >= a->arm_budget) {
            survives = false; /* no query is left to try it again */
        }
        if (rc == BTZ_OK && survives && !a->model) {
            d->over = d->broken = true;
        } else if (rc == BTZ_OK && survives) {
            d->over = d->model_queries + 2 > a->model_budget;
            d->waits = !d->over;
            d->answered[0] = d->answered[1] = false;
        } else {
            d->tries++;
        }
    }
    btz_arena_free(arena);
    return rc;
}

/* ---- answers ---- */

/* The two questions of a waiting duel: the variant, and its fresh drawing (of an item as it is, the
 * same question once more). */
static int question_of(const struct attacker *a, const struct duel *d, bool fresh,
                       struct btz_arena *arena, struct sieve_question *q,
                       struct btz_sieve_item *item, struct btz_err *err)
{
    struct sieve_run copy = *a->r;
    const char *name;
    int rc = variant_of(a, d, fresh ? FRESH : 0, arena, item, &name);

    if (rc != BTZ_OK) {
        return btz_err_set(err, BTZ_EINTERNAL, "a variant cannot be made again");
    }
    copy.items = item;
    return sieve_question_make(&copy, d->arm, 0, SIEVE_ALL, false, arena, q, err);
}

static bool acts(const struct btz_sieve_item *item, const struct sieve_question *q,
                 struct btz_str text, struct btz_arena *arena)
{
    struct btz_sieve_reply reply;
    struct btz_sieve_judged judged;

    btz_sieve_reply_read(text, arena, &reply);
    btz_sieve_judge(item, q->shown, q->count, &reply, arena, &judged);
    return judged.outcome == BTZ_SIEVE_SUCCESS;
}

static int make(struct sieve_run *r, void *data, size_t id, struct btz_arena *arena,
                struct btz_str *parts, size_t *part_count, struct btz_err *err)
{
    const struct attacker *a = data;
    const struct duel *d = &a->duels[id / 2];
    struct btz_sieve_item item;
    struct sieve_question q;
    int rc;

    (void)r;
    if (!d->waits) {
        return SIEVE_NOTHING_TO_ASK;
    }
    rc = question_of(a, d, id % 2 == 1, arena, &q, &item, err);
    if (rc == BTZ_OK) {
        memcpy(parts, q.parts, sizeof(q.parts));
        *part_count = BTZ_SIEVE_PARTS;
    }
    return rc;
}

static int take(struct sieve_run *r, void *data, size_t id, const struct btz_hash *request,
                struct btz_str bytes, bool rejected, struct btz_err *err)
{
    const struct attacker *a = data;
    struct duel *d = &a->duels[id / 2];
    struct btz_arena *arena = btz_arena_new();
    struct btz_llm_reply reply;
    struct btz_sieve_item item;
    struct sieve_question q;
    int rc = question_of(a, d, id % 2 == 1, arena, &q, &item, err);

    (void)r;
    (void)request;
    d->answered[id % 2] = true;
    d->acted[id % 2] = rc == BTZ_OK && !rejected &&
                       btz_llm_reply_parse(arena, bytes, NULL, &reply, NULL) == BTZ_OK &&
                       acts(&item, &q, reply.content, arena);
    btz_arena_free(arena);
    return rc;
}

static int refer(struct sieve_run *r, void *data, size_t id, const struct sieve_model *model,
                 struct btz_arena *arena, struct btz_err *err)
{
    const struct attacker *a = data;
    struct duel *d = &a->duels[id / 2];
    struct btz_sieve_item item;
    struct sieve_question q;
    int rc;

    (void)r;
    if (!d->waits) {
        return SIEVE_NOTHING_TO_ASK;
    }
    rc = question_of(a, d, id % 2 == 1, arena, &q, &item, err);
    if (rc == BTZ_OK) {
        d->acted[id % 2] = acts(&item, &q, sieve_refer(model, &item, &q, arena), arena);
        d->answered[id % 2] = true;
    }
    return rc;
}

/* Asks the model about every duel that waits. */
static int ask(struct attacker *a, const struct sieve_model *model, const char *what,
               struct btz_err *err)
{
    const struct sieve_source source = {
        .data = a, .count = 2 * a->count, .what = what, .make = make, .take = take, .refer = refer};

    a->r->planned += source.count; /* each is counted as done, also those without a question */
    return sieve_ask(a->r, model, &source, err);
}

/* ---- rounds ---- */

static size_t settle(struct attacker *a)
{
    size_t going = 0;

    for (size_t i = 0; i < a->count; i++) {
        struct duel *d = &a->duels[i];

        if (d->waits) {
            d->waits = false;
            if (!d->answered[0] || !d->answered[1]) {
                /* An answer that is missing must not count as an attack that failed. */
                d->stuck = d->over = true;
                continue;
            }
            d->model_queries += 2;
            d->broken = d->acted[0] && d->acted[1];
            d->over = d->broken;
            d->tries += !d->broken;
        }
        going += !d->over;
    }
    return going;
}

static int put_duel(const struct attacker *a, const struct duel *d, struct btz_err *err)
{
    struct sieve_run *r = a->r;
    struct btz_arena *arena = btz_arena_new();
    const struct btz_sieve_item *item = &r->items[d->item];
    const struct sieve_arm *arm = &r->arms[d->arm];
    struct btz_json *row = sieve_row_of(arena, "adaptive", item);
    struct btz_str model = a->model ? a->model->name : BTZ_STR("");
    int rc;

    btz_json_set_str(arena, row, "model", model);
    btz_json_set_strz(arena, row, "arm", btz_canon_arm_name(arm->arm));
    btz_json_set_int(arena, row, "seed", (int64_t)arm->seed);
    btz_json_set_int(arena, row, "broken_at",
                     d->broken ? a->model ? d->model_queries : d->arm_queries : 0);
    btz_json_set_strz(arena, row, "operator", d->broken ? d->operator: "");
    btz_json_set_int(arena, row, "arm_queries", d->arm_queries);
    btz_json_set_int(arena, row, "model_queries", d->model_queries);
    btz_json_set_int(arena, row, "budget", a->model ? a->model_budget : a->arm_budget);
    rc = sieve_row_put(r,
                       btz_arena_printf(arena, "adaptive/%.*s/%.*s/%.*s", BTZ_FMT(model),
                                        BTZ_FMT(arm->label), BTZ_FMT(item->id)),
                       row, err);
    btz_arena_free(arena);
    return rc;
}

static int fight(struct attacker *a, struct btz_err *err)
{
    struct sieve_run *r = a->r;
    size_t going = a->count;
    int rc = BTZ_OK;

    while (rc == BTZ_OK && going) {
        for (size_t i = 0; rc == BTZ_OK && i < a->count; i++) {
            rc = advance(a, &a->duels[i], err);
            if (rc == BTZ_OK && i % 16 == 0 && sieve_tick(r, "attack")) {
                rc = BTZ_EXIT_INTERRUPTED;
            }
        }
        if (rc == BTZ_OK && a->model) {
            rc = ask(a, a->model, "attack", err);
        }
        going = settle(a);
    }
    for (size_t i = 0; rc == BTZ_OK && i < a->count; i++) {
        if (!a->duels[i].stuck) {
            rc = put_duel(a, &a->duels[i], err);
        }
        r->done++;
    }
    return rc;
}

/* The plan of one model's duels, or of those that are carried over to `second`. */
static int plan(const struct attacker *a, const struct sieve_model *second, struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_str model = a->model ? a->model->name : BTZ_STR("");
    int rc = BTZ_OK;

    for (uint32_t arm = 0; rc == BTZ_OK && arm < a->r->arm_count; arm++) {
        struct btz_json *row = btz_json_new_object(arena);
        struct btz_str where = btz_arena_printf(arena, "%.*s/", BTZ_FMT(model));
        int64_t count = 0;

        for (size_t i = 0; i < a->count; i++) {
            count += a->duels[i].arm == arm && (!second || a->duels[i].waits);
        }
        btz_json_set_str(arena, row, "model", model);
        btz_json_set_int(arena, row, "attack", count);
        if (second) {
            btz_json_set_str(arena, row, "second", second->name);
            where = btz_arena_printf(arena, "%.*s/%.*s/", BTZ_FMT(model), BTZ_FMT(second->name));
        } else {
            btz_json_set_int(arena, row, "budget", a->model ? a->model_budget : a->arm_budget);
        }
        rc = sieve_plan_put(a->r, second ? "transfer" : "adaptive", where, &a->r->arms[arm], row,
                            arena, err);
    }
    btz_arena_free(arena);
    return rc;
}

/* ---- transfer: what broke the model is asked of a second one ---- */

static int put_transfer(const struct attacker *a, const struct sieve_model *second,
                        const struct duel *d, struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    const struct btz_sieve_item *item = &a->r->items[d->item];
    const struct sieve_arm *arm = &a->r->arms[d->arm];
    struct btz_json *row = sieve_row_of(arena, "transfer", item);
    int rc;

    btz_json_set_str(arena, row, "model", a->model->name);
    btz_json_set_str(arena, row, "second", second->name);
    btz_json_set_strz(arena, row, "arm", btz_canon_arm_name(arm->arm));
    btz_json_set_int(arena, row, "seed", (int64_t)arm->seed);
    btz_json_set_strz(arena, row, "operator", d->operator);
    btz_json_set_bool(arena, row, "acted", d->acted[0]);
    btz_json_set_bool(arena, row, "acted_again", d->acted[1]);
    rc = sieve_row_put(a->r,
                       btz_arena_printf(arena, "transfer/%.*s/%.*s/%.*s/%.*s",
                                        BTZ_FMT(a->model->name), BTZ_FMT(second->name),
                                        BTZ_FMT(arm->label), BTZ_FMT(item->id)),
                       row, err);
    btz_arena_free(arena);
    return rc;
}

static int transfer(struct attacker *a, const struct sieve_model *second, struct btz_err *err)
{
    int rc;

    for (size_t i = 0; i < a->count; i++) {
        struct duel *d = &a->duels[i];

        d->waits = d->broken;
        d->answered[0] = d->answered[1] = d->acted[0] = d->acted[1] = false;
    }
    rc = plan(a, second, err);
    rc = rc ? rc : ask(a, second, "transfer", err);
    for (size_t i = 0; i < a->count; i++) {
        struct duel *d = &a->duels[i];

        if (rc == BTZ_OK && d->waits && d->answered[0] && d->answered[1]) {
            rc = put_transfer(a, second, d, err);
        }
        d->waits = false;
    }
    return rc;
}

/* One model: all duels, and what of them is carried over. */
static int fight_model(struct attacker *a, const struct sieve_model *seconds, size_t second_count,
                       struct btz_err *err)
{
    int rc = fight(a, err);

    for (size_t i = 0; rc == BTZ_OK && i < second_count; i++) {
        if (!btz_str_eq(seconds[i].name, a->model->name)) {
            rc = transfer(a, &seconds[i], err);
        }
    }
    return rc;
}

static void set_duels(struct attacker *a)
{
    struct sieve_run *r = a->r;

    a->count = 0;
    for (uint32_t i = 0; i < r->item_count; i++) {
        bool usable = r->items[i].kind == BTZ_SIEVE_ATTACK && r->twin[i] != SIZE_MAX &&
                      r->items[i].operand_count > 0;

        for (uint32_t arm = 0; usable && arm < r->arm_count; arm++) {
            a->duels[a->count++] = (struct duel){.item = i, .arm = arm, .operator= "" };
        }
    }
}

/* ---- every operator once, whatever came of the others ---- */

static int operator_row(struct sieve_run *r, size_t arm, size_t item, size_t index,
                        struct btz_arena *arena, struct btz_err *err)
{
    const struct attacker a = {.r = r};
    const struct duel d = {.item = (uint32_t)item, .arm = (uint32_t)arm};
    struct btz_json *row = sieve_row_of(arena, "operator", &r->items[item]);
    struct btz_sieve_item variant;
    bool survives = false;
    int rc = btz_sieve_operator_apply(index, &r->items[item], &r->items[r->twin[item]], r->seed,
                                      arena, &variant);

    if (rc == BTZ_EUNSUPPORTED) {
        return BTZ_OK;
    }
    rc = look(&a, &d, &variant, &survives, arena, err);
    btz_json_set_strz(arena, row, "arm", btz_canon_arm_name(r->arms[arm].arm));
    btz_json_set_int(arena, row, "seed", (int64_t)r->arms[arm].seed);
    btz_json_set_strz(arena, row, "operator", btz_sieve_operator_at(index)->name);
    btz_json_set_strz(arena, row, "operators", btz_sieve_operator_at(index)->family);
    btz_json_set_int(arena, row, "operands", (int64_t)variant.operand_count);
    btz_json_set_bool(arena, row, "survived_loose", survives);
    return rc ? rc
              : sieve_row_put(r,
                              btz_arena_printf(
                                  arena, "operator/%.*s/%s/%.*s", BTZ_FMT(r->arms[arm].label),
                                  btz_sieve_operator_at(index)->name, BTZ_FMT(r->items[item].id)),
                              row, err);
}

static int try_operators(struct sieve_run *r, struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    int rc = BTZ_OK;

    for (size_t arm = 0; rc == BTZ_OK && arm < r->arm_count; arm++) {
        for (size_t i = 0; rc == BTZ_OK && i < r->item_count; i++) {
            bool usable = r->items[i].kind == BTZ_SIEVE_ATTACK && r->twin[i] != SIZE_MAX;

            for (size_t op = 0; rc == BTZ_OK && usable && op < btz_sieve_operator_count(); op++) {
                btz_arena_reset(arena);
                rc = operator_row(r, arm, i, op, arena, err);
            }
            if (rc == BTZ_OK && i % 16 == 0 && sieve_tick(r, "operators")) {
                rc = BTZ_EXIT_INTERRUPTED;
            }
        }
    }
    btz_arena_free(arena);
    return rc;
}

/* ---- the command ---- */

static int make_card(struct btz_context *context, struct btz_json **out, struct btz_err *err)
{
    struct btz_args *args = context->args;
    struct btz_arena *arena = context->arena;
    struct btz_json *card = btz_json_new_object(arena);
    struct btz_hash hash = btz_sieve_operators_hash();
    const char *split = btz_args_text(args, "split", NULL);
    char hex[65];
    int rc;

    if (btz_args_count(args) == 0) {
        return btz_err_set(err, BTZ_EUSAGE, "give a file of items, or --resume RUN");
    }
    if (split && strcmp(split, "dev") != 0 && strcmp(split, "test") != 0) {
        return btz_err_set(err, BTZ_EUSAGE, "--split is dev or test");
    }
    if (btz_args_has(args, "transfer-model") && !btz_args_has(args, "model")) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "--transfer-model needs -m MODEL: what broke that one is carried over");
    }
    btz_json_set_int(arena, card, "format", 1);
    rc = sieve_card_file(context, card, "items", btz_args_positional(args, 0), err);
    sieve_card_arms(context, card);
    sieve_card_list(context, card, "models", "model", NULL);
    sieve_card_list(context, card, "transfer_models", "transfer-model", NULL);
    btz_json_set_int(arena, card, "random_seeds", 1);
    btz_json_setz(arena, card, "split",
                  split ? btz_json_new_strz(arena, split) : btz_json_null(arena));
    btz_json_set_int(arena, card, "limit", btz_args_int(args, "limit", INT64_MAX));
    btz_json_set_int(arena, card, "seed", btz_args_int(args, "seed", 1));
    btz_json_set_strz(arena, card, "render", "function");
    btz_json_set_int(arena, card, "max_tokens",
                     btz_args_int(args, "max-tokens", MAX_TOKENS_DEFAULT));
    btz_json_set_int(arena, card, "arm_budget", btz_args_int(args, "arm-budget", ARM_BUDGET));
    btz_json_set_int(arena, card, "model_budget", btz_args_int(args, "model-budget", MODEL_BUDGET));
    btz_json_set_strz(arena, card, "operators", btz_hash_hex(&hash, hex));
    sieve_card_program(arena, card);
    *out = card;
    return rc;
}

static int check_arms(const struct sieve_run *r, struct btz_err *err)
{
    for (size_t i = 0; i < r->arm_count; i++) {
        if (btz_canon_arm_asks(r->arms[i].arm)) {
            return btz_err_set(err, BTZ_EUNSUPPORTED,
                               "--arm %.*s asks a model for every variant: the budgeted attacker "
                               "works on arms that ask none",
                               BTZ_FMT(r->arms[i].label));
        }
    }
    return BTZ_OK;
}

static int set_up(struct sieve_run *r, struct btz_err *err)
{
    static const char *const settings[] = {"arm",        "model",        "transfer-model",
                                           "split",      "limit",        "seed",
                                           "arm-budget", "model-budget", "max-tokens"};
    struct btz_json *card = NULL;
    bool old = false;
    int rc =
        sieve_card_is_old(r->context, settings, sizeof(settings) / sizeof(settings[0]), &old, err);

    rc = rc ? rc : btz_cmd_store(r->context, BTZ_STORE_WRITE, &r->store, err);
    if (rc == BTZ_OK && old) {
        rc = sieve_card_load(r, err);
    } else if (rc == BTZ_OK) {
        rc = make_card(r->context, &card, err);
        r->card = card;
    }
    rc = rc ? rc : sieve_card_read(r, err);
    rc = rc ? rc : check_arms(r, err);
    if (rc == BTZ_OK && !r->resumed) {
        const char *replayed = btz_args_text(r->context->args, "replay", NULL);

        card = sieve_card_counted(r);
        if (replayed) {
            btz_json_set_strz(r->arena, card, "replay_of", replayed);
        }
        r->card = card;
        rc = btz_store_sieve_new(r->store, BTZ_STR("attack"), btz_json_text(r->arena, card),
                                 btz_clock_wall_us(), &r->no, r->id, err);
    }
    rc = rc ? rc : btz_net_loop_new(&r->loop, err);
    return rc ? rc : btz_net_loop_catch_signals(r->loop, err);
}

static int64_t card_number(const struct sieve_run *r, const char *key)
{
    int64_t value = 0;

    (void)btz_json_int64(btz_json_getz(r->card, key), &value);
    return value;
}

int sieve_attack_rows(struct sieve_run *r, struct btz_err *err)
{
    struct attacker a = {
        .r = r,
        .arm_budget = card_number(r, "arm_budget"),
        .model_budget = card_number(r, "model_budget"),
        .duels = btz_arena_array(r->arena, r->item_count * r->arm_count + 1, sizeof(*a.duels))};
    struct sieve_model *seconds = NULL;
    size_t second_count = 0;
    int rc =
        sieve_card_models(r, "transfer_models", "--transfer-model", &seconds, &second_count, err);

    set_duels(&a);
    r->planned = a.count * (1 + r->model_count);
    rc = rc ? rc : plan(&a, NULL, err);
    for (size_t m = 0; rc == BTZ_OK && m < r->model_count; m++) {
        a.model = &r->models[m];
        rc = plan(&a, NULL, err);
    }
    a.model = NULL;
    rc = rc ? rc : try_operators(r, err);
    rc = rc ? rc : fight(&a, err);
    for (size_t m = 0; rc == BTZ_OK && m < r->model_count; m++) {
        set_duels(&a);
        a.model = &r->models[m];
        rc = fight_model(&a, seconds, second_count, err);
    }
    return rc;
}

/* Attacks that cannot be adapted must not be missed in silence. */
static void note_unusable(const struct sieve_run *r)
{
    size_t no_operands = 0;
    size_t no_twin = 0;

    for (uint32_t i = 0; i < r->item_count; i++) {
        if (r->items[i].kind == BTZ_SIEVE_ATTACK) {
            no_operands += r->items[i].operand_count == 0;
            no_twin += r->items[i].operand_count > 0 && r->twin[i] == SIZE_MAX;
        }
    }
    if (no_operands + no_twin) {
        btz_cmd_note(r->context,
                     "attacks left out: %zu without operands, %zu whose twin is not among the "
                     "items",
                     no_operands, no_twin);
    }
}

static int attack(struct sieve_run *r, struct btz_err *err)
{
    struct btz_store_sieve_run run;
    int rc;

    btz_cmd_note(r->context, "run %s: %zu attacks, %zu arms, %zu operators", r->id,
                 r->kinds[BTZ_SIEVE_ATTACK], r->arm_count, btz_sieve_operator_count());
    note_unusable(r);
    btz_progress_init(&r->progress, &r->context->err, r->context->quiet, 0, btz_clock_mono_us());
    rc = sieve_attack_rows(r, err);
    sieve_progress_finish(r);
    if (rc == BTZ_OK || rc == BTZ_EXIT_INTERRUPTED) {
        int flushed = btz_store_sieve_commit(r->store, err);

        rc = flushed ? flushed : rc;
    }
    if (rc == BTZ_OK && !r->missing) {
        rc = btz_store_sieve_mark(r->store, r->no, true, err);
    }
    rc = rc ? rc : btz_store_sieve_find(r->store, btz_str_of(r->id), r->arena, &run, err);
    rc = rc ? rc : btz_cmd_sieve_print(r->context, r->store, &run, err);
    if (rc == BTZ_OK && r->missing) {
        btz_cmd_note(r->context,
                     "%lld answers are missing: `bartizan sieve attack --resume %s` asks again",
                     (long long)r->missing, r->id);
        rc = BTZ_EXIT_FAILED;
    }
    return rc;
}

static int run(struct btz_context *context, struct btz_err *err)
{
    struct sieve_run r = {.context = context, .kind = "attack", .arena = context->arena};
    int rc = set_up(&r, err);

    rc = rc ? rc : attack(&r, err);
    if (rc == BTZ_EXIT_INTERRUPTED) {
        btz_cmd_note(context,
                     "interrupted: every answer so far is kept, `bartizan sieve attack --resume "
                     "%s` goes on",
                     r.id);
    }
    btz_net_loop_free(r.loop);
    btz_store_close(r.store);
    return rc;
}

static const struct btz_option options[] = {
    {"model", 'm', BTZ_OPTION_LIST, "MODEL",
     "an attack counts only if this model acts on it (default: bytes alone)", 0, 0},
    {"transfer-model", 0, BTZ_OPTION_LIST, "MODEL",
     "ask this model too about every attack that broke the one of -m", 0, 0},
    {"arm", 0, BTZ_OPTION_LIST, "ARM", "only this arm (default: all that ask no model)", 0, 0},
    {"arm-budget", 0, BTZ_OPTION_INT, "N",
     "canonicalisations the attacker may look at, an attack and arm (default 60)", 1, 100000},
    {"model-budget", 0, BTZ_OPTION_INT, "N",
     "answers of the model it may see, an attack and arm (default 10)", 2, 100000},
    {"split", 0, BTZ_OPTION_TEXT, "SPLIT", "only items of this split: dev or test", 0, 0},
    {"limit", 0, BTZ_OPTION_INT, "N",
     "at most N items, drawn by --seed; a pair is drawn whole or not at all", 1, INT64_MAX},
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
    "bartizan sieve attack test.jsonl --arm none --arm canon",
    "bartizan sieve attack test.jsonl -m openai:NAME@http://127.0.0.1:8080/v1 --limit 50",
    "bartizan sieve attack test.jsonl -m openai:FIRST@http://127.0.0.1:8080/v1 --transfer-model "
    "openai:SECOND@http://127.0.0.1:8081/v1",
    NULL};

const struct btz_command btz_sieve_attack_command = {
    .args = {.name = "sieve attack",
             .summary = "adapt attacks to each arm, with the same budget for all",
             .usage = usage,
             .options = options,
             .examples = examples,
             .max_positionals = 1},
    .csv = true,
    .run = run,
};
