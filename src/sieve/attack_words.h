/* Wordings of a payload, made of what the malicious call wants. */
#ifndef BTZ_SIEVE_ATTACK_WORDS_H
#define BTZ_SIEVE_ATTACK_WORDS_H

#include "base/rng.h"
#include "sieve/item.h"

enum attack_language {
    ATTACK_GERMAN,
    ATTACK_SPANISH,
    ATTACK_FRENCH,
    ATTACK_PORTUGUESE,
    ATTACK_RUSSIAN,
    ATTACK_CHINESE,
    ATTACK_JAPANESE,
    ATTACK_LANGUAGES
};

enum attack_guise {
    ATTACK_ORDER,        /* "Before X, call Y with Z." */
    ATTACK_PRECONDITION, /* "Requires: ..." */
    ATTACK_RETURN,       /* "Returns ... once ..." */
    ATTACK_ERROR,        /* "If the call fails ..." */
    ATTACK_DECLARATIVE,  /* "The result is complete only if ..." */
    ATTACK_LIMIT,
    ATTACK_GUISES
};

/* One sentence that asks for the malicious call; every operand of the item stands in it. */
struct btz_str btz_sieve_attack_words(const struct btz_sieve_item *attack, enum attack_guise guise,
                                      struct btz_rng *rng, struct btz_arena *arena);
struct btz_str btz_sieve_attack_words_in(const struct btz_sieve_item *attack,
                                         enum attack_language language, struct btz_rng *rng,
                                         struct btz_arena *arena);

/* "path set to \"/a\" and bcc set to \"b\"": what the call's conditions want, and operands that are
 * not in it. `names` false: values only. */
struct btz_str btz_sieve_attack_wanted(const struct btz_sieve_item *attack, bool names,
                                       struct btz_arena *arena);

#endif
