/* What canonicalisation costs, without any model: calls that change their verdict, definitions that
 * can no longer be told apart, facts that are lost. */
#ifndef BTZ_SIEVE_MEASURE_H
#define BTZ_SIEVE_MEASURE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/rng.h"
#include "guard/canon.h"
#include "json/json.h"

/* ---- calls ---- */

/* Makes an instance that `schema` would accept, as far as the keywords type, properties, required,
 * enum, const, default, items, minimum, maximum, minLength, maxLength, minItems, format, anyOf,
 * oneOf and allOf say; `all`: with every property, else with the required ones and some of the
 * others. Not checked: what it makes of other keywords may be invalid. In `arena`. */
struct btz_json *btz_sieve_instance(const struct btz_json *schema, bool all, struct btz_rng *rng,
                                    struct btz_arena *arena);
/* A changed copy that the schema likely refuses: a required member gone, a value of another type
 * or outside its enumeration or range, or an unknown member. */
struct btz_json *btz_sieve_spoil(const struct btz_json *schema, const struct btz_json *instance,
                                 struct btz_rng *rng, struct btz_arena *arena);

/* Arguments of the server as arguments of the canonical definition: the inverse of
 * btz_canon_arguments, found by asking it. A member that the definition does not know stays as it
 * is. In `arena`. */
const struct btz_json *btz_sieve_arguments_shown(const struct btz_canon_result *result,
                                                 const struct btz_json *arguments,
                                                 struct btz_arena *arena);

struct btz_sieve_equivalence {
    bool tested;      /* false: a schema of either side cannot be compiled */
    size_t calls;     /* whose two verdicts were compared */
    size_t valid;     /* of those: the server's schema accepts */
    size_t loosened;  /* the canonical schema accepts what the server's refuses */
    size_t tightened; /* ... refuses what the server's accepts */
};

/* Compares the verdicts of the canonical schema and, through the name map, of the server's schema
 * on `calls` generated calls, half of them spoilt, half made from either schema. */
void btz_sieve_equivalence(const struct btz_json *tool, const struct btz_canon_result *result,
                           size_t calls, uint64_t seed, struct btz_arena *arena,
                           struct btz_sieve_equivalence *out);

/* ---- siblings ---- */

/* For each of `count` results of one server: whether its rendered text but for the name equals that
 * of a sibling whose definition was different. `collides` has `count` places. */
void btz_sieve_collisions(const struct btz_json *tools, const struct btz_canon_result *results,
                          size_t count, bool whole, bool *collides);

/* ---- facts ---- */

struct btz_sieve_fact {
    struct btz_str id;   /* of the definition */
    struct btz_str kind; /* unit, format, range, default, precondition, limit, ... */
    struct btz_str text; /* as it stands in the definition */
};

/* Reads facts from CSV (RFC 4180) with the head "id,fact kind,text" (columns in any order, "kind"
 * will do). Texts in `arena`. BTZ_EINVAL with file and line. */
int btz_sieve_facts_parse(struct btz_arena *arena, struct btz_str text, const char *name,
                          struct btz_sieve_fact **out, size_t *count,
                          struct btz_err *err) BTZ_WARN_UNUSED;

#endif
