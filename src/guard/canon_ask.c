/* Arms that let a model write the canonical form: the question, and a strict reader of the reply.
 * The model writes prose and nothing else: names, types and values come from the schema. */
#include "guard/canon_int.h"
#include "guard/guard_int.h"

enum { SHOWN_MAX = 24 * 1024, REPLY_MAX = 64 * 1024, LINE_MAX = 300 };

enum btz_canon_arm btz_canon_arm_before(enum btz_canon_arm arm)
{
    return arm == BTZ_CANON_CANON_REWRITE   ? BTZ_CANON_CANON
           : arm == BTZ_CANON_MODEL_REWRITE ? BTZ_CANON_NONE
                                            : arm;
}

struct btz_str btz_canon_asking_list(struct btz_arena *arena, const char *prefix)
{
    struct btz_str list = BTZ_STR_NONE;

    for (int i = 0; i < BTZ_CANON_ARMS; i++) {
        const char *name = btz_canon_arm_name((enum btz_canon_arm)i);

        if (btz_canon_arm_asks((enum btz_canon_arm)i)) {
            list = btz_arena_printf(arena, "%.*s%s%s%s", BTZ_FMT(list), list.len ? " and " : "",
                                    prefix, name);
        }
    }
    return list;
}

/* canon+rewrite asks about what canon makes of the definition. */
static int before_asking(enum btz_canon_arm arm, const struct btz_json *tool,
                         const struct btz_canon_options *options, struct btz_arena *arena,
                         struct btz_canon_result *out, struct btz_err *err)
{
    if (!btz_canon_arm_asks(arm)) {
        return btz_err_set(err, BTZ_EUSAGE, "the arm %s asks no model", btz_canon_arm_name(arm));
    }
    return btz_canon_tool(btz_canon_arm_before(arm), tool, options, arena, out, err);
}

int btz_canon_question(enum btz_canon_arm arm, const struct btz_json *tool, struct btz_arena *arena,
                       struct btz_canon_question *out, struct btz_err *err)
{
    struct btz_canon_result result;
    struct btz_str text;
    struct btz_str mark;
    unsigned version = 0;
    int rc = before_asking(arm, tool, NULL, arena, &result, err);

    if (rc) {
        return rc;
    }
    text = btz_json_text(arena, result.definition);
    if (text.len > SHOWN_MAX) {
        return btz_err_set(err, BTZ_ELIMIT, "a definition of %zu bytes is too long for a model",
                           text.len);
    }
    mark = btz_guard_mark(text, arena);
    out->system = btz_arena_dup(arena, btz_guard_prompt("rewrite.md", &version));
    out->user = btz_arena_printf(arena, "[begin %.*s]\n%.*s\n[end %.*s]\n", BTZ_FMT(mark),
                                 BTZ_FMT(text), BTZ_FMT(mark));
    out->version = version;
    return BTZ_OK;
}

static int malformed(struct btz_err *err, const char *why)
{
    return btz_err_set(err, BTZ_EINVAL, "malformed canonical form: %s", why);
}

/* Words that a model says when it will not; only looked for where there is no JSON. */
static bool sounds_like_refusal(struct btz_str reply)
{
    static const char *const words[] = {
        "i can't",    "i cannot",   "i can not",   "i'm sorry",      "i am sorry",  "i won't",
        "i will not", "i'm unable", "i am unable", "i must decline", "i'm not able"};
    char low[200];
    struct btz_str trimmed = btz_str_trim(reply);
    size_t len = trimmed.len < sizeof(low) ? trimmed.len : sizeof(low);

    for (size_t i = 0; i < len; i++) {
        char c = trimmed.ptr[i];

        low[i] = (char)(c >= 'A' && c <= 'Z' ? c + 0x20 : c);
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (btz_str_find((struct btz_str){low, len}, btz_str_of(words[i])) >= 0) {
            return true;
        }
    }
    return false;
}

/* One line of text: no line breaks, no control characters, bounded. */
static bool is_line(const struct btz_json *value, bool may_be_empty)
{
    struct btz_str text = btz_json_str(value);

    if (!btz_json_is(value, BTZ_JSON_STRING) || text.len > LINE_MAX ||
        (!may_be_empty && btz_str_trim(text).len == 0)) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] < 0x20 || text.ptr[i] == 0x7F) {
            return false;
        }
    }
    return true;
}

static bool is_effect(struct btz_str text)
{
    for (enum effect e = EFFECT_NONE; e <= EFFECT_PAYS; e++) {
        if (btz_str_is(text, canon_effect_name(e))) {
            return true;
        }
    }
    return false;
}

static int read_form(const struct btz_json *tool, struct btz_str reply, struct btz_arena *arena,
                     const struct btz_json **out, struct btz_err *err)
{
    const struct btz_json_limits limits = {.max_bytes = REPLY_MAX, .max_depth = 3};
    const struct btz_json *known = btz_json_pointer(tool, BTZ_STR("/inputSchema/properties"));
    const struct btz_json *form = NULL;
    const struct btz_json *params;

    if (btz_json_parse(arena, btz_guard_unfence(reply), &limits, &form, err)) {
        if (sounds_like_refusal(reply)) {
            return btz_err_set(err, BTZ_ENOTFOUND, "the model refused");
        }
        btz_err_prefix(err, "malformed canonical form: ");
        return BTZ_EINVAL;
    }
    if (btz_json_is(form, BTZ_JSON_OBJECT) && btz_json_count(form) == 1 &&
        is_line(btz_json_getz(form, "refused"), true)) {
        return btz_err_set(err, BTZ_ENOTFOUND, "the model refused");
    }
    params = btz_json_getz(form, "params");
    if (!btz_json_is(form, BTZ_JSON_OBJECT) || btz_json_count(form) != 4 ||
        !btz_json_is(params, BTZ_JSON_OBJECT) || !is_line(btz_json_getz(form, "purpose"), false) ||
        !is_line(btz_json_getz(form, "returns"), true)) {
        return malformed(err, "expected {\"purpose\": line, \"params\": {name: line}, "
                              "\"returns\": line, \"side_effects\": word}, lines of at most 300 "
                              "bytes");
    }
    if (!is_effect(btz_json_str(btz_json_getz(form, "side_effects")))) {
        return malformed(err, "side_effects is none of none, reads, writes, sends, deletes, pays");
    }
    for (size_t i = 0; i < btz_json_count(params); i++) {
        if (!btz_json_is(known, BTZ_JSON_OBJECT) ||
            !btz_json_get(known, btz_json_key_at(params, i))) {
            return malformed(err, "it has a parameter that the schema does not have");
        }
        if (!is_line(btz_json_value_at(params, i), true)) {
            return malformed(err, "a parameter's meaning is no line of text");
        }
    }
    *out = form;
    return BTZ_OK;
}

static const struct btz_json *with_meanings(const struct btz_json *schema,
                                            const struct btz_json *params, struct btz_arena *arena)
{
    const struct btz_json *properties = btz_json_getz(schema, "properties");
    struct btz_json *out = btz_json_shallow(arena, schema);
    struct btz_json *map = btz_json_new_object(arena);

    for (size_t i = 0; i < btz_json_count(properties); i++) {
        struct btz_str key = btz_json_key_at(properties, i);
        const struct btz_json *value = btz_json_value_at(properties, i);
        struct btz_str meaning = btz_json_str(btz_json_get(params, key));

        if (meaning.len && btz_json_is(value, BTZ_JSON_OBJECT)) {
            struct btz_json *told = btz_json_shallow(arena, value);

            btz_json_set_str(arena, told, "description", meaning);
            value = told;
        }
        btz_json_set(arena, map, key, value);
    }
    if (btz_json_is(properties, BTZ_JSON_OBJECT)) {
        btz_json_setz(arena, out, "properties", map);
    }
    return out;
}

/* The schemas of `shown`, and the prose of the form. */
static const struct btz_json *assemble(const struct btz_json *shown, const struct btz_json *form,
                                       struct btz_arena *arena)
{
    struct btz_json *out = btz_json_new_object(arena);
    struct btz_str effect = btz_json_str(btz_json_getz(form, "side_effects"));

    btz_json_setz(arena, out, "name", btz_json_getz(shown, "name"));
    btz_json_set_str(arena, out, "description",
                     canon_layout(arena, btz_json_str(btz_json_getz(form, "purpose")), BTZ_STR_NONE,
                                  BTZ_STR_NONE, btz_json_str(btz_json_getz(form, "returns")),
                                  btz_arena_cstr(arena, effect)));
    btz_json_setz(
        arena, out, "inputSchema",
        with_meanings(btz_json_getz(shown, "inputSchema"), btz_json_getz(form, "params"), arena));
    if (btz_json_getz(shown, "outputSchema")) {
        btz_json_setz(arena, out, "outputSchema", btz_json_getz(shown, "outputSchema"));
    }
    return out;
}

int btz_canon_reply(enum btz_canon_arm arm, const struct btz_json *tool, struct btz_str reply,
                    const struct btz_canon_options *options, struct btz_arena *arena,
                    struct btz_canon_result *out, struct btz_err *err)
{
    struct btz_canon_result before;
    struct btz_canon_result bare;
    struct btz_canon_result result;
    const struct btz_json *form = NULL;
    int rc = before_asking(arm, tool, options, arena, &before, err);

    if (rc == BTZ_OK) {
        rc = read_form(before.definition, reply, arena, &form, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_canon_tool(BTZ_CANON_SCHEMA_ONLY, before.definition, options, arena, &bare, err);
    }
    if (rc) {
        return rc;
    }
    result = before;
    result.definition = assemble(bare.definition, form, arena);
    if (arm == BTZ_CANON_CANON_REWRITE) {
        struct btz_canon_result after;

        rc = btz_canon_tool(BTZ_CANON_CANON, result.definition, NULL, arena, &after, err);
        if (rc) {
            return rc;
        }
        result.definition = after.definition;
    } else { /* All prose of the server went; what stands there now is the model's. */
        result.span_count = bare.span_count;
        result.spans = bare.spans;
        result.removed_bytes = bare.removed_bytes;
    }
    /* What the server wrote is not what is shown, whether or not it got shorter. */
    result.changed = !btz_json_equal(tool, result.definition);
    *out = result;
    return BTZ_OK;
}

void btz_canon_rename(struct btz_canon_result *result, struct btz_str name, struct btz_arena *arena)
{
    struct btz_json *definition;

    if (btz_str_eq(result->name, name)) {
        return;
    }
    definition = btz_json_shallow(arena, result->definition);
    btz_json_set_str(arena, definition, "name", name);
    result->definition = definition;
    result->name = name;
}
