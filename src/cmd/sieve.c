/* sieve: the experiment on canonical definitions; its parts are commands of their own. */
#include "cmd/sieve.h"

#include <time.h>

#include "base/clock.h"

/* In the order of the help, which is that of the work. A part that is added gets a line here and
 * one in cmd/sieve.h. */
static const struct btz_command *const parts[] = {
    &btz_sieve_harvest_command, &btz_sieve_import_command,
    &btz_sieve_poison_command,  &btz_sieve_freeze_command,
    &btz_sieve_run_command,     &btz_sieve_attack_command,
    &btz_sieve_report_command,  NULL,
};

struct btz_str btz_cmd_sieve_today(struct btz_arena *arena)
{
    time_t now = (time_t)(btz_clock_wall_us() / 1000000);
    struct tm day;

    (void)gmtime_r(&now, &day);
    return btz_arena_printf(arena, "%04d-%02d-%02d", day.tm_year + 1900, day.tm_mon + 1,
                            day.tm_mday);
}

static const char *const usage[] = {"PART [OPTIONS]", NULL};

const struct btz_command btz_command_sieve = {
    .args = {.name = "sieve",
             .summary = "measure whether canonical tool definitions stop poisoning, and at what "
                        "cost",
             .usage = usage},
    .parts = parts,
};
