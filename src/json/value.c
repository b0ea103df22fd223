#include "json/json_int.h"

#include <stdlib.h>

enum btz_json_kind btz_json_kind(const struct btz_json *value)
{
    return value ? (enum btz_json_kind)value->kind : BTZ_JSON_NULL;
}

const char *btz_json_kind_name(enum btz_json_kind kind)
{
    switch (kind) {
    case BTZ_JSON_NULL:
        return "null";
    case BTZ_JSON_BOOL:
        return "boolean";
    case BTZ_JSON_NUMBER:
        return "number";
    case BTZ_JSON_STRING:
        return "string";
    case BTZ_JSON_ARRAY:
        return "array";
    case BTZ_JSON_OBJECT:
        return "object";
    }
    return "unknown";
}

bool btz_json_is(const struct btz_json *value, enum btz_json_kind kind)
{
    return value && value->kind == kind;
}

bool btz_json_bool(const struct btz_json *value, bool fallback)
{
    return btz_json_is(value, BTZ_JSON_BOOL) ? value->len != 0 : fallback;
}

struct btz_str btz_json_str(const struct btz_json *value)
{
    return btz_json_is(value, BTZ_JSON_STRING) ? btz_json_node_text(value) : BTZ_STR_NONE;
}

struct btz_str btz_json_number_text(const struct btz_json *value)
{
    return btz_json_is(value, BTZ_JSON_NUMBER) ? btz_json_node_text(value) : BTZ_STR_NONE;
}

size_t btz_json_count(const struct btz_json *value)
{
    return value && value->kind >= BTZ_JSON_ARRAY ? value->len : 0;
}

const struct btz_json *btz_json_at(const struct btz_json *array, size_t index)
{
    return btz_json_is(array, BTZ_JSON_ARRAY) && index < array->len ? btz_json_item(array, index)
                                                                    : NULL;
}

static const struct btz_json *get_parsed(const struct btz_json *object, struct btz_str key)
{
    size_t slot_count = btz_json_slot_count(object->len);
    const uint32_t *slots;
    uint32_t hash;

    if (!slot_count) {
        for (size_t i = 0; i < object->len; i++) {
            if (btz_str_eq(btz_json_node_text(&object->nodes[2 * i]), key)) {
                return &object->nodes[2 * i + 1];
            }
        }
        return NULL;
    }
    slots = btz_json_node_slots(object->nodes, object->len);
    hash = btz_json_key_hash(key);
    for (size_t s = hash & (slot_count - 1); slots[s]; s = (s + 1) & (slot_count - 1)) {
        const struct btz_json *node = &object->nodes[2 * (size_t)(slots[s] - 1)];

        if (node->end == hash && btz_str_eq(btz_json_node_text(node), key)) {
            return node + 1;
        }
    }
    return NULL;
}

const struct btz_json *btz_json_get(const struct btz_json *object, struct btz_str key)
{
    size_t index;

    if (!btz_json_is(object, BTZ_JSON_OBJECT)) {
        return NULL;
    }
    if (!btz_json_is_built(object)) {
        return get_parsed(object, key);
    }
    index = btz_json_built_find(object, key);
    return index < object->len ? object->built->members[index].value : NULL;
}

struct btz_str btz_json_key_at(const struct btz_json *object, size_t index)
{
    return btz_json_is(object, BTZ_JSON_OBJECT) && index < object->len
               ? btz_json_member_key(object, index)
               : BTZ_STR_NONE;
}

const struct btz_json *btz_json_value_at(const struct btz_json *object, size_t index)
{
    return btz_json_is(object, BTZ_JSON_OBJECT) && index < object->len
               ? btz_json_member_value(object, index)
               : NULL;
}

void btz_json_span(const struct btz_json *value, size_t *begin, size_t *end)
{
    *begin = value ? value->begin : 0;
    *end = value ? value->end : 0;
}

/* Array index of RFC 6901: digits without a leading zero; "-" names no existing item. */
static const struct btz_json *item_by_token(const struct btz_json *array, struct btz_str token)
{
    int64_t index;

    if (token.len == 0 || token.ptr[0] == '-' || (token.ptr[0] == '0' && token.len > 1) ||
        btz_str_int64(token, &index) != BTZ_OK) {
        return NULL;
    }
    return btz_json_at(array, (size_t)index);
}

/* Member whose key is `token` with ~0 and ~1 decoded; NULL also for any other use of '~'. */
static const struct btz_json *member_by_token(const struct btz_json *object, struct btz_str token)
{
    const struct btz_json *found = NULL;
    char small[128];
    char *key = token.len <= sizeof(small) ? small : malloc(token.len);
    size_t len = 0;

    if (!key) {
        btz_panic("out of memory");
    }
    for (size_t i = 0; i < token.len; i++) {
        char c = token.ptr[i];

        if (c == '~') {
            i++;
            if (i == token.len || (token.ptr[i] != '0' && token.ptr[i] != '1')) {
                goto out;
            }
            c = token.ptr[i] == '0' ? '~' : '/';
        }
        key[len++] = c;
    }
    found = btz_json_get(object, (struct btz_str){key, len});
out:
    if (key != small) {
        free(key);
    }
    return found;
}

const struct btz_json *btz_json_pointer(const struct btz_json *root, struct btz_str pointer)
{
    const struct btz_json *value = root;
    struct btz_str rest = btz_str_sub(pointer, 1, pointer.len);
    struct btz_str token;

    if (pointer.len == 0) {
        return root;
    }
    if (pointer.ptr[0] != '/') {
        return NULL;
    }
    while (value && btz_str_cut(&rest, '/', &token)) {
        if (value->kind == BTZ_JSON_ARRAY) {
            value = item_by_token(value, token);
        } else {
            value = token.len && memchr(token.ptr, '~', token.len) ? member_by_token(value, token)
                                                                   : btz_json_get(value, token);
        }
    }
    return value;
}
