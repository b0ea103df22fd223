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

/* What was approved of a tool stays approved while its definition stays: that is what a person has
 * read. A definition that is another one is shown and approved anew, with the code that is there by
 * then. */
static struct approved_tool *pinned(const struct btz_trial *trial, const struct conn *conn,
                                    struct btz_str name)
{
    for (struct approved_tool *t = trial->approved_tools; t; t = t->next) {
        if (btz_str_eq(t->server, conn->server->id) && t->user == trial->user &&
            btz_str_eq(btz_json_str(btz_json_getz(t->first, "name")), name)) {
            return t;
        }
    }
    return NULL;
}

static void set_hash(struct btz_trial *trial, struct btz_json *object, const char *name,
                     const struct btz_json *definition)
{
    struct btz_hash hash = btz_hash_of(btz_json_text(trial->arena, definition));
    char hex[65];

    btz_json_set_str(trial->arena, object, name,
                     btz_arena_dup(trial->arena, btz_str_of(btz_hash_hex(&hash, hex))));
}

static void note_changed(struct btz_trial *trial, const struct conn *conn,
                         const struct approved_tool *tool)
{
    struct btz_json *payload = btz_json_new_object(trial->arena);
    struct btz_str name = btz_json_str(btz_json_getz(tool->first, "name"));
    struct btz_json *note;

    btz_json_set_str(trial->arena, payload, "server", conn->server->label);
    btz_json_set_str(trial->arena, payload, "tool", name);
    set_hash(trial, payload, "approved", tool->first);
    set_hash(trial, payload, "definition", tool->now);
    note = trial_note(trial, trial_event_json(trial, BTZ_LAYER_CLIENT, "changed", false, payload),
                      "changed");
    btz_json_set_str(trial->arena, note, "server", conn->server->id);
    btz_json_set_str(trial->arena, note, "tool", name);
    btz_json_setz(trial->arena, note, "approved", btz_json_getz(payload, "approved"));
    btz_json_setz(trial->arena, note, "definition", btz_json_getz(payload, "definition"));
}

void approve_tools(struct btz_trial *trial, const struct conn *conn)
{
    for (size_t i = 0; i < btz_json_count(conn->tools); i++) {
        const struct btz_json *definition = btz_json_at(conn->tools, i);
        struct approved_tool *tool =
            pinned(trial, conn, btz_json_str(btz_json_getz(definition, "name")));

        if (tool && btz_json_equal(tool->now, definition)) {
            continue;
        }
        if (!tool) {
            tool = BTZ_NEW(trial->arena, struct approved_tool);
            *tool = (struct approved_tool){.next = trial->approved_tools,
                                           .server = conn->server->id,
                                           .user = trial->user,
                                           .first = definition};
            trial->approved_tools = tool;
        }
        tool->now = definition;
        tool->execution = btz_stage_execution(trial->stage, conn->index, definition);
        if (tool->first != definition) {
            note_changed(trial, conn, tool);
        }
    }
}

/* Host-profile switch servers.pin_execution: a host that pins the digest of a server's build does
 * not call what it never approved. */
bool approve_execution(struct btz_trial *trial, const struct shown_tool *tool,
                       struct btz_hash *execution)
{
    const struct approved_tool *approved = pinned(trial, tool->conn, tool->tool);

    *execution = btz_stage_execution(trial->stage, tool->conn->index, tool->definition);
    return approved && btz_hash_eq(&approved->execution, execution);
}
