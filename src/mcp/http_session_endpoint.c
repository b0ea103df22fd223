/* The HTTP+SSE transport of 2024-11-05: where its `endpoint` event points to. The address must be
 * of the same origin as the stream (specification 2024-11-05, "HTTP with SSE"): else a server, or
 * somebody on the way, could have the client post its messages and credentials anywhere. */
#include "mcp/http_session_int.h"

static bool same_without_case(struct btz_str a, struct btz_str b)
{
    if (a.len != b.len) {
        return false;
    }
    for (size_t i = 0; i < a.len; i++) {
        char x = a.ptr[i];
        char y = b.ptr[i];

        x = x >= 'A' && x <= 'Z' ? (char)(x + 32) : x;
        y = y >= 'A' && y <= 'Z' ? (char)(y + 32) : y;
        if (x != y) {
            return false;
        }
    }
    return true;
}

/* Without the port that the scheme implies. */
static struct btz_str plain_host(struct btz_str host, bool https)
{
    struct btz_str port = https ? BTZ_STR(":443") : BTZ_STR(":80");

    return btz_str_ends(host, port) ? btz_str_sub(host, 0, host.len - port.len) : host;
}

/* Takes "scheme:" off the front, if there is one; false if it is another scheme than ours. */
static bool take_scheme(struct btz_str *uri, bool https)
{
    struct btz_str own = https ? BTZ_STR("https:") : BTZ_STR("http:");
    struct btz_str head = btz_str_sub(*uri, 0, own.len);
    size_t colon = 0;

    if (same_without_case(head, own)) {
        *uri = btz_str_sub(*uri, own.len, uri->len);
        return btz_str_starts(*uri, BTZ_STR("//"));
    }
    while (colon < uri->len && uri->ptr[colon] != ':' && uri->ptr[colon] != '/' &&
           uri->ptr[colon] != '?') {
        colon++;
    }
    return colon == uri->len || uri->ptr[colon] != ':';
}

/* Takes "//authority" off the front, if there is one; false if it is another host than ours. */
static bool take_authority(struct btz_str *uri, struct btz_str host, bool https)
{
    size_t end = 2;

    if (!btz_str_starts(*uri, BTZ_STR("//"))) {
        return true;
    }
    while (end < uri->len && uri->ptr[end] != '/' && uri->ptr[end] != '?') {
        end++;
    }
    if (!same_without_case(plain_host(btz_str_sub(*uri, 2, end - 2), https),
                           plain_host(host, https))) {
        return false;
    }
    *uri = btz_str_sub(*uri, end, uri->len);
    if (!uri->len || uri->ptr[0] != '/') {
        return false; /* "//host" and "//host?query" have no path of their own */
    }
    return true;
}

/* RFC 3986 section 5.2.3, without the removal of dot segments: the server reads its own path. */
static int resolve(struct btz_buf *out, struct btz_str base, struct btz_str uri)
{
    size_t query = 0;
    size_t slash = 0;

    if (uri.ptr[0] == '/') {
        return btz_buf_add_str(out, uri);
    }
    while (query < base.len && base.ptr[query] != '?') {
        slash = base.ptr[query] == '/' ? query + 1 : slash;
        query++;
    }
    btz_buf_add(out, base.ptr, uri.ptr[0] == '?' ? query : slash);
    return btz_buf_add_str(out, uri);
}

/* Only what can stand in a request line. */
static int check_target(struct btz_mcp_http_session *session)
{
    const struct btz_http_field host = {BTZ_STR("Host"), session->options.host};
    struct btz_buf scrap;
    int rc;

    btz_buf_init(&scrap, session->endpoint.max * 2);
    rc = btz_http_write_request(&scrap, BTZ_STR("POST"), btz_buf_view(&session->endpoint), &host, 1,
                                BTZ_STR_NONE);
    btz_buf_fini(&scrap);
    return rc;
}

static int read_endpoint(struct btz_mcp_http_session *session, struct btz_str uri)
{
    bool https = session->options.https;

    for (size_t i = 0; i < uri.len; i++) {
        if (uri.ptr[i] == '#' || uri.ptr[i] == '\\') {
            return BTZ_EINVAL;
        }
    }
    if (!uri.len || !take_scheme(&uri, https) ||
        !take_authority(&uri, session->options.host, https) || !uri.len) {
        return BTZ_EINVAL;
    }
    if (resolve(&session->endpoint, session->options.target, uri) != BTZ_OK) {
        return BTZ_ELIMIT;
    }
    return check_target(session);
}

void btz_mcp_http_endpoint(struct btz_mcp_http_session *session, struct btz_str uri)
{
    if (session->endpoint.len) {
        session->stats.bad_endpoint++;
        btz_mcp_client_alarm(session->client, 0,
                             "the server named a second address for messages; it is ignored");
        return;
    }
    if (read_endpoint(session, uri) != BTZ_OK) {
        btz_buf_reset(&session->endpoint);
        session->stats.bad_endpoint++;
        btz_mcp_http_fatal(session, BTZ_MCP_FAULT_INVALID,
                           "the address the server named for messages is not of its own origin");
    }
}
