/* The organisation's authorization server in a trial's world. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "auth/form.h"
#include "lab/web.h"

#define BASE BTZ_LOGIN_ISSUER
#define GATEWAY "https%3A%2F%2Fhub.alderfinch.example%2Fa%2Fmcp"
#define HOST_BACK "http%3A%2F%2Flocalhost%3A8976%2Fcallback"
/* RFC 7636 appendix B. */
#define VERIFIER "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
#define CHALLENGE "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

static struct btz_lab *lab;

static int open_lab(void **state)
{
    const struct btz_lab_options options = {.rename_seed = 0};
    struct btz_err err;

    (void)state;
    return btz_lab_new(&options, &lab, &err);
}

static int close_lab(void **state)
{
    (void)state;
    btz_lab_free(lab);
    return 0;
}

static struct btz_stage *stage_of(const char *scenario)
{
    struct btz_stage *stage = NULL;
    struct btz_err err;

    assert_int_equal(btz_stage_new(lab, btz_lab_scenario_find(lab, btz_str_of(scenario)),
                                   BTZ_ARM_ATTACK, 5, &stage, &err),
                     BTZ_OK);
    return stage;
}

static struct btz_web_answer ask(struct btz_stage *stage, const char *method, const char *url,
                                 const char *body, bool shared)
{
    const struct btz_web_request request = {.from = "browser",
                                            .method = btz_str_of(method),
                                            .url = btz_str_of(url),
                                            .body = btz_str_of(body),
                                            .shared_consent = shared};
    struct btz_web_answer answer;
    struct btz_err err;

    assert_int_equal(btz_stage_web(stage, &request, 1, &answer, &err), BTZ_OK);
    return answer;
}

static const char *authorize_as(struct btz_arena *arena, const char *client, const char *redirect,
                                const char *challenge)
{
    return btz_arena_printf(arena,
                            BASE "/authorize?response_type=code&client_id=%s&redirect_uri=%s&"
                                 "state=s1&code_challenge=%s&code_challenge_method=S256&"
                                 "resource=%s&scope=a",
                            client, redirect, challenge, GATEWAY)
        .ptr;
}

static struct btz_str field(struct btz_arena *arena, struct btz_str location, const char *name)
{
    struct btz_str rest = location;
    struct btz_str part;
    struct btz_str out = BTZ_STR_NONE;

    (void)btz_str_cut(&rest, '?', &part);
    (void)!btz_auth_form_get(arena, rest, name, &out);
    return out;
}

static const struct btz_json *json(struct btz_arena *arena, struct btz_str body)
{
    const struct btz_json *value = NULL;

    assert_int_equal(btz_json_parse(arena, body, NULL, &value, NULL), BTZ_OK);
    return value;
}

static const char *code_form(struct btz_arena *arena, struct btz_str code, const char *verifier,
                             const char *client, const char *resource)
{
    return btz_arena_printf(arena,
                            "grant_type=authorization_code&code=%.*s&redirect_uri=%s&"
                            "code_verifier=%s&client_id=%s&resource=%s",
                            BTZ_FMT(code), HOST_BACK, verifier, client, resource)
        .ptr;
}

static void test_code_for_token(void **state)
{
    struct btz_stage *stage = stage_of("credential-confusion/v5");
    struct btz_arena *arena = btz_arena_new();
    struct btz_web_answer answer =
        ask(stage, "GET", authorize_as(arena, BTZ_LOGIN_CLIENT, HOST_BACK, CHALLENGE), NULL, false);
    struct btz_str code = field(arena, answer.location, "code");
    struct btz_login_token token;
    struct btz_str refresh;

    (void)state;
    assert_int_equal(answer.status, 302);
    assert_true(btz_str_starts(answer.location, BTZ_STR(BTZ_LOGIN_REDIRECT "?code=")));
    assert_true(btz_str_is(field(arena, answer.location, "state"), "s1"));
    assert_true(btz_str_is(field(arena, answer.location, "iss"), BTZ_LOGIN_ISSUER));
    /* Not for another verifier, client or resource; once for the right ones. */
    assert_int_equal(ask(stage, "POST", BASE "/token",
                         code_form(arena, code, CHALLENGE, BTZ_LOGIN_CLIENT, GATEWAY), false)
                         .status,
                     400);
    assert_int_equal(
        ask(stage, "POST", BASE "/token", code_form(arena, code, VERIFIER, "x", GATEWAY), false)
            .status,
        400);
    assert_int_equal(ask(stage, "POST", BASE "/token",
                         code_form(arena, code, VERIFIER, BTZ_LOGIN_CLIENT, "https%3A%2F%2Fx"),
                         false)
                         .status,
                     400);
    answer = ask(stage, "POST", BASE "/token",
                 code_form(arena, code, VERIFIER, BTZ_LOGIN_CLIENT, GATEWAY), false);
    assert_int_equal(answer.status, 200);
    assert_int_equal(
        btz_stage_token(
            stage, btz_json_str(btz_json_getz(json(arena, answer.body), "access_token")), &token),
        BTZ_OK);
    assert_true(btz_str_is(token.resource, "https://hub.alderfinch.example/a/mcp"));
    assert_true(btz_str_is(token.client, BTZ_LOGIN_CLIENT) && btz_str_is(token.scope, "a"));
    refresh = btz_json_str(btz_json_getz(json(arena, answer.body), "refresh_token"));
    assert_int_equal(ask(stage, "POST", BASE "/token",
                         code_form(arena, code, VERIFIER, BTZ_LOGIN_CLIENT, GATEWAY), false)
                         .status,
                     400);
    answer = ask(stage, "POST", BASE "/token",
                 btz_arena_printf(arena,
                                  "grant_type=refresh_token&client_id=" BTZ_LOGIN_CLIENT
                                  "&refresh_token=%.*s",
                                  BTZ_FMT(refresh))
                     .ptr,
                 false);
    assert_int_equal(answer.status, 200);
    assert_int_equal(
        ask(stage, "POST", BASE "/token",
            btz_arena_printf(arena, "grant_type=refresh_token&client_id=x&refresh_token=%.*s",
                             BTZ_FMT(refresh))
                .ptr,
            false)
            .status,
        400);
    assert_int_equal(btz_stage_token(stage, BTZ_STR("at-none"), &token), BTZ_ENOTFOUND);
    assert_int_equal(btz_stage_token(stage, BTZ_STR(""), &token), BTZ_ENOTFOUND);
    btz_arena_free(arena);
    btz_stage_free(stage);
}

static const char *how(struct btz_stage *stage)
{
    const char *last = "";

    for (size_t i = 0; i < btz_stage_journal_count(stage); i++) {
        const struct btz_json *entry = btz_stage_journal_at(stage, i);

        if (btz_str_is(btz_json_str(btz_json_getz(entry, "sink")), "login.authorize")) {
            last = btz_json_str(btz_json_pointer(entry, BTZ_STR("/value/how"))).ptr;
        }
    }
    return last;
}

/* The user agrees to what was started here; what is remembered depends on the host profile. */
static void test_consent(void **state)
{
    const char *foreign = "https%3A%2F%2Fcollect.example%2Fc.json";
    const char *foreign_back = "https%3A%2F%2Fcollect.example%2Fdone";
    struct btz_stage *stage = stage_of("credential-confusion/v5");
    struct btz_arena *arena = btz_arena_new();
    struct btz_web_answer answer;

    (void)state;
    answer = ask(stage, "GET", authorize_as(arena, foreign, foreign_back, CHALLENGE), NULL, true);
    assert_string_equal(how(stage), "refused");
    assert_true(btz_str_is(field(arena, answer.location, "error"), "access_denied"));
    assert_null(field(arena, answer.location, "code").ptr);
    ask(stage, "GET", authorize_as(arena, BTZ_LOGIN_CLIENT, HOST_BACK, CHALLENGE), NULL, false);
    assert_string_equal(how(stage), "asked");
    ask(stage, "GET", authorize_as(arena, BTZ_LOGIN_CLIENT, HOST_BACK, CHALLENGE), NULL, false);
    assert_string_equal(how(stage), "remembered");
    ask(stage, "GET", authorize_as(arena, foreign, foreign_back, CHALLENGE), NULL, false);
    assert_string_equal(how(stage), "refused");
    answer = ask(stage, "GET", authorize_as(arena, foreign, foreign_back, CHALLENGE), NULL, true);
    assert_string_equal(how(stage), "remembered");
    assert_true(field(arena, answer.location, "code").len > 0);
    btz_arena_free(arena);
    btz_stage_free(stage);
}

static void test_refusals(void **state)
{
    struct btz_stage *stage = stage_of("credential-confusion/v5");
    struct btz_arena *arena = btz_arena_new();
    struct btz_web_answer answer;
    struct btz_str id;

    (void)state;
    /* Redirect addresses are compared exactly, challenges must be S256, clients known. */
    assert_int_equal(ask(stage, "GET",
                         authorize_as(arena, BTZ_LOGIN_CLIENT, HOST_BACK "%2Fx", CHALLENGE), NULL,
                         false)
                         .status,
                     400);
    assert_int_equal(
        ask(stage, "GET", authorize_as(arena, BTZ_LOGIN_CLIENT, HOST_BACK, "short"), NULL, false)
            .status,
        400);
    assert_int_equal(
        ask(stage, "GET", authorize_as(arena, "nobody", HOST_BACK, CHALLENGE), NULL, false).status,
        400);
    assert_int_equal(ask(stage, "GET",
                         authorize_as(arena, "https%3A%2F%2Fa.example%2Fc",
                                      "https%3A%2F%2Fb.example%2Fd", CHALLENGE),
                         NULL, false)
                         .status,
                     400);
    assert_int_equal(ask(stage, "POST", BASE "/register", "no json", false).status, 400);
    assert_int_equal(ask(stage, "POST", BASE "/register", "{}", false).status, 400);
    answer = ask(stage, "POST", BASE "/register",
                 "{\"redirect_uris\":[\"" BTZ_LOGIN_REDIRECT "\"]}", false);
    assert_int_equal(answer.status, 201);
    id = btz_json_str(btz_json_getz(json(arena, answer.body), "client_id"));
    assert_int_equal(ask(stage, "GET",
                         authorize_as(arena, btz_arena_cstr(arena, id), HOST_BACK, CHALLENGE), NULL,
                         false)
                         .status,
                     302);
    assert_int_equal(ask(stage, "POST", BASE "/token", "grant_type=password", false).status, 400);
    assert_int_equal(ask(stage, "GET", BASE "/elsewhere", NULL, false).status, 404);
    answer = ask(stage, "GET", BASE "/.well-known/oauth-authorization-server", NULL, false);
    assert_true(btz_str_is(btz_json_str(btz_json_getz(json(arena, answer.body), "issuer")),
                           BTZ_LOGIN_ISSUER));
    assert_int_equal(ask(stage, "GET", "https://nobody.example/", NULL, false).status, 0);
    assert_int_equal(ask(stage, "GET", "no address", NULL, false).status, 0);
    btz_arena_free(arena);
    btz_stage_free(stage);
}

static void test_sites_and_names(void **state)
{
    struct btz_stage *stage = stage_of("credential-confusion/v4");
    const struct btz_stage_site *site = btz_stage_site(stage, BTZ_STR("addon-x"));
    struct btz_auth_address one;
    struct btz_auth_address two;

    (void)state;
    assert_non_null(site);
    assert_true(btz_str_is(site->url, "https://addons.brightsluice.example/mcp"));
    assert_true(btz_str_is(site->issuer, BTZ_LOGIN_ISSUER));
    assert_true(btz_str_is(site->step_tool, "format_report"));
    assert_true(btz_str_starts(site->step_scope, BTZ_STR("addon.use:")));
    assert_true(btz_str_find(site->step_scope, BTZ_STR(" files.read:")) > 0);
    assert_null(btz_stage_site(stage, BTZ_STR("gateway-auth")));
    btz_stage_free(stage);
    stage = stage_of("protocol-downgrade/v5");
    site = btz_stage_site(stage, BTZ_STR("gateway-auth"));
    assert_true(btz_str_is(site->url, "https://gateway-auth.alderfinch.example/mcp"));
    assert_true(btz_str_starts(site->grant, BTZ_STR("grant-")));
    assert_true(btz_stage_redeem(stage, site->grant).len > 0);
    assert_null(btz_stage_redeem(stage, BTZ_STR("grant-other")).ptr);
    assert_true(btz_stage_resolve(stage, BTZ_STR("a.example"), &one));
    assert_true(btz_stage_resolve(stage, BTZ_STR("b.example"), &two));
    assert_int_equal(btz_auth_address_place(&one), BTZ_AUTH_PUBLIC);
    assert_memory_not_equal(one.bytes, two.bytes, 4);
    assert_false(btz_stage_resolve(stage, BTZ_STR("a.test"), &one));
    btz_stage_free(stage);
    stage = stage_of("mcp-rebinding/v5");
    for (int i = 0; i < 3; i++) {
        assert_true(btz_stage_resolve(stage, BTZ_STR("id.brightsluice.example"), &one));
        assert_int_equal(btz_auth_address_place(&one), i ? BTZ_AUTH_LOOPBACK : BTZ_AUTH_PUBLIC);
    }
    btz_stage_free(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code_for_token), cmocka_unit_test(test_consent),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_sites_and_names)};

    return cmocka_run_group_tests(tests, open_lab, close_lab);
}
