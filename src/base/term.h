/* What a person at a terminal sees: facts about the terminal, tables, and the progress line.
 * Everything is written into a btz_buf; only btz_term_probe touches the outside. */
#ifndef BTZ_BASE_TERM_H
#define BTZ_BASE_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

#define BTZ_TERM_WIDTH 80 /* where the width is unknown */

struct btz_term {
    bool is_terminal;
    bool can_redraw; /* a terminal that knows carriage return and "erase line" */
    bool colour;
    unsigned width; /* columns, 20 to 1000 */
};

/* Facts about `fd`. Colours are allowed on a terminal unless `no_colour` (the option), NO_COLOR is
 * set and not empty (https://no-color.org), or TERM is unset, empty or "dumb". Not for use while
 * another thread changes the environment. */
void btz_term_probe(struct btz_term *term, int fd, bool no_colour);

/* Columns that `text` takes when written by btz_term_add_text. A table of common wide (East Asian,
 * emoji) and combining characters; not a full Unicode width. */
size_t btz_term_text_width(struct btz_str text);

/* Adds a JSON text (UTF-8) so that it cannot steer the terminal either: what btz_term_add_text
 * replaces is written as an escape of JSON, so the value stays what it was. */
void btz_term_add_json(struct btz_buf *out, struct btz_str text);

/* Adds text from outside so that it cannot steer the terminal: control characters (C0, DEL, C1),
 * bidirectional controls, line separators and bytes that are not UTF-8 become U+FFFD, a tab one
 * blank. At most `max_width` columns; what is cut off is shown by a last ".". Returns the columns
 * written. */
size_t btz_term_add_text(struct btz_buf *out, struct btz_str text, size_t max_width);

enum btz_colour {
    BTZ_COLOUR_NONE,
    BTZ_COLOUR_BOLD,
    BTZ_COLOUR_DIM,
    BTZ_COLOUR_RED,
    BTZ_COLOUR_GREEN,
    BTZ_COLOUR_YELLOW
};

/* Adds the escape sequence that turns `colour` on, and off again; "" for NONE. */
void btz_term_colour_on(struct btz_buf *out, enum btz_colour colour);
void btz_term_colour_off(struct btz_buf *out, enum btz_colour colour);

/* ---- Tables ---- */

#define BTZ_TABLE_CELLS_MAX 1000000
#define BTZ_TABLE_CELL_WIDTH_MAX 200 /* columns; longer cells are cut */

enum btz_align { BTZ_ALIGN_LEFT, BTZ_ALIGN_RIGHT };

struct btz_column {
    const char *title;
    enum btz_align align;
};

struct btz_table;

/* `columns` (count >= 1) and their titles must outlive the table. */
struct btz_table *btz_table_new(const struct btz_column *columns, size_t count);
void btz_table_free(struct btz_table *table); /* NULL is allowed */

/* Adds the next cell, left to right and row by row; the text is copied. From BTZ_TABLE_CELLS_MAX
 * on the table is failed, which btz_table_print reports. */
void btz_table_cell(struct btz_table *table, struct btz_str text, enum btz_colour colour);
void btz_table_printf(struct btz_table *table, enum btz_colour colour, const char *fmt, ...)
    BTZ_PRINTF(3, 4);

/* Fills the current row with empty cells and draws a rule under it. */
void btz_table_rule(struct btz_table *table);

/* Writes titles, an underline and the rows; columns are two blanks apart, lines have no blanks at
 * their end. Cells pass through btz_term_add_text. A row that is not complete is filled with empty
 * cells. Returns 0, or BTZ_ELIMIT (too many cells, or `out` is full). */
int btz_table_print(const struct btz_table *table, bool colour,
                    struct btz_buf *out) BTZ_WARN_UNUSED;

/* ---- Progress ---- */

/* One line that shows how far a long operation is. Where lines can be redrawn it is drawn at most
 * ten times a second; elsewhere it is a plain line every ten seconds; with `quiet` nothing. All
 * times are monotonic microseconds given by the caller; a time before the last one counts as the
 * last. Fields are private. */
struct btz_progress {
    struct btz_term term;
    bool quiet;
    bool on_screen;   /* the line stands on the terminal now */
    bool wrote_plain; /* a plain line was written */
    uint64_t done_at_start;
    int64_t start_us;
    int64_t last_us;  /* latest time seen */
    int64_t drawn_us; /* when the line was last written */
    bool drawn;
    uint64_t drawn_done; /* items at that time */
};

/* `done_at_start`: items finished before (a resumed run), which do not count for the rate. */
void btz_progress_init(struct btz_progress *progress, const struct btz_term *term, bool quiet,
                       uint64_t done_at_start, int64_t now_us);

/* Adds to `out` what is to be written to stderr now, if anything. `total` 0 = unknown. `text` is a
 * short word on the current item. */
void btz_progress_update(struct btz_progress *progress, uint64_t done, uint64_t total,
                         struct btz_str text, int64_t now_us, struct btz_buf *out);

/* Adds what erases the line, so that a message can be written; an update that is due draws it
 * again. Nothing if no line is there. */
void btz_progress_clear(struct btz_progress *progress, struct btz_buf *out);

/* The end: erases the line, or writes a last plain line if there were some. */
void btz_progress_finish(struct btz_progress *progress, uint64_t done, uint64_t total,
                         int64_t now_us, struct btz_buf *out);

#endif
