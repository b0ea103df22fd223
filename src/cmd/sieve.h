/* The parts of `bartizan sieve`: one file each, src/cmd/sieve_NAME.c, exporting one entry. */
#ifndef BTZ_CMD_SIEVE_H
#define BTZ_CMD_SIEVE_H

#include "cmd/cmd.h"
#include "store/sieve.h"

extern const struct btz_command btz_sieve_harvest_command, btz_sieve_import_command,
    btz_sieve_poison_command, btz_sieve_freeze_command;
extern const struct btz_command btz_sieve_run_command, btz_sieve_attack_command,
    btz_sieve_report_command;

/* Today, YYYY-MM-DD (UTC). */
struct btz_str btz_cmd_sieve_today(struct btz_arena *arena);

/* Prints the report of a run of the sieve, as text, JSON or CSV. */
int btz_cmd_sieve_print(struct btz_context *context, struct btz_store *store,
                        const struct btz_store_sieve_run *run, struct btz_err *err) BTZ_WARN_UNUSED;

/* `verify` of a sieve run: its chain, and its rows made anew from files and recorded replies. Sets
 * *fits. */
int btz_cmd_sieve_verify(struct btz_context *context, struct btz_store *store,
                         const struct btz_store_sieve_run *run, bool *fits,
                         struct btz_err *err) BTZ_WARN_UNUSED;

#endif
