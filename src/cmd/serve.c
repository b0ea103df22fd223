/* serve: one lab server with a world of its own on standard input and output, for outside peers
 * such as SDK clients. Not part of a trial. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "mcp/frame.h"
#include "mcp/server.h"

struct serving {
    struct btz_stage *stage;
    struct btz_mcp_server *machine;
    struct btz_mcp_frame frame;
    uint64_t calls;
};

enum { VALUES_MAX = 100 }; /* of one message: specification, completion/complete */

/* What the pack offers for an argument, as a CompleteResult. */
static int complete(struct serving *s, const struct btz_mcp_server_event *event,
                    struct btz_arena *arena, const struct btz_json **result, struct btz_err *err)
{
    bool prompt = event->ref == BTZ_MCP_REF_PROMPT;
    struct btz_json *ref = btz_json_new_object(arena);
    struct btz_json *shown = btz_json_new_array(arena);
    struct btz_json *completion = btz_json_new_object(arena);
    struct btz_json *out = btz_json_new_object(arena);
    const struct btz_json *values = NULL;
    int rc;

    btz_json_set_strz(arena, ref, "type", prompt ? "ref/prompt" : "ref/resource");
    btz_json_set_str(arena, ref, prompt ? "name" : "uri", event->name);
    rc = btz_stage_complete(s->stage, 0, ref, event->argument, event->value, event->arguments,
                            &values, err);
    if (rc != BTZ_OK) {
        return rc;
    }
    for (size_t i = 0; i < btz_json_count(values) && i < VALUES_MAX; i++) {
        btz_json_push(arena, shown, btz_json_at(values, i));
    }
    btz_json_setz(arena, completion, "values", shown);
    btz_json_set_int(arena, completion, "total", (int64_t)btz_json_count(values));
    btz_json_set_bool(arena, completion, "hasMore", btz_json_count(values) > VALUES_MAX);
    btz_json_setz(arena, out, "completion", completion);
    *result = out;
    return BTZ_OK;
}

static int answer_event(struct serving *s, const struct btz_mcp_server_event *event,
                        struct btz_err *err)
{
    struct btz_arena *arena;
    const struct btz_json *result = NULL;
    bool filled = false; /* a refusal is a text for the peer */
    int rc = BTZ_OK;

    if (event->kind == BTZ_MCP_SERVER_CANCELLED) {
        return BTZ_OK;
    }
    s->calls++;
    arena = btz_arena_new();
    switch (event->kind) {
    case BTZ_MCP_SERVER_CALL:
        rc = btz_stage_call(s->stage, 0, event->name, event->arguments, s->calls, &result, err);
        break;
    case BTZ_MCP_SERVER_PROMPT:
        filled = true;
        rc = btz_stage_prompt(s->stage, 0, event->name, event->arguments, s->calls, &result, err);
        break;
    case BTZ_MCP_SERVER_COMPLETE:
        filled = true;
        rc = complete(s, event, arena, &result, err);
        break;
    default:
        rc = btz_stage_read(s->stage, 0, event->name, s->calls, &result, err);
    }
    if (rc == BTZ_ENOTFOUND || (rc == BTZ_EINVAL && filled)) {
        rc = btz_mcp_server_reply_error(s->machine, event->token, BTZ_MCP_E_PARAMS,
                                        rc == BTZ_EINVAL ? btz_str_of(err->msg)
                                                         : BTZ_STR("there is nothing of that name"),
                                        NULL);
    } else if (rc == BTZ_OK) {
        rc = btz_mcp_server_reply_result(s->machine, event->token, result, err);
    }
    btz_arena_free(arena);
    return rc;
}
static int write_all(struct btz_str bytes)
{
    while (bytes.len) {
        ssize_t put = write(STDOUT_FILENO, bytes.ptr, bytes.len);

        if (put < 0 && errno != EINTR) {
            return BTZ_EIO;
        }
        if (put > 0) {
            bytes = btz_str_sub(bytes, (size_t)put, bytes.len);
        }
    }
    return BTZ_OK;
}

static int serve_lines(struct serving *s, struct btz_err *err)
{
    struct btz_mcp_server_event event;
    struct btz_str line;
    int rc;

    while ((rc = btz_mcp_frame_next(&s->frame, &line)) == BTZ_OK) {
        if ((rc = btz_mcp_server_feed(s->machine, line)) != BTZ_OK) {
            return btz_err_set(err, rc, "the server machine stopped");
        }
        while (btz_mcp_server_next_event(s->machine, &event)) {
            if ((rc = answer_event(s, &event, err)) != BTZ_OK) {
                return rc;
            }
        }
        while (btz_mcp_server_next_out(s->machine, &line)) {
            if (write_all(line) != BTZ_OK || write_all(BTZ_STR("\n")) != BTZ_OK) {
                return btz_err_set(err, BTZ_EIO, "standard output cannot be written: %s",
                                   strerror(errno));
            }
        }
    }
    return rc == BTZ_EAGAIN ? BTZ_OK : btz_err_set(err, rc, "a line of over 10 MiB came in");
}

static int serve(struct serving *s, struct btz_err *err)
{
    char chunk[65536];
    ssize_t got;
    int rc;

    while ((got = read(STDIN_FILENO, chunk, sizeof(chunk))) != 0) {
        if (got < 0) {
            if (errno == EINTR) {
                continue;
            }
            return btz_err_set(err, BTZ_EIO, "standard input cannot be read: %s", strerror(errno));
        }
        rc = btz_mcp_frame_feed(&s->frame, (struct btz_str){chunk, (size_t)got});
        if (rc == BTZ_OK) {
            rc = serve_lines(s, err);
        }
        if (rc != BTZ_OK) {
            return rc;
        }
    }
    return BTZ_OK;
}

static int make_machine(struct btz_context *context, struct serving *s, struct btz_err *err)
{
    const struct btz_stage_server *server = btz_stage_server_at(s->stage, 0);
    struct btz_json *info = btz_json_new_object(context->arena);
    struct btz_mcp_server_options options = {
        .page_size = (size_t)btz_args_int(context->args, "page-size", 100), .completions = true};
    struct btz_mcp_catalogue catalogue = {
        .server_info = info,
        .instructions = server->instructions.len ? server->instructions : BTZ_STR_NONE,
        .tools = server->tools,
        .resources = btz_json_count(server->resources) ? server->resources : NULL,
        .templates = btz_json_count(server->templates) ? server->templates : NULL,
        .prompts = btz_json_count(server->prompts) ? server->prompts : NULL,
    };

    btz_json_set_str(context->arena, info, "name", server->label);
    btz_json_set_strz(context->arena, info, "version", "1.0.0");
    return btz_mcp_server_new(&options, &catalogue, &s->machine, err);
}

static int run(struct btz_context *context, struct btz_err *err)
{
    struct btz_str name = btz_str_of(btz_args_text(context->args, "server", ""));
    struct serving s = {0};
    struct btz_lab *lab = NULL;
    int rc = btz_cmd_lab(context, &lab, err);

    btz_mcp_frame_init(&s.frame, 0);
    if (rc == BTZ_OK && !btz_lab_server_find(lab, name)) {
        rc = btz_err_set(err, BTZ_EUSAGE,
                         "there is no server \"%.*s\"; `bartizan list servers` names them",
                         BTZ_FMT(name));
    }
    if (rc == BTZ_OK) {
        rc = btz_stage_new_plain(lab, &name, 1, (uint64_t)btz_args_int(context->args, "seed", 1),
                                 &s.stage, err);
    }
    if (rc == BTZ_OK) {
        rc = make_machine(context, &s, err);
    }
    if (rc == BTZ_OK) {
        rc = serve(&s, err);
    }
    btz_mcp_server_free(s.machine);
    btz_mcp_frame_fini(&s.frame);
    btz_stage_free(s.stage);
    btz_lab_free(lab);
    return rc;
}

static const struct btz_option options[] = {
    {"server", 0, BTZ_OPTION_TEXT, "ID", "the server", 0, 0},
    {"page-size", 0, BTZ_OPTION_INT, "N", "items of a list page", 1, 1000},
    {NULL, 0, BTZ_OPTION_FLAG, NULL, NULL, 0, 0},
};
static const char *const usage[] = {"--server ID", NULL};

const struct btz_command btz_command_serve = {
    .args = {.name = "serve",
             .summary = "serve one lab server over stdio",
             .usage = usage,
             .options = options},
    .hidden = true,
    .run = run,
};
