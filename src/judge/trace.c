/* A trajectory as text for a judge. What would tell the model, the defence, the attacker's server
 * or the oracle's verdict is left out. */
#include "judge/judge_int.h"

const char judge_trace_form[] = "trace 1";

static struct btz_str text_of(const struct btz_json *object, const char *key)
{
    return btz_json_str(btz_json_getz(object, key));
}

/* Adds `text` and ends its line. */
static void add_lines(struct btz_buf *out, struct btz_str text)
{
    (void)btz_buf_add_str(out, text);
    if (text.len == 0 || text.ptr[text.len - 1] != '\n') {
        (void)btz_buf_add_byte(out, '\n');
    }
}

static void heading(struct btz_buf *out, size_t ordinal, const struct btz_store_event *e,
                    const char *what)
{
    (void)btz_buf_printf(out, "#%zu", ordinal + 1);
    if (e->turn > 0) {
        (void)btz_buf_printf(out, " turn %d", (int)e->turn);
    }
    (void)btz_buf_printf(out, "%s: %s\n", e->visible ? "" : " hidden", what);
}

/* An object as compact JSON without one of its members. */
static void add_without(struct btz_arena *arena, struct btz_buf *out, const struct btz_json *p,
                        const char *left_out)
{
    struct btz_json *copy = btz_json_new_object(arena);

    if (!btz_json_is(p, BTZ_JSON_OBJECT)) {
        (void)btz_json_write(out, p);
        (void)btz_buf_add_byte(out, '\n');
        return;
    }
    for (size_t i = 0; i < btz_json_count(p); i++) {
        struct btz_str key = btz_json_key_at(p, i);

        if (!btz_str_is(key, left_out)) {
            btz_json_set(arena, copy, key, btz_json_value_at(p, i));
        }
    }
    (void)btz_json_write(out, copy);
    (void)btz_buf_add_byte(out, '\n');
}

static void add_tools(struct btz_buf *out, const struct btz_json *tools)
{
    for (size_t i = 0; i < btz_json_count(tools); i++) {
        const struct btz_json *f = btz_json_getz(btz_json_at(tools, i), "function");
        const struct btz_json *parameters = btz_json_getz(f, "parameters");

        (void)btz_buf_printf(out, "- %.*s: ", BTZ_FMT(text_of(f, "name")));
        add_lines(out, text_of(f, "description"));
        if (parameters) {
            (void)btz_buf_add_text(out, "  parameters ");
            (void)btz_json_write(out, parameters);
            (void)btz_buf_add_byte(out, '\n');
        }
    }
}

static void add_reply(struct btz_buf *out, const struct btz_json *p)
{
    const struct btz_json *calls = btz_json_getz(p, "tool_calls");
    struct btz_str content = text_of(p, "content");

    if (content.len) {
        add_lines(out, content);
    }
    for (size_t i = 0; i < btz_json_count(calls); i++) {
        const struct btz_json *f = btz_json_getz(btz_json_at(calls, i), "function");

        (void)btz_buf_printf(out, "wants to call %.*s ", BTZ_FMT(text_of(f, "name")));
        add_lines(out, text_of(f, "arguments"));
    }
    if (!content.len && btz_json_count(calls) == 0) {
        add_lines(out, BTZ_STR("(an empty reply)"));
    }
}

/* The raw result behind the one that the assistant is shown: only what that one lacks. */
static void add_raw_result(struct btz_buf *out, size_t i, const struct btz_store_event *e,
                           const struct btz_json *p)
{
    const struct btz_json *structured = btz_json_getz(p, "structuredContent");

    if (structured) {
        heading(out, i, e, "structured content of the result");
        (void)btz_json_write(out, structured);
        (void)btz_buf_add_byte(out, '\n');
    }
}

static const struct {
    enum btz_store_layer layer;
    const char *kind, *what, *key;
} texts[] = {
    {BTZ_STORE_HOST, "system", "system text", "text"},
    {BTZ_STORE_HOST, "context", "host context", "text"},
    {BTZ_STORE_HOST, "user", "the user says", "text"},
    {BTZ_STORE_HOST, "prompt", "text of a server's prompt", "text"},
    {BTZ_STORE_HOST, "notice", "notice of the host", "text"},
    {BTZ_STORE_HOST, "result", "result", "text"},
    {BTZ_STORE_MODEL, "answer", "the assistant's final answer", "text"},
};

static bool add_text_event(struct btz_buf *out, size_t i, const struct btz_store_event *e,
                           const struct btz_json *p)
{
    for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
        if (e->layer == texts[k].layer && btz_str_is(e->kind, texts[k].kind)) {
            heading(out, i, e, texts[k].what);
            add_lines(out, text_of(p, texts[k].key));
            return true;
        }
    }
    return false;
}

static void add_event(struct btz_arena *arena, struct btz_buf *out, size_t i,
                      const struct btz_store_event *e, const struct btz_json *p)
{
    struct btz_str kind = e->kind;

    if (!p) {
        heading(out, i, e, btz_arena_cstr(arena, kind));
        /* The request must hold these very bytes, so they are made what JSON can carry. */
        add_lines(out, btz_json_str(btz_json_new_str(arena, e->payload)));
    } else if (add_text_event(out, i, e, p)) {
        return;
    } else if (e->layer == BTZ_STORE_HOST && btz_str_is(kind, "tools")) {
        heading(out, i, e, "tool definitions");
        add_tools(out, p);
    } else if (e->layer == BTZ_STORE_HOST && btz_str_is(kind, "connect")) {
        heading(out, i, e, "the host connects to a server");
        add_without(arena, out, p, "attacker");
    } else if (e->layer == BTZ_STORE_HOST && btz_str_is(kind, "stop")) {
        heading(out, i, e, "the conversation ends");
        add_without(arena, out, p, "text");
    } else if (e->layer == BTZ_STORE_MODEL && btz_str_is(kind, "reply")) {
        heading(out, i, e, "the assistant replies");
        add_reply(out, p);
    } else if (e->layer == BTZ_STORE_CLIENT && btz_str_is(kind, "call")) {
        heading(out, i, e, "the client calls a tool");
        add_without(arena, out, p, "");
    } else if (e->layer == BTZ_STORE_SERVER && btz_str_is(kind, "result")) {
        add_raw_result(out, i, e, p);
    } else {
        heading(
            out, i, e,
            btz_arena_printf(arena, "%s %.*s", btz_store_layer_name(e->layer), BTZ_FMT(kind)).ptr);
        add_without(arena, out, p, "attacker");
    }
}

/* A reply that only holds the final answer stands in the next entry. */
static bool is_next_answer(struct btz_arena *arena, const struct btz_store_event *next,
                           const struct btz_json *reply)
{
    const struct btz_json *payload = NULL;

    return next && next->layer == BTZ_STORE_MODEL && btz_str_is(next->kind, "answer") &&
           btz_json_count(btz_json_getz(reply, "tool_calls")) == 0 &&
           btz_json_parse(arena, next->payload, NULL, &payload, NULL) == BTZ_OK &&
           btz_str_eq(text_of(payload, "text"), text_of(reply, "content"));
}

void btz_judge_trace(struct btz_arena *arena, const struct btz_store_event *events, size_t count,
                     struct btz_buf *out)
{
    for (size_t i = 0; i < count; i++) {
        const struct btz_store_event *e = &events[i];
        const struct btz_store_event *next = i + 1 < count ? &events[i + 1] : NULL;
        const struct btz_json *payload = NULL;

        if (e->layer == BTZ_STORE_ORACLE || e->layer == BTZ_STORE_GUARD) {
            continue;
        }
        if (btz_json_parse(arena, e->payload, NULL, &payload, NULL) != BTZ_OK) {
            payload = NULL;
        }
        if (e->layer == BTZ_STORE_MODEL && btz_str_is(e->kind, "reply") &&
            is_next_answer(arena, next, payload)) {
            continue;
        }
        add_event(arena, out, i, e, payload);
    }
}
