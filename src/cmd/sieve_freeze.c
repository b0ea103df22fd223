/* sieve freeze: divides a corpus into development and test set, once. */
#include <stdlib.h>

#include "cmd/sieve.h"
#include "sieve/split.h"

static int share_of(const char *text, double *out, struct btz_err *err)
{
    char *end = NULL;
    double share = strtod(text, &end);

    if (*end != '\0' || !(share > 0 && share < 1)) {
        return btz_err_set(err, BTZ_EUSAGE, "--share is a number between 0 and 1, such as 0.28");
    }
    *out = share;
    return BTZ_OK;
}

static int fill(struct btz_context *context, struct btz_sieve_freeze_options *options,
                struct btz_err *err)
{
    const char *method = btz_args_text(context->args, "method", "grouped");
    const char *rules = btz_args_text(context->args, "rules", NULL);
    const char *commit = btz_args_text(context->args, "rules-commit", "");
    struct btz_hash hash;
    char hex[65];
    int rc;

    if (strcmp(method, "paper") != 0 && strcmp(method, "grouped") != 0) {
        return btz_err_set(err, BTZ_EUSAGE, "--method is grouped or paper");
    }
    if (strlen(commit) > 64) {
        return btz_err_set(err, BTZ_EUSAGE, "--rules-commit is the name of a commit");
    }
    options->input = btz_args_positional(context->args, 0);
    options->folder = btz_args_text(context->args, "out", NULL);
    if (!options->folder) {
        return btz_err_set(err, BTZ_EUSAGE, "--out DIR is needed: the folder of the frozen set");
    }
    options->method = method[0] == 'p' ? BTZ_SIEVE_PAPER : BTZ_SIEVE_GROUPED;
    options->seed = (uint64_t)btz_args_int(context->args, "seed", 1);
    options->created = btz_cmd_sieve_today(context->arena);
    options->rules_commit = btz_str_of(commit);
    rc = share_of(btz_args_text(context->args, "share", "0.28"), &options->share, err);
    if (rc == BTZ_OK && rules) {
        rc = btz_sieve_file_hash(rules, &hash, err);
        options->rules_sha256 =
            rc ? BTZ_STR_NONE : btz_arena_dup(context->arena, btz_str_of(btz_hash_hex(&hash, hex)));
    }
    return rc;
}

static int print(struct btz_context *context, const struct btz_sieve_freeze_options *options,
                 const struct btz_sieve_manifest *manifest, struct btz_err *err)
{
    struct btz_buf out;
    int rc;

    btz_buf_init(&out, 16 * (size_t)1024 * 1024);
    if (context->json) {
        btz_sieve_manifest_write(&out, manifest);
    } else {
        (void)btz_buf_printf(
            &out, "%s/dev.jsonl   %lld lines\n%s/test.jsonl  %lld lines (%.1f%%), read-only\n",
            options->folder, (long long)manifest->dev.count, options->folder,
            (long long)manifest->test.count,
            100.0 * (double)manifest->test.count / (double)manifest->input.count);
        (void)btz_buf_printf(&out, "%s, seed %lld, %zu strata; test set %.12s...\n",
                             btz_sieve_method_name(manifest->method), (long long)manifest->seed,
                             manifest->stratum_count, manifest->test.sha256.ptr);
    }
    rc = btz_cmd_print(&out, err);
    btz_buf_fini(&out);
    return rc;
}

static int run(struct btz_context *context, struct btz_err *err)
{
    struct btz_sieve_freeze_options options = {0};
    struct btz_sieve_manifest manifest;
    int rc = fill(context, &options, err);

    if (rc == BTZ_OK) {
        rc = btz_sieve_freeze(context->arena, &options, &manifest, err);
    }
    return rc ? rc : print(context, &options, &manifest, err);
}

static const struct btz_option options[] = {
    {"out", 'o', BTZ_OPTION_TEXT, "DIR", "folder of the frozen set; made if it is not there", 0, 0},
    {"method", 0, BTZ_OPTION_TEXT, "METHOD",
     "grouped: whole clusters (servers) are held out (default); paper: pairs, stratified by "
     "paradigm and server with exact counts",
     0, 0},
    {"share", 0, BTZ_OPTION_TEXT, "X", "share of the units that is held out (default 0.28)", 0, 0},
    {"rules-commit", 0, BTZ_OPTION_TEXT, "COMMIT",
     "commit of the rules that were fixed before; stands in the manifest", 0, 0},
    {"rules", 0, BTZ_OPTION_TEXT, "FILE", "file of those rules; its hash stands in the manifest", 0,
     0},
    {NULL, 0, BTZ_OPTION_FLAG, NULL, NULL, 0, 0},
};
static const char *const usage[] = {"FILE --out DIR [--method grouped|paper]", NULL};
static const char *const examples[] = {
    "bartizan sieve freeze items.jsonl --out frozen/grouped",
    "bartizan sieve freeze items.jsonl --method paper --share 0.28 --out frozen/paper",
    "bartizan sieve freeze definitions.jsonl --out frozen/definitions --seed 7", NULL};

const struct btz_command btz_sieve_freeze_command = {
    .args = {.name = "sieve freeze",
             .summary = "divide items or definitions into a development and a frozen test set",
             .usage = usage,
             .options = options,
             .examples = examples,
             .min_positionals = 1,
             .max_positionals = 1},
    .run = run,
};
