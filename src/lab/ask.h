/* Inside the lab room: calls that ask the client. */
#ifndef BTZ_LAB_ASK_H
#define BTZ_LAB_ASK_H

#include "lab/lab_int.h"

/* What a call may have changed. */
struct snapshot {
    struct world world;
    struct btz_rng random;
    int64_t time;
    struct btz_str *ids;
    size_t id_count, id_cap;
    size_t journal_count;
};

/* Keeps the stage as it is; nothing of it is changed in place any more. */
void btz_lab_snapshot(struct btz_stage *stage, struct snapshot *out);
/* Takes back what was changed since. */
void btz_lab_restore(struct btz_stage *stage, const struct snapshot *from);
/* Notes in the journal what the client answered: sinks `asks.sampling` and `asks.elicitation`. */
void btz_lab_note_answer(struct run *run, const struct btz_json *answer);

/* What scripts call: members of ctx. */
int btz_lab_ask_sample(struct lua_State *L);
int btz_lab_ask_elicit(struct lua_State *L);
int btz_lab_ask_url(struct lua_State *L);
int btz_lab_ask_roots(struct lua_State *L);
extern const char btz_lab_ask_raised; /* its address is what a question raises */

#endif
