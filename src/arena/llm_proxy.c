/* Passes an agent's requests to its model and the answers back. */
#include "arena/llm_proxy.h"

#include <stdlib.h>

#include "net/http_client.h"

enum { MAX_CALLS = 64, CONNECT_S = 10, ANSWER_S = 600, SECOND_US = 1000000 };

struct call {
    struct call *next;
    struct btz_arena *arena;
    uint64_t id;
    uint64_t exchange; /* 0 = the agent is gone */
    uint64_t number;   /* of the request, as the verdict names it */
    uint32_t fragments;
    struct btz_net_http_transfer *transfer;
};

struct btz_llm_proxy {
    struct btz_play *play;
    struct btz_arena *arena;
    struct btz_str base; /* without a slash at its end */
    struct btz_net_http *http;
    struct call *calls;
    size_t count;
    uint64_t last_id;
};

static bool is_base(struct btz_str url)
{
    struct btz_str rest = btz_str_starts(url, BTZ_STR("http://"))    ? btz_str_sub(url, 7, url.len)
                          : btz_str_starts(url, BTZ_STR("https://")) ? btz_str_sub(url, 8, url.len)
                                                                     : BTZ_STR("");

    for (size_t i = 0; i < rest.len; i++) {
        if (rest.ptr[i] <= ' ' || rest.ptr[i] == 0x7f || rest.ptr[i] == '?' || rest.ptr[i] == '#' ||
            rest.ptr[i] == '@' || rest.ptr[i] == '\\') {
            return false;
        }
    }
    return rest.len > 0 && rest.ptr[0] != '/';
}

int btz_llm_proxy_new(struct btz_net_loop *loop, struct btz_play *play, struct btz_str base,
                      struct btz_llm_proxy **out, struct btz_err *err)
{
    struct btz_net_http_options options = {.max_connections = MAX_CALLS,
                                           .connect_timeout_us = (int64_t)CONNECT_S * SECOND_US};
    struct btz_llm_proxy *proxy;
    struct btz_arena *arena;
    int rc;

    if (!is_base(base)) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "the URL of a model's server looks like http://127.0.0.1:8080/v1, "
                           "without user, query and fragment");
    }
    arena = btz_arena_new();
    proxy = BTZ_NEW(arena, struct btz_llm_proxy);
    proxy->arena = arena;
    proxy->play = play;
    while (base.len && base.ptr[base.len - 1] == '/') {
        base.len--;
    }
    proxy->base = btz_arena_dup(arena, base);
    rc = btz_net_http_new(loop, &options, &proxy->http, err);
    if (rc != BTZ_OK) {
        btz_arena_free(arena);
        return rc;
    }
    btz_play_watch_requests(play);
    *out = proxy;
    return BTZ_OK;
}

void btz_llm_proxy_free(struct btz_llm_proxy *proxy)
{
    if (!proxy) {
        return;
    }
    btz_net_http_free(proxy->http);
    while (proxy->calls) {
        struct call *call = proxy->calls;

        proxy->calls = call->next;
        btz_arena_free(call->arena);
    }
    btz_arena_free(proxy->arena);
}

/* What agents ask an OpenAI-compatible server for. */
static int check_path(struct btz_str path, struct btz_str method, bool *asks_model)
{
    static const char *const posts[] = {"/chat/completions", "/completions", "/responses",
                                        "/embeddings"};

    *asks_model = false;
    for (size_t i = 0; i < sizeof(posts) / sizeof(posts[0]); i++) {
        if (btz_str_is(path, posts[i])) {
            *asks_model = i < 3;
            return btz_str_is(method, "POST") ? BTZ_OK : BTZ_EUNSUPPORTED;
        }
    }
    if (btz_str_is(path, "/models")) {
        return btz_str_is(method, "GET") ? BTZ_OK : BTZ_EUNSUPPORTED;
    }
    return BTZ_ENOTFOUND;
}

static size_t pass_headers(struct btz_arena *arena, const struct btz_http_head *head,
                           struct btz_net_http_header *out)
{
    static const char *const passed[] = {"Authorization", "Content-Type", "Accept"};
    size_t count = 0;

    for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++) {
        struct btz_str value = btz_http_field_get(head, passed[i], NULL);

        if (value.ptr) {
            out[count++] =
                (struct btz_net_http_header){btz_str_of(passed[i]), btz_arena_dup(arena, value)};
        }
    }
    return count;
}

int btz_llm_proxy_request(struct btz_llm_proxy *proxy, uint64_t exchange,
                          const struct btz_http_head *head, struct btz_str path,
                          struct btz_str body)
{
    struct btz_net_http_header headers[3];
    struct btz_net_http_request request = {.headers = headers,
                                           .timeout_us = (int64_t)ANSWER_S * SECOND_US};
    struct btz_arena *arena;
    struct call *call;
    bool asks_model;
    int rc = check_path(path, head->method, &asks_model);

    if (rc != BTZ_OK) {
        return rc;
    }
    if (proxy->count >= MAX_CALLS) {
        return BTZ_ELIMIT;
    }
    arena = btz_arena_new();
    call = BTZ_NEW(arena, struct call);
    *call = (struct call){.arena = arena, .id = ++proxy->last_id, .exchange = exchange};
    request.id = call->id;
    request.method = btz_arena_dup(arena, head->method);
    request.url = btz_arena_printf(arena, "%.*s%.*s", BTZ_FMT(proxy->base), BTZ_FMT(path));
    request.header_count = pass_headers(arena, head, headers);
    request.body = btz_arena_dup(arena, body);
    rc = btz_net_http_start(proxy->http, &request, &call->transfer, NULL);
    if (rc != BTZ_OK) {
        btz_arena_free(arena);
        return rc;
    }
    if (asks_model) {
        call->number = btz_play_request(proxy->play, body, &call->fragments);
    }
    call->next = proxy->calls;
    proxy->calls = call;
    proxy->count++;
    return BTZ_OK;
}

void btz_llm_proxy_closed(struct btz_llm_proxy *proxy, uint64_t exchange)
{
    for (struct call *call = proxy->calls; call; call = call->next) {
        if (call->exchange == exchange && call->exchange) {
            call->exchange = 0;
            btz_net_http_cancel(call->transfer);
        }
    }
}

static struct call *take_call(struct btz_llm_proxy *proxy, uint64_t id)
{
    for (struct call **at = &proxy->calls; *at; at = &(*at)->next) {
        if ((*at)->id == id) {
            struct call *call = *at;

            *at = call->next;
            proxy->count--;
            return call;
        }
    }
    btz_panic("an answer of a model belongs to no request");
}

/* OpenAI's error shape, so that the agent's library shows the text. */
static void answer_failure(struct btz_net_http_server *server, const struct call *call, int status,
                           const char *text)
{
    static const struct btz_http_field json = {BTZ_STR("Content-Type"),
                                               BTZ_STR("application/json")};
    struct btz_json *error = btz_json_new_object(call->arena);
    struct btz_json *body = btz_json_new_object(call->arena);

    btz_json_set_strz(call->arena, error, "message", text);
    btz_json_set_strz(call->arena, error, "type", "bartizan_arena");
    btz_json_setz(call->arena, body, "error", error);
    (void)!btz_net_http_server_respond(server, call->exchange, status, &json, 1,
                                       btz_json_text(call->arena, body));
}

static void answer(struct btz_net_http_server *server, const struct call *call,
                   const struct btz_net_http_done *done)
{
    static const char *const passed[] = {"Content-Type", "Retry-After", "X-Request-Id"};
    struct btz_http_field fields[3];
    size_t count = 0;

    if (done->status != BTZ_OK) {
        answer_failure(server, call, done->status == BTZ_ETIMEOUT ? 504 : 502, done->text);
        return;
    }
    for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++) {
        struct btz_str value = btz_net_http_done_header(done, passed[i]);

        if (value.len) {
            fields[count++] = (struct btz_http_field){btz_str_of(passed[i]), value};
        }
    }
    if (btz_net_http_server_respond(server, call->exchange, done->http_status, fields, count,
                                    btz_buf_view(&done->body)) == BTZ_EINVAL) {
        answer_failure(server, call, 502, "the model's server gave an answer that is no HTTP");
    }
}

void btz_llm_proxy_step(struct btz_llm_proxy *proxy, struct btz_net_http_server *server)
{
    struct btz_net_http_done done;

    while (btz_net_http_next(proxy->http, &done)) {
        struct call *call = take_call(proxy, done.id);

        if (call->number && done.http_status >= 200 && done.http_status < 300) {
            btz_play_request_accepted(proxy->play, call->number, call->fragments);
        }
        if (call->exchange) {
            answer(server, call, &done);
        }
        btz_net_http_done_fini(&done);
        btz_arena_free(call->arena);
    }
}
