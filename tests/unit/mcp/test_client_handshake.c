/* How the client machine finds out what the server speaks: exact bytes out, exact bytes in. */
#include "helper.h"

#include <stdio.h>
#include <string.h>

#define M CLIENT_META "}"
#define INIT(version)                                                                              \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"     \
    "\"" version "\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}"
#define DISCOVER "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{" M "}}"

static const struct btz_mcp_client_options modern = {.mode = BTZ_MCP_CLIENT_MODERN};
static const struct btz_mcp_client_options probe = {.mode = BTZ_MCP_CLIENT_PROBE};

static struct btz_mcp_client *open_modern(struct btz_mcp_client_options options)
{
    struct btz_mcp_client *client;

    options.mode = BTZ_MCP_CLIENT_MODERN;
    client = make_client(options);
    client_open(client, "2026-07-28");
    return client;
}

static void legacy_handshake(void **state)
{
    static const char *const versions[] = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct btz_mcp_client_options options = {
            .mode = BTZ_MCP_CLIENT_LEGACY,
            .revision = btz_mcp_revision_parse(btz_str_of(versions[i]))};
        struct btz_mcp_client *client = make_client(options);
        struct btz_mcp_client_event event;
        char text[512];

        assert_int_equal(btz_mcp_client_start(client), BTZ_OK);
        assert_int_equal(btz_mcp_client_start(client), BTZ_ESTATE);
        assert_int_equal(btz_mcp_client_list_tools(client, NULL), BTZ_ESTATE);
        snprintf(text, sizeof(text),
                 "{'jsonrpc':'2.0','id':1,'method':'initialize','params':{'protocolVersion':'%s',"
                 "'capabilities':{},'clientInfo':{'name':'t','version':'1'}}}",
                 versions[i]);
        client_out(client, q(text));
        snprintf(text, sizeof(text),
                 "{'jsonrpc':'2.0','id':1,'result':{'protocolVersion':'%s','capabilities':{'tools':"
                 "{}},'serverInfo':{'name':'s','version':'2'},'instructions':'be kind'}}",
                 versions[i]);
        client_in(client, q(text));
        client_out(client, q("{'jsonrpc':'2.0','method':'notifications/initialized'}"));
        event = client_event(client, BTZ_MCP_CLIENT_READY);
        assert_string_equal(btz_mcp_revision_text(event.revision), versions[i]);
        assert_int_equal(btz_mcp_client_revision(client), event.revision);
        assert_json(event.server_info, q("{'name':'s','version':'2'}"));
        assert_json(event.capabilities, q("{'tools':{}}"));
        assert_text(event.instructions, "be kind");
        assert_false(event.fell_back);
        client_quiet(client);
        btz_mcp_client_free(client);
    }
}

/* Answers to initialize that end the connection, or settle on another version. */
static void legacy_answers(void **state)
{
    static const struct {
        const char *answer;
        int fault; /* -1 = READY */
        const char *version;
    } rows[] = {
        {"'result':{'protocolVersion':'2025-03-26','capabilities':{},'serverInfo':{'name':'s',"
         "'version':'1'}}",
         -1, "2025-03-26"},
        {"'result':{'protocolVersion':'2024-10-07','capabilities':{},'serverInfo':{'name':'s',"
         "'version':'1'}}",
         BTZ_MCP_FAULT_VERSION, NULL},
        {"'result':{'protocolVersion':'2026-07-28','capabilities':{},'serverInfo':{'name':'s',"
         "'version':'1'}}",
         BTZ_MCP_FAULT_VERSION, NULL},
        {"'result':{'protocolVersion':'2025-06-18','capabilities':{},'serverInfo':{'name':'s',"
         "'version':'1'}}",
         BTZ_MCP_FAULT_VERSION, NULL}, /* not in `accept` */
        {"'result':{'protocolVersion':'2025-11-25','serverInfo':{'name':'s','version':'1'}}",
         BTZ_MCP_FAULT_INVALID, NULL},
        {"'result':{'protocolVersion':'2025-11-25','capabilities':{},'serverInfo':{'name':'s'}}",
         BTZ_MCP_FAULT_INVALID, NULL},
        {"'result':{'protocolVersion':'2025-11-25','capabilities':{},'serverInfo':{'name':'s',"
         "'version':'1'},'instructions':[]}",
         BTZ_MCP_FAULT_INVALID, NULL},
        {"'result':{}", BTZ_MCP_FAULT_INVALID, NULL},
        {"'result':{'ProtocolVersion':'2025-11-25'}", BTZ_MCP_FAULT_INVALID, NULL},
        {"'error':{'code':-32602,'message':'no'}", BTZ_MCP_FAULT_REMOTE, NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct btz_mcp_client *client = make_client((struct btz_mcp_client_options){
            .mode = BTZ_MCP_CLIENT_LEGACY,
            .accept = BTZ_MCP_SET(BTZ_MCP_2025_11_25) | BTZ_MCP_SET(BTZ_MCP_2025_03_26)});
        struct btz_mcp_client_event event = {0};
        char text[512];

        assert_int_equal(btz_mcp_client_start(client), BTZ_OK);
        client_out(client, INIT("2025-11-25"));
        snprintf(text, sizeof(text), "{'jsonrpc':'2.0','id':1,%s}", rows[i].answer);
        client_in(client, q(text));
        while (btz_mcp_client_next_event(client, &event) &&
               event.kind == BTZ_MCP_CLIENT_PROTOCOL_ERROR) {
        }
        if (rows[i].fault < 0) {
            assert_int_equal(event.kind, BTZ_MCP_CLIENT_READY);
            assert_string_equal(btz_mcp_revision_text(event.revision), rows[i].version);
        } else {
            assert_int_equal(event.kind, BTZ_MCP_CLIENT_FAILED);
            assert_int_equal(event.fault, rows[i].fault);
            assert_true(event.message.len > 0);
            assert_int_equal(btz_mcp_client_feed(client, BTZ_STR("{}")), BTZ_ESTATE);
            assert_int_equal(btz_mcp_client_list_tools(client, NULL), BTZ_ESTATE);
            client_quiet(client); /* nothing is sent after the failure */
        }
        btz_mcp_client_free(client);
    }
}

static void modern_handshake(void **state)
{
    struct btz_mcp_client *client = make_client(modern);
    struct btz_mcp_client_event event;

    (void)state;
    assert_int_equal(btz_mcp_client_start(client), BTZ_OK);
    client_out(client, DISCOVER);
    client_in(client,
              q("{'jsonrpc':'2.0','id':1,'result':{'resultType':'complete',"
                "'supportedVersions':['2029-01-01','2026-07-28','2025-11-25'],"
                "'capabilities':{'tools':{'listChanged':true}},'instructions':'i','ttlMs':0,"
                "'cacheScope':'private','_meta':{'io.modelcontextprotocol/serverInfo':"
                "{'name':'s','version':'9'}}}}"));
    event = client_event(client, BTZ_MCP_CLIENT_READY);
    assert_int_equal(event.revision, BTZ_MCP_2026_07_28);
    assert_json(event.server_info, q("{'name':'s','version':'9'}"));
    assert_text(event.instructions, "i");
    client_quiet(client); /* no initialized in this era */
    assert_int_equal(btz_mcp_client_ping(client, NULL), BTZ_ESTATE);
    btz_mcp_client_free(client);
}

/* What the answer to server/discover means, for a client that may fall back and for others. */
enum verdict { IS_MODERN, IS_LEGACY, IS_DEAD };

static const struct {
    const char *answer;
    enum verdict probing, strict; /* mode PROBE, mode MODERN */
} answers[] = {
    {"'result':{'resultType':'complete','supportedVersions':['2026-07-28'],'capabilities':{}}",
     IS_MODERN, IS_MODERN},
    {"'result':{'supportedVersions':['2026-07-28'],'capabilities':{}}", IS_MODERN, IS_MODERN},
    {"'result':{'supportedVersions':['2025-11-25'],'capabilities':{}}", IS_LEGACY, IS_DEAD},
    {"'result':{'supportedVersions':['2031-01-01'],'capabilities':{}}", IS_DEAD, IS_DEAD},
    {"'result':{'supportedVersions':'2026-07-28','capabilities':{}}", IS_LEGACY, IS_DEAD},
    {"'result':{'supportedVersions':[1],'capabilities':{}}", IS_LEGACY, IS_DEAD},
    {"'result':{'supportedVersions':['2026-07-28']}", IS_LEGACY, IS_DEAD},
    {"'result':{'supportedVersions':['2026-07-28'],'capabilities':{},'resultType':'task'}",
     IS_LEGACY, IS_DEAD},
    {"'result':{'supportedVersions':['2026-07-28'],'capabilities':{},'instructions':1}", IS_LEGACY,
     IS_DEAD},
    {"'result':{}", IS_LEGACY, IS_DEAD},
    {"'result':{'SupportedVersions':[]}", IS_LEGACY, IS_DEAD}, /* unreadable */
    /* errors that only modern servers give */
    {"'error':{'code':-32022,'message':'m','data':{'supported':['2031-01-01'],'requested':'x'}}",
     IS_DEAD, IS_DEAD},
    {"'error':{'code':-32022,'message':'m','data':{'supported':['2025-11-25'],'requested':'x'}}",
     IS_LEGACY, IS_DEAD},
    {"'error':{'code':-32021,'message':'m','data':{'requiredCapabilities':{'sampling':{}}}}",
     IS_DEAD, IS_DEAD},
    {"'error':{'code':-32020,'message':'m'}", IS_DEAD, IS_DEAD},
    /* the same codes without what makes them recognisable */
    {"'error':{'code':-32022,'message':'m'}", IS_LEGACY, IS_DEAD},
    {"'error':{'code':-32021,'message':'m'}", IS_LEGACY, IS_DEAD},
    /* what legacy servers say */
    {"'error':{'code':-32601,'message':'Method not found'}", IS_LEGACY, IS_DEAD},
    {"'error':{'code':-32600,'message':'m'}", IS_LEGACY, IS_DEAD},
    {"'error':{'code':-32000,'message':'Server not initialized'}", IS_LEGACY, IS_DEAD},
    {"'error':{'code':0,'message':''}", IS_LEGACY, IS_DEAD},
};

static void discover_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3 * (sizeof(answers) / sizeof(answers[0])); i++) {
        size_t row = i / 3;
        bool probing = i % 3 != 0;
        bool forbid = i % 3 == 2;
        enum verdict want = probing ? answers[row].probing : answers[row].strict;
        struct btz_mcp_client_options options = probing ? probe : modern;
        struct btz_mcp_client *client;
        struct btz_mcp_client_event event = {0};
        struct btz_str bytes;
        char text[512];

        options.forbid_fallback = forbid;
        if (forbid && want == IS_LEGACY) {
            want = IS_DEAD;
        }
        client = make_client(options);
        assert_int_equal(btz_mcp_client_start(client), BTZ_OK);
        client_out(client, DISCOVER);
        snprintf(text, sizeof(text), "{'jsonrpc':'2.0','id':1,%s}", answers[row].answer);
        client_in(client, q(text));
        while (btz_mcp_client_next_event(client, &event) &&
               event.kind == BTZ_MCP_CLIENT_PROTOCOL_ERROR) {
        }
        if (want == IS_MODERN) {
            assert_int_equal(event.kind, BTZ_MCP_CLIENT_READY);
            assert_int_equal(event.revision, BTZ_MCP_2026_07_28);
            client_quiet(client);
        } else if (want == IS_DEAD) {
            if (event.kind != BTZ_MCP_CLIENT_FAILED) {
                fail_msg("row %zu, probing %d: not dead", row, probing);
            }
            client_quiet(client);
        } else {
            /* Fallback with a fresh id; the downgrade shows. */
            assert_true(btz_mcp_client_next_out(client, &bytes));
            assert_text(bytes, q("{'jsonrpc':'2.0','id':2,'method':'initialize','params':{"
                                 "'protocolVersion':'2025-11-25','capabilities':{},'clientInfo':"
                                 "{'name':'t','version':'1'}}}"));
            client_in(client, q("{'jsonrpc':'2.0','id':2,'result':{'protocolVersion':'2025-11-25',"
                                "'capabilities':{},'serverInfo':{'name':'s','version':'1'}}}"));
            event = client_event(client, BTZ_MCP_CLIENT_READY);
            assert_true(event.fell_back);
            client_out(client, q("{'jsonrpc':'2.0','method':'notifications/initialized'}"));
        }
        btz_mcp_client_free(client);
    }
}

/* -32022 that names a usable version: the client asks once more, under a new id. */
static void refused_version_is_asked_again(void **state)
{
    static const char refusal[] =
        "{'jsonrpc':'2.0','id':%d,'error':{'code':-32022,'message':'m','data':{'supported':"
        "['2031-01-01','2026-07-28'],'requested':'2026-07-28'}}}";
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct btz_mcp_client *client = make_client(i & 1 ? probe : modern);
        struct btz_mcp_client_event event;
        struct btz_str bytes;
        char text[512];

        assert_int_equal(btz_mcp_client_start(client), BTZ_OK);
        client_out(client, DISCOVER);
        snprintf(text, sizeof(text), refusal, 1);
        client_in(client, q(text));
        assert_true(btz_mcp_client_next_out(client, &bytes));
        assert_true(btz_str_find(bytes, BTZ_STR("\"id\":2,\"method\":\"server/discover\"")) > 0);
        if (i & 2) {
            client_in(client, q("{'jsonrpc':'2.0','id':2,'result':{'resultType':'complete',"
                                "'supportedVersions':['2026-07-28'],'capabilities':{}}}"));
            event = client_event(client, BTZ_MCP_CLIENT_READY);
            assert_int_equal(event.revision, BTZ_MCP_2026_07_28);
        } else {
            snprintf(text, sizeof(text), refusal, 2);
            client_in(client, q(text));
            event = client_event(client, BTZ_MCP_CLIENT_FAILED);
            assert_int_equal(event.fault, BTZ_MCP_FAULT_VERSION);
        }
        client_quiet(client);
        btz_mcp_client_free(client);
    }
}

static void probe_times_out(void **state)
{
    struct btz_mcp_client *client = make_client(probe);
    struct btz_mcp_client *strict = make_client(
        (struct btz_mcp_client_options){.mode = BTZ_MCP_CLIENT_PROBE, .forbid_fallback = true});

    (void)state;
    assert_int_equal(btz_mcp_client_probe_timeout(client), BTZ_ESTATE);
    assert_int_equal(btz_mcp_client_start(client), BTZ_OK);
    client_out(client, DISCOVER);
    client_in(client, "starting up ..."); /* noise is counted and does not settle anything */
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    assert_int_equal(btz_mcp_client_probe_timeout(client), BTZ_OK);
    client_out(client,
               q("{'jsonrpc':'2.0','id':2,'method':'initialize','params':{"
                 "'protocolVersion':'2025-11-25','capabilities':{},'clientInfo':{'name':'t',"
                 "'version':'1'}}}"));
    assert_int_equal(btz_mcp_client_probe_timeout(client), BTZ_ESTATE);
    /* The late answer to the probe changes nothing any more. */
    client_in(client, q("{'jsonrpc':'2.0','id':1,'result':{'supportedVersions':['2026-07-28'],"
                        "'capabilities':{}}}"));
    client_quiet(client);
    assert_int_equal(btz_mcp_client_stats(client).late, 1);
    assert_int_equal(btz_mcp_client_stats(client).unreadable, 1);
    client_in(client, q("{'jsonrpc':'2.0','id':2,'result':{'protocolVersion':'2024-11-05',"
                        "'capabilities':{},'serverInfo':{'name':'s','version':'1'}}}"));
    assert_true(client_event(client, BTZ_MCP_CLIENT_READY).fell_back);
    assert_int_equal(btz_mcp_client_start(strict), BTZ_OK);
    assert_int_equal(btz_mcp_client_probe_timeout(strict), BTZ_OK);
    client_out(strict, DISCOVER);
    assert_int_equal(client_event(strict, BTZ_MCP_CLIENT_FAILED).fault, BTZ_MCP_FAULT_VERSION);
    client_quiet(strict);
    btz_mcp_client_free(strict);
    btz_mcp_client_free(client);
}

/* A legacy HTTP server answers the probe with an error that has no id. */
static void an_error_without_id(void **state)
{
    struct btz_mcp_client *client = make_client(probe);
    const char *text = q("{'jsonrpc':'2.0','id':null,'error':{'code':-32000,'message':'m'}}");

    (void)state;
    assert_int_equal(btz_mcp_client_start(client), BTZ_OK);
    client_out(client, DISCOVER);
    client_in(client, text);
    client_out(client,
               q("{'jsonrpc':'2.0','id':2,'method':'initialize','params':{"
                 "'protocolVersion':'2025-11-25','capabilities':{},'clientInfo':{'name':'t',"
                 "'version':'1'}}}"));
    client_in(client, q("{'jsonrpc':'2.0','id':2,'result':{'protocolVersion':'2025-11-25',"
                        "'capabilities':{},'serverInfo':{'name':'s','version':'1'}}}"));
    client_event(client, BTZ_MCP_CLIENT_READY);
    client_out(client, q("{'jsonrpc':'2.0','method':'notifications/initialized'}"));
    /* Later it is only reported: it may mean any request. */
    assert_int_equal(btz_mcp_client_list_tools(client, NULL), BTZ_OK);
    client_out(client, q("{'jsonrpc':'2.0','id':3,'method':'tools/list'}"));
    client_in(client, q("{'jsonrpc':'2.0','id':null,'error':{'code':-32000,'message':'m'}}"));
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    assert_int_equal(btz_mcp_client_in_flight(client), 1);
    btz_mcp_client_free(client);
}

static void closing(void **state)
{
    struct btz_mcp_client *client = open_modern(modern);
    struct btz_mcp_client_event event;
    struct btz_str bytes;
    uint64_t ids[3] = {0};

    (void)state;
    assert_int_equal(btz_mcp_client_list_tools(client, &ids[0]), BTZ_OK);
    assert_int_equal(btz_mcp_client_call_tool(client, BTZ_STR("a"), NULL, &ids[1]), BTZ_OK);
    assert_int_equal(btz_mcp_client_listen(client, BTZ_MCP_LIST_TOOLS, &ids[2]), BTZ_OK);
    while (btz_mcp_client_next_out(client, &bytes)) {
    }
    btz_mcp_client_close(client);
    btz_mcp_client_close(client);
    event = client_event(client, BTZ_MCP_CLIENT_TOOLS);
    assert_int_equal(event.fault, BTZ_MCP_FAULT_CLOSED);
    assert_int_equal(event.request, ids[0]);
    event = client_event(client, BTZ_MCP_CLIENT_RESULT);
    assert_int_equal(event.fault, BTZ_MCP_FAULT_CLOSED);
    assert_int_equal(event.request, ids[1]);
    event = client_event(client, BTZ_MCP_CLIENT_LISTEN_ENDED);
    assert_int_equal(event.fault, BTZ_MCP_FAULT_CLOSED);
    assert_int_equal(event.request, ids[2]);
    client_quiet(client);
    assert_int_equal(btz_mcp_client_feed(client, BTZ_STR("{}")), BTZ_ESTATE);
    btz_mcp_client_free(client);
    client = make_client(probe);
    assert_int_equal(btz_mcp_client_feed(client, BTZ_STR("{}")), BTZ_ESTATE);
    assert_int_equal(btz_mcp_client_start(client), BTZ_OK);
    btz_mcp_client_close(client);
    assert_int_equal(client_event(client, BTZ_MCP_CLIENT_FAILED).fault, BTZ_MCP_FAULT_CLOSED);
    btz_mcp_client_free(client);
    btz_mcp_client_free(NULL);
}

static void bad_options(void **state)
{
    static const struct btz_str n = {"n", 1};
    const struct btz_mcp_client_options rows[] = {
        {.version = n},
        {.name = n},
        {.name = n, .version = n, .log_level = {"loud", 4}},
        {.name = n, .version = n, .accept = 1u << 20},
        {.name = n, .version = n, .accept = BTZ_MCP_SET_MODERN},
        {.name = n, .version = n, .mode = BTZ_MCP_CLIENT_MODERN, .accept = BTZ_MCP_SET_LEGACY},
        {.name = n, .version = n, .revision = BTZ_MCP_2026_07_28},
        {.name = n,
         .version = n,
         .revision = BTZ_MCP_2024_11_05,
         .accept = BTZ_MCP_SET(BTZ_MCP_2025_11_25)},
    };
    struct btz_arena *arena = btz_arena_new();
    struct btz_mcp_client_options listed = {
        .name = n, .version = n, .capabilities = json(arena, "[]")};
    struct btz_mcp_client *client = NULL;
    struct btz_err err;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        err.msg[0] = '\0';
        assert_int_equal(btz_mcp_client_new(&rows[i], &client, &err), BTZ_EINVAL);
        assert_true(err.msg[0] != '\0');
    }
    assert_int_equal(btz_mcp_client_new(&listed, &client, &err), BTZ_EINVAL);
    assert_null(client);
    btz_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(legacy_handshake),
        cmocka_unit_test(legacy_answers),
        cmocka_unit_test(modern_handshake),
        cmocka_unit_test(discover_answers),
        cmocka_unit_test(refused_version_is_asked_again),
        cmocka_unit_test(probe_times_out),
        cmocka_unit_test(an_error_without_id),
        cmocka_unit_test(closing),
        cmocka_unit_test(bad_options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
