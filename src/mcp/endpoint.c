#include "mcp/endpoint.h"

#include <stdlib.h>

#include "http/sse.h"
#include "mcp/endpoint_int.h"

#define MIN_SECRET 16
#define SECOND INT64_C(1000000)

static void set_size(size_t *size, size_t fallback)
{
    *size = *size ? *size : fallback;
}

static void set_time(int64_t *time, int64_t fallback)
{
    *time = *time ? *time : fallback;
}

static const struct btz_str *keep_list(struct btz_arena *arena, const struct btz_str *list,
                                       size_t count)
{
    struct btz_str *copy;

    if (!list) {
        return NULL;
    }
    copy = btz_arena_array(arena, count + 1, sizeof(*copy));
    for (size_t i = 0; i < count; i++) {
        copy[i] = btz_arena_dup(arena, list[i]);
    }
    return copy;
}

static void keep_options(struct btz_mcp_endpoint *endpoint,
                         const struct btz_mcp_endpoint_options *options)
{
    struct btz_mcp_endpoint_options *own = &endpoint->options;

    *own = *options;
    own->id_secret = btz_arena_dup(endpoint->arena, options->id_secret);
    own->hosts = keep_list(endpoint->arena, options->hosts, options->host_count);
    own->origins = keep_list(endpoint->arena, options->origins, options->origin_count);
    if (!own->server.revisions) {
        own->server.revisions = BTZ_MCP_SET_ALL;
    }
    own->server.carrier = BTZ_MCP_CARRIER_HTTP;
    set_size(&own->max_body, (size_t)10 * 1024 * 1024);
    set_size(&own->server.limits.json.max_bytes, own->max_body);
    set_size(&own->max_exchanges, 1024);
    set_size(&own->max_sessions, 1000);
    set_size(&own->max_session_streams, 4);
    set_size(&own->max_out_bytes, (size_t)64 * 1024 * 1024);
    set_size(&own->replay_bytes, (size_t)256 * 1024);
    set_time(&own->session_idle_us, 30 * 60 * SECOND);
    set_time(&own->session_greeting_us, 60 * SECOND);
    set_time(&own->keepalive_us, 15 * SECOND);
    set_time(&own->retry_ms, 1000);
}

int btz_mcp_endpoint_new(const struct btz_mcp_endpoint_options *options,
                         const struct btz_mcp_catalogue *catalogue, struct btz_mcp_endpoint **out,
                         struct btz_err *err)
{
    unsigned revisions = options->server.revisions ? options->server.revisions : BTZ_MCP_SET_ALL;
    struct btz_mcp_endpoint *endpoint;
    int rc;

    if ((revisions & BTZ_MCP_SET_LEGACY) && options->id_secret.len < MIN_SECRET) {
        return btz_err_set(err, BTZ_EINVAL,
                           "legacy revisions need sessions, and session ids a secret of at least "
                           "%d bytes",
                           MIN_SECRET);
    }
    endpoint = calloc(1, sizeof(*endpoint));
    if (!endpoint) {
        btz_panic("out of memory (endpoint)");
    }
    endpoint->arena = btz_arena_new();
    link_init(&endpoint->touched);
    link_init(&endpoint->eventful);
    endpoint->due_us = -1;
    keep_options(endpoint, options);
    btz_buf_init(&endpoint->scratch, endpoint->options.max_out_bytes);
    rc = btz_mcp_server_new(&endpoint->options.server, catalogue, &endpoint->model, err);
    if (rc) {
        btz_mcp_endpoint_free(endpoint);
        return rc;
    }
    *out = endpoint;
    return BTZ_OK;
}

static void drop_idle(struct btz_mcp_endpoint *endpoint)
{
    while (endpoint->idle_count) {
        btz_mcp_server_free(endpoint->idle[--endpoint->idle_count]);
    }
}

/* Nodes of `table` at this moment, so that the table may change while they are gone through. */
static struct node **snapshot(const struct table *table)
{
    struct node **list = calloc(table->count + 1, sizeof(struct node *));
    struct node *node = NULL;
    size_t count = 0;
    size_t at = 0;

    if (!list) {
        btz_panic("out of memory (endpoint)");
    }
    while ((node = btz_mcp_table_next(table, &at, node))) {
        list[count++] = node;
    }
    return list;
}

void btz_mcp_endpoint_free(struct btz_mcp_endpoint *endpoint)
{
    struct node **list;

    if (!endpoint) {
        return;
    }
    list = snapshot(&endpoint->exchanges);
    for (size_t i = 0; list[i]; i++) {
        btz_mcp_endpoint_exchange_free(endpoint, OWNER(list[i], struct exchange, node));
    }
    free(list);
    list = snapshot(&endpoint->peers);
    for (size_t i = 0; list[i]; i++) {
        btz_mcp_endpoint_peer_free(endpoint, OWNER(list[i], struct peer, node));
    }
    free(list);
    drop_idle(endpoint);
    btz_mcp_table_fini(&endpoint->exchanges);
    btz_mcp_table_fini(&endpoint->peers);
    btz_mcp_table_fini(&endpoint->sessions);
    btz_mcp_endpoint_out_fini(endpoint);
    btz_buf_fini(&endpoint->scratch);
    btz_mcp_server_free(endpoint->model);
    btz_arena_free(endpoint->arena);
    free(endpoint);
}

void btz_mcp_endpoint_closed(struct btz_mcp_endpoint *endpoint, uint64_t exchange, int64_t now_us)
{
    struct exchange *x = btz_mcp_endpoint_exchange_find(endpoint, exchange);

    btz_mcp_endpoint_at(endpoint, now_us);
    if (x) {
        btz_mcp_endpoint_lose(endpoint, x);
    } else {
        btz_mcp_endpoint_purge(endpoint, exchange);
    }
}

void btz_mcp_endpoint_at(struct btz_mcp_endpoint *endpoint, int64_t now_us)
{
    if (now_us > endpoint->now_us) {
        endpoint->now_us = now_us;
    }
}

void btz_mcp_endpoint_due_by(struct btz_mcp_endpoint *endpoint, int64_t at_us)
{
    if (endpoint->due_us < 0 || at_us < endpoint->due_us) {
        endpoint->due_us = at_us;
    }
}

int64_t btz_mcp_endpoint_due(const struct btz_mcp_endpoint *endpoint)
{
    return endpoint->due_us;
}

/* The list is of exchanges that are open when it begins; a comment that does not fit ends one, and
 * with it a session and the session's other streams, so each is looked up again. */
static void keep_alive(struct btz_mcp_endpoint *endpoint)
{
    int64_t period = endpoint->options.keepalive_us;
    uint64_t *numbers = calloc(endpoint->exchanges.count + 1, sizeof(*numbers));
    struct node *node = NULL;
    size_t count = 0;
    size_t at = 0;

    if (!numbers) {
        btz_panic("out of memory (endpoint)");
    }
    while ((node = btz_mcp_table_next(&endpoint->exchanges, &at, node))) {
        const struct exchange *x = OWNER(node, struct exchange, node);

        if (x->streaming && endpoint->now_us - x->written_us >= period) {
            numbers[count++] = node->key;
        } else if (x->streaming) {
            btz_mcp_endpoint_due_by(endpoint, x->written_us + period);
        }
    }
    for (size_t i = 0; i < count; i++) {
        struct exchange *x = btz_mcp_endpoint_exchange_find(endpoint, numbers[i]);

        btz_buf_reset(&endpoint->scratch);
        if (x && !btz_sse_write_comment(&endpoint->scratch, BTZ_STR("keep-alive"))) {
            btz_mcp_endpoint_due_by(endpoint, endpoint->now_us + period);
            btz_mcp_endpoint_stream_bytes(endpoint, x, btz_buf_view(&endpoint->scratch));
        }
    }
    free(numbers);
}

static void expire(struct btz_mcp_endpoint *endpoint)
{
    struct node **list = snapshot(&endpoint->sessions);

    for (size_t i = 0; list[i]; i++) {
        struct peer *peer = OWNER(list[i], struct peer, by_id);
        int64_t limit = peer->greeted ? endpoint->options.session_idle_us
                                      : endpoint->options.session_greeting_us;

        if (btz_mcp_endpoint_peer_busy(peer)) {
            peer->active_us = endpoint->now_us;
        }
        if (endpoint->now_us - peer->active_us >= limit) {
            endpoint->stats.expired++;
            btz_mcp_endpoint_peer_end(endpoint, peer);
        } else {
            btz_mcp_endpoint_due_by(endpoint, peer->active_us + limit);
        }
    }
    free(list);
}

void btz_mcp_endpoint_tick(struct btz_mcp_endpoint *endpoint, int64_t now_us)
{
    btz_mcp_endpoint_at(endpoint, now_us);
    if (endpoint->due_us < 0 || endpoint->now_us < endpoint->due_us) {
        return;
    }
    endpoint->due_us = -1;
    if (endpoint->options.keepalive_us > 0) {
        keep_alive(endpoint);
    }
    expire(endpoint);
}

bool btz_mcp_endpoint_next_event(struct btz_mcp_endpoint *endpoint, uint64_t *handle,
                                 struct btz_mcp_server_event *event)
{
    while (link_used(&endpoint->eventful)) {
        struct peer *peer = OWNER(endpoint->eventful.next, struct peer, eventful);

        link_drop(&peer->eventful);
        if (btz_mcp_server_next_event(peer->server, event)) {
            *handle = peer->node.key;
            link_append(&endpoint->eventful, &peer->eventful); /* others come in between */
            return true;
        }
        if (peer->over) {
            btz_mcp_endpoint_peer_free(endpoint, peer);
        }
    }
    return false;
}

static struct peer *peer_of(const struct btz_mcp_endpoint *endpoint, uint64_t handle)
{
    struct node *node = btz_mcp_table_get(&endpoint->peers, handle);
    struct peer *peer = node ? OWNER(node, struct peer, node) : NULL;

    return peer && !peer->over ? peer : NULL;
}

struct btz_mcp_server *btz_mcp_endpoint_server(struct btz_mcp_endpoint *endpoint, uint64_t handle)
{
    struct peer *peer = peer_of(endpoint, handle);

    if (!peer) {
        return NULL;
    }
    btz_mcp_endpoint_peer_touch(endpoint, peer);
    return peer->server;
}

int btz_mcp_endpoint_set_catalogue(struct btz_mcp_endpoint *endpoint,
                                   const struct btz_mcp_catalogue *catalogue, struct btz_err *err)
{
    struct node *node = NULL;
    size_t at = 0;
    int rc = btz_mcp_server_set_catalogue(endpoint->model, catalogue, err);

    if (rc) {
        return rc;
    }
    endpoint->generation++;
    drop_idle(endpoint);
    while ((node = btz_mcp_table_next(&endpoint->peers, &at, node))) {
        struct peer *peer = OWNER(node, struct peer, node);

        if (peer->over) {
            continue;
        }
        if (btz_mcp_server_follow(peer->server, endpoint->model, catalogue->quiet)) {
            btz_mcp_endpoint_peer_end(endpoint, peer); /* its client does not read */
            continue;
        }
        link_drop(&peer->touched);
        link_append(&endpoint->touched, &peer->touched);
    }
    return BTZ_OK;
}

void btz_mcp_endpoint_resource_updated(struct btz_mcp_endpoint *endpoint, struct btz_str uri)
{
    struct node *node = NULL;
    size_t at = 0;

    while ((node = btz_mcp_table_next(&endpoint->peers, &at, node))) {
        struct peer *peer = OWNER(node, struct peer, node);

        if (peer->over) {
            continue;
        }
        if (btz_mcp_server_resource_updated(peer->server, uri)) {
            btz_mcp_endpoint_peer_end(endpoint, peer);
            continue;
        }
        link_drop(&peer->touched);
        link_append(&endpoint->touched, &peer->touched);
    }
}

int btz_mcp_endpoint_park(struct btz_mcp_endpoint *endpoint, uint64_t handle, struct btz_mcp_id id)
{
    struct peer *peer = peer_of(endpoint, handle);
    struct route *route = peer ? btz_mcp_endpoint_route_find(peer, id) : NULL;

    if (!route || !route->exchange) {
        return BTZ_ENOTFOUND;
    }
    if (!btz_mcp_endpoint_primes(endpoint, peer)) {
        return BTZ_EUNSUPPORTED;
    }
    if (!route->started) {
        btz_mcp_endpoint_start_stream(endpoint, route->exchange, true);
    }
    if (route->exchange) {
        btz_mcp_endpoint_end_stream(endpoint, route->exchange);
    }
    return BTZ_OK;
}

void btz_mcp_endpoint_end_streams(struct btz_mcp_endpoint *endpoint)
{
    struct node **list = snapshot(&endpoint->peers);

    for (size_t i = 0; list[i]; i++) {
        struct peer *peer = OWNER(list[i], struct peer, node);
        struct route *next;

        if (peer->over) {
            continue;
        }
        if (peer->old_sse) {
            btz_mcp_endpoint_peer_end(endpoint, peer);
            continue;
        }
        for (struct route *route = peer->routes; route; route = next) {
            next = route->next;
            if (!peer->modern && route->id.kind == BTZ_MCP_ID_NONE && route->exchange) {
                btz_mcp_endpoint_end_stream(endpoint, route->exchange);
                btz_mcp_endpoint_route_settle(peer, route);
            }
        }
        if (btz_mcp_server_end_streams(peer->server)) {
            btz_mcp_endpoint_peer_end(endpoint, peer);
        } else {
            btz_mcp_endpoint_drain(endpoint, peer);
        }
    }
    free(list);
}

int btz_mcp_endpoint_end_session(struct btz_mcp_endpoint *endpoint, uint64_t handle)
{
    struct peer *peer = peer_of(endpoint, handle);

    if (!peer || !peer->session) {
        return BTZ_ENOTFOUND;
    }
    btz_mcp_endpoint_peer_end(endpoint, peer);
    return BTZ_OK;
}

struct btz_str btz_mcp_endpoint_session_id(const struct btz_mcp_endpoint *endpoint, uint64_t handle)
{
    const struct peer *peer = peer_of(endpoint, handle);

    return peer && peer->session ? btz_str_of(peer->id) : BTZ_STR_NONE;
}

struct btz_str btz_mcp_endpoint_subject(const struct btz_mcp_endpoint *endpoint, uint64_t handle)
{
    const struct peer *peer = peer_of(endpoint, handle);

    return peer ? (struct btz_str){peer->subject, peer->subject_len} : BTZ_STR_NONE;
}

size_t btz_mcp_endpoint_sessions(const struct btz_mcp_endpoint *endpoint)
{
    return endpoint->sessions.count;
}

size_t btz_mcp_endpoint_exchanges(const struct btz_mcp_endpoint *endpoint)
{
    return endpoint->exchanges.count;
}

struct btz_mcp_endpoint_stats btz_mcp_endpoint_stats(const struct btz_mcp_endpoint *endpoint)
{
    return endpoint->stats;
}
