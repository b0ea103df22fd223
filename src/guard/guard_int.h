/* Inside of room guard. */
#ifndef BTZ_GUARD_GUARD_INT_H
#define BTZ_GUARD_GUARD_INT_H

#include "base/buf.h"
#include "guard/guard.h"
#include "match/prefilter.h"
#include "match/regex.h"

/* ---- view.c: the forms of a text that patterns are matched against ---- */

/* Bytes of a view from `at` on come from the source from `from` on: byte by byte (verbatim), or all
 * of them from [from, to). A segment ends where the next begins. */
struct segment {
    size_t at;
    size_t from;
    size_t to;
    bool verbatim;
};

struct view {
    struct btz_str text; /* valid UTF-8; borrowed from `bytes` or from the source */
    struct btz_buf bytes;
    struct btz_buf segments; /* of struct segment; none = the view is the source */
    size_t source_len;
};

void btz_guard_view_init(struct view *view);
void btz_guard_view_fini(struct view *view);

/* The source itself, with U+FFFD for what is no UTF-8. */
void btz_guard_view_raw(struct view *view, struct btz_str source);

/* The folded form: NFKC with case folded, without control characters and characters that show
 * nothing, every run of white space one space, typographic quotes and dashes as in ASCII; in a word
 * that mixes Latin letters with Cyrillic or Greek ones that look like Latin, those as Latin. */
void btz_guard_view_folded(struct view *view, struct btz_str source);

/* Where bytes [begin, end) of the view come from. */
void btz_guard_view_span(const struct view *view, size_t begin, size_t end, size_t *from,
                         size_t *to);

/* The Latin letter that `code` looks like, or 0. */
uint32_t btz_guard_lookalike(uint32_t code);

/* ---- rules.c ---- */

struct counter {
    struct btz_regex *regex;
    unsigned subtract;
};

struct rule {
    struct btz_guard_rule face;
    size_t signal; /* number of face.signal, from 0 */
    struct counter *counters;
    size_t counter_count;
    struct btz_str *positive;
    size_t positive_count;
    struct btz_str *negative;
    size_t negative_count;
    struct btz_str file;
    unsigned line;
};

struct pattern {
    struct btz_regex *regex;
    uint32_t rule;
};

/* The patterns over one form of the text. */
struct pattern_set {
    struct pattern *patterns;
    size_t count;
    size_t cap;
    struct btz_prefilter *prefilter;
};

enum view_kind { VIEW_FOLDED, VIEW_RAW, VIEWS };

struct btz_guard_rules {
    struct btz_arena *arena;
    struct rule *rules; /* of the files, then the detectors */
    size_t count;
    size_t cap;
    size_t first_detector;
    size_t signal_count;
    struct pattern_set sets[VIEWS];
    struct btz_hash hash;
};

/* tools/embed */
extern const struct btz_embedded btz_guard_rule_files[];
extern const size_t btz_guard_rule_files_count;
extern const struct btz_embedded btz_guard_schemas[];
extern const size_t btz_guard_schemas_count;
extern const struct btz_embedded btz_guard_prompts[];
extern const size_t btz_guard_prompts_count;

/* What tools/compile_rules puts into the program: the saved prefilters of its rules. */
extern const struct btz_embedded btz_guard_prefilters[];
extern const size_t btz_guard_prefilters_count;

/* ---- model.c: what every question to a model needs ---- */

/* The file of prompts/guard/ without its first line "version: N". */
struct btz_str btz_guard_prompt(const char *wanted, unsigned *version);
/* A word that the text does not contain, so that it cannot write the closing mark itself. */
struct btz_str btz_guard_mark(struct btz_str text, struct btz_arena *arena);
/* The content of a code fence, if the reply is nothing else. */
struct btz_str btz_guard_unfence(struct btz_str reply);

/* Adds the saved prefilter (match/prefilter.h) of the patterns over one form of the text. */
int btz_guard_prefilter_save(const struct btz_embedded *files, size_t count, enum view_kind view,
                             struct btz_buf *out, struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- detect.c, decode.c ---- */

enum detector {
    DETECT_HIDDEN_TEXT, /* tag characters, runs of variation selectors */
    DETECT_ZERO_WIDTH,
    DETECT_BIDI,
    DETECT_CONFUSABLE,
    DETECT_ANSI,
    DETECT_ENCODED,
    DETECT_SPACED,
    DETECT_FLOOD,
    DETECTORS
};

struct detector_about {
    const char *id;
    const char *title;
    const char *signal;
    const char *mapping;
    enum btz_guard_severity severity;
    unsigned in_definition; /* weight where no honest author has a use for it */
    unsigned elsewhere;
};

extern const struct detector_about btz_guard_detectors[DETECTORS];

struct occurrence {
    uint32_t rule;
    unsigned weight;
    size_t begin;
    size_t end;
    const char *encoding;
};

enum { ENCODED_LAYERS = 2 };

/* One text that is being scanned: the one given, or one that was found encoded in it. */
struct layer {
    struct btz_str text;
    unsigned depth;
    const char *encoding; /* "" at depth 0 */
    size_t begin; /* depth > 0: the span of the given text that stands for all of this one */
    size_t end;
};

struct btz_guard_scanner {
    const struct btz_guard_rules *rules;
    struct btz_prefilter_scratch *scratch[VIEWS];
    struct view views[VIEWS];
    struct btz_buf decoded[ENCODED_LAYERS]; /* by depth of what is being decoded */
    struct btz_buf occurrences;             /* of struct occurrence */
    /* of the scan that is running */
    enum btz_guard_target target;
    uint64_t work;
    size_t decode_left; /* bytes that may yet be decoded */
    bool complete;
    struct btz_arena *arena;
};

/* Notes a hit; begin and end are of the layer's text. */
void btz_guard_note(struct btz_guard_scanner *s, const struct layer *layer, uint32_t rule,
                    unsigned weight, size_t begin, size_t end);
void btz_guard_note_detector(struct btz_guard_scanner *s, const struct layer *layer,
                             enum detector detector, size_t begin, size_t end);

/* Patterns and detectors over one layer. */
void btz_guard_scan_layer(struct btz_guard_scanner *s, const struct layer *layer);

/* Scans decoded text that stood at [begin, end) of the layer. Returns how much weight it added. */
unsigned btz_guard_scan_decoded(struct btz_guard_scanner *s, const struct layer *layer,
                                const char *encoding, struct btz_str text, size_t begin,
                                size_t end);

void btz_guard_detect(struct btz_guard_scanner *s, const struct layer *layer);
void btz_guard_detect_encoded(struct btz_guard_scanner *s, const struct layer *layer);

#endif
