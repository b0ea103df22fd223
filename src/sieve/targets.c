#include "sieve/targets.h"

#include "config/config.h"
#include "sieve/sieve_int.h"

enum { WORDS_MAX = 256, TEXT_MAX = 4096 };

struct loading {
    struct btz_arena *arena;
    const char *file;
    struct btz_err *err;
    struct btz_sieve_target *targets;
    size_t count, cap;
    const char **env; /* for all that follow */
    size_t env_count;
};

int btz_sieve_variable_check(struct btz_str text, struct btz_err *err)
{
    ptrdiff_t sign = btz_str_find(text, BTZ_STR("="));
    bool fine = sign > 0;

    for (ptrdiff_t i = 0; fine && i < sign; i++) {
        char c = text.ptr[i];

        fine = c == '_' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               (i > 0 && c >= '0' && c <= '9');
    }
    return fine ? BTZ_OK
                : btz_err_set(err, BTZ_EINVAL,
                              "a variable is NAME=VALUE; a name has letters, digits and _");
}

/* Adds the variables of an object behind those of `first`. */
static int read_env(struct loading *l, const struct fields *f, const char *const *first,
                    size_t first_count, const char ***out, size_t *count)
{
    const struct btz_json *object = btz_json_getz(f->object, "env");
    size_t more = btz_json_count(object);
    const char **env = btz_arena_array(l->arena, first_count + more + 1, sizeof(*env));

    if (object && !btz_json_is(object, BTZ_JSON_OBJECT)) {
        return btz_sieve_field_wrong(f, "env", "an object of texts is expected");
    }
    for (size_t i = 0; i < first_count; i++) {
        env[i] = first[i];
    }
    for (size_t i = 0; i < more; i++) {
        struct btz_str key = btz_json_key_at(object, i);
        struct btz_str value = btz_json_str(btz_json_value_at(object, i));
        struct btz_str text = btz_arena_printf(l->arena, "%.*s=%.*s", BTZ_FMT(key), BTZ_FMT(value));

        if (!btz_json_is(btz_json_value_at(object, i), BTZ_JSON_STRING)) {
            return btz_sieve_field_wrong(f, "env",
                                         "the value of %.*s must be a text (put numbers "
                                         "in quotes)",
                                         BTZ_FMT(btz_str_sub(key, 0, 80)));
        }
        if (btz_sieve_variable_check(text, NULL) != BTZ_OK) {
            return btz_sieve_field_wrong(f, "env", "\"%.*s\" is no name of a variable",
                                         BTZ_FMT(btz_str_sub(key, 0, 80)));
        }
        env[first_count + i] = text.ptr;
    }
    *out = env;
    *count = first_count + more;
    return BTZ_OK;
}

static int read_command(struct loading *l, const struct fields *f, struct btz_sieve_target *target)
{
    const struct btz_json *list;
    const char **argv;
    int rc;

    if (!btz_json_getz(f->object, "command")) {
        rc = btz_sieve_field_text(f, "url", TEXT_MAX, &target->url);
        if (rc == BTZ_OK && !btz_str_starts(target->url, BTZ_STR("http://")) &&
            !btz_str_starts(target->url, BTZ_STR("https://"))) {
            rc = btz_sieve_field_wrong(f, "url", "http:// or https:// is expected");
        }
        return rc;
    }
    if (btz_json_getz(f->object, "url")) {
        return btz_sieve_field_wrong(f, "url", "a server has a command or a URL, not both");
    }
    rc = btz_sieve_field_array(f, "command", WORDS_MAX, &list);
    if (rc != BTZ_OK) {
        return rc;
    }
    argv = btz_arena_array(l->arena, btz_json_count(list) + 1, sizeof(*argv));
    for (size_t i = 0; i < btz_json_count(list); i++) {
        if (!btz_json_is(btz_json_at(list, i), BTZ_JSON_STRING)) {
            return btz_sieve_field_wrong(f, "command", "word %zu is no text", i);
        }
        argv[i] = btz_arena_cstr(l->arena, btz_json_str(btz_json_at(list, i)));
    }
    if (!argv[0] || !*argv[0]) {
        return btz_sieve_field_wrong(f, "command", "the first word names the program");
    }
    target->argv = argv;
    target->word_count = btz_json_count(list);
    return BTZ_OK;
}

static int read_package(const struct fields *f, struct btz_sieve_target *target)
{
    static const char *const names[] = {"registry", "name", "version", NULL};
    struct fields inner = {NULL, "/package", f->err};
    int rc = btz_sieve_field_object(f, "package", false, &inner.object);

    if (rc == BTZ_OK) {
        rc = btz_sieve_fields_check(&inner, names);
    }
    if (rc == BTZ_OK) {
        rc = btz_sieve_field_text(&inner, "registry", 64, &target->registry);
    }
    if (rc == BTZ_OK) {
        rc = btz_sieve_field_text(&inner, "name", TEXT_MAX, &target->package);
    }
    return rc ? rc : btz_sieve_field_text(&inner, "version", TEXT_MAX, &target->package_version);
}

static int check_twice(struct loading *l, const struct fields *f,
                       const struct btz_sieve_target *target)
{
    for (size_t i = 0; i < l->count; i++) {
        if (btz_str_eq(l->targets[i].label, target->label)) {
            return btz_sieve_field_wrong(f, "label", "there are two servers of this label");
        }
        if (btz_str_eq(l->targets[i].source, target->source)) {
            return btz_sieve_field_wrong(f, "source", "there are two servers of source \"%.*s\"",
                                         BTZ_FMT(target->source));
        }
    }
    return BTZ_OK;
}

static int read_target(struct loading *l, const struct btz_json *value)
{
    static const char *const names[] = {"label", "source",  "command", "url",
                                        "env",   "package", NULL};
    const struct fields f = {value, "", l->err};
    struct btz_sieve_target target = {0};
    const char **env = NULL;
    size_t env_count = 0;
    int rc = btz_sieve_fields_known(&f, names);

    if (rc == BTZ_OK) {
        rc = btz_sieve_field_text(&f, "label", 256, &target.label);
    }
    if (rc == BTZ_OK) {
        rc = read_command(l, &f, &target);
    }
    if (rc == BTZ_OK && btz_json_getz(value, "package")) {
        rc = read_package(&f, &target);
    }
    if (rc == BTZ_OK && btz_json_getz(value, "source")) {
        rc = btz_sieve_field_text(&f, "source", TEXT_MAX, &target.source);
    } else if (rc == BTZ_OK) {
        struct btz_str kind = target.package.len ? target.registry
                              : target.argv      ? BTZ_STR("command")
                                                 : BTZ_STR("url");
        struct btz_str name = target.package.len ? target.package
                              : target.argv      ? target.label
                                                 : target.url;

        target.source = btz_arena_printf(l->arena, "%.*s:%.*s", BTZ_FMT(kind), BTZ_FMT(name));
    }
    if (rc == BTZ_OK) {
        rc = read_env(l, &f, l->env, l->env_count, &env, &env_count);
    }
    if (rc == BTZ_OK) {
        rc = check_twice(l, &f, &target);
    }
    if (rc == BTZ_OK && l->count == BTZ_SIEVE_TARGETS_MAX) {
        rc =
            btz_err_set(l->err, BTZ_ELIMIT, "a list has at most %d servers", BTZ_SIEVE_TARGETS_MAX);
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    target.env = env;
    l->targets = btz_arena_grow(l->arena, l->targets, l->count, &l->cap, sizeof(*l->targets));
    l->targets[l->count++] = target;
    return BTZ_OK;
}

static int load_lines(struct loading *l)
{
    struct btz_sieve_reader *reader = NULL;
    struct btz_sieve_line line;
    int rc = btz_sieve_reader_open(l->file, &reader, l->err);

    if (rc != BTZ_OK) {
        return rc;
    }
    while ((rc = btz_sieve_reader_next(reader, l->arena, &line, l->err)) == BTZ_OK) {
        struct fields f = {line.value, "", l->err};

        if (btz_json_count(line.value) == 1 && btz_json_getz(line.value, "env")) {
            rc = read_env(l, &f, NULL, 0, &l->env, &l->env_count);
        } else {
            rc = read_target(l, line.value);
        }
        if (rc != BTZ_OK) {
            btz_err_at(l->err, l->file, line.number, 0);
            break;
        }
    }
    btz_sieve_reader_free(reader);
    return rc == BTZ_EAGAIN ? BTZ_OK : rc;
}

static int load_config(struct loading *l)
{
    static const char *const names[] = {"env", "servers", NULL};
    struct btz_config *config = NULL;
    const struct btz_json *list = NULL;
    struct fields f = {NULL, "", l->err};
    int rc = btz_config_load(l->arena, l->file, NULL, &config, l->err);

    if (rc != BTZ_OK) {
        return rc;
    }
    f.object = btz_config_root(config);
    rc = btz_sieve_fields_known(&f, names);
    if (rc == BTZ_OK) {
        rc = btz_sieve_field_array(&f, "servers", BTZ_SIEVE_TARGETS_MAX, &list);
    }
    if (rc == BTZ_OK) {
        rc = read_env(l, &f, NULL, 0, &l->env, &l->env_count);
    }
    if (rc != BTZ_OK) {
        btz_err_at(l->err, l->file, 1, 0);
    }
    for (size_t i = 0; rc == BTZ_OK && i < btz_json_count(list); i++) {
        rc = read_target(l, btz_json_at(list, i));
        if (rc != BTZ_OK) {
            btz_err_at(l->err, l->file, btz_config_line(config, btz_json_at(list, i)), 0);
        }
    }
    return rc;
}

int btz_sieve_targets_load(struct btz_arena *arena, const char *file, struct btz_sieve_target **out,
                           size_t *count, struct btz_err *err)
{
    struct loading l = {.arena = arena, .file = file, .err = err};
    int rc = btz_str_ends(btz_str_of(file), BTZ_STR(".jsonl")) ? load_lines(&l) : load_config(&l);

    if (rc == BTZ_OK && l.count == 0) {
        rc = btz_err_set(err, BTZ_EINVAL, "the list names no server");
        btz_err_at(err, file, 0, 0);
    }
    if (rc == BTZ_OK) {
        *out = l.targets;
        *count = l.count;
    }
    return rc;
}
