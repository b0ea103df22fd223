/* What a server asks of a client: requests of their own in the legacy era, input_required in the
 * modern one. Exact bytes. */
#include "helper.h"

#include <stdio.h>

#include "mcp/ask.h"
#include "mcp/state.h"

#define TOOLS "[{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}]"
#define RESOURCES "[{\"uri\":\"u:1\",\"name\":\"n\"}]"
#define PROMPTS "[{\"name\":\"p\"}]"
#define META "'_meta':{'io.modelcontextprotocol/serverInfo':{'name':'s','version':'1'}}"
#define FORM "{'message':'Sure?','requestedSchema':{'type':'object','properties':{}}}"
#define SAMPLE "{'messages':[{'role':'user','content':{'type':'text','text':'hi'}}],'maxTokens':10}"
#define ALL "{'elicitation':{},'sampling':{},'roots':{'listChanged':true}}"

static struct btz_mcp_server *make(void)
{
    return make_full_server((struct btz_mcp_server_options){.max_asks = 3, .completions = true},
                            TOOLS, RESOURCES, NULL, PROMPTS);
}

static struct btz_mcp_server *legacy_server(const char *version, const char *capabilities)
{
    struct btz_mcp_server *server = make();

    server_open_with(server, version, q(capabilities));
    return server;
}

static int ask(struct btz_mcp_server *server, uint64_t token, const char *method,
               const char *params, uint64_t *number)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_err err;
    int rc = btz_mcp_server_ask(server, token, btz_str_of(method),
                                params ? json(arena, q(params)) : NULL, number, &err);

    btz_arena_free(arena);
    return rc;
}

static struct btz_mcp_server_event answer(struct btz_mcp_server *server, uint64_t number,
                                          const char *method)
{
    struct btz_mcp_server_event event = {0};

    assert_true(btz_mcp_server_next_event(server, &event));
    assert_int_equal(event.kind, BTZ_MCP_SERVER_ANSWER);
    assert_int_equal(event.ask, number);
    assert_text(event.name, method);
    return event;
}

/* One of each kind, on the stream of a call and on none; result, error and a broken result. */
static void legacy_asks(void **state)
{
    struct btz_mcp_server *server = legacy_server("2025-11-25", ALL);
    struct btz_mcp_server_event event;
    struct btz_mcp_out out;
    uint64_t token;
    uint64_t one;
    uint64_t two;
    uint64_t three;

    (void)state;
    server_in(server, legacy_request("'c'", "tools/call", "'name':'t'"));
    token = server_event(server, BTZ_MCP_SERVER_CALL, "t");
    assert_int_equal(ask(server, token, "elicitation/create", FORM, &one), BTZ_OK);
    assert_true(btz_mcp_server_next_out_full(server, &out));
    assert_text(out.bytes,
                q("{'jsonrpc':'2.0','id':1,'method':'elicitation/create','params':" FORM "}"));
    assert_int_equal(out.kind, BTZ_MCP_REQUEST);
    assert_true(btz_mcp_id_eq(out.related, btz_mcp_id_str(BTZ_STR("c"))));
    assert_int_equal(ask(server, token, "sampling/createMessage", SAMPLE, &two), BTZ_OK);
    server_out(server,
               q("{'jsonrpc':'2.0','id':2,'method':'sampling/createMessage','params':" SAMPLE "}"));
    assert_int_equal(ask(server, 0, "roots/list", NULL, &three), BTZ_OK);
    assert_true(btz_mcp_server_next_out_full(server, &out));
    assert_text(out.bytes, q("{'jsonrpc':'2.0','id':3,'method':'roots/list'}"));
    assert_int_equal(out.related.kind, BTZ_MCP_ID_NONE);
    assert_int_equal(ask(server, 0, "ping", NULL, &one), BTZ_ELIMIT);
    one = 1;
    /* Answers in another order, each exactly once. */
    server_in(server, q("{'jsonrpc':'2.0','id':3,'result':{'roots':[{'uri':'file:///r'}]}}"));
    event = answer(server, three, "roots/list");
    assert_json(event.result, q("{'roots':[{'uri':'file:///r'}]}"));
    assert_int_equal(event.token, 0);
    server_in(server, q("{'jsonrpc':'2.0','id':3,'result':{'roots':[]}}"));
    server_in(server, q("{'jsonrpc':'2.0','id':1,'result':{'action':'accept','content':{}}}"));
    event = answer(server, one, "elicitation/create");
    assert_json(event.result, q("{'action':'accept','content':{}}"));
    assert_int_equal(event.token, token);
    server_in(server, q("{'jsonrpc':'2.0','id':2,'error':{'code':-1,'message':'User rejected "
                        "sampling request','data':[1]}}"));
    event = answer(server, two, "sampling/createMessage");
    assert_null(event.result);
    assert_int_equal(event.code, -1);
    assert_text(event.message, "User rejected sampling request");
    assert_json(event.data, "[1]");
    server_quiet(server);
    assert_int_equal(btz_mcp_server_stats(server).responses, 1);
    /* A result that breaks the shape of its method is not handed on as one. */
    assert_int_equal(ask(server, token, "elicitation/create", FORM, &one), BTZ_OK);
    server_out(server,
               q("{'jsonrpc':'2.0','id':4,'method':'elicitation/create','params':" FORM "}"));
    server_in(server, q("{'jsonrpc':'2.0','id':4,'result':{'action':'perhaps'}}"));
    event = answer(server, one, "elicitation/create");
    assert_null(event.result);
    assert_int_equal(event.code, BTZ_MCP_E_PARAMS);
    assert_true(event.message.len > 0);
    server_reply(server, token, q("{'content':[]}"));
    server_out(server, q("{'jsonrpc':'2.0','id':'c','result':{'content':[]}}"));
    btz_mcp_server_free(server);
}

/* What is not declared, or not in the revision, is never sent. */
static void legacy_gates(void **state)
{
    static const struct {
        const char *version, *capabilities, *method, *params;
        int rc;
    } rows[] = {
        {"2025-11-25", "{}", "elicitation/create", FORM, BTZ_EUNSUPPORTED},
        {"2025-11-25", "{}", "sampling/createMessage", SAMPLE, BTZ_EUNSUPPORTED},
        {"2025-11-25", "{}", "roots/list", NULL, BTZ_EUNSUPPORTED},
        {"2025-11-25", "{}", "ping", NULL, BTZ_OK},
        {"2025-11-25", ALL, "roots/list", "{}", BTZ_OK},
        {"2025-11-25", ALL, "roots/list", "[]", BTZ_EINVAL},
        {"2025-06-18", ALL, "elicitation/create", FORM, BTZ_OK},
        {"2025-03-26", ALL, "elicitation/create", FORM, BTZ_EUNSUPPORTED},
        {"2024-11-05", ALL, "sampling/createMessage", SAMPLE, BTZ_OK},
        {"2025-11-25", ALL, "elicitation/create", "{'mode':'url','message':'m','url':'u'}",
         BTZ_EUNSUPPORTED},
        {"2025-11-25", "{'elicitation':{'url':{}}}", "elicitation/create",
         "{'mode':'url','message':'m','url':'u'}", BTZ_OK},
        {"2025-11-25", "{'elicitation':{'url':{}}}", "elicitation/create", FORM, BTZ_EUNSUPPORTED},
        {"2025-11-25", ALL, "sampling/createMessage", "{'messages':[],'maxTokens':1,'tools':[]}",
         BTZ_EUNSUPPORTED},
        {"2025-11-25", "{'sampling':{'tools':{}}}", "sampling/createMessage",
         "{'messages':[],'maxTokens':1,'tools':[]}", BTZ_OK},
        {"2025-11-25", ALL, "elicitation/create", "{'message':'m'}", BTZ_EINVAL},
        {"2025-11-25", ALL, "elicitation/create", "{'mode':'x','message':'m'}", BTZ_EINVAL},
        {"2025-11-25", ALL, "sampling/createMessage", "{'messages':[]}", BTZ_EINVAL},
        {"2025-11-25", ALL, "sampling/createMessage", "{'messages':[{}],'maxTokens':1}",
         BTZ_EINVAL},
        {"2025-11-25", ALL, "tools/call", "{}", BTZ_EINVAL},
        {"2025-11-25", ALL, "notifications/message", "{}", BTZ_EINVAL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct btz_mcp_server *server = legacy_server(rows[i].version, rows[i].capabilities);
        struct btz_str bytes;
        uint64_t number;

        if (ask(server, 0, rows[i].method, rows[i].params, &number) != rows[i].rc ||
            btz_mcp_server_next_out(server, &bytes) != (rows[i].rc == BTZ_OK)) {
            fail_msg("row %zu", i);
        }
        btz_mcp_server_free(server);
    }
}

/* Before a session, of a modern call, of a call that is over. */
static void legacy_states(void **state)
{
    struct btz_mcp_server *server = make();
    struct btz_mcp_server_event event;
    uint64_t number;
    uint64_t token;

    (void)state;
    assert_int_equal(ask(server, 0, "roots/list", NULL, &number), BTZ_ESTATE);
    assert_int_equal(ask(server, 0, "ping", NULL, &number), BTZ_ESTATE);
    assert_int_equal(ask(server, 9, "ping", NULL, &number), BTZ_ENOTFOUND);
    server_in(server, modern_request("1", "tools/call", ALL, "'name':'t'"));
    token = server_event(server, BTZ_MCP_SERVER_CALL, "t");
    assert_int_equal(ask(server, token, "roots/list", NULL, &number), BTZ_ESTATE);
    server_quiet(server);
    btz_mcp_server_free(server);
    /* When the call ends, what was asked for it is cancelled first; a late answer is dropped. */
    server = legacy_server("2025-11-25", ALL);
    server_in(server, legacy_request("1", "tools/call", "'name':'t'"));
    token = server_event(server, BTZ_MCP_SERVER_CALL, "t");
    assert_int_equal(ask(server, token, "roots/list", NULL, &number), BTZ_OK);
    server_out(server, q("{'jsonrpc':'2.0','id':1,'method':'roots/list'}"));
    server_reply(server, token, q("{'content':[]}"));
    server_out(server, q("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{"
                         "'requestId':1,'reason':'the request it belongs to is over'}}"));
    server_out(server, q("{'jsonrpc':'2.0','id':1,'result':{'content':[]}}"));
    server_in(server, q("{'jsonrpc':'2.0','id':1,'result':{'roots':[]}}"));
    server_quiet(server);
    /* The client gives the call up. */
    server_in(server, legacy_request("2", "tools/call", "'name':'t'"));
    token = server_event(server, BTZ_MCP_SERVER_CALL, "t");
    assert_int_equal(ask(server, token, "ping", NULL, &number), BTZ_OK);
    server_out(server, q("{'jsonrpc':'2.0','id':2,'method':'ping'}"));
    server_in(server, q("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{"
                        "'requestId':2}}"));
    server_out(server, q("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{"
                         "'requestId':2,'reason':'the request it belongs to is over'}}"));
    assert_true(btz_mcp_server_next_event(server, &event));
    assert_int_equal(event.kind, BTZ_MCP_SERVER_CANCELLED);
    assert_int_equal(ask(server, token, "ping", NULL, &number), BTZ_ECANCELLED);
    /* By the owner. */
    assert_int_equal(ask(server, 0, "ping", NULL, &number), BTZ_OK);
    server_out(server, q("{'jsonrpc':'2.0','id':3,'method':'ping'}"));
    assert_int_equal(btz_mcp_server_cancel_ask(server, number, BTZ_STR("enough")), BTZ_OK);
    server_out(server, q("{'jsonrpc':'2.0','method':'notifications/cancelled','params':{"
                         "'requestId':3,'reason':'enough'}}"));
    assert_int_equal(btz_mcp_server_cancel_ask(server, number, BTZ_STR_NONE), BTZ_ENOTFOUND);
    server_in(server, q("{'jsonrpc':'2.0','id':3,'result':{}}"));
    server_quiet(server);
    /* Asks and answers that nobody pulled are freed with the machine. */
    assert_int_equal(ask(server, 0, "ping", NULL, &number), BTZ_OK);
    assert_int_equal(ask(server, 0, "ping", NULL, &number), BTZ_OK);
    server_in(server, q("{'jsonrpc':'2.0','id':4,'result':{}}"));
    btz_mcp_server_free(server);
}

/* Over HTTP an answer, also a late one, is accepted in silence; others are refused. */
static void legacy_http(void **state)
{
    const struct btz_mcp_headers headers = {.protocol_version = BTZ_STR("2025-11-25")};
    struct btz_mcp_server *server = legacy_server("2025-11-25", ALL);
    struct btz_str result = btz_str_of(q("{'jsonrpc':'2.0','id':1,'result':{}}"));
    uint64_t number;

    (void)state;
    assert_int_equal(ask(server, 0, "ping", NULL, &number), BTZ_OK);
    server_out(server, q("{'jsonrpc':'2.0','id':1,'method':'ping'}"));
    assert_int_equal(btz_mcp_server_feed_http(server, result, &headers), BTZ_OK);
    assert_json(answer(server, number, "ping").result, "{}");
    server_quiet(server);
    assert_int_equal(btz_mcp_server_feed_http(server, result, &headers), BTZ_OK);
    server_quiet(server);
    assert_int_equal(btz_mcp_server_feed_http(
                         server, btz_str_of(q("{'jsonrpc':'2.0','id':2,'result':{}}")), &headers),
                     BTZ_OK);
    server_error(server, NULL, BTZ_MCP_E_REQUEST);
    btz_mcp_server_free(server);
}

static void roots_changed(void **state)
{
    const char *text = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}";
    struct btz_mcp_server *server = legacy_server("2025-11-25", ALL);
    struct btz_mcp_server_event event;
    uint64_t number;

    (void)state;
    server_in(server, text);
    server_quiet(server); /* the owner never asked for roots */
    assert_int_equal(ask(server, 0, "roots/list", NULL, &number), BTZ_OK);
    server_out(server, q("{'jsonrpc':'2.0','id':1,'method':'roots/list'}"));
    server_in(server, text);
    server_in(server, text);
    assert_true(btz_mcp_server_next_event(server, &event));
    assert_int_equal(event.kind, BTZ_MCP_SERVER_ROOTS_CHANGED);
    server_quiet(server); /* two that wait are one */
    btz_mcp_server_free(server);
}

static int input(struct btz_mcp_server *server, uint64_t token, const char *requests,
                 struct btz_str request_state)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_err err;
    int rc = btz_mcp_server_reply_input(server, token, requests ? json(arena, q(requests)) : NULL,
                                        request_state, &err);

    btz_arena_free(arena);
    return rc;
}

#define OK_INPUT "{'ok':{'method':'elicitation/create','params':" FORM "}}"

/* The whole exchange of the brief: two requests, two ids, the state sealed in between. */
static void modern_rounds(void **state)
{
    static const struct {
        const char *method, *name;
        enum btz_mcp_server_event_kind kind;
        const char *result;
    } rows[] = {
        {"tools/call", "'name':'t','arguments':{'eur':40}", BTZ_MCP_SERVER_CALL, "'content':[]"},
        {"prompts/get", "'name':'p'", BTZ_MCP_SERVER_PROMPT, "'messages':[]"},
        {"resources/read", "'uri':'u:1'", BTZ_MCP_SERVER_READ, "'contents':[]"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct btz_mcp_server *server = make();
        struct btz_mcp_server_event event;
        char text[1024];

        server_in(server, modern_request("'g-17'", rows[i].method, ALL, rows[i].name));
        assert_true(btz_mcp_server_next_event(server, &event));
        assert_null(event.inputs);
        assert_null(event.request_state.ptr);
        assert_int_equal(input(server, event.token, OK_INPUT, BTZ_STR("v1.Zx")), BTZ_OK);
        server_out(server, q("{'jsonrpc':'2.0','id':'g-17','result':{'resultType':"
                             "'input_required','inputRequests':" OK_INPUT
                             ",'requestState':'v1.Zx'," META "}}"));
        assert_int_equal(btz_mcp_server_in_flight(server), 0);
        snprintf(text, sizeof(text),
                 "%s,'requestState':'v1.Zx','inputResponses':{'ok':{'action':'accept','content':{"
                 "'yes':true}},'extra':7}",
                 rows[i].name);
        server_in(server, modern_request("'g-18'", rows[i].method, ALL, text));
        assert_true(btz_mcp_server_next_event(server, &event));
        assert_int_equal(event.kind, rows[i].kind);
        assert_text(event.request_state, "v1.Zx");
        assert_json(event.inputs, q("{'ok':{'action':'accept','content':{'yes':true}},'extra':7}"));
        /* It may ask again, with a state alone. */
        assert_int_equal(input(server, event.token, NULL, BTZ_STR("v2")), BTZ_OK);
        server_out(server, q("{'jsonrpc':'2.0','id':'g-18','result':{'resultType':"
                             "'input_required','requestState':'v2'," META "}}"));
        snprintf(text, sizeof(text), "%s,'requestState':'v2'", rows[i].name);
        server_in(server, modern_request("'g-19'", rows[i].method, ALL, text));
        assert_true(btz_mcp_server_next_event(server, &event));
        assert_null(event.inputs);
        assert_text(event.request_state, "v2");
        snprintf(text, sizeof(text), "{%s}", rows[i].result);
        server_reply(server, event.token, q(text));
        snprintf(text, sizeof(text),
                 "{'jsonrpc':'2.0','id':'g-19','result':{'resultType':'complete',%s%s," META "}}",
                 rows[i].result,
                 rows[i].kind == BTZ_MCP_SERVER_READ ? ",'ttlMs':0,'cacheScope':'private'" : "");
        server_out(server, q(text));
        server_quiet(server);
        btz_mcp_server_free(server);
    }
}

/* -32021 names everything that is missing, and HTTP answers 400. */
static void modern_capability(void **state)
{
    static const struct {
        const char *declared, *requests, *required; /* NULL = nothing is missing */
    } rows[] = {
        {"{}", OK_INPUT, "{'elicitation':{'form':{}}}"},
        {"{'elicitation':{}}", OK_INPUT, NULL},
        {"{'elicitation':{'form':{}}}", OK_INPUT, NULL},
        {"{'elicitation':{'url':{}}}", OK_INPUT, "{'elicitation':{'form':{}}}"},
        {"{'elicitation':true}", OK_INPUT, "{'elicitation':{'form':{}}}"},
        {"{}", "{'r':{'method':'roots/list'}}", "{'roots':{}}"},
        {"{'roots':{}}", "{'r':{'method':'roots/list','params':{}}}", NULL},
        {"{'elicitation':{}}",
         "{'a':{'method':'sampling/createMessage','params':" SAMPLE "},'b':{'method':'roots/list'},"
         "'c':{'method':'elicitation/create','params':{'mode':'url','message':'m','url':'u'}}}",
         "{'sampling':{},'roots':{},'elicitation':{'url':{}}}"},
        {"{}",
         "{'a':{'method':'elicitation/create','params':" FORM "},"
         "'c':{'method':'elicitation/create','params':{'mode':'url','message':'m','url':'u'}}}",
         "{'elicitation':{'form':{},'url':{}}}"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct btz_mcp_server *server = make();
        struct btz_mcp_out out;
        char text[512];
        uint64_t token;

        server_in(server, modern_request("1", "tools/call", rows[i].declared, "'name':'t'"));
        token = server_event(server, BTZ_MCP_SERVER_CALL, "t");
        assert_int_equal(input(server, token, rows[i].requests, BTZ_STR_NONE),
                         rows[i].required ? BTZ_EUNSUPPORTED : BTZ_OK);
        assert_true(btz_mcp_server_next_out_full(server, &out));
        if (rows[i].required) {
            snprintf(text, sizeof(text),
                     "{'jsonrpc':'2.0','id':1,'error':{'code':-32021,'message':'this request needs "
                     "a capability that the client did not declare','data':{"
                     "'requiredCapabilities':%s}}}",
                     rows[i].required);
            assert_text(out.bytes, q(text));
            assert_int_equal(out.http_status, 400);
        }
        assert_int_equal(btz_mcp_server_in_flight(server), 0);
        btz_mcp_server_free(server);
    }
}

static void modern_refusals(void **state)
{
    static const char *const bad[] = {"{}",
                                      "[]",
                                      "{'k':{}}",
                                      "{'k':{'method':'tools/call'}}",
                                      "{'k':{'method':'roots/list','params':[]}}",
                                      "{'k':{'method':'elicitation/create','params':{}}}",
                                      "{'k':{'method':'elicitation/create'}}",
                                      "{'k':1}"};
    struct btz_mcp_server *server = make();
    uint64_t token;

    (void)state;
    server_in(server, modern_request("1", "tools/call", ALL, "'name':'t'"));
    token = server_event(server, BTZ_MCP_SERVER_CALL, "t");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (input(server, token, bad[i], BTZ_STR("s")) != BTZ_EINVAL) {
            fail_msg("row %zu", i);
        }
    }
    assert_int_equal(input(server, token, NULL, BTZ_STR_NONE), BTZ_EINVAL);
    assert_int_equal(input(server, 99, NULL, BTZ_STR("s")), BTZ_ENOTFOUND);
    server_quiet(server);
    server_reply(server, token, q("{'content':[]}"));
    server_in(server, modern_request("2", "completion/complete", ALL,
                                     "'ref':{'type':'ref/prompt','name':'p'},'argument':{'name':"
                                     "'a','value':''}"));
    token = server_event(server, BTZ_MCP_SERVER_COMPLETE, "p");
    assert_int_equal(input(server, token, NULL, BTZ_STR("s")), BTZ_ESTATE);
    btz_mcp_server_free(server);
    server = make();
    server_in(server, modern_request("3", "tools/call", ALL, "'name':'t','inputResponses':[]"));
    server_error(server, "3", BTZ_MCP_E_PARAMS);
    server_in(server, modern_request("3", "tools/call", ALL, "'name':'t','requestState':{}"));
    server_error(server, "3", BTZ_MCP_E_PARAMS);
    btz_mcp_server_free(server);
    /* Legacy requests neither carry nor get any of it. */
    server = legacy_server("2025-11-25", ALL);
    server_in(server, legacy_request("1", "tools/call", "'name':'t','requestState':7"));
    token = server_event(server, BTZ_MCP_SERVER_CALL, "t");
    assert_int_equal(input(server, token, OK_INPUT, BTZ_STR("s")), BTZ_ESTATE);
    server_quiet(server);
    btz_mcp_server_free(server);
}

/* The exchange of the suite's tampered-state scenario, with the bytes that must go out. */
static void tampered_state(void **state)
{
    struct btz_mcp_server *server = make();
    struct btz_arena *arena = btz_arena_new();
    struct btz_str key = BTZ_STR("an owner's secret key");
    struct btz_mcp_server_event event;
    struct btz_mcp_state_binding binding = {.method = BTZ_STR("tools/call"), .name = BTZ_STR("t")};
    struct btz_str sealed;
    struct btz_str payload;
    char text[512];

    (void)state;
    assert_int_equal(btz_mcp_state_seal(arena, key, &binding, BTZ_STR("round 1"), 100, 60, &sealed),
                     BTZ_OK);
    server_in(server, modern_request("1", "tools/call", ALL, "'name':'t'"));
    assert_true(btz_mcp_server_next_event(server, &event));
    assert_int_equal(input(server, event.token, NULL, sealed), BTZ_OK);
    snprintf(text, sizeof(text),
             "{'jsonrpc':'2.0','id':1,'result':{'resultType':'input_required','requestState':"
             "'%.*s'," META "}}",
             BTZ_FMT(sealed));
    server_out(server, q(text));
    snprintf(text, sizeof(text), "'name':'t','requestState':'%.*sX'", BTZ_FMT(sealed));
    server_in(server, modern_request("2", "tools/call", ALL, text));
    assert_true(btz_mcp_server_next_event(server, &event));
    binding.name = event.name;
    binding.arguments = event.arguments;
    assert_int_equal(btz_mcp_state_open(arena, key, &binding, event.request_state, 101, &payload),
                     BTZ_EINVAL);
    assert_int_equal(btz_mcp_server_reply_error(server, event.token, BTZ_MCP_E_PARAMS,
                                                BTZ_STR("requestState is not valid"), NULL),
                     BTZ_OK);
    server_out(server, q("{'jsonrpc':'2.0','id':2,'error':{'code':-32602,'message':'requestState "
                         "is not valid'}}"));
    snprintf(text, sizeof(text), "'name':'t','requestState':'%.*s'", BTZ_FMT(sealed));
    server_in(server, modern_request("3", "tools/call", ALL, text));
    assert_true(btz_mcp_server_next_event(server, &event));
    assert_int_equal(btz_mcp_state_open(arena, key, &binding, event.request_state, 101, &payload),
                     BTZ_OK);
    assert_text(payload, "round 1");
    btz_arena_free(arena);
    btz_mcp_server_free(server);
}

/* Mirrored parameters are judged after the method, before the call. */
static void param_headers(void **state)
{
    static const char tools[] =
        "[{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"r\":{\"type\":"
        "\"string\",\"x-mcp-header\":\"Region\"}}}}]";
    struct btz_mcp_param eu = {BTZ_STR("REGION"), BTZ_STR("eu")};
    struct btz_mcp_param us = {BTZ_STR("Region"), BTZ_STR("us")};
    struct btz_mcp_headers headers = {.protocol_version = BTZ_STR("2026-07-28"),
                                      .method = BTZ_STR("tools/call"),
                                      .name = BTZ_STR("t"),
                                      .params = &eu,
                                      .param_count = 1};
    struct btz_mcp_server *server = make_server(
        (struct btz_mcp_server_options){.carrier = BTZ_MCP_CARRIER_HTTP}, tools, NULL, NULL);
    const char *call = modern_request("1", "tools/call", "{}", "'name':'t','arguments':{'r':'eu'}");
    struct btz_mcp_out out;

    (void)state;
    assert_int_equal(btz_mcp_server_feed_http(server, btz_str_of(call), &headers), BTZ_OK);
    server_reply(server, server_event(server, BTZ_MCP_SERVER_CALL, "t"), q("{'content':[]}"));
    assert_true(btz_mcp_server_next_out_full(server, &out));
    assert_int_equal(out.http_status, 200);
    headers.params = &us;
    assert_int_equal(btz_mcp_server_feed_http(server, btz_str_of(call), &headers), BTZ_OK);
    assert_true(btz_mcp_server_next_out_full(server, &out));
    assert_text(out.bytes, q("{'jsonrpc':'2.0','id':1,'error':{'code':-32020,'message':'the header "
                             "Mcp-Param-Region does not match the body'}}"));
    assert_int_equal(out.http_status, 400);
    headers.param_count = 0;
    assert_int_equal(btz_mcp_server_feed_http(server, btz_str_of(call), &headers), BTZ_OK);
    assert_true(btz_mcp_server_next_out_full(server, &out));
    assert_text(out.bytes, q("{'jsonrpc':'2.0','id':1,'error':{'code':-32020,'message':'the header "
                             "Mcp-Param-Region is missing'}}"));
    server_quiet(server);
    btz_mcp_server_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(legacy_asks),       cmocka_unit_test(legacy_gates),
        cmocka_unit_test(legacy_states),     cmocka_unit_test(legacy_http),
        cmocka_unit_test(roots_changed),     cmocka_unit_test(modern_rounds),
        cmocka_unit_test(modern_capability), cmocka_unit_test(modern_refusals),
        cmocka_unit_test(tampered_state),    cmocka_unit_test(param_headers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
