/* An adversary between client and server of an HTTP link. */
#include "http_room.h"

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
        cmocka_unit_test(test_relay_requests), cmocka_unit_test(test_relay_responses),
        cmocka_unit_test(test_relay_events), cmocka_unit_test(test_relay_get_stream)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
