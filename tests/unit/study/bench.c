#include "bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../store/make.h"

enum { MAX_PACKS = 4, MAX_ROWS = 1024, MAX_POLLS = 300 /* of a tenth of a second */ };

struct btz_lab *bench_lab(const char *const *packs, uint64_t rename_seed)
{
    struct btz_arena *arena = btz_arena_new();
    const char *dirs[MAX_PACKS];
    struct btz_lab_options options = {.pack_dirs = dirs, .rename_seed = rename_seed};
    struct btz_lab *lab = NULL;
    struct btz_err err;

    for (; packs && packs[options.pack_dir_count] && options.pack_dir_count < MAX_PACKS;
         options.pack_dir_count++) {
        const char *name = packs[options.pack_dir_count];

        dirs[options.pack_dir_count] =
            btz_lab_pack_is_builtin(name)
                ? name
                : btz_arena_printf(arena, "%s/tests/packs/%s", BTZ_SOURCE_DIR, name).ptr;
    }
    if (btz_lab_new(&options, &lab, &err) != BTZ_OK) {
        btz_panic("%s:%d: %s", err.file, err.line, err.msg);
    }
    btz_arena_free(arena);
    return lab;
}

struct bench *bench_new(const char *const *packs, const char *const *models)
{
    static const enum btz_arch react[] = {BTZ_ARCH_REACT};
    struct bench *b = calloc(1, sizeof(*b));

    assert_non_null(b);
    b->arena = btz_arena_new();
    b->folder = make_folder();
    b->revision = BTZ_MCP_2026_07_28;
    b->lab = bench_lab(packs, 0);
    MAKE_OK(btz_store_open(make_path(b->arena, b->folder, "store.db"), BTZ_STORE_WRITE, &b->store,
                           &b->err),
            &b->err);
    b->options = (struct btz_study_options){.lab = b->lab,
                                            .store = b->store,
                                            .name = BTZ_STR("all"),
                                            .models = b->models,
                                            .repetitions = 1,
                                            .seed = 5,
                                            .revisions = &b->revision,
                                            .revision_count = 1,
                                            .archs = react,
                                            .arch_count = 1,
                                            .carrier = BTZ_CARRIER_MEMORY,
                                            .host_profile = BTZ_STR("naive"),
                                            .in_flight = 1,
                                            .max_tokens = 700,
                                            .command = BTZ_STR("bartizan run all")};
    for (size_t i = 0; models[i]; i++) {
        assert_true(i < BENCH_MODELS);
        MAKE_OK(btz_llm_model_parse(b->arena, btz_str_of(models[i]), NULL, &b->models[i].model,
                                    &b->err),
                &b->err);
        b->options.model_count++;
    }
    return b;
}

void bench_free(struct bench *b)
{
    btz_store_close(b->store);
    btz_lab_free(b->lab);
    make_folder_remove(b->folder);
    btz_arena_free(b->arena);
    free(b);
}

struct btz_study *bench_study(struct bench *b)
{
    struct btz_study *study = NULL;

    MAKE_OK(btz_study_new(&b->options, &study, &b->err), &b->err);
    return study;
}

void bench_finish(struct bench *b, struct btz_study *study)
{
    int rc = BTZ_STEP_WAIT;

    for (int i = 0; i < MAX_POLLS && rc == BTZ_STEP_WAIT; i++) {
        rc = btz_study_poll(study, 100000, &b->err);
    }
    MAKE_OK(rc, &b->err); /* also if it never comes to an end */
    btz_study_free(study);
}

struct btz_store_run bench_run(struct bench *b, const char *ref)
{
    struct btz_store_run run;

    MAKE_OK(btz_store_run_find(b->store, btz_str_of(ref), b->arena, &run, &b->err), &b->err);
    return run;
}

static void own(struct btz_arena *arena, struct btz_str *text)
{
    *text = btz_arena_dup(arena, *text);
}

struct btz_store_row *bench_rows(struct bench *b, enum btz_store_order order, size_t *count)
{
    struct btz_store_row *out = btz_arena_array(b->arena, MAX_ROWS, sizeof(*out));
    struct btz_store_rows *rows = NULL;
    struct btz_store_row row;
    int rc;

    *count = 0;
    MAKE_OK(btz_store_rows_open(b->store, bench_run(b, "last").no, order, &rows, &b->err), &b->err);
    while ((rc = btz_store_rows_next(rows, &row, &b->err)) == 1) {
        struct btz_str *texts[] = {
            &row.cell.model,    &row.cell.architecture, &row.cell.defence, &row.cell.revision,
            &row.cell.surface,  &row.cell.host_profile, &row.cell.attack,  &row.cell.variant,
            &row.cell.boundary, &row.cell.arm,          &row.cell.why,     &row.trial.cell_key,
            &row.trial.sub,     &row.trial.stop};

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
            own(b->arena, texts[i]);
        }
        assert_true(*count < MAX_ROWS);
        out[(*count)++] = row;
    }
    assert_int_equal(rc, 0);
    btz_store_rows_free(rows);
    return out;
}
