/* The HTTP endpoint in the legacy era: sessions, streams, resuming, and HTTP+SSE of 2024-11-05. */
#include "endpoint_helper.h"

#include <stdio.h>
#include <string.h>

#define HELLO(id)                                                                                  \
    LEGACY(id, "initialize",                                                                       \
           "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"elicitation\":{}},"             \
           "\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}")
#define WELCOME(id)                                                                                \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{\"protocolVersion\":\"2025-11-25\","           \
    "\"capabilities\":{\"tools\":{\"listChanged\":true},\"resources\":{\"listChanged\":true}},"    \
    "\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}"
#define INITIALIZED "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"
#define PING LEGACY("5", "ping", "")
#define PONG "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}"
#define CALL_TOKEN(id)                                                                             \
    LEGACY(id, "tools/call", "\"name\":\"a\",\"_meta\":{\"progressToken\":\"t\"}")
#define PROGRESS(value)                                                                            \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":"    \
    "\"t\",\"progress\":" value "}}"
#define RESULT(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{\"content\":[]}}"
#define CANCEL(id)                                                                                 \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":" id "}}"
#define CHANGED "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}"
#define OTHER_TOOLS "[{\"name\":\"%s\",\"inputSchema\":{\"type\":\"object\"}}]"
#define PRIME(id) "data id: " id "\\nretry: 1000\\ndata:\\n\\n"
#define EVENT(id, message) "data id: " id "\\ndata: " message "\\n\\n"

static const struct btz_mcp_endpoint_options plain = {.no_get = false};

static void post(struct btz_mcp_endpoint *endpoint, uint64_t exchange, const char *session,
                 const char *body)
{
    http(endpoint, exchange, "POST", "/mcp", with(POST_FIELDS, session), body);
}

static void get(struct btz_mcp_endpoint *endpoint, uint64_t exchange, const char *session,
                const char *more)
{
    http(endpoint, exchange, "GET", "/mcp", with(with(GET_FIELDS, session), more), "");
}

/* Tells the session once that its tools changed. */
static void change(struct btz_mcp_endpoint *endpoint)
{
    static int turn;
    static const char *const tools[] = {
        "[{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"}}]",
        "[{\"name\":\"a\",\"description\":\"x\",\"inputSchema\":{\"type\":\"object\"}}]"};

    replace_catalogue(endpoint, tools[turn++ % 2]);
}

static void session_ids(void **state)
{
    struct btz_mcp_endpoint *endpoint = make_endpoint(plain);
    struct btz_mcp_endpoint_out out;
    char seen[50][41];

    (void)state;
    POST(endpoint, 1, "", HELLO("\"i\""));
    expect(endpoint,
           "1 200 [Content-Type: application/json; MCP-Session-Id: S1] " WELCOME("\"i\""));
    for (size_t i = 0; i < 50; i++) {
        POST(endpoint, 1, "", HELLO("1"));
        assert_true(btz_mcp_endpoint_next_out(endpoint, &out));
        assert_int_equal(out.fields[1].value.len, 40); /* 160 bits as hex */
        snprintf(seen[i], sizeof(seen[i]), "%.*s", BTZ_FMT(out.fields[1].value));
        for (size_t k = 0; seen[i][k]; k++) {
            assert_true(seen[i][k] >= 0x21 && seen[i][k] <= 0x7e);
        }
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(seen[i], seen[k]);
        }
    }
    /* a refused initialize opens nothing */
    POST(endpoint, 1, "", LEGACY("1", "initialize", "\"protocolVersion\":\"2025-11-25\""));
    expect_error(endpoint, 1, 200, BTZ_MCP_E_PARAMS, "1");
    assert_int_equal(btz_mcp_endpoint_sessions(endpoint), 51);
    assert_int_equal(btz_mcp_endpoint_stats(endpoint).sessions, 51);
    btz_mcp_endpoint_free(endpoint);
}

/* What each method answers about the session and the version it is asked with. */
static void refusals(void **state)
{
    static const struct {
        const char *method, *more, *body;
        bool with_session;
        int status;
        const char *id;
    } rows[] = {
        {"POST", "", PING, false, 400, "5"},
        {"POST", "", INITIALIZED, false, 400, NULL},
        {"POST", "", RESULT("1"), false, 400, NULL},
        {"GET", "", "", false, 400, NULL},
        {"DELETE", "", "", false, 400, NULL},
        {"POST", "MCP-Session-Id: 0000000000000000000000000000000000000000\n", PING, false, 404,
         "5"},
        {"POST", "MCP-Session-Id: \n", PING, false, 404, "5"},
        {"POST", "MCP-Session-Id: x\n", INITIALIZED, false, 404, NULL},
        {"POST", "MCP-Session-Id: x\n", HELLO("5"), false, 404, "5"},
        {"GET", "MCP-Session-Id: x\n", "", false, 404, NULL},
        {"DELETE", "MCP-Session-Id: x\n", "", false, 404, NULL},
        {"POST", "MCP-Session-Id: x\n", PING, true, 400, "5"}, /* two of them */
        {"POST", "MCP-Protocol-Version: 1999-01-01\n", PING, true, 400, "5"},
        {"POST", "MCP-Protocol-Version: \n", PING, true, 400, "5"},
        {"POST", "MCP-Protocol-Version: 2025-06-18\nMCP-Protocol-Version: 2025-06-18\n", PING, true,
         400, "5"},
        {"POST", "MCP-Protocol-Version: nonsense\n", INITIALIZED, true, 400, NULL},
        {"GET", "MCP-Protocol-Version: nonsense\n", "", true, 400, NULL},
        {"DELETE", "MCP-Protocol-Version: nonsense\n", "", true, 400, NULL},
        {"POST", "", HELLO("5"), true, 400, "5"}, /* initialized already */
        {"POST", "", RESULT("1"), true, 400, NULL},
        {"POST", "", "[" PING "]", true, 400, NULL},
        {"GET", "Last-Event-ID: 1\n", "", true, 400, NULL},
        {"GET", "Last-Event-ID: 7-1\n", "", true, 400, NULL},
        {"GET", "Last-Event-ID: 1-1\n", "", true, 400, NULL},
        {"GET", "Last-Event-ID: -1-1\n", "", true, 400, NULL},
        {"GET", "Last-Event-ID: 1--1\n", "", true, 400, NULL},
        {"GET", "Last-Event-ID: 99999999999999999999-1\n", "", true, 400, NULL},
        {"GET", "Last-Event-ID: 1-1\nLast-Event-ID: 1-1\n", "", true, 400, NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct btz_mcp_endpoint *endpoint = make_endpoint(plain);
        const char *session = open_session(endpoint, "2025-06-18");

        http(endpoint, 9, rows[i].method, "/mcp",
             with(with(POST_FIELDS, rows[i].with_session ? session : ""), rows[i].more),
             rows[i].body);
        expect_error(endpoint, 9, rows[i].status, BTZ_MCP_E_REQUEST, rows[i].id);
        post(endpoint, 9, session, PING); /* the session is unharmed */
        expect(endpoint, "9 " JSON_HEAD PONG);
        btz_mcp_endpoint_free(endpoint);
    }
}

/* Every legacy revision, with the header and without it (absent = 2025-03-26 is assumed). */
static void versions(void **state)
{
    static const char *const rows[] = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct btz_mcp_endpoint *endpoint = make_endpoint(plain);
        const char *session = open_session(endpoint, rows[i]);
        char fields[256];

        snprintf(fields, sizeof(fields), "%sMCP-Protocol-Version: %s\n", session, rows[i]);
        post(endpoint, 2, fields, PING);
        expect(endpoint, "2 " JSON_HEAD PONG);
        post(endpoint, 2, session, PING);
        expect(endpoint, "2 " JSON_HEAD PONG);
        post(endpoint, 2, session, LEGACY("5", "no/such", ""));
        expect_error(endpoint, 2, 200, BTZ_MCP_E_METHOD, "5"); /* 404 would mean a lost session */
        btz_mcp_endpoint_free(endpoint);
    }
}

static void deleting(void **state)
{
    struct btz_mcp_endpoint *endpoint = make_endpoint(plain);
    const char *session = open_session(endpoint, "2025-06-18");
    const char *other = open_session(endpoint, "2025-06-18");
    uint64_t handle;

    (void)state;
    get(endpoint, 2, session, "");
    post(endpoint, 3, session, LEGACY_CALL("1"));
    take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
    outs(endpoint);
    http(endpoint, 4, "DELETE", "/mcp", with(HOST, session), "");
    expect(endpoint,
           "2 end\n3 404 [Content-Type: application/json] {\"jsonrpc\":\"2.0\",\"id\":1,"
           "\"error\":{\"code\":-32600,\"message\":\"the session has ended\"}}\n4 204 []");
    assert_null(btz_mcp_endpoint_server(endpoint, handle));
    take_event(endpoint, BTZ_MCP_SERVER_CANCELLED, "a", &handle);
    no_event(endpoint);
    post(endpoint, 5, session, PING);
    expect_error(endpoint, 5, 404, BTZ_MCP_E_REQUEST, "5");
    http(endpoint, 5, "DELETE", "/mcp", with(HOST, session), "");
    expect_error(endpoint, 5, 404, BTZ_MCP_E_REQUEST, NULL);
    post(endpoint, 5, other, PING);
    expect(endpoint, "5 " JSON_HEAD PONG);
    assert_int_equal(btz_mcp_endpoint_sessions(endpoint), 1);
    assert_int_equal(btz_mcp_endpoint_exchanges(endpoint), 0);
    btz_mcp_endpoint_free(endpoint);
}

/* A session belongs to who opened it; to others it does not exist. The lab can switch that off. */
static void subjects(void **state)
{
    (void)state;
    for (int open = 0; open < 2; open++) {
        struct btz_mcp_endpoint_options options = {.switches.any_subject = open};
        struct btz_mcp_endpoint *endpoint = make_endpoint(options);
        const char *session;

        as_subject = "alice";
        session = open_session(endpoint, "2025-06-18");
        for (int who = 0; who < 2; who++) {
            as_subject = who ? "mallory" : NULL;
            post(endpoint, 2, session, PING);
            if (open) {
                expect(endpoint, "2 " JSON_HEAD PONG);
                continue;
            }
            expect_error(endpoint, 2, 404, BTZ_MCP_E_REQUEST, "5");
            get(endpoint, 2, session, "");
            expect_error(endpoint, 2, 404, BTZ_MCP_E_REQUEST, NULL);
            http(endpoint, 2, "DELETE", "/mcp", with(HOST, session), "");
            expect_error(endpoint, 2, 404, BTZ_MCP_E_REQUEST, NULL);
        }
        as_subject = "alice";
        post(endpoint, 2, session, PING);
        expect(endpoint, "2 " JSON_HEAD PONG);
        btz_mcp_endpoint_free(endpoint);
    }
}

/* Related messages go to the request's own stream, the rest to the GET stream, nothing twice. */
static void one_stream_each(void **state)
{
    struct btz_mcp_endpoint *endpoint = make_endpoint(plain);
    const char *session = open_session(endpoint, "2025-11-25");
    uint64_t handle;
    uint64_t token;
    uint64_t second;

    (void)state;
    get(endpoint, 2, session, "");
    expect(endpoint, "2 " STREAM_HEAD "\n2 " PRIME("2-1"));
    get(endpoint, 3, session, "");
    expect(endpoint, "3 " STREAM_HEAD "\n3 " PRIME("3-1"));
    post(endpoint, 4, session, CALL_TOKEN("1"));
    token = take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
    post(endpoint, 5, session, CALL_TOKEN("2"));
    second = take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
    expect(endpoint, "");
    progress(endpoint, handle, second, 1);
    change(endpoint);
    expect(endpoint, "5 " STREAM_HEAD "\n5 " PRIME("5-1") "\n5 " EVENT(
                         "5-2", PROGRESS("1")) "\n2 " EVENT("2-2", CHANGED));
    btz_mcp_endpoint_closed(endpoint, 2, clock_us);
    change(endpoint);
    expect(endpoint, "3 " EVENT("3-2", CHANGED));
    answer_call(endpoint, handle, token);
    answer_call(endpoint, handle, second);
    expect(endpoint, "4 " JSON_HEAD RESULT("1") "\n5 " EVENT("5-3", RESULT("2")) "\n5 end");
    btz_mcp_endpoint_free(endpoint);
}

/* Before 2025-11-25 clients are not primed: they fall over events without data. */
static void older_streams(void **state)
{
    struct btz_mcp_endpoint_options options = {.retry_ms = -1};
    struct btz_mcp_endpoint *endpoint = make_endpoint(plain);
    const char *session = open_session(endpoint, "2025-06-18");

    (void)state;
    get(endpoint, 2, session, "");
    change(endpoint);
    expect(endpoint, "2 " STREAM_HEAD "\n2 " EVENT("2-1", CHANGED));
    btz_mcp_endpoint_free(endpoint);
    endpoint = make_endpoint(options);
    session = open_session(endpoint, "2025-11-25");
    get(endpoint, 2, session, "");
    expect(endpoint, "2 " STREAM_HEAD "\n2 data id: 2-1\\ndata:\\n\\n");
    btz_mcp_endpoint_free(endpoint);
    options.no_resume = true;
    endpoint = make_endpoint(options);
    session = open_session(endpoint, "2025-11-25");
    get(endpoint, 2, session, "");
    change(endpoint);
    expect(endpoint, "2 " STREAM_HEAD "\n2 data data: " CHANGED "\\n\\n");
    btz_mcp_endpoint_closed(endpoint, 2, clock_us);
    get(endpoint, 3, session, "Last-Event-ID: 2-1\n");
    expect_error(endpoint, 3, 400, BTZ_MCP_E_REQUEST, NULL);
    btz_mcp_endpoint_free(endpoint);
}

static void too_many_streams(void **state)
{
    struct btz_mcp_endpoint_options options = {.max_session_streams = 2};
    struct btz_mcp_endpoint *endpoint = make_endpoint(options);
    const char *session = open_session(endpoint, "2025-06-18");

    (void)state;
    get(endpoint, 2, session, "");
    get(endpoint, 3, session, "");
    outs(endpoint);
    get(endpoint, 4, session, "");
    expect_error(endpoint, 4, 409, BTZ_MCP_E_REQUEST, NULL);
    btz_mcp_endpoint_closed(endpoint, 3, clock_us);
    get(endpoint, 4, session, "");
    expect(endpoint, "4 " STREAM_HEAD);
    btz_mcp_endpoint_end_streams(endpoint);
    expect(endpoint, "2 end\n4 end");
    post(endpoint, 5, session, PING); /* the session stays */
    expect(endpoint, "5 " JSON_HEAD PONG);
    btz_mcp_endpoint_free(endpoint);
}

/* What has no stream waits for one, within a bound. */
static void waiting(void **state)
{
    struct btz_mcp_endpoint_options options = {.replay_bytes = 400};
    struct btz_mcp_endpoint *endpoint = make_endpoint(options);
    const char *session = open_session(endpoint, "2025-06-18");
    const char *got;
    size_t events = 0;

    (void)state;
    change(endpoint);
    expect(endpoint, "");
    get(endpoint, 2, session, "");
    expect(endpoint, "2 " STREAM_HEAD "\n2 " EVENT("2-1", CHANGED));
    btz_mcp_endpoint_closed(endpoint, 2, clock_us);
    for (int i = 0; i < 50; i++) {
        change(endpoint);
        outs(endpoint);
    }
    get(endpoint, 3, session, "");
    got = outs(endpoint);
    while ((got = strstr(got, "data: {"))) {
        events++;
        got++;
    }
    assert_true(events > 0 && events < 5);
    assert_int_equal(btz_mcp_endpoint_stats(endpoint).lost, 50 - events);
    btz_mcp_endpoint_free(endpoint);
}

/* Disconnection is no cancellation: the answer waits, and only this stream's events come again. */
static void resuming(void **state)
{
    struct btz_mcp_endpoint *endpoint = make_endpoint(plain);
    const char *session = open_session(endpoint, "2025-11-25");
    uint64_t handle;
    uint64_t token;

    (void)state;
    get(endpoint, 2, session, "");
    post(endpoint, 3, session, CALL_TOKEN("1"));
    token = take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
    progress(endpoint, handle, token, 1);
    expect(endpoint, "2 " STREAM_HEAD "\n2 " PRIME("2-1") "\n3 " STREAM_HEAD "\n3 " PRIME(
                         "3-1") "\n3 " EVENT("3-2", PROGRESS("1")));
    btz_mcp_endpoint_closed(endpoint, 3, clock_us);
    no_event(endpoint);
    progress(endpoint, handle, token, 2);
    change(endpoint);
    expect(endpoint, "2 " EVENT("2-2", CHANGED));
    get(endpoint, 4, session, "Last-Event-ID: 3-1\n");
    expect(endpoint,
           "4 " STREAM_HEAD "\n4 " EVENT("3-2", PROGRESS("1")) "\n4 " EVENT("3-3", PROGRESS("2")));
    progress(endpoint, handle, token, 3); /* live again */
    expect(endpoint, "4 " EVENT("3-4", PROGRESS("3")));
    /* a second client of the same stream takes it over */
    get(endpoint, 5, session, "Last-Event-ID: 3-4\n");
    expect(endpoint, "4 end\n5 " STREAM_HEAD);
    btz_mcp_endpoint_closed(endpoint, 5, clock_us);
    answer_call(endpoint, handle, token);
    expect(endpoint, "");
    for (uint64_t i = 6; i < 8; i++) { /* as often as it is asked for */
        char want[512];

        get(endpoint, i, session, "Last-Event-ID: 3-4\n");
        snprintf(want, sizeof(want), "%d " STREAM_HEAD "\n%d " EVENT("3-5", RESULT("1")) "\n%d end",
                 (int)i, (int)i, (int)i);
        expect(endpoint, want);
    }
    get(endpoint, 9, session, "Last-Event-ID: 3-6\n"); /* was never sent */
    expect_error(endpoint, 9, 400, BTZ_MCP_E_REQUEST, NULL);
    /* a broken GET stream comes back the same way, and takes what waited */
    btz_mcp_endpoint_closed(endpoint, 2, clock_us);
    change(endpoint);
    expect(endpoint, "");
    get(endpoint, 10, session, "Last-Event-ID: 2-1\n");
    expect(endpoint, "10 " STREAM_HEAD "\n10 " EVENT("2-2", CHANGED) "\n10 " EVENT("2-3", CHANGED));
    btz_mcp_endpoint_free(endpoint);
}

/* An id is free again once it was answered, though its events are still kept. */
static void ids_after_answers(void **state)
{
    struct btz_mcp_endpoint *endpoint = make_endpoint(plain);
    const char *session = open_session(endpoint, "2025-11-25");

    (void)state;
    for (int i = 0; i < 2; i++) {
        uint64_t handle;
        uint64_t token;

        post(endpoint, 3, session, CALL_TOKEN("1"));
        token = take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
        progress(endpoint, handle, token, 1);
        answer_call(endpoint, handle, token);
        assert_non_null(strstr(outs(endpoint), "3 end"));
    }
    get(endpoint, 4, session, "Last-Event-ID: 2-2\n"); /* the first one's answer */
    expect(endpoint, "4 " STREAM_HEAD "\n4 " EVENT("2-3", RESULT("1")) "\n4 end");
    btz_mcp_endpoint_free(endpoint);
}

/* Where GET is off nothing waits for it. */
static void no_get(void **state)
{
    struct btz_mcp_endpoint_options options = {.no_get = true};
    struct btz_mcp_endpoint *endpoint = make_endpoint(options);

    (void)state;
    open_session(endpoint, "2025-11-25");
    change(endpoint);
    expect(endpoint, "");
    assert_int_equal(btz_mcp_endpoint_stats(endpoint).lost, 1);
    btz_mcp_endpoint_free(endpoint);
}

/* Another session's events cannot be had. */
static void foreign_events(void **state)
{
    struct btz_mcp_endpoint *endpoint = make_endpoint(plain);
    const char *one = open_session(endpoint, "2025-11-25");
    const char *two = open_session(endpoint, "2025-11-25");

    (void)state;
    get(endpoint, 2, one, "");
    outs(endpoint);
    get(endpoint, 3, two, "Last-Event-ID: 2-1\n");
    expect_error(endpoint, 3, 400, BTZ_MCP_E_REQUEST, NULL);
    btz_mcp_endpoint_free(endpoint);
}

/* The buffer is bounded; who asks for what fell out is told so instead of losing it silently. */
static void fallen_out(void **state)
{
    struct btz_mcp_endpoint_options options = {.replay_bytes = 600};
    struct btz_mcp_endpoint *endpoint = make_endpoint(options);
    const char *session = open_session(endpoint, "2025-11-25");
    uint64_t handle;
    uint64_t token;

    (void)state;
    post(endpoint, 3, session, CALL_TOKEN("1"));
    token = take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
    for (int i = 1; i <= 100; i++) {
        progress(endpoint, handle, token, i);
    }
    outs(endpoint);
    btz_mcp_endpoint_closed(endpoint, 3, clock_us);
    get(endpoint, 4, session, "Last-Event-ID: 2-1\n");
    expect_error(endpoint, 4, 400, BTZ_MCP_E_REQUEST, NULL);
    get(endpoint, 4, session, "Last-Event-ID: 2-100\n");
    expect(endpoint, "4 " STREAM_HEAD "\n4 " EVENT("2-101", PROGRESS("100")));
    btz_mcp_endpoint_free(endpoint);
}

/* An answer to a client that left before a stream began cannot be asked for: it is dropped. */
static void lost_answer(void **state)
{
    struct btz_mcp_endpoint *endpoint = make_endpoint(plain);
    const char *session = open_session(endpoint, "2025-11-25");
    uint64_t handle;
    uint64_t token;

    (void)state;
    post(endpoint, 3, session, CALL_TOKEN("1"));
    token = take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
    btz_mcp_endpoint_closed(endpoint, 3, clock_us);
    post(endpoint, 4, session, LEGACY_CALL("1")); /* still in flight */
    expect_error(endpoint, 4, 400, BTZ_MCP_E_REQUEST, "1");
    progress(endpoint, handle, token, 1);
    answer_call(endpoint, handle, token);
    expect(endpoint, "");
    assert_int_equal(btz_mcp_endpoint_stats(endpoint).lost, 2);
    btz_mcp_endpoint_free(endpoint);
}

static void duplicate_ids(void **state)
{
    struct btz_mcp_endpoint *endpoint = make_endpoint(plain);
    const char *session = open_session(endpoint, "2025-06-18");
    const char *other = open_session(endpoint, "2025-06-18");
    uint64_t handle;
    uint64_t token;
    uint64_t ignored;

    (void)state;
    post(endpoint, 2, session, LEGACY_CALL("1"));
    token = take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
    post(endpoint, 3, session, LEGACY_CALL("1"));
    expect_error(endpoint, 3, 400, BTZ_MCP_E_REQUEST, "1");
    post(endpoint, 3, session, LEGACY("1", "ping", ""));
    expect_error(endpoint, 3, 400, BTZ_MCP_E_REQUEST, "1");
    post(endpoint, 3, session, LEGACY_CALL("\"1\"")); /* another id */
    take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &ignored);
    post(endpoint, 4, other, LEGACY_CALL("1")); /* another session */
    take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &ignored);
    answer_call(endpoint, handle, token);
    expect(endpoint, "2 " JSON_HEAD RESULT("1"));
    btz_mcp_endpoint_free(endpoint);
}

/* notifications/cancelled ends the exchange without an answer, streamed already or not. */
static void cancelling(void **state)
{
    (void)state;
    for (int started = 0; started < 2; started++) {
        struct btz_mcp_endpoint *endpoint = make_endpoint(plain);
        const char *session = open_session(endpoint, "2025-11-25");
        uint64_t handle;
        uint64_t token;

        post(endpoint, 2, session, CALL_TOKEN("1"));
        token = take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
        if (started) {
            progress(endpoint, handle, token, 1);
            outs(endpoint);
        }
        post(endpoint, 3, session, CANCEL("9")); /* names nothing */
        expect(endpoint, "3 202 []");
        post(endpoint, 3, session, CANCEL("1"));
        expect(endpoint, started ? "2 end\n3 202 []" : "2 " STREAM_HEAD "\n2 end\n3 202 []");
        take_event(endpoint, BTZ_MCP_SERVER_CANCELLED, "a", &handle);
        assert_int_equal(btz_mcp_server_reply_error(btz_mcp_endpoint_server(endpoint, handle),
                                                    token, 1, BTZ_STR("late"), NULL),
                         BTZ_ECANCELLED);
        expect(endpoint, "");
        get(endpoint, 4, session, "Last-Event-ID: 2-1\n"); /* nothing is left of it */
        expect_error(endpoint, 4, 400, BTZ_MCP_E_REQUEST, NULL);
        post(endpoint, 5, session, LEGACY_CALL("1")); /* the id is free again */
        take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
        btz_mcp_endpoint_free(endpoint);
    }
}

/* The server ends a stream early and the client comes back for the answer (2025-11-25). */
static void parking(void **state)
{
    struct btz_mcp_endpoint *endpoint = make_endpoint(plain);
    const char *session = open_session(endpoint, "2025-11-25");
    const char *older = open_session(endpoint, "2025-06-18");
    uint64_t handle;
    uint64_t token;

    (void)state;
    post(endpoint, 2, session, LEGACY_CALL("1"));
    token = take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
    assert_int_equal(btz_mcp_endpoint_park(endpoint, handle, btz_mcp_id_int(9)), BTZ_ENOTFOUND);
    assert_int_equal(btz_mcp_endpoint_park(endpoint, handle, btz_mcp_id_int(1)), BTZ_OK);
    expect(endpoint, "2 " STREAM_HEAD "\n2 " PRIME("2-1") "\n2 end");
    assert_int_equal(btz_mcp_endpoint_park(endpoint, handle, btz_mcp_id_int(1)), BTZ_ENOTFOUND);
    get(endpoint, 3, session, "Last-Event-ID: 2-1\n");
    expect(endpoint, "3 " STREAM_HEAD);
    answer_call(endpoint, handle, token);
    expect(endpoint, "3 " EVENT("2-2", RESULT("1")) "\n3 end");
    post(endpoint, 4, older, LEGACY_CALL("1"));
    take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
    assert_int_equal(btz_mcp_endpoint_park(endpoint, handle, btz_mcp_id_int(1)), BTZ_EUNSUPPORTED);
    btz_mcp_endpoint_free(endpoint);
}

/* What the lab can switch off: another's stream and another's waiting answers are out of reach. */
static void weak_streams(void **state)
{
    (void)state;
    for (int weak = 0; weak < 3; weak++) {
        struct btz_mcp_endpoint_options options = {
            .switches = {.counted_ids = weak, .any_resume = weak == 1, .one_queue = weak == 2}};
        struct btz_mcp_endpoint *endpoint = make_endpoint(options);
        const char *session = open_session(endpoint, "2025-11-25");
        const char *other = open_session(endpoint, "2025-11-25");
        uint64_t handle;
        uint64_t token;

        assert_int_equal(strstr(other, "0000000000000000000000000000000000000002") != NULL,
                         weak != 0);
        get(endpoint, 2, other, "");
        post(endpoint, 3, session, LEGACY_CALL("1"));
        (void)take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
        post(endpoint, 4, session, LEGACY_CALL("2"));
        token = take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
        assert_int_equal(btz_mcp_endpoint_park(endpoint, handle, btz_mcp_id_int(2)), BTZ_OK);
        (void)outs(endpoint);
        answer_call(endpoint, handle, token);
        expect(endpoint, weak == 2 ? "2 " EVENT("2-2", RESULT("2")) : "");
        get(endpoint, 5, other, "Last-Event-ID: 3-1\n"); /* of the other one's call */
        if (weak == 1) {
            expect(endpoint, "5 " STREAM_HEAD "\n5 " EVENT("3-2", RESULT("2")) "\n5 end");
        } else {
            expect_error(endpoint, 5, 400, BTZ_MCP_E_REQUEST, NULL);
        }
        get(endpoint, 6, session, "Last-Event-ID: 3-1\n"); /* whose it is gets it always */
        expect(endpoint, "6 " STREAM_HEAD "\n6 " EVENT("3-2", RESULT("2")) "\n6 end");
        btz_mcp_endpoint_free(endpoint);
    }
}

/* A question of the server goes to the stream of its call; the client's answer is a POST. */
static void asking(void **state)
{
    struct btz_mcp_endpoint *endpoint = make_endpoint(plain);
    const char *session = open_session(endpoint, "2025-06-18"); /* declares roots */
    struct btz_mcp_server_event event;
    uint64_t handle;
    uint64_t token;
    uint64_t ask;

    (void)state;
    get(endpoint, 2, session, "");
    post(endpoint, 3, session, LEGACY_CALL("1"));
    token = take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
    assert_int_equal(btz_mcp_server_ask(btz_mcp_endpoint_server(endpoint, handle), token,
                                        BTZ_STR("roots/list"), NULL, &ask, NULL),
                     BTZ_OK);
    expect(endpoint, "2 " STREAM_HEAD "\n3 " STREAM_HEAD "\n3 " EVENT(
                         "3-1", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}"));
    post(endpoint, 4, session, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"roots\":[]}}");
    expect(endpoint, "4 202 []");
    assert_true(btz_mcp_endpoint_next_event(endpoint, &handle, &event));
    assert_int_equal(event.kind, BTZ_MCP_SERVER_ANSWER);
    assert_int_equal(event.ask, ask);
    assert_int_equal(btz_mcp_server_ask(btz_mcp_endpoint_server(endpoint, handle), 0,
                                        BTZ_STR("ping"), NULL, &ask, NULL),
                     BTZ_OK);
    expect(endpoint, "2 " EVENT("2-1", "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}"));
    answer_call(endpoint, handle, token);
    expect(endpoint, "3 " EVENT("3-2", RESULT("1")) "\n3 end");
    btz_mcp_endpoint_free(endpoint);
}

#define OLD_POST(endpoint, exchange, id, body)                                                     \
    http(endpoint, exchange, "POST", old_target(id), HOST JSON_TYPE, body)

static const char *old_target(const char *id)
{
    static char target[128];

    snprintf(target, sizeof(target), "/mcp?sessionId=%s", id);
    return target;
}

/* HTTP+SSE: the first event names the POST address, all answers come on the GET stream. */
static void old_transport(void **state)
{
    struct btz_mcp_endpoint_options options = {.allow_legacy_sse = true};
    struct btz_mcp_endpoint *endpoint = make_endpoint(options);
    char id[41];
    const char *got;
    uint64_t handle;
    uint64_t token;

    (void)state;
    http(endpoint, 2, "GET", "/mcp?x=y", GET_FIELDS, "");
    got = strstr(outs(endpoint), "data event: endpoint\\ndata: /mcp?sessionId=");
    assert_non_null(got);
    snprintf(id, sizeof(id), "%.40s", got + strlen("data event: endpoint\\ndata: /mcp?sessionId="));
    OLD_POST(endpoint, 3, id, HELLO("1"));
    expect(endpoint, "3 202 []\n2 data event: message\\ndata: " WELCOME("1") "\\n\\n");
    OLD_POST(endpoint, 3, id, INITIALIZED);
    OLD_POST(endpoint, 4, id, CALL_TOKEN("1"));
    token = take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
    progress(endpoint, handle, token, 1);
    answer_call(endpoint, handle, token);
    expect(endpoint, "3 202 []\n4 202 []\n2 data event: message\\ndata: " PROGRESS(
                         "1") "\\n\\n\n2 data event: message\\ndata: " RESULT("1") "\\n\\n");
    change(endpoint);
    expect(endpoint, "2 data event: message\\ndata: " CHANGED "\\n\\n");
    /* the two transports' sessions are not each other's */
    OLD_POST(endpoint, 5, "0000000000000000000000000000000000000000", PING);
    expect_error(endpoint, 5, 404, BTZ_MCP_E_REQUEST, NULL);
    {
        char field[64];

        snprintf(field, sizeof(field), "MCP-Session-Id: %s\n", id);
        post(endpoint, 5, field, PING);
        expect_error(endpoint, 5, 404, BTZ_MCP_E_REQUEST, "5");
    }
    http(endpoint, 5, "POST", old_target(id), HOST "Content-Type: text/plain\n", PING);
    expect_error(endpoint, 5, 415, BTZ_MCP_E_REQUEST, NULL);
    OLD_POST(endpoint, 5, id, "{"); /* the answer names no request; it comes on the stream */
    got = outs(endpoint);
    assert_non_null(strstr(got, "5 202 []\n2 data event: message"));
    assert_non_null(strstr(got, "-32700"));
    OLD_POST(endpoint, 5, id, MODERN("8", "server/discover", "")); /* no modern era in here */
    got = outs(endpoint);
    assert_non_null(strstr(got, "\"id\":8,\"error\":{\"code\":-32601"));
    /* the stream is the session */
    OLD_POST(endpoint, 6, id, LEGACY_CALL("2"));
    take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &handle);
    outs(endpoint);
    btz_mcp_endpoint_closed(endpoint, 2, clock_us);
    take_event(endpoint, BTZ_MCP_SERVER_CANCELLED, "a", &handle);
    no_event(endpoint);
    OLD_POST(endpoint, 7, id, PING);
    expect_error(endpoint, 7, 404, BTZ_MCP_E_REQUEST, NULL);
    assert_int_equal(btz_mcp_endpoint_sessions(endpoint), 0);
    btz_mcp_endpoint_free(endpoint);
}

static void old_transport_ends(void **state)
{
    struct btz_mcp_endpoint_options options = {.allow_legacy_sse = true};
    struct btz_mcp_endpoint *endpoint = make_endpoint(options);

    (void)state;
    http(endpoint, 2, "GET", "/mcp", GET_FIELDS, "");
    outs(endpoint);
    btz_mcp_endpoint_end_streams(endpoint);
    expect(endpoint, "2 end");
    assert_int_equal(btz_mcp_endpoint_sessions(endpoint), 0);
    btz_mcp_endpoint_free(endpoint);
}

/* Without the switch its GET and POST are what Streamable HTTP says they are. */
static void old_transport_off(void **state)
{
    struct btz_mcp_endpoint *endpoint = make_endpoint(plain);

    (void)state;
    http(endpoint, 2, "GET", "/mcp", GET_FIELDS, "");
    expect_error(endpoint, 2, 400, BTZ_MCP_E_REQUEST, NULL);
    OLD_POST(endpoint, 2, "x", PING);
    expect_error(endpoint, 2, 406, BTZ_MCP_E_REQUEST, NULL);
    btz_mcp_endpoint_free(endpoint);
}

/* Both eras in one endpoint, decided per request. */
static void both_eras(void **state)
{
    struct btz_mcp_endpoint *endpoint = make_endpoint(plain);
    const char *session = open_session(endpoint, "2025-11-25");
    const char *modern = "MCP-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: a\n";
    const char *got;
    uint64_t legacy_handle;
    uint64_t modern_handle;

    (void)state;
    post(endpoint, 2, session, LEGACY_CALL("1"));
    take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &legacy_handle);
    as_subject = "alice";
    http(endpoint, 3, "POST", "/mcp", with(with(POST_FIELDS, session), modern), MODERN_CALL("1"));
    take_event(endpoint, BTZ_MCP_SERVER_CALL, "a", &modern_handle);
    assert_int_not_equal(legacy_handle, modern_handle);
    assert_int_equal(btz_mcp_endpoint_subject(endpoint, legacy_handle).len, 0);
    assert_text(btz_mcp_endpoint_subject(endpoint, modern_handle), "alice");
    assert_int_equal(btz_mcp_endpoint_session_id(endpoint, legacy_handle).len, 40);
    assert_null(btz_mcp_endpoint_session_id(endpoint, modern_handle).ptr);
    /* a modern header with a legacy body is a modern request without its envelope */
    http(endpoint, 4, "POST", "/mcp", with(with(POST_FIELDS, session), modern), LEGACY_CALL("2"));
    expect_error(endpoint, 4, 400, BTZ_MCP_E_PARAMS, "2");
    assert_int_equal(btz_mcp_endpoint_end_session(endpoint, modern_handle), BTZ_ENOTFOUND);
    assert_int_equal(btz_mcp_endpoint_end_session(endpoint, legacy_handle), BTZ_OK);
    got = outs(endpoint);
    assert_memory_equal(got, "2 404 ", 6);
    btz_mcp_endpoint_free(endpoint);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(session_ids),
        cmocka_unit_test(refusals),
        cmocka_unit_test(versions),
        cmocka_unit_test(deleting),
        cmocka_unit_test(subjects),
        cmocka_unit_test(one_stream_each),
        cmocka_unit_test(older_streams),
        cmocka_unit_test(too_many_streams),
        cmocka_unit_test(waiting),
        cmocka_unit_test(resuming),
        cmocka_unit_test(foreign_events),
        cmocka_unit_test(ids_after_answers),
        cmocka_unit_test(no_get),
        cmocka_unit_test(fallen_out),
        cmocka_unit_test(lost_answer),
        cmocka_unit_test(duplicate_ids),
        cmocka_unit_test(cancelling),
        cmocka_unit_test(parking),
        cmocka_unit_test(weak_streams),
        cmocka_unit_test(asking),
        cmocka_unit_test(old_transport),
        cmocka_unit_test(old_transport_off),
        cmocka_unit_test(old_transport_ends),
        cmocka_unit_test(both_eras),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
