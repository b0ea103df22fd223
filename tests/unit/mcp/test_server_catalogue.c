/* The server machine: its catalogue and its bounds. */
#include "helper.h"

#include <stdio.h>
#include <string.h>

#define TOOLS                                                                                      \
    "[{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"}},"                                     \
    "{\"name\":\"b\",\"inputSchema\":{\"type\":\"object\"}},"                                      \
    "{\"name\":\"c\",\"inputSchema\":{\"type\":\"object\"}}]"
#define MORE_TOOLS "[{\"name\":\"z\",\"inputSchema\":{\"type\":\"object\"}}]"
#define RESOURCES "[{\"uri\":\"u:1\",\"name\":\"one\"},{\"uri\":\"u:2\",\"name\":\"two\"}]"

static const struct btz_mcp_server_options dual = {0};

static void instructions(void **state)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_mcp_catalogue offer = {.server_info = json(arena, q("{'name':'s','version':'1'}")),
                                      .instructions = BTZ_STR("be \"kind\"")};
    struct btz_mcp_server *server = NULL;
    struct btz_err err;

    (void)state;
    assert_int_equal(btz_mcp_server_new(&dual, &offer, &server, &err), BTZ_OK);
    server_in(
        server,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{" CLIENT_META
        "}}}");
    server_out(server,
               "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"complete\","
               "\"supportedVersions\":[\"2026-07-28\",\"2025-11-25\",\"2025-06-18\",\"2025-03-26\","
               "\"2024-11-05\"],\"capabilities\":{},\"instructions\":\"be \\\"kind\\\"\","
               "\"ttlMs\":0,\"cacheScope\":\"private\"," RESULT_META "}}}");
    server_in(server,
              q("{'jsonrpc':'2.0','id':2,'method':'initialize','params':{'protocolVersion':"
                "'2024-11-05','capabilities':{},'clientInfo':{'name':'t','version':'1'}}}"));
    server_out(server, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"protocolVersion\":"
                       "\"2024-11-05\",\"capabilities\":{},\"serverInfo\":{\"name\":\"s\","
                       "\"version\":\"1\"},\"instructions\":\"be \\\"kind\\\"\"}}");
    btz_arena_free(arena);
    btz_mcp_server_free(server);
}

static void bounds(void **state)
{
    struct btz_mcp_server *server =
        make_server((struct btz_mcp_server_options){.max_in_flight = 2}, TOOLS, NULL, NULL);
    uint64_t token;

    (void)state;
    server_open(server, "2025-11-25");
    server_in(server, q("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'a'}}"));
    /* Clients do reuse ids that are still open: never guess which one is meant. */
    server_in(server, q("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'b'}}"));
    server_error(server, "1", BTZ_MCP_E_REQUEST);
    server_in(server, q("{'jsonrpc':'2.0','id':1,'method':'tools/list'}"));
    server_error(server, "1", BTZ_MCP_E_REQUEST);
    server_in(server, q("{'jsonrpc':'2.0','id':2,'method':'tools/call','params':{'name':'b'}}"));
    server_in(server, q("{'jsonrpc':'2.0','id':3,'method':'tools/call','params':{'name':'c'}}"));
    server_error(server, "3", BTZ_MCP_E_INTERNAL);
    token = server_event(server, BTZ_MCP_SERVER_CALL, "a");
    server_event(server, BTZ_MCP_SERVER_CALL, "b");
    server_quiet(server);
    server_reply(server, token, q("{'content':[]}"));
    server_out(server, q("{'jsonrpc':'2.0','id':1,'result':{'content':[]}}"));
    server_in(server, q("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'c'}}"));
    server_event(server, BTZ_MCP_SERVER_CALL, "c");
    btz_mcp_server_free(server);
}

static void a_client_that_does_not_read(void **state)
{
    struct btz_mcp_server *server =
        make_server((struct btz_mcp_server_options){.max_out_bytes = 4096}, TOOLS, NULL, NULL);
    struct btz_arena *arena = btz_arena_new();
    static const char ping[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
    struct btz_err err;
    size_t count = 0;
    int rc;

    (void)state;
    server_open(server, "2025-11-25");
    for (unsigned i = 0; i < 500; i++) { /* what was read makes room */
        server_in(server, ping);
        server_out(server, q("{'jsonrpc':'2.0','id':1,'result':{}}"));
    }
    server_in(server, q("{'jsonrpc':'2.0','id':7,'method':'tools/call','params':{'name':'a'}}"));
    while ((rc = btz_mcp_server_feed(server, btz_str_of(ping))) == BTZ_OK) {
        assert_true(++count < 200);
    }
    assert_int_equal(rc, BTZ_ELIMIT);
    assert_int_equal(btz_mcp_server_feed(server, btz_str_of(ping)), BTZ_ESTATE);
    assert_int_equal(btz_mcp_server_reply_result(server,
                                                 server_event(server, BTZ_MCP_SERVER_CALL, "a"),
                                                 json(arena, q("{'content':[]}")), &err),
                     BTZ_ESTATE);
    assert_int_equal(btz_mcp_server_end_streams(server), BTZ_ESTATE);
    for (size_t i = 0; i < count; i++) { /* what was queued before can still be read */
        server_out(server, q("{'jsonrpc':'2.0','id':1,'result':{}}"));
    }
    server_quiet(server);
    btz_arena_free(arena);
    btz_mcp_server_free(server);
}

static void a_result_that_does_not_fit(void **state)
{
    struct btz_mcp_server *server =
        make_server((struct btz_mcp_server_options){.max_out_bytes = 2048}, TOOLS, NULL, NULL);
    struct btz_arena *arena = btz_arena_new();
    struct btz_json *result = btz_json_new_object(arena);
    char *text = btz_arena_zalloc(arena, 4096);
    struct btz_err err;
    uint64_t token;

    (void)state;
    memset(text, 'x', 4000);
    btz_json_setz(arena, result, "content", btz_json_new_array(arena));
    btz_json_set_strz(arena, result, "big", text);
    server_open(server, "2025-11-25");
    server_in(server, q("{'jsonrpc':'2.0','id':7,'method':'tools/call','params':{'name':'a'}}"));
    token = server_event(server, BTZ_MCP_SERVER_CALL, "a");
    assert_int_equal(btz_mcp_server_reply_result(server, token, result, &err), BTZ_ELIMIT);
    server_quiet(server);
    assert_int_equal(
        btz_mcp_server_reply_error(server, token, BTZ_MCP_E_INTERNAL, BTZ_STR("too big"), NULL),
        BTZ_OK);
    server_error(server, "7", BTZ_MCP_E_INTERNAL);
    btz_arena_free(arena);
    btz_mcp_server_free(server);
}

static void changed_lists(void **state)
{
    struct btz_mcp_server *server = make_server(dual, TOOLS, RESOURCES, NULL);
    const char *tools_changed = q("{'jsonrpc':'2.0','method':'notifications/tools/list_changed'}");
    struct btz_arena *arena = btz_arena_new();
    struct btz_str bytes;

    (void)state;
    /* Nobody is there to be told. */
    assert_int_equal(replace_tools(server, MORE_TOOLS, RESOURCES, NULL, false), BTZ_OK);
    server_quiet(server);
    /* Between initialize and initialized the news is held back. */
    server_in(server,
              q("{'jsonrpc':'2.0','id':0,'method':'initialize','params':{'protocolVersion':"
                "'2025-11-25','capabilities':{},'clientInfo':{'name':'t','version':'1'}}}"));
    assert_true(btz_mcp_server_next_out(server, &bytes));
    assert_int_equal(replace_tools(server, TOOLS, "[]", NULL, false), BTZ_OK);
    server_quiet(server);
    server_in(server, q("{'jsonrpc':'2.0','method':'notifications/initialized'}"));
    server_out(server, tools_changed);
    server_out(server, q("{'jsonrpc':'2.0','method':'notifications/resources/list_changed'}"));
    server_in(server, q("{'jsonrpc':'2.0','method':'notifications/initialized'}"));
    server_quiet(server);
    /* Only what differs; nothing when the owner wants it quiet. */
    assert_int_equal(replace_tools(server, TOOLS, "[]", NULL, false), BTZ_OK);
    server_quiet(server);
    assert_int_equal(replace_tools(server, MORE_TOOLS, "[]", NULL, false), BTZ_OK);
    server_out(server, q("{'jsonrpc':'2.0','method':'notifications/tools/list_changed'}"));
    assert_int_equal(replace_tools(server, TOOLS, "[]", NULL, true), BTZ_OK);
    server_quiet(server);
    server_in(server, q("{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'z'}}"));
    server_error(server, "1", BTZ_MCP_E_PARAMS);
    server_in(server, q("{'jsonrpc':'2.0','id':2,'method':'tools/call','params':{'name':'a'}}"));
    server_event(server, BTZ_MCP_SERVER_CALL, "a");
    /* Capabilities were promised and stay. */
    assert_int_equal(replace_tools(server, NULL, "[]", NULL, false), BTZ_EINVAL);
    assert_int_equal(replace_tools(server, TOOLS, "[]", "[]", false), BTZ_EINVAL);
    assert_int_equal(replace_tools(server, "[{}]", "[]", NULL, false), BTZ_EINVAL);
    server_quiet(server);
    btz_arena_free(arena);
    btz_mcp_server_free(server);
}

/* Every method of the table that this slice does not offer, or that belongs to the other side. */
static void methods_that_are_not_offered(void **state)
{
    struct btz_mcp_server *server = make_server(dual, TOOLS, RESOURCES, "[]");
    size_t count = 0;

    (void)state;
    server_open(server, "2025-11-25");
    for (unsigned i = 0; i < BTZ_MCP_METHOD_COUNT; i++) {
        const struct btz_mcp_method *method = btz_mcp_method_at((enum btz_mcp_method_id)i);
        char text[256];

        if (!method->notification && method->offered && method->legacy_from) {
            continue;
        }
        if (method->modern_from && !method->legacy_from) {
            continue; /* asks for the missing envelope: see the modern tests */
        }
        snprintf(text, sizeof(text), "{'jsonrpc':'2.0','id':1,'method':'%s'}", method->name);
        server_in(server, q(text));
        server_error(server, "1", BTZ_MCP_E_METHOD);
        server_quiet(server);
        count++;
    }
    assert_int_equal(count, 18);
    btz_mcp_server_free(server);
}

static void bad_catalogues(void **state)
{
    static const struct {
        const char *info, *tools, *resources, *templates, *says;
    } rows[] = {
        {"{'name':'s'}", NULL, NULL, NULL, "server_info"},
        {"{'name':'s','version':'1'}", "{}", NULL, NULL, "tools must be an array"},
        {"{'name':'s','version':'1'}", "[{'name':'a'}]", NULL, NULL, "tools[0]: /inputSchema"},
        {"{'name':'s','version':'1'}",
         "[{'name':'a','inputSchema':{'type':'object'}},{'name':'a','inputSchema':{'type':"
         "'object'}}]",
         NULL, NULL, "two items have the name \"a\""},
        {"{'name':'s','version':'1'}", NULL, "[{'uri':'u','name':'n'},{'uri':'u','name':'m'}]",
         NULL, "two items have the uri"},
        {"{'name':'s','version':'1'}", NULL, "[]", "[{'name':'n'}]", "templates[0]: /uriTemplate"},
    };
    struct btz_mcp_server_options odd = {.revisions = 1u << 20};
    struct btz_arena *arena = btz_arena_new();
    struct btz_mcp_server *server = NULL;
    struct btz_mcp_catalogue good = {.server_info = json(arena, q("{'name':'s','version':'1'}"))};
    struct btz_err err;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct btz_mcp_catalogue bad = {
            .server_info = json(arena, q(rows[i].info)),
            .tools = rows[i].tools ? json(arena, q(rows[i].tools)) : NULL,
            .resources = rows[i].resources ? json(arena, q(rows[i].resources)) : NULL,
            .templates = rows[i].templates ? json(arena, q(rows[i].templates)) : NULL};

        assert_int_equal(btz_mcp_server_new(&dual, &bad, &server, &err), BTZ_EINVAL);
        if (btz_str_find(btz_str_of(err.msg), btz_str_of(rows[i].says)) < 0) {
            fail_msg("%s", err.msg);
        }
        assert_null(server);
    }
    assert_int_equal(btz_mcp_server_new(&odd, &good, &server, &err), BTZ_EINVAL);
    btz_mcp_server_free(NULL);
    btz_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds),
        cmocka_unit_test(a_client_that_does_not_read),
        cmocka_unit_test(a_result_that_does_not_fit),
        cmocka_unit_test(changed_lists),
        cmocka_unit_test(methods_that_are_not_offered),
        cmocka_unit_test(bad_catalogues),
        cmocka_unit_test(instructions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
