/* Parts of a modern request that are mirrored as HTTP headers (specification 2026-07-28,
 * "Streamable HTTP": Mcp-Name, Mcp-Param-*): the `x-mcp-header` annotations of a tool's
 * inputSchema, and the encoding of values. No HTTP here: the carrier puts `Mcp-Param-` and the name
 * together. */
#ifndef BTZ_MCP_PARAM_HEADER_H
#define BTZ_MCP_PARAM_HEADER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"
#include "mcp/codec.h"

#define BTZ_MCP_PARAM_PREFIX "Mcp-Param-"
#define BTZ_MCP_MAX_PARAM_HEADERS 64  /* of one tool */
#define BTZ_MCP_MAX_PARAM_NAME 128    /* bytes of an annotation's value */
#define BTZ_MCP_MAX_HEADER_VALUE 8192 /* bytes of an encoded value */

enum btz_mcp_param_type { BTZ_MCP_PARAM_STRING, BTZ_MCP_PARAM_INTEGER, BTZ_MCP_PARAM_BOOLEAN };

/* One annotated property. */
struct btz_mcp_param_header {
    struct btz_str pointer; /* RFC 6901, into the arguments: "/user/region" */
    struct btz_str name;    /* as annotated, without the Mcp-Param- prefix */
    enum btz_mcp_param_type type;
};

/* All annotations of `input_schema` in the order of the schema; views live in `arena` or the
 * schema. No annotation: 0 with `*count` 0. BTZ_EINVAL with `err` saying which rule is broken: the
 * value must be a token of RFC 9110 (not empty), unique in the schema without regard to case, on a
 * property of type string, integer or boolean that is reachable through `properties` only.
 * BTZ_ELIMIT for more than BTZ_MCP_MAX_PARAM_HEADERS. An HTTP client must drop such a tool from its
 * list. `x-mcp-header` in const, default, enum and examples is data, not an annotation. */
int btz_mcp_param_headers(struct btz_arena *arena, const struct btz_json *input_schema,
                          const struct btz_mcp_param_header **out, size_t *count,
                          struct btz_err *err) BTZ_WARN_UNUSED;

/* Encoded value of the header for these arguments. BTZ_ENOTFOUND: the argument is absent or null,
 * so there is no header. BTZ_EINVAL: it has another type than the annotation (then none is sent:
 * the server judges the argument itself), or an integer beyond 2^53-1. BTZ_ELIMIT: too long. */
int btz_mcp_param_value(struct btz_arena *arena, const struct btz_mcp_param_header *header,
                        const struct btz_json *arguments, struct btz_str *out) BTZ_WARN_UNUSED;

/* True if a received header value (ptr NULL = the header is absent) agrees with the arguments, the
 * body being the truth: absent exactly if btz_mcp_param_value gives none, else equal after
 * decoding; integers compare as numbers. */
bool btz_mcp_param_matches(struct btz_arena *arena, const struct btz_mcp_param_header *header,
                           const struct btz_json *arguments, struct btz_str value);

/* The Mcp-Param-* headers of a call with `arguments`, to be sent by a client. Errors as
 * btz_mcp_param_headers; arguments without a header (absent, null, other type) are left out. */
int btz_mcp_param_fields(struct btz_arena *arena, const struct btz_json *input_schema,
                         const struct btz_json *arguments, const struct btz_mcp_param **out,
                         size_t *count, struct btz_err *err) BTZ_WARN_UNUSED;

/* Checks received Mcp-Param-* headers against the body by the schema; what no annotation names is
 * ignored. BTZ_EINVAL with `err` naming the header that is missing, doubled, undecodable or
 * different (a server answers -32020). A schema with broken annotations mirrors nothing: 0. */
int btz_mcp_param_check(struct btz_arena *arena, const struct btz_json *input_schema,
                        const struct btz_json *arguments, const struct btz_mcp_param *fields,
                        size_t count, struct btz_err *err) BTZ_WARN_UNUSED;

/* Value for Mcp-Name and Mcp-Param-*: itself if it is printable ASCII (0x20 to 0x7E) without space
 * at either end and not of the form =?base64?...?=; else that form. The empty value is plain.
 * BTZ_ELIMIT when the outcome is over BTZ_MCP_MAX_HEADER_VALUE bytes. */
int btz_mcp_header_encode(struct btz_arena *arena, struct btz_str value,
                          struct btz_str *out) BTZ_WARN_UNUSED;
/* The reverse, from a received value; white space around it is trimmed. BTZ_EINVAL for bytes that
 * are not printable ASCII, bad base64, or base64 of something that is not UTF-8 or has NUL. */
int btz_mcp_header_decode(struct btz_arena *arena, struct btz_str raw,
                          struct btz_str *out) BTZ_WARN_UNUSED;

#endif
