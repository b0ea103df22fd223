/* Canonicalisation of one definition by any arm, the span map, and lists whose names have to stay
 * different. */
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "guard/canon_int.h"

enum { TEXTS_DEPTH_MAX = 128, SUFFIX_DIGITS = 8, ROUNDS_MAX = 8 };

static const struct {
    const char *name;
    bool asks, control;
} arms[BTZ_CANON_ARMS] = {
    [BTZ_CANON_NONE] = {"none", false, false},
    [BTZ_CANON_RULES_STRIP] = {"rules-strip", false, false},
    [BTZ_CANON_SCHEMA_ONLY] = {"schema-only", false, false},
    [BTZ_CANON_MODEL_REWRITE] = {"model-rewrite", true, false},
    [BTZ_CANON_CANON] = {"canon", false, false},
    [BTZ_CANON_CANON_REWRITE] = {"canon+rewrite", true, false},
    [BTZ_CANON_FIRST_SENTENCE] = {"first-sentence", false, true},
    [BTZ_CANON_FIRST_120] = {"first-120-chars", false, true},
    [BTZ_CANON_NFKC_ONLY] = {"nfkc-only", false, true},
    [BTZ_CANON_EIGHT_PHRASE] = {"eight-phrase", false, true},
    [BTZ_CANON_RANDOM_DELETE] = {"random-delete", false, true},
    [BTZ_CANON_RANDOM_DELETE_BYTES] = {"random-delete-bytes", false, true},
};

const char *btz_canon_arm_name(enum btz_canon_arm arm)
{
    return arms[arm].name;
}

int btz_canon_arm_named(struct btz_str name, enum btz_canon_arm *out)
{
    for (unsigned i = 0; i < BTZ_CANON_ARMS; i++) {
        if (btz_str_is(name, arms[i].name)) {
            *out = (enum btz_canon_arm)i;
            return BTZ_OK;
        }
    }
    return BTZ_ENOTFOUND;
}

bool btz_canon_arm_asks(enum btz_canon_arm arm)
{
    return arms[arm].asks;
}

bool btz_canon_arm_is_control(enum btz_canon_arm arm)
{
    return arms[arm].control;
}

/* Goes up with every change of what any arm makes of a definition. */
static const char rules_version[] = "canon rules 8";

struct btz_hash btz_canon_hash(void)
{
    struct btz_hasher *hasher = btz_hasher_new();
    struct btz_hash hash;

    btz_hasher_add_part(hasher, btz_str_of(rules_version));
    canon_words_hash(hasher);
    canon_phrases_hash(hasher);
    canon_facts_hash(hasher);
    canon_shapes_hash(hasher);
    hash = btz_hasher_end(hasher);
    btz_hasher_free(hasher);
    return hash;
}

/* ---- the field under way ---- */

static void put_path(struct work *w, char c)
{
    w->path = btz_arena_grow(w->arena, w->path, w->path_len, &w->path_cap, 1);
    w->path[w->path_len++] = c;
}

size_t canon_enter(struct work *w, struct btz_str key)
{
    size_t mark = w->path_len;

    if (w->options->want_spans) {
        put_path(w, '/');
        for (size_t i = 0; i < key.len; i++) {
            char c = key.ptr[i];

            put_path(w, c == '~' || c == '/' ? '~' : c);
            if (c == '~' || c == '/') {
                put_path(w, c == '~' ? '0' : '1');
            }
        }
    }
    return mark;
}

size_t canon_enter_at(struct work *w, size_t index)
{
    char digits[24];

    if (!w->options->want_spans) {
        return 0;
    }
    (void)snprintf(digits, sizeof(digits), "%zu", index);
    return canon_enter(w, btz_str_of(digits));
}

void canon_leave(struct work *w, size_t mark)
{
    w->path_len = mark;
}

void canon_span(struct work *w, size_t begin, size_t end, enum btz_canon_action action,
                const char *rule, struct btz_str text)
{
    struct btz_canon_span *s;

    if (w->quiet) {
        return;
    }
    if (action != BTZ_CANON_KEPT && end - begin > text.len) {
        w->removed += end - begin - text.len;
    }
    if (!w->options->want_spans || begin == end) {
        return;
    }
    w->spans = btz_arena_grow(w->arena, w->spans, w->span_count, &w->span_cap, sizeof(*w->spans));
    s = &w->spans[w->span_count++];
    *s = (struct btz_canon_span){
        .field = btz_arena_dup(w->arena, (struct btz_str){w->path, w->path_len}),
        .begin = begin,
        .end = end,
        .action = action,
        .rule = rule,
        .text = btz_arena_dup(w->arena, text)};
}

void canon_key_span(struct work *w, struct btz_str key, enum btz_canon_action action,
                    const char *rule, struct btz_str now)
{
    if (w->options->want_spans) {
        put_path(w, '#');
    }
    canon_span(w, 0, key.len, action, rule, now);
    w->path_len -= w->options->want_spans ? 1 : 0;
}

bool canon_holds_names(struct btz_str key)
{
    return btz_str_is(key, "properties") || btz_str_is(key, "$defs") ||
           btz_str_is(key, "definitions") || btz_str_is(key, "patternProperties");
}

/* `names`: the keys of the object are the author's own words. */
static void note_texts(struct work *w, const struct btz_json *value, enum btz_canon_action action,
                       const char *rule, bool names, unsigned depth)
{
    struct btz_str text = btz_json_str(value);

    if (btz_json_is(value, BTZ_JSON_STRING)) {
        canon_span(w, 0, text.len, action, rule, action == BTZ_CANON_KEPT ? text : BTZ_STR_NONE);
        return;
    }
    if (depth > TEXTS_DEPTH_MAX) {
        w->too_deep = true;
        return;
    }
    for (size_t i = 0; i < btz_json_count(value); i++) {
        bool object = btz_json_is(value, BTZ_JSON_OBJECT);
        struct btz_str key = object ? btz_json_key_at(value, i) : BTZ_STR_NONE;
        size_t mark = object ? canon_enter(w, key) : canon_enter_at(w, i);

        if (object && names) {
            canon_key_span(w, key, action, rule, action == BTZ_CANON_KEPT ? key : BTZ_STR_NONE);
        }
        note_texts(w, object ? btz_json_value_at(value, i) : btz_json_at(value, i), action, rule,
                   action == BTZ_CANON_REMOVED || (object && canon_holds_names(key)), depth + 1);
        canon_leave(w, mark);
    }
}

void canon_drop(struct work *w, const struct btz_json *value, const char *rule)
{
    note_texts(w, value, BTZ_CANON_REMOVED, rule, true, 0);
}

void canon_keep(struct work *w, const struct btz_json *value, const char *rule)
{
    if (w->options->want_spans) {
        note_texts(w, value, BTZ_CANON_KEPT, rule, false, 0);
    }
}

/* ---- one definition ---- */

bool canon_may_read(struct work *w, size_t bytes)
{
    w->too_long = w->too_long || bytes > w->text_left;
    w->text_left -= w->too_long ? 0 : bytes;
    return !w->too_long;
}

static const struct btz_json *map_of(struct btz_arena *arena, const struct rename *list)
{
    struct btz_json *map = list ? btz_json_new_object(arena) : NULL;

    for (; list; list = list->next) {
        btz_json_set(arena, map, list->now, btz_json_new_str(arena, list->given));
    }
    return map;
}

static const struct btz_json *by_arm(struct work *w, size_t bytes)
{
    switch (w->arm) {
    case BTZ_CANON_NONE:
        canon_keep(w, w->tool, "as-it-is");
        return w->tool;
    case BTZ_CANON_SCHEMA_ONLY:
        return canon_schema_only(w);
    case BTZ_CANON_CANON:
        return canon_extract(w);
    default:
        return canon_edit(w, bytes);
    }
}

static int check(const struct btz_json *tool, struct btz_err *err)
{
    if (!btz_json_is(tool, BTZ_JSON_OBJECT) ||
        !btz_json_is(btz_json_getz(tool, "name"), BTZ_JSON_STRING) ||
        btz_json_str(btz_json_getz(tool, "name")).len == 0) {
        return btz_err_set(err, BTZ_EINVAL,
                           "a tool definition is an object with a \"name\" that is text");
    }
    return BTZ_OK;
}

static void start(struct work *w, enum btz_canon_arm arm, const struct btz_json *tool,
                  const struct btz_canon_options *options, const struct siblings *siblings,
                  struct btz_arena *arena, struct btz_canon_result *out)
{
    memset(w, 0, offsetof(struct work, own));
    w->own.count = 0;
    memset(w->own.bloom, 0, sizeof(w->own.bloom));
    w->arm = arm;
    w->arena = arena;
    w->options = options;
    w->tool = tool;
    w->out = out;
    w->names.head = "param";
    w->values.head = "value";
    w->definitions.head = "definition";
    w->prose_left = CANON_PROSE_MAX;
    w->facts_left = CANON_FACTS_ALL;
    w->text_left = CANON_BYTES_MAX;
    w->judge = (struct judge){
        &w->own,       siblings, NULL, out->given_name, !btz_str_eq(out->given_name, out->name),
        EFFECT_UNKNOWN};
}

int canon_run(enum btz_canon_arm arm, const struct btz_json *tool,
              const struct btz_canon_options *options, const struct siblings *siblings,
              struct btz_arena *arena, struct btz_canon_result *out, struct btz_err *err)
{
    struct work w;
    size_t bytes = 0;

    if (arm == BTZ_CANON_RANDOM_DELETE || arm == BTZ_CANON_RANDOM_DELETE_BYTES) {
        const struct btz_canon_options plain = {0};

        start(&w, BTZ_CANON_CANON, tool, &plain, siblings, arena, out);
        (void)by_arm(&w, 0);
        bytes = w.removed;
    }
    start(&w, arm, tool, options, siblings, arena, out);
    out->definition = by_arm(&w, bytes);
    if (w.too_deep) {
        return btz_err_set(err, BTZ_ELIMIT, "the schema of tool %.*s is nested over %d deep",
                           BTZ_FMT(btz_str_sub(out->given_name, 0, 64)), CANON_DEPTH_MAX);
    }
    if (w.too_long) {
        return btz_err_set(err, BTZ_ELIMIT, "tool %.*s has over %d bytes of text",
                           BTZ_FMT(btz_str_sub(out->given_name, 0, 64)), CANON_BYTES_MAX);
    }
    out->names = map_of(arena, w.names.first);
    out->values = map_of(arena, w.values.first);
    out->span_count = w.span_count;
    out->spans = w.spans;
    out->removed_bytes = w.removed;
    out->changed = w.removed > 0 || w.names.first || w.values.first || w.definitions.first ||
                   !btz_str_eq(out->given_name, out->name);
    out->lookups = canon_rename_steps(&w);
    return BTZ_OK;
}

/* "tool_" and a hash of the name, where the name itself may not be shown. */
struct btz_str canon_tool_name(enum btz_canon_arm arm, struct btz_str given,
                               struct btz_arena *arena)
{
    struct btz_hash hash;
    char hex[65];
    size_t hexed = 0;

    if (arm != BTZ_CANON_CANON || canon_name_is_plain(given, CANON_TOOL_NAME_MAX)) {
        return given;
    }
    /* A name that got a suffix in a list is plain without it. */
    while (hexed < SUFFIX_DIGITS && hexed < given.len &&
           btz_hex_value(given.ptr[given.len - 1 - hexed]) >= 0) {
        hexed++;
    }
    if (hexed == SUFFIX_DIGITS && given.len > hexed + 1 && given.len <= CANON_TOOL_NAME_MAX &&
        given.ptr[given.len - 1 - hexed] == '_' &&
        canon_name_is_plain((struct btz_str){given.ptr, given.len - 1 - hexed},
                            CANON_TOOL_NAME_MAX)) {
        return given;
    }
    hash = btz_hash_of(given);
    return btz_arena_printf(arena, "tool_%.*s", SUFFIX_DIGITS, btz_hash_hex(&hash, hex));
}

static int refuse_asking(enum btz_canon_arm arm, struct btz_err *err)
{
    return arms[arm].asks ? btz_err_set(err, BTZ_EUSAGE, "the arm %s asks a model", arms[arm].name)
                          : BTZ_OK;
}

int btz_canon_tool(enum btz_canon_arm arm, const struct btz_json *tool,
                   const struct btz_canon_options *options, struct btz_arena *arena,
                   struct btz_canon_result *out, struct btz_err *err)
{
    const struct btz_canon_options standard = {0};
    struct btz_canon_result result = {0};
    int rc = refuse_asking(arm, err);

    canon_words_ready();
    canon_facts_ready();
    rc = rc ? rc : check(tool, err);
    if (rc) {
        return rc;
    }
    result.given_name = btz_json_str(btz_json_getz(tool, "name"));
    result.name = canon_tool_name(arm, result.given_name, arena);
    rc = canon_run(arm, tool, options ? options : &standard, NULL, arena, &result, err);
    if (rc == BTZ_OK) {
        *out = result;
    }
    return rc;
}

/* ---- lists ---- */

const struct btz_canon_result *canon_sibling(const struct siblings *siblings, struct btz_str name)
{
    if (!siblings) {
        return NULL;
    }
    for (size_t i = canon_word_hash(name.ptr, name.len) & siblings->mask; siblings->slots[i];
         i = (i + 1) & siblings->mask) {
        const struct btz_canon_result *tool = &siblings->tools[siblings->slots[i] - 1];

        if (btz_str_eq(tool->given_name, name)) {
            return tool;
        }
    }
    return NULL;
}

static void fill_siblings(struct siblings *s, const struct btz_canon_result *tools, size_t count,
                          struct btz_arena *arena)
{
    size_t size = 16;

    while (size < 2 * count) {
        size *= 2;
    }
    *s = (struct siblings){tools, btz_arena_array(arena, size, sizeof(*s->slots)), size - 1};
    for (size_t k = 0; k < count; k++) {
        struct btz_str name = tools[k].given_name;
        size_t i = canon_word_hash(name.ptr, name.len) & s->mask;

        while (s->slots[i] && !btz_str_eq(tools[s->slots[i] - 1].given_name, name)) {
            i = (i + 1) & s->mask;
        }
        s->slots[i] = s->slots[i] ? s->slots[i] : (uint32_t)k + 1;
    }
}

static int by_name(const void *a, const void *b)
{
    const struct btz_canon_result *const *x = a;
    const struct btz_canon_result *const *y = b;
    int order = btz_str_cmp((*x)->name, (*y)->name);

    if (order == 0) { /* who has the name already keeps it; then the first */
        order = (int)!btz_str_eq((*x)->name, (*x)->given_name) -
                (int)!btz_str_eq((*y)->name, (*y)->given_name);
    }
    order = order ? order : btz_str_cmp((*x)->given_name, (*y)->given_name);
    return order ? order : *x < *y ? -1 : *x > *y;
}

/* The name with the hash of the name it had; `again` tells those apart that had the same one. */
static struct btz_str with_suffix(const struct btz_canon_result *r, unsigned round, size_t again,
                                  struct btz_arena *arena)
{
    struct btz_str base = canon_tool_name(BTZ_CANON_CANON, r->given_name, arena);
    size_t keep = CANON_TOOL_NAME_MAX - SUFFIX_DIGITS - 1;
    struct btz_str cut = btz_str_sub(base, 0, keep);
    struct btz_hasher *hasher = btz_hasher_new();
    struct btz_hash hash;
    char hex[65];

    btz_hasher_add_part(hasher, r->given_name);
    btz_hasher_add_part(hasher, btz_arena_printf(arena, "%u/%zu", round, again));
    hash = btz_hasher_end(hasher);
    btz_hasher_free(hasher);
    cut = canon_name_is_plain(cut, CANON_TOOL_NAME_MAX) ? cut : BTZ_STR("tool");
    return btz_arena_printf(arena, "%.*s_%.*s", BTZ_FMT(cut), SUFFIX_DIGITS,
                            btz_hash_hex(&hash, hex));
}

/* Who has the same name as the one before gets a suffix; true if there was one. */
static bool separate(struct btz_canon_result **order, size_t count, unsigned round,
                     struct btz_arena *arena)
{
    bool any = false;
    struct btz_str name = BTZ_STR_NONE;
    size_t again = 0;

    qsort(order, count, sizeof(struct btz_canon_result *), by_name);
    for (size_t i = 0; i < count; i++) {
        bool same = i && btz_str_eq(order[i]->name, name);

        again = i && btz_str_eq(order[i]->given_name, order[i - 1]->given_name) ? again + 1 : 0;
        if (!same) {
            name = order[i]->name;
            continue;
        }
        order[i]->name = with_suffix(order[i], round, again, arena);
        any = true;
    }
    return any;
}

int btz_canon_list(enum btz_canon_arm arm, const struct btz_json *tools,
                   const struct btz_canon_options *options, struct btz_arena *arena,
                   struct btz_canon_result *out, struct btz_err *err)
{
    const struct btz_canon_options standard = {0};
    size_t count = btz_json_count(tools);
    struct btz_canon_result *results = btz_arena_array(arena, count + 1, sizeof(*results));
    struct btz_canon_result **order = btz_arena_array(arena, count + 1, sizeof(*order));
    struct siblings siblings;
    int rc = refuse_asking(arm, err);

    canon_words_ready();
    canon_facts_ready();
    if (rc == BTZ_OK && !btz_json_is(tools, BTZ_JSON_ARRAY)) {
        rc = btz_err_set(err, BTZ_EINVAL, "a list of tools is an array");
    }
    for (size_t i = 0; rc == BTZ_OK && i < count; i++) {
        rc = check(btz_json_at(tools, i), err);
        if (rc) {
            btz_err_prefix(err, "tool %zu of the list: ", i + 1);
            break;
        }
        results[i].given_name = btz_json_str(btz_json_getz(btz_json_at(tools, i), "name"));
        results[i].name = canon_tool_name(arm, results[i].given_name, arena);
        order[i] = &results[i];
    }
    /* Only this arm gives names. */
    for (unsigned round = 0; rc == BTZ_OK && arm == BTZ_CANON_CANON && round < ROUNDS_MAX;
         round++) {
        if (!separate(order, count, round, arena)) {
            break;
        }
    }
    if (rc == BTZ_OK) {
        fill_siblings(&siblings, results, count, arena);
    }
    for (size_t i = 0; rc == BTZ_OK && i < count; i++) {
        rc = canon_run(arm, btz_json_at(tools, i), options ? options : &standard, &siblings, arena,
                       &results[i], err);
    }
    if (rc == BTZ_OK && count) {
        memcpy(out, results, count * sizeof(*out));
    }
    return rc;
}
