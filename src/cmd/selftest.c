/* selftest: certifies every scenario. */
#include "cmd/cmd.h"
#include "study/file.h"

static void count_scenario(const struct btz_json *checks, struct btz_str scenario, size_t *passed,
                           size_t *failed, size_t *skipped)
{
    for (size_t i = 0; i < btz_json_count(checks); i++) {
        const struct btz_json *c = btz_json_at(checks, i);

        if (btz_str_eq(btz_json_str(btz_json_getz(c, "scenario")), scenario)) {
            bool skip = btz_json_bool(btz_json_getz(c, "skipped"), false);
            bool good = btz_json_bool(btz_json_getz(c, "passed"), false);

            *skipped += skip;
            *passed += good && !skip;
            *failed += !good;
        }
    }
}

static void add_row(struct btz_table *table, const struct btz_json *checks, struct btz_str scenario)
{
    size_t passed = 0;
    size_t failed = 0;
    size_t skipped = 0;

    count_scenario(checks, scenario, &passed, &failed, &skipped);
    if (passed + failed + skipped == 0) {
        return; /* of an attack that was not asked for */
    }
    btz_table_cell(table, scenario, BTZ_COLOUR_NONE);
    btz_table_cell(table, failed ? BTZ_STR("refused") : BTZ_STR("certified"),
                   failed ? BTZ_COLOUR_RED : BTZ_COLOUR_GREEN);
    btz_table_printf(table, BTZ_COLOUR_NONE, "%zu", passed);
    btz_table_printf(table, failed ? BTZ_COLOUR_RED : BTZ_COLOUR_NONE, "%zu", failed);
    btz_table_printf(table, BTZ_COLOUR_NONE, "%zu", skipped);
}

static struct btz_str joined(struct btz_arena *arena, const struct btz_json *list)
{
    struct btz_str text = BTZ_STR("");

    for (size_t i = 0; i < btz_json_count(list); i++) {
        text = btz_arena_printf(arena, "%.*s%s%.*s", BTZ_FMT(text), i ? " " : "",
                                BTZ_FMT(btz_json_str(btz_json_at(list, i))));
    }
    return text;
}

/* Facts of the whole suite; what they may be is a check of its own (study/distinct.h). */
static void add_suite(struct btz_context *context, const struct btz_json *suite,
                      struct btz_buf *out)
{
    const struct btz_json *closest = btz_json_getz(suite, "closest");
    int64_t hits = 0;
    int64_t fragments = 0;
    int64_t manipulations = 0;
    double share = 0;

    (void)btz_json_int64(btz_json_getz(suite, "eight_phrase_hits"), &hits);
    (void)btz_json_int64(btz_json_getz(suite, "fragments"), &fragments);
    (void)btz_json_int64(btz_json_getz(suite, "accepted_manipulations"), &manipulations);
    (void)btz_json_double(btz_json_getz(closest, "share"), &share);
    (void)btz_buf_printf(out,
                         "\nSuite: payload languages %.*s; registers %.*s; entered by %.*s; "
                         "%lld accepted manipulations.\nThe eight-phrase filter hits %lld of %lld "
                         "fragments. The two closest payloads share %.0f%% of their word 5-grams",
                         BTZ_FMT(joined(context->arena, btz_json_getz(suite, "languages"))),
                         BTZ_FMT(joined(context->arena, btz_json_getz(suite, "registers"))),
                         BTZ_FMT(joined(context->arena, btz_json_getz(suite, "enters_by"))),
                         (long long)manipulations, (long long)hits, (long long)fragments,
                         share * 100);
    if (share > 0) {
        (void)btz_buf_printf(out, " (%.*s, %.*s)",
                             BTZ_FMT(btz_json_str(btz_json_getz(closest, "a"))),
                             BTZ_FMT(btz_json_str(btz_json_getz(closest, "b"))));
    }
    (void)btz_buf_add_text(out, ".\n");
}

/* Whether an earlier check of the same scenario failed with the same words. */
static bool said_before(const struct btz_json *checks, size_t index)
{
    const struct btz_json *c = btz_json_at(checks, index);

    for (size_t i = index; i-- > 0;) {
        const struct btz_json *other = btz_json_at(checks, i);

        if (!btz_str_eq(btz_json_str(btz_json_getz(other, "scenario")),
                        btz_json_str(btz_json_getz(c, "scenario")))) {
            return false; /* the checks of a scenario stand together */
        }
        if (!btz_json_bool(btz_json_getz(other, "passed"), false) &&
            btz_str_eq(btz_json_str(btz_json_getz(other, "detail")),
                       btz_json_str(btz_json_getz(c, "detail")))) {
            return true;
        }
    }
    return false;
}

static int print_table(struct btz_context *context, struct btz_lab *lab,
                       const struct btz_json *report, struct btz_err *err)
{
    static const struct btz_column columns[] = {{"scenario", BTZ_ALIGN_LEFT},
                                                {"", BTZ_ALIGN_LEFT},
                                                {"passed", BTZ_ALIGN_RIGHT},
                                                {"failed", BTZ_ALIGN_RIGHT},
                                                {"n/a", BTZ_ALIGN_RIGHT}};
    const struct btz_json *checks = btz_json_getz(report, "checks");
    struct btz_table *table = btz_table_new(columns, 5);
    struct btz_buf out;
    size_t hidden = 0;
    int rc;

    btz_buf_init(&out, 64 * 1024 * 1024);
    for (size_t i = 0; i < btz_lab_scenario_count(lab); i++) {
        add_row(table, checks, btz_lab_scenario_at(lab, i)->id);
    }
    add_row(table, checks, BTZ_STR("suite"));
    if (btz_table_print(table, context->out.colour, &out) != BTZ_OK) {
        out.failed = true; /* btz_cmd_print says so */
    }
    btz_table_free(table);
    for (size_t i = 0; i < btz_json_count(checks); i++) {
        const struct btz_json *c = btz_json_at(checks, i);
        bool good = btz_json_bool(btz_json_getz(c, "passed"), false);
        bool skip = btz_json_bool(btz_json_getz(c, "skipped"), false);

        if (!good && !context->verbose && said_before(checks, i)) {
            hidden++;
        } else if (!good || context->verbose) {
            (void)btz_buf_printf(&out, "%s %.*s: %.*s%s%.*s\n",
                                 !good  ? "FAILED"
                                 : skip ? "n/a   "
                                        : "passed",
                                 BTZ_FMT(btz_json_str(btz_json_getz(c, "scenario"))),
                                 BTZ_FMT(btz_json_str(btz_json_getz(c, "rule"))),
                                 good && !skip ? "" : ": ",
                                 BTZ_FMT(btz_json_str(btz_json_getz(c, "detail"))));
        }
    }
    if (hidden) {
        (void)btz_buf_printf(&out,
                             "%zu more checks failed with the same words as one above; --verbose "
                             "shows them.\n",
                             hidden);
    }
    add_suite(context, btz_json_getz(report, "suite"), &out);
    rc = btz_cmd_print(&out, err);
    btz_buf_fini(&out);
    return rc;
}

static int check_attacks(struct btz_context *context, struct btz_lab *lab,
                         const struct btz_str *attacks, size_t count, struct btz_err *err)
{
    for (size_t i = 0; i < count; i++) {
        const char *near = NULL;

        if (!btz_study_knows(context->arena, lab, BTZ_STUDY_ATTACK, attacks[i], &near)) {
            return btz_err_set(err, BTZ_EUSAGE, "there is no attack \"%.*s\"%s%s%s",
                               BTZ_FMT(attacks[i]), near ? "; did you mean \"" : "",
                               near ? near : "", near ? "\"?" : "");
        }
    }
    return BTZ_OK;
}

static int run(struct btz_context *context, struct btz_err *err)
{
    struct btz_lab *lab = NULL;
    struct btz_store *store = NULL;
    struct btz_json *report = NULL;
    size_t failed = 0;
    size_t attack_count = 0;
    const struct btz_str *attacks = btz_cmd_values(context, "attack", &attack_count);
    int rc = btz_cmd_lab(context, &lab, err);

    if (rc == BTZ_OK) {
        rc = check_attacks(context, lab, attacks, attack_count, err);
    }

    if (rc == BTZ_OK) {
        rc = btz_cmd_store(context, BTZ_STORE_WRITE, &store, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_cmd_certify(context, lab, store, attacks, attack_count, &failed, &report, err);
    }
    if (rc == BTZ_OK) {
        rc = context->json ? btz_cmd_print_json(context, report, err)
                           : print_table(context, lab, report, err);
    }
    btz_store_close(store);
    btz_lab_free(lab);
    return rc ? rc : failed ? BTZ_EXIT_FAILED : BTZ_EXIT_DONE;
}

static const char *const usage[] = {"", NULL};
static const char *const examples[] = {"bartizan selftest",
                                       "bartizan selftest --pack my-pack --verbose", NULL};

static const struct btz_option options[] = {
    {"attack", 0, BTZ_OPTION_LIST, "ID",
     "only this attack; what is certified so does not count for `run`", 0, 0},
    {"workers", 0, BTZ_OPTION_INT, "N", "processes that certify (default: one per processor)", 1,
     64},
    {NULL, 0, BTZ_OPTION_FLAG, NULL, NULL, 0, 0},
};

const struct btz_command btz_command_selftest = {
    .args = {.name = "selftest",
             .summary = "certify every scenario with reference agents, offline",
             .usage = usage,
             .options = options,
             .examples = examples},
    .run = run,
};
