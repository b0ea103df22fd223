/* The adversary on the wire: a function of the variant that sees each message and says what goes
 * on.
 */
#include "lab/lab_int.h"

static int relay_of(const struct btz_stage *stage)
{
    if (!stage->variant || stage->arm == BTZ_ARM_CLEAN) {
        return BTZ_LUA_NONE;
    }
    return stage->arm == BTZ_ARM_ATTACK ? stage->variant->relay : stage->variant->benign_relay;
}

bool btz_scenario_has_relay(const struct btz_scenario *scenario)
{
    const struct variant *variant = (const struct variant *)scenario; /* its first member */

    return variant->relay != BTZ_LUA_NONE || variant->benign_relay != BTZ_LUA_NONE;
}

bool btz_stage_has_relay(const struct btz_stage *stage)
{
    return relay_of(stage) != BTZ_LUA_NONE;
}

/* The message with tools by the names as written: `tool` of a call, and `names` from each name as
 * written to the one on the wire. */
static const struct btz_json *with_names(struct btz_stage *stage, const struct btz_json *message)
{
    const struct stage_server *server =
        btz_stage_server_of(stage, btz_json_str(btz_json_getz(message, "server")));
    struct btz_str shown = btz_json_str(btz_json_getz(message, "tool"));
    struct btz_json *out = btz_json_shallow(stage->arena, message);
    struct btz_json *names = btz_json_new_object(stage->arena);

    for (size_t i = 0; server && i < server->server->tool_count; i++) {
        struct btz_str written = server->server->tools[i].name;
        struct btz_str name = btz_stage_tool_name(server, i);

        btz_json_set(stage->arena, names, written, btz_json_new_str(stage->arena, name));
        if (btz_str_eq(name, shown)) {
            btz_json_set_str(stage->arena, out, "tool", written);
        }
    }
    btz_json_setz(stage->arena, out, "names", names);
    return out;
}

/* Each item has a text or a body. */
static bool well_formed(const struct btz_json *list)
{
    if (!list) {
        return true;
    }
    for (size_t i = 0; i < btz_json_count(list); i++) {
        const struct btz_json *item = btz_json_at(list, i);
        bool text = btz_json_is(btz_json_getz(item, "text"), BTZ_JSON_STRING);
        bool body = btz_json_is(btz_json_getz(item, "body"), BTZ_JSON_OBJECT);

        if (text == body) {
            return false;
        }
    }
    return btz_json_is(list, BTZ_JSON_ARRAY) || btz_json_count(list) == 0;
}

/* An action has nothing but these, and one of them at least: a misspelt name would drop the message
 * without a word. */
static bool known_action(const struct btz_json *value)
{
    for (size_t i = 0; i < btz_json_count(value); i++) {
        struct btz_str key = btz_json_key_at(value, i);

        if (!btz_str_is(key, "forward") && !btz_str_is(key, "back") && !btz_str_is(key, "inject") &&
            !btz_str_is(key, "send")) {
            return false;
        }
    }
    return btz_json_count(value) > 0;
}

int btz_stage_relay(struct btz_stage *stage, const struct btz_json *message, uint64_t event,
                    const struct btz_json **action, struct btz_err *err)
{
    const struct variant *variant = stage->variant;
    struct btz_lua_arg args[] = {{NULL, stage->lab->world_ref},
                                 {stage->markers, 0},
                                 {with_names(stage, message), 0},
                                 {stage->payload, 0}};
    struct run run = {.stage = stage, .mode = RUN_RELAY, .event = event};
    const struct btz_json *value = NULL;
    int code = btz_stage_run(&run, variant->script, relay_of(stage), args, 4, &btz_lab_call_budget,
                             &value, err);

    if (code != BTZ_OK) {
        btz_err_prefix(err, "relay of %.*s: ", BTZ_FMT(variant->pub.id));
        return code;
    }
    *action = NULL;
    if (!value || btz_json_is(value, BTZ_JSON_NULL)) {
        return BTZ_OK;
    }
    if (!btz_json_is(value, BTZ_JSON_OBJECT) || !known_action(value) ||
        !well_formed(btz_json_getz(value, "forward")) ||
        !well_formed(btz_json_getz(value, "back")) ||
        !well_formed(btz_json_getz(value, "inject")) ||
        !well_formed(btz_json_getz(value, "send"))) {
        code = btz_lab_refuse(variant->script,
                              btz_arena_printf(stage->arena, "%s/relay", variant->path.ptr), err,
                              "must return nil (let it pass) or { forward = list {...}, back = "
                              "list {...} }, over HTTP "
                              "also inject = list {...} and send = list {...}, each item with "
                              "either a text or a body");
        if (err) {
            err->code = BTZ_EINTERNAL;
        }
        return BTZ_EINTERNAL;
    }
    *action = value;
    return BTZ_OK;
}
