#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "schema/schema_int.h"

enum { PATH_MAX_BYTES = 400, TOKEN_MAX_BYTES = 100 };

static const char dialect[] = "https://json-schema.org/draft/2020-12/schema";

/* ---- paths and errors ---- */

void btz_schema_put_token(struct btz_buf *out, struct btz_str token)
{
    size_t len = token.len < TOKEN_MAX_BYTES ? token.len : TOKEN_MAX_BYTES;

    while (len < token.len && len > 0 && ((unsigned char)token.ptr[len] & 0xC0) == 0x80) {
        len--;
    }
    (void)btz_buf_add_byte(out, '/');
    for (size_t i = 0; i < len; i++) {
        if (token.ptr[i] == '~') {
            (void)btz_buf_add_text(out, "~0");
        } else if (token.ptr[i] == '/') {
            (void)btz_buf_add_text(out, "~1");
        } else {
            (void)btz_buf_add_byte(out, token.ptr[i]);
        }
    }
    if (len < token.len) {
        (void)btz_buf_add_text(out, "...");
    }
}

static void put_path(struct btz_buf *out, const struct node *node)
{
    if (!node->parent) {
        (void)btz_buf_add_str(out, btz_str_sub(node->token, 0, PATH_MAX_BYTES));
        return;
    }
    put_path(out, node->parent);
    if (out->len > PATH_MAX_BYTES) {
        return;
    }
    btz_schema_put_token(out, node->token);
    if (node->member.ptr) {
        btz_schema_put_token(out, node->member);
    } else if (node->item != SIZE_MAX) {
        (void)btz_buf_printf(out, "/%zu", node->item);
    }
}

struct btz_str btz_schema_node_path(struct btz_arena *arena, const struct node *node)
{
    struct btz_buf buf;
    struct btz_str out;

    btz_buf_init(&buf, 4 * PATH_MAX_BYTES);
    put_path(&buf, node);
    out = btz_arena_dup(arena, btz_buf_view(&buf));
    btz_buf_fini(&buf);
    return out;
}

int btz_schema_refuse(struct compiler *c, int code, struct btz_str keyword, const char *fmt, ...)
{
    char text[400];
    struct btz_str path = BTZ_STR("");
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (c->node) {
        path = btz_schema_node_path(c->schema->arena, c->node);
    }
    return btz_err_set(c->err, code, "schema at #%.*s%s%.*s: %s", BTZ_FMT(path),
                       keyword.len ? "/" : "", BTZ_FMT(keyword), text);
}

struct btz_str btz_schema_name(const struct rule *rule)
{
    return btz_str_of(rule->keyword->name);
}

/* ---- subschemas ---- */

static const struct keyword *find_keyword(struct btz_str name)
{
    static const struct keyword *const tables[] = {
        btz_schema_scalar_keywords, btz_schema_object_keywords, btz_schema_array_keywords,
        btz_schema_logic_keywords};

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        for (const struct keyword *k = tables[i]; k->name; k++) {
            if (btz_str_is(name, k->name)) {
                return k;
            }
        }
    }
    return NULL;
}

static int check_dialect(struct compiler *c, const struct btz_json *arg)
{
    struct btz_str uri = btz_json_str(arg);

    if (!arg) {
        return BTZ_OK;
    }
    if (!btz_json_is(arg, BTZ_JSON_STRING)) {
        return btz_schema_refuse(c, BTZ_EINVAL, BTZ_STR("$schema"), "expected a string");
    }
    if (btz_str_ends(uri, BTZ_STR("#"))) {
        uri.len--;
    }
    if (!btz_str_is(uri, dialect)) {
        return btz_schema_refuse(
            c, BTZ_EUNSUPPORTED, BTZ_STR("$schema"),
            "dialect \"%.*s\" is not supported; use \"%s\" or leave $schema out",
            BTZ_FMT(btz_str_sub(uri, 0, 120)), dialect);
    }
    return BTZ_OK;
}

static int add_anchor(struct compiler *c, struct node *node, const char *keyword)
{
    const struct btz_json *arg = btz_json_getz(node->json, keyword);
    struct btz_str name = btz_json_str(arg);
    bool good = name.len > 0;

    if (!arg) {
        return BTZ_OK;
    }
    for (size_t i = 0; i < name.len; i++) {
        char ch = name.ptr[i];
        bool letter = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_';

        good = good && (letter || (i > 0 && (ch == '-' || ch == '.' || (ch >= '0' && ch <= '9'))));
    }
    if (!good) {
        return btz_schema_refuse(c, BTZ_EINVAL, btz_str_of(keyword),
                                 "expected a name such as \"item-1\"");
    }
    if (btz_schema_map_get(&c->schema->anchors, node->resource, name)) {
        const struct btz_json *other =
            btz_schema_map_get(&c->schema->anchors, node->resource, name);

        return other == node->json
                   ? BTZ_OK
                   : btz_schema_refuse(c, BTZ_EINVAL, btz_str_of(keyword),
                                       "anchor \"%.*s\" exists already; rename one of the two",
                                       BTZ_FMT(btz_str_sub(name, 0, 100)));
    }
    btz_schema_map_put(&c->schema->anchors, node->resource, name, (void *)(uintptr_t)node->json);
    return BTZ_OK;
}

static int compile_head(struct compiler *c, struct node *node)
{
    const struct btz_json *id = btz_json_getz(node->json, "$id");
    int rc = check_dialect(c, btz_json_getz(node->json, "$schema"));

    if (rc) {
        return rc;
    }
    if (id && !btz_json_is(id, BTZ_JSON_STRING)) {
        return btz_schema_refuse(c, BTZ_EINVAL, BTZ_STR("$id"), "expected a string");
    }
    if (id && btz_str_find(btz_json_str(id), BTZ_STR("#")) >= 0 &&
        !btz_str_ends(btz_json_str(id), BTZ_STR("#"))) {
        return btz_schema_refuse(c, BTZ_EINVAL, BTZ_STR("$id"),
                                 "a fragment is not allowed; use $anchor");
    }
    if (id && node->json != node->resource) {
        node->resource = node->json;
        c->resources++;
    }
    rc = add_anchor(c, node, "$anchor");
    return rc ? rc : add_anchor(c, node, "$dynamicAnchor");
}

static bool is_unevaluated(const struct keyword *keyword)
{
    return strncmp(keyword->name, "unevaluated", strlen("unevaluated")) == 0;
}

static void append(struct rule **list, struct rule *rule)
{
    while (*list) {
        list = &(*list)->next;
    }
    *list = rule;
}

static const struct rule *rule_named(const struct node *node, const char *name)
{
    for (const struct rule *r = node->rules; r; r = r->next) {
        if (strcmp(r->keyword->name, name) == 0) {
            return r;
        }
    }
    return NULL;
}

static int compile_rules(struct compiler *c, struct node *node)
{
    struct rule *last = NULL; /* unevaluated* */

    for (size_t i = 0; i < btz_json_count(node->json); i++) {
        const struct keyword *keyword = find_keyword(btz_json_key_at(node->json, i));
        struct rule *rule;
        int rc;

        if (!keyword) {
            continue;
        }
        rule = BTZ_NEW(c->schema->arena, struct rule);
        rule->keyword = keyword;
        rule->arg = btz_json_value_at(node->json, i);
        rc = keyword->compile(c, rule);
        c->node = node;
        if (rc < 0) {
            return rc;
        }
        if (rc == RULE_NONE) {
            continue;
        }
        if (is_unevaluated(keyword)) {
            node->tracks = true;
            append(&last, rule);
        } else {
            append(&node->rules, rule);
        }
    }
    append(&node->rules, last);
    for (struct rule *r = node->rules; r; r = r->next) {
        r->properties = rule_named(node, "properties");
        r->patterns = rule_named(node, "patternProperties");
    }
    return BTZ_OK;
}

static int compile_node(struct compiler *c, struct node *node)
{
    struct node *before = c->node;
    int rc;

    c->node = node;
    if (!btz_json_is(node->json, BTZ_JSON_OBJECT) && !btz_json_is(node->json, BTZ_JSON_BOOL)) {
        return btz_schema_refuse(c, BTZ_EINVAL, BTZ_STR_NONE,
                                 "a schema is an object or a boolean, not %s",
                                 btz_json_kind_name(btz_json_kind(node->json)));
    }
    if (++c->subschemas > c->schema->limits.max_subschemas) {
        return btz_schema_refuse(c, BTZ_ELIMIT, BTZ_STR_NONE, "more than %zu subschemas",
                                 c->schema->limits.max_subschemas);
    }
    if (c->depth >= c->schema->limits.max_depth) {
        return btz_schema_refuse(c, BTZ_ELIMIT, BTZ_STR_NONE, "nested deeper than %u",
                                 c->schema->limits.max_depth);
    }
    if (btz_json_is(node->json, BTZ_JSON_BOOL)) {
        node->never = !btz_json_bool(node->json, true);
    } else {
        btz_schema_map_put(&c->schema->nodes, node->json, BTZ_STR_NONE, node);
        c->depth++;
        rc = compile_head(c, node);
        rc = rc ? rc : compile_rules(c, node);
        c->depth--;
        if (rc) {
            return rc;
        }
    }
    c->node = before;
    return BTZ_OK;
}

int btz_schema_sub(struct compiler *c, const struct btz_json *json, struct btz_str token,
                   struct btz_str member, size_t item, struct node **out)
{
    struct node *node = btz_schema_map_get(&c->schema->nodes, json, BTZ_STR_NONE);
    int rc;

    if (!node) {
        node = BTZ_NEW(c->schema->arena, struct node);
        node->json = json;
        node->parent = c->node;
        node->resource = c->node ? c->node->resource : json;
        node->token = token;
        node->member = member;
        node->item = item;
        rc = compile_node(c, node);
        if (rc) {
            return rc;
        }
    }
    *out = node;
    return BTZ_OK;
}

int btz_schema_sub_one(struct compiler *c, struct rule *rule)
{
    return btz_schema_sub(c, rule->arg, btz_schema_name(rule), BTZ_STR_NONE, SIZE_MAX, &rule->sub);
}

int btz_schema_sub_object(struct compiler *c, struct rule *rule)
{
    if (!btz_json_is(rule->arg, BTZ_JSON_OBJECT)) {
        return btz_schema_refuse(c, BTZ_EINVAL, btz_schema_name(rule),
                                 "expected an object of schemas");
    }
    rule->count = btz_json_count(rule->arg);
    rule->nodes = btz_arena_array(c->schema->arena, rule->count, sizeof(*rule->nodes));
    for (size_t i = 0; i < rule->count; i++) {
        int rc = btz_schema_sub(c, btz_json_value_at(rule->arg, i), btz_schema_name(rule),
                                btz_json_key_at(rule->arg, i), SIZE_MAX, &rule->nodes[i]);

        if (rc) {
            return rc;
        }
    }
    return BTZ_OK;
}

int btz_schema_sub_array(struct compiler *c, struct rule *rule)
{
    if (!btz_json_is(rule->arg, BTZ_JSON_ARRAY) || btz_json_count(rule->arg) == 0) {
        return btz_schema_refuse(c, BTZ_EINVAL, btz_schema_name(rule),
                                 "expected a non-empty array of schemas");
    }
    rule->count = btz_json_count(rule->arg);
    rule->nodes = btz_arena_array(c->schema->arena, rule->count, sizeof(*rule->nodes));
    for (size_t i = 0; i < rule->count; i++) {
        int rc = btz_schema_sub(c, btz_json_at(rule->arg, i), btz_schema_name(rule), BTZ_STR_NONE,
                                i, &rule->nodes[i]);

        if (rc) {
            return rc;
        }
    }
    return BTZ_OK;
}

/* ---- arguments ---- */

int btz_schema_pattern(struct compiler *c, struct btz_str keyword, struct btz_str pattern,
                       struct btz_regex **out)
{
    struct btz_err err = {0};
    struct btz_regex *regex = NULL;
    struct pattern *entry;
    int rc = btz_regex_new(pattern, BTZ_REGEX_ECMA, &regex, &err);

    if (rc) {
        return btz_schema_refuse(c, rc, keyword, "%s", err.msg);
    }
    entry = BTZ_NEW(c->schema->arena, struct pattern);
    entry->regex = regex;
    entry->next = c->schema->patterns;
    c->schema->patterns = entry;
    c->pattern_bytes += btz_regex_size(regex);
    if (c->pattern_bytes > c->schema->limits.max_pattern_bytes) {
        return btz_schema_refuse(c, BTZ_ELIMIT, keyword,
                                 "the patterns take more than %zu bytes when compiled",
                                 c->schema->limits.max_pattern_bytes);
    }
    *out = regex;
    return BTZ_OK;
}

int btz_schema_count(struct compiler *c, struct btz_str keyword, const struct btz_json *arg,
                     uint64_t *out)
{
    const uint64_t cut = (uint64_t)1 << 53;
    struct decimal d;
    int64_t small;

    if (btz_json_is(arg, BTZ_JSON_NUMBER)) {
        d = btz_decimal_of(arg);
        if (btz_decimal_is_integer(&d) && !d.negative) {
            *out = btz_json_int64(arg, &small) && (uint64_t)small < cut ? (uint64_t)small : cut;
            return BTZ_OK;
        }
    }
    return btz_schema_refuse(c, BTZ_EINVAL, keyword, "expected an integer of at least 0");
}

/* ---- references ---- */

int btz_schema_refer(struct compiler *c, struct rule *rule, struct node **out)
{
    struct btz_str ref = btz_json_str(rule->arg);
    struct pending *pending;

    if (!btz_json_is(rule->arg, BTZ_JSON_STRING)) {
        return btz_schema_refuse(c, BTZ_EINVAL, btz_schema_name(rule), "expected a string");
    }
    if (ref.len && ref.ptr[0] != '#') {
        return btz_schema_refuse(c, BTZ_EUNSUPPORTED, btz_schema_name(rule),
                                 "\"%.*s\" points outside of this schema and nothing is ever "
                                 "fetched; copy it into $defs and use \"#/$defs/...\"",
                                 BTZ_FMT(btz_str_sub(ref, 0, 120)));
    }
    pending = BTZ_NEW(c->schema->arena, struct pending);
    pending->node = c->node;
    pending->keyword = btz_schema_name(rule);
    pending->ref = ref;
    pending->out = out;
    pending->next = c->pending;
    c->pending = pending;
    return BTZ_OK;
}

/* Undoes percent escapes; ptr NULL if they are broken. */
static struct btz_str decode_fragment(struct btz_arena *arena, struct btz_str s)
{
    char *out = btz_arena_alloc(arena, s.len + 1);
    size_t len = 0;

    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] != '%') {
            out[len++] = s.ptr[i];
            continue;
        }
        if (i + 2 >= s.len || btz_hex_value(s.ptr[i + 1]) < 0 || btz_hex_value(s.ptr[i + 2]) < 0) {
            return BTZ_STR_NONE;
        }
        out[len++] = (char)(btz_hex_value(s.ptr[i + 1]) * 16 + btz_hex_value(s.ptr[i + 2]));
        i += 2;
    }
    return (struct btz_str){out, len};
}

static int resolve(struct compiler *c, const struct pending *p)
{
    struct btz_str fragment = decode_fragment(c->schema->arena, btz_str_sub(p->ref, 1, SIZE_MAX));
    const struct btz_json *target = NULL;
    struct node *node;
    int rc;

    if (fragment.ptr && fragment.len == 0) {
        target = p->node->resource;
    } else if (fragment.ptr && fragment.ptr[0] == '/') {
        target = btz_json_pointer(p->node->resource, fragment);
    } else if (fragment.ptr) {
        target = btz_schema_map_get(&c->schema->anchors, p->node->resource, fragment);
    }
    if (!target) {
        c->node = (struct node *)(uintptr_t)p->node;
        return btz_schema_refuse(c, BTZ_EINVAL, p->keyword,
                                 "\"%.*s\" does not exist in this schema",
                                 BTZ_FMT(btz_str_sub(p->ref, 0, 120)));
    }
    node = btz_schema_map_get(&c->schema->nodes, target, BTZ_STR_NONE);
    if (!node) {
        node = BTZ_NEW(c->schema->arena, struct node);
        node->json = target;
        node->resource = p->node->resource;
        node->token = fragment;
        node->item = SIZE_MAX;
        rc = compile_node(c, node);
        if (rc) {
            return rc;
        }
    }
    *p->out = node;
    return BTZ_OK;
}

static int resolve_all(struct compiler *c)
{
    int rc = BTZ_OK;

    /* Compiling a target may add anchors and further references. */
    while (c->pending && !rc) {
        struct pending *p = c->pending;

        c->pending = p->next;
        rc = resolve(c, p);
    }
    if (!rc && c->dynamic && c->resources > 0) {
        c->node = (struct node *)(uintptr_t)c->dynamic;
        rc = btz_schema_refuse(c, BTZ_EUNSUPPORTED, BTZ_STR("$dynamicRef"),
                               "not supported together with $id below the root; use $ref");
    }
    return rc;
}

/* ---- the schema ---- */

static void default_limits(struct btz_schema_limits *limits)
{
    limits->max_depth = limits->max_depth ? limits->max_depth : 64;
    limits->max_check_depth = limits->max_check_depth ? limits->max_check_depth : 256;
    limits->max_subschemas = limits->max_subschemas ? limits->max_subschemas : 10000;
    limits->max_pattern_bytes = limits->max_pattern_bytes ? limits->max_pattern_bytes : 512 * 1024;
    limits->max_steps = limits->max_steps ? limits->max_steps : 1000000;
}

int btz_schema_compile(const struct btz_json *schema, const struct btz_schema_limits *limits,
                       struct btz_schema **out, struct btz_err *err)
{
    struct btz_schema *made = calloc(1, sizeof(*made));
    struct compiler c = {.schema = made, .err = err};
    int rc;

    if (!made) {
        btz_panic("out of memory (schema)");
    }
    made->arena = btz_arena_new();
    made->json = btz_json_dup(made->arena, schema);
    made->limits = limits ? *limits : (struct btz_schema_limits){0};
    default_limits(&made->limits);
    rc = btz_schema_sub(&c, made->json, BTZ_STR_NONE, BTZ_STR_NONE, SIZE_MAX, &made->root);
    rc = rc ? rc : resolve_all(&c);
    if (rc) {
        btz_schema_free(made);
        return rc;
    }
    *out = made;
    return BTZ_OK;
}

void btz_schema_free(struct btz_schema *schema)
{
    if (!schema) {
        return;
    }
    for (struct pattern *p = schema->patterns; p; p = p->next) {
        btz_regex_free(p->regex);
    }
    btz_schema_map_fini(&schema->nodes);
    btz_schema_map_fini(&schema->members);
    btz_schema_map_fini(&schema->anchors);
    btz_arena_free(schema->arena);
    free(schema);
}
