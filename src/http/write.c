/* Writers: the same grammar as the parser's, so that what they write reads back. A head is made
 * aside first: `out` changes only when all of it fits. */
#include "http/http_int.h"

#include <stdio.h>

static bool fits(const struct btz_buf *out, size_t len)
{
    return !out->failed && len <= out->max - out->len;
}

static bool is_framing(struct btz_str name)
{
    return btz_http_same_name(name, "content-length") ||
           btz_http_same_name(name, "transfer-encoding");
}

/* Fields from the caller; `host` (NULL for responses) counts the Host fields. */
static int add_fields(struct btz_buf *head, const struct btz_http_field *fields, size_t count,
                      size_t *host)
{
    bool close = false;
    bool upgrade = false;

    for (size_t i = 0; i < count; i++) {
        struct btz_str name = fields[i].name;
        struct btz_str value = fields[i].value;

        if (!btz_http_is_token(name) || !btz_http_is_value(value) || is_framing(name)) {
            return BTZ_EINVAL;
        }
        if (btz_http_same_name(name, "connection") &&
            !btz_http_read_connection(value, &close, &upgrade)) {
            return BTZ_EINVAL;
        }
        if (host && btz_http_same_name(name, "host")) {
            ++*host;
            if (!btz_http_is_host(value)) {
                return BTZ_EINVAL;
            }
        }
        if (host && (upgrade || btz_http_same_name(name, "upgrade"))) {
            return BTZ_EINVAL;
        }
        btz_buf_add_str(head, name);
        btz_buf_add_text(head, ": ");
        btz_buf_add_str(head, value);
        btz_buf_add_text(head, "\r\n");
    }
    return BTZ_OK;
}

/* Head and body to `out`, or nothing. */
static int put(struct btz_buf *out, struct btz_buf *head, struct btz_str body)
{
    if (btz_buf_status(head) != BTZ_OK || body.len > SIZE_MAX - head->len ||
        !fits(out, head->len + body.len)) {
        return BTZ_ELIMIT;
    }
    btz_buf_add_str(out, btz_buf_view(head));
    return body.len ? btz_buf_add_str(out, body) : BTZ_OK;
}

static void head_init(struct btz_buf *head, const struct btz_buf *out)
{
    btz_buf_init(head, out->failed ? 0 : out->max - out->len);
}

/* A request without Content-Length has no body; RFC 9110 section 8.6 wants the field nevertheless
 * where a body is usual. */
static bool wants_length(struct btz_str method, struct btz_str body)
{
    return body.len || btz_str_is(method, "POST") || btz_str_is(method, "PUT") ||
           btz_str_is(method, "PATCH");
}

int btz_http_write_request(struct btz_buf *out, struct btz_str method, struct btz_str target,
                           const struct btz_http_field *fields, size_t count, struct btz_str body)
{
    struct btz_buf head;
    size_t host = 0;
    int rc;

    if (!btz_http_is_method(method) || !btz_http_is_target(target)) {
        return BTZ_EINVAL;
    }
    head_init(&head, out);
    btz_buf_add_str(&head, method);
    btz_buf_add_text(&head, " ");
    btz_buf_add_str(&head, target);
    btz_buf_add_text(&head, " HTTP/1.1\r\n");
    rc = add_fields(&head, fields, count, &host);
    if (rc == BTZ_OK && host != 1) {
        rc = BTZ_EINVAL;
    }
    if (rc == BTZ_OK) {
        if (wants_length(method, body)) {
            (void)btz_buf_printf(&head, "Content-Length: %zu\r\n", body.len);
        }
        btz_buf_add_text(&head, "\r\n");
        rc = put(out, &head, body);
    }
    btz_buf_fini(&head);
    return rc;
}

static bool is_status(int status)
{
    return status >= 100 && status <= 599 && status != 101;
}

static int write_response(struct btz_buf *out, int status, const struct btz_http_field *fields,
                          size_t count, const char *framing, struct btz_str body)
{
    struct btz_buf head;
    int rc;

    head_init(&head, out);
    (void)btz_buf_printf(&head, "HTTP/1.1 %d %s\r\n", status, btz_http_reason(status));
    rc = add_fields(&head, fields, count, NULL);
    if (rc == BTZ_OK) {
        btz_buf_add_text(&head, framing);
        btz_buf_add_text(&head, "\r\n");
        rc = put(out, &head, body);
    }
    btz_buf_fini(&head);
    return rc;
}

int btz_http_write_response(struct btz_buf *out, int status, const struct btz_http_field *fields,
                            size_t count, struct btz_str body)
{
    char framing[64] = "";

    if (!is_status(status) || (btz_http_is_bodiless(status) && body.len)) {
        return BTZ_EINVAL;
    }
    if (!btz_http_is_bodiless(status)) {
        (void)snprintf(framing, sizeof(framing), "Content-Length: %zu\r\n", body.len);
    }
    return write_response(out, status, fields, count, framing, body);
}

int btz_http_write_stream(struct btz_buf *out, int status, const struct btz_http_field *fields,
                          size_t count)
{
    if (!is_status(status) || btz_http_is_bodiless(status)) {
        return BTZ_EINVAL;
    }
    return write_response(out, status, fields, count, "Transfer-Encoding: chunked\r\n",
                          BTZ_STR_NONE);
}

int btz_http_write_chunk(struct btz_buf *out, struct btz_str bytes)
{
    char size[32];
    int len = snprintf(size, sizeof(size), "%zx\r\n", bytes.len);

    if (!bytes.len) {
        return BTZ_OK;
    }
    if (bytes.len > SIZE_MAX - (size_t)len - 2 || !fits(out, bytes.len + (size_t)len + 2)) {
        return BTZ_ELIMIT;
    }
    btz_buf_add(out, size, (size_t)len);
    btz_buf_add_str(out, bytes);
    return btz_buf_add_text(out, "\r\n");
}

int btz_http_write_end(struct btz_buf *out)
{
    return fits(out, 5) ? btz_buf_add_text(out, "0\r\n\r\n") : BTZ_ELIMIT;
}

const char *btz_http_reason(int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {
        {100, "Continue"},
        {103, "Early Hints"},
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {204, "No Content"},
        {301, "Moved Permanently"},
        {302, "Found"},
        {303, "See Other"},
        {304, "Not Modified"},
        {307, "Temporary Redirect"},
        {308, "Permanent Redirect"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {406, "Not Acceptable"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {410, "Gone"},
        {411, "Length Required"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {415, "Unsupported Media Type"},
        {417, "Expectation Failed"},
        {421, "Misdirected Request"},
        {422, "Unprocessable Content"},
        {426, "Upgrade Required"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {502, "Bad Gateway"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
        {505, "HTTP Version Not Supported"},
    };

    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (reasons[i].status == status) {
            return reasons[i].reason;
        }
    }
    return "";
}
