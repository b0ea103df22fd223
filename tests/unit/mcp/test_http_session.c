/* Exact requests of the HTTP client session in both eras, and the answers to them. */
#include "http_helper.h"

#define OPTIONS(...) ((struct btz_mcp_http_session_options){__VA_ARGS__})
#define CALL(id, extra)                                                                            \
    "{'jsonrpc':'2.0','id':" id ",'method':'tools/call','params':{" extra                          \
    "'name':'t','arguments':{}}}"
#define RESULT(id) "{'jsonrpc':'2.0','id':" id ",'result':{'content':[]}}"
#define MODERN_RESULT(id)                                                                          \
    "{'jsonrpc':'2.0','id':" id ",'result':{'resultType':'complete','content':[]}}"
#define CALL_FIELDS "MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: t\n"

static uint64_t call(struct btz_mcp_http_session *session, const char *name)
{
    uint64_t request = 0;

    assert_int_equal(btz_mcp_client_call_tool(btz_mcp_http_session_client(session),
                                              btz_str_of(name), NULL, &request),
                     BTZ_OK);
    return request;
}

static void test_legacy_json_and_events(void **state)
{
    uint64_t stream;
    struct btz_mcp_http_session *s = legacy_session(OPTIONS(0), &stream);
    uint64_t first = call(s, "t");
    uint64_t second = call(s, "t");
    uint64_t x;
    uint64_t y;
    (void)state;

    assert_text(btz_mcp_http_session_id(s), "s-1");
    assert_false(btz_mcp_http_session_settled(s));
    x = sends(s, POST_HEAD("/mcp") LEGACY_FIELDS CALL("2", ""));
    y = sends(s, POST_HEAD("/mcp") LEGACY_FIELDS CALL("3", ""));
    /* The second answer comes first, as events, in pieces, with a notification before it. */
    head(s, y, 200, "content-type: Text/Event-Stream; charset=utf-8");
    body(s, y, ": hello\n\nid: a\ndata: {'jsonrpc':'2.0','method':'notifications/tools/");
    body(s, y, "list_changed'}\r\n\r\ndata: {'jsonrpc':'2.0','id':3,\ndata: 'result':{'content");
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_LIST_CHANGED).changed, BTZ_MCP_LIST_TOOLS);
    body(s, y, "':[]}}\n\n");
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).request, second);
    end(s, y, BTZ_MCP_HTTP_WHOLE);
    answers(s, x, 200, JSON, RESULT("2"));
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).request, first);
    quiet(s);
    assert_true(btz_mcp_http_session_settled(s));
    /* Server messages on the GET stream; the answer to a ping is a POST. */
    body(s, stream, "data: {'jsonrpc':'2.0','id':'p','method':'ping'}\n\n");
    x = sends(s, POST_HEAD("/mcp") LEGACY_FIELDS "{'jsonrpc':'2.0','id':'p','result':{}}");
    answers(s, x, 202, "", "");
    quiet(s);
    assert_int_equal(btz_mcp_http_session_take_flags(s), 0);
    btz_mcp_http_session_free(s);
}

/* Up to the GET stream, which was asked for; a call waits behind it. */
static struct btz_mcp_http_session *held_session(uint64_t *stream)
{
    struct btz_mcp_http_session *s = new_session(OPTIONS(.stream_wait_ms = 50, .now_us = 1000));
    uint64_t x = sends(s, POST_HEAD("/mcp") INIT_BODY);

    answers(s, x, 200, JSON "\nMcp-Session-Id: s-1", INIT_RESULT);
    event_of(s, BTZ_MCP_CLIENT_READY);
    call(s, "t"); /* queued before the stream */
    x = sends(s, POST_HEAD("/mcp") LEGACY_FIELDS INITIALIZED_BODY);
    answers(s, x, 202, "", "");
    *stream = sends(s, GET_HEAD("/mcp") LEGACY_FIELDS);
    sends(s, NULL);
    return s;
}

/* Calls do not overtake the stream that a server's questions need. */
static void test_legacy_waits_for_stream(void **state)
{
    struct btz_mcp_http_session *s;
    uint64_t stream;
    bool for_answer;
    (void)state;

    s = held_session(&stream);
    assert_int_equal(btz_mcp_http_session_wake_at_us(s, &for_answer), 51000);
    assert_true(for_answer);
    assert_false(btz_mcp_http_session_settled(s));
    head(s, stream, 200, EVENTS);
    assert_int_equal(btz_mcp_http_session_wake_at_us(s, NULL), -1);
    sends(s, POST_HEAD("/mcp") LEGACY_FIELDS CALL("2", ""));
    btz_mcp_http_session_free(s);
    /* A server without such a stream, one that cannot be reached, one that says nothing. */
    s = held_session(&stream);
    head(s, stream, 405, "");
    sends(s, POST_HEAD("/mcp") LEGACY_FIELDS CALL("2", ""));
    btz_mcp_http_session_free(s);
    s = held_session(&stream);
    end(s, stream, BTZ_MCP_HTTP_REFUSED);
    sends(s, POST_HEAD("/mcp") LEGACY_FIELDS CALL("2", ""));
    btz_mcp_http_session_free(s);
    s = held_session(&stream);
    btz_mcp_http_session_tick(s, 50999);
    sends(s, NULL);
    btz_mcp_http_session_tick(s, 51000);
    sends(s, POST_HEAD("/mcp") LEGACY_FIELDS CALL("2", ""));
    btz_mcp_http_session_free(s);
}

static void test_legacy_cancel_and_close(void **state)
{
    uint64_t stream;
    uint64_t request;
    uint64_t x;
    struct btz_mcp_http_session *s =
        legacy_session(OPTIONS(.authorization = BTZ_STR_NONE), &stream);
    (void)state;

    request = call(s, "t");
    x = sends_any(s, NULL);
    head(s, x, 200, EVENTS);
    assert_int_equal(
        btz_mcp_client_cancel(btz_mcp_http_session_client(s), request, BTZ_STR("late")), BTZ_OK);
    closes(s, x);
    x = sends(s, POST_HEAD("/mcp") LEGACY_FIELDS "{'jsonrpc':'2.0','method':'notifications/"
                                                 "cancelled','params':{'requestId':2,'reason':"
                                                 "'late'}}");
    answers(s, x, 202, "", "");
    quiet(s);
    /* A request that was never sent needs no cancellation. */
    request = call(s, "t");
    assert_int_equal(btz_mcp_client_cancel(btz_mcp_http_session_client(s), request, BTZ_STR_NONE),
                     BTZ_OK);
    quiet(s);
    request = call(s, "t");
    x = sends_any(s, NULL);
    btz_mcp_http_session_close(s);
    closes(s, stream);
    closes(s, x);
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).fault, BTZ_MCP_FAULT_CLOSED);
    x = sends(s, "DELETE /mcp\nHost: tools.example\nAccept-Encoding: identity\n" LEGACY_FIELDS);
    assert_false(btz_mcp_http_session_settled(s));
    answers(s, x, 405, "", "");
    quiet(s);
    assert_true(btz_mcp_http_session_settled(s));
    btz_mcp_http_session_free(s);
}

static void test_legacy_without_session_or_stream(void **state)
{
    struct btz_mcp_http_session *s =
        new_session(OPTIONS(.target = BTZ_STR("/a?b"), .authorization = BTZ_STR("Bearer x"),
                            .client = {.revision = BTZ_MCP_2025_03_26}));
    struct btz_mcp_http_exchange x;
    uint64_t id = sends_any(s, &x);
    (void)state;

    assert_text(x.target, "/a?b");
    assert_int_equal(x.kind, BTZ_MCP_REQUEST);
    assert_text(x.rpc_method, "initialize");
    answers(s, id, 200, JSON,
            "{'jsonrpc':'2.0','id':1,'result':{'protocolVersion':'2025-03-26',"
            "'capabilities':{},'serverInfo':{'name':'s','version':'1'}}}");
    event_of(s, BTZ_MCP_CLIENT_READY);
    /* No version header before 2025-06-18, no session header without an id. Others wait until the
     * server knows that the client is ready. */
    call(s, "t");
    id = sends(s, "POST /a?b\nHost: tools.example\nAccept: application/json, text/event-stream\n"
                  "Content-Type: application/json\nAccept-Encoding: identity\n"
                  "Authorization: Bearer x\n" INITIALIZED_BODY);
    sends(s, NULL);
    answers(s, id, 204, "", "");
    id = sends_any(s, &x);
    assert_text(x.rpc_method, "tools/call");
    answers(s, id, 200, JSON, RESULT("2"));
    event_of(s, BTZ_MCP_CLIENT_RESULT);
    id = sends_any(s, &x);
    assert_int_equal(x.method, BTZ_MCP_HTTP_GET);
    assert_true(x.long_lived);
    head(s, id, 405, "Allow: POST"); /* fine: there is no stream */
    closes(s, id);
    quiet(s);
    assert_int_equal(btz_mcp_http_session_take_flags(s), 0);
    btz_mcp_http_session_close(s);
    quiet(s);
    btz_mcp_http_session_free(s);
}

static void test_modern_requests(void **state)
{
    struct btz_mcp_http_session *s = modern_session(OPTIONS(0));
    struct btz_mcp_client *client = btz_mcp_http_session_client(s);
    uint64_t x;
    (void)state;

    call(s, "t");
    x = sends(s, POST_HEAD("/mcp") CALL_FIELDS CALL("2", META ","));
    answers(s, x, 200, JSON, MODERN_RESULT("2"));
    event_of(s, BTZ_MCP_CLIENT_RESULT);
    /* A name that cannot stand in a header as it is. */
    assert_int_equal(btz_mcp_client_read_resource(client, BTZ_STR("u:\xc3\xa4"), NULL), BTZ_OK);
    x = sends(s, POST_HEAD("/mcp") "MCP-Protocol-Version: 2026-07-28\nMcp-Method: resources/read\n"
                                   "Mcp-Name: =?base64?dTrDpA==?=\n{'jsonrpc':'2.0','id':3,'method'"
                                   ":'resources/read','params':{" META ",'uri':'u:\xc3\xa4'}}");
    answers(s, x, 404, JSON, "{'jsonrpc':'2.0','id':3,'error':{'code':-32602,'message':'no'}}");
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).code, -32602);
    /* An error without an id is about the request whose answer it is. */
    call(s, "t");
    x = sends_any(s, NULL);
    answers(s, x, 400, JSON, "{'jsonrpc':'2.0','error':{'code':-32600,'message':'no'}}");
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).code, -32600);
    quiet(s);
    btz_mcp_http_session_close(s);
    quiet(s); /* nothing to delete */
    btz_mcp_http_session_free(s);
}

static void test_modern_listen_and_cancel(void **state)
{
    struct btz_mcp_http_session *s = modern_session(OPTIONS(0));
    struct btz_mcp_client *client = btz_mcp_http_session_client(s);
    struct btz_mcp_http_exchange x;
    uint64_t listen;
    uint64_t request;
    uint64_t id;
    (void)state;

    assert_int_equal(btz_mcp_client_listen(client, BTZ_MCP_LIST_TOOLS, &listen), BTZ_OK);
    id = sends_any(s, &x);
    assert_true(x.long_lived);
    head(s, id, 200, EVENTS);
    body(s, id,
         "data: {'jsonrpc':'2.0','method':'notifications/subscriptions/acknowledged',"
         "'params':{'_meta':{'io.modelcontextprotocol/subscriptionId':2},'notifications':"
         "{'toolsListChanged':true}}}\n\n: keep-alive\n\n");
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_LISTENING).request, listen);
    assert_true(btz_mcp_http_session_settled(s));
    body(s, id,
         "data: {'jsonrpc':'2.0','method':'notifications/tools/list_changed','params':"
         "{'_meta':{'io.modelcontextprotocol/subscriptionId':2}}}\n\n");
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_LIST_CHANGED).request, listen);
    /* Closing the stream is the cancellation; nothing is posted. */
    request = call(s, "t");
    id = sends_any(s, NULL);
    head(s, id, 200, EVENTS);
    assert_int_equal(btz_mcp_client_cancel(client, request, BTZ_STR("r")), BTZ_OK);
    closes(s, id);
    quiet(s);
    assert_int_equal(btz_mcp_client_cancel(client, listen, BTZ_STR_NONE), BTZ_OK);
    closes(s, x.id);
    quiet(s);
    assert_int_equal(btz_mcp_http_session_stats(s).closed_streams, 2);
    /* A listen stream that breaks is over. */
    assert_int_equal(btz_mcp_client_listen(client, BTZ_MCP_LIST_TOOLS, &listen), BTZ_OK);
    id = sends_any(s, NULL);
    head(s, id, 200, EVENTS);
    end(s, id, BTZ_MCP_HTTP_BROKEN);
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_LISTEN_ENDED).fault, BTZ_MCP_FAULT_CLOSED);
    quiet(s);
    btz_mcp_http_session_free(s);
}

/* Modern: a broken stream loses its request, ids of events or not. */
static void test_modern_broken(void **state)
{
    struct btz_mcp_http_session *s = modern_session(OPTIONS(0));
    uint64_t id;
    (void)state;

    for (int how = BTZ_MCP_HTTP_WHOLE; how <= BTZ_MCP_HTTP_BROKEN; how++) {
        call(s, "t");
        id = sends_any(s, NULL);
        head(s, id, 200, EVENTS);
        body(s, id, "id: 7\nretry: 5\ndata:\n\n");
        end(s, id, (enum btz_mcp_http_end)how);
        assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).fault, BTZ_MCP_FAULT_CLOSED);
        quiet(s);
    }
    call(s, "t");
    end(s, sends_any(s, NULL), BTZ_MCP_HTTP_REFUSED);
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).fault, BTZ_MCP_FAULT_CLOSED);
    assert_int_equal(btz_mcp_http_session_wake_at_us(s, NULL), -1);
    assert_int_equal(btz_mcp_http_session_stats(s).lost, 3);
    btz_mcp_http_session_free(s);
}

#define TOOLS(id, annotation)                                                                      \
    "{'jsonrpc':'2.0','id':" id ",'result':{'resultType':'complete','ttlMs':0,'cacheScope':"       \
    "'private','tools':[{'name':'t','inputSchema':{'type':'object','properties':{'a':{'type':"     \
    "'string','x-mcp-header':'" annotation "'}}}}]}}"
#define CALL_A(id)                                                                                 \
    "{'jsonrpc':'2.0','id':" id ",'method':'tools/call','params':{" META                           \
    ",'name':'t','arguments':{'a':'v'}}}"
#define MISMATCH(id) "{'jsonrpc':'2.0','id':" id ",'error':{'code':-32020,'message':'header'}}"

static void call_a(struct btz_mcp_http_session *s)
{
    struct btz_arena *arena = btz_arena_new();

    assert_int_equal(btz_mcp_client_call_tool(btz_mcp_http_session_client(s), BTZ_STR("t"),
                                              json(arena, "{\"a\":\"v\"}"), NULL),
                     BTZ_OK);
    btz_arena_free(arena);
}

static void test_header_mismatch(void **state)
{
    struct btz_mcp_http_session *s = modern_session(OPTIONS(0));
    struct btz_mcp_http_exchange x;
    uint64_t id;
    (void)state;

    call_a(s);
    id = sends(s, POST_HEAD("/mcp") CALL_FIELDS CALL_A("2"));
    answers(s, id, 400, JSON, MISMATCH("2"));
    id = sends_any(s, &x); /* the call waits for the list */
    assert_text(x.rpc_method, "tools/list");
    sends(s, NULL);
    answers(s, id, 200, JSON, TOOLS("3", "Place"));
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_TOOLS).request, 3);
    id = sends(s, POST_HEAD("/mcp") CALL_FIELDS "Mcp-Param-Place: v\n" CALL_A("2"));
    assert_int_equal(btz_mcp_http_session_take_flags(s), BTZ_MCP_HTTP_RELISTED);
    /* Once only. */
    answers(s, id, 400, JSON, MISMATCH("2"));
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).code, -32020);
    quiet(s);
    /* The tool is gone from the list, or the list fails: the error stands. */
    for (int i = 0; i < 2; i++) {
        call_a(s);
        id = sends_any(s, &x);
        answers(s, id, 400, JSON, i ? MISMATCH("6") : MISMATCH("4"));
        id = sends_any(s, &x);
        assert_text(x.rpc_method, "tools/list");
        if (i) {
            end(s, id, BTZ_MCP_HTTP_BROKEN);
        } else {
            answers(s, id, 200, JSON,
                    "{'jsonrpc':'2.0','id':5,'result':{'resultType':'complete','ttlMs':0,"
                    "'cacheScope':'private','tools':[]}}");
        }
        event_of(s, BTZ_MCP_CLIENT_TOOLS);
        assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).code, -32020);
        quiet(s);
    }
    assert_int_equal(btz_mcp_http_session_stats(s).retried_calls, 1);
    btz_mcp_http_session_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_legacy_json_and_events),
        cmocka_unit_test(test_legacy_waits_for_stream),
        cmocka_unit_test(test_legacy_cancel_and_close),
        cmocka_unit_test(test_legacy_without_session_or_stream),
        cmocka_unit_test(test_modern_requests),
        cmocka_unit_test(test_modern_listen_and_cancel),
        cmocka_unit_test(test_modern_broken),
        cmocka_unit_test(test_header_mismatch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
