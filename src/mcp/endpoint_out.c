/* What leaves the endpoint: answers, streams and their events, and which message goes where. */
#include <stdio.h>
#include <stdlib.h>

#include "http/sse.h"
#include "mcp/endpoint_int.h"

static const struct btz_http_field stream_fields[] = {
    {{"Content-Type", 12}, {"text/event-stream", 17}},
    {{"Cache-Control", 13}, {"no-store", 8}},
    {{"X-Accel-Buffering", 17}, {"no", 2}}}; /* a proxy in between must not hold events back */

static void free_part(struct part *part)
{
    free(part);
}

void btz_mcp_endpoint_out_fini(struct btz_mcp_endpoint *endpoint)
{
    while (endpoint->head) {
        struct part *part = endpoint->head;

        endpoint->head = part->next;
        free_part(part);
    }
    free_part(endpoint->pulled);
}

static void push(struct btz_mcp_endpoint *endpoint, struct part *part)
{
    if (endpoint->tail) {
        endpoint->tail->next = part;
    } else {
        endpoint->head = part;
    }
    endpoint->tail = part;
    endpoint->out_bytes += part->charge;
}

static struct part *new_part(uint64_t exchange, enum btz_mcp_endpoint_out_kind kind,
                             struct btz_str bytes, struct btz_str extra)
{
    struct part *part = calloc(1, sizeof(*part) + bytes.len + extra.len);

    if (!part) {
        btz_panic("out of memory (endpoint)");
    }
    if (bytes.len) {
        memcpy(part->text, bytes.ptr, bytes.len);
    }
    if (extra.len) {
        memcpy(part->text + bytes.len, extra.ptr, extra.len);
    }
    part->charge = sizeof(*part) + bytes.len + extra.len;
    part->out = (struct btz_mcp_endpoint_out){.exchange = exchange,
                                              .kind = kind,
                                              .fields = part->fields,
                                              .bytes = {part->text, bytes.len}};
    return part;
}

static void add_field(struct part *part, struct btz_str name, struct btz_str value)
{
    part->fields[part->out.field_count++] = (struct btz_http_field){name, value};
}

static bool fits(const struct btz_mcp_endpoint *endpoint, size_t bytes)
{
    return endpoint->out_bytes + sizeof(struct part) + bytes <= endpoint->options.max_out_bytes;
}

void btz_mcp_endpoint_answer(struct btz_mcp_endpoint *endpoint, uint64_t exchange,
                             const struct answer *answer)
{
    struct part *part;

    if (!fits(endpoint, answer->body.len)) {
        endpoint->stats.aborted++;
        push(endpoint, new_part(exchange, BTZ_MCP_OUT_ABORT, BTZ_STR_NONE, BTZ_STR_NONE));
        return;
    }
    endpoint->stats.refused += answer->status >= 400;
    part = new_part(exchange, BTZ_MCP_OUT_RESPONSE, answer->body, answer->session);
    part->out.status = answer->status;
    if (answer->body.len) {
        add_field(part, BTZ_STR("Content-Type"), BTZ_STR("application/json"));
    }
    if (answer->allow) {
        add_field(part, BTZ_STR("Allow"), btz_str_of(answer->allow));
    }
    if (answer->session.len) {
        add_field(part, BTZ_STR("MCP-Session-Id"),
                  (struct btz_str){part->text + answer->body.len, answer->session.len});
    }
    push(endpoint, part);
}

static void answer_error(struct btz_mcp_endpoint *endpoint, uint64_t exchange,
                         struct answer *answer, int code, struct btz_mcp_id id, const char *text)
{
    struct btz_buf body;

    btz_buf_init(&body, 64 * 1024);
    (void)!btz_mcp_write_error(&body, id, code, btz_str_of(text), NULL);
    answer->body = btz_buf_view(&body);
    btz_mcp_endpoint_answer(endpoint, exchange, answer);
    btz_buf_fini(&body);
}

void btz_mcp_endpoint_refuse(struct btz_mcp_endpoint *endpoint, uint64_t exchange, int status,
                             int code, struct btz_mcp_id id, const char *text)
{
    struct answer answer = {.status = status};

    answer_error(endpoint, exchange, &answer, code, id, text);
}

void btz_mcp_endpoint_refuse_method(struct btz_mcp_endpoint *endpoint, uint64_t exchange,
                                    const char *allow)
{
    struct answer answer = {.status = 405, .allow = allow};

    answer_error(endpoint, exchange, &answer, BTZ_MCP_E_REQUEST, (struct btz_mcp_id){0},
                 "this HTTP method is not allowed here");
}

void btz_mcp_endpoint_purge(struct btz_mcp_endpoint *endpoint, uint64_t exchange)
{
    struct part **at = &endpoint->head;

    endpoint->tail = NULL;
    while (*at) {
        struct part *part = *at;

        if (part->out.exchange == exchange) {
            *at = part->next;
            endpoint->out_bytes -= part->charge;
            free_part(part);
        } else {
            endpoint->tail = part;
            at = &part->next;
        }
    }
}

void btz_mcp_endpoint_stream_bytes(struct btz_mcp_endpoint *endpoint, struct exchange *x,
                                   struct btz_str bytes)
{
    if (!fits(endpoint, bytes.len)) {
        btz_mcp_endpoint_abort(endpoint, x);
        return;
    }
    push(endpoint, new_part(x->node.key, BTZ_MCP_OUT_STREAM_DATA, bytes, BTZ_STR_NONE));
    x->written_us = endpoint->now_us;
}

void btz_mcp_endpoint_end_stream(struct btz_mcp_endpoint *endpoint, struct exchange *x)
{
    push(endpoint, new_part(x->node.key, BTZ_MCP_OUT_STREAM_END, BTZ_STR_NONE, BTZ_STR_NONE));
    btz_mcp_endpoint_exchange_free(endpoint, x);
}

void btz_mcp_endpoint_abort(struct btz_mcp_endpoint *endpoint, struct exchange *x)
{
    uint64_t number = x->node.key;

    btz_mcp_endpoint_lose(endpoint, x);
    push(endpoint, new_part(number, BTZ_MCP_OUT_ABORT, BTZ_STR_NONE, BTZ_STR_NONE));
    endpoint->stats.aborted++;
}

/* True if the client can come back for the rest of a stream. */
static bool resumable(const struct btz_mcp_endpoint *endpoint, const struct peer *peer)
{
    return !peer->modern && !peer->old_sse && !endpoint->options.no_resume;
}

bool btz_mcp_endpoint_primes(const struct btz_mcp_endpoint *endpoint, const struct peer *peer)
{
    return resumable(endpoint, peer) && btz_mcp_server_session(peer->server) >= BTZ_MCP_2025_11_25;
}

static void evict(struct btz_mcp_endpoint *endpoint, struct peer *peer, const struct route *current)
{
    while (peer->replay.bytes > endpoint->options.replay_bytes) {
        struct kept *kept = btz_mcp_kept_pop(&peer->replay);
        struct route *route = kept->route;

        route->evicted = kept->sequence;
        route->kept--;
        if (route != current) {
            btz_mcp_endpoint_route_settle(peer, route);
        }
        free(kept);
    }
}

/* Writes one event of `route`, keeps it if it may be asked for again, sends it if somebody reads.
 * `message` empty = a priming event. Clients before 2025-11-25 fall over events without data, so
 * only later ones are primed. */
static void write_event(struct btz_mcp_endpoint *endpoint, struct peer *peer, struct route *route,
                        struct btz_str message)
{
    bool keep = resumable(endpoint, peer);
    bool prime = message.len == 0;
    struct btz_str id = BTZ_STR_NONE;
    char text[48];
    int rc;

    if (keep) {
        route->sequence++;
        snprintf(text, sizeof(text), "%llu-%llu", (unsigned long long)route->number,
                 (unsigned long long)route->sequence);
        id = btz_str_of(text);
    }
    btz_buf_reset(&endpoint->scratch);
    rc = btz_sse_write(&endpoint->scratch, peer->old_sse ? BTZ_STR("message") : BTZ_STR_NONE, id,
                       prime && endpoint->options.retry_ms > 0 ? endpoint->options.retry_ms : -1,
                       message);
    if (rc || btz_buf_status(&endpoint->scratch)) {
        endpoint->stats.lost++;
        if (keep) {
            route->evicted = route->sequence;
        }
        if (route->exchange) {
            btz_mcp_endpoint_abort(endpoint, route->exchange);
        }
        return;
    }
    if (keep) {
        btz_mcp_kept_push(&peer->replay, btz_mcp_kept_new(route, route->sequence,
                                                          btz_buf_view(&endpoint->scratch)));
        route->kept++;
        evict(endpoint, peer, route);
    }
    if (route->exchange) {
        btz_mcp_endpoint_stream_bytes(endpoint, route->exchange, btz_buf_view(&endpoint->scratch));
    }
}

void btz_mcp_endpoint_start_stream(struct btz_mcp_endpoint *endpoint, struct exchange *x,
                                   bool prime)
{
    struct part *part = new_part(x->node.key, BTZ_MCP_OUT_STREAM, BTZ_STR_NONE, BTZ_STR_NONE);

    part->out.status = 200;
    for (size_t i = 0; i < sizeof(stream_fields) / sizeof(stream_fields[0]); i++) {
        add_field(part, stream_fields[i].name, stream_fields[i].value);
    }
    push(endpoint, part);
    x->streaming = true;
    x->route->started = true;
    x->written_us = endpoint->now_us;
    if (endpoint->options.keepalive_us > 0) {
        btz_mcp_endpoint_due_by(endpoint, endpoint->now_us + endpoint->options.keepalive_us);
    }
    if (prime && btz_mcp_endpoint_primes(endpoint, x->peer)) {
        write_event(endpoint, x->peer, x->route, BTZ_STR_NONE);
    }
}

/* The GET stream that takes what belongs to no request: the oldest one that is read. */
static struct route *standing(const struct peer *peer)
{
    for (struct route *route = peer->routes; route; route = route->next) {
        if (route->id.kind == BTZ_MCP_ID_NONE && route->exchange) {
            return route;
        }
    }
    return NULL;
}

/* Lab: a message that nobody reads yet goes into one queue for all clients. */
static void send_to_all(struct btz_mcp_endpoint *endpoint, const struct peer *owner,
                        struct btz_str message)
{
    size_t at = 0;

    for (struct node *node = NULL;
         (node = btz_mcp_table_next(&endpoint->peers, &at, node)) != NULL;) {
        struct peer *peer = OWNER(node, struct peer, node);
        struct route *route = peer == owner || !peer->session ? NULL : standing(peer);

        if (route) {
            write_event(endpoint, peer, route, message);
        }
    }
}

/* One message of the machine to its route. The route is gone afterwards if it was the answer and
 * nobody can ask for it again. */
static void send(struct btz_mcp_endpoint *endpoint, struct peer *peer, struct route *route,
                 const struct btz_mcp_out *out, bool final)
{
    struct exchange *x = route->exchange;

    if (!x && !(route->started && resumable(endpoint, peer))) {
        endpoint->stats.lost++;
    } else if (final && !route->started) {
        bool opened = out->kind == BTZ_MCP_RESULT && peer->session && !peer->greeted;
        struct answer answer = {.status = out->http_status ? out->http_status : 200,
                                .session = opened ? btz_str_of(peer->id) : BTZ_STR_NONE,
                                .body = out->bytes};

        btz_mcp_endpoint_answer(endpoint, x->node.key, &answer);
        btz_mcp_endpoint_exchange_free(endpoint, x);
    } else {
        if (!route->started) {
            btz_mcp_endpoint_start_stream(endpoint, x, true);
        }
        write_event(endpoint, peer, route, out->bytes);
        if (!x && endpoint->options.switches.one_queue) {
            send_to_all(endpoint, peer, out->bytes);
        }
        if (final && route->exchange) {
            btz_mcp_endpoint_end_stream(endpoint, route->exchange);
        }
    }
    route->finished = route->finished || final;
    btz_mcp_endpoint_route_settle(peer, route);
}

static void hold(struct btz_mcp_endpoint *endpoint, struct peer *peer, struct btz_str message)
{
    if (endpoint->options.no_get) {
        endpoint->stats.lost++;
        return;
    }
    btz_mcp_kept_push(&peer->waiting, btz_mcp_kept_new(NULL, 0, message));
    while (peer->waiting.bytes > endpoint->options.replay_bytes) {
        free(btz_mcp_kept_pop(&peer->waiting));
        endpoint->stats.lost++;
    }
}

void btz_mcp_endpoint_send_waiting(struct btz_mcp_endpoint *endpoint, struct peer *peer)
{
    struct route *route = standing(peer);

    while (route && peer->waiting.head) {
        struct kept *kept = btz_mcp_kept_pop(&peer->waiting);

        write_event(endpoint, peer, route, (struct btz_str){kept->bytes, kept->len});
        free(kept);
        route = standing(peer); /* the stream may have been given up */
    }
}

static void take(struct btz_mcp_endpoint *endpoint, struct peer *peer,
                 const struct btz_mcp_out *out)
{
    bool final = out->kind == BTZ_MCP_RESULT || out->kind == BTZ_MCP_ERROR;
    struct btz_mcp_id id = final ? out->id : out->related;
    struct route *route;

    if (peer->over || (peer->modern && out->kind == BTZ_MCP_REQUEST)) {
        endpoint->stats.lost++;
        return;
    }
    if (peer->old_sse || (!id.kind && !final)) {
        route = standing(peer);
        if (!route) {
            hold(endpoint, peer, out->bytes);
            return;
        }
        write_event(endpoint, peer, route, out->bytes);
        return;
    }
    route = btz_mcp_endpoint_route_find(peer, id);
    if (!route) {
        endpoint->stats.lost++;
        return;
    }
    send(endpoint, peer, route, out, final);
}

void btz_mcp_endpoint_drain(struct btz_mcp_endpoint *endpoint, struct peer *peer)
{
    struct btz_mcp_out out;

    link_drop(&peer->touched);
    while (btz_mcp_server_next_out_full(peer->server, &out)) {
        take(endpoint, peer, &out);
    }
    if (peer->modern && !peer->over && !peer->routes) {
        btz_mcp_endpoint_peer_release(endpoint, peer);
    }
}

void btz_mcp_endpoint_replay(struct btz_mcp_endpoint *endpoint, struct peer *peer,
                             struct route *route, uint64_t after)
{
    for (const struct kept *kept = peer->replay.head; kept && route->exchange; kept = kept->next) {
        if (kept->route == route && kept->sequence > after) {
            btz_mcp_endpoint_stream_bytes(endpoint, route->exchange,
                                          (struct btz_str){kept->bytes, kept->len});
        }
    }
    if (route->exchange && route->finished) {
        btz_mcp_endpoint_end_stream(endpoint, route->exchange);
    }
}

void btz_mcp_endpoint_send_address(struct btz_mcp_endpoint *endpoint, struct exchange *x,
                                   struct btz_str target)
{
    struct btz_str path = BTZ_STR_NONE;
    struct btz_buf address;

    btz_str_cut(&target, '?', &path);
    btz_buf_init(&address, path.len + 64);
    btz_buf_add_str(&address, path);
    btz_buf_printf(&address, "?sessionId=%s", x->peer->id);
    btz_buf_reset(&endpoint->scratch);
    if (btz_sse_write(&endpoint->scratch, BTZ_STR("endpoint"), BTZ_STR_NONE, -1,
                      btz_buf_view(&address))) {
        btz_mcp_endpoint_abort(endpoint, x);
    } else {
        btz_mcp_endpoint_stream_bytes(endpoint, x, btz_buf_view(&endpoint->scratch));
    }
    btz_buf_fini(&address);
}

bool btz_mcp_endpoint_next_out(struct btz_mcp_endpoint *endpoint, struct btz_mcp_endpoint_out *out)
{
    struct part *part;

    while (link_used(&endpoint->touched)) {
        btz_mcp_endpoint_drain(endpoint, OWNER(endpoint->touched.next, struct peer, touched));
    }
    free_part(endpoint->pulled);
    part = endpoint->pulled = endpoint->head;
    if (!part) {
        return false;
    }
    endpoint->head = part->next;
    if (!endpoint->head) {
        endpoint->tail = NULL;
    }
    endpoint->out_bytes -= part->charge;
    *out = part->out;
    return true;
}
