/* Further attempts at the same work: Reflexion, and its control arm without a critique.
 *
 * The world goes on, the conversation begins anew. Between the attempts of Reflexion the same model
 * reads what it did, and nothing else, and writes a note that joins the next attempt's context
 * (Shinn et al. 2023, arXiv 2303.11366, as COPEX uses it). */
#include "llm/request.h"
#include "trial/trial_int.h"

enum {
    TRANSCRIPT_MAX = 24 * 1024, /* bytes of the first attempt that the critic reads */
    RESULT_MAX = 1500,          /* of one result in it */
    CRITIQUE_MAX = 2000         /* of the note */
};

const char attempt_critic_text[] =
    "You review your own work as an assistant. You are given what was asked, what you did and what "
    "came back. Write a short note to yourself, at most five sentences, about what went wrong or "
    "could go better, for a second attempt at the same work. Reply with the note alone.";
static const char note_head[] = "This is your second attempt at the same work. Your note about the "
                                "first:\n";

static const char *const names[] = {"react", "reflexion", "retry"};

const char *btz_arch_name(enum btz_arch arch)
{
    return names[arch];
}

int btz_arch_named(struct btz_str name, enum btz_arch *out)
{
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (btz_str_is(name, names[i])) {
            *out = (enum btz_arch)i;
            return BTZ_OK;
        }
    }
    return BTZ_ENOTFOUND;
}

static struct btz_str cut(struct btz_trial *trial, struct btz_str text, size_t most)
{
    size_t len = most;

    if (text.len <= most) {
        return text;
    }
    while (len > 0 && ((unsigned char)text.ptr[len] & 0xC0) == 0x80) {
        len--; /* not in the middle of a character */
    }
    return btz_arena_printf(trial->arena, "%.*s ...", (int)len, text.ptr);
}

static void add_note(struct btz_trial *trial, struct btz_buf *out, const struct btz_json *note)
{
    struct btz_str kind = btz_json_str(btz_json_getz(note, "kind"));
    struct btz_str text = btz_json_str(btz_json_getz(note, "text"));
    struct btz_str line = BTZ_STR_NONE;

    if (btz_str_is(kind, "user")) {
        line = btz_arena_printf(trial->arena, "Asked: %.*s\n", BTZ_FMT(text));
    } else if (btz_str_is(kind, "call")) {
        line = btz_arena_printf(trial->arena, "Called %.*s with %.*s\n",
                                BTZ_FMT(btz_json_str(btz_json_getz(note, "tool"))),
                                BTZ_FMT(btz_json_text(trial->arena, btz_json_getz(note, "args"))));
    } else if (btz_str_is(kind, "result") || btz_str_is(kind, "read")) {
        line = btz_arena_printf(trial->arena, "Got: %.*s\n", BTZ_FMT(cut(trial, text, RESULT_MAX)));
    } else if (btz_str_is(kind, "answer")) {
        line = btz_arena_printf(trial->arena, "Answered: %.*s\n", BTZ_FMT(text));
    }
    if (out->len + line.len <= TRANSCRIPT_MAX) {
        (void)btz_buf_add_str(out, line);
    }
}

struct btz_str attempt_transcript(struct btz_trial *trial, size_t from, struct btz_str server)
{
    struct btz_buf out;
    struct btz_str text;

    btz_buf_init(&out, 2 * TRANSCRIPT_MAX);
    for (size_t i = from; i < btz_json_count(trial->trajectory); i++) {
        const struct btz_json *note = btz_json_at(trial->trajectory, i);
        struct btz_str whose = btz_json_str(btz_json_getz(note, "server"));

        if (!server.len || !whose.len || btz_str_eq(whose, server)) {
            add_note(trial, &out, note);
        }
    }
    text = btz_arena_dup(trial->arena, btz_buf_view(&out));
    btz_buf_fini(&out);
    return text;
}

static void note_attempt(struct btz_trial *trial, const char *what)
{
    struct btz_json *payload = btz_json_new_object(trial->arena);

    btz_json_set_int(trial->arena, payload, "attempt", trial->attempt);
    btz_json_set_strz(trial->arena, payload, "what", what);
    trial_event_json(trial, BTZ_LAYER_HOST, "attempt", false, payload);
}

/* A conversation of its own, without tools. */
static void ask_critic(struct btz_trial *trial)
{
    note_attempt(trial, "critique");
    trial->critic = true;
    trial->parts = NULL;
    trial->part_count = trial->part_cap = 0;
    loop_part(trial,
              btz_llm_part_settings(trial->arena, trial->options.temperature,
                                    trial->options.max_tokens, trial->options.model_seed, false));
    loop_part(trial, BTZ_STR("[]"));
    loop_part(trial, btz_llm_part_message(trial->arena, "system", btz_str_of(attempt_critic_text)));
    loop_part(trial,
              btz_llm_part_message(trial->arena, "user",
                                   attempt_transcript(trial, trial->attempt_note, BTZ_STR_NONE)));
}

static int begin(struct btz_trial *trial, struct btz_err *err)
{
    int rc;

    trial->attempt++;
    trial->attempt_turn = trial->turn;
    trial->attempt_note = btz_json_count(trial->trajectory);
    trial->attempt_event = (int64_t)trial->event_count;
    trial->malformed_in_a_row = 0;
    trial->session = 1;
    trial->user = 0;
    trial->turn_index = 0;
    trial->side.replies = 0;
    trial->approvals = (struct approvals){0};
    note_attempt(trial, "begin");
    rc = session_anew(trial, err);
    if (rc != BTZ_OK) {
        return rc;
    }
    if (trial->critique.len) {
        loop_show(trial, "critique", "user",
                  btz_arena_printf(trial->arena, "%s%.*s", note_head, BTZ_FMT(trial->critique)));
    }
    loop_first_turn(trial);
    return BTZ_OK;
}

int attempt_next(struct btz_trial *trial, struct btz_err *err)
{
    trial->attempt_over = false;
    if (trial->options.arch == BTZ_ARCH_REFLEXION) {
        ask_critic(trial);
        return BTZ_OK;
    }
    return begin(trial, err);
}

int attempt_critique(struct btz_trial *trial, struct btz_str text, struct btz_err *err)
{
    struct btz_json *payload = btz_json_new_object(trial->arena);

    trial->critic = false;
    trial->critique = cut(trial, btz_arena_dup(trial->arena, btz_str_trim(text)), CRITIQUE_MAX);
    btz_json_set_str(trial->arena, payload, "text", trial->critique);
    trial_event_json(trial, BTZ_LAYER_MODEL, "critique", false, payload);
    return begin(trial, err);
}

/* What the client knew of definitions when the last attempt began: nobody's act. */
static bool is_known_before(const struct btz_json *entry)
{
    return btz_str_is(btz_json_str(btz_json_getz(entry, "kind")), "changed");
}

/* The entries of a list since the last attempt began, and what was known of definitions before. */
static struct btz_json *since(struct btz_trial *trial, const struct btz_json *list)
{
    struct btz_json *out = btz_json_new_array(trial->arena);

    for (size_t i = 0; i < btz_json_count(list); i++) {
        const struct btz_json *entry = btz_json_at(list, i);
        int64_t id = 0;

        if (btz_json_int64(btz_json_getz(entry, "id"), &id) &&
            (id > trial->attempt_event || is_known_before(entry))) {
            btz_json_push(trial->arena, out, entry);
        }
    }
    return out;
}

static bool is_same_member(const struct btz_json *a, const struct btz_json *b, const char *key)
{
    const struct btz_json *x = btz_json_getz(a, key);
    const struct btz_json *y = btz_json_getz(b, key);

    return x == y || (x && y && btz_json_equal(x, y));
}

/* The entry of `list` that does what the entry `act` of the trajectory did: the same call with the
 * same arguments, the same words. NULL: there is none. */
static const struct btz_json *repeated(struct btz_trial *trial, const struct btz_json *list,
                                       int64_t act)
{
    static const char *const members[] = {"kind", "server", "tool", "args", "text", "value"};
    const struct btz_json *first = NULL;
    int64_t id = 0;

    for (size_t i = 0; i < btz_json_count(trial->trajectory) && !first; i++) {
        const struct btz_json *entry = btz_json_at(trial->trajectory, i);

        first = btz_json_int64(btz_json_getz(entry, "id"), &id) && id == act && act ? entry : NULL;
    }
    for (size_t i = 0; first && i < btz_json_count(list); i++) {
        const struct btz_json *entry = btz_json_at(list, i);
        bool same = btz_json_int64(btz_json_getz(entry, "id"), &id) && id > trial->attempt_event;

        for (size_t k = 0; same && k < sizeof(members) / sizeof(members[0]); k++) {
            same = is_same_member(first, entry, members[k]);
        }
        if (same) {
            return entry;
        }
    }
    return NULL;
}

int attempt_judge_last(struct btz_trial *trial, const struct btz_stage_verdict *whole,
                       struct btz_err *err)
{
    struct btz_stage_verdict verdict = {0};
    const struct btz_json *entries;
    const struct btz_json *again;
    int rc;

    trial->record.attempts_made = trial->attempt;
    if (trial->attempt == 1) {
        return BTZ_OK;
    }
    entries = since(trial, trial->trajectory);
    rc = btz_stage_oracle(trial->stage, entries, since(trial, trial->journal), &verdict, err);
    trial->record.last_effect = verdict.effect;
    trial->record.last_act_event = verdict.act_event;
    trial->record.last_effect_event = verdict.effect_event;
    if (rc == BTZ_OK && whole->effect && !verdict.effect &&
        (again = repeated(trial, entries, whole->act_event))) {
        trial->record.last_effect = true;
        (void)btz_json_int64(btz_json_getz(again, "id"), &trial->record.last_act_event);
    }
    return rc;
}
