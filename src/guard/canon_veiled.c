/* Statements that are orders in other words, and operands that are written as words. A list of
 * shapes, so it is never whole; what a tool's own name and parameters speak of is excused. */
#include "guard/canon_fact.h"

/* Whether the definition's own names have one of the words. */
static bool is_own(const struct choice *c, const char *words)
{
    struct btz_str rest = btz_str_of(words);
    struct btz_str word;

    while (btz_str_cut(&rest, ' ', &word)) {
        if (canon_own_has(c->judge->own, word.ptr, word.len, canon_word_hash(word.ptr, word.len))) {
            return true;
        }
    }
    return false;
}

/* ---- by one word ---- */

/* Deleted, sent, paid, copied, granted: what is done to something of somebody. */
static bool is_done_outward(const struct token *t)
{
    return t->kind == TOKEN_WORD &&
           ((t->flags & (WORD_SENDS | WORD_DELETES | WORD_PAYS) &&
             ((t->flags & WORD_INFLECTED) || is_one_of(t, "sent paid"))) ||
            is_one_of(t, "copied moved granted shared given uploaded published released exposed"));
}

/* "must be deleted", "has to be sent" */
static bool is_demanded(const struct choice *c, size_t i)
{
    const struct token *must = i >= 2 ? neighbour(c, i, -2) : NULL;
    const struct token *has = i >= 3 ? neighbour(c, i, -3) : NULL;

    if (!must || !is_done_outward(at(c, i))) {
        return false;
    }
    for (size_t k = 0; k < i; k++) {
        if (is_one_of(at(c, k), "if whether")) {
            return false; /* a switch */
        }
    }
    return is_one_of(must, "must should") ||
           (is_word(must, "to") && has && is_one_of(has, "has have need needs had"));
}

/* "copied to all users", "granted to everyone" */
static bool is_for_all(const struct choice *c, size_t i)
{
    if (!is_one_of(at(c, i), "all every any everyone everybody anyone anybody")) {
        return false;
    }
    for (size_t k = 0; k + 1 < i; k++) {
        if (is_done_outward(at(c, k))) {
            return true;
        }
    }
    return false;
}

/* "the content of the environment file", "all environment variables", unless that is what the
 * definition is about. */
static bool is_all_environment(const struct choice *c, size_t i)
{
    const struct token *next = neighbour(c, i, 1);

    if (!next || !is_one_of(next, "file files variable variables") ||
        is_own(c, "env envs environment vars variables")) {
        return false;
    }
    for (size_t k = 0; k < i; k++) {
        if (is_one_of(at(c, k), "content contents all every each value values")) {
            return true;
        }
    }
    return false;
}

/* Statements that are orders: what has to be done to somebody's things, what needs no consent,
 * which tool to prefer. NULL: it is none. */
static const char *veiled_word(const struct choice *c, size_t i)
{
    const struct token *t = at(c, i);
    const struct token *before = c->role == ROLE_PURPOSE ? NULL : neighbour(c, i, -1);
    const struct token *next;

    if (before && before->len == 2 && is_word(before, "be") && is_demanded(c, i)) {
        return "order";
    }
    if (before && (before->len == 2 || before->len == 4) && is_one_of(before, "to with") &&
        is_for_all(c, i)) {
        return "recipient";
    }
    switch (t->len) {
    case 2:
    case 7:
        next = is_one_of(t, "no without") ? neighbour(c, i, 1) : NULL;
        return next && is_one_of(next, "confirmation confirmations approval approvals permission "
                                       "prompt")
                   ? "order"
                   : NULL;
    case 4:
    case 9:
        next = c->role != ROLE_MEANING && is_one_of(t, "preferred best only") ? neighbour(c, i, 1)
                                                                              : NULL;
        return next && is_one_of(next, "way tool method choice") ? "precedence" : NULL;
    case 11:
        if (is_word(t, "recommended")) {
            next = c->role != ROLE_MEANING ? neighbour(c, i, 1) : NULL;
            return next && is_one_of(next, "way tool method choice") ? "precedence" : NULL;
        }
        return is_word(t, "environment") && is_all_environment(c, i) ? "sensitive" : NULL;
    default:
        return NULL;
    }
}

/* ---- by the sentence ---- */

/* What is done to somebody's things. A long result that is cut, and a run that was stopped, are
 * nobody's. */
static bool is_outward(const struct token *t)
{
    enum effect effect = t->flags & WORD_INFLECTED ? canon_effect_of(t->flags) : EFFECT_UNKNOWN;

    return (effect >= EFFECT_SENDS &&
            !is_one_of(t, "truncated canceled cancelled cleared cleaned discarded")) ||
           is_one_of(t, "granted merged reset dropped exposed shared published released approved "
                        "transferred forwarded copied charged overwritten sent paid");
}

/* "All records are removed", said of a tool whose name says that it reads or computes. */
static bool is_done(const struct choice *c)
{
    bool results = false;

    for (size_t i = 0; i < c->count; i++) {
        results |= is_one_of(at(c, i), "output response result results duplicate duplicates above "
                                       "beyond exceeding");
    }
    if (canon_covers(c->judge->effect, EFFECT_WRITES)) {
        return false; /* what else it changes is worth knowing */
    }
    for (size_t i = 1; i < c->count; i++) {
        const struct token *t = at(c, i);
        size_t k = i - 1;

        if (t->kind != TOKEN_WORD || !is_outward(t) ||
            (results && canon_effect_of(t->flags) == EFFECT_DELETES)) {
            continue;
        }
        k -= k && at(c, k)->kind == TOKEN_WORD && at(c, k)->len > 3 &&
                     memcmp(at(c, k)->ptr + at(c, k)->len - 2, "ly", 2) == 0
                 ? 1
                 : 0;
        if (is_one_of(at(c, k), "is are be was were been being gets get") &&
            !(k && is_one_of(at(c, k - 1), "that which not never if"))) {
            return true;
        }
    }
    return false;
}

/* "Access is open for everyone", "approval is automatic". */
static bool is_given_away(const struct choice *c)
{
    bool open = false;
    bool consent = false;

    for (size_t i = 0; i < c->count; i++) {
        const struct token *t = at(c, i);

        consent |=
            is_one_of(t, "approval approvals confirmation consent payment payments permission "
                         "transfer purchase");
        if (open && i && is_one_of(at(c, i - 1), "to for by the") &&
            is_one_of(t, "everyone everybody anyone anybody internet public world")) {
            return true;
        }
        if (consent && i && is_one_of(at(c, i - 1), "is are") &&
            is_one_of(t, "automatic implicit implied assumed unnecessary granted given")) {
            return true;
        }
        open |= is_one_of(t, "open opened available visible accessible public readable writable");
    }
    return false;
}

/* "the content of the key file", "the last five messages", unless the tool is about these. */
static bool is_of_others(const struct choice *c)
{
    bool content = false;
    bool other = false;

    for (size_t i = 0; i < c->count; i++) {
        const struct token *t = at(c, i);
        const struct token *next = i + 1 < c->count ? at(c, i + 1) : NULL;

        content |= is_one_of(t, "content contents copy copies text body");
        other |= content && is_one_of(t, "other recent last previous earlier latest");
        if (content && next && is_one_of(t, "home key log config configuration history") &&
            is_one_of(next, "file files folder folders directory") &&
            !(is_own(c, "home key log logs config configuration history file files folder "
                        "directory"))) {
            return true;
        }
        if ((other && is_one_of(t, "notes messages mails emails requests questions files") &&
             !is_own(c, "note notes message messages mail email request question file files")) ||
            (is_one_of(t, "request requests question questions message messages") && next &&
             is_word(next, "of") && c->count > i + 2 &&
             is_one_of(at(c, c->count - 1), "user caller") &&
             !is_own(c, "request question message messages user"))) {
            return true;
        }
    }
    return false;
}

/* Places and people behind whose name a noun stands, "the acme bucket"; anybody in what is told of
 * receiving, or of a tool that sends. */
static bool is_of_somebody(const struct choice *c)
{
    const bool sends =
        c->judge->effect == EFFECT_SENDS || c->judge->effect == EFFECT_PAYS; /* to whom? */
    static const char stores[] = "bucket inbox drive share mailbox account wallet vault";
    static const char places[] = "bucket inbox drive share mailbox account wallet vault folder "
                                 "server host channel group team backup storage directory";

    bool told = false;
    bool stranger = false;

    for (size_t i = 0; i < c->count; i++) {
        const struct token *t = at(c, i);

        told |=
            is_one_of(t, "receive receives received copy copies owner owns owned cc bcc informed "
                         "kept");
        stranger |= t->kind == TOKEN_WORD && !t->flags && t->len > 2 &&
                    !canon_own_has(c->judge->own, t->ptr, t->len, t->hash);
        if (t->kind == TOKEN_WORD && !t->flags && t->len > 2 && i + 1 < c->count &&
            is_one_of(at(c, i + 1), c->role == ROLE_MEANING ? stores : places) &&
            !canon_own_has(c->judge->own, t->ptr, t->len, t->hash)) {
            return true;
        }
    }
    return stranger && (told || sends);
}

static bool is_number_word(const struct token *t)
{
    return is_one_of(t, "zero one two three four five six seven eight nine ten eleven twelve "
                        "thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty "
                        "thirty forty fifty sixty seventy eighty ninety hundred thousand million "
                        "billion");
}

/* "nine hundred dollars", "one two three four": a number that no rule of numbers sees. */
static bool spells_number(const struct choice *c)
{
    size_t row = 0;
    size_t all = 0;

    for (size_t i = 0; i < c->count; i++) {
        const struct token *t = at(c, i);
        const struct token *next = i + 1 < c->count ? at(c, i + 1) : NULL;

        row = is_number_word(t) ? row + 1 : 0;
        all += row ? 1 : 0;
        if (row > 2 || all > 3 ||
            (row == 1 && next && (next->flags & WORD_CURRENCY) && next->kind == TOKEN_WORD) ||
            (row == 2 && is_one_of(t, "hundred thousand million billion") &&
             (i < 2 || (!(at(c, i - 2)->flags & WORD_NUMBERED) &&
                        !is_one_of(at(c, i - 2), "to most least"))))) {
            return true;
        }
    }
    return false;
}

/* "mail dot example dot com", "etc passwd". */
static bool spells_address(const struct choice *c)
{
    size_t dots = 0;

    for (size_t i = 0; i < c->count; i++) {
        const struct token *t = at(c, i);
        const struct token *next = i + 1 < c->count ? at(c, i + 1) : NULL;

        dots += is_one_of(t, "dot slash") ? 1 : 0;
        if (dots > 1 || (is_word(t, "dot") && next && is_one_of(next, "com org net io example")) ||
            (is_word(t, "etc") && next && next->kind == TOKEN_WORD &&
             !(next->flags & WORD_FUNCTION))) {
            return true;
        }
    }
    return false;
}

enum { STRANGER = 1U << 31, WORD_MARKS = MARK_OUTWARD | MARK_OPENS | MARK_OTHERS | MARK_PRAISES };

/* The marks of all words, and STRANGER for one that no table has: nearly no sentence has any. */
static uint32_t marks_of(const struct choice *c)
{
    uint32_t all = 0;

    for (size_t i = 0; i < c->count; i++) {
        const struct token *t = at(c, i);

        if (t->kind != TOKEN_WORD) {
            continue;
        }
        all |= t->flags ? canon_marks(t) : STRANGER;
        all |= t->flags & WORD_CURRENCY ? MARK_COUNTS : 0;
        all |= (t->flags & WORD_INFLECTED) && canon_effect_of(t->flags) >= EFFECT_SENDS
                   ? MARK_OUTWARD
                   : 0;
    }
    return all;
}

const char *canon_veiled(const struct choice *c)
{
    uint32_t marks = marks_of(c);

    if ((marks & MARK_COUNTS) && spells_number(c)) {
        return "amount";
    }
    if ((marks & MARK_SPELLS) && spells_address(c)) {
        return "operand";
    }
    for (size_t i = 0; (marks & WORD_MARKS) && i < c->count; i++) {
        const char *rule = at(c, i)->kind == TOKEN_WORD ? veiled_word(c, i) : NULL;

        if (rule) {
            return rule;
        }
    }
    if (c->role == ROLE_PURPOSE) {
        return NULL;
    }
    if (c->role != ROLE_MEANING &&
        (((marks & MARK_OUTWARD) && is_done(c)) || ((marks & MARK_OPENS) && is_given_away(c)))) {
        return "order";
    }
    if ((marks & MARK_OTHERS) && is_of_others(c)) {
        return "sensitive";
    }
    return (marks & STRANGER) && is_of_somebody(c) ? "recipient" : NULL;
}
