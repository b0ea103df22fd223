/* The text of a model's reply to an item. */
#include <stdio.h>
#include <stdlib.h>

#include "sieve/outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok, const char *what)
{
    if (!ok) {
        (void)fprintf(stderr, "broken: %s\n", what);
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct btz_arena *arena;
    struct btz_sieve_reply reply;

    arena = arena ? arena : btz_arena_new();
    btz_arena_reset(arena);
    btz_sieve_reply_read((struct btz_str){(const char *)data, size}, arena, &reply);
    check(reply.why != NULL, "a reason, if only an empty one");
    check((reply.kind == BTZ_SIEVE_REPLY_NONE) == (reply.why[0] != '\0'), "why");
    check((reply.kind == BTZ_SIEVE_REPLY_CALL) == btz_json_is(reply.arguments, BTZ_JSON_OBJECT),
          "arguments are an object");
    check(reply.kind != BTZ_SIEVE_REPLY_CALL || reply.tool.len > 0, "a call has a name");
    return 0;
}
