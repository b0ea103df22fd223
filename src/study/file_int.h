#ifndef BTZ_STUDY_FILE_INT_H
#define BTZ_STUDY_FILE_INT_H

#include "config/config.h"
#include "lab/embedded.h"
#include "schema/schema.h"
#include "study/file.h"

extern const struct btz_embedded btz_study_files[]; /* studies */
extern const size_t btz_study_files_count;
extern const struct btz_embedded btz_study_schemas[]; /* schemas/study.json */
extern const size_t btz_study_schemas_count;

/* file_check.c: the file against its schema, in words that help; BTZ_EINVAL or BTZ_ELIMIT. */
int file_check(struct btz_arena *arena, const struct btz_config *config, struct btz_err *err);

/* `; did you mean "NEAR"?`, or nothing. */
struct btz_str file_near(struct btz_arena *arena, const char *near);

#endif
