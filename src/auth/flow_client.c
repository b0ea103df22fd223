/* Who the client is to the issuer, which scope it asks for, and the user's consent. */
#include "auth/flow_int.h"

#include <strings.h>

/* Registered by hand, for this issuer. */
static const struct btz_auth_client *registered(struct btz_auth_flow *flow)
{
    const struct btz_auth_flow_options *o = &flow->options;

    for (size_t i = 0; i < o->registered_count; i++) {
        struct btz_str issuer =
            o->registered[i].issuer.len ? o->registered[i].issuer : flow->bound_issuer;

        if (btz_str_eq(issuer, flow->issuer) ||
            (flow->server.assumed && o->lenient.assumes_endpoints)) {
            return &o->registered[i];
        }
    }
    /* Without leave of its own a secret is shown to no issuer that the server named. */
    for (size_t i = 0; i < o->registered_count; i++) {
        const struct btz_auth_client *client = &o->registered[i];

        if (!client->issuer.len && (!client->secret.len || client->any_issuer) &&
            !flow->bound_issuer.len) {
            flow->bound_issuer = btz_arena_dup(flow->arena, flow->issuer);
            return client;
        }
    }
    return NULL;
}

/* How the client shows who it is at the token endpoint: RFC 8414 section 2 has client_secret_basic
 * where nothing is said. */
static const char *choose_method(const struct btz_auth_flow *flow, bool secret)
{
    struct btz_str offered = flow->server.methods;

    if (!secret) {
        return "none";
    }
    return offered.len && !btz_auth_scope_has(offered, BTZ_STR("client_secret_basic")) &&
                   btz_auth_scope_has(offered, BTZ_STR("client_secret_post"))
               ? "client_secret_post"
               : "client_secret_basic";
}

/* The rest of the way for a client that is known. */
static void proceed(struct btz_auth_flow *flow)
{
    const struct btz_auth_token *token = btz_auth_store_token(
        btz_auth_flow_store(flow),
        flow->server.assumed && flow->options.lenient.assumes_endpoints ? BTZ_STR_NONE
                                                                        : flow->issuer,
        flow->options.resource);

    if (flow->options.client_credentials) {
        btz_auth_trade(flow, BTZ_STR_NONE, BTZ_STR_NONE);
    } else if (flow->status == 401 && token && token->refresh.len) {
        btz_auth_trade(flow, BTZ_STR_NONE, btz_arena_dup(flow->run, token->refresh));
    } else {
        btz_auth_ask_user(flow);
    }
}

static void use_client(struct btz_auth_flow *flow, const struct btz_auth_client *client)
{
    flow->client = (struct btz_auth_client){.issuer = flow->issuer,
                                            .id = btz_arena_dup(flow->run, client->id),
                                            .secret = btz_arena_dup(flow->run, client->secret),
                                            .method = btz_arena_dup(flow->run, client->method)};
    if (!flow->client.method.len) {
        flow->client.method = btz_str_of(choose_method(flow, client->secret.len > 0));
    }
    proceed(flow);
}

static void push(struct btz_auth_flow *flow, struct btz_json *list, struct btz_str text)
{
    btz_json_push(flow->run, list, btz_json_new_str(flow->run, text));
}

/* RFC 7591 section 2, with application_type of OpenID Connect Registration. */
static void register_client(struct btz_auth_flow *flow)
{
    struct btz_json *request = btz_json_new_object(flow->run);
    struct btz_json *uris = btz_json_new_array(flow->run);
    struct btz_json *grants = btz_json_new_array(flow->run);
    struct btz_json *responses = btz_json_new_array(flow->run);
    struct btz_str methods = flow->server.methods;
    struct btz_auth_url redirect;
    bool web = btz_auth_url_parse(flow->options.redirect_uri, &redirect) == BTZ_OK &&
               btz_auth_url_is_scheme(&redirect, "https");
    bool secret = methods.len && !btz_auth_scope_has(methods, BTZ_STR("none"));

    push(flow, uris, flow->options.redirect_uri);
    push(flow, grants, BTZ_STR("authorization_code"));
    push(flow, grants, BTZ_STR("refresh_token"));
    push(flow, responses, BTZ_STR("code"));
    btz_json_set_str(flow->run, request, "client_name",
                     flow->options.client_name.len ? flow->options.client_name
                                                   : BTZ_STR("MCP client"));
    btz_json_setz(flow->run, request, "redirect_uris", uris);
    btz_json_setz(flow->run, request, "grant_types", grants);
    btz_json_setz(flow->run, request, "response_types", responses);
    btz_json_set_strz(flow->run, request, "token_endpoint_auth_method",
                      choose_method(flow, secret));
    btz_json_set_strz(flow->run, request, "application_type", web ? "web" : "native");
    btz_auth_fetch(flow, BTZ_AUTH_FOR_CLIENT, flow->server.registration,
                   BTZ_STR("application/json"), btz_json_text(flow->run, request));
}

static bool secret_without_issuer(const struct btz_auth_flow *flow)
{
    for (size_t i = 0; i < flow->options.registered_count; i++) {
        if (!flow->options.registered[i].issuer.len && flow->options.registered[i].secret.len &&
            !flow->options.registered[i].any_issuer) {
            return true;
        }
    }
    return false;
}

/* Registered by hand, then a metadata document, then registered before, then now. */
void btz_auth_identify(struct btz_auth_flow *flow)
{
    const struct btz_auth_client *client = registered(flow);
    const struct btz_auth_client document = {.id = flow->options.metadata_document,
                                             .method = BTZ_STR("none")};

    if (!client && document.id.len && flow->server.takes_documents &&
        !flow->options.client_credentials) {
        client = &document;
    }
    if (!client) {
        client = btz_auth_store_client(btz_auth_flow_store(flow), flow->issuer);
    }
    if (client) {
        use_client(flow, client);
    } else if (flow->server.registration.len && !flow->options.no_registration &&
               !flow->options.client_credentials) {
        register_client(flow);
    } else {
        btz_auth_fail(flow, secret_without_issuer(flow)
                                ? "the registered client has a secret but no issuer, so nobody is "
                                  "shown it"
                                : "the client is not known to the issuer and cannot register");
    }
}

static bool is_printable(struct btz_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < 0x20 || text.ptr[i] > 0x7E) {
            return false;
        }
    }
    return text.len > 0;
}

void btz_auth_got_client(struct btz_auth_flow *flow, int status, const struct btz_json *document)
{
    struct btz_auth_client client = {
        .issuer = flow->issuer,
        .id = btz_json_str(btz_json_getz(document, "client_id")),
        .secret = btz_json_str(btz_json_getz(document, "client_secret")),
        .method = btz_json_str(btz_json_getz(document, "token_endpoint_auth_method"))};

    if ((status != 201 && status != 200) || !is_printable(client.id)) {
        btz_auth_fail(flow, "the issuer did not register the client (status %d)", status);
        return;
    }
    if (!btz_str_is(client.method, "client_secret_basic") &&
        !btz_str_is(client.method, "client_secret_post") && !btz_str_is(client.method, "none")) {
        client.method = btz_str_of(choose_method(flow, client.secret.len > 0));
    }
    btz_auth_store_put_client(btz_auth_flow_store(flow), &client);
    use_client(flow, &client);
}

/* What is asked for: a challenge's scope, else what the resource offers; later ones keep what was
 * asked for before. False if it passes what the user allowed. */
bool btz_auth_limit_scope(struct btz_auth_flow *flow, struct btz_str *wanted)
{
    struct btz_str allowed = flow->options.allowed_scopes;
    struct btz_str beyond;

    if (!allowed.len || flow->options.lenient.takes_any_scope) {
        return true;
    }
    beyond = btz_auth_scope_beyond(*wanted, allowed);
    if (beyond.len && flow->challenge.scope.len) {
        btz_auth_fail(flow, "the server asks for the scope %.*s, which the user did not allow",
                      BTZ_FMT(btz_str_sub(beyond, 0, 100)));
        return false;
    }
    *wanted = btz_auth_scope_common(flow->run, *wanted, allowed);
    return true;
}

static bool may_have(const struct btz_auth_flow *flow, struct btz_str scope)
{
    return !flow->options.allowed_scopes.len || flow->options.lenient.takes_any_scope ||
           btz_auth_scope_has(flow->options.allowed_scopes, scope);
}

static bool choose_scope(struct btz_auth_flow *flow)
{
    const struct btz_auth_token *token =
        btz_auth_store_token(btz_auth_flow_store(flow), flow->issuer, flow->options.resource);
    struct btz_str before = flow->requested.len ? flow->requested
                            : token             ? token->scope
                                                : BTZ_STR_NONE;
    struct btz_str wanted = flow->challenge.scope.len ? flow->challenge.scope : flow->offered;

    wanted = flow->status == 403 || flow->challenge.scope.len
                 ? btz_auth_scope_union(flow->run, before, wanted)
             : before.len ? before
                          : wanted;
    /* A server that accepts a token and then asks for a scope that it had would have the user asked
     * for ever. */
    if (flow->status == 403 && !btz_auth_scope_beyond(wanted, before).len &&
        ++flow->futile > flow->options.max_attempts) {
        btz_auth_fail(flow, "the server asks again and again for a scope that the token has");
        return false;
    }
    if (!btz_auth_limit_scope(flow, &wanted)) {
        return false;
    }
    if (wanted.len && flow->options.wants_refresh &&
        btz_auth_scope_has(flow->server.scopes, BTZ_STR("offline_access")) &&
        may_have(flow, BTZ_STR("offline_access"))) {
        wanted = btz_auth_scope_union(flow->run, wanted, BTZ_STR("offline_access"));
    }
    flow->scope = btz_arena_dup(flow->run, wanted);
    return true;
}

void btz_auth_ask_user(struct btz_auth_flow *flow)
{
    struct btz_str endpoint = flow->server.authorize;
    struct btz_buf query;
    enum btz_auth_verdict verdict;

    if (!choose_scope(flow)) {
        return;
    }
    flow->purpose = BTZ_AUTH_FOR_CODE;
    flow->verifier = btz_auth_draw(flow, "verifier");
    flow->redirect_state = btz_auth_draw(flow, "state");
    btz_buf_init(&query, MAX_FLOW_TEXT);
    btz_auth_form_add(&query, "response_type", BTZ_STR("code"));
    btz_auth_form_add(&query, "client_id", flow->client.id);
    btz_auth_form_add(&query, "redirect_uri", flow->options.redirect_uri);
    btz_auth_form_add(&query, "state", flow->redirect_state);
    btz_auth_form_add(&query, "code_challenge", btz_auth_code_challenge(flow->run, flow->verifier));
    btz_auth_form_add(&query, "code_challenge_method", BTZ_STR("S256"));
    if (!flow->options.lenient.sends_no_resource) {
        btz_auth_form_add(&query, "resource", flow->audience);
    }
    if (flow->scope.len) {
        btz_auth_form_add(&query, "scope", flow->scope);
    }
    verdict = btz_buf_status(&query) == BTZ_OK ? btz_auth_guard_open(&flow->options.guard, endpoint)
                                               : BTZ_AUTH_NO_URL;
    flow->need = (struct btz_auth_need){.kind = BTZ_AUTH_OPEN, .purpose = BTZ_AUTH_FOR_CODE};
    flow->need.url = verdict == BTZ_AUTH_ALLOWED
                         ? btz_arena_printf(flow->run, "%.*s%c%.*s", BTZ_FMT(endpoint),
                                            memchr(endpoint.ptr, '?', endpoint.len) ? '&' : '?',
                                            BTZ_FMT(btz_buf_view(&query)))
                         : endpoint;
    btz_buf_fini(&query);
    if (verdict != BTZ_AUTH_ALLOWED) {
        btz_auth_fail(flow, "the address for authorization is refused: %s (%.*s)",
                      btz_auth_verdict_text(verdict), BTZ_FMT(btz_str_sub(endpoint, 0, 200)));
        flow->verdict = verdict;
        return;
    }
    flow->waiting = true;
    flow->pulled = false;
}

/* RFC 9207 section 2.4: plain comparison; it also holds for errors. */
static bool issuer_fits(struct btz_auth_flow *flow, struct btz_str form)
{
    struct btz_str iss = BTZ_STR_NONE;
    int rc = btz_auth_form_get(flow->run, form, "iss", &iss);

    if (flow->options.lenient.ignores_response_iss) {
        return true;
    }
    if (rc == BTZ_ENOTFOUND) {
        return !flow->server.sends_iss;
    }
    return rc == BTZ_OK && btz_str_eq(iss, flow->issuer);
}

static bool state_fits(struct btz_auth_flow *flow, struct btz_str form)
{
    struct btz_str state;

    return flow->options.lenient.ignores_state ||
           (btz_auth_form_get(flow->run, form, "state", &state) == BTZ_OK &&
            btz_str_eq(state, flow->redirect_state));
}

void btz_auth_got_user(struct btz_auth_flow *flow, struct btz_str url)
{
    struct btz_str expected = flow->options.redirect_uri;
    struct btz_str form;
    struct btz_str code;
    struct btz_str error;

    if (!url.len) {
        btz_auth_fail(flow, "the user did not finish the authorization");
        return;
    }
    if (url.len > MAX_FLOW_TEXT || !btz_str_starts(url, expected) || url.len == expected.len ||
        url.ptr[expected.len] != '?') {
        btz_auth_fail(flow, "the browser came back to another address");
        return;
    }
    form = btz_str_sub(url, expected.len + 1, url.len);
    if (!issuer_fits(flow, form)) {
        btz_auth_fail(flow, "the authorization response is of another issuer");
    } else if (!state_fits(flow, form)) {
        btz_auth_fail(flow, "the authorization response belongs to no request of this client");
    } else if (btz_auth_form_get(flow->run, form, "error", &error) == BTZ_OK) {
        btz_auth_fail(flow, "authorization was refused: %.*s", BTZ_FMT(btz_str_sub(error, 0, 100)));
    } else if (btz_auth_form_get(flow->run, form, "code", &code) != BTZ_OK || !code.len) {
        btz_auth_fail(flow, "the authorization response has no code");
    } else {
        btz_auth_trade(flow, code, BTZ_STR_NONE);
    }
}
