/* Which cells a study has. */
#include "study/study_int.h"

static bool listed(struct btz_str value, const struct btz_str *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (btz_str_eq(list[i], value)) {
            return true;
        }
    }
    return count == 0;
}

static bool wanted(const struct btz_study *study, const struct btz_scenario *scenario)
{
    const struct btz_study_options *o = &study->options;

    return listed(scenario->attack, o->attacks, o->attack_count) &&
           listed(scenario->variant, o->variants, o->variant_count) &&
           listed(scenario->surface, o->surfaces, o->surface_count);
}

static struct btz_str why_not(const struct btz_study *study, const struct btz_scenario *scenario,
                              enum btz_mcp_revision revision)
{
    bool modern = btz_mcp_era_of(revision) == BTZ_MCP_MODERN;

    if (modern ? !scenario->modern : !scenario->legacy) {
        return modern ? BTZ_STR("not defined for the modern era")
                      : BTZ_STR("not defined for the legacy era");
    }
    if (revision < scenario->first_revision) {
        switch (scenario->first_revision) {
        case BTZ_MCP_2025_03_26:
            return BTZ_STR("needs what revision 2025-03-26 brought");
        case BTZ_MCP_2025_06_18:
            return BTZ_STR("needs what revision 2025-06-18 brought");
        default:
            return BTZ_STR("needs what revision 2025-11-25 brought");
        }
    }
    if (study->options.carrier == BTZ_CARRIER_MEMORY  ? !scenario->memory
        : study->options.carrier == BTZ_CARRIER_STDIO ? !scenario->stdio
                                                      : !scenario->http) {
        return BTZ_STR("not defined for this carrier");
    }
    return BTZ_STR_NONE;
}

/* The place of a cell in the plan decides what it is. From the outermost axis inwards: repetition,
 * scenario, arm, revision, architecture, defence, model. */
struct cell plan_cell(const struct btz_study *study, size_t at)
{
    const struct btz_study_options *o = &study->options;
    struct cell cell = {.at = at};

    cell.model = at % o->model_count;
    at /= o->model_count;
    cell.defence = at % o->defence_count;
    at /= o->defence_count;
    cell.arch = o->archs[at % o->arch_count];
    at /= o->arch_count;
    cell.revision = o->revisions[at % o->revision_count];
    at /= o->revision_count;
    cell.arm = study->arms[at % study->arm_count];
    at /= study->arm_count;
    cell.scenario = study->scenarios[at % study->scenario_count];
    cell.repetition = (unsigned)(at / study->scenario_count) + 1;
    return cell;
}

/* Whether the cell is applicable; if not, `why` says so. */
static bool applicable(const struct btz_study *study, const struct cell *cell, struct btz_str *why)
{
    *why = why_not(study, cell->scenario, cell->revision);
    return why->len == 0 && defences_allow(study, cell->defence, cell->scenario, why);
}

bool plan_applicable(const struct btz_study *study, size_t at)
{
    struct cell cell = plan_cell(study, at);
    struct btz_str why;

    return applicable(study, &cell, &why);
}

static struct btz_store_cell store_cell(const struct btz_study *study, size_t at)
{
    struct cell cell = plan_cell(study, at);
    const struct btz_scenario *s = cell.scenario;
    struct btz_str why;
    bool is = applicable(study, &cell, &why);

    return (struct btz_store_cell){
        .model = study->options.models[cell.model].model.reference,
        .architecture = btz_str_of(btz_arch_name(cell.arch)),
        .defence = study->options.defences[cell.defence],
        .revision = btz_str_of(btz_mcp_revision_text(cell.revision)),
        .host_profile = study->options.host_profile,
        .surface = s->surface,
        .attack = s->attack,
        .variant = s->variant,
        .boundary = s->boundary == 'B' ? BTZ_STR("B") : BTZ_STR("V"),
        .arm = btz_str_of(btz_arm_name(cell.arm)),
        .repetition = cell.repetition,
        .applicable = is,
        .why = why,
    };
}

struct btz_str plan_key(const struct btz_study *study, size_t at, struct btz_arena *arena)
{
    struct btz_store_cell cell = store_cell(study, at);

    return btz_store_cell_key(arena, &cell);
}

int plan_store_cell(void *study, size_t at, struct btz_store_cell *out, struct btz_err *err)
{
    (void)err;
    *out = store_cell(study, at);
    return BTZ_OK;
}

int plan_cells(struct btz_study *study, struct btz_err *err)
{
    const struct btz_study_options *o = &study->options;
    size_t all = btz_lab_scenario_count(o->lab);
    size_t count;

    study->scenarios = btz_arena_array(study->arena, all, sizeof(const struct btz_scenario *));
    for (size_t i = 0; i < all; i++) {
        if (wanted(study, btz_lab_scenario_at(o->lab, i))) {
            study->scenarios[study->scenario_count++] = btz_lab_scenario_at(o->lab, i);
        }
    }
    for (int arm = BTZ_ARM_ATTACK; arm <= BTZ_ARM_BENIGN; arm++) {
        if (o->arms == 0 || o->arms >> arm & 1) {
            study->arms[study->arm_count++] = (enum btz_arm)arm;
        }
    }
    count = study->scenario_count * study->arm_count * o->repetitions * o->model_count *
            o->arch_count * o->revision_count * o->defence_count;
    if (count == 0) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "the filters leave no scenario; see `bartizan list scenarios`");
    }
    if (count > BTZ_STORE_MAX_CELLS) {
        return btz_err_set(err, BTZ_EUSAGE, "%zu cells are planned, at most %d fit into a run",
                           count, BTZ_STORE_MAX_CELLS);
    }
    study->cell_count = count;
    study->block = count / o->repetitions;
    study->states = btz_arena_array(study->arena, count, sizeof(*study->states));
    return BTZ_OK;
}
