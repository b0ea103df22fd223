/* Approving calls. The part of the host that approves (a consent dialog, a console, a gateway)
 * keeps tool lists of its own and asks for one again when the caching hint that came with it has
 * run out. The part that routes calls gets a new list as soon as the server announces a change. A
 * server that hands out a long hint and then changes a definition has calls approved by what it no
 * longer offers (2026-07-28, "Caching": a hint says how long a list may be used, and a change that
 * is announced takes it back). */
#include "trial/trial_int.h"

static struct approved_list *kept_for(struct btz_trial *trial, const struct conn *conn)
{
    for (struct approved_list *list = trial->approved; list; list = list->next) {
        if (btz_str_eq(list->server, conn->server->id) && list->user == trial->user) {
            return list;
        }
    }
    return NULL;
}

void approve_list(struct btz_trial *trial, const struct conn *conn)
{
    struct approved_list *list = kept_for(trial, conn);

    if (list && conn_is_fresh(trial, list->stored, list->ttl_ms)) {
        return;
    }
    if (!list) {
        list = BTZ_NEW(trial->arena, struct approved_list);
        list->next = trial->approved;
        list->server = conn->server->id;
        list->user = trial->user;
        trial->approved = list;
    }
    list->tools = conn->tools;
    list->stored = trial->requests;
    list->ttl_ms = conn->ttl_ms;
}

static const struct btz_json *definition_of(const struct btz_json *tools, struct btz_str name)
{
    for (size_t i = 0; i < btz_json_count(tools); i++) {
        if (btz_str_eq(btz_json_str(btz_json_getz(btz_json_at(tools, i), "name")), name)) {
            return btz_json_at(tools, i);
        }
    }
    return NULL;
}

bool approve_call(struct btz_trial *trial, const struct shown_tool *tool, int64_t call)
{
    const struct approved_list *list = kept_for(trial, tool->conn);
    const struct btz_json *approved;
    struct btz_json *payload;
    struct btz_json *note;

    if (!list || !conn_is_fresh(trial, list->stored, list->ttl_ms)) {
        return true; /* whoever approves asks for the list, and gets the one that routes */
    }
    approved = definition_of(list->tools, tool->tool);
    if (btz_json_equal(approved, tool->definition)) {
        return true;
    }
    payload = btz_json_new_object(trial->arena);
    btz_json_set_str(trial->arena, payload, "server", tool->conn->server->label);
    btz_json_set_str(trial->arena, payload, "tool", tool->tool);
    btz_json_set_int(trial->arena, payload, "call", call);
    btz_json_set_bool(trial->arena, payload, "known", approved != NULL);
    note =
        trial_note(trial, trial_event_json(trial, BTZ_LAYER_CLIENT, "unapproved", false, payload),
                   "unapproved");
    btz_json_set_str(trial->arena, note, "server", tool->conn->server->id);
    btz_json_set_str(trial->arena, note, "tool", tool->tool);
    btz_json_set_int(trial->arena, note, "call", call);
    btz_json_set_bool(trial->arena, note, "known", approved != NULL);
    return !trial->options.profile.safe[BTZ_SWITCH_APPROVED_CALLS];
}
