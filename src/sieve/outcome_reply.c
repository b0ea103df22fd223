/* The text of a reply: the calls in it. */
#include "llm/mend.h"
#include "sieve/outcome.h"

enum { TRIES_MAX = 64, DEPTH_MAX = 32 };

/* End of the object or array that begins at `at`, by its brackets; 0 if it is not closed. */
static size_t closing(struct btz_str text, size_t at)
{
    bool in_text = false;
    size_t depth = 0;

    for (size_t i = at; i < text.len; i++) {
        char c = text.ptr[i];

        if (in_text) {
            i += c == '\\';
            in_text = c != '"';
        } else if (c == '"') {
            in_text = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            return i + 1;
        }
    }
    return 0;
}

static struct btz_str behind_thoughts(struct btz_str text)
{
    for (;;) {
        ptrdiff_t at = btz_str_find(text, BTZ_STR("</think>"));

        if (at < 0) {
            return text;
        }
        text = btz_str_sub(text, (size_t)at + 8, text.len);
    }
}

/* The arguments of a call: an object, nothing, or a text that holds an object. */
static const struct btz_json *arguments_of(const struct btz_json *value, struct btz_arena *arena)
{
    const struct btz_json_limits limits = {.max_bytes = BTZ_SIEVE_REPLY_MAX,
                                           .max_depth = DEPTH_MAX};
    const struct btz_json *parsed = NULL;

    if (!value || btz_json_is(value, BTZ_JSON_NULL)) {
        return btz_json_new_object(arena);
    }
    if (btz_json_is(value, BTZ_JSON_STRING) &&
        btz_json_parse(arena, btz_json_str(value), &limits, &parsed, NULL) == BTZ_OK) {
        value = parsed;
    }
    return btz_json_is(value, BTZ_JSON_OBJECT) ? value : NULL;
}

static void take(const struct btz_json *object, struct btz_arena *arena,
                 struct btz_sieve_reply *out)
{
    const struct btz_json *tool = btz_json_getz(object, "tool");
    const struct btz_json *arguments;

    if (btz_json_is(tool, BTZ_JSON_NULL)) {
        out->kind = BTZ_SIEVE_REPLY_REFUSAL;
        out->reason = btz_json_str(btz_json_getz(object, "reason"));
        out->why = "";
        return;
    }
    if (!btz_json_is(tool, BTZ_JSON_STRING) || btz_json_str(tool).len == 0) {
        out->why = "malformed";
        return;
    }
    arguments = arguments_of(btz_json_getz(object, "arguments"), arena);
    out->tool = btz_json_str(tool);
    if (!arguments) {
        out->why = "arguments";
        return;
    }
    out->kind = BTZ_SIEVE_REPLY_CALL;
    out->arguments = arguments;
    out->why = "";
}

void btz_sieve_reply_read(struct btz_str text, struct btz_arena *arena, struct btz_sieve_reply *out)
{
    const struct btz_json_limits limits = {.max_bytes = BTZ_SIEVE_REPLY_MAX,
                                           .max_depth = DEPTH_MAX};
    struct btz_sieve_reply *last = out;
    size_t calls = 0;
    size_t tries = 0;
    bool mended = false;

    *out = (struct btz_sieve_reply){.kind = BTZ_SIEVE_REPLY_NONE, .why = "no-call"};
    if (text.len > BTZ_SIEVE_REPLY_MAX) {
        out->why = "malformed";
        return;
    }
    text = btz_llm_mend(arena, behind_thoughts(text), &mended);
    if (btz_str_trim(text).len == 0) {
        out->why = "empty";
        return;
    }
    for (size_t at = 0; at < text.len && tries < TRIES_MAX; at++) {
        const struct btz_json *object = NULL;
        size_t end;

        if (text.ptr[at] != '{') {
            continue;
        }
        tries++;
        end = closing(text, at);
        if (end == 0 || btz_json_parse(arena, btz_str_sub(text, at, end - at), &limits, &object,
                                       NULL) != BTZ_OK) {
            /* An object was meant, and is none: what is inside it does not count as a call unless
             * it is one on its own. */
            out->why = calls ? out->why : "malformed";
            continue;
        }
        if (!btz_json_getz(object, "tool")) {
            continue;
        }
        if (calls++ > 0 && calls <= BTZ_SIEVE_CALLS_MAX) {
            struct btz_sieve_reply *next = btz_arena_zalloc(arena, sizeof(*next));

            *next = (struct btz_sieve_reply){.kind = BTZ_SIEVE_REPLY_NONE, .why = "malformed"};
            last->next = next;
            last = next;
        }
        if (calls <= BTZ_SIEVE_CALLS_MAX) {
            take(object, arena, last);
        }
        at = end - 1;
    }
    out->more = calls > 1 ? calls - 1 : 0;
}
