/* Shared by the tests of the HTTP endpoint: requests from text, and what leaves as one text. */
#ifndef TEST_MCP_ENDPOINT_HELPER_H
#define TEST_MCP_ENDPOINT_HELPER_H

#include "helper.h"
#include "mcp/endpoint.h"

#define HOST "Host: localhost:8080\n"
#define ACCEPT "Accept: application/json, text/event-stream\n"
#define JSON_TYPE "Content-Type: application/json\n"
#define POST_FIELDS HOST ACCEPT JSON_TYPE
#define GET_FIELDS HOST "Accept: text/event-stream\n"
#define STREAM_HEAD                                                                                \
    "stream 200 [Content-Type: text/event-stream; Cache-Control: no-store; X-Accel-Buffering: no]"
#define JSON_HEAD "200 [Content-Type: application/json] "

/* A modern request: id and method as JSON and text, params behind the envelope with its comma. */
#define MODERN(id, method, params)                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\",\"params\":{" MODERN_META        \
    "}" params "}}"
#define MODERN_CALL(id) MODERN(id, "tools/call", ",\"name\":\"a\",\"arguments\":{}")
#define LEGACY(id, method, params)                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\",\"params\":{" params "}}"
#define LEGACY_CALL(id) LEGACY(id, "tools/call", "\"name\":\"a\"")
#define CALLED "{\"content\":[]}"

/* Both eras, tools "a" and "r" (with a mirrored argument), resource "u:1". */
struct btz_mcp_endpoint *make_endpoint(struct btz_mcp_endpoint_options options);
void replace_catalogue(struct btz_mcp_endpoint *endpoint, const char *tools);

/* One request at time `clock_us`; `fields` are lines "Name: value\n". */
extern int64_t clock_us;
extern const char *as_subject; /* NULL = nobody */
void http(struct btz_mcp_endpoint *endpoint, uint64_t exchange, const char *method,
          const char *target, const char *fields, const char *body);
#define POST(endpoint, exchange, fields, body)                                                     \
    http(endpoint, exchange, "POST", "/mcp", POST_FIELDS fields, body)

/* Everything that waits, one line an item, LF inside written as "\n":
 *   7 200 [Name: value; Name: value] body        7 stream 200 [fields]
 *   7 data bytes                                 7 end          7 abort
 * Session ids are written as S1, S2, ... in the order they were seen. */
const char *outs(struct btz_mcp_endpoint *endpoint);
void expect(struct btz_mcp_endpoint *endpoint, const char *want);
/* The only item is an answer to `exchange` with this status and JSON-RPC error code; `id` is JSON
 * text, or NULL for none. */
void expect_error(struct btz_mcp_endpoint *endpoint, uint64_t exchange, int status, int code,
                  const char *id);
/* The next event is of this kind for this name. */
uint64_t take_event(struct btz_mcp_endpoint *endpoint, enum btz_mcp_server_event_kind kind,
                    const char *name, uint64_t *handle);
void no_event(struct btz_mcp_endpoint *endpoint);
void answer_call(struct btz_mcp_endpoint *endpoint, uint64_t handle, uint64_t token);
void progress(struct btz_mcp_endpoint *endpoint, uint64_t handle, uint64_t token, double value);

/* Opens a legacy session by exchange 1; the text is a line "MCP-Session-Id: ...\n". */
const char *open_session(struct btz_mcp_endpoint *endpoint, const char *version);
/* Lines in a static buffer: POST_FIELDS or others, and the session's. */
const char *with(const char *fields, const char *session);

#endif
