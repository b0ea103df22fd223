/* Items: reading, checking, writing. */
#include <stdio.h>

#include "sieve/sieve_int.h"

enum { TEXT_MAX = 4096, QUERY_MAX = 64 * 1024, POINTER_MAX = 1024 };

static int read_condition(const struct btz_json *value, const char *path, struct btz_err *err,
                          struct btz_sieve_condition *out)
{
    static const char *const with_equals[] = {"path", "equals", NULL};
    static const char *const with_contains[] = {"path", "contains", NULL};
    const struct fields f = {value, path, err};
    bool contains = btz_json_getz(value, "contains") != NULL;
    int rc = btz_sieve_fields_check(&f, contains ? with_contains : with_equals);
    struct btz_str pointer;

    if (rc != BTZ_OK) {
        return rc;
    }
    pointer = btz_json_str(btz_json_getz(value, "path"));
    if (!btz_json_is(btz_json_getz(value, "path"), BTZ_JSON_STRING) || pointer.len > POINTER_MAX ||
        (pointer.len && pointer.ptr[0] != '/')) {
        return btz_sieve_field_wrong(&f, "path", "a JSON pointer is expected, as /to or \"\"");
    }
    out->path = pointer;
    out->equals = btz_json_getz(value, "equals");
    out->contains = BTZ_STR_NONE;
    return contains ? btz_sieve_field_text(&f, "contains", QUERY_MAX, &out->contains) : BTZ_OK;
}

/* `*present` is false for null. */
static int read_call(struct btz_arena *arena, const struct fields *outer, const char *name,
                     bool nullable, struct btz_sieve_call *out, bool *present)
{
    static const char *const names[] = {"tool", "arguments", NULL};
    char path[100];
    const struct fields f = {btz_json_getz(outer->object, name),
                             btz_arena_printf(arena, "/%s", name).ptr, outer->err};
    const struct btz_json *list;
    int rc;

    *present = !(nullable && btz_json_is(f.object, BTZ_JSON_NULL));
    if (!*present) {
        return BTZ_OK;
    }
    rc = btz_sieve_fields_check(&f, names);
    if (rc == BTZ_OK) {
        rc = btz_sieve_field_text(&f, "tool", TEXT_MAX, &out->tool);
    }
    if (rc == BTZ_OK) {
        rc = btz_sieve_field_array(&f, "arguments", BTZ_SIEVE_CONDITIONS_MAX, &list);
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    out->count = btz_json_count(list);
    out->conditions = btz_arena_array(arena, out->count, sizeof(*out->conditions));
    for (size_t i = 0; rc == BTZ_OK && i < out->count; i++) {
        (void)snprintf(path, sizeof(path), "/%s/arguments/%zu", name, i);
        rc = read_condition(btz_json_at(list, i), path, outer->err, &out->conditions[i]);
    }
    return rc;
}

static int read_words(const struct fields *f, struct btz_sieve_item *out)
{
    int kind = 0;
    int paradigm = 0;
    int risk = 0;
    int split = 0;
    int phrasing = 0;
    int rc = btz_sieve_field_word(f, "kind", btz_sieve_kind_words, false, &kind);

    if (rc == BTZ_OK) {
        rc = btz_sieve_field_word(f, "paradigm", btz_sieve_paradigm_words, true, &paradigm);
    }
    if (rc == BTZ_OK) {
        rc = btz_sieve_field_word(f, "risk", btz_sieve_risk_words, true, &risk);
    }
    if (rc == BTZ_OK) {
        rc = btz_sieve_field_word(f, "split", btz_sieve_split_words, false, &split);
    }
    if (rc == BTZ_OK) {
        rc = btz_sieve_field_word(f, "phrasing", btz_sieve_phrasing_words, false, &phrasing);
    }
    out->kind = (enum btz_sieve_kind)kind;
    out->paradigm = (enum btz_sieve_paradigm)paradigm;
    out->risk = (enum btz_sieve_risk)risk;
    out->split = (enum btz_sieve_split)split;
    out->phrasing = (enum btz_sieve_phrasing)phrasing;
    return rc;
}

static int read_texts(const struct fields *f, struct btz_sieve_item *out)
{
    int rc = btz_sieve_field_text(f, "id", TEXT_MAX, &out->id);

    if (rc == BTZ_OK) {
        rc = btz_sieve_field_text_or_null(f, "pair", TEXT_MAX, &out->pair);
    }
    if (rc == BTZ_OK) {
        rc = btz_sieve_field_text(f, "family", TEXT_MAX, &out->family);
    }
    if (rc == BTZ_OK) {
        rc = btz_sieve_field_text(f, "cluster", TEXT_MAX, &out->cluster);
    }
    if (rc == BTZ_OK) {
        rc = btz_sieve_field_text_or_null(f, "replaces", TEXT_MAX, &out->replaces);
    }
    if (rc == BTZ_OK) {
        rc = btz_sieve_field_text(f, "query", QUERY_MAX, &out->query);
    }
    if (rc == BTZ_OK && !btz_json_is(btz_json_getz(f->object, "held_out"), BTZ_JSON_BOOL)) {
        rc = btz_sieve_field_wrong(f, "held_out", "true or false is expected");
    }
    out->held_out = btz_json_bool(btz_json_getz(f->object, "held_out"), false);
    return rc;
}

static int read_operands(struct btz_arena *arena, const struct fields *f,
                         struct btz_sieve_item *out)
{
    const struct btz_json *list;
    int rc = btz_sieve_field_array(f, "operands", BTZ_SIEVE_OPERANDS_MAX, &list);

    if (rc != BTZ_OK) {
        return rc;
    }
    out->operand_count = btz_json_count(list);
    out->operands = btz_arena_array(arena, out->operand_count, sizeof(*out->operands));
    for (size_t i = 0; i < out->operand_count; i++) {
        out->operands[i] = btz_json_str(btz_json_at(list, i));
        if (out->operands[i].len == 0 || out->operands[i].len > TEXT_MAX) {
            return btz_sieve_field_wrong(f, "operands", "entry %zu must be a text of 1 to %d bytes",
                                         i, TEXT_MAX);
        }
    }
    return BTZ_OK;
}

static struct btz_str name_of(const struct btz_json *tool)
{
    return btz_json_str(btz_json_getz(tool, "name"));
}

static bool has_tool(const struct btz_json *tools, struct btz_str name)
{
    for (size_t i = 0; i < btz_json_count(tools); i++) {
        if (btz_str_eq(name_of(btz_json_at(tools, i)), name)) {
            return true;
        }
    }
    return false;
}

static int check_tools(const struct fields *f, const struct btz_sieve_item *item)
{
    /* Names must be distinct: a call names its tool by nothing else. */
    struct btz_arena *arena = btz_arena_new();
    struct btz_json *seen = btz_json_new_object(arena);
    int rc = BTZ_OK;

    btz_json_set(arena, seen, name_of(item->poisoned), btz_json_new_bool(arena, true));
    for (size_t i = 0; rc == BTZ_OK && i < btz_json_count(item->tools); i++) {
        struct btz_str name = name_of(btz_json_at(item->tools, i));

        if (name.len == 0) {
            rc = btz_sieve_field_wrong(f, "tools", "entry %zu has no name", i);
        } else if (btz_json_get(seen, name)) {
            rc = btz_sieve_field_wrong(f, "tools", "entry %zu: there are two tools \"%.*s\"", i,
                                       (int)(name.len < 80 ? name.len : 80), name.ptr);
        } else {
            btz_json_set(arena, seen, name, btz_json_new_bool(arena, true));
        }
    }
    btz_arena_free(arena);
    return rc;
}

static int check_sense(const struct fields *f, const struct btz_sieve_item *item)
{
    bool negative = item->kind == BTZ_SIEVE_NEGATIVE;

    if (negative != (item->paradigm == BTZ_SIEVE_NO_PARADIGM)) {
        return btz_sieve_field_wrong(f, "paradigm",
                                     "a negative has null, an attack or twin P1 to "
                                     "P3");
    }
    if (negative != (item->risk == BTZ_SIEVE_NO_RISK)) {
        return btz_sieve_field_wrong(f, "risk",
                                     "a negative has null, an attack or twin one of the "
                                     "ten");
    }
    if (!negative && item->pair.len == 0) {
        return btz_sieve_field_wrong(f, "pair", "an attack and its twin share an id");
    }
    if (item->has_malicious != (item->kind == BTZ_SIEVE_ATTACK)) {
        return btz_sieve_field_wrong(f, "malicious", "an attack has a call, others have null");
    }
    if (!btz_str_eq(item->target.tool, name_of(item->poisoned)) &&
        !has_tool(item->tools, item->target.tool)) {
        return btz_sieve_field_wrong(f, "target", "there is no tool \"%.*s\" in the item",
                                     BTZ_FMT(btz_str_sub(item->target.tool, 0, 80)));
    }
    if (item->has_malicious && !has_tool(item->tools, item->malicious.tool)) {
        return btz_sieve_field_wrong(f, "malicious", "\"%.*s\" is none of the other tools",
                                     BTZ_FMT(btz_str_sub(item->malicious.tool, 0, 80)));
    }
    return BTZ_OK;
}

int btz_sieve_item_read(struct btz_arena *arena, const struct btz_json *value,
                        struct btz_sieve_item *out, struct btz_err *err)
{
    static const char *const names[] = {"id",        "kind",     "pair",    "paradigm", "risk",
                                        "family",    "held_out", "cluster", "split",    "poisoned",
                                        "replaces",  "tools",    "query",   "phrasing", "target",
                                        "malicious", "operands", NULL};
    const struct fields f = {value, "", err};
    struct btz_sieve_item item = {0};
    bool present;
    int rc = btz_sieve_fields_check(&f, names);

    if (rc == BTZ_OK) {
        rc = read_texts(&f, &item);
    }
    if (rc == BTZ_OK) {
        rc = read_words(&f, &item);
    }
    if (rc == BTZ_OK) {
        rc = btz_sieve_field_tool(&f, "poisoned", &item.poisoned);
    }
    if (rc == BTZ_OK) {
        rc = btz_sieve_field_array(&f, "tools", BTZ_SIEVE_TOOLS_MAX, &item.tools);
    }
    if (rc == BTZ_OK) {
        rc = read_call(arena, &f, "target", false, &item.target, &present);
    }
    if (rc == BTZ_OK) {
        rc = read_call(arena, &f, "malicious", true, &item.malicious, &item.has_malicious);
    }
    if (rc == BTZ_OK) {
        rc = read_operands(arena, &f, &item);
    }
    if (rc == BTZ_OK) {
        rc = check_tools(&f, &item);
    }
    if (rc == BTZ_OK) {
        rc = check_sense(&f, &item);
    }
    if (rc == BTZ_OK) {
        *out = item;
    }
    return rc;
}

int btz_sieve_item_next(struct btz_sieve_reader *reader, struct btz_arena *arena,
                        struct btz_sieve_item *out, struct btz_err *err)
{
    struct btz_sieve_line line;
    int rc = btz_sieve_reader_next(reader, arena, &line, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    rc = btz_sieve_item_read(arena, line.value, out, err);
    if (rc != BTZ_OK) {
        btz_err_at(err, btz_sieve_reader_name(reader), line.number, 0);
    }
    return rc;
}

static const struct btz_json *call_json(struct btz_arena *arena, const struct btz_sieve_call *call)
{
    struct btz_json *out = btz_json_new_object(arena);
    struct btz_json *list = btz_json_new_array(arena);

    btz_json_set_str(arena, out, "tool", call->tool);
    for (size_t i = 0; i < call->count; i++) {
        const struct btz_sieve_condition *condition = &call->conditions[i];
        struct btz_json *one = btz_json_new_object(arena);

        btz_json_set_str(arena, one, "path", condition->path);
        if (condition->equals) {
            btz_json_setz(arena, one, "equals", condition->equals);
        } else {
            btz_json_set_str(arena, one, "contains", condition->contains);
        }
        btz_json_push(arena, list, one);
    }
    btz_json_setz(arena, out, "arguments", list);
    return out;
}

static void set_text(struct btz_arena *arena, struct btz_json *out, const char *name,
                     struct btz_str text)
{
    btz_json_setz(arena, out, name,
                  text.len ? btz_json_new_str(arena, text) : btz_json_null(arena));
}

void btz_sieve_item_write(struct btz_buf *out, const struct btz_sieve_item *item)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_json *line = btz_json_new_object(arena);
    struct btz_json *operands = btz_json_new_array(arena);

    btz_json_set_str(arena, line, "id", item->id);
    btz_json_set_strz(arena, line, "kind", btz_sieve_kind_name(item->kind));
    set_text(arena, line, "pair", item->pair);
    set_text(arena, line, "paradigm", btz_str_of(btz_sieve_paradigm_name(item->paradigm)));
    set_text(arena, line, "risk", btz_str_of(btz_sieve_risk_name(item->risk)));
    btz_json_set_str(arena, line, "family", item->family);
    btz_json_set_bool(arena, line, "held_out", item->held_out);
    btz_json_set_str(arena, line, "cluster", item->cluster);
    btz_json_set_strz(arena, line, "split", btz_sieve_split_name(item->split));
    btz_json_setz(arena, line, "poisoned", item->poisoned);
    set_text(arena, line, "replaces", item->replaces);
    btz_json_setz(arena, line, "tools", item->tools);
    btz_json_set_str(arena, line, "query", item->query);
    btz_json_set_strz(arena, line, "phrasing", btz_sieve_phrasing_name(item->phrasing));
    btz_json_setz(arena, line, "target", call_json(arena, &item->target));
    btz_json_setz(arena, line, "malicious",
                  item->has_malicious ? call_json(arena, &item->malicious) : btz_json_null(arena));
    for (size_t i = 0; i < item->operand_count; i++) {
        btz_json_push(arena, operands, btz_json_new_str(arena, item->operands[i]));
    }
    btz_json_setz(arena, line, "operands", operands);
    (void)btz_json_write(out, line);
    (void)btz_buf_add_byte(out, '\n');
    btz_arena_free(arena);
}
