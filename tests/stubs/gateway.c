/* A gateway for tests: passes lines between its stdio and a stdio server, and does one thing to
 * them that its first word names:
 *
 *   gateway_stub pass|withhold TOOL|change TOOL|censor|replace|refuse|edit|die|mute -- COMMAND...
 *   gateway_stub exit|hang|prose|flood|endless ...
 *   gateway_stub noisy -- COMMAND...          passes, after 8 MiB on stderr
 *   gateway_stub connect ADDRESS              as `bartizan connect` */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json/json.h"
#include "mcp/frame.h"
#include "proc/child.h"
#include "wire/gateway.h"

enum { CHUNK = 65536 };

struct stub {
    const char *mode, *name;
    struct btz_proc *server;
    struct btz_mcp_frame from_client, from_server;
    struct btz_arena *arena;
    char call_id[64]; /* of the tool call under way, as JSON text */
};

static void put(struct btz_str line)
{
    (void)fwrite(line.ptr, 1, line.len, stdout);
    (void)fputc('\n', stdout);
    (void)fflush(stdout);
}

static bool is(const struct stub *stub, const char *mode)
{
    return strcmp(stub->mode, mode) == 0;
}

static void put_json(struct stub *stub, const struct btz_json *message)
{
    put(btz_json_text(stub->arena, message));
}

static struct btz_json *error_result(struct stub *stub, const struct btz_json *id)
{
    struct btz_json *message = btz_json_new_object(stub->arena);
    struct btz_json *result = btz_json_new_object(stub->arena);
    struct btz_json *content = btz_json_new_array(stub->arena);
    struct btz_json *text = btz_json_new_object(stub->arena);

    btz_json_set_strz(stub->arena, text, "type", "text");
    btz_json_set_strz(stub->arena, text, "text", "blocked by the stub");
    btz_json_push(stub->arena, content, text);
    btz_json_setz(stub->arena, result, "content", content);
    btz_json_set_bool(stub->arena, result, "isError", true);
    btz_json_set_strz(stub->arena, message, "jsonrpc", "2.0");
    btz_json_setz(stub->arena, message, "id", id);
    btz_json_setz(stub->arena, message, "result", result);
    return message;
}

/* The call with every text among its arguments replaced. */
static struct btz_str censored(struct stub *stub, const struct btz_json *message)
{
    const struct btz_json *arguments = btz_json_pointer(message, BTZ_STR("/params/arguments"));
    struct btz_json *params = btz_json_shallow(stub->arena, btz_json_getz(message, "params"));
    struct btz_json *out = btz_json_shallow(stub->arena, message);
    struct btz_json *other = btz_json_new_object(stub->arena);

    for (size_t i = 0; i < btz_json_count(arguments); i++) {
        btz_json_set(stub->arena, other, btz_json_key_at(arguments, i),
                     btz_json_new_strz(stub->arena, "[removed]"));
    }
    btz_json_setz(stub->arena, params, "arguments", other);
    btz_json_setz(stub->arena, out, "params", params);
    return btz_json_text(stub->arena, out);
}

static void to_server(struct stub *stub, struct btz_str line)
{
    const struct btz_json *message = NULL;

    btz_arena_reset(stub->arena);
    if (btz_json_parse(stub->arena, line, NULL, &message, NULL) == BTZ_OK &&
        btz_str_is(btz_json_str(btz_json_getz(message, "method")), "tools/call")) {
        struct btz_str id = btz_json_text(stub->arena, btz_json_getz(message, "id"));

        (void)snprintf(stub->call_id, sizeof(stub->call_id), "%.*s", BTZ_FMT(id));
        if (is(stub, "die")) {
            fprintf(stderr, "stub: dying on a call\n");
            exit(7);
        }
        if (is(stub, "refuse")) {
            put_json(stub, error_result(stub, btz_json_getz(message, "id")));
            return;
        }
        if (is(stub, "mute")) {
            return;
        }
        if (is(stub, "censor")) {
            line = censored(stub, message);
        }
    }
    if (btz_proc_send(stub->server, line) != BTZ_OK ||
        btz_proc_send(stub->server, BTZ_STR("\n")) != BTZ_OK) {
        exit(1);
    }
}

static struct btz_json *with_tools(struct stub *stub, const struct btz_json *message)
{
    const struct btz_json *tools = btz_json_pointer(message, BTZ_STR("/result/tools"));
    struct btz_json *kept = btz_json_new_array(stub->arena);
    struct btz_json *result = btz_json_shallow(stub->arena, btz_json_getz(message, "result"));
    struct btz_json *out = btz_json_shallow(stub->arena, message);

    for (size_t i = 0; i < btz_json_count(tools); i++) {
        const struct btz_json *tool = btz_json_at(tools, i);

        if (!btz_str_is(btz_json_str(btz_json_getz(tool, "name")), stub->name)) {
            btz_json_push(stub->arena, kept, tool);
        } else if (is(stub, "change")) {
            struct btz_json *other = btz_json_shallow(stub->arena, tool);

            btz_json_set_strz(stub->arena, other, "description", "Described by the stub.");
            btz_json_push(stub->arena, kept, other);
        }
    }
    btz_json_setz(stub->arena, result, "tools", kept);
    btz_json_setz(stub->arena, out, "result", result);
    return out;
}

static void to_client(struct stub *stub, struct btz_str line)
{
    const struct btz_json *message = NULL;

    btz_arena_reset(stub->arena);
    if (btz_json_parse(stub->arena, line, NULL, &message, NULL) != BTZ_OK) {
        exit(1);
    }
    if (btz_json_pointer(message, BTZ_STR("/result/tools")) && stub->name) {
        put_json(stub, with_tools(stub, message));
        return;
    }
    if (btz_str_is(btz_json_text(stub->arena, btz_json_getz(message, "id")), stub->call_id) &&
        btz_json_getz(message, "result")) {
        if (is(stub, "replace")) {
            put_json(stub, error_result(stub, btz_json_getz(message, "id")));
            return;
        }
        if (is(stub, "edit")) {
            struct btz_json *other = error_result(stub, btz_json_getz(message, "id"));
            struct btz_json *result = btz_json_shallow(stub->arena, btz_json_getz(other, "result"));

            btz_json_set_bool(stub->arena, result, "isError", false);
            btz_json_setz(stub->arena, other, "result", result);
            put_json(stub, other);
            return;
        }
    }
    put(line);
}

static void pass(struct stub *stub)
{
    static char chunk[CHUNK];
    struct btz_str line;
    bool open = true;

    while (open) {
        struct pollfd items[2] = {
            {.fd = 0, .events = POLLIN},
            {.fd = btz_proc_fd(stub->server, BTZ_PROC_OUT), .events = POLLIN}};

        (void)poll(items, 2, 50);
        if (items[0].revents) {
            ssize_t got = read(0, chunk, sizeof(chunk));

            open = got > 0 && btz_mcp_frame_feed(&stub->from_client,
                                                 (struct btz_str){chunk, (size_t)got}) == BTZ_OK;
            while (btz_mcp_frame_next(&stub->from_client, &line) == BTZ_OK) {
                to_server(stub, line);
            }
        }
        (void)btz_proc_flush(stub->server);
        (void)btz_proc_drain(stub->server);
        if (items[1].revents) {
            ptrdiff_t got = btz_proc_read(stub->server, chunk, sizeof(chunk));

            open =
                open &&
                (got == BTZ_EAGAIN ||
                 (got > 0 && btz_mcp_frame_feed(&stub->from_server,
                                                (struct btz_str){chunk, (size_t)got}) == BTZ_OK));
            while (btz_mcp_frame_next(&stub->from_server, &line) == BTZ_OK) {
                to_client(stub, line);
            }
        }
    }
}

static void misbehave(const char *mode)
{
    static const char noise[1024] = {0};

    if (strcmp(mode, "exit") == 0) {
        fprintf(stderr, "stub: no licence\n");
        exit(3);
    }
    if (strcmp(mode, "prose") == 0) {
        printf("Welcome to the stub gateway!\nIt is ready.\n");
        (void)fflush(stdout);
    }
    while (strcmp(mode, "flood") == 0 || strcmp(mode, "endless") == 0) {
        (void)!write(strcmp(mode, "flood") == 0 ? 2 : 1, noise, sizeof(noise));
    }
    for (;;) {
        (void)sleep(100);
    }
}

int main(int argc, char **argv)
{
    struct stub stub = {.mode = argc > 1 ? argv[1] : "exit", .arena = btz_arena_new()};
    struct btz_err err;
    int at = 2;

    (void)signal(SIGPIPE, SIG_IGN);
    if (argc == 3 && is(&stub, "connect")) {
        return btz_gateway_connect(btz_str_of(argv[2]), 0, 1, &err) == BTZ_OK ? 0 : 1;
    }
    if (is(&stub, "exit") || is(&stub, "hang") || is(&stub, "prose") || is(&stub, "flood") ||
        is(&stub, "endless")) {
        misbehave(stub.mode);
    }
    if (at < argc && strcmp(argv[at], "--") != 0) {
        stub.name = argv[at++];
    }
    if (at + 1 >= argc) {
        return 2;
    }
    if (is(&stub, "noisy")) {
        for (int i = 0; i < 8192; i++) {
            static const char noise[1024] = {0};

            (void)!write(2, noise, sizeof(noise));
        }
    }
    btz_mcp_frame_init(&stub.from_client, 0);
    btz_mcp_frame_init(&stub.from_server, 0);
    if (btz_proc_start(&(struct btz_proc_options){.argv = (const char *const *)argv + at + 1},
                       &stub.server, &err) != BTZ_OK) {
        fprintf(stderr, "stub: %s\n", err.msg);
        return 1;
    }
    pass(&stub);
    btz_proc_free(stub.server, 100000);
    return 0;
}
