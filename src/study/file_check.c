/* What is wrong with a study file, in words: a misspelt key or word gets its neighbours. */
#include "study/file_int.h"

#include "base/args.h"

struct btz_str file_near(struct btz_arena *arena, const char *near)
{
    return near ? btz_arena_printf(arena, "; did you mean \"%s\"?", near) : BTZ_STR("");
}

struct names {
    const char **items;
    size_t count;
    struct btz_str list; /* "a, b, c" */
};

static void add_name(struct btz_arena *arena, struct names *names, struct btz_str name)
{
    names->items[names->count] = btz_arena_cstr(arena, name);
    names->list = btz_arena_printf(arena, "%.*s%s%.*s", BTZ_FMT(names->list),
                                   names->count ? ", " : "", BTZ_FMT(name));
    names->count++;
}

/* The keys of an object, or the items of an array. */
static struct names names_of(struct btz_arena *arena, const struct btz_json *value)
{
    struct names out = {.items = btz_arena_array(arena, btz_json_count(value), sizeof(char *))};

    for (size_t i = 0; i < btz_json_count(value); i++) {
        add_name(arena, &out,
                 btz_json_is(value, BTZ_JSON_ARRAY) ? btz_json_str(btz_json_at(value, i))
                                                    : btz_json_key_at(value, i));
    }
    return out;
}

static struct btz_str last_of(struct btz_str path)
{
    size_t from = path.len;

    while (from > 0 && path.ptr[from - 1] != '/') {
        from--;
    }
    return btz_str_sub(path, from, path.len);
}

/* "/models/0/in_flight" as "models/in_flight": the line tells which. */
static struct btz_str place_of(struct btz_arena *arena, struct btz_str path)
{
    struct btz_str out = BTZ_STR("");
    struct btz_str rest = path;
    struct btz_str part;
    int64_t index;

    while (btz_str_cut(&rest, '/', &part)) {
        if (part.len && btz_str_int64(part, &index) != BTZ_OK) {
            out = btz_arena_printf(arena, "%.*s%s%.*s", BTZ_FMT(out), out.len ? "/" : "",
                                   BTZ_FMT(part));
        }
    }
    return out;
}

static struct btz_str unknown_key(struct btz_arena *arena, const struct btz_json *keys,
                                  struct btz_str path)
{
    struct names known = names_of(arena, keys);
    struct btz_str key = btz_str_sub(last_of(path), 0, 64);
    const char *near = btz_args_nearest(btz_arena_cstr(arena, key), known.items, known.count);

    return btz_arena_printf(arena, "there is no key \"%.*s\"%.*s%s%.*s", BTZ_FMT(key),
                            BTZ_FMT(file_near(arena, near)),
                            near ? "" : "; keys: ", BTZ_FMT(near ? BTZ_STR("") : known.list));
}

enum { MANY = 8 };

static struct btz_str unknown_word(struct btz_arena *arena, const struct btz_json *words,
                                   const struct btz_schema_violation *v)
{
    struct names known = names_of(arena, words);
    struct btz_str got = btz_json_str(v->value);
    struct btz_str place = place_of(arena, v->path);
    const char *near;

    if (!got.ptr) {
        return btz_arena_printf(arena, "%.*s: expected one of %.*s, got %.*s", BTZ_FMT(place),
                                BTZ_FMT(known.list),
                                BTZ_FMT(btz_str_sub(btz_json_text(arena, v->value), 0, 64)));
    }
    got = btz_str_sub(got, 0, 64);
    near = btz_args_nearest(btz_arena_cstr(arena, got), known.items, known.count);
    if (near && known.count > MANY) { /* the list would hide what is meant */
        return btz_arena_printf(arena, "%.*s: there is no \"%.*s\"%.*s", BTZ_FMT(place),
                                BTZ_FMT(got), BTZ_FMT(file_near(arena, near)));
    }
    return btz_arena_printf(arena, "%.*s: expected one of %.*s, got \"%.*s\"%.*s", BTZ_FMT(place),
                            BTZ_FMT(known.list), BTZ_FMT(got), BTZ_FMT(file_near(arena, near)));
}

static struct btz_str words_for(struct btz_arena *arena, const struct btz_json *schema,
                                const struct btz_schema_violation *v)
{
    const struct btz_json *rule = btz_json_pointer(schema, v->schema_path);
    struct btz_str above =
        btz_str_sub(v->schema_path, 0, v->schema_path.len - last_of(v->schema_path).len);

    if (btz_str_is(v->keyword, "additionalProperties")) {
        return unknown_key(
            arena,
            btz_json_pointer(schema, btz_arena_printf(arena, "%.*sproperties", BTZ_FMT(above))),
            v->path);
    }
    if (btz_str_is(v->keyword, "enum")) {
        return unknown_word(arena, rule, v);
    }
    if (btz_str_is(v->keyword, "pattern")) { /* only that of the name */
        return btz_arena_printf(arena,
                                "name: expected words of lower-case letters and digits, joined by "
                                "'-', got \"%.*s\"",
                                BTZ_FMT(btz_str_sub(btz_json_str(v->value), 0, 64)));
    }
    return v->path.len ? btz_arena_printf(arena, "%.*s: %.*s", BTZ_FMT(place_of(arena, v->path)),
                                          BTZ_FMT(v->message))
                       : v->message;
}

static unsigned line_of(const struct btz_config *config, const struct btz_schema_violation *v)
{
    return btz_str_is(v->keyword, "additionalProperties") ? btz_config_key_line(config, v->value)
                                                          : btz_config_line(config, v->value);
}

static int explain(struct btz_arena *arena, const struct btz_config *config,
                   const struct btz_json *schema, const struct btz_schema_report *report,
                   struct btz_err *err)
{
    struct btz_str text = BTZ_STR("");
    size_t first = 0;

    for (size_t i = 1; i < report->count; i++) {
        if (line_of(config, &report->items[i]) < line_of(config, &report->items[first])) {
            first = i;
        }
    }
    text = words_for(arena, schema, &report->items[first]);
    for (size_t i = 0; i < report->count; i++) {
        if (i != first) {
            text = btz_arena_printf(arena, "%.*s; line %u: %.*s", BTZ_FMT(text),
                                    line_of(config, &report->items[i]),
                                    BTZ_FMT(words_for(arena, schema, &report->items[i])));
        }
    }
    btz_err_set(err, BTZ_EINVAL, "%.*s%s", BTZ_FMT(text), report->more ? "; and more" : "");
    btz_err_at(err, btz_config_file(config), line_of(config, &report->items[first]), 0);
    return BTZ_EINVAL;
}

int file_check(struct btz_arena *arena, const struct btz_config *config, struct btz_err *err)
{
    struct btz_str text = {btz_study_schemas[0].bytes, btz_study_schemas[0].len};
    const struct btz_json *tree = NULL;
    struct btz_schema *schema = NULL;
    struct btz_schema_report report;
    int rc = btz_json_parse(arena, text, NULL, &tree, err);

    if (rc == BTZ_OK) {
        rc = btz_schema_compile(tree, NULL, &schema, err);
    }
    if (rc != BTZ_OK) {
        btz_err_prefix(err, "schemas/study.json: ");
        return BTZ_EINTERNAL;
    }
    rc = btz_schema_check(schema, btz_config_root(config), arena, &report);
    if (rc == BTZ_EINVAL) {
        rc = explain(arena, config, tree, &report, err);
    } else if (rc != BTZ_OK) {
        rc = btz_err_set(err, rc, "too large to be checked");
        btz_err_at(err, btz_config_file(config), 0, 0);
    }
    btz_schema_free(schema);
    return rc;
}
