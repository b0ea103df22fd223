/* What happens to a message of the client. The order of checks for modern requests is the one the
 * specification leaves open and design brief 2.4 settles: shape, era, envelope, version header,
 * Mcp-Method, served version, missing headers and Mcp-Name, method, Mcp-Param-*. */
#include "mcp/param_header.h"
#include "mcp/server_http.h"
#include "mcp/server_int.h"

#define NO_ID ((struct btz_mcp_id){0})

int btz_mcp_server_refuse(struct incoming *in, int code, int http_status, const char *text,
                          const struct btz_json *data)
{
    in->server->stats.refused++;
    return btz_mcp_server_send_error(in->server, in->message.id, code, btz_str_of(text), data,
                                     in->headers ? http_status : 200, in->revision);
}

/* An era's own members can only be judged once it is known that the request claims it. */
static bool claims_modern(const struct btz_json *meta)
{
    return btz_json_getz(meta, BTZ_MCP_META "protocolVersion") ||
           btz_json_getz(meta, BTZ_MCP_META "clientCapabilities") ||
           btz_json_getz(meta, BTZ_MCP_META "clientInfo");
}

/* True for version texts from the first modern revision on, known or not: they are dates. */
static bool names_modern(struct btz_str version)
{
    struct btz_str first = btz_str_of(btz_mcp_revision_text(BTZ_MCP_MODERN_FIRST));

    if (version.len != first.len) {
        return false;
    }
    for (size_t i = 0; i < version.len; i++) {
        bool dash = i == 4 || i == 7;

        if (dash ? version.ptr[i] != '-' : version.ptr[i] < '0' || version.ptr[i] > '9') {
            return false;
        }
    }
    return btz_str_cmp(version, first) >= 0;
}

static bool is_implementation(const struct btz_json *info)
{
    return btz_json_is(btz_json_getz(info, "name"), BTZ_JSON_STRING) &&
           btz_json_is(btz_json_getz(info, "version"), BTZ_JSON_STRING);
}

/* What is wrong with the modern envelope, or NULL (specification, per-request metadata). */
static const char *envelope_fault(const struct btz_json *meta)
{
    const struct btz_json *info = btz_json_getz(meta, BTZ_MCP_META "clientInfo");
    const struct btz_json *level = btz_json_getz(meta, BTZ_MCP_META "logLevel");

    if (!btz_json_is(btz_json_getz(meta, BTZ_MCP_META "protocolVersion"), BTZ_JSON_STRING)) {
        return "_meta needs the string " BTZ_MCP_META "protocolVersion";
    }
    if (!btz_json_is(btz_json_getz(meta, BTZ_MCP_META "clientCapabilities"), BTZ_JSON_OBJECT)) {
        return "_meta needs the object " BTZ_MCP_META "clientCapabilities";
    }
    if (info && !is_implementation(info)) {
        return BTZ_MCP_META "clientInfo must have the strings name and version";
    }
    if (level && btz_mcp_log_level(btz_json_str(level)) < 0) {
        return BTZ_MCP_META "logLevel must be a log level of RFC 5424";
    }
    return NULL;
}

/* {"supported":[...],"requested":"..."}, newest first. To a client that asked for a legacy revision
 * in an envelope only the modern ones are named, or it would ask for the same again. */
static struct btz_json *version_data(struct incoming *in, struct btz_str requested)
{
    unsigned set = in->server->options.revisions;
    struct btz_json *data = btz_json_new_object(in->arena);
    struct btz_json *supported = btz_json_new_array(in->arena);

    if (btz_mcp_revision_parse(requested)) {
        set &= BTZ_MCP_SET_MODERN;
    }
    while (set) {
        enum btz_mcp_revision revision = btz_mcp_revision_newest(set);

        btz_json_push(in->arena, supported,
                      btz_json_new_strz(in->arena, btz_mcp_revision_text(revision)));
        set &= ~BTZ_MCP_SET(revision);
    }
    btz_json_setz(in->arena, data, "supported", supported);
    if (requested.ptr) {
        btz_json_set_str(in->arena, data, "requested", requested);
    }
    return data;
}

int btz_mcp_server_answer(struct incoming *in, const struct btz_json *body)
{
    bool cacheable = in->method && in->method->cacheable;
    struct btz_json *result =
        btz_mcp_server_finish(in->server, in->arena, body, in->revision, cacheable);

    return btz_mcp_server_send_result(in->server, in->message.id, result, in->revision);
}

static int discover(struct incoming *in)
{
    struct btz_mcp_server *server = in->server;
    struct btz_json *body = btz_json_new_object(in->arena);

    btz_json_setz(in->arena, body, "supportedVersions",
                  btz_json_getz(version_data(in, BTZ_STR_NONE), "supported"));
    btz_json_setz(in->arena, body, "capabilities", btz_mcp_offer_capabilities(server, in->arena));
    if (server->offer.instructions.ptr) {
        btz_json_set_str(in->arena, body, "instructions", server->offer.instructions);
    }
    return btz_mcp_server_answer(in, body);
}

static int list(struct incoming *in)
{
    struct btz_json *body = btz_json_new_object(in->arena);

    if (!btz_mcp_offer_page(in->server, in->arena, in->method,
                            btz_json_getz(in->message.params, "cursor"), body)) {
        return btz_mcp_server_refuse(
            in, BTZ_MCP_E_PARAMS, 200,
            "\"cursor\" must be a nextCursor of the current list; leave it out to begin "
            "again",
            NULL);
    }
    return btz_mcp_server_answer(in, body);
}

/* Era, revision and method are known and allowed. */
static int dispatch(struct incoming *in)
{
    if (btz_mcp_server_call_by_id(in->server, in->message.id) ||
        btz_mcp_server_stream_by_id(in->server, in->message.id)) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_REQUEST, 200,
                                     "a request with this id is still in flight; use a new id",
                                     NULL);
    }
    switch (btz_mcp_method_id(in->method)) {
    case BTZ_MCP_M_PING:
        return btz_mcp_server_answer(in, NULL);
    case BTZ_MCP_M_DISCOVER:
        return discover(in);
    case BTZ_MCP_M_TOOLS_LIST:
    case BTZ_MCP_M_RESOURCES_LIST:
    case BTZ_MCP_M_TEMPLATES_LIST:
    case BTZ_MCP_M_PROMPTS_LIST:
        return list(in);
    case BTZ_MCP_M_TOOLS_CALL:
    case BTZ_MCP_M_RESOURCES_READ:
    case BTZ_MCP_M_PROMPTS_GET:
    case BTZ_MCP_M_COMPLETE:
        return btz_mcp_server_work(in);
    case BTZ_MCP_M_SET_LEVEL:
        return btz_mcp_server_set_level(in);
    case BTZ_MCP_M_RESOURCES_SUBSCRIBE:
        return btz_mcp_server_subscribe(in);
    case BTZ_MCP_M_RESOURCES_UNSUBSCRIBE:
        return btz_mcp_server_unsubscribe(in);
    case BTZ_MCP_M_LISTEN:
        return btz_mcp_server_listen(in);
    default:
        return btz_mcp_server_refuse(in, BTZ_MCP_E_INTERNAL, 200, "this method has no handler",
                                     NULL);
    }
}

/* Sets in->method if the client may call it in in->revision and the catalogue has it. */
static bool find_method(struct incoming *in)
{
    const struct btz_mcp_method *method = btz_mcp_method_find(in->message.method);
    bool subscribes = method == btz_mcp_method_at(BTZ_MCP_M_RESOURCES_SUBSCRIBE) ||
                      method == btz_mcp_method_at(BTZ_MCP_M_RESOURCES_UNSUBSCRIBE);

    if (!method || method->notification || !method->offered ||
        !btz_mcp_method_allowed(method, BTZ_MCP_FROM_CLIENT, in->revision) ||
        !btz_mcp_server_has(in->server, method->capability) ||
        (subscribes && !in->server->options.subscribe)) {
        return false;
    }
    in->method = method;
    return true;
}

static int unknown_method(struct incoming *in)
{
    return btz_mcp_server_refuse(in, BTZ_MCP_E_METHOD, 404, "this method is not offered", NULL);
}

/* Headers that only exist on HTTP; each is compared with the body, which is the truth. */
static const char *missing_header(const struct incoming *in)
{
    const struct btz_mcp_method *method = btz_mcp_method_find(in->message.method);
    const char *mirror = method ? method->header_name : NULL;
    struct btz_str name =
        mirror ? btz_json_str(btz_json_getz(in->message.params, mirror)) : BTZ_STR_NONE;

    if (!in->headers->protocol_version.ptr) {
        return "the header MCP-Protocol-Version is missing";
    }
    if (!in->headers->method.ptr) {
        return "the header Mcp-Method is missing";
    }
    if (mirror && !in->headers->name.ptr) {
        return "the header Mcp-Name is missing";
    }
    if (mirror && !btz_str_eq(in->headers->name, name)) {
        return "the header Mcp-Name does not match the body";
    }
    return NULL;
}

/* Mcp-Param-* of a call against its arguments; what is no tool is refused later. */
static int check_params(struct incoming *in, struct btz_err *err)
{
    const struct btz_json *params = in->message.params;
    const struct btz_json *tool;

    if (!in->headers || in->method != btz_mcp_method_at(BTZ_MCP_M_TOOLS_CALL)) {
        return BTZ_OK;
    }
    tool = btz_mcp_offer_find(in->server->offer.tools, "name",
                              btz_json_str(btz_json_getz(params, "name")));
    return btz_mcp_param_check(in->arena, btz_json_getz(tool, "inputSchema"),
                               btz_json_getz(params, "arguments"), in->headers->params,
                               in->headers->param_count, err);
}

static int modern(struct incoming *in)
{
    const struct btz_mcp_headers *headers = in->headers;
    const char *fault = envelope_fault(in->meta);
    struct btz_str version;
    struct btz_err err;

    in->revision = BTZ_MCP_MODERN_FIRST; /* until the envelope has named one that is served */
    if (fault) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_PARAMS, 400, fault, NULL);
    }
    version = btz_json_str(btz_json_getz(in->meta, BTZ_MCP_META "protocolVersion"));
    if (headers && headers->protocol_version.ptr &&
        !btz_str_eq(headers->protocol_version, version)) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_HEADER, 400,
                                     "the header MCP-Protocol-Version does not match the body",
                                     NULL);
    }
    if (headers && headers->method.ptr && !btz_str_eq(headers->method, in->message.method)) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_HEADER, 400,
                                     "the header Mcp-Method does not match the body", NULL);
    }
    if (!(BTZ_MCP_SET(btz_mcp_revision_parse(version)) & in->server->options.revisions &
          BTZ_MCP_SET_MODERN)) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_VERSION, 400,
                                     "this protocol version is not served",
                                     version_data(in, version));
    }
    in->revision = btz_mcp_revision_parse(version);
    fault = headers ? missing_header(in) : NULL;
    if (fault) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_HEADER, 400, fault, NULL);
    }
    if (!find_method(in)) {
        return unknown_method(in);
    }
    if (check_params(in, &err)) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_HEADER, 400, err.msg, NULL);
    }
    return dispatch(in);
}

/* Legacy handshake: echo a version that is served, else offer the newest legacy one. */
static int initialize(struct incoming *in)
{
    struct btz_mcp_server *server = in->server;
    struct session *session = &server->session;
    const struct btz_json *params = in->message.params;
    const struct btz_json *version = btz_json_getz(params, "protocolVersion");
    const struct btz_json *capabilities = btz_json_getz(params, "capabilities");
    const struct btz_json *info = btz_json_getz(params, "clientInfo");
    unsigned served = server->options.revisions & BTZ_MCP_SET_LEGACY;
    enum btz_mcp_revision revision = btz_mcp_revision_parse(btz_json_str(version));
    struct btz_json *body;

    if (session->revision) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_REQUEST, 400,
                                     "this session is initialized already", NULL);
    }
    if (!btz_json_is(version, BTZ_JSON_STRING) || !btz_json_is(capabilities, BTZ_JSON_OBJECT) ||
        !is_implementation(info)) {
        return btz_mcp_server_refuse(
            in, BTZ_MCP_E_PARAMS, 200,
            "initialize needs the string protocolVersion, the object capabilities and "
            "clientInfo with the strings name and version",
            NULL);
    }
    if (!(BTZ_MCP_SET(revision) & served)) {
        revision = btz_mcp_revision_newest(served);
    }
    session->arena = btz_arena_new();
    session->client_info = btz_json_dup(session->arena, info);
    session->client_capabilities = btz_json_dup(session->arena, capabilities);
    session->revision = revision;
    in->revision = revision;
    body = btz_json_new_object(in->arena);
    btz_json_set_strz(in->arena, body, "protocolVersion", btz_mcp_revision_text(revision));
    btz_json_setz(in->arena, body, "capabilities", btz_mcp_offer_capabilities(server, in->arena));
    btz_json_setz(in->arena, body, "serverInfo", server->offer.server_info);
    if (server->offer.instructions.ptr) {
        btz_json_set_str(in->arena, body, "instructions", server->offer.instructions);
    }
    return btz_mcp_server_answer(in, body);
}

static int legacy(struct incoming *in)
{
    struct session *session = &in->server->session;
    unsigned served = in->server->options.revisions & BTZ_MCP_SET_LEGACY;
    const struct btz_mcp_headers *headers = in->headers;
    bool ping = btz_str_is(in->message.method, btz_mcp_method_at(BTZ_MCP_M_PING)->name);

    if (headers && headers->protocol_version.ptr &&
        !(BTZ_MCP_SET(btz_mcp_revision_parse(headers->protocol_version)) & served)) {
        return btz_mcp_server_refuse(
            in, BTZ_MCP_E_REQUEST, 400,
            "the header MCP-Protocol-Version names a version that is not served", NULL);
    }
    in->revision = session->revision ? session->revision : btz_mcp_revision_newest(served);
    if (!find_method(in)) {
        /* Legacy knows no 404 for methods: that status means a lost session. */
        return btz_mcp_server_refuse(in, BTZ_MCP_E_METHOD, 200, "this method is not offered", NULL);
    }
    if (!session->revision && !ping) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_REQUEST, 400,
                                     "the session is not initialized; send initialize first", NULL);
    }
    return dispatch(in);
}

/* `initialize` that makes no valid modern claim. */
static int legacy_initialize(struct incoming *in, bool header_modern)
{
    struct btz_str version = btz_json_str(btz_json_getz(in->message.params, "protocolVersion"));

    if (header_modern) {
        return btz_mcp_server_refuse(
            in, BTZ_MCP_E_HEADER, 400,
            "initialize is a legacy request, but MCP-Protocol-Version names a modern "
            "version",
            NULL);
    }
    if (!(in->server->options.revisions & BTZ_MCP_SET_LEGACY)) {
        return btz_mcp_server_refuse(in, BTZ_MCP_E_VERSION, 400,
                                     "only modern protocol versions are served; send no initialize",
                                     version_data(in, version));
    }
    return initialize(in);
}

bool btz_mcp_names_modern(struct btz_str version)
{
    return names_modern(version);
}

enum btz_mcp_route btz_mcp_server_route(unsigned served, const struct btz_mcp_message *message,
                                        struct btz_str version)
{
    const struct btz_mcp_method *method = btz_mcp_method_find(message->method);
    const struct btz_json *meta = btz_json_getz(message->params, "_meta");
    bool request = message->kind == BTZ_MCP_REQUEST;
    bool serves_modern = served & BTZ_MCP_SET_MODERN;
    bool claims = serves_modern && claims_modern(meta);
    bool header_modern = serves_modern && names_modern(version);
    bool only_modern =
        request && serves_modern && method && !method->legacy_from && method->modern_from;

    if (!(served & BTZ_MCP_SET_LEGACY)) {
        return BTZ_MCP_ROUTE_STATELESS;
    }
    if (request && method && btz_mcp_method_id(method) == BTZ_MCP_M_INITIALIZE &&
        !(claims && !envelope_fault(meta))) {
        return header_modern ? BTZ_MCP_ROUTE_STATELESS : BTZ_MCP_ROUTE_INITIALIZE;
    }
    return claims || header_modern || only_modern ? BTZ_MCP_ROUTE_STATELESS : BTZ_MCP_ROUTE_SESSION;
}

static int take_request(struct incoming *in)
{
    unsigned served = in->server->options.revisions;
    bool serves_modern = served & BTZ_MCP_SET_MODERN;
    bool claims = serves_modern && claims_modern(in->meta);
    bool header_modern =
        serves_modern && in->headers && names_modern(in->headers->protocol_version);
    const struct btz_mcp_method *method = btz_mcp_method_find(in->message.method);
    bool only_modern = method && !method->legacy_from && method->modern_from;

    if (method && btz_mcp_method_id(method) == BTZ_MCP_M_INITIALIZE &&
        !(claims && !envelope_fault(in->meta))) {
        return legacy_initialize(in, header_modern);
    }
    if (claims) {
        return modern(in);
    }
    if (header_modern || (serves_modern && only_modern) || !(served & BTZ_MCP_SET_LEGACY)) {
        in->revision = BTZ_MCP_MODERN_FIRST;
        return btz_mcp_server_refuse(in, BTZ_MCP_E_PARAMS, 400,
                                     "params._meta must have " BTZ_MCP_META
                                     "protocolVersion and " BTZ_MCP_META "clientCapabilities",
                                     version_data(in, BTZ_STR_NONE));
    }
    return legacy(in);
}

static int take_notification(struct incoming *in)
{
    struct btz_mcp_server *server = in->server;
    const struct btz_mcp_method *method = btz_mcp_method_find(in->message.method);
    struct session *session = &server->session;
    struct btz_mcp_id id;

    if (!method || !method->notification) {
        server->stats.ignored++;
        return BTZ_OK;
    }
    switch (btz_mcp_method_id(method)) {
    case BTZ_MCP_N_INITIALIZED:
        if (session->revision && !session->initialized) {
            unsigned held = session->held;

            session->initialized = true;
            session->held = 0;
            return btz_mcp_server_announce_session(server, held);
        }
        break;
    case BTZ_MCP_N_CANCELLED:
        if (btz_mcp_id_read(btz_json_getz(in->message.params, "requestId"), &id) &&
            btz_mcp_server_cancel_id(server, id,
                                     btz_json_str(btz_json_getz(in->message.params, "reason")))) {
            return BTZ_OK;
        }
        break;
    case BTZ_MCP_N_ROOTS_CHANGED:
        if (session->revision) {
            btz_mcp_server_roots_changed(in);
            return BTZ_OK;
        }
        break;
    default:
        break;
    }
    server->stats.ignored++;
    return BTZ_OK;
}

/* A response that answers nothing is dropped; on HTTP the POST has to be answered all the same,
 * unless the answer only came too late. */
static int take_response(struct incoming *in)
{
    if (btz_mcp_server_take_answer(in)) {
        return BTZ_OK;
    }
    in->server->stats.responses++;
    if (!in->headers || btz_mcp_server_was_asked(in->server, in->message.id)) {
        return BTZ_OK;
    }
    in->message.id = NO_ID;
    return btz_mcp_server_refuse(in, BTZ_MCP_E_REQUEST, 400, "no response is expected here", NULL);
}

static int take_refused(struct incoming *in, const struct btz_mcp_refusal *why)
{
    char text[1200];

    if (!why->answer && !in->headers) {
        in->server->stats.ignored++;
        return BTZ_OK;
    }
    in->message.id = why->answer ? why->id : NO_ID;
    return btz_mcp_server_refuse(in, why->code, 400, btz_err_text(&why->err, text, sizeof(text)),
                                 NULL);
}

int btz_mcp_server_take(struct btz_mcp_server *server, struct btz_str bytes,
                        const struct btz_mcp_headers *headers)
{
    struct incoming in = {.server = server, .headers = headers};
    struct btz_mcp_refusal why;
    int rc;

    if (server->dead) {
        return BTZ_ESTATE;
    }
    in.arena = btz_mcp_pool_take(&server->pool);
    if (btz_mcp_read(in.arena, bytes, &server->options.limits, &in.message, &why)) {
        rc = take_refused(&in, &why);
    } else {
        in.meta = btz_json_getz(in.message.params, "_meta");
        switch (in.message.kind) {
        case BTZ_MCP_REQUEST:
            rc = take_request(&in);
            break;
        case BTZ_MCP_NOTIFICATION:
            rc = take_notification(&in);
            break;
        default:
            rc = take_response(&in);
            break;
        }
    }
    btz_mcp_pool_give(&server->pool, in.arena);
    server->dead = rc != BTZ_OK;
    return rc;
}
