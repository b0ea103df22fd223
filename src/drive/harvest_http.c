/* Servers that are reached by URL. */
#include <stdio.h>

#include "base/clock.h"
#include "drive/harvest_int.h"

enum { MAX_HEADERS = 64, URL_MAX = 8192, OUT_MAX = 16 * 1024 * 1024 };

/* "https://host:port/path" into its parts. */
static int split_url(struct visit *visit, struct btz_str url,
                     struct btz_mcp_http_session_options *options, struct btz_err *err)
{
    bool https = btz_str_starts(url, BTZ_STR("https://"));
    size_t skip = https ? 8 : 7;
    struct btz_str rest = btz_str_sub(url, skip, SIZE_MAX);
    ptrdiff_t slash = btz_str_find(rest, BTZ_STR("/"));

    if ((!https && !btz_str_starts(url, BTZ_STR("http://"))) || rest.len == 0 || slash == 0 ||
        url.len > URL_MAX) {
        return btz_err_set(err, BTZ_EINVAL, "a URL is http://HOST/PATH or https://HOST/PATH");
    }
    options->https = https;
    options->host = slash < 0 ? rest : btz_str_sub(rest, 0, (size_t)slash);
    options->target = slash < 0 ? BTZ_STR("/") : btz_str_sub(rest, (size_t)slash, SIZE_MAX);
    visit->origin = btz_str_sub(url, 0, skip + options->host.len);
    return BTZ_OK;
}

int harvest_http_open(struct btz_drive_harvest *harvest, struct visit *visit, struct btz_str url,
                      struct btz_err *err)
{
    struct btz_mcp_http_session_options options = {.no_get_stream = true};
    int rc = split_url(visit, url, &options, err);

    (void)harvest;
    if (rc == BTZ_OK) {
        harvest_client_options(visit, &options.client);
        options.now_us = btz_clock_mono_us();
        rc = btz_mcp_http_session_new(&options, &visit->session, err);
    }
    if (rc != BTZ_OK) {
        return rc;
    }
    visit->client = btz_mcp_http_session_client(visit->session);
    if (btz_mcp_http_session_start(visit->session) != BTZ_OK) {
        return btz_err_set(err, BTZ_EINTERNAL, "the handshake could not start");
    }
    return BTZ_OK;
}

static struct exchange *find_exchange(struct visit *visit, uint64_t id)
{
    for (size_t i = 0; i < HARVEST_EXCHANGES; i++) {
        if (visit->exchanges[i].id == id) {
            return &visit->exchanges[i];
        }
    }
    return NULL;
}

static bool send_request(struct btz_drive_harvest *harvest, struct visit *visit,
                         struct exchange *own, const struct btz_mcp_http_exchange *exchange)
{
    struct btz_net_http_header headers[MAX_HEADERS];
    struct btz_net_http_request request = {
        .id = visit->serial << 32 | (exchange->id & UINT32_MAX),
        .method = btz_str_of(btz_mcp_http_method_name(exchange->method)),
        .headers = headers,
        .header_count = exchange->field_count,
        .stream = true};
    struct btz_buf url;
    bool begun;

    for (size_t i = 0; i < exchange->field_count; i++) {
        headers[i] =
            (struct btz_net_http_header){exchange->fields[i].name, exchange->fields[i].value};
    }
    *own = (struct exchange){.id = exchange->id};
    btz_buf_init(&own->body, OUT_MAX);
    btz_buf_init(&url, (size_t)2 * URL_MAX);
    (void)btz_buf_printf(&url, "%.*s%.*s", BTZ_FMT(visit->origin), BTZ_FMT(exchange->target));
    request.url = btz_buf_view(&url);
    begun = btz_buf_add_str(&own->body, exchange->body) == BTZ_OK && btz_buf_status(&url) == BTZ_OK;
    request.body = btz_buf_view(&own->body);
    begun = begun && btz_net_http_start(harvest->http, &request, &own->transfer, NULL) == BTZ_OK;
    btz_buf_fini(&url);
    if (!begun) {
        btz_buf_fini(&own->body);
        own->id = 0;
    }
    return begun;
}

void harvest_http_step(struct btz_drive_harvest *harvest, struct visit *visit)
{
    struct btz_mcp_http_exchange exchange;
    uint64_t id;

    btz_mcp_http_session_tick(visit->session, btz_clock_mono_us());
    while (btz_mcp_http_session_next_close(visit->session, &id)) {
        struct exchange *own = find_exchange(visit, id);

        if (own) {
            btz_net_http_cancel(own->transfer); /* its result frees it */
        }
    }
    while (btz_mcp_http_session_next_request(visit->session, &exchange)) {
        struct exchange *own = find_exchange(visit, 0);

        if (!own || exchange.field_count > MAX_HEADERS ||
            !send_request(harvest, visit, own, &exchange)) {
            (void)!btz_mcp_http_session_response_end(visit->session, exchange.id,
                                                     BTZ_MCP_HTTP_REFUSED);
        }
    }
}

void harvest_http_drop(struct btz_drive_harvest *harvest, struct visit *visit)
{
    for (size_t i = 0; i < HARVEST_EXCHANGES; i++) {
        if (visit->exchanges[i].id) {
            btz_net_http_cancel(visit->exchanges[i].transfer);
        }
    }
    harvest_http_results(harvest); /* frees the bodies of what was cancelled */
    btz_mcp_http_session_free(visit->session);
    visit->session = NULL;
}

static struct visit *owner_of(struct btz_drive_harvest *harvest, uint64_t id)
{
    for (unsigned i = 0; i < harvest->jobs; i++) {
        if (harvest->visits[i].session && harvest->visits[i].serial == id >> 32) {
            return &harvest->visits[i];
        }
    }
    return NULL;
}

void harvest_http_results(struct btz_drive_harvest *harvest)
{
    struct btz_net_http_part part;
    struct btz_net_http_done done;

    while (btz_net_http_next_part(harvest->http, &part)) {
        struct visit *visit = owner_of(harvest, part.id);
        uint64_t id = part.id & UINT32_MAX;
        struct exchange *own = visit ? find_exchange(visit, id) : NULL;

        if (own && part.kind == BTZ_NET_HTTP_PART_HEAD) {
            own->begun = visit->started = true;
            (void)!btz_mcp_http_session_response_head(visit->session, id, &part.head);
        } else if (own) {
            (void)!btz_mcp_http_session_response_body(visit->session, id, part.bytes);
        }
    }
    while (btz_net_http_next(harvest->http, &done)) {
        struct visit *visit = owner_of(harvest, done.id);
        uint64_t id = done.id & UINT32_MAX;
        struct exchange *own = visit ? find_exchange(visit, id) : NULL;

        if (own) {
            (void)!btz_mcp_http_session_response_end(visit->session, id,
                                                     !done.connected ? BTZ_MCP_HTTP_REFUSED
                                                     : done.status == BTZ_OK && own->begun
                                                         ? BTZ_MCP_HTTP_WHOLE
                                                         : BTZ_MCP_HTTP_BROKEN);
            btz_buf_fini(&own->body);
            own->id = 0;
        }
        btz_net_http_done_fini(&done);
    }
}
