/* The server machine in the legacy era: exact bytes in, exact bytes out. */
#include "helper.h"

#include <stdio.h>
#include <string.h>

#define TOOLS                                                                                      \
    "[{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"}},"                                     \
    "{\"name\":\"b\",\"inputSchema\":{\"type\":\"object\"}},"                                      \
    "{\"name\":\"c\",\"inputSchema\":{\"type\":\"object\"}}]"
#define RESOURCES "[{\"uri\":\"u:1\",\"name\":\"one\"},{\"uri\":\"u:2\",\"name\":\"two\"}]"
#define MORE_RESOURCES                                                                             \
    "[{\"uri\":\"u:1\",\"name\":\"one\"},{\"uri\":\"u:2\",\"name\":\"two\"},"                      \
    "{\"uri\":\"u:3\",\"name\":\"three\"}]"

static const struct btz_mcp_server_options dual = {0};

/* Every legacy revision is echoed by servers of both kinds; others get the newest. */
static void negotiation(void **state)
{
    static const struct {
        const char *asked, *given;
        unsigned served;
    } rows[] = {
        {"2024-11-05", "2024-11-05", 0},
        {"2025-03-26", "2025-03-26", 0},
        {"2025-06-18", "2025-06-18", 0},
        {"2025-11-25", "2025-11-25", 0},
        {"2024-11-05", "2024-11-05", BTZ_MCP_SET_LEGACY},
        {"2025-11-25", "2025-11-25", BTZ_MCP_SET_LEGACY},
        {"2026-07-28", "2025-11-25", 0},
        {"1999-01-01", "2025-11-25", 0},
        {"", "2025-11-25", BTZ_MCP_SET_LEGACY},
        {"2025-11-25", "2025-03-26",
         BTZ_MCP_SET(BTZ_MCP_2024_11_05) | BTZ_MCP_SET(BTZ_MCP_2025_03_26)},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct btz_mcp_server *server = make_server(
            (struct btz_mcp_server_options){.revisions = rows[i].served}, "[]", NULL, NULL);
        char in[512];
        char out[512];

        snprintf(in, sizeof(in),
                 "{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"initialize\",\"params\":{"
                 "\"protocolVersion\":\"%s\",\"capabilities\":{},"
                 "\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}",
                 rows[i].asked);
        snprintf(out, sizeof(out),
                 "{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"result\":{\"protocolVersion\":\"%s\","
                 "\"capabilities\":{\"tools\":{\"listChanged\":true}},"
                 "\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}",
                 rows[i].given);
        assert_int_equal(btz_mcp_server_session(server), BTZ_MCP_REVISION_NONE);
        server_in(server, in);
        server_out(server, out);
        assert_string_equal(btz_mcp_revision_text(btz_mcp_server_session(server)), rows[i].given);
        server_in(server, in);
        server_error(server, "\"i\"", BTZ_MCP_E_REQUEST); /* once is enough */
        server_quiet(server);
        btz_mcp_server_free(server);
    }
}

static void before_the_handshake(void **state)
{
    static const struct {
        const char *text;
        int code;
    } rows[] = {
        {"{'jsonrpc':'2.0','id':1,'method':'tools/list'}", BTZ_MCP_E_REQUEST},
        {"{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'a'}}", BTZ_MCP_E_REQUEST},
        {"{'jsonrpc':'2.0','id':1,'method':'resources/read','params':{'uri':'u:1'}}",
         BTZ_MCP_E_REQUEST},
        {"{'jsonrpc':'2.0','id':1,'method':'no/such/method'}", BTZ_MCP_E_METHOD},
        {"{'jsonrpc':'2.0','id':1,'method':'initialize'}", BTZ_MCP_E_PARAMS},
        {"{'jsonrpc':'2.0','id':1,'method':'initialize','params':{'protocolVersion':1,"
         "'capabilities':{},'clientInfo':{'name':'t','version':'1'}}}",
         BTZ_MCP_E_PARAMS},
        {"{'jsonrpc':'2.0','id':1,'method':'initialize','params':{'protocolVersion':'2025-11-25',"
         "'clientInfo':{'name':'t','version':'1'}}}",
         BTZ_MCP_E_PARAMS},
        {"{'jsonrpc':'2.0','id':1,'method':'initialize','params':{'protocolVersion':'2025-11-25',"
         "'capabilities':{},'clientInfo':{'name':'t'}}}",
         BTZ_MCP_E_PARAMS},
    };
    struct btz_mcp_server *server = make_server(dual, TOOLS, RESOURCES, NULL);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        server_in(server, q(rows[i].text));
        server_error(server, "1", rows[i].code);
        server_quiet(server); /* above all no CALL */
    }
    server_in(server, q("{'jsonrpc':'2.0','id':5,'method':'ping'}"));
    server_out(server, q("{'jsonrpc':'2.0','id':5,'result':{}}"));
    server_open(server, "2025-06-18");
    assert_int_equal(btz_mcp_server_stats(server).refused, sizeof(rows) / sizeof(rows[0]));
    btz_mcp_server_free(server);
}

/* A modern client that probes a legacy server must get an error it can fall back on. */
static void a_probe_of_a_legacy_server(void **state)
{
    struct btz_mcp_server *server = make_server(
        (struct btz_mcp_server_options){.revisions = BTZ_MCP_SET_LEGACY}, TOOLS, NULL, NULL);

    (void)state;
    server_in(
        server,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{" CLIENT_META
        "}}}");
    server_out(server, q("{'jsonrpc':'2.0','id':1,'error':{'code':-32601,'message':'this method is "
                         "not offered'}}"));
    /* Nor is a call run because of its envelope. */
    server_in(server,
              "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{" CLIENT_META
              "},\"name\":\"a\"}}");
    server_error(server, "2", BTZ_MCP_E_REQUEST);
    server_open(server, "2025-11-25");
    btz_mcp_server_free(server);
}

/* Malformed messages: what the codec refuses is answered, or not, as it says. */
static void unreadable(void **state)
{
    struct btz_mcp_server *server = make_server(dual, TOOLS, NULL, NULL);

    (void)state;
    server_open(server, "2025-03-26"); /* the one revision that had batches */
    server_in(server, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]");
    server_error(server, NULL, BTZ_MCP_E_REQUEST);
    server_in(server, "{\"jsonrpc\":");
    server_error(server, NULL, BTZ_MCP_E_PARSE);
    server_in(server, q("{'jsonrpc':'2.0','id':'x','method':'ping','params':[]}"));
    server_error(server, "\"x\"", BTZ_MCP_E_REQUEST);
    server_in(server, q("{'jsonrpc':'2.0','id':null,'method':'ping'}"));
    server_error(server, NULL, BTZ_MCP_E_REQUEST);
    server_in(server, q("{'jsonrpc':'2.0','method':'ping','params':[]}"));
    server_in(server, q("{'jsonrpc':'2.0','id':1,'result':7}"));
    server_in(server, q("{'jsonrpc':'2.0','id':1,'result':{}}"));
    server_in(server, q("{'jsonrpc':'2.0','id':1,'error':{'code':1,'message':''}}"));
    server_in(server, q("{'jsonrpc':'2.0','method':'tools/call','params':{'name':'a'}}"));
    server_in(server, q("{'jsonrpc':'2.0','method':'notifications/unknown'}"));
    server_in(server, q("{'jsonrpc':'2.0','method':'notifications/roots/list_changed'}"));
    server_quiet(server);
    assert_int_equal(btz_mcp_server_stats(server).responses, 2);
    assert_int_equal(btz_mcp_server_stats(server).ignored, 5);
    assert_int_equal(btz_mcp_server_stats(server).refused, 4);
    btz_mcp_server_free(server);
}

static void pages(void **state)
{
    struct btz_mcp_server *server =
        make_server((struct btz_mcp_server_options){.page_size = 2}, TOOLS, MORE_RESOURCES, "[]");
    struct btz_arena *arena = btz_arena_new();
    struct btz_str bytes;
    struct btz_str cursor;
    char text[512];

    (void)state;
    server_open(server, "2025-11-25");
    server_in(server, q("{'jsonrpc':'2.0','id':1,'method':'tools/list'}"));
    assert_true(btz_mcp_server_next_out(server, &bytes));
    cursor = btz_json_str(
        btz_json_pointer(json(arena, btz_arena_cstr(arena, bytes)), BTZ_STR("/result/nextCursor")));
    assert_true(cursor.len > 0);
    snprintf(text, sizeof(text),
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":["
             "{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"}},"
             "{\"name\":\"b\",\"inputSchema\":{\"type\":\"object\"}}],\"nextCursor\":\"%.*s\"}}",
             BTZ_FMT(cursor));
    assert_text(bytes, text);

    snprintf(
        text, sizeof(text),
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{\"cursor\":\"%.*s\"}}",
        BTZ_FMT(cursor));
    server_in(server, text);
    server_out(server, q("{'jsonrpc':'2.0','id':2,'result':{'tools':[{'name':'c','inputSchema':"
                         "{'type':'object'}}]}}"));
    server_in(server, text); /* cursors are no one-time tickets */
    server_out(server, q("{'jsonrpc':'2.0','id':2,'result':{'tools':[{'name':'c','inputSchema':"
                         "{'type':'object'}}]}}"));

    /* The same cursor means nothing to another list, or after the list was replaced. */
    snprintf(text, sizeof(text),
             "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"resources/"
             "list\",\"params\":{\"cursor\":\"%.*s\"}}",
             BTZ_FMT(cursor));
    server_in(server, text);
    server_error(server, "3", BTZ_MCP_E_PARAMS);
    assert_int_equal(replace_tools(server, TOOLS, RESOURCES, "[]", false), BTZ_OK);
    server_out(server, q("{'jsonrpc':'2.0','method':'notifications/resources/list_changed'}"));
    snprintf(
        text, sizeof(text),
        "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/list\",\"params\":{\"cursor\":\"%.*s\"}}",
        BTZ_FMT(cursor));
    server_in(server, text);
    server_error(server, "4", BTZ_MCP_E_PARAMS);

    server_in(server, q("{'jsonrpc':'2.0','id':5,'method':'resources/list','params':{}}"));
    server_out(server,
               q("{'jsonrpc':'2.0','id':5,'result':{'resources':[{'uri':'u:1','name':'one'},"
                 "{'uri':'u:2','name':'two'}]}}"));
    server_in(server, q("{'jsonrpc':'2.0','id':6,'method':'resources/templates/list'}"));
    server_out(server, q("{'jsonrpc':'2.0','id':6,'result':{'resourceTemplates':[]}}"));
    server_quiet(server);
    btz_arena_free(arena);
    btz_mcp_server_free(server);
}

static void bad_cursors(void **state)
{
    static const char *const cursors[] = {"''",
                                          "'x'",
                                          "'1.2.0000000000000000'",
                                          "'1.0.0'",
                                          "'1.2'",
                                          "'..'",
                                          "'1.-2.aaaaaaaaaaaaaaaa'",
                                          "'1.99999999999999999999.aaaaaaaaaaaaaaaa'",
                                          "2",
                                          "null",
                                          "{}",
                                          "['1']"};
    struct btz_mcp_server *server =
        make_server((struct btz_mcp_server_options){.page_size = 2}, TOOLS, NULL, NULL);
    struct btz_mcp_server *other = make_server(
        (struct btz_mcp_server_options){.page_size = 2, .cursor_key = 9}, TOOLS, NULL, NULL);
    struct btz_arena *arena = btz_arena_new();
    struct btz_str bytes;
    char text[256];

    (void)state;
    server_open(server, "2025-11-25");
    server_open(other, "2025-11-25");
    for (size_t i = 0; i < sizeof(cursors) / sizeof(cursors[0]); i++) {
        snprintf(text, sizeof(text),
                 "{'jsonrpc':'2.0','id':1,'method':'tools/list','params':{'cursor':%s}}",
                 cursors[i]);
        server_in(server, q(text));
        server_error(server, "1", BTZ_MCP_E_PARAMS);
    }
    /* A cursor of a server with another key. */
    server_in(other, q("{'jsonrpc':'2.0','id':1,'method':'tools/list'}"));
    assert_true(btz_mcp_server_next_out(other, &bytes));
    bytes = btz_json_str(
        btz_json_pointer(json(arena, btz_arena_cstr(arena, bytes)), BTZ_STR("/result/nextCursor")));
    snprintf(text, sizeof(text),
             "{'jsonrpc':'2.0','id':1,'method':'tools/list','params':{'cursor':'%.*s'}}",
             BTZ_FMT(bytes));
    server_in(server, q(text));
    server_error(server, "1", BTZ_MCP_E_PARAMS);
    server_in(other, q(text));
    assert_true(btz_mcp_server_next_out(other, &bytes));
    assert_true(btz_str_find(bytes, BTZ_STR("\"c\"")) > 0);
    btz_arena_free(arena);
    btz_mcp_server_free(other);
    btz_mcp_server_free(server);
}

static void calls(void **state)
{
    struct btz_mcp_server *server =
        make_server((struct btz_mcp_server_options){.logging = true}, TOOLS, NULL, NULL);
    struct btz_mcp_server_event event;
    struct btz_arena *arena = btz_arena_new();
    struct btz_err err;

    (void)state;
    server_open(server, "2025-11-25");
    server_in(server, q("{'jsonrpc':'2.0','id':'r1','method':'tools/call','params':{'name':'b',"
                        "'arguments':{'n':12345678901234567890,'Name':'x'},'_meta':{'k':1}}}"));
    assert_true(btz_mcp_server_next_event(server, &event));
    assert_int_equal(event.kind, BTZ_MCP_SERVER_CALL);
    assert_int_equal(event.revision, BTZ_MCP_2025_11_25);
    assert_text(event.name, "b");
    assert_json(event.arguments, q("{'n':12345678901234567890,'Name':'x'}"));
    assert_json(event.meta, q("{'k':1}"));
    assert_true(btz_mcp_id_eq(event.request_id, btz_mcp_id_str(BTZ_STR("r1"))));
    assert_int_equal(event.progress_token.kind, BTZ_MCP_ID_NONE);
    assert_json(event.client_info, q("{'name':'t','version':'1'}"));
    assert_json(event.client_capabilities, q("{'roots':{}}"));
    assert_int_equal(btz_mcp_server_in_flight(server), 1);
    /* A result that breaks the shape is not sent, and can be mended. */
    assert_int_equal(btz_mcp_server_reply_result(server, event.token, json(arena, "{}"), &err),
                     BTZ_EINVAL);
    assert_int_equal(btz_mcp_server_reply_result(
                         server, event.token,
                         json(arena, q("{'content':[],'resultType':'input_required'}")), &err),
                     BTZ_EINVAL);
    server_quiet(server);
    /* What only the modern era has is left out. */
    server_reply(
        server, event.token,
        q("{'content':[{'type':'text','text':'t'}],'structuredContent':[1],'ttlMs':1,"
          "'cacheScope':'public','resultType':'complete','isError':true,'_meta':{'m':1}}"));
    server_out(server,
               q("{'jsonrpc':'2.0','id':'r1','result':{'content':[{'type':'text','text':'t'}],"
                 "'isError':true,'_meta':{'m':1}}}"));
    assert_int_equal(btz_mcp_server_in_flight(server), 0);
    assert_int_equal(
        btz_mcp_server_reply_result(server, event.token, json(arena, q("{'content':[]}")), &err),
        BTZ_ENOTFOUND);
    assert_int_equal(btz_mcp_server_reply_error(server, 999, 1, BTZ_STR("m"), NULL), BTZ_ENOTFOUND);

    /* No arguments are empty arguments; answers may come in another order. */
    server_in(server, q("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'a'}}"));
    server_in(server, q("{'jsonrpc':'2.0','id':'1','method':'tools/call','params':{'name':'c'}}"));
    assert_true(btz_mcp_server_next_event(server, &event));
    assert_json(event.arguments, "{}");
    server_reply(server, server_event(server, BTZ_MCP_SERVER_CALL, "c"),
                 q("{'content':[],'structuredContent':{'x':1}}"));
    assert_int_equal(btz_mcp_server_reply_error(server, event.token, 4242, BTZ_STR("denied"),
                                                json(arena, q("{'rule':'r'}"))),
                     BTZ_OK);
    server_in(server,
              q("{'jsonrpc':'2.0','id':2,'method':'tools/call','params':{'name':'a','_meta':"
                "{'io.modelcontextprotocol/logLevel':'debug'}}}"));
    assert_true(btz_mcp_server_next_event(server, &event));
    assert_int_equal(
        btz_mcp_server_log(server, event.token, BTZ_STR("debug"), BTZ_STR_NONE, json(arena, "1")),
        BTZ_OK); /* logLevel means nothing in this era: before logging/setLevel all is sent */
    assert_int_equal(
        btz_mcp_server_reply_error(server, event.token, BTZ_MCP_E_PARAMS, BTZ_STR("m"), NULL),
        BTZ_OK);
    server_out(server,
               q("{'jsonrpc':'2.0','id':'1','result':{'content':[],'structuredContent':{'x':1}}}"));
    server_out(server, q("{'jsonrpc':'2.0','id':1,'error':{'code':4242,'message':'denied','data':"
                         "{'rule':'r'}}}"));
    server_out(server, q("{'jsonrpc':'2.0','method':'notifications/message','params':{'level':"
                         "'debug','data':1}}"));
    server_error(server, "2", BTZ_MCP_E_PARAMS);
    server_quiet(server);
    btz_arena_free(arena);
    btz_mcp_server_free(server);
}

static void refused_calls(void **state)
{
    static const struct {
        const char *params;
        int code;
    } rows[] = {
        {"{'name':'nope'}", BTZ_MCP_E_PARAMS},
        {"{'name':'A'}", BTZ_MCP_E_PARAMS},
        {"{'name':''}", BTZ_MCP_E_PARAMS},
        {"{'name':1}", BTZ_MCP_E_PARAMS},
        {"{}", BTZ_MCP_E_PARAMS},
        {"{'name':'a','arguments':[]}", BTZ_MCP_E_PARAMS},
        {"{'name':'a','arguments':null}", BTZ_MCP_E_PARAMS},
        {"{'name':'a','_meta':{'progressToken':1.5}}", BTZ_MCP_E_PARAMS},
        {"{'name':'a','_meta':{'progressToken':null}}", BTZ_MCP_E_PARAMS},
        {"{'name':'a','NAME':'b'}", BTZ_MCP_E_REQUEST},
        {"{'name':'a','name':'b'}", BTZ_MCP_E_PARSE},
    };
    struct btz_mcp_server *server = make_server(dual, TOOLS, NULL, NULL);
    char text[256];

    (void)state;
    server_open(server, "2025-11-25");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        snprintf(text, sizeof(text), "{'jsonrpc':'2.0','id':1,'method':'tools/call','params':%s}",
                 rows[i].params);
        server_in(server, q(text));
        server_error(server, rows[i].code == BTZ_MCP_E_PARSE ? NULL : "1", rows[i].code);
        server_quiet(server);
    }
    btz_mcp_server_free(server);
}

static void reads(void **state)
{
    struct btz_mcp_server *server = make_server(dual, NULL, RESOURCES, NULL);
    struct btz_arena *arena = btz_arena_new();
    struct btz_err err;
    uint64_t token;

    (void)state;
    server_open(server, "2025-06-18");
    server_in(server,
              q("{'jsonrpc':'2.0','id':1,'method':'resources/read','params':{'uri':'u:1'}}"));
    token = server_event(server, BTZ_MCP_SERVER_READ, "u:1");
    assert_int_equal(
        btz_mcp_server_reply_result(server, token, json(arena, q("{'content':[]}")), &err),
        BTZ_EINVAL);
    server_reply(server, token, q("{'contents':[{'uri':'u:1','text':'x'}]}"));
    server_out(server,
               q("{'jsonrpc':'2.0','id':1,'result':{'contents':[{'uri':'u:1','text':'x'}]}}"));
    /* Before 2026-07-28 an unknown resource has its own code. */
    server_in(server,
              q("{'jsonrpc':'2.0','id':2,'method':'resources/read','params':{'uri':'u:9'}}"));
    token = server_event(server, BTZ_MCP_SERVER_READ, "u:9");
    assert_int_equal(
        btz_mcp_server_reply_error(server, token, BTZ_MCP_E_PARAMS, BTZ_STR("none"), NULL), BTZ_OK);
    server_error(server, "2", -32002);
    server_in(server, q("{'jsonrpc':'2.0','id':3,'method':'resources/read','params':{'uri':''}}"));
    server_error(server, "3", BTZ_MCP_E_PARAMS);
    server_in(server, q("{'jsonrpc':'2.0','id':4,'method':'resources/read'}"));
    server_error(server, "4", BTZ_MCP_E_PARAMS);
    /* No tools are offered at all. */
    server_in(server, q("{'jsonrpc':'2.0','id':5,'method':'tools/list'}"));
    server_error(server, "5", BTZ_MCP_E_METHOD);
    server_in(server, q("{'jsonrpc':'2.0','id':6,'method':'resources/templates/list'}"));
    server_out(server, q("{'jsonrpc':'2.0','id':6,'result':{'resourceTemplates':[]}}"));
    server_quiet(server);
    btz_arena_free(arena);
    btz_mcp_server_free(server);
}

static void progress(void **state)
{
    static const struct {
        const char *version;
        bool text;
    } rows[] = {{"2024-11-05", false}, {"2025-03-26", true}, {"2025-11-25", true}};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct btz_mcp_server *server = make_server(dual, TOOLS, NULL, NULL);
        uint64_t token;

        server_open(server, rows[i].version);
        server_in(server, q("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'a',"
                            "'_meta':{'progressToken':'p'}}}"));
        token = server_event(server, BTZ_MCP_SERVER_CALL, "a");
        assert_int_equal(btz_mcp_server_progress(server, token, 0.5, -1, BTZ_STR("go")), BTZ_OK);
        server_out(server, rows[i].text
                               ? q("{'jsonrpc':'2.0','method':'notifications/progress','params':"
                                   "{'progressToken':'p','progress':0.5,'message':'go'}}")
                               : q("{'jsonrpc':'2.0','method':'notifications/progress','params':"
                                   "{'progressToken':'p','progress':0.5}}"));
        assert_int_equal(btz_mcp_server_progress(server, token, 0.5, -1, BTZ_STR_NONE), BTZ_EINVAL);
        assert_int_equal(btz_mcp_server_progress(server, token, 1, 2, BTZ_STR_NONE), BTZ_OK);
        server_out(server, q("{'jsonrpc':'2.0','method':'notifications/progress','params':"
                             "{'progressToken':'p','progress':1,'total':2}}"));
        /* Log messages need a modern logLevel. */
        assert_int_equal(btz_mcp_server_log(server, token, BTZ_STR("error"), BTZ_STR_NONE,
                                            (const struct btz_json *)NULL),
                         BTZ_EINVAL);
        server_reply(server, token, q("{'content':[]}"));
        assert_int_equal(btz_mcp_server_progress(server, token, 3, 2, BTZ_STR_NONE), BTZ_ENOTFOUND);
        server_out(server, q("{'jsonrpc':'2.0','id':1,'result':{'content':[]}}"));
        server_in(server,
                  q("{'jsonrpc':'2.0','id':2,'method':'tools/call','params':{'name':'a'}}"));
        token = server_event(server, BTZ_MCP_SERVER_CALL, "a");
        assert_int_equal(btz_mcp_server_progress(server, token, 1, 2, BTZ_STR_NONE),
                         BTZ_EUNSUPPORTED);
        server_quiet(server);
        btz_mcp_server_free(server);
    }
}

static void cancellation(void **state)
{
    struct btz_mcp_server *server = make_server(dual, TOOLS, NULL, NULL);
    struct btz_arena *arena = btz_arena_new();
    struct btz_mcp_server_event event;
    struct btz_err err;
    uint64_t first;
    uint64_t second;

    (void)state;
    server_open(server, "2025-11-25");
    for (unsigned i = 1; i <= 3; i++) {
        char text[128];

        snprintf(text, sizeof(text),
                 "{'jsonrpc':'2.0','id':%u,'method':'tools/call','params':{'name':'a'}}", i);
        server_in(server, q(text));
    }
    first = server_event(server, BTZ_MCP_SERVER_CALL, "a");
    second = server_event(server, BTZ_MCP_SERVER_CALL, "a");
    assert_int_not_equal(first, second);
    /* Unknown ids, also of another type, and malformed ones: nothing happens. */
    server_in(server,
              q("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':'1'}}"));
    server_in(server,
              q("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':9}}"));
    server_in(server, q("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{}}"));
    server_in(server, q("{'jsonrpc':'2.0','method':'notifications/cancelled'}"));
    assert_int_equal(btz_mcp_server_in_flight(server), 3);
    assert_int_equal(btz_mcp_server_stats(server).ignored, 4);
    /* The third was never seen by the owner: it just goes away. */
    server_in(server,
              q("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':3}}"));
    server_quiet(server);
    /* The first is known to the owner, who may reply before and after it hears of the end. */
    server_in(server,
              q("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':1,"
                "'reason':'slow'}}"));
    assert_int_equal(
        btz_mcp_server_reply_result(server, first, json(arena, q("{'content':[]}")), &err),
        BTZ_ECANCELLED);
    assert_int_equal(btz_mcp_server_in_flight(server), 1);
    /* The client may use the id again at once, and mean the new request by it. */
    server_in(server, q("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'c'}}"));
    assert_int_equal(btz_mcp_server_in_flight(server), 2);
    server_in(server,
              q("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':1}}"));
    assert_int_equal(btz_mcp_server_in_flight(server), 1);
    assert_true(btz_mcp_server_next_event(server, &event));
    assert_int_equal(event.kind, BTZ_MCP_SERVER_CANCELLED);
    assert_int_equal(event.token, first);
    assert_text(event.reason, "slow");
    assert_text(event.name, "a");
    assert_int_equal(btz_mcp_server_reply_error(server, first, 1, BTZ_STR("m"), NULL),
                     BTZ_ECANCELLED);
    assert_int_equal(btz_mcp_server_progress(server, first, 1, 2, BTZ_STR_NONE), BTZ_ECANCELLED);
    assert_int_equal(btz_mcp_server_stats(server).late, 3);
    server_quiet(server);
    assert_int_equal(btz_mcp_server_reply_error(server, first, 1, BTZ_STR("m"), NULL),
                     BTZ_ENOTFOUND);
    /* The id is free again; the second call goes on. */
    server_in(server, q("{'jsonrpc':'2.0','id':1,'method':'ping'}"));
    server_out(server, q("{'jsonrpc':'2.0','id':1,'result':{}}"));
    server_reply(server, second, q("{'content':[]}"));
    server_out(server, q("{'jsonrpc':'2.0','id':2,'result':{'content':[]}}"));
    server_quiet(server);
    btz_arena_free(arena);
    btz_mcp_server_free(server);
}

/* Calls whose events still wait are taken out from any place of the queue. */
static void cancellation_of_waiting_events(void **state)
{
    static const unsigned orders[][3] = {{1, 2, 3}, {3, 2, 1}, {2, 1, 3}, {2, 3, 1}};
    char text[1400];
    char reason[1100];

    (void)state;
    memset(reason, 'r', sizeof(reason) - 1);
    reason[sizeof(reason) - 1] = '\0';
    for (size_t i = 0; i < 4; i++) {
        struct btz_mcp_server *server = make_server(dual, TOOLS, NULL, NULL);
        struct btz_mcp_server_event event;

        server_open(server, "2025-11-25");
        for (unsigned n = 1; n <= 4; n++) {
            snprintf(text, sizeof(text),
                     "{'jsonrpc':'2.0','id':%u,'method':'tools/call','params':{'name':'%s'}}", n,
                     n == 4 ? "b" : "a");
            server_in(server, q(text));
        }
        for (unsigned n = 0; n < 3; n++) {
            snprintf(
                text, sizeof(text),
                "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':%u}}",
                orders[i][n]);
            server_in(server, q(text));
        }
        server_event(server, BTZ_MCP_SERVER_CALL, "b");
        server_quiet(server);
        /* An endless reason is not kept. */
        snprintf(text, sizeof(text),
                 "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':4,"
                 "'reason':'%s'}}",
                 reason);
        server_in(server, q(text));
        assert_true(btz_mcp_server_next_event(server, &event));
        assert_int_equal(event.kind, BTZ_MCP_SERVER_CANCELLED);
        assert_int_equal(event.reason.len, 0);
        btz_mcp_server_free(server);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(negotiation),
        cmocka_unit_test(before_the_handshake),
        cmocka_unit_test(a_probe_of_a_legacy_server),
        cmocka_unit_test(unreadable),
        cmocka_unit_test(pages),
        cmocka_unit_test(bad_cursors),
        cmocka_unit_test(calls),
        cmocka_unit_test(refused_calls),
        cmocka_unit_test(reads),
        cmocka_unit_test(progress),
        cmocka_unit_test(cancellation),
        cmocka_unit_test(cancellation_of_waiting_events),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
