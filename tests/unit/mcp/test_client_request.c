/* Requests of the client for prompts, completion, levels and subscriptions, and what comes back:
 * exact bytes in both eras. */
#include "helper.h"

#define META                                                                                       \
    "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"                             \
    "'io.modelcontextprotocol/clientCapabilities':{},"                                             \
    "'io.modelcontextprotocol/clientInfo':{'name':'t','version':'1'}"
#define TOOL(name, properties)                                                                     \
    "{'name':'" name "','inputSchema':{'type':'object','properties':{" properties "}}}"

static struct btz_mcp_client *open_client(bool modern, struct btz_mcp_client_options options)
{
    struct btz_mcp_client *client;

    options.mode = modern ? BTZ_MCP_CLIENT_MODERN : BTZ_MCP_CLIENT_LEGACY;
    client = make_client(options);
    client_open(client, modern ? "2026-07-28" : "2025-11-25");
    return client;
}

static const struct btz_mcp_client_options plain = {0};

static void prompts(void **state)
{
    struct btz_arena *arena = btz_arena_new();
    const struct btz_json *arguments = json(arena, q("{'a':'x'}"));
    struct btz_mcp_client *client = open_client(false, plain);
    struct btz_mcp_client_event event;
    struct btz_mcp_out out;

    (void)state;
    assert_int_equal(btz_mcp_client_list_prompts(client, NULL), BTZ_OK);
    client_out(client, q("{'jsonrpc':'2.0','id':2,'method':'prompts/list'}"));
    client_in(client, q("{'jsonrpc':'2.0','id':2,'result':{'prompts':[{'name':'p'}],'nextCursor':"
                        "''}}"));
    client_out(client,
               q("{'jsonrpc':'2.0','id':3,'method':'prompts/list','params':{'cursor':''}}"));
    client_in(client, q("{'jsonrpc':'2.0','id':3,'result':{'prompts':[{'name':'q'}]}}"));
    event = client_event(client, BTZ_MCP_CLIENT_PROMPTS);
    assert_int_equal(event.request, 2);
    assert_json(event.value, q("[{'name':'p'},{'name':'q'}]"));
    assert_int_equal(event.pages, 2);
    assert_int_equal(btz_mcp_client_get_prompt(client, BTZ_STR("p"), arguments, NULL), BTZ_OK);
    client_out(client, q("{'jsonrpc':'2.0','id':4,'method':'prompts/get','params':{'name':'p',"
                         "'arguments':{'a':'x'}}}"));
    client_in(client, q("{'jsonrpc':'2.0','id':4,'result':{'messages':[]}}"));
    assert_json(client_event(client, BTZ_MCP_CLIENT_RESULT).value, q("{'messages':[]}"));
    assert_int_equal(btz_mcp_client_get_prompt(client, BTZ_STR("p"), NULL, NULL), BTZ_OK);
    client_out(client, q("{'jsonrpc':'2.0','id':5,'method':'prompts/get','params':{'name':'p'}}"));
    client_in(client, q("{'jsonrpc':'2.0','id':5,'result':{'messages':[{'role':'user'}]}}"));
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    assert_int_equal(client_event(client, BTZ_MCP_CLIENT_RESULT).fault, BTZ_MCP_FAULT_INVALID);
    assert_int_equal(btz_mcp_client_get_prompt(client, BTZ_STR_NONE, NULL, NULL), BTZ_EINVAL);
    assert_int_equal(
        btz_mcp_client_get_prompt(client, BTZ_STR("p"), json(arena, q("{'a':1}")), NULL),
        BTZ_EINVAL);
    btz_mcp_client_free(client);
    client = open_client(true, plain);
    assert_int_equal(btz_mcp_client_get_prompt(client, BTZ_STR("p"), arguments, NULL), BTZ_OK);
    assert_true(btz_mcp_client_next_out_full(client, &out));
    assert_text(out.bytes, q("{'jsonrpc':'2.0','id':2,'method':'prompts/get','params':{" META
                             "},'name':'p','arguments':{'a':'x'}}}"));
    assert_text(out.name, "p");
    client_in(client,
              q("{'jsonrpc':'2.0','id':2,'result':{'resultType':'complete','messages':[]}}"));
    client_event(client, BTZ_MCP_CLIENT_RESULT);
    assert_int_equal(btz_mcp_client_list_prompts(client, NULL), BTZ_OK);
    client_out(client, q("{'jsonrpc':'2.0','id':3,'method':'prompts/list','params':{" META "}}}"));
    client_in(client, q("{'jsonrpc':'2.0','id':3,'result':{'resultType':'complete','prompts':[{"
                        "'name':'p'},{'name':'p'}],'ttlMs':1,'cacheScope':'private'}}"));
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    assert_int_equal(client_event(client, BTZ_MCP_CLIENT_PROMPTS).fault, BTZ_MCP_FAULT_INVALID);
    client_quiet(client);
    btz_mcp_client_free(client);
    btz_arena_free(arena);
}

static void completion(void **state)
{
    struct btz_arena *arena = btz_arena_new();
    const struct btz_json *chosen = json(arena, q("{'b':'y'}"));

    (void)state;
    for (unsigned modern = 0; modern < 2; modern++) {
        struct btz_mcp_client *client = open_client(modern, plain);
        uint64_t id = 0;

        assert_int_equal(btz_mcp_client_complete(client, BTZ_MCP_REF_PROMPT, BTZ_STR("p"),
                                                 BTZ_STR("a"), BTZ_STR("x"), chosen, &id),
                         BTZ_OK);
        client_out(client,
                   modern
                       ? q("{'jsonrpc':'2.0','id':2,'method':'completion/complete','params':{" META
                           "},'ref':{'type':'ref/prompt','name':'p'},'argument':{'name':'a',"
                           "'value':'x'},'context':{'arguments':{'b':'y'}}}}")
                       : q("{'jsonrpc':'2.0','id':2,'method':'completion/complete','params':{"
                           "'ref':{'type':'ref/prompt','name':'p'},'argument':{'name':'a','value':"
                           "'x'},'context':{'arguments':{'b':'y'}}}}"));
        client_in(client, q("{'jsonrpc':'2.0','id':2,'result':{'resultType':'complete',"
                            "'completion':{'values':['x1']}}}"));
        assert_json(btz_json_getz(client_event(client, BTZ_MCP_CLIENT_RESULT).value, "completion"),
                    q("{'values':['x1']}"));
        assert_int_equal(btz_mcp_client_complete(client, BTZ_MCP_REF_RESOURCE, BTZ_STR("u:{i}"),
                                                 BTZ_STR("i"), BTZ_STR(""), NULL, NULL),
                         BTZ_OK);
        client_out(client,
                   modern
                       ? q("{'jsonrpc':'2.0','id':3,'method':'completion/complete','params':{" META
                           "},'ref':{'type':'ref/resource','uri':'u:{i}'},'argument':{'name':'i',"
                           "'value':''}}}")
                       : q("{'jsonrpc':'2.0','id':3,'method':'completion/complete','params':{"
                           "'ref':{'type':'ref/resource','uri':'u:{i}'},'argument':{'name':'i',"
                           "'value':''}}}"));
        client_in(client, q("{'jsonrpc':'2.0','id':3,'result':{'resultType':'complete',"
                            "'completion':{'values':[1]}}}"));
        client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
        assert_int_equal(client_event(client, BTZ_MCP_CLIENT_RESULT).fault, BTZ_MCP_FAULT_INVALID);
        assert_int_equal(btz_mcp_client_complete(client, BTZ_MCP_REF_PROMPT, BTZ_STR("p"),
                                                 BTZ_STR_NONE, BTZ_STR("x"), NULL, NULL),
                         BTZ_EINVAL);
        client_quiet(client);
        btz_mcp_client_free(client);
    }
    btz_arena_free(arena);
}

/* `context` does not exist before 2025-06-18. */
static void old_completion(void **state)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_mcp_client *client =
        make_client((struct btz_mcp_client_options){.mode = BTZ_MCP_CLIENT_LEGACY});

    (void)state;
    client_open(client, "2025-03-26");
    assert_int_equal(btz_mcp_client_complete(client, BTZ_MCP_REF_PROMPT, BTZ_STR("p"), BTZ_STR("a"),
                                             BTZ_STR("x"), json(arena, q("{'b':'y'}")), NULL),
                     BTZ_OK);
    client_out(client, q("{'jsonrpc':'2.0','id':2,'method':'completion/complete','params':{'ref':{"
                         "'type':'ref/prompt','name':'p'},'argument':{'name':'a','value':'x'}}}"));
    btz_mcp_client_free(client);
    btz_arena_free(arena);
}

static void legacy_only(void **state)
{
    struct btz_mcp_client_options options = {0};
    struct btz_arena *arena = btz_arena_new();
    struct btz_mcp_client *client = open_client(false, plain);

    (void)state;
    assert_int_equal(btz_mcp_client_set_log_level(client, BTZ_STR("error"), NULL), BTZ_OK);
    client_out(
        client,
        q("{'jsonrpc':'2.0','id':2,'method':'logging/setLevel','params':{'level':'error'}}"));
    client_in(client, q("{'jsonrpc':'2.0','id':2,'result':{}}"));
    assert_json(client_event(client, BTZ_MCP_CLIENT_RESULT).value, "{}");
    assert_int_equal(btz_mcp_client_set_log_level(client, BTZ_STR("loud"), NULL), BTZ_EINVAL);
    /* Changes are events once there is a subscription; two that wait are one. */
    client_in(client, q("{'jsonrpc':'2.0','method':'notifications/resources/updated','params':{"
                        "'uri':'u:1'}}"));
    client_quiet(client);
    assert_int_equal(btz_mcp_client_subscribe(client, BTZ_STR("u:1"), NULL), BTZ_OK);
    client_out(client,
               q("{'jsonrpc':'2.0','id':3,'method':'resources/subscribe','params':{'uri':'u:1'}}"));
    for (unsigned i = 0; i < 2; i++) {
        client_in(client, q("{'jsonrpc':'2.0','method':'notifications/resources/updated',"
                            "'params':{'uri':'u:1'}}"));
    }
    assert_text(client_event(client, BTZ_MCP_CLIENT_RESOURCE_UPDATED).message, "u:1");
    client_in(client, q("{'jsonrpc':'2.0','method':'notifications/resources/updated'}"));
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    assert_int_equal(btz_mcp_client_unsubscribe(client, BTZ_STR("u:1"), NULL), BTZ_OK);
    client_out(client, q("{'jsonrpc':'2.0','id':4,'method':'resources/unsubscribe','params':{'uri':"
                         "'u:1'}}"));
    client_in(client, q("{'jsonrpc':'2.0','id':4,'error':{'code':-32601,'message':'no'}}"));
    assert_int_equal(client_event(client, BTZ_MCP_CLIENT_RESULT).code, -32601);
    assert_int_equal(btz_mcp_client_subscribe(client, BTZ_STR_NONE, NULL), BTZ_EINVAL);
    assert_int_equal(btz_mcp_client_unsubscribe(client, BTZ_STR_NONE, NULL), BTZ_EINVAL);
    assert_int_equal(btz_mcp_client_roots_changed(client), BTZ_EUNSUPPORTED);
    btz_mcp_client_free(client);
    options.capabilities = json(arena, q("{'roots':{'listChanged':true}}"));
    client = open_client(false, options);
    assert_int_equal(btz_mcp_client_roots_changed(client), BTZ_OK);
    client_out(client, q("{'jsonrpc':'2.0','method':'notifications/roots/list_changed'}"));
    btz_mcp_client_free(client);
    client = open_client(true, options);
    assert_int_equal(btz_mcp_client_roots_changed(client), BTZ_ESTATE);
    assert_int_equal(btz_mcp_client_set_log_level(client, BTZ_STR("error"), NULL), BTZ_ESTATE);
    assert_int_equal(btz_mcp_client_subscribe(client, BTZ_STR("u:1"), NULL), BTZ_ESTATE);
    assert_int_equal(btz_mcp_client_unsubscribe(client, BTZ_STR("u:1"), NULL), BTZ_ESTATE);
    client_quiet(client);
    btz_mcp_client_free(client);
    btz_arena_free(arena);
}

#define UPDATED(uri)                                                                               \
    "{'jsonrpc':'2.0','method':'notifications/resources/updated','params':{'_meta':{"              \
    "'io.modelcontextprotocol/subscriptionId':2},'uri':'" uri "'}}"

/* Only what was asked for and accepted becomes an event. */
static void listen(void **state)
{
    const struct btz_str uris[] = {BTZ_STR("u:1"), BTZ_STR("u:2")};
    struct btz_mcp_client *client = open_client(true, plain);
    struct btz_mcp_client_event event;

    (void)state;
    assert_int_equal(btz_mcp_client_listen_to(client, 0, NULL, 0, NULL), BTZ_EINVAL);
    assert_int_equal(btz_mcp_client_listen_to(client, BTZ_MCP_LIST_PROMPTS, uris, 2, NULL), BTZ_OK);
    client_out(client, q("{'jsonrpc':'2.0','id':2,'method':'subscriptions/listen','params':{" META
                         "},'notifications':{'promptsListChanged':true,'resourceSubscriptions':["
                         "'u:1','u:2']}}}"));
    client_in(client, q(UPDATED("u:1"))); /* before the acknowledgement */
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    client_in(client, q("{'jsonrpc':'2.0','method':'notifications/subscriptions/acknowledged',"
                        "'params':{'_meta':{'io.modelcontextprotocol/subscriptionId':2},"
                        "'notifications':{'promptsListChanged':true,'resourceSubscriptions':["
                        "'u:1','u:3']}}}"));
    event = client_event(client, BTZ_MCP_CLIENT_LISTENING);
    assert_int_equal(event.request, 2);
    assert_int_equal(event.changed, BTZ_MCP_LIST_PROMPTS);
    assert_json(event.value,
                q("{'promptsListChanged':true,'resourceSubscriptions':['u:1','u:3']}"));
    client_in(client, q(UPDATED("u:1")));
    event = client_event(client, BTZ_MCP_CLIENT_RESOURCE_UPDATED);
    assert_text(event.message, "u:1");
    assert_int_equal(event.request, 2);
    client_in(client, q(UPDATED("u:1/part")));
    client_event(client, BTZ_MCP_CLIENT_RESOURCE_UPDATED);
    client_in(client, q(UPDATED("u:2"))); /* not accepted */
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    client_in(client, q(UPDATED("u:3"))); /* not asked for */
    client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    client_in(client, q("{'jsonrpc':'2.0','method':'notifications/prompts/list_changed','params':{"
                        "'_meta':{'io.modelcontextprotocol/subscriptionId':2}}}"));
    assert_int_equal(client_event(client, BTZ_MCP_CLIENT_LIST_CHANGED).changed,
                     BTZ_MCP_LIST_PROMPTS);
    client_quiet(client);
    btz_mcp_client_free(client);
}

#define TOOL_A                                                                                     \
    TOOL("a", "'r':{'type':'string','x-mcp-header':'Region'},"                                     \
              "'n':{'type':'integer','x-mcp-header':'N'}")
#define TOOL_B TOOL("b", "'r':{'type':'number','x-mcp-header':'R'}")
#define LISTING                                                                                    \
    "{'jsonrpc':'2.0','id':2,'result':{'resultType':'complete','tools':[" TOOL_A "," TOOL_B        \
    "," TOOL("c", "") "]}}"

/* Over HTTP a tool with broken annotations is left out, and calls carry what is annotated. */
static void mirrored(void **state)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_mcp_client *client =
        open_client(true, (struct btz_mcp_client_options){.http = true, .max_out_bytes = 2000});
    const char *tools = q(LISTING);
    struct btz_mcp_client_event event;
    struct btz_mcp_out out;

    (void)state;
    assert_int_equal(btz_mcp_client_list_tools(client, NULL), BTZ_OK);
    assert_true(btz_mcp_client_next_out_full(client, &out));
    assert_int_equal(out.param_count, 0);
    client_in(client, tools);
    event = client_event(client, BTZ_MCP_CLIENT_PROTOCOL_ERROR);
    assert_true(btz_str_find(event.message, BTZ_STR("the tool \"b\" was dropped")) == 0);
    event = client_event(client, BTZ_MCP_CLIENT_TOOLS);
    assert_int_equal(btz_json_count(event.value), 2);
    assert_json(btz_json_getz(btz_json_at(event.value, 1), "name"), "\"c\"");
    assert_int_equal(btz_mcp_client_call_tool(client, BTZ_STR("a"),
                                              json(arena, q("{'r':'\xC3\xBC','n':7,'z':'q'}")),
                                              NULL),
                     BTZ_OK);
    assert_true(btz_mcp_client_next_out_full(client, &out));
    assert_int_equal(out.param_count, 2);
    assert_text(out.params[0].name, "Region");
    assert_text(out.params[0].value, "=?base64?w7w=?=");
    assert_text(out.params[1].name, "N");
    assert_text(out.params[1].value, "7");
    assert_text(out.name, "a");
    assert_int_equal(
        btz_mcp_client_call_tool(client, BTZ_STR("a"), json(arena, q("{'r':null}")), NULL), BTZ_OK);
    assert_true(btz_mcp_client_next_out_full(client, &out));
    assert_int_equal(out.param_count, 0);
    assert_int_equal(btz_mcp_client_call_tool(client, BTZ_STR("unlisted"), NULL, NULL), BTZ_OK);
    assert_true(btz_mcp_client_next_out_full(client, &out));
    assert_int_equal(out.param_count, 0);
    btz_mcp_client_free(client);
    /* On byte streams nothing is mirrored and nothing is dropped. */
    client = open_client(true, plain);
    assert_int_equal(btz_mcp_client_list_tools(client, NULL), BTZ_OK);
    assert_true(btz_mcp_client_next_out_full(client, &out));
    client_in(client, tools);
    assert_int_equal(btz_json_count(client_event(client, BTZ_MCP_CLIENT_TOOLS).value), 3);
    btz_mcp_client_free(client);
    btz_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prompts),        cmocka_unit_test(completion),
        cmocka_unit_test(old_completion), cmocka_unit_test(legacy_only),
        cmocka_unit_test(listen),         cmocka_unit_test(mirrored),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
