/* The server that the official conformance suite is pointed at: an ordinary MCP server over HTTP on
 * 127.0.0.1, both eras, with the tools, resources and prompts whose names the suite calls. All of
 * the protocol is src/mcp and src/net; these files only own what is offered and do the work.
 *
 *   fixture.c            sockets, the loop, events to owners
 *   fixture_catalogue.c  what is offered, and its changes
 *   fixture_tools.c      tools that answer by themselves, at once or after a while
 *   fixture_ask.c        tools and a prompt that have to ask the client first, in either era
 *   fixture_read.c       resources, prompts, completion */
#ifndef BTZ_CONFORMANCE_FIXTURE_H
#define BTZ_CONFORMANCE_FIXTURE_H

#include "mcp/endpoint.h"
#include "net/http_server.h"
#include "net/loop.h"

enum { FIXTURE_JOBS = 64, FIXTURE_ID = 128 };

enum fixture_work { FIXTURE_LOGGING, FIXTURE_PROGRESS, FIXTURE_RECONNECTION, FIXTURE_ASKING };

struct fixture_job { /* a call that is not answered yet */
    uint64_t id;     /* 0 = free */
    uint64_t handle;
    uint64_t token;
    enum fixture_work work;
    int step;
    const struct fixture_question *question; /* ASKING */
};

struct fixture {
    struct btz_net_loop *loop;
    struct btz_net_http_server *http;
    struct btz_mcp_endpoint *endpoint;
    struct btz_arena *fixed; /* catalogue */
    struct btz_arena *work;  /* one answer */
    struct btz_mcp_catalogue catalogue;
    char key[32]; /* seals request states */
    struct fixture_job jobs[FIXTURE_JOBS];
    uint64_t last_job;
};

/* Constant JSON text of this program. */
const struct btz_json *fixture_parse(struct btz_arena *arena, const char *text);

/* catalogue: `_change_*` adds one item to the list, or takes it away again. */
void fixture_catalogue(struct fixture *f);
void fixture_change_tools(struct fixture *f);
void fixture_change_prompts(struct fixture *f);

/* Answers. A reply that the machine refuses is a fault of the fixture and ends it; a client that
 * went away is not. */
void fixture_reply(struct fixture *f, uint64_t handle, uint64_t token,
                   const struct btz_json *result);
void fixture_refuse(struct fixture *f, uint64_t handle, uint64_t token, struct btz_str message,
                    const struct btz_json *data);
struct btz_json *fixture_text(struct btz_arena *arena, struct btz_str text, bool is_error);

/* A job that begins now, or NULL if there are too many (the call was answered with an error). */
struct fixture_job *fixture_job_new(struct fixture *f, uint64_t handle, uint64_t token,
                                    enum fixture_work work);
void fixture_job_wait(struct fixture *f, const struct fixture_job *job, int64_t milliseconds);

void fixture_call(struct fixture *f, uint64_t handle, const struct btz_mcp_server_event *event);
void fixture_step(struct fixture *f, struct fixture_job *job); /* its wait is over */

/* ask: false if `event` (a CALL or PROMPT) is none that asks. */
bool fixture_ask(struct fixture *f, uint64_t handle, const struct btz_mcp_server_event *event);
void fixture_answer(struct fixture *f, uint64_t handle, const struct btz_mcp_server_event *event);

void fixture_read(struct fixture *f, uint64_t handle, const struct btz_mcp_server_event *event);
void fixture_prompt(struct fixture *f, uint64_t handle, const struct btz_mcp_server_event *event);
void fixture_complete(struct fixture *f, uint64_t handle, const struct btz_mcp_server_event *event);

/* One pixel and one millisecond of silence, base64; made for this program. */
#define FIXTURE_PNG                                                                                \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC"
#define FIXTURE_WAV "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA=="

#endif
