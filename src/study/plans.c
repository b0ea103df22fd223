#include "study/plans.h"

void btz_study_name_call(struct btz_arena *arena, struct btz_json *call)
{
    struct btz_str label = btz_json_str(btz_json_getz(call, "label"));
    struct btz_str tool = btz_json_str(btz_json_getz(call, "tool"));
    char name[65];
    char cut[65];

    btz_trial_tool_name(label, tool, name);
    btz_trial_tool_name_cut(label, tool, cut);
    btz_json_set_strz(arena, call, "name", name);
    btz_json_remove(call, BTZ_STR("short"));
    if (strcmp(name, cut) != 0) {
        btz_json_set_strz(arena, call, "short", cut);
    }
}

static const struct btz_json *with_name(struct btz_arena *arena, const struct btz_json *step)
{
    const struct btz_json *call = btz_json_getz(step, "call");
    struct btz_json *named;
    struct btz_json *out;

    if (!call) {
        return step;
    }
    named = btz_json_shallow(arena, call);
    btz_study_name_call(arena, named);
    out = btz_json_new_object(arena);
    btz_json_setz(arena, out, "call", named);
    return out;
}

static struct btz_json *with_names(struct btz_arena *arena, const struct btz_json *steps)
{
    struct btz_json *out = btz_json_new_array(arena);

    for (size_t i = 0; i < btz_json_count(steps); i++) {
        btz_json_push(arena, out, with_name(arena, btz_json_at(steps, i)));
    }
    return out;
}

struct btz_json *btz_study_plans(struct btz_arena *arena, struct btz_stage *stage)
{
    const struct btz_json *plans = btz_stage_plans(stage);
    struct btz_json *out = btz_json_new_object(arena);

    btz_json_setz(arena, out, "benign", with_names(arena, btz_json_getz(plans, "benign")));
    btz_json_setz(arena, out, "obey", with_names(arena, btz_json_getz(plans, "obey")));
    btz_json_setz(arena, out, "routes", with_names(arena, btz_json_getz(plans, "routes")));
    btz_json_setz(arena, out, "operands", btz_json_dup(arena, btz_json_getz(plans, "operands")));
    return out;
}

size_t btz_study_plan_common(const struct btz_json *plans)
{
    const struct btz_json *benign = btz_json_getz(plans, "benign");
    const struct btz_json *obey = btz_json_getz(plans, "obey");
    size_t common = 0;

    while (common < btz_json_count(benign) &&
           btz_json_equal(btz_json_at(benign, common), btz_json_at(obey, common))) {
        common++;
    }
    return common;
}

bool btz_study_plan_has(const struct btz_json *steps, const struct btz_json *step)
{
    for (size_t i = 0; i < btz_json_count(steps); i++) {
        if (btz_json_equal(btz_json_at(steps, i), step)) {
            return true;
        }
    }
    return false;
}

bool btz_study_plan_is_reply(const struct btz_json *step)
{
    return btz_json_getz(step, "sample") || btz_json_getz(step, "fill");
}

size_t btz_study_plan_act(const struct btz_json *plans)
{
    const struct btz_json *obey = btz_json_getz(plans, "obey");
    size_t common = btz_study_plan_common(plans);

    for (size_t i = btz_json_count(obey); i-- > common;) {
        const struct btz_json *step = btz_json_at(obey, i);

        if ((btz_json_getz(step, "call") || btz_study_plan_is_reply(step)) &&
            !btz_study_plan_has(btz_json_getz(plans, "benign"), step)) {
            return i;
        }
    }
    return SIZE_MAX;
}
