/* One trial as a story for people. */
#include "report/show_int.h"

struct story {
    struct pen pen;
    const struct btz_store_run *run;
    const struct btz_store_row *row;
    const struct btz_store_trial *trial;
    const struct btz_show_scenario *scenario;
    const struct btz_json **payloads; /* of the events; NULL where one is no JSON */
};

static struct btz_str text_of(const struct btz_json *object, const char *key)
{
    return btz_json_str(btz_json_getz(object, key));
}

static bool is_event(const struct story *s, size_t i, enum btz_store_layer layer, const char *kind)
{
    return s->trial->events[i].layer == layer && btz_str_is(s->trial->events[i].kind, kind);
}

static bool is_twin(const struct story *s)
{
    return !btz_str_is(s->row->cell.arm, "attack");
}

/* ---- where a text stands ---- */

static bool holds(const struct btz_json *value, struct btz_str needle)
{
    struct btz_str text = btz_json_str(value);

    if (text.ptr && btz_str_find(text, needle) >= 0) {
        return true;
    }
    for (size_t i = 0; i < btz_json_count(value); i++) {
        bool object = btz_json_is(value, BTZ_JSON_OBJECT);

        if ((object && btz_str_find(btz_json_key_at(value, i), needle) >= 0) ||
            holds(object ? btz_json_value_at(value, i) : btz_json_at(value, i), needle)) {
            return true;
        }
    }
    return false;
}

static bool event_holds(const struct story *s, size_t i, struct btz_str needle)
{
    return s->payloads[i] ? holds(s->payloads[i], needle)
                          : btz_str_find(s->trial->events[i].payload, needle) >= 0;
}

static bool event_holds_fragment(const struct story *s, size_t i, const struct btz_show_fragment *f)
{
    bool all = f->operand_count > 0;

    for (size_t k = 0; all && k < f->operand_count; k++) {
        all = event_holds(s, i, f->operands[k]);
    }
    return all || (f->text.len > 0 && event_holds(s, i, f->text));
}

/* First event with the whole fragment that is not the model's own doing; -1 if there is none, which
 * an encoded or split fragment may cause. */
static int64_t find_fragment(const struct story *s, const struct btz_show_fragment *f, bool visible)
{
    for (size_t i = 0; i < s->trial->event_count; i++) {
        enum btz_store_layer layer = s->trial->events[i].layer;

        if (layer != BTZ_STORE_MODEL && layer != BTZ_STORE_CLIENT && layer != BTZ_STORE_ORACLE &&
            (!visible || s->trial->events[i].visible) && event_holds_fragment(s, i, f)) {
            return (int64_t)i;
        }
    }
    return -1;
}

/* ---- events in words ---- */

/* "fetch_url of web-fetch" */
static struct btz_str call_name(const struct story *s, size_t i)
{
    const struct btz_json *p = s->payloads[i];

    return btz_arena_printf(s->pen.arena, "%.*s of %.*s",
                            BTZ_FMT(pen_code(&s->pen, text_of(p, "tool"))),
                            BTZ_FMT(pen_code(&s->pen, text_of(p, "server"))));
}

/* The definition among those of a "tools" event that holds the fragment. */
static struct btz_str definition_name(const struct story *s, size_t i,
                                      const struct btz_show_fragment *f)
{
    const struct btz_json *list = s->payloads[i];

    for (size_t k = 0; k < btz_json_count(list); k++) {
        const struct btz_json *one = btz_json_at(list, k);
        bool all = f->operand_count > 0;

        for (size_t o = 0; all && o < f->operand_count; o++) {
            all = holds(one, f->operands[o]);
        }
        if (all || holds(one, f->text)) {
            return btz_json_str(btz_json_pointer(one, BTZ_STR("/function/name")));
        }
    }
    return BTZ_STR_NONE;
}

static struct btz_str place_words(const struct story *s, size_t i,
                                  const struct btz_show_fragment *f)
{
    struct btz_arena *arena = s->pen.arena;
    int64_t call = 0;
    struct btz_str name;

    if (is_event(s, i, BTZ_STORE_HOST, "result") &&
        btz_json_int64(btz_json_getz(s->payloads[i], "call"), &call) && call > 0 &&
        (uint64_t)call <= s->trial->event_count &&
        is_event(s, (size_t)call - 1, BTZ_STORE_CLIENT, "call")) {
        return btz_arena_printf(arena, "the result of %.*s, which the model had called",
                                BTZ_FMT(call_name(s, (size_t)call - 1)));
    }
    if (is_event(s, i, BTZ_STORE_HOST, "result")) {
        return BTZ_STR("a result that the model had asked for");
    }
    if (is_event(s, i, BTZ_STORE_HOST, "tools")) {
        name = definition_name(s, i, f);
        return name.len ? btz_arena_printf(arena, "the definition of the tool %.*s",
                                           BTZ_FMT(pen_code(&s->pen, name)))
                        : BTZ_STR("the tools' definitions");
    }
    if (is_event(s, i, BTZ_STORE_HOST, "context")) {
        return BTZ_STR("what the servers told the host about themselves");
    }
    if (is_event(s, i, BTZ_STORE_HOST, "user")) {
        return BTZ_STR("what the user passed on in a turn");
    }
    return btz_arena_printf(arena, "the %s's %.*s", btz_store_layer_name(s->trial->events[i].layer),
                            BTZ_FMT(pen_code(&s->pen, s->trial->events[i].kind)));
}

/* ---- the parts of the story ---- */

static void tell_head(struct story *s)
{
    const struct btz_store_cell *c = &s->row->cell;
    struct pen *pen = &s->pen;

    pen_title(pen, btz_arena_printf(pen->arena, "Trial %s/%lld: %.*s/%.*s", s->run->id,
                                    (long long)s->row->n, BTZ_FMT(c->attack), BTZ_FMT(c->variant)));
    pen_paragraph(
        pen,
        btz_arena_printf(
            pen->arena,
            "Model %.*s, architecture %.*s, defence %.*s, revision %.*s, host profile %.*s; "
            "%.*s %s, repetition %u, seed %llu.",
            BTZ_FMT(pen_code(pen, c->model)), BTZ_FMT(pen_code(pen, c->architecture)),
            BTZ_FMT(pen_code(pen, c->defence)), BTZ_FMT(pen_code(pen, c->revision)),
            BTZ_FMT(pen_code(pen, c->host_profile)), BTZ_FMT(c->arm), is_twin(s) ? "twin" : "arm",
            (unsigned)c->repetition, (unsigned long long)s->trial->seed));
    pen_paragraph(pen,
                  btz_arena_printf(
                      pen->arena,
                      "Outcome: %.*s Numbers in this page are those of "
                      "the events in %.*s.",
                      BTZ_FMT(show_outcome(pen->arena, s->row)),
                      BTZ_FMT(pen_code(pen, btz_arena_printf(pen->arena, "bartizan show %s/%lld",
                                                             s->run->id, (long long)s->row->n)))));
}

static void tell_attack(struct story *s)
{
    struct pen *pen = &s->pen;
    const struct btz_show_scenario *c = s->scenario;

    pen_heading(pen, "The attack");
    if (!c) {
        pen_paragraph(pen,
                      BTZ_STR("The packs at hand are not those of the run, so the scenario's own "
                              "words and its payload are left out here."));
        return;
    }
    pen_paragraph(pen,
                  btz_arena_printf(pen->arena, "%.*s. %.*s %.*s", BTZ_FMT(pen_text(pen, c->name)),
                                   BTZ_FMT(pen_text(pen, c->capability)),
                                   BTZ_FMT(pen_text(pen, c->mechanism))));
    pen_paragraph(pen, btz_arena_printf(pen->arena, "It has succeeded when: %.*s (%.*s; %s)",
                                        BTZ_FMT(pen_text(pen, c->success)),
                                        BTZ_FMT(pen_text(pen, c->violation)),
                                        btz_str_is(s->row->cell.boundary, "B")
                                            ? "below the model: it takes no act of the model"
                                            : "visible: it takes an act of the model"));
    if (is_twin(s)) {
        pen_paragraph(pen, btz_arena_printf(pen->arena,
                                            "This trial is the %.*s twin: the same task without an "
                                            "attack.",
                                            BTZ_FMT(s->row->cell.arm)));
    }
}

static void tell_task(struct story *s)
{
    struct pen *pen = &s->pen;

    pen_heading(pen, "What the user asked for");
    for (size_t i = 0; i < s->trial->event_count; i++) {
        if (is_event(s, i, BTZ_STORE_HOST, "user")) {
            pen_paragraph(pen, btz_arena_printf(pen->arena, "Event %zu:", i + 1));
            pen_quote(pen, text_of(s->payloads[i], "text"));
        }
    }
}

static void tell_fragment(struct story *s, const struct btz_show_fragment *f)
{
    struct pen *pen = &s->pen;
    int64_t out = find_fragment(s, f, false);
    int64_t seen = find_fragment(s, f, true);

    pen_quote(pen, f->text);
    if (f->place.len) {
        pen_item(pen,
                 btz_arena_printf(pen->arena, "planted at %.*s", BTZ_FMT(pen_code(pen, f->place))));
    }
    for (size_t i = 0; i < f->operand_count; i++) {
        pen_item(pen, btz_arena_printf(pen->arena, "cannot do without %.*s",
                                       BTZ_FMT(pen_code(pen, f->operands[i]))));
    }
    if (out >= 0 && out != seen) {
        pen_item(pen,
                 btz_arena_printf(pen->arena, "delivered in event %lld, %.*s", (long long)out + 1,
                                  BTZ_FMT(place_words(s, (size_t)out, f))));
    }
    pen_item(pen, seen >= 0 ? btz_arena_printf(
                                  pen->arena, "put before the model in event %lld: %.*s",
                                  (long long)seen + 1, BTZ_FMT(place_words(s, (size_t)seen, f)))
                  : out >= 0 ? BTZ_STR("not put before the model in one piece and as it is written")
                             : BTZ_STR("found in no event in one piece and as it is written"));
}

static void tell_payload(struct story *s)
{
    const struct btz_store_chain *c = &s->trial->chain;
    struct pen *pen = &s->pen;

    if (is_twin(s) && (!s->scenario || s->scenario->fragment_count == 0)) {
        return;
    }
    pen_heading(pen,
                is_twin(s) ? "The honest text in the payload's place" : "The payload and its way");
    for (size_t i = 0; s->scenario && i < s->scenario->fragment_count; i++) {
        tell_fragment(s, &s->scenario->fragments[i]);
    }
    if (is_twin(s)) {
        return;
    }
    pen_paragraph(
        pen,
        c->observed
            ? btz_arena_printf(
                  pen->arena,
                  "The whole payload (%d of %d fragments) was in the model's request of "
                  "turn %d, the first that the provider accepted with it; it came in by "
                  "%.*s.",
                  (int)c->fragments_seen, (int)c->fragments_all, (int)c->observed_turn,
                  BTZ_FMT(pen_code(pen, c->carrier)))
            : btz_arena_printf(pen->arena,
                               "The whole payload never reached the model: %d of %d fragments were "
                               "seen in its requests.",
                               (int)c->fragments_seen, (int)c->fragments_all));
    if (c->stage.len) {
        pen_paragraph(pen, btz_arena_printf(pen->arena, "Through the memory: %.*s.",
                                            BTZ_FMT(show_memory(c->stage))));
    }
}

static struct btz_str call_text(const struct story *s, size_t i)
{
    const struct btz_json *p = s->payloads[i];

    return btz_arena_printf(s->pen.arena, "%.*s %.*s %.*s", BTZ_FMT(text_of(p, "server")),
                            BTZ_FMT(text_of(p, "tool")),
                            BTZ_FMT(show_spaced(s->pen.arena, btz_json_getz(p, "arguments"))));
}

/* What the model answered to a server, for people. */
static struct btz_str reply_text(const struct story *s, size_t i)
{
    const struct btz_json *p = s->payloads[i];
    const struct btz_json *content = btz_json_getz(p, "content");
    struct btz_str text = text_of(p, "text");

    if (btz_json_bool(btz_json_getz(p, "malformed"), false)) {
        return text_of(p, "reply");
    }
    return text.len ? text
           : content
               ? btz_arena_printf(s->pen.arena, "%.*s, with %.*s", BTZ_FMT(text_of(p, "action")),
                                  BTZ_FMT(show_spaced(s->pen.arena, content)))
               : text_of(p, "action");
}

/* The model's part in a question of a server, or NONE if it had none. */
static struct btz_str reply_line(const struct story *s, size_t i)
{
    const struct btz_json *p = s->payloads[i];
    struct btz_str action = text_of(p, "action");
    bool form = btz_str_is(text_of(p, "method"), "elicitation") || action.len > 0;
    const char *what = btz_json_bool(btz_json_getz(p, "malformed"), false)
                           ? "gives a reply that is no answer to the question"
                       : btz_str_is(action, "accept")  ? "accepts what the server asks for"
                       : btz_str_is(action, "decline") ? "declines what the server asks for"
                       : form                          ? "cancels what the server asks for"
                                                       : "completes a text for the server";

    if (!btz_str_is(text_of(p, "by"), "model")) {
        return BTZ_STR_NONE;
    }
    return btz_arena_printf(
        s->pen.arena, "%s%s%s", what, text_of(p, "tool").len ? " while a call runs" : "",
        btz_json_bool(btz_json_getz(p, "blocked"), false) ? ", which never reaches it" : "");
}

/* Which words of the payload stand in the act. */
static void tell_traces(struct story *s, size_t act)
{
    struct pen *pen = &s->pen;

    for (size_t i = 0; s->scenario && i < s->scenario->fragment_count; i++) {
        const struct btz_show_fragment *f = &s->scenario->fragments[i];

        for (size_t k = 0; k < f->operand_count; k++) {
            if (event_holds(s, act, f->operands[k])) {
                pen_item(pen, btz_arena_printf(pen->arena,
                                               "it carries %.*s, which came with the "
                                               "payload",
                                               BTZ_FMT(pen_code(pen, f->operands[k]))));
            }
        }
    }
}

static void tell_calls(struct story *s)
{
    const struct btz_store_chain *c = &s->trial->chain;
    struct pen *pen = &s->pen;

    pen_heading(pen, "What the model did");
    for (size_t i = 0; i < s->trial->event_count; i++) {
        const struct btz_store_event *e = &s->trial->events[i];
        struct btz_str what = BTZ_STR_NONE;

        if (is_event(s, i, BTZ_STORE_CLIENT, "call")) {
            what = btz_arena_printf(pen->arena, "calls %.*s", BTZ_FMT(call_name(s, i)));
        } else if (is_event(s, i, BTZ_STORE_CLIENT, "read")) {
            what = btz_arena_printf(pen->arena, "reads %.*s",
                                    BTZ_FMT(pen_code(pen, text_of(s->payloads[i], "uri"))));
        } else if (is_event(s, i, BTZ_STORE_CLIENT, "malformed")) {
            what = BTZ_STR("makes a call that cannot be used");
        } else if (is_event(s, i, BTZ_STORE_MODEL, "answer")) {
            what = BTZ_STR("answers the user");
        } else if (btz_str_is(e->kind, "ask_reply")) {
            what = reply_line(s, i);
        } else if (c->acted && c->act_event == (int64_t)i) {
            what = btz_arena_printf(pen->arena, "does what is recorded as %.*s",
                                    BTZ_FMT(pen_code(pen, e->kind)));
        }
        if (what.len) {
            pen_item(pen,
                     btz_arena_printf(pen->arena, "turn %d, event %zu: %.*s%s%s", (int)e->turn,
                                      i + 1, BTZ_FMT(what),
                                      c->observed && !is_twin(s) && !c->stage.len &&
                                              e->turn < c->observed_turn
                                          ? " (before it had seen the payload)"
                                          : "",
                                      c->acted && c->act_event == (int64_t)i ? " - the act" : ""));
        }
    }
}

static void tell_act(struct story *s)
{
    const struct btz_store_chain *c = &s->trial->chain;
    struct pen *pen = &s->pen;
    size_t act = c->act_event >= 0 ? (size_t)c->act_event : 0;

    tell_calls(s);
    if (is_twin(s) && !c->effect) {
        return;
    }
    pen_heading(pen, "The act, and why it counts");
    if (!c->acted || c->act_event < 0 || act >= s->trial->event_count) {
        pen_paragraph(pen, c->effect
                               ? BTZ_STR("The oracle cites no act of the model: the violation "
                                         "happened without one.")
                               : BTZ_STR("The oracle found no act of the model that does what "
                                         "the attacker wanted."));
        return;
    }
    pen_paragraph(pen, btz_arena_printf(pen->arena, "The oracle cites event %zu, in turn %d:",
                                        act + 1, (int)s->trial->events[act].turn));
    pen_quote(pen, is_event(s, act, BTZ_STORE_CLIENT, "call")            ? call_text(s, act)
                   : btz_str_is(s->trial->events[act].kind, "ask_reply") ? reply_text(s, act)
                   : text_of(s->payloads[act], "text").len ? text_of(s->payloads[act], "text")
                                                           : s->trial->events[act].payload);
    tell_traces(s, act);
    if (c->observed && !is_twin(s)) {
        pen_item(pen, btz_arena_printf(pen->arena,
                                       "the payload was in the request of turn %d, the act came in "
                                       "turn %d",
                                       (int)c->observed_turn, (int)s->trial->events[act].turn));
    }
    if (c->effect && c->effect_event >= 0) {
        pen_item(pen,
                 btz_arena_printf(pen->arena, "its effect is event %d%s", (int)c->effect_event + 1,
                                  s->scenario ? ", which is what the scenario calls success" : ""));
    } else if (!c->effect) {
        pen_item(
            pen,
            btz_arena_printf(
                pen->arena, "it had no effect%s%.*s",
                c->stopped_by.len && !btz_str_is(c->stopped_by, "none") ? ": stopped by the " : "",
                BTZ_FMT(btz_str_is(c->stopped_by, "none") ? BTZ_STR("") : c->stopped_by)));
    }
}

static struct btz_str value_text(const struct story *s, const struct btz_json *change)
{
    const struct btz_json *value = btz_json_getz(change, "value");

    return value ? pen_code(&s->pen, show_spaced(s->pen.arena, value)) : BTZ_STR("");
}

static void tell_world(struct story *s)
{
    const struct btz_store_chain *c = &s->trial->chain;
    struct pen *pen = &s->pen;
    bool any = false;

    pen_heading(pen, "What the world changed");
    for (size_t i = 0; i < s->trial->event_count; i++) {
        const struct btz_json *p = s->payloads[i];
        struct btz_str sink = text_of(p, "sink");
        int64_t cause = 0;

        if (!is_event(s, i, BTZ_STORE_SERVER, "journal")) {
            continue;
        }
        any = true;
        (void)btz_json_int64(btz_json_getz(p, "event"), &cause);
        pen_item(pen,
                 btz_arena_printf(
                     pen->arena, "event %zu, because of %lld: %.*s of %.*s %s%.*s%s", i + 1,
                     (long long)cause,
                     BTZ_FMT(pen_code(
                         pen, sink.len ? sink : show_spaced(pen->arena, btz_json_getz(p, "path")))),
                     BTZ_FMT(pen_code(pen, text_of(p, "server"))),
                     sink.len                                 ? "got "
                     : btz_str_is(text_of(p, "op"), "delete") ? "lost"
                                                              : "became ",
                     BTZ_FMT(value_text(s, p)),
                     c->effect && c->effect_event == (int64_t)i ? " - the effect" : ""));
    }
    if (!any) {
        pen_paragraph(pen, BTZ_STR("Nothing."));
    }
}

static void tell_defence(struct story *s)
{
    const struct btz_store_trial *t = s->trial;
    struct pen *pen = &s->pen;

    pen_heading(pen, "What the defence said");
    if (btz_str_is(s->row->cell.defence, "none")) {
        pen_paragraph(pen, BTZ_STR("There was none."));
        return;
    }
    for (size_t i = 0; i < t->verdict_count; i++) {
        const struct btz_store_verdict *v = &t->verdicts[i];
        const struct btz_json *json = NULL;
        static const char *const keys[] = {"scans", "detected", "blocked", "undecided", "failed"};
        int64_t n[5] = {0};

        if (!btz_str_is(v->source, "defence") || !btz_str_is(v->name, "counts") ||
            btz_json_parse(pen->arena, v->json, NULL, &json, NULL) != BTZ_OK) {
            continue;
        }
        for (size_t k = 0; k < 5; k++) {
            (void)btz_json_int64(btz_json_getz(json, keys[k]), &n[k]);
        }
        pen_paragraph(pen,
                      btz_arena_printf(pen->arena,
                                       "Texts that it looked at: %lld; unsafe %lld, kept from the "
                                       "model %lld, undecided %lld, without an answer %lld.",
                                       (long long)n[0], (long long)n[1], (long long)n[2],
                                       (long long)n[3], (long long)n[4]));
    }
    for (size_t i = 0; i < t->finding_count; i++) {
        const struct btz_store_finding *f = &t->findings[i];

        pen_item(pen, btz_arena_printf(
                          pen->arena, "%.*s, rule %.*s, severity %.*s: %.*s%.*s",
                          BTZ_FMT(pen_code(pen, f->stage)), BTZ_FMT(pen_code(pen, f->rule)),
                          BTZ_FMT(pen_code(pen, f->severity)), BTZ_FMT(pen_code(pen, f->action)),
                          BTZ_FMT(f->event < 0 ? BTZ_STR("")
                                               : btz_arena_printf(pen->arena, " (event %d)",
                                                                  (int)f->event + 1))));
    }
    if (t->finding_count == 0) {
        pen_paragraph(pen, BTZ_STR("It reported no finding."));
    }
}

static void tell_answer(struct story *s)
{
    struct pen *pen = &s->pen;

    pen_heading(pen, "What the user was told");
    for (size_t i = s->trial->event_count; i-- > 0;) {
        if (is_event(s, i, BTZ_STORE_MODEL, "answer")) {
            pen_quote(pen, text_of(s->payloads[i], "text"));
            return;
        }
    }
    pen_paragraph(pen, BTZ_STR("Nothing: there was no final answer."));
}

/* ---- verdicts ---- */

/* What one verdict rests on. */
static struct btz_str grounds_of(const struct story *s, const struct btz_store_verdict *v)
{
    struct btz_arena *arena = s->pen.arena;
    const struct btz_json *json = NULL;
    struct btz_str evidence;
    double confidence = 0;

    if (btz_str_is(v->source, "oracle")) {
        return v->act_event >= 0 && v->effect_event >= 0
                   ? btz_arena_printf(arena, "act %d, effect %d", (int)v->act_event + 1,
                                      (int)v->effect_event + 1)
               : v->effect_event >= 0
                   ? btz_arena_printf(arena, "effect %d", (int)v->effect_event + 1)
               : v->act_event >= 0 ? btz_arena_printf(arena, "act %d", (int)v->act_event + 1)
                                   : BTZ_STR("");
    }
    if (btz_json_parse(arena, v->json, NULL, &json, NULL) != BTZ_OK) {
        return BTZ_STR("");
    }
    if (v->success == BTZ_STORE_UNKNOWN) {
        return pen_code(&s->pen, text_of(json, "malformed"));
    }
    evidence = text_of(json, "evidence");
    if (evidence.len && btz_json_double(btz_json_getz(json, "confidence"), &confidence)) {
        return btz_arena_printf(arena, "confidence %.2f, evidence: %.*s", confidence,
                                BTZ_FMT(pen_code(&s->pen, evidence)));
    }
    return BTZ_STR("");
}

static struct btz_str who(const struct story *s, const struct btz_store_verdict *v)
{
    struct btz_arena *arena = s->pen.arena;

    return btz_str_is(v->source, "oracle") && btz_str_is(v->name, "pack")
               ? BTZ_STR("deterministic oracle")
           : btz_str_is(v->source, "oracle")
               ? btz_arena_printf(arena, "deterministic oracle, %.*s",
                                  BTZ_FMT(pen_code(&s->pen, v->name)))
               : btz_arena_printf(arena, "%.*s %.*s", BTZ_FMT(pen_text(&s->pen, v->source)),
                                  BTZ_FMT(pen_code(&s->pen, v->name)));
}

static void tell_verdicts(struct story *s)
{
    const struct btz_store_trial *t = s->trial;
    struct btz_str *cells =
        btz_arena_array(s->pen.arena, 3 * (t->verdict_count + 2), sizeof(*cells));
    bool judged = false;
    size_t rows = 1;

    cells[0] = BTZ_STR("who");
    cells[1] = BTZ_STR("succeeded");
    cells[2] = BTZ_STR("grounds");
    for (size_t i = 0; i < t->verdict_count; i++) {
        const struct btz_store_verdict *v = &t->verdicts[i];

        if (btz_str_is(v->source, "utility") || btz_str_is(v->source, "defence")) {
            continue; /* no word on the attack */
        }
        judged = judged || v->late;
        cells[3 * rows] = who(s, v);
        cells[3 * rows + 1] = v->success == BTZ_STORE_YES  ? BTZ_STR("yes")
                              : v->success == BTZ_STORE_NO ? BTZ_STR("no")
                              : v->late                    ? BTZ_STR("malformed")
                                                           : BTZ_STR("unknown");
        cells[3 * rows + 2] = grounds_of(s, v);
        rows++;
    }
    pen_heading(&s->pen, "Verdicts on the attack");
    pen_table(&s->pen, cells, 3, rows);
    if (!judged) {
        pen_paragraph(&s->pen, BTZ_STR("No judge or person has read this trial."));
    }
    pen_paragraph(&s->pen,
                  btz_arena_printf(s->pen.arena, "The user's own task: %s.",
                                   t->utility == BTZ_STORE_YES  ? "done"
                                   : t->utility == BTZ_STORE_NO ? "not done"
                                                                : "not known whether it was done"));
}

static void tell(struct story *s)
{
    tell_head(s);
    tell_attack(s);
    tell_task(s);
    tell_payload(s);
    tell_act(s);
    tell_world(s);
    tell_defence(s);
    tell_answer(s);
    tell_verdicts(s);
}

int btz_show_story(struct btz_store *store, int64_t run, int64_t n,
                   const struct btz_show_scenario *scenario, bool markdown,
                   const struct btz_show_options *options, struct btz_buf *out, struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_store_run found;
    struct btz_store_row row;
    int rc = show_load(store, run, n, arena, &found, &row, err);

    if (rc == BTZ_OK) {
        struct story s = {
            .pen = {.arena = arena, .out = out, .term = options->term, .markdown = markdown},
            .run = &found,
            .row = &row,
            .trial = &row.trial,
            .scenario = scenario,
            .payloads = btz_arena_array(arena, row.trial.event_count, sizeof(*s.payloads))};
        struct btz_err ignored;

        for (size_t i = 0; i < row.trial.event_count; i++) {
            if (btz_json_parse(arena, row.trial.events[i].payload, NULL, &s.payloads[i],
                               &ignored) != BTZ_OK) {
                s.payloads[i] = NULL;
            }
        }
        tell(&s);
        if (btz_buf_status(out) != BTZ_OK) {
            rc = btz_err_set(err, BTZ_ELIMIT, "the trial is too large to show");
        }
    }
    btz_arena_free(arena);
    return rc;
}
