/* The web around a trial: hosts that are no MCP servers of it. One is the organisation's
 * authorization server (login.c); all others are what the variant's `site` function makes of them.
 * Requests come from the host, the user's browser or a server; every one is recorded in the sink
 * `host.requests`. Nothing leaves the trial. */
#ifndef BTZ_LAB_WEB_H
#define BTZ_LAB_WEB_H

#include "auth/address.h"
#include "lab/lab.h"

/* The organisation's authorization server, the client that the user's host is there, and where
 * that is called back. */
#define BTZ_LOGIN_ISSUER "https://login.alderfinch.example"
#define BTZ_LOGIN_CLIENT "desk-host"
#define BTZ_LOGIN_REDIRECT "http://localhost:8976/callback"

/* How a server of the setting is protected (setting.authorization); texts after substitution. */
struct btz_stage_site {
    struct btz_str url;      /* of its MCP endpoint */
    struct btz_str issuer;   /* that its metadata names */
    struct btz_str metadata; /* address of its metadata, as its challenge gives it; empty = usual */
    struct btz_str scope;    /* that its challenge names; empty = none */
    struct btz_str allowed;  /* scopes that the user agreed to; empty = whatever is asked for */
    struct btz_str grant;    /* refresh token that the host has for it; empty = none */
    struct btz_str upstream; /* where it passes calls on to; empty = nowhere */
    struct btz_str step_tool;  /* name as the model sees it; calls of it need step_scope, too */
    struct btz_str step_scope; /* what the server then asks for */
    struct btz_str flips;      /* a name that first resolves as any other and later to flips_to */
    struct btz_str flips_to;
};
/* NULL if the server is open to everybody. */
const struct btz_stage_site *btz_stage_site(const struct btz_stage *stage, struct btz_str server);

struct btz_web_request {
    const char *from; /* "host", "browser", "server" or "icon" */
    struct btz_str method, url, body;
    struct btz_str authorization; /* value of that field; empty = none */
    struct btz_str address;       /* that the connection goes to; empty = it was not looked at */
    /* Host profile: the authorization server remembers that a user agreed, not to which client. */
    bool shared_consent;
};

struct btz_web_answer {
    int status;              /* 0: nobody answers there */
    struct btz_str location; /* empty = none */
    struct btz_str body;     /* JSON, or nothing */
    bool by_site;            /* the variant's function had it */
};

/* One exchange. `event` is noted in the journal as its cause. BTZ_EINTERNAL: a fault of the
 * variant's function. */
int btz_stage_web(struct btz_stage *stage, const struct btz_web_request *request, uint64_t event,
                  struct btz_web_answer *answer, struct btz_err *err) BTZ_WARN_UNUSED;

/* Records a request that was answered elsewhere. */
void btz_stage_web_note(struct btz_stage *stage, const struct btz_web_request *request,
                        uint64_t event);

/* The address of a name: every name below .example has one, in the public range; that of a name
 * that flips is another one from the second question on. */
bool btz_stage_resolve(struct btz_stage *stage, struct btz_str host,
                       struct btz_auth_address *address);

/* What the organisation's authorization server knows of a token; BTZ_ENOTFOUND if it gave none
 * such. */
struct btz_login_token {
    struct btz_str client, resource, scope;
};
int btz_stage_token(const struct btz_stage *stage, struct btz_str access,
                    struct btz_login_token *out) BTZ_WARN_UNUSED;
/* A token for a service itself: no user takes part. Text in the stage's arena. */
struct btz_str btz_stage_service_token(struct btz_stage *stage, struct btz_str client,
                                       struct btz_str resource);
/* A token for whoever has the refresh token of a setting; BTZ_STR_NONE if nobody has such. */
struct btz_str btz_stage_redeem(struct btz_stage *stage, struct btz_str grant);

/* Appends a record to a sink from outside the scripts. */
void btz_stage_sink(struct btz_stage *stage, const char *name, const struct btz_json *value,
                    uint64_t event);

#endif
