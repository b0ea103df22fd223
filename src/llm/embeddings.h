/* Embeddings, in OpenAI's form: what is asked, and reading what comes.
 *
 * A request is a list of parts, as with chat (llm/request.h), so that a store can hash it:
 *   parts[0]    BTZ_LLM_EMBEDDINGS_SETTINGS
 *   parts[1..]  the texts, UTF-8, at most BTZ_LLM_EMBEDDINGS_INPUTS_MAX
 *
 * The reply: {"data":[{"index":0,"embedding":[numbers]}, ...],"model","usage"}. It is read
 * strictly: one vector for each text, each index once, all of one dimension, finite numbers that a
 * float can hold, none all zero. Anything else is a fault of the provider. */
#ifndef BTZ_LLM_EMBEDDINGS_H
#define BTZ_LLM_EMBEDDINGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "llm/reply.h"

#define BTZ_LLM_EMBEDDINGS_SETTINGS "{\"encoding_format\":\"float\"}"

enum { BTZ_LLM_EMBEDDINGS_INPUTS_MAX = 2048, BTZ_LLM_EMBEDDINGS_DIMENSION_MAX = 65536 };

/* Appends the body {"model","input","encoding_format"} to `out`. EINVAL: wrong parts; ELIMIT: the
 * body passes the maximum of `out`. */
int btz_llm_embeddings_body(const struct btz_str *parts, size_t count, struct btz_str model_id,
                            struct btz_buf *out, struct btz_err *err) BTZ_WARN_UNUSED;

struct btz_llm_embeddings {
    float *vectors; /* one after another in the order of the texts, each of length 1 */
    size_t count, dimension;
    struct btz_str model; /* as returned; empty when absent */
    int64_t tokens;       /* usage.prompt_tokens; -1 = the provider did not say */
};

/* Parses a body that answers `inputs` texts. Everything in `out` lives in `arena`. EINVAL with the
 * reason (an {"error":...} body gives its message); ELIMIT when the body is too large or too deep.
 * `limits` NULL = defaults; of them max_bytes counts alone. */
int btz_llm_embeddings_parse(struct btz_arena *arena, struct btz_str body, size_t inputs,
                             const struct btz_llm_limits *limits, struct btz_llm_embeddings *out,
                             struct btz_err *err) BTZ_WARN_UNUSED;

#endif
