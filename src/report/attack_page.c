#include "report/attack_page.h"

#include "report/show_int.h"

struct writer {
    struct pen pen;
    const struct btz_json *attack;
};

static struct btz_str text_at(const struct btz_json *object, const char *pointer)
{
    return btz_json_str(btz_json_pointer(object, btz_str_of(pointer)));
}

/* "a, b, c" of an array of texts, as code or as text; `none` for an empty one. */
static struct btz_str joined(struct pen *pen, const struct btz_json *list, bool code,
                             const char *none)
{
    struct btz_str out = BTZ_STR_NONE;

    for (size_t i = 0; i < btz_json_count(list); i++) {
        struct btz_str text = btz_json_str(btz_json_at(list, i));

        text = code ? pen_code(pen, text) : pen_text(pen, text);
        out =
            btz_arena_printf(pen->arena, "%.*s%s%.*s", BTZ_FMT(out), i ? ", " : "", BTZ_FMT(text));
    }
    return out.len ? out : btz_str_of(none);
}

static const char *surface_text(struct btz_str surface)
{
    return btz_str_is(surface, "ma")   ? "model and agent: what the user or memory brings"
           : btz_str_is(surface, "cl") ? "client: what the host does with what servers ask"
           : btz_str_is(surface, "st") ? "server and tool: definitions, answers and handlers"
                                       : "transport: what happens on the way";
}

static const char *violation_text(struct btz_str violation)
{
    return btz_str_is(violation, "unsafe-call")             ? "unsafe call"
           : btz_str_is(violation, "disclosure")            ? "disclosure"
           : btz_str_is(violation, "accepted-manipulation") ? "accepted manipulation"
                                                            : "component compromise";
}

static bool is_below(const struct btz_json *variant)
{
    return btz_str_is(text_at(variant, "/card/boundary"), "B");
}

static void write_head(struct writer *w)
{
    struct pen *pen = &w->pen;
    struct btz_str origin = text_at(w->attack, "/card/origin");
    struct btz_str oracle = text_at(w->attack, "/card/oracle_kind");

    pen_title(pen, text_at(w->attack, "/card/name"));
    pen_paragraph(
        pen, btz_arena_printf(
                 pen->arena, "%.*s. Surface %.*s (%s). Its oracle is %.*s. Origin: %s",
                 BTZ_FMT(pen_code(pen, text_at(w->attack, "/id"))),
                 BTZ_FMT(pen_code(pen, text_at(w->attack, "/card/surface"))),
                 surface_text(text_at(w->attack, "/card/surface")), BTZ_FMT(oracle),
                 btz_str_is(origin, "M17")
                     ? "one of the 17 attack names of MCPSecBench; mechanism and texts are ours."
                     : "our own."));
    pen_heading(pen, "The attack");
    pen_paragraph(pen, pen_text(pen, text_at(w->attack, "/card/capability")));
    pen_paragraph(pen, pen_text(pen, text_at(w->attack, "/card/mechanism")));
}

static void write_mapping(struct writer *w)
{
    static const struct {
        const char *title, *pointer;
    } kinds[] = {{"OWASP MCP Top 10", "/mapping/owasp"},
                 {"MITRE ATLAS", "/mapping/atlas"},
                 {"CWE", "/mapping/cwe"},
                 {"OWASP AISVS", "/mapping/aisvs"}};

    pen_heading(&w->pen, "In other taxonomies");
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const struct btz_json *list = btz_json_pointer(w->attack, btz_str_of(kinds[i].pointer));

        pen_item(&w->pen, btz_arena_printf(w->pen.arena, "%s: %.*s", kinds[i].title,
                                           BTZ_FMT(joined(&w->pen, list, false, "unknown"))));
    }
}

/* ---- where the payload stands ---- */

enum spot {
    SPOT_TURN,
    SPOT_DEFINITION,
    SPOT_ANSWER,  /* of a tool, or a resource */
    SPOT_LISTING, /* what the list says about a resource */
    SPOT_PROMPT,
    SPOT_QUESTION,
    SPOT_INSTRUCTIONS,
    SPOT_WIRE_REQUEST,
    SPOT_WIRE_RESPONSE,
    SPOT_SILENT, /* handler, label, web site: no text of its own for the model */
    SPOTS
};

static bool has(const struct btz_json *at, const char *key)
{
    return btz_json_getz(at, key) != NULL;
}

static enum spot spot_of(const struct btz_json *at)
{
    if (has(at, "turn")) {
        return SPOT_TURN;
    }
    if (has(at, "wire")) {
        return btz_str_is(btz_json_str(btz_json_getz(at, "wire")), "request") ? SPOT_WIRE_REQUEST
                                                                              : SPOT_WIRE_RESPONSE;
    }
    if (has(at, "resource") && has(at, "field")) {
        return SPOT_LISTING;
    }
    return has(at, "tool")                                 ? SPOT_DEFINITION
           : has(at, "result") || has(at, "resource")      ? SPOT_ANSWER
           : has(at, "prompt")                             ? SPOT_PROMPT
           : has(at, "sampling") || has(at, "elicitation") ? SPOT_QUESTION
           : has(at, "instructions")                       ? SPOT_INSTRUCTIONS
                                                           : SPOT_SILENT;
}

static struct btz_str place_text(struct writer *w, const struct btz_json *at)
{
    static const char *const kinds[] = {"tool",     "result",      "resource", "prompt",
                                        "sampling", "elicitation", "handler"};
    struct pen *pen = &w->pen;
    struct btz_str server = pen_code(pen, btz_json_str(btz_json_getz(at, "server")));
    struct btz_str field = btz_json_str(btz_json_getz(at, "field"));
    int64_t turn = 0;

    if (btz_json_int64(btz_json_getz(at, "turn"), &turn)) {
        return btz_arena_printf(pen->arena, "user turn %lld", (long long)turn);
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct btz_str name = btz_json_str(btz_json_getz(at, kinds[i]));

        if (name.len) {
            return btz_arena_printf(pen->arena, "%s %.*s of %.*s%s%.*s",
                                    strcmp(kinds[i], "tool") == 0     ? "definition of"
                                    : strcmp(kinds[i], "result") == 0 ? "answer of"
                                                                      : kinds[i],
                                    BTZ_FMT(pen_code(pen, name)), BTZ_FMT(server),
                                    field.len ? ", " : "",
                                    BTZ_FMT(field.len ? pen_code(pen, field) : field));
        }
    }
    if (has(at, "wire")) {
        return btz_arena_printf(pen->arena, "%.*s on the wire of %.*s",
                                BTZ_FMT(btz_json_str(btz_json_getz(at, "wire"))), BTZ_FMT(server));
    }
    return btz_arena_printf(pen->arena, "%s of %.*s",
                            has(at, "instructions") ? "instructions"
                            : has(at, "label")      ? "label"
                                                    : "web site",
                            BTZ_FMT(server));
}

static void write_fragments(struct writer *w, const struct btz_json *card)
{
    const struct btz_json *list = btz_json_getz(card, "payload");
    struct pen *pen = &w->pen;

    for (size_t i = 0; i < btz_json_count(list); i++) {
        const struct btz_json *f = btz_json_at(list, i);
        const char *comes = btz_json_getz(f, "since")   ? "; comes later"
                            : btz_json_getz(f, "until") ? "; goes later"
                                                        : "";

        pen_item(pen, btz_arena_printf(
                          pen->arena, "payload: %.*s (language %.*s, %.*s%s%s)",
                          BTZ_FMT(place_text(w, btz_json_getz(f, "at"))),
                          BTZ_FMT(pen_text(pen, text_at(f, "/language"))),
                          BTZ_FMT(pen_text(pen, text_at(f, "/register"))), comes,
                          btz_json_count(btz_json_getz(f, "operands")) ? "" : "; no operand"));
    }
}

/* What the steps of a plan do, one after the other. */
static struct btz_str steps_of(struct writer *w, const struct btz_json *steps)
{
    struct pen *pen = &w->pen;
    struct btz_str out = BTZ_STR_NONE;

    for (size_t i = 0; i < btz_json_count(steps); i++) {
        const struct btz_json *step = btz_json_at(steps, i);
        struct btz_str word =
            has(step, "call")
                ? btz_arena_printf(pen->arena, "%.*s.%.*s", BTZ_FMT(text_at(step, "/call/server")),
                                   BTZ_FMT(text_at(step, "/call/tool")))
                : btz_json_key_at(step, 0);

        out = btz_arena_printf(pen->arena, "%.*s%s%.*s", BTZ_FMT(out), i ? ", " : "",
                               BTZ_FMT(pen_code(pen, word)));
    }
    return out.len ? out : BTZ_STR("nothing");
}

static void write_plans(struct writer *w, const struct btz_json *card)
{
    const struct btz_json *obey = btz_json_pointer(card, BTZ_STR("/plan/obey"));
    const struct btz_json *inserted = btz_json_getz(obey, "insert_before_answer");
    const struct btz_json *routes = btz_json_getz(card, "routes");
    struct btz_arena *arena = w->pen.arena;

    pen_item(&w->pen, btz_arena_printf(
                          arena, "the task takes: %.*s",
                          BTZ_FMT(steps_of(w, btz_json_pointer(card, BTZ_STR("/plan/benign"))))));
    pen_item(&w->pen, btz_arena_printf(arena, "who obeys does%s: %.*s",
                                       inserted ? ", before the answer" : "",
                                       BTZ_FMT(steps_of(w, inserted ? inserted : obey))));
    if (btz_json_count(routes)) {
        pen_item(&w->pen, btz_arena_printf(arena, "other ways to the same: %.*s",
                                           BTZ_FMT(steps_of(w, routes))));
    }
}

static void write_twins(struct writer *w, const struct btz_json *card)
{
    static const char *const names[] = {"clean", "benign"};
    static const char *const meanings[] = {"nothing of the mechanism",
                                           "the mechanism, honestly used"};

    for (size_t i = 0; i < 2; i++) {
        const struct btz_json *twin = btz_json_getz(btz_json_getz(card, "twins"), names[i]);

        pen_item(&w->pen,
                 btz_arena_printf(w->pen.arena, "%s twin: %s%s%s", names[i], meanings[i],
                                  has(twin, "texts") ? "; texts of its own in the same places" : "",
                                  has(twin, "turns") ? "; a task of its own" : ""));
    }
}

/* "out goes `a`, in comes `b`" */
static struct btz_str change_of(struct writer *w, const struct btz_json *change)
{
    struct btz_str leaves = joined(&w->pen, btz_json_getz(change, "leaves"), true, "");
    struct btz_str joins = joined(&w->pen, btz_json_getz(change, "joins"), true, "");

    return btz_arena_printf(w->pen.arena, "%s%.*s%s%s%.*s", leaves.len ? "out goes " : "",
                            BTZ_FMT(leaves), leaves.len && joins.len ? ", " : "",
                            joins.len ? "in comes " : "", BTZ_FMT(joins));
}

/* setting.reconfigured, and what a twin has in its place. */
static void write_reconfigured(struct writer *w, const struct btz_json *card)
{
    static const char *const names[] = {"clean", "benign"};
    const struct btz_json *setting = btz_json_getz(card, "setting");
    const struct btz_json *change = btz_json_getz(setting, "reconfigured");
    struct btz_arena *arena = w->pen.arena;
    struct btz_str text;
    int64_t turn = 0;

    if (!btz_json_count(change)) {
        return;
    }
    text = btz_json_int64(btz_json_getz(setting, "reconnect_turn"), &turn)
               ? btz_arena_printf(arena, "when the servers connect anew, before turn %lld",
                                  (long long)turn)
               : BTZ_STR("with the second session");
    text = btz_arena_printf(arena, "the host is set up with other servers %.*s: %.*s",
                            BTZ_FMT(text), BTZ_FMT(change_of(w, change)));
    for (size_t i = 0; i < 2; i++) {
        const struct btz_json *own =
            btz_json_getz(btz_json_getz(btz_json_getz(card, "twins"), names[i]), "reconfigured");

        if (own) {
            text = btz_arena_printf(
                arena, "%.*s; in the %s twin %.*s", BTZ_FMT(text), names[i],
                BTZ_FMT(btz_json_count(own) ? change_of(w, own) : BTZ_STR("nothing changes")));
        }
    }
    pen_item(&w->pen, text);
}

static void write_chance(struct writer *w, const struct btz_json *card)
{
    int64_t choices = 0;

    if (btz_json_int64(btz_json_pointer(card, BTZ_STR("/setting/choices")), &choices)) {
        pen_item(&w->pen,
                 btz_arena_printf(w->pen.arena, "chance: a blind choice succeeds once in %lld",
                                  (long long)choices));
    }
}

static void write_variant(struct writer *w, const struct btz_json *variant)
{
    struct pen *pen = &w->pen;
    const struct btz_json *card = btz_json_getz(variant, "card");
    const struct btz_json *setting = btz_json_getz(card, "setting");
    const struct btz_json *turns = btz_json_getz(setting, "turns");

    pen_heading(pen,
                btz_arena_cstr(pen->arena,
                               btz_arena_printf(pen->arena, "%.*s: %s, %s",
                                                BTZ_FMT(text_at(variant, "/id")),
                                                violation_text(text_at(card, "/violation")),
                                                is_below(variant) ? "below the model (B)"
                                                                  : "by an act of the model (V)")));
    pen_paragraph(pen, btz_arena_printf(pen->arena, "It has succeeded when: %.*s",
                                        BTZ_FMT(pen_text(pen, text_at(card, "/success")))));
    for (size_t i = 0; i < btz_json_count(turns); i++) {
        pen_quote(pen, btz_json_str(btz_json_at(turns, i)));
    }
    if (pen->markdown) {
        (void)btz_buf_add_byte(pen->out, '\n');
    }
    pen_item(pen,
             btz_arena_printf(pen->arena, "servers: %.*s; the attacker's: %.*s",
                              BTZ_FMT(joined(pen, btz_json_getz(setting, "servers"), true, "none")),
                              BTZ_FMT(pen_code(pen, text_at(setting, "/attacker")))));
    write_reconfigured(w, card);
    write_fragments(w, card);
    write_plans(w, card);
    write_twins(w, card);
    write_chance(w, card);
    pen_item(pen, btz_arena_printf(
                      pen->arena, "protocol eras: %.*s; carriers: %.*s",
                      BTZ_FMT(joined(pen, btz_json_getz(card, "revisions"), false, "none")),
                      BTZ_FMT(joined(pen, btz_json_getz(card, "carriers"), false, "none"))));
    pen_item(pen,
             btz_arena_printf(pen->arena, "switches of the host profile that it needs open: %.*s",
                              BTZ_FMT(joined(pen, btz_json_getz(card, "switches"), true, "none"))));
}

/* ---- which defences can see it ---- */

struct sight {
    const char *input, *context, *why;
};

/* What a defence that filters the texts before the model can see, by where the payload stands. */
static const struct sight sights[SPOTS] = {
    [SPOT_TURN] = {"yes", "no", "it is what the user asks; only `input` reads user turns"},
    [SPOT_DEFINITION] = {"no", "yes", "tool definitions are judged when they are registered"},
    [SPOT_ANSWER] = {"no", "yes", "answers of tools and resources are judged before the model"},
    [SPOT_LISTING] = {"no", "no", "no mode reads what a list says about resources"},
    [SPOT_PROMPT] = {"no", "no", "no mode reads the prompts of servers"},
    [SPOT_QUESTION] = {"no", "no", "no mode reads what servers ask in the middle of a call"},
    [SPOT_INSTRUCTIONS] = {"no", "no", "no mode reads the instructions of servers"},
    [SPOT_WIRE_REQUEST] = {"no", "no",
                           "it changes what the server gets, which the model never reads"},
    [SPOT_WIRE_RESPONSE] = {"no", "yes", "what arrives is judged, whoever wrote it"},
    [SPOT_SILENT] = {"no", "no", "there is no text that a model reads"},
};

static struct btz_str defence_cell(struct writer *w, const struct btz_json *variant, bool *input,
                                   bool *context)
{
    const struct btz_json *card = btz_json_getz(variant, "card");
    const struct btz_json *list = btz_json_getz(card, "payload");
    const struct btz_json *switches = btz_json_getz(card, "switches");
    bool told[SPOTS] = {false};
    bool later = false;
    struct btz_str why = BTZ_STR_NONE;

    *input = *context = false;
    if (is_below(variant)) {
        return btz_arena_printf(w->pen.arena,
                                "it happens below the model, where no filter of texts stands%s%.*s",
                                btz_json_count(switches) ? "; what stops it is the host: " : "",
                                BTZ_FMT(joined(&w->pen, switches, true, "")));
    }
    for (size_t i = 0; i < btz_json_count(list); i++) {
        const struct btz_json *f = btz_json_at(list, i);
        enum spot place = spot_of(btz_json_getz(f, "at"));

        *input |= sights[place].input[0] == 'y';
        *context |= sights[place].context[0] == 'y';
        later |= place == SPOT_DEFINITION && has(f, "since");
        if (!told[place]) {
            why = btz_arena_printf(w->pen.arena, "%.*s%s%s", BTZ_FMT(why), why.len ? "; " : "",
                                   sights[place].why);
        }
        told[place] = true;
    }
    return later ? btz_arena_printf(w->pen.arena,
                                    "%.*s; it comes after registration, so only with +rescan",
                                    BTZ_FMT(why))
                 : why;
}

static void write_defences(struct writer *w)
{
    enum { COLUMNS = 5 };
    const struct btz_json *variants = btz_json_getz(w->attack, "variants");
    size_t count = btz_json_count(variants);
    struct btz_str *cells =
        btz_arena_array(w->pen.arena, (count + 1) * COLUMNS, sizeof(struct btz_str));

    cells[0] = BTZ_STR("variant");
    cells[1] = BTZ_STR("input");
    cells[2] = BTZ_STR("context");
    cells[3] = BTZ_STR("combined");
    cells[4] = BTZ_STR("why");
    for (size_t i = 0; i < count; i++) {
        const struct btz_json *variant = btz_json_at(variants, i);
        struct btz_str *row = cells + (i + 1) * COLUMNS;
        bool input, context;

        row[0] = text_at(variant, "/id");
        row[4] = defence_cell(w, variant, &input, &context);
        row[1] = input ? BTZ_STR("yes") : BTZ_STR("no");
        row[2] = context ? BTZ_STR("yes") : BTZ_STR("no");
        row[3] = input || context ? BTZ_STR("yes") : BTZ_STR("no");
    }
    pen_heading(&w->pen, "Which defences can see it");
    pen_paragraph(&w->pen,
                  BTZ_STR("Whether a mode reads the place where the payload stands; not whether it "
                          "recognises it there, which a run shows."));
    pen_table(&w->pen, cells, COLUMNS, count + 1);
}

int btz_attack_page(const struct btz_json *attack, bool markdown, const struct btz_term *term,
                    struct btz_buf *out, struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    const struct btz_json *variants = btz_json_getz(attack, "variants");
    struct writer w = {.pen = {.arena = arena, .out = out, .term = term, .markdown = markdown},
                       .attack = attack};
    int rc;

    write_head(&w);
    write_mapping(&w);
    for (size_t i = 0; i < btz_json_count(variants); i++) {
        write_variant(&w, btz_json_at(variants, i));
    }
    write_defences(&w);
    rc = btz_buf_status(out);
    btz_arena_free(arena);
    return rc == BTZ_OK ? rc : btz_err_set(err, BTZ_ELIMIT, "the page is too large");
}
