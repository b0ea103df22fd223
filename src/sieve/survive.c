#include "sieve/survive.h"

#include "text/contains.h"
#include "text/fold.h"

enum {
    DEPTH_MAX = 64,
    FREE_CHARACTERS = 40,
    FREE_WORDS = 5,
    LOOSE_LEAST = 4, /* bytes: what is shorter is found everywhere */
    FOLD_MAX = 64 * 1024 * 1024
};

/* ---- rendering ---- */

static void add_member(struct btz_buf *out, const char *key, const struct btz_json *value)
{
    (void)btz_buf_add_byte(out, ',');
    (void)btz_json_write_str(out, btz_str_of(key));
    (void)btz_buf_add_byte(out, ':');
    (void)btz_json_write(out, value);
}

void btz_sieve_render(struct btz_buf *out, struct btz_str name, const struct btz_json *definition,
                      bool whole)
{
    const struct btz_json *description = btz_json_getz(definition, "description");
    const struct btz_json *schema = btz_json_getz(definition, "inputSchema");

    (void)btz_buf_add_text(out, "{\"name\":");
    (void)btz_json_write_str(out, name);
    if (description) {
        add_member(out, "description", description);
    }
    if (schema) {
        add_member(out, "inputSchema", schema);
    }
    for (size_t i = 0; whole && i < btz_json_count(definition); i++) {
        struct btz_str key = btz_json_key_at(definition, i);

        if (!btz_str_is(key, "name") && !btz_str_is(key, "description") &&
            !btz_str_is(key, "inputSchema")) {
            (void)btz_buf_add_byte(out, ',');
            (void)btz_json_write_str(out, key);
            (void)btz_buf_add_byte(out, ':');
            (void)btz_json_write(out, btz_json_value_at(definition, i));
        }
    }
    (void)btz_buf_add_byte(out, '}');
}

/* ---- survival ---- */

/* The fold of `s` with letters and digits alone. */
static void loosen(struct btz_buf *out, struct btz_str s)
{
    struct btz_buf fold;

    btz_buf_init(&fold, FOLD_MAX);
    (void)btz_text_fold(&fold, s);
    for (size_t i = 0; i < fold.len; i++) {
        char c = fold.ptr[i];

        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80) {
            (void)btz_buf_add_byte(out, c);
        }
    }
    btz_buf_fini(&fold);
}

static bool found_loose(struct btz_str haystack, struct btz_str operand)
{
    struct btz_buf needle;
    bool found;

    btz_buf_init(&needle, FOLD_MAX);
    loosen(&needle, operand);
    found = needle.len >= LOOSE_LEAST && btz_str_find(haystack, btz_buf_view(&needle)) >= 0;
    btz_buf_fini(&needle);
    return found;
}

void btz_sieve_survive(struct btz_str shown, const struct btz_str *operands, size_t count,
                       struct btz_sieve_survival *out)
{
    struct btz_text_index *index;
    struct btz_buf loose;

    *out = (struct btz_sieve_survival){.operands = count};
    if (count == 0) {
        return;
    }
    index = btz_text_index_new(shown, NULL);
    btz_buf_init(&loose, FOLD_MAX);
    loosen(&loose, shown);
    for (size_t i = 0; i < count; i++) {
        bool exact = btz_text_index_find(index, operands[i], NULL) == BTZ_OK;

        out->left += exact;
        out->left_loose += exact || found_loose(btz_buf_view(&loose), operands[i]);
    }
    out->survived = out->left == count;
    out->survived_loose = out->left_loose == count;
    btz_buf_fini(&loose);
    btz_text_index_free(index);
}

/* ---- room that is left ---- */

static size_t characters(struct btz_str s)
{
    size_t count = 0;

    for (size_t i = 0; i < s.len; i++) {
        count += ((unsigned char)s.ptr[i] & 0xC0) != 0x80;
    }
    return count;
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

bool btz_sieve_is_free(struct btz_str name)
{
    size_t words = name.len > 0;

    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (!is_name_byte(c)) {
            return true;
        }
        words += i > 0 && i + 1 < name.len && (c == '_' || c == '-' || c == '.');
        words += i > 0 && c >= 'A' && c <= 'Z' && name.ptr[i - 1] >= 'a' && name.ptr[i - 1] <= 'z';
    }
    return name.len > FREE_CHARACTERS || words > FREE_WORDS;
}

static bool is_one_of(struct btz_str word, const char *const *list)
{
    for (; *list; list++) {
        if (btz_str_is(word, *list)) {
            return true;
        }
    }
    return false;
}

/* Members whose keys are names and whose values are schemas. */
static const char *const name_maps[] = {"properties",  "patternProperties", "$defs",
                                        "definitions", "dependentSchemas",  NULL};
/* Members whose value is a schema, or an array of them. */
static const char *const schemas[] = {"items",
                                      "prefixItems",
                                      "additionalProperties",
                                      "additionalItems",
                                      "unevaluatedProperties",
                                      "unevaluatedItems",
                                      "propertyNames",
                                      "contains",
                                      "not",
                                      "if",
                                      "then",
                                      "else",
                                      "anyOf",
                                      "oneOf",
                                      "allOf",
                                      NULL};
/* Members that hold numbers, booleans, or free text. */
static const char *const plain[] = {"description",
                                    "title",
                                    "default",
                                    "examples",
                                    "example",
                                    "$comment",
                                    "pattern",
                                    "minimum",
                                    "maximum",
                                    "exclusiveMinimum",
                                    "exclusiveMaximum",
                                    "multipleOf",
                                    "minLength",
                                    "maxLength",
                                    "minItems",
                                    "maxItems",
                                    "uniqueItems",
                                    "minProperties",
                                    "maxProperties",
                                    "minContains",
                                    "maxContains",
                                    "readOnly",
                                    "writeOnly",
                                    "deprecated",
                                    "nullable",
                                    "contentEncoding",
                                    "contentMediaType",
                                    "dependentRequired",
                                    "$id",
                                    "$anchor",
                                    NULL};
static const char *const formats[] = {"date",         "time",
                                      "date-time",    "duration",
                                      "email",        "idn-email",
                                      "hostname",     "idn-hostname",
                                      "ipv4",         "ipv6",
                                      "uri",          "uri-reference",
                                      "iri",          "uuid",
                                      "uri-template", "regex",
                                      "json-pointer", "relative-json-pointer",
                                      "int32",        "int64",
                                      "float",        "double",
                                      "byte",         "binary",
                                      "password",     NULL};
static const char *const types[] = {"string", "number", "integer", "boolean",
                                    "object", "array",  "null",    NULL};

/* All strings and keys of a value. */
static void count_text(const struct btz_json *value, unsigned depth, struct btz_sieve_freedom *out)
{
    if (depth > DEPTH_MAX) {
        return;
    }
    if (btz_json_is(value, BTZ_JSON_STRING)) {
        out->characters += characters(btz_json_str(value));
    }
    for (size_t i = 0; i < btz_json_count(value); i++) {
        if (btz_json_is(value, BTZ_JSON_OBJECT)) {
            out->characters += characters(btz_json_key_at(value, i));
            count_text(btz_json_value_at(value, i), depth + 1, out);
        } else {
            count_text(btz_json_at(value, i), depth + 1, out);
        }
    }
}

static void count_name(struct btz_str name, struct btz_sieve_freedom *out)
{
    out->names++;
    out->free_names += btz_sieve_is_free(name);
}

static void count_value(const struct btz_json *value, struct btz_sieve_freedom *out)
{
    if (btz_json_is(value, BTZ_JSON_STRING)) {
        out->values++;
        out->free_values += btz_sieve_is_free(btz_json_str(value));
    } else {
        count_text(value, 0, out);
    }
}

static void count_schema(const struct btz_json *schema, unsigned depth,
                         struct btz_sieve_freedom *out);

static void count_schemas(const struct btz_json *value, unsigned depth,
                          struct btz_sieve_freedom *out)
{
    if (!btz_json_is(value, BTZ_JSON_ARRAY)) {
        count_schema(value, depth, out);
        return;
    }
    for (size_t i = 0; i < btz_json_count(value); i++) {
        count_schema(btz_json_at(value, i), depth, out);
    }
}

static void count_word(const struct btz_json *value, const char *const *known,
                       struct btz_sieve_freedom *out)
{
    for (size_t i = 0; i < btz_json_count(value); i++) {
        count_word(btz_json_at(value, i), known, out);
    }
    if (btz_json_is(value, BTZ_JSON_STRING) && !is_one_of(btz_json_str(value), known)) {
        count_text(value, 0, out);
    }
}

/* A name in `required` that no property has is free text in a place where nobody looks. */
static void count_required(const struct btz_json *required, const struct btz_json *properties,
                           struct btz_sieve_freedom *out)
{
    for (size_t i = 0; i < btz_json_count(required); i++) {
        struct btz_str name = btz_json_str(btz_json_at(required, i));

        if (!btz_json_get(properties, name)) {
            count_name(name, out);
        }
    }
}

static void count_reference(struct btz_str text, struct btz_sieve_freedom *out)
{
    if (!btz_str_starts(text, BTZ_STR("#")) &&
        !btz_str_starts(text, BTZ_STR("https://json-schema.org/")) &&
        !btz_str_starts(text, BTZ_STR("http://json-schema.org/"))) {
        out->characters += characters(text);
    }
}

static void count_member(const struct btz_json *schema, struct btz_str key,
                         const struct btz_json *value, unsigned depth,
                         struct btz_sieve_freedom *out)
{
    if (is_one_of(key, name_maps)) {
        for (size_t i = 0; i < btz_json_count(value); i++) {
            count_name(btz_json_key_at(value, i), out);
            count_schema(btz_json_value_at(value, i), depth + 1, out);
        }
    } else if (is_one_of(key, schemas)) {
        count_schemas(value, depth + 1, out);
    } else if (btz_str_is(key, "enum")) {
        for (size_t i = 0; i < btz_json_count(value); i++) {
            count_value(btz_json_at(value, i), out);
        }
    } else if (btz_str_is(key, "const")) {
        count_value(value, out);
    } else if (btz_str_is(key, "type")) {
        count_word(value, types, out);
    } else if (btz_str_is(key, "format")) {
        count_word(value, formats, out);
    } else if (btz_str_is(key, "required")) {
        count_required(value, btz_json_getz(schema, "properties"), out);
    } else if (btz_str_is(key, "$ref") || btz_str_is(key, "$schema") ||
               btz_str_is(key, "$dynamicRef")) {
        count_reference(btz_json_str(value), out);
    } else {
        out->characters += is_one_of(key, plain) ? 0 : characters(key);
        count_text(value, depth + 1, out);
    }
}

static void count_schema(const struct btz_json *schema, unsigned depth,
                         struct btz_sieve_freedom *out)
{
    if (depth > DEPTH_MAX) {
        return;
    }
    if (!btz_json_is(schema, BTZ_JSON_OBJECT)) {
        count_text(schema, depth, out);
        return;
    }
    for (size_t i = 0; i < btz_json_count(schema); i++) {
        count_member(schema, btz_json_key_at(schema, i), btz_json_value_at(schema, i), depth, out);
    }
}

void btz_sieve_count_freedom(const struct btz_json *definition, bool whole,
                             struct btz_sieve_freedom *out)
{
    *out = (struct btz_sieve_freedom){0};
    count_name(btz_json_str(btz_json_getz(definition, "name")), out);
    for (size_t i = 0; i < btz_json_count(definition); i++) {
        struct btz_str key = btz_json_key_at(definition, i);
        const struct btz_json *value = btz_json_value_at(definition, i);

        if (btz_str_is(key, "name")) {
            continue;
        }
        if (btz_str_is(key, "inputSchema") || (whole && btz_str_is(key, "outputSchema"))) {
            count_schema(value, 0, out);
        } else if (btz_str_is(key, "description") || (whole && btz_str_is(key, "title"))) {
            count_text(value, 0, out);
        } else if (whole) {
            out->characters += btz_str_is(key, "annotations") ? 0 : characters(key);
            count_text(value, 0, out);
        }
    }
}
