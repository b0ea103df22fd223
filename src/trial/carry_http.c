/* The HTTP carrier of a trial: client session and endpoint of wire/http_link.h, and the place of
 * the adversary between them. */
#include <strings.h>

#include "trial/web.h"

enum { REQUEST_US = 1000 }; /* simulated time of one request; idle limits are never reached */

static struct btz_str id_secret(struct btz_trial *trial, const struct conn *conn)
{
    struct btz_hasher *hasher = btz_hasher_new();
    uint64_t seed = trial->options.seed;
    struct btz_hash hash;

    btz_hasher_add_part(hasher, (struct btz_str){(const char *)&seed, sizeof(seed)});
    btz_hasher_add_part(hasher, conn->server->id);
    hash = btz_hasher_end(hasher);
    btz_hasher_free(hasher);
    return btz_arena_dup(trial->arena, (struct btz_str){(const char *)&hash, sizeof(hash)});
}

/* Headers as a script reads them: small letters; the last of several. */
static struct btz_json *headers_of(struct btz_trial *trial, const struct btz_http_relay_item *item)
{
    struct btz_json *headers = btz_json_new_object(trial->arena);

    for (size_t i = 0; i < item->field_count; i++) {
        struct btz_str name = item->fields[i].name;
        char *lower = btz_arena_alloc(trial->arena, name.len + 1);

        for (size_t c = 0; c < name.len; c++) {
            char byte = name.ptr[c];

            lower[c] = byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
        }
        btz_json_set(
            trial->arena, headers, (struct btz_str){lower, name.len},
            btz_json_new_str(trial->arena, btz_arena_dup(trial->arena, item->fields[i].value)));
    }
    return headers;
}

static struct btz_json *http_part(struct btz_trial *trial, const struct btz_http_relay_item *item)
{
    struct btz_json *http = btz_json_new_object(trial->arena);

    btz_json_set_str(trial->arena, http, "method", item->method);
    btz_json_set_str(trial->arena, http, "target", item->target);
    btz_json_setz(trial->arena, http, "headers", headers_of(trial, item));
    if (item->point != BTZ_RELAY_REQUEST) {
        btz_json_set_int(trial->arena, http, "status", item->status);
    }
    btz_json_set_bool(trial->arena, http, "event", item->point == BTZ_RELAY_EVENT);
    return http;
}

/* The fields with those that an action's item gives: replaced, added, or left out (null). */
static void set_headers(struct btz_trial *trial, struct btz_http_relay_item *item,
                        const struct btz_json *headers)
{
    size_t room = item->field_count + btz_json_count(headers);
    struct btz_http_field *fields = btz_arena_array(trial->arena, room + 1, sizeof(*fields));
    size_t count = 0;

    for (size_t i = 0; i < item->field_count; i++) {
        bool given = false;

        for (size_t h = 0; h < btz_json_count(headers); h++) {
            struct btz_str name = btz_json_key_at(headers, h);

            given = given || (name.len == item->fields[i].name.len &&
                              strncasecmp(name.ptr, item->fields[i].name.ptr, name.len) == 0);
        }
        if (!given) {
            fields[count++] = item->fields[i];
        }
    }
    for (size_t h = 0; h < btz_json_count(headers); h++) {
        struct btz_str value = btz_json_str(btz_json_value_at(headers, h));

        if (value.ptr) {
            fields[count++] = (struct btz_http_field){btz_json_key_at(headers, h), value};
        }
    }
    item->fields = fields;
    item->field_count = count;
}

static void apply(struct btz_trial *trial, struct btz_http_relay_item *item,
                  const struct btz_json *given, struct btz_str body)
{
    int64_t status = item->status;

    item->body = body;
    if (btz_json_getz(given, "headers")) {
        set_headers(trial, item, btz_json_getz(given, "headers"));
    }
    if (btz_json_getz(given, "target")) {
        item->target = btz_json_str(btz_json_getz(given, "target"));
    }
    if (btz_json_int64(btz_json_getz(given, "status"), &status)) {
        item->status = (int)status;
    }
}

/* The adversary answers a request itself. */
static enum btz_http_relay_verdict answer(struct btz_trial *trial, struct btz_http_relay_item *item,
                                          const struct tapped *tapped)
{
    const struct btz_json *given = btz_json_at(btz_json_getz(tapped->action, "back"), 0);
    struct btz_json *headers = btz_json_new_object(trial->arena);

    item->field_count = 0;
    item->status = 200;
    if (tapped->back[0].len) {
        btz_json_set_strz(trial->arena, headers, "Content-Type", "application/json");
        set_headers(trial, item, headers);
    }
    apply(trial, item, given, tapped->back[0]);
    return BTZ_RELAY_ANSWER;
}

static enum btz_http_relay_verdict carry_out(struct btz_trial *trial, struct btz_http_link *link,
                                             struct btz_http_relay_item *item,
                                             const struct tapped *tapped)
{
    const struct btz_json *forward = btz_json_getz(tapped->action, "forward");
    size_t last = tapped->forward_count - 1;
    bool event = item->point == BTZ_RELAY_EVENT;

    if (tapped->back_count && item->point == BTZ_RELAY_REQUEST) {
        for (size_t i = 0; i < tapped->forward_count;
             i++) { /* the server hears them all the same */
            (void)!btz_http_link_replay(link, item->method, item->target, item->fields,
                                        item->field_count, tapped->forward[i], BTZ_STR(HOST_USER),
                                        NULL);
        }
        return answer(trial, item, tapped);
    }
    if (tapped->forward_count == 0) {
        return BTZ_RELAY_DROP;
    }
    /* Of several requests the first goes in place of the one that came and the others follow; of
     * several events the last one does and the others go before it. */
    for (size_t i = event ? 0 : 1; i < tapped->forward_count - (event ? 1 : 0); i++) {
        struct btz_http_relay_item more = *item;
        int rc = BTZ_EINVAL;

        if (event) {
            rc = btz_http_link_inject_event(link, item->exchange, item->event, item->id, -1,
                                            tapped->forward[i]);
        } else if (item->point == BTZ_RELAY_REQUEST) {
            apply(trial, &more, btz_json_at(forward, i), tapped->forward[i]);
            rc = btz_http_link_replay(link, more.method, more.target, more.fields, more.field_count,
                                      more.body, BTZ_STR(HOST_USER), NULL);
        }
        (void)rc; /* what cannot be sent is not sent: the adversary's loss */
    }
    apply(trial, item, btz_json_at(forward, event ? last : 0), tapped->forward[event ? last : 0]);
    return BTZ_RELAY_REPLACE;
}

/* Events that the adversary puts into the stream for messages of the server. */
static void inject(struct btz_trial *trial, struct conn *conn, struct btz_http_link *link,
                   const struct btz_json *list)
{
    for (size_t i = 0; conn->get_stream && i < btz_json_count(list); i++) {
        const struct btz_json *given = btz_json_at(list, i);
        const struct btz_json *body = btz_json_getz(given, "body");

        (void)!btz_http_link_inject_event(link, conn->get_stream, BTZ_STR_NONE, BTZ_STR_NONE, -1,
                                          body ? btz_json_text(trial->arena, body)
                                               : btz_json_str(btz_json_getz(given, "text")));
    }
}

static enum btz_http_relay_verdict tap(void *context, struct btz_http_link *link,
                                       struct btz_http_relay_item *item)
{
    struct conn *conn = context;
    struct btz_trial *trial = conn->trial;
    enum btz_side from = item->point == BTZ_RELAY_REQUEST ? BTZ_SIDE_CLIENT : BTZ_SIDE_SERVER;
    struct btz_str bytes = btz_arena_dup(trial->arena, item->body);
    struct tapped tapped;

    if (item->point == BTZ_RELAY_STREAM && btz_str_is(item->method, "GET")) {
        conn->get_stream = item->exchange;
    }
    if (item->own && outsider_sent(conn, item->exchange) && !conn->tap_failed) {
        conn->tap_failed =
            outsider_got(trial, conn, link, bytes, http_part(trial, item), &conn->tap_err);
    } else if (item->point == BTZ_RELAY_REQUEST) {
        outsider_log(trial, conn, item);
    }
    if (item->own || item->point == BTZ_RELAY_STREAM || conn->tap_failed ||
        (item->point == BTZ_RELAY_RESPONSE && item->body.len == 0)) {
        return BTZ_RELAY_PASS;
    }
    if (conn->lost.len) {
        return BTZ_RELAY_DROP;
    }
    if (from == BTZ_SIDE_SERVER) {
        conn->last_message = bytes;
    }
    conn->tap_failed =
        tap_message(trial, conn, from, bytes, http_part(trial, item), &tapped, &conn->tap_err);
    if (conn->tap_failed) {
        return BTZ_RELAY_PASS; /* the trial ends */
    }
    if (conn->lost.len) {
        return BTZ_RELAY_DROP; /* also where nothing was done to this one: another is missing */
    }
    if (!tapped.action) {
        return BTZ_RELAY_PASS;
    }
    inject(trial, conn, link, btz_json_getz(tapped.action, "inject"));
    outsider_send(trial, conn, link, btz_json_getz(tapped.action, "send"));
    if (!btz_json_getz(tapped.action, "forward") && !btz_json_getz(tapped.action, "back")) {
        return BTZ_RELAY_PASS; /* only injected or sent */
    }
    if (from == BTZ_SIDE_SERVER && tapped.forward_count) {
        conn->last_message = tapped.forward[tapped.forward_count - 1];
    }
    return carry_out(trial, link, item, &tapped);
}

struct btz_mcp_http_session_options carry_http_client(const struct btz_trial *trial,
                                                      const struct btz_mcp_client_options *client)
{
    const bool *safe = trial->options.profile.safe;

    return (struct btz_mcp_http_session_options){
        .host = BTZ_STR("localhost"),
        /* 2024-11-05 knows no other transport over HTTP. */
        .transport = trial->options.revision == BTZ_MCP_2024_11_05 ? BTZ_MCP_HTTP_SSE
                     : safe[BTZ_SWITCH_FORBID_SSE_FALLBACK]        ? BTZ_MCP_HTTP_STREAMABLE
                                                            : BTZ_MCP_HTTP_STREAMABLE_THEN_SSE,
        .client = *client,
        .accept_any_stream = !safe[BTZ_SWITCH_MATCH_STREAMS]};
}

struct btz_mcp_endpoint_options carry_http_server(const struct btz_trial *trial,
                                                  const struct conn *conn)
{
    const bool *safe = trial->options.profile.safe;
    struct btz_stage_lists lists = btz_stage_lists(trial->stage, conn->index);

    return (struct btz_mcp_endpoint_options){
        .server = {.page_size = lists.page_size, .ttl_ms = lists.ttl_ms},
        .switches = {.any_headers = !safe[BTZ_SWITCH_CHECK_HEADERS],
                     .any_host = !safe[BTZ_SWITCH_CHECK_HOST],
                     .any_address = !safe[BTZ_SWITCH_CHECK_ADDRESSES],
                     .any_origin = !safe[BTZ_SWITCH_CHECK_ORIGIN],
                     .any_site = !safe[BTZ_SWITCH_CHECK_SITE],
                     .counted_ids = !safe[BTZ_SWITCH_RANDOM_SESSIONS],
                     .any_subject = !safe[BTZ_SWITCH_BIND_SESSIONS],
                     .any_resume = !safe[BTZ_SWITCH_OWN_STREAMS],
                     .one_queue = !safe[BTZ_SWITCH_OWN_QUEUES]},
        .keepalive_us = -1,
        .allow_legacy_sse =
            trial->options.revision == BTZ_MCP_2024_11_05 || !safe[BTZ_SWITCH_FORBID_SSE_FALLBACK]};
}

static int make_link(struct btz_trial *trial, struct conn *conn,
                     const struct btz_mcp_client_options *client,
                     const struct btz_mcp_catalogue *catalogue, struct btz_err *err)
{
    const struct btz_stage_site *site = btz_stage_site(trial->stage, conn->server->id);
    struct btz_auth_url url = {.authority = BTZ_STR("localhost"), .path = BTZ_STR("/mcp")};
    struct btz_http_link_options options = {
        .pump = trial->options.carrier == BTZ_CARRIER_HTTP ? BTZ_HTTP_SOCKET : BTZ_HTTP_MEMORY,
        .client = carry_http_client(trial, client),
        .server = carry_http_server(trial, conn),
        .subject = BTZ_STR(HOST_USER)};
    int rc;

    if (site) {
        if (btz_auth_url_parse(site->url, &url) != BTZ_OK) {
            return btz_err_set(err, BTZ_EINTERNAL, "the address of server %.*s is none",
                               BTZ_FMT(conn->server->label));
        }
        options.client.host = url.authority;
        options.client.target = url.path;
        options.client.https = options.client.hold_unauthorized = true;
        options.server.hosts = &url.authority;
        options.server.host_count = 1;
    }
    options.server.id_secret = id_secret(trial, conn);
    rc = btz_http_link_new(&options, catalogue, &conn->http, err);
    if (rc != BTZ_OK) {
        return rc;
    }
    conn->client = btz_http_link_client(conn->http);
    if (btz_stage_has_relay(trial->stage)) {
        btz_http_link_set_relay(conn->http, tap, conn);
    }
    if (site) {
        btz_http_link_set_front(conn->http, auth_front, conn);
    }
    return BTZ_OK;
}

int carry_http_open(struct btz_trial *trial, struct conn *conn,
                    const struct btz_mcp_client_options *client,
                    const struct btz_mcp_catalogue *catalogue, struct btz_err *err)
{
    int rc = make_link(trial, conn, client, catalogue, err);

    if (rc == BTZ_OK && btz_stage_site(trial->stage, conn->server->id)) {
        rc = auth_open(trial, conn, err);
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    rc = btz_mcp_http_session_start(btz_http_link_session(conn->http));
    return rc == BTZ_OK ? rc : conn_fault(conn, err, "the handshake could not start", rc);
}

static int take_events(struct btz_trial *trial, struct conn *conn, bool *any, struct btz_err *err)
{
    struct btz_mcp_endpoint *endpoint = btz_http_link_endpoint(conn->http);
    struct btz_mcp_server_event asked;
    struct btz_mcp_client_event event;
    uint64_t handle;

    while (btz_mcp_endpoint_next_event(endpoint, &handle, &asked)) {
        struct btz_mcp_server *machine;
        int rc;

        if (asked.kind == BTZ_MCP_SERVER_CALL && btz_stage_polled(trial->stage)) {
            /* The client comes back for the answer; one of an older revision waits for it. */
            (void)!btz_mcp_endpoint_park(endpoint, handle, asked.request_id);
        }
        machine = btz_mcp_endpoint_server(endpoint, handle);
        rc = machine && asked.kind != BTZ_MCP_SERVER_CANCELLED
                 ? carry_serve(trial, conn, machine, &asked, err)
                 : BTZ_OK;

        *any = true;
        if (rc != BTZ_OK) {
            return rc;
        }
    }
    while (btz_mcp_client_next_event(conn->client, &event)) {
        *any = true;
        carry_client_event(trial, conn, &event);
    }
    if (btz_mcp_http_session_take_flags(btz_http_link_session(conn->http)) &
        BTZ_MCP_HTTP_OLD_TRANSPORT) {
        conn->old_transport = true;
    }
    return BTZ_OK;
}

int carry_http_settle(struct btz_trial *trial, struct conn *conn, struct btz_err *err)
{
    bool any;
    int rc;

    do {
        any = false;
        rc = btz_http_link_step(conn->http, (int64_t)trial->requests * REQUEST_US, err);
        if (rc != BTZ_OK && rc != BTZ_EAGAIN) {
            return conn_fault(conn, err, "the HTTP carrier failed", rc);
        }
        if (conn->tap_failed) {
            *err = conn->tap_err;
            return conn->tap_failed;
        }
        if (take_events(trial, conn, &any, err) != BTZ_OK ||
            auth_answer(trial, conn, &any, err) != BTZ_OK) {
            return err->code;
        }
    } while (rc == BTZ_OK || any);
    return BTZ_OK;
}
