/* The sieve's report: rows of the store into compact records. */
#include "report/sieve_int.h"

const char *const sieve_outcome_names[SIEVE_OUTCOMES] = {"refused", "invalid", "success",
                                                         "failure-direct", "failure-ignored"};

static uint32_t name_of(struct names *names, struct btz_str text)
{
    void **place = index_at(&names->index, text);

    if (!*place) {
        names->texts = btz_arena_grow(names->index.arena, names->texts, names->count, &names->cap,
                                      sizeof(*names->texts));
        names->texts[names->count++] = btz_arena_dup(names->index.arena, text);
        *place = (void *)(uintptr_t)names->count; /* from 1: 0 is an empty place */
    }
    return (uint32_t)((uintptr_t)*place - 1);
}

bool sieve_is(const struct names *names, uint32_t number, const char *text)
{
    return number < names->count && btz_str_is(names->texts[number], text);
}

static struct btz_str text_at(const struct btz_json *row, const char *key)
{
    return btz_json_str(btz_json_getz(row, key));
}

static int64_t number_at(const struct btz_json *row, const char *key)
{
    int64_t value = 0;

    return btz_json_int64(btz_json_getz(row, key), &value) ? value : 0;
}

static bool flag_at(const struct btz_json *row, const char *key)
{
    return btz_json_bool(btz_json_getz(row, key), false);
}

static uint32_t place_of(struct btz_arena *arena, struct sieve_subject **list, size_t *count,
                         size_t *cap, struct sieve_subject wanted)
{
    for (size_t i = 0; i < *count; i++) {
        const struct sieve_subject *s = &(*list)[i];

        if (btz_str_eq(s->model, wanted.model) && btz_str_eq(s->retrieval, wanted.retrieval) &&
            btz_str_eq(s->index, wanted.index)) {
            return (uint32_t)i;
        }
    }
    *list = btz_arena_grow(arena, *list, *count, cap, sizeof(**list));
    (*list)[*count] = (struct sieve_subject){btz_arena_dup(arena, wanted.model),
                                             btz_arena_dup(arena, wanted.retrieval),
                                             btz_arena_dup(arena, wanted.index)};
    return (uint32_t)(*count)++;
}

static uint32_t subject_of(struct btz_sieve_report *report, const struct btz_json *row)
{
    return place_of(report->arena, &report->subjects, &report->subject_count, &report->subject_cap,
                    (struct sieve_subject){text_at(row, "model"), text_at(row, "retrieval"),
                                           text_at(row, "index")});
}

static uint32_t transfer_of(struct btz_sieve_report *report, const struct btz_json *row)
{
    return place_of(
        report->arena, &report->transfers, &report->transfer_count, &report->transfer_cap,
        (struct sieve_subject){text_at(row, "model"), text_at(row, "second"), BTZ_STR_NONE});
}

static uint8_t word_of(struct btz_str word, const char *const *words, uint8_t count)
{
    for (uint8_t i = 0; i < count; i++) {
        if (btz_str_is(word, words[i])) {
            return i;
        }
    }
    return count;
}

/* What rows of all kinds may say. */
const char *const sieve_damage_names[SIEVE_DAMAGES] = {[SIEVE_DAMAGE_PARAMETERS] = "parameters",
                                                       [SIEVE_DAMAGE_VALUES] = "values",
                                                       [SIEVE_DAMAGE_DEFAULTS] = "defaults",
                                                       [SIEVE_DAMAGE_FORMS] = "forms",
                                                       [SIEVE_DAMAGE_REQUIRED] = "required",
                                                       [SIEVE_DAMAGE_PURPOSE] = "purpose",
                                                       [SIEVE_DAMAGE_NAME] = "name"};

static unsigned damage_at(const struct btz_json *json)
{
    const struct btz_json *damage = btz_json_getz(json, "damage");
    unsigned bits = 0;

    for (int i = 0; i < SIEVE_DAMAGES; i++) {
        bits |= (number_at(damage, sieve_damage_names[i]) > 0 ? 1U : 0U) << i;
    }
    return bits;
}

static struct sieve_row common(struct btz_sieve_report *report, const struct btz_json *json)
{
    static const char *const kinds[] = {"attack", "twin", "negative"};

    return (struct sieve_row){
        .arm = name_of(&report->arms, text_at(json, "arm")),
        .item = name_of(&report->items, text_at(json, "item")),
        .cluster = name_of(&report->clusters, text_at(json, "cluster")),
        .seed = number_at(json, "seed"),
        .kind = word_of(text_at(json, "kind"), kinds, SIEVE_KINDS),
        .held_out = flag_at(json, "held_out"),
        .outcome = word_of(text_at(json, "outcome"), sieve_outcome_names, SIEVE_OUTCOMES),
        .operable = flag_at(json, "operable"),
        .task = flag_at(json, "task"),
        .poisoned_called = flag_at(json, "poisoned_called"),
        .tokens_in = number_at(json, "tokens_in"),
        .tokens_out = number_at(json, "tokens_out"),
        .has_operands = number_at(json, "operands") > 0,
        .survived = flag_at(json, "survived"),
        .survived_loose = flag_at(json, "survived_loose"),
        .coincident = flag_at(json, "coincident"),
        .arm_index = btz_str_is(text_at(json, "index"), "arm"),
        .target_rank = number_at(json, "target_rank"),
        .poisoned_rank = number_at(json, "poisoned_rank"),
        .characters = number_at(json, "characters"),
        .free_names = number_at(json, "free_names"),
        .free_values = number_at(json, "free_values"),
        .withheld = flag_at(json, "withheld"),
        .calls_tested = flag_at(json, "calls_tested"),
        .collides = flag_at(json, "collides"),
        .calls = number_at(json, "calls"),
        .differing = number_at(json, "calls_loosened") + number_at(json, "calls_tightened"),
        .damage = damage_at(json),
        .attempts = number_at(json, "broken_at"),
        .budget = number_at(json, "budget"),
        .acted = flag_at(json, "acted"),
        .acted_again = flag_at(json, "acted_again"),
    };
}

static struct sieve_row *add(struct btz_sieve_report *report, struct sieve_rows *rows,
                             const struct btz_json *json)
{
    rows->rows =
        btz_arena_grow(report->arena, rows->rows, rows->count, &rows->cap, sizeof(*rows->rows));
    rows->rows[rows->count] = common(report, json);
    return &rows->rows[rows->count++];
}

static void add_definition(struct btz_sieve_report *report, const struct btz_json *json)
{
    struct sieve_row *row = add(report, &report->definitions, json);
    const struct btz_json *facts = btz_json_getz(json, "facts");

    for (size_t i = 0; i < btz_json_count(facts); i++) {
        const struct btz_json *fact = btz_json_at(facts, i);
        bool kept = flag_at(fact, "kept");

        row->facts++;
        row->facts_kept += kept;
        report->facts = btz_arena_grow(report->arena, report->facts, report->fact_count,
                                       &report->fact_cap, sizeof(*report->facts));
        report->facts[report->fact_count++] = (struct sieve_fact_row){
            row->arm, name_of(&report->fact_kinds, text_at(fact, "kind")), row->cluster, kept};
    }
}

static void add_guard(struct btz_sieve_report *report, const struct btz_json *json)
{
    const struct btz_json *rules = btz_json_getz(json, "rules");
    struct sieve_guard_row *row;

    report->guards = btz_arena_grow(report->arena, report->guards, report->guard_count,
                                    &report->guard_cap, sizeof(*report->guards));
    row = &report->guards[report->guard_count++];
    *row = (struct sieve_guard_row){
        .cluster = name_of(&report->clusters, text_at(json, "cluster")),
        .blocked = flag_at(json, "blocked"),
        .rules = btz_arena_array(report->arena, btz_json_count(rules) + 1, sizeof(*row->rules)),
        .rule_count = btz_json_count(rules)};
    for (size_t i = 0; i < row->rule_count; i++) {
        row->rules[i] = btz_arena_dup(report->arena, btz_json_str(btz_json_at(rules, i)));
    }
}

static void add_rewrite(struct btz_sieve_report *report, const struct btz_json *json)
{
    size_t at = report->rewrites.count;

    (void)add(report, &report->rewrites, json);
    report->rewrite_outcomes =
        btz_arena_grow(report->arena, report->rewrite_outcomes, at, &report->rewrite_cap,
                       sizeof(*report->rewrite_outcomes));
    report->rewrite_outcomes[at] = btz_arena_dup(report->arena, text_at(json, "outcome"));
}

static void add_plan(struct btz_sieve_report *report, const struct btz_json *json)
{
    static const char *const of[] = {"answer", "rewrite", "adaptive", "transfer"};
    uint8_t at = word_of(text_at(json, "of"), of, 4);
    struct sieve_plan *plan;

    if (at == 4) {
        return;
    }
    report->plans = btz_arena_grow(report->arena, report->plans, report->plan_count,
                                   &report->plan_cap, sizeof(*report->plans));
    plan = &report->plans[report->plan_count++];
    *plan = (struct sieve_plan){
        .of = of[at],
        .arm = name_of(&report->arms, text_at(json, "arm")),
        .subject = at == 0   ? subject_of(report, json)
                   : at == 2 ? name_of(&report->attack_models, text_at(json, "model"))
                   : at == 3 ? transfer_of(report, json)
                             : 0,
        .kinds = {number_at(json, "attack"), number_at(json, "twin"), number_at(json, "negative")},
        .definitions = number_at(json, "definitions"),
        .budget = number_at(json, "budget")};
}

struct reading {
    struct btz_sieve_report *report;
    struct btz_arena *arena; /* of one row */
};

static int take(void *context, struct btz_str key, struct btz_str text, struct btz_err *err)
{
    struct reading *reading = context;
    struct btz_sieve_report *report = reading->report;
    const struct btz_json *json = NULL;
    struct btz_str row;
    int rc;

    btz_arena_reset(reading->arena);
    rc = btz_json_parse(reading->arena, text, NULL, &json, err);
    if (rc != BTZ_OK) {
        btz_err_prefix(err, "row %.*s: ", BTZ_FMT(key));
        return BTZ_ECORRUPT;
    }
    row = text_at(json, "row");
    if (btz_str_is(row, "answer")) {
        uint32_t subject = subject_of(report, json);

        add(report, &report->answers, json)->subject = subject;
    } else if (btz_str_is(row, "survival")) {
        (void)add(report, &report->survival, json);
    } else if (btz_str_is(row, "retrieval")) {
        (void)add(report, &report->retrieval, json);
    } else if (btz_str_is(row, "definition")) {
        add_definition(report, json);
    } else if (btz_str_is(row, "guard")) {
        add_guard(report, json);
    } else if (btz_str_is(row, "rewrite")) {
        add_rewrite(report, json);
    } else if (btz_str_is(row, "adaptive")) {
        uint32_t model = name_of(&report->attack_models, text_at(json, "model"));

        add(report, &report->attacks, json)->subject = model;
    } else if (btz_str_is(row, "transfer")) {
        uint32_t pair = transfer_of(report, json);

        add(report, &report->transfer_rows, json)->subject = pair;
    } else if (btz_str_is(row, "embedding")) {
        report->embedding = btz_json_dup(report->arena, json);
    } else if (btz_str_is(row, "plan")) {
        add_plan(report, json);
    } else if (btz_str_is(row, "operator")) {
        uint32_t operator= name_of(&report->operators, text_at(json, "operator"));

        add(report, &report->operator_rows, json)->subject = operator;
    }
    return BTZ_OK;
}

int sieve_rows_read(struct btz_store *store, struct btz_sieve_report *report, struct btz_err *err)
{
    struct reading reading = {report, btz_arena_new()};
    int rc;

    report->arms.index.arena = report->items.index.arena = report->arena;
    report->clusters.index.arena = report->fact_kinds.index.arena = report->arena;
    report->operators.index.arena = report->attack_models.index.arena = report->arena;
    rc = btz_store_sieve_rows_each(store, report->run.no, BTZ_STR_NONE, take, &reading, err);
    btz_arena_free(reading.arena);
    return rc;
}
