/* Fuzz target: a script of lines for the server machine. A line is a message of the client, or
 * begins with '!' and is something its owner does:
 *   !r reply to the oldest call   !e answer it with an error   !p progress   !g log message
 *   !c replace the catalogue      !s end the streams           !h the next line comes over HTTP
 *   !i reply with input_required  !a !o !n ask for elicitation, roots, ping on the oldest call's
 *   !x cancel the newest ask      !u a resource changed        stream   !l log related to no call
 * Everything the machine sends must be a message that its own codec accepts. */
#include <stdint.h>
#include <stdlib.h>

#include "mcp/server.h"

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            btz_panic("broken: %s", #condition);                                                   \
        }                                                                                          \
    } while (0)

#define MAX_IN_FLIGHT 4

static const char info[] = "{\"name\":\"s\",\"version\":\"1\"}";
static const char tools[] = "[{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"
                            "\"r\":{\"type\":\"string\",\"x-mcp-header\":\"R\"}}}},"
                            "{\"name\":\"b\",\"inputSchema\":{\"type\":\"object\"}}]";
static const char resources[] = "[{\"uri\":\"u:1\",\"name\":\"n\"}]";
static const char prompts[] =
    "[{\"name\":\"p\",\"arguments\":[{\"name\":\"x\",\"required\":true}]},"
    "{\"name\":\"q\"}]";
static const char form[] = "{\"message\":\"m\",\"requestedSchema\":{}}";
static const char inputs[] =
    "{\"k\":{\"method\":\"elicitation/create\",\"params\":{\"message\":\"m\","
    "\"requestedSchema\":{}}},\"l\":{\"method\":\"roots/list\"}}";

struct fuzz {
    struct btz_mcp_server *server;
    struct btz_arena *arena;
    struct btz_mcp_catalogue catalogue;
    uint64_t tokens[2 * MAX_IN_FLIGHT];
    enum btz_mcp_server_event_kind kinds[2 * MAX_IN_FLIGHT];
    size_t count;
    uint64_t ask;
    size_t asked, answered;
    double progress;
    bool http;
};

static const struct btz_json *parse(struct btz_arena *arena, const char *text)
{
    const struct btz_json *value = NULL;

    MUST(!btz_json_parse(arena, btz_str_of(text), NULL, &value, NULL));
    return value;
}

static void check_out(struct fuzz *f)
{
    struct btz_mcp_out out;

    while (btz_mcp_server_next_out_full(f->server, &out)) {
        struct btz_arena *arena = btz_arena_new();
        struct btz_mcp_message m;
        struct btz_mcp_refusal why;

        MUST(!btz_mcp_read(arena, out.bytes, NULL, &m, &why));
        MUST(m.kind == out.kind);
        /* Only a legacy session is asked anything. */
        MUST(m.kind != BTZ_MCP_REQUEST || btz_mcp_era_of(out.revision) == BTZ_MCP_LEGACY);
        MUST(btz_mcp_id_eq(m.id, out.id) || (!m.id.kind && !out.id.kind));
        MUST(m.kind != BTZ_MCP_NOTIFICATION || btz_str_eq(m.method, out.method));
        btz_arena_free(arena);
    }
}

static void take_events(struct fuzz *f)
{
    struct btz_mcp_server_event event;

    while (btz_mcp_server_next_event(f->server, &event)) {
        size_t i = 0;

        MUST(event.name.len && btz_json_is(event.arguments, BTZ_JSON_OBJECT));
        if (event.kind == BTZ_MCP_SERVER_ANSWER || event.kind == BTZ_MCP_SERVER_ROOTS_CHANGED) {
            f->answered += event.kind == BTZ_MCP_SERVER_ANSWER;
            MUST(f->answered <= f->asked);
            continue;
        }
        if (event.kind != BTZ_MCP_SERVER_CANCELLED) {
            MUST(f->count < 2 * MAX_IN_FLIGHT);
            MUST(!event.inputs || btz_json_is(event.inputs, BTZ_JSON_OBJECT));
            f->kinds[f->count] = event.kind;
            f->tokens[f->count++] = event.token;
            continue;
        }
        while (i < f->count && f->tokens[i] != event.token) {
            i++;
        }
        MUST(i < f->count); /* only what the owner knows is reported as cancelled */
        for (f->count--; i < f->count; i++) {
            f->tokens[i] = f->tokens[i + 1];
            f->kinds[i] = f->kinds[i + 1];
        }
    }
    MUST(btz_mcp_server_in_flight(f->server) <= MAX_IN_FLIGHT);
}

static void drop_first(struct fuzz *f)
{
    for (size_t i = 1; i < f->count; i++) {
        f->tokens[i - 1] = f->tokens[i];
        f->kinds[i - 1] = f->kinds[i];
    }
    f->count--;
}

static const struct btz_json *result_of(struct fuzz *f)
{
    switch (f->kinds[0]) {
    case BTZ_MCP_SERVER_READ:
        return parse(f->arena, "{\"contents\":[]}");
    case BTZ_MCP_SERVER_PROMPT:
        return parse(f->arena, "{\"messages\":[]}");
    case BTZ_MCP_SERVER_COMPLETE:
        return parse(f->arena, "{\"completion\":{\"values\":[]}}");
    default:
        return parse(f->arena, "{\"content\":[]}");
    }
}

static void reply(struct fuzz *f, bool as_error)
{
    const struct btz_json *result;
    int rc;

    if (!f->count) {
        return;
    }
    result = result_of(f);
    if (as_error) {
        rc = btz_mcp_server_reply_error(f->server, f->tokens[0], BTZ_MCP_E_PARAMS, BTZ_STR("no"),
                                        result);
    } else {
        rc = btz_mcp_server_reply_result(f->server, f->tokens[0], result, NULL);
    }
    MUST(rc == BTZ_OK || rc == BTZ_ECANCELLED || rc == BTZ_ELIMIT || rc == BTZ_ESTATE);
    if (rc == BTZ_OK) {
        drop_first(f);
    }
}

static void reply_input(struct fuzz *f)
{
    int rc;

    if (!f->count) {
        return;
    }
    rc = btz_mcp_server_reply_input(f->server, f->tokens[0], parse(f->arena, inputs), BTZ_STR("s"),
                                    NULL);
    MUST(rc != BTZ_EINVAL && rc != BTZ_ENOTFOUND);
    if (rc == BTZ_OK || rc == BTZ_EUNSUPPORTED) {
        drop_first(f);
    }
}

static void ask(struct fuzz *f, const char *method, const char *params)
{
    f->asked +=
        btz_mcp_server_ask(f->server, f->count ? f->tokens[0] : 0, btz_str_of(method),
                           params ? parse(f->arena, params) : NULL, &f->ask, NULL) == BTZ_OK;
}

static void act(struct fuzz *f, char what)
{
    uint64_t token = f->count ? f->tokens[0] : 12345;
    bool full = btz_json_count(f->catalogue.tools) == 2;

    switch (what) {
    case 'r':
    case 'e':
        reply(f, what == 'e');
        break;
    case 'p':
        f->progress += 1;
        (void)!btz_mcp_server_progress(f->server, token, f->progress, 9, BTZ_STR("m"));
        break;
    case 'g':
        (void)!btz_mcp_server_log(f->server, token, BTZ_STR("error"), BTZ_STR("l"),
                                  btz_json_new_int(f->arena, 1));
        break;
    case 'c':
        f->catalogue.tools = parse(f->arena, full ? "[]" : tools);
        (void)!btz_mcp_server_set_catalogue(f->server, &f->catalogue, NULL);
        break;
    case 's':
        (void)!btz_mcp_server_end_streams(f->server);
        break;
    case 'h':
        f->http = true;
        break;
    case 'i':
        reply_input(f);
        break;
    case 'a':
        ask(f, "elicitation/create", form);
        break;
    case 'o':
        ask(f, "roots/list", NULL);
        break;
    case 'n':
        ask(f, "ping", NULL);
        break;
    case 'x':
        (void)!btz_mcp_server_cancel_ask(f->server, f->ask, BTZ_STR("r"));
        break;
    case 'u':
        (void)!btz_mcp_server_resource_updated(f->server, BTZ_STR("u:1"));
        break;
    case 'l':
        (void)!btz_mcp_server_log(f->server, 0, BTZ_STR("error"), BTZ_STR_NONE,
                                  btz_json_new_int(f->arena, 1));
        break;
    default:
        break;
    }
}

static void line(struct fuzz *f, struct btz_str text)
{
    static const struct btz_mcp_param param = {{"r", 1}, {"=?base64?eA==?=", 15}};
    const struct btz_mcp_headers headers = {.params = &param,
                                            .param_count = 1,
                                            .protocol_version = BTZ_STR("2026-07-28"),
                                            .method = BTZ_STR("tools/call"),
                                            .name = BTZ_STR("a")};

    if (text.len > 1 && text.ptr[0] == '!') {
        act(f, text.ptr[1]);
    } else if (f->http) {
        f->http = false;
        (void)!btz_mcp_server_feed_http(f->server, text, &headers);
    } else {
        (void)!btz_mcp_server_feed(f->server, text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned sets[] = {0, BTZ_MCP_SET_LEGACY, BTZ_MCP_SET_MODERN};
    struct btz_mcp_server_options options = {.page_size = 1,
                                             .max_in_flight = MAX_IN_FLIGHT,
                                             .max_streams = 2,
                                             .max_out_bytes = 20000,
                                             .max_asks = 3,
                                             .max_subscriptions = 2,
                                             .completions = true,
                                             .subscribe = true,
                                             .logging = true};
    struct btz_str rest;
    struct fuzz f = {0};
    struct btz_str text;

    if (size < 2 || size > 60000) {
        return 0;
    }
    rest = (struct btz_str){(const char *)data + 1, size - 1};
    options.revisions = sets[data[0] % 3];
    options.carrier = data[0] & 64 ? BTZ_MCP_CARRIER_HTTP : BTZ_MCP_CARRIER_STDIO;
    f.arena = btz_arena_new();
    f.catalogue = (struct btz_mcp_catalogue){.server_info = parse(f.arena, info),
                                             .instructions = BTZ_STR("i"),
                                             .tools = parse(f.arena, tools),
                                             .resources = parse(f.arena, resources),
                                             .prompts = parse(f.arena, prompts)};
    MUST(!btz_mcp_server_new(&options, &f.catalogue, &f.server, NULL));
    while (btz_str_cut(&rest, '\n', &text)) {
        line(&f, text);
        take_events(&f);
        if (data[0] & 128) { /* else the client reads at the end only */
            check_out(&f);
        }
    }
    check_out(&f);
    btz_mcp_server_free(f.server);
    btz_arena_free(f.arena);
    return 0;
}
