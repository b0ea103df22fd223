/* The head of a report: what was run, with what, and from which bytes. */
#include <stddef.h>

#include "report/agreement_int.h"
#include "report/report_int.h"

enum { SHORT_HASH = 12 };

static struct btz_str text_of(const struct btz_json *object, const char *key)
{
    return btz_json_str(btz_json_getz(object, key));
}

static struct btz_str short_hash(const struct btz_json *object, const char *key)
{
    struct btz_str hash = btz_str_sub(text_of(object, key), 0, SHORT_HASH);

    return hash.len ? hash : BTZ_STR("unknown");
}

const struct btz_json *card_model(const struct btz_report *report, struct btz_str reference)
{
    const struct btz_json *models = btz_json_getz(report->card, "models");

    for (size_t i = 0; i < btz_json_count(models); i++) {
        if (btz_str_eq(text_of(btz_json_at(models, i), "reference"), reference)) {
            return btz_json_at(models, i);
        }
    }
    return NULL;
}

struct btz_str subject_label(const struct btz_report *report, const struct subject *subject)
{
    const struct btz_json *model = card_model(report, subject->model);
    struct btz_str id = text_of(model, "id");
    struct btz_str weights = text_of(model, "weights_sha256");
    struct btz_str out = subject->model;
    bool revisions = false;
    bool profiles = false;

    if (id.len && btz_str_find(subject->model, id) < 0) {
        out = btz_arena_printf(report->arena, "%.*s %.*s", BTZ_FMT(out), BTZ_FMT(id));
    }
    if (weights.len) {
        out = btz_arena_printf(report->arena, "%.*s (weights %.*s)", BTZ_FMT(out),
                               BTZ_FMT(btz_str_sub(weights, 0, SHORT_HASH)));
    }
    for (const struct subject *s = report->first; s; s = s->next) {
        revisions = revisions || !btz_str_eq(s->revision, subject->revision);
        profiles = profiles || !btz_str_eq(s->host_profile, subject->host_profile);
    }
    if (subject->suite.len) {
        out = btz_arena_printf(report->arena, "%.*s, suite %.*s", BTZ_FMT(out),
                               BTZ_FMT(subject->suite));
    }
    if (!btz_str_is(subject->architecture, "react")) {
        out = btz_arena_printf(report->arena, "%.*s, %.*s", BTZ_FMT(out),
                               BTZ_FMT(subject->architecture));
    }
    if (!btz_str_is(subject->defence, "none")) {
        out = btz_arena_printf(report->arena, "%.*s, defence %.*s", BTZ_FMT(out),
                               BTZ_FMT(subject->defence));
    }
    if (revisions) {
        out = btz_arena_printf(report->arena, "%.*s, revision %.*s", BTZ_FMT(out),
                               BTZ_FMT(subject->revision));
    }
    if (profiles) {
        out = btz_arena_printf(report->arena, "%.*s, host profile %.*s", BTZ_FMT(out),
                               BTZ_FMT(subject->host_profile));
    }
    return out;
}

static void add_part(struct btz_buf *out, const char *before, struct btz_str text)
{
    if (text.len) {
        (void)btz_buf_printf(out, "%s%s%.*s", out->len ? ", " : "", before, BTZ_FMT(text));
    }
}

static void print_model(const struct btz_report *report, const struct subject *s,
                        const struct btz_term *term, struct btz_buf *out)
{
    const struct btz_json *model = card_model(report, s->model);
    struct btz_buf line;

    btz_buf_init(&line, 1024 * 1024);
    lines_field(out, term, "model", s->model);
    add_part(&line, "id ", text_of(model, "id"));
    for (size_t i = 0; i < s->returned_count; i++) {
        add_part(&line, "returned as ", s->returned[i]);
    }
    if (btz_str_is(text_of(model, "actions"), "json")) {
        add_part(&line, "", BTZ_STR("JSON actions"));
    }
    if (line.len) {
        lines_field(out, term, "", btz_buf_view(&line));
    }
    btz_buf_reset(&line);
    if (text_of(model, "weights_sha256").len) {
        add_part(&line, "weights sha256 ", short_hash(model, "weights_sha256"));
    }
    add_part(&line, "of ", text_of(model, "weights_package"));
    if (text_of(model, "weights_version").len) {
        (void)btz_buf_printf(&line, " %.*s", BTZ_FMT(text_of(model, "weights_version")));
    }
    add_part(&line, "", text_of(model, "file_type"));
    add_part(&line, "", text_of(model, "parameters"));
    add_part(&line, "server ", text_of(model, "server_package"));
    if (text_of(model, "server_version").len) {
        (void)btz_buf_printf(&line, " %.*s", BTZ_FMT(text_of(model, "server_version")));
    }
    if (line.len) {
        lines_field(out, term, "", btz_buf_view(&line));
    }
    btz_buf_fini(&line);
}

/* The values of one field of the subjects: "a, b". */
static void add_field(struct btz_buf *out, const struct btz_report *report, const char *name,
                      size_t field)
{
    struct btz_buf values;

    btz_buf_init(&values, (size_t)64 * 1024);
    for (const struct subject *s = report->first; s; s = s->next) {
        struct btz_str value = *(const struct btz_str *)((const char *)s + field);
        bool known = false;

        for (const struct subject *t = report->first; t != s; t = t->next) {
            known = known || btz_str_eq(value, *(const struct btz_str *)((const char *)t + field));
        }
        if (!known) {
            add_part(&values, "", value);
        }
    }
    add_part(out, name, btz_buf_view(&values));
    btz_buf_fini(&values);
}

static void print_setting(const struct btz_report *report, const struct btz_term *term,
                          struct btz_buf *out)
{
    struct btz_buf line;

    btz_buf_init(&line, (size_t)1024 * 1024);
    add_field(&line, report, "architecture ", offsetof(struct subject, architecture));
    add_field(&line, report, "defence ", offsetof(struct subject, defence));
    add_field(&line, report, "revision ", offsetof(struct subject, revision));
    add_field(&line, report, "host profile ", offsetof(struct subject, host_profile));
    add_part(&line, "carrier ", text_of(report->card, "carrier"));
    if (line.len) {
        lines_field(out, term, "setting", btz_buf_view(&line));
    }
    btz_buf_reset(&line);
    add_part(&line, "seed ", text_of(report->card, "seed"));
    add_part(&line, "repetitions ",
             btz_json_number_text(btz_json_getz(report->card, "repetitions")));
    add_part(&line, "temperature ",
             btz_json_number_text(btz_json_getz(report->card, "temperature")));
    add_part(&line, "max tokens ", btz_json_number_text(btz_json_getz(report->card, "max_tokens")));
    if (line.len) {
        lines_field(out, term, "", btz_buf_view(&line));
    }
    btz_buf_fini(&line);
}

static bool model_is_new(const struct btz_report *report, const struct subject *subject)
{
    for (const struct subject *s = report->first; s != subject; s = s->next) {
        if (btz_str_eq(s->model, subject->model)) {
            return false;
        }
    }
    return true;
}

/* Subjects of one suite have the same attacks. */
static bool is_first_of_suite(const struct btz_report *report, const struct subject *subject)
{
    const struct subject *s = report->first;

    while (!btz_str_eq(s->suite, subject->suite)) {
        s = s->next;
    }
    return s == subject;
}

/* Which attacks are decided by whom; a table never mixes oracles without saying so. */
static void print_oracle(const struct btz_report *report, const struct btz_term *term,
                         struct btz_buf *out)
{
    struct btz_buf judged;
    struct btz_buf rest;
    int64_t unjudged = 0;

    btz_buf_init(&judged, (size_t)256 * 1024);
    btz_buf_init(&rest, (size_t)256 * 1024);
    for (const struct subject *s = report->first; s; s = s->next) {
        for (size_t i = 0; i < s->row_count; i++) {
            const struct row *row = s->rows[i];

            if (is_first_of_suite(report, s)) {
                add_part(row->by_judge ? &judged : &rest, row->below ? "(B) " : "", row->attack);
            }
            for (const struct variant *v = row->first; row->by_judge && v; v = v->next) {
                const struct tally *t = &v->arm[ARM_ATTACK];

                unjudged += t->trials - t->outcome[BTZ_STORE_FAULT] - t->judged;
            }
        }
    }
    lines_field(out, term, "oracle",
                btz_arena_printf(report->arena, "as in the paper: %.*s for %.*s",
                                 BTZ_FMT(rater_label(report->arena, report->judge)),
                                 BTZ_FMT(judged.len ? btz_buf_view(&judged)
                                                    : BTZ_STR("no attack of this run"))));
    lines_field(out, term, "",
                btz_arena_printf(
                    report->arena, "the deterministic oracle for %.*s, and for twins and outcomes",
                    BTZ_FMT(rest.len ? btz_buf_view(&rest) : BTZ_STR("no attack of this run"))));
    if (unjudged) {
        lines_field(out, term, "",
                    btz_arena_printf(report->arena,
                                     "without a usable verdict of the judge, and so missing: "
                                     "%lld trial%s",
                                     (long long)unjudged, unjudged == 1 ? "" : "s"));
    }
    btz_buf_fini(&judged);
    btz_buf_fini(&rest);
}

void print_head(const struct btz_report *report, const struct btz_term *term, struct btz_buf *out)
{
    const struct btz_store_run *run = &report->run;
    struct btz_arena *arena = report->arena;

    lines_text(out, term, 0, BTZ_COLOUR_BOLD,
               btz_arena_printf(arena, "Run %s: study %.*s, %s, %.*s", run->id, BTZ_FMT(run->study),
                                btz_store_run_status_name(run->status),
                                BTZ_FMT(text_time(arena, run->created_us))));
    lines_field(out, term, "command",
                report->card ? text_of(report->card, "command")
                             : BTZ_STR("unknown: the provenance card cannot be read"));
    for (const struct subject *s = report->first; s; s = s->next) {
        if (model_is_new(report, s)) {
            print_model(report, s, term, out);
        }
    }
    print_setting(report, term, out);
    if (report->paper) {
        print_oracle(report, term, out);
    }
    lines_field(out, term, "hashes",
                btz_arena_printf(arena, "binary %.*s, pack %.*s, prompt %.*s",
                                 BTZ_FMT(short_hash(report->card, "binary_hash")),
                                 BTZ_FMT(short_hash(report->card, "pack_hash")),
                                 BTZ_FMT(short_hash(report->card, "prompt_hash"))));
    lines_field(out, term, "trials",
                btz_arena_printf(arena,
                                 "%lld of %lld finished, %lld missing (fault), %lld cells not "
                                 "applicable",
                                 (long long)run->finished, (long long)run->planned,
                                 (long long)run->faults, (long long)run->not_applicable));
    if (run->finished < run->planned) {
        lines_text(out, term, 0, BTZ_COLOUR_YELLOW,
                   btz_arena_printf(arena,
                                    "INCOMPLETE: %lld of %lld trials. Only cells that have a trial "
                                    "are counted.",
                                    (long long)run->finished, (long long)run->planned));
    }
}
