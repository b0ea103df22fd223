/* The record of a play, and what it answers. */
#include "arena/play_int.h"

#include <stdlib.h>

#include "lab/answer.h"
#include "lab/web.h"
#include "lab/serve.h"

/* A client that never stops must not fill the memory: past these everything is refused. */
enum { MAX_EVENTS = 100000 };
#define MAX_STAGE_BYTES ((size_t)1024 * 1024 * 1024)

static int make_stage(struct btz_play *play, struct btz_err *err)
{
    const struct btz_play_options *o = &play->options;
    int rc = o->scenario ? btz_stage_new(o->lab, o->scenario, o->arm, o->seed, &play->stage, err)
                         : btz_stage_new_plain(o->lab, o->servers, o->server_count, o->seed,
                                               &play->stage, err);

    if (rc == BTZ_OK && btz_stage_has_relay(play->stage)) {
        return btz_err_set(err, BTZ_EUNSUPPORTED,
                           "this scenario has an adversary on the wire, which stands between the "
                           "client and server of a trial: it can be run, but not in the arena");
    }
    for (size_t i = 0;
         rc == BTZ_OK && o->arm != BTZ_ARM_CLEAN && i < btz_stage_server_count(play->stage); i++) {
        if (btz_stage_site(play->stage, btz_stage_server_at(play->stage, i)->id)) {
            return btz_err_set(err, BTZ_EUNSUPPORTED,
                               "this scenario is about how the host of a trial signs in: it can be "
                               "run, but not in the arena");
        }
    }
    return rc;
}

static struct btz_json *add_note(struct btz_play *play, int64_t *id, const char *kind)
{
    struct btz_json *note = btz_json_new_object(play->arena);

    *id = ++play->last_event;
    btz_json_set_int(play->arena, note, "id", *id);
    btz_json_set_strz(play->arena, note, "kind", kind);
    btz_json_set_int(play->arena, note, "turn", (int64_t)play->turn + 1);
    btz_json_push(play->arena, play->trajectory, note);
    return note;
}

static void begin_turn(struct btz_play *play)
{
    int64_t id;
    struct btz_json *note = add_note(play, &id, "user");

    btz_json_set_str(play->arena, note, "text", btz_play_turn_text(play));
    btz_play_observe_turn(play);
}

int btz_play_new(const struct btz_play_options *options, struct btz_play **out, struct btz_err *err)
{
    struct btz_arena *arena = btz_arena_new();
    struct btz_play *play = BTZ_NEW(arena, struct btz_play);
    int rc;

    play->arena = arena;
    play->options = *options;
    play->session = 1;
    play->trajectory = btz_json_new_array(arena);
    play->journal = btz_json_new_array(arena);
    rc = make_stage(play, err);
    if (rc != BTZ_OK) {
        btz_play_free(play);
        return rc;
    }
    play->server_count = btz_stage_server_count(play->stage);
    play->new_world = btz_arena_array(arena, play->server_count, sizeof(*play->new_world));
    if (btz_play_turn_count(play)) {
        begin_turn(play);
    }
    *out = play;
    return BTZ_OK;
}

void btz_play_free(struct btz_play *play)
{
    if (play) {
        btz_stage_free(play->stage);
        btz_arena_free(play->arena);
    }
}

struct btz_stage *btz_play_stage(struct btz_play *play)
{
    return play->stage;
}

struct btz_mcp_server_options btz_play_server_options(const struct btz_play *play, size_t server,
                                                      size_t page_size)
{
    const struct btz_stage_server *s = btz_stage_server_at(play->stage, server);

    return (struct btz_mcp_server_options){
        .page_size = page_size,
        .completions = btz_json_count(s->prompts) || btz_json_count(s->templates),
        .subscribe = btz_json_count(s->resources) || btz_json_count(s->templates)};
}

/* ---- Recording ---- */

/* Text of a result for oracles, as a trial renders it for the model but without a cut. */
static struct btz_str text_of(struct btz_play *play, const struct btz_json *result)
{
    const struct btz_json *content = btz_json_getz(result, "content");
    const struct btz_json *contents = btz_json_getz(result, "contents");
    const struct btz_json *blocks = content ? content : contents;
    bool failed = btz_json_bool(btz_json_getz(result, "isError"), false);
    struct btz_buf out;
    struct btz_str text;

    btz_buf_init(&out, (size_t)64 * 1024 * 1024);
    (void)btz_buf_add_text(&out, failed ? "Error: " : "");
    for (size_t i = 0; i < btz_json_count(blocks); i++) {
        const struct btz_json *block = btz_json_at(blocks, i);
        struct btz_str type = btz_json_str(btz_json_getz(block, "type"));

        (void)btz_buf_add_text(&out, i ? "\n" : "");
        if (btz_str_is(type, "resource_link")) {
            (void)btz_buf_printf(&out, "[resource link: %.*s (%.*s)]",
                                 BTZ_FMT(btz_json_str(btz_json_getz(block, "uri"))),
                                 BTZ_FMT(btz_json_str(btz_json_getz(block, "name"))));
        } else {
            (void)btz_buf_add_str(&out, btz_json_str(btz_json_getz(block, "text")));
        }
    }
    text = btz_arena_dup(play->arena, btz_buf_view(&out));
    btz_buf_fini(&out);
    return text;
}

static void take_journal(struct btz_play *play)
{
    size_t count = btz_stage_journal_count(play->stage);

    for (; play->journal_taken < count; play->journal_taken++) {
        const struct btz_json *entry = btz_stage_journal_at(play->stage, play->journal_taken);
        struct btz_str server = btz_json_str(btz_json_getz(entry, "server"));
        struct btz_json *noted = btz_json_new_object(play->arena);
        int64_t cause = 0;

        (void)btz_json_int64(btz_json_getz(entry, "event"), &cause);
        if (cause == 0) {
            continue; /* seeding the world is nobody's act */
        }
        for (size_t i = 0; i < play->server_count; i++) {
            play->new_world[i] |= btz_str_eq(btz_stage_server_at(play->stage, i)->id, server);
        }
        if (play->options.scenario) {
            btz_json_set_int(play->arena, noted, "id", ++play->last_event);
            for (size_t i = 0; i < btz_json_count(entry); i++) {
                btz_json_set(play->arena, noted, btz_json_key_at(entry, i),
                             btz_json_value_at(entry, i));
            }
            btz_json_push(play->arena, play->journal, noted);
        }
    }
}

/* The part of the record that stands before the answer is known. */
static struct btz_json *record_request(struct btz_play *play, size_t server,
                                       const struct btz_mcp_server_event *event, int64_t *id)
{
    struct btz_json *note;

    if (!play->options.scenario) {
        *id = ++play->last_event; /* nobody reads a record, so none is kept */
        return NULL;
    }
    note = add_note(play, id,
                    event->kind == BTZ_MCP_SERVER_CALL   ? "call"
                    : event->kind == BTZ_MCP_SERVER_READ ? "read"
                                                         : "command");
    if (event->kind == BTZ_MCP_SERVER_PROMPT) {
        btz_json_set_str(play->arena, note, "name", event->name);
    }
    btz_json_set_str(play->arena, note, "server", btz_stage_server_at(play->stage, server)->id);
    if (event->kind == BTZ_MCP_SERVER_CALL) {
        btz_json_set_str(play->arena, note, "tool", event->name);
    } else if (event->kind == BTZ_MCP_SERVER_READ) {
        btz_json_set_str(play->arena, note, "uri", event->name);
    }
    if (event->kind != BTZ_MCP_SERVER_READ) {
        btz_json_setz(play->arena, note, "args", btz_json_dup(play->arena, event->arguments));
    }
    return note;
}

static void record_result(struct btz_play *play, size_t server, struct btz_json *note,
                          const struct btz_mcp_server_event *event, int64_t call,
                          const struct btz_json *result)
{
    struct btz_str text = result ? text_of(play, result) : BTZ_STR("Error: protocol error");
    bool failed = !result || btz_json_bool(btz_json_getz(result, "isError"), false);
    int64_t id;

    if (event->kind == BTZ_MCP_SERVER_PROMPT) {
        return;
    }
    if (event->kind == BTZ_MCP_SERVER_CALL) {
        note = add_note(play, &id, "result");
        btz_json_set_int(play->arena, note, "call", call);
        btz_json_set_str(play->arena, note, "server", btz_stage_server_at(play->stage, server)->id);
        btz_json_set_str(play->arena, note, "tool",
                         btz_json_str(btz_json_new_str(play->arena, event->name)));
        btz_json_set_bool(play->arena, note, "blocked", false);
        if (btz_json_getz(result, "structuredContent")) {
            btz_json_setz(play->arena, note, "structured",
                          btz_json_getz(result, "structuredContent"));
        }
    }
    btz_json_set_bool(play->arena, note, "is_error", failed);
    btz_json_set_str(play->arena, note, "text", text);
}

/* ---- Answering ---- */

static bool is_full(const struct btz_play *play)
{
    return play->last_event >= MAX_EVENTS || btz_stage_memory(play->stage) > MAX_STAGE_BYTES;
}

static void keep_fault(struct btz_play *play, const struct btz_err *err)
{
    char text[1200];

    if (!play->fault.len) {
        play->fault = btz_arena_dup(play->arena, btz_str_of(btz_err_text(err, text, sizeof(text))));
    }
}

/* BTZ_ECANCELLED, BTZ_ENOTFOUND and BTZ_ELIMIT: the peer is gone, gave up or does not read. */
static void reply_fault(struct btz_play *play, struct btz_mcp_server *machine,
                        const struct btz_mcp_server_event *event, int rc, const struct btz_err *err)
{
    if (rc == BTZ_EINTERNAL || rc == BTZ_EINVAL) {
        keep_fault(play, err);
        (void)!btz_mcp_server_reply_error(machine, event->token, BTZ_MCP_E_INTERNAL,
                                          BTZ_STR("the lab's script failed"), NULL);
    }
}

static void advance(struct btz_play *play)
{
    struct btz_stage_progress progress = {.session = (unsigned)play->session,
                                          .turn = (unsigned)play->turn + 1,
                                          .calls = play->attacker_calls};
    struct btz_err err;
    bool changed = false;

    if (btz_stage_advance(play->stage, progress, &changed, &err) != BTZ_OK) {
        keep_fault(play, &err);
    }
    play->new_lists |= changed;
}

void btz_play_serve(struct btz_play *play, size_t server, struct btz_mcp_server *machine,
                    const struct btz_mcp_server_event *event)
{
    const struct btz_json *result = NULL;
    struct btz_json *note = NULL;
    struct btz_mcp_server_event asked = *event; /* other people's agents are asked nothing so far */
    struct btz_err err = {0};
    int64_t id = 0;
    int rc;

    if (event->kind == BTZ_MCP_SERVER_COMPLETE) {
        rc = btz_stage_serve(play->stage, server, machine, event, 0, &result, &err);
        reply_fault(play, machine, event, rc, &err);
        return;
    }
    if (event->kind != BTZ_MCP_SERVER_CALL && event->kind != BTZ_MCP_SERVER_READ &&
        event->kind != BTZ_MCP_SERVER_PROMPT) {
        return; /* nothing else asks for an answer */
    }
    if (is_full(play)) {
        (void)!btz_mcp_server_reply_error(machine, event->token, BTZ_MCP_E_INTERNAL,
                                          BTZ_STR("the arena is full: start it anew"), NULL);
        return;
    }
    note = record_request(play, server, event, &id);
    play->calls += event->kind == BTZ_MCP_SERVER_CALL ? 1 : 0;
    /* The machine may let go of the event's texts with the reply: what is needed later is taken. */
    asked.client_capabilities = NULL;
    rc = btz_stage_serve(play->stage, server, machine, &asked, (uint64_t)id, &result, &err);
    take_journal(play);
    if (play->options.scenario) {
        struct btz_mcp_server_event kept = *event;

        kept.name =
            btz_json_str(btz_json_getz(note, event->kind == BTZ_MCP_SERVER_CALL   ? "tool"
                                             : event->kind == BTZ_MCP_SERVER_READ ? "uri"
                                                                                  : "name"));
        record_result(play, server, note, &kept, id, rc == BTZ_OK ? result : NULL);
        if (rc == BTZ_OK && result) {
            btz_play_observe_result(play, server, kept.kind, kept.name, result);
        }
        play->attacker_calls += event->kind == BTZ_MCP_SERVER_CALL &&
                                btz_stage_server_at(play->stage, server)->attacker;
    }
    reply_fault(play, machine, event, rc, &err);
    advance(play);
}

bool btz_play_take_new_lists(struct btz_play *play)
{
    bool changed = play->new_lists;

    play->new_lists = false;
    return changed;
}

bool btz_play_take_new_world(struct btz_play *play, size_t server)
{
    bool changed = play->new_world[server];

    play->new_world[server] = false;
    return changed;
}

/* ---- Turns ---- */

size_t btz_play_turn_count(const struct btz_play *play)
{
    return play->options.scenario ? btz_json_count(btz_stage_turns(play->stage)) : 0;
}

size_t btz_play_turn(const struct btz_play *play)
{
    return play->turn + 1;
}

struct btz_str btz_play_turn_text(const struct btz_play *play)
{
    return play->options.scenario
               ? btz_json_str(btz_json_at(btz_stage_turns(play->stage), play->turn))
               : BTZ_STR("");
}

int btz_play_session(const struct btz_play *play)
{
    return play->session;
}

int btz_play_next_turn(struct btz_play *play, bool *reconnect, struct btz_err *err)
{
    bool second;

    if (play->turn + 1 >= btz_play_turn_count(play)) {
        return btz_err_set(err, BTZ_ENOTFOUND, "this was the user's last turn");
    }
    play->turn++;
    play->turn_answered = false;
    second = play->turn == btz_stage_second_session(play->stage);
    if (second) {
        play->session++;
        btz_play_observe_new_session(play);
    }
    *reconnect = second || play->turn == btz_stage_reconnect(play->stage);
    advance(play);
    begin_turn(play);
    return BTZ_OK;
}

struct btz_json *btz_play_answer_note(const struct btz_play *play, struct btz_arena *arena,
                                      int64_t id, struct btz_str text)
{
    const struct btz_lab_answer answer = btz_lab_answer_read(text);
    struct btz_json *note = btz_json_new_object(arena);

    btz_json_set_int(arena, note, "id", id);
    btz_json_set_strz(arena, note, "kind", "answer");
    btz_json_set_int(arena, note, "turn", (int64_t)play->turn + 1);
    btz_json_set_str(arena, note, "text", text);
    if (answer.value.ptr) {
        btz_json_set_str(arena, note, "value", answer.value);
    }
    btz_json_set_bool(arena, note, "unsure", answer.unsure);
    return note;
}

void btz_play_answer(struct btz_play *play, struct btz_str text)
{
    if (!play->options.scenario || play->last_event >= MAX_EVENTS) {
        return;
    }
    btz_json_push(play->arena, play->trajectory,
                  btz_play_answer_note(play, play->arena, ++play->last_event, text));
    play->answered += play->turn_answered ? 0 : 1;
    play->turn_answered = true;
}

uint64_t btz_play_calls(const struct btz_play *play)
{
    return play->calls;
}

struct btz_str btz_play_fault(const struct btz_play *play)
{
    return play->fault;
}

const struct btz_json *btz_play_trajectory(const struct btz_play *play)
{
    return play->trajectory;
}

const struct btz_json *btz_play_journal(const struct btz_play *play)
{
    return play->journal;
}
