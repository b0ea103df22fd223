/* Authorization over HTTP, as far as the trial's hosts and servers have it: a protected server's
 * site asks for a bearer token, says in its metadata who gives them (RFC 9728), and the host trades
 * its user's grant for one there.
 *
 * Host-profile switch auth.require_metadata: where there is no metadata, hosts of the 2025-03-26
 * flow make up the address ("/token" on the server's own host) and send the grant there. A safe
 * host sends it nowhere. */
#include "trial/trial_int.h"

#define METADATA "/.well-known/oauth-protected-resource/mcp"
#define ISSUER "https://login.alderfinch.example"

static struct btz_str token_for(struct btz_trial *trial, const struct conn *conn)
{
    struct btz_str grant = btz_stage_grant(trial->stage, conn->server->id);
    struct btz_hash hash = btz_hash_of(grant);
    char hex[2 * sizeof(hash) + 1];

    btz_hash_hex(&hash, hex);
    return btz_arena_printf(trial->arena, "at-%.24s", hex);
}

static bool answer(struct btz_http_relay_item *item, struct btz_trial *trial, int status,
                   const char *name, struct btz_str value, struct btz_str body)
{
    struct btz_http_field *fields = btz_arena_array(trial->arena, 2, sizeof(*fields));

    item->field_count = 0;
    if (body.len) {
        fields[item->field_count++] =
            (struct btz_http_field){BTZ_STR("Content-Type"), BTZ_STR("application/json")};
    }
    if (name) {
        fields[item->field_count++] = (struct btz_http_field){btz_str_of(name), value};
    }
    item->fields = fields;
    item->status = status;
    item->body = body;
    return true;
}

static bool has_token(const struct btz_http_relay_item *item, struct btz_str token)
{
    const struct btz_http_head head = {.fields = item->fields, .field_count = item->field_count};
    struct btz_str given = btz_http_field_get(&head, "authorization", NULL);

    return btz_str_starts(given, BTZ_STR("Bearer ")) &&
           btz_str_eq(btz_str_sub(given, strlen("Bearer "), given.len), token);
}

bool auth_front(void *context, struct btz_http_link *link, struct btz_http_relay_item *item)
{
    struct conn *conn = context;
    struct btz_trial *trial = conn->trial;
    struct btz_str token = token_for(trial, conn);

    (void)link;
    if (btz_str_is(item->target, METADATA)) {
        return answer(item, trial, 200, NULL, BTZ_STR_NONE,
                      BTZ_STR("{\"resource\":\"http://localhost/mcp\","
                              "\"authorization_servers\":[\"" ISSUER "\"]}"));
    }
    if (btz_str_is(item->target, "/token") &&
        btz_str_find(item->body, btz_stage_grant(trial->stage, conn->server->id)) >= 0) {
        return answer(item, trial, 200, NULL, BTZ_STR_NONE,
                      btz_arena_printf(trial->arena,
                                       "{\"access_token\":\"%.*s\",\"token_type\":\"Bearer\"}",
                                       BTZ_FMT(token)));
    }
    if (!btz_str_starts(item->target, BTZ_STR("/mcp"))) {
        return answer(item, trial, 404, NULL, BTZ_STR_NONE, BTZ_STR_NONE);
    }
    if (!has_token(item, token)) {
        return answer(item, trial, 401, "WWW-Authenticate",
                      BTZ_STR("Bearer resource_metadata=\"http://localhost" METADATA "\""),
                      BTZ_STR_NONE);
    }
    return false;
}

static int fetch(struct btz_trial *trial, struct conn *conn, const char *method, const char *target,
                 struct btz_str body, const struct btz_http_fetched **out, struct btz_err *err)
{
    const struct btz_http_field fields[] = {
        {BTZ_STR("Host"), BTZ_STR("localhost")},
        {BTZ_STR("Accept"), BTZ_STR("application/json")},
        {BTZ_STR("Content-Type"), BTZ_STR("application/x-www-form-urlencoded")}};
    uint64_t exchange = 0;
    int rc = btz_http_link_fetch(conn->http, btz_str_of(method), btz_str_of(target), fields,
                                 body.len ? 3 : 2, body, &exchange);

    rc = rc == BTZ_OK ? carry_http_settle(trial, conn, err)
                      : conn_fault(conn, err, "a request for authorization", rc);
    *out = rc == BTZ_OK ? btz_http_link_fetched(conn->http, exchange) : NULL;
    return rc;
}

static void note_grant(struct btz_trial *trial, const struct conn *conn, const char *to)
{
    struct btz_json *payload = btz_json_new_object(trial->arena);
    struct btz_json *note;

    btz_json_set_str(trial->arena, payload, "server", conn->server->label);
    btz_json_set_strz(trial->arena, payload, "to", to);
    note = trial_note(trial, trial_event_json(trial, BTZ_LAYER_CLIENT, "grant", false, payload),
                      "grant");
    btz_json_set_str(trial->arena, note, "server", conn->server->id);
    btz_json_set_strz(trial->arena, note, "to", to);
}

/* The issuer that the metadata names, or BTZ_STR_NONE. */
static struct btz_str issuer_of(struct btz_trial *trial, const struct btz_http_fetched *metadata)
{
    const struct btz_json *root = NULL;

    if (!metadata || metadata->status != 200 ||
        btz_json_parse(trial->arena, metadata->body, NULL, &root, NULL) != BTZ_OK) {
        return BTZ_STR_NONE;
    }
    return btz_json_str(btz_json_pointer(root, BTZ_STR("/authorization_servers/0")));
}

int auth_obtain(struct btz_trial *trial, struct conn *conn, struct btz_str *header,
                struct btz_err *err)
{
    struct btz_str grant = btz_stage_grant(trial->stage, conn->server->id);
    const struct btz_http_fetched *got = NULL;
    const struct btz_json *root = NULL;
    struct btz_str token = BTZ_STR_NONE;
    int rc = fetch(trial, conn, "GET", METADATA, BTZ_STR_NONE, &got, err);

    *header = BTZ_STR_NONE;
    if (rc != BTZ_OK) {
        return rc;
    }
    if (btz_str_is(issuer_of(trial, got), ISSUER)) {
        note_grant(trial, conn, "issuer");
        token = token_for(trial, conn); /* the issuer is another host: this wire does not see it */
    } else if (!trial->options.profile.safe[BTZ_SWITCH_REQUIRE_METADATA]) {
        note_grant(trial, conn, "server");
        rc = fetch(trial, conn, "POST", "/token",
                   btz_arena_printf(trial->arena, "grant_type=refresh_token&refresh_token=%.*s",
                                    BTZ_FMT(grant)),
                   &got, err);
        if (rc == BTZ_OK && got && got->status == 200 &&
            btz_json_parse(trial->arena, got->body, NULL, &root, NULL) == BTZ_OK) {
            token = btz_json_str(btz_json_getz(root, "access_token"));
        }
    }
    if (token.len) {
        *header = btz_arena_printf(trial->arena, "Bearer %.*s", BTZ_FMT(token));
    }
    return rc;
}
