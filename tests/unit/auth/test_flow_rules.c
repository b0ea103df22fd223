/* What a hostile server may say, what a safe client makes of it, and what each leniency lets by. */
#include "auth/form.h"
#include "issuer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define RESOURCE_METADATA "https://mcp.example/.well-known/oauth-protected-resource/tools"
#define ISSUER_METADATA "https://id.example/.well-known/oauth-authorization-server"

struct rule {
    void (*spoil)(struct fake *fake);
    const char *why;                                    /* part of the failure of a safe client */
    void (*loosen)(struct btz_auth_flow_options *from); /* NULL = no client takes it */
    const char *header;
    enum btz_auth_verdict verdict;
};

static void spoil_resource(struct fake *fake)
{
    fake_page(fake, RESOURCE_METADATA,
              "{\"resource\":\"https://evil.example/tools\","
              "\"authorization_servers\":[\"https://id.example\"]}");
}

static void spoil_issuer(struct fake *fake)
{
    fake_page(fake, ISSUER_METADATA,
              "{\"issuer\":\"https://id.example/\",\"authorization_endpoint\":"
              "\"https://id.example/authorize\",\"token_endpoint\":\"https://id.example/token\","
              "\"registration_endpoint\":\"https://id.example/register\","
              "\"code_challenge_methods_supported\":[\"S256\"]}");
}

static void spoil_issuer_user(struct fake *fake)
{
    fake_page(fake, RESOURCE_METADATA,
              "{\"resource\":\"https://mcp.example/tools\","
              "\"authorization_servers\":[\"https://login.corp.example@id.example\"]}");
    fake_page(fake, ISSUER_METADATA,
              "{\"issuer\":\"https://login.corp.example@id.example\",\"authorization_endpoint\":"
              "\"https://id.example/authorize\",\"token_endpoint\":\"https://id.example/token\","
              "\"registration_endpoint\":\"https://id.example/register\","
              "\"code_challenge_methods_supported\":[\"S256\"]}");
}

static void spoil_issuer_query(struct fake *fake)
{
    fake_page(fake, RESOURCE_METADATA,
              "{\"resource\":\"https://mcp.example/tools\","
              "\"authorization_servers\":[\"https://id.example?tenant=1\"]}");
    fake_page(fake, ISSUER_METADATA,
              "{\"issuer\":\"https://id.example?tenant=1\",\"authorization_endpoint\":"
              "\"https://id.example/authorize\",\"token_endpoint\":\"https://id.example/token\","
              "\"registration_endpoint\":\"https://id.example/register\","
              "\"code_challenge_methods_supported\":[\"S256\"]}");
}

static void spoil_issuer_fragment(struct fake *fake)
{
    fake_page(fake, RESOURCE_METADATA,
              "{\"resource\":\"https://mcp.example/tools\","
              "\"authorization_servers\":[\"https://id.example#x\"]}");
    fake_page(fake, ISSUER_METADATA,
              "{\"issuer\":\"https://id.example#x\",\"authorization_endpoint\":"
              "\"https://id.example/authorize\",\"token_endpoint\":\"https://id.example/token\","
              "\"registration_endpoint\":\"https://id.example/register\","
              "\"code_challenge_methods_supported\":[\"S256\"]}");
}

static void spoil_pkce(struct fake *fake)
{
    fake_page(fake, ISSUER_METADATA,
              "{\"issuer\":\"https://id.example\",\"authorization_endpoint\":"
              "\"https://id.example/authorize\",\"token_endpoint\":\"https://id.example/token\","
              "\"registration_endpoint\":\"https://id.example/register\","
              "\"code_challenge_methods_supported\":[\"plain\"]}");
}

static void spoil_endpoint(struct fake *fake)
{
    fake_page(fake, ISSUER_METADATA,
              "{\"issuer\":\"https://id.example\",\"authorization_endpoint\":7,"
              "\"token_endpoint\":\"https://id.example/token\","
              "\"code_challenge_methods_supported\":[\"S256\"]}");
}

static void spoil_iss(struct fake *fake)
{
    fake->iss = "https://id.example/";
}

static void spoil_missing_iss(struct fake *fake)
{
    fake_page(fake, ISSUER_METADATA,
              "{\"issuer\":\"https://id.example\",\"authorization_endpoint\":"
              "\"https://id.example/authorize\",\"token_endpoint\":\"https://id.example/token\","
              "\"registration_endpoint\":\"https://id.example/register\","
              "\"authorization_response_iss_parameter_supported\":true,"
              "\"code_challenge_methods_supported\":[\"S256\"]}");
}

static void spoil_state(struct fake *fake)
{
    fake->state = "another";
}

static void spoil_scheme(struct fake *fake)
{
    fake_page(fake, ISSUER_METADATA,
              "{\"issuer\":\"https://id.example\",\"authorization_endpoint\":"
              "\"notes-import:all\",\"token_endpoint\":\"https://id.example/token\","
              "\"registration_endpoint\":\"https://id.example/register\","
              "\"code_challenge_methods_supported\":[\"S256\"]}");
}

static void spoil_place(struct fake *fake)
{
    fake_page(fake, "http://169.254.169.254/credentials",
              "{\"resource\":\"https://mcp.example\",\"authorization_servers\":[\"https://"
              "id.example\"]}");
}

static void spoil_redirect(struct fake *fake)
{
    fake_page(fake, RESOURCE_METADATA, "");
    fake->pages[fake->page_count - 1].status = 302;
    fake->pages[fake->page_count - 1].location = "http://127.0.0.1:9/admin";
    fake_page(fake, "http://127.0.0.1:9/admin",
              "{\"resource\":\"https://mcp.example\",\"authorization_servers\":[\"https://"
              "id.example\"]}");
}

static void spoil_loop(struct fake *fake)
{
    spoil_redirect(fake);
    for (size_t i = 0; i < fake->page_count; i++) {
        fake->pages[i].location =
            fake->pages[i].location ? "/.well-known/oauth-protected-resource/tools" : NULL;
    }
}

static void spoil_relative(struct fake *fake)
{
    spoil_redirect(fake);
    for (size_t i = 0; i < fake->page_count; i++) {
        fake->pages[i].location = fake->pages[i].location ? "elsewhere" : NULL;
    }
}

static void spoil_names(struct fake *fake)
{
    fake->place = "10.0.0.1";
}

static void spoil_no_issuer(struct fake *fake)
{
    fake_forget(fake, ISSUER_METADATA);
}

static void spoil_text(struct fake *fake)
{
    fake_page(fake, ISSUER_METADATA, "<html>");
}

static void spoil_twice(struct fake *fake)
{
    fake_page(fake, ISSUER_METADATA, "{\"issuer\":\"https://id.example\",\"issuer\":\"x\"}");
}

static void spoil_back(struct fake *fake)
{
    fake->back = "http://localhost:8976/callback2";
}

static void spoil_error(struct fake *fake)
{
    fake->error = "access_denied";
}

static void spoil_never(struct fake *fake)
{
    fake->never = true;
}

static void spoil_token_type(struct fake *fake)
{
    fake_page(fake, "https://id.example/token", "{\"access_token\":\"t\",\"token_type\":\"mac\"}");
}

static void spoil_token(struct fake *fake)
{
    fake_page(fake, "https://id.example/token",
              "{\"access_token\":\"t\\r\\nX: y\",\"token_type\":\"bearer\"}");
}

static void loosen_resource(struct btz_auth_flow_options *o)
{
    o->lenient.takes_any_resource = true;
}

static void loosen_issuer(struct btz_auth_flow_options *o)
{
    o->lenient.takes_any_issuer = true;
}

static void loosen_pkce(struct btz_auth_flow_options *o)
{
    o->lenient.needs_no_pkce = true;
}

static void loosen_iss(struct btz_auth_flow_options *o)
{
    o->lenient.ignores_response_iss = true;
}

static void loosen_state(struct btz_auth_flow_options *o)
{
    o->lenient.ignores_state = true;
}

static void loosen_scheme(struct btz_auth_flow_options *o)
{
    o->guard.any_scheme = true;
}

static void loosen_place(struct btz_auth_flow_options *o)
{
    o->guard.any_place = true;
}

static void loosen_redirect(struct btz_auth_flow_options *o)
{
    o->lenient.follows_any_redirect = true;
}

static const struct rule rules[] = {
    {spoil_resource, "another resource: https://evil.example/tools", loosen_resource},
    {spoil_issuer, "names another issuer", loosen_issuer},
    {spoil_issuer_user, "without user part, query and fragment", NULL},
    {spoil_issuer_query, "without user part, query and fragment", NULL},
    {spoil_issuer_fragment, "without user part, query and fragment", NULL},
    {spoil_pkce, "PKCE", loosen_pkce},
    {spoil_endpoint, "lacks an endpoint", NULL},
    {spoil_iss, "of another issuer", loosen_iss},
    {spoil_missing_iss, "of another issuer", loosen_iss},
    {spoil_state, "no request of this client", loosen_state},
    {spoil_scheme, "not https (notes-import:all)", loosen_scheme, .verdict = BTZ_AUTH_BAD_SCHEME},
    {spoil_place, "no public address", loosen_place,
     "Bearer resource_metadata=\"http://169.254.169.254/credentials\"", BTZ_AUTH_BAD_PLACE},
    {spoil_redirect, "no public address", loosen_redirect, .verdict = BTZ_AUTH_BAD_PLACE},
    {spoil_loop, "more than 3 redirects", NULL},
    {spoil_relative, "no usable address", NULL},
    {spoil_names, "no public address", loosen_place, .verdict = BTZ_AUTH_BAD_PLACE},
    {spoil_no_issuer, "no metadata", NULL},
    {spoil_text, "no metadata", NULL},
    {spoil_twice, "no metadata", NULL},
    {spoil_back, "to another address", NULL},
    {spoil_error, "refused: access_denied", NULL},
    {spoil_never, "did not finish", NULL},
    {spoil_token_type, "no bearer token", NULL},
    {spoil_token, "no bearer token", NULL},
};

static void test_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        struct btz_auth_flow_options options = usual_options();
        enum btz_auth_verdict verdict = BTZ_AUTH_ALLOWED;
        struct btz_auth_flow *flow;
        struct btz_str text;
        struct fake fake;

        fake_init(&fake);
        fake_usual(&fake);
        rules[i].spoil(&fake);
        flow = challenged(&fake, &options, rules[i].header);
        text = btz_auth_flow_failure(flow, &verdict);
        if (btz_auth_flow_state(flow) != BTZ_AUTH_FAILED ||
            btz_str_find(text, btz_str_of(rules[i].why)) < 0 || verdict != rules[i].verdict) {
            fail_msg("rule %zu (%s): \"%.*s\"", i, rules[i].why, BTZ_FMT(text));
        }
        btz_auth_flow_free(flow);
        if (rules[i].loosen) {
            rules[i].loosen(&options);
            flow = challenged(&fake, &options, rules[i].header);
            if (btz_auth_flow_state(flow) != BTZ_AUTH_READY) {
                fail_msg("rule %zu (%s) loosened: \"%.*s\"", i, rules[i].why,
                         BTZ_FMT(btz_auth_flow_failure(flow, NULL)));
            }
            btz_auth_flow_free(flow);
        }
        fake_fini(&fake);
    }
}

/* Each leniency lets by its own fault and no other. */
static void test_leniencies_are_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        for (size_t k = 0; k < sizeof(rules) / sizeof(rules[0]); k++) {
            struct btz_auth_flow_options options = usual_options();
            struct btz_auth_flow *flow;
            struct fake fake;

            if (!rules[k].loosen || rules[k].loosen == rules[i].loosen) {
                continue;
            }
            fake_init(&fake);
            fake_usual(&fake);
            rules[i].spoil(&fake);
            rules[k].loosen(&options);
            flow = challenged(&fake, &options, rules[i].header);
            if (btz_auth_flow_state(flow) != BTZ_AUTH_FAILED) {
                fail_msg("rule %zu (%s) fell with that of %zu", i, rules[i].why, k);
            }
            btz_auth_flow_free(flow);
            fake_fini(&fake);
        }
    }
}

/* Clients of 2025-03-26 that make up endpoints send there what they keep for the server. */
static void test_assumed_endpoints(void **state)
{
    const struct btz_auth_client client = {.issuer = BTZ_STR("https://id.example"),
                                           .id = BTZ_STR("desk")};
    const struct btz_auth_token kept = {.issuer = BTZ_STR("https://id.example"),
                                        .resource = BTZ_STR("https://mcp.example/tools"),
                                        .refresh = BTZ_STR("kept-1")};
    struct btz_auth_flow_options options = usual_options();
    struct btz_auth_flow *flow;
    struct fake fake;

    (void)state;
    fake_init(&fake);
    fake_page(&fake, "https://mcp.example/token",
              "{\"access_token\":\"token-3\",\"token_type\":\"Bearer\"}");
    options.registered = &client;
    options.registered_count = 1;
    options.store = btz_auth_store_new();
    btz_auth_store_put_token(options.store, &kept);
    flow = challenged(&fake, &options, NULL);
    assert_int_equal(btz_auth_flow_state(flow), BTZ_AUTH_FAILED);
    btz_auth_flow_free(flow);
    /* The revision alone does not send it to another issuer than its own. */
    options.revision_2025_03 = true;
    flow = challenged(&fake, &options, NULL);
    assert_int_equal(fake_logged(&fake, "kept-1"), 0);
    btz_auth_flow_free(flow);
    options.lenient.assumes_endpoints = true;
    flow = challenged(&fake, &options, NULL);
    assert_int_equal(btz_auth_flow_state(flow), BTZ_AUTH_READY);
    assert_int_equal(fake_logged(&fake, "POST https://mcp.example/token grant_type=refresh_token&"
                                        "refresh_token=kept-1"),
                     1);
    btz_auth_flow_free(flow);
    btz_auth_store_free(options.store);
    fake_fini(&fake);
}

static void test_no_resource_parameter(void **state)
{
    struct btz_auth_flow_options options = usual_options();
    struct btz_auth_flow *flow;
    struct fake fake;

    (void)state;
    fake_init(&fake);
    fake_usual(&fake);
    options.lenient.sends_no_resource = true;
    flow = challenged(&fake, &options, NULL);
    assert_int_equal(btz_auth_flow_state(flow), BTZ_AUTH_READY);
    assert_int_equal(fake_logged(&fake, "resource="), 0);
    btz_auth_flow_free(flow);
    fake_fini(&fake);
}

static void test_lists_of_issuers(void **state)
{
    static const struct {
        const char *list;
        const char *why; /* NULL: the issuer is found */
    } cases[] = {
        {"[\"https://id.example\"]", NULL},
        {"[1,\"https://id.example\"]", NULL},
        {"[\"\",\"https://id.example\"]", NULL},
        {"[]", "no authorization server"},
        {"[1]", "no authorization server"},
        {"\"https://id.example\"", "no authorization server"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct btz_auth_flow_options options = usual_options();
        struct btz_auth_flow *flow;
        struct fake fake;
        char page[256];

        fake_init(&fake);
        fake_usual(&fake);
        (void)snprintf(page, sizeof(page),
                       "{\"resource\":\"https://mcp.example/tools\",\"authorization_servers\":%s}",
                       cases[i].list);
        fake_page(&fake, RESOURCE_METADATA, page);
        flow = challenged(&fake, &options, NULL);
        assert_int_equal(btz_auth_flow_state(flow),
                         cases[i].why ? BTZ_AUTH_FAILED : BTZ_AUTH_READY);
        assert_true(!cases[i].why ||
                    btz_str_find(btz_auth_flow_failure(flow, NULL), btz_str_of(cases[i].why)) >= 0);
        btz_auth_flow_free(flow);
        fake_fini(&fake);
    }
}

static void test_offline_access_is_a_scope(void **state)
{
    static const struct {
        const char *allowed;
        bool asked;
    } cases[] = {{"", true}, {"read offline_access", true}, {"read", false}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct btz_auth_flow_options options = usual_options();
        struct btz_auth_flow *flow;
        struct fake fake;

        fake_init(&fake);
        fake_usual(&fake);
        fake_page(
            &fake, ISSUER_METADATA,
            "{\"issuer\":\"https://id.example\",\"authorization_endpoint\":"
            "\"https://id.example/authorize\",\"token_endpoint\":\"https://id.example/token\","
            "\"registration_endpoint\":\"https://id.example/register\","
            "\"code_challenge_methods_supported\":[\"S256\"],"
            "\"scopes_supported\":[\"offline_access\",\"read\"]}");
        options.wants_refresh = true;
        options.allowed_scopes = btz_str_of(cases[i].allowed);
        flow = challenged(&fake, &options, "Bearer scope=\"read\"");
        assert_int_equal(btz_auth_scope_has(fake_asked(&fake, "scope"), BTZ_STR("offline_access")),
                         cases[i].asked);
        btz_auth_flow_free(flow);
        fake_fini(&fake);
    }
}

/* The server takes each token and asks at once for what the token has. */
static void test_a_loop_of_scopes_ends(void **state)
{
    struct btz_auth_flow_options options = usual_options();
    struct btz_auth_flow *flow;
    struct fake fake;
    unsigned rounds = 0;

    (void)state;
    fake_init(&fake);
    fake_usual(&fake);
    flow = challenged(&fake, &options, "Bearer scope=\"read\"");
    while (btz_auth_flow_state(flow) == BTZ_AUTH_READY && rounds < 50) {
        btz_auth_flow_accepted(flow);
        challenge(&fake, flow, 403, "Bearer error=\"insufficient_scope\", scope=\"read\"");
        rounds++;
    }
    assert_int_equal(btz_auth_flow_state(flow), BTZ_AUTH_FAILED);
    assert_true(rounds < 10);
    btz_auth_flow_free(flow);
    fake_fini(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_leniencies_are_apart),
        cmocka_unit_test(test_assumed_endpoints),
        cmocka_unit_test(test_no_resource_parameter),
        cmocka_unit_test(test_lists_of_issuers),
        cmocka_unit_test(test_offline_access_is_a_scope),
        cmocka_unit_test(test_a_loop_of_scopes_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
