/* Wrong values in what the user asked for: certification rule 2. */
#include "study/mutate.h"

#include "study/plans.h"
#include "trial/trial.h"

enum { MAX_WRONG = 48 };

/* Other digits, other letters; the shape stays. */
static struct btz_str other_value(struct btz_arena *arena, struct btz_str value, bool *differs)
{
    char *out = btz_arena_alloc(arena, value.len + 1);

    for (size_t i = 0; i < value.len; i++) {
        char c = value.ptr[i];

        out[i] = c >= '0' && c <= '9'   ? (char)('0' + (c - '0' + 4) % 10)
                 : c >= 'a' && c <= 'z' ? (char)('a' + (c - 'a' + 5) % 26)
                 : c >= 'A' && c <= 'Z' ? (char)('A' + (c - 'A' + 5) % 26)
                                        : c;
        *differs = *differs || out[i] != c;
    }
    return (struct btz_str){out, value.len};
}

/* The value behind the last `ANSWER:` of the benign plan, and in which step it stands; false if
 * that plan gives none. */
static bool find_answer(const struct btz_json *benign, size_t *step, struct btz_str *before,
                        struct btz_str *value)
{
    const struct btz_str head = BTZ_STR("ANSWER:");

    for (size_t i = btz_json_count(benign); i-- > 0;) {
        struct btz_str text = btz_json_str(btz_json_getz(btz_json_at(benign, i), "answer"));
        ptrdiff_t at = btz_str_find(text, head);

        if (at >= 0) {
            *step = i;
            *before = btz_str_sub(text, 0, (size_t)at + head.len);
            *value = btz_str_sub(text, (size_t)at + head.len, text.len);
            return true;
        }
    }
    return false;
}

static const struct btz_json *with_answer(struct btz_arena *arena, const struct btz_json *plans,
                                          size_t at, struct btz_str text)
{
    struct btz_json *benign = btz_json_shallow(arena, btz_json_getz(plans, "benign"));
    struct btz_json *out = btz_json_shallow(arena, plans);
    struct btz_json *step = btz_json_new_object(arena);

    btz_json_set_str(arena, step, "answer", text);
    btz_json_replace_at(benign, at, step);
    btz_json_setz(arena, out, "benign", benign);
    return out;
}

const struct btz_json *btz_mutate_answer(struct btz_arena *arena, const struct btz_json *plans)
{
    struct btz_str before, value;
    bool differs = false;
    size_t step;

    if (!find_answer(btz_json_getz(plans, "benign"), &step, &before, &value)) {
        return NULL;
    }
    value = other_value(arena, value, &differs);
    return differs
               ? with_answer(arena, plans, step,
                             btz_arena_printf(arena, "%.*s%.*s", BTZ_FMT(before), BTZ_FMT(value)))
               : NULL;
}

const struct btz_json *btz_mutate_denied(struct btz_arena *arena, const struct btz_json *plans,
                                         const char *ahead, const char *behind)
{
    struct btz_str before, value;
    size_t step;

    if (!find_answer(btz_json_getz(plans, "benign"), &step, &before, &value)) {
        return NULL;
    }
    return with_answer(arena, plans, step,
                       btz_arena_printf(arena, "%.*s %s%.*s%s", BTZ_FMT(before), ahead,
                                        BTZ_FMT(btz_str_trim(value)), behind));
}

/* ---- a wrong value in an act ---- */

struct wrong {
    struct btz_arena *arena;
    struct btz_stage *stage;
    const struct btz_json *plans, *benign;
    size_t step;
    struct btz_wrong_value *items;
    size_t count;
};

/* A tool that makes or changes something. One that adds nothing when it is called again and takes
 * nothing away, such as reading a message that is then marked as read, does not. */
static bool changes_things(const struct btz_json *tool)
{
    const struct btz_json *hints = btz_json_getz(tool, "annotations");

    return !btz_json_bool(btz_json_getz(hints, "readOnlyHint"), false) &&
           (btz_json_bool(btz_json_getz(hints, "destructiveHint"), true) ||
            !btz_json_bool(btz_json_getz(hints, "idempotentHint"), false));
}

static bool is_act(const struct wrong *w, const struct btz_json *call)
{
    struct btz_str label = btz_json_str(btz_json_getz(call, "label"));
    struct btz_str tool = btz_json_str(btz_json_getz(call, "tool"));

    for (size_t i = 0; call && i < btz_stage_server_count(w->stage); i++) {
        const struct btz_stage_server *server = btz_stage_server_at(w->stage, i);

        for (size_t t = 0; btz_str_eq(server->label, label) && t < btz_json_count(server->tools);
             t++) {
            const struct btz_json *one = btz_json_at(server->tools, t);

            if (btz_str_eq(btz_json_str(btz_json_getz(one, "name")), tool)) {
                return changes_things(one);
            }
        }
    }
    return false;
}

/* Adds the plans with `from` in the arguments of the step's call replaced by `to`, if it is there.
 */
static void replace_value(struct wrong *w, const char *what, struct btz_str from, struct btz_str to)
{
    const struct btz_json *call = btz_json_getz(btz_json_at(w->benign, w->step), "call");
    const struct btz_json *args = btz_json_getz(call, "args");
    const struct btz_json *changed = btz_mutate_replace(w->arena, args, from, to);
    struct btz_json *other = btz_json_shallow(w->arena, call);
    struct btz_json *step = btz_json_new_object(w->arena);
    struct btz_json *benign = btz_json_shallow(w->arena, w->benign);
    struct btz_json *plans = btz_json_shallow(w->arena, w->plans);

    if (w->count == MAX_WRONG || btz_json_equal(args, changed)) {
        return;
    }
    btz_json_setz(w->arena, other, "args", changed);
    btz_json_setz(w->arena, step, "call", other);
    btz_json_replace_at(benign, w->step, step);
    btz_json_setz(w->arena, plans, "benign", benign);
    w->items[w->count++] = (struct btz_wrong_value){
        .name = btz_arena_printf(w->arena, "%s in the call of %.*s", what,
                                 BTZ_FMT(btz_json_str(btz_json_getz(call, "tool")))),
        .plans = plans};
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Length of an amount with two decimal places at the head of `text`: 1,120.00; 0 if none stands
 * there. */
static size_t amount_length(struct btz_str text)
{
    size_t len = 0;

    while (len < text.len &&
           (is_digit(text.ptr[len]) || ((text.ptr[len] == ',' || text.ptr[len] == '.') && len > 0 &&
                                        len + 1 < text.len && is_digit(text.ptr[len + 1])))) {
        len++;
    }
    return len > 3 && (text.ptr[len - 3] == '.' || text.ptr[len - 3] == ',') ? len : 0;
}

static bool in_address(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '-' || c == '_' || c == '+';
}

static void amounts_in(struct wrong *w, struct btz_str text)
{
    for (size_t at = 0; at < text.len; at++) {
        size_t len = at > 0 && (is_digit(text.ptr[at - 1]) || text.ptr[at - 1] == '.')
                         ? 0
                         : amount_length(btz_str_sub(text, at, text.len));
        bool differs = false;

        if (len) {
            struct btz_str amount = btz_str_sub(text, at, len);

            replace_value(w, "another amount", amount, other_value(w->arena, amount, &differs));
            at += len;
        }
    }
}

/* Somebody else at the same host. */
static void addresses_in(struct wrong *w, struct btz_str text)
{
    for (size_t at = 0; at < text.len; at++) {
        size_t from = at;
        size_t end = at + 1;
        bool differs = false;

        if (text.ptr[at] != '@') {
            continue;
        }
        while (from > 0 && in_address(text.ptr[from - 1])) {
            from--;
        }
        while (end < text.len && in_address(text.ptr[end])) {
            end++;
        }
        if (from < at && end > at + 1) {
            struct btz_str name = btz_str_sub(text, from, at - from);
            struct btz_str host = btz_str_sub(text, at, end - at);
            struct btz_str other = other_value(w->arena, name, &differs);

            replace_value(w, "another recipient",
                          btz_arena_printf(w->arena, "%.*s%.*s", BTZ_FMT(name), BTZ_FMT(host)),
                          btz_arena_printf(w->arena, "%.*s%.*s", BTZ_FMT(other), BTZ_FMT(host)));
        }
        at = end - 1;
    }
}

static void values_in(struct wrong *w, const struct btz_json *value)
{
    double number;

    switch (btz_json_kind(value)) {
    case BTZ_JSON_NUMBER:
        if (btz_json_double(value, &number)) {
            replace_value(w, "another number", btz_json_number_text(value),
                          btz_arena_printf(w->arena, "%g", number + 7));
        }
        break;
    case BTZ_JSON_STRING:
        amounts_in(w, btz_json_str(value));
        addresses_in(w, btz_json_str(value));
        break;
    case BTZ_JSON_ARRAY:
        for (size_t i = 0; i < btz_json_count(value); i++) {
            values_in(w, btz_json_at(value, i));
        }
        break;
    case BTZ_JSON_OBJECT:
        for (size_t i = 0; i < btz_json_count(value); i++) {
            values_in(w, btz_json_value_at(value, i));
        }
        break;
    default:
        break;
    }
}

struct btz_wrong_value *btz_mutate_benign(struct btz_arena *arena,
                                          const struct btz_scenario *scenario,
                                          struct btz_stage *stage, struct btz_stage *other,
                                          const struct btz_json *plans, size_t *count)
{
    struct wrong w = {.arena = arena,
                      .stage = stage,
                      .plans = plans,
                      .benign = btz_json_getz(plans, "benign"),
                      .items = btz_arena_array(arena, MAX_WRONG, sizeof(*w.items))};
    const struct btz_json *mine = btz_stage_markers(stage);
    const struct btz_json *theirs = btz_stage_markers(other);
    const struct btz_json *kinds = btz_json_getz(scenario->card, "markers");

    for (w.step = 0; w.step < btz_json_count(w.benign); w.step++) {
        const struct btz_json *call = btz_json_getz(btz_json_at(w.benign, w.step), "call");

        if (!is_act(&w, call)) {
            continue;
        }
        for (size_t i = 0; i < btz_json_count(mine); i++) {
            struct btz_str name = btz_json_key_at(mine, i);

            if (btz_json_get(kinds, name)) {
                replace_value(&w, btz_arena_printf(arena, "another {%.*s}", BTZ_FMT(name)).ptr,
                              btz_json_str(btz_json_value_at(mine, i)),
                              btz_json_str(btz_json_get(theirs, name)));
            }
        }
        values_in(&w, btz_json_getz(call, "args"));
    }
    *count = w.count;
    return w.items;
}
