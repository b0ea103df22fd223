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
    if (study->options.carrier == BTZ_CARRIER_MEMORY  ? !scenario->memory
        : study->options.carrier == BTZ_CARRIER_STDIO ? !scenario->stdio
                                                      : !scenario->http) {
        return BTZ_STR("not defined for this carrier");
    }
    return BTZ_STR_NONE;
}

static void add_cell(struct btz_study *study, struct btz_store_cell *planned, struct cell cell)
{
    const struct btz_scenario *s = cell.scenario;
    struct btz_str why = why_not(study, s, cell.revision);
    bool allowed = why.len > 0 || defences_allow(study, cell.defence, s, &why);
    struct btz_store_cell *p = &planned[study->cell_count];

    *p = (struct btz_store_cell){
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
        .applicable = allowed && why.len == 0,
        .why = why,
    };
    cell.applicable = p->applicable;
    cell.key = btz_store_cell_key(study->arena, p);
    study->cells[study->cell_count++] = cell;
}

static bool has_arm(const struct btz_study *study, enum btz_arm arm)
{
    return study->options.arms == 0 || study->options.arms >> arm & 1;
}

static void add_models(struct btz_study *study, struct btz_store_cell *planned, struct cell cell)
{
    for (cell.defence = 0; cell.defence < study->options.defence_count; cell.defence++) {
        for (cell.model = 0; cell.model < study->options.model_count; cell.model++) {
            add_cell(study, planned, cell);
        }
    }
}

/* The cells of one scenario and repetition: by arm, revision, architecture and defence, models in
 * turn. */
static void add_cells(struct btz_study *study, struct btz_store_cell *planned, struct cell cell)
{
    const struct btz_study_options *o = &study->options;

    for (int arm = BTZ_ARM_ATTACK; arm <= BTZ_ARM_BENIGN; arm++) {
        cell.arm = (enum btz_arm)arm;
        for (size_t r = 0; has_arm(study, cell.arm) && r < o->revision_count; r++) {
            cell.revision = o->revisions[r];
            for (size_t a = 0; a < o->arch_count; a++) {
                cell.arch = o->archs[a];
                add_models(study, planned, cell);
            }
        }
    }
}

/* How many cells there will be. */
static size_t count_cells(const struct btz_study *study)
{
    const struct btz_study_options *o = &study->options;
    size_t scenarios = 0;
    size_t arms = 0;

    for (size_t i = 0; i < btz_lab_scenario_count(o->lab); i++) {
        scenarios += wanted(study, btz_lab_scenario_at(o->lab, i));
    }
    for (int arm = BTZ_ARM_ATTACK; arm <= BTZ_ARM_BENIGN; arm++) {
        arms += has_arm(study, (enum btz_arm)arm);
    }
    return scenarios * arms * o->repetitions * o->model_count * o->arch_count * o->revision_count *
           o->defence_count;
}

int plan_cells(struct btz_study *study, struct btz_store_cell **planned, struct btz_err *err)
{
    const struct btz_lab *lab = study->options.lab;
    size_t count = count_cells(study);

    if (count == 0) {
        return btz_err_set(err, BTZ_EUSAGE,
                           "the filters leave no scenario; see `bartizan list scenarios`");
    }
    if (count > BTZ_STORE_MAX_CELLS) {
        return btz_err_set(err, BTZ_EUSAGE, "%zu cells are planned, at most %d fit into a run",
                           count, BTZ_STORE_MAX_CELLS);
    }
    study->cells = btz_arena_array(study->arena, count, sizeof(*study->cells));
    *planned = btz_arena_array(study->arena, count, sizeof(**planned));
    for (unsigned rep = 1; rep <= study->options.repetitions; rep++) {
        for (size_t s = 0; s < btz_lab_scenario_count(lab); s++) {
            const struct btz_scenario *scenario = btz_lab_scenario_at(lab, s);

            if (wanted(study, scenario)) {
                add_cells(study, *planned, (struct cell){.scenario = scenario, .repetition = rep});
            }
        }
    }
    return BTZ_OK;
}
