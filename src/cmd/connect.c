/* connect: joins stdin and stdout to a server of a trial. What {command} stands for in
 * `run --defence proxy:`; not for people. */
#include <unistd.h>

#include "cmd/cmd.h"
#include "wire/gateway.h"

static int run(struct btz_context *context, struct btz_err *err)
{
    return btz_gateway_connect(btz_str_of(btz_args_positional(context->args, 0)), STDIN_FILENO,
                               STDOUT_FILENO, err);
}

static const char *const usage[] = {"ADDRESS", NULL};

const struct btz_command btz_command_connect = {
    .args = {.name = "connect",
             .summary = "be the stdio server of a trial (what a gateway starts)",
             .usage = usage,
             .min_positionals = 1,
             .max_positionals = 1},
    .hidden = true,
    .run = run,
};
