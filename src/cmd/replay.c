/* replay: recomputes the trials of a run from its recorded replies and compares. */
#include "cmd/cmd.h"
#include "study/replay.h"

struct tally {
    int64_t equal, differs, skipped;
    struct btz_json *differences; /* array of {n, cell, what} */
};

static void note_difference(struct btz_context *context, struct tally *tally,
                            const struct btz_replay_trial *trial)
{
    struct btz_json *row = btz_json_new_object(context->arena);

    btz_json_set_int(context->arena, row, "n", trial->n);
    btz_json_set_str(context->arena, row, "cell", btz_arena_dup(context->arena, trial->key));
    btz_json_set_str(context->arena, row, "what", btz_arena_dup(context->arena, trial->what));
    btz_json_push(context->arena, tally->differences, row);
}

static int replay_all(struct btz_context *context, struct btz_replay *replay, struct tally *tally,
                      struct btz_err *err)
{
    struct btz_replay_trial trial;
    int rc;

    while ((rc = btz_replay_next(replay, &trial, err)) == 1) {
        tally->equal += trial.status == BTZ_REPLAY_EQUAL;
        tally->skipped += trial.status == BTZ_REPLAY_SKIPPED;
        if (trial.status == BTZ_REPLAY_DIFFERS) {
            tally->differs++;
            note_difference(context, tally, &trial);
        }
    }
    return rc;
}

static int print(struct btz_context *context, const struct btz_store_run *run,
                 const struct tally *tally, struct btz_err *err)
{
    struct btz_buf text;
    int rc;

    if (context->json) {
        struct btz_json *out = btz_json_new_object(context->arena);

        btz_json_set_strz(context->arena, out, "run", run->id);
        btz_json_set_int(context->arena, out, "equal", tally->equal);
        btz_json_set_int(context->arena, out, "differs", tally->differs);
        btz_json_set_int(context->arena, out, "skipped", tally->skipped);
        btz_json_setz(context->arena, out, "differences", tally->differences);
        return btz_cmd_print_json(context, out, err);
    }
    btz_buf_init(&text, 16 * 1024 * 1024);
    (void)btz_buf_printf(&text,
                         "run %s: %lld trials come out byte by byte as they are stored, %lld "
                         "differ, %lld ended in a fault and were not replayed\n",
                         run->id, (long long)tally->equal, (long long)tally->differs,
                         (long long)tally->skipped);
    for (size_t i = 0; i < btz_json_count(tally->differences); i++) {
        const struct btz_json *row = btz_json_at(tally->differences, i);
        int64_t n = 0;

        (void)btz_json_int64(btz_json_getz(row, "n"), &n);
        (void)btz_buf_printf(&text, "%lld %.*s: %.*s\n", (long long)n,
                             BTZ_FMT(btz_json_str(btz_json_getz(row, "cell"))),
                             BTZ_FMT(btz_json_str(btz_json_getz(row, "what"))));
    }
    rc = btz_cmd_print(&text, err);
    btz_buf_fini(&text);
    return rc;
}

static int run(struct btz_context *context, struct btz_err *err)
{
    const char *reference =
        btz_args_count(context->args) ? btz_args_positional(context->args, 0) : "last";
    struct tally tally = {.differences = btz_json_new_array(context->arena)};
    struct btz_lab *lab = NULL;
    struct btz_store *store = NULL;
    struct btz_replay *replay = NULL;
    struct btz_store_run found;
    int rc = btz_cmd_store(context, BTZ_STORE_READ, &store, err);

    if (rc == BTZ_OK) {
        rc = btz_store_run_find(store, btz_str_of(reference), context->arena, &found, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_cmd_lab_of(context, store, found.no, &lab, err);
    }
    if (rc == BTZ_OK) {
        rc = btz_replay_new(lab, store, &found, &replay, err);
    }
    if (rc == BTZ_OK) {
        rc = replay_all(context, replay, &tally, err);
    }
    if (rc == BTZ_OK) {
        rc = print(context, &found, &tally, err);
    }
    btz_replay_free(replay);
    btz_lab_free(lab);
    btz_store_close(store);
    return rc ? rc : tally.differs ? BTZ_EXIT_FAILED : BTZ_EXIT_DONE;
}

static const char *const usage[] = {"[RUN]", NULL};
static const char *const examples[] = {"bartizan replay", "bartizan replay RUN --json",
                                       "bartizan replay RUN --pack mypack", NULL};

const struct btz_command btz_command_replay = {
    .args = {.name = "replay",
             .summary = "recompute a run from its recorded replies, offline, and compare",
             .usage = usage,
             .examples = examples,
             .max_positionals = 1},
    .run = run,
};
