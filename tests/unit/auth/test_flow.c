/* The way from a challenge to a token, and its branches. */
#include "issuer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "auth/form.h"

#define ISSUER_METADATA "https://id.example/.well-known/oauth-authorization-server"

static void ready(struct btz_auth_flow *flow, const char *header)
{
    if (btz_auth_flow_state(flow) != BTZ_AUTH_READY) {
        fail_msg("%.*s", BTZ_FMT(btz_auth_flow_failure(flow, NULL)));
    }
    assert_true(btz_str_is(btz_auth_flow_header(flow), header));
}

static void failed(struct btz_auth_flow *flow, const char *why)
{
    struct btz_str text = btz_auth_flow_failure(flow, NULL);

    assert_int_equal(btz_auth_flow_state(flow), BTZ_AUTH_FAILED);
    assert_null(btz_auth_flow_header(flow).ptr);
    if (btz_str_find(text, btz_str_of(why)) < 0) {
        fail_msg("\"%.*s\" does not say \"%s\"", BTZ_FMT(text), why);
    }
}

static void test_whole_way(void **state)
{
    struct btz_auth_flow_options options = usual_options();
    struct btz_auth_flow *flow;
    struct fake fake;

    (void)state;
    fake_init(&fake);
    fake_usual(&fake);
    flow = challenged(&fake, &options, NULL);
    ready(flow, "Bearer token-1");
    assert_true(btz_str_is(btz_auth_flow_issuer(flow), "https://id.example"));
    /* What was asked of the user and traded. */
    assert_true(btz_str_is(fake_asked(&fake, "response_type"), "code"));
    assert_true(btz_str_is(fake_asked(&fake, "client_id"), "client-1"));
    assert_true(btz_str_is(fake_asked(&fake, "redirect_uri"), "http://localhost:8976/callback"));
    assert_true(btz_str_is(fake_asked(&fake, "resource"), "https://mcp.example/tools"));
    assert_true(btz_str_is(fake_asked(&fake, "code_challenge_method"), "S256"));
    assert_int_equal(fake_asked(&fake, "code_challenge").len, 43);
    assert_int_equal(fake_asked(&fake, "state").len, 43);
    assert_null(fake_asked(&fake, "scope").ptr);
    assert_int_equal(fake_logged(&fake, "grant_type=authorization_code&code=code-1&redirect_uri="),
                     1);
    assert_int_equal(
        fake_logged(&fake, "&resource=https%3A%2F%2Fmcp.example%2Ftools&client_id=client-1"), 1);
    assert_int_equal(fake_logged(&fake, "\"application_type\":\"native\""), 1);
    assert_int_equal(fake_logged(&fake, "refresh_token\"]"), 1);
    assert_int_equal(fake_logged(&fake, "AS "), 0);
    btz_auth_flow_free(flow);
    fake_fini(&fake);
}

/* The verifier that is sent is the one whose hash was sent. */
static void test_pkce_fits(void **state)
{
    struct btz_auth_flow_options options = usual_options();
    struct btz_auth_flow *flow;
    struct fake fake;
    struct btz_str rest;
    struct btz_str verifier;
    struct btz_str sent;

    (void)state;
    fake_init(&fake);
    fake_usual(&fake);
    flow = challenged(&fake, &options, NULL);
    rest = btz_buf_view(&fake.log);
    rest = btz_str_sub(rest, (size_t)btz_str_find(rest, BTZ_STR("grant_type=")), rest.len);
    (void)btz_str_cut(&rest, '\n', &sent);
    assert_int_equal(btz_auth_form_get(fake.arena, sent, "code_verifier", &verifier), BTZ_OK);
    assert_true(btz_str_eq(btz_auth_code_challenge(fake.arena, verifier),
                           fake_asked(&fake, "code_challenge")));
    btz_auth_flow_free(flow);
    fake_fini(&fake);
}

static void test_discovery_order(void **state)
{
    struct btz_auth_flow_options options = usual_options();
    struct btz_auth_flow *flow;
    struct fake fake;

    (void)state;
    fake_init(&fake);
    fake_usual(&fake);
    /* The header's address, then the path, then the root; an issuer with a path has three places.
     */
    fake_forget(&fake, "https://mcp.example/.well-known/oauth-protected-resource/tools");
    fake_forget(&fake, ISSUER_METADATA);
    fake_page(&fake, "https://mcp.example/.well-known/oauth-protected-resource",
              "{\"resource\":\"https://mcp.example/\","
              "\"authorization_servers\":[\"https://id.example/"
              "t1\"],\"scopes_supported\":[\"a\",\"b\"]}");
    fake_page(
        &fake, "https://id.example/t1/.well-known/openid-configuration",
        "{\"issuer\":\"https://id.example/t1\",\"authorization_endpoint\":"
        "\"https://id.example/authorize?p=1\",\"token_endpoint\":\"https://id.example/token\","
        "\"registration_endpoint\":\"https://id.example/register\","
        "\"code_challenge_methods_supported\":[\"S256\"]}");
    flow = challenged(&fake, &options, "Bearer resource_metadata=\"https://mcp.example/gone\"");
    ready(flow, "Bearer token-1");
    assert_true(btz_str_starts(
        btz_buf_view(&fake.log),
        BTZ_STR("GET https://mcp.example/gone \n"
                "GET https://mcp.example/.well-known/oauth-protected-resource/tools \n"
                "GET https://mcp.example/.well-known/oauth-protected-resource \n"
                "GET https://id.example/.well-known/oauth-authorization-server/t1 \n"
                "GET https://id.example/.well-known/openid-configuration/t1 \n"
                "GET https://id.example/t1/.well-known/openid-configuration \n")));
    assert_int_equal(fake_logged(&fake, "OPEN https://id.example/authorize?p=1&response_type"), 1);
    assert_true(btz_str_is(fake_asked(&fake, "scope"), "a b"));
    assert_true(btz_str_is(fake_asked(&fake, "resource"), "https://mcp.example/"));
    btz_auth_flow_free(flow);
    fake_fini(&fake);
}

static void test_client_order(void **state)
{
    struct btz_auth_flow_options options = usual_options();
    const struct btz_auth_client clients[] = {
        {.issuer = BTZ_STR("https://other.example"), .id = BTZ_STR("wrong")},
        {.issuer = BTZ_STR("https://id.example"), .id = BTZ_STR("mine"), .secret = BTZ_STR("p:w")}};
    struct btz_auth_flow *flow;
    struct fake fake;

    (void)state;
    fake_init(&fake);
    fake_usual(&fake);
    options.registered = clients;
    options.registered_count = 2;
    options.metadata_document = BTZ_STR("https://app.example/client.json");
    flow = challenged(&fake, &options, NULL);
    ready(flow, "Bearer token-1");
    assert_int_equal(fake_logged(&fake, "AS Basic bWluZTpwJTNBdw==\n"), 1); /* mine:p%3Aw */
    assert_int_equal(fake_logged(&fake, "/register"), 0);
    btz_auth_flow_free(flow);

    options.registered_count = 1;
    fake_page(&fake, ISSUER_METADATA,
              "{\"issuer\":\"https://id.example\",\"authorization_endpoint\":"
              "\"https://id.example/authorize\",\"token_endpoint\":\"https://id.example/token\","
              "\"client_id_metadata_document_supported\":true,"
              "\"code_challenge_methods_supported\":[\"S256\"]}");
    flow = challenged(&fake, &options, NULL);
    ready(flow, "Bearer token-1");
    assert_true(btz_str_is(fake_asked(&fake, "client_id"), "https://app.example/client.json"));
    btz_auth_flow_free(flow);

    options.metadata_document = BTZ_STR_NONE;
    flow = challenged(&fake, &options, NULL);
    failed(flow, "not known to the issuer");
    btz_auth_flow_free(flow);
    fake_fini(&fake);
}

static void test_registration_and_methods(void **state)
{
    struct btz_auth_flow_options options = usual_options();
    struct btz_auth_flow *flow;
    struct fake fake;

    (void)state;
    fake_init(&fake);
    fake_usual(&fake);
    options.store = btz_auth_store_new();
    fake_page(&fake, "https://id.example/register",
              "{\"client_id\":\"c2\",\"client_secret\":\"s2\","
              "\"token_endpoint_auth_method\":\"client_secret_post\"}");
    flow = challenged(&fake, &options, NULL);
    ready(flow, "Bearer token-1");
    assert_int_equal(fake_logged(&fake, "client_id=c2&client_secret=s2"), 1);
    btz_auth_flow_free(flow);
    /* Another flow of the same host knows the client by now, and the refresh token. */
    fake_page(&fake, "https://id.example/token",
              "{\"access_token\":\"token-2\",\"token_type\":\"Bearer\"}");
    flow = challenged(&fake, &options, NULL);
    ready(flow, "Bearer token-2");
    assert_int_equal(fake_logged(&fake, "POST https://id.example/register"), 1);
    assert_int_equal(
        fake_logged(&fake, "grant_type=refresh_token&refresh_token=refresh-1&resource="), 1);
    assert_int_equal(fake.opened, 1);
    btz_auth_flow_free(flow);
    btz_auth_store_free(options.store);

    options.store = NULL;
    fake.pages[0].status = 200;
    fake_page(&fake, "https://id.example/register", "{\"client_name\":\"no id\"}");
    flow = challenged(&fake, &options, NULL);
    failed(flow, "did not register");
    btz_auth_flow_free(flow);
    fake_page(&fake, "https://id.example/register", "{\"client_id\":\"a\\nb\"}");
    flow = challenged(&fake, &options, NULL);
    failed(flow, "did not register");
    btz_auth_flow_free(flow);
    fake_fini(&fake);
}

static void test_step_up_and_limit(void **state)
{
    struct btz_auth_flow_options options = usual_options();
    const char *more = "Bearer error=\"insufficient_scope\", scope=\"write\"";
    struct btz_auth_flow *flow;
    struct fake fake;

    (void)state;
    fake_init(&fake);
    fake_usual(&fake);
    flow = challenged(&fake, &options, "Bearer scope=\"read\"");
    ready(flow, "Bearer token-1");
    assert_true(btz_str_is(fake_asked(&fake, "scope"), "read"));
    btz_auth_flow_accepted(flow);
    challenge(&fake, flow, 403, more);
    ready(flow, "Bearer token-1");
    assert_true(btz_str_is(fake_asked(&fake, "scope"), "read write"));
    assert_int_equal(fake_logged(&fake, "grant_type=refresh_token"), 0);
    challenge(&fake, flow, 403, more);
    challenge(&fake, flow, 403, more);
    ready(flow, "Bearer token-1");
    challenge(&fake, flow, 403, more);
    failed(flow, "given up after 3 attempts");
    assert_int_equal(fake.opened, 4);
    btz_auth_flow_accepted(flow);
    challenge(&fake, flow, 403, more);
    ready(flow, "Bearer token-1");
    challenge(&fake, flow, 403, "Bearer");
    failed(flow, "asks for no other token");
    challenge(&fake, flow, 403, NULL);
    failed(flow, "status 403");
    btz_auth_flow_free(flow);
    fake_fini(&fake);
}

static void test_allowed_scopes(void **state)
{
    struct btz_auth_flow_options options = usual_options();
    struct btz_auth_flow *flow;
    struct fake fake;

    (void)state;
    fake_init(&fake);
    fake_usual(&fake);
    options.allowed_scopes = BTZ_STR("read list");
    flow = challenged(&fake, &options, "Bearer scope=\"read\"");
    ready(flow, "Bearer token-1");
    challenge(&fake, flow, 403, "Bearer error=insufficient_scope, scope=\"list admin\"");
    failed(flow, "the scope admin, which the user did not allow");
    btz_auth_flow_free(flow);
    /* What is merely on offer is cut down. */
    fake_page(&fake, "https://mcp.example/.well-known/oauth-protected-resource/tools",
              "{\"resource\":\"https://mcp.example/tools\",\"authorization_servers\":"
              "[\"https://id.example\"],\"scopes_supported\":[\"admin\",\"read\"]}");
    flow = challenged(&fake, &options, NULL);
    ready(flow, "Bearer token-1");
    assert_true(btz_str_is(fake_asked(&fake, "scope"), "read"));
    btz_auth_flow_free(flow);
    options.lenient.takes_any_scope = true;
    flow = challenged(&fake, &options, NULL);
    assert_true(btz_str_is(fake_asked(&fake, "scope"), "admin read"));
    btz_auth_flow_free(flow);
    fake_fini(&fake);
}

static void test_offline_access(void **state)
{
    struct btz_auth_flow_options options = usual_options();
    struct btz_auth_flow *flow;
    struct fake fake;

    (void)state;
    fake_init(&fake);
    fake_usual(&fake);
    options.wants_refresh = true;
    flow = challenged(&fake, &options, "Bearer scope=read");
    assert_true(btz_str_is(fake_asked(&fake, "scope"), "read"));
    btz_auth_flow_free(flow);
    fake_page(&fake, ISSUER_METADATA,
              "{\"issuer\":\"https://id.example\",\"authorization_endpoint\":"
              "\"https://id.example/authorize\",\"token_endpoint\":\"https://id.example/token\","
              "\"registration_endpoint\":\"https://id.example/register\",\"scopes_supported\":"
              "[\"read\",\"offline_access\"],\"code_challenge_methods_supported\":[\"S256\"]}");
    flow = challenged(&fake, &options, "Bearer scope=read");
    assert_true(btz_str_is(fake_asked(&fake, "scope"), "read offline_access"));
    btz_auth_flow_free(flow);
    fake_fini(&fake);
}

static void test_another_issuer(void **state)
{
    struct btz_auth_flow_options options = usual_options();
    struct btz_auth_flow *flow;
    struct fake fake;

    (void)state;
    fake_init(&fake);
    fake_usual(&fake);
    flow = challenged(&fake, &options, NULL);
    ready(flow, "Bearer token-1");
    /* The resource moves: nothing of the old issuer is used at the new one. */
    fake_page(&fake, "https://mcp.example/.well-known/oauth-protected-resource/tools",
              "{\"resource\":\"https://mcp.example/tools\","
              "\"authorization_servers\":[\"https://new.example\"]}");
    fake_page(&fake, "https://new.example/.well-known/openid-configuration",
              "{\"issuer\":\"https://new.example\",\"authorization_endpoint\":"
              "\"https://new.example/authorize\",\"token_endpoint\":\"https://new.example/token\","
              "\"registration_endpoint\":\"https://new.example/register\","
              "\"code_challenge_methods_supported\":[\"S256\"]}");
    fake_page(&fake, "https://new.example/register", "{\"client_id\":\"new-client\"}");
    fake_page(&fake, "https://new.example/token",
              "{\"access_token\":\"token-new\",\"token_type\":\"Bearer\"}");
    challenge(&fake, flow, 401, NULL);
    ready(flow, "Bearer token-new");
    assert_int_equal(fake_logged(&fake, "POST https://new.example/register"), 1);
    assert_true(btz_str_is(fake_asked(&fake, "client_id"), "new-client"));
    assert_int_equal(fake_logged(&fake, "refresh-1"), 0);
    btz_auth_flow_free(flow);
    fake_fini(&fake);
}

static void test_refresh_that_is_over(void **state)
{
    struct btz_auth_flow_options options = usual_options();
    struct btz_auth_flow *flow;
    struct fake fake;

    (void)state;
    fake_init(&fake);
    fake_usual(&fake);
    flow = challenged(&fake, &options, NULL);
    /* An issuer that is out of order: nothing is forgotten, nobody is asked. */
    fake_page(&fake, "https://id.example/token", "{}");
    fake.pages[fake.page_count - 1].status = 503;
    challenge(&fake, flow, 401, NULL);
    failed(flow, "gave no token (status 503");
    assert_int_equal(fake.opened, 1);
    /* The refresh token is refused, the user is asked anew, and the code is refused, too. */
    fake_page(&fake, "https://id.example/token", "{\"error\":\"invalid_grant\"}");
    fake.pages[fake.page_count - 1].status = 400;
    challenge(&fake, flow, 401, "Bearer error=invalid_token");
    failed(flow, "gave no token (status 400, invalid_grant");
    assert_int_equal(fake.opened, 2);
    assert_int_equal(fake_logged(&fake, "grant_type=refresh_token"), 2);
    challenge(&fake, flow, 401, NULL);
    assert_int_equal(fake_logged(&fake, "grant_type=refresh_token"), 2);
    btz_auth_flow_free(flow);
    fake_fini(&fake);
}

static void test_recall(void **state)
{
    struct btz_auth_flow_options options = usual_options();
    struct btz_auth_flow *flow;
    struct btz_err err;
    struct fake fake;

    (void)state;
    fake_init(&fake);
    fake_usual(&fake);
    options.store = btz_auth_store_new();
    flow = challenged(&fake, &options, NULL); /* at 1 s, for 60 s */
    btz_auth_flow_free(flow);
    assert_int_equal(btz_auth_flow_new(&options, &flow, &err), BTZ_OK);
    assert_false(btz_auth_flow_recall(flow, 61000000));
    assert_true(btz_auth_flow_recall(flow, 60999999));
    ready(flow, "Bearer token-1");
    btz_auth_flow_free(flow);
    /* A neighbour on the same host gets it only from a careless host. */
    options.resource = BTZ_STR("https://mcp.example/other");
    assert_int_equal(btz_auth_flow_new(&options, &flow, &err), BTZ_OK);
    assert_false(btz_auth_flow_recall(flow, 0));
    btz_auth_flow_free(flow);
    options.lenient.shares_tokens_of_host = true;
    assert_int_equal(btz_auth_flow_new(&options, &flow, &err), BTZ_OK);
    assert_true(btz_auth_flow_recall(flow, 0));
    btz_auth_flow_free(flow);
    btz_auth_store_free(options.store);
    fake_fini(&fake);
}

static void test_client_credentials(void **state)
{
    struct btz_auth_flow_options options = usual_options();
    const struct btz_auth_client client = {
        .issuer = BTZ_STR("https://id.example"), .id = BTZ_STR("robot"), .secret = BTZ_STR("key")};
    struct btz_auth_flow *flow;
    struct btz_auth_flow *other;
    struct fake fake;

    (void)state;
    fake_init(&fake);
    fake_usual(&fake);
    options.client_credentials = true;
    options.redirect_uri = BTZ_STR_NONE;
    flow = challenged(&fake, &options, "Bearer scope=\"read\"");
    failed(flow, "not known to the issuer");
    btz_auth_flow_free(flow);
    options.registered = &client;
    options.registered_count = 1;
    flow = challenged(&fake, &options, "Bearer scope=\"read\"");
    ready(flow, "Bearer token-1");
    assert_int_equal(fake_logged(&fake, "grant_type=client_credentials&scope=read&resource="), 1);
    assert_int_equal(fake_logged(&fake, "AS Basic cm9ib3Q6a2V5\n"), 1);
    assert_int_equal(fake.opened, 0);
    /* What the user did not allow is not asked for. */
    options.allowed_scopes = BTZ_STR("read");
    other = challenged(&fake, &options, "Bearer scope=\"read admin\"");
    failed(other, "the scope admin, which the user did not allow");
    btz_auth_flow_free(other);
    /* Nobody else is shown the secret. */
    fake_page(&fake, "https://mcp.example/.well-known/oauth-protected-resource/tools",
              "{\"resource\":\"https://mcp.example/tools\","
              "\"authorization_servers\":[\"https://new.example\"]}");
    fake_page(
        &fake, "https://new.example/.well-known/oauth-authorization-server",
        "{\"issuer\":\"https://new.example\",\"token_endpoint\":\"https://new.example/token\"}");
    challenge(&fake, flow, 401, NULL);
    failed(flow, "not known to the issuer");
    btz_auth_flow_free(flow);
    fake_fini(&fake);
}

/* A server that names its issuer cannot have the secret of a client shown to it. */
static void test_secret_without_issuer(void **state)
{
    struct btz_auth_flow_options options = usual_options();
    struct btz_auth_client client = {.id = BTZ_STR("robot"), .secret = BTZ_STR("key")};
    struct btz_auth_flow *flow;
    struct fake fake;

    (void)state;
    fake_init(&fake);
    fake_usual(&fake);
    options.registered = &client;
    options.registered_count = 1;
    options.no_registration = true;
    flow = challenged(&fake, &options, NULL);
    failed(flow, "a secret but no issuer");
    assert_int_equal(fake_logged(&fake, "AS "), 0);
    assert_int_equal(fake.opened, 0);
    btz_auth_flow_free(flow);
    /* Whoever registered it may say otherwise. */
    client.any_issuer = true;
    flow = challenged(&fake, &options, NULL);
    ready(flow, "Bearer token-1");
    btz_auth_flow_free(flow);
    client.any_issuer = false;
    /* Without a secret it stays with the first issuer. */
    client.secret = BTZ_STR_NONE;
    flow = challenged(&fake, &options, NULL);
    ready(flow, "Bearer token-1");
    fake_page(&fake, "https://mcp.example/.well-known/oauth-protected-resource/tools",
              "{\"resource\":\"https://mcp.example/tools\","
              "\"authorization_servers\":[\"https://new.example\"]}");
    fake_page(&fake, "https://new.example/.well-known/oauth-authorization-server",
              "{\"issuer\":\"https://new.example\",\"authorization_endpoint\":"
              "\"https://new.example/a\",\"token_endpoint\":\"https://new.example/token\","
              "\"code_challenge_methods_supported\":[\"S256\"]}");
    challenge(&fake, flow, 401, NULL);
    failed(flow, "not known to the issuer");
    btz_auth_flow_free(flow);
    fake_fini(&fake);
}

/* RFC 9728 section 3.1: the query of the endpoint is part of the resource. */
static void test_resource_with_query(void **state)
{
    struct btz_auth_flow_options options = usual_options();
    struct btz_auth_flow *flow;
    struct fake fake;

    (void)state;
    fake_init(&fake);
    fake_usual(&fake);
    options.resource = BTZ_STR("https://mcp.example/tools?tenant=a");
    fake_page(&fake, "https://mcp.example/.well-known/oauth-protected-resource/tools",
              "{\"resource\":\"https://mcp.example/tools?tenant=a\","
              "\"authorization_servers\":[\"https://id.example\"]}");
    flow = challenged(&fake, &options, NULL);
    ready(flow, "Bearer token-1");
    assert_int_equal(fake_logged(&fake, "GET https://mcp.example/.well-known/"
                                        "oauth-protected-resource/tools?tenant=a \n"),
                     1);
    btz_auth_flow_free(flow);
    fake_page(&fake, "https://mcp.example/.well-known/oauth-protected-resource/tools",
              "{\"resource\":\"https://mcp.example/tools?tenant=b\","
              "\"authorization_servers\":[\"https://id.example\"]}");
    flow = challenged(&fake, &options, NULL);
    failed(flow, "another resource");
    btz_auth_flow_free(flow);
    fake_fini(&fake);
}

static void test_revision_2025_03(void **state)
{
    struct btz_auth_flow_options options = usual_options();
    struct btz_auth_flow *flow;
    struct fake fake;

    (void)state;
    fake_init(&fake);
    flow = challenged(&fake, &options, NULL);
    failed(flow, "no protected-resource metadata");
    btz_auth_flow_free(flow);
    options.revision_2025_03 = true;
    fake_page(&fake, "https://mcp.example/register", "{\"client_id\":\"old\"}");
    fake_page(&fake, "https://mcp.example/token",
              "{\"access_token\":\"token-old\",\"token_type\":\"Bearer\"}");
    flow = challenged(&fake, &options, NULL);
    ready(flow, "Bearer token-old");
    assert_int_equal(fake_logged(&fake, "OPEN https://mcp.example/authorize?"), 1);
    btz_auth_flow_free(flow);
    /* With metadata of its own host. */
    fake_page(&fake, "https://mcp.example/.well-known/oauth-authorization-server",
              "{\"issuer\":\"https://mcp.example\",\"authorization_endpoint\":"
              "\"https://mcp.example/oauth/authorize\",\"token_endpoint\":"
              "\"https://mcp.example/token\",\"registration_endpoint\":"
              "\"https://mcp.example/register\",\"code_challenge_methods_supported\":[\"S256\"]}");
    flow = challenged(&fake, &options, NULL);
    ready(flow, "Bearer token-old");
    assert_int_equal(fake_logged(&fake, "OPEN https://mcp.example/oauth/authorize?"), 1);
    btz_auth_flow_free(flow);
    fake_fini(&fake);
}

static void test_options(void **state)
{
    struct btz_auth_flow_options options = usual_options();
    struct btz_auth_flow *flow = NULL;
    struct btz_err err;
    struct fake fake;

    (void)state;
    options.resource = BTZ_STR("/mcp");
    assert_int_equal(btz_auth_flow_new(&options, &flow, &err), BTZ_EINVAL);
    options = usual_options();
    options.redirect_uri = BTZ_STR("http://localhost/?x");
    assert_int_equal(btz_auth_flow_new(&options, &flow, &err), BTZ_EINVAL);
    options = usual_options();
    options.secret = BTZ_STR("short");
    assert_int_equal(btz_auth_flow_new(&options, &flow, &err), BTZ_EINVAL);
    options = usual_options();
    options.allowed_scopes = BTZ_STR("a\"");
    assert_int_equal(btz_auth_flow_new(&options, &flow, &err), BTZ_EINVAL);
    options = usual_options();
    fake_init(&fake);
    assert_int_equal(btz_auth_flow_new(&options, &flow, &err), BTZ_OK);
    assert_int_equal(btz_auth_flow_returned(flow, BTZ_STR("x")), BTZ_ESTATE);
    assert_int_equal(btz_auth_flow_challenged(flow, 401, NULL, 0, 0), BTZ_OK);
    assert_int_equal(btz_auth_flow_challenged(flow, 401, NULL, 0, 0), BTZ_ESTATE);
    assert_false(btz_auth_flow_recall(flow, 0));
    btz_auth_flow_free(flow);
    btz_auth_flow_free(NULL);
    fake_fini(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_way),
        cmocka_unit_test(test_pkce_fits),
        cmocka_unit_test(test_discovery_order),
        cmocka_unit_test(test_client_order),
        cmocka_unit_test(test_registration_and_methods),
        cmocka_unit_test(test_step_up_and_limit),
        cmocka_unit_test(test_allowed_scopes),
        cmocka_unit_test(test_offline_access),
        cmocka_unit_test(test_another_issuer),
        cmocka_unit_test(test_refresh_that_is_over),
        cmocka_unit_test(test_recall),
        cmocka_unit_test(test_client_credentials),
        cmocka_unit_test(test_secret_without_issuer),
        cmocka_unit_test(test_resource_with_query),
        cmocka_unit_test(test_revision_2025_03),
        cmocka_unit_test(test_options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
