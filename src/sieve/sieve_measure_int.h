/* Texts that are part of the program. */
#ifndef BTZ_SIEVE_SIEVE_MEASURE_INT_H
#define BTZ_SIEVE_SIEVE_MEASURE_INT_H

#include "base/embedded.h"

extern const struct btz_embedded btz_sieve_prompts[]; /* prompts/sieve/agent.md */
extern const size_t btz_sieve_prompts_count;

#endif
