/* Which era the server speaks, and which revision (design brief 1.2). */
#include "mcp/client_int.h"

static int discover_as(struct btz_mcp_client *client, enum btz_mcp_revision revision)
{
    client->revision = revision;
    return btz_mcp_client_send(client, btz_mcp_client_request(client, BTZ_MCP_M_DISCOVER), NULL);
}

int btz_mcp_client_discover(struct btz_mcp_client *client)
{
    return discover_as(client,
                       btz_mcp_revision_newest(client->options.accept & BTZ_MCP_SET_MODERN));
}

int btz_mcp_client_initialize(struct btz_mcp_client *client)
{
    struct request *request = btz_mcp_client_request(client, BTZ_MCP_M_INITIALIZE);
    struct btz_json *params = btz_json_new_object(request->arena);

    client->state = CLIENT_INITIALIZING;
    client->revision = client->options.revision;
    btz_json_set_strz(request->arena, params, "protocolVersion",
                      btz_mcp_revision_text(client->revision));
    btz_json_setz(request->arena, params, "capabilities", client->capabilities);
    btz_json_setz(request->arena, params, "clientInfo", client->info);
    return btz_mcp_client_send(client, request, params);
}

static void give_up(struct btz_mcp_client *client, enum btz_mcp_fault fault, const char *text)
{
    btz_mcp_client_dead(
        client, (struct btz_mcp_client_event){.fault = fault, .message = btz_str_of(text)}, NULL);
}

/* The probe found no modern server. */
static int fall_back(struct btz_mcp_client *client, const char *why)
{
    while (client->requests) {
        btz_mcp_client_drop(client, client->requests);
    }
    if (client->options.forbid_fallback || !client->options.revision) {
        give_up(client, BTZ_MCP_FAULT_VERSION, why);
        return BTZ_OK;
    }
    client->fell_back = true;
    return btz_mcp_client_initialize(client);
}

int btz_mcp_client_probe_timeout(struct btz_mcp_client *client)
{
    if (client->state != CLIENT_PROBING) {
        return BTZ_ESTATE;
    }
    return fall_back(client, "the server did not answer server/discover, and falling back to "
                             "initialize is not allowed");
}

/* Revisions in an array of version strings; false if it is no such array. */
static bool read_versions(const struct btz_json *list, unsigned *set)
{
    *set = 0;
    if (!btz_json_is(list, BTZ_JSON_ARRAY)) {
        return false;
    }
    for (size_t i = 0; i < btz_json_count(list); i++) {
        const struct btz_json *item = btz_json_at(list, i);
        enum btz_mcp_revision revision = btz_mcp_revision_parse(btz_json_str(item));

        if (!btz_json_is(item, BTZ_JSON_STRING)) {
            return false;
        }
        if (revision) {
            *set |= BTZ_MCP_SET(revision);
        }
    }
    return true;
}

static void ready(struct received *in, struct request *request, enum btz_mcp_revision revision,
                  const struct btz_json *info)
{
    struct btz_mcp_client *client = in->client;
    const struct btz_json *result = in->message.result;
    const struct btz_json *instructions = btz_json_getz(result, "instructions");
    struct btz_mcp_client_event event = {.kind = BTZ_MCP_CLIENT_READY,
                                         .value = result,
                                         .revision = revision,
                                         .fell_back = client->fell_back,
                                         .server_info = info,
                                         .capabilities = btz_json_getz(result, "capabilities"),
                                         .instructions = btz_json_str(instructions)};

    client->revision = revision;
    client->state = CLIENT_READY;
    btz_mcp_client_drop(client, request);
    btz_mcp_client_push(client, &event, in->arena);
    in->arena = NULL;
}

static bool is_text_or_absent(const struct btz_json *value)
{
    return !value || btz_json_is(value, BTZ_JSON_STRING);
}

static int initialized(struct received *in, struct request *request)
{
    struct btz_mcp_client *client = in->client;
    const struct btz_json *result = in->message.result;
    const struct btz_json *version = btz_json_getz(result, "protocolVersion");
    const struct btz_json *info = btz_json_getz(result, "serverInfo");
    enum btz_mcp_revision revision = btz_mcp_revision_parse(btz_json_str(version));

    if (!btz_json_is(version, BTZ_JSON_STRING) ||
        !btz_json_is(btz_json_getz(result, "capabilities"), BTZ_JSON_OBJECT) ||
        !btz_json_is(btz_json_getz(info, "name"), BTZ_JSON_STRING) ||
        !btz_json_is(btz_json_getz(info, "version"), BTZ_JSON_STRING) ||
        !is_text_or_absent(btz_json_getz(result, "instructions"))) {
        give_up(client, BTZ_MCP_FAULT_INVALID,
                "the result of initialize needs protocolVersion, capabilities and serverInfo with "
                "name and version; instructions must be a string");
        return BTZ_OK;
    }
    if (!(BTZ_MCP_SET(revision) & client->options.accept & BTZ_MCP_SET_LEGACY)) {
        give_up(client, BTZ_MCP_FAULT_VERSION,
                "the server answered initialize with a protocol version that is not accepted here");
        return BTZ_OK;
    }
    ready(in, request, revision, info);
    return btz_mcp_client_notify(client, BTZ_MCP_N_INITIALIZED, NULL);
}

static int discovered(struct received *in, struct request *request)
{
    struct btz_mcp_client *client = in->client;
    const struct btz_json *result = in->message.result;
    const struct btz_json *type = btz_json_getz(result, "resultType");
    const struct btz_json *info =
        btz_json_getz(btz_json_getz(result, "_meta"), BTZ_MCP_META "serverInfo");
    bool probing = client->state == CLIENT_PROBING;
    enum btz_mcp_revision revision;
    unsigned offered;

    if (!read_versions(btz_json_getz(result, "supportedVersions"), &offered) ||
        !btz_json_is(btz_json_getz(result, "capabilities"), BTZ_JSON_OBJECT) ||
        !is_text_or_absent(btz_json_getz(result, "instructions")) ||
        (type && !btz_str_is(btz_json_str(type), "complete"))) {
        if (probing) {
            return fall_back(client, "the answer to server/discover is no DiscoverResult, and "
                                     "falling back to initialize is not allowed");
        }
        give_up(client, BTZ_MCP_FAULT_INVALID,
                "the result of server/discover needs supportedVersions and capabilities; "
                "instructions must be a string");
        return BTZ_OK;
    }
    revision = btz_mcp_revision_newest(offered & client->options.accept & BTZ_MCP_SET_MODERN);
    if (revision) {
        client->stats.untyped += !type;
        ready(in, request, revision, info);
        return BTZ_OK;
    }
    if (probing && (offered & client->options.accept)) {
        return fall_back(client, "the server offers legacy versions only, and falling back to "
                                 "initialize is not allowed");
    }
    give_up(client, BTZ_MCP_FAULT_VERSION, "no version the server offers is accepted here");
    return BTZ_OK;
}

/* -32022 with its data: the server is modern (or both) and says what it serves. The client picks
 * from that and asks again (specification 2026-07-28, "Versioning"), once: also with the revision
 * that was refused, if that is what the server now claims to serve. */
static int other_version(struct received *in, unsigned offered)
{
    struct btz_mcp_client *client = in->client;
    unsigned usable = offered & client->options.accept;

    if ((usable & BTZ_MCP_SET_MODERN) && !client->asked_again) {
        client->asked_again = true;
        while (client->requests) {
            btz_mcp_client_drop(client, client->requests);
        }
        return discover_as(client, btz_mcp_revision_newest(usable & BTZ_MCP_SET_MODERN));
    }
    if (!(usable & BTZ_MCP_SET_MODERN) && usable && client->state == CLIENT_PROBING) {
        return fall_back(client, "the server serves legacy versions only, and falling back to "
                                 "initialize is not allowed");
    }
    give_up(client, BTZ_MCP_FAULT_VERSION,
            usable ? "the server refuses a version that it says it serves"
                   : "no version the server offers is accepted here");
    return BTZ_OK;
}

static void refused(struct received *in)
{
    struct btz_mcp_client_event event = {.fault = BTZ_MCP_FAULT_REMOTE,
                                         .code = in->message.error_code,
                                         .message = in->message.error_message,
                                         .data = in->message.error_data};

    btz_mcp_client_dead(in->client, event, in->arena);
    in->arena = NULL;
}

static int discover_failed(struct received *in)
{
    struct btz_mcp_client *client = in->client;
    const struct btz_json *data = in->message.error_data;
    unsigned offered;

    if (in->message.error_code == BTZ_MCP_E_VERSION &&
        read_versions(btz_json_getz(data, "supported"), &offered)) {
        return other_version(in, offered);
    }
    if (client->state == CLIENT_DISCOVERING || in->message.error_code == BTZ_MCP_E_HEADER ||
        (in->message.error_code == BTZ_MCP_E_CAPABILITY &&
         btz_json_is(btz_json_getz(data, "requiredCapabilities"), BTZ_JSON_OBJECT))) {
        refused(in);
        return BTZ_OK;
    }
    return fall_back(client, "the server refused server/discover, and falling back to initialize "
                             "is not allowed");
}

int btz_mcp_client_handshake(struct received *in, struct request *request)
{
    bool discover = btz_mcp_method_id(request->method) == BTZ_MCP_M_DISCOVER;

    if (in->message.kind == BTZ_MCP_ERROR) {
        if (discover) {
            return discover_failed(in);
        }
        refused(in);
        return BTZ_OK;
    }
    return discover ? discovered(in, request) : initialized(in, request);
}

int btz_mcp_client_handshake_unreadable(struct btz_mcp_client *client)
{
    if (client->state == CLIENT_PROBING) {
        return fall_back(client, "the answer to server/discover cannot be read, and falling back "
                                 "to initialize is not allowed");
    }
    give_up(client, BTZ_MCP_FAULT_INVALID, "the server's answer to the handshake cannot be read");
    return BTZ_OK;
}
