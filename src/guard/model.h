/* A guard model: a second model that is asked whether a text is safe. This room makes the texts of
 * the request and reads the verdict; it asks nobody. The caller makes messages of role "system" and
 * "user" from the two texts (llm/request.h), at temperature 0. */
#ifndef BTZ_GUARD_MODEL_H
#define BTZ_GUARD_MODEL_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "guard/guard.h"

struct btz_guard_question {
    struct btz_str system;  /* the versioned prompt of prompts/guard/ for this target */
    struct btz_str user;    /* what the text is, and the text between two marks */
    struct btz_str scanned; /* the text as it was shown: evidence must be a part of it */
    unsigned version;       /* of the prompt */
    bool cut;               /* part of the text was left out */
};

/* Makes the question about `text`, which is `target` of the thing called `name` (a tool, a file;
 * may be empty). `context` is what the model needs to judge it: the user's task, for a result or a
 * definition; may be empty. `max_bytes` bounds what is shown of the text (0 = all of it): the first
 * three quarters and the last quarter stay, with a note of how many bytes are missing between, so
 * that an order at the end of a long text is not cut away. The marks around the text hold a word
 * drawn from its hash, which the text does not contain. Texts live in `arena`. */
void btz_guard_question(enum btz_guard_target target, struct btz_str name, struct btz_str context,
                        struct btz_str text, size_t max_bytes, struct btz_arena *arena,
                        struct btz_guard_question *out);

/* SHA-256 over the prompts, for the record of a run. */
struct btz_hash btz_guard_prompts_hash(void);

/* What a guard model said. */
struct btz_guard_opinion {
    bool unsafe;
    struct btz_str reason;   /* at most 1,000 bytes */
    struct btz_str evidence; /* a part of the scanned text; empty if safe */
};

/* Reads a reply: exactly one JSON object {"verdict": "safe" or "unsafe", "reason": text,
 * "evidence": text}, alone or as the only content of a code fence. For "unsafe" the evidence must
 * be a verbatim part of `scanned` and not empty; for "safe" it must be empty. Everything else is
 * BTZ_EINVAL ("malformed": the caller counts it as a failure of the scanner, never as an answer);
 * `err` says what is wrong. Texts live in `arena`. */
int btz_guard_opinion(struct btz_str reply, struct btz_str scanned, struct btz_arena *arena,
                      struct btz_guard_opinion *out, struct btz_err *err) BTZ_WARN_UNUSED;

#endif
