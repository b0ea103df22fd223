/* What is hidden by characters rather than worded: looked for in the bytes as they came. */
#include "guard/guard_int.h"
#include "text/fold.h"

enum {
    TAGS_MIN = 4,        /* tag characters in a row, outside an emoji flag */
    FLAG_TAGS_MAX = 7,   /* in an emoji flag: five letters and the end (UTS 51, annex C) */
    SELECTORS_MIN = 4,   /* variation selectors in a row; one is usual */
    ZERO_WIDTH_RUN = 8,  /* in a row: bits written in invisible characters */
    ZERO_WIDTH_IN = 3,   /* between Latin letters, in the whole text */
    FLOOD_BYTES = 4096,  /* shorter texts are not looked at */
    FLOOD_LONG = 262144, /* long by itself */
    PROBE_BYTES = 48,
    PROBE_REPEATS = 24,
};

const struct detector_about btz_guard_detectors[DETECTORS] = {
    [DETECT_HIDDEN_TEXT] = {"hidden-characters",
                            "Text in tag characters or variation selectors, which show nothing",
                            "hidden-text", "hidden-text", BTZ_GUARD_CRITICAL, 70, 60},
    [DETECT_ZERO_WIDTH] = {"zero-width", "Zero-width characters inside words or in long runs",
                           "zero-width", "hidden-text", BTZ_GUARD_HIGH, 50, 35},
    [DETECT_BIDI] = {"bidi-override", "Controls that change the order in which text is shown",
                     "bidi", "hidden-text", BTZ_GUARD_HIGH, 50, 30},
    [DETECT_CONFUSABLE] = {"mixed-script-word",
                           "A word of Latin letters and of others that look like them",
                           "confusable", "hidden-text", BTZ_GUARD_MEDIUM, 40, 25},
    [DETECT_ANSI] = {"terminal-escape", "Terminal control sequences, which can hide text",
                     "terminal-escape", "hidden-text", BTZ_GUARD_HIGH, 60, 30},
    [DETECT_ENCODED] = {"encoded-signal", "Encoded text that, decoded, has signals of its own",
                        "encoded", "hidden-text", BTZ_GUARD_HIGH, 40, 35},
    [DETECT_SPACED] = {"spaced-letters", "Words written letter by letter", "encoded", "hidden-text",
                       BTZ_GUARD_LOW, 20, 10},
    [DETECT_FLOOD] = {"flood", "Very long text, or one part repeated many times", "flood",
                      "amplification", BTZ_GUARD_LOW, 30, 15},
};

struct walk {
    struct btz_guard_scanner *s;
    const struct layer *layer;
    size_t zero_run;
    size_t zero_begin;
    size_t zero_in;
    size_t zero_first;
    bool zero_noted;
    bool bidi_noted;
    bool mixed_noted;
};

static bool latin_byte(struct btz_str s, size_t at)
{
    return at < s.len && ((s.ptr[at] | 0x20) >= 'a' && (s.ptr[at] | 0x20) <= 'z');
}

static bool is_zero_width(uint32_t code)
{
    return (code >= 0x200B && code <= 0x200F) || (code >= 0x2060 && code <= 0x2064) ||
           code == 0xFEFF || code == 0x180E || code == 0x034F;
}

static void zero_width(struct walk *w, size_t at, size_t len)
{
    struct btz_str text = w->layer->text;

    if (w->zero_run == 0) {
        w->zero_begin = at;
    }
    w->zero_run++;
    if (at > 0 && latin_byte(text, at - 1) && latin_byte(text, at + len)) {
        w->zero_first = w->zero_in ? w->zero_first : at;
        w->zero_in++;
    }
    if (!w->zero_noted && (w->zero_run >= ZERO_WIDTH_RUN || w->zero_in >= ZERO_WIDTH_IN)) {
        w->zero_noted = true;
        btz_guard_note_detector(w->s, w->layer, DETECT_ZERO_WIDTH,
                                w->zero_run >= ZERO_WIDTH_RUN ? w->zero_begin : w->zero_first,
                                at + len);
    }
}

static bool is_override(uint32_t code)
{
    return code == 0x202D || code == 0x202E;
}

static void mixed(struct walk *w, uint32_t code, size_t at, size_t len)
{
    struct btz_str text = w->layer->text;
    bool before = at > 0 && latin_byte(text, at - 1);
    bool after = latin_byte(text, at + len);
    bool greek = code < 0x400; /* Greek letters stand beside Latin ones in formulas */

    if (!w->mixed_noted && (greek ? before && after : before || after)) {
        size_t begin = at;
        size_t end = at + len;

        while (begin > 0 && latin_byte(text, begin - 1)) {
            begin--;
        }
        while (latin_byte(text, end)) {
            end++;
        }
        w->mixed_noted = true;
        btz_guard_note_detector(w->s, w->layer, DETECT_CONFUSABLE, begin, end);
    }
}

static bool is_tag(uint32_t code)
{
    return code >= 0xE0000 && code <= 0xE007F;
}

static bool is_selector(uint32_t code)
{
    return (code >= 0xFE00 && code <= 0xFE0F) || (code >= 0xE0100 && code <= 0xE01EF);
}

/* The byte that one hidden character stands for, or -1. */
static int hidden_byte(uint32_t code)
{
    if (is_tag(code)) {
        return code >= 0xE0020 && code <= 0xE007E ? (int)(code - 0xE0000) : -1;
    }
    return code < 0x10000 ? (int)(code - 0xFE00) : (int)(code - 0xE0100 + 16);
}

/* A run of tag characters or of variation selectors from `at` on; returns its end. */
static size_t hidden_run(struct walk *w, size_t at, bool tags, bool flag)
{
    struct btz_str text = w->layer->text;
    unsigned depth = w->layer->depth;
    struct btz_buf *out = depth < ENCODED_LAYERS ? &w->s->decoded[depth] : NULL;
    size_t begin = at;
    size_t count = 0;

    if (out) {
        btz_buf_reset(out);
    }
    while (at < text.len) {
        uint32_t code;
        size_t len = btz_text_next(text, at, &code);

        if (!(tags ? is_tag(code) : is_selector(code))) {
            break;
        }
        if (out && hidden_byte(code) >= 0) {
            (void)btz_buf_add_byte(out, (char)hidden_byte(code));
        }
        count++;
        at += len;
    }
    if (flag && count <= FLAG_TAGS_MAX) {
        return at;
    }
    if (count >= (tags ? (size_t)TAGS_MIN : (size_t)SELECTORS_MIN)) {
        btz_guard_note_detector(w->s, w->layer, DETECT_HIDDEN_TEXT, begin, at);
        if (out) {
            (void)btz_guard_scan_decoded(w->s, w->layer, tags ? "tags" : "selectors",
                                         btz_buf_view(out), begin, at);
        }
    }
    return at;
}

static void walk_unicode(struct walk *w)
{
    struct btz_str text = w->layer->text;
    uint32_t before = 0;
    size_t at = 0;

    while (at < text.len) {
        uint32_t code;
        uint64_t word;
        size_t len;

        if (at + sizeof(word) <= text.len) {
            memcpy(&word, text.ptr + at, sizeof(word));
            if (!(word & 0x8080808080808080U)) {
                at += sizeof(word);
                w->zero_run = 0;
                before = 0;
                continue;
            }
        }
        len = btz_text_next(text, at, &code);
        if (is_zero_width(code)) {
            zero_width(w, at, len);
        } else {
            w->zero_run = 0;
        }
        if (is_override(code) && !w->bidi_noted) {
            w->bidi_noted = true;
            btz_guard_note_detector(w->s, w->layer, DETECT_BIDI, at, at + len);
        } else if (code >= 0x370 && code < 0x588 && btz_guard_lookalike(code)) {
            mixed(w, code, at, len);
        } else if (is_tag(code) || is_selector(code)) {
            len = hidden_run(w, at, is_tag(code), before == 0x1F3F4) - at;
        }
        before = code;
        at += len;
    }
}

/* ESC [ ... and ESC ] ... ; also the one-byte form of ESC [, U+009B. */
static void terminal(struct walk *w)
{
    struct btz_str text = w->layer->text;
    const char *at = text.ptr;
    const char *end = text.ptr + text.len;

    while (at < end && (at = memchr(at, 0x1B, (size_t)(end - at))) != NULL) {
        if (at + 1 < end && strchr("[]PX^_", at[1]) && at[1]) {
            size_t begin = (size_t)(at - text.ptr);

            btz_guard_note_detector(w->s, w->layer, DETECT_ANSI, begin, begin + 2);
            return;
        }
        at++;
    }
    if (btz_str_find(text, BTZ_STR("\xC2\x9B")) >= 0) {
        size_t begin = (size_t)btz_str_find(text, BTZ_STR("\xC2\x9B"));

        btz_guard_note_detector(w->s, w->layer, DETECT_ANSI, begin, begin + 2);
    }
}

/* Two parts of the text, taken at the start and at a third, are counted in what follows them. */
static void flood(struct walk *w)
{
    struct btz_str text = w->layer->text;

    if (w->layer->depth > 0 || text.len < FLOOD_BYTES) {
        return;
    }
    if (text.len >= FLOOD_LONG) {
        btz_guard_note_detector(w->s, w->layer, DETECT_FLOOD, 0, text.len);
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        size_t from = text.len / 3 * i;
        const char *probe = text.ptr + from;
        const char *at = probe + 1;
        const char *end = text.ptr + text.len;
        size_t count = 1;

        while (count < PROBE_REPEATS &&
               (at = memmem(at, (size_t)(end - at), probe, PROBE_BYTES)) != NULL) {
            count++;
            at++;
        }
        if (count >= PROBE_REPEATS) {
            btz_guard_note_detector(w->s, w->layer, DETECT_FLOOD, from, text.len);
            return;
        }
    }
}

void btz_guard_detect(struct btz_guard_scanner *s, const struct layer *layer)
{
    struct walk w = {.s = s, .layer = layer};

    if (layer->text.len == 0) {
        return;
    }
    walk_unicode(&w);
    terminal(&w);
    flood(&w);
}
