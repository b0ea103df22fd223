/* Host-profile switch server.seal_state: without it the state is the arguments as they are, and
 * whoever carries it may write into it; with it the state is sealed for this request. */
#include "lab/serve_rounds.h"
#include "lab/serve_ask.h"
#include "mcp/state.h"

enum { STATE_SECONDS = 3600 };

bool btz_stage_has_rounds(const struct btz_stage *stage, size_t server,
                          const struct btz_mcp_server_event *event)
{
    const struct btz_json *card = stage->variant ? stage->variant->pub.card : NULL;
    struct btz_str id = btz_json_str(btz_json_pointer(card, BTZ_STR("/setting/rounds")));

    return event->kind == BTZ_MCP_SERVER_CALL && id.len && server < stage->server_count &&
           btz_str_eq(stage->servers[server].pub.id, id) &&
           btz_mcp_era_of(event->revision) == BTZ_MCP_MODERN;
}

static struct btz_hash key_of(const struct btz_stage *stage, size_t server)
{
    struct btz_hasher *hasher = btz_hasher_new();
    struct btz_hash out;

    btz_hasher_add_part(hasher, BTZ_STR("rounds"));
    btz_hasher_add_part(hasher, (struct btz_str){(const char *)&stage->seed, sizeof(stage->seed)});
    btz_hasher_add_part(hasher, stage->servers[server].pub.id);
    out = btz_hasher_end(hasher);
    btz_hasher_free(hasher);
    return out;
}

/* The arguments that the state holds, or NULL if it is not one that the server would have given. */
static const struct btz_json *open_state(const struct btz_stage *stage, struct btz_str key,
                                         const struct btz_mcp_state_binding *binding,
                                         struct btz_str state, struct btz_arena *arena)
{
    const struct btz_json *arguments = NULL;

    if (stage->profile.safe[BTZ_SWITCH_SEAL_STATE] &&
        btz_mcp_state_open(arena, key, binding, state, stage->time, &state) != BTZ_OK) {
        return NULL;
    }
    if (btz_json_parse(arena, state, NULL, &arguments, NULL) != BTZ_OK ||
        !btz_json_is(arguments, BTZ_JSON_OBJECT)) {
        return NULL;
    }
    return arguments;
}

int btz_serve_round(struct btz_stage *stage, size_t server, struct btz_mcp_server *machine,
                    const struct btz_mcp_server_event *event, uint64_t cause,
                    const struct btz_json **result, struct btz_err *err)
{
    struct btz_hash hash = key_of(stage, server);
    struct btz_str key = {(const char *)hash.bytes, sizeof(hash.bytes)};
    const struct btz_mcp_state_binding binding = {
        .method = BTZ_STR("tools/call"), .name = event->name, .arguments = event->arguments};
    struct btz_str state = btz_json_text(stage->arena, event->arguments);
    struct btz_mcp_server_event second = *event;
    int rc = BTZ_OK;

    if (!event->request_state.ptr) {
        if (stage->profile.safe[BTZ_SWITCH_SEAL_STATE]) {
            rc = btz_mcp_state_seal(stage->arena, key, &binding, state, stage->time, STATE_SECONDS,
                                    &state);
        }
        return rc == BTZ_OK
                   ? btz_mcp_server_reply_input(machine, event->token, NULL, state, err)
                   : btz_err_set(err, BTZ_EINTERNAL, "the arguments of a call cannot be sealed");
    }
    second.request_state = BTZ_STR_NONE;
    second.arguments = open_state(stage, key, &binding, event->request_state, stage->arena);
    if (!second.arguments) {
        return btz_mcp_server_reply_error(
            machine, event->token, BTZ_MCP_E_PARAMS,
            BTZ_STR("requestState is none that this server gave for this request"), NULL);
    }
    return btz_serve_call(stage, server, machine, &second, cause, result, err);
}
