#include <math.h>
#include <stdio.h>
#include <time.h>

#include "report/report_int.h"

enum { NAME_WIDTH = 14 };

/* Bytes of the first character; 1 for a byte that begins none. */
static size_t char_len(struct btz_str s)
{
    unsigned char c = (unsigned char)s.ptr[0];
    size_t len = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

    for (size_t i = 1; i < len; i++) {
        if (i >= s.len || ((unsigned char)s.ptr[i] & 0xc0) != 0x80) {
            return 1;
        }
    }
    return len;
}

bool lines_cut(struct btz_str *rest, size_t width, struct btz_str *line)
{
    size_t blank = 0; /* bytes before the last blank that can end the line */
    size_t used = 0;
    size_t at = 0;

    if (!rest->ptr) {
        return false;
    }
    while (at < rest->len && rest->ptr[at] != '\n') {
        size_t len = char_len(btz_str_sub(*rest, at, rest->len));

        used += btz_term_text_width(btz_str_sub(*rest, at, len));
        if (used > width && at > 0) {
            break;
        }
        if (rest->ptr[at] == ' ' && at > 0) {
            blank = at;
        }
        at += len;
    }
    if (at == rest->len) {
        *line = *rest;
        *rest = BTZ_STR_NONE;
        return true;
    }
    if (rest->ptr[at] == '\n') {
        *line = btz_str_sub(*rest, 0, at && rest->ptr[at - 1] == '\r' ? at - 1 : at);
        *rest = (struct btz_str){rest->ptr + at + 1, rest->len - at - 1};
        return true;
    }
    at = rest->ptr[at] == ' ' || !blank ? at : blank;
    *line = btz_str_sub(*rest, 0, at);
    at += rest->ptr[at] == ' ';
    *rest = (struct btz_str){rest->ptr + at, rest->len - at};
    return true;
}

static size_t room(const struct btz_term *term, size_t indent)
{
    return term->width > indent + 20 ? term->width - indent : 20;
}

void lines_field(struct btz_buf *out, const struct btz_term *term, const char *name,
                 struct btz_str value)
{
    size_t indent = NAME_WIDTH + 4;
    struct btz_str line;
    bool first = true;

    while (lines_cut(&value, room(term, indent), &line)) {
        (void)btz_buf_printf(out, "  %-*s  ", NAME_WIDTH, first ? name : "");
        (void)btz_term_add_text(out, line, room(term, indent));
        (void)btz_buf_add_byte(out, '\n');
        first = false;
    }
}

void lines_text(struct btz_buf *out, const struct btz_term *term, size_t indent,
                enum btz_colour colour, struct btz_str text)
{
    struct btz_str line;

    while (lines_cut(&text, room(term, indent), &line)) {
        (void)btz_buf_printf(out, "%*s", (int)indent, "");
        if (term->colour) {
            btz_term_colour_on(out, colour);
        }
        (void)btz_term_add_text(out, line, room(term, indent));
        if (term->colour) {
            btz_term_colour_off(out, colour);
        }
        (void)btz_buf_add_byte(out, '\n');
    }
}

struct btz_str text_time(struct btz_arena *arena, int64_t us)
{
    time_t seconds = (time_t)(us / 1000000);
    struct tm tm;
    char text[64];

    if (!gmtime_r(&seconds, &tm) ||
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm) == 0) {
        return BTZ_STR("unknown");
    }
    return btz_arena_dup(arena, btz_str_of(text));
}

double number_near(double value, double half)
{
    return fabs(value) < half ? 0 : value;
}

/* In per cent, as it is printed with one digit. */
static double hundredfold(double share)
{
    return number_near(100 * share, 0.05);
}

struct btz_str text_percent(struct btz_arena *arena, double share)
{
    return isnan(share) ? BTZ_STR("-") : btz_arena_printf(arena, "%.1f%%", hundredfold(share));
}

struct btz_str text_interval(struct btz_arena *arena, struct btz_interval i)
{
    return i.status == BTZ_INTERVAL_OK
               ? btz_arena_printf(arena, "[%.1f, %.1f]", hundredfold(i.lo), hundredfold(i.hi))
               : BTZ_STR("-");
}

struct btz_str text_seconds(struct btz_arena *arena, int64_t us)
{
    return btz_arena_printf(arena, "%.1f s", (double)us / 1e6);
}

struct btz_str text_points(struct btz_arena *arena, double share)
{
    return isnan(share) ? BTZ_STR("-") : btz_arena_printf(arena, "%+.1f", hundredfold(share));
}

struct btz_str text_points_interval(struct btz_arena *arena, struct btz_interval i)
{
    return i.status != BTZ_INTERVAL_OK
               ? BTZ_STR("-")
               : btz_arena_printf(arena, "[%+.1f, %+.1f]", hundredfold(i.lo), hundredfold(i.hi));
}

struct btz_str text_p(struct btz_arena *arena, double p)
{
    return isnan(p)     ? BTZ_STR("-")
           : p < 0.0001 ? BTZ_STR("<0.0001")
                        : btz_arena_printf(arena, "%.4f", p);
}
