/* Shared by the tests of room mcp: machines made from JSON text, and expectations on exact bytes.
 */
#ifndef TEST_MCP_HELPER_H
#define TEST_MCP_HELPER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "mcp/client.h"
#include "mcp/frame.h"
#include "mcp/server.h"

/* Members of a modern _meta as our client machine sends them, and as a minimal client would. */
#define MODERN_META                                                                                \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{}"
#define CLIENT_META                                                                                \
    MODERN_META ",\"io.modelcontextprotocol/clientInfo\":{\"name\":\"t\",\"version\":\"1\"}"
/* _meta of every modern result of our server machine. */
#define RESULT_META                                                                                \
    "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"s\",\"version\":\"1\"}"

/* JSON text in single quotes instead of double ones, to be readable in C. Static buffers: at most
 * eight live at once. */
const char *q(const char *text);

const struct btz_json *json(struct btz_arena *arena, const char *text);

struct btz_mcp_server *make_server(struct btz_mcp_server_options options, const char *tools,
                                   const char *resources, const char *templates);
struct btz_mcp_server *make_full_server(struct btz_mcp_server_options options, const char *tools,
                                        const char *resources, const char *templates,
                                        const char *prompts);
/* A modern request as JSON text (single quotes allowed in all parts): `capabilities` of the client,
 * `params` besides _meta or NULL. Static buffers as in q(). */
const char *modern_request(const char *id, const char *method, const char *capabilities,
                           const char *params);
/* The same of the legacy era. */
const char *legacy_request(const char *id, const char *method, const char *params);
/* Legacy handshake of a client with these capabilities. */
void server_open_with(struct btz_mcp_server *server, const char *version, const char *capabilities);
int replace_tools(struct btz_mcp_server *server, const char *tools, const char *resources,
                  const char *templates, bool quiet);
struct btz_mcp_client *make_client(struct btz_mcp_client_options options);

void server_in(struct btz_mcp_server *server, const char *text);
/* The next outgoing message is exactly `text`; NULL: there is none. */
void server_out(struct btz_mcp_server *server, const char *text);
/* The next outgoing message is an error with this id (JSON text or NULL = no id) and code. */
void server_error(struct btz_mcp_server *server, const char *id, int code);
/* The next event is of this kind, for this name; returns its token. */
uint64_t server_event(struct btz_mcp_server *server, enum btz_mcp_server_event_kind kind,
                      const char *name);
void server_quiet(struct btz_mcp_server *server); /* no message and no event waits */
void server_reply(struct btz_mcp_server *server, uint64_t token, const char *result);
/* Legacy handshake with `version`. */
void server_open(struct btz_mcp_server *server, const char *version);

void client_in(struct btz_mcp_client *client, const char *text);
void client_out(struct btz_mcp_client *client, const char *text);
struct btz_mcp_client_event client_event(struct btz_mcp_client *client,
                                         enum btz_mcp_client_event_kind kind);
void client_quiet(struct btz_mcp_client *client);
/* Brings a client to READY, with its messages pulled. */
void client_open(struct btz_mcp_client *client, const char *version);

void assert_text(struct btz_str got, const char *want);
void assert_json(const struct btz_json *got, const char *want);

#endif
