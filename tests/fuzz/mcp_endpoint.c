/* Fuzz target: a script of lines for the HTTP endpoint. The first byte chooses options.
 *   N METHOD target      begins a request of exchange N (one digit); lines "Name: value" follow
 *   { or [ or .          a line that begins so is its body ('.' = none) and sends it
 *   !cN  the client closes N     !t  time passes           !r  reply to the oldest call
 *   !e   answer it with an error !p  progress for it       !k  park it
 *   !m   replace the catalogue   !s  end the streams       !d  end the oldest call's session
 *   !o   pull what is to be sent !u  a resource changed    !q  the oldest call asks for roots
 * "$" in a target or value stands for the newest session id.
 * What comes out has to be HTTP that a client could take: one answer or one stream an exchange,
 * whole events, and only messages that the codec accepts. */
#include <stdint.h>
#include <stdlib.h>

#include "http/sse.h"
#include "mcp/endpoint.h"

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            btz_panic("broken: %s", #condition);                                                   \
        }                                                                                          \
    } while (0)

#define EXCHANGES 10
#define MAX_CALLS 64
#define MAX_FIELDS 16
#define MAX_OUT 30000

static const char info[] = "{\"name\":\"s\",\"version\":\"1\"}";
static const char tools[] =
    "[{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"x\":{\"type\":"
    "\"string\",\"x-mcp-header\":\"X\"}}}},{\"name\":\"b\",\"inputSchema\":{\"type\":\"object\"}}]";
static const char resources[] = "[{\"uri\":\"u:1\",\"name\":\"n\"}]";

enum state { FREE, OPEN, STREAMING };

struct call {
    uint64_t handle, token;
    struct btz_mcp_id id;
    bool read;
};

struct fuzz {
    struct btz_mcp_endpoint *endpoint;
    struct btz_arena *arena;
    struct btz_mcp_catalogue catalogue;
    enum state states[EXCHANGES];
    struct btz_sse_parser *parsers[EXCHANGES];
    struct call calls[MAX_CALLS];
    size_t count;
    double progress;
    int64_t now_us;
    char session[41];
    /* the request that is being read */
    bool begun;
    uint64_t exchange;
    struct btz_http_head head;
    struct btz_http_field fields[MAX_FIELDS];
};

static const struct btz_json *parse(struct btz_arena *arena, const char *text)
{
    const struct btz_json *value = NULL;

    MUST(!btz_json_parse(arena, btz_str_of(text), NULL, &value, NULL));
    return value;
}

static void check_message(struct btz_str bytes)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_mcp_message message;
    struct btz_mcp_refusal why;

    MUST(!btz_mcp_read(arena, bytes, NULL, &message, &why));
    btz_arena_free(arena);
}

static void check_fields(struct fuzz *f, const struct btz_mcp_endpoint_out *out)
{
    struct btz_buf text;

    btz_buf_init(&text, 1 << 20);
    MUST(!btz_http_write_response(&text, out->status, out->fields, out->field_count, out->bytes));
    btz_buf_fini(&text);
    for (size_t i = 0; i < out->field_count; i++) {
        if (btz_str_is(out->fields[i].name, "MCP-Session-Id")) {
            MUST(out->status == 200 && out->fields[i].value.len == 40);
            memcpy(f->session, out->fields[i].value.ptr, 40);
        }
    }
}

/* Events are whole at the end of every item, and are messages unless they say otherwise. */
static void check_events(struct fuzz *f, uint64_t exchange, struct btz_str bytes)
{
    struct btz_sse_event event;

    while (!btz_sse_parser_next(f->parsers[exchange], &bytes, &event, NULL)) {
        if (btz_str_is(event.event, "endpoint")) {
            MUST(event.data.len >= 51);
            memcpy(f->session, event.data.ptr + event.data.len - 40, 40);
        } else if (event.data.len) {
            check_message(event.data);
        }
    }
    MUST(bytes.len == 0);
}

static void end(struct fuzz *f, uint64_t exchange)
{
    f->states[exchange] = FREE;
    btz_sse_parser_free(f->parsers[exchange]);
    f->parsers[exchange] = NULL;
}

static void pull(struct fuzz *f)
{
    struct btz_mcp_endpoint_out out;
    size_t bytes = 0;

    while (btz_mcp_endpoint_next_out(f->endpoint, &out)) {
        MUST(out.exchange < EXCHANGES && f->states[out.exchange] != FREE);
        bytes += out.bytes.len;
        switch (out.kind) {
        case BTZ_MCP_OUT_RESPONSE:
            MUST(f->states[out.exchange] == OPEN);
            check_fields(f, &out);
            if (out.bytes.len) {
                check_message(out.bytes);
            }
            end(f, out.exchange);
            break;
        case BTZ_MCP_OUT_STREAM:
            MUST(f->states[out.exchange] == OPEN && out.status == 200 && !out.bytes.len);
            check_fields(f, &out);
            f->states[out.exchange] = STREAMING;
            f->parsers[out.exchange] = btz_sse_parser_new(0);
            break;
        case BTZ_MCP_OUT_STREAM_DATA:
            MUST(f->states[out.exchange] == STREAMING);
            check_events(f, out.exchange, out.bytes);
            break;
        case BTZ_MCP_OUT_STREAM_END:
            MUST(f->states[out.exchange] == STREAMING);
            end(f, out.exchange);
            break;
        default:
            end(f, out.exchange);
            break;
        }
    }
    MUST(bytes <= 2 * MAX_OUT);
}

static void drop_call(struct fuzz *f, size_t at)
{
    for (f->count--; at < f->count; at++) {
        f->calls[at] = f->calls[at + 1];
    }
}

static void take_events(struct fuzz *f)
{
    struct btz_mcp_server_event event;
    uint64_t handle;

    while (btz_mcp_endpoint_next_event(f->endpoint, &handle, &event)) {
        if (event.kind == BTZ_MCP_SERVER_CANCELLED) {
            size_t i = 0;

            while (i < f->count &&
                   (f->calls[i].handle != handle || f->calls[i].token != event.token)) {
                i++;
            }
            MUST(i < f->count);
            drop_call(f, i);
        } else if (event.kind == BTZ_MCP_SERVER_CALL || event.kind == BTZ_MCP_SERVER_READ) {
            MUST(f->count < MAX_CALLS && event.name.len);
            f->calls[f->count++] = (struct call){handle, event.token, event.request_id,
                                                 event.kind == BTZ_MCP_SERVER_READ};
        }
    }
}

static void reply(struct fuzz *f, struct btz_mcp_server *server, bool as_error)
{
    struct call *call = &f->calls[0];
    struct btz_json *result = btz_json_new_object(f->arena);
    int rc;

    btz_json_setz(f->arena, result, call->read ? "contents" : "content",
                  btz_json_new_array(f->arena));
    rc = as_error ? btz_mcp_server_reply_error(server, call->token, BTZ_MCP_E_PARAMS, BTZ_STR("no"),
                                               result)
                  : btz_mcp_server_reply_result(server, call->token, result, NULL);
    if (!rc) {
        drop_call(f, 0);
    }
}

static void act_on_call(struct fuzz *f, char what)
{
    struct btz_mcp_server *server;
    uint64_t ask;

    if (!f->count) {
        return;
    }
    server = btz_mcp_endpoint_server(f->endpoint, f->calls[0].handle);
    MUST(server || what != 'r'); /* calls that are over were reported */
    switch (what) {
    case 'r':
    case 'e':
        reply(f, server, what == 'e');
        break;
    case 'p':
        f->progress += 1;
        (void)!btz_mcp_server_progress(server, f->calls[0].token, f->progress, 9, BTZ_STR("m"));
        break;
    case 'q':
        (void)!btz_mcp_server_ask(server, f->calls[0].token, BTZ_STR("roots/list"), NULL, &ask,
                                  NULL);
        break;
    case 'k':
        (void)!btz_mcp_endpoint_park(f->endpoint, f->calls[0].handle, f->calls[0].id);
        break;
    default:
        (void)!btz_mcp_endpoint_end_session(f->endpoint, f->calls[0].handle);
        break;
    }
}

static void act(struct fuzz *f, struct btz_str text)
{
    uint64_t number = text.len > 2 ? (uint64_t)(text.ptr[2] - '0') : 0;
    bool full = btz_json_count(f->catalogue.tools) == 2;

    switch (text.ptr[1]) {
    case 'c':
        if (number < EXCHANGES) {
            pull(f);
            btz_mcp_endpoint_closed(f->endpoint, number, f->now_us);
            end(f, number);
        }
        break;
    case 't':
        f->now_us += 40;
        btz_mcp_endpoint_tick(f->endpoint, f->now_us);
        break;
    case 'm':
        f->catalogue.tools = parse(f->arena, full ? "[]" : tools);
        (void)!btz_mcp_endpoint_set_catalogue(f->endpoint, &f->catalogue, NULL);
        break;
    case 's':
        btz_mcp_endpoint_end_streams(f->endpoint);
        break;
    case 'u':
        btz_mcp_endpoint_resource_updated(f->endpoint, BTZ_STR("u:1"));
        break;
    case 'o':
        pull(f);
        break;
    default:
        act_on_call(f, text.ptr[1]);
        break;
    }
}

/* `text` with the newest session id for "$", in the arena. */
static struct btz_str fill_in(struct fuzz *f, struct btz_str text)
{
    struct btz_str before;

    if (btz_str_find(text, BTZ_STR("$")) < 0) {
        return text;
    }
    btz_str_cut(&text, '$', &before);
    return btz_arena_printf(f->arena, "%.*s%s%.*s", BTZ_FMT(before), f->session, BTZ_FMT(text));
}

static void begin(struct fuzz *f, struct btz_str text)
{
    struct btz_str rest = btz_str_sub(text, 2, text.len);
    struct btz_str method = BTZ_STR_NONE;

    btz_str_cut(&rest, ' ', &method);
    f->exchange = (uint64_t)(text.ptr[0] - '0');
    f->head = (struct btz_http_head){
        .method = method, .target = fill_in(f, rest), .fields = f->fields, .content_length = -1};
    f->begun = true;
}

static void send_request(struct fuzz *f, struct btz_str body)
{
    int rc;

    f->begun = false;
    if (f->states[f->exchange] != FREE) {
        pull(f);
    }
    rc = btz_mcp_endpoint_request(f->endpoint, f->exchange, &f->head, body,
                                  f->exchange == 9 ? BTZ_STR("other") : BTZ_STR_NONE, f->now_us);
    MUST(rc == BTZ_OK || rc == BTZ_ELIMIT || rc == BTZ_EEXISTS);
    MUST((rc == BTZ_EEXISTS) == (f->states[f->exchange] != FREE));
    if (!rc) {
        f->states[f->exchange] = OPEN;
    }
}

static void line(struct fuzz *f, struct btz_str text)
{
    char first = text.len ? text.ptr[0] : '.';
    struct btz_str name = BTZ_STR_NONE;

    if (first == '!' && text.len > 1) {
        act(f, text);
    } else if (f->begun && (first == '{' || first == '[' || first == '.')) {
        send_request(f, first == '.' ? BTZ_STR_NONE : text);
    } else if (f->begun && f->head.field_count < MAX_FIELDS) {
        btz_str_cut(&text, ':', &name);
        if (text.ptr) {
            f->fields[f->head.field_count++] =
                (struct btz_http_field){name, fill_in(f, btz_str_trim(text))};
        }
    } else if (!f->begun && first >= '0' && first <= '9' && text.len > 2) {
        begin(f, text);
    }
}

static void open_endpoint(struct fuzz *f, uint8_t choice)
{
    static const unsigned sets[] = {0, BTZ_MCP_SET_LEGACY, BTZ_MCP_SET_MODERN, 0};
    const struct btz_mcp_endpoint_options options = {
        .server = {.revisions = sets[choice & 3], .page_size = 1, .subscribe = true},
        .switches = {.any_headers = choice & 4, .any_subject = choice & 4},
        .id_secret = BTZ_STR("0123456789abcdef"),
        .max_exchanges = 6,
        .max_sessions = 3,
        .max_session_streams = 2,
        .max_out_bytes = choice & 8 ? MAX_OUT / 4 : MAX_OUT,
        .replay_bytes = 1000,
        .session_idle_us = 200,
        .session_greeting_us = 100,
        .keepalive_us = 50,
        .no_resume = choice & 16,
        .allow_legacy_sse = choice & 32,
    };

    f->arena = btz_arena_new();
    f->catalogue = (struct btz_mcp_catalogue){.server_info = parse(f->arena, info),
                                              .tools = parse(f->arena, tools),
                                              .resources = parse(f->arena, resources)};
    MUST(!btz_mcp_endpoint_new(&options, &f->catalogue, &f->endpoint, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz f = {0};
    struct btz_str rest;
    struct btz_str text;
    size_t open = 0;

    if (size < 2 || size > 60000) {
        return 0;
    }
    rest = (struct btz_str){(const char *)data + 1, size - 1};
    open_endpoint(&f, data[0]);
    while (btz_str_cut(&rest, '\n', &text)) {
        line(&f, text);
        take_events(&f);
        if (data[0] & 128) { /* else the carrier pulls when it is told to */
            pull(&f);
        }
        MUST(btz_mcp_endpoint_exchanges(f.endpoint) <= 6);
        MUST(btz_mcp_endpoint_sessions(f.endpoint) <= 3);
    }
    pull(&f);
    for (uint64_t i = 0; i < EXCHANGES; i++) {
        open += f.states[i] != FREE;
    }
    MUST(open == btz_mcp_endpoint_exchanges(f.endpoint));
    for (uint64_t i = 0; i < EXCHANGES; i++) {
        end(&f, i);
    }
    btz_mcp_endpoint_free(f.endpoint);
    btz_arena_free(f.arena);
    return 0;
}
