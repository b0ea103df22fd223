#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "auth/store.h"

static void put(struct btz_auth_store *store, const char *issuer, const char *resource,
                const char *access)
{
    const struct btz_auth_token token = {.issuer = btz_str_of(issuer),
                                         .resource = btz_str_of(resource),
                                         .access = btz_str_of(access)};

    btz_auth_store_put_token(store, &token);
}

static const char *access_of(const struct btz_auth_token *token)
{
    return token ? token->access.ptr : "none";
}

static void test_tokens(void **state)
{
    struct btz_auth_store *store = btz_auth_store_new();
    struct btz_str a = BTZ_STR("https://hub.example/a/mcp");
    struct btz_str b = BTZ_STR("https://hub.example/b/mcp");
    const struct btz_auth_token *token;

    (void)state;
    put(store, "https://id.example", "https://hub.example/a/mcp", "one");
    put(store, "https://other.example", "https://hub.example/a/mcp", "two");
    assert_string_equal(access_of(btz_auth_store_token(store, BTZ_STR("https://id.example"), a)),
                        "one");
    assert_string_equal(access_of(btz_auth_store_token(store, BTZ_STR_NONE, a)), "two");
    assert_null(btz_auth_store_token(store, BTZ_STR_NONE, b));
    assert_string_equal(access_of(btz_auth_store_token_of_host(store, b)), "two");
    assert_null(btz_auth_store_token_of_host(store, BTZ_STR("https://hub.example:444/b")));
    assert_null(btz_auth_store_token_of_host(store, BTZ_STR("no url")));
    put(store, "https://id.example", "https://hub.example/a/mcp", "three");
    token = btz_auth_store_token(store, BTZ_STR("https://id.example"), a);
    assert_string_equal(access_of(token), "three");
    btz_auth_store_forget_token(store, token->issuer, token->resource);
    assert_null(btz_auth_store_token(store, BTZ_STR("https://id.example"), a));
    btz_auth_store_free(store);
}

static void test_clients_and_limit(void **state)
{
    struct btz_auth_store *store = btz_auth_store_new();
    struct btz_auth_client client = {.issuer = BTZ_STR("https://id.example"), .id = BTZ_STR("1")};
    char issuer[40];

    (void)state;
    btz_auth_store_put_client(store, &client);
    client.id = BTZ_STR("2");
    btz_auth_store_put_client(store, &client);
    assert_true(btz_str_is(btz_auth_store_client(store, client.issuer)->id, "2"));
    assert_null(btz_auth_store_client(store, BTZ_STR("https://id.example/")));
    for (int i = 0; i < 300; i++) {
        (void)snprintf(issuer, sizeof(issuer), "https://%d.example", i);
        client.issuer = btz_str_of(issuer);
        btz_auth_store_put_client(store, &client);
    }
    assert_null(btz_auth_store_client(store, BTZ_STR("https://id.example")));
    assert_null(btz_auth_store_client(store, BTZ_STR("https://43.example")));
    assert_non_null(btz_auth_store_client(store, BTZ_STR("https://44.example")));
    assert_non_null(btz_auth_store_client(store, BTZ_STR("https://299.example")));
    btz_auth_store_free(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tokens),
                                       cmocka_unit_test(test_clients_and_limit)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
