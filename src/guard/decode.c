/* Encoded runs: base64, hexadecimal, escapes, letters one by one. A run is decoded only if what
 * comes out is text, and then scanned like any other; one pass over the bytes finds all kinds. */
#include "guard/guard_int.h"
#include "text/fold.h"

enum {
    BASE64_MIN = 24,      /* characters: 18 bytes */
    BASE64_LINE_MIN = 60, /* a line break inside a run comes after at least so many */
    HEX_MIN = 32,         /* digits: 16 bytes */
    PAIRS_MIN = 12,       /* hexadecimal pairs with a space or such between */
    ESCAPES_MIN = 6,
    ESCAPE_GAP = 16,  /* plain bytes between two escapes of one run */
    LETTERS_MIN = 10, /* written one by one */
    GAP_MAX = 3,
    PROBE = 24,     /* decoded bytes that must all be text before the rest is decoded */
    SIGNAL_MIN = 20 /* weight of what was found inside that makes the encoding a signal too */
};

static int byte_at(struct btz_str s, size_t at)
{
    return at < s.len ? (unsigned char)s.ptr[at] : -1;
}

/* 1 + the value of each digit of base 64, of both alphabets; a table, because every byte of every
 * text is looked up. */
static const unsigned char base64_digits[256] = {
    ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,  ['H'] = 8,
    ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16,
    ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
    ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32,
    ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
    ['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
    ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
    ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63, ['-'] = 63,
    ['/'] = 64, ['_'] = 64,
};

static int base64_value(int c)
{
    return c < 0 ? -1 : base64_digits[c] - 1;
}

static bool is_letter(int c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* Text of any script; bytes that are no UTF-8 are none. A character cut at the end is. */
static bool is_text(struct btz_str s)
{
    for (size_t at = 0; at < s.len;) {
        uint32_t code;
        size_t len = btz_text_next(s, at, &code);

        if (code == 0xFFFD && len == 1) {
            return s.len - at < 4 && at > 0 && (unsigned char)s.ptr[at] >= 0xC2;
        }
        if ((code < 0x20 && !(code >= '\t' && code <= '\r')) || code == 0x7F) {
            return false;
        }
        at += len;
    }
    return true;
}

/* What lies behind the last good byte of a decoding is left out. */
static void deliver(struct btz_guard_scanner *s, const struct layer *layer, const char *encoding,
                    struct btz_buf *out, size_t begin, size_t end)
{
    struct btz_str text = btz_buf_view(out);
    unsigned added;

    if (btz_buf_status(out)) {
        s->complete = false;
        return;
    }
    added = btz_guard_scan_decoded(s, layer, encoding, text, begin, end);
    if (added >= SIGNAL_MIN) {
        btz_guard_note_detector(s, layer, DETECT_ENCODED, begin, end);
    }
}

/* Decodes [at, end) from digit `phase` on until `max` bytes are made. */
static void base64(struct btz_buf *out, struct btz_str s, size_t at, size_t end, unsigned phase,
                   size_t max)
{
    uint32_t bits = 0;
    unsigned have = 0;

    for (; at < end && out->len < max; at++) {
        int value = base64_value(byte_at(s, at));

        if (value < 0) { /* line break */
            continue;
        }
        if (phase) {
            phase--;
            continue;
        }
        bits = bits << 6 | (uint32_t)value;
        have += 6;
        if (have >= 8) {
            have -= 8;
            (void)btz_buf_add_byte(out, (char)(bits >> have & 0xFF));
        }
    }
}

static void hex(struct btz_buf *out, struct btz_str s, size_t at, size_t end, unsigned phase,
                size_t max)
{
    for (at += phase; at + 2 <= end && out->len < max; at += 2) {
        (void)btz_buf_add_byte(
            out, (char)(btz_hex_value(byte_at(s, at)) * 16 + btz_hex_value(byte_at(s, at + 1))));
    }
}

static bool all_hex(struct btz_str s, size_t at, size_t end)
{
    while (at < end && btz_hex_value(byte_at(s, at)) >= 0) {
        at++;
    }
    return at == end;
}

/* A run of digits of base 64 (and perhaps of base 16). */
static void digits_run(struct btz_guard_scanner *s, const struct layer *layer, size_t begin,
                       size_t end)
{
    struct btz_buf *out = &s->decoded[layer->depth];
    bool is_hex = end - begin >= HEX_MIN && all_hex(layer->text, begin, end);
    unsigned phases = is_hex ? 2 : 4;

    for (unsigned phase = 0; phase < phases; phase++) {
        void (*decode)(struct btz_buf *, struct btz_str, size_t, size_t, unsigned, size_t) =
            is_hex ? hex : base64;

        btz_buf_reset(out);
        decode(out, layer->text, begin, end, phase, PROBE);
        if (out->len < PROBE / 2 || !is_text(btz_buf_view(out))) {
            continue;
        }
        btz_buf_reset(out);
        decode(out, layer->text, begin, end, phase, SIZE_MAX);
        deliver(s, layer, is_hex ? "hex" : "base64", out, begin, end);
        return;
    }
}

/* Length of the escape at `at`: %XX, \xXX, \uXXXX, &#N; or &#xN; 0 if there is none. `byte` is
 * true for the forms that stand for a byte. */
static size_t escape(struct btz_str s, size_t at, uint32_t *code, bool *byte)
{
    int c = byte_at(s, at);
    unsigned base = 16;
    size_t from;
    size_t most;
    size_t i = 0;

    *byte = c == '%' || (c == '\\' && byte_at(s, at + 1) == 'x');
    if (c == '%') {
        from = at + 1;
        most = 2;
    } else if (c == '\\' && (byte_at(s, at + 1) == 'x' || byte_at(s, at + 1) == 'u')) {
        from = at + 2;
        most = *byte ? 2 : 4;
    } else if (c == '&' && byte_at(s, at + 1) == '#') {
        base = (byte_at(s, at + 2) | 0x20) == 'x' ? 16 : 10;
        from = at + (base == 16 ? 3 : 2);
        most = 0;
    } else {
        return 0;
    }
    *code = 0;
    for (; i < (most ? most : 7); i++) {
        int value = btz_hex_value(byte_at(s, from + i));

        if (value < 0 || value >= (int)base) {
            break;
        }
        *code = *code * base + (uint32_t)value;
    }
    if (most) {
        return i == most ? from + i - at : 0;
    }
    return i ? from + i + (byte_at(s, from + i) == ';') - at : 0;
}

/* Escapes with little between them, from the one at `at` on; returns where the run ends. */
static size_t escapes_run(struct btz_guard_scanner *s, const struct layer *layer, size_t at)
{
    struct btz_buf *out = &s->decoded[layer->depth];
    size_t begin = at;
    size_t end = at;
    size_t keep = 0; /* bytes made up to `end` */
    size_t count = 0;
    bool percent = byte_at(layer->text, at) == '%';

    btz_buf_reset(out);
    while (at < layer->text.len && at - end <= ESCAPE_GAP) {
        uint32_t code = 0;
        bool byte = false;
        size_t len = escape(layer->text, at, &code, &byte);

        if (len) {
            if (byte) {
                (void)btz_buf_add_byte(out, (char)code);
            } else {
                btz_text_put(out, code);
            }
            count++;
            at += len;
            end = at;
            keep = out->len;
        } else {
            char c = layer->text.ptr[at++];

            (void)btz_buf_add_byte(out, percent && c == '+' ? ' ' : c);
        }
    }
    /* The last word may go on in plain letters. */
    while (end < layer->text.len && is_letter(byte_at(layer->text, end)) && keep < out->len) {
        end++;
        keep++;
    }
    if (count < ESCAPES_MIN) {
        return end > begin ? end : begin + 1;
    }
    if (!btz_buf_status(out)) {
        out->len = keep;
    }
    deliver(s, layer, percent ? "percent" : "escapes", out, begin, end);
    return end;
}

/* "69 67 6e": pairs with one separator. `at` is at the first pair. Returns the end. */
static size_t pairs_run(struct btz_guard_scanner *s, const struct layer *layer, size_t at)
{
    struct btz_buf *out = &s->decoded[layer->depth];
    struct btz_str text = layer->text;
    int separator = byte_at(text, at + 2);
    size_t begin = at;
    size_t count = 0;

    btz_buf_reset(out);
    for (;;) {
        if (btz_hex_value(byte_at(text, at)) < 0 || btz_hex_value(byte_at(text, at + 1)) < 0 ||
            base64_value(byte_at(text, at + 2)) >= 0) {
            break;
        }
        hex(out, text, at, at + 2, 0, SIZE_MAX);
        count++;
        at += 2;
        if (byte_at(text, at) != separator || separator < 0) {
            break;
        }
        at++;
    }
    if (count >= PAIRS_MIN && is_text(btz_buf_view(out))) {
        deliver(s, layer, "hex", out, begin, at);
    }
    return at > begin ? at : begin + 1;
}

/* "i g n o r e": the letter at `at` and those that follow, each behind the same separator; two or
 * three of them divide words. Returns the end. */
static size_t letters_run(struct btz_guard_scanner *s, const struct layer *layer, size_t at)
{
    struct btz_buf *out = &s->decoded[layer->depth];
    struct btz_str text = layer->text;
    int separator = byte_at(text, at + 1);
    size_t begin = at;
    size_t end = at + 1;
    size_t count = 1;

    btz_buf_reset(out);
    (void)btz_buf_add_byte(out, text.ptr[at]);
    for (at++;;) {
        size_t gap = 0;

        while (gap < GAP_MAX && byte_at(text, at + gap) == separator) {
            gap++;
        }
        at += gap;
        if (gap == 0 || base64_value(byte_at(text, at)) < 0 ||
            base64_value(byte_at(text, at + 1)) >= 0) {
            break;
        }
        if (gap > 1) {
            (void)btz_buf_add_byte(out, ' ');
        }
        (void)btz_buf_add_byte(out, text.ptr[at]);
        count += is_letter(byte_at(text, at));
        end = ++at;
    }
    if (count >= LETTERS_MIN) {
        btz_guard_note_detector(s, layer, DETECT_SPACED, begin, end);
        deliver(s, layer, "spaced", out, begin, end);
    }
    return end;
}

/* End of the run of base-64 digits at `at`; line breaks behind long lines belong to it. */
static size_t digits_end(struct btz_str s, size_t at)
{
    size_t line = at;

    for (;; at++) {
        while (at < s.len && base64_digits[(unsigned char)s.ptr[at]]) {
            at++;
        }
        if (at - line >= BASE64_LINE_MIN) {
            size_t skip = byte_at(s, at) == '\r' ? 1 : 0;

            if (byte_at(s, at + skip) == '\n' && base64_value(byte_at(s, at + skip + 1)) >= 0) {
                at += skip;
                line = at + 1;
                continue;
            }
        }
        return at;
    }
}

void btz_guard_detect_encoded(struct btz_guard_scanner *s, const struct layer *layer)
{
    struct btz_str text = layer->text;
    size_t at = 0;

    if (layer->depth >= ENCODED_LAYERS) {
        return;
    }
    s->decoded[layer->depth].max = text.len * 4 + 64;
    while (at < text.len) {
        int c = (unsigned char)text.ptr[at];
        size_t end;

        if (base64_value(c) < 0) {
            at = c == '%' || c == '\\' || c == '&' ? escapes_run(s, layer, at) : at + 1;
            continue;
        }
        end = digits_end(text, at);
        if (end - at >= BASE64_MIN) {
            digits_run(s, layer, at, end);
        } else if (end - at == 1 && is_letter(c) && strchr(" .-_*|", byte_at(text, end)) &&
                   byte_at(text, end) > 0) {
            end = letters_run(s, layer, at);
        } else if (end - at == 2 && btz_hex_value(c) >= 0 &&
                   btz_hex_value(byte_at(text, at + 1)) >= 0 && byte_at(text, end) > 0 &&
                   strchr(" :,", byte_at(text, end))) {
            end = pairs_run(s, layer, at);
        }
        at = end;
    }
}
