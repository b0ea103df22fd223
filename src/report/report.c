/* A report from the store: the counted run, its figures, and what stands around them. */
#include "report/report_int.h"

int report_find_run(struct btz_store *store, int64_t no, struct btz_arena *arena,
                    struct btz_store_run *out, struct btz_err *err)
{
    struct btz_store_run *runs;
    size_t count;
    int rc = btz_store_runs(store, arena, &runs, &count, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    for (size_t i = 0; i < count; i++) {
        if (runs[i].no == no) {
            *out = runs[i];
            return BTZ_OK;
        }
    }
    return btz_err_set(err, BTZ_ENOTFOUND, "there is no such run in this store");
}

/* A model id is text of the provider: it is looked at in one trial of each subject. */
static int read_returned(struct btz_store *store, struct btz_report *report, struct subject *s,
                         struct btz_err *err)
{
    struct btz_arena *arena;
    struct btz_store_row row;
    int rc;

    if (!s->first_trial) {
        return BTZ_OK;
    }
    arena = btz_arena_new();
    rc = btz_store_trial_load(store, report->run.no, s->first_trial, arena, &row, err);
    if (rc == BTZ_OK) {
        s->returned =
            btz_arena_array(report->arena, row.trial.exchange_count, sizeof(*s->returned));
    }
    for (size_t i = 0; rc == BTZ_OK && i < row.trial.exchange_count; i++) {
        struct btz_str id = row.trial.exchanges[i].model;
        bool known = id.len == 0;

        for (size_t k = 0; k < s->returned_count; k++) {
            known = known || btz_str_eq(id, s->returned[k]);
        }
        if (!known) {
            s->returned[s->returned_count++] = btz_arena_dup(report->arena, id);
        }
    }
    btz_arena_free(arena);
    return rc;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hash(const struct btz_json *card, const char *key, struct btz_hash *out)
{
    struct btz_str hex = btz_json_str(btz_json_getz(card, key));

    if (hex.len != 2 * sizeof(out->bytes)) {
        return false;
    }
    for (size_t i = 0; i < sizeof(out->bytes); i++) {
        int high = hex_digit(hex.ptr[2 * i]);
        int low = hex_digit(hex.ptr[2 * i + 1]);

        if (high < 0 || low < 0) {
            return false;
        }
        out->bytes[i] = (uint8_t)(high * 16 + low);
    }
    return true;
}

static int read_card(struct btz_store *store, struct btz_report *report, struct btz_err *err)
{
    struct btz_store_cert *certs;
    struct btz_hash binary;
    struct btz_hash pack;
    struct btz_str text;
    struct btz_err ignored;
    size_t count;
    int rc = btz_store_provenance(store, report->run.no, report->arena, &text, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    /* An old or foreign run keeps its tables even if its card cannot be read. */
    if (btz_json_parse(report->arena, text, NULL, &report->card, &ignored) != BTZ_OK) {
        report->card = NULL;
    }
    if (!read_hash(report->card, "binary_hash", &binary) ||
        !read_hash(report->card, "pack_hash", &pack)) {
        return BTZ_OK;
    }
    rc = btz_store_cert_get(store, &binary, &pack, report->arena, &certs, &count, err);
    for (size_t i = 0; rc == BTZ_OK && i < count; i++) {
        report->checks++;
        report->checks_failed += !certs[i].passed;
    }
    return rc;
}

static int build(struct btz_store *store, int64_t no, const struct btz_report_options *options,
                 struct btz_report *report, struct btz_err *err)
{
    int rc = report_find_run(store, no, report->arena, &report->run, err);

    if (rc == BTZ_OK) {
        rc = read_card(store, report, err);
    }
    if (rc == BTZ_OK) {
        rc = report_judges(store, report, options, err);
    }
    if (rc == BTZ_OK) {
        rc = report_count(store, report, err);
    }
    if (rc == BTZ_OK) {
        rc = report_verdicts(store, report, err);
    }
    for (struct subject *s = report->first; rc == BTZ_OK && s; s = s->next) {
        rc = report_figures(report, s, err);
        if (rc == BTZ_OK) {
            rc = read_returned(store, report, s, err);
        }
    }
    if (rc == BTZ_OK) {
        rc = report_defences(report, err);
    }
    return rc ? rc : report_oracles(report, err);
}

int btz_report_build(struct btz_store *store, int64_t no, struct btz_arena *arena,
                     struct btz_report **out, struct btz_err *err)
{
    const struct btz_report_options options = {.paper = false};

    return btz_report_build_as(store, no, &options, arena, out, err);
}

int btz_report_build_as(struct btz_store *store, int64_t no,
                        const struct btz_report_options *options, struct btz_arena *arena,
                        struct btz_report **out, struct btz_err *err)
{
    struct btz_report *report = BTZ_NEW(arena, struct btz_report);
    struct btz_err ignored;
    /* A writing handle has no snapshots, and needs none: nobody else writes. */
    bool snapshot = btz_store_snapshot_begin(store, &ignored) == BTZ_OK;
    int rc;

    report->arena = arena;
    report->last = &report->first;
    rc = build(store, no, options, report, err);
    if (snapshot) {
        btz_store_snapshot_end(store);
    }
    if (rc == BTZ_OK) {
        *out = report;
    }
    return rc;
}
