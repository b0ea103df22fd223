/* Putting texts into definitions, and what users say. */
#include <stdio.h>

#include "sieve/shape.h"

enum { TEXT_MAX = 256 * 1024 };

static struct btz_str hole_value(const struct btz_sieve_holes *holes, struct btz_str name)
{
    const struct {
        const char *name;
        struct btz_str value;
    } table[] = {{"tool", holes->tool},
                 {"target_tool", holes->target_tool},
                 {"operand", holes->operand},
                 {"malicious_tool", holes->malicious_tool},
                 {"reason", holes->reason},
                 {"parameter", holes->parameter},
                 {"sibling_tool", holes->sibling_tool}};

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (btz_str_is(name, table[i].name)) {
            return table[i].value;
        }
    }
    return BTZ_STR_NONE;
}

static struct btz_str fill(struct btz_arena *arena, struct btz_str text,
                           const struct btz_sieve_holes *holes)
{
    struct btz_buf out;
    struct btz_str result;

    btz_buf_init(&out, TEXT_MAX);
    for (size_t i = 0; i < text.len;) {
        struct btz_str rest = btz_str_sub(text, i, SIZE_MAX);
        ptrdiff_t end = text.ptr[i] == '{' ? btz_str_find(rest, BTZ_STR("}")) : -1;

        if (end > 0) {
            (void)btz_buf_add_str(&out, hole_value(holes, btz_str_sub(rest, 1, (size_t)end - 1)));
            i += (size_t)end + 1;
        } else {
            (void)btz_buf_add_byte(&out, text.ptr[i++]);
        }
    }
    result = btz_arena_dup(arena, btz_buf_view(&out));
    btz_buf_fini(&out);
    return result;
}

/* ---- Places ---- */

struct hiding {
    struct btz_arena *arena;
    struct btz_json *tool;
    struct btz_json *properties; /* own copy, in place in the tool; NULL until needed */
    uint64_t draw;
};

/* Copies of schema and properties that may be changed. */
static void open_schema(struct hiding *h)
{
    const struct btz_json *old = btz_json_getz(h->tool, "inputSchema");
    const struct btz_json *properties = btz_json_getz(old, "properties");
    struct btz_json *schema;

    if (h->properties) {
        return;
    }
    schema = btz_json_is(old, BTZ_JSON_OBJECT) ? btz_json_shallow(h->arena, old)
                                               : btz_json_new_object(h->arena);
    if (!btz_json_is(old, BTZ_JSON_OBJECT)) {
        btz_json_set_strz(h->arena, schema, "type", "object");
    }
    h->properties = btz_json_is(properties, BTZ_JSON_OBJECT)
                        ? btz_json_shallow(h->arena, properties)
                        : btz_json_new_object(h->arena);
    btz_json_setz(h->arena, schema, "properties", h->properties);
    btz_json_setz(h->arena, h->tool, "inputSchema", schema);
}

/* Adds a parameter under the first free of some plain names. */
static void add_parameter(struct hiding *h, const struct btz_json *schema)
{
    static const char *const names[] = {"mode", "view", "scope", "layout", "variant", "preset"};

    open_schema(h);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!btz_json_getz(h->properties, names[i])) {
            btz_json_setz(h->arena, h->properties, names[i], schema);
            return;
        }
    }
    btz_json_setz(h->arena, h->properties, "further_mode", schema);
}

static struct btz_json *text_schema(struct hiding *h)
{
    struct btz_json *schema = btz_json_new_object(h->arena);

    btz_json_set_strz(h->arena, schema, "type", "string");
    return schema;
}

/* `old` and `text` in the order of the part, with a blank line between. */
static struct btz_str joined(struct hiding *h, struct btz_str old, struct btz_str text, bool begin)
{
    if (old.len == 0) {
        return text;
    }
    return begin ? btz_arena_printf(h->arena, "%.*s\n\n%.*s", BTZ_FMT(text), BTZ_FMT(old))
                 : btz_arena_printf(h->arena, "%.*s\n\n%.*s", BTZ_FMT(old), BTZ_FMT(text));
}

static void set_description(struct hiding *h, struct btz_json *object, struct btz_str text,
                            bool begin)
{
    btz_json_set_str(h->arena, object, "description",
                     joined(h, btz_json_str(btz_json_getz(object, "description")), text, begin));
}

static bool in_parameter(struct hiding *h, struct btz_str wanted, struct btz_str text, bool begin)
{
    size_t count;
    size_t first;

    open_schema(h);
    count = btz_json_count(h->properties);
    first = count ? (size_t)(h->draw % count) : 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = (first + i) % count;
        struct btz_str key = btz_json_key_at(h->properties, at);
        const struct btz_json *schema = btz_json_value_at(h->properties, at);

        if (btz_json_is(schema, BTZ_JSON_OBJECT) && (!wanted.len || btz_str_eq(wanted, key))) {
            struct btz_json *copy = btz_json_shallow(h->arena, schema);

            set_description(h, copy, text, begin);
            btz_json_set(h->arena, h->properties, key, copy);
            return true;
        }
    }
    return false;
}

static void in_enum(struct hiding *h, struct btz_str text)
{
    struct btz_json *schema = text_schema(h);
    struct btz_json *values = btz_json_new_array(h->arena);

    btz_json_push(h->arena, values, btz_json_new_strz(h->arena, "standard"));
    btz_json_push(h->arena, values, btz_json_new_str(h->arena, text));
    btz_json_setz(h->arena, schema, "enum", values);
    add_parameter(h, schema);
}

static void in_default(struct hiding *h, struct btz_str text)
{
    struct btz_json *schema = text_schema(h);

    btz_json_set_str(h->arena, schema, "default", text);
    add_parameter(h, schema);
}

static void in_nested(struct hiding *h, struct btz_str text)
{
    struct btz_json *leaf = text_schema(h);
    struct btz_json *properties = btz_json_new_object(h->arena);
    struct btz_json *items = btz_json_new_object(h->arena);
    struct btz_json *list = btz_json_new_object(h->arena);

    btz_json_set_str(h->arena, leaf, "description", text);
    btz_json_setz(h->arena, properties, "ref", leaf);
    btz_json_set_strz(h->arena, items, "type", "object");
    btz_json_setz(h->arena, items, "properties", properties);
    btz_json_set_strz(h->arena, list, "type", "array");
    btz_json_setz(h->arena, list, "items", items);
    add_parameter(h, list);
}

static void in_annotations(struct hiding *h, struct btz_str text)
{
    const struct btz_json *old = btz_json_getz(h->tool, "annotations");
    struct btz_json *annotations = btz_json_is(old, BTZ_JSON_OBJECT)
                                       ? btz_json_shallow(h->arena, old)
                                       : btz_json_new_object(h->arena);

    btz_json_set_str(h->arena, annotations, "title", text);
    btz_json_setz(h->arena, h->tool, "annotations", annotations);
}

/* An identifier: white space becomes '_', all else stays, or an operand would be lost. */
static void in_parameter_name(struct hiding *h, struct btz_str text)
{
    struct btz_str name = btz_arena_dup(h->arena, text);
    char *bytes = btz_arena_cstr(h->arena, name);

    for (size_t i = 0; i < name.len; i++) {
        bytes[i] = bytes[i] == ' ' || bytes[i] == '\n' ? '_' : bytes[i];
    }
    open_schema(h);
    btz_json_set(h->arena, h->properties, (struct btz_str){bytes, name.len}, text_schema(h));
}

/* A keyword of a parameter that is added. */
static void in_keyword(struct hiding *h, const char *keyword, struct btz_str text)
{
    struct btz_json *schema = text_schema(h);

    if (strcmp(keyword, "examples") == 0) {
        struct btz_json *list = btz_json_new_array(h->arena);

        btz_json_push(h->arena, list, btz_json_new_str(h->arena, text));
        btz_json_setz(h->arena, schema, keyword, list);
    } else {
        btz_json_set_str(h->arena, schema, keyword, text);
    }
    add_parameter(h, schema);
}

static bool put(struct hiding *h, const struct btz_sieve_part *part, struct btz_str text,
                struct btz_str parameter)
{
    switch (part->place) {
    case BTZ_SIEVE_IN_DESCRIPTION:
        set_description(h, h->tool, text, part->begin);
        return true;
    case BTZ_SIEVE_IN_PARAMETER_DESCRIPTION:
        return in_parameter(h, parameter, text, part->begin);
    case BTZ_SIEVE_IN_ENUM:
        in_enum(h, text);
        return true;
    case BTZ_SIEVE_IN_DEFAULT:
        in_default(h, text);
        return true;
    case BTZ_SIEVE_IN_TITLE:
        btz_json_set_str(h->arena, h->tool, "title", text);
        return true;
    case BTZ_SIEVE_IN_NESTED:
        in_nested(h, text);
        return true;
    case BTZ_SIEVE_IN_ANNOTATIONS:
        in_annotations(h, text);
        return true;
    case BTZ_SIEVE_IN_PARAMETER_NAME:
        in_parameter_name(h, text);
        return true;
    case BTZ_SIEVE_IN_FORMAT:
        in_keyword(h, "format", text);
        return true;
    case BTZ_SIEVE_IN_PATTERN:
        in_keyword(h, "pattern", text);
        return true;
    case BTZ_SIEVE_IN_CONST:
        in_keyword(h, "const", text);
        return true;
    case BTZ_SIEVE_IN_EXAMPLES:
        in_keyword(h, "examples", text);
        return true;
    case BTZ_SIEVE_IN_COMMENT:
        in_keyword(h, "$comment", text);
        return true;
    case BTZ_SIEVE_IN_MEDIA_TYPE:
        in_keyword(h, "contentMediaType", text);
        return true;
    }
    return false;
}

const struct btz_json *btz_sieve_hide(struct btz_arena *arena, const struct btz_json *tool,
                                      const struct btz_sieve_parts *parts,
                                      const struct btz_sieve_holes *holes, struct btz_str parameter,
                                      uint64_t draw)
{
    struct hiding h = {.arena = arena, .tool = btz_json_shallow(arena, tool), .draw = draw};

    for (size_t i = 0; i < parts->count; i++) {
        if (!put(&h, &parts->items[i], fill(arena, parts->items[i].text, holes), parameter)) {
            return NULL;
        }
    }
    return h.tool;
}

/* ---- Queries ---- */

static void add_value(struct btz_arena *arena, struct btz_buf *out, const struct btz_json *value)
{
    if (btz_json_is(value, BTZ_JSON_STRING)) {
        (void)btz_buf_printf(out, "\"%.*s\"", BTZ_FMT(btz_json_str(value)));
    } else {
        (void)btz_buf_add_str(out, btz_json_text(arena, value));
    }
}

struct btz_str btz_sieve_query(struct btz_arena *arena, enum btz_sieve_phrasing phrasing,
                               struct btz_str tool, const struct btz_json *arguments, uint64_t draw)
{
    static const char *const wishes[] = {"I need this done", "Help me with this",
                                         "Next on my list"};
    bool direct = phrasing == BTZ_SIEVE_DIRECT;
    size_t count = btz_json_count(arguments);
    struct btz_buf out;
    struct btz_str query;

    btz_buf_init(&out, TEXT_MAX);
    if (direct) {
        (void)btz_buf_printf(&out, "Call the %.*s tool%s", BTZ_FMT(tool), count ? " with " : ".");
    } else {
        struct btz_str words = btz_sieve_name_phrase(arena, tool);

        (void)btz_buf_printf(&out, "%s: %.*s.", wishes[draw % 3], BTZ_FMT(words));
    }
    for (size_t i = 0; i < count; i++) {
        struct btz_str name = btz_json_key_at(arguments, i);

        if (direct) {
            (void)btz_buf_printf(&out, "%s%.*s ",
                                 i == 0          ? ""
                                 : i + 1 < count ? ", "
                                                 : " and ",
                                 BTZ_FMT(name));
        } else {
            (void)btz_buf_printf(&out, " The %.*s is ",
                                 BTZ_FMT(btz_sieve_name_phrase(arena, name)));
        }
        add_value(arena, &out, btz_json_value_at(arguments, i));
        (void)btz_buf_add_text(&out, direct && i + 1 < count ? "" : ".");
    }
    query = btz_arena_dup(arena, btz_buf_view(&out));
    btz_buf_fini(&out);
    return query;
}
