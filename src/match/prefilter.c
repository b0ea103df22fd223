#include "match/prefilter.h"

#include <stdio.h>
#include <stdlib.h>

#include <hs.h>

#include "base/hash.h"
#include "match/regex.h"

enum {
    REPEAT_MAX = 6,    /* counts above are widened */
    REPEAT_BYTES = 12, /* a rewritten repeat and its atom's first byte */
    CHARACTER_BYTES = 4
};

struct btz_prefilter {
    size_t count;
    size_t always_count;
    bool *always;        /* by pattern */
    hs_database_t *base; /* NULL: every pattern is always a candidate */
};

struct btz_prefilter_scratch {
    const struct btz_prefilter *prefilter;
    hs_scratch_t *scratch;
    bool *hit;
    uint32_t *ids;
};

/* True if the pattern sets an option inside, such as (?i). */
static bool has_option(const char *text)
{
    while ((text = strstr(text, "(?")) != NULL) {
        text += 2;
        if ((*text >= 'a' && *text <= 'z') || *text == '-' || *text == '^') {
            return true;
        }
    }
    return false;
}

/* What is handed to Hyperscan: the patterns that it takes. */
struct batch {
    char **text;
    unsigned *flags;
    unsigned *ids;
    unsigned count;
};

static void *room(size_t count, size_t size)
{
    void *out = calloc(count ? count : 1, size);

    if (!out) {
        btz_panic("out of memory (prefilter)");
    }
    return out;
}

static unsigned flags_of(unsigned flags)
{
    unsigned out = HS_FLAG_UTF8 | HS_FLAG_SINGLEMATCH | HS_FLAG_ALLOWEMPTY;

    out |= flags & BTZ_REGEX_CASELESS ? HS_FLAG_CASELESS : 0;
    out |= flags & BTZ_REGEX_MULTILINE ? HS_FLAG_MULTILINE : 0;
    out |= flags & BTZ_REGEX_DOTALL ? HS_FLAG_DOTALL : 0;
    return out;
}

static bool takes(const char *text, unsigned flags)
{
    hs_expr_info_t *info = NULL;
    hs_compile_error_t *error = NULL;
    bool good = hs_expression_info(text, flags, &info, &error) == HS_SUCCESS;

    free(info);
    if (error) {
        (void)hs_free_compile_error(error);
    }
    return good;
}

/* Length of the counted repeat {m}, {m,} or {m,n} at `at`, with its least count and the larger of
 * its counts; 0 if there is none. */
static size_t counted(const char *at, unsigned *least, unsigned *most)
{
    const char *p = at + 1;
    unsigned *count = least;

    *least = *most = 0;
    if (*at != '{' || *p < '0' || *p > '9') {
        return 0;
    }
    for (; (*p >= '0' && *p <= '9') || *p == ','; p++) {
        if (*p == ',') {
            count = most;
        } else if (*count < 100000) {
            *count = *count * 10 + (unsigned)(*p - '0');
        }
    }
    *most = *most < *least ? *least : *most;
    return *p == '}' ? (size_t)(p - at) + 1 : 0;
}

/* A pattern being rewritten. */
struct rewrite {
    const char *at;
    char *out;
    bool bytes; /* for matching byte by byte */
};

/* Copies one atom (a class, an escape, or a byte) and returns true if it may match characters that
 * are not ASCII. */
static bool copy_atom(struct rewrite *r)
{
    bool wide = *r->at == '.';
    bool escaped = *r->at == '\\';

    if (escaped && r->at[1]) {
        bool braced = strchr("xpPNogku", r->at[1]) && r->at[2] == '{';

        wide = strchr("WSDHVNRX", r->at[1]) != NULL;
        *r->out++ = *r->at++;
        *r->out++ = *r->at++;
        while (braced && *r->at && *r->at != '}') {
            *r->out++ = *r->at++;
        }
        return wide;
    }
    if (*r->at != '[') {
        *r->out++ = *r->at++;
        return wide;
    }
    *r->out++ = *r->at++;
    wide = *r->at == '^';
    if (wide) {
        *r->out++ = *r->at++;
    }
    if (*r->at == ']') { /* at the start of a class it is one of its characters */
        *r->out++ = *r->at++;
    }
    while (*r->at && *r->at != ']') {
        if (*r->at == '\\' && r->at[1]) {
            wide = wide || strchr("WSDHVN", r->at[1]) != NULL;
            *r->out++ = *r->at++;
        } else if (*r->at == '[' && r->at[1] == ':') { /* POSIX class: may be negated */
            wide = true;
            while (*r->at && *r->at != ']') {
                *r->out++ = *r->at++;
            }
        }
        if (*r->at) {
            *r->out++ = *r->at++;
        }
    }
    if (*r->at) {
        *r->out++ = *r->at++;
    }
    return wide;
}

/* Rewrites the repeat behind an atom. */
static void copy_repeat(struct rewrite *r, bool wide)
{
    unsigned least = 1;
    unsigned most = 1;
    size_t len = counted(r->at, &least, &most);
    bool open = len && r->at[len - 2] == ',';

    if (!len && (*r->at == '*' || *r->at == '+')) {
        return;
    }
    if (!len) {
        least = *r->at != '?';
        most = 1;
        len = *r->at == '?';
        if (!wide || !r->bytes) {
            return;
        }
    }
    r->at += len;
    if (open || most > REPEAT_MAX) {
        *r->out++ = least ? '+' : '*';
    } else {
        r->out += snprintf(r->out, REPEAT_BYTES, "{%u,%u}", least,
                           wide && r->bytes ? most * CHARACTER_BYTES : most);
    }
}

/* Hyperscan unrolls counted repeats, in UTF-8 byte by byte: a gap of sixty characters makes
 * thousands of states, and minutes of compiling. A candidate need not be exact, so that
 *   - repeats above REPEAT_MAX become unbounded, which matches no less;
 *   - a pattern of ASCII alone is matched byte by byte, where an atom that may be a character of
 *     several bytes is allowed so many (letters are compared as they are: a caseless pattern stays
 *     in UTF-8, for there "k" is also the Kelvin sign).
 * Not in a pattern with a negative look-around, where matching more inside is matching less.
 * Returns the pattern, to be freed, and adapts the flags. */
static char *widen(struct btz_str pattern, unsigned *flags)
{
    char *copy = room(pattern.len + 1, 1);
    char *text = room(pattern.len + 1, REPEAT_BYTES);
    struct rewrite r = {copy, text, !(*flags & HS_FLAG_CASELESS)};

    if (pattern.len) {
        memcpy(copy, pattern.ptr, pattern.len);
    }
    if (strstr(copy, "(?!") || strstr(copy, "(?<!") || strstr(copy, "\\Q")) {
        free(text);
        return copy;
    }
    for (size_t i = 0; i < pattern.len; i++) {
        r.bytes = r.bytes && (unsigned char)copy[i] < 0x80;
    }
    r.bytes = r.bytes && !strstr(copy, "\\x") && !strstr(copy, "\\p") && !strstr(copy, "\\P") &&
              !strstr(copy, "\\o") && !strstr(copy, "\\N") && !strstr(copy, "\\X") &&
              !strstr(copy, "(*") && !has_option(copy);
    if (r.bytes) {
        *flags &= ~(unsigned)HS_FLAG_UTF8;
    }
    while (*r.at) {
        bool group = r.at[0] == '(' && r.at[1] == '?';
        bool wide = copy_atom(&r);

        if (group) { /* its question mark is no repeat */
            *r.out++ = *r.at++;
        } else {
            copy_repeat(&r, wide);
        }
    }
    *r.out = '\0';
    free(copy);
    return text;
}

/* Adds a pattern, widened, or else in the looser form that HS_FLAG_PREFILTER makes of look-arounds
 * and back-references, or not at all. */
static void batch_add(struct batch *batch, struct btz_prefilter *p, size_t id,
                      const struct btz_prefilter_pattern *pattern)
{
    char *text;
    unsigned flags = flags_of(pattern->flags);

    if (pattern->pattern.len && memchr(pattern->pattern.ptr, '\0', pattern->pattern.len) != NULL) {
        p->always[id] = true;
        return;
    }
    text = widen(pattern->pattern, &flags);
    if (!takes(text, flags)) {
        flags |= HS_FLAG_PREFILTER;
        if (!takes(text, flags)) {
            p->always[id] = true;
            free(text);
            return;
        }
    }
    batch->text[batch->count] = text;
    batch->flags[batch->count] = flags;
    batch->ids[batch->count] = (unsigned)id;
    batch->count++;
}

static void batch_drop(struct batch *batch, struct btz_prefilter *p, unsigned at)
{
    p->always[batch->ids[at]] = true;
    free(batch->text[at]);
    batch->count--;
    for (unsigned i = at; i < batch->count; i++) {
        batch->text[i] = batch->text[i + 1];
        batch->flags[i] = batch->flags[i + 1];
        batch->ids[i] = batch->ids[i + 1];
    }
}

/* Some patterns are refused only when they are compiled: they leave, and the rest is tried again.
 */
static void batch_compile(struct batch *batch, struct btz_prefilter *p,
                          const hs_platform_info_t *platform)
{
    while (batch->count) {
        hs_compile_error_t *error = NULL;
        int culprit;

        if (hs_compile_multi((const char *const *)batch->text, batch->flags, batch->ids,
                             batch->count, HS_MODE_BLOCK, platform, &p->base,
                             &error) == HS_SUCCESS) {
            return;
        }
        p->base = NULL;
        culprit = error ? error->expression : -1;
        if (error) {
            (void)hs_free_compile_error(error);
        }
        if (culprit < 0 || (unsigned)culprit >= batch->count) {
            culprit = (int)batch->count - 1; /* too large together: fewer may do */
        }
        batch_drop(batch, p, (unsigned)culprit);
    }
}

static int check_patterns(const struct btz_prefilter_pattern *patterns, size_t count,
                          struct btz_err *err)
{
    const unsigned known = BTZ_REGEX_CASELESS | BTZ_REGEX_MULTILINE | BTZ_REGEX_DOTALL;

    if (count > BTZ_PREFILTER_PATTERNS_MAX) {
        return btz_err_set(err, BTZ_ELIMIT, "%zu patterns, at most %d are allowed", count,
                           BTZ_PREFILTER_PATTERNS_MAX);
    }
    for (size_t i = 0; i < count; i++) {
        if (patterns[i].flags & ~known) {
            return btz_err_set(err, BTZ_EINVAL, "pattern %zu has a flag that a prefilter lacks", i);
        }
    }
    return BTZ_OK;
}

static struct btz_prefilter *prefilter_of(size_t count)
{
    struct btz_prefilter *p = room(1, sizeof(*p));

    p->count = count;
    p->always = room(count, sizeof(*p->always));
    return p;
}

static void count_always(struct btz_prefilter *p)
{
    for (size_t i = 0; i < p->count; i++) {
        p->always_count += p->always[i];
    }
}

/* `platform` NULL = this processor. */
static struct btz_prefilter *compile(const struct btz_prefilter_pattern *patterns, size_t count,
                                     const hs_platform_info_t *platform)
{
    bool usable = hs_valid_platform() == HS_SUCCESS;
    struct btz_prefilter *p = prefilter_of(count);
    struct batch batch = {0};

    batch.text = room(count, sizeof(*batch.text));
    batch.flags = room(count, sizeof(*batch.flags));
    batch.ids = room(count, sizeof(*batch.ids));
    for (size_t i = 0; i < count; i++) {
        if (usable) {
            batch_add(&batch, p, i, &patterns[i]);
        } else {
            p->always[i] = true;
        }
    }
    batch_compile(&batch, p, platform);
    count_always(p);
    for (unsigned i = 0; i < batch.count; i++) {
        free(batch.text[i]);
    }
    free(batch.text);
    free(batch.flags);
    free(batch.ids);
    return p;
}

int btz_prefilter_new(const struct btz_prefilter_pattern *patterns, size_t count,
                      struct btz_prefilter **out, struct btz_err *err)
{
    int rc = check_patterns(patterns, count, err);

    if (rc == BTZ_OK) {
        *out = compile(patterns, count, NULL);
    }
    return rc;
}

/* What a saved prefilter was made of. */
static struct btz_hash key_of(const struct btz_prefilter_pattern *patterns, size_t count)
{
    struct btz_hasher *hasher = btz_hasher_new();
    struct btz_hash out;

    btz_hasher_add_part(hasher, btz_str_of(hs_version()));
    for (size_t i = 0; i < count; i++) {
        char flags[16];
        int len = snprintf(flags, sizeof(flags), "%u", patterns[i].flags);

        btz_hasher_add_part(hasher, patterns[i].pattern);
        btz_hasher_add_part(hasher, (struct btz_str){flags, (size_t)len});
    }
    out = btz_hasher_end(hasher);
    btz_hasher_free(hasher);
    return out;
}

/* Saved are: the key, for each pattern whether it is always a candidate, Hyperscan's bytes. */
int btz_prefilter_save(const struct btz_prefilter_pattern *patterns, size_t count,
                       struct btz_buf *out, struct btz_err *err)
{
    const hs_platform_info_t any = {.tune = HS_TUNE_FAMILY_GENERIC};
    struct btz_prefilter *p;
    struct btz_hash key;
    char *bytes = NULL;
    size_t len = 0;
    int rc = check_patterns(patterns, count, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    p = compile(patterns, count, &any);
    if (!p->base || hs_serialize_database(p->base, &bytes, &len) != HS_SUCCESS) {
        rc = btz_err_set(err, BTZ_EUNSUPPORTED, "Hyperscan has nothing to save");
    } else {
        key = key_of(patterns, count);
        (void)btz_buf_add(out, key.bytes, sizeof(key.bytes));
        for (size_t i = 0; i < count; i++) {
            (void)btz_buf_add_byte(out, p->always[i] ? 1 : 0);
        }
        rc = btz_buf_add(out, bytes, len);
    }
    free(bytes);
    btz_prefilter_free(p);
    return rc;
}

int btz_prefilter_load(const struct btz_prefilter_pattern *patterns, size_t count,
                       struct btz_str saved, struct btz_prefilter **out, struct btz_err *err)
{
    struct btz_prefilter *p;
    struct btz_hash key;
    int rc = check_patterns(patterns, count, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    key = key_of(patterns, count);
    if (saved.len <= sizeof(key.bytes) + count ||
        memcmp(saved.ptr, key.bytes, sizeof(key.bytes)) != 0 || hs_valid_platform() != HS_SUCCESS) {
        return btz_err_set(err, BTZ_EUNSUPPORTED, "the prefilter was made of something else");
    }
    p = prefilter_of(count);
    for (size_t i = 0; i < count; i++) {
        p->always[i] = saved.ptr[sizeof(key.bytes) + i] != 0;
    }
    count_always(p);
    saved = btz_str_sub(saved, sizeof(key.bytes) + count, saved.len);
    if (hs_deserialize_database(saved.ptr, saved.len, &p->base) != HS_SUCCESS) {
        p->base = NULL;
        btz_prefilter_free(p);
        return btz_err_set(err, BTZ_EUNSUPPORTED, "Hyperscan does not take the prefilter");
    }
    *out = p;
    return BTZ_OK;
}

void btz_prefilter_free(struct btz_prefilter *prefilter)
{
    if (prefilter) {
        (void)hs_free_database(prefilter->base);
        free(prefilter->always);
        free(prefilter);
    }
}

size_t btz_prefilter_count(const struct btz_prefilter *prefilter)
{
    return prefilter->count;
}

size_t btz_prefilter_always(const struct btz_prefilter *prefilter)
{
    return prefilter->always_count;
}

struct btz_prefilter_scratch *btz_prefilter_scratch_new(const struct btz_prefilter *prefilter)
{
    struct btz_prefilter_scratch *scratch = room(1, sizeof(*scratch));

    scratch->prefilter = prefilter;
    scratch->hit = room(prefilter->count, sizeof(*scratch->hit));
    scratch->ids = room(prefilter->count, sizeof(*scratch->ids));
    if (prefilter->base && hs_alloc_scratch(prefilter->base, &scratch->scratch) != HS_SUCCESS) {
        btz_panic("out of memory (prefilter scratch)");
    }
    return scratch;
}

void btz_prefilter_scratch_free(struct btz_prefilter_scratch *scratch)
{
    if (scratch) {
        (void)hs_free_scratch(scratch->scratch);
        free(scratch->hit);
        free(scratch->ids);
        free(scratch);
    }
}

/* Hyperscan's own check of UTF-8 does not exist: wrong bytes are undefined there. */
static bool is_utf8(struct btz_str s)
{
    const unsigned char *at = (const unsigned char *)s.ptr;
    const unsigned char *end = at + s.len;
    uint64_t word;

    while (at < end) {
        size_t more;
        unsigned low = 0x80;
        unsigned high = 0xBF;

        if (end - at >= (ptrdiff_t)sizeof(word)) {
            memcpy(&word, at, sizeof(word));
            if (!(word & 0x8080808080808080U)) {
                at += sizeof(word);
                continue;
            }
        }
        if (*at < 0x80) {
            at++;
            continue;
        }
        if (*at < 0xC2 || *at > 0xF4) {
            return false;
        }
        more = *at < 0xE0 ? 1 : *at < 0xF0 ? 2 : 3;
        low = *at == 0xE0 ? 0xA0 : *at == 0xF0 ? 0x90 : low;   /* overlong */
        high = *at == 0xED ? 0x9F : *at == 0xF4 ? 0x8F : high; /* surrogates; past U+10FFFF */
        if ((size_t)(end - at) <= more || at[1] < low || at[1] > high) {
            return false;
        }
        for (size_t i = 2; i <= more; i++) {
            if ((at[i] & 0xC0) != 0x80) {
                return false;
            }
        }
        at += more + 1;
    }
    return true;
}

static int on_match(unsigned id, unsigned long long from, unsigned long long to, unsigned flags,
                    void *data)
{
    bool *hit = data;

    (void)from;
    (void)to;
    (void)flags;
    hit[id] = true;
    return 0;
}

size_t btz_prefilter_scan(struct btz_prefilter_scratch *scratch, struct btz_str text,
                          const uint32_t **candidates)
{
    const struct btz_prefilter *p = scratch->prefilter;
    bool all = text.len > INT32_MAX || !is_utf8(text);
    size_t n = 0;

    if (p->count) {
        memcpy(scratch->hit, p->always, p->count * sizeof(*scratch->hit));
    }
    if (!all && p->base) {
        all = hs_scan(p->base, text.len ? text.ptr : "", (unsigned)text.len, 0, scratch->scratch,
                      on_match, scratch->hit) != HS_SUCCESS;
    }
    for (size_t i = 0; i < p->count; i++) {
        if (all || scratch->hit[i]) {
            scratch->ids[n++] = (uint32_t)i;
        }
    }
    *candidates = scratch->ids;
    return n;
}
