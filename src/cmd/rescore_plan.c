/* rescore: which judges, which trials, and what is known already. */
#include <stdlib.h>
#include <strings.h>

#include "base/file.h"
#include "cmd/rescore.h"

/* ---- judges ---- */

/* The first word of a model's name: "gpt" of "gpt-4o", "qwen" of "Qwen2.5-7B". */
static struct btz_str family(struct btz_str id)
{
    struct btz_str name = btz_llm_bare_name(id);
    size_t len = 0;

    while (len < name.len && ((name.ptr[len] >= 'a' && name.ptr[len] <= 'z') ||
                              (name.ptr[len] >= 'A' && name.ptr[len] <= 'Z'))) {
        len++;
    }
    return btz_str_sub(name, 0, len);
}

static bool same_word(struct btz_str a, struct btz_str b)
{
    return a.len == b.len && a.len > 0 && strncasecmp(a.ptr, b.ptr, a.len) == 0;
}

/* Refuses a judge that is under test in this run, wherever it is served; notes a relative. */
static int check_tested(struct rescore *r, struct rescore_judge *judge,
                        const struct btz_json *models, struct btz_err *err)
{
    struct btz_str id = judge->model.id;

    for (size_t i = 0; i < btz_json_count(models); i++) {
        const struct btz_json *m = btz_json_at(models, i);
        struct btz_str reference = btz_json_str(btz_json_getz(m, "reference"));
        struct btz_str tested = btz_json_str(btz_json_getz(m, "id"));
        struct btz_str url = btz_json_str(btz_json_getz(m, "url"));

        if (btz_str_starts(reference, BTZ_STR("ref:"))) {
            continue;
        }
        if (btz_llm_same_name(tested, id)) {
            return btz_err_set(err, BTZ_EUSAGE,
                               "%.*s is a model under test in run %s: nobody judges itself; name "
                               "another judge",
                               BTZ_FMT(judge->model.reference), r->run.id);
        }
        judge->same_vendor |= same_word(family(tested), family(id)) ||
                              (btz_str_is(url, BTZ_LLM_OPENAI_URL) &&
                               btz_str_is(judge->model.url, BTZ_LLM_OPENAI_URL));
    }
    if (judge->same_vendor) {
        btz_cmd_note(r->context, "%.*s seems to be of the same maker as a model under test",
                     BTZ_FMT(judge->name));
    }
    return BTZ_OK;
}

static int parse_judge(struct btz_context *context, struct btz_str reference,
                       struct rescore_judge *out, struct btz_err *err)
{
    size_t key_for_count = 0;
    struct btz_str *key_for = btz_cmd_values(context, "key-for", &key_for_count);
    char state[4096];
    int rc;

    (void)btz_cmd_local_state(state, sizeof(state));
    rc = btz_llm_model_parse(context->arena, reference, state, &out->model, err);
    if (rc == BTZ_OK && out->model.kind == BTZ_LLM_MODEL_REF) {
        return btz_err_set(
            err, BTZ_EUSAGE,
            "%.*s follows a plan and reads nothing, so it cannot judge; name a model",
            BTZ_FMT(reference));
    }
    if (rc == BTZ_OK) {
        rc = btz_llm_key_for(context->arena, &out->model, getenv("OPENAI_API_KEY"),
                             btz_args_text(context->args, "key-file", NULL), key_for, key_for_count,
                             &out->key, err);
    }
    if (rc == BTZ_OK && out->model.kind == BTZ_LLM_MODEL_LOCAL &&
        !btz_cmd_local_runs(out->model.local.pid)) {
        rc = btz_err_set(err, BTZ_EMISSING,
                         "the local model is not running: `make local-model` starts it");
    }
    if (rc == BTZ_OK && !out->key.send && out->key.why.len &&
        (key_for_count || btz_args_has(context->args, "key-file"))) {
        btz_cmd_note(context, "%.*s: %.*s", BTZ_FMT(reference), BTZ_FMT(out->key.why));
    }
    out->name = out->model.kind == BTZ_LLM_MODEL_LOCAL /* "local" is whatever runs today */
                    ? btz_arena_printf(context->arena, "local:%.*s", BTZ_FMT(out->model.id))
                    : out->model.reference;
    return rc;
}

int rescore_judges(struct rescore *r, struct btz_err *err)
{
    struct btz_context *context = r->context;
    struct btz_str *references = btz_cmd_values(context, "judge", &r->judge_count);
    const struct btz_json *card = NULL;
    struct btz_str text = BTZ_STR("{}");
    int rc = BTZ_OK;

    if (r->run.no) {
        rc = btz_store_provenance(r->store, r->run.no, context->arena, &text, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_json_parse(context->arena, text, NULL, &card, err);
    }
    r->judges = btz_arena_array(context->arena, r->judge_count + 1, sizeof(*r->judges));
    for (size_t i = 0; rc == BTZ_OK && i < r->judge_count; i++) {
        rc = parse_judge(context, references[i], &r->judges[i], err);
        for (size_t k = 0; rc == BTZ_OK && k < i; k++) {
            if (btz_str_eq(r->judges[k].name, r->judges[i].name)) {
                rc = btz_err_set(err, BTZ_EUSAGE, "--judge %.*s is given twice",
                                 BTZ_FMT(references[i]));
            }
        }
        if (rc == BTZ_OK) {
            rc = check_tested(r, &r->judges[i], btz_json_getz(card, "models"), err);
        }
    }
    return rc;
}

/* ---- rubrics ---- */

/* DIR/rubrics/NAME of a pack, the last pack first; BTZ_STR_NONE if no pack has it. */
static int pack_rubric(struct rescore *r, struct btz_str name, struct btz_str *out,
                       struct btz_err *err)
{
    const char *const *dirs = NULL;
    size_t count = btz_args_list(r->context->args, "pack", &dirs);

    *out = BTZ_STR_NONE;
    for (size_t i = count; i > 0; i--) {
        struct btz_str path =
            btz_arena_printf(r->context->arena, "%s/rubrics/%.*s", dirs[i - 1], BTZ_FMT(name));
        int rc = BTZ_ENOTFOUND;

        if (!btz_lab_pack_is_builtin(dirs[i - 1])) {
            rc = btz_file_read(r->context->arena, path.ptr, BTZ_JUDGE_MAX_RUBRIC, out, err);
        }
        if (rc == BTZ_ENOTFOUND) {
            continue;
        }
        if (rc == BTZ_OK && out->len == 0) {
            rc = btz_err_set(err, BTZ_EUSAGE, "%s is empty", path.ptr);
        }
        return rc ? BTZ_EUSAGE : BTZ_OK;
    }
    return BTZ_OK;
}

int rescore_attack_at(struct rescore *r, struct btz_str id, size_t *at, struct btz_err *err)
{
    struct btz_str name = BTZ_STR_NONE;
    struct rescore_attack *attack;
    int rc;

    for (*at = 0; *at < r->attack_count; (*at)++) {
        if (btz_str_eq(r->attacks[*at].id, id)) {
            return BTZ_OK;
        }
    }
    for (size_t i = 0; i < btz_lab_scenario_count(r->lab) && !name.len; i++) {
        const struct btz_scenario *s = btz_lab_scenario_at(r->lab, i);

        if (btz_str_eq(s->attack, id)) {
            name = btz_json_str(btz_json_getz(s->attack_card, "rubric"));
        }
    }
    r->attacks = btz_arena_grow(r->context->arena, r->attacks, r->attack_count, &r->attack_cap,
                                sizeof(*r->attacks));
    attack = &r->attacks[r->attack_count];
    *attack = (struct rescore_attack){.id = btz_arena_dup(r->context->arena, id)};
    rc = name.len ? pack_rubric(r, name, &attack->rubric, err) : BTZ_OK;
    if (rc != BTZ_OK) {
        return rc;
    }
    attack->rubric = attack->rubric.len ? attack->rubric : btz_judge_rubric(name);
    if (attack->rubric.len) {
        attack->version = btz_judge_version(r->judge, r->context->arena, attack->rubric);
    } else {
        btz_cmd_note(r->context, "attack %.*s has no rubric here: its trials are not judged%s",
                     BTZ_FMT(id), name.len ? "" : " (load its pack with --pack)");
    }
    r->attack_count++;
    return BTZ_OK;
}

/* ---- trials ---- */

bool rescore_wants(const struct rescore *r, const struct btz_store_row *row)
{
    size_t count = 0;
    struct btz_str *attacks = btz_cmd_values(r->context, "attack", &count);
    bool named = count == 0;

    for (size_t i = 0; i < count; i++) {
        named |= btz_str_eq(attacks[i], row->cell.attack);
    }
    return named && row->n > 0 && row->current && row->trial.outcome != BTZ_STORE_FAULT &&
           (r->all_arms || btz_str_is(row->cell.arm, "attack"));
}

/* A stored verdict of one of the judges, found while the trials are read. */
struct found {
    size_t judge, item;
    struct rescore_answer answer;
};

struct finds {
    struct found *list;
    size_t count, cap;
};

static void note_verdicts(struct rescore *r, const struct btz_store_trial *trial, size_t item,
                          struct finds *finds)
{
    struct btz_arena *arena = r->context->arena;

    for (size_t i = 0; i < trial->verdict_count; i++) {
        const struct btz_store_verdict *v = &trial->verdicts[i];

        for (size_t j = 0; j < r->judge_count; j++) {
            if (!btz_str_is(v->source, "judge") || !btz_str_eq(v->name, r->judges[j].name) ||
                !btz_str_eq(v->version, r->attacks[r->items[item].attack].version)) {
                continue;
            }
            r->items[item].done[j] = true;
            r->judges[j].before++;
            finds->list =
                btz_arena_grow(arena, finds->list, finds->count, &finds->cap, sizeof(*finds->list));
            finds->list[finds->count++] =
                (struct found){j, item, {true, v->success, btz_arena_dup(arena, v->json)}};
        }
    }
}

static int read_item(struct rescore *r, struct btz_arena *scratch, int64_t n, struct finds *finds,
                     struct btz_err *err)
{
    struct btz_store_row row;
    struct btz_judge_request request;
    struct rescore_item *item;
    size_t attack = 0;
    int rc = btz_store_trial_load(r->store, r->run.no, n, scratch, &row, err);

    if (rc == BTZ_OK) {
        rc = rescore_attack_at(r, row.cell.attack, &attack, err);
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    if (!r->attacks[attack].rubric.len) {
        r->without_rubric++;
        return BTZ_OK;
    }
    btz_judge_request_make(r->judge, scratch, r->attacks[attack].rubric, row.trial.events,
                           row.trial.event_count, &request);
    r->items =
        btz_arena_grow(r->context->arena, r->items, r->item_count, &r->item_cap, sizeof(*r->items));
    item = &r->items[r->item_count++];
    *item = (struct rescore_item){
        .n = n,
        .attack = attack,
        .request = request.hash,
        .done = btz_arena_array(r->context->arena, r->judge_count + 1, sizeof(bool))};
    note_verdicts(r, &row.trial, r->item_count - 1, finds);
    return BTZ_OK;
}

static int by_request(const void *a, const void *b)
{
    const struct rescore_item *x = *(struct rescore_item *const *)a;
    const struct rescore_item *y = *(struct rescore_item *const *)b;
    int order = memcmp(x->request.bytes, y->request.bytes, sizeof(x->request.bytes));

    return order ? order : (x->n > y->n) - (x->n < y->n);
}

static void make_groups(struct rescore *r, const struct finds *finds)
{
    struct rescore_item **sorted =
        btz_arena_array(r->context->arena, r->item_count + 1, sizeof(struct rescore_item *));

    for (size_t i = 0; i < r->item_count; i++) {
        sorted[i] = &r->items[i];
    }
    qsort(sorted, r->item_count, sizeof(struct rescore_item *), by_request);
    for (size_t i = 0; i < r->item_count; i++) {
        r->group_count += i == 0 || !btz_hash_eq(&sorted[i]->request, &sorted[i - 1]->request);
        sorted[i]->group = r->group_count - 1;
    }
    r->answers = btz_arena_array(r->context->arena, r->judge_count * r->group_count + 1,
                                 sizeof(*r->answers));
    for (size_t i = 0; i < finds->count; i++) {
        const struct found *f = &finds->list[i];

        r->answers[f->judge * r->group_count + r->items[f->item].group] = f->answer;
    }
}

int rescore_items(struct rescore *r, struct btz_err *err)
{
    struct btz_arena *scratch = btz_arena_new();
    struct btz_store_rows *rows = NULL;
    struct finds finds = {0};
    struct btz_store_row row;
    int rc = btz_store_rows_open(r->store, r->run.no, BTZ_STORE_BY_PLAN, &rows, err);

    while (rc == BTZ_OK && (rc = btz_store_rows_next(rows, &row, err)) == 1) {
        rc = BTZ_OK;
        if (rescore_wants(r, &row)) {
            btz_arena_reset(scratch);
            rc = read_item(r, scratch, row.n, &finds, err);
        }
    }
    btz_store_rows_free(rows);
    btz_arena_free(scratch);
    if (rc == BTZ_OK) {
        make_groups(r, &finds);
    }
    return rc;
}
