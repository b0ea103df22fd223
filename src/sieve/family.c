#include "sieve/family.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/embedded.h"
#include "config/config.h"
#include "sieve/sieve_int.h"

extern const struct btz_embedded btz_sieve_pack[], btz_sieve_schemas[];
extern const size_t btz_sieve_pack_count, btz_sieve_schemas_count;

struct loading {
    struct btz_arena *arena;
    struct btz_schema *schema;
    struct btz_schema *operand_schema;
    struct btz_err *err;
    struct btz_sieve_family *families;
    size_t count, cap;
    const struct btz_sieve_operand *operands; /* for all */
    size_t operand_count;
};

static const char *const place_words[] = {"description", "parameter-description",
                                          "enum",        "default",
                                          "title",       "nested",
                                          "annotations", "parameter-name",
                                          "format",      "pattern",
                                          "const",       "examples",
                                          "comment",     "media-type",
                                          NULL};
static const char *const holes[] = {"tool",    "target_tool", "malicious_tool", "parameter",
                                    "operand", "reason",      "sibling_tool",   NULL};

/* ---- Reading ---- */

static struct btz_sieve_words read_words(struct btz_arena *arena, const struct btz_json *list)
{
    struct btz_str *items = btz_arena_array(arena, btz_json_count(list), sizeof(*items));

    for (size_t i = 0; i < btz_json_count(list); i++) {
        items[i] = btz_json_str(btz_json_at(list, i));
    }
    return (struct btz_sieve_words){items, btz_json_count(list)};
}

static const struct btz_sieve_operand *read_operands(struct btz_arena *arena,
                                                     const struct btz_json *list, size_t *count)
{
    struct btz_sieve_operand *out = btz_arena_array(arena, btz_json_count(list), sizeof(*out));

    for (size_t i = 0; i < btz_json_count(list); i++) {
        const struct btz_json *one = btz_json_at(list, i);

        (void)btz_sieve_risk_of(btz_json_str(btz_json_getz(one, "risk")), &out[i].risk);
        out[i].fits = read_words(arena, btz_json_getz(one, "fits"));
        out[i].fallback = btz_json_bool(btz_json_getz(one, "fallback"), false);
        out[i].text = btz_json_str(btz_json_getz(one, "text"));
        out[i].is_number = btz_json_int64(btz_json_getz(one, "number"), &out[i].number);
        if (out[i].is_number) {
            out[i].text = btz_arena_printf(arena, "%lld", (long long)out[i].number);
        }
    }
    *count = btz_json_count(list);
    return out;
}

/* Every {hole} must be a known one; a brace that is none has to go. */
static int check_holes(const struct btz_config *config, const struct btz_json *value,
                       struct btz_str text, struct btz_err *err)
{
    for (size_t i = 0; i < text.len; i++) {
        const char *const *hole = holes;
        struct btz_str rest;

        if (text.ptr[i] != '{') {
            continue;
        }
        rest = btz_str_sub(text, i + 1, SIZE_MAX);
        while (*hole && !(btz_str_starts(rest, btz_str_of(*hole)) && rest.len > strlen(*hole) &&
                          rest.ptr[strlen(*hole)] == '}')) {
            hole++;
        }
        if (!*hole) {
            return btz_config_refuse(config, value, err,
                                     "\"%.*s\": behind { one of tool, target_tool, "
                                     "malicious_tool, parameter, operand, reason, sibling_tool "
                                     "and } is expected",
                                     BTZ_FMT(btz_str_sub(text, i, 30)));
        }
    }
    return BTZ_OK;
}

static int read_parts(struct loading *l, const struct btz_config *config,
                      const struct btz_json *list, struct btz_sieve_parts *out)
{
    struct btz_sieve_part *items = btz_arena_array(l->arena, btz_json_count(list), sizeof(*items));

    for (size_t i = 0; i < btz_json_count(list); i++) {
        const struct btz_json *one = btz_json_at(list, i);
        struct btz_str place = btz_json_str(btz_json_getz(one, "in"));
        int rc;

        for (int k = 0; place_words[k]; k++) {
            if (btz_str_is(place, place_words[k])) {
                items[i].place = (enum btz_sieve_place)k;
            }
        }
        items[i].begin = btz_str_is(btz_json_str(btz_json_getz(one, "at")), "begin");
        items[i].text = btz_json_str(btz_json_getz(one, "text"));
        rc = check_holes(config, one, items[i].text, l->err);
        if (rc != BTZ_OK) {
            return rc;
        }
    }
    *out = (struct btz_sieve_parts){items, btz_json_count(list)};
    return BTZ_OK;
}

static bool has_hole(const struct btz_sieve_parts *parts, const char *hole)
{
    for (size_t i = 0; i < parts->count; i++) {
        if (btz_str_find(parts->items[i].text, btz_str_of(hole)) >= 0) {
            return true;
        }
    }
    return false;
}

/* What a schema cannot say: which members go together, and which holes a payload needs. */
static int check_attack(const struct btz_config *config, const struct btz_sieve_family *family,
                        struct btz_err *err)
{
    const struct btz_json *root = btz_config_root(config);
    const char *needed[3] = {family->operand_free ? NULL : "{operand}",
                             family->paradigm == BTZ_SIEVE_P3 ? "{target_tool}"
                                                              : "{malicious_tool}",
                             family->paradigm == BTZ_SIEVE_P2 ? "{target_tool}" : NULL};

    for (int i = 0; i < 3; i++) {
        if (needed[i] && !has_hole(&family->attack, needed[i])) {
            return btz_config_refuse(config, btz_json_getz(root, "attack"), err,
                                     "the texts of an attack of this paradigm must have %s in them",
                                     needed[i]);
        }
    }
    if (has_hole(&family->attack, "{sibling_tool}")) {
        return btz_config_refuse(config, btz_json_getz(root, "attack"), err,
                                 "{sibling_tool} is for negatives");
    }
    if (has_hole(&family->twin, "{operand}") || has_hole(&family->twin, "{malicious_tool}") ||
        has_hole(&family->twin, "{reason}")) {
        return btz_config_refuse(config, btz_json_getz(root, "twin"), err,
                                 "a twin is benign: it has no operand, reason or malicious tool");
    }
    if (family->operand_free && family->paradigm == BTZ_SIEVE_P3) {
        return btz_config_refuse(config, root, err,
                                 "P3 tampers with an argument: it cannot be operand_free");
    }
    if (family->attack.count != family->twin.count) {
        return btz_config_refuse(config, btz_json_getz(root, "twin"), err,
                                 "attack and twin hide in the same places, part by part");
    }
    for (size_t i = 0; i < family->twin.count; i++) {
        if (family->attack.items[i].place != family->twin.items[i].place ||
            family->attack.items[i].begin != family->twin.items[i].begin) {
            return btz_config_refuse(config, btz_json_getz(root, "twin"), err,
                                     "part %zu of the twin stands in another place than that of "
                                     "the attack",
                                     i + 1);
        }
    }
    return BTZ_OK;
}

static int check_members(const struct btz_config *config, bool negative, struct btz_err *err)
{
    static const char *const of_attack[] = {"paradigm", "attack", "twin", "reasons"};
    static const char *const of_negative[] = {"text"};
    static const char *const not_of_attack[] = {"text", "needs"};
    static const char *const not_of_negative[] = {"paradigm", "attack",   "twin",
                                                  "reasons",  "operands", "operand_free"};
    const struct btz_json *root = btz_config_root(config);
    const char *const *must = negative ? of_negative : of_attack;
    const char *const *may_not = negative ? not_of_negative : not_of_attack;
    const char *what = negative ? "negative" : "attack";

    for (size_t i = 0; i < (negative ? 1 : 4); i++) {
        if (!btz_json_getz(root, must[i])) {
            return btz_config_refuse(config, root, err, "a family of kind %s has `%s`", what,
                                     must[i]);
        }
    }
    for (size_t i = 0; i < (negative ? 6 : 2); i++) {
        const struct btz_json *value = btz_json_getz(root, may_not[i]);

        if (value) {
            return btz_config_refuse(config, value, err, "a family of kind %s has no `%s`", what,
                                     may_not[i]);
        }
    }
    return BTZ_OK;
}

static int read_family(struct loading *l, const struct btz_config *config,
                       struct btz_sieve_family *family)
{
    const struct btz_json *root = btz_config_root(config);
    const struct btz_json *reasons = btz_json_getz(root, "reasons");
    const struct btz_json *needs = btz_json_getz(root, "needs");
    int rc;

    family->name = btz_json_str(btz_json_getz(root, "name"));
    family->language = btz_json_str(btz_json_getz(root, "language"));
    family->manner = btz_json_str(btz_json_getz(root, "register"));
    family->negative = btz_str_is(btz_json_str(btz_json_getz(root, "kind")), "negative");
    family->held_out = btz_json_bool(btz_json_getz(root, "held_out"), false);
    family->operand_free = btz_json_bool(btz_json_getz(root, "operand_free"), false);
    family->paradigm = BTZ_SIEVE_NO_PARADIGM;
    (void)btz_sieve_paradigm_of(btz_json_str(btz_json_getz(root, "paradigm")), &family->paradigm);
    for (size_t i = 0; i < btz_json_count(reasons); i++) {
        enum btz_sieve_risk risk;

        if (btz_sieve_risk_of(btz_json_key_at(reasons, i), &risk)) {
            family->reasons[risk] = btz_json_str(btz_json_value_at(reasons, i));
        }
    }
    family->needs_parameter = read_words(l->arena, btz_json_getz(needs, "parameter"));
    family->needs_sibling = read_words(l->arena, btz_json_getz(needs, "sibling"));
    if (btz_json_getz(root, "operands")) {
        family->operands =
            read_operands(l->arena, btz_json_getz(root, "operands"), &family->operand_count);
    } else {
        family->operands = l->operands;
        family->operand_count = l->operand_count;
    }
    rc = check_members(config, family->negative, l->err);
    if (rc == BTZ_OK) {
        rc = read_parts(l, config, btz_json_getz(root, family->negative ? "text" : "attack"),
                        &family->attack);
    }
    if (rc == BTZ_OK) {
        rc = read_parts(l, config, btz_json_getz(root, "twin"), &family->twin);
    }
    if (rc == BTZ_OK && !family->negative) {
        rc = check_attack(config, family, l->err);
    }
    if (rc == BTZ_OK && family->negative &&
        ((has_hole(&family->attack, "{sibling_tool}") && !family->needs_sibling.count) ||
         (has_hole(&family->attack, "{parameter}") && !family->needs_parameter.count))) {
        rc = btz_config_refuse(config, btz_json_getz(root, "text"), l->err,
                               "{sibling_tool} and {parameter} need words in `needs`");
    }
    return rc;
}

static int add_family(struct loading *l, struct btz_config *config)
{
    struct btz_sieve_family family = {0};
    int rc = btz_config_check(config, l->schema, l->err);

    if (rc == BTZ_OK) {
        rc = read_family(l, config, &family);
    }
    for (size_t i = 0; rc == BTZ_OK && i < l->count; i++) {
        if (btz_str_eq(l->families[i].name, family.name)) {
            rc = btz_config_refuse(config, btz_json_getz(btz_config_root(config), "name"), l->err,
                                   "there is another family \"%.*s\"", BTZ_FMT(family.name));
        }
    }
    if (rc == BTZ_OK && l->count == BTZ_SIEVE_FAMILIES_MAX) {
        rc = btz_err_set(l->err, BTZ_ELIMIT, "at most %d families", BTZ_SIEVE_FAMILIES_MAX);
    }
    if (rc == BTZ_OK) {
        l->families =
            btz_arena_grow(l->arena, l->families, l->count, &l->cap, sizeof(*l->families));
        l->families[l->count++] = family;
    }
    return rc;
}

/* ---- Where they come from ---- */

static int compile_schema(struct loading *l)
{
    const struct btz_json *schema = NULL;
    struct btz_json *wrapped;
    struct btz_json *properties;
    struct btz_json *list;
    int rc = btz_json_parse(l->arena,
                            (struct btz_str){btz_sieve_schemas[0].bytes, btz_sieve_schemas[0].len},
                            NULL, &schema, l->err);

    if (rc == BTZ_OK) {
        rc = btz_schema_compile(schema, NULL, &l->schema, l->err);
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    wrapped = btz_json_new_object(l->arena); /* {"operands": [...]} */
    properties = btz_json_new_object(l->arena);
    list = btz_json_new_object(l->arena);
    btz_json_set_strz(l->arena, list, "$ref", "#/$defs/operands");
    btz_json_setz(l->arena, properties, "operands", list);
    btz_json_set_strz(l->arena, wrapped, "type", "object");
    btz_json_setz(l->arena, wrapped, "properties", properties);
    btz_json_set_bool(l->arena, wrapped, "additionalProperties", false);
    btz_json_setz(l->arena, wrapped, "$defs", btz_json_getz(schema, "$defs"));
    return btz_schema_compile(wrapped, NULL, &l->operand_schema, l->err);
}

static int load_embedded(struct loading *l)
{
    int rc = BTZ_OK;

    for (int pass = 0; pass < 2; pass++) { /* the operands first */
        for (size_t i = 0; rc == BTZ_OK && i < btz_sieve_pack_count; i++) {
            const struct btz_embedded *file = &btz_sieve_pack[i];
            bool operands = strcmp(file->name, "operands.yaml") == 0;
            struct btz_config *config = NULL;

            if (operands != (pass == 0)) {
                continue;
            }
            rc = btz_config_parse(l->arena, (struct btz_str){file->bytes, file->len},
                                  btz_arena_printf(l->arena, "packs/sieve/%s", file->name).ptr,
                                  NULL, &config, l->err);
            if (rc == BTZ_OK && operands) {
                rc = btz_config_check(config, l->operand_schema, l->err);
                if (rc == BTZ_OK) {
                    l->operands =
                        read_operands(l->arena, btz_json_getz(btz_config_root(config), "operands"),
                                      &l->operand_count);
                }
            } else if (rc == BTZ_OK) {
                rc = add_family(l, config);
            }
        }
    }
    return rc;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int load_folder(struct loading *l, const char *folder)
{
    const char *paths[BTZ_SIEVE_FAMILIES_MAX];
    DIR *handle = opendir(folder);
    struct dirent *entry;
    size_t count = 0;
    int rc = BTZ_OK;

    if (!handle) {
        rc = btz_err_set(l->err, errno == ENOENT ? BTZ_ENOTFOUND : BTZ_EIO,
                         "the folder of families cannot be read: %s", strerror(errno));
        btz_err_at(l->err, folder, 0, 0);
        return rc;
    }
    while ((entry = readdir(handle)) && count < BTZ_SIEVE_FAMILIES_MAX) {
        if (entry->d_name[0] != '.' && btz_str_ends(btz_str_of(entry->d_name), BTZ_STR(".yaml"))) {
            paths[count++] = btz_arena_printf(l->arena, "%s/%s", folder, entry->d_name).ptr;
        }
    }
    (void)closedir(handle);
    if (count == 0) {
        rc = btz_err_set(l->err, BTZ_ENOTFOUND, "the folder holds no family (*.yaml)");
        btz_err_at(l->err, folder, 0, 0);
        return rc;
    }
    qsort(paths, count, sizeof(*paths), by_name);
    for (size_t i = 0; rc == BTZ_OK && i < count; i++) {
        struct btz_config *config = NULL;

        rc = btz_config_load(l->arena, paths[i], NULL, &config, l->err);
        if (rc == BTZ_OK) {
            rc = add_family(l, config);
        }
    }
    return rc;
}

int btz_sieve_families_load(struct btz_arena *arena, const char *const *folders,
                            size_t folder_count, struct btz_sieve_family **out, size_t *count,
                            struct btz_err *err)
{
    struct loading l = {.arena = arena, .err = err};
    int rc = compile_schema(&l);

    if (rc == BTZ_OK) {
        rc = load_embedded(&l);
    }
    for (size_t i = 0; rc == BTZ_OK && i < folder_count; i++) {
        rc = load_folder(&l, folders[i]);
    }
    btz_schema_free(l.schema);
    btz_schema_free(l.operand_schema);
    if (rc == BTZ_OK) {
        *out = l.families;
        *count = l.count;
    }
    return rc;
}
