/* Which cells a study has. */
#include "study/study_int.h"

static const char *const names[] = {"quick", "all"};
static const char *const abouts[] = {
    "variant v1 of each attack: attack arm and both twins, once",
    "every scenario: attack arm and both twins, once",
};

const char *btz_study_name(size_t index)
{
    return index < sizeof(names) / sizeof(names[0]) ? names[index] : NULL;
}

const char *btz_study_about(size_t index)
{
    return index < sizeof(abouts) / sizeof(abouts[0]) ? abouts[index] : NULL;
}

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

    if (btz_str_is(o->name, "quick") && o->variant_count == 0 &&
        !btz_str_is(scenario->variant, "v1")) {
        return false;
    }
    return listed(scenario->attack, o->attacks, o->attack_count) &&
           listed(scenario->variant, o->variants, o->variant_count) &&
           listed(scenario->surface, o->surfaces, o->surface_count);
}

static struct btz_str why_not(const struct btz_study *study, const struct btz_scenario *scenario)
{
    bool modern = btz_mcp_era_of(study->options.revision) == BTZ_MCP_MODERN;

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
    struct btz_str why = why_not(study, s);
    struct btz_store_cell *p = &planned[study->cell_count];

    *p = (struct btz_store_cell){
        .model = study->options.models[cell.model].model.reference,
        .architecture = btz_str_of(btz_arch_name(study->options.arch)),
        .defence = BTZ_STR("none"),
        .revision = btz_str_of(btz_mcp_revision_text(study->options.revision)),
        .host_profile = study->options.host_profile,
        .surface = s->surface,
        .attack = s->attack,
        .variant = s->variant,
        .boundary = s->boundary == 'B' ? BTZ_STR("B") : BTZ_STR("V"),
        .arm = btz_str_of(btz_arm_name(cell.arm)),
        .repetition = cell.repetition,
        .applicable = why.len == 0,
        .why = why,
    };
    cell.applicable = p->applicable;
    cell.key = btz_store_cell_key(study->arena, p);
    study->cells[study->cell_count++] = cell;
}

static int check_name(struct btz_str name, struct btz_err *err)
{
    for (size_t i = 0; btz_study_name(i); i++) {
        if (btz_str_is(name, btz_study_name(i))) {
            return BTZ_OK;
        }
    }
    return btz_err_set(err, BTZ_EUSAGE, "there is no study \"%.*s\"; studies: quick, all",
                       BTZ_FMT(name));
}

int plan_cells(struct btz_study *study, struct btz_store_cell **planned, struct btz_err *err)
{
    size_t scenarios = btz_lab_scenario_count(study->options.lab);
    size_t most = scenarios * 3 * study->options.repetitions * study->options.model_count;
    int rc = check_name(study->options.name, err);

    if (rc != BTZ_OK) {
        return rc;
    }
    if (most > BTZ_STORE_MAX_CELLS) {
        return btz_err_set(err, BTZ_EUSAGE, "%zu cells are planned, at most %d fit into a run",
                           most, BTZ_STORE_MAX_CELLS);
    }
    study->cells = btz_arena_array(study->arena, most, sizeof(*study->cells));
    *planned = btz_arena_array(study->arena, most, sizeof(**planned));
    for (unsigned rep = 1; rep <= study->options.repetitions; rep++) {
        for (size_t s = 0; s < scenarios; s++) {
            const struct btz_scenario *scenario = btz_lab_scenario_at(study->options.lab, s);

            for (int arm = BTZ_ARM_ATTACK; wanted(study, scenario) && arm <= BTZ_ARM_BENIGN;
                 arm++) {
                for (size_t m = 0; m < study->options.model_count; m++) {
                    add_cell(study, *planned,
                             (struct cell){.scenario = scenario,
                                           .arm = (enum btz_arm)arm,
                                           .repetition = rep,
                                           .model = m});
                }
            }
        }
    }
    return study->cell_count
               ? BTZ_OK
               : btz_err_set(err, BTZ_EUSAGE,
                             "the filters leave no scenario; see `bartizan list scenarios`");
}
