/* Arguments of a call mapped back, along the schema that the model saw: a member only where the
 * schema has the property, a text only where the schema lists it. Free text stays as it is. */
#include "guard/canon_int.h"

enum { SCHEMAS_MAX = 64, ARGUMENTS_DEPTH_MAX = 128 };

/* The schemas that hold at one place of the arguments. */
struct held {
    size_t count;
    const struct btz_json *schemas[SCHEMAS_MAX];
};

struct mapping {
    const struct btz_canon_result *result;
    const struct btz_json *root;
    struct btz_arena *arena;
};

static void hold(struct held *held, const struct btz_json *schema)
{
    for (size_t i = 0; i < held->count; i++) {
        if (held->schemas[i] == schema) {
            return;
        }
    }
    if (held->count < SCHEMAS_MAX && btz_json_is(schema, BTZ_JSON_OBJECT)) {
        held->schemas[held->count++] = schema;
    }
}

/* Adds what the schemas refer to and are made of. */
static void expand(const struct mapping *m, struct held *held)
{
    static const char *const lists[] = {"anyOf", "oneOf", "allOf"};
    static const char *const single[] = {"if", "then", "else"};

    for (size_t i = 0; i < held->count; i++) { /* grows */
        const struct btz_json *schema = held->schemas[i];
        struct btz_str reference = btz_json_str(btz_json_getz(schema, "$ref"));
        const struct btz_json *dependent = btz_json_getz(schema, "dependentSchemas");

        if (reference.len && reference.ptr[0] == '#') {
            hold(held, btz_json_pointer(m->root, btz_str_sub(reference, 1, reference.len)));
        }
        for (size_t k = 0; k < 3; k++) {
            const struct btz_json *list = btz_json_getz(schema, lists[k]);

            for (size_t n = 0; btz_json_is(list, BTZ_JSON_ARRAY) && n < btz_json_count(list); n++) {
                hold(held, btz_json_at(list, n));
            }
            hold(held, btz_json_getz(schema, single[k]));
        }
        for (size_t n = 0; btz_json_is(dependent, BTZ_JSON_OBJECT) && n < btz_json_count(dependent);
             n++) {
            hold(held, btz_json_value_at(dependent, n));
        }
    }
}

static bool lists_text(const struct btz_json *schema, struct btz_str text)
{
    const struct btz_json *list = btz_json_getz(schema, "enum");
    const struct btz_json *one = btz_json_getz(schema, "const");

    if (btz_json_is(one, BTZ_JSON_STRING) && btz_str_eq(btz_json_str(one), text)) {
        return true;
    }
    for (size_t i = 0; btz_json_is(list, BTZ_JSON_ARRAY) && i < btz_json_count(list); i++) {
        const struct btz_json *item = btz_json_at(list, i);

        if (btz_json_is(item, BTZ_JSON_STRING) && btz_str_eq(btz_json_str(item), text)) {
            return true;
        }
    }
    return false;
}

/* Schemas of the member `key`; true if one of them has it as a property of its own. */
static bool member(const struct held *held, struct btz_str key, struct held *out)
{
    bool property = false;

    out->count = 0;
    for (size_t i = 0; i < held->count; i++) {
        const struct btz_json *inner =
            btz_json_get(btz_json_getz(held->schemas[i], "properties"), key);

        property |= inner || lists_text(btz_json_getz(held->schemas[i], "propertyNames"), key);
        hold(out, inner);
    }
    for (size_t i = 0; !property && i < held->count; i++) {
        const struct btz_json *patterns = btz_json_getz(held->schemas[i], "patternProperties");

        hold(out, btz_json_getz(held->schemas[i], "additionalProperties"));
        hold(out, btz_json_getz(held->schemas[i], "unevaluatedProperties"));
        for (size_t n = 0; btz_json_is(patterns, BTZ_JSON_OBJECT) && n < btz_json_count(patterns);
             n++) {
            hold(out, btz_json_value_at(patterns, n));
        }
    }
    return property;
}

static void items_at(const struct held *held, size_t index, struct held *out)
{
    static const char *const keys[] = {"items", "prefixItems", "additionalItems", "contains",
                                       "unevaluatedItems"};

    out->count = 0;
    for (size_t i = 0; i < held->count; i++) {
        for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
            const struct btz_json *value = btz_json_getz(held->schemas[i], keys[k]);

            hold(out, btz_json_is(value, BTZ_JSON_ARRAY) ? btz_json_at(value, index) : value);
        }
    }
}

static const struct btz_json *mapped(const struct mapping *m, struct held *held,
                                     const struct btz_json *value, unsigned depth)
{
    const struct btz_json *given = NULL;
    struct btz_json *out;
    struct held inner;

    if (depth > ARGUMENTS_DEPTH_MAX || held->count == 0) {
        return value;
    }
    expand(m, held);
    switch (btz_json_kind(value)) {
    case BTZ_JSON_STRING:
        given = m->result->values ? btz_json_get(m->result->values, btz_json_str(value)) : NULL;
        for (size_t i = 0; given && i < held->count; i++) {
            if (lists_text(held->schemas[i], btz_json_str(value))) {
                return given;
            }
        }
        return value;
    case BTZ_JSON_ARRAY:
        out = btz_json_new_array(m->arena);
        for (size_t i = 0; i < btz_json_count(value); i++) {
            items_at(held, i, &inner);
            btz_json_push(m->arena, out, mapped(m, &inner, btz_json_at(value, i), depth + 1));
        }
        return out;
    case BTZ_JSON_OBJECT:
        out = btz_json_new_object(m->arena);
        for (size_t i = 0; i < btz_json_count(value); i++) {
            struct btz_str key = btz_json_key_at(value, i);

            given = member(held, key, &inner) && m->result->names
                        ? btz_json_get(m->result->names, key)
                        : NULL;
            btz_json_set(m->arena, out, given ? btz_json_str(given) : key,
                         mapped(m, &inner, btz_json_value_at(value, i), depth + 1));
        }
        return out;
    default:
        return value;
    }
}

const struct btz_json *btz_canon_arguments(const struct btz_canon_result *result,
                                           const struct btz_json *arguments,
                                           struct btz_arena *arena)
{
    const struct mapping m = {result, btz_json_getz(result->definition, "inputSchema"), arena};
    struct held held = {0};

    if (!result->names && !result->values) {
        return arguments;
    }
    hold(&held, m.root);
    return mapped(&m, &held, arguments, 0);
}
