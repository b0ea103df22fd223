/* The HTTP endpoint: rules that hold before an era is known, limits, time. One row a rule. */
#include "endpoint_helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PING LEGACY("1", "ping", "")
#define DISCOVER MODERN("1", "server/discover", "")
#define DISCOVER_FIELDS "MCP-Protocol-Version: 2026-07-28\nMcp-Method: server/discover\n"

/* Each is refused in front of any body, and the same request with the rule kept is not. */
static void refused_by_head(void **state)
{
    static const struct {
        const char *method, *fields;
        int status;
    } rows[] = {
        /* Host and Origin, protocol brief 2.5 */
        {"POST", ACCEPT JSON_TYPE, 403},
        {"POST", "Host: evil.example\n" ACCEPT JSON_TYPE, 403},
        {"POST", "Host: evil.example\nOrigin: http://evil.example\n" ACCEPT JSON_TYPE, 403},
        {"POST", "Host: localhost.evil.example\n" ACCEPT JSON_TYPE, 403},
        {"POST", "Host: localhost:80x\n" ACCEPT JSON_TYPE, 403},
        {"POST", "Host: localhost:\n" ACCEPT JSON_TYPE, 403},
        {"POST", "Host: localhost@evil.example\n" ACCEPT JSON_TYPE, 403},
        {"POST", "Host: [::1\n" ACCEPT JSON_TYPE, 403},
        {"POST", "Host: [::2]:80\n" ACCEPT JSON_TYPE, 403},
        {"POST", POST_FIELDS "Origin: http://evil.example\n", 403},
        {"POST", POST_FIELDS "Origin: null\n", 403},
        {"POST", POST_FIELDS "Origin: ftp://localhost\n", 403},
        {"POST", POST_FIELDS "Origin: http://localhost/x\n", 403},
        {"POST", POST_FIELDS "Origin: http://localhost\nOrigin: http://localhost\n", 403},
        {"GET", GET_FIELDS "Origin: http://evil.example\n", 403},
        {"DELETE", HOST "Origin: http://evil.example\n", 403},
        {"OPTIONS", HOST "Origin: http://evil.example\n", 403},
        /* methods */
        {"PUT", POST_FIELDS, 405},
        {"HEAD", GET_FIELDS, 405},
        {"OPTIONS", HOST, 405},
        {"post", POST_FIELDS, 405},
        /* Accept */
        {"POST", HOST JSON_TYPE, 406},
        {"POST", HOST "Accept: application/json\n" JSON_TYPE, 406},
        {"POST", HOST "Accept: text/event-stream\n" JSON_TYPE, 406},
        {"POST", HOST "Accept: application/json, text/event-stream;q=0\n" JSON_TYPE, 406},
        {"POST", HOST "Accept: */*, application/json;q=0.000\n" JSON_TYPE, 406},
        {"POST", HOST "Accept: application/jsonx, text/event-stream\n" JSON_TYPE, 406},
        {"GET", HOST "Accept: application/json\n", 406},
        {"GET", HOST, 406},
        /* Content-Type and Content-Encoding */
        {"POST", HOST ACCEPT, 415},
        {"POST", HOST ACCEPT "Content-Type: text/plain\n", 415},
        {"POST", HOST ACCEPT "Content-Type: application/json-rpc\n", 415},
        {"POST", HOST ACCEPT "Content-Type: application/json; charset=utf-16\n", 415},
        {"POST", HOST ACCEPT JSON_TYPE JSON_TYPE, 415},
        {"POST", POST_FIELDS "Content-Encoding: gzip\n", 415},
        {"POST", POST_FIELDS "Content-Encoding: identity, gzip\n", 415},
        {"POST", POST_FIELDS "Content-Encoding: identity\nContent-Encoding: identity\n", 415},
        /* the earlier rule wins */
        {"PUT", "Host: evil.example\n", 403},
        {"POST", HOST "Content-Type: text/plain\n", 406},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct btz_mcp_endpoint *endpoint = make_endpoint((struct btz_mcp_endpoint_options){0});

        http(endpoint, i, rows[i].method, "/mcp", rows[i].fields, DISCOVER);
        expect_error(endpoint, i, rows[i].status, BTZ_MCP_E_REQUEST, NULL);
        no_event(endpoint);
        assert_int_equal(btz_mcp_endpoint_exchanges(endpoint), 0);
        assert_int_equal(btz_mcp_endpoint_stats(endpoint).refused, 1);
        btz_mcp_endpoint_free(endpoint);
    }
}

static void accepted_by_head(void **state)
{
    static const char *const rows[] = {
        POST_FIELDS,
        "Host: localhost\n" ACCEPT JSON_TYPE,
        "host: LOCALHOST:1\naccept: text/event-stream\naccept: application/json\n"
        "content-type: Application/JSON\n",
        "Host: 127.0.0.1:65535\n" ACCEPT JSON_TYPE,
        "Host: [::1]:80\n" ACCEPT JSON_TYPE,
        "Host: [::1]\n" ACCEPT JSON_TYPE,
        POST_FIELDS "Origin: http://localhost:3000\n",
        POST_FIELDS "Origin: https://127.0.0.1\n",
        POST_FIELDS "Origin: http://[::1]:5\n",
        HOST JSON_TYPE "Accept: */*\n",
        HOST JSON_TYPE "Accept: application/*, text/*;q=0.1\n",
        HOST JSON_TYPE "Accept: text/event-stream ; q=1.0 ,application/json;q=0.5\n",
        HOST ACCEPT "Content-Type: application/json; charset=utf-8\n",
        HOST ACCEPT "Content-Type: application/json ;x=y; Charset=\"UTF-8\"\n",
        POST_FIELDS "Content-Encoding: identity\n",
        POST_FIELDS "MCP-Session-Id: ignored-by-modern-requests\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct btz_mcp_endpoint *endpoint = make_endpoint((struct btz_mcp_endpoint_options){0});
        const char *got;

        http(endpoint, 3, "POST", "/mcp", with(rows[i], DISCOVER_FIELDS), DISCOVER);
        got = outs(endpoint);
        if (strncmp(got, "3 " JSON_HEAD "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":", 60) != 0) {
            fail_msg("row %zu: %s", i, got);
        }
        btz_mcp_endpoint_free(endpoint);
    }
}

/* Configured hosts and origins replace the defaults; the switches of lab profiles open all. */
static void host_policies(void **state)
{
    static const struct btz_str hosts[] = {{"mcp.example", 11}, {"other.example:81", 16}};
    static const struct btz_str origins[] = {{"https://app.example", 19}};
    const struct btz_mcp_endpoint_options listed = {
        .hosts = hosts, .host_count = 2, .origins = origins, .origin_count = 1};
    const struct btz_mcp_endpoint_options open = {
        .switches = {.any_host = true, .any_origin = true}};
    const struct btz_mcp_endpoint_options addresses = {
        .switches = {.any_address = true, .any_origin = true}};
    const struct btz_mcp_endpoint_options sites = {.switches = {.any_site = true}};
    const struct btz_mcp_endpoint_options safe = {.max_body = 0};
    const struct {
        const struct btz_mcp_endpoint_options *options;
        const char *fields;
        bool good;
    } rows[] = {
        {&listed, "Host: mcp.example\n", true},
        {&listed, "Host: MCP.example:444\n", true},
        {&listed, "Host: other.example:81\n", true},
        {&listed, "Host: other.example\n", false},
        {&listed, "Host: other.example:82\n", false},
        {&listed, "Host: localhost\n", false},
        {&listed, "Host: mcp.example\nOrigin: https://app.example\n", true},
        {&listed, "Host: mcp.example\nOrigin: https://mcp.example\n", false},
        {&listed, "Host: mcp.example\nOrigin: https://app.example:8443\n", false},
        {&open, "Host: evil.example\nOrigin: http://evil.example\n", true},
        {&open, "", true},
        /* Names and addresses are two switches. */
        {&open, "Host: 0.0.0.0:80\n", false},
        {&open, "Host: [::ffff:7f00:1]\n", false},
        {&open, "Host: 2130706433\n", false},
        {&open, "Host: 127.0.0.1.evil.example\n", true},
        {&addresses, "Host: 0.0.0.0:80\nOrigin: http://page.example\n", true},
        {&addresses, "Host: [::ffff:7f00:1]\n", true},
        {&addresses, "Host: evil.example\n", false},
        {&safe, "Host: 127.0.0.1:80\n", true},
        {&safe, "Host: [::ffff:7f00:1]:80\n", false},
        /* A browser that leaves its Origin out. */
        {&safe, "Host: localhost\nSec-Fetch-Site: cross-site\n", false},
        {&safe, "Host: localhost\nSec-Fetch-Site: same-site\n", false},
        {&safe, "Host: localhost\nSec-Fetch-Site: same-origin\n", true},
        {&safe, "Host: localhost\nSec-Fetch-Site: none\n", true},
        {&safe, "Host: localhost\nSec-Fetch-Site: cross-site\nOrigin: http://localhost:9\n", true},
        {&sites, "Host: localhost\nSec-Fetch-Site: cross-site\n", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct btz_mcp_endpoint *endpoint = make_endpoint(*rows[i].options);

        http(endpoint, 1, "POST", "/mcp",
             with(with(ACCEPT JSON_TYPE DISCOVER_FIELDS, ""), rows[i].fields), DISCOVER);
        if (rows[i].good) {
            assert_memory_equal(outs(endpoint), "1 200 ", 6);
        } else {
            expect_error(endpoint, 1, 403, BTZ_MCP_E_REQUEST, NULL);
        }
        btz_mcp_endpoint_free(endpoint);
    }
}

/* Bodies that are no single JSON-RPC message are refused before the era is asked for. */
static void refused_by_shape(void **state)
{
    static const struct {
        const char *body;
        int code;
        const char *id;
    } rows[] = {
        {"", BTZ_MCP_E_PARSE, NULL},
        {"{", BTZ_MCP_E_PARSE, NULL},
        {"\xff", BTZ_MCP_E_PARSE, NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}", BTZ_MCP_E_PARSE, NULL},
        {"[]", BTZ_MCP_E_REQUEST, NULL},
        {"[" PING "]", BTZ_MCP_E_REQUEST, NULL},
        {"5", BTZ_MCP_E_REQUEST, NULL},
        {"{\"id\":1,\"method\":\"ping\"}", BTZ_MCP_E_REQUEST, "1"},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", BTZ_MCP_E_REQUEST, NULL},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"more\":1}", BTZ_MCP_E_REQUEST, "7"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (int modern = 0; modern < 2; modern++) {
            struct btz_mcp_endpoint *endpoint = make_endpoint((struct btz_mcp_endpoint_options){0});

            http(endpoint, 1, "POST", "/mcp", with(POST_FIELDS, modern ? DISCOVER_FIELDS : ""),
                 rows[i].body);
            expect_error(endpoint, 1, 400, rows[i].code, rows[i].id);
            btz_mcp_endpoint_free(endpoint);
        }
    }
}

static void allow_field(void **state)
{
    static const struct {
        struct btz_mcp_endpoint_options options;
        const char *method, *fields, *allow;
    } rows[] = {
        {{.no_get = false}, "PUT", "", "GET, POST, DELETE"},
        {{.no_get = true}, "GET", "", "POST, DELETE"},
        {{.no_delete = true}, "DELETE", "", "GET, POST"},
        {{.no_get = true, .no_delete = true}, "DELETE", "", "POST"},
        {{.server.revisions = BTZ_MCP_SET_MODERN}, "GET", "", "POST"},
        {{.server.revisions = BTZ_MCP_SET_MODERN}, "DELETE", "", "POST"},
        {{.no_get = false}, "GET", "MCP-Protocol-Version: 2026-07-28\n", "POST"},
        {{.no_get = false}, "DELETE", "MCP-Protocol-Version: 2027-01-01\n", "POST"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct btz_mcp_endpoint *endpoint = make_endpoint(rows[i].options);
        struct btz_mcp_endpoint_out out;

        http(endpoint, 1, rows[i].method, "/mcp", with(GET_FIELDS, rows[i].fields), "");
        assert_true(btz_mcp_endpoint_next_out(endpoint, &out));
        assert_int_equal(out.status, 405);
        assert_text(out.fields[1].name, "Allow");
        assert_text(out.fields[1].value, rows[i].allow);
        btz_mcp_endpoint_free(endpoint);
    }
}

static void unusable_options(void **state)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_mcp_endpoint_options options = {.id_secret = BTZ_STR("short")};
    struct btz_mcp_catalogue catalogue = {.server_info =
                                              json(arena, "{\"name\":\"s\",\"version\":\"1\"}")};
    struct btz_mcp_endpoint *endpoint = NULL;
    struct btz_err err;

    (void)state;
    assert_int_equal(btz_mcp_endpoint_new(&options, &catalogue, &endpoint, &err), BTZ_EINVAL);
    assert_non_null(strstr(err.msg, "secret"));
    options.server.revisions = BTZ_MCP_SET_MODERN; /* no sessions, no secret */
    assert_int_equal(btz_mcp_endpoint_new(&options, &catalogue, &endpoint, &err), BTZ_OK);
    catalogue.tools = json(arena, "[]");
    assert_int_equal(btz_mcp_endpoint_set_catalogue(endpoint, &catalogue, &err), BTZ_EINVAL);
    btz_mcp_endpoint_free(endpoint);
    endpoint = NULL;
    catalogue.tools = json(arena, "[1]");
    assert_int_equal(btz_mcp_endpoint_new(&options, &catalogue, &endpoint, &err), BTZ_EINVAL);
    options.server.revisions = 1u << 20;
    catalogue.tools = NULL;
    options.id_secret = BTZ_STR("0123456789abcdef");
    assert_int_equal(btz_mcp_endpoint_new(&options, &catalogue, &endpoint, &err), BTZ_EINVAL);
    assert_null(endpoint);
    btz_arena_free(arena);
}

static void too_large(void **state)
{
    struct btz_mcp_endpoint *endpoint =
        make_endpoint((struct btz_mcp_endpoint_options){.max_body = sizeof(DISCOVER) - 1});

    (void)state;
    POST(endpoint, 1, DISCOVER_FIELDS, DISCOVER);
    assert_memory_equal(outs(endpoint), "1 200 ", 6);
    POST(endpoint, 2, DISCOVER_FIELDS, " " DISCOVER);
    expect_error(endpoint, 2, 413, BTZ_MCP_E_REQUEST, NULL);
    btz_mcp_endpoint_free(endpoint);
}

/* Open exchanges are counted; what is over gets an answer at once and holds nothing. */
static void too_many_exchanges(void **state)
{
    struct btz_mcp_endpoint *endpoint =
        make_endpoint((struct btz_mcp_endpoint_options){.max_exchanges = 2});
    const char *call = "MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: a\n";
    const struct btz_http_head head = {.method = BTZ_STR("GET"), .target = BTZ_STR("/")};

    (void)state;
    for (uint64_t i = 0; i < 2; i++) {
        http(endpoint, i, "POST", "/mcp", with(POST_FIELDS, call), MODERN_CALL("1"));
    }
    expect(endpoint, "");
    assert_int_equal(btz_mcp_endpoint_request(endpoint, 1, &head, BTZ_STR_NONE, BTZ_STR_NONE, 0),
                     BTZ_EEXISTS);
    http(endpoint, 2, "POST", "/mcp", with(POST_FIELDS, call), MODERN_CALL("1"));
    expect_error(endpoint, 2, 503, BTZ_MCP_E_INTERNAL, NULL);
    btz_mcp_endpoint_closed(endpoint, 0, clock_us);
    http(endpoint, 2, "POST", "/mcp", with(POST_FIELDS, call), MODERN_CALL("1"));
    expect(endpoint, "");
    assert_int_equal(btz_mcp_endpoint_exchanges(endpoint), 2);
    btz_mcp_endpoint_free(endpoint);
}

/* A thousand clients that only say hello: a bounded number of sessions, and they go away. */
static void too_many_sessions(void **state)
{
    struct btz_mcp_endpoint *endpoint = make_endpoint((struct btz_mcp_endpoint_options){
        .max_sessions = 20, .session_greeting_us = 500, .session_idle_us = 5000});
    const char *hello = LEGACY("0", "initialize",
                               "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"
                               "\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}");
    const char *kept = open_session(endpoint, "2025-06-18");

    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        POST(endpoint, i, "", hello);
        if (i < 19) {
            assert_non_null(strstr(outs(endpoint), "MCP-Session-Id"));
        } else {
            expect_error(endpoint, i, 503, BTZ_MCP_E_INTERNAL, "0");
        }
    }
    assert_int_equal(btz_mcp_endpoint_sessions(endpoint), 20);
    clock_us += 499;
    btz_mcp_endpoint_tick(endpoint, clock_us);
    assert_int_equal(btz_mcp_endpoint_sessions(endpoint), 20);
    clock_us++;
    assert_int_equal(btz_mcp_endpoint_due(endpoint), clock_us);
    btz_mcp_endpoint_tick(endpoint, clock_us);
    assert_int_equal(btz_mcp_endpoint_sessions(endpoint), 1); /* the one that came back */
    assert_int_equal(btz_mcp_endpoint_stats(endpoint).expired, 19);
    http(endpoint, 1, "POST", "/mcp", with(POST_FIELDS, kept), PING);
    expect(endpoint, "1 " JSON_HEAD "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    clock_us += 5000;
    btz_mcp_endpoint_tick(endpoint, clock_us);
    assert_int_equal(btz_mcp_endpoint_sessions(endpoint), 0);
    http(endpoint, 1, "POST", "/mcp", with(POST_FIELDS, kept), PING);
    expect_error(endpoint, 1, 404, BTZ_MCP_E_REQUEST, "1");
    no_event(endpoint); /* frees what is left of them */
    btz_mcp_endpoint_free(endpoint);
}

/* A session with an open stream or a call in flight is not idle. */
static void busy_sessions_stay(void **state)
{
    struct btz_mcp_endpoint *endpoint = make_endpoint(
        (struct btz_mcp_endpoint_options){.session_idle_us = 1000, .keepalive_us = -1});
    const char *one = open_session(endpoint, "2025-06-18");
    const char *two = open_session(endpoint, "2025-06-18");
    uint64_t handle;
    uint64_t token;

    (void)state;
    http(endpoint, 10, "GET", "/mcp", with(GET_FIELDS, one), "");
    http(endpoint, 11, "POST", "/mcp", with(POST_FIELDS, two), LEGACY_CALL("1"));
    outs(endpoint);
    token = take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
    btz_mcp_endpoint_closed(endpoint, 11, clock_us); /* is no cancellation */
    for (int i = 0; i < 5; i++) {
        clock_us += 999;
        btz_mcp_endpoint_tick(endpoint, clock_us);
    }
    assert_int_equal(btz_mcp_endpoint_sessions(endpoint), 2);
    btz_mcp_endpoint_closed(endpoint, 10, clock_us);
    answer_call(endpoint, handle, token);
    expect(endpoint, "");
    clock_us += 2000;
    btz_mcp_endpoint_tick(endpoint, clock_us);
    assert_int_equal(btz_mcp_endpoint_sessions(endpoint), 0);
    assert_null(btz_mcp_endpoint_server(endpoint, handle));
    btz_mcp_endpoint_free(endpoint);
}

/* Time counts from the end of the last exchange, not from its beginning. */
static void idle_since(void **state)
{
    struct btz_mcp_endpoint *endpoint = make_endpoint(
        (struct btz_mcp_endpoint_options){.session_idle_us = 1000, .keepalive_us = -1});
    const char *session = open_session(endpoint, "2025-06-18");

    (void)state;
    http(endpoint, 10, "GET", "/mcp", with(GET_FIELDS, session), "");
    outs(endpoint);
    clock_us += 900;
    btz_mcp_endpoint_closed(endpoint, 10, clock_us);
    clock_us += 999;
    btz_mcp_endpoint_tick(endpoint, clock_us);
    assert_int_equal(btz_mcp_endpoint_sessions(endpoint), 1);
    clock_us += 1;
    btz_mcp_endpoint_tick(endpoint, clock_us);
    assert_int_equal(btz_mcp_endpoint_sessions(endpoint), 0);
    btz_mcp_endpoint_free(endpoint);
}

static void keep_alive(void **state)
{
    struct btz_mcp_endpoint *endpoint =
        make_endpoint((struct btz_mcp_endpoint_options){.keepalive_us = 100});
    const char *session = open_session(endpoint, "2025-06-18");

    (void)state;
    http(endpoint, 5, "GET", "/mcp", with(GET_FIELDS, session), "");
    expect(endpoint, "5 " STREAM_HEAD);
    assert_int_equal(btz_mcp_endpoint_due(endpoint), clock_us + 100);
    clock_us += 99;
    btz_mcp_endpoint_tick(endpoint, clock_us);
    expect(endpoint, "");
    clock_us += 1;
    btz_mcp_endpoint_tick(endpoint, clock_us);
    expect(endpoint, "5 data : keep-alive\\n\\n");
    assert_int_equal(btz_mcp_endpoint_due(endpoint), clock_us + 100);
    clock_us += 50; /* other bytes count as life */
    replace_catalogue(endpoint, "[]");
    expect(endpoint, "5 data id: 2-1\\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/"
                     "list_changed\"}\\n\\n");
    clock_us += 50;
    btz_mcp_endpoint_tick(endpoint, clock_us);
    clock_us += 50;
    btz_mcp_endpoint_tick(endpoint, clock_us);
    outs(endpoint);
    btz_mcp_endpoint_closed(endpoint, 5, clock_us);
    clock_us += 500;
    btz_mcp_endpoint_tick(endpoint, clock_us);
    expect(endpoint, "");
    btz_mcp_endpoint_free(endpoint);
}

/* A carrier that does not pull: bytes stay bounded, streams are given up, nothing else breaks. */
static void flood(void **state)
{
    struct btz_mcp_endpoint *endpoint =
        make_endpoint((struct btz_mcp_endpoint_options){.max_out_bytes = 20000});
    const char *fields = "MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: a\n";
    struct btz_mcp_endpoint_out out;
    size_t bytes = 0;
    size_t aborts = 0;
    uint64_t handle;
    uint64_t token;

    (void)state;
    http(endpoint, 1, "POST", "/mcp", with(POST_FIELDS, fields),
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
         "call\",\"params\":{\"name\":\"a\"," MODERN_META ",\"progressToken\":1}}}");
    token = take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
    for (int i = 0; i < 2000; i++) {
        struct btz_mcp_server *server = btz_mcp_endpoint_server(endpoint, handle);

        if (!server) {
            break;
        }
        (void)!btz_mcp_server_progress(server, token, i + 1, -1, BTZ_STR("some text"));
        clock_us++;
        btz_mcp_endpoint_end_streams(endpoint); /* drains the machines; nothing is pulled */
    }
    assert_null(btz_mcp_endpoint_server(endpoint, handle)); /* given up = cancelled */
    take_event(endpoint, BTZ_MCP_SERVER_CANCELLED, "a", &handle);
    no_event(endpoint);
    while (btz_mcp_endpoint_next_out(endpoint, &out)) {
        bytes += out.bytes.len;
        aborts += out.kind == BTZ_MCP_OUT_ABORT;
    }
    assert_int_equal(aborts, 1);
    assert_int_equal(bytes, 0); /* what waited for it is dropped */
    assert_int_equal(btz_mcp_endpoint_stats(endpoint).aborted, 1);
    for (uint64_t i = 0; i < 1000; i++) { /* answers nobody pulls */
        struct btz_http_field list[] = {{BTZ_STR("Host"), BTZ_STR("localhost")}};
        const struct btz_http_head head = {
            .method = BTZ_STR("PUT"), .target = BTZ_STR("/"), .fields = list, .field_count = 1};

        if (btz_mcp_endpoint_request(endpoint, i, &head, BTZ_STR_NONE, BTZ_STR_NONE, clock_us)) {
            break;
        }
        assert_true(i < 200);
    }
    while (btz_mcp_endpoint_next_out(endpoint, &out)) {
        bytes += out.bytes.len;
    }
    assert_true(bytes <= 20000);
    btz_mcp_endpoint_free(endpoint);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_by_head),
        cmocka_unit_test(accepted_by_head),
        cmocka_unit_test(host_policies),
        cmocka_unit_test(refused_by_shape),
        cmocka_unit_test(allow_field),
        cmocka_unit_test(unusable_options),
        cmocka_unit_test(too_large),
        cmocka_unit_test(too_many_exchanges),
        cmocka_unit_test(too_many_sessions),
        cmocka_unit_test(busy_sessions_stay),
        cmocka_unit_test(keep_alive),
        cmocka_unit_test(idle_since),
        cmocka_unit_test(flood),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
