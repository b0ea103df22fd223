/* Running a function of a script for a stage. */
#include "lab/ask.h"

const struct btz_lua_budget btz_lab_call_budget = {5000000, 16u << 20, 10000000};
const struct btz_lua_budget btz_lab_judge_budget = {20000000, 64u << 20, 20000000};

int btz_stage_run(struct run *run, const struct script *script, int function,
                  const struct btz_lua_arg *args, size_t count, const struct btz_lua_budget *budget,
                  const struct btz_json **result, struct btz_err *err)
{
    struct btz_lab *lab = run->stage->lab;
    const struct btz_json *value = NULL;
    struct btz_err reason;
    int code;

    lab->run = run;
    code = btz_lua_run(lab->lua, function, args, count, budget, run->stage->arena, &value, &reason);
    lab->run = NULL;
    if (code != BTZ_OK && btz_lua_raised(lab->lua) == &btz_lab_fail_raised &&
        (run->mode == RUN_CALL || run->mode == RUN_COMPLETE)) {
        code = BTZ_EDENIED; /* fail() is an answer, not a fault */
    }
    if (run->dialogue && run->dialogue->question &&
        (code == BTZ_OK || btz_lua_stopped(lab->lua) == BTZ_LUA_RAN)) {
        code = BTZ_EAGAIN; /* the client comes first, whatever the script made of that */
    }
    if (code == BTZ_OK || code == BTZ_EDENIED || code == BTZ_EAGAIN) {
        int group = btz_lua_check_group(lab->lua, script->group, &reason);

        code = group != BTZ_OK ? group : code;
    }
    if (code == BTZ_OK || code == BTZ_EDENIED || code == BTZ_EAGAIN) {
        if (result) {
            *result = value;
        }
        return code;
    }
    if (btz_lua_raised(lab->lua) == &btz_lab_fail_raised) {
        (void)btz_err_set(&reason, BTZ_EINTERNAL, "fail() outside a handler: %s", run->failed);
    }
    reason.code = BTZ_EINTERNAL;
    if (reason.file[0] == '\0') {
        btz_err_at(&reason, script->name.ptr, reason.line, 0);
    }
    if (err) {
        *err = reason;
    }
    return BTZ_EINTERNAL;
}

void btz_stage_note(struct btz_stage *stage, const struct btz_json *entry)
{
    stage->journal = btz_arena_grow(stage->arena, stage->journal, stage->journal_count,
                                    &stage->journal_cap, sizeof(*stage->journal));
    stage->journal[stage->journal_count++] = entry;
}

void btz_stage_journal_add(struct btz_stage *stage, const struct run *run, const char *op,
                           const struct world_key *keys, size_t count, const struct btz_json *value,
                           struct btz_str sink)
{
    struct btz_arena *arena = stage->arena;
    struct btz_json *entry = btz_json_new_object(arena);
    struct btz_json *path = btz_json_new_array(arena);

    for (size_t i = 0; i < count; i++) {
        btz_json_push(arena, path,
                      keys[i].is_index ? btz_json_new_int(arena, keys[i].index)
                                       : btz_json_new_str(arena, keys[i].name));
    }
    btz_json_set_int(arena, entry, "event", (int64_t)run->event);
    btz_json_set_str(arena, entry, "server",
                     run->server ? run->server->pub.id : BTZ_STR(BTZ_LAB_WIRE));
    btz_json_set_strz(arena, entry, "op", op);
    btz_json_setz(arena, entry, "path", path);
    if (value) {
        btz_json_setz(arena, entry, "value", value);
    }
    if (sink.len > 0) {
        btz_json_set_str(arena, entry, "sink", sink);
    }
    stage->journal = btz_arena_grow(arena, stage->journal, stage->journal_count,
                                    &stage->journal_cap, sizeof(*stage->journal));
    stage->journal[stage->journal_count++] = entry;
}

size_t btz_stage_journal_count(const struct btz_stage *stage)
{
    return stage->journal_count;
}

const struct btz_json *btz_stage_journal_at(const struct btz_stage *stage, size_t index)
{
    return index < stage->journal_count ? stage->journal[index] : NULL;
}
