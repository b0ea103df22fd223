/* Fixed lines about what has to be there before a call: a state, parameters, ids. */
#include <stdio.h>

#include "guard/canon_fact.h"

enum { PHRASE = 6 };

/* ---- states ---- */

/* Whether it is the tool that requires, always: not "turning it on requires", "set x to require",
 * "an admin needs". */
static bool is_of_tool(const struct scan *x, size_t i)
{
    while (i && (is(x, i - 1,
                    "this the tool operation action call method endpoint command function api it "
                    "also and but note please") ||
                 (i > 1 && is(x, i - 1, "that") && is(x, i - 2, "note")))) {
        i--;
    }
    return i == 0 || is_sign(x, i - 1, ',') || is_sign(x, i - 1, '(') || is_sign(x, i - 1, '-');
}

void fact_states(struct scan *x)
{
    struct canon_fact f;

    if (is_unclear(x) || says(x, "only for may might could")) {
        return;
    }
    fact_begin(&f, "Requires:");
    for (size_t i = 0; i < x->s->count; i++) {
        size_t at = i + 1;
        size_t from;

        if (!has(x, i, MARK_NEEDS) || is_kept(x, i) || is_denied(x, i) || !is_of_tool(x, i)) {
            continue;
        }
        at += is_sign(x, at, ':') ? 1 : 0;
        from = at;
        at += is(x, at, "a an the") ? 1 : 0;
        while (at < from + PHRASE && has(x, at, MARK_STATE | MARK_QUALITY)) {
            at++;
        }
        if (at > from && has(x, at - 1, MARK_STATE) &&
            (at >= x->s->count || is_sign(x, at, ',') || is_sign(x, at, '(') ||
             is_sign(x, at, ')') || is(x, at, "of") ||
             (is(x, at, "to") && is(x, at + 1, "the a an this"))) && /* to do what, is a case */
            !fact_is_weakened(x, at)) {
            (void)fact_add(x, &f, from, at);
            break;
        }
    }
    fact_end(x, &f);
}

/* ---- which parameters belong together ---- */

/* A parameter of this tool under a name that it keeps. */
static bool is_parameter(const struct scan *x, size_t i)
{
    const struct token *t = tok(x, i);
    struct btz_str name = {t->ptr, t->len};

    return i < x->s->count && t->kind != TOKEN_POINT && btz_json_get(x->judge->properties, name) &&
           canon_name_is_plain(name, CANON_NAME_MAX);
}

/* Says "one of these", "only one", "all": 0 = nothing. The number of tokens goes to `*len`. */
static const char *group_at(const struct scan *x, size_t i, size_t *len)
{
    *len = 2;
    if (is(x, i, "either")) {
        *len = 1;
        return "Needs one of:";
    }
    if ((is(x, i, "exactly only") && is(x, i + 1, "one")) ||
        (is(x, i, "at") && is(x, i + 1, "least") && is(x, i + 2, "one"))) {
        *len = is(x, i, "at") ? 3 : 2;
        return is(x, i, "at") ? "Needs one of:" : "Only one of:";
    }
    if (is(x, i, "one") && is(x, i + 1, "of")) {
        return "Needs one of:";
    }
    *len = 1;
    if (is(x, i, "needs") && is(x, i + 1, "all")) { /* the line itself */
        *len = 2;
        return "Needs all of:";
    }
    return is(x, i, "both") ? "Needs all of:" : NULL;
}

static bool is_exclusive(const struct scan *x)
{
    for (size_t i = 0; i + 1 < x->s->count; i++) {
        if ((is(x, i, "not never") && is(x, i + 1, "both")) ||
            (is(x, i, "mutually") && is(x, i + 1, "exclusive"))) {
            return true;
        }
    }
    return false;
}

/* "Provide either file_path or url": names of parameters, which the schema shows anyhow. */
void fact_groups(struct scan *x)
{
    struct canon_fact f;
    const char *head = NULL;
    size_t i = 0;
    size_t len = 0;
    bool asks = is(x, 0, "needs only"); /* the line itself */

    while (i < x->s->count && !(head = group_at(x, i, &len))) {
        i++;
    }
    for (size_t k = 0; k < x->s->count; k++) {
        asks |= has(x, k, MARK_ASKS);
    }
    if (!head || !asks || is_denied(x, i) ||
        says(x, "null can may might could when unless if except") ||
        (is_unclear(x) && is(x, i, "both"))) {
        return;
    }
    fact_begin(&f, is_exclusive(x) && !is(x, i, "both") ? "Only one of:" : head);
    for (i += len; i < x->s->count && f.atoms < FACT_VALUES;) {
        if (is_parameter(x, i)) {
            (void)fact_add(x, &f, i, i + 1);
        } else if (!is_sign(x, i, ',') && !is_sign(x, i, ':') &&
                   !is(x, i, "of or and the a an parameter")) {
            break;
        }
        i++;
    }
    if (f.atoms >= FACT_VALUE_MIN && !is(x, i, "but except unless")) {
        fact_end(x, &f);
    }
}

/* ---- where ids come from ---- */

/* A name that only looks up: list_projects, search_users. */
static bool looks_up(struct btz_str name)
{
    struct btz_str rest = name;
    struct btz_str piece;
    bool verb = false;

    while (canon_piece(&rest, &piece)) {
        uint32_t flags = canon_word(piece.ptr, piece.len, canon_word_hash(piece.ptr, piece.len));

        if (flags & (WORD_SENSITIVE | WORD_SOFT | WORD_BANNED)) {
            return false;
        }
        if (canon_is_one_of(piece.ptr, piece.len, "and then")) {
            return false;
        }
        verb |= canon_is_one_of(piece.ptr, piece.len,
                                "list search find lookup query describe get browse show discover");
    }
    return verb && canon_name_effect(name) == EFFECT_READS;
}

/* "The id obtained from", "ids come from": nothing but ids of things, and a verb of getting. What
 * is different, wrong or to be removed is said with other words. */
static bool is_of_ids(const struct scan *x, size_t end)
{
    const uint32_t never =
        WORD_BANNED | WORD_SENSITIVE | WORD_SOFT | WORD_DELETES | WORD_SENDS | WORD_PAYS;
    size_t i = 0;

    for (size_t k = 0; k < end; k++) {
        i = is_sign(x, k, '(') || is_sign(x, k, ',') || is_sign(x, k, ':') ? k + 1 : i;
    }
    if (tok(x, i)->kind == TOKEN_WORD && (tok(x, i)->flags & WORD_THIRD) && !has(x, i, MARK_ID)) {
        return false; /* "counts ids from" */
    }
    for (; i < end; i++) {
        const struct token *t = tok(x, i);

        if (!has(x, i, MARK_ID) && t->kind != TOKEN_NAME && t->kind != TOKEN_NUMBER &&
            !(t->kind == TOKEN_PAIR && (t->flags & WORD_KNOWN)) &&
            !(t->kind == TOKEN_WORD && (t->flags & WORD_NOUN) && !(t->flags & never)) &&
            !is(x, i,
                "the a an of for to from via by in as this that with one or any is are be can its "
                "it "
                "must another primary main default selected "
                "your exact valid existing specific unique full numeric internal target "
                "obtained obtain returned retrieved retrieve received fetched taken take got get "
                "gets come comes coming found find look up looked use used using provided listed "
                "available required optional copied pass passed given")) {
            return false;
        }
    }
    return true;
}

/* Nothing is said of the ids behind the tool's name: not "... from X are wrong". */
static bool ends_there(const struct scan *x, size_t i)
{
    while (is(x, i, "tool tools output results result response responses call calls endpoint")) {
        i++;
    }
    return i >= x->s->count || tok(x, i)->kind == TOKEN_POINT ||
           is(x, i, "or and first to for with in as");
}

/* Whether the tool named at `i` is what the ids are from: "ids from X", "use X to find the id". */
static bool is_source(const struct scan *x, size_t i)
{
    size_t before = i;
    size_t next = i + 1;
    bool id = false;

    while (before && (is(x, before - 1, "the tool output results result response") ||
                      is_sign(x, before - 1, '('))) {
        before--;
    }
    for (size_t k = 0; k < before; k++) {
        id |= has(x, k, MARK_ID);
    }
    if (before && is(x, before - 1, "from via")) {
        return (id || x->role == ROLE_MEANING) && is_of_ids(x, before - 1) && ends_there(x, i + 1);
    }
    if (before && is(x, before - 1, "by")) {
        return id && before >= 2 && is_of_ids(x, before - 1) && ends_there(x, i + 1) &&
               is(x, before - 2, "returned obtained listed provided given");
    }
    if (before >= 2 && is(x, before - 1, "with using") && has(x, before - 2, MARK_ID)) {
        return is(x, 0, "find get obtain look");
    }
    if (!before || !is(x, before - 1, "use run call see using")) {
        return false;
    }
    next += is(x, next, "tool") ? 1 : 0;
    next += is(x, next, "first") ? 1 : 0;
    if (!is(x, next, "to") || !is(x, next + 1, "find get discover obtain see list identify look")) {
        return false;
    }
    for (size_t k = next + 2; k < x->s->count && k < next + 8; k++) {
        id |= has(x, k, MARK_ID);
    }
    return id;
}

/* Whether ids may be for this tool: what creates a thing has none of it, unless a parameter takes
 * one. */
static bool takes_id(const struct scan *x)
{
    struct btz_str name = x->judge->name;
    struct btz_str verb;

    if (!canon_piece(&name, &verb) || !canon_is_one_of(verb.ptr, verb.len, "create add new")) {
        return true;
    }
    for (size_t i = 0; i < btz_json_count(x->judge->properties); i++) {
        struct btz_str rest = btz_json_key_at(x->judge->properties, i);
        struct btz_str piece;

        while (canon_piece(&rest, &piece)) {
            if (canon_is_one_of(piece.ptr, piece.len,
                                "id ids identifier identifiers uuid uid uids guid key keys slug "
                                "slugs name names code codes alias ref refs")) {
                return true;
            }
        }
    }
    return false;
}

void fact_source(struct scan *x)
{
    const struct btz_canon_result *found = NULL;
    struct canon_fact f;

    if (!x->judge->siblings || (x->role == ROLE_NOTE && !takes_id(x)) || !(x->all & MARK_ID) ||
        !(x->all & MARK_SOURCE)) {
        return;
    }
    for (size_t i = 0; i < x->s->count; i++) {
        const struct token *t = tok(x, i);
        struct btz_str word = {t->ptr, t->len};
        const struct btz_canon_result *tool =
            t->kind == TOKEN_POINT ? NULL : canon_sibling(x->judge->siblings, word);

        if (!tool || btz_str_eq(word, x->judge->name) || !looks_up(tool->name)) {
            continue;
        }
        if ((found && found != tool) || is_denied(x, i) || says(x, "then step steps after")) {
            return;
        }
        if (is_source(x, i)) {
            found = tool;
        }
    }
    if (found && found->name.len < CANON_FACT_MAX / 2) {
        f.atoms = 1;
        f.len =
            (size_t)snprintf(f.text, sizeof(f.text), "Ids come from %.*s", BTZ_FMT(found->name));
        fact_end(x, &f);
    }
}
