/* verify, for a run of the sieve: the hash chain, then every row that can be made anew without a
 * network, from the files of the card and the recorded replies. */
#include "base/clock.h"
#include "cmd/sieve.h"
#include "cmd/sieve_run.h"

struct recomputed {
    const char *state;            /* "equal", "unlike", "not recomputed" */
    int64_t same, unlike, unmade; /* unmade: rows of the run that were not made */
    struct btz_str first;         /* key of the first that is unlike */
    struct btz_str why;           /* if not recomputed */
    bool other_build;             /* the run was made by another build of the program */
};

static int recompute(struct btz_context *context, struct btz_store *store,
                     const struct btz_store_sieve_run *run, struct recomputed *out)
{
    bool attack = btz_str_is(run->kind, "attack");
    struct sieve_run r = {.context = context,
                          .kind = attack ? "attack" : "run",
                          .arena = context->arena,
                          .store = store,
                          .no = run->no,
                          .replay = run->no,
                          .checking = true,
                          .partial = !run->done};
    struct btz_err why = {0};
    struct btz_hash binary;
    char hex[65];
    int rc;

    memcpy(r.id, run->id, sizeof(r.id));
    *out = (struct recomputed){.state = "not recomputed"};
    rc = btz_json_parse(r.arena, run->card, NULL, &r.card, &why);
    rc = rc ? rc : sieve_card_read(&r, &why);
    rc = rc ? rc : btz_net_loop_new(&r.loop, &why);
    rc = rc ? rc : btz_net_loop_catch_signals(r.loop, &why);
    if (rc == BTZ_OK) {
        btz_progress_init(&r.progress, &context->err, true, 0, btz_clock_mono_us());
        rc = attack ? sieve_attack_rows(&r, &why) : sieve_run_rows(&r, &why);
    }
    sieve_rewrite_free(&r);
    sieve_embed_free(&r);
    btz_net_loop_free(r.loop);
    out->same = r.same;
    out->unlike = r.unlike;
    out->unmade = run->rows > r.same + r.unlike ? run->rows - r.same - r.unlike : 0;
    out->first = r.first_unlike;
    if (btz_cmd_binary_hash(&binary, NULL) == BTZ_OK) {
        out->other_build =
            !btz_str_is(btz_json_str(btz_json_getz(r.card, "binary")), btz_hash_hex(&binary, hex));
    }
    if (rc == BTZ_EXIT_INTERRUPTED) {
        return rc;
    }
    if (rc != BTZ_OK) { /* a file that is gone, a run that never got its replies */
        out->why = btz_arena_dup(context->arena, btz_str_of(why.msg));
    } else {
        out->state = r.unlike || out->unmade ? "unlike" : "equal";
    }
    return BTZ_OK;
}

static struct btz_json *as_json(struct btz_context *context, const struct btz_store_sieve_run *run,
                                const struct btz_store_sieve_check *check,
                                const struct recomputed *again, bool fits)
{
    struct btz_arena *arena = context->arena;
    struct btz_json *out = btz_json_new_object(arena);
    struct btz_json *rows = btz_json_new_object(arena);
    char hex[65];

    btz_json_set_strz(arena, out, "run", run->id);
    btz_json_set_bool(arena, out, "ok", fits);
    btz_json_set_int(arena, out, "rows", check->rows);
    btz_json_set_int(arena, out, "replies", check->replies);
    btz_json_set_int(arena, out, "unchained", check->unchained);
    btz_json_set_strz(arena, out, "what", check->what);
    if (check->ok) {
        btz_json_set_strz(arena, out, "head", btz_hash_hex(&check->head, hex));
    }
    btz_json_set_strz(arena, rows, "state", again->state);
    btz_json_set_int(arena, rows, "equal", again->same);
    btz_json_set_int(arena, rows, "unlike", again->unlike);
    btz_json_set_int(arena, rows, "not_made", again->unmade);
    btz_json_set_str(arena, rows, "first", again->first);
    btz_json_set_str(arena, rows, "why", again->why);
    btz_json_set_bool(arena, rows, "other_build", again->other_build);
    btz_json_setz(arena, out, "recomputed", rows);
    return out;
}

static void as_text(const struct btz_store_sieve_run *run,
                    const struct btz_store_sieve_check *check, const struct recomputed *again,
                    struct btz_buf *out)
{
    char hex[65];

    if (!check->ok) {
        (void)btz_buf_printf(out, "sieve run %s does not fit: %s\n", run->id, check->what);
        return;
    }
    (void)btz_buf_printf(out, "sieve run %s: %lld rows and %lld replies fit; head %s\n", run->id,
                         (long long)check->rows, (long long)check->replies,
                         btz_hash_hex(&check->head, hex));
    if (check->unchained) {
        (void)btz_buf_printf(out, "%lld rows and replies are older than the chain\n",
                             (long long)check->unchained);
    }
    if (strcmp(again->state, "equal") == 0) {
        (void)btz_buf_printf(out, "made anew from files and replies: all %lld rows are equal\n",
                             (long long)again->same);
    } else if (strcmp(again->state, "unlike") == 0) {
        (void)btz_buf_printf(out,
                             "made anew from files and replies: %lld rows are equal, %lld differ%s"
                             "%.*s, %lld were not made\n",
                             (long long)again->same, (long long)again->unlike,
                             again->first.len ? ", the first: " : "", BTZ_FMT(again->first),
                             (long long)again->unmade);
        if (again->other_build) {
            (void)btz_buf_add_text(out,
                                   "the run was made by another build of bartizan, whose rules "
                                   "may have been others\n");
        }
    } else {
        (void)btz_buf_printf(out, "not made anew: %.*s\n", BTZ_FMT(again->why));
    }
}

int btz_cmd_sieve_verify(struct btz_context *context, struct btz_store *store,
                         const struct btz_store_sieve_run *run, bool *fits, struct btz_err *err)
{
    struct recomputed again = {.state = "not recomputed"};
    struct btz_store_sieve_check check;
    struct btz_buf text;
    int rc = btz_store_sieve_verify(store, run->no, &check, err);

    if (rc == BTZ_OK && check.ok) {
        rc = recompute(context, store, run, &again);
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    *fits = check.ok && strcmp(again.state, "unlike") != 0;
    if (context->json) {
        return btz_cmd_print_json(context, as_json(context, run, &check, &again, *fits), err);
    }
    btz_buf_init(&text, 65536);
    as_text(run, &check, &again, &text);
    rc = btz_cmd_print(&text, err);
    btz_buf_fini(&text);
    return rc;
}
