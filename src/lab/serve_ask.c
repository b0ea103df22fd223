/* Calls that ask the client, over the wire.
 *
 * Modern clients get input_required and send the call again; what was answered before goes with
 * them as sealed state, so that the server keeps nothing. Legacy clients get a request of the
 * server while their call is open. */
#include "lab/serve_ask.h"

#include "base/hash.h"
#include "mcp/state.h"

enum { STATE_SECONDS = 3600 };
#define QUESTION "question" /* key of the one question of a round */

/* A call of a legacy client that was asked. */
struct waiting {
    struct waiting *next;
    const struct btz_mcp_server *machine;
    uint64_t ask, token;
    size_t server;
    struct btz_str name;
    const struct btz_json *arguments;
    const struct btz_json *capabilities;
    struct btz_json *answers;
    uint64_t cause;
    bool modern;
};

static struct btz_hash state_key(const struct btz_stage *stage)
{
    struct btz_hasher *hasher = btz_hasher_new();
    struct btz_hash hash;

    btz_hasher_add_part(hasher, BTZ_STR("state"));
    btz_hasher_add_part(hasher, (struct btz_str){(const char *)&stage->seed, sizeof(stage->seed)});
    hash = btz_hasher_end(hasher);
    btz_hasher_free(hasher);
    return hash;
}

static struct btz_mcp_state_binding binding_of(const struct waiting *call)
{
    return (struct btz_mcp_state_binding){
        .method = BTZ_STR("tools/call"), .name = call->name, .arguments = call->arguments};
}

static void add_answer(struct btz_stage *stage, struct btz_json *answers, struct btz_str method,
                       const struct btz_json *result, const char *error)
{
    struct btz_json *answer = btz_json_new_object(stage->arena);

    btz_json_set_str(stage->arena, answer, "method", method);
    if (result) {
        btz_json_setz(stage->arena, answer, "result", btz_json_dup(stage->arena, result));
    } else {
        btz_json_set_strz(stage->arena, answer, "error", error);
    }
    btz_json_push(stage->arena, answers, answer);
}

/* input_required with the question. The state holds the answers so far and the question's method,
 * by which an answer that is left out is known. */
static int ask_modern(struct btz_stage *stage, struct waiting *call, struct btz_mcp_server *machine,
                      const struct btz_json *question, struct btz_err *err)
{
    struct btz_arena *arena = stage->arena;
    struct btz_hash key = state_key(stage);
    struct btz_mcp_state_binding binding = binding_of(call);
    struct btz_json *state = btz_json_new_object(arena);
    struct btz_json *requests = btz_json_new_object(arena);
    struct btz_str sealed = BTZ_STR_NONE;
    int rc;

    btz_json_setz(arena, state, "answers", call->answers);
    btz_json_setz(arena, state, "method", btz_json_getz(question, "method"));
    rc = btz_mcp_state_seal(arena, (struct btz_str){(const char *)&key, sizeof(key)}, &binding,
                            btz_json_text(arena, state), stage->time, STATE_SECONDS, &sealed);
    if (rc != BTZ_OK) {
        return rc;
    }
    btz_json_setz(arena, requests, QUESTION, question);
    return btz_mcp_server_reply_input(machine, call->token, requests, sealed, err);
}

static int ask_legacy(struct btz_stage *stage, struct waiting *call, struct btz_mcp_server *machine,
                      const struct btz_json *question, struct btz_err *err)
{
    const struct btz_json *params = btz_json_getz(question, "params");
    struct waiting *kept;
    int rc;

    if (btz_str_is(btz_json_str(btz_json_getz(params, "mode")), "url")) {
        struct btz_json *with_id = btz_json_shallow(stage->arena, params);

        btz_json_set_str(stage->arena, with_id, "elicitationId",
                         btz_arena_printf(stage->arena, "elicitation-%llu-%zu",
                                          (unsigned long long)call->token,
                                          btz_json_count(call->answers) + 1));
        params = with_id;
    }
    rc = btz_mcp_server_ask(machine, call->token, btz_json_str(btz_json_getz(question, "method")),
                            params, &call->ask, err);
    if (rc != BTZ_OK) {
        return rc;
    }
    kept = BTZ_NEW(stage->arena, struct waiting);
    *kept = *call;
    kept->next = stage->waiting;
    stage->waiting = kept;
    return BTZ_OK;
}

/* Runs the call with the answers there are; a question that the client cannot be asked is answered
 * here, and the script goes on. */
static int go_on(struct btz_stage *stage, struct waiting *call, struct btz_mcp_server *machine,
                 const struct btz_json **result, struct btz_err *err)
{
    int rc;

    for (;;) {
        struct btz_stage_dialogue dialogue = {.capabilities = call->capabilities,
                                              .answers = call->answers};
        struct btz_str method;

        rc = btz_stage_call_asking(stage, call->server, call->name, call->arguments, call->cause,
                                   &dialogue, result, err);
        if (rc != BTZ_OK || !dialogue.question) {
            break;
        }
        method = btz_json_str(btz_json_getz(dialogue.question, "method"));
        rc = call->modern ? ask_modern(stage, call, machine, dialogue.question, err)
                          : ask_legacy(stage, call, machine, dialogue.question, err);
        if (rc == BTZ_EUNSUPPORTED && !call->modern) {
            add_answer(stage, call->answers, method, NULL, "unsupported");
        } else if (rc == BTZ_ELIMIT) {
            add_answer(stage, call->answers, method, NULL, "limit");
        } else {
            return rc;
        }
    }
    if (rc == BTZ_ENOTFOUND) {
        return btz_mcp_server_reply_error(machine, call->token, BTZ_MCP_E_PARAMS,
                                          BTZ_STR("no such tool or resource"), NULL);
    }
    return rc == BTZ_OK ? btz_mcp_server_reply_result(machine, call->token, *result, err) : rc;
}

/* What a modern client sends with a call that was answered with a question. BTZ_EINVAL if the state
 * is not one of this server for this call. */
static int take_round(struct btz_stage *stage, struct waiting *call,
                      const struct btz_mcp_server_event *event)
{
    struct btz_hash key = state_key(stage);
    struct btz_mcp_state_binding binding = binding_of(call);
    const struct btz_json *state = NULL;
    const struct btz_json *answers;
    struct btz_str payload = BTZ_STR_NONE;
    int rc = btz_mcp_state_open(stage->arena, (struct btz_str){(const char *)&key, sizeof(key)},
                                &binding, event->request_state, stage->time, &payload);

    if (rc == BTZ_OK) {
        rc = btz_json_parse(stage->arena, payload, NULL, &state, NULL);
    }
    if (rc != BTZ_OK) {
        return BTZ_EINVAL;
    }
    answers = btz_json_getz(state, "answers");
    for (size_t i = 0; i < btz_json_count(answers); i++) {
        btz_json_push(stage->arena, call->answers, btz_json_at(answers, i));
    }
    add_answer(stage, call->answers, btz_json_str(btz_json_getz(state, "method")),
               btz_json_getz(event->inputs, QUESTION), "declined");
    return BTZ_OK;
}

int btz_serve_call(struct btz_stage *stage, size_t server, struct btz_mcp_server *machine,
                   const struct btz_mcp_server_event *event, uint64_t cause,
                   const struct btz_json **result, struct btz_err *err)
{
    struct btz_arena *arena = stage->arena;
    struct waiting call = {.machine = machine,
                           .token = event->token,
                           .server = server,
                           .name = btz_arena_dup(arena, event->name),
                           .arguments = btz_json_dup(arena, event->arguments),
                           .capabilities = event->client_capabilities
                                               ? btz_json_dup(arena, event->client_capabilities)
                                               : NULL,
                           .answers = btz_json_new_array(arena),
                           .cause = cause,
                           .modern = btz_mcp_era_of(event->revision) == BTZ_MCP_MODERN};

    if (event->request_state.ptr && take_round(stage, &call, event) != BTZ_OK) {
        return btz_mcp_server_reply_error(machine, event->token, BTZ_MCP_E_PARAMS,
                                          BTZ_STR("requestState is not one of this call"), NULL);
    }
    return go_on(stage, &call, machine, result, err);
}

int btz_serve_answer(struct btz_stage *stage, struct btz_mcp_server *machine,
                     const struct btz_mcp_server_event *event, const struct btz_json **result,
                     struct btz_err *err)
{
    struct waiting **link = &stage->waiting;
    struct waiting call;

    while (*link && ((*link)->machine != machine || (*link)->ask != event->ask)) {
        link = &(*link)->next;
    }
    if (!*link) {
        return BTZ_OK; /* the call it belongs to is over */
    }
    call = **link;
    *link = (*link)->next;
    /* A result that breaks its shape comes as an error of the machine, and counts as one. */
    add_answer(stage, call.answers, event->name, event->result, "declined");
    return go_on(stage, &call, machine, result, err);
}
