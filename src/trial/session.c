/* What changes between user turns: a second session, a reconnect, lists that have changed.
 *
 * A session is one conversation over fresh connections; the world goes on. Of the first session
 * the model keeps nothing but what servers remember. */
#include "llm/request.h"
#include "text/operand.h"
#include "trial/trial_int.h"

static void note_session(struct btz_trial *trial, const char *what)
{
    struct btz_json *payload = btz_json_new_object(trial->arena);

    btz_json_set_int(trial->arena, payload, "session", trial->session);
    btz_json_set_strz(trial->arena, payload, "what", what);
    trial_event_json(trial, BTZ_LAYER_HOST, "session", false, payload);
}

static struct btz_stage_progress progress_of(const struct btz_trial *trial)
{
    return (struct btz_stage_progress){.session = (unsigned)trial->session,
                                       .turn = (unsigned)trial->turn_index + 1,
                                       .calls = trial->attacker_calls};
}

static bool all_operands_in(const struct btz_fragment *fragment, struct btz_str text)
{
    for (size_t i = 0; i < btz_json_count(fragment->operands); i++) {
        if (!btz_text_operand(text, btz_json_str(btz_json_at(fragment->operands, i)))) {
            return false;
        }
    }
    return btz_json_count(fragment->operands) > 0;
}

/* Whether the memory's server was given what the fragment cannot do without, by an act of this
 * trial. */
static bool was_stored(struct btz_trial *trial, const struct btz_fragment *fragment)
{
    struct btz_str server = btz_stage_memory_server(trial->stage);

    for (size_t i = 0; i < btz_json_count(trial->journal); i++) {
        const struct btz_json *entry = btz_json_at(trial->journal, i);

        if (btz_str_eq(btz_json_str(btz_json_getz(entry, "server")), server) &&
            all_operands_in(fragment, btz_json_text(trial->arena, entry))) {
            return true;
        }
    }
    return false;
}

/* Of a memory scenario only what the second session shows counts as observed; how far the payload
 * came before is kept beside it. */
void session_close_memory(struct btz_trial *trial)
{
    if (!btz_stage_memory_server(trial->stage).len || trial->session > 1) {
        return;
    }
    for (size_t i = 0; i < trial->fragment_count; i++) {
        struct seen_fragment *seen = &trial->seen[i];

        if (seen->recalled) {
            continue; /* an earlier attempt came this far */
        }
        seen->first = seen->turn != 0;
        seen->stored = was_stored(trial, btz_stage_fragment_at(trial->stage, i));
        seen->in_context = false;
        seen->turn = 0;
    }
}

static int connect_anew(struct btz_trial *trial, struct btz_err *err)
{
    bool changed;
    int rc;

    host_disconnect(trial);
    rc = btz_stage_advance(trial->stage, progress_of(trial), &changed, err);
    return rc != BTZ_OK ? rc : host_connect(trial, err);
}

void session_clear(struct btz_trial *trial)
{
    note_session(trial, "clear");
    trial->parts = NULL; /* exchanges keep the old ones */
    trial->part_count = trial->part_cap = 0;
    for (size_t i = 0; i < trial->fragment_count; i++) {
        /* What no request carried yet is gone with the conversation. */
        trial->seen[i].in_context = trial->seen[i].in_context && trial->seen[i].turn;
    }
    loop_open(trial);
}

int session_anew(struct btz_trial *trial, struct btz_err *err)
{
    int rc = connect_anew(trial, err);

    if (rc == BTZ_OK) {
        session_clear(trial);
    }
    return rc;
}

int session_second(struct btz_trial *trial, struct btz_err *err)
{
    session_close_memory(trial);
    trial->session++;
    trial->user += btz_stage_other_user(trial->stage) ? 1 : 0;
    note_session(trial, "begin");
    return session_anew(trial, err);
}

/* The conversation goes on with what the servers now offer. */
static void show_lists(struct btz_trial *trial)
{
    struct btz_str *parts = btz_arena_array(trial->arena, trial->part_cap, sizeof(*parts));

    /* Exchanges that are recorded already keep the list as it was. */
    memcpy(parts, trial->parts, trial->part_count * sizeof(*parts));
    trial->parts = parts;
    parts[BTZ_LLM_PART_TOOLS] = render_tools(trial);
    if (!trial->definitions_asked && !btz_str_eq(trial->offered, parts[BTZ_LLM_PART_TOOLS])) {
        trial->offered = parts[BTZ_LLM_PART_TOOLS];
        trial_event(trial, BTZ_LAYER_HOST, "tools", true, trial->offered);
    }
    loop_lists_changed(trial);
}

int session_reconnect(struct btz_trial *trial, struct btz_err *err)
{
    int rc;

    note_session(trial, "reconnect");
    rc = connect_anew(trial, err);
    if (rc == BTZ_OK) {
        show_lists(trial);
    }
    return rc;
}

int session_progress(struct btz_trial *trial, struct btz_err *err)
{
    bool changed = false;
    int rc = btz_stage_advance(trial->stage, progress_of(trial), &changed, err);

    if (rc != BTZ_OK || !changed) {
        return rc;
    }
    rc = host_lists_changed(trial, err);
    if (rc == BTZ_OK) {
        show_lists(trial);
    }
    return rc;
}
