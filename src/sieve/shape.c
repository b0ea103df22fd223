#include "sieve/shape.h"

#include <ctype.h>
#include <stdio.h>

enum { WORDS_MAX = 32, DEPTH_MAX = 5, REFS_MAX = 8 };

/* ---- Names ---- */

static bool word_byte(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

struct btz_sieve_words btz_sieve_name_words(struct btz_arena *arena, struct btz_str name)
{
    char *lower = btz_arena_alloc(arena, name.len + 1);
    struct btz_str *items = btz_arena_array(arena, WORDS_MAX, sizeof(*items));
    size_t count = 0;
    size_t begin = 0;

    for (size_t i = 0; i <= name.len; i++) {
        bool end = i == name.len || !word_byte(name.ptr[i]);
        bool hump = !end && i > begin && isupper((unsigned char)name.ptr[i]) &&
                    islower((unsigned char)name.ptr[i - 1]);

        if ((end || hump) && i > begin && count < WORDS_MAX) {
            items[count++] = (struct btz_str){lower + begin, i - begin};
        }
        if (end) {
            begin = i + 1;
        } else if (hump) {
            begin = i;
        }
        lower[i] = i < name.len ? (char)tolower((unsigned char)name.ptr[i]) : '\0';
    }
    return (struct btz_sieve_words){items, count};
}

struct btz_str btz_sieve_name_phrase(struct btz_arena *arena, struct btz_str name)
{
    struct btz_sieve_words words = btz_sieve_name_words(arena, name);
    struct btz_buf out;
    struct btz_str phrase;

    btz_buf_init(&out, 64 * 1024);
    for (size_t i = 0; i < words.count; i++) {
        (void)btz_buf_printf(&out, "%s%.*s", i ? " " : "", BTZ_FMT(words.items[i]));
    }
    phrase = out.len ? btz_arena_dup(arena, btz_buf_view(&out)) : name;
    btz_buf_fini(&out);
    return phrase;
}

bool btz_sieve_words_meet(const struct btz_sieve_words *a, const struct btz_sieve_words *b)
{
    for (size_t i = 0; i < a->count; i++) {
        for (size_t k = 0; k < b->count; k++) {
            if (btz_str_eq(a->items[i], b->items[k])) {
                return true;
            }
        }
    }
    return false;
}

/* ---- Schemas ---- */

const struct btz_json *btz_sieve_properties(const struct btz_json *tool)
{
    const struct btz_json *properties =
        btz_json_getz(btz_json_getz(tool, "inputSchema"), "properties");

    return btz_json_is(properties, BTZ_JSON_OBJECT) ? properties : NULL;
}

/* Follows local references and picks the first variant that is not null. */
static const struct btz_json *resolve(const struct btz_json *root, const struct btz_json *schema)
{
    for (int i = 0; i < REFS_MAX && btz_json_is(schema, BTZ_JSON_OBJECT); i++) {
        struct btz_str ref = btz_json_str(btz_json_getz(schema, "$ref"));
        const struct btz_json *variants = btz_json_getz(schema, "anyOf");
        const struct btz_json *chosen = NULL;

        variants = variants ? variants : btz_json_getz(schema, "oneOf");
        variants = variants ? variants : btz_json_getz(schema, "allOf");
        if (btz_str_starts(ref, BTZ_STR("#"))) {
            schema = btz_json_pointer(root, btz_str_sub(ref, 1, SIZE_MAX));
            continue;
        }
        if (btz_json_getz(schema, "type") || btz_json_count(variants) == 0) {
            return schema;
        }
        for (size_t k = 0; k < btz_json_count(variants) && !chosen; k++) {
            const struct btz_json *one = btz_json_at(variants, k);

            chosen = btz_str_is(btz_json_str(btz_json_getz(one, "type")), "null") ? NULL : one;
        }
        schema = chosen;
    }
    return schema;
}

static struct btz_str type_of(const struct btz_json *schema)
{
    const struct btz_json *type = btz_json_getz(schema, "type");

    for (size_t i = 0; i < btz_json_count(type); i++) {
        if (!btz_str_is(btz_json_str(btz_json_at(type, i)), "null")) {
            return btz_json_str(btz_json_at(type, i));
        }
    }
    return btz_json_str(type);
}

static bool takes(const struct btz_json *tool, const struct btz_json *parameter, const char *first,
                  const char *second)
{
    const struct btz_json *schema = resolve(btz_json_getz(tool, "inputSchema"), parameter);
    struct btz_str type = type_of(schema);

    return (btz_str_is(type, first) || btz_str_is(type, second)) &&
           !btz_json_getz(schema, "enum") && !btz_json_getz(schema, "const");
}

bool btz_sieve_takes_text(const struct btz_json *tool, const struct btz_json *parameter)
{
    return takes(tool, parameter, "string", "string");
}

bool btz_sieve_takes_number(const struct btz_json *tool, const struct btz_json *parameter)
{
    return takes(tool, parameter, "integer", "number");
}

struct btz_schema *btz_sieve_input_schema(const struct btz_json *tool)
{
    const struct btz_json *schema = btz_json_getz(tool, "inputSchema");
    struct btz_schema *out = NULL;
    struct btz_arena *arena;
    struct btz_json *copy;

    if (!btz_json_is(schema, BTZ_JSON_OBJECT)) {
        return NULL;
    }
    /* Many servers name an older dialect and use nothing that differs; MCP takes a schema without a
     * dialect as 2020-12. What then cannot be compiled is left out. */
    arena = btz_arena_new();
    copy = btz_json_shallow(arena, schema);
    btz_json_remove(copy, BTZ_STR("$schema"));
    if (btz_schema_compile(copy, NULL, &out, NULL) != BTZ_OK) {
        out = NULL;
    }
    btz_arena_free(arena);
    return out;
}

/* ---- Arguments ---- */

/* Plain values of everyday work, by words of the parameter's name. */
static const struct {
    const char *words;
    const char *value;
} samples[] = {
    {"email to recipient recipients cc bcc", "ann@office.example"},
    {"url uri link href endpoint webhook website", "https://shop.example/page"},
    {"path file filename filepath directory dir folder", "notes/today.txt"},
    {"date day since until before after from", "2026-03-14"},
    {"time datetime timestamp start end", "2026-03-14T10:00:00Z"},
    {"timezone tz", "Europe/Paris"},
    {"query search q keyword keywords term terms pattern", "quarterly report"},
    {"language lang locale", "en"},
    {"country", "FR"},
    {"city location place address region", "Lyon"},
    {"currency", "EUR"},
    {"symbol ticker coin", "BTC"},
    {"content body text message comment description note prompt thought", "The meeting moved to "
                                                                          "Tuesday."},
    {"title subject name label summary", "Spring plan"},
    {"sql statement", "SELECT 1"},
    {"code script expression javascript", "1 + 1"},
    {"command cmd", "date"},
    {"owner user username author assignee", "ann"},
    {"repo repository project workspace team organization org", "garden"},
    {"branch ref", "main"},
    {"key slug code", "GARDEN-12"},
    {"id ids uuid number", "1042"},
};

static const char *sample_of(struct btz_arena *arena, struct btz_str name)
{
    struct btz_sieve_words words = btz_sieve_name_words(arena, name);

    /* The last word says what the thing is: "file_path" is a path, "project_id" an id. */
    for (size_t w = words.count; w-- > 0;) {
        for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
            struct btz_str rest = btz_str_of(samples[i].words);
            struct btz_str word;

            while (btz_str_cut(&rest, ' ', &word)) {
                if (btz_str_eq(word, words.items[w])) {
                    return samples[i].value;
                }
            }
        }
    }
    return "sample";
}

static const char *sample_of_format(struct btz_str format)
{
    static const struct {
        const char *format, *value;
    } formats[] = {{"date", "2026-03-14"},
                   {"date-time", "2026-03-14T10:00:00Z"},
                   {"time", "10:00:00Z"},
                   {"email", "ann@office.example"},
                   {"uri", "https://shop.example/page"},
                   {"url", "https://shop.example/page"},
                   {"uuid", "3f2b8c1e-6d5a-4b7c-9e0f-1a2b3c4d5e6f"},
                   {"ipv4", "192.0.2.7"},
                   {"hostname", "shop.example"}};

    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (btz_str_is(format, formats[i].format)) {
            return formats[i].value;
        }
    }
    return NULL;
}

static struct btz_json *number_for(struct btz_arena *arena, const struct btz_json *schema)
{
    int64_t low = 3;
    int64_t bound;

    if (btz_json_int64(btz_json_getz(schema, "minimum"), &bound) && bound > low) {
        low = bound;
    }
    if (btz_json_int64(btz_json_getz(schema, "exclusiveMinimum"), &bound) && bound >= low &&
        bound < INT64_MAX) {
        low = bound + 1;
    }
    if (btz_json_int64(btz_json_getz(schema, "maximum"), &bound) && bound < low) {
        low = bound;
    }
    if (btz_json_int64(btz_json_getz(schema, "multipleOf"), &bound) && bound > 0) {
        low = bound;
    }
    return btz_json_new_int(arena, low);
}

static struct btz_json *value_for(struct btz_arena *arena, const struct btz_json *root,
                                  const struct btz_json *schema, struct btz_str name, int depth);

static struct btz_json *object_for(struct btz_arena *arena, const struct btz_json *root,
                                   const struct btz_json *schema, int depth)
{
    const struct btz_json *required = btz_json_getz(schema, "required");
    const struct btz_json *properties = btz_json_getz(schema, "properties");
    struct btz_json *out = btz_json_new_object(arena);

    for (size_t i = 0; i < btz_json_count(required); i++) {
        struct btz_str name = btz_json_str(btz_json_at(required, i));
        struct btz_json *value =
            value_for(arena, root, btz_json_get(properties, name), name, depth + 1);

        if (!value) {
            return NULL;
        }
        btz_json_set(arena, out, name, value);
    }
    return out;
}

static struct btz_json *value_for(struct btz_arena *arena, const struct btz_json *root,
                                  const struct btz_json *schema, struct btz_str name, int depth)
{
    struct btz_str type;
    const char *fixed;

    schema = resolve(root, schema);
    if (depth > DEPTH_MAX || !btz_json_is(schema, BTZ_JSON_OBJECT)) {
        return NULL;
    }
    if (btz_json_getz(schema, "const")) {
        return btz_json_dup(arena, btz_json_getz(schema, "const"));
    }
    if (btz_json_count(btz_json_getz(schema, "enum"))) {
        return btz_json_dup(arena, btz_json_at(btz_json_getz(schema, "enum"), 0));
    }
    type = type_of(schema);
    if (btz_str_is(type, "string") || type.len == 0) {
        fixed = sample_of_format(btz_json_str(btz_json_getz(schema, "format")));
        return btz_json_new_strz(arena, fixed ? fixed : sample_of(arena, name));
    }
    if (btz_str_is(type, "integer") || btz_str_is(type, "number")) {
        return number_for(arena, schema);
    }
    if (btz_str_is(type, "boolean")) {
        return btz_json_new_bool(arena, true);
    }
    if (btz_str_is(type, "array")) {
        struct btz_json *list = btz_json_new_array(arena);
        const struct btz_json *items = btz_json_getz(schema, "items");
        struct btz_json *one = items ? value_for(arena, root, items, name, depth + 1)
                                     : btz_json_new_strz(arena, sample_of(arena, name));

        if (one) {
            btz_json_push(arena, list, one);
        }
        return one ? list : NULL;
    }
    return btz_str_is(type, "object") ? object_for(arena, root, schema, depth) : NULL;
}

struct btz_json *btz_sieve_arguments(struct btz_arena *arena, const struct btz_json *tool,
                                     const struct btz_schema *schema, struct btz_str extra,
                                     const struct btz_json *value)
{
    const struct btz_json *root = btz_json_getz(tool, "inputSchema");
    const struct btz_json *properties = btz_sieve_properties(tool);
    struct btz_json *out = schema ? object_for(arena, root, root, 0) : NULL;

    if (!out) {
        return NULL;
    }
    for (size_t i = 0; btz_json_count(out) == 0 && i < btz_json_count(properties); i++) {
        struct btz_str name = btz_json_key_at(properties, i);
        const struct btz_json *parameter = btz_json_value_at(properties, i);

        if (btz_sieve_takes_text(tool, parameter)) {
            struct btz_json *text = value_for(arena, root, parameter, name, 1);

            if (text) {
                btz_json_set(arena, out, name, text);
            }
        }
    }
    if (extra.len) {
        btz_json_set(arena, out, extra, value);
    }
    return btz_schema_check(schema, out, NULL, NULL) == BTZ_OK ? out : NULL;
}
