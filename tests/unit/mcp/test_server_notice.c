/* Resource templates, subscriptions, log levels and progress: exact bytes in both eras. */
#include "helper.h"

#define TOOLS "[{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}]"
#define RESOURCES "[{\"uri\":\"u:1\",\"name\":\"n\"},{\"uri\":\"u:2\",\"name\":\"m\"}]"
#define TEMPLATES "[{\"uriTemplate\":\"x://{id}/data\",\"name\":\"x\"}]"
#define META "'_meta':{'io.modelcontextprotocol/serverInfo':{'name':'s','version':'1'}}"
#define NOTE(method, params)                                                                       \
    "{'jsonrpc':'2.0','method':'notifications/" method "','params':" params "}"
#define OK(id) "{'jsonrpc':'2.0','id':" id ",'result':{}}"

static struct btz_mcp_server *make(bool templates, bool open)
{
    struct btz_mcp_server *server = make_server(
        (struct btz_mcp_server_options){.logging = true, .subscribe = true, .max_subscriptions = 2},
        TOOLS, RESOURCES, templates ? TEMPLATES : NULL);

    if (open) {
        server_open(server, "2025-11-25");
    }
    return server;
}

/* The owner gets the expanded URI; one that does not exist has the code of the era. */
static void templates(void **state)
{
    (void)state;
    for (unsigned modern = 0; modern < 2; modern++) {
        struct btz_mcp_server *server = make(true, !modern);
        const char *uri = "'uri':'x://7/data'";
        const char *none = "'uri':'x://gone'";
        struct btz_arena *arena = btz_arena_new();
        uint64_t token;

        server_in(server, modern ? modern_request("1", "resources/templates/list", "{}", NULL)
                                 : legacy_request("1", "resources/templates/list", NULL));
        server_out(server,
                   modern ? q("{'jsonrpc':'2.0','id':1,'result':{'resultType':'complete',"
                              "'resourceTemplates':[{'uriTemplate':'x://{id}/data','name':'x'}],"
                              "'ttlMs':0,'cacheScope':'private'," META "}}")
                          : q("{'jsonrpc':'2.0','id':1,'result':{'resourceTemplates':[{"
                              "'uriTemplate':'x://{id}/data','name':'x'}]}}"));
        server_in(server, modern ? modern_request("2", "resources/read", "{}", uri)
                                 : legacy_request("2", "resources/read", uri));
        token = server_event(server, BTZ_MCP_SERVER_READ, "x://7/data");
        server_reply(server, token, q("{'contents':[{'uri':'x://7/data','text':'seven'}]}"));
        server_out(server,
                   modern ? q("{'jsonrpc':'2.0','id':2,'result':{'resultType':'complete',"
                              "'contents':[{'uri':'x://7/data','text':'seven'}],'ttlMs':0,"
                              "'cacheScope':'private'," META "}}")
                          : q("{'jsonrpc':'2.0','id':2,'result':{'contents':[{'uri':'x://7/data',"
                              "'text':'seven'}]}}"));
        server_in(server, modern ? modern_request("3", "resources/read", "{}", none)
                                 : legacy_request("3", "resources/read", none));
        token = server_event(server, BTZ_MCP_SERVER_READ, "x://gone");
        assert_int_equal(btz_mcp_server_reply_error(server, token, BTZ_MCP_E_PARAMS,
                                                    BTZ_STR("no such resource"),
                                                    json(arena, q("{'uri':'x://gone'}"))),
                         BTZ_OK);
        server_out(server, modern ? q("{'jsonrpc':'2.0','id':3,'error':{'code':-32602,'message':"
                                      "'no such resource','data':{'uri':'x://gone'}}}")
                                  : q("{'jsonrpc':'2.0','id':3,'error':{'code':-32002,'message':"
                                      "'no such resource','data':{'uri':'x://gone'}}}"));
        btz_arena_free(arena);
        btz_mcp_server_free(server);
    }
}

static void legacy_subscriptions(void **state)
{
    struct btz_mcp_server *server = make(false, true);

    (void)state;
    assert_int_equal(btz_mcp_server_resource_updated(server, BTZ_STR("u:1")), BTZ_OK);
    server_quiet(server);
    server_in(server, legacy_request("1", "resources/subscribe", "'uri':'u:1'"));
    server_out(server, q(OK("1")));
    server_in(server, legacy_request("2", "resources/subscribe", "'uri':'u:1'")); /* once more */
    server_out(server, q(OK("2")));
    assert_int_equal(btz_mcp_server_resource_updated(server, BTZ_STR("u:1")), BTZ_OK);
    server_out(server, q(NOTE("resources/updated", "{'uri':'u:1'}")));
    assert_int_equal(btz_mcp_server_resource_updated(server, BTZ_STR("u:2")), BTZ_OK);
    server_quiet(server);
    server_in(server, legacy_request("3", "resources/subscribe", "'uri':'u:2'"));
    server_out(server, q(OK("3")));
    server_in(server, legacy_request("4", "resources/subscribe", "'uri':'u:9'"));
    server_error(server, "4", -32002);
    server_in(server, legacy_request("5", "resources/subscribe", "'uri':7"));
    server_error(server, "5", BTZ_MCP_E_PARAMS);
    server_in(server, legacy_request("6", "resources/unsubscribe", "'uri':'u:1'"));
    server_out(server, q(OK("6")));
    server_in(server, legacy_request("7", "resources/unsubscribe", "'uri':'u:1'"));
    server_out(server, q(OK("7")));
    server_in(server, legacy_request("8", "resources/unsubscribe", "'uri':''"));
    server_error(server, "8", BTZ_MCP_E_PARAMS);
    assert_int_equal(btz_mcp_server_resource_updated(server, BTZ_STR("u:1")), BTZ_OK);
    server_quiet(server);
    assert_int_equal(btz_mcp_server_resource_updated(server, BTZ_STR("u:2")), BTZ_OK);
    server_out(server, q(NOTE("resources/updated", "{'uri':'u:2'}")));
    /* Modern clients have no such method. */
    server_in(server, modern_request("9", "resources/subscribe", "{}", "'uri':'u:1'"));
    server_error(server, "9", BTZ_MCP_E_METHOD);
    btz_mcp_server_free(server);
    /* With templates any URI may be one; their number is bounded. */
    server = make(true, true);
    server_in(server, legacy_request("1", "resources/subscribe", "'uri':'x://1/data'"));
    server_out(server, q(OK("1")));
    server_in(server, legacy_request("2", "resources/subscribe", "'uri':'x://2/data'"));
    server_out(server, q(OK("2")));
    server_in(server, legacy_request("3", "resources/subscribe", "'uri':'x://3/data'"));
    server_error(server, "3", BTZ_MCP_E_INTERNAL);
    btz_mcp_server_free(server);
    /* Not declared: not offered. */
    server = make_server((struct btz_mcp_server_options){0}, TOOLS, RESOURCES, NULL);
    server_open(server, "2025-11-25");
    server_in(server, legacy_request("1", "resources/subscribe", "'uri':'u:1'"));
    server_error(server, "1", BTZ_MCP_E_METHOD);
    server_in(server, legacy_request("2", "logging/setLevel", "'level':'info'"));
    server_error(server, "2", BTZ_MCP_E_METHOD);
    btz_mcp_server_free(server);
}

static void modern_subscriptions(void **state)
{
    struct btz_mcp_server *server = make(false, false);

    (void)state;
    server_in(server, modern_request("'s'", "subscriptions/listen", "{}",
                                     "'notifications':{'resourcesListChanged':true,"
                                     "'resourceSubscriptions':['u:1','u:9']}"));
    server_out(server, q(NOTE("subscriptions/acknowledged",
                              "{'_meta':{'io.modelcontextprotocol/subscriptionId':'s'},"
                              "'notifications':{'resourcesListChanged':true,"
                              "'resourceSubscriptions':['u:1']}}")));
    assert_int_equal(btz_mcp_server_resource_updated(server, BTZ_STR("u:1")), BTZ_OK);
    server_out(server, q(NOTE("resources/updated",
                              "{'_meta':{'io.modelcontextprotocol/subscriptionId':'s'},"
                              "'uri':'u:1'}")));
    assert_int_equal(btz_mcp_server_resource_updated(server, BTZ_STR("u:9")), BTZ_OK);
    assert_int_equal(btz_mcp_server_resource_updated(server, BTZ_STR("u:2")), BTZ_OK);
    server_quiet(server);
    server_in(server, modern_request("2", "subscriptions/listen", "{}",
                                     "'notifications':{'resourceSubscriptions':['u:1','u:2','u:3']"
                                     "}"));
    server_error(server, "2", BTZ_MCP_E_PARAMS);
    server_in(server, modern_request("2", "subscriptions/listen", "{}",
                                     "'notifications':{'resourceSubscriptions':[1]}"));
    server_error(server, "2", BTZ_MCP_E_PARAMS);
    btz_mcp_server_free(server);
    server = make_server((struct btz_mcp_server_options){0}, NULL, RESOURCES, NULL);
    server_in(server, modern_request("3", "subscriptions/listen", "{}",
                                     "'notifications':{'resourceSubscriptions':['u:1']}"));
    server_out(server, q(NOTE("subscriptions/acknowledged",
                              "{'_meta':{'io.modelcontextprotocol/subscriptionId':3},"
                              "'notifications':{}}")));
    assert_int_equal(btz_mcp_server_resource_updated(server, BTZ_STR("u:1")), BTZ_OK);
    server_quiet(server);
    btz_mcp_server_free(server);
}

/* Everything before logging/setLevel, then what is not below it; with and without a call. */
static void legacy_log(void **state)
{
    struct btz_mcp_server *server = make(false, true);
    struct btz_arena *arena = btz_arena_new();
    const struct btz_json *data = json(arena, q("{'k':1}"));
    struct btz_mcp_out out;
    uint64_t token;

    (void)state;
    assert_int_equal(btz_mcp_server_log(server, 0, BTZ_STR("debug"), BTZ_STR("l"), data), BTZ_OK);
    server_out(server, q(NOTE("message", "{'level':'debug','logger':'l','data':{'k':1}}")));
    server_in(server, legacy_request("1", "logging/setLevel", "'level':'warning'"));
    server_out(server, q(OK("1")));
    server_in(server, legacy_request("2", "logging/setLevel", "'level':'loud'"));
    server_error(server, "2", BTZ_MCP_E_PARAMS);
    assert_int_equal(btz_mcp_server_log(server, 0, BTZ_STR("notice"), BTZ_STR("l"), data),
                     BTZ_EUNSUPPORTED);
    server_quiet(server);
    server_in(server, legacy_request("'c'", "tools/call", "'name':'t'"));
    token = server_event(server, BTZ_MCP_SERVER_CALL, "t");
    assert_int_equal(btz_mcp_server_log(server, token, BTZ_STR("info"), BTZ_STR_NONE, data),
                     BTZ_EUNSUPPORTED);
    assert_int_equal(btz_mcp_server_log(server, token, BTZ_STR("warning"), BTZ_STR_NONE, data),
                     BTZ_OK);
    assert_true(btz_mcp_server_next_out_full(server, &out));
    assert_text(out.bytes, q(NOTE("message", "{'level':'warning','data':{'k':1}}")));
    assert_true(btz_mcp_id_eq(out.related, btz_mcp_id_str(BTZ_STR("c"))));
    assert_int_equal(btz_mcp_server_log(server, 0, BTZ_STR("error"), BTZ_STR_NONE, data), BTZ_OK);
    assert_true(btz_mcp_server_next_out_full(server, &out));
    assert_int_equal(out.related.kind, BTZ_MCP_ID_NONE);
    assert_int_equal(btz_mcp_server_log(server, 0, BTZ_STR("loud"), BTZ_STR_NONE, data),
                     BTZ_EINVAL);
    assert_int_equal(btz_mcp_server_log(server, 77, BTZ_STR("error"), BTZ_STR_NONE, data),
                     BTZ_ENOTFOUND);
    btz_mcp_server_free(server);
    /* Without a session there is nobody to tell; modern requests name their level themselves. */
    server = make(false, false);
    assert_int_equal(btz_mcp_server_log(server, 0, BTZ_STR("error"), BTZ_STR_NONE, data),
                     BTZ_EUNSUPPORTED);
    server_in(server, modern_request("1", "logging/setLevel", "{}", "'level':'info'"));
    server_error(server, "1", BTZ_MCP_E_METHOD);
    server_in(server, modern_request("2", "tools/call", "{}", "'name':'t'"));
    token = server_event(server, BTZ_MCP_SERVER_CALL, "t");
    assert_int_equal(btz_mcp_server_log(server, token, BTZ_STR("emergency"), BTZ_STR_NONE, data),
                     BTZ_EUNSUPPORTED);
    server_quiet(server);
    btz_arena_free(arena);
    btz_mcp_server_free(server);
}

/* 0, 50 and 100 of 100 on the stream of the request, and nothing that does not grow. */
static void progress(void **state)
{
    (void)state;
    for (unsigned modern = 0; modern < 2; modern++) {
        struct btz_mcp_server *server = make(false, !modern);
        struct btz_mcp_out out;
        uint64_t token;

        server_in(server,
                  modern ? q("{'jsonrpc':'2.0','id':5,'method':'tools/call','params':{'_meta':{"
                             "'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
                             "'io.modelcontextprotocol/clientCapabilities':{},'progressToken':"
                             "'p'},'name':'t'}}")
                         : q("{'jsonrpc':'2.0','id':5,'method':'tools/call','params':{'_meta':{"
                             "'progressToken':'p'},'name':'t'}}"));
        token = server_event(server, BTZ_MCP_SERVER_CALL, "t");
        assert_int_equal(btz_mcp_server_progress(server, token, 0, 100, BTZ_STR_NONE), BTZ_OK);
        assert_true(btz_mcp_server_next_out_full(server, &out));
        assert_text(out.bytes,
                    q(NOTE("progress", "{'progressToken':'p','progress':0,'total':100}")));
        assert_true(btz_mcp_id_eq(out.related, btz_mcp_id_int(5)));
        assert_int_equal(btz_mcp_server_progress(server, token, 50, 100, BTZ_STR("half")), BTZ_OK);
        server_out(server, q(NOTE("progress", "{'progressToken':'p','progress':50,'total':100,"
                                              "'message':'half'}")));
        assert_int_equal(btz_mcp_server_progress(server, token, 50, 100, BTZ_STR_NONE), BTZ_EINVAL);
        assert_int_equal(btz_mcp_server_progress(server, token, 100, -1, BTZ_STR_NONE), BTZ_OK);
        server_out(server, q(NOTE("progress", "{'progressToken':'p','progress':100}")));
        server_reply(server, token, q("{'content':[]}"));
        btz_mcp_server_free(server);
    }
}

/* Two exchanges that the conformance suite is satisfied with although the tool is missing: a text
 * result and a failed tool, to the byte, and what a missing tool really gives. */
static void simple_text_and_error(void **state)
{
    (void)state;
    for (unsigned modern = 0; modern < 2; modern++) {
        struct btz_mcp_server *server = make(false, !modern);
        const char *name = "'name':'t','arguments':{}";
        const char *missing = "'name':'test_simple_text','arguments':{}";

        server_in(server, modern ? modern_request("1", "tools/call", "{}", name)
                                 : legacy_request("1", "tools/call", name));
        server_reply(server, server_event(server, BTZ_MCP_SERVER_CALL, "t"),
                     q("{'content':[{'type':'text','text':'This is a simple text.'}]}"));
        server_out(server,
                   modern ? q("{'jsonrpc':'2.0','id':1,'result':{'resultType':'complete','content':"
                              "[{'type':'text','text':'This is a simple text.'}]," META "}}")
                          : q("{'jsonrpc':'2.0','id':1,'result':{'content':[{'type':'text','text':"
                              "'This is a simple text.'}]}}"));
        server_in(server, modern ? modern_request("2", "tools/call", "{}", name)
                                 : legacy_request("2", "tools/call", name));
        server_reply(server, server_event(server, BTZ_MCP_SERVER_CALL, "t"),
                     q("{'content':[{'type':'text','text':'It failed on purpose.'}],'isError':"
                       "true}"));
        server_out(
            server,
            modern ? q("{'jsonrpc':'2.0','id':2,'result':{'resultType':'complete','content':"
                       "[{'type':'text','text':'It failed on purpose.'}],'isError':true," META "}}")
                   : q("{'jsonrpc':'2.0','id':2,'result':{'content':[{'type':'text','text':"
                       "'It failed on purpose.'}],'isError':true}}"));
        server_in(server, modern ? modern_request("3", "tools/call", "{}", missing)
                                 : legacy_request("3", "tools/call", missing));
        server_out(server, q("{'jsonrpc':'2.0','id':3,'error':{'code':-32602,'message':'unknown "
                             "tool; tools/list names those that exist'}}"));
        server_quiet(server);
        btz_mcp_server_free(server);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(templates),
        cmocka_unit_test(legacy_subscriptions),
        cmocka_unit_test(modern_subscriptions),
        cmocka_unit_test(legacy_log),
        cmocka_unit_test(progress),
        cmocka_unit_test(simple_text_and_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
