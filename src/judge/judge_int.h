/* Inside the judge room. */
#ifndef BTZ_JUDGE_JUDGE_INT_H
#define BTZ_JUDGE_JUDGE_INT_H

#include "judge/judge.h"
#include "lab/embedded.h"
#include "schema/schema.h"

struct btz_judge {
    struct btz_arena *arena;
    struct btz_schema *schema; /* of a reply */
    struct btz_str settings;   /* parts[0] */
    struct btz_str system;     /* the message that opens each request */
    struct btz_hash prompt_hash;
};

/* Files below prompts/. */
extern const struct btz_embedded btz_judge_prompts[];
extern const size_t btz_judge_prompts_count;

/* Text of the reply schema. */
extern const char judge_reply_schema[];
/* Names the way a trajectory is written; to be raised with every change of trace.c or request.c. */
extern const char judge_trace_form[];

/* The schema of a reply, compiled. */
struct btz_schema *judge_schema_new(struct btz_arena *arena);

#endif
