/* What a server may ask of the client: requests of the legacy era, input_required of the modern
 * one. Exact bytes. */
#include "helper.h"

#include <stdio.h>

#define FORM "{'message':'Sure?','requestedSchema':{'type':'object','properties':{}}}"
#define SAMPLE "{'messages':[],'maxTokens':10}"
#define ALL "{'elicitation':{},'sampling':{},'roots':{}}"
#define META                                                                                       \
    "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"                             \
    "'io.modelcontextprotocol/clientCapabilities':" ALL ","                                        \
    "'io.modelcontextprotocol/clientInfo':{'name':'t','version':'1'}}"

static struct btz_mcp_client *open_client(bool modern, const char *capabilities)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_mcp_client *client = make_client((struct btz_mcp_client_options){
        .mode = modern ? BTZ_MCP_CLIENT_MODERN : BTZ_MCP_CLIENT_LEGACY,
        .capabilities = json(arena, q(capabilities)),
        .max_rounds = 3,
        .max_asks = 2,
        .max_events = 4});
    struct btz_str bytes;

    assert_int_equal(btz_mcp_client_start(client), BTZ_OK);
    assert_true(btz_mcp_client_next_out(client, &bytes));
    client_in(client, modern ? q("{'jsonrpc':'2.0','id':1,'result':{'resultType':'complete',"
                                 "'supportedVersions':['2026-07-28'],'capabilities':{}}}")
                             : q("{'jsonrpc':'2.0','id':1,'result':{'protocolVersion':"
                                 "'2025-11-25','capabilities':{},'serverInfo':{'name':'s',"
                                 "'version':'1'}}}"));
    client_event(client, BTZ_MCP_CLIENT_READY);
    if (!modern) {
        client_out(client, q("{'jsonrpc':'2.0','method':'notifications/initialized'}"));
    }
    btz_arena_free(arena);
    return client;
}

static int answer(struct btz_mcp_client *client, uint64_t ask, const char *result)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_err err;
    int rc = btz_mcp_client_answer(client, ask, json(arena, q(result)), &err);

    btz_arena_free(arena);
    return rc;
}

static void legacy_asks(void **state)
{
    static const struct {
        const char *method, *params, *bad, *good;
    } rows[] = {
        {"elicitation/create", FORM, "{'action':'maybe'}", "{'action':'decline'}"},
        {"elicitation/create", FORM, "{'content':{}}", "{'action':'accept','content':{'a':1}}"},
        {"sampling/createMessage", SAMPLE,
         "{'role':'assistant','content':{'type':'text','text':"
         "'t'}}",
         "{'model':'m','role':'assistant','content':{'type':'text','text':'t'}}"},
        {"sampling/createMessage", SAMPLE, "{'model':'m','role':'assistant'}",
         "{'model':'m','role':'assistant','content':[{'type':'text','text':'t'}]}"},
        {"roots/list", NULL, "{'roots':[{'name':'n'}]}", "{'roots':[{'uri':'file:///r'}]}"},
    };
    struct btz_mcp_client *client = open_client(false, ALL);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct btz_mcp_client_event event;
        char text[512];

        snprintf(text, sizeof(text), "{'jsonrpc':'2.0','id':'s%zu','method':'%s'%s%s}", i,
                 rows[i].method, rows[i].params ? ",'params':" : "",
                 rows[i].params ? rows[i].params : "");
        client_in(client, q(text));
        event = client_event(client, BTZ_MCP_CLIENT_ASKED);
        assert_text(event.method, rows[i].method);
        if (rows[i].params) {
            assert_json(event.params, q(rows[i].params));
        } else {
            assert_null(event.params);
        }
        assert_int_equal(answer(client, event.ask, rows[i].bad), BTZ_EINVAL);
        client_quiet(client);
        assert_int_equal(answer(client, event.ask, rows[i].good), BTZ_OK);
        snprintf(text, sizeof(text), "{'jsonrpc':'2.0','id':'s%zu','result':%s}", i, rows[i].good);
        client_out(client, q(text));
        assert_int_equal(answer(client, event.ask, rows[i].good), BTZ_ENOTFOUND);
    }
    client_in(client, q("{'jsonrpc':'2.0','id':7,'method':'roots/list'}"));
    assert_int_equal(btz_mcp_client_answer_error(client,
                                                 client_event(client, BTZ_MCP_CLIENT_ASKED).ask, -1,
                                                 BTZ_STR("the user refused"), NULL),
                     BTZ_OK);
    client_out(client, q("{'jsonrpc':'2.0','id':7,'error':{'code':-1,'message':'the user refused'"
                         "}}"));
    assert_int_equal(btz_mcp_client_answer_error(client, 99, -1, BTZ_STR("m"), NULL),
                     BTZ_ENOTFOUND);
    assert_int_equal(btz_mcp_client_stats(client).refused, 0);
    client_in(client, q("{'jsonrpc':'2.0','id':8,'method':'roots/list'}"));
    btz_mcp_client_close(client);
    assert_int_equal(answer(client, 7, "{'roots':[]}"), BTZ_ESTATE);
    assert_int_equal(btz_mcp_client_answer_error(client, 7, -1, BTZ_STR("m"), NULL), BTZ_ESTATE);
    btz_mcp_client_free(client);
}

static void refused(struct btz_mcp_client *client, const char *request, const char *id, int code)
{
    char text[256];
    struct btz_str bytes;

    client_in(client, q(request));
    assert_true(btz_mcp_client_next_out(client, &bytes));
    snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,", id,
             code);
    if (!btz_str_starts(bytes, btz_str_of(text))) {
        fail_msg("\n got: %.*s\nwant: %s", BTZ_FMT(bytes), text);
    }
}

static void legacy_refusals(void **state)
{
    struct btz_mcp_client *client = open_client(false, "{'elicitation':{},'sampling':{}}");

    (void)state;
    refused(client, "{'jsonrpc':'2.0','id':1,'method':'roots/list'}", "1", BTZ_MCP_E_METHOD);
    refused(client, "{'jsonrpc':'2.0','id':1,'method':'tools/list'}", "1", BTZ_MCP_E_METHOD);
    refused(client, "{'jsonrpc':'2.0','id':1,'method':'tasks/get'}", "1", BTZ_MCP_E_METHOD);
    refused(client, "{'jsonrpc':'2.0','id':1,'method':'nothing'}", "1", BTZ_MCP_E_METHOD);
    refused(client,
            "{'jsonrpc':'2.0','id':1,'method':'elicitation/create','params':{'mode':'url',"
            "'message':'m','url':'u'}}",
            "1", BTZ_MCP_E_METHOD);
    refused(client, "{'jsonrpc':'2.0','id':1,'method':'elicitation/create','params':{}}", "1",
            BTZ_MCP_E_PARAMS);
    refused(client, "{'jsonrpc':'2.0','id':1,'method':'elicitation/create'}", "1",
            BTZ_MCP_E_PARAMS);
    client_in(client,
              q("{'jsonrpc':'2.0','id':1,'method':'elicitation/create','params':" FORM "}"));
    refused(client,
            "{'jsonrpc':'2.0','id':1,'method':'sampling/createMessage','params':" SAMPLE "}", "1",
            BTZ_MCP_E_REQUEST);
    client_in(
        client,
        q("{'jsonrpc':'2.0','id':'1','method':'sampling/createMessage','params':" SAMPLE "}"));
    refused(client,
            "{'jsonrpc':'2.0','id':2,'method':'sampling/createMessage','params':" SAMPLE "}", "2",
            BTZ_MCP_E_INTERNAL); /* two are open */
    client_event(client, BTZ_MCP_CLIENT_ASKED);
    client_event(client, BTZ_MCP_CLIENT_ASKED);
    client_quiet(client);
    btz_mcp_client_free(client);
}

/* The server gives up; asking and cancelling in turn fills no queue. */
static void legacy_cancelled(void **state)
{
    struct btz_mcp_client *client = open_client(false, ALL);
    struct btz_mcp_client_event event;
    size_t asked = 0;

    (void)state;
    client_in(client, q("{'jsonrpc':'2.0','id':'e','method':'roots/list'}"));
    event = client_event(client, BTZ_MCP_CLIENT_ASKED);
    client_in(client, q("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{"
                        "'requestId':'e','reason':'late'}}"));
    assert_int_equal(client_event(client, BTZ_MCP_CLIENT_ASK_CANCELLED).ask, event.ask);
    assert_int_equal(answer(client, event.ask, "{'roots':[]}"), BTZ_ENOTFOUND);
    client_in(client, q("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{"
                        "'requestId':'e'}}"));
    client_quiet(client);
    for (unsigned i = 0; i < 20; i++) {
        struct btz_str bytes;

        client_in(client, q("{'jsonrpc':'2.0','id':'e','method':'roots/list'}"));
        client_in(client, q("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{"
                            "'requestId':'e'}}"));
        (void)btz_mcp_client_next_out(client, &bytes);
    }
    while (btz_mcp_client_next_event(client, &event)) {
        asked++;
    }
    assert_int_equal(asked, 4); /* max_events */
    btz_mcp_client_free(client);
}

static int inputs(struct btz_mcp_client *client, uint64_t request, const char *responses)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_err err;
    int rc = btz_mcp_client_answer_inputs(client, request, json(arena, q(responses)), &err);

    btz_arena_free(arena);
    return rc;
}

#define INPUT(id, members)                                                                         \
    "{'jsonrpc':'2.0','id':" id ",'result':{'resultType':'input_required'," members "}}"
#define OK_INPUT "{'ok':{'method':'elicitation/create','params':" FORM "}}"
#define CALL "'name':'wire_funds','arguments':{'eur':40}"
#define REQUEST(id, members)                                                                       \
    "{'jsonrpc':'2.0','id':" id ",'method':'tools/call','params':{" META "," members "}}"

/* The exchange of the brief: new ids, the same arguments, the identical state, one number for the
 * owner. */
static void modern_rounds(void **state)
{
    struct btz_mcp_client *client = open_client(true, ALL);
    struct btz_arena *arena = btz_arena_new();
    struct btz_mcp_client_event event;
    struct btz_mcp_out out;
    uint64_t request = 0;

    (void)state;
    assert_int_equal(btz_mcp_client_call_tool(client, BTZ_STR("wire_funds"),
                                              json(arena, q("{'eur':40}")), &request),
                     BTZ_OK);
    btz_arena_reset(arena); /* the machine must not lean on the owner's arguments any more */
    client_out(client, q(REQUEST("2", CALL)));
    client_in(client,
              q(INPUT("2", "'requestState':'v1.Zx\xE2\x80\xA6','inputRequests':" OK_INPUT)));
    event = client_event(client, BTZ_MCP_CLIENT_INPUT);
    assert_int_equal(event.request, request);
    assert_int_equal(event.round, 1);
    assert_json(event.value, q(OK_INPUT));
    assert_int_equal(btz_mcp_client_in_flight(client), 1);
    /* Nothing is out now: a second answer to the old id is a late one. */
    client_in(client, q("{'jsonrpc':'2.0','id':2,'result':{'content':[]}}"));
    client_quiet(client);
    assert_int_equal(btz_mcp_client_stats(client).late, 1);
    assert_int_equal(inputs(client, request, "{'other':{'action':'accept'}}"), BTZ_EINVAL);
    assert_int_equal(inputs(client, request, "{'ok':{'action':7}}"), BTZ_EINVAL);
    assert_int_equal(inputs(client, request, "[]"), BTZ_EINVAL);
    assert_int_equal(inputs(client, 99, "{}"), BTZ_ENOTFOUND);
    client_quiet(client);
    assert_int_equal(inputs(client, request, "{'ok':{'action':'accept','content':{'yes':true}}}"),
                     BTZ_OK);
    assert_true(btz_mcp_client_next_out_full(client, &out));
    assert_text(out.bytes,
                q(REQUEST("3", CALL ",'inputResponses':{'ok':{'action':'accept','content':{'yes':"
                                    "true}}},'requestState':'v1.Zx\xE2\x80\xA6'")));
    assert_text(out.name, "wire_funds");
    assert_int_equal(inputs(client, request, "{}"), BTZ_ENOTFOUND);
    /* The server asks again, without a state this time: none is sent. */
    client_in(client, q(INPUT("3", "'inputRequests':{'r':{'method':'roots/list'}}")));
    event = client_event(client, BTZ_MCP_CLIENT_INPUT);
    assert_int_equal(event.round, 2);
    assert_int_equal(inputs(client, request, "{'ok':{'action':'accept'}}"), BTZ_EINVAL);
    assert_int_equal(inputs(client, request, "{'r':{'roots':[]}}"), BTZ_OK);
    client_out(client, q(REQUEST("4", CALL ",'inputResponses':{'r':{'roots':[]}}")));
    client_in(client, q("{'jsonrpc':'2.0','id':4,'result':{'resultType':'complete','content':["
                        "{'type':'text','text':'sent'}]}}"));
    event = client_event(client, BTZ_MCP_CLIENT_RESULT);
    assert_int_equal(event.request, request);
    assert_int_equal(event.fault, BTZ_MCP_FAULT_NONE);
    assert_int_equal(btz_mcp_client_in_flight(client), 0);
    client_quiet(client);
    btz_arena_free(arena);
    btz_mcp_client_free(client);
}

/* "Come again with this state" needs no owner; the number of rounds is bounded. */
static void modern_state_alone(void **state)
{
    struct btz_mcp_client *client = open_client(true, ALL);
    struct btz_mcp_client_event event;

    (void)state;
    assert_int_equal(btz_mcp_client_read_resource(client, BTZ_STR("u:1"), NULL), BTZ_OK);
    client_out(client, q("{'jsonrpc':'2.0','id':2,'method':'resources/read','params':{" META
                         ",'uri':'u:1'}}"));
    client_in(client, q(INPUT("2", "'requestState':'a'")));
    client_out(client, q("{'jsonrpc':'2.0','id':3,'method':'resources/read','params':{" META
                         ",'uri':'u:1','requestState':'a'}}"));
    client_in(client, q(INPUT("3", "'requestState':'','inputRequests':{}")));
    client_out(client, q("{'jsonrpc':'2.0','id':4,'method':'resources/read','params':{" META
                         ",'uri':'u:1','requestState':''}}"));
    client_in(client, q(INPUT("4", "'requestState':'c'")));
    client_out(client, q("{'jsonrpc':'2.0','id':5,'method':'resources/read','params':{" META
                         ",'uri':'u:1','requestState':'c'}}"));
    client_in(client, q(INPUT("5", "'requestState':'d'")));
    event = client_event(client, BTZ_MCP_CLIENT_RESULT);
    assert_int_equal(event.request, 2);
    assert_int_equal(event.fault, BTZ_MCP_FAULT_LIMIT);
    client_quiet(client);
    btz_mcp_client_free(client);
}

static void modern_refusals(void **state)
{
    static const struct {
        const char *capabilities, *members;
        enum btz_mcp_fault fault;
    } rows[] = {
        {"{}", "'inputRequests':" OK_INPUT, BTZ_MCP_FAULT_INPUT},
        {"{'sampling':{}}", "'inputRequests':" OK_INPUT ",'requestState':'s'", BTZ_MCP_FAULT_INPUT},
        {ALL,
         "'inputRequests':{'k':{'method':'elicitation/create','params':{'mode':'url',"
         "'message':'m','url':'u'}}}",
         BTZ_MCP_FAULT_INPUT},
        {ALL, "'inputRequests':{}", BTZ_MCP_FAULT_INVALID},
        {ALL, "'inputRequests':[]", BTZ_MCP_FAULT_INVALID},
        {ALL, "'inputRequests':{'k':{'method':'ping'}}", BTZ_MCP_FAULT_INVALID},
        {ALL, "'inputRequests':{'k':{'method':'sampling/createMessage','params':{}}}",
         BTZ_MCP_FAULT_INVALID},
        {ALL, "'requestState':null", BTZ_MCP_FAULT_INVALID},
        {ALL, "'x':1", BTZ_MCP_FAULT_INVALID},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct btz_mcp_client *client = open_client(true, rows[i].capabilities);
        struct btz_mcp_client_event event;
        struct btz_str bytes;
        char text[512];

        assert_int_equal(btz_mcp_client_get_prompt(client, BTZ_STR("p"), NULL, NULL), BTZ_OK);
        assert_true(btz_mcp_client_next_out(client, &bytes));
        snprintf(text, sizeof(text), INPUT("2", "%s"), rows[i].members);
        client_in(client, q(text));
        if (rows[i].fault == BTZ_MCP_FAULT_INVALID) {
            client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
        }
        event = client_event(client, BTZ_MCP_CLIENT_RESULT);
        if (event.fault != rows[i].fault) {
            fail_msg("row %zu: %.*s", i, BTZ_FMT(event.message));
        }
        client_quiet(client);
        btz_mcp_client_free(client);
    }
}

/* A request that waits for inputs can be given up, without a message, and ends with the connection.
 */
static void modern_waiting(void **state)
{
    struct btz_mcp_client *client = open_client(true, ALL);
    struct btz_str bytes;
    uint64_t request = 0;

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        char text[512];

        assert_int_equal(btz_mcp_client_call_tool(client, BTZ_STR("t"), NULL, &request), BTZ_OK);
        assert_true(btz_mcp_client_next_out(client, &bytes));
        snprintf(text, sizeof(text), INPUT("%u", "'inputRequests':" OK_INPUT), i + 2);
        client_in(client, q(text));
        client_event(client, BTZ_MCP_CLIENT_INPUT);
        if (!i) {
            assert_int_equal(btz_mcp_client_cancel(client, request, BTZ_STR("no")), BTZ_OK);
            client_quiet(client);
            assert_int_equal(inputs(client, request, "{}"), BTZ_ENOTFOUND);
            assert_int_equal(btz_mcp_client_in_flight(client), 0);
        }
    }
    btz_mcp_client_close(client);
    assert_int_equal(client_event(client, BTZ_MCP_CLIENT_RESULT).fault, BTZ_MCP_FAULT_CLOSED);
    assert_int_equal(inputs(client, request, "{}"), BTZ_ESTATE);
    btz_mcp_client_free(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(legacy_asks),        cmocka_unit_test(legacy_refusals),
        cmocka_unit_test(legacy_cancelled),   cmocka_unit_test(modern_rounds),
        cmocka_unit_test(modern_state_alone), cmocka_unit_test(modern_refusals),
        cmocka_unit_test(modern_waiting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
