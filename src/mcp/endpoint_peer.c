/* Sessions, single modern requests, their routes and exchanges: making and ending them. */
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "mcp/endpoint_int.h"

static void *must_alloc(size_t size)
{
    void *memory = calloc(1, size);

    if (!memory) {
        btz_panic("out of memory (endpoint)");
    }
    return memory;
}

struct kept *btz_mcp_kept_new(struct route *route, uint64_t sequence, struct btz_str bytes)
{
    struct kept *kept = must_alloc(sizeof(*kept) + bytes.len);

    kept->route = route;
    kept->sequence = sequence;
    kept->len = bytes.len;
    if (bytes.len) {
        memcpy(kept->bytes, bytes.ptr, bytes.len);
    }
    return kept;
}

void btz_mcp_kept_push(struct kept_list *list, struct kept *kept)
{
    if (list->tail) {
        list->tail->next = kept;
    } else {
        list->head = kept;
    }
    list->tail = kept;
    list->bytes += sizeof(*kept) + kept->len;
}

struct kept *btz_mcp_kept_pop(struct kept_list *list)
{
    struct kept *kept = list->head;

    list->head = kept->next;
    if (!list->head) {
        list->tail = NULL;
    }
    list->bytes -= sizeof(*kept) + kept->len;
    return kept;
}

void btz_mcp_kept_fini(struct kept_list *list)
{
    while (list->head) {
        free(btz_mcp_kept_pop(list));
    }
}

/* Hash of the id's text: the ids are random, so any mixing will do. */
static uint64_t id_key(struct btz_str id)
{
    uint64_t key = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    for (size_t i = 0; i < id.len; i++) {
        key = (key ^ (unsigned char)id.ptr[i]) * UINT64_C(0x100000001b3);
    }
    return key;
}

static struct btz_hash secret_hash(const struct btz_mcp_endpoint *endpoint, struct btz_str use,
                                   uint64_t number)
{
    struct btz_hasher *hasher = btz_hasher_new();
    struct btz_hash hash;
    char bytes[8];

    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (char)(number >> (8 * i));
    }
    btz_hasher_add_part(hasher, endpoint->options.id_secret);
    btz_hasher_add_part(hasher, use);
    btz_hasher_add_part(hasher, (struct btz_str){bytes, sizeof(bytes)});
    hash = btz_hasher_end(hasher);
    btz_hasher_free(hasher);
    return hash;
}

/* Cursors of one catalogue mean nothing to machines that were made for the next one. */
static uint64_t cursor_key(const struct btz_mcp_endpoint *endpoint)
{
    struct btz_hash hash = secret_hash(endpoint, BTZ_STR("cursor"), endpoint->generation);
    uint64_t key;

    memcpy(&key, hash.bytes, sizeof(key));
    return key;
}

static struct btz_mcp_server *take_machine(struct btz_mcp_endpoint *endpoint, bool modern)
{
    struct btz_mcp_server_options options = endpoint->options.server;

    if (modern && endpoint->idle_count) {
        return endpoint->idle[--endpoint->idle_count];
    }
    /* A session must never judge by modern rules; a modern answer names all revisions served. */
    if (!modern) {
        options.revisions &= BTZ_MCP_SET_LEGACY;
    }
    options.cursor_key = cursor_key(endpoint);
    return btz_mcp_server_like(&options, endpoint->model);
}

struct peer *btz_mcp_endpoint_peer_new(struct btz_mcp_endpoint *endpoint, bool modern,
                                       struct btz_str subject)
{
    struct peer *peer = must_alloc(sizeof(*peer));

    peer->subject = must_alloc(subject.len + 1);
    peer->subject_len = subject.len;
    if (subject.len) {
        memcpy(peer->subject, subject.ptr, subject.len);
    }

    peer->node.key = ++endpoint->handles_made;
    peer->server = take_machine(endpoint, modern);
    peer->generation = endpoint->generation;
    peer->modern = modern;
    peer->active_us = endpoint->now_us;
    link_init(&peer->touched);
    link_init(&peer->eventful);
    btz_mcp_table_put(&endpoint->peers, &peer->node);
    return peer;
}

void btz_mcp_endpoint_peer_open_session(struct btz_mcp_endpoint *endpoint, struct peer *peer)
{
    struct btz_hash hash = secret_hash(endpoint, BTZ_STR("session"), ++endpoint->ids_made);
    char hex[65];

    btz_hash_hex(&hash, hex);
    memcpy(peer->id, hex, SESSION_ID_LEN);
    if (endpoint->options.switches.counted_ids) { /* lab */
        (void)snprintf(peer->id, sizeof(peer->id), "%0*llu", SESSION_ID_LEN,
                       (unsigned long long)endpoint->ids_made);
    }
    peer->by_id.key = id_key(btz_str_of(peer->id));
    peer->session = true;
    btz_mcp_table_put(&endpoint->sessions, &peer->by_id);
    btz_mcp_endpoint_due_by(endpoint, endpoint->now_us + endpoint->options.session_greeting_us);
}

struct peer *btz_mcp_endpoint_session(const struct btz_mcp_endpoint *endpoint, struct btz_str id,
                                      bool old_sse)
{
    for (struct node *node = btz_mcp_table_get(&endpoint->sessions, id_key(id)); node;
         node = node->next) {
        struct peer *peer = OWNER(node, struct peer, by_id);

        if (btz_str_is(id, peer->id)) {
            return peer->old_sse == old_sse ? peer : NULL;
        }
    }
    return NULL;
}

static void close_session(struct btz_mcp_endpoint *endpoint, struct peer *peer)
{
    if (peer->session) {
        peer->session = false;
        btz_mcp_table_drop(&endpoint->sessions, &peer->by_id);
    }
}

void btz_mcp_endpoint_peer_touch(struct btz_mcp_endpoint *endpoint, struct peer *peer)
{
    peer->active_us = endpoint->now_us;
    link_drop(&peer->eventful);
    link_append(&endpoint->eventful, &peer->eventful);
    link_drop(&peer->touched);
    link_append(&endpoint->touched, &peer->touched);
}

bool btz_mcp_endpoint_peer_busy(const struct peer *peer)
{
    return peer->open || btz_mcp_server_in_flight(peer->server);
}

void btz_mcp_endpoint_peer_end(struct btz_mcp_endpoint *endpoint, struct peer *peer)
{
    peer->over = true;
    close_session(endpoint, peer);
    for (struct route *route = peer->routes; route; route = route->next) {
        struct exchange *x = route->exchange;

        if (x && x->streaming) {
            btz_mcp_endpoint_end_stream(endpoint, x);
        } else if (x) {
            btz_mcp_endpoint_refuse(endpoint, x->node.key, 404, BTZ_MCP_E_REQUEST, route->id,
                                    "the session has ended");
            btz_mcp_endpoint_exchange_free(endpoint, x);
        }
    }
    btz_mcp_server_cancel_all(peer->server, BTZ_STR("the client is gone"));
    link_drop(&peer->eventful);
    link_append(&endpoint->eventful, &peer->eventful);
}

void btz_mcp_endpoint_peer_free(struct btz_mcp_endpoint *endpoint, struct peer *peer)
{
    close_session(endpoint, peer);
    btz_mcp_table_drop(&endpoint->peers, &peer->node);
    link_drop(&peer->touched);
    link_drop(&peer->eventful);
    btz_mcp_kept_fini(&peer->replay);
    btz_mcp_kept_fini(&peer->waiting);
    while (peer->routes) {
        struct route *route = peer->routes;

        peer->routes = route->next;
        free(route);
    }
    btz_mcp_server_free(peer->server);
    free(peer->subject);
    free(peer);
}

void btz_mcp_endpoint_peer_release(struct btz_mcp_endpoint *endpoint, struct peer *peer)
{
    if (peer->generation == endpoint->generation && endpoint->idle_count < MAX_IDLE &&
        !btz_mcp_server_in_flight(peer->server)) {
        endpoint->idle[endpoint->idle_count++] = peer->server;
        peer->server = NULL;
    }
    btz_mcp_endpoint_peer_free(endpoint, peer);
}

struct route *btz_mcp_endpoint_route_new(struct peer *peer, struct btz_mcp_id id)
{
    struct route *route = must_alloc(sizeof(*route) + id.text.len);
    struct route **end = &peer->routes;

    route->number = ++peer->routes_made;
    route->id = id;
    if (id.text.len) {
        memcpy(route->text, id.text.ptr, id.text.len);
    }
    route->id.text.ptr = route->text;
    while (*end) {
        end = &(*end)->next;
    }
    *end = route;
    return route;
}

struct route *btz_mcp_endpoint_route_find(const struct peer *peer, struct btz_mcp_id id)
{
    struct route *route = peer->routes;

    while (route && (route->finished || !btz_mcp_id_eq(route->id, id))) {
        route = route->next;
    }
    return route;
}

static void route_free(struct peer *peer, struct route *route)
{
    struct route **at = &peer->routes;

    while (*at != route) {
        at = &(*at)->next;
    }
    *at = route->next;
    free(route);
}

void btz_mcp_endpoint_route_drop(struct peer *peer, struct route *route)
{
    struct kept_list rest = {0};

    while (peer->replay.head) {
        struct kept *kept = btz_mcp_kept_pop(&peer->replay);

        kept->next = NULL;
        if (kept->route == route) {
            free(kept);
        } else {
            btz_mcp_kept_push(&rest, kept);
        }
    }
    peer->replay = rest;
    route_free(peer, route);
}

void btz_mcp_endpoint_route_settle(struct peer *peer, struct route *route)
{
    bool standing = route->id.kind == BTZ_MCP_ID_NONE;

    if ((route->finished || standing) && !route->exchange && !route->kept) {
        route_free(peer, route);
    }
}

struct exchange *btz_mcp_endpoint_exchange_new(struct btz_mcp_endpoint *endpoint, uint64_t number,
                                               struct peer *peer, struct route *route, bool get)
{
    struct exchange *x = must_alloc(sizeof(*x));

    x->node.key = number;
    x->peer = peer;
    x->route = route;
    x->get = get;
    route->exchange = x;
    peer->open++;
    peer->gets += get;
    btz_mcp_table_put(&endpoint->exchanges, &x->node);
    return x;
}

struct exchange *btz_mcp_endpoint_exchange_find(const struct btz_mcp_endpoint *endpoint,
                                                uint64_t number)
{
    struct node *node = btz_mcp_table_get(&endpoint->exchanges, number);

    return node ? OWNER(node, struct exchange, node) : NULL;
}

void btz_mcp_endpoint_exchange_free(struct btz_mcp_endpoint *endpoint, struct exchange *x)
{
    btz_mcp_table_drop(&endpoint->exchanges, &x->node);
    x->route->exchange = NULL;
    x->peer->open--;
    x->peer->gets -= x->get;
    x->peer->active_us = endpoint->now_us;
    free(x);
}

void btz_mcp_endpoint_lose(struct btz_mcp_endpoint *endpoint, struct exchange *x)
{
    struct peer *peer = x->peer;
    struct route *route = x->route;

    btz_mcp_endpoint_purge(endpoint, x->node.key);
    btz_mcp_endpoint_exchange_free(endpoint, x);
    if (peer->over) {
        return;
    }
    if (peer->modern || peer->old_sse) {
        btz_mcp_endpoint_peer_end(endpoint, peer);
    } else {
        btz_mcp_endpoint_route_settle(peer, route);
    }
}
