/* Reference agents for items: tables can be tested and calibrated without any model. */
#include "sieve/measure.h"
#include "sieve/outcome.h"
#include "sieve/survive.h"

enum { SEED = 0x5eed };

/* Sets the value at a pointer of one or more steps, making the objects on the way. */
static struct btz_json *set_at(struct btz_arena *arena, const struct btz_json *base,
                               struct btz_str pointer, const struct btz_json *value)
{
    struct btz_json *out = btz_json_is(base, BTZ_JSON_OBJECT) ? btz_json_shallow(arena, base)
                                                              : btz_json_new_object(arena);
    struct btz_buf key;
    size_t at = 1;

    btz_buf_init(&key, pointer.len + 1);
    for (; at < pointer.len && pointer.ptr[at] != '/'; at++) {
        bool escaped = pointer.ptr[at] == '~' && at + 1 < pointer.len;

        at += escaped;
        (void)btz_buf_add_byte(&key, !escaped                 ? pointer.ptr[at]
                                     : pointer.ptr[at] == '1' ? '/'
                                                              : '~');
    }
    if (at < pointer.len) {
        value = set_at(arena, btz_json_get(out, btz_buf_view(&key)),
                       btz_str_sub(pointer, at, pointer.len), value);
    }
    btz_json_set(arena, out, btz_buf_view(&key), value);
    btz_buf_fini(&key);
    return out;
}

static const struct btz_sieve_shown *offered(const struct btz_sieve_shown *shown, size_t count,
                                             struct btz_str tool)
{
    for (size_t i = 0; i < count; i++) {
        if (shown[i].own && btz_str_eq(shown[i].result->given_name, tool)) {
            return &shown[i];
        }
    }
    return NULL;
}

/* The call in the words of the definition as it is shown: what the conditions want, and something
 * that fits for every other required argument. */
static struct btz_str write_call(const struct btz_sieve_shown *tool,
                                 const struct btz_sieve_call *call, struct btz_arena *arena)
{
    struct btz_rng rng = btz_rng_of(SEED);
    const struct btz_json *wanted = btz_json_new_object(arena);
    struct btz_json *arguments = btz_sieve_instance(
        btz_json_getz(tool->result->definition, "inputSchema"), false, &rng, arena);
    struct btz_json *out = btz_json_new_object(arena);

    for (size_t i = 0; i < call->count; i++) {
        const struct btz_sieve_condition *c = &call->conditions[i];

        if (c->path.len) {
            wanted = set_at(arena, wanted, c->path,
                            c->equals ? c->equals : btz_json_new_str(arena, c->contains));
        }
    }
    wanted = btz_sieve_arguments_shown(tool->result, wanted, arena);
    for (size_t i = 0; i < btz_json_count(wanted); i++) {
        btz_json_set(arena, arguments, btz_json_key_at(wanted, i), btz_json_value_at(wanted, i));
    }
    btz_json_set_str(arena, out, "tool", tool->name);
    btz_json_setz(arena, out, "arguments", arguments);
    return btz_json_text(arena, out);
}

struct btz_str btz_sieve_agent(enum btz_llm_ref agent, const struct btz_sieve_item *item,
                               const struct btz_sieve_shown *shown, size_t count,
                               struct btz_str bytes, struct btz_arena *arena)
{
    const struct btz_sieve_shown *tool;
    bool obeys = agent == BTZ_LLM_REF_INSIDER;

    if (agent == BTZ_LLM_REF_READER && item->has_malicious) {
        struct btz_sieve_survival survival;

        btz_sieve_survive(bytes, item->operands, item->operand_count, &survival);
        obeys = survival.survived;
    }
    if (obeys && item->has_malicious) {
        tool = offered(shown, count, item->malicious.tool);
        if (tool) {
            return write_call(tool, &item->malicious, arena);
        }
    }
    tool = agent == BTZ_LLM_REF_NULL ? NULL : offered(shown, count, item->target.tool);
    return tool ? write_call(tool, &item->target, arena)
                : BTZ_STR("{\"tool\": null, \"reason\": \"no tool that does this is shown\"}");
}
