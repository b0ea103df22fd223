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

/* The first round of a call, which is answered with a state, or the second, which runs what the
 * state says; a state that is not the server's own is answered with an error. Else as
 * btz_serve_call. */
int btz_serve_round(struct btz_stage *stage, size_t server, struct btz_mcp_server *machine,
                    const struct btz_mcp_server_event *event, uint64_t cause,
                    const struct btz_json **result, struct btz_err *err) BTZ_WARN_UNUSED;

#endif
