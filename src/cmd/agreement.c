/* agreement: how judges, people and the companion agree on a run. */
#include "report/agreement.h"

#include "cmd/cmd.h"

static int run(struct btz_context *context, struct btz_err *err)
{
    const char *reference =
        btz_args_count(context->args) ? btz_args_positional(context->args, 0) : "last";
    struct btz_store *store = NULL;
    struct btz_store_run found;
    bool all_arms = false;
    int rc = btz_cmd_arms(context, &all_arms, err);

    if (rc == BTZ_OK) {
        rc = btz_cmd_store(context, BTZ_STORE_READ, &store, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_store_run_find(store, btz_str_of(reference), context->arena, &found, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_cmd_agreement(context, store, found.no, all_arms, err);
    }
    btz_store_close(store);
    return rc;
}

static const struct btz_option options[] = {
    {"arms", 0, BTZ_OPTION_TEXT, "WHICH", "attack (default), or all: the twins too", 0, 0},
    {NULL, 0, BTZ_OPTION_FLAG, NULL, NULL, 0, 0},
};
static const char *const usage[] = {"[RUN]", NULL};
static const char *const examples[] = {"bartizan agreement last", "bartizan agreement RUN --json",
                                       NULL};

const struct btz_command btz_command_agreement = {
    .args = {.name = "agreement",
             .summary = "how judges, people and the deterministic oracle agree on a run",
             .usage = usage,
             .options = options,
             .examples = examples,
             .max_positionals = 1},
    .run = run,
};

int btz_cmd_arms(struct btz_context *context, bool *all, struct btz_err *err)
{
    struct btz_str arms = btz_str_of(btz_args_text(context->args, "arms", "attack"));

    if (!btz_str_is(arms, "attack") && !btz_str_is(arms, "all")) {
        return btz_err_set(err, BTZ_EUSAGE, "--arms is \"%.*s\"; it is attack or all",
                           BTZ_FMT(arms));
    }
    *all = btz_str_is(arms, "all");
    return BTZ_OK;
}

int btz_cmd_agreement(struct btz_context *context, struct btz_store *store, int64_t run,
                      bool all_arms, struct btz_err *err)
{
    struct btz_agreements *agreements = NULL;
    struct btz_buf out;
    int rc = btz_agreements_build(store, run, all_arms, context->arena, &agreements, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    if (context->json) {
        return btz_cmd_print_json(context, btz_agreements_json(agreements, context->arena), err);
    }
    btz_buf_init(&out, 64 * 1024 * 1024);
    btz_agreements_print(agreements, &context->out, &out);
    rc = btz_cmd_print(&out, err);
    btz_buf_fini(&out);
    return rc;
}
