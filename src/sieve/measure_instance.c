/* Calls made from a schema. */
#include "sieve/measure.h"

enum { DEPTH_MAX = 16, TEXT_MAX = 4096, ITEMS_MAX = 64 };

struct maker {
    const struct btz_json *root;
    bool all;
    struct btz_rng *rng;
    struct btz_arena *arena;
};

static struct btz_json *make(struct maker *m, const struct btz_json *schema, unsigned depth);

/* The schema that a local reference names, or the schema itself. */
static const struct btz_json *resolve(const struct maker *m, const struct btz_json *schema)
{
    for (unsigned hops = 0; hops < DEPTH_MAX; hops++) {
        struct btz_str reference = btz_json_str(btz_json_getz(schema, "$ref"));
        const struct btz_json *target;

        if (reference.len == 0 || reference.ptr[0] != '#') {
            return schema;
        }
        target = btz_json_pointer(m->root, btz_str_sub(reference, 1, reference.len));
        if (!target) {
            return schema;
        }
        schema = target;
    }
    return schema;
}

static int64_t integer(const struct btz_json *schema, const char *key, int64_t absent)
{
    const struct btz_json *value = btz_json_getz(schema, key);
    double number;
    int64_t out;

    if (btz_json_int64(value, &out)) {
        return out;
    }
    return btz_json_double(value, &number) && number > -1e15 && number < 1e15 ? (int64_t)number
                                                                              : absent;
}

static struct btz_str type_of(const struct btz_json *schema)
{
    const struct btz_json *type = btz_json_getz(schema, "type");

    if (btz_json_is(type, BTZ_JSON_ARRAY)) {
        type = btz_json_at(type, 0);
    }
    if (!type && btz_json_getz(schema, "properties")) {
        return BTZ_STR("object");
    }
    if (!type && btz_json_getz(schema, "items")) {
        return BTZ_STR("array");
    }
    return type ? btz_json_str(type) : BTZ_STR("string");
}

static struct btz_json *make_text(struct maker *m, const struct btz_json *schema)
{
    static const struct {
        const char *format, *text;
    } known[] = {{"date", "2026-01-31"},
                 {"time", "12:30:00Z"},
                 {"date-time", "2026-01-31T12:30:00Z"},
                 {"email", "someone@mail.example"},
                 {"hostname", "host.example"},
                 {"ipv4", "192.0.2.7"},
                 {"ipv6", "2001:db8::7"},
                 {"uri", "https://site.example/page"},
                 {"uuid", "0f8fad5b-d9cb-469f-a165-70867728950e"}};
    struct btz_str format = btz_json_str(btz_json_getz(schema, "format"));
    int64_t least = integer(schema, "minLength", 0);
    int64_t most = integer(schema, "maxLength", TEXT_MAX);
    char text[TEXT_MAX];
    size_t len;

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (btz_str_is(format, known[i].format)) {
            return btz_json_new_strz(m->arena, known[i].text);
        }
    }
    len = (size_t)(least < 0          ? 0
                   : least > TEXT_MAX ? TEXT_MAX
                                      : least) +
          (size_t)btz_rng_below(m->rng, 9);
    len = most >= 0 && len > (size_t)most ? (size_t)most : len;
    len = len > TEXT_MAX ? TEXT_MAX : len;
    for (size_t i = 0; i < len; i++) {
        text[i] = (char)('a' + btz_rng_below(m->rng, 26));
    }
    return btz_json_new_str(m->arena, (struct btz_str){text, len});
}

static struct btz_json *make_number(struct maker *m, const struct btz_json *schema)
{
    int64_t least = integer(schema, "minimum", integer(schema, "exclusiveMinimum", 0) + 1);
    int64_t most = integer(schema, "maximum", integer(schema, "exclusiveMaximum", least + 100) - 1);
    int64_t step = integer(schema, "multipleOf", 1);
    int64_t value = least;

    if (most > least && most - least < INT64_MAX / 2) {
        value = least + (int64_t)btz_rng_below(m->rng, (uint64_t)(most - least) + 1);
    }
    if (step > 1 && value - value % step >= least) {
        value -= value % step;
    }
    return btz_json_new_int(m->arena, value);
}

static struct btz_json *make_array(struct maker *m, const struct btz_json *schema, unsigned depth)
{
    struct btz_json *array = btz_json_new_array(m->arena);
    int64_t least = integer(schema, "minItems", 0);
    int64_t most = integer(schema, "maxItems", ITEMS_MAX);
    int64_t count = least > 0 ? least : 1;
    const struct btz_json *items = btz_json_getz(schema, "items");

    count = count > most ? most : count;
    count = count > ITEMS_MAX ? ITEMS_MAX : count;
    for (int64_t i = 0; i < count; i++) {
        btz_json_push(m->arena, array, make(m, items, depth + 1));
    }
    return array;
}

static bool is_required(const struct btz_json *schema, struct btz_str name)
{
    const struct btz_json *required = btz_json_getz(schema, "required");

    for (size_t i = 0; i < btz_json_count(required); i++) {
        if (btz_str_eq(btz_json_str(btz_json_at(required, i)), name)) {
            return true;
        }
    }
    return false;
}

static void add_properties(struct maker *m, const struct btz_json *schema, unsigned depth,
                           struct btz_json *object)
{
    const struct btz_json *properties = btz_json_getz(schema, "properties");
    const struct btz_json *all_of = btz_json_getz(schema, "allOf");

    for (size_t i = 0; i < btz_json_count(properties); i++) {
        struct btz_str name = btz_json_key_at(properties, i);
        bool wanted = m->all || is_required(schema, name) || btz_rng_below(m->rng, 3) == 0;

        if (wanted && (depth < DEPTH_MAX / 2 || is_required(schema, name))) {
            btz_json_set(m->arena, object, name,
                         make(m, btz_json_value_at(properties, i), depth + 1));
        }
    }
    for (size_t i = 0; depth < DEPTH_MAX && i < btz_json_count(all_of); i++) {
        add_properties(m, resolve(m, btz_json_at(all_of, i)), depth + 1, object);
    }
}

static struct btz_json *make_object(struct maker *m, const struct btz_json *schema, unsigned depth)
{
    struct btz_json *object = btz_json_new_object(m->arena);
    const struct btz_json *required = btz_json_getz(schema, "required");

    add_properties(m, schema, depth, object);
    for (size_t i = 0; i < btz_json_count(required); i++) {
        struct btz_str name = btz_json_str(btz_json_at(required, i));

        if (name.len && !btz_json_get(object, name)) {
            btz_json_set(m->arena, object, name, btz_json_new_strz(m->arena, "value"));
        }
    }
    return object;
}

static struct btz_json *make(struct maker *m, const struct btz_json *schema, unsigned depth)
{
    static const char *const choices[] = {"anyOf", "oneOf"};
    const struct btz_json *allowed;
    struct btz_str type;

    schema = resolve(m, schema);
    if (depth > DEPTH_MAX) {
        return btz_json_null(m->arena);
    }
    allowed = btz_json_getz(schema, "enum");
    if (btz_json_count(allowed)) {
        return btz_json_dup(
            m->arena, btz_json_at(allowed, (size_t)btz_rng_below(m->rng, btz_json_count(allowed))));
    }
    if (btz_json_getz(schema, "const")) {
        return btz_json_dup(m->arena, btz_json_getz(schema, "const"));
    }
    for (size_t i = 0; i < 2; i++) {
        const struct btz_json *list = btz_json_getz(schema, choices[i]);

        if (btz_json_count(list) && !btz_json_getz(schema, "properties")) {
            return make(m, btz_json_at(list, (size_t)btz_rng_below(m->rng, btz_json_count(list))),
                        depth + 1);
        }
    }
    type = type_of(schema);
    if (btz_str_is(type, "object")) {
        return make_object(m, schema, depth);
    }
    if (btz_str_is(type, "array")) {
        return make_array(m, schema, depth);
    }
    if (btz_str_is(type, "integer") || btz_str_is(type, "number")) {
        return make_number(m, schema);
    }
    if (btz_str_is(type, "boolean")) {
        return btz_json_new_bool(m->arena, btz_rng_below(m->rng, 2) == 1);
    }
    return btz_str_is(type, "null") ? btz_json_null(m->arena) : make_text(m, schema);
}

struct btz_json *btz_sieve_instance(const struct btz_json *schema, bool all, struct btz_rng *rng,
                                    struct btz_arena *arena)
{
    struct maker m = {.root = schema, .all = all, .rng = rng, .arena = arena};

    if (!btz_json_is(schema, BTZ_JSON_OBJECT)) {
        return btz_json_new_object(arena);
    }
    return make_object(&m, resolve(&m, schema), 0);
}

/* A value that the property's schema likely refuses. */
static struct btz_json *wrong_value(const struct maker *m, const struct btz_json *schema)
{
    struct btz_str type = type_of(schema);

    if (btz_json_count(btz_json_getz(schema, "enum"))) {
        return btz_json_new_strz(m->arena, "no value of the list 7f3a");
    }
    if (btz_json_getz(schema, "maximum") && btz_rng_below(m->rng, 2)) {
        return btz_json_new_int(m->arena, integer(schema, "maximum", 0) + 1);
    }
    if (btz_json_getz(schema, "minimum") && btz_rng_below(m->rng, 2)) {
        return btz_json_new_int(m->arena, integer(schema, "minimum", 0) - 1);
    }
    if (btz_json_getz(schema, "maxLength") && btz_rng_below(m->rng, 2) &&
        integer(schema, "maxLength", TEXT_MAX) < TEXT_MAX) {
        char text[TEXT_MAX];

        memset(text, 'x', sizeof(text));
        return btz_json_new_str(
            m->arena, (struct btz_str){text, (size_t)integer(schema, "maxLength", 0) + 1});
    }
    if (btz_str_is(type, "string")) {
        return btz_json_new_int(m->arena, 17);
    }
    return btz_json_new_strz(m->arena, "text in the wrong place");
}

struct btz_json *btz_sieve_spoil(const struct btz_json *schema, const struct btz_json *instance,
                                 struct btz_rng *rng, struct btz_arena *arena)
{
    struct maker m = {.root = schema, .rng = rng, .arena = arena};
    const struct btz_json *top = resolve(&m, schema);
    const struct btz_json *required = btz_json_getz(top, "required");
    const struct btz_json *properties = btz_json_getz(top, "properties");
    struct btz_json *spoilt = btz_json_dup(arena, instance);
    uint64_t way = btz_rng_below(rng, 3);

    if (way == 0 && btz_json_count(required)) {
        size_t at = (size_t)btz_rng_below(rng, btz_json_count(required));

        btz_json_remove(spoilt, btz_json_str(btz_json_at(required, at)));
    } else if (way <= 1 && btz_json_count(properties)) {
        size_t at = (size_t)btz_rng_below(rng, btz_json_count(properties));

        btz_json_set(arena, spoilt, btz_json_key_at(properties, at),
                     wrong_value(&m, resolve(&m, btz_json_value_at(properties, at))));
    } else {
        btz_json_set(arena, spoilt, BTZ_STR("member_that_nobody_has"), btz_json_new_int(arena, 1));
    }
    return spoilt;
}
