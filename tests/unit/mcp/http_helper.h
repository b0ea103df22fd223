/* Shared by the tests of the HTTP client session: exchanges as text. */
#ifndef TEST_MCP_HTTP_HELPER_H
#define TEST_MCP_HTTP_HELPER_H

#include "helper.h"

#include "mcp/http_session.h"

#define POST_HEAD(target)                                                                          \
    "POST " target "\nHost: tools.example\nAccept: application/json, text/event-stream\n"          \
    "Content-Type: application/json\nAccept-Encoding: identity\n"
#define GET_HEAD(target)                                                                           \
    "GET " target "\nHost: tools.example\nAccept: text/event-stream\n"                             \
    "Accept-Encoding: identity\n"
#define JSON "Content-Type: application/json"
#define EVENTS "Content-Type: text/event-stream"

#define INIT_BODY                                                                                  \
    "{'jsonrpc':'2.0','id':1,'method':'initialize','params':{'protocolVersion':'2025-11-25',"      \
    "'capabilities':{},'clientInfo':{'name':'t','version':'1'}}}"
#define INIT_RESULT                                                                                \
    "{'jsonrpc':'2.0','id':1,'result':{'protocolVersion':'2025-11-25','capabilities':{},"          \
    "'serverInfo':{'name':'s','version':'1'}}}"
#define INITIALIZED_BODY "{'jsonrpc':'2.0','method':'notifications/initialized'}"
#define META                                                                                       \
    "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"                             \
    "'io.modelcontextprotocol/clientCapabilities':{},"                                             \
    "'io.modelcontextprotocol/clientInfo':{'name':'t','version':'1'}}"
#define DISCOVER_BODY "{'jsonrpc':'2.0','id':1,'method':'server/discover','params':{" META "}}"
#define DISCOVER_RESULT                                                                            \
    "{'jsonrpc':'2.0','id':1,'result':{'resultType':'complete','supportedVersions':['2026-07-28']" \
    ",'capabilities':{'tools':{}},'ttlMs':0,'cacheScope':'private'}}"
/* Fields of a settled session. */
#define LEGACY_FIELDS "Mcp-Session-Id: s-1\nMCP-Protocol-Version: 2025-11-25\n"

struct btz_mcp_http_session *new_session(struct btz_mcp_http_session_options options);
/* Begins and takes the handshake: one legacy session "s-1" with an open GET stream, whose exchange
 * id is returned in `stream` (NULL: no GET stream), or a modern connection. */
struct btz_mcp_http_session *legacy_session(struct btz_mcp_http_session_options options,
                                            uint64_t *stream);
struct btz_mcp_http_session *modern_session(struct btz_mcp_http_session_options options);

/* The next exchange is exactly this text ("METHOD target\nField: value\n...\nbody", single quotes
 * for double ones); returns its id. NULL: there is none (0). */
uint64_t sends(struct btz_mcp_http_session *session, const char *text);
uint64_t sends_any(struct btz_mcp_http_session *session, struct btz_mcp_http_exchange *out);
void closes(struct btz_mcp_http_session *session, uint64_t exchange);
void closes_nothing(struct btz_mcp_http_session *session);

/* Parts of a response; `fields` is "Name: value\n..." or "". */
void head(struct btz_mcp_http_session *session, uint64_t exchange, int status, const char *fields);
void body(struct btz_mcp_http_session *session, uint64_t exchange, const char *text);
void end(struct btz_mcp_http_session *session, uint64_t exchange, enum btz_mcp_http_end how);
/* A whole response. */
void answers(struct btz_mcp_http_session *session, uint64_t exchange, int status,
             const char *fields, const char *text);

struct btz_mcp_client_event event_of(struct btz_mcp_http_session *session,
                                     enum btz_mcp_client_event_kind kind);
void quiet(struct btz_mcp_http_session *session); /* no exchange, no close, no event */

#endif
