/* Uses whatever the server at the URL (the last argument) offers: lists tools, resources and
 * prompts, calls every tool, reads every resource, fills every prompt, all at once; then ends the
 * session. MCP_CONFORMANCE_PROTOCOL_VERSION chooses the era to begin with, MCP_CONFORMANCE_CONTEXT
 * may hold the calls to make. Exit code 1 if something was not answered as it has to be. */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000)
#define PATIENCE (15 * SECOND)

struct script {
    struct carrier carrier;
    struct btz_mcp_client *client;
    struct btz_arena *arena;
    const struct btz_json *context;
    size_t waiting; /* requests whose answers have not come */
    bool ready, failed;
};

static void fail(struct script *s, const char *what, struct btz_str detail)
{
    fprintf(stderr, "client: %s: %.*s\n", what, BTZ_FMT(detail));
    s->failed = true;
}

static void started(struct script *s, int rc, const char *what)
{
    if (rc) {
        fail(s, what, btz_arena_printf(s->arena, "not sent: %d", rc));
    } else {
        s->waiting++;
    }
}

/* ---- values by schema ---- */

/* The default, the first of an enum, or something plain of the right type. */
static const struct btz_json *value_for(struct btz_arena *arena, const struct btz_json *schema)
{
    const struct btz_json *given = btz_json_getz(schema, "default");
    const struct btz_json *choice = btz_json_getz(schema, "enum");
    const struct btz_json *titled = btz_json_getz(schema, "oneOf");
    struct btz_str type = btz_json_str(btz_json_getz(schema, "type"));

    if (given) {
        return given;
    }
    if (btz_json_count(choice)) {
        return btz_json_at(choice, 0);
    }
    if (btz_json_getz(btz_json_at(titled, 0), "const")) {
        return btz_json_getz(btz_json_at(titled, 0), "const");
    }
    if (btz_str_is(type, "integer") || btz_str_is(type, "number")) {
        return btz_json_new_int(arena, 7);
    }
    if (btz_str_is(type, "boolean")) {
        return btz_json_new_bool(arena, true);
    }
    if (btz_str_is(type, "array")) {
        return btz_json_new_array(arena);
    }
    return btz_str_is(type, "object") ? btz_json_new_object(arena)
                                      : btz_json_new_strz(arena, "something");
}

static bool is_required(const struct btz_json *schema, struct btz_str name)
{
    const struct btz_json *required = btz_json_getz(schema, "required");

    for (size_t i = 0; i < btz_json_count(required); i++) {
        if (btz_str_eq(btz_json_str(btz_json_at(required, i)), name)) {
            return true;
        }
    }
    return false;
}

/* An object of the required properties, and with `defaults` of those that have one. */
static struct btz_json *object_for(struct btz_arena *arena, const struct btz_json *schema,
                                   bool defaults)
{
    const struct btz_json *properties = btz_json_getz(schema, "properties");
    struct btz_json *object = btz_json_new_object(arena);

    for (size_t i = 0; i < btz_json_count(properties); i++) {
        struct btz_str name = btz_json_key_at(properties, i);
        const struct btz_json *property = btz_json_value_at(properties, i);

        if (is_required(schema, name) || (defaults && btz_json_getz(property, "default"))) {
            btz_json_set(arena, object, name, value_for(arena, property));
        }
    }
    return object;
}

/* ---- the server's questions ---- */

/* A user who accepts forms as they are, and a model that says one sentence. */
static struct btz_json *answer_for(struct btz_arena *arena, struct btz_str method,
                                   const struct btz_json *params)
{
    struct btz_json *result = btz_json_new_object(arena);

    if (btz_str_is(method, "elicitation/create")) {
        btz_json_set_strz(arena, result, "action", "accept");
        btz_json_setz(arena, result, "content",
                      object_for(arena, btz_json_getz(params, "requestedSchema"), true));
    } else if (btz_str_is(method, "sampling/createMessage")) {
        struct btz_json *block = btz_json_new_object(arena);

        btz_json_set_strz(arena, block, "type", "text");
        btz_json_set_strz(arena, block, "text", "This is what the model says.");
        btz_json_set_strz(arena, result, "role", "assistant");
        btz_json_setz(arena, result, "content", block);
        btz_json_set_strz(arena, result, "model", "none");
    } else {
        btz_json_setz(arena, result, "roots", btz_json_new_array(arena));
    }
    return result;
}

static void answer_asked(struct script *s, const struct btz_mcp_client_event *event)
{
    struct btz_err err;

    if (btz_mcp_client_answer(s->client, event->ask,
                              answer_for(s->arena, event->method, event->params), &err)) {
        fail(s, "an answer was refused", btz_str_of(err.msg));
    }
}

static void answer_inputs(struct script *s, const struct btz_mcp_client_event *event)
{
    struct btz_json *responses = btz_json_new_object(s->arena);
    struct btz_err err;

    for (size_t i = 0; i < btz_json_count(event->value); i++) {
        const struct btz_json *request = btz_json_value_at(event->value, i);

        btz_json_set(s->arena, responses, btz_json_key_at(event->value, i),
                     answer_for(s->arena, btz_json_str(btz_json_getz(request, "method")),
                                btz_json_getz(request, "params")));
    }
    if (btz_mcp_client_answer_inputs(s->client, event->request, responses, &err)) {
        fail(s, "inputs were refused", btz_str_of(err.msg));
    }
}

/* ---- the script ---- */

static void call(struct script *s, struct btz_str name, const struct btz_json *arguments)
{
    started(s, btz_mcp_client_call_tool(s->client, name, arguments, NULL), "tools/call");
}

/* Arguments of the context for a tool, or NULL. */
static bool call_as_told(struct script *s, struct btz_str name)
{
    const struct btz_json *calls = btz_json_getz(s->context, "toolCalls");
    bool told = false;

    for (size_t i = 0; i < btz_json_count(calls); i++) {
        const struct btz_json *each = btz_json_at(calls, i);

        if (btz_str_eq(btz_json_str(btz_json_getz(each, "name")), name)) {
            call(s, name, btz_json_getz(each, "arguments"));
            told = true;
        }
    }
    return told;
}

/* A tool that wants a schema gets that of the first tool: what the client keeps of it shows. */
static void call_all(struct script *s, const struct btz_json *tools)
{
    const struct btz_json *first = btz_json_getz(btz_json_at(tools, 0), "inputSchema");

    for (size_t i = 0; i < btz_json_count(tools); i++) {
        const struct btz_json *tool = btz_json_at(tools, i);
        struct btz_str name = btz_json_str(btz_json_getz(tool, "name"));
        const struct btz_json *schema = btz_json_getz(tool, "inputSchema");
        struct btz_json *arguments = object_for(s->arena, schema, false);

        if (call_as_told(s, name)) {
            continue;
        }
        if (btz_json_getz(arguments, "schema")) {
            btz_json_setz(s->arena, arguments, "schema", first);
        }
        call(s, name, arguments);
    }
}

static void read_all(struct script *s, const struct btz_json *resources)
{
    for (size_t i = 0; i < btz_json_count(resources); i++) {
        started(s,
                btz_mcp_client_read_resource(
                    s->client, btz_json_str(btz_json_getz(btz_json_at(resources, i), "uri")), NULL),
                "resources/read");
    }
}

static void fill_all(struct script *s, const struct btz_json *prompts)
{
    for (size_t i = 0; i < btz_json_count(prompts); i++) {
        const struct btz_json *prompt = btz_json_at(prompts, i);
        const struct btz_json *wanted = btz_json_getz(prompt, "arguments");
        struct btz_json *arguments = btz_json_new_object(s->arena);

        for (size_t k = 0; k < btz_json_count(wanted); k++) {
            btz_json_set(s->arena, arguments,
                         btz_json_str(btz_json_getz(btz_json_at(wanted, k), "name")),
                         btz_json_new_strz(s->arena, "something"));
        }
        started(s,
                btz_mcp_client_get_prompt(s->client, btz_json_str(btz_json_getz(prompt, "name")),
                                          arguments, NULL),
                "prompts/get");
    }
}

/* Tools are asked for even if they are not announced: some servers of the suite forget to. */
static void begin(struct script *s, const struct btz_mcp_client_event *event)
{
    s->ready = true;
    started(s, btz_mcp_client_list_tools(s->client, NULL), "tools/list");
    if (btz_json_getz(event->capabilities, "resources")) {
        started(s, btz_mcp_client_list_resources(s->client, NULL), "resources/list");
    }
    if (btz_json_getz(event->capabilities, "prompts")) {
        started(s, btz_mcp_client_list_prompts(s->client, NULL), "prompts/list");
    }
}

static void take_answer(struct script *s, const struct btz_mcp_client_event *event)
{
    const struct btz_json *value;

    s->waiting--;
    if (event->fault) {
        fail(s, "a request failed", event->message);
        return;
    }
    value = btz_json_dup(s->arena, event->value);
    if (event->kind == BTZ_MCP_CLIENT_TOOLS) {
        call_all(s, value);
    } else if (event->kind == BTZ_MCP_CLIENT_RESOURCES) {
        read_all(s, value);
    } else if (event->kind == BTZ_MCP_CLIENT_PROMPTS) {
        fill_all(s, value);
    } else {
        printf("%.*s\n", BTZ_FMT(btz_json_text(s->arena, value)));
    }
}

static void take_event(struct script *s, const struct btz_mcp_client_event *event)
{
    switch (event->kind) {
    case BTZ_MCP_CLIENT_READY:
        begin(s, event);
        break;
    case BTZ_MCP_CLIENT_FAILED:
        fail(s, "no handshake", event->message);
        break;
    case BTZ_MCP_CLIENT_TOOLS:
    case BTZ_MCP_CLIENT_RESOURCES:
    case BTZ_MCP_CLIENT_PROMPTS:
    case BTZ_MCP_CLIENT_RESULT:
        take_answer(s, event);
        break;
    case BTZ_MCP_CLIENT_ASKED:
        answer_asked(s, event);
        break;
    case BTZ_MCP_CLIENT_INPUT:
        answer_inputs(s, event);
        break;
    case BTZ_MCP_CLIENT_PROTOCOL_ERROR:
        fprintf(stderr, "client: the server broke a rule: %.*s\n", BTZ_FMT(event->message));
        break;
    default:
        break;
    }
}

static void run(struct script *s)
{
    int64_t until = btz_net_loop_now(s->carrier.loop) + PATIENCE;
    struct btz_mcp_client_event event;

    while ((!s->ready && !s->failed) || s->waiting) {
        bool moved = carrier_pump(&s->carrier);

        while (btz_mcp_client_next_event(s->client, &event)) {
            moved = true;
            take_event(s, &event);
        }
        if (moved) {
            continue;
        }
        if (btz_net_loop_now(s->carrier.loop) >= until) {
            fail(s, "the server did not answer", BTZ_STR("out of patience"));
            break;
        }
        carrier_wait(&s->carrier, until);
    }
    /* The last DELETE of a legacy session, if there is one. */
    btz_mcp_http_session_close(s->carrier.session);
    until = btz_net_loop_now(s->carrier.loop) + SECOND;
    while (carrier_pump(&s->carrier) ||
           (btz_net_http_pending(s->carrier.http) && btz_net_loop_now(s->carrier.loop) < until)) {
        if (btz_net_http_pending(s->carrier.http)) {
            carrier_wait(&s->carrier, until);
        }
    }
}

static const struct btz_json *parse(struct btz_arena *arena, const char *text)
{
    const struct btz_json *value;
    struct btz_err err;

    if (btz_json_parse(arena, btz_str_of(text), NULL, &value, &err)) {
        btz_panic("client: %s", err.msg);
    }
    return value;
}

int main(int argc, char **argv)
{
    const char *version = getenv("MCP_CONFORMANCE_PROTOCOL_VERSION");
    const char *context = getenv("MCP_CONFORMANCE_CONTEXT");
    struct script s = {.arena = btz_arena_new()};
    struct btz_mcp_http_session_options options = {
        .stream_wait_ms = 2000,
        .hold_unauthorized = true,
        .client = {.name = BTZ_STR("bartizan-conformance"), .version = BTZ_STR("1.0.0")}};
    struct authorize_options authorize = {.context = NULL};
    struct btz_err err;

    if (argc < 2) {
        fprintf(stderr, "usage: conformance_client URL\n");
        return 2;
    }
    options.client.revision = btz_mcp_revision_parse(btz_str_of(version));
    authorize.revision = options.client.revision;
    options.client.mode = BTZ_MCP_CLIENT_LEGACY;
    if (btz_mcp_era_of(options.client.revision) == BTZ_MCP_MODERN) {
        options.client.mode = BTZ_MCP_CLIENT_PROBE;
        options.client.revision = BTZ_MCP_REVISION_NONE;
    }
    options.client.capabilities =
        parse(s.arena, "{\"elicitation\":{\"form\":{}},\"sampling\":{},\"roots\":{}}");
    s.context = context && *context ? parse(s.arena, context) : NULL;
    if (carrier_open(&s.carrier, argv[argc - 1], &options, &err)) {
        fprintf(stderr, "client: %s\n", err.msg);
        return 2;
    }
    authorize.context = s.context;
    if (authorize_open(&s.carrier, argv[argc - 1], &authorize, &err)) {
        fprintf(stderr, "client: %s\n", err.msg);
        return 2;
    }
    s.client = btz_mcp_http_session_client(s.carrier.session);
    if (btz_mcp_http_session_start(s.carrier.session)) {
        btz_panic("client: the session did not start");
    }
    run(&s);
    carrier_close(&s.carrier);
    btz_arena_free(s.arena);
    return s.failed ? 1 : 0;
}
