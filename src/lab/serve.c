/* The catalogue of a stage's server, and its answers to a peer. */
#include "lab/serve_ask.h"
#include "lab/serve_rounds.h"

/* MCP 2025-11-25 and 2026-07-28, "Completion": at most 100 values; `total` says how many there are.
 */
enum { MAX_VALUES = 100 };

struct btz_mcp_catalogue btz_stage_catalogue(struct btz_arena *arena,
                                             const struct btz_stage_server *server)
{
    struct btz_json *info = btz_json_new_object(arena);

    btz_json_set_str(arena, info, "name", server->label);
    btz_json_set_strz(arena, info, "version", "1.0.0");
    return (struct btz_mcp_catalogue){
        .server_info = info,
        .instructions = server->instructions.len ? server->instructions : BTZ_STR_NONE,
        .tools = server->tools,
        .resources = btz_json_count(server->resources) ? server->resources : NULL,
        .prompts = btz_json_count(server->prompts) ? server->prompts : NULL,
        .templates = btz_json_count(server->templates) ? server->templates : NULL,
    };
}

static const struct btz_json *completion_of(struct btz_arena *arena, const struct btz_json *values)
{
    size_t count = btz_json_count(values);
    struct btz_json *list = btz_json_new_array(arena);
    struct btz_json *completion = btz_json_new_object(arena);
    struct btz_json *result = btz_json_new_object(arena);

    for (size_t i = 0; i < count && i < MAX_VALUES; i++) {
        btz_json_push(arena, list, btz_json_at(values, i));
    }
    btz_json_setz(arena, completion, "values", list);
    btz_json_set_int(arena, completion, "total", (int64_t)count);
    btz_json_set_bool(arena, completion, "hasMore", count > MAX_VALUES);
    btz_json_setz(arena, result, "completion", completion);
    return result;
}

static int complete(struct btz_stage *stage, size_t server,
                    const struct btz_mcp_server_event *event, struct btz_arena *arena,
                    const struct btz_json **result, struct btz_err *err)
{
    struct btz_json *reference = btz_json_new_object(arena);
    const struct btz_json *values = NULL;
    bool prompt = event->ref == BTZ_MCP_REF_PROMPT;
    int rc;

    btz_json_set_strz(arena, reference, "type", prompt ? "ref/prompt" : "ref/resource");
    btz_json_set_str(arena, reference, prompt ? "name" : "uri", event->name);
    rc = btz_stage_complete(stage, server, reference, event->argument, event->value,
                            event->arguments, &values, err);
    if (rc == BTZ_OK) {
        *result = completion_of(arena, values);
    }
    return rc;
}

static int answer(struct btz_stage *stage, size_t server, const struct btz_mcp_server_event *event,
                  uint64_t cause, struct btz_arena *arena, const struct btz_json **result,
                  struct btz_err *err)
{
    switch (event->kind) {
    case BTZ_MCP_SERVER_READ:
        return btz_stage_read(stage, server, event->name, cause, result, err);
    case BTZ_MCP_SERVER_PROMPT:
        return btz_stage_prompt(stage, server, event->name, event->arguments, cause, result, err);
    default:
        return complete(stage, server, event, arena, result, err);
    }
}

int btz_stage_serve(struct btz_stage *stage, size_t server, struct btz_mcp_server *machine,
                    const struct btz_mcp_server_event *event, uint64_t cause,
                    const struct btz_json **result, struct btz_err *err)
{
    bool asks = event->kind == BTZ_MCP_SERVER_READ || event->kind == BTZ_MCP_SERVER_PROMPT ||
                event->kind == BTZ_MCP_SERVER_COMPLETE;
    bool checks = event->kind == BTZ_MCP_SERVER_PROMPT || event->kind == BTZ_MCP_SERVER_COMPLETE;
    struct btz_arena *arena;
    int rc;

    *result = NULL;
    if (event->kind == BTZ_MCP_SERVER_CALL) {
        return btz_stage_has_rounds(stage, server, event)
                   ? btz_serve_round(stage, server, machine, event, cause, result, err)
                   : btz_serve_call(stage, server, machine, event, cause, result, err);
    }
    if (event->kind == BTZ_MCP_SERVER_ANSWER) {
        return btz_serve_answer(stage, machine, event, result, err);
    }
    if (!asks) {
        return BTZ_OK;
    }
    arena = btz_arena_new();
    rc = answer(stage, server, event, cause, arena, result, err);
    if (rc == BTZ_ENOTFOUND || (rc == BTZ_EINVAL && checks)) {
        rc = btz_mcp_server_reply_error(
            machine, event->token, BTZ_MCP_E_PARAMS,
            rc == BTZ_EINVAL ? btz_str_of(err->msg) : BTZ_STR("no such resource"), NULL);
    } else if (rc == BTZ_OK) {
        rc = btz_mcp_server_reply_result(machine, event->token, *result, err);
    }
    if (event->kind == BTZ_MCP_SERVER_COMPLETE) {
        *result = NULL; /* of the arena below, and nobody's record */
    }
    btz_arena_free(arena);
    return rc;
}
