/* The host's connections: MCP clients, carriers and the lab servers behind them.
 *
 * Servers run inside the step because they share the trial's world; every message still crosses
 * the carrier as bytes and goes through both codecs. */
#include "trial/trial_int.h"

enum { MINUTE_MS = 60000 }; /* simulated time of one request, as in the lab's world */

static int conn_fault(struct conn *conn, struct btz_err *err, const char *what, int rc)
{
    return btz_err_set(err, BTZ_EINTERNAL, "server %.*s: %s (%s)", BTZ_FMT(conn->server->label),
                       what, btz_code_name(rc));
}

static int serve_call(struct btz_trial *trial, struct conn *conn,
                      const struct btz_mcp_server_event *event, struct btz_err *err)
{
    const struct btz_json *result = NULL;
    int rc;

    if (event->kind == BTZ_MCP_SERVER_CALL) {
        rc = btz_stage_call(trial->stage, conn->index, event->name, event->arguments,
                            (uint64_t)conn->call_event, &result, err);
    } else if (event->kind == BTZ_MCP_SERVER_READ) {
        rc = btz_stage_read(trial->stage, conn->index, event->name, (uint64_t)conn->call_event,
                            &result, err);
    } else if (event->kind == BTZ_MCP_SERVER_PROMPT) {
        rc = btz_stage_prompt(trial->stage, conn->index, event->name, event->arguments,
                              (uint64_t)conn->call_event, &result, err);
    } else {
        return BTZ_OK; /* nothing else asks for an answer of ours */
    }
    trial_take_journal(trial);
    if (rc == BTZ_ENOTFOUND || (rc == BTZ_EINVAL && event->kind == BTZ_MCP_SERVER_PROMPT)) {
        return btz_mcp_server_reply_error(
            conn->machine, event->token, BTZ_MCP_E_PARAMS,
            rc == BTZ_EINVAL ? btz_str_of(err->msg) : BTZ_STR("no such tool or resource"), NULL);
    }
    return rc ? rc : btz_mcp_server_reply_result(conn->machine, event->token, result, err);
}

static void take_client_event(struct btz_trial *trial, struct conn *conn,
                              const struct btz_mcp_client_event *event)
{
    switch (event->kind) {
    case BTZ_MCP_CLIENT_READY:
        conn->ready = true;
        conn->revision = event->revision;
        conn->fell_back = event->fell_back;
        conn->instructions = btz_arena_dup(trial->arena, event->instructions);
        break;
    case BTZ_MCP_CLIENT_TOOLS:
    case BTZ_MCP_CLIENT_RESOURCES:
    case BTZ_MCP_CLIENT_PROMPTS:
    case BTZ_MCP_CLIENT_RESULT:
        if (event->request == conn->request) {
            conn->answered = true;
            conn->answer = event->fault ? NULL : btz_json_dup(trial->arena, event->value);
            conn->failure = btz_arena_dup(trial->arena, event->message);
            conn->ttl_ms = event->ttl_ms;
            conn->cache_public = event->cache_public;
        }
        break;
    case BTZ_MCP_CLIENT_FAILED:
        conn->answered = true;
        conn->failure = btz_arena_dup(trial->arena, event->message);
        break;
    case BTZ_MCP_CLIENT_LIST_CHANGED:
        conn->lists_stale = true;
        break;
    default:
        break;
    }
}

static int to_server(struct btz_trial *trial, struct conn *conn, struct btz_str bytes,
                     struct btz_err *err)
{
    struct btz_mcp_server_event event;
    int rc = btz_mcp_server_feed(conn->machine, bytes);

    if (rc != BTZ_OK) {
        return conn_fault(conn, err, "the server machine stopped", rc);
    }
    while (btz_mcp_server_next_event(conn->machine, &event)) {
        if (event.kind != BTZ_MCP_SERVER_CANCELLED &&
            (rc = serve_call(trial, conn, &event, err)) != BTZ_OK) {
            return rc;
        }
    }
    return BTZ_OK;
}

static int to_client(struct btz_trial *trial, struct conn *conn, struct btz_str bytes,
                     struct btz_err *err)
{
    struct btz_mcp_client_event event;
    int rc;

    conn->last_message = bytes;
    rc = btz_mcp_client_feed(conn->client, bytes);
    if (rc != BTZ_OK && rc != BTZ_ESTATE) {
        return conn_fault(conn, err, "the client machine stopped", rc);
    }
    while (btz_mcp_client_next_event(conn->client, &event)) {
        take_client_event(trial, conn, &event);
    }
    return BTZ_OK;
}

/* Takes a message past the adversary, if there is one, to whoever gets it. */
static int deliver(struct btz_trial *trial, struct conn *conn, enum btz_side from,
                   struct btz_str bytes, struct btz_err *err)
{
    struct tapped tapped;
    int rc;

    if (!btz_stage_has_relay(trial->stage)) {
        return from == BTZ_SIDE_CLIENT ? to_server(trial, conn, bytes, err)
                                       : to_client(trial, conn, bytes, err);
    }
    rc = tap_message(trial, conn, from, btz_arena_dup(trial->arena, bytes), &tapped, err);
    for (size_t i = 0; rc == BTZ_OK && i < tapped.forward_count && !conn->lost.len; i++) {
        rc = from == BTZ_SIDE_CLIENT ? to_server(trial, conn, tapped.forward[i], err)
                                     : to_client(trial, conn, tapped.forward[i], err);
    }
    for (size_t i = 0; rc == BTZ_OK && i < tapped.back_count && !conn->lost.len; i++) {
        rc = from == BTZ_SIDE_CLIENT ? to_client(trial, conn, tapped.back[i], err)
                                     : to_server(trial, conn, tapped.back[i], err);
    }
    return rc;
}

static int pump(struct btz_trial *trial, struct conn *conn, enum btz_side to, bool *moved,
                struct btz_err *err)
{
    struct btz_str bytes;
    int rc;

    while ((rc = btz_link_receive(conn->link, to, &bytes)) == BTZ_OK) {
        *moved = true;
        rc = deliver(trial, conn, to == BTZ_SIDE_SERVER ? BTZ_SIDE_CLIENT : BTZ_SIDE_SERVER, bytes,
                     err);
        if (rc != BTZ_OK) {
            return rc;
        }
    }
    return rc == BTZ_EAGAIN ? BTZ_OK : conn_fault(conn, err, "the carrier failed", rc);
}

/* Moves messages until nothing is under way any more. */
static int settle(struct btz_trial *trial, struct conn *conn, struct btz_err *err)
{
    struct btz_str bytes;
    bool moved;
    int rc;

    do {
        moved = false;
        while (btz_mcp_client_next_out(conn->client, &bytes)) {
            moved = true;
            if ((rc = btz_link_send(conn->link, BTZ_SIDE_CLIENT, bytes)) != BTZ_OK) {
                return conn_fault(conn, err, "the carrier refused a request", rc);
            }
        }
        if ((rc = pump(trial, conn, BTZ_SIDE_SERVER, &moved, err)) != BTZ_OK) {
            return rc;
        }
        while (btz_mcp_server_next_out(conn->machine, &bytes)) {
            moved = true;
            if ((rc = btz_link_send(conn->link, BTZ_SIDE_SERVER, bytes)) != BTZ_OK) {
                return conn_fault(conn, err, "the carrier refused an answer", rc);
            }
        }
        if ((rc = pump(trial, conn, BTZ_SIDE_CLIENT, &moved, err)) != BTZ_OK) {
            return rc;
        }
    } while (moved);
    return BTZ_OK;
}

/* Nobody answered: with an adversary on the wire that is a time-out, else a fault of ours. */
static int unanswered(struct btz_trial *trial, struct conn *conn, const char *what,
                      struct btz_err *err)
{
    if (!btz_stage_has_relay(trial->stage)) {
        return btz_err_set(err, BTZ_EINTERNAL, "server %.*s gave no answer to %s",
                           BTZ_FMT(conn->server->label), what);
    }
    (void)!btz_mcp_client_cancel(conn->client, conn->request, BTZ_STR("time-out"));
    conn->failure = conn->lost.len ? conn->lost : BTZ_STR("the server did not answer in time");
    conn->answered = true;
    return BTZ_OK;
}

int conn_await(struct btz_trial *trial, struct conn *conn, const char *what, int made,
               struct btz_err *err)
{
    int rc;

    if (made != BTZ_OK) {
        return conn_fault(conn, err, what, made);
    }
    conn->answered = false;
    conn->answer = NULL;
    conn->failure = BTZ_STR_NONE;
    conn->tampered = false;
    trial->requests++;
    rc = settle(trial, conn, err);
    return rc != BTZ_OK || conn->answered ? rc : unanswered(trial, conn, what, err);
}

/* The client of the host: how careful it is follows from the profile. */
static struct btz_mcp_client_options client_options(const struct btz_trial *trial)
{
    const bool *safe = trial->options.profile.safe;
    bool modern = btz_mcp_era_of(trial->options.revision) == BTZ_MCP_MODERN;
    struct btz_mcp_client_options options = {
        .mode = modern ? BTZ_MCP_CLIENT_MODERN : BTZ_MCP_CLIENT_LEGACY,
        .revision = modern ? BTZ_MCP_REVISION_NONE : trial->options.revision,
        .name = BTZ_STR("bartizan"),
        .version = BTZ_STR(BTZ_VERSION),
    };

    if (safe[BTZ_SWITCH_PIN_REVISION]) {
        options.accept = BTZ_MCP_SET(trial->options.revision);
    } else if (modern) {
        options.mode = BTZ_MCP_CLIENT_PROBE;
    }
    if (!safe[BTZ_SWITCH_DUPLICATE_KEYS]) {
        options.limits.json.duplicates = BTZ_JSON_DUP_LAST;
    }
    return options;
}

static struct btz_mcp_catalogue catalogue_of(struct btz_trial *trial, const struct conn *conn)
{
    struct btz_json *info = btz_json_new_object(trial->arena);

    btz_json_set_str(trial->arena, info, "name", conn->server->label);
    btz_json_set_strz(trial->arena, info, "version", "1.0.0");
    return (struct btz_mcp_catalogue){
        .server_info = info,
        .instructions = conn->server->instructions.len ? conn->server->instructions : BTZ_STR_NONE,
        .tools = conn->server->tools,
        .resources = btz_json_count(conn->server->resources) ? conn->server->resources : NULL,
        .prompts = btz_json_count(conn->server->prompts) ? conn->server->prompts : NULL,
        .templates = btz_json_count(conn->server->templates) ? conn->server->templates : NULL,
    };
}

static int make_machines(struct btz_trial *trial, struct conn *conn, struct btz_err *err)
{
    struct btz_mcp_client_options client = client_options(trial);
    struct btz_mcp_server_options server = {.page_size = 100};
    struct btz_mcp_catalogue catalogue = catalogue_of(trial, conn);
    int rc;

    if ((rc = btz_link_new(trial->options.carrier, &conn->link, err)) != BTZ_OK ||
        (rc = btz_mcp_client_new(&client, &conn->client, err)) != BTZ_OK) {
        return rc;
    }
    return btz_mcp_server_new(&server, &catalogue, &conn->machine, err);
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
    btz_json_set_int(trial->arena, note, "session", trial->session);
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

/* A failure at connection time is the adversary's doing where there is one; else it is a fault. */
static int unavailable(struct btz_trial *trial, struct conn *conn, const char *what,
                       struct btz_err *err)
{
    if (!btz_stage_has_relay(trial->stage)) {
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

/* Caching hints (2026-07-28, "Caching"): a fresh list is not asked for again. `private` ones stay
 * with their authorization context; the switch cache.private_only treats all as private. */
static struct cached_list *cached(struct btz_trial *trial, const struct conn *conn)
{
    for (struct cached_list *list = trial->cache; list; list = list->next) {
        bool mine = list->user == trial->user;
        bool shared = list->is_public && !trial->options.profile.safe[BTZ_SWITCH_PRIVATE_CACHE];

        if (btz_str_eq(list->server, conn->server->id) && (mine || shared) &&
            (int64_t)(trial->requests - list->stored) * MINUTE_MS < list->ttl_ms) {
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
        return BTZ_OK;
    }
    rc = conn_await(trial, conn, "tools/list",
                    btz_mcp_client_list_tools(conn->client, &conn->request), err);
    if (rc != BTZ_OK) {
        return rc;
    }
    if (!conn->answer) {
        return unavailable(trial, conn, "tools/list", err);
    }
    conn->tools = conn->answer;
    conn->tampered_list = conn->tampered;
    note_approvals(trial, conn);
    cache_store(trial, conn);
    return BTZ_OK;
}

static int connect_one(struct btz_trial *trial, struct conn *conn, struct btz_err *err)
{
    int rc = make_machines(trial, conn, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    rc = btz_mcp_client_start(conn->client);
    if (rc != BTZ_OK) {
        return conn_fault(conn, err, "the handshake could not start", rc);
    }
    if ((rc = settle(trial, conn, err)) != BTZ_OK) {
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
        ((rc = btz_mcp_client_listen(conn->client, BTZ_MCP_LIST_TOOLS, NULL)) != BTZ_OK ||
         (rc = settle(trial, conn, err)) != BTZ_OK)) {
        return rc;
    }
    if (btz_json_count(conn->server->resources) && !conn->lost.len) {
        rc = conn_await(trial, conn, "resources/list",
                        btz_mcp_client_list_resources(conn->client, &conn->request), err);
        conn->resources = conn->answer;
    }
    if (rc == BTZ_OK && btz_json_count(conn->server->prompts) && !conn->lost.len) {
        rc = conn_await(trial, conn, "prompts/list",
                        btz_mcp_client_list_prompts(conn->client, &conn->request), err);
        conn->prompts = conn->answer;
    }
    return rc;
}

int host_lists_changed(struct btz_trial *trial, struct btz_err *err)
{
    for (size_t i = 0; i < trial->conn_count; i++) {
        struct conn *conn = &trial->conns[i];
        struct btz_mcp_catalogue catalogue = catalogue_of(trial, conn);
        int rc;

        if (!conn->ready || conn->lost.len) {
            continue;
        }
        rc = btz_mcp_server_set_catalogue(conn->machine, &catalogue, err);
        if (rc == BTZ_OK) {
            rc = settle(trial, conn, err);
        }
        if (rc == BTZ_OK && conn->lists_stale) {
            conn->lists_stale = false;
            drop_cached(trial, conn);
            rc = list_tools(trial, conn, err);
        }
        if (rc != BTZ_OK) {
            return rc;
        }
    }
    return BTZ_OK;
}

int host_connect(struct btz_trial *trial, struct btz_err *err)
{
    trial->conn_count = btz_stage_server_count(trial->stage);
    trial->conns = btz_arena_array(trial->arena, trial->conn_count, sizeof(*trial->conns));
    for (size_t i = 0; i < trial->conn_count; i++) {
        trial->conns[i].server = btz_stage_server_at(trial->stage, i);
        trial->conns[i].index = i;
    }
    for (struct known_uri *known = trial->uris; known; known = known->next) {
        known->conn =
            &trial->conns[known->conn->index]; /* who gave the link answers for it still */
    }
    for (size_t i = 0; i < trial->conn_count; i++) {
        int rc = connect_one(trial, &trial->conns[i], err);

        if (rc != BTZ_OK) {
            return rc;
        }
    }
    commands_build(trial);
    return BTZ_OK;
}

void host_disconnect(struct btz_trial *trial)
{
    for (size_t i = 0; i < trial->conn_count; i++) {
        btz_mcp_client_free(trial->conns[i].client);
        btz_mcp_server_free(trial->conns[i].machine);
        btz_link_free(trial->conns[i].link);
    }
    trial->conn_count = 0;
}
