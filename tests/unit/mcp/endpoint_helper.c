#include "endpoint_helper.h"

#include <stdio.h>
#include <string.h>

#define TOOLS                                                                                      \
    "[{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"}},"                                     \
    "{\"name\":\"r\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"region\":{\"type\":"   \
    "\"string\",\"x-mcp-header\":\"Region\"}}}}]"

int64_t clock_us = 1000;
const char *as_subject;

static char ids[64][41]; /* session ids seen */
static size_t id_count;

struct btz_mcp_endpoint *make_endpoint(struct btz_mcp_endpoint_options options)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_mcp_catalogue catalogue = {.server_info =
                                              json(arena, "{\"name\":\"s\",\"version\":\"1\"}"),
                                          .tools = json(arena, TOOLS),
                                          .resources = json(arena, "[{\"uri\":\"u:1\",\"name\":"
                                                                   "\"one\"}]")};
    struct btz_mcp_endpoint *endpoint = NULL;
    struct btz_err err;

    id_count = 0;
    as_subject = NULL;
    clock_us = 1000;
    options.id_secret = BTZ_STR("0123456789abcdef");
    if (btz_mcp_endpoint_new(&options, &catalogue, &endpoint, &err)) {
        fail_msg("endpoint: %s", err.msg);
    }
    btz_arena_free(arena); /* the endpoint has copies */
    return endpoint;
}

void replace_catalogue(struct btz_mcp_endpoint *endpoint, const char *tools)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_mcp_catalogue catalogue = {.server_info =
                                              json(arena, "{\"name\":\"s\",\"version\":\"1\"}"),
                                          .tools = json(arena, tools),
                                          .resources = json(arena, "[{\"uri\":\"u:1\",\"name\":"
                                                                   "\"one\"}]")};
    struct btz_err err;

    if (btz_mcp_endpoint_set_catalogue(endpoint, &catalogue, &err)) {
        fail_msg("catalogue: %s", err.msg);
    }
    btz_arena_free(arena);
}

void http(struct btz_mcp_endpoint *endpoint, uint64_t exchange, const char *method,
          const char *target, const char *fields, const char *body)
{
    struct btz_http_field list[32];
    struct btz_http_head head = {.method = btz_str_of(method),
                                 .target = btz_str_of(target),
                                 .fields = list,
                                 .content_length = -1};
    struct btz_str rest = btz_str_of(fields);
    struct btz_str line;

    while (btz_str_cut(&rest, '\n', &line) && line.len) {
        ptrdiff_t colon = btz_str_find(line, BTZ_STR(": "));

        assert_true(colon > 0 && head.field_count < 32);
        list[head.field_count++] = (struct btz_http_field){
            btz_str_sub(line, 0, (size_t)colon), btz_str_sub(line, (size_t)colon + 2, line.len)};
    }
    assert_int_equal(btz_mcp_endpoint_request(endpoint, exchange, &head, btz_str_of(body),
                                              btz_str_of(as_subject), clock_us),
                     BTZ_OK);
}

/* "S1" for the first session id seen, and so on. */
static void add_session(struct btz_buf *text, struct btz_str id)
{
    size_t i = 0;

    assert_int_equal(id.len, 40);
    while (i < id_count && !btz_str_is(id, ids[i])) {
        i++;
    }
    if (i == id_count) {
        assert_true(id_count < 64);
        memcpy(ids[id_count++], id.ptr, id.len);
    }
    btz_buf_printf(text, "S%zu", i + 1);
}

static void add_escaped(struct btz_buf *text, struct btz_str bytes)
{
    for (size_t i = 0; i < bytes.len; i++) {
        if (bytes.ptr[i] == '\n') {
            btz_buf_add_text(text, "\\n");
        } else {
            btz_buf_add_byte(text, bytes.ptr[i]);
        }
    }
}

static void add_head(struct btz_buf *text, const struct btz_mcp_endpoint_out *out)
{
    btz_buf_printf(text, "%d [", out->status);
    for (size_t i = 0; i < out->field_count; i++) {
        btz_buf_printf(text, "%s%.*s: ", i ? "; " : "", BTZ_FMT(out->fields[i].name));
        if (btz_str_is(out->fields[i].name, "MCP-Session-Id")) {
            add_session(text, out->fields[i].value);
        } else {
            btz_buf_add_str(text, out->fields[i].value);
        }
    }
    btz_buf_add_text(text, "]");
}

const char *outs(struct btz_mcp_endpoint *endpoint)
{
    static char result[65536];
    struct btz_mcp_endpoint_out out;
    struct btz_buf text;

    btz_buf_init(&text, sizeof(result) - 1);
    while (btz_mcp_endpoint_next_out(endpoint, &out)) {
        btz_buf_printf(&text, "%s%llu ", text.len ? "\n" : "", (unsigned long long)out.exchange);
        switch (out.kind) {
        case BTZ_MCP_OUT_RESPONSE:
            add_head(&text, &out);
            btz_buf_add_text(&text, out.bytes.len ? " " : "");
            add_escaped(&text, out.bytes);
            break;
        case BTZ_MCP_OUT_STREAM:
            btz_buf_add_text(&text, "stream ");
            add_head(&text, &out);
            break;
        case BTZ_MCP_OUT_STREAM_DATA:
            btz_buf_add_text(&text, "data ");
            add_escaped(&text, out.bytes);
            break;
        default:
            btz_buf_add_text(&text, out.kind == BTZ_MCP_OUT_ABORT ? "abort" : "end");
            break;
        }
    }
    assert_int_equal(btz_buf_status(&text), BTZ_OK);
    if (text.len) {
        memcpy(result, text.ptr, text.len);
    }
    result[text.len] = 0;
    btz_buf_fini(&text);
    return result;
}

void expect(struct btz_mcp_endpoint *endpoint, const char *want)
{
    const char *got = outs(endpoint);

    if (strcmp(got, want) != 0) {
        fail_msg("\n--- got\n%s\n--- want\n%s", got, want);
    }
}

void expect_error(struct btz_mcp_endpoint *endpoint, uint64_t exchange, int status, int code,
                  const char *id)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_mcp_endpoint_out out;
    const struct btz_json *body;
    int64_t got = 0;

    if (!btz_mcp_endpoint_next_out(endpoint, &out)) {
        fail_msg("nothing came; an error %d was expected", code);
    }
    if (out.kind != BTZ_MCP_OUT_RESPONSE || out.status != status) {
        fail_msg("got kind %d status %d (%.*s), want an answer with %d", (int)out.kind, out.status,
                 BTZ_FMT(out.bytes), status);
    }
    assert_int_equal(out.exchange, exchange);
    assert_true(out.field_count >= 1);
    assert_text(out.fields[0].name, "Content-Type");
    assert_text(out.fields[0].value, "application/json");
    for (size_t i = 0; i < out.field_count; i++) {
        assert_false(btz_str_is(out.fields[i].name, "MCP-Session-Id"));
    }
    body = json(arena, btz_arena_cstr(arena, out.bytes));
    assert_true(btz_json_int64(btz_json_pointer(body, BTZ_STR("/error/code")), &got));
    if (got != code) {
        fail_msg("got %.*s, want error %d", BTZ_FMT(out.bytes), code);
    }
    if (id) {
        assert_json(btz_json_getz(body, "id"), id);
    } else {
        assert_null(btz_json_getz(body, "id"));
    }
    btz_arena_free(arena);
    expect(endpoint, "");
}

uint64_t take_event(struct btz_mcp_endpoint *endpoint, enum btz_mcp_server_event_kind kind,
                    const char *name, uint64_t *handle)
{
    struct btz_mcp_server_event event;

    if (!btz_mcp_endpoint_next_event(endpoint, handle, &event)) {
        fail_msg("no event; %s was expected", name);
    }
    assert_int_equal(event.kind, kind);
    assert_text(event.name, name);
    return event.token;
}

void no_event(struct btz_mcp_endpoint *endpoint)
{
    struct btz_mcp_server_event event;
    uint64_t handle;

    if (btz_mcp_endpoint_next_event(endpoint, &handle, &event)) {
        fail_msg("event %d (%.*s), want none", (int)event.kind, BTZ_FMT(event.name));
    }
}

void answer_call(struct btz_mcp_endpoint *endpoint, uint64_t handle, uint64_t token)
{
    struct btz_mcp_server *server = btz_mcp_endpoint_server(endpoint, handle);

    assert_non_null(server);
    server_reply(server, token, CALLED);
}

void progress(struct btz_mcp_endpoint *endpoint, uint64_t handle, uint64_t token, double value)
{
    struct btz_mcp_server *server = btz_mcp_endpoint_server(endpoint, handle);

    assert_non_null(server);
    assert_int_equal(btz_mcp_server_progress(server, token, value, -1, BTZ_STR_NONE), BTZ_OK);
}

const char *open_session(struct btz_mcp_endpoint *endpoint, const char *version)
{
    static char lines[8][128];
    static unsigned next;
    char *line = lines[next++ % 8];
    char body[512];
    struct btz_mcp_endpoint_out out;
    struct btz_str id;

    snprintf(body, sizeof(body),
             LEGACY("0", "initialize",
                    "\"protocolVersion\":\"%s\",\"capabilities\":{\"roots\":{}},"
                    "\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}"),
             version);
    POST(endpoint, 1, "", body);
    assert_true(btz_mcp_endpoint_next_out(endpoint, &out));
    assert_int_equal(out.kind, BTZ_MCP_OUT_RESPONSE);
    assert_int_equal(out.status, 200);
    assert_int_equal(out.field_count, 2);
    assert_text(out.fields[1].name, "MCP-Session-Id");
    assert_true(btz_str_find(out.bytes, btz_str_of(version)) > 0);
    id = out.fields[1].value;
    snprintf(line, sizeof(lines[0]), "MCP-Session-Id: %.*s\n", BTZ_FMT(id));
    http(endpoint, 1, "POST", "/mcp", with(POST_FIELDS, line),
         "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    expect(endpoint, "1 202 []");
    return line;
}

const char *with(const char *fields, const char *session)
{
    static char buffers[4][512];
    static unsigned next;
    char *out = buffers[next++ % 4];

    assert_true(snprintf(out, sizeof(buffers[0]), "%s%s", fields, session) < 512);
    return out;
}
