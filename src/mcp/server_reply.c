#include "mcp/ask.h"
#include "mcp/server_int.h"

int btz_mcp_server_send_error(struct btz_mcp_server *server, struct btz_mcp_id id, int64_t code,
                              struct btz_str message, const struct btz_json *data, int http_status,
                              enum btz_mcp_revision revision)
{
    struct btz_mcp_out out = {.kind = BTZ_MCP_ERROR,
                              .id = id,
                              .related = id,
                              .revision = revision,
                              .http_status = http_status};
    struct out_item *item = btz_mcp_queue_item(&server->queue, &out);
    int rc = btz_mcp_write_error(&item->bytes, id, code, message, data);
    int pushed = btz_mcp_queue_push(&server->queue, item);

    return rc ? rc : pushed;
}

int btz_mcp_server_send_result(struct btz_mcp_server *server, struct btz_mcp_id id,
                               const struct btz_json *result, enum btz_mcp_revision revision)
{
    struct btz_mcp_out out = {
        .kind = BTZ_MCP_RESULT, .id = id, .related = id, .revision = revision, .http_status = 200};
    struct out_item *item = btz_mcp_queue_item(&server->queue, &out);
    int rc = btz_mcp_write_result(&item->bytes, id, result);
    int pushed = btz_mcp_queue_push(&server->queue, item);

    return rc ? rc : pushed;
}

int btz_mcp_server_send_notification(struct btz_mcp_server *server, struct btz_mcp_id related,
                                     enum btz_mcp_method_id method, const struct btz_json *params,
                                     enum btz_mcp_revision revision)
{
    struct btz_mcp_out out = {.kind = BTZ_MCP_NOTIFICATION,
                              .related = related,
                              .method = btz_str_of(btz_mcp_method_at(method)->name),
                              .revision = revision,
                              .http_status = 200};
    struct out_item *item = btz_mcp_queue_item(&server->queue, &out);
    int rc = btz_mcp_write_notification(&item->bytes, out.method, params);
    int pushed = btz_mcp_queue_push(&server->queue, item);

    return rc ? rc : pushed;
}

/* The owner's cache members if they are usable, else those of the options. */
static void add_cache(const struct btz_mcp_server *server, struct btz_arena *arena,
                      const struct btz_json *body, struct btz_json *result)
{
    const struct btz_json *ttl = btz_json_getz(body, "ttlMs");
    struct btz_str scope = btz_json_str(btz_json_getz(body, "cacheScope"));
    int64_t number;

    if (!btz_json_int64(ttl, &number) || number < 0) {
        number = server->options.ttl_ms;
    }
    if (!btz_str_is(scope, "public") && !btz_str_is(scope, "private")) {
        scope = server->options.cache_public ? BTZ_STR("public") : BTZ_STR("private");
    }
    btz_json_set_int(arena, result, "ttlMs", number);
    btz_json_set_str(arena, result, "cacheScope", scope);
}

static bool is_member_of_era(struct btz_str key, const struct btz_json *value, enum btz_mcp_era era)
{
    bool managed =
        btz_str_is(key, "resultType") || btz_str_is(key, "ttlMs") || btz_str_is(key, "cacheScope");

    if (era == BTZ_MCP_MODERN) {
        return !managed && !btz_str_is(key, "_meta");
    }
    return !managed &&
           !(btz_str_is(key, "structuredContent") && !btz_json_is(value, BTZ_JSON_OBJECT));
}

struct btz_json *btz_mcp_server_finish(const struct btz_mcp_server *server, struct btz_arena *arena,
                                       const struct btz_json *body, enum btz_mcp_revision revision,
                                       bool cacheable)
{
    enum btz_mcp_era era = btz_mcp_era_of(revision);
    struct btz_json *result = btz_json_new_object(arena);
    struct btz_json *meta;

    if (era == BTZ_MCP_MODERN) {
        btz_json_set_strz(arena, result, "resultType", "complete");
    }
    for (size_t i = 0; i < btz_json_count(body); i++) {
        struct btz_str key = btz_json_key_at(body, i);

        if (is_member_of_era(key, btz_json_value_at(body, i), era)) {
            btz_json_set(arena, result, key, btz_json_value_at(body, i));
        }
    }
    if (era == BTZ_MCP_LEGACY) {
        return result;
    }
    if (cacheable) {
        add_cache(server, arena, body, result);
    }
    meta = btz_json_new_object(arena);
    for (size_t i = 0; i < btz_json_count(btz_json_getz(body, "_meta")); i++) {
        const struct btz_json *own = btz_json_getz(body, "_meta");

        btz_json_set(arena, meta, btz_json_key_at(own, i), btz_json_value_at(own, i));
    }
    btz_json_setz(arena, meta, BTZ_MCP_META "serverInfo", server->offer.server_info);
    btz_json_setz(arena, result, "_meta", meta);
    return result;
}

static struct call *call_by_token(const struct btz_mcp_server *server, uint64_t token)
{
    for (struct call *call = server->calls; call; call = call->next) {
        if (call->event.token == token && call->state != CALL_NEW) {
            return call;
        }
    }
    return NULL;
}

int btz_mcp_server_open(struct btz_mcp_server *server, uint64_t token, struct call **out)
{
    struct call *call = call_by_token(server, token);

    if (server->dead) {
        return BTZ_ESTATE;
    }
    if (!call) {
        return BTZ_ENOTFOUND;
    }
    if (call->state == CALL_CANCELLED) {
        server->stats.late++;
        return BTZ_ECANCELLED;
    }
    *out = call;
    return BTZ_OK;
}

static int check_result(const struct call *call, const struct btz_json *result, struct btz_err *err)
{
    const struct btz_json *type = btz_json_getz(result, "resultType");

    if (type && !btz_str_is(btz_json_str(type), "complete")) {
        return btz_err_set(err, BTZ_EINVAL, "/resultType must be \"complete\" or absent");
    }
    /* By the newest rules: what the older ones do not have is left out of the message. */
    switch (call->event.kind) {
    case BTZ_MCP_SERVER_READ:
        return btz_mcp_check_read_result(result, err);
    case BTZ_MCP_SERVER_PROMPT:
        return btz_mcp_check_prompt_result(result, err);
    case BTZ_MCP_SERVER_COMPLETE:
        return btz_mcp_check_complete_result(result, err);
    default:
        return btz_mcp_check_call_result(result, BTZ_MCP_REVISION_LAST, err);
    }
}

static int cannot(struct btz_err *err, int rc)
{
    return btz_err_set(err, rc, "the call cannot be answered any more (%s)", btz_code_name(rc));
}

static int does_not_fit(struct btz_err *err, int rc)
{
    return btz_err_set(err, rc, "the result does not fit into the queue of outgoing messages");
}

int btz_mcp_server_reply_result(struct btz_mcp_server *server, uint64_t token,
                                const struct btz_json *result, struct btz_err *err)
{
    struct call *call;
    int rc = btz_mcp_server_open(server, token, &call);

    if (rc) {
        return cannot(err, rc);
    }
    rc = check_result(call, result, err);
    if (rc) {
        return rc;
    }
    if ((rc = btz_mcp_server_cancel_asks(server, call)) != BTZ_OK) {
        return does_not_fit(err, rc);
    }
    result = btz_mcp_server_finish(server, call->arena, result, call->event.revision,
                                   call->method->cacheable);
    rc = btz_mcp_server_send_result(server, call->id, result, call->event.revision);
    if (rc) {
        return does_not_fit(err, rc);
    }
    btz_mcp_server_drop_call(server, call);
    return BTZ_OK;
}

#define OLD_NOT_FOUND (-32002) /* "resource not found" before 2026-07-28 */

/* Code as the revision has it; false if it may not be sent there (specification, error codes). */
static bool translate_code(const struct call *call, int64_t *code)
{
    bool modern = btz_mcp_era_of(call->event.revision) == BTZ_MCP_MODERN;
    bool read = call->event.kind == BTZ_MCP_SERVER_READ;

    if (!modern) {
        if (read && *code == BTZ_MCP_E_PARAMS) {
            *code = OLD_NOT_FOUND;
        }
        return true;
    }
    if (*code == OLD_NOT_FOUND) {
        *code = BTZ_MCP_E_PARAMS;
    }
    return *code >= BTZ_MCP_E_VERSION || *code < -32099;
}

int btz_mcp_server_reply_error(struct btz_mcp_server *server, uint64_t token, int64_t code,
                               struct btz_str message, const struct btz_json *data)
{
    struct call *call;
    int rc = btz_mcp_server_open(server, token, &call);

    if (rc) {
        return rc;
    }
    if (!translate_code(call, &code)) {
        return BTZ_EINVAL;
    }
    if ((rc = btz_mcp_server_cancel_asks(server, call)) != BTZ_OK) {
        return rc;
    }
    rc = btz_mcp_server_send_error(server, call->id, code, message, data,
                                   code == BTZ_MCP_E_CAPABILITY ? 400 : 200, call->event.revision);
    if (!rc) {
        btz_mcp_server_drop_call(server, call);
    }
    return rc;
}

/* -32021: the client did not declare what it would need (specification, error codes). */
static int refuse_input(struct btz_mcp_server *server, struct call *call,
                        const struct btz_json *missing, struct btz_err *err)
{
    struct btz_json *data = btz_json_new_object(call->arena);
    int rc;

    btz_json_setz(call->arena, data, "requiredCapabilities", missing);
    rc = btz_mcp_server_send_error(
        server, call->id, BTZ_MCP_E_CAPABILITY,
        BTZ_STR("this request needs a capability that the client did not declare"), data, 400,
        call->event.revision);
    if (rc) {
        return does_not_fit(err, rc);
    }
    btz_mcp_server_drop_call(server, call);
    return btz_err_set(err, BTZ_EUNSUPPORTED,
                       "the client did not declare the capability that is asked for");
}

int btz_mcp_server_reply_input(struct btz_mcp_server *server, uint64_t token,
                               const struct btz_json *requests, struct btz_str state,
                               struct btz_err *err)
{
    const struct btz_json *missing;
    struct btz_json *result;
    struct btz_json *meta;
    struct call *call;
    int rc = btz_mcp_server_open(server, token, &call);

    if (rc) {
        return cannot(err, rc);
    }
    if (btz_mcp_era_of(call->event.revision) == BTZ_MCP_LEGACY ||
        call->event.kind == BTZ_MCP_SERVER_COMPLETE) {
        return btz_err_set(err, BTZ_ESTATE,
                           "only modern calls, reads and prompts can ask for input");
    }
    if (!requests && !state.ptr) {
        return btz_err_set(err, BTZ_EINVAL, "input_required needs inputRequests or requestState");
    }
    if (requests && (rc = btz_mcp_check_inputs(requests, err)) != BTZ_OK) {
        return rc;
    }
    missing = btz_mcp_inputs_missing(call->arena, call->event.client_capabilities, requests);
    if (missing) {
        return refuse_input(server, call, missing, err);
    }
    result = btz_json_new_object(call->arena);
    btz_json_set_strz(call->arena, result, "resultType", "input_required");
    if (requests) {
        btz_json_setz(call->arena, result, "inputRequests", requests);
    }
    if (state.ptr) {
        btz_json_set_str(call->arena, result, "requestState", state);
    }
    meta = btz_json_new_object(call->arena);
    btz_json_setz(call->arena, meta, BTZ_MCP_META "serverInfo", server->offer.server_info);
    btz_json_setz(call->arena, result, "_meta", meta);
    rc = btz_mcp_server_send_result(server, call->id, result, call->event.revision);
    if (rc) {
        return does_not_fit(err, rc);
    }
    btz_mcp_server_drop_call(server, call);
    return BTZ_OK;
}
