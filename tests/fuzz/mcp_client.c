/* Fuzz target: a script of lines for the client machine. A line is a message of the server, or
 * begins with '!' and is something its owner does:
 *   !t !q !m list tools, resources, templates   !k call   !d read   !i ping   !l listen
 *   !x cancel the newest request                !o the probe timed out         !z close
 *   !p list prompts   !g get a prompt   !c complete   !v set the log level   !s !u (un)subscribe
 *   !w listen to a resource   !r the roots changed   !a answer the newest ask   !e refuse it
 *   !n answer the newest request for inputs
 * Every request ends exactly once, and everything sent is a message the codec accepts. */
#include <stdint.h>
#include <stdlib.h>

#include "mcp/client.h"

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            btz_panic("broken: %s", #condition);                                                   \
        }                                                                                          \
    } while (0)

struct fuzz {
    struct btz_mcp_client *client;
    struct btz_arena *arena;
    uint64_t newest;
    uint64_t ask, input;
    struct btz_str method; /* of `ask`: one of the three */
    size_t started, cancelled, ended;
    size_t ready, failed;
};

static void check_out(struct fuzz *f)
{
    struct btz_mcp_out out;

    while (btz_mcp_client_next_out_full(f->client, &out)) {
        struct btz_arena *arena = btz_arena_new();
        struct btz_mcp_message m;
        struct btz_mcp_refusal why;

        MUST(!btz_mcp_read(arena, out.bytes, NULL, &m, &why));
        MUST(m.kind == out.kind);
        /* Before the peer's era is known only the handshake is sent. */
        MUST(f->ready || m.kind != BTZ_MCP_REQUEST || btz_str_is(m.method, "initialize") ||
             btz_str_is(m.method, "server/discover"));
        btz_arena_free(arena);
    }
}

static void take_events(struct fuzz *f)
{
    struct btz_mcp_client_event event;

    while (btz_mcp_client_next_event(f->client, &event)) {
        switch (event.kind) {
        case BTZ_MCP_CLIENT_READY:
            f->ready++;
            MUST(event.revision && btz_json_is(event.capabilities, BTZ_JSON_OBJECT));
            break;
        case BTZ_MCP_CLIENT_FAILED:
            f->failed++;
            MUST(event.fault);
            f->cancelled = f->started - f->ended; /* whatever was open is gone with it */
            break;
        case BTZ_MCP_CLIENT_TOOLS:
        case BTZ_MCP_CLIENT_RESOURCES:
        case BTZ_MCP_CLIENT_TEMPLATES:
        case BTZ_MCP_CLIENT_PROMPTS:
        case BTZ_MCP_CLIENT_RESULT:
            MUST(!event.fault == (event.value != NULL));
            f->ended++;
            break;
        case BTZ_MCP_CLIENT_LISTEN_ENDED:
            f->ended++;
            break;
        case BTZ_MCP_CLIENT_ASKED:
            MUST(btz_mcp_era_of(btz_mcp_client_revision(f->client)) == BTZ_MCP_LEGACY);
            f->ask = event.ask;
            f->method = btz_arena_dup(f->arena, event.method);
            break;
        case BTZ_MCP_CLIENT_INPUT:
            MUST(btz_json_count(event.value) && event.round <= 2);
            f->input = event.request;
            break;
        case BTZ_MCP_CLIENT_RESOURCE_UPDATED:
            MUST(event.message.len);
            break;
        default:
            break;
        }
    }
    MUST(f->ready <= 1 && f->failed <= 1);
    MUST(!f->ready || f->failed ||
         f->started == f->ended + f->cancelled + btz_mcp_client_in_flight(f->client));
}

static const struct btz_json *parse(struct btz_arena *arena, const char *text)
{
    const struct btz_json *value = NULL;

    MUST(!btz_json_parse(arena, btz_str_of(text), NULL, &value, NULL));
    return value;
}

static void answer(struct fuzz *f)
{
    const char *result = "{\"roots\":[]}";

    if (btz_str_is(f->method, "elicitation/create")) {
        result = "{\"action\":\"cancel\"}";
    } else if (btz_str_is(f->method, "sampling/createMessage")) {
        result = "{\"model\":\"m\",\"role\":\"user\",\"content\":[]}";
    }
    MUST(btz_mcp_client_answer(f->client, f->ask, parse(f->arena, result), NULL) != BTZ_EINVAL);
}

/* What belongs to no request. */
static void act_apart(struct fuzz *f, char what)
{
    switch (what) {
    case 'a':
        answer(f);
        break;
    case 'e':
        (void)!btz_mcp_client_answer_error(f->client, f->ask, -1, BTZ_STR("m"), NULL);
        break;
    case 'n':
        (void)!btz_mcp_client_answer_inputs(
            f->client, f->input, parse(f->arena, "{\"k\":{\"action\":\"accept\"}}"), NULL);
        break;
    case 'r':
        (void)!btz_mcp_client_roots_changed(f->client);
        break;
    default:
        break;
    }
}

static void act(struct fuzz *f, char what)
{
    const struct btz_str uri = BTZ_STR("u:1");
    int rc = BTZ_EINVAL;

    switch (what) {
    case 't':
        rc = btz_mcp_client_list_tools(f->client, &f->newest);
        break;
    case 'q':
        rc = btz_mcp_client_list_resources(f->client, &f->newest);
        break;
    case 'm':
        rc = btz_mcp_client_list_templates(f->client, &f->newest);
        break;
    case 'k':
        rc = btz_mcp_client_call_tool(f->client, BTZ_STR("a"), NULL, &f->newest);
        break;
    case 'd':
        rc = btz_mcp_client_read_resource(f->client, BTZ_STR("u:1"), &f->newest);
        break;
    case 'i':
        rc = btz_mcp_client_ping(f->client, &f->newest);
        break;
    case 'l':
        rc = btz_mcp_client_listen(f->client, BTZ_MCP_LIST_TOOLS | BTZ_MCP_LIST_RESOURCES,
                                   &f->newest);
        break;
    case 'x':
        f->cancelled += btz_mcp_client_cancel(f->client, f->newest, BTZ_STR("r")) == BTZ_OK;
        break;
    case 'o':
        (void)!btz_mcp_client_probe_timeout(f->client);
        break;
    case 'z':
        btz_mcp_client_close(f->client);
        break;
    case 'p':
        rc = btz_mcp_client_list_prompts(f->client, &f->newest);
        break;
    case 'g':
        rc = btz_mcp_client_get_prompt(f->client, BTZ_STR("p"), NULL, &f->newest);
        break;
    case 'c':
        rc = btz_mcp_client_complete(f->client, BTZ_MCP_REF_PROMPT, BTZ_STR("p"), BTZ_STR("a"),
                                     BTZ_STR("x"), NULL, &f->newest);
        break;
    case 'v':
        rc = btz_mcp_client_set_log_level(f->client, BTZ_STR("error"), &f->newest);
        break;
    case 's':
        rc = btz_mcp_client_subscribe(f->client, uri, &f->newest);
        break;
    case 'u':
        rc = btz_mcp_client_unsubscribe(f->client, uri, &f->newest);
        break;
    case 'w':
        rc = btz_mcp_client_listen_to(f->client, BTZ_MCP_LIST_PROMPTS, &uri, 1, &f->newest);
        break;
    default:
        act_apart(f, what);
        break;
    }
    f->started += rc == BTZ_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct btz_mcp_client_options options = {.name = BTZ_STR("c"),
                                             .version = BTZ_STR("1"),
                                             .progress = true,
                                             .log_level = BTZ_STR("info"),
                                             .max_rounds = 2,
                                             .max_asks = 3,
                                             .max_pages = 4,
                                             .max_items = 8,
                                             .max_list_bytes = 4096,
                                             .max_in_flight = 6,
                                             .max_events = 8,
                                             .max_out_bytes = 20000};
    struct btz_str rest;
    struct fuzz f = {0};
    struct btz_str text;

    if (size < 2 || size > 60000) {
        return 0;
    }
    rest = (struct btz_str){(const char *)data + 1, size - 1};
    options.mode = (enum btz_mcp_client_mode)(data[0] % 3);
    options.forbid_fallback = data[0] & 64;
    options.http = data[0] & 32;
    f.arena = btz_arena_new();
    options.capabilities = data[0] & 16 ? parse(f.arena, "{\"elicitation\":{},\"sampling\":{},"
                                                         "\"roots\":{\"listChanged\":true}}")
                                        : NULL;
    MUST(!btz_mcp_client_new(&options, &f.client, NULL));
    MUST(!btz_mcp_client_start(f.client));
    while (btz_str_cut(&rest, '\n', &text)) {
        if (text.len > 1 && text.ptr[0] == '!') {
            act(&f, text.ptr[1]);
        } else {
            (void)!btz_mcp_client_feed(f.client, text);
        }
        if (!(data[0] & 128)) {
            take_events(&f);
            check_out(&f);
        }
    }
    btz_mcp_client_close(f.client);
    take_events(&f);
    MUST(btz_mcp_client_in_flight(f.client) == 0);
    MUST(f.failed || f.started == f.ended + f.cancelled);
    check_out(&f);
    btz_mcp_client_free(f.client);
    btz_arena_free(f.arena);
    return 0;
}
