#include "mcp/http_session_int.h"

#include <stdlib.h>

enum { ID_MAX = 1024 };

const char *btz_mcp_http_method_name(enum btz_mcp_http_method method)
{
    static const char *const names[] = {"POST", "GET", "DELETE"};

    return names[method];
}

int btz_mcp_http_check_request(struct btz_str host, struct btz_str target,
                               struct btz_str authorization)
{
    const struct btz_http_field fields[] = {{BTZ_STR("Host"), host},
                                            {BTZ_STR("Authorization"), authorization}};
    struct btz_buf scrap;
    int rc;

    btz_buf_init(&scrap, (size_t)64 * 1024);
    rc = btz_http_write_request(&scrap, BTZ_STR("POST"), target, fields, authorization.len ? 2 : 1,
                                BTZ_STR_NONE);
    btz_buf_fini(&scrap);
    return rc;
}

static int check_options(const struct btz_mcp_http_session_options *o, struct btz_err *err)
{
    if (btz_mcp_http_check_request(o->host, BTZ_STR("/"), BTZ_STR_NONE) != BTZ_OK) {
        return btz_err_set(err, BTZ_EINVAL, "an HTTP session needs a host: name or name:port");
    }
    if (o->target.len && btz_mcp_http_check_request(o->host, o->target, BTZ_STR_NONE) != BTZ_OK) {
        return btz_err_set(err, BTZ_EINVAL,
                           "the target of an HTTP session must be a path that begins with '/'");
    }
    if (btz_mcp_http_check_request(o->host, BTZ_STR("/"), o->authorization) != BTZ_OK) {
        return btz_err_set(err, BTZ_EINVAL,
                           "the Authorization value cannot stand in a header field");
    }
    if (o->transport == BTZ_MCP_HTTP_SSE && o->client.mode != BTZ_MCP_CLIENT_LEGACY) {
        return btz_err_set(err, BTZ_EINVAL,
                           "the HTTP+SSE transport is for legacy clients (mode LEGACY)");
    }
    if (o->retry_ms < 0 || o->max_retry_ms < 0 || o->stream_wait_ms < 0 || o->now_us < 0) {
        return btz_err_set(err, BTZ_EINVAL, "times of an HTTP session must not be negative");
    }
    return BTZ_OK;
}

static void set_defaults(struct btz_mcp_http_session_options *o)
{
    if (!o->target.len) {
        o->target = BTZ_STR("/mcp");
    }
    if (!o->max_body) {
        o->max_body = (size_t)16 * 1024 * 1024;
    }
    if (!o->max_stream) {
        o->max_stream = (uint64_t)64 * 1024 * 1024;
    }
    if (!o->max_exchanges) {
        o->max_exchanges = 512;
    }
    if (!o->max_resumes) {
        o->max_resumes = 5;
    }
    if (!o->retry_ms) {
        o->retry_ms = 1000;
    }
    if (!o->max_retry_ms) {
        o->max_retry_ms = 60000;
    }
}

int btz_mcp_http_session_new(const struct btz_mcp_http_session_options *options,
                             struct btz_mcp_http_session **out, struct btz_err *err)
{
    struct btz_mcp_http_session *session;
    struct btz_mcp_client_options client = options->client;
    struct btz_mcp_client *machine;
    int rc = check_options(options, err);

    client.http = true;
    if (rc || (rc = btz_mcp_client_new(&client, &machine, err)) != BTZ_OK) {
        return rc;
    }
    session = calloc(1, sizeof(*session));
    if (!session) {
        btz_panic("out of memory (HTTP session)");
    }
    session->arena = btz_arena_new();
    session->out = btz_arena_new();
    session->client = machine;
    session->options = *options;
    set_defaults(&session->options);
    session->options.host = btz_arena_dup(session->arena, session->options.host);
    session->options.target = btz_arena_dup(session->arena, session->options.target);
    btz_buf_init(&session->authorization, (size_t)64 * 1024);
    btz_buf_add_str(&session->authorization, options->authorization);
    session->challenge_arena = btz_arena_new();
    session->now_us = options->now_us;
    session->next_id = 1;
    session->old = options->transport == BTZ_MCP_HTTP_SSE;
    btz_buf_init(&session->session_id, ID_MAX);
    btz_buf_init(&session->endpoint, 8192);
    btz_buf_init(&session->initialize, session->options.max_body);
    *out = session;
    return BTZ_OK;
}

static void free_exchange(struct exchange *exchange)
{
    btz_buf_fini(&exchange->body);
    btz_buf_fini(&exchange->last_id);
    btz_sse_parser_free(exchange->events);
    btz_arena_free(exchange->arena);
}

void btz_mcp_http_session_free(struct btz_mcp_http_session *session)
{
    if (!session) {
        return;
    }
    while (session->exchanges) {
        struct exchange *exchange = session->exchanges;

        session->exchanges = exchange->next;
        free_exchange(exchange);
    }
    while (session->closings) {
        struct closing *closing = session->closings;

        session->closings = closing->next;
        free(closing);
    }
    btz_buf_fini(&session->authorization);
    btz_arena_free(session->challenge_arena);
    btz_buf_fini(&session->session_id);
    btz_buf_fini(&session->endpoint);
    btz_buf_fini(&session->initialize);
    btz_mcp_client_free(session->client);
    btz_arena_free(session->out);
    btz_arena_free(session->arena);
    free(session);
}

struct btz_mcp_client *btz_mcp_http_session_client(struct btz_mcp_http_session *session)
{
    return session->client;
}

bool btz_mcp_http_is_modern(const struct btz_mcp_http_session *session)
{
    return btz_mcp_era_of(session->client->revision) == BTZ_MCP_MODERN;
}

struct exchange *btz_mcp_http_exchange_new(struct btz_mcp_http_session *session,
                                           enum exchange_role role)
{
    struct btz_arena *arena = btz_arena_new();
    struct exchange *exchange = BTZ_NEW(arena, struct exchange);
    struct exchange **link = &session->exchanges;

    exchange->arena = arena;
    exchange->id = session->next_id++;
    exchange->role = role;
    exchange->state = EXCHANGE_QUEUED;
    exchange->retry_ms = -1;
    btz_buf_init(&exchange->body, session->options.max_body);
    btz_buf_init(&exchange->last_id, ID_MAX);
    while (*link) {
        link = &(*link)->next;
    }
    *link = exchange;
    session->exchange_count++;
    return exchange;
}

/* The owner knows it and has not told its end. */
static bool is_under_way(const struct exchange *exchange)
{
    return !exchange->ended &&
           (exchange->state == EXCHANGE_SENT || exchange->state == EXCHANGE_JSON ||
            exchange->state == EXCHANGE_EVENTS || exchange->state == EXCHANGE_IGNORED);
}

static void ask_to_close(struct btz_mcp_http_session *session, uint64_t id)
{
    struct closing *closing = malloc(sizeof(*closing));
    struct closing **link = &session->closings;

    if (!closing) {
        btz_panic("out of memory (closing)");
    }
    *closing = (struct closing){.id = id};
    while (*link) {
        link = &(*link)->next;
    }
    *link = closing;
}

void btz_mcp_http_exchange_drop(struct btz_mcp_http_session *session, struct exchange *exchange,
                                bool tell)
{
    if (tell && is_under_way(exchange)) {
        ask_to_close(session, exchange->id);
    }
    if (session->gate == exchange->id) {
        session->gate = 0;
    }
    if (session->held_for == exchange->id) {
        session->held_for = 0;
    }
    exchange->state = EXCHANGE_GONE;
}

void btz_mcp_http_exchange_again(struct btz_mcp_http_session *session, struct exchange *exchange)
{
    if (is_under_way(exchange)) {
        ask_to_close(session, exchange->id);
    }
    exchange->id = session->next_id++;
    exchange->state = EXCHANGE_QUEUED;
    exchange->status = 0;
    exchange->ended = false;
    exchange->answered = false;
    btz_buf_reset(&exchange->body);
    btz_sse_parser_free(exchange->events);
    exchange->events = NULL;
}

struct exchange *btz_mcp_http_find_rpc(struct btz_mcp_http_session *session, uint64_t rpc)
{
    for (struct exchange *e = session->exchanges; e; e = e->next) {
        if (e->rpc == rpc && e->state != EXCHANGE_GONE) {
            return e;
        }
    }
    return NULL;
}

static void give_all_up(struct btz_mcp_http_session *session)
{
    session->ended = true;
    session->gate = 0;
    for (struct exchange *e = session->exchanges; e; e = e->next) {
        if (e->state != EXCHANGE_GONE && e->role != ROLE_DELETE) {
            btz_mcp_http_exchange_drop(session, e, true);
        }
    }
}

void btz_mcp_http_fatal(struct btz_mcp_http_session *session, enum btz_mcp_fault fault,
                        const char *text)
{
    struct btz_mcp_client *client = session->client;

    if (client->state == CLIENT_READY) {
        btz_mcp_client_alarm(client, 0, text);
        btz_mcp_client_close(client);
    } else if (client->state != CLIENT_DEAD) {
        struct btz_arena *arena = btz_mcp_pool_take(&client->pool);

        btz_mcp_client_dead(client,
                            (struct btz_mcp_client_event){
                                .fault = fault, .message = btz_arena_dup(arena, btz_str_of(text))},
                            arena);
    }
    give_all_up(session);
}

/* Removes what is over. Exchanges are only marked while something works on them. */
void btz_mcp_http_reap(struct btz_mcp_http_session *session)
{
    struct exchange **link = &session->exchanges;

    if (session->relisting) {
        btz_mcp_http_relisted(session);
    }
    if (session->client->state == CLIENT_DEAD && !session->ended) {
        give_all_up(session);
    }
    while (*link) {
        struct exchange *exchange = *link;

        if (exchange->state != EXCHANGE_GONE) {
            link = &exchange->next;
            continue;
        }
        *link = exchange->next;
        session->exchange_count--;
        free_exchange(exchange);
    }
}

int btz_mcp_http_session_start(struct btz_mcp_http_session *session)
{
    int rc;

    if (session->started || session->closed) {
        return BTZ_ESTATE;
    }
    rc = btz_mcp_client_start(session->client);
    if (rc) {
        return rc;
    }
    session->started = true;
    if (session->old) {
        btz_mcp_http_open_stream(session);
    }
    return BTZ_OK;
}

bool btz_mcp_http_session_next_request(struct btz_mcp_http_session *session,
                                       struct btz_mcp_http_exchange *exchange)
{
    btz_mcp_http_take_out(session);
    btz_mcp_http_reap(session);
    for (struct exchange *e = session->exchanges; e; e = e->next) {
        if (btz_mcp_http_may_send(session, e)) {
            btz_mcp_http_describe(session, e, exchange);
            e->state = EXCHANGE_SENT;
            e->generation = session->generation;
            e->authorized = session->authorized;
            session->stats.exchanges++;
            return true;
        }
    }
    return false;
}

bool btz_mcp_http_session_next_close(struct btz_mcp_http_session *session, uint64_t *exchange)
{
    struct closing *closing;

    btz_mcp_http_take_out(session);
    btz_mcp_http_reap(session);
    closing = session->closings;
    if (!closing) {
        return false;
    }
    *exchange = closing->id;
    session->closings = closing->next;
    session->stats.closed_streams++;
    free(closing);
    return true;
}

void btz_mcp_http_session_tick(struct btz_mcp_http_session *session, int64_t now_us)
{
    if (now_us > session->now_us) {
        session->now_us = now_us;
    }
    if (session->held_until <= session->now_us) {
        session->held_for = 0;
    }
    for (struct exchange *e = session->exchanges; e; e = e->next) {
        if (e->state == EXCHANGE_PAUSED && e->not_before <= session->now_us) {
            e->state = EXCHANGE_QUEUED;
        }
    }
}

int64_t btz_mcp_http_session_wake_at_us(const struct btz_mcp_http_session *session,
                                        bool *for_answer)
{
    int64_t soonest = session->held_for ? session->held_until : -1;
    bool answer = false;

    for (const struct exchange *e = session->exchanges; e; e = e->next) {
        answer |= session->held_for && e->role == ROLE_REQUEST && e->state == EXCHANGE_QUEUED;
        if (e->state != EXCHANGE_PAUSED) {
            continue;
        }
        answer |= e->role == ROLE_REQUEST && !e->listen;
        if (soonest < 0 || e->not_before < soonest) {
            soonest = e->not_before;
        }
    }
    if (for_answer) {
        *for_answer = answer;
    }
    return soonest;
}

void btz_mcp_http_session_close(struct btz_mcp_http_session *session)
{
    bool legacy = !btz_mcp_http_is_modern(session);

    if (session->closed) {
        return;
    }
    session->closed = true;
    btz_mcp_client_close(session->client);
    give_all_up(session);
    if (legacy && !session->old && session->session_id.len) {
        btz_mcp_http_exchange_new(session, ROLE_DELETE);
    }
    btz_mcp_http_reap(session);
}

/* Open without anybody waiting for it. */
static bool is_at_rest(const struct exchange *e)
{
    if (e->role == ROLE_STREAM) {
        return e->state != EXCHANGE_QUEUED;
    }
    if (e->listen && e->state == EXCHANGE_EVENTS) {
        return true;
    }
    return e->role == ROLE_REQUEST && e->answered &&
           (e->state == EXCHANGE_EVENTS || e->state == EXCHANGE_IGNORED);
}

bool btz_mcp_http_session_settled(struct btz_mcp_http_session *session)
{
    btz_mcp_http_take_out(session);
    btz_mcp_http_reap(session);
    if (session->closings) {
        return false;
    }
    for (const struct exchange *e = session->exchanges; e; e = e->next) {
        if (!is_at_rest(e)) {
            return false;
        }
    }
    return true;
}

unsigned btz_mcp_http_session_take_flags(struct btz_mcp_http_session *session)
{
    unsigned flags = session->flags;

    session->flags = 0;
    return flags;
}

struct btz_mcp_http_session_stats
btz_mcp_http_session_stats(const struct btz_mcp_http_session *session)
{
    return session->stats;
}

struct btz_str btz_mcp_http_session_id(const struct btz_mcp_http_session *session)
{
    return session->session_id.len ? btz_buf_view(&session->session_id) : BTZ_STR_NONE;
}
