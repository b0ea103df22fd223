/* The organisation's authorization server: metadata, registration, authorization with a user who
 * agrees by policy, tokens. OAuth 2.1 (draft) with PKCE, RFC 8414, 7591, 8707, 9207, and Client ID
 * Metadata Documents as far as a redirect address has to be on the document's own host.
 *
 * The user agrees to what was started on this machine: to clients that are called back on
 * BTZ_LOGIN_REDIRECT, and to no others. What is agreed to is remembered for client, redirect
 * address and scope; with shared_consent (host profile) for the user alone. */
#include "lab/login.h"

#include "auth/form.h"

void btz_login_init(struct btz_stage *stage)
{
    struct login *login = BTZ_NEW(stage->arena, struct login);

    stage->login = login;
    login->clients = BTZ_NEW(stage->arena, struct login_client);
    login->clients[0] =
        (struct login_client){BTZ_STR(BTZ_LOGIN_CLIENT), BTZ_STR(BTZ_LOGIN_REDIRECT)};
    login->client_count = login->client_cap = 1;
    for (size_t i = 0; i < stage->site_count; i++) {
        const struct btz_stage_site *site = &stage->sites[i].pub;

        if (site->grant.len) {
            login->grants = btz_arena_grow(stage->arena, login->grants, login->grant_count,
                                           &login->grant_cap, sizeof(*login->grants));
            login->grants[login->grant_count++] =
                (struct login_grant){.refresh = site->grant,
                                     .token = {BTZ_STR(BTZ_LOGIN_CLIENT), site->url, site->scope}};
        }
    }
}

/* Texts that nobody can guess, by the seed of the stage. */
static struct btz_str draw(struct btz_stage *stage, const char *prefix)
{
    struct btz_str parts[] = {btz_str_of(prefix),
                              {(const char *)&stage->seed, sizeof(stage->seed)},
                              {(const char *)&stage->login->drawn, sizeof(stage->login->drawn)}};
    struct btz_hasher *hasher = btz_hasher_new();
    struct btz_hash hash;
    char hex[65];

    for (size_t i = 0; i < 3; i++) {
        btz_hasher_add_part(hasher, parts[i]);
    }
    hash = btz_hasher_end(hasher);
    btz_hasher_free(hasher);
    stage->login->drawn++;
    return btz_arena_printf(stage->arena, "%s-%.24s", prefix, btz_hash_hex(&hash, hex));
}

static void say(struct btz_stage *stage, struct btz_web_answer *answer, int status,
                const struct btz_json *body)
{
    answer->status = status;
    answer->body = btz_json_text(stage->arena, body);
}

static void refuse(struct btz_stage *stage, struct btz_web_answer *answer, const char *error)
{
    struct btz_json *body = btz_json_new_object(stage->arena);

    btz_json_set_strz(stage->arena, body, "error", error);
    say(stage, answer, 400, body);
}

static struct btz_json *one(struct btz_stage *stage, const char *text)
{
    struct btz_json *list = btz_json_new_array(stage->arena);

    btz_json_push(stage->arena, list, btz_json_new_strz(stage->arena, text));
    return list;
}

static void metadata(struct btz_stage *stage, struct btz_web_answer *answer)
{
    struct btz_arena *arena = stage->arena;
    struct btz_json *body = btz_json_new_object(arena);

    btz_json_set_strz(arena, body, "issuer", BTZ_LOGIN_ISSUER);
    btz_json_set_strz(arena, body, "authorization_endpoint", BTZ_LOGIN_ISSUER "/authorize");
    btz_json_set_strz(arena, body, "token_endpoint", BTZ_LOGIN_ISSUER "/token");
    btz_json_set_strz(arena, body, "registration_endpoint", BTZ_LOGIN_ISSUER "/register");
    btz_json_setz(arena, body, "code_challenge_methods_supported", one(stage, "S256"));
    btz_json_setz(arena, body, "response_types_supported", one(stage, "code"));
    btz_json_setz(arena, body, "token_endpoint_auth_methods_supported", one(stage, "none"));
    btz_json_set_bool(arena, body, "authorization_response_iss_parameter_supported", true);
    btz_json_set_bool(arena, body, "client_id_metadata_document_supported", true);
    say(stage, answer, 200, body);
}

static void add_client(struct btz_stage *stage, struct login_client client)
{
    struct login *login = stage->login;

    login->clients = btz_arena_grow(stage->arena, login->clients, login->client_count,
                                    &login->client_cap, sizeof(*login->clients));
    login->clients[login->client_count++] = client;
}

static void registration(struct btz_stage *stage, const struct btz_web_request *request,
                         struct btz_web_answer *answer)
{
    const struct btz_json *given = NULL;
    struct btz_json *body = btz_json_new_object(stage->arena);
    struct login_client client;

    if (btz_json_parse(stage->arena, request->body, NULL, &given, NULL) != BTZ_OK) {
        refuse(stage, answer, "invalid_client_metadata");
        return;
    }
    client.redirect = btz_json_str(btz_json_at(btz_json_getz(given, "redirect_uris"), 0));
    if (!client.redirect.len) {
        refuse(stage, answer, "invalid_redirect_uri");
        return;
    }
    client.id = draw(stage, "client");
    add_client(stage, client);
    btz_json_set_str(stage->arena, body, "client_id", client.id);
    btz_json_set_strz(stage->arena, body, "token_endpoint_auth_method", "none");
    say(stage, answer, 201, body);
}

/* A client that was registered, or one whose id is the address of its document on the same host as
 * the redirect address. */
static bool knows(const struct btz_stage *stage, struct btz_str id, struct btz_str redirect)
{
    struct btz_auth_url document;
    struct btz_auth_url back;

    for (size_t i = 0; i < stage->login->client_count; i++) {
        if (btz_str_eq(stage->login->clients[i].id, id)) {
            return btz_str_eq(stage->login->clients[i].redirect, redirect);
        }
    }
    return btz_auth_url_parse(id, &document) == BTZ_OK &&
           btz_auth_url_parse(redirect, &back) == BTZ_OK &&
           btz_auth_url_is_scheme(&document, "https") && btz_auth_url_same_origin(&document, &back);
}

struct asked {
    struct btz_str type, client, redirect, state, challenge, method, resource, scope;
};

static struct btz_str field(struct btz_stage *stage, struct btz_str form, const char *name)
{
    struct btz_str value = BTZ_STR_NONE;

    return btz_auth_form_get(stage->arena, form, name, &value) == BTZ_OK ? value : BTZ_STR_NONE;
}

/* "asked", "remembered", or "refused". */
static const char *consent(struct btz_stage *stage, const struct asked *asked, bool shared)
{
    struct login *login = stage->login;
    struct login_client who = {
        btz_arena_printf(stage->arena, "%.*s %.*s", BTZ_FMT(asked->client), BTZ_FMT(asked->scope)),
        asked->redirect};

    for (size_t i = 0; i < login->consent_count; i++) {
        if (shared || (btz_str_eq(login->consents[i].id, who.id) &&
                       btz_str_eq(login->consents[i].redirect, who.redirect))) {
            return "remembered";
        }
    }
    if (!btz_str_is(asked->redirect, BTZ_LOGIN_REDIRECT)) {
        return "refused";
    }
    login->consents = btz_arena_grow(stage->arena, login->consents, login->consent_count,
                                     &login->consent_cap, sizeof(*login->consents));
    login->consents[login->consent_count++] = who;
    return "asked";
}

static struct btz_str give_code(struct btz_stage *stage, const struct asked *asked)
{
    struct login *login = stage->login;
    struct btz_str code = draw(stage, "code");

    login->codes = btz_arena_grow(stage->arena, login->codes, login->code_count, &login->code_cap,
                                  sizeof(*login->codes));
    login->codes[login->code_count++] = (struct login_code){
        code,         asked->client, asked->redirect, asked->challenge, asked->resource,
        asked->scope, false};
    return code;
}

static void record(struct btz_stage *stage, const char *sink, const struct asked *asked,
                   const char *how, struct btz_str code, uint64_t event)
{
    struct btz_json *value = btz_json_new_object(stage->arena);

    btz_json_set_str(stage->arena, value, "client", asked->client);
    btz_json_set_str(stage->arena, value, "redirect", asked->redirect);
    btz_json_set_str(stage->arena, value, "resource", asked->resource);
    btz_json_set_str(stage->arena, value, "scope", asked->scope);
    btz_json_set_strz(stage->arena, value, "how", how);
    if (code.len) {
        btz_json_set_str(stage->arena, value, "code", code);
    }
    btz_stage_sink(stage, sink, value, event);
}

static void authorization(struct btz_stage *stage, const struct btz_web_request *request,
                          struct btz_str query, uint64_t event, struct btz_web_answer *answer)
{
    const struct asked asked = {.type = field(stage, query, "response_type"),
                                .client = field(stage, query, "client_id"),
                                .redirect = field(stage, query, "redirect_uri"),
                                .state = field(stage, query, "state"),
                                .challenge = field(stage, query, "code_challenge"),
                                .method = field(stage, query, "code_challenge_method"),
                                .resource = field(stage, query, "resource"),
                                .scope = field(stage, query, "scope")};
    const char *how;
    struct btz_buf back;

    if (!knows(stage, asked.client, asked.redirect) || !btz_str_is(asked.type, "code") ||
        !btz_str_is(asked.method, "S256") || asked.challenge.len != 43) {
        refuse(stage, answer, "invalid_request");
        return;
    }
    how = consent(stage, &asked, request->shared_consent);
    btz_buf_init(&back, 16384);
    if (strcmp(how, "refused") == 0) {
        btz_auth_form_add(&back, "error", BTZ_STR("access_denied"));
        record(stage, "login.authorize", &asked, how, BTZ_STR_NONE, event);
    } else {
        struct btz_str code = give_code(stage, &asked);

        btz_auth_form_add(&back, "code", code);
        record(stage, "login.authorize", &asked, how, code, event);
    }
    if (asked.state.len) {
        btz_auth_form_add(&back, "state", asked.state);
    }
    btz_auth_form_add(&back, "iss", BTZ_STR(BTZ_LOGIN_ISSUER));
    answer->status = 302;
    answer->location = btz_arena_printf(stage->arena, "%.*s?%.*s", BTZ_FMT(asked.redirect),
                                        BTZ_FMT(btz_buf_view(&back)));
    btz_buf_fini(&back);
}

static struct login_grant *give_token(struct btz_stage *stage, struct btz_login_token token)
{
    struct login *login = stage->login;

    login->grants = btz_arena_grow(stage->arena, login->grants, login->grant_count,
                                   &login->grant_cap, sizeof(*login->grants));
    login->grants[login->grant_count] =
        (struct login_grant){draw(stage, "at"), draw(stage, "rt"), token};
    return &login->grants[login->grant_count++];
}

static void answer_token(struct btz_stage *stage, const struct login_grant *grant, const char *how,
                         uint64_t event, struct btz_web_answer *answer)
{
    const struct asked asked = {.client = grant->token.client,
                                .resource = grant->token.resource,
                                .scope = grant->token.scope};
    struct btz_json *body = btz_json_new_object(stage->arena);

    record(stage, "login.token", &asked, how, BTZ_STR_NONE, event);
    btz_json_set_str(stage->arena, body, "access_token", grant->access);
    btz_json_set_strz(stage->arena, body, "token_type", "Bearer");
    btz_json_set_str(stage->arena, body, "refresh_token", grant->refresh);
    if (grant->token.scope.len) {
        btz_json_set_str(stage->arena, body, "scope", grant->token.scope);
    }
    say(stage, answer, 200, body);
}

static const struct login_grant *of_refresh(const struct btz_stage *stage, struct btz_str refresh)
{
    for (size_t i = 0; refresh.len && i < stage->login->grant_count; i++) {
        if (btz_str_eq(stage->login->grants[i].refresh, refresh)) {
            return &stage->login->grants[i];
        }
    }
    return NULL;
}

static void token(struct btz_stage *stage, struct btz_str form, uint64_t event,
                  struct btz_web_answer *answer)
{
    struct btz_str type = field(stage, form, "grant_type");
    struct btz_str client = field(stage, form, "client_id");
    struct btz_str code = field(stage, form, "code");
    const struct login_grant *old = of_refresh(stage, field(stage, form, "refresh_token"));
    struct btz_str challenge =
        btz_auth_code_challenge(stage->arena, field(stage, form, "code_verifier"));

    if (btz_str_is(type, "refresh_token")) {
        if (!old || !btz_str_eq(old->token.client, client)) {
            refuse(stage, answer, "invalid_grant");
            return;
        }
        answer_token(stage, give_token(stage, old->token), "refresh", event, answer);
        return;
    }
    for (size_t i = 0; btz_str_is(type, "authorization_code") && i < stage->login->code_count;
         i++) {
        struct login_code *kept = &stage->login->codes[i];

        if (btz_str_eq(kept->code, code) && !kept->used && btz_str_eq(kept->client, client) &&
            btz_str_eq(kept->redirect, field(stage, form, "redirect_uri")) &&
            btz_str_eq(kept->challenge, challenge) &&
            btz_str_eq(kept->resource, field(stage, form, "resource"))) {
            struct btz_login_token given = {kept->client, kept->resource, kept->scope};

            kept->used = true;
            answer_token(stage, give_token(stage, given), "code", event, answer);
            return;
        }
    }
    refuse(stage, answer, "invalid_grant");
}

void btz_login_answer(struct btz_stage *stage, const struct btz_web_request *request,
                      const struct btz_auth_url *url, uint64_t event, struct btz_web_answer *answer)
{
    bool get = btz_str_is(request->method, "GET");

    if (get && btz_str_is(url->path, "/.well-known/oauth-authorization-server")) {
        metadata(stage, answer);
    } else if (get && btz_str_is(url->path, "/authorize")) {
        authorization(stage, request, url->query, event, answer);
    } else if (!get && btz_str_is(url->path, "/register")) {
        registration(stage, request, answer);
    } else if (!get && btz_str_is(url->path, "/token")) {
        token(stage, request->body, event, answer);
    } else {
        answer->status = 404;
    }
}

int btz_stage_token(const struct btz_stage *stage, struct btz_str access,
                    struct btz_login_token *out)
{
    for (size_t i = 0; stage->login && access.len && i < stage->login->grant_count; i++) {
        if (btz_str_eq(stage->login->grants[i].access, access)) {
            *out = stage->login->grants[i].token;
            return BTZ_OK;
        }
    }
    return BTZ_ENOTFOUND;
}

struct btz_str btz_stage_service_token(struct btz_stage *stage, struct btz_str client,
                                       struct btz_str resource)
{
    return give_token(stage, (struct btz_login_token){client, resource, BTZ_STR_NONE})->access;
}

struct btz_str btz_stage_redeem(struct btz_stage *stage, struct btz_str grant)
{
    const struct login_grant *old = of_refresh(stage, grant);

    return old ? give_token(stage, old->token)->access : BTZ_STR_NONE;
}
