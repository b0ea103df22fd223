/* Exchanges of the session are requests of the HTTP client, by the same number. */
#include "client.h"

#include <stdio.h>
#include <string.h>

#define MAX_HEADERS 64

static struct carrier_exchange *find(struct carrier *c, uint64_t id)
{
    for (size_t i = 0; i < CARRIER_EXCHANGES; i++) {
        if (c->exchanges[i].id == id) {
            return &c->exchanges[i];
        }
    }
    return NULL;
}

/* What the session says about an exchange that is over already is not an error. */
static void check(int rc, const char *what)
{
    if (rc && rc != BTZ_ENOTFOUND) {
        btz_panic("client: %s: %d", what, rc);
    }
}

int carrier_open(struct carrier *c, const char *url, struct btz_mcp_http_session_options *options,
                 struct btz_err *err)
{
    struct btz_net_http_options sockets = {0};
    struct btz_str rest = btz_str_of(url);
    struct btz_str host;
    int rc;

    if (!btz_str_starts(rest, BTZ_STR("http://"))) {
        return btz_err_set(err, BTZ_EINVAL, "the URL must begin with http://");
    }
    rest = btz_str_sub(rest, 7, rest.len);
    (void)btz_str_cut(&rest, '/', &host);
    if (!host.len || host.len > 256 || rest.len > sizeof(c->target) - 2) {
        return btz_err_set(err, BTZ_EINVAL, "the URL has no host, or is too long");
    }
    (void)snprintf(c->origin, sizeof(c->origin), "http://%.*s", BTZ_FMT(host));
    (void)snprintf(c->target, sizeof(c->target), "/%.*s", BTZ_FMT(rest));
    rc = btz_net_loop_new(&c->loop, err);
    rc = rc ? rc : btz_net_http_new(c->loop, &sockets, &c->http, err);
    if (rc) {
        return rc;
    }
    options->host = host;
    options->target = btz_str_of(c->target);
    options->now_us = btz_net_loop_now(c->loop);
    return btz_mcp_http_session_new(options, &c->session, err);
}

void carrier_close(struct carrier *c)
{
    authorize_close(c);
    btz_mcp_http_session_free(c->session);
    btz_net_http_free(c->http);
    btz_net_loop_free(c->loop);
    for (size_t i = 0; i < CARRIER_EXCHANGES; i++) {
        if (c->exchanges[i].id) {
            btz_buf_fini(&c->exchanges[i].body);
        }
    }
}

static void begin(struct carrier *c, const struct btz_mcp_http_exchange *exchange)
{
    struct carrier_exchange *own = find(c, 0);
    struct btz_net_http_header headers[MAX_HEADERS];
    struct btz_net_http_request request = {
        .id = exchange->id,
        .method = btz_str_of(btz_mcp_http_method_name(exchange->method)),
        .headers = headers,
        .header_count = exchange->field_count,
        .stream = true,
    };
    char url[sizeof(c->origin) + 1100];
    struct btz_err err;

    if (!own || exchange->field_count > MAX_HEADERS) {
        btz_panic("client: too many exchanges or headers");
    }
    for (size_t i = 0; i < exchange->field_count; i++) {
        headers[i] =
            (struct btz_net_http_header){exchange->fields[i].name, exchange->fields[i].value};
    }
    *own = (struct carrier_exchange){.id = exchange->id};
    btz_buf_init(&own->body, 64u * 1024 * 1024);
    if (btz_buf_add_str(&own->body, exchange->body)) {
        btz_panic("client: a request is too large");
    }
    (void)snprintf(url, sizeof(url), "%s%.*s", c->origin, BTZ_FMT(exchange->target));
    request.url = btz_str_of(url);
    request.body = btz_buf_view(&own->body);
    if (btz_net_http_start(c->http, &request, &own->transfer, &err)) {
        btz_panic("client: %s", err.msg);
    }
}

static void give_up(struct carrier *c, uint64_t id)
{
    struct carrier_exchange *own = find(c, id);

    if (own) {
        btz_net_http_cancel(own->transfer); /* its result frees it */
    }
}

static void take_part(struct carrier *c, const struct btz_net_http_part *part)
{
    struct carrier_exchange *own = find(c, part->id);

    if (part->kind == BTZ_NET_HTTP_PART_HEAD) {
        own->begun = true;
        check(btz_mcp_http_session_response_head(c->session, part->id, &part->head), "head");
    } else {
        check(btz_mcp_http_session_response_body(c->session, part->id, part->bytes), "body");
    }
}

static void take_result(struct carrier *c, struct btz_net_http_done *done)
{
    struct carrier_exchange *own = find(c, done->id);
    enum btz_mcp_http_end end = done->status == BTZ_OK ? BTZ_MCP_HTTP_WHOLE
                                : done->connected      ? BTZ_MCP_HTTP_BROKEN
                                                       : BTZ_MCP_HTTP_REFUSED;

    if (end == BTZ_MCP_HTTP_WHOLE && !own->begun) {
        end = BTZ_MCP_HTTP_BROKEN;
    }
    check(btz_mcp_http_session_response_end(c->session, done->id, end), "end");
    btz_buf_fini(&own->body);
    own->id = 0;
    btz_net_http_done_fini(done);
}

bool carrier_pump(struct carrier *c)
{
    struct btz_mcp_http_exchange exchange;
    struct btz_net_http_part part;
    struct btz_net_http_done done;
    bool moved = false;
    uint64_t id;

    btz_mcp_http_session_tick(c->session, btz_net_loop_now(c->loop));
    while (btz_mcp_http_session_next_close(c->session, &id)) {
        give_up(c, id);
        moved = true;
    }
    while (btz_mcp_http_session_next_request(c->session, &exchange)) {
        begin(c, &exchange);
        moved = true;
    }
    while (btz_net_http_next_part(c->http, &part)) {
        take_part(c, &part);
        moved = true;
    }
    while (btz_net_http_next(c->http, &done)) {
        if (!authorize_take(c, &done)) {
            take_result(c, &done);
        }
        moved = true;
    }
    return authorize_pump(c) || moved;
}

void carrier_wait(struct carrier *c, int64_t until_us)
{
    int64_t wake = btz_mcp_http_session_wake_at_us(c->session, NULL);

    btz_net_loop_wake_at(c->loop, until_us);
    if (wake >= 0) {
        btz_net_loop_wake_at(c->loop, wake);
    }
    btz_net_loop_wait(c->loop, -1);
}
