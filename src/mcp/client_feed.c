/* What happens to a message of the server. */
#include "mcp/client_int.h"

static bool is_modern(const struct btz_mcp_client *client)
{
    return btz_mcp_era_of(client->revision) == BTZ_MCP_MODERN;
}

/* Ends `request` with the result or the error of the message. */
static void deliver(struct received *in, struct request *request)
{
    struct btz_mcp_client *client = in->client;
    struct btz_mcp_client_event event = {.kind = btz_mcp_client_kind(request->method),
                                         .request = request->handle,
                                         .value = in->message.result,
                                         .pages = request->pages};

    if (in->message.kind == BTZ_MCP_ERROR) {
        event.fault = BTZ_MCP_FAULT_REMOTE;
        event.code = in->message.error_code;
        event.message = in->message.error_message;
        event.data = in->message.error_data;
    }
    btz_mcp_client_drop(client, request);
    btz_mcp_client_push(client, &event, in->arena);
    in->arena = NULL;
}

/* resultType of a modern result (specification, multi round-trip requests); false after the request
 * was ended. */
static bool check_type(struct received *in, struct request *request)
{
    const struct btz_json *type = btz_json_getz(in->message.result, "resultType");

    if (!is_modern(in->client)) {
        return true;
    }
    if (!type) {
        in->client->stats.untyped++;
        return true;
    }
    if (btz_str_is(btz_json_str(type), "complete")) {
        return true;
    }
    btz_mcp_client_invalid(in->client, request, "the result has an unknown resultType");
    return false;
}

static bool asks_for_input(const struct received *in, const struct request *request)
{
    const struct btz_json *type = btz_json_getz(in->message.result, "resultType");

    return is_modern(in->client) && btz_mcp_client_is_work(request->method) &&
           btz_str_is(btz_json_str(type), "input_required");
}

/* The final result of a listen stream names it (specification, "Subscriptions"). */
static bool names_stream(const struct btz_json *result, const struct request *request)
{
    const struct btz_json *named =
        btz_json_getz(btz_json_getz(result, "_meta"), BTZ_MCP_META "subscriptionId");
    struct btz_mcp_id id;

    return !named || (btz_mcp_id_read(named, &id) &&
                      btz_mcp_id_eq(id, btz_mcp_id_int((int64_t)request->wire_id)));
}

static int take_result(struct received *in, struct request *request)
{
    struct btz_mcp_client *client = in->client;
    struct btz_err err;
    int rc = BTZ_OK;

    if (asks_for_input(in, request)) {
        return btz_mcp_client_take_input(in, request);
    }
    if (!check_type(in, request)) {
        return BTZ_OK;
    }
    switch (btz_mcp_method_id(request->method)) {
    case BTZ_MCP_M_TOOLS_LIST:
    case BTZ_MCP_M_RESOURCES_LIST:
    case BTZ_MCP_M_TEMPLATES_LIST:
    case BTZ_MCP_M_PROMPTS_LIST:
        return btz_mcp_client_page(in, request);
    case BTZ_MCP_M_TOOLS_CALL:
        rc = btz_mcp_check_call_result(in->message.result, client->revision, &err);
        break;
    case BTZ_MCP_M_RESOURCES_READ:
        rc = btz_mcp_check_read_result(in->message.result, &err);
        break;
    case BTZ_MCP_M_PROMPTS_GET:
        rc = btz_mcp_check_prompt_result(in->message.result, &err);
        break;
    case BTZ_MCP_M_COMPLETE:
        rc = btz_mcp_check_complete_result(in->message.result, &err);
        break;
    case BTZ_MCP_M_LISTEN:
        if (!names_stream(in->message.result, request)) {
            rc = btz_err_set(&err, BTZ_EINVAL, "the result names another subscription");
        }
        break;
    default:
        break;
    }
    if (rc) {
        btz_err_prefix(&err, "result of %s: ", request->method->name);
        btz_mcp_client_invalid(client, request, err.msg);
    } else {
        deliver(in, request);
    }
    return BTZ_OK;
}

static void count_unknown(struct btz_mcp_client *client, struct btz_mcp_id id)
{
    if (id.kind == BTZ_MCP_ID_INTEGER && id.number > 0 && (uint64_t)id.number < client->next_id) {
        client->stats.late++;
    } else {
        client->stats.unknown_id++;
    }
}

static int take_response(struct received *in)
{
    struct btz_mcp_client *client = in->client;
    bool settled = client->state == CLIENT_READY;
    struct request *request = btz_mcp_client_by_id(client, in->message.id);

    /* An error that names no request can only mean the one that is out during the handshake. */
    if (!settled && in->message.kind == BTZ_MCP_ERROR && in->message.id.kind == BTZ_MCP_ID_NONE) {
        request = client->requests;
    }
    if (!request) {
        if (in->message.id.kind == BTZ_MCP_ID_NONE) {
            return btz_mcp_client_ignore(client,
                                         "the server reported an error without naming a request");
        }
        count_unknown(client, in->message.id);
        return BTZ_OK;
    }
    if (!settled) {
        return btz_mcp_client_handshake(in, request);
    }
    if (in->message.kind == BTZ_MCP_ERROR) {
        deliver(in, request);
        return BTZ_OK;
    }
    return take_result(in, request);
}

/* What cannot be read ends the request it would have answered, if that much could be read. */
static int take_unreadable(struct received *in, const struct btz_mcp_refusal *why)
{
    struct btz_mcp_client *client = in->client;
    struct request *request = why->answer ? NULL : btz_mcp_client_by_id(client, why->id);
    char text[1200];

    client->stats.unreadable++;
    btz_err_text(&why->err, text, sizeof(text));
    if (request && client->state == CLIENT_READY) {
        btz_mcp_client_invalid(client, request, text);
        return BTZ_OK;
    }
    btz_mcp_client_alarm(client, 0, text);
    return request ? btz_mcp_client_handshake_unreadable(client) : BTZ_OK;
}

int btz_mcp_client_feed(struct btz_mcp_client *client, struct btz_str message)
{
    struct received in = {.client = client, .bytes = message.len};
    struct btz_mcp_refusal why;
    int rc;

    if (client->state == CLIENT_DEAD || client->state == CLIENT_NEW) {
        return BTZ_ESTATE;
    }
    in.arena = btz_mcp_pool_take(&client->pool);
    if (btz_mcp_read(in.arena, message, &client->options.limits, &in.message, &why)) {
        rc = take_unreadable(&in, &why);
    } else {
        switch (in.message.kind) {
        case BTZ_MCP_REQUEST:
            rc = btz_mcp_client_take_request(&in);
            break;
        case BTZ_MCP_NOTIFICATION:
            rc = btz_mcp_client_take_notification(&in);
            break;
        default:
            rc = take_response(&in);
            break;
        }
    }
    btz_mcp_pool_give(&client->pool, in.arena);
    if (rc && client->state != CLIENT_DEAD) {
        btz_mcp_client_dead(client,
                            (struct btz_mcp_client_event){
                                .fault = BTZ_MCP_FAULT_LIMIT,
                                .message = BTZ_STR("the queue of outgoing messages is full")},
                            NULL);
    }
    return rc;
}
