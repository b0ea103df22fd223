/* From a study file to its settings. */
#include "study/file_int.h"

#include "base/args.h"
#include "llm/model.h"

enum { MAX_BYTES = 64 * 1024, MAX_DEPTH = 8, MAX_VALUES = 10000 };

struct btz_str btz_study_name(size_t index)
{
    struct btz_str file;

    if (index >= btz_study_files_count) {
        return BTZ_STR_NONE;
    }
    file = btz_str_of(btz_study_files[index].name);
    return btz_str_sub(file, 0, file.len - strlen(".yaml"));
}

int btz_study_actions_named(struct btz_str name, enum btz_study_actions *out)
{
    static const char *const names[] = {[BTZ_STUDY_ACTIONS_AUTO] = "auto",
                                        [BTZ_STUDY_ACTIONS_NATIVE] = "native",
                                        [BTZ_STUDY_ACTIONS_JSON] = "json"};

    for (int i = BTZ_STUDY_ACTIONS_AUTO; i <= BTZ_STUDY_ACTIONS_JSON; i++) {
        if (btz_str_is(name, names[i])) {
            *out = (enum btz_study_actions)i;
            return BTZ_OK;
        }
    }
    return BTZ_ENOTFOUND;
}

enum btz_mcp_revision btz_study_revision_named(struct btz_str name)
{
    return btz_str_is(name, "modern")   ? BTZ_MCP_2026_07_28
           : btz_str_is(name, "legacy") ? BTZ_MCP_2025_11_25
                                        : btz_mcp_revision_parse(name);
}

bool btz_study_knows(struct btz_arena *arena, const struct btz_lab *lab,
                     enum btz_study_filter filter, struct btz_str value, const char **near)
{
    size_t count = btz_lab_scenario_count(lab);
    const char **names = btz_arena_array(arena, count, sizeof(*names));

    for (size_t i = 0; i < count; i++) {
        const struct btz_scenario *s = btz_lab_scenario_at(lab, i);
        struct btz_str have = filter == BTZ_STUDY_ATTACK    ? s->attack
                              : filter == BTZ_STUDY_VARIANT ? s->variant
                                                            : s->surface;

        if (btz_str_eq(have, value)) {
            return true;
        }
        names[i] = btz_arena_cstr(arena, have);
    }
    *near = btz_args_nearest(btz_arena_cstr(arena, value), names, count);
    return false;
}

/* A file being read; every value was held against the schema. */
struct reader {
    struct btz_arena *arena;
    const struct btz_config *config;
    const struct btz_lab *lab;
    struct btz_err *err;
};

static int64_t number(const struct btz_json *object, const char *key, int64_t absent)
{
    int64_t out = absent;

    (void)btz_json_int64(btz_json_getz(object, key), &out);
    return out;
}

static int read_names(struct reader *r, enum btz_study_filter filter, const struct btz_str **out,
                      size_t *count)
{
    static const char *const keys[] = {"attacks", "variants", "surfaces"};
    static const char *const ones[] = {"attack", "variant", "surface"};
    static const char *const lists[] = {"attacks", "scenarios", "attacks"};
    const struct btz_json *list = btz_json_getz(btz_config_root(r->config), keys[filter]);
    struct btz_str *names;

    *count = btz_json_count(list);
    names = btz_arena_array(r->arena, *count, sizeof(*names));
    for (size_t i = 0; i < *count; i++) {
        const char *near = NULL;

        names[i] = btz_json_str(btz_json_at(list, i));
        if (!btz_study_knows(r->arena, r->lab, filter, names[i], &near)) {
            struct btz_str mean = file_near(r->arena, near);

            return btz_config_refuse(r->config, btz_json_at(list, i), r->err,
                                     "%s: there is no %s \"%.*s\"%.*s%s `bartizan list %s` names "
                                     "them",
                                     keys[filter], ones[filter],
                                     BTZ_FMT(btz_str_sub(names[i], 0, 64)), BTZ_FMT(mean),
                                     near ? "" : ";", lists[filter]);
        }
    }
    *out = names;
    return BTZ_OK;
}

/* The packs that the study asks for are loaded by whoever made the lab. */
static int check_packs(struct reader *r)
{
    const struct btz_json *list = btz_json_getz(btz_config_root(r->config), "packs");

    for (size_t i = 0; i < btz_json_count(list); i++) {
        struct btz_str name = btz_json_str(btz_json_at(list, i));
        bool known = btz_lab_pack_is_builtin(btz_arena_cstr(r->arena, name));

        if (!known || !btz_lab_has_pack(r->lab, name)) {
            return btz_config_refuse(
                r->config, btz_json_at(list, i), r->err,
                known ? "packs: the pack \"%.*s\" is not loaded; give --pack %.*s"
                      : "packs: there is no pack \"%.*s\" in the program; folders are given with "
                        "--pack, not in a study%.*s",
                BTZ_FMT(btz_str_sub(name, 0, 64)), BTZ_FMT(known ? name : BTZ_STR("")));
        }
    }
    return BTZ_OK;
}

static unsigned read_arms(const struct btz_json *list)
{
    unsigned arms = 0;

    for (size_t i = 0; i < btz_json_count(list); i++) {
        for (int arm = BTZ_ARM_ATTACK; arm <= BTZ_ARM_BENIGN; arm++) {
            if (btz_str_is(btz_json_str(btz_json_at(list, i)), btz_arm_name((enum btz_arm)arm))) {
                arms |= 1U << arm;
            }
        }
    }
    return arms;
}

static int read_archs(struct reader *r, struct btz_study_file *out)
{
    const struct btz_json *list = btz_json_getz(btz_config_root(r->config), "architectures");
    size_t count = btz_json_count(list);
    enum btz_arch *archs = btz_arena_array(r->arena, count + 1, sizeof(*archs));

    archs[0] = BTZ_ARCH_REACT;
    for (size_t i = 0; i < count; i++) {
        if (btz_arch_named(btz_json_str(btz_json_at(list, i)), &archs[i]) != BTZ_OK) {
            return btz_config_refuse(r->config, btz_json_at(list, i), r->err,
                                     "architectures: unknown value");
        }
    }
    out->archs = archs;
    out->arch_count = count ? count : 1;
    return BTZ_OK;
}

/* "modern" and "2026-07-28" are one. */
static int read_revisions(struct reader *r, struct btz_study_file *out)
{
    const struct btz_json *list = btz_json_getz(btz_config_root(r->config), "revisions");
    size_t count = btz_json_count(list);
    enum btz_mcp_revision *revisions = btz_arena_array(r->arena, count + 1, sizeof(*revisions));

    revisions[0] = BTZ_MCP_2026_07_28;
    for (size_t i = 0; i < count; i++) {
        revisions[i] = btz_study_revision_named(btz_json_str(btz_json_at(list, i)));
        for (size_t k = 0; k < i; k++) {
            if (revisions[k] == revisions[i]) {
                return btz_config_refuse(
                    r->config, btz_json_at(list, i), r->err,
                    "revisions: \"%.*s\" and \"%.*s\" are the same; remove one",
                    BTZ_FMT(btz_json_str(btz_json_at(list, k))),
                    BTZ_FMT(btz_json_str(btz_json_at(list, i))));
            }
        }
    }
    out->revisions = revisions;
    out->revision_count = count ? count : 1;
    return BTZ_OK;
}

static int read_defences(struct reader *r, struct btz_study_file *out)
{
    const struct btz_json *root = btz_config_root(r->config);
    const struct btz_json *list = btz_json_getz(root, "defences");
    const struct btz_json *one = btz_json_getz(root, "defence");
    size_t count = one ? 1 : btz_json_count(list);
    struct btz_str *names = btz_arena_array(r->arena, count + 1, sizeof(*names));

    if (list && one) {
        return btz_config_refuse(r->config, one, r->err,
                                 "defence: defences names them already; remove one");
    }
    names[0] = BTZ_STR("none");
    for (size_t i = 0; i < count; i++) {
        const struct btz_json *item = one ? one : btz_json_at(list, i);
        struct btz_defence known;

        names[i] = btz_json_str(item);
        if (btz_defence_named(names[i], &known) != BTZ_OK) {
            return btz_config_refuse(
                r->config, item, r->err,
                "defences: expected none, input, context or combined; behind one of the latter "
                "three :model, then +rescan (not of input), then +closed; or canon:ARM, behind it "
                "+ and any of these; got "
                "\"%.*s\"",
                BTZ_FMT(btz_str_sub(names[i], 0, 64)));
        }
    }
    out->defences = names;
    out->defence_count = count ? count : 1;
    return BTZ_OK;
}

static struct btz_study_limits read_limits(const struct btz_json *object)
{
    struct btz_study_limits out = {
        .in_flight = (unsigned)number(object, "in_flight", 0),
        .max_tokens = number(object, "max_tokens", 0),
        .request_timeout = number(object, "request_timeout", 0),
    };

    (void)!btz_study_actions_named(btz_json_str(btz_json_getz(object, "actions")), &out.actions);
    return out;
}

/* Whether "local" is there is asked when it is to be run. */
static int check_model(struct reader *r, struct btz_str reference, unsigned line)
{
    struct btz_llm_model model;
    int rc = btz_str_is(reference, "local")
                 ? BTZ_OK
                 : btz_llm_model_parse(r->arena, reference, NULL, &model, r->err);

    if (rc != BTZ_OK) {
        btz_err_at(r->err, btz_config_file(r->config), line, 0);
    }
    return rc;
}

/* One that a defence asks; none is no mistake here. */
static int read_asked_model(struct reader *r, const char *key, struct btz_str *out, unsigned *line)
{
    const struct btz_json *value = btz_json_getz(btz_config_root(r->config), key);

    *out = btz_json_str(value);
    *line = value ? btz_config_line(r->config, value) : 0;
    return value ? check_model(r, *out, *line) : BTZ_OK;
}

static int read_defence_models(struct reader *r, struct btz_study_file *out)
{
    unsigned line = 0;
    int rc = read_asked_model(r, "guard_model", &out->guard_model, &out->guard_line);

    return rc ? rc : read_asked_model(r, "rewrite_model", &out->rewrite_model, &line);
}

static int read_models(struct reader *r, struct btz_study_file *out)
{
    const struct btz_json *list = btz_json_getz(btz_config_root(r->config), "models");
    size_t count = btz_json_count(list);
    struct btz_study_file_model *models = btz_arena_array(r->arena, count, sizeof(*models));

    for (size_t i = 0; i < count; i++) {
        const struct btz_json *item = btz_json_at(list, i);
        const struct btz_json *reference = btz_json_getz(item, "model");
        int rc;

        models[i] = (struct btz_study_file_model){.reference = btz_json_str(reference),
                                                  .limits = read_limits(item),
                                                  .line = btz_config_line(r->config, reference)};
        for (size_t k = 0; k < i; k++) {
            if (btz_str_eq(models[k].reference, models[i].reference)) {
                return btz_config_refuse(
                    r->config, reference, r->err, "models: \"%.*s\" stands in line %u already",
                    BTZ_FMT(btz_str_sub(models[i].reference, 0, 100)), models[k].line);
            }
        }
        if ((rc = check_model(r, models[i].reference, models[i].line)) != BTZ_OK) {
            return rc;
        }
    }
    out->models = models;
    out->model_count = count;
    return BTZ_OK;
}

static int read_file(struct reader *r, struct btz_study_file *out)
{
    const struct btz_json *root = btz_config_root(r->config);
    struct btz_str host_profile = btz_json_str(btz_json_getz(root, "host_profile"));
    int rc = check_packs(r);

    if (rc == BTZ_OK) {
        rc = read_names(r, BTZ_STUDY_ATTACK, &out->attacks, &out->attack_count);
    }
    if (rc == BTZ_OK) {
        rc = read_names(r, BTZ_STUDY_VARIANT, &out->variants, &out->variant_count);
    }
    if (rc == BTZ_OK) {
        rc = read_names(r, BTZ_STUDY_SURFACE, &out->surfaces, &out->surface_count);
    }
    if (rc == BTZ_OK) {
        rc = read_archs(r, out);
    }
    if (rc == BTZ_OK) {
        rc = read_revisions(r, out);
    }
    if (rc == BTZ_OK) {
        rc = read_defences(r, out);
    }
    if (rc == BTZ_OK) {
        rc = read_defence_models(r, out);
    }
    if (rc == BTZ_OK) {
        rc = read_models(r, out);
    }
    out->path = btz_config_file(r->config);
    out->text = btz_config_text(r->config);
    out->tree = root;
    out->name = btz_json_str(btz_json_getz(root, "name"));
    out->about = btz_json_str(btz_json_getz(root, "about"));
    out->arms = read_arms(btz_json_getz(root, "arms"));
    out->repetitions = (unsigned)number(root, "repetitions", 1);
    out->seed = (uint64_t)number(root, "seed", 1);
    out->host_profile = host_profile.len ? host_profile : BTZ_STR("naive");
    out->carrier = BTZ_CARRIER_MEMORY;
    (void)!btz_carrier_named(btz_json_str(btz_json_getz(root, "carrier")), &out->carrier);
    out->limits = read_limits(root);
    return rc;
}

static const struct btz_config_limits limits = {
    .max_bytes = MAX_BYTES, .max_depth = MAX_DEPTH, .max_values = MAX_VALUES};

static int take(struct btz_arena *arena, const struct btz_lab *lab, struct btz_config *config,
                struct btz_study_file *out, struct btz_err *err)
{
    struct reader reader = {.arena = arena, .config = config, .lab = lab, .err = err};
    struct btz_study_file file = {0};
    int rc = file_check(arena, config, err);

    if (rc == BTZ_OK) {
        rc = read_file(&reader, &file);
    }
    if (rc == BTZ_OK) {
        *out = file;
    }
    return rc;
}

int btz_study_parse(struct btz_arena *arena, const struct btz_lab *lab, struct btz_str text,
                    const char *path, struct btz_study_file *out, struct btz_err *err)
{
    struct btz_config *config = NULL;
    int rc = btz_config_parse(arena, text, path, &limits, &config, err);

    return rc ? rc : take(arena, lab, config, out, err);
}

static int unknown(struct btz_arena *arena, const char *study, struct btz_err *err)
{
    const char **names = btz_arena_array(arena, btz_study_files_count, sizeof(*names));
    struct btz_str list = BTZ_STR("");
    const char *near;

    for (size_t i = 0; i < btz_study_files_count; i++) {
        names[i] = btz_arena_cstr(arena, btz_study_name(i));
        list = btz_arena_printf(arena, "%.*s%s%s", BTZ_FMT(list), i ? ", " : "", names[i]);
    }
    near = btz_args_nearest(study, names, btz_study_files_count);
    return btz_err_set(err, BTZ_EUSAGE,
                       "there is no study \"%s\"%.*s%s studies: %.*s, or a file whose name ends in "
                       ".yaml",
                       study, BTZ_FMT(file_near(arena, near)), near ? "" : ";", BTZ_FMT(list));
}

static bool is_path(struct btz_str study)
{
    return btz_str_find(study, BTZ_STR("/")) >= 0 || btz_str_ends(study, BTZ_STR(".yaml")) ||
           btz_str_ends(study, BTZ_STR(".yml")) || btz_str_ends(study, BTZ_STR(".json"));
}

static int open_study(struct btz_arena *arena, const char *study, struct btz_config **out,
                      struct btz_err *err)
{
    if (is_path(btz_str_of(study))) {
        return btz_config_load(arena, study, &limits, out, err);
    }
    for (size_t i = 0; i < btz_study_files_count; i++) {
        if (btz_str_is(btz_study_name(i), study)) {
            struct btz_str text = {btz_study_files[i].bytes, btz_study_files[i].len};

            return btz_config_parse(arena, text, btz_study_files[i].name, &limits, out, err);
        }
    }
    return unknown(arena, study, err);
}

int btz_study_load(struct btz_arena *arena, const struct btz_lab *lab, const char *study,
                   struct btz_study_file *out, struct btz_err *err)
{
    struct btz_config *config = NULL;
    int rc = open_study(arena, study, &config, err);

    return rc ? rc : take(arena, lab, config, out, err);
}

const char *const *btz_study_packs(struct btz_arena *arena, const char *study, size_t *count)
{
    struct btz_config *config = NULL;
    struct btz_err ignored;
    const struct btz_json *list;
    const char **names;

    *count = 0;
    if (open_study(arena, study, &config, &ignored) != BTZ_OK) {
        return NULL;
    }
    list = btz_json_getz(btz_config_root(config), "packs");
    names = btz_arena_array(arena, btz_json_count(list), sizeof(*names));
    for (size_t i = 0; btz_json_is(list, BTZ_JSON_ARRAY) && i < btz_json_count(list); i++) {
        const char *name = btz_arena_cstr(arena, btz_json_str(btz_json_at(list, i)));

        if (btz_lab_pack_is_builtin(name)) {
            names[(*count)++] = name;
        }
    }
    return names;
}
