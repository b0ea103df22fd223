/* The way of an agent's requests to its model: a pass-through that looks at the requests.
 *
 * What comes to /llm/v1/PATH goes to BASE/PATH with the same method and body; of the headers only
 * Authorization, Content-Type and Accept go along, and a key goes nowhere else. Redirects are not
 * followed. The answer goes back as it came, whole: a streamed answer arrives at once when it is
 * complete. Nothing is stored. */
#ifndef BTZ_ARENA_LLM_PROXY_H
#define BTZ_ARENA_LLM_PROXY_H

#include "arena/play.h"
#include "http/http.h"
#include "net/http_server.h"
#include "net/loop.h"

struct btz_llm_proxy;

/* BTZ_EUSAGE if `base` is no http or https URL, or has a query, a fragment or a user. */
int btz_llm_proxy_new(struct btz_net_loop *loop, struct btz_play *play, struct btz_str base,
                      struct btz_llm_proxy **out, struct btz_err *err) BTZ_WARN_UNUSED;
void btz_llm_proxy_free(struct btz_llm_proxy *proxy); /* NULL is allowed; before the loop */

/* Takes a request whose target is "/llm/v1" and `path`. BTZ_OK: the answer follows. BTZ_ENOTFOUND:
 * no such path; BTZ_EUNSUPPORTED: not with this method; BTZ_ELIMIT: too many at once; BTZ_EINVAL: a
 * header cannot be passed on. */
int btz_llm_proxy_request(struct btz_llm_proxy *proxy, uint64_t exchange,
                          const struct btz_http_head *head, struct btz_str path,
                          struct btz_str body) BTZ_WARN_UNUSED;
/* The agent's connection is gone; unknown exchanges are ignored. */
void btz_llm_proxy_closed(struct btz_llm_proxy *proxy, uint64_t exchange);

/* Passes answers on to `server`. */
void btz_llm_proxy_step(struct btz_llm_proxy *proxy, struct btz_net_http_server *server);

#endif
