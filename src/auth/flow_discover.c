/* Who gives tokens for the resource, and how: RFC 9728, then RFC 8414 and OpenID Connect
 * Discovery. */
#include "auth/flow_int.h"

#define RESOURCE_PATH "/.well-known/oauth-protected-resource"
#define SERVER_PATH "/.well-known/oauth-authorization-server"
#define OPENID_PATH "/.well-known/openid-configuration"

static void add_candidate(struct btz_auth_flow *flow, struct btz_str url)
{
    if (flow->candidate_count < MAX_CANDIDATES) {
        flow->candidates[flow->candidate_count++] = url;
    }
}

/* Scheme, host and port of an address as written; its path without a '/' at the end in `*path`. */
static struct btz_str origin_of(struct btz_auth_flow *flow, struct btz_str text,
                                struct btz_str *path)
{
    struct btz_auth_url url;

    if (btz_auth_url_parse(text, &url) != BTZ_OK) {
        *path = BTZ_STR_NONE;
        return BTZ_STR_NONE;
    }
    *path = url.path;
    if (path->len && path->ptr[path->len - 1] == '/') {
        path->len--;
    }
    return btz_arena_printf(flow->run, "%.*s://%.*s", BTZ_FMT(url.scheme), BTZ_FMT(url.authority));
}

static void fetch_candidate(struct btz_auth_flow *flow, enum btz_auth_purpose purpose)
{
    btz_auth_fetch(flow, purpose, flow->candidates[flow->candidate], BTZ_STR_NONE, BTZ_STR_NONE);
}

/* The header's address first, then that for the endpoint's path, then that of the whole host. */
void btz_auth_discover(struct btz_auth_flow *flow)
{
    struct btz_str path;
    struct btz_str origin = origin_of(flow, flow->options.resource, &path);
    struct btz_auth_url url;

    /* RFC 9728 section 3.1: the well-known part comes in front of path and query. */
    if (btz_auth_url_parse(flow->options.resource, &url) == BTZ_OK && url.has_query) {
        path = btz_arena_printf(flow->run, "%.*s?%.*s", BTZ_FMT(path), BTZ_FMT(url.query));
    }
    if (flow->challenge.resource_metadata.len) {
        add_candidate(flow, flow->challenge.resource_metadata);
    }
    if (path.len) {
        add_candidate(flow, btz_arena_printf(flow->run, "%.*s" RESOURCE_PATH "%.*s",
                                             BTZ_FMT(origin), BTZ_FMT(path)));
    }
    add_candidate(flow, btz_arena_printf(flow->run, "%.*s" RESOURCE_PATH, BTZ_FMT(origin)));
    fetch_candidate(flow, BTZ_AUTH_FOR_RESOURCE);
}

/* Addresses of an issuer's metadata, in the order of the MCP specification. */
static void discover_server(struct btz_auth_flow *flow)
{
    struct btz_str path;
    struct btz_str origin = origin_of(flow, flow->issuer, &path);

    flow->candidate = flow->candidate_count = 0;
    if (!origin.len) {
        btz_auth_fail(flow, "the issuer is no URL");
        return;
    }
    add_candidate(flow, btz_arena_printf(flow->run, "%.*s" SERVER_PATH "%.*s", BTZ_FMT(origin),
                                         BTZ_FMT(path)));
    add_candidate(flow, btz_arena_printf(flow->run, "%.*s" OPENID_PATH "%.*s", BTZ_FMT(origin),
                                         BTZ_FMT(path)));
    if (path.len) {
        add_candidate(flow, btz_arena_printf(flow->run, "%.*s%.*s" OPENID_PATH, BTZ_FMT(origin),
                                             BTZ_FMT(path)));
    }
    fetch_candidate(flow, BTZ_AUTH_FOR_ISSUER);
}

/* Revision 2025-03-26: the server's own host is the issuer. */
static void use_own_host(struct btz_auth_flow *flow)
{
    struct btz_str path;

    if (!flow->options.revision_2025_03 && !flow->options.lenient.assumes_endpoints) {
        btz_auth_fail(flow, "the server has no protected-resource metadata");
        return;
    }
    flow->own_host = true;
    flow->issuer = origin_of(flow, flow->options.resource, &path);
    flow->audience = flow->options.resource;
    discover_server(flow);
}

/* Of several issuers the one that is known already, else the first; what is no text or empty is
 * none. */
static struct btz_str choose_issuer(struct btz_auth_flow *flow, const struct btz_json *list)
{
    struct btz_str first = BTZ_STR_NONE;

    for (size_t i = 0; i < btz_json_count(list) && i < 16; i++) {
        struct btz_str issuer = btz_json_str(btz_json_at(list, i));

        first = first.len ? first : issuer;
        for (size_t k = 0; issuer.len && k < flow->options.registered_count; k++) {
            if (btz_str_eq(flow->options.registered[k].issuer, issuer)) {
                return issuer;
            }
        }
        if (issuer.len && btz_auth_store_client(btz_auth_flow_store(flow), issuer)) {
            return issuer;
        }
    }
    return first;
}

/* RFC 8414 section 2: an issuer has no query and no fragment. A user part would hide from people
 * whose it is. */
static bool is_issuer(struct btz_str text)
{
    struct btz_auth_url url;

    return btz_auth_url_parse(text, &url) == BTZ_OK && url.has_authority && !url.has_user &&
           !url.has_query && !url.has_fragment;
}

void btz_auth_got_resource(struct btz_auth_flow *flow, const struct btz_json *document)
{
    const struct btz_json *issuers = btz_json_getz(document, "authorization_servers");
    struct btz_str resource = btz_json_str(btz_json_getz(document, "resource"));
    struct btz_str issuer = choose_issuer(flow, issuers);

    /* RFC 9728 section 2: the list may be absent, but not empty. */
    if (resource.len && issuers && !issuer.len) {
        btz_auth_fail(flow, "the metadata of the resource names no authorization server that could "
                            "be asked");
        return;
    }
    if (!document || !resource.len || !issuer.len) {
        if (++flow->candidate < flow->candidate_count) {
            fetch_candidate(flow, BTZ_AUTH_FOR_RESOURCE);
        } else {
            use_own_host(flow);
        }
        return;
    }
    if (!flow->options.lenient.takes_any_resource &&
        !btz_auth_url_covers(resource, flow->options.resource)) {
        btz_auth_fail(flow, "the metadata is about another resource: %.*s",
                      BTZ_FMT(btz_str_sub(resource, 0, 200)));
        return;
    }
    if (!is_issuer(issuer)) {
        btz_auth_fail(flow, "the issuer %.*s is no address without user part, query and fragment",
                      BTZ_FMT(btz_str_sub(issuer, 0, 200)));
        return;
    }
    flow->audience = resource;
    flow->issuer = issuer;
    flow->offered = btz_auth_words(flow, btz_json_getz(document, "scopes_supported"));
    discover_server(flow);
}

static struct btz_str member(const struct btz_json *document, const char *name)
{
    return btz_json_str(btz_json_getz(document, name));
}

static bool lists(const struct btz_json *list, const char *value)
{
    for (size_t i = 0; i < btz_json_count(list); i++) {
        if (btz_str_is(btz_json_str(btz_json_at(list, i)), value)) {
            return true;
        }
    }
    return false;
}

/* Fixed endpoints of revision 2025-03-26, "Fallbacks for servers without metadata discovery". */
static void assume_endpoints(struct btz_auth_flow *flow)
{
    struct btz_str path;
    struct btz_str origin = origin_of(flow, flow->issuer, &path);

    flow->server = (struct server){
        .issuer = flow->issuer,
        .authorize = btz_arena_printf(flow->run, "%.*s/authorize", BTZ_FMT(origin)),
        .token = btz_arena_printf(flow->run, "%.*s/token", BTZ_FMT(origin)),
        .registration = btz_arena_printf(flow->run, "%.*s/register", BTZ_FMT(origin)),
        .pkce = true,
        .assumed = true};
    btz_auth_identify(flow);
}

void btz_auth_got_server(struct btz_auth_flow *flow, const struct btz_json *document)
{
    struct server *server = &flow->server;

    if (!document) {
        if (++flow->candidate < flow->candidate_count) {
            fetch_candidate(flow, BTZ_AUTH_FOR_ISSUER);
        } else if (flow->own_host) {
            assume_endpoints(flow);
        } else {
            btz_auth_fail(flow, "the issuer has no metadata");
        }
        return;
    }
    *server = (struct server){
        .issuer = member(document, "issuer"),
        .authorize = member(document, "authorization_endpoint"),
        .token = member(document, "token_endpoint"),
        .registration = member(document, "registration_endpoint"),
        .pkce = lists(btz_json_getz(document, "code_challenge_methods_supported"), "S256"),
        .sends_iss = btz_json_bool(
            btz_json_getz(document, "authorization_response_iss_parameter_supported"), false),
        .takes_documents =
            btz_json_bool(btz_json_getz(document, "client_id_metadata_document_supported"), false),
        .methods =
            btz_auth_words(flow, btz_json_getz(document, "token_endpoint_auth_methods_supported")),
        .scopes = btz_auth_words(flow, btz_json_getz(document, "scopes_supported"))};
    if (!flow->options.lenient.takes_any_issuer && !btz_str_eq(server->issuer, flow->issuer)) {
        btz_auth_fail(flow, "the issuer's metadata names another issuer");
    } else if (!server->token.len ||
               (!server->authorize.len && !flow->options.client_credentials)) {
        btz_auth_fail(flow, "the issuer's metadata lacks an endpoint");
    } else if (!server->pkce && !flow->options.lenient.needs_no_pkce &&
               !flow->options.client_credentials) {
        btz_auth_fail(flow, "the issuer does not offer PKCE with S256");
    } else {
        btz_auth_identify(flow);
    }
}
