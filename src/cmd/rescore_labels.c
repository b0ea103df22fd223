/* rescore: labels of people, and the sheet they fill in. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/clock.h"
#include "cmd/rescore.h"

enum { DEFAULT_SAMPLE = 50 };

static int line_error(struct btz_err *err, const struct btz_judge_label *label, const char *what)
{
    return btz_err_set(err, BTZ_EUSAGE, "line %lld: trial %lld %s", (long long)label->line,
                       (long long)label->trial, what);
}

/* 1: the label is stored already; 0: it is to be stored; an error if it cannot be. */
static int look(struct rescore *r, const struct btz_judge_label *label, struct btz_arena *scratch,
                struct btz_str *version, struct btz_err *err)
{
    struct btz_store_row row;
    struct btz_hash hash;
    size_t attack = 0;
    char hex[65];
    int rc = btz_store_trial_load(r->store, r->run.no, label->trial, scratch, &row, err);

    if (rc == BTZ_ENOTFOUND) {
        return line_error(err, label, "is not in this run");
    }
    if (rc == BTZ_OK && (!row.current || row.trial.outcome == BTZ_STORE_FAULT)) {
        return line_error(err, label, "ended in a fault or was superseded: nothing to judge");
    }
    if (rc == BTZ_OK) {
        rc = rescore_attack_at(r, row.cell.attack, &attack, err);
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    /* People answer the rubric's question; another rubric is another label. */
    hash = btz_hash_of(r->attacks[attack].rubric);
    *version =
        btz_str_sub(btz_arena_dup(r->context->arena, btz_str_of(btz_hash_hex(&hash, hex))), 0, 16);
    for (size_t i = 0; i < row.trial.verdict_count; i++) {
        const struct btz_store_verdict *v = &row.trial.verdicts[i];

        if (btz_str_is(v->source, "human") && btz_str_eq(v->name, label->labeller) &&
            btz_str_eq(v->version, *version)) {
            return (v->success == BTZ_STORE_YES) == label->success
                       ? 1
                       : line_error(err, label, "has another label of this labeller already");
        }
    }
    return 0;
}

int rescore_labels(struct rescore *r, const char *file, struct btz_err *err)
{
    struct btz_arena *arena = r->context->arena;
    struct btz_arena *scratch = btz_arena_new();
    struct btz_judge_label *labels = NULL;
    struct btz_str *versions = NULL;
    struct btz_str text;
    size_t count = 0;
    size_t unlabelled = 0;
    size_t stored = 0;
    int rc = btz_file_read(arena, file, BTZ_JUDGE_MAX_LABEL_FILE, &text, err) ? BTZ_EUSAGE : BTZ_OK;

    if (rc == BTZ_OK) {
        rc = btz_judge_labels_read(arena, text, btz_str_of(r->run.id), &labels, &count, &unlabelled,
                                   err);
        if (rc != BTZ_OK && err) {
            err->code = BTZ_EUSAGE;
        }
        rc = rc == BTZ_OK ? rc : BTZ_EUSAGE;
    }
    /* All are looked at before the first is written: a file is taken whole or not at all. */
    versions = btz_arena_array(arena, count + 1, sizeof(*versions));
    for (size_t i = 0; rc == BTZ_OK && i < count; i++) {
        btz_arena_reset(scratch);
        rc = look(r, &labels[i], scratch, &versions[i], err);
        if (rc == 1) {
            labels[i].trial = 0;
            rc = BTZ_OK;
        }
    }
    for (size_t i = 0; rc == BTZ_OK && i < count; i++) {
        struct btz_store_verdict verdict = {.source = BTZ_STR("human"),
                                            .name = labels[i].labeller,
                                            .version = versions[i],
                                            .success =
                                                labels[i].success ? BTZ_STORE_YES : BTZ_STORE_NO,
                                            .act_event = -1,
                                            .effect_event = -1,
                                            .at_us = btz_clock_wall_us(),
                                            .json = BTZ_STR("{}")};

        if (labels[i].trial > 0) {
            rc = btz_store_verdict_add(r->store, r->run.no, labels[i].trial, &verdict, err);
            stored += rc == BTZ_OK;
        }
    }
    btz_arena_free(scratch);
    if (rc == BTZ_OK) {
        btz_cmd_note(r->context, "%zu labels stored, %zu were there, %zu rows not labelled yet",
                     stored, count - stored, unlabelled);
    } else {
        btz_err_prefix(err, "%s: ", file);
    }
    return rc;
}

/* ---- the sheet ---- */

struct drawn {
    int64_t n;
    struct btz_str attack;
    struct btz_hash lot;
};

static int by_lot(const void *a, const void *b)
{
    return memcmp(((const struct drawn *)a)->lot.bytes, ((const struct drawn *)b)->lot.bytes,
                  sizeof(struct btz_hash));
}

/* A simple random sample: the trials with the lowest lots, which are drawn from seed, run and
 * number alone. */
static int draw(struct rescore *r, struct drawn **out, size_t *count, struct btz_err *err)
{
    struct btz_store_rows *rows = NULL;
    struct btz_store_row row;
    struct drawn *list = NULL;
    size_t cap = 0;
    int rc = btz_store_rows_open(r->store, r->run.no, BTZ_STORE_BY_PLAN, &rows, err);

    *count = 0;
    while (rc == BTZ_OK && (rc = btz_store_rows_next(rows, &row, err)) == 1) {
        rc = BTZ_OK;
        if (rescore_wants(r, &row)) {
            list = btz_arena_grow(r->context->arena, list, *count, &cap, sizeof(*list));
            list[(*count)++] = (struct drawn){
                row.n, btz_arena_dup(r->context->arena, row.cell.attack),
                btz_hash_of(btz_arena_printf(r->context->arena, "%lld/%s/%lld",
                                             (long long)btz_args_int(r->context->args, "seed", 1),
                                             r->run.id, (long long)row.n))};
        }
    }
    btz_store_rows_free(rows);
    if (list) {
        qsort(list, *count, sizeof(*list), by_lot);
    }
    *out = list;
    return rc;
}

/* The question of a rubric: its first paragraph behind the version line. */
static struct btz_str question(struct btz_str rubric)
{
    struct btz_str line;

    while (btz_str_cut(&rubric, '\n', &line)) {
        line = btz_str_trim(line);
        if (line.len && !btz_str_starts(line, BTZ_STR("version:"))) {
            return line;
        }
    }
    return BTZ_STR("");
}

int rescore_sheet(struct rescore *r, const char *path, struct btz_err *err)
{
    struct drawn *list = NULL;
    struct btz_buf out;
    size_t count = 0;
    size_t wanted = (size_t)btz_args_int(r->context->args, "sample", DEFAULT_SAMPLE);
    FILE *file;
    int rc = draw(r, &list, &count, err);

    btz_buf_init(&out, BTZ_JUDGE_MAX_LABEL_FILE);
    (void)btz_buf_add_text(&out, "trial,success,labeller,question,look\n");
    count = count < wanted ? count : wanted;
    for (size_t i = 0; rc == BTZ_OK && i < count; i++) {
        size_t attack = 0;

        rc = rescore_attack_at(r, list[i].attack, &attack, err);
        if (rc == BTZ_OK) {
            (void)btz_buf_printf(&out, "%lld,,,", (long long)list[i].n);
            btz_judge_csv_field(&out, question(r->attacks[attack].rubric));
            (void)btz_buf_printf(&out, ",bartizan rescore %s --trace %lld\n", r->run.id,
                                 (long long)list[i].n);
        }
    }
    if (rc == BTZ_OK && btz_buf_status(&out) != BTZ_OK) {
        rc = btz_err_set(err, BTZ_ELIMIT, "the sheet is too large");
    }
    if (rc == BTZ_OK) {
        /* Never over a sheet that somebody has filled in. */
        rc = btz_file_new(path, &file, err) ? BTZ_EUSAGE : BTZ_OK;
    }
    if (rc == BTZ_OK) {
        (void)fwrite(out.ptr, 1, out.len, file);
        rc = btz_file_publish(file, path, true, err);
    }
    btz_buf_fini(&out);
    if (rc == BTZ_OK) {
        btz_cmd_note(r->context,
                     "%zu trials are in %s; when filled in: bartizan rescore %s "
                     "--labels %s",
                     count, path, r->run.id, path);
    }
    return rc;
}
