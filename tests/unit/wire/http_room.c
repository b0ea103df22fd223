#include "http_room.h"

#include <stdlib.h>

static const char *const tools_text =
    "[{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"place\":{\"type\":"
    "\"string\",\"x-mcp-header\":\"Place\"},\"big\":{\"type\":\"string\"}}}}]";

const struct btz_json *parse(struct btz_arena *arena, const char *text)
{
    const struct btz_json *value = NULL;
    struct btz_err err;

    if (btz_json_parse(arena, btz_str_of(text), NULL, &value, &err)) {
        fail_msg("%s: %s", text, err.msg);
    }
    return value;
}

struct btz_mcp_catalogue catalogue(struct btz_arena *arena, const char *tools)
{
    return (struct btz_mcp_catalogue){.server_info =
                                          parse(arena, "{\"name\":\"s\",\"version\":\"1\"}"),
                                      .tools = parse(arena, tools)};
}

struct room *enter(struct btz_http_link_options options)
{
    static const struct btz_str hosts[] = {{"tools.example", 13}};
    struct room *room = calloc(1, sizeof(*room));
    struct btz_mcp_catalogue offer;
    struct btz_err err;

    room->arena = btz_arena_new();
    offer = catalogue(room->arena, tools_text);
    options.keep_transcript = true;
    options.client.host = BTZ_STR("tools.example");
    options.client.client.name = BTZ_STR("t");
    options.client.client.version = BTZ_STR("1");
    options.client.client.progress = true;
    options.server.hosts = hosts;
    options.server.host_count = 1;
    options.server.id_secret = BTZ_STR("0123456789abcdef0123456789abcdef");
    if (btz_http_link_new(&options, &offer, &room->link, &err)) {
        fail_msg("link: %s", err.msg);
    }
    assert_int_equal(btz_mcp_http_session_start(btz_http_link_session(room->link)), BTZ_OK);
    return room;
}

void leave(struct room *room)
{
    btz_http_link_free(room->link);
    btz_arena_free(room->arena);
    free(room);
}

void answer(struct room *room, uint64_t handle, uint64_t token, struct btz_str text)
{
    struct btz_mcp_server *server =
        btz_mcp_endpoint_server(btz_http_link_endpoint(room->link), handle);
    struct btz_json *result = btz_json_new_object(room->arena);
    struct btz_json *content = btz_json_new_array(room->arena);
    struct btz_json *block = btz_json_new_object(room->arena);
    struct btz_err err;

    assert_non_null(server);
    btz_json_set_strz(room->arena, block, "type", "text");
    btz_json_set_str(room->arena, block, "text", text);
    btz_json_push(room->arena, content, block);
    btz_json_setz(room->arena, result, "content", content);
    if (room->announce) {
        assert_int_equal(btz_mcp_server_progress(server, token, 1, 2, BTZ_STR("half")), BTZ_OK);
    }
    if (btz_mcp_server_reply_result(server, token, result, &err)) {
        fail_msg("reply: %s", err.msg);
    }
}

/* Elicitation, by the way of the call's era. */
static void ask(struct room *room, struct btz_mcp_server *server,
                const struct btz_mcp_server_event *call)
{
    const struct btz_json *params =
        parse(room->arena, "{\"mode\":\"form\",\"message\":\"Sure?\",\"requestedSchema\":{"
                           "\"type\":\"object\",\"properties\":{}}}");
    struct btz_json *request = btz_json_new_object(room->arena);
    struct btz_json *requests = btz_json_new_object(room->arena);
    struct btz_err err;
    uint64_t number;
    int rc;

    room->ask = false;
    if (btz_mcp_era_of(call->revision) == BTZ_MCP_MODERN) {
        btz_json_set_strz(room->arena, request, "method", "elicitation/create");
        btz_json_setz(room->arena, request, "params", params);
        btz_json_setz(room->arena, requests, "sure", request);
        rc = btz_mcp_server_reply_input(server, call->token, requests, BTZ_STR("state"), &err);
    } else {
        rc = btz_mcp_server_ask(server, call->token, BTZ_STR("elicitation/create"), params, &number,
                                &err);
    }
    if (rc != BTZ_OK) {
        fail_msg("ask: %s", err.msg);
    }
}

/* The client's owner accepts. */
static void answer_ask(struct room *room, const struct btz_mcp_client_event *event)
{
    struct btz_mcp_client *client = btz_http_link_client(room->link);
    const struct btz_json *accept = parse(room->arena, "{\"action\":\"accept\",\"content\":{}}");
    struct btz_json *responses = btz_json_new_object(room->arena);
    struct btz_err err;
    int rc;

    room->asked++;
    if (event->kind == BTZ_MCP_CLIENT_ASKED) {
        rc = btz_mcp_client_answer(client, event->ask, accept, &err);
    } else {
        btz_json_setz(room->arena, responses, "sure", accept);
        rc = btz_mcp_client_answer_inputs(client, event->request, responses, &err);
    }
    if (rc != BTZ_OK) {
        fail_msg("answer: %s", err.msg);
    }
}

static void take_events(struct room *room)
{
    struct btz_mcp_server_event call;
    struct btz_mcp_client_event event;
    uint64_t handle;

    while (btz_mcp_endpoint_next_event(btz_http_link_endpoint(room->link), &handle, &call)) {
        if (call.kind == BTZ_MCP_SERVER_ANSWER) {
            room->answered++;
            answer(room, room->handle, room->token, BTZ_STR("answered"));
            continue;
        }
        if (call.kind != BTZ_MCP_SERVER_CALL) {
            continue;
        }
        room->served++;
        room->handle = handle;
        room->token = call.token;
        if (room->ask) {
            ask(room, btz_mcp_endpoint_server(btz_http_link_endpoint(room->link), handle), &call);
        } else if (call.inputs) {
            room->answered++;
            answer(room, handle, call.token, BTZ_STR("answered"));
        } else if (!room->hold) {
            answer(room, handle, call.token, btz_json_text(room->arena, call.arguments));
        }
    }
    while (btz_mcp_client_next_event(btz_http_link_client(room->link), &event)) {
        room->ready += event.kind == BTZ_MCP_CLIENT_READY;
        room->failed += event.kind == BTZ_MCP_CLIENT_FAILED;
        room->alarms += event.kind == BTZ_MCP_CLIENT_PROTOCOL_ERROR;
        room->changed += event.kind == BTZ_MCP_CLIENT_LIST_CHANGED;
        if (event.kind == BTZ_MCP_CLIENT_ASKED || event.kind == BTZ_MCP_CLIENT_INPUT) {
            answer_ask(room, &event);
        }
        if (event.kind == BTZ_MCP_CLIENT_RESULT) {
            room->results++;
            room->errors += event.fault != BTZ_MCP_FAULT_NONE;
            room->last = btz_arena_dup(room->arena,
                                       event.fault ? event.message
                                                   : btz_json_str(btz_json_pointer(
                                                         event.value, BTZ_STR("/content/0/text"))));
        }
    }
}

void settle(struct room *room)
{
    struct btz_err err;
    int rc;

    for (int i = 0; i < 1000; i++) {
        rc = btz_http_link_step(room->link, 0, &err);
        take_events(room);
        if (rc == BTZ_EAGAIN) {
            return;
        }
        if (rc != BTZ_OK) {
            fail_msg("step: %s", err.msg);
        }
    }
    fail_msg("no rest");
}

void call(struct room *room, const char *arguments)
{
    assert_int_equal(btz_mcp_client_call_tool(btz_http_link_client(room->link), BTZ_STR("echo"),
                                              parse(room->arena, arguments), NULL),
                     BTZ_OK);
}

void is_last(const struct room *room, const char *text)
{
    if (!btz_str_is(room->last, text)) {
        fail_msg("\n got: %.*s\nwant: %s", BTZ_FMT(room->last), text);
    }
}
