/* Wording families: how a payload, its benign twin and a hard negative are worded, and where in a
 * definition they hide. Data files (docs/packs/add-a-family.md), embedded from packs/sieve. */
#ifndef BTZ_SIEVE_FAMILY_H
#define BTZ_SIEVE_FAMILY_H

#include "sieve/item.h"

enum { BTZ_SIEVE_FAMILIES_MAX = 500 };

enum btz_sieve_place {
    BTZ_SIEVE_IN_DESCRIPTION,           /* of the tool, before or behind what is there */
    BTZ_SIEVE_IN_PARAMETER_DESCRIPTION, /* of one of its parameters */
    BTZ_SIEVE_IN_ENUM,                  /* a value of a parameter that is added */
    BTZ_SIEVE_IN_DEFAULT,               /* default of a parameter that is added */
    BTZ_SIEVE_IN_TITLE,                 /* replaces `title` */
    BTZ_SIEVE_IN_NESTED,                /* deep in a list of objects that is added */
    BTZ_SIEVE_IN_ANNOTATIONS,           /* replaces `annotations.title` */
    BTZ_SIEVE_IN_PARAMETER_NAME,        /* name of a parameter that is added */
    BTZ_SIEVE_IN_FORMAT,                /* these: a keyword of a parameter that is added */
    BTZ_SIEVE_IN_PATTERN,
    BTZ_SIEVE_IN_CONST,
    BTZ_SIEVE_IN_EXAMPLES,
    BTZ_SIEVE_IN_COMMENT,    /* $comment */
    BTZ_SIEVE_IN_MEDIA_TYPE, /* contentMediaType */
};

struct btz_sieve_words {
    const struct btz_str *items; /* lower case */
    size_t count;
};

struct btz_sieve_part {
    enum btz_sieve_place place;
    bool begin; /* before the text that is there */
    struct btz_str text;
};

struct btz_sieve_parts {
    const struct btz_sieve_part *items;
    size_t count;
};

struct btz_sieve_operand {
    enum btz_sieve_risk risk;
    struct btz_sieve_words fits; /* words of a parameter's name that can carry it */
    struct btz_str text;         /* digits of a number */
    bool is_number;
    bool fallback; /* only where no other operand of the risk can be carried */
    int64_t number;
};

struct btz_sieve_family {
    struct btz_str name;
    struct btz_str language, manner; /* manner: the register */
    bool negative;
    bool held_out;
    bool operand_free;
    enum btz_sieve_paradigm paradigm; /* NO_PARADIGM for a negative */
    struct btz_sieve_parts attack;    /* or the text of a negative */
    struct btz_sieve_parts twin;
    struct btz_str reasons[BTZ_SIEVE_RISKS]; /* empty: does not cover that risk */
    const struct btz_sieve_operand *operands;
    size_t operand_count;
    struct btz_sieve_words needs_parameter, needs_sibling; /* of a negative; may be empty */
};

/* The embedded families, and those of the folders (*.yaml of each, by name). Everything lives in
 * the arena. BTZ_EINVAL with file, line and what was expected; BTZ_ENOTFOUND, BTZ_EIO, BTZ_ELIMIT.
 */
int btz_sieve_families_load(struct btz_arena *arena, const char *const *folders,
                            size_t folder_count, struct btz_sieve_family **out, size_t *count,
                            struct btz_err *err) BTZ_WARN_UNUSED;

#endif
