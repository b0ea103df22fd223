/* Sockets and the loop: whole requests from the listener go to the endpoint, what the endpoint says
 * goes back, and its events go to the files that own them.
 *
 *   conformance_fixture [PORT]      0 or none = a free one
 *
 * The first line on standard output is the URL. Every event that reaches an owner is a line after
 * it ("call test_simple_text 2026-07-28"), so that a test can tell what a suite really called. */
#include "fixture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"

#define PATH "/mcp"

const struct btz_json *fixture_parse(struct btz_arena *arena, const char *text)
{
    const struct btz_json *value;
    struct btz_err err;

    if (btz_json_parse(arena, btz_str_of(text), NULL, &value, &err)) {
        btz_panic("fixture: %s in %.80s", err.msg, text);
    }
    return value;
}

struct btz_json *fixture_text(struct btz_arena *arena, struct btz_str text, bool is_error)
{
    struct btz_json *result = btz_json_new_object(arena);
    struct btz_json *content = btz_json_new_array(arena);
    struct btz_json *block = btz_json_new_object(arena);

    btz_json_set_strz(arena, block, "type", "text");
    btz_json_set_str(arena, block, "text", text);
    btz_json_push(arena, content, block);
    btz_json_setz(arena, result, "content", content);
    if (is_error) {
        btz_json_set_bool(arena, result, "isError", true);
    }
    return result;
}

/* What a reply may meet when its client went away. */
static bool is_gone(int rc)
{
    return rc == BTZ_ECANCELLED || rc == BTZ_ENOTFOUND;
}

void fixture_reply(struct fixture *f, uint64_t handle, uint64_t token,
                   const struct btz_json *result)
{
    struct btz_mcp_server *server = btz_mcp_endpoint_server(f->endpoint, handle);
    struct btz_err err;
    int rc;

    if (!server) {
        return;
    }
    rc = btz_mcp_server_reply_result(server, token, result, &err);
    if (rc && !is_gone(rc)) {
        btz_panic("fixture: a result was refused: %s", err.msg);
    }
}

void fixture_refuse(struct fixture *f, uint64_t handle, uint64_t token, struct btz_str message,
                    const struct btz_json *data)
{
    struct btz_mcp_server *server = btz_mcp_endpoint_server(f->endpoint, handle);
    int rc;

    if (!server) {
        return;
    }
    rc = btz_mcp_server_reply_error(server, token, BTZ_MCP_E_PARAMS, message, data);
    if (rc && !is_gone(rc)) {
        btz_panic("fixture: an error was refused: %d", rc);
    }
}

struct fixture_job *fixture_job_new(struct fixture *f, uint64_t handle, uint64_t token,
                                    enum fixture_work work)
{
    for (size_t i = 0; i < FIXTURE_JOBS; i++) {
        struct fixture_job *job = &f->jobs[i];

        if (!job->id) {
            *job = (struct fixture_job){
                .id = ++f->last_job, .handle = handle, .token = token, .work = work};
            return job;
        }
    }
    fixture_reply(f, handle, token, fixture_text(f->work, BTZ_STR("too many calls"), true));
    return NULL;
}

void fixture_job_wait(struct fixture *f, const struct fixture_job *job, int64_t milliseconds)
{
    (void)btz_net_timer_start(f->loop, job->id, btz_net_loop_now(f->loop) + milliseconds * 1000);
}

static void job_cancel(struct fixture *f, uint64_t handle, uint64_t token)
{
    for (size_t i = 0; i < FIXTURE_JOBS; i++) {
        if (f->jobs[i].id && f->jobs[i].handle == handle && f->jobs[i].token == token) {
            f->jobs[i].id = 0;
        }
    }
}

static void log_event(const char *what, const struct btz_mcp_server_event *event)
{
    printf("%s %.*s %s\n", what, BTZ_FMT(event->name), btz_mcp_revision_text(event->revision));
    (void)fflush(stdout);
}

static void serve_event(struct fixture *f, uint64_t handle,
                        const struct btz_mcp_server_event *event)
{
    btz_arena_reset(f->work);
    switch (event->kind) {
    case BTZ_MCP_SERVER_CALL:
        log_event("call", event);
        fixture_call(f, handle, event);
        break;
    case BTZ_MCP_SERVER_READ:
        log_event("read", event);
        fixture_read(f, handle, event);
        break;
    case BTZ_MCP_SERVER_PROMPT:
        log_event("prompt", event);
        fixture_prompt(f, handle, event);
        break;
    case BTZ_MCP_SERVER_COMPLETE:
        log_event("complete", event);
        fixture_complete(f, handle, event);
        break;
    case BTZ_MCP_SERVER_ANSWER:
        fixture_answer(f, handle, event);
        break;
    case BTZ_MCP_SERVER_CANCELLED:
        job_cancel(f, handle, event->token);
        break;
    case BTZ_MCP_SERVER_ROOTS_CHANGED:
        break;
    }
}

/* An exchange whose connection is gone is told to the endpoint by the CLOSED event, or here. */
static void send_out(struct fixture *f, const struct btz_mcp_endpoint_out *out)
{
    int rc = BTZ_OK;

    switch (out->kind) {
    case BTZ_MCP_OUT_RESPONSE:
        rc = btz_net_http_server_respond(f->http, out->exchange, out->status, out->fields,
                                         out->field_count, out->bytes);
        break;
    case BTZ_MCP_OUT_STREAM:
        rc = btz_net_http_server_stream(f->http, out->exchange, out->status, out->fields,
                                        out->field_count);
        break;
    case BTZ_MCP_OUT_STREAM_DATA:
        rc = btz_net_http_server_chunk(f->http, out->exchange, out->bytes);
        break;
    case BTZ_MCP_OUT_STREAM_END:
        rc = btz_net_http_server_end(f->http, out->exchange);
        break;
    case BTZ_MCP_OUT_ABORT:
        btz_net_http_server_abort(f->http, out->exchange);
        break;
    }
    if (rc == BTZ_EINVAL || rc == BTZ_ESTATE) {
        btz_panic("fixture: the endpoint said what HTTP does not allow");
    }
    if (rc) {
        btz_mcp_endpoint_closed(f->endpoint, out->exchange, btz_net_loop_now(f->loop));
    }
}

static void take_request(struct fixture *f, const struct btz_net_http_server_event *event)
{
    struct btz_str path = event->head->target;
    struct btz_str rest = path;

    (void)btz_str_cut(&rest, '?', &path);
    if (!btz_str_is(path, PATH)) {
        int rc = btz_net_http_server_respond(f->http, event->exchange, 404, NULL, 0, BTZ_STR_NONE);

        (void)rc; /* gone is as good */
        return;
    }
    if (btz_mcp_endpoint_request(f->endpoint, event->exchange, event->head, event->body,
                                 BTZ_STR_NONE, btz_net_loop_now(f->loop))) {
        btz_net_http_server_abort(f->http, event->exchange);
    }
}

/* Until nothing moves without the sockets or the clock. */
static void pump(struct fixture *f)
{
    struct btz_net_http_server_event request;
    struct btz_mcp_server_event event;
    struct btz_mcp_endpoint_out out;
    uint64_t number;
    bool moved;

    do {
        moved = false;
        while (btz_net_http_server_next(f->http, &request)) {
            moved = true;
            if (request.kind == BTZ_NET_HTTP_REQUEST) {
                take_request(f, &request);
            } else {
                btz_mcp_endpoint_closed(f->endpoint, request.exchange, btz_net_loop_now(f->loop));
            }
        }
        while (btz_mcp_endpoint_next_event(f->endpoint, &number, &event)) {
            moved = true;
            serve_event(f, number, &event);
        }
        while (btz_net_timer_next(f->loop, &number)) {
            moved = true;
            btz_arena_reset(f->work);
            for (size_t i = 0; i < FIXTURE_JOBS; i++) {
                if (f->jobs[i].id == number) {
                    fixture_step(f, &f->jobs[i]);
                }
            }
        }
        while (btz_mcp_endpoint_next_out(f->endpoint, &out)) {
            moved = true;
            send_out(f, &out);
        }
    } while (moved);
}

static int run(struct fixture *f)
{
    while (!btz_net_loop_interrupted(f->loop)) {
        int64_t due;

        btz_mcp_endpoint_tick(f->endpoint, btz_net_loop_now(f->loop));
        pump(f);
        due = btz_mcp_endpoint_due(f->endpoint);
        if (due >= 0) {
            btz_net_loop_wake_at(f->loop, due);
        }
        btz_net_loop_wait(f->loop, -1);
    }
    btz_mcp_endpoint_end_streams(f->endpoint);
    pump(f);
    return 0;
}

static void start(struct fixture *f, uint16_t port)
{
    char secret[32];
    struct btz_mcp_endpoint_options options = {
        .server = {.ttl_ms = 1000, .logging = true, .completions = true, .subscribe = true},
        .retry_ms = 200,
        .id_secret = {secret, sizeof(secret)},
    };
    struct btz_net_http_server_options sockets = {.port = port};
    struct btz_err err;

    if (getrandom(secret, sizeof(secret), 0) != sizeof(secret) ||
        getrandom(f->key, sizeof(f->key), 0) != sizeof(f->key)) {
        btz_panic("fixture: no random numbers");
    }
    f->fixed = btz_arena_new();
    f->work = btz_arena_new();
    fixture_catalogue(f);
    if (btz_mcp_endpoint_new(&options, &f->catalogue, &f->endpoint, &err) ||
        btz_net_loop_new(&f->loop, &err) || btz_net_loop_catch_signals(f->loop, &err) ||
        btz_net_http_server_new(f->loop, &sockets, &f->http, &err)) {
        btz_panic("fixture: %s", err.msg);
    }
    printf("http://127.0.0.1:%u" PATH "\n", btz_net_http_server_port(f->http));
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    static struct fixture f;
    int64_t port = 0;
    int status;

    if (argc > 2 || (argc == 2 && (btz_str_int64(btz_str_of(argv[1]), &port) || port < 0 ||
                                   port > UINT16_MAX))) {
        fprintf(stderr, "usage: conformance_fixture [PORT]\n");
        return 2;
    }
    start(&f, (uint16_t)port);
    status = run(&f);
    btz_net_http_server_free(f.http);
    btz_mcp_endpoint_free(f.endpoint);
    btz_net_loop_free(f.loop);
    btz_arena_free(f.work);
    btz_arena_free(f.fixed);
    return status;
}
