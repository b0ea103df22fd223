/* The HTTP endpoint in the modern era (2026-07-28): one row a rule of protocol brief 2.4. */
#include "endpoint_helper.h"

#include <stdio.h>
#include <string.h>

#define V "MCP-Protocol-Version: 2026-07-28\n"
#define CALL_FIELDS V "Mcp-Method: tools/call\nMcp-Name: a\n"
#define REGION_FIELDS V "Mcp-Method: tools/call\nMcp-Name: r\n"
#define REGION(value)                                                                              \
    MODERN("1", "tools/call", ",\"name\":\"r\",\"arguments\":{\"region\":" value "}")
#define BAD_VERSION_META                                                                           \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2031-01-01\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define RESULT(id)                                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                                              \
    ",\"result\":{\"resultType\":\"complete\",\"content\":[]," RESULT_META "}}}"
#define WITH_TOKEN                                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"                                            \
    "call\",\"params\":{\"name\":\"a\"," MODERN_META ",\"progressToken\":\"t\"}}}"
#define PROGRESS(value)                                                                            \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":"    \
    "\"t\",\"progress\":" value "}}"

static const struct btz_mcp_endpoint_options dual = {.no_get = false};
static const struct btz_mcp_endpoint_options modern = {.server.revisions = BTZ_MCP_SET_MODERN};

/* Status and code of each refusal, and which of two faults is named. */
static const struct {
    const char *fields, *body;
    int status, code;
    const char *id;
} refusals[] = {
    /* era: initialize with a modern claim or header */
    {V "Mcp-Method: initialize\n", MODERN("1", "initialize", ""), 404, BTZ_MCP_E_METHOD, "1"},
    {V, LEGACY("1", "initialize", ""), 400, BTZ_MCP_E_HEADER, "1"},
    /* envelope */
    {V "Mcp-Method: tools/list\n", LEGACY("1", "tools/list", ""), 400, BTZ_MCP_E_PARAMS, "1"},
    {V, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}", 400, BTZ_MCP_E_PARAMS, "1"},
    {V "Mcp-Method: tools/list\n",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
     "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}",
     400, BTZ_MCP_E_PARAMS, "1"},
    {V "Mcp-Method: tools/list\n",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
     "\"io.modelcontextprotocol/protocolVersion\":7,"
     "\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
     400, BTZ_MCP_E_PARAMS, "1"},
    {"", LEGACY("1", "server/discover", ""), 400, BTZ_MCP_E_PARAMS, "1"},
    /* version header, then method header, then a version that is served */
    {"MCP-Protocol-Version: 2025-11-25\nMcp-Method: nope\n", MODERN("1", "tools/list", ""), 400,
     BTZ_MCP_E_HEADER, "1"},
    {V "Mcp-Method: tools/call\n", MODERN("1", "tools/list", ""), 400, BTZ_MCP_E_HEADER, "1"},
    {V "Mcp-Method: Tools/List\n", MODERN("1", "tools/list", ""), 400, BTZ_MCP_E_HEADER, "1"},
    {"MCP-Protocol-Version: 2031-01-01\nMcp-Method: tools/call\n",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" BAD_VERSION_META "}}",
     400, BTZ_MCP_E_HEADER, "1"},
    {"MCP-Protocol-Version: 2031-01-01\nMcp-Method: tools/list\n",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" BAD_VERSION_META "}}",
     400, BTZ_MCP_E_VERSION, "1"},
    {"",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" BAD_VERSION_META "}}",
     400, BTZ_MCP_E_VERSION, "1"},
    /* headers that must be there */
    {"Mcp-Method: tools/list\n", MODERN("1", "tools/list", ""), 400, BTZ_MCP_E_HEADER, "1"},
    {V, MODERN("1", "tools/list", ""), 400, BTZ_MCP_E_HEADER, "1"},
    {V V "Mcp-Method: tools/list\n", MODERN("1", "tools/list", ""), 400, BTZ_MCP_E_HEADER, "1"},
    {V "Mcp-Method: tools/list\nMcp-Method: tools/list\n", MODERN("1", "tools/list", ""), 400,
     BTZ_MCP_E_HEADER, "1"},
    {V "Mcp-Method: tools/call\n", MODERN_CALL("1"), 400, BTZ_MCP_E_HEADER, "1"},
    {V "Mcp-Method: tools/call\nMcp-Name: A\n", MODERN_CALL("1"), 400, BTZ_MCP_E_HEADER, "1"},
    {V "Mcp-Method: tools/call\nMcp-Name: a\nMcp-Name: a\n", MODERN_CALL("1"), 400,
     BTZ_MCP_E_HEADER, "1"},
    {V "Mcp-Method: tools/call\nMcp-Name: =?base64?!?=\n", MODERN_CALL("1"), 400, BTZ_MCP_E_HEADER,
     "1"},
    {V "Mcp-Method: tools/call\nMcp-Name: =?base64?Yg==?=\n", MODERN_CALL("1"), 400,
     BTZ_MCP_E_HEADER, "1"},
    {V "Mcp-Method: tools/call\nMcp-Name: \xc3\xa9\n",
     MODERN("1", "tools/call", ",\"name\":\"\xc3\xa9\""), 400, BTZ_MCP_E_HEADER, "1"},
    {V "Mcp-Method: resources/read\nMcp-Name: u:2\n",
     MODERN("1", "resources/read", ",\"uri\":\"u:1\""), 400, BTZ_MCP_E_HEADER, "1"},
    /* method: after the headers */
    {V "Mcp-Method: no/such\n", MODERN("\"x\"", "no/such", ""), 404, BTZ_MCP_E_METHOD, "\"x\""},
    {V "Mcp-Method: ping\n", MODERN("1", "ping", ""), 404, BTZ_MCP_E_METHOD, "1"},
    {V, MODERN("1", "no/such", ""), 400, BTZ_MCP_E_HEADER, "1"},
    /* errors of a handler are no HTTP errors */
    {V "Mcp-Method: tools/call\nMcp-Name: zz\n", MODERN("1", "tools/call", ",\"name\":\"zz\""), 200,
     BTZ_MCP_E_PARAMS, "1"},
    /* responses have no place */
    {V, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", 400, BTZ_MCP_E_REQUEST, NULL},
};

static void refusals_in_order(void **state)
{

    (void)state;
    for (size_t i = 0; i < 2 * sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct btz_mcp_endpoint *endpoint = make_endpoint(i % 2 ? dual : modern);

        if (i % 2 == 0 && i / 2 == 1) { /* only modern: names what is served instead */
            btz_mcp_endpoint_free(endpoint);
            continue;
        }
        http(endpoint, 9, "POST", "/mcp", with(POST_FIELDS, refusals[i / 2].fields),
             refusals[i / 2].body);
        expect_error(endpoint, 9, refusals[i / 2].status, refusals[i / 2].code, refusals[i / 2].id);
        no_event(endpoint);
        assert_int_equal(btz_mcp_endpoint_exchanges(endpoint), 0);
        btz_mcp_endpoint_free(endpoint);
    }
}

/* Mcp-Param-* come last: behind the method, and only where the schema asks for them. */
static void mirrored_arguments(void **state)
{
    static const struct {
        const char *fields, *body;
        bool good;
    } rows[] = {
        {REGION_FIELDS "Mcp-Param-Region: eu\n", REGION("\"eu\""), true},
        {REGION_FIELDS "mcp-param-region: eu\n", REGION("\"eu\""), true},
        {REGION_FIELDS "Mcp-Param-Region: =?base64?w6k=?=\n", REGION("\"\xc3\xa9\""), true},
        {REGION_FIELDS, REGION("null"), true},
        {REGION_FIELDS "Mcp-Param-Other: x\nMcp-Param-Region: eu\n", REGION("\"eu\""), true},
        {REGION_FIELDS, REGION("\"eu\""), false},
        {REGION_FIELDS "Mcp-Param-Region: us\n", REGION("\"eu\""), false},
        {REGION_FIELDS "Mcp-Param-Region: EU\n", REGION("\"eu\""), false},
        {REGION_FIELDS "Mcp-Param-Region: eu\n", REGION("null"), false},
        {REGION_FIELDS "Mcp-Param-Region: eu\nMcp-Param-Region: eu\n", REGION("\"eu\""), false},
        {REGION_FIELDS "Mcp-Param-Region: =?base64?!!?=\n", REGION("\"eu\""), false},
    };

    (void)state;
    for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
        struct btz_mcp_endpoint_options options = dual;
        struct btz_mcp_endpoint *endpoint;
        uint64_t handle;

        options.switches.any_headers = i % 2;
        endpoint = make_endpoint(options);
        http(endpoint, 9, "POST", "/mcp", with(POST_FIELDS, rows[i / 2].fields), rows[i / 2].body);
        if (rows[i / 2].good || i % 2) {
            take_event(endpoint, BTZ_MCP_SERVER_CALL, "r", &handle);
            expect(endpoint, "");
        } else {
            expect_error(endpoint, 9, 400, BTZ_MCP_E_HEADER, "1");
        }
        btz_mcp_endpoint_free(endpoint);
    }
}

/* The lab's switch: whatever the headers say, the body counts; other rules stay. */
static void any_headers(void **state)
{
    struct btz_mcp_endpoint_options options = dual;
    struct btz_mcp_endpoint *endpoint;
    uint64_t handle;

    (void)state;
    options.switches.any_headers = true;
    endpoint = make_endpoint(options);
    POST(endpoint, 1, V "Mcp-Method: tools/list\nMcp-Name: zz\n", MODERN_CALL("1"));
    take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
    POST(endpoint, 2, V, MODERN("1", "no/such", ""));
    expect_error(endpoint, 2, 404, BTZ_MCP_E_METHOD, "1");
    POST(endpoint, 3, V, LEGACY("1", "tools/list", ""));
    expect_error(endpoint, 3, 400, BTZ_MCP_E_PARAMS, "1");
    btz_mcp_endpoint_free(endpoint);
}

static void plain_answer(void **state)
{
    struct btz_mcp_endpoint *endpoint = make_endpoint(dual);
    uint64_t handle;
    uint64_t token;

    (void)state;
    POST(endpoint, 7, CALL_FIELDS "MCP-Session-Id: whatever\n", MODERN_CALL("1"));
    expect(endpoint, "");
    token = take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
    answer_call(endpoint, handle, token);
    expect(endpoint, "7 " JSON_HEAD RESULT("1"));
    assert_null(btz_mcp_endpoint_server(endpoint, handle));
    no_event(endpoint);
    /* encoded names are compared decoded */
    POST(endpoint, 8, V "Mcp-Method: tools/call\nMcp-Name: =?base64?YQ==?=\n", MODERN_CALL("2"));
    take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
    btz_mcp_endpoint_free(endpoint);
}

/* Asking for what the client did not declare is the one error of a handler with its own status. */
static void undeclared_capability(void **state)
{
    struct btz_mcp_endpoint *endpoint = make_endpoint(dual);
    struct btz_arena *arena = btz_arena_new();
    struct btz_err err;
    uint64_t handle;
    uint64_t token;

    (void)state;
    POST(endpoint, 7, CALL_FIELDS, MODERN_CALL("1"));
    token = take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
    assert_int_equal(btz_mcp_server_reply_input(btz_mcp_endpoint_server(endpoint, handle), token,
                                                json(arena, q("{'k':{'method':'roots/list'}}")),
                                                BTZ_STR_NONE, &err),
                     BTZ_EUNSUPPORTED);
    expect_error(endpoint, 7, 400, BTZ_MCP_E_CAPABILITY, "1");
    POST(endpoint, 7, CALL_FIELDS, MODERN_CALL("1"));
    token = take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
    assert_int_equal(btz_mcp_server_reply_error(btz_mcp_endpoint_server(endpoint, handle), token,
                                                -5, BTZ_STR("own"), NULL),
                     BTZ_OK);
    expect_error(endpoint, 7, 200, -5, "1");
    btz_arena_free(arena);
    btz_mcp_endpoint_free(endpoint);
}

/* Two clients with the same ids at the same time: each gets its own answer. */
static void equal_ids(void **state)
{
    struct btz_mcp_endpoint *endpoint = make_endpoint(dual);
    uint64_t handles[3];
    uint64_t tokens[3];

    (void)state;
    for (uint64_t i = 0; i < 3; i++) {
        POST(endpoint, i, CALL_FIELDS, MODERN_CALL("1"));
        tokens[i] = take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handles[i]);
    }
    answer_call(endpoint, handles[2], tokens[2]);
    expect(endpoint, "2 " JSON_HEAD RESULT("1"));
    answer_call(endpoint, handles[0], tokens[0]);
    answer_call(endpoint, handles[1], tokens[1]);
    expect(endpoint, "0 " JSON_HEAD RESULT("1") "\n1 " JSON_HEAD RESULT("1"));
    assert_true(handles[0] != handles[1] && handles[1] != handles[2]);
    btz_mcp_endpoint_free(endpoint);
}

/* The first related message turns the answer into a stream, without ids or retry. */
static void streamed_answer(void **state)
{
    struct btz_mcp_endpoint *endpoint = make_endpoint(dual);
    uint64_t handle;
    uint64_t token;

    (void)state;
    POST(endpoint, 7, CALL_FIELDS, WITH_TOKEN);
    token = take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
    progress(endpoint, handle, token, 1);
    expect(endpoint, "7 " STREAM_HEAD "\n7 data data: " PROGRESS("1") "\\n\\n");
    progress(endpoint, handle, token, 2);
    answer_call(endpoint, handle, token);
    expect(endpoint,
           "7 data data: " PROGRESS("2") "\\n\\n\n7 data data: " RESULT("1") "\\n\\n\n7 end");
    assert_int_equal(btz_mcp_endpoint_exchanges(endpoint), 0);
    btz_mcp_endpoint_closed(endpoint, 7, clock_us); /* too late to mean anything */
    no_event(endpoint);
    btz_mcp_endpoint_free(endpoint);
}

/* Closing the response cancels, in front of the head and behind it. */
static void closing_cancels(void **state)
{
    (void)state;
    for (int started = 0; started < 2; started++) {
        struct btz_mcp_endpoint *endpoint = make_endpoint(dual);
        struct btz_mcp_server_event event;
        uint64_t handle;
        uint64_t other;
        uint64_t token;

        POST(endpoint, 7, CALL_FIELDS, WITH_TOKEN);
        token = take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
        if (started) {
            progress(endpoint, handle, token, 1);
        }
        outs(endpoint);
        btz_mcp_endpoint_closed(endpoint, 7, clock_us);
        assert_null(btz_mcp_endpoint_server(endpoint, handle));
        assert_true(btz_mcp_endpoint_next_event(endpoint, &other, &event));
        assert_int_equal(event.kind, BTZ_MCP_SERVER_CANCELLED);
        assert_int_equal(event.token, token);
        assert_int_equal(other, handle);
        no_event(endpoint);
        expect(endpoint, "");
        /* one the owner never heard of is not reported */
        POST(endpoint, 8, CALL_FIELDS, WITH_TOKEN);
        btz_mcp_endpoint_closed(endpoint, 8, clock_us);
        no_event(endpoint);
        assert_int_equal(btz_mcp_endpoint_exchanges(endpoint), 0);
        btz_mcp_endpoint_free(endpoint);
    }
}

static void notifications(void **state)
{
    static const char *const rows[][2] = {
        {V, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
            "\"requestId\":1}}"},
        {V "MCP-Session-Id: nothing\n",
         "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"},
        {"", "{\"jsonrpc\":\"2.0\",\"method\":\"any/thing\",\"params\":{" MODERN_META "}}}"},
    };
    struct btz_mcp_endpoint *endpoint = make_endpoint(dual);
    uint64_t handle;

    (void)state;
    POST(endpoint, 1, CALL_FIELDS, MODERN_CALL("1"));
    take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
    for (size_t i = 0; i < 3; i++) {
        http(endpoint, 2, "POST", "/mcp", with(POST_FIELDS, rows[i][0]), rows[i][1]);
        expect(endpoint, "2 202 []");
    }
    no_event(endpoint); /* somebody's notification does not cancel somebody else's request */
    btz_mcp_endpoint_free(endpoint);
    endpoint = make_endpoint(modern); /* a legacy client's greeting is dropped */
    POST(endpoint, 2, "", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    expect(endpoint, "2 202 []");
    btz_mcp_endpoint_free(endpoint);
}

#define LISTEN_FIELDS V "Mcp-Method: subscriptions/listen\n"
#define LISTEN                                                                                     \
    MODERN("90", "subscriptions/listen", ",\"notifications\":{\"toolsListChanged\":true}")
#define OF_90 "\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":90}"

static void listening(void **state)
{
    struct btz_mcp_endpoint *endpoint = make_endpoint(dual);

    (void)state;
    POST(endpoint, 4, LISTEN_FIELDS, LISTEN);
    expect(endpoint,
           "4 " STREAM_HEAD "\n4 data data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
           "subscriptions/acknowledged\",\"params\":{" OF_90
           ",\"notifications\":{\"toolsListChanged\":true}}}\\n\\n");
    replace_catalogue(endpoint, "[]");
    expect(endpoint, "4 data data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/"
                     "list_changed\",\"params\":{" OF_90 "}}\\n\\n");
    POST(endpoint, 5, LISTEN_FIELDS, LISTEN); /* same id, another client */
    outs(endpoint);
    btz_mcp_endpoint_closed(endpoint, 4, clock_us);
    no_event(endpoint);
    btz_mcp_endpoint_end_streams(endpoint);
    expect(endpoint,
           "5 data data: {\"jsonrpc\":\"2.0\",\"id\":90,\"result\":{\"resultType\":\"complete\","
           "\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":90,"
           "\"io.modelcontextprotocol/serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}}\\n\\n\n"
           "5 end");
    assert_int_equal(btz_mcp_endpoint_exchanges(endpoint), 0);
    btz_mcp_endpoint_free(endpoint);
}

/* A page's cursor works on whichever machine gets the next request, and ends with its catalogue. */
static void cursors(void **state)
{
    struct btz_mcp_endpoint_options options = {.server.page_size = 1};
    struct btz_mcp_endpoint *endpoint = make_endpoint(options);
    const char *fields = V "Mcp-Method: tools/list\n";
    char cursor[128];
    char body[1024];
    const char *at;
    uint64_t handle;
    uint64_t token;

    (void)state;
    POST(endpoint, 1, CALL_FIELDS, MODERN_CALL("1")); /* keeps one machine busy */
    token = take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
    http(endpoint, 2, "POST", "/mcp", with(POST_FIELDS, fields), MODERN("1", "tools/list", ""));
    at = strstr(outs(endpoint), "nextCursor\":\"");
    assert_non_null(at);
    snprintf(cursor, sizeof(cursor), "%.*s", (int)strcspn(at + 13, "\""), at + 13);
    answer_call(endpoint, handle, token);
    outs(endpoint);
    snprintf(body, sizeof(body), MODERN("1", "tools/list", ",\"cursor\":\"%s\""), cursor);
    http(endpoint, 2, "POST", "/mcp", with(POST_FIELDS, fields), body);
    assert_non_null(strstr(outs(endpoint), "\"tools\":[{\"name\":\"r\""));
    replace_catalogue(endpoint, "[{\"name\":\"x\",\"inputSchema\":{\"type\":\"object\"}},"
                                "{\"name\":\"y\",\"inputSchema\":{\"type\":\"object\"}}]");
    http(endpoint, 2, "POST", "/mcp", with(POST_FIELDS, fields), body);
    expect_error(endpoint, 2, 200, BTZ_MCP_E_PARAMS, "1");
    http(endpoint, 2, "POST", "/mcp", with(POST_FIELDS, fields), MODERN("1", "tools/list", ""));
    assert_non_null(strstr(outs(endpoint), "\"tools\":[{\"name\":\"x\""));
    btz_mcp_endpoint_free(endpoint);
}

/* A machine that was busy while the catalogue changed is not used again: its cursors would not be
 * understood by the others. */
static void cursors_of_busy_machines(void **state)
{
    struct btz_mcp_endpoint_options options = {.server.page_size = 1};
    struct btz_mcp_endpoint *endpoint = make_endpoint(options);
    const char *fields = V "Mcp-Method: tools/list\n";
    char body[1024];
    const char *at;
    uint64_t handle;
    uint64_t token;

    (void)state;
    POST(endpoint, 1, CALL_FIELDS, MODERN_CALL("1"));
    token = take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
    replace_catalogue(endpoint, "[{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"}},"
                                "{\"name\":\"y\",\"inputSchema\":{\"type\":\"object\"}}]");
    answer_call(endpoint, handle, token);
    outs(endpoint);
    http(endpoint, 2, "POST", "/mcp", with(POST_FIELDS, fields), MODERN("1", "tools/list", ""));
    at = strstr(outs(endpoint), "nextCursor\":\"");
    assert_non_null(at);
    snprintf(body, sizeof(body), MODERN("1", "tools/list", ",\"cursor\":\"%.*s\""),
             (int)strcspn(at + 13, "\""), at + 13);
    POST(endpoint, 1, CALL_FIELDS, MODERN_CALL("1")); /* keeps that machine busy */
    http(endpoint, 2, "POST", "/mcp", with(POST_FIELDS, fields), body);
    assert_non_null(strstr(outs(endpoint), "\"tools\":[{\"name\":\"y\""));
    btz_mcp_endpoint_free(endpoint);
}

/* A modern-only endpoint tells a legacy client what it serves. */
static void only_modern(void **state)
{
    struct btz_mcp_endpoint *endpoint = make_endpoint(modern);
    const char *got;

    (void)state;
    POST(endpoint, 1, "",
         LEGACY("1", "initialize",
                "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
                "\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}"));
    got = outs(endpoint);
    assert_memory_equal(got, "1 400 ", 6);
    assert_non_null(strstr(got, "-32022"));
    assert_non_null(strstr(got, "\"supported\":[\"2026-07-28\"]"));
    POST(endpoint, 1, "MCP-Session-Id: x\n", LEGACY("1", "tools/list", ""));
    expect_error(endpoint, 1, 400, BTZ_MCP_E_PARAMS, "1");
    assert_int_equal(btz_mcp_endpoint_sessions(endpoint), 0);
    btz_mcp_endpoint_free(endpoint);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals_in_order),
        cmocka_unit_test(mirrored_arguments),
        cmocka_unit_test(any_headers),
        cmocka_unit_test(plain_answer),
        cmocka_unit_test(equal_ids),
        cmocka_unit_test(undeclared_capability),
        cmocka_unit_test(streamed_answer),
        cmocka_unit_test(closing_cancels),
        cmocka_unit_test(notifications),
        cmocka_unit_test(listening),
        cmocka_unit_test(cursors),
        cmocka_unit_test(only_modern),
        cmocka_unit_test(cursors_of_busy_machines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
