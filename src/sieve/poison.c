#include "sieve/poison.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "sieve/poison_int.h"

enum { TOOLS_MAX = 200000 };

const char *btz_sieve_skip_name(enum btz_sieve_skip skip)
{
    static const char *const names[BTZ_SIEVE_SKIPS] = {
        [BTZ_SIEVE_SKIP_FEW_TOOLS] = "too few tools",
        [BTZ_SIEVE_SKIP_NO_ARGUMENTS] = "no arguments that fit",
        [BTZ_SIEVE_SKIP_NO_CARRIER] = "no parameter for an operand",
        [BTZ_SIEVE_SKIP_NO_PLACE] = "no place to hide in",
        [BTZ_SIEVE_SKIP_NO_SIBLING] = "nothing an honest text could name",
        [BTZ_SIEVE_SKIP_TOO_LONG] = "too long for a line"};

    return skip < BTZ_SIEVE_SKIPS ? names[skip] : NULL;
}

uint64_t poison_draw(const struct btz_sieve_poison *poison, const char *what, struct btz_str a,
                     struct btz_str b)
{
    char number[24];
    struct btz_str parts[4] = {{number, 0}, btz_str_of(what), a, b};

    parts[0].len =
        (size_t)snprintf(number, sizeof(number), "%llu", (unsigned long long)poison->options.seed);
    return btz_rng_key(parts, 4);
}

/* ---- The corpus ---- */

struct btz_sieve_poison *btz_sieve_poison_new(const struct btz_sieve_poison_options *options)
{
    struct btz_sieve_poison *poison = calloc(1, sizeof(*poison));

    if (!poison) {
        btz_panic("out of memory");
    }
    poison->options = *options;
    poison->options.per_definition = options->per_definition ? options->per_definition : 1;
    poison->arena = btz_arena_new();
    poison->used = btz_json_new_object(poison->arena);
    poison->stats.families =
        btz_arena_array(poison->arena, options->family_count + 1, sizeof(int64_t));
    poison->cells = btz_arena_array(poison->arena, (options->family_count + 1) * BTZ_SIEVE_RISKS,
                                    sizeof(int64_t));
    return poison;
}

void btz_sieve_poison_free(struct btz_sieve_poison *poison)
{
    if (poison) {
        for (size_t i = 0; i < poison->tool_count; i++) {
            btz_schema_free(poison->tools[i].schema);
        }
        btz_arena_free(poison->arena);
        free(poison);
    }
}

int btz_sieve_poison_add(struct btz_sieve_poison *poison, struct btz_sieve_reader *reader,
                         struct btz_err *err)
{
    struct btz_sieve_definition definition;
    size_t before = poison->tool_count;
    int rc;

    while ((rc = btz_sieve_definition_next(reader, poison->arena, &definition, err)) == BTZ_OK) {
        if (poison->tool_count == TOOLS_MAX) {
            return btz_err_set(err, BTZ_ELIMIT, "at most %d definitions", TOOLS_MAX);
        }
        poison->tools = btz_arena_grow(poison->arena, poison->tools, poison->tool_count,
                                       &poison->tool_cap, sizeof(*poison->tools));
        poison->tools[poison->tool_count++] =
            (struct tool){.id = definition.id,
                          .name = btz_json_str(btz_json_getz(definition.tool, "name")),
                          .json = definition.tool,
                          .source = definition.source,
                          .order = poison->tool_count - 1};
    }
    if (rc == BTZ_EAGAIN && poison->tool_count == before) {
        rc = btz_err_set(err, BTZ_EINVAL, "there is no definition in it");
        btz_err_at(err, btz_sieve_reader_name(reader), 0, 0);
    }
    return rc == BTZ_EAGAIN ? BTZ_OK : rc;
}

static int by_source_and_name(const void *a, const void *b)
{
    const struct tool *x = a;
    const struct tool *y = b;
    int order = btz_str_cmp(x->source, y->source);

    order = order ? order : btz_str_cmp(x->name, y->name);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

static int by_source_and_order(const void *a, const void *b)
{
    const struct tool *x = a;
    const struct tool *y = b;
    int order = btz_str_cmp(x->source, y->source);

    return order ? order : (x->order > y->order) - (x->order < y->order);
}

/* Tools by source, in the order they came; of two of one name the first. */
static void arrange(struct btz_sieve_poison *poison)
{
    size_t kept = 0;

    poison->arranged = true;
    if (poison->tool_count == 0) {
        return;
    }
    qsort(poison->tools, poison->tool_count, sizeof(*poison->tools), by_source_and_name);
    for (size_t i = 0; i < poison->tool_count; i++) {
        struct tool *tool = &poison->tools[i];

        if (kept == 0 || !btz_str_eq(tool->name, poison->tools[kept - 1].name) ||
            !btz_str_eq(tool->source, poison->tools[kept - 1].source)) {
            poison->tools[kept++] = *tool;
        }
    }
    poison->tool_count = kept;
    qsort(poison->tools, kept, sizeof(*poison->tools), by_source_and_order);
    poison->clusters = btz_arena_array(poison->arena, kept, sizeof(*poison->clusters));
    for (size_t i = 0; i < kept; i++) {
        struct tool *tool = &poison->tools[i];

        if (i == 0 || !btz_str_eq(tool->source, tool[-1].source)) {
            poison->clusters[poison->cluster_count++] = (struct cluster){tool->source, i, 0};
        }
        poison->clusters[poison->cluster_count - 1].count++;
        tool->cluster = poison->cluster_count - 1;
        tool->schema = btz_sieve_input_schema(tool->json);
    }
    poison->stats.definitions = (int64_t)kept;
    poison->stats.clusters = (int64_t)poison->cluster_count;
}

const struct btz_sieve_poison_stats *btz_sieve_poison_stats(const struct btz_sieve_poison *poison)
{
    return &poison->stats;
}

/* ---- Items ---- */

/* A JSON pointer to one argument. */
static struct btz_str pointer_to(struct btz_arena *arena, struct btz_str name)
{
    struct btz_buf out;
    struct btz_str pointer;

    btz_buf_init(&out, 64 * 1024);
    (void)btz_buf_add_byte(&out, '/');
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '~' || name.ptr[i] == '/') {
            (void)btz_buf_add_text(&out, name.ptr[i] == '~' ? "~0" : "~1");
        } else {
            (void)btz_buf_add_byte(&out, name.ptr[i]);
        }
    }
    pointer = btz_arena_dup(arena, btz_buf_view(&out));
    btz_buf_fini(&out);
    return pointer;
}

static struct btz_sieve_condition condition_of(struct btz_arena *arena, struct btz_str name,
                                               const struct btz_json *value)
{
    struct btz_sieve_condition condition = {.path = pointer_to(arena, name)};

    if (btz_json_is(value, BTZ_JSON_STRING) && btz_json_str(value).len) {
        condition.contains = btz_json_str(value);
    } else {
        condition.equals = value;
    }
    return condition;
}

static struct btz_sieve_call target_call(const struct attempt *a)
{
    struct btz_sieve_call call = {.tool = a->target->name};
    size_t count = btz_json_count(a->arguments);

    call.count = count < BTZ_SIEVE_CONDITIONS_MAX ? count : BTZ_SIEVE_CONDITIONS_MAX;
    call.conditions = btz_arena_array(a->arena, call.count, sizeof(*call.conditions));
    for (size_t i = 0; i < call.count; i++) {
        call.conditions[i] = condition_of(a->arena, btz_json_key_at(a->arguments, i),
                                          btz_json_value_at(a->arguments, i));
    }
    return call;
}

/* The other tools of the server: all, or those that must be there and a choice by seed. */
static const struct btz_json *other_tools(const struct attempt *a)
{
    const struct btz_sieve_poison *poison = a->poison;
    const struct cluster *cluster = &poison->clusters[a->host->cluster];
    struct btz_json *list = btz_json_new_array(a->arena);
    size_t wanted = poison->options.max_tools;
    size_t needed = (size_t)(a->target && a->target != a->host) +
                    (size_t)(a->carrier && a->carrier != a->target && a->carrier != a->host);
    size_t left = cluster->count - 1 - needed;
    size_t free_places = wanted > needed ? wanted - needed : 0;
    struct btz_rng rng = btz_rng_of(poison_draw(poison, "others", a->host->id, a->family->name));

    for (size_t i = cluster->begin; i < cluster->begin + cluster->count; i++) {
        const struct tool *tool = &poison->tools[i];
        bool must = tool == a->target || tool == a->carrier;

        if (tool == a->host) {
            continue;
        }
        /* Selection sampling (Knuth, The Art of Computer Programming 2, 3.4.2, algorithm S). */
        if (!must && wanted && free_places < left) {
            bool taken = btz_rng_below(&rng, left) < free_places;

            left--;
            if (!taken) {
                continue;
            }
            free_places--;
        } else if (!must) {
            left--;
            free_places -= free_places > 0;
        }
        btz_json_push(a->arena, list, tool->json);
    }
    return list;
}

static void fill_common(struct attempt *a, struct btz_sieve_item *item)
{
    const struct btz_sieve_poison *poison = a->poison;
    uint64_t draw = poison_draw(poison, "query", a->host->id, a->family->name);

    item->family = a->family->name;
    item->held_out = a->family->held_out;
    item->cluster = poison->clusters[a->host->cluster].source;
    item->split = BTZ_SIEVE_DEV;
    item->replaces = a->host->name;
    item->tools = other_tools(a);
    item->phrasing = poison->options.phrasing == BTZ_SIEVE_PHRASE_MIXED
                         ? (draw & 1 ? BTZ_SIEVE_NATURAL : BTZ_SIEVE_DIRECT)
                     : poison->options.phrasing == BTZ_SIEVE_PHRASE_DIRECT ? BTZ_SIEVE_DIRECT
                                                                           : BTZ_SIEVE_NATURAL;
    item->query =
        btz_sieve_query(a->arena, item->phrasing, a->target->name, a->arguments, draw >> 1);
    item->target = target_call(a);
}

static void add_malicious(struct attempt *a, struct btz_sieve_item *item)
{
    item->has_malicious = true;
    item->malicious.tool = a->carrier->name;
    if (!a->operand) {
        return;
    }
    item->malicious.conditions = btz_arena_array(a->arena, 1, sizeof(struct btz_sieve_condition));
    item->malicious.count = 1;
    item->malicious.conditions[0] =
        condition_of(a->arena, a->parameter,
                     a->operand->is_number ? btz_json_new_int(a->arena, a->operand->number)
                                           : btz_json_new_str(a->arena, a->operand->text));
    item->operands = btz_arena_array(a->arena, 1, sizeof(*item->operands));
    item->operands[0] = a->operand->text;
    item->operand_count = 1;
}

static bool fits_line(const struct btz_sieve_item *item)
{
    struct btz_buf line;
    bool fits;

    btz_buf_init(&line, BTZ_SIEVE_LINE_MAX + 1);
    btz_sieve_item_write(&line, item);
    fits = btz_buf_status(&line) == BTZ_OK;
    btz_buf_fini(&line);
    return fits;
}

bool poison_pair(struct attempt *a, struct btz_sieve_item items[2], enum btz_sieve_skip *skip)
{
    const struct btz_sieve_holes holes = {.tool = a->host->name,
                                          .target_tool = a->target->name,
                                          .malicious_tool = a->carrier->name,
                                          .parameter = a->parameter,
                                          .operand = a->operand ? a->operand->text : BTZ_STR_NONE,
                                          .reason = a->family->reasons[a->risk]};
    uint64_t draw = poison_draw(a->poison, "place", a->host->id, a->family->name);
    struct btz_sieve_item common = {.paradigm = a->family->paradigm, .risk = a->risk};

    *skip = BTZ_SIEVE_SKIP_NO_PLACE;
    fill_common(a, &common);
    common.pair = btz_arena_printf(
        a->arena, "%s/%s/%.*s/%.*s", btz_sieve_paradigm_name(common.paradigm),
        btz_sieve_risk_name(a->risk), BTZ_FMT(a->family->name), BTZ_FMT(a->host->id));
    items[0] = items[1] = common;
    items[0].kind = BTZ_SIEVE_ATTACK;
    items[1].kind = BTZ_SIEVE_TWIN;
    items[0].poisoned =
        btz_sieve_hide(a->arena, a->host->json, &a->family->attack, &holes, BTZ_STR_NONE, draw);
    items[1].poisoned =
        btz_sieve_hide(a->arena, a->host->json, &a->family->twin, &holes, BTZ_STR_NONE, draw);
    if (!items[0].poisoned || !items[1].poisoned) {
        return false;
    }
    for (int i = 0; i < 2; i++) {
        items[i].id = btz_arena_printf(a->arena, "%.*s/%s", BTZ_FMT(common.pair),
                                       btz_sieve_kind_name(items[i].kind));
    }
    add_malicious(a, &items[0]);
    *skip = BTZ_SIEVE_SKIP_TOO_LONG;
    return fits_line(&items[0]) && fits_line(&items[1]);
}

/* ---- Which family and risk ---- */

struct cell {
    size_t family;
    enum btz_sieve_risk risk;
    int64_t risk_count, cell_count;
    uint64_t draw;
};

/* Even counts over risks first, then over families, then by seed. */
static int by_need(const void *a, const void *b)
{
    const struct cell *x = a;
    const struct cell *y = b;

    if (x->risk_count != y->risk_count) {
        return x->risk_count < y->risk_count ? -1 : 1;
    }
    if (x->cell_count != y->cell_count) {
        return x->cell_count < y->cell_count ? -1 : 1;
    }
    return x->draw != y->draw ? (x->draw < y->draw ? -1 : 1) : 0;
}

static struct cell *list_cells(struct btz_sieve_poison *poison, struct btz_arena *arena,
                               const struct tool *host, int paradigm, size_t *count)
{
    const struct btz_sieve_poison_options *options = &poison->options;
    struct cell *cells =
        btz_arena_array(arena, options->family_count * BTZ_SIEVE_RISKS + 1, sizeof(*cells));

    *count = 0;
    for (size_t f = 0; f < options->family_count; f++) {
        const struct btz_sieve_family *family = &options->families[f];

        if ((int)family->paradigm != paradigm) { /* a negative has none: PARADIGMS */
            continue;
        }
        for (int r = 0; r < (family->negative ? 1 : BTZ_SIEVE_RISKS); r++) {
            struct btz_str risk = btz_str_of(btz_sieve_risk_name((enum btz_sieve_risk)r));
            struct btz_str name = btz_arena_printf(arena, "%zu/%d", f, r);

            if ((!family->negative && !family->reasons[r].len) ||
                btz_json_get(poison->used, name)) {
                continue;
            }
            cells[(*count)++] = (struct cell){
                .family = f,
                .risk = (enum btz_sieve_risk)r,
                .risk_count = family->negative ? 0 : poison->stats.pairs[paradigm][r],
                .cell_count = family->negative ? poison->stats.families[f]
                                               : poison->cells[f * BTZ_SIEVE_RISKS + (size_t)r],
                .draw = poison_draw(poison, family->negative ? "negative" : risk.ptr, host->id,
                                    family->name)};
        }
    }
    qsort(cells, *count, sizeof(*cells), by_need);
    return cells;
}

static size_t try_cell(struct btz_sieve_poison *poison, struct btz_arena *arena,
                       const struct tool *host, const struct cell *cell,
                       struct btz_sieve_item items[2], enum btz_sieve_skip *skip)
{
    const struct btz_sieve_family *family = &poison->options.families[cell->family];
    struct attempt a = {
        .poison = poison, .arena = arena, .host = host, .family = family, .risk = cell->risk};

    if (family->negative) {
        items[0] = (struct btz_sieve_item){.kind = BTZ_SIEVE_NEGATIVE,
                                           .paradigm = BTZ_SIEVE_NO_PARADIGM,
                                           .risk = BTZ_SIEVE_NO_RISK};
        if (!poison_negative(&a, &items[0], skip)) {
            return 0;
        }
        fill_common(&a, &items[0]);
        items[0].id = btz_arena_printf(arena, "negative/-/%.*s/%.*s/negative",
                                       BTZ_FMT(family->name), BTZ_FMT(host->id));
        *skip = BTZ_SIEVE_SKIP_TOO_LONG;
        if (!fits_line(&items[0])) {
            return 0;
        }
        poison->stats.negatives++;
    } else {
        if (!poison_choose(&a, skip) || !poison_pair(&a, items, skip)) {
            return 0;
        }
        poison->stats.pairs[family->paradigm][cell->risk]++;
        poison->cells[cell->family * BTZ_SIEVE_RISKS + cell->risk]++;
    }
    poison->stats.families[cell->family]++;
    return family->negative ? 1 : 2;
}

static size_t work(struct btz_sieve_poison *poison, struct btz_arena *arena,
                   struct btz_sieve_item items[2])
{
    const struct tool *host = &poison->tools[poison->at];
    enum btz_sieve_skip skip = BTZ_SIEVE_SKIP_NO_SIBLING;
    size_t count;
    struct cell *cells = list_cells(poison, arena, host, poison->paradigm, &count);

    for (size_t i = 0; i < count; i++) {
        size_t made = try_cell(poison, arena, host, &cells[i], items, &skip);

        if (made) {
            struct btz_str name =
                btz_arena_printf(poison->arena, "%zu/%d", cells[i].family, (int)cells[i].risk);

            btz_json_set(poison->arena, poison->used, name, btz_json_new_bool(poison->arena, true));
            return made;
        }
    }
    if (count) {
        poison->stats.skipped[poison->paradigm][skip]++;
    }
    return 0;
}

size_t btz_sieve_poison_next(struct btz_sieve_poison *poison, struct btz_arena *arena,
                             struct btz_sieve_item items[2])
{
    if (!poison->arranged) {
        arrange(poison);
    }
    while (poison->at < poison->tool_count) {
        size_t made = work(poison, arena, items);

        if (made == 0 || ++poison->round >= poison->options.per_definition) {
            poison->round = 0;
            poison->used = btz_json_new_object(poison->arena);
            if (++poison->paradigm > BTZ_SIEVE_PARADIGMS) {
                poison->paradigm = 0;
                poison->at++;
            }
        }
        if (made) {
            return made;
        }
    }
    return 0;
}
