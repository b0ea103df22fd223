/* The HTTP client session and requests that wait for authorization. */
#include "http_helper.h"

#define OPTIONS(...) ((struct btz_mcp_http_session_options){__VA_ARGS__})
#define BEARER "WWW-Authenticate: Bearer scope=\"a\""

static void challenged(struct btz_mcp_http_session *s, int status, const char *value)
{
    struct btz_mcp_http_challenge challenge;

    assert_true(btz_mcp_http_session_challenged(s, &challenge));
    assert_int_equal(challenge.status, status);
    assert_int_equal(challenge.field_count, value ? 1 : 0);
    if (value) {
        assert_true(btz_str_is(challenge.fields[0].value, value));
    }
    sends(s, NULL);
}

static void authorize(struct btz_mcp_http_session *s, const char *value)
{
    struct btz_mcp_http_challenge challenge;

    assert_int_equal(btz_mcp_http_session_authorize(s, btz_str_of(value)), BTZ_OK);
    assert_false(btz_mcp_http_session_challenged(s, &challenge));
}

static uint64_t call(struct btz_mcp_http_session *s, const char *tool)
{
    uint64_t request = 0;

    assert_int_equal(
        btz_mcp_client_call_tool(btz_mcp_http_session_client(s), btz_str_of(tool), NULL, &request),
        BTZ_OK);
    return request;
}

static bool has_field(const struct btz_mcp_http_exchange *exchange, const char *name,
                      const char *value)
{
    for (size_t i = 0; i < exchange->field_count; i++) {
        if (btz_str_is(exchange->fields[i].name, name)) {
            return btz_str_is(exchange->fields[i].value, value);
        }
    }
    return value == NULL;
}

/* The probe of a dual-era client waits: 401 says nothing about the era. */
static void test_handshake_waits(void **state)
{
    struct btz_mcp_http_session *s =
        new_session(OPTIONS(.hold_unauthorized = true, .client = {.mode = BTZ_MCP_CLIENT_PROBE}));
    uint64_t id = sends(s, POST_HEAD("/mcp") "MCP-Protocol-Version: 2026-07-28\nMcp-Method: "
                                             "server/discover\n" DISCOVER_BODY);
    struct btz_mcp_http_exchange again;

    (void)state;
    head(s, id, 401, BEARER);
    closes(s, id);
    challenged(s, 401, "Bearer scope=\"a\"");
    assert_int_equal(btz_mcp_http_session_response_end(s, id, BTZ_MCP_HTTP_WHOLE), BTZ_ENOTFOUND);
    assert_int_equal(btz_mcp_http_session_authorize(s, BTZ_STR("Bearer a\nb")), BTZ_EINVAL);
    challenged(s, 401, "Bearer scope=\"a\"");
    authorize(s, "Bearer one");
    id = sends_any(s, &again);
    assert_true(has_field(&again, "Authorization", "Bearer one"));
    answers(s, id, 200, JSON, DISCOVER_RESULT);
    event_of(s, BTZ_MCP_CLIENT_READY);
    quiet(s);
    btz_mcp_http_session_free(s);
}

/* Calls that were under way with the old value go again by themselves. */
static void test_stale_ones_go_again(void **state)
{
    struct btz_mcp_http_session *s = modern_session(OPTIONS(.hold_unauthorized = true));
    struct btz_mcp_http_exchange exchange;
    struct btz_mcp_http_challenge challenge;
    uint64_t one;
    uint64_t two;

    (void)state;
    authorize(s, "Bearer old");
    call(s, "a");
    call(s, "b");
    one = sends_any(s, &exchange);
    assert_true(has_field(&exchange, "Authorization", "Bearer old"));
    two = sends_any(s, &exchange);
    head(s, one, 403, BEARER);
    closes(s, one);
    call(s, "c"); /* waits, too */
    challenged(s, 403, "Bearer scope=\"a\"");
    authorize(s, "Bearer new");
    one = sends_any(s, &exchange);
    assert_true(has_field(&exchange, "Authorization", "Bearer new"));
    head(s, two, 401, "");
    closes(s, two);
    assert_false(btz_mcp_http_session_challenged(s, &challenge));
    two = sends_any(s, &exchange);
    assert_true(has_field(&exchange, "Mcp-Name", "b"));
    assert_true(has_field(&exchange, "Authorization", "Bearer new"));
    assert_int_not_equal(sends_any(s, &exchange), 0);
    answers(s, one, 200, JSON,
            "{'jsonrpc':'2.0','id':2,'result':{'resultType':'complete','content':[]}}");
    event_of(s, BTZ_MCP_CLIENT_RESULT);
    head(s, two, 401, "");
    closes(s, two);
    challenged(s, 401, NULL);
    btz_mcp_http_session_free(s);
}

static void test_given_up(void **state)
{
    struct btz_mcp_http_session *s = modern_session(OPTIONS(.hold_unauthorized = true));
    struct btz_mcp_http_exchange exchange;
    struct btz_mcp_client_event event;
    uint64_t id;

    (void)state;
    call(s, "a");
    id = sends_any(s, &exchange);
    head(s, id, 401, "");
    closes(s, id);
    challenged(s, 401, NULL);
    authorize(s, "");
    event = event_of(s, BTZ_MCP_CLIENT_RESULT);
    assert_int_equal(event.fault, BTZ_MCP_FAULT_CLOSED);
    assert_true(btz_str_is(event.message, "the server answered HTTP status 401 (Unauthorized)"));
    call(s, "b"); /* tries for itself */
    id = sends_any(s, &exchange);
    assert_true(has_field(&exchange, "Authorization", NULL));
    answers(s, id, 200, JSON,
            "{'jsonrpc':'2.0','id':3,'result':{'resultType':'complete','content':[]}}");
    event_of(s, BTZ_MCP_CLIENT_RESULT);
    quiet(s);
    btz_mcp_http_session_free(s);
}

/* Legacy: the note that ends the handshake and the stream of the server's messages. */
static void test_note_and_stream(void **state)
{
    for (int refused = 0; refused < 2; refused++) {
        struct btz_mcp_http_session *s = new_session(
            OPTIONS(.hold_unauthorized = true, .client = {.mode = BTZ_MCP_CLIENT_LEGACY}));
        struct btz_mcp_http_exchange exchange;
        uint64_t id = sends_any(s, &exchange);

        (void)state;
        answers(s, id, 200, JSON "\nMcp-Session-Id: s-1", INIT_RESULT);
        event_of(s, BTZ_MCP_CLIENT_READY);
        id = sends_any(s, &exchange);
        assert_true(btz_str_is(exchange.rpc_method, "notifications/initialized"));
        head(s, id, 401, "");
        closes(s, id);
        call(s, "a");
        challenged(s, 401, NULL);
        authorize(s, refused ? "" : "Bearer one");
        id = sends_any(s, &exchange);
        if (!refused) {
            assert_true(btz_str_is(exchange.rpc_method, "notifications/initialized"));
            answers(s, id, 202, "", "");
            id = sends_any(s, &exchange);
        }
        assert_true(btz_str_is(exchange.rpc_method, "tools/call"));
        id = sends_any(s, &exchange);
        assert_int_equal(exchange.method, BTZ_MCP_HTTP_GET);
        head(s, id, 401, BEARER);
        closes(s, id);
        challenged(s, 401, "Bearer scope=\"a\"");
        authorize(s, "Bearer two");
        id = sends_any(s, &exchange);
        assert_int_equal(exchange.method, BTZ_MCP_HTTP_GET);
        assert_true(has_field(&exchange, "Authorization", "Bearer two"));
        head(s, id, 403, "");
        closes(s, id);
        authorize(s, "");
        sends(s, NULL);
        assert_true(btz_mcp_http_session_take_flags(s) & BTZ_MCP_HTTP_GET_LOST);
        btz_mcp_http_session_free(s);
    }
}

/* Without the option, and for the last DELETE, a refusal is what it was. */
static void test_not_held(void **state)
{
    struct btz_mcp_http_session *s = modern_session(OPTIONS(.host = BTZ_STR_NONE));
    struct btz_mcp_http_challenge challenge;
    struct btz_mcp_http_exchange exchange;
    uint64_t id;

    (void)state;
    call(s, "a");
    id = sends_any(s, &exchange);
    head(s, id, 401, BEARER);
    assert_false(btz_mcp_http_session_challenged(s, &challenge));
    assert_int_equal(event_of(s, BTZ_MCP_CLIENT_RESULT).fault, BTZ_MCP_FAULT_CLOSED);
    btz_mcp_http_session_free(s);

    s = legacy_session(OPTIONS(.hold_unauthorized = true), NULL);
    btz_mcp_http_session_close(s);
    id = sends_any(s, &exchange);
    assert_int_equal(exchange.method, BTZ_MCP_HTTP_DELETE);
    head(s, id, 401, BEARER);
    assert_false(btz_mcp_http_session_challenged(s, &challenge));
    btz_mcp_http_session_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handshake_waits), cmocka_unit_test(test_stale_ones_go_again),
        cmocka_unit_test(test_given_up),        cmocka_unit_test(test_note_and_stream),
        cmocka_unit_test(test_not_held),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
