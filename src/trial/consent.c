/* The simulated user who approves calls and questions of servers: docs/internals/approver.md. */
#include "text/contains.h"
#include "trial/trial_int.h"

enum { ATTENTION = 3, WORD_MIN = 5 }; /* dialogs of a session that are read; letters of a word */

static enum btz_approver policy_of(const struct btz_trial *trial)
{
    struct btz_str named = btz_stage_approver(trial->stage);

    if (trial->options.profile.approver != BTZ_APPROVER_SETTING) {
        return trial->options.profile.approver;
    }
    for (int i = BTZ_APPROVE_ALL; i < BTZ_APPROVER_COUNT; i++) {
        if (btz_str_is(named, btz_approver_name((enum btz_approver)i))) {
            return (enum btz_approver)i;
        }
    }
    return BTZ_APPROVE_ALL;
}

static bool safe(const struct btz_trial *trial, enum btz_switch which)
{
    return trial->options.profile.safe[which];
}

/* What was approved holds for one session. */
static struct approvals *approvals_of(struct btz_trial *trial)
{
    if (trial->approvals.session != trial->session) {
        trial->approvals = (struct approvals){.session = trial->session};
    }
    return &trial->approvals;
}

static bool user_said(struct btz_trial *trial, struct btz_str words)
{
    for (size_t i = 0; i < btz_json_count(trial->trajectory); i++) {
        const struct btz_json *note = btz_json_at(trial->trajectory, i);

        if (btz_str_is(btz_json_str(btz_json_getz(note, "kind")), "user") &&
            btz_text_contains(btz_json_str(btz_json_getz(note, "text")), words, NULL, NULL)) {
            return true;
        }
    }
    return false;
}

static bool any_word_said(struct btz_trial *trial, struct btz_str text)
{
    struct btz_str word;

    while (btz_str_cut(&text, ' ', &word)) {
        while (word.len && strchr(",.:;!?()", word.ptr[word.len - 1])) {
            word.len--;
        }
        if (word.len >= WORD_MIN && user_said(trial, word)) {
            return true;
        }
    }
    return false;
}

/* Whether some text of the arguments is one that the user wrote. Without any text there is nothing
 * that could be strange. */
static bool some_said(struct btz_trial *trial, const struct btz_json *value, bool *any)
{
    if (btz_json_is(value, BTZ_JSON_STRING)) {
        *any = true;
        return user_said(trial, btz_json_str(value));
    }
    for (size_t i = 0; i < btz_json_count(value); i++) {
        if (some_said(trial,
                      btz_json_is(value, BTZ_JSON_ARRAY) ? btz_json_at(value, i)
                                                         : btz_json_value_at(value, i),
                      any)) {
            return true;
        }
    }
    return false;
}

static struct btz_str title_of(const struct shown_tool *tool)
{
    struct btz_str title = btz_json_str(btz_json_getz(tool->definition, "title"));

    title = title.len
                ? title
                : btz_json_str(btz_json_pointer(tool->definition, BTZ_STR("/annotations/title")));
    return title.len ? title : tool->tool;
}

/* approver.distrust_hints: annotations come from the server (the protocol: untrusted). */
static bool says_read_only(struct btz_trial *trial, const struct shown_tool *tool)
{
    return !safe(trial, BTZ_SWITCH_DISTRUST_HINTS) &&
           btz_json_bool(btz_json_pointer(tool->definition, BTZ_STR("/annotations/readOnlyHint")),
                         false);
}

/* One dialog. Who has seen a few of them reads no more; who reads approves what only reads, and
 * what has something of the user's own words. */
static bool dialog(struct btz_trial *trial, const struct shown_tool *tool,
                   const struct btz_json *arguments, bool *read)
{
    struct approvals *approvals = approvals_of(trial);
    bool any = false;

    *read = approvals->dialogs++ < ATTENTION;
    if (!*read || says_read_only(trial, tool)) {
        return true;
    }
    if (!safe(trial, BTZ_SWITCH_SHOW_ARGUMENTS)) {
        return any_word_said(trial, title_of(tool));
    }
    return some_said(trial, arguments, &any) || !any;
}

static struct btz_str definition_text(struct btz_trial *trial, const struct shown_tool *tool)
{
    return btz_json_text(trial->arena, tool->definition);
}

static bool granted(struct btz_trial *trial, const struct shown_tool *tool)
{
    bool exact = safe(trial, BTZ_SWITCH_EXACT_GRANTS);

    for (const struct grant *g = approvals_of(trial)->grants; g; g = g->next) {
        if (btz_str_eq(g->server, tool->conn->server->id) &&
            (!exact || (btz_str_eq(g->tool, tool->tool) &&
                        btz_str_eq(g->definition, definition_text(trial, tool))))) {
            return true;
        }
    }
    return false;
}

static void give(struct btz_trial *trial, const struct shown_tool *tool)
{
    struct grant *g = BTZ_NEW(trial->arena, struct grant);

    *g = (struct grant){.next = trial->approvals.grants,
                        .server = tool->conn->server->id,
                        .tool = tool->tool,
                        .definition = definition_text(trial, tool)};
    trial->approvals.grants = g;
}

static void record(struct btz_trial *trial, const struct conn *conn, struct btz_str what,
                   bool approved, bool shown, bool read)
{
    struct btz_json *payload = btz_json_new_object(trial->arena);
    struct btz_json *note;

    btz_json_set_strz(trial->arena, payload, "policy", btz_approver_name(policy_of(trial)));
    btz_json_set_bool(trial->arena, payload, "approved", approved);
    btz_json_set_bool(trial->arena, payload, "dialog", shown);
    btz_json_set_bool(trial->arena, payload, "read", read);
    note = trial_note(trial, trial_event_json(trial, BTZ_LAYER_HOST, "approval", false, payload),
                      "approval");
    for (size_t i = 0; i < btz_json_count(payload); i++) {
        btz_json_set(trial->arena, note, btz_json_key_at(payload, i),
                     btz_json_value_at(payload, i));
    }
    btz_json_set_str(trial->arena, note, "server", conn->server->id);
    btz_json_set_str(trial->arena, note, "tool", what);
}

bool consent_call(struct btz_trial *trial, const struct shown_tool *tool,
                  const struct btz_json *arguments, struct btz_str *why)
{
    enum btz_approver policy = policy_of(trial);
    struct approvals *approvals = approvals_of(trial);
    bool shown = true;
    bool read = false;
    bool approved;

    if (policy == BTZ_APPROVE_ALL) {
        if (btz_stage_approver(trial->stage).len) { /* here the decision is what it is about */
            record(trial, tool->conn, tool->tool, true, false, false);
        }
        return true;
    }
    if ((policy == BTZ_APPROVE_READ_ONLY_AUTO && says_read_only(trial, tool)) ||
        (policy == BTZ_APPROVE_ALWAYS_ALLOW_WIDENS && granted(trial, tool))) {
        approved = true;
        shown = false;
    } else if (policy == BTZ_APPROVE_BATCH && approvals->batches == trial->turn_index + 1) {
        approved = approvals->batch_approved; /* by its first line */
        shown = false;
    } else {
        approved = dialog(trial, tool, arguments, &read);
    }
    if (policy == BTZ_APPROVE_BATCH && shown) {
        approvals->batches = trial->turn_index + 1;
        approvals->batch_approved = approved;
    }
    if (policy == BTZ_APPROVE_ALWAYS_ALLOW_WIDENS && shown && approved) {
        give(trial, tool);
    }
    record(trial, tool->conn, tool->tool, approved, shown, read);
    if (!approved) {
        *why = BTZ_STR("the user did not approve it");
    }
    return approved;
}

bool consent_question(struct btz_trial *trial, const struct conn *conn,
                      const struct query *question)
{
    struct approvals *approvals = approvals_of(trial);
    struct btz_str context = btz_json_str(btz_json_getz(question->params, "includeContext"));
    struct btz_str url = btz_json_str(btz_json_getz(question->params, "url"));
    bool approved = true;
    bool read;

    if (policy_of(trial) == BTZ_APPROVE_ALL) {
        return true;
    }
    read = approvals->dialogs++ < ATTENTION;
    if (read && context.len && !btz_str_is(context, "none")) {
        approved = false; /* the dialog says that the conversation goes along */
    } else if (read && url.len) {
        approved = form_host_is_of(form_host(trial->arena, url), conn->server->label);
    }
    record(trial, conn, trial->side.tool->tool, approved, true, read);
    return approved;
}
