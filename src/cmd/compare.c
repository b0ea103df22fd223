/* compare: paired contrasts between two runs, or between the subjects of one. */
#include "cmd/cmd.h"
#include "report/compare.h"

static int find(struct btz_context *context, struct btz_store *store, const char *reference,
                int64_t *no, struct btz_err *err)
{
    struct btz_store_run run;
    int rc = btz_store_run_find(store, btz_str_of(reference), context->arena, &run, err);

    if (rc == BTZ_OK) {
        *no = run.no;
    }
    return rc;
}

static int run(struct btz_context *context, struct btz_err *err)
{
    size_t given = btz_args_count(context->args);
    struct btz_store *store = NULL;
    struct btz_compare *compare = NULL;
    struct btz_buf out;
    int64_t first = 0;
    int64_t second = 0;
    int rc = btz_cmd_store(context, BTZ_STORE_READ, &store, err);

    btz_buf_init(&out, 64 * 1024 * 1024);
    if (rc == BTZ_OK) {
        rc = find(context, store, given ? btz_args_positional(context->args, 0) : "last", &first,
                  err);
    }
    second = first;
    if (rc == BTZ_OK && given > 1) {
        rc = find(context, store, btz_args_positional(context->args, 1), &second, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_compare_build(store, first, second, btz_args_flag(context->args, "force"),
                               context->arena, &compare, err);
    }
    if (rc == BTZ_OK && context->json) {
        rc = btz_cmd_print_json(context, btz_compare_json(compare, context->arena), err);
    } else if (rc == BTZ_OK) {
        btz_compare_print(compare, &context->out, &out);
        rc = btz_cmd_print(&out, err);
    }
    btz_buf_fini(&out);
    btz_store_close(store);
    return rc;
}

static const struct btz_option options[] = {
    {"force", 0, BTZ_OPTION_FLAG, NULL, "compare although packs, prompts or host profiles differ",
     0, 0},
    {NULL, 0, BTZ_OPTION_FLAG, NULL, NULL, 0, 0},
};
static const char *const usage[] = {"[RUN]", "RUN_A RUN_B", NULL};
static const char *const examples[] = {"bartizan compare last", "bartizan compare RUN_A RUN_B",
                                       "bartizan compare RUN_A RUN_B --json", NULL};

const struct btz_command btz_command_compare = {
    .args = {.name = "compare",
             .summary = "compare two runs, or the models of one, with paired tests",
             .usage = usage,
             .options = options,
             .examples = examples,
             .max_positionals = 2},
    .run = run,
};
