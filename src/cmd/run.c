/* run: plans a study, runs it, prints its table. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cmd/cmd.h"
#include "report/report.h"
#include "study/study.h"

/* A local model answers one request at a time and keeps the last conversation's state: several
 * trials at once would push each other out of it. */
enum {
    DEFAULT_IN_FLIGHT = 8,
    LOCAL_IN_FLIGHT = 1,
    DEFAULT_MAX_TOKENS = 1024,
    LOCAL_MAX_TOKENS = 512,
    DEFAULT_SEED = 1
};

static int parse_models(struct btz_context *context, const struct btz_str *references, size_t count,
                        struct btz_study_options *study, struct btz_err *err)
{
    struct btz_study_model *models = btz_arena_array(context->arena, count, sizeof(*models));
    const char *actions = btz_args_text(context->args, "actions", "auto");
    size_t key_for_count = 0;
    struct btz_str *key_for = btz_cmd_values(context, "key-for", &key_for_count);
    char state[4096];

    if (!btz_str_is(btz_str_of(actions), "auto") && !btz_str_is(btz_str_of(actions), "native") &&
        !btz_str_is(btz_str_of(actions), "json")) {
        return btz_err_set(err, BTZ_EUSAGE, "--actions is \"%s\"; it is one of auto, native, json",
                           actions);
    }
    (void)btz_cmd_local_state(state, sizeof(state));
    for (size_t i = 0; i < count; i++) {
        struct btz_study_model *m = &models[i];
        int rc = btz_llm_model_parse(context->arena, references[i], state, &m->model, err);

        if (rc == BTZ_OK && m->model.kind != BTZ_LLM_MODEL_REF) {
            rc = btz_llm_key_for(context->arena, &m->model, getenv("OPENAI_API_KEY"),
                                 btz_args_text(context->args, "key-file", NULL), key_for,
                                 key_for_count, &m->key, err);
        }
        if (rc == BTZ_OK && m->model.kind == BTZ_LLM_MODEL_LOCAL &&
            !btz_cmd_local_runs(m->model.local.pid)) {
            rc = btz_err_set(err, BTZ_EMISSING,
                             "the local model is not running: `make local-model` starts it");
        }
        if (rc != BTZ_OK) {
            return rc;
        }
        if (!m->key.send && m->key.why.len &&
            (key_for_count || btz_args_has(context->args, "key-file"))) {
            btz_cmd_note(context, "%.*s: %.*s", BTZ_FMT(references[i]), BTZ_FMT(m->key.why));
        }
        m->json_actions = btz_str_is(btz_str_of(actions), "json") ||
                          (btz_str_is(btz_str_of(actions), "auto") &&
                           m->model.kind == BTZ_LLM_MODEL_LOCAL && !m->model.local.tool_template);
    }
    study->models = models;
    study->model_count = count;
    for (size_t i = 0; i < count; i++) {
        if (models[i].model.kind == BTZ_LLM_MODEL_LOCAL) {
            study->in_flight = (unsigned)btz_args_int(context->args, "in-flight", LOCAL_IN_FLIGHT);
            study->max_tokens = btz_args_int(context->args, "max-tokens", LOCAL_MAX_TOKENS);
        }
    }
    return BTZ_OK;
}

static int parse_revision(const char *text, enum btz_mcp_revision *out, struct btz_err *err)
{
    struct btz_str word = btz_str_of(text);

    *out = btz_str_is(word, "modern")   ? BTZ_MCP_2026_07_28
           : btz_str_is(word, "legacy") ? BTZ_MCP_2025_11_25
                                        : btz_mcp_revision_parse(word);
    if (*out == BTZ_MCP_REVISION_NONE) {
        return btz_err_set(
            err, BTZ_EUSAGE,
            "--revision is \"%s\"; it is modern (2026-07-28), legacy (2025-11-25), 2024-11-05, "
            "2025-03-26 or 2025-06-18",
            text);
    }
    return BTZ_OK;
}

/* Options that name things which come later are refused, never ignored. */
static int check_offered(struct btz_context *context, struct btz_study_options *o,
                         struct btz_err *err)
{
    const char *defence = btz_args_text(context->args, "defence", "none");
    const char *arch = btz_args_text(context->args, "arch", "react");

    if (!btz_str_is(btz_str_of(defence), "none")) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "--defence is \"%s\"; only none is offered by this version", defence);
    }
    if (btz_arch_named(btz_str_of(arch), &o->arch) != BTZ_OK) {
        return btz_err_set(err, BTZ_EUSAGE, "--arch is \"%s\"; use react, reflexion or retry",
                           arch);
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

static int fill_options(struct btz_context *context, struct btz_study_options *o,
                        struct btz_err *err)
{
    const char *carrier = btz_args_text(context->args, "carrier", "memory");
    int rc = check_offered(context, o, err);

    if (rc == BTZ_OK) {
        rc = parse_revision(btz_args_text(context->args, "revision", "modern"), &o->revision, err);
    }
    if (rc == BTZ_OK && btz_carrier_named(btz_str_of(carrier), &o->carrier) != BTZ_OK) {
        rc =
            btz_err_set(err, BTZ_EUSAGE, "--carrier is \"%s\"; use memory, stdio or http", carrier);
    }
    if (rc == BTZ_OK) {
        rc = btz_cmd_binary_hash(&o->binary, err);
    }
    o->name =
        btz_str_of(btz_args_count(context->args) ? btz_args_positional(context->args, 0) : "quick");
    o->repetitions = (unsigned)btz_args_int(context->args, "reps", 1);
    o->seed = (uint64_t)btz_args_int(context->args, "seed", DEFAULT_SEED);
    o->host_profile = btz_str_of(btz_args_text(context->args, "host-profile", "naive"));
    o->attacks = btz_cmd_values(context, "attack", &o->attack_count);
    o->variants = btz_cmd_values(context, "variant", &o->variant_count);
    o->surfaces = btz_cmd_values(context, "surface", &o->surface_count);
    o->in_flight = (unsigned)btz_args_int(context->args, "in-flight", DEFAULT_IN_FLIGHT);
    o->max_tokens = btz_args_int(context->args, "max-tokens", DEFAULT_MAX_TOKENS);
    o->request_timeout_us = btz_args_int(context->args, "request-timeout", 0) * 1000000;
    o->command = command_line(context);
    return rc;
}

/* A filter value that names nothing is a mistake, even if other values match. */
static int check_filters(const struct btz_study_options *o, struct btz_err *err)
{
    const struct {
        const char *option;
        const struct btz_str *values;
        size_t count;
    } filters[] = {{"attack", o->attacks, o->attack_count},
                   {"variant", o->variants, o->variant_count},
                   {"surface", o->surfaces, o->surface_count}};

    for (size_t f = 0; f < 3; f++) {
        for (size_t v = 0; v < filters[f].count; v++) {
            bool known = false;

            for (size_t i = 0; i < btz_lab_scenario_count(o->lab); i++) {
                const struct btz_scenario *s = btz_lab_scenario_at(o->lab, i);
                struct btz_str have = f == 0 ? s->attack : f == 1 ? s->variant : s->surface;

                known |= btz_str_eq(have, filters[f].values[v]);
            }
            if (!known) {
                return btz_err_set(err, BTZ_EUSAGE,
                                   "--%s %.*s matches no scenario; see `bartizan list scenarios`",
                                   filters[f].option, BTZ_FMT(filters[f].values[v]));
            }
        }
    }
    return BTZ_OK;
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
        rc = btz_cmd_certify(context, o->lab, o->store, &failed, NULL, err);
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

/* Runs until done or interrupted. Nothing that finished is lost either way. */
static int work(struct btz_context *context, struct btz_study *study, struct btz_store *store,
                struct btz_err *err)
{
    struct btz_study_status status;
    struct btz_progress progress;
    int rc;

    btz_study_status(study, &status);
    btz_cmd_note(context, "run %s: %zu trials%s", status.run_id, status.planned,
                 status.before ? ", some finished before" : "");
    btz_progress_init(&progress, &context->err, context->quiet, status.before, btz_clock_mono_us());
    do {
        rc = btz_study_poll(study, 100000, err);
        btz_study_status(study, &status);
        show_progress(context, &progress, &status, rc != BTZ_STEP_WAIT);
    } while (rc == BTZ_STEP_WAIT && !btz_study_interrupted(study));
    if (rc < 0) {
        return rc;
    }
    if (rc == BTZ_STEP_WAIT) {
        show_progress(context, &progress, &status, true);
        rc = btz_study_stop(study, BTZ_STR("interrupted"), err);
        if (rc == BTZ_OK) {
            btz_cmd_note(
                context,
                "interrupted: %zu of %zu trials are kept; go on with `bartizan run --resume %s`",
                status.finished, status.planned, status.run_id);
        }
        return rc ? rc : BTZ_EXIT_INTERRUPTED;
    }
    rc = print_report(context, store, status.run_id, err);
    if (rc == BTZ_OK && status.planned && status.faults == status.planned) {
        btz_cmd_note(context,
                     "every trial ended in a fault: the table says nothing about the model");
        rc = BTZ_EXIT_FAILED;
    }
    if (rc >= 0 && status.faults) {
        btz_cmd_note(context, "%zu trials ended in a fault, the last: %.*s", status.faults,
                     BTZ_FMT(status.last_fault));
    }
    btz_cmd_note(context, "run %s; look at one trial with `bartizan show %s 1`", status.run_id,
                 status.run_id);
    return rc;
}

static int start(struct btz_context *context, struct btz_study_options *o, struct btz_study **out,
                 struct btz_err *err)
{
    size_t count = 0;
    struct btz_str *references = btz_cmd_values(context, "model", &count);
    int rc = check_filters(o, err);

    if (rc == BTZ_OK && count == 0) {
        rc = btz_err_set(err, BTZ_EUSAGE,
                         "no model is given: use -m, for example -m ref:reader or "
                         "-m openai:NAME@http://127.0.0.1:8080/v1");
    }
    if (rc == BTZ_OK) {
        rc = parse_models(context, references, count, o, err);
    }
    if (rc == BTZ_OK) {
        rc = ensure_certified(context, o, err);
    }
    return rc ? rc : btz_study_new(o, out, err);
}

/* Everything but the keys comes from the run; options that would change it are refused. */
static int resume(struct btz_context *context, struct btz_study_options *o, struct btz_study **out,
                  struct btz_err *err)
{
    static const char *const fixed[] = {
        "model",  "reps",    "seed",    "host-profile", "revision", "carrier", "actions",
        "attack", "variant", "surface", "max-tokens",   "defence",  "arch"};
    struct btz_store_run run;
    struct btz_str *references = NULL;
    struct btz_str card;
    size_t count = 0;
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
    rc = ensure_certified(context, o, err);
    if (rc != BTZ_OK) {
        return rc;
    }
    rc = btz_store_run_find(o->store, btz_str_of(btz_args_text(context->args, "resume", "")),
                            context->arena, &run, err);
    if (rc == BTZ_OK) {
        rc = btz_store_provenance(o->store, run.no, context->arena, &card, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_study_models_of(context->arena, card, &references, &count, err);
    }
    if (rc == BTZ_OK) {
        rc = parse_models(context, references, count, o, err);
    }
    return rc ? rc : btz_study_resume(o, &run, out, err);
}

static int run(struct btz_context *context, struct btz_err *err)
{
    struct btz_study_options options = {0};
    struct btz_study *study = NULL;
    int rc = btz_cmd_lab(context, &options.lab, err);

    if (rc == BTZ_OK) {
        rc = fill_options(context, &options, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_cmd_store(context, BTZ_STORE_WRITE, &options.store, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_args_has(context->args, "resume") ? resume(context, &options, &study, err)
                                                   : start(context, &options, &study, err);
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
    {"reps", 0, BTZ_OPTION_INT, "N", "repetitions of each cell (default 1)", 1, 10000},
    {"in-flight", 0, BTZ_OPTION_INT, "N", "trials per model at a time (default 8; 1 with local)", 1,
     4096},
    {"attack", 0, BTZ_OPTION_LIST, "ID", "only this attack", 0, 0},
    {"variant", 0, BTZ_OPTION_LIST, "VN", "only this variant", 0, 0},
    {"surface", 0, BTZ_OPTION_LIST, "S", "only this surface (ma, cl, st, tr)", 0, 0},
    {"host-profile", 0, BTZ_OPTION_TEXT, "NAME", "naive (default), spec or hardened", 0, 0},
    {"revision", 0, BTZ_OPTION_TEXT, "R", "modern (default), legacy, or a revision in full", 0, 0},
    {"carrier", 0, BTZ_OPTION_TEXT, "NAME", "memory (default), stdio or http", 0, 0},
    {"actions", 0, BTZ_OPTION_TEXT, "MODE", "auto (default), native tool calls, or json", 0, 0},
    {"defence", 0, BTZ_OPTION_TEXT, "MODE", "none", 0, 0},
    {"arch", 0, BTZ_OPTION_TEXT, "NAME", "react (default), reflexion or retry", 0, 0},
    {"max-tokens", 0, BTZ_OPTION_INT, "N", "of one reply (default 1024; 512 with local)", 1,
     1000000},
    {"request-timeout", 0, BTZ_OPTION_INT, "S",
     "seconds for one attempt of a model request (default 120)", 1, 86400},
    {"key-file", 0, BTZ_OPTION_TEXT, "FILE",
     "file with the key (mode 0600); default: OPENAI_API_KEY", 0, 0},
    {"key-for", 0, BTZ_OPTION_LIST, "HOST:PORT", "send the key to this host too", 0, 0},
    {NULL, 0, BTZ_OPTION_FLAG, NULL, NULL, 0, 0},
};
static const char *const usage[] = {"[STUDY] -m MODEL...", "--resume RUN", NULL};
static const char *const examples[] = {
    "bartizan run quick -m ref:floor -m ref:reader",
    "bartizan run all -m local --reps 3",
    "bartizan run quick -m openai:NAME@http://127.0.0.1:8080/v1 --attack tool-poisoning",
    "bartizan run --resume last",
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
