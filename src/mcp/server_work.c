/* Requests that the owner answers: calls, reads, prompts, completions. */
#include "mcp/server_int.h"

/* Answers to an earlier input_required of the same request; false if they are malformed. */
static bool read_inputs(const struct incoming *in, struct btz_mcp_server_event *event)
{
    const struct btz_json *inputs = btz_json_getz(in->message.params, "inputResponses");
    const struct btz_json *state = btz_json_getz(in->message.params, "requestState");

    if (btz_mcp_era_of(in->revision) == BTZ_MCP_LEGACY ||
        in->method == btz_mcp_method_at(BTZ_MCP_M_COMPLETE)) {
        return true;
    }
    event->inputs = inputs;
    event->request_state = btz_json_str(state);
    return (!inputs || btz_json_is(inputs, BTZ_JSON_OBJECT)) &&
           (!state || btz_json_is(state, BTZ_JSON_STRING));
}

/* What every event of a request says. */
static void describe(const struct incoming *in, struct btz_mcp_server_event *event)
{
    const struct session *session = &in->server->session;
    bool modern = btz_mcp_era_of(in->revision) == BTZ_MCP_MODERN;

    event->revision = in->revision;
    event->meta = in->meta;
    event->params = in->message.params;
    event->request_id = in->message.id;
    event->client_info =
        modern ? btz_json_getz(in->meta, BTZ_MCP_META "clientInfo") : session->client_info;
    event->client_capabilities = modern ? btz_json_getz(in->meta, BTZ_MCP_META "clientCapabilities")
                                        : session->client_capabilities;
}

/* Hands the request over to the owner; kind, name and arguments are in `event`. */
static int open_call(struct incoming *in, struct btz_mcp_server_event event)
{
    struct btz_mcp_server *server = in->server;
    const struct btz_json *token = btz_json_getz(in->meta, "progressToken");
    struct call *call;

    describe(in, &event);
    if (token && !btz_mcp_id_read(token, &event.progress_token)) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_PARAMS, 200,
                                     "_meta.progressToken must be a string or a plain integer",
                                     NULL);
    }
    if (!read_inputs(in, &event)) {
        return btz_mcp_server_refuse(
            in, BTZ_MCP_E_PARAMS, 200,
            "\"inputResponses\" must be an object and \"requestState\" a string", NULL);
    }
    if (server->call_count >= server->options.max_in_flight) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_INTERNAL, 200,
                                     "too many requests are in flight; wait for an answer", NULL);
    }
    if (!event.arguments) {
        event.arguments = btz_json_new_object(in->arena);
    }
    event.token = server->next_token++;
    call = BTZ_NEW(in->arena, struct call);
    call->arena = in->arena;
    call->method = in->method;
    call->id = in->message.id;
    call->log_level = -1;
    if (btz_mcp_era_of(in->revision) == BTZ_MCP_MODERN) {
        call->log_level =
            btz_mcp_log_level(btz_json_str(btz_json_getz(in->meta, BTZ_MCP_META "logLevel")));
    }
    call->event = event;
    in->arena = NULL;
    btz_mcp_server_add_call(server, call);
    return BTZ_OK;
}

static int tools_call(struct incoming *in)
{
    const struct btz_json *name = btz_json_getz(in->message.params, "name");
    const struct btz_json *arguments = btz_json_getz(in->message.params, "arguments");

    if (!btz_json_is(name, BTZ_JSON_STRING)) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_PARAMS, 200, "\"name\" must be a string", NULL);
    }
    if (arguments && !btz_json_is(arguments, BTZ_JSON_OBJECT)) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_PARAMS, 200, "\"arguments\" must be an object",
                                     NULL);
    }
    if (!btz_mcp_offer_find(in->server->offer.tools, "name", btz_json_str(name))) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_PARAMS, 200,
                                     "unknown tool; tools/list names those that exist", NULL);
    }
    return open_call(in, (struct btz_mcp_server_event){.kind = BTZ_MCP_SERVER_CALL,
                                                       .name = btz_json_str(name),
                                                       .arguments = arguments});
}

static int resources_read(struct incoming *in)
{
    struct btz_str uri = btz_json_str(btz_json_getz(in->message.params, "uri"));

    if (!uri.len) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_PARAMS, 200,
                                     "\"uri\" must be a string that is not empty", NULL);
    }
    return open_call(in, (struct btz_mcp_server_event){.kind = BTZ_MCP_SERVER_READ, .name = uri});
}

/* An object whose values are all strings, or NULL. */
static bool is_strings(const struct btz_json *value)
{
    if (value && !btz_json_is(value, BTZ_JSON_OBJECT)) {
        return false;
    }
    for (size_t i = 0; i < btz_json_count(value); i++) {
        if (!btz_json_is(btz_json_value_at(value, i), BTZ_JSON_STRING)) {
            return false;
        }
    }
    return true;
}

/* True if `arguments` lacks one that `prompt` requires. */
static bool lacks_argument(const struct btz_json *prompt, const struct btz_json *arguments)
{
    const struct btz_json *all = btz_json_getz(prompt, "arguments");

    for (size_t i = 0; i < btz_json_count(all); i++) {
        const struct btz_json *one = btz_json_at(all, i);

        if (btz_json_bool(btz_json_getz(one, "required"), false) &&
            !btz_json_get(arguments, btz_json_str(btz_json_getz(one, "name")))) {
            return true;
        }
    }
    return false;
}

static int prompts_get(struct incoming *in)
{
    const struct btz_json *name = btz_json_getz(in->message.params, "name");
    const struct btz_json *arguments = btz_json_getz(in->message.params, "arguments");
    const struct btz_json *prompt;

    if (!btz_json_is(name, BTZ_JSON_STRING)) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_PARAMS, 200, "\"name\" must be a string", NULL);
    }
    if (!is_strings(arguments)) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_PARAMS, 200,
                                     "\"arguments\" must be an object of strings", NULL);
    }
    prompt = btz_mcp_offer_find(in->server->offer.prompts, "name", btz_json_str(name));
    if (!prompt) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_PARAMS, 200,
                                     "unknown prompt; prompts/list names those that exist", NULL);
    }
    if (lacks_argument(prompt, arguments)) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_PARAMS, 200,
                                     "an argument that the prompt requires is missing", NULL);
    }
    return open_call(in, (struct btz_mcp_server_event){.kind = BTZ_MCP_SERVER_PROMPT,
                                                       .name = btz_json_str(name),
                                                       .arguments = arguments});
}

/* {"type":"ref/prompt","name"} or {"type":"ref/resource","uri"}; false if it is neither. */
static bool read_reference(const struct btz_json *ref, struct btz_mcp_server_event *event)
{
    struct btz_str type = btz_json_str(btz_json_getz(ref, "type"));
    bool prompt = btz_str_is(type, "ref/prompt");

    event->ref = prompt ? BTZ_MCP_REF_PROMPT : BTZ_MCP_REF_RESOURCE;
    event->name = btz_json_str(btz_json_getz(ref, prompt ? "name" : "uri"));
    return event->name.len && (prompt || btz_str_is(type, "ref/resource"));
}

static int complete(struct incoming *in)
{
    const struct btz_json *params = in->message.params;
    const struct btz_json *argument = btz_json_getz(params, "argument");
    const struct btz_json *name = btz_json_getz(argument, "name");
    const struct btz_json *value = btz_json_getz(argument, "value");
    const struct btz_json *context = btz_json_getz(params, "context");
    struct btz_mcp_server_event event = {.kind = BTZ_MCP_SERVER_COMPLETE,
                                         .argument = btz_json_str(name),
                                         .value = btz_json_str(value),
                                         .arguments = btz_json_getz(context, "arguments")};

    if (!read_reference(btz_json_getz(params, "ref"), &event) ||
        !btz_json_is(name, BTZ_JSON_STRING) || !btz_json_is(value, BTZ_JSON_STRING) ||
        (context && !btz_json_is(context, BTZ_JSON_OBJECT)) || !is_strings(event.arguments)) {
        return btz_mcp_server_refuse(
            in, BTZ_MCP_E_PARAMS, 200,
            "completion/complete needs ref (ref/prompt with name or ref/resource with uri) and "
            "argument with the strings name and value; context.arguments must be strings",
            NULL);
    }
    if (event.ref == BTZ_MCP_REF_PROMPT &&
        !btz_mcp_offer_find(in->server->offer.prompts, "name", event.name)) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_PARAMS, 200,
                                     "unknown prompt; prompts/list names those that exist", NULL);
    }
    return open_call(in, event);
}

int btz_mcp_server_work(struct incoming *in)
{
    switch (btz_mcp_method_id(in->method)) {
    case BTZ_MCP_M_TOOLS_CALL:
        return tools_call(in);
    case BTZ_MCP_M_RESOURCES_READ:
        return resources_read(in);
    case BTZ_MCP_M_PROMPTS_GET:
        return prompts_get(in);
    default:
        return complete(in);
    }
}
