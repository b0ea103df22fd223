/* Adaptive attacks on canonicalisation: operators that say a payload in another way. The list was
 * fixed before the rules of the arm `canon` were looked at, and is the same for all arms.
 *
 * An operator takes the benign counterpart of an attack and writes what the attack's malicious call
 * wants into it: in names, allowed values, across fields or tools, as a precondition, in look-alike
 * letters, in another language. Equal item, operator and seed give equal text. */
#ifndef BTZ_SIEVE_ATTACK_H
#define BTZ_SIEVE_ATTACK_H

#include "sieve/item.h"

struct btz_sieve_operator {
    const char *name;
    const char *family; /* "names", "values", "canonicaliser", "split", "legitimate", "look-alike",
                         * "language" */
    const char *what;   /* one sentence for people */
};

/* The operators in the order in which the budgeted attacker tries them; NULL past the end. */
const struct btz_sieve_operator *btz_sieve_operator_at(size_t index);
size_t btz_sieve_operator_count(void);

/* Makes a new attack of `attack` and its twin. `out` is a copy of `attack` with other definitions
 * (and, where the operator takes operands apart, with those parts as operands). Texts in `arena`.
 * BTZ_EUNSUPPORTED: the operator cannot be used on this item (no sibling to hide in, no operand).
 */
int btz_sieve_operator_apply(size_t index, const struct btz_sieve_item *attack,
                             const struct btz_sieve_item *twin, uint64_t seed,
                             struct btz_arena *arena, struct btz_sieve_item *out) BTZ_WARN_UNUSED;

/* SHA-256 over names and sample texts of all operators, for the card of a run. */
struct btz_hash btz_sieve_operators_hash(void);

#endif
