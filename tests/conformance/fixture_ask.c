/* Tools and a prompt that have to ask the client before they can answer. One table for both eras:
 * a legacy client is asked by requests of the server on the stream of the call, a modern one by
 * input_required, with a sealed state where the answer depends on an earlier round. */
#include "fixture.h"

#include <string.h>

#include "base/clock.h"
#include "mcp/state.h"

#define STATE_SECONDS 600

struct entry { /* one request to the client */
    const char *key, *method, *params;
};

struct fixture_question {
    const char *name; /* of the tool or prompt */
    const struct entry *entries;
    size_t count;
    bool sealed;                          /* modern: with a state, and not without it */
    const char *argument;                 /* of the call, put into the params; NULL = none */
    const struct fixture_question *after; /* asked next */
    bool prompt;
    /* Text of the answer, or BTZ_STR_NONE if the answers do not do: then it is asked again.
     * `before` = payload of the state. */
    struct btz_str (*finish)(struct btz_arena *arena, const struct btz_json *answers,
                             struct btz_str before);
};

/* ---- what answers say ---- */

static const struct btz_json *accepted(const struct btz_json *answers, const char *key)
{
    const struct btz_json *answer = btz_json_getz(answers, key);

    return btz_str_is(btz_json_str(btz_json_getz(answer, "action")), "accept")
               ? btz_json_getz(answer, "content")
               : NULL;
}

/* Text of a sampled message: one block, or an array of them (from 2025-11-25 on). */
static struct btz_str sampled(const struct btz_json *answers, const char *key)
{
    const struct btz_json *content = btz_json_getz(btz_json_getz(answers, key), "content");

    if (btz_json_is(content, BTZ_JSON_ARRAY)) {
        content = btz_json_at(content, 0);
    }
    return btz_json_str(btz_json_getz(content, "text"));
}

static struct btz_str finish_sampling(struct btz_arena *arena, const struct btz_json *answers,
                                      struct btz_str before)
{
    struct btz_str text = sampled(answers, "answer");

    (void)before;
    return text.ptr ? btz_arena_printf(arena, "LLM response: %.*s", BTZ_FMT(text)) : BTZ_STR_NONE;
}

static struct btz_str describe(struct btz_arena *arena, const char *head,
                               const struct btz_json *answers)
{
    const struct btz_json *answer = btz_json_getz(answers, "answer");
    struct btz_str action = btz_json_str(btz_json_getz(answer, "action"));
    const struct btz_json *content = btz_json_getz(answer, "content");
    struct btz_str text = content ? btz_json_text(arena, content) : BTZ_STR("{}");

    return action.ptr ? btz_arena_printf(arena, "%s: action=%.*s, content=%.*s", head,
                                         BTZ_FMT(action), BTZ_FMT(text))
                      : BTZ_STR_NONE;
}

static struct btz_str finish_user(struct btz_arena *arena, const struct btz_json *answers,
                                  struct btz_str before)
{
    (void)before;
    return describe(arena, "User response", answers);
}

static struct btz_str finish_form(struct btz_arena *arena, const struct btz_json *answers,
                                  struct btz_str before)
{
    (void)before;
    return describe(arena, "Elicitation completed", answers);
}

static struct btz_str finish_name(struct btz_arena *arena, const struct btz_json *answers,
                                  struct btz_str before)
{
    struct btz_str name = btz_json_str(btz_json_getz(accepted(answers, "user_name"), "name"));

    (void)before;
    return name.ptr ? btz_arena_printf(arena, "Hello, %.*s!", BTZ_FMT(name)) : BTZ_STR_NONE;
}

static struct btz_str finish_capital(struct btz_arena *arena, const struct btz_json *answers,
                                     struct btz_str before)
{
    struct btz_str text = sampled(answers, "capital_question");

    (void)before;
    return text.ptr ? btz_arena_printf(arena, "%.*s", BTZ_FMT(text)) : BTZ_STR_NONE;
}

static struct btz_str finish_roots(struct btz_arena *arena, const struct btz_json *answers,
                                   struct btz_str before)
{
    const struct btz_json *roots = btz_json_getz(btz_json_getz(answers, "client_roots"), "roots");

    (void)before;
    if (!btz_json_is(roots, BTZ_JSON_ARRAY)) {
        return BTZ_STR_NONE;
    }
    return btz_arena_printf(arena, "%zu root(s): %.*s", btz_json_count(roots),
                            BTZ_FMT(btz_json_text(arena, roots)));
}

static struct btz_str finish_state(struct btz_arena *arena, const struct btz_json *answers,
                                   struct btz_str before)
{
    const struct btz_json *ok = btz_json_getz(accepted(answers, "confirm"), "ok");

    (void)arena;
    (void)before;
    return !ok                        ? BTZ_STR_NONE
           : btz_json_bool(ok, false) ? BTZ_STR("state-ok: confirmed")
                                      : BTZ_STR("state-ok: not confirmed");
}

static struct btz_str finish_three(struct btz_arena *arena, const struct btz_json *answers,
                                   struct btz_str before)
{
    struct btz_str name = finish_name(arena, answers, before);
    struct btz_str greeting = sampled(answers, "greeting");
    struct btz_str roots = finish_roots(arena, answers, before);

    if (!name.ptr || !greeting.ptr || !roots.ptr) {
        return BTZ_STR_NONE;
    }
    return btz_arena_printf(arena, "%.*s %.*s %.*s", BTZ_FMT(name), BTZ_FMT(greeting),
                            BTZ_FMT(roots));
}

static struct btz_str finish_step1(struct btz_arena *arena, const struct btz_json *answers,
                                   struct btz_str before)
{
    (void)arena;
    (void)before;
    return btz_json_str(btz_json_getz(accepted(answers, "step1"), "name"));
}

static struct btz_str finish_step2(struct btz_arena *arena, const struct btz_json *answers,
                                   struct btz_str before)
{
    struct btz_str color = btz_json_str(btz_json_getz(accepted(answers, "step2"), "color"));

    return color.ptr ? btz_arena_printf(arena, "%.*s likes %.*s.", BTZ_FMT(before), BTZ_FMT(color))
                     : BTZ_STR_NONE;
}

static struct btz_str finish_any(struct btz_arena *arena, const struct btz_json *answers,
                                 struct btz_str before)
{
    struct btz_str text = sampled(answers, "sampled");

    (void)before;
    if (text.ptr) {
        return btz_arena_printf(arena, "%.*s", BTZ_FMT(text));
    }
    text = btz_json_str(btz_json_getz(accepted(answers, "elicited"), "name"));
    return text.ptr ? btz_arena_printf(arena, "%.*s", BTZ_FMT(text)) : BTZ_STR_NONE;
}

static struct btz_str finish_context(struct btz_arena *arena, const struct btz_json *answers,
                                     struct btz_str before)
{
    struct btz_str text = btz_json_str(btz_json_getz(accepted(answers, "user_context"), "context"));

    (void)before;
    return text.ptr ? btz_arena_printf(arena, "Answer in this context: %.*s", BTZ_FMT(text))
                    : BTZ_STR_NONE;
}

/* The user said no to one of the questions: it is not put again. */
static bool declined(const struct fixture_question *q, const struct btz_json *answers)
{
    for (size_t i = 0; i < q->count; i++) {
        struct btz_str action =
            btz_json_str(btz_json_getz(btz_json_getz(answers, q->entries[i].key), "action"));

        if (btz_str_is(action, "decline") || btz_str_is(action, "cancel")) {
            return true;
        }
    }
    return false;
}

/* ---- what is asked ---- */

#define ELICIT "elicitation/create"
#define SAMPLE "sampling/createMessage"
#define FORM(message, properties, required)                                                        \
    "{\"mode\":\"form\",\"message\":\"" message                                                    \
    "\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{" properties                      \
    "},\"required\":[" required "]}}"
#define ONE_FIELD(message, name, type)                                                             \
    FORM(message, "\"" name "\":{\"type\":\"" type "\"}", "\"" name "\"")
#define ASK_MODEL(text, tokens)                                                                    \
    "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"" text            \
    "\"}}],\"maxTokens\":" tokens "}"

static const struct entry sampling[] = {{"answer", SAMPLE, ASK_MODEL("", "100")}};
static const struct entry elicitation[] = {
    {"answer", ELICIT,
     FORM("",
          "\"username\":{\"type\":\"string\",\"description\":\"User's response\"},"
          "\"email\":{\"type\":\"string\",\"description\":\"User's email address\"}",
          "\"username\",\"email\"")}};
static const struct entry defaults[] = {
    {"answer", ELICIT,
     FORM("Please check these values",
          "\"name\":{\"type\":\"string\",\"default\":\"John Doe\"},"
          "\"age\":{\"type\":\"integer\",\"default\":30},"
          "\"score\":{\"type\":\"number\",\"default\":95.5},"
          "\"status\":{\"type\":\"string\",\"enum\":[\"active\",\"inactive\",\"pending\"],"
          "\"default\":\"active\"},"
          "\"verified\":{\"type\":\"boolean\",\"default\":true}",
          "")}};
#define CHOICES(head)                                                                              \
    "[{\"const\":\"value1\",\"title\":\"First " head                                               \
    "\"},{\"const\":\"value2\",\"title\":\"Second " head                                           \
    "\"},{\"const\":\"value3\",\"title\":\"Third " head "\"}]"
static const struct entry enums[] = {
    {"answer", ELICIT,
     FORM("Please choose",
          "\"untitledSingle\":{\"type\":\"string\",\"enum\":[\"option1\",\"option2\",\"option3\"]},"
          "\"titledSingle\":{\"type\":\"string\",\"oneOf\":" CHOICES(
              "Option") "},"
                        "\"legacyEnum\":{\"type\":\"string\",\"enum\":[\"opt1\",\"opt2\",\"opt3\"],"
                        "\"enumNames\":[\"Option One\",\"Option Two\",\"Option Three\"]},"
                        "\"untitledMulti\":{\"type\":\"array\",\"items\":{\"type\":\"string\","
                        "\"enum\":[\"option1\",\"option2\",\"option3\"]}},"
                        "\"titledMulti\":{\"type\":\"array\",\"items\":{\"anyOf\":" CHOICES(
                            "Choice") "}}",
          "")}};
static const struct entry needed[] = {{"answer", SAMPLE, ASK_MODEL("Are you there?", "10")}};
static const struct entry streaming[] = {
    {"user_name", ELICIT, ONE_FIELD("What is your name?", "name", "string")}};
static const struct entry capital[] = {
    {"capital_question", SAMPLE, ASK_MODEL("What is the capital of France?", "100")}};
static const struct entry roots[] = {{"client_roots", "roots/list", "{}"}};
static const struct entry confirm[] = {
    {"confirm", ELICIT, ONE_FIELD("Please confirm", "ok", "boolean")}};
static const struct entry three[] = {
    {"user_name", ELICIT, ONE_FIELD("What is your name?", "name", "string")},
    {"greeting", SAMPLE, ASK_MODEL("Generate a greeting", "50")},
    {"client_roots", "roots/list", "{}"},
};
static const struct entry step1[] = {
    {"step1", ELICIT, ONE_FIELD("Step 1: What is your name?", "name", "string")}};
static const struct entry step2[] = {
    {"step2", ELICIT, ONE_FIELD("Step 2: What is your favorite color?", "color", "string")}};
static const struct entry either[] = {
    {"sampled", SAMPLE, ASK_MODEL("Say a name", "20")},
    {"elicited", ELICIT, ONE_FIELD("Say a name", "name", "string")},
};
static const struct entry context[] = {
    {"user_context", ELICIT,
     ONE_FIELD("What context should the prompt use?", "context", "string")}};

#define ENTRIES(list) .entries = (list), .count = sizeof(list) / sizeof((list)[0])
#define MULTI "test_input_required_result_"
#define CAPABILITIES MULTI "capabilities"

static const struct fixture_question second_round = {
    .name = MULTI "multi_round", ENTRIES(step2), .sealed = true, .finish = finish_step2};

static const struct fixture_question questions[] = {
    {.name = "test_sampling", ENTRIES(sampling), .argument = "prompt", .finish = finish_sampling},
    {.name = "test_elicitation",
     ENTRIES(elicitation),
     .argument = "message",
     .finish = finish_user},
    {.name = "test_elicitation_sep1034_defaults", ENTRIES(defaults), .finish = finish_form},
    {.name = "test_elicitation_sep1330_enums", ENTRIES(enums), .finish = finish_form},
    {.name = "test_missing_capability", ENTRIES(needed), .finish = finish_sampling},
    {.name = "test_streaming_elicitation", ENTRIES(streaming), .finish = finish_name},
    {.name = MULTI "elicitation", ENTRIES(streaming), .finish = finish_name},
    {.name = MULTI "sampling", ENTRIES(capital), .finish = finish_capital},
    {.name = MULTI "list_roots", ENTRIES(roots), .finish = finish_roots},
    {.name = MULTI "request_state", ENTRIES(confirm), .sealed = true, .finish = finish_state},
    {.name = MULTI "multiple_inputs", ENTRIES(three), .sealed = true, .finish = finish_three},
    {.name = MULTI "multi_round",
     ENTRIES(step1),
     .sealed = true,
     .after = &second_round,
     .finish = finish_step1},
    {.name = MULTI "tampered_state", ENTRIES(confirm), .sealed = true, .finish = finish_state},
    {.name = CAPABILITIES, ENTRIES(either), .finish = finish_any},
    {.name = MULTI "prompt", ENTRIES(context), .prompt = true, .finish = finish_context},
};

static const struct fixture_question *find(const struct btz_mcp_server_event *event)
{
    for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
        if (questions[i].prompt == (event->kind == BTZ_MCP_SERVER_PROMPT) &&
            btz_str_is(event->name, questions[i].name)) {
            return &questions[i];
        }
    }
    return NULL;
}

/* Params of an entry; the call's own argument is the message to the user, or to the model. */
static const struct btz_json *params_of(struct fixture *f, const struct fixture_question *q,
                                        const struct entry *entry, struct btz_str argument)
{
    struct btz_json *params = btz_json_shallow(f->work, fixture_parse(f->work, entry->params));

    if (q->argument && strcmp(q->argument, "message") == 0) {
        btz_json_set_str(f->work, params, "message", argument);
    } else if (q->argument) {
        struct btz_json *messages = btz_json_new_array(f->work);
        struct btz_json *message = btz_json_new_object(f->work);
        struct btz_json *block = btz_json_new_object(f->work);

        btz_json_set_strz(f->work, block, "type", "text");
        btz_json_set_str(f->work, block, "text", argument);
        btz_json_set_strz(f->work, message, "role", "user");
        btz_json_setz(f->work, message, "content", block);
        btz_json_push(f->work, messages, message);
        btz_json_setz(f->work, params, "messages", messages);
    }
    return params;
}

static const struct btz_json *result_of(struct fixture *f, const struct fixture_question *q,
                                        struct btz_str text)
{
    struct btz_json *result = btz_json_new_object(f->work);
    struct btz_json *messages = btz_json_new_array(f->work);
    struct btz_json *message = btz_json_new_object(f->work);
    struct btz_json *block = btz_json_new_object(f->work);

    if (!q->prompt) {
        return fixture_text(f->work, text, false);
    }
    btz_json_set_strz(f->work, block, "type", "text");
    btz_json_set_str(f->work, block, "text", text);
    btz_json_set_strz(f->work, message, "role", "user");
    btz_json_setz(f->work, message, "content", block);
    btz_json_push(f->work, messages, message);
    btz_json_setz(f->work, result, "messages", messages);
    return result;
}

static void reply_unanswered(struct fixture *f, uint64_t handle, uint64_t token,
                             const struct fixture_question *q)
{
    struct btz_str text = BTZ_STR("The question was not answered.");

    if (q->prompt) {
        fixture_refuse(f, handle, token, text, NULL);
    } else {
        fixture_reply(f, handle, token, fixture_text(f->work, text, true));
    }
}

/* ---- modern ---- */

static struct btz_mcp_state_binding binding_of(const struct fixture_question *q,
                                               const struct btz_mcp_server_event *event)
{
    return (struct btz_mcp_state_binding){
        .method = q->prompt ? BTZ_STR("prompts/get") : BTZ_STR("tools/call"),
        .name = event->name,
        .arguments = event->arguments,
    };
}

/* The tool that asks what it can is content with one answer, so it leaves out what the client did
 * not declare; the others leave it to the machine to say that they cannot go on. */
static bool leaves_out(const struct fixture_question *q, const struct entry *entry,
                       const struct btz_mcp_server_event *event)
{
    const char *capability = strcmp(entry->method, SAMPLE) == 0 ? "sampling" : "elicitation";

    return strcmp(q->name, CAPABILITIES) == 0 &&
           !btz_json_getz(event->client_capabilities, capability);
}

static void ask_modern(struct fixture *f, uint64_t handle, const struct btz_mcp_server_event *event,
                       const struct fixture_question *q, struct btz_str payload,
                       struct btz_str argument)
{
    struct btz_mcp_server *server = btz_mcp_endpoint_server(f->endpoint, handle);
    struct btz_json *requests = btz_json_new_object(f->work);
    struct btz_mcp_state_binding binding = binding_of(q, event);
    struct btz_str state = BTZ_STR_NONE;
    struct btz_err err;
    int rc;

    for (size_t i = 0; i < q->count; i++) {
        struct btz_json *request = btz_json_new_object(f->work);

        if (!leaves_out(q, &q->entries[i], event)) {
            btz_json_set_strz(f->work, request, "method", q->entries[i].method);
            btz_json_setz(f->work, request, "params", params_of(f, q, &q->entries[i], argument));
            btz_json_setz(f->work, requests, q->entries[i].key, request);
        }
    }
    if (!btz_json_count(requests)) {
        fixture_reply(f, handle, event->token,
                      fixture_text(f->work, BTZ_STR("This client can be asked nothing."), true));
        return;
    }
    if (q->sealed &&
        btz_mcp_state_seal(f->work, (struct btz_str){f->key, sizeof(f->key)}, &binding, payload,
                           btz_clock_wall_us() / 1000000, STATE_SECONDS, &state)) {
        btz_panic("fixture: a state could not be sealed");
    }
    rc = btz_mcp_server_reply_input(server, event->token, requests, state, &err);
    if (rc == BTZ_EINVAL || rc == BTZ_ESTATE) {
        btz_panic("fixture: a question was refused: %s", err.msg);
    }
}

/* The payload says which round a state is of: '1' or '2', then what the rounds before gave. */
static void call_modern(struct fixture *f, uint64_t handle,
                        const struct btz_mcp_server_event *event, const struct fixture_question *q,
                        struct btz_str argument)
{
    struct btz_mcp_state_binding binding = binding_of(q, event);
    struct btz_str payload = BTZ_STR("1");
    struct btz_str text = BTZ_STR_NONE;

    if (q->sealed && event->request_state.ptr &&
        (btz_mcp_state_open(f->work, (struct btz_str){f->key, sizeof(f->key)}, &binding,
                            event->request_state, btz_clock_wall_us() / 1000000, &payload) ||
         !payload.len)) {
        fixture_refuse(f, handle, event->token,
                       BTZ_STR("requestState was not made for this request, or is too old"), NULL);
        return;
    }
    if (payload.ptr[0] == '2' && q->after) {
        q = q->after;
    }
    if (event->inputs && (!q->sealed || event->request_state.ptr)) {
        text = q->finish(f->work, event->inputs, btz_str_sub(payload, 1, payload.len));
    }
    if (!text.ptr && declined(q, event->inputs)) {
        reply_unanswered(f, handle, event->token, q);
    } else if (!text.ptr) {
        ask_modern(f, handle, event, q, payload, argument);
    } else if (q->after) {
        ask_modern(f, handle, event, q->after, btz_arena_printf(f->work, "2%.*s", BTZ_FMT(text)),
                   argument);
    } else {
        fixture_reply(f, handle, event->token, result_of(f, q, text));
    }
}

/* ---- legacy ---- */

/* One request of the server at a time; a question of several is for modern clients only. */
static void call_legacy(struct fixture *f, uint64_t handle,
                        const struct btz_mcp_server_event *event, const struct fixture_question *q,
                        struct btz_str argument)
{
    struct btz_mcp_server *server = btz_mcp_endpoint_server(f->endpoint, handle);
    struct fixture_job *job;
    struct btz_err err;
    uint64_t ask;

    if (q->count > 1 || q->after) {
        fixture_reply(f, handle, event->token,
                      fixture_text(f->work, BTZ_STR("This tool needs revision 2026-07-28."), true));
        return;
    }
    job = fixture_job_new(f, handle, event->token, FIXTURE_ASKING);
    if (!job) {
        return;
    }
    job->question = q;
    if (btz_mcp_server_ask(server, event->token, btz_str_of(q->entries[0].method),
                           params_of(f, q, &q->entries[0], argument), &ask, &err)) {
        job->id = 0;
        if (q->prompt) {
            fixture_refuse(f, handle, event->token, btz_str_of(err.msg), NULL);
        } else {
            fixture_reply(f, handle, event->token,
                          fixture_text(f->work, btz_str_of(err.msg), true));
        }
    }
}

void fixture_answer(struct fixture *f, uint64_t handle, const struct btz_mcp_server_event *event)
{
    struct fixture_job *job = NULL;
    struct btz_json *answers = btz_json_new_object(f->work);
    struct btz_str text = BTZ_STR_NONE;

    for (size_t i = 0; i < FIXTURE_JOBS && !job; i++) {
        struct fixture_job *each = &f->jobs[i];

        job = each->id && each->handle == handle && each->token == event->token ? each : NULL;
    }
    if (!job || job->work != FIXTURE_ASKING) {
        return;
    }
    if (event->result) {
        btz_json_setz(f->work, answers, job->question->entries[0].key, event->result);
        text = job->question->finish(f->work, answers, BTZ_STR_NONE);
    }
    if (text.ptr) {
        fixture_reply(f, handle, event->token, result_of(f, job->question, text));
    } else {
        reply_unanswered(f, handle, event->token, job->question);
    }
    job->id = 0;
}

bool fixture_ask(struct fixture *f, uint64_t handle, const struct btz_mcp_server_event *event)
{
    const struct fixture_question *q = find(event);
    struct btz_str argument = BTZ_STR_NONE;

    if (!q) {
        return false;
    }
    if (q->argument) {
        argument = btz_json_str(btz_json_getz(event->arguments, q->argument));
        if (!argument.ptr) {
            fixture_reply(
                f, handle, event->token,
                fixture_text(f->work, btz_arena_printf(f->work, "%s must be a string", q->argument),
                             true));
            return true;
        }
    }
    if (btz_mcp_era_of(event->revision) == BTZ_MCP_MODERN) {
        if (btz_str_is(event->name, "test_streaming_elicitation")) {
            int rc = btz_mcp_server_progress(btz_mcp_endpoint_server(f->endpoint, handle),
                                             event->token, 1, 2, BTZ_STR("about to ask"));

            (void)rc; /* the client gave no token */
        }
        call_modern(f, handle, event, q, argument);
    } else {
        call_legacy(f, handle, event, q, argument);
    }
    return true;
}
