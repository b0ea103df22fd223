/* Sealed request state (specification 2026-07-28, multi round-trip requests): what a server lets
 * the client carry from one round to the next. The client sees the payload but cannot change it,
 * use it for another request, as somebody else, or after its time: HMAC-SHA256 (RFC 2104) with a
 * key of the owner over all of that. It can be used more than once within its time: a server that
 * must not act twice keeps a record of its own. */
#ifndef BTZ_MCP_STATE_H
#define BTZ_MCP_STATE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"

#define BTZ_MCP_STATE_MIN_KEY 16          /* bytes of a key */
#define BTZ_MCP_STATE_MAX ((size_t)65536) /* bytes of a payload */

/* What a state belongs to. */
struct btz_mcp_state_binding {
    struct btz_str method;            /* "tools/call" */
    struct btz_str name;              /* tool, prompt or URI */
    const struct btz_json *arguments; /* NULL counts as {}; member order does not matter */
    struct btz_str principal; /* who asks, as the owner's authorization has it; may be empty */
};

/* `*out` (in `arena`) is printable ASCII. `now` and `seconds` (of validity, > 0) are the owner's
 * clock. BTZ_EINVAL for a short key or bad seconds, BTZ_ELIMIT for an over-long payload. */
int btz_mcp_state_seal(struct btz_arena *arena, struct btz_str key,
                       const struct btz_mcp_state_binding *binding, struct btz_str payload,
                       int64_t now, int64_t seconds, struct btz_str *out) BTZ_WARN_UNUSED;

/* `*payload` in `arena`. BTZ_EINVAL: malformed, tampered with, sealed with another key or for
 * another request or principal (deliberately one code). BTZ_ETIMEOUT: genuine, but its time is
 * over. */
int btz_mcp_state_open(struct btz_arena *arena, struct btz_str key,
                       const struct btz_mcp_state_binding *binding, struct btz_str sealed,
                       int64_t now, struct btz_str *payload) BTZ_WARN_UNUSED;

#endif
