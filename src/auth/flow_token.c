/* The token endpoint: RFC 6749 sections 4.1.3, 4.4 and 6, RFC 8707 section 2.2. */
#include "auth/flow_int.h"

#include <strings.h>

/* The client shows who it is: in the form, or by the Authorization value given back. */
static struct btz_str show_client(struct btz_auth_flow *flow, struct btz_buf *form)
{
    const struct btz_auth_client *client = &flow->client;

    if (btz_str_is(client->method, "client_secret_basic")) {
        struct btz_str pair = btz_arena_printf(
            flow->run, "%.*s:%.*s", BTZ_FMT(btz_auth_form_escape(flow->run, client->id)),
            BTZ_FMT(btz_auth_form_escape(flow->run, client->secret)));

        return btz_arena_printf(flow->run, "Basic %.*s", BTZ_FMT(btz_auth_base64(flow->run, pair)));
    }
    btz_auth_form_add(form, "client_id", client->id);
    if (btz_str_is(client->method, "client_secret_post")) {
        btz_auth_form_add(form, "client_secret", client->secret);
    }
    return BTZ_STR_NONE;
}

void btz_auth_trade(struct btz_auth_flow *flow, struct btz_str code, struct btz_str refresh)
{
    struct btz_buf form;
    struct btz_str authorization;
    struct btz_str body;

    btz_buf_init(&form, MAX_FLOW_TEXT);
    flow->refreshing = refresh.len > 0;
    if (code.len) {
        btz_auth_form_add(&form, "grant_type", BTZ_STR("authorization_code"));
        btz_auth_form_add(&form, "code", code);
        btz_auth_form_add(&form, "redirect_uri", flow->options.redirect_uri);
        btz_auth_form_add(&form, "code_verifier", flow->verifier);
    } else if (refresh.len) {
        btz_auth_form_add(&form, "grant_type", BTZ_STR("refresh_token"));
        btz_auth_form_add(&form, "refresh_token", refresh);
    } else {
        struct btz_str wanted = flow->challenge.scope.len ? flow->challenge.scope : flow->offered;

        if (!btz_auth_limit_scope(flow, &wanted)) {
            btz_buf_fini(&form);
            return;
        }
        flow->scope = btz_arena_dup(flow->run, wanted);
        btz_auth_form_add(&form, "grant_type", BTZ_STR("client_credentials"));
        if (flow->scope.len) {
            btz_auth_form_add(&form, "scope", flow->scope);
        }
    }
    if (!flow->options.lenient.sends_no_resource) {
        btz_auth_form_add(&form, "resource", flow->audience);
    }
    authorization = show_client(flow, &form);
    if (btz_buf_status(&form) != BTZ_OK) {
        btz_auth_fail(flow, "the token request is larger than allowed");
        btz_buf_fini(&form);
        return;
    }
    body = btz_arena_dup(flow->run, btz_buf_view(&form));
    btz_buf_fini(&form);
    btz_auth_fetch(flow, BTZ_AUTH_FOR_TOKEN, flow->server.token,
                   BTZ_STR("application/x-www-form-urlencoded"), body);
    if (authorization.len) {
        btz_auth_fetch_as(flow, authorization);
    }
}

/* RFC 6750 section 2.1: what may stand behind "Bearer ". */
static bool is_bearer(struct btz_str token)
{
    size_t end = token.len;

    while (end && token.ptr[end - 1] == '=') {
        end--;
    }
    for (size_t i = 0; i < end; i++) {
        char c = token.ptr[i];

        if (!c || !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    strchr("-._~+/", c))) {
            return false;
        }
    }
    return end > 0 && token.len <= 8192;
}

static void refused(struct btz_auth_flow *flow, int status, const struct btz_json *document)
{
    struct btz_str error = btz_json_str(btz_json_getz(document, "error"));

    /* RFC 6749 section 5.2: invalid_grant says that the refresh token is over, and the user is
     * asked again. An issuer that is out of order for now says nothing about the token. */
    if (flow->refreshing && status >= 400 && status < 500 && status != 429) {
        if (btz_str_is(error, "invalid_grant")) {
            btz_auth_store_forget_token(btz_auth_flow_store(flow), flow->issuer,
                                        flow->options.resource);
        }
        flow->refreshing = false;
        btz_auth_ask_user(flow);
    } else {
        btz_auth_fail(flow, "the issuer gave no token (status %d%s%.*s)", status,
                      error.len ? ", " : "", BTZ_FMT(btz_str_sub(error, 0, 100)));
    }
}

void btz_auth_got_token(struct btz_auth_flow *flow, int status, const struct btz_json *document)
{
    struct btz_str access = btz_json_str(btz_json_getz(document, "access_token"));
    struct btz_str type = btz_json_str(btz_json_getz(document, "token_type"));
    struct btz_str refresh = btz_json_str(btz_json_getz(document, "refresh_token"));
    struct btz_str scope = btz_json_str(btz_json_getz(document, "scope"));
    const struct btz_auth_token *old =
        btz_auth_store_token(btz_auth_flow_store(flow), flow->issuer, flow->options.resource);
    struct btz_auth_token token = {.issuer = flow->issuer, .resource = flow->options.resource};
    int64_t seconds = 0;

    if (status != 200 || !document) {
        refused(flow, status, document);
        return;
    }
    if (type.len != 6 || strncasecmp(type.ptr, "bearer", 6) != 0 || !is_bearer(access)) {
        btz_auth_fail(flow, "the issuer gave a token that is no bearer token");
        return;
    }
    token.access = access;
    token.refresh = refresh.len               ? refresh
                    : flow->refreshing && old ? btz_arena_dup(flow->run, old->refresh)
                                              : BTZ_STR_NONE;
    token.scope = scope.len && btz_auth_scope_is_valid(scope) ? scope
                  : flow->refreshing && old                   ? btz_arena_dup(flow->run, old->scope)
                                                              : flow->scope;
    if (btz_json_int64(btz_json_getz(document, "expires_in"), &seconds) && seconds > 0 &&
        seconds < INT64_C(1000000000)) {
        token.expires_us = flow->now_us + seconds * 1000000;
    }
    if (flow->options.allowed_scopes.len && !flow->options.lenient.takes_any_scope) {
        struct btz_str beyond = btz_auth_scope_beyond(token.scope, flow->options.allowed_scopes);

        if (beyond.len) {
            btz_auth_fail(flow, "the issuer granted the scope %.*s, which the user did not allow",
                          BTZ_FMT(btz_str_sub(beyond, 0, 100)));
            return;
        }
    }
    btz_auth_store_put_token(btz_auth_flow_store(flow), &token);
    btz_auth_use_token(flow, access, flow->issuer);
}
