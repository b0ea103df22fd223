/* What a sentence that does not stay still says: a format, a limit, a default, allowed values, a
 * state that has to be there, the tool that knows the ids. Each is parsed and written anew as one
 * fixed line from closed lists, so nothing of the sentence's own wording comes with it. A line is
 * written only if it is read as the same line again. */
#include <pthread.h>

#include "guard/canon_fact.h"

static const struct {
    uint32_t mark;
    const char *words;
} marks[] = {
    {MARK_DENY, "not no never none nor without unlike instead rather avoid cannot dont cant unless "
                "except if when whenever otherwise unsupported deprecated ignore ignored neither "
                "don't doesn't isn't can't won't aren't shouldn't mustn't"},
    {MARK_CUE, "format formats formatted string strings encoded notation syntax expression "
               "expressions as in valid array object list timestamp pattern selector"},
    {MARK_FORM, "iso rfc bcp comma space newline line tab semicolon pipe colon whitespace dot json "
                "unix css plain data regular wiki"},
    {MARK_ALONE,
     "base64 uuid uuids guid ulid hex hexadecimal json yaml xml csv tsv html xhtml markdown regex "
     "regexp glob cron jql cql kql jmespath jsonpath xpath geojson wkt latex rrule alphanumeric "
     "camelcase kebab-case lowercase uppercase semver iana epoch geohash odata graphql sql promql "
     "openapi ascii utf-8 case-sensitive case-insensitive stringified decimal"},
    {MARK_UNIT,
     "item items result results record records entry entries character characters chars byte bytes "
     "kb mb gb tb kib mib gib pixel pixels px second seconds sec ms minute minutes min hour hours "
     "day days week weeks month months year years page pages line lines row rows column columns "
     "file files image images request requests percent point points degree degrees meter meters "
     "metre metres km m cm mm mile miles attempt attempts level levels word words sentence "
     "sentences coordinate coordinates value values element elements step steps iteration "
     "iterations node nodes letter letters digit digits object objects id ids field fields keyword "
     "keywords url urls"},
    {MARK_BOUND, "to most least at exceed than max maximum min minimum"},
    {MARK_STATE,
     "session connection login authentication authorization permission permissions access role "
     "scope scopes plan subscription plugin extension bridge server instance workspace project "
     "file folder directory document database table page tab browser app device simulator cluster "
     "index environment network internet certificate license repository branch record approval "
     "confirmation adapter debugger program editor scene connector administrator admin edition "
     "issue"},
    {MARK_QUALITY,
     "open active running connected existing valid enabled installed authenticated write read edit "
     "enterprise pro premium paid business desktop cloud api same prior local remote full "
     "compatible web read-only read-write team user global current working integrated"},
    {MARK_ID,
     "id ids identifier identifiers uuid uid uids key keys slug slugs name names code codes "
     "alias aliases"},
    {MARK_SOURCE, "from by get find discover see use obtain obtained returned using via come"},
    {MARK_LIST,
     "one options values formats types modes keys choices levels operators supported valid "
     "allowed accepted possible available supports accepts"},
    {MARK_DEFAULT, "default defaults"},
    {MARK_NEEDS, "requires require needs"},
    {MARK_ASKS, "provide provided specify specified required requires require supply supplied pass "
                "passed given give set must mutually needs include included use"},
    {MARK_GROUP, "either exactly only least one both all"},
    {MARK_COUNTS,
     "three hundred thousand million billion four five six seven eight nine ten eleven "
     "twelve"},
    {MARK_SPELLS, "dot slash etc"},
    {MARK_OUTWARD, "granted merged reset dropped exposed shared published released approved "
                   "transferred forwarded copied charged overwritten sent paid"},
    {MARK_OPENS,
     "everyone everybody anyone anybody internet public world automatic implicit "
     "implied assumed unnecessary given granted confirmation confirmations approval approvals "
     "permission prompt"},
    {MARK_PRAISES, "preferred best only recommended"},
    {MARK_OTHERS,
     "environment home key log config configuration history other recent last previous earlier "
     "latest request requests question questions message messages"},
    {MARK_NARROW, "previously formerly myth think thinks believe besides recommended recommend "
                  "recommendation recommendations suggested sometimes where "
                  "example examples e.g anything twice during next afterwards"},
};

enum { SLOTS = 1U << 10 };

static struct {
    const char *word;
    uint32_t len, marks;
} slots[SLOTS];

static void put(struct btz_str word, uint32_t mark)
{
    uint32_t i = canon_word_hash(word.ptr, word.len) & (SLOTS - 1);

    while (slots[i].word &&
           !(slots[i].len == word.len && !memcmp(slots[i].word, word.ptr, word.len))) {
        i = (i + 1) & (SLOTS - 1);
    }
    slots[i].word = word.ptr;
    slots[i].len = (uint32_t)word.len;
    slots[i].marks |= mark;
}

static void fill(void)
{
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        struct btz_str rest = btz_str_of(marks[i].words);
        struct btz_str word;

        while (btz_str_cut(&rest, ' ', &word)) {
            if (word.len) {
                put(word, marks[i].mark);
            }
        }
    }
}

uint32_t canon_marks(const struct token *t)
{
    uint32_t hash;

    if (t->kind != TOKEN_WORD || t->len > CANON_WORD_MAX) {
        return 0;
    }
    hash = t->hash ? t->hash : canon_word_hash(t->ptr, t->len);
    for (uint32_t i = hash & (SLOTS - 1); slots[i].word; i = (i + 1) & (SLOTS - 1)) {
        if (slots[i].len == t->len) {
            size_t k = 0;

            while (k < t->len && slots[i].word[k] == (char)((unsigned char)t->ptr[k] | 0x20)) {
                k++;
            }
            if (k == t->len) {
                return slots[i].marks;
            }
        }
    }
    return 0;
}

void canon_facts_ready(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, fill);
}

void canon_facts_hash(struct btz_hasher *hasher)
{
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        btz_hasher_add_part(hasher, btz_str_of(marks[i].words));
    }
}

/* ---- a line under way ---- */

void fact_begin(struct canon_fact *f, const char *head)
{
    f->len = strlen(head);
    memcpy(f->text, head, f->len);
    f->atoms = 0;
}

bool fact_add(const struct scan *x, struct canon_fact *f, size_t from, size_t to)
{
    char atom[CANON_FACT_MAX];
    size_t len = 0;
    size_t head = f->len;

    for (size_t i = from; i < to; i++) {
        const struct token *t = tok(x, i);

        if (len + t->len + 1 >= sizeof(atom)) {
            return false;
        }
        if (i > from) {
            atom[len++] = ' ';
        }
        memcpy(atom + len, t->ptr, t->len);
        len += t->len;
    }
    if (len == 0 || head + len + 3 > sizeof(f->text)) {
        return false;
    }
    for (size_t i = 0; f->atoms && i + len <= head; i++) {
        if (memcmp(f->text + i, atom, len) == 0 && (i + len == head || f->text[i + len] == ',') &&
            i && f->text[i - 1] == ' ') {
            return false;
        }
    }
    if (f->atoms) {
        f->text[f->len++] = ',';
    }
    f->text[f->len++] = ' ';
    memcpy(f->text + f->len, atom, len);
    f->len += len;
    f->atoms++;
    return true;
}

void fact_end(struct scan *x, struct canon_fact *f)
{
    if (f->atoms && x->count < x->max) {
        f->text[f->len++] = '.';
        x->out[x->count++] = *f;
    }
}

/* ---- the whole ---- */

static size_t find(const struct judge *judge, const struct sentence *s, const uint64_t *kept,
                   enum role role, struct canon_fact *out, size_t max)
{
    struct scan x;
    bool number = false;
    bool form = false;

    x.judge = judge;
    x.s = s;
    x.kept = kept;
    x.role = role;
    x.out = out;
    x.count = 0;
    x.max = max;
    x.all = 0;
    x.half = false;
    x.denied = s->count;
    for (size_t i = 0; i < s->count; i++) {
        const struct token *t = &s->tokens[i];

        if (t->kind == TOKEN_WORD && (t->flags & (WORD_SECRECY | WORD_PRECEDENCE))) {
            return 0;
        }
        x.marks[i] = canon_marks(t);
        x.all |= x.marks[i];
        number |= t->kind == TOKEN_NUMBER;
        form |= t->kind == TOKEN_DATE || t->kind == TOKEN_NUMBER ||
                (t->kind == TOKEN_WORD && t->len > 8 && memchr(t->ptr, '-', t->len));
        if ((x.marks[i] & MARK_DENY) && x.denied == s->count) {
            x.denied = i;
        }
    }
    if (x.all & MARK_NARROW) {
        return 0;
    }
    if (form || (x.all & (MARK_FORM | MARK_ALONE))) {
        fact_formats(&x);
    }
    if (number) {
        fact_limits(&x);
    }
    if ((x.all & MARK_LIST) && role == ROLE_MEANING) {
        fact_values(&x);
    }
    if ((x.all & MARK_DEFAULT) && role == ROLE_MEANING) {
        fact_default(&x);
    }
    if (x.all & MARK_NEEDS) {
        fact_states(&x);
    }
    if ((x.all & MARK_GROUP) && judge->properties) {
        fact_groups(&x);
    }
    fact_source(&x);
    return x.count;
}

static bool has_head(const struct sentence *s)
{
    return s->count >= 3 && s->tokens[0].kind == TOKEN_WORD &&
           ((is_point(&s->tokens[1], ':') &&
             is_one_of(&s->tokens[0], "format limit default requires")) ||
            (is_one_of(&s->tokens[0], "one only needs")) ||
            (is_word(&s->tokens[0], "ids") && is_word(&s->tokens[1], "come")));
}

bool canon_is_fact(const struct judge *judge, const struct sentence *s, enum role role,
                   struct canon_fact *out)
{
    struct canon_fact found[CANON_FACTS_A_SENTENCE];
    size_t all;

    if (!has_head(s)) {
        return false;
    }
    all = s->tokens[s->count - 1].end - s->tokens[0].begin;
    for (size_t i = 0, n = find(judge, s, NULL, role, found, CANON_FACTS_A_SENTENCE); i < n; i++) {
        if (found[i].len == all + 1 && memcmp(found[i].text, s->tokens[0].ptr, all) == 0) {
            *out = found[i];
            return true;
        }
    }
    return false;
}

size_t canon_facts(const struct judge *judge, const struct sentence *s, const uint64_t *kept,
                   enum role role, struct canon_fact *out)
{
    struct canon_fact found[CANON_FACTS_A_SENTENCE];
    size_t n = find(judge, s, kept, role, found, CANON_FACTS_A_SENTENCE);
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        struct plain text = {{found[i].text, found[i].len}, NULL};
        struct canon_fact again;
        struct sentence line;

        if (canon_sentence(&text, 0, &line) && line.end == found[i].len &&
            canon_is_fact(judge, &line, role, &again) && again.len == found[i].len) {
            out[count++] = found[i];
        }
    }
    return count;
}
