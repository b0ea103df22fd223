#include "auth/flow_int.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/hash.h"

const char *btz_auth_purpose_name(enum btz_auth_purpose purpose)
{
    static const char *const names[] = {"resource metadata", "issuer metadata",
                                        "client registration", "authorization", "token"};

    return names[purpose];
}

static int check_options(const struct btz_auth_flow_options *o, struct btz_err *err)
{
    struct btz_auth_url url;

    if (btz_auth_url_parse(o->resource, &url) != BTZ_OK || !url.has_authority || url.has_user ||
        url.has_fragment) {
        return btz_err_set(err, BTZ_EINVAL,
                           "the resource of an authorization must be an absolute URL");
    }
    if (!o->client_credentials && (btz_auth_url_parse(o->redirect_uri, &url) != BTZ_OK ||
                                   url.has_query || url.has_fragment)) {
        return btz_err_set(err, BTZ_EINVAL,
                           "an authorization needs a redirect address without query");
    }
    if (o->secret.len < 32) {
        return btz_err_set(err, BTZ_EINVAL, "an authorization needs 32 random bytes");
    }
    if (!btz_auth_scope_is_valid(o->allowed_scopes)) {
        return btz_err_set(err, BTZ_EINVAL, "allowed scopes hold a byte that no scope may have");
    }
    return BTZ_OK;
}

static void copy_options(struct btz_auth_flow *flow, const struct btz_auth_flow_options *from)
{
    struct btz_auth_flow_options *to = &flow->options;
    struct btz_auth_client *clients =
        btz_arena_array(flow->arena, from->registered_count + 1, sizeof(*clients));

    *to = *from;
    for (size_t i = 0; i < from->registered_count; i++) {
        clients[i] = (struct btz_auth_client){
            btz_arena_dup(flow->arena, from->registered[i].issuer),
            btz_arena_dup(flow->arena, from->registered[i].id),
            btz_arena_dup(flow->arena, from->registered[i].secret),
            btz_arena_dup(flow->arena, from->registered[i].method), from->registered[i].any_issuer};
    }
    to->registered = clients;
    to->resource = btz_arena_dup(flow->arena, from->resource);
    to->redirect_uri = btz_arena_dup(flow->arena, from->redirect_uri);
    to->client_name = btz_arena_dup(flow->arena, from->client_name);
    to->metadata_document = btz_arena_dup(flow->arena, from->metadata_document);
    to->allowed_scopes = btz_arena_dup(flow->arena, from->allowed_scopes);
    to->secret = btz_arena_dup(flow->arena, from->secret);
    to->max_attempts = from->max_attempts ? from->max_attempts : 3;
    to->max_body = from->max_body ? from->max_body : (size_t)256 * 1024;
}

int btz_auth_flow_new(const struct btz_auth_flow_options *options, struct btz_auth_flow **out,
                      struct btz_err *err)
{
    struct btz_auth_flow *flow;
    int rc = check_options(options, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    flow = calloc(1, sizeof(*flow));
    if (!flow) {
        btz_panic("out of memory (authorization)");
    }
    flow->arena = btz_arena_new();
    flow->run = btz_arena_new();
    flow->kept = btz_arena_new();
    flow->own_store = options->store ? NULL : btz_auth_store_new();
    copy_options(flow, options);
    *out = flow;
    return BTZ_OK;
}

void btz_auth_flow_free(struct btz_auth_flow *flow)
{
    if (flow) {
        btz_auth_store_free(flow->own_store);
        btz_arena_free(flow->kept);
        btz_arena_free(flow->run);
        btz_arena_free(flow->arena);
        free(flow);
    }
}

struct btz_auth_store *btz_auth_flow_store(struct btz_auth_flow *flow)
{
    return flow->own_store ? flow->own_store : flow->options.store;
}

void btz_auth_fail(struct btz_auth_flow *flow, const char *format, ...)
{
    char text[400];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    flow->failure = btz_arena_dup(flow->run, btz_str_of(text));
    flow->state = BTZ_AUTH_FAILED;
    flow->waiting = false;
}

/* Unguessable texts: a hash over the secret and a counter. */
struct btz_str btz_auth_draw(struct btz_auth_flow *flow, const char *what)
{
    struct btz_hasher *hasher = btz_hasher_new();
    uint64_t number = flow->drawn++;
    struct btz_hash hash;

    btz_hasher_add_part(hasher, flow->options.secret);
    btz_hasher_add_part(hasher, btz_str_of(what));
    btz_hasher_add_part(hasher, (struct btz_str){(const char *)&number, sizeof(number)});
    hash = btz_hasher_end(hasher);
    btz_hasher_free(hasher);
    return btz_auth_base64url(flow->run,
                              (struct btz_str){(const char *)hash.bytes, sizeof(hash.bytes)});
}

struct btz_str btz_auth_words(struct btz_auth_flow *flow, const struct btz_json *list)
{
    struct btz_str words = BTZ_STR_NONE;

    for (size_t i = 0; i < btz_json_count(list) && i < 100; i++) {
        struct btz_str word = btz_json_str(btz_json_at(list, i));

        if (word.len && btz_auth_scope_is_valid(word)) {
            words = btz_auth_scope_union(flow->run, words, word);
        }
    }
    return words;
}

/* ---- the exchange under way ---- */

/* Where a redirect leads is a rule of its own: careless clients keep one of the two and not the
 * other. */
static struct btz_auth_guard guard_of(const struct btz_auth_flow *flow)
{
    struct btz_auth_guard guard = flow->options.guard;

    if (flow->redirects) {
        guard.any_place = flow->options.lenient.follows_any_redirect;
    }
    return guard;
}

static void refuse(struct btz_auth_flow *flow, enum btz_auth_verdict verdict)
{
    struct btz_str url = btz_str_sub(flow->need.url, 0, 200);

    btz_auth_fail(flow, "the address for %s is refused: %s (%.*s)",
                  btz_auth_purpose_name(flow->purpose), btz_auth_verdict_text(verdict),
                  BTZ_FMT(url));
    flow->verdict = verdict;
}

/* Guards flow->need.url and asks for its addresses, or for the exchange itself. */
static void approach(struct btz_auth_flow *flow)
{
    struct btz_auth_guard guard = guard_of(flow);
    enum btz_auth_verdict verdict = btz_auth_guard_url(&guard, flow->need.url);
    struct btz_auth_url url;

    if (verdict != BTZ_AUTH_ALLOWED || btz_auth_url_parse(flow->need.url, &url) != BTZ_OK) {
        refuse(flow, verdict);
        return;
    }
    flow->need.purpose = flow->purpose;
    flow->need.host = url.host;
    flow->need.kind = url.is_address ? BTZ_AUTH_FETCH : BTZ_AUTH_RESOLVE;
    if (url.is_address) {
        flow->addresses[0] = url.address;
        flow->need.addresses = flow->addresses;
        flow->need.address_count = 1;
    }
    flow->waiting = true;
    flow->pulled = false;
}

void btz_auth_fetch(struct btz_auth_flow *flow, enum btz_auth_purpose purpose, struct btz_str url,
                    struct btz_str content_type, struct btz_str body)
{
    struct btz_http_field *fields = btz_arena_array(flow->run, 3, sizeof(*fields));
    size_t count = 0;

    fields[count++] = (struct btz_http_field){BTZ_STR("Accept"), BTZ_STR("application/json")};
    if (body.len) {
        fields[count++] = (struct btz_http_field){BTZ_STR("Content-Type"), content_type};
    }
    flow->purpose = purpose;
    flow->redirects = 0;
    flow->need = (struct btz_auth_need){.method = body.len ? BTZ_STR("POST") : BTZ_STR("GET"),
                                        .url = url,
                                        .body = body,
                                        .fields = fields,
                                        .field_count = count};
    approach(flow);
}

void btz_auth_fetch_as(struct btz_auth_flow *flow, struct btz_str authorization)
{
    struct btz_http_field *fields;

    if (flow->state != BTZ_AUTH_WORKING) {
        return;
    }
    fields = btz_arena_array(flow->run, flow->need.field_count + 1, sizeof(*fields));
    memcpy(fields, flow->need.fields, flow->need.field_count * sizeof(*fields));
    fields[flow->need.field_count++] =
        (struct btz_http_field){BTZ_STR("Authorization"), authorization};
    flow->need.fields = fields;
}

enum btz_auth_state btz_auth_flow_state(const struct btz_auth_flow *flow)
{
    return flow->state;
}

bool btz_auth_flow_next(struct btz_auth_flow *flow, struct btz_auth_need *need)
{
    if (flow->state != BTZ_AUTH_WORKING || !flow->waiting || flow->pulled) {
        return false;
    }
    flow->pulled = true;
    *need = flow->need;
    return true;
}

static bool awaits(const struct btz_auth_flow *flow, enum btz_auth_need_kind kind)
{
    return flow->state == BTZ_AUTH_WORKING && flow->waiting && flow->pulled &&
           flow->need.kind == kind;
}

int btz_auth_flow_resolved(struct btz_auth_flow *flow, const struct btz_auth_address *addresses,
                           size_t count)
{
    struct btz_auth_guard guard = guard_of(flow);
    enum btz_auth_verdict verdict;

    if (!awaits(flow, BTZ_AUTH_RESOLVE)) {
        return BTZ_ESTATE;
    }
    count = count < MAX_FLOW_ADDRESSES ? count : MAX_FLOW_ADDRESSES;
    verdict = btz_auth_guard_resolved(&guard, flow->need.url, addresses, count);
    if (verdict != BTZ_AUTH_ALLOWED) {
        refuse(flow, verdict);
        return BTZ_OK;
    }
    if (count) {
        memcpy(flow->addresses, addresses, count * sizeof(*addresses));
    }
    flow->need.kind = BTZ_AUTH_FETCH;
    flow->need.addresses = flow->addresses;
    flow->need.address_count = count;
    flow->pulled = false;
    return BTZ_OK;
}

/* True if the answer only says to ask elsewhere, and that is done or refused. */
static bool redirected(struct btz_auth_flow *flow, int status, const struct btz_http_field *fields,
                       size_t count)
{
    const struct btz_http_head head = {.fields = fields, .field_count = count};
    struct btz_str location = btz_http_field_get(&head, "location", NULL);

    if (status < 301 || status > 308 || status == 304 || !location.len ||
        !btz_str_is(flow->need.method, "GET")) {
        return false;
    }
    if (++flow->redirects > MAX_FLOW_REDIRECTS) {
        btz_auth_fail(flow, "more than %d redirects for %s", MAX_FLOW_REDIRECTS,
                      btz_auth_purpose_name(flow->purpose));
    } else if (btz_auth_url_resolve(flow->run, flow->need.url, location, &flow->need.url) !=
               BTZ_OK) {
        btz_auth_fail(flow, "the redirect for %s has no usable address",
                      btz_auth_purpose_name(flow->purpose));
    } else {
        approach(flow);
    }
    return true;
}

int btz_auth_flow_fetched(struct btz_auth_flow *flow, int status,
                          const struct btz_http_field *fields, size_t count, struct btz_str body)
{
    struct btz_json_limits limits = {.max_bytes = flow->options.max_body, .max_depth = 16};
    const struct btz_json *document = NULL;

    if (!awaits(flow, BTZ_AUTH_FETCH)) {
        return BTZ_ESTATE;
    }
    if (redirected(flow, status, fields, count)) {
        return BTZ_OK;
    }
    flow->waiting = false;
    if (body.len && btz_json_parse(flow->run, body, &limits, &document, NULL) != BTZ_OK) {
        document = NULL;
    }
    if (!btz_json_is(document, BTZ_JSON_OBJECT)) {
        document = NULL;
    }
    switch (flow->purpose) {
    case BTZ_AUTH_FOR_RESOURCE:
        btz_auth_got_resource(flow, status == 200 ? document : NULL);
        break;
    case BTZ_AUTH_FOR_ISSUER:
        btz_auth_got_server(flow, status == 200 ? document : NULL);
        break;
    case BTZ_AUTH_FOR_CLIENT:
        btz_auth_got_client(flow, status, document);
        break;
    default:
        btz_auth_got_token(flow, status, document);
        break;
    }
    return BTZ_OK;
}

int btz_auth_flow_returned(struct btz_auth_flow *flow, struct btz_str url)
{
    if (!awaits(flow, BTZ_AUTH_OPEN)) {
        return BTZ_ESTATE;
    }
    flow->waiting = false;
    btz_auth_got_user(flow, url);
    return BTZ_OK;
}

/* ---- begin and end ---- */

static void begin_attempt(struct btz_auth_flow *flow)
{
    btz_arena_reset(flow->run);
    flow->candidate = flow->candidate_count = 0;
    flow->audience = flow->offered = flow->issuer = flow->scope = BTZ_STR_NONE;
    flow->redirect_state = flow->verifier = flow->failure = BTZ_STR_NONE;
    flow->server = (struct server){.pkce = false};
    flow->client = (struct btz_auth_client){.id = BTZ_STR_NONE};
    flow->challenge = (struct btz_auth_challenge){.bearer = false};
    flow->verdict = BTZ_AUTH_ALLOWED;
    flow->refreshing = flow->own_host = flow->waiting = false;
    flow->state = BTZ_AUTH_WORKING;
}

int btz_auth_flow_challenged(struct btz_auth_flow *flow, int status,
                             const struct btz_http_field *fields, size_t count, int64_t now_us)
{
    if (flow->state == BTZ_AUTH_WORKING) {
        return BTZ_ESTATE;
    }
    begin_attempt(flow);
    flow->now_us = now_us;
    flow->status = status;
    flow->challenge = btz_auth_challenge_of(flow->run, fields, count);
    flow->header = BTZ_STR_NONE;
    if (!btz_auth_scope_is_valid(flow->challenge.scope)) {
        flow->challenge.scope = BTZ_STR_NONE;
    }
    if (status != 401 &&
        (status != 403 || !btz_str_is(flow->challenge.error, "insufficient_scope"))) {
        btz_auth_fail(flow, "the server refuses with status %d and asks for no other token",
                      status);
    } else if (++flow->attempts > flow->options.max_attempts) {
        btz_auth_fail(flow, "the server refuses every token: given up after %u attempts",
                      flow->options.max_attempts);
    } else {
        btz_auth_discover(flow);
    }
    return BTZ_OK;
}

void btz_auth_flow_accepted(struct btz_auth_flow *flow)
{
    flow->attempts = 0;
}

bool btz_auth_flow_recall(struct btz_auth_flow *flow, int64_t now_us)
{
    const struct btz_auth_store *store = btz_auth_flow_store(flow);
    const struct btz_auth_token *token =
        btz_auth_store_token(store, BTZ_STR_NONE, flow->options.resource);

    if (flow->state != BTZ_AUTH_IDLE && flow->state != BTZ_AUTH_FAILED) {
        return false;
    }
    if (!token && flow->options.lenient.shares_tokens_of_host) {
        token = btz_auth_store_token_of_host(store, flow->options.resource);
    }
    if (!token || !token->access.len || (token->expires_us && token->expires_us <= now_us)) {
        return false;
    }
    btz_auth_use_token(flow, token->access, token->issuer);
    return true;
}

void btz_auth_use_token(struct btz_auth_flow *flow, struct btz_str access, struct btz_str issuer)
{
    struct btz_arena *kept = btz_arena_new();

    flow->requested = btz_arena_dup(kept, flow->scope.len ? flow->scope : flow->requested);
    flow->header = btz_arena_printf(kept, "Bearer %.*s", BTZ_FMT(access));
    flow->header_issuer = btz_arena_dup(kept, issuer);
    btz_arena_free(flow->kept);
    flow->kept = kept;
    flow->state = BTZ_AUTH_READY;
    flow->waiting = false;
}

struct btz_str btz_auth_flow_header(const struct btz_auth_flow *flow)
{
    return flow->state == BTZ_AUTH_READY ? flow->header : BTZ_STR_NONE;
}

struct btz_str btz_auth_flow_failure(const struct btz_auth_flow *flow,
                                     enum btz_auth_verdict *verdict)
{
    if (verdict) {
        *verdict = flow->verdict;
    }
    return flow->state == BTZ_AUTH_FAILED ? flow->failure : BTZ_STR_NONE;
}

struct btz_str btz_auth_flow_issuer(const struct btz_auth_flow *flow)
{
    return flow->state == BTZ_AUTH_READY ? flow->header_issuer : flow->issuer;
}

struct btz_str btz_auth_flow_scope(const struct btz_auth_flow *flow)
{
    return flow->scope.len ? flow->scope : flow->requested;
}
