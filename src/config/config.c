#include "config/config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "config/config_int.h"

static struct btz_config_limits defaults(const struct btz_config_limits *limits)
{
    struct btz_config_limits out = limits ? *limits : (struct btz_config_limits){0};

    out.max_bytes = out.max_bytes ? out.max_bytes : 1024 * 1024;
    out.max_depth = out.max_depth ? out.max_depth : 32;
    out.max_values = out.max_values ? out.max_values : 100000;
    return out;
}

static int cmp_lines(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct line_of *)a)->value;
    uintptr_t y = (uintptr_t)((const struct line_of *)b)->value;

    return (x > y) - (x < y);
}

/* ---- JSON: lines from the spans of the values ---- */

struct json_lines {
    struct btz_arena *arena;
    struct btz_config *config;
    struct btz_str text;
    size_t at; /* bytes counted so far; values come in the order of the text */
    unsigned line;
    size_t cap;
};

static void add_json_lines(struct json_lines *l, const struct btz_json *value)
{
    size_t begin;
    size_t end;

    btz_json_span(value, &begin, &end);
    for (; l->at < begin && l->at < l->text.len; l->at++) {
        l->line += l->text.ptr[l->at] == '\n';
    }
    if (l->config->count == l->cap) {
        struct line_of *before = l->config->lines;

        l->cap = l->cap ? l->cap * 2 : 64;
        l->config->lines = btz_arena_array(l->arena, l->cap, sizeof(*before));
        if (l->config->count) {
            memcpy(l->config->lines, before, l->config->count * sizeof(*before));
        }
    }
    l->config->lines[l->config->count++] = (struct line_of){value, l->line, l->line};
    for (size_t i = 0; i < btz_json_count(value); i++) {
        add_json_lines(l, btz_json_is(value, BTZ_JSON_ARRAY) ? btz_json_at(value, i)
                                                             : btz_json_value_at(value, i));
    }
}

static int parse_json(struct btz_arena *arena, struct btz_str text,
                      const struct btz_config_limits *limits, struct btz_config *config,
                      struct btz_err *err)
{
    struct btz_json_limits json = {.max_bytes = limits->max_bytes,
                                   .max_depth = limits->max_depth,
                                   .max_values = limits->max_values};
    struct json_lines lines = {.arena = arena, .config = config, .text = text, .line = 1};
    int rc = btz_json_parse(arena, text, &json, &config->root, err);

    if (!rc) {
        add_json_lines(&lines, config->root);
    }
    return rc;
}

int btz_config_parse(struct btz_arena *arena, struct btz_str text, const char *file,
                     const struct btz_config_limits *limits, struct btz_config **out,
                     struct btz_err *err)
{
    struct btz_config_limits use = defaults(limits);
    struct btz_config *config = BTZ_NEW(arena, struct btz_config);
    bool json;
    int rc;

    if (btz_str_starts(text, BTZ_STR("\xef\xbb\xbf"))) {
        text = btz_str_sub(text, 3, text.len); /* a byte order mark, as some editors write it */
    }
    config->file = btz_arena_cstr(arena, btz_str_of(file));
    json = btz_str_ends(btz_str_of(config->file), BTZ_STR(".json"));
    if (text.len > use.max_bytes) {
        rc = btz_err_set(err, BTZ_ELIMIT, "%zu bytes, at most %zu are allowed", text.len,
                         use.max_bytes);
    } else if (json) {
        rc = parse_json(arena, text, &use, config, err);
    } else {
        rc = btz_config_yaml(arena, text, &use, config, err);
    }
    if (rc) {
        if (err) {
            btz_err_at(err, config->file, err->line, err->column);
        }
        return rc;
    }
    config->text = btz_arena_dup(arena, text);
    qsort(config->lines, config->count, sizeof(*config->lines), cmp_lines);
    *out = config;
    return BTZ_OK;
}

int btz_config_load(struct btz_arena *arena, const char *file,
                    const struct btz_config_limits *limits, struct btz_config **out,
                    struct btz_err *err)
{
    struct btz_config_limits use = defaults(limits);
    struct btz_arena *scratch = btz_arena_new();
    struct btz_str text;
    int rc = btz_file_read(scratch, file, use.max_bytes, &text, err);

    rc = rc ? rc : btz_config_parse(arena, text, file, limits, out, err);
    if (rc && err) {
        btz_err_at(err, file, err->line, err->column);
    }
    btz_arena_free(scratch);
    return rc;
}

const struct btz_json *btz_config_root(const struct btz_config *config)
{
    return config->root;
}

static const struct line_of *find(const struct btz_config *config, const struct btz_json *value)
{
    struct line_of key = {.value = value};

    return bsearch(&key, config->lines, config->count, sizeof(key), cmp_lines);
}

unsigned btz_config_line(const struct btz_config *config, const struct btz_json *value)
{
    const struct line_of *hit = find(config, value);

    return hit ? hit->line : 0;
}

unsigned btz_config_key_line(const struct btz_config *config, const struct btz_json *value)
{
    const struct line_of *hit = find(config, value);

    return hit ? hit->key_line : 0;
}

struct btz_str btz_config_text(const struct btz_config *config)
{
    return config->text;
}

const char *btz_config_file(const struct btz_config *config)
{
    return config->file;
}

int btz_config_check(const struct btz_config *config, const struct btz_schema *schema,
                     struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_schema_report report;
    struct btz_buf text;
    int rc = btz_schema_check(schema, config->root, arena, &report);

    btz_buf_init(&text, (size_t)BTZ_SCHEMA_VIOLATIONS * 4096);
    if (rc == BTZ_EINVAL) {
        for (size_t i = 0; i < report.count; i++) {
            const struct btz_schema_violation *v = &report.items[i];

            if (i) {
                (void)btz_buf_printf(&text, "; line %u: ", btz_config_line(config, v->value));
            }
            (void)btz_buf_printf(&text, "%.*s: %.*s",
                                 BTZ_FMT(v->path.len ? v->path : BTZ_STR("(whole file)")),
                                 BTZ_FMT(btz_str_sub(v->message, 0, 300)));
        }
        btz_err_set(err, rc, "%.*s%s", BTZ_FMT(btz_buf_view(&text)),
                    report.more ? "; and more" : "");
        btz_err_at(err, config->file, btz_config_line(config, report.items[0].value), 0);
    } else if (rc) {
        btz_err_set(err, rc, "too large or too deep to be checked");
        btz_err_at(err, config->file, 0, 0);
    }
    btz_buf_fini(&text);
    btz_arena_free(arena);
    return rc;
}

int btz_config_refuse(const struct btz_config *config, const struct btz_json *value,
                      struct btz_err *err, const char *fmt, ...)
{
    char text[600];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    btz_err_set(err, BTZ_EINVAL, "%s", text);
    btz_err_at(err, config->file, btz_config_line(config, value), 0);
    return BTZ_EINVAL;
}
