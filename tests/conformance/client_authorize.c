/* An authorization over real sockets. The user's browser is one GET that follows nothing: where it
 * would be sent next is where the client is called back. */
#include "client.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include <netinet/in.h>
#include <sys/socket.h>

#define FIRST_FETCH (UINT64_C(1) << 62) /* beside the numbers of exchanges */
#define MAX_FIELDS 8
#define MAX_FOUND 8
/* Nobody serves it: what the issuer does with it is not the client's affair. */
#define METADATA_DOCUMENT "https://conformance-test.local/client-metadata.json"

int authorize_open(struct carrier *c, const char *url, const struct authorize_options *options,
                   struct btz_err *err)
{
    char secret[32];
    struct btz_auth_client client = {
        .id = btz_json_str(btz_json_getz(options->context, "client_id")),
        .secret = btz_json_str(btz_json_getz(options->context, "client_secret")),
        .any_issuer = true, /* the suite tells no issuer */
        .issuer = btz_json_str(btz_json_getz(options->context, "issuer"))};
    struct btz_auth_flow_options flow = {
        .resource = btz_str_of(url),
        .redirect_uri = BTZ_STR("http://localhost:3000/callback"),
        .client_name = BTZ_STR("bartizan-conformance"),
        .registered = &client,
        .registered_count = client.id.len && client.secret.len ? 1 : 0,
        .metadata_document = BTZ_STR(METADATA_DOCUMENT),
        /* A secret without an issuer is a machine's own. */
        .client_credentials = client.id.len && client.secret.len && !client.issuer.len,
        .wants_refresh = true,
        .revision_2025_03 = options->revision == BTZ_MCP_2025_03_26,
        .secret = {secret, sizeof(secret)},
        .guard = {.development = true}};

    if (getrandom(secret, sizeof(secret), 0) != (ssize_t)sizeof(secret)) {
        return btz_err_set(err, BTZ_EIO, "no random bytes");
    }
    btz_buf_init(&c->fetch_body, 1 << 20);
    return btz_auth_flow_new(&flow, &c->flow, err);
}

void authorize_close(struct carrier *c)
{
    btz_auth_flow_free(c->flow);
    btz_buf_fini(&c->fetch_body);
}

/* One answer of the resolver as an address of the flow. */
static bool take_address(const struct addrinfo *info, struct btz_auth_address *out)
{
    *out = (struct btz_auth_address){.v6 = info->ai_family == AF_INET6};
    if (info->ai_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)info->ai_addr;

        memcpy(out->bytes, &in->sin_addr, 4);
    } else if (info->ai_family == AF_INET6) {
        const struct sockaddr_in6 *in = (const void *)info->ai_addr;

        memcpy(out->bytes, &in->sin6_addr, 16);
    }
    return info->ai_family == AF_INET || info->ai_family == AF_INET6;
}

static void resolve(struct carrier *c, struct btz_str host)
{
    struct btz_auth_address found[MAX_FOUND];
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    size_t count = 0;
    char name[256];

    (void)snprintf(name, sizeof(name), "%.*s", BTZ_FMT(host));
    if (getaddrinfo(name, NULL, &hints, &list) == 0) {
        for (const struct addrinfo *each = list; each && count < MAX_FOUND; each = each->ai_next) {
            count += take_address(each, &found[count]);
        }
        freeaddrinfo(list);
    }
    if (btz_auth_flow_resolved(c->flow, found, count)) {
        btz_panic("client: the resolver's answer was not wanted");
    }
}

static void fetch(struct carrier *c, const struct btz_auth_need *need)
{
    struct btz_net_http_header headers[MAX_FIELDS];
    struct btz_net_http_request request = {.id = FIRST_FETCH + ++c->fetches,
                                           .method =
                                               need->method.len ? need->method : BTZ_STR("GET"),
                                           .url = need->url,
                                           .headers = headers,
                                           .header_count = need->field_count,
                                           .max_body = 1 << 20};
    struct btz_err err;

    if (need->field_count > MAX_FIELDS) {
        btz_panic("client: too many fields");
    }
    for (size_t i = 0; i < need->field_count; i++) {
        headers[i] = (struct btz_net_http_header){need->fields[i].name, need->fields[i].value};
    }
    btz_buf_reset(&c->fetch_body);
    btz_buf_add_str(&c->fetch_body, need->body);
    request.body = btz_buf_view(&c->fetch_body);
    if (btz_net_http_start(c->http, &request, NULL, &err)) {
        btz_panic("client: %s", err.msg);
    }
    c->fetch = request.id;
    c->opening = need->kind == BTZ_AUTH_OPEN;
}

bool authorize_take(struct carrier *c, struct btz_net_http_done *done)
{
    struct btz_http_field location = {BTZ_STR("Location"),
                                      btz_net_http_done_header(done, "location")};
    int rc;

    if (!c->fetch || done->id != c->fetch) {
        return false;
    }
    c->fetch = 0;
    rc = c->opening ? btz_auth_flow_returned(c->flow, location.value)
                    : btz_auth_flow_fetched(c->flow, done->http_status, &location,
                                            location.value.len ? 1 : 0, btz_buf_view(&done->body));
    if (rc) {
        btz_panic("client: an answer to the authorization was not wanted");
    }
    btz_net_http_done_fini(done);
    return true;
}

/* The end of an attempt, for the session. */
static void conclude(struct carrier *c)
{
    struct btz_str failure = btz_auth_flow_failure(c->flow, NULL);

    c->authorizing = false;
    if (failure.len) {
        fprintf(stderr, "client: authorization: %.*s\n", BTZ_FMT(failure));
    }
    if (btz_mcp_http_session_authorize(c->session, btz_auth_flow_header(c->flow))) {
        btz_panic("client: the session does not take the token");
    }
}

bool authorize_pump(struct carrier *c)
{
    struct btz_mcp_http_challenge challenge;
    struct btz_auth_need need;

    if (!btz_mcp_http_session_challenged(c->session, &challenge) || c->fetch) {
        return false;
    }
    if (!c->authorizing &&
        btz_auth_flow_challenged(c->flow, challenge.status, challenge.fields, challenge.field_count,
                                 btz_net_loop_now(c->loop))) {
        btz_panic("client: the challenge was not wanted");
    }
    c->authorizing = true;
    while (!c->fetch && btz_auth_flow_next(c->flow, &need)) {
        if (need.kind == BTZ_AUTH_RESOLVE) {
            resolve(c, need.host);
        } else {
            fetch(c, &need);
        }
    }
    if (!c->fetch) {
        conclude(c);
    }
    return true;
}
