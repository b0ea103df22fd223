/* Labels of people, from a CSV file (RFC 4180). */
#include <stdlib.h>

#include "judge/judge_int.h"

enum { COLUMNS_MAX = 32, COLUMNS_READ = 3, FIELD_MAX = 64 * 1024 };

struct reader {
    struct btz_arena *arena;
    struct btz_str text;
    size_t at;
    int64_t line; /* where the row begins */
    int64_t next_line;
    struct btz_err *err;
};

static int wrong(struct reader *r, const char *what)
{
    return btz_err_set(r->err, BTZ_EINVAL, "line %lld: %s", (long long)r->line, what);
}

static bool at_line_end(const struct reader *r)
{
    char c = r->at < r->text.len ? r->text.ptr[r->at] : '\n';

    return c == '\n' || (c == '\r' && r->at + 1 < r->text.len && r->text.ptr[r->at + 1] == '\n');
}

static int quoted(struct reader *r, struct btz_str *out)
{
    struct btz_buf field;
    bool closed = false;
    int rc = BTZ_OK;

    btz_buf_init(&field, FIELD_MAX);
    for (r->at++; r->at < r->text.len && !closed; r->at++) {
        char c = r->text.ptr[r->at];

        if (c == '"' && r->at + 1 < r->text.len && r->text.ptr[r->at + 1] == '"') {
            r->at++;
        } else if (c == '"') {
            closed = true;
            continue;
        }
        r->next_line += c == '\n';
        (void)btz_buf_add_byte(&field, c);
    }
    if (!closed || btz_buf_status(&field) != BTZ_OK) {
        rc = wrong(r, closed ? "a field is too long" : "a quoted field is not closed");
    } else {
        *out = btz_arena_dup(r->arena, btz_buf_view(&field));
    }
    btz_buf_fini(&field);
    return rc;
}

static int field(struct reader *r, struct btz_str *out)
{
    size_t begin = r->at;

    if (r->at < r->text.len && r->text.ptr[r->at] == '"') {
        return quoted(r, out);
    }
    while (!at_line_end(r) && r->text.ptr[r->at] != ',') {
        if (r->text.ptr[r->at] == '"') {
            return wrong(r, "a quotation mark inside a field that is not quoted");
        }
        r->at++;
    }
    if (r->at - begin > FIELD_MAX) {
        return wrong(r, "a field is too long");
    }
    *out = btz_arena_dup(r->arena, (struct btz_str){r->text.ptr + begin, r->at - begin});
    return BTZ_OK;
}

/* 1 and the fields of the next row, 0 at the end of the text, or an error. */
static int next_row(struct reader *r, struct btz_str *fields, size_t *count)
{
    if (r->at >= r->text.len) {
        return 0;
    }
    r->line = r->next_line;
    for (*count = 0; true; r->at++) {
        int rc;

        if (*count == COLUMNS_MAX) {
            return wrong(r, "over 32 columns");
        }
        rc = field(r, &fields[(*count)++]);
        if (rc != BTZ_OK) {
            return rc;
        }
        if (at_line_end(r)) {
            break;
        }
        if (r->text.ptr[r->at] != ',') {
            return wrong(r, "text behind a quoted field");
        }
    }
    r->at += r->at < r->text.len && r->text.ptr[r->at] == '\r' ? 2 : 1;
    r->next_line++;
    return 1;
}

static int read_head(struct reader *r, size_t *width)
{
    static const char *const names[COLUMNS_READ] = {"trial", "success", "labeller"};
    struct btz_str fields[COLUMNS_MAX];
    int rc = next_row(r, fields, width);

    if (rc < 0) {
        return rc;
    }
    r->line = 1;
    for (size_t i = 0; i < COLUMNS_READ; i++) {
        if (rc == 0 || i >= *width || !btz_str_is(fields[i], names[i])) {
            return wrong(r, "the head line must begin with trial,success,labeller");
        }
    }
    return BTZ_OK;
}

static int trial_of(struct reader *r, struct btz_str text, struct btz_str run, int64_t *out)
{
    struct btz_str rest = text;
    struct btz_str id = BTZ_STR_NONE;

    if (btz_str_find(text, BTZ_STR("/")) >= 0) {
        (void)btz_str_cut(&rest, '/', &id);
        if (run.len && !btz_str_eq(id, run)) {
            return btz_err_set(r->err, BTZ_EINVAL, "line %lld: a trial of run %.*s, not of %.*s",
                               (long long)r->line, BTZ_FMT(id), BTZ_FMT(run));
        }
    }
    if (btz_str_int64(rest, out) != BTZ_OK || *out < 1) {
        return wrong(r, "trial must be a number from 1 on, or RUN/N");
    }
    return BTZ_OK;
}

static int success_of(struct reader *r, struct btz_str text, bool *out)
{
    static const struct {
        const char *word;
        bool value;
    } words[] = {{"yes", true},    {"no", false}, {"true", true},
                 {"false", false}, {"1", true},   {"0", false}};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (btz_str_is(text, words[i].word)) {
            *out = words[i].value;
            return BTZ_OK;
        }
    }
    return wrong(r, "success must be yes or no (or empty: not labelled yet)");
}

static int by_trial(const void *a, const void *b)
{
    const struct btz_judge_label *x = a;
    const struct btz_judge_label *y = b;

    return x->trial != y->trial ? (x->trial < y->trial ? -1 : 1)
                                : btz_str_cmp(x->labeller, y->labeller);
}

/* Sorts by trial; one person has one opinion of a trial. */
static int check_twice(struct reader *r, struct btz_judge_label *labels, size_t count)
{
    if (count) { /* qsort takes no NULL */
        qsort(labels, count, sizeof(*labels), by_trial);
    }
    for (size_t i = 1; i < count; i++) {
        if (by_trial(&labels[i - 1], &labels[i]) == 0) {
            r->line = labels[i].line > labels[i - 1].line ? labels[i].line : labels[i - 1].line;
            return wrong(r, "this labeller has labelled this trial in an earlier line");
        }
    }
    return BTZ_OK;
}

static int read_row(struct reader *r, const struct btz_str *fields, struct btz_str run,
                    struct btz_judge_label *out)
{
    int rc = trial_of(r, fields[0], run, &out->trial);

    if (rc == BTZ_OK) {
        rc = success_of(r, fields[1], &out->success);
    }
    out->labeller = btz_str_trim(fields[2]);
    out->line = r->line;
    if (rc == BTZ_OK && out->labeller.len == 0) {
        rc = wrong(r, "no labeller is named");
    }
    if (rc == BTZ_OK &&
        (out->labeller.len > 200 || btz_store_clip(out->labeller).len != out->labeller.len)) {
        rc = wrong(r, "the labeller's name must be UTF-8 of at most 200 bytes");
    }
    return rc;
}

int btz_judge_labels_read(struct btz_arena *arena, struct btz_str text, struct btz_str run,
                          struct btz_judge_label **out, size_t *count, size_t *unlabelled,
                          struct btz_err *err)
{
    struct reader r = {.arena = arena, .text = text, .next_line = 1, .err = err};
    struct btz_judge_label *labels = NULL;
    struct btz_str fields[COLUMNS_MAX];
    size_t cap = 0;
    size_t used = 0;
    size_t empty = 0;
    size_t width = 0;
    size_t got = 0;
    int rc;

    if (btz_str_starts(text, BTZ_STR("\xef\xbb\xbf"))) {
        r.at = 3; /* a byte order mark, as spreadsheets write it */
    }
    rc = read_head(&r, &width);
    if (rc != BTZ_OK) {
        return rc;
    }
    while ((rc = next_row(&r, fields, &got)) == 1) {
        if (got == 1 && btz_str_trim(fields[0]).len == 0) {
            continue; /* an empty line */
        }
        if (got != width) {
            return wrong(&r, "not as many columns as the head line");
        }
        if (btz_str_trim(fields[1]).len == 0) {
            empty++;
            continue;
        }
        if (used == BTZ_JUDGE_MAX_LABELS) {
            return btz_err_set(err, BTZ_ELIMIT, "over %d labels", BTZ_JUDGE_MAX_LABELS);
        }
        labels = btz_arena_grow(arena, labels, used, &cap, sizeof(*labels));
        rc = read_row(&r, fields, run, &labels[used]);
        if (rc != BTZ_OK) {
            return rc;
        }
        used++;
    }
    if (rc == BTZ_OK) {
        rc = check_twice(&r, labels, used);
    }
    if (rc == BTZ_OK) {
        *out = labels;
        *count = used;
        *unlabelled = empty;
    }
    return rc;
}

void btz_judge_csv_field(struct btz_buf *out, struct btz_str field)
{
    bool quote = false;

    for (size_t i = 0; i < field.len; i++) {
        quote |= field.ptr[i] == ',' || field.ptr[i] == '"' || field.ptr[i] == '\n' ||
                 field.ptr[i] == '\r';
    }
    if (!quote) {
        (void)btz_buf_add_str(out, field);
        return;
    }
    (void)btz_buf_add_byte(out, '"');
    for (size_t i = 0; i < field.len; i++) {
        if (field.ptr[i] == '"') {
            (void)btz_buf_add_byte(out, '"');
        }
        (void)btz_buf_add_byte(out, field.ptr[i]);
    }
    (void)btz_buf_add_byte(out, '"');
}
