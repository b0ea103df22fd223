/* Servers that do not keep to the rules of HTTP streams. */
#include "http_helper.h"

#include <stdlib.h>

#define OPTIONS(...) ((struct btz_mcp_http_session_options){__VA_ARGS__})
#define RESULT(id) "{'jsonrpc':'2.0','id':" id ",'result':{'content':[]}}"
#define MODERN_RESULT(id)                                                                          \
    "{'jsonrpc':'2.0','id':" id ",'result':{'resultType':'complete','content':[]}}"

static uint64_t call(struct btz_mcp_http_session *session)
{
    uint64_t request = 0;

    assert_int_equal(btz_mcp_client_call_tool(btz_mcp_http_session_client(session), BTZ_STR("t"),
                                              NULL, &request),
                     BTZ_OK);
    return request;
}

/* The answer ends the call `request` with `fault`, whatever alarms come before that. */
static void call_fails(struct btz_mcp_http_session *s, uint64_t request, enum btz_mcp_fault fault)
{
    struct btz_mcp_client_event event;

    while (btz_mcp_client_next_event(btz_mcp_http_session_client(s), &event)) {
        if (event.kind != BTZ_MCP_CLIENT_PROTOCOL_ERROR) {
            assert_int_equal(event.kind, BTZ_MCP_CLIENT_RESULT);
            assert_int_equal(event.request, request);
            assert_int_equal(event.fault, fault);
            assert_true(event.message.len > 0);
            return;
        }
    }
    fail_msg("the call did not end");
}

struct bad_answer {
    int status;
    const char *fields, *text;
    enum btz_mcp_fault fault;
};

static const struct bad_answer bad_answers[] = {
    {200, "", RESULT("2"), BTZ_MCP_FAULT_INVALID},
    {200, "Content-Type: text/html", "<p>", BTZ_MCP_FAULT_INVALID},
    {200, "Content-Type: application/jsonx", RESULT("2"), BTZ_MCP_FAULT_INVALID},
    {200, JSON "\n" JSON, RESULT("2"), BTZ_MCP_FAULT_INVALID},
    {200, JSON "\nContent-Encoding: gzip", "xx", BTZ_MCP_FAULT_INVALID},
    {200, JSON, "", BTZ_MCP_FAULT_INVALID},
    {200, JSON, "[" RESULT("2") "]", BTZ_MCP_FAULT_INVALID},
    {200, JSON, "{'jsonrpc':'2.0','id':2,'method':'ping'}", BTZ_MCP_FAULT_INVALID},
    {200, JSON, "{'jsonrpc':'2.0','method':'notifications/tools/list_changed'}",
     BTZ_MCP_FAULT_INVALID},
    {200, JSON, RESULT("'2'"), BTZ_MCP_FAULT_INVALID},
    {200, JSON, RESULT("7"), BTZ_MCP_FAULT_INVALID},
    {200, JSON, "{'jsonrpc':'2.0','id':2,'result':{'content':[]},'x':1}", BTZ_MCP_FAULT_INVALID},
    {202, "", "", BTZ_MCP_FAULT_INVALID},
    {204, "", "", BTZ_MCP_FAULT_INVALID},
    {302, "Location: http://other.example/mcp", "", BTZ_MCP_FAULT_INVALID},
    {308, "Location: /elsewhere", "", BTZ_MCP_FAULT_INVALID},
    {401, "", "", BTZ_MCP_FAULT_CLOSED},
    {403, JSON, "{'jsonrpc':'2.0','id':2,'error':{'code':1,'message':'x'}}", BTZ_MCP_FAULT_CLOSED},
    {500, JSON, RESULT("2"), BTZ_MCP_FAULT_CLOSED},
    {500, JSON, "no", BTZ_MCP_FAULT_CLOSED},
    {500, EVENTS, "data: " RESULT("2") "\n\n", BTZ_MCP_FAULT_CLOSED},
    {500, JSON, "{'jsonrpc':'2.0','id':3,'error':{'code':1,'message':'x'}}", BTZ_MCP_FAULT_CLOSED},
    {200, EVENTS, "data: no json\n\n", BTZ_MCP_FAULT_CLOSED},
    {200, EVENTS, "data: \xff\n\n", BTZ_MCP_FAULT_INVALID},
    {200, EVENTS, "event: other\ndata: " RESULT("2") "\n\n", BTZ_MCP_FAULT_CLOSED},
    {200, EVENTS, "data: " RESULT("2"), BTZ_MCP_FAULT_CLOSED}, /* the event has no end */
};

static void test_bad_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_answers) / sizeof(bad_answers[0]); i++) {
        const struct bad_answer *bad = &bad_answers[i];
        struct btz_mcp_http_session *s = legacy_session(OPTIONS(0), NULL);
        uint64_t request = call(s);
        uint64_t id = sends_any(s, NULL);

        head(s, id, bad->status, bad->fields);
        (void)!btz_mcp_http_session_response_body(s, id, btz_str_of(q(bad->text)));
        (void)!btz_mcp_http_session_response_end(s, id, BTZ_MCP_HTTP_WHOLE);
        call_fails(s, request, bad->fault);
        sends(s, NULL);
        /* The connection is still good for others. */
        request = call(s);
        answers(s, sends_any(s, NULL), 200, JSON, RESULT("3"));
        assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).request, request);
        btz_mcp_http_session_free(s);
    }
}

static void test_foreign_responses(void **state)
{
    uint64_t stream;
    struct btz_mcp_http_session *s = legacy_session(OPTIONS(0), &stream);
    uint64_t first = call(s);
    uint64_t second = call(s);
    uint64_t x = sends_any(s, NULL);
    uint64_t y = sends_any(s, NULL);
    (void)state;

    /* On the GET stream, on another request's stream, as an unreadable message: dropped. */
    body(s, stream, "data: " RESULT("2") "\n\n");
    event_of(s, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    head(s, y, 200, EVENTS);
    body(s, y, "data: " RESULT("2") "\n\ndata: {'jsonrpc':'2.0','id':2,'result':1}\n\n");
    event_of(s, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    event_of(s, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    quiet(s);
    assert_int_equal(btz_mcp_http_session_stats(s).foreign, 3);
    answers(s, x, 200, JSON, RESULT("2"));
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).request, first);
    body(s, y, "data: " RESULT("3") "\n\n");
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).request, second);
    /* The response ends the stream: what comes behind it is not read. */
    body(s, y, "data: {'jsonrpc':'2.0','method':'notifications/tools/list_changed'}\n\n");
    closes(s, y);
    quiet(s);
    assert_int_equal(btz_mcp_http_session_stats(s).after_answer, 1);
    btz_mcp_http_session_free(s);
}

static void test_any_stream(void **state)
{
    uint64_t stream;
    struct btz_mcp_http_session *s = legacy_session(OPTIONS(.accept_any_stream = true), &stream);
    uint64_t first = call(s);
    uint64_t x;
    (void)state;

    body(s, stream,
         "data: " RESULT("2") "\n\n"); /* not even the weak host takes what it has not asked */
    assert_int_equal(btz_mcp_client_in_flight(btz_mcp_http_session_client(s)), 1);
    (void)first;
    btz_mcp_http_session_free(s);
    s = legacy_session(OPTIONS(.accept_any_stream = true), &stream);
    first = call(s);
    x = sends_any(s, NULL);
    body(s, stream, "data: " RESULT("2") "\n\n");
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).request, first);
    closes(s, x);
    quiet(s);
    assert_int_equal(btz_mcp_http_session_stats(s).foreign, 1);
    btz_mcp_http_session_free(s);
}

static void test_modern_streams(void **state)
{
    struct btz_mcp_http_session *s = modern_session(OPTIONS(.client = {.progress = true}));
    uint64_t first = call(s);
    uint64_t second = call(s);
    uint64_t x = sends_any(s, NULL);
    uint64_t y = sends_any(s, NULL);
    struct btz_mcp_client_event event;
    (void)state;

    head(s, x, 200, EVENTS);
    head(s, y, 200, EVENTS);
    body(s, x,
         "data: {'jsonrpc':'2.0','method':'notifications/progress','params':{'progressToken':"
         "2,'progress':1}}\n\n");
    event = event_of(s, BTZ_MCP_CLIENT_PROGRESS);
    assert_int_equal(event.request, first);
    /* Progress and subscriptions of others; requests. */
    body(s, y,
         "data: {'jsonrpc':'2.0','method':'notifications/progress','params':{'progressToken':"
         "2,'progress':2}}\n\n");
    event_of(s, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    body(s, y,
         "data: {'jsonrpc':'2.0','method':'notifications/tools/list_changed','params':"
         "{'_meta':{'io.modelcontextprotocol/subscriptionId':2}}}\n\n");
    event_of(s, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    body(s, y,
         "data: {'jsonrpc':'2.0','method':'notifications/cancelled','params':"
         "{'requestId':2}}\n\n");
    event_of(s, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    assert_int_equal(btz_mcp_http_session_stats(s).foreign, 3);
    body(s, y, "data: {'jsonrpc':'2.0','id':1,'method':'ping'}\n\n");
    event_of(s, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    quiet(s);
    body(s, y, "data: " MODERN_RESULT("3") "\n\n");
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).request, second);
    end(s, y, BTZ_MCP_HTTP_WHOLE);
    body(s, x, "data: " MODERN_RESULT("2") "\n\n");
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).request, first);
    btz_mcp_http_session_free(s);
}

static void test_sizes(void **state)
{
    struct btz_mcp_http_session *s =
        legacy_session(OPTIONS(.max_body = 1000, .max_stream = 3000), NULL);
    char *big = calloc(1, 1200);
    uint64_t request;
    uint64_t id;
    (void)state;

    memset(big, ' ', 1100);
    request = call(s);
    id = sends_any(s, NULL);
    head(s, id, 200, JSON);
    body(s, id, big);
    closes(s, id);
    call_fails(s, request, BTZ_MCP_FAULT_LIMIT);
    /* One event that never ends; a line that never ends; comments without end. */
    request = call(s);
    id = sends_any(s, NULL);
    head(s, id, 200, EVENTS);
    body(s, id, "data: ");
    body(s, id, big);
    closes(s, id);
    call_fails(s, request, BTZ_MCP_FAULT_LIMIT);
    request = call(s);
    id = sends_any(s, NULL);
    head(s, id, 200, EVENTS);
    for (int i = 0; i < 1000; i++) {
        body(s, id, ":\n\n");
    }
    body(s, id, ":\n\n");
    closes(s, id);
    call_fails(s, request, BTZ_MCP_FAULT_LIMIT);
    quiet(s);
    assert_int_equal(btz_mcp_http_session_stats(s).oversize, 3);
    free(big);
    btz_mcp_http_session_free(s);
}

static void test_session_ids(void **state)
{
    static const char *const fields[] = {
        JSON "\nMcp-Session-Id: a b", JSON "\nMcp-Session-Id:", JSON "\nMcp-Session-Id: \xc3\xa4",
        JSON "\nMcp-Session-Id: a\nMcp-Session-Id: a"};
    (void)state;

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        struct btz_mcp_http_session *s = new_session(OPTIONS(0));
        uint64_t id = sends_any(s, NULL);

        head(s, id, 200, fields[i]);
        assert_int_equal(event_of(s, BTZ_MCP_CLIENT_FAILED).fault, BTZ_MCP_FAULT_INVALID);
        closes(s, id);
        quiet(s);
        assert_int_equal(btz_mcp_http_session_stats(s).bad_session_id, 1);
        btz_mcp_http_session_free(s);
    }
}

/* A server that pings without end and answers nothing cannot stop the requests. */
static void test_unanswered_notes(void **state)
{
    uint64_t stream;
    struct btz_mcp_http_session *s = legacy_session(OPTIONS(.max_exchanges = 4), &stream);
    struct btz_mcp_http_exchange x;
    uint64_t oldest = 0;
    (void)state;

    for (int i = 0; i < 3; i++) {
        body(s, stream, "data: {'jsonrpc':'2.0','id':'p','method':'ping'}\n\n");
        sends_any(s, &x);
        oldest = oldest ? oldest : x.id;
    }
    call(s);
    sends_any(s, &x);
    assert_text(x.rpc_method, "tools/call");
    closes(s, oldest);
    btz_mcp_http_session_free(s);
}

static void test_options(void **state)
{
    struct btz_mcp_client_options client = {.name = BTZ_STR("t"), .version = BTZ_STR("1")};
    const struct btz_mcp_http_session_options bad[] = {
        {.client = client},
        {.client = client, .host = BTZ_STR("a b")},
        {.client = client, .host = BTZ_STR("a\r\nX: y")},
        {.client = client, .host = BTZ_STR("a"), .target = BTZ_STR("mcp")},
        {.client = client, .host = BTZ_STR("a"), .target = BTZ_STR("/m c")},
        {.client = client, .host = BTZ_STR("a"), .target = BTZ_STR("/m#c")},
        {.client = client, .host = BTZ_STR("a"), .authorization = BTZ_STR("x\r\ny: z")},
        {.client = client, .host = BTZ_STR("a"), .authorization = BTZ_STR(" x")},
        {.client = client, .host = BTZ_STR("a"), .retry_ms = -1},
        {.host = BTZ_STR("a")},
        {.client = {.name = BTZ_STR("t"), .version = BTZ_STR("1"), .mode = BTZ_MCP_CLIENT_PROBE},
         .host = BTZ_STR("a"),
         .transport = BTZ_MCP_HTTP_SSE},
    };
    struct btz_http_head ok = {.status = 200};
    struct btz_mcp_http_session *s;
    uint64_t id;
    (void)state;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct btz_err err = {0};

        assert_int_equal(btz_mcp_http_session_new(&bad[i], &s, &err), BTZ_EINVAL);
        assert_true(err.msg[0]);
    }
    s = new_session(OPTIONS(0));
    assert_int_equal(btz_mcp_http_session_start(s), BTZ_ESTATE);
    id = sends_any(s, NULL);
    assert_int_equal(btz_mcp_http_session_response_body(s, id, BTZ_STR("x")), BTZ_ESTATE);
    assert_int_equal(btz_mcp_http_session_response_end(s, id, BTZ_MCP_HTTP_WHOLE), BTZ_ESTATE);
    assert_int_equal(btz_mcp_http_session_response_head(s, 77, &ok), BTZ_ENOTFOUND);
    head(s, id, 100, "");
    head(s, id, 200, JSON);
    assert_int_equal(btz_mcp_http_session_response_head(s, id, &ok), BTZ_ESTATE);
    btz_mcp_http_session_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_answers),
        cmocka_unit_test(test_foreign_responses),
        cmocka_unit_test(test_any_stream),
        cmocka_unit_test(test_modern_streams),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_session_ids),
        cmocka_unit_test(test_unanswered_notes),
        cmocka_unit_test(test_options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
