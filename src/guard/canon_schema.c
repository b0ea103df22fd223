/* JSON Schemas in canonical form: the structure stays as it is, keyword by keyword of a list; names
 * and values that are no plain ones get numbers; of prose one line a parameter stays. */
#include <stdio.h>

#include "guard/canon_int.h"

enum { VALUE_DEPTH_MAX = 8 };

static const struct {
    const char *name;
    uint8_t len;
    uint8_t what;
} keywords[] = {
#define KEYWORD(text, what)                                                                        \
    {                                                                                              \
        text, sizeof(text) - 1, what                                                               \
    }
    KEYWORD("type", KEY_TYPE),
    KEYWORD("description", KEY_DESCRIPTION),
    KEYWORD("properties", KEY_PROPERTIES),
    KEYWORD("required", KEY_REQUIRED),
    KEYWORD("items", KEY_ITEMS),
    KEYWORD("enum", KEY_ENUM),
    KEYWORD("default", KEY_DEFAULT),
    KEYWORD("additionalProperties", KEY_SCHEMA),
    KEYWORD("$schema", KEY_DIALECT),
    KEYWORD("minimum", KEY_NUMBER),
    KEYWORD("maximum", KEY_NUMBER),
    KEYWORD("exclusiveMinimum", KEY_NUMBER),
    KEYWORD("exclusiveMaximum", KEY_NUMBER),
    KEYWORD("multipleOf", KEY_NUMBER),
    KEYWORD("minLength", KEY_NUMBER),
    KEYWORD("maxLength", KEY_NUMBER),
    KEYWORD("minItems", KEY_NUMBER),
    KEYWORD("maxItems", KEY_NUMBER),
    KEYWORD("minContains", KEY_NUMBER),
    KEYWORD("maxContains", KEY_NUMBER),
    KEYWORD("minProperties", KEY_NUMBER),
    KEYWORD("maxProperties", KEY_NUMBER),
    KEYWORD("format", KEY_WORD),
    KEYWORD("contentEncoding", KEY_WORD),
    KEYWORD("contentMediaType", KEY_WORD),
    KEYWORD("pattern", KEY_PATTERN),
    KEYWORD("const", KEY_CONST),
    KEYWORD("anyOf", KEY_SCHEMAS),
    KEYWORD("oneOf", KEY_SCHEMAS),
    KEYWORD("allOf", KEY_SCHEMAS),
    KEYWORD("prefixItems", KEY_SCHEMAS),
    KEYWORD("not", KEY_SCHEMA),
    KEYWORD("if", KEY_SCHEMA),
    KEYWORD("then", KEY_SCHEMA),
    KEYWORD("else", KEY_SCHEMA),
    KEYWORD("contains", KEY_SCHEMA),
    KEYWORD("propertyNames", KEY_SCHEMA),
    KEYWORD("unevaluatedProperties", KEY_SCHEMA),
    KEYWORD("unevaluatedItems", KEY_SCHEMA),
    KEYWORD("additionalItems", KEY_SCHEMA),
    KEYWORD("$ref", KEY_REFERENCE),
    KEYWORD("$dynamicRef", KEY_REFERENCE),
    KEYWORD("$defs", KEY_DEFINITIONS),
    KEYWORD("definitions", KEY_DEFINITIONS),
    KEYWORD("patternProperties", KEY_PATTERNS),
    KEYWORD("dependentSchemas", KEY_DEPENDENT),
    KEYWORD("dependentRequired", KEY_DEPENDENT),
    KEYWORD("dependencies", KEY_DEPENDENT),
    KEYWORD("uniqueItems", KEY_SWITCH),
    KEYWORD("nullable", KEY_SWITCH),
    KEYWORD("deprecated", KEY_SWITCH),
    KEYWORD("readOnly", KEY_SWITCH),
    KEYWORD("writeOnly", KEY_SWITCH),
#undef KEYWORD
};

int canon_keyword(struct btz_str key)
{
    for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
        if (keywords[i].len == key.len && memcmp(keywords[i].name, key.ptr, key.len) == 0) {
            return keywords[i].what;
        }
    }
    return -1;
}

static bool is_verbatim(const struct work *w)
{
    return w->arm == BTZ_CANON_SCHEMA_ONLY;
}

/* ---- names ---- */

struct btz_str canon_property(struct work *w, struct btz_str given)
{
    char clean[CANON_NAME_MAX];
    struct btz_str wish = BTZ_STR_NONE;
    size_t len = 0;

    if (is_verbatim(w) || canon_name_is_plain(given, CANON_NAME_MAX)) {
        return given;
    }
    for (size_t i = 0; i < given.len && given.len <= CANON_NAME_MAX; i++) {
        char c = given.ptr[i];

        if (strchr("@/\\:~", c) || (unsigned char)c >= 0x80) {
            len = 0; /* an address, a path, another script: not even its letters */
            break;
        }
        bool good;

        good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-';
        if (good || (len && clean[len - 1] != '_')) {
            clean[len++] = (char)(good ? c : '_');
        }
    }
    len -= len && clean[len - 1] == '_' ? 1 : 0;
    if (len && canon_name_is_plain((struct btz_str){clean, len}, CANON_NAME_MAX)) {
        wish = btz_arena_dup(w->arena, (struct btz_str){clean, len});
    }
    return canon_renamed(w, &w->names, given, wish);
}

struct btz_str canon_definition_name(struct work *w, struct btz_str given)
{
    return is_verbatim(w) || canon_name_is_plain(given, CANON_NAME_MAX)
               ? given
               : canon_renamed(w, &w->definitions, given, BTZ_STR_NONE);
}

static void span_of(struct work *w, struct btz_str given, struct btz_str now, const char *kept,
                    const char *changed)
{
    bool same = given.ptr == now.ptr || btz_str_eq(given, now);

    canon_span(w, 0, given.len, same ? BTZ_CANON_KEPT : BTZ_CANON_CHANGED, same ? kept : changed,
               now);
}

/* ---- values ---- */

static bool value_stays(const struct work *w, const struct btz_json *value, bool inner,
                        unsigned depth)
{
    bool object = btz_json_is(value, BTZ_JSON_OBJECT);

    if (is_verbatim(w)) {
        return true;
    }
    switch (btz_json_kind(value)) {
    case BTZ_JSON_STRING:
        return !inner || canon_value_is_plain(btz_json_str(value));
    case BTZ_JSON_NUMBER:
        return canon_number_is_plain(btz_json_number_text(value));
    case BTZ_JSON_OBJECT:
    case BTZ_JSON_ARRAY:
        for (size_t i = 0; i < btz_json_count(value); i++) {
            if (depth >= VALUE_DEPTH_MAX ||
                (object && !canon_name_is_plain(btz_json_key_at(value, i), CANON_NAME_MAX)) ||
                !value_stays(w, object ? btz_json_value_at(value, i) : btz_json_at(value, i), true,
                             depth + 1)) {
                return false;
            }
        }
        return true;
    default:
        return true;
    }
}

/* A value that stays; texts may get another name. */
static const struct btz_json *one_value(struct work *w, const struct btz_json *value)
{
    struct btz_str given = btz_json_str(value);
    struct btz_str now = given;

    if (!value_stays(w, value, false, 0)) {
        canon_drop(w, value, "value-not-plain");
        return NULL;
    }
    if (!btz_json_is(value, BTZ_JSON_STRING)) {
        canon_keep(w, value, "value");
        return value;
    }
    if (w->naming) {
        now = canon_property(w, given);
    } else if (!is_verbatim(w) && !canon_value_is_plain(given)) {
        now = canon_renamed(w, &w->values, given, BTZ_STR_NONE);
    }
    span_of(w, given, now, "value", "value-not-plain");
    return now.ptr == given.ptr ? value : btz_json_new_str(w->arena, now);
}

/* One value that may not stay takes the list with it: without it a valid call would be refused. */
static const struct btz_json *values_of(struct work *w, const struct btz_json *list)
{
    struct btz_json *out = btz_json_new_array(w->arena);

    for (size_t i = 0; i < btz_json_count(list); i++) {
        if (!value_stays(w, btz_json_at(list, i), false, 0)) {
            canon_drop(w, list, "value-not-plain");
            return NULL;
        }
    }
    for (size_t i = 0; i < btz_json_count(list); i++) {
        size_t mark = canon_enter_at(w, i);
        const struct btz_json *value = one_value(w, btz_json_at(list, i));

        canon_leave(w, mark);
        btz_json_push(w->arena, out, value);
    }
    return btz_json_count(out) ? out : NULL;
}

/* Whether a text that the schema allows gets another name: its form may not fit that one. */
static bool renames_values(const struct work *w, const struct btz_json *schema)
{
    const struct btz_json *list = btz_json_getz(schema, "enum");
    const struct btz_json *one = btz_json_getz(schema, "const");

    if (is_verbatim(w)) {
        return false;
    }
    if (btz_json_is(one, BTZ_JSON_STRING) && !canon_value_is_plain(btz_json_str(one))) {
        return true;
    }
    for (size_t i = 0; i < btz_json_count(list); i++) {
        const struct btz_json *item = btz_json_at(list, i);

        if (btz_json_is(item, BTZ_JSON_STRING) && !canon_value_is_plain(btz_json_str(item))) {
            return true;
        }
    }
    return false;
}

static bool renames_names(struct work *w, const struct btz_json *schema)
{
    const struct btz_json *map = btz_json_getz(schema, "properties");

    for (size_t i = 0; btz_json_is(map, BTZ_JSON_OBJECT) && i < btz_json_count(map); i++) {
        struct btz_str given = btz_json_key_at(map, i);

        if (!btz_str_eq(canon_property(w, given), given)) {
            return true;
        }
    }
    return false;
}

/* Keywords that a name given here may not fit. */
static bool is_form(struct btz_str key)
{
    return btz_str_is(key, "pattern") || btz_str_is(key, "format") ||
           btz_str_is(key, "minLength") || btz_str_is(key, "maxLength") ||
           btz_str_is(key, "contentEncoding") || btz_str_is(key, "contentMediaType");
}

static bool is_listed(const struct btz_json *schema, const struct btz_json *value)
{
    const struct btz_json *list = btz_json_getz(schema, "enum");

    for (size_t i = 0; i < btz_json_count(list); i++) {
        const struct btz_json *item = btz_json_at(list, i);

        if (btz_json_is(item, BTZ_JSON_STRING) &&
            btz_str_eq(btz_json_str(item), btz_json_str(value))) {
            return true;
        }
    }
    return false;
}

static const struct btz_json *default_of(struct work *w, const struct btz_json *schema,
                                         const struct btz_json *value)
{
    if (is_verbatim(w)) {
        canon_keep(w, value, "default");
        return value;
    }
    if (btz_json_is(value, BTZ_JSON_STRING)) {
        if (is_listed(schema, value)) {
            return one_value(w, value);
        }
        if (canon_default_is_plain(btz_json_str(value))) {
            canon_span(w, 0, btz_json_str(value).len, BTZ_CANON_KEPT, "default",
                       btz_json_str(value));
            return value;
        }
        canon_drop(w, value, "default-free-text");
        return NULL;
    }
    if (btz_json_is(value, BTZ_JSON_ARRAY)) {
        for (size_t i = 0; i < btz_json_count(value); i++) {
            const struct btz_json *item = btz_json_at(value, i);

            if (btz_json_is(item, BTZ_JSON_OBJECT) || btz_json_is(item, BTZ_JSON_ARRAY) ||
                (btz_json_is(item, BTZ_JSON_NUMBER) &&
                 !canon_number_is_plain(btz_json_number_text(item))) ||
                (btz_json_is(item, BTZ_JSON_STRING) &&
                 !canon_default_is_plain(btz_json_str(item)))) {
                canon_drop(w, value, "default-free-text");
                return NULL;
            }
        }
        canon_keep(w, value, "default");
        return value;
    }
    if (btz_json_is(value, BTZ_JSON_OBJECT) && btz_json_count(value)) {
        canon_drop(w, value, "default-free-text");
        return NULL;
    }
    return one_value(w, value);
}

/* ---- keywords with texts ---- */

static const struct btz_json *word_of(struct work *w, struct btz_str key,
                                      const struct btz_json *value)
{
    struct btz_str text = btz_json_str(value);

    if (is_verbatim(w) ||
        (btz_json_is(value, BTZ_JSON_STRING) && canon_format_is_known(key, text))) {
        canon_span(w, 0, text.len, BTZ_CANON_KEPT, "format", text);
        return value;
    }
    canon_drop(w, value, "format-unknown");
    return NULL;
}

static const struct btz_json *type_of(struct work *w, const struct btz_json *value)
{
    static const char types[] = " string number integer boolean array object null ";
    size_t count = btz_json_is(value, BTZ_JSON_ARRAY) ? btz_json_count(value) : 1;

    for (size_t i = 0; i < count; i++) {
        struct btz_str text =
            btz_json_str(btz_json_is(value, BTZ_JSON_ARRAY) ? btz_json_at(value, i) : value);
        char padded[16];
        int len = snprintf(padded, sizeof(padded), " %.*s ", (int)(text.len < 9 ? text.len : 9),
                           text.len ? text.ptr : "?");

        if (len <= 0 || text.len > 9 || !strstr(types, padded)) {
            canon_drop(w, value, "type-unknown");
            return NULL;
        }
    }
    for (size_t i = 0; i < count; i++) {
        bool list = btz_json_is(value, BTZ_JSON_ARRAY);
        size_t mark = list ? canon_enter_at(w, i) : 0;
        struct btz_str text = btz_json_str(list ? btz_json_at(value, i) : value);

        canon_span(w, 0, text.len, BTZ_CANON_KEPT, "type", text);
        if (list) {
            canon_leave(w, mark);
        }
    }
    return value;
}

static const struct btz_json *pattern_of(struct work *w, const struct btz_json *value)
{
    struct btz_str text = btz_json_str(value);

    if (btz_json_is(value, BTZ_JSON_STRING) && (is_verbatim(w) || canon_pattern_is_plain(text))) {
        canon_span(w, 0, text.len, BTZ_CANON_KEPT, "pattern", text);
        return value;
    }
    canon_drop(w, value, "pattern-not-plain");
    return NULL;
}

static const struct btz_json *dialect_of(struct work *w, const struct btz_json *value)
{
    static const char *const known[] = {"http://json-schema.org/draft-07/schema#",
                                        "http://json-schema.org/draft-07/schema",
                                        "https://json-schema.org/draft/2020-12/schema",
                                        "https://json-schema.org/draft/2019-09/schema",
                                        "http://json-schema.org/draft-04/schema#",
                                        "http://json-schema.org/draft-06/schema#"};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (btz_str_is(btz_json_str(value), known[i])) {
            canon_span(w, 0, strlen(known[i]), BTZ_CANON_KEPT, "dialect", btz_json_str(value));
            return value;
        }
    }
    canon_drop(w, value, "dialect-unknown");
    return NULL;
}

/* A reference within the schema, its names as they are now. */
static const struct btz_json *reference_of(struct work *w, const struct btz_json *value)
{
    struct btz_str given = btz_json_str(value);
    struct btz_str now = canon_reference(w, given, false);

    if (now.len == 0) {
        canon_drop(w, value, "reference-foreign");
        return NULL;
    }
    now = is_verbatim(w) ? given : now;
    span_of(w, given, now, "reference", "reference-renamed");
    return btz_str_eq(now, given) ? value : btz_json_new_str(w->arena, now);
}

/* Names of properties; one that no property has says nothing about a call. */
static const struct btz_json *names_of(struct work *w, const struct btz_json *schema,
                                       const struct btz_json *list)
{
    struct btz_json *out = btz_json_new_array(w->arena);

    for (size_t i = 0; i < btz_json_count(list); i++) {
        const struct btz_json *item = btz_json_at(list, i);
        size_t mark = canon_enter_at(w, i);

        if (!btz_json_is(item, BTZ_JSON_STRING)) {
            canon_drop(w, item, "name-no-text");
        } else if (!is_verbatim(w) && !canon_is_property(w, schema, btz_json_str(item))) {
            canon_drop(w, item, "name-of-nothing");
        } else {
            struct btz_str given = btz_json_str(item);
            struct btz_str now = canon_property(w, given);

            span_of(w, given, now, "name", "name-not-plain");
            btz_json_push(w->arena, out,
                          now.ptr == given.ptr ? item : btz_json_new_str(w->arena, now));
        }
        canon_leave(w, mark);
    }
    return out;
}

/* ---- prose ---- */

static void add_meaning(struct work *w, struct btz_json *out, const struct btz_json *value)
{
    struct btz_str meaning;

    if (!btz_json_is(value, BTZ_JSON_STRING)) {
        canon_drop(w, value, "no-text");
        return;
    }
    meaning = canon_meaning(w, btz_json_str(value));
    if (meaning.len) {
        btz_json_set_str(w->arena, out, "description", meaning);
    }
}

/* A parameter that says nothing of itself gets what the tool's description says of it. */
static const struct btz_json *with_help(struct work *w, struct btz_str given,
                                        const struct btz_json *schema)
{
    const struct btz_json *help = btz_json_get(w->help, given);
    struct btz_json *out;
    struct btz_str meaning;

    if (!help || !btz_json_is(schema, BTZ_JSON_OBJECT) || btz_json_getz(schema, "description")) {
        return schema;
    }
    w->quiet = true;
    meaning = canon_meaning(w, btz_json_str(help));
    w->quiet = false;
    if (!meaning.len) {
        return schema;
    }
    out = btz_json_shallow(w->arena, schema);
    btz_json_set_str(w->arena, out, "description", meaning);
    return out;
}

/* ---- the walk ---- */

/* NULL: a member of a map of schemas may stay; else the rule that takes it. */
static const char *orphaned(struct work *w, const struct btz_json *schema, struct btz_str given,
                            const struct btz_json *value, enum canon_keyword kind)
{
    if (is_verbatim(w)) {
        return NULL;
    }
    switch (kind) {
    case KEY_PATTERNS:
        return canon_pattern_is_plain(given) ? NULL : "pattern-not-plain";
    case KEY_DEFINITIONS:
        return canon_is_reached(w, value) ? NULL : "definition-unused";
    case KEY_DEPENDENT:
        return canon_is_property(w, schema, given) ? NULL : "name-of-nothing";
    default:
        return NULL;
    }
}

static const struct btz_json *schemas_by_name(struct work *w, const struct btz_json *schema,
                                              const struct btz_json *map, enum canon_keyword kind,
                                              bool prose)
{
    struct btz_json *out = btz_json_new_object(w->arena);

    for (size_t i = 0; i < btz_json_count(map); i++) {
        struct btz_str given = btz_json_key_at(map, i);
        const struct btz_json *value = btz_json_value_at(map, i);
        struct btz_str now = given;
        size_t mark = canon_enter(w, given);
        bool same;

        const char *rule = orphaned(w, schema, given, value, kind);

        if (rule) {
            canon_key_span(w, given, BTZ_CANON_REMOVED, rule, BTZ_STR_NONE);
            canon_drop(w, value, rule);
            canon_leave(w, mark);
            continue;
        }
        if (kind != KEY_PATTERNS) {
            now = kind == KEY_DEFINITIONS ? canon_definition_name(w, given)
                                          : canon_property(w, given);
        }
        same = btz_str_eq(given, now);
        canon_key_span(w, given, same ? BTZ_CANON_KEPT : BTZ_CANON_CHANGED,
                       same ? "name" : "name-not-plain", now);
        if (kind == KEY_PROPERTIES && map == btz_json_getz(w->root, "properties")) {
            value = with_help(w, given, canon_schema(w, value, prose));
            canon_leave(w, mark);
            btz_json_set(w->arena, out, now, value);
            continue;
        }
        value = kind == KEY_DEPENDENT && btz_json_is(value, BTZ_JSON_ARRAY)
                    ? names_of(w, schema, value)
                    : canon_schema(w, value, prose);
        canon_leave(w, mark);
        btz_json_set(w->arena, out, now, value);
    }
    return out;
}

static const struct btz_json *schemas_of(struct work *w, const struct btz_json *list, bool prose)
{
    struct btz_json *out = btz_json_new_array(w->arena);

    for (size_t i = 0; i < btz_json_count(list); i++) {
        size_t mark = canon_enter_at(w, i);

        btz_json_push(w->arena, out, canon_schema(w, btz_json_at(list, i), prose));
        canon_leave(w, mark);
    }
    return out;
}

/* NULL: the keyword does not stay. */
static const struct btz_json *keyword_value(struct work *w, const struct btz_json *schema,
                                            struct btz_str name, int key,
                                            const struct btz_json *value, bool prose)
{
    enum btz_json_kind kind = btz_json_kind(value);

    switch (key) {
    case KEY_TYPE:
        return type_of(w, value);
    case KEY_PROPERTIES:
    case KEY_DEFINITIONS:
    case KEY_PATTERNS:
    case KEY_DEPENDENT:
        if (kind == BTZ_JSON_OBJECT) {
            value = schemas_by_name(w, schema, value, (enum canon_keyword)key, prose);
            return key == KEY_PROPERTIES || is_verbatim(w) || btz_json_count(value) ? value : NULL;
        }
        return NULL;
    case KEY_REQUIRED:
        return kind == BTZ_JSON_ARRAY  ? names_of(w, schema, value)
               : kind == BTZ_JSON_BOOL ? value
                                       : NULL;
    case KEY_SCHEMA:
        w->naming = btz_str_is(name, "propertyNames") && !is_verbatim(w);
        w->renames = w->naming && renames_names(w, schema);
        return kind == BTZ_JSON_BOOL     ? value
               : kind == BTZ_JSON_OBJECT ? canon_schema(w, value, prose)
                                         : NULL;
    case KEY_ITEMS:
        return kind == BTZ_JSON_ARRAY    ? schemas_of(w, value, prose)
               : kind == BTZ_JSON_BOOL   ? value
               : kind == BTZ_JSON_OBJECT ? canon_schema(w, value, prose)
                                         : NULL;
    case KEY_SCHEMAS:
        return kind == BTZ_JSON_ARRAY ? schemas_of(w, value, prose) : NULL;
    case KEY_ENUM:
        if (kind != BTZ_JSON_ARRAY) {
            canon_drop(w, value, "keyword-malformed");
            return NULL;
        }
        return values_of(w, value);
    case KEY_CONST:
        return one_value(w, value);
    case KEY_DEFAULT:
        return default_of(w, schema, value);
    case KEY_NUMBER:
        /* Draft 4 has exclusiveMinimum: true. */
        return kind == BTZ_JSON_BOOL ||
                       (kind == BTZ_JSON_NUMBER &&
                        (is_verbatim(w) || canon_number_is_plain(btz_json_number_text(value))))
                   ? value
                   : NULL;
    case KEY_SWITCH:
        return kind == BTZ_JSON_BOOL ? value : NULL;
    case KEY_WORD:
        return word_of(w, name, value);
    case KEY_PATTERN:
        return pattern_of(w, value);
    case KEY_REFERENCE:
        return reference_of(w, value);
    case KEY_DIALECT:
        return dialect_of(w, value);
    default:
        return NULL;
    }
}

/* Kinds whose own function has noted the texts of what it refused. */
static bool notes_itself(int key, const struct btz_json *value)
{
    switch (key) {
    case KEY_DEFINITIONS:
    case KEY_PATTERNS:
    case KEY_DEPENDENT:
        return btz_json_is(value, BTZ_JSON_OBJECT); /* nothing in it stays */
    case KEY_TYPE:
    case KEY_ENUM:
    case KEY_CONST:
    case KEY_DEFAULT:
    case KEY_WORD:
    case KEY_PATTERN:
    case KEY_REFERENCE:
    case KEY_DIALECT:
        return true;
    default:
        return false;
    }
}

const struct btz_json *canon_schema(struct work *w, const struct btz_json *schema, bool prose)
{
    struct btz_json *out = btz_json_new_object(w->arena);
    bool naming = w->naming;
    bool renames = w->renames;

    w->naming = w->renames = false;
    if (btz_json_is(schema, BTZ_JSON_BOOL)) {
        return schema;
    }
    if (!btz_json_is(schema, BTZ_JSON_OBJECT)) {
        canon_drop(w, schema, "no-schema");
        return out;
    }
    if (++w->depth > CANON_DEPTH_MAX) {
        w->too_deep = true;
        w->depth--;
        return out;
    }
    for (size_t i = 0; i < btz_json_count(schema); i++) {
        struct btz_str key = btz_json_key_at(schema, i);
        const struct btz_json *value = btz_json_value_at(schema, i);
        int what = canon_keyword(key);
        size_t mark = canon_enter(w, key);
        const struct btz_json *now = NULL;

        if (what == KEY_DESCRIPTION && prose) {
            add_meaning(w, out, value);
        } else if (what == KEY_DESCRIPTION) {
            canon_drop(w, value, "prose");
        } else if (what < 0) {
            canon_drop(w, value, "no-schema-keyword");
        } else if (is_form(key) && (renames || renames_values(w, schema))) {
            canon_drop(w, value, "form-of-renamed");
        } else {
            w->naming = naming && (what == KEY_ENUM || what == KEY_CONST);
            now = keyword_value(w, schema, key, what, value, prose);
            w->naming = w->renames = false;
            if (now && what == KEY_REFERENCE) {
                btz_json_set(w->arena, out, is_verbatim(w) ? key : BTZ_STR("$ref"), now);
            } else if (now) {
                btz_json_set(w->arena, out, key, now);
            } else if (!notes_itself(what, value)) {
                canon_drop(w, value, "keyword-malformed");
            }
        }
        canon_leave(w, mark);
    }
    w->depth--;
    return out;
}

/* ---- own words ---- */

static void collect_below(struct work *w, const struct btz_json *map, bool names)
{
    for (size_t i = 0; i < btz_json_count(map); i++) {
        if (btz_json_is(map, BTZ_JSON_OBJECT)) {
            if (names) {
                canon_own_add(&w->own, canon_property(w, btz_json_key_at(map, i)));
            }
            canon_collect(w, btz_json_value_at(map, i));
        } else {
            canon_collect(w, btz_json_at(map, i));
        }
    }
}

static void collect_definitions(struct work *w, const struct btz_json *map)
{
    for (size_t i = 0; i < btz_json_count(map); i++) {
        if (canon_is_reached(w, btz_json_value_at(map, i))) {
            canon_collect(w, btz_json_value_at(map, i));
        }
    }
}

static void collect_values(struct work *w, const struct btz_json *list)
{
    for (size_t i = 0; i < btz_json_count(list); i++) {
        if (!value_stays(w, btz_json_at(list, i), false, 0)) {
            return; /* nor does the list */
        }
    }
    for (size_t i = 0; i < btz_json_count(list); i++) {
        struct btz_str value = btz_json_str(btz_json_at(list, i));

        if (value.len && canon_value_is_plain(value)) {
            canon_own_add(&w->own, value);
        }
    }
}

void canon_collect(struct work *w, const struct btz_json *schema)
{
    if (!btz_json_is(schema, BTZ_JSON_OBJECT) || w->own.count == CANON_PIECES ||
        w->depth >= CANON_DEPTH_MAX) {
        return;
    }
    w->depth++;
    for (size_t i = 0; i < btz_json_count(schema); i++) {
        const struct btz_json *value = btz_json_value_at(schema, i);

        if (btz_json_is(value, BTZ_JSON_OBJECT) || btz_json_is(value, BTZ_JSON_ARRAY)) {
            switch (canon_keyword(btz_json_key_at(schema, i))) {
            case KEY_PROPERTIES:
                if (btz_json_is(value, BTZ_JSON_OBJECT)) {
                    collect_below(w, value, true);
                }
                break;
            case KEY_DEFINITIONS:
                if (btz_json_is(value, BTZ_JSON_OBJECT)) {
                    collect_definitions(w, value);
                }
                break;
            case KEY_SCHEMA:
                canon_collect(w, value);
                break;
            case KEY_ITEMS:
                if (btz_json_is(value, BTZ_JSON_ARRAY)) {
                    collect_below(w, value, false);
                } else {
                    canon_collect(w, value);
                }
                break;
            case KEY_SCHEMAS:
                if (btz_json_is(value, BTZ_JSON_ARRAY)) {
                    collect_below(w, value, false);
                }
                break;
            case KEY_ENUM:
                if (btz_json_is(value, BTZ_JSON_ARRAY)) {
                    collect_values(w, value);
                }
                break;
            default:
                break;
            }
        }
    }
    w->depth--;
}
