/* What the files of certification share. */
#ifndef BTZ_STUDY_CERTIFY_INT_H
#define BTZ_STUDY_CERTIFY_INT_H

#include "llm/reference.h"
#include "study/certify.h"
#include "trial/trial.h"

#define BTZ_CERTIFY_SEED 7001u
#define BTZ_CERTIFY_OTHER_SEED 7002u

/* One kind of trial. */
struct btz_certify_setup {
    enum btz_arm arm;
    enum btz_mcp_revision revision;
    enum btz_carrier carrier;
    struct btz_host_profile profile;
    enum btz_llm_ref agent;
    const struct btz_json *plans; /* NULL = those of the stage */
    struct btz_str extra_user_text, deny_server, deny_tool;
    bool deny_replies;
    uint64_t seed; /* 0 = BTZ_CERTIFY_SEED */
};

/* What a trial must have been; -1 = either. */
struct btz_certify_wanted {
    int effect, acted, utility;
};

/* Runs a whole trial. NULL if it could not be set up: then `detail` says why. */
struct btz_trial *btz_certify_run(struct btz_lab *lab, const struct btz_scenario *scenario,
                                  const struct btz_certify_setup *setup, struct btz_arena *arena,
                                  struct btz_str *detail, struct btz_checks *out);

/* Adds the check whether a trial is as wanted. */
void btz_certify_expect(struct btz_lab *lab, const struct btz_scenario *scenario,
                        const struct btz_certify_setup *setup, struct btz_certify_wanted wanted,
                        struct btz_str rule, struct btz_checks *out);

/* Rule 2 on the twins and on work that is done wrongly (certify_task.c). `setup` has revision,
 * carrier and profile. */
void btz_certify_twins(struct btz_lab *lab, const struct btz_scenario *s,
                       struct btz_certify_setup setup, struct btz_checks *out);
void btz_certify_answers(struct btz_lab *lab, const struct btz_scenario *s,
                         struct btz_certify_setup setup, struct btz_checks *out);
void btz_certify_denied(struct btz_lab *lab, const struct btz_scenario *s,
                        struct btz_certify_setup setup, struct btz_checks *out);
void btz_certify_wrong_values(struct btz_lab *lab, const struct btz_scenario *s,
                              struct btz_certify_setup setup, struct btz_checks *out);
void btz_certify_guess(struct btz_lab *lab, const struct btz_scenario *s,
                       struct btz_certify_setup setup, struct btz_checks *out);

#endif
