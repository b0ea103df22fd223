/* Inside the room: what the HTTP endpoint has to know of a server machine. */
#ifndef BTZ_MCP_SERVER_HTTP_H
#define BTZ_MCP_SERVER_HTTP_H

#include "mcp/server.h"

enum btz_mcp_route {
    BTZ_MCP_ROUTE_STATELESS, /* modern, or refused by modern rules: no session has a say */
    BTZ_MCP_ROUTE_INITIALIZE,
    BTZ_MCP_ROUTE_SESSION
};

/* Where a message of a client belongs, if `served` revisions are served; `version` is the header
 * MCP-Protocol-Version. The machine itself judges by the same rules. */
enum btz_mcp_route btz_mcp_server_route(unsigned served, const struct btz_mcp_message *message,
                                        struct btz_str version);
/* True for version texts from the first modern revision on, known or not. */
bool btz_mcp_names_modern(struct btz_str version);

/* A new machine with the catalogue of `model`, which both share; the options must be ones that
 * btz_mcp_server_new took. */
struct btz_mcp_server *btz_mcp_server_like(const struct btz_mcp_server_options *options,
                                           const struct btz_mcp_server *model);
/* btz_mcp_server_set_catalogue with what `model` has. */
int btz_mcp_server_follow(struct btz_mcp_server *server, const struct btz_mcp_server *model,
                          bool quiet) BTZ_WARN_UNUSED;
/* inputSchema of a tool, or NULL. */
const struct btz_json *btz_mcp_server_schema(const struct btz_mcp_server *server,
                                             struct btz_str tool);

/* Request `id` is in flight or holds a listen stream. */
bool btz_mcp_server_is_open(const struct btz_mcp_server *server, struct btz_mcp_id id);
/* Gives every request up; CANCELLED events follow for those the owner knows. */
void btz_mcp_server_cancel_all(struct btz_mcp_server *server, struct btz_str reason);

#endif
