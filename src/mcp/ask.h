/* What a server may ask of a client: sampling/createMessage, elicitation/create and roots/list, as
 * requests of their own (legacy) or entries of inputRequests (modern). */
#ifndef BTZ_MCP_ASK_H
#define BTZ_MCP_ASK_H

#include "base/arena.h"
#include "base/err.h"
#include "json/json.h"
#include "mcp/methods.h"

/* Params of such a request. BTZ_EINVAL with `err` if `method` is none of the three or the params
 * break its shape (specification: CreateMessageRequest, ElicitRequest). `params` may be NULL. */
int btz_mcp_check_ask(struct btz_str method, const struct btz_json *params,
                      struct btz_err *err) BTZ_WARN_UNUSED;
/* Result of such a request (CreateMessageResult, ElicitResult, ListRootsResult). */
int btz_mcp_check_answer(struct btz_str method, const struct btz_json *result,
                         struct btz_err *err) BTZ_WARN_UNUSED;
/* An inputRequests object: key -> {method, params}, one entry at least. */
int btz_mcp_check_inputs(const struct btz_json *requests, struct btz_err *err) BTZ_WARN_UNUSED;

/* What `capabilities` (ClientCapabilities) does not declare but the request needs, as a
 * ClientCapabilities object in `arena`; NULL if nothing is missing. elicitation {} means form mode;
 * url mode needs elicitation.url, `tools` and `toolChoice` of sampling need sampling.tools. */
struct btz_json *btz_mcp_ask_missing(struct btz_arena *arena, const struct btz_json *capabilities,
                                     struct btz_str method, const struct btz_json *params);
/* The same over all entries of an inputRequests object. */
struct btz_json *btz_mcp_inputs_missing(struct btz_arena *arena,
                                        const struct btz_json *capabilities,
                                        const struct btz_json *requests);

#endif
