/* An ask lives from btz_drive_model_client_ask until its answer is pulled, in a hash table by id.
 * While its policy lasts it has a handle in the endpoint; while an attempt runs, a transfer in the
 * HTTP client, whose id is the address of the ask. A cancelled ask with a transfer waits for the
 * transfer's result; one without goes into the list `ended`. */
#include "drive/model_client.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "llm/embeddings.h"
#include "llm/request.h"
#include "net/http_client.h"

#define MAX_REQUEST (16u * 1024 * 1024)

enum { BUCKETS_MIN = 64 };

struct ask {
    uint64_t id;
    struct ask *chain; /* next of the same bucket */
    struct ask *next;  /* in the list `ended` */
    const struct btz_str *parts;
    size_t part_count;
    struct btz_llm_ask *policy; /* NULL once cancelled */
    struct btz_net_http_transfer *transfer;
    struct btz_buf body;
    uint32_t attempts;
    int64_t asked_us;
    int64_t latency_us;
    int http_status;
    bool cancelled;
};

struct btz_drive_model_client {
    struct btz_net_loop *loop;
    struct btz_llm_endpoint *endpoint;
    struct btz_net_http *http;
    size_t max_request;
    size_t max_reply;
    enum btz_llm_api api;
    struct btz_buf url;
    struct btz_buf model_id;
    struct btz_buf authorization; /* empty = no key */
    struct ask **buckets;
    size_t bucket_count; /* power of two */
    size_t count;
    struct ask *ended_first, *ended_last;
    struct btz_net_http_done held; /* bytes of the last answer */
};

static size_t bucket_of(const struct btz_drive_model_client *c, uint64_t id)
{
    return (size_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (c->bucket_count - 1);
}

static struct ask *table_find(const struct btz_drive_model_client *c, uint64_t id)
{
    struct ask *ask = c->buckets[bucket_of(c, id)];

    while (ask && ask->id != id) {
        ask = ask->chain;
    }
    return ask;
}

static void table_link(struct btz_drive_model_client *c, struct ask *ask)
{
    struct ask **bucket = &c->buckets[bucket_of(c, ask->id)];

    ask->chain = *bucket;
    *bucket = ask;
}

static void table_grow(struct btz_drive_model_client *c)
{
    struct ask **old = c->buckets;
    size_t old_count = c->bucket_count;

    c->bucket_count = old_count ? 2 * old_count : BUCKETS_MIN;
    c->buckets = calloc(c->bucket_count, sizeof(struct ask *));
    if (!c->buckets) {
        btz_panic("out of memory");
    }
    for (size_t i = 0; i < old_count; i++) {
        struct ask *next;

        for (struct ask *ask = old[i]; ask; ask = next) {
            next = ask->chain;
            table_link(c, ask);
        }
    }
    free(old);
}

static void ask_free(struct btz_drive_model_client *c, struct ask *ask)
{
    struct ask **link = &c->buckets[bucket_of(c, ask->id)];

    while (*link != ask) {
        link = &(*link)->chain;
    }
    *link = ask->chain;
    c->count--;
    btz_buf_fini(&ask->body);
    free(ask);
}

/* A string that lives as long as the client, with a NUL. */
static void keep(struct btz_buf *buf, const char *before, struct btz_str s, const char *behind)
{
    btz_buf_init(buf, strlen(before) + s.len + strlen(behind) + 1);
    (void)btz_buf_add_text(buf, before);
    (void)btz_buf_add_str(buf, s);
    (void)btz_buf_add_text(buf, behind);
}

int btz_drive_model_client_new(struct btz_net_loop *loop, const struct btz_llm_model *model,
                               const struct btz_drive_model_options *options,
                               struct btz_drive_model_client **out, struct btz_err *err)
{
    const struct btz_net_http_options http = {.max_connections = options->policy.in_flight,
                                              .connect_timeout_us = options->connect_timeout_us};
    struct btz_drive_model_client *c;
    int rc;

    if (model->kind == BTZ_LLM_MODEL_REF) {
        return btz_err_set(err, BTZ_EUNSUPPORTED, "%.*s is not reached over the network",
                           BTZ_FMT(model->reference));
    }
    c = calloc(1, sizeof(*c));
    if (!c) {
        btz_panic("out of memory");
    }
    rc = btz_net_http_new(loop, &http, &c->http, err);
    if (rc) {
        free(c);
        return rc;
    }
    c->loop = loop;
    c->endpoint = btz_llm_endpoint_new(&options->policy);
    c->max_request = options->max_request_bytes ? options->max_request_bytes : MAX_REQUEST;
    c->max_reply = options->policy.limits.max_bytes;
    c->api = options->policy.api;
    keep(&c->url, "", model->url,
         c->api == BTZ_LLM_EMBEDDINGS ? "/embeddings" : "/chat/completions");
    keep(&c->model_id, "", model->id, "");
    if (options->key && options->key->send) {
        keep(&c->authorization, "Bearer ", options->key->key, "");
    }
    table_grow(c);
    *out = c;
    return BTZ_OK;
}

void btz_drive_model_client_free(struct btz_drive_model_client *c)
{
    if (!c) {
        return;
    }
    btz_net_http_free(c->http); /* before the bodies it sends */
    for (size_t i = 0; i < c->bucket_count; i++) {
        while (c->buckets[i]) {
            ask_free(c, c->buckets[i]);
        }
    }
    free(c->buckets);
    btz_llm_endpoint_free(c->endpoint);
    btz_net_http_done_fini(&c->held);
    if (c->authorization.len) {
        explicit_bzero(c->authorization.ptr, c->authorization.len);
    }
    btz_buf_fini(&c->authorization);
    btz_buf_fini(&c->model_id);
    btz_buf_fini(&c->url);
    free(c);
}

int btz_drive_model_client_ask(struct btz_drive_model_client *c, uint64_t id,
                               const struct btz_str *parts, size_t count, int64_t deadline_us)
{
    struct ask *ask;

    if (table_find(c, id)) {
        return BTZ_EEXISTS;
    }
    ask = calloc(1, sizeof(*ask));
    if (!ask) {
        btz_panic("out of memory");
    }
    if (c->count == c->bucket_count) {
        table_grow(c);
    }
    ask->id = id;
    ask->parts = parts;
    ask->part_count = count;
    ask->asked_us = btz_clock_mono_us();
    btz_buf_init(&ask->body, c->max_request);
    ask->policy = btz_llm_endpoint_add(c->endpoint, ask, deadline_us);
    table_link(c, ask);
    c->count++;
    btz_net_loop_wake_at(c->loop, ask->asked_us);
    return BTZ_OK;
}

int btz_drive_model_client_cancel(struct btz_drive_model_client *c, uint64_t id)
{
    struct ask *ask = table_find(c, id);

    if (!ask) {
        return BTZ_ENOTFOUND;
    }
    if (ask->cancelled) {
        return BTZ_OK;
    }
    ask->cancelled = true;
    ask->attempts = btz_llm_endpoint_cancel(c->endpoint, ask->policy);
    ask->policy = NULL;
    if (ask->transfer) {
        btz_net_http_cancel(ask->transfer);
    } else {
        *(c->ended_last ? &c->ended_last->next : &c->ended_first) = ask;
        c->ended_last = ask;
    }
    btz_net_loop_wake_at(c->loop, btz_clock_mono_us());
    return BTZ_OK;
}

/* Fills the answer and forgets the ask. */
static void answer(struct btz_drive_model_client *c, struct ask *ask, enum btz_llm_status status,
                   uint32_t attempts, const char *text, struct btz_drive_model_answer *out)
{
    *out = (struct btz_drive_model_answer){
        .id = ask->id,
        .status = status,
        .bytes = btz_buf_view(&c->held.body),
        .text = btz_str_of(text),
        .attempts = attempts,
        .http_status = ask->http_status,
        .latency_us = ask->latency_us,
        .total_us = btz_clock_mono_us() - ask->asked_us,
    };
    ask_free(c, ask);
}

/* True if the report ended the ask. */
static bool report(struct btz_drive_model_client *c, struct ask *ask,
                   const struct btz_llm_attempt *attempt, struct btz_drive_model_answer *out)
{
    struct btz_llm_verdict verdict;

    btz_llm_endpoint_report(c->endpoint, ask->policy, attempt, btz_clock_mono_us(),
                            btz_clock_wall_us(), &verdict);
    if (verdict.ended) {
        answer(c, ask, verdict.status, verdict.attempts, verdict.text, out);
    }
    return verdict.ended;
}

static enum btz_llm_wire wire_of(const struct btz_net_http_done *done)
{
    switch (done->status) {
    case BTZ_OK:
        return BTZ_LLM_WIRE_DONE;
    case BTZ_ETIMEOUT:
        return done->connected ? BTZ_LLM_WIRE_TIMEOUT : BTZ_LLM_WIRE_NO_CONNECTION;
    case BTZ_ELIMIT:
        return BTZ_LLM_WIRE_TOO_LARGE;
    default:
        return done->connected ? BTZ_LLM_WIRE_BROKEN : BTZ_LLM_WIRE_NO_CONNECTION;
    }
}

/* Handles the transfer result in c->held; true if that gives an answer. */
static bool transfer_ended(struct btz_drive_model_client *c, struct btz_drive_model_answer *out)
{
    const struct btz_net_http_done *done = &c->held;
    struct ask *ask = (struct ask *)(uintptr_t)done->id;
    const struct btz_llm_attempt attempt = {
        .wire = wire_of(done),
        .http_status = done->http_status,
        .retry_after = btz_net_http_done_header(done, "Retry-After"),
        .body = btz_buf_view(&done->body),
        .inputs = ask->part_count - 1, /* the first part is the settings */
        .text = btz_str_of(done->text),
    };

    ask->transfer = NULL;
    ask->http_status = done->http_status;
    ask->latency_us = done->latency_us;
    if (ask->cancelled) {
        btz_buf_reset(&c->held.body);
        answer(c, ask, BTZ_LLM_CANCELLED, ask->attempts, "cancelled", out);
        return true;
    }
    return report(c, ask, &attempt, out);
}

/* Builds the body at the first attempt, and sends it; true if that fails for good. */
static bool attempt_start(struct btz_drive_model_client *c, struct ask *ask, int64_t timeout_us,
                          struct btz_drive_model_answer *out)
{
    const struct btz_net_http_header headers[] = {
        {BTZ_STR("Content-Type"), BTZ_STR("application/json")},
        {BTZ_STR("Accept"), BTZ_STR("application/json")},
        {BTZ_STR("User-Agent"), BTZ_STR("bartizan/" BTZ_VERSION)},
        {BTZ_STR("Authorization"), btz_buf_view(&c->authorization)},
    };
    const size_t header_count = sizeof(headers) / sizeof(headers[0]);
    struct btz_net_http_request request = {
        .id = (uintptr_t)ask,
        .method = BTZ_STR("POST"),
        .url = btz_buf_view(&c->url),
        .headers = headers,
        .header_count = c->authorization.len ? header_count : header_count - 1,
        .timeout_us = timeout_us,
        .max_body = c->max_reply,
    };
    struct btz_err err = {0};
    int rc = BTZ_OK;

    if (ask->body.len == 0) {
        rc = c->api == BTZ_LLM_EMBEDDINGS
                 ? btz_llm_embeddings_body(ask->parts, ask->part_count, btz_buf_view(&c->model_id),
                                           &ask->body, &err)
                 : btz_llm_request_body(ask->parts, ask->part_count, btz_buf_view(&c->model_id),
                                        &ask->body, &err);
    }
    request.body = btz_buf_view(&ask->body);
    rc = rc ? rc : btz_net_http_start(c->http, &request, &ask->transfer, &err);
    if (rc) {
        const struct btz_llm_attempt refused = {.wire = BTZ_LLM_WIRE_REFUSED,
                                                .text = btz_str_of(err.msg)};

        return report(c, ask, &refused, out);
    }
    return false;
}

bool btz_drive_model_client_next(struct btz_drive_model_client *c,
                                 struct btz_drive_model_answer *out)
{
    struct btz_llm_order order;
    struct ask *ask;
    int64_t wake;

    btz_net_http_done_fini(&c->held);
    c->held = (struct btz_net_http_done){0};
    ask = c->ended_first;
    if (ask) {
        c->ended_first = ask->next;
        c->ended_last = ask->next ? c->ended_last : NULL;
        answer(c, ask, BTZ_LLM_CANCELLED, ask->attempts, "cancelled", out);
        return true;
    }
    while (btz_net_http_next(c->http, &c->held)) {
        if (transfer_ended(c, out)) {
            return true;
        }
        btz_net_http_done_fini(&c->held);
        c->held = (struct btz_net_http_done){0};
    }
    while (btz_llm_endpoint_next(c->endpoint, btz_clock_mono_us(), &order, &wake)) {
        ask = order.user;
        if (order.kind == BTZ_LLM_ORDER_END) {
            answer(c, ask, order.status, order.attempt, order.text, out);
            return true;
        }
        if (attempt_start(c, ask, order.timeout_us, out)) {
            return true;
        }
    }
    if (wake) {
        btz_net_loop_wake_at(c->loop, wake);
    }
    return false;
}

size_t btz_drive_model_client_pending(const struct btz_drive_model_client *c)
{
    return c->count;
}

size_t btz_drive_model_client_running(const struct btz_drive_model_client *c)
{
    return btz_llm_endpoint_running(c->endpoint);
}
