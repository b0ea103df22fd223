/* Authorization of the trial's host over HTTP: a request that a server's site refuses waits in the
 * session while room auth gets a token, over the server's own connection and the web around the
 * trial (lab/web.h). How careful the host is follows from its profile:
 *
 * auth.require_metadata: where there is no metadata, hosts of the 2025-03-26 flow make up the
 * endpoints on the server's own host and use there what they keep for the server.
 * auth.open_web_only: only https addresses are opened. auth.guard_addresses, auth.guard_redirects:
 * what a server lets the host fetch lies outside. auth.check_response_issuer: RFC 9207.
 * auth.limit_scopes: no scope that the user did not agree to. auth.key_by_resource: tokens are kept
 * for a resource, not for a host. */
#include "trial/web.h"

static struct btz_auth_flow_options flow_options(struct btz_trial *trial,
                                                 const struct btz_stage_site *site,
                                                 const struct btz_auth_client *client,
                                                 struct btz_str secret)
{
    const bool *safe = trial->options.profile.safe;

    return (struct btz_auth_flow_options){
        .resource = site->url,
        .redirect_uri = BTZ_STR(BTZ_LOGIN_REDIRECT),
        .client_name = BTZ_STR("desk host"),
        .registered = client,
        .registered_count = 1,
        .revision_2025_03 = trial->options.revision == BTZ_MCP_2025_03_26,
        .allowed_scopes = site->allowed,
        .secret = secret,
        .guard = {.any_scheme = !safe[BTZ_SWITCH_OPEN_WEB_ONLY],
                  .any_place = !safe[BTZ_SWITCH_GUARD_ADDRESSES]},
        .lenient = {.assumes_endpoints = !safe[BTZ_SWITCH_REQUIRE_METADATA],
                    .follows_any_redirect = !safe[BTZ_SWITCH_GUARD_REDIRECTS],
                    .ignores_response_iss = !safe[BTZ_SWITCH_CHECK_RESPONSE_ISSUER],
                    .takes_any_scope = !safe[BTZ_SWITCH_LIMIT_SCOPES],
                    .shares_tokens_of_host = !safe[BTZ_SWITCH_KEY_BY_RESOURCE]},
        .store = trial->credentials};
}

/* Each user of the host has credentials of their own. */
static void open_store(struct btz_trial *trial)
{
    if (trial->credentials && trial->credentials_of == trial->user) {
        return;
    }
    btz_auth_store_free(trial->credentials);
    trial->credentials = btz_auth_store_new();
    trial->credentials_of = trial->user;
}

int auth_open(struct btz_trial *trial, struct conn *conn, struct btz_err *err)
{
    const struct btz_stage_site *site = btz_stage_site(trial->stage, conn->server->id);
    const struct btz_auth_client client = {.issuer = BTZ_STR(BTZ_LOGIN_ISSUER),
                                           .id = BTZ_STR(BTZ_LOGIN_CLIENT)};
    struct btz_hasher *hasher = btz_hasher_new();
    uint64_t seed[2] = {trial->options.seed, trial->requests};
    struct btz_auth_flow_options options;
    struct btz_hash secret;
    int rc;

    btz_hasher_add_part(hasher, (struct btz_str){(const char *)seed, sizeof(seed)});
    btz_hasher_add_part(hasher, conn->server->id);
    secret = btz_hasher_end(hasher);
    btz_hasher_free(hasher);
    open_store(trial);
    if (site->grant.len && !btz_auth_store_token(trial->credentials, BTZ_STR_NONE, site->url)) {
        const struct btz_auth_token kept = {.issuer = BTZ_STR(BTZ_LOGIN_ISSUER),
                                            .resource = site->url,
                                            .refresh = site->grant,
                                            .scope = site->scope};

        btz_auth_store_put_token(trial->credentials, &kept);
    }
    options =
        flow_options(trial, site, &client, (struct btz_str){(const char *)&secret, sizeof(secret)});
    rc = btz_auth_flow_new(&options, &conn->flow, err);
    if (rc == BTZ_OK && btz_auth_flow_recall(conn->flow, 0)) {
        rc = btz_mcp_http_session_authorize(btz_http_link_session(conn->http),
                                            btz_auth_flow_header(conn->flow));
    }
    return rc;
}

/* Host-profile switch client.pin_addresses: what a name meant first, it means as long as the server
 * is connected. Careless hosts ask anew for each connection, so that whoever owns the name may turn
 * it to a place inside. */
static bool look_up(struct btz_trial *trial, struct conn *conn, struct btz_str host,
                    struct btz_auth_address *address)
{
    struct pinned *pin = conn->pinned;

    while (pin && !btz_str_eq(pin->host, host)) {
        pin = pin->next;
    }
    if (pin && trial->options.profile.safe[BTZ_SWITCH_PIN_ADDRESSES]) {
        *address = pin->address;
        return true;
    }
    if (!btz_stage_resolve(trial->stage, host, address)) {
        return false;
    }
    if (!pin) {
        pin = BTZ_NEW(trial->arena, struct pinned);
        *pin = (struct pinned){conn->pinned, btz_arena_dup(trial->arena, host), *address};
        conn->pinned = pin;
    }
    return true;
}

static int resolve(struct btz_trial *trial, struct conn *conn, const struct btz_auth_need *need)
{
    struct btz_auth_address address;
    size_t count = look_up(trial, conn, need->host, &address) ? 1 : 0;

    return btz_auth_flow_resolved(conn->flow, &address, count);
}

/* On the server's own site: past the adversary, if there is one. */
static int fetch_here(struct btz_trial *trial, struct conn *conn, const struct btz_auth_need *need,
                      struct btz_err *err)
{
    struct btz_http_field *fields =
        btz_arena_array(trial->arena, need->field_count + 1, sizeof(*fields));
    const struct btz_http_fetched *got;
    struct btz_auth_url url;
    uint64_t exchange = 0;
    int rc = btz_auth_url_parse(need->url, &url);

    if (rc == BTZ_OK) {
        fields[0] = (struct btz_http_field){BTZ_STR("Host"), url.authority};
        memcpy(fields + 1, need->fields, need->field_count * sizeof(*fields));
        rc = btz_http_link_fetch(conn->http, need->method, url.path.len ? url.path : BTZ_STR("/"),
                                 fields, need->field_count + 1, need->body, &exchange);
    }
    rc = rc == BTZ_OK ? carry_http_settle(trial, conn, err)
                      : conn_fault(conn, err, "a request for authorization", rc);
    if (rc != BTZ_OK) {
        return rc;
    }
    got = btz_http_link_fetched(conn->http, exchange);
    return btz_auth_flow_fetched(conn->flow, got ? got->status : 0, got ? got->fields : NULL,
                                 got ? got->field_count : 0, got ? got->body : BTZ_STR_NONE);
}

static int fetch(struct btz_trial *trial, struct conn *conn, const struct btz_auth_need *need,
                 struct btz_err *err)
{
    const struct btz_http_head head = {.fields = need->fields, .field_count = need->field_count};
    struct btz_web_request request = {.from = "host",
                                      .method = need->method,
                                      .url = need->url,
                                      .body = need->body,
                                      .authorization =
                                          btz_http_field_get(&head, "authorization", NULL)};
    struct btz_http_field location = {BTZ_STR("Location"), BTZ_STR_NONE};
    struct btz_web_answer answer;
    char address[46];
    int rc;

    if (need->address_count) {
        request.address = btz_arena_dup(
            trial->arena, btz_str_of(btz_auth_address_text(need->addresses, address)));
    }
    if (site_owner(trial, conn, need->url) == conn) {
        return fetch_here(trial, conn, need, err);
    }
    rc = web_exchange(trial, &request, &answer, err);
    if (rc != BTZ_OK) {
        return rc;
    }
    location.value = answer.location;
    return btz_auth_flow_fetched(conn->flow, answer.status, &location, location.value.len ? 1 : 0,
                                 answer.body);
}

static int open_address(struct btz_trial *trial, struct conn *conn,
                        const struct btz_auth_need *need, struct btz_err *err)
{
    struct btz_str back;
    int rc = browse_open(trial, need->url, &back, err);

    return rc == BTZ_OK ? btz_auth_flow_returned(conn->flow, back) : rc;
}

static void note_outcome(struct btz_trial *trial, const struct conn *conn)
{
    struct btz_json *payload = btz_json_new_object(trial->arena);
    struct btz_str failure = btz_auth_flow_failure(conn->flow, NULL);
    struct btz_json *note;

    btz_json_set_str(trial->arena, payload, "server", conn->server->label);
    btz_json_set_str(trial->arena, payload, "issuer", btz_auth_flow_issuer(conn->flow));
    btz_json_set_str(trial->arena, payload, "scope", btz_auth_flow_scope(conn->flow));
    if (failure.len) {
        btz_json_set_str(trial->arena, payload, "failure", failure);
    }
    note = trial_note(trial, trial_event_json(trial, BTZ_LAYER_CLIENT, "authorize", false, payload),
                      "authorize");
    btz_json_set_str(trial->arena, note, "server", conn->server->id);
    btz_json_set_str(trial->arena, note, "issuer", btz_auth_flow_issuer(conn->flow));
    btz_json_set_bool(trial->arena, note, "ok", failure.len == 0);
}

int auth_answer(struct btz_trial *trial, struct conn *conn, bool *any, struct btz_err *err)
{
    struct btz_mcp_http_session *session = btz_http_link_session(conn->http);
    struct btz_mcp_http_challenge challenge;
    struct btz_auth_need need;
    int rc = BTZ_OK;

    if (!conn->flow || conn->authorizing || !btz_mcp_http_session_challenged(session, &challenge)) {
        return BTZ_OK;
    }
    *any = conn->authorizing = true;
    rc = btz_auth_flow_challenged(conn->flow, challenge.status, challenge.fields,
                                  challenge.field_count, 0);
    while (rc == BTZ_OK && btz_auth_flow_next(conn->flow, &need)) {
        if (need.kind == BTZ_AUTH_RESOLVE) {
            rc = resolve(trial, conn, &need);
        } else if (need.kind == BTZ_AUTH_FETCH) {
            rc = fetch(trial, conn, &need, err);
        } else {
            rc = open_address(trial, conn, &need, err);
        }
    }
    conn->authorizing = false;
    if (rc == BTZ_OK) {
        note_outcome(trial, conn);
        rc = btz_mcp_http_session_authorize(session, btz_auth_flow_header(conn->flow));
    }
    if (rc != BTZ_OK && err->code != rc) {
        rc = conn_fault(conn, err, "authorization broke off", rc);
    }
    return rc;
}
