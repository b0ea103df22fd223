/* Client and server of a trial over HTTP: the same conversation by memory and by sockets. */
#include "http_room.h"

#include <string.h>

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

/* The server asks the client in the middle of a call: in the legacy era by a request on the stream
 * of the call, which a POST answers; in the modern one by input_required and the call again. */
static void test_server_asks(void **state)
{
    struct btz_arena *arena = btz_arena_new();
    const struct btz_json *capabilities = parse(arena, "{\"elicitation\":{}}");
    (void)state;

    for (int modern = 0; modern < 2; modern++) {
        struct room *room = enter((struct btz_http_link_options){
            .client = {.client = {.mode = modern ? BTZ_MCP_CLIENT_MODERN : BTZ_MCP_CLIENT_LEGACY,
                                  .capabilities = capabilities}}});

        settle(room);
        room->ask = true;
        call(room, "{}");
        settle(room);
        assert_int_equal(room->asked, 1);
        assert_int_equal(room->answered, 1);
        assert_int_equal(room->results, 1);
        is_last(room, "answered");
        assert_int_equal(room->alarms, 0);
        leave(room);
    }
    btz_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bytes_legacy),
                                       cmocka_unit_test(test_same_bytes_modern),
                                       cmocka_unit_test(test_same_bytes_probe),
                                       cmocka_unit_test(test_wait_is_skipped),
                                       cmocka_unit_test(test_session_is_renewed),
                                       cmocka_unit_test(test_headers_are_learned),
                                       cmocka_unit_test(test_old_transport),
                                       cmocka_unit_test(test_server_asks),
                                       cmocka_unit_test(test_no_rest)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
