/* Our client machine as a program, for tests with other people's servers: stdin and stdout are the
 * connection, every event is a line of JSON on stderr. It runs one fixed sequence:
 * handshake, tools/list, resources/list, a call of add, a call of a tool that does not exist,
 * resources/read of the first resource, then ping (legacy) or a listen stream (modern).
 *
 * With `asks` the client can be asked by the server, and the sequence is: handshake, prompts/list,
 * prompts/get of greet, completion of its argument, a call of confirm, which asks.
 *
 *   mcp_driver legacy|modern|probe [asks] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mcp/client.h"
#include "mcp/frame.h"

struct driver {
    struct btz_mcp_client *client;
    struct btz_arena *arena;
    struct btz_buf line;
    unsigned step;
    bool done, failed;
    bool asks;
};

static const char *const kinds[] = {
    [BTZ_MCP_CLIENT_READY] = "ready",
    [BTZ_MCP_CLIENT_FAILED] = "failed",
    [BTZ_MCP_CLIENT_TOOLS] = "tools",
    [BTZ_MCP_CLIENT_RESOURCES] = "resources",
    [BTZ_MCP_CLIENT_TEMPLATES] = "templates",
    [BTZ_MCP_CLIENT_RESULT] = "result",
    [BTZ_MCP_CLIENT_LISTENING] = "listening",
    [BTZ_MCP_CLIENT_LISTEN_ENDED] = "listen ended",
    [BTZ_MCP_CLIENT_LIST_CHANGED] = "list changed",
    [BTZ_MCP_CLIENT_PROGRESS] = "progress",
    [BTZ_MCP_CLIENT_LOG] = "log",
    [BTZ_MCP_CLIENT_PROTOCOL_ERROR] = "protocol error",
    [BTZ_MCP_CLIENT_PROMPTS] = "prompts",
    [BTZ_MCP_CLIENT_RESOURCE_UPDATED] = "resource updated",
    [BTZ_MCP_CLIENT_ASKED] = "asked",
    [BTZ_MCP_CLIENT_ASK_CANCELLED] = "ask cancelled",
    [BTZ_MCP_CLIENT_INPUT] = "input",
};

static void report(struct driver *d, const struct btz_mcp_client_event *event)
{
    struct btz_json *line = btz_json_new_object(d->arena);

    btz_json_set_strz(d->arena, line, "event", kinds[event->kind]);
    if (event->value) {
        btz_json_setz(d->arena, line, "value", event->value);
    }
    if (event->kind == BTZ_MCP_CLIENT_READY) {
        btz_json_set_strz(d->arena, line, "revision", btz_mcp_revision_text(event->revision));
        btz_json_set_bool(d->arena, line, "fellBack", event->fell_back);
        if (event->server_info) {
            btz_json_setz(d->arena, line, "serverInfo", event->server_info);
        }
    }
    if (event->fault) {
        btz_json_set_int(d->arena, line, "fault", event->fault);
        btz_json_set_int(d->arena, line, "code", event->code);
    }
    if (event->message.len) {
        btz_json_set_str(d->arena, line, "message", event->message);
    }
    if (event->changed) {
        btz_json_set_int(d->arena, line, "changed", event->changed);
    }
    fprintf(stderr, "%s\n", btz_json_text(d->arena, line).ptr);
}

static int next_step(struct driver *d, const struct btz_mcp_client_event *event)
{
    bool modern = btz_mcp_era_of(btz_mcp_client_revision(d->client)) == BTZ_MCP_MODERN;
    struct btz_json *arguments = btz_json_new_object(d->arena);
    struct btz_str uri =
        btz_json_str(btz_json_getz(btz_json_at(event->value, 0), "uri")); /* of RESOURCES */

    switch (d->step++) {
    case 0:
        return btz_mcp_client_list_tools(d->client, NULL);
    case 1:
        return btz_mcp_client_list_resources(d->client, NULL);
    case 2:
        return btz_mcp_client_read_resource(d->client, uri, NULL);
    case 3:
        btz_json_set_int(d->arena, arguments, "a", 40);
        btz_json_set_int(d->arena, arguments, "b", 2);
        return btz_mcp_client_call_tool(d->client, BTZ_STR("add"), arguments, NULL);
    case 4:
        return btz_mcp_client_call_tool(d->client, BTZ_STR("none"), arguments, NULL);
    case 5:
        return modern ? btz_mcp_client_listen(d->client, BTZ_MCP_LIST_TOOLS, NULL)
                      : btz_mcp_client_ping(d->client, NULL);
    default:
        d->done = true;
        return BTZ_OK;
    }
}

static int next_ask_step(struct driver *d)
{
    struct btz_json *arguments = btz_json_new_object(d->arena);

    switch (d->step++) {
    case 0:
        return btz_mcp_client_list_prompts(d->client, NULL);
    case 1:
        btz_json_set_strz(d->arena, arguments, "who", "ann");
        return btz_mcp_client_get_prompt(d->client, BTZ_STR("greet"), arguments, NULL);
    case 2:
        return btz_mcp_client_complete(d->client, BTZ_MCP_REF_PROMPT, BTZ_STR("greet"),
                                       BTZ_STR("who"), BTZ_STR("an"), NULL, NULL);
    case 3:
        return btz_mcp_client_call_tool(d->client, BTZ_STR("confirm"), arguments, NULL);
    default:
        d->done = true;
        return BTZ_OK;
    }
}

/* The user says yes to every question. */
static int say_yes(struct driver *d, const struct btz_mcp_client_event *event)
{
    struct btz_json *content = btz_json_new_object(d->arena);
    struct btz_json *result = btz_json_new_object(d->arena);
    struct btz_json *responses = btz_json_new_object(d->arena);

    btz_json_set_bool(d->arena, content, "yes", true);
    btz_json_set_strz(d->arena, result, "action", "accept");
    btz_json_setz(d->arena, result, "content", content);
    if (event->kind == BTZ_MCP_CLIENT_ASKED) {
        return btz_mcp_client_answer(d->client, event->ask, result, NULL);
    }
    for (size_t i = 0; i < btz_json_count(event->value); i++) {
        btz_json_set(d->arena, responses, btz_json_key_at(event->value, i), result);
    }
    return btz_mcp_client_answer_inputs(d->client, event->request, responses, NULL);
}

static void take_events(struct driver *d)
{
    struct btz_mcp_client_event event;

    while (btz_mcp_client_next_event(d->client, &event)) {
        btz_arena_reset(d->arena);
        report(d, &event);
        switch (event.kind) {
        case BTZ_MCP_CLIENT_FAILED:
            d->failed = true;
            break;
        case BTZ_MCP_CLIENT_READY:
        case BTZ_MCP_CLIENT_TOOLS:
        case BTZ_MCP_CLIENT_RESOURCES:
        case BTZ_MCP_CLIENT_RESULT:
        case BTZ_MCP_CLIENT_LISTENING:
        case BTZ_MCP_CLIENT_PROMPTS:
            d->failed |= (d->asks ? next_ask_step(d) : next_step(d, &event)) != BTZ_OK;
            break;
        case BTZ_MCP_CLIENT_ASKED:
        case BTZ_MCP_CLIENT_INPUT:
            d->failed |= say_yes(d, &event) != BTZ_OK;
            break;
        default:
            break;
        }
    }
}

static bool flush(struct driver *d)
{
    struct btz_str bytes;

    while (btz_mcp_client_next_out(d->client, &bytes)) {
        size_t sent = 0;

        btz_buf_reset(&d->line);
        if (btz_mcp_frame_write(&d->line, bytes)) {
            return false;
        }
        while (sent < d->line.len) {
            ssize_t n = write(STDOUT_FILENO, d->line.ptr + sent, d->line.len - sent);

            if (n < 0 && errno != EINTR) {
                return false;
            }
            sent += n > 0 ? (size_t)n : 0;
        }
    }
    return true;
}

static bool take_bytes(struct driver *d, struct btz_mcp_frame *frame, struct btz_str bytes)
{
    struct btz_str message;
    int rc = btz_mcp_frame_feed(frame, bytes);

    while (!rc && !d->failed && !d->done) {
        rc = btz_mcp_frame_next(frame, &message);
        if (!rc) {
            rc = btz_mcp_client_feed(d->client, message);
            take_events(d);
        }
    }
    return rc == BTZ_EAGAIN || rc == BTZ_OK;
}

static int run(struct driver *d)
{
    struct btz_mcp_frame frame;
    char chunk[4096];
    bool fine = btz_mcp_client_start(d->client) == BTZ_OK;

    btz_mcp_frame_init(&frame, 0);
    btz_buf_init(&d->line, BTZ_MCP_MAX_LINE * 2);
    while (fine && !d->done && !d->failed && flush(d)) {
        ssize_t n = read(STDIN_FILENO, chunk, sizeof(chunk));

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            btz_mcp_client_close(d->client);
            take_events(d);
            break;
        }
        fine = take_bytes(d, &frame, (struct btz_str){chunk, (size_t)n});
    }
    btz_buf_fini(&d->line);
    btz_mcp_frame_fini(&frame);
    return d->done && fine ? 0 : 1;
}

int main(int argc, char **argv)
{
    static const char *const modes[] = {[BTZ_MCP_CLIENT_LEGACY] = "legacy",
                                        [BTZ_MCP_CLIENT_MODERN] = "modern",
                                        [BTZ_MCP_CLIENT_PROBE] = "probe"};
    struct btz_mcp_client_options options = {
        .name = BTZ_STR("mcp_driver"), .version = BTZ_STR("1.0.0"), .progress = true};
    struct driver d = {.arena = btz_arena_new()};
    struct btz_err err;
    unsigned mode = 0;
    int status;

    if (argc == 3 && !strcmp(argv[2], "asks")) {
        struct btz_json *capabilities = btz_json_new_object(d.arena);

        btz_json_setz(d.arena, capabilities, "elicitation", btz_json_new_object(d.arena));
        options.capabilities = capabilities; /* copied before the arena is used for events */
        d.asks = true;
    }
    while (argc == 2 + d.asks && mode < 3 && strcmp(argv[1], modes[mode]) != 0) {
        mode++;
    }
    if (argc != 2 + d.asks || mode == 3) {
        fprintf(stderr, "usage: mcp_driver legacy|modern|probe [asks]\n");
        return 2;
    }
    options.mode = (enum btz_mcp_client_mode)mode;
    if (btz_mcp_client_new(&options, &d.client, &err)) {
        btz_panic("mcp_driver: %s", err.msg);
    }
    status = run(&d);
    btz_mcp_client_free(d.client);
    btz_arena_free(d.arena);
    return status;
}
