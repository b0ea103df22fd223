#include <stdlib.h>

#include "mcp/server_http.h"
#include "mcp/server_int.h"

#define MAX_REASON 1024 /* bytes of a cancellation reason that are kept */

static int check_options(const struct btz_mcp_server_options *options, struct btz_err *err)
{
    if (options->revisions & ~BTZ_MCP_SET_ALL) {
        return btz_err_set(err, BTZ_EINVAL,
                           "the set of served revisions names one that does not exist");
    }
    return BTZ_OK;
}

/* Takes the offer over. */
static struct btz_mcp_server *make(const struct btz_mcp_server_options *options, struct offer offer)
{
    struct btz_mcp_server *server = calloc(1, sizeof(*server));

    if (!server) {
        btz_panic("out of memory (server)");
    }
    server->options = *options;
    server->offer = offer;
    server->next_token = 1;
    server->next_ask = 1;
    if (!server->options.revisions) {
        server->options.revisions = BTZ_MCP_SET_ALL;
    }
    if (!server->options.page_size) {
        server->options.page_size = 100;
    }
    if (!server->options.max_in_flight) {
        server->options.max_in_flight = 64;
    }
    if (!server->options.max_streams) {
        server->options.max_streams = 8;
    }
    if (!server->options.max_asks) {
        server->options.max_asks = 64;
    }
    if (!server->options.max_subscriptions) {
        server->options.max_subscriptions = 256;
    }
    if (!server->options.max_out_bytes) {
        server->options.max_out_bytes = (size_t)64 * 1024 * 1024;
    }
    if (server->options.ttl_ms < 0) {
        server->options.ttl_ms = 0;
    }
    btz_mcp_queue_init(&server->queue, server->options.max_out_bytes);
    return server;
}

int btz_mcp_server_new(const struct btz_mcp_server_options *options,
                       const struct btz_mcp_catalogue *catalogue, struct btz_mcp_server **out,
                       struct btz_err *err)
{
    struct offer offer;
    int rc = check_options(options, err);

    if (!rc) {
        rc = btz_mcp_offer_make(catalogue, 1, &offer, err);
    }
    if (!rc) {
        *out = make(options, offer);
    }
    return rc;
}

struct btz_mcp_server *btz_mcp_server_like(const struct btz_mcp_server_options *options,
                                           const struct btz_mcp_server *model)
{
    return make(options, btz_mcp_offer_share(&model->offer, 1));
}

void btz_mcp_server_free(struct btz_mcp_server *server)
{
    if (!server) {
        return;
    }
    if (server->released) {
        btz_mcp_server_drop_call(server, server->released);
    }
    while (server->event_head) {
        btz_mcp_server_drop_call(server, server->event_head);
    }
    while (server->calls) {
        btz_mcp_server_drop_call(server, server->calls);
    }
    while (server->streams) {
        btz_mcp_server_drop_stream(server, server->streams);
    }
    btz_mcp_server_drop_asks(server);
    btz_mcp_server_drop_subscriptions(server);
    btz_arena_free(server->session.arena);
    btz_mcp_offer_drop(&server->offer);
    btz_mcp_queue_fini(&server->queue);
    btz_mcp_pool_fini(&server->pool);
    free(server);
}

static unsigned changed_lists(const struct offer *a, const struct offer *b)
{
    unsigned lists = 0;

    if (a->tools && !btz_json_equal(a->tools, b->tools)) {
        lists |= BTZ_MCP_LIST_TOOLS;
    }
    if ((a->resources && !btz_json_equal(a->resources, b->resources)) ||
        (a->templates && !btz_json_equal(a->templates, b->templates))) {
        lists |= BTZ_MCP_LIST_RESOURCES;
    }
    if (a->prompts && !btz_json_equal(a->prompts, b->prompts)) {
        lists |= BTZ_MCP_LIST_PROMPTS;
    }
    return lists;
}

/* Takes the offer over and tells clients what changed, unless `quiet`. */
static int replace_offer(struct btz_mcp_server *server, struct offer offer, bool quiet,
                         struct btz_err *err)
{
    unsigned lists = changed_lists(&server->offer, &offer);
    int rc;

    btz_mcp_offer_drop(&server->offer);
    server->offer = offer;
    if (quiet || server->dead) {
        return BTZ_OK;
    }
    rc = btz_mcp_server_announce(server, lists);
    if (rc) {
        server->dead = true;
        btz_err_set(err, rc, "the client does not read: the queue of outgoing messages is full");
    }
    return rc;
}

int btz_mcp_server_set_catalogue(struct btz_mcp_server *server,
                                 const struct btz_mcp_catalogue *catalogue, struct btz_err *err)
{
    struct offer offer;
    int rc = btz_mcp_offer_make(catalogue, server->offer.version + 1, &offer, err);

    if (rc) {
        return rc;
    }
    if (!offer.tools != !server->offer.tools || !offer.resources != !server->offer.resources ||
        !offer.templates != !server->offer.templates || !offer.prompts != !server->offer.prompts) {
        btz_mcp_offer_drop(&offer);
        return btz_err_set(err, BTZ_EINVAL,
                           "a list appeared or went away: capabilities cannot change on an open "
                           "connection; give an empty list instead");
    }
    return replace_offer(server, offer, catalogue->quiet, err);
}

int btz_mcp_server_follow(struct btz_mcp_server *server, const struct btz_mcp_server *model,
                          bool quiet)
{
    return replace_offer(server, btz_mcp_offer_share(&model->offer, server->offer.version + 1),
                         quiet, NULL);
}

int btz_mcp_server_feed(struct btz_mcp_server *server, struct btz_str message)
{
    return btz_mcp_server_take(server, message, NULL);
}

int btz_mcp_server_feed_http(struct btz_mcp_server *server, struct btz_str message,
                             const struct btz_mcp_headers *headers)
{
    return btz_mcp_server_take(server, message, headers);
}

static void push_event(struct btz_mcp_server *server, struct call *call)
{
    call->next_event = NULL;
    if (server->event_tail) {
        server->event_tail->next_event = call;
    } else {
        server->event_head = call;
    }
    server->event_tail = call;
}

static void unlink_event(struct btz_mcp_server *server, struct call *call)
{
    struct call *before = NULL;

    for (struct call *c = server->event_head; c; before = c, c = c->next_event) {
        if (c != call) {
            continue;
        }
        if (before) {
            before->next_event = c->next_event;
        } else {
            server->event_head = c->next_event;
        }
        if (server->event_tail == c) {
            server->event_tail = before;
        }
        return;
    }
}

void btz_mcp_server_add_call(struct btz_mcp_server *server, struct call *call)
{
    call->next = server->calls;
    server->calls = call;
    server->call_count++;
    push_event(server, call);
}

void btz_mcp_server_note(struct btz_mcp_server *server, const struct btz_mcp_server_event *event,
                         struct btz_arena *arena)
{
    struct call *note = BTZ_NEW(arena, struct call);

    note->arena = arena;
    note->state = CALL_NOTE;
    note->event = *event;
    push_event(server, note);
}

void btz_mcp_server_drop_call(struct btz_mcp_server *server, struct call *call)
{
    struct call **link = &server->calls;

    unlink_event(server, call);
    if (server->released == call) {
        server->released = NULL;
    }
    while (*link && *link != call) {
        link = &(*link)->next;
    }
    if (*link) {
        *link = call->next;
        server->call_count--;
    }
    btz_mcp_pool_give(&server->pool, call->arena); /* holds the call itself */
}

void btz_mcp_server_drop_stream(struct btz_mcp_server *server, struct stream *stream)
{
    struct stream **link = &server->streams;

    while (*link && *link != stream) {
        link = &(*link)->next;
    }
    if (*link) {
        *link = stream->next;
        server->stream_count--;
    }
    btz_mcp_pool_give(&server->pool, stream->arena);
}

struct call *btz_mcp_server_call_by_id(const struct btz_mcp_server *server, struct btz_mcp_id id)
{
    for (struct call *call = server->calls; call; call = call->next) {
        if (call->state != CALL_CANCELLED && btz_mcp_id_eq(call->id, id)) {
            return call;
        }
    }
    return NULL;
}

struct stream *btz_mcp_server_stream_by_id(const struct btz_mcp_server *server,
                                           struct btz_mcp_id id)
{
    for (struct stream *stream = server->streams; stream; stream = stream->next) {
        if (btz_mcp_id_eq(stream->id, id)) {
            return stream;
        }
    }
    return NULL;
}

bool btz_mcp_server_cancel_id(struct btz_mcp_server *server, struct btz_mcp_id id,
                              struct btz_str reason)
{
    struct call *call = btz_mcp_server_call_by_id(server, id);
    struct stream *stream = btz_mcp_server_stream_by_id(server, id);

    if (stream) {
        btz_mcp_server_drop_stream(server, stream);
        return true;
    }
    if (!call) {
        return false;
    }
    if (call->state == CALL_NEW) {
        btz_mcp_server_drop_call(server, call); /* the owner never hears of it */
        return true;
    }
    if (reason.len > MAX_REASON) {
        reason = BTZ_STR_NONE; /* a cut could fall into the middle of a character */
    }
    if (btz_mcp_server_cancel_asks(server, call)) {
        server->dead = true; /* the client does not read */
    }
    call->state = CALL_CANCELLED;
    call->event.kind = BTZ_MCP_SERVER_CANCELLED;
    call->event.reason = btz_arena_dup(call->arena, reason);
    push_event(server, call);
    return true;
}

void btz_mcp_server_stream_closed(struct btz_mcp_server *server, struct btz_mcp_id id)
{
    btz_mcp_server_cancel_id(server, id, BTZ_STR("the client closed the stream"));
}

bool btz_mcp_server_next_event(struct btz_mcp_server *server, struct btz_mcp_server_event *event)
{
    struct call *call;

    if (server->released) {
        btz_mcp_server_drop_call(server, server->released);
    }
    call = server->event_head;
    if (!call) {
        return false;
    }
    unlink_event(server, call);
    *event = call->event;
    if (call->state == CALL_CANCELLED || call->state == CALL_NOTE) {
        server->released = call;
    } else {
        call->state = CALL_OPEN;
    }
    return true;
}

bool btz_mcp_server_next_out(struct btz_mcp_server *server, struct btz_str *bytes)
{
    struct btz_mcp_out out;

    if (!btz_mcp_queue_pull(&server->queue, &out)) {
        return false;
    }
    *bytes = out.bytes;
    return true;
}

bool btz_mcp_server_next_out_full(struct btz_mcp_server *server, struct btz_mcp_out *out)
{
    return btz_mcp_queue_pull(&server->queue, out);
}

enum btz_mcp_revision btz_mcp_server_session(const struct btz_mcp_server *server)
{
    return server->session.revision;
}

size_t btz_mcp_server_in_flight(const struct btz_mcp_server *server)
{
    size_t count = 0;

    for (const struct call *call = server->calls; call; call = call->next) {
        count += call->state != CALL_CANCELLED;
    }
    return count;
}

struct btz_mcp_server_stats btz_mcp_server_stats(const struct btz_mcp_server *server)
{
    return server->stats;
}
