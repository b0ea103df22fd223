/* Fuzz target: a script of lines for the HTTP client session. The first byte chooses options. A
 * line is something the server or the network does to the exchange with the number (0 to 9, oldest
 * first, among those under way) that is its second character: h0 200 Name: value|Name: value head
 * of a response b0 text                            body, with a line feed behind it; B0: without e0
 * w                               end: w whole, b broken, r refused or begins with '!' and is
 * something the owner does: !t list tools   !k !K call without, with arguments   !d read   !i ping
 * !l listen !x cancel the newest request   !w wait as long as the session wants   !a authorize
 * !g give up authorization   !z close Every
 * request ends exactly once, everything sent is HTTP, and goes to the session's own origin. */
#include <stdint.h>
#include <stdlib.h>

#include "mcp/http_session.h"

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            btz_panic("broken: %s", #condition);                                                   \
        }                                                                                          \
    } while (0)

enum { OPEN_MAX = 10, MINE_MAX = 16, IDS_MAX = 65536 };

struct fuzz {
    struct btz_mcp_http_session *session;
    struct btz_mcp_client *client;
    struct btz_arena *arena;
    const struct btz_json *arguments;
    uint64_t open[OPEN_MAX];
    size_t open_count;
    uint64_t newest;
    uint64_t mine[MINE_MAX]; /* requests of the owner that have not ended */
    uint8_t used[IDS_MAX];   /* exchanges that were begun */
    size_t ready, failed, deletes;
    bool closed;
    int64_t now_us;
};

static void forget(struct fuzz *f, uint64_t exchange)
{
    for (size_t i = 0; i < f->open_count; i++) {
        if (f->open[i] == exchange) {
            f->open_count--;
            memmove(&f->open[i], &f->open[i + 1], (f->open_count - i) * sizeof(f->open[0]));
            return;
        }
    }
}

static void check_exchange(struct fuzz *f, const struct btz_mcp_http_exchange *x)
{
    struct btz_buf out;

    MUST(x->id > 0 && x->id < IDS_MAX && !f->used[x->id]);
    f->used[x->id] = 1;
    MUST(x->target.len && x->target.ptr[0] == '/');
    MUST((x->method == BTZ_MCP_HTTP_POST) == (x->body.len > 0));
    f->deletes += x->method == BTZ_MCP_HTTP_DELETE;
    MUST(!f->closed || (x->method == BTZ_MCP_HTTP_DELETE && f->deletes == 1));
    btz_buf_init(&out, 1 << 20);
    MUST(btz_http_write_request(&out, btz_str_of(btz_mcp_http_method_name(x->method)), x->target,
                                x->fields, x->field_count, x->body) == BTZ_OK);
    btz_buf_fini(&out);
}

static void take_outputs(struct fuzz *f)
{
    struct btz_mcp_http_exchange x;
    uint64_t id;

    while (btz_mcp_http_session_next_close(f->session, &id)) {
        forget(f, id);
    }
    while (f->open_count < OPEN_MAX && btz_mcp_http_session_next_request(f->session, &x)) {
        check_exchange(f, &x);
        f->open[f->open_count++] = x.id;
        while (btz_mcp_http_session_next_close(f->session, &id)) {
            forget(f, id);
        }
    }
}

static bool end_mine(struct fuzz *f, uint64_t request)
{
    for (size_t i = 0; i < MINE_MAX; i++) {
        if (f->mine[i] == request) {
            f->mine[i] = 0;
            return true;
        }
    }
    return false;
}

static void begin_mine(struct fuzz *f, uint64_t request)
{
    for (size_t i = 0; i < MINE_MAX; i++) {
        if (!f->mine[i]) {
            f->mine[i] = request;
            return;
        }
    }
    MUST(!"more requests in flight than allowed");
}

static void take_events(struct fuzz *f)
{
    struct btz_mcp_client_event event;

    while (btz_mcp_client_next_event(f->client, &event)) {
        switch (event.kind) {
        case BTZ_MCP_CLIENT_READY:
            f->ready++;
            break;
        case BTZ_MCP_CLIENT_FAILED:
            f->failed++;
            MUST(event.fault);
            break;
        case BTZ_MCP_CLIENT_TOOLS: /* also of the session's own list, after -32020 */
            (void)end_mine(f, event.request);
            break;
        case BTZ_MCP_CLIENT_RESULT:
        case BTZ_MCP_CLIENT_LISTEN_ENDED:
            MUST(end_mine(f, event.request));
            break;
        default:
            break;
        }
    }
    MUST(f->ready <= 1 && f->failed <= 1);
}

static void act(struct fuzz *f, char what)
{
    int rc = BTZ_EINVAL;

    switch (what) {
    case 't':
        rc = btz_mcp_client_list_tools(f->client, &f->newest);
        break;
    case 'k':
        rc = btz_mcp_client_call_tool(f->client, BTZ_STR("a"), NULL, &f->newest);
        break;
    case 'K':
        rc = btz_mcp_client_call_tool(f->client, BTZ_STR("a"), f->arguments, &f->newest);
        break;
    case 'd':
        rc = btz_mcp_client_read_resource(f->client, BTZ_STR("u:\xc3\xa4"), &f->newest);
        break;
    case 'i':
        rc = btz_mcp_client_ping(f->client, &f->newest);
        break;
    case 'l':
        rc = btz_mcp_client_listen(f->client, BTZ_MCP_LIST_TOOLS, &f->newest);
        break;
    case 'x':
        if (btz_mcp_client_cancel(f->client, f->newest, BTZ_STR("r")) == BTZ_OK) {
            MUST(end_mine(f, f->newest));
        }
        break;
    case 'w': {
        int64_t wake = btz_mcp_http_session_wake_at_us(f->session, NULL);

        f->now_us = wake > f->now_us ? wake : f->now_us;
        btz_mcp_http_session_tick(f->session, f->now_us);
        break;
    }
    case 'a': /* another value of Authorization */
        MUST(!btz_mcp_http_session_authorize(f->session, BTZ_STR("Bearer y")));
        break;
    case 'g': { /* none to be had */
        struct btz_mcp_http_challenge challenge;
        bool waits = btz_mcp_http_session_challenged(f->session, &challenge);

        MUST(!waits || challenge.status == 401 || challenge.status == 403);
        MUST(!btz_mcp_http_session_authorize(f->session, BTZ_STR_NONE));
        MUST(!btz_mcp_http_session_challenged(f->session, &challenge));
        break;
    }
    case 'z':
        btz_mcp_http_session_close(f->session);
        f->closed = true;
        break;
    default:
        break;
    }
    if (rc == BTZ_OK) {
        begin_mine(f, f->newest);
    }
}

static void give_head(struct fuzz *f, uint64_t exchange, struct btz_str text)
{
    struct btz_http_field fields[8];
    struct btz_http_head head = {.fields = fields, .content_length = -1};
    struct btz_str part;
    int64_t status;

    if (!btz_str_cut(&text, ' ', &part) || btz_str_int64(part, &status) != BTZ_OK || status < 100 ||
        status > 599) {
        return;
    }
    head.status = (int)status;
    while (head.field_count < 8 && btz_str_cut(&text, '|', &part)) {
        struct btz_http_field *field = &fields[head.field_count];

        if (btz_str_cut(&part, ':', &field->name)) {
            field->value = btz_str_trim(part);
            head.field_count++;
        }
    }
    (void)!btz_mcp_http_session_response_head(f->session, exchange, &head);
}

static void line(struct fuzz *f, struct btz_str text)
{
    struct btz_str rest = btz_str_sub(text, 3, text.len);
    size_t index;
    uint64_t exchange;

    if (text.len >= 2 && text.ptr[0] == '!') {
        act(f, text.ptr[1]);
        return;
    }
    if (text.len < 3 || text.ptr[1] < '0' || text.ptr[1] > '9') {
        return;
    }
    index = (size_t)(text.ptr[1] - '0');
    if (index >= f->open_count) {
        return;
    }
    exchange = f->open[index];
    if (text.ptr[0] == 'h') {
        give_head(f, exchange, rest);
    } else if (text.ptr[0] == 'b' || text.ptr[0] == 'B') {
        (void)!btz_mcp_http_session_response_body(f->session, exchange, rest);
        if (text.ptr[0] == 'b') {
            (void)!btz_mcp_http_session_response_body(f->session, exchange, BTZ_STR("\n"));
        }
    } else if (text.ptr[0] == 'e') {
        enum btz_mcp_http_end how = text.len < 4         ? BTZ_MCP_HTTP_WHOLE
                                    : text.ptr[3] == 'b' ? BTZ_MCP_HTTP_BROKEN
                                    : text.ptr[3] == 'r' ? BTZ_MCP_HTTP_REFUSED
                                                         : BTZ_MCP_HTTP_WHOLE;

        if (btz_mcp_http_session_response_end(f->session, exchange, how) != BTZ_ESTATE) {
            forget(f, exchange);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct btz_mcp_http_session_options options = {.host = BTZ_STR("h.example"),
                                                   .target = BTZ_STR("/a/mcp"),
                                                   .authorization = BTZ_STR("Bearer x"),
                                                   .client = {.name = BTZ_STR("c"),
                                                              .version = BTZ_STR("1"),
                                                              .progress = true,
                                                              .max_in_flight = 6,
                                                              .max_events = 16},
                                                   .max_body = 4096,
                                                   .max_stream = 16384,
                                                   .max_exchanges = 8,
                                                   .max_resumes = 2};
    struct fuzz f = {0};
    struct btz_str rest;
    struct btz_str text;
    struct btz_json *arguments;

    if (size < 2 || size > 60000) {
        return 0;
    }
    rest = (struct btz_str){(const char *)data + 1, size - 1};
    options.client.mode = (enum btz_mcp_client_mode)(data[0] % 3);
    options.client.forbid_fallback = data[0] & 64;
    options.accept_any_stream = data[0] & 128;
    options.no_get_stream = data[0] & 32;
    options.hold_unauthorized = data[0] & 4;
    options.transport = data[0] & 16 ? BTZ_MCP_HTTP_STREAMABLE_THEN_SSE : BTZ_MCP_HTTP_STREAMABLE;
    if ((data[0] & 8) && options.client.mode == BTZ_MCP_CLIENT_LEGACY) {
        options.transport = BTZ_MCP_HTTP_SSE;
    }
    f.arena = btz_arena_new();
    arguments = btz_json_new_object(f.arena);
    btz_json_set_strz(f.arena, arguments, "p", "v");
    f.arguments = arguments;
    MUST(!btz_mcp_http_session_new(&options, &f.session, NULL));
    f.client = btz_mcp_http_session_client(f.session);
    MUST(!btz_mcp_http_session_start(f.session));
    take_outputs(&f);
    while (btz_str_cut(&rest, '\n', &text)) {
        line(&f, text);
        take_events(&f);
        take_outputs(&f);
        (void)btz_mcp_http_session_settled(f.session);
    }
    btz_mcp_http_session_close(f.session);
    f.closed = true;
    f.open_count = 0;
    take_outputs(&f);
    take_events(&f);
    MUST(btz_mcp_client_in_flight(f.client) == 0);
    for (size_t i = 0; i < MINE_MAX; i++) {
        MUST(f.failed || !f.mine[i]);
    }
    btz_mcp_http_session_free(f.session);
    btz_arena_free(f.arena);
    return 0;
}
