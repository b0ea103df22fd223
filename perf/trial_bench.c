/* Reference trials per second: memory carrier, store on, each arm counted as one trial.
 *
 *   trial_bench STORE SECONDS        per scenario, then the median and the resident set
 *   trial_bench STORE --count N      N trials of the first scenario, for counting instructions */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "drive/reference_run.h"
#include "study/keep.h"
#include "study/plans.h"
#include "study/study.h"
#include "trial/trial.h"

struct bench {
    struct btz_lab *lab;
    struct btz_store *store;
    struct btz_arena *arena;
    int64_t run;
    unsigned repetition;
};

static void check(int rc, const struct btz_err *err)
{
    char text[1200];

    if (rc < 0) {
        fprintf(stderr, "trial_bench: %s\n", btz_err_text(err, text, sizeof(text)));
        exit(5);
    }
}

static struct btz_store_cell cell_of(const struct btz_scenario *s, enum btz_arm arm,
                                     unsigned repetition)
{
    return (struct btz_store_cell){.model = BTZ_STR("ref:reader"),
                                   .architecture = BTZ_STR("react"),
                                   .defence = BTZ_STR("none"),
                                   .revision = BTZ_STR("2026-07-28"),
                                   .host_profile = BTZ_STR("naive"),
                                   .surface = s->surface,
                                   .attack = s->attack,
                                   .variant = s->variant,
                                   .boundary = BTZ_STR("V"),
                                   .arm = btz_str_of(btz_arm_name(arm)),
                                   .repetition = repetition,
                                   .applicable = true};
}

static void one(struct bench *b, const struct btz_scenario *s, enum btz_arm arm,
                unsigned repetition)
{
    struct btz_trial_options options = {.lab = b->lab,
                                        .scenario = s,
                                        .arm = arm,
                                        .seed = btz_study_cell_seed(1, s->id, repetition),
                                        .revision = BTZ_MCP_2026_07_28,
                                        .max_tokens = 1024};
    struct btz_store_cell cell = cell_of(s, arm, repetition);
    struct btz_arena *arena = btz_arena_new();
    struct btz_trial *trial = NULL;
    struct btz_store_trial kept;
    struct btz_err err;

    check(btz_trial_new(&options, &trial, &err), &err);
    check(btz_drive_reference(trial, BTZ_LLM_REF_READER,
                              btz_json_text(arena, btz_study_plans(arena, btz_trial_stage(trial))),
                              &err),
          &err);
    btz_study_keep(arena, btz_trial_record(trial), btz_store_cell_key(arena, &cell), options.seed,
                   btz_clock_wall_us(), 1, &kept);
    check(btz_store_trial_put(b->store, b->run, &kept, btz_clock_mono_us(), NULL, &err), &err);
    btz_trial_free(trial);
    btz_arena_free(arena);
}

/* For struct btz_store_plan: three arms of each repetition. */
static int cell_at(void *scenario, size_t at, struct btz_store_cell *out, struct btz_err *err)
{
    (void)err;
    *out = cell_of(scenario, (enum btz_arm)(at % 3), (unsigned)(at / 3) + 1);
    return BTZ_OK;
}

/* Plans `repetitions` cells of each arm and opens the run. */
static void plan(struct bench *b, const struct btz_scenario *s, unsigned repetitions)
{
    struct btz_store_plan plan = {.study = BTZ_STR("bench"),
                                  .provenance = BTZ_STR("{}"),
                                  .created_us = btz_clock_wall_us(),
                                  .cell_count = (size_t)repetitions * 3,
                                  .cell_at = cell_at,
                                  .data = (void *)s};
    char id[BTZ_STORE_ID_SIZE];
    struct btz_err err;

    check(btz_store_run_new(b->store, &plan, &b->run, id, &err), &err);
}

static double rate(struct bench *b, const struct btz_scenario *s, double seconds)
{
    enum { MOST = 20000 };
    int64_t begin;
    int64_t until;
    unsigned done = 0;
    struct btz_err err;

    plan(b, s, MOST);
    begin = btz_clock_mono_us();
    until = begin + (int64_t)(seconds * 1e6);
    while (done < 3 * MOST && btz_clock_mono_us() < until) {
        one(b, s, (enum btz_arm)(done % 3), done / 3 + 1);
        done++;
    }
    check(btz_store_flush(b->store, &err), &err);
    return done / ((double)(btz_clock_mono_us() - begin) / 1e6);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    struct btz_lab_options options = {0};
    struct bench b = {0};
    struct rusage usage;
    struct btz_err err;
    double *rates;
    size_t count;

    if (argc < 3) {
        fputs("usage: trial_bench STORE SECONDS | STORE --count N\n", stderr);
        return 2;
    }
    check(btz_lab_new(&options, &b.lab, &err), &err);
    check(btz_store_open(argv[1], BTZ_STORE_WRITE, &b.store, &err), &err);
    if (argc == 4 && strcmp(argv[2], "--count") == 0) {
        unsigned long wanted = strtoul(argv[3], NULL, 10);

        plan(&b, btz_lab_scenario_at(b.lab, 0), (unsigned)wanted);
        for (unsigned i = 0; i < wanted; i++) {
            one(&b, btz_lab_scenario_at(b.lab, 0), BTZ_ARM_ATTACK, i + 1);
        }
    } else {
        count = btz_lab_scenario_count(b.lab);
        rates = calloc(count, sizeof(*rates));
        for (size_t i = 0; rates && i < count; i++) {
            rates[i] = rate(&b, btz_lab_scenario_at(b.lab, i), strtod(argv[2], NULL));
            printf("%.*s %.0f trials/s\n", BTZ_FMT(btz_lab_scenario_at(b.lab, i)->id), rates[i]);
        }
        if (rates && count) {
            qsort(rates, count, sizeof(*rates), by_value);
            (void)getrusage(RUSAGE_SELF, &usage);
            printf("median %.0f trials/s, resident %.1f MB\n", rates[count / 2],
                   (double)usage.ru_maxrss / 1024);
        }
        free(rates);
    }
    btz_store_close(b.store);
    btz_lab_free(b.lab);
    return 0;
}
