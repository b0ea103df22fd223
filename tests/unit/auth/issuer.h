/* A small web for flows under test: documents by address, an authorization endpoint with a browser
 * that comes back at once, and a log of everything that was asked. */
#ifndef BTZ_TEST_AUTH_ISSUER_H
#define BTZ_TEST_AUTH_ISSUER_H

#include "auth/flow.h"
#include "base/buf.h"

struct page {
    const char *url; /* without query */
    int status;
    const char *body;
    const char *location; /* NULL = none */
};

struct fake {
    struct page pages[24];
    size_t page_count;
    const char *place; /* address that every name resolves to; NULL = 93.184.215.14 */
    const char *iss;   /* of the authorization response; NULL = left out */
    const char *state; /* instead of the right one */
    const char *error; /* instead of a code */
    const char *back;  /* instead of the redirect address */
    bool never;        /* the browser does not come back */
    unsigned opened;
    struct btz_arena *arena;
    struct btz_buf log; /* "GET url\n", "POST url body\n", "OPEN url\n", "AS value\n" */
};

void fake_init(struct fake *fake);
void fake_fini(struct fake *fake);
void fake_page(struct fake *fake, const char *url, const char *body);
/* Takes a page away. */
void fake_forget(struct fake *fake, const char *url);
/* Resource metadata, issuer metadata, token and registration of the usual case:
 * https://mcp.example/tools and https://id.example. */
void fake_usual(struct fake *fake);

/* Answers needs until there are none. */
void fake_drive(struct fake *fake, struct btz_auth_flow *flow);
/* Whether the log holds a text; how often. */
size_t fake_logged(const struct fake *fake, const char *text);
/* Value of a field in the query of the address that was opened last. */
struct btz_str fake_asked(const struct fake *fake, const char *name);

struct btz_auth_flow_options usual_options(void);
/* A new flow that was answered 401 with this header (NULL = none), driven to its end. */
struct btz_auth_flow *challenged(struct fake *fake, const struct btz_auth_flow_options *options,
                                 const char *header);
void challenge(struct fake *fake, struct btz_auth_flow *flow, int status, const char *header);

#endif
