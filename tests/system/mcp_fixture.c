/* A small MCP server over stdin and stdout, for tests with other people's clients: two tools (echo,
 * add), two resources, one item a page. All of the protocol is src/mcp; this file only moves bytes
 * and runs the tools.
 *
 *   mcp_fixture [--legacy | --modern] [--grow] [--full]
 *
 * --grow: the first call of echo adds a third tool, so that clients see tools/list_changed.
 * --full: offers a prompt, a template, completion and subscriptions as well, and the tool confirm,
 * which asks its user before it answers; echo then logs and reports its resource as changed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mcp/frame.h"
#include "mcp/server.h"
#include "mcp/state.h"

static const char tools_text[] =
    "[{\"name\":\"echo\",\"title\":\"Echo\",\"description\":\"Gives back the text it got.\","
    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},"
    "\"required\":[\"text\"]},\"annotations\":{\"readOnlyHint\":true}},"
    "{\"name\":\"add\",\"description\":\"Adds two integers.\","
    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},"
    "\"b\":{\"type\":\"integer\"}},\"required\":[\"a\",\"b\"]},"
    "\"outputSchema\":{\"type\":\"object\",\"properties\":{\"sum\":{\"type\":\"integer\"}},"
    "\"required\":[\"sum\"]}}]";
static const char late_tool_text[] =
    "{\"name\":\"late\",\"description\":\"Came later.\",\"inputSchema\":{\"type\":\"object\"}}";
static const char resources_text[] =
    "[{\"uri\":\"fixture://greeting\",\"name\":\"greeting\",\"mimeType\":\"text/plain\"},"
    "{\"uri\":\"fixture://bytes\",\"name\":\"bytes\",\"mimeType\":\"application/octet-stream\"}]";
static const char confirm_tool_text[] =
    "{\"name\":\"confirm\",\"description\":\"Asks first.\",\"inputSchema\":{\"type\":\"object\"}}";
static const char templates_text[] =
    "[{\"uriTemplate\":\"fixture://item/{id}\",\"name\":\"item\",\"mimeType\":\"text/plain\"}]";
static const char prompts_text[] =
    "[{\"name\":\"greet\",\"description\":\"Greets somebody.\",\"arguments\":[{\"name\":\"who\","
    "\"required\":true}]}]";
static const char form_text[] =
    "{\"message\":\"Go on?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"yes\":{"
    "\"type\":\"boolean\"}},\"required\":[\"yes\"]}}";
static const char info_text[] = "{\"name\":\"mcp_fixture\",\"version\":\"1.0.0\"}";

struct fixture {
    struct btz_mcp_server *server;
    struct btz_arena *fixed; /* catalogue */
    struct btz_arena *work;  /* one answer */
    struct btz_mcp_catalogue catalogue;
    struct btz_buf line; /* one outgoing line */
    uint64_t parked;     /* token of a call whose answer waits, or 0 */
    struct btz_str parked_text;
    bool grow;
    bool full;
    uint64_t confirming; /* token of the legacy call that waits for its user, or 0 */
};

static const struct btz_json *parse(struct btz_arena *arena, const char *text)
{
    const struct btz_json *value;
    struct btz_err err;

    if (btz_json_parse(arena, btz_str_of(text), NULL, &value, &err)) {
        btz_panic("mcp_fixture: %s", err.msg);
    }
    return value;
}

static struct btz_json *text_result(struct btz_arena *arena, struct btz_str text, bool is_error)
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

static struct btz_json *add(struct btz_arena *arena, const struct btz_json *arguments)
{
    struct btz_json *result;
    struct btz_json *structured;
    int64_t a;
    int64_t b;
    int64_t sum;

    if (!btz_json_int64(btz_json_getz(arguments, "a"), &a) ||
        !btz_json_int64(btz_json_getz(arguments, "b"), &b) || __builtin_add_overflow(a, b, &sum)) {
        return text_result(arena, BTZ_STR("a and b must be integers whose sum fits 64 bits"), true);
    }
    structured = btz_json_new_object(arena);
    btz_json_set_int(arena, structured, "sum", sum);
    result = text_result(arena, btz_json_text(arena, structured), false);
    btz_json_setz(arena, result, "structuredContent", structured);
    return result;
}

static void grow(struct fixture *f)
{
    struct btz_json *tools = btz_json_shallow(f->fixed, f->catalogue.tools);
    struct btz_err err;

    f->grow = false;
    btz_json_push(f->fixed, tools, parse(f->fixed, late_tool_text));
    f->catalogue.tools = tools;
    if (btz_mcp_server_set_catalogue(f->server, &f->catalogue, &err)) {
        btz_panic("mcp_fixture: %s", err.msg);
    }
}

static bool write_all(struct btz_str bytes)
{
    while (bytes.len) {
        ssize_t n = write(STDOUT_FILENO, bytes.ptr, bytes.len);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        bytes.ptr += n;
        bytes.len -= (size_t)n;
    }
    return true;
}

static bool flush(struct fixture *f)
{
    struct btz_str bytes;

    while (btz_mcp_server_next_out(f->server, &bytes)) {
        btz_buf_reset(&f->line);
        if (btz_mcp_frame_write(&f->line, bytes) || !write_all(btz_buf_view(&f->line))) {
            return false;
        }
    }
    return true;
}

/* A call of echo that wants progress gets two steps and waits until the next request has been
 * answered: official clients handle notifications later than answers out of one chunk, so that a
 * test needs to see the progress before the answer is sent. False if no progress is wanted. */
static bool park(struct fixture *f, const struct btz_mcp_server_event *event, struct btz_str text)
{
    if (f->parked || btz_mcp_server_progress(f->server, event->token, 1, 2, BTZ_STR("half way"))) {
        return false;
    }
    if (btz_mcp_server_progress(f->server, event->token, 2, 2, BTZ_STR("done"))) {
        btz_panic("mcp_fixture: the second progress was refused");
    }
    f->parked = event->token;
    f->parked_text = text;
    return true;
}

static struct btz_json *call(struct fixture *f, const struct btz_mcp_server_event *event)
{
    const struct btz_json *text = btz_json_getz(event->arguments, "text");

    if (btz_str_is(event->name, "add")) {
        return add(f->work, event->arguments);
    }
    if (btz_str_is(event->name, "late")) {
        return text_result(f->work, BTZ_STR("late"), false);
    }
    if (!btz_json_is(text, BTZ_JSON_STRING)) {
        return text_result(f->work, BTZ_STR("text must be a string"), true);
    }
    if (park(f, event, btz_json_str(text))) {
        return NULL;
    }
    return text_result(f->work, btz_json_str(text), false);
}

/* NULL if there is no such resource. */
static struct btz_json *read_resource(struct fixture *f, struct btz_str uri)
{
    struct btz_json *result = btz_json_new_object(f->work);
    struct btz_json *contents = btz_json_new_array(f->work);
    struct btz_json *item = btz_json_new_object(f->work);

    btz_json_set_str(f->work, item, "uri", uri);
    if (btz_str_is(uri, "fixture://greeting")) {
        btz_json_set_strz(f->work, item, "mimeType", "text/plain");
        btz_json_set_strz(f->work, item, "text", "hello from C");
    } else if (btz_str_is(uri, "fixture://bytes")) {
        btz_json_set_strz(f->work, item, "mimeType", "application/octet-stream");
        btz_json_set_strz(f->work, item, "blob", "AAEC/w==");
    } else if (f->full && btz_str_starts(uri, BTZ_STR("fixture://item/"))) {
        btz_json_set_strz(f->work, item, "mimeType", "text/plain");
        btz_json_set_str(f->work, item, "text", btz_str_sub(uri, 15, uri.len));
    } else {
        return NULL;
    }
    btz_json_push(f->work, contents, item);
    btz_json_setz(f->work, result, "contents", contents);
    return result;
}

static void answer(struct fixture *f, uint64_t token, const struct btz_json *result)
{
    struct btz_err err;
    int rc;

    if (result) {
        rc = btz_mcp_server_reply_result(f->server, token, result, &err);
    } else {
        rc = btz_mcp_server_reply_error(f->server, token, BTZ_MCP_E_PARAMS,
                                        BTZ_STR("no such resource"), NULL);
    }
    if (rc) {
        btz_panic("mcp_fixture: an answer was refused: %s", result ? err.msg : "error");
    }
}

#define KEY BTZ_STR("not a secret: a test's key")

/* Answers a call of confirm by what the user said. */
static void confirmed(struct fixture *f, uint64_t token, const struct btz_json *said)
{
    struct btz_str action = btz_json_str(btz_json_getz(said, "action"));
    bool yes = btz_json_bool(btz_json_getz(btz_json_getz(said, "content"), "yes"), false);

    answer(f, token,
           text_result(f->work,
                       btz_arena_printf(f->work, "%.*s %s", BTZ_FMT(action), yes ? "yes" : "no"),
                       false));
}

/* One round: the question, with a state that only this call can bring back. */
static void confirm_modern(struct fixture *f, const struct btz_mcp_server_event *event)
{
    struct btz_mcp_state_binding binding = {
        .method = BTZ_STR("tools/call"), .name = event->name, .arguments = event->arguments};
    struct btz_json *requests = btz_json_new_object(f->work);
    struct btz_json *one = btz_json_new_object(f->work);
    struct btz_str state;

    if (event->request_state.ptr) {
        if (btz_mcp_state_open(f->work, KEY, &binding, event->request_state, 1, &state)) {
            answer(f, event->token, text_result(f->work, BTZ_STR("bad state"), true));
        } else {
            confirmed(f, event->token, btz_json_getz(event->inputs, "go"));
        }
        return;
    }
    btz_json_set_strz(f->work, one, "method", "elicitation/create");
    btz_json_setz(f->work, one, "params", parse(f->work, form_text));
    btz_json_setz(f->work, requests, "go", one);
    if (btz_mcp_state_seal(f->work, KEY, &binding, BTZ_STR("asked"), 0, 60, &state)) {
        btz_panic("mcp_fixture: the state was not sealed");
    }
    (void)!btz_mcp_server_reply_input(f->server, event->token, requests, state, NULL);
}

static void confirm(struct fixture *f, const struct btz_mcp_server_event *event)
{
    uint64_t ask;

    if (btz_mcp_era_of(event->revision) == BTZ_MCP_MODERN) {
        confirm_modern(f, event);
    } else if (btz_mcp_server_ask(f->server, event->token, BTZ_STR("elicitation/create"),
                                  parse(f->work, form_text), &ask, NULL)) {
        answer(f, event->token, text_result(f->work, BTZ_STR("you cannot be asked"), true));
    } else {
        f->confirming = event->token;
    }
}

/* Events that only --full brings; false for the others. */
static bool serve_full(struct fixture *f, const struct btz_mcp_server_event *event)
{
    struct btz_json *block;

    switch (event->kind) {
    case BTZ_MCP_SERVER_PROMPT:
        block = btz_json_dup(
            f->work, parse(f->work, "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":"
                                    "\"text\",\"text\":\"Please greet.\"}}]}"));
        btz_json_set_str(f->work, block, "description",
                         btz_json_str(btz_json_getz(event->arguments, "who")));
        answer(f, event->token, block);
        return true;
    case BTZ_MCP_SERVER_COMPLETE:
        answer(f, event->token,
               parse(f->work, "{\"completion\":{\"values\":[\"ann\",\"andy\"],\"total\":2,"
                              "\"hasMore\":false}}"));
        return true;
    case BTZ_MCP_SERVER_ANSWER:
        if (f->confirming == event->token && event->token) {
            f->confirming = 0;
            confirmed(f, event->token, event->result);
        }
        return true;
    case BTZ_MCP_SERVER_CALL:
        if (btz_str_is(event->name, "confirm")) {
            confirm(f, event);
            return true;
        }
        (void)!btz_mcp_server_log(f->server, event->token, BTZ_STR("warning"), BTZ_STR("fixture"),
                                  event->arguments);
        (void)!btz_mcp_server_resource_updated(f->server, BTZ_STR("fixture://greeting"));
        return false;
    default:
        return false;
    }
}

static void serve_events(struct fixture *f)
{
    struct btz_mcp_server_event event;

    while (btz_mcp_server_next_event(f->server, &event)) {
        bool growing = f->grow && btz_str_is(event.name, "echo");
        struct btz_json *result;

        btz_arena_reset(f->work);
        if (event.kind == BTZ_MCP_SERVER_CANCELLED) {
            f->parked = event.token == f->parked ? 0 : f->parked;
            f->confirming = event.token == f->confirming ? 0 : f->confirming;
            continue;
        }
        if (f->full && serve_full(f, &event)) {
            continue;
        }
        if (event.kind == BTZ_MCP_SERVER_READ) {
            answer(f, event.token, read_resource(f, event.name));
            continue;
        }
        result = call(f, &event);
        if (!result) {
            continue; /* parked */
        }
        answer(f, event.token, result);
        if (f->parked) {
            answer(f, f->parked, text_result(f->work, f->parked_text, false));
            f->parked = 0;
        }
        if (growing) {
            grow(f);
        }
    }
}

static bool serve_bytes(struct fixture *f, struct btz_mcp_frame *frame, struct btz_str bytes)
{
    struct btz_str message;
    int rc = btz_mcp_frame_feed(frame, bytes);

    while (!rc) {
        rc = btz_mcp_frame_next(frame, &message);
        if (!rc) {
            rc = btz_mcp_server_feed(f->server, message);
        }
        if (!rc) {
            serve_events(f);
            rc = flush(f) ? BTZ_OK : BTZ_EIO;
        }
    }
    return rc == BTZ_EAGAIN;
}

static int run(struct fixture *f)
{
    struct btz_mcp_frame frame;
    char chunk[4096];
    int status = 0;
    ssize_t n;

    btz_mcp_frame_init(&frame, 0);
    btz_buf_init(&f->line, BTZ_MCP_MAX_LINE * 2);
    for (;;) {
        n = read(STDIN_FILENO, chunk, sizeof(chunk));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            break;
        }
        if (!serve_bytes(f, &frame, (struct btz_str){chunk, (size_t)n})) {
            fprintf(stderr, "mcp_fixture: the input breaks the framing, or nobody reads\n");
            status = 1;
            break;
        }
    }
    if (!status && (btz_mcp_server_end_streams(f->server) || !flush(f))) {
        status = 1;
    }
    btz_buf_fini(&f->line);
    btz_mcp_frame_fini(&frame);
    return status;
}

int main(int argc, char **argv)
{
    struct btz_mcp_server_options options = {.page_size = 1, .logging = true};
    struct fixture f = {.fixed = btz_arena_new(), .work = btz_arena_new()};
    struct btz_err err;
    int status;

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--legacy")) {
            options.revisions = BTZ_MCP_SET_LEGACY;
        } else if (!strcmp(argv[i], "--modern")) {
            options.revisions = BTZ_MCP_SET_MODERN;
        } else if (!strcmp(argv[i], "--grow")) {
            f.grow = true;
        } else if (!strcmp(argv[i], "--full")) {
            f.full = options.completions = options.subscribe = true;
        } else {
            fprintf(stderr, "usage: mcp_fixture [--legacy | --modern] [--grow] [--full]\n");
            return 2;
        }
    }
    f.catalogue = (struct btz_mcp_catalogue){
        .server_info = parse(f.fixed, info_text),
        .instructions = BTZ_STR("Use echo to repeat and add to sum."),
        .tools = parse(f.fixed, tools_text),
        .resources = parse(f.fixed, resources_text),
    };
    if (f.full) {
        struct btz_json *tools = btz_json_shallow(f.fixed, f.catalogue.tools);

        btz_json_push(f.fixed, tools, parse(f.fixed, confirm_tool_text));
        f.catalogue.tools = tools;
        f.catalogue.templates = parse(f.fixed, templates_text);
        f.catalogue.prompts = parse(f.fixed, prompts_text);
    }
    if (btz_mcp_server_new(&options, &f.catalogue, &f.server, &err)) {
        btz_panic("mcp_fixture: %s", err.msg);
    }
    status = run(&f);
    btz_mcp_server_free(f.server);
    btz_arena_free(f.work);
    btz_arena_free(f.fixed);
    return status;
}
