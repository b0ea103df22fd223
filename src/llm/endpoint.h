/* When and how often a model server is asked: the policy, without the network.
 *
 * The machine decides; a driver performs. The driver adds asks, and pulls orders with
 * btz_llm_endpoint_next: START an attempt, or END an ask. It reports how each attempt went and
 * learns at once whether that ends the ask. All times are microseconds: `now_us` monotonic,
 * `wall_us` since 1970 (for Retry-After dates). Equal calls give equal output; the jitter comes
 * from the seed.
 *
 * The rules:
 *  - at most `in_flight` attempts run at once; asks wait in the order they came, and one that is
 *    tried again goes before those that were never tried;
 *  - tried again: HTTP 429, 500, 502, 503, 504; no connection, broken connection, time-out, a body
 *    that is no chat completion (or are no embeddings, where those are asked for). Not tried again:
 * every other status, and 429 when the provider says that the account has no quota (type or code
 * "insufficient_quota");
 *  - the wait before attempt n+1 is drawn from [d/2, d], d = base_delay * 2^(n-1), at most
 *    max_delay; a Retry-After header (seconds or HTTP-date, RFC 9110 section 10.2.3) sets a lower
 *    bound, and on 429 and 503 no attempt at all starts before it has passed;
 *  - an ask ends when its attempts are used up, when its deadline comes, when the next attempt
 *    would begin after the deadline, or when Retry-After asks for more than max_retry_after. */
#ifndef BTZ_LLM_ENDPOINT_H
#define BTZ_LLM_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "llm/reply.h"

struct btz_llm_endpoint;
struct btz_llm_ask;

/* What is asked for: it decides which bodies are good. */
enum btz_llm_api { BTZ_LLM_CHAT, BTZ_LLM_EMBEDDINGS };

struct btz_llm_endpoint_options {
    uint32_t in_flight;         /* 0 = 8 */
    uint32_t max_attempts;      /* 0 = 6 */
    int64_t attempt_timeout_us; /* of one attempt; 0 = 120 s */
    int64_t base_delay_us;      /* 0 = 0.5 s */
    int64_t max_delay_us;       /* 0 = 30 s */
    int64_t max_retry_after_us; /* 0 = 300 s */
    uint64_t seed;
    struct btz_llm_limits limits; /* for the check that a body is a chat completion */
    enum btz_llm_api api;
};

/* How an ask ends. */
enum btz_llm_status {
    BTZ_LLM_OK,       /* the body is a chat completion that btz_llm_reply_parse accepts, or what
                       * btz_llm_embeddings_parse does */
    BTZ_LLM_FAILED,   /* a fault of provider, network or configuration; `text` says which */
    BTZ_LLM_REJECTED, /* the provider refused what the request contains; `text` is its message */
    BTZ_LLM_TIMEOUT,  /* the deadline passed, or the last attempt timed out */
    BTZ_LLM_CANCELLED
};

const char *btz_llm_status_name(enum btz_llm_status status); /* "ok", "failed", ... */

/* How one attempt went, as the driver saw it. */
enum btz_llm_wire {
    BTZ_LLM_WIRE_DONE, /* a whole response; status, retry_after and body are set */
    BTZ_LLM_WIRE_NO_CONNECTION,
    BTZ_LLM_WIRE_BROKEN, /* the connection ended, or what came was not HTTP */
    BTZ_LLM_WIRE_TIMEOUT,
    BTZ_LLM_WIRE_TOO_LARGE, /* the response passed the driver's limit */
    BTZ_LLM_WIRE_REFUSED    /* the driver could not build or start the request: not tried again */
};

struct btz_llm_attempt {
    enum btz_llm_wire wire;
    int http_status;
    struct btz_str retry_after; /* header value; empty = none */
    struct btz_str body;
    size_t inputs;       /* embeddings: texts that were sent */
    struct btz_str text; /* what the driver knows of a failure, for people */
};

/* An order of the machine. */
enum btz_llm_order_kind {
    BTZ_LLM_ORDER_START, /* begin attempt number `attempt`, at most `timeout_us` long */
    BTZ_LLM_ORDER_END    /* the ask is over (deadline passed while it waited): see `status` */
};

struct btz_llm_order {
    enum btz_llm_order_kind kind;
    struct btz_llm_ask *ask; /* for END: gone, only `user` counts */
    void *user;
    uint32_t attempt; /* START: from 1; END: attempts made */
    int64_t timeout_us;
    enum btz_llm_status status;
    const char *text; /* END: for people, until the next call */
};

/* What a report led to. */
struct btz_llm_verdict {
    bool ended;                 /* false: it will be tried again */
    enum btz_llm_status status; /* if ended */
    uint32_t attempts;          /* made so far */
    int64_t retry_at_us;        /* if not ended */
    const char *text;           /* for people, until the next call; "" for OK */
};

struct btz_llm_endpoint *btz_llm_endpoint_new(const struct btz_llm_endpoint_options *options);
void btz_llm_endpoint_free(struct btz_llm_endpoint *endpoint); /* NULL is allowed */

/* Adds an ask; `user` comes back with its orders. `deadline_us` 0 = none. The handle is good until
 * the ask ends (END order, ended verdict, or cancel). */
struct btz_llm_ask *btz_llm_endpoint_add(struct btz_llm_endpoint *endpoint, void *user,
                                         int64_t deadline_us);

/* The next order: true, or false when there is nothing to do now; then *wake_us is the time to ask
 * again (0 = not before something is added or reported). */
bool btz_llm_endpoint_next(struct btz_llm_endpoint *endpoint, int64_t now_us,
                           struct btz_llm_order *out, int64_t *wake_us);

/* Tells how the running attempt of `ask` went. */
void btz_llm_endpoint_report(struct btz_llm_endpoint *endpoint, struct btz_llm_ask *ask,
                             const struct btz_llm_attempt *attempt, int64_t now_us, int64_t wall_us,
                             struct btz_llm_verdict *out);

/* Ends an ask at once, whether it waits or runs (the driver breaks a running attempt off and does
 * not report it). Returns the attempts it had made. */
uint32_t btz_llm_endpoint_cancel(struct btz_llm_endpoint *endpoint, struct btz_llm_ask *ask);

/* Asks that have not ended, and those of them whose attempt is running. */
size_t btz_llm_endpoint_count(const struct btz_llm_endpoint *endpoint);
size_t btz_llm_endpoint_running(const struct btz_llm_endpoint *endpoint);

/* Reads a Retry-After value into microseconds from now, 0 for a date that has passed; false if it
 * is neither seconds nor one of the three HTTP-date forms (RFC 9110 section 5.6.7). */
bool btz_llm_retry_after(struct btz_str value, int64_t wall_us, int64_t *out);

#endif
