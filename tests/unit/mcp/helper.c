#include "helper.h"

#include <stdio.h>
#include <string.h>

const char *q(const char *text)
{
    static char buffers[8][4096];
    static unsigned next;
    char *out = buffers[next++ % 8];
    size_t len = strlen(text);

    assert_true(len < sizeof(buffers[0]));
    for (size_t i = 0; i <= len; i++) {
        out[i] = text[i] == '\'' ? '"' : text[i];
    }
    return out;
}

const struct btz_json *json(struct btz_arena *arena, const char *text)
{
    const struct btz_json *value = NULL;
    struct btz_err err;

    if (!text) {
        return NULL;
    }
    if (btz_json_parse(arena, btz_str_of(text), NULL, &value, &err)) {
        fail_msg("test JSON: %s in %s", err.msg, text);
    }
    return value;
}

void assert_text(struct btz_str got, const char *want)
{
    if (!btz_str_is(got, want)) {
        fail_msg("\n got: %.*s\nwant: %s", BTZ_FMT(got), want);
    }
}

void assert_json(const struct btz_json *got, const char *want)
{
    struct btz_arena *arena = btz_arena_new();
    bool equal = got && btz_json_equal(got, json(arena, want));
    struct btz_str text = got ? btz_json_text(arena, got) : BTZ_STR("nothing");

    if (!equal) {
        fail_msg("\n got: %.*s\nwant: %s", BTZ_FMT(text), want);
    }
    btz_arena_free(arena);
}

static struct btz_mcp_catalogue catalogue(struct btz_arena *arena, const char *tools,
                                          const char *resources, const char *templates)
{
    return (struct btz_mcp_catalogue){.server_info =
                                          json(arena, "{\"name\":\"s\",\"version\":\"1\"}"),
                                      .tools = json(arena, tools),
                                      .resources = json(arena, resources),
                                      .templates = json(arena, templates)};
}

struct btz_mcp_server *make_server(struct btz_mcp_server_options options, const char *tools,
                                   const char *resources, const char *templates)
{
    return make_full_server(options, tools, resources, templates, NULL);
}

struct btz_mcp_server *make_full_server(struct btz_mcp_server_options options, const char *tools,
                                        const char *resources, const char *templates,
                                        const char *prompts)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_mcp_catalogue offer = catalogue(arena, tools, resources, templates);
    struct btz_mcp_server *server = NULL;
    struct btz_err err;

    offer.prompts = json(arena, prompts);
    if (btz_mcp_server_new(&options, &offer, &server, &err)) {
        fail_msg("server: %s", err.msg);
    }
    btz_arena_free(arena); /* the machine has copies */
    return server;
}

int replace_tools(struct btz_mcp_server *server, const char *tools, const char *resources,
                  const char *templates, bool quiet)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_mcp_catalogue offer = catalogue(arena, tools, resources, templates);
    struct btz_err err;
    int rc;

    offer.quiet = quiet;
    rc = btz_mcp_server_set_catalogue(server, &offer, &err);
    btz_arena_free(arena);
    return rc;
}

struct btz_mcp_client *make_client(struct btz_mcp_client_options options)
{
    struct btz_mcp_client *client = NULL;
    struct btz_err err;

    options.name = BTZ_STR("t");
    options.version = BTZ_STR("1");
    if (btz_mcp_client_new(&options, &client, &err)) {
        fail_msg("client: %s", err.msg);
    }
    return client;
}

void server_in(struct btz_mcp_server *server, const char *text)
{
    assert_int_equal(btz_mcp_server_feed(server, btz_str_of(text)), BTZ_OK);
}

void server_out(struct btz_mcp_server *server, const char *text)
{
    struct btz_str bytes;

    if (!btz_mcp_server_next_out(server, &bytes)) {
        if (text) {
            fail_msg("\n got nothing\nwant: %s", text);
        }
        return;
    }
    if (text) {
        assert_text(bytes, text);
    } else {
        fail_msg("\n got: %.*s\nwant nothing", BTZ_FMT(bytes));
    }
}

void server_error(struct btz_mcp_server *server, const char *id, int code)
{
    struct btz_arena *arena = btz_arena_new();
    const struct btz_json *message;
    struct btz_str bytes;
    struct btz_err err;
    int64_t got = 0;

    if (!btz_mcp_server_next_out(server, &bytes)) {
        fail_msg("no message; an error %d was expected", code);
    }
    assert_int_equal(btz_json_parse(arena, bytes, NULL, &message, &err), BTZ_OK);
    assert_true(btz_json_int64(btz_json_pointer(message, BTZ_STR("/error/code")), &got));
    if (got != code) {
        fail_msg("\n got: %.*s\nwant error %d", BTZ_FMT(bytes), code);
    }
    assert_true(btz_json_str(btz_json_pointer(message, BTZ_STR("/error/message"))).len > 0);
    if (id) {
        assert_json(btz_json_getz(message, "id"), id);
    } else {
        assert_null(btz_json_getz(message, "id"));
    }
    btz_arena_free(arena);
}

uint64_t server_event(struct btz_mcp_server *server, enum btz_mcp_server_event_kind kind,
                      const char *name)
{
    struct btz_mcp_server_event event;

    if (!btz_mcp_server_next_event(server, &event)) {
        fail_msg("no event; %s was expected", name);
    }
    assert_int_equal(event.kind, kind);
    assert_text(event.name, name);
    return event.token;
}

void server_quiet(struct btz_mcp_server *server)
{
    struct btz_mcp_server_event event;

    server_out(server, NULL);
    assert_false(btz_mcp_server_next_event(server, &event));
}

void server_reply(struct btz_mcp_server *server, uint64_t token, const char *result)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_err err;

    if (btz_mcp_server_reply_result(server, token, json(arena, result), &err)) {
        fail_msg("reply: %s", err.msg);
    }
    btz_arena_free(arena); /* the message is written already */
}

const char *modern_request(const char *id, const char *method, const char *capabilities,
                           const char *params)
{
    char text[4096];

    snprintf(text, sizeof(text),
             "{'jsonrpc':'2.0','id':%s,'method':'%s','params':{'_meta':{"
             "'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
             "'io.modelcontextprotocol/clientCapabilities':%s}%s%s}}",
             id, method, capabilities, params ? "," : "", params ? params : "");
    return q(text);
}

const char *legacy_request(const char *id, const char *method, const char *params)
{
    char text[4096];

    snprintf(text, sizeof(text), "{'jsonrpc':'2.0','id':%s,'method':'%s','params':{%s}}", id,
             method, params ? params : "");
    return q(text);
}

void server_open(struct btz_mcp_server *server, const char *version)
{
    server_open_with(server, version, "{\"roots\":{}}");
}

void server_open_with(struct btz_mcp_server *server, const char *version, const char *capabilities)
{
    char text[512];
    struct btz_str bytes;

    snprintf(text, sizeof(text),
             "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
             "\"protocolVersion\":\"%s\",\"capabilities\":%s,"
             "\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}",
             version, capabilities);
    server_in(server, text);
    assert_true(btz_mcp_server_next_out(server, &bytes));
    assert_true(btz_str_find(bytes, btz_str_of(version)) > 0);
    server_in(server, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    server_quiet(server);
}

void client_in(struct btz_mcp_client *client, const char *text)
{
    assert_int_equal(btz_mcp_client_feed(client, btz_str_of(text)), BTZ_OK);
}

void client_out(struct btz_mcp_client *client, const char *text)
{
    struct btz_str bytes;

    if (!btz_mcp_client_next_out(client, &bytes)) {
        if (text) {
            fail_msg("\n got nothing\nwant: %s", text);
        }
        return;
    }
    if (text) {
        assert_text(bytes, text);
    } else {
        fail_msg("\n got: %.*s\nwant nothing", BTZ_FMT(bytes));
    }
}

struct btz_mcp_client_event client_event(struct btz_mcp_client *client,
                                         enum btz_mcp_client_event_kind kind)
{
    struct btz_mcp_client_event event = {0};

    if (!btz_mcp_client_next_event(client, &event)) {
        fail_msg("no event; kind %d was expected", (int)kind);
    }
    if (event.kind != kind) {
        fail_msg("event %d (%.*s), want %d", (int)event.kind, BTZ_FMT(event.message), (int)kind);
    }
    return event;
}

void client_quiet(struct btz_mcp_client *client)
{
    struct btz_mcp_client_event event;

    client_out(client, NULL);
    if (btz_mcp_client_next_event(client, &event)) {
        fail_msg("event %d (%.*s), want none", (int)event.kind, BTZ_FMT(event.message));
    }
}

void client_open(struct btz_mcp_client *client, const char *version)
{
    bool modern = btz_mcp_era_of(btz_mcp_revision_parse(btz_str_of(version))) == BTZ_MCP_MODERN;
    struct btz_mcp_client_event event;
    struct btz_str bytes;
    char text[512];

    assert_int_equal(btz_mcp_client_start(client), BTZ_OK);
    assert_true(btz_mcp_client_next_out(client, &bytes));
    snprintf(text, sizeof(text),
             modern ? "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"complete\","
                      "\"supportedVersions\":[\"%s\"],\"capabilities\":{},\"ttlMs\":0,"
                      "\"cacheScope\":\"private\"}}"
                    : "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"%s\","
                      "\"capabilities\":{},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}",
             version);
    client_in(client, text);
    event = client_event(client, BTZ_MCP_CLIENT_READY);
    assert_string_equal(btz_mcp_revision_text(event.revision), version);
    if (!modern) {
        client_out(client, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    }
    client_quiet(client);
}
