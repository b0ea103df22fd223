/* application/x-www-form-urlencoded (WHATWG URL, "application/x-www-form-urlencoded"), used for
 * queries and token requests, and the small encodings of OAuth. */
#ifndef BTZ_AUTH_FORM_H
#define BTZ_AUTH_FORM_H

#include "base/arena.h"
#include "base/buf.h"

/* Adds "name=value", with '&' before it unless `out` is empty. Everything but A-Z a-z 0-9 - . _ is
 * escaped. */
void btz_auth_form_add(struct btz_buf *out, const char *name, struct btz_str value);
struct btz_str btz_auth_form_escape(struct btz_arena *arena, struct btz_str value);

/* Value of the only field `name`, decoded. BTZ_ENOTFOUND if it is absent, BTZ_EINVAL if it is there
 * twice or its escapes are broken. */
int btz_auth_form_get(struct btz_arena *arena, struct btz_str form, const char *name,
                      struct btz_str *out) BTZ_WARN_UNUSED;

/* RFC 4648 section 5 without padding / section 4 with it. */
struct btz_str btz_auth_base64url(struct btz_arena *arena, struct btz_str bytes);
struct btz_str btz_auth_base64(struct btz_arena *arena, struct btz_str bytes);

/* RFC 7636 section 4.2, S256. */
struct btz_str btz_auth_code_challenge(struct btz_arena *arena, struct btz_str verifier);

/* Scope lists (RFC 6749 section 3.3): `a` and what of `b` it lacks, in order, one space between. */
struct btz_str btz_auth_scope_union(struct btz_arena *arena, struct btz_str a, struct btz_str b);
/* What of `a` stands in `b`, too. */
struct btz_str btz_auth_scope_common(struct btz_arena *arena, struct btz_str a, struct btz_str b);
bool btz_auth_scope_has(struct btz_str scopes, struct btz_str scope);
/* The first of `scopes` that `allowed` lacks, or BTZ_STR_NONE. */
struct btz_str btz_auth_scope_beyond(struct btz_str scopes, struct btz_str allowed);
/* Characters that a scope list may have. */
bool btz_auth_scope_is_valid(struct btz_str scopes);

#endif
