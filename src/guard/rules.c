/* Rule files: YAML -> tree -> schema -> compiled patterns. */
#include <stdlib.h>

#include "config/config.h"
#include "guard/guard_int.h"

enum {
    RULES_MAX = 1000,
    PATTERNS_MAX = 2000,
    PATTERN_BYTES_MAX = 8 * 1024 * 1024 /* of all compiled patterns together */
};

static const char *const targets[BTZ_GUARD_TARGETS] = {
    "task", "definition", "argument", "result", "resource", "prompt", "ask"};
static const char *const severities[] = {"low", "medium", "high", "critical"};

const char *btz_guard_target_name(enum btz_guard_target target)
{
    return (unsigned)target < BTZ_GUARD_TARGETS ? targets[target] : "unknown";
}

const char *btz_guard_severity_name(enum btz_guard_severity severity)
{
    return (unsigned)severity <= BTZ_GUARD_CRITICAL ? severities[severity] : "unknown";
}

struct loader {
    struct btz_guard_rules *rules;
    struct btz_config *config; /* the file that is being read */
    struct btz_arena *scratch;
    struct btz_str file;
    size_t pattern_bytes;
    struct btz_prefilter_pattern *source[VIEWS];
    size_t source_cap[VIEWS];
    struct btz_err *err;
};

static unsigned name_index(const char *const *names, unsigned count, struct btz_str name)
{
    unsigned i = 0;

    while (i < count && !btz_str_is(name, names[i])) {
        i++;
    }
    return i;
}

static struct rule *add_rule(struct btz_guard_rules *rules)
{
    rules->rules =
        btz_arena_grow(rules->arena, rules->rules, rules->count, &rules->cap, sizeof(struct rule));
    return &rules->rules[rules->count++];
}

/* `err` gets the place of `value` and the reason that compiling gave. */
static int compile(struct loader *l, const struct btz_json *value, unsigned flags,
                   struct btz_regex **out)
{
    struct btz_err why = {0};
    struct btz_regex *regex = NULL;

    if (btz_regex_new(btz_json_str(value), flags, &regex, &why)) {
        return btz_config_refuse(l->config, value, l->err, "%s", why.msg);
    }
    l->pattern_bytes += btz_regex_size(regex);
    if (l->pattern_bytes > PATTERN_BYTES_MAX) {
        btz_regex_free(regex);
        return btz_config_refuse(l->config, value, l->err,
                                 "the patterns together are too large when compiled");
    }
    *out = regex;
    return BTZ_OK;
}

static int read_patterns(struct loader *l, const struct btz_json *json, uint32_t rule)
{
    bool raw = btz_str_is(btz_json_str(btz_json_getz(json, "text")), "raw");
    enum view_kind kind = raw ? VIEW_RAW : VIEW_FOLDED;
    struct pattern_set *set = &l->rules->sets[kind];
    const struct btz_json *list = btz_json_getz(json, "patterns");
    unsigned flags = raw ? BTZ_REGEX_MULTILINE : 0;

    for (size_t i = 0; i < btz_json_count(list); i++) {
        const struct btz_json *item = btz_json_at(list, i);
        struct btz_regex *regex = NULL;
        int rc = compile(l, item, flags, &regex);

        if (rc) {
            return rc;
        }
        if (btz_regex_find(regex, BTZ_STR(""), 0, NULL, NULL) == BTZ_OK ||
            set->count >= PATTERNS_MAX) {
            btz_regex_free(regex);
            return btz_config_refuse(
                l->config, item, l->err,
                set->count >= PATTERNS_MAX
                    ? "there are too many patterns"
                    : "the pattern matches the empty text; it would match everywhere");
        }
        l->source[kind] = btz_arena_grow(l->scratch, l->source[kind], set->count,
                                         &l->source_cap[kind], sizeof(**l->source));
        l->source[kind][set->count] =
            (struct btz_prefilter_pattern){btz_arena_dup(l->scratch, btz_json_str(item)), flags};
        set->patterns = btz_arena_grow(l->rules->arena, set->patterns, set->count, &set->cap,
                                       sizeof(*set->patterns));
        set->patterns[set->count++] = (struct pattern){regex, rule};
    }
    return BTZ_OK;
}

static int read_counters(struct loader *l, const struct btz_json *list, struct rule *rule, bool raw)
{
    rule->counters =
        btz_arena_array(l->rules->arena, btz_json_count(list), sizeof(*rule->counters));
    for (size_t i = 0; i < btz_json_count(list); i++) {
        const struct btz_json *item = btz_json_at(list, i);
        struct counter *counter = &rule->counters[i];
        int64_t subtract = 0;
        int rc = compile(l, btz_json_getz(item, "pattern"), raw ? BTZ_REGEX_MULTILINE : 0,
                         &counter->regex);

        if (rc) {
            return rc;
        }
        (void)btz_json_int64(btz_json_getz(item, "subtract"), &subtract);
        counter->subtract = (unsigned)subtract;
        rule->counter_count = i + 1;
    }
    return BTZ_OK;
}

static struct btz_str *read_samples(struct loader *l, const struct btz_json *list, size_t *count)
{
    struct btz_str *out = btz_arena_array(l->rules->arena, btz_json_count(list), sizeof(*out));

    *count = btz_json_count(list);
    for (size_t i = 0; i < *count; i++) {
        out[i] = btz_arena_dup(l->rules->arena, btz_json_str(btz_json_at(list, i)));
    }
    return out;
}

static int check_names(struct loader *l, const struct btz_json *json)
{
    const struct btz_json *id = btz_json_getz(json, "id");
    const struct btz_json *mapping = btz_json_getz(json, "mapping");

    for (size_t i = 0; i < l->rules->count; i++) {
        if (btz_str_eq(l->rules->rules[i].face.id, btz_json_str(id))) {
            return btz_config_refuse(l->config, id, l->err,
                                     "there is a rule \"%.*s\" already (%.*s:%u)",
                                     BTZ_FMT(btz_json_str(id)), BTZ_FMT(l->rules->rules[i].file),
                                     l->rules->rules[i].line);
        }
    }
    for (size_t i = 0; i < DETECTORS; i++) {
        if (btz_str_is(btz_json_str(id), btz_guard_detectors[i].id)) {
            return btz_config_refuse(l->config, id, l->err, "\"%s\" is the id of a coded detector",
                                     btz_guard_detectors[i].id);
        }
    }
    if (!btz_mapping_find(btz_json_str(mapping))) {
        return btz_config_refuse(l->config, mapping, l->err,
                                 "there is no row \"%.*s\" in the table of taxonomies "
                                 "(src/base/mapping.c)",
                                 BTZ_FMT(btz_json_str(mapping)));
    }
    if (l->rules->count >= RULES_MAX) {
        return btz_config_refuse(l->config, id, l->err, "more than %d rules", RULES_MAX);
    }
    return BTZ_OK;
}

static int read_rule(struct loader *l, const struct btz_json *json)
{
    struct btz_arena *arena = l->rules->arena;
    const struct btz_json *list = btz_json_getz(json, "targets");
    bool raw = btz_str_is(btz_json_str(btz_json_getz(json, "text")), "raw");
    struct rule *rule;
    int64_t weight = 0;
    int rc = check_names(l, json);

    if (rc) {
        return rc;
    }
    (void)btz_json_int64(btz_json_getz(json, "weight"), &weight);
    rule = add_rule(l->rules);
    rule->file = l->file;
    rule->line = btz_config_line(l->config, json);
    rule->face = (struct btz_guard_rule){
        .id = btz_arena_dup(arena, btz_json_str(btz_json_getz(json, "id"))),
        .title = btz_arena_dup(arena, btz_json_str(btz_json_getz(json, "title"))),
        .signal = btz_arena_dup(arena, btz_json_str(btz_json_getz(json, "signal"))),
        .severity = name_index(severities, BTZ_GUARD_CRITICAL,
                               btz_json_str(btz_json_getz(json, "severity"))),
        .weight = (unsigned)weight,
        .mapping = btz_mapping_find(btz_json_str(btz_json_getz(json, "mapping"))),
    };
    for (size_t i = 0; i < btz_json_count(list); i++) {
        rule->face.targets |=
            1U << name_index(targets, BTZ_GUARD_TARGETS - 1, btz_json_str(btz_json_at(list, i)));
    }
    rule->positive = read_samples(l, btz_json_getz(json, "positive"), &rule->positive_count);
    rule->negative = read_samples(l, btz_json_getz(json, "negative"), &rule->negative_count);
    rc = read_counters(l, btz_json_getz(json, "counter"), rule, raw);
    return rc ? rc : read_patterns(l, json, (uint32_t)(l->rules->count - 1));
}

static int read_file(struct loader *l, const struct btz_embedded *file,
                     const struct btz_schema *schema)
{
    struct btz_arena *arena = btz_arena_new();
    const struct btz_json *list;
    int rc = btz_config_parse(arena, (struct btz_str){file->bytes, file->len}, file->name, NULL,
                              &l->config, l->err);

    l->file = btz_arena_dup(l->rules->arena, btz_str_of(file->name));
    if (rc == BTZ_OK) {
        rc = btz_config_check(l->config, schema, l->err);
    }
    if (rc == BTZ_OK) {
        list = btz_json_getz(btz_config_root(l->config), "rules");
        for (size_t i = 0; rc == BTZ_OK && i < btz_json_count(list); i++) {
            rc = read_rule(l, btz_json_at(list, i));
        }
    }
    l->config = NULL;
    btz_arena_free(arena);
    return rc;
}

static void add_detectors(struct btz_guard_rules *rules)
{
    rules->first_detector = rules->count;
    for (size_t i = 0; i < DETECTORS; i++) {
        const struct detector_about *about = &btz_guard_detectors[i];
        struct rule *rule = add_rule(rules);

        rule->file = BTZ_STR("coded");
        rule->face = (struct btz_guard_rule){
            .id = btz_str_of(about->id),
            .title = btz_str_of(about->title),
            .signal = btz_str_of(about->signal),
            .severity = about->severity,
            .weight =
                about->in_definition > about->elsewhere ? about->in_definition : about->elsewhere,
            .targets = (1U << BTZ_GUARD_TARGETS) - 1,
            .mapping = btz_mapping_find(btz_str_of(about->mapping)),
            .coded = true,
        };
    }
}

static void number_signals(struct btz_guard_rules *rules)
{
    for (size_t i = 0; i < rules->count; i++) {
        size_t j = 0;

        while (!btz_str_eq(rules->rules[j].face.signal, rules->rules[i].face.signal)) {
            j++;
        }
        rules->rules[i].signal = j < i ? rules->rules[j].signal : rules->signal_count++;
    }
}

static int compile_schema(struct btz_arena *arena, struct btz_schema **out, struct btz_err *err)
{
    const struct btz_json *json = NULL;
    int rc = btz_json_parse(arena,
                            (struct btz_str){btz_guard_schemas[0].bytes, btz_guard_schemas[0].len},
                            NULL, &json, err);

    return rc ? rc : btz_schema_compile(json, NULL, out, err);
}

static void hash_files(struct btz_guard_rules *rules, const struct btz_embedded *files,
                       size_t count)
{
    struct btz_hasher *hasher = btz_hasher_new();

    for (size_t i = 0; i < count; i++) {
        btz_hasher_add_part(hasher, btz_str_of(files[i].name));
        btz_hasher_add_part(hasher, (struct btz_str){files[i].bytes, files[i].len});
    }
    rules->hash = btz_hasher_end(hasher);
    btz_hasher_free(hasher);
}

/* Everything but the prefilters. Also on failure `l` is to be ended with loader_fini. */
static int read_files(struct loader *l, const struct btz_embedded *files, size_t count)
{
    struct btz_schema *schema = NULL;
    int rc;

    l->scratch = btz_arena_new();
    l->rules = calloc(1, sizeof(*l->rules));
    if (!l->rules) {
        btz_panic("out of memory (rules)");
    }
    l->rules->arena = btz_arena_new();
    rc = compile_schema(l->scratch, &schema, l->err);
    for (size_t i = 0; rc == BTZ_OK && i < count; i++) {
        rc = read_file(l, &files[i], schema);
    }
    if (rc == BTZ_OK) {
        add_detectors(l->rules);
        number_signals(l->rules);
        hash_files(l->rules, files, count);
    }
    btz_schema_free(schema);
    return rc;
}

static void loader_fini(struct loader *l)
{
    btz_guard_rules_free(l->rules);
    btz_arena_free(l->scratch);
}

/* The one that was made when the program was built, if it is of these patterns; else it is made. */
static int make_prefilter(const struct btz_prefilter_pattern *patterns, size_t count,
                          struct btz_prefilter **out, struct btz_err *err)
{
    for (size_t i = 0; i < btz_guard_prefilters_count; i++) {
        struct btz_str saved = {btz_guard_prefilters[i].bytes, btz_guard_prefilters[i].len};

        if (btz_prefilter_load(patterns, count, saved, out, NULL) == BTZ_OK) {
            return BTZ_OK;
        }
    }
    return btz_prefilter_new(patterns, count, out, err);
}

int btz_guard_rules_parse(const struct btz_embedded *files, size_t count,
                          struct btz_guard_rules **out, struct btz_err *err)
{
    struct loader l = {.err = err};
    int rc = read_files(&l, files, count);

    for (unsigned v = 0; rc == BTZ_OK && v < VIEWS; v++) {
        rc = make_prefilter(l.source[v], l.rules->sets[v].count, &l.rules->sets[v].prefilter, err);
    }
    if (rc == BTZ_OK) {
        *out = l.rules;
        l.rules = NULL;
    }
    loader_fini(&l);
    return rc;
}

int btz_guard_prefilter_save(const struct btz_embedded *files, size_t count, enum view_kind view,
                             struct btz_buf *out, struct btz_err *err)
{
    struct loader l = {.err = err};
    int rc = read_files(&l, files, count);

    if (rc == BTZ_OK) {
        rc = btz_prefilter_save(l.source[view], l.rules->sets[view].count, out, err);
    }
    loader_fini(&l);
    return rc;
}

void btz_guard_rules_free(struct btz_guard_rules *rules)
{
    if (!rules) {
        return;
    }
    for (unsigned v = 0; v < VIEWS; v++) {
        for (size_t i = 0; i < rules->sets[v].count; i++) {
            btz_regex_free(rules->sets[v].patterns[i].regex);
        }
        btz_prefilter_free(rules->sets[v].prefilter);
    }
    for (size_t i = 0; i < rules->count; i++) {
        for (size_t c = 0; c < rules->rules[i].counter_count; c++) {
            btz_regex_free(rules->rules[i].counters[c].regex);
        }
    }
    btz_arena_free(rules->arena);
    free(rules);
}

struct btz_hash btz_guard_rules_hash(const struct btz_guard_rules *rules)
{
    return rules->hash;
}

const struct btz_guard_rule *btz_guard_rule_at(const struct btz_guard_rules *rules, size_t index)
{
    return index < rules->count ? &rules->rules[index].face : NULL;
}
