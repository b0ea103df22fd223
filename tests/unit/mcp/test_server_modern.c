/* The server machine in the modern era and in both at once: exact bytes in, exact bytes out. */
#include "helper.h"

#include <stdio.h>
#include <string.h>

#define TOOLS                                                                                      \
    "[{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"}},"                                     \
    "{\"name\":\"b\",\"inputSchema\":{\"type\":\"object\"}}]"
#define MORE_TOOLS "[{\"name\":\"z\",\"inputSchema\":{\"type\":\"object\"}}]"
#define RESOURCES "[{\"uri\":\"u:1\",\"name\":\"one\"}]"
#define M MODERN_META "}"
#define R RESULT_META "}"
#define CACHE "\"ttlMs\":0,\"cacheScope\":\"private\","

static const struct btz_mcp_server_options dual = {0};
static const struct btz_mcp_server_options modern = {.revisions = BTZ_MCP_SET_MODERN};

/* A modern request: id and method, then params behind the envelope (each with its comma). */
static const char *request(const char *id, const char *method, const char *params)
{
    static char buffers[4][2048];
    static unsigned next;
    char *out = buffers[next++ % 4];

    snprintf(out, sizeof(buffers[0]),
             "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\",\"params\":{" M "%s}}", id, method,
             params ? q(params) : "");
    return out;
}

static void discover(void **state)
{
    static const struct {
        unsigned served;
        const char *versions;
    } rows[] = {
        {BTZ_MCP_SET_MODERN, "[\"2026-07-28\"]"},
        {0, "[\"2026-07-28\",\"2025-11-25\",\"2025-06-18\",\"2025-03-26\",\"2024-11-05\"]"},
        {BTZ_MCP_SET_MODERN | BTZ_MCP_SET(BTZ_MCP_2025_06_18), "[\"2026-07-28\",\"2025-06-18\"]"}};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct btz_mcp_server_options options = {
            .revisions = rows[i].served, .logging = true, .ttl_ms = 5000, .cache_public = true};
        struct btz_mcp_server *server = make_server(options, TOOLS, RESOURCES, NULL);
        char text[1024];

        snprintf(text, sizeof(text),
                 "{\"jsonrpc\":\"2.0\",\"id\":\"d\",\"result\":{\"resultType\":\"complete\","
                 "\"supportedVersions\":%s,\"capabilities\":{\"tools\":{\"listChanged\":true},"
                 "\"resources\":{\"listChanged\":true},\"logging\":{}},\"ttlMs\":5000,"
                 "\"cacheScope\":\"public\"," R "}}",
                 rows[i].versions);
        for (unsigned n = 0; n < 2; n++) { /* there is no session: asking twice is fine */
            server_in(server, request("\"d\"", "server/discover", NULL));
            server_out(server, text);
        }
        assert_int_equal(btz_mcp_server_session(server), BTZ_MCP_REVISION_NONE);
        server_quiet(server);
        btz_mcp_server_free(server);
    }
}

/* What is wrong with an envelope; on servers of both kinds. */
static void envelopes(void **state)
{
    static const struct {
        const char *meta;
        int code;
    } rows[] = {
        {"{'io.modelcontextprotocol/protocolVersion':'2026-07-28'}", BTZ_MCP_E_PARAMS},
        {"{'io.modelcontextprotocol/clientCapabilities':{}}", BTZ_MCP_E_PARAMS},
        {"{'io.modelcontextprotocol/clientInfo':{'name':'t','version':'1'}}", BTZ_MCP_E_PARAMS},
        {"{'io.modelcontextprotocol/protocolVersion':1,"
         "'io.modelcontextprotocol/clientCapabilities':{}}",
         BTZ_MCP_E_PARAMS},
        {"{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
         "'io.modelcontextprotocol/clientCapabilities':[]}",
         BTZ_MCP_E_PARAMS},
        {"{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
         "'io.modelcontextprotocol/clientCapabilities':{},"
         "'io.modelcontextprotocol/clientInfo':{'name':'t'}}",
         BTZ_MCP_E_PARAMS},
        {"{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
         "'io.modelcontextprotocol/clientCapabilities':{},"
         "'io.modelcontextprotocol/logLevel':'loud'}",
         BTZ_MCP_E_PARAMS},
        {"{'io.modelcontextprotocol/protocolVersion':'2027-01-01',"
         "'io.modelcontextprotocol/clientCapabilities':{}}",
         BTZ_MCP_E_VERSION},
        {"{'io.modelcontextprotocol/protocolVersion':'',"
         "'io.modelcontextprotocol/clientCapabilities':{}}",
         BTZ_MCP_E_VERSION},
        {"{'io.modelcontextprotocol/protocolVersion':'2025-11-25',"
         "'io.modelcontextprotocol/clientCapabilities':{}}",
         BTZ_MCP_E_VERSION},
    };

    (void)state;
    for (unsigned kind = 0; kind < 2; kind++) {
        struct btz_mcp_server *server = make_server(kind ? dual : modern, TOOLS, NULL, NULL);

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
            char text[512];

            snprintf(text, sizeof(text),
                     "{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'a',"
                     "'_meta':%s}}",
                     rows[i].meta);
            server_in(server, q(text));
            server_error(server, "1", rows[i].code);
            server_quiet(server); /* no call */
        }
        btz_mcp_server_free(server);
    }
}

static void versions_in_errors(void **state)
{
    struct btz_mcp_server *both =
        make_server((struct btz_mcp_server_options){.revisions = BTZ_MCP_SET_MODERN |
                                                                 BTZ_MCP_SET(BTZ_MCP_2025_11_25)},
                    TOOLS, NULL, NULL);
    struct btz_mcp_server *only = make_server(modern, TOOLS, NULL, NULL);

    (void)state;
    server_in(both, q("{'jsonrpc':'2.0','id':1,'method':'tools/list','params':{'_meta':{"
                      "'io.modelcontextprotocol/protocolVersion':'2027-01-01',"
                      "'io.modelcontextprotocol/clientCapabilities':{}}}}"));
    server_out(both, q("{'jsonrpc':'2.0','id':1,'error':{'code':-32022,'message':'this protocol "
                       "version is not served','data':{'supported':['2026-07-28','2025-11-25'],"
                       "'requested':'2027-01-01'}}}"));
    /* A legacy version in an envelope: only modern ones are worth a retry. */
    server_in(both, q("{'jsonrpc':'2.0','id':1,'method':'tools/list','params':{'_meta':{"
                      "'io.modelcontextprotocol/protocolVersion':'2025-11-25',"
                      "'io.modelcontextprotocol/clientCapabilities':{}}}}"));
    server_out(both, q("{'jsonrpc':'2.0','id':1,'error':{'code':-32022,'message':'this protocol "
                       "version is not served','data':{'supported':['2026-07-28'],"
                       "'requested':'2025-11-25'}}}"));
    /* A modern server tells a legacy client what it would need. */
    server_in(only, q("{'jsonrpc':'2.0','id':0,'method':'initialize','params':{'protocolVersion':"
                      "'2025-06-18','capabilities':{},'clientInfo':{'name':'t','version':'1'}}}"));
    server_out(only, q("{'jsonrpc':'2.0','id':0,'error':{'code':-32022,'message':'only modern "
                       "protocol versions are served; send no initialize','data':{'supported':["
                       "'2026-07-28'],'requested':'2025-06-18'}}}"));
    server_in(only, q("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'a'}}"));
    server_error(only, "1", BTZ_MCP_E_PARAMS);
    server_in(only, q("{'jsonrpc':'2.0','id':1,'method':'ping'}"));
    server_error(only, "1", BTZ_MCP_E_PARAMS);
    /* Modern methods without an envelope. */
    server_in(both, q("{'jsonrpc':'2.0','id':2,'method':'server/discover'}"));
    server_error(both, "2", BTZ_MCP_E_PARAMS);
    server_in(both, q("{'jsonrpc':'2.0','id':2,'method':'subscriptions/listen','params':{"
                      "'notifications':{}}}"));
    server_error(both, "2", BTZ_MCP_E_PARAMS);
    server_quiet(both);
    server_quiet(only);
    btz_mcp_server_free(both);
    btz_mcp_server_free(only);
}

/* initialize with a valid modern envelope falls under modern rules, with a broken one it is legacy.
 */
static void initialize_in_both_eras(void **state)
{
    struct btz_mcp_server *server = make_server(dual, TOOLS, NULL, NULL);
    struct btz_str bytes;

    (void)state;
    server_in(server,
              request("1", "initialize",
                      ",'protocolVersion':'2025-11-25','capabilities':{},'clientInfo':{'name':'t',"
                      "'version':'1'}"));
    server_error(server, "1", BTZ_MCP_E_METHOD);
    assert_int_equal(btz_mcp_server_session(server), BTZ_MCP_REVISION_NONE);
    server_in(server, q("{'jsonrpc':'2.0','id':1,'method':'initialize','params':{'protocolVersion':"
                        "'2025-11-25','capabilities':{},'clientInfo':{'name':'t','version':'1'},"
                        "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28'}}}"));
    assert_true(btz_mcp_server_next_out(server, &bytes));
    assert_true(btz_str_find(bytes, BTZ_STR("\"protocolVersion\":\"2025-11-25\"")) > 0);
    assert_int_equal(btz_mcp_server_session(server), BTZ_MCP_2025_11_25);
    btz_mcp_server_free(server);
}

/* The era is decided per request, so that one connection may carry both. */
static void both_eras_on_one_connection(void **state)
{
    struct btz_mcp_server *server = make_server(dual, TOOLS, NULL, NULL);

    (void)state;
    server_open(server, "2024-11-05");
    server_in(server, request("1", "tools/list", NULL));
    server_in(server, q("{'jsonrpc':'2.0','id':2,'method':'tools/list'}"));
    server_in(server, request("3", "ping", NULL)); /* gone in the modern era */
    server_in(server, q("{'jsonrpc':'2.0','id':4,'method':'ping'}"));
    server_out(server, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"complete\","
                       "\"tools\":" TOOLS "," CACHE R "}}");
    server_out(server, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":" TOOLS "}}");
    server_error(server, "3", BTZ_MCP_E_METHOD);
    server_out(server, q("{'jsonrpc':'2.0','id':4,'result':{}}"));
    server_quiet(server);
    btz_mcp_server_free(server);
}

static void lists(void **state)
{
    struct btz_mcp_server *server = make_server(
        (struct btz_mcp_server_options){.page_size = 1, .ttl_ms = -5}, TOOLS, RESOURCES, "[]");
    struct btz_arena *arena = btz_arena_new();
    struct btz_str bytes;
    struct btz_str cursor;
    char text[256];

    (void)state;
    server_in(server, request("1", "tools/list", NULL));
    assert_true(btz_mcp_server_next_out(server, &bytes));
    cursor = btz_json_str(
        btz_json_pointer(json(arena, btz_arena_cstr(arena, bytes)), BTZ_STR("/result/nextCursor")));
    assert_true(cursor.len > 0);
    snprintf(text, sizeof(text), ",'cursor':'%.*s'", BTZ_FMT(cursor));
    server_in(server, request("2", "tools/list", text));
    server_out(server,
               "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"resultType\":\"complete\","
               "\"tools\":[{\"name\":\"b\",\"inputSchema\":{\"type\":\"object\"}}]," CACHE R "}}");
    server_in(server, request("3", "tools/list", ",'cursor':''"));
    server_error(server, "3", BTZ_MCP_E_PARAMS);
    server_in(server, request("4", "resources/list", NULL));
    server_out(server, "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"resultType\":\"complete\","
                       "\"resources\":" RESOURCES "," CACHE R "}}");
    server_in(server, request("5", "resources/templates/list", NULL));
    server_out(server, "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"resultType\":\"complete\","
                       "\"resourceTemplates\":[]," CACHE R "}}");
    server_quiet(server);
    btz_arena_free(arena);
    btz_mcp_server_free(server);
}

static void calls_and_reads(void **state)
{
    struct btz_mcp_server *server = make_server(modern, TOOLS, RESOURCES, NULL);
    struct btz_mcp_server_event event;
    struct btz_arena *arena = btz_arena_new();
    uint64_t token;

    (void)state;
    server_in(
        server,
        "{\"jsonrpc\":\"2.0\",\"id\":\"g-17\",\"method\":\"tools/call\",\"params\":{" CLIENT_META
        "},\"name\":\"a\",\"arguments\":{\"eur\":40}}}");
    assert_true(btz_mcp_server_next_event(server, &event));
    assert_int_equal(event.revision, BTZ_MCP_2026_07_28);
    assert_json(event.client_info, q("{'name':'t','version':'1'}"));
    assert_json(event.client_capabilities, "{}");
    assert_json(event.arguments, q("{'eur':40}"));
    server_reply(
        server, event.token,
        q("{'content':[],'structuredContent':[1],'_meta':{'own':1,"
          "'io.modelcontextprotocol/serverInfo':{'name':'liar','version':'0'}},'ttlMs':9}"));
    server_out(server,
               "{\"jsonrpc\":\"2.0\",\"id\":\"g-17\",\"result\":{\"resultType\":\"complete\","
               "\"content\":[],\"structuredContent\":[1],\"_meta\":{\"own\":1,"
               "\"io.modelcontextprotocol/serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}}");
    server_in(server, request("1", "tools/call", ",'name':'nope'"));
    server_error(server, "1", BTZ_MCP_E_PARAMS);
    /* resources/read is cacheable; the owner may say how long. */
    server_in(server, request("2", "resources/read", ",'uri':'u:1'"));
    server_reply(server, server_event(server, BTZ_MCP_SERVER_READ, "u:1"),
                 q("{'contents':[],'ttlMs':60000,'cacheScope':'public'}"));
    server_out(server, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"resultType\":\"complete\","
                       "\"contents\":[],\"ttlMs\":60000,\"cacheScope\":\"public\"," R "}}");
    server_in(server, request("3", "resources/read", ",'uri':'u:1'"));
    server_reply(server, server_event(server, BTZ_MCP_SERVER_READ, "u:1"),
                 q("{'contents':[],'ttlMs':-1,'cacheScope':'everyone'}"));
    server_out(server, "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"resultType\":\"complete\","
                       "\"contents\":[]," CACHE R "}}");
    /* Codes that must not be emitted on the modern wire. */
    server_in(server, request("4", "resources/read", ",'uri':'u:2'"));
    token = server_event(server, BTZ_MCP_SERVER_READ, "u:2");
    assert_int_equal(btz_mcp_server_reply_error(server, token, -32042, BTZ_STR("m"), NULL),
                     BTZ_EINVAL);
    assert_int_equal(btz_mcp_server_reply_error(server, token, -32023, BTZ_STR("m"), NULL),
                     BTZ_EINVAL);
    assert_int_equal(btz_mcp_server_reply_error(server, token, -32099, BTZ_STR("m"), NULL),
                     BTZ_EINVAL);
    assert_int_equal(btz_mcp_server_reply_error(server, token, -32002, BTZ_STR("none"), NULL),
                     BTZ_OK);
    server_error(server, "4", BTZ_MCP_E_PARAMS);
    server_in(server, request("5", "tools/call", ",'name':'a'"));
    token = server_event(server, BTZ_MCP_SERVER_CALL, "a");
    assert_int_equal(btz_mcp_server_reply_error(server, token, BTZ_MCP_E_CAPABILITY, BTZ_STR("m"),
                                                json(arena, q("{'requiredCapabilities':"
                                                              "{'sampling':{}}}"))),
                     BTZ_OK);
    server_out(server, q("{'jsonrpc':'2.0','id':5,'error':{'code':-32021,'message':'m','data':"
                         "{'requiredCapabilities':{'sampling':{}}}}}"));
    server_quiet(server);
    btz_arena_free(arena);
    btz_mcp_server_free(server);
}

static void log_messages(void **state)
{
    static const struct {
        bool declared;
        const char *asked;
        const char *level;
        int rc;
    } rows[] = {
        {true, NULL, "emergency", BTZ_EUNSUPPORTED},
        {true, "info", "debug", BTZ_EUNSUPPORTED},
        {true, "info", "info", BTZ_OK},
        {true, "info", "alert", BTZ_OK},
        {true, "debug", "loud", BTZ_EINVAL},
        {false, "debug", "alert", BTZ_EUNSUPPORTED},
    };
    struct btz_arena *arena = btz_arena_new();
    const struct btz_json *data = json(arena, "[1]");

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct btz_mcp_server *server = make_server(
            (struct btz_mcp_server_options){.logging = rows[i].declared}, TOOLS, NULL, NULL);
        char text[512];
        uint64_t token;

        snprintf(text, sizeof(text),
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{" MODERN_META
                 "%s%s%s},\"name\":\"a\"}}",
                 rows[i].asked ? ",\"io.modelcontextprotocol/logLevel\":\"" : "",
                 rows[i].asked ? rows[i].asked : "", rows[i].asked ? "\"" : "");
        server_in(server, text);
        token = server_event(server, BTZ_MCP_SERVER_CALL, "a");
        assert_int_equal(
            btz_mcp_server_log(server, token, btz_str_of(rows[i].level), BTZ_STR("core"), data),
            rows[i].rc);
        if (!rows[i].rc) {
            snprintf(text, sizeof(text),
                     "{'jsonrpc':'2.0','method':'notifications/message','params':{'level':'%s',"
                     "'logger':'core','data':[1]}}",
                     rows[i].level);
            server_out(server, q(text));
        }
        server_quiet(server);
        btz_mcp_server_free(server);
    }
    btz_arena_free(arena);
}

static void progress_of_a_modern_call(void **state)
{
    struct btz_mcp_server *server = make_server(modern, TOOLS, NULL, NULL);
    struct btz_mcp_out out;
    uint64_t token;

    (void)state;
    server_in(server,
              "{\"jsonrpc\":\"2.0\",\"id\":\"c\",\"method\":\"tools/call\",\"params\":{" MODERN_META
              ",\"progressToken\":77},\"name\":\"a\"}}");
    token = server_event(server, BTZ_MCP_SERVER_CALL, "a");
    assert_int_equal(btz_mcp_server_progress(server, token, 1, 4, BTZ_STR_NONE), BTZ_OK);
    /* The carrier is told on which stream it belongs. */
    assert_true(btz_mcp_server_next_out_full(server, &out));
    assert_text(out.bytes, q("{'jsonrpc':'2.0','method':'notifications/progress','params':"
                             "{'progressToken':77,'progress':1,'total':4}}"));
    assert_int_equal(out.kind, BTZ_MCP_NOTIFICATION);
    assert_true(btz_mcp_id_eq(out.related, btz_mcp_id_str(BTZ_STR("c"))));
    assert_int_equal(out.id.kind, BTZ_MCP_ID_NONE);
    assert_text(out.method, "notifications/progress");
    server_reply(server, token, q("{'content':[]}"));
    assert_true(btz_mcp_server_next_out_full(server, &out));
    assert_int_equal(out.kind, BTZ_MCP_RESULT);
    assert_true(btz_mcp_id_eq(out.id, btz_mcp_id_str(BTZ_STR("c"))));
    assert_int_equal(out.revision, BTZ_MCP_2026_07_28);
    assert_int_equal(out.http_status, 200);
    assert_false(btz_mcp_server_next_out_full(server, &out));
    btz_mcp_server_free(server);
}

#define ACK(id, filter)                                                                            \
    "{'jsonrpc':'2.0','method':'notifications/subscriptions/acknowledged','params':{'_meta':"      \
    "{'io.modelcontextprotocol/subscriptionId':" id "},'notifications':" filter "}}"
#define CHANGED(list, id)                                                                          \
    "{'jsonrpc':'2.0','method':'notifications/" list "/list_changed','params':{'_meta':"           \
    "{'io.modelcontextprotocol/subscriptionId':" id "}}}"

static void listen_streams(void **state)
{
    struct btz_mcp_server *server = make_server(dual, TOOLS, RESOURCES, NULL);

    (void)state;
    /* Acknowledged first, with the accepted part only. */
    server_in(server, request("90", "subscriptions/listen",
                              ",'notifications':{'toolsListChanged':true,'promptsListChanged':true,"
                              "'resourceSubscriptions':['u:1']}"));
    server_out(server, q(ACK("90", "{'toolsListChanged':true}")));
    server_in(server,
              request("'r'", "subscriptions/listen",
                      ",'notifications':{'resourcesListChanged':true,'toolsListChanged':false}"));
    server_error(server, NULL, BTZ_MCP_E_PARSE); /* quotes were not turned: no JSON */
    server_in(server,
              request("\"r\"", "subscriptions/listen",
                      ",'notifications':{'resourcesListChanged':true,'toolsListChanged':false}"));
    server_out(server, q(ACK("'r'", "{'resourcesListChanged':true}")));
    server_in(server, request("91", "subscriptions/listen", ",'notifications':{}"));
    server_out(server, q(ACK("91", "{}")));
    /* Each stream hears only what it asked for, under its own id; no session, no other notice. */
    assert_int_equal(replace_tools(server, MORE_TOOLS, RESOURCES, NULL, false), BTZ_OK);
    server_out(server, q(CHANGED("tools", "90")));
    server_quiet(server);
    assert_int_equal(replace_tools(server, TOOLS, "[]", NULL, false), BTZ_OK);
    server_out(server, q(CHANGED("tools", "90")));
    server_out(server, q(CHANGED("resources", "'r'")));
    server_quiet(server);
    assert_int_equal(replace_tools(server, MORE_TOOLS, "[]", NULL, true), BTZ_OK);
    server_quiet(server);
    /* A legacy session on the same connection is told in its own way. */
    server_open(server, "2025-11-25");
    assert_int_equal(replace_tools(server, TOOLS, "[]", NULL, false), BTZ_OK);
    server_out(server, q("{'jsonrpc':'2.0','method':'notifications/tools/list_changed'}"));
    server_out(server, q(CHANGED("tools", "90")));
    /* The ids of open streams are taken. */
    server_in(server, request("90", "tools/list", NULL));
    server_error(server, "90", BTZ_MCP_E_REQUEST);
    /* The client ends one: no answer, no more news. */
    server_in(server,
              q("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':90}}"));
    assert_int_equal(replace_tools(server, MORE_TOOLS, RESOURCES, NULL, false), BTZ_OK);
    server_out(server, q("{'jsonrpc':'2.0','method':'notifications/tools/list_changed'}"));
    server_out(server, q("{'jsonrpc':'2.0','method':'notifications/resources/list_changed'}"));
    server_out(server, q(CHANGED("resources", "'r'")));
    server_quiet(server);
    btz_mcp_server_free(server);
}

static void bad_filters(void **state)
{
    static const char *const rows[] = {NULL,
                                       ",'notifications':[]",
                                       ",'notifications':null",
                                       ",'notifications':{'toolsListChanged':1}",
                                       ",'notifications':{'resourceSubscriptions':{}}",
                                       ",'notifications':{'resourceSubscriptions':[1]}"};
    struct btz_mcp_server *server = make_server(modern, TOOLS, NULL, NULL);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        server_in(server, request("1", "subscriptions/listen", rows[i]));
        server_error(server, "1", BTZ_MCP_E_PARAMS);
        server_quiet(server);
    }
    /* What the catalogue does not have is not accepted. */
    server_in(server, request("1", "subscriptions/listen",
                              ",'notifications':{'resourcesListChanged':true}"));
    server_out(server, q(ACK("1", "{}")));
    btz_mcp_server_free(server);
    server = make_server(modern, NULL, RESOURCES, NULL);
    server_in(server,
              request("1", "subscriptions/listen",
                      ",'notifications':{'resourcesListChanged':true,'toolsListChanged':true}"));
    server_out(server, q(ACK("1", "{'resourcesListChanged':true}")));
    btz_mcp_server_free(server);
}

static void teardown_of_streams(void **state)
{
    static const enum btz_mcp_carrier carriers[] = {BTZ_MCP_CARRIER_STDIO, BTZ_MCP_CARRIER_HTTP};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct btz_mcp_server *server =
            make_server((struct btz_mcp_server_options){.carrier = carriers[i], .max_streams = 2},
                        TOOLS, NULL, NULL);

        server_in(server, request("\"x\"", "subscriptions/listen",
                                  ",'notifications':{'toolsListChanged':true}"));
        server_out(server, q(ACK("'x'", "{'toolsListChanged':true}")));
        server_in(server, request("2", "subscriptions/listen", ",'notifications':{}"));
        server_out(server, q(ACK("2", "{}")));
        server_in(server, request("3", "subscriptions/listen", ",'notifications':{}"));
        server_error(server, "3", BTZ_MCP_E_INTERNAL);           /* two are allowed */
        btz_mcp_server_stream_closed(server, btz_mcp_id_int(2)); /* HTTP client went away */
        btz_mcp_server_stream_closed(server, btz_mcp_id_int(99));
        server_quiet(server);
        assert_int_equal(btz_mcp_server_end_streams(server), BTZ_OK);
        if (carriers[i] == BTZ_MCP_CARRIER_STDIO) {
            server_out(server, q("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{"
                                 "'_meta':{'io.modelcontextprotocol/subscriptionId':'x'},"
                                 "'requestId':'x'}}"));
        }
        server_out(server, q("{'jsonrpc':'2.0','id':'x','result':{'resultType':'complete','_meta':{"
                             "'io.modelcontextprotocol/subscriptionId':'x',"
                             "'io.modelcontextprotocol/serverInfo':{'name':'s','version':'1'}}}}"));
        assert_int_equal(btz_mcp_server_end_streams(server), BTZ_OK);
        assert_int_equal(replace_tools(server, MORE_TOOLS, NULL, NULL, false), BTZ_OK);
        server_quiet(server);
        btz_mcp_server_free(server);
    }
}

static void a_closed_http_stream_cancels_its_call(void **state)
{
    struct btz_mcp_server *server = make_server(
        (struct btz_mcp_server_options){.carrier = BTZ_MCP_CARRIER_HTTP}, TOOLS, NULL, NULL);
    uint64_t token;

    (void)state;
    server_in(server, request("1", "tools/call", ",'name':'a'"));
    token = server_event(server, BTZ_MCP_SERVER_CALL, "a");
    btz_mcp_server_stream_closed(server, btz_mcp_id_int(1));
    assert_int_equal(server_event(server, BTZ_MCP_SERVER_CANCELLED, "a"), token);
    server_quiet(server);
    btz_mcp_server_free(server);
}

#define LEGACY_INIT                                                                                \
    "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"                                      \
    "\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}"
#define POST(method, params)                                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" method "\",\"params\":{" params "}}"

/* Bodies of the POSTs below. */
static const struct {
    const char *key, *text;
} bodies[] = {
    {"list", POST("tools/list", M)},
    {"call", POST("tools/call", M ",\"name\":\"a\"")},
    {"no tool", POST("tools/call", M ",\"name\":\"nope\"")},
    {"read", POST("resources/read", M ",\"uri\":\"u:1\"")},
    {"unknown", POST("no/such", M)},
    {"prompts", POST("prompts/get", M ",\"name\":\"p\"")},
    {"modern init", POST("initialize", M "," LEGACY_INIT)},
    {"init", POST("initialize", LEGACY_INIT)},
    {"bare", POST("tools/list", "")},
    {"broken",
     POST("tools/list", "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}")},
    {"future",
     POST("tools/list", "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2027-01-01\","
                        "\"io.modelcontextprotocol/clientCapabilities\":{}}")},
    {"garbage", "{"},
    {"batch", "[]"},
    {"response", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"},
    {"bad response", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":7}"},
    {"notification", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                     "\"params\":{\"requestId\":5}}"},
};

/* HTTP headers against the body: precedence and status as design brief 2.4 has them. `-` = header
 * absent; code 0 = accepted; status 0 = not answered at once. */
static const struct {
    const char *body;
    const char *version, *method, *name;
    int code;
    int status;
} posts[] = {
    {"list", "2026-07-28", "tools/list", "-", 0, 200},
    {"call", "2026-07-28", "tools/call", "a", 0, 0},
    {"list", "-", "tools/list", "-", BTZ_MCP_E_HEADER, 400},
    {"list", "2026-07-28", "-", "-", BTZ_MCP_E_HEADER, 400},
    {"list", "2027-01-01", "tools/list", "-", BTZ_MCP_E_HEADER, 400},
    {"list", "2025-11-25", "tools/list", "-", BTZ_MCP_E_HEADER, 400},
    {"list", "2026-07-28", "tools/call", "-", BTZ_MCP_E_HEADER, 400},
    {"list", "2026-07-28", "Tools/List", "-", BTZ_MCP_E_HEADER, 400},
    {"call", "2026-07-28", "tools/call", "b", BTZ_MCP_E_HEADER, 400},
    {"call", "2026-07-28", "tools/call", "A", BTZ_MCP_E_HEADER, 400},
    {"call", "2026-07-28", "tools/call", "-", BTZ_MCP_E_HEADER, 400},
    {"read", "2026-07-28", "resources/read", "u:2", BTZ_MCP_E_HEADER, 400},
    {"read", "2026-07-28", "resources/read", "u:1", 0, 0},
    {"future", "2027-01-01", "tools/list", "-", BTZ_MCP_E_VERSION, 400},
    {"future", "2026-07-28", "tools/list", "-", BTZ_MCP_E_HEADER, 400},
    {"bare", "2026-07-28", "tools/list", "-", BTZ_MCP_E_PARAMS, 400},
    {"bare", "2027-01-01", "tools/list", "-", BTZ_MCP_E_PARAMS, 400},
    {"bare", "2025-11-25", "-", "-", BTZ_MCP_E_REQUEST, 400}, /* not initialized */
    {"bare", "2025-99-99", "-", "-", BTZ_MCP_E_REQUEST, 400}, /* no version at all */
    {"bare", "latest", "-", "-", BTZ_MCP_E_REQUEST, 400},
    {"broken", "2026-07-28", "tools/list", "-", BTZ_MCP_E_PARAMS, 400},
    {"init", "2026-07-28", "initialize", "-", BTZ_MCP_E_HEADER, 400},
    {"modern init", "2026-07-28", "initialize", "-", BTZ_MCP_E_METHOD, 404},
    {"unknown", "2026-07-28", "no/such", "-", BTZ_MCP_E_METHOD, 404},
    {"prompts", "2026-07-28", "prompts/get", "p", BTZ_MCP_E_METHOD, 404},
    {"prompts", "2026-07-28", "prompts/get", "q", BTZ_MCP_E_HEADER, 400},
    {"no tool", "2026-07-28", "tools/call", "nope", BTZ_MCP_E_PARAMS, 200},
    {"garbage", "2026-07-28", "tools/list", "-", BTZ_MCP_E_PARSE, 400},
    {"batch", "2026-07-28", "tools/list", "-", BTZ_MCP_E_REQUEST, 400},
    {"response", "2026-07-28", "-", "-", BTZ_MCP_E_REQUEST, 400},
    {"bad response", "2026-07-28", "-", "-", BTZ_MCP_E_REQUEST, 400},
    {"notification", "2026-07-28", "-", "-", 0, 0},
    {"init", "-", "-", "-", 0, 200},
};

static const char *body_text(const char *key)
{
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        if (!strcmp(key, bodies[i].key)) {
            return bodies[i].text;
        }
    }
    fail_msg("no body %s", key);
    return NULL;
}

static struct btz_str header(const char *value)
{
    return strcmp(value, "-") ? btz_str_of(value) : BTZ_STR_NONE;
}

static void headers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(posts) / sizeof(posts[0]); i++) {
        struct btz_mcp_server_options options = {.carrier = BTZ_MCP_CARRIER_HTTP};
        struct btz_mcp_server *server = make_server(options, TOOLS, RESOURCES, NULL);
        struct btz_mcp_headers h = {.protocol_version = header(posts[i].version),
                                    .method = header(posts[i].method),
                                    .name = header(posts[i].name)};
        struct btz_mcp_out out = {0};
        struct btz_arena *arena = btz_arena_new();
        int64_t code = 0;
        bool answered;

        assert_int_equal(btz_mcp_server_feed_http(server, btz_str_of(body_text(posts[i].body)), &h),
                         BTZ_OK);
        answered = btz_mcp_server_next_out_full(server, &out);
        if (answered) {
            const struct btz_json *m = json(arena, btz_arena_cstr(arena, out.bytes));

            (void)btz_json_int64(btz_json_pointer(m, BTZ_STR("/error/code")), &code);
            /* An error about something that is no request must not look like an answer. */
            assert_true(!btz_json_getz(m, "id") ==
                        (strstr(posts[i].body, "response") || !strcmp(posts[i].body, "garbage") ||
                         !strcmp(posts[i].body, "batch")));
        }
        if (code != posts[i].code || answered != (posts[i].status != 0) ||
            (answered && out.http_status != posts[i].status)) {
            fail_msg("row %zu (%s): code %lld, status %d: %.*s", i, posts[i].body, (long long)code,
                     out.http_status, BTZ_FMT(out.bytes));
        }
        btz_arena_free(arena);
        btz_mcp_server_free(server);
    }
}

/* Every request of the table that is not offered in the modern era. */
static void methods_that_are_not_offered(void **state)
{
    struct btz_mcp_server *server = make_server(modern, TOOLS, RESOURCES, "[]");
    size_t count = 0;

    (void)state;
    for (unsigned i = 0; i < BTZ_MCP_METHOD_COUNT; i++) {
        const struct btz_mcp_method *method = btz_mcp_method_at((enum btz_mcp_method_id)i);

        if (!method->notification && method->offered && method->modern_from) {
            continue;
        }
        server_in(server, request("1", method->name, NULL));
        server_error(server, "1", BTZ_MCP_E_METHOD);
        server_quiet(server);
        count++;
    }
    assert_int_equal(count, 24);
    btz_mcp_server_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(discover),
        cmocka_unit_test(envelopes),
        cmocka_unit_test(versions_in_errors),
        cmocka_unit_test(initialize_in_both_eras),
        cmocka_unit_test(both_eras_on_one_connection),
        cmocka_unit_test(lists),
        cmocka_unit_test(calls_and_reads),
        cmocka_unit_test(log_messages),
        cmocka_unit_test(progress_of_a_modern_call),
        cmocka_unit_test(listen_streams),
        cmocka_unit_test(bad_filters),
        cmocka_unit_test(teardown_of_streams),
        cmocka_unit_test(a_closed_http_stream_cancels_its_call),
        cmocka_unit_test(headers),
        cmocka_unit_test(methods_that_are_not_offered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
