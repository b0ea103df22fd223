/* The provenance card of a run: everything that a number depends on, as JSON. */
#include <limits.h>

#include "study/study_int.h"

#include "trial/trial.h"

static struct btz_json *texts(struct btz_arena *arena, const struct btz_str *list, size_t count)
{
    struct btz_json *out = btz_json_new_array(arena);

    for (size_t i = 0; i < count; i++) {
        btz_json_push(arena, out, btz_json_new_str(arena, list[i]));
    }
    return out;
}

void card_set_hash(struct btz_arena *arena, struct btz_json *object, const char *key,
                   struct btz_hash hash)
{
    char hex[65];

    btz_json_set_strz(arena, object, key, btz_hash_hex(&hash, hex));
}

struct btz_json *card_of_model(struct btz_arena *arena, const struct btz_study_model *m)
{
    struct btz_json *out = btz_json_new_object(arena);

    btz_json_set_str(arena, out, "reference", m->model.reference);
    btz_json_set_str(arena, out, "id", m->model.id);
    if (m->model.kind != BTZ_LLM_MODEL_REF) {
        btz_json_set_str(arena, out, "url", m->model.url);
    }
    if (m->model.kind == BTZ_LLM_MODEL_LOCAL) {
        btz_json_set_str(arena, out, "weights_package", m->model.local.weights_package);
        btz_json_set_str(arena, out, "weights_version", m->model.local.weights_version);
        btz_json_set_str(arena, out, "weights_sha256", m->model.local.weights_sha256);
        btz_json_set_str(arena, out, "file_type", m->model.local.file_type);
        btz_json_set_str(arena, out, "parameters", m->model.local.parameters);
        btz_json_set_str(arena, out, "server_package", m->model.local.server_package);
        btz_json_set_str(arena, out, "server_version", m->model.local.server_version);
        btz_json_set_str(arena, out, "license", m->model.local.license);
    }
    return out;
}

static struct btz_json *model_card(struct btz_study *study, size_t index)
{
    const struct btz_study_model *m = &study->options.models[index];
    struct btz_arena *arena = study->arena;
    struct btz_json *out = card_of_model(arena, m);

    btz_json_set_strz(arena, out, "actions", m->json_actions ? "json" : "native");
    btz_json_set_int(arena, out, "max_tokens", model_max_tokens(study, index));
    btz_json_set_int(arena, out, "in_flight", model_in_flight(study, index));
    btz_json_set_int(arena, out, "request_timeout", model_timeout_us(study, index) / 1000000);
    return out;
}

/* Of the attacks in which the model has to choose: among how many, by variant. */
static void add_choices(struct btz_arena *arena, struct btz_json *card, struct btz_json **all,
                        const struct btz_scenario *scenario)
{
    const struct btz_json *choices = btz_json_pointer(scenario->card, BTZ_STR("/setting/choices"));

    if (choices && !*all) {
        *all = btz_json_new_object(arena);
        btz_json_setz(arena, card, "choices", *all);
    }
    if (choices) {
        btz_json_set(arena, *all, scenario->variant, choices);
    }
}

/* Snapshot, so that a later pack cannot change what an old run's tables say. */
static struct btz_json *attack_cards(struct btz_study *study)
{
    struct btz_arena *arena = study->arena;
    struct btz_json *out = btz_json_new_array(arena);
    struct btz_json *card = NULL;
    struct btz_json *choices = NULL; /* of the card */
    struct btz_str last = BTZ_STR_NONE;

    for (size_t i = 0; i < btz_lab_scenario_count(study->options.lab); i++) {
        const struct btz_scenario *s = btz_lab_scenario_at(study->options.lab, i);

        if (btz_str_eq(s->attack, last)) {
            add_choices(arena, card, &choices, s);
            continue;
        }
        last = s->attack;
        card = btz_json_new_object(arena);
        choices = NULL;
        btz_json_set_str(arena, card, "id", s->attack);
        btz_json_set_str(arena, card, "surface", s->surface);
        btz_json_set_strz(arena, card, "oracle", s->semantic ? "semantic" : "deterministic");
        btz_json_set_str(arena, card, "mapping",
                         btz_json_str(btz_json_getz(s->attack_card, "mapping")));
        if (s->suite.len) {
            btz_json_set_str(arena, card, "suite", s->suite);
        }
        add_choices(arena, card, &choices, s);
        btz_json_push(arena, out, card);
    }
    return out;
}

/* Arms, revisions and architectures, in the order in which cells are planned. */
static void set_axes(struct btz_study *study, struct btz_json *card)
{
    const struct btz_study_options *o = &study->options;
    struct btz_arena *arena = study->arena;
    struct btz_json *arms = btz_json_new_array(arena);
    struct btz_json *revisions = btz_json_new_array(arena);
    struct btz_json *archs = btz_json_new_array(arena);

    for (int arm = BTZ_ARM_ATTACK; arm <= BTZ_ARM_BENIGN; arm++) {
        if (o->arms == 0 || o->arms >> arm & 1) {
            btz_json_push(arena, arms, btz_json_new_strz(arena, btz_arm_name((enum btz_arm)arm)));
        }
    }
    for (size_t i = 0; i < o->revision_count; i++) {
        btz_json_push(arena, revisions,
                      btz_json_new_strz(arena, btz_mcp_revision_text(o->revisions[i])));
    }
    for (size_t i = 0; i < o->arch_count; i++) {
        btz_json_push(arena, archs, btz_json_new_strz(arena, btz_arch_name(o->archs[i])));
    }
    btz_json_setz(arena, card, "defences", texts(arena, o->defences, o->defence_count));
    if (o->proxy.port) {
        btz_json_set_str(arena, card, "defence_address", o->proxy.address);
        btz_json_set_int(arena, card, "defence_port", o->proxy.port);
    }
    btz_json_setz(arena, card, "arms", arms);
    btz_json_setz(arena, card, "revisions", revisions);
    btz_json_setz(arena, card, "architectures", archs);
}

/* Packs of the program besides the core pack, so that whoever goes on with the run, or looks at it,
 * loads them by itself. Folders of users are not named: they may have moved. */
static void set_packs(struct btz_study *study, struct btz_json *card)
{
    struct btz_json *names = btz_json_new_array(study->arena);

    for (size_t i = 0; btz_lab_pack_builtin(i); i++) {
        if (btz_lab_has_pack(study->options.lab, btz_str_of(btz_lab_pack_builtin(i)))) {
            btz_json_push(study->arena, names,
                          btz_json_new_strz(study->arena, btz_lab_pack_builtin(i)));
        }
    }
    if (btz_json_count(names)) {
        btz_json_setz(study->arena, card, "packs", names);
    }
}

/* Only if it is one number for all. */
static void set_max_tokens(struct btz_study *study, struct btz_json *card)
{
    for (size_t i = 1; i < study->options.model_count; i++) {
        if (model_max_tokens(study, i) != model_max_tokens(study, 0)) {
            return;
        }
    }
    btz_json_set_int(study->arena, card, "max_tokens", model_max_tokens(study, 0));
}

struct btz_str card_write(struct btz_study *study)
{
    const struct btz_study_options *o = &study->options;
    struct btz_arena *arena = study->arena;
    struct btz_json *card = btz_json_new_object(arena);
    struct btz_json *models = btz_json_new_array(arena);
    struct btz_json *guard;

    btz_json_set_strz(arena, card, "version", BTZ_VERSION);
    btz_json_set_str(arena, card, "study", o->name);
    btz_json_set_str(arena, card, "command", o->command);
    if (o->text.len) {
        btz_json_set_str(arena, card, "study_text", o->text);
    }
    card_set_hash(arena, card, "binary_hash", o->binary);
    card_set_hash(arena, card, "pack_hash", btz_lab_pack_hash(o->lab));
    card_set_hash(arena, card, "prompt_hash", btz_trial_prompt_hash());
    btz_json_set_str(arena, card, "host_profile", o->host_profile);
    btz_json_set_strz(arena, card, "carrier", btz_carrier_name(o->carrier));
    set_packs(study, card);
    set_axes(study, card);
    btz_json_set_str(arena, card, "seed",
                     btz_arena_printf(arena, "%llu", (unsigned long long)o->seed));
    btz_json_set_int(arena, card, "repetitions", o->repetitions);
    set_max_tokens(study, card);
    btz_json_set_int(arena, card, "temperature", 0);
    btz_json_setz(arena, card, "price_date", btz_json_null(arena));
    for (size_t i = 0; i < o->model_count; i++) {
        btz_json_push(arena, models, model_card(study, i));
    }
    btz_json_setz(arena, card, "models", models);
    if ((guard = defences_card(study))) {
        btz_json_setz(arena, card, "guard", guard);
    }
    btz_json_setz(arena, card, "only_attacks", texts(arena, o->attacks, o->attack_count));
    btz_json_setz(arena, card, "only_variants", texts(arena, o->variants, o->variant_count));
    btz_json_setz(arena, card, "only_surfaces", texts(arena, o->surfaces, o->surface_count));
    btz_json_setz(arena, card, "attacks", attack_cards(study));
    return btz_json_text(arena, card);
}

static const struct btz_str *read_texts(struct btz_study *study, const struct btz_json *list,
                                        size_t *count)
{
    struct btz_str *out = btz_arena_array(study->arena, btz_json_count(list), sizeof(*out));

    *count = btz_json_count(list);
    for (size_t i = 0; i < *count; i++) {
        out[i] = btz_json_str(btz_json_at(list, i));
    }
    return out;
}

bool card_same_hash(const struct btz_json *card, const char *key, struct btz_hash hash)
{
    char hex[65];

    return btz_str_is(btz_json_str(btz_json_getz(card, key)), btz_hash_hex(&hash, hex));
}

int btz_study_models_of(struct btz_arena *arena, struct btz_str provenance, struct btz_str **out,
                        size_t *count, struct btz_err *err)
{
    const struct btz_json *card = NULL;
    const struct btz_json *models;
    int rc = btz_json_parse(arena, provenance, NULL, &card, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    models = btz_json_getz(card, "models");
    *count = btz_json_count(models);
    *out = btz_arena_array(arena, *count, sizeof(**out));
    for (size_t i = 0; i < *count; i++) {
        (*out)[i] = btz_json_str(btz_json_getz(btz_json_at(models, i), "reference"));
    }
    return BTZ_OK;
}

const char *const *btz_study_packs_of(struct btz_arena *arena, struct btz_str provenance,
                                      size_t *count)
{
    const struct btz_json *card = NULL;
    const struct btz_json *list;
    const char **names;
    struct btz_err ignored;

    *count = 0;
    if (btz_json_parse(arena, provenance, NULL, &card, &ignored) != BTZ_OK) {
        return NULL;
    }
    list = btz_json_getz(card, "packs");
    names = btz_arena_array(arena, btz_json_count(list), sizeof(*names));
    for (size_t i = 0; i < btz_json_count(list); i++) {
        const char *name = btz_arena_cstr(arena, btz_json_str(btz_json_at(list, i)));

        if (btz_lab_pack_is_builtin(name)) {
            names[(*count)++] = name;
        }
    }
    return names;
}

static int defence_model_of(struct btz_arena *arena, struct btz_str provenance, const char *member,
                            struct btz_str *out, struct btz_err *err)
{
    const struct btz_json *card = NULL;
    int rc = btz_json_parse(arena, provenance, NULL, &card, err);

    if (rc == BTZ_OK) {
        *out = btz_json_str(
            btz_json_getz(btz_json_getz(btz_json_getz(card, "guard"), member), "reference"));
    }
    return rc;
}

int btz_study_guard_of(struct btz_arena *arena, struct btz_str provenance, struct btz_str *out,
                       struct btz_err *err)
{
    return defence_model_of(arena, provenance, "model", out, err);
}

int btz_study_rewriter_of(struct btz_arena *arena, struct btz_str provenance, struct btz_str *out,
                          struct btz_err *err)
{
    return defence_model_of(arena, provenance, "rewrite_model", out, err);
}

static int unusable(struct btz_err *err)
{
    return btz_err_set(err, BTZ_ECORRUPT, "the run's provenance card cannot be used to resume it");
}

static int read_axes(struct btz_study *study, const struct btz_json *card, struct btz_err *err)
{
    struct btz_study_options *o = &study->options;
    const struct btz_json *arms = btz_json_getz(card, "arms");
    const struct btz_json *revisions = btz_json_getz(card, "revisions");
    const struct btz_json *archs = btz_json_getz(card, "architectures");
    size_t revision_count = btz_json_count(revisions);
    size_t arch_count = btz_json_count(archs);
    enum btz_mcp_revision *r = btz_arena_array(study->arena, revision_count, sizeof(*r));
    enum btz_arch *a = btz_arena_array(study->arena, arch_count, sizeof(*a));

    o->arms = 0;
    for (int arm = BTZ_ARM_ATTACK; arm <= BTZ_ARM_BENIGN; arm++) {
        for (size_t i = 0; i < btz_json_count(arms); i++) {
            if (btz_str_is(btz_json_str(btz_json_at(arms, i)), btz_arm_name((enum btz_arm)arm))) {
                o->arms |= 1U << arm;
            }
        }
    }
    for (size_t i = 0; i < revision_count; i++) {
        r[i] = btz_mcp_revision_parse(btz_json_str(btz_json_at(revisions, i)));
        if (r[i] == BTZ_MCP_REVISION_NONE) {
            return unusable(err);
        }
    }
    for (size_t i = 0; i < arch_count; i++) {
        if (btz_arch_named(btz_json_str(btz_json_at(archs, i)), &a[i]) != BTZ_OK) {
            return unusable(err);
        }
    }
    o->revisions = r;
    o->revision_count = revision_count;
    o->archs = a;
    o->arch_count = arch_count;
    return o->arms && revision_count && arch_count ? BTZ_OK : unusable(err);
}

static int read_numbers(struct btz_study_options *o, const struct btz_json *card,
                        struct btz_err *err)
{
    struct btz_str seed = btz_json_str(btz_json_getz(card, "seed"));
    int64_t repetitions = 0;

    o->seed = 0;
    for (size_t i = 0; i < seed.len && seed.ptr[i] >= '0' && seed.ptr[i] <= '9'; i++) {
        o->seed = o->seed * 10 + (uint64_t)(seed.ptr[i] - '0');
    }
    if (!btz_json_int64(btz_json_getz(card, "repetitions"), &repetitions) || repetitions < 1 ||
        repetitions > BTZ_STORE_MAX_CELLS ||
        btz_carrier_named(btz_json_str(btz_json_getz(card, "carrier")), &o->carrier) != BTZ_OK) {
        return unusable(err);
    }
    o->repetitions = (unsigned)repetitions;
    return BTZ_OK;
}

/* How a model acts and how long its replies may be is the run's own, whatever today's caller would
 * choose; how many trials run at a time and how long a request may take is the caller's. */
static int read_models(struct btz_study *study, const struct btz_json *models, struct btz_err *err)
{
    struct btz_study_options *o = &study->options;
    struct btz_study_model *own = btz_arena_array(study->arena, o->model_count, sizeof(*own));

    for (size_t i = 0; i < o->model_count; i++) {
        const struct btz_json *card = btz_json_at(models, i);
        int64_t in_flight = 0;
        int64_t timeout = 0;

        own[i] = o->models[i];
        own[i].json_actions = btz_str_is(btz_json_str(btz_json_getz(card, "actions")), "json");
        if (!btz_json_int64(btz_json_getz(card, "max_tokens"), &own[i].max_tokens) ||
            !btz_json_int64(btz_json_getz(card, "in_flight"), &in_flight) || in_flight < 1 ||
            in_flight > UINT_MAX ||
            !btz_json_int64(btz_json_getz(card, "request_timeout"), &timeout) || timeout < 0 ||
            timeout > INT64_MAX / 1000000) {
            return unusable(err);
        }
        if (own[i].in_flight == 0 && o->in_flight == 0) {
            own[i].in_flight = (unsigned)in_flight;
        }
        if (own[i].request_timeout_us == 0 && o->request_timeout_us == 0) {
            own[i].request_timeout_us = timeout * 1000000;
        }
    }
    o->models = own;
    return BTZ_OK;
}

/* Whether this program with these packs made the run. */
static int check_program(const struct btz_json *card, const struct btz_lab *lab,
                         struct btz_hash binary, struct btz_err *err)
{
    if (!card_same_hash(card, "pack_hash", btz_lab_pack_hash(lab)) ||
        !card_same_hash(card, "prompt_hash", btz_trial_prompt_hash())) {
        return btz_err_set(
            err, BTZ_EDENIED,
            "the packs or prompts of this program are not those of the run: its cells would "
            "not be comparable; start a new run");
    }
    if (!card_same_hash(card, "binary_hash", binary)) {
        return btz_err_set(
            err, BTZ_EDENIED,
            "this program is not the one that began the run, and its card could not say "
            "which of them made which trial: start a new run");
    }
    return BTZ_OK;
}

int btz_study_may_go_on(struct btz_arena *arena, struct btz_str provenance,
                        const struct btz_lab *lab, const struct btz_hash *binary,
                        struct btz_err *err)
{
    const struct btz_json *card = NULL;
    int rc = btz_json_parse(arena, provenance, NULL, &card, err);

    return rc ? rc : check_program(card, lab, *binary, err);
}

int card_read(struct btz_study *study, struct btz_str text, const struct btz_json **out,
              struct btz_err *err)
{
    struct btz_study_options *o = &study->options;
    const struct btz_json *card = NULL;
    int64_t port = 0;
    int rc = btz_json_parse(study->arena, text, NULL, &card, err);

    *out = card;

    if (rc == BTZ_OK) {
        rc = read_numbers(o, card, err);
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    rc = check_program(card, o->lab, o->binary, err);
    if (rc != BTZ_OK) {
        return rc;
    }
    rc = read_axes(study, card, err);
    if (rc == BTZ_OK) {
        rc = read_models(study, btz_json_getz(card, "models"), err);
    }
    o->name = btz_json_str(btz_json_getz(card, "study"));
    o->host_profile = btz_json_str(btz_json_getz(card, "host_profile"));
    o->defences = read_texts(study, btz_json_getz(card, "defences"), &o->defence_count);
    o->proxy.address = btz_json_str(btz_json_getz(card, "defence_address"));
    if (btz_json_int64(btz_json_getz(card, "defence_port"), &port) && port > 0 && port < 65536) {
        o->proxy.port = (uint16_t)port;
    }
    o->attacks = read_texts(study, btz_json_getz(card, "only_attacks"), &o->attack_count);
    o->variants = read_texts(study, btz_json_getz(card, "only_variants"), &o->variant_count);
    o->surfaces = read_texts(study, btz_json_getz(card, "only_surfaces"), &o->surface_count);
    return rc;
}
