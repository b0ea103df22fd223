/* Counts a run: one pass over its cells in planned order. */
#include <stdlib.h>

#include "report/report_int.h"

/* One cell, for pairing an attack trial with its clean twin. */
struct pair {
    uint32_t variant;
    uint32_t repetition;
    bool fault, effect;
};

struct pairs {
    struct pair *items;
    size_t count, cap;
};

struct attack {
    uint32_t order; /* from 1, by first appearance in the plan */
    bool seen;      /* has a trial */
};

struct builder {
    struct btz_report *report;
    struct btz_arena *scratch;
    struct index subjects, rows, variants, attacks;
    struct btz_buf key;
    struct pairs attack, clean; /* attack trials; clean twins that succeeded */
    struct variant **by_id;
    size_t by_id_cap;
    uint32_t variant_count;
};

static void key_start(struct builder *b)
{
    btz_buf_reset(&b->key);
}

/* Length and text: no two lists of parts give one key. */
static void key_add(struct builder *b, struct btz_str part)
{
    (void)btz_buf_printf(&b->key, "%zu:", part.len);
    (void)btz_buf_add_str(&b->key, part);
}

/* The suite of an attack, as the run's card says it. */
static struct btz_str suite_of(const struct btz_report *report, struct btz_str attack)
{
    const struct btz_json *cards = btz_json_getz(report->card, "attacks");

    for (size_t i = 0; i < btz_json_count(cards); i++) {
        const struct btz_json *card = btz_json_at(cards, i);

        if (btz_str_eq(btz_json_str(btz_json_getz(card, "id")), attack)) {
            return btz_json_str(btz_json_getz(card, "suite"));
        }
    }
    return BTZ_STR("");
}

static struct subject *subject_of(struct builder *b, const struct btz_store_cell *c)
{
    struct btz_arena *arena = b->report->arena;
    struct btz_str suite = suite_of(b->report, c->attack);
    struct subject *s;
    void **slot;

    key_start(b);
    key_add(b, c->model);
    key_add(b, c->architecture);
    key_add(b, c->defence);
    key_add(b, c->revision);
    key_add(b, c->host_profile);
    key_add(b, suite);
    slot = index_at(&b->subjects, btz_buf_view(&b->key));
    s = *slot;
    if (!s) {
        s = BTZ_NEW(arena, struct subject);
        s->model = btz_arena_dup(arena, c->model);
        s->architecture = btz_arena_dup(arena, c->architecture);
        s->defence = btz_arena_dup(arena, c->defence);
        s->revision = btz_arena_dup(arena, c->revision);
        s->host_profile = btz_arena_dup(arena, c->host_profile);
        s->suite = suite;
        s->last = &s->first;
        *b->report->last = s;
        b->report->last = &s->next;
        *slot = s;
    }
    return s;
}

static struct attack *attack_of(struct builder *b, struct btz_str name)
{
    void **slot = index_at(&b->attacks, name);
    struct attack *a = *slot;

    if (!a) {
        a = BTZ_NEW(b->scratch, struct attack);
        a->order = (uint32_t)b->attacks.count;
        *slot = a;
    }
    return a;
}

/* Goes on with the key of the subject. */
static struct row *row_of(struct builder *b, struct subject *subject,
                          const struct btz_store_cell *c)
{
    struct btz_arena *arena = b->report->arena;
    struct row *r;
    void **slot;

    key_add(b, c->surface);
    key_add(b, c->attack);
    key_add(b, c->boundary);
    slot = index_at(&b->rows, btz_buf_view(&b->key));
    r = *slot;
    if (!r) {
        r = BTZ_NEW(arena, struct row);
        r->surface = btz_arena_dup(arena, c->surface);
        r->attack = btz_arena_dup(arena, c->attack);
        r->below = btz_str_is(c->boundary, "B");
        r->subject = subject;
        r->by_judge = report_by_judge(b->report, r->attack, r->below);
        r->order = attack_of(b, c->attack)->order;
        r->last = &r->first;
        *subject->last = r;
        subject->last = &r->next;
        subject->row_count++;
        *slot = r;
    }
    return r;
}

static struct variant *variant_of(struct builder *b, struct row *row,
                                  const struct btz_store_cell *c)
{
    struct btz_arena *arena = b->report->arena;
    struct variant *v;
    void **slot;

    key_add(b, c->variant);
    slot = index_at(&b->variants, btz_buf_view(&b->key));
    v = *slot;
    if (!v) {
        v = BTZ_NEW(arena, struct variant);
        v->name = btz_arena_dup(arena, c->variant);
        v->id = b->variant_count++;
        v->row = row;
        b->by_id = btz_arena_grow(b->scratch, b->by_id, v->id, &b->by_id_cap, sizeof(*b->by_id));
        b->by_id[v->id] = v;
        *row->last = v;
        row->last = &v->next;
        *slot = v;
    }
    return v;
}

static void pairs_add(struct btz_arena *arena, struct pairs *pairs, struct pair pair)
{
    pairs->items =
        btz_arena_grow(arena, pairs->items, pairs->count, &pairs->cap, sizeof(*pairs->items));
    pairs->items[pairs->count++] = pair;
}

static void count_memory(struct tally *t, const struct btz_store_chain *chain)
{
    static const char *const names[] = {"seen", "stored", "recalled"};
    int reached = MEMORY_TRIALS;

    for (int i = 0; i < 3; i++) {
        reached = btz_str_is(chain->stage, names[i]) ? MEMORY_SEEN + i : reached;
    }
    if (reached == MEMORY_RECALLED && chain->observed) {
        reached = !chain->acted ? MEMORY_OBSERVED : !chain->effect ? MEMORY_ACTED : MEMORY_EFFECT;
    }
    for (int i = 0; i <= reached; i++) {
        t->memory[i]++;
    }
}

static void count_usage(struct usage *u, const struct btz_store_tokens *tokens)
{
    const int64_t most = INT64_C(1000000000000); /* over a million trials it still has a sum */

    if (tokens->input < 0 || tokens->output < 0 || tokens->input > most || tokens->output > most ||
        tokens->cache_read > most || tokens->cache_write > most) {
        u->unknown++;
        return;
    }
    u->known++;
    u->prefill += tokens->input + (tokens->cache_read > 0 ? tokens->cache_read : 0) +
                  (tokens->cache_write > 0 ? tokens->cache_write : 0);
    u->decode += tokens->output;
}

static void count_seen(struct tally *t, const struct btz_store_trial *trial)
{
    const struct btz_store_chain *chain = &trial->chain;
    enum btz_store_outcome outcome = trial->outcome;

    t->triggered += chain->triggered;
    t->observed += chain->observed;
    t->acted += chain->acted;
    t->effect += chain->effect;
    t->last_effect += chain->effect; /* unless a verdict says otherwise, see verdicts.c */
    t->effect_valid +=
        chain->effect && outcome != BTZ_STORE_NOT_EXERCISED && outcome != BTZ_STORE_UNFINISHED;
    t->complied +=
        chain->observed && (outcome == BTZ_STORE_SUSCEPTIBLE || outcome == BTZ_STORE_PREVENTED);
    t->susceptible += chain->observed && outcome == BTZ_STORE_SUSCEPTIBLE;
    t->utility += trial->utility == BTZ_STORE_YES;
    t->utility_known += trial->utility != BTZ_STORE_UNKNOWN;
    t->malformed += btz_str_is(trial->stop, "malformed") || btz_str_is(trial->sub, "malformed");
    if (chain->stage.len) {
        count_memory(t, chain);
    }
}

/* The trial of an attack, for the rate conditioned on its clean twin, by the word that decides. */
static struct pair attack_pair(struct builder *b, const struct variant *v, struct tally *t,
                               const struct btz_store_row *row)
{
    struct pair pair = {.variant = v->id,
                        .repetition = row->cell.repetition,
                        .fault = row->trial.outcome == BTZ_STORE_FAULT,
                        .effect = row->trial.chain.effect};

    if (v->row->by_judge && !pair.fault) {
        int judged = report_judged(b->report, row->ordinal);

        t->judged += judged >= 0;
        t->judged_effect += judged == 1;
        pair.fault = judged < 0;
        pair.effect = judged == 1;
    }
    pair.effect = pair.effect && !pair.fault;
    return pair;
}

static void keep_place(struct builder *b, struct variant *v, int arm,
                       const struct btz_store_row *row)
{
    struct btz_report *report = b->report;
    bool seen = row->n > 0 && row->trial.outcome != BTZ_STORE_FAULT;

    if (row->ordinal < 0 || (uint64_t)row->ordinal >= report->place_count) {
        return; /* the store was edited */
    }
    report->places[row->ordinal] = (struct place){
        .variant = v, .arm = (uint8_t)arm, .seen = seen, .effect = seen && row->trial.chain.effect};
}

static void take(struct builder *b, const struct btz_store_row *row)
{
    static const char *const arms[] = {"attack", "clean", "benign"};
    const struct btz_store_trial *trial = &row->trial;
    bool fault = trial->outcome == BTZ_STORE_FAULT;
    struct subject *subject = subject_of(b, &row->cell);
    struct variant *v = variant_of(b, row_of(b, subject, &row->cell), &row->cell);
    struct attack *attack = attack_of(b, row->cell.attack);
    struct tally *t;
    int arm = 0;

    while (arm < ARMS && !btz_str_is(row->cell.arm, arms[arm])) {
        arm++;
    }
    if (arm == ARMS) {
        return; /* no arm that this version knows */
    }
    t = &v->arm[arm];
    if (!row->cell.applicable) {
        t->not_applicable++;
        return;
    }
    if (row->n == 0) {
        t->not_run++;
        return;
    }
    keep_place(b, v, arm, row);
    *(subject->suite.len ? &b->report->suite_count : &b->report->attack_count) += !attack->seen;
    attack->seen = true;
    t->trials++;
    t->outcome[trial->outcome]++;
    t->memory_missing += fault && trial->chain.stage.len;
    count_usage(&t->usage, &trial->tokens);
    if (!fault) {
        count_seen(t, trial);
        if (!subject->first_trial) {
            subject->first_trial = row->n;
        }
    }
    if (arm == ARM_ATTACK) {
        pairs_add(b->scratch, &b->attack, attack_pair(b, v, t, row));
    } else if (arm == ARM_CLEAN && !fault && trial->utility == BTZ_STORE_YES) {
        pairs_add(b->scratch, &b->clean,
                  (struct pair){.variant = v->id, .repetition = row->cell.repetition});
    }
}

static int pair_cmp(const void *a, const void *b)
{
    const struct pair *x = a;
    const struct pair *y = b;

    if (x->variant != y->variant) {
        return x->variant < y->variant ? -1 : 1;
    }
    return x->repetition < y->repetition ? -1 : x->repetition > y->repetition;
}

/* statistics.md "Competence": ASR conditioned on cells whose clean twin succeeded. */
static void count_competent(struct builder *b)
{
    if (b->clean.count == 0) {
        return;
    }
    qsort(b->clean.items, b->clean.count, sizeof(struct pair), pair_cmp);
    for (size_t i = 0; i < b->attack.count; i++) {
        const struct pair *p = &b->attack.items[i];

        if (bsearch(p, b->clean.items, b->clean.count, sizeof(struct pair), pair_cmp)) {
            struct btz_count *c = &b->by_id[p->variant]->competent;

            c->planned++;
            c->missing += p->fault;
            c->k += p->effect;
        }
    }
}

static int scan(struct builder *b, struct btz_store *store, struct btz_err *err)
{
    struct btz_store_rows *rows = NULL;
    struct btz_store_row row;
    int rc = btz_store_rows_open(store, b->report->run.no, BTZ_STORE_BY_PLAN, &rows, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    while ((rc = btz_store_rows_next(rows, &row, err)) == 1) {
        take(b, &row);
    }
    btz_store_rows_free(rows);
    if (rc == BTZ_OK && btz_buf_status(&b->key) != BTZ_OK) {
        rc = btz_err_set(err, BTZ_ELIMIT, "the run has cells with names that are too long");
    }
    count_competent(b);
    return rc;
}

int report_count(struct btz_store *store, struct btz_report *report, struct btz_err *err)
{
    struct btz_arena *scratch = btz_arena_new();
    struct builder b = {.report = report,
                        .scratch = scratch,
                        .subjects = {.arena = scratch},
                        .rows = {.arena = scratch},
                        .variants = {.arena = scratch},
                        .attacks = {.arena = scratch}};
    int rc;

    report->place_count = (size_t)(report->run.planned + report->run.not_applicable);
    report->places = btz_arena_array(report->arena, report->place_count, sizeof(*report->places));
    btz_buf_init(&b.key, (size_t)16 * BTZ_STORE_MAX_TEXT);
    rc = scan(&b, store, err);
    btz_buf_fini(&b.key);
    btz_arena_free(scratch);
    return rc;
}
