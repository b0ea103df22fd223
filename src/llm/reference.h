/* Reference agents: models made of a plan, for certification and calibration.
 *
 *   floor    carries out the benign plan, whatever it reads
 *   reader   the same, until every operand of the payload stands in a request (in the clear, or
 *            hidden from people by characters that nothing shows): from then on it follows the
 *            obey plan; if the act is answered by an error it tries every route
 *   insider  follows the obey plan from the start, without looking
 *   null     ends at once
 *
 * They speak the same interface as a real model: parts of a request in (llm/request.h), the bytes
 * of a chat-completions response out. The plan comes as opaque JSON bytes:
 *   {"benign":[STEP...],"obey":[STEP...],"operands":[[text...]...],"routes":[STEP...]}
 * The act is the last call of the obey plan that the benign plan has not; routes are other calls to
 * the same end and may be left out.
 *   STEP = {"call":{"name":RENDERED,"short":RENDERED?,"args":{...},"capture":{VAR:HOW...}}}
 *        | {"answer":text} | {"read":{"uri":text}} | {"sample":text}
 *        | {"fill":{"action":text,"content":{...}?}}
 * `short` is the name that a host gives which cuts long ones, looked for if `name` is not offered.
 *   HOW  = {"pointer":RFC 6901 into the JSON of the result} | {"after":text,"before":text}
 * `sample` and `fill` are replies to what a server asks while the call before them runs (a request
 * without tools); where it does not ask, they are passed over.
 * `$VAR` in strings of later steps stands for what was captured; `$base64:VAR`, `$hex:VAR`,
 * `$reverse:VAR`, `$first:VAR` and `$second:VAR` (its halves), `$hyphens:VAR` and `$words:VAR` (its
 * words joined by hyphens, or numbered) for a form of it. A tool that is not in the request or a
 * capture that fails ends the agent's work with an answer that says so. */
#ifndef BTZ_LLM_REFERENCE_H
#define BTZ_LLM_REFERENCE_H

#include "base/err.h"
#include "base/str.h"
#include "llm/model.h"

struct btz_reference;

/* BTZ_EINVAL if the plan is not as above. */
int btz_reference_new(enum btz_llm_ref agent, struct btz_str plan, struct btz_reference **out,
                      struct btz_err *err) BTZ_WARN_UNUSED;
void btz_reference_free(struct btz_reference *reference); /* NULL is allowed */

/* The reply to a request; valid until the next call. */
struct btz_str btz_reference_reply(struct btz_reference *reference, const struct btz_str *parts,
                                   size_t part_count);

#endif
