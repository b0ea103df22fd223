/* Client and server of a trial over HTTP: the same conversation by memory and by sockets, and an
 * adversary between them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wire/http_link.h"

static const char *const tools_text =
    "[{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"place\":{\"type\":"
    "\"string\",\"x-mcp-header\":\"Place\"},\"big\":{\"type\":\"string\"}}}}]";

struct room {
    struct btz_http_link *link;
    struct btz_arena *arena; /* what the events left */
    size_t served;           /* calls that reached the server */
    size_t ready, failed, results, changed, alarms;
    size_t errors; /* of the results */
    struct btz_str last;
    bool hold;              /* calls are not answered */
    bool announce;          /* progress before the result, so that it becomes a stream */
    uint64_t handle, token; /* of the last call */
};

static const struct btz_json *parse(struct btz_arena *arena, const char *text)
{
    const struct btz_json *value = NULL;
    struct btz_err err;

    if (btz_json_parse(arena, btz_str_of(text), NULL, &value, &err)) {
        fail_msg("%s: %s", text, err.msg);
    }
    return value;
}

static struct btz_mcp_catalogue catalogue(struct btz_arena *arena, const char *tools)
{
    return (struct btz_mcp_catalogue){.server_info =
                                          parse(arena, "{\"name\":\"s\",\"version\":\"1\"}"),
                                      .tools = parse(arena, tools)};
}

static struct room *enter(struct btz_http_link_options options)
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

static void leave(struct room *room)
{
    btz_http_link_free(room->link);
    btz_arena_free(room->arena);
    free(room);
}

static void answer(struct room *room, uint64_t handle, uint64_t token, struct btz_str text)
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

static void take_events(struct room *room)
{
    struct btz_mcp_server_event call;
    struct btz_mcp_client_event event;
    uint64_t handle;

    while (btz_mcp_endpoint_next_event(btz_http_link_endpoint(room->link), &handle, &call)) {
        if (call.kind != BTZ_MCP_SERVER_CALL) {
            continue;
        }
        room->served++;
        room->handle = handle;
        room->token = call.token;
        if (!room->hold) {
            answer(room, handle, call.token, btz_json_text(room->arena, call.arguments));
        }
    }
    while (btz_mcp_client_next_event(btz_http_link_client(room->link), &event)) {
        room->ready += event.kind == BTZ_MCP_CLIENT_READY;
        room->failed += event.kind == BTZ_MCP_CLIENT_FAILED;
        room->alarms += event.kind == BTZ_MCP_CLIENT_PROTOCOL_ERROR;
        room->changed += event.kind == BTZ_MCP_CLIENT_LIST_CHANGED;
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

static void settle(struct room *room)
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

static void call(struct room *room, const char *arguments)
{
    assert_int_equal(btz_mcp_client_call_tool(btz_http_link_client(room->link), BTZ_STR("echo"),
                                              parse(room->arena, arguments), NULL),
                     BTZ_OK);
}

static void is_last(const struct room *room, const char *text)
{
    if (!btz_str_is(room->last, text)) {
        fail_msg("\n got: %.*s\nwant: %s", BTZ_FMT(room->last), text);
    }
}

static const char *big_call(struct room *room)
{
    char *text = btz_arena_alloc(room->arena, 700000);
    size_t at = 0;

    memcpy(text, "{\"big\":\"", 8);
    for (at = 8; at < 600000; at++) {
        text[at] = 'x';
    }
    memcpy(text + at, "\"}", 3);
    return text;
}

/* One conversation; the transcript is copied into `out`. */
static void talk(enum btz_http_pump pump, enum btz_mcp_client_mode mode, struct btz_buf *out)
{
    struct room *room =
        enter((struct btz_http_link_options){.pump = pump, .client = {.client = {.mode = mode}}});
    struct btz_mcp_client *client = btz_http_link_client(room->link);
    struct btz_mcp_catalogue offer = catalogue(room->arena, "[]");
    uint64_t listen = 0;
    const char *big = big_call(room);

    settle(room);
    assert_int_equal(room->ready, 1);
    assert_int_equal(btz_mcp_client_list_tools(client, NULL), BTZ_OK);
    settle(room);
    call(room, "{\"place\":\"here\"}");
    settle(room);
    is_last(room, "{\"place\":\"here\"}");
    room->announce = true;
    call(room, "{\"place\":\"\xc3\xa4\"}");
    call(room, big);
    settle(room);
    assert_int_equal(room->results, 3);
    assert_int_equal(room->errors, 0);
    is_last(room, big);
    if (btz_mcp_client_revision(client) == BTZ_MCP_2026_07_28) {
        assert_int_equal(btz_mcp_client_listen(client, BTZ_MCP_LIST_TOOLS, &listen), BTZ_OK);
        settle(room);
    }
    assert_int_equal(
        btz_mcp_endpoint_set_catalogue(btz_http_link_endpoint(room->link), &offer, NULL), BTZ_OK);
    settle(room);
    assert_int_equal(room->changed, 1);
    /* Cancel a call that the server does not answer. */
    room->hold = true;
    assert_int_equal(btz_mcp_client_call_tool(client, BTZ_STR("echo"), NULL, &listen), BTZ_OK);
    settle(room);
    (void)!btz_mcp_client_cancel(client, listen, BTZ_STR("enough"));
    settle(room);
    btz_mcp_http_session_close(btz_http_link_session(room->link));
    settle(room);
    assert_true(btz_mcp_http_session_settled(btz_http_link_session(room->link)));
    assert_int_equal(btz_mcp_endpoint_exchanges(btz_http_link_endpoint(room->link)), 0);
    assert_int_equal(btz_mcp_endpoint_sessions(btz_http_link_endpoint(room->link)), 0);
    assert_int_equal(room->alarms, 0);
    btz_buf_add_str(out, btz_http_link_transcript(room->link));
    leave(room);
}

static void same_bytes(enum btz_mcp_client_mode mode)
{
    struct btz_buf memory;
    struct btz_buf sockets;
    struct btz_buf again;

    btz_buf_init(&memory, (size_t)64 << 20);
    btz_buf_init(&sockets, (size_t)64 << 20);
    btz_buf_init(&again, (size_t)64 << 20);
    talk(BTZ_HTTP_MEMORY, mode, &memory);
    talk(BTZ_HTTP_SOCKET, mode, &sockets);
    talk(BTZ_HTTP_SOCKET, mode, &again);
    assert_true(memory.len > 1200000);
    assert_true(btz_str_eq(btz_buf_view(&memory), btz_buf_view(&sockets)));
    assert_true(btz_str_eq(btz_buf_view(&memory), btz_buf_view(&again)));
    btz_buf_fini(&memory);
    btz_buf_fini(&sockets);
    btz_buf_fini(&again);
}

static void test_same_bytes_legacy(void **state)
{
    (void)state;
    same_bytes(BTZ_MCP_CLIENT_LEGACY);
}

static void test_same_bytes_modern(void **state)
{
    (void)state;
    same_bytes(BTZ_MCP_CLIENT_MODERN);
}

static void test_same_bytes_probe(void **state)
{
    (void)state;
    same_bytes(BTZ_MCP_CLIENT_PROBE);
}

/* A parked stream: the client comes back after the server's `retry`, which is skipped. */
static void test_wait_is_skipped(void **state)
{
    struct room *room = enter((struct btz_http_link_options){.now_us = 5});
    (void)state;

    settle(room);
    room->hold = true;
    call(room, "{}");
    settle(room);
    assert_int_equal(room->served, 1);
    assert_int_equal(
        btz_mcp_endpoint_park(btz_http_link_endpoint(room->link), room->handle, btz_mcp_id_int(2)),
        BTZ_OK);
    settle(room);
    assert_int_equal(btz_http_link_now_us(room->link), 1000005);
    answer(room, room->handle, room->token, BTZ_STR("late"));
    settle(room);
    is_last(room, "late");
    assert_int_equal(btz_mcp_http_session_stats(btz_http_link_session(room->link)).resumed, 1);
    leave(room);
}

/* The server loses the session: the client opens another one and the call goes on. */
static void test_session_is_renewed(void **state)
{
    struct room *room = enter((struct btz_http_link_options){.pump = BTZ_HTTP_SOCKET});
    struct btz_mcp_http_session *session = btz_http_link_session(room->link);
    struct btz_str before;
    (void)state;

    settle(room);
    call(room, "{}");
    settle(room);
    before = btz_arena_dup(room->arena, btz_mcp_http_session_id(session));
    assert_int_equal(btz_mcp_endpoint_end_session(btz_http_link_endpoint(room->link), room->handle),
                     BTZ_OK);
    call(room, "{\"big\":\"again\"}");
    settle(room);
    is_last(room, "{\"big\":\"again\"}");
    assert_int_equal(room->errors, 0);
    assert_false(btz_str_eq(before, btz_mcp_http_session_id(session)));
    assert_true(btz_mcp_http_session_take_flags(session) & BTZ_MCP_HTTP_RENEWED);
    assert_int_equal(btz_mcp_endpoint_sessions(btz_http_link_endpoint(room->link)), 1);
    leave(room);
}

/* The server's annotations change behind the client's back: -32020, a new list, the call again. */
static void test_headers_are_learned(void **state)
{
    struct room *room = enter(
        (struct btz_http_link_options){.client = {.client = {.mode = BTZ_MCP_CLIENT_MODERN}}});
    struct btz_mcp_http_session *session = btz_http_link_session(room->link);
    struct btz_mcp_catalogue offer = catalogue(
        room->arena, "[{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"
                     "\"place\":{\"type\":\"string\",\"x-mcp-header\":\"Elsewhere\"}}}}]");
    (void)state;

    settle(room);
    assert_int_equal(btz_mcp_client_list_tools(btz_http_link_client(room->link), NULL), BTZ_OK);
    settle(room);
    offer.quiet = true;
    assert_int_equal(
        btz_mcp_endpoint_set_catalogue(btz_http_link_endpoint(room->link), &offer, NULL), BTZ_OK);
    call(room, "{\"place\":\"here\"}");
    settle(room);
    is_last(room, "{\"place\":\"here\"}");
    assert_int_equal(room->served, 1);
    assert_int_equal(btz_mcp_http_session_stats(session).retried_calls, 1);
    assert_true(btz_str_find(btz_http_link_transcript(room->link),
                             BTZ_STR("\r\nMcp-Param-Elsewhere: here\r\n")) > 0);
    leave(room);
}

/* Both ends by the HTTP+SSE transport of 2024-11-05. */
static void test_old_transport(void **state)
{
    (void)state;
    for (int pump = BTZ_HTTP_MEMORY; pump <= BTZ_HTTP_SOCKET; pump++) {
        struct room *room = enter((struct btz_http_link_options){
            .pump = (enum btz_http_pump)pump,
            .client = {.transport = BTZ_MCP_HTTP_SSE, .client = {.revision = BTZ_MCP_2024_11_05}},
            .server = {.allow_legacy_sse = true}});

        settle(room);
        assert_int_equal(room->ready, 1);
        call(room, "{\"big\":\"old\"}");
        settle(room);
        is_last(room, "{\"big\":\"old\"}");
        assert_true(
            btz_str_find(btz_http_link_transcript(room->link), BTZ_STR("event: endpoint\n")) > 0);
        btz_mcp_http_session_close(btz_http_link_session(room->link));
        settle(room);
        assert_int_equal(btz_mcp_endpoint_exchanges(btz_http_link_endpoint(room->link)), 0);
        leave(room);
    }
}

/* Peers that keep each other busy are stopped. */
static enum btz_http_relay_verdict loop(void *context, struct btz_http_link *link,
                                        struct btz_http_relay_item *item)
{
    (void)context;
    if (item->own) {
        assert_int_equal(btz_http_link_replay(
                             link, BTZ_STR("GET"), BTZ_STR("/mcp"),
                             &(struct btz_http_field){BTZ_STR("Host"), BTZ_STR("other.example")}, 1,
                             BTZ_STR_NONE, BTZ_STR_NONE, NULL),
                         BTZ_OK);
    }
    return BTZ_RELAY_PASS;
}

static void test_no_rest(void **state)
{
    struct room *room = enter((struct btz_http_link_options){.max_moves = 200});
    const struct btz_http_field host = {BTZ_STR("Host"), BTZ_STR("tools.example")};
    struct btz_err err;
    (void)state;

    settle(room);
    btz_http_link_set_relay(room->link, loop, NULL);
    assert_int_equal(btz_http_link_replay(room->link, BTZ_STR("GET"), BTZ_STR("/mcp"), &host, 1,
                                          BTZ_STR_NONE, BTZ_STR_NONE, NULL),
                     BTZ_OK);
    assert_int_equal(btz_http_link_step(room->link, 0, &err), BTZ_ELIMIT);
    assert_true(err.msg[0]);
    leave(room);
}

/* --- an adversary --- */

struct adversary {
    enum btz_http_relay_point point;
    const char *target; /* substring of the body at `point` that makes it act */
    enum btz_http_relay_verdict verdict;
    struct btz_str body;
    int status;
    bool replay, inject;
    size_t seen[4], own, acted;
    int own_status;
    struct btz_str replayed; /* what came back */
    struct btz_arena *arena;
    uint64_t exchange; /* of the newest stream */
};

static enum btz_http_relay_verdict act(void *context, struct btz_http_link *link,
                                       struct btz_http_relay_item *item)
{
    static const struct btz_http_field json_field = {BTZ_STR("Content-Type"),
                                                     BTZ_STR("application/json")};
    struct adversary *a = context;

    a->seen[item->point]++;
    if (item->own) {
        a->own++;
        a->own_status = item->status;
        a->replayed = btz_arena_dup(a->arena, item->body);
        return BTZ_RELAY_PASS;
    }
    if (item->point == BTZ_RELAY_STREAM) {
        a->exchange = item->exchange;
    }
    if (item->point != a->point || btz_str_find(item->body, btz_str_of(a->target)) < 0) {
        return BTZ_RELAY_PASS;
    }
    a->acted++;
    if (a->replay) {
        assert_int_equal(btz_http_link_replay(link, item->method, item->target, item->fields,
                                              item->field_count, item->body, BTZ_STR_NONE, NULL),
                         BTZ_OK);
    }
    if (a->inject) {
        assert_int_equal(btz_http_link_inject_event(link, item->exchange, BTZ_STR_NONE,
                                                    BTZ_STR_NONE, -1, a->body),
                         BTZ_OK);
        return a->verdict;
    }
    if (a->verdict == BTZ_RELAY_ANSWER || a->verdict == BTZ_RELAY_REPLACE) {
        item->body = a->body;
        if (a->status) {
            item->status = a->status;
            item->fields = &json_field;
            item->field_count = 1;
        }
    }
    return a->verdict;
}

/* A modern call "{}" with the adversary on the way. */
static struct room *attacked(struct adversary *a, bool announce, enum btz_mcp_client_mode mode)
{
    struct room *room = enter((struct btz_http_link_options){.client = {.client = {.mode = mode}}});

    a->arena = room->arena;
    btz_http_link_set_relay(room->link, act, a);
    settle(room);
    assert_int_equal(room->ready, 1);
    room->announce = announce;
    call(room, "{\"big\":\"o\"}");
    settle(room);
    return room;
}

static void test_relay_requests(void **state)
{
    struct adversary drop = {BTZ_RELAY_REQUEST, "tools/call", BTZ_RELAY_DROP};
    struct adversary lie = {.point = BTZ_RELAY_REQUEST,
                            .target = "tools/call",
                            .verdict = BTZ_RELAY_ANSWER,
                            .status = 200,
                            .body = BTZ_STR("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":"
                                            "[{\"type\":\"text\",\"text\":\"forged\"}],"
                                            "\"resultType\":\"complete\"}}")};
    struct adversary change = {
        .point = BTZ_RELAY_REQUEST,
        .target = "tools/call",
        .verdict = BTZ_RELAY_REPLACE,
        .body = BTZ_STR("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{"
                        "\"name\":\"echo\",\"arguments\":{\"big\":\"changed\"}}}")};
    struct adversary twice = {.point = BTZ_RELAY_REQUEST,
                              .target = "tools/call",
                              .verdict = BTZ_RELAY_PASS,
                              .replay = true};
    struct room *room;
    (void)state;

    room = attacked(&drop, false, BTZ_MCP_CLIENT_MODERN);
    assert_int_equal(room->served, 0);
    assert_int_equal(room->errors, 1);
    is_last(room, "the connection broke before the answer");
    leave(room);
    room = attacked(&lie, false, BTZ_MCP_CLIENT_MODERN);
    assert_int_equal(room->served, 0);
    is_last(room, "forged");
    leave(room);
    room = attacked(&change, false, BTZ_MCP_CLIENT_LEGACY);
    is_last(room, "{\"big\":\"changed\"}");
    leave(room);
    /* A replayed modern call is a call of its own; its answer goes to the adversary alone. */
    room = attacked(&twice, false, BTZ_MCP_CLIENT_MODERN);
    assert_int_equal(room->served, 2);
    assert_int_equal(room->results, 1);
    assert_int_equal(twice.own, 1);
    assert_true(btz_str_find(twice.replayed, BTZ_STR("\"id\":2")) > 0);
    leave(room);
}

static void test_relay_responses(void **state)
{
    struct adversary drop = {BTZ_RELAY_RESPONSE, "content", BTZ_RELAY_DROP};
    struct adversary change = {.point = BTZ_RELAY_RESPONSE,
                               .target = "content",
                               .verdict = BTZ_RELAY_REPLACE,
                               .body = BTZ_STR("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{"
                                               "\"content\":[{\"type\":\"text\",\"text\":"
                                               "\"swapped\"}],\"resultType\":\"complete\"}}")};
    struct adversary foreign = {.point = BTZ_RELAY_RESPONSE,
                                .target = "content",
                                .verdict = BTZ_RELAY_REPLACE,
                                .body = BTZ_STR("{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{"
                                                "\"content\":[]}}")};
    struct room *room;
    (void)state;

    room = attacked(&drop, false, BTZ_MCP_CLIENT_MODERN);
    assert_int_equal(room->served, 1);
    assert_int_equal(room->errors, 1);
    leave(room);
    room = attacked(&change, false, BTZ_MCP_CLIENT_MODERN);
    is_last(room, "swapped");
    leave(room);
    room = attacked(&foreign, false, BTZ_MCP_CLIENT_MODERN);
    assert_int_equal(room->errors, 1);
    assert_int_equal(btz_mcp_http_session_stats(btz_http_link_session(room->link)).foreign, 1);
    leave(room);
}

static void test_relay_events(void **state)
{
    struct adversary watch = {BTZ_RELAY_EVENT, "no such text", BTZ_RELAY_PASS};
    struct adversary drop = {BTZ_RELAY_EVENT, "notifications/progress", BTZ_RELAY_DROP};
    struct adversary swallow = {BTZ_RELAY_EVENT, "content", BTZ_RELAY_DROP};
    struct adversary change = {.point = BTZ_RELAY_EVENT,
                               .target = "content",
                               .verdict = BTZ_RELAY_REPLACE,
                               .body = BTZ_STR("{\"jsonrpc\":\"2.0\",\"id\":2,\n\"result\":{"
                                               "\"content\":[{\"type\":\"text\",\"text\":"
                                               "\"swapped\"}],\"resultType\":\"complete\"}}")};
    struct adversary inject = change;
    struct room *room;
    (void)state;

    inject.inject = true;
    inject.verdict = BTZ_RELAY_PASS;
    room = attacked(&watch, true, BTZ_MCP_CLIENT_MODERN);
    is_last(room, "{\"big\":\"o\"}");
    assert_int_equal(watch.seen[BTZ_RELAY_STREAM], 1);
    assert_int_equal(watch.seen[BTZ_RELAY_EVENT], 2);
    leave(room);
    room = attacked(&drop, true, BTZ_MCP_CLIENT_MODERN);
    is_last(room, "{\"big\":\"o\"}");
    assert_int_equal(drop.acted, 1);
    leave(room);
    room = attacked(&swallow, true, BTZ_MCP_CLIENT_MODERN);
    is_last(room, "the server ended the response without an answer");
    leave(room);
    room = attacked(&change, true, BTZ_MCP_CLIENT_MODERN);
    is_last(room, "swapped");
    leave(room);
    /* The first response wins; the real one comes behind it and is not read. */
    room = attacked(&inject, true, BTZ_MCP_CLIENT_MODERN);
    is_last(room, "swapped");
    assert_int_equal(room->results, 1);
    assert_int_equal(btz_mcp_http_session_stats(btz_http_link_session(room->link)).after_answer, 1);
    leave(room);
}

static void test_relay_get_stream(void **state)
{
    struct adversary a = {BTZ_RELAY_EVENT, "no such text", BTZ_RELAY_PASS};
    struct room *room = attacked(&a, false, BTZ_MCP_CLIENT_LEGACY);
    struct btz_str change =
        BTZ_STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    struct btz_str forged = BTZ_STR("{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[]}}");
    const struct btz_http_field host = {BTZ_STR("Host"), BTZ_STR("other.example")};
    uint64_t id = 0;
    (void)state;

    assert_true(a.exchange > 0);
    assert_int_equal(
        btz_http_link_inject_event(room->link, a.exchange, BTZ_STR_NONE, BTZ_STR_NONE, -1, change),
        BTZ_OK);
    settle(room);
    assert_int_equal(room->changed, 1);
    /* A forged response on the GET stream does not answer the call. */
    room->hold = true;
    call(room, "{}");
    settle(room);
    assert_int_equal(
        btz_http_link_inject_event(room->link, a.exchange, BTZ_STR_NONE, BTZ_STR_NONE, -1, forged),
        BTZ_OK);
    settle(room);
    assert_int_equal(room->results, 1);
    answer(room, room->handle, room->token, BTZ_STR("true"));
    settle(room);
    is_last(room, "true");
    assert_int_equal(
        btz_http_link_inject_event(room->link, 999, BTZ_STR_NONE, BTZ_STR_NONE, -1, change),
        BTZ_ENOTFOUND);
    assert_int_equal(btz_http_link_replay(room->link, BTZ_STR("PO ST"), BTZ_STR("/mcp"), NULL, 0,
                                          BTZ_STR_NONE, BTZ_STR_NONE, NULL),
                     BTZ_EINVAL);
    /* Another host: the server refuses it like anybody's request. */
    assert_int_equal(btz_http_link_replay(room->link, BTZ_STR("GET"), BTZ_STR("/mcp"), &host, 1,
                                          BTZ_STR_NONE, BTZ_STR_NONE, &id),
                     BTZ_OK);
    settle(room);
    assert_int_equal(a.own, 1);
    assert_int_equal(a.own_status, 403);
    assert_int_equal(btz_http_link_end_replay(room->link, id), BTZ_ENOTFOUND);
    leave(room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bytes_legacy),  cmocka_unit_test(test_same_bytes_modern),
        cmocka_unit_test(test_same_bytes_probe),   cmocka_unit_test(test_wait_is_skipped),
        cmocka_unit_test(test_session_is_renewed), cmocka_unit_test(test_headers_are_learned),
        cmocka_unit_test(test_old_transport),      cmocka_unit_test(test_no_rest),
        cmocka_unit_test(test_relay_requests),     cmocka_unit_test(test_relay_responses),
        cmocka_unit_test(test_relay_events),       cmocka_unit_test(test_relay_get_stream),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
