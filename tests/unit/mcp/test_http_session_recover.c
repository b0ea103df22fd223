/* The HTTP client session and what goes wrong: probing, resumption, lost sessions, the old
 * transport. */
#include "http_helper.h"

#include <stdio.h>

#define OPTIONS(...) ((struct btz_mcp_http_session_options){__VA_ARGS__})
#define RESULT(id) "{'jsonrpc':'2.0','id':" id ",'result':{'content':[]}}"

static uint64_t call(struct btz_mcp_http_session *session)
{
    uint64_t request = 0;

    assert_int_equal(btz_mcp_client_call_tool(btz_mcp_http_session_client(session), BTZ_STR("t"),
                                              NULL, &request),
                     BTZ_OK);
    return request;
}

static struct btz_mcp_http_session *probe(bool forbid, uint64_t *id)
{
    struct btz_mcp_http_session *s =
        new_session(OPTIONS(.no_get_stream = true,
                            .client = {.mode = BTZ_MCP_CLIENT_PROBE, .forbid_fallback = forbid}));

    *id = sends(s, POST_HEAD("/mcp") "MCP-Protocol-Version: 2026-07-28\nMcp-Method: "
                                     "server/discover\n" DISCOVER_BODY);
    return s;
}

struct probe_case {
    int status;
    const char *fields, *text;
    bool falls_back; /* else FAILED with `fault` */
    enum btz_mcp_fault fault;
};

static const struct probe_case probe_cases[] = {
    /* What legacy servers answer to a modern request. */
    {400, JSON, "{'jsonrpc':'2.0','id':null,'error':{'code':-32000,'message':'x'}}", true, 0},
    {400, "", "", true, 0},
    {404, "Content-Type: text/html", "<p>no</p>", true, 0},
    {405, "", "", true, 0},
    {400, JSON, "no json", true, 0},
    {404, JSON, "{'jsonrpc':'2.0','id':1,'error':{'code':-32601,'message':'x'}}", true, 0},
    {200, JSON, "{'jsonrpc':'2.0','id':1,'error':{'code':-32601,'message':'x'}}", true, 0},
    {200, "Content-Type: text/html", "<p>hi</p>", true, 0},
    {400, JSON,
     "{'jsonrpc':'2.0','id':1,'error':{'code':-32022,'message':'x','data':{'supported':"
     "['2025-11-25'],'requested':'2026-07-28'}}}",
     true, 0},
    /* A modern server says what is wrong. */
    {400, JSON, "{'jsonrpc':'2.0','id':1,'error':{'code':-32020,'message':'x'}}", false,
     BTZ_MCP_FAULT_REMOTE},
    {400, JSON,
     "{'jsonrpc':'2.0','id':1,'error':{'code':-32021,'message':'x','data':"
     "{'requiredCapabilities':{}}}}",
     false, BTZ_MCP_FAULT_REMOTE},
    /* A bad moment is no verdict. */
    {500, "", "", false, BTZ_MCP_FAULT_CLOSED},
    {503, JSON, "{'jsonrpc':'2.0','id':1,'error':{'code':-32601,'message':'x'}}", false,
     BTZ_MCP_FAULT_CLOSED},
    {429, JSON, "{'jsonrpc':'2.0','id':1,'error':{'code':-32601,'message':'x'}}", false,
     BTZ_MCP_FAULT_CLOSED},
    {401, "WWW-Authenticate: Bearer", "", false, BTZ_MCP_FAULT_CLOSED},
    {307, "Location: http://other.example/", "", false, BTZ_MCP_FAULT_INVALID},
};

static void test_probe(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(probe_cases) / sizeof(probe_cases[0]); i++) {
        const struct probe_case *c = &probe_cases[i];
        uint64_t id;
        struct btz_mcp_http_session *s = probe(false, &id);
        struct btz_mcp_client_event event;
        bool fell_back = false;

        head(s, id, c->status, c->fields);
        (void)!btz_mcp_http_session_response_body(s, id, btz_str_of(q(c->text)));
        (void)!btz_mcp_http_session_response_end(s, id, BTZ_MCP_HTTP_WHOLE);
        while (btz_mcp_client_next_event(btz_mcp_http_session_client(s), &event)) {
            if (event.kind == BTZ_MCP_CLIENT_FAILED) {
                assert_false(c->falls_back);
                assert_int_equal(event.fault, c->fault);
            }
        }
        if (c->falls_back) {
            struct btz_mcp_http_exchange x;

            id = sends_any(s, &x);
            assert_text(x.rpc_method, "initialize");
            answers(s, id, 200, JSON,
                    "{'jsonrpc':'2.0','id':2,'result':{'protocolVersion':'2025-11-25',"
                    "'capabilities':{},'serverInfo':{'name':'s','version':'1'}}}");
            while (btz_mcp_client_next_event(btz_mcp_http_session_client(s), &event)) {
                fell_back |= event.kind == BTZ_MCP_CLIENT_READY && event.fell_back;
            }
        } else {
            sends(s, NULL);
        }
        if (fell_back != c->falls_back) {
            fail_msg("case %zu: status %d", i, c->status);
        }
        btz_mcp_http_session_free(s);
    }
}

static void test_probe_ends(void **state)
{
    uint64_t id;
    struct btz_mcp_http_session *s = probe(true, &id);
    (void)state;

    head(s, id, 400, "");
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_FAILED).fault, BTZ_MCP_FAULT_VERSION);
    closes(s, id);
    quiet(s);
    btz_mcp_http_session_free(s);
    s = probe(false, &id);
    end(s, id, BTZ_MCP_HTTP_REFUSED);
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_FAILED).fault, BTZ_MCP_FAULT_CLOSED);
    quiet(s);
    btz_mcp_http_session_free(s);
    s = probe(false, &id);
    answers(s, id, 200, EVENTS, "data: " DISCOVER_RESULT "\n\n");
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_READY).revision, BTZ_MCP_2026_07_28);
    quiet(s);
    btz_mcp_http_session_free(s);
}

/* The owner's time-out for the probe: its late answer means nothing any more. */
static void test_probe_timeout(void **state)
{
    uint64_t id;
    struct btz_mcp_http_session *s = probe(false, &id);
    struct btz_mcp_http_exchange x;
    uint64_t initialize;
    (void)state;

    assert_int_equal(btz_mcp_client_probe_timeout(btz_mcp_http_session_client(s)), BTZ_OK);
    closes(s, id);
    initialize = sends_any(s, &x);
    assert_text(x.rpc_method, "initialize");
    assert_int_equal(btz_mcp_http_session_response_end(s, id, BTZ_MCP_HTTP_BROKEN), BTZ_ENOTFOUND);
    head(s, initialize, 200, JSON);
    btz_mcp_http_session_free(s);
    /* The end comes before the owner has pulled anything. */
    s = probe(false, &id);
    assert_int_equal(btz_mcp_client_probe_timeout(btz_mcp_http_session_client(s)), BTZ_OK);
    end(s, id, BTZ_MCP_HTTP_BROKEN);
    sends_any(s, &x);
    assert_text(x.rpc_method, "initialize");
    btz_mcp_http_session_free(s);
}

static void test_resume(void **state)
{
    struct btz_mcp_http_session *s = legacy_session(OPTIONS(.now_us = 1000), NULL);
    uint64_t request = call(s);
    bool for_answer = false;
    uint64_t id = sends_any(s, NULL);
    (void)state;

    /* The server closes after a priming event and wants 250 ms. */
    head(s, id, 200, EVENTS);
    body(s, id, "id: e1\nretry: 250\ndata:\n\n");
    end(s, id, BTZ_MCP_HTTP_WHOLE);
    sends(s, NULL);
    assert_int_equal(btz_mcp_http_session_wake_at_us(s, &for_answer), 251000);
    assert_true(for_answer);
    assert_false(btz_mcp_http_session_settled(s));
    btz_mcp_http_session_tick(s, 250999);
    sends(s, NULL);
    btz_mcp_http_session_tick(s, 251000);
    id = sends(s, GET_HEAD("/mcp") LEGACY_FIELDS "Last-Event-ID: e1\n");
    head(s, id, 200, EVENTS);
    body(s, id, "id: e2\ndata: {'jsonrpc':'2.0','method':'notifications/tools/list_changed'}\n\n");
    event_of(s, BTZ_MCP_CLIENT_LIST_CHANGED);
    end(s, id, BTZ_MCP_HTTP_BROKEN);
    btz_mcp_http_session_tick(s, 501000);
    id = sends(s, GET_HEAD("/mcp") LEGACY_FIELDS "Last-Event-ID: e2\n");
    end(s, id, BTZ_MCP_HTTP_REFUSED); /* the network is away for a moment */
    btz_mcp_http_session_tick(s, 751000);
    id = sends(s, GET_HEAD("/mcp") LEGACY_FIELDS "Last-Event-ID: e2\n");
    head(s, id, 200, EVENTS);
    body(s, id, "data: " RESULT("2") "\n\n");
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).request, request);
    end(s, id, BTZ_MCP_HTTP_WHOLE);
    quiet(s);
    assert_int_equal(btz_mcp_http_session_wake_at_us(s, NULL), -1);
    assert_int_equal(btz_mcp_http_session_stats(s).resumed, 3);
    btz_mcp_http_session_free(s);
}

static void test_resume_gives_up(void **state)
{
    struct btz_mcp_http_session *s =
        legacy_session(OPTIONS(.max_resumes = 2, .max_retry_ms = 5000), NULL);
    uint64_t id;
    (void)state;

    /* Without event ids there is nothing to come back with. */
    call(s);
    id = sends_any(s, NULL);
    head(s, id, 200, EVENTS);
    end(s, id, BTZ_MCP_HTTP_BROKEN);
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).fault, BTZ_MCP_FAULT_CLOSED);
    /* A longer wait than allowed; an id that no header can carry. */
    call(s);
    id = sends_any(s, NULL);
    head(s, id, 200, EVENTS);
    body(s, id, "id: a\nretry: 5001\ndata:\n\n");
    end(s, id, BTZ_MCP_HTTP_WHOLE);
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).fault, BTZ_MCP_FAULT_CLOSED);
    call(s);
    id = sends_any(s, NULL);
    head(s, id, 200, EVENTS);
    body(s, id, "id: a\tb\ndata:\n\n");
    end(s, id, BTZ_MCP_HTTP_WHOLE);
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).fault, BTZ_MCP_FAULT_CLOSED);
    /* Again and again without a message. */
    call(s);
    id = sends_any(s, NULL);
    for (int i = 0; i < 3; i++) {
        head(s, id, 200, EVENTS);
        body(s, id, "id: a\nretry: 0\ndata:\n\n");
        end(s, id, BTZ_MCP_HTTP_WHOLE);
        if (i < 2) {
            id = sends(s, GET_HEAD("/mcp") LEGACY_FIELDS "Last-Event-ID: a\n");
        }
    }
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).fault, BTZ_MCP_FAULT_CLOSED);
    /* The server cannot resume. */
    call(s);
    id = sends_any(s, NULL);
    head(s, id, 200, EVENTS);
    body(s, id, "id: a\nretry: 0\ndata:\n\n");
    end(s, id, BTZ_MCP_HTTP_BROKEN);
    id = sends_any(s, NULL);
    head(s, id, 405, "");
    closes(s, id);
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).fault, BTZ_MCP_FAULT_CLOSED);
    quiet(s);
    btz_mcp_http_session_free(s);
}

static void test_get_stream(void **state)
{
    uint64_t id;
    struct btz_mcp_http_session *s = legacy_session(OPTIONS(.max_resumes = 1), &id);
    bool for_answer = true;
    (void)state;

    body(s, id, "id: g\ndata: {'jsonrpc':'2.0','method':'notifications/tools/list_changed'}\n\n");
    event_of(s, BTZ_MCP_CLIENT_LIST_CHANGED);
    end(s, id, BTZ_MCP_HTTP_BROKEN);
    assert_int_equal(btz_mcp_http_session_wake_at_us(s, &for_answer), 1000000);
    assert_false(for_answer);
    assert_true(btz_mcp_http_session_settled(s));
    btz_mcp_http_session_tick(s, 1000000);
    id = sends(s, GET_HEAD("/mcp") LEGACY_FIELDS "Last-Event-ID: g\n");
    head(s, id, 200, EVENTS);
    end(s, id, BTZ_MCP_HTTP_WHOLE);
    assert_int_equal(btz_mcp_http_session_take_flags(s), BTZ_MCP_HTTP_GET_LOST);
    quiet(s);
    btz_mcp_http_session_free(s);
}

static void renew(struct btz_mcp_http_session *s)
{
    uint64_t id = sends(s, POST_HEAD("/mcp") INIT_BODY);

    sends(s, NULL); /* nothing else until there is a session again */
    answers(s, id, 200, JSON "\nMcp-Session-Id: s-2", INIT_RESULT);
    id = sends(
        s, POST_HEAD(
               "/mcp") "Mcp-Session-Id: s-2\nMCP-Protocol-Version: 2025-11-25\n" INITIALIZED_BODY);
    sends(s, NULL);
    answers(s, id, 202, "", "");
}

static void test_session_forgotten(void **state)
{
    uint64_t stream;
    struct btz_mcp_http_session *s = legacy_session(OPTIONS(0), &stream);
    uint64_t first = call(s);
    uint64_t x = sends_any(s, NULL);
    uint64_t y;
    (void)state;

    call(s);
    y = sends_any(s, NULL);
    head(s, x, 404, JSON);
    closes(s, stream);
    closes(s, x);
    renew(s);
    assert_int_equal(btz_mcp_http_session_take_flags(s), BTZ_MCP_HTTP_RENEWED);
    assert_text(btz_mcp_http_session_id(s), "s-2");
    x = sends(s, POST_HEAD("/mcp") "Mcp-Session-Id: s-2\nMCP-Protocol-Version: 2025-11-25\n"
                                   "{'jsonrpc':'2.0','id':2,'method':'tools/call','params':{"
                                   "'name':'t','arguments':{}}}");
    sends(s, GET_HEAD("/mcp") "Mcp-Session-Id: s-2\nMCP-Protocol-Version: 2025-11-25\n");
    answers(s, x, 200, JSON, RESULT("2"));
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).request, first);
    /* Another request of the old session is only tried again. */
    head(s, y, 404, "");
    closes(s, y);
    y = sends_any(s, NULL);
    answers(s, y, 200, JSON, RESULT("3"));
    event_of(s, BTZ_MCP_CLIENT_RESULT);
    assert_int_equal(btz_mcp_http_session_stats(s).renewed, 1);
    btz_mcp_http_session_free(s);
}

static void test_session_forgotten_twice(void **state)
{
    struct btz_mcp_http_session *s = legacy_session(OPTIONS(0), NULL);
    struct btz_mcp_http_exchange x;
    uint64_t id;
    (void)state;

    call(s);
    head(s, sends_any(s, NULL), 404, "");
    closes(s, 3);
    id = sends_any(s, NULL);
    answers(s, id, 200, JSON "\nMcp-Session-Id: s-2", INIT_RESULT);
    answers(s, sends_any(s, NULL), 202, "", "");
    id = sends_any(s, &x);
    assert_text(x.rpc_method, "tools/call");
    head(s, id, 404, ""); /* perhaps it is only this request that the server does not know */
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).fault, BTZ_MCP_FAULT_CLOSED);
    closes(s, id);
    call(s);
    id = sends_any(s, &x);
    head(s, id, 404, "");
    event_of(s, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).fault, BTZ_MCP_FAULT_CLOSED);
    closes(s, id);
    quiet(s);
    btz_mcp_http_session_free(s);
    /* Another version, or no answer, is no renewal. */
    for (int i = 0; i < 2; i++) {
        s = legacy_session(OPTIONS(0), NULL);
        call(s);
        head(s, sends_any(s, NULL), 404, JSON);
        id = sends_any(s, NULL);
        if (i) {
            end(s, id, BTZ_MCP_HTTP_REFUSED);
        } else {
            answers(s, id, 200, JSON,
                    "{'jsonrpc':'2.0','id':1,'result':{'protocolVersion':'2025-06-18',"
                    "'capabilities':{},'serverInfo':{'name':'s','version':'1'}}}");
        }
        event_of(s, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
        assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).fault, BTZ_MCP_FAULT_CLOSED);
        sends(s, NULL);
        btz_mcp_http_session_free(s);
    }
}

static struct btz_mcp_http_session *old_session(struct btz_mcp_http_session_options options,
                                                const char *endpoint, uint64_t *stream)
{
    struct btz_mcp_http_session *s;
    char text[512];

    options.transport = BTZ_MCP_HTTP_SSE;
    options.target = BTZ_STR("/deep/sse?k=1");
    s = new_session(options);
    *stream = sends(s, GET_HEAD("/deep/sse?k=1"));
    sends(s, NULL);
    head(s, *stream, 200, EVENTS);
    snprintf(text, sizeof(text), "event: endpoint\ndata: %s\n\n", endpoint);
    body(s, *stream, text);
    return s;
}

static void test_old_transport(void **state)
{
    uint64_t stream;
    struct btz_mcp_http_session *s =
        old_session(OPTIONS(0), "http://TOOLS.example:80/messages?session=9", &stream);
    uint64_t id = sends(s, POST_HEAD("/messages?session=9") INIT_BODY);
    uint64_t request;
    (void)state;

    answers(s, id, 202, "Content-Type: text/plain", "Accepted");
    assert_false(btz_mcp_http_session_settled(s));
    body(s, stream,
         "event: message\ndata: {'jsonrpc':'2.0','id':1,'result':{'protocolVersion':"
         "'2024-11-05','capabilities':{},'serverInfo':{'name':'s','version':'1'}}}\n\n");
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_READY).revision, BTZ_MCP_2024_11_05);
    id = sends(s, POST_HEAD("/messages?session=9") INITIALIZED_BODY);
    answers(s, id, 202, "", "");
    quiet(s);
    request = call(s);
    id = sends_any(s, NULL);
    /* The answer may be there before the POST was accepted. */
    body(s, stream, "data: " RESULT("2") "\n\n");
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).request, request);
    closes(s, id);
    call(s);
    answers(s, sends_any(s, NULL), 202, "", "");
    call(s);
    id = sends_any(s, NULL);
    head(s, id, 500, "");
    closes(s, id);
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).request, 4);
    body(s, stream, "event: endpoint\ndata: /elsewhere\n\n");
    event_of(s, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    end(s, stream, BTZ_MCP_HTTP_BROKEN);
    event_of(s, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).fault, BTZ_MCP_FAULT_CLOSED);
    quiet(s);
    btz_mcp_http_session_free(s);
}

static void test_old_endpoint(void **state)
{
    static const struct {
        const char *uri, *target; /* NULL = refused */
        bool https;
    } cases[] = {
        {"/m?x=1", "/m?x=1", false},
        {"messages/", "/deep/messages/", false},
        {"?s=2", "/deep/sse?s=2", false},
        {"//tools.example/m", "/m", false},
        {"https://tools.example:443/m", "/m", true},
        {"https://tools.example/m", NULL, false},
        {"http://tools.example:8080/m", NULL, false},
        {"http://other.example/m", NULL, false},
        {"//other.example/m", NULL, false},
        {"http://tools.example@other.example/m", NULL, false},
        {"http://tools.example.other.example/m", NULL, false},
        {"http:/m", NULL, false},
        {"http://tools.example?x", NULL, false},
        {"ftp://tools.example/m", NULL, false},
        {"javascript:x", NULL, false},
        {"/m#f", NULL, false},
        {"/\\\\other.example", NULL, false},
        {"/m x", NULL, false},
        {"/m\"x{}", NULL, false},
    };
    (void)state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t stream;
        struct btz_mcp_http_session *s =
            old_session(OPTIONS(.https = cases[i].https), cases[i].uri, &stream);
        struct btz_mcp_http_exchange x;

        if (cases[i].target) {
            sends_any(s, &x);
            assert_text(x.target, cases[i].target);
        } else {
            assert_int_equal(event_of(s, BTZ_MCP_CLIENT_FAILED).fault, BTZ_MCP_FAULT_INVALID);
            assert_int_equal(btz_mcp_http_session_stats(s).bad_endpoint, 1);
            closes(s, stream);
            quiet(s);
        }
        btz_mcp_http_session_free(s);
    }
}

static void test_old_transport_after_refusal(void **state)
{
    struct btz_mcp_http_session *s =
        new_session(OPTIONS(.transport = BTZ_MCP_HTTP_STREAMABLE_THEN_SSE));
    uint64_t id = sends(s, POST_HEAD("/mcp") INIT_BODY);
    (void)state;

    answers(s, id, 400, JSON, "{'jsonrpc':'2.0','id':1,'error':{'code':-32000,'message':'x'}}");
    id = sends(s, GET_HEAD("/mcp"));
    sends(s, NULL);
    assert_int_equal(btz_mcp_http_session_take_flags(s), BTZ_MCP_HTTP_OLD_TRANSPORT);
    head(s, id, 200, EVENTS);
    body(s, id, "event: endpoint\ndata: /m\n\n");
    sends(s, POST_HEAD("/m") INIT_BODY);
    btz_mcp_http_session_free(s);
    /* Not for other statuses, and not unless it is allowed. */
    for (int i = 0; i < 2; i++) {
        s = new_session(
            OPTIONS(.transport = i ? BTZ_MCP_HTTP_STREAMABLE : BTZ_MCP_HTTP_STREAMABLE_THEN_SSE));
        id = sends_any(s, NULL);
        head(s, id, i ? 405 : 503, "");
        assert_int_equal(event_of(s, BTZ_MCP_CLIENT_FAILED).fault, BTZ_MCP_FAULT_CLOSED);
        closes(s, id);
        quiet(s);
        btz_mcp_http_session_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probe),
        cmocka_unit_test(test_probe_ends),
        cmocka_unit_test(test_probe_timeout),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_resume_gives_up),
        cmocka_unit_test(test_get_stream),
        cmocka_unit_test(test_session_forgotten),
        cmocka_unit_test(test_session_forgotten_twice),
        cmocka_unit_test(test_old_transport),
        cmocka_unit_test(test_old_endpoint),
        cmocka_unit_test(test_old_transport_after_refusal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
