/* Inside the report room: what the forms of `show` share. */
#ifndef BTZ_REPORT_SHOW_INT_H
#define BTZ_REPORT_SHOW_INT_H

#include "report/report_int.h"
#include "report/show.h"

/* ---- show_run.c ---- */

/* Loads trial `n`; BTZ_ENOTFOUND names the range of numbers. */
int show_load(struct btz_store *store, int64_t no, int64_t n, struct btz_arena *arena,
              struct btz_store_run *run, struct btz_store_row *row,
              struct btz_err *err) BTZ_WARN_UNUSED;

/* ---- show_event.c ---- */

struct trajectory {
    const struct btz_show_options *options;
    const struct btz_store_trial *trial;
    struct btz_arena *arena;
    struct btz_buf *out;
    int32_t turn;   /* of the last heading */
    bool hidden;    /* the last entry was one that the model did not see */
    bool shortened; /* a text was cut */
    bool left_out;  /* an event stands in the verbose form only */
};

void show_events(struct trajectory *t);

/* JSON with a blank after each comma, where a line can be broken. */
struct btz_str show_spaced(struct btz_arena *arena, const struct btz_json *value);

/* ---- show_trial.c ---- */

/* "susceptible: the attack succeeded: ...", of a twin what it means there. */
struct btz_str show_outcome(struct btz_arena *arena, const struct btz_store_row *row);
/* How far a payload came on its way through the memory, in words. */
struct btz_str show_memory(struct btz_str stage);

/* ---- story_write.c: one text in two forms ---- */

struct pen {
    struct btz_arena *arena;
    struct btz_buf *out;
    const struct btz_term *term; /* of the terminal's form */
    bool markdown;
};

void pen_title(struct pen *pen, struct btz_str text);
void pen_heading(struct pen *pen, const char *text);
void pen_paragraph(struct pen *pen, struct btz_str text);
/* A text from outside, or a call, kept line by line. */
void pen_quote(struct pen *pen, struct btz_str text);
void pen_item(struct pen *pen, struct btz_str text);
/* A row of `count` cells; the first row holds the titles. */
void pen_table(struct pen *pen, const struct btz_str *cells, size_t count, size_t rows);
/* A name or value from outside, to stand inside a paragraph, an item or a cell. */
struct btz_str pen_code(const struct pen *pen, struct btz_str text);
/* A sentence from outside, to stand there as text. */
struct btz_str pen_text(const struct pen *pen, struct btz_str text);

#endif
