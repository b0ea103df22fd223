/* A lab, a store in a temporary folder and the options of a study, for the tests of this room. */
#ifndef BTZ_TESTS_STUDY_BENCH_H
#define BTZ_TESTS_STUDY_BENCH_H

#include "base/arena.h"
#include "store/store.h"
#include "study/study.h"

enum { BENCH_MODELS = 4 };

struct bench {
    struct btz_arena *arena;
    char *folder;
    struct btz_store *store;
    struct btz_lab *lab;
    struct btz_study_model models[BENCH_MODELS];
    enum btz_mcp_revision revision;   /* the only one of the options, as is the architecture */
    struct btz_study_options options; /* of everything, one repetition, seed 5, modern, memory */
    struct btz_err err;
};

/* With the core pack and those of tests/packs that are named, and the models that are named (NULL
 * at the end of both lists). */
struct bench *bench_new(const char *const *packs, const char *const *models);
void bench_free(struct bench *b);

/* Packs of tests/packs, or built-in ones, by name. */
struct btz_lab *bench_lab(const char *const *packs, uint64_t rename_seed);

struct btz_study *bench_study(struct bench *b);
/* Polls to the end and frees. */
void bench_finish(struct bench *b, struct btz_study *study);
struct btz_store_run bench_run(struct bench *b, const char *ref);

/* All rows of the newest run; texts in the bench's arena. */
struct btz_store_row *bench_rows(struct bench *b, enum btz_store_order order, size_t *count);

#define assert_text(actual, expected)                                                              \
    do {                                                                                           \
        struct btz_str text_ = (actual);                                                           \
                                                                                                   \
        if (!btz_str_is(text_, (expected))) {                                                      \
            fail_msg("\"%.*s\" is not \"%s\"", BTZ_FMT(text_), (expected));                        \
        }                                                                                          \
    } while (0)

#define assert_holds(actual, part)                                                                 \
    do {                                                                                           \
        struct btz_str text_ = (actual);                                                           \
                                                                                                   \
        if (btz_str_find(text_, btz_str_of(part)) < 0) {                                           \
            fail_msg("\"%.*s\" does not hold \"%s\"", BTZ_FMT(text_), (part));                     \
        }                                                                                          \
    } while (0)

#endif
