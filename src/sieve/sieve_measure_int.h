/* What the measuring files of the sieve share. */
#ifndef BTZ_SIEVE_SIEVE_MEASURE_INT_H
#define BTZ_SIEVE_SIEVE_MEASURE_INT_H

#include "base/embedded.h"
#include "schema/schema.h"

extern const struct btz_embedded btz_sieve_prompts[]; /* prompts/sieve/agent.md */
extern const size_t btz_sieve_prompts_count;

/* Compiles the schema of a tool's arguments. One of an older dialect (half of all real servers say
 * draft-07) is taken as 2020-12: what they write means the same in both but for rare keywords.
 * NULL and BTZ_OK for no schema; another code if it cannot be compiled. */
int btz_sieve_compile(const struct btz_json *definition, struct btz_schema **out) BTZ_WARN_UNUSED;

#endif
