/* Client against server in memory: prompts, completion, templates, changes and questions, where
 * what one machine says is what the other understands, in every revision that has it. */
#include "helper.h"

#include "mcp/state.h"

#define TOOLS "[{\"name\":\"pay\",\"inputSchema\":{\"type\":\"object\"}}]"
#define RESOURCES "[{\"uri\":\"u:1\",\"name\":\"one\"}]"
#define TEMPLATES "[{\"uriTemplate\":\"x:{id}\",\"name\":\"x\"}]"
#define PROMPTS "[{\"name\":\"p\",\"arguments\":[{\"name\":\"a\",\"required\":true}]}]"
#define CAPABILITIES "{'elicitation':{},'sampling':{},'roots':{'listChanged':true}}"
#define FORM "{'message':'Sure?','requestedSchema':{'type':'object','properties':{}}}"
#define KEY BTZ_STR("the key of this server")

struct pair {
    struct btz_mcp_client *client;
    struct btz_mcp_server *server;
    struct btz_arena *arena;
    bool modern;
};

static struct pair make_pair(enum btz_mcp_revision revision)
{
    struct pair pair = {.arena = btz_arena_new(),
                        .modern = btz_mcp_era_of(revision) == BTZ_MCP_MODERN};
    struct btz_mcp_client_options options = {
        .mode = pair.modern ? BTZ_MCP_CLIENT_MODERN : BTZ_MCP_CLIENT_LEGACY,
        .revision = pair.modern ? BTZ_MCP_REVISION_NONE : revision,
        .capabilities = json(pair.arena, q(CAPABILITIES)),
        .log_level = BTZ_STR("warning")};

    pair.client = make_client(options);
    pair.server = make_full_server(
        (struct btz_mcp_server_options){.completions = true, .subscribe = true, .logging = true},
        TOOLS, RESOURCES, TEMPLATES, PROMPTS);
    return pair;
}

static void pair_free(struct pair *pair)
{
    btz_mcp_client_free(pair->client);
    btz_mcp_server_free(pair->server);
    btz_arena_free(pair->arena);
}

static void pump(struct pair *pair)
{
    struct btz_str bytes;
    bool moved = true;

    while (moved) {
        moved = false;
        while (btz_mcp_client_next_out(pair->client, &bytes)) {
            assert_int_equal(btz_mcp_server_feed(pair->server, bytes), BTZ_OK);
            moved = true;
        }
        while (btz_mcp_server_next_out(pair->server, &bytes)) {
            assert_int_equal(btz_mcp_client_feed(pair->client, bytes), BTZ_OK);
            moved = true;
        }
    }
}

static void open_pair(struct pair *pair, enum btz_mcp_revision revision)
{
    assert_int_equal(btz_mcp_client_start(pair->client), BTZ_OK);
    pump(pair);
    assert_int_equal(client_event(pair->client, BTZ_MCP_CLIENT_READY).revision, revision);
}

static const struct btz_json *result(struct pair *pair)
{
    struct btz_mcp_client_event event;

    pump(pair);
    event = client_event(pair->client, BTZ_MCP_CLIENT_RESULT);
    assert_int_equal(event.fault, BTZ_MCP_FAULT_NONE);
    return event.value;
}

static void offers(struct pair *pair)
{
    uint64_t token;

    assert_int_equal(btz_mcp_client_list_prompts(pair->client, NULL), BTZ_OK);
    pump(pair);
    assert_json(client_event(pair->client, BTZ_MCP_CLIENT_PROMPTS).value, PROMPTS);
    assert_int_equal(btz_mcp_client_get_prompt(pair->client, BTZ_STR("p"),
                                               json(pair->arena, q("{'a':'x'}")), NULL),
                     BTZ_OK);
    pump(pair);
    server_reply(pair->server, server_event(pair->server, BTZ_MCP_SERVER_PROMPT, "p"),
                 q("{'messages':[{'role':'user','content':{'type':'text','text':'x'}}]}"));
    assert_int_equal(btz_json_count(btz_json_getz(result(pair), "messages")), 1);
    assert_int_equal(btz_mcp_client_complete(pair->client, BTZ_MCP_REF_PROMPT, BTZ_STR("p"),
                                             BTZ_STR("a"), BTZ_STR("x"), NULL, NULL),
                     BTZ_OK);
    pump(pair);
    token = server_event(pair->server, BTZ_MCP_SERVER_COMPLETE, "p");
    server_reply(pair->server, token, q("{'completion':{'values':['xy']}}"));
    assert_json(btz_json_getz(result(pair), "completion"), q("{'values':['xy']}"));
    assert_int_equal(btz_mcp_client_list_templates(pair->client, NULL), BTZ_OK);
    pump(pair);
    assert_json(client_event(pair->client, BTZ_MCP_CLIENT_TEMPLATES).value, TEMPLATES);
    assert_int_equal(btz_mcp_client_read_resource(pair->client, BTZ_STR("x:7"), NULL), BTZ_OK);
    pump(pair);
    server_reply(pair->server, server_event(pair->server, BTZ_MCP_SERVER_READ, "x:7"),
                 q("{'contents':[{'uri':'x:7','text':'seven'}]}"));
    assert_int_equal(btz_json_count(btz_json_getz(result(pair), "contents")), 1);
}

static void changes(struct pair *pair)
{
    const struct btz_str uri = BTZ_STR("u:1");

    if (pair->modern) {
        assert_int_equal(
            btz_mcp_client_listen_to(pair->client, BTZ_MCP_LIST_PROMPTS, &uri, 1, NULL), BTZ_OK);
        pump(pair);
        client_event(pair->client, BTZ_MCP_CLIENT_LISTENING);
    } else {
        assert_int_equal(btz_mcp_client_subscribe(pair->client, uri, NULL), BTZ_OK);
        result(pair);
        assert_int_equal(btz_mcp_client_set_log_level(pair->client, BTZ_STR("warning"), NULL),
                         BTZ_OK);
        result(pair);
    }
    assert_int_equal(btz_mcp_server_resource_updated(pair->server, uri), BTZ_OK);
    pump(pair);
    assert_text(client_event(pair->client, BTZ_MCP_CLIENT_RESOURCE_UPDATED).message, "u:1");
    client_quiet(pair->client);
}

/* A tool that asks its user: by a request of its own, or by a second round with a sealed state. */
static void question(struct pair *pair, enum btz_mcp_revision revision)
{
    const struct btz_json *form = json(pair->arena, q(FORM));
    const struct btz_json *accept = json(pair->arena, q("{'action':'accept','content':{}}"));
    struct btz_mcp_server_event event;
    struct btz_mcp_client_event asked;
    uint64_t ask = 0;
    struct btz_err err;
    int rc;

    assert_int_equal(btz_mcp_client_call_tool(pair->client, BTZ_STR("pay"), NULL, NULL), BTZ_OK);
    pump(pair);
    assert_true(btz_mcp_server_next_event(pair->server, &event));
    assert_int_equal(
        btz_mcp_server_log(pair->server, event.token, BTZ_STR("info"), BTZ_STR_NONE, form),
        BTZ_EUNSUPPORTED);
    assert_int_equal(
        btz_mcp_server_log(pair->server, event.token, BTZ_STR("error"), BTZ_STR_NONE, form),
        BTZ_OK);
    pump(pair);
    client_event(pair->client, BTZ_MCP_CLIENT_LOG);
    if (pair->modern) {
        struct btz_mcp_state_binding binding = {
            .method = BTZ_STR("tools/call"), .name = event.name, .arguments = event.arguments};
        struct btz_json *requests = btz_json_new_object(pair->arena);
        struct btz_json *one = btz_json_new_object(pair->arena);
        struct btz_json *responses = btz_json_new_object(pair->arena);
        struct btz_str state;

        btz_json_set_strz(pair->arena, one, "method", "elicitation/create");
        btz_json_setz(pair->arena, one, "params", form);
        btz_json_setz(pair->arena, requests, "ok", one);
        btz_json_setz(pair->arena, responses, "ok", accept);
        assert_int_equal(
            btz_mcp_state_seal(pair->arena, KEY, &binding, BTZ_STR("asked once"), 1000, 60, &state),
            BTZ_OK);
        assert_int_equal(
            btz_mcp_server_reply_input(pair->server, event.token, requests, state, &err), BTZ_OK);
        pump(pair);
        asked = client_event(pair->client, BTZ_MCP_CLIENT_INPUT);
        assert_int_equal(btz_mcp_client_answer_inputs(pair->client, asked.request, responses, &err),
                         BTZ_OK);
        pump(pair);
        assert_true(btz_mcp_server_next_event(pair->server, &event));
        binding.name = event.name;
        binding.arguments = event.arguments;
        assert_int_equal(
            btz_mcp_state_open(pair->arena, KEY, &binding, event.request_state, 1030, &state),
            BTZ_OK);
        assert_text(state, "asked once");
        assert_json(btz_json_getz(event.inputs, "ok"), q("{'action':'accept','content':{}}"));
    } else {
        uint64_t token = event.token;

        rc = btz_mcp_server_ask(pair->server, token, BTZ_STR("elicitation/create"), form, &ask,
                                &err);
        assert_int_equal(rc, revision >= BTZ_MCP_2025_06_18 ? BTZ_OK : BTZ_EUNSUPPORTED);
        if (!rc) {
            pump(pair);
            asked = client_event(pair->client, BTZ_MCP_CLIENT_ASKED);
            assert_int_equal(btz_mcp_client_answer(pair->client, asked.ask, accept, &err), BTZ_OK);
            pump(pair);
            assert_true(btz_mcp_server_next_event(pair->server, &event));
            assert_int_equal(event.kind, BTZ_MCP_SERVER_ANSWER);
            assert_int_equal(event.ask, ask);
            assert_int_equal(event.token, token);
            assert_json(event.result, q("{'action':'accept','content':{}}"));
        }
        event.token = token;
    }
    server_reply(pair->server, event.token, q("{'content':[]}"));
    result(pair);
}

static void legacy_roots_and_ping(struct pair *pair)
{
    struct btz_mcp_server_event event;
    struct btz_err err;
    uint64_t ask;

    assert_int_equal(btz_mcp_server_ask(pair->server, 0, BTZ_STR("roots/list"), NULL, &ask, &err),
                     BTZ_OK);
    pump(pair);
    assert_int_equal(btz_mcp_client_answer(pair->client,
                                           client_event(pair->client, BTZ_MCP_CLIENT_ASKED).ask,
                                           json(pair->arena, q("{'roots':[]}")), &err),
                     BTZ_OK);
    assert_int_equal(btz_mcp_client_roots_changed(pair->client), BTZ_OK);
    pump(pair);
    assert_true(btz_mcp_server_next_event(pair->server, &event));
    assert_int_equal(event.kind, BTZ_MCP_SERVER_ANSWER);
    assert_true(btz_mcp_server_next_event(pair->server, &event));
    assert_int_equal(event.kind, BTZ_MCP_SERVER_ROOTS_CHANGED);
    assert_int_equal(btz_mcp_server_ask(pair->server, 0, BTZ_STR("ping"), NULL, &ask, &err),
                     BTZ_OK);
    pump(pair);
    assert_true(btz_mcp_server_next_event(pair->server, &event));
    assert_json(event.result, "{}");
    assert_int_equal(btz_mcp_client_ping(pair->client, NULL), BTZ_OK);
    assert_json(result(pair), "{}");
}

static void every_revision(void **state)
{
    (void)state;
    for (unsigned r = BTZ_MCP_2024_11_05; r <= BTZ_MCP_REVISION_LAST; r++) {
        struct pair pair = make_pair((enum btz_mcp_revision)r);

        open_pair(&pair, (enum btz_mcp_revision)r);
        offers(&pair);
        changes(&pair);
        question(&pair, (enum btz_mcp_revision)r);
        if (!pair.modern) {
            legacy_roots_and_ping(&pair);
        }
        client_quiet(pair.client);
        server_quiet(pair.server);
        assert_int_equal(btz_mcp_client_stats(pair.client).ignored, 0);
        assert_int_equal(btz_mcp_server_stats(pair.server).refused, 0);
        pair_free(&pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_revision),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
