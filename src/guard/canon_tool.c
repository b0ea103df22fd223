/* The canonical form of one definition: purpose, requirements, what it returns, side effects, and
 * the schema with one line a parameter. Prose is extracted sentence by sentence; side effects are
 * worked out from what stays. */
#include "guard/canon_int.h"

enum section { SECTION_NONE, SECTION_RETURNS, SECTION_DROPPED };

struct prose {
    struct work *w;
    struct plain text;
    enum section section;
    bool judged_one; /* a sentence was tried as purpose */
    char purpose[CANON_PURPOSE_MAX];
    size_t purpose_len;
    char notes[CANON_NOTES * (CANON_NOTE_MAX + 1) + CANON_FACTS_MAX];
    size_t notes_len;
    size_t facts_len; /* of these */
    unsigned note_count, fact_count;
    char returns[CANON_RETURNS_MAX];
    size_t returns_len;
    char beginning[CANON_PURPOSE_MAX]; /* of a sentence that could have been the purpose */
    size_t beginning_len;
    size_t beginning_span;    /* its place among the spans */
    size_t beginning_removed; /* bytes of the sentence that went */
    size_t beginning_facts;   /* ... of the lines that stayed of it */
    /* The sentence under way: whether it could be the purpose, what stays of it, and as what. */
    bool could_be;
    struct judged how;
    const char *as;
    struct btz_str now;
    struct btz_str requires; /* lines */
    struct btz_str required[CANON_REQUIRES];
    size_t required_count;
};

static const struct btz_str unstated = BTZ_STR("Purpose not stated.");

bool btz_canon_is_unstated(struct btz_str description)
{
    return btz_str_starts(description, unstated);
}

/* ---- tokens ---- */

static bool is_word(const struct token *t, const char *words)
{
    return canon_is_one_of(t->ptr, t->len, words);
}

static bool is_point(const struct token *t, char sign)
{
    return t->kind == TOKEN_POINT && t->ptr[0] == sign;
}

static void span(struct prose *p, enum btz_canon_action action, const char *rule,
                 struct btz_str text)
{
    const struct sentence *s = &p->w->sentence;
    size_t from = p->text.from ? p->text.from[s->begin] : s->begin;
    size_t to = p->text.from ? p->text.from[s->end] : s->end;

    canon_span(p->w, from, to, action, rule, text);
}

/* ---- sections of a docstring ---- */

/* A line of its own such as "Args:"; what follows belongs to it. */
static bool take_header(struct prose *p)
{
    const struct sentence *s = &p->w->sentence;

    if (s->count != 2 || !s->line_ends || !is_point(&s->tokens[1], ':')) {
        return false;
    }
    if (is_word(&s->tokens[0], "returns return output outputs result")) {
        p->section = SECTION_RETURNS;
    } else if (is_word(&s->tokens[0], "args arguments parameters params inputs input example "
                                      "examples raises usage errors throws")) {
        p->section = SECTION_DROPPED;
    } else {
        p->section = SECTION_NONE;
    }
    return true;
}

/* "city (str): Name of the city", of a property that says nothing of itself. */
static bool take_help(struct prose *p)
{
    const struct sentence *s = &p->w->sentence;
    const struct btz_json *properties = btz_json_getz(p->w->root, "properties");
    const struct btz_json *schema;
    struct btz_str name;
    size_t i = 1;

    if (s->count < 3 || s->tokens[0].kind == TOKEN_POINT ||
        !(is_point(&s->tokens[1], ':') || is_point(&s->tokens[1], '(') ||
          is_point(&s->tokens[1], '-'))) {
        return false;
    }
    name = (struct btz_str){s->tokens[0].ptr, s->tokens[0].len};
    schema = btz_json_is(properties, BTZ_JSON_OBJECT) ? btz_json_get(properties, name) : NULL;
    if (!btz_json_is(schema, BTZ_JSON_OBJECT)) {
        return false;
    }
    while (i < s->count && !is_point(&s->tokens[i], ':') && !is_point(&s->tokens[i], '-')) {
        i++;
    }
    if (i + 1 >= s->count) {
        return false;
    }
    if (!btz_json_str(btz_json_getz(schema, "description")).len) {
        p->w->help = p->w->help ? p->w->help : btz_json_new_object(p->w->arena);
        btz_json_set(p->w->arena, p->w->help, name,
                     btz_json_new_str(p->w->arena, btz_str_sub(p->text.text, s->tokens[i + 1].begin,
                                                               s->end - s->tokens[i + 1].begin)));
    }
    span(p, BTZ_CANON_REMOVED, "moved-to-parameter", BTZ_STR_NONE);
    return true;
}

static bool is_recomputed(const struct sentence *s)
{
    return (s->count >= 3 && is_word(&s->tokens[0], "side") && is_word(&s->tokens[1], "effects") &&
            is_point(&s->tokens[2], ':')) ||
           (s->count == 3 && is_word(&s->tokens[0], "purpose") && is_word(&s->tokens[1], "not") &&
            is_word(&s->tokens[2], "stated"));
}

/* ---- requirements ---- */

static const struct btz_canon_result *precondition(const struct prose *p, const struct sentence *s)
{
    const struct prior prior = {s, p->w->judge.siblings, p->w->judge.name};

    return canon_prior(&prior);
}

static bool take_requirement(struct prose *p)
{
    const struct btz_canon_result *tool = precondition(p, &p->w->sentence);
    struct btz_str line;

    if (!tool || p->required_count == CANON_REQUIRES) {
        return false;
    }
    for (size_t i = 0; i < p->required_count; i++) {
        if (btz_str_eq(p->required[i], tool->name)) {
            span(p, BTZ_CANON_REMOVED, "said-twice", BTZ_STR_NONE);
            return true;
        }
    }
    line = btz_arena_printf(p->w->arena, "Requires: a prior call of %.*s.", BTZ_FMT(tool->name));
    span(p, BTZ_CANON_CHANGED, "precondition", line);
    p->required[p->required_count++] = tool->name;
    p->requires = p->requires.len ? btz_arena_printf(p->w->arena, "%.*s\n%.*s",
                                                     BTZ_FMT(p->requires), BTZ_FMT(line))
                                  : line;
    return true;
}

/* ---- kinds of sentences ---- */

/* Number of tokens before the verb: "This tool can be used to". */
static size_t lead_of(const struct sentence *s)
{
    bool announces = false;
    size_t i = 0;

    if (s->count > 4 && is_word(&s->tokens[0], "use") && is_word(&s->tokens[1], "this") &&
        is_word(&s->tokens[2], "tool endpoint function action command") &&
        is_word(&s->tokens[3], "to") && s->tokens[4].kind == TOKEN_WORD &&
        (s->tokens[4].flags & WORD_EFFECTS)) {
        return 4;
    }
    while (i < s->count && i < 12 && s->tokens[i].kind == TOKEN_WORD &&
           (s->tokens[i].flags & WORD_LEAD)) {
        announces |=
            (s->tokens[i].flags & WORD_ANNOUNCES) != 0 || is_word(&s->tokens[i], "this it");
        i++;
    }
    return announces && i < s->count && s->tokens[i].kind == TOKEN_WORD &&
                   (s->tokens[i].flags & WORD_EFFECTS)
               ? i
               : 0;
}

static bool is_led(const struct sentence *s)
{
    return s->count > 2 && is_word(&s->tokens[0], "note notes") &&
           (is_point(&s->tokens[1], ':') || is_word(&s->tokens[1], "that"));
}

/* A line about a parameter or about what is returned, whatever else it may be. */
static bool is_entry(const struct prose *p, const struct sentence *s)
{
    const struct btz_json *properties = btz_json_getz(p->w->root, "properties");
    struct btz_str first = {s->tokens[0].ptr, s->tokens[0].len};

    return s->count > 1 && s->tokens[1].kind == TOKEN_POINT &&
           (is_word(&s->tokens[0], "returns return output outputs") ||
            (btz_json_is(properties, BTZ_JSON_OBJECT) && btz_json_get(properties, first)));
}

/* Whether a sentence that is written for `role` is taken for the same when it comes back. */
static bool comes_back_as(const struct prose *p, enum role role, const struct sentence *s)
{
    size_t lead = lead_of(s);
    struct canon_fact fact;

    if (s->count == 0 || is_entry(p, s) || is_recomputed(s) || precondition(p, s) ||
        canon_is_fact(&p->w->judge, s, ROLE_NOTE, &fact)) {
        return false;
    }
    /* "Returns the weather." is a purpose where it comes first. */
    return role == ROLE_PURPOSE
               ? lead == 0
               : !is_led(s) && !is_word(&s->tokens[lead], "returns return output outputs");
}

/* "Search results are sorted": no purpose, though its first word could be a verb. */
static bool states_early(const struct sentence *s, size_t from)
{
    for (size_t i = from + 1; i < s->count && i <= from + 3; i++) {
        if (is_word(&s->tokens[i], "is are can may will has have was were must should")) {
            return true;
        }
    }
    return false;
}

/* Whether a sentence that is not the first one is tried as purpose. */
static bool may_be_purpose(const struct sentence *s, size_t from)
{
    const struct token *first = &s->tokens[from];

    return first->kind == TOKEN_WORD && (first->flags & WORD_EFFECTS) &&
           !(first->flags & WORD_INFLECTED) && !states_early(s, from) &&
           !is_word(first, "provide include combine omit specify supply");
}

/* `whole`: what was written is the sentence under way. */
static bool comes_back(const struct prose *p, enum role role, const char *written, size_t len,
                       bool whole)
{
    struct plain text = {{written, len}, NULL};
    struct sentence s;

    if (whole) {
        return comes_back_as(p, role, &p->w->sentence);
    }
    /* A statement that was cut would be the purpose of a tool that has none. */
    return canon_sentence(&text, 0, &s) && comes_back_as(p, role, &s) &&
           !(role == ROLE_NOTE && !p->purpose_len && may_be_purpose(&s, lead_of(&s)));
}

static void stays(struct prose *p, const struct judged *how, const char *as, const char *text,
                  size_t len)
{
    p->how = *how;
    p->as = as;
    p->now = (struct btz_str){text, len};
}

static bool take_purpose(struct prose *p, size_t from, const char **rule)
{
    bool may = !p->judged_one || may_be_purpose(&p->w->sentence, from);
    struct judged how;

    p->judged_one = true;
    if (p->purpose_len || !may) {
        return false;
    }
    p->could_be = true;
    p->purpose_len = canon_judge(&p->w->judge, &p->w->sentence, from, ROLE_PURPOSE,
                                 CANON_PURPOSE_MAX, p->purpose, &how);
    *rule = how.rule;
    if (p->purpose_len && !comes_back(p, ROLE_PURPOSE, p->purpose, p->purpose_len, how.whole)) {
        p->purpose_len = 0;
    }
    if (p->purpose_len) {
        stays(p, &how, "purpose", p->purpose, p->purpose_len);
    }
    return p->purpose_len > 0;
}

static bool take_returns(struct prose *p, size_t from, const char **rule)
{
    const struct sentence *s = &p->w->sentence;
    bool word = from < s->count && is_word(&s->tokens[from], "returns return output outputs");
    bool colon = word && from + 1 < s->count && is_point(&s->tokens[from + 1], ':');
    struct judged how;

    if (!(colon || (word && p->purpose_len) || p->section == SECTION_RETURNS)) {
        return false;
    }
    from += colon ? 2 : word ? 1 : 0;
    if (p->returns_len || from >= s->count) {
        *rule = p->returns_len ? "said-twice" : *rule;
        return false;
    }
    p->returns_len = canon_judge(&p->w->judge, s, from, ROLE_RETURNS,
                                 CANON_RETURNS_MAX - strlen("Returns: "), p->returns, &how);
    *rule = how.rule;
    if (p->returns_len) {
        p->section = SECTION_NONE;
        stays(p, &how, "returns", p->returns, p->returns_len);
    }
    return p->returns_len > 0;
}

static bool take_note(struct prose *p, const char **rule)
{
    const struct sentence *s = &p->w->sentence;
    bool led = is_led(s);
    char *out = p->notes + p->notes_len;
    struct judged how;
    size_t len;

    if (p->note_count == CANON_NOTES) {
        *rule = "over-length";
        return false;
    }
    len = canon_judge(&p->w->judge, s, led ? 2 : 0, ROLE_NOTE, CANON_NOTE_MAX, out + 1, &how);
    *rule = how.rule;
    len = len && comes_back(p, ROLE_NOTE, out + 1, len, how.whole) ? len : 0;
    if (len) {
        out[0] = ' ';
        p->notes_len += len + 1;
        p->note_count++;
        stays(p, &how, "note", out + 1, len);
    }
    return len > 0;
}

/* False: said already, or no room. */
static bool add_fact(struct prose *p, const struct canon_fact *fact)
{
    struct btz_str notes = {p->notes, p->notes_len};

    if (p->fact_count == CANON_FACTS || p->facts_len + fact->len + 1 > CANON_FACTS_MAX ||
        btz_str_find(notes, (struct btz_str){fact->text, fact->len}) >= 0) {
        return false;
    }
    p->notes[p->notes_len] = ' ';
    memcpy(p->notes + p->notes_len + 1, fact->text, fact->len);
    p->notes_len += fact->len + 1;
    p->facts_len += fact->len + 1;
    p->fact_count++;
    return true;
}

/* The sentence is a fixed line itself. */
static bool take_fact(struct prose *p)
{
    struct canon_fact fact;

    if (!canon_is_fact(&p->w->judge, &p->w->sentence, ROLE_NOTE, &fact)) {
        return false;
    }
    if (add_fact(p, &fact)) {
        span(p, BTZ_CANON_CHANGED, "fact", (struct btz_str){fact.text, fact.len});
    } else {
        span(p, BTZ_CANON_REMOVED, "said-twice", BTZ_STR_NONE);
    }
    return true;
}

/* What the sentence still says behind what stays of it. */
static void take_facts(struct prose *p, const char *rule)
{
    struct canon_fact facts[CANON_FACTS_A_SENTENCE];
    size_t notes = p->notes_len;
    size_t count = p->how.complete
                       ? 0
                       : canon_facts(&p->w->judge, &p->w->sentence, p->how.kept, ROLE_NOTE, facts);
    size_t removed = p->w->removed;
    bool begins = false;
    struct btz_str more;

    for (size_t i = 0; i < count; i++) {
        (void)add_fact(p, &facts[i]);
    }
    more = (struct btz_str){p->notes + notes, p->notes_len - notes};
    if (p->now.len && more.len) {
        more = btz_arena_printf(p->w->arena, "%.*s%.*s", BTZ_FMT(p->now), BTZ_FMT(more));
    } else if (more.len) {
        more = btz_str_sub(more, 1, more.len - 1);
    } else {
        more = p->now;
    }
    if (!p->now.len && p->could_be && !p->purpose_len && !p->beginning_len) {
        p->beginning_len =
            canon_judge_beginning(&p->w->judge, &p->w->sentence, lead_of(&p->w->sentence),
                                  CANON_PURPOSE_MAX, p->beginning);
        p->beginning_span = p->w->span_count;
        begins = p->beginning_len > 0;
    }
    if (more.len) {
        span(p, BTZ_CANON_CHANGED, p->as ? p->as : "fact", more);
    } else {
        span(p, BTZ_CANON_REMOVED, rule, BTZ_STR_NONE);
    }
    p->beginning_removed = begins ? p->w->removed - removed : p->beginning_removed;
    p->beginning_facts = begins ? more.len : p->beginning_facts;
}

static void take_sentence(struct prose *p)
{
    const struct sentence *s = &p->w->sentence;
    const char *rule = "not-a-description";
    size_t lead;

    p->could_be = false;
    p->as = NULL;
    p->now = BTZ_STR_NONE;
    p->how = (struct judged){.whole = false};
    if (p->section == SECTION_DROPPED && s->count > 2 && is_word(&s->tokens[0], "returns return") &&
        is_point(&s->tokens[1], ':')) {
        p->section = SECTION_NONE;
    }
    if (s->count == 0) {
        span(p, BTZ_CANON_REMOVED, "no-words", BTZ_STR_NONE);
    } else if (is_recomputed(s)) {
        /* Where the purpose would stand: no statement takes its place. */
        p->judged_one |= is_word(&s->tokens[0], "purpose");
        span(p, BTZ_CANON_REMOVED, "worked-out-anew", BTZ_STR_NONE);
    } else if (take_fact(p)) {
        return;
    } else if (take_header(p)) {
        span(p, BTZ_CANON_REMOVED, "heading", BTZ_STR_NONE);
    } else if (take_help(p) || take_requirement(p)) {
        return;
    } else if (p->section == SECTION_DROPPED) {
        span(p, BTZ_CANON_REMOVED, "section", BTZ_STR_NONE);
    } else {
        lead = lead_of(s);
        if (!take_returns(p, lead, &rule) && !take_purpose(p, lead, &rule)) {
            (void)take_note(p, &rule);
        }
        take_facts(p, rule);
    }
}

static bool has_digit(struct btz_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] >= '0' && s.ptr[i] <= '9') {
            return true;
        }
    }
    return false;
}

/* The beginning of a lost sentence, where there is no other purpose; of `words` at least. */
static bool purpose_from_beginning(struct prose *p, size_t words)
{
    struct work *w = p->w;
    struct btz_canon_span *s;
    size_t count = 1;
    size_t more;

    for (size_t i = 0; i < p->beginning_len; i++) {
        count += p->beginning[i] == ' ' ? 1 : 0;
    }
    if (!p->beginning_len || count < words ||
        !comes_back(p, ROLE_PURPOSE, p->beginning, p->beginning_len, false)) {
        return false;
    }
    memcpy(p->purpose, p->beginning, p->beginning_len);
    p->purpose_len = p->beginning_len;
    more = p->purpose_len + (p->beginning_facts ? 1 : 0);
    w->removed -= p->beginning_removed < more ? p->beginning_removed : more;
    if (p->beginning_span < w->span_count) {
        s = &w->spans[p->beginning_span];
        s->text = btz_arena_printf(w->arena, "%.*s%s%.*s", (int)p->purpose_len, p->purpose,
                                   s->text.len ? " " : "", BTZ_FMT(s->text));
        s->action = BTZ_CANON_CHANGED;
        s->rule = "purpose";
    }
    return true;
}

/* "first_send_all", "prefer_this": a name is shown anyhow, but no sentence is made of it. */
static bool is_order(const struct sentence *s)
{
    for (size_t i = 0; i < s->count; i++) {
        if (is_word(&s->tokens[i],
                    "first prefer preferred better best instead before always never")) {
            return true;
        }
    }
    return false;
}

/* "Get weather." of get_weather. */
static void purpose_from_name(struct prose *p)
{
    struct btz_str rest = p->w->out->name;
    struct btz_str piece;
    struct plain text = {BTZ_STR_NONE, NULL};
    struct judged how = {.whole = false};
    char words[2 * CANON_TOOL_NAME_MAX + 2];
    size_t len = 0;

    while (canon_piece(&rest, &piece) && len + piece.len + 1 < sizeof(words)) {
        if (piece.len >= 6 && has_digit(piece)) {
            continue; /* a hash */
        }
        words[len] = ' ';
        len += len ? 1 : 0;
        for (size_t i = 0; i < piece.len; i++) {
            char c = piece.ptr[i];

            words[len++] = (char)(c >= 'A' && c <= 'Z' ? c + 0x20 : c);
        }
    }
    text.text = (struct btz_str){words, len};
    if (len && canon_sentence(&text, 0, &p->w->sentence) && !is_order(&p->w->sentence)) {
        p->purpose_len = canon_judge(&p->w->judge, &p->w->sentence, 0, ROLE_PURPOSE,
                                     CANON_PURPOSE_MAX, p->purpose, &how);
    }
    /* What would be read otherwise when it comes back does not stay. */
    if (p->purpose_len && !comes_back(p, ROLE_PURPOSE, p->purpose, p->purpose_len, how.whole)) {
        p->purpose_len = 0;
    }
    if (!p->purpose_len && !purpose_from_beginning(p, 2)) {
        memcpy(p->purpose, unstated.ptr, unstated.len);
        p->purpose_len = unstated.len;
    }
}

/* ---- side effects ---- */

/* Hints stay where the evidence does not speak against them. What a server admits is believed, what
 * it denies is not. */
static const struct btz_json *annotations_of(struct work *w, const struct btz_json *given,
                                             enum effect *effect)
{
    struct btz_json *out = btz_json_new_object(w->arena);
    bool reads;

    *effect = canon_admitted(*effect, given);
    reads = *effect == EFFECT_NONE || *effect == EFFECT_READS;
    for (size_t i = 0; i < btz_json_count(given); i++) {
        struct btz_str key = btz_json_key_at(given, i);
        const struct btz_json *value = btz_json_value_at(given, i);
        bool yes = btz_json_bool(value, false);
        size_t mark = canon_enter(w, key);
        bool good = false;

        if (!btz_json_is(value, BTZ_JSON_BOOL)) {
            canon_drop(w, value, "no-canonical-member");
        } else if (btz_str_is(key, "readOnlyHint")) {
            good = yes ? reads : true;
        } else if (btz_str_is(key, "destructiveHint")) {
            good = yes || reads || *effect == EFFECT_WRITES || *effect == EFFECT_SENDS;
        } else if (btz_str_is(key, "idempotentHint")) {
            good = true;
        } else if (btz_str_is(key, "openWorldHint")) {
            good = yes || *effect != EFFECT_SENDS;
        }
        canon_leave(w, mark);
        if (good) {
            btz_json_set(w->arena, out, key, value);
        }
    }
    return out;
}

/* ---- the whole ---- */

struct btz_str canon_layout(struct btz_arena *arena, struct btz_str purpose, struct btz_str notes,
                            struct btz_str requires, struct btz_str returns, const char *effect)
{
    const char *head = returns.len ? "\nReturns: " : "";
    size_t most = purpose.len + notes.len + requires.len + returns.len + 64;
    char *text = btz_arena_alloc(arena, most);
    size_t len = 0;
    const struct btz_str parts[] = {purpose,
                                    notes,
                                    requires.len ? BTZ_STR("\n") : BTZ_STR(""),
                                    requires,
                                    btz_str_of(head),
                                    returns,
                                    BTZ_STR("\nSide effects: "),
                                    btz_str_of(effect),
                                    BTZ_STR(".")};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (parts[i].len) {
            memcpy(text + len, parts[i].ptr, parts[i].len);
            len += parts[i].len;
        }
    }
    return (struct btz_str){text, len};
}

static void read_description(struct work *w, struct prose *p)
{
    size_t mark = canon_enter(w, BTZ_STR("description"));

    const struct btz_json *given = btz_json_getz(w->tool, "description");
    struct btz_str source = btz_json_str(given);

    if (given && !btz_json_is(given, BTZ_JSON_STRING)) {
        canon_drop(w, given, "no-text");
    }
    canon_plain(canon_may_read(w, source.len) ? source : BTZ_STR_NONE, w->arena, &p->text);
    canon_note_hidden(w, source, &p->text);
    for (size_t at = 0; canon_sentence(&p->text, at, &w->sentence); at = w->sentence.end) {
        take_sentence(p);
        if (w->sentence.blank && w->sentence.count > 2) {
            p->section = SECTION_NONE;
        }
    }
    canon_leave(w, mark);
    if (!p->purpose_len && !purpose_from_beginning(p, 4)) {
        purpose_from_name(p);
    }
}

static const struct btz_json *schema_in(struct work *w, const char *key, bool prose)
{
    size_t mark = canon_enter(w, btz_str_of(key));
    const struct btz_json *schema = btz_json_getz(w->tool, key);

    canon_base(w, schema);
    schema = canon_schema(w, schema, prose);
    canon_leave(w, mark);
    return schema;
}

static bool is_canonical_member(struct btz_str key)
{
    return btz_str_is(key, "name") || btz_str_is(key, "description") ||
           btz_str_is(key, "inputSchema") || btz_str_is(key, "outputSchema");
}

/* Members that have no place in the canonical form. */
static void drop_rest(struct work *w, bool annotations)
{
    for (size_t i = 0; i < btz_json_count(w->tool); i++) {
        struct btz_str key = btz_json_key_at(w->tool, i);
        size_t mark;

        if (is_canonical_member(key) || (annotations && btz_str_is(key, "annotations")) ||
            btz_str_is(key, "execution")) {
            continue;
        }
        mark = canon_enter(w, key);
        canon_drop(w, btz_json_value_at(w->tool, i), "no-canonical-member");
        canon_leave(w, mark);
    }
}

static void add_execution(struct work *w, struct btz_json *out)
{
    const struct btz_json *given = btz_json_getz(w->tool, "execution");
    struct btz_str support = btz_json_str(btz_json_getz(given, "taskSupport"));
    size_t mark = canon_enter(w, BTZ_STR("execution"));

    if (btz_json_count(given) == 1 &&
        (btz_str_is(support, "optional") || btz_str_is(support, "required") ||
         btz_str_is(support, "forbidden"))) {
        canon_keep(w, given, "execution");
        btz_json_setz(w->arena, out, "execution", given);
    } else if (given) {
        canon_drop(w, given, "no-canonical-member");
    }
    canon_leave(w, mark);
}

static void add_name(struct work *w, struct btz_json *out)
{
    size_t mark = canon_enter(w, BTZ_STR("name"));
    bool same = btz_str_eq(w->out->given_name, w->out->name);

    canon_span(w, 0, w->out->given_name.len, same ? BTZ_CANON_KEPT : BTZ_CANON_CHANGED,
               same ? "name" : "name-not-plain", w->out->name);
    canon_leave(w, mark);
    btz_json_set_str(w->arena, out, "name", w->out->name);
}

/* A schema of arguments is one of an object. */
static const struct btz_json *input_of(struct work *w, bool prose)
{
    const struct btz_json *schema = schema_in(w, "inputSchema", prose);
    struct btz_json *out;

    if (btz_str_is(btz_json_str(btz_json_getz(schema, "type")), "object")) {
        return schema;
    }
    out = btz_json_new_object(w->arena);
    btz_json_setz(w->arena, out, "type", btz_json_new_strz(w->arena, "object"));
    for (size_t i = 0; btz_json_is(schema, BTZ_JSON_OBJECT) && i < btz_json_count(schema); i++) {
        if (!btz_str_is(btz_json_key_at(schema, i), "type")) {
            btz_json_set(w->arena, out, btz_json_key_at(schema, i), btz_json_value_at(schema, i));
        }
    }
    return out;
}

const struct btz_json *canon_schema_only(struct work *w)
{
    struct btz_json *out = btz_json_new_object(w->arena);
    size_t mark;

    add_name(w, out);
    mark = canon_enter(w, BTZ_STR("description"));
    if (btz_json_getz(w->tool, "description")) {
        canon_drop(w, btz_json_getz(w->tool, "description"), "prose");
    }
    canon_leave(w, mark);
    btz_json_setz(w->arena, out, "inputSchema", input_of(w, false));
    if (btz_json_getz(w->tool, "outputSchema")) {
        btz_json_setz(w->arena, out, "outputSchema", schema_in(w, "outputSchema", false));
    }
    add_execution(w, out);
    drop_rest(w, false);
    return out;
}

const struct btz_json *canon_extract(struct work *w)
{
    struct btz_json *out = btz_json_new_object(w->arena);
    const struct btz_json *annotations = btz_json_getz(w->tool, "annotations");
    const struct btz_json *schema;
    struct prose p;
    enum effect effect;

    memset(&p, 0, offsetof(struct prose, purpose));
    p.w = w;
    p.purpose_len = p.notes_len = p.returns_len = 0;
    p.facts_len = p.beginning_len = p.beginning_removed = p.beginning_facts = 0;
    p.note_count = p.fact_count = 0;
    p.required_count = 0;
    p.requires = BTZ_STR_NONE;
    w->root = btz_json_getz(w->tool, "inputSchema");
    w->judge.effect = canon_name_effect(w->out->name);
    w->judge.properties = btz_json_getz(w->root, "properties");
    if (!btz_json_is(w->judge.properties, BTZ_JSON_OBJECT)) {
        w->judge.properties = NULL;
    }
    canon_own_add(&w->own, w->out->name);
    canon_base(w, w->root);
    canon_collect(w, w->root);
    add_name(w, out);
    read_description(w, &p);
    btz_json_setz(w->arena, out, "description", btz_json_null(w->arena));
    schema = input_of(w, true);
    w->root = NULL;
    btz_json_setz(w->arena, out, "inputSchema", schema);
    if (btz_json_getz(w->tool, "outputSchema")) {
        btz_json_setz(w->arena, out, "outputSchema", schema_in(w, "outputSchema", false));
    }
    effect = canon_tool_effect(w->out->name, (struct btz_str){p.purpose, p.purpose_len}, schema);
    if (btz_json_is(annotations, BTZ_JSON_OBJECT)) {
        size_t mark = canon_enter(w, BTZ_STR("annotations"));

        annotations = annotations_of(w, annotations, &effect);
        canon_leave(w, mark);
        if (btz_json_count(annotations)) {
            btz_json_setz(w->arena, out, "annotations", annotations);
        }
        drop_rest(w, true);
    } else {
        drop_rest(w, false);
    }
    add_execution(w, out);
    btz_json_set_str(w->arena, out, "description",
                     canon_layout(w->arena, (struct btz_str){p.purpose, p.purpose_len},
                                  (struct btz_str){p.notes, p.notes_len}, p.requires,
                                  (struct btz_str){p.returns, p.returns_len},
                                  canon_effect_name(effect)));
    return out;
}
