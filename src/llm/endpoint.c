/* Asks wait in two lists in order of arrival, tried ones before fresh ones. One binary heap holds
 * whatever must happen at a time: the next attempt of a delayed ask, the deadline of a listed one.
 * A running ask is in a list of its own; its attempt carries the time-out. */
#include "llm/endpoint.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/rng.h"
#include "llm/embeddings.h"

enum { TEXT_MAX = 768, REASON_MAX = 256, NOT_IN_HEAP = -1 };

enum ask_state { LISTED, DELAYED, RUNNING };

struct ask_list {
    struct btz_llm_ask *first, *last;
};

struct btz_llm_ask {
    void *user;
    enum ask_state state;
    uint32_t attempts;
    int64_t deadline_us; /* 0 = none */
    int64_t due_us;      /* key in the heap */
    ptrdiff_t heap_at;
    struct ask_list *list; /* NULL while DELAYED */
    struct btz_llm_ask *prev, *next;
    char reason[REASON_MAX]; /* of the last failed attempt */
};

struct btz_llm_endpoint {
    struct btz_llm_endpoint_options options;
    struct btz_rng rng;
    struct btz_arena *arena; /* for looking at bodies; reset by each report */
    struct ask_list tried, fresh, under_way;
    struct btz_llm_ask **heap;
    size_t heap_count, heap_cap;
    size_t count, running;
    int64_t paused_until_us;
    char text[TEXT_MAX];
};

const char *btz_llm_status_name(enum btz_llm_status status)
{
    static const char *const names[] = {"ok", "failed", "rejected", "timeout", "cancelled"};

    return (size_t)status < sizeof(names) / sizeof(names[0]) ? names[status] : "unknown";
}

struct btz_llm_endpoint *btz_llm_endpoint_new(const struct btz_llm_endpoint_options *options)
{
    struct btz_llm_endpoint *e = calloc(1, sizeof(*e));
    struct btz_llm_endpoint_options *o;

    if (!e) {
        btz_panic("out of memory");
    }
    e->options = *options;
    o = &e->options;
    o->in_flight = o->in_flight ? o->in_flight : 8;
    o->max_attempts = o->max_attempts ? o->max_attempts : 6;
    o->attempt_timeout_us = o->attempt_timeout_us ? o->attempt_timeout_us : 120000000;
    o->base_delay_us = o->base_delay_us ? o->base_delay_us : 500000;
    o->max_delay_us = o->max_delay_us ? o->max_delay_us : 30000000;
    o->max_retry_after_us = o->max_retry_after_us ? o->max_retry_after_us : 300000000;
    e->rng = btz_rng_of(o->seed);
    e->arena = btz_arena_new();
    return e;
}

static void list_add(struct ask_list *list, struct btz_llm_ask *ask)
{
    ask->list = list;
    ask->next = NULL;
    ask->prev = list->last;
    *(list->last ? &list->last->next : &list->first) = ask;
    list->last = ask;
}

static void list_remove(struct btz_llm_ask *ask)
{
    *(ask->prev ? &ask->prev->next : &ask->list->first) = ask->next;
    *(ask->next ? &ask->next->prev : &ask->list->last) = ask->prev;
    ask->list = NULL;
}

static void heap_put(struct btz_llm_endpoint *e, size_t at, struct btz_llm_ask *ask)
{
    e->heap[at] = ask;
    ask->heap_at = (ptrdiff_t)at;
}

/* Lets `ask` sink or rise from position `at` to where it belongs. */
static void heap_settle(struct btz_llm_endpoint *e, size_t at, struct btz_llm_ask *ask)
{
    while (at > 0 && e->heap[(at - 1) / 2]->due_us > ask->due_us) {
        heap_put(e, at, e->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (;;) {
        size_t child = 2 * at + 1;

        if (child + 1 < e->heap_count && e->heap[child + 1]->due_us < e->heap[child]->due_us) {
            child++;
        }
        if (child >= e->heap_count || e->heap[child]->due_us >= ask->due_us) {
            break;
        }
        heap_put(e, at, e->heap[child]);
        at = child;
    }
    heap_put(e, at, ask);
}

static void heap_add(struct btz_llm_endpoint *e, struct btz_llm_ask *ask, int64_t due_us)
{
    if (e->heap_count == e->heap_cap) {
        e->heap_cap = e->heap_cap ? 2 * e->heap_cap : 64;
        e->heap = reallocarray(e->heap, e->heap_cap, sizeof(struct btz_llm_ask *));
        if (!e->heap) {
            btz_panic("out of memory");
        }
    }
    ask->due_us = due_us;
    heap_settle(e, e->heap_count++, ask);
}

static void heap_remove(struct btz_llm_endpoint *e, struct btz_llm_ask *ask)
{
    struct btz_llm_ask *last;
    size_t at = (size_t)ask->heap_at;

    if (ask->heap_at == NOT_IN_HEAP) {
        return;
    }
    ask->heap_at = NOT_IN_HEAP;
    last = e->heap[--e->heap_count];
    if (last != ask) {
        heap_settle(e, at, last);
    }
}

static void ask_list(struct btz_llm_endpoint *e, struct btz_llm_ask *ask)
{
    ask->state = LISTED;
    list_add(ask->attempts ? &e->tried : &e->fresh, ask);
    if (ask->deadline_us) {
        heap_add(e, ask, ask->deadline_us);
    }
}

/* Takes the ask from wherever it is and frees it. */
static void ask_end(struct btz_llm_endpoint *e, struct btz_llm_ask *ask)
{
    heap_remove(e, ask);
    if (ask->list) {
        list_remove(ask);
    }
    if (ask->state == RUNNING) {
        e->running--;
    }
    e->count--;
    free(ask);
}

static void list_end(struct btz_llm_endpoint *e, struct ask_list *list)
{
    while (list->first) {
        ask_end(e, list->first);
    }
}

void btz_llm_endpoint_free(struct btz_llm_endpoint *e)
{
    if (!e) {
        return;
    }
    list_end(e, &e->tried);
    list_end(e, &e->fresh);
    list_end(e, &e->under_way);
    while (e->heap_count) {
        ask_end(e, e->heap[0]);
    }
    btz_arena_free(e->arena);
    free(e->heap);
    free(e);
}

struct btz_llm_ask *btz_llm_endpoint_add(struct btz_llm_endpoint *e, void *user,
                                         int64_t deadline_us)
{
    struct btz_llm_ask *ask = calloc(1, sizeof(*ask));

    if (!ask) {
        btz_panic("out of memory");
    }
    ask->user = user;
    ask->deadline_us = deadline_us;
    ask->heap_at = NOT_IN_HEAP;
    e->count++;
    ask_list(e, ask);
    return ask;
}

/* The first `max` bytes of `s` at most, not ending inside a UTF-8 character. */
static struct btz_str head_of(struct btz_str s, size_t max)
{
    if (s.len <= max) {
        return s;
    }
    while (max > 0 && ((unsigned char)s.ptr[max] & 0xc0) == 0x80) {
        max--;
    }
    return btz_str_sub(s, 0, max);
}

/* Fills e->text. Text of others ends up on terminals: control characters become spaces. */
static const char *say(struct btz_llm_endpoint *e, const char *fmt, ...) BTZ_PRINTF(2, 3);

static const char *say(struct btz_llm_endpoint *e, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(e->text, sizeof(e->text), fmt, args);
    va_end(args);
    for (char *c = e->text; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f) {
            *c = ' ';
        }
    }
    return e->text;
}

static bool order_due(struct btz_llm_endpoint *e, int64_t now_us, struct btz_llm_order *out)
{
    while (e->heap_count && e->heap[0]->due_us <= now_us) {
        struct btz_llm_ask *ask = e->heap[0];

        if (ask->state == DELAYED) {
            heap_remove(e, ask);
            ask_list(e, ask);
            continue;
        }
        *out = (struct btz_llm_order){
            .kind = BTZ_LLM_ORDER_END,
            .user = ask->user,
            .attempt = ask->attempts,
            .status = BTZ_LLM_TIMEOUT,
            .text = ask->attempts ? say(e, "the deadline passed after %u attempts; the last: %s",
                                        ask->attempts, ask->reason)
                                  : say(e, "the deadline passed before the request could be sent"),
        };
        ask_end(e, ask);
        return true;
    }
    return false;
}

bool btz_llm_endpoint_next(struct btz_llm_endpoint *e, int64_t now_us, struct btz_llm_order *out,
                           int64_t *wake_us)
{
    struct btz_llm_ask *ask;
    bool room;

    if (order_due(e, now_us, out)) {
        return true;
    }
    ask = e->tried.first ? e->tried.first : e->fresh.first;
    room = ask && e->running < e->options.in_flight;
    if (room && now_us >= e->paused_until_us) {
        int64_t timeout = e->options.attempt_timeout_us;

        if (ask->deadline_us && ask->deadline_us - now_us < timeout) {
            timeout = ask->deadline_us - now_us;
        }
        heap_remove(e, ask);
        list_remove(ask);
        list_add(&e->under_way, ask);
        ask->state = RUNNING;
        ask->attempts++;
        e->running++;
        *out = (struct btz_llm_order){.kind = BTZ_LLM_ORDER_START,
                                      .ask = ask,
                                      .user = ask->user,
                                      .attempt = ask->attempts,
                                      .timeout_us = timeout,
                                      .text = ""};
        return true;
    }
    *wake_us = e->heap_count ? e->heap[0]->due_us : 0;
    if (room && (*wake_us == 0 || e->paused_until_us < *wake_us)) {
        *wake_us = e->paused_until_us;
    }
    return false;
}

enum judgement { GOOD, AGAIN, FAULT, TIMED_OUT, REFUSED };

/* A setting of ours that the provider does not like is a fault of the configuration: counted as a
 * rejection of content it would make every trial look contained. */
static bool is_about_settings(const struct btz_llm_provider_error *error)
{
    static const char *const settings[] = {
        "model", "temperature",     "top_p", "max_tokens", "max_completion_tokens",
        "seed",  "encoding_format",
    };

    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        if (btz_str_is(error->param, settings[i])) {
            return true;
        }
    }
    /* A conversation that outgrew the context is no judgement on its content. */
    return btz_str_is(error->code, "model_not_found") ||
           btz_str_is(error->code, "context_length_exceeded") ||
           btz_str_is(error->type, "exceed_context_size_error");
}

static enum judgement judge_error(struct btz_llm_endpoint *e, const struct btz_llm_attempt *a)
{
    struct btz_llm_provider_error error = {0};
    bool readable = btz_llm_provider_error_parse(e->arena, a->body, &error);
    struct btz_str message = head_of(error.message, 500);
    struct btz_str code = head_of(error.code, 64);

    (void)say(e, "HTTP %d%s%.*s%s%.*s", a->http_status, readable ? ": " : "", BTZ_FMT(message),
              code.len ? ", code " : "", BTZ_FMT(code));
    switch (a->http_status) {
    case 429:
        return btz_str_is(error.type, "insufficient_quota") ||
                       btz_str_is(error.code, "insufficient_quota")
                   ? FAULT
                   : AGAIN;
    case 500:
    case 502:
    case 503:
    case 504:
        return AGAIN;
    case 400:
    case 422:
        return readable && !is_about_settings(&error) ? REFUSED : FAULT;
    default:
        return FAULT;
    }
}

/* Judges an attempt and puts the reason into e->text. */
static enum judgement judge(struct btz_llm_endpoint *e, const struct btz_llm_attempt *a)
{
    struct btz_str text = head_of(a->text, 500);
    struct btz_llm_embeddings vectors;
    struct btz_llm_reply reply;
    struct btz_err err;
    int rc;

    switch (a->wire) {
    case BTZ_LLM_WIRE_NO_CONNECTION:
        (void)say(e, "no connection: %.*s", BTZ_FMT(text));
        return AGAIN;
    case BTZ_LLM_WIRE_BROKEN:
        (void)say(e, "the exchange broke off: %.*s", BTZ_FMT(text));
        return AGAIN;
    case BTZ_LLM_WIRE_TIMEOUT:
        (void)say(e, "no reply in time: %.*s", BTZ_FMT(text));
        return TIMED_OUT;
    case BTZ_LLM_WIRE_TOO_LARGE:
    case BTZ_LLM_WIRE_REFUSED:
        (void)say(e, "%.*s", BTZ_FMT(text));
        return FAULT;
    case BTZ_LLM_WIRE_DONE:
        break;
    }
    if (a->http_status != 200) {
        return judge_error(e, a);
    }
    if (e->options.api == BTZ_LLM_EMBEDDINGS) {
        rc = btz_llm_embeddings_parse(e->arena, a->body, a->inputs, &e->options.limits, &vectors,
                                      &err);
    } else {
        rc = btz_llm_reply_parse(e->arena, a->body, &e->options.limits, &reply, &err);
    }
    if (rc) {
        (void)say(e, "%s", err.msg);
        return rc == BTZ_ELIMIT ? FAULT : AGAIN;
    }
    (void)say(e, "%s", "");
    return GOOD;
}

static int64_t backoff(struct btz_llm_endpoint *e, uint32_t attempts)
{
    int64_t delay = e->options.base_delay_us;

    for (uint32_t i = 1; i < attempts && delay < e->options.max_delay_us; i++) {
        delay *= 2;
    }
    delay = delay < e->options.max_delay_us ? delay : e->options.max_delay_us;
    return delay / 2 + (int64_t)btz_rng_below(&e->rng, (uint64_t)(delay - delay / 2) + 1);
}

/* When the next attempt may begin, or 0 if there will be none (then e->text says why). */
static int64_t retry_time(struct btz_llm_endpoint *e, const struct btz_llm_ask *ask,
                          const struct btz_llm_attempt *a, int64_t now_us, int64_t wall_us)
{
    int64_t wait = backoff(e, ask->attempts);
    int64_t asked = 0;

    if (a->wire == BTZ_LLM_WIRE_DONE && btz_llm_retry_after(a->retry_after, wall_us, &asked)) {
        if (asked > e->options.max_retry_after_us) {
            (void)say(e, "%s; the provider asks to wait %lld s, more than the %lld s allowed",
                      ask->reason, (long long)(asked / 1000000),
                      (long long)(e->options.max_retry_after_us / 1000000));
            return 0;
        }
        if (a->http_status == 429 || a->http_status == 503) {
            int64_t until = now_us + asked;

            e->paused_until_us = until > e->paused_until_us ? until : e->paused_until_us;
        }
        wait = asked > wait ? asked : wait;
    }
    if (ask->attempts >= e->options.max_attempts) {
        (void)say(e, "%s (after %u attempts)", ask->reason, ask->attempts);
        return 0;
    }
    if (ask->deadline_us && now_us + wait >= ask->deadline_us) {
        (void)say(e, "%s (after %u attempts; the next would begin after the deadline)", ask->reason,
                  ask->attempts);
        return 0;
    }
    return now_us + wait;
}

static void verdict_end(struct btz_llm_endpoint *e, struct btz_llm_ask *ask,
                        enum btz_llm_status status, struct btz_llm_verdict *out)
{
    *out = (struct btz_llm_verdict){
        .ended = true, .status = status, .attempts = ask->attempts, .text = e->text};
    ask_end(e, ask);
}

void btz_llm_endpoint_report(struct btz_llm_endpoint *e, struct btz_llm_ask *ask,
                             const struct btz_llm_attempt *attempt, int64_t now_us, int64_t wall_us,
                             struct btz_llm_verdict *out)
{
    struct btz_str reason;
    enum judgement judgement;
    int64_t retry_at;

    btz_arena_reset(e->arena);
    judgement = judge(e, attempt);
    switch (judgement) {
    case GOOD:
        verdict_end(e, ask, BTZ_LLM_OK, out);
        return;
    case REFUSED:
        verdict_end(e, ask, BTZ_LLM_REJECTED, out);
        return;
    case FAULT:
        verdict_end(e, ask, BTZ_LLM_FAILED, out);
        return;
    case AGAIN:
    case TIMED_OUT:
        break;
    }
    reason = head_of(btz_str_of(e->text), sizeof(ask->reason) - 1);
    (void)snprintf(ask->reason, sizeof(ask->reason), "%.*s", BTZ_FMT(reason));
    retry_at = retry_time(e, ask, attempt, now_us, wall_us);
    if (retry_at == 0) {
        verdict_end(e, ask, judgement == TIMED_OUT ? BTZ_LLM_TIMEOUT : BTZ_LLM_FAILED, out);
        return;
    }
    e->running--;
    list_remove(ask);
    ask->state = DELAYED;
    heap_add(e, ask, retry_at);
    *out = (struct btz_llm_verdict){
        .attempts = ask->attempts, .retry_at_us = retry_at, .text = e->text};
}

uint32_t btz_llm_endpoint_cancel(struct btz_llm_endpoint *e, struct btz_llm_ask *ask)
{
    uint32_t attempts = ask->attempts;

    ask_end(e, ask);
    return attempts;
}

size_t btz_llm_endpoint_count(const struct btz_llm_endpoint *e)
{
    return e->count;
}

size_t btz_llm_endpoint_running(const struct btz_llm_endpoint *e)
{
    return e->running;
}
