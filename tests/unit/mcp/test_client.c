/* The client machine: exact bytes out, exact bytes in. */
#include "helper.h"

#include <stdio.h>
#include <string.h>

#define M CLIENT_META "}"
#define TOOL(name) "{'name':'" name "','inputSchema':{'type':'object'}}"

static const struct btz_mcp_client_options legacy = {.mode = BTZ_MCP_CLIENT_LEGACY};
static const struct btz_mcp_client_options modern = {.mode = BTZ_MCP_CLIENT_MODERN};

static struct btz_mcp_client *open_legacy(struct btz_mcp_client_options options)
{
    struct btz_mcp_client *client;

    options.mode = BTZ_MCP_CLIENT_LEGACY;
    client = make_client(options);
    client_open(client, "2025-11-25");
    return client;
}

static struct btz_mcp_client *open_modern(struct btz_mcp_client_options options)
{
    struct btz_mcp_client *client;

    options.mode = BTZ_MCP_CLIENT_MODERN;
    client = make_client(options);
    client_open(client, "2026-07-28");
    return client;
}

static void requests_on_the_wire(void **state)
{
    struct btz_mcp_client_options options = {.progress = true, .log_level = BTZ_STR("info")};
    struct btz_mcp_client *client = open_legacy(options);
    struct btz_arena *arena = btz_arena_new();
    struct btz_mcp_out out;
    uint64_t id = 0;

    (void)state;
    assert_int_equal(
        btz_mcp_client_call_tool(client, BTZ_STR("a"), json(arena, q("{'n':1.50}")), &id), BTZ_OK);
    assert_int_equal(id, 2);
    client_out(client, q("{'jsonrpc':'2.0','id':2,'method':'tools/call','params':{'_meta':{"
                         "'progressToken':2},'name':'a','arguments':{'n':1.50}}}"));
    assert_int_equal(btz_mcp_client_read_resource(client, BTZ_STR("u:1"), NULL), BTZ_OK);
    client_out(client, q("{'jsonrpc':'2.0','id':3,'method':'resources/read','params':{'_meta':{"
                         "'progressToken':3},'uri':'u:1'}}"));
    assert_int_equal(btz_mcp_client_list_resources(client, &id), BTZ_OK);
    assert_int_equal(id, 4);
    client_out(client, q("{'jsonrpc':'2.0','id':4,'method':'resources/list'}"));
    assert_int_equal(btz_mcp_client_list_templates(client, NULL), BTZ_OK);
    client_out(client, q("{'jsonrpc':'2.0','id':5,'method':'resources/templates/list'}"));
    assert_int_equal(btz_mcp_client_ping(client, NULL), BTZ_OK);
    client_out(client, q("{'jsonrpc':'2.0','id':6,'method':'ping'}"));
    assert_int_equal(btz_mcp_client_listen(client, BTZ_MCP_LIST_TOOLS, NULL), BTZ_ESTATE);
    assert_int_equal(btz_mcp_client_call_tool(client, BTZ_STR(""), NULL, NULL), BTZ_EINVAL);
    assert_int_equal(btz_mcp_client_call_tool(client, BTZ_STR("a"), json(arena, "[]"), NULL),
                     BTZ_EINVAL);
    assert_int_equal(btz_mcp_client_read_resource(client, BTZ_STR(""), NULL), BTZ_EINVAL);
    assert_int_equal(btz_mcp_client_in_flight(client), 5);
    btz_mcp_client_free(client);

    client = open_modern(options);
    assert_int_equal(btz_mcp_client_call_tool(client, BTZ_STR("a"), NULL, NULL), BTZ_OK);
    assert_true(btz_mcp_client_next_out_full(client, &out));
    assert_text(out.bytes,
                "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{" CLIENT_META
                ",\"io.modelcontextprotocol/logLevel\":\"info\","
                "\"progressToken\":2},\"name\":\"a\",\"arguments\":{}}}");
    assert_text(out.method, "tools/call"); /* what HTTP headers mirror */
    assert_text(out.name, "a");
    assert_int_equal(out.revision, BTZ_MCP_2026_07_28);
    assert_true(btz_mcp_id_eq(out.id, btz_mcp_id_int(2)));
    assert_int_equal(btz_mcp_client_list_tools(client, NULL), BTZ_OK);
    client_out(client,
               "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\",\"params\":{" M "}}");
    assert_int_equal(btz_mcp_client_listen(client, BTZ_MCP_LIST_TOOLS | BTZ_MCP_LIST_PROMPTS, &id),
                     BTZ_OK);
    client_out(client, "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"subscriptions/listen\","
                       "\"params\":{" M ",\"notifications\":{\"toolsListChanged\":true,"
                       "\"promptsListChanged\":true}}}");
    assert_int_equal(btz_mcp_client_listen(client, 0, NULL), BTZ_EINVAL);
    assert_int_equal(btz_mcp_client_listen(client, 64, NULL), BTZ_EINVAL);
    btz_arena_free(arena);
    btz_mcp_client_free(client);
}

static void lists(void **state)
{
    struct btz_mcp_client *client = open_modern(modern);
    struct btz_mcp_client_event event;
    uint64_t id = 0;

    (void)state;
    assert_int_equal(btz_mcp_client_list_tools(client, &id), BTZ_OK);
    client_out(client,
               "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{" M "}}");
    client_in(client, q("{'jsonrpc':'2.0','id':2,'result':{'resultType':'complete','tools':[" TOOL(
                          "a") "],'nextCursor':'','ttlMs':900,'cacheScope':'public'}}"));
    /* An empty cursor is a cursor. */
    client_out(client, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\",\"params\":{" M
                       ",\"cursor\":\"\"}}");
    client_in(client, q("{'jsonrpc':'2.0','id':3,'result':{'resultType':'complete','tools':[],"
                        "'nextCursor':'p3','ttlMs':300,'cacheScope':'public'}}"));
    client_out(client, "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/list\",\"params\":{" M
                       ",\"cursor\":\"p3\"}}");
    client_quiet(client);
    client_in(client, q("{'jsonrpc':'2.0','id':4,'result':{'resultType':'complete','tools':[" TOOL(
                          "b") "],'ttlMs':600,'cacheScope':'public'}}"));
    event = client_event(client, BTZ_MCP_CLIENT_TOOLS);
    assert_int_equal(event.fault, BTZ_MCP_FAULT_NONE);
    assert_int_equal(event.request, id);
    assert_json(event.value, q("[" TOOL("a") "," TOOL("b") "]"));
    assert_int_equal(event.pages, 3);
    assert_int_equal(event.ttl_ms, 300);
    assert_true(event.cache_public);
    assert_int_equal(btz_mcp_client_in_flight(client), 0);
    /* One page without usable cache members spoils the rest. */
    assert_int_equal(btz_mcp_client_list_resources(client, NULL), BTZ_OK);
    client_in(client, q("{'jsonrpc':'2.0','id':5,'result':{'resultType':'complete','resources':["
                        "{'uri':'u','name':'n'}],'ttlMs':-3,'cacheScope':'everyone','nextCursor':"
                        "'n'}}"));
    client_in(client, q("{'jsonrpc':'2.0','id':6,'result':{'resultType':'complete','resources':[],"
                        "'ttlMs':3,'cacheScope':'public'}}"));
    event = client_event(client, BTZ_MCP_CLIENT_RESOURCES);
    assert_int_equal(event.ttl_ms, 0);
    assert_false(event.cache_public);
    assert_int_equal(btz_mcp_client_list_templates(client, NULL), BTZ_OK);
    client_in(client, q("{'jsonrpc':'2.0','id':7,'result':{'resourceTemplates':[{'uriTemplate':'u/"
                        "{x}','name':'n'}]}}"));
    event = client_event(client, BTZ_MCP_CLIENT_TEMPLATES);
    assert_int_equal(btz_json_count(event.value), 1);
    assert_int_equal(btz_mcp_client_stats(client).untyped, 1);
    btz_mcp_client_free(client);
}

/* First pages that end a list with a fault. */
static void bad_lists(void **state)
{
    static const struct {
        const char *result;
        enum btz_mcp_fault fault;
    } rows[] = {
        {"'tools':{}", BTZ_MCP_FAULT_INVALID},
        {"'resources':[]", BTZ_MCP_FAULT_INVALID},
        {"'tools':[{'name':'a'}]", BTZ_MCP_FAULT_INVALID},
        {"'tools':[" TOOL("a") "," TOOL("a") "]", BTZ_MCP_FAULT_INVALID},
        {"'tools':[],'nextCursor':1", BTZ_MCP_FAULT_INVALID},
        {"'tools':[],'nextCursor':null", BTZ_MCP_FAULT_INVALID},
        {"'tools':[" TOOL("a") "," TOOL("b") "," TOOL("c") "," TOOL("d") "]", BTZ_MCP_FAULT_LIMIT},
        {"'tools':[],'resultType':'input_required'", BTZ_MCP_FAULT_INVALID},
        {"'tools':[],'resultType':'task'", BTZ_MCP_FAULT_INVALID},
        {"'tools':[],'resultType':1", BTZ_MCP_FAULT_INVALID},
        {"'Tools':[]", BTZ_MCP_FAULT_INVALID},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct btz_mcp_client *client =
            open_modern((struct btz_mcp_client_options){.max_items = 3});
        struct btz_mcp_client_event event;
        struct btz_str bytes;
        char text[512];

        assert_int_equal(btz_mcp_client_list_tools(client, NULL), BTZ_OK);
        assert_true(btz_mcp_client_next_out(client, &bytes));
        snprintf(text, sizeof(text), "{'jsonrpc':'2.0','id':2,'result':{%s}}", rows[i].result);
        client_in(client, q(text));
        if (rows[i].fault == BTZ_MCP_FAULT_INVALID) {
            client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR); /* an alarm, then the end */
        }
        event = client_event(client, BTZ_MCP_CLIENT_TOOLS);
        assert_int_equal(event.fault, rows[i].fault);
        assert_null(event.value);
        assert_true(event.message.len > 0);
        client_quiet(client);
        assert_int_equal(btz_mcp_client_in_flight(client), 0);
        btz_mcp_client_free(client);
    }
}

static void endless_lists(void **state)
{
    struct btz_mcp_client *client = open_legacy(
        (struct btz_mcp_client_options){.max_pages = 3, .max_list_bytes = 1000, .max_items = 3});
    struct btz_mcp_client_event event;
    struct btz_str bytes;
    char long_text[700];
    char text[1000];

    (void)state;
    /* The same cursor again, not only the last one. */
    assert_int_equal(btz_mcp_client_list_tools(client, NULL), BTZ_OK);
    client_in(client, q("{'jsonrpc':'2.0','id':2,'result':{'tools':[],'nextCursor':'x'}}"));
    client_in(client, q("{'jsonrpc':'2.0','id':3,'result':{'tools':[],'nextCursor':'y'}}"));
    client_in(client, q("{'jsonrpc':'2.0','id':4,'result':{'tools':[],'nextCursor':'x'}}"));
    event = client_event(client, BTZ_MCP_CLIENT_TOOLS);
    assert_int_equal(event.fault, BTZ_MCP_FAULT_CYCLE);
    /* Always a new one: the page cap. */
    assert_int_equal(btz_mcp_client_list_tools(client, NULL), BTZ_OK);
    client_in(client, q("{'jsonrpc':'2.0','id':5,'result':{'tools':[],'nextCursor':'1'}}"));
    client_in(client, q("{'jsonrpc':'2.0','id':6,'result':{'tools':[],'nextCursor':'2'}}"));
    client_in(client, q("{'jsonrpc':'2.0','id':7,'result':{'tools':[],'nextCursor':'3'}}"));
    event = client_event(client, BTZ_MCP_CLIENT_TOOLS);
    assert_int_equal(event.fault, BTZ_MCP_FAULT_LIMIT);
    assert_int_equal(event.pages, 3);
    /* Too many bytes over all pages. */
    memset(long_text, 'd', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';
    assert_int_equal(btz_mcp_client_list_tools(client, NULL), BTZ_OK);
    for (unsigned i = 8; i <= 9; i++) {
        snprintf(text, sizeof(text),
                 "{'jsonrpc':'2.0','id':%u,'result':{'tools':[{'name':'a%u','inputSchema':{'type':"
                 "'object'},'description':'%s'}],'nextCursor':'%u'}}",
                 i, i, long_text, i);
        client_in(client, q(text));
    }
    event = client_event(client, BTZ_MCP_CLIENT_TOOLS);
    assert_int_equal(event.fault, BTZ_MCP_FAULT_LIMIT);
    /* Too many items over all pages. */
    assert_int_equal(btz_mcp_client_list_tools(client, NULL), BTZ_OK);
    client_in(client, q("{'jsonrpc':'2.0','id':10,'result':{'tools':[" TOOL("a") "," TOOL(
                          "b") "],'nextCursor':'n'}}"));
    client_in(client,
              q("{'jsonrpc':'2.0','id':11,'result':{'tools':[" TOOL("c") "," TOOL("d") "]}}"));
    event = client_event(client, BTZ_MCP_CLIENT_TOOLS);
    assert_int_equal(event.fault, BTZ_MCP_FAULT_LIMIT);
    /* An error on the second page ends the list. */
    assert_int_equal(btz_mcp_client_list_tools(client, NULL), BTZ_OK);
    client_in(client, q("{'jsonrpc':'2.0','id':12,'result':{'tools':[],'nextCursor':'n'}}"));
    client_in(client, q("{'jsonrpc':'2.0','id':13,'error':{'code':-32602,'message':'gone'}}"));
    event = client_event(client, BTZ_MCP_CLIENT_TOOLS);
    assert_int_equal(event.fault, BTZ_MCP_FAULT_REMOTE);
    assert_int_equal(event.code, -32602);
    assert_text(event.message, "gone");
    while (btz_mcp_client_next_out(client, &bytes)) {
    }
    client_quiet(client);
    btz_mcp_client_free(client);
}

static void long_cursors(void **state)
{
    static char text[BTZ_MCP_MAX_CURSOR + 200];
    static char cursor[BTZ_MCP_MAX_CURSOR + 2];

    (void)state;
    for (size_t extra = 0; extra < 2; extra++) {
        struct btz_mcp_client *client = open_legacy(legacy);
        struct btz_str bytes;

        memset(cursor, 'c', BTZ_MCP_MAX_CURSOR + extra);
        assert_int_equal(btz_mcp_client_list_tools(client, NULL), BTZ_OK);
        assert_true(btz_mcp_client_next_out(client, &bytes));
        snprintf(text, sizeof(text),
                 "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[],\"nextCursor\":\"%s\"}}",
                 cursor);
        client_in(client, text);
        assert_int_equal(btz_mcp_client_next_out(client, &bytes), !extra);
        assert_int_equal(btz_mcp_client_in_flight(client), !extra);
        btz_mcp_client_free(client);
    }
}

/* Answers to a call: what the owner gets. */
static void call_answers(void **state)
{
    static const struct {
        const char *answer;
        enum btz_mcp_fault legacy, modern;
    } rows[] = {
        {"'result':{'content':[{'type':'text','text':'t'}]}", BTZ_MCP_FAULT_NONE,
         BTZ_MCP_FAULT_NONE},
        {"'result':{'content':[],'isError':true,'resultType':'complete'}", BTZ_MCP_FAULT_NONE,
         BTZ_MCP_FAULT_NONE},
        {"'result':{'content':[],'structuredContent':[]}", BTZ_MCP_FAULT_INVALID,
         BTZ_MCP_FAULT_NONE},
        {"'result':{}", BTZ_MCP_FAULT_INVALID, BTZ_MCP_FAULT_INVALID},
        {"'result':{'content':[{'type':'text'}]}", BTZ_MCP_FAULT_INVALID, BTZ_MCP_FAULT_INVALID},
        {"'result':{'content':[{'type':'text','text':'t','Text':'u'}]}", BTZ_MCP_FAULT_INVALID,
         BTZ_MCP_FAULT_INVALID},
        {"'result':[]", BTZ_MCP_FAULT_INVALID, BTZ_MCP_FAULT_INVALID},
        {"'result':{'content':[],'resultType':'complete'},'error':{'code':1,'message':''}",
         BTZ_MCP_FAULT_INVALID, BTZ_MCP_FAULT_INVALID},
        {"'result':{'resultType':'input_required','requestState':'s','inputRequests':{'k':{"
         "'method':'roots/list'}}}",
         BTZ_MCP_FAULT_INVALID, BTZ_MCP_FAULT_INPUT},
        {"'result':{'resultType':'input_required'}", BTZ_MCP_FAULT_INVALID, BTZ_MCP_FAULT_INVALID},
        {"'result':{'resultType':'input_required','requestState':1}", BTZ_MCP_FAULT_INVALID,
         BTZ_MCP_FAULT_INVALID},
        {"'result':{'content':[],'resultType':'task'}", BTZ_MCP_FAULT_NONE, BTZ_MCP_FAULT_INVALID},
        {"'result':{'content':[],'resultType':null}", BTZ_MCP_FAULT_NONE, BTZ_MCP_FAULT_INVALID},
        {"'error':{'code':-32602,'message':'Unknown tool','data':{'x':1}}", BTZ_MCP_FAULT_REMOTE,
         BTZ_MCP_FAULT_REMOTE},
        {"'error':{'code':'x','message':'m'}", BTZ_MCP_FAULT_INVALID, BTZ_MCP_FAULT_INVALID},
    };

    (void)state;
    for (size_t i = 0; i < 2 * (sizeof(rows) / sizeof(rows[0])); i++) {
        bool is_modern = i % 2;
        enum btz_mcp_fault want = is_modern ? rows[i / 2].modern : rows[i / 2].legacy;
        struct btz_mcp_client *client = is_modern ? open_modern(modern) : open_legacy(legacy);
        struct btz_mcp_client_event event;
        struct btz_str bytes;
        uint64_t id = 0;
        char text[512];

        assert_int_equal(btz_mcp_client_call_tool(client, BTZ_STR("a"), NULL, &id), BTZ_OK);
        assert_true(btz_mcp_client_next_out(client, &bytes));
        snprintf(text, sizeof(text), "{'jsonrpc':'2.0','id':2,%s}", rows[i / 2].answer);
        client_in(client, q(text));
        if (want == BTZ_MCP_FAULT_INVALID) {
            event = client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
            assert_int_equal(event.request, id);
        }
        event = client_event(client, BTZ_MCP_CLIENT_RESULT);
        if (event.fault != want) {
            fail_msg("%s: fault %d, want %d: %.*s", text, (int)event.fault, (int)want,
                     BTZ_FMT(event.message));
        }
        assert_int_equal(event.request, id);
        assert_true(!event.value == (want != BTZ_MCP_FAULT_NONE));
        if (want == BTZ_MCP_FAULT_REMOTE) {
            assert_int_equal(event.code, -32602);
            assert_text(event.message, "Unknown tool");
            assert_json(event.data, q("{'x':1}"));
        }
        client_quiet(client);
        /* A second answer to the same id is late. */
        client_in(client, q("{'jsonrpc':'2.0','id':2,'result':{'content':[]}}"));
        client_quiet(client);
        assert_int_equal(btz_mcp_client_stats(client).late, 1);
        btz_mcp_client_free(client);
    }
}

static void answers_find_their_requests(void **state)
{
    struct btz_mcp_client *client = open_modern(modern);
    struct btz_mcp_client_event event;
    uint64_t call = 0;
    uint64_t read = 0;

    (void)state;
    assert_int_equal(btz_mcp_client_call_tool(client, BTZ_STR("a"), NULL, &call), BTZ_OK);
    assert_int_equal(btz_mcp_client_read_resource(client, BTZ_STR("u"), &read), BTZ_OK);
    client_in(client, q("{'jsonrpc':'2.0','id':'2','result':{'content':[]}}"));
    client_in(client, q("{'jsonrpc':'2.0','id':99,'result':{'content':[]}}"));
    client_in(client, q("{'jsonrpc':'2.0','id':-2,'result':{'content':[]}}"));
    client_in(client, q("{'jsonrpc':'2.0','id':0,'error':{'code':1,'message':''}}"));
    assert_false(btz_mcp_client_next_event(client, &event));
    assert_int_equal(btz_mcp_client_stats(client).unknown_id, 4);
    client_in(client,
              q("{'jsonrpc':'2.0','id':3,'result':{'contents':[],'resultType':'complete'}}"));
    assert_int_equal(client_event(client, BTZ_MCP_CLIENT_RESULT).request, read);
    client_in(client,
              q("{'jsonrpc':'2.0','id':2,'result':{'content':[],'resultType':'complete'}}"));
    assert_int_equal(client_event(client, BTZ_MCP_CLIENT_RESULT).request, call);
    assert_int_equal(btz_mcp_client_read_resource(client, BTZ_STR("u"), &read), BTZ_OK);
    client_in(client, q("{'jsonrpc':'2.0','id':4,'result':{'contents':[{}]}}"));
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    assert_int_equal(client_event(client, BTZ_MCP_CLIENT_RESULT).fault, BTZ_MCP_FAULT_INVALID);
    btz_mcp_client_free(client);
}

static void cancelling(void **state)
{
    struct btz_mcp_client *client = make_client(legacy);
    struct btz_str bytes;
    uint64_t id = 0;

    (void)state;
    assert_int_equal(btz_mcp_client_cancel(client, 1, BTZ_STR_NONE), BTZ_ESTATE);
    assert_int_equal(btz_mcp_client_start(client), BTZ_OK);
    assert_int_equal(btz_mcp_client_cancel(client, 1, BTZ_STR_NONE), BTZ_ESTATE);
    btz_mcp_client_free(client);
    client = open_legacy(legacy);
    assert_int_equal(btz_mcp_client_call_tool(client, BTZ_STR("a"), NULL, &id), BTZ_OK);
    assert_true(btz_mcp_client_next_out(client, &bytes));
    assert_int_equal(btz_mcp_client_cancel(client, 77, BTZ_STR_NONE), BTZ_ENOTFOUND);
    assert_int_equal(btz_mcp_client_cancel(client, id, BTZ_STR("time-out")), BTZ_OK);
    client_out(client, q("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{"
                         "'requestId':2,'reason':'time-out'}}"));
    assert_int_equal(btz_mcp_client_cancel(client, id, BTZ_STR_NONE), BTZ_ENOTFOUND);
    client_in(client, q("{'jsonrpc':'2.0','id':2,'result':{'content':[]}}"));
    client_quiet(client);
    assert_int_equal(btz_mcp_client_stats(client).late, 1);
    /* A list is cancelled by the id of the page that is out. */
    assert_int_equal(btz_mcp_client_list_tools(client, &id), BTZ_OK);
    client_out(client, q("{'jsonrpc':'2.0','id':3,'method':'tools/list'}"));
    client_in(client, q("{'jsonrpc':'2.0','id':3,'result':{'tools':[],'nextCursor':'n'}}"));
    client_out(client, q("{'jsonrpc':'2.0','id':4,'method':'tools/list','params':{'cursor':'n'}}"));
    assert_int_equal(btz_mcp_client_cancel(client, id, BTZ_STR_NONE), BTZ_OK);
    client_out(client, q("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{"
                         "'requestId':4}}"));
    client_quiet(client);
    btz_mcp_client_free(client);
}

static void server_requests(void **state)
{
    struct btz_mcp_client *client = open_legacy(legacy);

    (void)state;
    client_in(client, q("{'jsonrpc':'2.0','id':'p','method':'ping'}"));
    client_out(client, q("{'jsonrpc':'2.0','id':'p','result':{}}"));
    client_in(client, q("{'jsonrpc':'2.0','id':2,'method':'sampling/createMessage','params':{}}"));
    client_out(client, q("{'jsonrpc':'2.0','id':2,'error':{'code':-32601,'message':'this client "
                         "offers no such method'}}"));
    client_in(client, q("{'jsonrpc':'2.0','id':3,'method':'roots/list'}"));
    client_out(client, q("{'jsonrpc':'2.0','id':3,'error':{'code':-32601,'message':'this client "
                         "offers no such method'}}"));
    client_quiet(client);
    assert_int_equal(btz_mcp_client_stats(client).refused, 2);
    btz_mcp_client_free(client);
    /* Modern servers must not ask: nothing is answered. */
    client = open_modern(modern);
    client_in(client, q("{'jsonrpc':'2.0','id':'p','method':'ping'}"));
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    client_in(client, q("{'jsonrpc':'2.0','id':1,'method':'elicitation/create','params':{}}"));
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    client_quiet(client);
    assert_int_equal(btz_mcp_client_stats(client).refused, 2);
    btz_mcp_client_free(client);
}

static void progress(void **state)
{
    struct btz_mcp_client *client = open_modern((struct btz_mcp_client_options){.progress = true});
    struct btz_mcp_client_event event;
    struct btz_str bytes;
    uint64_t id = 0;

    (void)state;
    assert_int_equal(btz_mcp_client_call_tool(client, BTZ_STR("a"), NULL, &id), BTZ_OK);
    assert_true(btz_mcp_client_next_out(client, &bytes));
#define PROGRESS(rest) q("{'jsonrpc':'2.0','method':'notifications/progress','params':{" rest "}}")
    client_in(client, PROGRESS("'progressToken':2,'progress':0.5,'total':4,'message':'m'"));
    event = client_event(client, BTZ_MCP_CLIENT_PROGRESS);
    assert_int_equal(event.request, id);
    assert_true(event.progress == 0.5 && event.total == 4);
    assert_text(event.message, "m");
    client_in(client, PROGRESS("'progressToken':2,'progress':1"));
    event = client_event(client, BTZ_MCP_CLIENT_PROGRESS);
    assert_true(event.progress == 1 && event.total < 0);
    /* It must grow; foreign, missing and finished tokens are dropped in silence. */
    client_in(client, PROGRESS("'progressToken':2,'progress':1"));
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    client_in(client, PROGRESS("'progressToken':2,'progress':'2'"));
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    client_in(client, PROGRESS("'progressToken':'2','progress':2"));
    client_in(client, PROGRESS("'progressToken':9,'progress':2"));
    client_in(client, PROGRESS("'progress':2"));
    client_in(client, q("{'jsonrpc':'2.0','method':'notifications/progress'}"));
    client_in(client, q("{'jsonrpc':'2.0','id':2,'result':{'content':[]}}"));
    client_event(client, BTZ_MCP_CLIENT_RESULT);
    client_in(client, PROGRESS("'progressToken':2,'progress':3"));
    client_quiet(client);
    assert_int_equal(btz_mcp_client_stats(client).ignored, 7);
    btz_mcp_client_free(client);
    /* Without the option no token was given. */
    client = open_legacy(legacy);
    assert_int_equal(btz_mcp_client_call_tool(client, BTZ_STR("a"), NULL, &id), BTZ_OK);
    client_in(client, PROGRESS("'progressToken':2,'progress':1"));
    assert_false(btz_mcp_client_next_event(client, &event));
    btz_mcp_client_free(client);
}

static void log_messages(void **state)
{
    struct btz_mcp_client *client =
        open_modern((struct btz_mcp_client_options){.log_level = BTZ_STR("warning")});
    const char *warning = q("{'jsonrpc':'2.0','method':'notifications/message','params':{'level':"
                            "'warning','logger':'db','data':{'Level':1}}}");
    struct btz_mcp_client_event event;
    struct btz_str bytes;

    (void)state;
    client_in(client, warning); /* no request is out */
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    assert_int_equal(btz_mcp_client_call_tool(client, BTZ_STR("a"), NULL, NULL), BTZ_OK);
    assert_true(btz_mcp_client_next_out(client, &bytes));
    client_in(client, warning);
    event = client_event(client, BTZ_MCP_CLIENT_LOG);
    assert_int_equal(event.level, 3);
    assert_text(event.message, "db");
    assert_json(event.value, q("{'Level':1}"));
    client_in(client, q("{'jsonrpc':'2.0','method':'notifications/message','params':{'level':"
                        "'info','data':1}}"));
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    client_in(client, q("{'jsonrpc':'2.0','method':'notifications/message','params':{'level':"
                        "'loud','data':1}}"));
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    client_quiet(client);
    btz_mcp_client_free(client);
    client = open_legacy(legacy); /* there the server may always log */
    client_in(client, q("{'jsonrpc':'2.0','method':'notifications/message','params':{'level':"
                        "'debug','data':'d'}}"));
    assert_json(client_event(client, BTZ_MCP_CLIENT_LOG).value, "\"d\"");
    client_in(client, q("{'jsonrpc':'2.0','method':'notifications/message','params':{'level':"
                        "'debug'}}"));
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    btz_mcp_client_free(client);
}

#define ACK(id, filter)                                                                            \
    q("{'jsonrpc':'2.0','method':'notifications/subscriptions/acknowledged','params':{'_meta':"    \
      "{'io.modelcontextprotocol/subscriptionId':" id "},'notifications':" filter "}}")
#define CHANGED(list, id)                                                                          \
    q("{'jsonrpc':'2.0','method':'notifications/" list "/list_changed','params':{'_meta':"         \
      "{'io.modelcontextprotocol/subscriptionId':" id "}}}")

static void listen_streams(void **state)
{
    struct btz_mcp_client *client = open_modern(modern);
    struct btz_mcp_client_event event;
    struct btz_str bytes;
    uint64_t id = 0;

    (void)state;
    assert_int_equal(
        btz_mcp_client_listen(client, BTZ_MCP_LIST_TOOLS | BTZ_MCP_LIST_RESOURCES, &id), BTZ_OK);
    assert_true(btz_mcp_client_next_out(client, &bytes));
    /* Nothing counts before the acknowledgement, nor under another id, nor untagged. */
    client_in(client, CHANGED("tools", "2"));
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    client_in(client, ACK("'2'", "{'toolsListChanged':true}"));
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    client_in(client, ACK("2", "[]"));
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    client_in(client, ACK("2", "{'toolsListChanged':true,'promptsListChanged':true}"));
    event = client_event(client, BTZ_MCP_CLIENT_LISTENING);
    assert_int_equal(event.request, id);
    assert_int_equal(event.changed, BTZ_MCP_LIST_TOOLS); /* prompts were not asked for */
    client_in(client, ACK("2", "{'toolsListChanged':true}"));
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    client_in(client, CHANGED("tools", "2"));
    client_in(client, CHANGED("tools", "2")); /* the owner has not seen the first: one is enough */
    event = client_event(client, BTZ_MCP_CLIENT_LIST_CHANGED);
    assert_int_equal(event.request, id);
    assert_int_equal(event.changed, BTZ_MCP_LIST_TOOLS);
    client_quiet(client);
    client_in(client, CHANGED("tools", "2"));
    client_event(client, BTZ_MCP_CLIENT_LIST_CHANGED);
    client_in(client, CHANGED("resources", "2"));
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    client_in(client, CHANGED("prompts", "2"));
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    client_in(client, CHANGED("tools", "3"));
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    client_in(client, q("{'jsonrpc':'2.0','method':'notifications/tools/list_changed'}"));
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    client_quiet(client);
    /* The owner ends it. */
    assert_int_equal(btz_mcp_client_cancel(client, id, BTZ_STR_NONE), BTZ_OK);
    client_out(client, q("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{"
                         "'requestId':2}}"));
    client_in(client, CHANGED("tools", "2"));
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    client_quiet(client);
    btz_mcp_client_free(client);
}

/* The specification's pages differ about the end: a notification, a result, or both. */
static void ends_of_streams(void **state)
{
    static const char *const ends[][2] = {
        {"{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':2}}", NULL},
        {"{'jsonrpc':'2.0','id':2,'result':{'resultType':'complete','_meta':{"
         "'io.modelcontextprotocol/subscriptionId':2}}}",
         NULL},
        {"{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':2}}",
         "{'jsonrpc':'2.0','id':2,'result':{'resultType':'complete'}}"},
        {"{'jsonrpc':'2.0','id':2,'error':{'code':-32603,'message':'too many'}}", NULL},
        {"{'jsonrpc':'2.0','id':2,'result':{'resultType':'complete','_meta':{"
         "'io.modelcontextprotocol/subscriptionId':3}}}",
         NULL},
    };

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        struct btz_mcp_client *client = open_modern(modern);
        struct btz_mcp_client_event event;
        struct btz_str bytes;

        assert_int_equal(btz_mcp_client_listen(client, BTZ_MCP_LIST_TOOLS, NULL), BTZ_OK);
        assert_true(btz_mcp_client_next_out(client, &bytes));
        client_in(client, ACK("2", "{'toolsListChanged':true}"));
        client_event(client, BTZ_MCP_CLIENT_LISTENING);
        client_in(client, q(ends[i][0]));
        if (i == 4) {
            client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
        }
        event = client_event(client, BTZ_MCP_CLIENT_LISTEN_ENDED);
        assert_int_equal(event.request, 2);
        assert_int_equal(event.fault, i == 3   ? BTZ_MCP_FAULT_REMOTE
                                      : i == 4 ? BTZ_MCP_FAULT_INVALID
                                               : BTZ_MCP_FAULT_NONE);
        if (ends[i][1]) {
            client_in(client, q(ends[i][1]));
            assert_int_equal(btz_mcp_client_stats(client).late, 1);
        }
        client_quiet(client);
        assert_int_equal(btz_mcp_client_in_flight(client), 0);
        btz_mcp_client_free(client);
    }
}

static void notifications(void **state)
{
    struct btz_mcp_client *client = open_legacy(legacy);
    struct btz_mcp_client_event event;

    (void)state;
    client_in(client, q("{'jsonrpc':'2.0','method':'notifications/tools/list_changed'}"));
    client_in(client, q("{'jsonrpc':'2.0','method':'notifications/resources/list_changed'}"));
    client_in(client, q("{'jsonrpc':'2.0','method':'notifications/prompts/list_changed'}"));
    client_in(client, q("{'jsonrpc':'2.0','method':'notifications/tools/list_changed'}"));
    assert_int_equal(client_event(client, BTZ_MCP_CLIENT_LIST_CHANGED).changed, BTZ_MCP_LIST_TOOLS);
    assert_int_equal(client_event(client, BTZ_MCP_CLIENT_LIST_CHANGED).changed,
                     BTZ_MCP_LIST_RESOURCES);
    assert_int_equal(client_event(client, BTZ_MCP_CLIENT_LIST_CHANGED).changed,
                     BTZ_MCP_LIST_PROMPTS);
    client_quiet(client);
    client_in(client, q("{'jsonrpc':'2.0','method':'notifications/resources/updated','params':{"
                        "'uri':'u'}}"));
    client_in(client, q("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{"
                        "'requestId':1}}"));
    client_quiet(client);
    /* Not for servers, not of this era, not known, not a notification. */
    client_in(client, q("{'jsonrpc':'2.0','method':'notifications/initialized'}"));
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    client_in(client, ACK("1", "{}"));
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    client_in(client, q("{'jsonrpc':'2.0','method':'notifications/other'}"));
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    client_in(client, q("{'jsonrpc':'2.0','method':'tools/list'}"));
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    client_quiet(client);
    assert_int_equal(btz_mcp_client_stats(client).ignored, 6);
    btz_mcp_client_free(client);
    client = open_modern(modern);
    assert_int_equal(btz_mcp_client_call_tool(client, BTZ_STR("a"), NULL, NULL), BTZ_OK);
    client_in(client, q("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{"
                        "'requestId':2}}"));
    event = client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    assert_true(event.message.len > 0);
    assert_int_equal(btz_mcp_client_in_flight(client), 1);
    btz_mcp_client_free(client);
}

static void bounds(void **state)
{
    struct btz_mcp_client *client = open_legacy((struct btz_mcp_client_options){
        .max_in_flight = 2, .max_events = 2, .max_out_bytes = 2000});
    struct btz_mcp_client_event event;
    size_t pings = 0;
    int rc;

    (void)state;
    assert_int_equal(btz_mcp_client_call_tool(client, BTZ_STR("a"), NULL, NULL), BTZ_OK);
    assert_int_equal(btz_mcp_client_ping(client, NULL), BTZ_OK);
    assert_int_equal(btz_mcp_client_ping(client, NULL), BTZ_ELIMIT);
    for (unsigned i = 0; i < 5; i++) {
        client_in(client, "noise");
    }
    assert_int_equal(btz_mcp_client_stats(client).dropped_events, 3);
    client_in(client, q("{'jsonrpc':'2.0','method':'notifications/message','params':{'level':"
                        "'debug','data':'d'}}"));
    assert_int_equal(btz_mcp_client_stats(client).dropped_events, 4);
    /* Results and changes are never dropped. */
    client_in(client, q("{'jsonrpc':'2.0','id':2,'result':{'content':[]}}"));
    client_in(client, q("{'jsonrpc':'2.0','method':'notifications/tools/list_changed'}"));
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    client_event(client, BTZ_MCP_CLIENT_RESULT);
    client_event(client, BTZ_MCP_CLIENT_LIST_CHANGED);
    assert_false(btz_mcp_client_next_event(client, &event));
    /* A server that floods a client which cannot write. */
    while ((rc = btz_mcp_client_feed(
                client, btz_str_of(q("{'jsonrpc':'2.0','id':1,'method':'ping'}")))) == BTZ_OK) {
        assert_true(++pings < 100);
    }
    assert_int_equal(rc, BTZ_ELIMIT);
    assert_int_equal(client_event(client, BTZ_MCP_CLIENT_FAILED).fault, BTZ_MCP_FAULT_LIMIT);
    assert_int_equal(btz_mcp_client_in_flight(client), 0);
    btz_mcp_client_free(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_on_the_wire),
        cmocka_unit_test(lists),
        cmocka_unit_test(bad_lists),
        cmocka_unit_test(endless_lists),
        cmocka_unit_test(long_cursors),
        cmocka_unit_test(call_answers),
        cmocka_unit_test(answers_find_their_requests),
        cmocka_unit_test(cancelling),
        cmocka_unit_test(server_requests),
        cmocka_unit_test(progress),
        cmocka_unit_test(log_messages),
        cmocka_unit_test(listen_streams),
        cmocka_unit_test(ends_of_streams),
        cmocka_unit_test(notifications),
        cmocka_unit_test(bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
