/* A play on HTTP: every server of its stage at http://127.0.0.1:PORT/LABEL/mcp, and beside them
 *
 *   GET  /task        the user's turn that is under way, for the person to give to their agent
 *   POST /next        the user goes on to the next turn
 *   POST /answer      the body is the agent's final answer to it
 *   GET  /verdict     the verdict so far
 *   GET  /trajectory  what the oracle reads
 *   any  /llm/v1/...  the way to the agent's model, if the site has one (llm_proxy.h)
 *
 * Everything runs on the owner's loop and thread. Only loopback addresses are served, requests of
 * another Host or a foreign Origin are refused, and every body, wait and buffer has a limit. */
#ifndef BTZ_ARENA_SITE_H
#define BTZ_ARENA_SITE_H

#include "arena/play.h"
#include "net/loop.h"

struct btz_site;

struct btz_site_options {
    struct btz_str address; /* "127.0.0.1" or "::1" */
    uint16_t port;          /* 0 = one that is free */
    struct btz_str model;   /* base URL of an OpenAI-compatible server; empty = no way to a model */
    size_t page_size;       /* items of a list page; 0 = 100 */
};

/* BTZ_EUSAGE for an address that is not loopback or a URL that is none; BTZ_EIO if the port cannot
 * be had. `loop` and `play` outlive the site. */
int btz_site_new(struct btz_net_loop *loop, struct btz_play *play,
                 const struct btz_site_options *options, struct btz_site **out,
                 struct btz_err *err) BTZ_WARN_UNUSED;
void btz_site_free(struct btz_site *site); /* NULL is allowed; before the loop */

uint16_t btz_site_port(const struct btz_site *site);
/* "http://127.0.0.1:8700" / "http://127.0.0.1:8700/mailroom/mcp"; in the site's memory. */
struct btz_str btz_site_url(const struct btz_site *site);
struct btz_str btz_site_server_url(const struct btz_site *site, size_t server);
/* The part of a URL that stands for a label: what is not A-Z a-z 0-9 - . _ ~ is percent-encoded. */
struct btz_str btz_site_label_path(struct btz_arena *arena, struct btz_str label);

/* Does everything there is to do, and asks the loop to wake in time for what has to be done later.
 * To be called before each wait. */
void btz_site_step(struct btz_site *site);

/* The user's next turn, as POST /next. Errors of btz_play_next_turn. */
int btz_site_next_turn(struct btz_site *site, struct btz_err *err) BTZ_WARN_UNUSED;

#endif
