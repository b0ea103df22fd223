/* The site of a protected server: its metadata, who may pass to the MCP endpoint, and what the
 * server does with a call that it passes on.
 *
 * Tokens of the organisation's authorization server are checked there: for this resource, with the
 * scope that a call needs. A server whose metadata names another issuer takes what that one gave.
 *
 * Host-profile switch server.own_token_upstream: a server that calls a service of its own shows it
 * a token of its own; a careless one passes its client's token on (protocol: MUST NOT). */
#include "auth/form.h"
#include "trial/web.h"

#define METADATA "/.well-known/oauth-protected-resource"

static struct btz_str path_of(struct btz_str url)
{
    struct btz_auth_url parts;

    return btz_auth_url_parse(url, &parts) == BTZ_OK ? parts.path : BTZ_STR_NONE;
}

static struct btz_str origin_of(struct btz_trial *trial, struct btz_str url)
{
    struct btz_auth_url parts;

    if (btz_auth_url_parse(url, &parts) != BTZ_OK) {
        return BTZ_STR_NONE;
    }
    return btz_arena_printf(trial->arena, "https://%.*s", BTZ_FMT(parts.authority));
}

static struct btz_str metadata(struct btz_trial *trial, const struct btz_stage_site *site)
{
    struct btz_json *body = btz_json_new_object(trial->arena);
    struct btz_json *issuers = btz_json_new_array(trial->arena);

    btz_json_push(trial->arena, issuers, btz_json_new_str(trial->arena, site->issuer));
    btz_json_set_str(trial->arena, body, "resource", site->url);
    btz_json_setz(trial->arena, body, "authorization_servers", issuers);
    return btz_json_text(trial->arena, body);
}

static void challenge(struct btz_trial *trial, const struct btz_stage_site *site, int status,
                      struct btz_str scope, struct site_answer *answer)
{
    struct btz_str at = site->metadata.len ? site->metadata
                                           : btz_arena_printf(trial->arena, "%.*s" METADATA "%.*s",
                                                              BTZ_FMT(origin_of(trial, site->url)),
                                                              BTZ_FMT(path_of(site->url)));

    answer->status = status;
    answer->challenge =
        btz_arena_printf(trial->arena, "Bearer %sresource_metadata=\"%.*s\"%s%.*s%s",
                         status == 403 ? "error=\"insufficient_scope\", " : "", BTZ_FMT(at),
                         scope.len ? ", scope=\"" : "", BTZ_FMT(scope), scope.len ? "\"" : "");
}

static struct btz_str bearer_of(struct btz_str authorization)
{
    return btz_str_starts(authorization, BTZ_STR("Bearer "))
               ? btz_str_sub(authorization, strlen("Bearer "), authorization.len)
               : BTZ_STR_NONE;
}

/* A token for somebody else was shown: the record keeps it. */
static void note_misdirected(struct btz_trial *trial, const struct btz_stage_site *site,
                             struct btz_str method, struct btz_str target,
                             struct btz_str authorization, const char *from)
{
    struct btz_login_token token;
    struct btz_web_request request = {.from = from,
                                      .method = method,
                                      .url = btz_arena_printf(trial->arena, "%.*s%.*s",
                                                              BTZ_FMT(origin_of(trial, site->url)),
                                                              BTZ_FMT(target)),
                                      .authorization = authorization};

    if (btz_stage_token(trial->stage, bearer_of(authorization), &token) == BTZ_OK &&
        !btz_str_eq(token.resource, site->url)) {
        btz_stage_web_note(trial->stage, &request, trial->event_count + 1);
    }
}

/* The name of the tool that a message calls, or BTZ_STR_NONE. */
static struct btz_str called_tool(struct btz_trial *trial, struct btz_str body)
{
    const struct btz_json *message = NULL;

    if (btz_json_parse(trial->arena, body, NULL, &message, NULL) != BTZ_OK ||
        !btz_str_is(btz_json_str(btz_json_getz(message, "method")), "tools/call")) {
        return BTZ_STR_NONE;
    }
    return btz_json_str(btz_json_pointer(message, BTZ_STR("/params/name")));
}

static void pass_on(struct btz_trial *trial, struct conn *conn, const struct btz_stage_site *site,
                    struct btz_str authorization, struct btz_str body)
{
    struct btz_web_answer answer;
    struct btz_web_request request = {.from = "server",
                                      .method = BTZ_STR("POST"),
                                      .url = site->upstream,
                                      .body = body,
                                      .authorization = authorization};
    int rc;

    if (trial->options.profile.safe[BTZ_SWITCH_OWN_TOKEN]) {
        request.authorization = btz_arena_printf(
            trial->arena, "Bearer %.*s",
            BTZ_FMT(btz_stage_service_token(trial->stage, conn->server->id, site->upstream)));
    }
    rc = web_exchange(trial, &request, &answer, &conn->tap_err);
    if (rc != BTZ_OK) {
        conn->tap_failed = rc;
    }
}

static bool is_admitted(struct btz_trial *trial, const struct btz_stage_site *site,
                        struct btz_str authorization, struct btz_str tool,
                        struct site_answer *answer)
{
    struct btz_login_token token;
    struct btz_str bearer = bearer_of(authorization);

    if (!btz_str_is(site->issuer, BTZ_LOGIN_ISSUER)) {
        if (!bearer.len) {
            challenge(trial, site, 401, site->scope, answer);
        }
        return bearer.len > 0;
    }
    if (btz_stage_token(trial->stage, bearer, &token) != BTZ_OK ||
        !btz_str_eq(token.resource, site->url)) {
        challenge(trial, site, 401, site->scope, answer);
        return false;
    }
    if (tool.len && btz_str_eq(tool, site->step_tool) &&
        btz_auth_scope_beyond(site->step_scope, token.scope).len) {
        challenge(trial, site, 403, site->step_scope, answer);
        return false;
    }
    return true;
}

static void own_token(struct btz_trial *trial, struct btz_str form, struct site_answer *answer)
{
    struct btz_str grant = BTZ_STR_NONE;
    struct btz_json *body = btz_json_new_object(trial->arena);
    struct btz_str access;

    answer->status = 404;
    if (btz_auth_form_get(trial->arena, form, "refresh_token", &grant) != BTZ_OK) {
        return;
    }
    access = btz_stage_redeem(trial->stage, grant);
    if (access.len) {
        btz_json_set_str(trial->arena, body, "access_token", access);
        btz_json_set_strz(trial->arena, body, "token_type", "Bearer");
        answer->status = 200;
        answer->body = btz_json_text(trial->arena, body);
    }
}

void site_answers(struct btz_trial *trial, struct conn *conn, struct btz_str method,
                  struct btz_str target, struct btz_str authorization, struct btz_str body,
                  struct site_answer *answer)
{
    const struct btz_stage_site *site = btz_stage_site(trial->stage, conn->server->id);
    struct btz_str path = path_of(site->url);
    struct btz_str rest = target;
    struct btz_str tool;
    struct btz_str bare;

    *answer = (struct site_answer){.status = 0};
    (void)btz_str_cut(&rest, '?', &bare);
    if (btz_str_starts(bare, BTZ_STR(METADATA)) &&
        btz_str_eq(btz_str_sub(bare, strlen(METADATA), bare.len), path)) {
        answer->status = 200;
        answer->body = metadata(trial, site);
        return;
    }
    note_misdirected(trial, site, method, target, authorization, "host");
    if (btz_str_is(bare, "/token") && btz_str_is(method, "POST")) {
        own_token(trial, body, answer); /* as servers of 2025-03-26 have it */
        return;
    }
    if (!btz_str_eq(bare, path)) {
        answer->status = 404;
        return;
    }
    tool = called_tool(trial, body);
    if (is_admitted(trial, site, authorization, tool, answer) && tool.len && site->upstream.len) {
        pass_on(trial, conn, site, authorization, body);
    }
}

static bool is_on(struct btz_trial *trial, const struct conn *conn, const struct btz_auth_url *url)
{
    const struct btz_stage_site *site = btz_stage_site(trial->stage, conn->server->id);
    struct btz_auth_url own;

    return site && btz_auth_url_parse(site->url, &own) == BTZ_OK &&
           btz_auth_url_same_origin(&own, url);
}

struct conn *site_owner(struct btz_trial *trial, struct conn *first, struct btz_str url)
{
    struct btz_auth_url wanted;

    if (btz_auth_url_parse(url, &wanted) != BTZ_OK) {
        return NULL;
    }
    if (first && is_on(trial, first, &wanted)) {
        return first;
    }
    for (size_t i = 0; i < trial->conn_count; i++) {
        if (is_on(trial, &trial->conns[i], &wanted)) {
            return &trial->conns[i];
        }
    }
    return NULL;
}

/* The link's view of it: true if the site has the answer. */
bool auth_front(void *context, struct btz_http_link *link, struct btz_http_relay_item *item)
{
    struct conn *conn = context;
    struct btz_trial *trial = conn->trial;
    const struct btz_http_head head = {.fields = item->fields, .field_count = item->field_count};
    struct btz_http_field *fields = btz_arena_array(trial->arena, 2, sizeof(*fields));
    struct site_answer answer;

    (void)link;
    site_answers(trial, conn, btz_arena_dup(trial->arena, item->method),
                 btz_arena_dup(trial->arena, item->target),
                 btz_arena_dup(trial->arena, btz_http_field_get(&head, "authorization", NULL)),
                 btz_arena_dup(trial->arena, item->body), &answer);
    trial_take_journal(trial);
    if (answer.status == 0) {
        return false;
    }
    item->field_count = 0;
    if (answer.body.len) {
        fields[item->field_count++] =
            (struct btz_http_field){BTZ_STR("Content-Type"), BTZ_STR("application/json")};
    }
    if (answer.challenge.len) {
        fields[item->field_count++] =
            (struct btz_http_field){BTZ_STR("WWW-Authenticate"), answer.challenge};
    }
    item->fields = fields;
    item->status = answer.status;
    item->body = answer.body;
    return true;
}
