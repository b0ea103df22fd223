/* What the files of the arena command share. */
#ifndef BTZ_CMD_ARENA_H
#define BTZ_CMD_ARENA_H

#include "arena/play.h"
#include "cmd/cmd.h"

/* What --scenario, --arm, --server and --seed ask for; without any of them all servers. */
int btz_cmd_arena_stage(struct btz_context *context, struct btz_lab *lab,
                        struct btz_play_options *out, struct btz_err *err) BTZ_WARN_UNUSED;
/* The play of it; what the arena cannot play is wrong use. */
int btz_cmd_arena_play(const struct btz_play_options *options, struct btz_play **out,
                       struct btz_err *err) BTZ_WARN_UNUSED;
/* "127.0.0.1:8700" and other forms of loopback; `*address` is static. */
int btz_cmd_arena_address(struct btz_str text, struct btz_str *address, uint16_t *port,
                          struct btz_err *err) BTZ_WARN_UNUSED;
/* arena config: prints what an MCP client has to be told. */
int btz_cmd_arena_config(struct btz_context *context, struct btz_lab *lab,
                         struct btz_err *err) BTZ_WARN_UNUSED;

#endif
