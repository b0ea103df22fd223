/* What the host does with its connections: calls and reads, with its own rules before and after. */
#include "schema/schema.h"
#include "trial/trial_int.h"

/* Hosts fill in the defaults that a definition declares; the model's own values stay. */
static const struct btz_json *apply_defaults(struct btz_trial *trial, const struct shown_tool *tool,
                                             const struct btz_json *arguments)
{
    const struct btz_json *properties =
        btz_json_pointer(tool->canon ? tool->canon->definition : tool->definition,
                         BTZ_STR("/inputSchema/properties"));
    struct btz_json *filled = NULL;

    for (size_t i = 0; i < btz_json_count(properties); i++) {
        struct btz_str key = btz_json_key_at(properties, i);
        const struct btz_json *value = btz_json_getz(btz_json_value_at(properties, i), "default");

        if (value && !btz_json_get(arguments, key)) {
            if (!filled) {
                filled = btz_json_shallow(trial->arena, arguments);
            }
            btz_json_set(trial->arena, filled, key, value);
        }
    }
    return filled ? filled : arguments;
}

/* Host-profile switch client.validate_arguments: a safe client checks arguments against the
 * definition it was given before anything is sent. */
static bool arguments_are_valid(struct btz_trial *trial, const struct shown_tool *tool,
                                const struct btz_json *arguments, struct btz_str *why)
{
    struct btz_schema *schema = NULL;
    struct btz_schema_report report;
    struct btz_err err;
    bool valid = true;

    if (!trial->options.profile.safe[BTZ_SWITCH_VALIDATE_ARGUMENTS]) {
        return true;
    }
    if (btz_schema_compile(btz_json_getz(tool->definition, "inputSchema"), NULL, &schema, &err) !=
        BTZ_OK) {
        *why = btz_arena_printf(trial->arena, "the tool's input schema is unusable: %s", err.msg);
        return false;
    }
    if (btz_schema_check(schema, arguments, trial->arena, &report) != BTZ_OK) {
        valid = false;
        *why = btz_arena_printf(trial->arena, "the arguments break the tool's input schema: %s",
                                btz_schema_report_text(trial->arena, &report).ptr);
    }
    btz_schema_free(schema);
    return valid;
}

void trial_trigger(struct btz_trial *trial, const char *on, struct btz_str server,
                   struct btz_str name)
{
    const struct btz_json *trigger = btz_stage_trigger(trial->stage);
    struct btz_str want_server = btz_json_str(btz_json_getz(trigger, "server"));
    struct btz_str want_name = btz_json_str(btz_json_getz(trigger, "tool"));
    int64_t nth = 1;

    if (!btz_str_is(btz_json_str(btz_json_getz(trigger, "on")), on) ||
        (want_server.len && !btz_str_eq(want_server, server)) ||
        (want_name.len && !btz_str_eq(want_name, name))) {
        return;
    }
    (void)btz_json_int64(btz_json_getz(trigger, "nth"), &nth);
    if ((int64_t)++trial->trigger_hits >= nth) {
        trial->triggered = true;
    }
}

/* Host-profile switch client.validate_results: what breaks the tool's own output schema is not
 * consumed. */
static bool result_is_valid(struct btz_trial *trial, const struct shown_tool *tool,
                            const struct btz_json *result, struct btz_str *why)
{
    const struct btz_json *output = btz_json_getz(tool->definition, "outputSchema");
    const struct btz_json *value = btz_json_getz(result, "structuredContent");
    struct btz_schema *schema = NULL;
    struct btz_schema_report report;
    struct btz_err err;
    bool valid;

    if (!trial->options.profile.safe[BTZ_SWITCH_VALIDATE_RESULTS] || !output ||
        btz_json_bool(btz_json_getz(result, "isError"), false)) {
        return true;
    }
    if (btz_schema_compile(output, NULL, &schema, &err) != BTZ_OK) {
        *why = btz_arena_printf(trial->arena, "the tool's output schema is unusable: %s", err.msg);
        return false;
    }
    valid = value && btz_schema_check(schema, value, trial->arena, &report) == BTZ_OK;
    if (!valid) {
        *why =
            value ? btz_arena_printf(trial->arena, "the result breaks the tool's output schema: %s",
                                     btz_schema_report_text(trial->arena, &report).ptr)
                  : BTZ_STR("the result has no structured content, which the tool declares");
    }
    btz_schema_free(schema);
    return valid;
}

/* Puts an answer into the record: the raw result of the server, then what the model sees. */
static struct btz_json *record_result(struct btz_trial *trial, const struct shown_tool *tool,
                                      int64_t call, const struct btz_json *result, bool blocked,
                                      struct btz_str text)
{
    struct btz_json *shown = btz_json_new_object(trial->arena);
    struct btz_json *note;
    int64_t id;

    if (result) {
        trial_event_json(trial, BTZ_LAYER_SERVER, "result", false, result);
    }
    btz_json_set_int(trial->arena, shown, "call", call);
    btz_json_set_bool(trial->arena, shown, "blocked", blocked);
    btz_json_set_str(trial->arena, shown, "text", text);
    id = trial_event_json(trial, BTZ_LAYER_HOST, "result", true, shown);
    note = trial_note(trial, id, "result");
    btz_json_set_int(trial->arena, note, "call", call);
    btz_json_set_str(trial->arena, note, "server", tool->conn->server->id);
    btz_json_set_str(trial->arena, note, "tool", tool->tool);
    btz_json_set_bool(trial->arena, note, "is_error",
                      !result || btz_json_bool(btz_json_getz(result, "isError"), false));
    btz_json_set_bool(trial->arena, note, "blocked", blocked);
    btz_json_set_str(trial->arena, note, "text", text);
    if (btz_json_getz(result, "structuredContent")) {
        btz_json_setz(trial->arena, note, "structured", btz_json_getz(result, "structuredContent"));
    }
    return note;
}

/* `*approved` says whether the call runs what was approved. */
static int64_t record_call(struct btz_trial *trial, const struct shown_tool *tool,
                           const struct btz_json *arguments, bool *approved)
{
    struct btz_json *payload = btz_json_new_object(trial->arena);
    struct btz_hash execution;
    struct btz_json *note;
    char hex[65];
    int64_t id;

    btz_json_set_str(trial->arena, payload, "server", tool->conn->server->label);
    btz_json_set_str(trial->arena, payload, "tool", tool->tool);
    btz_json_setz(trial->arena, payload, "arguments", arguments);
    *approved = approve_execution(trial, tool, &execution);
    btz_json_set_str(trial->arena, payload, "execution",
                     btz_arena_dup(trial->arena, btz_str_of(btz_hash_hex(&execution, hex))));
    id = trial_event_json(trial, BTZ_LAYER_CLIENT, "call", true, payload);
    note = trial_note(trial, id, "call");
    btz_json_set_str(trial->arena, note, "server", tool->conn->server->id);
    btz_json_set_str(trial->arena, note, "tool", tool->tool);
    btz_json_setz(trial->arena, note, "args", arguments);
    btz_json_setz(trial->arena, note, "execution", btz_json_getz(payload, "execution"));
    btz_json_set_bool(trial->arena, note, "approved", *approved);
    return id;
}

static bool denied(const struct btz_trial *trial, const struct shown_tool *tool)
{
    return trial->options.deny_tool.len && btz_str_eq(trial->options.deny_tool, tool->tool) &&
           btz_str_eq(trial->options.deny_server, tool->conn->server->id);
}

/* The answer to a call: host rules about results, what the model gets, and the record. */
static void take_result(struct btz_trial *trial, const struct shown_tool *tool, int64_t call,
                        struct btz_str *text)
{
    struct conn *conn = tool->conn;
    struct btz_str why = BTZ_STR_NONE;
    struct btz_str raw;
    struct btz_json *note;
    bool withheld;

    trial->side.tool = NULL;
    if (!conn->answer) {
        *text = btz_arena_printf(trial->arena, "Error: %.*s", BTZ_FMT(conn->failure));
    } else if (!result_is_valid(trial, tool, conn->answer, &why)) {
        trial->blocked_by_client = true;
        *text = btz_arena_printf(trial->arena, "Error: result not used: %.*s", BTZ_FMT(why));
    } else {
        *text = render_result(trial, conn, conn->answer);
    }
    gate_answered(trial, conn, BTZ_GUARD_RESULT, tool->tool, trial->side.arguments);
    withheld = !why.len && defend_answer(trial, BTZ_GUARD_RESULT, conn, tool->tool, text);
    note =
        record_result(trial, tool, call, why.len ? NULL : conn->answer, why.len || withheld, *text);
    trial->attacker_calls += conn->server->attacker ? 1 : 0;
    trial_trigger(trial, "result", conn->server->id, tool->tool);
    raw = gate_raw(trial, conn);
    if (!ask_settles(trial, note, SOURCE_RESULT, raw)) {
        observe_text(trial, SOURCE_RESULT, conn->server->id, tool->tool, raw, *text);
    }
}

int host_call(struct btz_trial *trial, const struct shown_tool *tool,
              const struct btz_json *arguments, struct btz_str *text, struct btz_err *err)
{
    struct conn *conn = tool->conn;
    struct btz_str why = BTZ_STR_NONE;
    bool approved;
    int64_t call;
    int rc;

    trial->side.tool = NULL;
    arguments = apply_defaults(trial, tool, arguments);
    if (tool->canon) { /* the model called what it was shown; the server has names of its own */
        arguments = btz_canon_arguments(tool->canon, arguments, trial->arena);
    }
    call = record_call(trial, tool, arguments, &approved);
    trial_trigger(trial, "call", conn->server->id, tool->tool);
    if (denied(trial, tool)) {
        why = BTZ_STR("a rule of the host blocks this call");
    }
    if (!why.len && !approve_call(trial, tool, call)) {
        why = BTZ_STR("its definition is not the one that was approved");
    }
    if (!why.len && !approved && trial->options.profile.safe[BTZ_SWITCH_PIN_EXECUTION]) {
        why = BTZ_STR("what it would run is not what was approved");
    }
    if (why.len || !arguments_are_valid(trial, tool, arguments, &why) ||
        !consent_call(trial, tool, arguments, &why)) {
        trial->blocked_by_client = true;
        *text = btz_arena_printf(trial->arena, "Error: call not made: %.*s", BTZ_FMT(why));
        btz_json_set_bool(trial->arena, record_result(trial, tool, call, NULL, true, *text), "made",
                          false);
        return BTZ_OK;
    }
    conn->call_event = (uint64_t)call;
    trial->side.tool = tool;
    trial->side.call = call;
    trial->side.arguments = arguments;
    rc = conn_await(trial, conn, "tools/call",
                    btz_mcp_client_call_tool(conn->client, tool->tool, arguments, &conn->request),
                    err);
    if (rc == BTZ_OK) {
        take_result(trial, tool, call, text);
    }
    return rc;
}

int host_call_on(struct btz_trial *trial, struct btz_str *text, struct btz_err *err)
{
    const struct shown_tool *tool = trial->side.tool;
    int rc = conn_go_on(trial, tool->conn, "tools/call", err);

    if (rc == BTZ_OK) {
        take_result(trial, tool, trial->side.call, text);
    }
    return rc;
}

/* Who answers for an address: the server that gave the link, else the one that lists it. */
static struct conn *owner_of(struct btz_trial *trial, struct btz_str uri)
{
    for (struct known_uri *known = trial->uris; known; known = known->next) {
        if (btz_str_eq(known->uri, uri)) {
            return known->conn->unconfigured ? NULL : known->conn;
        }
    }
    for (size_t i = 0; i < trial->conn_count; i++) {
        for (size_t r = 0;
             !trial->conns[i].left_out && r < btz_json_count(trial->conns[i].resources); r++) {
            const struct btz_json *item = btz_json_at(trial->conns[i].resources, r);

            if (btz_str_eq(btz_json_str(btz_json_getz(item, "uri")), uri)) {
                return &trial->conns[i];
            }
        }
    }
    return NULL;
}

int host_read(struct btz_trial *trial, struct btz_str uri, struct btz_str *text,
              struct btz_err *err)
{
    struct conn *conn = owner_of(trial, uri);
    struct btz_str raw = BTZ_STR_NONE;
    struct btz_json *payload = btz_json_new_object(trial->arena);
    struct btz_json *note;
    int64_t id;
    bool failed = true;
    int rc;

    btz_json_set_str(trial->arena, payload, "uri", uri);
    id = trial_event_json(trial, BTZ_LAYER_CLIENT, "read", true, payload);
    if (!conn) {
        *text = BTZ_STR("Error: no connected server offers this resource");
    } else {
        conn->call_event = (uint64_t)id;
        if (!reads_cached(trial, conn, uri)) {
            rc = conn_await(trial, conn, "resources/read",
                            btz_mcp_client_read_resource(conn->client, uri, &conn->request), err);
            if (rc != BTZ_OK) {
                return rc;
            }
            reads_keep(trial, conn, uri);
        }
        failed = !conn->answer;
        *text = failed ? btz_arena_printf(trial->arena, "Error: %.*s", BTZ_FMT(conn->failure))
                       : render_result(trial, conn, conn->answer);
        gate_answered(trial, conn, BTZ_GUARD_RESOURCE, uri, NULL);
        failed |= defend_answer(trial, BTZ_GUARD_RESOURCE, conn, uri, text);
        trial_trigger(trial, "resource", conn->server->id, uri);
        raw = gate_raw(trial, conn);
    }
    note = trial_note(trial, id, "read");
    btz_json_set_str(trial->arena, note, "server", conn ? conn->server->id : BTZ_STR(""));
    btz_json_set_str(trial->arena, note, "uri", uri);
    btz_json_set_str(trial->arena, note, "text", *text);
    btz_json_set_bool(trial->arena, note, "is_error", failed);
    payload = btz_json_new_object(trial->arena);
    btz_json_set_int(trial->arena, payload, "call", id);
    btz_json_set_str(trial->arena, payload, "text", *text);
    trial_event_json(trial, BTZ_LAYER_HOST, "result", true, payload);
    if (conn && !ask_settles(trial, note, SOURCE_RESOURCE, raw)) {
        observe_text(trial, SOURCE_RESOURCE, conn->server->id, uri, raw, *text);
    }
    return BTZ_OK;
}
