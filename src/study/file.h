/* Studies as YAML files (docs/user/studies.md, schemas/study.json): those in the program and those
 * that people write. A file says what is run and how; the command line may override it. */
#ifndef BTZ_STUDY_FILE_H
#define BTZ_STUDY_FILE_H

#include "base/arena.h"
#include "json/json.h"
#include "study/study.h"

enum btz_study_actions {
    BTZ_STUDY_ACTIONS_NONE, /* not given */
    BTZ_STUDY_ACTIONS_AUTO, /* native, unless the model is known not to have it */
    BTZ_STUDY_ACTIONS_NATIVE,
    BTZ_STUDY_ACTIONS_JSON
};

/* "auto", "native" or "json"; BTZ_ENOTFOUND otherwise. */
int btz_study_actions_named(struct btz_str name, enum btz_study_actions *out) BTZ_WARN_UNUSED;

/* 0 = not given. */
struct btz_study_limits {
    unsigned in_flight;      /* trials at a time */
    int64_t max_tokens;      /* of a reply */
    int64_t request_timeout; /* seconds, of one attempt of a request */
    enum btz_study_actions actions;
};

struct btz_study_file_model {
    struct btz_str reference; /* as with -m */
    struct btz_study_limits limits;
    unsigned line; /* of the file, for messages */
};

/* Everything points into the arena of the load. */
struct btz_study_file {
    const char *path; /* as given, "NAME.yaml" of a built-in one; for messages */
    struct btz_str text;
    const struct btz_json *tree;
    struct btz_str name, about; /* about may be empty */
    const struct btz_str *attacks, *variants, *surfaces;
    size_t attack_count, variant_count, surface_count;
    unsigned arms; /* as btz_study_options.arms */
    unsigned repetitions;
    uint64_t seed;
    const enum btz_arch *archs;
    const enum btz_mcp_revision *revisions;
    size_t arch_count, revision_count; /* at least 1 */
    struct btz_str host_profile;
    enum btz_carrier carrier;
    const struct btz_str *defences; /* their names, none twice */
    size_t defence_count;           /* at least 1 */
    struct btz_str guard_model;     /* as with --guard-model; empty: none is named */
    unsigned guard_line;
    struct btz_str rewrite_model;   /* as with --rewrite-model; empty: none is named */
    struct btz_study_limits limits; /* of models that have none of their own */
    const struct btz_study_file_model *models;
    size_t model_count; /* 0: the command line names them */
};

/* Names of the built-in studies; BTZ_STR_NONE past the end. */
struct btz_str btz_study_name(size_t index);

/* Reads and checks a study: a built-in one by its name, or a file if `study` holds a '/' or ends in
 * .yaml, .yml or .json. BTZ_EUSAGE (there is no such study), BTZ_ENOTFOUND or BTZ_EIO (no such
 * file), BTZ_EINVAL or BTZ_ELIMIT with file, line and what was expected. `lab` is what attacks,
 * variants and surfaces are looked up in. */
int btz_study_load(struct btz_arena *arena, const struct btz_lab *lab, const char *study,
                   struct btz_study_file *out, struct btz_err *err) BTZ_WARN_UNUSED;

/* The built-in packs that a study asks for (`packs`), to be loaded before the study is read; names
 * in `arena`. None if it cannot be read: btz_study_load says why. */
const char *const *btz_study_packs(struct btz_arena *arena, const char *study, size_t *count);

/* As btz_study_load, from text; `path` is for messages and tells JSON (.json) from YAML. */
int btz_study_parse(struct btz_arena *arena, const struct btz_lab *lab, struct btz_str text,
                    const char *path, struct btz_study_file *out,
                    struct btz_err *err) BTZ_WARN_UNUSED;

enum btz_study_filter { BTZ_STUDY_ATTACK, BTZ_STUDY_VARIANT, BTZ_STUDY_SURFACE };

/* Whether a scenario of the lab has this attack, variant or surface. If not, `*near` is the nearest
 * one that there is, or NULL; it lives in `arena`. */
bool btz_study_knows(struct btz_arena *arena, const struct btz_lab *lab,
                     enum btz_study_filter filter, struct btz_str value, const char **near);

/* "modern", "legacy" or a revision in full; BTZ_MCP_REVISION_NONE otherwise. */
enum btz_mcp_revision btz_study_revision_named(struct btz_str name);

#endif
