/* One stage played by somebody else's agent: what it did, what it was shown, and the verdict.
 *
 * A play serves the requests of MCP server machines from one stage and keeps the trajectory and the
 * journal that the scenario's oracle reads. It knows calls, reads, prompts and their results in
 * order. It does not know the agent's model turns, and its answers only if somebody reports them,
 * so a verdict says what is unknown. Nothing of it enters the store or a rate: other people's
 * agents are not the fixed stack. No I/O.
 */
#ifndef BTZ_ARENA_PLAY_H
#define BTZ_ARENA_PLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "json/json.h"
#include "lab/lab.h"
#include "mcp/server.h"

struct btz_play;

struct btz_play_options {
    struct btz_lab *lab;                 /* outlives the play */
    const struct btz_scenario *scenario; /* NULL: plain servers with a world, no verdict */
    enum btz_arm arm;
    uint64_t seed;
    const struct btz_str *servers; /* without a scenario */
    size_t server_count;
};

/* BTZ_EUNSUPPORTED if the arm has an adversary on the wire: that stands between the client and
 * server machines of a trial. Others as btz_stage_new. */
int btz_play_new(const struct btz_play_options *options, struct btz_play **out,
                 struct btz_err *err) BTZ_WARN_UNUSED;
void btz_play_free(struct btz_play *play); /* NULL is allowed */
struct btz_stage *btz_play_stage(struct btz_play *play);

/* What every server machine of a play offers: completion and subscriptions where there is something
 * to complete and to subscribe to. `page_size` 0 = 100. */
struct btz_mcp_server_options btz_play_server_options(const struct btz_play *play, size_t server,
                                                      size_t page_size);

/* Answers an event of server number `server` through `machine` and records it. A fault of a script
 * is told to the peer as an internal error and kept for the verdict; the play goes on. */
void btz_play_serve(struct btz_play *play, size_t server, struct btz_mcp_server *machine,
                    const struct btz_mcp_server_event *event);

/* True once after definitions changed: give all machines their catalogue anew. */
bool btz_play_take_new_lists(struct btz_play *play);
/* True once after something in the world of the server changed: its resources may have, too. */
bool btz_play_take_new_world(struct btz_play *play, size_t server);

/* Bytes that server number `server` sent to a peer outside of answers to events: lists and
 * instructions. Tells which definitions of the payload were delivered. */
void btz_play_sent(struct btz_play *play, size_t server, struct btz_str bytes);

/* ---- The user's turns ---- */

size_t btz_play_turn_count(const struct btz_play *play); /* 0 without a scenario */
size_t btz_play_turn(const struct btz_play *play);       /* under way, from 1 */
struct btz_str btz_play_turn_text(const struct btz_play *play);
int btz_play_session(const struct btz_play *play); /* from 1 */

/* The user goes on to the next turn. `*reconnect`: the turn begins a second session or asks for
 * fresh connections. BTZ_ENOTFOUND if there is none; BTZ_EINTERNAL as btz_stage_advance. */
int btz_play_next_turn(struct btz_play *play, bool *reconnect, struct btz_err *err) BTZ_WARN_UNUSED;

/* The agent's final answer to the turn under way, as its user reports it. Of several the last one
 * counts. Once every turn has one, a verdict leaves nothing open. */
void btz_play_answer(struct btz_play *play, struct btz_str text);

/* ---- What the agent's model was sent, if its requests come past us ---- */

/* The requests of the model can be seen from now on: once one is accepted, "observed" is no longer
 * unknown. */
void btz_play_watch_requests(struct btz_play *play);
/* A request to the model: gives its number (from 1) and the fragments whose operands it holds. */
uint64_t btz_play_request(struct btz_play *play, struct btz_str text, uint32_t *fragments);
/* The model's server accepted it. */
void btz_play_request_accepted(struct btz_play *play, uint64_t number, uint32_t fragments);

/* ---- Verdict ---- */

enum btz_play_known { BTZ_PLAY_NO, BTZ_PLAY_YES, BTZ_PLAY_UNKNOWN };
const char *btz_play_known_name(enum btz_play_known known); /* "no", "yes", "unknown" */

struct btz_play_verdict {
    enum btz_play_known effect;  /* UNKNOWN: it would show in the agent's final answer only */
    enum btz_play_known utility; /* UNKNOWN: it depends on the agent's final answer */
    /* All fragments of the payload were seen in requests of the model that its server accepted; of
     * a memory scenario: in the second session. Where the text came from is not proven. UNKNOWN:
     * no such request was accepted yet. */
    enum btz_play_known observed;
    uint64_t observed_request; /* number of the request that completed them; 0 = none */
    bool delivered;            /* a fragment left a server (or was the user's turn) */
    int64_t act_event;         /* id in the trajectory; 0 = none */
    int64_t effect_event;      /* id in the journal or trajectory; 0 = none */
    uint64_t calls;            /* tool calls that were made */
    uint64_t requests;         /* requests of the model that were seen */
    struct btz_str fault;      /* first fault of a script, for people; empty = none */
};

/* The verdict over what happened so far. BTZ_ESTATE without a scenario; BTZ_EINTERNAL if the oracle
 * or the utility function fails. */
int btz_play_verdict(struct btz_play *play, struct btz_play_verdict *out,
                     struct btz_err *err) BTZ_WARN_UNUSED;

/* The same as {"scenario","arm","seed","calls","effect","act","utility","observed","delivered",...}
 * (schemas/arena.json), made in `arena`: what is unknown is null, only `observed` says "unknown".
 * Without a scenario everything but `calls` and `seed` is null. */
int btz_play_verdict_json(struct btz_play *play, struct btz_arena *arena, struct btz_json **out,
                          struct btz_err *err) BTZ_WARN_UNUSED;

uint64_t btz_play_calls(const struct btz_play *play);
/* The first fault of a script, for people, also without a scenario; empty = none. */
struct btz_str btz_play_fault(const struct btz_play *play);
/* As the oracle reads them (docs/packs/script-api.md). */
const struct btz_json *btz_play_trajectory(const struct btz_play *play);
const struct btz_json *btz_play_journal(const struct btz_play *play);

#endif
