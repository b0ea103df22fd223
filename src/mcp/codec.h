/* One MCP message: bytes <-> struct. Strict JSON (json/json.h) plus the protocol's own rules:
 *
 *  - "jsonrpc" is "2.0"; nothing but jsonrpc, id, method, params, result and error in the envelope
 *  - an id is a string (up to BTZ_MCP_MAX_ID bytes) or an integer literal in the range of int64;
 *    null only on an error that could not name its request
 *  - arrays (batches) are refused in every revision: no two parsers agree on how to judge them
 *  - params and result are objects, never both method and result, nor result and error
 *  - case variants of known keys ("Name" for "name", also by the folding of U+017F and U+212A) are
 *    refused in protocol objects: envelope, params, result, error, `_meta` keys, definitions,
 *    content blocks, capabilities. Never inside arguments, structuredContent, schemas, `_meta`
 *    values, requestState, log data: those belong to the application.
 *
 * A refusal says what a server has to answer. */
#ifndef BTZ_MCP_CODEC_H
#define BTZ_MCP_CODEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "json/json.h"
#include "mcp/methods.h"

#define BTZ_MCP_MAX_ID 1024     /* bytes of a string id, also of a progress token */
#define BTZ_MCP_MAX_METHOD 256  /* bytes of a method name */
#define BTZ_MCP_MAX_CURSOR 4096 /* bytes of a pagination cursor */

/* JSON-RPC 2.0 section 5.1, and the three codes 2026-07-28 defines for itself. */
#define BTZ_MCP_E_PARSE (-32700)
#define BTZ_MCP_E_REQUEST (-32600)
#define BTZ_MCP_E_METHOD (-32601)
#define BTZ_MCP_E_PARAMS (-32602)
#define BTZ_MCP_E_INTERNAL (-32603)
#define BTZ_MCP_E_HEADER (-32020)
#define BTZ_MCP_E_CAPABILITY (-32021)
#define BTZ_MCP_E_VERSION (-32022)

#define BTZ_MCP_META "io.modelcontextprotocol/" /* prefix of the protocol's own _meta keys */

enum btz_mcp_id_kind { BTZ_MCP_ID_NONE, BTZ_MCP_ID_INTEGER, BTZ_MCP_ID_STRING };

/* Request id, progress token or subscription id. `text` is used by STRING only. */
struct btz_mcp_id {
    enum btz_mcp_id_kind kind;
    int64_t number;
    struct btz_str text;
};

struct btz_mcp_id btz_mcp_id_int(int64_t number);
struct btz_mcp_id btz_mcp_id_str(struct btz_str text); /* borrows */
/* Same type and same value: 1 and "1" differ. Two NONE are not equal. */
bool btz_mcp_id_eq(struct btz_mcp_id a, struct btz_mcp_id b);
/* From a JSON value; false if it cannot be an id. Borrows from `value`. */
bool btz_mcp_id_read(const struct btz_json *value, struct btz_mcp_id *out);
/* As a JSON value in `arena`; NULL for NONE. */
struct btz_json *btz_mcp_id_json(struct btz_arena *arena, struct btz_mcp_id id);

enum btz_mcp_kind { BTZ_MCP_REQUEST, BTZ_MCP_NOTIFICATION, BTZ_MCP_RESULT, BTZ_MCP_ERROR };

struct btz_mcp_message {
    enum btz_mcp_kind kind;
    struct btz_mcp_id id;          /* NONE for notifications, and for errors without a usable id */
    struct btz_str method;         /* requests and notifications */
    const struct btz_json *params; /* object or NULL */
    const struct btz_json *result; /* object; RESULT only */
    int64_t error_code;            /* ERROR only, like the next two */
    struct btz_str error_message;
    const struct btz_json *error_data; /* any value or NULL */
    const struct btz_json *root;
};

/* The switches are for lab host profiles; all zero is the strict codec. */
struct btz_mcp_limits {
    struct btz_json_limits json; /* max_bytes 0 = BTZ_MCP_MAX_LINE (frame.h) */
    bool accept_case_variants;
};

/* Why a message was refused and what to do about it. */
struct btz_mcp_refusal {
    int code;    /* -32700, -32600 or -32602 */
    bool answer; /* a server should answer with an error (it is no notification, no response) */
    struct btz_mcp_id id; /* of the refused message, if it could be read; in the arena */
    struct btz_err err;   /* for people: names the field, what was expected, line and column */
};

/* Reads one message into `arena` (results borrow from it). 0, BTZ_EINVAL or BTZ_ELIMIT; on failure
 * `why` (required) is filled. `limits` NULL = strict defaults. */
int btz_mcp_read(struct btz_arena *arena, struct btz_str bytes, const struct btz_mcp_limits *limits,
                 struct btz_mcp_message *out, struct btz_mcp_refusal *why) BTZ_WARN_UNUSED;

/* Builders: append one message without newline. `params`, `result` and `data` may be NULL (result:
 * then {}). An error with id NONE is written without an id. 0 or BTZ_ELIMIT. */
int btz_mcp_write_request(struct btz_buf *out, struct btz_mcp_id id, struct btz_str method,
                          const struct btz_json *params) BTZ_WARN_UNUSED;
int btz_mcp_write_notification(struct btz_buf *out, struct btz_str method,
                               const struct btz_json *params) BTZ_WARN_UNUSED;
int btz_mcp_write_result(struct btz_buf *out, struct btz_mcp_id id,
                         const struct btz_json *result) BTZ_WARN_UNUSED;
int btz_mcp_write_error(struct btz_buf *out, struct btz_mcp_id id, int64_t code,
                        struct btz_str message, const struct btz_json *data) BTZ_WARN_UNUSED;

/* Shape checks of payloads (specification: Tool, CallToolResult, ReadResourceResult, Prompt,
 * GetPromptResult, CompleteResult). 0 or
 * BTZ_EINVAL with `err` naming the field by JSON pointer. Unknown members and unknown content
 * types pass; known ones must have their required members with the right types. */
int btz_mcp_check_tool(const struct btz_json *tool, struct btz_err *err) BTZ_WARN_UNUSED;
int btz_mcp_check_resource(const struct btz_json *resource, struct btz_err *err) BTZ_WARN_UNUSED;
int btz_mcp_check_template(const struct btz_json *item, struct btz_err *err) BTZ_WARN_UNUSED;
int btz_mcp_check_call_result(const struct btz_json *result, enum btz_mcp_revision revision,
                              struct btz_err *err) BTZ_WARN_UNUSED;
int btz_mcp_check_read_result(const struct btz_json *result, struct btz_err *err) BTZ_WARN_UNUSED;
int btz_mcp_check_prompt(const struct btz_json *prompt, struct btz_err *err) BTZ_WARN_UNUSED;
int btz_mcp_check_prompt_result(const struct btz_json *result, struct btz_err *err) BTZ_WARN_UNUSED;
/* {"completion":{"values":[at most 100 strings],"total"?,"hasMore"?}} */
int btz_mcp_check_complete_result(const struct btz_json *result,
                                  struct btz_err *err) BTZ_WARN_UNUSED;
#define BTZ_MCP_MAX_COMPLETIONS 100

/* What completion/complete completes an argument of. */
enum btz_mcp_ref { BTZ_MCP_REF_PROMPT, BTZ_MCP_REF_RESOURCE };

/* Lists that can change, as bits. */
#define BTZ_MCP_LIST_TOOLS 1u
#define BTZ_MCP_LIST_RESOURCES 2u
#define BTZ_MCP_LIST_PROMPTS 4u

/* Log levels in order of RFC 5424: "debug" 0 ... "emergency" 7; -1 if it is none of them. */
int btz_mcp_log_level(struct btz_str name);

/* One HTTP header of an outgoing message. `name` without a "Mcp-Param-" in front of it. */
struct btz_mcp_param {
    struct btz_str name;
    struct btz_str value; /* on the wire: encoded (param_header.h) */
};

/* One outgoing message of a client or server machine, with what a carrier may need to route it
 * (HTTP: which response stream, which headers). Views are valid until the next pull. */
struct btz_mcp_out {
    struct btz_str bytes; /* one message, no newline */
    enum btz_mcp_kind kind;
    struct btz_mcp_id id;      /* own id of a request, a result or an error */
    struct btz_mcp_id related; /* request of the peer whose stream this belongs to; NONE = none */
    struct btz_str method;     /* requests and notifications */
    struct btz_str name;       /* value for Mcp-Name, not encoded, if the method mirrors one */
    const struct btz_mcp_param *params; /* client over HTTP: Mcp-Param-* headers, encoded */
    size_t param_count;
    enum btz_mcp_revision revision; /* NONE while it is not settled */
    int http_status; /* server only: status of the HTTP response this error opens, or 200 */
};

#endif
