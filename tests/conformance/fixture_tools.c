/* Tools that need nobody else: some answer at once, some say a few things on the way. */
#include "fixture.h"

#include <string.h>

#define STEP_MS 50

static const struct {
    const char *name;
    const char *result;
} constant[] = {
    {"test_simple_text",
     "{\"content\":[{\"type\":\"text\",\"text\":\"This is a simple text response for "
     "testing.\"}]}"},
    {"test_image_content", "{\"content\":[{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":"
                           "\"" FIXTURE_PNG "\"}]}"},
    {"test_audio_content", "{\"content\":[{\"type\":\"audio\",\"mimeType\":\"audio/wav\",\"data\":"
                           "\"" FIXTURE_WAV "\"}]}"},
    {"test_embedded_resource",
     "{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"test://embedded-resource\","
     "\"mimeType\":\"text/plain\",\"text\":\"This is an embedded resource content.\"}}]}"},
    {"test_multiple_content_types",
     "{\"content\":[{\"type\":\"text\",\"text\":\"Multiple content types test:\"},"
     "{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"" FIXTURE_PNG "\"},"
     "{\"type\":\"resource\",\"resource\":{\"uri\":\"test://mixed-content-resource\","
     "\"mimeType\":\"application/json\",\"text\":\"{\\\"test\\\":\\\"data\\\",\\\"value\\\":123}"
     "\"}}]}"},
    {"test_error_handling",
     "{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"This tool intentionally "
     "returns an error for testing\"}]}"},
    {"test_added_tool",
     "{\"content\":[{\"type\":\"text\",\"text\":\"I am here for the moment.\"}]}"},
};

static bool call_constant(struct fixture *f, uint64_t handle,
                          const struct btz_mcp_server_event *event)
{
    for (size_t i = 0; i < sizeof(constant) / sizeof(constant[0]); i++) {
        if (btz_str_is(event->name, constant[i].name)) {
            fixture_reply(f, handle, event->token, fixture_parse(f->work, constant[i].result));
            return true;
        }
    }
    return false;
}

/* Gives the arguments back, so that a test sees what arrived. */
static void call_echo(struct fixture *f, uint64_t handle, const struct btz_mcp_server_event *event)
{
    fixture_reply(f, handle, event->token,
                  fixture_text(f->work, btz_json_text(f->work, event->arguments), false));
}

static void log_line(struct fixture *f, uint64_t handle, uint64_t token, const char *text)
{
    struct btz_mcp_server *server = btz_mcp_endpoint_server(f->endpoint, handle);

    if (server) {
        int rc = btz_mcp_server_log(server, token, BTZ_STR("info"), BTZ_STR("fixture"),
                                    btz_json_new_strz(f->work, text));

        (void)rc; /* the client did not ask for it */
    }
}

/* Ends the stream of the call, so that the client has to come back for the answer; where the era
 * does not know that, the call goes on as it is. */
static void call_reconnection(struct fixture *f, uint64_t handle,
                              const struct btz_mcp_server_event *event)
{
    struct fixture_job *job = fixture_job_new(f, handle, event->token, FIXTURE_RECONNECTION);

    if (job) {
        int rc = btz_mcp_endpoint_park(f->endpoint, handle, event->request_id);

        (void)rc;
        fixture_job_wait(f, job, 2 * STEP_MS);
    }
}

static void step_logging(struct fixture *f, struct fixture_job *job)
{
    static const char *const lines[] = {"Tool execution started", "Tool processing data",
                                        "Tool execution completed"};

    log_line(f, job->handle, job->token, lines[job->step]);
    if (++job->step < 3) {
        fixture_job_wait(f, job, STEP_MS);
        return;
    }
    fixture_reply(f, job->handle, job->token,
                  fixture_text(f->work, BTZ_STR("Logged three lines."), false));
    job->id = 0;
}

static void step_progress(struct fixture *f, struct fixture_job *job)
{
    struct btz_mcp_server *server = btz_mcp_endpoint_server(f->endpoint, job->handle);

    if (server) {
        int rc = btz_mcp_server_progress(server, job->token, 50.0 * job->step, 100,
                                         btz_arena_printf(f->work, "step %d of 2", job->step));

        (void)rc; /* the client gave no token */
    }
    if (++job->step < 3) {
        fixture_job_wait(f, job, STEP_MS);
        return;
    }
    fixture_reply(f, job->handle, job->token,
                  fixture_text(f->work, BTZ_STR("Progress is complete."), false));
    job->id = 0;
}

void fixture_step(struct fixture *f, struct fixture_job *job)
{
    switch (job->work) {
    case FIXTURE_LOGGING:
        step_logging(f, job);
        break;
    case FIXTURE_PROGRESS:
        step_progress(f, job);
        break;
    case FIXTURE_RECONNECTION:
        fixture_reply(
            f, job->handle, job->token,
            fixture_text(f->work, BTZ_STR("Fetched after the stream was closed."), false));
        job->id = 0;
        break;
    case FIXTURE_ASKING:
        break;
    }
}

static void begin(struct fixture *f, uint64_t handle, uint64_t token, enum fixture_work work)
{
    struct fixture_job *job = fixture_job_new(f, handle, token, work);

    if (job) {
        fixture_step(f, job);
    }
}

/* Tools that change what is offered. The answer comes first: it belongs to the old state. */
static bool call_change(struct fixture *f, uint64_t handle,
                        const struct btz_mcp_server_event *event)
{
    bool tools = btz_str_is(event->name, "test_trigger_tool_change");
    bool prompts = btz_str_is(event->name, "test_trigger_prompt_change");
    bool resource = btz_str_is(event->name, "test_trigger_resource_update");

    if (!tools && !prompts && !resource) {
        return false;
    }
    fixture_reply(f, handle, event->token, fixture_text(f->work, BTZ_STR("Changed."), false));
    if (tools) {
        fixture_change_tools(f);
    } else if (prompts) {
        fixture_change_prompts(f);
    } else {
        btz_mcp_endpoint_resource_updated(f->endpoint, BTZ_STR("test://watched-resource"));
    }
    return true;
}

void fixture_call(struct fixture *f, uint64_t handle, const struct btz_mcp_server_event *event)
{
    if (fixture_ask(f, handle, event) || call_constant(f, handle, event) ||
        call_change(f, handle, event)) {
        return;
    }
    if (btz_str_is(event->name, "test_tool_with_logging")) {
        begin(f, handle, event->token, FIXTURE_LOGGING);
    } else if (btz_str_is(event->name, "test_tool_with_progress")) {
        begin(f, handle, event->token, FIXTURE_PROGRESS);
    } else if (btz_str_is(event->name, "test_reconnection")) {
        call_reconnection(f, handle, event);
    } else if (btz_str_is(event->name, "test_logging_tool")) {
        log_line(f, handle, event->token, "test_logging_tool was called");
        fixture_reply(f, handle, event->token,
                      fixture_text(f->work, BTZ_STR("Logged if asked to."), false));
    } else if (btz_str_is(event->name, "json_schema_2020_12_tool") ||
               btz_str_is(event->name, "test_mirrored_arguments")) {
        call_echo(f, handle, event);
    } else {
        fixture_refuse(f, handle, event->token, BTZ_STR("no such tool"), NULL);
    }
}
