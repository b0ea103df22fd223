/* Calls that take two rounds (2026-07-28, multi round-trip requests): a server that keeps nothing
 * between messages gives the client what it has understood of a call as a request state, and runs
 * what the state says when the client brings it back. */
#ifndef BTZ_LAB_SERVE_ROUNDS_H
#define BTZ_LAB_SERVE_ROUNDS_H

#include "lab/lab_int.h"
#include "mcp/server.h"

/* Whether calls of this server are taken so in this setting. */
bool btz_stage_has_rounds(const struct btz_stage *stage, size_t server,
                          const struct btz_mcp_server_event *event);

/* `*over`: the call was answered here, with a state or, for a state that is not the server's own,
 * with an error. Else `event->arguments` are now those of the state (in `arena`): run them. Errors
 * are those of the machine's reply functions. */
int btz_stage_take_round(const struct btz_stage *stage, size_t server,
                         struct btz_mcp_server *machine, struct btz_mcp_server_event *event,
                         struct btz_arena *arena, bool *over, struct btz_err *err) BTZ_WARN_UNUSED;

#endif
