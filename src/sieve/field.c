/* Members of an object, with messages that name them. */
#include <stdarg.h>
#include <stdio.h>

#include "sieve/sieve_int.h"

int btz_sieve_field_wrong(const struct fields *f, const char *name, const char *fmt, ...)
{
    char text[512];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return btz_err_set(f->err, BTZ_EINVAL, "%s/%s: %s", f->path, name, text);
}

int btz_sieve_fields_known(const struct fields *f, const char *const *names)
{
    if (!btz_json_is(f->object, BTZ_JSON_OBJECT)) {
        return btz_err_set(f->err, BTZ_EINVAL, "%s: an object is expected, not %s",
                           *f->path ? f->path : "the line",
                           f->object ? btz_json_kind_name(btz_json_kind(f->object)) : "nothing");
    }
    for (size_t i = 0; i < btz_json_count(f->object); i++) {
        struct btz_str key = btz_json_key_at(f->object, i);
        const char *const *name = names;

        while (*name && !btz_str_is(key, *name)) {
            name++;
        }
        if (!*name) {
            return btz_err_set(f->err, BTZ_EINVAL, "%s/%.*s: there is no such member", f->path,
                               (int)(key.len < 80 ? key.len : 80), key.ptr);
        }
    }
    return BTZ_OK;
}

int btz_sieve_fields_check(const struct fields *f, const char *const *names)
{
    int rc = btz_sieve_fields_known(f, names);

    if (rc != BTZ_OK) {
        return rc;
    }
    for (const char *const *name = names; *name; name++) {
        if (!btz_json_getz(f->object, *name)) {
            return btz_sieve_field_wrong(f, *name, "is missing");
        }
    }
    return BTZ_OK;
}

static int is_kind(const struct fields *f, const char *name, enum btz_json_kind kind)
{
    const struct btz_json *value = btz_json_getz(f->object, name);

    if (!btz_json_is(value, kind)) {
        return btz_sieve_field_wrong(f, name, "%s is expected, not %s", btz_json_kind_name(kind),
                                     value ? btz_json_kind_name(btz_json_kind(value)) : "nothing");
    }
    return BTZ_OK;
}

int btz_sieve_field_text(const struct fields *f, const char *name, size_t max, struct btz_str *out)
{
    int rc = is_kind(f, name, BTZ_JSON_STRING);
    struct btz_str text = btz_json_str(btz_json_getz(f->object, name));

    if (rc != BTZ_OK) {
        return rc;
    }
    if (text.len == 0) {
        return btz_sieve_field_wrong(f, name, "must not be empty");
    }
    if (text.len > max) {
        return btz_sieve_field_wrong(f, name, "has %zu bytes; at most %zu are allowed", text.len,
                                     max);
    }
    *out = text;
    return BTZ_OK;
}

int btz_sieve_field_text_or_null(const struct fields *f, const char *name, size_t max,
                                 struct btz_str *out)
{
    if (btz_json_is(btz_json_getz(f->object, name), BTZ_JSON_NULL)) {
        *out = BTZ_STR_NONE;
        return BTZ_OK;
    }
    return btz_sieve_field_text(f, name, max, out);
}

int btz_sieve_field_word(const struct fields *f, const char *name, const char *const *words,
                         bool nullable, int *out)
{
    struct btz_str text = BTZ_STR_NONE;
    char list[400];
    size_t len = 0;
    int count = 0;
    int rc = nullable ? btz_sieve_field_text_or_null(f, name, 100, &text)
                      : btz_sieve_field_text(f, name, 100, &text);

    if (rc != BTZ_OK) {
        return rc;
    }
    for (; words[count]; count++) {
        if (btz_str_is(text, words[count])) {
            *out = count;
            return BTZ_OK;
        }
        len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", count ? ", " : "",
                                words[count]);
    }
    if (text.len == 0) {
        *out = count;
        return BTZ_OK;
    }
    return btz_sieve_field_wrong(f, name, "\"%.*s\" is none of %s", BTZ_FMT(text), list);
}

int btz_sieve_field_hex(const struct fields *f, const char *name, size_t digits,
                        struct btz_str *out)
{
    struct btz_str text;
    int rc = btz_sieve_field_text(f, name, digits, &text);

    if (rc != BTZ_OK) {
        return rc;
    }
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) {
            text.len = 0;
        }
    }
    if (text.len != digits) {
        return btz_sieve_field_wrong(f, name, "%zu lower-case hexadecimal digits are expected",
                                     digits);
    }
    *out = text;
    return BTZ_OK;
}

int btz_sieve_field_count(const struct fields *f, const char *name, int64_t *out)
{
    int64_t number;
    int rc = is_kind(f, name, BTZ_JSON_NUMBER);

    if (rc != BTZ_OK) {
        return rc;
    }
    if (!btz_json_int64(btz_json_getz(f->object, name), &number) || number < 0) {
        return btz_sieve_field_wrong(f, name, "a whole number from 0 on is expected");
    }
    *out = number;
    return BTZ_OK;
}

static int64_t digits(struct btz_str text, size_t from, size_t len)
{
    int64_t number = -1;

    for (size_t i = from; i < from + len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            return -1;
        }
    }
    return btz_str_int64(btz_str_sub(text, from, len), &number) == BTZ_OK ? number : -1;
}

static bool is_date(struct btz_str text)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t year, month, day;
    bool leap;

    if (text.len != 10 || text.ptr[4] != '-' || text.ptr[7] != '-') {
        return false;
    }
    year = digits(text, 0, 4);
    month = digits(text, 5, 2);
    day = digits(text, 8, 2);
    leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return year >= 1 && month >= 1 && month <= 12 && day >= 1 &&
           day <= days[month - 1] + (month == 2 && leap);
}

int btz_sieve_field_date(const struct fields *f, const char *name, struct btz_str *out)
{
    struct btz_str text;
    int rc = btz_sieve_field_text(f, name, 10, &text);

    if (rc == BTZ_OK && !is_date(text)) {
        rc = btz_sieve_field_wrong(f, name, "a day is expected, as 2026-11-30");
    }
    if (rc == BTZ_OK) {
        *out = text;
    }
    return rc;
}

int btz_sieve_field_object(const struct fields *f, const char *name, bool nullable,
                           const struct btz_json **out)
{
    const struct btz_json *value = btz_json_getz(f->object, name);
    int rc;

    if (nullable && btz_json_is(value, BTZ_JSON_NULL)) {
        *out = NULL;
        return BTZ_OK;
    }
    rc = is_kind(f, name, BTZ_JSON_OBJECT);
    if (rc == BTZ_OK) {
        *out = value;
    }
    return rc;
}

int btz_sieve_field_array(const struct fields *f, const char *name, size_t max,
                          const struct btz_json **out)
{
    int rc = is_kind(f, name, BTZ_JSON_ARRAY);
    const struct btz_json *value = btz_json_getz(f->object, name);

    if (rc == BTZ_OK && btz_json_count(value) > max) {
        rc = btz_sieve_field_wrong(f, name, "has %zu entries; at most %zu are allowed",
                                   btz_json_count(value), max);
    }
    if (rc == BTZ_OK) {
        *out = value;
    }
    return rc;
}

int btz_sieve_field_tool(const struct fields *f, const char *name, const struct btz_json **out)
{
    const struct btz_json *tool;
    int rc = btz_sieve_field_object(f, name, false, &tool);

    if (rc == BTZ_OK && btz_json_str(btz_json_getz(tool, "name")).len == 0) {
        rc = btz_sieve_field_wrong(f, name, "a definition has a name, a text that is not empty");
    }
    if (rc == BTZ_OK) {
        *out = tool;
    }
    return rc;
}
