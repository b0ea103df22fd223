/* Headings, paragraphs, quotes, lists and tables, for the terminal or as Markdown. */
#include "report/show_int.h"

/* Text from outside without what could steer a terminal; one line. */
static struct btz_str plain(struct btz_arena *arena, struct btz_str text)
{
    struct btz_buf out;
    struct btz_str copy;

    btz_buf_init(&out, (size_t)4 * text.len + 16);
    (void)btz_term_add_text(&out, text, SIZE_MAX);
    copy = btz_arena_dup(arena, btz_buf_view(&out));
    btz_buf_fini(&out);
    return copy;
}

static void blank_line(struct pen *pen)
{
    if (pen->out->len) {
        (void)btz_buf_add_byte(pen->out, '\n');
    }
}

void pen_title(struct pen *pen, struct btz_str text)
{
    if (pen->markdown) {
        (void)btz_buf_printf(pen->out, "# %.*s\n", BTZ_FMT(plain(pen->arena, text)));
    } else {
        lines_text(pen->out, pen->term, 0, BTZ_COLOUR_BOLD, text);
    }
}

void pen_heading(struct pen *pen, const char *text)
{
    blank_line(pen);
    if (pen->markdown) {
        (void)btz_buf_printf(pen->out, "## %s\n", text);
    } else {
        lines_text(pen->out, pen->term, 0, BTZ_COLOUR_BOLD, btz_str_of(text));
    }
}

/* What pen_code marks stands between 0x01 and 0x02 until the form is known; those two never come
 * from outside, since pen_code cleans what it takes. */
enum { CODE_BEGINS = 1, CODE_ENDS = 2 };

struct btz_str pen_code(const struct pen *pen, struct btz_str text)
{
    struct btz_str clean = plain(pen->arena, text);

    return btz_arena_printf(pen->arena, "%c%.*s%c", CODE_BEGINS, BTZ_FMT(clean), CODE_ENDS);
}

struct btz_str pen_text(const struct pen *pen, struct btz_str text)
{
    struct btz_str clean = plain(pen->arena, text);
    struct btz_buf out;
    struct btz_str copy;

    if (!pen->markdown) {
        return clean;
    }
    btz_buf_init(&out, 2 * clean.len + 16);
    for (size_t i = 0; i < clean.len; i++) {
        if (memchr("\\`*_<>[]|#", clean.ptr[i], 10)) {
            (void)btz_buf_add_byte(&out, '\\');
        }
        (void)btz_buf_add_byte(&out, clean.ptr[i]);
    }
    copy = btz_arena_dup(pen->arena, btz_buf_view(&out));
    btz_buf_fini(&out);
    return copy;
}

static size_t longest_run(struct btz_str text, char c)
{
    size_t longest = 0;
    size_t run = 0;

    for (size_t i = 0; i < text.len; i++) {
        run = text.ptr[i] == c ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

/* CommonMark: a code span is closed by a run of as many backticks; blanks beside a backtick. */
static void add_span(struct btz_buf *out, struct btz_str code, bool in_table)
{
    size_t ticks = longest_run(code, '`') + 1;
    bool pad = code.len == 0 || code.ptr[0] == '`' || code.ptr[code.len - 1] == '`';

    for (size_t i = 0; i < ticks; i++) {
        (void)btz_buf_add_byte(out, '`');
    }
    (void)btz_buf_add_text(out, pad ? " " : "");
    for (size_t i = 0; i < code.len; i++) {
        if (in_table && code.ptr[i] == '|') {
            (void)btz_buf_add_byte(out, '\\');
        }
        (void)btz_buf_add_byte(out, code.ptr[i]);
    }
    (void)btz_buf_add_text(out, pad ? " " : "");
    for (size_t i = 0; i < ticks; i++) {
        (void)btz_buf_add_byte(out, '`');
    }
}

/* The text with its marks as code spans, or as bare words; what came into it past pen_code and
 * pen_text is cleaned here. */
static struct btz_str formed(struct pen *pen, struct btz_str text, bool in_table)
{
    struct btz_buf out;
    struct btz_str copy;

    btz_buf_init(&out, (size_t)64 * 1024 * 1024);
    for (size_t i = 0; i < text.len; i++) {
        struct btz_str code;
        size_t end = i;

        while (end < text.len && text.ptr[end] != CODE_BEGINS) {
            end++;
        }
        (void)btz_term_add_text(&out, btz_str_sub(text, i, end - i), SIZE_MAX);
        if (end == text.len) {
            break;
        }
        for (i = ++end; end < text.len && text.ptr[end] != CODE_ENDS;) {
            end++;
        }
        code = plain(pen->arena, btz_str_sub(text, i, end - i));
        if (pen->markdown) {
            add_span(&out, code, in_table);
        } else {
            (void)btz_buf_add_str(&out, code);
        }
        i = end;
    }
    copy = btz_arena_dup(pen->arena, btz_buf_view(&out));
    btz_buf_fini(&out);
    return copy;
}

void pen_paragraph(struct pen *pen, struct btz_str text)
{
    struct btz_str line = formed(pen, text, false);

    if (pen->markdown) {
        (void)btz_buf_printf(pen->out, "\n%.*s\n", BTZ_FMT(line));
    } else {
        lines_text(pen->out, pen->term, 0, BTZ_COLOUR_NONE, line);
    }
}

void pen_item(struct pen *pen, struct btz_str text)
{
    struct btz_str line = formed(pen, text, false);

    if (pen->markdown) {
        (void)btz_buf_printf(pen->out, "* %.*s\n", BTZ_FMT(line));
    } else {
        lines_text(pen->out, pen->term, 2, BTZ_COLOUR_NONE, line);
    }
}

static void add_fence(struct btz_buf *out, size_t ticks)
{
    for (size_t i = 0; i < ticks; i++) {
        (void)btz_buf_add_byte(out, '`');
    }
    (void)btz_buf_add_byte(out, '\n');
}

void pen_quote(struct pen *pen, struct btz_str text)
{
    size_t width = pen->term->width > 24 ? pen->term->width - 4 : 20;
    size_t ticks = longest_run(text, '`') < 3 ? 3 : longest_run(text, '`') + 1;
    struct btz_str line;

    while (text.len && text.ptr[text.len - 1] == '\n') {
        text.len--;
    }
    if (!pen->markdown) {
        while (lines_cut(&text, width, &line)) {
            (void)btz_buf_add_text(pen->out, "  |");
            (void)btz_buf_add_text(pen->out, line.len ? " " : "");
            (void)btz_term_add_text(pen->out, line, width);
            (void)btz_buf_add_byte(pen->out, '\n');
        }
        return;
    }
    (void)btz_buf_add_byte(pen->out, '\n');
    add_fence(pen->out, ticks);
    while (btz_str_cut(&text, '\n', &line)) {
        (void)btz_term_add_text(pen->out, line, SIZE_MAX);
        (void)btz_buf_add_byte(pen->out, '\n');
    }
    add_fence(pen->out, ticks);
}

static void markdown_table(struct pen *pen, const struct btz_str *cells, size_t count, size_t rows)
{
    (void)btz_buf_add_byte(pen->out, '\n');
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < count; c++) {
            (void)btz_buf_printf(pen->out, "| %.*s ",
                                 BTZ_FMT(formed(pen, cells[r * count + c], true)));
        }
        (void)btz_buf_add_text(pen->out, "|\n");
        for (size_t c = 0; r == 0 && c < count; c++) {
            (void)btz_buf_add_text(pen->out, c + 1 < count ? "|---" : "|---|\n");
        }
    }
}

void pen_table(struct pen *pen, const struct btz_str *cells, size_t count, size_t rows)
{
    if (pen->markdown) {
        markdown_table(pen, cells, count, rows);
        return;
    }
    /* On a terminal a cell may be a sentence: each row is a list of named fields. */
    for (size_t r = 1; r < rows; r++) {
        for (size_t c = 0; c < count; c++) {
            struct btz_str cell = formed(pen, cells[r * count + c], false);

            if (c == 0) {
                lines_text(pen->out, pen->term, 2, BTZ_COLOUR_NONE, cell);
            } else if (cell.len) {
                lines_field(pen->out, pen->term, btz_arena_cstr(pen->arena, cells[c]), cell);
            }
        }
    }
}
