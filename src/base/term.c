#include "base/term.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_MIN 20
#define WIDTH_MAX 1000
#define REPLACEMENT 0xFFFD

void btz_term_probe(struct btz_term *term, int fd, bool no_colour)
{
    const char *no_color = getenv("NO_COLOR");
    const char *name = getenv("TERM");
    struct winsize size = {0};
    unsigned width = BTZ_TERM_WIDTH;

    term->is_terminal = isatty(fd) == 1;
    if (term->is_terminal && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        width = size.ws_col;
    }
    term->width = width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
    term->can_redraw = term->is_terminal && name && *name && strcmp(name, "dumb") != 0;
    term->colour = term->can_redraw && !no_colour && !(no_color && *no_color);
}

/* Takes one character off the front. Not UTF-8 (RFC 3629: overlong, surrogate, too large, cut off):
 * REPLACEMENT for one byte. */
static uint32_t take_char(struct btz_str *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)text->ptr;
    uint32_t c = p[0];
    size_t len = c < 0x80 ? 1 : c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
    bool good = c < 0x80 || (c >= 0xC2 && c <= 0xF4 && len <= text->len);

    if (good && len > 1) {
        c &= 0xFFU >> (len + 1);
        for (size_t i = 1; i < len; i++) {
            good = good && (p[i] & 0xC0) == 0x80;
            c = c << 6 | (p[i] & 0x3FU);
        }
        good = good && c >= least[len] && c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF);
    }
    if (!good) {
        c = REPLACEMENT;
        len = 1;
    }
    text->ptr += len;
    text->len -= len;
    return c;
}

/* The character that is written in the place of `c`. */
static uint32_t harmless(uint32_t c)
{
    if (c == '\t') {
        return ' ';
    }
    if (c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E || c == 0x200F ||
        (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069)) {
        return REPLACEMENT;
    }
    return c;
}

static size_t char_width(uint32_t c)
{
    static const struct {
        uint32_t first, last;
        size_t width;
    } ranges[] = {
        {0x0300, 0x036F, 0},   {0x0483, 0x0489, 0},   {0x0591, 0x05BD, 0},   {0x064B, 0x065F, 0},
        {0x1100, 0x115F, 2},   {0x1AB0, 0x1AFF, 0},   {0x1DC0, 0x1DFF, 0},   {0x200B, 0x200D, 0},
        {0x2060, 0x2064, 0},   {0x20D0, 0x20FF, 0},   {0x2E80, 0x303E, 2},   {0x3041, 0x4DBF, 2},
        {0x4E00, 0xA4CF, 2},   {0xA960, 0xA97F, 2},   {0xAC00, 0xD7A3, 2},   {0xF900, 0xFAFF, 2},
        {0xFE00, 0xFE0F, 0},   {0xFE20, 0xFE2F, 0},   {0xFE30, 0xFE6F, 2},   {0xFEFF, 0xFEFF, 0},
        {0xFF00, 0xFF60, 2},   {0xFFE0, 0xFFE6, 2},   {0x1F300, 0x1F64F, 2}, {0x1F680, 0x1F6FF, 2},
        {0x1F900, 0x1FAFF, 2}, {0x20000, 0x3FFFD, 2}, {0xE0000, 0xE0FFF, 0},
    };

    for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
        if (c >= ranges[i].first && c <= ranges[i].last) {
            return ranges[i].width;
        }
    }
    return 1;
}

size_t btz_term_text_width(struct btz_str text)
{
    size_t width = 0;

    while (text.len) {
        width += char_width(harmless(take_char(&text)));
    }
    return width;
}

static void add_char(struct btz_buf *out, uint32_t c)
{
    char bytes[4];
    size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};

    for (size_t i = len - 1; i > 0; i--) {
        bytes[i] = (char)(0x80 | (c & 0x3F));
        c >>= 6;
    }
    bytes[0] = (char)(lead[len] | c);
    btz_buf_add(out, bytes, len);
}

void btz_term_add_json(struct btz_buf *out, struct btz_str text)
{
    while (text.len) {
        const char *begin = text.ptr;
        uint32_t c = take_char(&text);

        if (c != '\n' && c < 0x10000 && harmless(c) != c) {
            (void)btz_buf_printf(out, "\\u%04x", (unsigned)c);
        } else {
            (void)btz_buf_add(out, begin, (size_t)(text.ptr - begin));
        }
    }
}

size_t btz_term_add_text(struct btz_buf *out, struct btz_str text, size_t max_width)
{
    bool cut = btz_term_text_width(text) > max_width;
    size_t room = cut && max_width ? max_width - 1 : max_width;
    size_t width = 0;

    while (text.len) {
        uint32_t c = harmless(take_char(&text));

        if (width + char_width(c) > room) {
            break;
        }
        width += char_width(c);
        add_char(out, c);
    }
    if (cut && max_width) {
        btz_buf_add_byte(out, '.');
        width++;
    }
    return width;
}

void btz_term_colour_on(struct btz_buf *out, enum btz_colour colour)
{
    switch (colour) {
    case BTZ_COLOUR_NONE:
        return;
    case BTZ_COLOUR_BOLD:
        btz_buf_add_text(out, "\033[1m");
        return;
    case BTZ_COLOUR_DIM:
        btz_buf_add_text(out, "\033[2m");
        return;
    case BTZ_COLOUR_RED:
        btz_buf_add_text(out, "\033[31m");
        return;
    case BTZ_COLOUR_GREEN:
        btz_buf_add_text(out, "\033[32m");
        return;
    case BTZ_COLOUR_YELLOW:
        btz_buf_add_text(out, "\033[33m");
        return;
    }
}

void btz_term_colour_off(struct btz_buf *out, enum btz_colour colour)
{
    if (colour != BTZ_COLOUR_NONE) {
        btz_buf_add_text(out, "\033[0m");
    }
}
