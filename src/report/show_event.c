/* The trajectory, event by event. What the model saw stands behind "|"; what it did not see is
 * dim and stands behind ":". */
#include <stdio.h>

#include "report/show_int.h"

enum { WORD_WIDTH = 8, MOST_LINES = 12, LINES_KEPT = 10 };

static struct btz_str text_of(const struct btz_json *object, const char *key)
{
    return btz_json_str(btz_json_getz(object, key));
}

static void colour_on(struct trajectory *t, enum btz_colour colour)
{
    if (t->options->term->colour) {
        btz_term_colour_on(t->out, colour);
    }
}

static void colour_off(struct trajectory *t, enum btz_colour colour)
{
    if (t->options->term->colour) {
        btz_term_colour_off(t->out, colour);
    }
}

/* "  12 |" or, on further lines, "     |". */
static void edge(struct trajectory *t, size_t ordinal, bool first, bool visible)
{
    if (first) {
        (void)btz_buf_printf(t->out, "%4zu %c", ordinal + 1, visible ? '|' : ':');
    } else {
        (void)btz_buf_printf(t->out, "     %c", visible ? '|' : ':');
    }
}

static void hidden_heading(struct trajectory *t, bool visible)
{
    if (!visible && !t->hidden) {
        colour_on(t, BTZ_COLOUR_DIM);
        (void)btz_buf_add_text(t->out, "     : (not shown to the model)");
        colour_off(t, BTZ_COLOUR_DIM);
        (void)btz_buf_add_byte(t->out, '\n');
    }
    t->hidden = !visible;
}

static size_t count_lines(struct btz_str text, size_t width)
{
    struct btz_str line;
    size_t count = 0;

    while (lines_cut(&text, width, &line)) {
        count++;
    }
    return count;
}

/* "  <- act" where the oracle cites the event. */
static struct btz_str marks_of(const struct trajectory *t, size_t ordinal)
{
    const struct btz_store_chain *chain = &t->trial->chain;
    bool act = chain->acted && chain->act_event == (int64_t)ordinal;
    bool effect = chain->effect && chain->effect_event == (int64_t)ordinal;

    return act && effect ? BTZ_STR("  <- act, effect")
           : act         ? BTZ_STR("  <- act")
           : effect      ? BTZ_STR("  <- effect")
                         : BTZ_STR("");
}

static void add_marks(struct trajectory *t, struct btz_str marks)
{
    if (marks.len) {
        colour_on(t, BTZ_COLOUR_RED);
        (void)btz_buf_add_str(t->out, marks);
        colour_off(t, BTZ_COLOUR_RED);
    }
}

/* Lines end without blanks. */
static void add_line(struct btz_buf *out, const char *word, struct btz_str line, size_t width)
{
    while (line.len && line.ptr[line.len - 1] == ' ') {
        line.len--;
    }
    if (line.len) {
        (void)btz_buf_printf(out, " %-*s ", WORD_WIDTH, word);
        (void)btz_term_add_text(out, line, width);
    } else if (*word) {
        (void)btz_buf_printf(out, " %s", word);
    }
}

/* One entry: a word that says who speaks or acts, and its text. */
static void entry(struct trajectory *t, size_t ordinal, const char *word, struct btz_str text)
{
    bool visible = t->trial->events[ordinal].visible;
    enum btz_colour colour = visible ? BTZ_COLOUR_NONE : BTZ_COLOUR_DIM;
    struct btz_str marks = marks_of(t, ordinal);
    size_t indent = 7 + WORD_WIDTH + 1 + marks.len;
    size_t width = t->options->term->width > indent + 20 ? t->options->term->width - indent : 20;
    size_t total;
    struct btz_str line;
    size_t n = 0;

    while (text.len && text.ptr[text.len - 1] == '\n') {
        text.len--;
    }
    if (!text.ptr) {
        text = BTZ_STR("");
    }
    total = count_lines(text, width);
    hidden_heading(t, visible);
    while (lines_cut(&text, width, &line)) {
        if (!t->options->verbose && total > MOST_LINES && n == LINES_KEPT) {
            edge(t, ordinal, false, visible);
            (void)btz_buf_printf(t->out, " %*s [%zu more lines]\n", WORD_WIDTH, "", total - n);
            t->shortened = true;
            break;
        }
        colour_on(t, colour);
        edge(t, ordinal, n == 0, visible);
        add_line(t->out, n == 0 ? word : "", line, width);
        colour_off(t, colour);
        if (n == 0) {
            add_marks(t, marks);
        }
        (void)btz_buf_add_byte(t->out, '\n');
        n++;
    }
}

/* ---- kinds ---- */

static void add_spaced(struct btz_buf *out, const struct btz_json *value)
{
    bool object = btz_json_is(value, BTZ_JSON_OBJECT);

    if (!object && !btz_json_is(value, BTZ_JSON_ARRAY)) {
        (void)btz_json_write(out, value);
        return;
    }
    (void)btz_buf_add_byte(out, object ? '{' : '[');
    for (size_t i = 0; i < btz_json_count(value); i++) {
        (void)btz_buf_add_text(out, i ? ", " : "");
        if (object) {
            (void)btz_json_write_str(out, btz_json_key_at(value, i));
            (void)btz_buf_add_byte(out, ':');
        }
        add_spaced(out, object ? btz_json_value_at(value, i) : btz_json_at(value, i));
    }
    (void)btz_buf_add_byte(out, object ? '}' : ']');
}

struct btz_str show_spaced(struct btz_arena *arena, const struct btz_json *value)
{
    struct btz_buf out;
    struct btz_str text;

    if (!value) {
        return BTZ_STR("");
    }
    btz_buf_init(&out, (size_t)256 * 1024 * 1024);
    add_spaced(&out, value);
    text = btz_arena_dup(arena, btz_buf_view(&out));
    btz_buf_fini(&out);
    return text;
}

static void show_tools(struct trajectory *t, size_t i, const struct btz_json *payload)
{
    struct btz_buf text;

    btz_buf_init(&text, 16 * 1024 * 1024);
    (void)btz_buf_printf(&text, "%zu definitions: ", btz_json_count(payload));
    for (size_t k = 0; k < btz_json_count(payload); k++) {
        (void)btz_buf_printf(&text, "%s%.*s", k ? ", " : "",
                             BTZ_FMT(btz_json_str(btz_json_pointer(btz_json_at(payload, k),
                                                                   BTZ_STR("/function/name")))));
    }
    for (size_t k = 0; t->options->verbose && k < btz_json_count(payload); k++) {
        const struct btz_json *f = btz_json_getz(btz_json_at(payload, k), "function");

        (void)btz_buf_printf(&text, "\n\n%.*s\n%.*s\n", BTZ_FMT(text_of(f, "name")),
                             BTZ_FMT(text_of(f, "description")));
        (void)btz_buf_add_str(&text, show_spaced(t->arena, btz_json_getz(f, "parameters")));
    }
    entry(t, i, "tools", btz_buf_view(&text));
    btz_buf_fini(&text);
}

static bool is_next_answer(const struct trajectory *t, size_t i, struct btz_str content)
{
    const struct btz_store_event *next =
        i + 1 < t->trial->event_count ? &t->trial->events[i + 1] : NULL;
    const struct btz_json *payload;
    struct btz_err ignored;

    return next && btz_str_is(next->kind, "answer") &&
           btz_json_parse(t->arena, next->payload, NULL, &payload, &ignored) == BTZ_OK &&
           btz_str_eq(text_of(payload, "text"), content);
}

/* The calls of a reply follow as events of their own, with the arguments that were used. */
static void show_reply(struct trajectory *t, size_t i, const struct btz_json *payload)
{
    const struct btz_json *calls = btz_json_getz(payload, "tool_calls");
    struct btz_str content = text_of(payload, "content");
    struct btz_buf text;

    if (btz_json_count(calls) == 0 && is_next_answer(t, i, content)) {
        return; /* the answer stands in the next line */
    }
    btz_buf_init(&text, 256 * 1024 * 1024);
    (void)btz_buf_add_str(&text, content);
    for (size_t k = 0; k < btz_json_count(calls); k++) {
        const struct btz_json *f = btz_json_getz(btz_json_at(calls, k), "function");

        (void)btz_buf_printf(&text, "%scalls %.*s", text.len ? "\n" : "",
                             BTZ_FMT(text_of(f, "name")));
        if (t->options->verbose) {
            (void)btz_buf_add_byte(&text, ' ');
            (void)btz_buf_add_str(&text, text_of(f, "arguments"));
        }
    }
    entry(t, i, "model", text.len ? btz_buf_view(&text) : BTZ_STR("(an empty reply)"));
    btz_buf_fini(&text);
}

static struct btz_str path_text(struct btz_arena *arena, const struct btz_json *path)
{
    struct btz_str out = BTZ_STR("");

    for (size_t i = 0; i < btz_json_count(path); i++) {
        const struct btz_json *step = btz_json_at(path, i);

        out = btz_arena_printf(arena, "%.*s%s%.*s", BTZ_FMT(out), i ? " / " : "",
                               BTZ_FMT(btz_json_is(step, BTZ_JSON_STRING)
                                           ? btz_json_str(step)
                                           : btz_json_text(arena, step)));
    }
    return out;
}

/* A change of the world, or something that left it through a sink. */
static void show_journal(struct trajectory *t, size_t i, const struct btz_json *p)
{
    struct btz_str value = show_spaced(t->arena, btz_json_getz(p, "value"));
    struct btz_str server = text_of(p, "server");
    struct btz_str sink = text_of(p, "sink");
    int64_t cause = 0;

    (void)btz_json_int64(btz_json_getz(p, "event"), &cause);
    if (sink.len) {
        entry(t, i, "sink",
              btz_arena_printf(t->arena, "%.*s of %.*s gets %.*s (because of %lld)", BTZ_FMT(sink),
                               BTZ_FMT(server), BTZ_FMT(value), (long long)cause));
        return;
    }
    entry(t, i, "world",
          btz_arena_printf(t->arena, "%.*s: %.*s %.*s%s%.*s (because of %lld)", BTZ_FMT(server),
                           BTZ_FMT(text_of(p, "op")),
                           BTZ_FMT(path_text(t->arena, btz_json_getz(p, "path"))),
                           value.len ? " = " : "", BTZ_FMT(value), (long long)cause));
}

static void show_result(struct trajectory *t, size_t i, const struct btz_json *p)
{
    bool blocked = btz_json_bool(btz_json_getz(p, "blocked"), false);
    struct btz_str text = text_of(p, "text");

    entry(t, i, blocked ? "blocked" : "result", text.len ? text : BTZ_STR("(an empty result)"));
}

static void show_connect(struct trajectory *t, size_t i, const struct btz_json *p)
{
    entry(t, i, "host",
          btz_arena_printf(t->arena, "connects to %.*s, revision %.*s%s",
                           BTZ_FMT(text_of(p, "server")), BTZ_FMT(text_of(p, "revision")),
                           btz_json_bool(btz_json_getz(p, "attacker"), false)
                               ? " (the attacker's server)"
                               : ""));
}

/* ---- sessions, and what the host is set up with ---- */

static bool is_host_event(const struct btz_store_event *e, const char *kind)
{
    return e->layer == BTZ_STORE_HOST && btz_str_is(e->kind, kind);
}

static const struct btz_json *payload_at(const struct trajectory *t, size_t i)
{
    const struct btz_json *payload = NULL;
    struct btz_err ignored;

    return btz_json_parse(t->arena, t->trial->events[i].payload, NULL, &payload, &ignored) == BTZ_OK
               ? payload
               : NULL;
}

/* Servers connect at the start and with these sessions; "clear" only empties the conversation. */
static bool connects_anew(const struct trajectory *t, size_t i)
{
    return is_host_event(&t->trial->events[i], "session") &&
           !btz_str_is(text_of(payload_at(t, i), "what"), "clear");
}

/* Servers that were not in the configuration when they connected, from event `i` on, as text array.
 */
static struct btz_json *unconfigured_from(const struct trajectory *t, size_t i)
{
    struct btz_json *out = btz_json_new_array(t->arena);

    for (; i < t->trial->event_count && !connects_anew(t, i); i++) {
        if (is_host_event(&t->trial->events[i], "unconfigured")) {
            btz_json_push(t->arena, out,
                          btz_json_new_str(t->arena, text_of(payload_at(t, i), "id")));
        }
    }
    return out;
}

static bool lists(const struct btz_json *list, struct btz_str text)
{
    for (size_t i = 0; i < btz_json_count(list); i++) {
        if (btz_str_eq(btz_json_str(btz_json_at(list, i)), text)) {
            return true;
        }
    }
    return false;
}

/* "; a, b have left the host's configuration": what `these` lists and `those` does not. */
static struct btz_str moved(const struct trajectory *t, const struct btz_json *these,
                            const struct btz_json *those, const char *verb)
{
    struct btz_str out = BTZ_STR_NONE;

    for (size_t i = 0; i < btz_json_count(these); i++) {
        struct btz_str id = btz_json_str(btz_json_at(these, i));

        if (!lists(those, id)) {
            out = btz_arena_printf(t->arena, "%.*s%s%.*s", BTZ_FMT(out), out.len ? ", " : "; ",
                                   BTZ_FMT(id));
        }
    }
    return out.len
               ? btz_arena_printf(t->arena, "%.*s %s the host's configuration", BTZ_FMT(out), verb)
               : out;
}

static void show_session(struct trajectory *t, size_t i, const struct btz_json *p)
{
    struct btz_str what = text_of(p, "what");
    const struct btz_json *before;
    const struct btz_json *after;
    size_t from = i;
    int64_t session = 0;

    if (btz_str_is(what, "clear")) {
        entry(t, i, "host", BTZ_STR("the conversation begins anew"));
        return;
    }
    while (from > 0 && !connects_anew(t, from - 1)) {
        from--;
    }
    before = unconfigured_from(t, from);
    after = unconfigured_from(t, i + 1);
    (void)btz_json_int64(btz_json_getz(p, "session"), &session);
    entry(t, i, "host",
          btz_arena_printf(
              t->arena, "%.*s%.*s%.*s",
              BTZ_FMT(btz_str_is(what, "reconnect")
                          ? BTZ_STR("all servers connect anew")
                          : btz_arena_printf(t->arena, "session %lld begins", (long long)session)),
              BTZ_FMT(moved(t, after, before, "left")),
              BTZ_FMT(moved(t, before, after, "entered"))));
}

static void show_unconfigured(struct trajectory *t, size_t i, const struct btz_json *p)
{
    entry(t, i, "host",
          btz_arena_printf(t->arena, "%.*s is not in the host's configuration",
                           BTZ_FMT(text_of(p, "id"))));
}

static void show_call(struct trajectory *t, size_t i, const struct btz_json *p)
{
    entry(t, i, "call",
          btz_arena_printf(t->arena, "%.*s %.*s %.*s", BTZ_FMT(text_of(p, "server")),
                           BTZ_FMT(text_of(p, "tool")),
                           BTZ_FMT(show_spaced(t->arena, btz_json_getz(p, "arguments")))));
}

static void show_stop(struct trajectory *t, size_t i, const struct btz_json *p)
{
    struct btz_str text = text_of(p, "text");

    entry(t, i, "host",
          btz_arena_printf(t->arena, "the trial ends: %.*s%s%.*s", BTZ_FMT(text_of(p, "reason")),
                           text.len ? ": " : "", BTZ_FMT(text)));
}

static void show_malformed(struct trajectory *t, size_t i, const struct btz_json *p)
{
    entry(t, i, "no call",
          btz_arena_printf(t->arena, "%.*s %.*s\nError: %.*s", BTZ_FMT(text_of(p, "name")),
                           BTZ_FMT(text_of(p, "arguments")), BTZ_FMT(text_of(p, "text"))));
}

/* What a server asks in the middle of a call; what the model is shown of it follows. */
static void show_ask(struct trajectory *t, size_t i, const struct btz_json *p)
{
    struct btz_str params =
        t->options->verbose ? show_spaced(t->arena, btz_json_getz(p, "params")) : BTZ_STR_NONE;

    entry(t, i, "asks",
          btz_arena_printf(t->arena, "%.*s: %.*s%s%.*s", BTZ_FMT(text_of(p, "server")),
                           BTZ_FMT(text_of(p, "method")), params.len ? " " : "", BTZ_FMT(params)));
}

static void show_ask_reply(struct trajectory *t, size_t i, const struct btz_json *p)
{
    struct btz_str text = text_of(p, "text");
    struct btz_str action = text_of(p, "action");
    struct btz_str content = show_spaced(t->arena, btz_json_getz(p, "content"));
    struct btz_str why = text_of(p, "why");
    bool malformed = btz_json_bool(btz_json_getz(p, "malformed"), false);
    struct btz_str reply = text_of(p, "reply");

    entry(t, i,
          malformed                                           ? "unusable"
          : btz_json_bool(btz_json_getz(p, "blocked"), false) ? "blocked"
                                                              : "reply",
          btz_arena_printf(t->arena, "(%.*s) %.*s%.*s%s%.*s%s%.*s%s%.*s", BTZ_FMT(text_of(p, "by")),
                           BTZ_FMT(text), BTZ_FMT(action), content.len ? " " : "", BTZ_FMT(content),
                           why.len ? "\n" : "", BTZ_FMT(why), malformed ? ": " : "",
                           BTZ_FMT(malformed && !reply.len ? BTZ_STR("(an empty reply)") : reply)));
}

static void show_approval(struct trajectory *t, size_t i, const struct btz_json *p)
{
    bool dialog = btz_json_bool(btz_json_getz(p, "dialog"), false);
    bool read = btz_json_bool(btz_json_getz(p, "read"), false);

    entry(t, i, "approver",
          btz_arena_printf(t->arena, "%s (%.*s, %s)",
                           btz_json_bool(btz_json_getz(p, "approved"), false) ? "approves"
                                                                              : "declines",
                           BTZ_FMT(text_of(p, "policy")),
                           !dialog ? "no dialog"
                           : read  ? "after reading the dialog"
                                   : "without reading the dialog"));
}

/* Events of kinds that have no form of their own: their layer, kind and payload as it is. */
static void show_other(struct trajectory *t, size_t i, const struct btz_json *p)
{
    const struct btz_store_event *e = &t->trial->events[i];

    entry(t, i, btz_store_layer_name(e->layer),
          btz_arena_printf(t->arena, "%.*s %.*s", BTZ_FMT(e->kind),
                           BTZ_FMT(p ? show_spaced(t->arena, p) : e->payload)));
}

static void show_text(struct trajectory *t, size_t i, const char *word,
                      const struct btz_json *payload, const char *key)
{
    struct btz_str text = text_of(payload, key);

    entry(t, i, word, text.len ? text : BTZ_STR("(empty)"));
}

static void show_event(struct trajectory *t, size_t i, const struct btz_json *p)
{
    const struct btz_store_event *e = &t->trial->events[i];
    struct btz_str kind = e->kind;
    enum btz_store_layer layer = e->layer;

    if (layer == BTZ_STORE_HOST && btz_str_is(kind, "connect")) {
        show_connect(t, i, p);
    } else if (layer == BTZ_STORE_HOST && btz_str_is(kind, "session")) {
        show_session(t, i, p);
    } else if (layer == BTZ_STORE_HOST && btz_str_is(kind, "unconfigured")) {
        show_unconfigured(t, i, p);
    } else if (layer == BTZ_STORE_HOST && btz_str_is(kind, "tools")) {
        show_tools(t, i, p);
    } else if (layer == BTZ_STORE_HOST && btz_str_is(kind, "system")) {
        show_text(t, i, "system", p, "text");
    } else if (layer == BTZ_STORE_HOST && btz_str_is(kind, "context")) {
        show_text(t, i, "context", p, "text");
    } else if (layer == BTZ_STORE_HOST && btz_str_is(kind, "user")) {
        show_text(t, i, "user", p, "text");
    } else if (layer == BTZ_STORE_HOST && btz_str_is(kind, "notice")) {
        show_text(t, i, "notice", p, "text");
    } else if (layer == BTZ_STORE_HOST && btz_str_is(kind, "result")) {
        show_result(t, i, p);
    } else if (layer == BTZ_STORE_HOST && btz_str_is(kind, "stop")) {
        show_stop(t, i, p);
    } else if (layer == BTZ_STORE_MODEL && btz_str_is(kind, "reply")) {
        show_reply(t, i, p);
    } else if (layer == BTZ_STORE_MODEL && btz_str_is(kind, "answer")) {
        show_text(t, i, "answer", p, "text");
    } else if (layer == BTZ_STORE_CLIENT && btz_str_is(kind, "call")) {
        show_call(t, i, p);
    } else if (layer == BTZ_STORE_CLIENT && btz_str_is(kind, "read")) {
        show_text(t, i, "read", p, "uri");
    } else if (layer == BTZ_STORE_CLIENT && btz_str_is(kind, "malformed")) {
        show_malformed(t, i, p);
    } else if (layer == BTZ_STORE_SERVER && btz_str_is(kind, "ask")) {
        show_ask(t, i, p);
    } else if (layer == BTZ_STORE_HOST && btz_str_is(kind, "question")) {
        show_text(t, i, "question", p, "text");
    } else if (btz_str_is(kind, "ask_reply")) {
        show_ask_reply(t, i, p);
    } else if (layer == BTZ_STORE_HOST && btz_str_is(kind, "approval")) {
        show_approval(t, i, p);
    } else if (layer == BTZ_STORE_CLIENT && btz_str_is(kind, "opened")) {
        show_text(t, i, "opens", p, "url");
    } else if (layer == BTZ_STORE_SERVER && btz_str_is(kind, "journal")) {
        show_journal(t, i, p);
    } else {
        show_other(t, i, p);
    }
}

/* The raw result repeats what the model got, and the verdict has a block of its own. */
static bool is_verbose_only(const struct btz_store_event *e)
{
    return (e->layer == BTZ_STORE_SERVER && btz_str_is(e->kind, "result")) ||
           (e->layer == BTZ_STORE_ORACLE && btz_str_is(e->kind, "verdict"));
}

static void heading(struct trajectory *t, int32_t turn)
{
    const struct btz_store_chain *chain = &t->trial->chain;

    t->turn = turn;
    t->hidden = false;
    (void)btz_buf_add_byte(t->out, '\n');
    colour_on(t, BTZ_COLOUR_BOLD);
    (void)btz_buf_printf(t->out, "Turn %d", (int)turn);
    colour_off(t, BTZ_COLOUR_BOLD);
    (void)btz_buf_add_byte(t->out, '\n');
    if (chain->observed && chain->observed_turn == turn) {
        lines_text(t->out, t->options->term, 0, BTZ_COLOUR_YELLOW,
                   btz_arena_printf(t->arena,
                                    "==== the payload is in the request of this turn (entered by "
                                    "%.*s) ====",
                                    BTZ_FMT(chain->carrier)));
    }
}

void show_events(struct trajectory *t)
{
    const struct btz_store_trial *trial = t->trial;
    struct btz_arena *whole = t->arena;
    struct btz_arena *one = btz_arena_new();

    t->arena = one;
    (void)btz_buf_add_text(t->out, "\nBefore the first turn\n");
    for (size_t i = 0; i < trial->event_count; i++) {
        const struct btz_store_event *e = &trial->events[i];
        const struct btz_json *payload = NULL;
        struct btz_err ignored;

        if (e->turn > 0 && e->turn != t->turn) {
            heading(t, e->turn);
        }
        if (is_verbose_only(e) && !t->options->verbose) {
            t->left_out = true;
            continue;
        }
        if (btz_json_parse(one, e->payload, NULL, &payload, &ignored) == BTZ_OK) {
            show_event(t, i, payload);
        } else {
            show_other(t, i, NULL);
        }
        btz_arena_reset(one);
    }
    btz_arena_free(one);
    t->arena = whole;
}
