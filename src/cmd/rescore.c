/* rescore: judges the stored trials of a run once more, by a model or by people. */
#include "cmd/rescore.h"
#include "report/agreement.h"

/* What a judge is asked about one trial: also what a person who labels should look at. */
static int print_trace(struct rescore *r, int64_t n, struct btz_err *err)
{
    struct btz_arena *arena = r->context->arena;
    struct btz_judge_request request;
    struct btz_store_row row;
    struct btz_buf out;
    size_t attack = 0;
    int rc = btz_store_trial_load(r->store, r->run.no, n, arena, &row, err);

    if (rc == BTZ_OK) {
        rc = rescore_attack_at(r, row.cell.attack, &attack, err);
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    btz_judge_request_make(r->judge, arena, r->attacks[attack].rubric, row.trial.events,
                           row.trial.event_count, &request);
    btz_buf_init(&out, 4 * 1024 * 1024);
    if (r->context->json) {
        struct btz_json *json = btz_json_new_object(arena);

        btz_json_set_str(arena, json, "text", request.text);
        rc = btz_cmd_print_json(r->context, json, err);
    } else {
        struct btz_str rest = request.text;
        struct btz_str line;

        while (btz_str_cut(&rest, '\n', &line)) { /* so that no trace steers the terminal */
            (void)btz_term_add_text(&out, line, SIZE_MAX);
            (void)btz_buf_add_byte(&out, '\n');
        }
        rc = btz_cmd_print(&out, err);
    }
    btz_buf_fini(&out);
    return rc;
}

static void note_judge(struct rescore *r, const struct rescore_judge *j)
{
    btz_cmd_note(r->context,
                 "%.*s: %lld trials judged, %lld by the verdict on an equal request, %lld had one; "
                 "%lld malformed; %lld left",
                 BTZ_FMT(j->name), (long long)(j->judged + j->shared), (long long)j->shared,
                 (long long)j->before, (long long)j->malformed, (long long)j->left);
    if (j->failed) {
        btz_cmd_note(r->context, "%.*s: %lld requests failed, the last: %s", BTZ_FMT(j->name),
                     (long long)j->failed, j->last_failure);
    }
}

static int print_json(struct rescore *r, struct btz_err *err)
{
    struct btz_arena *arena = r->context->arena;
    struct btz_json *out = btz_json_new_object(arena);
    struct btz_json *judges = btz_json_new_array(arena);
    struct btz_agreements *agreements = NULL;
    int rc = btz_agreements_build(r->store, r->run.no, r->all_arms, arena, &agreements, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    for (size_t i = 0; i < r->judge_count; i++) {
        const struct rescore_judge *j = &r->judges[i];
        struct btz_json *item = btz_json_new_object(arena);

        btz_json_set_str(arena, item, "judge", j->name);
        btz_json_set_bool(arena, item, "same_vendor", j->same_vendor);
        btz_json_set_int(arena, item, "before", j->before);
        btz_json_set_int(arena, item, "judged", j->judged);
        btz_json_set_int(arena, item, "shared", j->shared);
        btz_json_set_int(arena, item, "malformed", j->malformed);
        btz_json_set_int(arena, item, "asked", j->asked);
        btz_json_set_int(arena, item, "failed", j->failed);
        btz_json_set_int(arena, item, "left", j->left);
        btz_json_push(arena, judges, item);
    }
    btz_json_set_strz(arena, out, "run", r->run.id);
    btz_json_set_int(arena, out, "trials", (int64_t)r->item_count);
    btz_json_set_int(arena, out, "without_rubric", r->without_rubric);
    btz_json_setz(arena, out, "judges", judges);
    btz_json_setz(arena, out, "agreement", btz_agreements_json(agreements, arena));
    return btz_cmd_print_json(r->context, out, err);
}

static int print_end(struct rescore *r, struct btz_err *err)
{
    return r->context->json ? print_json(r, err)
                            : btz_cmd_agreement(r->context, r->store, r->run.no, r->all_arms, err);
}

static int judge_all(struct rescore *r, struct btz_err *err)
{
    struct btz_net_loop *loop = NULL;
    int64_t failed = 0;
    int rc = rescore_judges(r, err);

    if (rc == BTZ_OK && r->run.no) {
        rc = rescore_items(r, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_net_loop_new(&loop, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_net_loop_catch_signals(loop, err);
    }
    if (rc == BTZ_OK && !r->run.no) {
        rc = rescore_certify(r, loop, err);
        btz_net_loop_free(loop);
        return rc;
    }
    if (rc == BTZ_OK) {
        btz_cmd_note(r->context, "run %s: %zu trials to judge, %zu different requests", r->run.id,
                     r->item_count, r->group_count);
    }
    for (size_t i = 0; rc == BTZ_OK && i < r->judge_count; i++) {
        rc = rescore_note_certified(r, &r->judges[i], err);
        rc = rc ? rc : rescore_ask(r, i, loop, err);
        if (rc >= 0) {
            note_judge(r, &r->judges[i]);
        }
        failed += r->judges[i].failed;
    }
    btz_net_loop_free(loop);
    if (rc == BTZ_EXIT_INTERRUPTED) {
        btz_cmd_note(r->context, "interrupted: every verdict so far is kept; the same command goes "
                                 "on and asks nothing twice");
        return rc;
    }
    if (rc == BTZ_OK) {
        rc = print_end(r, err);
    }
    return rc ? rc : failed ? BTZ_EXIT_FAILED : BTZ_EXIT_DONE;
}

/* The one thing that this call is to do. */
static int perform(struct rescore *r, struct btz_err *err)
{
    struct btz_args *args = r->context->args;
    const char *labels = btz_args_text(args, "labels", NULL);
    const char *sheet = btz_args_text(args, "label-sheet", NULL);
    int rc;

    if (btz_args_has(args, "trace")) {
        return print_trace(r, btz_args_int(args, "trace", 0), err);
    }
    if (sheet) {
        return rescore_sheet(r, sheet, err);
    }
    if (!labels) {
        return judge_all(r, err);
    }
    rc = rescore_labels(r, labels, err);
    return rc ? rc : print_end(r, err);
}

/* An option that the task does not read is a mistake, never ignored. */
static int check_options(struct btz_context *context, const char *task, struct btz_err *err)
{
    static const struct {
        const char *option;
        const char *tasks; /* that read it */
    } rows[] = {
        {"sample", "label-sheet"},
        {"limit", "judge"},
        {"in-flight", "judge certify"},
        {"max-tokens", "judge certify"},
        {"request-timeout", "judge certify"},
        {"key-file", "judge certify"},
        {"key-for", "judge certify"},
        {"attack", "judge certify label-sheet"},
        {"arms", "judge labels label-sheet"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct btz_str tasks = btz_str_of(rows[i].tasks);
        struct btz_str word;
        bool reads = false;

        while (btz_str_cut(&tasks, ' ', &word)) {
            reads |= btz_str_is(word, task);
        }
        if (!reads && btz_args_has(context->args, rows[i].option)) {
            return btz_err_set(err, BTZ_EUSAGE, "--%s cannot go with --%s", rows[i].option, task);
        }
    }
    return BTZ_OK;
}

static int check_use(struct btz_context *context, struct btz_err *err)
{
    static const char *const tasks[] = {"judge", "labels", "label-sheet", "trace"};
    bool certify = btz_args_flag(context->args, "certify");
    const char *task = NULL;
    size_t given = 0;

    for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
        if (btz_args_has(context->args, tasks[i])) {
            task = tasks[i];
            given++;
        }
    }
    if (certify &&
        (given != 1 || !btz_args_has(context->args, "judge") || btz_args_count(context->args))) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "--certify goes with --judge alone: it makes its own trials");
    }
    if (given != 1) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "give one of --judge MODEL, --labels FILE, --label-sheet FILE and "
                           "--trace N");
    }
    return check_options(context, certify ? "certify" : task, err);
}

static int check_attacks(struct rescore *r, struct btz_err *err)
{
    size_t count = 0;
    struct btz_str *attacks = btz_cmd_values(r->context, "attack", &count);

    for (size_t i = 0; i < count; i++) {
        bool known = false;

        for (size_t s = 0; s < btz_lab_scenario_count(r->lab); s++) {
            known |= btz_str_eq(btz_lab_scenario_at(r->lab, s)->attack, attacks[i]);
        }
        if (!known) {
            return btz_err_set(err, BTZ_EUSAGE,
                               "--attack %.*s names no attack; see `bartizan list attacks`",
                               BTZ_FMT(attacks[i]));
        }
    }
    return BTZ_OK;
}

static int run(struct btz_context *context, struct btz_err *err)
{
    const char *reference =
        btz_args_count(context->args) ? btz_args_positional(context->args, 0) : "last";
    struct rescore r = {.context = context};
    bool reads = btz_args_has(context->args, "trace") || btz_args_has(context->args, "label-sheet");
    int rc = check_use(context, err);

    if (rc == BTZ_OK) {
        rc = btz_cmd_arms(context, &r.all_arms, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_cmd_lab(context, &r.lab, err);
    }
    if (rc == BTZ_OK) {
        rc = check_attacks(&r, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_cmd_store(context, reads ? BTZ_STORE_READ : BTZ_STORE_WRITE, &r.store, err);
    }
    if (rc == BTZ_OK && !btz_args_flag(context->args, "certify")) {
        rc = btz_store_run_find(r.store, btz_str_of(reference), context->arena, &r.run, err);
    }
    if (rc == BTZ_OK) {
        r.judge = btz_judge_new(btz_args_int(context->args, "max-tokens", 0));
        rc = perform(&r, err);
    }
    btz_judge_free(r.judge);
    btz_store_close(r.store);
    btz_lab_free(r.lab);
    return rc;
}

static const struct btz_option options[] = {
    {"judge", 'j', BTZ_OPTION_LIST, "MODEL",
     "ask this model: openai:NAME@http://HOST:PORT/v1, openai:NAME, or local", 0, 0},
    {"certify", 0, BTZ_OPTION_FLAG, NULL,
     "measure the judge on traces of known truth, made by reference agents", 0, 0},
    {"labels", 0, BTZ_OPTION_TEXT, "FILE", "take labels of people: trial,success,labeller", 0, 0},
    {"label-sheet", 0, BTZ_OPTION_TEXT, "FILE", "write a sheet for labels of people", 0, 0},
    {"sample", 0, BTZ_OPTION_INT, "N", "trials on the sheet, drawn by --seed (default 50)", 1,
     1000000},
    {"trace", 0, BTZ_OPTION_INT, "N", "print what a judge is asked about trial N", 1, INT64_MAX},
    {"attack", 0, BTZ_OPTION_LIST, "ID", "only this attack", 0, 0},
    {"arms", 0, BTZ_OPTION_TEXT, "WHICH", "attack (default), or all: the twins too", 0, 0},
    {"in-flight", 0, BTZ_OPTION_INT, "N", "requests at a time (default 8; 1 with local)", 1, 4096},
    {"limit", 0, BTZ_OPTION_INT, "N", "ask each judge at most N requests", 1, INT64_MAX},
    {"max-tokens", 0, BTZ_OPTION_INT, "N", "of one reply (default 1024)", 1, 1000000},
    {"request-timeout", 0, BTZ_OPTION_INT, "S",
     "seconds for one attempt of a model request (default 120)", 1, 86400},
    {"key-file", 0, BTZ_OPTION_TEXT, "FILE",
     "file with the key (mode 0600); default: OPENAI_API_KEY", 0, 0},
    {"key-for", 0, BTZ_OPTION_LIST, "HOST:PORT", "send the key to this host too", 0, 0},
    {NULL, 0, BTZ_OPTION_FLAG, NULL, NULL, 0, 0},
};
static const char *const usage[] = {"[RUN] --judge MODEL...",   "--certify --judge MODEL...",
                                    "[RUN] --label-sheet FILE", "[RUN] --labels FILE",
                                    "[RUN] --trace N",          NULL};
static const char *const examples[] = {
    "bartizan rescore last --judge openai:NAME@http://127.0.0.1:8080/v1",
    "bartizan rescore last --judge local --attack tool-poisoning --limit 20",
    "bartizan rescore --certify --judge openai:NAME@http://127.0.0.1:8080/v1",
    "bartizan rescore RUN --label-sheet sheet.csv --sample 40",
    "bartizan rescore RUN --labels sheet.csv",
    NULL,
};

const struct btz_command btz_command_rescore = {
    .args = {.name = "rescore",
             .summary = "judge the stored trials of a run by a model or by people",
             .usage = usage,
             .options = options,
             .examples = examples,
             .max_positionals = 1},
    .run = run,
};
