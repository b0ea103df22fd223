/* Prompts and completion: what goes over the wire, in both eras. */
#include "helper.h"

#include <stdio.h>

#define PROMPTS                                                                                    \
    "[{\"name\":\"p\",\"arguments\":[{\"name\":\"a\",\"required\":true},{\"name\":\"b\"}]},"       \
    "{\"name\":\"q\",\"title\":\"Q\"},{\"name\":\"r\"}]"
#define RESULT(id, body) "{'jsonrpc':'2.0','id':" id ",'result':{" body "}}"
#define COMPLETE "'resultType':'complete',"
#define META ",'_meta':{'io.modelcontextprotocol/serverInfo':{'name':'s','version':'1'}}"

static const struct btz_mcp_server_options options = {.page_size = 2, .completions = true};

static struct btz_mcp_server *legacy_server(void)
{
    struct btz_mcp_server *server = make_full_server(options, NULL, NULL, NULL, PROMPTS);

    server_open(server, "2025-11-25");
    return server;
}

static struct btz_mcp_server *modern_server(void)
{
    return make_full_server(options, NULL, NULL, NULL, PROMPTS);
}

static void capabilities(void **state)
{
    struct btz_mcp_server *server = modern_server();

    (void)state;
    server_in(server, modern_request("1", "server/discover", "{}", NULL));
    server_out(server,
               q(RESULT("1", COMPLETE "'supportedVersions':['2026-07-28','2025-11-25','2025-06-18',"
                                      "'2025-03-26','2024-11-05'],'capabilities':{'prompts':{"
                                      "'listChanged':true},'completions':{}},'ttlMs':0,"
                                      "'cacheScope':'private'" META)));
    server_in(server, q("{'jsonrpc':'2.0','id':2,'method':'initialize','params':{"
                        "'protocolVersion':'2025-06-18','capabilities':{},'clientInfo':{'name':"
                        "'t','version':'1'}}}"));
    server_out(server,
               q(RESULT("2", "'protocolVersion':'2025-06-18','capabilities':{'prompts':{"
                             "'listChanged':true},'completions':{}},'serverInfo':{'name':'s',"
                             "'version':'1'}")));
    btz_mcp_server_free(server);
    /* What is not declared is not there. */
    server = make_server((struct btz_mcp_server_options){0}, "[]", NULL, NULL);
    server_in(server, modern_request("1", "prompts/list", "{}", NULL));
    server_error(server, "1", BTZ_MCP_E_METHOD);
    server_in(server, modern_request("1", "prompts/get", "{}", "'name':'p'"));
    server_error(server, "1", BTZ_MCP_E_METHOD);
    server_in(server, modern_request("1", "completion/complete", "{}", NULL));
    server_error(server, "1", BTZ_MCP_E_METHOD);
    server_open(server, "2025-11-25");
    server_in(server, legacy_request("1", "prompts/list", NULL));
    server_error(server, "1", BTZ_MCP_E_METHOD);
    btz_mcp_server_free(server);
}

/* The cursor of the first page out of the message, into the second request. */
static void second_page(struct btz_mcp_server *server, bool modern, const char *want_first,
                        const char *want_second)
{
    struct btz_arena *arena = btz_arena_new();
    const struct btz_json *message;
    struct btz_str bytes;
    struct btz_err err;
    char text[256];

    server_in(server, modern ? modern_request("1", "prompts/list", "{}", NULL)
                             : legacy_request("1", "prompts/list", NULL));
    assert_true(btz_mcp_server_next_out(server, &bytes));
    assert_int_equal(btz_json_parse(arena, bytes, NULL, &message, &err), BTZ_OK);
    assert_json(btz_json_pointer(message, BTZ_STR("/result/prompts")), want_first);
    snprintf(text, sizeof(text), "'cursor':'%.*s'",
             BTZ_FMT(btz_json_str(btz_json_pointer(message, BTZ_STR("/result/nextCursor")))));
    server_in(server, modern ? modern_request("2", "prompts/list", "{}", text)
                             : legacy_request("2", "prompts/list", text));
    server_out(server, want_second);
    btz_arena_free(arena);
}

static void list(void **state)
{
    struct btz_mcp_server *server = legacy_server();
    const char *first = q("[{'name':'p','arguments':[{'name':'a','required':true},{'name':'b'}]},"
                          "{'name':'q','title':'Q'}]");

    (void)state;
    second_page(server, false, first, q(RESULT("2", "'prompts':[{'name':'r'}]")));
    server_in(server, legacy_request("3", "prompts/list", "'cursor':'1.2.0'"));
    server_error(server, "3", BTZ_MCP_E_PARAMS);
    btz_mcp_server_free(server);
    server = modern_server();
    second_page(server, true, first,
                q(RESULT("2", COMPLETE "'prompts':[{'name':'r'}],'ttlMs':0,"
                                       "'cacheScope':'private'" META)));
    btz_mcp_server_free(server);
}

/* prompts/get as far as the owner, its result back, and every refusal. */
static void get(void **state)
{
    static const char *const refused[] = {"'name':1",
                                          "'name':'nobody'",
                                          "'x':1",
                                          "'name':'p'",
                                          "'name':'p','arguments':{'b':'x'}",
                                          "'name':'p','arguments':{'a':1}",
                                          "'name':'p','arguments':['a']"};

    (void)state;
    for (unsigned modern = 0; modern < 2; modern++) {
        struct btz_mcp_server *server = modern ? modern_server() : legacy_server();
        struct btz_mcp_server_event event;

        for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
            server_in(server, modern ? modern_request("1", "prompts/get", "{}", refused[i])
                                     : legacy_request("1", "prompts/get", refused[i]));
            server_error(server, "1", BTZ_MCP_E_PARAMS);
            server_quiet(server);
        }
        server_in(server,
                  modern
                      ? modern_request("2", "prompts/get", "{}", "'name':'p','arguments':{'a':'x'}")
                      : legacy_request("2", "prompts/get", "'name':'p','arguments':{'a':'x'}"));
        assert_true(btz_mcp_server_next_event(server, &event));
        assert_int_equal(event.kind, BTZ_MCP_SERVER_PROMPT);
        assert_text(event.name, "p");
        assert_json(event.arguments, q("{'a':'x'}"));
        server_reply(server, event.token,
                     q("{'description':'d','messages':[{'role':'user','content':{'type':'text',"
                       "'text':'hi'}}]}"));
        server_out(server,
                   modern ? q(RESULT("2", COMPLETE
                                     "'description':'d','messages':[{'role':'user','content':{"
                                     "'type':'text','text':'hi'}}]" META))
                          : q(RESULT("2", "'description':'d','messages':[{'role':'user','content':{"
                                          "'type':'text','text':'hi'}}]")));
        server_in(server, modern ? modern_request("3", "prompts/get", "{}", "'name':'q'")
                                 : legacy_request("3", "prompts/get", "'name':'q'"));
        event.token = server_event(server, BTZ_MCP_SERVER_PROMPT, "q");
        assert_int_equal(btz_mcp_server_reply_error(server, event.token, BTZ_MCP_E_INTERNAL,
                                                    BTZ_STR("broken"), NULL),
                         BTZ_OK);
        server_out(server, q("{'jsonrpc':'2.0','id':3,'error':{'code':-32603,'message':"
                             "'broken'}}"));
        btz_mcp_server_free(server);
    }
}

/* GetPromptResult, CompleteResult and Prompt by their checks. */
static void shapes(void **state)
{
    static const struct {
        int (*check)(const struct btz_json *, struct btz_err *);
        const char *value;
        int rc;
    } rows[] = {
        {btz_mcp_check_prompt_result, "{'messages':[]}", BTZ_OK},
        {btz_mcp_check_prompt_result, "{}", BTZ_EINVAL},
        {btz_mcp_check_prompt_result, "{'messages':{}}", BTZ_EINVAL},
        {btz_mcp_check_prompt_result, "{'messages':[],'description':1}", BTZ_EINVAL},
        {btz_mcp_check_prompt_result, "{'messages':['x']}", BTZ_EINVAL},
        {btz_mcp_check_prompt_result,
         "{'messages':[{'role':'system','content':{'type':'text',"
         "'text':'t'}}]}",
         BTZ_EINVAL},
        {btz_mcp_check_prompt_result, "{'messages':[{'role':'user'}]}", BTZ_EINVAL},
        {btz_mcp_check_prompt_result, "{'messages':[{'role':'user','content':'t'}]}", BTZ_EINVAL},
        {btz_mcp_check_prompt_result, "{'messages':[{'role':'user','content':[]}]}", BTZ_EINVAL},
        {btz_mcp_check_prompt_result,
         "{'messages':[{'role':'assistant','content':{'type':'image','data':'AA==','mimeType':"
         "'image/png'}},{'role':'user','content':{'type':'resource','resource':{'uri':'u','text':"
         "''}}}]}",
         BTZ_OK},
        {btz_mcp_check_complete_result, "{'completion':{'values':[]}}", BTZ_OK},
        {btz_mcp_check_complete_result, "{'completion':{'values':['a'],'total':3,'hasMore':true}}",
         BTZ_OK},
        {btz_mcp_check_complete_result, "{'completion':[]}", BTZ_EINVAL},
        {btz_mcp_check_complete_result, "{'values':[]}", BTZ_EINVAL},
        {btz_mcp_check_complete_result, "{'completion':{'values':[1]}}", BTZ_EINVAL},
        {btz_mcp_check_complete_result, "{'completion':{'values':[],'total':'3'}}", BTZ_EINVAL},
        {btz_mcp_check_complete_result, "{'completion':{'values':[],'hasMore':1}}", BTZ_EINVAL},
        {btz_mcp_check_prompt, "{'name':'p'}", BTZ_OK},
        {btz_mcp_check_prompt, "{'name':''}", BTZ_EINVAL},
        {btz_mcp_check_prompt, "{}", BTZ_EINVAL},
        {btz_mcp_check_prompt, "{'name':'p','arguments':{}}", BTZ_EINVAL},
        {btz_mcp_check_prompt, "{'name':'p','arguments':[{}]}", BTZ_EINVAL},
        {btz_mcp_check_prompt, "{'name':'p','arguments':[{'name':'a','required':1}]}", BTZ_EINVAL},
    };
    struct btz_arena *arena = btz_arena_new();
    struct btz_json *values = btz_json_new_array(arena);
    struct btz_json *completion = btz_json_new_object(arena);
    struct btz_json *result = btz_json_new_object(arena);
    struct btz_err err;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].check(json(arena, q(rows[i].value)), &err) != rows[i].rc) {
            fail_msg("row %zu: %s", i, rows[i].value);
        }
    }
    btz_json_setz(arena, completion, "values", values);
    btz_json_setz(arena, result, "completion", completion);
    for (size_t i = 0; i < BTZ_MCP_MAX_COMPLETIONS; i++) {
        btz_json_push(arena, values, btz_json_new_strz(arena, "v"));
    }
    assert_int_equal(btz_mcp_check_complete_result(result, &err), BTZ_OK);
    btz_json_push(arena, values, btz_json_new_strz(arena, "v"));
    assert_int_equal(btz_mcp_check_complete_result(result, &err), BTZ_EINVAL);
    btz_arena_free(arena);
}

#define ARGUMENT "'argument':{'name':'a','value':'x'}"

static void completion(void **state)
{
    static const char *const refused[] = {
        ARGUMENT,
        "'ref':{'type':'ref/prompt','name':'p'}",
        "'ref':{'type':'ref/prompt'}," ARGUMENT,
        "'ref':{'type':'ref/prompt','name':'nobody'}," ARGUMENT,
        "'ref':{'type':'ref/other','uri':'u'}," ARGUMENT,
        "'ref':{'type':'ref/resource','name':'p'}," ARGUMENT,
        "'ref':{'type':'ref/prompt','name':'p'},'argument':{'name':'a'}",
        "'ref':{'type':'ref/prompt','name':'p'},'argument':{'name':1,'value':''}",
        "'ref':{'type':'ref/prompt','name':'p'},'context':[]," ARGUMENT,
        "'ref':{'type':'ref/prompt','name':'p'},'context':{'arguments':{'b':1}}," ARGUMENT,
    };

    (void)state;
    for (unsigned modern = 0; modern < 2; modern++) {
        struct btz_mcp_server *server = modern ? modern_server() : legacy_server();
        struct btz_mcp_server_event event;
        const char *params = "'ref':{'type':'ref/prompt','name':'p'},'context':{'arguments':{'b':"
                             "'y'}}," ARGUMENT;
        const char *uri = "'ref':{'type':'ref/resource','uri':'u:{id}'}," ARGUMENT;
        struct btz_arena *arena = btz_arena_new();

        for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
            server_in(server, modern ? modern_request("1", "completion/complete", "{}", refused[i])
                                     : legacy_request("1", "completion/complete", refused[i]));
            server_error(server, "1", BTZ_MCP_E_PARAMS);
            server_quiet(server);
        }
        server_in(server, modern ? modern_request("'c'", "completion/complete", "{}", params)
                                 : legacy_request("'c'", "completion/complete", params));
        assert_true(btz_mcp_server_next_event(server, &event));
        assert_int_equal(event.kind, BTZ_MCP_SERVER_COMPLETE);
        assert_int_equal(event.ref, BTZ_MCP_REF_PROMPT);
        assert_text(event.name, "p");
        assert_text(event.argument, "a");
        assert_text(event.value, "x");
        assert_json(event.arguments, q("{'b':'y'}"));
        assert_int_equal(btz_mcp_server_reply_result(server, event.token,
                                                     json(arena, q("{'values':['x1']}")), NULL),
                         BTZ_EINVAL);
        server_reply(server, event.token,
                     q("{'completion':{'values':['x1','x2'],'total':7,'hasMore':true}}"));
        server_out(server,
                   modern ? q(RESULT("'c'", COMPLETE "'completion':{'values':['x1','x2'],'total':7,"
                                                     "'hasMore':true}" META))
                          : q(RESULT("'c'", "'completion':{'values':['x1','x2'],'total':7,"
                                            "'hasMore':true}")));
        server_in(server, modern ? modern_request("2", "completion/complete", "{}", uri)
                                 : legacy_request("2", "completion/complete", uri));
        assert_true(btz_mcp_server_next_event(server, &event));
        assert_int_equal(event.ref, BTZ_MCP_REF_RESOURCE);
        assert_text(event.name, "u:{id}");
        assert_json(event.arguments, "{}");
        btz_arena_free(arena);
        btz_mcp_server_free(server);
    }
}

static int replace_prompts(struct btz_mcp_server *server, const char *prompts)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_mcp_catalogue offer = {.server_info = json(arena, "{\"name\":\"s\",\"version\":"
                                                                 "\"1\"}"),
                                      .prompts = json(arena, prompts)};
    struct btz_err err;
    int rc = btz_mcp_server_set_catalogue(server, &offer, &err);

    btz_arena_free(arena);
    return rc;
}

static void changed(void **state)
{
    struct btz_mcp_server *server = legacy_server();

    (void)state;
    assert_int_equal(replace_prompts(server, PROMPTS), BTZ_OK);
    server_quiet(server); /* nothing has changed */
    assert_int_equal(replace_prompts(server, "[]"), BTZ_OK);
    server_out(server, q("{'jsonrpc':'2.0','method':'notifications/prompts/list_changed'}"));
    assert_int_equal(replace_prompts(server, NULL), BTZ_EINVAL);
    assert_int_equal(replace_prompts(server, "[{\"name\":\"x\"},{\"name\":\"x\"}]"), BTZ_EINVAL);
    server_quiet(server);
    btz_mcp_server_free(server);
    server = modern_server();
    server_in(server, modern_request("90", "subscriptions/listen", "{}",
                                     "'notifications':{'toolsListChanged':true,"
                                     "'promptsListChanged':true}"));
    server_out(server, q("{'jsonrpc':'2.0','method':'notifications/subscriptions/acknowledged',"
                         "'params':{'_meta':{'io.modelcontextprotocol/subscriptionId':90},"
                         "'notifications':{'promptsListChanged':true}}}"));
    assert_int_equal(replace_prompts(server, "[]"), BTZ_OK);
    server_out(server, q("{'jsonrpc':'2.0','method':'notifications/prompts/list_changed','params':"
                         "{'_meta':{'io.modelcontextprotocol/subscriptionId':90}}}"));
    server_quiet(server);
    btz_mcp_server_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(capabilities), cmocka_unit_test(list),       cmocka_unit_test(get),
        cmocka_unit_test(shapes),       cmocka_unit_test(completion), cmocka_unit_test(changed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
