/* Who is called with what: targets and malicious calls out of a server's real definitions. */
#include <stdlib.h>

#include "sieve/poison_int.h"

struct ranked {
    size_t index;
    uint64_t draw;
};

static int by_draw(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;

    return x->draw != y->draw ? (x->draw < y->draw ? -1 : 1)
                              : (x->index > y->index) - (x->index < y->index);
}

/* The tools of the host's server, without the host, in an order by seed. */
static struct ranked *siblings(const struct attempt *a, const char *what, size_t *count)
{
    const struct cluster *cluster = &a->poison->clusters[a->host->cluster];
    struct ranked *out = btz_arena_array(a->arena, cluster->count, sizeof(*out));

    *count = 0;
    for (size_t i = cluster->begin; i < cluster->begin + cluster->count; i++) {
        const struct tool *tool = &a->poison->tools[i];

        if (tool != a->host) {
            out[(*count)++] =
                (struct ranked){i, poison_draw(a->poison, what, a->host->id, tool->id)};
        }
    }
    qsort(out, *count, sizeof(*out), by_draw);
    return out;
}

static const struct btz_json *operand_value(const struct attempt *a,
                                            const struct btz_sieve_operand *operand)
{
    return operand->is_number ? btz_json_new_int(a->arena, operand->number)
                              : btz_json_new_str(a->arena, operand->text);
}

/* Whether `parameter` of `tool` can carry the operand: its name says so, and a whole call with it
 * fits the schema. */
static bool carries(const struct attempt *a, const struct tool *tool, struct btz_str name,
                    const struct btz_json *parameter, const struct btz_sieve_operand *operand)
{
    struct btz_sieve_words words;

    if (operand->is_number ? !btz_sieve_takes_number(tool->json, parameter)
                           : !btz_sieve_takes_text(tool->json, parameter)) {
        return false;
    }
    words = btz_sieve_name_words(a->arena, name);
    return btz_sieve_words_meet(&words, &operand->fits) &&
           btz_sieve_arguments(a->arena, tool->json, tool->schema, name,
                               operand_value(a, operand)) != NULL;
}

static bool find_parameter(struct attempt *a, const struct tool *tool,
                           const struct btz_sieve_operand *operand)
{
    const struct btz_json *properties = btz_sieve_properties(tool->json);

    for (size_t i = 0; i < btz_json_count(properties); i++) {
        struct btz_str name = btz_json_key_at(properties, i);

        if (carries(a, tool, name, btz_json_value_at(properties, i), operand)) {
            a->carrier = tool;
            a->operand = operand;
            a->parameter = name;
            return true;
        }
    }
    return false;
}

/* A name has no blanks: an operand that has some would not stand in it as it is. */
static bool can_be_hidden(const struct attempt *a, const struct btz_sieve_operand *operand)
{
    for (size_t i = 0; i < a->family->attack.count; i++) {
        const struct btz_sieve_part *part = &a->family->attack.items[i];

        if (part->place == BTZ_SIEVE_IN_PARAMETER_NAME &&
            btz_str_find(part->text, BTZ_STR("{operand}")) >= 0 &&
            btz_str_find(operand->text, BTZ_STR(" ")) >= 0) {
            return false;
        }
    }
    return true;
}

/* Operands of the risk in an order by seed, fallbacks last. */
static struct ranked *operands_of(const struct attempt *a, size_t *count)
{
    const struct btz_sieve_family *family = a->family;
    struct ranked *out = btz_arena_array(a->arena, family->operand_count, sizeof(*out));

    *count = 0;
    for (size_t i = 0; i < family->operand_count; i++) {
        if (family->operands[i].risk == a->risk && can_be_hidden(a, &family->operands[i])) {
            out[(*count)++] = (struct ranked){
                i, poison_draw(a->poison, "operand", a->host->id, family->operands[i].text)};
        }
    }
    qsort(out, *count, sizeof(*out), by_draw);
    return out;
}

static bool choose_carrier(struct attempt *a)
{
    size_t operand_count;
    size_t count;
    struct ranked *others = siblings(a, "carrier", &count);
    struct ranked *operands = operands_of(a, &operand_count);

    for (size_t o = 0; o < operand_count; o++) {
        for (size_t i = 0; i < count; i++) {
            const struct tool *tool = &a->poison->tools[others[i].index];

            if (tool != a->target && tool->schema &&
                find_parameter(a, tool, &a->family->operands[operands[o].index])) {
                return true;
            }
        }
    }
    return false;
}

/* P2: any tool that a user can ask for, but the host. */
static bool choose_target(struct attempt *a)
{
    size_t count;
    struct ranked *others = siblings(a, "target", &count);

    for (size_t i = 0; i < count; i++) {
        const struct tool *tool = &a->poison->tools[others[i].index];
        const struct btz_json *arguments =
            btz_sieve_arguments(a->arena, tool->json, tool->schema, BTZ_STR_NONE, NULL);

        if (arguments) {
            a->target = tool;
            a->arguments = arguments;
            return true;
        }
    }
    return false;
}

/* P3: the target is itself the carrier. */
static bool choose_tampered(struct attempt *a)
{
    if (!choose_carrier(a)) {
        return false;
    }
    a->target = a->carrier;
    a->arguments =
        btz_sieve_arguments(a->arena, a->target->json, a->target->schema, BTZ_STR_NONE, NULL);
    return a->arguments != NULL;
}

static bool choose_any_other(struct attempt *a)
{
    size_t count;
    struct ranked *others = siblings(a, "carrier", &count);

    for (size_t i = 0; i < count; i++) {
        const struct tool *tool = &a->poison->tools[others[i].index];

        if (tool != a->target &&
            btz_sieve_arguments(a->arena, tool->json, tool->schema, BTZ_STR_NONE, NULL)) {
            a->carrier = tool;
            return true;
        }
    }
    return false;
}

bool poison_choose(struct attempt *a, enum btz_sieve_skip *skip)
{
    enum btz_sieve_paradigm paradigm = a->family->paradigm;
    size_t tools = a->poison->clusters[a->host->cluster].count;

    *skip = BTZ_SIEVE_SKIP_FEW_TOOLS;
    if (tools < (paradigm == BTZ_SIEVE_P2 ? 3 : 2)) {
        return false;
    }
    if (paradigm == BTZ_SIEVE_P3) {
        *skip = BTZ_SIEVE_SKIP_NO_CARRIER;
        return choose_tampered(a);
    }
    *skip = BTZ_SIEVE_SKIP_NO_ARGUMENTS;
    if (paradigm == BTZ_SIEVE_P1) {
        a->target = a->host;
        a->arguments =
            btz_sieve_arguments(a->arena, a->host->json, a->host->schema, BTZ_STR_NONE, NULL);
        if (!a->arguments) {
            return false;
        }
    } else if (!choose_target(a)) {
        return false;
    }
    *skip = BTZ_SIEVE_SKIP_NO_CARRIER;
    return a->family->operand_free ? choose_any_other(a) : choose_carrier(a);
}

/* ---- Negatives ---- */

/* A sibling whose name has one of the words. */
static const struct tool *named_sibling(const struct attempt *a,
                                        const struct btz_sieve_words *words)
{
    size_t count;
    struct ranked *others = siblings(a, "sibling", &count);

    for (size_t i = 0; i < count; i++) {
        const struct tool *tool = &a->poison->tools[others[i].index];
        struct btz_sieve_words own = btz_sieve_name_words(a->arena, tool->name);

        if (btz_sieve_words_meet(&own, words)) {
            return tool;
        }
    }
    return NULL;
}

static struct btz_str named_parameter(const struct attempt *a, const struct btz_sieve_words *words)
{
    const struct btz_json *properties = btz_sieve_properties(a->host->json);

    for (size_t i = 0; i < btz_json_count(properties); i++) {
        struct btz_str name = btz_json_key_at(properties, i);
        struct btz_sieve_words own = btz_sieve_name_words(a->arena, name);

        if (btz_sieve_words_meet(&own, words) &&
            btz_sieve_takes_text(a->host->json, btz_json_value_at(properties, i))) {
            return name;
        }
    }
    return BTZ_STR_NONE;
}

bool poison_negative(struct attempt *a, struct btz_sieve_item *item, enum btz_sieve_skip *skip)
{
    const struct btz_sieve_family *family = a->family;
    struct btz_sieve_holes holes = {.tool = a->host->name, .target_tool = a->host->name};

    *skip = BTZ_SIEVE_SKIP_NO_ARGUMENTS;
    a->target = a->host;
    a->arguments =
        btz_sieve_arguments(a->arena, a->host->json, a->host->schema, BTZ_STR_NONE, NULL);
    if (!a->arguments) {
        return false;
    }
    *skip = BTZ_SIEVE_SKIP_NO_SIBLING;
    if (family->needs_sibling.count) {
        const struct tool *sibling = named_sibling(a, &family->needs_sibling);

        if (!sibling) {
            return false;
        }
        holes.sibling_tool = sibling->name;
        a->carrier = sibling; /* it has to be shown, or the text would be false */
    }
    if (family->needs_parameter.count) {
        holes.parameter = named_parameter(a, &family->needs_parameter);
        if (!holes.parameter.len) {
            return false;
        }
    }
    *skip = BTZ_SIEVE_SKIP_NO_PLACE;
    item->poisoned =
        btz_sieve_hide(a->arena, a->host->json, &family->attack, &holes, holes.parameter, 0);
    return item->poisoned != NULL;
}
