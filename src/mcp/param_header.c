#include "mcp/param_header.h"

#include "mcp/base64.h"

#define MAX_DEPTH 64
#define MAX_SAFE_INTEGER 9007199254740991 /* 2^53-1 */
#define KEYWORD "x-mcp-header"
#define OPEN "=?base64?"
#define CLOSE "?="

struct search {
    struct btz_arena *arena;
    struct btz_mcp_param_header *found;
    size_t count;
    struct btz_err *err;
};

/* Characters of an RFC 9110 token (section 5.6.2). */
static bool is_token(struct btz_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool alnum = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');

        if (!alnum && (!c || !strchr("!#$%&'*+-.^_`|~", c))) {
            return false;
        }
    }
    return name.len > 0 && name.len <= BTZ_MCP_MAX_PARAM_NAME;
}

static bool same_name(struct btz_str a, struct btz_str b)
{
    for (size_t i = 0; i < a.len && i < b.len; i++) {
        char x = a.ptr[i] >= 'A' && a.ptr[i] <= 'Z' ? (char)(a.ptr[i] + 32) : a.ptr[i];
        char y = b.ptr[i] >= 'A' && b.ptr[i] <= 'Z' ? (char)(b.ptr[i] + 32) : b.ptr[i];

        if (x != y) {
            return false;
        }
    }
    return a.len == b.len;
}

static bool read_type_name(struct btz_str name, enum btz_mcp_param_type *type)
{
    static const char *const names[] = {"string", "integer", "boolean"};

    for (unsigned i = 0; i < 3; i++) {
        if (btz_str_is(name, names[i])) {
            *type = (enum btz_mcp_param_type)i;
            return true;
        }
    }
    return false;
}

/* One of the three types, alone or as a choice with null. */
static bool read_type(const struct btz_json *value, enum btz_mcp_param_type *type)
{
    struct btz_str first = btz_json_str(btz_json_at(value, 0));
    struct btz_str second = btz_json_str(btz_json_at(value, 1));

    if (btz_json_is(value, BTZ_JSON_STRING)) {
        return read_type_name(btz_json_str(value), type);
    }
    if (!btz_json_is(value, BTZ_JSON_ARRAY) || btz_json_count(value) > 2) {
        return false;
    }
    if (btz_json_count(value) == 2 && btz_str_is(first, "null")) {
        return read_type_name(second, type);
    }
    return (btz_json_count(value) == 1 || btz_str_is(second, "null")) &&
           read_type_name(first, type);
}

static int add(struct search *s, const struct btz_json *property, const struct btz_json *mark,
               struct btz_str pointer)
{
    struct btz_str name = btz_json_str(mark);
    enum btz_mcp_param_type type;

    if (!btz_json_is(mark, BTZ_JSON_STRING) || !is_token(name)) {
        return btz_err_set(s->err, BTZ_EINVAL,
                           "%.*s: " KEYWORD " must be a token of RFC 9110 of 1 to 128 characters",
                           BTZ_FMT(pointer));
    }
    if (!read_type(btz_json_getz(property, "type"), &type)) {
        return btz_err_set(s->err, BTZ_EINVAL,
                           "%.*s: " KEYWORD " is only allowed on the types string, integer and "
                           "boolean",
                           BTZ_FMT(pointer));
    }
    for (size_t i = 0; i < s->count; i++) {
        if (same_name(s->found[i].name, name)) {
            return btz_err_set(s->err, BTZ_EINVAL,
                               "%.*s: " KEYWORD " \"%.*s\" is used twice (case does not count)",
                               BTZ_FMT(pointer), BTZ_FMT(name));
        }
    }
    if (s->count == BTZ_MCP_MAX_PARAM_HEADERS) {
        return btz_err_set(s->err, BTZ_ELIMIT, "a tool has more than %d " KEYWORD " annotations",
                           BTZ_MCP_MAX_PARAM_HEADERS);
    }
    s->found[s->count++] =
        (struct btz_mcp_param_header){.pointer = pointer, .name = name, .type = type};
    return BTZ_OK;
}

/* `key` as the next step of a JSON pointer (RFC 6901 section 3). */
static struct btz_str step(struct btz_arena *arena, struct btz_str base, struct btz_str key)
{
    char *out = btz_arena_alloc(arena, base.len + 2 * key.len + 2);
    size_t len = base.len;

    if (base.len) {
        memcpy(out, base.ptr, base.len);
    }
    out[len++] = '/';
    for (size_t i = 0; i < key.len; i++) {
        if (key.ptr[i] == '~' || key.ptr[i] == '/') {
            out[len++] = '~';
            out[len++] = key.ptr[i] == '~' ? '0' : '1';
        } else {
            out[len++] = key.ptr[i];
        }
    }
    out[len] = '\0';
    return (struct btz_str){out, len};
}

static int walk(struct search *s, const struct btz_json *schema, struct btz_str pointer, bool plain,
                unsigned depth);

/* A member that holds a schema, an array of schemas, or (`map`) an object of schemas. */
static int walk_hidden(struct search *s, const struct btz_json *value, bool map, unsigned depth)
{
    size_t count = btz_json_count(value);
    int rc = BTZ_OK;

    if (btz_json_is(value, BTZ_JSON_OBJECT) && !map) {
        return walk(s, value, BTZ_STR_NONE, false, depth);
    }
    for (size_t i = 0; i < count && !rc; i++) {
        rc = walk(s,
                  btz_json_is(value, BTZ_JSON_ARRAY) ? btz_json_at(value, i)
                                                     : btz_json_value_at(value, i),
                  BTZ_STR_NONE, false, depth);
    }
    return rc;
}

/* Subschemas that are not plain properties: what they hold is not always there (JSON Schema 2020-12
 * core, sections 8.2.4 and 10, and the older spellings). */
static int walk_others(struct search *s, const struct btz_json *schema, unsigned depth)
{
    static const struct {
        const char *key;
        bool map;
    } keys[] = {{"items", false},
                {"prefixItems", false},
                {"additionalItems", false},
                {"unevaluatedItems", false},
                {"contains", false},
                {"additionalProperties", false},
                {"propertyNames", false},
                {"unevaluatedProperties", false},
                {"allOf", false},
                {"anyOf", false},
                {"oneOf", false},
                {"not", false},
                {"if", false},
                {"then", false},
                {"else", false},
                {"contentSchema", false},
                {"$defs", true},
                {"definitions", true},
                {"patternProperties", true},
                {"dependentSchemas", true},
                {"dependencies", true}};
    int rc = BTZ_OK;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && !rc; i++) {
        rc = walk_hidden(s, btz_json_getz(schema, keys[i].key), keys[i].map, depth + 1);
    }
    return rc;
}

/* `plain`: reached through `properties` only; `pointer` is then its place in the arguments. */
static int walk(struct search *s, const struct btz_json *schema, struct btz_str pointer, bool plain,
                unsigned depth)
{
    const struct btz_json *mark = btz_json_getz(schema, KEYWORD);
    const struct btz_json *properties = btz_json_getz(schema, "properties");
    int rc = BTZ_OK;

    if (depth > MAX_DEPTH) {
        return btz_err_set(s->err, BTZ_ELIMIT, "the schema is nested too deep");
    }
    if (mark && (!plain || !pointer.len)) {
        return btz_err_set(s->err, BTZ_EINVAL,
                           KEYWORD " is only allowed on properties that are reached through "
                                   "\"properties\" alone");
    }
    if (mark) {
        rc = add(s, schema, mark, pointer);
    }
    if (btz_json_is(properties, BTZ_JSON_OBJECT)) {
        for (size_t i = 0; i < btz_json_count(properties) && !rc; i++) {
            rc =
                walk(s, btz_json_value_at(properties, i),
                     plain ? step(s->arena, pointer, btz_json_key_at(properties, i)) : BTZ_STR_NONE,
                     plain, depth + 1);
        }
    }
    return rc ? rc : walk_others(s, schema, depth);
}

int btz_mcp_param_headers(struct btz_arena *arena, const struct btz_json *input_schema,
                          const struct btz_mcp_param_header **out, size_t *count,
                          struct btz_err *err)
{
    struct search s = {.arena = arena, .err = err};
    int rc;

    s.found = btz_arena_array(arena, BTZ_MCP_MAX_PARAM_HEADERS, sizeof(*s.found));
    rc = walk(&s, input_schema, BTZ_STR_NONE, true, 1);
    if (!rc) {
        *out = s.found;
        *count = s.count;
    }
    return rc;
}

/* Text of the mirrored argument, not encoded. */
static int argument_text(struct btz_arena *arena, const struct btz_mcp_param_header *header,
                         const struct btz_json *arguments, struct btz_str *out)
{
    const struct btz_json *value = btz_json_pointer(arguments, header->pointer);
    int64_t number;

    if (!value || btz_json_is(value, BTZ_JSON_NULL)) {
        return BTZ_ENOTFOUND;
    }
    switch (header->type) {
    case BTZ_MCP_PARAM_STRING:
        *out = btz_json_str(value);
        return btz_json_is(value, BTZ_JSON_STRING) ? BTZ_OK : BTZ_EINVAL;
    case BTZ_MCP_PARAM_BOOLEAN:
        *out = btz_json_bool(value, false) ? BTZ_STR("true") : BTZ_STR("false");
        return btz_json_is(value, BTZ_JSON_BOOL) ? BTZ_OK : BTZ_EINVAL;
    default:
        if (!btz_json_int64(value, &number) || number > MAX_SAFE_INTEGER ||
            number < -MAX_SAFE_INTEGER) {
            return BTZ_EINVAL;
        }
        *out = btz_arena_printf(arena, "%lld", (long long)number);
        return BTZ_OK;
    }
}

int btz_mcp_param_value(struct btz_arena *arena, const struct btz_mcp_param_header *header,
                        const struct btz_json *arguments, struct btz_str *out)
{
    struct btz_str text;
    int rc = argument_text(arena, header, arguments, &text);

    return rc ? rc : btz_mcp_header_encode(arena, text, out);
}

static bool same_number(struct btz_arena *arena, struct btz_str a, struct btz_str b)
{
    const struct btz_json *x;
    const struct btz_json *y;

    return !btz_json_parse(arena, a, NULL, &x, NULL) && !btz_json_parse(arena, b, NULL, &y, NULL) &&
           btz_json_is(x, BTZ_JSON_NUMBER) && btz_json_equal(x, y);
}

bool btz_mcp_param_matches(struct btz_arena *arena, const struct btz_mcp_param_header *header,
                           const struct btz_json *arguments, struct btz_str value)
{
    struct btz_str text;
    struct btz_str got;

    if (argument_text(arena, header, arguments, &text)) {
        return !value.ptr;
    }
    if (!value.ptr || btz_mcp_header_decode(arena, value, &got)) {
        return false;
    }
    return btz_str_eq(text, got) ||
           (header->type == BTZ_MCP_PARAM_INTEGER && same_number(arena, text, got));
}

int btz_mcp_param_fields(struct btz_arena *arena, const struct btz_json *input_schema,
                         const struct btz_json *arguments, const struct btz_mcp_param **out,
                         size_t *count, struct btz_err *err)
{
    const struct btz_mcp_param_header *headers;
    struct btz_mcp_param *fields;
    size_t header_count;
    size_t used = 0;
    int rc = btz_mcp_param_headers(arena, input_schema, &headers, &header_count, err);

    if (rc) {
        return rc;
    }
    fields = btz_arena_array(arena, header_count + 1, sizeof(*fields));
    for (size_t i = 0; i < header_count; i++) {
        rc = btz_mcp_param_value(arena, &headers[i], arguments, &fields[used].value);
        if (rc == BTZ_ELIMIT) {
            return btz_err_set(err, rc, "the argument %.*s is too long for a header",
                               BTZ_FMT(headers[i].pointer));
        }
        if (!rc) {
            fields[used++].name = headers[i].name;
        }
    }
    *out = fields;
    *count = used;
    return BTZ_OK;
}

int btz_mcp_param_check(struct btz_arena *arena, const struct btz_json *input_schema,
                        const struct btz_json *arguments, const struct btz_mcp_param *fields,
                        size_t count, struct btz_err *err)
{
    const struct btz_mcp_param_header *headers;
    size_t header_count;

    if (btz_mcp_param_headers(arena, input_schema, &headers, &header_count, NULL)) {
        return BTZ_OK;
    }
    for (size_t i = 0; i < header_count; i++) {
        struct btz_str value = BTZ_STR_NONE;

        for (size_t j = 0; j < count; j++) {
            if (!same_name(fields[j].name, headers[i].name)) {
                continue;
            }
            if (value.ptr) {
                return btz_err_set(err, BTZ_EINVAL,
                                   "the header " BTZ_MCP_PARAM_PREFIX "%.*s is there twice",
                                   BTZ_FMT(headers[i].name));
            }
            value = fields[j].value.ptr ? fields[j].value : BTZ_STR("");
        }
        if (!btz_mcp_param_matches(arena, &headers[i], arguments, value)) {
            return btz_err_set(err, BTZ_EINVAL, "the header " BTZ_MCP_PARAM_PREFIX "%.*s %s",
                               BTZ_FMT(headers[i].name),
                               value.ptr ? "does not match the body" : "is missing");
        }
    }
    return BTZ_OK;
}

static bool is_printable(struct btz_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < 0x20 || text.ptr[i] > 0x7E) {
            return false;
        }
    }
    return true;
}

static bool is_encoded(struct btz_str text)
{
    return text.len >= sizeof(OPEN CLOSE) - 1 && btz_str_starts(text, BTZ_STR(OPEN)) &&
           btz_str_ends(text, BTZ_STR(CLOSE));
}

int btz_mcp_header_encode(struct btz_arena *arena, struct btz_str value, struct btz_str *out)
{
    bool edges = value.len && (value.ptr[0] == ' ' || value.ptr[value.len - 1] == ' ');

    if (value.len > BTZ_MCP_MAX_HEADER_VALUE) {
        return BTZ_ELIMIT;
    }
    if (is_printable(value) && !edges && !is_encoded(value)) {
        *out = btz_arena_dup(arena, value);
        return BTZ_OK;
    }
    value = btz_arena_printf(arena, OPEN "%.*s" CLOSE, BTZ_FMT(btz_mcp_base64(arena, value)));
    if (value.len > BTZ_MCP_MAX_HEADER_VALUE) {
        return BTZ_ELIMIT;
    }
    *out = value;
    return BTZ_OK;
}

int btz_mcp_header_decode(struct btz_arena *arena, struct btz_str raw, struct btz_str *out)
{
    struct btz_str text = btz_str_trim(raw);
    struct btz_str bytes;

    if (!is_printable(text)) {
        return BTZ_EINVAL;
    }
    if (!is_encoded(text)) {
        *out = btz_arena_dup(arena, text);
        return BTZ_OK;
    }
    text = btz_str_sub(text, sizeof(OPEN) - 1, text.len - (sizeof(OPEN CLOSE) - 1));
    /* The builder replaces what is no UTF-8, and NUL: the text is then another one. */
    if (btz_mcp_unbase64(arena, text, &bytes) ||
        !btz_str_eq(btz_json_str(btz_json_new_str(arena, bytes)), bytes)) {
        return BTZ_EINVAL;
    }
    *out = bytes;
    return BTZ_OK;
}
