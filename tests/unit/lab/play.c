#include "play.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "lab/lab_int.h"

enum { WORLD_SEED = 1, OTHER_SEED = 2, FILE_MAX = 1 << 20 };

static void failed(struct play *play, const char *fmt, ...) BTZ_PRINTF(2, 3);

static void failed(struct play *play, const char *fmt, ...)
{
    va_list args;

    if (play->failures++ == 0) {
        va_start(args, fmt);
        (void)vsnprintf(play->why, sizeof(play->why), fmt, args);
        va_end(args);
    }
}

struct play play_new(struct btz_lab *lab, struct btz_str server)
{
    struct btz_arena *arena = btz_arena_new();

    return (struct play){.lab = lab, .arena = arena, .server = btz_arena_dup(arena, server)};
}

void play_free(struct play *play)
{
    play_end(play);
    btz_arena_free(play->arena);
}

void play_end(struct play *play)
{
    btz_stage_free(play->stage);
    play->stage = NULL;
}

static void put(struct play *play, const struct btz_json *entry)
{
    const struct btz_json *path = btz_json_getz(entry, "path");
    struct world_key keys[WORLD_DEPTH] = {{.name = play->server}};
    size_t count = btz_json_count(path);
    const char *why = NULL;

    for (size_t i = 0; i < count && i + 1 < WORLD_DEPTH; i++) {
        keys[i + 1].name = btz_json_str(btz_json_at(path, i));
    }
    if (btz_world_put(&play->stage->world, keys, count + 1, btz_json_getz(entry, "value"), &why) !=
        BTZ_OK) {
        failed(play, "world: %s", why);
    }
}

void play_begin(struct play *play, uint64_t seed, const struct btz_json *world)
{
    struct btz_err err;

    play_end(play);
    play->kept = btz_json_new_object(play->arena);
    if (btz_stage_new_plain(play->lab, &play->server, 1, seed, &play->stage, &err) != BTZ_OK) {
        btz_panic("%.*s: %s", BTZ_FMT(play->server), err.msg);
    }
    for (size_t i = 0; i < btz_json_count(world); i++) {
        put(play, btz_json_at(world, i));
    }
}

/* Puts kept texts in the place of "{name}". */
static struct btz_str filled(struct play *play, struct btz_str text)
{
    for (size_t i = 0; i < btz_json_count(play->kept); i++) {
        struct btz_str name =
            btz_arena_printf(play->arena, "{%.*s}", BTZ_FMT(btz_json_key_at(play->kept, i)));
        struct btz_str value = btz_json_str(btz_json_value_at(play->kept, i));
        ptrdiff_t at = btz_str_find(text, name);

        if (at >= 0) {
            struct btz_str rest = btz_str_sub(text, (size_t)at + name.len, SIZE_MAX);

            text = btz_arena_printf(play->arena, "%.*s%.*s%.*s", (int)at, text.ptr, BTZ_FMT(value),
                                    BTZ_FMT(rest));
        }
    }
    return text;
}

static const struct btz_json *filled_value(struct play *play, const struct btz_json *value)
{
    struct btz_json *out;

    if (btz_json_is(value, BTZ_JSON_STRING)) {
        return btz_json_new_str(play->arena, filled(play, btz_json_str(value)));
    }
    if (btz_json_is(value, BTZ_JSON_ARRAY)) {
        out = btz_json_new_array(play->arena);
        for (size_t i = 0; i < btz_json_count(value); i++) {
            btz_json_push(play->arena, out, filled_value(play, btz_json_at(value, i)));
        }
        return out;
    }
    if (btz_json_is(value, BTZ_JSON_OBJECT)) {
        out = btz_json_new_object(play->arena);
        for (size_t i = 0; i < btz_json_count(value); i++) {
            btz_json_set(play->arena, out, btz_json_key_at(value, i),
                         filled_value(play, btz_json_value_at(value, i)));
        }
        return out;
    }
    return value;
}

/* Whether `value` holds at least what `part` says: members of objects, all items of arrays. */
static bool holds(const struct btz_json *value, const struct btz_json *part)
{
    if (btz_json_is(part, BTZ_JSON_OBJECT) && btz_json_is(value, BTZ_JSON_OBJECT)) {
        for (size_t i = 0; i < btz_json_count(part); i++) {
            const struct btz_json *member = btz_json_get(value, btz_json_key_at(part, i));

            if (!member || !holds(member, btz_json_value_at(part, i))) {
                return false;
            }
        }
        return true;
    }
    if (btz_json_is(part, BTZ_JSON_ARRAY) && btz_json_is(value, BTZ_JSON_ARRAY)) {
        bool same = btz_json_count(part) == btz_json_count(value);

        for (size_t i = 0; same && i < btz_json_count(part); i++) {
            same = holds(btz_json_at(value, i), btz_json_at(part, i));
        }
        return same;
    }
    return value && btz_json_equal(value, part);
}

static struct btz_str text_of(struct play *play, const struct btz_json *result)
{
    const struct btz_json *content = btz_json_getz(result, "content");
    struct btz_str out = btz_str_of("");

    for (size_t i = 0; i < btz_json_count(content); i++) {
        struct btz_str part = btz_json_str(btz_json_getz(btz_json_at(content, i), "text"));

        out = btz_arena_printf(play->arena, "%.*s%.*s", BTZ_FMT(out), BTZ_FMT(part));
    }
    return out;
}

static void check_text(struct play *play, const char *where, const struct btz_json *expect,
                       struct btz_str text)
{
    const struct btz_json *some = btz_json_getz(expect, "text");
    const struct btz_json *none = btz_json_getz(expect, "not");
    const struct btz_json *exact = btz_json_getz(expect, "exact");

    for (size_t i = 0; i < btz_json_count(some); i++) {
        struct btz_str part = filled(play, btz_json_str(btz_json_at(some, i)));

        if (btz_str_find(text, part) < 0) {
            failed(play, "%s: \"%.*s\" is not in: %.*s", where, BTZ_FMT(part), BTZ_FMT(text));
        }
    }
    for (size_t i = 0; i < btz_json_count(none); i++) {
        struct btz_str part = filled(play, btz_json_str(btz_json_at(none, i)));

        if (btz_str_find(text, part) >= 0) {
            failed(play, "%s: \"%.*s\" should not be in: %.*s", where, BTZ_FMT(part),
                   BTZ_FMT(text));
        }
    }
    if (exact && !btz_str_eq(filled(play, btz_json_str(exact)), text)) {
        failed(play, "%s: the text is not as expected: %.*s", where, BTZ_FMT(text));
    }
}

static void check_structured(struct play *play, const char *where, const struct btz_json *expect,
                             const struct btz_json *structured)
{
    for (size_t i = 0; i < btz_json_count(expect); i++) {
        struct btz_str pointer = btz_json_key_at(expect, i);
        const struct btz_json *part = filled_value(play, btz_json_value_at(expect, i));
        const struct btz_json *value = btz_json_pointer(structured, pointer);

        if (!holds(value, part)) {
            failed(play, "%s: %.*s is not %s in: %s", where, BTZ_FMT(pointer),
                   btz_json_text(play->arena, part).ptr,
                   structured ? btz_json_text(play->arena, structured).ptr : "nothing");
        }
    }
}

/* {"sink": name, "record": {...}}: the last record of that sink must hold this, and be this call's.
 */
static void check_sink(struct play *play, const char *where, const struct btz_json *expect)
{
    struct btz_str name = btz_json_str(btz_json_getz(expect, "sink"));
    const struct btz_json *part = filled_value(play, btz_json_getz(expect, "record"));
    const struct btz_json *last = NULL;
    int64_t event = 0;

    for (size_t i = 0; i < btz_stage_journal_count(play->stage); i++) {
        const struct btz_json *entry = btz_stage_journal_at(play->stage, i);

        if (btz_str_eq(btz_json_str(btz_json_getz(entry, "sink")), name)) {
            last = entry;
        }
    }
    if (!last || !btz_json_int64(btz_json_getz(last, "event"), &event) ||
        (uint64_t)event != play->event) {
        failed(play, "%s: the call wrote nothing to the sink %.*s", where, BTZ_FMT(name));
    } else if (!holds(btz_json_getz(last, "value"), part)) {
        failed(play, "%s: the record is not as expected: %s", where,
               btz_json_text(play->arena, btz_json_getz(last, "value")).ptr);
    }
}

/* {name: {"pointer": p}} or {name: {"after": a, "before": b}}: for later "{name}". */
static void keep(struct play *play, const char *where, const struct btz_json *wanted,
                 const struct btz_json *structured, struct btz_str text)
{
    for (size_t i = 0; i < btz_json_count(wanted); i++) {
        const struct btz_json *how = btz_json_value_at(wanted, i);
        const struct btz_json *pointer = btz_json_getz(how, "pointer");
        struct btz_str value = BTZ_STR_NONE;

        if (pointer) {
            value = btz_json_str(btz_json_pointer(structured, btz_json_str(pointer)));
        } else {
            struct btz_str after = filled(play, btz_json_str(btz_json_getz(how, "after")));
            ptrdiff_t at = btz_str_find(text, after);

            if (at >= 0) {
                struct btz_str rest = btz_str_sub(text, (size_t)at + after.len, SIZE_MAX);
                ptrdiff_t end = btz_str_find(rest, btz_json_str(btz_json_getz(how, "before")));

                value = end >= 0 ? btz_str_sub(rest, 0, (size_t)end) : value;
            }
        }
        if (value.len == 0) {
            failed(play, "%s: nothing to keep as %.*s in: %.*s", where,
                   BTZ_FMT(btz_json_key_at(wanted, i)), BTZ_FMT(text));
            value = btz_str_of("nothing-was-kept");
        }
        btz_json_set(play->arena, play->kept, btz_json_key_at(wanted, i),
                     btz_json_new_str(play->arena, value));
    }
}

static const struct btz_json *as_result(struct play *play, struct btz_str text, bool error)
{
    struct btz_json *part = btz_json_new_object(play->arena);
    struct btz_json *content = btz_json_new_array(play->arena);
    struct btz_json *out = btz_json_new_object(play->arena);

    btz_json_set_str(play->arena, part, "text", text);
    btz_json_push(play->arena, content, part);
    btz_json_setz(play->arena, out, "content", content);
    btz_json_set_bool(play->arena, out, "isError", error);
    return out;
}

/* The texts of a prompt's messages, each on lines of its own behind its role. */
static struct btz_str messages_text(struct play *play, const struct btz_json *result)
{
    const struct btz_json *messages = btz_json_getz(result, "messages");
    struct btz_str out = btz_str_of("");

    for (size_t i = 0; i < btz_json_count(messages); i++) {
        const struct btz_json *message = btz_json_at(messages, i);
        struct btz_str text = btz_json_str(btz_json_pointer(message, BTZ_STR("/content/text")));

        out =
            btz_arena_printf(play->arena, "%.*s%s%.*s: %.*s", BTZ_FMT(out), i ? "\n" : "",
                             BTZ_FMT(btz_json_str(btz_json_getz(message, "role"))), BTZ_FMT(text));
    }
    return out;
}

static struct btz_str values_text(struct play *play, const struct btz_json *values)
{
    struct btz_str out = btz_str_of("");

    for (size_t i = 0; i < btz_json_count(values); i++) {
        out = btz_arena_printf(play->arena, "%.*s%s%.*s", BTZ_FMT(out), i ? "\n" : "",
                               BTZ_FMT(btz_json_str(btz_json_at(values, i))));
    }
    return out;
}

/* A call with "resource" reads that instead, one with "prompt" gets that with "args", and one with
 * "complete" asks for the values of "argument". What the peer may not do is an error result. */
static int perform(struct play *play, struct btz_str tool, const struct btz_json *call,
                   const struct btz_json **result, struct btz_err *err)
{
    const struct btz_json *args = filled_value(play, btz_json_getz(call, "args"));
    const struct btz_json *uri = btz_json_getz(call, "resource");
    const struct btz_json *prompt = btz_json_getz(call, "prompt");
    const struct btz_json *ref = btz_json_getz(call, "complete");
    const struct btz_json *value = NULL;
    int code;

    if (uri) {
        code = btz_stage_read(play->stage, 0, filled(play, btz_json_str(uri)), play->event, &value,
                              err);
        *result = value;
    } else if (prompt) {
        code =
            btz_stage_prompt(play->stage, 0, btz_json_str(prompt), args, play->event, &value, err);
        *result = code == BTZ_OK ? as_result(play, messages_text(play, value), false) : NULL;
    } else if (ref) {
        code =
            btz_stage_complete(play->stage, 0, ref, btz_json_str(btz_json_getz(call, "argument")),
                               btz_json_str(btz_json_getz(call, "value")), args, &value, err);
        *result = code == BTZ_OK ? as_result(play, values_text(play, value), false) : NULL;
    } else {
        return btz_stage_call(play->stage, 0, tool, args, play->event, result, err);
    }
    if (code == BTZ_ENOTFOUND || code == BTZ_EINVAL) {
        *result = as_result(play, btz_arena_dup(play->arena, btz_str_of(err->msg)), true);
        return BTZ_OK;
    }
    return code;
}

struct btz_str play_call(struct play *play, struct btz_str tool, const struct btz_json *call)
{
    const struct btz_json *other = btz_json_getz(call, "tool");
    bool error = btz_json_bool(btz_json_getz(call, "error"), false);
    const struct btz_json *result = NULL;
    const struct btz_json *structured;
    struct btz_err err = {0};
    struct btz_str text;
    const char *where;

    tool = other ? btz_json_str(other) : tool;
    play->event++;
    play->calls++;
    where = btz_arena_printf(play->arena, "%.*s.%.*s %s", BTZ_FMT(play->server), BTZ_FMT(tool),
                             btz_json_text(play->arena, call).ptr)
                .ptr;
    if (perform(play, tool, call, &result, &err) != BTZ_OK) {
        failed(play, "%s: %s:%u: %s", where, err.file, err.line, err.msg);
        return btz_str_of("");
    }
    text = btz_json_getz(result, "contents")
               ? btz_json_str(btz_json_pointer(result, BTZ_STR("/contents/0/text")))
               : text_of(play, result);
    structured = btz_json_getz(result, "structuredContent");
    if (btz_json_bool(btz_json_getz(result, "isError"), false) != error) {
        failed(play, "%s: %s: %.*s", where, error ? "no error" : "an error", BTZ_FMT(text));
    }
    check_text(play, where, call, text);
    check_structured(play, where, btz_json_getz(call, "structured"), structured);
    if (btz_json_getz(call, "sink")) {
        check_sink(play, where, call);
    }
    keep(play, where, btz_json_getz(call, "keep"), structured, text);
    return text;
}

void play_calls(struct play *play, struct btz_str tool, const struct btz_json *calls)
{
    for (size_t i = 0; i < btz_json_count(calls); i++) {
        (void)play_call(play, tool, btz_json_at(calls, i));
    }
}

static void begin(struct play *play, struct btz_str tool, const struct btz_json *table,
                  uint64_t seed)
{
    play_begin(play, seed, btz_json_getz(table, "world"));
    play_calls(play, tool, btz_json_getz(table, "setup"));
}

/* A call says something about its result beyond "no error". */
static bool expects(const struct btz_json *call)
{
    return btz_json_count(btz_json_getz(call, "text")) > 0 || btz_json_getz(call, "exact") ||
           btz_json_count(btz_json_getz(call, "structured")) > 0;
}

void play_two(struct play *play, struct btz_str tool, const struct btz_json *table)
{
    const struct btz_json *two = btz_json_getz(table, "two");
    struct btz_str text[2] = {{0}};

    if (btz_json_count(two) != 2) {
        failed(play, "%.*s: 'two' needs two calls", BTZ_FMT(tool));
        return;
    }
    begin(play, tool, table, WORLD_SEED);
    for (size_t i = 0; i < 2; i++) {
        if (btz_json_getz(btz_json_at(two, i), "tool") || !expects(btz_json_at(two, i))) {
            failed(play, "%.*s: a call of 'two' is of another tool or expects nothing",
                   BTZ_FMT(tool));
        }
        text[i] = play_call(play, tool, btz_json_at(two, i));
    }
    if (btz_str_eq(text[0], text[1])) {
        failed(play, "%.*s: two arguments give one result", BTZ_FMT(tool));
    }
}

static bool read_only(struct play *play, struct btz_str tool)
{
    const struct btz_json *tools =
        btz_json_getz(btz_lab_server_find(play->lab, play->server), "tools");

    for (size_t i = 0; i < btz_json_count(tools); i++) {
        const struct btz_json *one = btz_json_at(tools, i);

        if (btz_str_eq(btz_json_str(btz_json_getz(one, "name")), tool)) {
            return btz_json_bool(btz_json_pointer(one, BTZ_STR("/annotations/readOnlyHint")),
                                 false);
        }
    }
    failed(play, "%.*s: there is no such tool", BTZ_FMT(tool));
    return false;
}

/* A write is seen by a later read: a call of this tool, and at the end one that expects. */
static void play_seen(struct play *play, struct btz_str tool, const struct btz_json *table)
{
    const struct btz_json *seen = btz_json_getz(table, "seen");
    size_t count = btz_json_count(seen);
    bool calls = false;

    if (!seen && read_only(play, tool)) {
        return;
    }
    for (size_t i = 0; i + 1 < count; i++) {
        const struct btz_json *call = btz_json_at(seen, i);

        calls = calls || (!btz_json_getz(call, "tool") && !btz_json_getz(call, "resource"));
    }
    if (!calls || !expects(btz_json_at(seen, count - 1))) {
        failed(play, "%.*s: 'seen' needs a call and a later read with an expectation",
               BTZ_FMT(tool));
    }
    begin(play, tool, table, WORLD_SEED);
    play_calls(play, tool, seen);
}

static void play_errors(struct play *play, struct btz_str tool, const struct btz_json *table)
{
    const struct btz_json *violations = btz_json_getz(table, "violations");
    const struct btz_json *unknown = btz_json_getz(table, "unknown");

    if (btz_json_count(violations) == 0) {
        failed(play, "%.*s: 'violations' is empty", BTZ_FMT(tool));
    }
    if (btz_json_count(unknown) == 0 && !btz_json_getz(table, "no_objects")) {
        failed(play, "%.*s: neither 'unknown' nor 'no_objects' is there", BTZ_FMT(tool));
    }
    for (size_t i = 0; i < btz_json_count(violations); i++) {
        struct btz_json *call = btz_json_new_object(play->arena);
        struct btz_json *text = btz_json_new_array(play->arena);

        btz_json_push(play->arena, text, btz_json_new_strz(play->arena, "Invalid arguments"));
        btz_json_setz(play->arena, call, "args", btz_json_at(violations, i));
        btz_json_setz(play->arena, call, "text", text);
        btz_json_set_bool(play->arena, call, "error", true);
        begin(play, tool, table, WORLD_SEED);
        (void)play_call(play, tool, call);
        if (btz_stage_journal_count(play->stage) > 0 && !btz_json_getz(table, "setup")) {
            failed(play, "%.*s: a refused call changed the world", BTZ_FMT(tool));
        }
    }
    for (size_t i = 0; i < btz_json_count(unknown); i++) {
        const struct btz_json *call = btz_json_at(unknown, i);

        if (!btz_json_bool(btz_json_getz(call, "error"), false) || !expects(call)) {
            failed(play, "%.*s: a call of 'unknown' expects no error text", BTZ_FMT(tool));
        }
        begin(play, tool, table, WORLD_SEED);
        (void)play_call(play, tool, call);
    }
}

/* A tool whose results depend on its arguments alone: the calls of 'two' say the same in all
 * worlds.
 */
static void play_pure(struct play *play, struct btz_str tool, const struct btz_json *table)
{
    const struct btz_json *two = btz_json_getz(table, "two");
    struct btz_str text[2] = {{0}};

    if (btz_json_str(btz_json_getz(table, "no_seeds")).len == 0) {
        failed(play, "%.*s: 'no_seeds' gives no reason", BTZ_FMT(tool));
    }
    for (size_t i = 0; i < btz_json_count(two); i++) {
        for (size_t n = 0; n < 2; n++) {
            play_begin(play, n == 0 ? WORLD_SEED : OTHER_SEED, btz_json_getz(table, "world"));
            text[n] = play_call(play, tool, btz_json_at(two, i));
        }
        if (!btz_str_eq(text[0], text[1])) {
            failed(play, "%.*s: two seeds give two results", BTZ_FMT(tool));
        }
    }
}

/* The last of the calls gives other texts in other worlds, and the same in the same world. */
static void play_seeds(struct play *play, struct btz_str tool, const struct btz_json *table)
{
    const struct btz_json *calls = btz_json_getz(table, "seeds");
    const uint64_t seeds[] = {WORLD_SEED, WORLD_SEED, OTHER_SEED};
    struct btz_str text[3] = {{0}};
    bool own = false;

    for (size_t n = 0; n < 3; n++) {
        play_begin(play, seeds[n], btz_json_getz(table, "world"));
        for (size_t i = 0; i < btz_json_count(calls); i++) {
            const struct btz_json *call = btz_json_at(calls, i);

            own = own || !(btz_json_getz(call, "tool") || btz_json_getz(call, "resource"));
            text[n] = play_call(play, tool, call);
        }
    }
    if (!own) {
        failed(play, "%.*s: 'seeds' has no call of the tool", BTZ_FMT(tool));
    }
    if (!btz_str_eq(text[0], text[1])) {
        failed(play, "%.*s: one seed gives two worlds", BTZ_FMT(tool));
    }
    if (btz_str_eq(text[0], text[2])) {
        failed(play, "%.*s: two seeds give one world", BTZ_FMT(tool));
    }
}

void play_tool(struct play *play, struct btz_str tool, const struct btz_json *table)
{
    play_two(play, tool, table);
    play_seen(play, tool, table);
    play_errors(play, tool, table);
    if (btz_json_getz(table, "no_seeds")) {
        play_pure(play, tool, table);
    } else {
        play_seeds(play, tool, table);
    }
    if (btz_json_getz(table, "more")) {
        begin(play, tool, table, WORLD_SEED);
        play_calls(play, tool, btz_json_getz(table, "more"));
    }
    play_end(play);
}

const struct btz_json *play_load(struct btz_arena *arena, const char *folder, const char *name)
{
    struct btz_str path = btz_arena_printf(arena, "%s/%s", folder, name);
    const struct btz_json *out = NULL;
    FILE *file = fopen(path.ptr, "rb");
    struct btz_err err;
    char *bytes;
    size_t len;

    if (!file) {
        btz_panic("%s cannot be opened", path.ptr);
    }
    bytes = btz_arena_alloc(arena, FILE_MAX);
    len = fread(bytes, 1, FILE_MAX, file);
    (void)fclose(file);
    if (btz_json_parse(arena, (struct btz_str){bytes, len}, NULL, &out, &err) != BTZ_OK) {
        btz_panic("%s:%u:%u: %s", path.ptr, err.line, err.column, err.msg);
    }
    return out;
}
