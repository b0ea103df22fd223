/* What a host keeps of its authorizations: clients that were registered, keyed by issuer, and
 * tokens, keyed by issuer and resource. In memory; nothing here is ever sent by itself. */
#ifndef BTZ_AUTH_STORE_H
#define BTZ_AUTH_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct btz_auth_store;

struct btz_auth_client {
    struct btz_str issuer;
    struct btz_str id, secret; /* no secret: a public client */
    struct btz_str method;     /* client_secret_basic, client_secret_post or none; empty = choose */
    bool any_issuer; /* registered by hand, without issuer: the first that the server names may see
                      * its secret */
};

struct btz_auth_token {
    struct btz_str issuer;   /* who gave it */
    struct btz_str resource; /* whom it is for (RFC 8707) */
    struct btz_str access, refresh, scope;
    int64_t expires_us; /* 0 = not told */
};

struct btz_auth_store *btz_auth_store_new(void);
void btz_auth_store_free(struct btz_auth_store *store); /* NULL is allowed */

/* Replaces what was kept under the same key; copies. Over 256 entries of a kind the oldest goes. */
void btz_auth_store_put_client(struct btz_auth_store *store, const struct btz_auth_client *client);
void btz_auth_store_put_token(struct btz_auth_store *store, const struct btz_auth_token *token);
void btz_auth_store_forget_token(struct btz_auth_store *store, struct btz_str issuer,
                                 struct btz_str resource);

/* NULL if there is none. Good until the next change of the store. */
const struct btz_auth_client *btz_auth_store_client(const struct btz_auth_store *store,
                                                    struct btz_str issuer);
/* `issuer` empty: of any. */
const struct btz_auth_token *btz_auth_store_token(const struct btz_auth_store *store,
                                                  struct btz_str issuer, struct btz_str resource);
/* The newest token for any resource on the host of `resource`: how weak hosts look them up. */
const struct btz_auth_token *btz_auth_store_token_of_host(const struct btz_auth_store *store,
                                                          struct btz_str resource);

#endif
