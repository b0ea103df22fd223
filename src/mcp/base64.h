/* Inside the room: strict base64 (RFC 4648 section 4: standard alphabet, padding required, no other
 * bytes, no bits set behind the end), so that one value has one text. */
#ifndef BTZ_MCP_BASE64_H
#define BTZ_MCP_BASE64_H

#include "base/arena.h"
#include "base/str.h"

struct btz_str btz_mcp_base64(struct btz_arena *arena, struct btz_str bytes);
/* BTZ_EINVAL if `text` is not exactly what the encoder would make. */
int btz_mcp_unbase64(struct btz_arena *arena, struct btz_str text,
                     struct btz_str *bytes) BTZ_WARN_UNUSED;

#endif
