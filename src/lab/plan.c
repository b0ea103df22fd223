/* Plans of a stage: the card's steps with markers put in and servers and tools under the names
 * that a model sees. */
#include "lab/lab_int.h"

struct planning {
    struct btz_stage *stage;
    struct subst subst;
    const struct btz_json *kinds;
};

/* {amount} alone, where a tool wants a number, becomes one; other texts are substituted. */
static int args_value(struct planning *p, const struct btz_json *value, const struct btz_json **out)
{
    struct btz_str text = btz_json_str(value);
    struct btz_json *copy;
    struct btz_str name;

    if (btz_json_is(value, BTZ_JSON_STRING)) {
        name = text.len > 2 ? btz_str_sub(text, 1, text.len - 2) : BTZ_STR_NONE;
        if (text.len > 2 && text.ptr[0] == '{' && text.ptr[text.len - 1] == '}' &&
            btz_str_is(btz_json_str(btz_json_get(p->kinds, name)), "amount")) {
            *out = btz_json_new_number(p->stage->arena,
                                       btz_json_str(btz_json_get(p->subst.markers, name)));
            return BTZ_OK;
        }
        return btz_lab_subst_value(&p->subst, value, out);
    }
    if (!btz_json_is(value, BTZ_JSON_OBJECT) && !btz_json_is(value, BTZ_JSON_ARRAY)) {
        *out = value;
        return BTZ_OK;
    }
    copy = btz_json_shallow(p->stage->arena, value);
    for (size_t i = 0; i < btz_json_count(value); i++) {
        bool array = btz_json_is(value, BTZ_JSON_ARRAY);
        const struct btz_json *item;
        int code =
            args_value(p, array ? btz_json_at(value, i) : btz_json_value_at(value, i), &item);

        if (code != BTZ_OK) {
            return code;
        }
        if (array) {
            btz_json_replace_at(copy, i, item);
        } else {
            btz_json_set(p->stage->arena, copy, btz_json_key_at(value, i), item);
        }
    }
    *out = copy;
    return btz_json_is(value, BTZ_JSON_OBJECT) ? btz_lab_subst_keys(&p->subst, copy, out) : BTZ_OK;
}

static int call_step(struct planning *p, const struct btz_json *call, const struct btz_json **out)
{
    struct btz_arena *arena = p->stage->arena;
    struct btz_json *made = btz_json_new_object(arena);
    struct btz_json *step = btz_json_new_object(arena);
    struct btz_str id = btz_json_str(btz_json_getz(call, "server"));
    const struct btz_json *args = NULL;
    const struct btz_json *capture = btz_json_getz(call, "capture");
    int code = args_value(p, btz_json_getz(call, "args"), &args);

    struct stage_server *server = btz_stage_server_of(p->stage, id);

    if (server) {
        struct tool *tool =
            btz_lab_tool_of(server->server, btz_json_str(btz_json_getz(call, "tool")));

        btz_json_set_str(arena, made, "label", server->pub.label);
        btz_json_set_str(arena, made, "tool",
                         btz_stage_tool_name(server, (size_t)(tool - server->server->tools)));
    }
    if (code == BTZ_OK) {
        btz_json_setz(arena, made, "args", args);
    }
    if (code == BTZ_OK && capture) {
        code = btz_lab_subst_value(&p->subst, capture, &capture);
        btz_json_setz(arena, made, "capture", capture);
    }
    btz_json_setz(arena, step, "call", made);
    *out = step;
    return code;
}

/* What is filled into a form; the action has no markers. */
static int fill_step(struct planning *p, const struct btz_json *fill, const struct btz_json **out)
{
    struct btz_arena *arena = p->stage->arena;
    struct btz_json *made = btz_json_new_object(arena);
    struct btz_json *step = btz_json_new_object(arena);
    const struct btz_json *content = btz_json_getz(fill, "content");
    int code = BTZ_OK;

    btz_json_setz(arena, made, "action", btz_json_getz(fill, "action"));
    if (content) {
        code = args_value(p, content, &content);
        btz_json_setz(arena, made, "content", content);
    }
    btz_json_setz(arena, step, "fill", made);
    *out = step;
    return code;
}

static int add_steps(struct planning *p, struct btz_json *to, const struct btz_json *steps)
{
    int code = BTZ_OK;

    for (size_t i = 0; code == BTZ_OK && i < btz_json_count(steps); i++) {
        const struct btz_json *step = btz_json_at(steps, i);
        const struct btz_json *call = btz_json_getz(step, "call");

        code = call                          ? call_step(p, call, &step)
               : btz_json_getz(step, "fill") ? fill_step(p, btz_json_getz(step, "fill"), &step)
                                             : btz_lab_subst_value(&p->subst, step, &step);
        if (code == BTZ_OK) {
            btz_json_push(p->stage->arena, to, step);
        }
    }
    return code;
}

/* The benign steps with others put in before the last answer (at the end if there is none). */
static const struct btz_json *inserted(struct btz_arena *arena, const struct btz_json *benign,
                                       const struct btz_json *extra)
{
    struct btz_json *out = btz_json_new_array(arena);
    size_t at = btz_json_count(benign);

    for (size_t i = 0; i < btz_json_count(benign); i++) {
        at = btz_json_getz(btz_json_at(benign, i), "answer") ? i : at;
    }
    for (size_t i = 0; i < at; i++) {
        btz_json_push(arena, out, btz_json_at(benign, i));
    }
    for (size_t i = 0; i < btz_json_count(extra); i++) {
        btz_json_push(arena, out, btz_json_at(extra, i));
    }
    for (size_t i = at; i < btz_json_count(benign); i++) {
        btz_json_push(arena, out, btz_json_at(benign, i));
    }
    return out;
}

int btz_stage_plans_make(struct btz_stage *stage, struct btz_err *err)
{
    struct btz_arena *arena = stage->arena;
    const struct btz_json *card = stage->variant->pub.card;
    const struct btz_json *plan = btz_json_getz(card, "plan");
    const struct btz_json *twin = btz_json_getz(
        btz_json_getz(card, "twins"), btz_arm_name(stage->arm)); /* NULL in the attack arm */
    const struct btz_json *benign = btz_json_getz(twin, "plan");
    const struct btz_json *obey = btz_json_getz(plan, "obey");
    struct planning p = {stage,
                         {.arena = arena, .markers = stage->markers, .rename = stage->lab},
                         btz_json_getz(card, "markers")};
    struct btz_json *plans = btz_json_new_object(arena);
    struct btz_json *operands = btz_json_new_array(arena);
    const struct btz_json *lists[3];
    static const char *const names[3] = {"benign", "obey", "routes"};

    benign = benign ? benign : btz_json_getz(plan, "benign");
    if (btz_json_is(obey, BTZ_JSON_OBJECT)) {
        obey = inserted(arena, benign, btz_json_getz(obey, "insert_before_answer"));
    }
    lists[0] = benign;
    lists[1] = obey;
    lists[2] = btz_json_getz(card, "routes");
    for (size_t i = 0; i < 3; i++) {
        struct btz_json *steps = btz_json_new_array(arena);

        if (add_steps(&p, steps, lists[i]) != BTZ_OK) {
            return btz_lab_refuse(stage->variant->script, stage->variant->path, err,
                                  "{%.*s} in a plan is no marker", BTZ_FMT(p.subst.unknown));
        }
        btz_json_setz(arena, plans, names[i], steps);
    }
    for (size_t i = 0; i < stage->fragment_count; i++) {
        btz_json_push(arena, operands, stage->fragments[i].operands);
    }
    btz_json_setz(arena, plans, "operands", operands);
    stage->plans = plans;
    return BTZ_OK;
}
