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

/* Pushes the member `name` of ctx if it is a way to ask the client. */
bool btz_lab_ask_push(struct lua_State *L, struct btz_str name);
extern const char btz_lab_ask_raised; /* its address is what a question raises */

#endif
