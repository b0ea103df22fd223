/* Inside the room: tables of members with their types, for payload checks. */
#ifndef BTZ_MCP_CHECK_H
#define BTZ_MCP_CHECK_H

#include "json/json.h"

/* A place in a payload as a JSON pointer, for error messages. */
struct place {
    char text[96];
};

struct rule {
    const char *key;
    enum btz_json_kind kind;
    bool required;
};

/* `key` or, if NULL, `index` below `base` (NULL = the root). */
struct place btz_mcp_place(const struct place *base, const char *key, size_t index);
int btz_mcp_check_object(const struct btz_json *value, const struct place *place,
                         const struct rule *rules, size_t count,
                         struct btz_err *err) BTZ_WARN_UNUSED;

#define BTZ_MCP_CHECK(value, place, rules, err)                                                    \
    btz_mcp_check_object(value, place, rules, sizeof(rules) / sizeof((rules)[0]), err)

/* {role, content}; `many`: content may be an array of blocks (sampling since 2025-11-25). */
int btz_mcp_check_message(const struct btz_json *message, const struct place *place, bool many,
                          struct btz_err *err) BTZ_WARN_UNUSED;
/* The member `messages` of a payload. */
int btz_mcp_check_messages(const struct btz_json *messages, bool many,
                           struct btz_err *err) BTZ_WARN_UNUSED;

#endif
