/* Inside the room: body of the flow.
 *
 *   flow.c           birth, challenges, the exchange under way and its guard
 *   flow_discover.c  metadata of resource and issuer
 *   flow_client.c    who the client is, and the user's consent
 *   flow_token.c     code, refresh token or client secret for an access token */
#ifndef BTZ_AUTH_FLOW_INT_H
#define BTZ_AUTH_FLOW_INT_H

#include "auth/challenge.h"
#include "auth/flow.h"
#include "auth/form.h"
#include "json/json.h"

enum {
    MAX_CANDIDATES = 3,
    MAX_FLOW_REDIRECTS = 3,
    MAX_FLOW_ADDRESSES = 16,
    MAX_FLOW_TEXT = 16 * 1024 /* of an address or form that is built */
};

/* Metadata of an authorization server, as far as it is used. */
struct server {
    struct btz_str issuer;
    struct btz_str authorize, token, registration;
    bool pkce;              /* S256 is offered */
    bool sends_iss;         /* authorization_response_iss_parameter_supported */
    bool takes_documents;   /* client_id_metadata_document_supported */
    struct btz_str methods; /* token_endpoint_auth_methods_supported, spaces between */
    struct btz_str scopes;  /* scopes_supported */
    bool assumed;           /* there is no metadata: fixed endpoints */
};

struct btz_auth_flow {
    struct btz_auth_flow_options options;
    struct btz_arena *arena; /* of the options */
    struct btz_arena *run;   /* of the attempt under way */
    struct btz_auth_store *own_store;
    enum btz_auth_state state;
    unsigned attempts;
    unsigned futile; /* challenges for a scope that the token had, over the life of the flow */
    uint64_t drawn;  /* secrets derived so far */
    struct btz_str bound_issuer; /* of a registered client that named none; in `arena` */
    int64_t now_us;
    /* The attempt. */
    int status;
    struct btz_auth_challenge challenge;
    struct btz_str candidates[MAX_CANDIDATES];
    size_t candidate_count, candidate;
    struct btz_str audience; /* value of `resource` */
    struct btz_str offered;  /* scopes_supported of the resource */
    struct btz_str issuer;   /* as the resource names it */
    struct server server;
    struct btz_auth_client client;
    struct btz_str scope, redirect_state, verifier;
    bool own_host; /* no resource metadata: the server's host stands for the issuer */
    bool refreshing;
    struct btz_str failure;
    enum btz_auth_verdict verdict;
    /* What outlives attempts: in `kept`, made anew with each. */
    struct btz_arena *kept;
    struct btz_str requested; /* scope of the last attempt */
    struct btz_str header, header_issuer;
    /* The need. */
    enum btz_auth_purpose purpose;
    struct btz_auth_need need;
    struct btz_auth_address addresses[MAX_FLOW_ADDRESSES];
    bool waiting, pulled;
    unsigned redirects;
};

void btz_auth_fail(struct btz_auth_flow *flow, const char *format, ...) BTZ_PRINTF(2, 3);
/* Asks for an exchange; fails the attempt if the guard refuses the address. `url` and `body` are in
 * flow->run. */
void btz_auth_fetch(struct btz_auth_flow *flow, enum btz_auth_purpose purpose, struct btz_str url,
                    struct btz_str content_type, struct btz_str body);
/* Adds Authorization to the exchange that was asked for. */
void btz_auth_fetch_as(struct btz_auth_flow *flow, struct btz_str authorization);
struct btz_str btz_auth_draw(struct btz_auth_flow *flow, const char *what);
/* Members that are text, and lists of texts with spaces between; in flow->run. */
struct btz_str btz_auth_words(struct btz_auth_flow *flow, const struct btz_json *list);

/* flow_discover.c */
void btz_auth_discover(struct btz_auth_flow *flow);
/* `document` NULL: the exchange gave none. */
void btz_auth_got_resource(struct btz_auth_flow *flow, const struct btz_json *document);
void btz_auth_got_server(struct btz_auth_flow *flow, const struct btz_json *document);

/* flow_client.c */
void btz_auth_identify(struct btz_auth_flow *flow);
void btz_auth_got_client(struct btz_auth_flow *flow, int status, const struct btz_json *document);
void btz_auth_ask_user(struct btz_auth_flow *flow);
/* Cuts the scope down to what the user allowed. False, and the flow failed, if the server itself
 * asks for more than that. */
bool btz_auth_limit_scope(struct btz_auth_flow *flow, struct btz_str *wanted);
void btz_auth_got_user(struct btz_auth_flow *flow, struct btz_str url);

/* flow_token.c */
/* Trades what is at hand: a refresh token if `refresh`, the client's own right, or `code`. */
void btz_auth_trade(struct btz_auth_flow *flow, struct btz_str code, struct btz_str refresh);
void btz_auth_got_token(struct btz_auth_flow *flow, int status, const struct btz_json *document);
struct btz_auth_store *btz_auth_flow_store(struct btz_auth_flow *flow);
void btz_auth_use_token(struct btz_auth_flow *flow, struct btz_str access, struct btz_str issuer);

#endif
