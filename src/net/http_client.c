/* libcurl tells which sockets to watch (on_socket) and when to be called next (on_time); libuv
 * polls watch the former, one timer keeps the latter. Both lead into curl_multi_socket_action,
 * after which finished transfers are collected into the done list. curl must not be re-entered
 * from its own callbacks, so those only note what happened. */
#include "net/http_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <curl/curl.h>
#include <uv.h>

#include "base/clock.h"

#define CONNECT_TIMEOUT_US 10000000
#define MAX_BODY (16u * 1024 * 1024)
#define MAX_HEADERS (64u * 1024)

#define MIN_WAITING (64u * 1024) /* of a stream; curl hands over up to 16 KiB at a time */

enum { KEPT_HANDLES = 64, MAX_REQUEST_HEADERS = 64, MAX_FIELDS = 128 };

enum broken { NOT_BROKEN, BODY_TOO_LARGE, HEADERS_TOO_LARGE, BAD_HEADER };

struct btz_net_http_transfer {
    struct btz_net_http *client;
    struct btz_net_http_transfer *prev, *next; /* in the list `active` or `finished` */
    CURL *easy;
    struct curl_slist *headers;
    struct btz_net_http_done done;
    int64_t started_us;
    enum broken broken;
    bool finished;
    bool stream;
    bool head_whole; /* the final response's; `done.body` holds what comes behind it */
    bool head_pulled;
    bool paused;        /* by on_body, until the part that is lent out comes back */
    size_t field_count; /* lines of the head */
    char error[CURL_ERROR_SIZE];
};

struct transfer_list {
    struct btz_net_http_transfer *first, *last;
};

struct watch { /* one socket of curl */
    uv_poll_t poll;
    struct btz_net_http *client;
    curl_socket_t socket;
};

struct btz_net_http {
    struct btz_net_loop *loop;
    CURLM *multi;
    uv_timer_t timer;
    int64_t connect_timeout_us;
    struct transfer_list active, finished;
    size_t pending;
    struct btz_net_http_transfer *lent; /* its body is the part that was pulled last */
    struct btz_http_field fields[MAX_FIELDS];
    CURL *kept[KEPT_HANDLES]; /* easy handles for reuse */
    size_t kept_count;
};

static void list_add(struct transfer_list *list, struct btz_net_http_transfer *t)
{
    t->next = NULL;
    t->prev = list->last;
    *(list->last ? &list->last->next : &list->first) = t;
    list->last = t;
}

static void list_remove(struct transfer_list *list, struct btz_net_http_transfer *t)
{
    *(t->prev ? &t->prev->next : &list->first) = t->next;
    *(t->next ? &t->next->prev : &list->last) = t->prev;
}

static void easy_release(struct btz_net_http *client, CURL *easy)
{
    if (client->kept_count < KEPT_HANDLES) {
        curl_easy_reset(easy);
        client->kept[client->kept_count++] = easy;
    } else {
        curl_easy_cleanup(easy);
    }
}

/* Takes a transfer off curl and puts its result behind the others. */
static void transfer_finish(struct btz_net_http_transfer *t, int status, const char *text)
{
    struct btz_net_http *client = t->client;
    long number = 0;

    (void)curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &number);
    t->done.http_status = (int)number;
    number = 0;
    (void)curl_easy_getinfo(t->easy, CURLINFO_NUM_CONNECTS, &number);
    t->done.new_connection = number > 0;
    t->done.latency_us = btz_clock_mono_us() - t->started_us;
    t->done.status = status;
    (void)snprintf(t->done.text, sizeof(t->done.text), "%s", text);
    (void)curl_multi_remove_handle(client->multi, t->easy);
    easy_release(client, t->easy);
    t->easy = NULL;
    curl_slist_free_all(t->headers);
    t->headers = NULL;
    list_remove(&client->active, t);
    t->finished = true;
    list_add(&client->finished, t);
    btz_net_loop_ready(client->loop);
}

static int status_of(CURLcode code)
{
    switch (code) {
    case CURLE_OK:
        return BTZ_OK;
    case CURLE_OPERATION_TIMEDOUT:
        return BTZ_ETIMEOUT;
    case CURLE_UNSUPPORTED_PROTOCOL: /* a reply of HTTP/0.9 or without a status line */
    case CURLE_WEIRD_SERVER_REPLY:
        return BTZ_EINVAL;
    default:
        return BTZ_EIO;
    }
}

static void transfer_done(struct btz_net_http_transfer *t, CURLcode code)
{
    long request_size = 0;

    /* Bytes of the request that went out: none means that there was never a connection. */
    (void)curl_easy_getinfo(t->easy, CURLINFO_REQUEST_SIZE, &request_size);
    t->done.connected = code == CURLE_OK || request_size > 0;
    if (t->broken == BODY_TOO_LARGE) {
        char text[96];

        (void)snprintf(text, sizeof(text), "the response is larger than the %zu bytes allowed",
                       t->done.body.max);
        transfer_finish(t, BTZ_ELIMIT, text);
    } else if (t->broken == HEADERS_TOO_LARGE) {
        transfer_finish(t, BTZ_ELIMIT, "the headers of the response are too large");
    } else if (t->broken == BAD_HEADER) {
        transfer_finish(t, BTZ_EINVAL, "a header of the response is folded or has no name");
    } else if (code == CURLE_OK) {
        transfer_finish(t, BTZ_OK, "");
    } else {
        transfer_finish(t, status_of(code), t->error[0] ? t->error : curl_easy_strerror(code));
    }
}

static void collect(struct btz_net_http *client)
{
    CURLMsg *msg;
    int left;

    while ((msg = curl_multi_info_read(client->multi, &left))) {
        struct btz_net_http_transfer *t = NULL;
        CURLcode code = msg->data.result;

        if (msg->msg != CURLMSG_DONE) {
            continue;
        }
        (void)curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &t);
        transfer_done(t, code);
    }
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct watch *watch = poll->data;
    struct btz_net_http *client = watch->client;
    int flags = 0;
    int running;

    if (status < 0) {
        flags = CURL_CSELECT_ERR;
    } else {
        flags |= events & UV_READABLE ? CURL_CSELECT_IN : 0;
        flags |= events & UV_WRITABLE ? CURL_CSELECT_OUT : 0;
    }
    (void)curl_multi_socket_action(client->multi, watch->socket, flags, &running);
    collect(client);
}

static void on_timer(uv_timer_t *timer)
{
    struct btz_net_http *client = timer->data;
    int running;

    (void)curl_multi_socket_action(client->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    collect(client);
}

static int on_time(CURLM *multi, long timeout_ms, void *data)
{
    struct btz_net_http *client = data;

    (void)multi;
    if (timeout_ms < 0) {
        (void)uv_timer_stop(&client->timer);
    } else {
        uv_update_time(btz_net_loop_uv(client->loop));
        (void)uv_timer_start(&client->timer, on_timer, (uint64_t)timeout_ms, 0);
    }
    return 0;
}

static void on_watch_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static int on_socket(CURL *easy, curl_socket_t socket, int what, void *data, void *socket_data)
{
    struct btz_net_http *client = data;
    struct watch *watch = socket_data;
    int events = 0;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (watch) {
            (void)curl_multi_assign(client->multi, socket, NULL);
            uv_close((uv_handle_t *)&watch->poll, on_watch_closed);
        }
        return 0;
    }
    if (!watch) {
        watch = calloc(1, sizeof(*watch));
        if (!watch) {
            btz_panic("out of memory");
        }
        if (uv_poll_init_socket(btz_net_loop_uv(client->loop), &watch->poll, socket)) {
            free(watch);
            return -1;
        }
        watch->client = client;
        watch->socket = socket;
        watch->poll.data = watch;
        (void)curl_multi_assign(client->multi, socket, watch);
    }
    events |= what & CURL_POLL_IN ? UV_READABLE : 0;
    events |= what & CURL_POLL_OUT ? UV_WRITABLE : 0;
    return uv_poll_start(&watch->poll, events, on_poll) ? -1 : 0;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *data)
{
    struct btz_net_http_transfer *t = data;

    if (t->stream) {
        if (size * count > t->done.body.max - t->done.body.len) {
            t->paused = true;
            return CURL_WRITEFUNC_PAUSE;
        }
        btz_net_loop_ready(t->client->loop);
    }
    if (btz_buf_add(&t->done.body, bytes, size * count)) {
        t->broken = BODY_TOO_LARGE;
        return 0;
    }
    return size * count;
}

/* The end of a head, or one more line of it; what comes behind a whole head are trailers. */
static bool stream_header(struct btz_net_http_transfer *t, struct btz_str line)
{
    long status = 0;

    if (btz_str_trim(line).len) {
        if (line.ptr[0] == ' ' || line.ptr[0] == '\t' || btz_str_find(line, BTZ_STR(":")) < 1) {
            t->broken = BAD_HEADER;
        } else if (!t->head_whole && ++t->field_count > MAX_FIELDS) {
            t->broken = HEADERS_TOO_LARGE;
        }
        return !t->broken;
    }
    (void)curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status >= 200) {
        t->done.http_status = (int)status;
        t->head_whole = true;
        btz_net_loop_ready(t->client->loop);
    }
    return true;
}

/* Keeps the lines as they come; those of an interim response give way to the final ones. */
static size_t on_header(char *bytes, size_t size, size_t count, void *data)
{
    struct btz_net_http_transfer *t = data;
    struct btz_str line = {bytes, size * count};

    if (btz_str_starts(line, BTZ_STR("HTTP/"))) {
        btz_buf_reset(&t->done.headers);
        t->field_count = 0;
        return line.len;
    }
    if (t->stream && (!stream_header(t, line) || t->head_whole)) {
        return t->broken ? 0 : line.len;
    }
    if (btz_buf_add_str(&t->done.headers, line)) {
        t->broken = HEADERS_TOO_LARGE;
        return 0;
    }
    return line.len;
}

int btz_net_http_new(struct btz_net_loop *loop, const struct btz_net_http_options *options,
                     struct btz_net_http **out, struct btz_err *err)
{
    struct btz_net_http *client;
    CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);

    if (code) {
        return btz_err_set(err, BTZ_EIO, "cannot start libcurl: %s", curl_easy_strerror(code));
    }
    client = calloc(1, sizeof(*client));
    if (!client) {
        btz_panic("out of memory");
    }
    client->multi = curl_multi_init();
    if (!client->multi) {
        btz_panic("out of memory");
    }
    client->loop = loop;
    client->connect_timeout_us =
        options->connect_timeout_us ? options->connect_timeout_us : CONNECT_TIMEOUT_US;
    (void)uv_timer_init(btz_net_loop_uv(loop), &client->timer);
    client->timer.data = client;
    (void)curl_multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    (void)curl_multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
    (void)curl_multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, on_time);
    (void)curl_multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
    if (options->max_connections) {
        long max = options->max_connections > 100000 ? 100000L : (long)options->max_connections;

        (void)curl_multi_setopt(client->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, max);
        (void)curl_multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, max);
    }
    *out = client;
    return BTZ_OK;
}

static void transfer_free(struct btz_net_http_transfer *t)
{
    btz_net_http_done_fini(&t->done);
    free(t);
}

static void on_client_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void btz_net_http_free(struct btz_net_http *client)
{
    struct btz_net_http_transfer *t;

    if (!client) {
        return;
    }
    while (client->active.first) {
        btz_net_http_cancel(client->active.first);
    }
    while ((t = client->finished.first)) {
        list_remove(&client->finished, t);
        transfer_free(t);
    }
    for (size_t i = 0; i < client->kept_count; i++) {
        curl_easy_cleanup(client->kept[i]);
    }
    (void)curl_multi_cleanup(client->multi);
    uv_close((uv_handle_t *)&client->timer, on_client_closed);
    curl_global_cleanup();
}

static bool is_header_text(struct btz_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];

        if ((c < ' ' && c != '\t') || c == 0x7f) {
            return false;
        }
    }
    return true;
}

/* RFC 9110 section 5.6.2 */
static bool is_token(struct btz_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];

        if (c <= ' ' || c >= 0x7f || strchr("\"(),/:;<=>?@[\\]{}", c)) {
            return false;
        }
    }
    return s.len > 0;
}

static int headers_build(const struct btz_net_http_request *request, struct curl_slist **out,
                         struct btz_err *err)
{
    /* curl would add this one for large bodies and then wait for "100 Continue". */
    struct curl_slist *list = curl_slist_append(NULL, "Expect:");

    if (request->header_count > MAX_REQUEST_HEADERS) {
        curl_slist_free_all(list);
        return btz_err_set(err, BTZ_EINVAL, "a request may have at most %d headers",
                           MAX_REQUEST_HEADERS);
    }
    for (size_t i = 0; i < request->header_count; i++) {
        const struct btz_net_http_header *h = &request->headers[i];
        struct btz_buf line;

        if (!is_token(h->name) || !is_header_text(h->value) || h->value.len > MAX_HEADERS) {
            curl_slist_free_all(list);
            return btz_err_set(err, BTZ_EINVAL,
                               "request header %zu has a name or value that HTTP does not allow",
                               i);
        }
        btz_buf_init(&line, h->name.len + h->value.len + 8);
        /* "Name;" is how curl is told of an empty value. */
        (void)btz_buf_add_str(&line, h->name);
        (void)btz_buf_add_text(&line, h->value.len ? ": " : ";");
        (void)btz_buf_add_str(&line, h->value);
        (void)btz_buf_add_byte(&line, '\0');
        list = curl_slist_append(list, line.ptr);
        btz_buf_fini(&line);
    }
    *out = list;
    return BTZ_OK;
}

/* Checks the URL and tells whether its host is loopback. */
static int url_check(const char *text, bool *loopback, struct btz_err *err)
{
    CURLU *url = curl_url();
    char *scheme = NULL;
    char *host = NULL;
    char *user = NULL;
    int rc = BTZ_OK;

    if (!url) {
        btz_panic("out of memory");
    }
    if (curl_url_set(url, CURLUPART_URL, text, 0) ||
        curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) ||
        curl_url_get(url, CURLUPART_HOST, &host, 0)) {
        rc = btz_err_set(err, BTZ_EINVAL, "\"%.200s\" is not a URL", text);
    } else if (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0) {
        rc = btz_err_set(err, BTZ_EINVAL, "\"%.200s\" must begin with http:// or https://", text);
    } else if (!curl_url_get(url, CURLUPART_USER, &user, 0)) {
        rc = btz_err_set(err, BTZ_EINVAL, "the URL must not hold a user name");
    } else {
        *loopback = strcasecmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 ||
                    strcmp(host, "[::1]") == 0;
    }
    curl_free(scheme);
    curl_free(host);
    curl_free(user);
    curl_url_cleanup(url);
    return rc;
}

static long whole_ms(int64_t us)
{
    return us <= 0 ? 1L : us / 1000 > 2000000000 ? 2000000000L : (long)((us + 999) / 1000);
}

static void easy_configure(struct btz_net_http_transfer *t,
                           const struct btz_net_http_request *request, const char *url,
                           bool loopback)
{
    CURL *easy = t->easy;
    char method[32];

    (void)curl_easy_setopt(easy, CURLOPT_URL, url);
    (void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    (void)curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    /* The head of a proxy's answer to CONNECT is not the server's. */
    (void)curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                           whole_ms(t->client->connect_timeout_us));
    if (request->timeout_us) {
        (void)curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, whole_ms(request->timeout_us));
    }
    if (loopback) {
        (void)curl_easy_setopt(easy, CURLOPT_PROXY, "");
    }
    (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, t->headers);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, t);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERDATA, t);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, t->error);
    (void)curl_easy_setopt(easy, CURLOPT_PRIVATE, t);
    (void)snprintf(method, sizeof(method), "%.*s", BTZ_FMT(request->method));
    if (request->body.len || request->method.len == 0 || btz_str_is(request->method, "POST")) {
        (void)curl_easy_setopt(easy, CURLOPT_POST, 1L);
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS,
                               request->body.len ? request->body.ptr : "");
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
    }
    if (method[0]) {
        (void)curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
    }
}

int btz_net_http_start(struct btz_net_http *client, const struct btz_net_http_request *request,
                       struct btz_net_http_transfer **out, struct btz_err *err)
{
    struct btz_net_http_transfer *t;
    struct curl_slist *headers = NULL;
    struct btz_buf url;
    bool loopback = false;
    int rc;

    if (request->method.len && (!is_token(request->method) || request->method.len > 16)) {
        return btz_err_set(err, BTZ_EINVAL, "the method of a request must be a short token");
    }
    if (!is_header_text(request->url)) {
        return btz_err_set(err, BTZ_EINVAL, "the URL of a request has control characters");
    }
    btz_buf_init(&url, 8192);
    (void)btz_buf_add_str(&url, request->url);
    (void)btz_buf_add_byte(&url, '\0');
    rc = btz_buf_status(&url);
    if (rc) {
        rc = btz_err_set(err, BTZ_EINVAL, "the URL of a request is too long");
    }
    rc = rc ? rc : url_check(url.ptr, &loopback, err);
    rc = rc ? rc : headers_build(request, &headers, err);
    if (rc) {
        goto out;
    }
    t = calloc(1, sizeof(*t));
    if (!t) {
        btz_panic("out of memory");
    }
    t->client = client;
    t->headers = headers;
    t->started_us = btz_clock_mono_us();
    t->done.id = request->id;
    t->stream = request->stream;
    btz_buf_init(&t->done.body, request->max_body ? request->max_body : MAX_BODY);
    if (t->stream && t->done.body.max < MIN_WAITING) {
        t->done.body.max = MIN_WAITING;
    }
    btz_buf_init(&t->done.headers, MAX_HEADERS);
    t->easy = client->kept_count ? client->kept[--client->kept_count] : curl_easy_init();
    if (!t->easy) {
        btz_panic("out of memory");
    }
    easy_configure(t, request, url.ptr, loopback);
    list_add(&client->active, t);
    client->pending++;
    if (curl_multi_add_handle(client->multi, t->easy)) {
        transfer_finish(t, BTZ_EIO, "libcurl refused the request");
    }
    if (out) {
        *out = t;
    }
out:
    btz_buf_fini(&url);
    return rc;
}

void btz_net_http_cancel(struct btz_net_http_transfer *transfer)
{
    if (transfer->stream) {
        transfer->head_pulled = true;
        btz_buf_reset(&transfer->done.body);
    }
    if (!transfer->finished) {
        transfer_finish(transfer, BTZ_ECANCELLED, "cancelled");
    }
}

/* Takes back the part that was lent out; its transfer may go on. */
static void part_return(struct btz_net_http *client)
{
    struct btz_net_http_transfer *t = client->lent;

    if (!t) {
        return;
    }
    client->lent = NULL;
    btz_buf_reset(&t->done.body);
    if (t->paused && !t->finished) {
        t->paused = false;
        (void)curl_easy_pause(t->easy, CURLPAUSE_CONT);
    }
}

static void head_fill(struct btz_net_http_transfer *t, struct btz_http_head *head)
{
    struct btz_str rest = btz_buf_view(&t->done.headers);
    struct btz_http_field *fields = t->client->fields;
    struct btz_str line;
    size_t count = 0;

    while (count < t->field_count && btz_str_cut(&rest, '\n', &line)) {
        (void)btz_str_cut(&line, ':', &fields[count].name);
        fields[count].value = btz_str_trim(line);
        count++;
    }
    *head = (struct btz_http_head){.status = t->done.http_status,
                                   .fields = fields,
                                   .field_count = count,
                                   .content_length = -1};
}

static bool has_part(const struct btz_net_http_transfer *t)
{
    return t->stream &&
           ((t->head_whole && !t->head_pulled) || (t->head_pulled && t->done.body.len));
}

bool btz_net_http_next_part(struct btz_net_http *client, struct btz_net_http_part *part)
{
    struct btz_net_http_transfer *t;

    part_return(client);
    for (t = client->finished.first; t && !has_part(t); t = t->next) {
    }
    if (!t) {
        for (t = client->active.first; t && !has_part(t); t = t->next) {
        }
    }
    if (!t) {
        return false;
    }
    *part = (struct btz_net_http_part){.id = t->done.id};
    if (t->head_pulled) {
        part->kind = BTZ_NET_HTTP_PART_BODY;
        part->bytes = btz_buf_view(&t->done.body);
        client->lent = t;
    } else {
        part->kind = BTZ_NET_HTTP_PART_HEAD;
        head_fill(t, &part->head);
        t->head_pulled = true;
    }
    return true;
}

bool btz_net_http_next(struct btz_net_http *client, struct btz_net_http_done *done)
{
    struct btz_net_http_transfer *t;

    part_return(client);
    for (t = client->finished.first; t && has_part(t); t = t->next) {
    }
    if (!t) {
        return false;
    }
    list_remove(&client->finished, t);
    client->pending--;
    *done = t->done;
    free(t);
    return true;
}

void btz_net_http_done_fini(struct btz_net_http_done *done)
{
    btz_buf_fini(&done->body);
    btz_buf_fini(&done->headers);
}

struct btz_str btz_net_http_done_header(const struct btz_net_http_done *done, const char *name)
{
    struct btz_str rest = btz_buf_view(&done->headers);
    const size_t len = strlen(name);
    struct btz_str line;

    while (rest.ptr && btz_str_cut(&rest, '\n', &line)) {
        if (line.len > len && line.ptr[len] == ':' && strncasecmp(line.ptr, name, len) == 0) {
            return btz_str_trim(btz_str_sub(line, len + 1, line.len));
        }
    }
    return BTZ_STR_NONE;
}

size_t btz_net_http_pending(const struct btz_net_http *client)
{
    return client->pending;
}
