/* Makes items from definitions: attacks with their benign twins, and benign hard negatives.
 *
 * Target and malicious call come from the server's own definitions: for the risk an operand is
 * chosen that a parameter of a sibling can carry (its name says so, its schema takes it); where no
 * sibling can, the definition is left out and the reason counted. Which risk and family a
 * definition gets is decided so that counts stay even, and by seed: equal input gives equal items.
 */
#ifndef BTZ_SIEVE_POISON_H
#define BTZ_SIEVE_POISON_H

#include "sieve/family.h"

enum btz_sieve_skip {
    BTZ_SIEVE_SKIP_FEW_TOOLS,    /* the server has too few tools for the paradigm */
    BTZ_SIEVE_SKIP_NO_ARGUMENTS, /* no arguments that fit the target's schema could be made */
    BTZ_SIEVE_SKIP_NO_CARRIER,   /* no other tool has a parameter that can carry an operand */
    BTZ_SIEVE_SKIP_NO_PLACE,     /* the definition has no place of the family's kind */
    BTZ_SIEVE_SKIP_NO_SIBLING,   /* no tool or parameter that an honest text could name */
    BTZ_SIEVE_SKIP_TOO_LONG,     /* the item would not fit on a line */
    BTZ_SIEVE_SKIPS
};

const char *btz_sieve_skip_name(enum btz_sieve_skip skip); /* "too few tools", ... */

enum btz_sieve_phrase_mode {
    BTZ_SIEVE_PHRASE_MIXED,
    BTZ_SIEVE_PHRASE_DIRECT,
    BTZ_SIEVE_PHRASE_NATURAL
};

struct btz_sieve_poison_options {
    uint64_t seed;
    enum btz_sieve_phrase_mode phrasing; /* MIXED: one of the two by seed, the same for a pair */
    size_t per_definition;               /* pairs of each paradigm; 0 = 1 */
    size_t max_tools; /* other definitions of an item, target and malicious tool always among them;
                       * 0 = all */
    const struct btz_sieve_family *families; /* borrowed */
    size_t family_count;
};

struct btz_sieve_poison_stats {
    int64_t pairs[BTZ_SIEVE_PARADIGMS][BTZ_SIEVE_RISKS];
    int64_t negatives;
    int64_t *families; /* items (attacks or negatives) of each family, in their order */
    /* Definitions that got no item of a paradigm (the last row: no negative), by the reason of the
     * last try. */
    int64_t skipped[BTZ_SIEVE_PARADIGMS + 1][BTZ_SIEVE_SKIPS];
    int64_t definitions, clusters;
};

struct btz_sieve_poison;

/* Nothing is read yet. Copies `options`. */
struct btz_sieve_poison *btz_sieve_poison_new(const struct btz_sieve_poison_options *options);
void btz_sieve_poison_free(struct btz_sieve_poison *poison); /* NULL is allowed */

/* Adds all definitions of a file (or any reader). Of two tools of one name in a cluster the first
 * counts. BTZ_ELIMIT for over 200,000; BTZ_EINVAL if there is none in it; else as
 * btz_sieve_definition_next. */
int btz_sieve_poison_add(struct btz_sieve_poison *poison, struct btz_sieve_reader *reader,
                         struct btz_err *err) BTZ_WARN_UNUSED;

/* The next attack and its twin (two items), or negative (one). 0 at the end. They live in `arena`
 * and the poison; each fits on a line. */
size_t btz_sieve_poison_next(struct btz_sieve_poison *poison, struct btz_arena *arena,
                             struct btz_sieve_item items[2]);

const struct btz_sieve_poison_stats *btz_sieve_poison_stats(const struct btz_sieve_poison *poison);

#endif
