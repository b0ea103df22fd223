/* What of a real definition's structure an arm loses or renames. */
#include "sieve/damage.h"

enum { DEPTH_MAX = 32 };

struct count {
    size_t defaults, values, forms, required;
};

static const char *const forms[] = {
    "pattern",          "format",      "minimum",          "maximum",        "exclusiveMinimum",
    "exclusiveMaximum", "multipleOf",  "minLength",        "maxLength",      "minItems",
    "maxItems",         "uniqueItems", "contentMediaType", "contentEncoding"};

static void count_schema(const struct btz_json *schema, unsigned depth, struct count *count);

static void count_each(const struct btz_json *list, unsigned depth, struct count *count)
{
    for (size_t i = 0; i < btz_json_count(list); i++) {
        count_schema(btz_json_is(list, BTZ_JSON_OBJECT) ? btz_json_value_at(list, i)
                                                        : btz_json_at(list, i),
                     depth, count);
    }
}

/* Definitions under $defs are not counted: one that nothing refers to may go. */
static void count_schema(const struct btz_json *schema, unsigned depth, struct count *count)
{
    static const char *const lists[] = {"properties", "anyOf", "oneOf", "allOf", "prefixItems"};
    static const char *const single[] = {"items", "additionalProperties", "not"};

    if (depth > DEPTH_MAX || !btz_json_is(schema, BTZ_JSON_OBJECT)) {
        return;
    }
    count->defaults += btz_json_getz(schema, "default") != NULL;
    count->values += btz_json_count(btz_json_getz(schema, "enum"));
    count->values += btz_json_getz(schema, "const") != NULL;
    count->required += btz_json_count(btz_json_getz(schema, "required"));
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        count->forms += btz_json_getz(schema, forms[i]) != NULL;
    }
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        count_each(btz_json_getz(schema, lists[i]), depth + 1, count);
    }
    for (size_t i = 0; i < sizeof(single) / sizeof(single[0]); i++) {
        count_schema(btz_json_getz(schema, single[i]), depth + 1, count);
    }
}

static size_t renamed(const struct btz_json *map)
{
    size_t count = 0;

    for (size_t i = 0; i < btz_json_count(map); i++) {
        count += !btz_str_eq(btz_json_key_at(map, i), btz_json_str(btz_json_value_at(map, i)));
    }
    return count;
}

static size_t lost(size_t before, size_t after)
{
    return before > after ? before - after : 0;
}

void btz_sieve_damage_of(const struct btz_json *tool, const struct btz_canon_result *result,
                         struct btz_sieve_damage *out)
{
    struct count before = {0};
    struct count after = {0};
    struct btz_str text = btz_json_str(btz_json_getz(result->definition, "description"));

    count_schema(btz_json_getz(tool, "inputSchema"), 0, &before);
    count_schema(btz_json_getz(result->definition, "inputSchema"), 0, &after);
    *out = (struct btz_sieve_damage){
        .parameters = renamed(result->names),
        .values = renamed(result->values) + lost(before.values, after.values),
        .defaults = lost(before.defaults, after.defaults),
        .forms = lost(before.forms, after.forms),
        .required = lost(before.required, after.required),
        .purpose = btz_str_trim(btz_json_str(btz_json_getz(tool, "description"))).len > 0 &&
                   (btz_str_trim(text).len == 0 || btz_canon_is_unstated(text)),
        .renamed = !btz_str_eq(result->given_name, result->name)};
}
