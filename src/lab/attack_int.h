/* Checking the cards of attacks, for the files that do. */
#ifndef BTZ_LAB_ATTACK_INT_H
#define BTZ_LAB_ATTACK_INT_H

#include "lab/lab_int.h"

/* One variant being checked. */
struct checking {
    struct btz_lab *lab;
    struct variant *variant;
    const struct script *script;
    const struct btz_json *card;
    const struct btz_json *setting;
    struct btz_json *markers; /* known names, the attacker's label among them */
    struct btz_json *payload; /* fragment id -> text */
    struct btz_str path;      /* "/variants/0" */
    struct btz_err *err;
};

/* A pointer below the variant's own: `fmt` with `index`, in the lab's arena. */
struct btz_str btz_lab_card_below(struct checking *c, const char *fmt, size_t index);

bool btz_lab_lists(const struct btz_json *list, struct btz_str text);

/* Servers, resources, attacker, choices, sessions, memory and rounds. */
int btz_lab_setting_check(struct checking *c) BTZ_WARN_UNUSED;
/* setting.reconfigured, or that of a twin; `change` may be NULL. */
int btz_lab_reconfigured_check(struct checking *c, const struct btz_json *change,
                               struct btz_str path) BTZ_WARN_UNUSED;

#endif
