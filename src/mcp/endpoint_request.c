/* How one HTTP request is judged; docs/internals/mcp-http.md has the order as a table. */
#include "mcp/endpoint_int.h"
#include "mcp/param_header.h"

#define NO_ID ((struct btz_mcp_id){0})

struct request {
    struct btz_mcp_endpoint *endpoint;
    uint64_t exchange;
    const struct btz_http_head *head;
    struct btz_str body;
    struct btz_str subject;
    struct btz_arena *arena;
    struct btz_mcp_message message; /* POST, once it was read */
    struct btz_str version;         /* MCP-Protocol-Version; NONE if absent or doubled */
    size_t versions;
};

static unsigned served(const struct request *r)
{
    return r->endpoint->options.server.revisions;
}

static void refuse(struct request *r, int status, int code, const char *text)
{
    btz_mcp_endpoint_refuse(r->endpoint, r->exchange, status, code,
                            r->message.kind == BTZ_MCP_REQUEST ? r->message.id : NO_ID, text);
}

static void accepted(struct request *r, int status)
{
    const struct answer answer = {.status = status};

    btz_mcp_endpoint_answer(r->endpoint, r->exchange, &answer);
}

static void refuse_method(struct request *r)
{
    const struct btz_mcp_endpoint_options *options = &r->endpoint->options;
    bool legacy = (served(r) & BTZ_MCP_SET_LEGACY) &&
                  !((served(r) & BTZ_MCP_SET_MODERN) && btz_mcp_names_modern(r->version));
    const char *allow = "POST";

    if (legacy && !options->no_get && !options->no_delete) {
        allow = "GET, POST, DELETE";
    } else if (legacy && !options->no_get) {
        allow = "GET, POST";
    } else if (legacy && !options->no_delete) {
        allow = "POST, DELETE";
    }
    btz_mcp_endpoint_refuse_method(r->endpoint, r->exchange, allow);
}

/* GET and DELETE exist in the legacy era only. */
static bool is_legacy_method(const struct request *r, bool switched_off)
{
    return !switched_off && (served(r) & BTZ_MCP_SET_LEGACY) &&
           !((served(r) & BTZ_MCP_SET_MODERN) && btz_mcp_names_modern(r->version));
}

static bool owns(const struct request *r, const struct peer *peer)
{
    return r->endpoint->options.switches.any_subject ||
           btz_str_eq(r->subject, (struct btz_str){peer->subject, peer->subject_len});
}

/* The client came back: from now on the longer time counts. */
static void greet(struct request *r, struct peer *peer)
{
    peer->greeted = true;
    btz_mcp_endpoint_due_by(r->endpoint,
                            r->endpoint->now_us + r->endpoint->options.session_idle_us);
}

/* The session that the request names, or NULL: it was refused then. Another subject's session is
 * answered like one that does not exist, so that nobody learns which do. */
static struct peer *session_of(struct request *r)
{
    size_t count = 0;
    struct btz_str id = btz_http_field_get(r->head, "MCP-Session-Id", &count);
    struct peer *peer;

    if (count != 1) {
        refuse(r, 400, BTZ_MCP_E_REQUEST,
               count ? "MCP-Session-Id is there more than once"
                     : "MCP-Session-Id is missing; initialize gives one");
        return NULL;
    }
    peer = btz_mcp_endpoint_session(r->endpoint, id, false);
    if (!peer || !owns(r, peer)) {
        refuse(r, 404, BTZ_MCP_E_REQUEST, "there is no such session; initialize a new one");
        return NULL;
    }
    if (r->versions && !(BTZ_MCP_SET(btz_mcp_revision_parse(r->version)) & served(r) &
                         BTZ_MCP_SET_LEGACY)) { /* doubled is no version at all */
        refuse(r, 400, BTZ_MCP_E_REQUEST,
               "MCP-Protocol-Version names a version that is not served");
        return NULL;
    }
    greet(r, peer);
    return peer;
}

static void read_params(struct request *r, struct btz_mcp_headers *headers)
{
    const struct btz_str prefix = BTZ_STR(BTZ_MCP_PARAM_PREFIX);
    struct btz_mcp_param *params =
        btz_arena_array(r->arena, r->head->field_count + 1, sizeof(*params));

    for (size_t i = 0; i < r->head->field_count; i++) {
        const struct btz_http_field *field = &r->head->fields[i];

        if (btz_mcp_same_word(btz_str_sub(field->name, 0, prefix.len), prefix)) {
            params[headers->param_count++] = (struct btz_mcp_param){
                btz_str_sub(field->name, prefix.len, field->name.len), field->value};
        }
    }
    headers->params = params;
}

static struct btz_mcp_headers received_headers(struct request *r)
{
    struct btz_mcp_headers headers = {.protocol_version = r->version};
    struct btz_str name = btz_http_field_get(r->head, "Mcp-Name", NULL);

    headers.method = btz_http_field_get(r->head, "Mcp-Method", NULL);
    if (name.ptr && btz_mcp_header_decode(r->arena, name, &headers.name)) {
        headers.name = BTZ_STR("\xff"); /* is no UTF-8, so it equals no name of a body */
    }
    read_params(r, &headers);
    return headers;
}

/* Lab: the headers that the body would have, whatever was received. */
static struct btz_mcp_headers body_headers(struct request *r)
{
    const struct btz_json *params = r->message.params;
    const struct btz_json *meta = btz_json_getz(params, "_meta");
    const struct btz_mcp_method *method = btz_mcp_method_find(r->message.method);
    struct btz_str name = btz_json_str(btz_json_getz(params, "name"));
    struct btz_mcp_headers headers = {.method = r->message.method};

    headers.protocol_version = btz_json_str(btz_json_getz(meta, BTZ_MCP_META "protocolVersion"));
    if (!headers.protocol_version.ptr) {
        headers.protocol_version = r->version; /* still says which era was meant */
    }
    if (method && method->header_name) {
        headers.name = btz_json_str(btz_json_getz(params, method->header_name));
    }
    if (btz_mcp_param_fields(r->arena, btz_mcp_server_schema(r->endpoint->model, name),
                             btz_json_getz(params, "arguments"), &headers.params,
                             &headers.param_count, NULL)) {
        headers.param_count = 0; /* broken annotations mirror nothing */
    }
    return headers;
}

/* Gives the message to the machine and takes what it says at once. False if the machine is lost;
 * the exchange, if it was opened, is answered then. */
static bool feed(struct request *r, struct peer *peer)
{
    bool lenient = peer->modern && r->endpoint->options.switches.any_headers;
    const struct btz_mcp_headers headers = lenient ? body_headers(r) : received_headers(r);
    struct exchange *x;

    if (btz_mcp_server_feed_http(peer->server, r->body, &headers)) {
        refuse(r, 500, BTZ_MCP_E_INTERNAL, "the answer is too large");
        x = btz_mcp_endpoint_exchange_find(r->endpoint, r->exchange);
        if (x) {
            btz_mcp_endpoint_exchange_free(r->endpoint, x);
        }
        btz_mcp_endpoint_peer_end(r->endpoint, peer);
        return false;
    }
    btz_mcp_endpoint_peer_touch(r->endpoint, peer);
    return true;
}

static void feed_request(struct request *r, struct peer *peer)
{
    struct route *route = btz_mcp_endpoint_route_new(peer, r->message.id);

    btz_mcp_endpoint_exchange_new(r->endpoint, r->exchange, peer, route, false);
    if (feed(r, peer)) {
        btz_mcp_endpoint_drain(r->endpoint, peer);
    }
}

static void stateless(struct request *r)
{
    switch (r->message.kind) {
    case BTZ_MCP_REQUEST:
        feed_request(r, btz_mcp_endpoint_peer_new(r->endpoint, true, r->subject));
        break;
    case BTZ_MCP_NOTIFICATION:
        /* Each request has a machine of its own, and is cancelled by closing its stream: there is
         * nothing that a notification could be about. */
        accepted(r, 202);
        break;
    default:
        refuse(r, 400, BTZ_MCP_E_REQUEST, "no response is expected here");
        break;
    }
}

/* A cancelled request gets no answer, so its exchange is ended without one. */
static void end_cancelled(struct request *r, struct peer *peer)
{
    struct route *route;
    struct btz_mcp_id id;

    if (!btz_str_is(r->message.method, btz_mcp_method_at(BTZ_MCP_N_CANCELLED)->name) ||
        !btz_mcp_id_read(btz_json_getz(r->message.params, "requestId"), &id)) {
        return;
    }
    route = btz_mcp_endpoint_route_find(peer, id);
    if (!route || btz_mcp_server_is_open(peer->server, id)) {
        return;
    }
    if (route->exchange && !route->started) {
        btz_mcp_endpoint_start_stream(r->endpoint, route->exchange, false);
    }
    if (route->exchange) {
        btz_mcp_endpoint_end_stream(r->endpoint, route->exchange);
    }
    btz_mcp_endpoint_route_drop(peer, route);
}

static void in_session(struct request *r, struct peer *peer)
{
    uint64_t refused = btz_mcp_server_stats(peer->server).refused;

    if (r->message.kind == BTZ_MCP_REQUEST) {
        if (btz_mcp_endpoint_route_find(peer, r->message.id)) {
            refuse(r, 400, BTZ_MCP_E_REQUEST,
                   "a request with this id is still in flight; use a new id");
            return;
        }
        feed_request(r, peer);
        return;
    }
    if (!feed(r, peer)) {
        return;
    }
    btz_mcp_endpoint_drain(r->endpoint, peer);
    if (r->message.kind == BTZ_MCP_NOTIFICATION) {
        end_cancelled(r, peer);
        accepted(r, 202);
    } else if (btz_mcp_server_stats(peer->server).refused != refused) {
        refuse(r, 400, BTZ_MCP_E_REQUEST, "no response is expected here");
    } else {
        accepted(r, 202);
    }
}

static void initialize(struct request *r)
{
    struct btz_mcp_endpoint *endpoint = r->endpoint;
    size_t count = 0;
    struct peer *peer;

    btz_http_field_get(r->head, "MCP-Session-Id", &count);
    if (count) {
        peer = session_of(r);
        if (peer) {
            in_session(r, peer); /* where the machine refuses it */
        }
        return;
    }
    if (endpoint->sessions.count >= endpoint->options.max_sessions) {
        refuse(r, 503, BTZ_MCP_E_INTERNAL, "too many sessions are open; try again later");
        return;
    }
    peer = btz_mcp_endpoint_peer_new(endpoint, false, r->subject);
    btz_mcp_endpoint_peer_open_session(endpoint, peer);
    feed_request(r, peer);
    if (!peer->over && !btz_mcp_server_session(peer->server)) {
        btz_mcp_endpoint_peer_free(endpoint, peer); /* refused: there never was a session */
    } else {
        endpoint->stats.sessions++;
    }
}

static bool has_json_body(struct request *r)
{
    if (btz_mcp_is_encoded(r->head)) {
        refuse(r, 415, BTZ_MCP_E_REQUEST, "Content-Encoding is not supported");
        return false;
    }
    if (!btz_mcp_is_json(r->head)) {
        refuse(r, 415, BTZ_MCP_E_REQUEST, "Content-Type must be application/json");
        return false;
    }
    if (r->body.len > r->endpoint->options.max_body) {
        refuse(r, 413, BTZ_MCP_E_REQUEST, "the body is too large");
        return false;
    }
    return true;
}

/* POST of the old transport: what comes of it goes to the session's GET stream. */
static void post_old(struct request *r, struct btz_str id)
{
    struct peer *peer;

    if (!has_json_body(r)) {
        return;
    }
    peer = btz_mcp_endpoint_session(r->endpoint, id, true);
    if (!peer || !owns(r, peer)) {
        refuse(r, 404, BTZ_MCP_E_REQUEST, "there is no such session");
        return;
    }
    greet(r, peer);
    if (btz_mcp_server_feed(peer->server, r->body)) {
        refuse(r, 500, BTZ_MCP_E_INTERNAL, "the answer is too large");
        btz_mcp_endpoint_peer_end(r->endpoint, peer);
        return;
    }
    btz_mcp_endpoint_peer_touch(r->endpoint, peer);
    accepted(r, 202);
    btz_mcp_endpoint_drain(r->endpoint, peer);
}

static void post_message(struct request *r)
{
    struct btz_mcp_refusal why;
    struct peer *peer;
    char text[1200];

    if (btz_mcp_read(r->arena, r->body, &r->endpoint->options.server.limits, &r->message, &why)) {
        r->message.kind = BTZ_MCP_REQUEST;
        r->message.id = why.answer ? why.id : NO_ID;
        refuse(r, 400, why.code, btz_err_text(&why.err, text, sizeof(text)));
        return;
    }
    switch (btz_mcp_server_route(served(r), &r->message, r->version)) {
    case BTZ_MCP_ROUTE_INITIALIZE:
        initialize(r);
        break;
    case BTZ_MCP_ROUTE_SESSION:
        peer = session_of(r);
        if (peer) {
            in_session(r, peer);
        }
        break;
    default:
        stateless(r);
        break;
    }
}

static void post(struct request *r)
{
    struct btz_str old = BTZ_STR_NONE;

    if (r->endpoint->options.allow_legacy_sse) {
        old = btz_mcp_query(r->head->target, "sessionId");
    }
    if (old.ptr) {
        post_old(r, old);
        return;
    }
    if (!btz_mcp_accepts(r->head, "application/json") ||
        !btz_mcp_accepts(r->head, "text/event-stream")) {
        refuse(r, 406, BTZ_MCP_E_REQUEST,
               "Accept must allow application/json and text/event-stream");
        return;
    }
    if (has_json_body(r)) {
        post_message(r);
    }
}

/* "route-sequence" of an event of this session whose successors are all kept. */
static struct route *resumed(const struct peer *peer, struct btz_str id, uint64_t *sequence)
{
    struct btz_str first = BTZ_STR_NONE;
    struct btz_str rest = id;
    struct route *route = peer->routes;
    int64_t number;
    int64_t last;

    if (id.len > 40 || !btz_str_cut(&rest, '-', &first) || !rest.ptr ||
        btz_str_int64(first, &number) || btz_str_int64(rest, &last) || last < 1) {
        return NULL;
    }
    while (route && route->number != (uint64_t)number) {
        route = route->next;
    }
    if (!route || (uint64_t)last > route->sequence || (uint64_t)last < route->evicted) {
        return NULL;
    }
    *sequence = (uint64_t)last;
    return route;
}

/* Lab: a store of events that knows streams but not whose they are. */
static struct route *resumed_anywhere(const struct request *r, struct btz_str id, uint64_t *after,
                                      struct peer **owner)
{
    const struct table *peers = &r->endpoint->peers;
    struct route *found = NULL;
    size_t at = 0;

    for (struct node *node = NULL; (node = btz_mcp_table_next(peers, &at, node)) != NULL;) {
        struct peer *peer = OWNER(node, struct peer, node);
        uint64_t sequence = 0;
        struct route *route = peer->session ? resumed(peer, id, &sequence) : NULL;

        if (route && (!found || peer->node.key < (*owner)->node.key)) { /* whatever the order */
            found = route;
            *owner = peer;
            *after = sequence;
        }
    }
    return found;
}

static void resume(struct request *r, struct peer *peer, struct btz_str last_event)
{
    uint64_t after;
    struct route *route = resumed(peer, last_event, &after);
    struct exchange *x;

    if (!route && r->endpoint->options.switches.any_resume) {
        route = resumed_anywhere(r, last_event, &after, &peer);
    }
    if (!route) {
        refuse(r, 400, BTZ_MCP_E_REQUEST,
               "Last-Event-ID names no event whose successors are still kept");
        return;
    }
    if (route->exchange) { /* the server has not noticed yet that the old stream broke */
        btz_mcp_endpoint_end_stream(r->endpoint, route->exchange);
    }
    x = btz_mcp_endpoint_exchange_new(r->endpoint, r->exchange, peer, route, true);
    btz_mcp_endpoint_start_stream(r->endpoint, x, false);
    btz_mcp_endpoint_replay(r->endpoint, peer, route, after);
    btz_mcp_endpoint_send_waiting(r->endpoint, peer);
}

static void open_stream(struct request *r, struct peer *peer)
{
    struct route *route = btz_mcp_endpoint_route_new(peer, NO_ID);
    struct exchange *x = btz_mcp_endpoint_exchange_new(r->endpoint, r->exchange, peer, route, true);

    btz_mcp_endpoint_start_stream(r->endpoint, x, true);
    btz_mcp_endpoint_send_waiting(r->endpoint, peer);
}

static void get_old(struct request *r)
{
    struct btz_mcp_endpoint *endpoint = r->endpoint;
    struct exchange *x;
    struct peer *peer;

    if (endpoint->sessions.count >= endpoint->options.max_sessions) {
        refuse(r, 503, BTZ_MCP_E_INTERNAL, "too many sessions are open; try again later");
        return;
    }
    peer = btz_mcp_endpoint_peer_new(endpoint, false, r->subject);
    peer->old_sse = true;
    btz_mcp_endpoint_peer_open_session(endpoint, peer);
    endpoint->stats.sessions++;
    x = btz_mcp_endpoint_exchange_new(endpoint, r->exchange, peer,
                                      btz_mcp_endpoint_route_new(peer, NO_ID), true);
    btz_mcp_endpoint_start_stream(endpoint, x, false);
    btz_mcp_endpoint_send_address(endpoint, x, r->head->target);
}

static void get(struct request *r)
{
    const struct btz_mcp_endpoint_options *options = &r->endpoint->options;
    struct btz_str last_event;
    size_t sessions = 0;
    size_t events = 0;
    struct peer *peer;

    if (!is_legacy_method(r, options->no_get)) {
        refuse_method(r);
        return;
    }
    if (!btz_mcp_accepts(r->head, "text/event-stream")) {
        refuse(r, 406, BTZ_MCP_E_REQUEST, "Accept must allow text/event-stream");
        return;
    }
    btz_http_field_get(r->head, "MCP-Session-Id", &sessions);
    if (options->allow_legacy_sse && !sessions) {
        get_old(r);
        return;
    }
    peer = session_of(r);
    if (!peer) {
        return;
    }
    last_event = btz_http_field_get(r->head, "Last-Event-ID", &events);
    if (events) {
        resume(r, peer, last_event);
    } else if (peer->gets >= options->max_session_streams) {
        refuse(r, 409, BTZ_MCP_E_REQUEST, "this session has too many open streams");
    } else {
        open_stream(r, peer);
    }
}

static void delete_session(struct request *r)
{
    struct peer *peer;

    if (!is_legacy_method(r, r->endpoint->options.no_delete)) {
        refuse_method(r);
        return;
    }
    peer = session_of(r);
    if (peer) {
        btz_mcp_endpoint_peer_end(r->endpoint, peer);
        accepted(r, 204);
    }
}

static void judge(struct request *r)
{
    if (!btz_mcp_endpoint_host_ok(r->endpoint, r->head)) {
        refuse(r, 403, BTZ_MCP_E_REQUEST, "this Host is not served here");
    } else if (!btz_mcp_endpoint_origin_ok(r->endpoint, r->head)) {
        refuse(r, 403, BTZ_MCP_E_REQUEST, "this Origin is not allowed");
    } else if (!btz_mcp_endpoint_site_ok(r->endpoint, r->head)) {
        refuse(r, 403, BTZ_MCP_E_REQUEST, "a page of another site must name its Origin");
    } else if (btz_str_is(r->head->method, "POST")) {
        post(r);
    } else if (btz_str_is(r->head->method, "GET")) {
        get(r);
    } else if (btz_str_is(r->head->method, "DELETE")) {
        delete_session(r);
    } else {
        refuse_method(r);
    }
}

int btz_mcp_endpoint_request(struct btz_mcp_endpoint *endpoint, uint64_t exchange,
                             const struct btz_http_head *head, struct btz_str body,
                             struct btz_str subject, int64_t now_us)
{
    struct request r = {
        .endpoint = endpoint, .exchange = exchange, .head = head, .body = body, .subject = subject};

    btz_mcp_endpoint_at(endpoint, now_us);
    if (btz_mcp_endpoint_exchange_find(endpoint, exchange)) {
        return BTZ_EEXISTS;
    }
    if (endpoint->out_bytes >= endpoint->options.max_out_bytes) {
        return BTZ_ELIMIT;
    }
    endpoint->stats.requests++;
    r.message.kind = BTZ_MCP_NOTIFICATION; /* nothing to name in an answer yet */
    if (endpoint->exchanges.count >= endpoint->options.max_exchanges) {
        refuse(&r, 503, BTZ_MCP_E_INTERNAL, "too many requests are open; try again later");
        return BTZ_OK;
    }
    r.version = btz_http_field_get(head, "MCP-Protocol-Version", &r.versions);
    r.arena = btz_arena_new();
    judge(&r);
    btz_arena_free(r.arena);
    return BTZ_OK;
}
