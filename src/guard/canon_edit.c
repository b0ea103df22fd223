/* Arms that edit the texts of a definition, each by itself, and leave everything else: the simple
 * list of patterns and the controls. Texts are what stands under "description", "title",
 * "$comment" and "example(s)", at any depth. */
#include <stdio.h>

#include <unicode/unorm2.h>
#include <unicode/ustring.h>

#include "base/hash.h"
#include "base/rng.h"
#include "guard/canon_int.h"
#include "text/fold.h"

enum { EDIT_DEPTH_MAX = 128, FIRST_CHARACTERS = 120 };

/* Frozen. Lower case; matched anywhere in a sentence, white space as one space. */
static const char *const strip_phrases[] = {
    /* addresses the model */
    "you must",
    "you should",
    "you have to",
    "you need to",
    "you are required",
    "make sure",
    "be sure to",
    "the assistant",
    "as an ai",
    "language model",
    "the llm",
    "the agent must",
    "the model must",
    "the model should",
    "dear ai",
    "attention ai",
    "note to the",
    "remember to",
    "don't forget",
    "do not forget",
    "it is important",
    "it is mandatory",
    "it is critical",
    "important:",
    "important!",
    "critical:",
    "urgent:",
    "<important",
    "system:",
    "system note",
    /* orders calls */
    "before using",
    "before calling",
    "before any",
    "before you",
    "before invoking",
    "after using",
    "after calling",
    "after any",
    "always call",
    "always use",
    "first call",
    "must first",
    "call this tool",
    "use this tool before",
    "use this tool instead",
    "instead of",
    "every time",
    "whenever you",
    "for every",
    "also call",
    "then call",
    "then send",
    "then pass",
    "then read",
    "read the file",
    "read the content",
    "pass its content",
    "as a parameter",
    "pass it as",
    "forward to",
    "forward all",
    "send all",
    "send a copy",
    "in addition to",
    /* conceals */
    "do not tell",
    "don't tell",
    "do not mention",
    "don't mention",
    "do not inform",
    "do not reveal",
    "do not show",
    "do not ask",
    "never mention",
    "never tell",
    "without telling",
    "without mentioning",
    "without informing",
    "without asking",
    "silently",
    "secretly",
    "keep this",
    "hide this",
    "not be visible",
    "user does not need",
    "confidential",
    /* overrides */
    "ignore previous",
    "ignore all",
    "ignore any",
    "ignore the",
    "disregard",
    "forget previous",
    "override",
    "overrides",
    "takes precedence",
    "take precedence",
    "supersede",
    "has priority",
    "new instructions",
    "previous instructions",
    "system prompt",
    "bypass",
    "regardless of",
};

static const char *const eight_phrases[] = {
    "ignore previous", "do not tell", "before using", "must first",
    "important:",      "system:",     "secret",       "override"};

void canon_phrases_hash(struct btz_hasher *hasher)
{
    for (size_t i = 0; i < sizeof(strip_phrases) / sizeof(strip_phrases[0]); i++) {
        btz_hasher_add_part(hasher, btz_str_of(strip_phrases[i]));
    }
}

struct editor {
    struct work *w;
    size_t bytes_left; /* of all texts, to come */
    size_t take_left;  /* that are still to be deleted */
    struct btz_rng rng;
    struct stretch *stretches; /* sentences of all texts, in the order of the walk */
    size_t stretch_count, stretch_cap;
    size_t at;   /* stretch that comes next */
    size_t text; /* number of the text under way */
};

/* One sentence, and what of it random-delete takes. */
struct stretch {
    size_t text;
    struct btz_str source;
    size_t from, to; /* bytes of the sentence that go */
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct btz_str trim(struct btz_str s)
{
    return btz_str_trim(s);
}

/* End of the sentence that begins at `at`, with the white space behind it. */
static size_t sentence_end(struct btz_str s, size_t at)
{
    while (at < s.len) {
        char c = s.ptr[at++];

        if (c == '\n') {
            break;
        }
        if (c == '.' || c == '!' || c == '?') {
            while (at < s.len && strchr("\"'`)]*.!?", s.ptr[at])) {
                at++;
            }
            if (at < s.len && is_space(s.ptr[at])) {
                break;
            }
        }
    }
    while (at < s.len && is_space(s.ptr[at])) {
        at++;
    }
    return at;
}

static bool has_phrase(struct btz_arena *arena, struct btz_str sentence, const char *const *phrases,
                       size_t count)
{
    char *low = btz_arena_alloc(arena, sentence.len + 1);
    size_t len = 0;

    for (size_t i = 0; i < sentence.len; i++) {
        char c = sentence.ptr[i];

        if (is_space(c)) {
            if (len && low[len - 1] != ' ') {
                low[len++] = ' ';
            }
        } else {
            low[len++] = (char)(c >= 'A' && c <= 'Z' ? c + 0x20 : c);
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (memmem(low, len, phrases[i], strlen(phrases[i]))) {
            return true;
        }
    }
    return false;
}

/* Appends to `out` what stays and notes spans; `from` is where `text` lies in the field. */
static void strip(struct editor *e, struct btz_str text, const char *const *phrases, size_t count,
                  struct btz_buf *out)
{
    for (size_t at = 0; at < text.len;) {
        size_t end = sentence_end(text, at);
        struct btz_str part = btz_str_sub(text, at, end - at);
        bool bad = has_phrase(e->w->arena, part, phrases, count);

        canon_span(e->w, at, end, bad ? BTZ_CANON_REMOVED : BTZ_CANON_KEPT,
                   bad ? "phrase" : "no-phrase", bad ? BTZ_STR_NONE : part);
        if (!bad) {
            (void)btz_buf_add_str(out, part);
        }
        at = end;
    }
}

static struct btz_str without_hidden(struct editor *e, struct btz_str text)
{
    struct btz_buf out;
    struct btz_str kept;
    bool any = false;

    btz_buf_init(&out, text.len + 1);
    for (size_t at = 0; at < text.len;) {
        uint32_t code;
        size_t len = btz_text_next(text, at, &code);
        bool hidden = code >= 0x80 && btz_text_is_invisible(code);

        any |= hidden;
        if (!hidden) {
            (void)btz_buf_add(&out, text.ptr + at, len);
        }
        at += len;
    }
    kept = any ? btz_arena_dup(e->w->arena, btz_buf_view(&out)) : text;
    btz_buf_fini(&out);
    return kept;
}

static struct btz_str nfkc(struct editor *e, struct btz_str text)
{
    const UNormalizer2 *norm;
    UErrorCode status = U_ZERO_ERROR;
    int32_t most = 0;
    UChar *wide;
    UChar *normal;
    char *out;
    int32_t len = 0;
    bool ascii = true;

    for (size_t i = 0; i < text.len; i++) {
        ascii = ascii && (unsigned char)text.ptr[i] < 0x80;
    }
    if (ascii) {
        return text;
    }
    norm = unorm2_getNFKCInstance(&status);
    wide = btz_arena_array(e->w->arena, text.len + 1, sizeof(*wide));
    (void)u_strFromUTF8(wide, (int32_t)text.len + 1, &len, text.ptr, (int32_t)text.len, &status);
    most = unorm2_normalize(norm, wide, len, NULL, 0, &status) + 1;
    if (status == U_BUFFER_OVERFLOW_ERROR) {
        status = U_ZERO_ERROR;
    }
    if (U_FAILURE(status)) {
        return text;
    }
    normal = btz_arena_array(e->w->arena, (size_t)most, sizeof(*normal));
    out = btz_arena_alloc(e->w->arena, (size_t)most * 3);
    len = unorm2_normalize(norm, wide, len, normal, most, &status);
    (void)u_strToUTF8(out, most * 3, &len, normal, len, &status);
    if (U_FAILURE(status)) {
        return text;
    }
    return (struct btz_str){out, (size_t)len};
}

/* Each character goes with the chance that is needed for the number of bytes to come out. */
static struct btz_str thinned(struct editor *e, struct btz_str text)
{
    char *out = btz_arena_alloc(e->w->arena, text.len + 1);
    size_t kept = 0;

    for (size_t at = 0; at < text.len;) {
        uint32_t code;
        size_t len = btz_text_next(text, at, &code);
        bool goes = e->take_left >= len && btz_rng_below(&e->rng, e->bytes_left) < e->take_left;

        e->bytes_left -= len;
        if (goes) {
            e->take_left -= len;
        } else {
            memcpy(out + kept, text.ptr + at, len);
            kept += len;
        }
        at += len;
    }
    return (struct btz_str){out, kept};
}

static void add_sentences(struct editor *e, struct btz_str text)
{
    for (size_t at = 0; at < text.len;) {
        size_t end = sentence_end(text, at);

        e->stretches = btz_arena_grow(e->w->arena, e->stretches, e->stretch_count, &e->stretch_cap,
                                      sizeof(*e->stretches));
        e->stretches[e->stretch_count++] =
            (struct stretch){e->text, btz_str_sub(text, at, end - at), 0, 0};
        at = end;
    }
    e->text++;
}

static size_t word_end(struct btz_str s, size_t at)
{
    while (at < s.len && !is_space(s.ptr[at])) {
        at++;
    }
    while (at < s.len && is_space(s.ptr[at])) {
        at++;
    }
    return at;
}

/* Of the last sentence only words go, from a random one on: as many as fit. */
static void take_words(struct editor *e, struct stretch *s)
{
    size_t words = 0;
    size_t skip;

    for (size_t at = 0; at < s->source.len; at = word_end(s->source, at)) {
        words++;
    }
    skip = words ? (size_t)btz_rng_below(&e->rng, words) : 0;
    for (; skip; skip--) {
        s->from = word_end(s->source, s->from);
    }
    s->to = s->from;
    while (s->to < s->source.len && word_end(s->source, s->to) - s->from <= e->take_left) {
        s->to = word_end(s->source, s->to);
    }
    e->take_left -= s->to - s->from;
}

/* Sentences in random order go whole while they fit; then words of one that did not. */
static void choose_sentences(struct editor *e)
{
    struct stretch **order = btz_arena_array(e->w->arena, e->stretch_count + 1, sizeof(*order));
    struct stretch *last = NULL;

    for (size_t i = 0; i < e->stretch_count; i++) {
        size_t k = (size_t)btz_rng_below(&e->rng, i + 1);

        order[i] = order[k];
        order[k] = &e->stretches[i];
    }
    for (size_t i = 0; i < e->stretch_count; i++) {
        if (order[i]->source.len <= e->take_left) {
            order[i]->to = order[i]->source.len;
            e->take_left -= order[i]->source.len;
        } else {
            last = last ? last : order[i];
        }
    }
    if (last && e->take_left) {
        take_words(e, last);
    }
}

static struct btz_str without_stretches(struct editor *e, struct btz_str text)
{
    struct btz_buf out;
    struct btz_str now;

    btz_buf_init(&out, text.len + 1);
    for (; e->at < e->stretch_count && e->stretches[e->at].text == e->text; e->at++) {
        const struct stretch *s = &e->stretches[e->at];

        (void)btz_buf_add_str(&out, btz_str_sub(s->source, 0, s->from));
        (void)btz_buf_add_str(&out, btz_str_sub(s->source, s->to, s->source.len - s->to));
    }
    e->text++;
    now = btz_arena_dup(e->w->arena, btz_buf_view(&out));
    btz_buf_fini(&out);
    return now;
}

/* The first sentence or characters: what lies before and behind goes. */
static struct btz_str headed(struct editor *e, struct btz_str text)
{
    struct btz_str body = text;
    size_t end = 0;

    if (e->w->arm == BTZ_CANON_FIRST_SENTENCE) {
        body = trim(text);
        body = trim(btz_str_sub(body, 0, sentence_end(body, 0)));
    } else {
        for (unsigned n = 0; n < FIRST_CHARACTERS && end < text.len; n++) {
            uint32_t code;

            end += btz_text_next(text, end, &code);
        }
        body = btz_str_sub(text, 0, end);
    }
    end = (size_t)(body.ptr - text.ptr);
    canon_span(e->w, 0, end, BTZ_CANON_REMOVED, "before-first", BTZ_STR_NONE);
    canon_span(e->w, end, end + body.len, BTZ_CANON_KEPT, "first", body);
    canon_span(e->w, end + body.len, text.len, BTZ_CANON_REMOVED, "behind-first", BTZ_STR_NONE);
    return body;
}

static struct btz_str edited(struct editor *e, struct btz_str text)
{
    struct btz_str now = text;
    struct btz_buf out;

    if (!canon_may_read(e->w, text.len)) {
        return text;
    }
    switch (e->w->arm) {
    case BTZ_CANON_FIRST_SENTENCE:
    case BTZ_CANON_FIRST_120:
        return text.len ? headed(e, text) : text;
    case BTZ_CANON_NFKC_ONLY:
        now = nfkc(e, text);
        break;
    case BTZ_CANON_RANDOM_DELETE:
        now = without_stretches(e, text);
        break;
    case BTZ_CANON_RANDOM_DELETE_BYTES:
        now = thinned(e, text);
        break;
    case BTZ_CANON_RULES_STRIP:
        now = without_hidden(e, text);
        break;
    default:
        break;
    }
    if (e->w->arm == BTZ_CANON_RULES_STRIP || e->w->arm == BTZ_CANON_EIGHT_PHRASE) {
        bool rules = e->w->arm == BTZ_CANON_RULES_STRIP;
        bool quiet = e->w->quiet;
        size_t before = e->w->removed;

        /* Spans of a text that lost hidden characters are of the whole. */
        e->w->quiet = quiet || now.len != text.len;
        btz_buf_init(&out, now.len + 1);
        strip(e, now, rules ? strip_phrases : eight_phrases,
              rules ? sizeof(strip_phrases) / sizeof(strip_phrases[0])
                    : sizeof(eight_phrases) / sizeof(eight_phrases[0]),
              &out);
        e->w->quiet = quiet;
        if (now.len == text.len) {
            struct btz_str stays = btz_arena_dup(e->w->arena, trim(btz_buf_view(&out)));

            e->w->removed = before + text.len - stays.len;
            btz_buf_fini(&out);
            return stays;
        }
        now = btz_arena_dup(e->w->arena, trim(btz_buf_view(&out)));
        btz_buf_fini(&out);
        canon_span(e->w, 0, text.len, BTZ_CANON_CHANGED, "hidden-characters", now);
        return now;
    }
    canon_span(e->w, 0, text.len, btz_str_eq(now, text) ? BTZ_CANON_KEPT : BTZ_CANON_CHANGED,
               e->w->arm == BTZ_CANON_NFKC_ONLY ? "nfkc" : "random", now);
    return now;
}

static bool is_text_key(struct btz_str key)
{
    return btz_str_is(key, "description") || btz_str_is(key, "title") ||
           btz_str_is(key, "$comment") || btz_str_is(key, "example") || btz_str_is(key, "examples");
}

static const struct btz_json *walk(struct editor *e, const struct btz_json *value, bool text,
                                   bool names, unsigned depth)
{
    struct btz_json *out;

    if (depth > EDIT_DEPTH_MAX) {
        e->w->too_deep = true;
        return value;
    }
    switch (btz_json_kind(value)) {
    case BTZ_JSON_STRING:
        if (!text) {
            canon_keep(e->w, value, "no-prose");
            return value;
        }
        return btz_json_new_str(e->w->arena, edited(e, btz_json_str(value)));
    case BTZ_JSON_ARRAY:
        out = btz_json_new_array(e->w->arena);
        for (size_t i = 0; i < btz_json_count(value); i++) {
            size_t mark = canon_enter_at(e->w, i);

            btz_json_push(e->w->arena, out, walk(e, btz_json_at(value, i), text, false, depth + 1));
            canon_leave(e->w, mark);
        }
        return out;
    case BTZ_JSON_OBJECT:
        out = btz_json_new_object(e->w->arena);
        for (size_t i = 0; i < btz_json_count(value); i++) {
            struct btz_str key = btz_json_key_at(value, i);
            const struct btz_json *inner = btz_json_value_at(value, i);
            size_t mark = canon_enter(e->w, key);
            /* A property may be called "title": its value is a schema. */
            bool below = is_text_key(key) && !btz_json_is(inner, BTZ_JSON_OBJECT);

            if (names) {
                canon_key_span(e->w, key, BTZ_CANON_KEPT, "no-prose", key);
            }
            btz_json_set(e->w->arena, out, key,
                         walk(e, inner, below, canon_holds_names(key), depth + 1));
            canon_leave(e->w, mark);
        }
        return out;
    default:
        return value;
    }
}

/* Bytes of the texts, which are noted on the way. */
static size_t count_texts(struct editor *e, const struct btz_json *value, bool text, unsigned depth)
{
    size_t sum = 0;

    if (btz_json_is(value, BTZ_JSON_STRING)) {
        if (text && e->w->arm == BTZ_CANON_RANDOM_DELETE) {
            add_sentences(e, btz_json_str(value));
        }
        return text ? btz_json_str(value).len : 0;
    }
    for (size_t i = 0; depth <= EDIT_DEPTH_MAX && i < btz_json_count(value); i++) {
        if (btz_json_is(value, BTZ_JSON_OBJECT)) {
            const struct btz_json *inner = btz_json_value_at(value, i);

            sum += count_texts(e, inner,
                               is_text_key(btz_json_key_at(value, i)) &&
                                   !btz_json_is(inner, BTZ_JSON_OBJECT),
                               depth + 1);
        } else {
            sum += count_texts(e, btz_json_at(value, i), text, depth + 1);
        }
    }
    return sum;
}

const struct btz_json *canon_edit(struct work *w, size_t bytes)
{
    struct editor e = {.w = w};

    if (w->arm == BTZ_CANON_RANDOM_DELETE || w->arm == BTZ_CANON_RANDOM_DELETE_BYTES) {
        char seed[24];
        struct btz_str parts[2] = {w->out->given_name};

        (void)snprintf(seed, sizeof(seed), "%llu", (unsigned long long)w->options->seed);
        parts[1] = btz_str_of(seed);
        e.rng = btz_rng_of(btz_rng_key(parts, 2));
        e.bytes_left = count_texts(&e, w->tool, false, 0);
        e.take_left = bytes < e.bytes_left ? bytes : e.bytes_left;
        if (w->arm == BTZ_CANON_RANDOM_DELETE) {
            choose_sentences(&e);
        }
        e.text = 0;
    }
    return walk(&e, w->tool, false, false, 0);
}
