/* Inside the lab room: serving calls whose scripts may ask the client. */
#ifndef BTZ_LAB_SERVE_ASK_H
#define BTZ_LAB_SERVE_ASK_H

#include "lab/lab_int.h"
#include "lab/serve.h"

/* See btz_stage_serve. */
int btz_serve_call(struct btz_stage *stage, size_t server, struct btz_mcp_server *machine,
                   const struct btz_mcp_server_event *event, uint64_t cause,
                   const struct btz_json **result, struct btz_err *err) BTZ_WARN_UNUSED;
int btz_serve_answer(struct btz_stage *stage, struct btz_mcp_server *machine,
                     const struct btz_mcp_server_event *event, const struct btz_json **result,
                     struct btz_err *err) BTZ_WARN_UNUSED;

#endif
