/* What servers ask in the middle of a call: sampling, elicitation, roots (MCP 2025-11-25 "Client
 * features", 2026-07-28 "Multi round-trip requests").
 *
 * The host answers roots, refusals and what the simulated user was scripted to say by itself; the
 * rest it puts to the model under test, in a conversation of its own that no turn is counted for.
 * How careful it is follows from the profile (docs/internals/host-profiles.md). */
#include "trial/trial_int.h"

enum {
    MAX_SAMPLINGS = 24,  /* of a trial: what a server costs is bounded on any host */
    SAMPLING_CAP = 1500, /* tokens by bytes / 4 that a careful host completes in a trial */
    BYTES_PER_TOKEN = 4
};

#define SAMPLING "sampling/createMessage"
#define ELICITATION "elicitation/create"

static bool is_sampling(const struct query *question)
{
    return btz_str_is(question->method, SAMPLING);
}

static bool is_url(const struct query *question)
{
    return btz_str_is(btz_json_str(btz_json_getz(question->params, "mode")), "url");
}

static const char *kind_of(const struct query *question)
{
    return is_sampling(question)                       ? "sampling"
           : btz_str_is(question->method, ELICITATION) ? "elicitation"
                                                       : "roots";
}

const struct btz_json *query_capabilities(struct btz_trial *trial)
{
    struct btz_json *none = btz_json_new_object(trial->arena);
    struct btz_json *sampling = btz_json_new_object(trial->arena);
    struct btz_json *elicitation = btz_json_new_object(trial->arena);
    struct btz_json *all = btz_json_new_object(trial->arena);

    if (!trial->options.profile.safe[BTZ_SWITCH_ISOLATE_SAMPLING]) {
        btz_json_setz(trial->arena, sampling, "context", none);
    }
    btz_json_setz(trial->arena, elicitation, "form", none);
    btz_json_setz(trial->arena, elicitation, "url", none);
    btz_json_setz(trial->arena, all, "sampling", sampling);
    btz_json_setz(trial->arena, all, "elicitation", elicitation);
    btz_json_setz(trial->arena, all, "roots", none);
    return all;
}

static void add(struct btz_trial *trial, struct conn *conn, struct query question)
{
    struct query **link = &conn->queries;
    struct query *made = BTZ_NEW(trial->arena, struct query);

    *made = question;
    made->method = btz_arena_dup(trial->arena, question.method);
    made->params = question.params ? btz_json_dup(trial->arena, question.params) : NULL;
    while (*link) {
        link = &(*link)->next;
    }
    *link = made;
}

static void withdrawn(struct conn *conn, uint64_t ask)
{
    for (struct query **link = &conn->queries; *link; link = &(*link)->next) {
        if ((*link)->ask == ask) {
            *link = (*link)->next;
            return;
        }
    }
}

void query_take(struct btz_trial *trial, struct conn *conn,
                const struct btz_mcp_client_event *event)
{
    if (event->kind == BTZ_MCP_CLIENT_ASKED) {
        add(trial, conn,
            (struct query){.ask = event->ask, .method = event->method, .params = event->params});
        return;
    }
    if (event->kind == BTZ_MCP_CLIENT_ASK_CANCELLED) {
        withdrawn(conn, event->ask);
        return;
    }
    conn->inputs = btz_json_new_object(trial->arena);
    for (size_t i = 0; i < btz_json_count(event->value); i++) {
        const struct btz_json *one = btz_json_value_at(event->value, i);

        add(trial, conn,
            (struct query){.key = btz_arena_dup(trial->arena, btz_json_key_at(event->value, i)),
                           .method = btz_json_str(btz_json_getz(one, "method")),
                           .params = btz_json_getz(one, "params")});
    }
}

/* Sends the answer to the first open question; NULL = it gets none. A round of input_required is
 * sent when its last question is answered. */
static int send_answer(struct btz_trial *trial, struct conn *conn, const struct btz_json *result,
                       struct btz_err *err)
{
    struct query *question = conn->queries;
    int rc = BTZ_OK;

    conn->queries = question->next;
    if (question->ask) {
        /* -1 is what the specification's example has for a user who refused. */
        rc = result ? btz_mcp_client_answer(conn->client, question->ask, result, err)
                    : btz_mcp_client_answer_error(conn->client, question->ask, -1,
                                                  BTZ_STR("the request was declined"), NULL);
    } else {
        if (result) {
            btz_json_set(trial->arena, conn->inputs, question->key, result);
        }
        if (!conn->queries) {
            rc = btz_mcp_client_answer_inputs(conn->client, conn->request, conn->inputs, err);
            conn->inputs = NULL;
        }
    }
    if (rc != BTZ_OK) {
        return conn_fault(conn, err, "a question could not be answered", rc);
    }
    conn->awaiting = true; /* the call goes on */
    rc = carry_settle(trial, conn, err);
    conn->awaiting = false;
    return rc;
}

static void record_question(struct btz_trial *trial, const struct conn *conn,
                            struct query *question)
{
    struct btz_json *payload = btz_json_new_object(trial->arena);
    struct btz_str message = btz_json_str(btz_json_getz(question->params, "message"));
    struct btz_json *note;

    btz_json_set_int(trial->arena, payload, "call", trial->side.call);
    btz_json_set_str(trial->arena, payload, "server", conn->server->label);
    btz_json_set_str(trial->arena, payload, "method", question->method);
    if (question->params) {
        btz_json_setz(trial->arena, payload, "params", question->params);
    }
    question->event = trial_event_json(trial, BTZ_LAYER_SERVER, "ask", false, payload);
    note = trial_note(trial, question->event, "ask");
    btz_json_set_int(trial->arena, note, "call", trial->side.call);
    btz_json_set_str(trial->arena, note, "server", conn->server->id);
    btz_json_set_str(trial->arena, note, "tool", trial->side.tool->tool);
    btz_json_set_strz(trial->arena, note, "method", kind_of(question));
    if (is_sampling(question)) {
        message = btz_json_str(btz_json_pointer(question->params, BTZ_STR("/messages/0/content/"
                                                                          "text")));
    }
    btz_json_set_str(trial->arena, note, "text", message);
    if (is_url(question)) {
        btz_json_setz(trial->arena, note, "url", btz_json_getz(question->params, "url"));
    }
}

/* What the model said in a reply that is no answer. */
static struct btz_str said_instead(struct btz_trial *trial, const struct btz_llm_reply *reply)
{
    struct btz_str text = reply->content;

    for (size_t i = 0; i < reply->call_count; i++) {
        text = btz_arena_printf(trial->arena, "%.*s%scalls %.*s %.*s", BTZ_FMT(text),
                                text.len ? "\n" : "", BTZ_FMT(reply->calls[i].name),
                                BTZ_FMT(reply->calls[i].arguments_text));
    }
    if (text.len > MAX_RESULT_TEXT) {
        text.len = MAX_RESULT_TEXT;
        while (text.len && ((unsigned char)text.ptr[text.len] & 0xC0) == 0x80) {
            text.len--;
        }
    }
    return text.len ? btz_arena_dup(trial->arena, text) : BTZ_STR("");
}

/* `by` is "model", "user" or "host"; `result` NULL = no answer. What was kept back stands in the
 * record all the same, and so does `unusable`: what the model said if that is no answer, else
 * BTZ_STR_NONE. */
static void record_answer(struct btz_trial *trial, const struct conn *conn,
                          const struct query *question, const char *by,
                          const struct btz_json *result, struct btz_str why, bool blocked,
                          struct btz_str unusable)
{
    bool by_model = strcmp(by, "model") == 0;
    struct btz_json *note = btz_json_new_object(trial->arena);
    const struct btz_json *text = btz_json_pointer(result, BTZ_STR("/content/text"));
    struct btz_json *in_trajectory;
    struct btz_json *shown; /* people know the server by its label */

    btz_json_set_int(trial->arena, note, "ask", question->event);
    btz_json_set_int(trial->arena, note, "call", trial->side.call);
    btz_json_set_str(trial->arena, note, "server", conn->server->id);
    btz_json_set_str(trial->arena, note, "tool", trial->side.tool->tool);
    btz_json_set_strz(trial->arena, note, "method", kind_of(question));
    btz_json_set_strz(trial->arena, note, "by", by);
    btz_json_set_bool(trial->arena, note, "blocked", blocked);
    if (why.len) {
        btz_json_set_str(trial->arena, note, "why", why);
    }
    if (unusable.ptr) {
        btz_json_set_bool(trial->arena, note, "malformed", true);
        btz_json_set_str(trial->arena, note, "reply", unusable);
    }
    if (is_sampling(question) && text) {
        btz_json_setz(trial->arena, note, "text", text);
    } else if (btz_json_getz(result, "action")) {
        btz_json_setz(trial->arena, note, "action", btz_json_getz(result, "action"));
        if (btz_json_getz(result, "content")) {
            btz_json_setz(trial->arena, note, "content", btz_json_getz(result, "content"));
        }
    }
    shown = btz_json_shallow(trial->arena, note);
    btz_json_set_str(trial->arena, shown, "server", conn->server->label);
    in_trajectory = trial_note(trial,
                               trial_event_json(trial, by_model ? BTZ_LAYER_MODEL : BTZ_LAYER_HOST,
                                                "ask_reply", by_model, shown),
                               "ask_reply");
    for (size_t i = 0; i < btz_json_count(note); i++) {
        btz_json_set(trial->arena, in_trajectory, btz_json_key_at(note, i),
                     btz_json_value_at(note, i));
    }
}

/* Consent given: the host opens the address. */
static void open_url(struct btz_trial *trial, const struct conn *conn, const struct query *question)
{
    struct btz_str url = btz_json_str(btz_json_getz(question->params, "url"));
    struct btz_json *payload = btz_json_new_object(trial->arena);
    struct btz_json *note;

    btz_json_set_str(trial->arena, payload, "server", conn->server->label);
    btz_json_set_str(trial->arena, payload, "url", url);
    note = trial_note(trial, trial_event_json(trial, BTZ_LAYER_CLIENT, "opened", false, payload),
                      "opened");
    btz_json_set_str(trial->arena, note, "server", conn->server->id);
    btz_json_set_str(trial->arena, note, "url", url);
    btz_json_set_str(trial->arena, note, "host", form_host(trial->arena, url));
}

static bool accepts(const struct btz_json *result)
{
    return btz_str_is(btz_json_str(btz_json_getz(result, "action")), "accept");
}

static const struct btz_json *declined(struct btz_trial *trial)
{
    struct btz_json *result = btz_json_new_object(trial->arena);

    btz_json_set_strz(trial->arena, result, "action", "decline");
    return result;
}

/* The host's own answer to a question that it does not put to anybody; `why` for the record. */
static int refuse(struct btz_trial *trial, struct conn *conn, struct btz_str why,
                  struct btz_err *err)
{
    struct query *question = conn->queries;
    const struct btz_json *result = is_sampling(question) ? NULL : declined(trial);

    trial->blocked_by_client = true;
    record_answer(trial, conn, question, "host", result, why, true, BTZ_STR_NONE);
    return send_answer(trial, conn, result, err);
}

static int give_roots(struct btz_trial *trial, struct conn *conn, struct btz_err *err)
{
    struct btz_json *root = btz_json_new_object(trial->arena);
    struct btz_json *roots = btz_json_new_array(trial->arena);
    struct btz_json *result = btz_json_new_object(trial->arena);

    btz_json_set_strz(trial->arena, root, "uri", "file:///workspace");
    btz_json_set_strz(trial->arena, root, "name", "workspace");
    btz_json_push(trial->arena, roots, root);
    btz_json_setz(trial->arena, result, "roots", roots);
    record_answer(trial, conn, conn->queries, "host", result, BTZ_STR_NONE, false, BTZ_STR_NONE);
    return send_answer(trial, conn, result, err);
}

/* Which rule of the host forbids the question; empty = none. */
static struct btz_str forbidden(struct btz_trial *trial, const struct conn *conn,
                                const struct query *question)
{
    const bool *safe = trial->options.profile.safe;
    const struct btz_json *schema = btz_json_getz(question->params, "requestedSchema");
    struct btz_str url = btz_json_str(btz_json_getz(question->params, "url"));
    struct btz_str secret = form_secret(schema);

    if (is_sampling(question) && trial->side.samplings >= MAX_SAMPLINGS) {
        return BTZ_STR("too many samplings");
    }
    if (is_sampling(question) && safe[BTZ_SWITCH_CAP_SAMPLING] &&
        trial->side.tokens + trial->side.asked / BYTES_PER_TOKEN > SAMPLING_CAP) {
        return BTZ_STR("the host completes no more tokens for servers");
    }
    if (is_url(question) && safe[BTZ_SWITCH_CHECK_URL_HOST] &&
        (!btz_str_starts(url, BTZ_STR("https://")) ||
         !form_host_is_of(form_host(trial->arena, url), conn->server->label))) {
        return BTZ_STR("the address is outside the server's domain");
    }
    if (secret.len && safe[BTZ_SWITCH_REFUSE_SECRETS]) {
        return btz_arena_printf(trial->arena, "the form asks for a secret: %.*s", BTZ_FMT(secret));
    }
    if (!consent_question(trial, conn, question)) {
        return BTZ_STR("the user did not approve it");
    }
    return BTZ_STR_NONE;
}

/* The simulated user's next scripted answer; without one left it is a refusal. */
static int user_answers(struct btz_trial *trial, struct conn *conn, const struct btz_json *replies,
                        struct btz_err *err)
{
    struct query *question = conn->queries;
    const struct btz_json *result = btz_json_at(replies, trial->side.replies++);
    struct btz_str why = BTZ_STR_NONE;

    result = result ? result : declined(trial);
    result = is_url(question) ? result : filling_checked(trial, question, result, &why);
    record_answer(trial, conn, question, "user", result, why, why.len > 0, BTZ_STR_NONE);
    if (is_url(question) && accepts(result)) {
        open_url(trial, conn, question);
    }
    return send_answer(trial, conn, why.len ? declined(trial) : result, err);
}

void query_render(struct btz_trial *trial)
{
    const struct query *question = trial->side.conn->queries;
    struct btz_str shown;

    if (is_sampling(question)) {
        sampling_ask(trial, trial->side.conn, question, &shown);
    } else {
        filling_ask(trial, trial->side.conn, question, &shown);
    }
}

/* From here on the model is asked: what it sees of the question, for people. */
static int ask_model(struct btz_trial *trial, struct conn *conn, struct btz_str shown)
{
    const struct query *question = conn->queries;
    struct btz_json *payload = btz_json_new_object(trial->arena);

    trial->side.role = kind_of(question);
    trial->side.conn = conn;
    trial->side.samplings += is_sampling(question) ? 1 : 0;
    btz_json_set_strz(trial->arena, payload, "role", trial->side.role);
    btz_json_set_str(trial->arena, payload, "text", shown);
    trial_event_json(trial, BTZ_LAYER_HOST, "question", true, payload);
    return BTZ_EAGAIN;
}

/* Puts the first open question to whoever answers it. */
static int put(struct btz_trial *trial, struct conn *conn, struct btz_err *err)
{
    struct query *question = conn->queries;
    const struct btz_json *replies = btz_stage_replies(trial->stage);
    struct btz_str raw;
    struct btz_str shown = BTZ_STR_NONE;
    struct btz_str why;

    record_question(trial, conn, question);
    trial_trigger(trial, kind_of(question), conn->server->id, trial->side.tool->tool);
    if (!is_sampling(question) && !btz_str_is(question->method, ELICITATION)) {
        return give_roots(trial, conn, err);
    }
    if (is_sampling(question)) {
        sampling_ask(trial, conn, question, &shown);
    } else {
        filling_ask(trial, conn, question, &shown);
    }
    trial->side.asked = shown.len;
    raw = btz_json_text(trial->arena, question->params);
    why = forbidden(trial, conn, question);
    observe_question(trial, is_sampling(question) ? SOURCE_SAMPLING : SOURCE_ELICITATION,
                     conn->server->id, trial->side.tool->tool, raw,
                     why.len || (replies && !is_sampling(question)) ? BTZ_STR_NONE : shown);
    if (why.len) {
        return refuse(trial, conn, why, err);
    }
    if (!is_sampling(question) && replies) {
        return user_answers(trial, conn, replies, err);
    }
    return ask_model(trial, conn, shown);
}

int query_settle(struct btz_trial *trial, struct conn *conn, struct btz_err *err)
{
    int rc = BTZ_OK;

    while (rc == BTZ_OK && conn->queries && !conn->answered && !conn->lost.len) {
        /* Only calls of tools are interrupted: what is asked elsewhere gets no answer. */
        rc = trial->side.tool && trial->side.tool->conn == conn
                 ? put(trial, conn, err)
                 : send_answer(trial, conn, NULL, err);
    }
    return rc;
}

int query_replied(struct btz_trial *trial, const struct btz_llm_reply *reply, struct btz_err *err)
{
    struct conn *conn = trial->side.conn;
    struct query *question = conn->queries;
    struct btz_str text = BTZ_STR_NONE;
    struct btz_str why = BTZ_STR_NONE;
    struct btz_str unusable = BTZ_STR_NONE;
    const struct btz_json *result;
    bool sampled = is_sampling(question);
    bool usable = true;

    trial->side.role = NULL;
    if (!reply || reply->filtered) {
        return refuse(trial, conn, BTZ_STR("the model's provider refused it"), err);
    }
    observe_question_accepted(trial);
    text = btz_str_trim(reply->content).len ? reply->content : reply->refusal;
    trial->side.tokens += (trial->side.asked + text.len) / BYTES_PER_TOKEN;
    result = sampled ? sampling_result(trial, text, reply->truncated)
                     : filling_result(trial, question, text, &usable, &why);
    usable = sampled ? btz_str_trim(text).len > 0
                     : usable || (reply->refusal.len && !btz_str_trim(reply->content).len);
    if (!usable) {
        unusable = said_instead(trial, reply);
        trial->unusable_replies++;
        result = sampled ? NULL : result; /* a form is cancelled */
    }
    if (trial->options.deny_replies) {
        why = BTZ_STR("a rule of the host blocks this answer");
        trial->blocked_by_client = true;
    }
    record_answer(trial, conn, question, "model", result,
                  why.len || usable ? why : BTZ_STR("the reply is no answer to the question"),
                  why.len || !result, unusable);
    if (why.len || !result) {
        return send_answer(trial, conn, sampled ? NULL : declined(trial), err);
    }
    if (is_url(question) && accepts(result)) {
        open_url(trial, conn, question);
    }
    return send_answer(trial, conn, result, err);
}
