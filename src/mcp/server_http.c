#include "mcp/server_http.h"

#include "mcp/server_int.h"

bool btz_mcp_server_is_open(const struct btz_mcp_server *server, struct btz_mcp_id id)
{
    return btz_mcp_server_call_by_id(server, id) || btz_mcp_server_stream_by_id(server, id);
}

const struct btz_json *btz_mcp_server_schema(const struct btz_mcp_server *server,
                                             struct btz_str tool)
{
    return btz_json_getz(btz_mcp_offer_find(server->offer.tools, "name", tool), "inputSchema");
}

void btz_mcp_server_cancel_all(struct btz_mcp_server *server, struct btz_str reason)
{
    struct call *call = server->calls;

    while (server->streams) {
        btz_mcp_server_drop_stream(server, server->streams);
    }
    while (call) {
        struct call *next = call->next; /* a call the owner never heard of goes away at once */

        if (call->state != CALL_CANCELLED) {
            btz_mcp_server_cancel_id(server, call->id, reason);
        }
        call = next;
    }
}
