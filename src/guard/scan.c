#include <stdlib.h>

#include "guard/guard_int.h"

enum {
    BLOCK_BYTES = 16384,  /* patterns see a text in blocks, so that no search is over a long one */
    BLOCK_OVERLAP = 512,  /* what a block repeats of the one before */
    HIT_STEP = 512,       /* a rule is looked for again so many bytes behind a hit */
    COUNTER_AROUND = 160, /* bytes on either side of a hit in which counter-evidence counts */
    OCCURRENCES_MAX = 65536,
    WORK_BASE = 500000,
    WORK_PER_BYTE = 32
};

const char *btz_guard_verdict_name(enum btz_guard_verdict verdict)
{
    switch (verdict) {
    case BTZ_GUARD_PASS:
        return "pass";
    case BTZ_GUARD_BLOCK:
        return "block";
    default:
        return "undecided";
    }
}

struct btz_guard_scanner *btz_guard_scanner_new(const struct btz_guard_rules *rules)
{
    struct btz_guard_scanner *s = calloc(1, sizeof(*s));

    if (!s) {
        btz_panic("out of memory (scanner)");
    }
    s->rules = rules;
    for (unsigned v = 0; v < VIEWS; v++) {
        s->scratch[v] = btz_prefilter_scratch_new(rules->sets[v].prefilter);
        btz_guard_view_init(&s->views[v]);
    }
    for (unsigned i = 0; i < ENCODED_LAYERS; i++) {
        btz_buf_init(&s->decoded[i], 0);
    }
    btz_buf_init(&s->occurrences, OCCURRENCES_MAX * sizeof(struct occurrence));
    return s;
}

void btz_guard_scanner_free(struct btz_guard_scanner *scanner)
{
    if (!scanner) {
        return;
    }
    for (unsigned v = 0; v < VIEWS; v++) {
        btz_prefilter_scratch_free(scanner->scratch[v]);
        btz_guard_view_fini(&scanner->views[v]);
    }
    for (unsigned i = 0; i < ENCODED_LAYERS; i++) {
        btz_buf_fini(&scanner->decoded[i]);
    }
    btz_buf_fini(&scanner->occurrences);
    free(scanner);
}

static size_t occurrence_count(const struct btz_guard_scanner *s)
{
    return s->occurrences.len / sizeof(struct occurrence);
}

/* The buffer is malloc'ed and holds nothing else, so it is aligned. */
static struct occurrence *occurrences(struct btz_guard_scanner *s)
{
    return (struct occurrence *)(void *)s->occurrences.ptr;
}

void btz_guard_note(struct btz_guard_scanner *s, const struct layer *layer, uint32_t rule,
                    unsigned weight, size_t begin, size_t end)
{
    bool inside = layer->depth > 0;
    struct occurrence o = {rule, weight, inside ? layer->begin : begin, inside ? layer->end : end,
                           layer->encoding};

    if (occurrence_count(s) == OCCURRENCES_MAX) {
        s->complete = false;
        return;
    }
    (void)btz_buf_add(&s->occurrences, &o, sizeof(o));
}

void btz_guard_note_detector(struct btz_guard_scanner *s, const struct layer *layer,
                             enum detector detector, size_t begin, size_t end)
{
    const struct detector_about *about = &btz_guard_detectors[detector];

    btz_guard_note(s, layer, (uint32_t)(s->rules->first_detector + detector),
                   s->target == BTZ_GUARD_DEFINITION ? about->in_definition : about->elsewhere,
                   begin, end);
}

unsigned btz_guard_scan_decoded(struct btz_guard_scanner *s, const struct layer *layer,
                                const char *encoding, struct btz_str text, size_t begin, size_t end)
{
    struct layer inner = {.text = text,
                          .depth = layer->depth + 1,
                          .encoding = encoding,
                          .begin = layer->depth ? layer->begin : begin,
                          .end = layer->depth ? layer->end : end};
    size_t before = occurrence_count(s);
    unsigned added = 0;

    if (text.len > s->decode_left) {
        s->complete = false;
        return 0;
    }
    s->decode_left -= text.len;
    if (layer->depth) {
        inner.encoding = btz_arena_printf(s->arena, "%s+%s", layer->encoding, encoding).ptr;
    }
    btz_guard_scan_layer(s, &inner);
    for (size_t i = before; i < occurrence_count(s) && added < 100; i++) {
        added += occurrences(s)[i].weight;
    }
    return added;
}

/* ---- patterns ---- */

static size_t forward(struct btz_str s, size_t at)
{
    while (at < s.len && ((unsigned char)s.ptr[at] & 0xC0) == 0x80) {
        at++;
    }
    return at < s.len ? at : s.len;
}

static size_t backward(struct btz_str s, size_t at)
{
    while (at > 0 && at < s.len && ((unsigned char)s.ptr[at] & 0xC0) == 0x80) {
        at--;
    }
    return at;
}

/* Weight of a hit less the counter-evidence around it; 0 = nothing is left. */
static unsigned weigh(struct btz_guard_scanner *s, const struct rule *rule, struct btz_str text,
                      struct btz_regex_span hit)
{
    size_t from = backward(text, hit.begin > COUNTER_AROUND ? hit.begin - COUNTER_AROUND : 0);
    size_t to =
        text.len - hit.end > COUNTER_AROUND ? forward(text, hit.end + COUNTER_AROUND) : text.len;
    struct btz_str around = btz_str_sub(text, from, to - from);
    unsigned weight = rule->face.weight;

    for (size_t i = 0; i < rule->counter_count && weight; i++) {
        int rc = btz_regex_find(rule->counters[i].regex, around, 0, &s->work, NULL);

        if (rc == BTZ_OK) {
            weight -= weight < rule->counters[i].subtract ? weight : rule->counters[i].subtract;
        } else if (rc != BTZ_ENOTFOUND) {
            s->complete = false; /* and the hit keeps its weight */
        }
    }
    return weight;
}

static void confirm(struct btz_guard_scanner *s, const struct layer *layer, const struct view *view,
                    size_t offset, const struct pattern *pattern)
{
    const struct rule *rule = &s->rules->rules[pattern->rule];
    struct btz_regex_match match;
    size_t at = 0;

    if (!(rule->face.targets & 1U << s->target)) {
        return;
    }
    while (at < view->text.len) {
        struct btz_regex_span hit;
        unsigned weight;
        int rc = btz_regex_find(pattern->regex, view->text, at, &s->work, &match);

        if (rc != BTZ_OK) {
            s->complete = s->complete && rc == BTZ_ENOTFOUND;
            return;
        }
        hit = match.spans[0];
        weight = weigh(s, rule, view->text, hit);
        if (weight) {
            size_t from;
            size_t to;

            btz_guard_view_span(view, hit.begin, hit.end, &from, &to);
            btz_guard_note(s, layer, pattern->rule, weight, offset + from, offset + to);
        }
        at = forward(view->text, weight ? hit.begin + HIT_STEP : hit.end);
        at = at <= hit.begin ? forward(view->text, hit.begin + 1) : at;
    }
}

static void match_block(struct btz_guard_scanner *s, const struct layer *layer, size_t offset,
                        size_t len)
{
    struct btz_str block = btz_str_sub(layer->text, offset, len);

    for (unsigned v = 0; v < VIEWS; v++) {
        struct view *view = &s->views[v];
        const uint32_t *candidates;
        size_t count;

        if (v == VIEW_FOLDED) {
            btz_guard_view_folded(view, block);
        } else {
            btz_guard_view_raw(view, block);
        }
        if (btz_buf_status(&view->bytes) || btz_buf_status(&view->segments)) {
            s->complete = false;
            continue;
        }
        count = btz_prefilter_scan(s->scratch[v], view->text, &candidates);
        for (size_t i = 0; i < count; i++) {
            confirm(s, layer, view, offset, &s->rules->sets[v].patterns[candidates[i]]);
        }
    }
}

static void match_patterns(struct btz_guard_scanner *s, const struct layer *layer)
{
    size_t offset = 0;

    while (offset < layer->text.len) {
        size_t left = layer->text.len - offset;
        size_t end =
            left > BLOCK_BYTES ? backward(layer->text, offset + BLOCK_BYTES) : layer->text.len;

        match_block(s, layer, offset, end - offset);
        if (end == layer->text.len) {
            return;
        }
        offset = backward(layer->text, end - BLOCK_OVERLAP);
    }
}

void btz_guard_scan_layer(struct btz_guard_scanner *s, const struct layer *layer)
{
    if (layer->depth < ENCODED_LAYERS) {
        s->decoded[layer->depth].max = layer->text.len * 4 + 64;
    }
    btz_guard_detect(s, layer);
    btz_guard_detect_encoded(s, layer);
    match_patterns(s, layer);
}

/* ---- the report ---- */

static int by_place(const void *left, const void *right)
{
    const struct occurrence *a = left;
    const struct occurrence *b = right;

    if (a->begin != b->begin) {
        return a->begin < b->begin ? -1 : 1;
    }
    if (a->rule != b->rule) {
        return a->rule < b->rule ? -1 : 1;
    }
    if (a->weight != b->weight) {
        return a->weight > b->weight ? -1 : 1;
    }
    return strcmp(a->encoding, b->encoding);
}

/* The largest sum over stretches that begin at every half of one. */
static unsigned score_of(struct btz_guard_scanner *s)
{
    const size_t half = BTZ_GUARD_STRETCH / 2;
    const struct occurrence *all = occurrences(s);
    size_t count = occurrence_count(s);
    unsigned *best = btz_arena_array(s->arena, s->rules->signal_count + 1, sizeof(*best));
    unsigned top = 0;

    for (size_t i = 0; i < count; i++) {
        size_t stretch = all[i].begin / half;
        unsigned sum = 0;

        if (i > 0 && all[i - 1].begin / half == stretch) {
            continue;
        }
        memset(best, 0, s->rules->signal_count * sizeof(*best));
        for (size_t j = i; j < count && all[j].begin / half <= stretch + 1; j++) {
            unsigned *signal = &best[s->rules->rules[all[j].rule].signal];

            if (all[j].weight > *signal) {
                sum += all[j].weight - *signal;
                *signal = all[j].weight;
            }
        }
        top = sum > top ? sum : top;
    }
    return top;
}

static void fill_findings(struct btz_guard_scanner *s, struct btz_str field,
                          struct btz_guard_report *out)
{
    const struct occurrence *all = occurrences(s);
    size_t count = occurrence_count(s);
    unsigned *of_rule = btz_arena_array(s->arena, s->rules->count, sizeof(*of_rule));

    out->findings =
        btz_arena_array(s->arena, count < BTZ_GUARD_FINDINGS_MAX ? count : BTZ_GUARD_FINDINGS_MAX,
                        sizeof(*out->findings));
    for (size_t i = 0; i < count && out->count < BTZ_GUARD_FINDINGS_MAX; i++) {
        const struct occurrence *o = &all[i];

        /* Blocks overlap, and one rule may have several patterns. */
        if ((i > 0 && o->rule == all[i - 1].rule && o->begin == all[i - 1].begin) ||
            of_rule[o->rule]++ >= BTZ_GUARD_RULE_FINDINGS_MAX) {
            continue;
        }
        out->findings[out->count++] = (struct btz_guard_finding){
            .rule = &s->rules->rules[o->rule].face,
            .weight = o->weight,
            .begin = o->begin,
            .end = o->end,
            .field = field,
            .encoding = o->encoding,
        };
    }
}

void btz_guard_scan(struct btz_guard_scanner *scanner, struct btz_str text,
                    enum btz_guard_target target, struct btz_str field,
                    const struct btz_guard_options *options, struct btz_arena *arena,
                    struct btz_guard_report *out)
{
    const struct btz_guard_options none = {0};
    const struct btz_guard_options *o = options ? options : &none;
    size_t max = o->max_bytes ? o->max_bytes : BTZ_GUARD_TEXT_MAX;
    struct layer layer = {.text = text, .encoding = ""};

    *out =
        (struct btz_guard_report){.threshold = o->threshold ? o->threshold : BTZ_GUARD_THRESHOLD};
    scanner->complete = text.len <= max;
    if (text.len > max) {
        layer.text = btz_str_sub(text, 0, backward(text, max));
    }
    scanner->target = target;
    scanner->arena = arena;
    scanner->work =
        o->max_work ? o->max_work : WORK_BASE + (uint64_t)WORK_PER_BYTE * layer.text.len;
    scanner->decode_left = 4 * layer.text.len + 4096;
    btz_buf_reset(&scanner->occurrences);
    btz_guard_scan_layer(scanner, &layer);
    if (occurrence_count(scanner)) {
        qsort(occurrences(scanner), occurrence_count(scanner), sizeof(struct occurrence), by_place);
        out->score = score_of(scanner);
        fill_findings(scanner, btz_arena_dup(arena, field), out);
    }
    out->complete = scanner->complete;
    out->verdict = out->score >= out->threshold ? BTZ_GUARD_BLOCK
                   : out->complete              ? BTZ_GUARD_PASS
                                                : BTZ_GUARD_UNDECIDED;
}
