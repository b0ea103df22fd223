/* The parts of `bartizan sieve`: one file each, src/cmd/sieve_NAME.c, exporting one entry. */
#ifndef BTZ_CMD_SIEVE_H
#define BTZ_CMD_SIEVE_H

#include "cmd/cmd.h"

extern const struct btz_command btz_sieve_freeze_command;

/* Today, YYYY-MM-DD (UTC). */
struct btz_str btz_cmd_sieve_today(struct btz_arena *arena);

#endif
