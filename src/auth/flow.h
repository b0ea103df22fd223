/* Authorization of an MCP client over HTTP, without I/O: from a refused request to a bearer token.
 *
 *   owner                                        flow
 *   _challenged (401, or 403 for more scope)  ->
 *   _next   <-  one need at a time: resolve a host, fetch, or open an address in the browser
 *   _resolved, _fetched, _returned            ->
 *   _state, _header, _failure   <-  the value of Authorization, or why there is none
 *
 * Sources: MCP "Authorization" of revisions 2025-03-26 to 2026-07-28, OAuth 2.1 (draft), RFC 6749,
 * 6750, 7591, 7636, 8414, 8707, 9207, 9728, OpenID Connect Discovery 1.0, Client ID Metadata
 * Documents (draft); in short: design brief 2.6.
 *
 * Every address that a server gives goes through the guard (auth/url.h) before it is fetched or
 * opened, redirects too. What a careless client leaves out is a member of btz_auth_leniency: false
 * is the safe way. */
#ifndef BTZ_AUTH_FLOW_H
#define BTZ_AUTH_FLOW_H

#include "auth/store.h"
#include "auth/url.h"
#include "http/http.h"

struct btz_auth_flow;

/* For lab host profiles. */
struct btz_auth_leniency {
    bool assumes_endpoints;    /* without metadata: /authorize, /token and /register on the server's
                                  host, and what is kept for the server is used there */
    bool follows_any_redirect; /* a redirect's target is not guarded */
    bool takes_any_resource;   /* metadata may be about another resource */
    bool takes_any_issuer;     /* metadata may name another issuer than it was asked for */
    bool ignores_response_iss; /* RFC 9207 is not looked at */
    bool ignores_state;        /* nor is `state` */
    bool needs_no_pkce;        /* servers without S256 are used */
    bool sends_no_resource;    /* no `resource` parameter */
    bool takes_any_scope;      /* allowed_scopes binds nobody */
    bool shares_tokens_of_host; /* tokens are looked up by host */
};

struct btz_auth_flow_options {
    struct btz_str resource;     /* address of the MCP endpoint; required */
    struct btz_str redirect_uri; /* required, unless client_credentials */
    struct btz_str client_name;
    /* Clients registered by hand. One without issuer and without secret is bound to the first
     * issuer it is used with; one with a secret needs its issuer, or `any_issuer`. */
    const struct btz_auth_client *registered;
    size_t registered_count;
    struct btz_str metadata_document; /* https address that serves as client id; empty = none */
    bool no_registration;             /* no dynamic registration */
    bool client_credentials;          /* that grant, nobody is asked; needs a registered client */
    bool wants_refresh;               /* offline_access, where the issuer offers it and
                                         allowed_scopes has it or is empty */
    bool revision_2025_03;            /* no resource metadata: the server's host is the issuer, with
                                         fixed endpoints if it has no metadata */
    struct btz_str allowed_scopes; /* that the user agreed to; empty = what the server asks for */
    unsigned max_attempts;         /* challenges in a row without an accepted request; 0 = 3 */
    struct btz_str secret;         /* at least 32 random bytes: state and verifier come from it */
    struct btz_auth_guard guard;
    struct btz_auth_leniency lenient;
    struct btz_auth_store *store; /* shared by flows of a host; NULL = one of its own */
    size_t max_body;              /* of a response; 0 = 256 KiB */
};

enum btz_auth_state {
    BTZ_AUTH_IDLE,    /* nothing was challenged yet */
    BTZ_AUTH_WORKING, /* a need waits, or its answer is awaited */
    BTZ_AUTH_READY,   /* _header has the value */
    BTZ_AUTH_FAILED   /* _failure has the reason; a new challenge may begin anew */
};

enum btz_auth_need_kind {
    BTZ_AUTH_RESOLVE, /* addresses of `host` */
    BTZ_AUTH_FETCH,   /* an exchange with `url`, only with one of `addresses`; do not redirect */
    BTZ_AUTH_OPEN     /* the user's browser, at `url`, until it comes to the redirect address */
};

enum btz_auth_purpose {
    BTZ_AUTH_FOR_RESOURCE, /* protected-resource metadata */
    BTZ_AUTH_FOR_ISSUER,   /* authorization-server metadata */
    BTZ_AUTH_FOR_CLIENT,   /* registration */
    BTZ_AUTH_FOR_CODE,     /* authorization */
    BTZ_AUTH_FOR_TOKEN
};
const char *btz_auth_purpose_name(enum btz_auth_purpose purpose); /* "resource metadata", ... */

/* Views are good until the answer is given. `fields` without Host and framing. */
struct btz_auth_need {
    enum btz_auth_need_kind kind;
    enum btz_auth_purpose purpose;
    struct btz_str host;
    struct btz_str method, url, body;
    const struct btz_http_field *fields;
    size_t field_count;
    const struct btz_auth_address *addresses;
    size_t address_count; /* 0 with guard.any_place and no resolver's answer */
};

/* BTZ_EINVAL with `err` when an option is unusable. Copies what it needs but the store. */
int btz_auth_flow_new(const struct btz_auth_flow_options *options, struct btz_auth_flow **out,
                      struct btz_err *err) BTZ_WARN_UNUSED;
void btz_auth_flow_free(struct btz_auth_flow *flow); /* NULL is allowed */

/* A token that is kept for the resource and not known to be over: READY with it. False if there is
 * none; only in states IDLE and FAILED. */
bool btz_auth_flow_recall(struct btz_auth_flow *flow, int64_t now_us);

/* A request was answered by `status` 401 or 403 with these fields. BTZ_ESTATE while WORKING.
 * Otherwise the state is WORKING or FAILED. */
int btz_auth_flow_challenged(struct btz_auth_flow *flow, int status,
                             const struct btz_http_field *fields, size_t count,
                             int64_t now_us) BTZ_WARN_UNUSED;
/* A request with the newest token was accepted: the count of attempts begins anew. */
void btz_auth_flow_accepted(struct btz_auth_flow *flow);

enum btz_auth_state btz_auth_flow_state(const struct btz_auth_flow *flow);
/* The need to perform, once each; false if there is none. */
bool btz_auth_flow_next(struct btz_auth_flow *flow, struct btz_auth_need *need);

/* Answers to the need that was pulled; BTZ_ESTATE if it was another kind. `count` 0: no such name.
 * `status` 0: nobody answered. `url` empty: the browser never came back. */
int btz_auth_flow_resolved(struct btz_auth_flow *flow, const struct btz_auth_address *addresses,
                           size_t count) BTZ_WARN_UNUSED;
int btz_auth_flow_fetched(struct btz_auth_flow *flow, int status,
                          const struct btz_http_field *fields, size_t count,
                          struct btz_str body) BTZ_WARN_UNUSED;
int btz_auth_flow_returned(struct btz_auth_flow *flow, struct btz_str url) BTZ_WARN_UNUSED;

/* READY: "Bearer ..."; else BTZ_STR_NONE. Until the next challenge. */
struct btz_str btz_auth_flow_header(const struct btz_auth_flow *flow);
/* FAILED: a text for people. `verdict` (may be NULL): why the guard refused an address, or
 * BTZ_AUTH_ALLOWED if it was not the guard. */
struct btz_str btz_auth_flow_failure(const struct btz_auth_flow *flow,
                                     enum btz_auth_verdict *verdict);
/* Who gives or gave the token; empty before it is known. */
struct btz_str btz_auth_flow_issuer(const struct btz_auth_flow *flow);
/* Scope that was asked for last; empty = none. */
struct btz_str btz_auth_flow_scope(const struct btz_auth_flow *flow);

#endif
