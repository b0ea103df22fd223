/* The WWW-Authenticate field of a refused request (RFC 9110 section 11.6.1, RFC 6750 section 3,
 * RFC 9728 section 5.1), read strictly: what two readers could take differently is refused. */
#ifndef BTZ_AUTH_CHALLENGE_H
#define BTZ_AUTH_CHALLENGE_H

#include "base/arena.h"
#include "base/err.h"
#include "http/http.h"

enum { BTZ_AUTH_CHALLENGE_MAX = 8192 }; /* bytes of one field value */

/* Of the first Bearer challenge; empty where the parameter is absent. In the arena. */
struct btz_auth_challenge {
    bool bearer; /* there is one */
    struct btz_str realm, resource_metadata, scope, error, error_description;
};

/* Reads one field value, which may hold challenges of several schemes. BTZ_EINVAL if it breaks the
 * grammar or gives a parameter twice, BTZ_ELIMIT if it is too long. */
int btz_auth_challenge_parse(struct btz_arena *arena, struct btz_str value,
                             struct btz_auth_challenge *out, struct btz_err *err) BTZ_WARN_UNUSED;

/* The first Bearer challenge of a response. A field that cannot be read counts as absent. */
struct btz_auth_challenge btz_auth_challenge_of(struct btz_arena *arena,
                                                const struct btz_http_field *fields, size_t count);

#endif
