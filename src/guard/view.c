#include "guard/guard_int.h"
#include "text/fold.h"

/* A token is what lies between white space; a longer run is cut. The fold makes at most 11 bytes of
 * one (U+FDFA: 3 bytes become 33). */
enum { TOKEN_MAX = 256, FOLD_GROWTH = 12, SLACK = 4096 };

struct pair {
    uint16_t code;
    char latin;
};

/* Letters that most fonts draw like a Latin one, by code: Greek, Cyrillic. Own selection. */
static const struct pair lookalikes[] = {
    {0x0131, 'i'}, {0x0251, 'a'}, {0x0261, 'g'}, {0x0391, 'a'}, {0x0392, 'b'}, {0x0395, 'e'},
    {0x0396, 'z'}, {0x0397, 'h'}, {0x0399, 'i'}, {0x039A, 'k'}, {0x039C, 'm'}, {0x039D, 'n'},
    {0x039F, 'o'}, {0x03A1, 'p'}, {0x03A4, 't'}, {0x03A5, 'y'}, {0x03A7, 'x'}, {0x03B1, 'a'},
    {0x03B9, 'i'}, {0x03BA, 'k'}, {0x03BD, 'v'}, {0x03BF, 'o'}, {0x03C1, 'p'}, {0x03C5, 'u'},
    {0x03F2, 'c'}, {0x03F3, 'j'}, {0x0405, 's'}, {0x0406, 'i'}, {0x0408, 'j'}, {0x0410, 'a'},
    {0x0412, 'b'}, {0x0415, 'e'}, {0x041A, 'k'}, {0x041C, 'm'}, {0x041D, 'h'}, {0x041E, 'o'},
    {0x0420, 'p'}, {0x0421, 'c'}, {0x0422, 't'}, {0x0423, 'y'}, {0x0425, 'x'}, {0x0430, 'a'},
    {0x0435, 'e'}, {0x043A, 'k'}, {0x043E, 'o'}, {0x0440, 'p'}, {0x0441, 'c'}, {0x0443, 'y'},
    {0x0445, 'x'}, {0x0455, 's'}, {0x0456, 'i'}, {0x0458, 'j'}, {0x04BB, 'h'}, {0x04CF, 'l'},
    {0x0501, 'd'}, {0x051B, 'q'}, {0x051D, 'w'}, {0x0585, 'o'},
};

uint32_t btz_guard_lookalike(uint32_t code)
{
    size_t low = 0;
    size_t high = sizeof(lookalikes) / sizeof(lookalikes[0]);

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (lookalikes[middle].code == code) {
            return (uint32_t)lookalikes[middle].latin;
        }
        if (lookalikes[middle].code < code) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return 0;
}

void btz_guard_view_init(struct view *view)
{
    *view = (struct view){0};
    btz_buf_init(&view->bytes, 0);
    btz_buf_init(&view->segments, 0);
}

void btz_guard_view_fini(struct view *view)
{
    btz_buf_fini(&view->bytes);
    btz_buf_fini(&view->segments);
}

static void begin(struct view *view, struct btz_str source, size_t growth)
{
    btz_buf_reset(&view->bytes);
    btz_buf_reset(&view->segments);
    view->bytes.max = source.len * growth + SLACK;
    view->segments.max = (source.len + 2) * 2 * sizeof(struct segment) + SLACK;
    view->source_len = source.len;
}

static size_t segment_count(const struct view *view)
{
    return view->segments.len / sizeof(struct segment);
}

static struct segment segment_at(const struct view *view, size_t index)
{
    struct segment out;

    memcpy(&out, view->segments.ptr + index * sizeof(out), sizeof(out));
    return out;
}

/* Says that what is appended next comes from [from, to). */
static void mark(struct view *view, size_t from, size_t to, bool verbatim)
{
    struct segment next = {view->bytes.len, from, to, verbatim};

    if (verbatim && segment_count(view)) {
        struct segment last = segment_at(view, segment_count(view) - 1);

        if (last.verbatim && next.at - last.at == from - last.from) {
            return;
        }
    }
    (void)btz_buf_add(&view->segments, &next, sizeof(next));
}

void btz_guard_view_span(const struct view *view, size_t begin_at, size_t end_at, size_t *from,
                         size_t *to)
{
    size_t ends[2] = {begin_at, end_at > begin_at ? end_at - 1 : end_at};
    size_t out[2];

    if (!segment_count(view)) {
        *from = begin_at;
        *to = end_at;
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        size_t low = 0;
        size_t high = segment_count(view);
        struct segment s;

        while (high - low > 1) { /* the last segment that begins at or before the byte */
            size_t middle = (low + high) / 2;

            if (segment_at(view, middle).at <= ends[i]) {
                low = middle;
            } else {
                high = middle;
            }
        }
        s = segment_at(view, low);
        out[i] = s.verbatim ? s.from + (ends[i] - s.at) + i : i ? s.to : s.from;
        out[i] = out[i] > view->source_len ? view->source_len : out[i];
    }
    *from = out[0];
    *to = end_at > begin_at && out[1] > out[0] ? out[1] : out[0];
}

static size_t ascii_until(struct btz_str s, size_t at)
{
    uint64_t word;

    while (at + sizeof(word) <= s.len) {
        memcpy(&word, s.ptr + at, sizeof(word));
        if (word & 0x8080808080808080U) {
            break;
        }
        at += sizeof(word);
    }
    while (at < s.len && (unsigned char)s.ptr[at] < 0x80) {
        at++;
    }
    return at;
}

/* The first byte at or after `at` that is no UTF-8; s.len if there is none. */
static size_t invalid_from(struct btz_str s, size_t at)
{
    while ((at = ascii_until(s, at)) < s.len) {
        uint32_t code;
        size_t len = btz_text_next(s, at, &code);

        if (code == 0xFFFD && len == 1) {
            break;
        }
        at += len;
    }
    return at;
}

void btz_guard_view_raw(struct view *view, struct btz_str source)
{
    size_t at = invalid_from(source, 0);
    size_t from = 0;

    begin(view, source, 3);
    if (at == source.len) {
        view->text = source;
        return;
    }
    for (; from < source.len; at = invalid_from(source, from)) {
        if (at > from) {
            mark(view, from, at, true);
            (void)btz_buf_add(&view->bytes, source.ptr + from, at - from);
        }
        if (at < source.len) {
            mark(view, at, at + 1, false);
            btz_text_put(&view->bytes, 0xFFFD);
        }
        from = at + 1;
    }
    view->text = btz_buf_view(&view->bytes);
}

static bool ascii_space(unsigned char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_latin(uint32_t code)
{
    return (code < 0x80 && ((code | 0x20) >= 'a' && (code | 0x20) <= 'z')) ||
           (code >= 0xC0 && code < 0x250 && code != 0xD7 && code != 0xF7 && code != 0x131);
}

static bool is_greek_or_cyrillic(uint32_t code)
{
    return (code >= 0x370 && code < 0x588);
}

static uint32_t plain_punctuation(uint32_t code)
{
    switch (code) {
    case 0x2018:
    case 0x2019:
    case 0x201A:
    case 0x201B:
    case 0x2032:
    case 0x02BC:
        return '\'';
    case 0x201C:
    case 0x201D:
    case 0x201E:
    case 0x201F:
    case 0x00AB:
    case 0x00BB:
        return '"';
    case 0x2010:
    case 0x2011:
    case 0x2012:
    case 0x2013:
    case 0x2014:
    case 0x2015:
    case 0x2212:
        return '-';
    default:
        return code;
    }
}

/* True if all letters of the token that are not Latin look like Latin ones, and there are both. */
static bool is_disguised(struct btz_str token)
{
    bool latin = false;
    bool other = false;

    for (size_t at = 0; at < token.len;) {
        uint32_t code;

        at += btz_text_next(token, at, &code);
        if (btz_guard_lookalike(code)) {
            other = true;
        } else if (is_latin(code)) {
            latin = true;
        } else if (is_greek_or_cyrillic(code)) {
            return false;
        }
    }
    return latin && other;
}

static void put_space(struct view *view, bool *pending, size_t at)
{
    if (*pending && view->bytes.len) {
        mark(view, at ? at - 1 : 0, at, true);
        (void)btz_buf_add_byte(&view->bytes, ' ');
    }
    *pending = false;
}

static void put_ascii(struct view *view, struct btz_str source, size_t from, size_t to)
{
    char *room = btz_buf_room(&view->bytes, to - from);
    size_t n = 0;

    if (!room) {
        return;
    }
    mark(view, from, to, true);
    for (size_t i = from; i < to; i++) {
        unsigned char c = (unsigned char)source.ptr[i];

        if (c < 0x20 || c == 0x7F) { /* what follows has moved */
            btz_buf_grow_by(&view->bytes, n);
            room += n;
            n = 0;
            mark(view, i + 1, to, true);
            continue;
        }
        room[n++] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
    btz_buf_grow_by(&view->bytes, n);
}

/* Folds what was collected of a token. */
static void put_folded(struct view *view, struct btz_buf *part, bool *pending, size_t from,
                       size_t to)
{
    if (part->len) {
        size_t segment = view->segments.len;
        size_t before;

        put_space(view, pending, from);
        before = view->bytes.len;
        mark(view, from, to, false);
        (void)btz_text_fold(&view->bytes, btz_buf_view(part));
        if (view->bytes.len == before) {
            view->segments.len = segment;
        }
        btz_buf_reset(part);
    }
}

static void put_token(struct view *view, struct btz_buf *part, bool *pending, struct btz_str source,
                      size_t from, size_t to)
{
    struct btz_str token = btz_str_sub(source, from, to - from);
    bool disguised = is_disguised(token);
    size_t first = 0;

    for (size_t at = 0; at < token.len;) {
        uint32_t code;
        uint32_t latin;
        size_t len = btz_text_next(token, at, &code);

        if (btz_text_is_space(code)) {
            put_folded(view, part, pending, from + first, from + at);
            *pending = true;
            first = at + len;
        } else if (code >= 0x20 && code != 0x7F && !btz_text_is_invisible(code)) {
            latin = disguised ? btz_guard_lookalike(code) : 0;
            btz_text_put(part, latin ? latin : plain_punctuation(code));
        }
        at += len;
    }
    put_folded(view, part, pending, from + first, to);
}

/* End of the words of ASCII, with single spaces between, that begin at `at`; `at` if the first is
 * not all ASCII. */
static size_t words_end(struct btz_str s, size_t at)
{
    size_t done = at;

    for (;; at++) {
        unsigned char c = at < s.len ? (unsigned char)s.ptr[at] : ' ';

        if (c >= 0x80) {
            return done;
        }
        if (ascii_space(c)) {
            done = at;
            if (c != ' ' || at + 1 >= s.len || ascii_space((unsigned char)s.ptr[at + 1])) {
                return done;
            }
        }
    }
}

static size_t token_end(struct btz_str s, size_t at)
{
    size_t end = at;

    while (end < s.len && end - at < TOKEN_MAX && !ascii_space((unsigned char)s.ptr[end])) {
        end++;
    }
    /* Not in the middle of a character. */
    for (unsigned i = 0;
         i < 3 && end < s.len && end - at > 4 && ((unsigned char)s.ptr[end] & 0xC0) == 0x80; i++) {
        end--;
    }
    return end;
}

void btz_guard_view_folded(struct view *view, struct btz_str source)
{
    struct btz_buf part;
    bool pending = false;
    size_t at = 0;

    btz_buf_init(&part, (size_t)TOKEN_MAX * 4);
    begin(view, source, FOLD_GROWTH);
    while (at < source.len) {
        size_t end;

        if (ascii_space((unsigned char)source.ptr[at])) {
            pending = true;
            at++;
            continue;
        }
        end = words_end(source, at);
        if (end > at) {
            put_space(view, &pending, at);
            put_ascii(view, source, at, end);
        } else {
            end = token_end(source, at);
            put_token(view, &part, &pending, source, at, end);
        }
        at = end;
    }
    btz_buf_fini(&part);
    view->text = btz_buf_view(&view->bytes);
}
