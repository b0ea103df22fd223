/* The card's functions over a finished record. */
#include "lab/lab_int.h"

/* Oracles know servers and tools by the names as written: a renaming, or a payload that gave a tool
 * another name, is put back. */
static const struct btz_json *as_written(struct btz_stage *stage, const struct btz_json *trajectory)
{
    struct btz_json *out = NULL;

    for (size_t i = 0; i < btz_json_count(trajectory); i++) {
        const struct btz_json *event = btz_json_at(trajectory, i);
        const struct stage_server *server =
            btz_stage_server_of(stage, btz_json_str(btz_json_getz(event, "server")));
        struct btz_str shown = btz_json_str(btz_json_getz(event, "tool"));

        for (size_t t = 0; shown.len && server && t < server->server->tool_count; t++) {
            struct btz_str written = server->server->tools[t].name;

            if (btz_str_eq(btz_stage_tool_name(server, t), shown) && !btz_str_eq(written, shown)) {
                struct btz_json *copy = btz_json_shallow(stage->arena, event);

                out = out ? out : btz_json_shallow(stage->arena, trajectory);
                btz_json_set_str(stage->arena, copy, "tool", written);
                btz_json_replace_at(out, i, copy);
            }
        }
    }
    return out ? out : trajectory;
}

static int judge(struct btz_stage *stage, const struct variant *variant, int function,
                 const struct btz_json *markers, const struct btz_json *trajectory,
                 const struct btz_json *journal, const struct btz_json **result,
                 struct btz_err *err)
{
    struct btz_lua_arg args[] = {{as_written(stage, trajectory), 0}, {journal, 0}, {markers, 0}};
    struct run run = {.stage = stage, .mode = RUN_JUDGE};

    return btz_stage_run(&run, variant->script, function, args, 3, &btz_lab_judge_budget, result,
                         err);
}

static int no_scenario(struct btz_err *err)
{
    return btz_err_set(err, BTZ_ESTATE, "the stage has no scenario, so nothing to judge by");
}

/* Whether an event of that id stands in the trajectory, or in the journal as entry or cause. */
static bool there_is(int64_t id, const struct btz_json *trajectory, const struct btz_json *journal)
{
    static const char *const names[] = {"id", "event"};
    int64_t found = 0;

    for (size_t i = 0; i < btz_json_count(trajectory); i++) {
        if (btz_json_int64(btz_json_getz(btz_json_at(trajectory, i), "id"), &found) &&
            found == id) {
            return true;
        }
    }
    for (size_t i = 0; i < btz_json_count(journal); i++) {
        for (size_t n = 0; n < 2; n++) {
            if (btz_json_int64(btz_json_getz(btz_json_at(journal, i), names[n]), &found) &&
                found == id) {
                return true;
            }
        }
    }
    return false;
}

int btz_stage_oracle_of(struct btz_stage *stage, const struct btz_scenario *other,
                        const struct btz_json *markers, const struct btz_json *trajectory,
                        const struct btz_json *journal, struct btz_stage_verdict *out,
                        struct btz_err *err)
{
    const struct variant *variant = (const struct variant *)(const void *)other;
    struct btz_stage_verdict verdict = {0};
    const struct btz_json *value = NULL;
    int code = judge(stage, variant, variant->oracle, markers, trajectory, journal, &value, err);

    if (code != BTZ_OK) {
        return code;
    }
    if (value && !btz_json_is(value, BTZ_JSON_NULL)) {
        const struct btz_json *act = btz_json_getz(value, "act");
        const struct btz_json *effect = btz_json_getz(value, "effect");

        /* An act alone is one that was tried and had no effect; an effect alone had no actor. */
        if ((!act && !effect) || (act && !btz_json_int64(act, &verdict.act_event)) ||
            (effect && !btz_json_int64(effect, &verdict.effect_event)) ||
            (act && !there_is(verdict.act_event, trajectory, journal)) ||
            (effect && !there_is(verdict.effect_event, trajectory, journal))) {
            code =
                btz_lab_refuse(variant->script,
                               btz_arena_printf(stage->arena, "%s/oracle", variant->path.ptr), err,
                               "must return nil or { act = id, effect = id } with at least one of "
                               "them; an id is that of an event of the trajectory, or `id` or "
                               "`event` of a journal entry");
            if (err) {
                err->code = BTZ_EINTERNAL;
            }
            return BTZ_EINTERNAL;
        }
        verdict.effect = effect != NULL;
    }
    *out = verdict;
    return BTZ_OK;
}

int btz_stage_oracle(struct btz_stage *stage, const struct btz_json *trajectory,
                     const struct btz_json *journal, struct btz_stage_verdict *out,
                     struct btz_err *err)
{
    if (!stage->variant) {
        return no_scenario(err);
    }
    return btz_stage_oracle_of(stage, &stage->variant->pub, stage->markers, trajectory, journal,
                               out, err);
}

int btz_stage_utility(struct btz_stage *stage, const struct btz_json *trajectory,
                      const struct btz_json *journal, bool *out, struct btz_err *err)
{
    const struct variant *variant = stage->variant;
    const struct btz_json *value = NULL;
    int function;
    int code;

    if (!variant) {
        return no_scenario(err);
    }
    function = stage->arm == BTZ_ARM_CLEAN    ? variant->clean_utility
               : stage->arm == BTZ_ARM_BENIGN ? variant->benign_utility
                                              : variant->utility;
    function = function == BTZ_LUA_NONE ? variant->utility : function;
    code = judge(stage, variant, function, stage->markers, trajectory, journal, &value, err);
    if (code == BTZ_OK && value && !btz_json_is(value, BTZ_JSON_BOOL)) {
        code = btz_lab_refuse(variant->script,
                              btz_arena_printf(stage->arena, "%s/utility", variant->path.ptr), err,
                              "must return true or false");
        if (err) {
            err->code = BTZ_EINTERNAL;
        }
        return BTZ_EINTERNAL;
    }
    if (code == BTZ_OK) {
        *out = btz_json_bool(value, false);
    }
    return code;
}
