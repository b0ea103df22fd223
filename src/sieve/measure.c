#include "sieve/measure.h"

#include <stdlib.h>

#include "sieve/sieve_measure_int.h"
#include "sieve/survive.h"

enum { RENDER_MAX = 16 * 1024 * 1024, DEPTH_MAX = 12, FACT_TEXT_MAX = 4096, FACTS_MAX = 100000 };

/* ---- the inverse of the name map ---- */

/* A place inside arguments: members of objects (key given) and items of arrays (key NULL). */
struct place {
    const struct place *up;
    struct btz_str key;
    bool item;
};

/* `value` at `place` of otherwise empty arguments. */
static const struct btz_json *wrap(struct btz_arena *arena, const struct place *place,
                                   const struct btz_json *value)
{
    for (; place; place = place->up) {
        struct btz_json *outer =
            place->item ? btz_json_new_array(arena) : btz_json_new_object(arena);

        if (place->item) {
            btz_json_push(arena, outer, value);
        } else {
            btz_json_set(arena, outer, place->key, value);
        }
        value = outer;
    }
    return value;
}

/* What stands in `mapped` (made from wrap) at that place, and the key it has there. */
static const struct btz_json *unwrap(const struct place *place, const struct btz_json *mapped,
                                     struct btz_str *key)
{
    if (!place) {
        return mapped;
    }
    mapped = unwrap(place->up, mapped, key);
    if (place->item) {
        return btz_json_at(mapped, 0);
    }
    if (btz_json_count(mapped) != 1) {
        return NULL;
    }
    *key = btz_json_key_at(mapped, 0);
    return btz_json_value_at(mapped, 0);
}

struct inverse {
    const struct btz_canon_result *result;
    const struct btz_json *root; /* the schema that is shown */
    struct btz_arena *arena;
};

/* What stands under `key` in a schema and in those it is composed of: members of `properties`,
 * items of `enum`, or the schema of `items`, collected in `out` (an object, or an array). */
static void collect(const struct inverse *inverse, const struct btz_json *schema, const char *key,
                    unsigned depth, struct btz_json *out)
{
    static const char *const parts[] = {"anyOf", "oneOf", "allOf"};
    struct btz_str reference = btz_json_str(btz_json_getz(schema, "$ref"));
    const struct btz_json *found = btz_json_getz(schema, key);

    if (depth > DEPTH_MAX) {
        return;
    }
    if (reference.len && reference.ptr[0] == '#') {
        collect(inverse, btz_json_pointer(inverse->root, btz_str_sub(reference, 1, reference.len)),
                key, depth + 1, out);
    }
    for (size_t i = 0; btz_json_is(out, BTZ_JSON_OBJECT) && i < btz_json_count(found); i++) {
        btz_json_set(inverse->arena, out, btz_json_key_at(found, i), btz_json_value_at(found, i));
    }
    for (size_t i = 0; btz_json_is(found, BTZ_JSON_ARRAY) && i < btz_json_count(found); i++) {
        btz_json_push(inverse->arena, out, btz_json_at(found, i));
    }
    if (btz_json_is(out, BTZ_JSON_ARRAY) && btz_json_is(found, BTZ_JSON_OBJECT)) {
        btz_json_push(inverse->arena, out, found);
    }
    for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++) {
        const struct btz_json *list = btz_json_getz(schema, parts[p]);

        for (size_t i = 0; i < btz_json_count(list); i++) {
            collect(inverse, btz_json_at(list, i), key, depth + 1, out);
        }
    }
}

static const struct btz_json *invert(const struct inverse *inverse, const struct btz_json *schema,
                                     const struct place *place, const struct btz_json *value,
                                     unsigned depth);

/* The name now of the member that the server calls `key`. */
static struct btz_str name_now(const struct inverse *inverse, const struct btz_json *properties,
                               const struct place *up, struct btz_str key)
{
    for (size_t i = 0; i < btz_json_count(properties); i++) {
        struct place place = {up, btz_json_key_at(properties, i), false};
        struct btz_str mapped = BTZ_STR_NONE;
        const struct btz_json *probe = btz_canon_arguments(
            inverse->result, wrap(inverse->arena, &place, btz_json_null(inverse->arena)),
            inverse->arena);

        if (unwrap(&place, probe, &mapped) && btz_str_eq(mapped, key)) {
            return place.key;
        }
    }
    return key;
}

static const struct btz_json *value_now(const struct inverse *inverse,
                                        const struct btz_json *schema, const struct place *place,
                                        const struct btz_json *value)
{
    struct btz_json *allowed = btz_json_new_array(inverse->arena);

    collect(inverse, schema, "enum", 0, allowed);
    for (size_t i = 0; i < btz_json_count(allowed); i++) {
        struct btz_str key = BTZ_STR_NONE;
        const struct btz_json *probe = btz_canon_arguments(
            inverse->result, wrap(inverse->arena, place, btz_json_at(allowed, i)), inverse->arena);
        const struct btz_json *mapped = unwrap(place, probe, &key);

        if (mapped && btz_json_equal(mapped, value)) {
            return btz_json_at(allowed, i);
        }
    }
    return value;
}

static const struct btz_json *invert_object(const struct inverse *inverse,
                                            const struct btz_json *schema,
                                            const struct place *place, const struct btz_json *value,
                                            unsigned depth)
{
    struct btz_json *properties = btz_json_new_object(inverse->arena);
    struct btz_json *out = btz_json_new_object(inverse->arena);

    collect(inverse, schema, "properties", 0, properties);
    for (size_t i = 0; i < btz_json_count(value); i++) {
        struct btz_str name = name_now(inverse, properties, place, btz_json_key_at(value, i));
        struct place inner = {place, name, false};

        btz_json_set(inverse->arena, out, name,
                     invert(inverse, btz_json_get(properties, name), &inner,
                            btz_json_value_at(value, i), depth + 1));
    }
    return out;
}

static const struct btz_json *invert(const struct inverse *inverse, const struct btz_json *schema,
                                     const struct place *place, const struct btz_json *value,
                                     unsigned depth)
{
    if (depth > DEPTH_MAX) {
        return value;
    }
    if (btz_json_is(value, BTZ_JSON_OBJECT)) {
        return invert_object(inverse, schema, place, value, depth);
    }
    if (btz_json_is(value, BTZ_JSON_ARRAY)) {
        struct place inner = {place, BTZ_STR_NONE, true};
        struct btz_json *out = btz_json_new_array(inverse->arena);
        struct btz_json *items = btz_json_new_array(inverse->arena);

        collect(inverse, schema, "items", 0, items);
        for (size_t i = 0; i < btz_json_count(value); i++) {
            btz_json_push(
                inverse->arena, out,
                invert(inverse, btz_json_at(items, 0), &inner, btz_json_at(value, i), depth + 1));
        }
        return out;
    }
    return value_now(inverse, schema, place, value);
}

const struct btz_json *btz_sieve_arguments_shown(const struct btz_canon_result *result,
                                                 const struct btz_json *arguments,
                                                 struct btz_arena *arena)
{
    const struct btz_json *root = btz_json_getz(result->definition, "inputSchema");
    const struct inverse inverse = {result, root, arena};

    if (!result->names && !result->values) {
        return arguments;
    }
    return invert(&inverse, root, NULL, arguments, 0);
}

/* ---- equivalence of calls ---- */

static bool accepts(const struct btz_schema *schema, const struct btz_json *arguments)
{
    return !schema || btz_schema_check(schema, arguments, NULL, NULL) == BTZ_OK;
}

int btz_sieve_compile(const struct btz_json *definition, struct btz_schema **out)
{
    const struct btz_json *schema = btz_json_getz(definition, "inputSchema");
    struct btz_arena *arena;
    struct btz_json *plain;
    int rc;

    *out = NULL;
    if (!schema) {
        return BTZ_OK;
    }
    rc = btz_schema_compile(schema, NULL, out, NULL);
    if (rc == BTZ_EUNSUPPORTED && btz_json_is(schema, BTZ_JSON_OBJECT) &&
        btz_json_getz(schema, "$schema")) {
        arena = btz_arena_new();
        plain = btz_json_shallow(arena, schema);
        btz_json_remove(plain, BTZ_STR("$schema"));
        rc = btz_schema_compile(plain, NULL, out, NULL);
        btz_arena_free(arena);
    }
    return rc;
}

static void compare(const struct btz_schema *shown, const struct btz_schema *server,
                    const struct btz_json *call, const struct btz_json *mapped,
                    struct btz_sieve_equivalence *out)
{
    bool now = accepts(shown, call);
    bool before = accepts(server, mapped);

    out->calls++;
    out->valid += before;
    out->loosened += now && !before;
    out->tightened += before && !now;
}

void btz_sieve_equivalence(const struct btz_json *tool, const struct btz_canon_result *result,
                           size_t calls, uint64_t seed, struct btz_arena *arena,
                           struct btz_sieve_equivalence *out)
{
    const struct btz_json *schema_now = btz_json_getz(result->definition, "inputSchema");
    const struct btz_json *schema_before = btz_json_getz(tool, "inputSchema");
    struct btz_rng rng = btz_rng_of(seed);
    struct btz_schema *shown = NULL;
    struct btz_schema *server = NULL;

    *out = (struct btz_sieve_equivalence){0};
    out->tested = btz_sieve_compile(result->definition, &shown) == BTZ_OK &&
                  btz_sieve_compile(tool, &server) == BTZ_OK;
    for (size_t i = 0; out->tested && i < calls; i++) {
        bool from_server = i % 2 == 1;
        bool spoilt = i % 4 >= 2;
        const struct btz_json *schema = from_server ? schema_before : schema_now;
        const struct btz_json *call = btz_sieve_instance(schema, i % 8 < 4, &rng, arena);

        if (spoilt) {
            call = btz_sieve_spoil(schema, call, &rng, arena);
        }
        if (from_server) {
            compare(shown, server, btz_sieve_arguments_shown(result, call, arena), call, out);
        } else {
            compare(shown, server, call, btz_canon_arguments(result, call, arena), out);
        }
    }
    btz_schema_free(shown);
    btz_schema_free(server);
}

/* ---- siblings ---- */

void btz_sieve_collisions(const struct btz_json *tools, const struct btz_canon_result *results,
                          size_t count, bool whole, bool *collides)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_str *now = btz_arena_array(arena, count + 1, sizeof(*now));
    struct btz_str *before = btz_arena_array(arena, count + 1, sizeof(*before));
    struct btz_buf text;

    btz_buf_init(&text, RENDER_MAX);
    for (size_t i = 0; i < count; i++) {
        btz_buf_reset(&text);
        btz_sieve_render(&text, BTZ_STR_NONE, results[i].definition, whole);
        now[i] = btz_arena_dup(arena, btz_buf_view(&text));
        btz_buf_reset(&text);
        btz_sieve_render(&text, BTZ_STR_NONE, btz_json_at(tools, i), whole);
        before[i] = btz_arena_dup(arena, btz_buf_view(&text));
        collides[i] = false;
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t k = i + 1; k < count; k++) {
            if (btz_str_eq(now[i], now[k]) && !btz_str_eq(before[i], before[k])) {
                collides[i] = collides[k] = true;
            }
        }
    }
    btz_buf_fini(&text);
    btz_arena_free(arena);
}

/* ---- facts ---- */

struct csv {
    struct btz_str text;
    size_t at;
    unsigned line;
    const char *name;
};

enum csv_end { CSV_FIELD, CSV_ROW, CSV_FILE, CSV_BAD };

/* One field (RFC 4180) into `out`, and what ends it. */
static enum csv_end csv_next(struct csv *csv, struct btz_buf *out)
{
    bool quoted = csv->at < csv->text.len && csv->text.ptr[csv->at] == '"';

    btz_buf_reset(out);
    csv->at += quoted;
    while (csv->at < csv->text.len) {
        char c = csv->text.ptr[csv->at++];

        if (quoted && c == '"') {
            if (csv->at < csv->text.len && csv->text.ptr[csv->at] == '"') {
                csv->at++;
            } else {
                quoted = false;
                continue;
            }
        } else if (!quoted && c == ',') {
            return CSV_FIELD;
        } else if (!quoted && (c == '\n' || c == '\r')) {
            csv->at += c == '\r' && csv->at < csv->text.len && csv->text.ptr[csv->at] == '\n';
            csv->line++;
            return CSV_ROW;
        }
        csv->line += quoted && c == '\n';
        (void)btz_buf_add_byte(out, c);
    }
    return quoted ? CSV_BAD : CSV_FILE;
}

enum { COLUMN_ID, COLUMN_KIND, COLUMN_TEXT, COLUMN_OTHER };

static int column_of(struct btz_str title)
{
    title = btz_str_trim(title);
    return btz_str_is(title, "id")                                       ? COLUMN_ID
           : btz_str_is(title, "kind") || btz_str_is(title, "fact kind") ? COLUMN_KIND
           : btz_str_is(title, "text")                                   ? COLUMN_TEXT
                                                                         : COLUMN_OTHER;
}

static int bad_csv(const struct csv *csv, struct btz_err *err, const char *what)
{
    (void)btz_err_set(err, BTZ_EINVAL, "%s", what);
    btz_err_at(err, csv->name, csv->line, 0);
    return BTZ_EINVAL;
}

int btz_sieve_facts_parse(struct btz_arena *arena, struct btz_str text, const char *name,
                          struct btz_sieve_fact **out, size_t *count, struct btz_err *err)
{
    struct csv csv = {.text = text, .line = 1, .name = name};
    struct btz_sieve_fact *facts = NULL;
    struct btz_buf field;
    int columns[16];
    size_t column_count = 0;
    size_t found = 0;
    size_t cap = 0;
    enum csv_end end = CSV_FIELD;
    int rc = BTZ_OK;

    btz_buf_init(&field, FACT_TEXT_MAX);
    while (end == CSV_FIELD && column_count < 16) {
        end = csv_next(&csv, &field);
        columns[column_count++] = column_of(btz_buf_view(&field));
    }
    while (rc == BTZ_OK && end == CSV_ROW && csv.at < text.len) {
        struct btz_str values[4] = {BTZ_STR_NONE, BTZ_STR_NONE, BTZ_STR_NONE, BTZ_STR_NONE};
        unsigned line = csv.line;

        end = CSV_FIELD;
        for (size_t c = 0; end == CSV_FIELD && c < column_count; c++) {
            end = csv_next(&csv, &field);
            values[columns[c]] = btz_arena_dup(arena, btz_buf_view(&field));
        }
        if (end == CSV_FIELD || end == CSV_BAD || field.failed || !values[0].len ||
            !values[1].len || !values[2].len) {
            csv.line = line;
            rc = bad_csv(&csv, err, "expected a row with id, kind and text");
        } else if (found == FACTS_MAX) {
            rc = btz_err_set(err, BTZ_ELIMIT, "over %d facts", FACTS_MAX);
        } else {
            facts = btz_arena_grow(arena, facts, found, &cap, sizeof(*facts));
            facts[found++] = (struct btz_sieve_fact){values[0], values[1], values[2]};
        }
    }
    btz_buf_fini(&field);
    if (rc == BTZ_OK && ((end != CSV_ROW && end != CSV_FILE) || found == 0)) {
        rc = bad_csv(&csv, err, "expected the columns id, kind and text, and rows");
    }
    if (rc == BTZ_OK) {
        *out = facts;
        *count = found;
    }
    return rc;
}
