#include <string.h>

#include "base/term.h"
#include "report/csv.h"

/* What steers a terminal is no better in a spreadsheet: only a newline stays. */
static void add_clean(struct btz_buf *clean, struct btz_str text)
{
    struct btz_str rest = text;
    struct btz_str line;

    for (size_t n = 0; btz_str_cut(&rest, '\n', &line); n++) {
        (void)btz_buf_add_text(clean, n ? "\n" : "");
        (void)btz_term_add_text(clean, line, SIZE_MAX);
    }
}

void btz_csv_add(struct btz_buf *out, struct btz_str text)
{
    struct btz_buf clean;
    struct btz_str field;
    bool formula = text.len > 1 && memchr("=+-@", text.ptr[0], 4) != NULL;
    bool quoted = formula;

    btz_buf_init(&clean, 3 * text.len + 16);
    add_clean(&clean, text);
    field = btz_buf_view(&clean);
    for (size_t i = 0; i < field.len; i++) {
        quoted = quoted || memchr(",\"\r\n", field.ptr[i], 4) != NULL;
    }
    if (quoted) {
        (void)btz_buf_add_text(out, formula ? "\"'" : "\"");
        for (size_t i = 0; i < field.len; i++) {
            (void)btz_buf_add_text(out, field.ptr[i] == '"' ? "\"" : "");
            (void)btz_buf_add_byte(out, field.ptr[i]);
        }
        (void)btz_buf_add_byte(out, '"');
    } else {
        (void)btz_buf_add_str(out, field);
    }
    btz_buf_fini(&clean);
}
