/* A guard model as the judge of a defence. It is asked between the steps of the conversation: what
 * a step brought waits in a queue, one question after the other goes out as a need of endpoint
 * BTZ_TRIAL_GUARD, and the model under test is asked only when all are answered. A verdict "unsafe"
 * then changes what the conversation would have carried; nothing of it was sent before. */
#include "guard/model.h"
#include "llm/request.h"
#include "trial/trial_int.h"

enum {
    SHOWN_MAX = 8 * 1024,     /* bytes of a text that the guard model reads */
    VERDICT_TOKENS_MAX = 512, /* of its reply */
    QUESTIONS_MAX = 512       /* of one trial; more are failures of the scanner */
};

struct question {
    struct question *next;
    enum btz_guard_target target;
    struct btz_str server, name; /* id */
    struct btz_str text;         /* as the model would get it */
    struct btz_str scanned;      /* as the guard model gets it */
    struct btz_str *parts;       /* llm/request.h */
    size_t part_count;
    int64_t asked_us;
    struct judged_tool *tool;    /* of a definition */
    struct rewriting *rewriting; /* it is the rewriting model that is asked, about this */
    /* Of an answer of a tool or resource: where it stands, and what to observe once it is judged.
     */
    size_t part;
    struct btz_json *note;
    size_t event;
    enum source_kind kind;
    struct btz_str raw;
    bool tampered;
};

static struct conn *conn_of(struct btz_trial *trial, struct btz_str server)
{
    for (size_t i = 0; i < trial->conn_count; i++) {
        if (btz_str_eq(trial->conns[i].server->id, server)) {
            return &trial->conns[i];
        }
    }
    return NULL;
}

/* What the guard model may know of the work: definitions are judged before there is any. */
static struct btz_str task_of(const struct btz_trial *trial, enum btz_guard_target target)
{
    return target == BTZ_GUARD_RESULT || target == BTZ_GUARD_RESOURCE
               ? btz_json_str(btz_json_at(btz_stage_turns(trial->stage), trial->turn_index))
               : BTZ_STR_NONE;
}

static void put_last(struct btz_trial *trial, struct question *q)
{
    if (trial->questions) {
        trial->last_question->next = q;
    } else {
        trial->questions = q;
    }
    trial->last_question = q;
}

static struct question *add(struct btz_trial *trial, enum btz_guard_target target,
                            struct btz_str server, struct btz_str name, struct btz_str text)
{
    struct question *q = BTZ_NEW(trial->arena, struct question);
    struct btz_guard_question words;

    btz_guard_question(target, name, task_of(trial, target), text, SHOWN_MAX, trial->arena, &words);
    *q = (struct question){.target = target,
                           .server = btz_arena_dup(trial->arena, server),
                           .name = btz_arena_dup(trial->arena, name),
                           .text = btz_arena_dup(trial->arena, text),
                           .scanned = words.scanned,
                           .part_count = BTZ_LLM_QUESTION_PARTS};
    q->parts = btz_arena_array(trial->arena, q->part_count, sizeof(*q->parts));
    btz_llm_question(trial->arena, 0, VERDICT_TOKENS_MAX, trial->options.model_seed, words.system,
                     words.user, q->parts);
    put_last(trial, q);
    return q;
}

void ask_about_turn(struct btz_trial *trial, struct btz_str text)
{
    (void)add(trial, BTZ_GUARD_TASK, BTZ_STR_NONE, BTZ_STR("user"), text);
}

void ask_about_tool(struct btz_trial *trial, struct judged_tool *tool)
{
    struct question *q = add(trial, BTZ_GUARD_DEFINITION, tool->server, tool->name, tool->text);

    q->tool = tool;
    trial->definitions_asked++;
}

/* The request does not depend on the trial: a definition is rewritten once a run. */
void ask_to_rewrite(struct btz_trial *trial, struct rewriting *rewriting, struct btz_str *parts)
{
    struct question *q = BTZ_NEW(trial->arena, struct question);

    *q = (struct question){.target = BTZ_GUARD_DEFINITION,
                           .rewriting = rewriting,
                           .parts = parts,
                           .part_count = BTZ_LLM_QUESTION_PARTS};
    put_last(trial, q);
    trial->definitions_asked++;
}

void ask_about_answer(struct btz_trial *trial, enum btz_guard_target target, struct btz_str server,
                      struct btz_str name, struct btz_str text, size_t part)
{
    struct question *q = add(trial, target, server, name, text);

    q->part = part;
    q->tampered = conn_of(trial, server)->tampered;
}

bool ask_settles(struct btz_trial *trial, struct btz_json *note, enum source_kind kind,
                 struct btz_str raw)
{
    struct question *q = trial->questions ? trial->last_question : NULL;

    if (!q || !q->part || q->note) {
        return false;
    }
    q->note = note;
    q->event = trial->event_count - 1;
    q->kind = kind;
    q->raw = btz_arena_dup(trial->arena, raw);
    return true;
}

/* The answer's message says instead that it was withheld. Exchanges that are recorded keep theirs:
 * they were sent before it came. */
static void withhold(struct btz_trial *trial, const struct question *q)
{
    const struct btz_json *old = NULL;
    struct btz_json *message;
    struct btz_json *payload = btz_json_new_object(trial->arena);
    struct btz_str text = btz_str_of(defend_withheld_text);
    struct btz_str note = text;
    struct btz_err err;

    if (btz_json_parse(trial->arena, trial->parts[q->part], NULL, &old, &err) != BTZ_OK) {
        btz_panic("a message of the conversation is no JSON: %s", err.msg);
    }
    message = btz_json_shallow(trial->arena, old);
    if (trial->options.json_actions) { /* "Result of NAME:" stays */
        struct btz_str rest = btz_json_str(btz_json_getz(old, "content"));
        struct btz_str head = BTZ_STR_NONE;

        (void)btz_str_cut(&rest, '\n', &head);
        text = btz_arena_printf(trial->arena, "%.*s\n%.*s", BTZ_FMT(head), BTZ_FMT(text));
    }
    btz_json_set_str(trial->arena, message, "content", text);
    trial->parts[q->part] = btz_json_text(trial->arena, message);
    btz_json_set_str(trial->arena, q->note, "text", note);
    btz_json_set_bool(trial->arena, q->note, "is_error", true);
    btz_json_set_bool(trial->arena, q->note, "blocked", true);
    trial->events[q->event].visible = false;
    btz_json_set_str(trial->arena, payload, "server", q->server);
    btz_json_set_str(trial->arena, payload, "name", q->name);
    btz_json_set_str(trial->arena, payload, "text", note);
    trial_event_json(trial, BTZ_LAYER_HOST, "withheld", true, payload);
}

static void settle_answer(struct btz_trial *trial, const struct question *q, bool blocked)
{
    struct conn *conn = conn_of(trial, q->server);
    bool tampered = conn->tampered;

    if (blocked) {
        withhold(trial, q);
    }
    conn->tampered = q->tampered; /* as it was when the answer came */
    observe_text(trial, q->kind, q->server, q->name, q->raw,
                 blocked ? btz_str_of(defend_withheld_text) : q->text);
    conn->tampered = tampered;
}

static void settle(struct btz_trial *trial, struct question *q, bool blocked)
{
    if (q->target == BTZ_GUARD_TASK) {
        if (blocked) {
            trial_finish(trial, BTZ_STOP_DEFENDED, BTZ_STR("the defence blocked the user's turn"));
        }
    } else if (q->tool || q->rewriting) {
        if (q->tool) {
            q->tool->withheld = blocked;
        }
        if (--trial->definitions_asked == 0) {
            loop_offer(trial);
        }
    } else if (q->note) {
        settle_answer(trial, q, blocked);
    }
}

void ask_shift(struct btz_trial *trial, size_t part)
{
    for (struct question *q = trial->questions; q; q = q->next) {
        q->part += q->part >= part && q->part ? 1 : 0;
    }
}

static void take_off(struct btz_trial *trial)
{
    trial->questions = trial->questions->next;
    if (!trial->questions) {
        trial->last_question = NULL;
    }
}

/* The scanner gave no usable verdict, or the rewriting model no answer. */
static void fail(struct btz_trial *trial, struct question *q, struct btz_str why)
{
    bool blocked = trial->options.defence.fail_closed;
    struct btz_json *details;

    if (q->rewriting) {
        canonical_fail(trial, q->rewriting, "failed", why);
        take_off(trial);
        settle(trial, q, true);
        return;
    }
    details = btz_json_new_object(trial->arena);
    btz_json_set_str(trial->arena, details, "reason", why);
    trial->record.guarding.scans++;
    trial->record.guarding.failed++;
    defend_record(trial, q->target, q->server, q->name, details, "failed", blocked);
    take_off(trial);
    settle(trial, q, blocked);
}

static void judge(struct btz_trial *trial, struct question *q,
                  const struct btz_guard_opinion *opinion)
{
    struct btz_json *details = btz_json_new_object(trial->arena);

    btz_json_set_str(trial->arena, details, "reason", opinion->reason);
    btz_json_set_str(trial->arena, details, "evidence", opinion->evidence);
    trial->record.guarding.scans++;
    trial->record.guarding.detected += opinion->unsafe ? 1 : 0;
    if (opinion->unsafe) {
        defend_record(trial, q->target, q->server, q->name, details, "block", true);
    }
    take_off(trial);
    settle(trial, q, opinion->unsafe);
}

bool ask_next(struct btz_trial *trial, int64_t now_us, struct btz_needs *needs)
{
    struct btz_need need = {.kind = BTZ_NEED_MODEL};
    struct question *q;

    while (!trial->done && (q = trial->questions)) {
        if (trial->record.guarding.requests >= QUESTIONS_MAX) {
            fail(trial, q, BTZ_STR("too many questions in one trial"));
            continue;
        }
        q->asked_us = now_us;
        trial->record.guarding.requests++;
        need.id = ++trial->need_id;
        need.endpoint = q->rewriting ? BTZ_TRIAL_REWRITE : BTZ_TRIAL_GUARD;
        need.parts = q->parts;
        need.part_count = q->part_count;
        btz_needs_add(needs, &need);
        return true;
    }
    return false;
}

static void note_exchange(struct btz_trial *trial, const struct question *q,
                          const struct btz_answer *answer, const struct btz_llm_reply *reply)
{
    struct btz_guarding *counts = &trial->record.guarding;
    struct btz_exchange *e;

    trial->exchanges = btz_arena_grow(trial->arena, trial->exchanges, trial->exchange_count,
                                      &trial->exchange_cap, sizeof(*trial->exchanges));
    e = &trial->exchanges[trial->exchange_count++];
    *e = (struct btz_exchange){.role = q->rewriting ? BTZ_ROLE_REWRITE : BTZ_ROLE_GUARD,
                               .turn = trial->turn,
                               .part_count = q->part_count,
                               .parts = q->parts,
                               .reply = btz_arena_dup(trial->arena, answer->bytes),
                               .prompt_tokens = -1,
                               .completion_tokens = -1,
                               .cached_tokens = -1,
                               .reasoning_tokens = -1,
                               .at_us = q->asked_us - trial->started_us,
                               .took_us = answer->took_us};
    if (reply) {
        e->model = reply->model;
        e->finish = reply->finish_reason;
        e->prompt_tokens = reply->usage.prompt;
        e->completion_tokens = reply->usage.completion;
        e->cached_tokens = reply->usage.cached;
        e->reasoning_tokens = reply->usage.reasoning;
    } else {
        e->finish = answer->status == BTZ_ANSWER_REJECTED ? BTZ_STR(BTZ_FINISH_REJECTED)
                    : answer->status != BTZ_ANSWER_OK     ? BTZ_STR(BTZ_FINISH_FAILED)
                                                          : BTZ_STR_NONE;
    }
    counts->took_us += answer->took_us;
    counts->cached += answer->attempts == 0 ? 1 : 0;
    counts->input_tokens = counts->input_tokens < 0 || e->prompt_tokens < 0
                               ? -1
                               : counts->input_tokens + e->prompt_tokens;
    counts->output_tokens = counts->output_tokens < 0 || e->completion_tokens < 0
                                ? -1
                                : counts->output_tokens + e->completion_tokens;
}

void ask_answered(struct btz_trial *trial, const struct btz_answer *answer)
{
    struct question *q = trial->questions;
    struct btz_guard_opinion opinion;
    struct btz_llm_reply reply;
    struct btz_err err;

    if (answer->status != BTZ_ANSWER_OK) {
        note_exchange(trial, q, answer, NULL);
        fail(trial, q,
             answer->bytes.len ? btz_arena_dup(trial->arena, answer->bytes)
             : q->rewriting    ? BTZ_STR("the rewriting model gave no answer")
                               : BTZ_STR("the guard model gave no answer"));
        return;
    }
    if (btz_llm_reply_parse(trial->arena, answer->bytes, NULL, &reply, &err) != BTZ_OK) {
        note_exchange(trial, q, answer, NULL);
        fail(trial, q, btz_str_of(err.msg));
        return;
    }
    note_exchange(trial, q, answer, &reply);
    if (q->rewriting) {
        if (reply.filtered) {
            canonical_fail(trial, q->rewriting, "refused",
                           BTZ_STR("the provider's filter ended the reply"));
        } else {
            canonical_reply(trial, q->rewriting, reply.content);
        }
        take_off(trial);
        settle(trial, q, false);
        return;
    }
    if (btz_guard_opinion(reply.content, q->scanned, trial->arena, &opinion, &err) != BTZ_OK) {
        fail(trial, q, btz_arena_dup(trial->arena, btz_str_of(err.msg)));
        return;
    }
    judge(trial, q, &opinion);
}
