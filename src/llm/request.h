/* What a MODEL need (base/step.h) carries, and how it becomes a chat-completions request body.
 *
 *   parts[0]    the settings, one JSON object; every member may be left out, others are refused:
 *                 "temperature"            number
 *                 "top_p"                  number
 *                 "max_tokens"             integer (models that want "max_completion_tokens"
 *                 "max_completion_tokens"  integer  instead get that one)
 *                 "seed"                   integer
 *                 "actions"                "native" (default) | "json"
 *   parts[1]    the tools, one JSON array in OpenAI form
 *                 [{"type":"function","function":{"name","description","parameters"}}, ...]
 *               or the empty string, or "[]"
 *   parts[2..]  one JSON object a message, in OpenAI form: {"role":"system","content":...},
 *               {"role":"user","content":...},
 *               {"role":"assistant","content":text or null,"tool_calls":[...]},
 *               {"role":"tool","tool_call_id":...,"content":...}
 *
 * The parts are what a store hashes, one by one: a conversation that grows by one message shares
 * all its other parts. The body is the parts put together; tools and messages are copied byte for
 * byte and never parsed again. The model's id is not part of the need: the driver adds it.
 *
 * With "actions":"json" the tools are not sent: whoever wrote the messages has described them
 * with btz_llm_action_prompt (llm/action.h). parts[1] still holds them, for the record. */
#ifndef BTZ_LLM_REQUEST_H
#define BTZ_LLM_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define BTZ_LLM_PART_SETTINGS 0
#define BTZ_LLM_PART_TOOLS 1
#define BTZ_LLM_PART_MESSAGES 2 /* the first of them */

/* Appends the body for model `model_id` to `out`: {"model","messages","tools","temperature",
 * "top_p","max_tokens","max_completion_tokens","seed"} in this order, what is absent left out.
 * EINVAL names the part that breaks the rules above (a part is checked for its brackets only,
 * the settings in full); ELIMIT if the body passes the maximum of `out`. */
int btz_llm_request_body(const struct btz_str *parts, size_t count, struct btz_str model_id,
                         struct btz_buf *out, struct btz_err *err) BTZ_WARN_UNUSED;

/* Makers of parts. All text is copied into `arena`; each result is NUL-terminated. Text that is
 * not valid UTF-8 has its wrong bytes replaced by U+FFFD, NUL too. */

/* A negative `max_tokens` or `seed` leaves the member out; so does a NaN `temperature`. */
struct btz_str btz_llm_part_settings(struct btz_arena *arena, double temperature,
                                     int64_t max_tokens, int64_t seed, bool json_actions);

/* `role` is "system", "user" or "assistant". */
struct btz_str btz_llm_part_message(struct btz_arena *arena, const char *role,
                                    struct btz_str content);

/* How many parts a question without a conversation has. */
enum { BTZ_LLM_QUESTION_PARTS = 4 };

/* All parts of a question without a conversation and without tools: settings (native actions),
 * "[]", one message of the system, one of the user. What is recorded is found again by the hash of
 * these parts, so whoever asks the same must make them here. */
void btz_llm_question(struct btz_arena *arena, double temperature, int64_t max_tokens, int64_t seed,
                      struct btz_str system, struct btz_str user,
                      struct btz_str parts[BTZ_LLM_QUESTION_PARTS]);

/* The result of call `call_id`. */
struct btz_str btz_llm_part_tool_result(struct btz_arena *arena, struct btz_str call_id,
                                        struct btz_str content);

struct btz_llm_reply;

/* The assistant message that a reply (llm/reply.h) stands for. Argument texts are kept byte for
 * byte, except that those of a malformed call become {} (several servers refuse a history with
 * arguments that do not parse; the tool result is the place to say what was wrong). Calls that
 * are `unanswerable` are left out. If no call stays and there is no text, the content is "". */
struct btz_str btz_llm_part_assistant(struct btz_arena *arena, const struct btz_llm_reply *reply);

#endif
