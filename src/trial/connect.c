/* The host's connections: handshakes, lists, what the host keeps of them and for how long. */
#include "trial/web.h"

enum { MINUTE_MS = 60000 }; /* simulated time of one request, as in the lab's world */

/* Nobody answered: with an adversary on the wire that is a time-out, else a fault of ours. */
static int unanswered(struct btz_trial *trial, struct conn *conn, const char *what,
                      struct btz_err *err)
{
    if (!btz_stage_has_relay(trial->stage) && !conn->gate) {
        return btz_err_set(err, BTZ_EINTERNAL, "server %.*s gave no answer to %s",
                           BTZ_FMT(conn->server->label), what);
    }
    (void)!btz_mcp_client_cancel(conn->client, conn->request, BTZ_STR("time-out"));
    conn->failure = BTZ_STR("the server did not answer in time");
    conn->answered = true;
    return BTZ_OK;
}

/* What became of a request that the adversary had its hands on. Carriers notice a message that is
 * held back or spoilt in ways of their own; what the model is told must not depend on them. */
static void name_failure(struct conn *conn)
{
    bool own = conn->fault == BTZ_MCP_FAULT_REMOTE && conn->code != BTZ_MCP_E_PARSE;

    if (conn->answer) {
        return;
    }
    if (conn->lost.len) {
        conn->failure = conn->lost;
    } else if (conn->held_back) {
        conn->failure = BTZ_STR("the server did not answer in time");
    } else if (conn->tampered && !own) {
        conn->failure = BTZ_STR("no usable answer came from the server");
    }
}

int conn_go_on(struct btz_trial *trial, struct conn *conn, const char *what, struct btz_err *err)
{
    int rc = query_settle(trial, conn, err);

    if (rc == BTZ_EAGAIN) {
        return rc; /* the model is asked first */
    }
    if (rc == BTZ_OK && !conn->answered) {
        rc = unanswered(trial, conn, what, err);
    }
    name_failure(conn);
    return rc;
}

int conn_await(struct btz_trial *trial, struct conn *conn, const char *what, int made,
               struct btz_err *err)
{
    int rc;

    if (made != BTZ_OK && !gate_is_lost(conn)) {
        return conn_fault(conn, err, what, made);
    }
    conn->answered = false;
    conn->answer = NULL;
    conn->failure = BTZ_STR_NONE;
    conn->fault = BTZ_MCP_FAULT_NONE;
    conn->tampered = conn->held_back = false;
    conn->queries = NULL;
    conn->inputs = NULL;
    conn->served = NULL;
    conn->asked_server = false;
    conn->got_arguments = NULL;
    trial->requests++;
    conn->awaiting = true;
    rc = made == BTZ_OK ? carry_settle(trial, conn, err) : BTZ_OK;
    conn->awaiting = false;
    if (rc == BTZ_OK) {
        return conn_go_on(trial, conn, what, err);
    }
    name_failure(conn);
    return rc;
}

static void note_connect(struct btz_trial *trial, struct conn *conn)
{
    struct btz_json *payload = btz_json_new_object(trial->arena);
    struct btz_json *note;
    int64_t id;

    btz_json_set_str(trial->arena, payload, "server", conn->server->label);
    btz_json_set_strz(trial->arena, payload, "revision", btz_mcp_revision_text(conn->revision));
    btz_json_set_bool(trial->arena, payload, "fell_back", conn->fell_back);
    btz_json_set_int(trial->arena, payload, "session", trial->session);
    btz_json_set_bool(trial->arena, payload, "attacker", conn->server->attacker);
    id = trial_event_json(trial, BTZ_LAYER_HOST, "connect", false, payload);
    note = trial_note(trial, id, "connect");
    btz_json_set_str(trial->arena, note, "server", conn->server->id);
    btz_json_set_strz(trial->arena, note, "revision", btz_mcp_revision_text(conn->revision));
    btz_json_set_bool(trial->arena, note, "fell_back", conn->fell_back);
    if (conn->old_transport) {
        btz_json_set_bool(trial->arena, note, "old_transport", true);
    }
    btz_json_set_int(trial->arena, note, "session", trial->session);
}

/* The host's configuration does not name the server: nobody connects to it. */
static void note_unconfigured(struct btz_trial *trial, const struct conn *conn)
{
    struct btz_json *payload = btz_json_new_object(trial->arena);

    btz_json_set_str(trial->arena, payload, "id", conn->server->id);
    trial_event_json(trial, BTZ_LAYER_HOST, "unconfigured", false, payload);
}

/* The server cannot be used: its tools are missing from this session. */
static void note_unavailable(struct btz_trial *trial, struct conn *conn, const char *what)
{
    struct btz_json *payload = btz_json_new_object(trial->arena);

    btz_json_set_str(trial->arena, payload, "server", conn->server->label);
    btz_json_set_strz(trial->arena, payload, "at", what);
    btz_json_set_str(trial->arena, payload, "text", conn->failure);
    trial_event_json(trial, BTZ_LAYER_HOST, "unavailable", false, payload);
}

/* A failure at connection time is the adversary's doing where there is one, or that of an
 * authorization that came to nothing; else it is a fault. */
static int unavailable(struct btz_trial *trial, struct conn *conn, const char *what,
                       struct btz_err *err)
{
    if (!btz_stage_has_relay(trial->stage) && !conn->flow && !(conn->gate && conn->ready)) {
        return btz_err_set(err, BTZ_EINTERNAL, "server %.*s: %s failed: %.*s",
                           BTZ_FMT(conn->server->label), what, BTZ_FMT(conn->failure));
    }
    note_unavailable(trial, conn, what);
    conn->tools = btz_json_new_array(trial->arena);
    return BTZ_OK;
}

/* Host-profile switch parse.duplicate_keys: whoever approves definitions and whoever routes calls
 * may read the same bytes differently. Notes each tool that was approved under another name. */
static void note_approvals(struct btz_trial *trial, struct conn *conn)
{
    struct btz_json_limits first = {.duplicates = BTZ_JSON_DUP_FIRST};
    const struct btz_json *seen = NULL;
    const struct btz_json *tools;

    if (!conn->tampered ||
        btz_json_parse(trial->arena, conn->last_message, &first, &seen, NULL) != BTZ_OK) {
        return;
    }
    tools = btz_json_pointer(seen, BTZ_STR("/result/tools"));
    for (size_t i = 0; i < btz_json_count(tools) && i < btz_json_count(conn->tools); i++) {
        struct btz_str approved = btz_json_str(btz_json_getz(btz_json_at(tools, i), "name"));
        struct btz_str routed = btz_json_str(btz_json_getz(btz_json_at(conn->tools, i), "name"));
        struct btz_json *payload;
        struct btz_json *note;

        if (btz_str_eq(approved, routed)) {
            continue;
        }
        payload = btz_json_new_object(trial->arena);
        btz_json_set_str(trial->arena, payload, "server", conn->server->label);
        btz_json_set_str(trial->arena, payload, "tool", routed);
        btz_json_set_str(trial->arena, payload, "approved", approved);
        note =
            trial_note(trial, trial_event_json(trial, BTZ_LAYER_CLIENT, "register", false, payload),
                       "register");
        btz_json_set_str(trial->arena, note, "server", conn->server->id);
        btz_json_set_str(trial->arena, note, "tool", routed);
        btz_json_set_str(trial->arena, note, "approved", approved);
    }
}

bool conn_is_fresh(const struct btz_trial *trial, unsigned stored, int64_t ttl_ms)
{
    return (int64_t)(trial->requests - stored) * MINUTE_MS < ttl_ms;
}

/* Caching hints (2026-07-28, "Caching"): a fresh list is not asked for again. `private` ones stay
 * with their authorization context; the switch cache.private_only treats all as private. */
static struct cached_list *cached(struct btz_trial *trial, const struct conn *conn)
{
    for (struct cached_list *list = trial->cache; list; list = list->next) {
        bool mine = list->user == trial->user;
        bool shared = list->is_public && !trial->options.profile.safe[BTZ_SWITCH_PRIVATE_CACHE];

        if (btz_str_eq(list->server, conn->server->id) && (mine || shared) &&
            conn_is_fresh(trial, list->stored, list->ttl_ms)) {
            return list;
        }
    }
    return NULL;
}

/* A server that announces a change takes back what it let be kept. */
static void drop_cached(struct btz_trial *trial, const struct conn *conn)
{
    for (struct cached_list *list = trial->cache; list; list = list->next) {
        if (btz_str_eq(list->server, conn->server->id)) {
            list->ttl_ms = 0;
        }
    }
}

static void cache_store(struct btz_trial *trial, const struct conn *conn)
{
    struct cached_list *list;

    if (conn->ttl_ms <= 0) {
        return;
    }
    list = BTZ_NEW(trial->arena, struct cached_list);
    *list = (struct cached_list){.next = trial->cache,
                                 .server = conn->server->id,
                                 .tools = conn->tools,
                                 .tampered = conn->tampered,
                                 .user = trial->user,
                                 .stored = trial->requests,
                                 .ttl_ms = conn->ttl_ms,
                                 .is_public = conn->cache_public};
    trial->cache = list;
}

static void note_cached(struct btz_trial *trial, struct conn *conn, const struct cached_list *list)
{
    struct btz_json *payload = btz_json_new_object(trial->arena);
    struct btz_json *note;

    btz_json_set_str(trial->arena, payload, "server", conn->server->label);
    btz_json_set_bool(trial->arena, payload, "other_user", list->user != trial->user);
    note = trial_note(trial, trial_event_json(trial, BTZ_LAYER_CLIENT, "cached", false, payload),
                      "cached");
    btz_json_set_str(trial->arena, note, "server", conn->server->id);
    btz_json_set_bool(trial->arena, note, "other_user", list->user != trial->user);
    btz_json_setz(trial->arena, note, "tools", list->tools);
}

static int list_tools(struct btz_trial *trial, struct conn *conn, struct btz_err *err)
{
    const struct cached_list *list = cached(trial, conn);
    int rc;

    if (list) {
        conn->tools = list->tools;
        conn->tampered_list = list->tampered;
        note_cached(trial, conn, list);
        approve_tools(trial, conn);
        return BTZ_OK;
    }
    rc = conn_await(trial, conn, "tools/list",
                    btz_mcp_client_list_tools(conn->client, &conn->request), err);
    if (rc != BTZ_OK) {
        return rc;
    }
    gate_listed(trial, conn, BTZ_GUARD_DEFINITION, conn->server->tools);
    if (!conn->answer) {
        return unavailable(trial, conn, "tools/list", err);
    }
    conn->tools = conn->answer;
    conn->tampered_list = conn->tampered;
    note_approvals(trial, conn);
    cache_store(trial, conn);
    approve_list(trial, conn);
    approve_tools(trial, conn);
    return browse_icons(trial, conn, err);
}

static int list_others(struct btz_trial *trial, struct conn *conn, struct btz_err *err)
{
    int rc = BTZ_OK;

    if (btz_json_count(conn->server->resources) && !conn->lost.len) {
        rc = conn_await(trial, conn, "resources/list",
                        btz_mcp_client_list_resources(conn->client, &conn->request), err);
        conn->resources = conn->answer;
        if (rc == BTZ_OK) {
            gate_listed(trial, conn, BTZ_GUARD_RESOURCE, conn->server->resources);
        }
    }
    if (rc == BTZ_OK && btz_json_count(conn->server->prompts) && !conn->lost.len) {
        rc = conn_await(trial, conn, "prompts/list",
                        btz_mcp_client_list_prompts(conn->client, &conn->request), err);
        conn->prompts = conn->answer;
        if (rc == BTZ_OK) {
            gate_listed(trial, conn, BTZ_GUARD_PROMPT, conn->server->prompts);
        }
    }
    return rc;
}

/* What a host of the modern era asks to hear of. */
static unsigned lists_of(const struct conn *conn)
{
    return BTZ_MCP_LIST_TOOLS |
           (btz_json_count(conn->server->resources) ? BTZ_MCP_LIST_RESOURCES : 0) |
           (btz_json_count(conn->server->prompts) ? BTZ_MCP_LIST_PROMPTS : 0);
}

static int connect_one(struct btz_trial *trial, struct conn *conn, struct btz_err *err)
{
    int rc = conn->gate ? BTZ_OK : carry_open(trial, conn, err);

    if (rc != BTZ_OK || (rc = carry_settle(trial, conn, err)) != BTZ_OK) {
        return rc;
    }
    if (!conn->ready) {
        conn->failure = conn->lost.len ? conn->lost : conn->failure;
        return unavailable(trial, conn, "the handshake", err);
    }
    note_connect(trial, conn);
    if ((rc = list_tools(trial, conn, err)) != BTZ_OK) {
        return rc;
    }
    if (btz_mcp_era_of(conn->revision) == BTZ_MCP_MODERN && !conn->lost.len &&
        ((rc = btz_mcp_client_listen(conn->client, lists_of(conn), NULL)) != BTZ_OK ||
         (rc = carry_settle(trial, conn, err)) != BTZ_OK)) {
        return rc;
    }
    return list_others(trial, conn, err);
}

int host_lists_changed(struct btz_trial *trial, struct btz_err *err)
{
    for (size_t i = 0; i < trial->conn_count; i++) {
        struct conn *conn = &trial->conns[i];
        int rc;

        if (!conn->ready || conn->lost.len) {
            continue;
        }
        rc = carry_update(trial, conn, err);
        if (rc == BTZ_OK && conn->lists_stale) {
            conn->lists_stale = false;
            drop_cached(trial, conn);
            rc = list_tools(trial, conn, err);
            rc = rc == BTZ_OK ? list_others(trial, conn, err) : rc;
        }
        if (rc != BTZ_OK) {
            return rc;
        }
    }
    names_build(trial);
    commands_build(trial);
    return BTZ_OK;
}

int host_connect(struct btz_trial *trial, struct btz_err *err)
{
    trial->conn_count = btz_stage_server_count(trial->stage);
    trial->conns = btz_arena_array(trial->arena, trial->conn_count, sizeof(*trial->conns));
    for (size_t i = 0; i < trial->conn_count; i++) {
        trial->conns[i].server = btz_stage_server_at(trial->stage, i);
        trial->conns[i].index = i;
        trial->conns[i].trial = trial;
        trial->conns[i].unconfigured = !btz_stage_configured(trial->stage, i);
        trial->conns[i].left_out = trial->conns[i].unconfigured;
        if (trial->conns[i].unconfigured) {
            note_unconfigured(trial, &trial->conns[i]);
        }
    }
    for (struct known_uri *known = trial->uris; known; known = known->next) {
        known->conn =
            &trial->conns[known->conn->index]; /* who gave the link answers for it still */
    }
    /* Gateways take their time to start: all at once. */
    for (size_t i = 0; trial->options.defence.proxy.target.len && i < trial->conn_count; i++) {
        int rc = trial->conns[i].unconfigured ? BTZ_OK : carry_open(trial, &trial->conns[i], err);

        if (rc != BTZ_OK) {
            return rc;
        }
    }
    for (size_t i = 0; i < trial->conn_count; i++) {
        int rc = trial->conns[i].unconfigured ? BTZ_OK : connect_one(trial, &trial->conns[i], err);

        if (rc != BTZ_OK) {
            return rc;
        }
    }
    names_build(trial);
    commands_build(trial);
    return BTZ_OK;
}

void host_disconnect(struct btz_trial *trial)
{
    if (trial->gateway) {
        btz_gateway_end(trial->gateway); /* all at once, too */
    }
    for (size_t i = 0; i < trial->conn_count; i++) {
        carry_close(&trial->conns[i]);
    }
    trial->conn_count = 0;
}
