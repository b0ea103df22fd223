/* Inside the room: the organisation's authorization server in a trial's world. */
#ifndef BTZ_LAB_LOGIN_H
#define BTZ_LAB_LOGIN_H

#include "auth/url.h"
#include "lab/lab_int.h"
#include "lab/web.h"

struct login_client {
    struct btz_str id, redirect;
};

struct login_code {
    struct btz_str code, client, redirect, challenge, resource, scope;
    bool used;
};

struct login_grant {
    struct btz_str access, refresh;
    struct btz_login_token token;
};

struct login {
    struct login_client *clients;
    size_t client_count, client_cap;
    struct login_code *codes;
    size_t code_count, code_cap;
    struct login_grant *grants;
    size_t grant_count, grant_cap;
    struct login_client *consents; /* whom the user has said yes to */
    size_t consent_count, consent_cap;
    uint64_t drawn;
};

/* The client that the user's host is, and the refresh tokens of the setting. */
void btz_login_init(struct btz_stage *stage);
void btz_login_answer(struct btz_stage *stage, const struct btz_web_request *request,
                      const struct btz_auth_url *url, uint64_t event,
                      struct btz_web_answer *answer);

#endif
