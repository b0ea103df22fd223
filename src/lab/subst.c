/* Placeholders in the texts of a card: {name} is a marker, {payload.id} the text of a fragment in
 * the arm at hand. Double braces are left alone ({{7*7}} stays), {=name} gives {name} literally. */
#include "lab/lab_int.h"

enum { TEXT_MAX = 256 * 1024 };

static bool name_byte(char c, bool first)
{
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

    return letter || (!first && ((c >= '0' && c <= '9') || c == '.' || c == '-'));
}

/* Length of the placeholder at `i` (a brace), 0 if there is none; `*name` is what it names. */
static size_t placeholder(struct btz_str text, size_t i, struct btz_str *name)
{
    size_t end = i + 1;
    bool literal = end < text.len && text.ptr[end] == '=';

    if (i > 0 && text.ptr[i - 1] == '{') {
        return 0;
    }
    end += literal;
    *name = (struct btz_str){text.ptr + end, 0};
    while (end < text.len && name_byte(text.ptr[end], name->len == 0)) {
        end++;
        name->len++;
    }
    if (name->len == 0 || end >= text.len || text.ptr[end] != '}') {
        return 0;
    }
    if (literal) {
        name->len = 0;
    }
    return end + 1 - i;
}

static bool value_of(const struct subst *s, struct btz_str name, struct btz_str *out)
{
    const struct btz_json *value;

    if (s->payload && btz_str_starts(name, BTZ_STR("payload."))) {
        value = btz_json_get(s->payload, btz_str_sub(name, 8, SIZE_MAX));
    } else {
        value = btz_json_get(s->markers, name);
    }
    *out = btz_json_str(value);
    return value != NULL;
}

int btz_lab_subst_text(struct subst *s, struct btz_str text, struct btz_str *out)
{
    struct btz_buf buf;
    size_t done = 0;
    int code = BTZ_OK;

    if (text.len == 0 || !memchr(text.ptr, '{', text.len)) {
        *out = s->rename ? btz_lab_renamed(s->rename, s->arena, text) : text;
        return BTZ_OK;
    }
    btz_buf_init(&buf, TEXT_MAX);
    for (size_t i = 0; i < text.len; i++) {
        struct btz_str name;
        struct btz_str value = BTZ_STR_NONE;
        size_t len = text.ptr[i] == '{' ? placeholder(text, i, &name) : 0;

        if (len == 0) {
            continue;
        }
        if (name.len > 0 && !value_of(s, name, &value)) {
            s->unknown = name;
            code = BTZ_ENOTFOUND;
            goto out;
        }
        (void)btz_buf_add(&buf, text.ptr + done, i - done);
        if (name.len > 0) {
            (void)btz_buf_add_str(&buf, value);
        } else {
            (void)btz_buf_add_byte(&buf, '{');
            (void)btz_buf_add(&buf, text.ptr + i + 2, len - 2);
        }
        done = i + len;
        i = done - 1;
    }
    (void)btz_buf_add(&buf, text.ptr + done, text.len - done);
    if (btz_buf_status(&buf) != BTZ_OK) {
        s->unknown = BTZ_STR("(the text grows too long)");
        code = BTZ_ELIMIT;
        goto out;
    }
    *out =
        s->rename ? btz_lab_renamed(s->rename, s->arena, btz_buf_view(&buf)) : btz_buf_view(&buf);
    if (out->ptr == buf.ptr) {
        *out = btz_arena_dup(s->arena, *out);
    }
out:
    btz_buf_fini(&buf);
    return code;
}

int btz_lab_subst_value(struct subst *s, const struct btz_json *value, const struct btz_json **out)
{
    struct btz_json *copy = NULL;
    struct btz_str before;
    struct btz_str after;
    bool array = btz_json_is(value, BTZ_JSON_ARRAY);

    if (btz_json_is(value, BTZ_JSON_STRING)) {
        int code;

        before = btz_json_str(value);
        code = btz_lab_subst_text(s, before, &after);
        if (code == BTZ_OK) {
            *out = after.ptr == before.ptr ? value : btz_json_new_str(s->arena, after);
        }
        return code;
    }
    for (size_t i = 0; i < btz_json_count(value); i++) {
        const struct btz_json *item = array ? btz_json_at(value, i) : btz_json_value_at(value, i);
        const struct btz_json *changed;
        int code = btz_lab_subst_value(s, item, &changed);

        if (code != BTZ_OK) {
            return code;
        }
        if (changed == item) {
            continue;
        }
        copy = copy ? copy : btz_json_shallow(s->arena, value);
        if (array) {
            btz_json_replace_at(copy, i, changed);
        } else {
            btz_json_set(s->arena, copy, btz_json_key_at(value, i), changed);
        }
    }
    *out = copy ? copy : value;
    return BTZ_OK;
}

int btz_lab_subst_keys(struct subst *s, const struct btz_json *object, const struct btz_json **out)
{
    struct subst plain = *s;
    struct btz_json *copy = NULL;
    bool any = false;

    plain.rename = NULL;
    for (size_t i = 0; i < btz_json_count(object); i++) {
        struct btz_str key = btz_json_key_at(object, i);

        any = any || memchr(key.ptr, '{', key.len);
    }
    *out = object;
    if (!any) {
        return BTZ_OK;
    }
    copy = btz_json_new_object(s->arena);
    for (size_t i = 0; i < btz_json_count(object); i++) {
        struct btz_str key = btz_json_key_at(object, i);
        int code = btz_lab_subst_text(&plain, key, &key);

        if (code != BTZ_OK) {
            s->unknown = plain.unknown;
            return code;
        }
        btz_json_set(s->arena, copy, key, btz_json_value_at(object, i));
    }
    *out = copy;
    return BTZ_OK;
}
