/* Modern requests that need input first (specification, multi round-trip requests). */
#include "mcp/ask.h"
#include "mcp/client_int.h"

/* Sends the original request again; its number for the owner stays. */
static int send_again(struct btz_mcp_client *client, struct request *request,
                      const struct btz_json *responses)
{
    struct btz_json *params = btz_json_shallow(request->arena, request->params);

    if (responses) {
        btz_json_setz(request->arena, params, "inputResponses", responses);
    }
    if (request->state.ptr) {
        btz_json_set_str(request->arena, params, "requestState", request->state);
    }
    return btz_mcp_client_send(client, request, params);
}

/* key -> method, for the check of the responses. */
static struct btz_json *methods_of(struct btz_arena *arena, const struct btz_json *requests)
{
    struct btz_json *methods = btz_json_new_object(arena);

    for (size_t i = 0; i < btz_json_count(requests); i++) {
        const struct btz_json *method = btz_json_getz(btz_json_value_at(requests, i), "method");

        btz_json_set(arena, methods, btz_json_key_at(requests, i),
                     btz_json_new_str(arena, btz_json_str(method)));
    }
    return methods;
}

/* What is wrong with an input_required result; 0 if nothing is. */
static int check_input(const struct btz_json *requests, const struct btz_json *state,
                       struct btz_err *err)
{
    if (state && !btz_json_is(state, BTZ_JSON_STRING)) {
        return btz_err_set(err, BTZ_EINVAL, "requestState must be a string");
    }
    if (!requests && !state) {
        return btz_err_set(err, BTZ_EINVAL,
                           "input_required has neither inputRequests nor requestState");
    }
    return requests ? btz_mcp_check_inputs(requests, err) : BTZ_OK;
}

int btz_mcp_client_take_input(struct received *in, struct request *request)
{
    struct btz_mcp_client *client = in->client;
    const struct btz_json *requests = btz_json_getz(in->message.result, "inputRequests");
    const struct btz_json *state = btz_json_getz(in->message.result, "requestState");
    struct btz_mcp_client_event event = {.kind = BTZ_MCP_CLIENT_INPUT, .request = request->handle};
    struct btz_err err;

    if (state && btz_json_is(requests, BTZ_JSON_OBJECT) && !btz_json_count(requests)) {
        requests = NULL;
    }
    if (check_input(requests, state, &err)) {
        btz_mcp_client_invalid(client, request, err.msg);
        return BTZ_OK;
    }
    if (btz_mcp_inputs_missing(in->arena, client->capabilities, requests)) {
        btz_mcp_client_fail(client, request, BTZ_MCP_FAULT_INPUT,
                            "the server asks for input (input_required) that this client did not "
                            "declare to give");
        return BTZ_OK;
    }
    if (request->rounds >= client->options.max_rounds) {
        btz_mcp_client_fail(client, request, BTZ_MCP_FAULT_LIMIT,
                            "the server asks for input more often than allowed");
        return BTZ_OK;
    }
    request->rounds++;
    request->state = state ? btz_arena_dup(request->arena, btz_json_str(state)) : BTZ_STR_NONE;
    if (!requests) {
        return send_again(client, request, NULL); /* only "come again with this state" */
    }
    request->methods = methods_of(request->arena, requests);
    request->waiting = true;
    request->wire_id = 0; /* nothing is out: a second answer to the old id is a late one */
    event.value = requests;
    event.round = request->rounds;
    btz_mcp_client_push(client, &event, in->arena);
    in->arena = NULL;
    return BTZ_OK;
}

static int check_responses(const struct request *request, const struct btz_json *responses,
                           struct btz_err *err)
{
    if (!btz_json_is(responses, BTZ_JSON_OBJECT)) {
        return btz_err_set(err, BTZ_EINVAL, "inputResponses must be an object");
    }
    for (size_t i = 0; i < btz_json_count(responses); i++) {
        struct btz_str key = btz_json_key_at(responses, i);
        const struct btz_json *method = btz_json_get(request->methods, key);
        int rc = method ? btz_mcp_check_answer(btz_json_str(method),
                                               btz_json_value_at(responses, i), err)
                        : btz_err_set(err, BTZ_EINVAL, "the server did not ask for it");

        if (rc) {
            btz_err_prefix(err, "inputResponses \"%.*s\": ", BTZ_FMT(key));
            return rc;
        }
    }
    return BTZ_OK;
}

int btz_mcp_client_answer_inputs(struct btz_mcp_client *client, uint64_t request,
                                 const struct btz_json *responses, struct btz_err *err)
{
    struct request *r = client->requests;
    int rc;

    if (client->state != CLIENT_READY) {
        return btz_err_set(err, BTZ_ESTATE, "the connection is closed");
    }
    while (r && !(r->waiting && r->handle == request)) {
        r = r->next;
    }
    if (!r) {
        return btz_err_set(err, BTZ_ENOTFOUND, "the request waits for no input");
    }
    rc = check_responses(r, responses, err);
    if (rc) {
        return rc;
    }
    rc = send_again(client, r, responses);
    if (rc) {
        r->waiting = true;
        r->wire_id = 0;
        return btz_err_set(err, rc, "the request does not fit into the queue");
    }
    return BTZ_OK;
}
