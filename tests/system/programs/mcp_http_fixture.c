/* A small MCP server over HTTP, for tests with other people's clients. All of the protocol is
 * src/mcp, all of the bytes src/net; this file runs the tools.
 *
 *   mcp_http_fixture [--legacy | --modern] [--old-sse]
 *
 * Prints its URL as one line and ends with its standard input. Some tools have the names that the
 * official conformance suite asks for. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "mcp/endpoint.h"
#include "net/http_server.h"

#define MAX_CALLS 256
#define MS INT64_C(1000)

#define PLAIN "\"inputSchema\":{\"type\":\"object\"}}"

static const char tools_text[] =
    "[{\"name\":\"echo\",\"description\":\"Gives back the text it got.\",\"inputSchema\":{\"type\":"
    "\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},\"required\":[\"text\"]}},"
    "{\"name\":\"region\",\"description\":\"Gives back a mirrored argument.\",\"inputSchema\":{"
    "\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\",\"x-mcp-header\":\"Region\"}"
    "}}},"
    "{\"name\":\"wait\",\"description\":\"Never answers.\"," PLAIN
    ",{\"name\":\"cancelled\",\"description\":\"How many calls were cancelled.\"," PLAIN
    ",{\"name\":\"roots\",\"description\":\"Asks a legacy client for its roots.\"," PLAIN
    ",{\"name\":\"test_simple_text\",\"description\":\"Text.\"," PLAIN
    ",{\"name\":\"test_error_handling\",\"description\":\"An error of the tool.\"," PLAIN
    ",{\"name\":\"test_tool_with_progress\",\"description\":\"Three steps.\"," PLAIN
    ",{\"name\":\"test_trigger_tool_change\",\"description\":\"Adds or removes a tool.\"," PLAIN
    ",{\"name\":\"test_logging_tool\",\"description\":\"Says something on the log.\"," PLAIN
    ",{\"name\":\"test_missing_capability\",\"description\":\"Needs sampling.\"," PLAIN
    ",{\"name\":\"test_streaming_elicitation\",\"description\":\"Asks the user.\"," PLAIN
    ",{\"name\":\"test_reconnection\",\"description\":\"Ends its stream before the answer.\"," PLAIN
    "]";
static const char late_tool_text[] = "{\"name\":\"late\",\"description\":\"Came later.\"," PLAIN;
static const char prompts_text[] = "[{\"name\":\"hello\",\"description\":\"A greeting.\"}]";
static const char sampling_text[] =
    "{\"s\":{\"method\":\"sampling/createMessage\",\"params\":{\"maxTokens\":10,\"messages\":[{"
    "\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"hi\"}}]}}}";
static const char elicitation_text[] =
    "{\"e\":{\"method\":\"elicitation/create\",\"params\":{\"mode\":\"form\",\"message\":\"Go "
    "on?\","
    "\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"yes\":{\"type\":\"boolean\"}}}}}}";
static const char resources_text[] =
    "[{\"uri\":\"fixture://greeting\",\"name\":\"greeting\",\"mimeType\":\"text/plain\"}]";
static const char info_text[] = "{\"name\":\"mcp_http_fixture\",\"version\":\"1.0.0\"}";

/* An answer that comes after some time, or (`at_us` 0) after the client's answer to a question. */
struct later {
    uint64_t handle, token;
    int64_t at_us;
    int steps; /* of progress before it */
};

struct fixture {
    struct btz_net_loop *loop;
    struct btz_net_http_server *http;
    struct btz_mcp_endpoint *endpoint;
    struct btz_arena *fixed, *work;
    struct btz_mcp_catalogue catalogue;
    struct later later[MAX_CALLS];
    size_t count;
    int64_t cancelled;
    uv_pipe_t input;
};

static const struct btz_json *parse(struct btz_arena *arena, const char *text)
{
    const struct btz_json *value;
    struct btz_err err;

    if (btz_json_parse(arena, btz_str_of(text), NULL, &value, &err)) {
        btz_panic("mcp_http_fixture: %s", err.msg);
    }
    return value;
}

static void answer(struct fixture *f, uint64_t handle, uint64_t token, struct btz_str text,
                   bool is_error)
{
    struct btz_mcp_server *server = btz_mcp_endpoint_server(f->endpoint, handle);
    struct btz_json *result = btz_json_new_object(f->work);
    struct btz_json *content = btz_json_new_array(f->work);
    struct btz_json *block = btz_json_new_object(f->work);
    struct btz_err err;

    btz_json_set_strz(f->work, block, "type", "text");
    btz_json_set_str(f->work, block, "text", text);
    btz_json_push(f->work, content, block);
    btz_json_setz(f->work, result, "content", content);
    if (is_error) {
        btz_json_set_bool(f->work, result, "isError", true);
    }
    if (server && btz_mcp_server_reply_result(server, token, result, &err)) {
        (void)fprintf(stderr, "mcp_http_fixture: %s\n", err.msg);
    }
}

static void keep(struct fixture *f, const struct later *later)
{
    if (f->count < MAX_CALLS) {
        f->later[f->count++] = *later;
    }
}

static void forget(struct fixture *f, uint64_t handle, uint64_t token)
{
    for (size_t i = 0; i < f->count; i++) {
        if (f->later[i].handle == handle && f->later[i].token == token) {
            f->later[i] = f->later[--f->count];
            return;
        }
    }
}

/* Adds the late tool, or takes it away again. */
static void change_tools(struct fixture *f)
{
    struct btz_json *tools = btz_json_shallow(f->fixed, f->catalogue.tools);
    size_t last = btz_json_count(tools) - 1;
    struct btz_err err;

    if (btz_str_is(btz_json_str(btz_json_getz(btz_json_at(tools, last), "name")), "late")) {
        btz_json_remove_at(tools, last);
    } else {
        btz_json_push(f->fixed, tools, parse(f->fixed, late_tool_text));
    }
    f->catalogue.tools = tools;
    if (btz_mcp_endpoint_set_catalogue(f->endpoint, &f->catalogue, &err)) {
        (void)fprintf(stderr, "mcp_http_fixture: %s\n", err.msg);
    }
}

/* A modern client sends the call again with what was asked for; a legacy one is told no. */
static void ask_input(struct fixture *f, uint64_t handle, const struct btz_mcp_server_event *event,
                      const char *requests)
{
    struct btz_mcp_server *server = btz_mcp_endpoint_server(f->endpoint, handle);
    struct btz_err err;
    int rc;

    if (event->inputs) {
        answer(f, handle, event->token, btz_json_text(f->work, event->inputs), false);
        return;
    }
    rc = btz_mcp_server_reply_input(server, event->token, parse(f->work, requests), BTZ_STR_NONE,
                                    &err);
    if (rc && rc != BTZ_EUNSUPPORTED) {
        answer(f, handle, event->token, BTZ_STR("only for modern clients"), true);
    }
}

/* Calls whose answer comes later, or needs something of the client; false for other tools. */
static bool slow_call(struct fixture *f, uint64_t handle, const struct btz_mcp_server_event *event)
{
    struct btz_mcp_server *server = btz_mcp_endpoint_server(f->endpoint, handle);
    struct later later = {.handle = handle, .token = event->token};
    uint64_t ask;

    if (btz_str_is(event->name, "test_tool_with_progress")) {
        later.at_us = btz_net_loop_now(f->loop) + 20 * MS;
        later.steps = 3;
        keep(f, &later);
    } else if (btz_str_is(event->name, "test_reconnection")) {
        later.at_us = btz_net_loop_now(f->loop) + 300 * MS;
        (void)!btz_mcp_endpoint_park(f->endpoint, handle, event->request_id);
        keep(f, &later);
    } else if (btz_str_is(event->name, "roots")) {
        if (btz_mcp_server_ask(server, event->token, BTZ_STR("roots/list"), NULL, &ask, NULL)) {
            answer(f, handle, event->token, BTZ_STR("this client has no roots"), true);
        }
    } else if (btz_str_is(event->name, "test_missing_capability")) {
        ask_input(f, handle, event, sampling_text);
    } else if (btz_str_is(event->name, "test_streaming_elicitation")) {
        ask_input(f, handle, event, elicitation_text);
    } else {
        return btz_str_is(event->name, "wait");
    }
    return true;
}

static void call(struct fixture *f, uint64_t handle, const struct btz_mcp_server_event *event)
{
    struct btz_str text = btz_json_str(btz_json_getz(event->arguments, "text"));
    bool is_error = btz_str_is(event->name, "test_error_handling");

    if (slow_call(f, handle, event)) {
        return;
    }
    if (btz_str_is(event->name, "test_trigger_tool_change")) {
        change_tools(f);
    } else if (btz_str_is(event->name, "test_logging_tool")) {
        (void)!btz_mcp_server_log(btz_mcp_endpoint_server(f->endpoint, handle), event->token,
                                  BTZ_STR("info"), BTZ_STR_NONE,
                                  btz_json_new_strz(f->work, "a log message"));
    } else if (btz_str_is(event->name, "cancelled")) {
        text = btz_arena_printf(f->work, "%lld", (long long)f->cancelled);
    } else if (is_error) {
        text = BTZ_STR("This tool intentionally returns an error");
    }
    answer(f, handle, event->token,
           text.ptr ? text : BTZ_STR("This is a simple text response for testing."), is_error);
}

static void read_resource(struct fixture *f, uint64_t handle,
                          const struct btz_mcp_server_event *event)
{
    struct btz_mcp_server *server = btz_mcp_endpoint_server(f->endpoint, handle);

    if (btz_str_is(event->name, "fixture://greeting")) {
        (void)!btz_mcp_server_reply_result(
            server, event->token,
            parse(f->work, "{\"contents\":[{\"uri\":\"fixture://greeting\",\"mimeType\":"
                           "\"text/plain\",\"text\":\"hello from C\"}]}"),
            NULL);
    } else {
        (void)!btz_mcp_server_reply_error(server, event->token, BTZ_MCP_E_PARAMS,
                                          BTZ_STR("no such resource"), NULL);
    }
}

static void take_events(struct fixture *f)
{
    struct btz_mcp_server_event event;
    uint64_t handle;

    while (btz_mcp_endpoint_next_event(f->endpoint, &handle, &event)) {
        switch (event.kind) {
        case BTZ_MCP_SERVER_CALL:
            call(f, handle, &event);
            break;
        case BTZ_MCP_SERVER_READ:
            read_resource(f, handle, &event);
            break;
        case BTZ_MCP_SERVER_PROMPT:
            (void)!btz_mcp_server_reply_result(
                btz_mcp_endpoint_server(f->endpoint, handle), event.token,
                parse(f->work, "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\","
                               "\"text\":\"hello\"}}]}"),
                NULL);
            break;
        case BTZ_MCP_SERVER_CANCELLED:
            f->cancelled++;
            forget(f, handle, event.token);
            break;
        case BTZ_MCP_SERVER_ANSWER:
            answer(f, handle, event.token, btz_json_text(f->work, event.result), false);
            break;
        default:
            break;
        }
        btz_arena_reset(f->work);
    }
}

/* Progress and answers whose time has come. */
static void take_later(struct fixture *f)
{
    int64_t now_us = btz_net_loop_now(f->loop);

    for (size_t i = 0; i < f->count;) {
        struct later *later = &f->later[i];
        struct btz_mcp_server *server = btz_mcp_endpoint_server(f->endpoint, later->handle);

        if (now_us < later->at_us) {
            btz_net_loop_wake_at(f->loop, later->at_us);
            i++;
        } else if (later->steps > 0 && server) {
            later->steps--;
            (void)!btz_mcp_server_progress(server, later->token, 3 - later->steps, 3, BTZ_STR_NONE);
            later->at_us = now_us + 20 * MS;
        } else {
            answer(f, later->handle, later->token, BTZ_STR("done"), false);
            btz_arena_reset(f->work);
            f->later[i] = f->later[--f->count];
        }
    }
}

static void take_requests(struct fixture *f)
{
    struct btz_net_http_server_event event;

    while (btz_net_http_server_next(f->http, &event)) {
        int64_t now_us = btz_net_loop_now(f->loop);
        struct btz_str path = BTZ_STR_NONE;
        struct btz_str target;

        if (event.kind == BTZ_NET_HTTP_CLOSED) {
            btz_mcp_endpoint_closed(f->endpoint, event.exchange, now_us);
            continue;
        }
        target = event.head->target;
        btz_str_cut(&target, '?', &path);
        if (!btz_str_is(path, "/mcp")) {
            (void)!btz_net_http_server_respond(f->http, event.exchange, 404, NULL, 0, BTZ_STR_NONE);
        } else if (btz_mcp_endpoint_request(f->endpoint, event.exchange, event.head, event.body,
                                            BTZ_STR_NONE, now_us)) {
            btz_net_http_server_abort(f->http, event.exchange);
        }
    }
}

static void send_out(struct fixture *f)
{
    struct btz_mcp_endpoint_out out;

    while (btz_mcp_endpoint_next_out(f->endpoint, &out)) {
        int rc = BTZ_OK;

        switch (out.kind) {
        case BTZ_MCP_OUT_RESPONSE:
            rc = btz_net_http_server_respond(f->http, out.exchange, out.status, out.fields,
                                             out.field_count, out.bytes);
            break;
        case BTZ_MCP_OUT_STREAM:
            rc = btz_net_http_server_stream(f->http, out.exchange, out.status, out.fields,
                                            out.field_count);
            break;
        case BTZ_MCP_OUT_STREAM_DATA:
            rc = btz_net_http_server_chunk(f->http, out.exchange, out.bytes);
            break;
        case BTZ_MCP_OUT_STREAM_END:
            rc = btz_net_http_server_end(f->http, out.exchange);
            break;
        case BTZ_MCP_OUT_ABORT:
            btz_net_http_server_abort(f->http, out.exchange);
            break;
        }
        if (rc == BTZ_ELIMIT) { /* the listener tells nobody else */
            btz_mcp_endpoint_closed(f->endpoint, out.exchange, btz_net_loop_now(f->loop));
        }
    }
}

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
    static char nothing[256];

    (void)handle;
    (void)size;
    *buf = uv_buf_init(nothing, sizeof(nothing));
}

static void on_input(uv_stream_t *stream, ssize_t count, const uv_buf_t *buf)
{
    (void)buf;
    if (count < 0) {
        btz_net_loop_stop(((struct fixture *)stream->data)->loop);
    }
}

static void open_fixture(struct fixture *f, const struct btz_mcp_endpoint_options *options)
{
    const struct btz_net_http_server_options none = {0};
    struct btz_err err;

    f->fixed = btz_arena_new();
    f->work = btz_arena_new();
    f->catalogue = (struct btz_mcp_catalogue){.server_info = parse(f->fixed, info_text),
                                              .instructions = BTZ_STR("A fixture for tests."),
                                              .tools = parse(f->fixed, tools_text),
                                              .resources = parse(f->fixed, resources_text),
                                              .prompts = parse(f->fixed, prompts_text)};
    if (btz_net_loop_new(&f->loop, &err) ||
        btz_net_http_server_new(f->loop, &none, &f->http, &err) ||
        btz_mcp_endpoint_new(options, &f->catalogue, &f->endpoint, &err)) {
        btz_panic("mcp_http_fixture: %s", err.msg);
    }
    f->input.data = f;
    (void)uv_pipe_init(btz_net_loop_uv(f->loop), &f->input, 0);
    if (uv_pipe_open(&f->input, 0) || uv_read_start((uv_stream_t *)&f->input, on_alloc, on_input)) {
        btz_panic("mcp_http_fixture: standard input must be a pipe");
    }
}

int main(int argc, char **argv)
{
    struct btz_mcp_endpoint_options options = {.id_secret = BTZ_STR("only for tests!!"),
                                               .retry_ms = 200,
                                               .server = {.page_size = 4, .logging = true}};
    struct fixture f = {0};

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--legacy") == 0) {
            options.server.revisions = BTZ_MCP_SET_LEGACY;
        } else if (strcmp(argv[i], "--modern") == 0) {
            options.server.revisions = BTZ_MCP_SET_MODERN;
        } else if (strcmp(argv[i], "--old-sse") == 0) {
            options.allow_legacy_sse = true;
        } else {
            (void)fprintf(stderr, "mcp_http_fixture: unknown option %s\n", argv[i]);
            return 2;
        }
    }
    (void)signal(SIGPIPE, SIG_IGN);
    open_fixture(&f, &options);
    (void)printf("http://127.0.0.1:%u/mcp\n", (unsigned)btz_net_http_server_port(f.http));
    (void)fflush(stdout);
    while (!btz_net_loop_stopped(f.loop)) {
        int64_t due = btz_mcp_endpoint_due(f.endpoint);

        if (due >= 0) {
            btz_net_loop_wake_at(f.loop, due);
        }
        take_later(&f);
        send_out(&f);
        btz_net_loop_wait(f.loop, -1);
        btz_mcp_endpoint_tick(f.endpoint, btz_net_loop_now(f.loop));
        take_requests(&f);
        take_events(&f);
        send_out(&f);
    }
    uv_close((uv_handle_t *)&f.input, NULL);
    btz_net_http_server_free(f.http);
    btz_mcp_endpoint_free(f.endpoint);
    btz_net_loop_free(f.loop);
    btz_arena_free(f.fixed);
    btz_arena_free(f.work);
    return 0;
}
