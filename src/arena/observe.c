/* Which fragments of the payload left a server, and which of them the model's requests held.
 *
 * A delivered fragment is known by its address, as in a trial. Of the model's requests only their
 * text is known: a fragment counts as seen if all its operands are in it, wherever they came from.
 */
#include "arena/play_int.h"
#include "text/contains.h"

static size_t fragment_count(const struct btz_play *play)
{
    size_t count = btz_stage_fragment_count(play->stage);

    return count < MAX_FRAGMENTS ? count : MAX_FRAGMENTS;
}

static bool holds(struct btz_text_index *index, const struct btz_fragment *fragment)
{
    size_t count = btz_json_count(fragment->operands);

    for (size_t i = 0; i < count; i++) {
        if (btz_text_index_find(index, btz_json_str(btz_json_at(fragment->operands, i)), NULL) !=
            BTZ_OK) {
            return false;
        }
    }
    return count || btz_text_index_find(index, fragment->text, NULL) == BTZ_OK;
}

static bool at_is(const struct btz_fragment *fragment, const char *key, struct btz_str value)
{
    struct btz_str want = btz_json_str(btz_json_getz(fragment->at, key));

    return btz_str_eq(want, value) || btz_str_is(want, "*");
}

void btz_play_observe_turn(struct btz_play *play)
{
    for (size_t i = 0; i < fragment_count(play); i++) {
        const struct btz_fragment *fragment = btz_stage_fragment_at(play->stage, i);
        int64_t turn = 0;

        if (fragment->text.len && btz_json_int64(btz_json_getz(fragment->at, "turn"), &turn) &&
            turn == (int64_t)play->turn + 1) {
            play->seen[i].delivered = true;
        }
    }
}

void btz_play_observe_result(struct btz_play *play, size_t server,
                             enum btz_mcp_server_event_kind kind, struct btz_str name,
                             const struct btz_json *result)
{
    const char *key = kind == BTZ_MCP_SERVER_READ     ? "resource"
                      : kind == BTZ_MCP_SERVER_PROMPT ? "prompt"
                                                      : "result";
    struct btz_str id = btz_stage_server_at(play->stage, server)->id;
    struct btz_text_index *index = NULL;
    struct btz_arena *arena = NULL;

    for (size_t i = 0; i < fragment_count(play); i++) {
        const struct btz_fragment *fragment = btz_stage_fragment_at(play->stage, i);

        if (play->seen[i].delivered || !btz_json_getz(fragment->at, key) ||
            !at_is(fragment, "server", id) || !at_is(fragment, key, name)) {
            continue;
        }
        if (!index) {
            arena = btz_arena_new();
            index = btz_text_index_new(btz_json_text(arena, result), NULL);
        }
        play->seen[i].delivered = holds(index, fragment);
    }
    btz_text_index_free(index);
    btz_arena_free(arena);
}

static bool is_definition(const struct btz_fragment *fragment)
{
    const struct btz_json *at = fragment->at;

    return fragment->text.len && !btz_json_getz(at, "result") && !btz_json_getz(at, "resource") &&
           (btz_json_getz(at, "field") || btz_json_bool(btz_json_getz(at, "instructions"), false));
}

/* Lists hold a fragment as a whole; that sets them apart from results that repeat an operand. */
void btz_play_sent(struct btz_play *play, size_t server, struct btz_str bytes)
{
    struct btz_text_index *index = NULL;

    if (!play->options.scenario) {
        return;
    }
    for (size_t i = 0; i < fragment_count(play); i++) {
        const struct btz_fragment *fragment = btz_stage_fragment_at(play->stage, i);

        if (play->seen[i].delivered || !is_definition(fragment) ||
            !at_is(fragment, "server", btz_stage_server_at(play->stage, server)->id)) {
            continue;
        }
        if (!index) {
            index = btz_text_index_new(bytes, NULL);
        }
        play->seen[i].delivered = btz_text_index_find(index, fragment->text, NULL) == BTZ_OK;
    }
    btz_text_index_free(index);
}

/* Of a memory scenario only what the second session shows counts. */
void btz_play_observe_new_session(struct btz_play *play)
{
    if (!btz_stage_memory_server(play->stage).len) {
        return;
    }
    play->accepted = 0;
    for (size_t i = 0; i < MAX_FRAGMENTS; i++) {
        play->seen[i].request = 0;
    }
}

void btz_play_watch_requests(struct btz_play *play)
{
    play->watches_requests = true;
}

uint64_t btz_play_request(struct btz_play *play, struct btz_str text, uint32_t *fragments)
{
    struct btz_text_index *index = btz_text_index_new(text, NULL);

    *fragments = 0;
    for (size_t i = 0; play->options.scenario && i < fragment_count(play); i++) {
        if (!play->seen[i].request && holds(index, btz_stage_fragment_at(play->stage, i))) {
            *fragments |= (uint32_t)1 << i;
        }
    }
    btz_text_index_free(index);
    return ++play->requests;
}

void btz_play_request_accepted(struct btz_play *play, uint64_t number, uint32_t fragments)
{
    play->accepted++;
    for (size_t i = 0; i < MAX_FRAGMENTS; i++) {
        if ((fragments >> i & 1) && !play->seen[i].request) {
            play->seen[i].request = number;
        }
    }
}
