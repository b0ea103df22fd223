/* Carrying messages between the host's client and a lab server: over lines (memory or pipes) or
 * over HTTP (memory or sockets), past the adversary if there is one.
 *
 * Servers run inside the step because they share the trial's world; every message still crosses
 * the carrier as bytes and goes through both codecs. */
#include "lab/serve.h"
#include "trial/web.h"

int conn_fault(struct conn *conn, struct btz_err *err, const char *what, int rc)
{
    return btz_err_set(err, BTZ_EINTERNAL, "server %.*s: %s (%s)", BTZ_FMT(conn->server->label),
                       what, btz_code_name(rc));
}

int carry_serve(struct btz_trial *trial, struct conn *conn, struct btz_mcp_server *machine,
                const struct btz_mcp_server_event *event, struct btz_err *err)
{
    const struct btz_json *result = NULL;
    int rc = btz_stage_serve(trial->stage, conn->index, machine, event, (uint64_t)conn->call_event,
                             &result, err);

    trial_take_journal(trial);
    if (rc == BTZ_OK && result) {
        conn->served = result;
    }
    return rc;
}

void carry_client_event(struct btz_trial *trial, struct conn *conn,
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
            conn->fault = event->fault;
            conn->code = event->code;
            conn->ttl_ms = event->ttl_ms;
            conn->cache_public = event->cache_public;
        }
        break;
    case BTZ_MCP_CLIENT_FAILED:
        conn->answered = true;
        conn->failure = btz_arena_dup(trial->arena, event->message);
        conn->fault = event->fault;
        break;
    case BTZ_MCP_CLIENT_LIST_CHANGED:
        conn->lists_stale = true;
        break;
    case BTZ_MCP_CLIENT_ASKED:
    case BTZ_MCP_CLIENT_ASK_CANCELLED:
    case BTZ_MCP_CLIENT_INPUT:
        query_take(trial, conn, event);
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
            (rc = carry_serve(trial, conn, conn->machine, &event, err)) != BTZ_OK) {
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
        carry_client_event(trial, conn, &event);
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
    rc = tap_message(trial, conn, from, btz_arena_dup(trial->arena, bytes), NULL, &tapped, err);
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

static int settle_lines(struct btz_trial *trial, struct conn *conn, struct btz_err *err)
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

/* The client of the host: how careful it is follows from the profile. */
static struct btz_mcp_client_options client_options(struct btz_trial *trial)
{
    const bool *safe = trial->options.profile.safe;
    bool modern = btz_mcp_era_of(trial->options.revision) == BTZ_MCP_MODERN;
    struct btz_mcp_client_options options = {
        .mode = modern ? BTZ_MCP_CLIENT_MODERN : BTZ_MCP_CLIENT_LEGACY,
        .revision = modern ? BTZ_MCP_REVISION_NONE : trial->options.revision,
        .name = BTZ_STR("bartizan"),
        .version = BTZ_STR(BTZ_VERSION),
        .capabilities = query_capabilities(trial),
        .max_rounds = MAX_INPUT_ROUNDS,
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

int carry_settle(struct btz_trial *trial, struct conn *conn, struct btz_err *err)
{
    if (conn->gate) {
        return gate_settle(trial, conn, err);
    }
    return conn->http ? carry_http_settle(trial, conn, err) : settle_lines(trial, conn, err);
}

/* Over HTTP, or over lines: scenarios that need HTTP have it in memory, too. */
static bool over_http(const struct btz_trial *trial)
{
    return trial->options.carrier == BTZ_CARRIER_HTTP ||
           (trial->options.carrier == BTZ_CARRIER_MEMORY && !trial->options.scenario->stdio &&
            trial->options.scenario->http);
}

static int open_lines(struct btz_trial *trial, struct conn *conn, struct btz_err *err)
{
    struct btz_mcp_client_options client = client_options(trial);
    struct btz_stage_lists lists = btz_stage_lists(trial->stage, conn->index);
    struct btz_mcp_server_options server = {.page_size = lists.page_size, .ttl_ms = lists.ttl_ms};
    struct btz_mcp_catalogue catalogue = btz_stage_catalogue(trial->arena, conn->server);
    int rc;

    if ((rc = btz_link_new(trial->options.carrier, &conn->link, err)) != BTZ_OK ||
        (rc = btz_mcp_client_new(&client, &conn->client, err)) != BTZ_OK) {
        return rc;
    }
    if ((rc = btz_mcp_server_new(&server, &catalogue, &conn->machine, err)) != BTZ_OK) {
        return rc;
    }
    rc = btz_mcp_client_start(conn->client);
    return rc == BTZ_OK ? rc : conn_fault(conn, err, "the handshake could not start", rc);
}

int carry_open(struct btz_trial *trial, struct conn *conn, struct btz_err *err)
{
    struct btz_mcp_client_options client = client_options(trial);
    struct btz_mcp_catalogue catalogue = btz_stage_catalogue(trial->arena, conn->server);

    if (trial->options.defence.proxy.target.len) {
        return gate_open(trial, conn, &client, &catalogue, err);
    }
    return over_http(trial) ? carry_http_open(trial, conn, &client, &catalogue, err)
                            : open_lines(trial, conn, err);
}

int carry_update(struct btz_trial *trial, struct conn *conn, struct btz_err *err)
{
    struct btz_mcp_catalogue catalogue = btz_stage_catalogue(trial->arena, conn->server);
    int rc;

    if (conn->gate) {
        return gate_update(trial, conn, &catalogue, err);
    }
    rc = conn->http
             ? btz_mcp_endpoint_set_catalogue(btz_http_link_endpoint(conn->http), &catalogue, err)
             : btz_mcp_server_set_catalogue(conn->machine, &catalogue, err);

    return rc == BTZ_OK ? carry_settle(trial, conn, err) : rc;
}

void carry_close(struct conn *conn)
{
    if (conn->gate) {
        gate_close(conn);
        return;
    }
    if (conn->http) {
        btz_auth_flow_free(conn->flow);
        btz_http_link_free(conn->http);
        return;
    }
    btz_mcp_client_free(conn->client);
    btz_mcp_server_free(conn->machine);
    btz_link_free(conn->link);
}
