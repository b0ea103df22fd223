/* verify: recomputes the hash chain of a run of the bench or of the sieve. */
#include "cmd/cmd.h"
#include "cmd/sieve.h"

static int print(struct btz_context *context, const struct btz_store_run *run,
                 const struct btz_store_check *check, struct btz_err *err)
{
    struct btz_json *out;
    struct btz_buf text;
    char hex[65];
    int rc;

    if (context->json) {
        out = btz_json_new_object(context->arena);
        btz_json_set_strz(context->arena, out, "run", run->id);
        btz_json_set_bool(context->arena, out, "ok", check->ok);
        btz_json_set_int(context->arena, out, "trials", check->trials);
        btz_json_set_int(context->arena, out, "events", check->events);
        btz_json_set_int(context->arena, out, "bad_trial", check->bad_trial);
        btz_json_set_int(context->arena, out, "bad_event", check->bad_event);
        btz_json_set_strz(context->arena, out, "what", check->what);
        if (check->ok) {
            btz_json_set_strz(context->arena, out, "head", btz_hash_hex(&check->head, hex));
        }
        return btz_cmd_print_json(context, out, err);
    }
    btz_buf_init(&text, 65536);
    if (check->ok) {
        (void)btz_buf_printf(&text, "run %s: %lld trials and %lld events fit; head %s\n", run->id,
                             (long long)check->trials, (long long)check->events,
                             btz_hash_hex(&check->head, hex));
    } else {
        (void)btz_buf_printf(&text, "run %s does not fit: %s\n", run->id, check->what);
    }
    rc = btz_cmd_print(&text, err);
    btz_buf_fini(&text);
    return rc;
}

static int run(struct btz_context *context, struct btz_err *err)
{
    const char *reference =
        btz_args_count(context->args) ? btz_args_positional(context->args, 0) : "last";
    struct btz_store *store = NULL;
    struct btz_store_sieve_run sieve;
    struct btz_store_run found;
    bool fits = false;
    struct btz_store_check check = {.ok = false};
    int rc = btz_cmd_store(context, BTZ_STORE_READ, &store, err);

    if (rc == BTZ_OK) {
        rc = btz_store_run_find(store, btz_str_of(reference), context->arena, &found, err);
    }
    if (rc == BTZ_ENOTFOUND && btz_store_sieve_find(store, btz_str_of(reference), context->arena,
                                                    &sieve, NULL) == BTZ_OK) {
        rc = btz_cmd_sieve_verify(context, store, &sieve, &fits, err);
        btz_store_close(store);
        return rc ? rc : fits ? BTZ_EXIT_DONE : BTZ_EXIT_FAILED;
    }
    if (rc == BTZ_OK) {
        rc = btz_store_verify(store, found.no, &check, err);
    }
    if (rc == BTZ_OK) {
        rc = print(context, &found, &check, err);
    }
    btz_store_close(store);
    return rc ? rc : check.ok ? BTZ_EXIT_DONE : BTZ_EXIT_FAILED;
}

static const char *const usage[] = {"[RUN]", NULL};
static const char *const examples[] = {"bartizan verify", "bartizan verify RUN --json", NULL};

const struct btz_command btz_command_verify = {
    .args = {.name = "verify",
             .summary =
                 "recompute the hash chain of a run and name the first place that does not fit",
             .usage = usage,
             .examples = examples,
             .max_positionals = 1},
    .run = run,
};
