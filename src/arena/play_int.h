/* Inside of a play, for the files of this room. */
#ifndef BTZ_ARENA_PLAY_INT_H
#define BTZ_ARENA_PLAY_INT_H

#include "arena/play.h"
#include "base/arena.h"

enum { MAX_FRAGMENTS = 32 }; /* bits of a mask; packs have 16 at most */

struct btz_play {
    struct btz_play_options options;
    struct btz_arena *arena;
    struct btz_stage *stage;
    size_t server_count;
    struct btz_json *trajectory, *journal;
    size_t journal_taken;
    int64_t last_event; /* ids of trajectory and journal, from 1 */
    size_t turn;        /* from 0 */
    int session;        /* from 1 */
    size_t answered;    /* turns that were answered */
    bool turn_answered; /* the one under way was */
    unsigned attacker_calls;
    uint64_t calls;
    bool new_lists;
    bool *new_world; /* one for each server */
    struct btz_str fault;

    bool watches_requests;
    uint64_t requests;
    uint64_t accepted; /* of the requests, in the session that counts */
    struct {
        bool delivered;
        uint64_t request; /* first accepted request that held it; 0 = none */
    } seen[MAX_FRAGMENTS];
};

/* Makes {id, kind: answer, turn, text, value?, unsure} of an answer. */
struct btz_json *btz_play_answer_note(const struct btz_play *play, struct btz_arena *arena,
                                      int64_t id, struct btz_str text);

/* observe.c */
void btz_play_observe_turn(struct btz_play *play);
void btz_play_observe_result(struct btz_play *play, size_t server,
                             enum btz_mcp_server_event_kind kind, struct btz_str name,
                             const struct btz_json *result);
void btz_play_observe_new_session(struct btz_play *play);

#endif
