/* Shared by the tests of the HTTP link: one client and one server with the tool `echo`, which gives
 * its arguments back as text. */
#ifndef TEST_WIRE_HTTP_ROOM_H
#define TEST_WIRE_HTTP_ROOM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "wire/http_link.h"

struct room {
    struct btz_http_link *link;
    struct btz_arena *arena; /* what the events left */
    size_t served;           /* calls that reached the server */
    size_t ready, failed, results, changed, alarms;
    size_t errors; /* of the results */
    struct btz_str last;
    bool ask; /* the first call is answered by a question */
    size_t asked, answered;
    bool hold;              /* calls are not answered */
    bool announce;          /* progress before the result, so that it becomes a stream */
    uint64_t handle, token; /* of the last call */
};

const struct btz_json *parse(struct btz_arena *arena, const char *text);
struct btz_mcp_catalogue catalogue(struct btz_arena *arena, const char *tools);
/* A link whose client has started; host, names and secrets are filled in. */
struct room *enter(struct btz_http_link_options options);
void leave(struct room *room);
void settle(struct room *room); /* until nothing moves, with all events taken and calls answered */
void call(struct room *room, const char *arguments);
void answer(struct room *room, uint64_t handle, uint64_t token, struct btz_str text);
void is_last(const struct room *room, const char *text); /* text or failure of the last result */

#endif
