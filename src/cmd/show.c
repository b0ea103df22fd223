/* show: the trials of a run, or one trial as a readable trajectory or as a story. */
#include <stdlib.h>

#include "cmd/cmd.h"
#include "report/show.h"

static int parse_number(const char *text, int64_t *n, struct btz_err *err)
{
    if (btz_str_int64(btz_str_of(text), n) != BTZ_OK || *n < 1) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "\"%s\" is no trial number; `bartizan show RUN` lists them from 1",
                           text);
    }
    return BTZ_OK;
}

/* ---- the story of a trial ---- */

static struct btz_str hash_text(struct btz_arena *arena, struct btz_hash hash)
{
    char hex[65];

    return btz_arena_dup(arena, btz_str_of(btz_hash_hex(&hash, hex)));
}

/* The operands are those of the attack: a twin's honest text has none of them. */
static struct btz_show_fragment fragment_of(struct btz_arena *arena, const struct btz_fragment *f,
                                            enum btz_arm arm)
{
    size_t count = arm == BTZ_ARM_ATTACK ? btz_json_count(f->operands) : 0;
    struct btz_str *operands = btz_arena_array(arena, count, sizeof(*operands));

    for (size_t i = 0; i < count; i++) {
        operands[i] = btz_arena_dup(arena, btz_json_str(btz_json_at(f->operands, i)));
    }
    return (struct btz_show_fragment){.text = btz_arena_dup(arena, f->text),
                                      .place = f->at ? btz_json_text(arena, f->at) : BTZ_STR_NONE,
                                      .operands = operands,
                                      .operand_count = count};
}

/* The payload as it was drawn for the trial: a function of scenario, arm and seed. */
static int read_fragments(struct btz_context *context, struct btz_lab *lab,
                          const struct btz_scenario *scenario, const struct btz_store_row *row,
                          struct btz_show_scenario *out, struct btz_err *err)
{
    struct btz_stage *stage = NULL;
    struct btz_show_fragment *fragments;
    enum btz_arm arm = btz_str_is(row->cell.arm, "clean")    ? BTZ_ARM_CLEAN
                       : btz_str_is(row->cell.arm, "benign") ? BTZ_ARM_BENIGN
                                                             : BTZ_ARM_ATTACK;
    int rc = btz_stage_new(lab, scenario, arm, row->trial.seed, &stage, err);

    if (rc != BTZ_OK || arm == BTZ_ARM_CLEAN) {
        btz_stage_free(stage);
        return rc;
    }
    fragments =
        btz_arena_array(context->arena, btz_stage_fragment_count(stage), sizeof(*fragments));
    for (size_t i = 0; i < btz_stage_fragment_count(stage); i++) {
        fragments[i] = fragment_of(context->arena, btz_stage_fragment_at(stage, i), arm);
    }
    out->fragments = fragments;
    out->fragment_count = btz_stage_fragment_count(stage);
    btz_stage_free(stage);
    return BTZ_OK;
}

/* What the packs say of the trial; `*known` is false if they are not the run's. */
static int read_scenario(struct btz_context *context, struct btz_lab *lab, struct btz_store *store,
                         int64_t run, int64_t n, struct btz_show_scenario *out, bool *known,
                         struct btz_err *err)
{
    struct btz_arena *arena = context->arena;
    const struct btz_scenario *scenario;
    const struct btz_json *card = NULL;
    struct btz_store_row row;
    struct btz_str text;
    int rc = btz_store_provenance(store, run, arena, &text, err);

    if (rc == BTZ_OK) {
        rc = btz_store_trial_load(store, run, n, arena, &row, err);
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    scenario =
        btz_lab_scenario_find(lab, btz_arena_printf(arena, "%.*s/%.*s", BTZ_FMT(row.cell.attack),
                                                    BTZ_FMT(row.cell.variant)));
    *known = scenario && btz_json_parse(arena, text, NULL, &card, NULL) == BTZ_OK &&
             btz_str_eq(btz_json_str(btz_json_getz(card, "pack_hash")),
                        hash_text(arena, btz_lab_pack_hash(lab)));
    if (!*known) {
        return BTZ_OK;
    }
    *out = (struct btz_show_scenario){
        .name = btz_json_str(btz_json_getz(scenario->attack_card, "name")),
        .capability = btz_json_str(btz_json_getz(scenario->attack_card, "capability")),
        .mechanism = btz_json_str(btz_json_getz(scenario->attack_card, "mechanism")),
        .success = btz_json_str(btz_json_getz(scenario->card, "success")),
        .violation = btz_json_str(btz_json_getz(scenario->card, "violation"))};
    return read_fragments(context, lab, scenario, &row, out, err);
}

static int show_story(struct btz_context *context, struct btz_store *store, int64_t run, int64_t n,
                      struct btz_buf *out, struct btz_err *err)
{
    struct btz_show_options options = {.term = &context->out};
    struct btz_show_scenario scenario = {.fragment_count = 0};
    struct btz_lab *lab = NULL;
    bool known = false;
    int rc = btz_cmd_lab_of(context, store, run, &lab, err);

    if (rc == BTZ_OK) {
        rc = read_scenario(context, lab, store, run, n, &scenario, &known, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_show_story(store, run, n, known ? &scenario : NULL,
                            btz_args_flag(context->args, "markdown"), &options, out, err);
    }
    btz_lab_free(lab);
    return rc;
}

static int check_story(struct btz_context *context, int64_t n, struct btz_err *err)
{
    bool annotate = btz_args_flag(context->args, "annotate");

    if (btz_args_flag(context->args, "markdown") && !annotate) {
        return btz_err_set(err, BTZ_EUSAGE, "--markdown is a form of --annotate: give both");
    }
    if (annotate && context->json) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "--annotate is for people; --json alone gives all that it is made of");
    }
    if (annotate && n == 0) {
        return btz_err_set(err, BTZ_EUSAGE, "--annotate tells one trial: name it, as in RUN/N");
    }
    return BTZ_OK;
}

static int show(struct btz_context *context, struct btz_store *store, int64_t run, int64_t n,
                struct btz_err *err)
{
    struct btz_show_options options = {.term = &context->out, .verbose = context->verbose};
    struct btz_json *json = NULL;
    struct btz_buf out;
    int rc;

    if (context->json) {
        rc = n ? btz_show_trial_json(store, run, n, context->arena, &json, err)
               : btz_show_run_json(store, run, context->arena, &json, err);
        return rc ? rc : btz_cmd_print_json(context, json, err);
    }
    btz_buf_init(&out, 512 * 1024 * 1024);
    rc = btz_args_flag(context->args, "annotate") ? show_story(context, store, run, n, &out, err)
         : n ? btz_show_trial(store, run, n, &options, &out, err)
             : btz_show_run(store, run, &options, &out, err);
    if (rc == BTZ_OK) {
        rc = btz_cmd_print(&out, err);
    }
    btz_buf_fini(&out);
    return rc;
}

static int run(struct btz_context *context, struct btz_err *err)
{
    struct btz_str reference = BTZ_STR("last");
    struct btz_store *store = NULL;
    struct btz_store_run found;
    int64_t n = 0;
    int rc = BTZ_OK;

    if (btz_args_count(context->args)) {
        rc = btz_store_ref_split(btz_str_of(btz_args_positional(context->args, 0)), &reference, &n,
                                 err);
    }
    if (rc == BTZ_OK && btz_args_count(context->args) == 2) {
        if (n) {
            return btz_err_set(err, BTZ_EUSAGE, "give the trial once: RUN/N or RUN N");
        }
        rc = parse_number(btz_args_positional(context->args, 1), &n, err);
    }
    if (rc == BTZ_OK) {
        rc = check_story(context, n, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_cmd_store(context, BTZ_STORE_READ, &store, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_store_run_find(store, reference, context->arena, &found, err);
    }
    if (rc == BTZ_OK) {
        rc = show(context, store, found.no, n, err);
    }
    btz_store_close(store);
    return rc;
}

static const struct btz_option options[] = {
    {"annotate", 0, BTZ_OPTION_FLAG, NULL, "tell one trial as a story: payload, act, verdicts", 0,
     0},
    {"markdown", 0, BTZ_OPTION_FLAG, NULL, "with --annotate: as Markdown", 0, 0},
    {NULL, 0, BTZ_OPTION_FLAG, NULL, NULL, 0, 0},
};
static const char *const usage[] = {"[RUN]", "RUN N", "RUN/N", NULL};
static const char *const examples[] = {"bartizan show", "bartizan show last 3",
                                       "bartizan show RUN/3 --verbose",
                                       "bartizan show RUN/3 --annotate --markdown", NULL};

const struct btz_command btz_command_show = {
    .args = {.name = "show",
             .summary = "list the trials of a run, or show one trial",
             .usage = usage,
             .options = options,
             .examples = examples,
             .max_positionals = 2},
    .run = run,
};
