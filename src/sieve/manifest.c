/* The manifest of a split: reading and writing its text. */
#include "sieve/sieve_int.h"

enum { TEXT_MAX = 4096, STRATA_MAX = 100000 };

static int read_side(const struct fields *outer, const char *name, const char *path,
                     struct btz_str *file, struct btz_sieve_side *out)
{
    static const char *const bare[] = {"count", "sha256", NULL};
    static const char *const with_path[] = {"path", "sha256", "count", NULL};
    struct fields f = {btz_json_getz(outer->object, name), path, outer->err};
    int rc = btz_sieve_fields_check(&f, file ? with_path : bare);

    if (rc == BTZ_OK && file) {
        rc = btz_sieve_field_text(&f, "path", TEXT_MAX, file);
    }
    if (rc == BTZ_OK) {
        rc = btz_sieve_field_count(&f, "count", &out->count);
    }
    return rc ? rc : btz_sieve_field_hex(&f, "sha256", 64, &out->sha256);
}

static int read_strata(struct btz_arena *arena, const struct fields *outer,
                       struct btz_sieve_manifest *out)
{
    static const char *const names[] = {"name", "dev", "test", NULL};
    const struct btz_json *list;
    int64_t dev = 0;
    int64_t test = 0;
    int rc = btz_sieve_field_array(outer, "strata", STRATA_MAX, &list);

    if (rc != BTZ_OK) {
        return rc;
    }
    out->stratum_count = btz_json_count(list);
    out->strata = btz_arena_array(arena, out->stratum_count, sizeof(*out->strata));
    for (size_t i = 0; rc == BTZ_OK && i < out->stratum_count; i++) {
        struct fields f = {btz_json_at(list, i), btz_arena_printf(arena, "/strata/%zu", i).ptr,
                           outer->err};
        struct btz_sieve_stratum *stratum = &out->strata[i];

        rc = btz_sieve_fields_check(&f, names);
        if (rc == BTZ_OK) {
            rc = btz_sieve_field_text(&f, "name", TEXT_MAX, &stratum->name);
        }
        if (rc == BTZ_OK) {
            rc = btz_sieve_field_count(&f, "dev", &stratum->dev);
        }
        if (rc == BTZ_OK) {
            rc = btz_sieve_field_count(&f, "test", &stratum->test);
        }
        if (rc == BTZ_OK && (stratum->dev > INT64_MAX - dev || stratum->test > INT64_MAX - test)) {
            rc = btz_sieve_field_wrong(&f, "dev", "the counts are too large");
        }
        if (rc == BTZ_OK) {
            dev += stratum->dev;
            test += stratum->test;
        }
    }
    if (rc == BTZ_OK && (dev != out->dev.count || test != out->test.count ||
                         dev > out->input.count || test != out->input.count - dev)) {
        rc = btz_sieve_field_wrong(outer, "strata",
                                   "the counts of strata, sides and input do not add up");
    }
    return rc;
}

static int read_rules(const struct fields *outer, struct btz_sieve_manifest *out)
{
    static const char *const names[] = {"commit", "sha256", NULL};
    struct fields f = {btz_json_getz(outer->object, "rules"), "/rules", outer->err};
    int rc = btz_sieve_fields_check(&f, names);

    if (rc == BTZ_OK) {
        rc = btz_sieve_field_text_or_null(&f, "commit", 64, &out->rules_commit);
    }
    if (rc == BTZ_OK && btz_json_is(btz_json_getz(f.object, "sha256"), BTZ_JSON_NULL)) {
        return BTZ_OK;
    }
    return rc ? rc : btz_sieve_field_hex(&f, "sha256", 64, &out->rules_sha256);
}

static int read_manifest(struct btz_arena *arena, const struct fields *f,
                         struct btz_sieve_manifest *out)
{
    static const char *const names[] = {"version", "created", "method", "seed",  "share", "input",
                                        "dev",     "test",    "strata", "rules", NULL};
    const struct btz_json *share = btz_json_getz(f->object, "share");
    int method = 0;
    int rc = btz_sieve_fields_check(f, names);

    if (rc == BTZ_OK) {
        rc = btz_sieve_field_count(f, "version", &out->version);
    }
    if (rc == BTZ_OK && out->version != 1) {
        rc = btz_sieve_field_wrong(f, "version", "this program reads version 1");
    }
    if (rc == BTZ_OK) {
        rc = btz_sieve_field_date(f, "created", &out->created);
    }
    if (rc == BTZ_OK) {
        rc = btz_sieve_field_word(f, "method", btz_sieve_method_words, false, &method);
        out->method = (enum btz_sieve_method)method;
    }
    if (rc == BTZ_OK) {
        rc = btz_sieve_field_count(f, "seed", &out->seed);
    }
    if (rc == BTZ_OK &&
        (!btz_json_double(share, &out->share) || !(out->share > 0 && out->share < 1))) {
        rc = btz_sieve_field_wrong(f, "share", "a number between 0 and 1 is expected");
    }
    if (rc == BTZ_OK) {
        rc = read_side(f, "input", "/input", &out->input_path, &out->input);
    }
    if (rc == BTZ_OK) {
        rc = read_side(f, "dev", "/dev", NULL, &out->dev);
    }
    if (rc == BTZ_OK) {
        rc = read_side(f, "test", "/test", NULL, &out->test);
    }
    if (rc == BTZ_OK) {
        rc = read_strata(arena, f, out);
    }
    return rc ? rc : read_rules(f, out);
}

int btz_sieve_manifest_parse(struct btz_arena *arena, struct btz_str text, const char *name,
                             struct btz_sieve_manifest *out, struct btz_err *err)
{
    struct btz_sieve_manifest manifest = {0};
    const struct btz_json *value = NULL;
    int rc = btz_json_parse(arena, text, NULL, &value, err);
    struct fields f = {value, "", err};

    if (rc == BTZ_OK) {
        rc = read_manifest(arena, &f, &manifest);
    }
    if (rc == BTZ_OK) {
        *out = manifest;
    } else if (err) {
        btz_err_at(err, name, err->line, err->column);
    }
    return rc;
}

static struct btz_json *side_json(struct btz_arena *arena, const struct btz_sieve_side *side,
                                  struct btz_str path)
{
    struct btz_json *out = btz_json_new_object(arena);

    if (path.len) {
        btz_json_set_str(arena, out, "path", path);
    }
    btz_json_set_str(arena, out, "sha256", side->sha256);
    btz_json_set_int(arena, out, "count", side->count);
    return out;
}

static const struct btz_json *text_or_null(struct btz_arena *arena, struct btz_str text)
{
    return text.len ? btz_json_new_str(arena, text) : btz_json_null(arena);
}

void btz_sieve_manifest_write(struct btz_buf *out, const struct btz_sieve_manifest *manifest)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_json *value = btz_json_new_object(arena);
    struct btz_json *strata = btz_json_new_array(arena);
    struct btz_json *rules = btz_json_new_object(arena);

    btz_json_set_int(arena, value, "version", manifest->version);
    btz_json_set_str(arena, value, "created", manifest->created);
    btz_json_set_strz(arena, value, "method", btz_sieve_method_name(manifest->method));
    btz_json_set_int(arena, value, "seed", manifest->seed);
    btz_json_setz(arena, value, "share", btz_json_new_double(arena, manifest->share));
    btz_json_setz(arena, value, "input", side_json(arena, &manifest->input, manifest->input_path));
    btz_json_setz(arena, value, "dev", side_json(arena, &manifest->dev, BTZ_STR_NONE));
    btz_json_setz(arena, value, "test", side_json(arena, &manifest->test, BTZ_STR_NONE));
    for (size_t i = 0; i < manifest->stratum_count; i++) {
        struct btz_json *one = btz_json_new_object(arena);

        btz_json_set_str(arena, one, "name", manifest->strata[i].name);
        btz_json_set_int(arena, one, "dev", manifest->strata[i].dev);
        btz_json_set_int(arena, one, "test", manifest->strata[i].test);
        btz_json_push(arena, strata, one);
    }
    btz_json_setz(arena, value, "strata", strata);
    btz_json_setz(arena, rules, "commit", text_or_null(arena, manifest->rules_commit));
    btz_json_setz(arena, rules, "sha256", text_or_null(arena, manifest->rules_sha256));
    btz_json_setz(arena, value, "rules", rules);
    (void)btz_json_write(out, value);
    (void)btz_buf_add_byte(out, '\n');
    btz_arena_free(arena);
}
