/* What stays of the text of one parameter: sentences that say what it means, and fixed lines. */
#include "guard/canon_int.h"

struct meaning {
    char out[CANON_MEANINGS_MAX + CANON_FACTS_MAX + 2];
    size_t len;
    size_t sentences, facts; /* bytes of each kind */
    unsigned sentence_count, fact_count;
};

static char *append(struct meaning *m, const char *text, size_t len)
{
    char *at;

    if (m->len) {
        m->out[m->len++] = ' ';
    }
    at = m->out + m->len;
    memmove(at, text, len);
    m->len += len;
    return at;
}

/* False: said already, or no room. */
static bool add_fact(struct work *w, struct meaning *m, const struct canon_fact *fact)
{
    struct btz_str text = {fact->text, fact->len};

    if (m->fact_count == CANON_FACTS || m->facts + fact->len + 1 > CANON_FACTS_MAX ||
        fact->len > w->facts_left || btz_str_find((struct btz_str){m->out, m->len}, text) >= 0) {
        return false;
    }
    (void)append(m, fact->text, fact->len);
    m->facts += fact->len + 1;
    m->fact_count++;
    w->facts_left -= fact->len;
    return true;
}

/* Whether what was made of a sentence would be read as a fixed line. */
static bool becomes_fact(const struct work *w, const char *out, size_t len)
{
    struct plain text = {{out, len}, NULL};
    struct canon_fact fact;
    struct sentence s;

    return canon_sentence(&text, 0, &s) && canon_is_fact(&w->judge, &s, ROLE_MEANING, &fact);
}

static void take_meaning(struct work *w, struct meaning *m, size_t from, size_t to)
{
    struct canon_fact facts[CANON_FACTS_A_SENTENCE];
    struct judged how = {.rule = "over-length"};
    char out[CANON_MEANING_MAX + 1];
    size_t room = m->sentences + 1 < CANON_MEANINGS_MAX ? CANON_MEANINGS_MAX - m->sentences - 1 : 0;
    size_t begin = m->len ? m->len + 1 : 0;
    size_t got = 0;

    if (canon_is_fact(&w->judge, &w->sentence, ROLE_MEANING, &facts[0])) {
        if (add_fact(w, m, &facts[0])) {
            canon_span(w, from, to, BTZ_CANON_CHANGED, "fact",
                       (struct btz_str){facts[0].text, facts[0].len});
        } else {
            canon_span(w, from, to, BTZ_CANON_REMOVED, "said-twice", BTZ_STR_NONE);
        }
        return;
    }
    room = room > w->prose_left ? w->prose_left : room;
    room = room > CANON_MEANING_MAX ? CANON_MEANING_MAX : room;
    if (m->sentence_count < CANON_MEANINGS && room > 1) {
        got = canon_judge(&w->judge, &w->sentence, 0, ROLE_MEANING, room, out, &how);
    }
    if (got && !how.whole && becomes_fact(w, out, got)) {
        how = (struct judged){.rule = "said-twice"};
        got = 0;
    }
    if (got) {
        (void)append(m, out, got);
        w->prose_left -= got;
        m->sentences += got + 1;
        m->sentence_count++;
    }
    if (!got || !how.complete) {
        size_t n = canon_facts(&w->judge, &w->sentence, how.kept, ROLE_MEANING, facts);

        for (size_t i = 0; i < n; i++) {
            (void)add_fact(w, m, &facts[i]);
        }
    }
    if (m->len > begin) {
        canon_span(w, from, to, BTZ_CANON_CHANGED, got ? "meaning" : "fact",
                   (struct btz_str){m->out + begin, m->len - begin});
    } else {
        canon_span(w, from, to, BTZ_CANON_REMOVED, how.rule, BTZ_STR_NONE);
    }
}

void canon_note_hidden(struct work *w, struct btz_str source, const struct plain *text)
{
    if (source.len && !text->text.len) {
        canon_span(w, 0, source.len, BTZ_CANON_REMOVED, "no-words", BTZ_STR_NONE);
    }
}

struct btz_str canon_meaning(struct work *w, struct btz_str source)
{
    struct meaning m;
    struct plain text;

    m.len = m.sentences = m.facts = 0;
    m.sentence_count = m.fact_count = 0;
    source = canon_may_read(w, source.len) ? source : BTZ_STR_NONE;
    canon_plain(source, w->arena, &text);
    canon_note_hidden(w, source, &text);
    for (size_t at = 0; canon_sentence(&text, at, &w->sentence); at = w->sentence.end) {
        take_meaning(w, &m, text.from ? text.from[at] : at,
                     text.from ? text.from[w->sentence.end] : w->sentence.end);
    }
    return btz_arena_dup(w->arena, (struct btz_str){m.out, m.len});
}
