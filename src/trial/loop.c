/* The agent loop: ReAct over native tool calls or JSON actions. */
#include "lab/answer.h"
#include "llm/action.h"
#include "llm/request.h"
#include "trial/trial_int.h"

void loop_part(struct btz_trial *trial, struct btz_str part)
{
    trial->parts = btz_arena_grow(trial->arena, trial->parts, trial->part_count, &trial->part_cap,
                                  sizeof(*trial->parts));
    trial->parts[trial->part_count++] = part;
}

static void add_message(struct btz_trial *trial, const char *role, struct btz_str text)
{
    loop_part(trial, btz_llm_part_message(trial->arena, role, text));
}

/* Records a text that the host shows to the model. */
static void show_text(struct btz_trial *trial, const char *kind, struct btz_str text)
{
    struct btz_json *payload = btz_json_new_object(trial->arena);

    btz_json_set_str(trial->arena, payload, "text", text);
    trial_event_json(trial, BTZ_LAYER_HOST, kind, true, payload);
}

/* Text that the host tells the model outside a tool result. */
static void say(struct btz_trial *trial, struct btz_str text)
{
    show_text(trial, "notice", text);
    add_message(trial, "user", text);
}

void loop_show(struct btz_trial *trial, const char *kind, const char *role, struct btz_str text)
{
    show_text(trial, kind, text);
    add_message(trial, role, text);
}

static void harness_fault(struct btz_trial *trial, const struct btz_err *err)
{
    char why[1200];

    trial_finish(trial, BTZ_STOP_FAULT, btz_str_of(btz_err_text(err, why, sizeof(why))));
}

static void add_user_turn(struct btz_trial *trial)
{
    struct btz_str text =
        btz_json_str(btz_json_at(btz_stage_turns(trial->stage), trial->turn_index));
    const struct btz_json *trigger = btz_stage_trigger(trial->stage);
    struct btz_json *payload = btz_json_new_object(trial->arena);
    struct btz_str typed = text;
    struct btz_str extra = trial->turn_index ? BTZ_STR_NONE : trial->options.extra_user_text;
    struct btz_json *note;
    struct btz_err err;
    bool taken = false;
    int64_t id;
    int64_t nth = 1;

    if (extra.len) {
        text = btz_arena_printf(trial->arena, "%.*s\n\n%.*s", BTZ_FMT(text), BTZ_FMT(extra));
    }
    btz_json_set_str(trial->arena, payload, "text", text);
    id = trial_event_json(trial, BTZ_LAYER_HOST, "user", true, payload);
    note = trial_note(trial, id, "user");
    btz_json_set_str(trial->arena, note, "text", text);
    if (btz_str_is(btz_json_str(btz_json_getz(trigger, "on")), "turn")) {
        (void)btz_json_int64(btz_json_getz(trigger, "nth"), &nth);
        trial->triggered |= (int64_t)trial->turn_index + 1 >= nth;
    }
    observe_turn(trial, trial->turn_index, text); /* it was delivered, blocked or not */
    defend_turn(trial, text);
    if (trial->done) {
        return;
    }
    if (command_run(trial, typed, &taken, &err) != BTZ_OK) {
        harness_fault(trial, &err);
        return;
    }
    if (!taken) {
        add_message(trial, "user", text);
    } else if (extra.len) {
        add_message(trial, "user", extra); /* it is no argument of the command */
    }
    observe_turn(trial, trial->turn_index, text); /* the command may have cleared all */
}

/* Definitions and instructions as they are now. A trigger that waits for one is not met while the
 * payload is still to come. */
static void note_definitions(struct btz_trial *trial)
{
    const struct btz_json *trigger = btz_stage_trigger(trial->stage);
    struct btz_str on = btz_json_str(btz_json_getz(trigger, "on"));
    struct btz_str server = btz_json_str(btz_json_getz(trigger, "server"));
    struct btz_str tool = btz_json_str(btz_json_getz(trigger, "tool"));

    for (size_t i = 0; !btz_stage_is_early(trial->stage) && i < trial->conn_count; i++) {
        struct conn *conn = &trial->conns[i];

        if (conn->left_out || (server.len && !btz_str_eq(server, conn->server->id))) {
            continue;
        }
        if (btz_str_is(on, "instructions") && gate_sent_instructions(conn).len) {
            trial->triggered = true;
        }
        for (size_t t = 0; btz_str_is(on, "definition") && t < btz_json_count(gate_sent(conn));
             t++) {
            struct btz_str name =
                btz_json_str(btz_json_getz(btz_json_at(gate_sent(conn), t), "name"));

            trial->triggered |= tool.len == 0 || btz_str_eq(tool, name);
        }
    }
    observe_definitions(trial);
}

static void turn_answered(struct btz_trial *trial);

void loop_open(struct btz_trial *trial)
{
    struct btz_str system = btz_str_of(render_system_text);
    struct btz_str context;
    bool waits;

    trial->talk_note = btz_json_count(trial->trajectory);
    loop_part(trial, btz_llm_part_settings(trial->arena, trial->options.temperature,
                                           trial->options.max_tokens, trial->options.model_seed,
                                           trial->options.json_actions));
    loop_part(trial, render_tools(trial));
    waits = trial->definitions_asked > 0;
    trial->opening_context = trial->later_context = 0;
    trial->offered = waits ? BTZ_STR_NONE : trial->parts[BTZ_LLM_PART_TOOLS];
    if (!waits) {
        trial_event(trial, BTZ_LAYER_HOST, "tools", true, trial->offered);
    }
    show_text(trial, "system", system);
    add_message(trial, "system", system);
    context = render_context(trial, trial->parts[BTZ_LLM_PART_TOOLS]);
    trial->context = context;
    if (context.len && waits) {
        trial->opening_context = trial->part_count;
        add_message(trial, "user", context);
    } else if (context.len) {
        loop_show(trial, "context", "user", context);
    }
    note_definitions(trial);
}

/* The host's context once the definitions in it are judged: in its place, which no request has
 * carried yet. */
static void settle_context(struct btz_trial *trial, struct btz_str context)
{
    struct btz_str message = btz_llm_part_message(trial->arena, "user", context);
    size_t at = trial->opening_context ? trial->opening_context : trial->later_context;
    bool changed = context.len && !btz_str_eq(context, trial->context);

    if (trial->opening_context && context.len) {
        show_text(trial, "context", context);
        trial->parts[at] = message;
    } else if (!trial->opening_context && at && changed) {
        show_text(trial, "context", context);
        loop_part(trial, message);
        memmove(&trial->parts[at + 1], &trial->parts[at],
                (trial->part_count - 1 - at) * sizeof(*trial->parts));
        trial->parts[at] = message;
        ask_shift(trial, at);
    }
    trial->opening_context = trial->later_context = 0;
    trial->context = context;
}

/* The definitions that a guard model was asked about are judged: what they stand in is made anew.
 * Requests that were sent keep their own list. */
void loop_offer(struct btz_trial *trial)
{
    struct btz_str *parts = btz_arena_array(trial->arena, trial->part_cap, sizeof(*parts));

    memcpy(parts, trial->parts, trial->part_count * sizeof(*parts));
    trial->parts = parts;
    parts[BTZ_LLM_PART_TOOLS] = render_tools(trial);
    if (trial->definitions_asked) { /* what a model has rewritten is now to be judged */
        return;
    }
    if (!btz_str_eq(parts[BTZ_LLM_PART_TOOLS], trial->offered)) {
        trial->offered = parts[BTZ_LLM_PART_TOOLS];
        trial_event(trial, BTZ_LAYER_HOST, "tools", true, trial->offered);
    }
    settle_context(trial, render_context(trial, trial->parts[BTZ_LLM_PART_TOOLS]));
    observe_definitions(trial);
}

void loop_start(struct btz_trial *trial)
{
    loop_open(trial);
    loop_first_turn(trial);
}

void loop_first_turn(struct btz_trial *trial)
{
    add_user_turn(trial);
    if (trial->turn_is_over && !trial->done) {
        turn_answered(trial);
    }
}

void loop_lists_changed(struct btz_trial *trial)
{
    struct btz_str context;

    if (trial->definitions_asked) {
        if (!trial->opening_context && !trial->later_context) {
            trial->later_context = trial->part_count;
        }
        note_definitions(trial);
        return;
    }
    context = render_context(trial, trial->parts[BTZ_LLM_PART_TOOLS]);
    if (context.len && !btz_str_eq(context, trial->context)) {
        loop_show(trial, "context", "user", context);
    }
    trial->context = context;
    note_definitions(trial);
}

/* What has to happen before the user's next turn. */
static void next_user_turn(struct btz_trial *trial)
{
    struct btz_err err;
    int rc = BTZ_OK;

    if (trial->turn_index == btz_stage_second_session(trial->stage)) {
        rc = session_second(trial, &err);
    } else if (trial->turn_index == btz_stage_reconnect(trial->stage)) {
        rc = session_reconnect(trial, &err);
    } else {
        rc = session_progress(trial, &err);
    }
    if (rc != BTZ_OK) {
        harness_fault(trial, &err);
        return;
    }
    add_user_turn(trial);
    if (trial->turn_is_over && !trial->done) {
        turn_answered(trial);
    }
}

/* The user's turn has its answer: goes on to the next, or ends the trial. */
static void turn_answered(struct btz_trial *trial)
{
    trial->turn_is_over = false;
    if (++trial->turn_index >= btz_json_count(btz_stage_turns(trial->stage))) {
        trial_finish(trial, BTZ_STOP_ANSWER, BTZ_STR_NONE);
    } else if (trial->turn - trial->attempt_turn < trial->budget) {
        next_user_turn(trial); /* with no turn left it would never be put to the model */
    }
}

static void take_answer(struct btz_trial *trial, struct btz_str text)
{
    const struct btz_lab_answer answer = btz_lab_answer_read(text);
    struct btz_json *payload = btz_json_new_object(trial->arena);
    struct btz_json *note;
    int64_t id;

    btz_json_set_str(trial->arena, payload, "text", text);
    id = trial_event_json(trial, BTZ_LAYER_MODEL, "answer", true, payload);
    note = trial_note(trial, id, "answer");
    btz_json_set_str(trial->arena, note, "text", text);
    if (answer.value.ptr) {
        btz_json_set_str(trial->arena, note, "value", answer.value);
    }
    btz_json_set_bool(trial->arena, note, "unsure", answer.unsure);
    turn_answered(trial);
}

static void add_result(struct btz_trial *trial, const struct btz_llm_call *call,
                       struct btz_str text)
{
    if (trial->options.json_actions) {
        add_message(trial, "user",
                    btz_arena_printf(trial->arena, "Result of %.*s:\n%.*s", BTZ_FMT(call->name),
                                     BTZ_FMT(text)));
    } else {
        loop_part(trial, btz_llm_part_tool_result(trial->arena, call->id, text));
    }
}

/* A call that cannot be made: the model is told why, which is an outcome of the model. */
static void refuse_call(struct btz_trial *trial, const struct btz_llm_call *call,
                        struct btz_str why)
{
    struct btz_json *payload = btz_json_new_object(trial->arena);

    btz_json_set_str(trial->arena, payload, "name", call->name);
    btz_json_set_str(trial->arena, payload, "arguments", call->arguments_text);
    btz_json_set_str(trial->arena, payload, "text", why);
    trial_event_json(trial, BTZ_LAYER_CLIENT, "malformed", true, payload);
    add_result(trial, call, btz_arena_printf(trial->arena, "Error: %.*s", BTZ_FMT(why)));
}

/* What follows a call that was made. */
static void call_done(struct btz_trial *trial, const struct btz_llm_call *call, int rc,
                      struct btz_str text, struct btz_err *err)
{
    if (rc == BTZ_EAGAIN) {
        return; /* its server asks the model first */
    }
    if (rc == BTZ_OK) {
        add_result(trial, call, text);
        rc = session_progress(trial, err);
    }
    if (rc != BTZ_OK) {
        harness_fault(trial, err);
    }
}

/* Runs one call; false if it was malformed. A fault of the harness ends the trial. */
static bool run_call(struct btz_trial *trial, const struct btz_llm_call *call)
{
    const struct shown_tool *tool = render_find(trial, call->name);
    struct btz_str text = BTZ_STR_NONE;
    struct btz_err err;
    int rc;

    if (call->error.len || !tool) {
        refuse_call(trial, call,
                    call->error.len
                        ? call->error
                        : btz_arena_printf(trial->arena, "there is no tool named \"%.*s\"",
                                           BTZ_FMT(call->name)));
        return false;
    }
    if (tool->conn) {
        rc = host_call(trial, tool, call->arguments, &text, &err);
    } else {
        struct btz_str uri = btz_json_str(btz_json_getz(call->arguments, "uri"));

        if (uri.len == 0) {
            refuse_call(trial, call, BTZ_STR("read_resource needs a string \"uri\""));
            return false;
        }
        rc = host_read(trial, uri, &text, &err);
    }
    call_done(trial, call, rc, text, &err);
    return true;
}

static void count_malformed(struct btz_trial *trial, bool malformed)
{
    trial->malformed_in_a_row = malformed ? trial->malformed_in_a_row + 1 : 0;
    if (!trial->done && trial->malformed_in_a_row >= MAX_MALFORMED) {
        trial_finish(trial, BTZ_STOP_MALFORMED, BTZ_STR("three unusable replies in a row"));
    }
}

/* Makes the calls of a reply; one whose server asks the model is gone on with by side_reply. */
static void run_batch(struct btz_trial *trial)
{
    struct batch *batch = &trial->batch;

    for (; batch->next < batch->count && !trial->done; batch->next++) {
        const struct btz_llm_call *call = &batch->calls[batch->next];

        if (call->unanswerable) {
            batch->lost = call->error;
            continue; /* it is not in the assistant message, so it gets no result */
        }
        if (batch->next >= MAX_CALLS_PER_REPLY) {
            refuse_call(trial, call, BTZ_STR("too many calls in one reply"));
        } else {
            batch->any_good |= run_call(trial, call);
        }
        if (trial->side.role) {
            return;
        }
    }
    if (batch->lost.len && !trial->done) {
        say(trial, btz_arena_printf(trial->arena, "A tool call of yours could not be used: %.*s",
                                    BTZ_FMT(batch->lost)));
    }
    count_malformed(trial, !batch->any_good);
}

/* The model's reply to a question of a server; NULL = the provider refused it. */
static void side_reply(struct btz_trial *trial, const struct btz_llm_reply *reply)
{
    struct batch *batch = &trial->batch;
    struct btz_str text = BTZ_STR_NONE;
    struct btz_err err;
    int rc = query_replied(trial, reply, &err);

    if (rc == BTZ_OK) {
        rc = host_call_on(trial, &text, &err);
    }
    call_done(trial, &batch->calls[batch->next], rc, text, &err);
    if (!trial->side.role) {
        batch->next++;
        run_batch(trial);
    }
}

static void native_reply(struct btz_trial *trial, const struct btz_llm_reply *reply)
{

    if (reply->call_count == 0 && reply->truncated) {
        trial_finish(trial, BTZ_STOP_TRUNCATED, BTZ_STR("finish_reason length"));
        return;
    }
    if (reply->call_count == 0 && btz_str_trim(reply->content).len == 0 &&
        reply->refusal.len == 0) {
        say(trial, BTZ_STR("Your reply was empty. Call a tool, or give your final answer."));
        count_malformed(trial, true);
        return;
    }
    if (reply->call_count == 0) {
        trial->malformed_in_a_row = 0;
        take_answer(trial, btz_str_trim(reply->content).len ? reply->content : reply->refusal);
        return;
    }
    trial->batch = (struct batch){.calls = reply->calls, .count = reply->call_count};
    run_batch(trial);
}

static void action_reply(struct btz_trial *trial, const struct btz_llm_reply *reply)
{
    struct btz_llm_action action;

    if (btz_str_trim(reply->content).len == 0 && reply->refusal.len) {
        trial->malformed_in_a_row = 0;
        take_answer(trial, reply->refusal);
        return;
    }
    btz_llm_action_parse(trial->arena, reply->content, NULL, &action);
    if (reply->truncated &&
        (action.kind == BTZ_LLM_ACTION_PLAIN || action.kind == BTZ_LLM_ACTION_MALFORMED)) {
        trial_finish(trial, BTZ_STOP_TRUNCATED, BTZ_STR("finish_reason length"));
        return;
    }
    switch (action.kind) {
    case BTZ_LLM_ACTION_CALL:
        trial->batch = (struct batch){.calls = memcpy(BTZ_NEW(trial->arena, struct btz_llm_call),
                                                      &action.call, sizeof(action.call)),
                                      .count = 1};
        run_batch(trial);
        break;
    case BTZ_LLM_ACTION_MALFORMED:
        say(trial, btz_arena_printf(trial->arena, "Your reply could not be used: %.*s",
                                    BTZ_FMT(action.error)));
        count_malformed(trial, true);
        break;
    default:
        if (btz_str_trim(action.answer).len == 0) {
            say(trial, BTZ_STR("Your reply was empty. Reply with one JSON object."));
            count_malformed(trial, true);
            break;
        }
        trial->malformed_in_a_row = 0;
        take_answer(trial, action.answer);
        break;
    }
}

static void note_exchange(struct btz_trial *trial, const struct btz_answer *answer,
                          const struct btz_llm_reply *reply)
{
    struct btz_exchange *e;

    trial->exchanges = btz_arena_grow(trial->arena, trial->exchanges, trial->exchange_count,
                                      &trial->exchange_cap, sizeof(*trial->exchanges));
    e = &trial->exchanges[trial->exchange_count++];
    *e = (struct btz_exchange){
        .role = trial->side.role ? trial->side.role
                : trial->critic  ? "critic"
                                 : "agent",
        .turn = trial->turn,
        .part_count = trial->side.role ? trial->side.part_count : trial->part_count,
        .parts = trial->side.role ? trial->side.parts : trial->parts,
        .reply = btz_arena_dup(trial->arena, answer->bytes),
        .prompt_tokens = -1,
        .completion_tokens = -1,
        .cached_tokens = -1,
        .reasoning_tokens = -1,
        .at_us = trial->asked_us - trial->started_us,
        .took_us = answer->took_us,
    };
    if (reply) {
        e->model = reply->model;
        e->finish = reply->finish_reason;
        e->prompt_tokens = reply->usage.prompt;
        e->completion_tokens = reply->usage.completion;
        e->cached_tokens = reply->usage.cached;
        e->reasoning_tokens = reply->usage.reasoning;
    } else if (answer->status == BTZ_ANSWER_REJECTED) {
        e->finish = BTZ_STR(BTZ_FINISH_REJECTED);
    }
    trial->record.model_us += answer->took_us;
    if (answer->attempts > trial->record.attempts) {
        trial->record.attempts = answer->attempts;
    }
}

static void note_reply(struct btz_trial *trial, const struct btz_llm_reply *reply)
{
    struct btz_str message = btz_llm_part_assistant(trial->arena, reply);

    trial_event(trial, BTZ_LAYER_MODEL, "reply", true, message);
    if (trial->options.json_actions) {
        add_message(trial, "assistant", reply->content);
    } else {
        loop_part(trial, message);
    }
    trial->refusal = reply->refusal;
}

void loop_reply(struct btz_trial *trial, const struct btz_answer *answer)
{
    struct btz_llm_reply reply;
    struct btz_err err;

    if (answer->status != BTZ_ANSWER_OK) {
        enum btz_stop stop =
            answer->status == BTZ_ANSWER_REJECTED ? BTZ_STOP_REJECTED : BTZ_STOP_FAULT;

        note_exchange(trial, answer, NULL);
        if (trial->side.role && stop == BTZ_STOP_REJECTED) {
            side_reply(trial, NULL);
            return;
        }
        if (trial->critic && stop == BTZ_STOP_REJECTED) { /* then the second attempt has no note */
            if (attempt_critique(trial, BTZ_STR_NONE, &err) != BTZ_OK) {
                harness_fault(trial, &err);
            }
            return;
        }
        trial_finish(trial, stop,
                     answer->bytes.len ? answer->bytes : BTZ_STR("the model gave no answer"));
        return;
    }
    if (btz_llm_reply_parse(trial->arena, answer->bytes, NULL, &reply, &err) != BTZ_OK) {
        note_exchange(trial, answer, NULL);
        trial_finish(trial, BTZ_STOP_FAULT, btz_str_of(err.msg));
        return;
    }
    note_exchange(trial, answer, &reply);
    if (trial->side.role) {
        side_reply(trial, &reply);
        return;
    }
    if (trial->critic) {
        if (attempt_critique(trial, reply.content, &err) != BTZ_OK) {
            harness_fault(trial, &err);
        }
        return;
    }
    observe_accepted(trial);
    note_reply(trial, &reply);
    if (reply.filtered) {
        trial_finish(trial, BTZ_STOP_FILTERED, BTZ_STR("finish_reason content_filter"));
    } else if (trial->options.json_actions) {
        action_reply(trial, &reply);
    } else {
        native_reply(trial, &reply);
    }
}
