/* Builders. A built container's members lie in a table in the arena that doubles when it is full;
 * tables left behind are not given back before the arena is. */
#include "json/json_int.h"

#include <math.h>
#include <stdlib.h>

enum { FIRST_CAP = 4 };

static const struct btz_json null_value = {.kind = BTZ_JSON_NULL};

static struct btz_json *node_new(struct btz_arena *arena, enum btz_json_kind kind)
{
    struct btz_json *node = BTZ_NEW(arena, struct btz_json);

    node->kind = (uint8_t)kind;
    return node;
}

static uint32_t length_of(size_t len)
{
    if (len > UINT32_MAX - 64) {
        btz_panic("a JSON value cannot hold %zu bytes or members", len);
    }
    return (uint32_t)len;
}

static struct btz_json *text_new(struct btz_arena *arena, enum btz_json_kind kind,
                                 struct btz_str text)
{
    struct btz_json *node = node_new(arena, kind);

    node->len = length_of(text.len);
    node->text = btz_arena_cstr(arena, text);
    return node;
}

struct btz_json *btz_json_null(struct btz_arena *arena)
{
    return node_new(arena, BTZ_JSON_NULL);
}

struct btz_json *btz_json_new_bool(struct btz_arena *arena, bool value)
{
    struct btz_json *node = node_new(arena, BTZ_JSON_BOOL);

    node->len = value;
    return node;
}

struct btz_json *btz_json_new_int(struct btz_arena *arena, int64_t value)
{
    char text[24];
    size_t at = sizeof(text);
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    do {
        text[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (value < 0) {
        text[--at] = '-';
    }
    return text_new(arena, BTZ_JSON_NUMBER, (struct btz_str){text + at, sizeof(text) - at});
}

struct btz_json *btz_json_new_double(struct btz_arena *arena, double value)
{
    struct btz_json *node;
    struct btz_buf text;

    if (!isfinite(value)) {
        return btz_json_null(arena);
    }
    btz_buf_init(&text, 64);
    (void)btz_json_number_from_double(&text, value);
    node = text_new(arena, BTZ_JSON_NUMBER, btz_buf_view(&text));
    btz_buf_fini(&text);
    return node;
}

struct btz_json *btz_json_new_number(struct btz_arena *arena, struct btz_str text)
{
    const char *at, *want;
    const char *end = text.ptr ? text.ptr + text.len : NULL;

    if (!end || btz_json_number_scan(text.ptr, end, &at, &want) != end) {
        btz_panic("btz_json_new_number got text that is no JSON number");
    }
    return text_new(arena, BTZ_JSON_NUMBER, text);
}

struct btz_json *btz_json_new_str(struct btz_arena *arena, struct btz_str value)
{
    struct btz_json *node;
    struct btz_buf scratch;

    btz_buf_init(&scratch, SIZE_MAX / 4);
    node = text_new(arena, BTZ_JSON_STRING, btz_json_clean(value, &scratch));
    btz_buf_fini(&scratch);
    return node;
}

struct btz_json *btz_json_new_strz(struct btz_arena *arena, const char *value)
{
    return btz_json_new_str(arena, btz_str_of(value));
}

static struct btz_json *container_new(struct btz_arena *arena, enum btz_json_kind kind)
{
    struct btz_json *node = node_new(arena, kind);

    node->flags = BTZ_JSON_BUILT;
    node->built = BTZ_NEW(arena, struct btz_json_built);
    return node;
}

struct btz_json *btz_json_new_array(struct btz_arena *arena)
{
    return container_new(arena, BTZ_JSON_ARRAY);
}

struct btz_json *btz_json_new_object(struct btz_arena *arena)
{
    return container_new(arena, BTZ_JSON_OBJECT);
}

/* The builder of a container that may be changed. */
static struct btz_json_built *built_of(const struct btz_json *node, enum btz_json_kind kind)
{
    if (!btz_json_is(node, kind) || !btz_json_is_built(node)) {
        btz_panic("a JSON %s was changed that is no built %s",
                  node ? btz_json_kind_name(btz_json_kind(node)) : "value",
                  btz_json_kind_name(kind));
    }
    return node->built;
}

/* Room for `count` entries of `size` bytes in all, keeping the `len` there are. */
static void reserve(struct btz_arena *arena, struct btz_json_built *built, size_t len, size_t count,
                    size_t size)
{
    size_t cap = built->cap ? built->cap : FIRST_CAP;
    void *table;

    if (count <= built->cap) {
        return;
    }
    while (cap < count) {
        cap *= 2;
    }
    built->cap = length_of(cap);
    table = btz_arena_array(arena, cap, size);
    if (len) {
        memcpy(table, built->items, len * size);
    }
    built->items = table;
}

void btz_json_push(struct btz_arena *arena, struct btz_json *array, const struct btz_json *value)
{
    struct btz_json_built *built = built_of(array, BTZ_JSON_ARRAY);

    reserve(arena, built, array->len, (size_t)array->len + 1, sizeof(*built->items));
    built->items[array->len++] = value ? value : &null_value;
}

static void slot_put(struct btz_json_built *built, uint32_t number)
{
    size_t mask = built->slot_count - 1;
    size_t s = built->members[number].hash & mask;

    while (built->slots[s]) {
        s = (s + 1) & mask;
    }
    built->slots[s] = number + 1;
}

static void slots_fill(struct btz_json_built *built, uint32_t count)
{
    memset(built->slots, 0, built->slot_count * sizeof(*built->slots));
    for (uint32_t i = 0; i < count; i++) {
        slot_put(built, i);
    }
}

size_t btz_json_built_find(const struct btz_json *object, struct btz_str key)
{
    const struct btz_json_built *built = object->built;
    size_t mask = built->slot_count - 1;
    uint32_t hash;

    if (!built->slot_count) {
        for (size_t i = 0; i < object->len; i++) {
            if (btz_str_eq(btz_json_member_key(object, i), key)) {
                return i;
            }
        }
        return object->len;
    }
    hash = btz_json_key_hash(key);
    for (size_t s = hash & mask; built->slots[s]; s = (s + 1) & mask) {
        size_t number = built->slots[s] - 1;

        if (built->members[number].hash == hash &&
            btz_str_eq(btz_json_member_key(object, number), key)) {
            return number;
        }
    }
    return object->len;
}

/* Adds a member whose key is not there yet and lies in the arena already. */
static void member_add(struct btz_arena *arena, struct btz_json *object, struct btz_str key,
                       const struct btz_json *value)
{
    struct btz_json_built *built = object->built;
    uint32_t number = object->len;
    size_t want = btz_json_slot_count((size_t)number + 1);

    reserve(arena, built, number, (size_t)number + 1, sizeof(*built->members));
    built->members[number] =
        (struct btz_json_member){.key = key.ptr, .key_len = length_of(key.len), .value = value};
    object->len++;
    if (!want) {
        return;
    }
    if (built->slot_count >= want) {
        built->members[number].hash = btz_json_key_hash(key);
        slot_put(built, number);
        return;
    }
    for (uint32_t i = built->slot_count ? number : 0; i <= number; i++) {
        built->members[i].hash = btz_json_key_hash(btz_json_member_key(object, i));
    }
    built->slot_count = length_of(want);
    built->slots = btz_arena_alloc(arena, want * sizeof(*built->slots));
    slots_fill(built, object->len);
}

void btz_json_set(struct btz_arena *arena, struct btz_json *object, struct btz_str key,
                  const struct btz_json *value)
{
    struct btz_json_built *built = built_of(object, BTZ_JSON_OBJECT);
    struct btz_buf scratch;
    struct btz_str clean;
    size_t number;

    btz_buf_init(&scratch, SIZE_MAX / 4);
    clean = btz_json_clean(key, &scratch);
    value = value ? value : &null_value;
    number = btz_json_built_find(object, clean);
    if (number < object->len) {
        built->members[number].value = value;
    } else {
        member_add(arena, object, btz_arena_dup(arena, clean), value);
    }
    btz_buf_fini(&scratch);
}

void btz_json_setz(struct btz_arena *arena, struct btz_json *object, const char *key,
                   const struct btz_json *value)
{
    btz_json_set(arena, object, btz_str_of(key), value);
}

void btz_json_set_str(struct btz_arena *arena, struct btz_json *object, const char *key,
                      struct btz_str value)
{
    btz_json_setz(arena, object, key, btz_json_new_str(arena, value));
}

void btz_json_set_strz(struct btz_arena *arena, struct btz_json *object, const char *key,
                       const char *value)
{
    btz_json_setz(arena, object, key, btz_json_new_strz(arena, value));
}

void btz_json_set_int(struct btz_arena *arena, struct btz_json *object, const char *key,
                      int64_t value)
{
    btz_json_setz(arena, object, key, btz_json_new_int(arena, value));
}

void btz_json_set_bool(struct btz_arena *arena, struct btz_json *object, const char *key,
                       bool value)
{
    btz_json_setz(arena, object, key, btz_json_new_bool(arena, value));
}

void btz_json_remove(struct btz_json *object, struct btz_str key)
{
    struct btz_json_built *built = built_of(object, BTZ_JSON_OBJECT);
    size_t number = btz_json_built_find(object, key);

    if (number == object->len) {
        return;
    }
    object->len--;
    memmove(&built->members[number], &built->members[number + 1],
            (object->len - number) * sizeof(*built->members));
    if (built->slot_count) {
        slots_fill(built, object->len);
    }
}

void btz_json_remove_at(struct btz_json *array, size_t index)
{
    struct btz_json_built *built = built_of(array, BTZ_JSON_ARRAY);

    if (index >= array->len) {
        return;
    }
    array->len--;
    memmove(&built->items[index], &built->items[index + 1],
            (array->len - index) * sizeof(*built->items));
}

void btz_json_replace_at(struct btz_json *array, size_t index, const struct btz_json *value)
{
    struct btz_json_built *built = built_of(array, BTZ_JSON_ARRAY);

    if (index < array->len) {
        built->items[index] = value ? value : &null_value;
    }
}

/* Copy of one node; a container has room for its children but holds none. */
static struct btz_json *node_copy(struct btz_arena *arena, const struct btz_json *value)
{
    struct btz_json *copy;

    switch (btz_json_kind(value)) {
    case BTZ_JSON_ARRAY:
        copy = btz_json_new_array(arena);
        copy->built->cap = value->len;
        copy->built->items =
            value->len ? btz_arena_array(arena, value->len, sizeof(*copy->built->items)) : NULL;
        return copy;
    case BTZ_JSON_OBJECT:
        copy = btz_json_new_object(arena);
        copy->built->cap = value->len;
        copy->built->members =
            value->len ? btz_arena_array(arena, value->len, sizeof(*copy->built->members)) : NULL;
        return copy;
    case BTZ_JSON_NUMBER:
    case BTZ_JSON_STRING:
        return text_new(arena, btz_json_kind(value), btz_json_node_text(value));
    default:
        copy = node_new(arena, btz_json_kind(value));
        copy->len = value->len;
        return copy;
    }
}

struct btz_json *btz_json_shallow(struct btz_arena *arena, const struct btz_json *value)
{
    struct btz_json *copy = value ? node_copy(arena, value) : NULL;

    for (size_t i = 0; i < btz_json_count(value); i++) {
        if (value->kind == BTZ_JSON_ARRAY) {
            btz_json_push(arena, copy, btz_json_item(value, i));
        } else {
            member_add(arena, copy, btz_json_member_key(value, i), btz_json_member_value(value, i));
        }
    }
    return copy;
}

/* One open pair of containers while copying. */
struct pair {
    const struct btz_json *from;
    struct btz_json *to;
};

struct btz_json *btz_json_dup(struct btz_arena *arena, const struct btz_json *value)
{
    struct btz_json *root = value ? node_copy(arena, value) : NULL;
    struct btz_json_walk walk;
    struct pair top = {value, root};

    if (btz_json_count(value) == 0) {
        return root;
    }
    btz_json_walk_init(&walk, sizeof(top));
    for (;;) {
        const struct btz_json *child;
        struct btz_json *copy;
        size_t i = top.to->len;

        if (i == top.from->len) {
            if (!btz_json_walk_pop(&walk, &top)) {
                break;
            }
            continue;
        }
        if (top.from->kind == BTZ_JSON_ARRAY) {
            child = btz_json_item(top.from, i);
            copy = node_copy(arena, child);
            btz_json_push(arena, top.to, copy);
        } else {
            child = btz_json_member_value(top.from, i);
            copy = node_copy(arena, child);
            member_add(arena, top.to, btz_arena_dup(arena, btz_json_member_key(top.from, i)), copy);
        }
        if (btz_json_count(child)) {
            btz_json_walk_push(&walk, &top);
            top = (struct pair){child, copy};
        }
    }
    btz_json_walk_fini(&walk);
    return root;
}
