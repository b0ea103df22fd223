/* run: plans a study, runs it, prints its table. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cmd/cmd.h"
#include "report/report.h"
#include "study/file.h"

enum { POLL_US = 100000 }; /* between two looks at signals, the time limit and the progress */

/* A local model answers one request at a time and keeps the last conversation's state: several
 * trials at once would push each other out of it. */
enum {
    DEFAULT_IN_FLIGHT = 8,
    LOCAL_IN_FLIGHT = 1,
    DEFAULT_MAX_TOKENS = 1024,
    LOCAL_MAX_TOKENS = 512
};

/* A limit of one model: the option's, else its own in the study, else the study's; else `absent`.
 */
static int64_t limit(struct btz_context *context, const char *option, int64_t own, int64_t study,
                     int64_t absent)
{
    return btz_args_has(context->args, option) ? btz_args_int(context->args, option, 0)
           : own                               ? own
           : study                             ? study
                                               : absent;
}

static bool acts_by_json(struct btz_context *context, const struct btz_study_limits *own,
                         const struct btz_study_limits *study, const struct btz_llm_model *model)
{
    enum btz_study_actions actions = own->actions ? own->actions : study->actions;
    const char *option = btz_args_text(context->args, "actions", NULL);

    if (option) {
        (void)!btz_study_actions_named(btz_str_of(option), &actions);
    }
    if (actions == BTZ_STUDY_ACTIONS_NATIVE || actions == BTZ_STUDY_ACTIONS_JSON) {
        return actions == BTZ_STUDY_ACTIONS_JSON;
    }
    return model->kind == BTZ_LLM_MODEL_LOCAL && !model->local.tool_template;
}

static int parse_model(struct btz_context *context, struct btz_str reference,
                       struct btz_study_model *m, struct btz_err *err)
{
    return btz_cmd_model(context, reference, &m->model, &m->key, err);
}

/* The models of `wanted`, with the limits of options and study. */
static int parse_models(struct btz_context *context, const struct btz_study_file *file,
                        const struct btz_study_file_model *wanted, size_t count,
                        struct btz_study_options *o, struct btz_err *err)
{
    struct btz_study_model *models = btz_arena_array(context->arena, count, sizeof(*models));
    bool local = false;

    for (size_t i = 0; i < count; i++) {
        int rc = parse_model(context, wanted[i].reference, &models[i], err);

        if (rc != BTZ_OK) {
            btz_err_at(err, wanted[i].line ? file->path : NULL, wanted[i].line, 0);
            return rc;
        }
        local = local || models[i].model.kind == BTZ_LLM_MODEL_LOCAL;
    }
    for (size_t i = 0; i < count; i++) {
        const struct btz_study_limits *own = &wanted[i].limits;
        struct btz_study_model *m = &models[i];

        m->in_flight = (unsigned)limit(context, "in-flight", own->in_flight, file->limits.in_flight,
                                       m->model.kind == BTZ_LLM_MODEL_LOCAL ? LOCAL_IN_FLIGHT
                                                                            : DEFAULT_IN_FLIGHT);
        /* One default for all models of a run: a table compares them. */
        m->max_tokens = limit(context, "max-tokens", own->max_tokens, file->limits.max_tokens,
                              local ? LOCAL_MAX_TOKENS : DEFAULT_MAX_TOKENS);
        m->request_timeout_us = 1000000 * limit(context, "request-timeout", own->request_timeout,
                                                file->limits.request_timeout, 0);
        m->json_actions = acts_by_json(context, own, &file->limits, &m->model);
    }
    o->models = models;
    o->model_count = count;
    return BTZ_OK;
}

/* A model that a defence asks, with the limits that options give to all. */
static int parse_asked(struct btz_context *context, struct btz_str reference,
                       const struct btz_study_model **out, struct btz_err *err)
{
    struct btz_study_model *asked = BTZ_NEW(context->arena, struct btz_study_model);
    int rc;

    *asked = (struct btz_study_model){0};
    rc = parse_model(context, reference, asked, err);
    asked->in_flight = (unsigned)btz_args_int(
        context->args, "in-flight",
        asked->model.kind == BTZ_LLM_MODEL_LOCAL ? LOCAL_IN_FLIGHT : DEFAULT_IN_FLIGHT);
    asked->request_timeout_us = 1000000 * btz_args_int(context->args, "request-timeout", 0);
    *out = asked;
    return rc;
}

/* What the option names, else the study's; none is no mistake here. */
static int choose_asked(struct btz_context *context, const char *option, struct btz_str of_study,
                        const struct btz_study_model **out, struct btz_err *err)
{
    struct btz_str reference = btz_args_has(context->args, option)
                                   ? btz_str_of(btz_args_text(context->args, option, ""))
                                   : of_study;

    return reference.len ? parse_asked(context, reference, out, err) : BTZ_OK;
}

/* The models of -m, else those of the file. One that both name keeps the limits of the file. */
static int choose_models(struct btz_context *context, const struct btz_study_file *file,
                         struct btz_study_options *o, struct btz_err *err)
{
    size_t count = 0;
    struct btz_str *references = btz_cmd_values(context, "model", &count);
    struct btz_study_file_model *wanted = btz_arena_array(context->arena, count, sizeof(*wanted));

    if (count == 0 && file->model_count) {
        return parse_models(context, file, file->models, file->model_count, o, err);
    }
    for (size_t i = 0; i < count; i++) {
        wanted[i].reference = references[i];
        for (size_t k = 0; k < file->model_count; k++) {
            if (btz_str_eq(file->models[k].reference, references[i])) {
                wanted[i].limits = file->models[k].limits;
            }
        }
    }
    return count ? parse_models(context, file, wanted, count, o, err)
                 : btz_err_set(err, BTZ_EUSAGE,
                               "no model is given: use -m, for example -m ref:reader or "
                               "-m openai:NAME@http://127.0.0.1:8080/v1");
}

static int parse_revisions(struct btz_context *context, const struct btz_study_file *file,
                           struct btz_study_options *o, struct btz_err *err)
{
    size_t count = 0;
    struct btz_str *words = btz_cmd_values(context, "revision", &count);
    enum btz_mcp_revision *revisions = btz_arena_array(context->arena, count, sizeof(*revisions));

    for (size_t i = 0; i < count; i++) {
        revisions[i] = btz_study_revision_named(words[i]);
        if (revisions[i] == BTZ_MCP_REVISION_NONE) {
            return btz_err_set(
                err, BTZ_EUSAGE,
                "--revision is \"%.*s\"; it is modern (2026-07-28), legacy (2025-11-25), "
                "2024-11-05, 2025-03-26 or 2025-06-18",
                BTZ_FMT(words[i]));
        }
        for (size_t k = 0; k < i; k++) {
            if (revisions[k] == revisions[i]) {
                return btz_err_set(err, BTZ_EUSAGE, "--revision %.*s is given twice",
                                   BTZ_FMT(words[i]));
            }
        }
    }
    o->revisions = count ? revisions : file->revisions;
    o->revision_count = count ? count : file->revision_count;
    return BTZ_OK;
}

static int parse_archs(struct btz_context *context, const struct btz_study_file *file,
                       struct btz_study_options *o, struct btz_err *err)
{
    size_t count = 0;
    struct btz_str *words = btz_cmd_values(context, "arch", &count);
    enum btz_arch *archs = btz_arena_array(context->arena, count, sizeof(*archs));

    for (size_t i = 0; i < count; i++) {
        if (btz_arch_named(words[i], &archs[i]) != BTZ_OK) {
            return btz_err_set(err, BTZ_EUSAGE, "--arch is \"%.*s\"; use react, reflexion or retry",
                               BTZ_FMT(words[i]));
        }
        for (size_t k = 0; k < i; k++) {
            if (archs[k] == archs[i]) {
                return btz_err_set(err, BTZ_EUSAGE, "--arch %.*s is given twice",
                                   BTZ_FMT(words[i]));
            }
        }
    }
    o->archs = count ? archs : file->archs;
    o->arch_count = count ? count : file->arch_count;
    return BTZ_OK;
}

/* Options that name things which come later are refused, never ignored. */
static int check_offered(struct btz_context *context, struct btz_err *err)
{
    const char *actions = btz_args_text(context->args, "actions", "auto");
    enum btz_study_actions known;

    if (btz_study_actions_named(btz_str_of(actions), &known) != BTZ_OK) {
        return btz_err_set(err, BTZ_EUSAGE, "--actions is \"%s\"; it is one of auto, native, json",
                           actions);
    }
    return BTZ_OK;
}

static struct btz_str command_line(struct btz_context *context)
{
    struct btz_buf out;
    struct btz_str text;

    btz_buf_init(&out, 1024 * 1024);
    (void)btz_buf_add_text(&out, "bartizan");
    for (int i = 1; i < context->argc; i++) {
        (void)btz_buf_printf(&out, " %s", context->argv[i]);
    }
    text = btz_arena_dup(context->arena, btz_buf_view(&out));
    btz_buf_fini(&out);
    return text;
}

/* A filter of the options, else that of the file. A value that names nothing is a mistake, even if
 * other values match. */
static int choose_filter(struct btz_context *context, struct btz_lab *lab,
                         enum btz_study_filter filter, const struct btz_str **values, size_t *count,
                         struct btz_err *err)
{
    static const char *const options[] = {"attack", "variant", "surface"};
    size_t given = 0;
    struct btz_str *words = btz_cmd_values(context, options[filter], &given);

    for (size_t i = 0; i < given; i++) {
        const char *near = NULL;

        if (!btz_study_knows(context->arena, lab, filter, words[i], &near)) {
            return btz_err_set(err, BTZ_EUSAGE,
                               "--%s %.*s matches no scenario%s%s%s see `bartizan list scenarios`",
                               options[filter], BTZ_FMT(words[i]), near ? "; did you mean \"" : "",
                               near ? near : "", near ? "\"?" : ";");
        }
    }
    if (given) {
        *values = words;
        *count = given;
    }
    return BTZ_OK;
}

/* --defence-listen: where a gateway that runs already finds the servers. */
static int parse_listen(struct btz_context *context, struct btz_study_options *o,
                        struct btz_err *err)
{
    struct btz_str text = btz_str_of(btz_args_text(context->args, "defence-listen", ""));
    struct btz_str host = text;
    int64_t port = 0;

    if (!text.len) {
        return BTZ_OK;
    }
    while (host.len && host.ptr[host.len - 1] != ':') {
        host.len--;
    }
    if (host.len < 2 || btz_str_int64(btz_str_sub(text, host.len, text.len), &port) != BTZ_OK ||
        port < 1 || port > 65535) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "--defence-listen is \"%.*s\"; it is HOST:PORT, for "
                           "example 127.0.0.1:8750",
                           BTZ_FMT(text));
    }
    host.len--;
    if (btz_str_is(host, "[::1]")) {
        host = BTZ_STR("::1");
    } else if (btz_str_is(host, "localhost")) {
        host = BTZ_STR("127.0.0.1");
    }
    if (!btz_str_is(host, "127.0.0.1") && !btz_str_is(host, "::1")) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "--defence-listen takes 127.0.0.1, localhost or [::1] "
                           "only: the servers have no authentication");
    }
    o->proxy.address = host;
    o->proxy.port = (uint16_t)port;
    return BTZ_OK;
}

/* What is run, from the study and the options that override it. */
static int fill_study(struct btz_context *context, const struct btz_study_file *file,
                      struct btz_study_options *o, struct btz_err *err)
{
    const char *carrier = btz_args_text(context->args, "carrier", NULL);
    int rc;

    o->name = file->name;
    o->text = file->text;
    o->arms = file->arms;
    o->carrier = file->carrier;
    o->repetitions = (unsigned)btz_args_int(context->args, "reps", file->repetitions);
    o->seed = (uint64_t)btz_args_int(context->args, "seed", (int64_t)file->seed);
    o->host_profile = file->host_profile;
    if (btz_args_has(context->args, "host-profile")) {
        o->host_profile = btz_str_of(btz_args_text(context->args, "host-profile", ""));
    }
    o->attacks = file->attacks;
    o->attack_count = file->attack_count;
    o->variants = file->variants;
    o->variant_count = file->variant_count;
    o->surfaces = file->surfaces;
    o->surface_count = file->surface_count;
    if (carrier && btz_carrier_named(btz_str_of(carrier), &o->carrier) != BTZ_OK) {
        return btz_err_set(err, BTZ_EUSAGE, "--carrier is \"%s\"; use memory, stdio or http",
                           carrier);
    }
    rc = choose_filter(context, o->lab, BTZ_STUDY_ATTACK, &o->attacks, &o->attack_count, err);
    if (rc == BTZ_OK) {
        rc =
            choose_filter(context, o->lab, BTZ_STUDY_VARIANT, &o->variants, &o->variant_count, err);
    }
    if (rc == BTZ_OK) {
        rc =
            choose_filter(context, o->lab, BTZ_STUDY_SURFACE, &o->surfaces, &o->surface_count, err);
    }
    if (rc == BTZ_OK) {
        rc = parse_revisions(context, file, o, err);
    }
    o->defences = file->defences;
    o->defence_count = file->defence_count;
    if (btz_args_has(context->args, "defence")) {
        o->defences = btz_cmd_values(context, "defence", &o->defence_count);
    }
    if (rc == BTZ_OK) {
        rc = parse_listen(context, o, err);
    }
    return rc ? rc : parse_archs(context, file, o, err);
}

/* Certification rows for this binary and these packs, made if there are none. */
static int ensure_certified(struct btz_context *context, struct btz_study_options *o,
                            struct btz_err *err)
{
    struct btz_hash pack = btz_lab_pack_hash(o->lab);
    struct btz_store_cert *certs = NULL;
    size_t count = 0;
    size_t failed = 0;
    int rc = btz_store_cert_get(o->store, &o->binary, &pack, context->arena, &certs, &count, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    if (count == 0) {
        btz_cmd_note(context,
                     "first run of this program with these packs: certifying %zu scenarios",
                     btz_lab_scenario_count(o->lab));
        rc = btz_cmd_certify(context, o->lab, o->store, NULL, 0, &failed, NULL, err);
    }
    for (size_t i = 0; i < count; i++) {
        failed += !certs[i].passed;
    }
    if (rc == BTZ_OK && failed) {
        return btz_err_set(
            err, BTZ_EUSAGE,
            "%zu certification checks fail with these packs, so a table would mislead; "
            "`bartizan selftest` with the same --pack names them and says why",
            failed);
    }
    return rc;
}

static void show_progress(struct btz_context *context, struct btz_progress *progress,
                          const struct btz_study_status *status, bool last)
{
    struct btz_buf line;
    char text[64];

    (void)snprintf(text, sizeof(text), "%zu running%s", status->active,
                   status->faults ? ", faults" : "");
    btz_buf_init(&line, 65536);
    if (last) {
        btz_progress_finish(progress, status->finished, status->planned, btz_clock_mono_us(),
                            &line);
    } else {
        btz_progress_update(progress, status->finished, status->planned, btz_str_of(text),
                            btz_clock_mono_us(), &line);
    }
    if (line.len) {
        (void)fwrite(line.ptr, 1, line.len, stderr);
    }
    btz_buf_fini(&line);
    (void)context;
}

static int print_report(struct btz_context *context, struct btz_store *store, const char *id,
                        struct btz_err *err)
{
    struct btz_store_run run;
    struct btz_report *report = NULL;
    struct btz_buf out;
    int rc = btz_store_run_find(store, btz_str_of(id), context->arena, &run, err);

    if (rc == BTZ_OK) {
        rc = btz_report_build(store, run.no, context->arena, &report, err);
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    if (context->json) {
        return btz_cmd_print_json(context, btz_report_json(report, context->arena), err);
    }
    btz_buf_init(&out, 256 * 1024 * 1024);
    if (context->csv) {
        btz_report_csv(report, &out);
    } else {
        btz_report_print(report, &context->out, &out);
    }
    rc = btz_cmd_print(&out, err);
    btz_buf_fini(&out);
    return rc;
}

/* Ends a run that is not done, because of a signal or the time limit, and says how to go on. */
static int stop(struct btz_context *context, struct btz_study *study, bool limit,
                struct btz_err *err)
{
    struct btz_study_status status;
    int rc = btz_study_stop(study, limit ? BTZ_STR("time limit") : BTZ_STR("interrupted"), err);

    if (rc != BTZ_OK) {
        return rc;
    }
    btz_study_status(study, &status);
    btz_cmd_note(context,
                 "%s: %zu of %zu trials are kept; go on with `bartizan run --resume %s`, see what "
                 "there is with `bartizan report %s`",
                 limit ? "time limit" : "interrupted", status.finished, status.planned,
                 status.run_id, status.run_id);
    if (limit && status.finished == status.before) {
        btz_cmd_note(context, "no trial ended within the limit: it takes a longer one to move on");
    }
    return limit ? BTZ_EXIT_LIMIT : BTZ_EXIT_INTERRUPTED;
}

/* The table, and what else there is to say about a run that is done. */
static int conclude(struct btz_context *context, struct btz_store *store,
                    const struct btz_study_status *status, struct btz_err *err)
{
    int rc = print_report(context, store, status->run_id, err);

    if (rc == BTZ_OK && status->planned && status->faults == status->planned) {
        btz_cmd_note(context,
                     "every trial ended in a fault: the table says nothing about the model");
        rc = BTZ_EXIT_FAILED;
    }
    if (rc >= 0 && status->faults) {
        btz_cmd_note(context, "%zu trials ended in a fault, the last: %.*s", status->faults,
                     BTZ_FMT(status->last_fault));
    }
    btz_cmd_note(context, "run %s; look at one trial with `bartizan show %s 1`", status->run_id,
                 status->run_id);
    return rc;
}

/* Runs until done, interrupted or out of time. Nothing that finished is lost either way. */
static int work(struct btz_context *context, struct btz_study *study, struct btz_store *store,
                struct btz_err *err)
{
    int64_t limit_us = btz_args_int(context->args, "time-limit", 0) * 1000000;
    int64_t end_us = limit_us ? btz_clock_mono_us() + limit_us : INT64_MAX;
    int64_t left_us;
    struct btz_study_status status;
    struct btz_progress progress;
    int rc;

    if (limit_us) {
        btz_study_end_at(study, end_us);
    }
    btz_study_status(study, &status);
    btz_cmd_note(context, "run %s: %zu trials%s", status.run_id, status.planned,
                 status.before ? ", some finished before" : "");
    btz_progress_init(&progress, &context->err, context->quiet, status.before, btz_clock_mono_us());
    do {
        left_us = end_us - btz_clock_mono_us();
        rc = btz_study_poll(study, left_us < POLL_US ? left_us : POLL_US, err);
        btz_study_status(study, &status);
        show_progress(context, &progress, &status, rc != BTZ_STEP_WAIT);
    } while (rc == BTZ_STEP_WAIT && !btz_study_interrupted(study) && btz_clock_mono_us() < end_us);
    if (rc == BTZ_STEP_WAIT) {
        show_progress(context, &progress, &status, true);
        return stop(context, study, !btz_study_interrupted(study), err);
    }
    return rc < 0 ? rc : conclude(context, store, &status, err);
}

static const char *study_word(struct btz_context *context)
{
    return btz_args_count(context->args) ? btz_args_positional(context->args, 0) : "quick";
}

/* The whole study is checked before the store is opened: a mistake leaves nothing behind. */
static int prepare(struct btz_context *context, struct btz_study_options *o, struct btz_err *err)
{
    struct btz_study_file file;
    int rc = check_offered(context, err);

    if (rc == BTZ_OK) {
        rc = btz_study_load(context->arena, o->lab, study_word(context), &file, err);
    }
    if (rc == BTZ_OK) {
        rc = fill_study(context, &file, o, err);
    }
    if (rc == BTZ_OK) {
        rc = choose_models(context, &file, o, err);
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    rc = choose_asked(context, "guard-model", file.guard_model, &o->guard, err);
    return rc ? rc : choose_asked(context, "rewrite-model", file.rewrite_model, &o->rewriter, err);
}

/* The packs of the study, too. */
static int study_lab(struct btz_context *context, struct btz_lab **out, struct btz_err *err)
{
    size_t count = 0;
    const char *const *packs = btz_study_packs(context->arena, study_word(context), &count);

    return btz_cmd_lab_with(context, packs, count, out, err);
}

static int print_study(struct btz_context *context, struct btz_err *err)
{
    struct btz_study_file file;
    struct btz_lab *lab = NULL;
    struct btz_buf out;
    int rc = study_lab(context, &lab, err);

    if (rc == BTZ_OK) {
        rc = btz_study_load(context->arena, lab, study_word(context), &file, err);
    }
    btz_lab_free(lab);
    if (rc != BTZ_OK || context->json) {
        return rc ? rc : btz_cmd_print_json(context, file.tree, err);
    }
    btz_buf_init(&out, file.text.len);
    (void)btz_buf_add(&out, file.text.ptr, file.text.len);
    rc = btz_cmd_print(&out, err);
    btz_buf_fini(&out);
    return rc;
}

/* Their limits are in the card, but for those that an option changes. */
static int resumed_models(struct btz_context *context, const struct btz_str *references,
                          size_t count, struct btz_study_options *o, struct btz_err *err)
{
    struct btz_study_model *models = btz_arena_array(context->arena, count, sizeof(*models));
    int rc = BTZ_OK;

    for (size_t i = 0; rc == BTZ_OK && i < count; i++) {
        rc = parse_model(context, references[i], &models[i], err);
    }
    o->in_flight = (unsigned)btz_args_int(context->args, "in-flight", 0);
    o->request_timeout_us = btz_args_int(context->args, "request-timeout", 0) * 1000000;
    o->models = models;
    o->model_count = count;
    return rc;
}

/* Everything but the keys comes from the run; options that would change it are refused. */
static int check_resume(struct btz_context *context, struct btz_study_options *o,
                        struct btz_err *err)
{
    static const char *const fixed[] = {
        "model",      "reps",        "seed",        "host-profile",  "revision",      "carrier",
        "actions",    "attack",      "variant",     "surface",       "defence",       "arch",
        "max-tokens", "print-study", "guard-model", "rewrite-model", "defence-listen"};
    struct btz_store *store = NULL;
    struct btz_store_run run;
    struct btz_str card;
    int rc;

    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
        if (btz_args_has(context->args, fixed[i])) {
            return btz_err_set(err, BTZ_EUSAGE,
                               "--%s cannot go with --resume: the run keeps its own", fixed[i]);
        }
    }
    if (btz_args_count(context->args)) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "a study cannot go with --resume: the run keeps its own");
    }
    /* Asked before anything is made or certified. */
    rc = btz_cmd_store(context, BTZ_STORE_READ, &store, err);
    if (rc == BTZ_OK) {
        rc = btz_store_run_find(store, btz_str_of(btz_args_text(context->args, "resume", "")),
                                context->arena, &run, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_cmd_lab_of(context, store, run.no, &o->lab, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_store_provenance(store, run.no, context->arena, &card, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_study_may_go_on(context->arena, card, o->lab, &o->binary, err);
    }
    btz_store_close(store);
    return rc;
}

static int resume(struct btz_context *context, struct btz_study_options *o, struct btz_study **out,
                  struct btz_err *err)
{
    struct btz_store_run run;
    struct btz_str *references = NULL;
    struct btz_str guard = BTZ_STR_NONE;
    struct btz_str rewriter = BTZ_STR_NONE;
    struct btz_str card;
    size_t count = 0;
    int rc = btz_store_run_find(o->store, btz_str_of(btz_args_text(context->args, "resume", "")),
                                context->arena, &run, err);

    if (rc == BTZ_OK) {
        rc = btz_store_provenance(o->store, run.no, context->arena, &card, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_study_models_of(context->arena, card, &references, &count, err);
    }
    if (rc == BTZ_OK) {
        rc = resumed_models(context, references, count, o, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_study_guard_of(context->arena, card, &guard, err);
    }
    if (rc == BTZ_OK && guard.len) {
        rc = parse_asked(context, guard, &o->guard, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_study_rewriter_of(context->arena, card, &rewriter, err);
    }
    if (rc == BTZ_OK && rewriter.len) {
        rc = parse_asked(context, rewriter, &o->rewriter, err);
    }
    return rc ? rc : btz_study_resume(o, &run, out, err);
}

static int run(struct btz_context *context, struct btz_err *err)
{
    bool resumes = btz_args_has(context->args, "resume");
    struct btz_study_options options = {.command = command_line(context)};
    struct btz_study *study = NULL;
    int rc;

    if (!resumes && btz_args_flag(context->args, "print-study")) {
        return print_study(context, err);
    }
    rc = btz_cmd_binary_hash(&options.binary, err);
    if (rc == BTZ_OK) {
        rc = resumes ? check_resume(context, &options, err) : study_lab(context, &options.lab, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_cmd_program(context, &options.proxy.program, err);
    }
    if (rc == BTZ_OK && !resumes) {
        rc = prepare(context, &options, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_cmd_store(context, BTZ_STORE_WRITE, &options.store, err);
    }
    if (rc == BTZ_OK) {
        rc = ensure_certified(context, &options, err);
    }
    if (rc == BTZ_OK) {
        rc =
            resumes ? resume(context, &options, &study, err) : btz_study_new(&options, &study, err);
    }
    if (rc == BTZ_OK) {
        rc = work(context, study, options.store, err);
    }
    btz_study_free(study);
    btz_store_close(options.store);
    btz_lab_free(options.lab);
    return rc;
}

static const struct btz_option options[] = {
    {"model", 'm', BTZ_OPTION_LIST, "MODEL",
     "ref:floor|reader|insider|null, openai:NAME@http://HOST:PORT/v1, openai:NAME, or local", 0, 0},
    {"resume", 0, BTZ_OPTION_TEXT, "RUN", "go on with an interrupted run", 0, 0},
    {"print-study", 0, BTZ_OPTION_FLAG, NULL, "print the study's file, to copy and edit", 0, 0},
    {"reps", 0, BTZ_OPTION_INT, "N", "repetitions of each cell (default: the study's)", 1, 10000},
    {"in-flight", 0, BTZ_OPTION_INT, "N", "trials per model at a time (default 8; 1 with local)", 1,
     4096},
    {"attack", 0, BTZ_OPTION_LIST, "ID", "only this attack", 0, 0},
    {"variant", 0, BTZ_OPTION_LIST, "VN", "only this variant", 0, 0},
    {"surface", 0, BTZ_OPTION_LIST, "S", "only this surface (ma, cl, st, tr)", 0, 0},
    {"host-profile", 0, BTZ_OPTION_TEXT, "NAME", "naive (default), spec or hardened", 0, 0},
    {"revision", 0, BTZ_OPTION_LIST, "R", "modern (default), legacy, or a revision in full", 0, 0},
    {"carrier", 0, BTZ_OPTION_TEXT, "NAME", "memory (default), stdio or http", 0, 0},
    {"actions", 0, BTZ_OPTION_TEXT, "MODE", "auto (default), native tool calls, or json", 0, 0},
    {"defence", 0, BTZ_OPTION_LIST, "MODE",
     "none (default), input, context or combined; behind it :model, +rescan, +closed; "
     "canon:ARM (definitions as `bartizan canon` makes them), behind it + and any of these; or "
     "proxy:COMMAND, proxy:URL",
     0, 0},
    {"defence-listen", 0, BTZ_OPTION_TEXT, "HOST:PORT",
     "where the gateway of proxy:URL finds the servers, as http://HOST:PORT/SERVER/mcp", 0, 0},
    {"guard-model", 0, BTZ_OPTION_TEXT, "MODEL", "who judges in a defence with :model", 0, 0},
    {"rewrite-model", 0, BTZ_OPTION_TEXT, "MODEL",
     "who rewrites definitions in canon:model-rewrite and canon:canon+rewrite", 0, 0},
    {"arch", 0, BTZ_OPTION_LIST, "NAME", "react (default), reflexion or retry", 0, 0},
    {"max-tokens", 0, BTZ_OPTION_INT, "N", "of one reply (default 1024; 512 with local)", 1,
     1000000},
    {"request-timeout", 0, BTZ_OPTION_INT, "S",
     "seconds for one attempt of a model request (default 120)", 1, 86400},
    {"workers", 0, BTZ_OPTION_INT, "N", "processes that certify (default: one per processor)", 1,
     64},
    {"time-limit", 0, BTZ_OPTION_INT, "SECONDS",
     "stop after this time of trials; what finished is kept, --resume goes on", 1, 1000000},
    {"key-file", 0, BTZ_OPTION_TEXT, "FILE",
     "file with the key (mode 0600); default: OPENAI_API_KEY", 0, 0},
    {"key-for", 0, BTZ_OPTION_LIST, "HOST:PORT", "send the key to this host too", 0, 0},
    {NULL, 0, BTZ_OPTION_FLAG, NULL, NULL, 0, 0},
};
static const char *const usage[] = {"[STUDY|FILE.yaml] [-m MODEL...]",
                                    "[STUDY|FILE.yaml] --print-study", "--resume RUN", NULL};
static const char *const examples[] = {
    "bartizan run quick -m ref:floor -m ref:reader",
    "bartizan run main -m local",
    "bartizan run quick --print-study > mine.yaml",
    "bartizan run mine.yaml --reps 2",
    "bartizan run quick -m openai:NAME@http://127.0.0.1:8080/v1 --attack tool-poisoning",
    "bartizan run quick -m local --defence none --defence combined",
    "bartizan run quick -m local --defence none --defence 'proxy:GATEWAY -- {command}'",
    "bartizan run --resume last --time-limit 600",
    NULL,
};

const struct btz_command btz_command_run = {
    .args = {.name = "run",
             .summary = "run a study against one or more models and print its table",
             .usage = usage,
             .options = options,
             .examples = examples,
             .max_positionals = 1},
    .csv = true,
    .run = run,
};
