/* Whether a token of a sentence may stay: a word by the table and by what stands beside it, a
 * number by its role, a name by its pieces. */
#include "guard/canon_choice.h"

enum { UNKNOWN_WORD_MAX = 20 };

static bool is_own(const struct choice *c, const struct token *t)
{
    return canon_own_has(c->judge->own, t->ptr, t->len, t->hash);
}

/* Whether the tool's own name has the word. */
static bool is_in_name(const struct choice *c, const struct token *t)
{
    struct btz_str rest = c->judge->renamed ? BTZ_STR_NONE : c->judge->name;
    struct btz_str piece;

    while (canon_piece(&rest, &piece)) {
        if (piece.len == t->len && canon_word_hash(piece.ptr, piece.len) == t->hash) {
            return true;
        }
    }
    return false;
}

/* Whether the sentence says that something is sent. */
static bool speaks_of_sending(const struct choice *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct token *t = at(c, i);

        if (t->kind == TOKEN_WORD && (t->flags & WORD_SENDS) &&
            ((t->flags & WORD_INFLECTED) || !(t->flags & WORD_NOUN) || is_word(t, "sent") ||
             i == 0)) {
            return true;
        }
    }
    return false;
}

/* Names of parameters are seen anyway, but the author has chosen them: they make a sensitive noun
 * sayable in the meaning of a parameter and in the purpose, not that it is sent or handed out. */
static bool is_own_secret(const struct choice *c, const struct token *t)
{
    return is_own(c, t) &&
           (is_in_name(c, t)
                ? c->role == ROLE_PURPOSE || !speaks_of_sending(c)
                : (c->role == ROLE_MEANING || c->role == ROLE_PURPOSE) && !speaks_of_sending(c));
}

/* ---- effects ---- */

static bool speaks_of_query(const struct choice *c)
{
    for (size_t i = 1; i < c->count; i++) {
        if (is_one_of(at(c, i), "query queries search searches aggregation aggregations")) {
            return true;
        }
    }
    return false;
}

static bool against_name(const struct choice *c, size_t i)
{
    const struct token *t = at(c, i);
    const struct token *before = i ? at(c, i - 1) : NULL;
    uint32_t flags = t->kind == TOKEN_WORD ? t->flags : 0;
    enum effect effect = canon_effect_of(flags);

    /* A parameter may well say what is written; what it sends or deletes is another thing. */
    if (effect <= (c->role == ROLE_MEANING ? EFFECT_WRITES : EFFECT_READS) ||
        (flags & WORD_INFLECTED) || canon_covers(c->judge->effect, effect)) {
        return false;
    }
    if (i == 0) {
        /* Who queries runs a query. */
        return !(is_one_of(t, "run runs execute executes") && speaks_of_query(c)) &&
               (c->role == ROLE_PURPOSE || !(flags & WORD_NOUN));
    }
    if (is_one_of(before, "the of latest recent last previous for from its all any these those")) {
        return false; /* "the latest runs" */
    }
    return !(flags & WORD_NOUN) &&
           ((flags & WORD_THIRD) ||
            is_one_of(before, "and or that which to also it this will can may"));
}

/* ---- tokens ---- */

static const char *why_banned(uint32_t flags)
{
    return flags & WORD_SECRECY      ? "secrecy"
           : flags & WORD_PRECEDENCE ? "precedence"
           : flags & WORD_OTHER      ? "other-tool"
           : flags & WORD_TALK       ? "conversation"
           : flags & WORD_MODEL      ? "addresses-model"
                                     : "sensitive";
}

static bool is_plural(const struct token *t)
{
    return (t->flags & WORD_NOUN) && (t->ptr[t->len - 1] | 0x20) == 's' &&
           !is_one_of(t, "users clients callers agents models hosts operators");
}

/* "firewall rules", "domain forwarding", "the redirect of the website": a thing that is told of,
 * not an act, and nothing that goes somewhere. */
static bool is_thing(const struct choice *c, size_t i)
{
    const struct token *before = neighbour(c, i, -1);
    const struct token *next = neighbour(c, i, 1);

    if (!before || before->kind != TOKEN_WORD ||
        (next && is_one_of(next, "to all the any every"))) {
        return false;
    }
    return is_one_of(before, "firewall validation recurrence formatting routing branch access "
                             "approval alert domain email mail property security protection "
                             "transition conversion mapping inbox message auto-numbering custom "
                             "retention lifecycle a an");
}

/* Some banned words have an honest use that shows in the next word. */
static bool is_excused(const struct choice *c, size_t i)
{
    const struct token *t = at(c, i);
    const struct token *before = neighbour(c, i, -1);
    const struct token *next = neighbour(c, i, 1);

    if (is_one_of(t, "must should") && next) {
        return is_one_of(next, "be match have start end not exceed contain exist already fit equal "
                               "begin consist conform");
    }
    if (is_word(t, "us")) {
        return t->ptr[0] == 'U' && t->ptr[1] == 'S';
    }
    if (is_word(t, "do")) { /* "cells do not move" */
        return before && before->kind == TOKEN_WORD && i >= 1 && next && is_word(next, "not") &&
               (is_one_of(before, "they that which") || is_plural(before));
    }
    if (is_one_of(t, "always never")) {
        return before && is_one_of(before, "is are be will has have was were");
    }
    if (is_one_of(t, "rule rules redirect redirects override overrides forwarding") &&
        is_thing(c, i)) {
        return true;
    }
    if (is_one_of(t, "ignore ignores ignored ignoring")) {
        return c->role == ROLE_MEANING &&
               (!next || is_one_of(next, "case if when for whitespace unless in by"));
    }
    if (is_word(t, "call") || is_word(t, "calls")) {
        return before && is_one_of(before, "api rpc phone video voice system function");
    }
    if (is_word(t, "instead")) {
        return next && is_word(next, "of");
    }
    if (is_word(t, "you")) {
        return c->role != ROLE_PURPOSE && next && is_word(next, "want");
    }
    if (is_one_of(t, "forward forwards forwarding redirect redirects tools")) {
        return c->role == ROLE_PURPOSE && is_in_name(c, t);
    }
    return is_one_of(t, "override overrides") && c->role == ROLE_MEANING && i == 0;
}

/* Sensitive and soft words have neutral company: page token, sort key, maximum tokens. */
static bool is_neutral(const struct choice *c, size_t i)
{
    const struct token *t = at(c, i);
    const struct token *before = neighbour(c, i, -1);
    const struct token *next = neighbour(c, i, 1);

    if (is_one_of(t, "token tokens")) {
        return before && (before->kind == TOKEN_NUMBER ||
                          is_one_of(before, "page next continuation pagination cursor maximum max "
                                            "output input of sync"));
    }
    if (is_one_of(t, "key keys")) {
        bool honest = c->role == ROLE_NOTE && is_one_of(at(c, 0), "requires needs");

        return !before || honest ||
               !is_one_of(before, "api ssh private secret access encryption signing gpg pgp");
    }
    if (is_one_of(t, "pin pins seed session sessions")) {
        return !before || !is_one_of(before, "the user secret account card");
    }
    if (is_one_of(t, "history")) {
        return before && is_one_of(before, "commit version revision price order git edit change "
                                           "transaction payment run build search file");
    }
    return is_one_of(t, "private") && next &&
           is_one_of(next, "repository repositories repo repos channel channels project projects");
}

/* "HTTP 404", "returns 204": an answer of a server. */
static bool is_status(const struct choice *c, size_t i)
{
    const struct token *t = at(c, i);

    if (!canon_is_one_of(t->ptr, t->len,
                         "200 201 202 204 301 302 304 400 401 403 404 409 410 412 413 415 422 429 "
                         "500 501 502 503 504")) {
        return false;
    }
    for (int step = -3; step <= 1; step++) {
        const struct token *n = step ? neighbour(c, i, step) : NULL;

        if (n && is_one_of(n, "http status returns returned error code codes response answers")) {
            return true;
        }
    }
    return false;
}

/* "OAuth 2.0": the version of something that has well-known ones. */
static bool is_version(const struct choice *c, size_t i)
{
    const struct token *t = at(c, i);
    const struct token *before = neighbour(c, i, -1);

    return before && t->len <= 5 && memchr(t->ptr, '.', t->len) &&
           is_one_of(before, "oauth openapi swagger http html tls gitlab postgresql postgres mysql "
                             "python node java php jira kubernetes graphql raml asyncapi saml");
}

/* Switches and ends of counting, which are nobody's amount. */
static bool is_trivial(const struct token *t)
{
    return (t->len == 1 && (t->ptr[0] == '0' || t->ptr[0] == '1')) ||
           (t->len == 2 && t->ptr[0] == '-' && t->ptr[1] == '1');
}

static bool has_role(const struct token *t)
{
    return t && t->kind == TOKEN_WORD && (t->flags & (WORD_NUMBERED | WORD_UNIT | WORD_STANDARD));
}

/* Three digits or more in a sentence that speaks of money. */
static bool is_amount(const struct choice *c, const struct token *t)
{
    size_t digits = 0;

    for (size_t i = 0; i < t->len; i++) {
        digits += is_digit(t->ptr[i]) ? 1 : 0;
    }
    for (size_t i = 0; digits > 2 && i < c->count; i++) {
        if (at(c, i)->kind == TOKEN_WORD && (at(c, i)->flags & WORD_CURRENCY)) {
            return true;
        }
    }
    return false;
}

/* A number stays if what is beside it says what it is: a limit, a size, a default, a standard. */
static const char *check_number(const struct choice *c, size_t i)
{
    const struct token *t = at(c, i);
    const struct token *before = neighbour(c, i, -1);
    bool plain = canon_amounts_are_plain(t->ptr, t->len);
    bool unit = false;
    bool role = false;

    for (size_t k = 0; k < t->len; k++) {
        unit |= t->ptr[k] == '%' || (t->ptr[k] | 0x20) >= 'a';
    }
    if (is_amount(c, t)) {
        return "amount";
    }
    if (t->flags & WORD_NUMBERED) { /* a range */
        return plain ? NULL : "operand";
    }
    /* "RFC 5322" */
    plain =
        plain || is_version(c, i) ||
        (before && before->kind == TOKEN_WORD && (before->flags & WORD_STANDARD) && t->len <= 5);
    if (i && at(c, i - 1)->kind == TOKEN_POINT && strchr("<>", at(c, i - 1)->ptr[0])) {
        role = true;
    }
    /* "from 0 (off) to 255" */
    for (size_t k = i >= 8 ? i - 8 : 0; i && is_word(at(c, i - 1), "to") && k < i; k++) {
        role |= is_one_of(at(c, k), "from between") && at(c, k + 1)->kind == TOKEN_NUMBER;
    }
    if (before && is_word(before, "of") && i >= 2 &&
        is_one_of(at(c, i - 2), "transfer payment charge deposit fee refund donation withdrawal")) {
        return "amount";
    }
    for (int step = -3; step <= 2; step++) {
        const struct token *n = step ? neighbour(c, i, step) : NULL;

        /* An inner parenthesis cuts off what lies behind it. */
        if ((step == -3 && (!neighbour(c, i, -2) || !neighbour(c, i, -1))) ||
            (step == -2 && !neighbour(c, i, -1)) || (step == 2 && !neighbour(c, i, 1))) {
            continue;
        }
        if (n && (step == -1 || step == 1) && n->kind == TOKEN_WORD && (n->flags & WORD_CURRENCY)) {
            return "amount";
        }
        role |= has_role(n) || (n && step == -2 && n->kind == TOKEN_NUMBER);
    }
    role = role || is_trivial(t) || is_status(c, i) || is_version(c, i);
    return !plain ? "operand" : role || unit ? NULL : "number-without-role";
}

static bool names_somebody(const struct choice *c, size_t i);

static bool is_product(const struct token *t)
{
    for (size_t i = 0; i < t->len; i++) {
        if ((t->ptr[i] | 0x20) < 'a' || (t->ptr[i] | 0x20) > 'z') {
            return false;
        }
    }
    return t->len <= UNKNOWN_WORD_MAX && t->ptr[0] >= 'A' && t->ptr[0] <= 'Z';
}

static const char *check_name(const struct choice *c, size_t at_token, struct strangers *found)
{
    const struct token *t = at(c, at_token);
    struct btz_str rest = {t->ptr, t->len};
    struct btz_str piece;
    bool first = true;
    bool own = true;
    bool odd = false;
    bool secret = false;
    const char *rule = NULL;

    while (canon_piece(&rest, &piece)) {
        uint32_t hash = canon_word_hash(piece.ptr, piece.len);
        uint32_t flags = canon_word(piece.ptr, piece.len, hash);

        odd |= !flags;
        secret |= (flags & WORD_SENSITIVE) != 0;
        if (!canon_own_has(c->judge->own, piece.ptr, piece.len, hash)) {
            own = false;
            if (!flags) {
                rule = rule ? rule : "operand";
            } else if (flags & (WORD_BANNED | WORD_SOFT | WORD_SENSITIVE)) {
                rule = why_banned(flags);
            } else if (first && (flags & WORD_EFFECTS) && !(flags & WORD_NOUN)) {
                rule = "other-tool";
            }
        }
        first = false;
    }
    if (!own && !rule && canon_sibling(c->judge->siblings, (struct btz_str){t->ptr, t->len})) {
        rule = "other-tool";
    }
    if (own && (odd || secret) && c->role != ROLE_PURPOSE && speaks_of_sending(c)) {
        return odd ? "recipient" : "sensitive";
    }
    if (own && odd && c->role == ROLE_NOTE && names_somebody(c, at_token)) {
        return "recipient";
    }
    found->unknown += own ? 0 : 1;
    /* A product's name, "LiteSpeed", in what a tool is for: like any other unknown word there. */
    if (!own && rule && strcmp(rule, "operand") == 0 && c->role == ROLE_PURPOSE && is_product(t) &&
        !names_somebody(c, at_token)) {
        return NULL;
    }
    return own ? NULL : rule;
}

/* Whether an unknown word behind this one is likely to be an operand: a recipient, an account. */
static bool may_name_somebody(const struct token *before)
{
    if (before->kind == TOKEN_POINT) {
        return before->ptr[0] == ':' || before->ptr[0] == '=';
    }
    return before->kind == TOKEN_WORD &&
           ((before->flags & WORD_TOWARDS) ||
            is_one_of(before,
                      "is are be was equals by account accounts user users recipient contact "
                      "channel address customer member owner person name server host domain "
                      "bucket folder file directory group team wallet inbox drive share mailbox"));
}

static bool names_somebody(const struct choice *c, size_t i)
{
    const struct token *next_to = neighbour(c, i, -1);
    const struct token *before = next_to;

    if (before && is_one_of(before, "the a an") && i >= 2) {
        before = neighbour(c, i, -2);
    }
    if (!before) {
        return false;
    }
    /* "address of victor" */
    if (c->role == ROLE_MEANING && is_word(next_to, "of") && i >= 2 &&
        is_one_of(at(c, i - 2), "address addresses account accounts mail email inbox "
                                "mailbox wallet")) {
        return true;
    }
    /* What is told of a tool and of its results is not for, from or of somebody either. */
    return may_name_somebody(before) ||
           ((c->role == ROLE_NOTE || c->role == ROLE_RETURNS) && is_one_of(before, "for from")) ||
           (c->role == ROLE_NOTE && is_word(next_to, "of"));
}

/* "after specific text": where in a document. */
static bool is_place(const struct choice *c, size_t i)
{
    for (int step = 1; step <= 2; step++) {
        const struct token *next = neighbour(c, i, step);

        if (!next) {
            return false;
        }
        if (is_one_of(next,
                      "text paragraph line lines element position row column heading item node "
                      "cell slide section")) {
            return is_one_of(at(c, i), "before after");
        }
    }
    return false;
}

static const char *check_word(const struct choice *c, size_t i, struct strangers *found)
{
    const struct token *t = at(c, i);

    if (t->flags & WORD_BANNED) {
        return is_excused(c, i) ? NULL : why_banned(t->flags);
    }
    if ((t->flags & (WORD_SENSITIVE | WORD_SOFT)) && !is_own_secret(c, t) && !is_neutral(c, i)) {
        return why_banned(t->flags);
    }
    if ((t->flags & WORD_TIME) && c->role != ROLE_MEANING && !is_place(c, i)) {
        return "order-of-acts";
    }
    if (t->flags) {
        return against_name(c, i) ? "effect-against-name" : NULL;
    }
    if (names_somebody(c, i)) {
        return "recipient";
    }
    if (is_own(c, t)) {
        found->own++;
        return c->role == ROLE_PURPOSE || is_in_name(c, t) || !speaks_of_sending(c) ? NULL
                                                                                    : "recipient";
    }
    if (t->len > UNKNOWN_WORD_MAX || t->len < 2 || memchr(t->ptr, '-', t->len)) {
        return "unknown-words";
    }
    /* A name that no table has: what a tool is for may hold one, what is said of it may not. */
    if (t->ptr[0] >= 'A' && t->ptr[0] <= 'Z' && i > 0 && c->role != ROLE_PURPOSE) {
        return "unknown-name";
    }
    found->unknown++;
    return NULL;
}

/* "must start with /": a sign or a scheme and nothing behind it. */
static bool is_beginning(const struct choice *c, size_t i)
{
    const struct token *t = at(c, i);
    const struct token *next = neighbour(c, i, 1);
    bool sign = (t->len == 1 && strchr("/#@$+", t->ptr[0])) ||
                (t->len == 7 && memcmp(t->ptr, "http://", 7) == 0) ||
                (t->len == 8 && memcmp(t->ptr, "https://", 8) == 0);

    return sign && i >= 2 && is_one_of(at(c, i - 1), "with or") &&
           (is_word(at(c, i - 1), "or") ||
            is_one_of(at(c, i - 2), "start starts starting begin begins beginning")) &&
           (i + 1 == c->count || (next && is_one_of(next, "or and")) ||
            is_point(at(c, i + 1), ',') || is_point(at(c, i + 1), ')'));
}

/* "home/user/documents", "in backup/database/export": words with slashes that are a place. */
static bool is_path(const struct choice *c, size_t i)
{
    const struct token *t = at(c, i);
    const struct token *before = neighbour(c, i, -1);
    const char *slash = memchr(t->ptr, '/', t->len);
    size_t first = (size_t)(slash - t->ptr);
    bool two = memchr(slash + 1, '/', t->len - first - 1) != NULL;

    return canon_is_one_of(t->ptr, first,
                           "home etc usr var opt tmp bin documents desktop downloads backup "
                           "backups public") ||
           (two && before && is_one_of(before, "in from to into under at onto on of"));
}

/* NULL: the token may stay. Counts what is in no table. */
const char *canon_check_token(const struct choice *c, size_t i, struct strangers *found)
{
    const struct token *t = at(c, i);

    if (c->judge->renamed && t->len == c->judge->name.len &&
        memcmp(t->ptr, c->judge->name.ptr, t->len) == 0) {
        return "other-tool"; /* or nobody's: the tool has another name now */
    }
    switch ((enum token_kind)t->kind) {
    case TOKEN_WORD:
        return check_word(c, i, found);
    case TOKEN_NUMBER:
        return check_number(c, i);
    case TOKEN_NAME:
        return check_name(c, i, found);
    case TOKEN_PAIR:
        return is_path(c, i)                                             ? "operand"
               : (t->flags & (WORD_BANNED | WORD_SENSITIVE | WORD_SOFT)) ? why_banned(t->flags)
               : (t->flags & WORD_KNOWN)                                 ? NULL
                                                                         : "operand";
    case TOKEN_STRANGE:
        return "not-english";
    case TOKEN_OPERAND:
        return is_beginning(c, i) ? NULL : "operand";
    default:
        return NULL;
    }
}
