/* A server of a stage as an MCP server machine offers it: its catalogue, and the answers to what a
 * peer asks for. Shared by trials and by everything that serves the lab to other programs. */
#ifndef BTZ_LAB_SERVE_H
#define BTZ_LAB_SERVE_H

#include "lab/lab.h"
#include "mcp/server.h"

/* What the server offers now. Borrows from the stage's definitions; the rest is made in `arena`. */
struct btz_mcp_catalogue btz_stage_catalogue(struct btz_arena *arena,
                                             const struct btz_stage_server *server);

/* Runs what `event` (CALL, ANSWER, READ, PROMPT or COMPLETE; others do nothing) asks of server
 * number `server` and replies through `machine`, or asks the client first: then a CALL or ANSWER
 * event brings the answer. `cause` is noted in the journal; for an ANSWER it is that of its call.
 * `*result` is what was sent, in the stage's arena, or NULL if the client was asked or got a
 * protocol error: unknown names and arguments that a prompt or a completion refuses. Errors are
 * faults of the script (BTZ_EINTERNAL, nothing was replied) or those of
 * btz_mcp_server_reply_result. */
int btz_stage_serve(struct btz_stage *stage, size_t server, struct btz_mcp_server *machine,
                    const struct btz_mcp_server_event *event, uint64_t cause,
                    const struct btz_json **result, struct btz_err *err) BTZ_WARN_UNUSED;

#endif
